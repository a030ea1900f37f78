/*
 * dataset_test.c
 *	  Manifests made by hand: tails, schema trees, flags, fragments, base paths, versions.
 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/roaring.h"
#include "dataset/dataset.h"
#include "dataset/deletion.h"
#include "proto/table.pb-c.h"

static LncStore *store;

static int
open_store(void **state)
{
	static const LncStoreConfig config;

	if (setup(state) != 0)
		return -1;
	return lnc_store_open(&ctx, arena, "memory://dataset", &config, &store) != LNC_OK;
}

/* Memory stores of one name share their objects. */
static int
empty_store(void **state)
{
	uint64_t removed;
	LncCode code = lnc_store_delete_prefix(&ctx, store, "", &removed);

	return teardown(state) != 0 || code != LNC_OK;
}

#define KEY_OF_7 "_versions/18446744073709551608.manifest"

/* Write a message as a manifest file, with junk before it and the given footer minor version. */
static void
put_manifest(const char *key, const Lance__Table__Manifest *manifest, size_t junk, uint16_t minor)
{
	size_t length = lance__table__manifest__get_packed_size(manifest);
	size_t size = junk + 4 + length + 16;
	uint8_t *file = calloc(1, size);
	uint64_t position = junk;
	uint32_t stated = (uint32_t)length;

	memset(file, 0x5A, junk);
	memcpy(file + junk, &stated, 4);
	lance__table__manifest__pack(manifest, file + junk + 4);
	memcpy(file + size - 16, &position, 8);
	memcpy(file + size - 6, &minor, 2);
	memcpy(file + size - 4, "LANC", 4);
	OK(lnc_store_put(&ctx, store, key, (LncSlice){.data = file, .size = size}));
	free(file);
}

/* A manifest of version 7 with the given fields (id, parent, name, logical type). */
typedef struct FieldSpec
{
	int32_t id;
	int32_t parent;
	const char *name;
	const char *logical;
} FieldSpec;

typedef struct Built
{
	Lance__Table__Manifest manifest;
	Lance__File__Field fields[8];
	Lance__File__Field *field_list[8];
	Lance__Table__DataFragment fragment;
	Lance__Table__DataFragment *fragment_list[1];
	Lance__Table__DataFile file;
	Lance__Table__DataFile *file_list[1];
	Lance__Table__DeletionFile deletion;
	int32_t ids[2];
	int32_t columns[2];
} Built;

static void
build(Built *built, size_t nfields, const FieldSpec *specs)
{
	memset(built, 0, sizeof(*built));
	lance__table__manifest__init(&built->manifest);
	for (size_t i = 0; i < nfields; i++)
	{
		lance__file__field__init(&built->fields[i]);
		built->fields[i].id = specs[i].id;
		built->fields[i].parent_id = specs[i].parent;
		built->fields[i].name = (char *)(uintptr_t)specs[i].name;
		built->fields[i].logical_type = (char *)(uintptr_t)specs[i].logical;
		built->field_list[i] = &built->fields[i];
	}
	built->manifest.n_fields = nfields;
	built->manifest.fields = built->field_list;
	built->manifest.version = 7;

	/* One fragment with one file of one column, not listed until a test wants it. */
	lance__table__data_fragment__init(&built->fragment);
	lance__table__data_file__init(&built->file);
	lance__table__deletion_file__init(&built->deletion);
	built->fragment_list[0] = &built->fragment;
	built->file_list[0] = &built->file;
	built->fragment.physical_rows = 100;
	built->fragment.n_files = 1;
	built->fragment.files = built->file_list;
	built->file.path = (char *)(uintptr_t) "a.lance";
	built->file.file_major_version = 2;
	built->file.file_minor_version = 1;
	built->file.n_fields = 1;
	built->file.fields = built->ids;
	built->file.n_column_indices = 1;
	built->file.column_indices = built->columns;
	built->manifest.fragments = built->fragment_list;
}

static const FieldSpec ONE[] = {{0, -1, "a", "int32"}};

static LncCode
open_built(const Built *built, LncDataset **dataset)
{
	LncDatasetOptions options = {0};

	put_manifest(KEY_OF_7, &built->manifest, 0, 2);
	return lnc_dataset_open(&ctx, arena, store, &options, dataset);
}

