/*
 * field20_test.c
 *	  Nested fields of files of version 2.0: lists over several pages, structs, what the file lacks, damaged numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "file_builder.h"
#include "fixture_text.h"
#include "fixtures.h"
#include "format/field_reader.h"

#define ARRAY_ENCODING "/lance.encodings.ArrayEncoding"
#define CASE(name) LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_##name

static const LncStoreConfig config;
static LncContext ctx;
static LncArena *arena;
static FileBuilder builder;

static int
setup(void **state)
{
	(void)state;
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	builder_init(&builder);
	return arena == NULL;
}

static int
teardown(void **state)
{
	(void)state;
	builder_free(&builder);
	lnc_arena_destroy(arena);
	return 0;
}

/* A field of that type and id; its children are linked by the caller. */
static LncField
field_of(int32_t id, const char *name, const char *logical)
{
	LncField field = {.id = id, .name = name, .nullable = true};

	assert_int_equal(lnc_type_parse(&ctx, arena, logical, &field.type), LNC_OK);
	return field;
}

/* A page of lists with those ends. */
static void
list_page(BuiltColumn *column, uint64_t nlists, const uint64_t *ends, uint64_t adjustment, uint64_t nitems)
{
	Lance__Encodings20__ArrayEncoding root = LANCE__ENCODINGS20__ARRAY_ENCODING__INIT;
	Lance__Encodings20__List list = LANCE__ENCODINGS20__LIST__INIT;
	Lance__Encodings20__ArrayEncoding offsets;
	Lance__Encodings20__Flat flat;
	Lance__Encodings20__Buffer buffer;

	encoding_flat(&offsets, &flat, &buffer, 64, 0);
	list.offsets = &offsets;
	list.null_offset_adjustment = adjustment;
	list.num_items = nitems;
	root.array_encoding_case = CASE(LIST);
	root.list = &list;
	builder_buffer(&builder, builder_page(column, nlists, ARRAY_ENCODING, &root.base), ends,
				   nlists * sizeof(*ends));
}

static void
header_page(BuiltColumn *column, uint64_t nrows)
{
	Lance__Encodings20__ArrayEncoding root = LANCE__ENCODINGS20__ARRAY_ENCODING__INIT;
	Lance__Encodings20__SimpleStruct header = LANCE__ENCODINGS20__SIMPLE_STRUCT__INIT;

	root.array_encoding_case = CASE(STRUCT_HEADER);
	root.struct_header = &header;
	builder_page(column, nrows, ARRAY_ENCODING, &root.base);
}

/* A page of integers start, start + 1, … */
static void
integer_page(BuiltColumn *column, uint64_t nrows, int32_t start)
{
	int32_t values[64];

	assert_true(nrows <= 64);
	for (uint64_t i = 0; i < nrows; i++)
		values[i] = start + (int32_t)i;
	builder_flat_page(&builder, column, nrows, 32, values, nrows * sizeof(*values));
}

static void
open_file(LncFile **file)
{
	LncStore *store;

	builder_finish(&builder, 2, 0);
	assert_int_equal(lnc_store_open(&ctx, arena, "memory://field20", &config, &store), LNC_OK);
	assert_int_equal(lnc_store_put(&ctx, store, "f.lance", (LncSlice){builder.bytes, builder.size}), LNC_OK);
	assert_int_equal(lnc_file_open(&ctx, arena, store, "f.lance", 0, file), LNC_OK);
}

/* Open field, whose parts with ids below count lie in the columns of those numbers. */
static LncCode
open_field(LncFile *file, const LncField *field, int32_t count, uint64_t nrows, LncFieldReader **out)
{
	static const int32_t same[] = {0, 1, 2, 3, 4, 5, 6, 7};
	LncFieldMap map = {count, same, same};

	return lnc_field_reader_open(&ctx, arena, file, field, &map, nrows, out);
}

/* Each range of rows gives the same text as those rows of the expected ones. */
static void
check_ranges(LncFieldReader *reader, uint64_t nrows, const char *const *expected)
{
	for (uint64_t first = 0; first <= nrows; first++)
		for (uint64_t count = 0; count <= nrows - first; count++)
		{
			LncColumn column;

			assert_int_equal(lnc_field_reader_read(&ctx, reader, arena, first, count, &column), LNC_OK);
			assert_int_equal(column.length, count);
			for (uint64_t i = 0; i < count; i++)
			{
				FixtureText text = {0};

				fixture_text_value(&text, &column, (int64_t)i);
				assert_string_equal(text.text, expected[first + i]);
				free(text.text);
			}
		}
}

