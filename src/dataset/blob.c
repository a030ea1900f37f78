/*
 * blob.c
 *	  From a blob's descriptor to its bytes: the object that holds them, the range in it, the read.
 *
 * Nothing is read before a value is asked for. The store of an external object is kept until one of another folder is
 * asked for.
 */
#include "dataset/blob.h"

#include <inttypes.h>
#include <string.h>

#include "storage/uri.h"

struct LncBlobSource
{
	const LncDataset *dataset; /* borrowed, as are file and store */
	const LncDataFile *file;
	LncStore *store; /* of the data file */
	const char *key;
	LncUsage *usage;          /* borrowed; NULL: nobody counts */
	LncArena *arena;          /* borrowed; holds this struct */
	LncArena *external_arena; /* owned, made when first needed; holds external and external_uri */
	const char *external_uri; /* NULL: none is open */
	LncStore *external;
};

/* Values above this size are compared with the object's before memory is taken for them. */
#define UNCHECKED_BYTES ((uint64_t)4 * 1024 * 1024)

/* One descriptor. */
typedef struct Descriptor
{
	uint8_t kind;
	uint64_t position;
	uint64_t size;
	uint32_t id;
	LncSlice uri;
} Descriptor;

LncCode
lnc_blob_source_create(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncDataFile *file,
					   LncStore *store, const char *key, LncUsage *usage, LncBlobSource **out)
{
	LncBlobSource *source;

	LNC_TRY(LNC_NEW(ctx, arena, &source, 1));
	source->dataset = dataset;
	source->file = file;
	source->store = store;
	source->key = key;
	source->usage = usage;
	source->arena = arena;
	*out = source;
	return LNC_OK;
}

void
lnc_blob_set_source(LncColumn *column, LncBlobSource *source)
{
	if (lnc_type_is_blob(column->type))
	{
		column->blobs = source;
		return;
	}
	for (int32_t i = 0; i < column->nchildren; i++)
		lnc_blob_set_source(&column->children[i], source);
}

/* ---- places ---- */

/* The file of blob id beside the data file. */
static LncCode
sidecar_key(LncContext *ctx, LncArena *arena, const LncBlobSource *source, uint32_t id, char **key)
{
	static const char suffix[] = ".lance";
	size_t length = strlen(source->key);
	char digits[33];

	if (length >= sizeof(suffix) && strcmp(source->key + length - (sizeof(suffix) - 1), suffix) == 0)
		length -= sizeof(suffix) - 1;
	for (int i = 0; i < 32; i++)
		digits[i] = (id >> i & 1) != 0 ? '1' : '0';
	digits[32] = '\0';
	return lnc_arena_printf(ctx, arena, key, "%.*s/%s.blob", (int)length, source->key, digits);
}

/* An empty arena for the store to come. */
static LncCode
reset_external(LncContext *ctx, LncBlobSource *source)
{
	source->external_uri = NULL;
	if (source->external_arena != NULL)
	{
		lnc_arena_reset(source->external_arena);
		return LNC_OK;
	}
	return lnc_arena_create_child(ctx, source->arena, &source->external_arena);
}

/* Keep the store that was opened for uri. */
static LncCode
keep_external(LncContext *ctx, LncBlobSource *source, const char *uri)
{
	char *copy;

	LNC_TRY(lnc_arena_strndup(ctx, source->external_arena, uri, strlen(uri), &copy));
	source->external_uri = copy;
	return LNC_OK;
}

/* The store of the base path of that id, and key, a path below it, checked. */
static LncCode
locate_in_base(LncContext *ctx, LncBlobSource *source, uint32_t id, const char *key, LncStore **store)
{
	const LncBasePath *base;

	LNC_TRY(lnc_dataset_base(ctx, source->dataset, id, &base));
	LNC_TRY(lnc_key_check(ctx, key));
	if (source->external_uri == NULL || strcmp(source->external_uri, base->path) != 0)
	{
		LNC_TRY(reset_external(ctx, source));
		LNC_TRY(lnc_dataset_open_base(ctx, source->external_arena, source->dataset, base, &source->external));
		LNC_TRY(keep_external(ctx, source, base->path));
	}
	*store = source->external;
	return LNC_OK;
}

