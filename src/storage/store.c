/*
 * store.c
 *	  The face of every store: opening by URI, checks that all kinds share, dispatch.
 */
#include "storage/storage.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "storage/backend.h"

LncCode
lnc_store_open(LncContext *ctx, LncArena *arena, const char *uri, const LncStoreConfig *config, LncStore **out)
{
	static const LncStoreConfig defaults = {0};
	LncUri parsed;
	LncStore *store = NULL;

	if (config == NULL)
		config = &defaults;
	LNC_TRY(lnc_uri_parse(ctx, arena, uri, &parsed));
	switch (parsed.scheme)
	{
		case LNC_SCHEME_FILE:
			LNC_TRY(lnc_local_open(ctx, arena, &parsed, config->anchor, &store));
			break;
		case LNC_SCHEME_S3:
			LNC_TRY(lnc_s3_open(ctx, arena, &parsed, config, &store));
			break;
		case LNC_SCHEME_MEMORY:
			LNC_TRY(lnc_memory_open(ctx, arena, &parsed, &store));
			break;
	}
	store->uri = parsed;
	store->no_conditional_put = config->no_conditional_put;
	if (config->cache != NULL && config->cache_scope != NULL)
	{
		char *scope;

		LNC_TRY(lnc_arena_strndup(ctx, arena, config->cache_scope, strlen(config->cache_scope), &scope));
		store->cache = config->cache;
		store->cache_scope = scope;
	}
	*out = store;
	return LNC_OK;
}

const char *
lnc_store_uri(const LncStore *store)
{
	return store->uri.canonical;
}

const char *
lnc_store_object_root(const LncStore *store)
{
	return store->uri.path;
}

bool
lnc_store_ordered(const LncStore *store)
{
	return store->ordered;
}

bool
lnc_store_near(const LncStore *store)
{
	return store->near;
}

void
lnc_store_stats(const LncStore *store, LncStoreStats *out)
{
	*out = store->stats;
}

void
lnc_store_asked(LncContext *ctx, LncStore *store, uint64_t requests)
{
	store->stats.requests += requests;
	ctx->usage.requests += requests;
}

static void
count_bytes(LncContext *ctx, LncStore *store, uint64_t bytes)
{
	store->stats.bytes_read += bytes;
	ctx->usage.bytes_read += bytes;
}

LncObjectName
lnc_object_name(const LncStore *store, const char *key)
{
	LncObjectName name;
	size_t bad;

	snprintf(name.text, sizeof(name.text), "%s%s%s", store->uri.canonical, key[0] != '\0' ? "/" : "", key);
	/* Names are bytes; messages are text. What is cut or was never UTF-8 becomes "?". */
	while (!lnc_utf8_valid((const uint8_t *)name.text, strlen(name.text), &bad))
		name.text[bad] = '?';
	for (char *p = name.text; *p != '\0'; p++)
	{
		if ((unsigned char)*p < 0x20)
			*p = '?';
	}
	return name;
}

LncCode
lnc_not_found(LncContext *ctx, const LncStore *store, const char *key)
{
	return lnc_fail(ctx, LNC_NOT_FOUND, "object \"%s\" does not exist", lnc_object_name(store, key).text);
}

LncCode
lnc_range_error(LncContext *ctx, const LncStore *store, const char *key, LncRange range, uint64_t size)
{
	return lnc_fail(ctx, LNC_CORRUPT,
					"object \"%s\" is shorter than its reader expects: %llu bytes at %llu of %llu",
					lnc_object_name(store, key).text, (unsigned long long)range.length,
					(unsigned long long)range.offset, (unsigned long long)size);
}

LncCode
lnc_too_large(LncContext *ctx, const LncStore *store, const char *key, uint64_t size, uint64_t max)
{
	return lnc_fail(ctx, LNC_LIMIT, "object \"%s\" has %llu bytes, more than the %llu that are allowed",
					lnc_object_name(store, key).text, (unsigned long long)size, (unsigned long long)max);
}

LncCode
lnc_store_size(LncContext *ctx, LncStore *store, const char *key, uint64_t *size)
{
	LNC_TRY(lnc_key_check(ctx, key));
	LNC_TRY(lnc_check_interrupt(ctx));
	return store->ops->size(ctx, store, key, size);
}

struct LncOpenObject
{
	LncArena *arena; /* borrowed, as are store and key */
	LncStore *store;
	const char *key;
	void *kept; /* of the store's kind; NULL: not open */
	bool apart; /* each read opens it anew */
};

LncCode
lnc_object_open(LncContext *ctx, LncArena *arena, LncStore *store, const char *key, LncOpenObject **out)
{
	LncOpenObject *object;

	LNC_TRY(lnc_key_check(ctx, key));
	LNC_TRY(LNC_NEW(ctx, arena, &object, 1));
	object->arena = arena;
	object->store = store;
	object->key = key;
	*out = object;
	return LNC_OK;
}