/* ---- lists ---- */

/* Seven lists on two pages with an empty one between; the first page ends with an item of no list. */
static void
build_lists(void)
{
	static const uint64_t first[] = {2, 2, 2 + 7, 5};
	static const uint64_t second[] = {1, 1 + 5, 4};
	BuiltColumn *lists = builder_column(&builder);
	BuiltColumn *items = builder_column(&builder);

	list_page(lists, 4, first, 7, 6);
	list_page(lists, 0, NULL, 0, 0);
	list_page(lists, 3, second, 5, 4);
	integer_page(items, 3, 0);
	integer_page(items, 7, 3);
}

static void
lists_join_over_pages(void **state)
{
	static const char *const expected[] = {"[0,1]", "[]", "null", "[2,3,4]", "[6]", "null", "[7,8,9]"};
	LncField item = field_of(1, "item", "int32");
	LncField field = field_of(0, "l", "list");
	LncFieldReader *reader;
	LncColumn column;
	LncFile *file;

	(void)state;
	field.type.nchildren = 1;
	field.type.children = &item;
	build_lists();
	open_file(&file);
	assert_int_equal(open_field(file, &field, 2, 7, &reader), LNC_OK);
	check_ranges(reader, 7, expected);
	assert_int_equal(lnc_field_reader_read(&ctx, reader, arena, 5, 3, &column), LNC_CORRUPT);
	assert_int_equal(lnc_field_reader_read(&ctx, reader, arena, UINT64_MAX, 2, &column), LNC_CORRUPT);

	/* Another number of rows than the fragment has. */
	assert_int_equal(open_field(file, &field, 2, 8, &reader), LNC_CORRUPT);
	/* The lists without their items: the place of the items is kept. */
	assert_int_equal(open_field(file, &field, 1, 7, &reader), LNC_OK);
	assert_int_equal(lnc_field_reader_read(&ctx, reader, arena, 0, 7, &column), LNC_OK);
	assert_true(column.children[0].absent);
	assert_int_equal(column.children[0].length, 9);
	/* The items without their lists. */
	item.id = 0;
	field.id = 1;
	assert_int_equal(open_field(file, &field, 1, 10, &reader), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "\"l\""));
}

static void
lists_of_lists_nest(void **state)
{
	static const uint64_t outer[] = {2, 2 + 4, 3};
	static const uint64_t inner[] = {3, 3, 4};
	static const char *const expected[] = {"[[0,1,2],[]]", "null", "[[3]]"};
	LncField item = field_of(2, "item", "int32");
	LncField middle = field_of(1, "item", "large_list");
	LncField field = field_of(0, "l", "list");
	LncFieldReader *reader;
	LncFile *file;
	BuiltColumn *column = builder_column(&builder);

	(void)state;
	field.type.nchildren = middle.type.nchildren = 1;
	field.type.children = &middle;
	middle.type.children = &item;
	list_page(column, 3, outer, 4, 3);
	column = builder_column(&builder);
	list_page(column, 3, inner, 5, 4);
	column = builder_column(&builder);
	integer_page(column, 4, 0);
	open_file(&file);
	assert_int_equal(open_field(file, &field, 3, 3, &reader), LNC_OK);
	check_ranges(reader, 3, expected);
}

/* One page of two lists; read both. */
static LncCode
read_bent(uint64_t end0, uint64_t end1, uint64_t adjustment, uint64_t nitems, uint64_t rows_of_items)
{
	uint64_t ends[] = {end0, end1};
	LncField item = field_of(1, "item", "int32");
	LncField field = field_of(0, "l", "list");
	LncFieldReader *reader;
	LncColumn column;
	LncFile *file;
	BuiltColumn *built;

	field.type.nchildren = 1;
	field.type.children = &item;
	builder_free(&builder);
	builder_init(&builder);
	built = builder_column(&builder);
	list_page(built, 2, ends, adjustment, nitems);
	built = builder_column(&builder);
	integer_page(built, rows_of_items, 0);
	open_file(&file);
	memset(&ctx.error, 0, sizeof(ctx.error));
	LNC_TRY(open_field(file, &field, 2, 2, &reader));
	LNC_TRY(lnc_field_reader_read(&ctx, reader, arena, 1, 1, &column));
	return lnc_field_reader_read(&ctx, reader, arena, 0, 2, &column);
}

