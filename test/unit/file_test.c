/*
 * file_test.c
 *	  The data file container and the column reader, over files made here in a memory store.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "file_builder.h"
#include "format/file.h"

#define FOOTER 40

static LncContext ctx;
static LncArena *arena;
static LncStore *store;
static FileBuilder builder;

static int
setup(void **state)
{
	static const LncStoreConfig config;

	(void)state;
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	builder_init(&builder);
	return arena == NULL || lnc_store_open(&ctx, arena, "memory://file_test", &config, &store) != LNC_OK;
}

static int
teardown(void **state)
{
	(void)state;
	builder_free(&builder);
	lnc_arena_destroy(arena);
	return 0;
}

static LncField
field_of(const char *logical)
{
	LncField field = {.id = 0, .parent_id = -1, .name = "col", .nullable = true};

	assert_int_equal(lnc_type_parse(&ctx, arena, logical, &field.type), LNC_OK);
	return field;
}

static LncCode
open_bytes(const uint8_t *bytes, size_t size, uint64_t hint, LncFile **file)
{
	memset(&ctx.error, 0, sizeof(ctx.error));
	assert_int_equal(lnc_store_put(&ctx, store, "data/f.lance", (LncSlice){bytes, size}), LNC_OK);
	return lnc_file_open(&ctx, arena, store, "data/f.lance", hint, file);
}

static LncFile *
open_built(void)
{
	LncFile *file;

	assert_int_equal(open_bytes(builder.bytes, builder.size, builder.size, &file), LNC_OK);
	return file;
}

/* Pages of 100 to 100 + npages - 1 int64 values that count up from 0. */
static uint64_t
counting_column(size_t npages, uint64_t rows_per_page)
{
	BuiltColumn *column = builder_column(&builder);
	uint64_t row = 0;

	for (size_t p = 0; p < npages; p++)
	{
		uint64_t n = rows_per_page + p;
		int64_t *values = malloc(n * sizeof(*values));

		assert_non_null(values);
		for (uint64_t i = 0; i < n; i++)
			values[i] = (int64_t)row++;
		builder_flat_page(&builder, column, n, 64, values, n * sizeof(*values));
		free(values);
	}
	return row;
}

static int64_t
int64_at(const LncColumn *column, int64_t row)
{
	return ((const int64_t *)column->values)[row];
}

/* ---- container ---- */

static void
footer_and_pages_are_found(void **state)
{
	static const char *const words[] = {"one", NULL, "", "vier"};
	LncFile *file;
	uint64_t rows;
	uint32_t npages;
	LncPageInfo info;

	(void)state;
	rows = counting_column(3, 100);
	builder_text_page(&builder, builder_column(&builder), 4, words);
	builder_column(&builder); /* no pages */
	builder_finish(&builder, 2, 0);
	file = open_built();
	assert_int_equal(lnc_file_minor(file), 0);
	assert_int_equal(lnc_file_ncolumns(file), 3);
	assert_int_equal(lnc_file_column_rows(&ctx, file, 0, &rows), LNC_OK);
	assert_int_equal(rows, 303);
	assert_int_equal(lnc_file_npages(&ctx, file, 0, &npages), LNC_OK);
	assert_int_equal(npages, 3);
	assert_int_equal(lnc_file_page_info(&ctx, file, 0, 2, &info), LNC_OK);
	assert_int_equal(info.first_row, 201);
	assert_int_equal(info.nrows, 102);
	assert_int_equal(info.bytes, 816);
	assert_int_equal(lnc_file_page_info(&ctx, file, 0, 3, &info), LNC_INVALID);
	assert_int_equal(lnc_file_column_rows(&ctx, file, 2, &rows), LNC_OK);
	assert_int_equal(rows, 0);
	assert_int_equal(lnc_file_column_rows(&ctx, file, 3, &rows), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.detail, "data/f.lance"));
	assert_int_equal(open_bytes(builder.bytes, builder.size, builder.size + 1, &file), LNC_CORRUPT);
}

