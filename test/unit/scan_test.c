/*
 * scan_test.c
 *	  Scans: projection, batches, rewinding, counts with deletions, disagreement between manifest and files.
 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "fixtures.h"
#include "proto/table.pb-c.h"
#include "scan/scan.h"

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

static LncScan *
open_scan(const LncDataset *dataset, int32_t ncolumns, const int32_t *columns, int64_t batch_rows)
{
	LncScanSpec spec = {
		.ncolumns = ncolumns, .columns = columns, .batch_rows = batch_rows, .first_rows = batch_rows};
	LncScan *scan;

	OK(lnc_scan_open(&ctx, arena, dataset, &spec, &scan));
	return scan;
}

/* Rows from here to the end, and the sum of the int64 column 0 when there is one. */
static uint64_t
drain(LncScan *scan, int64_t batch_rows, int64_t *sum)
{
	const LncBatch *batch;
	uint64_t rows = 0;

	*sum = 0;
	for (;;)
	{
		OK(lnc_scan_next(&ctx, scan, &batch));
		if (batch == NULL)
			return rows;
		assert_in_range(batch->length, 1, batch_rows);
		for (int64_t row = 0; batch->ncolumns > 0 && row < batch->length; row++)
			*sum += ((const int64_t *)batch->columns[0].values)[row];
		rows += (uint64_t)batch->length;
	}
}

static void
deleted_rows_are_left_out(void **state)
{
	LncDataset *dataset = open_dataset("del_bitmap.lance");
	int32_t id = lnc_dataset_field(dataset, "id");
	char *text = fixtures_read("del_bitmap.summary.json", NULL);
	cJSON *summary = cJSON_Parse(text);
	double rows = cJSON_GetObjectItem(summary, "rows")->valuedouble;
	double sum = cJSON_GetObjectItem(summary, "sum_id")->valuedouble;
	static const int64_t sizes[] = {1, 3, 64, 1000, 100000};
	uint64_t counted;

	(void)state;
	free(text);
	cJSON_Delete(summary);
	OK(lnc_dataset_count_rows(&ctx, dataset, &counted));
	assert_int_equal(counted, (uint64_t)rows);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		LncScan *scan = open_scan(dataset, 1, &id, sizes[i]);
		LncScanStats stats;
		int64_t got;

		assert_int_equal(drain(scan, sizes[i], &got), (uint64_t)rows);
		assert_int_equal(got, (int64_t)sum);
		lnc_scan_stats(scan, &stats);
		assert_int_equal(stats.rows, (uint64_t)rows);
		assert_int_equal(stats.rows_deleted, 8000 - (uint64_t)rows);
		assert_int_equal(stats.fragments, dataset->nfragments);

		/* Counting needs no column. */
		scan = open_scan(dataset, 0, NULL, sizes[i]);
		assert_int_equal(drain(scan, sizes[i], &got), (uint64_t)rows);
	}
}

/* Ranges of a dataset's fragments, last one first, each at most step rows long. */
typedef struct Ranges
{
	const LncDataset *dataset;
	uint64_t step;
	int32_t fragment;
	uint64_t end; /* rows of it that are still to be given */
} Ranges;

static void
start_ranges(Ranges *ranges)
{
	ranges->fragment = ranges->dataset->nfragments - 1;
	ranges->end = ranges->dataset->fragments[ranges->fragment].physical_rows;
}

static bool
next_range(void *arg, LncRowRange *out)
{
	Ranges *ranges = arg;

	if (ranges->end == 0)
	{
		if (--ranges->fragment < 0)
			return false;
		ranges->end = ranges->dataset->fragments[ranges->fragment].physical_rows;
	}
	out->fragment = ranges->fragment;
	out->count = ranges->end < ranges->step ? ranges->end : ranges->step;
	out->first = ranges->end - out->count;
	ranges->end = out->first;
	return true;
}

