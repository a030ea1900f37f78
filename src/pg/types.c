/*
 * types.c
 *	  The mapping of Lance types to PostgreSQL types, and nothing else of it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pg/env.h"
#include "pg/report.h"
#include "pg/types.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

typedef struct TypeRow
{
	LncTypeKind kind;
	Oid type;
} TypeRow;

/* Types without parts. Zone, extension and precision are looked at in scalar_to_pg. */
static const TypeRow type_rows[] = {
	{LNC_TYPE_NULL, TEXTOID},          {LNC_TYPE_BOOL, BOOLOID},          {LNC_TYPE_INT8, INT2OID},
	{LNC_TYPE_INT16, INT2OID},         {LNC_TYPE_INT32, INT4OID},         {LNC_TYPE_INT64, INT8OID},
	{LNC_TYPE_UINT8, INT2OID},         {LNC_TYPE_UINT16, INT4OID},        {LNC_TYPE_UINT32, INT8OID},
	{LNC_TYPE_UINT64, NUMERICOID},     {LNC_TYPE_FLOAT16, FLOAT4OID},     {LNC_TYPE_BFLOAT16, FLOAT4OID},
	{LNC_TYPE_FLOAT32, FLOAT4OID},     {LNC_TYPE_FLOAT64, FLOAT8OID},     {LNC_TYPE_UTF8, TEXTOID},
	{LNC_TYPE_LARGE_UTF8, TEXTOID},    {LNC_TYPE_BINARY, BYTEAOID},       {LNC_TYPE_LARGE_BINARY, BYTEAOID},
	{LNC_TYPE_FIXED_BINARY, BYTEAOID}, {LNC_TYPE_DATE32, DATEOID},        {LNC_TYPE_DATE64, DATEOID},
	{LNC_TYPE_TIME32, TIMEOID},        {LNC_TYPE_TIME64, TIMEOID},        {LNC_TYPE_TIMESTAMP, TIMESTAMPOID},
	{LNC_TYPE_DURATION, INTERVALOID},  {LNC_TYPE_DECIMAL128, NUMERICOID}, {LNC_TYPE_DECIMAL256, NUMERICOID},
	{LNC_TYPE_JSON, JSONBOID},         {LNC_TYPE_BLOB, BYTEAOID},         {LNC_TYPE_BLOB_V2, BYTEAOID},
};

#define UINT64_DIGITS 20

/* As make_numeric_typmod() of the server's numeric.c, with a scale that may be negative. */
static int32
numeric_typmod(int precision, int scale)
{
	return ((precision << 16) | (scale & 0x7ff)) + VARHDRSZ;
}

const LncField *
lance_field_values(const LncField *field)
{
	while (field->type.kind == LNC_TYPE_DICTIONARY && field->type.nchildren == 1)
		field = &field->type.children[0];
	return field;
}

bool
lance_type_is_list(const LncType *type)
{
	return type->kind == LNC_TYPE_LIST || type->kind == LNC_TYPE_LARGE_LIST || type->kind == LNC_TYPE_FIXED_LIST;
}

static bool
scalar_to_pg(const LncField *field, LancePgType *out)
{
	const LncType *type = &field->type;

	out->type = InvalidOid;
	out->typmod = -1;
	for (size_t i = 0; i < lengthof(type_rows); i++)
	{
		if (type_rows[i].kind == type->kind)
			out->type = type_rows[i].type;
	}
	if (type->kind == LNC_TYPE_TIMESTAMP && type->timezone != NULL)
		out->type = TIMESTAMPTZOID;
	else if (type->kind == LNC_TYPE_FIXED_BINARY && type->list_size == UUID_LEN && field->extension != NULL &&
			 strcmp(field->extension, "arrow.uuid") == 0)
		out->type = UUIDOID;
	else if (type->kind == LNC_TYPE_UINT64)
		out->typmod = numeric_typmod(UINT64_DIGITS, 0);
	else if (type->kind == LNC_TYPE_DECIMAL128 || type->kind == LNC_TYPE_DECIMAL256)
	{
		if (type->precision < 1 || type->precision > NUMERIC_MAX_PRECISION || type->scale < NUMERIC_MIN_SCALE ||
			type->scale > NUMERIC_MAX_SCALE)
			return false;
		out->typmod = numeric_typmod(type->precision, type->scale);
	}
	return OidIsValid(out->type);
}

/* Whether each of the fields reads as something. */
static bool
all_map(const LncField *fields, int count)
{
	LancePgType ignored;

	for (int i = 0; i < count; i++)
	{
		if (!lance_type_to_pg(&fields[i], &ignored))
			return false;
	}
	return true;
}

