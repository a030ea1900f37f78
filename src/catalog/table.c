/*
 * table.c
 *	  Rows of lance.table_entry.
 */
#include "postgres.h"

#include "catalog/entry.h"
#include "catalog/lookup.h"
#include "catalog/session.h"
#include "catalog/table.h"
#include "catalog/table_entry.h"
#include "miscadmin.h"
#include "pg/errcodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

#define ROW_COLUMNS \
	"t.table_id, e.parent_id, e.name, t.location, t.server_name, t.managed_versioning, e.properties "

static LanceTableRow *
row_of_tuple(const LanceSession *session, uint64 row)
{
	LanceTableRow *table = MemoryContextAllocZero(session->caller, sizeof(*table));

	table->table_id = lance_row_int64(row, 1);
	table->namespace_id = lance_row_int64(row, 2);
	table->name = table->shown = lance_row_text(session, row, 3);
	table->location = lance_row_text(session, row, 4);
	table->server_name = lance_row_text(session, row, 5);
	table->managed = lance_row_bool(row, 6);
	lance_row_properties(session, row, 7, &table->properties);
	return table;
}

/* The table of a name; NULL when it is gone. */
static LanceTableRow *
table_of_entry(Snapshot snapshot, const LanceEntry *entry)
{
	LanceTableRow *table = NULL;
	LanceLookup lookup;
	ScanKeyData key;

	if (entry == NULL)
		return NULL;
	ScanKeyInit(&key, TABLE_ID, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(entry->entry_id));
	if (lance_lookup_begin(&lookup, LANCE_TABLE_BY_ID, snapshot, &key, 1))
	{
		table = palloc0(sizeof(*table));
		table->table_id = entry->entry_id;
		table->namespace_id = entry->parent_id;
		table->name = table->shown = entry->name;
		table->location = lance_lookup_text(&lookup, TABLE_LOCATION);
		table->server_name = lance_lookup_text(&lookup, TABLE_SERVER_NAME);
		table->managed = lance_lookup_bool(&lookup, TABLE_MANAGED);
		table->properties = entry->properties;
		table->level = entry->level;
	}
	lance_lookup_end(&lookup);
	return table;
}

LanceTableRow *
lance_table_get(int64 table_id)
{
	Snapshot snapshot = lance_lookup_snapshot();
	LanceTableRow *table = table_of_entry(snapshot, lance_entry_of_number(snapshot, table_id));

	lance_lookup_done(snapshot);
	return table;
}

LanceTableRow *
lance_catalog_find_table(const LanceId *id, LanceRowLock lock, LanceLevel needed)
{
	LanceEntry *entry;
	Snapshot snapshot;
	LanceTableRow *table;

	if (lock == LANCE_LOCK_NONE)
		return lance_catalog_find_table_for(id, needed, GetUserId());
	entry = lance_entry_find(id, LANCE_ENTRY_TABLE, lock, needed);
	snapshot = lance_lookup_snapshot();
	table = table_of_entry(snapshot, entry);
	lance_lookup_done(snapshot);
	if (table != NULL)
		table->shown = lance_id_text(id);
	return table;
}

LanceTableRow *
lance_catalog_find_table_for(const LanceId *id, LanceLevel needed, Oid role)
{
	Snapshot snapshot = lance_lookup_snapshot();
	LanceTableRow *table =
		table_of_entry(snapshot, lance_entry_look_up(snapshot, id, LANCE_ENTRY_TABLE, needed, role));

	lance_lookup_done(snapshot);
	if (table != NULL)
		table->shown = lance_id_text(id);
	return table;
}

