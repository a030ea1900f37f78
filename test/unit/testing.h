/*
 * testing.h
 *	  What unit tests begin with: cmocka and its headers, a context and an arena for each test, and OK().
 *
 * Included first, by files that end in _test.c: each has a context and an arena of its own.
 */
#ifndef LNC_TEST_UNIT_TESTING_H
#define LNC_TEST_UNIT_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/env.h"

static LncContext ctx;
static LncArena *arena;

/* Setup and teardown of a test. */
static inline int
setup(void **state)
{
	(void)state;
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	return arena == NULL;
}

static inline int
teardown(void **state)
{
	(void)state;
	lnc_arena_destroy(arena);
	return 0;
}

/* The call must succeed. */
#define OK(expr)                                                                 \
	do                                                                           \
	{                                                                            \
		LncCode ok_code = (expr);                                                \
		if (ok_code != LNC_OK)                                                   \
			fail_msg("%s: %s [%s]", #expr, ctx.error.message, ctx.error.detail); \
	} while (0)

#endif
