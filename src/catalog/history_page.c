/*
 * history_page.c
 *	  Pages of a long history.
 */
#include "postgres.h"

#include "catalog/cleanup.h"
#include "catalog/folder_names.h"
#include "catalog/history_internal.h"
#include "miscadmin.h"
#include "pg/report.h"
#include "utils/memutils.h"

/* A page that is being made. */
typedef struct Page
{
	LanceHistory *history;
	LncVersionRange range; /* what is left of it; want is not used */
	int limit;
	int count;
	int capacity;
	LanceHistoryItem *items;
} Page;

/* So many are read at once, and at most. */
#define PAGE_BATCH 1000
#define MOST_AT_ONCE 1000000

/* Room for the next item. */
static LanceHistoryItem *
next_item(Page *page)
{
	if (page->count == page->capacity)
	{
		page->capacity = page->capacity == 0 ? 16 : page->capacity * 2;
		page->items = page->items == NULL ? palloc(page->capacity * sizeof(LanceHistoryItem))
										  : repalloc_huge(page->items, page->capacity * sizeof(LanceHistoryItem));
	}
	return &page->items[page->count++];
}

/* What is left of the range begins behind a version. */
static void
go_on_behind(Page *page, uint64 version)
{
	if (page->range.descending)
		page->range.last = version - 1;
	else
		page->range.first = version + 1;
}

static int
compare_rows(const void *a, const void *b)
{
	int64 left = ((const LanceVersionRow *)a)->version;
	int64 right = ((const LanceVersionRow *)b)->version;

	return (left > right) - (left < right);
}

/* Add those of n files that count. */
static void
add_files(Page *page, size_t n, const LncVersionFile *files)
{
	LanceHistory *history = page->history;
	int64 *versions = palloc((n + 1) * sizeof(int64));
	LanceVersionRow *rows;
	int nrows;

	history->newest_now = -1;
	for (size_t i = 0; i < n; i++)
		versions[i] = (int64)files[i].version;
	nrows = lance_version_rows_of(history->table->table_id, history->branch, (int)n, versions, &rows);
	for (size_t i = 0; i < n && page->count < page->limit; i++)
	{
		LanceVersionRow key = {.version = (int64)files[i].version};
		const LanceVersionRow *row = bsearch(&key, rows, nrows, sizeof(LanceVersionRow), compare_rows);

		if (lance_history_counts(history, &files[i], row))
			lance_history_make_item(&files[i], row, next_item(page));
		go_on_behind(page, files[i].version);
	}
}

static int
compare_versions(const void *a, const void *b)
{
	int64 left = *(const int64 *)a;
	int64 right = *(const int64 *)b;

	return (left > right) - (left < right);
}

/* Copy those of n files that are not deleted. */
static size_t
leave_out_deleted(const LanceHistory *history, size_t n, const LncVersionFile *files, LncVersionFile *out)
{
	int64 ends[2] = {(int64)files[0].version, (int64)files[n - 1].version};
	int64 *deleted;
	int ndeleted = lance_version_numbers(history->table->table_id, history->branch, Min(ends[0], ends[1]),
										 Max(ends[0], ends[1]), true, &deleted);
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
	{
		int64 version = (int64)files[i].version;

		if (bsearch(&version, deleted, ndeleted, sizeof(int64), compare_versions) == NULL)
			out[count++] = files[i];
	}
	pfree(deleted);
	return count;
}

/* ---- pages from names */

/* Where what is left of the page begins with a run of versions that wait for their removal, it is passed over. */
static bool
pass_deleted_run(Page *page)
{
	const LanceHistory *history = page->history;
	uint64 begin = page->range.descending ? page->range.last : page->range.first;
	int64 first;
	int64 last;

	if (page->range.first > page->range.last ||
		!lance_cleanup_run_of(history->table->table_id, history->branch, (int64)begin, &first, &last))
		return false;
	go_on_behind(page, (uint64)(page->range.descending ? first : last));
	return true;
}

