/*
 * take.c
 *	  Keys to rows of fragments, read fragment by fragment and put back into the order of the keys.
 */
#include "scan/take.h"

#include <stdlib.h>
#include <string.h>

#include "column/blob.h"
#include "dataset/live_rows.h"
#include "dataset/row_ids.h"
#include "scan/fragment.h"
#include "scan/scan.h"

#define DEFAULT_BATCH_ROWS 1024

/*
 * Rows of the first batch, and over the network, where each batch takes some trips; later ones become larger or smaller by how
 * much memory the last one took.
 */
#define FIRST_BATCH_ROWS 128
#define FIRST_FAR_ROWS 512

/* Fragments whose files stay open. */
#define OPEN_FRAGMENTS 16

/* An open fragment. */
typedef struct OpenFragment
{
	LncArena *arena;
	int32_t index; /* -1: none */
	uint64_t used; /* when, in calls */
	LncFragmentReader *reader;
	LncSystemSource *system;
} OpenFragment;

struct LncTake
{
	LncArena *arena;           /* what is kept */
	const LncDataset *dataset; /* borrowed */
	LncTakeBy by;
	int32_t ncolumns;
	int32_t *columns;
	uint32_t system_columns;
	bool has_blobs;
	int64_t batch_rows;
	uint64_t batch_bytes;
	int64_t next_rows; /* of the batch to come */
	LncLiveRows *live; /* made when first needed, as is ids */
	LncRowIdIndex *ids;

	size_t nkeys;
	const uint64_t *keys; /* borrowed */
	size_t next_key;
	LncBudget budget;      /* of all that is taken; its limit is that of the batch */
	LncArena *batch_arena; /* limited: the batch handed out */
	OpenFragment open[OPEN_FRAGMENTS];
	uint64_t clock;
	LncTakeStats stats;
};

/* A row that a key has led to. */
typedef struct Place
{
	int32_t fragment;
	uint64_t offset;
	int64_t at; /* its place in the batch */
} Place;

static bool
holds_blobs(const LncType *type)
{
	if (lnc_type_is_blob(type))
		return true;
	for (int32_t i = 0; i < type->nchildren; i++)
		if (holds_blobs(&type->children[i].type))
			return true;
	return false;
}

LncCode
lnc_take_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncTakeSpec *spec, LncTake **out)
{
	LncTake *take;

	if (spec->ncolumns < 0 || spec->batch_rows < 0)
		return lnc_fail(ctx, LNC_INVALID, "take specification holds a negative number");
	LNC_TRY(lnc_fragment_check_columns(ctx, arena, dataset, spec->ncolumns, spec->columns));
	LNC_TRY(LNC_NEW(ctx, arena, &take, 1));
	LNC_TRY(LNC_NEW(ctx, arena, &take->columns, spec->ncolumns));
	take->dataset = dataset;
	take->by = spec->by;
	take->ncolumns = spec->ncolumns;
	take->system_columns = spec->system_columns & LNC_SYSTEM_ALL;
	take->batch_rows = spec->batch_rows == 0 ? DEFAULT_BATCH_ROWS : spec->batch_rows;
	take->batch_bytes = spec->batch_bytes == 0 ? LNC_SCAN_BATCH_BYTES : spec->batch_bytes;
	take->next_rows = lnc_store_near(dataset->store) ? FIRST_BATCH_ROWS : FIRST_FAR_ROWS;
	if (take->next_rows > take->batch_rows)
		take->next_rows = take->batch_rows;
	for (int32_t i = 0; i < spec->ncolumns; i++)
	{
		take->columns[i] = spec->columns[i];
		take->has_blobs |= holds_blobs(&dataset->schema.fields[spec->columns[i]].type);
	}
	LNC_TRY(lnc_budget_keep_blocks(ctx, arena, &take->budget, LNC_SPARE_BYTES));
	LNC_TRY(lnc_arena_create_child(ctx, arena, &take->arena));
	LNC_TRY(lnc_arena_create_child(ctx, arena, &take->batch_arena));
	lnc_arena_count(take->arena, &take->budget);
	lnc_arena_count(take->batch_arena, &take->budget);
	lnc_arena_limit(take->batch_arena);
	for (int i = 0; i < OPEN_FRAGMENTS; i++)
		take->open[i].index = -1;
	*out = take;
	return LNC_OK;
}

