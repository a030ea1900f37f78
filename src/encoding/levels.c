/*
 * levels.c
 *	  Layers, levels, validity.
 */
#include "encoding/levels.h"

#include "encoding/check.h"

/* Eight levels at a time, at any address. */
typedef uint16_t Lanes __attribute__((vector_size(16), aligned(2), may_alias));
#define NLANES 8

/* A sum of 16 bits a lane takes so many ones. */
#define MOST_ONES 0xFFFF

bool
lnc_levels_any_above(const uint16_t *levels, uint64_t count, uint16_t limit)
{
	Lanes above = {0};
	uint16_t any = 0;
	uint64_t i = 0;

	for (; i + NLANES <= count; i += NLANES)
		above |= (Lanes)(*(const Lanes *)(levels + i) > limit);
	for (unsigned lane = 0; lane < NLANES; lane++)
		any |= above[lane];
	for (; i < count; i++)
		any |= levels[i] > limit;
	return any != 0;
}

uint64_t
lnc_levels_count_above(const uint16_t *levels, uint64_t count, uint16_t limit)
{
	uint64_t total = 0;
	uint64_t i = 0;

	while (i + NLANES <= count)
	{
		uint64_t rounds = (count - i) / NLANES;
		uint64_t end = i + NLANES * (rounds < MOST_ONES ? rounds : MOST_ONES);
		Lanes ones = {0};

		/* A comparison gives all bits, that is -1. */
		for (; i < end; i += NLANES)
			ones -= (Lanes)(*(const Lanes *)(levels + i) > limit);
		for (unsigned lane = 0; lane < NLANES; lane++)
			total += ones[lane];
	}
	for (; i < count; i++)
		total += levels[i] > limit;
	return total;
}

/* The first four levels at a time as bits 0 to 3: set where the level, below 0x8000, is at most limit. */
static inline unsigned
four_at_most(const uint16_t *levels, uint64_t limits)
{
	uint64_t kept = ((limits - lnc_le64(levels)) >> 15) & UINT64_C(0x0001000100010001);

	/* The products that bring the four bits together do not meet below. */
	return (unsigned)((kept * UINT64_C(0x0001000200040008)) >> 48) & 15;
}

LncCode
lnc_layers_open(LncContext *ctx, size_t count, const Lance__Encodings21__RepDefLayer *kinds, LncLayers *out)
{
	static const uint8_t codes[] = {0, 0, 0, 1, 1, 1, 2};

	memset(out, 0, sizeof(*out));
	LNC_REQUIRE(ctx, count > 0, "a page has no layers");
	if (count > LNC_LAYERS_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "a page has %zu layers, at most %d are read", count, LNC_LAYERS_MAX);
	for (size_t i = 0; i < count; i++)
	{
		int kind = (int)kinds[i];

		if (kind < 1 || kind > 6)
			return lnc_fail(ctx, LNC_UNSUPPORTED, "page layer %d is not read", kind);
		out->kinds[out->count++] = (uint8_t)kind;
		out->max_rep = (uint16_t)(out->max_rep + (lnc_layer_is_list((uint8_t)kind) ? 1 : 0));
		out->max_def = (uint16_t)(out->max_def + codes[kind]);
		if (out->max_rep == 0)
			out->max_visible = out->max_def;
	}
	LNC_REQUIRE(ctx, !lnc_layer_is_list(out->kinds[0]), "the innermost layer of a page is a list");
	return LNC_OK;
}

LncCode
lnc_levels_check(LncContext *ctx, const LncCodec *codec)
{
	LNC_REQUIRE(ctx, !codec->shape.variable && codec->shape.nlists == 0 && codec->shape.bits == 16,
				"levels are not integers of 16 bits");
	return LNC_OK;
}

LncCode
lnc_levels_decode(LncContext *ctx, const LncCodec *codec, LncGeneral *general, LncArena *arena, LncSlice in,
				  uint64_t count, uint16_t limit, const uint16_t **out)
{
	const uint8_t *bytes = in.data;
	const uint16_t *levels;
	LncBlock block;

	if (codec != NULL)
	{
		LNC_TRY(lnc_codec_decode_block(ctx, codec, general, arena, in, count, &block));
		bytes = block.items;
	}
	else
		LNC_REQUIRE(ctx, in.size / sizeof(uint16_t) >= count, "%zu bytes do not hold %llu levels", in.size,
					(unsigned long long)count);
	if (((uintptr_t)bytes & 1) != 0)
	{
		void *copy;

		LNC_TRY(lnc_arena_alloc(ctx, arena, count * sizeof(uint16_t), &copy));
		memcpy(copy, bytes, count * sizeof(uint16_t));
		bytes = copy;
	}
	levels = (const uint16_t *)(const void *)bytes;
	LNC_REQUIRE(ctx, !lnc_levels_any_above(levels, count, limit), "a level is out of range, the highest is %u",
				limit);
	*out = levels;
	return LNC_OK;
}

uint64_t
lnc_levels_count_visible(const LncLayers *layers, const uint16_t *def, uint64_t count)
{
	if (def == NULL || layers->max_visible >= layers->max_def)
		return count;
	return count - lnc_levels_count_above(def, count, layers->max_visible);
}

LncCode
lnc_levels_validity(LncContext *ctx, LncArena *arena, const uint16_t *def, uint64_t count, uint16_t limit,
					const uint8_t **out)
{
	uint64_t limits = UINT64_C(0x0001000100010001) * (limit | 0x8000u);
	uint64_t whole = count & ~UINT64_C(7);
	uint8_t *bits;

	*out = NULL;
	if (!lnc_levels_any_above(def, count, limit))
		return LNC_OK;
	LNC_TRY(lnc_arena_alloc(ctx, arena, lnc_bitmap_size(count), (void **)&bits));
	for (uint64_t i = 0; i < whole; i += 8)
		bits[i >> 3] = (uint8_t)(four_at_most(def + i, limits) | four_at_most(def + i + 4, limits) << 4);
	if (whole < count)
	{
		unsigned byte = 0;

		for (unsigned k = 0; whole + k < count; k++)
			byte |= (unsigned)(def[whole + k] <= limit) << k;
		bits[whole >> 3] = (uint8_t)byte;
	}
	*out = bits;
	return LNC_OK;
}