static void
versions_are_refused_by_number(void **state)
{
	static const struct
	{
		uint16_t high;
		uint16_t low;
		LncCode code;
		const char *text;
		uint32_t minor;
	} cases[] = {
		{0, 3, LNC_OK, "", 0},
		{2, 0, LNC_OK, "", 0},
		{2, 1, LNC_OK, "", 1},
		{2, 2, LNC_OK, "", 2},
		{2, 3, LNC_UNSUPPORTED, "version 2.3", 0},
		{0, 1, LNC_UNSUPPORTED, "version 0.1", 0},
		{0, 2, LNC_UNSUPPORTED, "version 0.1", 0},
		{3, 0, LNC_UNSUPPORTED, "version 3.0", 0},
		{1, 7, LNC_UNSUPPORTED, "version 1.7", 0},
	};
	LncFile *file;

	(void)state;
	counting_column(1, 10);
	builder_finish(&builder, 2, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		memcpy(builder.bytes + builder.size - 8, &cases[i].high, 2);
		memcpy(builder.bytes + builder.size - 6, &cases[i].low, 2);
		/* A version that is not read must be named even when its footer is laid out differently. */
		if (cases[i].code != LNC_OK)
			memset(builder.bytes + builder.size - FOOTER, 0xFF, 32);
		assert_int_equal(open_bytes(builder.bytes, builder.size, 0, &file), cases[i].code);
		assert_non_null(strstr(ctx.error.message, cases[i].text));
		if (cases[i].code == LNC_OK)
			assert_int_equal(lnc_file_minor(file), cases[i].minor);
		else
			assert_non_null(strstr(ctx.error.detail, "data/f.lance"));
	}
	assert_int_equal(open_bytes(builder.bytes + builder.size - 8, 8, 0, &file), LNC_UNSUPPORTED);
	assert_int_equal(open_bytes(builder.bytes, 5, 0, &file), LNC_CORRUPT);
	assert_int_equal(open_bytes(builder.bytes, 0, 0, &file), LNC_CORRUPT);
	memcpy(builder.bytes + builder.size - 4, "LANX", 4);
	assert_int_equal(open_bytes(builder.bytes, builder.size, 0, &file), LNC_CORRUPT);
}

static void
damaged_footers_are_refused(void **state)
{
	static const struct
	{
		size_t at;
		size_t width;
		uint64_t value;
	} cases[] = {
		{0, 8, UINT64_MAX},
		{8, 8, UINT64_MAX},
		{8, 8, UINT64_MAX - 15},
		{16, 8, UINT64_MAX - 7},
		{24, 4, UINT32_MAX},
		{28, 4, UINT32_MAX},
		{28, 4, 2},
	};
	uint8_t *copy;
	LncFile *file;

	(void)state;
	counting_column(1, 10);
	builder_finish(&builder, 2, 0);
	copy = malloc(builder.size);
	assert_non_null(copy);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		memcpy(copy, builder.bytes, builder.size);
		memcpy(copy + builder.size - FOOTER + cases[i].at, &cases[i].value, cases[i].width);
		assert_int_equal(open_bytes(copy, builder.size, 0, &file), LNC_CORRUPT);
	}
	/* Every cut of the file is refused, at opening or at reading. */
	for (size_t size = 0; size < builder.size; size++)
		assert_int_equal(open_bytes(builder.bytes, size, 0, &file), LNC_CORRUPT);
	free(copy);
}

static void
damaged_metadata_is_refused(void **state)
{
	BuiltPage *page;
	LncFile *file;
	uint64_t rows;
	uint64_t values[2] = {1, 2};

	(void)state;
	/* A buffer beyond the file; rows that overflow; fewer sizes than offsets cannot be built with the builder. */
	builder_flat_page(&builder, builder_column(&builder), 2, 64, values, sizeof(values));
	page = &builder.columns[0].pages[0];
	page->sizes[0] = UINT64_MAX;
	builder_flat_page(&builder, builder_column(&builder), UINT64_MAX, 64, values, sizeof(values));
	builder_flat_page(&builder, &builder.columns[1], 2, 64, values, sizeof(values));
	builder_finish(&builder, 2, 0);
	file = open_built();
	assert_int_equal(lnc_file_column_rows(&ctx, file, 0, &rows), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "not inside the file"));
	assert_int_equal(lnc_file_column_rows(&ctx, file, 1, &rows), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "too many rows"));
}

