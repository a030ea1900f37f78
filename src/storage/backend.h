/*
 * backend.h
 *	  What a kind of store implements; private to the storage room.
 *
 * store.c checks keys and ranges, keeps the counters of calls, and hands over to the kind. Each function follows the
 * contract of its namesake in storage.h.
 */
#ifndef LNC_STORAGE_BACKEND_H
#define LNC_STORAGE_BACKEND_H

#include "storage/storage.h"
#include "storage/uri.h"

typedef struct LncStoreOps
{
	LncCode (*size)(LncContext *ctx, LncStore *store, const char *key, uint64_t *size);

	/* Keys are checked. */
	LncCode (*present)(LncContext *ctx, LncStore *store, size_t n, const char *const *keys, bool *present);

	/* Ranges are not empty and their ends do not overflow. */
	LncCode (*read_ranges)(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, size_t nranges,
						   const LncRange *ranges, const uint8_t **outs);

	/*
	 * Keep the object open for reads, until the arena's cleanup. What is kept is the kind's own; *kept NULL: no more are
	 * to be kept open. NULL: such a store has nothing to keep.
	 */
	LncCode (*keep)(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, void **kept);
	LncCode (*read_kept)(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, const void *kept,
						 size_t nranges, const LncRange *ranges, const uint8_t **outs);

	/* Optional: NULL where nothing is gained. The range is not empty and its end does not overflow. *job NULL: not begun. */
	LncCode (*read_begin)(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, LncRange range,
						  uint8_t *target, void **job);
	LncCode (*read_finish)(LncContext *ctx, LncStore *store, void *job, bool *whole);
	LncCode (*move_on)(LncContext *ctx, LncStore *store);

	/* max is at least 1. */
	LncCode (*read_tail)(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, uint64_t max,
						 LncSlice *tail, uint64_t *size);
	LncCode (*read_all)(LncContext *ctx, LncStore *store, LncArena *arena, const char *key, uint64_t max,
						LncSlice *out);
	LncCode (*put)(LncContext *ctx, LncStore *store, const char *key, LncSlice body);
	LncCode (*put_if_absent)(LncContext *ctx, LncStore *store, const char *key, LncSlice body);

	/* Keys are checked. */
	LncCode (*find)(LncContext *ctx, LncStore *store, size_t n, const char *const *keys, LncObject *outs);
	LncCode (*remove)(LncContext *ctx, LncStore *store, size_t n, const char *const *keys, bool durable);

	/* prefix is "" or a checked key. */
	LncCode (*remove_prefix)(LncContext *ctx, LncStore *store, const char *prefix, uint64_t *removed);

	/* folder is "" or a checked key. NULL: there is none. */
	LncCode (*folder_stamp)(LncContext *ctx, LncStore *store, const char *folder, int settled_ms,
							LncFolderStamp *out, bool *settled);

	/* folder is "" or a checked key. */
	LncCode (*list)(LncContext *ctx, LncStore *store, const LncListing *listing, LncListFn fn, void *arg);
	LncCode (*list_folders)(LncContext *ctx, LncStore *store, const char *folder, LncFolderFn fn, void *arg);
} LncStoreOps;

/* The common head of every store; a kind's own struct starts with it. Lives in the arena of lnc_store_open. */
struct LncStore
{
	const LncStoreOps *ops;
	LncUri uri;
	bool ordered;
	bool near;
	bool no_conditional_put;
	struct LncCache *cache; /* borrowed; NULL: none */
	const char *cache_scope;
	LncStoreStats stats;
};

/* Make the store of each kind. The caller has parsed uri and fills the common head afterwards. */
extern LncCode lnc_local_open(LncContext *ctx, LncArena *arena, const LncUri *uri, const char *anchor,
							  LncStore **out) LNC_MUST_CHECK;
extern LncCode lnc_memory_open(LncContext *ctx, LncArena *arena, const LncUri *uri, LncStore **out) LNC_MUST_CHECK;
extern LncCode lnc_s3_open(LncContext *ctx, LncArena *arena, const LncUri *uri, const LncStoreConfig *config,
						   LncStore **out) LNC_MUST_CHECK;

/* Count requests, for the store and for the operation. */
extern void lnc_store_asked(LncContext *ctx, LncStore *store, uint64_t requests);

/* The object's URI for messages, bounded and valid UTF-8. */
typedef struct LncObjectName
{
	char text[400];
} LncObjectName;

extern LncObjectName lnc_object_name(const LncStore *store, const char *key);

/* A range that reaches past the end of an object of size bytes. */
extern LncCode lnc_range_error(LncContext *ctx, const LncStore *store, const char *key, LncRange range,
							   uint64_t size);

/* An object of size bytes where at most max are wanted. */
extern LncCode lnc_too_large(LncContext *ctx, const LncStore *store, const char *key, uint64_t size, uint64_t max);

/* present() by one call of size() a key, for stores where that costs no trip over the network. */
extern LncCode lnc_present_by_size(LncContext *ctx, LncStore *store, size_t n, const char *const *keys,
								   bool *present) LNC_MUST_CHECK;

/* Record that the object is not there. */
extern LncCode lnc_not_found(LncContext *ctx, const LncStore *store, const char *key);

#endif
