/*
 * page21.c
 *	  Pages of file versions 2.1 and 2.2: the layout message, and from slots to the column of a leaf.
 *
 * Read here: leaves outside of lists, structs and maps, that is pages with one item layer.
 */
#include "encoding/check.h"
#include "encoding/layout21.h"
#include "proto/unpack.h"

LncCode
lnc_page21_read(LncContext *ctx, const LncPage21 *page, LncArena *arena, uint32_t buffer, uint64_t offset,
				uint64_t length, LncSlice *out)
{
	LncPageRange range = {.buffer = buffer, .offset = offset, .length = length};
	const uint8_t *bytes;

	LNC_REQUIRE(ctx, buffer < page->source->nbuffers, "a page of %u buffers lacks buffer %u",
				page->source->nbuffers, buffer);
	LNC_REQUIRE(ctx, lnc_range_ok(offset, length, page->source->sizes[buffer]),
				"%llu bytes at %llu are not inside buffer %u of %llu bytes", (unsigned long long)length,
				(unsigned long long)offset, buffer, (unsigned long long)page->source->sizes[buffer]);
	LNC_TRY(page->source->read(ctx, page->source, arena, 1, &range, &bytes));
	out->data = bytes;
	out->size = (size_t)length;
	return LNC_OK;
}

/* The leaf's column from its slots; the only layer is an item, so slots are rows. */
static LncCode
slots_to_column(LncContext *ctx, const LncPage21 *page, LncArena *arena, uint64_t count, const LncSlots *slots,
				LncColumn *out)
{
	const uint8_t *validity = NULL;

	LNC_REQUIRE(ctx, slots->nslots == count && (slots->all_null || slots->values.count == count),
				"a page gives %llu slots for %llu rows", (unsigned long long)slots->nslots,
				(unsigned long long)count);
	if (slots->all_null)
		return lnc_column_nulls(ctx, arena, page->type, (int64_t)count, out);
	if (slots->def != NULL)
		LNC_TRY(lnc_levels_validity(ctx, arena, slots->def, count, &validity));
	return lnc_block_to_column(ctx, arena, &slots->values, page->type, validity, out);
}

static LncCode
page21_decode(LncContext *ctx, LncPage *base, LncArena *arena, uint64_t first, uint64_t count, LncColumn *out)
{
	LncPage21 *page = base->state;
	LncSlots slots = {0};

	LNC_REQUIRE(ctx, lnc_range_ok(first, count, base->nrows) && count <= INT64_MAX / 2,
				"rows %llu to %llu are not in a page of %llu rows", (unsigned long long)first,
				(unsigned long long)(first + count), (unsigned long long)base->nrows);
	LNC_TRY(lnc_check_interrupt(ctx));
	lnc_arena_reset(page->scratch);
	LNC_TRY(page->read(ctx, page, arena, page->scratch, first, count, &slots));
	return slots_to_column(ctx, page, arena, count, &slots, out);
}

static void
page21_cleanup(void *arg)
{
	LncPage21 *page = arg;

	lnc_arena_destroy(page->scratch);
	page->scratch = NULL;
}

/* Layers that can be read: one item. */
static LncCode
open_layers(LncContext *ctx, LncPage21 *page, size_t count, const Lance__Encodings21__RepDefLayer *kinds)
{
	LNC_TRY(lnc_layers_open(ctx, count, kinds, &page->layers));
	if (page->layers.max_rep > 0)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "pages below a list are not read");
	if (page->layers.count > 1)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "pages below a struct are not read");
	return LNC_OK;
}

static LncCode
open_layout(LncContext *ctx, LncPage21 *page, const Lance__Encodings21__PageLayout *message)
{
	switch (message->layout_case)
	{
		case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_MINI_BLOCK_LAYOUT:
			LNC_TRY(
				open_layers(ctx, page, message->mini_block_layout->n_layers, message->mini_block_layout->layers));
			return lnc_miniblock_open(ctx, page, message->mini_block_layout);
		case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_FULL_ZIP_LAYOUT:
			LNC_TRY(open_layers(ctx, page, message->full_zip_layout->n_layers, message->full_zip_layout->layers));
			return lnc_fullzip_open(ctx, page, message->full_zip_layout);
		case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_CONSTANT_LAYOUT:
			LNC_TRY(open_layers(ctx, page, message->constant_layout->n_layers, message->constant_layout->layers));
			return lnc_constant_open(ctx, page, message->constant_layout);
		case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_BLOB_LAYOUT:
			return lnc_fail(ctx, LNC_UNSUPPORTED, "page layout \"blob\" is not read");
		default:
			return lnc_fail(ctx, LNC_UNSUPPORTED, "an unknown page layout is not read");
	}
}

LncCode
lnc_page21_open(LncContext *ctx, LncArena *arena, const LncPageSpec *spec, LncPage **out)
{
	ProtobufCMessage *message;
	LncPage21 *page;

	if (spec->npath > 1)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "pages below a list or struct are not read");
	LNC_TRY(LNC_NEW(ctx, arena, &page, 1));
	page->arena = arena;
	page->source = spec->source;
	page->type = lnc_column_type(&spec->path[spec->npath - 1]->type);
	if (page->type->kind != LNC_TYPE_NULL)
		LNC_TRY(lnc_shape_of_type(ctx, page->type, &page->shape));
	page->page.nrows = spec->nrows;
	page->page.decode = page21_decode;
	page->page.state = page;
	LNC_TRY(lnc_general_create(ctx, arena, &page->general));
	page->scratch = lnc_arena_create(ctx->env);
	if (page->scratch == NULL)
		return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory for a page");
	LNC_TRY(lnc_arena_on_cleanup(ctx, arena, page21_cleanup, page));
	LNC_TRY(lnc_proto_unpack(ctx, arena, &lance__encodings21__page_layout__descriptor, spec->encoding,
							 "a page layout", &message));
	LNC_TRY(open_layout(ctx, page, (const Lance__Encodings21__PageLayout *)message));
	*out = &page->page;
	return LNC_OK;
}
