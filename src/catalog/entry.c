/*
 * entry.c
 *	  Rows of lance.catalog_entry: find, insert, move, list, remove.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/cleanup.h"
#include "catalog/entry.h"
#include "catalog/lookup.h"
#include "catalog/session.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "pg/errcodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

static const char *const kind_names[] = {
	[LANCE_ENTRY_NAMESPACE] = "namespace",
	[LANCE_ENTRY_TABLE] = "table",
};

#define FIND_COLUMNS "SELECT entry_id, properties FROM lance.catalog_entry "
#define FIND_CHILD FIND_COLUMNS "WHERE parent_id = $1 AND name = $2 AND kind = $3"
#define FIND_ROOT FIND_COLUMNS "WHERE entry_id = 0"

static LanceStatement lock_child[] = {
	[LANCE_LOCK_SHARE] = {.sql = FIND_CHILD " FOR KEY SHARE", .nargs = 3, .types = {INT8OID, TEXTOID, TEXTOID}},
	[LANCE_LOCK_UPDATE] = {.sql = FIND_CHILD " FOR UPDATE", .nargs = 3, .types = {INT8OID, TEXTOID, TEXTOID}},
};

static LanceStatement lock_root[] = {
	[LANCE_LOCK_SHARE] = {.sql = FIND_ROOT " FOR KEY SHARE", .nargs = 0},
	[LANCE_LOCK_UPDATE] = {.sql = FIND_ROOT " FOR UPDATE", .nargs = 0},
};

char *
lance_id_text(const LanceId *id)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < id->nparts; i++)
		appendStringInfo(&text, "%s%s", i > 0 ? "$" : "", id->parts[i]);
	return text.data;
}

/* Look for the row of a number; call lance_lookup_end in either case. */
static bool
look_up_number(LanceLookup *lookup, Snapshot snapshot, int64 entry_id)
{
	ScanKeyData key;

	ScanKeyInit(&key, ENTRY_ID, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(entry_id));
	return lance_lookup_begin(lookup, LANCE_ENTRY_BY_ID, snapshot, &key, 1);
}

/* Look for the row of a name and kind in a namespace; call lance_lookup_end in either case. */
static bool
look_up_child(LanceLookup *lookup, Snapshot snapshot, int64 parent_id, const char *name, LanceEntryKind kind)
{
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], ENTRY_PARENT_ID, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(parent_id));
	ScanKeyInit(&keys[1], ENTRY_NAME, BTEqualStrategyNumber, F_TEXTEQ, CStringGetTextDatum(name));
	return lance_lookup_begin(lookup, LANCE_ENTRY_BY_NAME, snapshot, keys, 2) &&
		   lance_lookup_text_is(lookup, ENTRY_KIND, kind_names[kind]);
}

static LanceEntry *
entry_of_row(const LanceLookup *lookup)
{
	LanceEntry *entry = palloc0(sizeof(*entry));

	entry->entry_id = lance_lookup_int64(lookup, ENTRY_ID);
	entry->parent_id =
		lance_lookup_null(lookup, ENTRY_PARENT_ID) ? -1 : lance_lookup_int64(lookup, ENTRY_PARENT_ID);
	entry->name = lance_lookup_text(lookup, ENTRY_NAME);
	lance_lookup_properties(lookup, ENTRY_PROPERTIES, &entry->properties);
	return entry;
}

/* Walk down n names from the root; the number of the namespace there, or -1. */
static int64
walk_down(LanceAccess *access, int n, char *const *names)
{
	int64 entry_id = LANCE_ROOT_ENTRY;

	lance_access_pass(access, entry_id);
	for (int i = 0; i < n && entry_id >= 0; i++)
	{
		LanceLookup lookup;

		entry_id = look_up_child(&lookup, access->snapshot, entry_id, names[i], LANCE_ENTRY_NAMESPACE)
					   ? lance_lookup_int64(&lookup, ENTRY_ID)
					   : -1;
		lance_lookup_end(&lookup);
		if (entry_id >= 0)
			lance_access_pass(access, entry_id);
	}
	return entry_id;
}

LanceEntry *
lance_entry_look_up(Snapshot snapshot, const LanceId *id, LanceEntryKind kind, LanceLevel needed, Oid role)
{
	LanceAccess access;
	LanceLookup lookup;
	LanceEntry *entry = NULL;
	int64 parent_id;
	bool found;

	if (id->nparts == 0 && kind != LANCE_ENTRY_NAMESPACE)
		return NULL;
	lance_access_begin(&access, snapshot, role, Max(needed, LANCE_LEVEL_READ));
	parent_id = walk_down(&access, Max(id->nparts - 1, 0), id->parts);
	if (parent_id < 0)
		return NULL;
	found = id->nparts == 0 ? look_up_number(&lookup, snapshot, LANCE_ROOT_ENTRY)
							: look_up_child(&lookup, snapshot, parent_id, id->parts[id->nparts - 1], kind);
	if (found)
		entry = entry_of_row(&lookup);
	lance_lookup_end(&lookup);
	if (entry == NULL)
		return NULL;
	if (id->nparts > 0)
		lance_access_pass(&access, entry->entry_id);
	if (!lance_access_end(&access, entry->entry_id, needed, kind_names[kind], id))
		return NULL;
	entry->level = access.level;
	return entry;
}

