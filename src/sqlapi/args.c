/*
 * args.c
 *	  SQL arguments and results.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "ops/check.h"
#include "pg/errcodes.h"
#include "sqlapi/args.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"

#define UNIX_TO_PG_USECS ((int64)(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

static void
split_id(const char *text, LanceId *out)
{
	const char *part = text;

	if (text[0] == '\0' || strcmp(text, "$") == 0)
		return;
	out->parts = palloc((strlen(text) + 1) * sizeof(char *));
	for (;;)
	{
		size_t length = strcspn(part, "$");

		out->parts[out->nparts++] = pnstrdup(part, length);
		if (part[length] == '\0')
			break;
		part += length + 1;
	}
}

static void
array_id(ArrayType *array, LanceId *out)
{
	Datum *elements;
	bool *nulls;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("an id must be a one-dimensional array")));
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &out->nparts);
	out->parts = palloc((out->nparts + 1) * sizeof(char *));
	for (int i = 0; i < out->nparts; i++)
	{
		if (nulls[i])
			ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("a name of the id is null")));
		out->parts[i] = TextDatumGetCString(elements[i]);
	}
}

void
lance_arg_id(FunctionCallInfo fcinfo, int n, LanceId *out)
{
	memset(out, 0, sizeof(*out));
	if (PG_ARGISNULL(n))
		return;
	out->given = true;
	if (get_fn_expr_argtype(fcinfo->flinfo, n) == TEXTARRAYOID)
		array_id(PG_GETARG_ARRAYTYPE_P(n), out);
	else
		split_id(text_to_cstring(PG_GETARG_TEXT_PP(n)), out);
}

char *
lance_arg_text(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(n));
}

LanceOptionalInt
lance_arg_int8(FunctionCallInfo fcinfo, int n)
{
	LanceOptionalInt value = {0};

	if (!PG_ARGISNULL(n))
	{
		value.given = true;
		value.value = PG_GETARG_INT64(n);
	}
	return value;
}

LanceOptionalInt
lance_arg_int4(FunctionCallInfo fcinfo, int n)
{
	LanceOptionalInt value = {0};

	if (!PG_ARGISNULL(n))
	{
		value.given = true;
		value.value = PG_GETARG_INT32(n);
	}
	return value;
}

LanceOptionalBool
lance_arg_bool(FunctionCallInfo fcinfo, int n)
{
	if (PG_ARGISNULL(n))
		return LANCE_BOOL_UNSET;
	return PG_GETARG_BOOL(n) ? LANCE_BOOL_TRUE : LANCE_BOOL_FALSE;
}

LanceProperties
lance_arg_properties(FunctionCallInfo fcinfo, int n, const char *what)
{
	LanceProperties properties = {0};

	if (!PG_ARGISNULL(n))
	{
		properties.given = true;
		properties.count = lance_text_map_from_jsonb(PG_GETARG_DATUM(n), what, &properties.items);
	}
	return properties;
}

LanceTexts
lance_arg_texts(FunctionCallInfo fcinfo, int n, const char *what)
{
	LanceTexts texts = {0};
	ArrayType *array;
	Datum *elements;
	bool *nulls;

	if (PG_ARGISNULL(n))
		return texts;
	array = PG_GETARG_ARRAYTYPE_P(n);
	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(lance_errcode(LANCE_INVALID_INPUT), errmsg("\"%s\" must be a one-dimensional array", what)));
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &texts.count);
	texts.given = true;
	texts.items = palloc((texts.count + 1) * sizeof(char *));
	for (int i = 0; i < texts.count; i++)
	{
		if (nulls[i])
			ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("an element of \"%s\" is null", what)));
		texts.items[i] = TextDatumGetCString(elements[i]);
	}
	return texts;
}

char *
lance_arg_json(FunctionCallInfo fcinfo, int n)
{
	Jsonb *json;

	if (PG_ARGISNULL(n))
		return NULL;
	json = PG_GETARG_JSONB_P(n);
	return JsonbToCString(NULL, &json->root, VARSIZE(json));
}

/* ---- results */

