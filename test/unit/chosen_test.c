/*
 * chosen_test.c
 *	  Rows chosen out of many are those of the whole: every column of the datasets of other writers, from local files and
 *	  from memory; and of wide rows only those that are chosen are read.
 */
#include "testing.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "column/blob.h"
#include "file_builder.h"
#include "fixture_text.h"
#include "fixtures.h"
#include "proto/encodings21.pb-c.h"
#include "scan/fragment.h"

#define MOST_ROWS 1000

static uint64_t compared;
static int unread;

/* Which of count rows a pattern chooses; returns how many. */
static int64_t
choose(unsigned pattern, int64_t count, int64_t *rows)
{
	uint32_t seed = pattern * 7919 + (uint32_t)count;
	int64_t n = 0;

	for (int64_t i = 0; i < count; i++)
	{
		bool chosen;

		seed = seed * 1664525u + 1013904223u;
		switch (pattern)
		{
			case 0: /* the first */
				chosen = i == 0;
				break;
			case 1: /* the last */
				chosen = i == count - 1;
				break;
			case 2: /* both */
				chosen = i == 0 || i == count - 1;
				break;
			case 3: /* every third */
				chosen = i % 3 == 2;
				break;
			case 4: /* most */
				chosen = i % 5 != 0;
				break;
			case 5: /* one in 50, by chance */
				chosen = (seed >> 8) % 50 == 0;
				break;
			default: /* one in 3, by chance */
				chosen = (seed >> 8) % 3 == 0;
				break;
		}
		if (chosen)
			rows[n++] = i;
	}
	return n;
}

#define PATTERNS 7

static bool
is_compared(const LncType *type)
{
	if (type->kind == LNC_TYPE_UNKNOWN || lnc_type_is_blob(type))
		return false;
	for (int32_t i = 0; i < type->nchildren; i++)
		if (!is_compared(&type->children[i].type))
			return false;
	return true;
}

static void
compare_column(const char *label, LncFragmentReader *reader, LncArena *batch, int32_t index, uint64_t first,
			   int64_t count)
{
	static int64_t rows[MOST_ROWS];
	LncColumn whole;
	LncColumn some;

	if (lnc_fragment_reader_read(&ctx, reader, batch, index, first, (uint64_t)count, count, NULL, &whole) != LNC_OK)
	{
		unread++;
		return;
	}
	for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
	{
		int64_t n = choose(pattern, count, rows);

		if (n == 0)
			continue;
		OK(lnc_fragment_reader_read(&ctx, reader, batch, index, first, (uint64_t)rows[n - 1] + 1, n, rows, &some));
		assert_int_equal(some.length, n);
		for (int64_t i = 0; i < n; i++)
		{
			FixtureText a = {0};
			FixtureText b = {0};

			fixture_text_value(&a, &whole, rows[i]);
			fixture_text_value(&b, &some, i);
			if (strcmp(a.text, b.text) != 0)
				fail_msg("%s, pattern %u: row %lld is %.200s, not %.200s", label, pattern, (long long)rows[i],
						 b.text, a.text);
			free(a.text);
			free(b.text);
			compared++;
		}
	}
}

static void
compare_fragment(const char *name, const LncDataset *dataset, const LncFragment *fragment)
{
	int64_t count = fragment->physical_rows < MOST_ROWS ? (int64_t)fragment->physical_rows : MOST_ROWS;
	LncUsage blobs;

	for (int32_t c = 0; c < dataset->schema.nfields && count > 0; c++)
	{
		LncArena *reading;
		LncArena *batch;
		LncFragmentReader *reader;
		char label[300];

		if (!is_compared(&dataset->schema.fields[c].type))
			continue;
		snprintf(label, sizeof(label), "%s, \"%s\", fragment %d", name, dataset->schema.fields[c].name,
				 (int)fragment->id);
		OK(lnc_arena_create_child(&ctx, arena, &reading));
		OK(lnc_arena_create_child(&ctx, arena, &batch));
		OK(lnc_fragment_reader_open(&ctx, reading, dataset, fragment, 1, &c, &blobs, &reader));
		compare_column(label, reader, batch, 0, 0, count);
		lnc_arena_reset(batch);
		compare_column(label, reader, batch, 0, (uint64_t)count / 3, count - count / 3);
		lnc_arena_reset(reading);
	}
}

static void
compare_dataset(const char *name, bool in_memory)
{
	LncDatasetOptions options = {.open_base = fixtures_open_base};
	LncDataset *dataset;
	LncStore *store;

	OK(fixtures_open_store(&ctx, arena, name, &store));
	if (in_memory)
		OK(fixtures_copy_to_memory(&ctx, arena, store, &store));
	if (lnc_dataset_open(&ctx, arena, store, &options, &dataset) != LNC_OK)
		return;
	for (int32_t i = 0; i < dataset->nfragments && i < 4; i++)
	{
		const LncDataFile *file = dataset->fragments[i].nfiles > 0 ? &dataset->fragments[i].files[0] : NULL;

		if (file != NULL && file->major == 2 && file->minor <= 2)
			compare_fragment(name, dataset, &dataset->fragments[i]);
	}
}

