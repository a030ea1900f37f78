/*
 * blob21.c
 *	  Levels out of the positions of blobs.
 */
#include "encoding/blob21.h"

#include "encoding/check.h"

LncCode
lnc_blob21_slots(LncContext *ctx, LncArena *scratch, const LncLayers *layers, const LncColumn *pairs, LncSlots *out)
{
	const uint64_t *positions = pairs->children[0].values;
	const uint64_t *sizes = pairs->children[1].values;
	uint64_t count = (uint64_t)pairs->length;
	uint16_t *def;

	LNC_TRY(lnc_arena_calloc(ctx, scratch, count, sizeof(*def), (void **)&def));
	for (uint64_t i = 0; i < count; i++)
	{
		if (sizes[i] != 0)
			continue;
		LNC_REQUIRE(ctx,
					positions[i] <= UINT32_MAX && (positions[i] & 0xFFFF) == 0 &&
						positions[i] >> 16 <= layers->max_def,
					"blob %llu has levels that its page does not know", (unsigned long long)i);
		def[i] = (uint16_t)(positions[i] >> 16);
	}
	*out = (LncSlots){.nslots = count, .def = layers->max_def > 0 ? def : NULL, .nvalues = count};
	return LNC_OK;
}
