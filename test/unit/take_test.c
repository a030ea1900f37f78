/*
 * take_test.c
 *	  Rows taken by position, address and row id are those of a scan, for datasets of other writers; keys without a row;
 *	  batches and memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/env.h"
#include "fixture_text.h"
#include "fixtures.h"
#include "scan/scan.h"
#include "scan/take.h"

static LncContext ctx;

#define OK(expr)                                                                 \
	do                                                                           \
	{                                                                            \
		LncCode ok_code = (expr);                                                \
		if (ok_code != LNC_OK)                                                   \
			fail_msg("%s: %s [%s]", #expr, ctx.error.message, ctx.error.detail); \
	} while (0)

static int
setup(void **state)
{
	(void)state;
	lnc_context_init(&ctx, lnc_env_default());
	return 0;
}

static uint32_t
next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* All rows of a dataset in words, as a scan gives them. */
typedef struct Rows
{
	uint64_t count;
	char **texts;
	uint64_t *ids;
	uint64_t *addresses;
} Rows;

static void
rows_free(Rows *rows)
{
	for (uint64_t i = 0; i < rows->count; i++)
		free(rows->texts[i]);
	free(rows->texts);
	free(rows->ids);
	free(rows->addresses);
}

/* The first ncolumns columns of a row. */
static char *
row_text(const LncBatch *batch, int32_t ncolumns, int64_t row)
{
	FixtureText text = {0};

	fixture_text_add(&text, "[", 1);
	for (int32_t i = 0; i < ncolumns; i++)
	{
		fixture_text_value(&text, &batch->columns[i], row);
		fixture_text_add(&text, ",", 1);
	}
	return text.text;
}

static uint64_t
number_at(const LncBatch *batch, int32_t column, int64_t row)
{
	return ((const uint64_t *)batch->columns[column].values)[row];
}

#define ADDRESSES (LNC_SYSTEM_ROW_ID | LNC_SYSTEM_ROW_ADDRESS)

static void
scan_rows(const LncDataset *dataset, int32_t ncolumns, const int32_t *columns, Rows *rows)
{
	LncScanSpec spec = {.ncolumns = ncolumns, .columns = columns, .system_columns = ADDRESSES};
	LncArena *arena = lnc_arena_create(lnc_env_default());
	const LncBatch *batch;
	uint64_t total;
	LncScan *scan;

	OK(lnc_dataset_count_rows(&ctx, dataset, &total));
	memset(rows, 0, sizeof(*rows));
	rows->texts = calloc(total + 1, sizeof(*rows->texts));
	rows->ids = calloc(total + 1, sizeof(*rows->ids));
	rows->addresses = calloc(total + 1, sizeof(*rows->addresses));
	OK(lnc_scan_open(&ctx, arena, dataset, &spec, &scan));
	for (;;)
	{
		OK(lnc_scan_next(&ctx, scan, &batch));
		if (batch == NULL)
			break;
		for (int64_t row = 0; row < batch->length; row++, rows->count++)
		{
			assert_true(rows->count < total);
			rows->texts[rows->count] = row_text(batch, ncolumns, row);
			rows->ids[rows->count] = number_at(batch, ncolumns, row);
			rows->addresses[rows->count] = number_at(batch, ncolumns + 1, row);
		}
	}
	assert_int_equal(rows->count, total);
	lnc_arena_destroy(arena);
}

/* The number of the row that a key means; UINT64_MAX when there is none. */
static uint64_t
row_of(const Rows *rows, LncTakeBy by, uint64_t key)
{
	const uint64_t *keys = by == LNC_TAKE_ROW_ID ? rows->ids : rows->addresses;

	if (by == LNC_TAKE_POSITION)
		return key < rows->count ? key : UINT64_MAX;
	for (uint64_t i = 0; i < rows->count; i++)
		if (keys[i] == key)
			return i;
	return UINT64_MAX;
}

