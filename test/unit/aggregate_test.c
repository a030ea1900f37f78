/*
 * aggregate_test.c
 *	  Aggregates and groups over random batches beside a loop over their rows: every type and kind, NULLs over anything,
 *	  ends of types, NaN, sums beyond 64 bits, conditions, parts of the hashes, and narrowing on the way.
 */
#include "testing.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/aggregate.h"

#define COLUMNS 17
#define BATCHES 6
#define AGGREGATES_MAX 8
#define KEYS_MAX 3
#define KEY_SIZE 300

static const LncTypeKind KINDS[COLUMNS] = {
	LNC_TYPE_BOOL,   LNC_TYPE_INT8,    LNC_TYPE_INT16,   LNC_TYPE_INT32, LNC_TYPE_INT64,  LNC_TYPE_UINT8,
	LNC_TYPE_UINT16, LNC_TYPE_UINT32,  LNC_TYPE_UINT64,  LNC_TYPE_UTF8,  LNC_TYPE_BINARY, LNC_TYPE_DATE32,
	LNC_TYPE_TIME64, LNC_TYPE_FLOAT32, LNC_TYPE_FLOAT64, LNC_TYPE_INT64, LNC_TYPE_NULL};

static LncType types[COLUMNS];
static const LncType *type_of[COLUMNS];
static LncBatch batches[BATCHES];
static int nbatches;

/* ---- random data */

