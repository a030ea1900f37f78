/*
 * take_bytes_test.c
 *	  Which bytes taking rows reads: what the layout of each page says that the rows need, to the byte; how often the
 *	  store is asked.
 *
 * The ranges expected are worked out here from the page messages and tables, apart from the decoders.
 */
#include "testing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures.h"
#include "format/file_internal.h"
#include "proto/encodings20.pb-c.h"
#include "proto/encodings21.pb-c.h"
#include "scan/fragment.h"
#include "scan/take.h"

/* ---- sets of bytes */

#define MAX_BYTES ((size_t)4 << 20)

/* Bytes of a file that are expected to be read, one flag each. */
typedef struct Expected
{
	LncFile *file;
	const FilePage *page;
	uint8_t *wanted; /* array of the file's size */
	bool known;      /* false: an encoding is not worked out here */
	const char *layout;
} Expected;

static void
expect_bytes(Expected *expected, uint32_t buffer, uint64_t offset, uint64_t length)
{
	assert_true(buffer < expected->page->nbuffers);
	assert_true(offset + length <= expected->page->sizes[buffer]);
	memset(expected->wanted + expected->page->offsets[buffer] + offset, 1, length);
}

static void
expect_buffer(Expected *expected, uint32_t buffer)
{
	expect_bytes(expected, buffer, 0, expected->page->sizes[buffer]);
}

static uint64_t
count_expected(const Expected *expected)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < expected->file->size; i++)
		n += expected->wanted[i];
	return n;
}

/* A number in a buffer of the page. */
static uint64_t
stored_number(const Expected *expected, uint32_t buffer, uint64_t offset, uint64_t width)
{
	LncRange range = {expected->page->offsets[buffer] + offset, width};
	const uint8_t *bytes;
	uint64_t number = 0;

	OK(lnc_store_read_ranges(&ctx, expected->file->store, arena, expected->file->key, 1, &range, &bytes));
	memcpy(&number, bytes, width);
	return number;
}

/* ---- file versions 2.1 and 2.2 */

static void
expect_mini_block(Expected *expected, const Lance__Encodings21__MiniBlockLayout *layout, uint64_t first,
				  uint64_t count)
{
	uint64_t width = layout->has_large_chunk ? 4 : 2;
	uint64_t nchunks = expected->page->sizes[0] / width;
	uint32_t index = layout->dictionary != NULL ? 3 : 2;
	uint64_t byte = 0;
	uint64_t value = 0;
	uint64_t row = 0;

	expect_buffer(expected, 0);
	if (layout->dictionary != NULL)
		expect_buffer(expected, 2);
	if (layout->rep_compression != NULL)
		expect_buffer(expected, index);
	for (uint64_t i = 0; i < nchunks; i++)
	{
		uint64_t word = stored_number(expected, 0, i * width, width);
		uint64_t bytes = ((word >> 4) + 1) * 8;
		uint64_t start = value;
		uint64_t end;

		value += i + 1 == nchunks ? layout->num_items - value : UINT64_C(1) << (word & 15);
		end = value;
		if (layout->rep_compression != NULL)
		{
			uint64_t entry = (layout->repetition_index_depth + 1) * UINT64_C(8);

			/* Rows that lie in the chunk, as a whole or in part. */
			start = row;
			row += stored_number(expected, index, i * entry, 8);
			end = row + (stored_number(expected, index, i * entry + 8, 8) > 0);
		}
		if (start < first + count && first < end)
			expect_bytes(expected, 1, byte, bytes);
		byte += bytes;
	}
}

static void
expect_full_zip(Expected *expected, uint64_t first, uint64_t count)
{
	const FilePage *page = expected->page;
	uint64_t width;
	uint64_t start;

	if (page->nbuffers == 1)
	{
		expect_bytes(expected, 0, first * (page->sizes[0] / page->nrows), count * (page->sizes[0] / page->nrows));
		return;
	}
	width = page->sizes[1] / (page->nrows + 1);
	expect_bytes(expected, 1, first * width, (count + 1) * width);
	start = stored_number(expected, 1, first * width, width);
	expect_bytes(expected, 0, start, stored_number(expected, 1, (first + count) * width, width) - start);
}

