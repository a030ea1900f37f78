/*
 * page_reader.c
 *	  The buffers of a page as the decoder sees them: checked ranges, read through a window per buffer.
 *
 * A request that its buffer's window does not hold is rounded up and fetched, so that a scan in small batches makes
 * few requests; the rounding is small after a jump and grows while the reader goes on in order. Requests for a whole
 * buffer, larger than a window, or scattered over the buffer, are read exactly; so are those on local disk that are worth
 * a system call. A window is replaced when the scan leaves it: what is large of it is lent to the caller's arena, which
 * keeps the bytes until it is done, and the rest is copied there.
 *
 * Over the network, what comes behind a window is on its way while a page is read in order, and so is the beginning of
 * the next page: a window that is left takes over what has come.
 */
#include <inttypes.h>

#include "format/file_internal.h"

/* Bytes fetched at once are LNC_READ_AHEAD_LEAST after a jump, then grow by this factor. */
#define WINDOW_GROWTH 4

/* On local disk requests of so many bytes are read where they are needed, rather than through a window. */
#define NEAR_EXACT ((uint64_t)16 * 1024)

/* The largest window there: what lies in it is soon used, from the processor's cache. */
#define NEAR_WINDOW ((uint64_t)256 * 1024)

/* What another place to read costs, in bytes: a system call, or a request over the network. */
#define NEAR_GAP ((uint64_t)4 * 1024)
#define FAR_GAP ((uint64_t)256 * 1024)

/* Parts of a window are lent if they are at least this large, and this part of the window; else they are copied. */
#define LEND_LEAST ((uint64_t)1024)
#define LEND_PART 16

/* Bytes ahead have so much room in front at most, for the end of the window before. */
#define AHEAD_ROOM ((uint64_t)1024 * 1024)

/* Beginnings of buffers are fetched together over gaps of this size, up to so many bytes. */
#define EXPECT_GAP 4096
#define EXPECT_MOST ((uint64_t)4 * 1024 * 1024)

/* Windows that were fetched by one call share its memory. */
typedef struct Fetch
{
	LncArena *arena;     /* owned; holds this struct and the bytes */
	uint64_t users;      /* windows that point into it, and arenas that were lent parts of them */
	LncReading *reading; /* that brings the bytes; NULL: they are there, or will not come */
	bool failed;
} Fetch;

/* Bytes of a buffer that are on their way. */
typedef struct Ahead
{
	Fetch *fetch; /* NULL: none */
	uint64_t offset;
	uint64_t length;
	uint64_t room; /* bytes in front of data that are free */
	uint8_t *data;
} Ahead;

/* What is in memory of one buffer, and what the request at hand wants of it. */
typedef struct Window
{
	uint64_t offset; /* in the buffer */
	uint64_t length;
	const uint8_t *data;
	Fetch *fetch; /* NULL: empty window */
	Ahead ahead;  /* what comes behind it, or first */

	uint64_t low; /* the request's ranges lie in [low, high) */
	uint64_t high;
	uint64_t sum; /* of their lengths */
	enum
	{
		WANT_NOTHING,
		WANT_UNDECIDED,
		WANT_WINDOW,
		WANT_EXACT
	} want;
} Window;

struct PageReader
{
	const LncFile *file; /* borrowed */
	LncArena *arena;     /* owned; holds the windows of the page at hand */
	const FilePage *page;
	Window *windows;               /* array of page->nbuffers */
	bool near;                     /* the file is on local disk */
	bool begins;                   /* its store reads ahead of use */
	uint64_t ahead;                /* bytes to fetch at once */
	bool in_order;                 /* reads go on where the last ended */
	LncArena *expected_arena;      /* owned; holds expected */
	const FilePage *expected_page; /* NULL: none */
	Ahead *expected;               /* array of expected_page->nbuffers */
	bool opening;                  /* the page is being opened */
	LncPageSource source;
};

/* One user less; the fetch goes with the last. */
static void
release_fetch(void *arg)
{
	Fetch *fetch = arg;

	if (--fetch->users == 0)
		lnc_arena_destroy(fetch->arena);
}

static void
drop_window(Window *window)
{
	Fetch *fetch = window->fetch;

	window->fetch = NULL;
	window->length = 0;
	if (fetch != NULL)
		release_fetch(fetch);
}