/* The rest of the page from the names in the folder. Only files that the page may show are looked at. */
static void
fill_from_names(Page *page)
{
	LanceHistory *history = page->history;
	LncContext *ctx = &history->lib->ctx;
	size_t want = (size_t)Min(page->limit, MOST_AT_ONCE);
	bool all_names = false;
	LncVersionList names;

	/* Where many are gone, larger and larger parts are gone through. */
	while (page->count < page->limit && page->range.first <= page->range.last)
	{
		LncVersionList list;
		LncVersionFile *files;
		uint64 end;
		size_t low = 0;
		size_t n = 0;

		CHECK_FOR_INTERRUPTS();
		if (!all_names)
			all_names = lance_folder_names(history, &page->range, want, &names);
		list = names;
		while (list.nfiles > 0 && list.files[list.nfiles - 1].version > page->range.last)
			list.nfiles--;
		while (low < list.nfiles && list.files[low].version < page->range.first)
			low++;
		files = MemoryContextAllocHuge(CurrentMemoryContext,
									   (Min(list.nfiles - low, want) + 1) * sizeof(LncVersionFile));
		while (n < want && low < list.nfiles)
			files[n++] = list.files[page->range.descending ? --list.nfiles : low++];
		if (n == 0)
			break;
		end = files[n - 1].version;
		n = leave_out_deleted(history, n, files, files);
		for (size_t i = 0; i < n && page->count < page->limit;)
		{
			size_t part = Min(n - i, (size_t)(page->limit - page->count));
			size_t found = part;

			lance_check(ctx, lnc_versions_look(ctx, history->lib->arena, history->store, history->folder, &found,
											   files + i));
			add_files(page, found, files + i);
			i += part;
		}
		go_on_behind(page, end);
		pfree(files);
		if (page->count < page->limit)
			(void)pass_deleted_run(page);
		want = Min(want * 8, (size_t)MOST_AT_ONCE);
	}
}

/* The rest of the page from what the store lists. */
static void
fill_from_store(Page *page, LncNaming naming)
{
	LanceHistory *history = page->history;
	LncContext *ctx = &history->lib->ctx;
	size_t want = (size_t)Min(page->limit, PAGE_BATCH);

	if (lnc_store_near(history->store))
	{
		fill_from_names(page);
		return;
	}

	/* Where many are deleted, larger and larger parts are looked at. */
	while (page->count < page->limit && page->range.first <= page->range.last)
	{
		LncVersionFile *files;
		size_t n;

		page->range.want = want;
		lance_check(ctx, lnc_versions_page(ctx, history->lib->arena, history->store, history->folder, naming,
										   &page->range, &n, &files));
		add_files(page, n, files);
		if (n < want)
			break;
		if (page->count < page->limit)
			(void)pass_deleted_run(page);
		want = Min(want * 2, (size_t)MOST_AT_ONCE);
		CHECK_FOR_INTERRUPTS();
	}
}

/* So many looks for a page may find nothing; beyond, a list of the folder is cheaper. */
#define MOST_MISSES 1000

/*
 * Have a look for n versions, of rows or, where rows is NULL, from one on that no row knows. Adds what is there. False when
 * the store's list must tell.
 */
static bool
look_for_versions(Page *page, LncNaming naming, int n, const LanceVersionRow *rows, uint64 from, int *misses)
{
	LanceHistory *history = page->history;
	LncVersionFile *files = palloc0((n + 1) * sizeof(LncVersionFile));
	size_t count = 0;
	size_t found;
	int row = 0;

	for (int i = 0; i < n; i++)
	{
		if (rows == NULL || !rows[i].deleted)
			files[count++] =
				(LncVersionFile){.version = rows != NULL ? (uint64)rows[i].version : from + i, .naming = naming};
	}
	found = count;
	lance_check(&history->lib->ctx, lnc_versions_look(&history->lib->ctx, history->lib->arena, history->store,
													  history->folder, &found, files));
	*misses += n - (int)found;
	if (rows == NULL)
		return found == 0;
	for (size_t i = 0; i < found && page->count < page->limit; i++)
	{
		while ((uint64)rows[row].version != files[i].version)
			row++;
		lance_history_make_item(&files[i], &rows[row], next_item(page));
	}
	return true;
}

