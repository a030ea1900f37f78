/*
 * access.h
 *	  What a role may do with a namespace or a table.
 *
 * A role's level on an entry is the highest that lance.privilege_entry gives it, or a role whose privileges it has, on the
 * entry or on a namespace above. Superusers, and who has the privileges of the extension's owner, have the highest
 * everywhere. Rows that are gone, and those of dropped roles, give nothing. Everything here looks at the rows that a
 * snapshot shows, without a plan (catalog/lookup.h).
 *
 * Operations don't ask here: the functions that find entries (entry.h, table.h) take the level that is needed.
 */
#ifndef LANCE_CATALOG_ACCESS_H
#define LANCE_CATALOG_ACCESS_H

#include "ops/types.h"
#include "utils/snapshot.h"

/* Each includes those before it. */
typedef enum LanceLevel
{
	LANCE_LEVEL_NONE, /* the entry is hidden: it is answered as one that does not exist */
	LANCE_LEVEL_SEEN, /* of namespaces: something below is open to the role, so that it has to see the way there */
	LANCE_LEVEL_READ,
	LANCE_LEVEL_WRITE,
	LANCE_LEVEL_ADMIN
} LanceLevel;

/*
 * The level that a role has on an entry now. Where only something below a namespace is open to it that is LANCE_LEVEL_NONE,
 * as for an entry that is gone.
 */
extern LanceLevel lance_access_of(int64 entry_id, Oid role);

/* ---- on the way down from the root: what catalog/entry.c and catalog/table.c check with */

typedef struct LanceAccess
{
	Oid role;
	Snapshot snapshot;
	LanceLevel enough; /* no more is looked for */
	LanceLevel level;  /* found so far, on the entries passed */
} LanceAccess;

extern void lance_access_begin(LanceAccess *access, Snapshot snapshot, Oid role, LanceLevel enough);

/* Pass an entry: its own rows may raise the level. */
extern void lance_access_pass(LanceAccess *access, int64 entry_id);

/*
 * The way has ended at an entry. True when its level, which is now told apart down to LANCE_LEVEL_SEEN, is what is
 * needed; false when the entry is hidden. Throws LANCE_PERMISSION_DENIED in between; what is "table" or "namespace".
 */
extern bool lance_access_end(LanceAccess *access, int64 entry_id, LanceLevel needed, const char *what,
							 const LanceId *id);

/* ---- lists: what of the children of a namespace is shown, when the role may not read the namespace itself */

typedef struct LanceVisible
{
	LanceAccess access;
	bool all;            /* everything below is */
	struct HTAB *spaces; /* the namespaces above something that is open to the role; NULL: not collected yet */
} LanceVisible;

/* level: on the namespace, as the function that found it tells. */
extern void lance_visible_begin(LanceVisible *visible, Snapshot snapshot, Oid role, LanceLevel level);
extern bool lance_visible_table(LanceVisible *visible, int64 table_id);

/* The level on a child namespace, at most LANCE_LEVEL_READ. */
extern LanceLevel lance_visible_namespace(LanceVisible *visible, int64 entry_id);

/* ---- what the views ask of the current user, as the running statement sees the rows */

/* May he read the entry by a row of its own? True for who has the highest level everywhere. */
extern bool lance_access_is_open(int64 entry_id);

/* The namespaces above what was granted to him; palloc'd. */
extern int lance_access_in_sight(int64 **namespaces);

#endif
