/*
 * s3_dataset_test.c
 *	  Datasets on an S3 server (s3_server.h): base paths, clones and external blobs give what they give on local disk;
 *	  rows that are taken cost few requests. Skipped where no server is named.
 */
#include "testing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/blob.h"
#include "fixture_text.h"
#include "fixtures.h"
#include "s3_server.h"
#include "scan/scan.h"
#include "scan/take.h"

/* The bucket that the fixtures' URIs name. */
#define BUCKET "lance-fixtures"

static LncStoreConfig config;

static LncCode
copy_object(LncContext *c, void *arg, const LncObject *object, bool *stop)
{
	LncStore *const *stores = arg;
	LncArena *scratch = lnc_arena_create(c->env);
	LncSlice body;
	LncCode code;

	(void)stop;
	code = lnc_store_read_all(c, stores[0], scratch, object->key, UINT64_MAX, &body);
	if (code == LNC_OK)
		code = lnc_store_put(c, stores[1], object->key, body);
	lnc_arena_destroy(scratch);
	return code;
}

/* Put a folder of the fixtures into the bucket. */
static LncStore *
upload(const char *folder)
{
	LncStore *stores[2];
	char uri[200];

	snprintf(uri, sizeof(uri), "s3://" BUCKET "/%s", folder);
	OK(fixtures_open_store(&ctx, arena, folder, &stores[0]));
	OK(lnc_store_open(&ctx, arena, uri, &config, &stores[1]));
	OK(lnc_store_list(&ctx, stores[0], "", true, NULL, copy_object, stores));
	return stores[1];
}

/* LncDatasetOptions.open_base */
static LncCode
open_on_server(LncContext *c, void *arg, LncArena *into, const char *uri, LncStore **out)
{
	(void)arg;
	return lnc_store_open(c, into, uri, &config, out);
}

/* All rows of a dataset in words, one a line; blobs are read. */
static char *
dataset_text(const LncDataset *dataset, bool taken)
{
	int32_t n = dataset->schema.nfields;
	int32_t *columns = calloc((size_t)n + 1, sizeof(*columns));
	FixtureText text = {0};
	uint64_t rows;

	for (int32_t i = 0; i < n; i++)
		columns[i] = i;
	OK(lnc_dataset_count_rows(&ctx, dataset, &rows));
	if (taken)
	{
		LncTakeSpec spec = {.by = LNC_TAKE_POSITION, .ncolumns = n, .columns = columns};
		uint64_t *keys = calloc(rows + 1, sizeof(*keys));
		const LncTaken *batch;
		LncTake *take;

		for (uint64_t i = 0; i < rows; i++)
			keys[i] = i;
		OK(lnc_take_open(&ctx, arena, dataset, &spec, &take));
		OK(lnc_take_start(&ctx, take, rows, keys));
		for (;;)
		{
			OK(lnc_take_next(&ctx, take, &batch));
			if (batch == NULL)
				break;
			for (int64_t row = 0; row < batch->batch.length; row++)
				for (int32_t i = 0; i < n; i++)
				{
					fixture_text_value(&text, &batch->batch.columns[i], row);
					fixture_text_add(&text, i + 1 == n ? "\n" : ",", 1);
				}
		}
		free(keys);
	}
	else
	{
		LncScanSpec spec = {.ncolumns = n, .columns = columns};
		const LncBatch *batch;
		LncScan *scan;

		OK(lnc_scan_open(&ctx, arena, dataset, &spec, &scan));
		for (;;)
		{
			OK(lnc_scan_next(&ctx, scan, &batch));
			if (batch == NULL)
				break;
			for (int64_t row = 0; row < batch->length; row++)
				for (int32_t i = 0; i < n; i++)
				{
					fixture_text_value(&text, &batch->columns[i], row);
					fixture_text_add(&text, i + 1 == n ? "\n" : ",", 1);
				}
		}
	}
	free(columns);
	return text.text;
}

static LncDataset *
open_dataset(LncStore *store, bool on_server)
{
	LncDatasetOptions options = {.open_base = on_server ? open_on_server : fixtures_open_base};
	LncDataset *dataset;

	OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));
	return dataset;
}

