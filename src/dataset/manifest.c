/*
 * manifest.c
 *	  Reading the manifest file and copying its message into an LncDataset.
 */
#include "dataset/manifest.h"

#include <inttypes.h>
#include <string.h>

#include "proto/unpack.h"

#define TAIL_SIZE 16
#define FIRST_READ (UINT64_C(64) * 1024)
#define LARGEST_MANIFEST (UINT64_C(1) << 30)

/* Offsets of rows inside a fragment are 32 bits wide, and so are fragment ids. */
#define MAX_FRAGMENT_ROWS (UINT64_C(1) << 32)

static LncCode
damaged(LncContext *ctx, const char *key, const char *why)
{
	lnc_fail(ctx, LNC_CORRUPT, "manifest is damaged: %s", why);
	lnc_detail(ctx, "File \"%s\".", key);
	return LNC_CORRUPT;
}

/* The tail of a manifest's file: where its message is. size is that of the file. */
static LncCode
read_tail(LncContext *ctx, const char *key, LncSlice tail, uint64_t size, uint64_t *position)
{
	const uint8_t *end = tail.data + tail.size;

	if (tail.size < TAIL_SIZE + 4)
		return damaged(ctx, key, "the file is too short");
	if (memcmp(end - 4, "LANC", 4) != 0)
		return damaged(ctx, key, "the magic bytes at its end are missing");
	if (lnc_le16(end - 8) != 0 || lnc_le16(end - 6) < 1 || lnc_le16(end - 6) > 2)
	{
		lnc_fail(ctx, LNC_UNSUPPORTED, "manifest version %u.%u is not supported", lnc_le16(end - 8),
				 lnc_le16(end - 6));
		lnc_detail(ctx, "File \"%s\".", key);
		return LNC_UNSUPPORTED;
	}
	*position = lnc_le64(end - TAIL_SIZE);
	if (!lnc_range_ok(*position, 4, size - TAIL_SIZE))
		return damaged(ctx, key, "the position of its message lies outside the file");
	if (size - *position > LARGEST_MANIFEST)
	{
		lnc_fail(ctx, LNC_LIMIT, "manifest of %" PRIu64 " bytes is too large", size - *position);
		lnc_detail(ctx, "File \"%s\".", key);
		return LNC_LIMIT;
	}
	return LNC_OK;
}

/* bytes: what lies between the position and the tail. */
static LncCode
unpack_manifest(LncContext *ctx, LncArena *arena, const char *key, LncSlice bytes, Lance__Table__Manifest **out)
{
	ProtobufCMessage *message;
	LncSlice body = {.data = bytes.data + 4, .size = bytes.size - 4};
	LncCode code;

	if (body.size != lnc_le32(bytes.data))
		return damaged(ctx, key, "the length of its message does not fit the file");
	code = lnc_proto_unpack(ctx, arena, &lance__table__manifest__descriptor, body, "manifest", &message);
	if (code != LNC_OK)
	{
		lnc_detail(ctx, "File \"%s\".", key);
		return code;
	}
	*out = (Lance__Table__Manifest *)message;
	return LNC_OK;
}

/* The end of the file from its message on, or from before that; *position: of the message. */
static LncCode
read_end(LncContext *ctx, LncArena *arena, LncStore *store, const char *key, const LncIdentity *identity,
		 LncSlice *end, uint64_t *size, uint64_t *position)
{
	LncSlice kept;

	LNC_TRY(lnc_store_read_tail(ctx, store, arena, key, FIRST_READ, end, size));
	LNC_TRY(read_tail(ctx, key, *end, *size, position));
	if (*position < *size - end->size)
	{
		LncRange range = {.offset = *position, .length = *size - *position};

		LNC_TRY(lnc_store_read_ranges(ctx, store, arena, key, 1, &range, &end->data));
		end->size = (size_t)range.length;
	}
	kept.size = (size_t)(*size - *position);
	kept.data = end->data + (end->size - kept.size);
	return *size == identity->size ? lnc_store_remember(ctx, store, identity, LNC_AT_END, kept) : LNC_OK;
}

