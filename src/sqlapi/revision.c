/*
 * revision.c
 *	  The operations that revise a table's manifest, and GetTableStats, as SQL functions.
 */
#include "postgres.h"

#include "ops/changes_json.h"
#include "ops/revision.h"
#include "ops/stats.h"
#include "pg/installed.h"
#include "pg/reading.h"
#include "sqlapi/args.h"

PG_FUNCTION_INFO_V1(lance_sql_restore_table);
PG_FUNCTION_INFO_V1(lance_sql_update_table_schema_metadata);
PG_FUNCTION_INFO_V1(lance_sql_update_field_metadata);
PG_FUNCTION_INFO_V1(lance_sql_alter_table_drop_columns);
PG_FUNCTION_INFO_V1(lance_sql_alter_table_alter_columns);
PG_FUNCTION_INFO_V1(lance_sql_get_table_stats);

/* (id, version, branch) */
Datum
lance_sql_restore_table(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceRestoreTableRequest request = {0};
	LanceRestoreTableResponse response;
	LanceRecord record = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.version = lance_arg_int8(fcinfo, 1);
	request.branch = lance_arg_text(fcinfo, 2);
	lance_op_restore_table(&request, &response);
	lance_record_text(&record, response.transaction_id);
	lance_record_int8(&record, response.version);
	return lance_record_result(fcinfo, &record);
}

/* (id, metadata, branch) */
Datum
lance_sql_update_table_schema_metadata(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceUpdateTableSchemaMetadataRequest request = {0};
	LanceUpdateTableSchemaMetadataResponse response;
	LanceRecord record = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.metadata = lance_arg_properties(fcinfo, 1, "metadata");
	request.branch = lance_arg_text(fcinfo, 2);
	lance_op_update_table_schema_metadata(&request, &response);
	lance_record_properties(&record, &response.metadata);
	lance_record_text(&record, response.transaction_id);
	return lance_record_result(fcinfo, &record);
}

/* (id, updates, branch) */
Datum
lance_sql_update_field_metadata(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceUpdateFieldMetadataRequest request = {0};
	LanceUpdateFieldMetadataResponse response;
	LanceRecord record = {0};
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	char *json = lance_arg_json(fcinfo, 1);

	lance_arg_id(fcinfo, 0, &request.id);
	if (json != NULL)
		lance_json_field_metadata(lib, lance_json_parse(lib, json), "\"updates\"", &request.updates);
	request.branch = lance_arg_text(fcinfo, 2);
	lance_op_update_field_metadata(&request, &response);
	lance_record_int8(&record, response.version);
	lance_record_maps(&record, &response.fields);
	return lance_record_result(fcinfo, &record);
}

/* (id, columns, branch) */
Datum
lance_sql_alter_table_drop_columns(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceAlterTableDropColumnsRequest request = {0};
	LanceAlterTableDropColumnsResponse response;
	LanceRecord record = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.columns = lance_arg_texts(fcinfo, 1, "columns");
	request.branch = lance_arg_text(fcinfo, 2);
	lance_op_alter_table_drop_columns(&request, &response);
	lance_record_text(&record, response.transaction_id);
	lance_record_int8(&record, response.version);
	return lance_record_result(fcinfo, &record);
}

/* (id, alterations, branch) */
Datum
lance_sql_alter_table_alter_columns(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceAlterTableAlterColumnsRequest request = {0};
	LanceAlterTableAlterColumnsResponse response;
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	char *json = lance_arg_json(fcinfo, 1);

	lance_arg_id(fcinfo, 0, &request.id);
	if (json != NULL)
		lance_json_column_changes(lib, lance_json_parse(lib, json), "\"alterations\"", &request.alterations);
	request.branch = lance_arg_text(fcinfo, 2);
	lance_op_alter_table_alter_columns(&request, &response);
	PG_RETURN_INT64(response.version.value);
}

/* (id, branch) */
Datum
lance_sql_get_table_stats(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceGetTableStatsRequest request = {0};
	LanceGetTableStatsResponse response;
	const LanceFragmentStats *fragments = &response.fragment_stats;
	LanceRecord record = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.branch = lance_arg_text(fcinfo, 1);
	LANCE_READ(lance_op_get_table_stats(&request, &response));
	lance_record_int8(&record, response.total_bytes);
	lance_record_int8(&record, response.num_rows);
	lance_record_int8(&record, response.num_indices);
	lance_record_int8(&record, fragments->num_fragments);
	lance_record_int8(&record, fragments->num_small_fragments);
	lance_record_int8(&record, fragments->min);
	lance_record_int8(&record, fragments->max);
	lance_record_int8(&record, fragments->mean);
	lance_record_int8(&record, fragments->p25);
	lance_record_int8(&record, fragments->p50);
	lance_record_int8(&record, fragments->p75);
	lance_record_int8(&record, fragments->p99);
	return lance_record_result(fcinfo, &record);
}