static void
expect_layout(Expected *expected, const Lance__Encodings21__PageLayout *layout, uint64_t first, uint64_t count)
{
	switch (layout->layout_case)
	{
		case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_MINI_BLOCK_LAYOUT:
			expected->layout = layout->mini_block_layout->rep_compression != NULL
								   ? "mini-block with repetition index"
							   : layout->mini_block_layout->dictionary != NULL ? "mini-block with dictionary"
																			   : "mini-block";
			expect_mini_block(expected, layout->mini_block_layout, first, count);
			break;
		case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_FULL_ZIP_LAYOUT:
			expected->layout = expected->page->nbuffers == 1           ? "full-zip"
							   : layout->full_zip_layout->bits_rep > 0 ? "full-zip with repetition index, lists"
																	   : "full-zip with repetition index";
			expect_full_zip(expected, first, count);
			break;
		case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_CONSTANT_LAYOUT:
			expected->layout = "constant";
			for (uint32_t i = 0; i < expected->page->nbuffers; i++)
				expect_buffer(expected, i);
			break;
		case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_BLOB_LAYOUT:
			expect_layout(expected, layout->blob_layout->inner_layout, first, count);
			expected->layout = "blob";
			break;
		default:
			expected->known = false;
	}
}

/* ---- file version 2.0 */

/* Values of one array. *start, *end: where the last string or list of the range before, and of the range, end. */
static void expect_array(Expected *expected, const Lance__Encodings20__ArrayEncoding *array, uint64_t first,
						 uint64_t count);

static void
expect_bits(Expected *expected, const Lance__Encodings20__Buffer *buffer, uint64_t bits, uint64_t first,
			uint64_t count)
{
	uint64_t from = first * bits / 8;

	if (count > 0)
		expect_bytes(expected, buffer->buffer_index, from, ((first + count) * bits + 7) / 8 - from);
}

/* The ends of strings or lists [first, first + count), with the one before, and which items they enclose. */
static bool
expect_ends(Expected *expected, const Lance__Encodings20__ArrayEncoding *ends, uint64_t adjustment, uint64_t first,
			uint64_t count, uint64_t *start, uint64_t *end)
{
	const Lance__Encodings20__Flat *flat;
	uint64_t before = first > 0;

	if (ends->array_encoding_case == LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_NULLABLE &&
		ends->nullable->nullability_case == LANCE__ENCODINGS20__NULLABLE__NULLABILITY_NO_NULLS)
		ends = ends->nullable->no_nulls->values;
	flat = ends->flat;
	if (ends->array_encoding_case != LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FLAT ||
		flat->bits_per_value != 64 || flat->compression != NULL)
	{
		expected->known = false;
		return false;
	}
	expect_bits(expected, flat->buffer, 64, first - before, count + before);
	*start = first == 0 ? 0 : stored_number(expected, flat->buffer->buffer_index, (first - 1) * 8, 8);
	*end = stored_number(expected, flat->buffer->buffer_index, (first + count - 1) * 8, 8);
	*start -= *start >= adjustment ? adjustment : 0;
	*end -= *end >= adjustment ? adjustment : 0;
	return true;
}

static void
expect_nullable(Expected *expected, const Lance__Encodings20__Nullable *nullable, uint64_t first, uint64_t count)
{
	if (nullable->nullability_case == LANCE__ENCODINGS20__NULLABLE__NULLABILITY_NO_NULLS)
		expect_array(expected, nullable->no_nulls->values, first, count);
	else if (nullable->nullability_case == LANCE__ENCODINGS20__NULLABLE__NULLABILITY_SOME_NULLS)
	{
		expect_array(expected, nullable->some_nulls->validity, first, count);
		expect_array(expected, nullable->some_nulls->values, first, count);
	}
	else
		expected->layout = "2.0 all nulls";
}