LanceEntry *
lance_entry_of_number(Snapshot snapshot, int64 entry_id)
{
	LanceLookup lookup;
	LanceEntry *entry = NULL;

	if (look_up_number(&lookup, snapshot, entry_id))
		entry = entry_of_row(&lookup);
	lance_lookup_end(&lookup);
	return entry;
}

/* Lock a name's row in a namespace, or with parent_id -1 the root's. NULL when it is not there. */
static LanceEntry *
lock_entry(int64 parent_id, const char *name, LanceEntryKind kind, LanceRowLock lock)
{
	LanceSession session;
	LanceEntry *entry = NULL;
	uint64 n;

	lance_session_begin(&session);
	if (parent_id < 0)
		n = lance_session_run(&lock_root[lock], NULL, NULL, 1);
	else
		n = lance_session_run(
			&lock_child[lock],
			(Datum[]){Int64GetDatum(parent_id), CStringGetTextDatum(name), CStringGetTextDatum(kind_names[kind])},
			NULL, 1);
	if (n == 1)
	{
		entry = MemoryContextAllocZero(session.caller, sizeof(*entry));
		entry->entry_id = lance_row_int64(0, 1);
		entry->parent_id = parent_id;
		entry->name = MemoryContextStrdup(session.caller, name != NULL ? name : "");
		lance_row_properties(&session, 0, 2, &entry->properties);
	}
	lance_session_end(&session);
	return entry;
}

LanceEntry *
lance_entry_find(const LanceId *id, LanceEntryKind kind, LanceRowLock lock, LanceLevel needed)
{
	for (;;)
	{
		Snapshot snapshot = lance_lookup_snapshot();
		LanceEntry *entry = lance_entry_look_up(snapshot, id, kind, needed, GetUserId());
		LanceEntry *locked;

		lance_lookup_done(snapshot);
		if (entry == NULL || lock == LANCE_LOCK_NONE)
			return entry;
		locked = lock_entry(entry->parent_id, entry->name, kind, lock);
		if (locked == NULL)
			return NULL;
		if (locked->entry_id == entry->entry_id)
		{
			locked->level = entry->level;
			return locked;
		}

		/* Another one took the name meanwhile, to which the role's rights may be others. */
		CHECK_FOR_INTERRUPTS();
	}
}

/* ---- changes */

static LanceEntryKind
kind_of_name(int64 parent_id, const char *name)
{
	static LanceStatement statement = {
		.sql = "SELECT kind = 'table' FROM lance.catalog_entry WHERE parent_id = $1 AND name = $2",
		.nargs = 2,
		.types = {INT8OID, TEXTOID}};

	if (lance_session_run(&statement, (Datum[]){Int64GetDatum(parent_id), CStringGetTextDatum(name)}, NULL, 1) == 0)
		return LANCE_ENTRY_TABLE;
	return lance_row_bool(0, 1) ? LANCE_ENTRY_TABLE : LANCE_ENTRY_NAMESPACE;
}

#define INSERT_ENTRY                                                                              \
	"INSERT INTO lance.catalog_entry (parent_id, name, kind, properties) VALUES ($1, $2, $3, $4)" \
	" ON CONFLICT (parent_id, name) DO NOTHING RETURNING entry_id"

/* Insert a row, with that of its owner, or of a mere placeholder. Returns and sets what lance_entry_insert does. */
static int64
insert_entry(int64 parent_id, const char *name, LanceEntryKind kind, const LanceProperties *properties,
			 bool placeholder, LanceEntryKind *taken_by)
{
	static LanceStatement bare = {.sql = INSERT_ENTRY, .nargs = 4, .types = {INT8OID, TEXTOID, TEXTOID, JSONBOID}};
	static LanceStatement owned = {
		.sql = "WITH made AS (" INSERT_ENTRY "), owner AS (INSERT INTO lance.privilege_entry"
			   " (entry_id, role_id, privilege, granted_by) SELECT m.entry_id, $5, 'owner', $6 FROM made m) "
			   "SELECT entry_id FROM made",
		.nargs = 6,
		.types = {INT8OID, TEXTOID, TEXTOID, JSONBOID, REGROLEOID, TEXTOID}};
	Datum values[] = {Int64GetDatum(parent_id),
					  CStringGetTextDatum(name),
					  CStringGetTextDatum(kind_names[kind]),
					  lance_properties_datum(properties),
					  ObjectIdGetDatum(GetUserId()),
					  CStringGetTextDatum(GetUserNameFromId(GetUserId(), false))};
	LanceSession session;
	int64 entry_id = -1;

	lance_session_begin(&session);
	if (lance_session_run(placeholder ? &bare : &owned, values, NULL, 0) == 1)
		entry_id = lance_row_int64(0, 1);
	else
		*taken_by = kind_of_name(parent_id, name);
	lance_session_end(&session);
	return entry_id;
}

