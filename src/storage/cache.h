/*
 * cache.h
 *	  A bounded memory of bytes by name: what was used least lately goes first.
 *
 * Names are to say all that tells bytes apart, also who may see them. A cache belongs to one thread.
 */
#ifndef LNC_STORAGE_CACHE_H
#define LNC_STORAGE_CACHE_H

#include "base/bytes.h"
#include "base/status.h"

typedef struct LncCache LncCache;

typedef struct LncCacheStats
{
	size_t entries;
	size_t bytes; /* of all memory taken */
	uint64_t hits;
	uint64_t misses;
} LncCacheStats;

/* Make an empty cache of at most most bytes in env, which must outlive it. LNC_NO_MEMORY. */
extern LncCode lnc_cache_create(LncContext *ctx, const struct LncEnv *env, size_t most,
								LncCache **out) LNC_MUST_CHECK;

/* Change the bound; what is beyond goes at once. 0 empties the cache and keeps it so. */
extern void lnc_cache_limit(LncCache *cache, size_t most);

/* The bytes of that name, borrowed until the next call that changes the cache. False: there are none. */
extern bool lnc_cache_find(LncCache *cache, LncSlice name, LncSlice *bytes);

/*
 * Keep a copy of bytes under a name, instead of what it has. Bytes larger than an eighth of the bound are not kept, nor
 * any while memory is short.
 */
extern void lnc_cache_add(LncCache *cache, LncSlice name, LncSlice bytes);

extern void lnc_cache_stats(const LncCache *cache, LncCacheStats *out);

/* Let go of everything. NULL is allowed. */
extern void lnc_cache_destroy(LncCache *cache);

#endif
