/*
 * changes_json.c
 *	  Lists of changes out of JSON.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "ops/changes_json.h"
#include "pg/errcodes.h"
#include "pg/report.h"

const LncJson *
lance_json_parse(LanceLibrary *lib, const char *text)
{
	const char *utf8 = pg_server_to_any(text, strlen(text), PG_UTF8);
	LncSlice bytes = {(const uint8_t *)utf8, strlen(utf8)};
	const LncJson *value;

	lance_check(&lib->ctx, lnc_json_parse(&lib->ctx, lib->arena, bytes, &value));
	return value;
}

char *
lance_json_text(LanceLibrary *lib, const LncJson *value, const char *what)
{
	const char *text;

	lance_check(&lib->ctx, lnc_json_as_string(&lib->ctx, value, what, &text));
	return pg_any_to_server(pstrdup(text), (int)strlen(text), PG_UTF8);
}

static void
check_kind(const LncJson *value, LncJsonKind kind, const char *what, const char *wanted)
{
	if (lnc_json_kind(value) != kind)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT),
						errmsg("%s must be %s, not %s", what, wanted, lnc_json_kind_name(lnc_json_kind(value)))));
}

static char *
member_text(LanceLibrary *lib, const LncJson *object, const char *name)
{
	const LncJson *value = lnc_json_member(object, name);

	return value != NULL ? lance_json_text(lib, value, psprintf("\"%s\"", name)) : NULL;
}

static LanceOptionalBool
member_bool(LanceLibrary *lib, const LncJson *object, const char *name)
{
	const LncJson *value = lnc_json_member(object, name);
	bool truth;

	if (value == NULL)
		return LANCE_BOOL_UNSET;
	lance_check(&lib->ctx, lnc_json_as_bool(&lib->ctx, value, psprintf("\"%s\"", name), &truth));
	return truth ? LANCE_BOOL_TRUE : LANCE_BOOL_FALSE;
}

/* The path that each change starts with. */
static char *
member_path(LanceLibrary *lib, const LncJson *object, const char *what)
{
	char *path = member_text(lib, object, "path");

	if (path == NULL || path[0] == '\0')
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("an element of %s has no \"path\"", what)));
	return path;
}

/* Begin a list of objects: room for its elements of some size, zeroed. */
static void *
begin_list(const LncJson *value, const char *what, size_t size)
{
	check_kind(value, LNC_JSON_ARRAY, what, "a list of objects");
	LNC_JSON_EACH(element, value)
	check_kind(element, LNC_JSON_OBJECT, psprintf("element of %s", what), "an object");
	return palloc_extended(size * (lnc_json_count(value) + 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

void
lance_json_column_changes(LanceLibrary *lib, const LncJson *value, const char *what, LanceColumnChanges *out)
{
	out->given = true;
	out->items = begin_list(value, what, sizeof(LanceColumnChange));
	LNC_JSON_EACH(element, value)
	{
		LanceColumnChange *item = &out->items[out->count++];

		item->path = member_path(lib, element, what);
		item->rename = member_text(lib, element, "rename");
		item->nullable = member_bool(lib, element, "nullable");
		item->has_data_type = lnc_json_member(element, "data_type") != NULL;
		item->has_virtual_column = lnc_json_member(element, "virtual_column") != NULL;
	}
}

static void
read_metadata(LanceLibrary *lib, const LncJson *value, const char *path, LanceProperties *out)
{
	if (value == NULL)
		ereport(ERROR,
				(lance_errcode(LANCE_INVALID_INPUT), errmsg("the update of \"%s\" has no \"metadata\"", path)));
	check_kind(value, LNC_JSON_OBJECT, "\"metadata\"", "an object of strings");
	out->given = true;
	out->items = palloc_extended((lnc_json_count(value) + 1) * sizeof(LanceProperty), MCXT_ALLOC_HUGE);
	LNC_JSON_EACH(entry, value)
	{
		const char *key = lnc_json_key(entry);
		LanceProperty *item = &out->items[out->count++];

		if (key[0] == '\0')
			ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("a key of \"metadata\" is empty")));
		item->key = pg_any_to_server(pstrdup(key), (int)strlen(key), PG_UTF8);
		item->value = lnc_json_kind(entry) == LNC_JSON_NULL
						  ? NULL
						  : lance_json_text(lib, entry, psprintf("\"%s\" in \"metadata\"", item->key));
	}
}

void
lance_json_field_metadata(LanceLibrary *lib, const LncJson *value, const char *what, LanceFieldMetadataList *out)
{
	out->given = true;
	out->items = begin_list(value, what, sizeof(LanceFieldMetadata));
	LNC_JSON_EACH(element, value)
	{
		LanceFieldMetadata *item = &out->items[out->count++];

		item->path = member_path(lib, element, what);
		read_metadata(lib, lnc_json_member(element, "metadata"), item->path, &item->metadata);
		item->replace = member_bool(lib, element, "replace");
	}
}

void
lance_json_actions(LanceLibrary *lib, const LncJson *value, const char *what, LanceActions *out)
{
	static const char *const names[] = {"setStatusAction", "setPropertyAction", "unsetPropertyAction"};

	out->given = true;
	out->items = begin_list(value, what, sizeof(LanceAction));
	LNC_JSON_EACH(element, value)
	{
		LanceAction *item = &out->items[out->count++];
		const LncJson *action = NULL;

		for (size_t i = 0; i < lengthof(names); i++)
		{
			const LncJson *found = lnc_json_member(element, names[i]);

			if (found == NULL)
				continue;
			if (action != NULL)
				ereport(ERROR,
						(lance_errcode(LANCE_INVALID_INPUT), errmsg("an element of %s has two actions", what)));
			check_kind(found, LNC_JSON_OBJECT, psprintf("\"%s\"", names[i]), "an object");
			action = found;
			item->kind = (LanceActionKind)i;
		}
		if (action == NULL)
			ereport(ERROR,
					(lance_errcode(LANCE_INVALID_INPUT), errmsg("an element of %s has no action", what),
					 errhint("Give \"setStatusAction\", \"setPropertyAction\" or \"unsetPropertyAction\".")));
		item->status = member_text(lib, action, "status");
		item->key = member_text(lib, action, "key");
		item->value = member_text(lib, action, "value");
		item->mode = member_text(lib, action, "mode");
	}
}
