/*
 * rle.c
 *	  Expanding runs.
 */
#include "encoding/rle.h"

#include "encoding/check.h"

LncCode
lnc_rle_split(LncContext *ctx, LncSlice in, LncSlice *values, LncSlice *lengths)
{
	uint64_t size;

	LNC_REQUIRE(ctx, in.size >= sizeof(uint64_t), "run-length coded values of %zu bytes are truncated", in.size);
	size = lnc_le64(in.data);
	LNC_REQUIRE(ctx, size <= in.size - sizeof(uint64_t), "the run values take %llu bytes of %zu",
				(unsigned long long)size, in.size);
	values->data = in.data + sizeof(uint64_t);
	values->size = (size_t)size;
	lengths->data = values->data + size;
	lengths->size = in.size - sizeof(uint64_t) - (size_t)size;
	return LNC_OK;
}

/* Load run length i. */
static inline uint32_t
run_length(const uint8_t *lengths, uint32_t width, uint64_t i)
{
	if (width == 1)
		return lengths[i];
	if (width == 2)
		return lnc_le16(lengths + i * 2);
	return lnc_le32(lengths + i * 4);
}

LncCode
lnc_rle_total(LncContext *ctx, uint32_t length_bits, LncSlice lengths, uint64_t *total)
{
	uint32_t width = length_bits / 8;
	uint64_t nruns;
	uint64_t sum = 0;

	LNC_REQUIRE(ctx, length_bits == 8 || length_bits == 16 || length_bits == 32, "run lengths have %u bits",
				length_bits);
	LNC_REQUIRE(ctx, lengths.size % width == 0, "run lengths take %zu bytes", lengths.size);
	nruns = lengths.size / width;
	for (uint64_t i = 0; i < nruns; i++)
	{
		uint32_t length = run_length(lengths.data, width, i);

		LNC_REQUIRE(ctx, length > 0, "a run has length 0");
		sum += length;
	}
	*total = sum;
	return LNC_OK;
}

/* Fill runs of one value type; the runs have been checked to cover count values. */
#define DEFINE_EXPAND(bits_, type_)                                                                  \
	static void expand_##bits_(const uint8_t *values, const uint8_t *lengths, uint32_t length_width, \
							   type_ *restrict out, uint64_t count)                                  \
	{                                                                                                \
		for (uint64_t run = 0; count > 0; run++)                                                     \
		{                                                                                            \
			uint64_t length = run_length(lengths, length_width, run);                                \
			type_ value;                                                                             \
                                                                                                     \
			memcpy(&value, values + run * sizeof(value), sizeof(value));                             \
			if (length > count)                                                                      \
				length = count;                                                                      \
			for (uint64_t i = 0; i < length; i++)                                                    \
				out[i] = value;                                                                      \
			out += length;                                                                           \
			count -= length;                                                                         \
		}                                                                                            \
	}

DEFINE_EXPAND(8, uint8_t)
DEFINE_EXPAND(16, uint16_t)
DEFINE_EXPAND(32, uint32_t)
DEFINE_EXPAND(64, uint64_t)

LncCode
lnc_rle_expand(LncContext *ctx, LncArena *arena, uint32_t bits, uint32_t length_bits, LncSlice values,
			   LncSlice lengths, uint64_t count, bool exact, const uint8_t **out)
{
	uint32_t width = bits / 8;
	uint32_t length_width = length_bits / 8;
	uint64_t total;
	uint64_t bytes;
	void *memory;

	LNC_REQUIRE(ctx, bits == 8 || bits == 16 || bits == 32 || bits == 64, "run-length coding of %u-bit values",
				bits);
	LNC_TRY(lnc_rle_total(ctx, length_bits, lengths, &total));
	LNC_REQUIRE(ctx, values.size % width == 0 && values.size / width == lengths.size / length_width,
				"%zu bytes of run values do not match %zu bytes of run lengths", values.size, lengths.size);
	LNC_REQUIRE(ctx, total == count || (total > count && !exact), "the runs hold %llu values, expected %llu",
				(unsigned long long)total, (unsigned long long)count);
	if (lnc_mul_overflow(count, width, &bytes) || bytes > LNC_RLE_MAX_BYTES)
		return lnc_fail(ctx, LNC_LIMIT, "runs of %llu values are too long", (unsigned long long)count);
	LNC_TRY(lnc_arena_alloc(ctx, arena, bytes, &memory));
	switch (bits)
	{
		case 8:
			expand_8(values.data, lengths.data, length_width, memory, count);
			break;
		case 16:
			expand_16(values.data, lengths.data, length_width, memory, count);
			break;
		case 32:
			expand_32(values.data, lengths.data, length_width, memory, count);
			break;
		default:
			expand_64(values.data, lengths.data, length_width, memory, count);
	}
	*out = memory;
	return LNC_OK;
}
