/*
 * page_take.c
 *	  Scattered rows of a column: decoders run until they miss bytes, and what all of them miss is read at once.
 *
 * A decoder that asks for bytes that are not there fails, the gap is noted, and the next piece has its turn. Then the
 * gaps are read in one call of the store, which merges near ones and reads in parallel, and the pieces that failed start
 * again. So every encoding is read in as many steps as it has bytes that lead to others (an index, then values),
 * whatever the number of rows, and no byte is read twice.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "format/file_internal.h"

/* Pieces and pages worked at together: what is read for them is in memory at one time. */
#define GROUP_PIECES 256
#define GROUP_PAGES 64

/* The same over the network, where each group takes some trips. */
#define FAR_PIECES 1024

/* Pages that stay open between calls. */
#define KEPT_PAGES 8

/* Bytes of the file that are in memory. */
typedef struct Span
{
	uint64_t offset;
	uint64_t length;
	const uint8_t *data;
} Span;

/* What was read for the group at hand, and what is still wanted. */
typedef struct Gather
{
	LncArena *arena; /* owned; holds all below. NULL between groups */
	size_t nspans;
	Span *spans;      /* ascending, disjoint */
	LncBuffer wanted; /* of LncRange, disjoint from the spans */
	bool missed;      /* something was wanted since this was cleared */
} Gather;

/* An open page, or one that is being opened. */
typedef struct OpenPage
{
	PageTake *take; /* borrowed */
	const FilePage *page;
	uint32_t number;
	LncArena *arena; /* owned; holds what open made */
	LncPageSource source;
	void *opened; /* NULL: not open yet */
	bool waiting; /* opening it failed in this round */
} OpenPage;

struct PageTake
{
	const LncFile *file; /* borrowed, as are column, ops and state */
	const FileColumn *column;
	uint32_t number; /* of the column */
	const PageTakeOps *ops;
	void *state;
	Gather gather;
	uint32_t npages;
	OpenPage *pages[GROUP_PAGES]; /* owned; by page number */
};

/* ---- bytes ---- */

/* The first span that ends behind offset. */
static size_t
find_span(const Gather *gather, uint64_t offset)
{
	size_t low = 0;
	size_t high = gather->nspans;

	while (low < high)
	{
		size_t middle = low + (high - low) / 2;

		if (gather->spans[middle].offset + gather->spans[middle].length <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static LncCode
want(LncContext *ctx, Gather *gather, uint64_t offset, uint64_t end)
{
	LncRange range = {offset, end - offset};

	gather->missed = true;
	return lnc_buffer_append(ctx, &gather->wanted, &range, sizeof(range));
}

/* Note what is not in memory of bytes [offset, end) of the file. */
static LncCode
want_gaps(LncContext *ctx, Gather *gather, uint64_t offset, uint64_t end)
{
	for (size_t i = find_span(gather, offset); offset < end; i++)
	{
		const Span *span = i < gather->nspans ? &gather->spans[i] : NULL;

		if (span == NULL || span->offset >= end)
			return want(ctx, gather, offset, end);
		if (span->offset > offset)
			LNC_TRY(want(ctx, gather, offset, span->offset));
		offset = span->offset + span->length;
	}
	return LNC_OK;
}

/* Copy bytes that are in memory. */
static void
copy_bytes(const Gather *gather, uint64_t offset, uint64_t length, uint8_t *out)
{
	for (size_t i = find_span(gather, offset); length > 0; i++)
	{
		const Span *span = &gather->spans[i];
		uint64_t skip = offset - span->offset;
		uint64_t n = span->length - skip < length ? span->length - skip : length;

		memcpy(out, span->data + skip, (size_t)n);
		out += n;
		offset += n;
		length -= n;
	}
}

/* What is read to open a page is remembered by the file's identity. */
static bool
is_remembered(const OpenPage *open, const LncPageRange *range)
{
	return open->opened == NULL && range->length > 0 && range->length <= LNC_LONGEST_REMEMBERED;
}

/* LncPageSource.read: fails, noting what is missing, unless all is there. */
static LncCode
read_gathered(LncContext *ctx, const LncPageSource *source, LncArena *arena, size_t nranges,
			  const LncPageRange *ranges, const uint8_t **outs)
{
	OpenPage *open = source->state;
	Gather *gather = &open->take->gather;
	const LncFile *file = open->take->file;

	for (size_t i = 0; i < nranges; i++)
	{
		uint64_t offset;
		LncSlice recalled = {0};

		LNC_TRY(lnc_page_range_check(ctx, open->page, &ranges[i]));
		offset = open->page->offsets[ranges[i].buffer] + ranges[i].offset;
		if (is_remembered(open, &ranges[i]))
			LNC_TRY(lnc_store_recall(ctx, file->store, arena, &file->identity, offset, &recalled));
		outs[i] = recalled.size == ranges[i].length ? recalled.data : NULL;
		if (outs[i] == NULL)
			LNC_TRY(want_gaps(ctx, gather, offset, offset + ranges[i].length));
	}
	if (gather->missed)
		return lnc_fail(ctx, LNC_IO, "bytes of the page have not been read");
	for (size_t i = 0; i < nranges; i++)
	{
		uint64_t offset = open->page->offsets[ranges[i].buffer] + ranges[i].offset;
		void *copy;

		if (outs[i] != NULL)
			continue;
		LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)ranges[i].length, &copy));
		copy_bytes(gather, offset, ranges[i].length, copy);
		outs[i] = copy;
		if (is_remembered(open, &ranges[i]))
			LNC_TRY(lnc_store_remember(ctx, file->store, &file->identity, offset,
									   (LncSlice){.data = copy, .size = (size_t)ranges[i].length}));
	}
	return LNC_OK;
}

