/*
 * version_page.c
 *	  Parts of a long history: its newest end, for who knows where that was, and a page.
 */
#include "dataset/version_page.h"

#include <string.h>

#include "base/json.h"

/* ---- the newest end */

/* Of what the hint file holds. */
#define LONGEST_HINT 4096

/* The version that the hint file names; 0 when there is none, or it is damaged. */
static LncCode
read_hint(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, uint64_t *version)
{
	const LncJson *json;
	LncSlice text;
	LncCode code;
	int64_t number = 0;
	bool present = false;
	char *key;

	*version = 0;
	LNC_TRY(lnc_arena_printf(ctx, arena, &key, "%s/latest_version_hint.json", folder));
	code = lnc_store_read_all(ctx, store, arena, key, LONGEST_HINT, &text);
	if (code == LNC_OK)
		code = lnc_json_parse(ctx, arena, text, &json);
	if (code == LNC_OK)
		code = lnc_json_get_int64(ctx, json, "version", &present, &number);
	if (code == LNC_NO_MEMORY || code == LNC_CANCELLED)
		return code;
	if (code == LNC_OK && present && number > 0)
		*version = (uint64_t)number;
	return LNC_OK;
}

LncCode
lnc_versions_still_latest(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, uint64_t version,
						  LncNaming naming, LncVersionFile *out, bool *still)
{
	LncVersionFile files[3] = {{.version = version, .naming = naming}};
	size_t count = 1;
	uint64_t hint;

	if (version < LNC_MAX_VERSION)
		files[count++] = (LncVersionFile){.version = version + 1, .naming = naming};
	/* A hint that is ahead stands for versions that were cleaned up in between. */
	LNC_TRY(read_hint(ctx, arena, store, folder, &hint));
	if (hint > version + 1)
		files[count++] = (LncVersionFile){.version = hint, .naming = naming};
	LNC_TRY(lnc_versions_look(ctx, arena, store, folder, &count, files));
	*still = count == 1 && files[0].version == version;
	if (*still)
		*out = files[0];
	return LNC_OK;
}

/* Beyond so many, listing them is cheaper than looking for one after the other. */
#define MOST_NEWER 100

/* The file of the version under the naming; NULL in *out's key when it is not there. */
static LncCode
look_for(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, uint64_t version, LncNaming naming,
		 LncVersionFile *out)
{
	size_t count = 1;

	*out = (LncVersionFile){.version = version, .naming = naming};
	LNC_TRY(lnc_versions_look(ctx, arena, store, folder, &count, out));
	if (count == 0)
		out->key = NULL;
	return LNC_OK;
}

LncCode
lnc_versions_latest_since(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, uint64_t version,
						  LncNaming naming, LncVersionFile *out)
{
	LncVersionFile next;
	uint64_t hint;

	LNC_TRY(look_for(ctx, arena, store, folder, version, naming, out));
	if (out->key == NULL)
		return lnc_versions_latest(ctx, arena, store, folder, out);
	LNC_TRY(read_hint(ctx, arena, store, folder, &hint));
	if (hint > out->version)
	{
		LNC_TRY(look_for(ctx, arena, store, folder, hint, naming, &next));
		if (next.key != NULL)
			*out = next;
	}
	for (int newer = 0; newer < MOST_NEWER; newer++)
	{
		if (out->version == LNC_MAX_VERSION)
			return LNC_OK;
		LNC_TRY(look_for(ctx, arena, store, folder, out->version + 1, naming, &next));
		if (next.key == NULL)
			return LNC_OK;
		*out = next;
	}
	return lnc_versions_latest(ctx, arena, store, folder, out);
}

/* ---- a page */

/* A part of an ordered listing: V2 names, newest first. */
typedef struct Part
{
	LncArena *arena;
	size_t folder_length;
	uint64_t first; /* ends the listing, as the next older one does */
	size_t most;    /* files, or room for them */
	uint64_t intended;
	size_t count;
	size_t capacity;
	LncVersionFile *files;
} Part;

static LncCode
add_file(LncContext *ctx, Part *part, const LncVersionFile *file)
{
	if (part->count == part->capacity)
	{
		size_t capacity = part->capacity == 0 ? 16 : part->capacity * 2;
		LncVersionFile *files;

		LNC_TRY(LNC_NEW(ctx, part->arena, &files, capacity));
		if (part->count > 0)
			memcpy(files, part->files, part->count * sizeof(*files));
		part->files = files;
		part->capacity = capacity;
	}
	part->files[part->count++] = *file;
	return LNC_OK;
}

