/*
 * revise.h
 *	  What the operations of revision.h have in common: from a request to the newest manifest, and from a revision of it to
 *	  the commit.
 */
#ifndef LANCE_OPS_REVISE_H
#define LANCE_OPS_REVISE_H

#include "dataset/revision.h"
#include "ops/history_of.h"

/* Columns, or entries of maps, that one request may change. */
#define LANCE_MAX_CHANGES 10000

/* Throws LANCE_INVALID_INPUT for more changes than that; what names the list. */
extern void lance_revise_check_count(int64 count, const char *what);

/* A revision on its way. Everything lives in the current memory context. */
typedef struct LanceRevise
{
	const LanceId *id;
	LanceHistory history;
	uint64 latest; /* the version that is revised */
	LncNaming naming;
	const char *manifest_key; /* of latest */
	bool pending;             /* latest is one that this transaction makes, and not in the store yet */
	LncRevision *revision;
} LanceRevise;

/* The version that was made. */
typedef struct LanceRevised
{
	int64 version;
	char *transaction_id;
} LanceRevised;

/*
 * Lock the table's row, find the newest version of the branch and begin a revision of it. Throws what
 * lance_history_of() throws, and LANCE_VERSION_NOT_FOUND for a table that nothing was written to.
 */
extern void lance_revise_begin(const LanceId *id, const char *branch, LanceRevise *revise);

/* Throw for a failed revision: a column that does not exist is LANCE_COLUMN_NOT_FOUND, the rest as lance_check(). */
extern void lance_revise_check(LanceRevise *revise, LncCode code);

/* Finish the revision and commit it with the transaction. */
extern void lance_revise_commit(LanceRevise *revise, LanceRevised *out);

#endif
