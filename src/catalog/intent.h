/*
 * intent.h
 *	  Intents: notes beside the manifests of transactions that are not yet committed.
 *
 * An intent holds the SHA-256, in hex, of the manifest that is meant to become the version. Its tag is random, so that what
 * an earlier transaction left is told from what a later one writes.
 */
#ifndef LANCE_CATALOG_INTENT_H
#define LANCE_CATALOG_INTENT_H

#include "dataset/versions.h"
#include "pg/env.h"

/* A key for the intent of a version, in the library's arena. */
extern char *lance_intent_key(LanceLibrary *lib, const char *folder, int64 version, LncNaming naming);

/* Write the intent for a manifest of these bytes. */
extern void lance_intent_write(LanceLibrary *lib, LncStore *store, const char *key, LncSlice body);

/*
 * Undo: where manifest_key (NULL: it was never written) holds these bytes, it is removed, and then the intent. Throws
 * nothing. Returns LNC_OK only when nothing of ours is left.
 */
extern LncCode lance_intent_withdraw(LanceLibrary *lib, LncStore *store, const char *intent_key,
									 const char *manifest_key, LncSlice body) LNC_MUST_CHECK;

/*
 * Is this manifest one that an intent speaks of? Not so where a writer past the catalog was faster than the transaction that
 * wrote the intent. Reads the manifest.
 */
extern bool lance_intent_covers(LanceLibrary *lib, LncStore *store, const char *folder, const LncVersionFile *file);

/*
 * Does the file of a branch say that it began at this version? Its file is the last thing that is written for a branch, so
 * that its first version counts then, whatever became of the transaction. branch "" is main, which has none.
 */
extern bool lance_intent_begins_branch(LanceLibrary *lib, LncStore *store, const char *branch, uint64 version);

/*
 * Settle what transactions that never committed have left beyond the newest version on record (0: none): their manifests
 * are removed from the store and from list, which lnc_versions_list_all() filled from the folder. The table's row must be locked. A
 * manifest that a version written past the catalog follows stays, since that one is built on it.
 */
extern void lance_intent_settle(LanceLibrary *lib, LncStore *store, int64 table_id, const char *branch,
								const char *folder, uint64 newest, LncVersionList *list);

#endif
