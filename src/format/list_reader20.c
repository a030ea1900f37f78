/*
 * list_reader20.c
 *	  Lists over the pages of their column: each page numbers its items from 0.
 */
#include "format/list_reader20.h"

#include <inttypes.h>

#include "base/bitmap.h"
#include "encoding/list20.h"
#include "format/file_internal.h"

struct LncListReader20
{
	LncFile *file; /* borrowed, as are column and field */
	uint32_t number;
	const FileColumn *column;
	const LncField *field;
	uint64_t *bases; /* per page: where its items begin in the item column */
	PageReader *page_reader;
	LncArena *page_arena; /* owned; holds the open page */
	LncList20 *page;      /* NULL: none is open */
	uint32_t page_number;
	uint64_t last_row; /* where the last read began, and where it ended */
	uint64_t next_row;
	LncArena *arena;   /* borrowed; that of open */
	PageTake *take;    /* NULL: no lists were taken yet */
	LncLists20 *parts; /* per piece, of the take at hand */
};

/* Sum up the items of the pages. */
static LncCode
count_items(LncContext *ctx, LncListReader20 *reader, uint64_t *nitems)
{
	*nitems = 0;
	for (uint32_t i = 0; i < reader->column->npages; i++)
	{
		const FilePage *page = &reader->column->pages[i];
		LncSlice message;
		uint64_t n = 0;
		LncCode code = LNC_OK;

		reader->bases[i] = *nitems;
		LNC_TRY(lnc_check_interrupt(ctx));
		lnc_arena_reset(reader->page_arena);
		/* A page without lists has no items, whatever it states. */
		if (page->nrows > 0)
		{
			code = lnc_file_page_message(ctx, reader->page_arena, reader->file, page, &message);
			if (code == LNC_OK)
				code = lnc_list20_count(ctx, reader->page_arena, message, &n);
		}
		if (code == LNC_OK && (lnc_add_overflow(*nitems, n, nitems) || *nitems > INT64_MAX))
			code = lnc_fail(ctx, LNC_CORRUPT, "the pages of the column state too many items");
		if (code != LNC_OK)
			return lnc_file_blame(ctx, code, reader->file, reader->number, i);
	}
	return LNC_OK;
}

LncCode
lnc_list_reader20_open(LncContext *ctx, LncArena *arena, LncFile *file, uint32_t column, const LncField *field,
					   uint64_t *nlists, uint64_t *nitems, LncListReader20 **out)
{
	LncListReader20 *reader;

	LNC_TRY(LNC_NEW(ctx, arena, &reader, 1));
	reader->arena = arena;
	reader->file = file;
	reader->number = column;
	reader->field = field;
	LNC_TRY(lnc_file_load_column(ctx, file, column, &reader->column));
	LNC_TRY(LNC_NEW(ctx, arena, &reader->bases, reader->column->npages));
	LNC_TRY(lnc_page_reader_create(ctx, arena, file, &reader->page_reader));
	LNC_TRY(lnc_arena_create_child(ctx, arena, &reader->page_arena));
	LNC_TRY(count_items(ctx, reader, nitems));
	*nlists = reader->column->nrows;
	*out = reader;
	return LNC_OK;
}

static LncCode
open_page_from(LncContext *ctx, const LncListReader20 *reader, LncArena *arena, uint32_t number,
			   const LncPageSource *source, LncList20 **out)
{
	const FilePage *page = &reader->column->pages[number];
	LncPageSpec spec = {.source = source, .path = &reader->field, .npath = 1, .nrows = page->nrows};

	LNC_TRY(lnc_file_page_message(ctx, arena, reader->file, page, &spec.encoding));
	return lnc_list20_open(ctx, arena, &spec, out);
}

