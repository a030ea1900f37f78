/*
 * entry.c
 *	  Rows of lance.catalog_entry: find, insert, move, list, remove.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/cleanup.h"
#include "catalog/entry.h"
#include "catalog/session.h"
#include "miscadmin.h"
#include "pg/errcodes.h"
#include "utils/builtins.h"

static const char *const kind_names[] = {
	[LANCE_ENTRY_NAMESPACE] = "namespace",
	[LANCE_ENTRY_TABLE] = "table",
};

#define FIND_COLUMNS "SELECT entry_id, parent_id, properties FROM lance.catalog_entry "
#define FIND_CHILD FIND_COLUMNS "WHERE parent_id = $1 AND name = $2 AND kind = $3"
#define FIND_ROOT FIND_COLUMNS "WHERE entry_id = 0"

static LanceStatement find_child[] = {
	[LANCE_LOCK_NONE] = {.sql = FIND_CHILD, .nargs = 3, .types = {INT8OID, TEXTOID, TEXTOID}},
	[LANCE_LOCK_SHARE] = {.sql = FIND_CHILD " FOR KEY SHARE", .nargs = 3, .types = {INT8OID, TEXTOID, TEXTOID}},
	[LANCE_LOCK_UPDATE] = {.sql = FIND_CHILD " FOR UPDATE", .nargs = 3, .types = {INT8OID, TEXTOID, TEXTOID}},
};

static LanceStatement find_root[] = {
	[LANCE_LOCK_NONE] = {.sql = FIND_ROOT, .nargs = 0},
	[LANCE_LOCK_SHARE] = {.sql = FIND_ROOT " FOR KEY SHARE", .nargs = 0},
	[LANCE_LOCK_UPDATE] = {.sql = FIND_ROOT " FOR UPDATE", .nargs = 0},
};

static LanceEntry *
entry_of_row(const LanceSession *session)
{
	LanceEntry *entry = MemoryContextAllocZero(session->caller, sizeof(*entry));

	entry->entry_id = lance_row_int64(0, 1);
	entry->parent_id = lance_row_null(0, 2) ? -1 : lance_row_int64(0, 2);
	lance_row_properties(session, 0, 3, &entry->properties);
	return entry;
}

/* Run one step of the way down; false when the name is not there. */
static bool
step(int64 parent_id, const char *name, LanceEntryKind kind, LanceRowLock lock)
{
	Datum values[] = {Int64GetDatum(parent_id), CStringGetTextDatum(name), CStringGetTextDatum(kind_names[kind])};

	return lance_session_run(&find_child[lock], values, NULL, 1) == 1;
}

