/*
 * version_entry.c
 *	  Rows of lance.version_entry.
 */
#include "postgres.h"

#include "catalog/session.h"
#include "catalog/version_entry.h"
#include "utils/array.h"
#include "utils/builtins.h"

#define COLUMNS                                                                                                 \
	"SELECT version, manifest_key, manifest_size, e_tag, metadata, staged_key, committed_at, adopted, deleted " \
	"FROM lance.version_entry WHERE table_id = $1 AND branch = $2 "

static void
read_row(const LanceSession *session, uint64 n, LanceVersionRow *row)
{
	row->version = lance_row_int64(n, 1);
	row->manifest_key = lance_row_text(session, n, 2);
	row->manifest_size = lance_row_int64(n, 3);
	row->e_tag = lance_row_text(session, n, 4);
	lance_row_properties(session, n, 5, &row->metadata);
	row->staged_key = lance_row_text(session, n, 6);
	row->committed_at = lance_row_timestamp(n, 7);
	row->adopted = lance_row_bool(n, 8);
	row->deleted = lance_row_bool(n, 9);
}

int
lance_version_rows(int64 table_id, const char *branch, LanceVersionRow **rows)
{
	static LanceStatement statement = {.sql = COLUMNS "ORDER BY version", .nargs = 2, .types = {INT8OID, TEXTOID}};
	LanceSession session;
	uint64 n;

	lance_session_begin(&session);
	n = lance_session_run(&statement, (Datum[]){Int64GetDatum(table_id), CStringGetTextDatum(branch)}, NULL, 0);
	*rows = MemoryContextAllocHuge(session.caller, (n + 1) * sizeof(LanceVersionRow));
	for (uint64 i = 0; i < n; i++)
		read_row(&session, i, &(*rows)[i]);
	lance_session_end(&session);
	return (int)n;
}

static LanceVersionRow *
one_row(LanceStatement *statement, Datum *values)
{
	LanceSession session;
	LanceVersionRow *row = NULL;

	lance_session_begin(&session);
	if (lance_session_run(statement, values, NULL, 1) == 1)
	{
		row = MemoryContextAllocZero(session.caller, sizeof(*row));
		read_row(&session, 0, row);
	}
	lance_session_end(&session);
	return row;
}

LanceVersionRow *
lance_version_row(int64 table_id, const char *branch, int64 version)
{
	static LanceStatement statement = {
		.sql = COLUMNS "AND version = $3", .nargs = 3, .types = {INT8OID, TEXTOID, INT8OID}};

	return one_row(&statement,
				   (Datum[]){Int64GetDatum(table_id), CStringGetTextDatum(branch), Int64GetDatum(version)});
}

LanceVersionRow *
lance_version_row_newest(int64 table_id, const char *branch)
{
	static LanceStatement statement = {
		.sql = COLUMNS "AND NOT deleted ORDER BY version DESC LIMIT 1", .nargs = 2, .types = {INT8OID, TEXTOID}};

	return one_row(&statement, (Datum[]){Int64GetDatum(table_id), CStringGetTextDatum(branch)});
}

bool
lance_version_recorded(int64 table_id)
{
	static LanceStatement statement = {
		.sql = "SELECT 1 FROM lance.version_entry WHERE table_id = $1 LIMIT 1", .nargs = 1, .types = {INT8OID}};
	LanceSession session;
	bool found;

	lance_session_begin(&session);
	found = lance_session_run(&statement, (Datum[]){Int64GetDatum(table_id)}, NULL, 1) == 1;
	lance_session_end(&session);
	return found;
}

static uint64
insert_one(int64 table_id, const char *branch, const LanceVersionRow *row)
{
	static LanceStatement statement = {
		.sql = "INSERT INTO lance.version_entry (table_id, branch, version, manifest_key, manifest_size, e_tag, "
			   "metadata,"
			   " staged_key, committed_at, adopted) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) "
			   "ON CONFLICT DO NOTHING",
		.nargs = 10,
		.types = {INT8OID, TEXTOID, INT8OID, TEXTOID, INT8OID, TEXTOID, JSONBOID, TEXTOID, TIMESTAMPTZOID,
				  BOOLOID}};
	Datum values[] = {
		Int64GetDatum(table_id),
		CStringGetTextDatum(branch),
		Int64GetDatum(row->version),
		CStringGetTextDatum(row->manifest_key),
		Int64GetDatum(row->manifest_size),
		row->e_tag != NULL ? CStringGetTextDatum(row->e_tag) : (Datum)0,
		lance_properties_datum(&row->metadata),
		row->staged_key != NULL ? CStringGetTextDatum(row->staged_key) : (Datum)0,
		TimestampTzGetDatum(row->committed_at),
		BoolGetDatum(row->adopted),
	};
	char nulls[] = {' ',
					' ',
					' ',
					' ',
					row->manifest_size > 0 ? ' ' : 'n',
					row->e_tag != NULL ? ' ' : 'n',
					' ',
					row->staged_key != NULL ? ' ' : 'n',
					' ',
					' '};

	return lance_session_run(&statement, values, nulls, 0);
}

uint64
lance_version_insert(int64 table_id, const char *branch, int n, const LanceVersionRow *rows)
{
	LanceSession session;
	uint64 added = 0;

	for (int i = 0; i < n; i++)
	{
		/* A session each: thousands of adopted rows must not pile up in one SPI context. */
		lance_session_begin(&session);
		added += insert_one(table_id, branch, &rows[i]);
		lance_session_end(&session);
	}
	return added;
}

static Datum
versions_datum(int n, const int64 *versions)
{
	Datum *elements = palloc((n + 1) * sizeof(Datum));

	for (int i = 0; i < n; i++)
		elements[i] = Int64GetDatum(versions[i]);
	return PointerGetDatum(construct_array(elements, n, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

static uint64
run_on_versions(LanceStatement *statement, int64 table_id, const char *branch, int n, const int64 *versions)
{
	LanceSession session;
	uint64 done;

	lance_session_begin(&session);
	done = lance_session_run(
		statement, (Datum[]){Int64GetDatum(table_id), CStringGetTextDatum(branch), versions_datum(n, versions)},
		NULL, 0);
	lance_session_end(&session);
	return done;
}

uint64
lance_version_mark_deleted(int64 table_id, const char *branch, int n, const int64 *versions)
{
	static LanceStatement statement = {
		.sql = "UPDATE lance.version_entry SET deleted = true"
			   " WHERE table_id = $1 AND branch = $2 AND version = ANY ($3) AND NOT deleted",
		.nargs = 3,
		.types = {INT8OID, TEXTOID, INT8ARRAYOID}};

	return run_on_versions(&statement, table_id, branch, n, versions);
}

void
lance_version_forget(int64 table_id, const char *branch, int n, const int64 *versions)
{
	static LanceStatement statement = {
		.sql = "DELETE FROM lance.version_entry WHERE table_id = $1 AND branch = $2 AND version = ANY ($3)",
		.nargs = 3,
		.types = {INT8OID, TEXTOID, INT8ARRAYOID}};

	run_on_versions(&statement, table_id, branch, n, versions);
}
