/*
 * text_map.c
 *	  Maps of texts as jsonb objects.
 */
#include "postgres.h"

#include "pg/text_map.h"
#include "utils/jsonb.h"

static JsonbValue
string_value(char *text)
{
	JsonbValue value;

	value.type = jbvString;
	value.val.string.val = text;
	value.val.string.len = strlen(text);
	return value;
}

Datum
lance_text_map_to_jsonb(int n, const LanceTextPair *pairs)
{
	JsonbParseState *state = NULL;
	JsonbValue *object;

	pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	for (int i = 0; i < n; i++)
	{
		JsonbValue key = string_value(pairs[i].key);
		JsonbValue value = string_value(pairs[i].value);

		pushJsonbValue(&state, WJB_KEY, &key);
		pushJsonbValue(&state, WJB_VALUE, &value);
	}
	object = pushJsonbValue(&state, WJB_END_OBJECT, NULL);
	return JsonbPGetDatum(JsonbValueToJsonb(object));
}

int
lance_text_map_from_jsonb(Datum jsonb, const char *what, LanceTextPair **pairs)
{
	Jsonb *map = DatumGetJsonbP(jsonb);
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue value;
	char *key = NULL;
	int n = 0;

	if (!JB_ROOT_IS_OBJECT(map))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("\"%s\" must be a JSON object", what)));
	*pairs = palloc((JB_ROOT_COUNT(map) + 1) * sizeof(LanceTextPair));
	it = JsonbIteratorInit(&map->root);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			key = pnstrdup(value.val.string.val, value.val.string.len);
		else if (token == WJB_VALUE && value.type == jbvString)
		{
			(*pairs)[n].key = key;
			(*pairs)[n].value = pnstrdup(value.val.string.val, value.val.string.len);
			n++;
		}
		else if (token == WJB_VALUE && value.type != jbvNull)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("\"%s\" must map texts to texts", what),
					 errdetail("The value of \"%s\" is no string.", key)));
	}
	return n;
}
