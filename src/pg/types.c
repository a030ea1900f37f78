/*
 * types.c
 *	  The mapping of Lance types to PostgreSQL types, and nothing else of it.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "pg/env.h"
#include "pg/report.h"
#include "pg/types.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

typedef struct TypeRow
{
	LncTypeKind kind;
	Oid scalar; /* as a column; InvalidOid: depends on parameters or is not offered */
	Oid array;  /* as the item of a fixed-size list; InvalidOid: not offered */
} TypeRow;

static const TypeRow type_rows[] = {
	{LNC_TYPE_NULL, TEXTOID, InvalidOid},          {LNC_TYPE_BOOL, BOOLOID, BOOLARRAYOID},
	{LNC_TYPE_INT8, INT2OID, INT2ARRAYOID},        {LNC_TYPE_INT16, INT2OID, INT2ARRAYOID},
	{LNC_TYPE_INT32, INT4OID, INT4ARRAYOID},       {LNC_TYPE_INT64, INT8OID, INT8ARRAYOID},
	{LNC_TYPE_UINT8, INT2OID, INT2ARRAYOID},       {LNC_TYPE_UINT16, INT4OID, INT4ARRAYOID},
	{LNC_TYPE_UINT32, INT8OID, INT8ARRAYOID},      {LNC_TYPE_UINT64, NUMERICOID, InvalidOid},
	{LNC_TYPE_FLOAT16, FLOAT4OID, FLOAT4ARRAYOID}, {LNC_TYPE_BFLOAT16, FLOAT4OID, FLOAT4ARRAYOID},
	{LNC_TYPE_FLOAT32, FLOAT4OID, FLOAT4ARRAYOID}, {LNC_TYPE_FLOAT64, FLOAT8OID, FLOAT8ARRAYOID},
	{LNC_TYPE_UTF8, TEXTOID, InvalidOid},          {LNC_TYPE_LARGE_UTF8, TEXTOID, InvalidOid},
	{LNC_TYPE_BINARY, BYTEAOID, InvalidOid},       {LNC_TYPE_LARGE_BINARY, BYTEAOID, InvalidOid},
	{LNC_TYPE_FIXED_BINARY, BYTEAOID, InvalidOid}, {LNC_TYPE_DATE32, DATEOID, InvalidOid},
	{LNC_TYPE_DATE64, DATEOID, InvalidOid},        {LNC_TYPE_TIME32, TIMEOID, InvalidOid},
	{LNC_TYPE_TIME64, TIMEOID, InvalidOid},        {LNC_TYPE_TIMESTAMP, TIMESTAMPOID, InvalidOid},
	{LNC_TYPE_DURATION, INTERVALOID, InvalidOid},  {LNC_TYPE_DECIMAL128, NUMERICOID, InvalidOid},
	{LNC_TYPE_DECIMAL256, NUMERICOID, InvalidOid},
};

#define UINT64_DIGITS 20

static const TypeRow *
find_row(LncTypeKind kind)
{
	for (size_t i = 0; i < lengthof(type_rows); i++)
	{
		if (type_rows[i].kind == kind)
			return &type_rows[i];
	}
	return NULL;
}

/* As make_numeric_typmod() of the server's numeric.c, with a scale that may be negative. */
static int32
numeric_typmod(int precision, int scale)
{
	return ((precision << 16) | (scale & 0x7ff)) + VARHDRSZ;
}

bool
lance_type_to_pg(const LncField *field, LancePgType *out)
{
	const LncType *type = &field->type;
	const TypeRow *row = find_row(type->kind);

	out->typmod = -1;
	if (type->kind == LNC_TYPE_FIXED_LIST)
	{
		row = type->nchildren == 1 ? find_row(type->children[0].type.kind) : NULL;
		out->type = row != NULL ? row->array : InvalidOid;
		return OidIsValid(out->type);
	}
	if (row == NULL)
		return false;
	out->type = row->scalar;
	if (type->kind == LNC_TYPE_TIMESTAMP && type->timezone != NULL)
		out->type = TIMESTAMPTZOID;
	else if (type->kind == LNC_TYPE_FIXED_BINARY && type->list_size == 16 && field->extension != NULL &&
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
	return true;
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
	result = pstrdup(name);
	lance_library_destroy(lib);
	return result;
}

bool
lance_type_accepts(const LncField *field, Oid type, int32 typmod)
{
	LancePgType mapped;

	if (!lance_type_to_pg(field, &mapped))
		return false;
	if (mapped.type == TEXTOID && type == VARCHAROID)
		return typmod == -1;
	return mapped.type == type && (typmod == mapped.typmod || (type == NUMERICOID && typmod == -1));
}
