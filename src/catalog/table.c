/*
 * table.c
 *	  Rows of lance.table_entry.
 */
#include "postgres.h"

#include "catalog/entry.h"
#include "catalog/session.h"
#include "catalog/table.h"
#include "catalog/table_entry.h"
#include "pg/errcodes.h"
#include "utils/builtins.h"

#define ROW_COLUMNS \
	"t.table_id, e.parent_id, e.name, t.location, t.server_name, t.managed_versioning, e.properties "

static LanceTableRow *
row_of_tuple(const LanceSession *session, uint64 row)
{
	LanceTableRow *table = MemoryContextAllocZero(session->caller, sizeof(*table));

	table->table_id = lance_row_int64(row, 1);
	table->namespace_id = lance_row_int64(row, 2);
	table->name = lance_row_text(session, row, 3);
	table->location = lance_row_text(session, row, 4);
	table->server_name = lance_row_text(session, row, 5);
	table->managed = lance_row_bool(row, 6);
	lance_row_properties(session, row, 7, &table->properties);
	return table;
}

LanceTableRow *
lance_catalog_find_table(const LanceId *id, LanceRowLock lock)
{
	static LanceStatement statement = {
		.sql =
			"SELECT " ROW_COLUMNS
			"FROM lance.table_entry t JOIN lance.catalog_entry e ON e.entry_id = t.table_id WHERE t.table_id = $1",
		.nargs = 1,
		.types = {INT8OID}};
	LanceEntry *entry = lance_entry_find(id, LANCE_ENTRY_TABLE, lock);
	LanceTableRow *table = NULL;
	LanceSession session;

	if (entry == NULL)
		return NULL;
	lance_session_begin(&session);
	if (lance_session_run(&statement, (Datum[]){Int64GetDatum(entry->entry_id)}, NULL, 1) == 1)
		table = row_of_tuple(&session, 0);
	lance_session_end(&session);
	return table;
}

void
lance_table_list(int64 namespace_id, const char *after, int64 limit, LanceTablePage *out)
{
	static LanceStatement statement = {
		.sql =
			"SELECT " ROW_COLUMNS "FROM lance.catalog_entry e JOIN lance.table_entry t ON t.table_id = e.entry_id "
			"WHERE e.parent_id = $1 AND e.kind = 'table' AND e.name > $2 ORDER BY e.name LIMIT $3",
		.nargs = 3,
		.types = {INT8OID, TEXTOID, INT8OID}};
	Datum values[] = {Int64GetDatum(namespace_id), CStringGetTextDatum(after != NULL ? after : ""),
					  Int64GetDatum(limit)};
	LanceSession session;

	memset(out, 0, sizeof(*out));
	lance_session_begin(&session);
	out->count = (int)lance_session_run(&statement, values, limit < 0 ? "  n" : NULL, 0);
	out->rows = MemoryContextAlloc(session.caller, (out->count + 1) * sizeof(LanceTableRow *));
	for (int i = 0; i < out->count; i++)
		out->rows[i] = row_of_tuple(&session, i);
	lance_session_end(&session);
}

int
lance_catalog_tables_of(const LanceId *namespace_id, LanceTableRow ***rows)
{
	LanceEntry *space = lance_entry_find(namespace_id, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_NONE);
	LanceTablePage page;

	if (space == NULL)
		ereport(ERROR, (lance_errcode(LANCE_NAMESPACE_NOT_FOUND),
						errmsg("namespace \"%s\" does not exist", namespace_id->parts[namespace_id->nparts - 1])));
	lance_table_list(space->entry_id, NULL, -1, &page);
	*rows = page.rows;
	return page.count;
}

void
lance_table_list_all(const LanceId *after, int64 limit, LanceTablePage *out)
{
	static LanceStatement statement = {
		.sql =
			"WITH RECURSIVE tree (entry_id, id) AS ("
			" SELECT 0::bigint, ARRAY[]::text[] COLLATE \"C\""
			" UNION ALL"
			" SELECT e.entry_id, t.id || e.name FROM tree t JOIN lance.catalog_entry e ON e.parent_id = t.entry_id"
			" WHERE e.kind = 'namespace')"
			" SELECT " ROW_COLUMNS ", p.id || e.name"
			" FROM tree p JOIN lance.catalog_entry e ON e.parent_id = p.entry_id"
			" JOIN lance.table_entry t ON t.table_id = e.entry_id"
			" WHERE (p.id || e.name) > $1 ORDER BY 8 LIMIT $2",
		.nargs = 2,
		.types = {TEXTARRAYOID, INT8OID}};
	Datum values[] = {lance_texts_datum(after->nparts, after->parts), Int64GetDatum(limit)};
	LanceSession session;

	lance_session_begin(&session);
	out->count = (int)lance_session_run(&statement, values, limit < 0 ? " n" : NULL, 0);
	out->ids = MemoryContextAllocZero(session.caller, (out->count + 1) * sizeof(LanceId));
	out->rows = MemoryContextAlloc(session.caller, (out->count + 1) * sizeof(LanceTableRow *));
	for (int i = 0; i < out->count; i++)
	{
		out->rows[i] = row_of_tuple(&session, i);
		out->ids[i].given = true;
		lance_row_texts(&session, i, 8, &out->ids[i].nparts, &out->ids[i].parts);
	}
	lance_session_end(&session);
}