/* How many numbers lie in what is left of the range before a row; all of it when there is none. */
static uint64
numbers_before(const Page *page, const LanceVersionRow *row)
{
	if (row == NULL)
		return page->range.first <= page->range.last ? page->range.last - page->range.first + 1 : 0;
	return page->range.descending ? page->range.last - (uint64)row->version
								  : (uint64)row->version - page->range.first;
}

/* What no row knows between where the page stands and a row (NULL: the end of the range). */
static bool
pass_gap(Page *page, LncNaming naming, const LanceVersionRow *row, int *misses)
{
	uint64 gap = numbers_before(page, row);
	uint64 from = page->range.descending ? page->range.last - gap + 1 : page->range.first;

	if (gap == 0)
		return true;
	return gap <= (uint64)(MOST_MISSES - *misses) && look_for_versions(page, naming, (int)gap, NULL, from, misses);
}

/*
 * The page from rows, each with a look for its file. False when that does not get to the end, with what was found so far:
 * where a version is not on record or many are gone.
 */
static bool
fill_from_rows(Page *page, LncNaming naming)
{
	const LanceHistory *history = page->history;
	int misses = 0;
	int n = 1;

	while (page->count < page->limit && n > 0)
	{
		int batch = Min(page->limit - page->count, PAGE_BATCH);
		LanceVersionRow *rows;
		int before = misses;
		int start = 0;

		CHECK_FOR_INTERRUPTS();
		n = lance_version_rows_page(history->table->table_id, history->branch,
									(int64)(page->range.descending ? page->range.last : page->range.first),
									page->range.descending, batch, &rows);
		while (n > 0 && (uint64)rows[n - 1].version > page->range.last)
			n--;

		/* Runs of consecutive versions, and what lies between them. */
		while (start < n && page->count < page->limit)
		{
			int end = start + 1;

			if (!pass_gap(page, naming, &rows[start], &misses))
				return false;
			while (end < n && Abs(rows[end].version - rows[end - 1].version) == 1)
				end++;
			if (!look_for_versions(page, naming, end - start, &rows[start], 0, &misses))
				return false;
			go_on_behind(page, (uint64)rows[end - 1].version);
			start = end;
			if (end == n && rows[end - 1].deleted && pass_deleted_run(page))
				misses = before;
			if (misses > MOST_MISSES)
				return page->count == page->limit;
		}
	}
	return page->count == page->limit || pass_gap(page, naming, NULL, &misses);
}

LanceHistoryItem *
lance_history_newest_below(LanceHistory *history, const LncVersionFile *file)
{
	Page page = {.history = history, .limit = 1};

	page.range.descending = true;
	page.range.first = 1;
	page.range.last = file->version - 1;
	fill_from_store(&page, file->naming);
	return page.count > 0 ? page.items : NULL;
}

int
lance_history_page(LanceHistory *history, bool descending, uint64 after, int limit, LanceHistoryItem **items)
{
	bool recorded;
	LanceHistoryItem *latest = lance_history_find_latest(history, &recorded);
	Page page = {.history = history, .limit = limit};
	LncVersionRange *range = &page.range;

	*items = NULL;
	if (latest == NULL)
		return 0;
	range->descending = descending;
	range->first = descending ? 1 : after + 1;
	range->last = descending && after > 0 ? Min(after - 1, latest->version) : latest->version;
	if (range->first > range->last)
		return 0;
	if (!(history->table->managed && recorded && lnc_store_near(history->store)) ||
		!fill_from_rows(&page, latest->naming))
		fill_from_store(&page, latest->naming);
	*items = page.items;
	return page.count;
}
