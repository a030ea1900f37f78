/*
 * history.h
 *	  The versions of a table as they stand: what lies in the store under final names, minus what is deleted, with what
 *	  the catalog has on record about them. Reads only; works on a standby.
 *
 * Rows are read before the store: a recorded version was in the store before its row could be seen. When the newest
 * recorded one is no longer there, the history is damaged and says so (LANCE_INVALID_TABLE_STATE); older ones that
 * are gone were cleaned up by a client and simply vanish.
 */
#ifndef LANCE_CATALOG_HISTORY_H
#define LANCE_CATALOG_HISTORY_H

#include "catalog/table.h"
#include "catalog/version_entry.h"
#include "dataset/versions.h"
#include "pg/env.h"

#define LANCE_MAX_BRANCH_BYTES 1024

/* A version that exists. Strings in the memory context that was current. */
typedef struct LanceHistoryItem
{
	uint64 version;
	LncNaming naming;
	char *manifest_key; /* relative to the table's location */
	int64 size;
	TimestampTz appeared; /* as recorded, else the file's time */
	char *e_tag;          /* NULL: none on record */
	char *file_e_tag;     /* of the file now, as a listing told it; NULL: not known */
	LanceProperties metadata;
} LanceHistoryItem;

/* A table's branch being looked at. */
typedef struct LanceHistory
{
	const LanceTableRow *table;
	const char *branch;    /* "": main */
	char *folder;          /* of the manifests, relative to the location */
	LanceLibrary *lib;     /* borrowed */
	LncStore *store;       /* borrowed: of the table's location */
	int64 newest_now;      /* the newest with a row after the last look into the store; -1: not asked yet */
	LncVersionList listed; /* names in the folder, as the search for the newest listed them; none when it did not */
} LanceHistory;

/* Throws LANCE_INVALID_INPUT for a branch name that can't be one. branch NULL or "main" is main. */
extern void lance_history_begin(LanceHistory *history, const LanceTableRow *table, const char *branch,
								LanceLibrary *lib, LncStore *store);

/*
 * At most limit versions, in the order asked for, beginning behind after (0: from the first or the newest one). What is
 * read does not grow with the number of versions where the table is managed, or the store lists in order.
 */
extern int lance_history_page(LanceHistory *history, bool descending, uint64 after, int limit,
							  LanceHistoryItem **items);

/* The newest; NULL when there is none. */
extern LanceHistoryItem *lance_history_latest(LanceHistory *history);

/* One version; NULL when it does not exist or was deleted. */
extern LanceHistoryItem *lance_history_find(LanceHistory *history, uint64 version);

/*
 * Throws unless the newest version on record (row; NULL: none) is there, or a newer one is. found: the newest that was seen
 * in the store, 0 for none.
 */
extern void lance_history_check_newest(LanceHistory *history, const LanceVersionRow *row, uint64 found);

/* The naming of a version's manifest, from its key on record. False when that is no such name. */
extern bool lance_history_naming(const LanceVersionRow *row, LncNaming *naming);

/* True when nothing was ever written to the table: main has no version in the store. */
extern bool lance_history_only_declared(const LanceTableRow *table, LanceLibrary *lib, LncStore *store);

/* Milliseconds since the Unix epoch as a timestamp; 0 when it doesn't fit. */
extern TimestampTz lance_timestamp_of_ms(int64 unix_ms);

/* A timestamp as microseconds since the Unix epoch. */
extern int64 lance_unix_us(TimestampTz at);

#endif
