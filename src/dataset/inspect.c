/*
 * inspect.c
 *	  Walking over versions, fragments, fields and pages. Each step has an arena of its own that is reset behind it.
 */
#include "dataset/inspect.h"

#include <inttypes.h>
#include <string.h>

#include "dataset/deletion.h"
#include "dataset/manifest.h"
#include "dataset/operation.h"
#include "format/page_text.h"

#define MAX_DEPTH 64

/* ---- versions */

/* What the manifest says. */
static LncCode
read_version(LncContext *ctx, LncArena *scratch, LncStore *store, LncVersionFacts *facts)
{
	Lance__Table__Manifest *manifest;

	LNC_TRY(lnc_manifest_read(ctx, scratch, store, facts->manifest_key, &manifest));
	facts->timestamp_us = lnc_manifest_timestamp_us(manifest);
	facts->fragments = manifest->n_fragments;
	for (size_t i = 0; i < manifest->n_fragments; i++)
	{
		if (lnc_add_overflow(facts->physical_rows, manifest->fragments[i]->physical_rows, &facts->physical_rows))
		{
			lnc_fail(ctx, LNC_CORRUPT, "manifest states too many rows");
			lnc_detail(ctx, "File \"%s\".", facts->manifest_key);
			return LNC_CORRUPT;
		}
	}
	return lnc_operation_read(ctx, scratch, store, facts->manifest_key, manifest, &facts->operation);
}

static LncCode
inspect_version(LncContext *ctx, LncArena *scratch, LncStore *store, const LncVersionFile *file, LncVersionFn fn,
				void *arg)
{
	LncVersionFacts facts = {.version = file->version, .manifest_key = file->key, .manifest_size = file->size};
	LncVersionFacts known = facts;
	LncCode code;

	LNC_TRY(lnc_check_interrupt(ctx));
	code = read_version(ctx, scratch, store, &facts);
	if (code == LNC_CORRUPT || code == LNC_UNSUPPORTED || code == LNC_LIMIT || code == LNC_NOT_FOUND ||
		code == LNC_DENIED)
	{
		char *problem;

		/* What is wrong with one version is no reason to keep the others back. */
		LNC_TRY(lnc_arena_printf(ctx, scratch, &problem, "%s%s%s", ctx->error.message,
								 ctx->error.detail[0] != '\0' ? "; " : "", ctx->error.detail));
		facts = known;
		facts.problem = problem;
		code = LNC_OK;
	}
	LNC_TRY(code);
	return fn(ctx, arg, &facts);
}

static LncCode
inspect_versions(LncContext *ctx, LncArena *arena, LncArena *scratch, LncStore *store, const char *branch,
				 LncVersionFn fn, void *arg)
{
	LncVersionFile *files;
	size_t count;
	char *folder;

	LNC_TRY(lnc_versions_folder(ctx, arena, branch, &folder));
	LNC_TRY(lnc_versions_list(ctx, arena, store, folder, 0, &count, &files));
	if (count == 0)
	{
		lnc_fail(ctx, LNC_NOT_FOUND, "no dataset at \"%s\"", lnc_store_uri(store));
		lnc_detail(ctx, "Folder \"%s\" holds no manifest.", folder);
		return LNC_NOT_FOUND;
	}
	for (size_t i = 0; i < count; i++)
	{
		LNC_TRY(inspect_version(ctx, scratch, store, &files[i], fn, arg));
		lnc_arena_reset(scratch);
	}
	return LNC_OK;
}

LncCode
lnc_inspect_versions(LncContext *ctx, LncStore *store, const char *branch, LncVersionFn fn, void *arg)
{
	LncArena *arena;
	LncArena *scratch;
	LncCode code;

	LNC_TRY(lnc_arena_create_scratch(ctx, &arena));
	code = lnc_arena_create_scratch(ctx, &scratch);
	if (code == LNC_OK)
	{
		code = inspect_versions(ctx, arena, scratch, store, branch, fn, arg);
		lnc_arena_destroy(scratch);
	}
	lnc_arena_destroy(arena);
	return code;
}

/* ---- fragments */

static LncCode
inspect_fragment(LncContext *ctx, LncArena *scratch, const LncDataset *dataset, const LncFragment *fragment,
				 LncFragmentFn fn, void *arg)
{
	LncFragmentFacts facts = {.fragment = fragment, .deleted_rows = fragment->deleted_rows, .size_known = true};

	LNC_TRY(lnc_check_interrupt(ctx));
	if (fragment->deletion_kind != LNC_DELETION_NONE && fragment->deleted_rows == 0)
	{
		LncDeletions deletions;

		LNC_TRY(lnc_deletion_read(ctx, scratch, dataset, fragment, &deletions));
		facts.deleted_rows = deletions.count;
	}
	for (int32_t i = 0; i < fragment->nfiles; i++)
	{
		if (fragment->files[i].size == 0 || lnc_add_overflow(facts.bytes, fragment->files[i].size, &facts.bytes))
			facts.size_known = false;
	}
	return fn(ctx, arg, &facts);
}

LncCode
lnc_inspect_fragments(LncContext *ctx, const LncDataset *dataset, LncFragmentFn fn, void *arg)
{
	LncArena *scratch;
	LncCode code = LNC_OK;

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	for (int32_t i = 0; code == LNC_OK && i < dataset->nfragments; i++)
	{
		code = inspect_fragment(ctx, scratch, dataset, &dataset->fragments[i], fn, arg);
		lnc_arena_reset(scratch);
	}
	lnc_arena_destroy(scratch);
	return code;
}

/* ---- fields */

