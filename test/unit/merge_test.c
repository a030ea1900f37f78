/*
 * merge_test.c
 *	  Merging the parts of a column tree, and NULLs in the place of absent ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/env.h"
#include "column/merge.h"

static LncContext ctx;
static LncArena *arena;

/* list<struct<a int32, b int32>> */
static LncField leaves[2];
static LncField item;
static LncType list;

static const int32_t values[] = {1, 2, 3};
static const int64_t offsets[] = {0, 2, 3};
static const int64_t other_offsets[] = {0, 1, 3};

static int
setup(void **state)
{
	(void)state;
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	memset(leaves, 0, sizeof(leaves));
	leaves[0].type.kind = LNC_TYPE_INT32;
	leaves[1].type.kind = LNC_TYPE_INT32;
	item = (LncField){.type = {.kind = LNC_TYPE_STRUCT, .nchildren = 2, .children = leaves}};
	list = (LncType){.kind = LNC_TYPE_LIST, .nchildren = 1, .children = &item};
	return arena == NULL;
}

static int
teardown(void **state)
{
	(void)state;
	lnc_arena_destroy(arena);
	return 0;
}

/* Two lists, of two and one structs, in which only leaf number which is there. */
static LncColumn
spine(int which)
{
	LncColumn column = {.type = &list, .length = 2, .offsets = offsets, .nchildren = 1};
	LncColumn *structs;

	assert_int_equal(LNC_NEW(&ctx, arena, &column.children, 1), LNC_OK);
	structs = column.children;
	*structs = (LncColumn){.type = &item.type, .length = 3, .nchildren = 2};
	assert_int_equal(LNC_NEW(&ctx, arena, &structs->children, 2), LNC_OK);
	for (int i = 0; i < 2; i++)
		structs->children[i] = i == which ? (LncColumn){.type = &leaves[i].type, .length = 3, .values = values}
										  : lnc_column_absent(&leaves[i].type, 3);
	return column;
}

static void
parts_come_together(void **state)
{
	LncColumn whole = spine(0);
	LncColumn part = spine(1);

	(void)state;
	assert_int_equal(lnc_column_merge(&ctx, &whole, &part), LNC_OK);
	for (int i = 0; i < 2; i++)
	{
		assert_false(whole.children[0].children[i].absent);
		assert_ptr_equal(whole.children[0].children[i].values, values);
	}

	/* Once more is too often. */
	assert_int_equal(lnc_column_merge(&ctx, &whole, &part), LNC_CORRUPT);
}

static void
parts_of_other_shapes_are_refused(void **state)
{
	LncColumn whole = spine(0);
	LncColumn part = spine(1);

	(void)state;
	part.offsets = other_offsets;
	assert_int_equal(lnc_column_merge(&ctx, &whole, &part), LNC_CORRUPT);
	part = spine(1);
	part.length = 1;
	assert_int_equal(lnc_column_merge(&ctx, &whole, &part), LNC_CORRUPT);
	part = spine(1);
	part.children[0].children[1].length = 2;
	assert_int_equal(lnc_column_merge(&ctx, &whole, &part), LNC_CORRUPT);
	part = spine(1);
	part.type = &item.type;
	assert_int_equal(lnc_column_merge(&ctx, &whole, &part), LNC_INVALID);
}

static void
absent_parts_are_null(void **state)
{
	static const int64_t indices[] = {1, 0};
	LncColumn whole = spine(0);
	LncColumn taken;

	(void)state;
	assert_int_equal(lnc_column_take(&ctx, arena, &whole, 2, indices, &taken), LNC_OK);
	assert_true(taken.children[0].children[1].absent);
	assert_int_equal(taken.children[0].children[1].length, 3);
	assert_int_equal(lnc_column_fill_absent(&ctx, arena, &taken), LNC_OK);
	assert_false(taken.children[0].children[1].absent);
	for (int64_t i = 0; i < 3; i++)
	{
		assert_true(lnc_column_is_null(&taken.children[0].children[1], i));
		assert_false(lnc_column_is_null(&taken.children[0].children[0], i));
	}
	assert_int_equal(((const int32_t *)taken.children[0].children[0].values)[0], 3);
}

static void
absent_parts_are_cut_and_joined(void **state)
{
	LncColumn parts[2] = {spine(0), spine(0)};
	LncColumn out;

	(void)state;
	assert_int_equal(lnc_column_concat(&ctx, arena, 2, parts, &out), LNC_OK);
	assert_true(out.children[0].children[1].absent);
	assert_int_equal(out.children[0].children[1].length, 6);
	assert_int_equal(lnc_column_slice(&ctx, arena, &out, 1, 2, &out), LNC_OK);
	assert_true(out.children[0].children[1].absent);
	assert_int_equal(out.children[0].children[1].length, 3);
	parts[1] = spine(1);
	assert_int_equal(lnc_column_concat(&ctx, arena, 2, parts, &out), LNC_INVALID);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(parts_come_together, setup, teardown),
		cmocka_unit_test_setup_teardown(parts_of_other_shapes_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(absent_parts_are_null, setup, teardown),
		cmocka_unit_test_setup_teardown(absent_parts_are_cut_and_joined, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
