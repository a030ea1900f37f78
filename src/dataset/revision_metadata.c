/*
 * revision_metadata.c
 *	  Revisions of metadata: of the schema and of its fields. Keys of the table that live in the latter are guarded.
 */
#include <stdlib.h>
#include <string.h>

#include "dataset/revision_internal.h"

#define EXTENSION_NAME "ARROW:extension:name"
#define PRIMARY_KEY "lance-schema:unenforced-primary-key"
#define PRIMARY_KEY_POSITION "lance-schema:unenforced-primary-key:position"
#define CLUSTERING_KEY_POSITION "lance-schema:unenforced-clustering-key:position"

typedef Lance__Table__Transaction__UpdateMap UpdateMap;
typedef Lance__Table__Transaction__UpdateMapEntry UpdateMapEntry;
typedef Lance__Table__Transaction__UpdateConfig__FieldMetadataUpdatesEntry FieldUpdate;
typedef Lance__File__Field__MetadataEntry FieldEntry;

/* ---- the transaction's description of a change */

/* Append entries to the description of a map's change. */
static LncCode
describe_entries(LncContext *ctx, LncArena *arena, size_t n, const LncMapChange *entries, UpdateMap *out)
{
	UpdateMapEntry **list;

	LNC_TRY(LNC_NEW(ctx, arena, &list, out->n_update_entries + n));
	for (size_t i = 0; i < out->n_update_entries; i++)
		list[i] = out->update_entries[i];
	for (size_t i = 0; i < n; i++)
	{
		UpdateMapEntry *entry;

		LNC_TRY(LNC_NEW(ctx, arena, &entry, 1));
		lance__table__transaction__update_map_entry__init(entry);
		entry->key = (char *)entries[i].key;
		if (entries[i].value != NULL)
		{
			entry->value_presence_case = LANCE__TABLE__TRANSACTION__UPDATE_MAP_ENTRY__VALUE_PRESENCE_VALUE;
			entry->value = (char *)entries[i].value;
		}
		list[out->n_update_entries + i] = entry;
	}
	out->update_entries = list;
	out->n_update_entries += n;
	return LNC_OK;
}

static LncCode
new_map(LncContext *ctx, LncArena *arena, bool replace, UpdateMap **out)
{
	LNC_TRY(LNC_NEW(ctx, arena, out, 1));
	lance__table__transaction__update_map__init(*out);
	(*out)->replace = replace;
	return LNC_OK;
}

static LncCode
set_update_config(LncContext *ctx, LncRevision *revision, Lance__Table__Transaction__UpdateConfig **out)
{
	LNC_TRY(LNC_NEW(ctx, revision->arena, out, 1));
	lance__table__transaction__update_config__init(*out);
	revision->transaction.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_UPDATE_CONFIG;
	revision->transaction.update_config = *out;
	revision->operation = "UpdateConfig";
	return LNC_OK;
}

/* ---- the schema's metadata */

LncCode
lnc_revision_schema_metadata(LncContext *ctx, LncRevision *revision, size_t n, const LncMapChange *entries)
{
	Lance__Table__Manifest *manifest = revision->manifest;
	Lance__Table__Transaction__UpdateConfig *config;
	Lance__Table__Manifest__SchemaMetadataEntry **list;

	LNC_TRY(set_update_config(ctx, revision, &config));
	LNC_TRY(new_map(ctx, revision->arena, true, &config->schema_metadata_updates));
	LNC_TRY(describe_entries(ctx, revision->arena, n, entries, config->schema_metadata_updates));
	LNC_TRY(LNC_NEW(ctx, revision->arena, &list, n));
	for (size_t i = 0; i < n; i++)
	{
		LNC_TRY(LNC_NEW(ctx, revision->arena, &list[i], 1));
		lance__table__manifest__schema_metadata_entry__init(list[i]);
		list[i]->key = (char *)entries[i].key;
		list[i]->value.data = (uint8_t *)entries[i].value;
		list[i]->value.len = strlen(entries[i].value);
	}
	manifest->schema_metadata = list;
	manifest->n_schema_metadata = n;
	return LNC_OK;
}

