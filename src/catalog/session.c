/*
 * session.c
 *	  SPI with saved plans, as the owner of the extension.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/session.h"
#include "jit/jit.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "pg/installed.h"
#include "pg/reading.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

static Oid
extension_owner(void)
{
	const LanceInstalled *installed = lance_installed();

	if (installed == NULL)
		lance_not_installed();
	return installed->owner;
}

static OverrideSearchPath system_path = {.addCatalog = true};

void
lance_session_begin(LanceSession *session)
{
	Oid owner = extension_owner();

	session->caller = CurrentMemoryContext;
	GetUserIdAndSecContext(&session->user, &session->security_context);
	SetUserIdAndSecContext(owner, session->security_context | SECURITY_LOCAL_USERID_CHANGE);

	/* Unqualified operators and functions must not be the caller's. This is cheaper than the setting search_path. */
	PushOverrideSearchPath(&system_path);
	if (SPI_connect() != SPI_OK_CONNECT)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not connect to SPI")));
}

void
lance_session_end(LanceSession *session)
{
	SPI_finish();
	PopOverrideSearchPath();
	SetUserIdAndSecContext(session->user, session->security_context);
	MemoryContextSwitchTo(session->caller);
}

static void
prepare(LanceStatement *statement)
{
	SPIPlanPtr plan;

	if (statement->plan != NULL)
		return;
	plan = SPI_prepare(statement->sql, statement->nargs, statement->types);
	if (plan == NULL || SPI_keepplan(plan) != 0)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not prepare a statement of the catalog: %s",
																SPI_result_code_string(SPI_result))));
	statement->plan = plan;
}

/*
 * A plan is kept until the tables are analysed. One that was made while they were nearly empty would read them from
 * end to end for all that is added until then, as will the plans of foreign keys that are made meanwhile. Each statement
 * has its indexes, and with them, in nested loops, costs what it finds. Where a loop could run the other way round, the
 * statement leaves no choice: LATERAL (... OFFSET 0), or "= ANY (ARRAY(...))". sql/plans.sql tests that.
 */
static void
run(LanceStatement *statement, Datum *values, const char *nulls, Snapshot snapshot, long limit)
{
	bool seqscan = enable_seqscan;
	bool hashjoin = enable_hashjoin;
	bool mergejoin = enable_mergejoin;
	bool bitmapscan = enable_bitmapscan;
	bool jit = jit_enabled;
	int rc;

	prepare(statement);
	PG_TRY();
	{
		enable_seqscan = false;
		enable_hashjoin = false;
		enable_mergejoin = false;
		enable_bitmapscan = false;
		jit_enabled = false;
		rc = snapshot == InvalidSnapshot ? SPI_execute_plan(statement->plan, values, nulls, lance_reading(), limit)
										 : SPI_execute_snapshot(statement->plan, values, nulls, snapshot,
																InvalidSnapshot, true, false, limit);
	}
	PG_FINALLY();
	{
		enable_seqscan = seqscan;
		enable_hashjoin = hashjoin;
		enable_mergejoin = mergejoin;
		enable_bitmapscan = bitmapscan;
		jit_enabled = jit;
	}
	PG_END_TRY();
	if (rc < 0)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
						errmsg("could not run a statement of the catalog: %s", SPI_result_code_string(rc))));
}

uint64
lance_session_run(LanceStatement *statement, Datum *values, const char *nulls, long limit)
{
	run(statement, values, nulls, InvalidSnapshot, limit);
	return SPI_processed;
}

uint64
lance_session_run_latest(LanceStatement *statement, Datum *values, const char *nulls)
{
	run(statement, values, nulls, GetLatestSnapshot(), 0);
	return SPI_processed;
}

/* ---- columns */

static Datum
column_value(uint64 row, int column, bool *isnull)
{
	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, isnull);
}

int64
lance_row_int64(uint64 row, int column)
{
	bool isnull;
	Datum value = column_value(row, column, &isnull);

	return isnull ? 0 : DatumGetInt64(value);
}

bool
lance_row_bool(uint64 row, int column)
{
	bool isnull;
	Datum value = column_value(row, column, &isnull);

	return !isnull && DatumGetBool(value);
}

TimestampTz
lance_row_timestamp(uint64 row, int column)
{
	bool isnull;
	Datum value = column_value(row, column, &isnull);

	return isnull ? 0 : DatumGetTimestampTz(value);
}

char *
lance_row_text(const LanceSession *session, uint64 row, int column)
{
	bool isnull;
	Datum value = column_value(row, column, &isnull);
	MemoryContext old;
	char *copy;

	if (isnull)
		return NULL;
	old = MemoryContextSwitchTo(session->caller);
	copy = TextDatumGetCString(value);
	MemoryContextSwitchTo(old);
	return copy;
}

void
lance_row_properties(const LanceSession *session, uint64 row, int column, LanceProperties *out)
{
	bool isnull;
	Datum value = column_value(row, column, &isnull);
	MemoryContext old = MemoryContextSwitchTo(session->caller);

	memset(out, 0, sizeof(*out));
	if (!isnull)
	{
		out->given = true;
		out->count = lance_text_map_from_jsonb(value, "properties", &out->items);
	}
	MemoryContextSwitchTo(old);
}

Datum
lance_properties_datum(const LanceProperties *properties)
{
	return lance_text_map_to_jsonb(properties->count, properties->items);
}

Datum
lance_texts_datum(int n, char *const *texts)
{
	Datum *elements = palloc((n + 1) * sizeof(Datum));

	for (int i = 0; i < n; i++)
		elements[i] = CStringGetTextDatum(texts[i]);
	return PointerGetDatum(construct_array(elements, n, TEXTOID, -1, false, TYPALIGN_INT));
}

bool
lance_session_read_only(void)
{
	return XactReadOnly || RecoveryInProgress();
}