/* ---- reading ---- */

static void
rows_join_over_pages(void **state)
{
	LncField field = field_of("int64");
	uint64_t rows = counting_column(10, 1);
	LncColumnReader *reader;
	LncColumn column;
	LncFile *file;

	(void)state;
	builder_finish(&builder, 2, 0);
	file = open_built();
	assert_int_equal(lnc_column_reader_open(&ctx, arena, file, 0, (const LncField *[]){&field}, 1, &reader),
					 LNC_OK);
	for (uint64_t first = 0; first <= rows; first++)
		for (uint64_t count = 0; count <= rows - first; count++)
		{
			LncArena *batch = lnc_arena_create(lnc_env_default());

			assert_int_equal(lnc_column_reader_read(&ctx, reader, batch, first, count, &column), LNC_OK);
			assert_int_equal(column.length, count);
			for (uint64_t i = 0; i < count; i++)
				assert_int_equal(int64_at(&column, (int64_t)i), first + i);
			lnc_arena_destroy(batch);
		}
	assert_int_equal(lnc_column_reader_read(&ctx, reader, arena, rows, 1, &column), LNC_CORRUPT);
	assert_int_equal(lnc_column_reader_read(&ctx, reader, arena, UINT64_MAX, 2, &column), LNC_CORRUPT);
}

static void
batches_outlive_the_pages_they_came_from(void **state)
{
	static const char *const words[3][2] = {{"a", "bc"}, {NULL, "def"}, {"", "ghij"}};
	LncField field = field_of("string");
	LncColumnReader *reader;
	LncColumn columns[3];
	LncFile *file;

	(void)state;
	builder_column(&builder);
	for (int i = 0; i < 3; i++)
		builder_text_page(&builder, &builder.columns[0], 2, words[i]);
	builder_finish(&builder, 2, 0);
	file = open_built();
	assert_int_equal(lnc_column_reader_open(&ctx, arena, file, 0, (const LncField *[]){&field}, 1, &reader),
					 LNC_OK);
	for (int i = 0; i < 3; i++)
		assert_int_equal(lnc_column_reader_read(&ctx, reader, arena, (uint64_t)i * 2, 2, &columns[i]), LNC_OK);
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 2; k++)
		{
			const char *word = words[i][k];

			assert_int_equal(lnc_column_is_null(&columns[i], k), word == NULL);
			if (word == NULL)
				continue;
			assert_int_equal(columns[i].offsets[k + 1] - columns[i].offsets[k], strlen(word));
			assert_memory_equal(columns[i].data + columns[i].offsets[k], word, strlen(word));
		}
}

static void
scans_make_few_requests_and_jumps_read_little(void **state)
{
	LncField field = field_of("int64");
	uint64_t rows = counting_column(1, 4000000); /* 32 MB */
	LncColumnReader *reader;
	LncStoreStats before;
	LncStoreStats after;
	LncFile *file;
	LncArena *batch = lnc_arena_create(lnc_env_default());

	(void)state;
	builder_finish(&builder, 2, 0);
	file = open_built();
	assert_int_equal(lnc_column_reader_open(&ctx, arena, file, 0, (const LncField *[]){&field}, 1, &reader),
					 LNC_OK);
	lnc_store_stats(store, &before);
	for (uint64_t first = 0; first < rows; first += 4096)
	{
		uint64_t count = rows - first < 4096 ? rows - first : 4096;
		LncColumn column;

		assert_int_equal(lnc_column_reader_read(&ctx, reader, batch, first, count, &column), LNC_OK);
		assert_int_equal(int64_at(&column, (int64_t)count - 1), first + count - 1);
		lnc_arena_reset(batch);
	}
	lnc_store_stats(store, &after);
	/* About 32 MB in windows of up to 4 MiB, and hardly a byte twice. */
	assert_in_range(after.requests - before.requests, 8, 14);
	assert_in_range(after.bytes_read - before.bytes_read, rows * 8, rows * 8 + 1024 * 1024);

	lnc_store_stats(store, &before);
	for (uint64_t i = 1; i <= 20; i++)
	{
		uint64_t row = i * 1234567 % rows;
		LncColumn column;

		assert_int_equal(lnc_column_reader_read(&ctx, reader, batch, row, 1, &column), LNC_OK);
		assert_int_equal(int64_at(&column, 0), row);
	}
	lnc_store_stats(store, &after);
	assert_in_range(after.bytes_read - before.bytes_read, 20 * 8, 20 * 128 * 1024);
	lnc_arena_destroy(batch);
}