void
lance_table_namespace_path(int64 namespace_id, LanceId *out)
{
	static LanceStatement statement = {
		.sql = "WITH RECURSIVE up (entry_id, parent_id, path) AS ("
			   " SELECT e.entry_id, e.parent_id, ARRAY[e.name] FROM lance.catalog_entry e"
			   " WHERE e.entry_id = $1 AND e.entry_id <> 0"
			   " UNION ALL"
			   " SELECT e.entry_id, e.parent_id, e.name || u.path"
			   " FROM up u JOIN lance.catalog_entry e ON e.entry_id = u.parent_id WHERE e.entry_id <> 0)"
			   " SELECT path FROM up WHERE parent_id = 0",
		.nargs = 1,
		.types = {INT8OID}};
	LanceSession session;

	memset(out, 0, sizeof(*out));
	out->given = true;
	lance_session_begin(&session);
	if (lance_session_run(&statement, (Datum[]){Int64GetDatum(namespace_id)}, NULL, 1) == 1)
		lance_row_texts(&session, 0, 1, &out->nparts, &out->parts);
	lance_session_end(&session);
}

/* ---- locations */

void
lance_table_lock_locations(bool chosen_by_caller)
{
	static LanceStatement one_at_a_time = {.sql = "LOCK TABLE lance.table_entry IN SHARE ROW EXCLUSIVE MODE",
										   .nargs = 0};
	static LanceStatement together = {.sql = "LOCK TABLE lance.table_entry IN ROW EXCLUSIVE MODE", .nargs = 0};
	LanceSession session;

	lance_session_begin(&session);
	lance_session_run(chosen_by_caller ? &one_at_a_time : &together, NULL, NULL, 0);
	lance_session_end(&session);
}

/* The folders that a location lies in, itself included: "s3://b/x/y" gives "s3://b/x/y", "s3://b/x" and "s3://b". */
static Datum
folders_above(const char *location)
{
	char *path = pstrdup(location);
	char *scheme = strstr(path, "://");
	char *start = scheme != NULL ? scheme + 3 : path;
	char **folders = palloc((strlen(path) + 1) * sizeof(char *));
	int n = 0;
	char *slash;

	folders[n++] = pstrdup(path);
	while ((slash = strrchr(start, '/')) != NULL && slash != start)
	{
		*slash = '\0';
		folders[n++] = pstrdup(path);
	}
	return lance_texts_datum(n, folders);
}

/* '0' is the byte after '/': the range holds exactly what lies below. */
#define OVERLAPS "(location = ANY ($1) OR (location > $2 || '/' AND location < $2 || '0'))"

char *
lance_table_overlap(const char *location, bool *dropped)
{
	static LanceStatement statement = {
		.sql = "SELECT location, false FROM lance.table_entry WHERE " OVERLAPS " UNION ALL"
			   " SELECT location, true FROM lance.cleanup_item WHERE kind = 'location' AND " OVERLAPS " LIMIT 1",
		.nargs = 2,
		.types = {TEXTARRAYOID, TEXTOID}};
	Datum values[] = {folders_above(location), CStringGetTextDatum(location)};
	LanceSession session;
	char *other = NULL;

	*dropped = false;
	lance_session_begin(&session);
	if (lance_session_run_latest(&statement, values, NULL) > 0)
	{
		other = lance_row_text(&session, 0, 1);
		*dropped = lance_row_bool(0, 2);
	}
	lance_session_end(&session);
	return other;
}

bool
lance_table_location_used(const char *location)
{
	static LanceStatement statement = {.sql = "SELECT 1 FROM lance.table_entry WHERE " OVERLAPS " LIMIT 1",
									   .nargs = 2,
									   .types = {TEXTARRAYOID, TEXTOID}};
	Datum values[] = {folders_above(location), CStringGetTextDatum(location)};
	LanceSession session;
	bool used;

	lance_session_begin(&session);
	used = lance_session_run_latest(&statement, values, NULL) > 0;
	lance_session_end(&session);
	return used;
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
