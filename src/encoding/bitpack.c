/*
 * bitpack.c
 *	  Unpacking kernels, one a word size. A row of all lanes is one loop with a shift common to the lanes, which the
 *	  compiler turns into vector code for every width alike.
 */
#include "encoding/bitpack.h"

#include "encoding/check.h"

/* Values packed to no bits take no bytes that would bound their number. */
#define BITPACK_MOST_UNSTORED (UINT64_C(1) << 27)

/* Where each group of eight rows starts in the output, divided by 16. */
static const uint8_t order[8] = {0, 4, 2, 6, 1, 5, 3, 7};

/*
 * Unpack 1024 values of T bits. The row's bits start in word "word" at "shift" and may run over into the next word;
 * rows are independent, lanes are neighbours in input and output.
 */
#define DEFINE_UNPACK(T_, type_)                                                                                   \
	typedef type_ __attribute__((aligned(1), may_alias)) packed_##T_;                                              \
                                                                                                                   \
	static void unpack_##T_(uint32_t width, const uint8_t *packed, type_ *restrict out)                            \
	{                                                                                                              \
		enum                                                                                                       \
		{                                                                                                          \
			LANES = LNC_BITPACK_BLOCK / (T_)                                                                       \
		};                                                                                                         \
		const packed_##T_ *restrict in = (const packed_##T_ *)packed;                                              \
		const type_ mask = (type_)(width == (T_) ? (type_)-1 : (((type_)1 << (width % (T_))) - 1));                \
                                                                                                                   \
		for (uint32_t row = 0; row < (T_); row++)                                                                  \
		{                                                                                                          \
			uint32_t bit = row * width;                                                                            \
			uint32_t shift = bit % (T_);                                                                           \
			const packed_##T_ *restrict low = in + (size_t)(bit / (T_)) * LANES;                                   \
			type_ *restrict to = out + order[row / 8] * 16 + (row % 8) * 128;                                      \
                                                                                                                   \
			if (shift + width <= (T_))                                                                             \
				for (int lane = 0; lane < LANES; lane++)                                                           \
					to[lane] = (type_)((type_)(low[lane] >> shift) & mask);                                        \
			else                                                                                                   \
			{                                                                                                      \
				const packed_##T_ *restrict high = low + LANES;                                                    \
				uint32_t rest = (T_)-shift;                                                                        \
                                                                                                                   \
				for (int lane = 0; lane < LANES; lane++)                                                           \
					to[lane] = (type_)((type_)((type_)(low[lane] >> shift) | (type_)(high[lane] << rest)) & mask); \
			}                                                                                                      \
		}                                                                                                          \
	}

DEFINE_UNPACK(8, uint8_t)
DEFINE_UNPACK(16, uint16_t)
DEFINE_UNPACK(32, uint32_t)
DEFINE_UNPACK(64, uint64_t)

void
lnc_bitpack_unpack(uint32_t bits, uint32_t width, const uint8_t *packed, void *out)
{
	if (width == 0)
	{
		memset(out, 0, (size_t)LNC_BITPACK_BLOCK * bits / 8);
		return;
	}
	switch (bits)
	{
		case 8:
			unpack_8(width, packed, out);
			break;
		case 16:
			unpack_16(width, packed, out);
			break;
		case 32:
			unpack_32(width, packed, out);
			break;
		default:
			unpack_64(width, packed, out);
	}
}

static LncCode
check_bits(LncContext *ctx, uint32_t bits)
{
	LNC_REQUIRE(ctx, bits == 8 || bits == 16 || bits == 32 || bits == 64, "bit-packing of %u-bit values", bits);
	return LNC_OK;
}

LncCode
lnc_bitpack_inline(LncContext *ctx, LncArena *arena, uint32_t bits, LncSlice in, uint64_t count,
				   const uint8_t **out)
{
	uint32_t word = bits / 8;
	uint64_t width = 0;
	void *values;

	LNC_TRY(check_bits(ctx, bits));
	LNC_REQUIRE(ctx, count <= LNC_BITPACK_BLOCK, "a bit-packed chunk is said to hold %llu values",
				(unsigned long long)count);
	LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)LNC_BITPACK_BLOCK * word, &values));
	*out = values;
	if (count == 0)
		return LNC_OK;
	LNC_REQUIRE(ctx, in.size >= word, "a bit-packed chunk of %zu bytes is truncated", in.size);
	memcpy(&width, in.data, word);
	LNC_REQUIRE(ctx, width <= bits, "a bit width of %llu is out of range for %u-bit values",
				(unsigned long long)width, bits);
	LNC_REQUIRE(ctx, in.size - word == (size_t)width * (LNC_BITPACK_BLOCK / 8),
				"a bit-packed chunk has %zu bytes for a width of %llu", in.size - word, (unsigned long long)width);
	lnc_bitpack_unpack(bits, (uint32_t)width, in.data + word, values);
	return LNC_OK;
}

LncCode
lnc_bitpack_out_of_line(LncContext *ctx, LncArena *arena, uint32_t bits, uint32_t width, LncSlice in,
						uint64_t count, const uint8_t **out)
{
	uint32_t word = bits / 8;
	uint64_t block_bytes = (uint64_t)width * (LNC_BITPACK_BLOCK / 8);
	uint64_t nblocks = count / LNC_BITPACK_BLOCK;
	uint64_t tail = count % LNC_BITPACK_BLOCK;
	uint64_t full_bytes;
	uint8_t *values;
	void *memory;

	LNC_TRY(check_bits(ctx, bits));
	LNC_REQUIRE(ctx, width <= bits, "a bit width of %u is out of range for %u-bit values", width, bits);
	LNC_REQUIRE(ctx, !lnc_mul_overflow(nblocks, block_bytes, &full_bytes) && full_bytes <= in.size,
				"bit-packed values are truncated: %zu bytes for %llu values", in.size, (unsigned long long)count);
	if (width == 0 && count > BITPACK_MOST_UNSTORED)
		return lnc_fail(ctx, LNC_LIMIT, "%llu values are packed to no bits", (unsigned long long)count);

	/* One whole block of room for the tail. */
	LNC_TRY(lnc_arena_alloc(ctx, arena, (nblocks + 1) * LNC_BITPACK_BLOCK * word, &memory));
	values = memory;
	for (uint64_t i = 0; i < nblocks; i++)
		lnc_bitpack_unpack(bits, width, in.data + i * block_bytes, values + i * LNC_BITPACK_BLOCK * word);
	if (tail > 0)
	{
		uint64_t left = in.size - full_bytes;
		uint8_t *to = values + nblocks * LNC_BITPACK_BLOCK * word;

		if (left == tail * word)
			memcpy(to, in.data + full_bytes, tail * word);
		else
		{
			LNC_REQUIRE(ctx, left == block_bytes, "the last %llu bit-packed values have %llu bytes",
						(unsigned long long)tail, (unsigned long long)left);
			lnc_bitpack_unpack(bits, width, in.data + full_bytes, to);
		}
	}
	else
		LNC_REQUIRE(ctx, in.size == full_bytes, "bit-packed values have %zu bytes, expected %llu", in.size,
					(unsigned long long)full_bytes);
	*out = values;
	return LNC_OK;
}
