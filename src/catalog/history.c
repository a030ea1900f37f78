/*
 * history.c
 *	  Versions in the store joined with what is on record.
 */
#include "postgres.h"

#include "catalog/commit.h"
#include "catalog/history.h"
#include "catalog/intent.h"
#include "common/int.h"
#include "dataset/version_page.h"
#include "miscadmin.h"
#include "pg/errcodes.h"
#include "pg/reading.h"
#include "pg/report.h"

/* Milliseconds from the Unix epoch to PostgreSQL's. */
#define EPOCH_MS (INT64CONST(86400000) * (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE))

void
lance_history_begin(LanceHistory *history, const LanceTableRow *table, const char *branch, LanceLibrary *lib,
					LncStore *store)
{
	bool main_branch = branch == NULL || strcmp(branch, "main") == 0;

	if (branch != NULL && strlen(branch) > LANCE_MAX_BRANCH_BYTES)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("branch name is too long"),
						errdetail("At most %d bytes are allowed.", LANCE_MAX_BRANCH_BYTES)));
	history->table = table;
	history->branch = main_branch ? "" : branch;
	history->lib = lib;
	history->store = store;
	history->newest_now = -1;
	lance_check(&lib->ctx, lnc_versions_folder(&lib->ctx, lib->arena, history->branch, &history->folder));
}

/*
 * Whether a version without a row for this statement was committed through the catalog since it began: then it will be
 * there for the next one, together with all else that its transaction did. To be asked after the look into the store, from
 * which on a transaction that had written its manifests and removed its intents has its rows.
 */
static bool
came_later(LanceHistory *history, const LncVersionFile *file)
{
	int64 table_id = history->table->table_id;

	if (!lance_reading())
		return false;
	if (history->newest_now < 0)
		history->newest_now = lance_version_newest_now(table_id, history->branch);
	return file->version <= (uint64)history->newest_now &&
		   lance_version_recorded_now(table_id, history->branch, (int64)file->version);
}

/*
 * What lies under a final name counts. Except when no row says so and an intent for it lies there too: then it belongs to
 * a transaction that has not committed, or never will. The first version of a branch counts once the branch has its file.
 */
static bool
counts(LanceHistory *history, const LncVersionFile *file, const LanceVersionRow *row)
{
	if (row != NULL)
		return !row->deleted;
	if (file->intended && lance_intent_covers(history->lib, history->store, history->folder, file))
		return lance_intent_begins_branch(history->lib, history->store, history->branch, file->version);
	return !came_later(history, file);
}

static LanceHistoryItem *
make_item(const LncVersionFile *file, const LanceVersionRow *row, LanceHistoryItem *item)
{
	item->version = file->version;
	item->naming = file->naming;
	item->manifest_key = pstrdup(file->key);
	item->size = (int64)Min(file->size, (uint64)PG_INT64_MAX);
	item->appeared = row != NULL ? row->committed_at : lance_timestamp_of_ms(file->modified_ms);
	item->e_tag = row != NULL ? row->e_tag : NULL;
	if (row != NULL)
		item->metadata = row->metadata;
	else
		memset(&item->metadata, 0, sizeof(item->metadata));
	return item;
}

/*
 * A client deleted a manifest that it must not, or the store lost it: nobody may go on as if it had never been. But a statement
 * may still see a table that was dropped since it began, and whose files are gone.
 */
static void
damaged(const LanceHistory *history, const LanceVersionRow *row)
{
	if (!lance_version_recorded_now(history->table->table_id, history->branch, row->version))
		ereport(ERROR,
				(lance_errcode(LANCE_TABLE_NOT_FOUND), errmsg("table \"%s\" does not exist", history->table->shown),
				 errdetail("It was dropped after this statement began.")));
	ereport(
		ERROR,
		(lance_errcode(LANCE_INVALID_TABLE_STATE),
		 errmsg("the manifest of version " INT64_FORMAT " of table \"%s\" is missing", row->version,
				history->table->shown),
		 errdetail("The object \"%s/%s\" is recorded as the newest version, but is not in the store.",
				   history->table->location, row->manifest_key),
		 errhint("Restore the object, or delete the version with lance_delete_table_versions() to go on from an "
				 "older one.")));
}

void
lance_history_check_newest(LanceHistory *history, const LanceVersionRow *row, uint64 found)
{
	LncVersionFile file;
	LncCode code;

	if (row == NULL || found >= (uint64)row->version ||
		lance_commit_is_pending(history->table->table_id, history->branch, row->version))
		return;
	code = lnc_versions_find(&history->lib->ctx, history->lib->arena, history->store, history->folder, row->version,
							 &file);
	if (code == LNC_NOT_FOUND)
		damaged(history, row);
	lance_check(&history->lib->ctx, code);
}