/* Take keys from an open take and compare every row; returns how many came. */
static uint64_t
check_keys(LncTake *take, const char *label, int32_t ncolumns, const Rows *rows, LncTakeBy by, size_t nkeys,
		   const uint64_t *keys, int64_t batch_rows)
{
	const LncTaken *taken;
	size_t next = 0;
	uint64_t got = 0;

	OK(lnc_take_start(&ctx, take, nkeys, keys));
	for (;;)
	{
		LncCode code = lnc_take_next(&ctx, take, &taken);

		if (code != LNC_OK)
			fail_msg("%s: %s [%s]", label, ctx.error.message, ctx.error.detail);
		if (taken == NULL)
			break;
		assert_in_range(taken->batch.length, 1, batch_rows);
		assert_int_equal(taken->batch.ncolumns, ncolumns + 2);
		for (int64_t i = 0; i < taken->batch.length; i++, got++)
		{
			uint64_t row;
			char *text;

			/* Keys that are passed over have no row. */
			for (; next < (size_t)taken->which[i]; next++)
				assert_int_equal(row_of(rows, by, keys[next]), UINT64_MAX);
			assert_int_equal(next, taken->which[i]);
			row = row_of(rows, by, keys[next++]);
			assert_true(row != UINT64_MAX);
			assert_int_equal(number_at(&taken->batch, ncolumns, i), rows->ids[row]);
			assert_int_equal(number_at(&taken->batch, ncolumns + 1, i), rows->addresses[row]);
			text = row_text(&taken->batch, ncolumns, i);
			if (strcmp(text, rows->texts[row]) != 0)
				fail_msg("%s: row %" PRIu64 ": got %.300s, expected %.300s", label, row, text, rows->texts[row]);
			free(text);
		}
	}
	for (; next < nkeys; next++)
		assert_int_equal(row_of(rows, by, keys[next]), UINT64_MAX);
	return got;
}

/* Keys: first, last, all or some backwards, duplicates, absent ones, random ones, a run of neighbours. */
#define SAMPLE 40
#define MAX_KEYS 400

static size_t
sample_keys(const Rows *rows, LncTakeBy by, uint32_t *seed, uint64_t *keys)
{
	const uint64_t *values = by == LNC_TAKE_ROW_ID ? rows->ids : rows->addresses;
	size_t n = 0;

	for (int i = 0; i < SAMPLE && rows->count > 0; i++)
	{
		uint64_t row = next_random(seed) % rows->count;

		if (i < 2)
			row = i == 0 ? rows->count - 1 : 0;
		keys[n++] = by == LNC_TAKE_POSITION ? row : values[row];
		if (i % 7 == 0)
		{
			keys[n] = keys[next_random(seed) % n];
			n++;
		}
		if (i % 9 == 0)
			keys[n++] = by == LNC_TAKE_POSITION ? rows->count + (uint64_t)i : (uint64_t)next_random(seed) << 33;
		if (i == SAMPLE / 2)
			for (uint64_t k = 0; k < 30 && row + k < rows->count; k++)
				keys[n++] = by == LNC_TAKE_POSITION ? row + k : values[row + k];
	}
	for (uint64_t k = 0; k < 100 && k < rows->count; k++)
	{
		uint64_t row = rows->count - 1 - k;

		keys[n++] = by == LNC_TAKE_POSITION ? row : values[row];
	}
	keys[n++] = UINT64_MAX;
	assert_true(n <= MAX_KEYS);
	return n;
}

static uint64_t rows_compared;

static void
check_dataset(const char *label, const LncDataset *dataset)
{
	LncArena *arena = lnc_arena_create(lnc_env_default());
	int32_t n = dataset->schema.nfields;
	int32_t *columns = calloc((size_t)n + 1, sizeof(*columns));
	uint32_t seed = 20240501;
	uint64_t keys[MAX_KEYS];
	Rows rows;

	for (int32_t i = 0; i < n; i++)
		columns[i] = n - 1 - i;
	scan_rows(dataset, n, columns, &rows);
	for (LncTakeBy by = LNC_TAKE_POSITION; by <= LNC_TAKE_ROW_ID; by++)
		for (int turn = 0; turn < 3; turn++)
		{
			static const int64_t sizes[] = {0, 7, 1};
			LncTakeSpec spec = {.by = by, .ncolumns = n, .columns = columns, .system_columns = ADDRESSES};
			LncTake *take;
			size_t nkeys = sample_keys(&rows, by, &seed, keys);

			spec.batch_rows = sizes[turn];
			OK(lnc_take_open(&ctx, arena, dataset, &spec, &take));
			rows_compared += check_keys(take, label, n, &rows, by, nkeys, keys, turn == 0 ? 1024 : sizes[turn]);
			/* Again, with files and pages that are open. */
			rows_compared +=
				check_keys(take, label, n, &rows, by, nkeys < 9 ? nkeys : 9, keys, turn == 0 ? 1024 : sizes[turn]);
		}
	rows_free(&rows);
	free(columns);
	lnc_arena_destroy(arena);
}