int
lance_catalog_tables_of(const LanceId *namespace_id, LanceTableRow ***rows)
{
	static LanceStatement statement = {
		.sql = "SELECT " ROW_COLUMNS "FROM lance.catalog_entry e CROSS JOIN LATERAL"
			   " (SELECT d.* FROM lance.table_entry d WHERE d.table_id = e.entry_id OFFSET 0) t "
			   "WHERE e.parent_id = $1 AND e.kind = 'table' ORDER BY e.name",
		.nargs = 1,
		.types = {INT8OID}};
	LanceEntry *space = lance_entry_find(namespace_id, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_NONE, LANCE_LEVEL_SEEN);
	LanceVisible visible;
	LanceSession session;
	Snapshot snapshot;
	int count = 0;
	int n;

	if (space == NULL)
		ereport(ERROR, (lance_errcode(LANCE_NAMESPACE_NOT_FOUND),
						errmsg("namespace \"%s\" does not exist", lance_id_text(namespace_id))));
	lance_session_begin(&session);
	n = (int)lance_session_run(&statement, (Datum[]){Int64GetDatum(space->entry_id)}, NULL, 0);
	*rows = MemoryContextAlloc(session.caller, (n + 1) * sizeof(LanceTableRow *));
	for (int i = 0; i < n; i++)
		(*rows)[i] = row_of_tuple(&session, i);
	lance_session_end(&session);
	snapshot = lance_lookup_snapshot();
	lance_visible_begin(&visible, snapshot, GetUserId(), space->level);
	for (int i = 0; i < n; i++)
	{
		if (lance_visible_table(&visible, (*rows)[i]->table_id))
			(*rows)[count++] = (*rows)[i];
	}
	lance_lookup_done(snapshot);
	return count;
}

/* ---- pages */

/* So many children are read at once. */
#define CHILDREN_BATCH 1000

typedef struct Child
{
	int64 entry_id;
	char *name;
	bool is_table;
	LanceLevel level; /* of a namespace */
} Child;

/* A namespace on the way, and the level that the current user has on it, at most LANCE_LEVEL_READ. */
typedef struct Space
{
	int64 entry_id;
	LanceLevel level;
} Space;

/* Set the child's level. False when the child is hidden. */
static bool
look_at_child(LanceVisible *visible, Child *child)
{
	if (child->is_table)
		return lance_visible_table(visible, child->entry_id);
	child->level = lance_visible_namespace(visible, child->entry_id);
	return child->level > LANCE_LEVEL_NONE;
}

/* Children of a namespace that the current user may know of, whose name is not less than one, in order. */
static int
read_children(const Space *space, const char *from, int64 limit, struct HTAB **spaces, Child **children)
{
	Snapshot snapshot = lance_lookup_snapshot();
	LanceVisible visible;
	LanceLookup lookup;
	ScanKeyData keys[2];
	int n = 0;

	*children = palloc(limit * sizeof(Child));
	lance_visible_begin(&visible, snapshot, GetUserId(), space->level);
	visible.spaces = *spaces;
	ScanKeyInit(&keys[0], ENTRY_PARENT_ID, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(space->entry_id));
	ScanKeyInit(&keys[1], ENTRY_NAME, BTGreaterEqualStrategyNumber, F_TEXT_GE, CStringGetTextDatum(from));
	lance_lookup_ordered(&lookup, LANCE_ENTRY_BY_NAME, snapshot, keys, 2);
	while (n < limit && lance_lookup_next(&lookup))
	{
		Child *child = &(*children)[n];

		CHECK_FOR_INTERRUPTS();
		child->entry_id = lance_lookup_int64(&lookup, ENTRY_ID);
		child->is_table = lance_lookup_text_is(&lookup, ENTRY_KIND, "table");
		if (!look_at_child(&visible, child))
			continue;
		child->name = lance_lookup_text(&lookup, ENTRY_NAME);
		n++;
	}
	*spaces = visible.spaces;
	lance_lookup_end(&lookup);
	lance_lookup_done(snapshot);
	return n;
}

/* A walk through the tree of names, in the order of ids. */
typedef struct Walk
{
	LanceTablePage *page;
	int capacity;
	int64 limit; /* -1: none */
	const LanceId *after;
	bool recursive;
	int depth; /* names on the path */
	int path_capacity;
	char **path;
	struct HTAB *spaces; /* of LanceVisible, once they are collected */
} Walk;