/* ---- keys of the table */

/* The value of a field's metadata as text in arena; NULL when it has none. */
static LncCode
metadata_text(LncContext *ctx, LncArena *arena, const Lance__File__Field *field, const char *key, char **out)
{
	*out = NULL;
	for (size_t i = 0; i < field->n_metadata; i++)
	{
		if (strcmp(field->metadata[i]->key, key) == 0)
			return lnc_arena_strndup(ctx, arena, (const char *)field->metadata[i]->value.data,
									 field->metadata[i]->value.len, out);
	}
	return LNC_OK;
}

/* A position in a key: a number of 32 bits and nothing else. */
static bool
parse_position(const char *text, uint32_t *out)
{
	uint64_t value = 0;

	if (text == NULL || *text == '\0')
		return false;
	for (; *text != '\0'; text++)
	{
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
		if (value > UINT32_MAX)
			return false;
	}
	*out = (uint32_t)value;
	return true;
}

static bool
is_truthy(const char *text)
{
	return text != NULL &&
		   (strcasecmp(text, "true") == 0 || strcasecmp(text, "1") == 0 || strcasecmp(text, "on") == 0 ||
			strcasecmp(text, "yes") == 0 || strcasecmp(text, "y") == 0);
}

/* What a field's metadata says of keys, in the field's own members. */
static LncCode
read_keys(LncContext *ctx, LncArena *arena, Lance__File__Field *field)
{
	uint32_t position = 0;
	char *text;

	LNC_TRY(metadata_text(ctx, arena, field, PRIMARY_KEY_POSITION, &text));
	field->unenforced_primary_key = parse_position(text, &position);
	if (!field->unenforced_primary_key)
	{
		LNC_TRY(metadata_text(ctx, arena, field, PRIMARY_KEY, &text));
		field->unenforced_primary_key = is_truthy(text);
		position = 0;
	}
	field->unenforced_primary_key_position = position;
	LNC_TRY(metadata_text(ctx, arena, field, CLUSTERING_KEY_POSITION, &text));
	if (!parse_position(text, &field->unenforced_clustering_key_position))
		field->unenforced_clustering_key_position = 0;
	return LNC_OK;
}

static bool
in_primary_key(const Lance__File__Field *field)
{
	return field->unenforced_primary_key || field->unenforced_primary_key_position > 0;
}

static bool
in_clustering_key(const Lance__File__Field *field)
{
	return field->unenforced_clustering_key_position > 0;
}

/* One field of a key and where it stands in it. */
typedef struct KeyPart
{
	uint64_t order;
	int32_t id;
} KeyPart;

typedef struct Key
{
	size_t n;
	KeyPart *parts;
} Key;

static int
compare_parts(const void *a, const void *b)
{
	const KeyPart *left = a;
	const KeyPart *right = b;

	if (left->order != right->order)
		return left->order < right->order ? -1 : 1;
	return (left->id > right->id) - (left->id < right->id);
}

/* The table's primary or clustering key. Fields without a position stand behind those with one, by their ids. */
static LncCode
find_key(LncContext *ctx, const LncRevision *revision, bool primary, Key *key)
{
	const Lance__Table__Manifest *manifest = revision->manifest;

	key->n = 0;
	LNC_TRY(LNC_NEW(ctx, revision->arena, &key->parts, manifest->n_fields));
	for (size_t i = 0; i < manifest->n_fields; i++)
	{
		const Lance__File__Field *field = manifest->fields[i];
		uint32_t position =
			primary ? field->unenforced_primary_key_position : field->unenforced_clustering_key_position;

		if (primary ? in_primary_key(field) : in_clustering_key(field))
			key->parts[key->n++] = (KeyPart){.order = position > 0 ? position : UINT64_MAX, .id = field->id};
	}
	if (key->n > 1)
		qsort(key->parts, key->n, sizeof(*key->parts), compare_parts);
	return LNC_OK;
}

