/*
 * statistics.c
 *	  Counters of the server as SQL functions. The views in sql/install make them readable.
 */
#include "postgres.h"

#include "pg/guc.h"
#include "pg/installed.h"
#include "pg/statistics.h"
#include "sqlapi/args.h"

PG_FUNCTION_INFO_V1(lance_sql_rest_statistics);
PG_FUNCTION_INFO_V1(lance_sql_cleanup_statistics);
PG_FUNCTION_INFO_V1(lance_sql_reset_statistics);

static void
add_number(LanceRecord *record, int64 value)
{
	lance_record_int8(record, (LanceOptionalInt){.given = true, .value = value});
}

/* () */
Datum
lance_sql_rest_statistics(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceStatistics *statistics = lance_statistics_read();
	LanceRecord record = {0};

	lance_set_begin(fcinfo);
	for (int i = 0; statistics != NULL && i < statistics->ncalls; i++)
	{
		const LanceCallCount *count = &statistics->calls[i];

		if (count->calls == 0)
			continue;
		lance_record_text(&record, count->operation);
		add_number(&record, count->calls);
		add_number(&record, count->errors);
		add_number(&record, count->total_us);
		add_number(&record, count->max_us);
		add_number(&record, statistics->since);
		lance_set_add(fcinfo, &record);
	}
	PG_RETURN_NULL();
}

/* () */
Datum
lance_sql_cleanup_statistics(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceStatistics *statistics = lance_statistics_read();
	LanceRecord record = {0};

	lance_set_begin(fcinfo);
	if (statistics != NULL)
	{
		add_number(&record, statistics->cleanup.done);
		add_number(&record, statistics->cleanup.failed);
		add_number(&record, statistics->cleanup.files);
		add_number(&record, statistics->since);
		lance_set_add(fcinfo, &record);
	}
	PG_RETURN_NULL();
}

/* () */
Datum
lance_sql_reset_statistics(PG_FUNCTION_ARGS)
{
	lance_check_installed();
	if (!lance_guc_preloaded)
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("no statistics are kept"),
						errhint("Add lance_catalog to shared_preload_libraries and restart PostgreSQL.")));
	lance_statistics_reset();
	PG_RETURN_VOID();
}
