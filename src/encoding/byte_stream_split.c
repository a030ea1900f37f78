/*
 * byte_stream_split.c
 *	  Merging byte planes. Values are built plane by plane in registers for the two usual widths.
 */
#include "encoding/byte_stream_split.h"

#include "encoding/check.h"

static void
merge_4(const uint8_t *in, uint64_t count, uint8_t *restrict out)
{
	for (uint64_t i = 0; i < count; i++)
	{
		uint32_t value = (uint32_t)in[i] | (uint32_t)in[count + i] << 8 | (uint32_t)in[2 * count + i] << 16 |
						 (uint32_t)in[3 * count + i] << 24;

		memcpy(out + i * 4, &value, 4);
	}
}

static void
merge_8(const uint8_t *in, uint64_t count, uint8_t *restrict out)
{
	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t value = 0;

		for (unsigned plane = 0; plane < 8; plane++)
			value |= (uint64_t)in[plane * count + i] << (8 * plane);
		memcpy(out + i * 8, &value, 8);
	}
}

LncCode
lnc_byte_stream_split_decode(LncContext *ctx, LncArena *arena, uint32_t width, LncSlice in, uint64_t count,
							 const uint8_t **out)
{
	void *memory;
	uint8_t *values;

	LNC_REQUIRE(ctx, width > 0 && width <= 16 && in.size % width == 0 && in.size / width == count,
				"%zu bytes of byte planes do not hold %llu values of %u bytes", in.size, (unsigned long long)count,
				width);
	LNC_TRY(lnc_arena_alloc(ctx, arena, in.size, &memory));
	values = memory;
	if (width == 4)
		merge_4(in.data, count, values);
	else if (width == 8)
		merge_8(in.data, count, values);
	else
		for (uint32_t plane = 0; plane < width; plane++)
			for (uint64_t i = 0; i < count; i++)
				values[i * width + plane] = in.data[plane * count + i];
	*out = values;
	return LNC_OK;
}
