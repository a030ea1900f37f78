/*
 * versions.c
 *	  Names of manifests, listing them, the newest one.
 *
 * The hint file is not read: an ordered store names the newest version first, and on a local disk one reading
 * of the folder is both cheaper than probing and never wrong.
 */
#include "dataset/versions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MANIFEST_SUFFIX ".manifest"
#define V2_DIGITS 20

/* Versions with the top bit set are detached: they exist, but outside of the history. */
#define FIRST_DETACHED (UINT64_C(1) << 63)

static bool
part_is_plain(const char *part, size_t length)
{
	if (length == 0)
		return false;
	return !(part[0] == '.' && (length == 1 || (length == 2 && part[1] == '.')));
}

LncCode
lnc_versions_folder(LncContext *ctx, LncArena *arena, const char *branch, char **out)
{
	const char *part = branch;

	if (branch == NULL || branch[0] == '\0' || strcmp(branch, "main") == 0)
		return lnc_arena_strndup(ctx, arena, "_versions", strlen("_versions"), out);
	for (;;)
	{
		size_t length = strcspn(part, "/");

		if (!part_is_plain(part, length))
			return lnc_fail(ctx, LNC_INVALID, "invalid branch name \"%s\"", branch);
		if (part[length] == '\0')
			break;
		part += length + 1;
	}
	return lnc_arena_printf(ctx, arena, out, "tree/%s/_versions", branch);
}

LncCode
lnc_versions_key(LncContext *ctx, LncArena *arena, const char *folder, uint64_t version, LncNaming naming,
				 char **out)
{
	if (version == 0 || version >= FIRST_DETACHED)
		return lnc_fail(ctx, LNC_INVALID, "invalid version number %" PRIu64, version);
	if (naming == LNC_NAMING_V1)
		return lnc_arena_printf(ctx, arena, out, "%s/%" PRIu64 MANIFEST_SUFFIX, folder, version);
	return lnc_arena_printf(ctx, arena, out, "%s/%020" PRIu64 MANIFEST_SUFFIX, folder, UINT64_MAX - version);
}

bool
lnc_versions_parse_name(const char *name, uint64_t *version, LncNaming *naming)
{
	size_t digits = strspn(name, "0123456789");
	uint64_t number = 0;

	if (digits == 0 || digits > V2_DIGITS || strcmp(name + digits, MANIFEST_SUFFIX) != 0)
		return false;
	for (size_t i = 0; i < digits; i++)
	{
		if (lnc_mul_overflow(number, (uint64_t)10, &number) ||
			lnc_add_overflow(number, (uint64_t)(name[i] - '0'), &number))
			return false;
	}
	if (digits == V2_DIGITS)
	{
		*naming = LNC_NAMING_V2;
		*version = UINT64_MAX - number;
	}
	else
	{
		/* Numbers are written without leading zeros. */
		if (name[0] == '0')
			return false;
		*naming = LNC_NAMING_V1;
		*version = number;
	}
	return *version > 0 && *version < FIRST_DETACHED;
}

/* What a walk over a folder of manifests keeps. */
typedef struct Walk
{
	LncArena *arena;
	size_t folder_length;
	bool ordered;
	bool newest_only; /* keep one file: the greatest version */
	uint64_t after;   /* keep greater versions only */
	LncNaming naming; /* of the first version met; 0 before that */
	size_t count;
	size_t capacity;
	LncVersionFile *files; /* in arena */
} Walk;

static LncCode
walk_keep(LncContext *ctx, Walk *walk, const LncObject *object, uint64_t version)
{
	LncVersionFile *file;
	char *key;

	if (walk->newest_only && walk->count == 1)
	{
		if (version <= walk->files[0].version)
			return LNC_OK;
		walk->count = 0;
	}
	if (walk->count == walk->capacity)
	{
		size_t capacity = walk->newest_only ? 1 : walk->capacity == 0 ? 64 : walk->capacity * 2;
		LncVersionFile *files;

		LNC_TRY(LNC_NEW(ctx, walk->arena, &files, capacity));
		if (walk->count > 0)
			memcpy(files, walk->files, walk->count * sizeof(*files));
		walk->files = files;
		walk->capacity = capacity;
	}
	LNC_TRY(lnc_arena_strndup(ctx, walk->arena, object->key, strlen(object->key), &key));
	file = &walk->files[walk->count++];
	file->version = version;
	file->naming = walk->naming;
	file->key = key;
	file->size = object->size;
	file->modified_ms = object->modified_ms;
	return LNC_OK;
}

