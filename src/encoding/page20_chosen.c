/*
 * page20_chosen.c
 *	  Few rows of an opened page of file version 2.0, where their bytes can be told from those in between.
 *
 * That is so for values of a fixed number of bytes, for fixed-size lists of such, and for strings, which are NULL or not
 * as the others; not below compression. Ends of strings and validity are narrow: they are read whole.
 */
#include <inttypes.h>

#include "base/bitmap.h"
#include "encoding/chosen.h"
#include "encoding/page20.h"

/* The rows that are decoded, and where to. */
typedef struct Chosen
{
	LncArena *arena;
	LncArena *scratch;
	uint64_t first;
	uint64_t count;
	const int64_t *rows; /* first + rows[i] */
} Chosen;

/* Bytes of a value, if values are stored as they are; else 0. */
static uint64_t
plain_width(const LncNode20 *node)
{
	return node->kind == LNC_NODE20_FLAT && !node->compressed && node->bits % 8 == 0 ? node->bits / 8 : 0;
}

/* Plain values, or fixed-size lists of them. */
static LncCode
choose_values(LncContext *ctx, LncPage20 *page, const LncNode20 *node, const Chosen *chosen, bool *done,
			  LncColumn *out)
{
	int64_t length = (int64_t)chosen->count;
	const LncNode20 *item = node;
	uint64_t width = 1;
	LncSlice bytes;

	for (; item->kind == LNC_NODE20_FIXED_LIST; item = item->first)
		if (lnc_mul_overflow(width, (uint64_t)item->type->list_size, &width))
			return LNC_OK;
	if (lnc_mul_overflow(width, plain_width(item), &width) || width == 0)
		return LNC_OK;
	LNC_TRY(lnc_chosen_read_rows(ctx, page->source, chosen->arena, chosen->scratch, item->buffer, width,
								 chosen->first, (size_t)chosen->count, chosen->rows, done, &bytes));
	if (!*done)
		return LNC_OK;
	for (; node->kind == LNC_NODE20_FIXED_LIST; node = node->first)
	{
		*out = (LncColumn){.type = node->type, .length = length, .nchildren = 1};
		LNC_TRY(LNC_NEW(ctx, chosen->arena, &out->children, 1));
		length *= node->type->list_size;
		out = out->children;
	}
	*out = (LncColumn){.type = node->type, .length = length, .values = bytes.data};
	return LNC_OK;
}

/* Where string number row of ends is, of which number 0 is the one before; *null: it is none. */
static LncCode
find_string(LncContext *ctx, const LncNode20 *node, const uint64_t *ends, uint64_t row, LncPageRange *range,
			bool *null)
{
	uint64_t start = ends[row] >= node->null_adjustment ? ends[row] - node->null_adjustment : ends[row];
	uint64_t end = ends[row + 1];

	*null = end >= node->null_adjustment;
	if (*null)
		end -= node->null_adjustment;
	if (end < start)
		return lnc_fail(ctx, LNC_CORRUPT, "a value ends at byte %" PRIu64 ", before its start %" PRIu64, end,
						start);
	*range = (LncPageRange){node->second->buffer, start, end - start};
	return LNC_OK;
}