static void
chosen_rows_are_those_of_the_whole(void **state)
{
	char folder[PATH_MAX];
	struct dirent *entry;
	int n = 0;
	DIR *dir;

	(void)state;
	snprintf(folder, sizeof(folder), "%s/data", fixtures_folder());
	dir = opendir(folder);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
	{
		size_t length = strlen(entry->d_name);

		if (length < 6 || strcmp(entry->d_name + length - 6, ".lance") != 0 ||
			strncmp(entry->d_name, "corrupt_", 8) == 0 || strncmp(entry->d_name, "refuse_", 7) == 0)
			continue;
		for (int in_memory = 0; in_memory <= 1; in_memory++)
		{
			compare_dataset(entry->d_name, in_memory);
			lnc_arena_reset(arena);
		}
		n++;
	}
	closedir(dir);
	print_message("%d datasets, %llu values, %d not read\n", n, (unsigned long long)compared, unread);
	/* Some hold text that is none on purpose. */
	assert_true(n > 100 && compared > 100000 && unread < 10);
}

/* ---- wide rows ---- */

#define WIDE_ROWS 20000
#define WIDE_BYTES 512

/* Row i of the table: its number over and over; some are NULL in the column that may have such. */
static uint8_t *
wide_rows(size_t head)
{
	uint8_t *rows = malloc((WIDE_BYTES + head) * WIDE_ROWS);

	assert_non_null(rows);
	for (uint32_t i = 0; i < WIDE_ROWS; i++)
	{
		uint8_t *row = rows + (size_t)i * (WIDE_BYTES + head);

		if (head > 0)
			row[0] = i % 5 == 3;
		for (size_t at = head; at < WIDE_BYTES + head; at += 4)
			memcpy(row + at, &i, 4);
	}
	return rows;
}

/* Of the page's rows so many are stored. */
static void
build_full_zip(FileBuilder *builder, bool nullable, size_t stored)
{
	Lance__Encodings21__PageLayout layout = LANCE__ENCODINGS21__PAGE_LAYOUT__INIT;
	Lance__Encodings21__FullZipLayout zip = LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__INIT;
	Lance__Encodings21__CompressiveEncoding values = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__INIT;
	Lance__Encodings21__Flat flat = LANCE__ENCODINGS21__FLAT__INIT;
	Lance__Encodings21__RepDefLayer layer = nullable ? LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_ITEM
													 : LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_ITEM;
	uint8_t *rows = wide_rows(nullable ? 1 : 0);
	BuiltPage *page;

	flat.bits_per_value = WIDE_BYTES * 8;
	values.compression_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FLAT;
	values.flat = &flat;
	zip.details_case = LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_VALUE;
	zip.bits_per_value = WIDE_BYTES * 8;
	zip.bits_def = nullable ? 1 : 0;
	zip.num_items = WIDE_ROWS;
	zip.num_visible_items = WIDE_ROWS;
	zip.value_compression = &values;
	zip.n_layers = 1;
	zip.layers = &layer;
	layout.layout_case = LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_FULL_ZIP_LAYOUT;
	layout.full_zip_layout = &zip;
	page = builder_page(builder_column(builder), WIDE_ROWS, "/lance.encodings21.PageLayout", &layout.base);
	builder_buffer(builder, page, rows, (size_t)(WIDE_BYTES + nullable) * stored);
	free(rows);
}

/* Read rows of the one column of the file, and tell how many bytes that took. */
static uint64_t
read_wide(LncStore *store, LncFile *file, const LncField *field, bool nullable, int64_t n, const int64_t *rows)
{
	LncColumnReader *reader;
	LncStoreStats before;
	LncStoreStats after;
	LncColumn column;

	OK(lnc_column_reader_open(&ctx, arena, file, 0, &field, 1, &reader));
	OK(lnc_column_reader_read(&ctx, reader, arena, 0, 1, &column));
	lnc_store_stats(store, &before);
	OK(lnc_column_reader_read_some(&ctx, reader, arena, 100, (uint64_t)n, rows, &column));
	lnc_store_stats(store, &after);
	assert_int_equal(column.length, n);
	for (int64_t i = 0; i < n; i++)
	{
		uint32_t expected = (uint32_t)(100 + rows[i]);
		uint32_t got[WIDE_BYTES / 4];

		assert_int_equal(lnc_column_is_null(&column, i), nullable && expected % 5 == 3);
		memcpy(got, (const uint8_t *)column.values + i * WIDE_BYTES, sizeof(got));
		for (size_t k = 0; !lnc_column_is_null(&column, i) && k < WIDE_BYTES / 4; k++)
			assert_int_equal(got[k], expected);
	}
	return after.bytes_read - before.bytes_read;
}

