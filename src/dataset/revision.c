/*
 * revision.c
 *	  Beginning and finishing a revision: what every new version has in common, and restoring.
 */
#include "dataset/revision.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dataset/manifest.h"
#include "dataset/manifest_writer.h"
#include "dataset/revision_internal.h"
#include "dataset/versions.h"
#include "proto/pack.h"
#include "proto/unpack.h"

/* Larger transactions stand in their own file only. */
#define LARGEST_INLINE_TRANSACTION ((size_t)20 * 1024 * 1024)

#define FLAG(bit) (UINT64_C(1) << (bit))
#define FLAG_DELETION_FILES FLAG(0)
#define FLAG_STABLE_ROW_IDS FLAG(1)
#define FLAG_TABLE_CONFIG FLAG(3)
#define FLAG_BASE_PATHS FLAG(4)
#define FLAG_COVERED_INDEX FLAG(7)
#define FLAG_MIXED_VERSIONS FLAG(8)
#define FLAG_FIELD_IDS_ONCE FLAG(15)

#define HAS_MAX_FRAGMENT_ID LANCE__TABLE__MANIFEST__MAX_FRAGMENT_ID_PRESENCE_MAX_FRAGMENT_ID
#define HAS_MAX_FIELD_ID LANCE__TABLE__MANIFEST__MAX_ALLOCATED_FIELD_ID_PRESENCE_MAX_ALLOCATED_FIELD_ID

/* ---- beginning */

/* A list of indices, if the manifest at key has one. file: its bytes, or NULL to read them. */
static LncCode
read_indices(LncContext *ctx, LncArena *arena, LncStore *store, const char *key, const LncSlice *file,
			 const Lance__Table__Manifest *manifest, LncIndexSection *out)
{
	ProtobufCMessage *message;

	memset(out, 0, sizeof(*out));
	if (manifest->index_section_presence_case == 0)
		return LNC_OK;
	if (file != NULL)
		LNC_TRY(lnc_manifest_section(ctx, key, *file, manifest->index_section, &out->bytes));
	else
		LNC_TRY(lnc_manifest_read_section(ctx, arena, store, key, manifest->index_section, &out->bytes));
	LNC_TRY(lnc_proto_unpack(ctx, arena, &lance__table__index_section__descriptor, out->bytes, "list of indices",
							 &message));
	out->message = (Lance__Table__IndexSection *)message;
	out->present = true;
	return LNC_OK;
}

/* May a next version be made from this one? */
static LncCode
check_writable(LncContext *ctx, const Lance__Table__Manifest *manifest)
{
	bool once = (manifest->writer_feature_flags & FLAG_FIELD_IDS_ONCE) != 0;

	LNC_TRY(lnc_manifest_check_flags(ctx, manifest->reader_feature_flags));
	LNC_TRY(lnc_manifest_check_writer_flags(ctx, manifest->reader_feature_flags, manifest->writer_feature_flags));
	if (manifest->fragment_tree_presence_case != 0)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "fragment trees are not supported");

	/* Tables of the first format keep dictionary values in the manifest's file. */
	if (manifest->data_format == NULL || strcmp(manifest->data_format->version, "0.1") == 0 ||
		strcmp(manifest->data_format->version, "legacy") == 0)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "changing a table of data format 0.1 is not supported");
	if (once != (manifest->max_allocated_field_id_presence_case == HAS_MAX_FIELD_ID))
		return lnc_fail(ctx, LNC_CORRUPT, "writer feature flag 15 and the highest field id do not agree");
	return LNC_OK;
}

static LncCode
read_writable(LncContext *ctx, LncArena *arena, LncStore *store, const char *key, const LncSlice *file,
			  Lance__Table__Manifest **manifest, LncSchema *schema, LncIndexSection *indices)
{
	const char *name = strrchr(key, '/');
	uint64_t version;
	LncNaming naming;
	LncCode code;

	if (name == NULL || !lnc_versions_parse_name(name + 1, &version, &naming))
		return lnc_fail(ctx, LNC_INVALID, "\"%s\" is not the name of a manifest", key);
	if (file != NULL)
		LNC_TRY(lnc_manifest_parse(ctx, arena, key, *file, manifest));
	else
		LNC_TRY(lnc_manifest_read(ctx, arena, store, key, manifest));
	code = check_writable(ctx, *manifest);
	if (code == LNC_OK && (*manifest)->version != version)
		code = lnc_fail(ctx, LNC_CORRUPT, "manifest says version %" PRIu64 " where its name says %" PRIu64,
						(*manifest)->version, version);
	if (code == LNC_OK)
		code = lnc_schema_build(ctx, arena, (*manifest)->n_fields, (*manifest)->fields, schema);
	if (code == LNC_OK)
		code = read_indices(ctx, arena, store, key, file, *manifest, indices);
	if (code != LNC_OK && code != LNC_CANCELLED)
		lnc_detail(ctx, "Manifest \"%s\" of \"%s\".", key, lnc_store_uri(store));
	return code;
}

