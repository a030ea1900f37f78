/*
 * revision_columns.c
 *	  Revisions of the columns: dropping, renaming, allowing and forbidding NULL.
 *
 * Data files stay as they are: readers find columns by field id. A data file of which nothing is left in the schema, and
 * an index on a field that goes, are taken off the manifest's lists.
 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "dataset/revision_internal.h"
#include "proto/pack.h"

/* Where a listed field is found by its id; in order of ids. */
typedef struct IdSlot
{
	int32_t id;
	size_t index; /* in the manifest's list */
} IdSlot;

/* The fields of a manifest while some of them go. */
typedef struct Removal
{
	size_t nfields;
	IdSlot *slots;
	bool *removed; /* by index in the list */
} Removal;

static int
compare_slots(const void *a, const void *b)
{
	int32_t left = ((const IdSlot *)a)->id;
	int32_t right = ((const IdSlot *)b)->id;

	return (left > right) - (left < right);
}

static const IdSlot *
find_slot(const Removal *removal, int32_t id)
{
	IdSlot key = {.id = id};

	return removal->nfields > 0
			   ? bsearch(&key, removal->slots, removal->nfields, sizeof(*removal->slots), compare_slots)
			   : NULL;
}

/* Is the field still part of the schema? */
static bool
remains(const Removal *removal, int32_t id)
{
	const IdSlot *slot = find_slot(removal, id);

	return slot != NULL && !removal->removed[slot->index];
}

static LncCode
begin_removal(LncContext *ctx, const LncRevision *revision, Removal *removal)
{
	const Lance__Table__Manifest *manifest = revision->manifest;

	removal->nfields = manifest->n_fields;
	LNC_TRY(LNC_NEW(ctx, revision->arena, &removal->slots, manifest->n_fields));
	LNC_TRY(LNC_NEW(ctx, revision->arena, &removal->removed, manifest->n_fields));
	for (size_t i = 0; i < manifest->n_fields; i++)
		removal->slots[i] = (IdSlot){.id = manifest->fields[i]->id, .index = i};
	if (manifest->n_fields > 1)
		qsort(removal->slots, manifest->n_fields, sizeof(*removal->slots), compare_slots);
	return LNC_OK;
}

/* ---- what may be dropped */

static bool
holds_field(const LncField *field, int32_t id)
{
	if (field->id == id)
		return true;
	for (int32_t i = 0; i < field->type.nchildren; i++)
	{
		if (holds_field(&field->type.children[i], id))
			return true;
	}
	return false;
}

static bool
before_22(uint32_t major, uint32_t minor)
{
	return major < 2 || (major == 2 && minor < 2);
}

/* Is any part of the top-level field stored in a data file of a version before 2.2? With no file, the default counts. */
static LncCode
stored_before_22(LncContext *ctx, const LncRevision *revision, const LncField *top, bool *out)
{
	const Lance__Table__Manifest *manifest = revision->manifest;
	bool stored = false;

	*out = false;
	for (size_t i = 0; i < manifest->n_fragments; i++)
	{
		const Lance__Table__DataFragment *fragment = manifest->fragments[i];

		LNC_TRY(lnc_check_interrupt(ctx));
		for (size_t f = 0; f < fragment->n_files; f++)
		{
			const Lance__Table__DataFile *file = fragment->files[f];

			for (size_t k = 0; k < file->n_fields; k++)
			{
				if (!holds_field(top, file->fields[k]))
					continue;
				stored = true;
				if (before_22(file->file_major_version, file->file_minor_version))
					*out = true;
				break;
			}
		}
	}
	if (!stored)
		*out = strcmp(manifest->data_format->version, "2.0") == 0 ||
			   strcmp(manifest->data_format->version, "2.1") == 0;
	return LNC_OK;
}

static LncCode
refuse_part(LncContext *ctx, const char *path, const char *why)
{
	lnc_fail(ctx, LNC_UNSUPPORTED, "dropping \"%s\" is not supported", path);
	lnc_detail(ctx, "%s", why);
	return LNC_UNSUPPORTED;
}

/* A column goes whole; of a struct, fields may go; and of structs in lists, where data files allow it. */
static LncCode
check_droppable(LncContext *ctx, const LncRevision *revision, const char *text, const LncFieldPath *path)
{
	for (int32_t i = 0; i < path->depth - 1; i++)
	{
		const LncField *around = path->fields[i];
		bool old;

		if (around->packed)
			return refuse_part(ctx, text, "It is part of a struct that is stored packed.");
		switch (around->type.kind)
		{
			case LNC_TYPE_STRUCT:
				break;
			case LNC_TYPE_LIST:
			case LNC_TYPE_LARGE_LIST:
				if (i == path->depth - 2)
					return refuse_part(ctx, text, "The items of a list go with the list.");
				LNC_TRY(stored_before_22(ctx, revision, path->fields[0], &old));
				if (old)
					return refuse_part(ctx, text, "It is part of a list in data files of a version before 2.2.");
				break;
			default:
				return refuse_part(ctx, text, "It is part of a column that is stored as one.");
		}
	}
	return LNC_OK;
}

