/*
 * codec_test.c
 *	  The small codecs on bytes made by hand: runs, strings, symbol tables, byte planes, compressed buffers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <lz4.h>
#include <string.h>
#include <zstd.h>
#include <cmocka.h>

#include "base/env.h"
#include "encoding/byte_stream_split.h"
#include "encoding/fsst.h"
#include "encoding/general.h"
#include "encoding/rle.h"
#include "encoding/variable.h"

#define SLICE(array) ((LncSlice){(const uint8_t *)(array), sizeof(array)})

static LncContext ctx;
static LncArena *arena;

static int
setup(void **state)
{
	(void)state;
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	lnc_arena_destroy(arena);
	return 0;
}

static void
runs_expand_and_are_cut(void **state)
{
	static const uint32_t values[] = {7, 9, 1};
	static const uint8_t lengths[] = {2, 3, 255};
	static const uint16_t wide_lengths[] = {1, 300};
	static const uint8_t zero[] = {2, 0, 1};
	const uint8_t *out;
	uint32_t got[10];

	(void)state;
	assert_int_equal(lnc_rle_expand(&ctx, arena, 32, 8, SLICE(values), SLICE(lengths), 10, false, &out), LNC_OK);
	memcpy(got, out, sizeof(got));
	assert_int_equal(got[1], 7);
	assert_int_equal(got[2], 9);
	assert_int_equal(got[4], 9);
	assert_int_equal(got[5], 1);
	assert_int_equal(got[9], 1);
	assert_int_equal(lnc_rle_expand(&ctx, arena, 32, 8, SLICE(values), SLICE(lengths), 10, true, &out),
					 LNC_CORRUPT);
	assert_int_equal(lnc_rle_expand(&ctx, arena, 32, 8, SLICE(values), SLICE(lengths), 260, true, &out), LNC_OK);
	assert_int_equal(lnc_rle_expand(&ctx, arena, 32, 8, SLICE(values), SLICE(lengths), 261, false, &out),
					 LNC_CORRUPT);
	assert_int_equal(lnc_rle_expand(&ctx, arena, 32, 8, SLICE(values), SLICE(zero), 3, false, &out), LNC_CORRUPT);
	assert_int_equal(lnc_rle_expand(&ctx, arena, 64, 8, SLICE(values), SLICE(lengths), 10, false, &out),
					 LNC_CORRUPT);
	assert_int_equal(lnc_rle_expand(&ctx, arena, 24, 8, SLICE(values), SLICE(lengths), 10, false, &out),
					 LNC_CORRUPT);
	assert_int_equal(lnc_rle_expand(&ctx, arena, 32, 16, (LncSlice){(const uint8_t *)values, 8},
									SLICE(wide_lengths), 301, true, &out),
					 LNC_OK);
	memcpy(got, out + 300 * 4, 4);
	assert_int_equal(got[0], 9);
}

static void
run_blocks_split(void **state)
{
	uint8_t block[] = {2, 0, 0, 0, 0, 0, 0, 0, 5, 6, 1, 3};
	LncSlice values;
	LncSlice lengths;
	uint64_t total;

	(void)state;
	assert_int_equal(lnc_rle_split(&ctx, SLICE(block), &values, &lengths), LNC_OK);
	assert_int_equal(values.size, 2);
	assert_int_equal(lengths.data[1], 3);
	assert_int_equal(lnc_rle_total(&ctx, 8, lengths, &total), LNC_OK);
	assert_int_equal(total, 4);
	block[0] = 5;
	assert_int_equal(lnc_rle_split(&ctx, SLICE(block), &values, &lengths), LNC_CORRUPT);
	block[7] = 0xFF;
	assert_int_equal(lnc_rle_split(&ctx, SLICE(block), &values, &lengths), LNC_CORRUPT);
	assert_int_equal(lnc_rle_split(&ctx, (LncSlice){block, 7}, &values, &lengths), LNC_CORRUPT);
}

static void
chunks_of_strings_are_checked(void **state)
{
	static const uint32_t good[] = {12, 13, 15, 0x00636261}; /* "a", "bc", spare */
	static const uint32_t falling[] = {13, 12, 15, 0x00636261};
	static const uint32_t beyond[] = {12, 13, 17, 0x00636261};
	static const uint32_t overlap[] = {8, 13, 15, 0x00636261};
	static const uint64_t wide[] = {24, 25, UINT64_MAX, 97};
	const int64_t *offsets;
	const uint8_t *data;

	(void)state;
	assert_int_equal(lnc_variable_chunk(&ctx, arena, 32, SLICE(good), 2, &offsets, &data), LNC_OK);
	assert_int_equal(offsets[2] - offsets[1], 2);
	assert_memory_equal(data + offsets[1], "bc", 2);
	assert_int_equal(lnc_variable_chunk(&ctx, arena, 32, SLICE(falling), 2, &offsets, &data), LNC_CORRUPT);
	assert_int_equal(lnc_variable_chunk(&ctx, arena, 32, SLICE(beyond), 2, &offsets, &data), LNC_CORRUPT);
	assert_int_equal(lnc_variable_chunk(&ctx, arena, 32, SLICE(overlap), 2, &offsets, &data), LNC_CORRUPT);
	assert_int_equal(lnc_variable_chunk(&ctx, arena, 64, SLICE(wide), 2, &offsets, &data), LNC_CORRUPT);
	assert_int_equal(lnc_variable_chunk(&ctx, arena, 64, SLICE(wide), 1, &offsets, &data), LNC_OK);
	assert_int_equal(lnc_variable_chunk(&ctx, arena, 32, SLICE(good), 4, &offsets, &data), LNC_CORRUPT);
	assert_int_equal(lnc_variable_chunk(&ctx, arena, 32, SLICE(good), UINT64_MAX, &offsets, &data), LNC_CORRUPT);
	assert_int_equal(lnc_variable_chunk(&ctx, arena, 16, SLICE(good), 2, &offsets, &data), LNC_CORRUPT);
}

