/*
 * namespace.c
 *	  The operations on namespaces as SQL functions.
 */
#include "postgres.h"

#include "ops/namespace.h"
#include "pg/installed.h"
#include "pg/reading.h"
#include "sqlapi/args.h"

PG_FUNCTION_INFO_V1(lance_sql_create_namespace);
PG_FUNCTION_INFO_V1(lance_sql_list_namespaces);
PG_FUNCTION_INFO_V1(lance_sql_describe_namespace);
PG_FUNCTION_INFO_V1(lance_sql_namespace_exists);
PG_FUNCTION_INFO_V1(lance_sql_drop_namespace);

/* (id, mode, properties) */
Datum
lance_sql_create_namespace(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceCreateNamespaceRequest request = {0};
	LanceCreateNamespaceResponse response;

	lance_arg_id(fcinfo, 0, &request.id);
	request.mode = lance_arg_text(fcinfo, 1);
	request.properties = lance_arg_properties(fcinfo, 2, "properties");
	lance_op_create_namespace(&request, &response);
	return lance_properties_result(fcinfo, &response.properties);
}

/* (id, page_token, limit) */
Datum
lance_sql_list_namespaces(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceListNamespacesRequest request = {0};
	LanceListNamespacesResponse response;
	LanceRecord record = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.page_token = lance_arg_text(fcinfo, 1);
	request.limit = lance_arg_int4(fcinfo, 2);
	LANCE_READ(lance_op_list_namespaces(&request, &response));
	lance_set_begin(fcinfo);
	for (int i = 0; i < response.namespaces.count; i++)
	{
		lance_record_text(&record, response.namespaces.names[i]);
		lance_set_add(fcinfo, &record);
	}
	PG_RETURN_NULL();
}

/* (id) */
Datum
lance_sql_describe_namespace(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceDescribeNamespaceRequest request = {0};
	LanceDescribeNamespaceResponse response;

	lance_arg_id(fcinfo, 0, &request.id);
	LANCE_READ(lance_op_describe_namespace(&request, &response));
	return lance_properties_result(fcinfo, &response.properties);
}

/* (id) */
Datum
lance_sql_namespace_exists(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceNamespaceExistsRequest request = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	LANCE_READ(lance_op_namespace_exists(&request));
	PG_RETURN_VOID();
}

/* (id, mode, behavior) */
Datum
lance_sql_drop_namespace(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceDropNamespaceRequest request = {0};
	LanceDropNamespaceResponse response;

	lance_arg_id(fcinfo, 0, &request.id);
	request.mode = lance_arg_text(fcinfo, 1);
	request.behavior = lance_arg_text(fcinfo, 2);
	lance_op_drop_namespace(&request, &response);
	return lance_properties_result(fcinfo, &response.properties);
}
