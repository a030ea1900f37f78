/*
 * recall.c
 *	  Parts of objects that never change, remembered from one opening of a store to the next.
 */
#include "storage/recall.h"

#include <inttypes.h>
#include <string.h>

#include "storage/backend.h"
#include "storage/cache.h"

LncCode
lnc_store_identify(LncContext *ctx, const LncStore *store, LncArena *arena, const char *key, uint64_t size,
				   const char *e_tag, LncIdentity *out)
{
	char *name;

	*out = (LncIdentity){.size = size};
	if (store->cache == NULL || store->near || size == 0)
		return LNC_OK;

	/* Lengths tell where each part ends; the key comes last, and a scope holds no line feed. */
	LNC_TRY(lnc_arena_printf(ctx, arena, &name, "%s\n%zu %s %" PRIu64 " %zu %s %s", store->cache_scope,
							 strlen(store->uri.canonical), store->uri.canonical, size,
							 e_tag != NULL ? strlen(e_tag) + 1 : 0, e_tag != NULL ? e_tag : "", key));
	out->name = (LncSlice){.data = (const uint8_t *)name, .size = strlen(name)};
	return LNC_OK;
}

/* The name of a part: the object's, a NUL, which it does not hold, and the place. */
static LncCode
name_part(LncContext *ctx, LncArena *scratch, const LncIdentity *identity, uint64_t offset, LncSlice *out)
{
	size_t size = identity->name.size + 1 + sizeof(offset);
	uint8_t *name;

	LNC_TRY(LNC_NEW(ctx, scratch, &name, size));
	memcpy(name, identity->name.data, identity->name.size);
	memcpy(name + identity->name.size + 1, &offset, sizeof(offset));
	*out = (LncSlice){.data = name, .size = size};
	return LNC_OK;
}

static LncCode
recall(LncContext *ctx, LncStore *store, LncArena *scratch, LncArena *arena, const LncIdentity *identity,
	   uint64_t offset, LncSlice *out)
{
	LncSlice name;
	LncSlice kept;
	void *copy;

	LNC_TRY(name_part(ctx, scratch, identity, offset, &name));
	if (!lnc_cache_find(store->cache, name, &kept))
		return LNC_OK;
	LNC_TRY(lnc_arena_alloc(ctx, arena, kept.size, &copy));
	memcpy(copy, kept.data, kept.size);
	*out = (LncSlice){.data = copy, .size = kept.size};
	ctx->usage.recalled++;
	return LNC_OK;
}

LncCode
lnc_store_recall(LncContext *ctx, LncStore *store, LncArena *arena, const LncIdentity *identity, uint64_t offset,
				 LncSlice *out)
{
	LncArena *scratch;
	LncCode code;

	*out = (LncSlice){0};
	if (identity->name.data == NULL)
		return LNC_OK;
	LNC_TRY(lnc_check_interrupt(ctx));
	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = recall(ctx, store, scratch, arena, identity, offset, out);
	lnc_arena_destroy(scratch);
	return code;
}

LncCode
lnc_store_remembers(LncContext *ctx, LncStore *store, const LncIdentity *identity, uint64_t offset, uint64_t length,
					bool *out)
{
	LncArena *scratch;
	LncSlice name;
	LncSlice kept;
	LncCode code;

	*out = false;
	if (identity->name.data == NULL)
		return LNC_OK;
	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = name_part(ctx, scratch, identity, offset, &name);
	if (code == LNC_OK)
		*out = lnc_cache_find(store->cache, name, &kept) && kept.size == length;
	lnc_arena_destroy(scratch);
	return code;
}

LncCode
lnc_store_remember(LncContext *ctx, LncStore *store, const LncIdentity *identity, uint64_t offset, LncSlice bytes)
{
	LncArena *scratch;
	LncSlice name;
	LncCode code;

	if (identity->name.data == NULL || bytes.size == 0)
		return LNC_OK;
	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = name_part(ctx, scratch, identity, offset, &name);
	if (code == LNC_OK)
		lnc_cache_add(store->cache, name, bytes);
	lnc_arena_destroy(scratch);
	return code;
}