static int
compare_ranges(const void *a, const void *b)
{
	uint64_t x = ((const LncRange *)a)->offset;
	uint64_t y = ((const LncRange *)b)->offset;

	return x < y ? -1 : x > y;
}

/* Sort ranges and join those that touch; returns how many are left. */
static size_t
join_ranges(LncRange *ranges, size_t n)
{
	size_t last = 0;

	qsort(ranges, n, sizeof(*ranges), compare_ranges);
	for (size_t i = 1; i < n; i++)
	{
		uint64_t end = ranges[i].offset + ranges[i].length;

		if (ranges[i].offset > ranges[last].offset + ranges[last].length)
			ranges[++last] = ranges[i];
		else if (end > ranges[last].offset + ranges[last].length)
			ranges[last].length = end - ranges[last].offset;
	}
	return last + 1;
}

/* Read what is wanted and put it among the spans. */
static LncCode
fetch(LncContext *ctx, PageTake *take)
{
	Gather *gather = &take->gather;
	LncRange *ranges = (LncRange *)(void *)gather->wanted.data;
	size_t n = gather->wanted.size / sizeof(*ranges);
	const uint8_t **bytes;
	Span *spans;
	size_t old = 0;
	size_t added = 0;

	if (n == 0)
		return lnc_fail(ctx, LNC_INVALID, "a page asks for no bytes and has none");
	n = join_ranges(ranges, n);
	LNC_TRY(LNC_NEW(ctx, gather->arena, &bytes, n));
	LNC_TRY(lnc_store_read_ranges(ctx, take->file->store, gather->arena, take->file->key, n, ranges, bytes));
	LNC_TRY(LNC_NEW(ctx, gather->arena, &spans, gather->nspans + n));
	while (old + added < gather->nspans + n)
	{
		if (added == n || (old < gather->nspans && gather->spans[old].offset < ranges[added].offset))
		{
			spans[old + added] = gather->spans[old];
			old++;
		}
		else
		{
			spans[old + added] = (Span){ranges[added].offset, ranges[added].length, bytes[added]};
			added++;
		}
	}
	gather->nspans += n;
	gather->spans = spans;
	gather->wanted.size = 0;
	return LNC_OK;
}

/* ---- pages ---- */

static void
close_page(OpenPage *open)
{
	LncArena *arena = open->arena;

	/* The arena holds the struct itself. */
	lnc_arena_destroy(arena);
}

static void
close_all(PageTake *take)
{
	for (uint32_t i = 0; i < take->npages; i++)
		close_page(take->pages[i]);
	take->npages = 0;
}

static void
cleanup_take(void *arg)
{
	PageTake *take = arg;

	close_all(take);
	lnc_arena_destroy(take->gather.arena);
}

