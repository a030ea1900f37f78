/*
 * recall.h
 *	  Parts of objects that never change, remembered from one opening of a store to the next.
 *
 * Only stores over the network remember: what was read of local files lies in the system's memory anyway. A store remembers
 * in the cache that its configuration names, under the scope given there.
 */
#ifndef LNC_STORAGE_RECALL_H
#define LNC_STORAGE_RECALL_H

#include "storage/storage.h"

/* What an object is known by, so that its bytes are those that they were. */
typedef struct LncIdentity
{
	LncSlice name; /* data NULL: nothing is remembered of the object */
	uint64_t size; /* of the object */
} LncIdentity;

/* Stands for the place of bytes that reach to the end of their object, however many they are. */
#define LNC_AT_END UINT64_MAX

/*
 * Name the object. size: as its reader knows it from elsewhere, 0 if not. e_tag: what the store says of it now; NULL only
 * where no other object ever gets the same key. Whatever is lacking, the identity is one of which nothing is remembered.
 */
extern LncCode lnc_store_identify(LncContext *ctx, const LncStore *store, LncArena *arena, const char *key,
								  uint64_t size, const char *e_tag, LncIdentity *out) LNC_MUST_CHECK;

/* A copy of the bytes at offset, or LNC_AT_END, as they were remembered. data is NULL when they were not. */
extern LncCode lnc_store_recall(LncContext *ctx, LncStore *store, LncArena *arena, const LncIdentity *identity,
								uint64_t offset, LncSlice *out) LNC_MUST_CHECK;

/* Whether length bytes at offset are remembered. */
extern LncCode lnc_store_remembers(LncContext *ctx, LncStore *store, const LncIdentity *identity, uint64_t offset,
								   uint64_t length, bool *out) LNC_MUST_CHECK;

/* Remember bytes of the object. */
extern LncCode lnc_store_remember(LncContext *ctx, LncStore *store, const LncIdentity *identity, uint64_t offset,
								  LncSlice bytes) LNC_MUST_CHECK;

#endif
