/*
 * fullzip.c
 *	  Full-zip pages: wide values, each behind a control word with its levels.
 *
 *	page buffers	data, [repetition index]
 *	control word	0, 1, 2 or 4 bytes for 0, up to 8, 16, 32 bits of rep and def: rep above def
 *	fixed			slot = control word, value (bool: one byte); a NULL that has a slot has a value too
 *	variable		slot = control word; if def is 0: length of bits_per_offset, bytes
 *	index			rows + 1 byte positions of 1, 2, 4 or 8 bytes each; only for variable values or lists
 *
 * Source of the facts: format.md section 8.6.
 */
#include "encoding/check.h"
#include "encoding/layout21.h"

enum
{
	BUFFER_DATA,
	BUFFER_INDEX
};

typedef struct FullZip
{
	const LncCodec *values;
	uint32_t control_bytes;
	uint32_t bits_def;
	uint32_t length_bytes; /* variable values: of the length in front of each */
	uint32_t index_bytes;  /* variable values: of an index entry */
	LncShape shape;        /* fixed values: as the column has them */
	bool bytes_to_bits;    /* fixed values: bools, stored as bytes */
} FullZip;

/* Load size (1, 2, 4 or 8) bytes. */
static inline uint64_t
load_word(const uint8_t *at, uint32_t size)
{
	switch (size)
	{
		case 1:
			return *at;
		case 2:
			return lnc_le16(at);
		case 4:
			return lnc_le32(at);
		default:
			return lnc_le64(at);
	}
}

/* Definition levels out of control words at distance stride; without lists a control word is just that. */
static LncCode
read_def(LncContext *ctx, const LncPage21 *page, const FullZip *zip, LncArena *scratch, const uint8_t *rows,
		 uint64_t stride, uint64_t count, const uint16_t **out)
{
	uint16_t *def;
	uint64_t highest = 0;

	LNC_TRY(lnc_arena_alloc(ctx, scratch, count * sizeof(*def), (void **)&def));
	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t word = load_word(rows + i * stride, zip->control_bytes);

		highest = word > highest ? word : highest;
		def[i] = (uint16_t)word;
	}
	LNC_REQUIRE(ctx, highest <= page->layers.max_def, "a level of %llu is out of range, the highest is %u",
				(unsigned long long)highest, page->layers.max_def);
	*out = def;
	return LNC_OK;
}

/* Turn items of one byte into a bitmap. */
static LncCode
pack_bools(LncContext *ctx, LncArena *arena, LncBlock *block)
{
	uint64_t nitems;
	uint8_t *bits;

	LNC_TRY(lnc_shape_bytes(ctx, &block->shape, block->count, &nitems));
	LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size(nitems), 1, (void **)&bits));
	for (uint64_t i = 0; i < nitems; i++)
		bits[i >> 3] = (uint8_t)(bits[i >> 3] | (block->items[i] & 1u) << (i & 7));
	block->items = bits;
	return LNC_OK;
}

static LncCode
read_fixed(LncContext *ctx, LncPage21 *page, LncArena *arena, LncArena *scratch, uint64_t first, uint64_t count,
		   LncSlots *out)
{
	const FullZip *zip = page->layout;
	uint64_t stride = zip->control_bytes + zip->values->value_bytes;
	uint64_t offset;
	uint64_t length;
	LncSlice rows;

	out->nslots = count;
	LNC_REQUIRE(ctx, !lnc_mul_overflow(first, stride, &offset) && !lnc_mul_overflow(count, stride, &length),
				"the size of %llu values overflows", (unsigned long long)count);
	LNC_TRY(lnc_page21_read(ctx, page, scratch, BUFFER_DATA, offset, length, &rows));
	if (zip->control_bytes > 0)
		LNC_TRY(read_def(ctx, page, zip, scratch, rows.data, stride, count, &out->def));
	LNC_TRY(lnc_codec_decode_fixed_values(ctx, zip->values, arena, rows.data + zip->control_bytes, stride, count,
										  &out->values));
	if (zip->bytes_to_bits)
		LNC_TRY(pack_bools(ctx, arena, &out->values));
	out->values.shape = zip->shape;
	if (zip->values->kind == LNC_CODEC_CONSTANT)
	{
		uint64_t nitems;
		uint8_t *validity;

		LNC_REQUIRE(ctx, !lnc_mul_overflow(count, zip->shape.dimensions[0], &nitems),
					"the dimensions of a fixed-size list overflow");
		LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size(nitems), 1, (void **)&validity));
		out->values.validity[0] = validity;
	}
	return LNC_OK;
}

