/*
 * options.c
 *	  Options of lance_fdw's objects: validator, and reading those of foreign tables and columns.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_foreign_data_wrapper.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "fdw/options.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "pg/profile.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/varlena.h"

PG_FUNCTION_INFO_V1(lance_sql_fdw_validator);

/* Options of foreign tables and columns; lance_profile_options has those of servers and user mappings. */
static const LanceOptionRule table_options[] = {
	{"table", ForeignTableRelationId, false},
	{"delimiter", ForeignTableRelationId, false},
	{"uri", ForeignTableRelationId, false},
	{"version", ForeignTableRelationId, false},
	{"as_of", ForeignTableRelationId, false},
	{"branch", ForeignTableRelationId, false},
	{"tag", ForeignTableRelationId, false},
	{"column_name", AttributeRelationId, false},
	{NULL, InvalidOid, false},
};

static const LanceOptionRule *const rule_lists[] = {lance_profile_options, table_options};

static const char *
object_kind(Oid catalog)
{
	switch (catalog)
	{
		case ForeignServerRelationId:
			return "server";
		case UserMappingRelationId:
			return "user mapping";
		case ForeignTableRelationId:
			return "foreign table";
		case AttributeRelationId:
			return "column";
		default:
			return "foreign-data wrapper";
	}
}

static const LanceOptionRule *
find_rule(const char *name, Oid catalog)
{
	for (size_t i = 0; i < lengthof(rule_lists); i++)
	{
		for (const LanceOptionRule *rule = rule_lists[i]; rule->name != NULL; rule++)
		{
			if (strcmp(rule->name, name) == 0 && (catalog == InvalidOid || rule->catalog == catalog))
				return rule;
		}
	}
	return NULL;
}

/* The valid option that is nearest to a misspelt one, NULL when none is near. */
static const char *
nearest_option(const char *name, Oid catalog)
{
	const char *nearest = NULL;
	int best = 4;

	if (strlen(name) >= NAMEDATALEN)
		return NULL;
	for (size_t i = 0; i < lengthof(rule_lists); i++)
	{
		for (const LanceOptionRule *rule = rule_lists[i]; rule->name != NULL; rule++)
		{
			int distance;

			if (rule->catalog != catalog)
				continue;
			distance = varstr_levenshtein_less_equal(name, (int)strlen(name), rule->name, (int)strlen(rule->name),
													 1, 1, 1, best, true);
			if (distance < best && distance <= (int)strlen(name) / 2)
			{
				best = distance;
				nearest = rule->name;
			}
		}
	}
	return nearest;
}

static void
unknown_option(const char *name, Oid catalog)
{
	const LanceOptionRule *elsewhere = find_rule(name, InvalidOid);
	const char *nearest = nearest_option(name, catalog);
	StringInfoData valid;

	initStringInfo(&valid);
	for (size_t i = 0; i < lengthof(rule_lists); i++)
	{
		for (const LanceOptionRule *rule = rule_lists[i]; rule->name != NULL; rule++)
		{
			if (rule->catalog == catalog)
				appendStringInfo(&valid, "%s%s", valid.len > 0 ? ", " : "", rule->name);
		}
	}
	ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					errmsg("invalid option \"%s\" for a %s", name, object_kind(catalog)),
					elsewhere != NULL ? errdetail("It is an option of a %s.", object_kind(elsewhere->catalog)) : 0,
					valid.len == 0 ? errhint("There are no valid options in this context.")
					: elsewhere == NULL && nearest != NULL
						? errhint("Perhaps you meant \"%s\". Valid options are: %s.", nearest, valid.data)
						: errhint("Valid options are: %s.", valid.data)));
}

static int64
parse_version(const char *value)
{
	char *end;
	long long version;

	errno = 0;
	version = strtoll(value, &end, 10);
	if (errno != 0 || end == value || *end != '\0' || version < 1)
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
						errmsg("invalid value for option \"%s\": \"%s\"", "version", value),
						errhint("A version is a whole number from 1 on.")));
	return version;
}

static TimestampTz
parse_as_of(const char *value)
{
	TimestampTz result = DatumGetTimestampTz(DirectFunctionCall3(timestamptz_in, CStringGetDatum(value),
																 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));

	if (TIMESTAMP_NOT_FINITE(result))
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
						errmsg("invalid value for option \"%s\": \"%s\"", "as_of", value),
						errhint("Give a finite time with its zone, as in \"2024-05-01 12:00:00+00\".")));
	return result;
}

static void
check_table_option(const char *name, const char *value)
{
	if (strcmp(name, "version") == 0)
		parse_version(value);
	else if (strcmp(name, "as_of") == 0)
		parse_as_of(value);
	/* A column of a dataset may have the empty name. */
	else if (*value == '\0' && strcmp(name, "column_name") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE), errmsg("option \"%s\" must not be empty", name)));
}

static const char *
option_value(List *options, const char *name)
{
	ListCell *lc;

	foreach (lc, options)
	{
		DefElem *option = lfirst(lc);

		if (strcmp(option->defname, name) == 0)
			return defGetString(option);
	}
	return NULL;
}

