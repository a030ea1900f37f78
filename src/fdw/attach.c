/*
 * attach.c
 *	  SQL functions that make one foreign table, and that bring one up to its dataset's schema.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/table.h"
#include "executor/spi.h"
#include "fdw/composite.h"
#include "fdw/ddl.h"
#include "fdw/source.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "parser/scansup.h"
#include "pg/errcodes.h"
#include "pg/installed.h"
#include "scan/system_columns.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(lance_sql_attach_table);
PG_FUNCTION_INFO_V1(lance_sql_attach_dataset);
PG_FUNCTION_INFO_V1(lance_sql_refresh_table);

static void
refuse_null(FunctionCallInfo fcinfo, int arg, const char *name)
{
	if (PG_ARGISNULL(arg))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("argument \"%s\" must not be null", name)));
}

/* The time-travel arguments, in the order version, as_of, branch from that argument on, and the tag's. */
static void
travel_arguments(FunctionCallInfo fcinfo, int arg, int tag_arg, LanceTableOptions *options)
{
	if (!PG_ARGISNULL(arg))
	{
		options->version = PG_GETARG_INT64(arg);
		if (options->version < 1)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("version must be 1 or more")));
	}
	if (!PG_ARGISNULL(arg + 1))
	{
		options->has_as_of = true;
		options->as_of = PG_GETARG_TIMESTAMPTZ(arg + 1);
	}
	if (!PG_ARGISNULL(arg + 2))
	{
		options->branch = text_to_cstring(PG_GETARG_TEXT_PP(arg + 2));
		if (strcmp(options->branch, "main") == 0)
			options->branch = NULL;
	}
	if (!PG_ARGISNULL(tag_arg))
	{
		options->tag = text_to_cstring(PG_GETARG_TEXT_PP(tag_arg));
		if (options->version != 0 || options->has_as_of || options->branch != NULL)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("argument \"%s\" excludes \"version\", \"as_of\" and \"branch\"", "tag")));
	}
	if (options->version != 0 && options->has_as_of)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("arguments \"version\" and \"as_of\" exclude each other")));
}

/* as_of in UTC, whatever TimeZone and DateStyle are when the option is read. */
static char *
as_of_text(TimestampTz as_of)
{
	struct pg_tm tm;
	fsec_t fsec;
	char buffer[MAXDATELEN + 1];

	if (timestamp2tm(as_of, NULL, &tm, &fsec, NULL, NULL) != 0 || TIMESTAMP_NOT_FINITE(as_of))
		ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("timestamp out of range")));
	tm.tm_isdst = 0; /* -1 would leave out the zone */
	EncodeDateTime(&tm, fsec, true, 0, "UTC", USE_ISO_DATES, buffer);
	return pstrdup(buffer);
}

static char *
options_text(const LanceTableOptions *options)
{
	StringInfoData text;
	bool first = true;

	initStringInfo(&text);
	lance_ddl_append_option(&text, &first, "table", options->table);
	lance_ddl_append_option(&text, &first, "uri", options->uri);
	lance_ddl_append_option(&text, &first, "version",
							options->version != 0 ? psprintf(INT64_FORMAT, options->version) : NULL);
	lance_ddl_append_option(&text, &first, "as_of", options->has_as_of ? as_of_text(options->as_of) : NULL);
	lance_ddl_append_option(&text, &first, "branch", options->branch);
	lance_ddl_append_option(&text, &first, "tag", options->tag);
	return text.data;
}

static Oid
create_table(const LanceTableOptions *options, const char *server, const char *schema, const char *name,
			 bool composite, uint32 system)
{
	LanceComposites composites = {.schema = schema, .reserved = list_make1(unconstify(char *, name))};
	LanceSource *source;
	char *command;

	if (pg_foreign_server_aclcheck(options->server_oid, GetUserId(), ACL_USAGE) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_SERVER, server);
	source = lance_source_open(options, GetUserId(), NULL);
	command = lance_ddl_create_table(source->dataset, quote_qualified_identifier(schema, name), name,
									 composite ? &composites : NULL, system, server, options_text(options));
	SPI_connect();
	lance_ddl_run(command);
	SPI_finish();
	return get_relname_relid(name, get_namespace_oid(schema, false));
}

/* The argument structs: whether they become composites. */
static bool
structs_argument(FunctionCallInfo fcinfo, int arg)
{
	return !PG_ARGISNULL(arg) && lance_structs_option(text_to_cstring(PG_GETARG_TEXT_PP(arg)));
}

/* The argument system_columns: which. */
static uint32
system_argument(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? 0 : lance_system_columns_option(text_to_cstring(PG_GETARG_TEXT_PP(arg)));
}

/* The last name of an id, cut to an identifier. */
static char *
default_name(const char *text)
{
	char *name = pstrdup(text);

	truncate_identifier(name, (int)strlen(name), true);
	return name;
}

/*
 * lance_attach_table(table_id text, schema text, name text, server text, version int8, as_of timestamptz, branch text,
 *	structs text, system_columns text, tag text)
 */