/* path has room for MAX_DEPTH names; the first depth of them are those of the parents. */
static LncCode
inspect_field(LncContext *ctx, LncArena *scratch, const LncField *field, const char **path, int32_t depth,
			  LncFieldFn fn, void *arg)
{
	LncFieldFacts facts = {.field = field, .npath = depth + 1, .path = path};
	char *type;

	if (depth >= MAX_DEPTH)
		return lnc_fail(ctx, LNC_LIMIT, "fields are nested too deep");
	path[depth] = field->name;
	LNC_TRY(lnc_type_name(ctx, scratch, &field->type, &type));
	facts.type = type;
	LNC_TRY(fn(ctx, arg, &facts));

	/* The items of a fixed-size list that its type string names, and the values of a dictionary, have no id. */
	for (int32_t i = 0; i < field->type.nchildren; i++)
	{
		if (field->type.children[i].id >= 0)
			LNC_TRY(inspect_field(ctx, scratch, &field->type.children[i], path, depth + 1, fn, arg));
	}
	return LNC_OK;
}

LncCode
lnc_inspect_fields(LncContext *ctx, const LncDataset *dataset, LncFieldFn fn, void *arg)
{
	const char *path[MAX_DEPTH];
	LncArena *scratch;
	LncCode code = LNC_OK;

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	for (int32_t i = 0; code == LNC_OK && i < dataset->schema.nfields; i++)
	{
		code = inspect_field(ctx, scratch, &dataset->schema.fields[i], path, 0, fn, arg);
		lnc_arena_reset(scratch);
	}
	lnc_arena_destroy(scratch);
	return code;
}

/* ---- pages */

/* The field whose values a file column holds, by the manifest. */
static int32_t
field_of_column(const LncDataFile *file, uint32_t column)
{
	for (int32_t i = 0; i < file->nfields; i++)
	{
		if (file->columns[i] >= 0 && (uint32_t)file->columns[i] == column && file->field_ids[i] >= 0)
			return file->field_ids[i];
	}
	return -1;
}

static LncCode
inspect_column(LncContext *ctx, LncArena *scratch, const LncFile *opened, LncPageFacts *facts, LncPageFn fn,
			   void *arg)
{
	uint32_t npages;

	LNC_TRY(lnc_file_npages(ctx, opened, facts->column, &npages));
	for (uint32_t i = 0; i < npages; i++)
	{
		LncPageInfo info;

		LNC_TRY(lnc_check_interrupt(ctx));
		lnc_arena_reset(scratch);
		LNC_TRY(lnc_file_page_info(ctx, opened, facts->column, i, &info));
		LNC_TRY(lnc_page_text(ctx, scratch, opened, facts->column, i, &facts->layout, &facts->encoding));
		facts->page = i;
		facts->first_row = info.first_row;
		facts->rows = info.nrows;
		facts->buffers = info.nbuffers;
		facts->bytes = info.bytes;
		LNC_TRY(fn(ctx, arg, facts));
	}
	return LNC_OK;
}

static LncCode
inspect_file(LncContext *ctx, LncArena *arena, LncArena *scratch, const LncDataset *dataset,
			 const LncFragment *fragment, const LncDataFile *file, LncPageFn fn, void *arg)
{
	LncPageFacts facts = {.fragment = fragment->id, .file = file->path};
	LncStore *store;
	LncFile *opened;
	char *key;

	if (file->columns == NULL)
	{
		lnc_fail(ctx, LNC_UNSUPPORTED, "data file version 0.1 is not supported");
		lnc_detail(ctx, "File \"%s\".", file->path);
		return LNC_UNSUPPORTED;
	}
	LNC_TRY(
		lnc_dataset_locate(ctx, arena, dataset, file->has_base, file->base_id, "data", file->path, &store, &key));
	LNC_TRY(lnc_file_open(ctx, arena, store, key, file->size, &opened));
	facts.file_minor = lnc_file_minor(opened);
	for (uint32_t i = 0; i < lnc_file_ncolumns(opened); i++)
	{
		facts.column = i;
		facts.field_id = field_of_column(file, i);
		LNC_TRY(inspect_column(ctx, scratch, opened, &facts, fn, arg));
	}
	return LNC_OK;
}

static LncCode
inspect_pages(LncContext *ctx, LncArena *arena, LncArena *scratch, const LncDataset *dataset, int64_t fragment,
			  LncPageFn fn, void *arg)
{
	bool found = fragment < 0;

	for (int32_t i = 0; i < dataset->nfragments; i++)
	{
		const LncFragment *candidate = &dataset->fragments[i];

		if (fragment >= 0 && candidate->id != (uint64_t)fragment)
			continue;
		found = true;
		for (int32_t j = 0; j < candidate->nfiles; j++)
		{
			LNC_TRY(inspect_file(ctx, arena, scratch, dataset, candidate, &candidate->files[j], fn, arg));
			lnc_arena_reset(arena);
		}
	}
	if (!found)
		return lnc_fail(ctx, LNC_NOT_FOUND, "version %" PRIu64 " of the dataset has no fragment %" PRId64,
						dataset->version, fragment);
	return LNC_OK;
}

LncCode
lnc_inspect_pages(LncContext *ctx, const LncDataset *dataset, int64_t fragment, LncPageFn fn, void *arg)
{
	LncArena *arena;
	LncArena *scratch;
	LncCode code;

	LNC_TRY(lnc_arena_create_scratch(ctx, &arena));
	code = lnc_arena_create_scratch(ctx, &scratch);
	if (code == LNC_OK)
	{
		code = inspect_pages(ctx, arena, scratch, dataset, fragment, fn, arg);
		lnc_arena_destroy(scratch);
	}
	lnc_arena_destroy(arena);
	return code;
}