static void
trees_follow_parent_ids(void **state)
{
	/* A parent id of 0 is not on the wire; ids need not ascend. */
	static const FieldSpec specs[] = {{0, -1, "s", "struct"},
									  {4, 0, "x", "int32"},
									  {2, 0, "t", "struct"},
									  {9, 2, "deep", "string"},
									  {7, -1, "top", "float"}};
	Built built;
	LncDataset *dataset;

	(void)state;
	build(&built, 5, specs);
	OK(open_built(&built, &dataset));
	assert_int_equal(dataset->schema.nfields, 2);
	assert_string_equal(dataset->schema.fields[0].name, "s");
	assert_int_equal(dataset->schema.fields[0].type.nchildren, 2);
	assert_string_equal(dataset->schema.fields[0].type.children[0].name, "x");
	assert_string_equal(dataset->schema.fields[0].type.children[1].type.children[0].name, "deep");
	assert_string_equal(dataset->schema.fields[1].name, "top");
	assert_int_equal(dataset->schema.fields[1].id, 7);
	assert_int_equal(dataset->version, 7);
	assert_int_equal(dataset->naming, LNC_NAMING_V2);
	assert_string_equal(dataset->prefix, "");
	assert_int_equal(lnc_dataset_field(dataset, "top"), 1);
	assert_int_equal(lnc_dataset_field(dataset, "Top"), -1);
}

static void
broken_trees_are_refused(void **state)
{
	static const FieldSpec twice[] = {{3, -1, "a", "int32"}, {3, -1, "b", "int32"}};
	static const FieldSpec orphan[] = {{3, -1, "a", "int32"}, {4, 8, "b", "int32"}};
	static const FieldSpec self[] = {{3, 3, "a", "struct"}};
	static const FieldSpec cycle[] = {{3, 4, "a", "struct"}, {4, 3, "b", "struct"}};
	static const FieldSpec negative[] = {{-5, -1, "a", "int32"}};
	static const FieldSpec not_text[] = {{1, -1, "\xff", "int32"}};
	Built built;
	LncDataset *dataset;

	(void)state;
	build(&built, 2, twice);
	assert_int_equal(open_built(&built, &dataset), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "two fields with id 3"));
	assert_non_null(strstr(ctx.error.detail, KEY_OF_7));
	build(&built, 2, orphan);
	assert_int_equal(open_built(&built, &dataset), LNC_CORRUPT);
	build(&built, 1, self);
	assert_int_equal(open_built(&built, &dataset), LNC_CORRUPT);
	build(&built, 2, cycle);
	assert_int_equal(open_built(&built, &dataset), LNC_CORRUPT);
	build(&built, 1, negative);
	assert_int_equal(open_built(&built, &dataset), LNC_CORRUPT);
	build(&built, 1, not_text);
	assert_int_equal(open_built(&built, &dataset), LNC_CORRUPT);
}

static void
tails_are_checked(void **state)
{
	Built built;
	LncDataset *dataset;
	LncDatasetOptions options = {0};
	uint8_t *bytes;
	LncSlice good;
	static const struct
	{
		size_t from_end;
		uint8_t value;
		LncCode code;
	} cases[] = {
		{1, 'X', LNC_CORRUPT},   /* magic */
		{8, 1, LNC_UNSUPPORTED}, /* major version */
		{6, 3, LNC_UNSUPPORTED}, /* minor version */
		{16, 1, LNC_CORRUPT},    /* position by one */
		{9, 0x80, LNC_CORRUPT},  /* position far outside */
	};

	(void)state;
	build(&built, 1, ONE);
	put_manifest(KEY_OF_7, &built.manifest, 0, 1);
	OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));

	/* A message behind more than one tail read's worth of other sections. */
	put_manifest(KEY_OF_7, &built.manifest, 300000, 2);
	OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));

	put_manifest(KEY_OF_7, &built.manifest, 0, 2);
	OK(lnc_store_read_all(&ctx, store, arena, KEY_OF_7, 1 << 20, &good));
	bytes = malloc(good.size);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		memcpy(bytes, good.data, good.size);
		bytes[good.size - cases[i].from_end] = cases[i].value;
		OK(lnc_store_put(&ctx, store, KEY_OF_7, (LncSlice){.data = bytes, .size = good.size}));
		assert_int_equal(lnc_dataset_open(&ctx, arena, store, &options, &dataset), cases[i].code);
		assert_non_null(strstr(ctx.error.detail, KEY_OF_7));
	}
	for (size_t size = 0; size < good.size; size++)
	{
		OK(lnc_store_put(&ctx, store, KEY_OF_7, (LncSlice){.data = good.data, .size = size}));
		assert_int_equal(lnc_dataset_open(&ctx, arena, store, &options, &dataset), LNC_CORRUPT);
	}
	free(bytes);
}

