/*
 * roaring_test.c
 *	  Portable Roaring bitmaps: good ones of every container kind, and every way to break one.
 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/roaring.h"

/* Values that make one array, one bitset and one run container, and a lone value at the very end. */
static size_t
mixed_values(uint32_t *values)
{
	size_t n = 0;

	for (uint32_t v = 0; v < 100; v++)
		values[n++] = v * 7;
	for (uint32_t v = 0; v < 20000; v++)
		values[n++] = 65536 + v * 3;
	for (uint32_t v = 0; v < 30000; v++)
		values[n++] = 5 * 65536 + 100 + v;
	values[n++] = UINT32_MAX;
	return n;
}

static void
every_container_kind_is_read(void **state)
{
	static uint32_t values[60000];
	size_t n = mixed_values(values);
	LncSlice bytes;
	const LncRoaring *set;
	uint32_t *back;
	uint64_t count;

	(void)state;
	assert_int_equal(lnc_roaring_write(&ctx, arena, values, n, &bytes), LNC_OK);
	assert_int_equal(lnc_roaring_open(&ctx, arena, bytes, NULL, &set), LNC_OK);
	assert_int_equal(lnc_roaring_cardinality(set), n);
	assert_true(lnc_roaring_contains(set, 7));
	assert_false(lnc_roaring_contains(set, 8));
	assert_true(lnc_roaring_contains(set, UINT32_MAX));
	assert_int_equal(lnc_roaring_values(&ctx, arena, set, n, &back, &count), LNC_OK);
	assert_int_equal(count, n);
	assert_memory_equal(back, values, n * sizeof(uint32_t));
	assert_int_equal(lnc_roaring_values(&ctx, arena, set, n - 1, &back, &count), LNC_LIMIT);

	values[1] = values[0];
	assert_int_equal(lnc_roaring_write(&ctx, arena, values, n, &bytes), LNC_INVALID);
	assert_int_equal(lnc_roaring_write(&ctx, arena, values, 0, &bytes), LNC_OK);
	assert_int_equal(lnc_roaring_open(&ctx, arena, bytes, NULL, &set), LNC_OK);
	assert_int_equal(lnc_roaring_cardinality(set), 0);
}

static void
bytes_behind_are_the_callers(void **state)
{
	static const uint32_t values[] = {1, 2, 70000};
	uint8_t longer[200] = {0};
	LncSlice bytes;
	const LncRoaring *set;
	size_t consumed;

	(void)state;
	assert_int_equal(lnc_roaring_write(&ctx, arena, values, 3, &bytes), LNC_OK);
	memcpy(longer, bytes.data, bytes.size);
	assert_int_equal(lnc_roaring_open(&ctx, arena, (LncSlice){longer, sizeof(longer)}, &consumed, &set), LNC_OK);
	assert_int_equal(consumed, bytes.size);
	assert_int_equal(lnc_roaring_open(&ctx, arena, (LncSlice){longer, sizeof(longer)}, NULL, &set), LNC_CORRUPT);
}

/* A heap copy of exactly the size, so that the sanitizer sees a read past its end. */
static LncCode
open_copy(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size > 0 ? size : 1);
	const LncRoaring *set;
	LncCode code;

	assert_non_null(copy);
	memcpy(copy, data, size);
	code = lnc_roaring_open(&ctx, arena, (LncSlice){copy, size}, NULL, &set);
	free(copy);
	return code;
}

static void
every_truncation_is_corrupt(void **state)
{
	static const uint32_t values[] = {1, 2, 3, 4, 5, 70000, 200000, 200001, 200002, 200003, 200004, 300000, 400000};
	LncSlice bytes;

	(void)state;
	assert_int_equal(lnc_roaring_write(&ctx, arena, values, sizeof(values) / sizeof(values[0]), &bytes), LNC_OK);
	assert_int_equal(open_copy(bytes.data, bytes.size), LNC_OK);
	for (size_t size = 0; size < bytes.size; size++)
		assert_int_equal(open_copy(bytes.data, size), LNC_CORRUPT);
}