static void
drop_ahead(Ahead *ahead)
{
	Fetch *fetch = ahead->fetch;

	ahead->fetch = NULL;
	if (fetch != NULL)
		release_fetch(fetch);
}

static void
drop_expected(PageReader *reader)
{
	if (reader->expected_page == NULL)
		return;
	for (uint32_t i = 0; i < reader->expected_page->nbuffers; i++)
		drop_ahead(&reader->expected[i]);
	reader->expected_page = NULL;
	lnc_arena_reset(reader->expected_arena);
}

static void
drop_page(PageReader *reader)
{
	if (reader->page != NULL)
		for (uint32_t i = 0; i < reader->page->nbuffers; i++)
		{
			drop_window(&reader->windows[i]);
			drop_ahead(&reader->windows[i].ahead);
		}
	reader->page = NULL;
	reader->windows = NULL;
	reader->source.nbuffers = 0;
}

static void
cleanup_reader(void *arg)
{
	drop_page(arg);
	drop_expected(arg);
}

LncCode
lnc_page_range_check(LncContext *ctx, const FilePage *page, const LncPageRange *range)
{
	if (range->buffer >= page->nbuffers)
		return lnc_fail(ctx, LNC_CORRUPT, "the page has %u buffers, not %" PRIu64, page->nbuffers,
						(uint64_t)range->buffer + 1);
	if (!lnc_range_ok(range->offset, range->length, page->sizes[range->buffer]))
		return lnc_fail(ctx, LNC_CORRUPT,
						"bytes %" PRIu64 " to %" PRIu64 " are not inside buffer %u of %" PRIu64 " bytes",
						range->offset, range->offset + range->length, range->buffer, page->sizes[range->buffer]);
	return LNC_OK;
}

/* Sum up, per buffer, what the ranges ask for. */
static LncCode
gather_wants(LncContext *ctx, PageReader *reader, size_t nranges, const LncPageRange *ranges)
{
	for (size_t i = 0; i < nranges; i++)
	{
		LNC_TRY(lnc_page_range_check(ctx, reader->page, &ranges[i]));
		reader->windows[ranges[i].buffer].want = WANT_NOTHING;
	}
	for (size_t i = 0; i < nranges; i++)
	{
		const LncPageRange *range = &ranges[i];
		Window *window = &reader->windows[range->buffer];
		uint64_t end = range->offset + range->length;

		if (range->length == 0)
			continue;
		if (window->want == WANT_NOTHING)
		{
			window->want = WANT_UNDECIDED;
			window->low = range->offset;
			window->high = end;
			window->sum = range->length;
			continue;
		}
		if (range->offset < window->low)
			window->low = range->offset;
		if (end > window->high)
			window->high = end;
		window->sum = window->sum > UINT64_MAX / 4 ? window->sum : window->sum + range->length;
	}
	return LNC_OK;
}

/* The largest window, in bytes. Over the network there are two of a buffer at a time. */
static uint64_t
read_ahead(const PageReader *reader)
{
	uint64_t most = reader->file->read_ahead;

	if (reader->near)
		return most > NEAR_WINDOW ? NEAR_WINDOW : most;
	if (!reader->begins)
		return most;
	return most / 2 > LNC_READ_AHEAD_LEAST ? most / 2 : LNC_READ_AHEAD_LEAST;
}

static LncCode
read_file(LncContext *ctx, const PageReader *reader, LncArena *arena, size_t n, const LncRange *ranges,
		  const uint8_t **outs)
{
	const LncFile *file = reader->file;

	if (file->open != NULL)
		return lnc_object_read_ranges(ctx, file->open, arena, n, ranges, outs);
	return lnc_store_read_ranges(ctx, file->store, arena, file->key, n, ranges, outs);
}

/* ---- ahead of use ---- */