static void
expect_array(Expected *expected, const Lance__Encodings20__ArrayEncoding *array, uint64_t first, uint64_t count)
{
	uint64_t start;
	uint64_t end;

	switch (array->array_encoding_case)
	{
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FLAT:
			expected->layout = "2.0 flat";
			if (array->flat->compression != NULL && strcmp(array->flat->compression->scheme, "none") != 0 &&
				count > 0)
				expect_buffer(expected, array->flat->buffer->buffer_index);
			else
				expect_bits(expected, array->flat->buffer, array->flat->bits_per_value, first, count);
			break;
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_NULLABLE:
			expect_nullable(expected, array->nullable, first, count);
			break;
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FIXED_SIZE_LIST:
			expect_array(expected, array->fixed_size_list->items, first * array->fixed_size_list->dimension,
						 count * array->fixed_size_list->dimension);
			expected->layout = "2.0 fixed-size list";
			break;
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_BINARY:
			if (expect_ends(expected, array->binary->indices, array->binary->null_adjustment, first, count, &start,
							&end))
				expect_array(expected, array->binary->bytes, start, end - start);
			expected->layout = "2.0 binary";
			break;
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FSST:
			expect_array(expected, array->fsst->binary, first, count);
			expected->layout = "2.0 fsst";
			break;
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_DICTIONARY:
			expect_array(expected, array->dictionary->items, 0, array->dictionary->num_dictionary_items);
			expect_array(expected, array->dictionary->indices, first, count);
			expected->layout = "2.0 dictionary";
			break;
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FIXED_SIZE_BINARY:
			expect_array(expected, array->fixed_size_binary->bytes, first * array->fixed_size_binary->byte_width,
						 count * array->fixed_size_binary->byte_width);
			break;
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_BITPACKED_FOR_NON_NEG:
		{
			uint64_t block = array->bitpacked_for_non_neg->compressed_bits_per_value * 128;
			uint64_t from = first / 1024;

			expect_bytes(expected, array->bitpacked_for_non_neg->buffer->buffer_index, from * block,
						 ((first + count + 1023) / 1024 - from) * block);
			expected->layout = "2.0 bit-packed";
			break;
		}
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_PACKED_STRUCT:
		{
			uint64_t width =
				expected->page->sizes[array->packed_struct->buffer->buffer_index] / expected->page->nrows;

			expect_bytes(expected, array->packed_struct->buffer->buffer_index, first * width, count * width);
			expected->layout = "2.0 packed struct";
			break;
		}
		default:
			expected->known = false;
	}
}

/* ---- columns */

/* What rows [first, first + count) of a file column need. */
static void
expect_rows(Expected *expected, uint32_t column, uint64_t first, uint64_t count)
{
	const FileColumn *loaded;

	OK(lnc_file_load_column(&ctx, expected->file, column, &loaded));
	for (uint32_t i = 0; i < loaded->npages; i++)
	{
		const FilePage *page = &loaded->pages[i];
		uint64_t from = first > page->first_row ? first : page->first_row;
		uint64_t end = page->first_row + page->nrows;
		uint64_t to = first + count < end ? first + count : end;
		LncSlice bytes;

		if (from >= to)
			continue;
		expected->page = page;
		OK(lnc_file_page_message(&ctx, arena, expected->file, page, &bytes));
		if (lnc_file_minor(expected->file) == 0)
		{
			Lance__Encodings20__ArrayEncoding *array =
				lance__encodings20__array_encoding__unpack(NULL, bytes.size, bytes.data);

			assert_non_null(array);
			expect_array(expected, array, from - page->first_row, to - from);
			lance__encodings20__array_encoding__free_unpacked(array, NULL);
		}
		else
		{
			Lance__Encodings21__PageLayout *layout =
				lance__encodings21__page_layout__unpack(NULL, bytes.size, bytes.data);

			assert_non_null(layout);
			expect_layout(expected, layout, from - page->first_row, to - from);
			lance__encodings21__page_layout__free_unpacked(layout, NULL);
		}
	}
}