static void
blocks_of_strings_are_checked(void **state)
{
	uint32_t block[] = {32, 20, 0, 1, 3, 0x00636261};
	uint64_t wide[] = {64, 32, 0, 2, 0x6261};
	const int64_t *offsets;
	const uint8_t *data;

	(void)state;
	assert_int_equal(lnc_variable_block(&ctx, arena, SLICE(block), 2, &offsets, &data), LNC_OK);
	assert_memory_equal(data + offsets[0], "abc", 3);
	assert_int_equal(lnc_variable_block(&ctx, arena, SLICE(wide), 1, &offsets, &data), LNC_OK);
	assert_memory_equal(data + offsets[0], "ab", 2);
	assert_int_equal(lnc_variable_block(&ctx, arena, SLICE(block), 3, &offsets, &data), LNC_CORRUPT);
	assert_int_equal(lnc_variable_block(&ctx, arena, SLICE(block), UINT64_MAX, &offsets, &data), LNC_CORRUPT);
	block[4] = 5;
	assert_int_equal(lnc_variable_block(&ctx, arena, SLICE(block), 2, &offsets, &data), LNC_CORRUPT);
	block[1] = 25;
	assert_int_equal(lnc_variable_block(&ctx, arena, SLICE(block), 2, &offsets, &data), LNC_CORRUPT);
	block[0] = 32 + (2 << 8);
	assert_int_equal(lnc_variable_block(&ctx, arena, SLICE(block), 2, &offsets, &data), LNC_UNSUPPORTED);
	block[0] = 33;
	assert_int_equal(lnc_variable_block(&ctx, arena, SLICE(block), 2, &offsets, &data), LNC_CORRUPT);
	assert_int_equal(lnc_variable_block(&ctx, arena, (LncSlice){(uint8_t *)wide, 12}, 0, &offsets, &data),
					 LNC_CORRUPT);
}

/* Symbols 0 = "ab", 1 = "c". */
static void
make_symbols(uint8_t table[8 + 2 * 9], bool on)
{
	uint64_t header = UINT64_C(0x46535354) << 32 | (on ? 1u << 24 : 0) | 2;

	memset(table, 0, 8 + 2 * 9);
	memcpy(table, &header, 8);
	memcpy(table + 8, "ab", 2);
	table[16] = 'c';
	table[24] = 2;
	table[25] = 1;
}

