/*
 * unravel_test.c
 *	  From levels to nested columns: each kind of layer, each way that levels can contradict each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "encoding/unravel.h"
#include "fixture_text.h"

#define MAX_DEPTH 8

static LncContext ctx;
static LncArena *arena;

/* The case at hand. */
static LncField fields[MAX_DEPTH];
static const LncField *path[MAX_DEPTH];
static int32_t npath;
static LncLayers layers;

static int
setup(void **state)
{
	(void)state;
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	return arena == NULL;
}

static int
teardown(void **state)
{
	(void)state;
	lnc_arena_destroy(arena);
	return 0;
}

/* Fields from the root to the leaf: l list, s struct, 2 fixed-size list of two, i int32. */
static void
use_path(const char *letters)
{
	memset(fields, 0, sizeof(fields));
	npath = (int32_t)strlen(letters);
	for (int32_t i = 0; i < npath; i++)
	{
		LncType *type;

		/* The child is the field that hangs in its parent. */
		LncField *field = i == 0 ? &fields[0] : &fields[i - 1].type.children[0];

		fields[i].name = "x";
		type = &fields[i].type;
		type->kind = letters[i] == 'l'   ? LNC_TYPE_LIST
					 : letters[i] == 's' ? LNC_TYPE_STRUCT
					 : letters[i] == '2' ? LNC_TYPE_FIXED_LIST
										 : LNC_TYPE_INT32;
		type->list_size = letters[i] == '2' ? 2 : 0;
		if (letters[i] != 'i')
		{
			type->nchildren = 1;
			type->children = &fields[i + 1];
		}
		path[i] = field;
	}
}

/* Layers leaf first, as digits. */
static LncCode
use_layers(const char *kinds)
{
	Lance__Encodings21__RepDefLayer list[LNC_LAYERS_MAX];
	size_t count = strlen(kinds);

	for (size_t i = 0; i < count; i++)
		list[i] = (Lance__Encodings21__RepDefLayer)(kinds[i] - '0');
	LNC_TRY(lnc_layers_open(&ctx, count, list, &layers));
	return lnc_unravel_check(&ctx, &layers, path, npath);
}

/* Levels as digits, NULL: none are stored. The values are 1, 2, 3 …, one a visible slot. */
static LncCode
unravel(const char *rep, const char *def, LncColumn *out)
{
	static uint16_t reps[64];
	static uint16_t defs[64];
	static int32_t values[64];
	LncSlots slots = {.nslots = strlen(rep != NULL ? rep : def)};
	LncColumn leaf = {.type = &path[npath - 1]->type, .values = values};

	for (uint64_t i = 0; i < slots.nslots; i++)
	{
		values[i] = (int32_t)i + 1;
		reps[i] = rep != NULL ? (uint16_t)(rep[i] - '0') : 0;
		defs[i] = def != NULL ? (uint16_t)(def[i] - '0') : 0;
	}
	slots.rep = rep != NULL ? reps : NULL;
	slots.def = def != NULL ? defs : NULL;
	slots.nvalues = lnc_levels_count_visible(&layers, slots.def, slots.nslots);
	leaf.length = (int64_t)slots.nvalues;
	LNC_TRY(lnc_unravel_leaf(&ctx, arena, arena, &layers, &slots, &leaf.validity));
	return lnc_unravel(&ctx, arena, arena, &layers, path, npath, &slots, &leaf, out);
}

/* All rows as the JSON that is expected. */
static void
check(const char *letters, const char *kinds, const char *rep, const char *def, const char *expected)
{
	FixtureText text = {0};
	LncColumn column;

	use_path(letters);
	assert_int_equal(use_layers(kinds), LNC_OK);
	assert_int_equal(unravel(rep, def, &column), LNC_OK);
	fixture_text_add(&text, "", 0);
	for (int64_t row = 0; row < column.length; row++)
	{
		if (row > 0)
			fixture_text_add(&text, " ", 1);
		fixture_text_value(&text, &column, row);
	}
	assert_string_equal(text.text, expected);
	free(text.text);
}

static void
check_corrupt(const char *letters, const char *kinds, const char *rep, const char *def)
{
	LncColumn column;

	use_path(letters);
	assert_int_equal(use_layers(kinds), LNC_OK);
	assert_int_equal(unravel(rep, def, &column), LNC_CORRUPT);
}

static void
leaves(void **state)
{
	(void)state;
	check("i", "1", NULL, "000", "1 2 3");
	check("i", "3", NULL, "010", "1 null 3");
}

static void
structs(void **state)
{
	(void)state;
	check("si", "11", NULL, "00", "{\"x\":1} {\"x\":2}");
	check("si", "33", NULL, "012", "{\"x\":1} {\"x\":null} null");
	check("si", "13", NULL, "01", "{\"x\":1} null");
	check("si", "31", NULL, "01", "{\"x\":1} {\"x\":null}");
	check("ssi", "333", NULL, "0123", "{\"x\":{\"x\":1}} {\"x\":{\"x\":null}} {\"x\":null} null");
	check("ssi", "133", NULL, "012", "{\"x\":{\"x\":1}} {\"x\":null} null");
}

