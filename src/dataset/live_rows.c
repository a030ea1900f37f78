/*
 * live_rows.c
 *	  Addresses and positions to rows of fragments, deleted rows left out.
 */
#include "dataset/live_rows.h"

#include <stdlib.h>

#include "dataset/deletion.h"

/* Deletions of one fragment. */
typedef struct FragmentDeletions
{
	LncDeletions set;
	uint64_t *before; /* array of set.nranges + 1: deleted rows in the ranges before each; made when first needed */
} FragmentDeletions;

/* A fragment by its id. */
typedef struct Numbered
{
	uint64_t id;
	int32_t index;
} Numbered;

struct LncLiveRows
{
	const LncDataset *dataset; /* borrowed, as is arena */
	LncArena *arena;
	FragmentDeletions **deletions; /* by fragment; NULL: not read yet */
	Numbered *by_id;               /* fragments in the order of their ids; made when first needed */
	uint64_t *starts;              /* array of nfragments + 1: live rows before each fragment; likewise */
};

LncCode
lnc_live_rows_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset, LncLiveRows **out)
{
	LncLiveRows *rows;

	LNC_TRY(LNC_NEW(ctx, arena, &rows, 1));
	LNC_TRY(LNC_NEW(ctx, arena, &rows->deletions, dataset->nfragments));
	rows->dataset = dataset;
	rows->arena = arena;
	*out = rows;
	return LNC_OK;
}

static LncCode
deletions_of(LncContext *ctx, LncLiveRows *rows, int32_t fragment, FragmentDeletions **out)
{
	FragmentDeletions **slot = &rows->deletions[fragment];

	if (*slot == NULL)
	{
		FragmentDeletions *deletions;

		LNC_TRY(LNC_NEW(ctx, rows->arena, &deletions, 1));
		LNC_TRY(lnc_deletion_read(ctx, rows->arena, rows->dataset, &rows->dataset->fragments[fragment],
								  &deletions->set));
		*slot = deletions;
	}
	*out = *slot;
	return LNC_OK;
}

LncCode
lnc_live_rows_check(LncContext *ctx, LncLiveRows *rows, int32_t fragment, uint64_t offset, bool *live)
{
	FragmentDeletions *deletions;
	size_t low = 0;
	size_t high;

	LNC_TRY(deletions_of(ctx, rows, fragment, &deletions));
	high = deletions->set.nranges;
	while (low < high)
	{
		size_t middle = low + (high - low) / 2;

		if (deletions->set.ranges[middle].last < offset)
			low = middle + 1;
		else
			high = middle;
	}
	*live = low == deletions->set.nranges || deletions->set.ranges[low].first > offset;
	return LNC_OK;
}

/* ---- by address ---- */

static int
compare_ids(const void *a, const void *b)
{
	uint64_t x = ((const Numbered *)a)->id;
	uint64_t y = ((const Numbered *)b)->id;

	return x < y ? -1 : x > y;
}

/* The fragment of that id, -1 when there is none. */
static LncCode
find_fragment(LncContext *ctx, LncLiveRows *rows, uint64_t id, int32_t *fragment)
{
	int32_t n = rows->dataset->nfragments;
	int32_t low = 0;
	int32_t high = n;

	if (rows->by_id == NULL)
	{
		LNC_TRY(LNC_NEW(ctx, rows->arena, &rows->by_id, n));
		for (int32_t i = 0; i < n; i++)
			rows->by_id[i] = (Numbered){rows->dataset->fragments[i].id, i};
		qsort(rows->by_id, (size_t)n, sizeof(*rows->by_id), compare_ids);
	}
	while (low < high)
	{
		int32_t middle = low + (high - low) / 2;

		if (rows->by_id[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	*fragment = low < n && rows->by_id[low].id == id ? rows->by_id[low].index : -1;
	return LNC_OK;
}

LncCode
lnc_live_rows_at_address(LncContext *ctx, LncLiveRows *rows, uint64_t address, bool *found, int32_t *fragment,
						 uint64_t *offset)
{
	*found = false;
	LNC_TRY(lnc_check_interrupt(ctx));
	LNC_TRY(find_fragment(ctx, rows, address >> 32, fragment));
	*offset = address & UINT32_MAX;
	if (*fragment < 0 || *offset >= rows->dataset->fragments[*fragment].physical_rows)
		return LNC_OK;
	return lnc_live_rows_check(ctx, rows, *fragment, *offset, found);
}

/* ---- by position ---- */

static LncCode
make_starts(LncContext *ctx, LncLiveRows *rows)
{
	const LncDataset *dataset = rows->dataset;
	uint64_t *starts;

	if (rows->starts != NULL)
		return LNC_OK;
	LNC_TRY(LNC_NEW(ctx, rows->arena, &starts, (size_t)dataset->nfragments + 1));
	for (int32_t i = 0; i < dataset->nfragments; i++)
	{
		const LncFragment *fragment = &dataset->fragments[i];
		uint64_t deleted = fragment->deleted_rows;

		LNC_TRY(lnc_check_interrupt(ctx));
		if (fragment->deletion_kind != LNC_DELETION_NONE && deleted == 0)
		{
			FragmentDeletions *deletions;

			LNC_TRY(deletions_of(ctx, rows, i, &deletions));
			deleted = deletions->set.count;
		}
		if (lnc_add_overflow(starts[i], fragment->physical_rows - deleted, &starts[i + 1]))
			return lnc_fail(ctx, LNC_CORRUPT, "number of rows of the dataset is too large");
	}
	rows->starts = starts;
	return LNC_OK;
}

/* The offset of the live row that comes after n others in its fragment. */
static LncCode
nth_live(LncContext *ctx, LncLiveRows *rows, int32_t fragment, uint64_t n, uint64_t *offset)
{
	FragmentDeletions *deletions;
	size_t low = 0;
	size_t high;

	LNC_TRY(deletions_of(ctx, rows, fragment, &deletions));
	high = deletions->set.nranges;
	if (deletions->before == NULL)
	{
		uint64_t *before;

		LNC_TRY(LNC_NEW(ctx, rows->arena, &before, high + 1));
		for (size_t i = 0; i < high; i++)
			before[i + 1] =
				before[i] + ((uint64_t)deletions->set.ranges[i].last - deletions->set.ranges[i].first + 1);
		deletions->before = before;
	}

	/* A range lies before the row when no more than n live rows do so before the range. */
	while (low < high)
	{
		size_t middle = low + (high - low) / 2;

		if (deletions->set.ranges[middle].first - deletions->before[middle] <= n)
			low = middle + 1;
		else
			high = middle;
	}
	*offset = n + deletions->before[low];
	return LNC_OK;
}

LncCode
lnc_live_rows_at_position(LncContext *ctx, LncLiveRows *rows, uint64_t position, bool *found, int32_t *fragment,
						  uint64_t *offset)
{
	int32_t low = 0;
	int32_t high = rows->dataset->nfragments;

	LNC_TRY(lnc_check_interrupt(ctx));
	LNC_TRY(make_starts(ctx, rows));
	*found = position < rows->starts[high];
	if (!*found)
		return LNC_OK;

	/* The last fragment that starts at the position or before. */
	while (high - low > 1)
	{
		int32_t middle = low + (high - low) / 2;

		if (rows->starts[middle] <= position)
			low = middle;
		else
			high = middle;
	}
	*fragment = low;
	return nth_live(ctx, rows, low, position - rows->starts[low], offset);
}
