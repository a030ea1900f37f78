/*
 * decode.c
 *	  Request structs out of path, query and JSON body.
 */
#include "postgres.h"

#include <limits.h>

#include "base/json.h"
#include "ops/changes_json.h"
#include "pg/report.h"
#include "rest/codec.h"

#define MEMBER(object, field, Type) ((Type *)((char *)(object) + (field)->offset))

/* "\"mode\"", for the messages of the JSON reader. */
static const char *
quoted(const char *name)
{
	return psprintf("\"%s\"", name);
}

static void
wrong_kind(const char *what, const LncJson *value, const char *wanted)
{
	ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT),
					errmsg("%s must be %s, not %s", what, wanted, lnc_json_kind_name(lnc_json_kind(value)))));
}

static char *
json_text(LanceLibrary *library, const LncJson *value, const char *what)
{
	const char *text;

	lance_check(&library->ctx, lnc_json_as_string(&library->ctx, value, what, &text));
	return lance_rest_text_in(text, strlen(text), what);
}

static int64
json_int(LanceLibrary *library, const LncJson *value, const char *what)
{
	int64_t number;

	lance_check(&library->ctx, lnc_json_as_int64(&library->ctx, value, what, &number));
	return number;
}

static void
json_id(LanceLibrary *library, const LncJson *value, const char *what, LanceId *id)
{
	if (lnc_json_kind(value) != LNC_JSON_ARRAY)
		wrong_kind(what, value, "a list of strings");
	id->given = true;
	id->parts = palloc(sizeof(char *) * Max(lnc_json_count(value), 1));
	LNC_JSON_EACH(part, value)
	id->parts[id->nparts++] = json_text(library, part, psprintf("element of %s", what));
}

static void
json_texts(LanceLibrary *library, const LncJson *value, const char *what, LanceTexts *texts)
{
	if (lnc_json_kind(value) != LNC_JSON_ARRAY)
		wrong_kind(what, value, "a list of strings");
	texts->given = true;
	texts->items = palloc(sizeof(char *) * Max(lnc_json_count(value), 1));
	LNC_JSON_EACH(text, value)
	texts->items[texts->count++] = json_text(library, text, psprintf("element of %s", what));
}

static void
json_properties(LanceLibrary *library, const LncJson *value, const char *what, LanceProperties *properties)
{
	if (lnc_json_kind(value) != LNC_JSON_OBJECT)
		wrong_kind(what, value, "an object of strings");
	properties->given = true;
	properties->items = palloc(sizeof(LanceProperty) * Max(lnc_json_count(value), 1));
	LNC_JSON_EACH(member, value)
	{
		const char *key = lnc_json_key(member);
		LanceProperty *property;

		if (lnc_json_kind(member) == LNC_JSON_NULL)
			continue;
		property = &properties->items[properties->count++];
		property->key = lance_rest_text_in(key, strlen(key), psprintf("name in %s", what));
		property->value = json_text(library, member, psprintf("\"%s\" in %s", property->key, what));
	}
}

static int64
range_bound(LanceLibrary *library, const LncJson *range, const char *name)
{
	const LncJson *value = lnc_json_member(range, name);

	if (value == NULL)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("version range has no \"%s\"", name)));
	return json_int(library, value, quoted(name));
}

static void
json_ranges(LanceLibrary *library, const LncJson *value, const char *what, LanceVersionRanges *ranges)
{
	if (lnc_json_kind(value) != LNC_JSON_ARRAY)
		wrong_kind(what, value, "a list of version ranges");
	ranges->given = true;
	ranges->items = palloc(sizeof(LanceVersionRange) * Max(lnc_json_count(value), 1));
	LNC_JSON_EACH(range, value)
	{
		if (lnc_json_kind(range) != LNC_JSON_OBJECT)
			wrong_kind(psprintf("element of %s", what), range, "an object");
		ranges->items[ranges->count++] = (LanceVersionRange){
			.start_version = range_bound(library, range, "start_version"),
			.end_version = range_bound(library, range, "end_version"),
		};
	}
}

static void decode_members(LanceLibrary *library, const LanceMessage *message, const LncJson *json, void *object);