static LncCode
open_page(LncContext *ctx, LncListReader20 *reader, uint32_t number)
{
	LncList20 *page;

	if (reader->page != NULL && reader->page_number == number)
		return LNC_OK;
	reader->page = NULL;
	lnc_arena_reset(reader->page_arena);
	LNC_TRY(lnc_page_reader_open(ctx, reader->page_reader, &reader->column->pages[number]));
	LNC_TRY(open_page_from(ctx, reader, reader->page_arena, number, lnc_page_reader_source(reader->page_reader),
						   &page));
	reader->page = page;
	reader->page_number = number;
	return LNC_OK;
}

/* What the lists of all pages of one read are put together in. */
typedef struct Joined
{
	uint64_t nlists; /* so far */
	int64_t *offsets;
	uint8_t *validity;
	bool any_null;
	size_t nruns;
	LncRowRun *runs;
} Joined;

/* Room for count lists of so many pieces. */
static LncCode
joined_init(LncContext *ctx, LncArena *arena, uint64_t count, size_t npieces, Joined *joined)
{
	memset(joined, 0, sizeof(*joined));
	LNC_TRY(lnc_arena_calloc(ctx, arena, (size_t)count + 1, sizeof(*joined->offsets), (void **)&joined->offsets));
	LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size(count), 1, (void **)&joined->validity));
	return LNC_NEW(ctx, arena, &joined->runs, npieces);
}

static void
joined_finish(const Joined *joined, LncItemRuns *out)
{
	out->validity = joined->any_null ? joined->validity : NULL;
	out->offsets = joined->offsets;
	out->nruns = joined->nruns;
	out->runs = joined->runs;
}

/* Add count lists of a page. LNC_CORRUPT: their items do not come behind those of the lists before. */
static LncCode
add_lists(LncContext *ctx, const LncListReader20 *reader, uint32_t number, uint64_t count, const LncLists20 *lists,
		  Joined *joined)
{
	int64_t base = joined->offsets[joined->nlists];
	LncRowRun run;

	/* Sums of items stay below those of all pages, which fit. */
	for (uint64_t i = 1; i <= count; i++)
		joined->offsets[joined->nlists + i] = base + lists->offsets[i];
	if (lists->validity != NULL)
		lnc_bits_copy(joined->validity, joined->nlists, lists->validity, 0, count);
	else
		lnc_bits_fill(joined->validity, joined->nlists, count, true);
	joined->any_null |= lists->validity != NULL;
	joined->nlists += count;

	run.first = reader->bases[number] + lists->first_item;
	run.count = (uint64_t)lists->offsets[count];
	if (run.count == 0)
		return LNC_OK;
	if (joined->nruns > 0)
	{
		LncRowRun *last = &joined->runs[joined->nruns - 1];

		if (run.first < last->first + last->count)
			return lnc_fail(ctx, LNC_CORRUPT, "items of a list lie before those of the lists in front of it");
		if (last->first + last->count == run.first)
		{
			last->count += run.count;
			return LNC_OK;
		}
	}
	joined->runs[joined->nruns++] = run;
	return LNC_OK;
}

static LncCode
add_page(LncContext *ctx, LncListReader20 *reader, LncArena *arena, uint32_t number, uint64_t first, uint64_t count,
		 Joined *joined)
{
	LncLists20 lists;

	LNC_TRY(lnc_check_interrupt(ctx));
	LNC_TRY(open_page(ctx, reader, number));
	LNC_TRY(lnc_list20_read(ctx, reader->page, arena, first, count, &lists));
	return add_lists(ctx, reader, number, count, &lists, joined);
}

