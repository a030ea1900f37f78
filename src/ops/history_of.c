/*
 * history_of.c
 *	  From a request to the history of a table, and from there to the answer.
 */
#include "postgres.h"

#include "catalog/commit.h"
#include "ops/check.h"
#include "ops/history_of.h"
#include "ops/place.h"
#include "pg/errcodes.h"

void
lance_history_of(const LanceId *id, const char *branch, LanceRowLock lock, LanceLevel needed, LanceHistory *history)
{
	LanceTableRow *table;
	LanceLibrary *lib;

	lance_check_table_id(id);
	table = lance_catalog_find_table(id, lock, needed);
	if (table == NULL)
		lance_table_missing(id);
	if (branch != NULL && branch[0] == '\0')
		branch = NULL;
	if (branch != NULL)
		lance_check_name(branch, "branch name");
	lib = lance_library_create(CurrentMemoryContext);
	lance_history_begin(history, table, branch, lib, lance_place_open(lib, table));
}

/* A version of this transaction as it will stand. */
static LanceHistoryItem *
item_of_pending(const LancePending *pending)
{
	LanceHistoryItem *item = palloc(sizeof(*item));

	lance_commit_pending_item(pending, item);
	return item;
}

LanceHistoryItem *
lance_history_newest_here(LanceHistory *history, const LancePending **pending)
{
	LanceVersionRow *newest = lance_version_row_newest(history->table->table_id, history->branch);

	*pending = NULL;
	if (newest != NULL)
		*pending = lance_publish_find(history->table->table_id, history->branch, newest->version);
	return *pending != NULL ? item_of_pending(*pending) : lance_history_latest(history);
}

LanceHistoryItem *
lance_history_find_here(LanceHistory *history, uint64 version, const LancePending **pending)
{
	*pending = lance_publish_find(history->table->table_id, history->branch, (int64)version);
	return *pending != NULL ? item_of_pending(*pending) : lance_history_find(history, version);
}

void
lance_version_info(const LanceHistory *history, const LanceHistoryItem *item, LanceVersionInfo *out)
{
	const char *root = lnc_store_object_root(history->store);

	memset(out, 0, sizeof(*out));
	out->version = (int64)item->version;
	out->manifest_path = psprintf("%s%s%s", root, root[0] != '\0' ? "/" : "", item->manifest_key);
	out->manifest_size.given = item->size > 0;
	out->manifest_size.value = item->size;
	out->e_tag = item->e_tag;
	out->timestamp_millis.given = item->appeared != 0;
	out->timestamp_millis.value = lance_unix_us(item->appeared) / 1000;
	out->metadata = item->metadata;
}

void
lance_branch_missing(const LanceHistory *history, const LanceId *id)
{
	ereport(ERROR, (lance_errcode(LANCE_BRANCH_NOT_FOUND),
					errmsg("branch \"%s\" of table \"%s\" does not exist", history->branch, lance_id_text(id))));
}

void
lance_version_missing(LanceHistory *history, const LanceId *id, int64 version)
{
	if (history->branch[0] != '\0' && lance_history_latest(history) == NULL)
		lance_branch_missing(history, id);
	if (version <= 0)
		ereport(ERROR,
				(lance_errcode(LANCE_VERSION_NOT_FOUND), errmsg("table \"%s\" has no version", lance_id_text(id)),
				 errdetail("It is declared, but nothing was written to it yet.")));
	ereport(ERROR, (lance_errcode(LANCE_VERSION_NOT_FOUND),
					errmsg("version " INT64_FORMAT " of table \"%s\" does not exist", version, lance_id_text(id))));
}