LncCode
lnc_revision_begin(LncContext *ctx, LncArena *arena, LncStore *store, const char *key, const LncSlice *file,
				   LncRevision **out)
{
	static const char folder[] = "_versions/";
	const char *name = strrchr(key, '/');
	size_t length = name != NULL ? (size_t)(name + 1 - key) : 0;
	LncRevision *revision;
	Lance__Table__Manifest *base;
	char *prefix;

	if (length < sizeof(folder) - 1 || memcmp(key + length - (sizeof(folder) - 1), folder, sizeof(folder) - 1) != 0)
		return lnc_fail(ctx, LNC_INVALID, "\"%s\" is not the name of a manifest", key);
	LNC_TRY(LNC_NEW(ctx, arena, &revision, 1));
	LNC_TRY(lnc_arena_strndup(ctx, arena, key, length - (sizeof(folder) - 1), &prefix));
	revision->arena = arena;
	revision->store = store;
	revision->prefix = prefix;
	LNC_TRY(read_writable(ctx, arena, store, key, file, &base, &revision->schema, &revision->indices));
	revision->base = base;
	LNC_TRY(LNC_NEW(ctx, arena, &revision->manifest, 1));
	*revision->manifest = *base;
	lance__table__transaction__init(&revision->transaction);
	*out = revision;
	return LNC_OK;
}

const LncSchema *
lnc_revision_schema(const LncRevision *revision)
{
	return &revision->schema;
}

LncCode
lnc_revision_field(LncContext *ctx, const LncRevision *revision, int32_t id, Lance__File__Field **out)
{
	const Lance__Table__Manifest *manifest = revision->manifest;

	for (size_t i = 0; i < manifest->n_fields; i++)
	{
		if (manifest->fields[i]->id == id)
		{
			*out = manifest->fields[i];
			return LNC_OK;
		}
	}
	return lnc_fail(ctx, LNC_CORRUPT, "schema has no field %d", (int)id);
}

LncCode
lnc_revision_check_indices(LncContext *ctx, const LncRevision *revision)
{
	const Lance__Table__IndexSection *section = revision->indices.message;

	for (size_t i = 0; section != NULL && i < section->n_indices; i++)
	{
		if (strcmp(section->indices[i]->name, "__lance_mem_wal") == 0)
			return lnc_fail(ctx, LNC_UNSUPPORTED,
							"changing the columns of a table with a write-ahead index is not supported");
	}
	return LNC_OK;
}

/* ---- restoring */

static uint32_t
max_fragment_id(const Lance__Table__Manifest *manifest)
{
	return manifest->max_fragment_id_presence_case == HAS_MAX_FRAGMENT_ID ? manifest->max_fragment_id : 0;
}

