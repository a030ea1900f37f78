/*
 * inspect.c
 *	  Looking into datasets as SQL functions.
 *
 * All take (dataset, server, ..., branch): with a server the dataset is a URI, without one the id of a catalog table.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "ops/inspect.h"
#include "pg/errcodes.h"
#include "pg/installed.h"
#include "sqlapi/args.h"

PG_FUNCTION_INFO_V1(lance_sql_dataset_versions);
PG_FUNCTION_INFO_V1(lance_sql_dataset_fragments);
PG_FUNCTION_INFO_V1(lance_sql_dataset_columns);
PG_FUNCTION_INFO_V1(lance_sql_dataset_pages);

static void
dataset_arguments(FunctionCallInfo fcinfo, int version, int branch, LanceInspectRequest *request)
{
	if (PG_ARGISNULL(0))
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("dataset is missing")));
	request->server = lance_arg_text(fcinfo, 1);
	if (request->server == NULL)
		lance_arg_id(fcinfo, 0, &request->id);
	else
		request->uri = lance_arg_text(fcinfo, 0);
	if (version >= 0)
		request->version = lance_arg_int8(fcinfo, version);
	request->branch = lance_arg_text(fcinfo, branch);
	if (request->branch != NULL && strcmp(request->branch, "main") == 0)
		request->branch = NULL;
}

/* Text of a dataset, which is UTF-8; 22021 where it is not, 22P05 where the database can't hold it. */
static char *
server_text(const char *text)
{
	return text == NULL ? NULL : pg_any_to_server(text, (int)strlen(text), PG_UTF8);
}

static void
add_number(LanceRecord *record, const char *what, uint64 value)
{
	if (value > (uint64)PG_INT64_MAX)
		ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("bigint out of range"),
						errdetail("The dataset states %llu for \"%s\".", (unsigned long long)value, what)));
	lance_record_int8(record, (LanceOptionalInt){.given = true, .value = (int64)value});
}

static void
add_null(LanceRecord *record)
{
	lance_record_int8(record, (LanceOptionalInt){0});
}

static LanceId
texts(int count, const char *const *items)
{
	LanceId result = {.given = true, .nparts = count, .parts = palloc((count + 1) * sizeof(char *))};

	for (int i = 0; i < count; i++)
		result.parts[i] = server_text(items[i]);
	return result;
}

/* (dataset, server, branch) */
Datum
lance_sql_dataset_versions(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceInspectRequest request = {0};
	LanceRecord record = {0};

	dataset_arguments(fcinfo, -1, 2, &request);
	lance_set_begin(fcinfo);
	for (const LanceVersionItem *item = lance_inspect_versions(&request); item != NULL; item = item->next)
	{
		add_number(&record, "version", item->facts.version);
		lance_record_time_us(
			&record, (LanceOptionalInt){.given = item->facts.timestamp_us != 0, .value = item->facts.timestamp_us});
		lance_record_text(&record, item->facts.operation);
		if (item->facts.problem == NULL)
		{
			add_number(&record, "fragments", item->facts.fragments);
			add_number(&record, "physical_rows", item->facts.physical_rows);
		}
		else
		{
			add_null(&record);
			add_null(&record);
		}
		lance_record_text(&record, server_text(item->facts.manifest_key));
		add_number(&record, "manifest_size", item->facts.manifest_size);
		lance_record_text(&record, server_text(item->facts.problem));
		lance_set_add(fcinfo, &record);
	}
	PG_RETURN_NULL();
}

/* (dataset, server, version, branch) */
Datum
lance_sql_dataset_fragments(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	static const char *const kinds[] = {NULL, "arrow", "bitmap"};
	LanceInspectRequest request = {0};
	LanceRecord record = {0};

	dataset_arguments(fcinfo, 2, 3, &request);
	lance_set_begin(fcinfo);
	for (const LanceFragmentItem *item = lance_inspect_fragments(&request); item != NULL; item = item->next)
	{
		const LncFragment *fragment = item->facts.fragment;
		const char **names = palloc((fragment->nfiles + 1) * sizeof(char *));
		LanceId files;

		for (int i = 0; i < fragment->nfiles; i++)
			names[i] = fragment->files[i].path;
		files = texts(fragment->nfiles, names);
		add_number(&record, "fragment", fragment->id);
		lance_record_texts(&record, &files);
		if (item->facts.size_known)
			add_number(&record, "bytes", item->facts.bytes);
		else
			add_null(&record);
		add_number(&record, "physical_rows", fragment->physical_rows);
		add_number(&record, "deleted_rows", item->facts.deleted_rows);
		lance_record_text(&record, kinds[fragment->deletion_kind]);
		lance_set_add(fcinfo, &record);
	}
	PG_RETURN_NULL();
}

/* (dataset, server, version, branch) */
Datum
lance_sql_dataset_columns(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceInspectRequest request = {0};
	LanceRecord record = {0};

	dataset_arguments(fcinfo, 2, 3, &request);
	lance_set_begin(fcinfo);
	for (const LanceFieldItem *item = lance_inspect_fields(&request); item != NULL; item = item->next)
	{
		LanceId path = texts(item->facts.npath, item->facts.path);

		lance_record_texts(&record, &path);
		lance_record_text(&record, server_text(item->facts.type));
		lance_record_int8(&record, (LanceOptionalInt){.given = true, .value = item->facts.field->id});
		lance_record_bool(&record, item->facts.field->nullable ? LANCE_BOOL_TRUE : LANCE_BOOL_FALSE);
		lance_record_text(&record, server_text(item->facts.field->extension));
		lance_set_add(fcinfo, &record);
	}
	PG_RETURN_NULL();
}

/* (dataset, server, version, branch, fragment) */
Datum
lance_sql_dataset_pages(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceInspectRequest request = {0};
	LanceRecord record = {0};

	dataset_arguments(fcinfo, 2, 3, &request);
	request.fragment = lance_arg_int8(fcinfo, 4);
	lance_set_begin(fcinfo);
	for (const LancePageItem *item = lance_inspect_pages(&request); item != NULL; item = item->next)
	{
		const LncPageFacts *facts = &item->facts;

		add_number(&record, "fragment", facts->fragment);
		lance_record_text(&record, server_text(facts->file));
		lance_record_text(&record, psprintf("2.%u", facts->file_minor));
		add_number(&record, "file_column", facts->column);
		lance_record_int8(&record, (LanceOptionalInt){.given = facts->field_id >= 0, .value = facts->field_id});
		add_number(&record, "page", facts->page);
		add_number(&record, "first_row", facts->first_row);
		add_number(&record, "rows", facts->rows);
		add_number(&record, "buffers", facts->buffers);
		add_number(&record, "bytes", facts->bytes);
		lance_record_text(&record, facts->layout);
		lance_record_text(&record, server_text(facts->encoding));
		lance_set_add(fcinfo, &record);
	}
	PG_RETURN_NULL();
}
