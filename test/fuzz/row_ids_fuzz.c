/*
 * row_ids_fuzz.c
 *	  Fuzz target: the sequences of a fragment out of arbitrary bytes, read by offset and searched by id.
 *
 *	input	u8 kind (0 row ids, else row versions), u8 wanted rows less one; then the sequence
 *
 * A sequence of another length than the fragment is refused, so that the fragment is given the length that the refusal
 * names where it is a moderate one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/row_ids.h"
#include "fuzz.h"

#define MAX_ROWS 65536

/* The rows that the sequence has, as the error just recorded tells; 0 when it does not. */
static uint64_t
stated_rows(const LncContext *ctx)
{
	const char *has = strstr(ctx->error.message, "rows has ");
	uint64_t rows = has == NULL ? 0 : strtoull(has + 9, NULL, 10);

	return rows <= MAX_ROWS ? rows : 0;
}

/* What is found by an id has that id. */
static void
check_index(LncContext *ctx, LncArena *arena, const LncDataset *dataset, uint64_t rows, const uint64_t *ids)
{
	LncRowIdIndex *index;

	if (lnc_row_id_index_open(ctx, arena, dataset, &index) != LNC_OK)
		return;
	for (uint64_t row = 0; row < rows; row += 1 + rows / 64)
	{
		uint64_t offset;
		int32_t fragment;
		bool found;

		if (lnc_row_id_index_find(ctx, index, ids[row], &found, &fragment, &offset) != LNC_OK)
			abort();
		if (!found || fragment != 0 || offset >= rows || ids[offset] != ids[row])
			abort();
	}
}

static void
read_ids(LncContext *ctx, LncArena *arena, LncDataset *dataset, LncFragment *fragment)
{
	LncRowIds *ids;
	uint64_t *all;
	uint64_t *part;

	if (lnc_row_ids_open(ctx, arena, dataset, fragment, &ids) != LNC_OK)
	{
		fragment->physical_rows = stated_rows(ctx);
		if (fragment->physical_rows == 0 || lnc_row_ids_open(ctx, arena, dataset, fragment, &ids) != LNC_OK)
			return;
	}
	all = malloc(fragment->physical_rows * sizeof(*all));
	part = malloc(fragment->physical_rows * sizeof(*part));
	lnc_row_ids_fill(ids, 0, fragment->physical_rows, all);
	for (uint64_t first = 0; first < fragment->physical_rows; first += 1 + fragment->physical_rows / 16)
	{
		uint64_t count = fragment->physical_rows - first;

		lnc_row_ids_fill(ids, first, count, part);
		if (memcmp(part, all + first, count * sizeof(*part)) != 0)
			abort();
	}
	check_index(ctx, arena, dataset, fragment->physical_rows, all);
	free(all);
	free(part);
}

static void
read_versions(LncContext *ctx, LncArena *arena, const LncDataset *dataset, LncFragment *fragment)
{
	LncVersionRuns runs;
	uint64_t *all;

	if (lnc_row_versions_open(ctx, arena, dataset, fragment, LNC_ROW_CREATED, &runs) != LNC_OK)
	{
		fragment->physical_rows = stated_rows(ctx);
		if (fragment->physical_rows == 0 ||
			lnc_row_versions_open(ctx, arena, dataset, fragment, LNC_ROW_CREATED, &runs) != LNC_OK)
			return;
	}
	all = malloc(fragment->physical_rows * sizeof(*all));
	lnc_row_versions_fill(&runs, 0, fragment->physical_rows, all);
	lnc_row_versions_fill(&runs, fragment->physical_rows / 2, 1, all);
	free(all);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const LncStoreConfig config;
	LncFragment fragment = {.id = 1};
	LncDataset dataset = {.manifest_key = "_versions/1.manifest", .stable_row_ids = true, .nfragments = 1};
	LncEnv env = fuzz_env();
	LncContext ctx;
	LncArena *arena;

	if (size < 2)
		return 0;
	lnc_context_init(&ctx, &env);
	arena = lnc_arena_create(&env);
	if (arena == NULL || lnc_store_open(&ctx, arena, "memory://fuzz", &config, &dataset.store) != LNC_OK)
		abort();
	dataset.fragments = &fragment;
	fragment.physical_rows = (uint64_t)data[1] + 1;
	fragment.row_ids = (LncSlice){.data = data + 2, .size = size - 2};
	fragment.created_versions = fragment.row_ids;
	if (data[0] == 0)
		read_ids(&ctx, arena, &dataset, &fragment);
	else
		read_versions(&ctx, arena, &dataset, &fragment);
	lnc_arena_destroy(arena);
	return 0;
}
