/*
 * versions.c
 *	  Names of manifests, listing them, the newest one.
 *
 * The hint file is not read: an ordered store names the newest version first, and on a local disk one reading of the folder
 * is never wrong. What can do without that reading is in version_page.c.
 */
#include "dataset/versions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANIFEST_SUFFIX ".manifest"
#define INTENT_SUFFIX ".intent"
#define INTENT_TAG_DIGITS 16
#define V2_DIGITS 20

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

/* The key of something that belongs to a version: what the manifest's name has before its suffix, and another one. */
static LncCode
key_with_suffix(LncContext *ctx, LncArena *arena, const char *folder, uint64_t version, LncNaming naming,
				const char *suffix, char **out)
{
	if (version == 0 || version > LNC_MAX_VERSION)
		return lnc_fail(ctx, LNC_INVALID, "invalid version number %" PRIu64, version);
	if (naming == LNC_NAMING_V1)
		return lnc_arena_printf(ctx, arena, out, "%s/%" PRIu64 "%s", folder, version, suffix);
	return lnc_arena_printf(ctx, arena, out, "%s/%020" PRIu64 "%s", folder, UINT64_MAX - version, suffix);
}

LncCode
lnc_versions_key(LncContext *ctx, LncArena *arena, const char *folder, uint64_t version, LncNaming naming,
				 char **out)
{
	return key_with_suffix(ctx, arena, folder, version, naming, MANIFEST_SUFFIX, out);
}

LncCode
lnc_versions_intent_key(LncContext *ctx, LncArena *arena, const char *folder, uint64_t version, LncNaming naming,
						uint64_t tag, char **out)
{
	char suffix[1 + INTENT_TAG_DIGITS + sizeof(INTENT_SUFFIX)];

	snprintf(suffix, sizeof(suffix), ".%016" PRIx64 INTENT_SUFFIX, tag);
	return key_with_suffix(ctx, arena, folder, version, naming, suffix, out);
}

/* The version that a name begins with. digits: how many of its letters are the number. */
static bool
parse_number(const char *name, size_t digits, uint64_t *version, LncNaming *naming)
{
	uint64_t number = 0;

	if (digits == 0 || digits > V2_DIGITS)
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
	return *version > 0 && *version <= LNC_MAX_VERSION;
}

bool
lnc_versions_parse_name(const char *name, uint64_t *version, LncNaming *naming)
{
	size_t digits = strspn(name, "0123456789");

	return strcmp(name + digits, MANIFEST_SUFFIX) == 0 && parse_number(name, digits, version, naming);
}

bool
lnc_versions_parse_intent(const char *name, uint64_t *version)
{
	size_t digits = strspn(name, "0123456789");
	LncNaming naming;

	return name[digits] == '.' && strspn(name + digits + 1, "0123456789abcdef") == INTENT_TAG_DIGITS &&
		   strcmp(name + digits + 1 + INTENT_TAG_DIGITS, INTENT_SUFFIX) == 0 &&
		   parse_number(name, digits, version, &naming);
}

/* A growing array. */
typedef struct Kept
{
	size_t count;
	size_t capacity;
	LncVersionFile *items; /* in the walk's arena */
} Kept;

/* A walk over a folder of manifests. */
typedef struct Walk
{
	LncArena *arena;
	size_t folder_length;
	bool ordered;
	bool names_only;  /* sizes, times and keys of files are left for later */
	bool newest_only; /* keep one file: the greatest version */
	uint64_t after;   /* keep greater versions only */
	LncNaming naming; /* of the first version met; 0 before that */
	Kept files;
	Kept intents;
} Walk;

/* object: NULL when nothing but the version is known. */
static LncCode
keep(LncContext *ctx, LncArena *arena, Kept *kept, const LncObject *object, uint64_t version, LncNaming naming)
{
	LncVersionFile *file;
	char *key;

	if (kept->count == kept->capacity)
	{
		size_t capacity = kept->capacity == 0 ? 8 : kept->capacity * 2;
		LncVersionFile *items;

		LNC_TRY(LNC_NEW(ctx, arena, &items, capacity));
		if (kept->count > 0)
			memcpy(items, kept->items, kept->count * sizeof(*items));
		kept->items = items;
		kept->capacity = capacity;
	}
	file = &kept->items[kept->count++];
	memset(file, 0, sizeof(*file));
	file->version = version;
	file->naming = naming;
	if (object == NULL)
		return LNC_OK;
	LNC_TRY(lnc_arena_strndup(ctx, arena, object->key, strlen(object->key), &key));
	file->key = key;
	file->size = object->size;
	file->modified_ms = object->modified_ms;
	if (object->e_tag == NULL || object->e_tag[0] == '\0')
		return LNC_OK;
	LNC_TRY(lnc_arena_strndup(ctx, arena, object->e_tag, strlen(object->e_tag), &key));
	file->e_tag = key;
	return LNC_OK;
}

