/*
 * memory.c
 *	  The store "memory://name", for tests: objects live until the process ends, and handles of one name share them.
 *
 * This is the only place of the library half that holds state of the process; nothing but a URI of this scheme
 * reaches it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "storage/backend.h"

typedef struct MemoryObject
{
	char *key; /* owned; with the path of the URI in front */
	uint8_t *data;
	size_t size;
	int64_t modified_ms;
} MemoryObject;

/* All objects of one name, in the order of their keys. */
typedef struct MemoryBucket
{
	struct MemoryBucket *next;
	char *name;
	MemoryObject *objects;
	size_t count;
	size_t capacity;
} MemoryBucket;

typedef struct MemoryStore
{
	LncStore base;
	MemoryBucket *bucket;
	const char *path; /* of the URI; "" or a key */
} MemoryStore;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MemoryBucket *buckets;

static LncCode
no_memory(LncContext *ctx)
{
	return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory");
}

/* The key within the bucket, in malloc'd memory; NULL when memory is short. */
static char *
full_key(const MemoryStore *store, const char *key)
{
	size_t path = strlen(store->path);
	size_t length = strlen(key);
	char *full = malloc(path + length + 2);

	if (full == NULL)
		return NULL;
	memcpy(full, store->path, path);
	if (path > 0 && length > 0)
		full[path++] = '/';
	memcpy(full + path, key, length + 1);
	return full;
}

