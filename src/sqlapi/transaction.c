/*
 * transaction.c
 *	  The operations on transactions as SQL functions.
 */
#include "postgres.h"

#include "ops/changes_json.h"
#include "ops/transaction.h"
#include "pg/installed.h"
#include "pg/reading.h"
#include "sqlapi/args.h"

PG_FUNCTION_INFO_V1(lance_sql_describe_transaction);
PG_FUNCTION_INFO_V1(lance_sql_alter_transaction);

static Datum
result(FunctionCallInfo fcinfo, const LanceTransactionResponse *response)
{
	LanceRecord record = {0};

	lance_record_text(&record, response->status);
	lance_record_properties(&record, &response->properties);
	return lance_record_result(fcinfo, &record);
}

/* (id) */
Datum
lance_sql_describe_transaction(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceDescribeTransactionRequest request = {0};
	LanceTransactionResponse response;

	lance_arg_id(fcinfo, 0, &request.id);
	LANCE_READ(lance_op_describe_transaction(&request, &response));
	return result(fcinfo, &response);
}

/* (id, actions) */
Datum
lance_sql_alter_transaction(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceAlterTransactionRequest request = {0};
	LanceTransactionResponse response;
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	char *json = lance_arg_json(fcinfo, 1);

	lance_arg_id(fcinfo, 0, &request.id);
	if (json != NULL)
		lance_json_actions(lib, lance_json_parse(lib, json), "\"actions\"", &request.actions);
	lance_op_alter_transaction(&request, &response);
	return result(fcinfo, &response);
}
