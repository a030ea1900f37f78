/*
 * page20_test.c
 *	  Pages of file version 2.0, each encoding over buffers made here; the writers' own pages are in the fixtures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/env.h"
#include "encoding/page.h"
#include "file_builder.h"

#define CASE(name) LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_##name
#define MAX_PARTS 16

typedef Lance__Encodings20__ArrayEncoding Encoding;

static LncContext ctx;
static LncArena *arena;

/* The page under test: buffers, and the parts that its encoding is made of. */
static LncSlice buffers[MAX_PARTS];
static uint64_t sizes[MAX_PARTS];
static uint32_t nbuffers;
static Encoding encodings[MAX_PARTS];
static int nencodings;
static LncPageSource source;

static LncCode
read_buffers(LncContext *c, const LncPageSource *from, LncArena *into, size_t nranges, const LncPageRange *ranges,
			 const uint8_t **outs)
{
	(void)from;
	for (size_t i = 0; i < nranges; i++)
	{
		void *copy;

		if (ranges[i].buffer >= nbuffers ||
			!lnc_range_ok(ranges[i].offset, ranges[i].length, buffers[ranges[i].buffer].size))
			return lnc_fail(c, LNC_CORRUPT, "range outside buffer %u", ranges[i].buffer);
		LNC_TRY(lnc_arena_alloc(c, into, (size_t)ranges[i].length + 1, &copy));
		/* One byte off, so that the decoder sees pointers that are not aligned. */
		copy = (uint8_t *)copy + 1;
		memcpy(copy, buffers[ranges[i].buffer].data + ranges[i].offset, (size_t)ranges[i].length);
		outs[i] = copy;
	}
	return LNC_OK;
}

static int
setup(void **state)
{
	(void)state;
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	nbuffers = 0;
	nencodings = 0;
	source = (LncPageSource){.sizes = sizes, .read = read_buffers};
	return arena == NULL;
}

static int
teardown(void **state)
{
	(void)state;
	lnc_arena_destroy(arena);
	return 0;
}

static void *
zeroed(size_t size)
{
	void *p;

	assert_int_equal(lnc_arena_calloc(&ctx, arena, size, 1, &p), LNC_OK);
	return p;
}

/* ---- making pages ---- */

static Lance__Encodings20__Buffer *
buffer(const void *data, size_t size)
{
	Lance__Encodings20__Buffer *out = zeroed(sizeof(*out));

	assert_true(nbuffers < MAX_PARTS);
	lance__encodings20__buffer__init(out);
	out->buffer_index = nbuffers;
	buffers[nbuffers] = (LncSlice){data, size};
	sizes[nbuffers++] = size;
	source.nbuffers = nbuffers;
	return out;
}

static Encoding *
encoding(int which, void *message)
{
	Encoding *out = &encodings[nencodings++];

	assert_true(nencodings <= MAX_PARTS);
	lance__encodings20__array_encoding__init(out);
	out->array_encoding_case = which;
	out->flat = message; /* all members share their place */
	return out;
}

static Encoding *
flat(uint64_t bits, const void *data, size_t size)
{
	Lance__Encodings20__Flat *out = zeroed(sizeof(*out));

	lance__encodings20__flat__init(out);
	out->bits_per_value = bits;
	out->buffer = buffer(data, size);
	return encoding(CASE(FLAT), out);
}

static Encoding *
some_nulls(Encoding *validity, Encoding *values)
{
	Lance__Encodings20__Nullable *out = zeroed(sizeof(*out));

	lance__encodings20__nullable__init(out);
	out->nullability_case = LANCE__ENCODINGS20__NULLABLE__NULLABILITY_SOME_NULLS;
	out->some_nulls = zeroed(sizeof(*out->some_nulls));
	lance__encodings20__some_nulls__init(out->some_nulls);
	out->some_nulls->validity = validity;
	out->some_nulls->values = values;
	return encoding(CASE(NULLABLE), out);
}

static Encoding *
no_nulls(Encoding *values)
{
	Lance__Encodings20__Nullable *out = zeroed(sizeof(*out));

	lance__encodings20__nullable__init(out);
	out->nullability_case = LANCE__ENCODINGS20__NULLABLE__NULLABILITY_NO_NULLS;
	out->no_nulls = zeroed(sizeof(*out->no_nulls));
	lance__encodings20__no_nulls__init(out->no_nulls);
	out->no_nulls->values = values;
	return encoding(CASE(NULLABLE), out);
}

