/*
 * predicate_test.c
 *	  Conditions on batches: each leaf at every length and at the ends of its type, and the logic of three values.
 */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scan/predicate.h"

#define ROWS_MAX 200

/* What a leaf is to say of one value that is not NULL. */
typedef bool (*Model)(const LncPredicate *node, const LncColumn *column, int64_t row);

static int64_t
integer_at(const LncColumn *column, int64_t row)
{
	switch (column->type->kind)
	{
		case LNC_TYPE_INT8:
			return ((const int8_t *)column->values)[row];
		case LNC_TYPE_INT16:
			return ((const int16_t *)column->values)[row];
		case LNC_TYPE_INT32:
		case LNC_TYPE_DATE32:
		case LNC_TYPE_TIME32:
			return ((const int32_t *)column->values)[row];
		case LNC_TYPE_UINT8:
			return ((const uint8_t *)column->values)[row];
		case LNC_TYPE_UINT16:
			return ((const uint16_t *)column->values)[row];
		case LNC_TYPE_UINT32:
			return ((const uint32_t *)column->values)[row];
		default:
			return ((const int64_t *)column->values)[row];
	}
}

static bool
integer_model(const LncPredicate *node, const LncColumn *column, int64_t row)
{
	int64_t value = integer_at(column, row);

	return value >= node->first && value <= node->last;
}

static bool
list_model(const LncPredicate *node, const LncColumn *column, int64_t row)
{
	for (int64_t i = 0; i < node->nvalues; i++)
		if (node->integers[i] == integer_at(column, row))
			return true;
	return false;
}

static bool
ranges_model(const LncPredicate *node, const LncColumn *column, int64_t row)
{
	for (int64_t i = 0; i < node->nvalues; i++)
		if (node->integers[i] <= integer_at(column, row) && integer_at(column, row) <= node->lasts[i])
			return true;
	return false;
}

static double
real_at(const LncColumn *column, int64_t row)
{
	return column->type->kind == LNC_TYPE_FLOAT32 ? (double)((const float *)column->values)[row]
												  : ((const double *)column->values)[row];
}

static bool
reals_model(const LncPredicate *node, const LncColumn *column, int64_t row)
{
	if (isnan(real_at(column, row)))
		return node->nan;
	for (int64_t i = 0; i < node->nvalues; i++)
		if (node->reals[i] == real_at(column, row))
			return true;
	return false;
}

static bool
real_model(const LncPredicate *node, const LncColumn *column, int64_t row)
{
	double value = real_at(column, row);

	if (isnan(value))
		return node->nan;
	return value >= node->least && value <= node->greatest;
}

/* The rows that are chosen are those, and no others, for which the model holds and the value is not NULL. */
static void
expect(const LncPredicate *node, const LncColumn *column, Model model)
{
	const LncType *types[] = {column->type};
	bool used[1] = {false};
	int64_t *chosen;
	int64_t count;
	int64_t n = 0;

	OK(lnc_predicate_check(&ctx, node, 1, types));
	lnc_predicate_columns(node, used);
	assert_true(used[0]);
	OK(lnc_predicate_choose(&ctx, arena, node, column, column->length, &chosen, &count));
	for (int64_t row = 0; row < column->length; row++)
	{
		if (lnc_column_is_null(column, row) || !model(node, column, row))
			continue;
		if (chosen != NULL)
			assert_int_equal(chosen[n], row);
		n++;
	}
	assert_int_equal(count, n);
	assert_true(chosen != NULL || n == 0 || n == column->length);
}

/* Exactly as much memory as the values take, so that ASan sees a read behind them. */
static void *
exact(const void *values, size_t size)
{
	void *copy = malloc(size > 0 ? size : 1);

	memcpy(copy, values, size);
	return copy;
}