/* What must hold between options of one object. */
static void
check_together(List *options, Oid catalog)
{
	if (catalog == ForeignServerRelationId)
	{
		static const char *const endpoints[] = {"endpoint", "client_endpoint", "sts_endpoint"};
		const char *allow_http = option_value(options, "allow_http");
		bool allowed = false;

		if (option_value(options, "root") == NULL)
			ereport(ERROR, (errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
							errmsg("option \"%s\" is required for a server of lance_fdw", "root"),
							errhint("A root is \"s3://bucket/prefix\" or \"file:///absolute/folder\".")));
		if (allow_http != NULL)
			(void)parse_bool(allow_http, &allowed);
		for (size_t i = 0; i < lengthof(endpoints); i++)
		{
			const char *endpoint = option_value(options, endpoints[i]);

			if (!allowed && endpoint != NULL && pg_strncasecmp(endpoint, "http://", 7) == 0)
				ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
								errmsg("option \"%s\" names an endpoint without encryption", endpoints[i]),
								errhint("Set the option \"allow_http\" to \"true\" to allow it.")));
		}
	}
	else if (catalog == UserMappingRelationId)
	{
		if ((option_value(options, "access_key_id") == NULL) !=
			(option_value(options, "secret_access_key") == NULL))
			ereport(ERROR, (errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
							errmsg("options \"access_key_id\" and \"secret_access_key\" must be given together")));
	}
	else if (catalog == ForeignTableRelationId)
	{
		if ((option_value(options, "table") == NULL) == (option_value(options, "uri") == NULL))
			ereport(ERROR, (errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
							errmsg("a foreign table of lance_fdw needs one of the options \"table\" and \"uri\"")));
		if (option_value(options, "version") != NULL && option_value(options, "as_of") != NULL)
			ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
							errmsg("options \"version\" and \"as_of\" exclude each other")));
		if (option_value(options, "tag") != NULL &&
			(option_value(options, "version") != NULL || option_value(options, "as_of") != NULL ||
			 option_value(options, "branch") != NULL))
			ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
							errmsg("option \"%s\" excludes \"version\", \"as_of\" and \"branch\"", "tag")));
		if (option_value(options, "delimiter") != NULL && option_value(options, "table") == NULL)
			ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
							errmsg("option \"delimiter\" goes with option \"table\" only")));
	}
}

/* lance_fdw_validator(text[], oid): options of a server, user mapping, foreign table or column. */
Datum
lance_sql_fdw_validator(PG_FUNCTION_ARGS)
{
	List *options = untransformRelOptions(PG_GETARG_DATUM(0));
	Oid catalog = PG_GETARG_OID(1);
	ListCell *lc;

	foreach (lc, options)
	{
		DefElem *option = lfirst(lc);
		const LanceOptionRule *rule = find_rule(option->defname, catalog);

		if (rule == NULL)
			unknown_option(option->defname, catalog);
		else if (catalog == ForeignServerRelationId || catalog == UserMappingRelationId)
			lance_profile_check_option(rule, defGetString(option));
		else
			check_table_option(rule->name, defGetString(option));
	}
	check_together(options, catalog);
	PG_RETURN_VOID();
}

LanceTableOptions *
lance_table_options_get(Oid relid)
{
	ForeignTable *table = GetForeignTable(relid);
	LanceTableOptions *result = palloc0(sizeof(*result));
	const char *value;

	result->relid = relid;
	result->server_oid = table->serverid;
	check_together(table->options, ForeignTableRelationId);
	if ((value = option_value(table->options, "table")) != NULL)
		result->table = pstrdup(value);
	value = option_value(table->options, "delimiter");
	result->delimiter = pstrdup(value != NULL ? value : "$");
	if ((value = option_value(table->options, "uri")) != NULL)
		result->uri = pstrdup(value);
	if ((value = option_value(table->options, "version")) != NULL)
		result->version = parse_version(value);
	if ((value = option_value(table->options, "as_of")) != NULL)
	{
		result->has_as_of = true;
		result->as_of = parse_as_of(value);
	}
	if ((value = option_value(table->options, "branch")) != NULL && strcmp(value, "main") != 0)
		result->branch = pstrdup(value);
	if ((value = option_value(table->options, "tag")) != NULL)
		result->tag = pstrdup(value);
	return result;
}

char *
lance_column_name(Oid relid, AttrNumber attnum, const char *attname)
{
	const char *value = option_value(GetForeignColumnOptions(relid, attnum), "column_name");

	return pstrdup(value != NULL ? value : attname);
}

void
lance_id_from_text(const char *text, const char *delimiter, LanceId *out)
{
	size_t width = strlen(delimiter);

	out->given = true;
	out->nparts = 0;
	out->parts = palloc((strlen(text) + 2) * sizeof(char *));
	if (*text == '\0' || strcmp(text, delimiter) == 0)
		return;
	for (;;)
	{
		const char *next = strstr(text, delimiter);
		size_t length = next != NULL ? (size_t)(next - text) : strlen(text);

		if (length == 0)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("id contains an empty name"),
							errdetail("Names are separated by \"%s\".", delimiter)));
		out->parts[out->nparts++] = pnstrdup(text, length);
		if (next == NULL)
			return;
		text = next + width;
	}
}
