/*
 * composite.c
 *	  Composite types for the structs of a dataset.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fdw/composite.h"
#include "fdw/ddl.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

static void declare(const LanceComposites *composites, const char *name, const LncField *field, LancePgType *out);

bool
lance_structs_option(const char *value)
{
	if (strcmp(value, "composite") != 0 && strcmp(value, "jsonb") != 0)
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
						errmsg("invalid value for option \"%s\": \"%s\"", "structs", value),
						errhint("Valid values are: %s.", "jsonb, composite")));
	return strcmp(value, "composite") == 0;
}

static char *
server_name(const char *name)
{
	return pg_any_to_server(name, (int)strlen(name), PG_UTF8);
}

/* name cut to what an identifier holds, with the number behind it unless that is 0. */
static char *
numbered(const char *name, int number)
{
	const char *suffix = number == 0 ? "" : psprintf("_%d", number);

	return psprintf("%.*s%s", pg_mbcliplen(name, (int)strlen(name), NAMEDATALEN - 1 - (int)strlen(suffix)), name,
					suffix);
}

/* A type (or the row type of a table) of that name, InvalidOid when there is none. */
static Oid
find_type(Oid schema, const char *name)
{
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, PointerGetDatum(name), ObjectIdGetDatum(schema));
}

static bool
is_reserved(const LanceComposites *composites, const char *name)
{
	ListCell *lc;

	foreach (lc, composites->reserved)
	{
		if (strcmp(lfirst(lc), name) == 0)
			return true;
	}
	return false;
}

/* Whether an existing type shows all of the struct. */
static bool
matches(Oid type, const LncField *field)
{
	TupleDesc tupdesc;
	int attributes = 0;

	if (get_typtype(type) != TYPTYPE_COMPOSITE || !lance_type_accepts(field, type, -1))
		return false;
	tupdesc = lookup_rowtype_tupdesc(type, -1);
	for (int i = 0; i < tupdesc->natts; i++)
		attributes += TupleDescAttr(tupdesc, i)->attisdropped ? 0 : 1;
	ReleaseTupleDesc(tupdesc);
	return attributes == field->type.nchildren;
}

/* The name of a field that no attribute can have, NULL when there is none. */
static const char *
bad_name(const LncType *type)
{
	for (int i = 0; i < type->nchildren; i++)
	{
		const char *name = server_name(type->children[i].name);

		if (*name == '\0' || strlen(name) >= NAMEDATALEN || lance_struct_field(type, name) != i)
			return name;
	}
	return NULL;
}

static void
create_type(const LanceComposites *composites, const char *type_name, const char *name, const LncType *type)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE TYPE %s AS (", quote_qualified_identifier(composites->schema, type_name));
	for (int i = 0; i < type->nchildren; i++)
	{
		const char *attname = server_name(type->children[i].name);
		LancePgType attribute;

		declare(composites, psprintf("%s_%s", name, attname), &type->children[i], &attribute);
		appendStringInfo(&sql, "%s%s %s", i > 0 ? ", " : "", quote_identifier(attname),
						 lance_type_ddl_name(&attribute));
	}
	appendStringInfoChar(&sql, ')');
	SPI_connect();
	lance_ddl_run(sql.data);
	SPI_finish();
}

static Oid
composite_of(const LanceComposites *composites, const char *name, const LncField *field)
{
	Oid schema = get_namespace_oid(composites->schema, false);
	LanceComposites inner = *composites;
	char *type_name;
	Oid type;

	for (int n = 0;; n++)
	{
		type_name = numbered(name, n);
		type = find_type(schema, type_name);
		if (OidIsValid(type) && matches(type, field))
			return type;
		if (!OidIsValid(type) && !is_reserved(composites, type_name))
			break;
	}
	/* Inner types have longer names, but once these are cut one could be called the same. */
	inner.reserved = lappend(list_copy(composites->reserved), type_name);
	create_type(&inner, type_name, name, &field->type);
	return find_type(schema, type_name);
}

/* The caller knows that the field's type is offered. */
static void
declare(const LanceComposites *composites, const char *name, const LncField *field, LancePgType *out)
{
	const LncField *item = lance_field_values(field);
	bool list = lance_type_is_list(&item->type);
	const char *bad;

	check_stack_depth();
	if (!lance_type_to_pg(field, out))
		elog(ERROR, "field \"%s\" has no type to map to", field->name);
	if (list)
		item = lance_field_values(&item->type.children[0]);
	if (item->type.kind != LNC_TYPE_STRUCT)
		return;
	bad = item->type.nchildren > MaxTupleAttributeNumber ? "" : bad_name(&item->type);
	if (bad != NULL)
	{
		ereport(NOTICE, (errmsg("struct \"%s\" is declared as jsonb", name),
						 *bad == '\0' ? errdetail("A composite can't have its fields.")
									  : errdetail("A composite can't have its field \"%s\".", bad)));
		return;
	}
	out->type = composite_of(composites, name, item);
	out->typmod = -1;
	if (list)
		out->type = get_array_type(out->type);
}

bool
lance_composite_declare(const LanceComposites *composites, const char *relation, const LncField *field,
						LancePgType *out)
{
	if (!lance_type_to_pg(field, out))
		return false;
	if (composites != NULL)
		declare(composites, psprintf("%s_%s", relation, server_name(field->name)), field, out);
	return true;
}
