/*
 * bitpack_test.c
 *	  Bit-packing against a plain packer written from the description of the format.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <cmocka.h>

#include "base/env.h"
#include "encoding/bitpack.h"

static LncContext ctx;
static LncArena *arena;

static int
setup(void **state)
{
	(void)state;
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	lnc_arena_destroy(arena);
	return 0;
}

static uint64_t
next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Pack 1024 values bit by bit: value of row r and lane l goes to bits [r * width, ...) of the lane's stream. */
static void
pack(uint32_t bits, uint32_t width, const uint64_t *values, uint8_t *out)
{
	static const unsigned order[8] = {0, 4, 2, 6, 1, 5, 3, 7};
	uint32_t lanes = 1024 / bits;

	memset(out, 0, (size_t)128 * width);
	for (uint32_t lane = 0; lane < lanes; lane++)
		for (uint32_t row = 0; row < bits; row++)
			for (uint32_t bit = 0; bit < width; bit++)
			{
				uint64_t value = values[order[row / 8] * 16 + (row % 8) * 128 + lane];
				uint32_t at = row * width + bit;
				size_t word = (size_t)(at / bits) * lanes + lane;

				if ((value >> bit) & 1)
					out[word * bits / 8 + at % bits / 8] |= (uint8_t)(1u << (at % 8));
			}
}

static void
fill(uint32_t width, uint64_t *values)
{
	uint64_t seed = 88172645463325252u + width;

	for (int i = 0; i < 1024; i++)
		values[i] = width == 0 ? 0 : next_random(&seed) >> (64 - width);
}

static uint64_t
load(const uint8_t *values, uint32_t bits, size_t i)
{
	uint64_t value = 0;

	memcpy(&value, values + i * bits / 8, bits / 8);
	return value;
}

static void
every_width_of_every_word_unpacks(void **state)
{
	(void)state;
	for (uint32_t bits = 8; bits <= 64; bits *= 2)
		for (uint32_t width = 0; width <= bits; width++)
		{
			uint64_t values[1024];
			uint8_t packed[1024 * 8 + 1];
			uint64_t out[1024];

			fill(width, values);
			pack(bits, width, values, packed + 1); /* unaligned on purpose */
			lnc_bitpack_unpack(bits, width, packed + 1, out);
			for (size_t i = 0; i < 1024; i++)
				assert_int_equal(load((uint8_t *)out, bits, i), values[i]);
		}
}

static void
inline_packed_values_are_cut_and_checked(void **state)
{
	uint64_t values[1024];
	uint8_t in[4 + 128 * 32 + 4] = {0};
	const uint8_t *out;

	(void)state;
	fill(11, values);
	in[0] = 11;
	pack(32, 11, values, in + 4);
	assert_int_equal(lnc_bitpack_inline(&ctx, arena, 32, (LncSlice){in, 4 + 128 * 11}, 77, &out), LNC_OK);
	for (size_t i = 0; i < 77; i++)
		assert_int_equal(load(out, 32, i), values[i]);

	assert_int_equal(lnc_bitpack_inline(&ctx, arena, 32, (LncSlice){in, 4 + 128 * 11}, 1025, &out), LNC_CORRUPT);
	assert_int_equal(lnc_bitpack_inline(&ctx, arena, 32, (LncSlice){in, 4 + 128 * 11 - 1}, 77, &out), LNC_CORRUPT);
	assert_int_equal(lnc_bitpack_inline(&ctx, arena, 32, (LncSlice){in, 4 + 128 * 11 + 4}, 77, &out), LNC_CORRUPT);
	assert_int_equal(lnc_bitpack_inline(&ctx, arena, 32, (LncSlice){in, 3}, 77, &out), LNC_CORRUPT);
	assert_int_equal(lnc_bitpack_inline(&ctx, arena, 32, (LncSlice){in, 0}, 0, &out), LNC_OK);
	assert_int_equal(lnc_bitpack_inline(&ctx, arena, 24, (LncSlice){in, 4}, 1, &out), LNC_CORRUPT);
	in[0] = 33;
	assert_int_equal(lnc_bitpack_inline(&ctx, arena, 32, (LncSlice){in, sizeof(in)}, 77, &out), LNC_CORRUPT);
	in[0] = 0;
	assert_int_equal(lnc_bitpack_inline(&ctx, arena, 32, (LncSlice){in, 4}, 1024, &out), LNC_OK);
	assert_int_equal(load(out, 32, 1023), 0);
}

static void
out_of_line_tails_are_raw_or_padded(void **state)
{
	uint64_t values[1024];
	uint8_t in[128 * 5 * 2 + 2 * 100];
	const uint8_t *out;

	(void)state;
	fill(5, values);
	pack(16, 5, values, in);
	for (size_t i = 0; i < 100; i++)
	{
		in[128 * 5 + i * 2] = (uint8_t)i;
		in[128 * 5 + i * 2 + 1] = 0x7F;
	}
	assert_int_equal(lnc_bitpack_out_of_line(&ctx, arena, 16, 5, (LncSlice){in, 128 * 5 + 200}, 1124, &out),
					 LNC_OK);
	assert_int_equal(load(out, 16, 1023), values[1023]);
	assert_int_equal(load(out, 16, 1024 + 99), 0x7F00 + 99);

	pack(16, 5, values, in + 128 * 5);
	assert_int_equal(lnc_bitpack_out_of_line(&ctx, arena, 16, 5, (LncSlice){in, 128 * 10}, 1124, &out), LNC_OK);
	assert_int_equal(load(out, 16, 1024 + 99), values[99]);

	assert_int_equal(lnc_bitpack_out_of_line(&ctx, arena, 16, 5, (LncSlice){in, 128 * 5}, 1124, &out), LNC_CORRUPT);
	assert_int_equal(lnc_bitpack_out_of_line(&ctx, arena, 16, 5, (LncSlice){in, 128 * 5 + 2}, 1024, &out),
					 LNC_CORRUPT);
	assert_int_equal(lnc_bitpack_out_of_line(&ctx, arena, 16, 17, (LncSlice){in, 128 * 5}, 1024, &out),
					 LNC_CORRUPT);
	assert_int_equal(lnc_bitpack_out_of_line(&ctx, arena, 16, 5, (LncSlice){in, 128 * 5}, UINT64_MAX, &out),
					 LNC_CORRUPT);
	assert_int_equal(lnc_bitpack_out_of_line(&ctx, arena, 16, 0, (LncSlice){in, 0}, UINT64_MAX, &out), LNC_LIMIT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_width_of_every_word_unpacks),
		cmocka_unit_test(inline_packed_values_are_cut_and_checked),
		cmocka_unit_test(out_of_line_tails_are_raw_or_padded),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