static void
names_and_versions_must_agree(void **state)
{
	Built built;
	LncDataset *dataset;
	LncDatasetOptions options = {0};

	(void)state;
	build(&built, 1, ONE);
	put_manifest("_versions/18446744073709551607.manifest", &built.manifest, 0, 2);
	assert_int_equal(lnc_dataset_open(&ctx, arena, store, &options, &dataset), LNC_CORRUPT);
	assert_string_equal(ctx.error.message, "manifest says version 7 where its name says 8");

	put_manifest(KEY_OF_7, &built.manifest, 0, 2);
	options.version = 7;
	OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));
	options.version = 6;
	assert_int_equal(lnc_dataset_open(&ctx, arena, store, &options, &dataset), LNC_NOT_FOUND);
	assert_non_null(strstr(ctx.error.message, "version 6"));

	options.version = 7;
	options.manifest_key = KEY_OF_7;
	OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));
	assert_string_equal(dataset->manifest_key, KEY_OF_7);
	options.version = 6;
	assert_int_equal(lnc_dataset_open(&ctx, arena, store, &options, &dataset), LNC_INVALID);
	options.manifest_key = "data/7.manifest";
	assert_int_equal(lnc_dataset_open(&ctx, arena, store, &options, &dataset), LNC_NOT_FOUND);
}

static void
versions_under_either_naming(void **state)
{
	Built built;
	LncDataset *dataset;
	LncDatasetOptions options = {.version = 7};

	(void)state;
	build(&built, 1, ONE);
	put_manifest("_versions/7.manifest", &built.manifest, 0, 1);
	OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));
	assert_int_equal(dataset->naming, LNC_NAMING_V1);
	options.version = 0;
	OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));
	assert_int_equal(dataset->version, 7);
}

static void
branches_have_files_of_their_own(void **state)
{
	Built built;
	LncDataset *dataset;
	LncDatasetOptions options = {.branch = "feature/x"};
	LncStore *where;
	char *key;

	(void)state;
	build(&built, 1, ONE);
	put_manifest("tree/feature/x/" KEY_OF_7, &built.manifest, 0, 2);
	OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));
	assert_string_equal(dataset->prefix, "tree/feature/x/");
	OK(lnc_dataset_locate(&ctx, arena, dataset, false, 0, "data", "a.lance", &where, &key));
	assert_string_equal(key, "tree/feature/x/data/a.lance");
	assert_ptr_equal(where, store);
	options.branch = "other";
	assert_int_equal(lnc_dataset_open(&ctx, arena, store, &options, &dataset), LNC_NOT_FOUND);
}

/* The base a store was asked for. */
static LncCode
open_base(LncContext *context, void *arg, LncArena *in, const char *uri, LncStore **out)
{
	static const LncStoreConfig config;

	(void)arg;
	return lnc_store_open(context, in, uri, &config, out);
}

static void
base_paths_are_looked_up(void **state)
{
	Lance__Table__BasePath bases[3];
	Lance__Table__BasePath *list[3];
	static const char *const paths[] = {"memory://dataset/", "memory://files", "memory://root"};
	Built built;
	LncDataset *dataset;
	LncDatasetOptions options = {.open_base = open_base};
	LncStore *where;
	char *key;

	(void)state;
	build(&built, 1, ONE);
	for (uint32_t i = 0; i < 3; i++)
	{
		lance__table__base_path__init(&bases[i]);
		bases[i].id = i;
		bases[i].path = (char *)(uintptr_t)paths[i];
		bases[i].is_dataset_root = i != 1;
		list[i] = &bases[i];
	}
	built.manifest.n_base_paths = 3;
	built.manifest.base_paths = list;
	put_manifest(KEY_OF_7, &built.manifest, 0, 2);
	OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));

	/* Base 0 is a base like any other; here it is the dataset itself. */
	OK(lnc_dataset_locate(&ctx, arena, dataset, true, 0, "data", "a.lance", &where, &key));
	assert_ptr_equal(where, store);
	assert_string_equal(key, "data/a.lance");
	OK(lnc_dataset_locate(&ctx, arena, dataset, true, 1, "data", "a.lance", &where, &key));
	assert_string_equal(lnc_store_uri(where), "memory://files");
	assert_string_equal(key, "a.lance");
	OK(lnc_dataset_locate(&ctx, arena, dataset, true, 2, "_deletions", "0-1-2.bin", &where, &key));
	assert_string_equal(lnc_store_uri(where), "memory://root");
	assert_string_equal(key, "_deletions/0-1-2.bin");
	assert_int_equal(lnc_dataset_locate(&ctx, arena, dataset, true, 3, "data", "a", &where, &key), LNC_CORRUPT);
	dataset->open_base = NULL;
	assert_int_equal(lnc_dataset_locate(&ctx, arena, dataset, true, 1, "data", "a", &where, &key), LNC_DENIED);
}

