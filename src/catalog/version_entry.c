/*
 * version_entry.c
 *	  Rows of lance.version_entry.
 */
#include "postgres.h"

#include "catalog/session.h"
#include "catalog/version_entry.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

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

/* Rows of a statement that was run. */
static int
read_rows(const LanceSession *session, uint64 n, LanceVersionRow **rows)
{
	*rows = MemoryContextAllocHuge(session->caller, (n + 1) * sizeof(LanceVersionRow));
	for (uint64 i = 0; i < n; i++)
		read_row(session, i, &(*rows)[i]);
	return (int)n;
}

static Datum
array_datum(Datum *elements, int n, Oid type)
{
	bool is_text = type == TEXTOID;

	return PointerGetDatum(construct_array(elements, n, type, is_text ? -1 : sizeof(int64),
										   is_text ? false : FLOAT8PASSBYVAL,
										   is_text ? TYPALIGN_INT : TYPALIGN_DOUBLE));
}

static Datum
versions_datum(int n, const int64 *versions)
{
	Datum *elements = palloc((n + 1) * sizeof(Datum));

	for (int i = 0; i < n; i++)
		elements[i] = Int64GetDatum(versions[i]);
	return array_datum(elements, n, INT8OID);
}

int
lance_version_rows(int64 table_id, const char *branch, LanceVersionRow **rows)
{
	static LanceStatement statement = {.sql = COLUMNS "ORDER BY version", .nargs = 2, .types = {INT8OID, TEXTOID}};
	Datum values[] = {Int64GetDatum(table_id), CStringGetTextDatum(branch)};
	LanceSession session;
	int n;

	lance_session_begin(&session);
	n = read_rows(&session, lance_session_run(&statement, values, NULL, 0), rows);
	lance_session_end(&session);
	return n;
}

int
lance_version_branches(int64 table_id, char ***branches)
{
	static LanceStatement statement = {
		.sql = "SELECT DISTINCT branch FROM lance.version_entry WHERE table_id = $1 ORDER BY branch",
		.nargs = 1,
		.types = {INT8OID}};
	LanceSession session;
	int n;

	lance_session_begin(&session);
	n = (int)lance_session_run(&statement, (Datum[]){Int64GetDatum(table_id)}, NULL, 0);
	*branches = MemoryContextAlloc(session.caller, (n + 1) * sizeof(char *));
	for (int i = 0; i < n; i++)
		(*branches)[i] = lance_row_text(&session, i, 1);
	lance_session_end(&session);
	return n;
}

int
lance_version_rows_page(int64 table_id, const char *branch, int64 from, bool descending, int64 limit,
						LanceVersionRow **rows)
{
	static LanceStatement up = {.sql = COLUMNS "AND version >= $3 ORDER BY version LIMIT $4",
								.nargs = 4,
								.types = {INT8OID, TEXTOID, INT8OID, INT8OID}};
	static LanceStatement down = {.sql = COLUMNS "AND version <= $3 ORDER BY version DESC LIMIT $4",
								  .nargs = 4,
								  .types = {INT8OID, TEXTOID, INT8OID, INT8OID}};
	Datum values[] = {Int64GetDatum(table_id), CStringGetTextDatum(branch), Int64GetDatum(from),
					  Int64GetDatum(limit)};
	LanceSession session;
	int n;

	lance_session_begin(&session);
	n = read_rows(&session, lance_session_run(descending ? &down : &up, values, NULL, 0), rows);
	lance_session_end(&session);
	return n;
}

int
lance_version_rows_of(int64 table_id, const char *branch, int n, const int64 *versions, LanceVersionRow **rows)
{
	static LanceStatement statement = {.sql = COLUMNS "AND version = ANY ($3) ORDER BY version",
									   .nargs = 3,
									   .types = {INT8OID, TEXTOID, INT8ARRAYOID}};
	LanceSession session;

	lance_session_begin(&session);
	n = read_rows(&session,
				  lance_session_run(
					  &statement,
					  (Datum[]){Int64GetDatum(table_id), CStringGetTextDatum(branch), versions_datum(n, versions)},
					  NULL, 0),
				  rows);
	lance_session_end(&session);
	return n;
}