static LncCode
part_object(LncContext *ctx, void *arg, const LncObject *object, bool *stop)
{
	Part *part = arg;
	LncVersionFile file = {.size = object->size, .modified_ms = object->modified_ms};
	const char *name;
	char *key;

	LNC_TRY(lnc_check_interrupt(ctx));
	if (strlen(object->key) <= part->folder_length + 1)
		return LNC_OK;
	name = object->key + part->folder_length + 1;
	if (!lnc_versions_parse_name(name, &file.version, &file.naming))
	{
		/* An intent stands before its manifest. */
		(void)lnc_versions_parse_intent(name, &part->intended);
		return LNC_OK;
	}
	if (file.naming != LNC_NAMING_V2)
	{
		lnc_fail(ctx, LNC_CORRUPT, "folder of versions mixes two naming schemes");
		lnc_detail(ctx, "Folder \"%.*s\", file \"%s\".", (int)part->folder_length, object->key, name);
		return LNC_CORRUPT;
	}
	*stop = file.version <= part->first;
	if (file.version < part->first)
		return LNC_OK;
	LNC_TRY(lnc_arena_strndup(ctx, part->arena, object->key, strlen(object->key), &key));
	file.key = key;
	file.intended = part->intended == file.version;
	LNC_TRY(add_file(ctx, part, &file));
	*stop = *stop || part->count == part->most;
	return LNC_OK;
}

/* Names that may lie among those that are wanted. */
#define SPARE_NAMES 8

/* Versions from last down to first, at most part->most. */
static LncCode
list_part(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, uint64_t last, size_t expected,
		  Part *part)
{
	LncListing listing = {.folder = folder, .expected = expected + SPARE_NAMES};
	char *before;

	/* It begins behind the next newer one. */
	if (last < LNC_MAX_VERSION)
	{
		LNC_TRY(lnc_versions_key(ctx, arena, folder, last + 1, LNC_NAMING_V2, &before));
		listing.start_after = before;
	}
	part->arena = arena;
	part->folder_length = strlen(folder);
	return lnc_store_list_as(ctx, store, &listing, part_object, part);
}

static LncCode
page_down(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, const LncVersionRange *range,
		  size_t *count, LncVersionFile **out)
{
	Part part = {.first = range->first, .most = range->want};

	LNC_TRY(list_part(ctx, arena, store, folder, range->last, range->want, &part));
	*count = part.count;
	*out = part.files;
	return LNC_OK;
}

/* Against the order of the store: pieces that hold as many numbers as versions are wanted, larger ones where many are gone. */
static LncCode
page_up(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, const LncVersionRange *range,
		size_t *count, LncVersionFile **out)
{
	uint64_t from = range->first;
	uint64_t width = range->want;
	Part all = {.arena = arena};

	for (;;)
	{
		uint64_t last = range->last - from < width ? range->last : from + width - 1;
		Part part = {.first = from};

		part.most = SIZE_MAX;
		LNC_TRY(list_part(ctx, arena, store, folder, last, range->want, &part));
		for (size_t i = part.count; i > 0 && all.count < range->want; i--)
			LNC_TRY(add_file(ctx, &all, &part.files[i - 1]));
		if (all.count == range->want || last == range->last)
			break;
		from = last + 1;
		width = width > UINT64_MAX / 2 ? UINT64_MAX : width * 2;
	}
	*count = all.count;
	*out = all.files;
	return LNC_OK;
}

/* By a list of all names, of which those of the page are looked at. */
static LncCode
page_of_names(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, const LncVersionRange *range,
			  size_t *count, LncVersionFile **out)
{
	LncVersionList list;
	Part all = {.arena = arena};
	size_t low = 0;
	size_t high;

	LNC_TRY(lnc_versions_names(ctx, arena, store, folder, range->first - 1, &list));
	high = list.nfiles;
	while (high > 0 && list.files[high - 1].version > range->last)
		high--;
	while (low < high && all.count < range->want)
	{
		size_t n = range->want - all.count < high - low ? range->want - all.count : high - low;
		LncVersionFile *files;

		LNC_TRY(LNC_NEW(ctx, arena, &files, n));
		for (size_t i = 0; i < n; i++)
			files[i] = list.files[range->descending ? --high : low++];
		if (lnc_store_near(store))
			LNC_TRY(lnc_versions_look(ctx, arena, store, folder, &n, files));
		for (size_t i = 0; i < n; i++)
			LNC_TRY(add_file(ctx, &all, &files[i]));
	}
	*count = all.count;
	*out = all.files;
	return LNC_OK;
}

LncCode
lnc_versions_page(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder, LncNaming naming,
				  const LncVersionRange *range, size_t *count, LncVersionFile **out)
{
	*count = 0;
	*out = NULL;
	if (range->first == 0 || range->want == 0)
		return lnc_fail(ctx, LNC_INVALID, "invalid range of versions");
	if (range->first > range->last)
		return LNC_OK;
	if (!lnc_store_ordered(store) || naming != LNC_NAMING_V2)
		return page_of_names(ctx, arena, store, folder, range, count, out);
	return range->descending ? page_down(ctx, arena, store, folder, range, count, out)
							 : page_up(ctx, arena, store, folder, range, count, out);
}
