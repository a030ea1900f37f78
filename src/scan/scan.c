/*
 * scan.c
 *	  The scan over fragments: deleted rows left out, batches cut.
 */
#include "scan/scan.h"

#include <math.h>
#include <string.h>

#include "dataset/deletion.h"
#include "scan/fragment.h"

#define DEFAULT_BATCH_ROWS 4096

/* Rows of the first batch; the next ones grow by the factor until they are as large as they may be. */
#define FIRST_BATCH_ROWS 64
#define BATCH_GROWTH 4

/* A batch of more rows than these is to be no larger than what stays in a processor's cache until it has been used. */
#define CACHED_ROWS 256
#define CACHED_BYTES (768 * 1024.0)

struct LncScan
{
	const LncDataset *dataset; /* borrowed */
	int32_t ncolumns;
	int32_t *columns;           /* indexes of top-level fields */
	const LncType **types;      /* array of ncolumns; of the schema */
	const LncPredicate *filter; /* NULL: none; borrowed */
	bool *filters;              /* array of ncolumns: the filter looks at that column */
	bool *presence;             /* array of ncolumns: as in LncScanSpec */
	int32_t nhidden;
	uint32_t system_columns;
	int64_t batch_rows;
	uint64_t batch_bytes;

	LncBudget budget;         /* of all that the scan takes; its limit is that of the batch */
	LncArena *fragment_arena; /* files, readers and deletions of the fragment at hand */
	LncArena *batch_arena;    /* limited: the batch handed out */
	uint64_t step;            /* physical rows that the next batch tries to read: up to the next multiple of it */

	bool (*next_range)(void *range_arg, LncRowRange *out); /* NULL: all fragments, one after the other */
	void *range_arg;
	int32_t next_fragment; /* where all are read */
	bool has_range;
	LncRowRange range;           /* at hand, where has_range is set */
	bool range_started;          /* its fragment is open, and row is in it */
	const LncFragment *fragment; /* the one that is open; NULL: none */
	uint64_t row;                /* the first not yet looked at */
	LncDeletions deletions;
	size_t next_deletion; /* the first range that may reach row or beyond */
	LncFragmentReader *reader;
	LncSystemSource *system; /* NULL where no system column is wanted */
	LncScanStats stats;
};

/* Rows of a batch where so many would do: as many as there may be, or a power of two. */
static uint64_t
round_step(const LncScan *scan, double rows)
{
	if (rows >= (double)scan->batch_rows)
		return (uint64_t)scan->batch_rows;
	return rows < 2 ? 1 : UINT64_C(1) << ilogb(rows);
}

LncCode
lnc_scan_filter(LncContext *ctx, LncScan *scan, const LncPredicate *filter)
{
	scan->filter = NULL;
	memset(scan->filters, 0, (size_t)scan->ncolumns * sizeof(*scan->filters));
	LNC_TRY(lnc_predicate_check(ctx, filter, scan->ncolumns, scan->types));
	lnc_predicate_columns(filter, scan->filters);
	scan->filter = filter;
	return lnc_scan_rewind(ctx, scan);
}