/* Add lists [first, first + count) of the column. */
static LncCode
add_run(LncContext *ctx, LncListReader20 *reader, LncArena *arena, uint64_t first, uint64_t count, Joined *joined)
{
	const FileColumn *column = reader->column;

	/* A batch that is read again, with fewer rows, leaves the windows as they are. */
	if (first == 0 || first != reader->last_row)
		lnc_page_reader_sequential(reader->page_reader, first == reader->next_row && first > 0);
	reader->last_row = first;
	for (uint32_t number = lnc_file_find_page(column, first); count > 0; number++)
	{
		uint64_t skip = first - column->pages[number].first_row;
		uint64_t n = column->pages[number].nrows - skip;
		LncCode code;

		if (n == 0)
			continue;
		if (n > count)
			n = count;
		code = add_page(ctx, reader, arena, number, skip, n, joined);
		if (code != LNC_OK)
		{
			/* A page that failed midway must not be taken for an open one; the limit hits nothing that it keeps. */
			if (!lnc_budget_refused(ctx))
				reader->page = NULL;
			return lnc_file_blame(ctx, code, reader->file, reader->number, number);
		}
		first += n;
		count -= n;
	}
	reader->next_row = first;
	return LNC_OK;
}

LncCode
lnc_list_reader20_read(LncContext *ctx, LncListReader20 *reader, LncArena *arena, size_t nruns,
					   const LncRowRun *runs, uint64_t count, LncItemRuns *out)
{
	Joined joined;

	/* Each page that lies inside a run adds items of its own. */
	LNC_TRY(joined_init(ctx, arena, count, nruns + reader->column->npages, &joined));
	for (size_t i = 0; i < nruns; i++)
	{
		if (!lnc_range_ok(runs[i].first, runs[i].count, reader->column->nrows))
		{
			LncCode code = lnc_fail(ctx, LNC_CORRUPT,
									"rows %" PRIu64 " to %" PRIu64 " are not inside the column of %" PRIu64 " rows",
									runs[i].first, runs[i].first + runs[i].count, reader->column->nrows);

			return lnc_file_blame(ctx, code, reader->file, reader->number, -1);
		}
		LNC_TRY(add_run(ctx, reader, arena, runs[i].first, runs[i].count, &joined));
	}
	joined_finish(&joined, out);
	return LNC_OK;
}

/* ---- taking ---- */

/* PageTakeOps.open */
static LncCode
open_taken(LncContext *ctx, void *state, LncArena *arena, uint32_t number, const LncPageSource *source, void **page)
{
	LncList20 *opened;

	LNC_TRY(open_page_from(ctx, state, arena, number, source, &opened));
	*page = opened;
	return LNC_OK;
}

/* PageTakeOps.read */
static LncCode
read_taken(LncContext *ctx, void *state, LncArena *arena, void *page, const PagePiece *piece, size_t nth)
{
	LncListReader20 *reader = state;

	return lnc_list20_read(ctx, page, arena, piece->first, piece->count, &reader->parts[nth]);
}

static const PageTakeOps take_ops = {open_taken, read_taken};

LncCode
lnc_list_reader20_take(LncContext *ctx, LncListReader20 *reader, LncArena *arena, size_t nruns,
					   const LncRowRun *runs, uint64_t count, LncItemRuns *out)
{
	PagePiece *pieces;
	size_t npieces;
	Joined joined;

	if (reader->take == NULL)
		LNC_TRY(lnc_page_take_create(ctx, reader->arena, reader->file, reader->number, &take_ops, reader,
									 &reader->take));
	LNC_TRY(lnc_page_take_plan(ctx, reader->take, arena, nruns, runs, 1, &npieces, &pieces));
	LNC_TRY(LNC_NEW(ctx, arena, &reader->parts, npieces));
	LNC_TRY(lnc_page_take_read(ctx, reader->take, arena, npieces, pieces));
	LNC_TRY(joined_init(ctx, arena, count, npieces, &joined));
	for (size_t i = 0; i < npieces; i++)
	{
		LncCode code = add_lists(ctx, reader, pieces[i].page, pieces[i].count, &reader->parts[i], &joined);

		if (code != LNC_OK)
			return lnc_file_blame(ctx, code, reader->file, reader->number, pieces[i].page);
	}
	joined_finish(&joined, out);
	return LNC_OK;
}
