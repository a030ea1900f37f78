/*
 * aggregate.c
 *	  Aggregates over batches.
 *
 * Each aggregate has arrays by group of what it has come to. Sums of all rows without NULLs have loops of their own; all
 * else goes row by row.
 */
#include "scan/aggregate.h"

#include <math.h>
#include <string.h>

/*
 * Below this, squares of deviations can't make their sum overflow, nor be seen in one that is about to: only from the
 * first larger value on they are added up.
 */
#define LARGE_REAL 1e100

/* A value of MIN or MAX that is a run of bytes. */
typedef struct Bytes
{
	uint8_t *data;
	size_t size;
	size_t room;
} Bytes;

/* What an aggregate has come to; arrays by group, those that its kind needs. */
typedef struct State
{
	LncAggregate spec;
	const LncType *type;
	int64_t *counts;
	__int128 *integers;
	double *reals;
	double *squares; /* sum of squared deviations, once there are large values */
	bool *flags;     /* overflow; EVERY, SOME: the truth */
	bool *overflown; /* of squares */
	int64_t *words;  /* MIN, MAX of integers */
	Bytes *bytes;    /* MIN, MAX of bytes */
	bool large;      /* a large value was met */
} State;

struct LncAggregation
{
	LncArena *arena;
	LncAggregationSpec spec;
	LncGroups *groups; /* NULL without keys */
	int32_t room;      /* of the arrays by group */
	State *states;
};

/* The rows of a batch that an aggregate takes, and their groups. */
typedef struct Rows
{
	int64_t count;
	const int64_t *indices; /* NULL: all */
	const int32_t *groups;  /* by row; NULL: all are of group 0 */
} Rows;

/* ---- making */

static bool
is_whole(const LncType *type)
{
	switch (type->kind)
	{
		case LNC_TYPE_INT8:
		case LNC_TYPE_INT16:
		case LNC_TYPE_INT32:
		case LNC_TYPE_INT64:
		case LNC_TYPE_UINT8:
		case LNC_TYPE_UINT16:
		case LNC_TYPE_UINT32:
			return true;
		default:
			return false;
	}
}

bool
lnc_aggregate_accepts(LncAggregateKind kind, const LncType *type)
{
	const LncType *values = lnc_column_type(type);

	switch (kind)
	{
		case LNC_COUNT_ROWS:
		case LNC_COUNT:
			return true;
		case LNC_SUM_INTEGER:
			return is_whole(values);
		case LNC_SUM_FLOAT32:
			return values->kind == LNC_TYPE_FLOAT32;
		case LNC_SUM_REAL:
			return values->kind == LNC_TYPE_FLOAT32 || values->kind == LNC_TYPE_FLOAT64;
		case LNC_MIN:
		case LNC_MAX:
			return lnc_predicate_accepts(LNC_PREDICATE_INTEGER, type) ||
				   lnc_predicate_accepts(LNC_PREDICATE_REAL, type) ||
				   lnc_predicate_accepts(LNC_PREDICATE_BYTES, type);
		case LNC_EVERY:
		case LNC_SOME:
			return values->kind == LNC_TYPE_BOOL;
	}
	return false;
}

static LncCode
check_spec(LncContext *ctx, const LncAggregationSpec *spec)
{
	for (int32_t i = 0; i < spec->nkeys; i++)
	{
		if (spec->keys[i] < 0 || spec->keys[i] >= spec->ncolumns)
			return lnc_fail(ctx, LNC_INVALID, "aggregation has a key in column %d of %d", spec->keys[i],
							spec->ncolumns);
	}
	for (int32_t i = 0; i < spec->naggregates; i++)
	{
		const LncAggregate *aggregate = &spec->aggregates[i];

		if (aggregate->filter != NULL)
			LNC_TRY(lnc_predicate_check(ctx, aggregate->filter, spec->ncolumns, spec->types));
		if (aggregate->kind == LNC_COUNT_ROWS)
			continue;
		if (aggregate->column < 0 || aggregate->column >= spec->ncolumns)
			return lnc_fail(ctx, LNC_INVALID, "aggregate of column %d of %d", aggregate->column, spec->ncolumns);
		if (!lnc_aggregate_accepts(aggregate->kind, spec->types[aggregate->column]))
			return lnc_fail(ctx, LNC_INVALID, "column of type %s can't be aggregated so",
							spec->types[aggregate->column]->logical != NULL
								? spec->types[aggregate->column]->logical
								: "unknown");
	}
	return LNC_OK;
}

