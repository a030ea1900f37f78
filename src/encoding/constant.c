/*
 * constant.c
 *	  Constant pages: every slot with a value has the same one, or none has any.
 *
 *	inline value	buffers		contents
 *	yes				0			-
 *	yes				2			rep, def
 *	no				0			every row is NULL
 *	no				1			value
 *	no				2			rep, def; every slot is NULL
 *	no				3			value, rep, def
 *
 *	value buffer	u32 count, count times u32 length, then that many buffers: those of an Arrow array of length 1
 *					(fixed width: the value; variable width: two offsets of 4 or 8 bytes, then the bytes)
 *	rep, def		raw u16, or coded as a block when the message says so; may be empty
 *
 * Source of the facts: format.md section 8.9.
 */
#include "encoding/check.h"
#include "encoding/layout21.h"

/* Buffers that a value may consist of. */
#define SCALAR_MAX_BUFFERS 2

typedef struct Constant
{
	bool has_value;
	LncSlice value;      /* one value: bytes of fixed width, or the bytes of a variable one. In the page's arena */
	uint64_t nslots;     /* of the page; without levels its rows */
	const uint16_t *rep; /* of all slots, or NULL. In the page's arena, as is the following */
	const uint16_t *def;
	uint64_t *starts; /* with rep: array of rows + 1, the first slot of each row */
} Constant;

static LncCode
read_slots(LncContext *ctx, LncPage21 *page, LncArena *arena, LncArena *scratch, uint64_t first, uint64_t count,
		   LncSlots *out)
{
	const Constant *constant = page->layout;
	LncBlock *block = &out->values;
	uint64_t bytes;
	uint8_t *values;

	(void)scratch;
	if (constant->rep != NULL)
	{
		count = constant->starts[first + count] - constant->starts[first];
		first = constant->starts[first];
		out->rep = constant->rep + first;
	}
	out->nslots = count;
	out->all_null = !constant->has_value;
	out->def = constant->def != NULL ? constant->def + first : NULL;
	count = lnc_levels_count_visible(&page->layers, out->def, count);
	out->nvalues = count;
	if (!constant->has_value)
		return LNC_OK;
	block->shape = page->shape;
	memset(block->shape.validity, 0, sizeof(block->shape.validity));
	block->count = count;
	if (page->shape.variable)
	{
		int64_t *offsets;

		if (lnc_mul_overflow(count, constant->value.size, &bytes) || count > SIZE_MAX / 16)
			return lnc_fail(ctx, LNC_LIMIT, "the values of one batch take too many bytes");
		LNC_TRY(lnc_arena_alloc(ctx, arena, (count + 1) * sizeof(*offsets), (void **)&offsets));
		for (uint64_t i = 0; i <= count; i++)
			offsets[i] = (int64_t)(i * constant->value.size);
		block->offsets = offsets;
	}
	else
		LNC_TRY(lnc_shape_bytes(ctx, &page->shape, count, &bytes));
	LNC_TRY(lnc_arena_alloc(ctx, arena, bytes, (void **)&values));
	if (page->shape.variable)
		block->data = values;
	else
		block->items = values;

	if (!page->shape.variable && page->shape.bits == 1)
		memset(values, (constant->value.data[0] & 1) != 0 ? 0xFF : 0, bytes);
	else if (constant->value.size == 1)
		memset(values, constant->value.data[0], bytes);
	else if (bytes > 0)
	{
		/* Doubling what is there already: few, long copies. */
		uint64_t done = constant->value.size;

		memcpy(values, constant->value.data, done);
		while (done < bytes)
		{
			uint64_t part = done < bytes - done ? done : bytes - done;

			memcpy(values + done, values, part);
			done += part;
		}
	}
	return LNC_OK;
}

/* The value's bytes from the buffers of an Arrow array of length 1. */
static LncCode
open_value(LncContext *ctx, const LncPage21 *page, LncSlice in, LncSlice *value)
{
	LncSlice parts[SCALAR_MAX_BUFFERS];
	uint32_t nparts;
	uint64_t at;
	uint64_t start;
	uint64_t end;

	LNC_REQUIRE(ctx, in.size >= sizeof(uint32_t), "a constant value of %zu bytes is truncated", in.size);
	nparts = lnc_le32(in.data);
	LNC_REQUIRE(ctx, nparts >= 1 && nparts <= SCALAR_MAX_BUFFERS, "a constant value has %u buffers", nparts);
	at = sizeof(uint32_t) * (1 + (uint64_t)nparts);
	LNC_REQUIRE(ctx, in.size >= at, "a constant value of %zu bytes is truncated", in.size);
	for (uint32_t i = 0; i < nparts; i++)
	{
		uint32_t length = lnc_le32(in.data + sizeof(uint32_t) * (1 + i));

		LNC_REQUIRE(ctx, lnc_range_ok(at, length, in.size), "a constant value of %zu bytes is truncated", in.size);
		parts[i] = (LncSlice){in.data + at, length};
		at += length;
	}
	LNC_REQUIRE(ctx, at == in.size, "a constant value has %llu bytes too many", (unsigned long long)(in.size - at));
	if (!page->shape.variable)
	{
		LNC_REQUIRE(ctx, nparts == 1, "a constant value of fixed width has %u buffers", nparts);
		*value = parts[0];
		return LNC_OK;
	}

	/* The offsets' width follows from their size: there are two of them. */
	LNC_REQUIRE(ctx, nparts == 2 && (parts[0].size == 8 || parts[0].size == 16),
				"a constant value of variable width has no offsets");
	start = parts[0].size == 8 ? lnc_le32(parts[0].data) : lnc_le64(parts[0].data);
	end = parts[0].size == 8 ? lnc_le32(parts[0].data + 4) : lnc_le64(parts[0].data + 8);
	LNC_REQUIRE(ctx, start <= end && end <= parts[1].size, "the offsets of a constant value are out of range");
	*value = (LncSlice){parts[1].data + start, (size_t)(end - start)};
	return LNC_OK;
}