/* Have length bytes at offset of the file on their way, for users of one fetch; *out NULL: the store doesn't do that now. */
static LncCode
begin_fetch(LncContext *ctx, const PageReader *reader, uint64_t offset, uint64_t length, uint64_t room,
			uint64_t users, Fetch **out, uint8_t **data)
{
	LncRange range = {.offset = offset, .length = length};
	LncArena *arena;
	Fetch *fetch;
	void *memory;
	LncCode code;

	*out = NULL;
	LNC_TRY(lnc_arena_create_scratch(ctx, &arena));
	code = LNC_NEW(ctx, arena, &fetch, 1);
	if (code == LNC_OK)
		code = lnc_arena_alloc(ctx, arena, (size_t)(room + length), &memory);
	if (code == LNC_OK)
		code = lnc_store_read_begin(ctx, reader->file->store, arena, reader->file->key, range,
									(uint8_t *)memory + room, &fetch->reading);
	if (code != LNC_OK || fetch->reading == NULL)
	{
		lnc_arena_destroy(arena);
		return code;
	}
	fetch->arena = arena;
	fetch->users = users;
	*out = fetch;
	*data = (uint8_t *)memory + room;
	return LNC_OK;
}

/* Have what comes behind the window on its way. */
static LncCode
begin_ahead(LncContext *ctx, PageReader *reader, uint32_t buffer)
{
	Window *window = &reader->windows[buffer];
	Ahead *ahead = &window->ahead;
	uint64_t end = window->offset + window->length;
	uint64_t length = reader->page->sizes[buffer] - end;

	if (ahead->fetch != NULL || length == 0)
		return LNC_OK;
	ahead->offset = end;
	ahead->length = length < reader->ahead ? length : reader->ahead;
	ahead->room = window->length < AHEAD_ROOM ? window->length : AHEAD_ROOM;
	return begin_fetch(ctx, reader, reader->page->offsets[buffer] + end, ahead->length, ahead->room, 1,
					   &ahead->fetch, &ahead->data);
}

/* Wait for what is on its way; *there tells whether it has come. */
static LncCode
finish_fetch(LncContext *ctx, Fetch *fetch, bool *there)
{
	bool whole;

	if (fetch->reading != NULL)
	{
		LNC_TRY(lnc_reading_finish(ctx, fetch->reading, &whole));
		fetch->reading = NULL;
		fetch->failed = !whole;
	}
	*there = !fetch->failed;
	return LNC_OK;
}

/*
 * Have the window take over what is ahead of it, if that has what the request at hand wants of the buffer, or the rest of
 * it. *adopted tells. What is of no use is dropped.
 */
static LncCode
adopt_ahead(LncContext *ctx, Window *window, bool *adopted)
{
	Ahead *ahead = &window->ahead;
	uint64_t before = window->low < ahead->offset ? ahead->offset - window->low : 0;
	bool there;

	*adopted = false;
	if (ahead->fetch == NULL)
		return LNC_OK;
	there = window->high <= ahead->offset + ahead->length && window->high > ahead->offset && before <= ahead->room;
	if (there && before > 0)
		there = window->fetch != NULL && window->low >= window->offset &&
				window->offset + window->length == ahead->offset;
	if (there)
		LNC_TRY(finish_fetch(ctx, ahead->fetch, &there));
	if (!there)
	{
		drop_ahead(ahead);
		return LNC_OK;
	}
	if (before > 0)
		memcpy(ahead->data - before, window->data + (window->low - window->offset), (size_t)before);
	drop_window(window);
	window->offset = ahead->offset - before;
	window->length = ahead->length + before;
	window->data = ahead->data - before;
	window->fetch = ahead->fetch;
	ahead->fetch = NULL;
	*adopted = true;
	return LNC_OK;
}

/* How much of the beginning of a buffer is expected; 0: it is remembered. */
static LncCode
expected_bytes(LncContext *ctx, const PageReader *reader, const FilePage *page, uint32_t buffer, uint64_t most,
			   uint64_t *out)
{
	uint64_t size = page->sizes[buffer];
	bool remembered = false;

	if (size <= LNC_LONGEST_REMEMBERED && size > 0)
		LNC_TRY(lnc_store_remembers(ctx, reader->file->store, &reader->file->identity, page->offsets[buffer], size,
									&remembered));
	*out = remembered ? 0 : size < most ? size : most;
	return LNC_OK;
}

/* Have buffers [first, first + n) of the expected page on their way, that lie in the file one after the other. */
static LncCode
expect_buffers(LncContext *ctx, PageReader *reader, const FilePage *page, uint32_t first, uint32_t n)
{
	Ahead *expected = reader->expected + first;
	uint64_t start = page->offsets[first];
	uint64_t length = page->offsets[first + n - 1] + expected[n - 1].length - start;
	uint8_t *data;
	Fetch *fetch;

	LNC_TRY(begin_fetch(ctx, reader, start, length, 0, n, &fetch, &data));
	if (fetch == NULL)
		return LNC_OK;
	for (uint32_t i = 0; i < n; i++)
	{
		expected[i].fetch = fetch;
		expected[i].data = data + (page->offsets[first + i] - start);
	}
	return LNC_OK;
}