static void
flags_are_told_by_number(void **state)
{
	static const struct
	{
		int bit;
		bool readable;
	} cases[] = {{0, true},  {1, true},   {2, true},   {4, true},   {6, false},  {7, true},
				 {8, true},  {9, false},  {10, true},  {11, true},  {12, false}, {13, false},
				 {14, true}, {16, false}, {18, false}, {40, false}, {63, false}};
	Built built;
	LncDataset *dataset;
	char number[32];

	(void)state;
	build(&built, 1, ONE);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		built.manifest.reader_feature_flags = UINT64_C(1) << cases[i].bit;
		if (cases[i].readable)
		{
			OK(open_built(&built, &dataset));
			assert_int_equal(dataset->stable_row_ids, cases[i].bit == 1);
			continue;
		}
		assert_int_equal(open_built(&built, &dataset), LNC_UNSUPPORTED);
		snprintf(number, sizeof(number), "flag %d ", cases[i].bit);
		assert_non_null(strstr(ctx.error.message, number));
	}
	built.manifest.reader_feature_flags = 0;
	built.manifest.writer_feature_flags = UINT64_MAX;
	OK(open_built(&built, &dataset));
	assert_true(dataset->writer_flags == UINT64_MAX);
}

static void
fragments_are_checked(void **state)
{
	Built built;
	LncDataset *dataset;

	(void)state;
	build(&built, 1, ONE);
	built.manifest.n_fragments = 1;
	OK(open_built(&built, &dataset));
	assert_int_equal(dataset->nfragments, 1);
	assert_int_equal(dataset->fragments[0].physical_rows, 100);
	assert_string_equal(dataset->fragments[0].files[0].path, "a.lance");

	built.file.n_column_indices = 0;
	assert_int_equal(open_built(&built, &dataset), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.detail, "Fragment 0."));
	built.file.file_major_version = 0;
	built.file.file_minor_version = 2;
	OK(open_built(&built, &dataset));
	assert_null(dataset->fragments[0].files[0].columns);

	build(&built, 1, ONE);
	built.manifest.n_fragments = 1;
	built.fragment.physical_rows = 0;
	assert_int_equal(open_built(&built, &dataset), LNC_UNSUPPORTED);
	built.fragment.physical_rows = (UINT64_C(1) << 32) + 1;
	assert_int_equal(open_built(&built, &dataset), LNC_CORRUPT);

	build(&built, 1, ONE);
	built.manifest.n_fragments = 1;
	built.fragment.external_row_ids_presence_case =
		LANCE__TABLE__DATA_FRAGMENT__EXTERNAL_ROW_IDS_PRESENCE_EXTERNAL_ROW_IDS;
	assert_int_equal(open_built(&built, &dataset), LNC_UNSUPPORTED);
}