static void
check_object(const char *what, const LncJson *value)
{
	if (lnc_json_kind(value) != LNC_JSON_OBJECT)
		wrong_kind(what, value, "an object");
}

static void *
json_object(LanceLibrary *library, const LanceMessage *message, const LncJson *value, const char *what)
{
	void *object = palloc0(message->size);

	check_object(what, value);
	decode_members(library, message, value, object);
	return object;
}

static void
json_list(LanceLibrary *library, const LanceMessage *message, const LncJson *value, const char *what,
		  LanceObjectList *list)
{
	if (lnc_json_kind(value) != LNC_JSON_ARRAY)
		wrong_kind(what, value, "a list of objects");
	list->given = true;
	list->items = MemoryContextAllocHuge(CurrentMemoryContext, message->size * ((Size)lnc_json_count(value) + 1));
	LNC_JSON_EACH(element, value)
	{
		void *object = (char *)list->items + message->size * (Size)list->count++;

		check_object(psprintf("element of %s", what), element);
		memset(object, 0, message->size);
		decode_members(library, message, element, object);
	}
}

static void
set_int(const LanceField *field, void *object, int64 value)
{
	if (field->kind == LANCE_FIELD_LIMIT && (value < INT_MIN || value > INT_MAX))
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("\"%s\" is out of range", field->name)));
	*MEMBER(object, field, LanceOptionalInt) = (LanceOptionalInt){true, value};
}

static void
decode_json(LanceLibrary *library, const LanceField *field, const LncJson *value, void *object)
{
	const char *what = quoted(field->name);
	bool truth;

	switch (field->kind)
	{
		case LANCE_FIELD_ID:
			json_id(library, value, what, MEMBER(object, field, LanceId));
			return;
		case LANCE_FIELD_TEXT:
			*MEMBER(object, field, char *) = json_text(library, value, what);
			return;
		case LANCE_FIELD_INT:
		case LANCE_FIELD_LIMIT:
			set_int(field, object, json_int(library, value, what));
			return;
		case LANCE_FIELD_BOOL:
			lance_check(&library->ctx, lnc_json_as_bool(&library->ctx, value, what, &truth));
			*MEMBER(object, field, LanceOptionalBool) = truth ? LANCE_BOOL_TRUE : LANCE_BOOL_FALSE;
			return;
		case LANCE_FIELD_PROPERTIES:
			json_properties(library, value, what, MEMBER(object, field, LanceProperties));
			return;
		case LANCE_FIELD_RANGES:
			json_ranges(library, value, what, MEMBER(object, field, LanceVersionRanges));
			return;
		case LANCE_FIELD_LIST:
			json_list(library, field->message, value, what, MEMBER(object, field, LanceObjectList));
			return;
		case LANCE_FIELD_OBJECT:
			*MEMBER(object, field, void *) = json_object(library, field->message, value, what);
			return;
		case LANCE_FIELD_TEXTS:
			json_texts(library, value, what, MEMBER(object, field, LanceTexts));
			return;
		case LANCE_FIELD_ALTERATIONS:
			lance_json_column_changes(library, value, what, MEMBER(object, field, LanceColumnChanges));
			return;
		case LANCE_FIELD_FIELD_METADATA:
			lance_json_field_metadata(library, value, what, MEMBER(object, field, LanceFieldMetadataList));
			return;
		case LANCE_FIELD_ACTIONS:
			lance_json_actions(library, value, what, MEMBER(object, field, LanceActions));
			return;
		default:
			elog(ERROR, "field \"%s\" cannot stand in a request body", field->name);
	}
}

/* The members of a JSON object that the message knows; the struct is zero before. */
static void
decode_members(LanceLibrary *library, const LanceMessage *message, const LncJson *json, void *object)
{
	for (const LanceField *field = message->fields; field->name != NULL; field++)
	{
		const LncJson *member = field->sources & LANCE_FROM_BODY ? lnc_json_member(json, field->name) : NULL;

		if (member != NULL)
			decode_json(library, field, member, object);
	}
}

