/*
 * version.c
 *	  The operations on table versions as SQL functions.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "ops/version.h"
#include "pg/errcodes.h"
#include "pg/installed.h"
#include "pg/reading.h"
#include "sqlapi/args.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(lance_sql_create_table_version);
PG_FUNCTION_INFO_V1(lance_sql_list_table_versions);
PG_FUNCTION_INFO_V1(lance_sql_describe_table_version);
PG_FUNCTION_INFO_V1(lance_sql_delete_table_versions);

static void
fill_version(LanceRecord *record, const LanceVersionInfo *version)
{
	lance_record_int8(record, (LanceOptionalInt){.given = true, .value = version->version});
	lance_record_text(record, version->manifest_path);
	lance_record_int8(record, version->manifest_size);
	lance_record_text(record, version->e_tag);
	lance_record_time(record, version->timestamp_millis);
	lance_record_properties(record, &version->metadata);
}

/* (id, version, manifest_path, branch, manifest_size, e_tag, metadata, naming_scheme) */
Datum
lance_sql_create_table_version(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceCreateTableVersionRequest request = {0};
	LanceCreateTableVersionResponse response;
	LanceRecord record = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.version = lance_arg_int8(fcinfo, 1);
	request.manifest_path = lance_arg_text(fcinfo, 2);
	request.branch = lance_arg_text(fcinfo, 3);
	request.manifest_size = lance_arg_int8(fcinfo, 4);
	request.e_tag = lance_arg_text(fcinfo, 5);
	request.metadata = lance_arg_properties(fcinfo, 6, "metadata");
	request.naming_scheme = lance_arg_text(fcinfo, 7);
	lance_op_create_table_version(&request, &response);
	fill_version(&record, &response.version);
	return lance_record_result(fcinfo, &record);
}

/* (id, branch, page_token, limit, descending) */
Datum
lance_sql_list_table_versions(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceListTableVersionsRequest request = {0};
	LanceListTableVersionsResponse response;
	LanceRecord record = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.branch = lance_arg_text(fcinfo, 1);
	request.page_token = lance_arg_text(fcinfo, 2);
	request.limit = lance_arg_int4(fcinfo, 3);
	request.descending = lance_arg_bool(fcinfo, 4);
	LANCE_READ(lance_op_list_table_versions(&request, &response));
	lance_set_begin(fcinfo);
	for (int i = 0; i < response.versions.count; i++)
	{
		fill_version(&record, &response.versions.items[i]);
		lance_set_add(fcinfo, &record);
	}
	PG_RETURN_NULL();
}

/* (id, version, branch) */
Datum
lance_sql_describe_table_version(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceDescribeTableVersionRequest request = {0};
	LanceDescribeTableVersionResponse response;
	LanceRecord record = {0};

	lance_arg_id(fcinfo, 0, &request.id);
	request.version = lance_arg_int8(fcinfo, 1);
	request.branch = lance_arg_text(fcinfo, 2);
	LANCE_READ(lance_op_describe_table_version(&request, &response));
	fill_version(&record, &response.version);
	return lance_record_result(fcinfo, &record);
}

/* An int8multirange is what the API calls ranges: half-open, an open end reaches to the newest version. */
static LanceVersionRanges
arg_ranges(FunctionCallInfo fcinfo, int n)
{
	LanceVersionRanges out = {0};
	MultirangeType *multirange;
	TypeCacheEntry *type;
	int32 count;
	RangeType **ranges;

	if (PG_ARGISNULL(n))
		return out;
	multirange = PG_GETARG_MULTIRANGE_P(n);
	type = multirange_get_typcache(fcinfo, MultirangeTypeGetOid(multirange));
	multirange_deserialize(type->rngtype, multirange, &count, &ranges);
	out.given = true;
	out.items = palloc0((count + 1) * sizeof(LanceVersionRange));
	for (int i = 0; i < count; i++)
	{
		RangeBound lower;
		RangeBound upper;
		bool empty;

		range_deserialize(type->rngtype, ranges[i], &lower, &upper, &empty);
		if (empty)
			continue;
		out.items[out.count].start_version = lower.infinite ? 0 : Max(DatumGetInt64(lower.val), 0);
		out.items[out.count].end_version = upper.infinite ? -1 : DatumGetInt64(upper.val);
		if (upper.infinite || out.items[out.count].end_version > out.items[out.count].start_version)
			out.count++;
	}
	return out;
}

/* (id, ranges, branch) */
Datum
lance_sql_delete_table_versions(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceDeleteTableVersionsRequest request = {0};
	LanceDeleteTableVersionsResponse response;

	lance_arg_id(fcinfo, 0, &request.id);
	request.ranges = arg_ranges(fcinfo, 1);
	request.branch = lance_arg_text(fcinfo, 2);
	lance_op_delete_table_versions(&request, &response);
	PG_RETURN_INT64(response.deleted_count.value);
}