bool
lance_type_to_pg(const LncField *field, LancePgType *out)
{
	const LncType *type = &lance_field_values(field)->type;
	const LncType *item;

	check_stack_depth();
	if (type->kind == LNC_TYPE_STRUCT || type->kind == LNC_TYPE_MAP)
	{
		out->type = JSONBOID;
		out->typmod = -1;
		if (type->kind == LNC_TYPE_MAP && (type->nchildren != 1 || type->children[0].type.kind != LNC_TYPE_STRUCT ||
										   type->children[0].type.nchildren != 2))
			return false;
		return all_map(type->children, type->nchildren);
	}
	if (!lance_type_is_list(type))
		return scalar_to_pg(lance_field_values(field), out);
	if (type->nchildren != 1 || !lance_type_to_pg(&type->children[0], out))
		return false;
	item = &lance_field_values(&type->children[0])->type;
	if (lance_type_is_list(item) || item->kind == LNC_TYPE_STRUCT || item->kind == LNC_TYPE_MAP)
	{
		out->type = JSONBOID;
		out->typmod = -1;
	}
	else
		out->type = get_array_type(out->type);
	return true;
}

int
lance_list_levels(const LncField *field, Oid element, const LncField **item)
{
	int levels = 1;

	*item = lance_field_values(&lance_field_values(field)->type.children[0]);
	while (element != JSONBOID && lance_type_is_list(&(*item)->type))
	{
		*item = lance_field_values(&(*item)->type.children[0]);
		levels++;
	}
	return levels;
}

int
lance_struct_field(const LncType *type, const char *attname)
{
	for (int i = 0; i < type->nchildren; i++)
	{
		const char *name = type->children[i].name;

		if (strcmp(pg_any_to_server(name, (int)strlen(name), PG_UTF8), attname) == 0)
			return i;
	}
	return -1;
}

bool
lance_type_is_vector(Oid type)
{
	Oid extension = get_extension_oid("vector", true);
	HeapTuple tuple;
	bool named;

	if (!OidIsValid(extension) || getExtensionOfObject(TypeRelationId, type) != extension)
		return false;
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	if (!HeapTupleIsValid(tuple))
		return false;
	named = strcmp(NameStr(((Form_pg_type)GETSTRUCT(tuple))->typname), "vector") == 0 ||
			strcmp(NameStr(((Form_pg_type)GETSTRUCT(tuple))->typname), "halfvec") == 0;
	ReleaseSysCache(tuple);
	return named;
}

char *
lance_type_ddl_name(const LancePgType *type)
{
	return format_type_extended(type->type, type->typmod, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
}

char *
lance_type_display(const LncField *field)
{
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	char *name;
	char *result;

	lance_check(&lib->ctx, lnc_type_name(&lib->ctx, lib->arena, &field->type, &name));
	result = pstrdup(pg_any_to_server(name, (int)strlen(name), PG_UTF8));
	lance_library_destroy(lib);
	return result;
}

static bool
is_float(LncTypeKind kind)
{
	return kind == LNC_TYPE_FLOAT16 || kind == LNC_TYPE_BFLOAT16 || kind == LNC_TYPE_FLOAT32 ||
		   kind == LNC_TYPE_FLOAT64;
}

static bool
composite_accepts(const LncType *type, Oid composite)
{
	TupleDesc tupdesc;
	bool accepts = true;

	if (get_typtype(composite) != TYPTYPE_COMPOSITE)
		return false;
	tupdesc = lookup_rowtype_tupdesc(composite, -1);
	for (int i = 0; accepts && i < tupdesc->natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(tupdesc, i);
		int child = attr->attisdropped ? -1 : lance_struct_field(type, NameStr(attr->attname));

		accepts = attr->attisdropped ||
				  (child >= 0 && lance_type_accepts(&type->children[child], attr->atttypid, attr->atttypmod));
	}
	ReleaseTupleDesc(tupdesc);
	return accepts;
}

bool
lance_type_accepts(const LncField *field, Oid type, int32 typmod)
{
	const LncField *values = lance_field_values(field);
	LancePgType mapped;
	const LncField *item;
	Oid element;

	check_stack_depth();
	if (!lance_type_to_pg(field, &mapped))
		return false;
	if (type == mapped.type)
		return typmod == mapped.typmod || typmod == -1;
	if (type == JSONBOID)
		return true;
	if (mapped.type == TEXTOID)
		return type == VARCHAROID && typmod == -1;
	if (values->type.kind == LNC_TYPE_STRUCT)
		return composite_accepts(&values->type, type);
	if (!lance_type_is_list(&values->type) && values->type.kind != LNC_TYPE_MAP)
		return false;
	if (values->type.kind == LNC_TYPE_FIXED_LIST && lance_type_is_vector(type))
		return is_float(values->type.children[0].type.kind) && (typmod == -1 || typmod == values->type.list_size);
	element = get_element_type(type);
	return OidIsValid(element) && lance_list_levels(field, element, &item) <= MAXDIM &&
		   lance_type_accepts(item, element, typmod);
}
