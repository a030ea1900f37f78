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
	uint64_t next_row; /* where the last read ended */
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
open_page(LncContext *ctx, LncListReader20 *reader, uint32_t number)
{
	const FilePage *page = &reader->column->pages[number];
	LncPageSpec spec = {.path = &reader->field, .npath = 1, .nrows = page->nrows};

	if (reader->page != NULL && reader->page_number == number)
		return LNC_OK;
	reader->page = NULL;
	lnc_arena_reset(reader->page_arena);
	LNC_TRY(lnc_page_reader_open(ctx, reader->page_reader, page));
	LNC_TRY(lnc_file_page_message(ctx, reader->page_arena, reader->file, page, &spec.encoding));
	spec.source = lnc_page_reader_source(reader->page_reader);
	LNC_TRY(lnc_list20_open(ctx, reader->page_arena, &spec, &reader->page));
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
	int32_t nruns;
	LncItemRun *runs;
} Joined;

static LncCode
add_page(LncContext *ctx, LncListReader20 *reader, LncArena *arena, uint32_t number, uint64_t first, uint64_t count,
		 Joined *joined)
{
	int64_t base = joined->offsets[joined->nlists];
	LncLists20 lists;
	LncItemRun run;

	LNC_TRY(lnc_check_interrupt(ctx));
	LNC_TRY(open_page(ctx, reader, number));
	LNC_TRY(lnc_list20_read(ctx, reader->page, arena, first, count, &lists));
	/* Sums of items stay below those of all pages, which fit. */
	for (uint64_t i = 1; i <= count; i++)
		joined->offsets[joined->nlists + i] = base + lists.offsets[i];
	if (lists.validity != NULL)
		lnc_bits_copy(joined->validity, joined->nlists, lists.validity, 0, count);
	else
		lnc_bits_fill(joined->validity, joined->nlists, count, true);
	joined->any_null |= lists.validity != NULL;
	joined->nlists += count;

	run.first = reader->bases[number] + lists.first_item;
	run.count = (uint64_t)lists.offsets[count];
	if (run.count == 0)
		return LNC_OK;
	if (joined->nruns > 0)
	{
		LncItemRun *last = &joined->runs[joined->nruns - 1];

		if (last->first + last->count == run.first)
		{
			last->count += run.count;
			return LNC_OK;
		}
	}
	joined->runs[joined->nruns++] = run;
	return LNC_OK;
}

LncCode
lnc_list_reader20_read(LncContext *ctx, LncListReader20 *reader, LncArena *arena, uint64_t first, uint64_t count,
					   LncItemRuns *out)
{
	const FileColumn *column = reader->column;
	Joined joined = {0};
	uint32_t start;
	uint32_t end;

	if (!lnc_range_ok(first, count, column->nrows))
	{
		LncCode code = lnc_fail(ctx, LNC_CORRUPT,
								"rows %" PRIu64 " to %" PRIu64 " are not inside the column of %" PRIu64 " rows",
								first, first + count, column->nrows);

		return lnc_file_blame(ctx, code, reader->file, reader->number, -1);
	}
	LNC_TRY(lnc_arena_calloc(ctx, arena, (size_t)count + 1, sizeof(*joined.offsets), (void **)&joined.offsets));
	LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size(count), 1, (void **)&joined.validity));
	lnc_page_reader_sequential(reader->page_reader, first == reader->next_row && first > 0);
	start = lnc_file_find_page(column, first);
	end = count == 0 ? start : lnc_file_find_page(column, first + count - 1) + 1;
	if (end - start > INT32_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "the rows asked for lie on too many pages");
	LNC_TRY(LNC_NEW(ctx, arena, &joined.runs, end - start));
	for (uint32_t number = start; number < end; number++)
	{
		const FilePage *page = &column->pages[number];
		uint64_t skip = first - page->first_row;
		uint64_t n = page->nrows - skip;
		LncCode code;

		if (page->nrows == 0)
			continue;
		if (n > count)
			n = count;
		code = add_page(ctx, reader, arena, number, skip, n, &joined);
		if (code != LNC_OK)
		{
			/* A page that failed midway must not be taken for an open one. */
			reader->page = NULL;
			return lnc_file_blame(ctx, code, reader->file, reader->number, number);
		}
		first += n;
		count -= n;
	}
	reader->next_row = first;
	out->validity = joined.any_null ? joined.validity : NULL;
	out->offsets = joined.offsets;
	out->nruns = joined.nruns;
	out->runs = joined.runs;
	return LNC_OK;
}