LanceEntry *
lance_entry_find(const LanceId *id, LanceEntryKind kind, LanceRowLock lock)
{
	LanceSession session;
	LanceEntry *entry = NULL;
	int64 parent_id = LANCE_ROOT_ENTRY;
	bool found = true;

	lance_session_begin(&session);
	if (id->nparts == 0)
		found = kind == LANCE_ENTRY_NAMESPACE && lance_session_run(&find_root[lock], NULL, NULL, 1) == 1;
	for (int i = 0; found && i < id->nparts; i++)
	{
		bool last = i == id->nparts - 1;

		found = step(parent_id, id->parts[i], last ? kind : LANCE_ENTRY_NAMESPACE, last ? lock : LANCE_LOCK_NONE);
		if (found && !last)
			parent_id = lance_row_int64(0, 1);
	}
	if (found)
		entry = entry_of_row(&session);
	lance_session_end(&session);
	return entry;
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

int64
lance_entry_insert(int64 parent_id, const char *name, LanceEntryKind kind, const LanceProperties *properties,
				   LanceEntryKind *taken_by)
{
	static LanceStatement statement = {
		.sql = "INSERT INTO lance.catalog_entry (parent_id, name, kind, properties) VALUES ($1, $2, $3, $4) "
			   "ON CONFLICT (parent_id, name) DO NOTHING RETURNING entry_id",
		.nargs = 4,
		.types = {INT8OID, TEXTOID, TEXTOID, JSONBOID}};
	Datum values[] = {Int64GetDatum(parent_id), CStringGetTextDatum(name), CStringGetTextDatum(kind_names[kind]),
					  lance_properties_datum(properties)};
	LanceSession session;
	int64 entry_id = -1;

	lance_session_begin(&session);
	if (lance_session_run(&statement, values, NULL, 0) == 1)
		entry_id = lance_row_int64(0, 1);
	else
		*taken_by = kind_of_name(parent_id, name);
	lance_session_end(&session);
	return entry_id;
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
	int64 placeholder = lance_entry_insert(parent_id, name, LANCE_ENTRY_TABLE, &none, taken_by);
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
	" SELECT e.entry_id FROM below b JOIN lance.catalog_entry e ON e.parent_id = b.entry_id) "

/*
 * Lock everything below, in the order of the ids. While one pass waits, others may add names to namespaces that it has
 * not locked yet; the next pass finds those. Once nothing new is found, all namespaces below are locked, so that
 * nobody can add anything.
 */
static void
lock_below(int64 entry_id)
{
	static LanceStatement lock = {
		.sql = BELOW
		"SELECT e.entry_id FROM lance.catalog_entry e WHERE e.entry_id IN (SELECT b.entry_id FROM below b)"
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
								   "FROM lance.table_entry t WHERE t.table_id IN (SELECT b.entry_id FROM below b)",
								   .nargs = 2,
								   .types = {INT8OID, TEXTOID}};
	static LanceStatement remove = {.sql = BELOW
									"DELETE FROM lance.catalog_entry "
									"WHERE entry_id IN (SELECT b.entry_id FROM below b) OR (entry_id = $1 AND $2)",
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

void
lance_entry_list(int64 parent_id, LanceEntryKind kind, const char *after, int64 limit, LanceNameList *out)
{
	static LanceStatement statement = {.sql = "SELECT name FROM lance.catalog_entry WHERE parent_id = $1 AND kind "
											  "= $2 AND name > $3 ORDER BY name LIMIT $4",
									   .nargs = 4,
									   .types = {INT8OID, TEXTOID, TEXTOID, INT8OID}};
	Datum values[] = {Int64GetDatum(parent_id), CStringGetTextDatum(kind_names[kind]),
					  CStringGetTextDatum(after != NULL ? after : ""), Int64GetDatum(limit)};
	LanceSession session;

	lance_session_begin(&session);
	out->count = (int)lance_session_run(&statement, values, limit < 0 ? "   n" : NULL, 0);
	out->names = MemoryContextAlloc(session.caller, (out->count + 1) * sizeof(char *));
	for (int i = 0; i < out->count; i++)
		out->names[i] = lance_row_text(&session, i, 1);
	lance_session_end(&session);
}

char *
lance_entry_inherited_property(int64 namespace_id, const char *key)
{
	static LanceStatement statement = {
		.sql = "WITH RECURSIVE up (parent_id, depth, value) AS ("
			   " SELECT e.parent_id, 0, e.properties ->> $2 FROM lance.catalog_entry e WHERE e.entry_id = $1"
			   " UNION ALL"
			   " SELECT e.parent_id, u.depth + 1, e.properties ->> $2"
			   " FROM up u JOIN lance.catalog_entry e ON e.entry_id = u.parent_id WHERE u.value IS NULL)"
			   " SELECT value FROM up WHERE value IS NOT NULL ORDER BY depth LIMIT 1",
		.nargs = 2,
		.types = {INT8OID, TEXTOID}};
	LanceSession session;
	char *value = NULL;

	lance_session_begin(&session);
	if (lance_session_run(&statement, (Datum[]){Int64GetDatum(namespace_id), CStringGetTextDatum(key)}, NULL, 1) ==
		1)
		value = lance_row_text(&session, 0, 1);
	lance_session_end(&session);
	return value;
}