static uint64_t
random_word(void)
{
	static uint64_t state = UINT64_C(88172645463325252);

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static int
below(int n)
{
	return (int)(random_word() % (uint64_t)n);
}

/* How the values of a column are spread. */
typedef enum Spread
{
	FEW,
	NEGATIVE,
	DENSE,
	GROWING,
	FALLING,
	WIDE,
	ENDS,
	SPREADS
} Spread;

static int64_t
random_integer(Spread spread, int64_t row)
{
	static const int64_t ends[] = {INT64_MIN, INT64_MAX, INT64_MIN + 1, INT64_MAX - 1, 0, -1, INT32_MAX, INT32_MIN};

	switch (spread)
	{
		case FEW:
			return below(5);
		case NEGATIVE:
			return below(9) - 1000;
		case DENSE:
			return row + below(3);
		case GROWING:
			return row * 900 + below(1000);
		case FALLING:
			return 5 - row * 7;
		case WIDE:
			return (int64_t)random_word();
		default:
			return ends[below(8)];
	}
}

static double
random_real(Spread spread)
{
	static const double ends[] = {0.0,   -0.0,    1.5,      -1.5, (double)NAN, (double)INFINITY, -(double)INFINITY,
								  1e307, 1.7e308, -1.7e308, 3e38, 1e-300};

	switch (spread)
	{
		case FEW:
			return below(3) - 1.0;
		case NEGATIVE:
			return below(2) == 0 ? -0.0 : 0.0;
		case WIDE:
			return ldexp((double)(int64_t)random_word(), below(40) - 80);
		case ENDS:
			return ends[below(12)];
		case GROWING:
			return below(20) == 0 ? (double)NAN : below(1000) / 8.0;
		default:
			return (double)(int64_t)random_word() / 1e15;
	}
}

/* A value of any size: the store cuts it. */
static void
store(LncTypeKind kind, void *values, int64_t at, int64_t integer, double real)
{
	LncType type = {.kind = kind};

	if (kind == LNC_TYPE_BOOL)
	{
		if ((integer & 1) != 0)
			lnc_bit_set(values, (uint64_t)at);
	}
	else if (kind == LNC_TYPE_FLOAT32)
		((float *)values)[at] = fabs(real) <= (double)FLT_MAX || !isfinite(real) ? (float)real : FLT_MAX;
	else if (kind == LNC_TYPE_FLOAT64)
		((double *)values)[at] = real;
	else
		lnc_column_store_integers(&type, 1, &integer, (uint8_t *)values + (uint64_t)at * lnc_type_width(&type));
}

static void
random_text(LncColumn *column, Spread spread)
{
	int64_t *offsets;
	uint8_t *data;

	OK(LNC_NEW(&ctx, arena, &offsets, column->length + 1));
	OK(LNC_NEW(&ctx, arena, &data, (column->length + 1) * 40));
	for (int64_t i = 0; i < column->length; i++)
	{
		int size = spread == FEW ? below(3) : spread == DENSE ? 8 : below(40);

		for (int j = 0; j < size; j++)
			data[offsets[i] + j] = (uint8_t)(spread == WIDE ? below(256) : 'a' + below(2));
		offsets[i + 1] = offsets[i] + size;
	}
	column->offsets = offsets;
	column->data = data;
}

static void
random_column(LncColumn *column, int number, int64_t first, int64_t length, Spread spread, int nulls)
{
	void *values;
	uint8_t *validity;

	memset(column, 0, sizeof(*column));
	column->type = type_of[number];
	column->length = length;
	if (column->type->kind == LNC_TYPE_NULL)
		return;
	if (lnc_predicate_accepts(LNC_PREDICATE_BYTES, column->type))
		random_text(column, spread);
	else
	{
		OK(lnc_arena_calloc(&ctx, arena, (size_t)length, 8, &values));
		for (int64_t i = 0; i < length; i++)
			store(column->type->kind, values, i, random_integer(spread, first + i), random_real(spread));
		column->values = values;
	}
	if (nulls == 0)
		return;
	OK(LNC_NEW(&ctx, arena, &validity, lnc_bitmap_size((uint64_t)length)));
	for (int64_t i = 0; i < length; i++)
	{
		if (below(100) >= nulls)
			lnc_bit_set(validity, (uint64_t)i);
	}
	column->validity = validity;
}

static void
random_batches(void)
{
	static const int shares[] = {0, 0, 5, 60, 95, 100};
	static const int lengths[] = {0, 1, 7, 64, 65, 200, 400};
	Spread spreads[COLUMNS];
	int nulls[COLUMNS];
	int64_t first = 0;

	for (int i = 0; i < COLUMNS; i++)
	{
		types[i] = (LncType){.kind = KINDS[i]};
		type_of[i] = &types[i];
		spreads[i] = (Spread)below(SPREADS);
		nulls[i] = shares[below(6)];
	}
	nbatches = 1 + below(BATCHES);
	for (int b = 0; b < nbatches; b++)
	{
		LncBatch *batch = &batches[b];

		batch->length = lengths[below(7)];
		batch->ncolumns = COLUMNS;
		OK(LNC_NEW(&ctx, arena, &batch->columns, COLUMNS));
		for (int i = 0; i < COLUMNS; i++)
			random_column(&batch->columns[i], i, first, batch->length,
						  below(6) == 0 ? (Spread)below(SPREADS) : spreads[i], below(3) == 0 ? 0 : nulls[i]);
		first += batch->length;
	}
}

/* ---- the model: a loop over the rows */

typedef struct Sum
{
	LncAggregated result;
	float real32;
	double squares;
	bool large;
	int64_t word;
	double extreme;
	LncSlice bytes;
} Sum;

typedef struct Group
{
	char key[KEY_SIZE];
	Sum sums[AGGREGATES_MAX];
	bool seen;
} Group;

static LncAggregate aggregates[AGGREGATES_MAX];
static LncPredicate filters[AGGREGATES_MAX];
static int32_t keys[KEYS_MAX];
static LncAggregationSpec spec;
static Group *groups;
static int ngroups;
static int groups_room;

static double
real_at(const LncColumn *column, int64_t row)
{
	return column->type->kind == LNC_TYPE_FLOAT32 ? (double)((const float *)column->values)[row]
												  : ((const double *)column->values)[row];
}

static LncSlice
bytes_at(const LncColumn *column, int64_t row)
{
	return (LncSlice){.data = column->data + column->offsets[row],
					  .size = (size_t)(column->offsets[row + 1] - column->offsets[row])};
}

/* The values of keys of a row as text. */
static void
key_text(const LncColumn *const *columns, int64_t row, char *out)
{
	int used = 0;

	memset(out, 0, KEY_SIZE);
	for (int k = 0; k < spec.nkeys; k++)
	{
		const LncColumn *column = columns[k];

		if (lnc_column_is_null(column, row))
			used += snprintf(out + used, (size_t)(KEY_SIZE - used), "/null");
		else if (column->offsets != NULL)
		{
			LncSlice bytes = bytes_at(column, row);

			used += snprintf(out + used, (size_t)(KEY_SIZE - used), "/%zu:", bytes.size);
			for (size_t i = 0; i < bytes.size; i++)
				used += snprintf(out + used, (size_t)(KEY_SIZE - used), "%02x", bytes.data[i]);
		}
		else if (column->type->kind == LNC_TYPE_BOOL)
			used += snprintf(out + used, (size_t)(KEY_SIZE - used), "/%d", lnc_bit(column->values, (uint64_t)row));
		else
			used += snprintf(out + used, (size_t)(KEY_SIZE - used), "/%lld",
							 (long long)lnc_column_integer(column, row));
		assert_true(used < KEY_SIZE);
	}
}

static Group *
group_of(const char *key, bool make)
{
	for (int i = 0; i < ngroups; i++)
	{
		if (memcmp(groups[i].key, key, KEY_SIZE) == 0)
			return &groups[i];
	}
	if (!make)
		return NULL;
	if (ngroups == groups_room)
	{
		groups_room = groups_room == 0 ? 64 : groups_room * 2;
		groups = realloc(groups, (size_t)groups_room * sizeof(*groups));
		assert_non_null(groups);
	}
	memset(&groups[ngroups], 0, sizeof(*groups));
	memcpy(groups[ngroups].key, key, KEY_SIZE);
	return &groups[ngroups++];
}

/* A condition of this test: a range of integers, of truths, or that a value is NULL. */
static bool
passes(const LncPredicate *filter, const LncBatch *batch, int64_t row)
{
	const LncColumn *column;

	if (filter == NULL)
		return true;
	column = &batch->columns[filter->column];
	if (filter->kind == LNC_PREDICATE_IS_NULL)
		return lnc_column_is_null(column, row);
	if (lnc_column_is_null(column, row))
		return false;
	if (filter->kind == LNC_PREDICATE_TRUE)
		return lnc_bit(column->values, (uint64_t)row);
	return lnc_column_integer(column, row) >= filter->first && lnc_column_integer(column, row) <= filter->last;
}

static bool
real_less(double a, double b)
{
	return isnan(b) ? !isnan(a) : a < b;
}

static void
model_real(Sum *sum, double value)
{
	double before = sum->result.real;
	double n = (double)sum->result.count + 1;
	double deviation;

	sum->result.real = sum->result.count == 0 ? value : before + value;
	if (isinf(sum->result.real) && !isinf(before) && !isinf(value))
		sum->result.overflow = true;
	if (!sum->large)
		return;
	deviation = value * n - sum->result.real;
	if (n > 1)
		sum->squares += deviation * deviation / (n * (n - 1));
	else if (!isfinite(value))
		sum->squares = NAN;
	sum->result.squares = sum->result.squares || isinf(sum->squares);
}

static void
model_extreme(Sum *sum, bool least, const LncColumn *column, int64_t row)
{
	bool first = sum->result.count == 0;

	if (column->offsets != NULL)
	{
		LncSlice value = bytes_at(column, row);
		int order = first ? 0 : lnc_bytes_compare(value, sum->bytes);

		if (first || (least ? order < 0 : order > 0))
			sum->bytes = value;
	}
	else if (column->type->kind == LNC_TYPE_FLOAT32 || column->type->kind == LNC_TYPE_FLOAT64)
	{
		double value = real_at(column, row);

		if (first || !(least ? real_less(sum->extreme, value) : real_less(value, sum->extreme)))
			sum->extreme = value;
	}
	else
	{
		int64_t value = lnc_column_integer(column, row);

		if (first || (least ? value < sum->word : value > sum->word))
			sum->word = value;
	}
}

static void
model_value(Sum *sum, const LncAggregate *aggregate, const LncColumn *column, int64_t row)
{
	float before;

	switch (aggregate->kind)
	{
		case LNC_SUM_INTEGER:
			sum->result.integer += lnc_column_integer(column, row);
			break;
		case LNC_SUM_FLOAT32:
			before = sum->real32;
			sum->real32 = sum->result.count == 0 ? ((const float *)column->values)[row]
												 : before + ((const float *)column->values)[row];
			if (isinf(sum->real32) && !isinf(before) && !isinf(real_at(column, row)))
				sum->result.overflow = true;
			sum->result.real = (double)sum->real32;
			break;
		case LNC_SUM_REAL:
			model_real(sum, real_at(column, row));
			break;
		case LNC_MIN:
		case LNC_MAX:
			model_extreme(sum, aggregate->kind == LNC_MIN, column, row);
			break;
		case LNC_EVERY:
		case LNC_SOME:
			if (sum->result.count == 0)
				sum->result.truth = aggregate->kind == LNC_EVERY;
			if (lnc_bit(column->values, (uint64_t)row) != (aggregate->kind == LNC_EVERY))
				sum->result.truth = aggregate->kind == LNC_SOME;
			break;
		default:
			break;
	}
	sum->result.count++;
}

/* Whether a value that counts, of any group, is so large that squares do. */
static bool
has_large(const LncAggregate *aggregate, const LncBatch *batch)
{
	const LncColumn *column = &batch->columns[aggregate->column];

	for (int64_t row = 0; row < batch->length; row++)
	{
		if (passes(aggregate->filter, batch, row) && !lnc_column_is_null(column, row) &&
			column->type->kind == LNC_TYPE_FLOAT64 && fabs(real_at(column, row)) > 1e100)
			return true;
	}
	return false;
}

static void
run_model(void)
{
	bool large[AGGREGATES_MAX] = {false};

	ngroups = 0;
	if (spec.nkeys == 0)
		group_of((char[KEY_SIZE]){0}, true);
	for (int b = 0; b < nbatches; b++)
	{
		const LncColumn *columns[KEYS_MAX];

		for (int i = 0; i < spec.naggregates; i++)
			large[i] = large[i] || (aggregates[i].kind == LNC_SUM_REAL && has_large(&aggregates[i], &batches[b]));
		for (int k = 0; k < spec.nkeys; k++)
			columns[k] = &batches[b].columns[keys[k]];
		for (int64_t row = 0; row < batches[b].length; row++)
		{
			char key[KEY_SIZE];
			Group *group;

			key_text(columns, row, key);
			group = group_of(key, true);
			for (int i = 0; i < spec.naggregates; i++)
			{
				const LncColumn *column = &batches[b].columns[aggregates[i].column];

				group->sums[i].large = large[i];
				if (!passes(aggregates[i].filter, &batches[b], row))
					continue;
				if (aggregates[i].kind == LNC_COUNT_ROWS)
					group->sums[i].result.count++;
				else if (!lnc_column_is_null(column, row))
					model_value(&group->sums[i], &aggregates[i], column, row);
			}
		}
	}
}

/* ---- comparison */

static void
same_real(double a, double b)
{
	if (isnan(a) || isnan(b))
		assert_true(isnan(a) && isnan(b));
	else
		assert_memory_equal(&a, &b, sizeof(a));
}

static void
same_extreme(const LncColumn *column, int64_t row, const Sum *sum)
{
	assert_int_equal(lnc_column_is_null(column, row), sum->result.count == 0);
	if (sum->result.count == 0)
		return;
	if (column->offsets != NULL)
	{
		LncSlice bytes = bytes_at(column, row);

		assert_int_equal(bytes.size, sum->bytes.size);
		if (bytes.size > 0)
			assert_memory_equal(bytes.data, sum->bytes.data, bytes.size);
	}
	else if (column->type->kind == LNC_TYPE_FLOAT32 || column->type->kind == LNC_TYPE_FLOAT64)
		same_real(real_at(column, row), sum->extreme);
	else
		assert_true(lnc_column_integer(column, row) == sum->word);
}

/* All groups of the aggregation are those of the model, none of which was seen before. part: squares may begin later. */
static void
compare(const LncAggregation *aggregation, bool part)
{
	LncColumn key_columns[KEYS_MAX];
	const LncColumn *columns[KEYS_MAX];
	LncColumn extremes[AGGREGATES_MAX];

	for (int k = 0; k < spec.nkeys; k++)
	{
		OK(lnc_aggregation_key(&ctx, aggregation, arena, k, &key_columns[k]));
		columns[k] = &key_columns[k];
	}
	for (int i = 0; i < spec.naggregates; i++)
	{
		if (aggregates[i].kind == LNC_MIN || aggregates[i].kind == LNC_MAX)
			OK(lnc_aggregation_column(&ctx, aggregation, arena, i, &extremes[i]));
	}
	for (int32_t g = 0; g < lnc_aggregation_count(aggregation); g++)
	{
		char key[KEY_SIZE];
		Group *group;

		key_text(columns, g, key);
		group = group_of(key, false);
		assert_non_null(group);
		assert_false(group->seen);
		group->seen = true;
		for (int i = 0; i < spec.naggregates; i++)
		{
			const LncAggregated *expected = &group->sums[i].result;
			LncAggregated got;

			lnc_aggregation_result(aggregation, i, g, &got);
			assert_true(got.count == expected->count);
			if (aggregates[i].kind == LNC_MIN || aggregates[i].kind == LNC_MAX)
				same_extreme(&extremes[i], g, &group->sums[i]);
			if (got.count == 0)
				continue;
			assert_true(got.integer == expected->integer);
			if (aggregates[i].kind == LNC_SUM_FLOAT32 || aggregates[i].kind == LNC_SUM_REAL)
				same_real(got.real, expected->real);
			assert_int_equal(got.overflow, expected->overflow);
			assert_true(part || got.squares == expected->squares);
			assert_int_equal(got.truth, expected->truth);
		}
	}
}

static void
all_seen(void)
{
	for (int i = 0; i < ngroups; i++)
	{
		assert_true(groups[i].seen);
		groups[i].seen = false;
	}
}

/* Add all batches, and narrow behind one of them. */
static LncAggregation *
aggregate(LncHashRange *range, int narrow_behind, uint64_t last)
{
	LncAggregation *aggregation;
	LncArena *scratch;
	LncArena *home;

	OK(lnc_arena_create_child(&ctx, arena, &scratch));
	OK(lnc_arena_create_child(&ctx, arena, &home));
	OK(lnc_aggregation_create(&ctx, home, &spec, &aggregation));
	for (int b = 0; b < nbatches; b++)
	{
		lnc_arena_reset(scratch);
		OK(lnc_aggregation_add(&ctx, aggregation, scratch, *range, &batches[b]));
		if (b == narrow_behind)
		{
			LncArena *next;

			range->last = last;
			OK(lnc_arena_create_child(&ctx, arena, &next));
			OK(lnc_aggregation_narrow(&ctx, aggregation, next, *range, &aggregation));
			lnc_arena_reset(home);
			home = next;
		}
	}
	return aggregation;
}

static void
random_spec(void)
{
	memset(&spec, 0, sizeof(spec));
	spec.types = type_of;
	spec.ncolumns = COLUMNS;
	spec.keys = keys;
	spec.aggregates = aggregates;
	spec.nkeys = below(3) == 0 ? below(KEYS_MAX + 1) : below(2);
	spec.naggregates = below(AGGREGATES_MAX + 1);
	spec.memory = below(2) == 0 ? 0 : (size_t)below(300000);
	for (int k = 0; k < spec.nkeys; k++)
	{
		do
			keys[k] = below(COLUMNS);
		while (!lnc_groups_accept(type_of[keys[k]]));
	}
	for (int i = 0; i < spec.naggregates; i++)
	{
		LncAggregate *one = &aggregates[i];
		LncPredicate *filter = &filters[i];

		memset(one, 0, sizeof(*one));
		memset(filter, 0, sizeof(*filter));
		do
		{
			one->kind = (LncAggregateKind)below(LNC_SOME + 1);
			one->column = below(COLUMNS);
		} while (!lnc_aggregate_accepts(one->kind, type_of[one->column]));
		if (below(3) > 0)
			continue;
		one->filter = filter;
		filter->kind = below(3) == 0   ? LNC_PREDICATE_IS_NULL
					   : below(2) == 0 ? LNC_PREDICATE_TRUE
									   : LNC_PREDICATE_INTEGER;
		do
			filter->column = below(COLUMNS);
		while (!lnc_predicate_accepts(filter->kind, type_of[filter->column]));
		filter->first = below(2) == 0 ? INT64_MIN : below(10);
		filter->last = below(2) == 0 ? INT64_MAX : 5 + below(100);
	}
}

static void
test_random(void **state)
{
	int narrowed = 0;

	(void)state;
	for (int round = 0; round < 700; round++)
	{
		LncHashRange range = {.last = UINT64_MAX};
		uint64_t last = below(4) == 0 ? random_word() : UINT64_MAX / 2;

		lnc_arena_reset(arena);
		random_batches();
		random_spec();
		run_model();
		compare(aggregate(&range, -1, 0), false);
		all_seen();
		if (spec.nkeys == 0 || last == UINT64_MAX)
			continue;
		/* The first part is narrowed to on the way, the other one is asked for. */
		compare(aggregate(&range, below(nbatches), last), true);
		range = (LncHashRange){.first = last + 1, .last = UINT64_MAX};
		compare(aggregate(&range, -1, 0), true);
		all_seen();
		narrowed++;
	}
	assert_true(narrowed > 100);
	free(groups);
	groups = NULL;
	groups_room = 0;
}

/* One column of int64, with validity where a value is marked by the mask. */
static void
one_batch(int b, const int64_t *values, int64_t length, const uint8_t *validity)
{
	types[4] = (LncType){.kind = LNC_TYPE_INT64};
	type_of[0] = &types[4];
	batches[b].length = length;
	batches[b].ncolumns = 1;
	OK(LNC_NEW(&ctx, arena, &batches[b].columns, 1));
	batches[b].columns[0] =
		(LncColumn){.type = &types[4], .length = length, .values = values, .validity = validity};
	nbatches = b + 1;
}

/* Keys that begin close together, and then reach from one end of the type to the other. */
static void
test_beyond_the_table(void **state)
{
	int64_t values[4096];
	int64_t ends[] = {INT64_MIN, INT64_MAX, 7, 0, -1, INT64_MIN, 4095};
	LncHashRange range = {.last = UINT64_MAX};
	LncAggregated result;
	LncAggregation *aggregation;
	LncColumn key;

	(void)state;
	for (int64_t i = 0; i < 4096; i++)
		values[i] = i;
	one_batch(0, values, 4096, NULL);
	one_batch(1, ends, 7, NULL);
	one_batch(2, values, 4096, NULL);
	keys[0] = 0;
	aggregates[0] = (LncAggregate){.kind = LNC_SUM_INTEGER, .column = 0};
	spec = (LncAggregationSpec){
		.nkeys = 1, .keys = keys, .naggregates = 1, .aggregates = aggregates, .ncolumns = 1, .types = type_of};
	aggregation = aggregate(&range, 1, UINT64_MAX);
	assert_int_equal(lnc_aggregation_count(aggregation), 4099);
	OK(lnc_aggregation_key(&ctx, aggregation, arena, 0, &key));
	for (int32_t g = 0; g < 4099; g++)
	{
		int64_t value = ((const int64_t *)key.values)[g];
		int64_t count = value < 0 || value > 4095 ? 0 : 2;

		for (int i = 0; i < 7; i++)
			count += ends[i] == value;
		lnc_aggregation_result(aggregation, 0, g, &result);
		assert_true(result.count == count);
		assert_true(result.integer == (__int128)value * count);
	}
}

/* A batch of two columns of int64. */
static void
pair_batch(int b, const int64_t *first, const int64_t *second, int64_t length)
{
	one_batch(b, first, length, NULL);
	batches[b].ncolumns = 2;
	OK(LNC_NEW(&ctx, arena, &batches[b].columns, 2));
	batches[b].columns[0] = (LncColumn){.type = &types[4], .length = length, .values = first};
	batches[b].columns[1] = (LncColumn){.type = &types[4], .length = length, .values = second};
	type_of[1] = &types[4];
}

/* A value that took a place to spare keeps one when the table grows at its other end. */
static void
test_places_to_spare(void **state)
{
	static const int64_t values[] = {0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6, 7};
	static const int64_t others[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0};
	static const int64_t low[] = {-1, -2, -3, -1, -2, -3, 7, 6, 5};
	static const int64_t low_others[] = {0, 0, 0, 1, 1, 1, 0, 0, 0};

	(void)state;
	for (int sign = -1; sign <= 1; sign += 2)
	{
		int64_t first[22];
		LncHashRange range = {.last = UINT64_MAX};
		LncAggregation *aggregation;
		LncColumn key;
		LncColumn other;

		for (int i = 0; i < 22; i++)
			first[i] = sign * (i < 13 ? values[i] : low[i - 13]);
		pair_batch(0, first, others, 10);
		pair_batch(1, first + 10, others + 10, 3);
		pair_batch(2, first + 13, low_others, 1);
		pair_batch(3, first + 14, low_others + 1, 5);
		pair_batch(4, first + 19, low_others + 6, 3);
		keys[0] = 0;
		keys[1] = 1;
		aggregates[0] = (LncAggregate){.kind = LNC_SUM_INTEGER, .column = 0};
		spec = (LncAggregationSpec){
			.nkeys = 2, .keys = keys, .naggregates = 1, .aggregates = aggregates, .ncolumns = 2, .types = type_of};
		aggregation = aggregate(&range, sign < 0 ? 2 : -1, UINT64_MAX);
		assert_int_equal(lnc_aggregation_count(aggregation), 19);
		OK(lnc_aggregation_key(&ctx, aggregation, arena, 0, &key));
		OK(lnc_aggregation_key(&ctx, aggregation, arena, 1, &other));
		for (int32_t g = 0; g < 19; g++)
		{
			int64_t value = ((const int64_t *)key.values)[g];
			int64_t count = value * sign >= 5 ? 2 : 1;
			LncAggregated result;

			lnc_aggregation_result(aggregation, 0, g, &result);
			assert_true(result.count == count);
			assert_true(result.integer == (__int128)value * count);
		}
	}
}

/* Sums of many of the greatest and least integers. */
static void
test_sums_beyond_64_bits(void **state)
{
	static const int64_t extremes[] = {INT64_MAX, INT64_MIN};

	(void)state;
	for (int which = 0; which < 2; which++)
	{
		int64_t values[1000];
		LncHashRange range = {.last = UINT64_MAX};
		LncAggregated result;

		for (int i = 0; i < 1000; i++)
			values[i] = extremes[which];
		one_batch(0, values, 1000, NULL);
		one_batch(1, values, 999, NULL);
		aggregates[0] = (LncAggregate){.kind = LNC_SUM_INTEGER, .column = 0};
		spec = (LncAggregationSpec){.naggregates = 1, .aggregates = aggregates, .ncolumns = 1, .types = type_of};
		for (int by = 0; by < 2; by++)
		{
			keys[0] = 0;
			spec.keys = keys;
			spec.nkeys = by;
			lnc_aggregation_result(aggregate(&range, -1, 0), 0, 0, &result);
			assert_true(result.integer == (__int128)extremes[which] * 1999);
			assert_true(result.count == 1999);
		}
	}
}

/* What can't be aggregated, or is no column, is refused. */
static void
test_refused(void **state)
{
	LncAggregation *aggregation;

	(void)state;
	random_batches();
	spec = (LncAggregationSpec){.naggregates = 1,
								.aggregates = aggregates,
								.keys = keys,
								.nkeys = 1,
								.ncolumns = COLUMNS,
								.types = type_of};
	keys[0] = 14; /* of float64 */
	aggregates[0] = (LncAggregate){.kind = LNC_COUNT_ROWS};
	assert_int_equal(lnc_aggregation_create(&ctx, arena, &spec, &aggregation), LNC_INVALID);
	keys[0] = COLUMNS;
	assert_int_equal(lnc_aggregation_create(&ctx, arena, &spec, &aggregation), LNC_INVALID);
	keys[0] = 3;
	aggregates[0] = (LncAggregate){.kind = LNC_SUM_INTEGER, .column = 8}; /* of uint64 */
	assert_int_equal(lnc_aggregation_create(&ctx, arena, &spec, &aggregation), LNC_INVALID);
	aggregates[0] = (LncAggregate){.kind = LNC_COUNT, .column = -1};
	assert_int_equal(lnc_aggregation_create(&ctx, arena, &spec, &aggregation), LNC_INVALID);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_random, setup, teardown),
		cmocka_unit_test_setup_teardown(test_beyond_the_table, setup, teardown),
		cmocka_unit_test_setup_teardown(test_places_to_spare, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sums_beyond_64_bits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