static bool
keys_equal(const Key *a, const Key *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
	{
		if (a->parts[i].id != b->parts[i].id)
			return false;
	}
	return true;
}

/* A key that is set stays; one that is written must become one. */
static LncCode
check_key(LncContext *ctx, const char *name, const Key *before, const Key *after, bool written)
{
	if (before->n > 0 && (written || !keys_equal(before, after)))
		return lnc_fail(ctx, LNC_INVALID, "the %s key can't be changed once it is set", name);
	if (before->n == 0 && written && after->n == 0)
		return lnc_fail(ctx, LNC_INVALID, "the metadata does not make a %s key", name);
	return LNC_OK;
}

LncCode
lnc_revision_check_primary_key(LncContext *ctx, const LncRevision *revision)
{
	const Lance__Table__Manifest *manifest = revision->manifest;

	for (size_t i = 0; i < manifest->n_fields; i++)
	{
		const Lance__File__Field *field = manifest->fields[i];
		const char *name = field->name;

		if (!in_primary_key(field))
			continue;
		for (size_t k = 0; k < manifest->n_fields; k++)
		{
			if (manifest->fields[k]->parent_id == field->id)
				return lnc_fail(ctx, LNC_INVALID, "primary key column \"%s\" has fields of its own", name);
		}
		for (;;)
		{
			if (field->nullable)
				return lnc_fail(ctx, LNC_INVALID, "primary key column \"%s\" must not be nullable", name);
			if (strncmp(field->logical_type, "list", 4) == 0 ||
				strncmp(field->logical_type, "large_list", 10) == 0 || strcmp(field->logical_type, "map") == 0)
				return lnc_fail(ctx, LNC_INVALID, "primary key column \"%s\" must not be in a list or map", name);
			if (field->parent_id == -1)
				break;
			LNC_TRY(lnc_revision_field(ctx, revision, field->parent_id, (Lance__File__Field **)&field));
		}
	}
	return LNC_OK;
}

/* ---- metadata of fields */

/* Make one entry of a field's metadata, or take it away. list has room. */
static LncCode
apply_entry(LncContext *ctx, LncArena *arena, const LncMapChange *change, Lance__File__Field *field)
{
	FieldEntry *entry;
	size_t at = 0;

	while (at < field->n_metadata && strcmp(field->metadata[at]->key, change->key) != 0)
		at++;
	if (change->value == NULL)
	{
		if (at < field->n_metadata)
			field->metadata[at] = field->metadata[--field->n_metadata];
		return LNC_OK;
	}
	LNC_TRY(LNC_NEW(ctx, arena, &entry, 1));
	lance__file__field__metadata_entry__init(entry);
	entry->key = (char *)change->key;
	entry->value.data = (uint8_t *)change->value;
	entry->value.len = strlen(change->value);
	field->metadata[at] = entry;
	if (at == field->n_metadata)
		field->n_metadata++;
	return LNC_OK;
}

static LncCode
apply_change(LncContext *ctx, LncArena *arena, const LncFieldMetadataChange *change, Lance__File__Field *field)
{
	FieldEntry **list;
	bool names_extension = change->replace;
	char *extension;

	LNC_TRY(LNC_NEW(ctx, arena, &list, field->n_metadata + change->nentries));
	if (change->replace)
		field->n_metadata = 0;
	if (field->n_metadata > 0)
		memcpy(list, field->metadata, field->n_metadata * sizeof(FieldEntry *));
	field->metadata = list;
	for (size_t i = 0; i < change->nentries; i++)
	{
		LNC_TRY(lnc_check_interrupt(ctx));
		LNC_TRY(apply_entry(ctx, arena, &change->entries[i], field));
		names_extension = names_extension || strcmp(change->entries[i].key, EXTENSION_NAME) == 0;
	}

	/* Older readers look here for it. */
	if (names_extension)
	{
		LNC_TRY(metadata_text(ctx, arena, field, EXTENSION_NAME, &extension));
		field->extension_name = extension != NULL ? extension : (char *)"";
	}
	return read_keys(ctx, arena, field);
}

