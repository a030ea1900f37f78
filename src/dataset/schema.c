/*
 * schema.c
 *	  From the manifest's flat list of fields to the tree of a schema.
 */
#include "dataset/manifest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define MAX_SCHEMA_DEPTH 64

/* Where a listed field is found by its id. */
typedef struct IdSlot
{
	int32_t id;
	size_t index; /* in the manifest's list */
} IdSlot;

/* What is known of a listed field while the tree is built. */
typedef struct Node
{
	LncField *field;   /* its place in the tree */
	int32_t nchildren; /* as counted */
	int32_t filled;    /* children placed so far */
	int depth;
} Node;

static int
compare_ids(const void *a, const void *b)
{
	int32_t left = ((const IdSlot *)a)->id;
	int32_t right = ((const IdSlot *)b)->id;

	return (left > right) - (left < right);
}

static const IdSlot *
find_id(const IdSlot *slots, size_t n, int32_t id)
{
	IdSlot key = {.id = id};

	return bsearch(&key, slots, n, sizeof(*slots), compare_ids);
}

/* True when the metadata holds that key with that value. */
static bool
metadata_is(const LncField *field, const char *key, const char *value)
{
	for (int32_t i = 0; i < field->nmetadata; i++)
	{
		const LncKeyValue *entry = &field->metadata[i];

		if (strcmp(entry->key, key) == 0 && entry->value.size == strlen(value) &&
			memcmp(entry->value.data, value, entry->value.size) == 0)
			return true;
	}
	return false;
}

static LncCode
read_metadata(LncContext *ctx, LncArena *arena, const Lance__File__Field *message, LncField *field)
{
	LNC_TRY(LNC_NEW(ctx, arena, &field->metadata, message->n_metadata));
	for (size_t i = 0; i < message->n_metadata; i++)
	{
		const Lance__File__Field__MetadataEntry *entry = message->metadata[i];
		LncKeyValue *out = &field->metadata[field->nmetadata++];
		char *copy;

		LNC_TRY(lnc_arena_strndup(ctx, arena, entry->key, strlen(entry->key), &copy));
		out->key = copy;
		LNC_TRY(lnc_arena_strndup(ctx, arena, (const char *)entry->value.data, entry->value.len, &copy));
		out->value.data = (const uint8_t *)copy;
		out->value.size = entry->value.len;
		if (strcmp(out->key, "ARROW:extension:name") == 0)
			field->extension = copy;
	}
	if (field->extension == NULL && message->extension_name[0] != '\0')
	{
		char *copy;

		LNC_TRY(lnc_arena_strndup(ctx, arena, message->extension_name, strlen(message->extension_name), &copy));
		field->extension = copy;
	}
	field->packed = metadata_is(field, "lance-encoding:packed", "true") || metadata_is(field, "packed", "true");
	field->blob = metadata_is(field, "lance-encoding:blob", "true");
	return LNC_OK;
}

/* Extension names and encodings that change what the column is. */
static void
refine_kind(LncField *field)
{
	LncType *type = &field->type;

	if (field->extension != NULL)
	{
		if (strcmp(field->extension, "lance.blob.v2") == 0)
			type->kind = LNC_TYPE_BLOB_V2;
		else if (strcmp(field->extension, "lance.json") == 0 &&
				 (type->kind == LNC_TYPE_LARGE_BINARY || type->kind == LNC_TYPE_BINARY))
			type->kind = LNC_TYPE_JSON;
		else if (strcmp(field->extension, "lance.bfloat16") == 0 && type->kind == LNC_TYPE_FIXED_BINARY &&
				 type->list_size == 2)
			type->kind = LNC_TYPE_BFLOAT16;
	}
	if (field->blob && (type->kind == LNC_TYPE_BINARY || type->kind == LNC_TYPE_LARGE_BINARY))
		type->kind = LNC_TYPE_BLOB;
}

