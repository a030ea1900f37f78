/*
 * history.c
 *	  Versions in the store joined with what is on record.
 */
#include "postgres.h"

#include "catalog/commit.h"
#include "catalog/folder_names.h"
#include "catalog/history_internal.h"
#include "catalog/intent.h"
#include "common/int.h"
#include "dataset/version_page.h"
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
	memset(&history->listed, 0, sizeof(history->listed));
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

bool
lance_history_counts(LanceHistory *history, const LncVersionFile *file, const LanceVersionRow *row)
{
	if (row != NULL)
		return !row->deleted;
	if (file->intended && lance_intent_covers(history->lib, history->store, history->folder, file))
		return lance_intent_begins_branch(history->lib, history->store, history->branch, file->version);
	return !came_later(history, file);
}

LanceHistoryItem *
lance_history_make_item(const LncVersionFile *file, const LanceVersionRow *row, LanceHistoryItem *item)
{
	item->version = file->version;
	item->naming = file->naming;
	item->manifest_key = pstrdup(file->key);
	item->size = (int64)Min(file->size, (uint64)PG_INT64_MAX);
	item->appeared = row != NULL ? row->committed_at : lance_timestamp_of_ms(file->modified_ms);
	item->e_tag = row != NULL ? row->e_tag : NULL;
	item->file_e_tag = file->e_tag != NULL ? pstrdup(file->e_tag) : NULL;
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
				   ? lance_folder_newest(history, file)
				   : lnc_versions_latest(ctx, arena, history->store, history->folder, file);
	code = lnc_versions_latest_since(ctx, arena, history->store, history->folder, (uint64)written->version, naming,
									 file);
	if (code == LNC_OK && file->version > (uint64)written->version)
		file->intended = lance_folder_intended(history, file);
	return code;
}

LanceHistoryItem *
lance_history_find_latest(LanceHistory *history, bool *recorded)
{
	LanceVersionRow *newest = lance_version_row_newest(history->table->table_id, history->branch);
	LanceVersionRow *row = newest;
	LncVersionFile file;
	LncCode code;

	memset(&history->listed, 0, sizeof(history->listed));
	code = newest_file(history, newest, &file);
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
	if (!lance_history_counts(history, &file, row))
		return lance_history_newest_below(history, &file);
	*recorded = row != NULL;
	return lance_history_make_item(&file, row, palloc(sizeof(LanceHistoryItem)));
}

LanceHistoryItem *
lance_history_latest(LanceHistory *history)
{
	bool recorded;

	return lance_history_find_latest(history, &recorded);
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
		file.intended = lance_folder_intended(history, &file);
	if (!lance_history_counts(history, &file, row))
		return NULL;
	return lance_history_make_item(&file, row, palloc(sizeof(LanceHistoryItem)));
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
		code = lnc_store_near(store) ? lance_folder_newest(&history, &file)
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