static void
keep(Walk *walk, const Child *child)
{
	LanceTablePage *page = walk->page;
	LanceId *id;

	if (page->count == walk->capacity)
	{
		walk->capacity = walk->capacity == 0 ? 64 : walk->capacity * 2;
		page->ids = page->ids == NULL ? palloc(walk->capacity * sizeof(LanceId))
									  : repalloc_huge(page->ids, walk->capacity * sizeof(LanceId));
		page->table_ids = page->table_ids == NULL ? palloc(walk->capacity * sizeof(int64))
												  : repalloc_huge(page->table_ids, walk->capacity * sizeof(int64));
	}
	page->table_ids[page->count] = child->entry_id;
	id = &page->ids[page->count++];
	id->given = true;
	id->nparts = walk->depth + 1;
	id->parts = palloc(id->nparts * sizeof(char *));
	if (walk->depth > 0)
		memcpy(id->parts, walk->path, walk->depth * sizeof(char *));
	id->parts[walk->depth] = child->name;
}

static bool walk_namespace(Walk *walk, const Space *space, bool on_edge);

/* on_edge: the names down to this namespace are those that after begins with. Returns true when the page is full. */
static bool
visit(Walk *walk, const Child *child, bool on_edge)
{
	bool equal = on_edge && strcmp(child->name, walk->after->parts[walk->depth]) == 0;
	Space space;
	bool full;

	if (child->is_table)
	{
		/* Equal to after, or, being the beginning of it, less. */
		if (equal)
			return false;
		keep(walk, child);
		return walk->limit >= 0 && walk->page->count == walk->limit;
	}
	if (!walk->recursive)
		return false;
	if (walk->depth == walk->path_capacity)
	{
		walk->path_capacity = walk->path_capacity == 0 ? 16 : walk->path_capacity * 2;
		walk->path = walk->path == NULL ? palloc(walk->path_capacity * sizeof(char *))
										: repalloc(walk->path, walk->path_capacity * sizeof(char *));
	}
	walk->path[walk->depth++] = child->name;
	space.entry_id = child->entry_id;
	space.level = child->level;
	full = walk_namespace(walk, &space, equal && walk->depth < walk->after->nparts);
	walk->depth--;
	return full;
}

static bool
walk_namespace(Walk *walk, const Space *space, bool on_edge)
{
	const char *from = on_edge ? walk->after->parts[walk->depth] : "";
	bool skip_first = false;
	int64 batch = walk->limit >= 0 ? Min(walk->limit + 2, CHILDREN_BATCH) : CHILDREN_BATCH;
	int n;

	check_stack_depth();
	do
	{
		Child *children;

		CHECK_FOR_INTERRUPTS();
		n = read_children(space, from, batch, &walk->spaces, &children);
		for (int i = 0; i < n; i++)
		{
			if (skip_first && i == 0 && strcmp(children[i].name, from) == 0)
				continue;
			if (visit(walk, &children[i], on_edge))
				return true;
		}
		if (n > 0)
			from = children[n - 1].name;
		skip_first = true;
	} while (n == batch);
	return false;
}

void
lance_table_list_all(const LanceId *after, int64 limit, LanceTablePage *out)
{
	Walk walk = {.page = out, .limit = limit, .after = after, .recursive = true};
	LanceId id = {.given = true};
	LanceEntry *root = lance_entry_find(&id, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_NONE, LANCE_LEVEL_SEEN);

	memset(out, 0, sizeof(*out));
	if (limit != 0 && root != NULL)
		walk_namespace(&walk, &(Space){root->entry_id, root->level}, after->nparts > 0);
}

void
lance_table_list(const LanceEntry *space, const char *after, int64 limit, LanceTablePage *out)
{
	LanceId edge = {.given = true, .nparts = after != NULL, .parts = (char *[]){unconstify(char *, after)}};
	Walk walk = {.page = out, .limit = limit, .after = &edge};

	memset(out, 0, sizeof(*out));
	if (limit != 0)
		walk_namespace(&walk, &(Space){space->entry_id, space->level}, after != NULL);
}