int
lance_version_numbers(int64 table_id, const char *branch, int64 first, int64 last, bool deleted, int64 **versions)
{
	static LanceStatement statement = {
		.sql = "SELECT version FROM lance.version_entry WHERE table_id = $1 AND branch = $2"
			   " AND version >= $3 AND version <= $4 AND deleted = $5 ORDER BY version",
		.nargs = 5,
		.types = {INT8OID, TEXTOID, INT8OID, INT8OID, BOOLOID}};
	Datum values[] = {Int64GetDatum(table_id), CStringGetTextDatum(branch), Int64GetDatum(first),
					  Int64GetDatum(last), BoolGetDatum(deleted)};
	LanceSession session;
	int n;

	lance_session_begin(&session);
	n = (int)lance_session_run(&statement, values, NULL, 0);
	*versions = MemoryContextAllocHuge(session.caller, (n + 1) * sizeof(int64));
	for (int i = 0; i < n; i++)
		(*versions)[i] = lance_row_int64(i, 1);
	lance_session_end(&session);
	return n;
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

bool
lance_version_recorded_now(int64 table_id, const char *branch, int64 version)
{
	static LanceStatement statement = {
		.sql = "SELECT 1 FROM lance.version_entry WHERE table_id = $1 AND branch = $2 AND version = $3",
		.nargs = 3,
		.types = {INT8OID, TEXTOID, INT8OID}};
	LanceSession session;
	bool found;

	lance_session_begin(&session);
	found = lance_session_run_latest(
				&statement, (Datum[]){Int64GetDatum(table_id), CStringGetTextDatum(branch), Int64GetDatum(version)},
				NULL) == 1;
	lance_session_end(&session);
	return found;
}

int64
lance_version_newest_now(int64 table_id, const char *branch)
{
	static LanceStatement statement = {.sql = "SELECT version FROM lance.version_entry WHERE table_id = $1 AND "
											  "branch = $2 ORDER BY version DESC LIMIT 1",
									   .nargs = 2,
									   .types = {INT8OID, TEXTOID}};
	LanceSession session;
	int64 version = 0;

	lance_session_begin(&session);
	if (lance_session_run_latest(&statement, (Datum[]){Int64GetDatum(table_id), CStringGetTextDatum(branch)},
								 NULL) == 1)
		version = lance_row_int64(0, 1);
	lance_session_end(&session);
	return version;
}

bool
lance_version_insert(int64 table_id, const char *branch, const LanceVersionRow *row)
{
	static LanceStatement statement = {
		.sql = "INSERT INTO lance.version_entry (table_id, branch, version, manifest_key, manifest_size, metadata,"
			   " staged_key, committed_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
		.nargs = 8,
		.types = {INT8OID, TEXTOID, INT8OID, TEXTOID, INT8OID, JSONBOID, TEXTOID, TIMESTAMPTZOID}};
	Datum values[] = {
		Int64GetDatum(table_id),
		CStringGetTextDatum(branch),
		Int64GetDatum(row->version),
		CStringGetTextDatum(row->manifest_key),
		Int64GetDatum(row->manifest_size),
		lance_properties_datum(&row->metadata),
		row->staged_key != NULL ? CStringGetTextDatum(row->staged_key) : (Datum)0,
		TimestampTzGetDatum(row->committed_at),
	};
	char nulls[] = {' ', ' ', ' ', ' ', ' ', ' ', row->staged_key != NULL ? ' ' : 'n', ' '};
	LanceSession session;
	bool added;

	lance_session_begin(&session);
	added = lance_session_run(&statement, values, nulls, 0) == 1;
	lance_session_end(&session);
	return added;
}

/* So many rows go into one statement. */
#define ADOPT_BATCH 5000

static uint64
adopt_batch(int64 table_id, const char *branch, bool deleted, int n, const LanceVersionRow *rows)
{
	static LanceStatement statement = {
		.sql =
			"INSERT INTO lance.version_entry (table_id, branch, version, manifest_key, manifest_size, committed_at,"
			" adopted, deleted) SELECT $1, $2, u.version, u.key, u.size, u.at, true, $7"
			" FROM unnest($3, $4, $5, $6) u (version, key, size, at) ON CONFLICT DO NOTHING",
		.nargs = 7,
		.types = {INT8OID, TEXTOID, INT8ARRAYOID, TEXTARRAYOID, INT8ARRAYOID, TIMESTAMPTZARRAYOID, BOOLOID}};
	LanceSession session;
	Datum *versions = palloc(n * sizeof(Datum));
	Datum *keys = palloc(n * sizeof(Datum));
	Datum *sizes = palloc(n * sizeof(Datum));
	Datum *times = palloc(n * sizeof(Datum));
	uint64 added;

	for (int i = 0; i < n; i++)
	{
		versions[i] = Int64GetDatum(rows[i].version);
		keys[i] = CStringGetTextDatum(rows[i].manifest_key);
		sizes[i] = Int64GetDatum(rows[i].manifest_size);
		times[i] = TimestampTzGetDatum(rows[i].committed_at);
	}
	lance_session_begin(&session);
	added = lance_session_run(&statement,
							  (Datum[]){Int64GetDatum(table_id), CStringGetTextDatum(branch),
										array_datum(versions, n, INT8OID), array_datum(keys, n, TEXTOID),
										array_datum(sizes, n, INT8OID), array_datum(times, n, TIMESTAMPTZOID),
										BoolGetDatum(deleted)},
							  NULL, 0);
	lance_session_end(&session);
	return added;
}

uint64
lance_version_adopt(int64 table_id, const char *branch, bool deleted, int n, const LanceVersionRow *rows)
{
	MemoryContext batch = AllocSetContextCreate(CurrentMemoryContext, "adopted versions", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(batch);
	uint64 added = 0;

	for (int i = 0; i < n; i += ADOPT_BATCH)
	{
		added += adopt_batch(table_id, branch, deleted, Min(n - i, ADOPT_BATCH), rows + i);
		MemoryContextReset(batch);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(batch);
	return added;
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
