/*
 * table_stats.c
 *	  Counting what a version holds.
 */
#include "dataset/table_stats.h"

#include <stdlib.h>
#include <string.h>

#include "dataset/inspect.h"
#include "dataset/manifest.h"
#include "proto/unpack.h"

/* The walk over fragments. */
typedef struct Count
{
	LncArena *scratch;
	const LncDataset *dataset;
	uint64_t *lengths; /* live rows, by fragment */
	size_t n;
	LncTableStats *stats;
} Count;

/* Add the bytes of a data file of which the manifest does not say the size. */
static LncCode
add_unknown_size(LncContext *ctx, Count *count, const LncDataFile *file)
{
	LncStore *store;
	char *key;
	uint64_t size;

	LNC_TRY(lnc_dataset_locate(ctx, count->scratch, count->dataset, file->has_base, file->base_id, "data",
							   file->path, &store, &key));
	LNC_TRY(lnc_store_size(ctx, store, key, &size));
	if (lnc_add_overflow(count->stats->bytes, size, &count->stats->bytes))
		return lnc_fail(ctx, LNC_CORRUPT, "data files are said to be too large");
	return LNC_OK;
}

static LncCode
count_fragment(LncContext *ctx, void *arg, const LncFragmentFacts *facts)
{
	Count *count = arg;
	LncTableStats *stats = count->stats;
	uint64_t live = facts->fragment->physical_rows - facts->deleted_rows;

	count->lengths[count->n++] = live;
	stats->fragments++;
	if (live < LNC_SMALL_FRAGMENT)
		stats->small_fragments++;
	if (lnc_add_overflow(stats->rows, live, &stats->rows))
		return lnc_fail(ctx, LNC_CORRUPT, "number of rows of the dataset is too large");
	for (int32_t i = 0; i < facts->fragment->nfiles; i++)
	{
		const LncDataFile *file = &facts->fragment->files[i];

		if (file->size == 0)
			LNC_TRY(add_unknown_size(ctx, count, file));
		else if (lnc_add_overflow(stats->bytes, file->size, &stats->bytes))
			return lnc_fail(ctx, LNC_CORRUPT, "data files are said to be too large");
	}
	lnc_arena_reset(count->scratch);
	return LNC_OK;
}

static int
compare_lengths(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a;
	uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void
summarize(uint64_t *lengths, size_t n, uint64_t rows, LncLengthStats *out)
{
	if (n == 0)
		return;
	qsort(lengths, n, sizeof(*lengths), compare_lengths);
	out->min = lengths[0];
	out->max = lengths[n - 1];
	out->mean = rows / n;
	out->p25 = lengths[(n - 1) * 25 / 100];
	out->p50 = lengths[(n - 1) * 50 / 100];
	out->p75 = lengths[(n - 1) * 75 / 100];
	out->p99 = lengths[(n - 1) * 99 / 100];
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* An index of several segments is listed several times under its name. */
static LncCode
count_indices(LncContext *ctx, LncArena *arena, const LncDataset *dataset, uint64_t *out)
{
	const Lance__Table__IndexSection *section;
	Lance__Table__Manifest *manifest;
	ProtobufCMessage *message;
	const char **names;
	size_t n = 0;
	LncSlice bytes;

	LNC_TRY(lnc_manifest_read(ctx, arena, dataset->store, dataset->manifest_key, &manifest));
	if (manifest->index_section_presence_case == 0)
		return LNC_OK;
	LNC_TRY(lnc_manifest_read_section(ctx, arena, dataset->store, dataset->manifest_key, manifest->index_section,
									  &bytes));
	LNC_TRY(
		lnc_proto_unpack(ctx, arena, &lance__table__index_section__descriptor, bytes, "list of indices", &message));
	section = (const Lance__Table__IndexSection *)message;
	LNC_TRY(LNC_NEW(ctx, arena, &names, section->n_indices));
	for (size_t i = 0; i < section->n_indices; i++)
	{
		if (strncmp(section->indices[i]->name, "__lance_", 8) != 0)
			names[n++] = section->indices[i]->name;
	}
	if (n > 1)
		qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 0; i < n; i++)
	{
		if (i == 0 || strcmp(names[i - 1], names[i]) != 0)
			++*out;
	}
	return LNC_OK;
}

static LncCode
collect(LncContext *ctx, LncArena *arena, Count *count)
{
	LNC_TRY(lnc_arena_create_child(ctx, arena, &count->scratch));
	LNC_TRY(LNC_NEW(ctx, arena, &count->lengths, count->dataset->nfragments));
	LNC_TRY(lnc_inspect_fragments(ctx, count->dataset, count_fragment, count));
	summarize(count->lengths, count->n, count->stats->rows, &count->stats->lengths);
	return count_indices(ctx, arena, count->dataset, &count->stats->indices);
}

LncCode
lnc_table_stats(LncContext *ctx, const LncDataset *dataset, LncTableStats *out)
{
	Count count = {.dataset = dataset, .stats = out};
	LncArena *arena;
	LncCode code;

	memset(out, 0, sizeof(*out));
	LNC_TRY(lnc_arena_create_scratch(ctx, &arena));
	code = collect(ctx, arena, &count);
	lnc_arena_destroy(arena);
	return code;
}