/* Room for so many groups in the arrays of a state. */
static LncCode
grow_state(LncContext *ctx, LncArena *arena, State *state, size_t used, size_t room)
{
	LNC_TRY(lnc_arena_grow(ctx, arena, used, room, sizeof(*state->counts), (void **)&state->counts));
	switch (state->spec.kind)
	{
		case LNC_COUNT_ROWS:
		case LNC_COUNT:
			return LNC_OK;
		case LNC_SUM_INTEGER:
			return lnc_arena_grow(ctx, arena, used, room, sizeof(*state->integers), (void **)&state->integers);
		case LNC_SUM_FLOAT32:
		case LNC_SUM_REAL:
			LNC_TRY(lnc_arena_grow(ctx, arena, used, room, sizeof(*state->reals), (void **)&state->reals));
			LNC_TRY(lnc_arena_grow(ctx, arena, used, room, sizeof(*state->squares), (void **)&state->squares));
			LNC_TRY(lnc_arena_grow(ctx, arena, used, room, sizeof(*state->overflown), (void **)&state->overflown));
			return lnc_arena_grow(ctx, arena, used, room, sizeof(*state->flags), (void **)&state->flags);
		case LNC_EVERY:
		case LNC_SOME:
			return lnc_arena_grow(ctx, arena, used, room, sizeof(*state->flags), (void **)&state->flags);
		case LNC_MIN:
		case LNC_MAX:
			if (lnc_predicate_accepts(LNC_PREDICATE_INTEGER, state->type))
				return lnc_arena_grow(ctx, arena, used, room, sizeof(*state->words), (void **)&state->words);
			if (lnc_predicate_accepts(LNC_PREDICATE_REAL, state->type))
				return lnc_arena_grow(ctx, arena, used, room, sizeof(*state->reals), (void **)&state->reals);
			return lnc_arena_grow(ctx, arena, used, room, sizeof(*state->bytes), (void **)&state->bytes);
	}
	return LNC_OK;
}

/* Have the arrays by group reach to count groups. */
static LncCode
reach(LncContext *ctx, LncAggregation *aggregation, int32_t count)
{
	size_t room = aggregation->room == 0 ? 1 : (size_t)aggregation->room;

	if (count <= aggregation->room)
		return LNC_OK;
	while (room < (size_t)count)
		room *= 2;
	for (int32_t i = 0; i < aggregation->spec.naggregates; i++)
		LNC_TRY(grow_state(ctx, aggregation->arena, &aggregation->states[i], (size_t)aggregation->room, room));
	aggregation->room = (int32_t)room;
	return LNC_OK;
}