static LncCode
read_field(LncContext *ctx, LncArena *arena, const Lance__File__Field *message, LncField *field)
{
	size_t length = strlen(message->name);
	LncCode code;
	char *name;

	if (!lnc_utf8_valid((const uint8_t *)message->name, length, NULL))
		return lnc_fail(ctx, LNC_CORRUPT, "name of field %d is not valid UTF-8", (int)message->id);
	LNC_TRY(lnc_arena_strndup(ctx, arena, message->name, length, &name));
	field->id = message->id;
	field->parent_id = message->parent_id;
	field->name = name;
	field->nullable = message->nullable;
	LNC_TRY(read_metadata(ctx, arena, message, field));
	code = lnc_type_parse(ctx, arena, message->logical_type, &field->type);
	if (code != LNC_OK)
	{
		lnc_detail(ctx, "Field %d, \"%s\".", (int)message->id, field->name);
		return code;
	}
	refine_kind(field);
	return LNC_OK;
}

LncCode
lnc_schema_build(LncContext *ctx, LncArena *arena, size_t nfields, Lance__File__Field *const *fields,
				 LncSchema *schema)
{
	IdSlot *slots;
	Node *nodes;
	int32_t ntop = 0;

	if (nfields > INT32_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "schema has %zu fields", nfields);
	LNC_TRY(LNC_NEW(ctx, arena, &slots, nfields));
	LNC_TRY(LNC_NEW(ctx, arena, &nodes, nfields));
	for (size_t i = 0; i < nfields; i++)
	{
		slots[i].id = fields[i]->id;
		slots[i].index = i;
	}
	if (nfields > 1)
		qsort(slots, nfields, sizeof(*slots), compare_ids);
	for (size_t i = 0; i < nfields; i++)
	{
		if (slots[i].id < 0)
			return lnc_fail(ctx, LNC_CORRUPT, "schema has a field with the negative id %d", (int)slots[i].id);
		if (i > 0 && slots[i].id == slots[i - 1].id)
			return lnc_fail(ctx, LNC_CORRUPT, "schema has two fields with id %d", (int)slots[i].id);
	}

	/* Count the children; a parent is listed before its children, which also rules out cycles. */
	for (size_t i = 0; i < nfields; i++)
	{
		const IdSlot *parent;

		if (fields[i]->parent_id == -1)
		{
			ntop++;
			continue;
		}
		parent = find_id(slots, nfields, fields[i]->parent_id);
		if (parent == NULL || parent->index >= i)
			return lnc_fail(ctx, LNC_CORRUPT,
							"field %d names field %d as its parent, which is not listed before it",
							(int)fields[i]->id, (int)fields[i]->parent_id);
		nodes[parent->index].nchildren++;
		nodes[i].depth = nodes[parent->index].depth + 1;
		if (nodes[i].depth > MAX_SCHEMA_DEPTH)
			return lnc_fail(ctx, LNC_LIMIT, "schema is nested deeper than %d levels", MAX_SCHEMA_DEPTH);
	}

	LNC_TRY(LNC_NEW(ctx, arena, &schema->fields, ntop));
	schema->nfields = 0;
	for (size_t i = 0; i < nfields; i++)
	{
		LncField *field;

		LNC_TRY(lnc_check_interrupt(ctx));
		if (fields[i]->parent_id == -1)
			field = &schema->fields[schema->nfields++];
		else
		{
			Node *parent = &nodes[find_id(slots, nfields, fields[i]->parent_id)->index];

			field = &parent->field->type.children[parent->filled++];
		}
		LNC_TRY(read_field(ctx, arena, fields[i], field));
		nodes[i].field = field;
		if (nodes[i].nchildren > 0)
		{
			LNC_TRY(LNC_NEW(ctx, arena, &field->type.children, nodes[i].nchildren));
			field->type.nchildren = nodes[i].nchildren;
		}
	}
	return LNC_OK;
}