LncCode
lnc_scan_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncScanSpec *spec, LncScan **out)
{
	LncScan *scan;

	if (spec->ncolumns < 0 || spec->batch_rows < 0 || spec->first_rows < 0 || spec->nhidden < 0 ||
		spec->nhidden > spec->ncolumns)
		return lnc_fail(ctx, LNC_INVALID, "scan specification holds a negative number");
	LNC_TRY(LNC_NEW(ctx, arena, &scan, 1));
	LNC_TRY(LNC_NEW(ctx, arena, &scan->columns, spec->ncolumns));
	scan->dataset = dataset;
	scan->ncolumns = spec->ncolumns;
	scan->system_columns = spec->system_columns & LNC_SYSTEM_ALL;
	scan->batch_rows = spec->batch_rows == 0 ? DEFAULT_BATCH_ROWS : spec->batch_rows;
	scan->batch_bytes = spec->batch_bytes == 0 ? LNC_SCAN_BATCH_BYTES : spec->batch_bytes;
	scan->next_range = spec->next_range;
	scan->range_arg = spec->range_arg;
	scan->step = round_step(scan, spec->first_rows == 0 ? FIRST_BATCH_ROWS : (double)spec->first_rows);
	LNC_TRY(lnc_fragment_check_columns(ctx, arena, dataset, spec->ncolumns, spec->columns));
	if (spec->ncolumns > 0)
		memcpy(scan->columns, spec->columns, (size_t)spec->ncolumns * sizeof(*scan->columns));
	LNC_TRY(lnc_budget_keep_blocks(ctx, arena, &scan->budget, LNC_SPARE_BYTES));
	LNC_TRY(lnc_arena_create_child(ctx, arena, &scan->fragment_arena));
	LNC_TRY(lnc_arena_create_child(ctx, arena, &scan->batch_arena));
	lnc_arena_count(scan->fragment_arena, &scan->budget);
	lnc_arena_count(scan->batch_arena, &scan->budget);
	lnc_arena_limit(scan->batch_arena);
	scan->nhidden = spec->nhidden;
	LNC_TRY(LNC_NEW(ctx, arena, &scan->filters, scan->ncolumns));
	LNC_TRY(LNC_NEW(ctx, arena, &scan->presence, scan->ncolumns));
	if (spec->presence != NULL && scan->ncolumns > 0)
		memcpy(scan->presence, spec->presence, (size_t)scan->ncolumns * sizeof(*scan->presence));
	LNC_TRY(LNC_NEW(ctx, arena, &scan->types, scan->ncolumns));
	for (int32_t i = 0; i < scan->ncolumns; i++)
		scan->types[i] = &dataset->schema.fields[scan->columns[i]].type;
	if (spec->filter != NULL)
		LNC_TRY(lnc_scan_filter(ctx, scan, spec->filter));
	*out = scan;
	return LNC_OK;
}

/* Open what the scan needs of scan->fragment. */
static LncCode
open_sources(LncContext *ctx, LncScan *scan)
{
	const LncFragment *fragment = scan->fragment;

	LNC_TRY(lnc_deletion_read(ctx, scan->fragment_arena, scan->dataset, fragment, &scan->deletions));
	if (scan->system_columns != 0)
		LNC_TRY(lnc_system_source_open(ctx, scan->fragment_arena, scan->dataset, fragment, scan->system_columns,
									   &scan->system));
	LNC_TRY(lnc_fragment_reader_open(ctx, scan->fragment_arena, scan->dataset, fragment, scan->ncolumns,
									 scan->columns, &scan->stats.blobs, &scan->reader));
	for (int32_t i = 0; i < scan->ncolumns; i++)
	{
		if (scan->presence[i] && !scan->filters[i])
			lnc_fragment_reader_skip_values(scan->reader, i);
	}
	return LNC_OK;
}

static LncCode
open_fragment(LncContext *ctx, LncScan *scan, const LncFragment *fragment)
{
	LncCode code;

	lnc_arena_reset(scan->fragment_arena);
	scan->fragment = fragment;
	code = open_sources(ctx, scan);
	if (code != LNC_OK)
	{
		/* A caller who asks again meets the same fragment again. */
		scan->fragment = NULL;
		return code;
	}
	scan->stats.fragments++;
	return LNC_OK;
}