/* Index of the first object whose key is not below key. The lock is held. */
static size_t
lower_bound(const MemoryBucket *bucket, const char *key)
{
	size_t low = 0;
	size_t high = bucket->count;

	while (low < high)
	{
		size_t middle = low + (high - low) / 2;

		if (strcmp(bucket->objects[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The object of that key, or NULL. The lock is held. */
static MemoryObject *
find_object(MemoryBucket *bucket, const char *key)
{
	size_t at = lower_bound(bucket, key);

	return at < bucket->count && strcmp(bucket->objects[at].key, key) == 0 ? &bucket->objects[at] : NULL;
}

/* Take the object out. The lock is held. */
static void
drop_object(MemoryBucket *bucket, size_t at)
{
	free(bucket->objects[at].key);
	free(bucket->objects[at].data);
	bucket->count--;
	memmove(&bucket->objects[at], &bucket->objects[at + 1], (bucket->count - at) * sizeof(MemoryObject));
}

/* Copy length bytes at offset of the object into the arena; past the end is corrupt. */
static LncCode
copy_range(LncContext *ctx, MemoryStore *store, LncArena *arena, const char *key, const MemoryObject *object,
		   LncRange range, const uint8_t **out)
{
	void *memory;

	if (!lnc_range_ok(range.offset, range.length, object->size))
		return lnc_range_error(ctx, &store->base, key, range, object->size);
	LNC_TRY(lnc_arena_alloc(ctx, arena, range.length, &memory));
	if (range.length > 0)
		memcpy(memory, object->data + range.offset, range.length);
	*out = memory;
	return LNC_OK;
}

/* What is done with an object while the lock is held. */
typedef LncCode (*ObjectFn)(LncContext *ctx, MemoryStore *store, const char *key, const MemoryObject *object,
							void *arg);

static LncCode
with_object(LncContext *ctx, LncStore *base, const char *key, ObjectFn fn, void *arg)
{
	MemoryStore *store = (MemoryStore *)base;
	char *full = full_key(store, key);
	const MemoryObject *object;
	LncCode code;

	if (full == NULL)
		return no_memory(ctx);
	lnc_store_asked(ctx, base, 1);
	pthread_mutex_lock(&lock);
	object = find_object(store->bucket, full);
	code = object != NULL ? fn(ctx, store, key, object, arg) : lnc_not_found(ctx, base, key);
	pthread_mutex_unlock(&lock);
	free(full);
	return code;
}

static LncCode
take_size(LncContext *ctx, MemoryStore *store, const char *key, const MemoryObject *object, void *arg)
{
	(void)ctx;
	(void)store;
	(void)key;
	*(uint64_t *)arg = object->size;
	return LNC_OK;
}

static LncCode
memory_size(LncContext *ctx, LncStore *base, const char *key, uint64_t *size)
{
	return with_object(ctx, base, key, take_size, size);
}

typedef struct RangesWanted
{
	LncArena *arena;
	size_t count;
	const LncRange *ranges;
	const uint8_t **outs;
} RangesWanted;

static LncCode
take_ranges(LncContext *ctx, MemoryStore *store, const char *key, const MemoryObject *object, void *arg)
{
	RangesWanted *wanted = arg;

	for (size_t i = 0; i < wanted->count; i++)
		LNC_TRY(copy_range(ctx, store, wanted->arena, key, object, wanted->ranges[i], &wanted->outs[i]));
	return LNC_OK;
}

static LncCode
memory_read_ranges(LncContext *ctx, LncStore *base, LncArena *arena, const char *key, size_t nranges,
				   const LncRange *ranges, const uint8_t **outs)
{
	RangesWanted wanted = {.arena = arena, .count = nranges, .ranges = ranges, .outs = outs};

	return with_object(ctx, base, key, take_ranges, &wanted);
}

typedef struct EndWanted
{
	LncArena *arena;
	uint64_t max;
	bool whole; /* a larger object is an error, else its end is taken */
	LncSlice *out;
	uint64_t size;
} EndWanted;

static LncCode
take_end(LncContext *ctx, MemoryStore *store, const char *key, const MemoryObject *object, void *arg)
{
	EndWanted *wanted = arg;
	LncRange range = {.offset = 0, .length = object->size};

	wanted->size = object->size;
	if (object->size > wanted->max)
	{
		if (wanted->whole)
			return lnc_too_large(ctx, &store->base, key, object->size, wanted->max);
		range = (LncRange){.offset = object->size - wanted->max, .length = wanted->max};
	}
	wanted->out->size = range.length;
	return copy_range(ctx, store, wanted->arena, key, object, range, &wanted->out->data);
}

static LncCode
memory_read_tail(LncContext *ctx, LncStore *base, LncArena *arena, const char *key, uint64_t max, LncSlice *tail,
				 uint64_t *size)
{
	EndWanted wanted = {.arena = arena, .max = max, .out = tail};

	LNC_TRY(with_object(ctx, base, key, take_end, &wanted));
	*size = wanted.size;
	return LNC_OK;
}

static LncCode
memory_read_all(LncContext *ctx, LncStore *base, LncArena *arena, const char *key, uint64_t max, LncSlice *out)
{
	EndWanted wanted = {.arena = arena, .max = max, .whole = true, .out = out};

	return with_object(ctx, base, key, take_end, &wanted);
}

/* Make room for one more object. The lock is held. */
static bool
grow(MemoryBucket *bucket)
{
	size_t capacity = bucket->capacity == 0 ? 16 : bucket->capacity * 2;
	MemoryObject *objects;

	if (bucket->count < bucket->capacity)
		return true;
	objects = realloc(bucket->objects, capacity * sizeof(MemoryObject));
	if (objects == NULL)
		return false;
	bucket->objects = objects;
	bucket->capacity = capacity;
	return true;
}

static LncCode
memory_write(LncContext *ctx, LncStore *base, const char *key, LncSlice body, bool only_if_absent)
{
	MemoryStore *store = (MemoryStore *)base;
	MemoryBucket *bucket = store->bucket;
	MemoryObject *old;
	MemoryObject new = {
		.key = full_key(store, key), .data = malloc(body.size > 0 ? body.size : 1), .size = body.size};
	struct timespec now;
	LncCode code = LNC_OK;

	lnc_store_asked(ctx, base, 1);
	if (new.key == NULL || new.data == NULL)
	{
		free(new.key);
		free(new.data);
		return no_memory(ctx);
	}
	if (body.size > 0)
		memcpy(new.data, body.data, body.size);
	clock_gettime(CLOCK_REALTIME, &now);
	new.modified_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;

	pthread_mutex_lock(&lock);
	old = find_object(bucket, new.key);
	if (old != NULL && only_if_absent)
		code = lnc_fail(ctx, LNC_EXISTS, "object \"%s\" exists already", lnc_object_name(base, key).text);
	else if (old != NULL)
	{
		MemoryObject swap = *old;

		*old = new;
		new = swap;
	}
	else if (!grow(bucket))
		code = no_memory(ctx);
	else
	{
		size_t at = lower_bound(bucket, new.key);

		memmove(&bucket->objects[at + 1], &bucket->objects[at], (bucket->count - at) * sizeof(MemoryObject));
		bucket->objects[at] = new;
		bucket->count++;
		new = (MemoryObject){0};
	}
	pthread_mutex_unlock(&lock);
	/* What the bucket did not take, or gave up. */
	free(new.key);
	free(new.data);
	return code;
}

static LncCode
memory_put(LncContext *ctx, LncStore *base, const char *key, LncSlice body)
{
	return memory_write(ctx, base, key, body, false);
}

static LncCode
memory_put_if_absent(LncContext *ctx, LncStore *base, const char *key, LncSlice body)
{
	return memory_write(ctx, base, key, body, true);
}

static LncCode
memory_remove(LncContext *ctx, LncStore *base, size_t n, const char *const *keys, bool durable)
{
	MemoryStore *store = (MemoryStore *)base;

	(void)durable;
	lnc_store_asked(ctx, base, n);
	for (size_t i = 0; i < n; i++)
	{
		char *full = full_key(store, keys[i]);
		MemoryObject *object;

		if (full == NULL)
			return no_memory(ctx);
		pthread_mutex_lock(&lock);
		object = find_object(store->bucket, full);
		if (object != NULL)
			drop_object(store->bucket, (size_t)(object - store->bucket->objects));
		pthread_mutex_unlock(&lock);
		free(full);
	}
	return LNC_OK;
}

static LncCode
memory_find(LncContext *ctx, LncStore *base, size_t n, const char *const *keys, LncObject *outs)
{
	MemoryStore *store = (MemoryStore *)base;

	lnc_store_asked(ctx, base, n);
	for (size_t i = 0; i < n; i++)
	{
		char *full = full_key(store, keys[i]);
		const MemoryObject *object;

		if (full == NULL)
			return no_memory(ctx);
		memset(&outs[i], 0, sizeof(outs[i]));
		pthread_mutex_lock(&lock);
		object = find_object(store->bucket, full);
		if (object != NULL)
			outs[i] = (LncObject){.key = keys[i], .size = object->size, .modified_ms = object->modified_ms};
		pthread_mutex_unlock(&lock);
		free(full);
	}
	return LNC_OK;
}

/* True when key lies below folder ("" is everything); *inner is then the rest. */
static bool
is_below(const char *key, const char *folder, const char **inner)
{
	size_t length = strlen(folder);

	if (length == 0)
		*inner = key;
	else if (strncmp(key, folder, length) == 0 && key[length] == '/')
		*inner = key + length + 1;
	else
		return false;
	return true;
}

static LncCode
memory_remove_prefix(LncContext *ctx, LncStore *base, const char *prefix, uint64_t *removed)
{
	MemoryStore *store = (MemoryStore *)base;
	char *folder = full_key(store, prefix);
	const char *inner;

	if (folder == NULL)
		return no_memory(ctx);
	lnc_store_asked(ctx, base, 1);
	pthread_mutex_lock(&lock);
	for (size_t i = store->bucket->count; i-- > 0;)
	{
		if (is_below(store->bucket->objects[i].key, folder, &inner))
		{
			drop_object(store->bucket, i);
			++*removed;
		}
	}
	pthread_mutex_unlock(&lock);
	free(folder);
	return LNC_OK;
}

/*
 * Find the first object below folder whose key is above *cursor, and copy it: *cursor becomes its key (malloc'd, the old
 * one is freed). *found is false at the end.
 */
static LncCode
next_object(LncContext *ctx, MemoryStore *store, const char *folder, char **cursor, bool *found, LncObject *object)
{
	MemoryBucket *bucket = store->bucket;
	const char *inner;
	LncCode code = LNC_OK;
	size_t at;

	*found = false;
	pthread_mutex_lock(&lock);
	at = lower_bound(bucket, *cursor);
	for (; at < bucket->count; at++)
	{
		const MemoryObject *candidate = &bucket->objects[at];

		if (strcmp(candidate->key, *cursor) != 0 && is_below(candidate->key, folder, &inner))
		{
			char *key = strdup(candidate->key);

			if (key == NULL)
				code = no_memory(ctx);
			else
			{
				free(*cursor);
				*cursor = key;
				object->size = candidate->size;
				object->modified_ms = candidate->modified_ms;
				*found = true;
			}
			break;
		}
	}
	pthread_mutex_unlock(&lock);
	return code;
}

static LncCode
memory_list(LncContext *ctx, LncStore *base, const LncListing *listing, LncListFn fn, void *arg)
{
	MemoryStore *store = (MemoryStore *)base;
	char *full = full_key(store, listing->folder);
	char *cursor = full_key(store, listing->start_after != NULL ? listing->start_after : "");
	bool stop = false;
	bool found = true;
	LncCode code = full != NULL && cursor != NULL ? LNC_OK : no_memory(ctx);

	lnc_store_asked(ctx, base, 1);
	while (code == LNC_OK && !stop)
	{
		LncObject object = {0};
		const char *inner;

		code = lnc_check_interrupt(ctx);
		if (code == LNC_OK)
			code = next_object(ctx, store, full, &cursor, &found, &object);
		if (code != LNC_OK || !found)
			break;
		if (!is_below(cursor, full, &inner) || (!listing->recursive && strchr(inner, '/') != NULL))
			continue;
		object.key = store->path[0] != '\0' ? cursor + strlen(store->path) + 1 : cursor;
		code = fn(ctx, arg, &object, &stop);
	}
	free(full);
	free(cursor);
	return code;
}

/* A folder is told once: its keys stand together in order, and the search goes on behind them. */
static LncCode
memory_list_folders(LncContext *ctx, LncStore *base, const char *folder, LncFolderFn fn, void *arg)
{
	MemoryStore *store = (MemoryStore *)base;
	char *full = full_key(store, folder);
	char *cursor = full_key(store, "");
	bool stop = false;
	bool found = true;
	LncCode code = full != NULL && cursor != NULL ? LNC_OK : no_memory(ctx);

	base->stats.requests++;
	while (code == LNC_OK && !stop)
	{
		LncObject object = {0};
		const char *inner;
		char *end;

		code = lnc_check_interrupt(ctx);
		if (code == LNC_OK)
			code = next_object(ctx, store, full, &cursor, &found, &object);
		if (code != LNC_OK || !found)
			break;
		if (!is_below(cursor, full, &inner) || strchr(inner, '/') == NULL)
			continue;
		end = cursor + (inner - cursor) + strcspn(inner, "/");
		*end = '\0';
		code = fn(ctx, arg, store->path[0] != '\0' ? cursor + strlen(store->path) + 1 : cursor, &stop);
		/* '0' is the byte after '/': no key of the folder lies behind it. */
		end[0] = '/' + 1;
		end[1] = '\0';
	}
	free(full);
	free(cursor);
	return code;
}

/* The bucket of that name, made when it is missing; NULL when memory is short. The lock is held. */
static MemoryBucket *
find_bucket(const char *name)
{
	MemoryBucket *bucket = buckets;

	while (bucket != NULL && strcmp(bucket->name, name) != 0)
		bucket = bucket->next;
	if (bucket != NULL)
		return bucket;
	bucket = calloc(1, sizeof(*bucket));
	if (bucket == NULL)
		return NULL;
	bucket->name = strdup(name);
	if (bucket->name == NULL)
	{
		free(bucket);
		return NULL;
	}
	bucket->next = buckets;
	buckets = bucket;
	return bucket;
}

LncCode
lnc_memory_open(LncContext *ctx, LncArena *arena, const LncUri *uri, LncStore **out)
{
	static const LncStoreOps ops = {
		.size = memory_size,
		.present = lnc_present_by_size,
		.read_ranges = memory_read_ranges,
		.read_tail = memory_read_tail,
		.read_all = memory_read_all,
		.put = memory_put,
		.put_if_absent = memory_put_if_absent,
		.remove = memory_remove,
		.remove_prefix = memory_remove_prefix,
		.find = memory_find,
		.list = memory_list,
		.list_folders = memory_list_folders,
	};
	MemoryStore *store;

	LNC_TRY(LNC_NEW(ctx, arena, &store, 1));
	store->base.ops = &ops;
	store->base.ordered = true;
	store->path = uri->path;
	pthread_mutex_lock(&lock);
	store->bucket = find_bucket(uri->bucket);
	pthread_mutex_unlock(&lock);
	if (store->bucket == NULL)
		return no_memory(ctx);
	*out = &store->base;
	return LNC_OK;
}
