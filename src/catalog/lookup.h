/*
 * lookup.h
 *	  Rows of the catalog's tables by the key of an index, without a plan: a fifth of what a statement costs.
 *
 * For the reads that every request makes. Rights and search_path play no part, since nothing is resolved by name but the
 * tables themselves. An error in between needs no cleanup.
 */
#ifndef LANCE_CATALOG_LOOKUP_H
#define LANCE_CATALOG_LOOKUP_H

#include "access/genam.h"
#include "ops/types.h"
#include "storage/lockdefs.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/* The tables and the columns of their keys. */
typedef enum LanceLookupIndex
{
	LANCE_ENTRY_BY_ID,         /* entry_id */
	LANCE_ENTRY_BY_NAME,       /* parent_id, name */
	LANCE_TABLE_BY_LOCATION,   /* location */
	LANCE_DROPPED_BY_LOCATION, /* location, of the items of the cleanup that are locations */
	LANCE_TABLE_BY_ID,         /* table_id */
	LANCE_API_KEY_BY_HASH,     /* key_hash */
	LANCE_PRIVILEGE_BY_ENTRY,  /* entry_id */
	LANCE_PRIVILEGE_BY_ROLE    /* role_id, privilege */
} LanceLookupIndex;

/* Columns as sql/install/10-schema.sql makes them. */
enum
{
	ENTRY_ID = 1,
	ENTRY_PARENT_ID,
	ENTRY_NAME,
	ENTRY_KIND,
	ENTRY_PROPERTIES
};

enum
{
	TABLE_ID = 1,
	TABLE_LOCATION,
	TABLE_SERVER_NAME,
	TABLE_MANAGED
};

enum
{
	CLEANUP_ID = 1,
	CLEANUP_KIND,
	CLEANUP_LOCATION
};

enum
{
	API_KEY_ID = 1,
	API_KEY_HASH,
	API_KEY_ROLE,
	API_KEY_LABEL,
	API_KEY_CREATED_AT,
	API_KEY_EXPIRES_AT,
	API_KEY_LAST_USED_AT,
	API_KEY_REVOKED_AT
};

enum
{
	PRIVILEGE_ENTRY_ID = 1,
	PRIVILEGE_ROLE,
	PRIVILEGE_NAME
};

typedef struct LanceLookup
{
	Relation relation;
	Oid index;
	Relation order; /* the index, while rows are read in its order */
	SysScanDesc scan;
	Snapshot snapshot;
	HeapTuple tuple; /* the current row; belongs to the scan */
} LanceLookup;

/* What the lookups until lance_lookup_done see: everything committed before the call, under READ COMMITTED. */
extern Snapshot lance_lookup_snapshot(void);
extern void lance_lookup_done(Snapshot snapshot);

/*
 * Look for the row with that key; keys has nkeys of the index' columns, from the first. Returns whether it is there.
 * Throws LANCE_SERVICE_UNAVAILABLE when the extension is not installed. Call lance_lookup_end in either case.
 */
extern bool lance_lookup_begin(LanceLookup *lookup, LanceLookupIndex index, Snapshot snapshot, ScanKey keys,
							   int nkeys);

/* The same for all rows with such keys, in the order of the index; then lance_lookup_next until it returns false. */
extern void lance_lookup_ordered(LanceLookup *lookup, LanceLookupIndex index, Snapshot snapshot, ScanKey keys,
								 int nkeys);
extern bool lance_lookup_next(LanceLookup *lookup);
extern void lance_lookup_end(LanceLookup *lookup);

/* Lock such a table until the transaction ends. */
extern void lance_lookup_lock(LanceLookupIndex index, LOCKMODE mode);

/* Columns of the current row. Texts and maps are palloc'd; NULL gives NULL or 0. */
extern Datum lance_lookup_column(const LanceLookup *lookup, AttrNumber column, bool *isnull);
extern int64 lance_lookup_int64(const LanceLookup *lookup, AttrNumber column);
extern bool lance_lookup_bool(const LanceLookup *lookup, AttrNumber column);
extern bool lance_lookup_null(const LanceLookup *lookup, AttrNumber column);
extern char *lance_lookup_text(const LanceLookup *lookup, AttrNumber column);
extern bool lance_lookup_text_is(const LanceLookup *lookup, AttrNumber column, const char *wanted);
extern void lance_lookup_properties(const LanceLookup *lookup, AttrNumber column, LanceProperties *out);

#endif
