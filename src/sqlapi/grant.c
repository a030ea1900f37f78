/*
 * grant.c
 *	  Giving and taking privileges as SQL functions.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "ops/grant.h"
#include "pg/errcodes.h"
#include "pg/installed.h"
#include "sqlapi/args.h"
#include "utils/array.h"

PG_FUNCTION_INFO_V1(lance_sql_grant);
PG_FUNCTION_INFO_V1(lance_sql_revoke);
PG_FUNCTION_INFO_V1(lance_sql_is_open);
PG_FUNCTION_INFO_V1(lance_sql_namespaces_in_sight);

static Oid
role_argument(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("role is missing")));
	return PG_GETARG_OID(0);
}

/* (role, privilege, id) */
Datum
lance_sql_grant(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceId id;

	lance_arg_id(fcinfo, 2, &id);
	lance_op_grant(role_argument(fcinfo), lance_arg_text(fcinfo, 1), &id);
	PG_RETURN_VOID();
}

/* (role, privilege, id) */
Datum
lance_sql_revoke(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceId id;

	lance_arg_id(fcinfo, 2, &id);
	PG_RETURN_BOOL(lance_op_revoke(role_argument(fcinfo), lance_arg_text(fcinfo, 1), &id));
}

/* (entry_id); of the views */
Datum
lance_sql_is_open(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	PG_RETURN_BOOL(lance_op_is_open(PG_GETARG_INT64(0)));
}

/* (); of the views */
Datum
lance_sql_namespaces_in_sight(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	int64 *namespaces;
	int n = lance_op_namespaces_in_sight(&namespaces);
	Datum *elements = palloc((n + 1) * sizeof(Datum));

	for (int i = 0; i < n; i++)
		elements[i] = Int64GetDatum(namespaces[i]);
	PG_RETURN_ARRAYTYPE_P(construct_array(elements, n, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
