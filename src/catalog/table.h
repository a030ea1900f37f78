/*
 * table.h
 *	  Rows of lance.tables: lookup, insertion, removal. All SQL on that table is in table.c.
 */
#ifndef LANCE_CATALOG_TABLE_H
#define LANCE_CATALOG_TABLE_H

#include "catalog/access.h"
#include "ops/types.h"

/* One catalog table. Strings live in the memory context that was current at the call. */
typedef struct LanceTableRow
{
	int64 table_id;
	int64 namespace_id;
	char *name;
	char *shown;       /* what messages call it: the whole id, or the name where it was found without one */
	char *location;    /* absolute URI or path, exactly as declare answered it */
	char *server_name; /* storage profile */
	bool managed;      /* managed_versioning */
	LanceProperties properties;
	LanceLevel level; /* of the role that it was found for, at least what was needed; NONE: found by its number */
} LanceTableRow;

typedef enum LanceRowLock
{
	LANCE_LOCK_NONE,
	LANCE_LOCK_SHARE, /* keeps the row from being dropped or renamed */
	LANCE_LOCK_UPDATE /* one committer at a time */
} LanceRowLock;

/*
 * The table of that id; NULL when there is none (also when its namespace is missing), or none that the current user may
 * know of. Throws LANCE_PERMISSION_DENIED when he knows of it and has not the level that is needed.
 */
extern LanceTableRow *lance_catalog_find_table(const LanceId *id, LanceRowLock lock, LanceLevel needed);

/* The same without a lock, for a role. */
extern LanceTableRow *lance_catalog_find_table_for(const LanceId *id, LanceLevel needed, Oid role);

/*
 * The tables of a namespace that the current user may read, ordered by name; throws NamespaceNotFound. For IMPORT FOREIGN
 * SCHEMA.
 */
extern int lance_catalog_tables_of(const LanceId *namespace_id, LanceTableRow ***rows);

#endif