/* The store of the folder uri, opened under the caller's rules. */
static LncCode
open_folder(LncContext *ctx, LncBlobSource *source, const char *uri, LncStore **out)
{
	const LncDataset *dataset = source->dataset;

	if (source->external_uri == NULL || strcmp(source->external_uri, uri) != 0)
	{
		if (dataset->open_base == NULL)
			return lnc_fail(ctx, LNC_DENIED, "external blobs in \"%s\" may not be read", uri);
		LNC_TRY(reset_external(ctx, source));
		LNC_TRY(dataset->open_base(ctx, dataset->open_base_arg, source->external_arena, uri, &source->external));
		LNC_TRY(keep_external(ctx, source, uri));
	}
	*out = source->external;
	return LNC_OK;
}

/* The descriptor's uri as a string. */
static LncCode
object_name(LncContext *ctx, LncArena *arena, const Descriptor *blob, char **out)
{
	LNC_TRY(lnc_arena_strndup(ctx, arena, (const char *)blob->uri.data, blob->uri.size, out));
	if (strlen(*out) != blob->uri.size || (*out)[0] == '\0')
		return lnc_fail(ctx, LNC_CORRUPT, "a blob outside the data file names no object");
	return LNC_OK;
}

/* The store and key of the object that uri names. */
static LncCode
locate_external(LncContext *ctx, LncArena *arena, LncBlobSource *source, const Descriptor *blob, LncStore **store,
				char **key)
{
	LncUri uri;
	char *text;
	char *folder;
	const char *slash;

	LNC_TRY(object_name(ctx, arena, blob, &text));
	if (blob->id > 0)
	{
		*key = text;
		return locate_in_base(ctx, source, blob->id, text, store);
	}
	LNC_TRY(lnc_uri_parse(ctx, arena, text, &uri));
	slash = strrchr(uri.path, '/');
	LNC_TRY(lnc_arena_strndup(ctx, arena, slash == NULL ? uri.path : slash + 1,
							  strlen(slash == NULL ? uri.path : slash + 1), key));
	if ((*key)[0] == '\0')
		return lnc_fail(ctx, LNC_INVALID, "an external blob names \"%s\", which is no object", uri.canonical);
	/* The folder is what stands before the last slash; that of the root itself is not cut off. */
	slash = strrchr(uri.canonical, '/');
	LNC_TRY(lnc_arena_strndup(ctx, arena, uri.canonical, (size_t)(slash - uri.canonical), &folder));
	if (folder[strlen(folder) - 1] == '/')
		LNC_TRY(lnc_arena_printf(ctx, arena, &folder, "%s/", folder));
	return open_folder(ctx, source, folder, store);
}

/* The store and key of a managed object. */
static LncCode
locate_managed(LncContext *ctx, LncArena *arena, LncBlobSource *source, const Descriptor *blob, LncStore **store,
			   char **key)
{
	LNC_TRY(object_name(ctx, arena, blob, key));
	if (strstr(*key, "://") != NULL || strchr(*key, '\\') != NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "a managed blob names \"%s\", which is no path below the dataset", *key);
	if (blob->kind == LNC_BLOB_MANAGED_WITH_BASE)
		return locate_in_base(ctx, source, blob->id, *key, store);
	if (source->file->has_base)
		return locate_in_base(ctx, source, source->file->base_id, *key, store);
	LNC_TRY(lnc_key_check(ctx, *key));
	*store = source->dataset->store;
	return lnc_arena_printf(ctx, arena, key, "%s%s", source->dataset->prefix, *key);
}

/* ---- reading ---- */

static Descriptor
descriptor_at(const LncColumn *column, int64_t row)
{
	const LncColumn *parts = column->children;
	const int64_t *offsets = parts[LNC_BLOB_URI].offsets;
	Descriptor blob;

	blob.kind = ((const uint8_t *)parts[LNC_BLOB_KIND].values)[row];
	blob.position = ((const uint64_t *)parts[LNC_BLOB_POSITION].values)[row];
	blob.size = ((const uint64_t *)parts[LNC_BLOB_SIZE].values)[row];
	blob.id = ((const uint32_t *)parts[LNC_BLOB_ID].values)[row];
	blob.uri.data = parts[LNC_BLOB_URI].data + offsets[row];
	blob.uri.size = (size_t)(offsets[row + 1] - offsets[row]);
	return blob;
}