LncCode
lnc_manifest_read_known(LncContext *ctx, LncArena *arena, LncStore *store, const char *key,
						const LncIdentity *identity, Lance__Table__Manifest **out)
{
	LncSlice end;
	LncSlice bytes;
	uint64_t size = identity->size;
	uint64_t position;

	LNC_TRY(lnc_store_recall(ctx, store, arena, identity, LNC_AT_END, &end));
	if (end.data != NULL)
		LNC_TRY(read_tail(ctx, key, end, size, &position));
	if (end.data == NULL || position < size - end.size)
		LNC_TRY(read_end(ctx, arena, store, key, identity, &end, &size, &position));
	bytes.size = (size_t)(size - TAIL_SIZE - position);
	bytes.data = end.data + (end.size - TAIL_SIZE - bytes.size);
	return unpack_manifest(ctx, arena, key, bytes, out);
}

LncCode
lnc_manifest_read(LncContext *ctx, LncArena *arena, LncStore *store, const char *key, Lance__Table__Manifest **out)
{
	static const LncIdentity unknown;

	return lnc_manifest_read_known(ctx, arena, store, key, &unknown, out);
}

LncCode
lnc_manifest_parse(LncContext *ctx, LncArena *arena, const char *key, LncSlice file, Lance__Table__Manifest **out)
{
	LncSlice bytes;
	uint64_t position;

	LNC_TRY(read_tail(ctx, key, file, file.size, &position));
	bytes.data = file.data + position;
	bytes.size = (size_t)(file.size - TAIL_SIZE - position);
	return unpack_manifest(ctx, arena, key, bytes, out);
}

LncCode
lnc_manifest_section(LncContext *ctx, const char *key, LncSlice file, uint64_t position, LncSlice *out)
{
	if (!lnc_range_ok(position, 4, file.size))
		return damaged(ctx, key, "the position of a section lies outside the file");
	out->data = file.data + position + 4;
	out->size = lnc_le32(file.data + position);
	if (!lnc_range_ok(position + 4, out->size, file.size))
		return damaged(ctx, key, "a section reaches past the end of the file");
	return LNC_OK;
}

LncCode
lnc_manifest_read_section(LncContext *ctx, LncArena *arena, LncStore *store, const char *key, uint64_t position,
						  LncSlice *out)
{
	LncRange range = {.offset = position};
	const uint8_t *bytes;
	uint64_t size;
	uint64_t length;

	LNC_TRY(lnc_store_size(ctx, store, key, &size));
	if (!lnc_range_ok(position, 4, size))
		return damaged(ctx, key, "the position of a section lies outside the file");
	range.length = size - position < FIRST_READ ? size - position : FIRST_READ;
	LNC_TRY(lnc_store_read_ranges(ctx, store, arena, key, 1, &range, &bytes));
	length = lnc_le32(bytes);
	if (!lnc_range_ok(position + 4, length, size))
		return damaged(ctx, key, "a section reaches past the end of the file");
	if (length > LARGEST_MANIFEST)
	{
		lnc_fail(ctx, LNC_LIMIT, "section of %" PRIu64 " bytes is too large", length);
		lnc_detail(ctx, "File \"%s\".", key);
		return LNC_LIMIT;
	}
	if (length > range.length - 4)
	{
		range.length = length + 4;
		LNC_TRY(lnc_store_read_ranges(ctx, store, arena, key, 1, &range, &bytes));
	}
	*out = (LncSlice){.data = bytes + 4, .size = (size_t)length};
	return LNC_OK;
}

static LncCode
copy_text(LncContext *ctx, LncArena *arena, const char *text, const char **out)
{
	char *copy;

	LNC_TRY(lnc_arena_strndup(ctx, arena, text, strlen(text), &copy));
	*out = copy;
	return LNC_OK;
}

static LncCode
copy_entry(LncContext *ctx, LncArena *arena, const char *key, const void *value, size_t length, LncKeyValue *out)
{
	char *copy;

	LNC_TRY(copy_text(ctx, arena, key, &out->key));
	LNC_TRY(lnc_arena_strndup(ctx, arena, value, length, &copy));
	out->value.data = (const uint8_t *)copy;
	out->value.size = length;
	return LNC_OK;
}

