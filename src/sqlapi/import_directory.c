/*
 * import_directory.c
 *	  Bringing a directory of tables into the catalog as an SQL function.
 */
#include "postgres.h"

#include "ops/import_directory.h"
#include "pg/installed.h"
#include "sqlapi/args.h"

PG_FUNCTION_INFO_V1(lance_sql_import_directory);

/* (server, path, namespace, dry_run) */
Datum
lance_sql_import_directory(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceImportRequest request = {0};
	LanceImportResponse response;
	LanceRecord record = {0};

	request.server = lance_arg_text(fcinfo, 0);
	request.path = lance_arg_text(fcinfo, 1);
	lance_arg_id(fcinfo, 2, &request.namespace_id);
	request.dry_run = lance_arg_bool(fcinfo, 3) == LANCE_BOOL_TRUE;
	lance_import_directory(&request, &response);
	lance_set_begin(fcinfo);
	for (int i = 0; i < response.count; i++)
	{
		const LanceImportRow *row = &response.rows[i];

		lance_record_texts(&record, &row->id);
		lance_record_text(&record, row->kind);
		lance_record_text(&record, row->location);
		lance_record_text(&record, row->action);
		lance_record_text(&record, row->detail);
		lance_set_add(fcinfo, &record);
	}
	PG_RETURN_NULL();
}