static void
ranges_together_are_the_whole(void **state)
{
	static const char *const names[] = {"del_bitmap.lance", "del_arrow.lance", "multifrag_p14_default.lance"};
	static const uint64_t steps[] = {1, 7, 100, 1000000};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) * sizeof(steps) / sizeof(steps[0]); i++)
	{
		LncDataset *dataset = open_dataset(names[i / 4]);
		Ranges ranges = {.dataset = dataset, .step = steps[i % 4]};
		int32_t id = lnc_dataset_field(dataset, "id");
		LncScanSpec spec = {
			.ncolumns = 1, .columns = &id, .batch_rows = 50, .next_range = next_range, .range_arg = &ranges};
		LncScan *whole = open_scan(dataset, 1, &id, 50);
		uint64_t rows;
		int64_t expected;
		int64_t got;
		LncScanStats stats;
		LncScanStats parts;
		LncScan *scan;

		rows = drain(whole, 50, &expected);
		lnc_scan_stats(whole, &stats);
		start_ranges(&ranges);
		OK(lnc_scan_open(&ctx, arena, dataset, &spec, &scan));
		for (int turn = 1; turn <= 2; turn++)
		{
			assert_int_equal(drain(scan, 50, &got), rows);
			assert_int_equal(got, expected);
			lnc_scan_stats(scan, &parts);
			assert_int_equal(parts.rows_deleted, stats.rows_deleted * (uint64_t)turn);
			assert_int_equal(parts.fragments, stats.fragments * (uint64_t)turn);
			start_ranges(&ranges);
			OK(lnc_scan_rewind(&ctx, scan));
		}
	}
}

static bool
wrong_range(void *arg, LncRowRange *out)
{
	*out = *(LncRowRange *)arg;
	return true;
}

static void
ranges_beyond_the_rows_are_refused(void **state)
{
	LncDataset *dataset = open_dataset("del_bitmap.lance");
	uint64_t rows = dataset->fragments[0].physical_rows;
	LncRowRange wrong[] = {
		{-1, 0, 1}, {dataset->nfragments, 0, 1}, {0, 0, rows + 1}, {0, rows + 1, 0}, {0, 1, UINT64_MAX}};
	int32_t id = lnc_dataset_field(dataset, "id");

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
	{
		LncScanSpec spec = {.ncolumns = 1, .columns = &id, .next_range = wrong_range, .range_arg = &wrong[i]};
		const LncBatch *batch;
		LncScan *scan;

		OK(lnc_scan_open(&ctx, arena, dataset, &spec, &scan));
		assert_int_equal(lnc_scan_next(&ctx, scan, &batch), LNC_INVALID);
	}
}

static void
rewinding_starts_over(void **state)
{
	LncDataset *dataset = open_dataset("multifrag_p14_default.lance");
	int32_t id = lnc_dataset_field(dataset, "id");
	LncScan *scan = open_scan(dataset, 1, &id, 50);
	const LncBatch *batch;
	int64_t sum;
	int64_t again;

	(void)state;
	assert_int_equal(drain(scan, 50, &sum), 550);
	OK(lnc_scan_next(&ctx, scan, &batch));
	assert_null(batch);
	OK(lnc_scan_rewind(&ctx, scan));
	for (int i = 0; i < 5; i++)
		OK(lnc_scan_next(&ctx, scan, &batch));
	OK(lnc_scan_rewind(&ctx, scan));
	assert_int_equal(drain(scan, 50, &again), 550);
	assert_int_equal(sum, again);
}

static void
columns_come_in_the_order_asked(void **state)
{
	LncDataset *dataset = open_dataset("one_row.lance");
	int32_t columns[2];
	LncScan *scan;
	const LncBatch *batch;
	LncScanSpec spec = {.ncolumns = 1};
	int32_t bad = dataset->schema.nfields;

	(void)state;
	assert_true(dataset->schema.nfields >= 2);
	columns[0] = 1;
	columns[1] = 0;
	scan = open_scan(dataset, 2, columns, 0);
	OK(lnc_scan_next(&ctx, scan, &batch));
	assert_int_equal(batch->length, 1);
	assert_ptr_equal(batch->columns[0].type, &dataset->schema.fields[columns[0]].type);
	assert_ptr_equal(batch->columns[1].type, &dataset->schema.fields[0].type);

	spec.columns = &bad;
	assert_int_equal(lnc_scan_open(&ctx, arena, dataset, &spec, &scan), LNC_INVALID);
}