static LncCode
walk_manifest(LncContext *ctx, Walk *walk, const LncObject *object, uint64_t version)
{
	if (walk->newest_only && walk->files.count == 1)
	{
		if (version <= walk->files.items[0].version)
			return LNC_OK;
		walk->files.count = 0;
	}
	return keep(ctx, walk->arena, &walk->files, walk->names_only ? NULL : object, version, walk->naming);
}

static LncCode
walk_object(LncContext *ctx, void *arg, const LncObject *object, bool *stop)
{
	Walk *walk = arg;
	const char *name;
	uint64_t version;
	LncNaming naming;

	LNC_TRY(lnc_check_interrupt(ctx));
	if (strlen(object->key) <= walk->folder_length + 1)
		return LNC_OK;
	name = object->key + walk->folder_length + 1;
	if (!lnc_versions_parse_name(name, &version, &naming))
		return lnc_versions_parse_intent(name, &version) && version > walk->after
				   ? keep(ctx, walk->arena, &walk->intents, object, version, 0)
				   : LNC_OK;
	if (walk->naming != 0 && walk->naming != naming)
	{
		lnc_fail(ctx, LNC_CORRUPT, "folder of versions mixes two naming schemes");
		lnc_detail(ctx, "Folder \"%.*s\", file \"%s\".", (int)walk->folder_length, object->key, name);
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
	return walk_manifest(ctx, walk, object, version);
}

static int
compare_versions(const void *a, const void *b)
{
	uint64_t left = ((const LncVersionFile *)a)->version;
	uint64_t right = ((const LncVersionFile *)b)->version;

	return (left > right) - (left < right);
}

/* Order what was found, and tell the manifests that have an intent. */
static void
walk_end(Walk *walk)
{
	size_t intent = 0;

	if (walk->files.count > 1)
		qsort(walk->files.items, walk->files.count, sizeof(LncVersionFile), compare_versions);
	if (walk->intents.count > 1)
		qsort(walk->intents.items, walk->intents.count, sizeof(LncVersionFile), compare_versions);
	for (size_t i = 0; i < walk->files.count; i++)
	{
		LncVersionFile *file = &walk->files.items[i];

		while (intent < walk->intents.count && walk->intents.items[intent].version < file->version)
			intent++;
		file->intended = intent < walk->intents.count && walk->intents.items[intent].version == file->version;
	}
}

/* So many files are looked at in one go. */
#define LOOK_BATCH 1000

LncCode
lnc_versions_look(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, size_t *count,
				  LncVersionFile *files)
{
	size_t n = 0;

	for (size_t done = 0; done < *count; done += LOOK_BATCH)
	{
		size_t step = *count - done < LOOK_BATCH ? *count - done : LOOK_BATCH;
		const char **keys;
		LncObject *objects;

		LNC_TRY(LNC_NEW(ctx, arena, &keys, step));
		LNC_TRY(LNC_NEW(ctx, arena, &objects, step));
		for (size_t i = 0; i < step; i++)
		{
			LncVersionFile *file = &files[done + i];
			char *key;

			if (file->key == NULL)
			{
				LNC_TRY(lnc_versions_key(ctx, arena, folder, file->version, file->naming, &key));
				file->key = key;
			}
			keys[i] = file->key;
		}
		LNC_TRY(lnc_store_find(ctx, store, step, keys, objects));
		for (size_t i = 0; i < step; i++)
		{
			if (objects[i].key == NULL)
				continue;
			files[n] = files[done + i];
			files[n].size = objects[i].size;
			files[n].modified_ms = objects[i].modified_ms;
			n++;
		}
	}
	*count = n;
	return LNC_OK;
}

/* Requests of an ordered store that is asked for the newest ones begin with so many names: something may lie beside them. */
#define FEW_NAMES 16

/* List the folder: on near stores by the names alone, after which intents are looked at and files are not. */
static LncCode
walk_folder(LncContext *ctx, Walk *walk, LncStore *store, const char *folder, bool few)
{
	LncListing listing = {.folder = folder, .expected = few ? FEW_NAMES : 0};

	walk->folder_length = strlen(folder);
	walk->ordered = lnc_store_ordered(store);
	walk->names_only = lnc_store_near(store);
	listing.names_only = walk->names_only;
	LNC_TRY(lnc_store_list_as(ctx, store, &listing, walk_object, walk));
	walk_end(walk);
	if (walk->names_only)
		LNC_TRY(lnc_versions_look(ctx, walk->arena, store, folder, &walk->intents.count, walk->intents.items));
	return LNC_OK;
}

LncCode
lnc_versions_names(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, uint64_t after,
				   LncVersionList *out)
{
	Walk walk = {.arena = arena, .after = after};

	LNC_TRY(walk_folder(ctx, &walk, store, folder, after > 0));
	*out = (LncVersionList){.nfiles = walk.files.count,
							.files = walk.files.items,
							.nintents = walk.intents.count,
							.intents = walk.intents.items};
	return LNC_OK;
}

LncCode
lnc_versions_list_all(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, uint64_t after,
					  LncVersionList *out)
{
	LNC_TRY(lnc_versions_names(ctx, arena, store, folder, after, out));
	return lnc_store_near(store) ? lnc_versions_look(ctx, arena, store, folder, &out->nfiles, out->files) : LNC_OK;
}

LncCode
lnc_versions_list(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, uint64_t after,
				  size_t *count, LncVersionFile **out)
{
	LncVersionList list;

	LNC_TRY(lnc_versions_list_all(ctx, arena, store, folder, after, &list));
	*count = list.nfiles;
	*out = list.files;
	return LNC_OK;
}

/* The newest file may be taken away between the two looks at the folder, by who withdraws it; then another one is. */
#define LATEST_ATTEMPTS 100

LncCode
lnc_versions_latest(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, LncVersionFile *out)
{
	for (int attempt = 0; attempt < LATEST_ATTEMPTS; attempt++)
	{
		Walk walk = {.arena = arena, .newest_only = true};

		LNC_TRY(walk_folder(ctx, &walk, store, folder, true));
		if (walk.files.count == 0)
		{
			lnc_fail(ctx, LNC_NOT_FOUND, "no version of a dataset found at \"%s\"", lnc_store_uri(store));
			lnc_detail(ctx, "Folder \"%s\" holds no manifest.", folder);
			return LNC_NOT_FOUND;
		}
		if (walk.names_only)
			LNC_TRY(lnc_versions_look(ctx, arena, store, folder, &walk.files.count, walk.files.items));
		if (walk.files.count > 0)
		{
			*out = walk.files.items[0];
			return LNC_OK;
		}
	}
	return lnc_fail(ctx, LNC_UNAVAILABLE, "the versions of the dataset at \"%s\" change too fast to be read",
					lnc_store_uri(store));
}

/* The file of that version under that naming. *found: whether it is there. */
static LncCode
look_for(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, uint64_t version, LncNaming naming,
		 LncVersionFile *out, bool *found)
{
	LncVersionFile file = {.version = version, .naming = naming};
	size_t count = 1;

	LNC_TRY(lnc_versions_look(ctx, arena, store, folder, &count, &file));
	*found = count == 1;
	if (*found)
		*out = file;
	return LNC_OK;
}

LncCode
lnc_versions_find(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, uint64_t version,
				  LncVersionFile *out)
{
	static const LncNaming namings[] = {LNC_NAMING_V2, LNC_NAMING_V1};

	for (int i = 0; i < 2; i++)
	{
		bool found;

		LNC_TRY(look_for(ctx, arena, store, folder, version, namings[i], out, &found));
		if (found)
			return LNC_OK;
	}
	lnc_fail(ctx, LNC_NOT_FOUND, "version %" PRIu64 " of the dataset at \"%s\" does not exist", version,
			 lnc_store_uri(store));
	lnc_detail(ctx, "Folder \"%s\" holds no manifest of that version.", folder);
	return LNC_NOT_FOUND;
}

LncCode
lnc_versions_intended(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, uint64_t version,
					  LncNaming naming, bool *out)
{
	Walk walk = {.arena = arena,
				 .folder_length = strlen(folder),
				 .ordered = lnc_store_ordered(store),
				 .names_only = true,
				 .newest_only = true,
				 .after = version - 1};
	LncListing listing = {.folder = folder, .expected = FEW_NAMES, .names_only = true};
	char *before;

	LNC_TRY(key_with_suffix(ctx, arena, folder, version, naming, ".", &before));
	listing.start_after = before;
	LNC_TRY(lnc_store_list_as(ctx, store, &listing, walk_object, &walk));
	walk_end(&walk);
	*out = walk.intents.count > 0 && walk.intents.items[0].version == version;
	return LNC_OK;
}
