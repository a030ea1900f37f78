/*
 * table.c
 *	  The operations on tables as SQL functions.
 */
#include "postgres.h"

#include "ops/table.h"
#include "pg/installed.h"
#include "pg/reading.h"
#include "sqlapi/args.h"

PG_FUNCTION_INFO_V1(lance_sql_declare_table);
PG_FUNCTION_INFO_V1(lance_sql_register_table);
PG_FUNCTION_INFO_V1(lance_sql_describe_table);
PG_FUNCTION_INFO_V1(lance_sql_table_exists);
PG_FUNCTION_INFO_V1(lance_sql_list_tables);
PG_FUNCTION_INFO_V1(lance_sql_list_all_tables);
PG_FUNCTION_INFO_V1(lance_sql_rename_table);
PG_FUNCTION_INFO_V1(lance_sql_deregister_table);
PG_FUNCTION_INFO_V1(lance_sql_drop_table);

/* (id, location, vend_credentials, properties) */
Datum
lance_sql_declare_table(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceDeclareTableRequest request = {0};
	LanceDeclareTableResponse response;
	LanceRecord record = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.location = lance_arg_text(fcinfo, 1);
	request.vend_credentials = lance_arg_bool(fcinfo, 2);
	request.properties = lance_arg_properties(fcinfo, 3, "properties");
	lance_op_declare_table(&request, &response);
	lance_record_text(&record, response.location);
	lance_record_properties(&record, &response.storage_options);
	lance_record_properties(&record, &response.properties);
	lance_record_bool(&record, response.managed_versioning);
	return lance_record_result(fcinfo, &record);
}

/* (id, location, mode, properties) */
Datum
lance_sql_register_table(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceRegisterTableRequest request = {0};
	LanceRegisterTableResponse response;
	LanceRecord record = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.location = lance_arg_text(fcinfo, 1);
	request.mode = lance_arg_text(fcinfo, 2);
	request.properties = lance_arg_properties(fcinfo, 3, "properties");
	lance_op_register_table(&request, &response);
	lance_record_text(&record, response.location);
	lance_record_properties(&record, &response.properties);
	return lance_record_result(fcinfo, &record);
}

/* (id, version, tag, branch, with_table_uri, load_detailed_metadata, check_declared, vend_credentials) */
Datum
lance_sql_describe_table(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceDescribeTableRequest request = {0};
	LanceDescribeTableResponse response;
	LanceRecord record = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.version = lance_arg_int8(fcinfo, 1);
	request.tag = lance_arg_text(fcinfo, 2);
	request.branch = lance_arg_text(fcinfo, 3);
	request.with_table_uri = lance_arg_bool(fcinfo, 4);
	request.load_detailed_metadata = lance_arg_bool(fcinfo, 5);
	request.check_declared = lance_arg_bool(fcinfo, 6);
	request.vend_credentials = lance_arg_bool(fcinfo, 7);
	LANCE_READ(lance_op_describe_table(&request, &response));
	lance_record_text(&record, response.location);
	lance_record_text(&record, response.table_uri);
	lance_record_properties(&record, &response.storage_options);
	lance_record_properties(&record, &response.properties);
	lance_record_bool(&record, response.managed_versioning);
	lance_record_bool(&record, response.is_only_declared);
	lance_record_text(&record, response.table);
	lance_record_texts(&record, &response.namespace_id);
	lance_record_int8(&record, response.version);
	lance_record_json(&record, response.schema_json);
	lance_record_properties(&record, &response.metadata);
	lance_record_int8(&record, response.num_deleted_rows);
	lance_record_int8(&record, response.num_fragments);
	return lance_record_result(fcinfo, &record);
}

/* (id) */
Datum
lance_sql_table_exists(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceTableExistsRequest request = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	LANCE_READ(lance_op_table_exists(&request));
	PG_RETURN_VOID();
}

static void
return_names(FunctionCallInfo fcinfo, const LanceNameList *names)
{
	LanceRecord record = {0};

	lance_set_begin(fcinfo);
	for (int i = 0; i < names->count; i++)
	{
		lance_record_text(&record, names->names[i]);
		lance_set_add(fcinfo, &record);
	}
}

/* (id, page_token, limit, include_declared) */
Datum
lance_sql_list_tables(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceListTablesRequest request = {0};
	LanceListTablesResponse response;

	lance_arg_id(fcinfo, 0, &request.id);
	request.page_token = lance_arg_text(fcinfo, 1);
	request.limit = lance_arg_int4(fcinfo, 2);
	request.include_declared = lance_arg_bool(fcinfo, 3);
	LANCE_READ(lance_op_list_tables(&request, &response));
	return_names(fcinfo, &response.tables);
	PG_RETURN_NULL();
}

/* (delimiter, page_token, limit, include_declared) */
Datum
lance_sql_list_all_tables(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceListAllTablesRequest request = {0};
	LanceListTablesResponse response;

	request.delimiter = lance_arg_text(fcinfo, 0);
	request.page_token = lance_arg_text(fcinfo, 1);
	request.limit = lance_arg_int4(fcinfo, 2);
	request.include_declared = lance_arg_bool(fcinfo, 3);
	LANCE_READ(lance_op_list_all_tables(&request, &response));
	return_names(fcinfo, &response.tables);
	PG_RETURN_NULL();
}

/* (id, new_table_name, new_namespace_id) */
Datum
lance_sql_rename_table(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceRenameTableRequest request = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.new_table_name = lance_arg_text(fcinfo, 1);
	lance_arg_id(fcinfo, 2, &request.new_namespace_id);
	lance_op_rename_table(&request);
	PG_RETURN_VOID();
}

/* (id) */
Datum
lance_sql_deregister_table(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceDeregisterTableRequest request = {0};
	LanceDeregisterTableResponse response;
	LanceRecord record = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	lance_op_deregister_table(&request, &response);
	lance_record_text(&record, response.location);
	lance_record_properties(&record, &response.properties);
	return lance_record_result(fcinfo, &record);
}

/* (id) */
Datum
lance_sql_drop_table(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceDropTableRequest request = {0};
	LanceDropTableResponse response;
	LanceRecord record = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	lance_op_drop_table(&request, &response);
	lance_record_text(&record, response.location);
	lance_record_properties(&record, &response.properties);
	return lance_record_result(fcinfo, &record);
}