/* Walk count slots: levels, and the values as stored put back to back in arena. */
static LncCode
unzip_variable(LncContext *ctx, const LncPage21 *page, const FullZip *zip, LncArena *arena, LncArena *scratch,
			   LncSlice rows, uint64_t count, LncSlots *out)
{
	LncBlock *block = &out->values;
	uint64_t at = 0;
	uint64_t used = 0;
	uint16_t *def = NULL;
	int64_t *offsets;
	uint8_t *data;

	if (zip->control_bytes > 0)
		LNC_TRY(lnc_arena_alloc(ctx, scratch, count * sizeof(*def), (void **)&def));
	LNC_TRY(lnc_arena_alloc(ctx, arena, (count + 1) * sizeof(*offsets), (void **)&offsets));
	LNC_TRY(lnc_arena_alloc(ctx, arena, rows.size, (void **)&data));
	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t level = 0;
		uint64_t length;

		offsets[i] = (int64_t)used;
		if (def != NULL)
		{
			LNC_REQUIRE(ctx, lnc_range_ok(at, zip->control_bytes, rows.size), "values are truncated");
			level = load_word(rows.data + at, zip->control_bytes);
			LNC_REQUIRE(ctx, level <= page->layers.max_def, "a level of %llu is out of range, the highest is %u",
						(unsigned long long)level, page->layers.max_def);
			def[i] = (uint16_t)level;
			at += zip->control_bytes;
		}
		if (level != 0)
			continue;
		LNC_REQUIRE(ctx, lnc_range_ok(at, zip->length_bytes, rows.size), "values are truncated");
		length = load_word(rows.data + at, zip->length_bytes);
		at += zip->length_bytes;
		LNC_REQUIRE(ctx, lnc_range_ok(at, length, rows.size), "a value of %llu bytes is truncated",
					(unsigned long long)length);
		if (length > 0)
			memcpy(data + used, rows.data + at, length);
		at += length;
		used += length;
	}
	offsets[count] = (int64_t)used;
	LNC_REQUIRE(ctx, at == rows.size, "values take %llu bytes of %zu", (unsigned long long)at, rows.size);
	memset(block, 0, sizeof(*block));
	block->shape.variable = true;
	block->count = count;
	block->offsets = offsets;
	block->data = data;
	out->def = def;
	return LNC_OK;
}

static LncCode
read_variable(LncContext *ctx, LncPage21 *page, LncArena *arena, LncArena *scratch, uint64_t first, uint64_t count,
			  LncSlots *out)
{
	const FullZip *zip = page->layout;
	LncSlice index;
	LncSlice rows;
	uint64_t start;
	uint64_t end;

	/* Values that are decoded into new memory are only collected in scratch. */
	bool recoded =
		zip->values->kind == LNC_CODEC_GENERAL || (zip->values->kind == LNC_CODEC_FSST && !zip->values->fsst->raw);
	LncArena *unzipped = recoded ? scratch : arena;

	out->nslots = count;
	LNC_TRY(lnc_page21_read(ctx, page, scratch, BUFFER_INDEX, first * zip->index_bytes,
							(count + 1) * zip->index_bytes, &index));
	start = load_word(index.data, zip->index_bytes);
	end = load_word(index.data + count * zip->index_bytes, zip->index_bytes);
	LNC_REQUIRE(ctx, start <= end, "the positions of rows %llu to %llu fall", (unsigned long long)first,
				(unsigned long long)(first + count));
	LNC_TRY(lnc_page21_read(ctx, page, scratch, BUFFER_DATA, start, end - start, &rows));
	LNC_TRY(unzip_variable(ctx, page, zip, unzipped, scratch, rows, count, out));
	return lnc_codec_decode_variable_values(ctx, zip->values, page->general, arena, &out->values);
}