static void
decode_query(const LanceField *field, const char *value, void *object)
{
	char *end;
	long long number;

	switch (field->kind)
	{
		case LANCE_FIELD_TEXT:
			*MEMBER(object, field, char *) = pstrdup(value);
			return;
		case LANCE_FIELD_INT:
		case LANCE_FIELD_LIMIT:
			errno = 0;
			number = strtoll(value, &end, 10);
			if (errno != 0 || end == value || *end != '\0' || strspn(value, "-0123456789") != strlen(value))
				ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT),
								errmsg("query parameter \"%s\" is not an integer in range", field->name)));
			set_int(field, object, number);
			return;
		case LANCE_FIELD_BOOL:
			if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
				ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT),
								errmsg("query parameter \"%s\" must be true or false", field->name)));
			*MEMBER(object, field, LanceOptionalBool) = value[0] == 't' ? LANCE_BOOL_TRUE : LANCE_BOOL_FALSE;
			return;
		default:
			elog(ERROR, "field \"%s\" cannot stand in a query", field->name);
	}
}

static bool
ids_equal(const LanceId *a, const LanceId *b)
{
	if (a->nparts != b->nparts)
		return false;
	for (int i = 0; i < a->nparts; i++)
	{
		if (strcmp(a->parts[i], b->parts[i]) != 0)
			return false;
	}
	return true;
}

/* Whether an id has one name, that of the path before it was split: DuckDB's client does not split what it joined itself. */
static bool
is_joined(const LanceId *id, const LanceRestRequest *request)
{
	const char *rest;
	size_t step = strlen(request->delimiter);

	if (id->nparts != 1 || request->id.nparts == 0)
		return false;
	rest = id->parts[0];
	for (int i = 0; i < request->id.nparts; i++)
	{
		const char *part = request->id.parts[i];
		size_t length = strlen(part);

		if (i > 0 && strncmp(rest, request->delimiter, step) != 0)
			return false;
		rest += i > 0 ? step : 0;
		if (strncmp(rest, part, length) != 0)
			return false;
		rest += length;
	}
	return *rest == '\0';
}

/* The route names the object; a body may repeat it, but not name another. */
static void
decode_path(const LanceRestRequest *request, const LanceField *field, void *object)
{
	LanceId *id = MEMBER(object, field, LanceId);

	if (id->given && !ids_equal(id, &request->id) && !is_joined(id, request))
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT),
						errmsg("\"%s\" of the request body is not the one in the path", field->name)));
	*id = request->id;
}

/* The body as a JSON object; NULL when there is none. */
static const LncJson *
parse_body(const LanceRestRequest *request, LanceLibrary *library)
{
	LncSlice text = {(const uint8_t *)request->body.data, request->body.len};
	const LncJson *body;

	if (request->body.data == NULL || request->body.len == 0)
		return NULL;
	lance_check(&library->ctx, lnc_json_parse(&library->ctx, library->arena, text, &body));
	switch (lnc_json_kind(body))
	{
		case LNC_JSON_NULL:
			return NULL;
		case LNC_JSON_OBJECT:
			return body;
		default:
			wrong_kind("the request body", body, "an object");
			return NULL;
	}
}

void *
lance_rest_decode(const LanceRestRequest *request, LanceLibrary *library)
{
	const LanceMessage *message = request->route->request;
	const LncJson *body = parse_body(request, library);
	void *object = palloc0(message->size);

	decode_members(library, message, body, object);
	for (const LanceField *field = message->fields; field->name != NULL; field++)
	{
		const char *parameter = field->sources & LANCE_FROM_QUERY ? lance_rest_query(request, field->name) : NULL;

		if (parameter != NULL)
			decode_query(field, parameter, object);
		if (field->sources & LANCE_FROM_PATH)
			decode_path(request, field, object);
		if (field->kind == LANCE_FIELD_WHOLE_MAP && body != NULL)
			json_properties(library, body, "the request body", MEMBER(object, field, LanceProperties));
		if (field->kind == LANCE_FIELD_DELIMITER)
			*MEMBER(object, field, char *) = request->delimiter;
	}
	return object;
}