/* Read and decode levels of the whole page, which are kept; an empty buffer has none. raw: *count follows from it. */
static LncCode
open_levels(LncContext *ctx, LncPage21 *page, const Lance__Encodings21__CompressiveEncoding *compression,
			uint64_t stated, uint32_t buffer, uint16_t limit, uint64_t *count, const uint16_t **out)
{
	const LncCodec *codec = NULL;
	uint64_t size = page->source->sizes[buffer];
	LncSlice bytes;

	*count = 0;
	if (size == 0)
		return LNC_OK;
	*count = size / sizeof(uint16_t);
	if (compression != NULL)
	{
		*count = stated;
		LNC_TRY(lnc_codec_open(ctx, page->arena, LNC_CODEC_BLOCK, compression, &codec));
		LNC_TRY(lnc_levels_check(ctx, codec));
	}
	LNC_TRY(lnc_page21_read(ctx, page, page->arena, buffer, 0, size, &bytes));
	return lnc_levels_decode(ctx, codec, page->general, page->arena, bytes, *count, limit, out);
}

/* The levels of the page, in its last two buffers, and where its rows start. */
static LncCode
open_slots(LncContext *ctx, LncPage21 *page, const Lance__Encodings21__ConstantLayout *message, Constant *constant)
{
	uint32_t nbuffers = page->source->nbuffers;
	uint64_t nrows = page->page.nrows;
	uint64_t nrep = 0;
	uint64_t ndef = 0;
	uint64_t row = 0;

	constant->nslots = nrows;
	if (nbuffers >= 2)
	{
		LNC_TRY(open_levels(ctx, page, message->rep_compression, message->num_rep_values, nbuffers - 2,
							page->layers.max_rep, &nrep, &constant->rep));
		LNC_TRY(open_levels(ctx, page, message->def_compression, message->num_def_values, nbuffers - 1,
							page->layers.max_def, &ndef, &constant->def));
	}
	LNC_REQUIRE(ctx, (constant->rep != NULL) == (page->layers.max_rep > 0) || nrows == 0,
				"a page of %u list layers has %llu repetition levels", page->layers.max_rep,
				(unsigned long long)nrep);
	if (constant->rep != NULL)
		constant->nslots = nrep;
	LNC_REQUIRE(ctx, constant->def == NULL || ndef == constant->nslots,
				"a page of %llu rows and %llu slots has %llu definition levels", (unsigned long long)nrows,
				(unsigned long long)constant->nslots, (unsigned long long)ndef);
	LNC_REQUIRE(ctx, constant->def == NULL || page->layers.max_def > 0,
				"a page without nullable layers has definition levels");
	if (constant->rep == NULL)
		return LNC_OK;
	LNC_REQUIRE(ctx, nrep >= nrows || page->whole, "a page of %llu rows has %llu slots", (unsigned long long)nrows,
				(unsigned long long)nrep);
	LNC_TRY(LNC_NEW(ctx, page->arena, &constant->starts, nrows + 1));
	for (uint64_t i = 0; i < nrep; i++)
	{
		if (constant->rep[i] != page->layers.max_rep)
			continue;
		LNC_REQUIRE(ctx, row < nrows, "a page of %llu rows has more of them", (unsigned long long)nrows);
		constant->starts[row++] = i;
	}
	if (page->whole)
		page->nstarts = row;
	LNC_REQUIRE(ctx, row == page->nstarts && (row == 0 || constant->starts[0] == 0), "a page of %llu rows has %llu",
				(unsigned long long)nrows, (unsigned long long)row);
	constant->starts[row] = nrep;
	return LNC_OK;
}

LncCode
lnc_constant_open(LncContext *ctx, LncPage21 *page, const Lance__Encodings21__ConstantLayout *message)
{
	bool is_inline = message->inline_value_presence_case ==
					 LANCE__ENCODINGS21__CONSTANT_LAYOUT__INLINE_VALUE_PRESENCE_INLINE_VALUE;
	uint32_t nbuffers = page->source->nbuffers;
	bool in_buffer = !is_inline && (nbuffers == 1 || nbuffers == 3);
	Constant *constant;
	uint64_t bytes;

	LNC_TRY(LNC_NEW(ctx, page->arena, &constant, 1));
	page->layout = constant;
	page->read = read_slots;
	page->page.layout = "constant";
	LNC_REQUIRE(ctx, nbuffers == 0 || nbuffers == 2 || in_buffer, "a constant page has %u buffers", nbuffers);
	if (is_inline)
		constant->value = (LncSlice){message->inline_value.data, message->inline_value.len};
	else if (in_buffer)
	{
		LncSlice whole;

		LNC_TRY(lnc_page21_read(ctx, page, page->arena, 0, 0, page->source->sizes[0], &whole));
		LNC_TRY(open_value(ctx, page, whole, &constant->value));
	}
	constant->has_value = is_inline || in_buffer;
	if (constant->has_value)
	{
		LNC_REQUIRE(ctx, !lnc_page21_is_bare(page), "a page of a type without values has one");
		if (!page->shape.variable)
		{
			LNC_TRY(lnc_shape_bytes(ctx, &page->shape, 1, &bytes));
			LNC_REQUIRE(ctx, constant->value.size == bytes, "a constant value has %zu bytes, expected %llu",
						constant->value.size, (unsigned long long)bytes);
		}
	}
	return open_slots(ctx, page, message, constant);
}
