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
#include "encoding/chosen.h"
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
	uint32_t bits_rep; /* 0: no lists */
	uint32_t bits_def;
	uint32_t length_bytes; /* variable values: of the length in front of each */
	uint32_t index_bytes;  /* of an index entry; 0: there is no index */
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

/* Where the bytes go from which values are decoded: to the values' arena if they are borrowed. */
static LncArena *
arena_of_rows(const FullZip *zip, LncArena *arena, LncArena *scratch)
{
	return lnc_codec_borrows_values(zip->values) && !zip->bytes_to_bits ? arena : scratch;
}

/* Decode count values, the first at rows and each stride after the one before. */
static LncCode
finish_fixed(LncContext *ctx, const FullZip *zip, LncArena *arena, const uint8_t *rows, uint64_t stride,
			 uint64_t count, LncSlots *out)
{
	LNC_TRY(lnc_codec_decode_fixed_values(ctx, zip->values, arena, rows, stride, count, &out->values));
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

/* The slots of count rows of fixed size, which lie one after the other. */
static LncCode
take_fixed(LncContext *ctx, const LncPage21 *page, const FullZip *zip, LncArena *arena, LncArena *scratch,
		   LncSlice rows, uint64_t count, LncSlots *out)
{
	uint64_t stride = zip->control_bytes + zip->values->value_bytes;

	out->nslots = count;
	out->nvalues = count;
	if (zip->control_bytes > 0)
		LNC_TRY(read_def(ctx, page, zip, scratch, rows.data, stride, count, &out->def));
	return finish_fixed(ctx, zip, arena, rows.data + zip->control_bytes, stride, count, out);
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

	LNC_REQUIRE(ctx, !lnc_mul_overflow(first, stride, &offset) && !lnc_mul_overflow(count, stride, &length),
				"the size of %llu values overflows", (unsigned long long)count);
	LNC_TRY(lnc_page21_read(ctx, page, zip->control_bytes == 0 ? arena_of_rows(zip, arena, scratch) : scratch,
							BUFFER_DATA, offset, length, &rows));
	return take_fixed(ctx, page, zip, arena, scratch, rows, count, out);
}

static LncCode
read_some_fixed(LncContext *ctx, LncPage21 *page, LncArena *arena, LncArena *scratch, uint64_t first,
				uint64_t count, const int64_t *rows, bool *done, LncSlots *out)
{
	const FullZip *zip = page->layout;
	uint64_t stride = zip->control_bytes + zip->values->value_bytes;
	LncSlice bytes;

	LNC_TRY(lnc_chosen_read_rows(ctx, page->source,
								 zip->control_bytes == 0 ? arena_of_rows(zip, arena, scratch) : scratch, scratch,
								 BUFFER_DATA, stride, first, (size_t)count, rows, done, &bytes));
	return *done ? take_fixed(ctx, page, zip, arena, scratch, bytes, count, out) : LNC_OK;
}

/* Room for the levels of at most count slots, as far as they are stored. */
static LncCode
make_levels(LncContext *ctx, const FullZip *zip, LncArena *scratch, uint64_t count, uint16_t **rep, uint16_t **def)
{
	*rep = NULL;
	*def = NULL;
	if (zip->bits_rep > 0)
		LNC_TRY(lnc_arena_alloc(ctx, scratch, (count + 1) * sizeof(**rep), (void **)rep));
	if (zip->bits_def > 0)
		LNC_TRY(lnc_arena_alloc(ctx, scratch, (count + 1) * sizeof(**def), (void **)def));
	return LNC_OK;
}

/* Split the control word at *at of rows into levels, which are put at number slot; moves *at behind it. */
static inline LncCode
take_levels(LncContext *ctx, const LncPage21 *page, const FullZip *zip, LncSlice rows, uint64_t *at, uint64_t slot,
			uint16_t *rep, uint16_t *def, uint64_t *level)
{
	uint64_t word;

	*level = 0;
	if (zip->control_bytes == 0)
		return LNC_OK;
	LNC_REQUIRE(ctx, lnc_range_ok(*at, zip->control_bytes, rows.size), "values are truncated");
	word = load_word(rows.data + *at, zip->control_bytes);
	*at += zip->control_bytes;
	*level = word & ((UINT64_C(1) << zip->bits_def) - 1);
	LNC_REQUIRE(ctx, *level <= page->layers.max_def, "a level of %llu is out of range, the highest is %u",
				(unsigned long long)*level, page->layers.max_def);
	LNC_REQUIRE(ctx, word >> zip->bits_def <= page->layers.max_rep,
				"a level of %llu is out of range, the highest is %u", (unsigned long long)(word >> zip->bits_def),
				page->layers.max_rep);
	if (rep != NULL)
		rep[slot] = (uint16_t)(word >> zip->bits_def);
	if (def != NULL)
		def[slot] = (uint16_t)*level;
	return LNC_OK;
}

/* Read the bytes of rows [first, first + count) by the index. */
static LncCode
read_indexed(LncContext *ctx, const LncPage21 *page, const FullZip *zip, LncArena *scratch, uint64_t first,
			 uint64_t count, LncSlice *rows)
{
	LncSlice index;
	uint64_t start;
	uint64_t end;

	if (page->whole)
		return lnc_page21_read(ctx, page, scratch, BUFFER_DATA, 0, page->source->sizes[BUFFER_DATA], rows);
	LNC_TRY(lnc_page21_read(ctx, page, scratch, BUFFER_INDEX, first * zip->index_bytes,
							(count + 1) * zip->index_bytes, &index));
	start = load_word(index.data, zip->index_bytes);
	end = load_word(index.data + count * zip->index_bytes, zip->index_bytes);
	LNC_REQUIRE(ctx, start <= end, "the positions of rows %llu to %llu fall", (unsigned long long)first,
				(unsigned long long)(first + count));
	return lnc_page21_read(ctx, page, scratch, BUFFER_DATA, start, end - start, rows);
}

/*
 * Walk the slots in rows: levels, and the values as stored put back to back in arena. Without lists there must be
 * count slots.
 */
static LncCode
unzip_variable(LncContext *ctx, const LncPage21 *page, const FullZip *zip, LncArena *arena, LncArena *scratch,
			   LncSlice rows, uint64_t count, LncSlots *out)
{
	LncBlock *block = &out->values;
	uint64_t most = zip->bits_rep > 0 ? rows.size / zip->control_bytes : count;
	uint64_t at = 0;
	uint64_t used = 0;
	uint64_t slot;
	uint64_t value = 0;
	uint16_t *rep;
	uint16_t *def;
	int64_t *offsets;
	uint8_t *data;

	LNC_TRY(make_levels(ctx, zip, scratch, most, &rep, &def));
	LNC_TRY(lnc_arena_alloc(ctx, arena, (most + 1) * sizeof(*offsets), (void **)&offsets));
	LNC_TRY(lnc_arena_alloc(ctx, arena, rows.size, (void **)&data));
	for (slot = 0; zip->bits_rep > 0 ? at < rows.size : slot < count; slot++)
	{
		uint64_t level;
		uint64_t length;

		LNC_TRY(take_levels(ctx, page, zip, rows, &at, slot, rep, def, &level));
		if (level > page->layers.max_visible)
			continue;
		offsets[value++] = (int64_t)used;
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
	offsets[value] = (int64_t)used;
	LNC_REQUIRE(ctx, at == rows.size, "values take %llu bytes of %zu", (unsigned long long)at, rows.size);
	memset(block, 0, sizeof(*block));
	block->shape.variable = true;
	block->count = value;
	block->offsets = offsets;
	block->data = data;
	out->nslots = slot;
	out->nvalues = value;
	out->rep = rep;
	out->def = def;
	return LNC_OK;
}

/* The slots in rows, decoded. */
static LncCode
take_variable(LncContext *ctx, const LncPage21 *page, const FullZip *zip, LncArena *arena, LncArena *scratch,
			  LncSlice rows, uint64_t count, LncSlots *out)
{
	/* Values that are decoded into new memory are only collected in scratch. */
	bool recoded =
		zip->values->kind == LNC_CODEC_GENERAL || (zip->values->kind == LNC_CODEC_FSST && !zip->values->fsst->raw);
	LncArena *unzipped = recoded ? scratch : arena;

	LNC_TRY(unzip_variable(ctx, page, zip, unzipped, scratch, rows, count, out));
	return lnc_codec_decode_variable_values(ctx, zip->values, page->general, arena, &out->values);
}

static LncCode
read_variable(LncContext *ctx, LncPage21 *page, LncArena *arena, LncArena *scratch, uint64_t first, uint64_t count,
			  LncSlots *out)
{
	const FullZip *zip = page->layout;
	LncSlice rows;

	LNC_TRY(read_indexed(ctx, page, zip, scratch, first, count, &rows));
	return take_variable(ctx, page, zip, arena, scratch, rows, count, out);
}

static LncCode
read_some_variable(LncContext *ctx, LncPage21 *page, LncArena *arena, LncArena *scratch, uint64_t first,
				   uint64_t count, const int64_t *rows, bool *done, LncSlots *out)
{
	const FullZip *zip = page->layout;
	uint64_t low = first + (uint64_t)rows[0];
	uint64_t span = (uint64_t)(rows[count - 1] - rows[0]) + 1;
	LncPageRange *ranges;
	LncSlice index;
	LncSlice bytes;

	LNC_TRY(lnc_page21_read(ctx, page, scratch, BUFFER_INDEX, low * zip->index_bytes, (span + 1) * zip->index_bytes,
							&index));
	LNC_TRY(LNC_NEW(ctx, scratch, &ranges, count));
	for (uint64_t i = 0; i < count; i++)
	{
		const uint8_t *entry = index.data + (uint64_t)(rows[i] - rows[0]) * zip->index_bytes;
		uint64_t start = load_word(entry, zip->index_bytes);
		uint64_t end = load_word(entry + zip->index_bytes, zip->index_bytes);

		LNC_REQUIRE(ctx, start <= end, "the positions of row %llu fall",
					(unsigned long long)(first + (uint64_t)rows[i]));
		ranges[i] = (LncPageRange){BUFFER_DATA, start, end - start};
	}
	LNC_TRY(lnc_chosen_read(ctx, page->source, scratch, scratch, (size_t)count, ranges, done, &bytes));
	return *done ? take_variable(ctx, page, zip, arena, scratch, bytes, count, out) : LNC_OK;
}

/* The slots of fixed size below lists: placeholders have no value, so values are put back to back first. */
static LncCode
read_fixed_lists(LncContext *ctx, LncPage21 *page, LncArena *arena, LncArena *scratch, uint64_t first,
				 uint64_t count, LncSlots *out)
{
	const FullZip *zip = page->layout;
	uint64_t width = zip->values->value_bytes;
	uint64_t at = 0;
	uint64_t slot;
	uint64_t value = 0;
	uint16_t *rep;
	uint16_t *def;
	uint8_t *data;
	LncSlice rows;

	LNC_TRY(read_indexed(ctx, page, zip, scratch, first, count, &rows));
	LNC_TRY(make_levels(ctx, zip, scratch, rows.size / zip->control_bytes, &rep, &def));
	LNC_TRY(lnc_arena_alloc(ctx, arena_of_rows(zip, arena, scratch), rows.size, (void **)&data));
	for (slot = 0; at < rows.size; slot++)
	{
		uint64_t level;

		LNC_TRY(take_levels(ctx, page, zip, rows, &at, slot, rep, def, &level));
		if (level > page->layers.max_visible)
			continue;
		LNC_REQUIRE(ctx, lnc_range_ok(at, width, rows.size), "values are truncated");
		if (width > 0)
			memcpy(data + value * width, rows.data + at, width);
		at += width;
		value++;
	}
	out->nslots = slot;
	out->nvalues = value;
	out->rep = rep;
	out->def = def;
	return finish_fixed(ctx, zip, arena, data, width, value, out);
}

/* The width of the index entries, of which there is one more than rows. A page that is read whole needs none. */
static LncCode
open_index(LncContext *ctx, const LncPage21 *page, FullZip *zip)
{
	uint64_t entries = page->page.nrows + 1;
	uint64_t size;

	if (page->whole)
		return LNC_OK;
	LNC_REQUIRE(ctx, page->source->nbuffers >= 2, "a page of lists or of values of varying length has no index");
	size = page->source->sizes[BUFFER_INDEX];
	LNC_REQUIRE(ctx, entries > 0 && size % entries == 0, "an index of %llu bytes does not suit %llu rows",
				(unsigned long long)size, (unsigned long long)page->page.nrows);
	LNC_REQUIRE(ctx, size / entries == 1 || size / entries == 2 || size / entries == 4 || size / entries == 8,
				"an index of %llu bytes does not suit %llu rows", (unsigned long long)size,
				(unsigned long long)page->page.nrows);
	zip->index_bytes = (uint32_t)(size / entries);
	return LNC_OK;
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
	if (zip->bits_rep > 0)
		LNC_TRY(open_index(ctx, page, zip));
	page->read = zip->bits_rep > 0 ? read_fixed_lists : read_fixed;
	page->read_some = zip->bits_rep > 0 ? NULL : read_some_fixed;
	return lnc_shape_match(ctx, &zip->shape, &page->shape);
}

static LncCode
open_variable(LncContext *ctx, LncPage21 *page, FullZip *zip, uint32_t bits_per_offset)
{
	LncShape shape = zip->values->shape;

	LNC_REQUIRE(ctx,
				bits_per_offset == 8 || bits_per_offset == 16 || bits_per_offset == 32 || bits_per_offset == 64,
				"lengths of values have %u bits", bits_per_offset);
	zip->length_bytes = bits_per_offset / 8;
	LNC_TRY(open_index(ctx, page, zip));
	page->read = read_variable;
	page->read_some = zip->bits_rep > 0 ? NULL : read_some_variable;
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
	LNC_REQUIRE(ctx, (message->bits_rep > 0) == (page->layers.max_rep > 0),
				"a page of %u list layers has repetition levels of %u bits", page->layers.max_rep,
				message->bits_rep);
	LNC_REQUIRE(ctx, message->bits_rep <= 16 && message->bits_def <= 16, "levels have %u and %u bits",
				message->bits_rep, message->bits_def);
	zip->bits_rep = message->bits_rep;
	zip->bits_def = message->bits_def;
	zip->control_bytes = bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
	LNC_REQUIRE(ctx,
				page->layers.max_rep > 0 ||
					(message->num_items == page->page.nrows && message->num_visible_items == page->page.nrows),
				"a page of %llu rows has %u values in %u slots", (unsigned long long)page->page.nrows,
				message->num_visible_items, message->num_items);
	LNC_TRY(lnc_codec_open(ctx, page->arena, LNC_CODEC_VALUE, message->value_compression, &zip->values));
	page->codec = zip->values;
	if (zip->values->kind == LNC_CODEC_VARIABLE_PACKED_STRUCT)
	{
		/* A packed struct may be stored so even if all its fields are of fixed width. */
		LNC_REQUIRE(ctx, page->type->kind == LNC_TYPE_STRUCT,
					"packed structs are stored for a column of another type");
		page->shape = zip->values->shape;
	}
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