static void
symbols_decode_value_by_value(void **state)
{
	static const uint8_t codes[] = {0, 1, 0, 255, 'x', 1};
	static const int64_t ends[] = {0, 2, 2, 6};
	static const int64_t cut[] = {0, 4, 4, 6};
	static const uint8_t unknown[] = {0, 2};
	static const int64_t one[] = {0, 2};
	uint8_t table[8 + 2 * 9];
	LncFsst fsst;
	const int64_t *offsets;
	const uint8_t *data;

	(void)state;
	make_symbols(table, true);
	assert_int_equal(lnc_fsst_open(&ctx, SLICE(table), &fsst), LNC_OK);
	assert_int_equal(lnc_fsst_decode(&ctx, arena, &fsst, 3, ends, codes, &offsets, &data), LNC_OK);
	assert_int_equal(offsets[1], 3);
	assert_int_equal(offsets[2], 3);
	assert_int_equal(offsets[3], 7);
	assert_memory_equal(data, "abcabxc", 7);
	assert_int_equal(lnc_fsst_decode(&ctx, arena, &fsst, 3, cut, codes, &offsets, &data), LNC_CORRUPT);
	assert_int_equal(lnc_fsst_decode(&ctx, arena, &fsst, 1, one, unknown, &offsets, &data), LNC_CORRUPT);

	make_symbols(table, false);
	assert_int_equal(lnc_fsst_open(&ctx, SLICE(table), &fsst), LNC_OK);
	assert_int_equal(lnc_fsst_decode(&ctx, arena, &fsst, 3, ends, codes, &offsets, &data), LNC_OK);
	assert_ptr_equal(data, codes);
}

static void
long_coded_strings_are_measured(void **state)
{
	enum
	{
		CODES = 100000
	};
	uint8_t table[8 + 2 * 9];
	int64_t ends[2] = {0, CODES};
	LncFsst fsst;
	const int64_t *offsets;
	const uint8_t *data;
	uint8_t *codes;

	(void)state;
	make_symbols(table, true);
	assert_int_equal(lnc_fsst_open(&ctx, SLICE(table), &fsst), LNC_OK);
	assert_int_equal(lnc_arena_alloc(&ctx, arena, CODES, (void **)&codes), LNC_OK);
	memset(codes, 0, CODES);
	assert_int_equal(lnc_fsst_decode(&ctx, arena, &fsst, 1, ends, codes, &offsets, &data), LNC_OK);
	assert_int_equal(offsets[1], 2 * CODES);
	assert_memory_equal(data + 2 * CODES - 2, "ab", 2);
	codes[CODES - 1] = 255;
	assert_int_equal(lnc_fsst_decode(&ctx, arena, &fsst, 1, ends, codes, &offsets, &data), LNC_CORRUPT);
}

/* Many short values with escapes everywhere, the ends of runs of codes included, beside a plain decoder. */
static void
runs_of_codes_give_what_single_codes_give(void **state)
{
	enum
	{
		CODES = 20000
	};
	static const char *const symbols[] = {"ab", "c"};
	uint8_t table[8 + 2 * 9];
	LncFsst fsst;
	uint32_t seed = 1;

	(void)state;
	make_symbols(table, true);
	assert_int_equal(lnc_fsst_open(&ctx, SLICE(table), &fsst), LNC_OK);
	for (int round = 0; round < 8; round++)
	{
		uint8_t *codes;
		uint8_t *plain;
		int64_t *ends;
		int64_t *plain_ends;
		const int64_t *offsets;
		const uint8_t *data;
		uint64_t count = 0;
		int64_t written = 0;
		int64_t at = 0;

		/* The last round has nothing but escapes, at an odd place. */
		assert_int_equal(lnc_arena_alloc(&ctx, arena, CODES, (void **)&codes), LNC_OK);
		assert_int_equal(lnc_arena_alloc(&ctx, arena, CODES * 2, (void **)&plain), LNC_OK);
		assert_int_equal(LNC_NEW(&ctx, arena, &ends, CODES + 1), LNC_OK);
		assert_int_equal(LNC_NEW(&ctx, arena, &plain_ends, CODES + 1), LNC_OK);
		while (at < CODES - 32)
		{
			uint32_t length = (seed = seed * 1103515245 + 12345) >> 16 & 15;

			for (uint32_t i = 0; i < length; i++)
			{
				uint32_t kind = (seed = seed * 1103515245 + 12345) >> 16 & 7;

				if ((kind == 0 || round == 7) && at > 0)
				{
					codes[at++] = 255;
					codes[at++] = plain[written++] = (uint8_t)(seed >> 8);
					continue;
				}
				codes[at++] = kind & 1;
				for (const char *c = symbols[kind & 1]; *c != '\0'; c++)
					plain[written++] = (uint8_t)*c;
			}
			count++;
			ends[count] = at;
			plain_ends[count] = written;
		}
		assert_int_equal(lnc_fsst_decode(&ctx, arena, &fsst, count, ends, codes, &offsets, &data), LNC_OK);
		assert_memory_equal(offsets, plain_ends, (count + 1) * sizeof(*offsets));
		assert_memory_equal(data, plain, (size_t)written);

		/* An end between an escape and its byte. */
		codes[ends[count / 2] - 1] = 255;
		if (ends[count / 2] > ends[count / 2 - 1] && codes[ends[count / 2] - 2] != 255)
			assert_int_equal(lnc_fsst_decode(&ctx, arena, &fsst, count, ends, codes, &offsets, &data), LNC_CORRUPT);
	}
}

