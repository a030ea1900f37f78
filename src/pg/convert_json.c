/*
 * convert_json.c
 *	  Any value as jsonb, in the forms that to_jsonb gives the types that the parts map to.
 *
 * A list is an array, a struct an object, a map an object when its keys are text and else an array of pairs. Floats
 * have the fewest digits that read back the same; NaN and infinities, which JSON lacks, are strings.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "common/shortest_dec.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pg/convert_internal.h"
#include "pg/types.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

/* What becomes of one part of the value. */
typedef enum JsonForm
{
	JSON_BOOL,
	JSON_INT2,
	JSON_INT4,
	JSON_INT8,
	JSON_NUMERIC,
	JSON_FLOAT4,
	JSON_FLOAT8,
	JSON_TEXT,
	JSON_DATETIME, /* a string in ISO form */
	JSON_JSON,
	JSON_OTHER, /* a string, as the type's output function writes it */
	JSON_LIST,
	JSON_MAP,
	JSON_STRUCT
} JsonForm;

typedef struct JsonNode
{
	JsonForm form;
	LanceConverter scalar; /* of a part without parts */
	FmgrInfo output;       /* JSON_OTHER */
	char *key;             /* of a struct's field, in the database's encoding */
	int nchildren;
	struct JsonNode *children;
} JsonNode;

static void push_value(const JsonNode *node, const LncColumn *column, int64 row, JsonbIteratorToken token,
					   JsonbParseState **state, JsonbValue **result);

static void
make_string(JsonbValue *value, const char *text, Size length)
{
	value->type = jbvString;
	value->val.string.val = unconstify(char *, text);
	value->val.string.len = (int)length;
}

static void
make_float(JsonbValue *value, const char *word, char *digits)
{
	if (word != NULL)
		make_string(value, word, strlen(word));
	else
	{
		value->type = jbvNumeric;
		value->val.numeric = DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(digits),
																 ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
	}
}

/* JSON has no such numbers; NULL for the ones that it has. */
static const char *
float_word(double value)
{
	if (isnan(value))
		return "NaN";
	if (isinf(value))
		return value < 0 ? "-Infinity" : "Infinity";
	return NULL;
}

static void
make_scalar(const JsonNode *node, Datum datum, JsonbValue *value)
{
	char buffer[Max(MAXDATELEN + 1, DOUBLE_SHORTEST_DECIMAL_LEN)];

	switch (node->form)
	{
		case JSON_BOOL:
			value->type = jbvBool;
			value->val.boolean = DatumGetBool(datum);
			return;
		case JSON_INT2:
		case JSON_INT4:
		case JSON_INT8:
			value->type = jbvNumeric;
			value->val.numeric = int64_to_numeric(node->form == JSON_INT2   ? DatumGetInt16(datum)
												  : node->form == JSON_INT4 ? DatumGetInt32(datum)
																			: DatumGetInt64(datum));
			return;
		case JSON_NUMERIC:
			value->type = jbvNumeric;
			value->val.numeric = DatumGetNumeric(datum);
			return;
		case JSON_FLOAT4:
			float_to_shortest_decimal_buf(DatumGetFloat4(datum), buffer);
			make_float(value, float_word(DatumGetFloat4(datum)), buffer);
			return;
		case JSON_FLOAT8:
			double_to_shortest_decimal_buf(DatumGetFloat8(datum), buffer);
			make_float(value, float_word(DatumGetFloat8(datum)), buffer);
			return;
		case JSON_TEXT:
			make_string(value, VARDATA_ANY(DatumGetPointer(datum)), VARSIZE_ANY_EXHDR(DatumGetPointer(datum)));
			return;
		case JSON_DATETIME:
		{
			char *text = JsonEncodeDateTime(NULL, datum, node->scalar.pg_type, NULL);

			make_string(value, text, strlen(text));
			return;
		}
		case JSON_JSON:
			value->type = jbvBinary;
			value->val.binary.data = &DatumGetJsonbP(datum)->root;
			value->val.binary.len = (int)VARSIZE_ANY_EXHDR(DatumGetPointer(datum));
			return;
		default:
		{
			char *text = OutputFunctionCall(unconstify(FmgrInfo *, &node->output), datum);

			make_string(value, text, strlen(text));
		}
	}
}

/* The name of an object's member. */
static void
push_key(const JsonNode *node, const LncColumn *keys, int64 row, JsonbParseState **state)
{
	JsonbValue key;

	if (lnc_column_is_null(keys, row))
		ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
						errmsg("map of column \"%s\" has a key that is NULL", node->scalar.name)));
	make_scalar(node, lance_convert(&node->scalar, keys, row), &key);
	(void)pushJsonbValue(state, WJB_KEY, &key);
}

