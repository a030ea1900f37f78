/*
 * table_entry.h
 *	  Changes to lance.table_entry, and pages of tables. Lookups are in catalog/table.h, rules on locations in catalog/location.h.
 */
#ifndef LANCE_CATALOG_TABLE_ENTRY_H
#define LANCE_CATALOG_TABLE_ENTRY_H

#include "catalog/entry.h"

/* Add the row of a new table. Throws LANCE_CONCURRENT_MODIFICATION when the location was taken meanwhile. */
extern void lance_table_insert(int64 table_id, const char *location, const char *server_name, bool managed);

/* What has a name in a namespace, locked by nobody; location is NULL for a namespace. False: the name is free. */
extern bool lance_table_name_holder(int64 namespace_id, const char *name, bool *is_table, char **location);

/* The table at exactly this location, as of now: its number, or -1; its id, whose given is false when there is none. */
extern int64 lance_table_number_at(const char *location);
extern void lance_table_id_at(const char *location, LanceId *out);

/* The names from the root down to a namespace. */
extern void lance_table_namespace_path(int64 namespace_id, LanceId *out);

/* One page of tables. */
typedef struct LanceTablePage
{
	int count;
	int64 *table_ids;
	LanceId *ids; /* of lance_table_list_all: the whole ids; else of one part, the name */
} LanceTablePage;

/*
 * A page of all tables that the current user may know of, in the order of their ids, which start after one (nparts 0: from
 * the start). limit -1: all. The tree of names is walked from there on, so that a page costs what is on it, however many
 * tables there are; and what is hidden on the way.
 */
extern void lance_table_list_all(const LanceId *after, int64 limit, LanceTablePage *out);

/* The same of the tables of a namespace, after a name (NULL: from the start). */
extern void lance_table_list(const LanceEntry *space, const char *after, int64 limit, LanceTablePage *out);

/* The table of that number; NULL when it is gone. For what was found otherwise: nothing is checked. */
extern LanceTableRow *lance_table_get(int64 table_id);

#endif
