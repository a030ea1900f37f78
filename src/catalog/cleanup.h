/*
 * cleanup.h
 *	  The queue of files that committed transactions left to remove: dropped tables, deleted versions, staged manifests.
 *
 * An item is written in the transaction that orphans the files and worked off after it has committed, never before.
 * A crash in between leaves the item in place.
 */
#ifndef LANCE_CATALOG_CLEANUP_H
#define LANCE_CATALOG_CLEANUP_H

#include "catalog/table.h"

/* Everything below a dropped table's location. */
extern void lance_cleanup_queue_location(const char *location, const char *server_name);

/* One object of a table: key is relative to its location. */
extern void lance_cleanup_queue_object(const LanceTableRow *table, const char *key);

/*
 * The manifests of the versions of a branch that are on record as deleted. versions: n of them, ascending, which are from now
 * on; long runs among them are remembered until the queue has done its work.
 */
extern void lance_cleanup_queue_versions(const LanceTableRow *table, const char *branch, int n,
										 const int64 *versions);

/*
 * A run of versions that wait to be removed, to which this one belongs. Returns false when none is known that the current
 * snapshot has as deleted.
 */
extern bool lance_cleanup_run_of(int64 table_id, const char *branch, int64 version, int64 *first, int64 *last);

/*
 * The files of a branch that is deleted; its versions are marked as deleted. Until they are removed nobody may begin a
 * branch of that name: see lance_cleanup_finish_branch.
 */
extern void lance_cleanup_queue_branch(const LanceTableRow *table, const char *branch);

/* Remove now what the queue has of earlier branches of that name. The table's row must be locked. */
extern void lance_cleanup_finish_branch(const LanceTableRow *table, const char *branch);

/* Items were queued: have the workers woken when the transaction commits. The functions above do so themselves. */
extern void lance_cleanup_wake(void);

/* What one run did. */
typedef struct LanceCleanupResult
{
	int done;
	int failed;           /* recorded in the queue, to be tried again */
	int64 files;          /* objects removed */
	int64 retry_after_ms; /* until the earliest item that failed before is due again; -1: none waits */
} LanceCleanupResult;

/*
 * Work off at most max_items items that are due, in the current transaction (which the caller commits); unless forced, with
 * the last of them other objects of its table. Items that
 * another transaction works on are skipped. A store that fails is recorded, not thrown; only a cancel is. Does
 * nothing in a read-only transaction or on a standby. force: also try items whose time has not come.
 */
extern void lance_cleanup_run(int max_items, bool force, LanceCleanupResult *result);

#endif
