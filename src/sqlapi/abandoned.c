/*
 * abandoned.c
 *	  Tables that were declared and never written, as SQL functions.
 */
#include "postgres.h"

#include "access/xact.h"
#include "ops/abandoned.h"
#include "pg/errcodes.h"
#include "pg/installed.h"
#include "sqlapi/args.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(lance_sql_list_abandoned_tables);
PG_FUNCTION_INFO_V1(lance_sql_drop_abandoned_tables);

/* The time that lies an interval before now. */
static TimestampTz
time_before(FunctionCallInfo fcinfo, int n)
{
	Interval zero = {0};
	Datum now = TimestampTzGetDatum(GetCurrentTransactionStartTimestamp());

	if (PG_ARGISNULL(n))
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("older_than is missing")));
	if (DatumGetBool(DirectFunctionCall2(interval_lt, PG_GETARG_DATUM(n), IntervalPGetDatum(&zero))))
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("older_than must not be negative")));
	return DatumGetTimestampTz(DirectFunctionCall2(timestamptz_mi_interval, now, PG_GETARG_DATUM(n)));
}

static void
abandoned_tables(FunctionCallInfo fcinfo, bool drop)
{
	LanceRecord record = {0};
	LanceAbandonedTable *tables;
	LanceId id;
	int n;

	lance_arg_id(fcinfo, 0, &id);
	n = lance_abandoned_tables(&id, time_before(fcinfo, 1), drop, &tables);
	lance_set_begin(fcinfo);
	for (int i = 0; i < n; i++)
	{
		lance_record_texts(&record, &tables[i].id);
		lance_record_text(&record, tables[i].location);
		lance_record_int8(&record, (LanceOptionalInt){.given = true, .value = tables[i].created_at});
		lance_set_add(fcinfo, &record);
	}
}

/* (id, older_than) */
Datum
lance_sql_list_abandoned_tables(PG_FUNCTION_ARGS)
{
	lance_check_installed();
	abandoned_tables(fcinfo, false);
	PG_RETURN_NULL();
}

/* (id, older_than) */
Datum
lance_sql_drop_abandoned_tables(PG_FUNCTION_ARGS)
{
	lance_check_installed();
	abandoned_tables(fcinfo, true);
	PG_RETURN_NULL();
}