void
lance_table_namespace_path(int64 namespace_id, LanceId *out)
{
	Snapshot snapshot = lance_lookup_snapshot();
	List *names = NIL;
	ListCell *cell;

	while (namespace_id > LANCE_ROOT_ENTRY)
	{
		LanceEntry *entry = lance_entry_of_number(snapshot, namespace_id);

		CHECK_FOR_INTERRUPTS();
		if (entry == NULL)
			break;
		names = lcons(entry->name, names);
		namespace_id = entry->parent_id;
	}
	lance_lookup_done(snapshot);
	memset(out, 0, sizeof(*out));
	out->given = true;
	if (names == NIL)
		return;
	out->parts = palloc(list_length(names) * sizeof(char *));
	foreach (cell, names)
		out->parts[out->nparts++] = lfirst(cell);
}

bool
lance_table_name_holder(int64 namespace_id, const char *name, bool *is_table, char **location)
{
	static LanceStatement statement = {
		.sql = "SELECT e.kind = 'table',"
			   " (SELECT t.location FROM lance.table_entry t WHERE t.table_id = e.entry_id)"
			   " FROM lance.catalog_entry e WHERE e.parent_id = $1 AND e.name = $2",
		.nargs = 2,
		.types = {INT8OID, TEXTOID}};
	LanceSession session;
	bool found;

	lance_session_begin(&session);
	found = lance_session_run(&statement, (Datum[]){Int64GetDatum(namespace_id), CStringGetTextDatum(name)}, NULL,
							  1) == 1;
	if (found)
	{
		*is_table = lance_row_bool(0, 1);
		*location = lance_row_text(&session, 0, 2);
	}
	lance_session_end(&session);
	return found;
}

int64
lance_table_number_at(const char *location)
{
	static LanceStatement statement = {
		.sql = "SELECT t.table_id FROM lance.table_entry t WHERE t.location = $1", .nargs = 1, .types = {TEXTOID}};
	LanceSession session;
	int64 table_id = -1;

	lance_session_begin(&session);
	if (lance_session_run_latest(&statement, (Datum[]){CStringGetTextDatum(location)}, NULL) > 0)
		table_id = lance_row_int64(0, 1);
	lance_session_end(&session);
	return table_id;
}

void
lance_table_id_at(const char *location, LanceId *out)
{
	int64 table_id = lance_table_number_at(location);
	LanceTableRow *table = table_id >= 0 ? lance_table_get(table_id) : NULL;

	memset(out, 0, sizeof(*out));
	if (table == NULL)
		return;
	lance_table_namespace_path(table->namespace_id, out);
	out->parts =
		out->nparts > 0 ? repalloc(out->parts, (out->nparts + 1) * sizeof(char *)) : palloc(sizeof(char *));
	out->parts[out->nparts++] = table->name;
}

void
lance_table_insert(int64 table_id, const char *location, const char *server_name, bool managed)
{
	static LanceStatement statement = {.sql = "INSERT INTO lance.table_entry (table_id, location, server_name, "
											  "managed_versioning) VALUES ($1, $2, $3, $4) "
											  "ON CONFLICT (location) DO NOTHING",
									   .nargs = 4,
									   .types = {INT8OID, TEXTOID, TEXTOID, BOOLOID}};
	Datum values[] = {Int64GetDatum(table_id), CStringGetTextDatum(location), CStringGetTextDatum(server_name),
					  BoolGetDatum(managed)};
	LanceSession session;
	bool inserted;

	lance_session_begin(&session);
	inserted = lance_session_run(&statement, values, NULL, 0) == 1;
	lance_session_end(&session);
	if (!inserted)
		ereport(ERROR, (lance_errcode(LANCE_CONCURRENT_MODIFICATION),
						errmsg("location \"%s\" was taken by another table just now", location)));
}
