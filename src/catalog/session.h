/*
 * session.h
 *	  How this room reaches its tables: SPI with saved plans, as the owner of the extension, under a fixed search_path.
 *
 *		static LanceStatement statement = {"SELECT … WHERE entry_id = $1", 1, {INT8OID}};
 *		LanceSession session;
 *
 *		lance_session_begin(&session);
 *		n = lance_session_run(&statement, (Datum[]) {Int64GetDatum(id)}, NULL, 0);
 *		… rows of SPI_tuptable, copied with lance_row_* …
 *		lance_session_end(&session);
 *
 * Callers of the operations need no rights on the tables. An error in between needs no cleanup: the end of the
 * (sub)transaction restores user and settings.
 */
#ifndef LANCE_CATALOG_SESSION_H
#define LANCE_CATALOG_SESSION_H

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "ops/types.h"
#include "utils/timestamp.h"

#define LANCE_STATEMENT_MAX_ARGS 12

/* One statement with its saved plan; static, so that each is planned once a process. */
typedef struct LanceStatement
{
	const char *sql;
	int nargs;
	Oid types[LANCE_STATEMENT_MAX_ARGS];
	SPIPlanPtr plan; /* NULL until first used; survives DROP EXTENSION, being analysed again from its text */
} LanceStatement;

typedef struct LanceSession
{
	MemoryContext caller; /* results go here */
	Oid user;
	int security_context;
} LanceSession;

/* Throws LANCE_SERVICE_UNAVAILABLE when the extension is not installed in this database. */
extern void lance_session_begin(LanceSession *session);
extern void lance_session_end(LanceSession *session);

/*
 * Run a statement; nulls as SPI wants them ('n' or ' ' for each argument), or NULL. limit 0: all rows. Sees everything
 * committed before the call, under READ COMMITTED and outside of LANCE_READ (pg/reading.h). Returns the number of rows.
 */
extern uint64 lance_session_run(LanceStatement *statement, Datum *values, const char *nulls, long limit);

/* The same, always with a snapshot of now, whatever the isolation level. For reads only. */
extern uint64 lance_session_run_latest(LanceStatement *statement, Datum *values, const char *nulls);

/* Columns (from 1) of a row of SPI_tuptable. Texts and maps are copied to session->caller; NULL gives NULL or 0. */
extern int64 lance_row_int64(uint64 row, int column);
extern bool lance_row_bool(uint64 row, int column);
extern TimestampTz lance_row_timestamp(uint64 row, int column);
extern char *lance_row_text(const LanceSession *session, uint64 row, int column);
extern void lance_row_properties(const LanceSession *session, uint64 row, int column, LanceProperties *out);

/* A jsonb argument of properties. */
extern Datum lance_properties_datum(const LanceProperties *properties);

/* A text[] argument. */
extern Datum lance_texts_datum(int n, char *const *texts);

/* True where nothing may be written: a read-only transaction or a standby. */
extern bool lance_session_read_only(void);

#endif
