/*
 * publish.h
 *	  The last step of a commit: manifests get their final names as the transaction commits.
 *
 * One version that a client of the REST server creates is committed by its final name: nothing else hangs on it, and
 * whoever finds it may go on from it (commit.h).
 *
 * All else commits with the transaction: several versions, or one among a transaction's other work. Before any manifest
 * gets its final name, each table's folder is given an intent. A version with an intent and no row does not count: so a
 * crash leaves nothing that counts, and the next writer of the table takes it away (intent.h). The names are taken before
 * PostgreSQL's commit, so that a writer past the catalog who was faster fails the transaction as a whole. The intents are
 * removed right after it, before anybody is told of the commit.
 */
#ifndef LANCE_CATALOG_PUBLISH_H
#define LANCE_CATALOG_PUBLISH_H

#include "catalog/history.h"

/* An object to write before the manifest, under a key that nothing else has. */
typedef struct LanceCommitFile
{
	const char *key; /* relative to the table's location */
	LncSlice body;
} LanceCommitFile;

/* A version that this transaction writes at its commit. */
typedef struct LancePending LancePending;

struct LancePending
{
	int64 table_id;
	char *table_name;
	char *branch;
	int64 version;
	LncNaming naming;
	TimestampTz recorded_at;
	char *staged_key; /* NULL: the bytes were made here */
	char *final_key;
	char *intent_key; /* NULL: its final name commits it; there may be no other then */
	LncSlice body;
	int nfiles;
	LanceCommitFile *files;
	LanceLibrary *lib;
	LncStore *store; /* in lib */
};

/*
 * Begin a pending version: its memory context, which all it points to must live in, and a library in that. To be filled in
 * and then passed to lance_publish_add(); until then it is nobody's.
 */
extern LancePending *lance_publish_new(MemoryContext *lifetime);

/* Have it published when the transaction commits; an abort of the current subtransaction forgets it. */
extern void lance_publish_add(LancePending *pending);

/* The pending version; NULL: there is none. */
extern LancePending *lance_publish_find(int64 table_id, const char *branch, int64 version);

/* Has this transaction versions of the table to publish? */
extern bool lance_publish_has_any(int64 table_id);

/* Does a version that is added now need an intent? */
extern bool lance_publish_needs_intent(void);

/*
 * For requests that do more than create one version: all of it commits with the current transaction. In SQL transactions
 * this is always so.
 */
extern void lance_publish_together(void);

/* Have the versions of this transaction published before what other callbacks do that were registered before this call. */
extern void lance_publish_come_first(void);

/* Write an object unless it exists (LNC_EXISTS); on stores without conditional writes after a check. */
extern LncCode lance_publish_put_once(LncContext *ctx, LncStore *store, const char *key,
									  LncSlice body) LNC_MUST_CHECK;

/* Does the object hold exactly these bytes? Throws when that can't be found out. */
extern bool lance_publish_same_bytes(LanceLibrary *lib, LncStore *store, const char *key, LncSlice body);

/* Throws LANCE_CONCURRENT_MODIFICATION. */
extern void lance_publish_lost_race(const char *table_name, int64 version) pg_attribute_noreturn();

/*
 * For callers that answer a client after the commit: with a context set, which must outlive the transaction, what is
 * needed for lance_publish_tidy() is kept in it. NULL ends that.
 */
extern void lance_publish_keep_in(MemoryContext context);

/*
 * After the commit, outside of the transaction: remove the staged files of the versions that it made, so that the client
 * finds them gone when it is answered. Never throws; a failure or a cancel leaves the work to the cleanup queue.
 */
extern void lance_publish_tidy(void);

#endif