/* Strings whose bytes are stored as they are. */
static LncCode
choose_strings(LncContext *ctx, LncPage20 *page, const LncNode20 *node, const Chosen *chosen, bool *done,
			   LncColumn *out)
{
	uint64_t low = chosen->first + (uint64_t)chosen->rows[0];
	uint64_t span = (uint64_t)(chosen->rows[chosen->count - 1] - chosen->rows[0]) + 1;
	bool any_null = false;
	LncPageRange *ranges;
	LncColumn indices;
	uint8_t *validity;
	uint64_t *ends;
	int64_t *offsets;
	LncSlice bytes;

	if (plain_width(node->second) != 1)
		return LNC_OK;
	LNC_TRY(lnc_arena_calloc(ctx, chosen->scratch, (size_t)span + 1, sizeof(*ends), (void **)&ends));
	LNC_TRY(lnc_node20_decode(ctx, page, node->first, chosen->scratch, low > 0 ? low - 1 : 0, span + (low > 0),
							  &indices));
	if (indices.validity != NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "the end of a string is NULL");
	memcpy(ends + (low == 0), indices.values, (size_t)(span + (low > 0)) * sizeof(*ends));
	LNC_TRY(LNC_NEW(ctx, chosen->scratch, &ranges, chosen->count));
	LNC_TRY(LNC_NEW(ctx, chosen->arena, &offsets, chosen->count + 1));
	LNC_TRY(LNC_NEW(ctx, chosen->arena, &validity, lnc_bitmap_size(chosen->count)));
	for (uint64_t i = 0; i < chosen->count; i++)
	{
		bool null;

		LNC_TRY(find_string(ctx, node, ends, (uint64_t)(chosen->rows[i] - chosen->rows[0]), &ranges[i], &null));
		offsets[i + 1] = offsets[i] + (int64_t)ranges[i].length;
		if (null)
			any_null = true;
		else
			lnc_bit_set(validity, i);
	}
	LNC_TRY(lnc_chosen_read(ctx, page->source, chosen->arena, chosen->scratch, (size_t)chosen->count, ranges, done,
							&bytes));
	if (*done)
		*out = (LncColumn){.type = node->type,
						   .length = (int64_t)chosen->count,
						   .validity = any_null ? validity : NULL,
						   .offsets = offsets,
						   .data = bytes.data};
	return LNC_OK;
}

/* Values of which some are NULL. */
static LncCode
choose_nullable(LncContext *ctx, LncPage20 *page, const LncNode20 *node, const Chosen *chosen, bool *done,
				LncColumn *out)
{
	uint64_t low = chosen->first + (uint64_t)chosen->rows[0];
	uint64_t span = (uint64_t)(chosen->rows[chosen->count - 1] - chosen->rows[0]) + 1;
	LncColumn bitmap;
	uint8_t *validity;

	LNC_TRY(choose_values(ctx, page, node->second, chosen, done, out));
	if (!*done)
		return LNC_OK;
	LNC_TRY(lnc_node20_decode(ctx, page, node->first, chosen->scratch, low, span, &bitmap));
	if (bitmap.validity != NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "the validity of a value is NULL");
	LNC_TRY(LNC_NEW(ctx, chosen->arena, &validity, lnc_bitmap_size(chosen->count)));
	for (uint64_t i = 0; i < chosen->count; i++)
		if (lnc_bit(bitmap.values, (uint64_t)(chosen->rows[i] - chosen->rows[0])))
			lnc_bit_set(validity, i);
	out->validity = lnc_bits_count(validity, 0, chosen->count) < chosen->count ? validity : NULL;
	return LNC_OK;
}

LncCode
lnc_page20_decode_some(LncContext *ctx, LncPage *base, LncArena *arena, uint64_t first, uint64_t count,
					   const int64_t *rows, bool *done, LncColumn *out)
{
	LncPage20 *page = base->state;
	Chosen chosen = {.arena = arena, .first = first, .count = count, .rows = rows};
	const LncNode20 *root = page->root;
	LncCode code = LNC_OK;

	*done = false;
	if (!lnc_range_ok(first, (uint64_t)rows[count - 1] + 1, base->nrows))
		return lnc_fail(ctx, LNC_CORRUPT, "row %" PRIu64 " is not inside the page of %" PRIu64 " rows",
						first + (uint64_t)rows[count - 1], base->nrows);
	LNC_TRY(lnc_arena_create_scratch(ctx, &chosen.scratch));
	lnc_arena_limit(chosen.scratch);
	if (root->kind == LNC_NODE20_BINARY)
		code = choose_strings(ctx, page, root, &chosen, done, out);
	else if (root->kind == LNC_NODE20_NULLABLE)
		code = choose_nullable(ctx, page, root, &chosen, done, out);
	else
		code = choose_values(ctx, page, root, &chosen, done, out);
	lnc_arena_destroy(chosen.scratch);
	return code;
}
