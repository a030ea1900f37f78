/*
 * update_metadata.c
 *	  UpdateTableSchemaMetadata and UpdateFieldMetadata.
 */
#include "postgres.h"

#include "ops/check.h"
#include "ops/revise.h"
#include "ops/revision.h"
#include "pg/errcodes.h"
#include "pg/report.h"

/* A map as a list of changes in which each key stands once, with the last of its values. */
static size_t
map_changes(const LanceProperties *map, LncMapChange **out)
{
	LncMapChange *list = palloc((map->count + 1) * sizeof(LncMapChange));
	size_t n = 0;

	for (int i = 0; i < map->count; i++)
	{
		const LanceProperty *item = &map->items[i];
		size_t at = 0;

		while (at < n && strcmp(list[at].key, item->key) != 0)
			at++;
		list[at] = (LncMapChange){.key = item->key, .value = item->value};
		if (at == n)
			n++;
	}
	*out = list;
	return n;
}

void
lance_op_update_table_schema_metadata(const LanceUpdateTableSchemaMetadataRequest *request,
									  LanceUpdateTableSchemaMetadataResponse *response)
{
	LanceRevise revise;
	LanceRevised revised;
	LncMapChange *changes;
	size_t n;

	memset(response, 0, sizeof(*response));
	lance_check_table_id(&request->id);
	if (!request->metadata.given)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("metadata is missing")));
	lance_check_properties(&request->metadata, "metadata");
	lance_revise_check_count(request->metadata.count, "metadata");
	n = map_changes(&request->metadata, &changes);
	lance_revise_begin(&request->id, request->branch, &revise);
	lance_revise_check(&revise,
					   lnc_revision_schema_metadata(&revise.history.lib->ctx, revise.revision, n, changes));
	lance_revise_commit(&revise, &revised);
	response->transaction_id = revised.transaction_id;
	response->metadata.given = true;
	response->metadata.items = palloc((n + 1) * sizeof(LanceProperty));
	for (size_t i = 0; i < n; i++)
		response->metadata.items[response->metadata.count++] =
			(LanceProperty){.key = (char *)changes[i].key, .value = (char *)changes[i].value};
}

/* Metadata as it is now, as far as it is text. */
static void
copy_metadata(size_t n, const LncKeyValue *list, LanceProperties *out)
{
	out->given = true;
	out->items = palloc((n + 1) * sizeof(LanceProperty));
	for (size_t i = 0; i < n; i++)
	{
		const char *value = list[i].value.size > 0 ? (const char *)list[i].value.data : "";

		if (memchr(value, '\0', list[i].value.size) != NULL)
			continue;
		out->items[out->count].key = pstrdup(list[i].key);
		out->items[out->count++].value = pnstrdup(value, list[i].value.size);
	}
}

/* What the fields that were changed have now, each once. */
static void
collect_fields(LanceRevise *revise, const LanceFieldMetadataList *updates, LanceNamedPropertiesList *out)
{
	LanceLibrary *lib = revise->history.lib;

	out->given = true;
	out->items = palloc0((updates->count + 1) * sizeof(LanceNamedProperties));
	for (int i = 0; i < updates->count; i++)
	{
		const LncKeyValue *list;
		LncFieldPath path;
		const char *name;
		size_t n;
		int at = 0;

		lance_check(&lib->ctx, lnc_field_path_find(&lib->ctx, lib->arena, lnc_revision_schema(revise->revision),
												   updates->items[i].path, &path));
		lance_check(&lib->ctx, lnc_field_path_text(&lib->ctx, lib->arena, &path, &name));
		while (at < out->count && strcmp(out->items[at].name, name) != 0)
			at++;
		if (at < out->count)
			continue;
		out->items[at].name = pstrdup(name);
		lance_check(&lib->ctx, lnc_revision_metadata_of(&lib->ctx, revise->revision,
														path.fields[path.depth - 1]->id, &n, &list));
		copy_metadata(n, list, &out->items[at].properties);
		out->count++;
	}
}

void
lance_op_update_field_metadata(const LanceUpdateFieldMetadataRequest *request,
							   LanceUpdateFieldMetadataResponse *response)
{
	const LanceFieldMetadataList *updates = &request->updates;
	LncFieldMetadataChange *changes;
	LanceRevise revise;
	LanceRevised revised;
	int64 total = updates->count;

	memset(response, 0, sizeof(*response));
	lance_check_table_id(&request->id);
	if (updates->count == 0)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("updates are missing")));
	for (int i = 0; i < updates->count; i++)
		total += updates->items[i].metadata.count;
	lance_revise_check_count(total, "updates");
	changes = palloc0(updates->count * sizeof(LncFieldMetadataChange));
	for (int i = 0; i < updates->count; i++)
	{
		LncMapChange *entries;

		changes[i].path = updates->items[i].path;
		changes[i].replace = updates->items[i].replace == LANCE_BOOL_TRUE;
		changes[i].nentries = map_changes(&updates->items[i].metadata, &entries);
		changes[i].entries = entries;
	}
	lance_revise_begin(&request->id, request->branch, &revise);
	lance_revise_check(
		&revise, lnc_revision_field_metadata(&revise.history.lib->ctx, revise.revision, updates->count, changes));
	collect_fields(&revise, updates, &response->fields);
	lance_revise_commit(&revise, &revised);
	response->version = (LanceOptionalInt){.given = true, .value = revised.version};
}