static void
counting_reads_no_data(void **state)
{
	LncDataset *dataset = open_dataset("wide_v22.lance");
	LncStoreStats before;
	LncStoreStats after;
	int64_t sum;

	(void)state;
	lnc_store_stats(dataset->store, &before);
	assert_int_equal(drain(open_scan(dataset, 0, NULL, 0), 4096, &sum), 40);
	lnc_store_stats(dataset->store, &after);
	assert_int_equal(after.bytes_read, before.bytes_read);
	assert_int_equal(after.requests, before.requests);
}

/* A hidden column is read only where the filter looks at it. */
static void
hidden_columns_are_not_read(void **state)
{
	uint64_t bytes[2];

	(void)state;
	for (int32_t all = 0; all <= 1; all++)
	{
		LncDataset *dataset = open_dataset("fsst_v21.lance");
		int32_t columns[] = {lnc_dataset_field(dataset, "url"), lnc_dataset_field(dataset, "prose")};
		LncPredicate any = {.kind = LNC_PREDICATE_BYTES, .column = 0, .comparison = LNC_GREATER_EQUAL};
		LncSlice nothing = {0};
		LncScanSpec spec = {.ncolumns = 2, .columns = columns, .filter = &any, .nhidden = 1 + all};
		LncStoreStats before;
		LncStoreStats after;
		LncScan *scan;
		int64_t rows = 0;

		any.bytes = &nothing;
		/* Shown is the column that the filter does not look at, or none. */
		if (all == 0)
		{
			columns[0] = columns[1];
			columns[1] = lnc_dataset_field(dataset, "url");
			any.column = 1;
		}
		lnc_store_stats(dataset->store, &before);
		OK(lnc_scan_open(&ctx, arena, dataset, &spec, &scan));
		for (;;)
		{
			const LncBatch *batch;

			OK(lnc_scan_next(&ctx, scan, &batch));
			if (batch == NULL)
				break;
			rows += batch->length;
			assert_true(batch->columns[1].absent && batch->columns[0].absent == (all == 1));
			assert_int_equal(batch->columns[0].length, batch->length);
		}
		lnc_store_stats(dataset->store, &after);
		assert_int_equal(rows, 900);
		bytes[all] = after.bytes_read - before.bytes_read;
	}
	assert_true(bytes[1] < bytes[0]);
}

typedef enum Change
{
	MORE_ROWS,
	COLUMN_BEYOND_FILE,
	NEGATIVE_COLUMN,
	STORED_TWICE,
	OTHER_SIZE,
	UNKNOWN_BASE,
	GONE,
	SUPERSEDED
} Change;

/* A copy of a dataset in memory whose manifest was changed; what reading its column 0 gives. */
static LncCode
read_changed(Change change)
{
	static const char *const key = "_versions/18446744073709551614.manifest";
	LncDatasetOptions options = {0};
	LncScanSpec spec = {.ncolumns = 1};
	LncStore *local;
	LncStore *store;
	LncSlice bytes;
	Lance__Table__Manifest *manifest;
	Lance__Table__DataFile *file;
	LncDataset *dataset;
	LncScan *scan;
	const LncBatch *batch;
	uint64_t position;
	int32_t column = 0;
	uint8_t *changed;
	size_t length;

	OK(fixtures_open_store(&ctx, arena, "one_row.lance", &local));
	OK(fixtures_copy_to_memory(&ctx, arena, local, &store));
	OK(lnc_store_read_all(&ctx, store, arena, key, 1 << 20, &bytes));
	position = lnc_le64(bytes.data + bytes.size - 16);
	manifest = lance__table__manifest__unpack(NULL, bytes.size - 20 - position, bytes.data + position + 4);
	assert_non_null(manifest);
	file = manifest->fragments[0]->files[0];
	switch (change)
	{
		case MORE_ROWS:
			manifest->fragments[0]->physical_rows++;
			break;
		case COLUMN_BEYOND_FILE:
			file->column_indices[0] = 1000;
			break;
		case NEGATIVE_COLUMN:
			file->column_indices[0] = -1;
			break;
		case STORED_TWICE:
			file->fields[1] = file->fields[0];
			break;
		case OTHER_SIZE:
			file->file_size_bytes++;
			break;
		case UNKNOWN_BASE:
			file->base_presence_case = LANCE__TABLE__DATA_FILE__BASE_PRESENCE_BASE_ID;
			file->base_id = 0;
			break;
		case GONE:
			file->path[0] = (char)(file->path[0] == '0' ? '1' : '0');
			break;
		case SUPERSEDED:
			file->fields[0] = -2;
			break;
	}
	length = lance__table__manifest__get_packed_size(manifest);
	changed = malloc(length + 20);
	memcpy(changed, &(uint32_t){(uint32_t)length}, 4);
	lance__table__manifest__pack(manifest, changed + 4);
	lance__table__manifest__free_unpacked(manifest, NULL);
	memset(changed + 4 + length, 0, 8);
	memcpy(changed + 12 + length, bytes.data + bytes.size - 8, 8);
	OK(lnc_store_put(&ctx, store, key, (LncSlice){.data = changed, .size = length + 20}));
	free(changed);

	OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));
	spec.columns = &column;
	OK(lnc_scan_open(&ctx, arena, dataset, &spec, &scan));
	LNC_TRY(lnc_scan_next(&ctx, scan, &batch));
	if (change == SUPERSEDED)
	{
		assert_int_equal(batch->length, 1);
		assert_true(lnc_column_is_null(&batch->columns[0], 0));
	}
	return LNC_OK;
}