LncCode
lnc_revision_restore(LncContext *ctx, LncRevision *revision, const char *key, const LncSlice *file)
{
	const Lance__Table__Manifest *base = revision->base;
	Lance__Table__Transaction__Restore *restore;
	Lance__Table__Manifest *old;
	LncSchema schema;

	LNC_TRY(read_writable(ctx, revision->arena, revision->store, key, file, &old, &schema, &revision->indices));
	LNC_TRY(LNC_NEW(ctx, revision->arena, &restore, 1));
	lance__table__transaction__restore__init(restore);
	restore->version = old->version;

	/* Ids of fragments, rows and fields are never given out twice. */
	if (base->max_fragment_id_presence_case == HAS_MAX_FRAGMENT_ID &&
		(old->max_fragment_id_presence_case == 0 || old->max_fragment_id < base->max_fragment_id))
	{
		old->max_fragment_id_presence_case = HAS_MAX_FRAGMENT_ID;
		old->max_fragment_id = base->max_fragment_id;
	}
	if (old->next_row_id < base->next_row_id)
		old->next_row_id = base->next_row_id;
	if ((base->reader_feature_flags & FLAG_STABLE_ROW_IDS) != 0 &&
		(old->reader_feature_flags & FLAG_STABLE_ROW_IDS) == 0)
	{
		lnc_fail(ctx, LNC_INVALID, "version %" PRIu64 " can't be restored", old->version);
		lnc_detail(ctx, "The table has got stable row ids since, and must keep them.");
		return LNC_INVALID;
	}
	if (base->max_allocated_field_id_presence_case == HAS_MAX_FIELD_ID)
	{
		if (old->max_allocated_field_id_presence_case != HAS_MAX_FIELD_ID)
		{
			lnc_fail(ctx, LNC_INVALID, "version %" PRIu64 " can't be restored", old->version);
			lnc_detail(ctx, "Since then the table keeps record of its field ids, so that none is used again.");
			return LNC_INVALID;
		}
		if (old->max_allocated_field_id < base->max_allocated_field_id)
			old->max_allocated_field_id = base->max_allocated_field_id;
	}
	old->reader_feature_flags |= base->reader_feature_flags & FLAG_MIXED_VERSIONS;
	revision->manifest = old;
	revision->transaction.operation_case = LANCE__TABLE__TRANSACTION__OPERATION_RESTORE;
	revision->transaction.restore = restore;
	revision->operation = "Restore";
	return LNC_OK;
}

/* ---- finishing */

/* The flags that the content asks for, and those that once set are kept. */
static LncCode
set_flags(LncContext *ctx, LncRevision *revision)
{
	Lance__Table__Manifest *manifest = revision->manifest;
	const Lance__Table__IndexSection *section = revision->indices.message;
	uint64_t both = (manifest->reader_feature_flags | manifest->writer_feature_flags) & FLAG_MIXED_VERSIONS;
	size_t with_row_ids = 0;

	for (size_t i = 0; i < manifest->n_fragments; i++)
	{
		if (manifest->fragments[i]->deletion_file != NULL)
			both |= FLAG_DELETION_FILES;
		if (manifest->fragments[i]->row_id_sequence_case != 0 ||
			manifest->fragments[i]->external_row_ids_presence_case != 0)
			with_row_ids++;
	}
	if (with_row_ids > 0 || (manifest->reader_feature_flags & FLAG_STABLE_ROW_IDS) != 0)
	{
		if (with_row_ids != manifest->n_fragments)
			return lnc_fail(ctx, LNC_CORRUPT, "some fragments have row ids and some have none");
		both |= FLAG_STABLE_ROW_IDS;
	}
	if (manifest->n_base_paths > 0)
		both |= FLAG_BASE_PATHS;
	for (size_t i = 0; section != NULL && i < section->n_indices; i++)
	{
		if (section->indices[i]->n_covering_fields > 0)
			both |= FLAG_COVERED_INDEX;
	}
	manifest->reader_feature_flags = both;
	manifest->writer_feature_flags = both;
	if (manifest->n_config > 0)
		manifest->writer_feature_flags |= FLAG_TABLE_CONFIG;
	if (manifest->max_allocated_field_id_presence_case == HAS_MAX_FIELD_ID)
		manifest->writer_feature_flags |= FLAG_FIELD_IDS_ONCE;
	return LNC_OK;
}

/* The marks of what was ever given out, where the content is ahead of them. */
static LncCode
raise_marks(LncContext *ctx, Lance__Table__Manifest *manifest)
{
	for (size_t i = 0; i < manifest->n_fragments; i++)
	{
		const Lance__Table__DataFragment *fragment = manifest->fragments[i];

		if (fragment->id > UINT32_MAX)
			return lnc_fail(ctx, LNC_CORRUPT, "fragment id is too large");
		if (manifest->max_fragment_id_presence_case == 0 || fragment->id > max_fragment_id(manifest))
		{
			manifest->max_fragment_id_presence_case = HAS_MAX_FRAGMENT_ID;
			manifest->max_fragment_id = (uint32_t)fragment->id;
		}
		for (size_t f = 0; manifest->max_allocated_field_id_presence_case != 0 && f < fragment->n_files; f++)
		{
			for (size_t k = 0; k < fragment->files[f]->n_fields; k++)
			{
				if (fragment->files[f]->fields[k] > manifest->max_allocated_field_id)
					manifest->max_allocated_field_id = fragment->files[f]->fields[k];
			}
		}
	}
	for (size_t i = 0; manifest->max_allocated_field_id_presence_case != 0 && i < manifest->n_fields; i++)
	{
		if (manifest->fields[i]->id > manifest->max_allocated_field_id)
			manifest->max_allocated_field_id = manifest->fields[i]->id;
	}
	return LNC_OK;
}