/* Parts of a window are lent to a batch, which keeps them when the reader goes on, and when it is gone. */
static void
batches_keep_what_was_read_ahead(void **state)
{
	LncField field = field_of("int64");
	uint64_t rows = counting_column(2, 100000);
	static const uint64_t sizes[] = {100, 130, 4096, 9000, 60000};
	LncArena *batches = lnc_arena_create(lnc_env_default());

	(void)state;
	builder_finish(&builder, 2, 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		LncFile *file = open_built();
		LncArena *reading = lnc_arena_create(lnc_env_default());
		LncColumnReader *reader;
		LncColumn columns[4000];
		size_t n = 0;

		assert_int_equal(lnc_column_reader_open(&ctx, reading, file, 0, (const LncField *[]){&field}, 1, &reader),
						 LNC_OK);
		for (uint64_t first = 0; first < rows; first += sizes[i])
		{
			uint64_t count = rows - first < sizes[i] ? rows - first : sizes[i];

			assert_true(n < 4000);
			assert_int_equal(lnc_column_reader_read(&ctx, reader, batches, first, count, &columns[n++]), LNC_OK);
		}
		lnc_arena_destroy(reading);
		for (size_t k = 0; k < n; k++)
			for (int64_t row = 0; row < columns[k].length; row++)
				if (int64_at(&columns[k], row) != (int64_t)(k * sizes[i]) + row)
					fail_msg("row %lld of batch %zu is another", (long long)row, k);
		lnc_arena_reset(batches);
	}
	lnc_arena_destroy(batches);
}

static void
text_must_be_utf8_without_nul(void **state)
{
	static const char *const words[3] = {"gut", "na\xC3\xAFve", "\xE4rger"};
	static const char *const halves[2] = {"\xC3", "\xA4"};
	LncField text = field_of("string");
	LncField binary = field_of("binary");
	LncColumnReader *reader;
	LncColumn column;
	LncFile *file;

	(void)state;
	builder_text_page(&builder, builder_column(&builder), 3, words);
	builder_text_page(&builder, builder_column(&builder), 2, halves);
	builder_finish(&builder, 2, 0);
	file = open_built();
	assert_int_equal(lnc_column_reader_open(&ctx, arena, file, 0, (const LncField *[]){&text}, 1, &reader), LNC_OK);
	assert_int_equal(lnc_column_reader_read(&ctx, reader, arena, 0, 2, &column), LNC_OK);
	assert_int_equal(lnc_column_reader_read(&ctx, reader, arena, 1, 2, &column), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "row 2 "));
	assert_non_null(strstr(ctx.error.detail, "data/f.lance"));
	assert_int_equal(lnc_column_reader_open(&ctx, arena, file, 0, (const LncField *[]){&binary}, 1, &reader),
					 LNC_OK);
	assert_int_equal(lnc_column_reader_read(&ctx, reader, arena, 0, 3, &column), LNC_OK);
	/* Valid as a whole is not enough: a character may not be split over two values. */
	assert_int_equal(lnc_column_reader_open(&ctx, arena, file, 1, (const LncField *[]){&text}, 1, &reader), LNC_OK);
	assert_int_equal(lnc_column_reader_read(&ctx, reader, arena, 0, 2, &column), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "row 0 "));
}

static void
encodings_may_be_stored_elsewhere(void **state)
{
	LncField field = field_of("int64");
	uint64_t rows = counting_column(3, 5);
	LncColumnReader *reader;
	LncColumn column;
	LncFile *file;

	(void)state;
	builder.columns[0].indirect = true;
	builder_finish(&builder, 2, 0);
	file = open_built();
	assert_int_equal(lnc_column_reader_open(&ctx, arena, file, 0, (const LncField *[]){&field}, 1, &reader),
					 LNC_OK);
	assert_int_equal(lnc_column_reader_read(&ctx, reader, arena, 0, rows, &column), LNC_OK);
	assert_int_equal(int64_at(&column, (int64_t)rows - 1), rows - 1);
}