/* Bytes [position, position + size) of the object. */
static LncCode
read_range(LncContext *ctx, LncArena *arena, LncStore *store, const char *key, const Descriptor *blob, uint64_t max,
		   LncSlice *out)
{
	LncRange range = {blob->position, blob->size};
	uint64_t total;

	if (blob->size > max)
		return lnc_fail(ctx, LNC_LIMIT, "a blob of %" PRIu64 " bytes is larger than the limit of %" PRIu64,
						blob->size, max);
	if (blob->size > UNCHECKED_BYTES)
	{
		LNC_TRY(lnc_store_size(ctx, store, key, &total));
		if (!lnc_range_ok(blob->position, blob->size, total))
			return lnc_fail(ctx, LNC_CORRUPT,
							"a blob of %" PRIu64 " bytes at %" PRIu64 " is not inside its file of %" PRIu64
							" bytes",
							blob->size, blob->position, total);
	}
	out->size = (size_t)blob->size;
	return lnc_store_read_ranges(ctx, store, arena, key, 1, &range, &out->data);
}

static LncCode
read_external(LncContext *ctx, LncArena *arena, LncBlobSource *source, Descriptor *blob, uint64_t max,
			  LncSlice *out)
{
	LncStore *store;
	char *key;

	LNC_TRY(locate_external(ctx, arena, source, blob, &store, &key));
	if (blob->size == 0)
	{
		uint64_t total;

		LNC_TRY(lnc_store_size(ctx, store, key, &total));
		if (blob->position > total)
			return lnc_fail(ctx, LNC_CORRUPT, "a blob begins at byte %" PRIu64 " of an object of %" PRIu64,
							blob->position, total);
		blob->size = total - blob->position;
	}
	return read_range(ctx, arena, store, key, blob, max, out);
}

static LncCode
read_blob(LncContext *ctx, LncArena *arena, LncBlobSource *source, Descriptor *blob, uint64_t max, LncSlice *out)
{
	static const uint8_t nothing[1];
	LncStore *store;
	char *key;

	if (blob->kind == LNC_BLOB_EXTERNAL)
		return read_external(ctx, arena, source, blob, max, out);
	if (blob->kind > LNC_BLOB_MANAGED_WITH_BASE)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "blobs of kind %d are not known", blob->kind);
	if (blob->size == 0)
	{
		*out = (LncSlice){nothing, 0};
		return LNC_OK;
	}
	if (blob->kind == LNC_BLOB_INLINE)
		return read_range(ctx, arena, source->store, source->key, blob, max, out);
	if (blob->kind == LNC_BLOB_MANAGED || blob->kind == LNC_BLOB_MANAGED_WITH_BASE)
	{
		LNC_TRY(locate_managed(ctx, arena, source, blob, &store, &key));
		return read_range(ctx, arena, store, key, blob, max, out);
	}
	LNC_TRY(sidecar_key(ctx, arena, source, blob->id, &key));
	if (blob->kind == LNC_BLOB_DEDICATED)
		blob->position = 0;
	return read_range(ctx, arena, source->store, key, blob, max, out);
}

LncCode
lnc_blob_read(LncContext *ctx, LncArena *arena, const LncColumn *column, int64_t row, uint64_t max, LncSlice *out)
{
	LncUsage before = ctx->usage;
	Descriptor blob;
	LncCode code;

	if (column->blobs == NULL || column->nchildren != LNC_BLOB_NPARTS || row < 0 || row >= column->length ||
		lnc_column_is_null(column, row))
		return lnc_fail(ctx, LNC_INVALID, "there is no blob to read at row %" PRId64, row);
	LNC_TRY(lnc_check_interrupt(ctx));
	blob = descriptor_at(column, row);
	code = read_blob(ctx, arena, column->blobs, &blob, max, out);
	if (column->blobs->usage != NULL)
	{
		column->blobs->usage->requests += ctx->usage.requests - before.requests;
		column->blobs->usage->bytes_read += ctx->usage.bytes_read - before.bytes_read;
	}
	if (code != LNC_OK && code != LNC_CANCELLED && code != LNC_NO_MEMORY)
		lnc_detail(ctx, "Blob described in file \"%s\" of \"%s\".", column->blobs->key,
				   lnc_store_uri(column->blobs->store));
	return code;
}
