/*
 * ref.c
 *	  The operations on tags and branches as SQL functions.
 */
#include "postgres.h"

#include "common/int.h"
#include "datatype/timestamp.h"
#include "ops/ref.h"
#include "pg/installed.h"
#include "pg/reading.h"
#include "sqlapi/args.h"

PG_FUNCTION_INFO_V1(lance_sql_create_table_tag);
PG_FUNCTION_INFO_V1(lance_sql_get_table_tag_version);
PG_FUNCTION_INFO_V1(lance_sql_update_table_tag);
PG_FUNCTION_INFO_V1(lance_sql_delete_table_tag);
PG_FUNCTION_INFO_V1(lance_sql_list_table_tags);
PG_FUNCTION_INFO_V1(lance_sql_create_table_branch);
PG_FUNCTION_INFO_V1(lance_sql_delete_table_branch);
PG_FUNCTION_INFO_V1(lance_sql_list_table_branches);

/* (id, tag, version, branch) */
static void
tag_arguments(FunctionCallInfo fcinfo, LanceCreateTableTagRequest *request)
{
	lance_arg_id(fcinfo, 0, &request->id);
	request->tag = lance_arg_text(fcinfo, 1);
	request->version = lance_arg_int8(fcinfo, 2);
	request->branch = lance_arg_text(fcinfo, 3);
}

Datum
lance_sql_create_table_tag(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceCreateTableTagRequest request = {0};

	tag_arguments(fcinfo, &request);
	lance_op_create_table_tag(&request);
	PG_RETURN_VOID();
}

Datum
lance_sql_update_table_tag(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceUpdateTableTagRequest request = {0};

	tag_arguments(fcinfo, &request);
	lance_op_update_table_tag(&request);
	PG_RETURN_VOID();
}

/* (id, tag) */
Datum
lance_sql_get_table_tag_version(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceGetTableTagVersionRequest request = {0};
	LanceGetTableTagVersionResponse response;
	LanceRecord record = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.tag = lance_arg_text(fcinfo, 1);
	LANCE_READ(lance_op_get_table_tag_version(&request, &response));
	lance_record_int8(&record, response.version);
	lance_record_text(&record, response.branch);
	return lance_record_result(fcinfo, &record);
}

/* (id, tag) */
Datum
lance_sql_delete_table_tag(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceDeleteTableTagRequest request = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.tag = lance_arg_text(fcinfo, 1);
	lance_op_delete_table_tag(&request);
	PG_RETURN_VOID();
}

/* (id, page_token, limit) */
static void
list_arguments(FunctionCallInfo fcinfo, LanceListTableRefsRequest *request)
{
	lance_arg_id(fcinfo, 0, &request->id);
	request->page_token = lance_arg_text(fcinfo, 1);
	request->limit = lance_arg_int4(fcinfo, 2);
}

Datum
lance_sql_list_table_tags(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceListTableRefsRequest request = {0};
	LanceListTableTagsResponse response;
	LanceRecord record = {0};

	list_arguments(fcinfo, &request);
	LANCE_READ(lance_op_list_table_tags(&request, &response));
	lance_set_begin(fcinfo);
	for (int i = 0; i < response.tags.count; i++)
	{
		const LanceTagInfo *tag = &response.tags.items[i];

		lance_record_text(&record, tag->name);
		lance_record_int8(&record, (LanceOptionalInt){.given = true, .value = tag->version});
		lance_record_text(&record, tag->branch);
		lance_record_int8(&record, (LanceOptionalInt){.given = true, .value = tag->manifest_size});
		lance_record_time_us(&record, tag->created_us);
		lance_record_time_us(&record, tag->updated_us);
		lance_record_properties(&record, &tag->metadata);
		lance_set_add(fcinfo, &record);
	}
	PG_RETURN_NULL();
}

/* (id, name, from_branch, from_version) */
Datum
lance_sql_create_table_branch(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceCreateTableBranchRequest request = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.name = lance_arg_text(fcinfo, 1);
	request.from_branch = lance_arg_text(fcinfo, 2);
	request.from_version = lance_arg_int8(fcinfo, 3);
	lance_op_create_table_branch(&request);
	PG_RETURN_VOID();
}

/* (id, name) */
Datum
lance_sql_delete_table_branch(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceDeleteTableBranchRequest request = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.name = lance_arg_text(fcinfo, 1);
	lance_op_delete_table_branch(&request);
	PG_RETURN_VOID();
}

static LanceOptionalInt
of_seconds(int64 unix_s)
{
	LanceOptionalInt us = {.given = true};

	us.given = !pg_mul_s64_overflow(unix_s, USECS_PER_SEC, &us.value);
	return us;
}

Datum
lance_sql_list_table_branches(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceListTableRefsRequest request = {0};
	LanceListTableBranchesResponse response;
	LanceRecord record = {0};

	list_arguments(fcinfo, &request);
	LANCE_READ(lance_op_list_table_branches(&request, &response));
	lance_set_begin(fcinfo);
	for (int i = 0; i < response.branches.count; i++)
	{
		const LanceBranchInfo *branch = &response.branches.items[i];

		lance_record_text(&record, branch->name);
		lance_record_text(&record, branch->parent_branch);
		lance_record_int8(&record, (LanceOptionalInt){.given = true, .value = branch->parent_version});
		lance_record_time_us(&record, of_seconds(branch->create_at));
		lance_record_int8(&record, (LanceOptionalInt){.given = true, .value = branch->manifest_size});
		lance_record_properties(&record, &branch->metadata);
		lance_set_add(fcinfo, &record);
	}
	PG_RETURN_NULL();
}