/* ---- dropping */

/* What is below a removed field goes with it, and what is left without a child goes too. */
static LncCode
spread_removal(LncContext *ctx, LncArena *arena, const Lance__Table__Manifest *manifest, Removal *removal)
{
	size_t *children;

	LNC_TRY(LNC_NEW(ctx, arena, &children, removal->nfields));
	for (size_t i = 0; i < removal->nfields; i++)
	{
		const IdSlot *parent = find_slot(removal, manifest->fields[i]->parent_id);

		if (manifest->fields[i]->parent_id == -1 || parent == NULL)
			continue;
		children[parent->index]++;
		if (removal->removed[parent->index])
			removal->removed[i] = true;
	}
	for (size_t i = removal->nfields; i-- > 0;)
	{
		const IdSlot *parent = find_slot(removal, manifest->fields[i]->parent_id);

		if (!removal->removed[i] || manifest->fields[i]->parent_id == -1 || parent == NULL)
			continue;
		if (--children[parent->index] == 0)
			removal->removed[parent->index] = true;
	}
	return LNC_OK;
}

/* Files of which the schema has no field any more leave the fragments. */
static LncCode
drop_files(LncContext *ctx, Lance__Table__Manifest *manifest, const Removal *removal)
{
	for (size_t i = 0; i < manifest->n_fragments; i++)
	{
		Lance__Table__DataFragment *fragment = manifest->fragments[i];
		size_t nfiles = 0;

		LNC_TRY(lnc_check_interrupt(ctx));
		for (size_t f = 0; f < fragment->n_files; f++)
		{
			const Lance__Table__DataFile *file = fragment->files[f];
			bool used = false;

			for (size_t k = 0; !used && k < file->n_fields; k++)
				used = remains(removal, file->fields[k]);
			if (used)
				fragment->files[nfiles++] = fragment->files[f];
		}
		fragment->n_files = nfiles;
	}
	return LNC_OK;
}

static LncCode
drop_indices(LncContext *ctx, LncRevision *revision, const Removal *removal)
{
	Lance__Table__IndexSection *section = revision->indices.message;
	size_t n = 0;

	if (section == NULL)
		return LNC_OK;
	for (size_t i = 0; i < section->n_indices; i++)
	{
		const Lance__Table__IndexMetadata *index = section->indices[i];
		bool kept = true;

		for (size_t k = 0; kept && k < index->n_fields; k++)
			kept = remains(removal, index->fields[k]);
		if (kept || strcmp(index->name, "__lance_frag_reuse") == 0)
			section->indices[n++] = section->indices[i];
	}
	if (n == section->n_indices)
		return LNC_OK;
	section->n_indices = n;
	revision->indices.present = n > 0;
	return lnc_proto_pack(ctx, revision->arena, &section->base, "list of indices", &revision->indices.bytes);
}

/* The transaction: the schema as it is now. */
static LncCode
set_project(LncContext *ctx, LncRevision *revision, bool preserves_nullability)
{
	Lance__Table__Transaction__Project *project;

	LNC_TRY(LNC_NEW(ctx, revision->arena, &project, 1));
	lance__table__transaction__project__init(project);
	project->n_schema = revision->manifest->n_fields;
	project->schema = revision->manifest->fields;
	project->preserves_nullability = preserves_nullability;
	revision->transaction.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_PROJECT;
	revision->transaction.project = project;
	revision->operation = "Project";
	return LNC_OK;
}