/* Every version of a dataset that can be read. */
static void
check_versions(const char *name)
{
	LncArena *arena = lnc_arena_create(lnc_env_default());
	LncDatasetOptions options = {.open_base = fixtures_open_base};
	LncDataset *newest;
	LncStore *store;

	OK(fixtures_open_store(&ctx, arena, name, &store));
	OK(lnc_dataset_open(&ctx, arena, store, &options, &newest));
	for (options.version = newest->version; options.version > 0; options.version--)
	{
		LncDataset *dataset;
		LncCode code = lnc_dataset_open(&ctx, arena, store, &options, &dataset);
		char label[200];

		/* Clones and cleaned datasets lack their first ones. */
		if (code == LNC_NOT_FOUND)
			continue;
		OK(code);
		snprintf(label, sizeof(label), "%s@v%" PRIu64, name, options.version);
		check_dataset(label, dataset);
	}
	lnc_arena_destroy(arena);
}

static void
rows_are_those_of_a_scan(void **state)
{
	cJSON *index = fixtures_index();
	const cJSON *entry;
	int n = 0;

	(void)state;
	cJSON_ArrayForEach(entry, index)
	{
		const char *name = cJSON_GetObjectItem(entry, "name")->valuestring;
		const char *version = cJSON_GetObjectItem(entry, "file_version")->valuestring;

		if (strstr(version, "2.3") != NULL || strstr(version, "0.1") != NULL || strncmp(name, "refuse_", 7) == 0 ||
			strncmp(name, "corrupt", 7) == 0)
			continue;
		check_versions(cJSON_GetObjectItem(entry, "dataset")->valuestring);
		n++;
	}
	cJSON_Delete(index);
	print_message("%d datasets, %" PRIu64 " rows taken and compared\n", n, rows_compared);
	assert_true(n > 60 && rows_compared > 100000);
}

static LncDataset *
open_dataset(LncArena *arena, const char *name, uint64_t version)
{
	LncDatasetOptions options = {.open_base = fixtures_open_base, .version = version};
	LncDataset *dataset;
	LncStore *store;

	OK(fixtures_open_store(&ctx, arena, name, &store));
	OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));
	return dataset;
}