/* Rows of a list column of 2.0 on one page, whose items lie in another column. */
static void
expect_list20(Expected *expected, uint32_t column, uint32_t items, uint64_t first, uint64_t count)
{
	const FileColumn *loaded;
	Lance__Encodings20__ArrayEncoding *array;
	LncSlice bytes;
	uint64_t start;
	uint64_t end;

	OK(lnc_file_load_column(&ctx, expected->file, column, &loaded));
	if (loaded->npages != 1)
	{
		expected->known = false;
		return;
	}
	expected->page = &loaded->pages[0];
	OK(lnc_file_page_message(&ctx, arena, expected->file, expected->page, &bytes));
	array = lance__encodings20__array_encoding__unpack(NULL, bytes.size, bytes.data);
	assert_non_null(array);
	assert_int_equal(array->array_encoding_case, LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_LIST);
	if (expect_ends(expected, array->list->offsets, array->list->null_offset_adjustment, first, count, &start,
					&end) &&
		end > start)
		expect_rows(expected, items, start, end - start);
	expected->layout = "2.0 list";
	lance__encodings20__array_encoding__free_unpacked(array, NULL);
}

/* What rows of a field need in the file that the map is of. */
static void
expect_field(Expected *expected, const LncFieldMap *map, const LncField *field, uint64_t scale, uint64_t first,
			 uint64_t count)
{
	bool is20 = lnc_file_minor(expected->file) == 0;
	int32_t column;

	OK(lnc_field_map_find(&ctx, map, field, &column));
	if (is20 && (field->type.kind == LNC_TYPE_LIST || field->type.kind == LNC_TYPE_LARGE_LIST))
	{
		int32_t items;

		OK(lnc_field_map_find(&ctx, map, &field->type.children[0], &items));
		if (!lnc_field_is_leaf(&field->type.children[0]) || column < 0 || items < 0)
			expected->known = false;
		else
			expect_list20(expected, (uint32_t)column, (uint32_t)items, first, count);
		return;
	}
	if (lnc_field_is_leaf(field) || (is20 && field->packed))
	{
		if (column >= 0)
			expect_rows(expected, (uint32_t)column, first * scale, count * scale);
		return;
	}
	if (field->type.kind == LNC_TYPE_FIXED_LIST)
		scale *= (uint64_t)field->type.list_size;
	for (int32_t i = 0; i < field->type.nchildren; i++)
		expect_field(expected, map, &field->type.children[i], scale, first, count);
}

/* ---- taking */

/* How often a layout was checked. */
static struct
{
	const char *layout;
	int columns;
} seen[40];

static void
note_layout(const char *layout)
{
	int i = 0;

	for (; seen[i].layout != NULL && strcmp(seen[i].layout, layout) != 0; i++)
		;
	seen[i].layout = layout;
	seen[i].columns++;
}

static LncStoreStats
stats_of(const LncDataset *dataset)
{
	LncStoreStats stats;

	lnc_store_stats(dataset->store, &stats);
	return stats;
}

