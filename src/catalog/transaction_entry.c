/*
 * transaction_entry.c
 *	  Rows of lance.transaction_entry.
 */
#include "postgres.h"

#include "catalog/session.h"
#include "catalog/transaction_entry.h"
#include "utils/builtins.h"

#define COLUMNS                                                                              \
	"SELECT transaction_id, branch, version, read_version, operation, tag, properties FROM " \
	"lance.transaction_entry "                                                               \
	"WHERE table_id = $1 "

static LanceTransactionRow *
one_row(LanceStatement *statement, Datum *values)
{
	LanceSession session;
	LanceTransactionRow *row = NULL;

	lance_session_begin(&session);
	if (lance_session_run(statement, values, NULL, 1) == 1)
	{
		row = MemoryContextAllocZero(session.caller, sizeof(*row));
		row->transaction_id = lance_row_text(&session, 0, 1);
		row->branch = lance_row_text(&session, 0, 2);
		row->version = lance_row_int64(0, 3);
		row->read_version = lance_row_int64(0, 4);
		row->operation = lance_row_text(&session, 0, 5);
		row->tag = lance_row_text(&session, 0, 6);
		lance_row_properties(&session, 0, 7, &row->properties);
	}
	lance_session_end(&session);
	return row;
}

LanceTransactionRow *
lance_transaction_row(int64 table_id, const char *transaction_id, bool lock)
{
	static LanceStatement plain = {
		.sql = COLUMNS "AND transaction_id = $2", .nargs = 2, .types = {INT8OID, TEXTOID}};
	static LanceStatement locking = {
		.sql = COLUMNS "AND transaction_id = $2 FOR UPDATE", .nargs = 2, .types = {INT8OID, TEXTOID}};

	return one_row(lock ? &locking : &plain,
				   (Datum[]){Int64GetDatum(table_id), CStringGetTextDatum(transaction_id)});
}

LanceTransactionRow *
lance_transaction_row_of_version(int64 table_id, int64 version)
{
	static LanceStatement statement = {
		.sql = COLUMNS "AND branch = '' AND version = $2", .nargs = 2, .types = {INT8OID, INT8OID}};

	return one_row(&statement, (Datum[]){Int64GetDatum(table_id), Int64GetDatum(version)});
}

void
lance_transaction_insert(int64 table_id, const LanceTransactionRow *row)
{
	static LanceStatement statement = {
		.sql = "INSERT INTO lance.transaction_entry (table_id, transaction_id, branch, version, read_version, "
			   "operation,"
			   " tag, properties) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
		.nargs = 8,
		.types = {INT8OID, TEXTOID, TEXTOID, INT8OID, INT8OID, TEXTOID, TEXTOID, JSONBOID}};
	Datum values[] = {
		Int64GetDatum(table_id),
		CStringGetTextDatum(row->transaction_id),
		CStringGetTextDatum(row->branch),
		Int64GetDatum(row->version),
		Int64GetDatum(row->read_version),
		row->operation != NULL ? CStringGetTextDatum(row->operation) : (Datum)0,
		row->tag != NULL ? CStringGetTextDatum(row->tag) : (Datum)0,
		lance_properties_datum(&row->properties),
	};
	char nulls[] = {' ', ' ', ' ', ' ', ' ', row->operation != NULL ? ' ' : 'n', row->tag != NULL ? ' ' : 'n',
					' ', 0};
	LanceSession session;

	lance_session_begin(&session);
	lance_session_run(&statement, values, nulls, 0);
	lance_session_end(&session);
}

void
lance_transaction_set_properties(int64 table_id, const char *transaction_id, const LanceProperties *properties)
{
	static LanceStatement statement = {
		.sql = "UPDATE lance.transaction_entry SET properties = $3 WHERE table_id = $1 AND transaction_id = $2",
		.nargs = 3,
		.types = {INT8OID, TEXTOID, JSONBOID}};
	LanceSession session;

	lance_session_begin(&session);
	lance_session_run(
		&statement,
		(Datum[]){Int64GetDatum(table_id), CStringGetTextDatum(transaction_id), lance_properties_datum(properties)},
		NULL, 0);
	lance_session_end(&session);
}