int
lance_history_list(LanceHistory *history, LanceHistoryItem **items)
{
	LncContext *ctx = &history->lib->ctx;
	LanceVersionRow *rows;
	LanceVersionRow *newest = NULL;
	int nrows = lance_version_rows(history->table->table_id, history->branch, &rows);
	LncVersionFile *files;
	size_t nfiles;
	int row = 0;
	int n = 0;

	for (int i = 0; i < nrows; i++)
	{
		if (!rows[i].deleted)
			newest = &rows[i];
	}
	lance_check(ctx,
				lnc_versions_list(ctx, history->lib->arena, history->store, history->folder, 0, &nfiles, &files));
	history->newest_now = -1;
	lance_history_check_newest(history, newest, nfiles > 0 ? files[nfiles - 1].version : 0);
	if (nfiles > PG_INT32_MAX)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("table \"%s\" has too many versions", history->table->shown)));
	*items = MemoryContextAllocHuge(CurrentMemoryContext, (nfiles + 1) * sizeof(LanceHistoryItem));
	for (size_t i = 0; i < nfiles; i++)
	{
		const LanceVersionRow *match = NULL;

		while (row < nrows && (uint64)rows[row].version < files[i].version)
			row++;
		if (row < nrows && (uint64)rows[row].version == files[i].version)
			match = &rows[row];
		if (counts(history, &files[i], match))
			make_item(&files[i], match, &(*items)[n++]);
	}
	return n;
}

/* ---- pages */

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

		if (counts(history, &files[i], row))
			make_item(&files[i], row, next_item(page));
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

/* ---- folders as they were last listed */

/* What the names in a folder of manifests came to, when it was listed without an intent in it. */
typedef struct Folder
{
	LncFolderStamp stamp; /* of zeroes: none */
	uint64 oldest;
	uint64 newest;
	uint64 count;
	LncNaming naming;
} Folder;

/* Of this process, each in the place that its number on disk gives. */
#define FOLDERS 256

static Folder folders[FOLDERS];

/* A listing says what the folder is until its next change, if the last one is so old that the next has another time. */
#define SETTLED_MS 1000

/*
 * What is known of the folder, if it is as it was. *stamp is what to remember what is now found with, of zeroes when
 * that is of no use.
 */
static const Folder *
known_folder(LanceHistory *history, LncFolderStamp *stamp)
{
	LncContext *ctx = &history->lib->ctx;
	bool settled = false;
	const Folder *known;
	LncCode code;

	memset(stamp, 0, sizeof(*stamp));
	if (!lnc_store_near(history->store))
		return NULL;
	code = lnc_store_folder_stamp(ctx, history->store, history->folder, SETTLED_MS, stamp, &settled);
	if (code == LNC_NOT_FOUND)
		return NULL;
	lance_check(ctx, code);
	known = &folders[stamp->number % FOLDERS];
	if (memcmp(&known->stamp, stamp, sizeof(*stamp)) == 0)
		return known;
	if (!settled)
		memset(stamp, 0, sizeof(*stamp));
	return NULL;
}

/* Remember what was listed after the stamp was taken. */
static void
remember_folder(const LncFolderStamp *stamp, const LncVersionList *list)
{
	Folder *folder = &folders[stamp->number % FOLDERS];

	if (stamp->changed_ns == 0 || list->nintents > 0 || list->nfiles == 0)
		return;
	folder->stamp = *stamp;
	folder->oldest = list->files[0].version;
	folder->newest = list->files[list->nfiles - 1].version;
	folder->count = list->nfiles;
	folder->naming = list->files[0].naming;
}

/* The newest file of a folder on a near store, with all that is to be known of it. */
static LncCode
newest_listed(LanceHistory *history, LncVersionFile *file)
{
	LncContext *ctx = &history->lib->ctx;
	LncArena *arena = history->lib->arena;
	LncFolderStamp stamp;
	const Folder *known = known_folder(history, &stamp);
	LncVersionList list;
	size_t count = 1;

	if (known != NULL)
		*file = (LncVersionFile){.version = known->newest, .naming = known->naming};
	else
	{
		LNC_TRY(lnc_versions_names(ctx, arena, history->store, history->folder, 0, &list));
		remember_folder(&stamp, &list);
		count = list.nfiles > 0;
		if (count > 0)
			*file = list.files[list.nfiles - 1];
	}
	if (count > 0)
		LNC_TRY(lnc_versions_look(ctx, arena, history->store, history->folder, &count, file));

	/* None, or it went away in between. */
	return count > 0 ? LNC_OK : lnc_versions_latest(ctx, arena, history->store, history->folder, file);
}

