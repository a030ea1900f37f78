/*
 * manifest_fuzz.c
 *	  Fuzz target: a manifest, the file of the only version of a dataset, shown as the inspection functions show it.
 */
#include <stdlib.h>
#include <string.h>

#include "arrow/json_schema.h"
#include "base/json.h"
#include "dataset/inspect.h"
#include "dataset/operation.h"
#include "fuzz.h"

static const LncStoreConfig config;

static LncCode
see_version(LncContext *ctx, void *arg, const LncVersionFacts *facts)
{
	(void)ctx;
	*(uint64_t *)arg += strlen(facts->manifest_key) + (facts->operation != NULL ? strlen(facts->operation) : 0);
	return LNC_OK;
}

static LncCode
see_fragment(LncContext *ctx, void *arg, const LncFragmentFacts *facts)
{
	(void)ctx;
	for (int32_t i = 0; i < facts->fragment->nfiles; i++)
		*(uint64_t *)arg += strlen(facts->fragment->files[i].path);
	return LNC_OK;
}

static LncCode
see_field(LncContext *ctx, void *arg, const LncFieldFacts *facts)
{
	(void)ctx;
	if (facts->npath < 1)
		abort();
	*(uint64_t *)arg += strlen(facts->path[facts->npath - 1]) + strlen(facts->type);
	return LNC_OK;
}

static LncCode
see_page(LncContext *ctx, void *arg, const LncPageFacts *facts)
{
	(void)ctx;
	(void)arg;
	(void)facts;
	abort(); /* there are no data files */
}

/* What a namespace tells of the schema is JSON. */
static void
check_schema(LncContext *ctx, LncArena *arena, const LncSchema *schema)
{
	const LncJson *value;
	LncSlice text;

	if (lnc_arrow_schema_json(ctx, arena, schema, &text) == LNC_OK && lnc_json_parse(ctx, arena, text, &value) != LNC_OK &&
		ctx->error.code != LNC_LIMIT)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LncEnv env = fuzz_env();
	LncDatasetOptions options = {0};
	LncSlice manifest = {data, size};
	LncContext ctx;
	LncArena *arena;
	LncStore *store;
	LncDataset *dataset;
	uint64_t removed;
	uint64_t seen = 0;

	lnc_context_init(&ctx, &env);
	arena = lnc_arena_create(&env);
	(void)lnc_operation_name(manifest);
	if (lnc_store_open(&ctx, arena, "memory://fuzz", &config, &store) != LNC_OK ||
		lnc_store_delete_prefix(&ctx, store, "", &removed) != LNC_OK ||
		lnc_store_put(&ctx, store, "_versions/18446744073709551614.manifest", manifest) != LNC_OK)
		abort();
	if (lnc_inspect_versions(&ctx, store, NULL, see_version, &seen) == LNC_OK && seen == 0)
		abort();
	if (lnc_dataset_open(&ctx, arena, store, &options, &dataset) == LNC_OK)
	{
		(void)!lnc_inspect_fragments(&ctx, dataset, see_fragment, &seen);
		(void)!lnc_inspect_fields(&ctx, dataset, see_field, &seen);
		(void)!lnc_inspect_pages(&ctx, dataset, -1, see_page, NULL);
		check_schema(&ctx, arena, &dataset->schema);
	}
	lnc_arena_destroy(arena);
	return 0;
}
