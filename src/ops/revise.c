/*
 * revise.c
 *	  The beginning and the end of an operation that revises a manifest.
 */
#include "postgres.h"

#include "catalog/commit.h"
#include "catalog/transaction_entry.h"
#include "ops/check.h"
#include "ops/history_of.h"
#include "ops/revise.h"
#include "pg/errcodes.h"
#include "pg/report.h"
#include "pg/uuid.h"
#include "utils/timestamp.h"

void
lance_revise_check_count(int64 count, const char *what)
{
	if (count > LANCE_MAX_CHANGES)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("too many changes in %s", what),
						errdetail("At most %d are allowed in one request.", LANCE_MAX_CHANGES)));
}

void
lance_revise_begin(const LanceId *id, const char *branch, LanceRevise *revise)
{
	LanceHistory *history = &revise->history;
	const LancePending *pending;
	LanceHistoryItem *item;
	LanceLibrary *lib;

	revise->id = id;
	lance_history_of(id, branch, LANCE_LOCK_UPDATE, LANCE_LEVEL_WRITE, history);
	lib = history->lib;
	item = lance_history_newest_here(history, &pending);
	if (item == NULL)
		lance_version_missing(history, id, 0);
	revise->pending = pending != NULL;
	revise->latest = item->version;
	revise->naming = item->naming;
	revise->manifest_key = item->manifest_key;
	lance_check(&lib->ctx, lnc_revision_begin(&lib->ctx, lib->arena, history->store, revise->manifest_key,
											  pending != NULL ? &pending->body : NULL, &revise->revision));
}

void
lance_revise_check(LanceRevise *revise, LncCode code)
{
	const LncError *error = &revise->history.lib->ctx.error;

	if (code == LNC_NOT_FOUND)
		ereport(ERROR,
				(lance_errcode(LANCE_COLUMN_NOT_FOUND), errmsg("%s", error->message),
				 errdetail("Table \"%s\", version " UINT64_FORMAT ".", lance_id_text(revise->id), revise->latest)));
	lance_check(&revise->history.lib->ctx, code);
}

void
lance_revise_commit(LanceRevise *revise, LanceRevised *out)
{
	LanceHistory *history = &revise->history;
	LanceLibrary *lib = history->lib;
	LncRevisionStamp stamp = {
		.transaction_id = lance_new_uuid(),
		.writer_library = "lance_catalog",
		.writer_version = LANCE_CATALOG_VERSION,
		.now_us = lance_unix_us(GetCurrentTimestamp()),
	};
	LanceCommitRequest commit = {0};
	LanceTransactionRow row = {0};
	LanceHistoryItem item;
	LanceCommitFile file;
	LncRevisionFiles files;

	/* So that the outcome is always known: the caller could not tell his version from another's equal one. */
	lance_publish_together();
	lance_check(&lib->ctx, lnc_revision_finish(&lib->ctx, revise->revision, &stamp, &files));
	file.key = files.transaction_key;
	file.body = files.transaction;
	commit.version = (int64)files.version;
	commit.naming = revise->naming;
	commit.body = files.manifest;
	commit.files = &file;
	commit.nfiles = 1;
	lance_commit_version(history, &commit, &item);

	row.transaction_id = (char *)stamp.transaction_id;
	row.branch = (char *)history->branch;
	row.version = (int64)files.version;
	row.read_version = (int64)files.read_version;
	row.operation = (char *)files.operation;
	lance_transaction_insert(history->table->table_id, &row);
	out->version = (int64)files.version;
	out->transaction_id = row.transaction_id;
}