LncCode
lnc_page_reader_expect(LncContext *ctx, PageReader *reader, const FilePage *page, uint64_t most)
{
	uint32_t first = 0;

	if (!reader->begins || reader->expected_page == page)
		return LNC_OK;
	drop_expected(reader);
	LNC_TRY(LNC_NEW(ctx, reader->expected_arena, &reader->expected, page->nbuffers));
	reader->expected_page = page;
	for (uint32_t i = 0; i < page->nbuffers; i++)
		LNC_TRY(expected_bytes(ctx, reader, page, i, most, &reader->expected[i].length));
	while (first < page->nbuffers)
	{
		const Ahead *expected = reader->expected;
		uint32_t next = first + 1;

		if (expected[first].length > 0)
		{
			uint64_t end = page->offsets[first] + expected[first].length;

			while (next < page->nbuffers && expected[next].length > 0 && page->offsets[next] >= end &&
				   page->offsets[next] - end <= EXPECT_GAP &&
				   page->offsets[next] + expected[next].length - page->offsets[first] <= EXPECT_MOST)
			{
				end = page->offsets[next] + expected[next].length;
				next++;
			}
			LNC_TRY(expect_buffers(ctx, reader, page, first, next - first));
		}
		first = next;
	}
	return LNC_OK;
}

LncCode
lnc_page_reader_expect_next(LncContext *ctx, PageReader *reader, const FilePage *page, uint64_t rows_left)
{
	double bytes = 0;

	if (!reader->begins || !reader->in_order || reader->page == NULL)
		return LNC_OK;
	for (uint32_t i = 0; i < reader->page->nbuffers; i++)
		bytes += (double)reader->page->sizes[i];
	if (bytes * (double)rows_left > (double)reader->ahead * (double)reader->page->nrows)
		return LNC_OK;
	return lnc_page_reader_expect(ctx, reader, page, reader->ahead);
}

/* ---- reading ---- */

/* Decide how each buffer is read and fetch the windows that are needed, all in one call. */
static LncCode
fetch_windows(LncContext *ctx, PageReader *reader, LncArena *scratch, size_t nranges, const LncPageRange *ranges)
{
	uint32_t *buffers;
	LncRange *wanted;
	const uint8_t **bytes;
	uint32_t n = 0;
	size_t most = nranges < reader->page->nbuffers ? nranges : reader->page->nbuffers;
	LncArena *arena;
	Fetch *fetch;
	LncCode code;

	LNC_TRY(LNC_NEW(ctx, scratch, &buffers, most));
	LNC_TRY(LNC_NEW(ctx, scratch, &wanted, most));
	LNC_TRY(LNC_NEW(ctx, scratch, &bytes, most));
	for (size_t i = 0; i < nranges; i++)
	{
		uint32_t buffer = ranges[i].buffer;
		Window *window = &reader->windows[buffer];
		uint64_t span = window->high - window->low;
		uint64_t length;
		bool adopted;

		if (window->want != WANT_UNDECIDED)
			continue;
		window->want = WANT_WINDOW;
		if (window->fetch != NULL && window->low >= window->offset &&
			lnc_range_ok(window->low - window->offset, span, window->length))
			continue;
		LNC_TRY(adopt_ahead(ctx, window, &adopted));
		if (adopted)
			continue;
		if (span > read_ahead(reader) || (reader->near && span >= NEAR_EXACT) ||
			span == reader->page->sizes[buffer] || span > window->sum * 2 + LNC_READ_AHEAD_LEAST)
		{
			window->want = WANT_EXACT;
			continue;
		}
		length = reader->page->sizes[buffer] - window->low;
		if (length > reader->ahead)
			length = reader->ahead > span ? reader->ahead : span;
		wanted[n].offset = reader->page->offsets[buffer] + window->low;
		wanted[n].length = length;
		buffers[n++] = buffer;
	}
	if (n == 0)
		return LNC_OK;

	LNC_TRY(lnc_arena_create_scratch(ctx, &arena));
	code = LNC_NEW(ctx, arena, &fetch, 1);
	if (code == LNC_OK)
		code = read_file(ctx, reader, arena, n, wanted, bytes);
	if (code != LNC_OK)
	{
		lnc_arena_destroy(arena);
		return code;
	}
	fetch->arena = arena;
	fetch->users = n;
	for (uint32_t i = 0; i < n; i++)
	{
		Window *window = &reader->windows[buffers[i]];

		drop_window(window);
		window->offset = window->low;
		window->length = wanted[i].length;
		window->data = bytes[i];
		window->fetch = fetch;
	}
	return LNC_OK;
}