static LncCode
describe_field(LncContext *ctx, LncArena *arena, const LncFieldMetadataChange *change, int32_t id,
			   Lance__Table__Transaction__UpdateConfig *config)
{
	FieldUpdate *update = NULL;

	for (size_t i = 0; update == NULL && i < config->n_field_metadata_updates; i++)
	{
		if (config->field_metadata_updates[i]->key == id)
			update = config->field_metadata_updates[i];
	}
	if (update == NULL)
	{
		LNC_TRY(LNC_NEW(ctx, arena, &update, 1));
		lance__table__transaction__update_config__field_metadata_updates_entry__init(update);
		update->key = id;
		LNC_TRY(new_map(ctx, arena, false, &update->value));
		config->field_metadata_updates[config->n_field_metadata_updates++] = update;
	}
	if (change->replace)
	{
		update->value->replace = true;
		update->value->n_update_entries = 0;
	}
	return describe_entries(ctx, arena, change->nentries, change->entries, update->value);
}

static void
note_keys(const LncFieldMetadataChange *change, bool *primary, bool *clustering)
{
	for (size_t i = 0; i < change->nentries; i++)
	{
		const char *key = change->entries[i].key;

		*primary = *primary || strcmp(key, PRIMARY_KEY) == 0 || strcmp(key, PRIMARY_KEY_POSITION) == 0;
		*clustering = *clustering || strcmp(key, CLUSTERING_KEY_POSITION) == 0;
	}
}

LncCode
lnc_revision_field_metadata(LncContext *ctx, LncRevision *revision, size_t n, const LncFieldMetadataChange *changes)
{
	Lance__Table__Transaction__UpdateConfig *config;
	Key primary_before;
	Key primary_after;
	Key clustering_before;
	Key clustering_after;
	bool writes_primary = false;
	bool writes_clustering = false;

	LNC_TRY(set_update_config(ctx, revision, &config));
	LNC_TRY(LNC_NEW(ctx, revision->arena, &config->field_metadata_updates, n));
	LNC_TRY(find_key(ctx, revision, true, &primary_before));
	LNC_TRY(find_key(ctx, revision, false, &clustering_before));
	for (size_t i = 0; i < n; i++)
	{
		Lance__File__Field *field;
		LncFieldPath path;

		LNC_TRY(lnc_check_interrupt(ctx));
		LNC_TRY(lnc_field_path_find(ctx, revision->arena, &revision->schema, changes[i].path, &path));
		LNC_TRY(lnc_revision_field(ctx, revision, path.fields[path.depth - 1]->id, &field));
		LNC_TRY(describe_field(ctx, revision->arena, &changes[i], field->id, config));
		LNC_TRY(apply_change(ctx, revision->arena, &changes[i], field));
		note_keys(&changes[i], &writes_primary, &writes_clustering);
	}
	LNC_TRY(find_key(ctx, revision, true, &primary_after));
	LNC_TRY(find_key(ctx, revision, false, &clustering_after));
	LNC_TRY(check_key(ctx, "primary", &primary_before, &primary_after, writes_primary));
	LNC_TRY(check_key(ctx, "clustering", &clustering_before, &clustering_after, writes_clustering));
	return lnc_revision_check_primary_key(ctx, revision);
}

LncCode
lnc_revision_metadata_of(LncContext *ctx, const LncRevision *revision, int32_t field_id, size_t *n,
						 const LncKeyValue **out)
{
	Lance__File__Field *field;
	LncKeyValue *list;

	LNC_TRY(lnc_revision_field(ctx, revision, field_id, &field));
	LNC_TRY(LNC_NEW(ctx, revision->arena, &list, field->n_metadata));
	for (size_t i = 0; i < field->n_metadata; i++)
	{
		list[i].key = field->metadata[i]->key;
		list[i].value = (LncSlice){.data = field->metadata[i]->value.data, .size = field->metadata[i]->value.len};
	}
	*n = field->n_metadata;
	*out = list;
	return LNC_OK;
}