int64
lance_entry_insert(int64 parent_id, const char *name, LanceEntryKind kind, const LanceProperties *properties,
				   LanceEntryKind *taken_by)
{
	return insert_entry(parent_id, name, kind, properties, false, taken_by);
}

void
lance_entry_set_properties(int64 entry_id, const LanceProperties *properties)
{
	static LanceStatement statement = {.sql = "UPDATE lance.catalog_entry SET properties = $2 WHERE entry_id = $1",
									   .nargs = 2,
									   .types = {INT8OID, JSONBOID}};
	LanceSession session;

	lance_session_begin(&session);
	lance_session_run(&statement, (Datum[]){Int64GetDatum(entry_id), lance_properties_datum(properties)}, NULL, 0);
	lance_session_end(&session);
}

/*
 * The unique key would throw its own error, and there is no ON CONFLICT for UPDATE: insert a placeholder first, which
 * waits for whoever else is taking the name, then put the entry in its place.
 */
bool
lance_entry_move(int64 entry_id, int64 parent_id, const char *name, LanceEntryKind *taken_by)
{
	static LanceStatement statement = {
		.sql = "UPDATE lance.catalog_entry SET parent_id = $2, name = $3 WHERE entry_id = $1",
		.nargs = 3,
		.types = {INT8OID, INT8OID, TEXTOID}};
	LanceProperties none = {0};
	int64 placeholder = insert_entry(parent_id, name, LANCE_ENTRY_TABLE, &none, true, taken_by);
	LanceSession session;

	if (placeholder < 0)
		return false;
	lance_entry_remove(placeholder);
	lance_session_begin(&session);
	lance_session_run(&statement,
					  (Datum[]){Int64GetDatum(entry_id), Int64GetDatum(parent_id), CStringGetTextDatum(name)}, NULL,
					  0);
	lance_session_end(&session);
	return true;
}

void
lance_entry_remove(int64 entry_id)
{
	static LanceStatement statement = {
		.sql = "DELETE FROM lance.catalog_entry WHERE entry_id = $1", .nargs = 1, .types = {INT8OID}};
	LanceSession session;

	lance_session_begin(&session);
	lance_session_run(&statement, (Datum[]){Int64GetDatum(entry_id)}, NULL, 0);
	lance_session_end(&session);
}

bool
lance_entry_has_children(int64 entry_id)
{
	static LanceStatement statement = {
		.sql = "SELECT 1 FROM lance.catalog_entry WHERE parent_id = $1 LIMIT 1", .nargs = 1, .types = {INT8OID}};
	LanceSession session;
	bool found;

	lance_session_begin(&session);
	found = lance_session_run_latest(&statement, (Datum[]){Int64GetDatum(entry_id)}, NULL) > 0;
	lance_session_end(&session);
	return found;
}

/* Ids of everything below the namespace $1. */
#define BELOW                                                        \
	"WITH RECURSIVE below (entry_id) AS ("                           \
	" SELECT entry_id FROM lance.catalog_entry WHERE parent_id = $1" \
	" UNION ALL"                                                     \
	" SELECT e.entry_id FROM below b CROSS JOIN LATERAL"             \
	" (SELECT c.entry_id FROM lance.catalog_entry c WHERE c.parent_id = b.entry_id OFFSET 0) e) "

/*
 * Lock everything below, in the order of the ids. While one pass waits, others may add names to namespaces that it has
 * not locked yet; the next pass finds those. Once nothing new is found, all namespaces below are locked, so that
 * nobody can add anything.
 */
