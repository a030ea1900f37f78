/*
 * dataset.c
 *	  Opening a version of a dataset, finding its files, counting its rows.
 */
#include "dataset/dataset.h"

#include <inttypes.h>
#include <string.h>

#include "dataset/deletion.h"
#include "dataset/manifest.h"

#define VERSIONS_FOLDER "_versions/"

/* Split a manifest key into the prefix of the dataset's files, version and naming. */
static LncCode
parse_manifest_key(LncContext *ctx, LncArena *arena, const char *key, char **prefix, uint64_t *version,
				   LncNaming *naming)
{
	const char *name = strrchr(key, '/');
	size_t folder = strlen(VERSIONS_FOLDER);
	size_t length;

	if (name == NULL || !lnc_versions_parse_name(name + 1, version, naming))
		return lnc_fail(ctx, LNC_INVALID, "\"%s\" is not the name of a manifest", key);
	length = (size_t)(name + 1 - key);
	if (length < folder || memcmp(key + length - folder, VERSIONS_FOLDER, folder) != 0 ||
		(length > folder && key[length - folder - 1] != '/'))
		return lnc_fail(ctx, LNC_INVALID, "\"%s\" is not the name of a manifest", key);
	return lnc_arena_strndup(ctx, arena, key, length - folder, prefix);
}

/* Read the manifest the options ask for; scratch holds the message, arena the key. */
static LncCode
read_wanted(LncContext *ctx, LncArena *arena, LncArena *scratch, LncStore *store, const LncDatasetOptions *options,
			char **key, Lance__Table__Manifest **manifest)
{
	char *folder;
	LncCode code;

	if (options->manifest_key != NULL)
	{
		LncIdentity identity = {0};

		LNC_TRY(lnc_arena_strndup(ctx, arena, options->manifest_key, strlen(options->manifest_key), key));
		if (options->manifest_e_tag != NULL)
			LNC_TRY(lnc_store_identify(ctx, store, scratch, *key, options->manifest_size, options->manifest_e_tag,
									   &identity));
		return lnc_manifest_read_known(ctx, scratch, store, *key, &identity, manifest);
	}
	LNC_TRY(lnc_versions_folder(ctx, scratch, options->branch, &folder));
	if (options->version == 0)
	{
		LncVersionFile file;

		LNC_TRY(lnc_versions_latest(ctx, scratch, store, folder, &file));
		LNC_TRY(lnc_arena_strndup(ctx, arena, file.key, strlen(file.key), key));
		return lnc_manifest_read(ctx, scratch, store, *key, manifest);
	}

	/* Reading under the likely name is cheaper than asking first which naming is in use. */
	LNC_TRY(lnc_versions_key(ctx, arena, folder, options->version, LNC_NAMING_V2, key));
	code = lnc_manifest_read(ctx, scratch, store, *key, manifest);
	if (code != LNC_NOT_FOUND)
		return code;
	LNC_TRY(lnc_versions_key(ctx, arena, folder, options->version, LNC_NAMING_V1, key));
	code = lnc_manifest_read(ctx, scratch, store, *key, manifest);
	if (code != LNC_NOT_FOUND)
		return code;
	lnc_fail(ctx, LNC_NOT_FOUND, "version %" PRIu64 " of the dataset at \"%s\" does not exist", options->version,
			 lnc_store_uri(store));
	lnc_detail(ctx, "Folder \"%s\" holds no manifest of that version.", folder);
	return LNC_NOT_FOUND;
}

static LncCode
open_in(LncContext *ctx, LncArena *arena, LncArena *scratch, LncStore *store, const LncDatasetOptions *options,
		LncDataset **out)
{
	LncDataset *dataset;
	Lance__Table__Manifest *manifest;
	char *key;
	char *prefix;
	uint64_t version;
	LncCode code;

	LNC_TRY(LNC_NEW(ctx, arena, &dataset, 1));
	LNC_TRY(read_wanted(ctx, arena, scratch, store, options, &key, &manifest));
	LNC_TRY(parse_manifest_key(ctx, arena, key, &prefix, &version, &dataset->naming));
	if (options->version != 0 && options->version != version)
		return lnc_fail(ctx, LNC_INVALID, "manifest \"%s\" is not that of version %" PRIu64, key, options->version);
	dataset->store = store;
	dataset->manifest_key = key;
	dataset->prefix = prefix;
	dataset->open_base = options->open_base;
	dataset->open_base_arg = options->open_base_arg;
	code = lnc_manifest_convert(ctx, arena, manifest, dataset);
	if (code == LNC_OK && dataset->version != version)
		code = lnc_fail(ctx, LNC_CORRUPT, "manifest says version %" PRIu64 " where its name says %" PRIu64,
						dataset->version, version);
	if (code != LNC_OK)
	{
		if (code != LNC_CANCELLED)
			lnc_detail(ctx, "Manifest \"%s\" of \"%s\".", key, lnc_store_uri(store));
		return code;
	}
	*out = dataset;
	return LNC_OK;
}