LncCode
lnc_revision_drop_columns(LncContext *ctx, LncRevision *revision, size_t n, const char *const *paths)
{
	Lance__Table__Manifest *manifest = revision->manifest;
	Lance__File__Field **fields;
	size_t nfields = 0;
	Removal removal;

	LNC_TRY(lnc_revision_check_indices(ctx, revision));
	LNC_TRY(begin_removal(ctx, revision, &removal));
	for (size_t i = 0; i < n; i++)
	{
		LncFieldPath path;

		LNC_TRY(lnc_check_interrupt(ctx));
		LNC_TRY(lnc_field_path_find(ctx, revision->arena, &revision->schema, paths[i], &path));
		LNC_TRY(check_droppable(ctx, revision, paths[i], &path));
		removal.removed[find_slot(&removal, path.fields[path.depth - 1]->id)->index] = true;
	}
	LNC_TRY(spread_removal(ctx, revision->arena, manifest, &removal));
	LNC_TRY(LNC_NEW(ctx, revision->arena, &fields, manifest->n_fields));
	for (size_t i = 0; i < manifest->n_fields; i++)
	{
		if (!removal.removed[i])
			fields[nfields++] = manifest->fields[i];
	}
	if (nfields == 0)
		return lnc_fail(ctx, LNC_INVALID, "can't drop all columns of a table");
	LNC_TRY(drop_files(ctx, manifest, &removal));
	LNC_TRY(drop_indices(ctx, revision, &removal));
	manifest->fields = fields;
	manifest->n_fields = nfields;
	return set_project(ctx, revision, true);
}

/* ---- altering */

static LncCode
bad_name(LncContext *ctx, const char *name, const char *why)
{
	lnc_fail(ctx, LNC_INVALID, "invalid column name \"%s\"", name);
	lnc_detail(ctx, "%s", why);
	return LNC_INVALID;
}

static LncCode
check_rename(LncContext *ctx, const LncFieldPath *path, const LncColumnChange *change)
{
	size_t length = strlen(change->rename);

	if (length == 0)
		return bad_name(ctx, change->rename, "A name can't be empty.");
	if (!lnc_utf8_valid((const uint8_t *)change->rename, length, NULL))
		return lnc_fail(ctx, LNC_INVALID, "new name of column \"%s\" is not valid UTF-8", change->path);
	if (path->depth == 1 && strchr(change->rename, '.') != NULL)
		return bad_name(ctx, change->rename, "Names at the top level can't contain a dot.");
	if (path->depth > 1 && path->fields[path->depth - 2]->type.kind != LNC_TYPE_STRUCT)
	{
		lnc_fail(ctx, LNC_UNSUPPORTED, "renaming \"%s\" is not supported", change->path);
		lnc_detail(ctx, "Only columns and fields of structs have names of their own.");
		return LNC_UNSUPPORTED;
	}
	return LNC_OK;
}

typedef struct NamedField
{
	int32_t parent_id;
	const char *name;
} NamedField;

static int
compare_names(const void *a, const void *b)
{
	const NamedField *left = a;
	const NamedField *right = b;

	if (left->parent_id != right->parent_id)
		return left->parent_id < right->parent_id ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* No two fields of one parent have one name. */
static LncCode
check_names(LncContext *ctx, const LncRevision *revision)
{
	const Lance__Table__Manifest *manifest = revision->manifest;
	NamedField *names;

	LNC_TRY(LNC_NEW(ctx, revision->arena, &names, manifest->n_fields));
	for (size_t i = 0; i < manifest->n_fields; i++)
		names[i] = (NamedField){manifest->fields[i]->parent_id, manifest->fields[i]->name};
	if (manifest->n_fields > 1)
		qsort(names, manifest->n_fields, sizeof(*names), compare_names);
	for (size_t i = 1; i < manifest->n_fields; i++)
	{
		if (compare_names(&names[i - 1], &names[i]) == 0)
			return lnc_fail(ctx, LNC_INVALID, "there would be two columns named \"%s\"", names[i].name);
	}
	return LNC_OK;
}

LncCode
lnc_revision_alter_columns(LncContext *ctx, LncRevision *revision, size_t n, const LncColumnChange *changes)
{
	bool tightens = false;
	bool renames = false;

	LNC_TRY(lnc_revision_check_indices(ctx, revision));
	for (size_t i = 0; i < n; i++)
	{
		const LncColumnChange *change = &changes[i];
		Lance__File__Field *field;
		LncFieldPath path;

		LNC_TRY(lnc_check_interrupt(ctx));
		LNC_TRY(lnc_field_path_find(ctx, revision->arena, &revision->schema, change->path, &path));
		LNC_TRY(lnc_revision_field(ctx, revision, path.fields[path.depth - 1]->id, &field));
		if (change->rename != NULL)
		{
			LNC_TRY(check_rename(ctx, &path, change));
			field->name = (char *)change->rename;
			renames = true;
		}
		if (change->set_nullable)
		{
			tightens = tightens || (path.fields[path.depth - 1]->nullable && !change->nullable);
			field->nullable = change->nullable;
		}
	}
	if (renames)
		LNC_TRY(check_names(ctx, revision));
	LNC_TRY(lnc_revision_check_primary_key(ctx, revision));
	return set_project(ctx, revision, !tightens);
}
