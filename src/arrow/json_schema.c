/*
 * json_schema.c
 *	  A schema in the JSON form of the namespace API.
 */
#include "arrow/json_schema.h"

#include "base/json.h"
#include "base/utf8.h"

#define MAX_JSON_BYTES (64 * 1024 * 1024)
#define MAX_DEPTH 64

static const struct
{
	LncTypeKind kind;
	const char *name;
} type_names[] = {
	{LNC_TYPE_NULL, "null"},
	{LNC_TYPE_BOOL, "bool"},
	{LNC_TYPE_INT8, "int8"},
	{LNC_TYPE_INT16, "int16"},
	{LNC_TYPE_INT32, "int32"},
	{LNC_TYPE_INT64, "int64"},
	{LNC_TYPE_UINT8, "uint8"},
	{LNC_TYPE_UINT16, "uint16"},
	{LNC_TYPE_UINT32, "uint32"},
	{LNC_TYPE_UINT64, "uint64"},
	{LNC_TYPE_FLOAT16, "float16"},
	{LNC_TYPE_FLOAT32, "float32"},
	{LNC_TYPE_FLOAT64, "float64"},
	{LNC_TYPE_UTF8, "utf8"},
	{LNC_TYPE_LARGE_UTF8, "large_utf8"},
	{LNC_TYPE_BINARY, "binary"},
	{LNC_TYPE_LARGE_BINARY, "large_binary"},
	{LNC_TYPE_FIXED_BINARY, "fixed_size_binary"},
	{LNC_TYPE_DATE32, "date32"},
	{LNC_TYPE_DATE64, "date64"},
	{LNC_TYPE_TIME32, "time32"},
	{LNC_TYPE_TIME64, "time64"},
	{LNC_TYPE_TIMESTAMP, "timestamp"},
	{LNC_TYPE_DURATION, "duration"},
	{LNC_TYPE_DECIMAL128, "decimal128"},
	{LNC_TYPE_DECIMAL256, "decimal256"},
	{LNC_TYPE_FIXED_LIST, "fixed_size_list"},
	{LNC_TYPE_LIST, "list"},
	{LNC_TYPE_LARGE_LIST, "large_list"},
	{LNC_TYPE_STRUCT, "struct"},
	{LNC_TYPE_MAP, "map"},

	/* What these are to an Arrow client: extension types over a storage type. */
	{LNC_TYPE_JSON, "large_binary"},
	{LNC_TYPE_BLOB, "large_binary"},
	{LNC_TYPE_BFLOAT16, "fixed_size_binary"},
	{LNC_TYPE_BLOB_V2, "struct"},
};

static LncCode write_field(LncContext *ctx, LncJsonWriter *w, const LncField *field, int depth) LNC_MUST_CHECK;

/* Metadata values that are no text have no place in JSON and are left out. */
static void
write_metadata(LncJsonWriter *w, const LncKeyValue *items, int32_t n)
{
	if (n == 0)
		return;
	lnc_jw_key(w, "metadata");
	lnc_jw_begin_object(w);
	for (int32_t i = 0; i < n; i++)
	{
		if (!lnc_utf8_valid(items[i].value.data, items[i].value.size, NULL))
			continue;
		lnc_jw_key(w, items[i].key);
		lnc_jw_string_n(w, (const char *)items[i].value.data, items[i].value.size);
	}
	lnc_jw_end_object(w);
}

static void
write_length(LncJsonWriter *w, const LncType *type)
{
	switch (type->kind)
	{
		case LNC_TYPE_FIXED_BINARY:
		case LNC_TYPE_FIXED_LIST:
			lnc_jw_put_int(w, "length", type->list_size);
			break;
		case LNC_TYPE_BFLOAT16:
			lnc_jw_put_int(w, "length", 2);
			break;
		case LNC_TYPE_DECIMAL128:
		case LNC_TYPE_DECIMAL256:
			lnc_jw_put_int(w, "length", (int64_t)type->precision * 1000 + type->scale);
			break;
		default:
			break;
	}
}

static LncCode
write_type(LncContext *ctx, LncJsonWriter *w, const LncField *field, const LncType *type, int depth)
{
	const char *name = NULL;

	if (type->kind == LNC_TYPE_DICTIONARY && type->nchildren > 0 && depth < MAX_DEPTH)
		return write_type(ctx, w, field, &type->children[0].type, depth + 1);
	for (size_t i = 0; i < sizeof(type_names) / sizeof(type_names[0]); i++)
	{
		if (type_names[i].kind == type->kind)
			name = type_names[i].name;
	}
	if (name == NULL)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "field \"%s\" has type \"%s\", which is not supported",
						field->name != NULL ? field->name : "", type->logical != NULL ? type->logical : "unknown");
	lnc_jw_begin_object(w);
	lnc_jw_put_string(w, "type", name);
	write_length(w, type);
	if (type->nchildren > 0)
	{
		lnc_jw_key(w, "fields");
		lnc_jw_begin_array(w);
		for (int32_t i = 0; i < type->nchildren; i++)
			LNC_TRY(write_field(ctx, w, &type->children[i], depth + 1));
		lnc_jw_end_array(w);
	}
	lnc_jw_end_object(w);
	return LNC_OK;
}

static LncCode
write_field(LncContext *ctx, LncJsonWriter *w, const LncField *field, int depth)
{
	if (depth > MAX_DEPTH)
		return lnc_fail(ctx, LNC_LIMIT, "schema is nested deeper than %d levels", MAX_DEPTH);
	lnc_jw_begin_object(w);

	/* The item of a fixed-size list has no field of its own in the manifest. */
	lnc_jw_put_string(w, "name", field->name != NULL && field->name[0] != '\0' ? field->name : "item");
	lnc_jw_put_bool(w, "nullable", field->nullable);
	lnc_jw_key(w, "type");
	LNC_TRY(write_type(ctx, w, field, &field->type, depth));
	write_metadata(w, field->metadata, field->nmetadata);
	lnc_jw_end_object(w);
	return LNC_OK;
}

LncCode
lnc_arrow_schema_json(LncContext *ctx, LncArena *arena, const LncSchema *schema, LncSlice *out)
{
	LncJsonWriter *w;

	LNC_TRY(lnc_jw_create(ctx, arena, MAX_JSON_BYTES, &w));
	lnc_jw_begin_object(w);
	lnc_jw_key(w, "fields");
	lnc_jw_begin_array(w);
	for (int32_t i = 0; i < schema->nfields; i++)
		LNC_TRY(write_field(ctx, w, &schema->fields[i], 1));
	lnc_jw_end_array(w);
	write_metadata(w, schema->metadata, schema->nmetadata);
	lnc_jw_end_object(w);
	return lnc_jw_finish(w, out);
}