LncCode
lnc_aggregation_create(LncContext *ctx, LncArena *arena, const LncAggregationSpec *spec, LncAggregation **out)
{
	LncAggregation *aggregation;
	const LncType **types;

	LNC_TRY(check_spec(ctx, spec));
	LNC_TRY(LNC_NEW(ctx, arena, &aggregation, 1));
	LNC_TRY(LNC_NEW(ctx, arena, &aggregation->states, spec->naggregates));
	aggregation->arena = arena;
	aggregation->spec = *spec;
	for (int32_t i = 0; i < spec->naggregates; i++)
	{
		aggregation->states[i].spec = spec->aggregates[i];
		if (spec->aggregates[i].kind != LNC_COUNT_ROWS)
			aggregation->states[i].type = lnc_column_type(spec->types[spec->aggregates[i].column]);
	}
	if (spec->nkeys > 0)
	{
		LNC_TRY(LNC_NEW(ctx, arena, &types, spec->nkeys));
		for (int32_t i = 0; i < spec->nkeys; i++)
			types[i] = spec->types[spec->keys[i]];
		LNC_TRY(lnc_groups_create(ctx, arena, spec->nkeys, types, &aggregation->groups));
	}
	else
		LNC_TRY(reach(ctx, aggregation, 1));
	*out = aggregation;
	return LNC_OK;
}

/* ---- rows */

/* For each row that counts and is not NULL: its number and its group. */
#define EACH_VALUE(rows, column, row, group)                                   \
	for (int64_t at_ = 0, row, group; at_ < (rows)->count; at_++)              \
		if ((row = (rows)->indices != NULL ? (rows)->indices[at_] : at_,       \
			 group = (rows)->groups != NULL ? (rows)->groups[row] : 0) >= 0 && \
			((column)->validity == NULL || lnc_bit((column)->validity, (uint64_t)row)))

static bool
all_of_one(const Rows *rows, const LncColumn *column)
{
	return rows->indices == NULL && rows->groups == NULL && column->validity == NULL;
}

static void
count_rows(State *state, const Rows *rows)
{
	if (rows->groups == NULL)
	{
		state->counts[0] += rows->count;
		return;
	}
	for (int64_t at = 0; at < rows->count; at++)
	{
		int32_t group = rows->groups[rows->indices != NULL ? rows->indices[at] : at];

		if (group >= 0)
			state->counts[group]++;
	}
}

static void
count_values(State *state, const Rows *rows, const LncColumn *column)
{
	if (column->type->kind == LNC_TYPE_NULL)
		return;
	if (all_of_one(rows, column))
		state->counts[0] += rows->count;
	else
	{
		EACH_VALUE(rows, column, row, group)
		state->counts[group]++;
	}
}

/* Sums of up to 2^31 values of 32 bits fit into 64; a batch has fewer. */
#define DEFINE_SUM(name, ctype, wide)                                         \
	static void name(State *state, const Rows *rows, const LncColumn *column) \
	{                                                                         \
		const ctype *values = column->values;                                 \
                                                                              \
		if (all_of_one(rows, column))                                         \
		{                                                                     \
			wide sum = 0;                                                     \
                                                                              \
			for (int64_t row = 0; row < rows->count; row++)                   \
				sum += values[row];                                           \
			state->integers[0] += sum;                                        \
			state->counts[0] += rows->count;                                  \
			return;                                                           \
		}                                                                     \
		EACH_VALUE(rows, column, row, group)                                  \
		{                                                                     \
			state->integers[group] += values[row];                            \
			state->counts[group]++;                                           \
		}                                                                     \
	}

DEFINE_SUM(sum_int8, int8_t, int64_t)
DEFINE_SUM(sum_int16, int16_t, int64_t)
DEFINE_SUM(sum_int32, int32_t, int64_t)
DEFINE_SUM(sum_int64, int64_t, __int128)
DEFINE_SUM(sum_uint8, uint8_t, int64_t)
DEFINE_SUM(sum_uint16, uint16_t, int64_t)
DEFINE_SUM(sum_uint32, uint32_t, int64_t)

static void
sum_integers(State *state, const Rows *rows, const LncColumn *column)
{
	switch (column->type->kind)
	{
		case LNC_TYPE_INT8:
			sum_int8(state, rows, column);
			break;
		case LNC_TYPE_INT16:
			sum_int16(state, rows, column);
			break;
		case LNC_TYPE_INT32:
			sum_int32(state, rows, column);
			break;
		case LNC_TYPE_UINT8:
			sum_uint8(state, rows, column);
			break;
		case LNC_TYPE_UINT16:
			sum_uint16(state, rows, column);
			break;
		case LNC_TYPE_UINT32:
			sum_uint32(state, rows, column);
			break;
		default:
			sum_int64(state, rows, column);
			break;
	}
}

