/*
 * version_entry.h
 *	  Rows of lance.version_entry. All SQL on that table is in version_entry.c.
 */
#ifndef LANCE_CATALOG_VERSION_ENTRY_H
#define LANCE_CATALOG_VERSION_ENTRY_H

#include "catalog/table.h"
#include "utils/timestamp.h"

/* Larger manifests are refused. */
#define LANCE_MAX_MANIFEST_BYTES (INT64CONST(1) << 29)

/* One row. branch is "" for main. */
typedef struct LanceVersionRow
{
	int64 version;
	char *manifest_key;
	int64 manifest_size; /* 0: unknown */
	char *e_tag;
	LanceProperties metadata;
	char *staged_key; /* NULL: none, the manifest was made by the catalog or adopted */
	TimestampTz committed_at;
	bool adopted;
	bool deleted;
} LanceVersionRow;

/* All rows of a branch, ascending, deleted ones included. */
extern int lance_version_rows(int64 table_id, const char *branch, LanceVersionRow **rows);

/* At most limit of them, from a version on in the order asked for. */
extern int lance_version_rows_page(int64 table_id, const char *branch, int64 from, bool descending, int64 limit,
								   LanceVersionRow **rows);

/* Those of n versions, ascending. */
extern int lance_version_rows_of(int64 table_id, const char *branch, int n, const int64 *versions,
								 LanceVersionRow **rows);

/* Which versions on record from first to last are deleted, or are not, ascending. */
extern int lance_version_numbers(int64 table_id, const char *branch, int64 first, int64 last, bool deleted,
								 int64 **versions);

/* One row; NULL when there is none. */
extern LanceVersionRow *lance_version_row(int64 table_id, const char *branch, int64 version);

/* The row of the highest version that is not deleted; NULL when there is none. */
extern LanceVersionRow *lance_version_row_newest(int64 table_id, const char *branch);

/* The branches that have rows; "" is main. */
extern int lance_version_branches(int64 table_id, char ***branches);

/* True when any version of the table is on record. */
extern bool lance_version_recorded(int64 table_id);

/* True when there is a row by now, whatever this transaction's snapshot sees. */
extern bool lance_version_recorded_now(int64 table_id, const char *branch, int64 version);

/* The newest version of a branch that has a row by now, deleted or not, whatever the snapshot; 0 when none has. */
extern int64 lance_version_newest_now(int64 table_id, const char *branch);

/* Add a row. False when there is one already, which stays as it is. */
extern bool lance_version_insert(int64 table_id, const char *branch, const LanceVersionRow *row);

/*
 * Add rows of versions that were found in the store, as deleted ones if deleted; those that are there already stay as they
 * are. Returns how many were added.
 */
extern uint64 lance_version_adopt(int64 table_id, const char *branch, bool deleted, int n,
								  const LanceVersionRow *rows);

/* Mark rows as deleted. Returns how many were not before. */
extern uint64 lance_version_mark_deleted(int64 table_id, const char *branch, int n, const int64 *versions);

/* Remove rows for good: what they stand for is gone from the store. */
extern void lance_version_forget(int64 table_id, const char *branch, int n, const int64 *versions);

#endif