static void
bent_lists_are_corrupt(void **state)
{
	(void)state;
	assert_int_equal(read_bent(2, 5, 6, 5, 5), LNC_OK);
	/* Ends that go back, or beyond the items; also those of the list before the one that is asked for. */
	assert_int_equal(read_bent(3, 2, 6, 5, 5), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "list 1 begins at item 3"));
	assert_non_null(strstr(ctx.error.detail, "f.lance"));
	assert_int_equal(read_bent(2, 6, 8, 5, 5), LNC_CORRUPT);
	assert_int_equal(read_bent(7, 7, 8, 5, 5), LNC_CORRUPT);
	assert_int_equal(read_bent(UINT64_MAX, 5, 6, 5, 5), LNC_CORRUPT);
	assert_int_equal(read_bent(2, UINT64_MAX, 6, 5, 5), LNC_CORRUPT);
	/* An end that reads as a NULL. */
	assert_int_equal(read_bent(2, 5, 5, 5, 5), LNC_CORRUPT);
	assert_int_equal(read_bent(2, 5, 0, 5, 5), LNC_CORRUPT);
	/* Items that the item column has not, or has besides. */
	assert_int_equal(read_bent(2, 5, 6, 5, 4), LNC_CORRUPT);
	assert_int_equal(read_bent(2, 5, 6, 5, 6), LNC_CORRUPT);
	assert_int_equal(read_bent(2, 5, UINT64_MAX, UINT64_MAX - 1, 5), LNC_CORRUPT);
}

/* ---- structs ---- */

static void
structs_have_what_the_file_has(void **state)
{
	static const char *const expected[] = {"{\"a\":0,\"b\":10}", "{\"a\":1,\"b\":11}", "{\"a\":2,\"b\":12}"};
	LncField children[2] = {field_of(1, "a", "int32"), field_of(2, "b", "int32")};
	LncField field = field_of(0, "s", "struct");
	LncFieldReader *reader;
	LncColumn column;
	LncFile *file;
	BuiltColumn *built = builder_column(&builder);

	(void)state;
	field.type.nchildren = 2;
	field.type.children = children;
	header_page(built, 1);
	header_page(built, 2);
	built = builder_column(&builder);
	integer_page(built, 3, 0);
	built = builder_column(&builder);
	integer_page(built, 3, 10);
	built = builder_column(&builder);
	integer_page(built, 4, 10);
	open_file(&file);
	assert_int_equal(open_field(file, &field, 3, 3, &reader), LNC_OK);
	check_ranges(reader, 3, expected);

	/* One child lies elsewhere; all do. */
	assert_int_equal(open_field(file, &field, 2, 3, &reader), LNC_OK);
	assert_int_equal(lnc_field_reader_read(&ctx, reader, arena, 1, 2, &column), LNC_OK);
	assert_false(column.absent);
	assert_false(column.children[0].absent);
	assert_true(column.children[1].absent);
	assert_int_equal(column.children[1].length, 2);
	assert_int_equal(open_field(file, &field, 1, 3, &reader), LNC_OK);
	assert_int_equal(lnc_field_reader_read(&ctx, reader, arena, 1, 2, &column), LNC_OK);
	assert_true(column.absent);
	/* No header. */
	field.id = 100;
	assert_int_equal(open_field(file, &field, 3, 3, &reader), LNC_OK);
	check_ranges(reader, 3, expected);
	/* A child of another length; a header of another length; a header that is none. */
	children[1].id = 3;
	assert_int_equal(open_field(file, &field, 4, 3, &reader), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "\"b\" has 4 rows"));
	field.id = 0;
	children[0].id = 3;
	children[1].id = 100;
	assert_int_equal(open_field(file, &field, 4, 3, &reader), LNC_CORRUPT);
	field.id = 2;
	assert_int_equal(open_field(file, &field, 3, 3, &reader), LNC_CORRUPT);

	/* No fields at all. */
	field = field_of(0, "s", "struct");
	assert_int_equal(open_field(file, &field, 1, 3, &reader), LNC_OK);
	assert_int_equal(lnc_field_reader_read(&ctx, reader, arena, 1, 2, &column), LNC_OK);
	assert_int_equal(column.length, 2);
	assert_false(column.absent);
	assert_int_equal(lnc_field_reader_read(&ctx, reader, arena, 2, 2, &column), LNC_CORRUPT);
	/* Maps did not exist. */
	field.type.kind = LNC_TYPE_MAP;
	assert_int_equal(open_field(file, &field, 1, 3, &reader), LNC_UNSUPPORTED);
}