/*
 * Does the writer that the manifest names leave work to the next writer of its kind? Versions of Lance before 0.8.15
 * counted wrongly, and the mark tells later ones to count again.
 */
static bool
leaves_repair(const Lance__Table__Manifest__WriterVersion *writer)
{
	unsigned major;
	unsigned minor;
	unsigned patch;

	if (writer == NULL)
		return true;
	if (strcmp(writer->library, "lance") != 0)
		return false;
	if (sscanf(writer->version, "%u.%u.%u", &major, &minor, &patch) != 3)
		return true;
	return major == 0 && (minor < 8 || (minor == 8 && patch < 15));
}

static LncCode
stamp_manifest(LncContext *ctx, LncRevision *revision, const LncRevisionStamp *stamp, const char *transaction_file)
{
	Lance__Table__Manifest *manifest = revision->manifest;
	Lance__Table__Manifest__WriterVersion *writer;
	Lance__Table__Timestamp *timestamp;

	LNC_TRY(LNC_NEW(ctx, revision->arena, &timestamp, 1));
	lance__table__timestamp__init(timestamp);
	timestamp->seconds = stamp->now_us / 1000000;
	timestamp->nanos = (int32_t)(stamp->now_us % 1000000) * 1000;
	manifest->timestamp = timestamp;

	/* A restored version keeps the writer that its content is from. */
	if (revision->transaction.operation_case != LANCE__TABLE__TRANSACTION__OPERATION_RESTORE &&
		!leaves_repair(manifest->writer_version))
	{
		LNC_TRY(LNC_NEW(ctx, revision->arena, &writer, 1));
		lance__table__manifest__writer_version__init(writer);
		writer->library = (char *)stamp->writer_library;
		writer->version = (char *)stamp->writer_version;
		manifest->writer_version = writer;
	}
	manifest->version = revision->base->version + 1;
	manifest->tag = (char *)"";
	manifest->version_aux_data = 0;
	manifest->transaction_file = (char *)transaction_file;
	return LNC_OK;
}

LncCode
lnc_revision_finish(LncContext *ctx, LncRevision *revision, const LncRevisionStamp *stamp, LncRevisionFiles *out)
{
	LncArena *arena = revision->arena;
	Lance__Table__Transaction *transaction = &revision->transaction;
	char *file;
	char *key;

	if (lnc_add_overflow(revision->base->version, UINT64_C(1), &out->version) || out->version >> 63 != 0)
		return lnc_fail(ctx, LNC_LIMIT, "the table has too many versions");
	out->read_version = revision->base->version;
	out->operation = revision->operation;
	transaction->read_version = revision->base->version;
	transaction->uuid = (char *)stamp->transaction_id;
	LNC_TRY(lnc_arena_printf(ctx, arena, &file, "%" PRIu64 "-%s.txn", out->read_version, stamp->transaction_id));
	LNC_TRY(lnc_arena_printf(ctx, arena, &key, "%s_transactions/%s", revision->prefix, file));
	out->transaction_key = key;
	LNC_TRY(lnc_proto_pack(ctx, arena, &transaction->base, "transaction", &out->transaction));
	LNC_TRY(set_flags(ctx, revision));
	LNC_TRY(raise_marks(ctx, revision->manifest));
	LNC_TRY(stamp_manifest(ctx, revision, stamp, file));
	return lnc_manifest_encode(
		ctx, arena, revision->manifest, revision->indices.present ? &revision->indices.bytes : NULL,
		out->transaction.size <= LARGEST_INLINE_TRANSACTION ? &out->transaction : NULL, &out->manifest);
}