static void
damaged_symbol_tables_are_refused(void **state)
{
	uint8_t table[8 + 2 * 9];
	LncFsst fsst;

	(void)state;
	make_symbols(table, true);
	assert_int_equal(lnc_fsst_open(&ctx, (LncSlice){table, 7}, &fsst), LNC_CORRUPT);
	assert_int_equal(lnc_fsst_open(&ctx, (LncSlice){table, sizeof(table) - 1}, &fsst), LNC_CORRUPT);
	table[24] = 9;
	assert_int_equal(lnc_fsst_open(&ctx, SLICE(table), &fsst), LNC_CORRUPT);
	table[24] = 0;
	assert_int_equal(lnc_fsst_open(&ctx, SLICE(table), &fsst), LNC_CORRUPT);
	table[4] = 0;
	assert_int_equal(lnc_fsst_open(&ctx, SLICE(table), &fsst), LNC_CORRUPT);
}

static void
byte_planes_merge(void **state)
{
	uint8_t planes[16];
	const uint8_t *out;

	(void)state;
	for (uint32_t width = 2; width <= 8; width *= 2)
	{
		uint32_t count = 16 / width;

		for (uint32_t value = 0; value < count; value++)
			for (uint32_t byte = 0; byte < width; byte++)
				planes[byte * count + value] = (uint8_t)(value * 16 + byte);
		assert_int_equal(lnc_byte_stream_split_decode(&ctx, arena, width, SLICE(planes), count, &out), LNC_OK);
		for (uint32_t value = 0; value < count; value++)
			for (uint32_t byte = 0; byte < width; byte++)
				assert_int_equal(out[value * width + byte], value * 16 + byte);
	}
	assert_int_equal(lnc_byte_stream_split_decode(&ctx, arena, 4, SLICE(planes), 3, &out), LNC_CORRUPT);
	assert_int_equal(lnc_byte_stream_split_decode(&ctx, arena, 4, (LncSlice){planes, 15}, 4, &out), LNC_CORRUPT);
	assert_int_equal(lnc_byte_stream_split_decode(&ctx, arena, 0, SLICE(planes), 4, &out), LNC_CORRUPT);
}

