/*
 * field_path.c
 *	  Following and spelling paths of fields.
 */
#include "column/field_path.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/buffer.h"

static LncCode
malformed(LncContext *ctx, const char *path, const char *why)
{
	lnc_fail(ctx, LNC_INVALID, "invalid field path \"%s\"", path);
	lnc_detail(ctx, "%s", why);
	return LNC_INVALID;
}

/*
 * The name that starts at *at, into name (which has room for all of the path); moves *at behind it and its dot. *last:
 * nothing follows.
 */
static LncCode
next_name(LncContext *ctx, const char *path, const char **at, char *name, bool *last)
{
	const char *p = *at;
	size_t length = 0;

	if (*p == '`')
	{
		for (p++;; p++)
		{
			if (*p == '\0')
				return malformed(ctx, path, "A backtick is not closed.");
			if (*p == '`' && *++p != '`')
				break;
			name[length++] = *p;
		}
		if (*p != '.' && *p != '\0')
			return malformed(ctx, path, "A closing backtick is followed by something else than a dot.");
	}
	else
	{
		for (; *p != '.' && *p != '\0'; p++)
		{
			if (*p == '`')
				return malformed(ctx, path, "A backtick stands within a name.");
			name[length++] = *p;
		}
	}
	if (length == 0)
		return malformed(ctx, path, "A name in it is empty.");
	name[length] = '\0';
	*last = *p == '\0';
	*at = *last ? p : p + 1;
	return LNC_OK;
}

static const LncField *
find_field(int32_t nfields, const LncField *fields, const char *name)
{
	for (int32_t i = 0; i < nfields; i++)
	{
		if (fields[i].name != NULL && strcmp(fields[i].name, name) == 0)
			return &fields[i];
	}
	return NULL;
}

LncCode
lnc_field_path_find(LncContext *ctx, LncArena *arena, const LncSchema *schema, const char *path, LncFieldPath *out)
{
	int32_t nfields = schema->nfields;
	const LncField *fields = schema->fields;
	const char *at = path;
	bool last = false;
	void *name;

	LNC_TRY(lnc_arena_alloc(ctx, arena, strlen(path) + 1, &name));
	for (out->depth = 0; !last; out->depth++)
	{
		const LncField *field;

		if (out->depth == LNC_MAX_PATH)
			return malformed(ctx, path, "It has too many names.");
		LNC_TRY(next_name(ctx, path, &at, name, &last));
		field = find_field(nfields, fields, name);
		if (field == NULL)
			return lnc_fail(ctx, LNC_NOT_FOUND, "column \"%s\" does not exist", path);
		out->fields[out->depth] = field;
		nfields = field->type.nchildren;
		fields = field->type.children;
	}
	return LNC_OK;
}

static LncCode
append_name(LncContext *ctx, LncBuffer *buffer, const char *name)
{
	if (strpbrk(name, ".`") == NULL)
		return lnc_buffer_append(ctx, buffer, name, strlen(name));
	LNC_TRY(lnc_buffer_append(ctx, buffer, "`", 1));
	for (const char *p = name; *p != '\0'; p++)
	{
		if (*p == '`')
			LNC_TRY(lnc_buffer_append(ctx, buffer, "`", 1));
		LNC_TRY(lnc_buffer_append(ctx, buffer, p, 1));
	}
	return lnc_buffer_append(ctx, buffer, "`", 1);
}

LncCode
lnc_field_path_text(LncContext *ctx, LncArena *arena, const LncFieldPath *path, const char **out)
{
	LncBuffer buffer;

	lnc_buffer_init(&buffer, arena, INT_MAX);
	for (int32_t i = 0; i < path->depth; i++)
	{
		if (i > 0)
			LNC_TRY(lnc_buffer_append(ctx, &buffer, ".", 1));
		LNC_TRY(append_name(ctx, &buffer, path->fields[i]->name));
	}
	LNC_TRY(lnc_buffer_append(ctx, &buffer, "", 1));
	*out = (const char *)buffer.data;
	return LNC_OK;
}