LncCode
lnc_take_start(LncContext *ctx, LncTake *take, size_t nkeys, const uint64_t *keys)
{
	LNC_TRY(lnc_check_interrupt(ctx));
	lnc_arena_reset(take->batch_arena);
	take->nkeys = nkeys;
	take->keys = keys;
	take->next_key = 0;
	return LNC_OK;
}

/* ---- keys ---- */

static LncCode
locate(LncContext *ctx, LncTake *take, uint64_t key, bool *found, Place *place)
{
	if (take->by == LNC_TAKE_ROW_ID && take->dataset->stable_row_ids)
	{
		if (take->ids == NULL)
			LNC_TRY(lnc_row_id_index_open(ctx, take->arena, take->dataset, &take->ids));
		return lnc_row_id_index_find(ctx, take->ids, key, found, &place->fragment, &place->offset);
	}
	if (take->live == NULL)
		LNC_TRY(lnc_live_rows_open(ctx, take->arena, take->dataset, &take->live));
	if (take->by == LNC_TAKE_POSITION)
		return lnc_live_rows_at_position(ctx, take->live, key, found, &place->fragment, &place->offset);
	return lnc_live_rows_at_address(ctx, take->live, key, found, &place->fragment, &place->offset);
}

/* The places of the rows of the next batch, and which keys they answer. *n: how many. */
static LncCode
locate_rows(LncContext *ctx, LncTake *take, Place *places, int64_t *which, int64_t *n)
{
	*n = 0;
	for (; take->next_key < take->nkeys && *n < take->next_rows; take->next_key++)
	{
		Place *place = &places[*n];
		bool found;

		LNC_TRY(locate(ctx, take, take->keys[take->next_key], &found, place));
		if (!found)
		{
			take->stats.absent++;
			continue;
		}
		/* The source of blobs is one for a whole column. */
		if (take->has_blobs && *n > 0 && place->fragment != places[0].fragment)
			break;
		place->at = *n;
		which[(*n)++] = (int64_t)take->next_key;
	}
	return LNC_OK;
}

