/*
 * declared.c
 *	  Finding and locking tables without a version on record.
 */
#include "postgres.h"

#include "catalog/declared.h"
#include "catalog/session.h"
#include "utils/memutils.h"

int
lance_declared_below(int64 namespace_id, TimestampTz before, LanceDeclaredTable **out)
{
	static LanceStatement statement = {
		.sql =
			"WITH RECURSIVE below (entry_id) AS (SELECT $1 UNION ALL"
			" SELECT e.entry_id FROM below b CROSS JOIN LATERAL (SELECT c.entry_id FROM lance.catalog_entry c"
			" WHERE c.parent_id = b.entry_id AND c.kind = 'namespace' OFFSET 0) e)"
			" SELECT t.table_id, e.parent_id, e.name, t.location, t.server_name, t.managed_versioning, e.created_at"
			" FROM below b"
			" CROSS JOIN LATERAL (SELECT c.* FROM lance.catalog_entry c WHERE c.parent_id = b.entry_id OFFSET 0) e"
			" CROSS JOIN LATERAL (SELECT d.* FROM lance.table_entry d WHERE d.table_id = e.entry_id OFFSET 0) t"
			" WHERE e.created_at < $2"
			" AND (SELECT v.version FROM lance.version_entry v WHERE v.table_id = t.table_id LIMIT 1) IS NULL"
			" ORDER BY t.table_id",
		.nargs = 2,
		.types = {INT8OID, TIMESTAMPTZOID}};
	LanceSession session;
	int n;

	lance_session_begin(&session);
	n = (int)lance_session_run(&statement, (Datum[]){Int64GetDatum(namespace_id), TimestampTzGetDatum(before)},
							   NULL, 0);
	*out = MemoryContextAllocHuge(session.caller, (n + 1) * sizeof(LanceDeclaredTable));
	for (int i = 0; i < n; i++)
	{
		LanceTableRow *row = MemoryContextAllocZero(session.caller, sizeof(*row));

		row->table_id = lance_row_int64(i, 1);
		row->namespace_id = lance_row_int64(i, 2);
		row->name = lance_row_text(&session, i, 3);
		row->location = lance_row_text(&session, i, 4);
		row->server_name = lance_row_text(&session, i, 5);
		row->managed = lance_row_bool(i, 6);
		(*out)[i].row = row;
		(*out)[i].created_at = lance_row_timestamp(i, 7);
	}
	lance_session_end(&session);
	return n;
}

bool
lance_declared_lock(int64 table_id)
{
	static LanceStatement lock = {
		.sql = "SELECT 1 FROM lance.catalog_entry WHERE entry_id = $1 FOR UPDATE", .nargs = 1, .types = {INT8OID}};
	static LanceStatement written = {
		.sql = "SELECT 1 FROM lance.version_entry WHERE table_id = $1 LIMIT 1", .nargs = 1, .types = {INT8OID}};
	LanceSession session;
	bool found;

	lance_session_begin(&session);
	found = lance_session_run(&lock, (Datum[]){Int64GetDatum(table_id)}, NULL, 0) == 1 &&
			lance_session_run_latest(&written, (Datum[]){Int64GetDatum(table_id)}, NULL) == 0;
	lance_session_end(&session);
	return found;
}