static LncCode
walk_object(LncContext *ctx, void *arg, const LncObject *object, bool *stop)
{
	Walk *walk = arg;
	uint64_t version;
	LncNaming naming;

	LNC_TRY(lnc_check_interrupt(ctx));
	if (strlen(object->key) <= walk->folder_length + 1 ||
		!lnc_versions_parse_name(object->key + walk->folder_length + 1, &version, &naming))
		return LNC_OK;
	if (walk->naming != 0 && walk->naming != naming)
	{
		lnc_fail(ctx, LNC_CORRUPT, "folder of versions mixes two naming schemes");
		lnc_detail(ctx, "Folder \"%.*s\", file \"%s\".", (int)walk->folder_length, object->key,
				   object->key + walk->folder_length + 1);
		return LNC_CORRUPT;
	}
	walk->naming = naming;

	/* V2 names ascend as versions descend, so that an ordered listing may stop at the first old one. */
	if (version <= walk->after)
	{
		*stop = walk->ordered && naming == LNC_NAMING_V2;
		return LNC_OK;
	}
	if (walk->newest_only)
		*stop = walk->ordered && naming == LNC_NAMING_V2;
	return walk_keep(ctx, walk, object, version);
}

static int
compare_versions(const void *a, const void *b)
{
	uint64_t left = ((const LncVersionFile *)a)->version;
	uint64_t right = ((const LncVersionFile *)b)->version;

	return (left > right) - (left < right);
}

LncCode
lnc_versions_list(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, uint64_t after,
				  size_t *count, LncVersionFile **out)
{
	Walk walk = {
		.arena = arena, .folder_length = strlen(folder), .ordered = lnc_store_ordered(store), .after = after};

	LNC_TRY(lnc_store_list(ctx, store, folder, false, NULL, walk_object, &walk));
	if (walk.count > 1)
		qsort(walk.files, walk.count, sizeof(*walk.files), compare_versions);
	*count = walk.count;
	*out = walk.files;
	return LNC_OK;
}

LncCode
lnc_versions_latest(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, LncVersionFile *out)
{
	Walk walk = {
		.arena = arena, .folder_length = strlen(folder), .ordered = lnc_store_ordered(store), .newest_only = true};

	LNC_TRY(lnc_store_list(ctx, store, folder, false, NULL, walk_object, &walk));
	if (walk.count == 0)
	{
		lnc_fail(ctx, LNC_NOT_FOUND, "no version of a dataset found at \"%s\"", lnc_store_uri(store));
		lnc_detail(ctx, "Folder \"%s\" holds no manifest.", folder);
		return LNC_NOT_FOUND;
	}
	*out = walk.files[0];
	return LNC_OK;
}

/* A search for one key in a listing. */
typedef struct Search
{
	const char *key;
	bool ordered;
	bool found;
	uint64_t size;
	int64_t modified_ms;
} Search;

static LncCode
search_object(LncContext *ctx, void *arg, const LncObject *object, bool *stop)
{
	Search *search = arg;
	int order = strcmp(object->key, search->key);

	LNC_TRY(lnc_check_interrupt(ctx));
	if (order == 0)
	{
		search->found = true;
		search->size = object->size;
		search->modified_ms = object->modified_ms;
		*stop = true;
	}
	else if (order > 0 && search->ordered)
		*stop = true;
	return LNC_OK;
}

LncCode
lnc_versions_find(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, uint64_t version,
				  LncVersionFile *out)
{
	static const LncNaming namings[] = {LNC_NAMING_V2, LNC_NAMING_V1};

	for (int i = 0; i < 2; i++)
	{
		Search search = {.ordered = lnc_store_ordered(store)};
		char *before;
		char *key;

		LNC_TRY(lnc_versions_key(ctx, arena, folder, version, namings[i], &key));

		/* A listing that begins just before the key: it also tells the time of writing. */
		LNC_TRY(lnc_arena_strndup(ctx, arena, key, strlen(key) - 1, &before));
		search.key = key;
		LNC_TRY(lnc_store_list(ctx, store, folder, false, before, search_object, &search));
		if (search.found)
		{
			out->version = version;
			out->naming = namings[i];
			out->key = key;
			out->size = search.size;
			out->modified_ms = search.modified_ms;
			return LNC_OK;
		}
	}
	lnc_fail(ctx, LNC_NOT_FOUND, "version %" PRIu64 " of the dataset at \"%s\" does not exist", version,
			 lnc_store_uri(store));
	lnc_detail(ctx, "Folder \"%s\" holds no manifest of that version.", folder);
	return LNC_NOT_FOUND;
}
