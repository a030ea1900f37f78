/*
 * levels_test.c
 *	  Looking through levels: what is found eight at a time is what is found one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <cmocka.h>

#include "base/env.h"
#include "encoding/levels.h"

/* Beyond what one sum of 16 bits a lane can hold. */
#define MANY (8 * 0x10000 + 100)

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

/* Random levels below limit, at an odd place in memory. */
static uint16_t *
make_levels(uint64_t count, uint16_t limit)
{
	uint32_t seed = 7;
	uint16_t *levels;

	assert_int_equal(LNC_NEW(&ctx, arena, &levels, count + 1), LNC_OK);
	levels++;
	for (uint64_t i = 0; i < count; i++)
		levels[i] = (uint16_t)(((seed = seed * 1103515245 + 12345) >> 16) % limit);
	return levels;
}

static void
levels_are_counted(void **state)
{
	uint16_t *levels = make_levels(200, 5);
	uint16_t *many;

	(void)state;
	for (uint64_t first = 0; first < 20; first++)
		for (uint64_t count = 0; count + first <= 200; count += 7)
			for (uint16_t limit = 0; limit < 5; limit++)
			{
				uint64_t above = 0;

				for (uint64_t i = 0; i < count; i++)
					above += levels[first + i] > limit;
				assert_int_equal(lnc_levels_count_above(levels + first, count, limit), above);
				assert_int_equal(lnc_levels_any_above(levels + first, count, limit), above > 0);
			}
	many = make_levels(MANY, 1);
	for (uint64_t i = 0; i < MANY; i++)
		many[i] = UINT16_MAX;
	assert_int_equal(lnc_levels_count_above(many, MANY, UINT16_MAX - 1), MANY);
	assert_int_equal(lnc_levels_count_above(many, MANY, UINT16_MAX), 0);
	assert_false(lnc_levels_any_above(many, MANY, UINT16_MAX));
}

static void
validity_has_a_bit_for_each_level(void **state)
{
	uint16_t *levels = make_levels(1000, 130);

	(void)state;
	for (uint64_t count = 0; count <= 1000; count += 37)
		for (uint16_t limit = 0; limit <= 130; limit += 13)
		{
			uint64_t above = lnc_levels_count_above(levels, count, limit);
			const uint8_t *bits;

			assert_int_equal(lnc_levels_validity(&ctx, arena, levels, count, limit, &bits), LNC_OK);
			assert_int_equal(bits == NULL, above == 0);
			for (uint64_t i = 0; bits != NULL && i < count; i++)
				assert_int_equal(lnc_bit(bits, i), levels[i] <= limit);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(levels_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(validity_has_a_bit_for_each_level, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