static void
push_map(const JsonNode *node, const LncColumn *column, int64 row, JsonbParseState **state, JsonbValue **result)
{
	const LncColumn *entries = &column->children[0];
	const JsonNode *key = &node->children[0];
	bool object = key->form == JSON_TEXT;
	int64 first;
	int64 count;

	lance_list_items(column, row, &first, &count);
	(void)pushJsonbValue(state, object ? WJB_BEGIN_OBJECT : WJB_BEGIN_ARRAY, NULL);
	for (int64 i = first; i < first + count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (object)
		{
			push_key(key, &entries->children[0], i, state);
			push_value(&node->children[1], &entries->children[1], i, WJB_VALUE, state, result);
			continue;
		}
		(void)pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
		push_value(key, &entries->children[0], i, WJB_ELEM, state, result);
		push_value(&node->children[1], &entries->children[1], i, WJB_ELEM, state, result);
		(void)pushJsonbValue(state, WJB_END_ARRAY, NULL);
	}
	*result = pushJsonbValue(state, object ? WJB_END_OBJECT : WJB_END_ARRAY, NULL);
}

/*
 * The value of a row, as the next token of what encloses it, or by itself when *state is NULL. *result is what
 * pushJsonbValue gives back: whole when the outermost value has ended.
 */
static void
push_value(const JsonNode *node, const LncColumn *column, int64 row, JsonbIteratorToken token,
		   JsonbParseState **state, JsonbValue **result)
{
	bool null = lnc_column_is_null(column, row);

	check_stack_depth();
	if (null || node->form < JSON_LIST)
	{
		JsonbValue value = {.type = jbvNull};

		if (!null)
			make_scalar(node, lance_convert(&node->scalar, column, row), &value);
		if (*state != NULL)
			*result = pushJsonbValue(state, token, &value);
		else
		{
			*result = palloc(sizeof(value));
			**result = value;
		}
	}
	else if (node->form == JSON_MAP)
		push_map(node, column, row, state, result);
	else if (node->form == JSON_LIST)
	{
		int64 first;
		int64 count;

		lance_list_items(column, row, &first, &count);
		(void)pushJsonbValue(state, WJB_BEGIN_ARRAY, NULL);
		for (int64 i = first; i < first + count; i++)
		{
			CHECK_FOR_INTERRUPTS();
			push_value(&node->children[0], &column->children[0], i, WJB_ELEM, state, result);
		}
		*result = pushJsonbValue(state, WJB_END_ARRAY, NULL);
	}
	else
	{
		(void)pushJsonbValue(state, WJB_BEGIN_OBJECT, NULL);
		for (int i = 0; i < node->nchildren; i++)
		{
			JsonbValue key;

			make_string(&key, node->children[i].key, strlen(node->children[i].key));
			(void)pushJsonbValue(state, WJB_KEY, &key);
			push_value(&node->children[i], &column->children[i], row, WJB_VALUE, state, result);
		}
		*result = pushJsonbValue(state, WJB_END_OBJECT, NULL);
	}
}

static Datum
convert_jsonb(const LanceConverter *converter, const LncColumn *column, int64 row)
{
	JsonbParseState *state = NULL;
	JsonbValue *result = NULL;

	push_value(converter->state, column, row, WJB_VALUE, &state, &result);
	return JsonbPGetDatum(JsonbValueToJsonb(result));
}

/* ---- choosing */

static JsonForm
scalar_form(Oid type)
{
	switch (type)
	{
		case BOOLOID:
			return JSON_BOOL;
		case INT2OID:
			return JSON_INT2;
		case INT4OID:
			return JSON_INT4;
		case INT8OID:
			return JSON_INT8;
		case NUMERICOID:
			return JSON_NUMERIC;
		case FLOAT4OID:
			return JSON_FLOAT4;
		case FLOAT8OID:
			return JSON_FLOAT8;
		case TEXTOID:
			return JSON_TEXT;
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return JSON_DATETIME;
		case JSONBOID:
			return JSON_JSON;
		default:
			return JSON_OTHER;
	}
}

static void
init_node(JsonNode *node, const char *name, const LncField *field)
{
	const LncField *parts;
	const LncType *type;
	LancePgType scalar;

	check_stack_depth();
	node->key = pg_any_to_server(field->name, (int)strlen(field->name), PG_UTF8);
	field = lance_field_values(field);
	type = &field->type;
	node->form = JSON_LIST;
	parts = type->children;
	node->nchildren = type->nchildren;
	if (type->kind == LNC_TYPE_STRUCT)
		node->form = JSON_STRUCT;
	else if (type->kind == LNC_TYPE_MAP)
	{
		node->form = JSON_MAP;
		node->nchildren = 2;
		parts = type->children[0].type.children;
	}
	else if (!lance_type_is_list(type))
	{
		if (!lance_type_to_pg(field, &scalar))
			elog(ERROR, "type %d of column \"%s\" has no type to map to", (int)type->kind, name);
		node->form = scalar_form(scalar.type);
		node->scalar = *lance_converter_make(name, field, scalar.type, scalar.typmod);
		if (node->form == JSON_OTHER)
		{
			Oid function;
			bool varlena;

			getTypeOutputInfo(scalar.type, &function, &varlena);
			fmgr_info(function, &node->output);
		}
		return;
	}
	node->children = palloc0((node->nchildren + 1) * sizeof(JsonNode));
	for (int i = 0; i < node->nchildren; i++)
		init_node(&node->children[i], name, &parts[i]);
}

void
lance_converter_init_jsonb(LanceConverter *converter, const LncField *field)
{
	JsonNode *root = palloc0(sizeof(*root));

	init_node(root, converter->name, field);
	converter->state = root;
	converter->convert = convert_jsonb;
}