static void
lock_below(int64 entry_id)
{
	static LanceStatement lock = {.sql = BELOW "SELECT e.entry_id FROM lance.catalog_entry e"
											   " WHERE e.entry_id = ANY (ARRAY(SELECT b.entry_id FROM below b))"
											   " ORDER BY e.entry_id FOR UPDATE OF e",
								  .nargs = 1,
								  .types = {INT8OID}};
	static LanceStatement look = {.sql = BELOW "SELECT entry_id FROM below", .nargs = 1, .types = {INT8OID}};
	uint64 locked = 0;

	for (;;)
	{
		uint64 n = lance_session_run(&lock, (Datum[]){Int64GetDatum(entry_id)}, NULL, 0);

		SPI_freetuptable(SPI_tuptable);
		if (n == locked)
			break;
		locked = n;
		CHECK_FOR_INTERRUPTS();
	}

	/* An old snapshot can't show what came since, so what it shows must be all there is. */
	if (IsolationUsesXactSnapshot() &&
		lance_session_run_latest(&look, (Datum[]){Int64GetDatum(entry_id)}, NULL) != locked)
		ereport(ERROR, (lance_errcode(LANCE_CONCURRENT_MODIFICATION),
						errmsg("could not serialize access due to names added since the transaction began")));
}

void
lance_entry_remove_below(int64 entry_id, bool with_self)
{
	static LanceStatement queue = {.sql = BELOW
								   "INSERT INTO lance.cleanup_item (kind, location, server_name, role_name) "
								   "SELECT 'location', t.location, t.server_name, $2 "
								   "FROM lance.table_entry t"
								   " WHERE t.table_id = ANY (ARRAY(SELECT b.entry_id FROM below b))",
								   .nargs = 2,
								   .types = {INT8OID, TEXTOID}};
	static LanceStatement remove = {.sql = BELOW
									"DELETE FROM lance.catalog_entry "
									"WHERE entry_id = ANY "
									"(ARRAY(SELECT b.entry_id FROM below b UNION ALL SELECT $1 WHERE $2))",
									.nargs = 2,
									.types = {INT8OID, BOOLOID}};
	Datum role = CStringGetTextDatum(GetUserNameFromId(GetUserId(), false));
	LanceSession session;
	bool files;

	lance_session_begin(&session);
	lock_below(entry_id);
	files = lance_session_run(&queue, (Datum[]){Int64GetDatum(entry_id), role}, NULL, 0) > 0;
	lance_session_run(&remove, (Datum[]){Int64GetDatum(entry_id), BoolGetDatum(with_self)}, NULL, 0);
	lance_session_end(&session);
	if (files)
		lance_cleanup_wake();
}

/* ---- reading */

static bool
is_visible(LanceVisible *visible, LanceEntryKind kind, int64 entry_id)
{
	return visible->all ||
		   (kind == LANCE_ENTRY_TABLE ? lance_visible_table(visible, entry_id)
									  : lance_visible_namespace(visible, entry_id) > LANCE_LEVEL_NONE);
}

void
lance_entry_list(const LanceEntry *space, LanceEntryKind kind, const char *after, int64 limit, LanceNameList *out)
{
	Snapshot snapshot = lance_lookup_snapshot();
	LanceVisible visible;
	LanceLookup lookup;
	ScanKeyData keys[2];
	int capacity = 64;

	out->count = 0;
	out->names = palloc(capacity * sizeof(char *));
	lance_visible_begin(&visible, snapshot, GetUserId(), space->level);
	ScanKeyInit(&keys[0], ENTRY_PARENT_ID, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(space->entry_id));
	ScanKeyInit(&keys[1], ENTRY_NAME, BTGreaterStrategyNumber, F_TEXT_GT,
				CStringGetTextDatum(after != NULL ? after : ""));
	lance_lookup_ordered(&lookup, LANCE_ENTRY_BY_NAME, snapshot, keys, 2);
	while ((limit < 0 || out->count < limit) && lance_lookup_next(&lookup))
	{
		CHECK_FOR_INTERRUPTS();
		if (!lance_lookup_text_is(&lookup, ENTRY_KIND, kind_names[kind]) ||
			!is_visible(&visible, kind, lance_lookup_int64(&lookup, ENTRY_ID)))
			continue;
		if (out->count == capacity)
			out->names = repalloc_huge(out->names, (Size)(capacity *= 2) * sizeof(char *));
		out->names[out->count++] = lance_lookup_text(&lookup, ENTRY_NAME);
	}
	lance_lookup_end(&lookup);
	lance_lookup_done(snapshot);
}

char *
lance_entry_inherited_property(int64 namespace_id, const char *key)
{
	Snapshot snapshot = lance_lookup_snapshot();
	char *value = NULL;

	while (value == NULL && namespace_id >= 0)
	{
		LanceEntry *entry = lance_entry_of_number(snapshot, namespace_id);

		for (int i = 0; entry != NULL && i < entry->properties.count && value == NULL; i++)
		{
			if (strcmp(entry->properties.items[i].key, key) == 0)
				value = entry->properties.items[i].value;
		}
		namespace_id = entry != NULL ? entry->parent_id : -1;
	}
	lance_lookup_done(snapshot);
	return value;
}
