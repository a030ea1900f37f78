/*
 * column_test.c
 *	  Types, bit runs, and the NULLs, slice, concat and take of columns of every layout.
 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "column/column.h"

static void *
zeroed(size_t size)
{
	void *p;

	assert_int_equal(lnc_arena_calloc(&ctx, arena, size, 1, &p), LNC_OK);
	return p;
}

static LncType *
parsed(const char *logical)
{
	LncType *type = zeroed(sizeof(*type));

	assert_int_equal(lnc_type_parse(&ctx, arena, logical, type), LNC_OK);
	return type;
}

/* ---- types ---- */

static void
logical_types_parse(void **state)
{
	static const struct
	{
		const char *logical;
		LncTypeKind kind;
		uint64_t width;
		const char *name;
	} cases[] = {
		{"null", LNC_TYPE_NULL, 0, "null"},
		{"bool", LNC_TYPE_BOOL, 0, "bool"},
		{"uint64", LNC_TYPE_UINT64, 8, "uint64"},
		{"halffloat", LNC_TYPE_FLOAT16, 2, "halffloat"},
		{"large_string", LNC_TYPE_LARGE_UTF8, 0, "large_string"},
		{"date32:day", LNC_TYPE_DATE32, 4, "date32[day]"},
		{"time32:ms", LNC_TYPE_TIME32, 4, "time32[ms]"},
		{"time64:ns", LNC_TYPE_TIME64, 8, "time64[ns]"},
		{"duration:us", LNC_TYPE_DURATION, 8, "duration[us]"},
		{"timestamp:us:-", LNC_TYPE_TIMESTAMP, 8, "timestamp[us]"},
		{"timestamp:s:+05:30", LNC_TYPE_TIMESTAMP, 8, "timestamp[s, tz=+05:30]"},
		{"timestamp:ns:Europe/Paris", LNC_TYPE_TIMESTAMP, 8, "timestamp[ns, tz=Europe/Paris]"},
		{"decimal:128:10:-2", LNC_TYPE_DECIMAL128, 16, "decimal128(10, -2)"},
		{"decimal:256:76:3", LNC_TYPE_DECIMAL256, 32, "decimal256(76, 3)"},
		{"fixed_size_binary:7", LNC_TYPE_FIXED_BINARY, 7, "fixed_size_binary[7]"},
		{"fixed_size_list:float:3", LNC_TYPE_FIXED_LIST, 12, "fixed_size_list<float>[3]"},
		{"fixed_size_list:fixed_size_list:int16:2:3", LNC_TYPE_FIXED_LIST, 12,
		 "fixed_size_list<fixed_size_list<int16>[2]>[3]"},
		{"fixed_size_list:lance.bfloat16:4", LNC_TYPE_FIXED_LIST, 8, "fixed_size_list<bfloat16>[4]"},
		{"fixed_size_list:bool:9", LNC_TYPE_FIXED_LIST, 0, "fixed_size_list<bool>[9]"},
		{"fixed_size_list:timestamp:us:-:2", LNC_TYPE_FIXED_LIST, 16, "fixed_size_list<timestamp[us]>[2]"},
		{"dict:string:int32:false", LNC_TYPE_DICTIONARY, 0, "dictionary<string>"},
		{"dict:timestamp:s:-:int8:true", LNC_TYPE_DICTIONARY, 0, "dictionary<timestamp[s]>"},
		{"dict:dict:int32:int8:false:int8:false", LNC_TYPE_UNKNOWN, 0, "dict:dict:int32:int8:false:int8:false"},
		{"decimal:32:5:1", LNC_TYPE_UNKNOWN, 0, "decimal:32:5:1"},
		{"run_end", LNC_TYPE_UNKNOWN, 0, "run_end"},
	};
	static const char *const bad[] = {"fixed_size_binary:-1",
									  "fixed_size_binary:",
									  "fixed_size_list:float",
									  "fixed_size_list:float:0",
									  "fixed_size_list:float:99999999999",
									  "time32:us",
									  "time64:s",
									  "timestamp:h:-",
									  "decimal:128:39:0",
									  "decimal:128:1",
									  "dict:string:int32",
									  "duration:"};
	char deep[600];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		LncType *type = parsed(cases[i].logical);
		char *name;

		assert_int_equal(type->kind, cases[i].kind);
		assert_int_equal(lnc_type_width(type), cases[i].width);
		assert_int_equal(lnc_type_name(&ctx, arena, type, &name), LNC_OK);
		assert_string_equal(name, cases[i].name);
		assert_string_equal(type->logical, cases[i].logical);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		LncType type;

		assert_int_equal(lnc_type_parse(&ctx, arena, bad[i], &type), LNC_CORRUPT);
	}
	deep[0] = '\0';
	for (int i = 0; i < 20; i++)
		strcat(deep, "fixed_size_list:");
	strcat(deep, "int8");
	for (int i = 0; i < 20; i++)
		strcat(deep, ":1");
	assert_int_equal(lnc_type_parse(&ctx, arena, deep, &(LncType){0}), LNC_LIMIT);
	assert_int_equal(lnc_type_parse(&ctx, arena, "fixed_size_list:double:2147483647", &(LncType){0}), LNC_LIMIT);
	assert_true(lnc_type_is_fixed(parsed("fixed_size_list:bool:9")));
	assert_false(lnc_type_is_fixed(parsed("string")));
	assert_true(lnc_type_is_variable(parsed("json")));
	assert_false(lnc_type_is_variable(parsed("list")));
}