static void
compressed_buffers_decode(void **state)
{
	static uint8_t text[3000];
	uint8_t packed[4000];
	LncGeneral *general;
	LncSlice out;
	uint64_t wide;
	uint32_t narrow;
	int lz4;
	size_t zstd;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i / 7);
	assert_int_equal(lnc_general_create(&ctx, arena, &general), LNC_OK);

	narrow = sizeof(text);
	memcpy(packed, &narrow, 4);
	lz4 = LZ4_compress_default((char *)text, (char *)packed + 4, sizeof(text), sizeof(packed) - 4);
	assert_true(lz4 > 0);
	assert_int_equal(
		lnc_general_decode(&ctx, general, arena, LNC_GENERAL_LZ4, (LncSlice){packed, 4 + (size_t)lz4}, &out),
		LNC_OK);
	assert_int_equal(out.size, sizeof(text));
	assert_memory_equal(out.data, text, sizeof(text));
	for (int cut = 0; cut < 4 + lz4; cut++)
	{
		LncCode code =
			lnc_general_decode(&ctx, general, arena, LNC_GENERAL_LZ4, (LncSlice){packed, (size_t)cut}, &out);

		assert_int_equal(code, cut == 0 ? LNC_OK : LNC_CORRUPT);
	}
	narrow = UINT32_MAX;
	memcpy(packed, &narrow, 4);
	assert_int_equal(
		lnc_general_decode(&ctx, general, arena, LNC_GENERAL_LZ4, (LncSlice){packed, 4 + (size_t)lz4}, &out),
		LNC_LIMIT);
	narrow = 1 << 29;
	memcpy(packed, &narrow, 4);
	assert_int_equal(
		lnc_general_decode(&ctx, general, arena, LNC_GENERAL_LZ4, (LncSlice){packed, 4 + (size_t)lz4}, &out),
		LNC_CORRUPT);

	wide = sizeof(text);
	memcpy(packed, &wide, 8);
	zstd = ZSTD_compress(packed + 8, sizeof(packed) - 8, text, sizeof(text), 3);
	assert_false(ZSTD_isError(zstd));
	assert_int_equal(lnc_general_decode(&ctx, general, arena, LNC_GENERAL_ZSTD, (LncSlice){packed, 8 + zstd}, &out),
					 LNC_OK);
	assert_memory_equal(out.data, text, sizeof(text));
	assert_int_equal(lnc_general_decode(&ctx, general, arena, LNC_GENERAL_ZSTD, (LncSlice){packed + 8, zstd}, &out),
					 LNC_OK);
	assert_int_equal(out.size, sizeof(text));
	assert_memory_equal(out.data, text, sizeof(text));
	assert_int_equal(
		lnc_general_decode(&ctx, general, arena, LNC_GENERAL_ZSTD, (LncSlice){packed + 8, zstd - 1}, &out),
		LNC_CORRUPT);
	assert_int_equal(
		lnc_general_decode(&ctx, general, arena, LNC_GENERAL_ZSTD, (LncSlice){packed, 8 + zstd - 1}, &out),
		LNC_CORRUPT);
	wide--;
	memcpy(packed, &wide, 8);
	assert_int_equal(lnc_general_decode(&ctx, general, arena, LNC_GENERAL_ZSTD, (LncSlice){packed, 8 + zstd}, &out),
					 LNC_CORRUPT);
	wide = UINT64_MAX;
	memcpy(packed, &wide, 8);
	assert_int_equal(lnc_general_decode(&ctx, general, arena, LNC_GENERAL_ZSTD, (LncSlice){packed, 8 + zstd}, &out),
					 LNC_LIMIT);
}

static void
bare_frames_without_a_size_are_counted(void **state)
{
	static uint8_t text[200000];
	uint8_t packed[1000];
	ZSTD_CStream *stream = ZSTD_createCStream();
	ZSTD_inBuffer input = {.src = text, .size = sizeof(text), .pos = 0};
	ZSTD_outBuffer output = {.dst = packed, .size = sizeof(packed), .pos = 0};
	LncGeneral *general;
	LncSlice out;

	(void)state;
	memset(text, 'z', sizeof(text));
	ZSTD_initCStream(stream, 1);
	assert_false(ZSTD_isError(ZSTD_compressStream(stream, &output, &input)));
	assert_int_equal(ZSTD_endStream(stream, &output), 0);
	ZSTD_freeCStream(stream);
	assert_true(ZSTD_getFrameContentSize(packed, output.pos) == ZSTD_CONTENTSIZE_UNKNOWN);

	assert_int_equal(lnc_general_create(&ctx, arena, &general), LNC_OK);
	assert_int_equal(
		lnc_general_decode(&ctx, general, arena, LNC_GENERAL_ZSTD, (LncSlice){packed, output.pos}, &out), LNC_OK);
	assert_int_equal(out.size, sizeof(text));
	assert_int_equal(out.data[sizeof(text) - 1], 'z');
	assert_int_equal(
		lnc_general_decode(&ctx, general, arena, LNC_GENERAL_ZSTD, (LncSlice){packed, output.pos - 2}, &out),
		LNC_CORRUPT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_expand_and_are_cut),
		cmocka_unit_test(run_blocks_split),
		cmocka_unit_test(chunks_of_strings_are_checked),
		cmocka_unit_test(blocks_of_strings_are_checked),
		cmocka_unit_test(symbols_decode_value_by_value),
		cmocka_unit_test(long_coded_strings_are_measured),
		cmocka_unit_test(runs_of_codes_give_what_single_codes_give),
		cmocka_unit_test(damaged_symbol_tables_are_refused),
		cmocka_unit_test(byte_planes_merge),
		cmocka_unit_test(compressed_buffers_decode),
		cmocka_unit_test(bare_frames_without_a_size_are_counted),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
