/*
 * ddl.c
 *	  Definitions of foreign tables made from a dataset's schema.
 */
#include "postgres.h"

#include "catalog/heap.h"
#include "executor/spi.h"
#include "fdw/ddl.h"
#include "mb/pg_wchar.h"
#include "scan/system_columns.h"
#include "utils/builtins.h"
#include "utils/varlena.h"

static bool
name_taken(const LanceColumnDef *columns, int count, const char *name)
{
	if (SystemAttributeByName(name) != NULL)
		return true;
	for (int i = 0; i < count; i++)
	{
		if (strcmp(columns[i].attname, name) == 0)
			return true;
	}
	return false;
}

/* name cut to what an identifier holds, with a number behind it when that is taken. */
static char *
free_attname(const LanceColumnDef *columns, int count, const char *name)
{
	int length = (int)strlen(name);
	char *result = pnstrdup(name, pg_mbcliplen(name, length, NAMEDATALEN - 1));

	for (int n = 1; *result == '\0' || name_taken(columns, count, result); n++)
	{
		char *suffix = psprintf("_%d", n);

		result =
			psprintf("%.*s%s", pg_mbcliplen(name, length, NAMEDATALEN - 1 - (int)strlen(suffix)), name, suffix);
	}
	return result;
}

LanceColumnDef *
lance_ddl_columns(const LncDataset *dataset, const char *table_name, const LanceComposites *composites, int *count)
{
	/* With room for the system columns. */
	LanceColumnDef *columns = palloc0((dataset->schema.nfields + LNC_SYSTEM_COLUMNS) * sizeof(*columns));

	*count = 0;
	for (int32 i = 0; i < dataset->schema.nfields; i++)
	{
		const LncField *field = &dataset->schema.fields[i];
		LanceColumnDef *column = &columns[*count];

		column->column_name = pg_any_to_server(field->name, (int)strlen(field->name), PG_UTF8);
		if (!lance_composite_declare(composites, table_name, field, &column->type))
		{
			ereport(NOTICE, (errmsg("column \"%s\" of table \"%s\" is left out", column->column_name, table_name),
							 errdetail("Type %s is not supported.", lance_type_display(field))));
			continue;
		}
		column->attname = free_attname(columns, *count, column->column_name);
		column->not_null = !field->nullable;
		(*count)++;
	}
	return columns;
}

void
lance_ddl_append_column(StringInfo sql, const LanceColumnDef *column)
{
	appendStringInfo(sql, "%s %s", quote_identifier(column->attname), lance_type_ddl_name(&column->type));
	if (strcmp(column->attname, column->column_name) != 0)
		appendStringInfo(sql, " OPTIONS (column_name %s)", quote_literal_cstr(column->column_name));
	if (column->not_null)
		appendStringInfoString(sql, " NOT NULL");
}

void
lance_ddl_append_option(StringInfo sql, bool *first, const char *name, const char *value)
{
	if (value == NULL)
		return;
	appendStringInfo(sql, "%s%s %s", *first ? "" : ", ", quote_identifier(name), quote_literal_cstr(value));
	*first = false;
}

uint32
lance_system_columns_option(const char *value)
{
	char *names = pstrdup(value);
	uint32 result = 0;
	List *list;
	ListCell *lc;
	bool all;

	if (parse_bool(value, &all))
		return all ? LNC_SYSTEM_ALL : 0;
	if (!SplitIdentifierString(names, ',', &list) || list == NIL)
		list = list_make1(unconstify(char *, value));
	foreach (lc, list)
	{
		uint32 member = lnc_system_column(lfirst(lc));

		if (member == 0)
			ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
							errmsg("invalid value for option \"%s\": \"%s\"", "system_columns", value),
							errhint("Valid values are true, false, and a list of: %s.",
									"_rowid, _rowaddr, _row_created_at_version, _row_last_updated_at_version")));
		result |= member;
	}
	return result;
}

/* The system columns that the dataset leaves room for. */
static void
append_system_columns(StringInfo sql, const LncDataset *dataset, const char *table_name, uint32 system,
					  LanceColumnDef *columns, int count)
{
	for (uint32 member = 1; member < LNC_SYSTEM_ALL; member <<= 1)
	{
		const char *name = lnc_system_column_name(member);
		char *attname;

		if (!(system & member))
			continue;
		if (lnc_dataset_field(dataset, name) >= 0)
		{
			ereport(NOTICE, (errmsg("system column \"%s\" of table \"%s\" is left out", name, table_name),
							 errdetail("The dataset has a column of that name.")));
			continue;
		}
		/* Another column may have been given the name because its own could not be used. */
		attname = free_attname(columns, count, name);
		appendStringInfo(sql, "%s%s bigint", count > 0 ? ", " : "", quote_identifier(attname));
		if (strcmp(attname, name) != 0)
			appendStringInfo(sql, " OPTIONS (column_name %s)", quote_literal_cstr(name));
		columns[count++].attname = attname;
	}
}

char *
lance_ddl_create_table(const LncDataset *dataset, const char *relation, const char *table_name,
					   const LanceComposites *composites, uint32 system, const char *server, const char *options)
{
	StringInfoData sql;
	LanceColumnDef *columns;
	int count;

	columns = lance_ddl_columns(dataset, table_name, composites, &count);
	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE FOREIGN TABLE %s (", relation);
	for (int i = 0; i < count; i++)
	{
		appendStringInfoString(&sql, i > 0 ? ", " : "");
		lance_ddl_append_column(&sql, &columns[i]);
	}
	append_system_columns(&sql, dataset, table_name, system, columns, count);
	appendStringInfo(&sql, ") SERVER %s OPTIONS (%s)", quote_identifier(server), options);
	return sql.data;
}

void
lance_ddl_run(const char *command)
{
	int code = SPI_execute(command, false, 0);

	if (code != SPI_OK_UTILITY)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
						errmsg("could not run \"%s\": %s", command, SPI_result_code_string(code))));
}