static Encoding *
all_nulls(void)
{
	Lance__Encodings20__Nullable *out = zeroed(sizeof(*out));

	lance__encodings20__nullable__init(out);
	out->nullability_case = LANCE__ENCODINGS20__NULLABLE__NULLABILITY_ALL_NULLS;
	out->all_nulls = zeroed(sizeof(*out->all_nulls));
	lance__encodings20__all_nulls__init(out->all_nulls);
	return encoding(CASE(NULLABLE), out);
}

static Encoding *
fixed_list(uint32_t dimension, Encoding *items)
{
	Lance__Encodings20__FixedSizeList *out = zeroed(sizeof(*out));

	lance__encodings20__fixed_size_list__init(out);
	out->dimension = dimension;
	out->items = items;
	return encoding(CASE(FIXED_SIZE_LIST), out);
}

static Encoding *
binary(uint64_t adjustment, Encoding *indices, Encoding *bytes)
{
	Lance__Encodings20__Binary *out = zeroed(sizeof(*out));

	lance__encodings20__binary__init(out);
	out->indices = indices;
	out->bytes = bytes;
	out->null_adjustment = adjustment;
	return encoding(CASE(BINARY), out);
}

static Encoding *
dictionary(uint32_t nitems, Encoding *indices, Encoding *items)
{
	Lance__Encodings20__Dictionary *out = zeroed(sizeof(*out));

	lance__encodings20__dictionary__init(out);
	out->indices = indices;
	out->items = items;
	out->num_dictionary_items = nitems;
	return encoding(CASE(DICTIONARY), out);
}

static LncCode
open_page(const char *logical, uint64_t nrows, const Encoding *root, LncPage **page)
{
	LncField *field = zeroed(sizeof(*field));
	const LncField *path = field;
	LncPageSpec spec = {.source = &source, .path = &path, .npath = 1, .nrows = nrows};
	size_t size = protobuf_c_message_get_packed_size(&root->base);
	uint8_t *packed = zeroed(size + 1);

	memset(&ctx.error, 0, sizeof(ctx.error));
	field->name = "col";
	assert_int_equal(lnc_type_parse(&ctx, arena, logical, &field->type), LNC_OK);
	protobuf_c_message_pack(&root->base, packed);
	spec.encoding = (LncSlice){packed, size};
	return lnc_page20_open(&ctx, arena, &spec, page);
}

/* Open and decode rows [first, first + count). */
static LncCode
decode(const char *logical, uint64_t nrows, const Encoding *root, uint64_t first, uint64_t count, LncColumn *out)
{
	LncPage *page;

	LNC_TRY(open_page(logical, nrows, root, &page));
	return page->decode(&ctx, page, arena, first, count, out);
}

static void
assert_text(const LncColumn *column, int64_t row, const char *text)
{
	assert_int_equal(lnc_column_is_null(column, row), text == NULL);
	if (text == NULL)
		return;
	assert_int_equal(column->offsets[row + 1] - column->offsets[row], strlen(text));
	assert_memory_equal(column->data + column->offsets[row], text, strlen(text));
}

/* ---- fixed width ---- */

