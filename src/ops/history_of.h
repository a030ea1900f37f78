/*
 * history_of.h
 *	  From a request's id and branch to the history of a table.
 */
#ifndef LANCE_OPS_HISTORY_OF_H
#define LANCE_OPS_HISTORY_OF_H

#include "catalog/history.h"
#include "catalog/publish.h"

/*
 * Find the table (throws LANCE_TABLE_NOT_FOUND), open its store and begin its history. Everything lives in the current
 * memory context.
 */
extern void lance_history_of(const LanceId *id, const char *branch, LanceRowLock lock, LanceLevel needed,
							 LanceHistory *history);

/*
 * The newest version, or with version the one of that number, those included that this transaction will write at its
 * commit; *pending is then what it will write, else NULL. NULL when there is none.
 */
extern LanceHistoryItem *lance_history_newest_here(LanceHistory *history, const LancePending **pending);
extern LanceHistoryItem *lance_history_find_here(LanceHistory *history, uint64 version,
												 const LancePending **pending);

/* The item as the API shows it: the manifest's path inside the object store. */
extern void lance_version_info(const LanceHistory *history, const LanceHistoryItem *item, LanceVersionInfo *out);

/* Throw for a version that is not there: LANCE_VERSION_NOT_FOUND, or LANCE_BRANCH_NOT_FOUND where there is no such branch. */
extern void lance_version_missing(LanceHistory *history, const LanceId *id, int64 version) pg_attribute_noreturn();

/* Throw LANCE_BRANCH_NOT_FOUND when the history, which has no version, is that of a branch. */
extern void lance_branch_missing(const LanceHistory *history, const LanceId *id) pg_attribute_noreturn();

#endif
