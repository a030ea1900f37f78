/*
 * entry.h
 *	  Names of the catalog: namespaces and tables as rows of lance.catalog_entry.
 *
 * Locks. Who adds a name to a namespace holds its row FOR KEY SHARE, who drops or empties it FOR UPDATE: an entry never
 * outlives its namespace. Rows are locked in the order of their ids, the namespace before what is in it.
 */
#ifndef LANCE_CATALOG_ENTRY_H
#define LANCE_CATALOG_ENTRY_H

#include "catalog/access.h"
#include "catalog/table.h"
#include "utils/snapshot.h"

#define LANCE_ROOT_ENTRY INT64CONST(0)

typedef enum LanceEntryKind
{
	LANCE_ENTRY_NAMESPACE,
	LANCE_ENTRY_TABLE
} LanceEntryKind;

typedef struct LanceEntry
{
	int64 entry_id;
	int64 parent_id; /* -1: this is the root */
	char *name;
	LanceProperties properties;
	LanceLevel
		level; /* of the role that it was found for; LANCE_LEVEL_READ, or what was needed, may stand for more */
} LanceEntry;

/* The id as people write it, "a$b", for messages. Palloc'd. */
extern char *lance_id_text(const LanceId *id);

/*
 * The entry of that id and kind; NULL when there is none, or none that the current user may know of. Throws
 * LANCE_PERMISSION_DENIED, before anything is locked, when he knows of it and has not the level that is needed. The last row
 * only is locked.
 */
extern LanceEntry *lance_entry_find(const LanceId *id, LanceEntryKind kind, LanceRowLock lock, LanceLevel needed);

/* The same without a lock, for a role, as a snapshot shows it (catalog/lookup.h). */
extern LanceEntry *lance_entry_look_up(Snapshot snapshot, const LanceId *id, LanceEntryKind kind, LanceLevel needed,
									   Oid role);

/* The entry of a number. For what was found by the functions above: nothing is checked. */
extern LanceEntry *lance_entry_of_number(Snapshot snapshot, int64 entry_id);

/*
 * Add a name, which the current user then owns, to a namespace whose row the caller holds. Returns the new id, or -1 when
 * the name is taken; *taken_by is then the kind of what has it.
 */
extern int64 lance_entry_insert(int64 parent_id, const char *name, LanceEntryKind kind,
								const LanceProperties *properties, LanceEntryKind *taken_by);

extern void lance_entry_set_properties(int64 entry_id, const LanceProperties *properties);

/*
 * Give an entry, whose row the caller holds FOR UPDATE, another name and namespace. False when the name is taken;
 * *taken_by is then the kind of what has it.
 */
extern bool lance_entry_move(int64 entry_id, int64 parent_id, const char *name, LanceEntryKind *taken_by);

extern bool lance_entry_has_children(int64 entry_id);

/*
 * Remove what lies below a namespace, whose row the caller holds FOR UPDATE, and with_self the namespace too. The
 * locations of the tables go to the cleanup queue.
 */
extern void lance_entry_remove_below(int64 entry_id, bool with_self);

/* Remove one entry without children. */
extern void lance_entry_remove(int64 entry_id);

/*
 * Names of that kind in a namespace that the current user may know of, after a name (NULL: from the start), in the order
 * of their bytes, at most limit.
 */
extern void lance_entry_list(const LanceEntry *space, LanceEntryKind kind, const char *after, int64 limit,
							 LanceNameList *out);

/*
 * The value of a property of the namespace or of the nearest one above that has it, NULL when none has. Palloc'd.
 */
extern char *lance_entry_inherited_property(int64 namespace_id, const char *key);

#endif