/* Whether range i is one of those read exactly, and not there yet. */
static bool
wants_exact(const PageReader *reader, const LncPageRange *ranges, const uint8_t *const *outs, size_t i)
{
	return ranges[i].length > 0 && reader->windows[ranges[i].buffer].want == WANT_EXACT && outs[i] == NULL;
}

/* Have what is remembered of the page's opening; the other outs become NULL. */
static LncCode
recall_exact(LncContext *ctx, const PageReader *reader, LncArena *arena, size_t nranges, const LncPageRange *ranges,
			 const uint8_t **outs)
{
	for (size_t i = 0; i < nranges; i++)
	{
		LncSlice recalled;

		outs[i] = NULL;
		if (!reader->opening || !wants_exact(reader, ranges, outs, i) || ranges[i].length > LNC_LONGEST_REMEMBERED)
			continue;
		LNC_TRY(lnc_store_recall(ctx, reader->file->store, arena, &reader->file->identity,
								 reader->page->offsets[ranges[i].buffer] + ranges[i].offset, &recalled));
		if (recalled.size == ranges[i].length)
			outs[i] = recalled.data;
	}
	return LNC_OK;
}

/* Read the ranges of buffers that are read exactly, all in one call. */
static LncCode
read_exact(LncContext *ctx, PageReader *reader, LncArena *arena, size_t nranges, const LncPageRange *ranges,
		   const uint8_t **outs)
{
	size_t n = 0;
	LncRange *wanted;
	const uint8_t **bytes;

	LNC_TRY(recall_exact(ctx, reader, arena, nranges, ranges, outs));
	for (size_t i = 0; i < nranges; i++)
		n += wants_exact(reader, ranges, outs, i);
	if (n == 0)
		return LNC_OK;
	LNC_TRY(LNC_NEW(ctx, arena, &wanted, n));
	LNC_TRY(LNC_NEW(ctx, arena, &bytes, n));
	n = 0;
	for (size_t i = 0; i < nranges; i++)
		if (wants_exact(reader, ranges, outs, i))
		{
			wanted[n].offset = reader->page->offsets[ranges[i].buffer] + ranges[i].offset;
			wanted[n++].length = ranges[i].length;
		}
	LNC_TRY(read_file(ctx, reader, arena, n, wanted, bytes));
	n = 0;
	for (size_t i = 0; i < nranges; i++)
	{
		if (!wants_exact(reader, ranges, outs, i))
			continue;
		if (reader->opening && ranges[i].length <= LNC_LONGEST_REMEMBERED)
			LNC_TRY(lnc_store_remember(ctx, reader->file->store, &reader->file->identity, wanted[n].offset,
									   (LncSlice){.data = bytes[n], .size = (size_t)ranges[i].length}));
		outs[i] = bytes[n++];
	}
	return LNC_OK;
}

/* Part of a window for whoever uses arena. */
static LncCode
hand_out(LncContext *ctx, const Window *window, LncArena *arena, uint64_t offset, size_t length,
		 const uint8_t **out)
{
	const uint8_t *part = window->data + offset;
	void *copy;

	if (length >= LEND_LEAST && length >= window->length / LEND_PART)
	{
		LNC_TRY(lnc_arena_on_cleanup(ctx, arena, release_fetch, window->fetch));
		window->fetch->users++;
		*out = part;
		return LNC_OK;
	}
	LNC_TRY(lnc_arena_alloc(ctx, arena, length, &copy));
	memcpy(copy, part, length);
	*out = copy;
	return LNC_OK;
}