static uint32_t
next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Take runs of one column of a fragment, with files that are open and pages that are not. */
static void
check_runs(const LncDataset *dataset, const LncFragment *fragment, int32_t column, size_t nruns,
		   const LncRowRun *runs)
{
	const LncField *field = &dataset->schema.fields[column];
	const LncDataFile *data_file = &fragment->files[0];
	LncFieldMap map = {data_file->nfields, data_file->field_ids, data_file->columns};
	Expected expected = {.known = true, .layout = "2.0 struct"};
	LncFragmentReader *reader;
	LncColumn out;
	LncStoreStats before;
	LncStoreStats after;
	uint64_t count = 0;
	LncStore *store;
	char *key;

	OK(lnc_dataset_locate(&ctx, arena, dataset, false, 0, "data", data_file->path, &store, &key));
	OK(lnc_file_open(&ctx, arena, store, key, 0, &expected.file));
	assert_true(expected.file->size < MAX_BYTES);
	expected.wanted = calloc(1, expected.file->size);
	for (size_t i = 0; i < nruns; i++)
	{
		expect_field(&expected, &map, field, 1, runs[i].first, runs[i].count);
		count += runs[i].count;
	}
	OK(lnc_fragment_reader_open(&ctx, arena, dataset, fragment, 1, &column, NULL, &reader));
	before = stats_of(dataset);
	OK(lnc_fragment_reader_take(&ctx, reader, arena, 0, nruns, runs, count, &out));
	after = stats_of(dataset);
	assert_int_equal(out.length, count);
	if (expected.known)
	{
		if (after.bytes_read - before.bytes_read != count_expected(&expected))
			fail_msg("%s, column %s (%s): %" PRIu64 " bytes were read, %" PRIu64 " are needed", key, field->name,
					 expected.layout, after.bytes_read - before.bytes_read, count_expected(&expected));
		note_layout(expected.layout);
	}
	free(expected.wanted);
}

static LncDataset *
open_dataset(const char *name)
{
	LncDatasetOptions options = {.open_base = fixtures_open_base};
	LncDataset *dataset;
	LncStore *store;

	OK(fixtures_open_store(&ctx, arena, name, &store));
	OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));
	return dataset;
}

/* Each column of fragments with one file of their own: one row, and several that lie apart. */
static void
only_what_rows_need_is_read(void **state)
{
	static const char *const layouts[] = {"mini-block",
										  "mini-block with dictionary",
										  "mini-block with repetition index",
										  "full-zip",
										  "full-zip with repetition index",
										  "full-zip with repetition index, lists",
										  "constant",
										  "blob",
										  "2.0 flat",
										  "2.0 fixed-size list",
										  "2.0 binary",
										  "2.0 dictionary",
										  "2.0 packed struct",
										  "2.0 list",
										  "2.0 all nulls"};
	cJSON *index = fixtures_index();
	const cJSON *entry;
	uint32_t seed = 77;

	(void)state;
	memset(seen, 0, sizeof(seen));
	cJSON_ArrayForEach(entry, index)
	{
		const char *name = cJSON_GetObjectItem(entry, "name")->valuestring;
		const char *version = cJSON_GetObjectItem(entry, "file_version")->valuestring;
		LncDataset *dataset;

		if (strstr(version, "2.3") != NULL || strstr(version, "0.1") != NULL || strncmp(name, "refuse_", 7) == 0 ||
			strncmp(name, "corrupt", 7) == 0)
			continue;
		dataset = open_dataset(cJSON_GetObjectItem(entry, "dataset")->valuestring);
		for (int32_t f = 0; f < dataset->nfragments && f < 3; f++)
		{
			const LncFragment *fragment = &dataset->fragments[f];
			uint64_t rows = fragment->physical_rows;

			if (fragment->nfiles != 1 || fragment->files[0].has_base || rows < 10)
				continue;
			for (int32_t c = 0; c < dataset->schema.nfields; c++)
			{
				LncRowRun runs[4] = {{next_random(&seed) % rows, 1}};

				check_runs(dataset, fragment, c, 1, runs);
				runs[0] = (LncRowRun){next_random(&seed) % (rows / 4), 1};
				runs[1] = (LncRowRun){rows / 4 + next_random(&seed) % (rows / 4), 1};
				runs[2] = (LncRowRun){rows / 2, 1 + rows / 10};
				runs[3] = (LncRowRun){rows - 1, 1};
				check_runs(dataset, fragment, c, 4, runs);
			}
		}
		lnc_arena_reset(arena);
	}
	cJSON_Delete(index);
	for (int i = 0; seen[i].layout != NULL; i++)
		print_message("%5d x %s\n", seen[i].columns, seen[i].layout);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
	{
		int k = 0;

		while (seen[k].layout != NULL && strcmp(seen[k].layout, layouts[i]) != 0)
			k++;
		if (seen[k].layout == NULL)
			fail_msg("no page of layout %s was checked", layouts[i]);
	}
}