LncCode
lnc_dataset_open(LncContext *ctx, LncArena *arena, LncStore *store, const LncDatasetOptions *options,
				 LncDataset **out)
{
	/* The message of a large table takes many megabytes: it goes as soon as it is converted. */
	LncArena *scratch;
	LncCode code;

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = open_in(ctx, arena, scratch, store, options, out);
	lnc_arena_destroy(scratch);
	return code;
}

LncCode
lnc_dataset_base(LncContext *ctx, const LncDataset *dataset, uint32_t id, const LncBasePath **out)
{
	for (int32_t i = 0; i < dataset->nbases; i++)
	{
		*out = &dataset->bases[i];
		if ((*out)->id == id)
			return LNC_OK;
	}
	return lnc_fail(ctx, LNC_CORRUPT, "base path %" PRIu32 " is not listed by the manifest", id);
}

/* True when the base path is the dataset's own root, as it is for branches. */
static bool
is_own_root(const LncDataset *dataset, const LncBasePath *base)
{
	const char *uri = lnc_store_uri(dataset->store);
	size_t length = strlen(base->path);

	while (length > 1 && base->path[length - 1] == '/')
		length--;
	if (strlen(uri) == length && memcmp(uri, base->path, length) == 0)
		return true;

	/* Local paths may lack the scheme. */
	return strncmp(uri, "file://", 7) == 0 && strlen(uri + 7) == length && memcmp(uri + 7, base->path, length) == 0;
}

LncCode
lnc_dataset_open_base(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncBasePath *base,
					  LncStore **store)
{
	if (is_own_root(dataset, base))
	{
		*store = dataset->store;
		return LNC_OK;
	}
	if (dataset->open_base == NULL)
		return lnc_fail(ctx, LNC_DENIED, "base path \"%s\" may not be read", base->path);
	return dataset->open_base(ctx, dataset->open_base_arg, arena, base->path, store);
}

LncCode
lnc_dataset_locate(LncContext *ctx, LncArena *arena, const LncDataset *dataset, bool has_base, uint32_t base_id,
				   const char *folder, const char *path, LncStore **store, char **key)
{
	const LncBasePath *base;
	bool is_data = strcmp(folder, "data") == 0;
	LncCode code;

	if (!has_base)
	{
		*store = dataset->store;
		return lnc_arena_printf(ctx, arena, key, "%s%s/%s", dataset->prefix, folder, path);
	}
	code = lnc_dataset_base(ctx, dataset, base_id, &base);
	if (code == LNC_OK)
		code = lnc_dataset_open_base(ctx, arena, dataset, base, store);
	if (code == LNC_CORRUPT || code == LNC_DENIED)
		lnc_detail(ctx, "File \"%s\", manifest \"%s\".", path, dataset->manifest_key);
	if (code != LNC_OK)
		return code;
	if (is_data && !base->is_dataset_root)
		return lnc_arena_strndup(ctx, arena, path, strlen(path), key);
	return lnc_arena_printf(ctx, arena, key, "%s/%s", folder, path);
}

int32_t
lnc_dataset_field(const LncDataset *dataset, const char *name)
{
	for (int32_t i = 0; i < dataset->schema.nfields; i++)
	{
		if (strcmp(dataset->schema.fields[i].name, name) == 0)
			return i;
	}
	return -1;
}

static LncCode
count_rows_in(LncContext *ctx, LncArena *scratch, const LncDataset *dataset, uint64_t *rows)
{
	uint64_t total = 0;

	for (int32_t i = 0; i < dataset->nfragments; i++)
	{
		const LncFragment *fragment = &dataset->fragments[i];
		uint64_t deleted = fragment->deleted_rows;

		LNC_TRY(lnc_check_interrupt(ctx));
		if (fragment->deletion_kind != LNC_DELETION_NONE && deleted == 0)
		{
			LncDeletions deletions;

			LNC_TRY(lnc_deletion_read(ctx, scratch, dataset, fragment, &deletions));
			deleted = deletions.count;
			lnc_arena_reset(scratch);
		}
		if (lnc_add_overflow(total, fragment->physical_rows - deleted, &total))
			return lnc_fail(ctx, LNC_CORRUPT, "number of rows of the dataset is too large");
	}
	*rows = total;
	return LNC_OK;
}

LncCode
lnc_dataset_count_rows(LncContext *ctx, const LncDataset *dataset, uint64_t *rows)
{
	LncArena *scratch;
	LncCode code;

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = count_rows_in(ctx, scratch, dataset, rows);
	lnc_arena_destroy(scratch);
	return code;
}