/* The row ids and addresses that the writer has noted down lead to the rows that it noted them for. */
static void
noted_ids_lead_to_their_rows(void **state)
{
	static const struct
	{
		const char *dataset;
		uint64_t version;
		const char *file;
	} cases[] = {
		{"stable_rowids.lance", 5, "stable_rowids.rowids.jsonl"},
		{"stable_rowids.lance", 0, "stable_rowids@compacted.rowids.jsonl"},
		{"del_arrow.lance", 0, "del_arrow.rowaddr.jsonl"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (LncTakeBy by = LNC_TAKE_ADDRESS; by <= LNC_TAKE_ROW_ID; by++)
		{
			LncArena *arena = lnc_arena_create(lnc_env_default());
			LncDataset *dataset = open_dataset(arena, cases[i].dataset, cases[i].version);
			int32_t id = lnc_dataset_field(dataset, "id");
			LncTakeSpec spec = {.by = by, .ncolumns = 1, .columns = &id};
			char *text = fixtures_read(cases[i].file, NULL);
			uint64_t keys[2000];
			int64_t wanted[2000];
			size_t n = 0;
			size_t got = 0;
			const LncTaken *taken;
			LncTake *take;

			assert_non_null(text);
			for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
			{
				cJSON *row = cJSON_Parse(line);
				const char *name = by == LNC_TAKE_ADDRESS ? "_rowaddr" : "_rowid";

				assert_true(n < 2000);
				keys[n] = (uint64_t)cJSON_GetObjectItem(row, name)->valuedouble;
				wanted[n++] = (int64_t)cJSON_GetObjectItem(row, "id")->valuedouble;
				cJSON_Delete(row);
			}
			free(text);
			OK(lnc_take_open(&ctx, arena, dataset, &spec, &take));
			OK(lnc_take_start(&ctx, take, n, keys));
			for (;;)
			{
				OK(lnc_take_next(&ctx, take, &taken));
				if (taken == NULL)
					break;
				for (int64_t row = 0; row < taken->batch.length; row++, got++)
				{
					assert_int_equal(taken->which[row], got);
					assert_int_equal(((const int64_t *)taken->batch.columns[0].values)[row], wanted[got]);
				}
			}
			assert_int_equal(got, n);
			lnc_arena_destroy(arena);
		}
}

/* Of all addresses of all fragments exactly the live ones have rows. */
static void
deleted_rows_are_absent(void **state)
{
	static const char *const cases[] = {"del_bitmap.lance", "del_arrow.lance", "del_fragment.lance"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		LncArena *arena = lnc_arena_create(lnc_env_default());
		LncDataset *dataset = open_dataset(arena, cases[i], 0);
		LncTakeSpec spec = {.by = LNC_TAKE_ADDRESS, .system_columns = LNC_SYSTEM_ROW_ADDRESS};
		const LncTaken *taken;
		LncTakeStats stats;
		LncTake *take;
		uint64_t *keys;
		size_t n = 0;
		Rows rows;

		scan_rows(dataset, 0, NULL, &rows);
		keys = calloc(100000, sizeof(*keys));
		for (int32_t f = dataset->nfragments - 1; f >= 0; f--)
			for (uint64_t offset = 0; offset < dataset->fragments[f].physical_rows + 3; offset++)
				keys[n++] = dataset->fragments[f].id << 32 | offset;
		keys[n++] = UINT64_C(4000000000) << 32;
		OK(lnc_take_open(&ctx, arena, dataset, &spec, &take));
		OK(lnc_take_start(&ctx, take, n, keys));
		for (;;)
		{
			OK(lnc_take_next(&ctx, take, &taken));
			if (taken == NULL)
				break;
			for (int64_t row = 0; row < taken->batch.length; row++)
				assert_int_equal(number_at(&taken->batch, 0, row), keys[taken->which[row]]);
		}
		lnc_take_stats(take, &stats);
		assert_int_equal(stats.rows, rows.count);
		assert_int_equal(stats.rows + stats.absent, n);
		free(keys);
		rows_free(&rows);
		lnc_arena_destroy(arena);
	}
}

static void
specifications_are_checked(void **state)
{
	LncArena *arena = lnc_arena_create(lnc_env_default());
	LncDataset *dataset = open_dataset(arena, "one_row.lance", 0);
	int32_t bad = dataset->schema.nfields;
	LncTakeSpec spec = {.ncolumns = 1, .columns = &bad};
	LncTake *take;
	const LncTaken *taken;
	uint64_t keys[] = {3, 0, 0, 7};

	(void)state;
	assert_int_equal(lnc_take_open(&ctx, arena, dataset, &spec, &take), LNC_INVALID);
	bad = -1;
	assert_int_equal(lnc_take_open(&ctx, arena, dataset, &spec, &take), LNC_INVALID);
	spec.ncolumns = 0;
	spec.batch_rows = -1;
	assert_int_equal(lnc_take_open(&ctx, arena, dataset, &spec, &take), LNC_INVALID);

	/* No columns at all: rows are only counted. Nothing is taken before there are keys. */
	spec.batch_rows = 0;
	OK(lnc_take_open(&ctx, arena, dataset, &spec, &take));
	OK(lnc_take_next(&ctx, take, &taken));
	assert_null(taken);
	OK(lnc_take_start(&ctx, take, 4, keys));
	OK(lnc_take_next(&ctx, take, &taken));
	assert_int_equal(taken->batch.length, 2);
	assert_int_equal(taken->which[0], 1);
	assert_int_equal(taken->which[1], 2);
	OK(lnc_take_next(&ctx, take, &taken));
	assert_null(taken);
	lnc_arena_destroy(arena);
}

/* ---- memory */

/* An environment that counts what is taken. */
typedef struct Meter
{
	size_t now;
	size_t peak;
} Meter;

static void *
meter_alloc(void *state, size_t size)
{
	Meter *meter = state;
	size_t *block = malloc(size + 16);

	if (block == NULL)
		return NULL;
	block[0] = size;
	meter->now += size;
	if (meter->now > meter->peak)
		meter->peak = meter->now;
	return (char *)block + 16;
}

static void
meter_release(void *state, void *ptr)
{
	Meter *meter = state;
	size_t *block = (size_t *)(void *)((char *)ptr - 16);

	meter->now -= block[0];
	free(block);
}

/* A long list of random keys of wide rows takes the memory of a batch, not of the rows. */
static void
large_lists_are_taken_in_slices(void **state)
{
	static const size_t nkeys = 100000;
	LncArena *outer = lnc_arena_create(lnc_env_default());
	Meter meter = {0};
	LncEnv env = *lnc_env_default();
	LncContext other;
	LncArena *arena;
	LncDatasetOptions options = {.open_base = fixtures_open_base};
	LncDataset *dataset;
	LncStore *store;
	int32_t columns[64];
	LncTakeSpec spec = {.by = LNC_TAKE_POSITION, .columns = columns, .batch_rows = 100000};
	uint64_t *keys = calloc(nkeys, sizeof(*keys));
	uint32_t seed = 9;
	uint64_t rows = 0;
	size_t bytes = 0;
	const LncTaken *taken;
	LncTakeStats stats;
	LncTake *take;

	(void)state;
	env.alloc = meter_alloc;
	env.release = meter_release;
	env.state = &meter;
	lnc_context_init(&other, &env);
	arena = lnc_arena_create(&env);
	OK(fixtures_open_store(&ctx, outer, "wide_v22.lance", &store));
	OK(lnc_dataset_open(&ctx, outer, store, &options, &dataset));
	for (spec.ncolumns = 0; spec.ncolumns < dataset->schema.nfields; spec.ncolumns++)
		columns[spec.ncolumns] = spec.ncolumns;
	for (size_t i = 0; i < nkeys; i++)
		keys[i] = next_random(&seed) % 40;
	assert_int_equal(lnc_take_open(&other, arena, dataset, &spec, &take), LNC_OK);
	assert_int_equal(lnc_take_start(&other, take, nkeys, keys), LNC_OK);
	while (rows < nkeys)
	{
		assert_int_equal(lnc_take_next(&other, take, &taken), LNC_OK);
		assert_non_null(taken);
		rows += (uint64_t)taken->batch.length;
		for (int32_t i = 0; i < spec.ncolumns; i++)
			if (taken->batch.columns[i].offsets != NULL)
				bytes += (size_t)taken->batch.columns[i].offsets[taken->batch.length];
	}
	lnc_take_stats(take, &stats);
	print_message("%zu keys in %" PRIu64 " batches, %zu MiB of values, at most %zu MiB taken\n", nkeys,
				  stats.batches, bytes >> 20, meter.peak >> 20);
	assert_true(bytes > (size_t)150 << 20);
	assert_true(meter.peak < (size_t)40 << 20);
	lnc_arena_destroy(arena);
	assert_int_equal(meter.now, 0);
	free(keys);
	lnc_arena_destroy(outer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(rows_are_those_of_a_scan, setup),
		cmocka_unit_test_setup(noted_ids_lead_to_their_rows, setup),
		cmocka_unit_test_setup(deleted_rows_are_absent, setup),
		cmocka_unit_test_setup(specifications_are_checked, setup),
		cmocka_unit_test_setup(large_lists_are_taken_in_slices, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