static void
datasets_are_as_on_local_disk(void **state)
{
	static const char *const folders[] = {"s3_clone_src.lance", "s3_multibase_hot.lance", "s3_multibase_cold",
										  "s3_blob_external_objects"};
	static const char *const datasets[] = {"s3_clone.lance",         "s3_branch.lance",      "s3_multibase.lance",
										   "s3_blob_external.lance", "blob2_v22.lance",      "blob1_v20.lance",
										   "stable_rowids.lance",    "lists_v21.lance",      "multipage_v22.lance",
										   "multipage_v20.lance",    "types_v21_nulls.lance"};

	(void)state;
	if (!s3_server_config(&config))
		skip();
	s3_server_make_bucket(&ctx, arena, &config, BUCKET);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		upload(folders[i]);
	for (size_t i = 0; i < sizeof(datasets) / sizeof(datasets[0]); i++)
	{
		LncDataset *there = open_dataset(upload(datasets[i]), true);
		LncStore *local;
		char *expected;
		char *scanned;
		char *taken;

		OK(fixtures_open_store(&ctx, arena, datasets[i], &local));
		expected = dataset_text(open_dataset(local, false), false);
		scanned = dataset_text(there, false);
		taken = dataset_text(there, true);
		assert_true(strlen(expected) > 100);
		if (strcmp(scanned, expected) != 0)
			fail_msg("%s: a scan on the server gives other rows", datasets[i]);
		if (strcmp(taken, expected) != 0)
			fail_msg("%s: rows taken on the server are others", datasets[i]);
		free(expected);
		free(scanned);
		free(taken);
	}
}

/* The bytes of external blobs come from their own objects, each on its own request; one that is gone is named. */
static void
external_blobs_are_read_one_by_one(void **state)
{
	LncStore *objects;
	LncDataset *dataset;
	LncScanSpec spec = {.ncolumns = 1};
	LncUsage before;
	LncScanStats stats;
	const LncBatch *batch;
	const LncColumn *column;
	int32_t blob = -1;
	LncScan *scan;
	LncSlice bytes;
	int64_t row = -1;

	(void)state;
	if (!s3_server_config(&config))
		skip();
	s3_server_make_bucket(&ctx, arena, &config, BUCKET);
	objects = upload("s3_blob_external_objects");
	dataset = open_dataset(upload("s3_blob_external.lance"), true);
	for (int32_t i = 0; i < dataset->schema.nfields; i++)
		if (lnc_type_is_blob(&dataset->schema.fields[i].type))
			blob = i;
	assert_true(blob >= 0);
	spec.columns = &blob;
	OK(lnc_scan_open(&ctx, arena, dataset, &spec, &scan));
	OK(lnc_scan_next(&ctx, scan, &batch));
	column = &batch->columns[0];
	for (int64_t i = 0; i < batch->length; i++)
		if (!lnc_column_is_null(column, i) &&
			((const uint8_t *)column->children[LNC_BLOB_KIND].values)[i] == LNC_BLOB_EXTERNAL &&
			((const uint64_t *)column->children[LNC_BLOB_SIZE].values)[i] > 0)
			row = i;
	assert_true(row >= 0);
	before = ctx.usage;
	OK(lnc_blob_read(&ctx, arena, column, row, 1 << 20, &bytes));
	assert_int_equal(bytes.size, ((const uint64_t *)column->children[LNC_BLOB_SIZE].values)[row]);
	assert_int_equal(ctx.usage.requests - before.requests, 1);
	assert_int_equal(ctx.usage.bytes_read - before.bytes_read, bytes.size);
	lnc_scan_stats(scan, &stats);
	assert_int_equal(stats.blobs.bytes_read, bytes.size);

	for (int i = 0; i < 4; i++)
	{
		char key[20];

		snprintf(key, sizeof(key), "o%d.bin", i);
		OK(lnc_store_delete(&ctx, objects, key));
	}
	assert_int_equal(lnc_blob_read(&ctx, arena, column, row, 1 << 20, &bytes), LNC_NOT_FOUND);
	assert_non_null(strstr(ctx.error.message, "s3_blob_external_objects/o"));
	upload("s3_blob_external_objects");
}

/* A hundred rows over all pages of a column take as many requests as their bytes lie apart, far fewer than rows. */
static void
taken_rows_cost_few_requests(void **state)
{
	static const char *const names[] = {"multipage_v20.lance", "multipage_v22.lance"};

	(void)state;
	if (!s3_server_config(&config))
		skip();
	s3_server_make_bucket(&ctx, arena, &config, BUCKET);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
	{
		LncDataset *dataset = open_dataset(upload(names[i]), true);
		int32_t column = 0;
		LncTakeSpec spec = {.by = LNC_TAKE_POSITION, .ncolumns = 1, .columns = &column};
		LncUsage before = ctx.usage;
		uint64_t keys[100];
		const LncTaken *taken;
		LncTake *take;

		for (uint64_t k = 0; k < 100; k++)
			keys[k] = k * 37 % 100 * 12;
		OK(lnc_take_open(&ctx, arena, dataset, &spec, &take));
		OK(lnc_take_start(&ctx, take, 100, keys));
		OK(lnc_take_next(&ctx, take, &taken));
		assert_int_equal(taken->batch.length, 100);
		assert_in_range(ctx.usage.requests - before.requests, 2, 8);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(datasets_are_as_on_local_disk, setup, teardown),
		cmocka_unit_test_setup_teardown(external_blobs_are_read_one_by_one, setup, teardown),
		cmocka_unit_test_setup_teardown(taken_rows_cost_few_requests, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