static LncCode
open_fixed(LncContext *ctx, LncPage21 *page, FullZip *zip, uint32_t bits_per_value)
{
	LNC_REQUIRE(ctx, !zip->values->shape.variable, "values of varying length are said to have %u bits",
				bits_per_value);
	LNC_REQUIRE(ctx,
				(zip->values->value_bytes > 0 || zip->values->kind == LNC_CODEC_CONSTANT) &&
					bits_per_value % 8 == 0 && zip->values->value_bytes == bits_per_value / 8,
				"values of %llu bytes are said to have %u bits", (unsigned long long)zip->values->value_bytes,
				bits_per_value);
	zip->shape = zip->values->shape;
	if (page->shape.bits == 1 && zip->shape.bits == 8)
	{
		zip->bytes_to_bits = true;
		zip->shape.bits = 1;
	}
	page->read = read_fixed;
	return lnc_shape_match(ctx, &zip->shape, &page->shape);
}

static LncCode
open_variable(LncContext *ctx, LncPage21 *page, FullZip *zip, uint32_t bits_per_offset)
{
	uint64_t entries = page->page.nrows + 1;
	uint64_t size;
	LncShape shape = zip->values->shape;

	LNC_REQUIRE(ctx,
				bits_per_offset == 8 || bits_per_offset == 16 || bits_per_offset == 32 || bits_per_offset == 64,
				"lengths of values have %u bits", bits_per_offset);
	zip->length_bytes = bits_per_offset / 8;
	LNC_REQUIRE(ctx, page->source->nbuffers >= 2, "a page of values of varying length has no index");
	size = page->source->sizes[BUFFER_INDEX];
	LNC_REQUIRE(ctx, entries > 0 && size % entries == 0, "an index of %llu bytes does not suit %llu rows",
				(unsigned long long)size, (unsigned long long)page->page.nrows);
	LNC_REQUIRE(ctx, size / entries == 1 || size / entries == 2 || size / entries == 4 || size / entries == 8,
				"an index of %llu bytes does not suit %llu rows", (unsigned long long)size,
				(unsigned long long)page->page.nrows);
	zip->index_bytes = (uint32_t)(size / entries);
	page->read = read_variable;
	return lnc_shape_match(ctx, &shape, &page->shape);
}

LncCode
lnc_fullzip_open(LncContext *ctx, LncPage21 *page, const Lance__Encodings21__FullZipLayout *message)
{
	uint64_t bits = (uint64_t)message->bits_rep + message->bits_def;
	FullZip *zip;

	LNC_TRY(LNC_NEW(ctx, page->arena, &zip, 1));
	page->layout = zip;
	page->page.layout = "full-zip";
	LNC_REQUIRE(ctx, page->source->nbuffers >= 1, "a full-zip page has no buffers");
	LNC_REQUIRE(ctx, message->bits_rep == 0, "a page without lists has repetition levels");
	LNC_REQUIRE(ctx, message->bits_def <= 16, "definition levels have %u bits", message->bits_def);
	zip->bits_def = message->bits_def;
	zip->control_bytes = bits == 0 ? 0 : bits <= 8 ? 1 : 2;
	LNC_REQUIRE(ctx, message->num_items == page->page.nrows && message->num_visible_items == page->page.nrows,
				"a page of %llu rows has %u values in %u slots", (unsigned long long)page->page.nrows,
				message->num_visible_items, message->num_items);
	LNC_TRY(lnc_codec_open(ctx, page->arena, LNC_CODEC_VALUE, message->value_compression, &zip->values));
	switch (message->details_case)
	{
		case LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_VALUE:
			return open_fixed(ctx, page, zip, message->bits_per_value);
		case LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_OFFSET:
			return open_variable(ctx, page, zip, message->bits_per_offset);
		default:
			return lnc_fail(ctx, LNC_CORRUPT, "a full-zip page does not tell the size of its values");
	}
}