static void
sum_float32(State *state, const Rows *rows, const LncColumn *column)
{
	const float *values = column->values;

	EACH_VALUE(rows, column, row, group)
	{
		float before = (float)state->reals[group];
		float after = state->counts[group] == 0 ? values[row] : before + values[row];

		if (isinf(after) && !isinf(before) && !isinf(values[row]))
			state->flags[group] = true;
		state->reals[group] = after;
		state->counts[group]++;
	}
}

static inline double
real_at(const LncColumn *column, int64_t row)
{
	return column->type->kind == LNC_TYPE_FLOAT32 ? (double)((const float *)column->values)[row]
												  : ((const double *)column->values)[row];
}

/* The deviations' squares, as the method of Youngs and Cramer adds them up; a value has just been added. */
static void
add_square(State *state, int64_t group, double value)
{
	double n = (double)state->counts[group];
	double deviation = value * n - state->reals[group];

	if (n > 1)
		state->squares[group] += deviation * deviation / (n * (n - 1));
	else if (!isfinite(value))
		state->squares[group] = NAN;
	if (isinf(state->squares[group]))
		state->overflown[group] = true;
}

/* Whether any value of the column is so large that squares count; they may be those of NULLs. */
static bool
has_large(const LncColumn *column)
{
	bool large = false;

	if (column->type->kind == LNC_TYPE_FLOAT32)
		return false;
	for (int64_t row = 0; row < column->length; row++)
		large |= fabs(((const double *)column->values)[row]) > LARGE_REAL;
	return large;
}

static void
sum_real(State *state, const Rows *rows, const LncColumn *column)
{
	state->large = state->large || has_large(column);
	if (!state->large && all_of_one(rows, column) && column->type->kind == LNC_TYPE_FLOAT64)
	{
		const double *values = column->values;
		double sum = state->reals[0];
		int64_t row = 0;

		/* The first value is the sum: -0 stays what it is. */
		if (state->counts[0] == 0 && rows->count > 0)
			sum = values[row++];
		for (; row < rows->count; row++)
			sum += values[row];
		state->reals[0] = sum;
		state->counts[0] += rows->count;
		return;
	}
	EACH_VALUE(rows, column, row, group)
	{
		double value = real_at(column, row);
		double before = state->reals[group];
		double after = state->counts[group] == 0 ? value : before + value;

		if (isinf(after) && !isinf(before) && !isinf(value))
			state->flags[group] = true;
		state->reals[group] = after;
		state->counts[group]++;
		if (state->large)
			add_square(state, group, value);
	}
}

/* ---- least and greatest */

static void
extreme_integer(State *state, const Rows *rows, const LncColumn *column)
{
	bool least = state->spec.kind == LNC_MIN;

	EACH_VALUE(rows, column, row, group)
	{
		int64_t value = lnc_column_integer(column, row);

		if (state->counts[group]++ == 0 || (least ? value < state->words[group] : value > state->words[group]))
			state->words[group] = value;
	}
}

/* NaN is above all numbers. */
static inline bool
real_less(double a, double b)
{
	return isnan(b) ? !isnan(a) : a < b;
}

/* Of equals, which differ for -0 and 0, the later one stays. */
static void
extreme_real(State *state, const Rows *rows, const LncColumn *column)
{
	bool least = state->spec.kind == LNC_MIN;

	EACH_VALUE(rows, column, row, group)
	{
		double value = real_at(column, row);
		double so_far = state->reals[group];

		if (state->counts[group]++ == 0 || !(least ? real_less(so_far, value) : real_less(value, so_far)))
			state->reals[group] = value;
	}
}