/* Whether an intent for the version lies in the folder. */
static bool
is_intended(LanceHistory *history, const LncVersionFile *file)
{
	LncFolderStamp stamp;
	bool intended;

	if (known_folder(history, &stamp) != NULL)
		return false;
	lance_check(&history->lib->ctx, lnc_versions_intended(&history->lib->ctx, history->lib->arena, history->store,
														  history->folder, file->version, file->naming, &intended));
	return intended;
}

/*
 * Names of the versions of a range, some of which may be gone. Where the folder is known to hold every one between its ends,
 * at most `most` are given, from the side where the range begins.
 */
static void
list_names(LanceHistory *history, const LncVersionRange *range, size_t most, LncVersionList *list)
{
	LncFolderStamp stamp;
	const Folder *known = known_folder(history, &stamp);
	uint64 first;
	uint64 last;
	LncContext *ctx = &history->lib->ctx;

	if (known == NULL || known->count != known->newest - known->oldest + 1)
	{
		lance_check(ctx, lnc_versions_names(ctx, history->lib->arena, history->store, history->folder, 0, list));
		remember_folder(&stamp, list);
		return;
	}
	memset(list, 0, sizeof(*list));
	first = Max(range->first, known->oldest);
	last = Min(range->last, known->newest);
	if (first > last)
		return;
	if (last - first >= most && range->descending)
		first = last - most + 1;
	else if (last - first >= most)
		last = first + most - 1;
	list->nfiles = last - first + 1;
	list->files = MemoryContextAllocHuge(CurrentMemoryContext, list->nfiles * sizeof(LncVersionFile));
	memset(list->files, 0, list->nfiles * sizeof(LncVersionFile));
	for (size_t i = 0; i < list->nfiles; i++)
	{
		list->files[i].version = first + i;
		list->files[i].naming = known->naming;
	}
}

/* ---- pages from names */

/* The rest of the page from the names in the folder. Only files that the page may show are looked at. */
static void
fill_from_names(Page *page)
{
	LanceHistory *history = page->history;
	LncContext *ctx = &history->lib->ctx;
	size_t want = (size_t)Min(page->limit, MOST_AT_ONCE);

	/* Where many are deleted and wait for their removal, larger and larger parts are gone through. */
	for (; page->count < page->limit && page->range.first <= page->range.last;
		 want = Min(want * 8, (size_t)MOST_AT_ONCE))
	{
		LncVersionList list;
		LncVersionFile *files;
		uint64 end;
		size_t low = 0;
		size_t n = 0;

		CHECK_FOR_INTERRUPTS();
		list_names(history, &page->range, want, &list);
		while (list.nfiles > 0 && list.files[list.nfiles - 1].version > page->range.last)
			list.nfiles--;
		while (low < list.nfiles && list.files[low].version < page->range.first)
			low++;
		files = MemoryContextAllocHuge(CurrentMemoryContext, (list.nfiles - low + 1) * sizeof(LncVersionFile));
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

	/* Where many are deleted and wait for their removal, larger and larger parts are looked at. */
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
		make_item(&files[i], &rows[row], next_item(page));
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
			if (misses > MOST_MISSES)
				return page->count == page->limit;
		}
	}
	return page->count == page->limit || pass_gap(page, naming, NULL, &misses);
}

/* ---- the newest end */

bool
lance_history_naming(const LanceVersionRow *row, LncNaming *naming)
{
	const char *slash = strrchr(row->manifest_key, '/');
	uint64 version;

	return slash != NULL && lnc_versions_parse_name(slash + 1, &version, naming) && version == (uint64)row->version;
}

/* The newest row of what is in the store already: newest, unless this transaction has yet to write it. NULL: none. */
static LanceVersionRow *
newest_written(const LanceHistory *history, LanceVersionRow *newest)
{
	int64 table_id = history->table->table_id;

	while (newest != NULL &&
		   (newest->deleted || lance_commit_is_pending(table_id, history->branch, newest->version)))
	{
		LanceVersionRow *rows;

		newest = lance_version_rows_page(table_id, history->branch, newest->version - 1, true, 1, &rows) == 1
					 ? rows
					 : NULL;
	}
	return newest;
}

/*
 * The newest file. Writers of a managed table come through the catalog, so that its newest row is where to look from, on
 * stores where a look costs less than a list.
 */
static LncCode
newest_file(LanceHistory *history, LanceVersionRow *newest, LncVersionFile *file)
{
	LncContext *ctx = &history->lib->ctx;
	LncArena *arena = history->lib->arena;
	LanceVersionRow *written = NULL;
	LncNaming naming;
	LncCode code;

	if (history->table->managed && lnc_store_near(history->store))
		written = newest_written(history, newest);
	if (written == NULL || !lance_history_naming(written, &naming))
		return lnc_store_near(history->store)
				   ? newest_listed(history, file)
				   : lnc_versions_latest(ctx, arena, history->store, history->folder, file);
	code = lnc_versions_latest_since(ctx, arena, history->store, history->folder, (uint64)written->version, naming,
									 file);
	if (code == LNC_OK && file->version > (uint64)written->version)
		file->intended = is_intended(history, file);
	return code;
}

