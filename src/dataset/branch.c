/*
 * branch.c
 *	  Making the first version of a branch.
 */
#include "dataset/branch.h"

#include <inttypes.h>
#include <string.h>

#include "dataset/manifest.h"
#include "dataset/manifest_writer.h"
#include "proto/pack.h"
#include "proto/transaction.pb-c.h"
#include "proto/unpack.h"

#define FLAG_BASE_PATHS (UINT64_C(1) << 4)
#define FLAG_NO_TRANSACTION_FILE (UINT64_C(1) << 5)

static LncCode
check_source(LncContext *ctx, const Lance__Table__Manifest *manifest, const LncBranchStart *start)
{
	LNC_TRY(lnc_manifest_check_writer_flags(ctx, manifest->reader_feature_flags, manifest->writer_feature_flags));
	if (manifest->version != start->source_version)
		return lnc_fail(ctx, LNC_CORRUPT, "manifest says version %" PRIu64 " where its name says %" PRIu64,
						manifest->version, start->source_version);
	if (manifest->fragment_tree_presence_case != 0)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "fragment trees are not supported");
	if (manifest->data_format == NULL || manifest->data_format->version[0] != '2')
		return lnc_fail(ctx, LNC_UNSUPPORTED, "branches of datasets in the first file format are not supported");
	for (size_t i = 0; i < manifest->n_fragments; i++)
	{
		const Lance__Table__DataFragment *fragment = manifest->fragments[i];

		LNC_TRY(lnc_check_interrupt(ctx));
		if (fragment->n_overlays > 0)
			return lnc_fail(ctx, LNC_UNSUPPORTED, "data overlay files are not supported");
		if (fragment->external_row_ids_presence_case != 0 || fragment->external_updated_presence_case != 0 ||
			fragment->external_created_presence_case != 0)
			return lnc_fail(ctx, LNC_UNSUPPORTED,
							"row id or version sequences in external files are not supported");
	}
	return LNC_OK;
}

/* More than anybody has; the search below takes their square. */
#define MAX_BASE_PATHS 10000

/* The lowest number that no base path has. */
static LncCode
unused_base(LncContext *ctx, const Lance__Table__Manifest *manifest, uint32_t *out)
{
	if (manifest->n_base_paths > MAX_BASE_PATHS)
		return lnc_fail(ctx, LNC_LIMIT, "manifest lists %zu base paths", manifest->n_base_paths);
	for (uint32_t id = 0;; id++)
	{
		bool used = false;

		LNC_TRY(lnc_check_interrupt(ctx));
		for (size_t i = 0; i < manifest->n_base_paths && !used; i++)
			used = manifest->base_paths[i]->id == id;
		if (!used)
		{
			*out = id;
			return LNC_OK;
		}
	}
}

/* Have what lies in the source looked for there. */
static void
move_files(Lance__Table__Manifest *manifest, uint32_t base)
{
	for (size_t i = 0; i < manifest->n_fragments; i++)
	{
		Lance__Table__DataFragment *fragment = manifest->fragments[i];
		Lance__Table__DeletionFile *deletion = fragment->deletion_file;

		for (size_t j = 0; j < fragment->n_files; j++)
		{
			Lance__Table__DataFile *file = fragment->files[j];

			if (file->base_presence_case == 0)
			{
				file->base_presence_case = LANCE__TABLE__DATA_FILE__BASE_PRESENCE_BASE_ID;
				file->base_id = base;
			}
		}
		if (deletion != NULL && deletion->base_presence_case == 0)
		{
			deletion->base_presence_case = LANCE__TABLE__DELETION_FILE__BASE_PRESENCE_BASE_ID;
			deletion->base_id = base;
		}
	}
}

static LncCode
move_indices(LncContext *ctx, LncArena *arena, LncStore *store, const LncBranchStart *start,
			 const Lance__Table__Manifest *manifest, uint32_t base, LncSlice *out)
{
	Lance__Table__IndexSection *section;
	ProtobufCMessage *message;
	LncSlice bytes;

	if (start->source_file != NULL)
		LNC_TRY(lnc_manifest_section(ctx, start->source_key, *start->source_file, manifest->index_section, &bytes));
	else
		LNC_TRY(lnc_manifest_read_section(ctx, arena, store, start->source_key, manifest->index_section, &bytes));
	LNC_TRY(
		lnc_proto_unpack(ctx, arena, &lance__table__index_section__descriptor, bytes, "list of indices", &message));
	section = (Lance__Table__IndexSection *)message;
	for (size_t i = 0; i < section->n_indices; i++)
	{
		Lance__Table__IndexMetadata *index = section->indices[i];

		if (index->base_presence_case == 0)
		{
			index->base_presence_case = LANCE__TABLE__INDEX_METADATA__BASE_PRESENCE_BASE_ID;
			index->base_id = base;
		}
	}
	return lnc_proto_pack(ctx, arena, &section->base, "list of indices", out);
}

