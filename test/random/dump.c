/*
 * dump.c
 *	  Program: the rows of a local dataset as JSON arrays, one a line, in the text form of the fixtures.
 *
 * Arguments: folder of the dataset, version (0: the newest), branch ("": main), rows a batch (0: default), set of system
 * columns (a number, scan/system_columns.h), which come last. The first line has the names of the columns. A failure is
 * printed to stderr; exit status 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "scan/scan.h"
#include "unit/fixture_text.h"

static const LncStoreConfig config = {0};

static LncCode
open_base(LncContext *ctx, void *arg, LncArena *arena, const char *uri, LncStore **out)
{
	(void)arg;
	return lnc_store_open(ctx, arena, uri, &config, out);
}

static void
print_names(const LncDataset *dataset, const LncScanSpec *spec)
{
	for (int32_t i = 0; i < spec->ncolumns; i++)
		printf("%s%s", i == 0 ? "" : "\t", dataset->schema.fields[i].name);
	printf("\n");
}

static LncCode
dump(LncContext *ctx, LncArena *arena, char **argv)
{
	LncDatasetOptions options = {.version = strtoull(argv[2], NULL, 10),
								 .branch = argv[3][0] == '\0' ? NULL : argv[3],
								 .open_base = open_base};
	LncScanSpec spec = {.batch_rows = strtoll(argv[4], NULL, 10),
						.system_columns = (uint32_t)strtoul(argv[5], NULL, 10)};
	LncDataset *dataset;
	LncStore *store;
	LncScan *scan;
	const LncBatch *batch;
	int32_t *columns;

	LNC_TRY(lnc_store_open(ctx, arena, argv[1], &config, &store));
	LNC_TRY(lnc_dataset_open(ctx, arena, store, &options, &dataset));
	LNC_TRY(LNC_NEW(ctx, arena, &columns, dataset->schema.nfields));
	for (int32_t i = 0; i < dataset->schema.nfields; i++)
		columns[i] = i;
	spec.ncolumns = dataset->schema.nfields;
	spec.columns = columns;
	print_names(dataset, &spec);
	LNC_TRY(lnc_scan_open(ctx, arena, dataset, &spec, &scan));
	for (;;)
	{
		LNC_TRY(lnc_scan_next(ctx, scan, &batch));
		if (batch == NULL)
			return LNC_OK;
		for (int64_t row = 0; row < batch->length; row++)
		{
			FixtureText text = {.json_as_text = true};

			fixture_text_add(&text, "[", 1);
			for (int32_t i = 0; i < batch->ncolumns; i++)
			{
				if (i > 0)
					fixture_text_add(&text, ",", 1);
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

	if (argc != 6)
	{
		fprintf(stderr, "usage: dump FOLDER VERSION BRANCH ROWS-A-BATCH SYSTEM-COLUMNS\n");
		return 2;
	}
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	code = dump(&ctx, arena, argv);
	if (code != LNC_OK)
		fprintf(stderr, "%s: %s [%s]\n", lnc_code_name(code), ctx.error.message, ctx.error.detail);
	lnc_arena_destroy(arena);
	return code == LNC_OK ? 0 : 1;
}