/* A page that is not open yet. The struct is in an arena of its own, what open makes in a child that starts afresh. */
static LncCode
new_page(LncContext *ctx, PageTake *take, uint32_t number, OpenPage **out)
{
	const FilePage *page = &take->column->pages[number];
	LncArena *arena;
	OpenPage *open;
	LncCode code;

	LNC_TRY(lnc_arena_create_scratch(ctx, &arena));
	code = LNC_NEW(ctx, arena, &open, 1);
	if (code != LNC_OK)
	{
		lnc_arena_destroy(arena);
		return code;
	}
	open->take = take;
	open->page = page;
	open->number = number;
	open->arena = arena;
	open->source.nbuffers = page->nbuffers;
	open->source.sizes = page->sizes;
	open->source.read = read_gathered;
	open->source.state = open;
	*out = open;
	return LNC_OK;
}

/* Have the pages of the pieces, which ascend, at hand, and no others. */
static LncCode
turn_to_pages(LncContext *ctx, PageTake *take, size_t npieces, const PagePiece *pieces)
{
	OpenPage *old[GROUP_PAGES];
	uint32_t nold = take->npages;
	uint32_t next = 0;
	LncCode code = LNC_OK;

	memcpy(old, take->pages, sizeof(old));
	take->npages = 0;
	for (size_t i = 0; i < npieces && code == LNC_OK; i++)
	{
		uint32_t number = pieces[i].page;

		if (take->npages > 0 && take->pages[take->npages - 1]->number == number)
			continue;
		for (; next < nold && old[next]->number < number; next++)
			close_page(old[next]);
		if (next < nold && old[next]->number == number)
			take->pages[take->npages++] = old[next++];
		else
		{
			code = new_page(ctx, take, number, &take->pages[take->npages]);
			take->npages += code == LNC_OK;
		}
	}
	for (; next < nold; next++)
		close_page(old[next]);
	return code;
}

/* ---- pieces ---- */

/* Read one piece; the page is opened before if need be. */
static LncCode
read_piece(LncContext *ctx, PageTake *take, LncArena *arena, OpenPage *open, const PagePiece *piece, size_t nth)
{
	if (open->opened == NULL)
	{
		LncArena *inner;

		LNC_TRY(lnc_arena_create_child(ctx, open->arena, &inner));
		LNC_TRY(take->ops->open(ctx, take->state, inner, open->number, &open->source, &open->opened));
	}
	return take->ops->read(ctx, take->state, arena, open->opened, piece, nth);
}

/* Give every piece that is not done a turn; *left: those that are not done afterwards. */
static LncCode
read_round(LncContext *ctx, PageTake *take, LncArena *arena, size_t npieces, const PagePiece *pieces, size_t first,
		   bool *done, size_t *left)
{
	uint32_t at = 0;

	*left = 0;
	for (uint32_t i = 0; i < take->npages; i++)
		take->pages[i]->waiting = false;
	for (size_t i = 0; i < npieces; i++)
	{
		OpenPage *open;
		LncCode code;

		while (take->pages[at]->number != pieces[i].page)
			at++;
		open = take->pages[at];
		if (done[i])
			continue;
		++*left;
		if (open->waiting)
			continue;
		LNC_TRY(lnc_check_interrupt(ctx));
		take->gather.missed = false;
		code = read_piece(ctx, take, arena, open, &pieces[i], first + i);
		if (code != LNC_OK && take->gather.missed)
			open->waiting = open->opened == NULL;
		else if (code != LNC_OK)
			return lnc_file_blame(ctx, code, take->file, take->number, open->number);
		else
		{
			done[i] = true;
			--*left;
		}
	}
	return LNC_OK;
}

static LncCode
read_group(LncContext *ctx, PageTake *take, LncArena *arena, size_t npieces, const PagePiece *pieces, size_t first)
{
	bool done[FAR_PIECES] = {false};
	size_t left;

	LNC_TRY(turn_to_pages(ctx, take, npieces, pieces));
	lnc_buffer_init(&take->gather.wanted, take->gather.arena, SIZE_MAX / 2);
	for (;;)
	{
		LNC_TRY(read_round(ctx, take, arena, npieces, pieces, first, done, &left));
		if (left == 0)
			return LNC_OK;
		LNC_TRY(fetch(ctx, take));
	}
}