static LncCode
keep(LncContext *ctx, LncArena *arena, Bytes *bytes, LncSlice value)
{
	if (value.size > bytes->room || bytes->data == NULL)
	{
		size_t room = value.size < 32 ? 32 : value.size;
		void *data;

		LNC_TRY(lnc_arena_alloc(ctx, arena, room, &data));
		bytes->data = data;
		bytes->room = room;
	}
	if (value.size > 0)
		memcpy(bytes->data, value.data, value.size);
	bytes->size = value.size;
	return LNC_OK;
}

static LncCode
extreme_bytes(LncContext *ctx, LncArena *arena, State *state, const Rows *rows, const LncColumn *column)
{
	bool least = state->spec.kind == LNC_MIN;

	EACH_VALUE(rows, column, row, group)
	{
		LncSlice value = {.size = (size_t)(column->offsets[row + 1] - column->offsets[row])};
		LncSlice so_far = {.data = state->bytes[group].data, .size = state->bytes[group].size};
		int order;

		if (value.size > 0)
			value.data = column->data + column->offsets[row];
		order = state->counts[group]++ == 0 ? (least ? -1 : 1) : lnc_bytes_compare(value, so_far);
		if (least ? order < 0 : order > 0)
			LNC_TRY(keep(ctx, arena, &state->bytes[group], value));
	}
	return LNC_OK;
}

static void
add_truths(State *state, const Rows *rows, const LncColumn *column)
{
	bool every = state->spec.kind == LNC_EVERY;

	EACH_VALUE(rows, column, row, group)
	{
		bool value = lnc_bit(column->values, (uint64_t)row);

		if (state->counts[group]++ == 0)
			state->flags[group] = value;
		else
			state->flags[group] = every ? state->flags[group] && value : state->flags[group] || value;
	}
}

/* ---- adding */

static LncCode
add_rows(LncContext *ctx, LncArena *arena, State *state, const Rows *rows, const LncColumn *column)
{
	switch (state->spec.kind)
	{
		case LNC_COUNT_ROWS:
			count_rows(state, rows);
			break;
		case LNC_COUNT:
			count_values(state, rows, column);
			break;
		case LNC_SUM_INTEGER:
			sum_integers(state, rows, column);
			break;
		case LNC_SUM_FLOAT32:
			sum_float32(state, rows, column);
			break;
		case LNC_SUM_REAL:
			sum_real(state, rows, column);
			break;
		case LNC_EVERY:
		case LNC_SOME:
			add_truths(state, rows, column);
			break;
		case LNC_MIN:
		case LNC_MAX:
			if (state->words != NULL)
				extreme_integer(state, rows, column);
			else if (state->reals != NULL)
				extreme_real(state, rows, column);
			else
				return extreme_bytes(ctx, arena, state, rows, column);
			break;
	}
	return LNC_OK;
}

LncCode
lnc_aggregation_add(LncContext *ctx, LncAggregation *aggregation, LncArena *scratch, LncHashRange range,
					const LncBatch *batch)
{
	const LncAggregationSpec *spec = &aggregation->spec;
	int32_t *numbers = NULL;

	LNC_TRY(lnc_check_interrupt(ctx));
	if (aggregation->groups != NULL)
	{
		const LncColumn **keys;

		LNC_TRY(LNC_NEW(ctx, scratch, &numbers, batch->length));
		LNC_TRY(LNC_NEW(ctx, scratch, &keys, spec->nkeys));
		for (int32_t i = 0; i < spec->nkeys; i++)
			keys[i] = &batch->columns[spec->keys[i]];
		LNC_TRY(lnc_groups_find(ctx, aggregation->groups, scratch, range, keys, batch->length, numbers));
		LNC_TRY(reach(ctx, aggregation, lnc_groups_count(aggregation->groups)));
	}
	for (int32_t i = 0; i < spec->naggregates; i++)
	{
		State *state = &aggregation->states[i];
		Rows rows = {.count = batch->length, .groups = numbers};
		int64_t *chosen = NULL;

		if (state->spec.filter != NULL)
			LNC_TRY(lnc_predicate_choose(ctx, scratch, state->spec.filter, batch->columns, batch->length, &chosen,
										 &rows.count));
		rows.indices = chosen;
		LNC_TRY(add_rows(ctx, aggregation->arena, state, &rows,
						 state->type != NULL ? &batch->columns[state->spec.column] : NULL));
	}
	return LNC_OK;
}