/* Read ranges that are not empty, by what is kept of the object if there is one. */
static LncCode
read_checked(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, LncOpenObject *object,
			 size_t nranges, const LncRange *ranges, const uint8_t **outs)
{
	if (object != NULL && object->kept == NULL && !object->apart)
	{
		if (store->ops->keep != NULL)
			LNC_TRY(store->ops->keep(ctx, store, object->arena, key, &object->kept));
		object->apart = object->kept == NULL;
	}
	if (object == NULL || object->apart)
		return store->ops->read_ranges(ctx, store, arena, key, nranges, ranges, outs);
	return store->ops->read_kept(ctx, store, arena, key, object->kept, nranges, ranges, outs);
}

static LncCode
read_ranges(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, LncOpenObject *object,
			size_t nranges, const LncRange *ranges, const uint8_t **outs)
{
	static const uint8_t nothing[1] = {0};
	LncRange *wanted;
	const uint8_t **found;
	size_t n = 0;

	LNC_TRY(lnc_check_interrupt(ctx));
	LNC_TRY(LNC_NEW(ctx, arena, &wanted, nranges));
	LNC_TRY(LNC_NEW(ctx, arena, &found, nranges));
	for (size_t i = 0; i < nranges; i++)
	{
		uint64_t end;

		outs[i] = nothing;
		if (lnc_add_overflow(ranges[i].offset, ranges[i].length, &end) || end > INT64_MAX)
			return lnc_fail(ctx, LNC_CORRUPT, "object \"%s\" cannot have %llu bytes at %llu",
							lnc_object_name(store, key).text, (unsigned long long)ranges[i].length,
							(unsigned long long)ranges[i].offset);
		if (ranges[i].length > 0)
			wanted[n++] = ranges[i];
	}
	if (n == 0)
		return LNC_OK;
	LNC_TRY(read_checked(ctx, store, arena, key, object, n, wanted, found));
	n = 0;
	for (size_t i = 0; i < nranges; i++)
	{
		if (ranges[i].length == 0)
			continue;
		outs[i] = found[n++];
		count_bytes(ctx, store, ranges[i].length);
	}
	return LNC_OK;
}

LncCode
lnc_store_read_ranges(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, size_t nranges,
					  const LncRange *ranges, const uint8_t **outs)
{
	LNC_TRY(lnc_key_check(ctx, key));
	return read_ranges(ctx, store, arena, key, NULL, nranges, ranges, outs);
}

LncCode
lnc_object_read_ranges(LncContext *ctx, LncOpenObject *object, LncArena *arena, size_t nranges,
					   const LncRange *ranges, const uint8_t **outs)
{
	return read_ranges(ctx, object->store, arena, object->key, object, nranges, ranges, outs);
}

/* A reading that was begun. */
struct LncReading
{
	LncStore *store; /* borrowed */
	void *job;
	uint64_t length;
};

LncCode
lnc_store_read_begin(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, LncRange range,
					 uint8_t *target, LncReading **out)
{
	LncReading *reading;

	*out = NULL;
	if (store->ops->read_begin == NULL)
		return LNC_OK;
	LNC_TRY(lnc_key_check(ctx, key));
	LNC_TRY(LNC_NEW(ctx, arena, &reading, 1));
	reading->store = store;
	reading->length = range.length;
	LNC_TRY(store->ops->read_begin(ctx, store, arena, key, range, target, &reading->job));
	if (reading->job != NULL)
		*out = reading;
	return LNC_OK;
}

bool
lnc_store_begins(const LncStore *store)
{
	return store->ops->read_begin != NULL;
}

LncCode
lnc_store_move_on(LncContext *ctx, LncStore *store)
{
	return store->ops->move_on != NULL ? store->ops->move_on(ctx, store) : LNC_OK;
}

LncCode
lnc_reading_finish(LncContext *ctx, LncReading *reading, bool *whole)
{
	LNC_TRY(reading->store->ops->read_finish(ctx, reading->store, reading->job, whole));
	if (*whole)
		count_bytes(ctx, reading->store, reading->length);
	return LNC_OK;
}

LncCode
lnc_store_read_tail(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, uint64_t max,
					LncSlice *tail, uint64_t *size)
{
	LNC_TRY(lnc_key_check(ctx, key));
	LNC_TRY(lnc_check_interrupt(ctx));
	if (max == 0)
	{
		*tail = (LncSlice){.data = (const uint8_t *)"", .size = 0};
		return store->ops->size(ctx, store, key, size);
	}
	LNC_TRY(store->ops->read_tail(ctx, store, arena, key, max, tail, size));
	count_bytes(ctx, store, tail->size);
	return LNC_OK;
}

LncCode
lnc_store_read_all(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, uint64_t max, LncSlice *out)
{
	LNC_TRY(lnc_key_check(ctx, key));
	LNC_TRY(lnc_check_interrupt(ctx));
	LNC_TRY(store->ops->read_all(ctx, store, arena, key, max, out));
	count_bytes(ctx, store, out->size);
	return LNC_OK;
}