static void
integers_in_ranges(void **state)
{
	static const struct
	{
		LncTypeKind kind;
		size_t width;
		int64_t low;
		int64_t high;
	} kinds[] = {
		{LNC_TYPE_INT8, 1, INT8_MIN, INT8_MAX},        {LNC_TYPE_UINT8, 1, 0, UINT8_MAX},
		{LNC_TYPE_INT16, 2, INT16_MIN, INT16_MAX},     {LNC_TYPE_UINT16, 2, 0, UINT16_MAX},
		{LNC_TYPE_INT32, 4, INT32_MIN, INT32_MAX},     {LNC_TYPE_UINT32, 4, 0, UINT32_MAX},
		{LNC_TYPE_DATE32, 4, INT32_MIN, INT32_MAX},    {LNC_TYPE_INT64, 8, INT64_MIN, INT64_MAX},
		{LNC_TYPE_TIMESTAMP, 8, INT64_MIN, INT64_MAX},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
	{
		LncType type = {.kind = kinds[k].kind, .logical = "x"};
		int64_t ends[] = {
			INT64_MIN,     kinds[k].low, kinds[k].low + (kinds[k].low < 0 ? 1 : 0), -1, 0, 1, 5, kinds[k].high - 1,
			kinds[k].high, INT64_MAX};
		int64_t values[ROWS_MAX];

		for (int64_t i = 0; i < ROWS_MAX; i++)
		{
			int64_t value = ends[1 + (i * 7 % 8)];

			memcpy((char *)values + (size_t)i * kinds[k].width, &value, kinds[k].width);
		}
		for (int64_t length = 0; length <= ROWS_MAX; length += length < 70 ? 1 : 41)
		{
			uint8_t *validity = malloc(lnc_bitmap_size((uint64_t)length) + 1);
			LncColumn column = {
				.type = &type, .length = length, .values = exact(values, (size_t)length * kinds[k].width)};

			for (uint64_t i = 0; i < lnc_bitmap_size((uint64_t)length); i++)
				validity[i] = (uint8_t)(0x5b + i * 3);
			for (size_t a = 0; a < sizeof(ends) / sizeof(ends[0]); a++)
			{
				for (size_t b = 0; b < sizeof(ends) / sizeof(ends[0]); b += 3)
				{
					LncPredicate node = {.kind = LNC_PREDICATE_INTEGER, .first = ends[a], .last = ends[b]};

					column.validity = (a + b) % 2 == 0 ? NULL : validity;
					expect(&node, &column, integer_model);
				}
			}
			for (int64_t n = 0; n <= 10; n++)
			{
				LncPredicate node = {.kind = LNC_PREDICATE_INTEGERS, .nvalues = n, .integers = ends};

				column.validity = n % 2 == 0 ? NULL : validity;
				expect(&node, &column, list_model);
			}
			for (int64_t n = 0; n <= 9; n++)
			{
				/* Equal ranges, ranges with a gap, and one up to the end. */
				static const int64_t firsts[] = {INT64_MIN, -100, -100, -3, 0, 5, 5, 99, 130};
				static const int64_t lasts[] = {-129, -90, -90, -1, 0, 7, 7, 127, INT64_MAX};
				LncPredicate node = {
					.kind = LNC_PREDICATE_INTEGERS, .nvalues = n, .integers = firsts, .lasts = lasts};

				column.validity = n % 2 == 0 ? NULL : validity;
				expect(&node, &column, ranges_model);
			}
			free((void *)column.values);
			free(validity);
		}
	}
}

static void
reals_with_nan(void **state)
{
	static const double ends[] = {-INFINITY, -1.5, -0.0, 0.0, 5e-324, 1.0, 1.5, INFINITY};
	float single[ROWS_MAX];
	double wide[ROWS_MAX];

	(void)state;
	for (int i = 0; i < ROWS_MAX; i++)
	{
		wide[i] = i % 9 == 8 ? (i % 2 == 0 ? NAN : -NAN) : ends[i % 9];
		single[i] = (float)wide[i];
	}
	for (int64_t length = 0; length <= ROWS_MAX; length += 13)
	{
		LncType types[] = {{.kind = LNC_TYPE_FLOAT32, .logical = "float"},
						   {.kind = LNC_TYPE_FLOAT64, .logical = "double"}};
		LncColumn columns[] = {{.type = &types[0], .length = length, .values = exact(single, (size_t)length * 4)},
							   {.type = &types[1], .length = length, .values = exact(wide, (size_t)length * 8)}};

		for (size_t a = 0; a < 8; a++)
		{
			for (size_t b = 0; b < 8; b++)
			{
				LncPredicate node = {
					.kind = LNC_PREDICATE_REAL, .least = ends[a], .greatest = ends[b], .nan = (a + b) % 2};

				expect(&node, &columns[0], real_model);
				expect(&node, &columns[1], real_model);
			}
		}
		for (int64_t n = 0; n <= 8; n++)
		{
			LncPredicate node = {.kind = LNC_PREDICATE_REALS, .nvalues = n, .reals = ends, .nan = n % 2 != 0};

			expect(&node, &columns[0], reals_model);
			expect(&node, &columns[1], reals_model);
		}
		free((void *)columns[0].values);
		free((void *)columns[1].values);
	}
}

static LncSlice
slice(const char *text)
{
	LncSlice result = {.data = (const uint8_t *)text, .size = strlen(text)};

	return result;
}

static void
texts(void **state)
{
	static const char *const words[] = {"", "a", "ab", "abc", "b", "\xc3\xa9", "ab"};
	static const struct
	{
		LncPredicateKind kind;
		LncComparison comparison;
		const char *value;
		const char *passes; /* a digit a row that passes */
	} cases[] = {
		{LNC_PREDICATE_BYTES, LNC_EQUAL, "ab", "26"},
		{LNC_PREDICATE_BYTES, LNC_LESS, "ab", "01"},
		{LNC_PREDICATE_BYTES, LNC_LESS_EQUAL, "ab", "0126"},
		{LNC_PREDICATE_BYTES, LNC_GREATER, "ab", "345"},
		{LNC_PREDICATE_BYTES, LNC_GREATER_EQUAL, "ab", "23456"},
		{LNC_PREDICATE_BYTES, LNC_EQUAL, "", "0"},
		{LNC_PREDICATE_BYTES, LNC_LESS, "", ""},
		{LNC_PREDICATE_BYTES_HEAD, LNC_EQUAL, "ab", "236"},
		{LNC_PREDICATE_BYTES_HEAD, LNC_EQUAL, "", "0123456"},
		{LNC_PREDICATE_BYTES_HEAD, LNC_EQUAL, "\xc3", "5"},
		{LNC_PREDICATE_BYTES_HEAD, LNC_EQUAL, "abcd", ""},
	};
	LncType type = {.kind = LNC_TYPE_UTF8, .logical = "string"};
	const LncType *types[] = {&type};
	int64_t offsets[8] = {0};
	char data[64] = "";
	LncSlice list[] = {slice(""), slice("abc"), slice("b")};
	LncPredicate in = {.kind = LNC_PREDICATE_BYTES_IN, .nvalues = 3, .bytes = list};
	LncColumn column = {.type = &type, .length = 7, .offsets = offsets, .data = (const uint8_t *)data};
	int64_t *chosen;
	int64_t count;

	(void)state;
	for (int i = 0; i < 7; i++)
	{
		strcat(data, words[i]);
		offsets[i + 1] = (int64_t)strlen(data);
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		LncSlice value = slice(cases[i].value);
		LncPredicate node = {.kind = cases[i].kind, .comparison = cases[i].comparison, .bytes = &value};

		OK(lnc_predicate_check(&ctx, &node, 1, types));
		OK(lnc_predicate_choose(&ctx, arena, &node, &column, 7, &chosen, &count));
		assert_int_equal(count, strlen(cases[i].passes));
		for (int64_t row = 0; chosen != NULL && row < count; row++)
			assert_int_equal(chosen[row], cases[i].passes[row] - '0');
	}
	OK(lnc_predicate_choose(&ctx, arena, &in, &column, 7, &chosen, &count));
	assert_int_equal(count, 3);
	assert_int_equal(chosen[0], 0);
	assert_int_equal(chosen[1], 3);
	assert_int_equal(chosen[2], 4);
}

/* Rows of two columns of bool: true, false, NULL, each with each. */
static void
logic(void **state)
{
	static const char *const junctions[] = {"and", "or", "not"};
	/* What each gives for (a, b), a slower than b, of T, F, N. */
	static const char *const outcomes[] = {"TFNFFFNFN", "TTTTFNTNN", "FFFTTTNNN"};
	LncType type = {.kind = LNC_TYPE_BOOL, .logical = "bool"};
	uint8_t values[2][2] = {{0}};
	uint8_t validity[2][2] = {{0}};
	LncColumn columns[2];
	LncPredicate leaves[2] = {{.kind = LNC_PREDICATE_TRUE, .column = 0}, {.kind = LNC_PREDICATE_TRUE, .column = 1}};

	(void)state;
	for (int row = 0; row < 9; row++)
	{
		int shown[] = {row / 3, row % 3};

		for (int i = 0; i < 2; i++)
		{
			if (shown[i] == 0)
				lnc_bit_set(values[i], (uint64_t)row);
			if (shown[i] != 2)
				lnc_bit_set(validity[i], (uint64_t)row);
		}
	}
	for (int i = 0; i < 2; i++)
	{
		LncColumn column = {.type = &type, .length = 9, .values = values[i], .validity = validity[i]};

		columns[i] = column;
	}
	for (int j = 0; j < 3; j++)
	{
		LncPredicate node = {
			.kind = (LncPredicateKind)(LNC_PREDICATE_AND + j), .nchildren = j == 2 ? 1 : 2, .children = leaves};
		LncPredicate inverse = {.kind = LNC_PREDICATE_NOT, .nchildren = 1, .children = &node};
		int64_t *chosen;
		int64_t count;
		char got[10] = "NNNNNNNNN";

		OK(lnc_predicate_choose(&ctx, arena, &node, columns, 9, &chosen, &count));
		for (int64_t i = 0; i < count; i++)
			got[chosen[i]] = 'T';
		OK(lnc_predicate_choose(&ctx, arena, &inverse, columns, 9, &chosen, &count));
		for (int64_t i = 0; i < count; i++)
		{
			assert_int_equal(got[chosen[i]], 'N');
			got[chosen[i]] = 'F';
		}
		if (strcmp(got, outcomes[j]) != 0)
			fail_msg("%s gives %s, not %s", junctions[j], got, outcomes[j]);
	}
}

/* ---- random trees over columns of several types, beside the logic of three values a row at a time */

#define TREE_COLUMNS 6
#define TREE_NODES 60

static LncPredicate tree_nodes[TREE_NODES];
static int tree_used;

static int
random_below(int n)
{
	static uint32_t state = 1;

	state = state * 1664525u + 1013904223u;
	return (int)((state >> 8) % (uint32_t)n);
}

static void
random_leaf(LncPredicate *node)
{
	static const LncPredicateKind kinds[] = {
		LNC_PREDICATE_CONSTANT, LNC_PREDICATE_IS_NULL,   LNC_PREDICATE_TRUE,  LNC_PREDICATE_INTEGER,
		LNC_PREDICATE_INTEGERS, LNC_PREDICATE_REAL,      LNC_PREDICATE_REALS, LNC_PREDICATE_BYTES,
		LNC_PREDICATE_BYTES_IN, LNC_PREDICATE_BYTES_HEAD};
	static const int places[] = {0, 0, 0, 1, 1, 3, 3, 4, 4, 4};
	static const int64_t integers[] = {-7, -1, 0, 3, 4, 5, 6, 9};
	static const double reals[] = {-1.5, 0, 2};
	static const LncSlice bytes[] = {{(const uint8_t *)"", 0},
									 {(const uint8_t *)"a", 1},
									 {(const uint8_t *)"ab", 2},
									 {(const uint8_t *)"ba", 2}};
	int which = random_below(10);

	node->kind = kinds[which];
	node->column = which == 1 ? random_below(TREE_COLUMNS) : places[which];
	if ((which == 3 || which == 4) && random_below(2) == 0)
		node->column = 2;
	node->unknown = random_below(3) == 0;
	node->truth = random_below(2) == 0;
	node->first = random_below(2) == 0 ? INT64_MIN : random_below(14) - 7;
	node->last = random_below(2) == 0 ? INT64_MAX : random_below(14) - 7;
	node->integers = integers;
	node->reals = reals;
	node->nvalues = which == 4 ? (random_below(2) == 0 ? 8 : 3) : which == 6 ? 3 : 4;
	node->least = random_below(5) - 2;
	node->greatest = random_below(5) - 1;
	node->nan = random_below(2) == 0;
	node->comparison = (LncComparison)random_below(5);
	node->bytes = which == 8 ? bytes : &bytes[random_below(4)];
}

static void
random_tree(LncPredicate *node, int depth)
{
	memset(node, 0, sizeof(*node));
	if (depth == 0 || random_below(4) == 0 || tree_used + 4 > TREE_NODES)
	{
		random_leaf(node);
		return;
	}
	node->kind = (LncPredicateKind)(LNC_PREDICATE_AND + random_below(3));
	node->nchildren = node->kind == LNC_PREDICATE_NOT ? 1 : 1 + random_below(3);
	node->children = &tree_nodes[tree_used];
	tree_used += node->nchildren;
	for (int32_t i = 0; i < node->nchildren; i++)
		random_tree(&node->children[i], depth - 1);
}

static bool
text_model(const LncPredicate *node, const LncColumn *column, int64_t row)
{
	LncSlice value = {.data = column->data + column->offsets[row],
					  .size = (size_t)(column->offsets[row + 1] - column->offsets[row])};
	int order = lnc_bytes_compare(value, node->bytes[0]);

	if (node->kind == LNC_PREDICATE_BYTES_HEAD)
		return value.size >= node->bytes[0].size &&
			   memcmp(value.data, node->bytes[0].data, node->bytes[0].size) == 0;
	if (node->kind == LNC_PREDICATE_BYTES_IN)
	{
		for (int64_t i = 0; i < node->nvalues; i++)
			if (lnc_bytes_compare(value, node->bytes[i]) == 0)
				return true;
		return false;
	}
	switch (node->comparison)
	{
		case LNC_LESS:
			return order < 0;
		case LNC_LESS_EQUAL:
			return order <= 0;
		case LNC_EQUAL:
			return order == 0;
		case LNC_GREATER_EQUAL:
			return order >= 0;
		default:
			return order > 0;
	}
}

/* 1 true, 0 false, -1 unknown. */
static int
tree_model(const LncPredicate *node, const LncColumn *columns, int64_t row)
{
	const LncColumn *column = &columns[node->column];
	int result;

	switch (node->kind)
	{
		case LNC_PREDICATE_CONSTANT:
			return node->unknown ? -1 : node->truth;
		case LNC_PREDICATE_NOT:
			result = tree_model(&node->children[0], columns, row);
			return result < 0 ? -1 : !result;
		case LNC_PREDICATE_AND:
		case LNC_PREDICATE_OR:
			result = node->kind == LNC_PREDICATE_AND;
			for (int32_t i = 0; i < node->nchildren; i++)
			{
				int child = tree_model(&node->children[i], columns, row);

				if (child == (node->kind == LNC_PREDICATE_OR))
					return child;
				result = child < 0 ? -1 : result;
			}
			return result;
		case LNC_PREDICATE_IS_NULL:
			return lnc_column_is_null(column, row);
		default:
			break;
	}
	if (lnc_column_is_null(column, row))
		return -1;
	switch (node->kind)
	{
		case LNC_PREDICATE_TRUE:
			return lnc_bit(column->values, (uint64_t)row);
		case LNC_PREDICATE_INTEGER:
			return integer_model(node, column, row);
		case LNC_PREDICATE_INTEGERS:
			return list_model(node, column, row);
		case LNC_PREDICATE_REAL:
			return real_model(node, column, row);
		case LNC_PREDICATE_REALS:
			return reals_model(node, column, row);
		default:
			return text_model(node, column, row);
	}
}

static void
random_trees(void **state)
{
	static const LncTypeKind kinds[TREE_COLUMNS] = {LNC_TYPE_BOOL,    LNC_TYPE_INT32, LNC_TYPE_INT8,
													LNC_TYPE_FLOAT64, LNC_TYPE_UTF8,  LNC_TYPE_NULL};
	static const int lengths[] = {1, 63, 64, 65, 128, 190};
	uint8_t truths[24];
	uint8_t validity[TREE_COLUMNS][24];
	int32_t integers[ROWS_MAX];
	int8_t bytes[ROWS_MAX];
	double reals[ROWS_MAX];
	int64_t offsets[ROWS_MAX + 1];
	uint8_t text[ROWS_MAX * 3];
	LncType types[TREE_COLUMNS];

	(void)state;
	for (int round = 0; round < 3000; round++)
	{
		const void *values[TREE_COLUMNS] = {truths, integers, bytes, reals, NULL, NULL};
		int64_t length = lengths[random_below(6)];
		LncColumn columns[TREE_COLUMNS];
		LncPredicate root;
		uint64_t *mask;

		offsets[0] = 0;
		for (int64_t row = 0; row < length; row++)
		{
			integers[row] = random_below(14) - 7;
			bytes[row] = (int8_t)(random_below(14) - 7);
			reals[row] = random_below(6) == 0 ? (double)NAN : random_below(8) / 2.0 - 2;
			offsets[row + 1] = offsets[row] + random_below(4);
			for (int64_t i = offsets[row]; i < offsets[row + 1]; i++)
				text[i] = (uint8_t)('a' + random_below(2));
		}
		for (int i = 0; i < 24; i++)
			truths[i] = (uint8_t)random_below(256);
		for (int i = 0; i < TREE_COLUMNS; i++)
		{
			types[i] = (LncType){.kind = kinds[i], .logical = "a type"};
			for (int j = 0; j < 24; j++)
				validity[i][j] = (uint8_t)(random_below(4) == 0 ? 0 : random_below(256) | random_below(256));
			columns[i] = (LncColumn){.type = &types[i], .length = length, .values = values[i]};
			if (kinds[i] == LNC_TYPE_UTF8)
			{
				columns[i].offsets = offsets;
				columns[i].data = text;
			}
			if (kinds[i] != LNC_TYPE_NULL && random_below(3) > 0)
				columns[i].validity = validity[i];
		}
		tree_used = 0;
		random_tree(&root, 4);
		OK(lnc_predicate_mask(&ctx, arena, &root, columns, length, &mask));
		for (int64_t row = 0; row < (length + 63) / 64 * 64; row++)
		{
			bool got = (mask[row / 64] >> (row % 64) & 1) != 0;

			assert_int_equal(got, row < length && tree_model(&root, columns, row) == 1);
		}
		lnc_arena_reset(arena);
	}
}

static void
what_cannot_be_asked(void **state)
{
	LncType text = {.kind = LNC_TYPE_UTF8, .logical = "string"};
	const LncType *types[] = {&text};
	LncPredicate wrong = {.kind = LNC_PREDICATE_INTEGER};
	LncPredicate outside = {.kind = LNC_PREDICATE_IS_NULL, .column = 1};
	LncPredicate empty = {.kind = LNC_PREDICATE_AND};
	LncPredicate deep[1200];

	(void)state;
	assert_int_equal(lnc_predicate_check(&ctx, &wrong, 1, types), LNC_INVALID);
	assert_int_equal(lnc_predicate_check(&ctx, &outside, 1, types), LNC_INVALID);
	assert_int_equal(lnc_predicate_check(&ctx, &empty, 1, types), LNC_INVALID);
	memset(deep, 0, sizeof(deep));
	for (int i = 0; i < 1199; i++)
	{
		deep[i].kind = LNC_PREDICATE_NOT;
		deep[i].nchildren = 1;
		deep[i].children = &deep[i + 1];
	}
	assert_int_equal(lnc_predicate_check(&ctx, deep, 1, types), LNC_LIMIT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(integers_in_ranges, setup, teardown),
		cmocka_unit_test_setup_teardown(reals_with_nan, setup, teardown),
		cmocka_unit_test_setup_teardown(texts, setup, teardown),
		cmocka_unit_test_setup_teardown(logic, setup, teardown),
		cmocka_unit_test_setup_teardown(random_trees, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_asked, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
