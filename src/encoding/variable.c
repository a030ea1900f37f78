/*
 * variable.c
 *	  Offsets of values of varying length, checked and widened to 64 bits.
 */
#include "encoding/variable.h"

#include "encoding/check.h"

/* Widen count + 1 offsets of offset_bits at in; each must be >= the one before, the last <= limit. */
static LncCode
widen_offsets(LncContext *ctx, LncArena *arena, uint32_t offset_bits, const uint8_t *in, uint64_t count,
			  uint64_t limit, const int64_t **out)
{
	int64_t *offsets;
	void *memory;
	bool rising = true;

	LNC_TRY(lnc_arena_alloc(ctx, arena, (count + 1) * sizeof(*offsets), &memory));
	offsets = memory;
	if (offset_bits == 32)
		for (uint64_t i = 0; i <= count; i++)
			offsets[i] = lnc_le32(in + i * 4);
	else
		memcpy(offsets, in, (count + 1) * sizeof(*offsets));
	for (uint64_t i = 0; i < count; i++)
		rising &= (uint64_t)offsets[i] <= (uint64_t)offsets[i + 1];
	LNC_REQUIRE(ctx, rising && (uint64_t)offsets[count] <= limit,
				"offsets of variable-width values are out of order or out of range");
	*out = offsets;
	return LNC_OK;
}

LncCode
lnc_variable_chunk(LncContext *ctx, LncArena *arena, uint32_t offset_bits, LncSlice in, uint64_t count,
				   const int64_t **offsets, const uint8_t **data)
{
	uint32_t width = offset_bits / 8;

	LNC_REQUIRE(ctx, offset_bits == 32 || offset_bits == 64, "offsets of %u bits", offset_bits);
	LNC_REQUIRE(ctx, count < in.size / width, "variable-width values are truncated: %zu bytes for %llu offsets",
				in.size, (unsigned long long)count);
	LNC_TRY(widen_offsets(ctx, arena, offset_bits, in.data, count, in.size, offsets));
	LNC_REQUIRE(ctx, (uint64_t)(*offsets)[0] >= (count + 1) * width, "variable-width values overlap their offsets");
	*data = in.data;
	return LNC_OK;
}

LncCode
lnc_variable_block(LncContext *ctx, LncArena *arena, LncSlice in, uint64_t count, const int64_t **offsets,
				   const uint8_t **data)
{
	uint32_t bits;
	uint32_t width;
	uint64_t start;

	LNC_REQUIRE(ctx, in.size >= 8, "variable-width values of %zu bytes are truncated", in.size);
	bits = lnc_le32(in.data);
	if (bits > 0xFF)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "variable-width values in an obsolete form are not read");
	LNC_REQUIRE(ctx, bits == 32 || bits == 64, "offsets of %u bits", bits);
	width = bits / 8;
	LNC_REQUIRE(ctx, in.size >= 2 * width, "variable-width values of %zu bytes are truncated", in.size);
	start = bits == 32 ? lnc_le32(in.data + 4) : lnc_le64(in.data + 8);
	LNC_REQUIRE(ctx, start >= 2 * width && start <= in.size, "variable-width values start at %llu of %zu bytes",
				(unsigned long long)start, in.size);
	LNC_REQUIRE(ctx,
				(start - 2 * width) % width == 0 && (start - 2 * width) / width > count &&
					(start - 2 * width) / width - 1 == count,
				"%llu bytes of offsets do not suit %llu values", (unsigned long long)(start - 2 * width),
				(unsigned long long)count);
	LNC_TRY(widen_offsets(ctx, arena, bits, in.data + 2 * width, count, in.size - start, offsets));
	*data = in.data + start;
	return LNC_OK;
}