static int
compare_places(const void *a, const void *b)
{
	const Place *x = a;
	const Place *y = b;

	if (x->fragment != y->fragment)
		return x->fragment < y->fragment ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* ---- fragments ---- */

static LncCode
open_fragment(LncContext *ctx, LncTake *take, int32_t index, OpenFragment **out)
{
	const LncFragment *fragment = &take->dataset->fragments[index];
	OpenFragment *slot = &take->open[0];

	take->clock++;
	for (int i = 0; i < OPEN_FRAGMENTS; i++)
	{
		if (take->open[i].index == index)
		{
			take->open[i].used = take->clock;
			*out = &take->open[i];
			return LNC_OK;
		}
		if (take->open[i].used < slot->used)
			slot = &take->open[i];
	}
	slot->index = -1;
	slot->used = 0;
	if (slot->arena == NULL)
		LNC_TRY(lnc_arena_create_child(ctx, take->arena, &slot->arena));
	lnc_arena_reset(slot->arena);
	LNC_TRY(lnc_fragment_reader_open(ctx, slot->arena, take->dataset, fragment, take->ncolumns, take->columns,
									 &take->stats.blobs, &slot->reader));
	if (take->system_columns != 0)
		LNC_TRY(
			lnc_system_source_open(ctx, slot->arena, take->dataset, fragment, take->system_columns, &slot->system));
	slot->index = index;
	slot->used = take->clock;
	take->stats.fragments++;
	*out = slot;
	return LNC_OK;
}

/* Distinct rows of one fragment, ascending, and what is made of them. */
typedef struct Part
{
	int64_t count;
	uint64_t *offsets;
	size_t nruns;
	LncRowRun *runs; /* the same */
} Part;

/*
 * The part that the places begin with, which are sorted. *used: how many belong to it. order[at] becomes the number of
 * the row in the part, counted from base.
 */
static LncCode
make_part(LncContext *ctx, LncArena *arena, int64_t n, const Place *places, int64_t base, int64_t *order,
		  Part *part, int64_t *used)
{
	int64_t i;

	memset(part, 0, sizeof(*part));
	LNC_TRY(LNC_NEW(ctx, arena, &part->offsets, n));
	LNC_TRY(LNC_NEW(ctx, arena, &part->runs, n));
	for (i = 0; i < n && places[i].fragment == places[0].fragment; i++)
	{
		uint64_t offset = places[i].offset;

		if (i == 0 || offset != places[i - 1].offset)
		{
			part->offsets[part->count++] = offset;
			if (i > 0 && offset == places[i - 1].offset + 1)
				part->runs[part->nruns - 1].count++;
			else
				part->runs[part->nruns++] = (LncRowRun){offset, 1};
		}
		order[places[i].at] = base + part->count - 1;
	}
	*used = i;
	return LNC_OK;
}

/* All columns of a part. */
static LncCode
read_part(LncContext *ctx, LncTake *take, int32_t index, const Part *part, LncColumn *columns)
{
	OpenFragment *fragment;

	LNC_TRY(open_fragment(ctx, take, index, &fragment));
	for (int32_t i = 0; i < take->ncolumns; i++)
		LNC_TRY(lnc_fragment_reader_take(ctx, fragment->reader, take->batch_arena, i, part->nruns, part->runs,
										 (uint64_t)part->count, &columns[i]));
	if (take->system_columns == 0)
		return LNC_OK;
	return lnc_system_source_take(ctx, take->batch_arena, fragment->system, part->count, part->offsets,
								  columns + take->ncolumns);
}

/* Whether order is 0, 1, 2 … */
static bool
is_plain(int64_t n, const int64_t *order, int64_t count)
{
	for (int64_t i = 0; i < n; i++)
		if (order[i] != i)
			return false;
	return n == count;
}

/* The columns of n rows at the places, which are sorted here. */
static LncCode
read_rows(LncContext *ctx, LncTake *take, int64_t n, Place *places, LncBatch *batch)
{
	LncArena *arena = take->batch_arena;
	int32_t nparts = 0;
	int64_t count = 0; /* distinct rows so far */
	int64_t *order;
	LncColumn *parts; /* by part, then column */
	LncColumn *joined;

	qsort(places, (size_t)n, sizeof(*places), compare_places);
	for (int64_t i = 0; i < n; i++)
		nparts += i == 0 || places[i].fragment != places[i - 1].fragment;
	LNC_TRY(LNC_NEW(ctx, arena, &order, n));
	LNC_TRY(LNC_NEW(ctx, arena, &parts, (int64_t)nparts * batch->ncolumns));
	LNC_TRY(LNC_NEW(ctx, arena, &joined, nparts));
	nparts = 0;
	for (int64_t i = 0; i < n; nparts++)
	{
		int64_t used;
		Part part;

		LNC_TRY(make_part(ctx, arena, n - i, places + i, count, order, &part, &used));
		LNC_TRY(read_part(ctx, take, places[i].fragment, &part, parts + (int64_t)nparts * batch->ncolumns));
		count += part.count;
		i += used;
	}
	for (int32_t c = 0; c < batch->ncolumns; c++)
	{
		LncColumn whole;

		for (int32_t p = 0; p < nparts; p++)
			joined[p] = parts[(int64_t)p * batch->ncolumns + c];
		LNC_TRY(lnc_column_concat(ctx, arena, nparts, joined, &whole));
		if (is_plain(n, order, count))
			batch->columns[c] = whole;
		else
			LNC_TRY(lnc_column_take(ctx, arena, &whole, n, order, &batch->columns[c]));
	}
	return LNC_OK;
}

/* ---- batches ---- */

/* The batch of the next keys, up to next_rows of them; *out NULL: none are left. */
static LncCode
read_batch(LncContext *ctx, LncTake *take, LncTaken **out)
{
	size_t left = take->nkeys - take->next_key;
	int64_t most = left < (uint64_t)take->next_rows ? (int64_t)left : take->next_rows;
	LncTaken *taken;
	Place *places;
	int64_t *which;
	int64_t n;

	*out = NULL;
	LNC_TRY(LNC_NEW(ctx, take->batch_arena, &taken, 1));
	LNC_TRY(LNC_NEW(ctx, take->batch_arena, &places, most));
	LNC_TRY(LNC_NEW(ctx, take->batch_arena, &which, most));
	taken->which = which;
	taken->batch.ncolumns = take->ncolumns + __builtin_popcount(take->system_columns);
	LNC_TRY(LNC_NEW(ctx, take->batch_arena, &taken->batch.columns, taken->batch.ncolumns));
	LNC_TRY(locate_rows(ctx, take, places, which, &n));
	if (n == 0)
		return LNC_OK;
	if (taken->batch.ncolumns > 0)
		LNC_TRY(read_rows(ctx, take, n, places, &taken->batch));
	taken->batch.length = n;
	*out = taken;
	return LNC_OK;
}

/* Fit the next batch to the memory that this one of n rows has taken: half of the bound is aimed at. */
static void
fit_rows(LncTake *take, int64_t n)
{
	double bytes = (double)take->budget.limited_peak;
	double aim = (double)take->batch_bytes / 2;

	if (take->next_rows > 1 && take->budget.limited_peak > take->stats.batch_peak)
		take->stats.batch_peak = take->budget.limited_peak;
	if (bytes > aim)
		take->next_rows = (int64_t)((double)n * (aim / bytes));
	else if (bytes < aim / 4 && n == take->next_rows)
		take->next_rows = n * 2;
	if (take->next_rows > take->batch_rows)
		take->next_rows = take->batch_rows;
	if (take->next_rows < 1)
		take->next_rows = 1;
}

/* As read_batch, with ever fewer rows until they take no more memory than they may. */
static LncCode
fit_batch(LncContext *ctx, LncTake *take, LncTaken **out)
{
	size_t first = take->next_key;
	uint64_t absent = take->stats.absent;

	for (;;)
	{
		LncCode code;

		LNC_TRY(lnc_check_interrupt(ctx));
		lnc_arena_reset(take->batch_arena);
		take->budget.refused = false;
		take->budget.limited_peak = take->budget.limited;
		take->budget.limit = take->next_rows > 1 ? take->batch_bytes : SIZE_MAX;
		code = read_batch(ctx, take, out);
		if (code == LNC_OK)
			return LNC_OK;
		/* A caller who asks again meets the same keys again. */
		take->next_key = first;
		take->stats.absent = absent;
		if (!take->budget.refused)
			return code;
		if ((uint64_t)take->next_rows > take->nkeys - first)
			take->next_rows = (int64_t)(take->nkeys - first);
		take->next_rows = take->next_rows > 1 ? take->next_rows / 2 : 1;
		take->stats.retries++;
	}
}

LncCode
lnc_take_next(LncContext *ctx, LncTake *take, const LncTaken **out)
{
	LncBudget *outer = ctx->budget;
	LncTaken *taken = NULL;
	LncCode code;

	*out = NULL;
	ctx->budget = &take->budget;
	code = fit_batch(ctx, take, &taken);
	ctx->budget = outer;
	LNC_TRY(code);
	if (taken == NULL)
		return LNC_OK;
	take->stats.batches++;
	take->stats.rows += (uint64_t)taken->batch.length;
	fit_rows(take, taken->batch.length);
	*out = taken;
	return LNC_OK;
}

void
lnc_take_stats(const LncTake *take, LncTakeStats *out)
{
	*out = take->stats;
	out->memory_peak = take->budget.peak;
}