static void
flat_values_are_aligned_and_cut(void **state)
{
	uint64_t values[5] = {10, 11, 12, 13, 14};
	LncColumn column;
	LncPage *page;

	(void)state;
	assert_int_equal(decode("uint64", 5, no_nulls(flat(64, values, sizeof(values))), 1, 3, &column), LNC_OK);
	assert_int_equal((uintptr_t)column.values % 8, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(((const uint64_t *)column.values)[i], 11 + i);
	assert_null(column.validity);

	assert_int_equal(open_page("uint64", 5, &encodings[0], &page), LNC_OK);
	assert_string_equal(page->layout, "flat");
	assert_int_equal(page->decode(&ctx, page, arena, 3, 3, &column), LNC_CORRUPT);
	assert_int_equal(page->decode(&ctx, page, arena, UINT64_MAX, 2, &column), LNC_CORRUPT);
	/* Too few bytes for the rows; products that overflow; another type. */
	assert_int_equal(open_page("uint64", 6, &encodings[0], &page), LNC_CORRUPT);
	assert_int_equal(open_page("uint64", UINT64_C(1) << 61, &encodings[0], &page), LNC_CORRUPT);
	assert_int_equal(open_page("uint64", UINT64_MAX, &encodings[0], &page), LNC_CORRUPT);
	assert_int_equal(open_page("uint32", 5, &encodings[0], &page), LNC_CORRUPT);
	assert_int_equal(open_page("string", 5, &encodings[0], &page), LNC_CORRUPT);
	assert_int_equal(open_page("surprise", 5, &encodings[0], &page), LNC_UNSUPPORTED);
	assert_non_null(strstr(ctx.error.message, "surprise"));
	/* A buffer that is not there, or not of the page. */
	encodings[0].flat->buffer->buffer_index = 1;
	assert_int_equal(open_page("uint64", 5, &encodings[0], &page), LNC_CORRUPT);
	encodings[0].flat->buffer->buffer_index = 0;
	encodings[0].flat->buffer->buffer_type = LANCE__ENCODINGS20__BUFFER__BUFFER_TYPE__COLUMN;
	assert_int_equal(open_page("uint64", 5, &encodings[0], &page), LNC_UNSUPPORTED);
}

static void
bits_and_nulls_start_anywhere(void **state)
{
	uint8_t values[13];
	uint8_t validity[13];
	Encoding *root;

	(void)state;
	srand(3);
	for (int i = 0; i < 13; i++)
	{
		values[i] = (uint8_t)rand();
		validity[i] = (uint8_t)rand();
	}
	root = some_nulls(flat(1, validity, 13), flat(1, values, 13));
	for (uint64_t first = 0; first < 100; first += 7)
		for (uint64_t count = 0; count <= 100 - first; count += 5)
		{
			LncColumn column;

			assert_int_equal(decode("bool", 100, root, first, count, &column), LNC_OK);
			for (uint64_t i = 0; i < count; i++)
			{
				assert_int_equal(lnc_column_is_null(&column, (int64_t)i), !lnc_bit(validity, first + i));
				assert_int_equal(lnc_bit(column.values, i), lnc_bit(values, first + i));
			}
		}
}

static void
fixed_lists_nest_with_nulls_of_items(void **state)
{
	uint8_t outer = 0x05;            /* rows 0 and 2 */
	uint8_t inner[2] = {0xFD, 0xFF}; /* item 1 is NULL */
	int16_t items[12];
	LncColumn column;
	LncPage *page;
	Encoding *root;

	(void)state;
	for (int i = 0; i < 12; i++)
		items[i] = (int16_t)(i * 100);
	root = some_nulls(
		flat(1, &outer, 1),
		fixed_list(2, no_nulls(fixed_list(2, some_nulls(flat(1, inner, 2), flat(16, items, sizeof(items)))))));
	assert_int_equal(decode("fixed_size_list:fixed_size_list:int16:2:2", 3, root, 0, 3, &column), LNC_OK);
	assert_false(lnc_column_is_null(&column, 0));
	assert_true(lnc_column_is_null(&column, 1));
	assert_int_equal(column.children[0].length, 6);
	assert_int_equal(column.children[0].children[0].length, 12);
	assert_true(lnc_column_is_null(&column.children[0].children[0], 1));
	assert_false(lnc_column_is_null(&column.children[0].children[0], 2));
	assert_int_equal(((const int16_t *)column.children[0].children[0].values)[11], 1100);
	assert_int_equal(decode("fixed_size_list:fixed_size_list:int16:2:2", 3, root, 2, 1, &column), LNC_OK);
	assert_int_equal(((const int16_t *)column.children[0].children[0].values)[0], 800);
	assert_int_equal(open_page("fixed_size_list:fixed_size_list:int16:2:3", 3, root, &page), LNC_CORRUPT);
	assert_int_equal(open_page("fixed_size_list:int16:2", 3, root, &page), LNC_CORRUPT);
	assert_int_equal(open_page("fixed_size_list:fixed_size_list:int16:2:2", INT64_MAX, root, &page), LNC_CORRUPT);
}

static void
constants_and_nulls_fill_rows(void **state)
{
	Lance__Encodings20__Constant constant = LANCE__ENCODINGS20__CONSTANT__INIT;
	uint8_t bytes[4] = {1, 2, 3, 4};
	LncColumn column;
	LncPage *page;
	Encoding *root = encoding(CASE(CONSTANT), &constant);

	(void)state;
	constant.value = (ProtobufCBinaryData){4, bytes};
	assert_int_equal(decode("uint32", 9, root, 2, 7, &column), LNC_OK);
	for (int i = 0; i < 7; i++)
		assert_int_equal(((const uint32_t *)column.values)[i], 0x04030201);
	assert_int_equal(open_page("uint64", 9, root, &page), LNC_CORRUPT);
	assert_int_equal(decode("uint32", INT64_MAX, root, 0, INT64_MAX, &column), LNC_LIMIT);
	constant.value.len = 1;
	assert_int_equal(decode("bool", 9, root, 0, 9, &column), LNC_OK);
	assert_true(lnc_bit(column.values, 8));

	assert_int_equal(decode("string", 9, all_nulls(), 0, 9, &column), LNC_OK);
	assert_true(lnc_column_is_null(&column, 8));
	assert_int_equal(decode("null", 9, &encodings[1], 0, 9, &column), LNC_OK);
	assert_true(lnc_column_is_null(&column, 8));
	assert_int_equal(decode("double", INT64_MAX, &encodings[1], 0, INT64_MAX, &column), LNC_LIMIT);
}

/* ---- bit-packing ---- */

static void
bit_streams_unpack(void **state)
{
	(void)state;
	srand(5);
	for (uint32_t packed = 1; packed <= 64; packed++)
		for (int is_signed = 0; is_signed < 2; is_signed++)
		{
			Lance__Encodings20__Bitpacked message = LANCE__ENCODINGS20__BITPACKED__INIT;
			uint32_t bits = packed <= 8 ? 8 : packed <= 16 ? 16 : packed <= 32 ? 32 : 64;
			uint64_t values[50];
			uint8_t stream[50 * 8 + 1] = {0};
			char logical[16];
			LncColumn column;
			LncPage *page;
			Encoding *root;

			nbuffers = 0;
			nencodings = 0;
			for (uint64_t i = 0; i < 50; i++)
			{
				values[i] = (uint64_t)rand() << 60 ^ (uint64_t)rand() << 31 ^ (uint64_t)rand();
				if (packed < 64)
					values[i] &= (UINT64_C(1) << packed) - 1;
				for (uint32_t b = 0; b < packed; b++)
					if ((values[i] >> b & 1) != 0)
						lnc_bit_set(stream, i * packed + b);
				if (is_signed && packed < 64 && (values[i] >> (packed - 1)) != 0)
					values[i] |= ~((UINT64_C(1) << packed) - 1);
				if (bits < 64)
					values[i] &= (UINT64_C(1) << bits) - 1;
			}
			message.compressed_bits_per_value = packed;
			message.uncompressed_bits_per_value = bits;
			message.is_signed = is_signed;
			message.buffer = buffer(stream, lnc_bitmap_size(50 * packed));
			root = encoding(CASE(BITPACKED), &message);
			snprintf(logical, sizeof(logical), "%s%u", is_signed ? "int" : "uint", bits);
			for (uint64_t first = 0; first < 50; first += 3)
			{
				assert_int_equal(decode(logical, 50, root, first, 50 - first, &column), LNC_OK);
				for (uint64_t i = 0; i < 50 - first; i++)
				{
					uint64_t value = 0;

					memcpy(&value, (const uint8_t *)column.values + i * bits / 8, bits / 8);
					assert_true(value == values[first + i]);
				}
			}
			assert_int_equal(open_page(logical, 58, root, &page), LNC_CORRUPT);
			message.compressed_bits_per_value = 0;
			assert_int_equal(open_page(logical, 50, root, &page), LNC_CORRUPT);
			message.compressed_bits_per_value = bits + 1;
			assert_int_equal(open_page(logical, 50, root, &page), LNC_CORRUPT);
		}
}

/* The place of value i of a block as the format lays it out: lane and row of a stream of W-bit values per lane. */
static void
pack_block(uint32_t bits, uint32_t width, const uint32_t *values, uint8_t *out)
{
	static const uint32_t order[8] = {0, 4, 2, 6, 1, 5, 3, 7};
	uint32_t lanes = 1024 / bits;

	for (uint32_t lane = 0; lane < lanes; lane++)
		for (uint32_t row = 0; row < bits; row++)
		{
			uint32_t value = values[order[row / 8] * 16 + (row % 8) * 128 + lane];

			for (uint32_t b = 0; b < width; b++)
			{
				uint32_t at = row * width + b; /* bit of the lane's stream */
				uint32_t word = at / bits;

				if ((value >> b & 1) != 0)
					lnc_bit_set(out, ((uint64_t)word * lanes + lane) * bits + at % bits);
			}
		}
}

static void
bit_packed_blocks_unpack(void **state)
{
	Lance__Encodings20__BitpackedForNonNeg message = LANCE__ENCODINGS20__BITPACKED_FOR_NON_NEG__INIT;
	uint32_t values[3 * 1024];
	uint8_t packed[3 * 128 * 11] = {0};
	LncColumn column;
	LncPage *page;
	Encoding *root;

	(void)state;
	srand(6);
	for (int i = 0; i < 3 * 1024; i++)
		values[i] = (uint32_t)rand() % 2048;
	for (int block = 0; block < 3; block++)
		pack_block(32, 11, values + block * 1024, packed + block * 128 * 11);
	message.compressed_bits_per_value = 11;
	message.uncompressed_bits_per_value = 32;
	message.buffer = buffer(packed, sizeof(packed));
	root = encoding(CASE(BITPACKED_FOR_NON_NEG), &message);
	for (uint64_t first = 0; first < 2500; first += 311)
		for (uint64_t count = 0; count <= 2500 - first; count += 407)
		{
			assert_int_equal(decode("int32", 2500, root, first, count, &column), LNC_OK);
			for (uint64_t i = 0; i < count; i++)
				assert_int_equal(((const uint32_t *)column.values)[i], values[first + i]);
		}
	assert_int_equal(open_page("int32", 3 * 1024 + 1, root, &page), LNC_CORRUPT);
	assert_int_equal(open_page("int64", 2500, root, &page), LNC_CORRUPT);
}

/* ---- strings ---- */

static void
strings_know_null_from_empty(void **state)
{
	/* "ab", NULL, "", "cde", NULL */
	uint64_t ends[5] = {2, 2 + 6, 2, 5, 5 + 6};
	LncColumn column;
	Encoding *indices = flat(64, ends, sizeof(ends));
	Encoding *root = binary(6, indices, flat(8, "abcde", 5));

	(void)state;
	for (uint64_t first = 0; first < 5; first++)
	{
		static const char *const words[] = {"ab", NULL, "", "cde", NULL};

		assert_int_equal(decode("string", 5, root, first, 5 - first, &column), LNC_OK);
		assert_int_equal(column.offsets[0], 0);
		for (uint64_t i = 0; i < 5 - first; i++)
			assert_text(&column, (int64_t)i, words[first + i]);
	}
	ends[3] = 1; /* before its start */
	assert_int_equal(decode("string", 5, root, 0, 5, &column), LNC_CORRUPT);
	ends[3] = 6 + 6; /* a NULL that ends behind the bytes */
	assert_int_equal(decode("string", 4, root, 0, 4, &column), LNC_CORRUPT);
	ends[3] = UINT64_MAX;
	assert_int_equal(decode("string", 4, root, 0, 4, &column), LNC_CORRUPT);
	assert_int_equal(decode("string", 4, root, 3, 1, &column), LNC_CORRUPT);
	/* Bytes of strings must be there as such. */
	assert_int_equal(decode("string", 5, binary(6, indices, all_nulls()), 0, 5, &column), LNC_UNSUPPORTED);
}

static void
strings_of_one_length(void **state)
{
	Lance__Encodings20__FixedSizeBinary message = LANCE__ENCODINGS20__FIXED_SIZE_BINARY__INIT;
	LncColumn column;
	LncPage *page;
	Encoding *root = encoding(CASE(FIXED_SIZE_BINARY), &message);

	(void)state;
	message.byte_width = 3;
	message.bytes = flat(8, "abcdefghi", 9);
	assert_int_equal(decode("string", 3, root, 1, 2, &column), LNC_OK);
	assert_text(&column, 0, "def");
	assert_text(&column, 1, "ghi");
	assert_int_equal(open_page("string", 4, root, &page), LNC_CORRUPT);
	message.bytes = flat(24, "abcdefghi", 9);
	assert_int_equal(decode("binary", 3, root, 0, 3, &column), LNC_OK);
	assert_text(&column, 2, "ghi");
	message.byte_width = 0;
	assert_int_equal(open_page("string", 3, root, &page), LNC_CORRUPT);
}

static void
dictionaries_resolve(void **state)
{
	uint64_t ends[3] = {1, 1 + 8, 4};
	uint8_t indices[6] = {1, 0, 3, 2, 1, 3};
	uint32_t wide[3] = {2, 0, 1};
	uint8_t validity = 0x05;
	LncColumn column;
	Encoding *items = binary(8, flat(64, ends, sizeof(ends)), flat(8, "axyz", 4));
	Encoding *codes = flat(8, indices, sizeof(indices));
	Encoding *root = dictionary(3, codes, items);

	(void)state;
	/* Of a plain type: 0 is NULL, and item 1 is NULL itself. */
	assert_int_equal(decode("string", 6, root, 0, 6, &column), LNC_OK);
	assert_text(&column, 0, "a");
	assert_text(&column, 1, NULL);
	assert_text(&column, 2, "xyz");
	assert_text(&column, 3, NULL);
	assert_text(&column, 5, "xyz");
	/* Of a dictionary type: indices count from 0, with NULLs of their own; the column has the value type. */
	assert_int_equal(decode("dict:string:int32:false", 3,
							dictionary(3, some_nulls(flat(1, &validity, 1), flat(32, wide, sizeof(wide))), items),
							0, 3, &column),
					 LNC_OK);
	assert_int_equal(column.type->kind, LNC_TYPE_UTF8);
	assert_text(&column, 0, "xyz");
	assert_text(&column, 1, NULL);
	assert_text(&column, 2, NULL);

	indices[4] = 4; /* beyond the items */
	assert_int_equal(decode("string", 6, root, 0, 6, &column), LNC_CORRUPT);
	assert_int_equal(decode("string", 6, root, 0, 4, &column), LNC_OK);
	assert_int_equal(decode("string", 6, dictionary(UINT32_MAX, codes, all_nulls()), 0, 6, &column), LNC_LIMIT);
}

static void
fsst_decodes_each_value(void **state)
{
	/* Two symbols: code 0 = "he", code 1 = "llo"; 255 escapes a byte. */
	Lance__Encodings20__Fsst message = LANCE__ENCODINGS20__FSST__INIT;
	uint8_t table[8 + 2 * 8 + 2] = {2, 0, 0, 1,   0x54, 0x53, 0x53, 0x46, 'h', 'e', 0, 0, 0,
									0, 0, 0, 'l', 'l',  'o',  0,    0,    0,   0,   0, 2, 3};
	uint8_t coded[] = {0, 1, 255, '!', 1};
	uint64_t ends[3] = {4, 4 + 6, 5};
	LncColumn column;
	LncPage *page;
	Encoding *root = encoding(CASE(FSST), &message);

	(void)state;
	message.symbol_table = (ProtobufCBinaryData){sizeof(table), table};
	message.binary = binary(6, flat(64, ends, sizeof(ends)), flat(8, coded, sizeof(coded)));
	assert_int_equal(decode("string", 3, root, 0, 3, &column), LNC_OK);
	assert_text(&column, 0, "hello!");
	assert_text(&column, 1, NULL);
	assert_text(&column, 2, "llo");
	message.symbol_table.len = 10;
	assert_int_equal(open_page("string", 3, root, &page), LNC_CORRUPT);
	/* FSST around FSST would multiply without bound. */
	message.symbol_table.len = sizeof(table);
	{
		Lance__Encodings20__Fsst outer = message;

		outer.binary = root;
		assert_int_equal(open_page("string", 3, encoding(CASE(FSST), &outer), &page), LNC_UNSUPPORTED);
	}
}

static void
compressed_buffers_are_read(void **state)
{
	uint64_t values[300];
	uint8_t packed[sizeof(values) + 256];
	Lance__Encodings20__Compression compression = LANCE__ENCODINGS20__COMPRESSION__INIT;
	char zstd[] = "zstd";
	char lz4[] = "lz4";
	char brotli[] = "brotli";
	uint64_t length = sizeof(values);
	uint32_t short_length = sizeof(values);
	LncColumn column;
	LncPage *page;
	Encoding *root;
	size_t size;

	(void)state;
	for (uint64_t i = 0; i < 300; i++)
		values[i] = i * i;
	memcpy(packed, &length, 8);
	size = ZSTD_compress(packed + 8, sizeof(packed) - 8, values, sizeof(values), 3);
	assert_false(ZSTD_isError(size));
	root = flat(64, packed, size + 8);
	compression.scheme = zstd;
	root->flat->compression = &compression;
	assert_int_equal(decode("uint64", 300, root, 290, 10, &column), LNC_OK);
	assert_int_equal(((const uint64_t *)column.values)[9], 299 * 299);
	/* More rows than it decompresses to. */
	assert_int_equal(decode("uint64", 301, root, 290, 11, &column), LNC_CORRUPT);
	assert_int_equal(open_page("uint64", UINT64_C(1) << 61, root, &page), LNC_CORRUPT);
	packed[20] ^= 0x55;
	packed[40] ^= 0x55;
	assert_int_equal(decode("uint64", 300, root, 0, 300, &column), LNC_CORRUPT);

	memcpy(packed, &short_length, 4);
	size =
		(size_t)LZ4_compress_default((const char *)values, (char *)packed + 4, sizeof(values), sizeof(packed) - 4);
	assert_true(size > 0);
	nbuffers = 0;
	root = flat(64, packed, size + 4);
	compression.scheme = lz4;
	root->flat->compression = &compression;
	assert_int_equal(decode("uint64", 300, root, 0, 300, &column), LNC_OK);
	assert_int_equal(((const uint64_t *)column.values)[299], 299 * 299);
	compression.scheme = brotli;
	assert_int_equal(open_page("uint64", 300, root, &page), LNC_UNSUPPORTED);
	assert_non_null(strstr(ctx.error.message, "brotli"));
}

/* Open a packed struct of n fields over the buffer given last. */
static LncCode
open_packed(int n, LncField *fields, Encoding **inner, uint64_t nrows, LncPage **page)
{
	LncField *field = zeroed(sizeof(*field));
	const LncField *path = field;
	LncPageSpec spec = {.source = &source, .path = &path, .npath = 1, .nrows = nrows};
	Lance__Encodings20__PackedStruct packed = LANCE__ENCODINGS20__PACKED_STRUCT__INIT;
	Lance__Encodings20__Buffer where = LANCE__ENCODINGS20__BUFFER__INIT;
	Encoding root = LANCE__ENCODINGS20__ARRAY_ENCODING__INIT;
	uint8_t *bytes;

	where.buffer_index = nbuffers - 1;
	packed.n_inner = (size_t)n;
	packed.inner = inner;
	packed.buffer = &where;
	root.array_encoding_case = CASE(PACKED_STRUCT);
	root.packed_struct = &packed;
	bytes = zeroed(protobuf_c_message_get_packed_size(&root.base) + 1);
	spec.encoding = (LncSlice){bytes, protobuf_c_message_pack(&root.base, bytes)};
	assert_int_equal(lnc_type_parse(&ctx, arena, "struct", &field->type), LNC_OK);
	field->type.nchildren = n;
	field->type.children = fields;
	memset(&ctx.error, 0, sizeof(ctx.error));
	return lnc_page20_open(&ctx, arena, &spec, page);
}

static void
packed_structs_are_taken_apart(void **state)
{
	/* uint8, fixed_size_list:int16:2, int32: 9 bytes a row. */
	static const uint8_t rows[27] = {1, 2, 0, 3, 0, 4,  0, 0,  0, 5,  6, 0, 7, 0,
									 8, 0, 0, 0, 9, 10, 0, 11, 0, 12, 0, 0, 0};
	LncField fields[3] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
	Encoding *inner[3];
	LncColumn column;
	LncPage *page;
	const LncColumn *list;

	(void)state;
	assert_int_equal(lnc_type_parse(&ctx, arena, "uint8", &fields[0].type), LNC_OK);
	assert_int_equal(lnc_type_parse(&ctx, arena, "fixed_size_list:int16:2", &fields[1].type), LNC_OK);
	assert_int_equal(lnc_type_parse(&ctx, arena, "int32", &fields[2].type), LNC_OK);
	inner[0] = no_nulls(flat(8, NULL, 0));
	inner[1] = no_nulls(fixed_list(2, no_nulls(flat(16, NULL, 0))));
	inner[2] = no_nulls(flat(32, NULL, 0));
	buffer(rows, sizeof(rows));
	assert_int_equal(open_packed(3, fields, inner, 3, &page), LNC_OK);
	assert_string_equal(page->layout, "packed struct");
	assert_int_equal(page->decode(&ctx, page, arena, 1, 2, &column), LNC_OK);
	assert_int_equal(column.nchildren, 3);
	assert_int_equal(((const uint8_t *)column.children[0].values)[1], 9);
	list = &column.children[1];
	assert_int_equal(list->children[0].length, 4);
	assert_int_equal(((const int16_t *)list->children[0].values)[3], 11);
	assert_int_equal(((const int32_t *)column.children[2].values)[0], 8);
	assert_int_equal(page->decode(&ctx, page, arena, 1, 3, &column), LNC_CORRUPT);

	/* More rows than bytes, products that overflow, another number of fields, other widths. */
	assert_int_equal(open_packed(3, fields, inner, 4, &page), LNC_CORRUPT);
	assert_int_equal(open_packed(3, fields, inner, UINT64_C(1) << 61, &page), LNC_CORRUPT);
	inner[2]->nullable->no_nulls->values->flat->bits_per_value = 64;
	assert_int_equal(open_packed(3, fields, inner, 3, &page), LNC_CORRUPT);
	inner[2]->nullable->no_nulls->values->flat->bits_per_value = 32;
	inner[1]->nullable->no_nulls->values->fixed_size_list->dimension = 3;
	assert_int_equal(open_packed(3, fields, inner, 3, &page), LNC_CORRUPT);
	/* Fields that may be NULL, or have no fixed width, were never packed. */
	inner[1] = all_nulls();
	assert_int_equal(open_packed(3, fields, inner, 3, &page), LNC_UNSUPPORTED);
	assert_int_equal(lnc_type_parse(&ctx, arena, "string", &fields[1].type), LNC_OK);
	assert_int_equal(open_packed(3, fields, inner, 3, &page), LNC_UNSUPPORTED);
	assert_non_null(strstr(ctx.error.message, "string"));
}

static void
what_is_not_read_is_named(void **state)
{
	Lance__Encodings20__List list = LANCE__ENCODINGS20__LIST__INIT;
	Lance__Encodings20__SimpleStruct header = LANCE__ENCODINGS20__SIMPLE_STRUCT__INIT;
	Lance__Encodings20__PackedStruct packed = LANCE__ENCODINGS20__PACKED_STRUCT__INIT;
	Encoding empty = LANCE__ENCODINGS20__ARRAY_ENCODING__INIT;
	LncPage *page;

	(void)state;
	assert_int_equal(open_page("string", 3, encoding(CASE(LIST), &list), &page), LNC_UNSUPPORTED);
	assert_non_null(strstr(ctx.error.message, "list encoding"));
	assert_int_equal(open_page("struct", 3, encoding(CASE(STRUCT_HEADER), &header), &page), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "struct header"));
	/* No buffer, no fields. */
	assert_int_equal(open_page("struct", 3, encoding(CASE(PACKED_STRUCT), &packed), &page), LNC_CORRUPT);
	assert_int_equal(open_page("int32", 3, &empty, &page), LNC_UNSUPPORTED);
	assert_int_equal(open_page("int32", 3, no_nulls(NULL), &page), LNC_CORRUPT);
	assert_int_equal(open_page("string", 3, binary(1, NULL, NULL), &page), LNC_CORRUPT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(flat_values_are_aligned_and_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(bits_and_nulls_start_anywhere, setup, teardown),
		cmocka_unit_test_setup_teardown(fixed_lists_nest_with_nulls_of_items, setup, teardown),
		cmocka_unit_test_setup_teardown(constants_and_nulls_fill_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(bit_streams_unpack, setup, teardown),
		cmocka_unit_test_setup_teardown(bit_packed_blocks_unpack, setup, teardown),
		cmocka_unit_test_setup_teardown(strings_know_null_from_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(strings_of_one_length, setup, teardown),
		cmocka_unit_test_setup_teardown(dictionaries_resolve, setup, teardown),
		cmocka_unit_test_setup_teardown(fsst_decodes_each_value, setup, teardown),
		cmocka_unit_test_setup_teardown(compressed_buffers_are_read, setup, teardown),
		cmocka_unit_test_setup_teardown(packed_structs_are_taken_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_read_is_named, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