static void
deletions_are_checked(void **state)
{
	static const uint32_t values[] = {0, 1, 2, 50, 98, 99};
	Built built;
	LncDataset *dataset;
	LncDeletions deletions;
	LncSlice bytes;
	uint64_t rows;

	(void)state;
	build(&built, 1, ONE);
	built.manifest.n_fragments = 1;
	built.fragment.deletion_file = &built.deletion;
	built.deletion.file_type = 1;
	built.deletion.read_version = 6;
	built.deletion.id = 42;
	OK(lnc_roaring_write(&ctx, arena, values, 6, &bytes));
	OK(lnc_store_put(&ctx, store, "_deletions/0-6-42.bin", bytes));

	/* Without a stated count the file is read. */
	OK(open_built(&built, &dataset));
	OK(lnc_dataset_count_rows(&ctx, dataset, &rows));
	assert_int_equal(rows, 94);
	OK(lnc_deletion_read(&ctx, arena, dataset, &dataset->fragments[0], &deletions));
	assert_int_equal(deletions.count, 6);
	assert_int_equal(deletions.nranges, 3);
	assert_int_equal(deletions.ranges[0].first, 0);
	assert_int_equal(deletions.ranges[0].last, 2);
	assert_int_equal(deletions.ranges[2].first, 98);
	assert_int_equal(deletions.ranges[2].last, 99);

	built.deletion.num_deleted_rows = 5;
	OK(open_built(&built, &dataset));
	assert_int_equal(lnc_deletion_read(&ctx, arena, dataset, &dataset->fragments[0], &deletions), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "lists 6 rows where the manifest says 5"));
	assert_non_null(strstr(ctx.error.detail, "_deletions/0-6-42.bin"));

	built.deletion.num_deleted_rows = 0;
	built.fragment.physical_rows = 99;
	OK(open_built(&built, &dataset));
	assert_int_equal(lnc_deletion_read(&ctx, arena, dataset, &dataset->fragments[0], &deletions), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "row 99 of a fragment of 99 rows"));

	built.deletion.num_deleted_rows = 100;
	assert_int_equal(open_built(&built, &dataset), LNC_CORRUPT);
	built.deletion.num_deleted_rows = 0;
	built.deletion.file_type = 2;
	assert_int_equal(open_built(&built, &dataset), LNC_UNSUPPORTED);
	built.deletion.file_type = 0;
	OK(open_built(&built, &dataset));
	assert_int_equal(lnc_dataset_count_rows(&ctx, dataset, &rows), LNC_NOT_FOUND);
}

/* Containers of every kind, runs that meet across containers. */
static void
bitmaps_become_ranges(void **state)
{
	uint32_t *values = malloc(sizeof(*values) * 300000);
	size_t n = 0;
	LncSlice bytes;
	LncRoaringRange *ranges;
	size_t nranges;
	uint64_t count;
	size_t at = 0;

	(void)state;
	values[n++] = 5;
	for (uint32_t value = 60000; value < 70000; value++) /* a run over a container's edge */
		values[n++] = value;
	for (uint32_t value = 200000; value < 260000; value += 2) /* a bitset, or arrays */
		values[n++] = value;
	for (uint32_t value = 0; value < 100000; value++) /* the last values there are */
		values[n++] = UINT32_MAX - 99999 + value;
	OK(lnc_roaring_write(&ctx, arena, values, n, &bytes));
	OK(lnc_roaring_ranges(&ctx, arena, bytes, &nranges, &ranges, &count));
	assert_int_equal(count, n);
	assert_int_equal(nranges, 1 + 1 + 30000 + 1);
	for (size_t i = 0; i < nranges; i++)
	{
		for (uint64_t value = ranges[i].first; value <= ranges[i].last; value++)
			assert_int_equal(values[at++], value);
	}
	assert_int_equal(at, n);
	bytes.size--;
	assert_int_equal(lnc_roaring_ranges(&ctx, arena, bytes, &nranges, &ranges, &count), LNC_CORRUPT);
	free(values);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(trees_follow_parent_ids, open_store, empty_store),
		cmocka_unit_test_setup_teardown(broken_trees_are_refused, open_store, empty_store),
		cmocka_unit_test_setup_teardown(tails_are_checked, open_store, empty_store),
		cmocka_unit_test_setup_teardown(names_and_versions_must_agree, open_store, empty_store),
		cmocka_unit_test_setup_teardown(versions_under_either_naming, open_store, empty_store),
		cmocka_unit_test_setup_teardown(branches_have_files_of_their_own, open_store, empty_store),
		cmocka_unit_test_setup_teardown(base_paths_are_looked_up, open_store, empty_store),
		cmocka_unit_test_setup_teardown(flags_are_told_by_number, open_store, empty_store),
		cmocka_unit_test_setup_teardown(fragments_are_checked, open_store, empty_store),
		cmocka_unit_test_setup_teardown(deletions_are_checked, open_store, empty_store),
		cmocka_unit_test_setup_teardown(bitmaps_become_ranges, open_store, empty_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