LncCode
lnc_store_put(LncContext *ctx, LncStore *store, const char *key, LncSlice body)
{
	LNC_TRY(lnc_key_check(ctx, key));
	LNC_TRY(lnc_check_interrupt(ctx));
	return store->ops->put(ctx, store, key, body);
}

LncCode
lnc_store_put_if_absent(LncContext *ctx, LncStore *store, const char *key, LncSlice body)
{
	LNC_TRY(lnc_key_check(ctx, key));
	LNC_TRY(lnc_check_interrupt(ctx));
	if (store->no_conditional_put)
	{
		lnc_fail(ctx, LNC_UNSUPPORTED, "store of \"%s\" is set up to have no conditional writes",
				 lnc_object_name(store, key).text);
		lnc_hint(ctx, "Let the catalog order the commits of the table, or use a store that honors If-None-Match.");
		return LNC_UNSUPPORTED;
	}
	return store->ops->put_if_absent(ctx, store, key, body);
}

LncCode
lnc_store_delete(LncContext *ctx, LncStore *store, const char *key)
{
	return lnc_store_delete_many(ctx, store, 1, &key);
}

LncCode
lnc_store_discard(LncContext *ctx, LncStore *store, const char *key)
{
	LNC_TRY(lnc_key_check(ctx, key));
	LNC_TRY(lnc_check_interrupt(ctx));
	return store->ops->remove(ctx, store, 1, &key, false);
}

LncCode
lnc_store_delete_many(LncContext *ctx, LncStore *store, size_t n, const char *const *keys)
{
	for (size_t i = 0; i < n; i++)
		LNC_TRY(lnc_key_check(ctx, keys[i]));
	LNC_TRY(lnc_check_interrupt(ctx));
	return store->ops->remove(ctx, store, n, keys, true);
}

LncCode
lnc_store_delete_prefix(LncContext *ctx, LncStore *store, const char *prefix, uint64_t *removed)
{
	if (prefix[0] != '\0')
		LNC_TRY(lnc_key_check(ctx, prefix));
	LNC_TRY(lnc_check_interrupt(ctx));
	*removed = 0;
	return store->ops->remove_prefix(ctx, store, prefix, removed);
}

LncCode
lnc_store_list(LncContext *ctx, LncStore *store, const char *folder, bool recursive, const char *start_after,
			   LncListFn fn, void *arg)
{
	LncListing listing = {.folder = folder, .recursive = recursive, .start_after = start_after};

	return lnc_store_list_as(ctx, store, &listing, fn, arg);
}

LncCode
lnc_store_list_as(LncContext *ctx, LncStore *store, const LncListing *listing, LncListFn fn, void *arg)
{
	if (listing->folder[0] != '\0')
		LNC_TRY(lnc_key_check(ctx, listing->folder));
	LNC_TRY(lnc_check_interrupt(ctx));
	return store->ops->list(ctx, store, listing, fn, arg);
}

LncCode
lnc_store_list_folders(LncContext *ctx, LncStore *store, const char *folder, LncFolderFn fn, void *arg)
{
	if (folder[0] != '\0')
		LNC_TRY(lnc_key_check(ctx, folder));
	LNC_TRY(lnc_check_interrupt(ctx));
	return store->ops->list_folders(ctx, store, folder, fn, arg);
}

LncCode
lnc_store_folder_stamp(LncContext *ctx, LncStore *store, const char *folder, int settled_ms, LncFolderStamp *out,
					   bool *settled)
{
	if (folder[0] != '\0')
		LNC_TRY(lnc_key_check(ctx, folder));
	LNC_TRY(lnc_check_interrupt(ctx));
	if (store->ops->folder_stamp == NULL)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "folders of \"%s\" have no time of their own",
						lnc_object_name(store, folder).text);
	return store->ops->folder_stamp(ctx, store, folder, settled_ms, out, settled);
}

LncCode
lnc_store_find(LncContext *ctx, LncStore *store, size_t n, const char *const *keys, LncObject *outs)
{
	for (size_t i = 0; i < n; i++)
		LNC_TRY(lnc_key_check(ctx, keys[i]));
	LNC_TRY(lnc_check_interrupt(ctx));
	return store->ops->find(ctx, store, n, keys, outs);
}

LncCode
lnc_store_present(LncContext *ctx, LncStore *store, size_t n, const char *const *keys, bool *present)
{
	for (size_t i = 0; i < n; i++)
		LNC_TRY(lnc_key_check(ctx, keys[i]));
	LNC_TRY(lnc_check_interrupt(ctx));
	return store->ops->present(ctx, store, n, keys, present);
}

LncCode
lnc_present_by_size(LncContext *ctx, LncStore *store, size_t n, const char *const *keys, bool *present)
{
	for (size_t i = 0; i < n; i++)
	{
		uint64_t size;
		LncCode code;

		LNC_TRY(lnc_check_interrupt(ctx));
		code = store->ops->size(ctx, store, keys[i], &size);
		if (code != LNC_OK && code != LNC_NOT_FOUND)
			return code;
		present[i] = code == LNC_OK;
	}
	return LNC_OK;
}