static void
foreign_encodings_are_refused_by_name(void **state)
{
	Lance__Encodings20__ArrayEncoding empty = LANCE__ENCODINGS20__ARRAY_ENCODING__INIT;
	LncField field = field_of("int64");
	LncColumnReader *reader;
	LncColumn column;
	LncFile *file;

	(void)state;
	builder_page(builder_column(&builder), 5, "/lance.encodings23.PlanarLayout", &empty.base);
	builder_page(builder_column(&builder), 5, "/lance.encodings.ArrayEncoding", &empty.base);
	builder.columns[1].blob = true;
	builder_finish(&builder, 2, 0);
	file = open_built();
	assert_int_equal(lnc_column_reader_open(&ctx, arena, file, 0, (const LncField *[]){&field}, 1, &reader),
					 LNC_OK);
	assert_int_equal(lnc_column_reader_read(&ctx, reader, arena, 0, 1, &column), LNC_UNSUPPORTED);
	assert_non_null(strstr(ctx.error.message, "PlanarLayout"));
	assert_int_equal(lnc_column_reader_open(&ctx, arena, file, 1, (const LncField *[]){&field}, 1, &reader),
					 LNC_UNSUPPORTED);
	assert_non_null(strstr(ctx.error.message, "blob"));
}

/* Any single damaged byte gives rows or an error, never a crash (the sanitizers watch). */
static void
damaged_bytes_never_crash(void **state)
{
	static const char *const words[] = {"one", NULL, "", "vier"};
	LncField fields[2] = {field_of("int64"), field_of("string")};
	uint8_t *copy;
	int failures = 0;

	(void)state;
	counting_column(2, 3);
	builder_text_page(&builder, builder_column(&builder), 4, words);
	builder_finish(&builder, 2, 0);
	copy = malloc(builder.size);
	assert_non_null(copy);
	for (size_t at = 0; at < builder.size; at++)
		for (int bit = 0; bit < 8; bit++)
		{
			LncArena *scratch = arena;
			LncFile *file;

			memcpy(copy, builder.bytes, builder.size);
			copy[at] = (uint8_t)(copy[at] ^ 1 << bit);
			assert_int_equal(lnc_store_put(&ctx, store, "data/f.lance", (LncSlice){copy, builder.size}), LNC_OK);
			scratch = lnc_arena_create(lnc_env_default());
			if (lnc_file_open(&ctx, scratch, store, "data/f.lance", 0, &file) != LNC_OK)
				failures++;
			else
				for (uint32_t c = 0; c < lnc_file_ncolumns(file) && c < 2; c++)
				{
					LncColumnReader *reader;
					LncColumn column;
					uint64_t rows;

					if (lnc_file_column_rows(&ctx, file, c, &rows) != LNC_OK ||
						lnc_column_reader_open(&ctx, scratch, file, c, (const LncField *[]){&fields[c]}, 1,
											   &reader) != LNC_OK ||
						lnc_column_reader_read(&ctx, reader, scratch, 0, rows < 1000 ? rows : 1000, &column) !=
							LNC_OK)
						failures++;
				}
			lnc_arena_destroy(scratch);
		}
	assert_true(failures > 100);
	free(copy);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(footer_and_pages_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(versions_are_refused_by_number, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_footers_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_metadata_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_join_over_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(batches_outlive_the_pages_they_came_from, setup, teardown),
		cmocka_unit_test_setup_teardown(scans_make_few_requests_and_jumps_read_little, setup, teardown),
		cmocka_unit_test_setup_teardown(batches_keep_what_was_read_ahead, setup, teardown),
		cmocka_unit_test_setup_teardown(text_must_be_utf8_without_nul, setup, teardown),
		cmocka_unit_test_setup_teardown(encodings_may_be_stored_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(foreign_encodings_are_refused_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_bytes_never_crash, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
