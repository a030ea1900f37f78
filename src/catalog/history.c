/*
 * history.c
 *	  Versions in the store joined with what is on record.
 */
#include "postgres.h"

#include "catalog/commit.h"
#include "catalog/history.h"
#include "catalog/intent.h"
#include "common/int.h"
#include "pg/errcodes.h"
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
	lance_check(&lib->ctx, lnc_versions_folder(&lib->ctx, lib->arena, history->branch, &history->folder));
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
	return !file->intended || !lance_intent_covers(history->lib, history->store, history->folder, file) ||
		   lance_intent_begins_branch(history->lib, history->store, history->branch, file->version);
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

/* A client deleted a manifest that it must not, or the store lost it: nobody may go on as if it had never been. */
static void
damaged(const LanceHistory *history, const LanceVersionRow *row)
{
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

LanceHistoryItem *
lance_history_latest(LanceHistory *history)
{
	LncContext *ctx = &history->lib->ctx;
	LanceVersionRow *newest = lance_version_row_newest(history->table->table_id, history->branch);
	LanceVersionRow *row = newest;
	LncVersionFile file;
	LncCode code = lnc_versions_latest(ctx, history->lib->arena, history->store, history->folder, &file);

	if (code == LNC_NOT_FOUND)
	{
		lance_history_check_newest(history, newest, 0);
		return NULL;
	}
	lance_check(ctx, code);
	lance_history_check_newest(history, newest, file.version);
	if (row == NULL || (uint64)row->version != file.version)
		row = lance_version_row(history->table->table_id, history->branch, (int64)file.version);
	if (!counts(history, &file, row))
	{
		LanceHistoryItem *items;
		int n = lance_history_list(history, &items);

		return n > 0 ? &items[n - 1] : NULL;
	}
	return make_item(&file, row, palloc(sizeof(LanceHistoryItem)));
}

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
		return NULL;
	lance_check(ctx, code);
	if (row == NULL)
		lance_check(ctx, lnc_versions_intended(ctx, history->lib->arena, history->store, history->folder, version,
											   file.naming, &file.intended));
	if (!counts(history, &file, row))
		return NULL;
	return make_item(&file, row, palloc(sizeof(LanceHistoryItem)));
}

bool
lance_history_only_declared(const LanceTableRow *table, LanceLibrary *lib, LncStore *store)
{
	LncVersionFile file;
	LncCode code = lnc_versions_latest(&lib->ctx, lib->arena, store, "_versions", &file);

	if (code == LNC_NOT_FOUND)
		return true;
	lance_check(&lib->ctx, code);
	if (file.intended)
	{
		LanceHistory history;

		lance_history_begin(&history, table, NULL, lib, store);
		return lance_history_latest(&history) == NULL;
	}
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