/* ---- files of writers ---- */

static uint32_t
next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Rows of random ranges are those of the whole column. */
static void
check_fixture_field(LncFile *file, const LncField *field, const LncFieldMap *map, uint64_t nrows, uint32_t *seed)
{
	LncArena *scratch = lnc_arena_create(lnc_env_default());
	LncFieldReader *reader;
	LncColumn whole;

	assert_int_equal(lnc_field_reader_open(&ctx, arena, file, field, map, nrows, &reader), LNC_OK);
	assert_int_equal(lnc_field_reader_read(&ctx, reader, arena, 0, nrows, &whole), LNC_OK);
	for (int n = 0; n < 30; n++)
	{
		uint64_t first = next_random(seed) % nrows;
		uint64_t count = 1 + next_random(seed) % (n % 2 == 0 ? 3 : nrows - first);
		LncColumn part;

		if (count > nrows - first)
			count = nrows - first;
		lnc_arena_reset(scratch);
		assert_int_equal(lnc_field_reader_read(&ctx, reader, scratch, first, count, &part), LNC_OK);
		for (uint64_t i = 0; i < count; i++)
		{
			FixtureText text = {0};
			FixtureText expected = {0};

			fixture_text_value(&text, &part, (int64_t)i);
			fixture_text_value(&expected, &whole, (int64_t)(first + i));
			assert_string_equal(text.text, expected.text);
			free(text.text);
			free(expected.text);
		}
	}
	lnc_arena_destroy(scratch);
}

static void
any_range_of_a_writers_file_is_read(void **state)
{
	static const char *const datasets[] = {"lists_v20.lance",  "structs_v20.lance",   "rand0_v20.lance",
										   "packed_v20.lance", "multipage_v20.lance", "dict_v20.lance"};
	uint32_t seed = 20;

	(void)state;
	for (size_t d = 0; d < sizeof(datasets) / sizeof(datasets[0]); d++)
	{
		LncDatasetOptions options = {0};
		const LncFragment *fragment;
		LncDataset *dataset;
		LncStore *store;
		LncFile *file;
		char *key;

		assert_int_equal(fixtures_open_store(&ctx, arena, datasets[d], &store), LNC_OK);
		assert_int_equal(lnc_dataset_open(&ctx, arena, store, &options, &dataset), LNC_OK);
		fragment = &dataset->fragments[0];
		assert_int_equal(fragment->nfiles, 1);
		assert_int_equal(
			lnc_dataset_locate(&ctx, arena, dataset, false, 0, "data", fragment->files[0].path, &store, &key),
			LNC_OK);
		assert_int_equal(lnc_file_open(&ctx, arena, store, key, 0, &file), LNC_OK);
		assert_int_equal(lnc_file_minor(file), 0);
		for (int32_t i = 0; i < dataset->schema.nfields; i++)
		{
			LncFieldMap map = {fragment->files[0].nfields, fragment->files[0].field_ids,
							   fragment->files[0].columns};

			check_fixture_field(file, &dataset->schema.fields[i], &map, fragment->physical_rows, &seed);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lists_join_over_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_of_lists_nest, setup, teardown),
		cmocka_unit_test_setup_teardown(bent_lists_are_corrupt, setup, teardown),
		cmocka_unit_test_setup_teardown(structs_have_what_the_file_has, setup, teardown),
		cmocka_unit_test_setup_teardown(any_range_of_a_writers_file_is_read, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