/* The newest version below one that does not count; NULL when there is none. */
static LanceHistoryItem *
newest_below(LanceHistory *history, const LncVersionFile *file)
{
	Page page = {.history = history, .limit = 1};

	page.range.descending = true;
	page.range.first = 1;
	page.range.last = file->version - 1;
	fill_from_store(&page, file->naming);
	return page.count > 0 ? page.items : NULL;
}

/* The newest; *recorded tells whether a row says so. NULL when there is none. */
static LanceHistoryItem *
find_latest(LanceHistory *history, bool *recorded)
{
	LanceVersionRow *newest = lance_version_row_newest(history->table->table_id, history->branch);
	LanceVersionRow *row = newest;
	LncVersionFile file;
	LncCode code = newest_file(history, newest, &file);

	*recorded = false;
	if (code == LNC_NOT_FOUND)
	{
		lance_history_check_newest(history, newest, 0);
		return NULL;
	}
	lance_check(&history->lib->ctx, code);
	history->newest_now = -1;
	lance_history_check_newest(history, newest, file.version);
	if (row == NULL || (uint64)row->version != file.version)
		row = lance_version_row(history->table->table_id, history->branch, (int64)file.version);
	if (!counts(history, &file, row))
		return newest_below(history, &file);
	*recorded = row != NULL;
	return make_item(&file, row, palloc(sizeof(LanceHistoryItem)));
}

LanceHistoryItem *
lance_history_latest(LanceHistory *history)
{
	bool recorded;

	return find_latest(history, &recorded);
}

int
lance_history_page(LanceHistory *history, bool descending, uint64 after, int limit, LanceHistoryItem **items)
{
	bool recorded;
	LanceHistoryItem *latest = find_latest(history, &recorded);
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

/* ---- one of them */

LanceHistoryItem *
lance_history_find(LanceHistory *history, uint64 version)
{
	LncContext *ctx = &history->lib->ctx;
	LanceVersionRow *row;
	LncVersionFile file;
	LncCode code;

	if (version == 0 || version > (uint64)PG_INT64_MAX)
		return NULL;
	row = lance_version_row(history->table->table_id, history->branch, (int64)version);
	if (row != NULL && row->deleted)
		return NULL;
	code = lnc_versions_find(ctx, history->lib->arena, history->store, history->folder, version, &file);
	if (code == LNC_NOT_FOUND)
	{
		/* Gone, as old versions go; but the newest on record is not to be taken for one that never was. */
		LanceVersionRow *newest =
			row != NULL ? lance_version_row_newest(history->table->table_id, history->branch) : NULL;

		if (newest != NULL && newest->version == row->version)
			(void)lance_history_latest(history);
		return NULL;
	}
	lance_check(ctx, code);
	history->newest_now = -1;
	if (row == NULL)
		file.intended = is_intended(history, &file);
	if (!counts(history, &file, row))
		return NULL;
	return make_item(&file, row, palloc(sizeof(LanceHistoryItem)));
}

bool
lance_history_only_declared(const LanceTableRow *table, LanceLibrary *lib, LncStore *store)
{
	LanceVersionRow *newest = lance_version_row_newest(table->table_id, "");
	LanceHistory history;
	LncVersionFile file;
	LncCode code = LNC_NOT_FOUND;

	lance_history_begin(&history, table, NULL, lib, store);

	/* Anything will do, and what is on record is found at once. */
	if (newest != NULL)
		code = lnc_versions_find(&lib->ctx, lib->arena, store, "_versions", (uint64)newest->version, &file);
	if (code == LNC_OK)
		return false;
	if (code == LNC_NOT_FOUND)
		code = lnc_store_near(store) ? newest_listed(&history, &file)
									 : lnc_versions_latest(&lib->ctx, lib->arena, store, "_versions", &file);
	if (code == LNC_NOT_FOUND)
		return true;
	lance_check(&lib->ctx, code);
	if (file.intended || lance_reading())
		return lance_history_latest(&history) == NULL;
	return false;
}

TimestampTz
lance_timestamp_of_ms(int64 unix_ms)
{
	int64 us;

	if (pg_sub_s64_overflow(unix_ms, EPOCH_MS, &us) || pg_mul_s64_overflow(us, 1000, &us) ||
		!IS_VALID_TIMESTAMP(us))
		return 0;
	return us;
}

int64
lance_unix_us(TimestampTz at)
{
	int64 us;

	return pg_add_s64_overflow(at, EPOCH_MS * 1000, &us) ? PG_INT64_MAX : us;
}