/* How many of the pieces make up the next group. */
static size_t
group_size(const PageTake *take, size_t npieces, const PagePiece *pieces)
{
	size_t most = lnc_store_near(take->file->store) ? GROUP_PIECES : FAR_PIECES;
	uint32_t npages = 1;
	size_t n = 1;

	for (; n < npieces && n < most; n++)
	{
		npages += pieces[n].page != pieces[n - 1].page;
		if (npages > GROUP_PAGES)
			break;
	}
	return n;
}

/* Close all but the pages used last. */
static void
keep_some(PageTake *take)
{
	uint32_t drop = take->npages > KEPT_PAGES ? take->npages - KEPT_PAGES : 0;

	for (uint32_t i = 0; i < drop; i++)
		close_page(take->pages[i]);
	take->npages -= drop;
	memmove(take->pages, take->pages + drop, take->npages * sizeof(*take->pages));
}

LncCode
lnc_page_take_read(LncContext *ctx, PageTake *take, LncArena *arena, size_t npieces, const PagePiece *pieces)
{
	LncCode code = LNC_OK;

	for (size_t at = 0; at < npieces && code == LNC_OK;)
	{
		size_t n = group_size(take, npieces - at, pieces + at);

		code = lnc_arena_create_scratch(ctx, &take->gather.arena);
		/* With the rows asked for, what is read for them shrinks. */
		if (code == LNC_OK)
			lnc_arena_limit(take->gather.arena);
		if (code == LNC_OK)
			code = read_group(ctx, take, arena, n, pieces + at, at);
		lnc_arena_destroy(take->gather.arena);
		memset(&take->gather, 0, sizeof(take->gather));
		at += n;
	}
	/* A page that failed midway must not be taken for an open one. */
	if (code != LNC_OK)
		close_all(take);
	keep_some(take);
	return code;
}

LncCode
lnc_page_take_plan(LncContext *ctx, const PageTake *take, LncArena *arena, size_t nruns, const LncRowRun *runs,
				   uint64_t scale, size_t *npieces, PagePiece **pieces)
{
	const FileColumn *column = take->column;
	size_t most = nruns;

	/* Ascending runs end on as many pages as there are; each page that is left in between adds a piece. */
	if (lnc_add_overflow(most, (size_t)column->npages, &most))
		return lnc_fail(ctx, LNC_LIMIT, "the rows asked for lie on too many pages");
	LNC_TRY(LNC_NEW(ctx, arena, pieces, most));
	*npieces = 0;
	for (size_t i = 0; i < nruns; i++)
	{
		uint64_t first;
		uint64_t count;

		if (lnc_mul_overflow(runs[i].first, scale, &first) || lnc_mul_overflow(runs[i].count, scale, &count) ||
			!lnc_range_ok(first, count, column->nrows) || count == 0 ||
			(i > 0 && runs[i].first < runs[i - 1].first + runs[i - 1].count))
		{
			LncCode code = lnc_fail(ctx, LNC_CORRUPT,
									"rows %" PRIu64 " to %" PRIu64 " are not inside the column of %" PRIu64
									" rows, or behind those before",
									runs[i].first, runs[i].first + runs[i].count, column->nrows);

			return lnc_file_blame(ctx, code, take->file, take->number, -1);
		}
		for (uint32_t number = lnc_file_find_page(column, first); count > 0; number++)
		{
			uint64_t skip = first - column->pages[number].first_row;
			uint64_t n = column->pages[number].nrows - skip;

			if (n == 0)
				continue;
			if (n > count)
				n = count;
			(*pieces)[(*npieces)++] = (PagePiece){number, skip, n};
			first += n;
			count -= n;
		}
	}
	return LNC_OK;
}

LncCode
lnc_page_take_create(LncContext *ctx, LncArena *arena, const LncFile *file, uint32_t column, const PageTakeOps *ops,
					 void *state, PageTake **out)
{
	PageTake *take;

	LNC_TRY(LNC_NEW(ctx, arena, &take, 1));
	take->file = file;
	take->number = column;
	take->ops = ops;
	take->state = state;
	LNC_TRY(lnc_file_load_column(ctx, file, column, &take->column));
	LNC_TRY(lnc_arena_on_cleanup(ctx, arena, cleanup_take, take));
	*out = take;
	return LNC_OK;
}
