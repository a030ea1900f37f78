/*
 * decode.c
 *	  Program: how long the library takes to scan a local dataset, or what it reads there.
 *
 *	decode time RUNS BATCH FOLDER	the least processor seconds of RUNS scans, each with opening the dataset
 *	decode print BATCH FOLDER		the rows as JSON arrays, one a line, in the text form of the fixtures
 *
 * BATCH: rows a batch, 0 for the default of a scan. All columns are read; the bytes of blobs are fetched, too. A
 * failure is printed to stderr; exit status 1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/env.h"
#include "dataset/blob.h"
#include "scan/scan.h"
#include "unit/fixture_text.h"

/* What is done with each batch. */
typedef LncCode (*UseBatch)(LncContext *ctx, LncArena *scratch, const LncBatch *batch);

static double
processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A scan leaves blobs where they are. One at a time is in memory, as in a row of a foreign table. */
static LncCode
fetch_blobs(LncContext *ctx, LncArena *scratch, const LncBatch *batch)
{
	for (int32_t i = 0; i < batch->ncolumns; i++)
	{
		const LncColumn *column = &batch->columns[i];

		if (!lnc_type_is_blob(column->type))
			continue;
		for (int64_t row = 0; row < column->length; row++)
		{
			LncSlice bytes;

			if (!lnc_column_is_null(column, row))
				LNC_TRY(lnc_blob_read(ctx, scratch, column, row, UINT64_MAX, &bytes));
			lnc_arena_reset(scratch);
		}
	}
	return LNC_OK;
}

static LncCode
print_batch(LncContext *ctx, LncArena *scratch, const LncBatch *batch)
{
	(void)ctx;
	(void)scratch;
	for (int64_t row = 0; row < batch->length; row++)
	{
		FixtureText text = {0};

		for (int32_t i = 0; i < batch->ncolumns; i++)
		{
			fixture_text_add(&text, i == 0 ? "[" : ",", 1);
			fixture_text_value(&text, &batch->columns[i], row);
		}
		printf("%s]\n", text.text);
		free(text.text);
	}
	return LNC_OK;
}

/* Scan all columns of the dataset; *rows: how many there were. */
static LncCode
scan(LncContext *ctx, LncArena *arena, const char *path, int64_t batch_rows, UseBatch use, int64_t *rows)
{
	static const LncStoreConfig config = {0};
	LncDatasetOptions options = {0};
	LncScanSpec spec = {.batch_rows = batch_rows};
	LncArena *scratch;
	LncDataset *dataset;
	LncStore *store;
	LncScan *scan;
	const LncBatch *batch;
	int32_t *columns;

	*rows = 0;
	LNC_TRY(lnc_arena_create_child(ctx, arena, &scratch));
	LNC_TRY(lnc_store_open(ctx, arena, path, &config, &store));
	LNC_TRY(lnc_dataset_open(ctx, arena, store, &options, &dataset));
	LNC_TRY(LNC_NEW(ctx, arena, &columns, dataset->schema.nfields));
	for (int32_t i = 0; i < dataset->schema.nfields; i++)
		columns[i] = i;
	spec.ncolumns = dataset->schema.nfields;
	spec.columns = columns;
	LNC_TRY(lnc_scan_open(ctx, arena, dataset, &spec, &scan));
	for (;;)
	{
		LNC_TRY(lnc_scan_next(ctx, scan, &batch));
		if (batch == NULL)
			return LNC_OK;
		*rows += batch->length;
		LNC_TRY(use(ctx, scratch, batch));
	}
}

static LncCode
time_scans(LncContext *ctx, LncArena *arena, const char *path, int64_t batch_rows, long runs)
{
	double best = 0;
	int64_t rows = 0;

	for (long run = 0; run < runs; run++)
	{
		double seconds = processor_seconds();

		LNC_TRY(scan(ctx, arena, path, batch_rows, fetch_blobs, &rows));
		lnc_arena_reset(arena);
		seconds = processor_seconds() - seconds;
		if (run == 0 || seconds < best)
			best = seconds;
	}
	printf("%" PRId64 " %.6f\n", rows, best);
	return LNC_OK;
}

int
main(int argc, char **argv)
{
	LncContext ctx;
	LncArena *arena;
	LncCode code;
	int64_t rows;
	bool timed = argc == 5 && strcmp(argv[1], "time") == 0;

	if (!timed && !(argc == 4 && strcmp(argv[1], "print") == 0))
	{
		fprintf(stderr, "usage: decode time RUNS BATCH FOLDER | decode print BATCH FOLDER\n");
		return 2;
	}
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	if (timed)
		code = time_scans(&ctx, arena, argv[4], strtoll(argv[3], NULL, 10), strtol(argv[2], NULL, 10));
	else
		code = scan(&ctx, arena, argv[3], strtoll(argv[2], NULL, 10), print_batch, &rows);
	if (code != LNC_OK)
		fprintf(stderr, "%s: %s [%s]\n", lnc_code_name(code), ctx.error.message, ctx.error.detail);
	lnc_arena_destroy(arena);
	return code == LNC_OK ? 0 : 1;
}