static LncCode
copy_ids(LncContext *ctx, LncArena *arena, size_t n, const int32_t *ids, const int32_t **out)
{
	int32_t *copy;

	LNC_TRY(LNC_NEW(ctx, arena, &copy, n));
	if (n > 0)
		memcpy(copy, ids, n * sizeof(*copy));
	*out = copy;
	return LNC_OK;
}

static LncCode
convert_file(LncContext *ctx, LncArena *arena, const Lance__Table__DataFile *message, LncDataFile *file)
{
	LNC_TRY(copy_text(ctx, arena, message->path, &file->path));
	if (message->n_fields > INT32_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "data file \"%s\" lists %zu fields", file->path, message->n_fields);
	file->nfields = (int32_t)message->n_fields;
	LNC_TRY(copy_ids(ctx, arena, message->n_fields, message->fields, &file->field_ids));
	file->major = message->file_major_version;
	file->minor = message->file_minor_version;
	file->size = message->file_size_bytes;
	file->has_base = message->base_presence_case == LANCE__TABLE__DATA_FILE__BASE_PRESENCE_BASE_ID;
	file->base_id = file->has_base ? message->base_id : 0;

	/* Files of version 0.1 number their columns by field and list none. */
	if (message->n_column_indices == 0 && file->major == 0 && file->minor < 3)
		return LNC_OK;
	if (message->n_column_indices != message->n_fields)
		return lnc_fail(ctx, LNC_CORRUPT, "data file \"%s\" lists %zu fields but %zu columns", file->path,
						message->n_fields, message->n_column_indices);
	return copy_ids(ctx, arena, message->n_fields, message->column_indices, &file->columns);
}

static LncCode
convert_deletion(LncContext *ctx, const Lance__Table__DeletionFile *message, LncFragment *fragment)
{
	switch (message->file_type)
	{
		case 0:
			fragment->deletion_kind = LNC_DELETION_ARROW;
			break;
		case 1:
			fragment->deletion_kind = LNC_DELETION_BITMAP;
			break;
		default:
			return lnc_fail(ctx, LNC_UNSUPPORTED, "deletion file type %d is not supported",
							(int)message->file_type);
	}
	fragment->deletion_read_version = message->read_version;
	fragment->deletion_id = message->id;
	fragment->deleted_rows = message->num_deleted_rows;
	fragment->deletion_has_base = message->base_presence_case == LANCE__TABLE__DELETION_FILE__BASE_PRESENCE_BASE_ID;
	fragment->deletion_base_id = fragment->deletion_has_base ? message->base_id : 0;
	if (fragment->deleted_rows > fragment->physical_rows)
		return lnc_fail(ctx, LNC_CORRUPT, "%" PRIu64 " of %" PRIu64 " rows are said to be deleted",
						fragment->deleted_rows, fragment->physical_rows);
	return LNC_OK;
}

/* Bytes that are there, though they may be none, keep a pointer. */
static LncCode
copy_sequence(LncContext *ctx, LncArena *arena, bool present, const ProtobufCBinaryData *bytes, LncSlice *out)
{
	void *copy;

	if (!present)
		return LNC_OK;
	LNC_TRY(lnc_arena_alloc(ctx, arena, bytes->len, &copy));
	if (bytes->len > 0)
		memcpy(copy, bytes->data, bytes->len);
	out->data = copy;
	out->size = bytes->len;
	return LNC_OK;
}

#define FRAGMENT_HAS(oneof_, arm_) (message->oneof_##_case == LANCE__TABLE__DATA_FRAGMENT__##arm_)

