/*
 * commit.h
 *	  The commit protocol: how a staged manifest becomes the next version of a branch.
 *
 * Under the lock of the table's row (one committer at a time):
 *	1. versions that lie in the store beyond those on record are recorded (adopted); what transactions that never committed
 *	   have left there is removed (intent.h);
 *	2. the version must be the next one; the same manifest sent again is recognised as our own earlier success;
 *	3. the staged bytes are read, the version's row is inserted, the staged file goes to the cleanup queue.
 * As the last step before the transaction commits (after everything else that can fail):
 *	4. the bytes are written under the final name, if nothing has that name (publish.h).
 *
 * So a rolled back transaction, or savepoint, leaves nothing, and no error is answered once the final name was written.
 * A transaction may create versions of several tables, and several of one; they and all else it does stand or fall
 * together. The exception is the one version that a REST request creates: between 4 and the commit record a crash, or a
 * cancel while the store holds its answer back, leaves a version that is committed by rule: it lies under a final name,
 * and the next one who looks adopts it. A cancel in 4 is reported as an unknown outcome. Stores without conditional writes
 * are written after a check that the name is free; the row's lock keeps the catalog's other writers away.
 */
#ifndef LANCE_CATALOG_COMMIT_H
#define LANCE_CATALOG_COMMIT_H

#include "catalog/history.h"
#include "catalog/publish.h"

typedef struct LanceCommitRequest
{
	int64 version;
	const char
		*staged_key; /* relative to the table's location, in the branch's folder; NULL: body is the manifest */
	LncSlice body;
	int nfiles; /* written before the manifest */
	const LanceCommitFile *files;
	LncNaming naming; /* for the first version of the branch; later ones follow it */
	LanceProperties metadata;
} LanceCommitRequest;

/*
 * Make the version part of the history at commit of the current transaction. The table's row must be locked with
 * LANCE_LOCK_UPDATE. Fills *item as it will stand. Throws LANCE_CONCURRENT_MODIFICATION when the version is taken or
 * not the next, LANCE_INVALID_INPUT when the staged file is missing. The commit may throw
 * LANCE_CONCURRENT_MODIFICATION too: when a writer past the catalog was faster.
 */
extern void lance_commit_version(LanceHistory *history, const LanceCommitRequest *request, LanceHistoryItem *item);

/* Record what lies in the store beyond the rows. The table's row must be locked. Returns the newest version, 0: none. */
extern uint64 lance_commit_adopt(LanceHistory *history, LncNaming *naming);

/*
 * Record it, where some of it is to go: what wanted says so of is recorded as deleted at once. It is called for each version
 * but the newest, in ascending order. Returns how many were.
 */
typedef bool (*LanceTrimFn)(void *arg, int64 version);
extern uint64 lance_commit_trim(LanceHistory *history, LanceTrimFn wanted, void *arg);

/*
 * Before the rows of a table go and its files stay: take away the intents of all versions on record, which count from here on by
 * lying there, and what never counted. Without the rows nobody could tell the one from the other. The table's row must be
 * locked. Throws LANCE_UNSUPPORTED when the current transaction has versions of it to publish. A store that can't be
 * reached within a few seconds does not keep a table: then there is a warning.
 */
extern void lance_commit_part(const LanceTableRow *table);

/* The version of a pending one as it will stand, without metadata of its row. */
extern void lance_commit_pending_item(const LancePending *pending, LanceHistoryItem *item);

/* True for the version that the current transaction will write at its commit. */
extern bool lance_commit_is_pending(int64 table_id, const char *branch, int64 version);

#endif