/* The first range of deleted rows that may reach row or beyond. */
static size_t
find_deletion(const LncDeletions *deletions, uint64_t row)
{
	size_t low = 0;
	size_t high = deletions->nranges;

	while (low < high)
	{
		size_t middle = low + (high - low) / 2;

		if (deletions->ranges[middle].last < row)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Have a range at hand, its fragment open; *more is false when there are none left. */
static LncCode
start_range(LncContext *ctx, LncScan *scan, bool *more)
{
	const LncFragment *fragment;

	*more = scan->has_range;
	if (!*more && scan->next_range != NULL)
		*more = scan->next_range(scan->range_arg, &scan->range);
	else if (!*more && scan->next_fragment < scan->dataset->nfragments)
	{
		*more = true;
		scan->range.fragment = scan->next_fragment++;
		scan->range.first = 0;
		scan->range.count = scan->dataset->fragments[scan->range.fragment].physical_rows;
	}
	if (!*more)
		return LNC_OK;
	if (scan->range.fragment < 0 || scan->range.fragment >= scan->dataset->nfragments)
		return lnc_fail(ctx, LNC_INVALID, "scan names fragment %d of %d", (int)scan->range.fragment,
						(int)scan->dataset->nfragments);
	fragment = &scan->dataset->fragments[scan->range.fragment];
	if (!lnc_range_ok(scan->range.first, scan->range.count, fragment->physical_rows))
		return lnc_fail(ctx, LNC_INVALID, "scan names rows beyond those of a fragment");
	scan->has_range = true;
	if (scan->fragment != fragment)
	{
		LNC_TRY(open_fragment(ctx, scan, fragment));
		if (scan->range.first == 0 && scan->filter == NULL)
			LNC_TRY(lnc_fragment_reader_expect(ctx, scan->reader));
	}
	scan->row = scan->range.first;
	scan->next_deletion = find_deletion(&scan->deletions, scan->row);
	scan->range_started = true;
	return LNC_OK;
}

static void
end_range(LncScan *scan)
{
	const LncRowRange *range = &scan->range;
	uint64_t end = range->first + range->count;
	const LncDeletions *deletions = &scan->deletions;

	for (size_t at = find_deletion(deletions, range->first);
		 at < deletions->nranges && deletions->ranges[at].first < end; at++)
	{
		uint64_t first = deletions->ranges[at].first;
		uint64_t stop = (uint64_t)deletions->ranges[at].last + 1;

		scan->stats.rows_deleted += (stop < end ? stop : end) - (first > range->first ? first : range->first);
	}
	scan->has_range = false;
	scan->range_started = false;
}

/* The live rows of a window of rows, as runs. */
typedef struct Window
{
	uint64_t first; /* the first row to read: it is live */
	uint64_t count; /* rows to read; the last is live */
	int64_t live;
	int64_t *indices; /* the live ones, relative to first; NULL when all are */

	uint64_t next_row; /* where the scan goes on behind it, as in LncScan */
	size_t next_deletion;
} Window;

/*
 * Find the next window with live rows: leading deleted rows are skipped, at most step rows are read. It ends where a
 * multiple of step does, so that windows do not cut the chunks of pages, which are powers of two, more than need be.
 * window->live is 0 when the range has no more.
 */
static LncCode
next_window(LncContext *ctx, LncScan *scan, Window *window)
{
	const LncDeletions *deletions = &scan->deletions;
	const LncRoaringRange *ranges = deletions->ranges;
	uint64_t end = scan->range.first + scan->range.count;
	uint64_t stop;
	uint64_t dead = 0;
	size_t at;

	memset(window, 0, sizeof(*window));
	while (scan->next_deletion < deletions->nranges && ranges[scan->next_deletion].first <= scan->row)
	{
		scan->row = (uint64_t)ranges[scan->next_deletion].last + 1;
		scan->next_deletion++;
	}
	if (scan->row >= end)
		return LNC_OK;

	window->first = scan->row;
	stop = scan->step - scan->row % scan->step;
	stop = end - scan->row > stop ? scan->row + stop : end;
	for (at = scan->next_deletion; at < deletions->nranges && ranges[at].first < stop; at++)
	{
		/* A range that reaches the end of the window shortens it instead. */
		if ((uint64_t)ranges[at].last + 1 >= stop)
		{
			stop = ranges[at].first;
			break;
		}
		dead += (uint64_t)ranges[at].last - ranges[at].first + 1;
	}
	window->count = stop - window->first;
	window->live = (int64_t)(window->count - dead);
	if (dead > 0 && (scan->ncolumns > 0 || scan->system_columns != 0 || scan->filter != NULL))
	{
		uint64_t row = window->first;
		int64_t n = 0;

		LNC_TRY(LNC_NEW(ctx, scan->batch_arena, &window->indices, window->live));
		for (size_t i = scan->next_deletion; i < at; i++)
		{
			for (; row < ranges[i].first; row++)
				window->indices[n++] = (int64_t)(row - window->first);
			row = (uint64_t)ranges[i].last + 1;
		}
		for (; row < stop; row++)
			window->indices[n++] = (int64_t)(row - window->first);
	}
	window->next_deletion = at;
	window->next_row = stop;
	return LNC_OK;
}

/* Read the columns of the batch that the filter looks at, or the others unless they are hidden, for the live rows of the window. */
static LncCode
read_columns(LncContext *ctx, LncScan *scan, const Window *window, bool filters, LncBatch *batch)
{
	for (int32_t i = 0; i < scan->ncolumns; i++)
	{
		if (scan->filters[i] == filters && (filters || i < scan->ncolumns - scan->nhidden))
			LNC_TRY(lnc_fragment_reader_read(ctx, scan->reader, scan->batch_arena, i, window->first, window->count,
											 window->live, window->indices, &batch->columns[i]));
	}
	return LNC_OK;
}

/* Narrow the window to the rows chosen of its live ones, count of them, ascending. */
static LncCode
narrow_window(LncContext *ctx, LncScan *scan, Window *window, const int64_t *chosen, int64_t count)
{
	int64_t *indices;
	int64_t head;

	LNC_TRY(LNC_NEW(ctx, scan->batch_arena, &indices, (size_t)count));
	for (int64_t i = 0; i < count; i++)
		indices[i] = window->indices != NULL ? window->indices[chosen[i]] : chosen[i];
	head = indices[0];
	for (int64_t i = 0; i < count; i++)
		indices[i] -= head;
	window->first += (uint64_t)head;
	window->count = (uint64_t)indices[count - 1] + 1;
	window->live = count;
	window->indices = window->count == (uint64_t)count ? NULL : indices;
	return LNC_OK;
}

/* Leave only the rows that pass; *window is then the window of these. The columns of the filter have been read. */
static LncCode
apply_filter(LncContext *ctx, LncScan *scan, Window *window, LncBatch *batch)
{
	int64_t *chosen;
	int64_t count;

	LNC_TRY(
		lnc_predicate_choose(ctx, scan->batch_arena, scan->filter, batch->columns, batch->length, &chosen, &count));
	batch->length = count;
	if (chosen == NULL)
		return LNC_OK;
	LNC_TRY(narrow_window(ctx, scan, window, chosen, count));
	for (int32_t i = 0; i < scan->ncolumns - scan->nhidden; i++)
	{
		LncColumn taken;

		if (!scan->filters[i])
			continue;
		LNC_TRY(lnc_column_take(ctx, scan->batch_arena, &batch->columns[i], count, chosen, &taken));
		batch->columns[i] = taken;
	}
	return LNC_OK;
}

/*
 * A batch of the next rows of the range at hand; *out NULL: it has no more. The batch is empty when no row of the
 * window passes the filter.
 */
static LncCode
read_batch(LncContext *ctx, LncScan *scan, Window *window, LncBatch **out)
{
	Window chosen;
	LncBatch *batch;

	*out = NULL;
	LNC_TRY(next_window(ctx, scan, window));
	if (window->live == 0)
		return LNC_OK;
	LNC_TRY(LNC_NEW(ctx, scan->batch_arena, &batch, 1));
	batch->length = window->live;
	batch->ncolumns = scan->ncolumns + __builtin_popcount(scan->system_columns);
	LNC_TRY(LNC_NEW(ctx, scan->batch_arena, &batch->columns, batch->ncolumns));
	*out = batch;
	chosen = *window;
	if (scan->filter != NULL)
	{
		LNC_TRY(read_columns(ctx, scan, window, true, batch));
		LNC_TRY(apply_filter(ctx, scan, &chosen, batch));
		if (batch->length == 0)
			return LNC_OK;
	}
	LNC_TRY(read_columns(ctx, scan, &chosen, false, batch));
	for (int32_t i = scan->ncolumns - scan->nhidden; i < scan->ncolumns; i++)
		batch->columns[i] = lnc_column_absent(scan->types[i], batch->length);
	if (scan->system_columns != 0)
		LNC_TRY(lnc_system_source_read(ctx, scan->batch_arena, scan->system, chosen.first, chosen.count,
									   chosen.live, chosen.indices, &batch->columns[scan->ncolumns]));
	return LNC_OK;
}

/*
 * Rows for the next batch: as many as stay in the cache, or take half of what is allowed, if they are like those of the
 * window.
 */
static void
adapt_step(LncScan *scan, const Window *window)
{
	double row_bytes = (double)scan->budget.limited_peak / (double)window->count;
	double most = fmin((double)scan->batch_rows, (double)scan->step * BATCH_GROWTH);

	if (row_bytes > 0)
		most = fmin(most,
					fmin(fmax(CACHED_ROWS, CACHED_BYTES / row_bytes), (double)scan->batch_bytes / 2 / row_bytes));
	scan->step = round_step(scan, most);
}

/* As read_batch, with ever fewer rows until they take no more memory than they may. */
static LncCode
fit_batch(LncContext *ctx, LncScan *scan, LncBatch **out)
{
	for (;;)
	{
		Window window = {0};
		LncCode code;

		LNC_TRY(lnc_check_interrupt(ctx));
		lnc_arena_reset(scan->batch_arena);
		scan->budget.refused = false;
		scan->budget.limited_peak = scan->budget.limited;
		scan->budget.limit = scan->step > 1 ? scan->batch_bytes : SIZE_MAX;
		code = read_batch(ctx, scan, &window, out);
		if (code == LNC_OK && *out != NULL)
		{
			scan->row = window.next_row;
			scan->next_deletion = window.next_deletion;
			scan->stats.rows_filtered += (uint64_t)(window.live - (*out)->length);
			if (scan->step > 1 && scan->budget.limited_peak > scan->stats.batch_peak)
				scan->stats.batch_peak = scan->budget.limited_peak;
			adapt_step(scan, &window);
			if ((*out)->length == 0)
				continue;
		}
		if (code == LNC_OK || !scan->budget.refused)
			return code;
		scan->step = window.count > 1 ? round_step(scan, (double)window.count / 2) : 1;
		scan->stats.retries++;
	}
}

static LncCode
next_batch(LncContext *ctx, LncScan *scan, LncBatch **out)
{
	for (;;)
	{
		LNC_TRY(lnc_check_interrupt(ctx));
		if (!scan->range_started)
		{
			bool more;

			LNC_TRY(start_range(ctx, scan, &more));
			if (!more)
			{
				/* Others may want the files that are open for it. */
				lnc_arena_reset(scan->fragment_arena);
				scan->fragment = NULL;
				return LNC_OK;
			}
		}
		LNC_TRY(fit_batch(ctx, scan, out));
		if (*out != NULL)
			break;
		end_range(scan);
	}
	scan->stats.batches++;
	scan->stats.rows += (uint64_t)(*out)->length;
	return LNC_OK;
}

LncCode
lnc_scan_next(LncContext *ctx, LncScan *scan, const LncBatch **out)
{
	LncBudget *outer = ctx->budget;
	LncBatch *batch = NULL;
	LncCode code;

	lnc_arena_reset(scan->batch_arena);
	ctx->budget = &scan->budget;
	code = next_batch(ctx, scan, &batch);
	ctx->budget = outer;
	*out = code == LNC_OK ? batch : NULL;
	return code;
}

LncCode
lnc_scan_rewind(LncContext *ctx, LncScan *scan)
{
	LNC_TRY(lnc_check_interrupt(ctx));
	lnc_arena_reset(scan->batch_arena);
	lnc_arena_reset(scan->fragment_arena);
	scan->fragment = NULL;
	scan->next_fragment = 0;
	scan->has_range = false;
	scan->range_started = false;
	return LNC_OK;
}

void
lnc_scan_stats(const LncScan *scan, LncScanStats *out)
{
	*out = scan->stats;
	out->memory_peak = scan->budget.peak;
}