Datum
lance_sql_attach_table(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	LanceTableOptions options = {.delimiter = "$"};
	LanceId id;
	LanceTableRow *row;
	char *server;
	char *name;

	refuse_null(fcinfo, 0, "table_id");
	refuse_null(fcinfo, 1, "schema");
	options.table = text_to_cstring(PG_GETARG_TEXT_PP(0));
	travel_arguments(fcinfo, 4, 9, &options);
	lance_id_from_text(options.table, options.delimiter, &id);
	row = id.nparts > 0 ? lance_catalog_find_table(&id, LANCE_LOCK_NONE, LANCE_LEVEL_READ) : NULL;
	if (row == NULL)
		ereport(ERROR,
				(lance_errcode(LANCE_TABLE_NOT_FOUND), errmsg("table \"%s\" does not exist", options.table)));
	name = PG_ARGISNULL(2) ? default_name(row->name) : text_to_cstring(PG_GETARG_TEXT_PP(2));
	server = PG_ARGISNULL(3) ? row->server_name : text_to_cstring(PG_GETARG_TEXT_PP(3));
	options.server_oid = get_foreign_server_oid(server, false);
	PG_RETURN_OID(create_table(&options, server, text_to_cstring(PG_GETARG_TEXT_PP(1)), name,
							   structs_argument(fcinfo, 7), system_argument(fcinfo, 8)));
}

/*
 * lance_attach_dataset(uri text, server text, schema text, name text, version int8, as_of timestamptz, branch text,
 *	structs text, system_columns text, tag text)
 */
Datum
lance_sql_attach_dataset(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	static const char *const required[] = {"uri", "server", "schema", "name"};
	LanceTableOptions options = {.delimiter = "$"};
	char *server;

	for (int i = 0; i < (int)lengthof(required); i++)
		refuse_null(fcinfo, i, required[i]);
	options.uri = text_to_cstring(PG_GETARG_TEXT_PP(0));
	server = text_to_cstring(PG_GETARG_TEXT_PP(1));
	travel_arguments(fcinfo, 4, 9, &options);
	options.server_oid = get_foreign_server_oid(server, false);
	PG_RETURN_OID(create_table(&options, server, text_to_cstring(PG_GETARG_TEXT_PP(2)),
							   text_to_cstring(PG_GETARG_TEXT_PP(3)), structs_argument(fcinfo, 7),
							   system_argument(fcinfo, 8)));
}

/* ---- refresh */

static const LanceColumnDef *
find_definition(const LanceColumnDef *columns, int count, const char *column_name)
{
	for (int i = 0; i < count; i++)
	{
		if (strcmp(columns[i].column_name, column_name) == 0)
			return &columns[i];
	}
	return NULL;
}

/* What an existing column needs; NULL when nothing. */
static char *
column_change(Oid relid, Form_pg_attribute attr, const LncDataset *dataset, const LanceColumnDef *definition)
{
	const char *quoted = quote_identifier(NameStr(attr->attname));

	if (definition == NULL)
		return psprintf("DROP COLUMN %s", quoted);
	if (!lance_type_accepts(&dataset->schema.fields[lnc_dataset_field(dataset, definition->column_name)],
							attr->atttypid, attr->atttypmod))
		return psprintf(
			"ALTER COLUMN %s TYPE %s%s", quoted, lance_type_ddl_name(&definition->type),
			attr->attnotnull && !definition->not_null ? psprintf(", ALTER COLUMN %s DROP NOT NULL", quoted) : "");
	if (attr->attnotnull && !definition->not_null)
		return psprintf("ALTER COLUMN %s DROP NOT NULL", quoted);
	return NULL;
}

/* Run the change and count it. */
static int
alter_table(const char *relation, const char *change)
{
	if (change == NULL)
		return 0;
	lance_ddl_run(psprintf("ALTER FOREIGN TABLE %s %s", relation, change));
	return 1;
}

/* lance_refresh_table(regclass): the number of columns added, dropped or changed */
Datum
lance_sql_refresh_table(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	Oid relid = PG_GETARG_OID(0);
	LanceTableOptions *options;
	LanceSource *source;
	Relation relation;
	TupleDesc tupdesc;
	LanceColumnDef *columns;
	bool *shown;
	char *quoted;
	int count;
	int changes = 0;

	if (get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a foreign table", get_rel_name(relid) != NULL ? get_rel_name(relid) : "?")));
	if (!pg_class_ownercheck(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_FOREIGN_TABLE, get_rel_name(relid));
	options = lance_table_options_get(relid);
	source = lance_source_open(options, GetUserId(), NULL);
	relation = table_open(relid, AccessExclusiveLock);
	tupdesc = CreateTupleDescCopy(RelationGetDescr(relation));
	quoted = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(relation)),
										RelationGetRelationName(relation));
	columns = lance_ddl_columns(source->dataset, RelationGetRelationName(relation), NULL, &count);
	table_close(relation, NoLock);

	shown = palloc0((count + 1) * sizeof(bool));
	SPI_connect();
	for (int i = 0; i < tupdesc->natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(tupdesc, i);
		const LanceColumnDef *definition;
		char *column_name;

		if (attr->attisdropped)
			continue;
		column_name = lance_column_name(relid, attr->attnum, NameStr(attr->attname));
		if (lnc_system_column(column_name) != 0 && lnc_dataset_field(source->dataset, column_name) < 0)
			continue;
		definition = find_definition(columns, count, column_name);
		if (definition != NULL)
			shown[definition - columns] = true;
		changes += alter_table(quoted, column_change(relid, attr, source->dataset, definition));
	}
	for (int i = 0; i < count; i++)
	{
		StringInfoData change;

		if (shown[i])
			continue;
		initStringInfo(&change);
		appendStringInfoString(&change, "ADD COLUMN ");
		lance_ddl_append_column(&change, &columns[i]);
		changes += alter_table(quoted, change.data);
	}
	SPI_finish();
	PG_RETURN_INT32(changes);
}
