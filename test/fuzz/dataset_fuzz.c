/*
 * dataset_fuzz.c
 *	  Fuzz target: the input is a manifest and a deletion file; the dataset is opened and scanned.
 *
 *	input	u8 version, u32 size of the manifest, the manifest (cut where the input ends), the deletion file of every
 *			fragment
 */
#include <stdlib.h>

#include "fuzz.h"
#include "scan/scan.h"

#define FUZZ_HEAD 5
#define FUZZ_MAX_FRAGMENTS 8
#define FUZZ_MAX_BATCHES 4

static const LncStoreConfig config;

/* Fragments without data files, whose deletions alone decide which rows there are. */
static void
count_live_rows(LncContext *ctx, LncArena *arena, const LncDataset *dataset)
{
	LncScanSpec spec = {.batch_rows = 1000};
	const LncBatch *batch;
	LncScan *scan;

	if (lnc_scan_open(ctx, arena, dataset, &spec, &scan) != LNC_OK)
		return;
	for (int i = 0; i < FUZZ_MAX_BATCHES; i++)
	{
		if (lnc_scan_next(ctx, scan, &batch) != LNC_OK || batch == NULL)
			break;
		if (batch->length <= 0 || batch->length > spec.batch_rows)
			abort();
	}
}

static void
read_deletions(LncContext *ctx, LncArena *arena, LncStore *store, const LncDataset *dataset,
			   const LncFragment *fragment, LncSlice bytes)
{
	if (fragment->deletion_kind != LNC_DELETION_NONE && !fragment->deletion_has_base)
		fuzz_read_deletions(ctx, arena, store, dataset, fragment, bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LncEnv env = fuzz_env();
	LncDatasetOptions options = {.manifest_key = "_versions/m.manifest"};
	LncSlice manifest;
	LncSlice deletions;
	LncContext ctx;
	LncArena *arena;
	LncStore *store;
	LncDataset *dataset;

	if (size < FUZZ_HEAD)
		return 0;
	options.version = data[0];
	manifest.data = data + FUZZ_HEAD;
	manifest.size = lnc_le32(data + 1) < size - FUZZ_HEAD ? lnc_le32(data + 1) : size - FUZZ_HEAD;
	deletions = (LncSlice){manifest.data + manifest.size, size - FUZZ_HEAD - manifest.size};
	lnc_context_init(&ctx, &env);
	arena = lnc_arena_create(&env);
	if (lnc_store_open(&ctx, arena, "memory://fuzz", &config, &store) != LNC_OK ||
		lnc_store_put(&ctx, store, options.manifest_key, manifest) != LNC_OK)
		abort();
	if (lnc_dataset_open(&ctx, arena, store, &options, &dataset) == LNC_OK)
	{
		for (int32_t i = 0; i < dataset->nfragments && i < FUZZ_MAX_FRAGMENTS; i++)
			read_deletions(&ctx, arena, store, dataset, &dataset->fragments[i], deletions);
		count_live_rows(&ctx, arena, dataset);
	}
	lnc_arena_destroy(arena);
	return 0;
}