static void
manifests_that_do_not_fit_their_files(void **state)
{
	static const struct
	{
		Change change;
		LncCode code;
		const char *message;
	} cases[] = {
		{MORE_ROWS, LNC_CORRUPT, "column has 1 rows where the fragment has 2"},
		{COLUMN_BEYOND_FILE, LNC_CORRUPT, "manifest names column 1000 of a file"},
		{NEGATIVE_COLUMN, LNC_CORRUPT, "manifest names column -1 of a file"},
		{STORED_TWICE, LNC_CORRUPT, "is stored twice"},
		{OTHER_SIZE, LNC_CORRUPT, "bytes instead of"},
		{UNKNOWN_BASE, LNC_CORRUPT, "base path 0 is not listed by the manifest"},
		{GONE, LNC_NOT_FOUND, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		LncCode code = read_changed(cases[i].change);

		if (code != cases[i].code)
			fail_msg("case %zu: %s", i, lnc_code_name(code));
		if (strstr(ctx.error.message, cases[i].message) == NULL)
			fail_msg("case %zu: %s", i, ctx.error.message);
		if (strstr(ctx.error.detail, "Column \"") == NULL || strstr(ctx.error.detail, "fragment 0") == NULL ||
			(strstr(ctx.error.detail, ".lance\"") == NULL && strstr(ctx.error.message, ".lance\"") == NULL))
			fail_msg("case %zu: %s", i, ctx.error.detail);
	}
	OK(read_changed(SUPERSEDED));
}

/* Cancelling is seen before the next fragment and between pages. */
static bool
always_interrupted(void *state)
{
	return *(bool *)state;
}

static void
scans_can_be_cancelled(void **state)
{
	LncDataset *dataset = open_dataset("multifrag_p14_default.lance");
	int32_t id = lnc_dataset_field(dataset, "id");
	LncScan *scan = open_scan(dataset, 1, &id, 50);
	const LncBatch *batch;
	bool stop = false;
	LncEnv env = *lnc_env_default();
	LncContext other;

	(void)state;
	env.interrupted = always_interrupted;
	env.state = &stop;
	lnc_context_init(&other, &env);
	assert_int_equal(lnc_scan_next(&other, scan, &batch), LNC_OK);
	stop = true;
	assert_int_equal(lnc_scan_next(&other, scan, &batch), LNC_CANCELLED);
	stop = false;
	OK(lnc_scan_rewind(&ctx, scan));
	OK(lnc_scan_next(&ctx, scan, &batch));
	assert_int_equal(batch->length, 50);
}

/* Batches grow to as many rows as they may have, and end at multiples of their size. */
static void
batches_grow(void **state)
{
	LncDataset *dataset = open_dataset("fsst_v21.lance");
	int32_t columns[] = {lnc_dataset_field(dataset, "prose")};
	static const struct
	{
		int64_t first;
		int64_t batch;
		int64_t lengths[8];
	} cases[] = {
		{0, 0, {64, 192, 644}},
		{0, 600, {64, 192, 344, 300}},
		{0, 48, {48, 48}},
		{100, 300, {64, 192, 44, 300, 300}},
		{1, 0, {1, 3, 12, 48, 192, 644}},
		{900, 900, {900}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		LncScanSpec spec = {
			.ncolumns = 1, .columns = columns, .batch_rows = cases[i].batch, .first_rows = cases[i].first};
		const LncBatch *batch;
		int64_t rows = 0;
		LncScan *scan;

		OK(lnc_scan_open(&ctx, arena, dataset, &spec, &scan));
		for (int n = 0; rows < 900; n++)
		{
			OK(lnc_scan_next(&ctx, scan, &batch));
			if (cases[i].lengths[n] == 0)
				break;
			assert_int_equal(batch->length, cases[i].lengths[n]);
			rows += batch->length;
		}
	}
}

static LncSlice
text_at(const LncColumn *column, int64_t row)
{
	LncSlice value = {.data = column->data + column->offsets[row],
					  .size = (size_t)(column->offsets[row + 1] - column->offsets[row])};

	return value;
}

/* Few rows chosen by one column, shown or not: of the others the same values as in a scan of all rows. */
static void
rows_that_pass_are_those_of_the_whole(void **state)
{
	static const char *const names[] = {"fsst_v20.lance", "fsst_v21.lance", "fsst_v22.lance"};
	static const int64_t places[] = {0, 1, 63, 64, 500, 777, 899};
	size_t nplaces = sizeof(places) / sizeof(places[0]);

	(void)state;
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
	{
		LncDataset *dataset = open_dataset(names[n]);
		int32_t columns[] = {lnc_dataset_field(dataset, "prose"), lnc_dataset_field(dataset, "prose_null"),
							 lnc_dataset_field(dataset, "url")};
		const LncBatch *all;
		LncSlice urls[7];
		LncPredicate among = {
			.kind = LNC_PREDICATE_BYTES_IN, .column = 2, .nvalues = (int64_t)nplaces, .bytes = urls};

		OK(lnc_scan_next(&ctx, open_scan(dataset, 3, columns, 4096), &all));
		assert_int_equal(all->length, 900);
		for (size_t i = 0; i < nplaces; i++)
			urls[i] = text_at(&all->columns[2], places[i]);
		for (size_t i = 1; i < nplaces; i++)
			for (size_t j = i; j > 0 && lnc_bytes_compare(urls[j], urls[j - 1]) < 0; j--)
			{
				LncSlice swapped = urls[j];

				urls[j] = urls[j - 1];
				urls[j - 1] = swapped;
			}
		for (int32_t hidden = 0; hidden <= 1; hidden++)
		{
			LncScanSpec spec = {.ncolumns = 3,
								.columns = columns,
								.batch_rows = 300 + 596 * hidden,
								.filter = &among,
								.nhidden = hidden};
			LncScan *scan;
			size_t found = 0;

			OK(lnc_scan_open(&ctx, arena, dataset, &spec, &scan));
			for (;;)
			{
				const LncBatch *batch;

				OK(lnc_scan_next(&ctx, scan, &batch));
				if (batch == NULL)
					break;
				assert_true(batch->columns[2].absent == (hidden == 1));
				for (int64_t row = 0; row < batch->length; row++, found++)
				{
					assert_true(found < nplaces);
					for (int32_t column = 0; column < 3 - hidden; column++)
					{
						const LncColumn *whole = &all->columns[column];

						assert_int_equal(lnc_column_is_null(&batch->columns[column], row),
										 lnc_column_is_null(whole, places[found]));
						if (!lnc_column_is_null(whole, places[found]))
							assert_int_equal(lnc_bytes_compare(text_at(&batch->columns[column], row),
															   text_at(whole, places[found])),
											 0);
					}
				}
			}
			assert_int_equal(found, nplaces);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_that_pass_are_those_of_the_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(deleted_rows_are_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(ranges_together_are_the_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(ranges_beyond_the_rows_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(rewinding_starts_over, setup, teardown),
		cmocka_unit_test_setup_teardown(columns_come_in_the_order_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(counting_reads_no_data, setup, teardown),
		cmocka_unit_test_setup_teardown(hidden_columns_are_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(manifests_that_do_not_fit_their_files, setup, teardown),
		cmocka_unit_test_setup_teardown(batches_grow, setup, teardown),
		cmocka_unit_test_setup_teardown(scans_can_be_cancelled, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