static void
lists(void **state)
{
	(void)state;
	check("li", "12", "1001", NULL, "[1,2,3] [4]");
	check("li", "36", "100111", "010230", "[1,null,3] null [] [4]");
	check("li", "14", "1011", "0010", "[1,2] null [3]");
	check("li", "15", "1011", "0010", "[1,2] [] [3]");
	check("li", "32", "101", "010", "[1,null] [3]");
	check("li", "36", "11", "22", "null null");
	check("li", "36", "11", "33", "[] []");
	check("li", "12", "", NULL, "");
}

static void
lists_of_lists(void **state)
{
	(void)state;
	check("lli", "122", "20102", NULL, "[[1,2],[3,4]] [[5]]");

	/* Codes: 1 item, 2 and 3 inner NULL and empty, 4 and 5 outer. */
	check("lli", "366", "2011122", "0023045", "[[1,2],null,[],[3]] null []");
	check("lli", "366", "22", "32", "[[]] [null]");
}

static void
lists_of_structs(void **state)
{
	(void)state;

	/* Codes: 1 item, 2 struct, 3 and 4 list. */
	check("lsi", "336", "100011", "012034", "[{\"x\":1},{\"x\":null},null,{\"x\":4}] null []");
	check("lsi", "112", "101", NULL, "[{\"x\":1},{\"x\":2}] [{\"x\":3}]");
}

static void
structs_of_lists(void **state)
{
	(void)state;

	/* Codes: 1 item, 2 and 3 list, 4 struct. */
	check("sli", "363", "101111", "010234", "{\"x\":[1,null]} {\"x\":[3]} {\"x\":null} {\"x\":[]} null");
	check("sli", "123", "1110", "0100", "{\"x\":[1]} null {\"x\":[2,3]}");
	check("sli", "121", "101", NULL, "{\"x\":[1,2]} {\"x\":[3]}");
}

static void
lists_of_structs_of_lists(void **state)
{
	(void)state;

	/* Codes: 1 item, 2 and 3 inner list, 4 struct, 5 and 6 outer list. */
	check("lsli", "3636", "20111122", "00234056",
		  "[{\"x\":[1,2]},{\"x\":null},{\"x\":[]},null,{\"x\":[3]}] null []");
	check("lsli", "1212", "20102", NULL, "[{\"x\":[1,2]},{\"x\":[3,4]}] [{\"x\":[5]}]");

	/* A NULL struct around the outer list: code 1 inner empty, 2 outer empty, 3 struct. */
	check("slli", "1553", "2122", "0123", "{\"x\":[[1],[]]} {\"x\":[]} null");
}

static void
fixed_size_lists(void **state)
{
	(void)state;
	check("2si", "111", NULL, "0000", "[{\"x\":1},{\"x\":2}] [{\"x\":3},{\"x\":4}]");
	check("2si", "333", NULL, "012033", "[{\"x\":1},{\"x\":null}] [null,{\"x\":4}] null");
	check_corrupt("2si", "111", NULL, "000");

	/* Lists inside: codes 1 empty list, 2 fixed-size list. */
	check("2sli", "1513", "10111", "00122", "[{\"x\":[1,2]},{\"x\":[]}] null");

	/* Lists around: each struct of the first fixed-size list begins the row. Codes 1 item, 2 fixed-size list, 3 and 4 list. */
	check("l2si", "3136", "11001111", "01224300",
		  "[[{\"x\":1},{\"x\":null}],null] [] null [[{\"x\":5},{\"x\":6}]]");
	check("l2si", "1112", "1100", NULL, "[[{\"x\":1},{\"x\":2}],[{\"x\":3},{\"x\":4}]]");
	check_corrupt("l2si", "1112", "110", NULL);
	check_corrupt("l2si", "1112", "10", NULL);
	check_corrupt("l2si", "3136", "111", "040");
}

static void
layers_that_do_not_suit_the_fields(void **state)
{
	(void)state;
	use_path("li");
	assert_int_equal(use_layers("11"), LNC_CORRUPT);
	assert_int_equal(use_layers("1"), LNC_CORRUPT);
	assert_int_equal(use_layers("121"), LNC_CORRUPT);
	use_path("si");
	assert_int_equal(use_layers("12"), LNC_CORRUPT);
}

static void
levels_that_contradict_each_other(void **state)
{
	(void)state;

	/* A value before the first list, below a NULL list, below an empty one. */
	check_corrupt("li", "12", "01", NULL);
	check_corrupt("li", "14", "10", "10");
	check_corrupt("li", "15", "10", "10");

	/* No repetition at all. */
	check_corrupt("li", "14", NULL, "01");

	/* A placeholder of the outer list amid an inner one. */
	check_corrupt("lli", "144", "20", "02");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(leaves, setup, teardown),
		cmocka_unit_test_setup_teardown(structs, setup, teardown),
		cmocka_unit_test_setup_teardown(lists, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_of_lists, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_of_structs, setup, teardown),
		cmocka_unit_test_setup_teardown(structs_of_lists, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_of_structs_of_lists, setup, teardown),
		cmocka_unit_test_setup_teardown(fixed_size_lists, setup, teardown),
		cmocka_unit_test_setup_teardown(layers_that_do_not_suit_the_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(levels_that_contradict_each_other, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
