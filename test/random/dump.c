/*
 * dump.c
 *	  Program: the rows of a local dataset as JSON objects, one a line, in the text form of the fixtures.
 *
 * Arguments: folder of the dataset, rows a batch (0: default). A failure is printed to stderr; exit status 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "scan/scan.h"
#include "unit/fixture_text.h"

static LncCode
dump(LncContext *ctx, LncArena *arena, const char *path, int64_t batch_rows)
{
	static const LncStoreConfig config = {0};
	LncDatasetOptions options = {0};
	LncScanSpec spec = {.batch_rows = batch_rows};
	LncDataset *dataset;
	LncStore *store;
	LncScan *scan;
	const LncBatch *batch;
	int32_t *columns;

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
	}
}

int
main(int argc, char **argv)
{
	LncContext ctx;
	LncArena *arena;
	LncCode code;

	if (argc != 3)
	{
		fprintf(stderr, "usage: dump FOLDER ROWS-A-BATCH\n");
		return 2;
	}
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	code = dump(&ctx, arena, argv[1], strtoll(argv[2], NULL, 10));
	if (code != LNC_OK)
		fprintf(stderr, "%s: %s [%s]\n", lnc_code_name(code), ctx.error.message, ctx.error.detail);
	lnc_arena_destroy(arena);
	return code == LNC_OK ? 0 : 1;
}