static void
put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static void
broken_containers_are_corrupt(void **state)
{
	/* cookie without runs, one container with key 0 and three values at byte 16 */
	uint8_t array[] = {0x3A, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 16, 0, 0, 0, 1, 0, 5, 0, 9, 0};
	/* cookie with runs, one container of two runs: 1-3 and 7-7 */
	uint8_t runs[] = {0x3B, 0x30, 0, 0, 1, 0, 0, 3, 0, 2, 0, 1, 0, 2, 0, 7, 0, 0, 0};
	static uint8_t bitset[16 + 8192] = {0x3A, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0};

	(void)state;
	assert_int_equal(open_copy(array, sizeof(array)), LNC_OK);
	put16(array + 18, 1); /* equal neighbours */
	assert_int_equal(open_copy(array, sizeof(array)), LNC_CORRUPT);
	put16(array + 18, 5);
	put16(array + 12, 17); /* wrong offset */
	assert_int_equal(open_copy(array, sizeof(array)), LNC_CORRUPT);
	put16(array + 12, 16);
	array[6] = 2; /* 131073 containers */
	assert_int_equal(open_copy(array, sizeof(array)), LNC_CORRUPT);
	array[6] = 0;
	array[0] = 0x39; /* cookie */
	assert_int_equal(open_copy(array, sizeof(array)), LNC_CORRUPT);

	assert_int_equal(open_copy(runs, sizeof(runs)), LNC_OK);
	put16(runs + 7, 4); /* wrong cardinality */
	assert_int_equal(open_copy(runs, sizeof(runs)), LNC_CORRUPT);
	put16(runs + 7, 3);
	put16(runs + 15, 3); /* overlapping */
	assert_int_equal(open_copy(runs, sizeof(runs)), LNC_CORRUPT);
	put16(runs + 15, 0xFFFF);
	assert_int_equal(open_copy(runs, sizeof(runs)), LNC_OK);
	put16(runs + 17, 1); /* past 65535 */
	put16(runs + 7, 4);
	assert_int_equal(open_copy(runs, sizeof(runs)), LNC_CORRUPT);

	memset(bitset + 16, 0xFF, 1024);
	put16(bitset + 10, 8191);
	assert_int_equal(open_copy(bitset, sizeof(bitset)), LNC_OK);
	put16(bitset + 10, 8190);
	assert_int_equal(open_copy(bitset, sizeof(bitset)), LNC_CORRUPT);
}

static void
keys_must_rise(void **state)
{
	static const uint32_t values[] = {1, 70000, 200000};
	LncSlice bytes;
	uint8_t copy[64];

	(void)state;
	assert_int_equal(lnc_roaring_write(&ctx, arena, values, 3, &bytes), LNC_OK);
	assert_true(bytes.size <= sizeof(copy));
	memcpy(copy, bytes.data, bytes.size);
	put16(copy + 8 + 4, 0); /* the second key, equal to the first */
	assert_int_equal(open_copy(copy, bytes.size), LNC_CORRUPT);
}

/* Whatever a flipped byte makes of it, the set is refused or is safe to use. */
static void
flipped_bytes_are_survived(void **state)
{
	static uint32_t values[60000];
	size_t n = mixed_values(values);
	LncSlice bytes;
	uint8_t *copy;
	unsigned seed = 1;

	(void)state;
	assert_int_equal(lnc_roaring_write(&ctx, arena, values, n, &bytes), LNC_OK);
	copy = malloc(bytes.size);
	assert_non_null(copy);
	for (int round = 0; round < 3000; round++)
	{
		LncArena *one = lnc_arena_create(lnc_env_default());
		size_t at = (size_t)rand_r(&seed) % (round % 2 ? 64 : bytes.size);
		const LncRoaring *set;
		uint32_t *back;
		uint64_t count;

		memcpy(copy, bytes.data, bytes.size);
		copy[at] ^= (uint8_t)(1 << (rand_r(&seed) % 8));
		if (lnc_roaring_open(&ctx, one, (LncSlice){copy, bytes.size}, NULL, &set) == LNC_OK)
		{
			assert_int_equal(lnc_roaring_values(&ctx, one, set, UINT32_MAX, &back, &count), LNC_OK);
			for (uint64_t i = 1; i < count; i++)
				assert_true(back[i - 1] < back[i]);
		}
		else
			assert_int_equal(ctx.error.code, LNC_CORRUPT);
		lnc_arena_destroy(one);
	}
	free(copy);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_container_kind_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(bytes_behind_are_the_callers, setup, teardown),
		cmocka_unit_test_setup_teardown(every_truncation_is_corrupt, setup, teardown),
		cmocka_unit_test_setup_teardown(broken_containers_are_corrupt, setup, teardown),
		cmocka_unit_test_setup_teardown(keys_must_rise, setup, teardown),
		cmocka_unit_test_setup_teardown(flipped_bytes_are_survived, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