/* Take rows of the column from an open take; what that asked of the store. */
static LncStoreStats
take_rows(LncTake *take, const LncDataset *dataset, size_t n, const uint64_t *keys)
{
	LncStoreStats before = stats_of(dataset);
	LncStoreStats after;
	const LncTaken *taken;

	OK(lnc_take_start(&ctx, take, n, keys));
	OK(lnc_take_next(&ctx, take, &taken));
	assert_non_null(taken);
	assert_int_equal(taken->batch.length, n);
	after = stats_of(dataset);
	return (LncStoreStats){.requests = after.requests - before.requests,
						   .bytes_read = after.bytes_read - before.bytes_read};
}

/* Rows over all pages of a column take hardly more requests than one row: each step is one for all of them. */
static void
requests_do_not_grow_with_rows(void **state)
{
	static const char *const cases[] = {"multipage_v20.lance", "multipage_v22.lance", "strings_v22.lance",
										"lists_v20.lance",     "lists_v21.lance",     "types_v20_nulls.lance"};
	uint64_t ones = 0;
	uint64_t manys = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		LncDataset *dataset = open_dataset(cases[i]);
		uint64_t keys[100];
		uint64_t rows;

		OK(lnc_dataset_count_rows(&ctx, dataset, &rows));
		for (uint64_t k = 0; k < 100; k++)
			keys[k] = (k * 37 + 11) % 100 * (rows / 100);
		for (int32_t c = 0; c < dataset->schema.nfields; c++)
		{
			LncTakeSpec spec = {.by = LNC_TAKE_POSITION, .ncolumns = 1, .columns = &c};
			LncStoreStats one;
			LncStoreStats many;
			LncTake *take;

			OK(lnc_take_open(&ctx, arena, dataset, &spec, &take));
			one = take_rows(take, dataset, 1, keys);
			OK(lnc_take_open(&ctx, arena, dataset, &spec, &take));
			many = take_rows(take, dataset, 100, keys);
			/* Pages may differ in how many steps they take. */
			if (many.requests > one.requests + 3)
				fail_msg("%s, column %s: one row takes %" PRIu64 " requests, a hundred %" PRIu64, cases[i],
						 dataset->schema.fields[c].name, one.requests, many.requests);
			ones += one.requests;
			manys += many.requests;
		}
	}
	print_message("%" PRIu64 " requests for single rows, %" PRIu64 " for a hundred each\n", ones, manys);
}

/* Rows of a chunk that was decoded last are there already; another chunk is read alone. */
static void
open_pages_are_used_again(void **state)
{
	LncDataset *dataset = open_dataset("fsl_chunks_v22.lance");
	LncTakeSpec spec = {.by = LNC_TAKE_POSITION, .ncolumns = 1};
	bool checked = false;

	(void)state;
	for (int32_t c = 0; c < dataset->schema.nfields; c++)
	{
		LncStoreStats first;
		LncStoreStats again;
		LncStoreStats other;
		LncTake *take;

		spec.columns = &c;
		OK(lnc_take_open(&ctx, arena, dataset, &spec, &take));
		first = take_rows(take, dataset, 1, (const uint64_t[]){0});
		again = take_rows(take, dataset, 1, (const uint64_t[]){1});
		other = take_rows(take, dataset, 1, (const uint64_t[]){2100});
		assert_true(again.bytes_read < first.bytes_read && other.bytes_read < first.bytes_read);
		checked |= again.bytes_read == 0 && other.bytes_read > 0 && other.requests == 1;
	}
	assert_true(checked);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_what_rows_need_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(requests_do_not_grow_with_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(open_pages_are_used_again, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
