/*
 * levels.c
 *	  Layers, levels, validity.
 */
#include "encoding/levels.h"

#include "encoding/check.h"

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
	uint16_t highest = 0;
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
	for (uint64_t i = 0; i < count; i++)
		highest = levels[i] > highest ? levels[i] : highest;
	LNC_REQUIRE(ctx, highest <= limit, "a level of %u is out of range, the highest is %u", highest, limit);
	*out = levels;
	return LNC_OK;
}

uint64_t
lnc_levels_count_visible(const LncLayers *layers, const uint16_t *def, uint64_t count)
{
	uint64_t visible = 0;

	if (def == NULL || layers->max_visible >= layers->max_def)
		return count;
	for (uint64_t i = 0; i < count; i++)
		visible += def[i] <= layers->max_visible;
	return visible;
}

LncCode
lnc_levels_validity(LncContext *ctx, LncArena *arena, const uint16_t *def, uint64_t count, uint16_t limit,
					const uint8_t **out)
{
	uint8_t *bits;
	void *memory;
	uint64_t whole = count & ~UINT64_C(7);
	uint16_t highest = 0;

	*out = NULL;
	for (uint64_t i = 0; i < count; i++)
		highest = def[i] > highest ? def[i] : highest;
	if (highest <= limit)
		return LNC_OK;
	LNC_TRY(lnc_arena_alloc(ctx, arena, lnc_bitmap_size(count), &memory));
	bits = memory;
	for (uint64_t i = 0; i < whole; i += 8)
	{
		unsigned byte = 0;

		for (unsigned k = 0; k < 8; k++)
			byte |= (unsigned)(def[i + k] <= limit) << k;
		bits[i >> 3] = (uint8_t)byte;
	}
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