static LncCode
copy_sequences(LncContext *ctx, LncArena *arena, const Lance__Table__DataFragment *message, LncFragment *fragment)
{
	fragment->row_ids_in_column = FRAGMENT_HAS(row_id_sequence, ROW_ID_SEQUENCE_COLUMN_ROW_IDS);
	fragment->created_versions_in_column =
		FRAGMENT_HAS(created_at_version_sequence, CREATED_AT_VERSION_SEQUENCE_COLUMN_CREATED_AT_VERSIONS);
	fragment->updated_versions_in_column = FRAGMENT_HAS(
		last_updated_at_version_sequence, LAST_UPDATED_AT_VERSION_SEQUENCE_COLUMN_LAST_UPDATED_AT_VERSIONS);
	LNC_TRY(copy_sequence(ctx, arena, FRAGMENT_HAS(row_id_sequence, ROW_ID_SEQUENCE_INLINE_ROW_IDS),
						  &message->inline_row_ids, &fragment->row_ids));
	LNC_TRY(copy_sequence(
		ctx, arena,
		FRAGMENT_HAS(created_at_version_sequence, CREATED_AT_VERSION_SEQUENCE_INLINE_CREATED_AT_VERSIONS),
		&message->inline_created_at_versions, &fragment->created_versions));
	return copy_sequence(ctx, arena,
						 FRAGMENT_HAS(last_updated_at_version_sequence,
									  LAST_UPDATED_AT_VERSION_SEQUENCE_INLINE_LAST_UPDATED_AT_VERSIONS),
						 &message->inline_last_updated_at_versions, &fragment->updated_versions);
}

#undef FRAGMENT_HAS

static LncCode
convert_fragment(LncContext *ctx, LncArena *arena, const Lance__Table__DataFragment *message, LncFragment *fragment)
{
	LncDataFile *files;

	fragment->id = message->id;
	fragment->physical_rows = message->physical_rows;
	if (fragment->id > UINT32_MAX)
		return lnc_fail(ctx, LNC_CORRUPT, "fragment id is too large");
	if (fragment->physical_rows > MAX_FRAGMENT_ROWS)
		return lnc_fail(ctx, LNC_CORRUPT, "%" PRIu64 " rows are more than a fragment can hold",
						fragment->physical_rows);
	if (message->external_row_ids_presence_case != 0 || message->external_updated_presence_case != 0 ||
		message->external_created_presence_case != 0)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "row id or version sequences in external files are not supported");
	if (message->n_overlays > 0)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "data overlay files are not supported");
	if (message->n_files > INT32_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "%zu data files are too many", message->n_files);

	/* Zero on the wire is also "not stated", as before row counts were kept. */
	if (fragment->physical_rows == 0 && message->n_files > 0)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "fragments that do not state their number of rows are not supported");

	LNC_TRY(LNC_NEW(ctx, arena, &files, message->n_files));
	for (size_t i = 0; i < message->n_files; i++)
		LNC_TRY(convert_file(ctx, arena, message->files[i], &files[i]));
	fragment->nfiles = (int32_t)message->n_files;
	fragment->files = files;
	LNC_TRY(copy_sequences(ctx, arena, message, fragment));
	if (message->deletion_file != NULL)
		LNC_TRY(convert_deletion(ctx, message->deletion_file, fragment));
	return LNC_OK;
}

static LncCode
convert_fragments(LncContext *ctx, LncArena *arena, const Lance__Table__Manifest *manifest, LncDataset *dataset)
{
	LncFragment *fragments;

	if (manifest->n_fragments > INT32_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "manifest lists %zu fragments", manifest->n_fragments);
	LNC_TRY(LNC_NEW(ctx, arena, &fragments, manifest->n_fragments));
	for (size_t i = 0; i < manifest->n_fragments; i++)
	{
		LncCode code = lnc_check_interrupt(ctx);

		if (code == LNC_OK)
			code = convert_fragment(ctx, arena, manifest->fragments[i], &fragments[i]);
		if (code != LNC_OK)
		{
			if (code != LNC_CANCELLED)
				lnc_detail(ctx, "Fragment %" PRIu64 ".", manifest->fragments[i]->id);
			return code;
		}
	}
	dataset->nfragments = (int32_t)manifest->n_fragments;
	dataset->fragments = fragments;
	return LNC_OK;
}