/* ---- bits ---- */

static void
bit_runs_agree_with_single_bits(void **state)
{
	uint8_t source[40];

	(void)state;
	srand(7);
	for (size_t i = 0; i < sizeof(source); i++)
		source[i] = (uint8_t)rand();
	for (int round = 0; round < 2000; round++)
	{
		uint64_t from = (uint64_t)rand() % 100;
		uint64_t to = (uint64_t)rand() % 100;
		uint64_t n = (uint64_t)rand() % 200;
		uint8_t *target = malloc(lnc_bitmap_size(to + n) + 1);
		uint64_t ones = 0;
		uint8_t before = (uint8_t)rand();

		assert_non_null(target);
		memset(target, before, lnc_bitmap_size(to + n) + 1);
		lnc_bits_copy(target, to, source, from, n);
		for (uint64_t i = 0; i < n; i++)
		{
			assert_int_equal(lnc_bit(target, to + i), lnc_bit(source, from + i));
			ones += lnc_bit(source, from + i);
		}
		for (uint64_t i = 0; i < to; i++)
			assert_int_equal(lnc_bit(target, i), lnc_bit(&before, i % 8));
		assert_int_equal(lnc_bit(target, to + n), lnc_bit(&before, (to + n) % 8));
		assert_int_equal(lnc_bits_count(source, from, n), ones);
		lnc_bits_fill(target, to, n, (before & 1) != 0);
		assert_int_equal(lnc_bits_count(target, to, n), (before & 1) != 0 ? n : 0);
		assert_int_equal(lnc_bit(target, to + n), lnc_bit(&before, (to + n) % 8));
		free(target);
	}
}

/* ---- columns: a text form of each row is what the operations must keep ---- */