static LncCode
add_base(LncContext *ctx, LncArena *arena, Lance__Table__Manifest *manifest, const LncBranchStart *start,
		 const char *source, uint32_t id)
{
	Lance__Table__BasePath **paths;
	Lance__Table__BasePath *base;

	LNC_TRY(LNC_NEW(ctx, arena, &paths, manifest->n_base_paths + 1));
	LNC_TRY(LNC_NEW(ctx, arena, &base, 1));
	if (manifest->n_base_paths > 0)
		memcpy(paths, manifest->base_paths, manifest->n_base_paths * sizeof(*paths));
	lance__table__base_path__init(base);
	base->id = id;
	if (start->source_branch != NULL)
	{
		base->name_presence_case = LANCE__TABLE__BASE_PATH__NAME_PRESENCE_NAME;
		base->name = (char *)(uintptr_t)start->source_branch;
	}
	base->is_dataset_root = true;
	base->path = (char *)(uintptr_t)source;
	paths[manifest->n_base_paths++] = base;
	manifest->base_paths = paths;
	return LNC_OK;
}

static LncCode
make_transaction(LncContext *ctx, LncArena *arena, const LncBranchStart *start, const char *source, LncSlice *out)
{
	Lance__Table__Transaction transaction;
	Lance__Table__Transaction__Clone clone;

	lance__table__transaction__init(&transaction);
	lance__table__transaction__clone__init(&clone);
	transaction.read_version = start->source_version;
	transaction.uuid = (char *)(uintptr_t)start->uuid;
	transaction.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_CLONE;
	transaction.clone = &clone;
	clone.is_shallow = true;
	if (start->source_branch != NULL)
	{
		clone.ref_name_presence_case = LANCE__TABLE__TRANSACTION__CLONE__REF_NAME_PRESENCE_REF_NAME;
		clone.ref_name = (char *)(uintptr_t)start->source_branch;
	}
	clone.ref_version = start->source_version;
	clone.ref_path = (char *)(uintptr_t)source;
	clone.branch_name_presence_case = LANCE__TABLE__TRANSACTION__CLONE__BRANCH_NAME_PRESENCE_BRANCH_NAME;
	clone.branch_name = (char *)(uintptr_t)start->branch;
	return lnc_proto_pack(ctx, arena, &transaction.base, "transaction", out);
}

static LncCode
make_manifest(LncContext *ctx, LncArena *arena, LncStore *store, const LncBranchStart *start, const char *source,
			  const char *transaction_file, LncSlice *out)
{
	Lance__Table__Manifest *manifest;
	Lance__Table__Timestamp timestamp;
	LncSlice indices;
	bool has_indices;
	uint32_t base;

	if (start->source_file != NULL)
		LNC_TRY(lnc_manifest_parse(ctx, arena, start->source_key, *start->source_file, &manifest));
	else
		LNC_TRY(lnc_manifest_read(ctx, arena, store, start->source_key, &manifest));
	LNC_TRY(check_source(ctx, manifest, start));
	LNC_TRY(unused_base(ctx, manifest, &base));
	has_indices = manifest->index_section_presence_case != 0;
	if (has_indices)
		LNC_TRY(move_indices(ctx, arena, store, start, manifest, base, &indices));
	move_files(manifest, base);
	LNC_TRY(add_base(ctx, arena, manifest, start, source, base));
	manifest->reader_feature_flags = (manifest->reader_feature_flags & ~FLAG_NO_TRANSACTION_FILE) | FLAG_BASE_PATHS;
	manifest->writer_feature_flags = (manifest->writer_feature_flags & ~FLAG_NO_TRANSACTION_FILE) | FLAG_BASE_PATHS;
	lance__table__timestamp__init(&timestamp);
	timestamp.seconds = start->unix_ns / 1000000000;
	timestamp.nanos = (int32_t)(start->unix_ns % 1000000000);
	manifest->timestamp = &timestamp;
	manifest->transaction_file = (char *)(uintptr_t)transaction_file;
	manifest->branch_presence_case = LANCE__TABLE__MANIFEST__BRANCH_PRESENCE_BRANCH;
	manifest->branch = (char *)(uintptr_t)start->branch;
	return lnc_manifest_encode(ctx, arena, manifest, has_indices ? &indices : NULL, NULL, out);
}

LncCode
lnc_branch_first_version(LncContext *ctx, LncArena *arena, LncStore *store, const LncBranchStart *start,
						 LncFirstVersion *out)
{
	char *source;
	char *transaction_file;
	char *key;
	LncCode code;

	LNC_TRY(lnc_arena_printf(ctx, arena, &source, "%s%s%s", start->root,
							 start->source_branch != NULL ? "/tree/" : "",
							 start->source_branch != NULL ? start->source_branch : ""));
	LNC_TRY(
		lnc_arena_printf(ctx, arena, &transaction_file, "%" PRIu64 "-%s.txn", start->source_version, start->uuid));
	LNC_TRY(lnc_arena_printf(ctx, arena, &key, "tree/%s/_transactions/%s", start->branch, transaction_file));
	out->transaction_key = key;
	LNC_TRY(make_transaction(ctx, arena, start, source, &out->transaction));
	code = make_manifest(ctx, arena, store, start, source, transaction_file, &out->manifest);
	if (code != LNC_OK && code != LNC_CANCELLED)
		lnc_detail(ctx, "Manifest \"%s\" of \"%s\".", start->source_key, lnc_store_uri(store));
	return code;
}