static void
add(LanceRecord *record, Datum value, bool isnull)
{
	if (record->n >= (int)lengthof(record->values))
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("a result has too many columns")));
	record->values[record->n] = value;
	record->nulls[record->n++] = isnull;
}

void
lance_record_text(LanceRecord *record, const char *value)
{
	add(record, value != NULL ? CStringGetTextDatum(value) : (Datum)0, value == NULL);
}

void
lance_record_int8(LanceRecord *record, LanceOptionalInt value)
{
	add(record, Int64GetDatum(value.value), !value.given);
}

void
lance_record_bool(LanceRecord *record, LanceOptionalBool value)
{
	add(record, BoolGetDatum(value == LANCE_BOOL_TRUE), value == LANCE_BOOL_UNSET);
}

void
lance_record_properties(LanceRecord *record, const LanceProperties *properties)
{
	add(record, properties->given ? lance_text_map_to_jsonb(properties->count, properties->items) : (Datum)0,
		!properties->given);
}

void
lance_record_maps(LanceRecord *record, const LanceNamedPropertiesList *maps)
{
	JsonbParseState *state = NULL;
	JsonbValue *object;

	pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	for (int i = 0; i < maps->count; i++)
	{
		const LanceNamedProperties *map = &maps->items[i];
		JsonbValue key = {.type = jbvString};
		JsonbValue value;

		key.val.string.val = map->name;
		key.val.string.len = strlen(map->name);
		pushJsonbValue(&state, WJB_KEY, &key);
		JsonbToJsonbValue(DatumGetJsonbP(lance_text_map_to_jsonb(map->properties.count, map->properties.items)),
						  &value);
		pushJsonbValue(&state, WJB_VALUE, &value);
	}
	object = pushJsonbValue(&state, WJB_END_OBJECT, NULL);
	add(record, JsonbPGetDatum(JsonbValueToJsonb(object)), !maps->given);
}

void
lance_record_texts(LanceRecord *record, const LanceId *id)
{
	Datum *elements = palloc((id->nparts + 1) * sizeof(Datum));

	for (int i = 0; i < id->nparts; i++)
		elements[i] = CStringGetTextDatum(id->parts[i]);
	add(record, PointerGetDatum(construct_array(elements, id->nparts, TEXTOID, -1, false, TYPALIGN_INT)),
		!id->given);
}

void
lance_record_json(LanceRecord *record, const char *json)
{
	add(record, json != NULL ? DirectFunctionCall1(jsonb_in, CStringGetDatum(json)) : (Datum)0, json == NULL);
}

void
lance_record_time(LanceRecord *record, LanceOptionalInt millis)
{
	add(record,
		TimestampTzGetDatum((millis.value - INT64CONST(86400000) * (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)) *
							1000),
		!millis.given);
}

void
lance_record_time_us(LanceRecord *record, LanceOptionalInt unix_us)
{
	int64 time = 0;
	bool valid =
		unix_us.given && !pg_sub_s64_overflow(unix_us.value, UNIX_TO_PG_USECS, &time) && IS_VALID_TIMESTAMP(time);

	add(record, TimestampTzGetDatum(time), !valid);
}

Datum
lance_record_result(FunctionCallInfo fcinfo, LanceRecord *record)
{
	TupleDesc tupdesc;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						errmsg("function returning record called in a context that can't take one")));
	if (tupdesc->natts != record->n)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("the function's definition does not fit the library"),
				 errhint("Run ALTER EXTENSION lance_catalog UPDATE.")));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), record->values, record->nulls));
}

Datum
lance_properties_result(FunctionCallInfo fcinfo, const LanceProperties *properties)
{
	if (!properties->given)
		PG_RETURN_NULL();
	return lance_text_map_to_jsonb(properties->count, properties->items);
}

void
lance_set_begin(FunctionCallInfo fcinfo)
{
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
}

void
lance_set_add(FunctionCallInfo fcinfo, LanceRecord *record)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *)fcinfo->resultinfo;

	if (rsinfo->setDesc->natts != record->n)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("the function's definition does not fit the library"),
				 errhint("Run ALTER EXTENSION lance_catalog UPDATE.")));
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, record->values, record->nulls);
	record->n = 0;
}
