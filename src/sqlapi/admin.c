/*
 * admin.c
 *	  API keys and the cleanup queue as SQL functions.
 */
#include "postgres.h"

#include "ops/api_key.h"
#include "ops/cleanup.h"
#include "pg/errcodes.h"
#include "pg/guc.h"
#include "pg/installed.h"
#include "sqlapi/args.h"

PG_FUNCTION_INFO_V1(lance_sql_create_api_key);
PG_FUNCTION_INFO_V1(lance_sql_revoke_api_key);
PG_FUNCTION_INFO_V1(lance_sql_run_cleanup);

/* Whoever makes a key wants to use it: tell him what is missing. */
static void
notice_server_off(void)
{
	if (!lance_guc_preloaded)
		ereport(NOTICE, (errmsg("the REST server, which takes the key, is off"),
						 errhint("Add lance_catalog to shared_preload_libraries and restart PostgreSQL.")));
	else if (lance_guc_rest_workers == 0)
		ereport(NOTICE, (errmsg("the REST server, which takes the key, is off"),
						 errhint("Set lance_catalog.rest_workers and restart PostgreSQL.")));
}

/* (role, label, expires_at) */
Datum
lance_sql_create_api_key(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceRecord record = {0};
	LanceOptionalInt id = {.given = true};
	char *key;

	if (PG_ARGISNULL(0))
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("role is missing")));
	key = lance_api_key_create(PG_GETARG_OID(0), lance_arg_text(fcinfo, 1),
							   PG_ARGISNULL(2) ? 0 : PG_GETARG_TIMESTAMPTZ(2), &id.value);
	notice_server_off();
	lance_record_int8(&record, id);
	lance_record_text(&record, key);
	return lance_record_result(fcinfo, &record);
}

/* (key_id) */
Datum
lance_sql_revoke_api_key(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	if (PG_ARGISNULL(0))
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("key_id is missing")));
	lance_api_key_revoke(PG_GETARG_INT64(0));
	PG_RETURN_VOID();
}

/* (max_items) */
Datum
lance_sql_run_cleanup(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceCleanupResult result;
	LanceRecord record = {0};
	LanceOptionalInt max = lance_arg_int4(fcinfo, 0);

	if (max.given && max.value < 1)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("max_items must be positive")));
	lance_cleanup_run(max.given ? (int)max.value : PG_INT32_MAX, true, &result);
	lance_record_int8(&record, (LanceOptionalInt){.given = true, .value = result.done});
	lance_record_int8(&record, (LanceOptionalInt){.given = true, .value = result.failed});
	lance_record_int8(&record, (LanceOptionalInt){.given = true, .value = result.files});
	return lance_record_result(fcinfo, &record);
}
