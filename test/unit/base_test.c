/*
 * base_test.c
 *	  Arena, error record and checked readers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/env.h"
#include "base/status.h"

static void
count_call(void *arg)
{
	++*(int *)arg;
}

static void
arena_keeps_blocks_apart_and_runs_cleanups(void **state)
{
	LncContext ctx;
	LncArena *arena = lnc_arena_create(lnc_env_default());
	int calls = 0;
	uint8_t *parts[300];

	(void)state;
	lnc_context_init(&ctx, lnc_env_default());
	for (int i = 0; i < 300; i++)
	{
		void *p;

		assert_int_equal(lnc_arena_alloc(&ctx, arena, (size_t)i * 37, &p), LNC_OK);
		assert_int_equal((uintptr_t)p % 16, 0);
		memset(p, i, (size_t)i * 37);
		parts[i] = p;
	}
	for (int i = 1; i < 300; i++)
	{
		assert_int_equal(parts[i][0], (uint8_t)i);
		assert_int_equal(parts[i][i * 37 - 1], (uint8_t)i);
	}
	assert_int_equal(lnc_arena_on_cleanup(&ctx, arena, count_call, &calls), LNC_OK);
	lnc_arena_reset(arena);
	assert_int_equal(calls, 1);
	assert_int_equal(lnc_arena_footprint(arena), 0);
	lnc_arena_destroy(arena);
	assert_int_equal(calls, 1);
}

/* An environment with an end of its own. */
static void *
counted_alloc(void *state, size_t size)
{
	++*(int *)state;
	return malloc(size);
}

static void
counted_release(void *state, void *ptr)
{
	--*(int *)state;
	free(ptr);
}

static void
child_arenas_live_in_the_environment_of_their_parent(void **state)
{
	int blocks[2] = {0, 0};
	LncEnv envs[2] = {*lnc_env_default(), *lnc_env_default()};
	LncContext caller;
	LncArena *parent;
	LncArena *child;
	char *text;

	(void)state;
	for (int i = 0; i < 2; i++)
	{
		envs[i].alloc = counted_alloc;
		envs[i].release = counted_release;
		envs[i].state = &blocks[i];
	}
	parent = lnc_arena_create(&envs[0]);
	lnc_context_init(&caller, &envs[1]);
	assert_int_equal(lnc_arena_create_child(&caller, parent, &child), LNC_OK);
	assert_int_equal(lnc_arena_strndup(&caller, child, "kept", 4, &text), LNC_OK);
	assert_int_equal(blocks[1], 0);
	assert_true(blocks[0] > 2);
	lnc_arena_destroy(parent);
	assert_int_equal(blocks[0], 0);
}

static void
arena_refuses_products_that_overflow(void **state)
{
	LncContext ctx;
	LncArena *arena = lnc_arena_create(lnc_env_default());
	void *p;

	(void)state;
	lnc_context_init(&ctx, lnc_env_default());
	assert_int_equal(lnc_arena_calloc(&ctx, arena, SIZE_MAX / 2, 3, &p), LNC_LIMIT);
	assert_int_equal(lnc_arena_alloc(&ctx, arena, SIZE_MAX, &p), LNC_LIMIT);
	lnc_arena_destroy(arena);
}

static void
errors_keep_their_parts(void **state)
{
	LncContext ctx;

	(void)state;
	lnc_context_init(&ctx, lnc_env_default());
	assert_int_equal(lnc_fail(&ctx, LNC_CORRUPT, "page %d is short", 7), LNC_CORRUPT);
	lnc_detail(&ctx, "File \"%s\".", "a");
	lnc_detail(&ctx, "Column \"%s\".", "b");
	lnc_hint(&ctx, "First.");
	lnc_hint(&ctx, "Second.");
	assert_string_equal(ctx.error.message, "page 7 is short");
	assert_string_equal(ctx.error.detail, "File \"a\". Column \"b\".");
	assert_string_equal(ctx.error.hint, "First.");
	assert_int_equal(lnc_fail(&ctx, LNC_IO, "again"), LNC_IO);
	assert_string_equal(ctx.error.detail, "");
}

static void
ranges_are_checked_without_overflow(void **state)
{
	(void)state;
	assert_true(lnc_range_ok(0, 0, 0));
	assert_true(lnc_range_ok(3, 2, 5));
	assert_false(lnc_range_ok(3, 3, 5));
	assert_false(lnc_range_ok(UINT64_MAX, 2, 5));
	assert_false(lnc_range_ok(1, UINT64_MAX, 5));
	assert_int_equal(lnc_bitmap_size(UINT64_MAX), UINT64_MAX / 8 + 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena_keeps_blocks_apart_and_runs_cleanups),
		cmocka_unit_test(child_arenas_live_in_the_environment_of_their_parent),
		cmocka_unit_test(arena_refuses_products_that_overflow),
		cmocka_unit_test(errors_keep_their_parts),
		cmocka_unit_test(ranges_are_checked_without_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