static void
render(const LncColumn *column, int64_t row, char *out, size_t size)
{
	size_t used = 0;
	int64_t first = 0;
	int64_t n = 0;

	if (lnc_column_is_null(column, row))
	{
		snprintf(out, size, "null");
		return;
	}
	switch (column->type->kind)
	{
		case LNC_TYPE_BOOL:
			snprintf(out, size, "%d", lnc_bit(column->values, (uint64_t)row));
			return;
		case LNC_TYPE_INT32:
			snprintf(out, size, "%d", (int)lnc_le32((const uint8_t *)column->values + row * 4));
			return;
		case LNC_TYPE_FIXED_BINARY:
			snprintf(out, size, "%.3s", (const char *)column->values + row * 3);
			return;
		case LNC_TYPE_UTF8:
			snprintf(out, size, "'%.*s'", (int)(column->offsets[row + 1] - column->offsets[row]),
					 (const char *)column->data + column->offsets[row]);
			return;
		case LNC_TYPE_FIXED_LIST:
			first = row * column->type->list_size;
			n = column->type->list_size;
			break;
		case LNC_TYPE_LIST:
			first = column->offsets[row];
			n = column->offsets[row + 1] - first;
			break;
		default:
			assert_int_equal(column->type->kind, LNC_TYPE_STRUCT);
			used += (size_t)snprintf(out, size, "{");
			for (int32_t i = 0; i < column->nchildren; i++)
			{
				render(&column->children[i], row, out + used, size - used);
				used = strlen(out);
				used += (size_t)snprintf(out + used, size - used, ";");
			}
			snprintf(out + used, size - used, "}");
			return;
	}
	used += (size_t)snprintf(out, size, "[");
	for (int64_t i = 0; i < n; i++)
	{
		render(&column->children[0], first + i, out + used, size - used);
		used = strlen(out);
		used += (size_t)snprintf(out + used, size - used, ",");
	}
	snprintf(out + used, size - used, "]");
}

static void
assert_row_equal(const LncColumn *a, int64_t arow, const LncColumn *b, int64_t brow)
{
	char left[2000];
	char right[2000];

	render(a, arow, left, sizeof(left));
	render(b, brow, right, sizeof(right));
	assert_string_equal(left, right);
}

/* Random rows of a type, nested types included. */
static LncColumn
random_column(const LncType *type, int64_t n)
{
	LncColumn column = {.type = type, .length = n};
	uint8_t *validity = zeroed(lnc_bitmap_size((uint64_t)n));

	if (rand() % 3 != 0)
	{
		for (int64_t i = 0; i < n; i++)
			if (rand() % 4 != 0)
				lnc_bit_set(validity, (uint64_t)i);
		column.validity = validity;
	}
	if (type->kind == LNC_TYPE_UTF8 || type->kind == LNC_TYPE_LIST)
	{
		int64_t *offsets = zeroed(sizeof(int64_t) * ((size_t)n + 1));

		for (int64_t i = 0; i < n; i++)
			offsets[i + 1] = offsets[i] + rand() % 4;
		column.offsets = offsets;
		if (type->kind == LNC_TYPE_UTF8)
		{
			uint8_t *data = zeroed((size_t)offsets[n]);

			for (int64_t i = 0; i < offsets[n]; i++)
				data[i] = (uint8_t)('a' + rand() % 26);
			column.data = data;
			return column;
		}
		n = offsets[n];
	}
	else if (type->kind == LNC_TYPE_FIXED_LIST)
		n *= type->list_size;
	if (type->nchildren > 0)
	{
		column.nchildren = type->nchildren;
		column.children = zeroed(sizeof(LncColumn) * (size_t)type->nchildren);
		for (int32_t i = 0; i < type->nchildren; i++)
			column.children[i] = random_column(&type->children[i].type, n);
		return column;
	}
	if (type->kind != LNC_TYPE_STRUCT)
	{
		uint8_t *values = zeroed((size_t)n * 4 + 4);

		for (int64_t i = 0; i < n * 4; i++)
			values[i] = (uint8_t)(1 + rand() % 250);
		column.values = values;
	}
	return column;
}

static LncType *
with_child(LncType *type, LncType *child)
{
	type->nchildren = 1;
	type->children = zeroed(sizeof(LncField));
	type->children[0].type = *child;
	type->children[0].name = "item";
	return type;
}

/* One type of each layout. */
static int
sample_types(const LncType **types)
{
	LncType *pair = parsed("struct");
	int n = 0;

	pair->nchildren = 2;
	pair->children = zeroed(2 * sizeof(LncField));
	pair->children[0].type = *parsed("int32");
	pair->children[1].type = *with_child(parsed("list"), parsed("bool"));
	types[n++] = parsed("bool");
	types[n++] = parsed("int32");
	types[n++] = parsed("fixed_size_binary:3");
	types[n++] = parsed("string");
	types[n++] = parsed("fixed_size_list:bool:3");
	types[n++] = parsed("fixed_size_list:fixed_size_list:int32:2:3");
	types[n++] = with_child(parsed("list"), parsed("string"));
	types[n++] = pair;
	types[n++] = with_child(parsed("list"), pair);
	return n;
}