/* Have what comes behind the windows at hand on its way, and let move on what is. */
static LncCode
begin_aheads(LncContext *ctx, PageReader *reader, size_t nranges, const LncPageRange *ranges)
{
	for (size_t i = 0; reader->in_order && i < nranges; i++)
	{
		if (ranges[i].length > 0 && reader->windows[ranges[i].buffer].want == WANT_WINDOW)
			LNC_TRY(begin_ahead(ctx, reader, ranges[i].buffer));
	}
	return lnc_store_move_on(ctx, reader->file->store);
}

/* LncPageSource.read */
static LncCode
read_page(LncContext *ctx, const LncPageSource *source, LncArena *arena, size_t nranges, const LncPageRange *ranges,
		  const uint8_t **outs)
{
	static const uint8_t nothing[1];
	PageReader *reader = source->state;

	LNC_TRY(lnc_check_interrupt(ctx));
	if (nranges == 0)
		return LNC_OK;
	LNC_TRY(gather_wants(ctx, reader, nranges, ranges));
	LNC_TRY(fetch_windows(ctx, reader, arena, nranges, ranges));
	if (reader->begins)
		LNC_TRY(begin_aheads(ctx, reader, nranges, ranges));
	LNC_TRY(read_exact(ctx, reader, arena, nranges, ranges, outs));
	for (size_t i = 0; i < nranges; i++)
	{
		const Window *window = &reader->windows[ranges[i].buffer];

		if (ranges[i].length == 0)
		{
			outs[i] = nothing;
			continue;
		}
		if (window->want != WANT_WINDOW)
			continue;
		LNC_TRY(
			hand_out(ctx, window, arena, ranges[i].offset - window->offset, (size_t)ranges[i].length, &outs[i]));
		if (reader->opening && ranges[i].length == reader->page->sizes[ranges[i].buffer] &&
			ranges[i].length <= LNC_LONGEST_REMEMBERED)
			LNC_TRY(lnc_store_remember(ctx, reader->file->store, &reader->file->identity,
									   reader->page->offsets[ranges[i].buffer],
									   (LncSlice){.data = outs[i], .size = (size_t)ranges[i].length}));
	}
	return LNC_OK;
}

LncCode
lnc_page_reader_create(LncContext *ctx, LncArena *arena, LncFile *file, PageReader **out)
{
	PageReader *reader;

	LNC_TRY(LNC_NEW(ctx, arena, &reader, 1));
	reader->file = file;
	reader->near = lnc_store_near(file->store);
	reader->begins = lnc_store_begins(file->store);
	reader->ahead = LNC_READ_AHEAD_LEAST;
	file->nreaders++;
	reader->source.gap = reader->near ? NEAR_GAP : FAR_GAP;
	reader->source.read = read_page;
	reader->source.state = reader;
	LNC_TRY(lnc_arena_create_child(ctx, arena, &reader->arena));
	LNC_TRY(lnc_arena_create_child(ctx, arena, &reader->expected_arena));
	/* Registered after the arena, so that it runs while the windows in it are still there. */
	LNC_TRY(lnc_arena_on_cleanup(ctx, arena, cleanup_reader, reader));
	*out = reader;
	return LNC_OK;
}

LncCode
lnc_page_reader_open(LncContext *ctx, PageReader *reader, const FilePage *page)
{
	drop_page(reader);
	lnc_arena_reset(reader->arena);
	LNC_TRY(LNC_NEW(ctx, reader->arena, &reader->windows, page->nbuffers));
	for (uint32_t i = 0; reader->expected_page == page && i < page->nbuffers; i++)
	{
		reader->windows[i].ahead = reader->expected[i];
		reader->expected[i].fetch = NULL;
	}
	drop_expected(reader);
	reader->page = page;
	reader->source.nbuffers = page->nbuffers;
	reader->source.sizes = page->sizes;
	return LNC_OK;
}

void
lnc_page_reader_opening(PageReader *reader, bool opening)
{
	reader->opening = opening;
}

const LncPageSource *
lnc_page_reader_source(const PageReader *reader)
{
	return &reader->source;
}

void
lnc_page_reader_sequential(PageReader *reader, bool sequential)
{
	reader->in_order = sequential;
	if (!sequential)
		reader->ahead = LNC_READ_AHEAD_LEAST;
	else if (reader->ahead < read_ahead(reader) / WINDOW_GROWTH)
		reader->ahead *= WINDOW_GROWTH;
	else
		reader->ahead = read_ahead(reader);
}