static void
wide_rows_are_read_alone(void **state)
{
	static const LncStoreConfig config;
	static const char *const uris[] = {"memory://chosen", NULL};
	char folder[] = "/tmp/lance-chosen-XXXXXX";
	LncField field = {.name = "wide"};
	int64_t rows[WIDE_ROWS];

	(void)state;
	assert_non_null(mkdtemp(folder));
	OK(lnc_type_parse(&ctx, arena, "fixed_size_binary:512", &field.type));
	for (int form = 0; form < 3; form++)
	{
		bool nullable = form == 2;
		uint16_t minor = form == 0 ? 0 : 1;
		FileBuilder builder;

		builder_init(&builder);
		if (form == 0)
		{
			uint8_t *values = wide_rows(0);

			builder_flat_page(&builder, builder_column(&builder), WIDE_ROWS, WIDE_BYTES * 8, values,
							  (size_t)WIDE_BYTES * WIDE_ROWS);
			free(values);
		}
		else
			build_full_zip(&builder, nullable, WIDE_ROWS);
		builder_finish(&builder, 2, minor);
		for (size_t u = 0; u < 2; u++)
		{
			bool local = uris[u] == NULL;
			uint64_t removed;
			LncStore *store;
			LncFile *file;
			int64_t n;

			OK(lnc_store_open(&ctx, arena, local ? folder : uris[u], &config, &store));
			OK(lnc_store_put(&ctx, store, "f", (LncSlice){.data = builder.bytes, .size = builder.size}));
			OK(lnc_file_open(&ctx, arena, store, "f", 0, &file));
			OK(lnc_file_keep_open(&ctx, file));

			/* Few: their bytes alone. Far rows on a store that is far away, too. */
			for (n = 0; n < 40; n++)
				rows[n] = n * (local ? 97 : 487);
			n = local ? 40 : 5;
			for (int64_t i = 0; !local && i < n; i++)
				rows[i] = i * 3900;
			assert_int_equal(read_wide(store, file, &field, nullable, n, rows),
							 (uint64_t)n * (WIDE_BYTES + nullable));

			/* Many that lie close: all from the first to the last, or a window of it. */
			for (n = 0; n < 300; n++)
				rows[n] = n * 2;
			assert_true(read_wide(store, file, &field, nullable, n, rows) >= 590 * WIDE_BYTES);

			/* Neighbours, and rows in one of them. */
			for (n = 0; n < 40; n++)
				rows[n] = n / 4 * 1000 + n % 4;
			(void)read_wide(store, file, &field, nullable, n, rows);
			OK(lnc_store_delete_prefix(&ctx, store, "", &removed));
		}
		builder_free(&builder);
	}
}

/* A page that says it has more rows than there are bytes. */
static void
rows_beyond_the_bytes_are_corrupt(void **state)
{
	static const int64_t rows[] = {0, 700, 900};
	static const LncStoreConfig config;
	LncField field = {.name = "wide"};
	const LncField *path = &field;
	LncColumnReader *reader;
	FileBuilder builder;
	LncColumn column;
	LncStore *store;
	LncFile *file;

	(void)state;
	OK(lnc_type_parse(&ctx, arena, "fixed_size_binary:512", &field.type));
	builder_init(&builder);
	build_full_zip(&builder, false, 900);
	builder_finish(&builder, 2, 1);
	OK(lnc_store_open(&ctx, arena, "memory://short", &config, &store));
	OK(lnc_store_put(&ctx, store, "f", (LncSlice){.data = builder.bytes, .size = builder.size}));
	OK(lnc_file_open(&ctx, arena, store, "f", 0, &file));
	OK(lnc_column_reader_open(&ctx, arena, file, 0, &path, 1, &reader));
	assert_int_equal(lnc_column_reader_read_some(&ctx, reader, arena, 0, 3, rows, &column), LNC_CORRUPT);
	assert_int_equal(lnc_column_reader_read_some(&ctx, reader, arena, 100, 3, rows, &column), LNC_CORRUPT);
	assert_int_equal(lnc_column_reader_read_some(&ctx, reader, arena, UINT64_MAX, 3, rows, &column), LNC_CORRUPT);
	assert_int_equal(lnc_column_reader_read_some(&ctx, reader, arena, 0, 2, rows, &column), LNC_OK);
	builder_free(&builder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(chosen_rows_are_those_of_the_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(wide_rows_are_read_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_beyond_the_bytes_are_corrupt, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
