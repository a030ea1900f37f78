/*
 * deletion_fuzz.c
 *	  Fuzz target: the deletion file of a fragment.
 *
 *	input	u8 kind (0 Arrow, else bitmap), u32 rows of the fragment, u16 deleted rows that the manifest tells (0: does
 *			not); then the file
 */
#include <stdlib.h>

#include "fuzz.h"

#define FUZZ_HEAD 7

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const LncStoreConfig config;
	LncFragment fragment = {.id = 1};
	LncDataset dataset = {.manifest_key = "_versions/1.manifest", .prefix = "", .nfragments = 1, .fragments = &fragment};
	LncEnv env = fuzz_env();
	LncContext ctx;
	LncArena *arena;

	if (size < FUZZ_HEAD)
		return 0;
	lnc_context_init(&ctx, &env);
	arena = lnc_arena_create(&env);
	if (arena == NULL || lnc_store_open(&ctx, arena, "memory://fuzz", &config, &dataset.store) != LNC_OK)
		abort();
	fragment.deletion_kind = data[0] == 0 ? LNC_DELETION_ARROW : LNC_DELETION_BITMAP;
	fragment.physical_rows = lnc_le32(data + 1);
	fragment.deleted_rows = lnc_le16(data + 5);
	fuzz_read_deletions(&ctx, arena, dataset.store, &dataset, &fragment, (LncSlice){data + FUZZ_HEAD, size - FUZZ_HEAD});
	lnc_arena_destroy(arena);
	return 0;
}