/* ---- results */

int32_t
lnc_aggregation_count(const LncAggregation *aggregation)
{
	return aggregation->groups != NULL ? lnc_groups_count(aggregation->groups) : 1;
}

LncCode
lnc_aggregation_key(LncContext *ctx, const LncAggregation *aggregation, LncArena *arena, int32_t key,
					LncColumn *out)
{
	return lnc_groups_key(ctx, aggregation->groups, arena, key, out);
}

void
lnc_aggregation_result(const LncAggregation *aggregation, int32_t aggregate, int32_t group, LncAggregated *out)
{
	const State *state = &aggregation->states[aggregate];

	memset(out, 0, sizeof(*out));
	out->count = state->counts[group];
	switch (state->spec.kind)
	{
		case LNC_SUM_INTEGER:
			out->integer = state->integers[group];
			break;
		case LNC_SUM_FLOAT32:
		case LNC_SUM_REAL:
			out->real = state->reals[group];
			out->overflow = state->flags[group];
			out->squares = state->overflown[group];
			break;
		case LNC_EVERY:
		case LNC_SOME:
			out->truth = state->flags[group];
			break;
		default:
			break;
	}
}

static LncCode
bytes_column(LncContext *ctx, const State *state, LncArena *arena, int32_t count, LncColumn *out)
{
	int64_t *offsets;
	void *data;

	LNC_TRY(LNC_NEW(ctx, arena, &offsets, (size_t)count + 1));
	for (int32_t i = 0; i < count; i++)
		offsets[i + 1] = offsets[i] + (int64_t)state->bytes[i].size;
	LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)offsets[count], &data));
	for (int32_t i = 0; i < count; i++)
	{
		if (state->bytes[i].size > 0)
			memcpy((uint8_t *)data + offsets[i], state->bytes[i].data, state->bytes[i].size);
	}
	out->offsets = offsets;
	out->data = data;
	return LNC_OK;
}

LncCode
lnc_aggregation_column(LncContext *ctx, const LncAggregation *aggregation, LncArena *arena, int32_t aggregate,
					   LncColumn *out)
{
	const State *state = &aggregation->states[aggregate];
	int32_t count = lnc_aggregation_count(aggregation);
	uint8_t *validity;
	void *values;

	memset(out, 0, sizeof(*out));
	out->type = state->type;
	out->length = count;
	LNC_TRY(LNC_NEW(ctx, arena, &validity, lnc_bitmap_size((uint64_t)count)));
	for (int32_t i = 0; i < count; i++)
	{
		if (state->counts[i] > 0)
			lnc_bit_set(validity, (uint64_t)i);
	}
	out->validity = validity;
	if (state->bytes != NULL)
		return bytes_column(ctx, state, arena, count, out);
	/* Eight bytes are room for every width. */
	LNC_TRY(lnc_arena_calloc(ctx, arena, (size_t)count, sizeof(uint64_t), &values));
	out->values = values;
	if (state->words != NULL)
		lnc_column_store_integers(state->type, count, state->words, values);
	else if (state->type->kind == LNC_TYPE_FLOAT32)
	{
		for (int32_t i = 0; i < count; i++)
			((float *)values)[i] = (float)state->reals[i];
	}
	else if (count > 0)
		memcpy(values, state->reals, (size_t)count * sizeof(double));
	return LNC_OK;
}
