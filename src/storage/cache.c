/*
 * cache.c
 *	  A bounded memory of bytes by name.
 */
#include "storage/cache.h"

#include <string.h>

#include "base/env.h"

/* Entries that are larger than the bound divided by this would push too many others out. */
#define LARGEST_SHARE 8

#define FIRST_BUCKETS 64

/* One name and its bytes, in one piece of memory. */
typedef struct CacheEntry
{
	struct CacheEntry *chain; /* of its bucket */
	struct CacheEntry *newer; /* by use; NULL: used last */
	struct CacheEntry *older;
	uint64_t hash;
	size_t name_size;
	size_t size;
	uint8_t data[]; /* the name, then the bytes */
} CacheEntry;

struct LncCache
{
	const LncEnv *env;
	size_t most;
	size_t taken;    /* by entries and buckets */
	size_t nbuckets; /* a power of two; 0: none yet */
	size_t count;
	CacheEntry **buckets;
	CacheEntry *newest;
	CacheEntry *oldest;
	uint64_t hits;
	uint64_t misses;
};

/* FNV-1a. */
static uint64_t
hash_name(LncSlice name)
{
	uint64_t hash = UINT64_C(0xCBF29CE484222325);

	for (size_t i = 0; i < name.size; i++)
		hash = (hash ^ name.data[i]) * UINT64_C(0x100000001B3);
	return hash ^ (hash >> 29);
}

static size_t
entry_size(size_t name_size, size_t size)
{
	return sizeof(CacheEntry) + name_size + size;
}

LncCode
lnc_cache_create(LncContext *ctx, const LncEnv *env, size_t most, LncCache **out)
{
	LncCache *cache = env->alloc(env->state, sizeof(*cache));

	if (cache == NULL)
		return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory");
	memset(cache, 0, sizeof(*cache));
	cache->env = env;
	cache->most = most;
	*out = cache;
	return LNC_OK;
}

/* ---- order of use ---- */

static void
unlink_entry(LncCache *cache, CacheEntry *entry)
{
	*(entry->newer != NULL ? &entry->newer->older : &cache->newest) = entry->older;
	*(entry->older != NULL ? &entry->older->newer : &cache->oldest) = entry->newer;
}

static void
link_newest(LncCache *cache, CacheEntry *entry)
{
	entry->newer = NULL;
	entry->older = cache->newest;
	*(cache->newest != NULL ? &cache->newest->newer : &cache->oldest) = entry;
	cache->newest = entry;
}

/* ---- entries ---- */

static CacheEntry **
find_link(const LncCache *cache, uint64_t hash, LncSlice name)
{
	CacheEntry **link = &cache->buckets[hash & (cache->nbuckets - 1)];

	while (*link != NULL && ((*link)->hash != hash || (*link)->name_size != name.size ||
							 memcmp((*link)->data, name.data, name.size) != 0))
		link = &(*link)->chain;
	return link;
}

static void
remove_entry(LncCache *cache, CacheEntry **link)
{
	CacheEntry *entry = *link;

	*link = entry->chain;
	unlink_entry(cache, entry);
	cache->taken -= entry_size(entry->name_size, entry->size);
	cache->count--;
	cache->env->release(cache->env->state, entry);
}

/* Remove the entries used least lately until no more than most bytes are taken, or none is left. */
static void
shrink_to(LncCache *cache, size_t most)
{
	while (cache->taken > most && cache->oldest != NULL)
	{
		const CacheEntry *oldest = cache->oldest;

		remove_entry(cache,
					 find_link(cache, oldest->hash, (LncSlice){.data = oldest->data, .size = oldest->name_size}));
	}
}

/* Have a bucket for every entry, as far as memory goes. */
static bool
grow_buckets(LncCache *cache)
{
	size_t n = cache->nbuckets == 0 ? FIRST_BUCKETS : cache->nbuckets * 2;
	CacheEntry **buckets;

	if (cache->count < cache->nbuckets)
		return true;
	buckets = cache->env->alloc(cache->env->state, n * sizeof(*buckets));
	if (buckets == NULL)
		return cache->nbuckets > 0;
	memset(buckets, 0, n * sizeof(*buckets));
	for (CacheEntry *entry = cache->newest; entry != NULL; entry = entry->older)
	{
		CacheEntry **link = &buckets[entry->hash & (n - 1)];

		entry->chain = *link;
		*link = entry;
	}
	if (cache->buckets != NULL)
		cache->env->release(cache->env->state, cache->buckets);
	cache->taken += (n - cache->nbuckets) * sizeof(*buckets);
	cache->buckets = buckets;
	cache->nbuckets = n;
	return true;
}

bool
lnc_cache_find(LncCache *cache, LncSlice name, LncSlice *bytes)
{
	CacheEntry *entry = cache->nbuckets > 0 ? *find_link(cache, hash_name(name), name) : NULL;

	if (entry == NULL)
	{
		cache->misses++;
		return false;
	}
	cache->hits++;
	unlink_entry(cache, entry);
	link_newest(cache, entry);
	*bytes = (LncSlice){.data = entry->data + entry->name_size, .size = entry->size};
	return true;
}

void
lnc_cache_add(LncCache *cache, LncSlice name, LncSlice bytes)
{
	uint64_t hash = hash_name(name);
	size_t size = entry_size(name.size, bytes.size);
	CacheEntry **link;
	CacheEntry *entry;

	if (bytes.size > cache->most || size > cache->most / LARGEST_SHARE || !grow_buckets(cache))
		return;
	link = find_link(cache, hash, name);
	if (*link != NULL)
		remove_entry(cache, link);
	shrink_to(cache, cache->most - size);
	if (cache->taken > cache->most - size)
		return;
	entry = cache->env->alloc(cache->env->state, size);
	if (entry == NULL)
		return;
	entry->hash = hash;
	entry->name_size = name.size;
	entry->size = bytes.size;
	if (name.size > 0)
		memcpy(entry->data, name.data, name.size);
	if (bytes.size > 0)
		memcpy(entry->data + name.size, bytes.data, bytes.size);
	link = &cache->buckets[hash & (cache->nbuckets - 1)];
	entry->chain = *link;
	*link = entry;
	link_newest(cache, entry);
	cache->taken += size;
	cache->count++;
}

void
lnc_cache_limit(LncCache *cache, size_t most)
{
	cache->most = most;
	shrink_to(cache, most);
	if (cache->count == 0 && cache->buckets != NULL)
	{
		cache->env->release(cache->env->state, cache->buckets);
		cache->buckets = NULL;
		cache->nbuckets = 0;
		cache->taken = 0;
	}
}

void
lnc_cache_stats(const LncCache *cache, LncCacheStats *out)
{
	*out = (LncCacheStats){
		.entries = cache->count, .bytes = cache->taken, .hits = cache->hits, .misses = cache->misses};
}

void
lnc_cache_destroy(LncCache *cache)
{
	if (cache == NULL)
		return;
	lnc_cache_limit(cache, 0);
	cache->env->release(cache->env->state, cache);
}