static LncCode
convert_bases(LncContext *ctx, LncArena *arena, const Lance__Table__Manifest *manifest, LncDataset *dataset)
{
	LncBasePath *bases;

	if (manifest->n_base_paths > INT32_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "manifest lists %zu base paths", manifest->n_base_paths);
	LNC_TRY(LNC_NEW(ctx, arena, &bases, manifest->n_base_paths));
	for (size_t i = 0; i < manifest->n_base_paths; i++)
	{
		bases[i].id = manifest->base_paths[i]->id;
		bases[i].is_dataset_root = manifest->base_paths[i]->is_dataset_root;
		LNC_TRY(copy_text(ctx, arena, manifest->base_paths[i]->path, &bases[i].path));
	}
	dataset->nbases = (int32_t)manifest->n_base_paths;
	dataset->bases = bases;
	return LNC_OK;
}

static LncCode
convert_maps(LncContext *ctx, LncArena *arena, const Lance__Table__Manifest *manifest, LncDataset *dataset)
{
	LncKeyValue *entries;

	if (manifest->n_schema_metadata > INT32_MAX || manifest->n_config > INT32_MAX ||
		manifest->n_table_metadata > INT32_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "manifest lists too many metadata entries");

	LNC_TRY(LNC_NEW(ctx, arena, &entries, manifest->n_schema_metadata));
	for (size_t i = 0; i < manifest->n_schema_metadata; i++)
		LNC_TRY(copy_entry(ctx, arena, manifest->schema_metadata[i]->key, manifest->schema_metadata[i]->value.data,
						   manifest->schema_metadata[i]->value.len, &entries[i]));
	dataset->schema.nmetadata = (int32_t)manifest->n_schema_metadata;
	dataset->schema.metadata = entries;

	LNC_TRY(LNC_NEW(ctx, arena, &entries, manifest->n_config));
	for (size_t i = 0; i < manifest->n_config; i++)
		LNC_TRY(copy_entry(ctx, arena, manifest->config[i]->key, manifest->config[i]->value,
						   strlen(manifest->config[i]->value), &entries[i]));
	dataset->nconfig = (int32_t)manifest->n_config;
	dataset->config = entries;

	LNC_TRY(LNC_NEW(ctx, arena, &entries, manifest->n_table_metadata));
	for (size_t i = 0; i < manifest->n_table_metadata; i++)
		LNC_TRY(copy_entry(ctx, arena, manifest->table_metadata[i]->key, manifest->table_metadata[i]->value,
						   strlen(manifest->table_metadata[i]->value), &entries[i]));
	dataset->ntable_metadata = (int32_t)manifest->n_table_metadata;
	dataset->table_metadata = entries;
	return LNC_OK;
}

int64_t
lnc_manifest_timestamp_us(const Lance__Table__Manifest *manifest)
{
	const Lance__Table__Timestamp *timestamp = manifest->timestamp;
	int64_t us;

	if (timestamp == NULL || lnc_mul_overflow(timestamp->seconds, INT64_C(1000000), &us) ||
		lnc_add_overflow(us, (int64_t)(timestamp->nanos / 1000), &us))
		return 0;
	return us;
}

LncCode
lnc_manifest_convert(LncContext *ctx, LncArena *arena, const Lance__Table__Manifest *manifest, LncDataset *dataset)
{
	LNC_TRY(lnc_manifest_check_flags(ctx, manifest->reader_feature_flags));
	if (manifest->fragment_tree_presence_case != 0)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "fragment trees are not supported");
	dataset->version = manifest->version;
	dataset->timestamp_us = lnc_manifest_timestamp_us(manifest);
	dataset->reader_flags = manifest->reader_feature_flags;
	dataset->writer_flags = manifest->writer_feature_flags;
	dataset->stable_row_ids = (manifest->reader_feature_flags >> 1) & 1;
	if (manifest->data_format != NULL)
		LNC_TRY(copy_text(ctx, arena, manifest->data_format->version, &dataset->data_version));
	else
		/* Before the version was stated, a flag told the 2.x format from the first one. */
		dataset->data_version = (manifest->writer_feature_flags >> 2) & 1 ? "2.0" : "0.1";
	LNC_TRY(lnc_schema_build(ctx, arena, manifest->n_fields, manifest->fields, &dataset->schema));
	LNC_TRY(convert_fragments(ctx, arena, manifest, dataset));
	LNC_TRY(convert_bases(ctx, arena, manifest, dataset));
	return convert_maps(ctx, arena, manifest, dataset);
}