static void
slice_concat_and_take_keep_rows(void **state)
{
	const LncType *types[16];
	int ntypes = sample_types(types);

	(void)state;
	srand(11);
	for (int t = 0; t < ntypes; t++)
		for (int round = 0; round < 40; round++)
		{
			LncColumn parts[3];
			LncColumn joined;
			LncColumn cut;
			LncColumn taken;
			int64_t indices[30];
			int64_t first;
			int64_t count;
			int64_t row = 0;

			for (int i = 0; i < 3; i++)
				parts[i] = random_column(types[t], rand() % 20);
			assert_int_equal(lnc_column_concat(&ctx, arena, 3, parts, &joined), LNC_OK);
			for (int i = 0; i < 3; i++)
				for (int64_t k = 0; k < parts[i].length; k++)
					assert_row_equal(&parts[i], k, &joined, row++);
			assert_int_equal(joined.length, row);

			first = rand() % (joined.length + 1);
			count = rand() % (joined.length - first + 1);
			assert_int_equal(lnc_column_slice(&ctx, arena, &joined, first, count, &cut), LNC_OK);
			assert_int_equal(cut.length, count);
			if (cut.offsets != NULL)
				assert_int_equal(cut.offsets[0], 0);
			for (int64_t k = 0; k < count; k++)
				assert_row_equal(&joined, first + k, &cut, k);
			if (count == 0)
				continue;
			for (int i = 0; i < 30; i++)
				indices[i] = rand() % count;
			assert_int_equal(lnc_column_take(&ctx, arena, &cut, 30, indices, &taken), LNC_OK);
			for (int i = 0; i < 30; i++)
				assert_row_equal(&cut, indices[i], &taken, i);
			indices[29] = count;
			assert_int_equal(lnc_column_take(&ctx, arena, &cut, 30, indices, &taken), LNC_INVALID);
			assert_int_equal(lnc_column_slice(&ctx, arena, &cut, 1, count, &taken), LNC_INVALID);
		}
}

static void
nulls_are_null_and_join_with_values(void **state)
{
	const LncType *types[16];
	int ntypes = sample_types(types);

	(void)state;
	srand(13);
	for (int t = 0; t < ntypes; t++)
	{
		LncColumn parts[2];
		LncColumn joined;

		assert_int_equal(lnc_column_nulls(&ctx, arena, types[t], 11, &parts[0]), LNC_OK);
		parts[1] = random_column(types[t], 9);
		for (int64_t i = 0; i < 11; i++)
			assert_true(lnc_column_is_null(&parts[0], i));
		assert_int_equal(lnc_column_concat(&ctx, arena, 2, parts, &joined), LNC_OK);
		for (int64_t i = 0; i < 20; i++)
			assert_row_equal(&joined, i, &parts[i / 11], i % 11);
	}
	{
		LncColumn column;

		assert_int_equal(lnc_column_nulls(&ctx, arena, parsed("null"), 5, &column), LNC_OK);
		assert_true(lnc_column_is_null(&column, 4));
		assert_int_equal(lnc_column_nulls(&ctx, arena, parsed("dict:string:int8:false"), 5, &column), LNC_OK);
		assert_int_equal(column.type->kind, LNC_TYPE_UTF8);
		assert_int_equal(lnc_column_nulls(&ctx, arena, parsed("mystery"), 5, &column), LNC_UNSUPPORTED);
		assert_non_null(strstr(ctx.error.message, "mystery"));
		assert_int_equal(lnc_column_nulls(&ctx, arena, parsed("list"), 5, &column), LNC_CORRUPT);
		assert_int_equal(lnc_column_concat(&ctx, arena, 0, NULL, &column), LNC_INVALID);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(logical_types_parse, setup, teardown),
		cmocka_unit_test_setup_teardown(bit_runs_agree_with_single_bits, setup, teardown),
		cmocka_unit_test_setup_teardown(slice_concat_and_take_keep_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(nulls_are_null_and_join_with_values, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
