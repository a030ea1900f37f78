/*
 * aggregate.c
 *	  Aggregates over batches.
 *
 * Each aggregate has arrays by group of what it has come to. Of each batch, the values that count are put one after the
 * other, their groups beside them, if they are not so already; what is done with them are loops without conditions
 * (accumulate.h).
 */
#include "scan/aggregate.h"

#include <string.h>

#include "scan/accumulate.h"
#include "scan/row_mask.h"

/*
 * Below this, squares of deviations can't make their sum overflow, nor be seen in one that is about to: only from the
 * first larger value on they are added up, and sums watched for overflow.
 */
#define LARGE_REAL 1e100

/* Below this, no sum of float32 overflows. */
#define LARGE_FLOAT32 1e18

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
	int32_t same;    /* number of the aggregate that is the same, if not its own: all is kept there */
	bool missing;    /* counts are those of rows that don't count, out of LncAggregation.rows */
	int64_t *counts; /* of values */
	__int128 *integers;
	double *reals;
	double *squares; /* sum of squared deviations, once there are large values */
	bool *flags;     /* overflow; EVERY, SOME: the truth */
	bool *overflown; /* of squares */
	int64_t *words;  /* MIN, MAX of integers */
	Bytes *bytes;    /* MIN, MAX of bytes */
	bool large;      /* a large value was met: counts are of values */
} State;

struct LncAggregation
{
	LncArena *arena;
	LncAggregationSpec spec;
	LncGroups *groups; /* NULL without keys */
	int32_t room;      /* of the arrays by group */
	int64_t *rows;     /* by group */
	State *states;
};

/* Rows of a batch: all, or those of a mask; and their groups. */
typedef struct Rows
{
	int64_t count;
	const uint64_t *mask;  /* NULL: all */
	const int32_t *groups; /* one a row; NULL: all are of group 0 */
} Rows;

/* A batch, and those of its rows that are of a group that is wanted. */
typedef struct Work
{
	LncContext *ctx;
	LncArena *scratch;
	const LncBatch *batch;
	const int32_t *numbers; /* groups by row of the batch; NULL without keys */
	Rows rows;
} Work;

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

static void
fill_reals(double *reals, size_t used, size_t room, double value)
{
	for (size_t i = used; i < room; i++)
		reals[i] = value;
}

/* Room for extremes, which begin with what every value goes before. */
static LncCode
grow_extremes(LncContext *ctx, LncArena *arena, State *state, size_t used, size_t room)
{
	bool least = state->spec.kind == LNC_MIN;

	if (lnc_predicate_accepts(LNC_PREDICATE_INTEGER, state->type))
	{
		LNC_TRY(lnc_arena_grow(ctx, arena, used, room, sizeof(*state->words), (void **)&state->words));
		for (size_t i = used; i < room; i++)
			state->words[i] = least ? INT64_MAX : INT64_MIN;
		return LNC_OK;
	}
	if (!lnc_predicate_accepts(LNC_PREDICATE_REAL, state->type))
		return lnc_arena_grow(ctx, arena, used, room, sizeof(*state->bytes), (void **)&state->bytes);
	LNC_TRY(lnc_arena_grow(ctx, arena, used, room, sizeof(*state->reals), (void **)&state->reals));
	fill_reals(state->reals, used, room, least ? LNC_NEUTRAL_LEAST : LNC_NEUTRAL_GREATEST);
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
			fill_reals(state->reals, used, room, LNC_NEUTRAL_SUM);
			LNC_TRY(lnc_arena_grow(ctx, arena, used, room, sizeof(*state->squares), (void **)&state->squares));
			LNC_TRY(lnc_arena_grow(ctx, arena, used, room, sizeof(*state->overflown), (void **)&state->overflown));
			return lnc_arena_grow(ctx, arena, used, room, sizeof(*state->flags), (void **)&state->flags);
		case LNC_EVERY:
		case LNC_SOME:
			LNC_TRY(lnc_arena_grow(ctx, arena, used, room, sizeof(*state->flags), (void **)&state->flags));
			for (size_t i = used; i < room; i++)
				state->flags[i] = state->spec.kind == LNC_EVERY;
			return LNC_OK;
		case LNC_MIN:
		case LNC_MAX:
			return grow_extremes(ctx, arena, state, used, room);
	}
	return LNC_OK;
}

/* Have the arrays by group reach to count groups. */
static LncCode
reach(LncContext *ctx, LncAggregation *aggregation, int32_t count)
{
	size_t used = (size_t)aggregation->room;
	size_t room = used == 0 ? 1 : used;

	if (count <= aggregation->room)
		return LNC_OK;
	while (room < (size_t)count)
		room *= 2;
	LNC_TRY(lnc_arena_grow(ctx, aggregation->arena, used, room, sizeof(*aggregation->rows),
						   (void **)&aggregation->rows));
	for (int32_t i = 0; i < aggregation->spec.naggregates; i++)
	{
		if (aggregation->states[i].same == i)
			LNC_TRY(grow_state(ctx, aggregation->arena, &aggregation->states[i], used, room));
	}
	aggregation->room = (int32_t)room;
	return LNC_OK;
}

static bool
are_same(const LncAggregate *a, const LncAggregate *b)
{
	return a->kind == b->kind && a->filter == b->filter && (a->kind == LNC_COUNT_ROWS || a->column == b->column);
}

static LncCode
create_states(LncContext *ctx, LncAggregation *aggregation)
{
	const LncAggregationSpec *spec = &aggregation->spec;

	LNC_TRY(LNC_NEW(ctx, aggregation->arena, &aggregation->states, spec->naggregates));
	for (int32_t i = 0; i < spec->naggregates; i++)
	{
		State *state = &aggregation->states[i];

		state->spec = spec->aggregates[i];
		state->missing = state->spec.filter == NULL;
		if (state->spec.kind != LNC_COUNT_ROWS)
			state->type = lnc_column_type(spec->types[state->spec.column]);
		while (!are_same(&spec->aggregates[state->same], &state->spec))
			state->same++;
	}
	return LNC_OK;
}

LncCode
lnc_aggregation_create(LncContext *ctx, LncArena *arena, const LncAggregationSpec *spec, LncAggregation **out)
{
	LncAggregation *aggregation;
	const LncType **types;

	LNC_TRY(check_spec(ctx, spec));
	LNC_TRY(LNC_NEW(ctx, arena, &aggregation, 1));
	aggregation->arena = arena;
	aggregation->spec = *spec;
	LNC_TRY(create_states(ctx, aggregation));
	if (spec->nkeys > 0)
	{
		LNC_TRY(LNC_NEW(ctx, arena, &types, spec->nkeys));
		for (int32_t i = 0; i < spec->nkeys; i++)
			types[i] = spec->types[spec->keys[i]];
		LNC_TRY(lnc_groups_create(ctx, arena, spec->nkeys, types, spec->memory, &aggregation->groups));
	}
	else
		LNC_TRY(reach(ctx, aggregation, 1));
	*out = aggregation;
	return LNC_OK;
}

/* ---- rows */

/* For each row of the mask. */
#define EACH_ROW(mask, length, row)                                 \
	for (size_t word_ = 0; word_ < lnc_mask_words(length); word_++) \
	LNC_EACH_ROW((mask)[word_], word_, row)

static LncCode
new_mask(const Work *work, uint64_t **mask)
{
	void *words;

	LNC_TRY(
		lnc_arena_alloc(work->ctx, work->scratch, lnc_mask_words(work->batch->length) * sizeof(**mask), &words));
	*mask = words;
	return LNC_OK;
}

/* The values of the rows, of width bytes, one after the other. */
static LncCode
pack(const Work *work, const Rows *rows, uint64_t width, const void *values, const void **out)
{
	void *packed;

	*out = values;
	if (rows->mask == NULL || values == NULL)
		return LNC_OK;
	LNC_TRY(lnc_arena_alloc(work->ctx, work->scratch, ((size_t)rows->count + 1) * (size_t)width, &packed));
	lnc_mask_pack(rows->mask, work->batch->length, width, values, packed);
	*out = packed;
	return LNC_OK;
}

/* Restrict rows to those of the mask; their groups are then not yet known. */
static LncCode
restrict_to(const Work *work, Rows *rows, const uint64_t *mask)
{
	uint64_t *both;

	if (rows->mask == NULL)
		rows->mask = mask;
	else
	{
		LNC_TRY(new_mask(work, &both));
		for (size_t i = 0; i < lnc_mask_words(work->batch->length); i++)
			both[i] = rows->mask[i] & mask[i];
		rows->mask = both;
	}
	rows->count = lnc_mask_count(rows->mask, work->batch->length);
	if (rows->count == work->batch->length)
		rows->mask = NULL;
	return LNC_OK;
}

static LncCode
pack_groups(const Work *work, Rows *rows)
{
	const void *groups;

	if (rows->mask == work->rows.mask)
	{
		rows->groups = work->rows.groups;
		return LNC_OK;
	}
	LNC_TRY(pack(work, rows, sizeof(*work->numbers), work->numbers, &groups));
	rows->groups = groups;
	return LNC_OK;
}

/* The rows of a batch that are of a group, whose numbers were just found. */
static LncCode
find_rows(Work *work, bool part)
{
	int64_t length = work->batch->length;
	const void *groups;
	uint64_t *mask;

	work->rows = (Rows){.count = length, .groups = work->numbers};
	if (!part || work->numbers == NULL)
		return LNC_OK;
	LNC_TRY(new_mask(work, &mask));
	for (size_t word = 0; word < lnc_mask_words(length); word++)
	{
		int64_t first = (int64_t)word * LNC_MASK_ROWS;
		uint64_t bits = 0;

		for (int64_t i = 0; i < LNC_MASK_ROWS && first + i < length; i++)
			bits |= (uint64_t)(work->numbers[first + i] >= 0) << i;
		mask[word] = bits;
	}
	LNC_TRY(restrict_to(work, &work->rows, mask));
	LNC_TRY(pack(work, &work->rows, sizeof(*work->numbers), work->numbers, &groups));
	work->rows.groups = groups;
	return LNC_OK;
}

static LncCode
validity_mask(const Work *work, const LncColumn *column, uint64_t **mask)
{
	LNC_TRY(new_mask(work, mask));
	for (size_t i = 0; i < lnc_mask_words(work->batch->length); i++)
		(*mask)[i] =
			column->type->kind == LNC_TYPE_NULL ? 0 : lnc_mask_bitmap(column->validity, i, work->batch->length);
	return LNC_OK;
}

/* The rows whose values go into the aggregate; without their groups. */
static LncCode
choose_rows(const Work *work, const State *state, const LncColumn *column, Rows *rows)
{
	uint64_t *mask;

	*rows = work->rows;
	rows->groups = NULL;
	if (state->spec.filter != NULL)
	{
		LNC_TRY(lnc_predicate_mask(work->ctx, work->scratch, state->spec.filter, work->batch->columns,
								   work->batch->length, &mask));
		LNC_TRY(restrict_to(work, rows, mask));
	}
	if (column != NULL && (column->validity != NULL || column->type->kind == LNC_TYPE_NULL))
	{
		LNC_TRY(validity_mask(work, column, &mask));
		LNC_TRY(restrict_to(work, rows, mask));
	}
	return LNC_OK;
}

/* ---- counts */

static void
count_groups(const Rows *rows, int64_t *counts)
{
	if (rows->groups == NULL)
	{
		counts[0] += rows->count;
		return;
	}
	for (int64_t i = 0; i < rows->count; i++)
		counts[rows->groups[i]]++;
}

/* Count the rows that go into the aggregate, or those that don't. */
static LncCode
count_rows(const Work *work, State *state, const Rows *rows)
{
	if (!state->missing)
		count_groups(rows, state->counts);
	else if (rows->count == work->rows.count)
		return LNC_OK;
	else if (work->numbers == NULL)
		state->counts[0] += work->rows.count - rows->count;
	else
	{
		uint64_t *left;

		LNC_TRY(new_mask(work, &left));
		for (size_t i = 0; i < lnc_mask_words(work->batch->length); i++)
			left[i] = (work->rows.mask != NULL ? work->rows.mask[i] : lnc_mask_present(i, work->batch->length)) &
					  ~rows->mask[i];
		EACH_ROW(left, work->batch->length, row)
		state->counts[work->numbers[row]]++;
	}
	return LNC_OK;
}

/* How many values of a group went into the aggregate. */
static inline int64_t
count_of(const LncAggregation *aggregation, const State *state, int32_t group)
{
	return state->missing ? aggregation->rows[group] - state->counts[group] : state->counts[group];
}

/* ---- sums of floats that may overflow */

static double
real_at(const LncValues *values, int64_t at)
{
	return values->kind == LNC_TYPE_FLOAT32 ? (double)((const float *)values->values)[at]
											: ((const double *)values->values)[at];
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

/* Sums are watched; these also count their values, as squares need that. */
static void
add_large(State *state, const LncValues *values)
{
	bool single = state->spec.kind == LNC_SUM_FLOAT32;

	for (int64_t i = 0; i < values->count; i++)
	{
		int32_t group = values->groups != NULL ? values->groups[i] : 0;
		double value = real_at(values, i);
		double before = state->reals[group];
		double after = single ? (double)((float)before + (float)value) : before + value;

		if (isinf(after) && !isinf(before) && !isinf(value))
			state->flags[group] = true;
		state->reals[group] = after;
		state->counts[group]++;
		if (!single)
			add_square(state, group, value);
	}
}

/* Whether a large value was met. From the first one on, counts are of values. */
static bool
is_large(const LncAggregation *aggregation, State *state, const LncValues *values)
{
	int32_t count = lnc_aggregation_count(aggregation);

	if (state->large)
		return true;
	if (state->spec.kind == LNC_SUM_FLOAT32)
		state->large = lnc_exceeds(values, LARGE_FLOAT32);
	else
		state->large = values->kind == LNC_TYPE_FLOAT64 && lnc_exceeds(values, LARGE_REAL);
	for (int32_t group = 0; state->large && state->missing && group < count; group++)
		state->counts[group] = count_of(aggregation, state, group);
	state->missing = state->missing && !state->large;
	return state->large;
}

/* ---- extremes of bytes, and truths: row by row */

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
extreme_bytes(LncContext *ctx, LncArena *arena, State *state, const LncColumn *column, int64_t row, int32_t group)
{
	LncSlice value = lnc_column_bytes(column, row);
	LncSlice so_far = {.data = state->bytes[group].data, .size = state->bytes[group].size};
	int order;

	if (so_far.data != NULL)
	{
		order = lnc_bytes_compare(value, so_far);
		if (state->spec.kind == LNC_MIN ? order >= 0 : order <= 0)
			return LNC_OK;
	}
	return keep(ctx, arena, &state->bytes[group], value);
}

static LncCode
add_row_by_row(const Work *work, LncArena *arena, State *state, const LncColumn *column, const Rows *rows)
{
	const uint64_t *mask = rows->mask;
	uint64_t *all;

	if (mask == NULL)
	{
		LNC_TRY(new_mask(work, &all));
		for (size_t i = 0; i < lnc_mask_words(work->batch->length); i++)
			all[i] = lnc_mask_present(i, work->batch->length);
		mask = all;
	}
	EACH_ROW(mask, work->batch->length, row)
	{
		int32_t group = work->numbers != NULL ? work->numbers[row] : 0;

		if (state->bytes != NULL)
			LNC_TRY(extreme_bytes(work->ctx, arena, state, column, row, group));
		else if (lnc_bit(column->values, (uint64_t)row) != (state->spec.kind == LNC_EVERY))
			state->flags[group] = state->spec.kind == LNC_SOME;
	}
	return LNC_OK;
}

/* ---- adding */

static void
add_values(const LncAggregation *aggregation, State *state, const LncValues *values)
{
	switch (state->spec.kind)
	{
		case LNC_SUM_INTEGER:
			lnc_add_integers(values, state->integers);
			break;
		case LNC_SUM_FLOAT32:
		case LNC_SUM_REAL:
			if (is_large(aggregation, state, values))
				add_large(state, values);
			else if (state->spec.kind == LNC_SUM_FLOAT32)
				lnc_add_float32(values, state->reals);
			else
				lnc_add_reals(values, state->reals);
			break;
		case LNC_MIN:
			if (state->words != NULL)
				lnc_least_integers(values, state->words);
			else
				lnc_least_reals(values, state->reals);
			break;
		case LNC_MAX:
			if (state->words != NULL)
				lnc_greatest_integers(values, state->words);
			else
				lnc_greatest_reals(values, state->reals);
			break;
		default:
			break;
	}
}

static LncCode
add_rows(const Work *work, LncAggregation *aggregation, State *state)
{
	const LncColumn *column = state->type != NULL ? &work->batch->columns[state->spec.column] : NULL;
	bool counted = state->spec.kind == LNC_COUNT_ROWS || state->spec.kind == LNC_COUNT;
	LncValues values;
	Rows rows;

	LNC_TRY(choose_rows(work, state, column, &rows));
	if (!state->missing || !counted)
		LNC_TRY(pack_groups(work, &rows));
	if (!counted && rows.count > 0)
	{
		if (state->bytes != NULL || column->type->kind == LNC_TYPE_BOOL)
			LNC_TRY(add_row_by_row(work, aggregation->arena, state, column, &rows));
		else
		{
			values = (LncValues){.kind = column->type->kind, .count = rows.count, .groups = rows.groups};
			LNC_TRY(pack(work, &rows, lnc_type_width(column->type), column->values, &values.values));
			add_values(aggregation, state, &values);
		}
	}
	return state->large ? LNC_OK : count_rows(work, state, &rows);
}

LncCode
lnc_aggregation_add(LncContext *ctx, LncAggregation *aggregation, LncArena *scratch, LncHashRange range,
					const LncBatch *batch)
{
	const LncAggregationSpec *spec = &aggregation->spec;
	Work work = {.ctx = ctx, .scratch = scratch, .batch = batch};

	LNC_TRY(lnc_check_interrupt(ctx));
	if (batch->length == 0)
		return LNC_OK;
	if (aggregation->groups != NULL)
	{
		const LncColumn **keys;
		void *numbers;

		LNC_TRY(lnc_arena_alloc(ctx, scratch, (size_t)batch->length * sizeof(*work.numbers), &numbers));
		LNC_TRY(LNC_NEW(ctx, scratch, &keys, spec->nkeys));
		for (int32_t i = 0; i < spec->nkeys; i++)
			keys[i] = &batch->columns[spec->keys[i]];
		LNC_TRY(lnc_groups_find(ctx, aggregation->groups, scratch, range, keys, batch->length, numbers));
		LNC_TRY(reach(ctx, aggregation, lnc_groups_count(aggregation->groups)));
		work.numbers = numbers;
	}
	LNC_TRY(find_rows(&work, range.first > 0 || range.last < UINT64_MAX));
	for (int32_t i = 0; i < spec->naggregates; i++)
	{
		if (aggregation->states[i].same == i)
			LNC_TRY(add_rows(&work, aggregation, &aggregation->states[i]));
	}
	count_groups(&work.rows, aggregation->rows);
	return LNC_OK;
}

/* ---- fewer groups */

/* What a state has come to for the groups that are kept: into one that has room for them. */
static LncCode
keep_groups(LncContext *ctx, LncArena *arena, const State *from, int32_t count, const int32_t *kept, State *to)
{
#define KEEP(array)                                            \
	for (int32_t i = 0; from->array != NULL && i < count; i++) \
	to->array[i] = from->array[kept[i]]

	to->large = from->large;
	to->missing = from->missing;
	KEEP(counts);
	KEEP(integers);
	KEEP(reals);
	KEEP(squares);
	KEEP(flags);
	KEEP(overflown);
	KEEP(words);
	for (int32_t i = 0; from->bytes != NULL && i < count; i++)
	{
		const Bytes *bytes = &from->bytes[kept[i]];

		if (bytes->data != NULL)
			LNC_TRY(keep(ctx, arena, &to->bytes[i], (LncSlice){.data = bytes->data, .size = bytes->size}));
	}
	return LNC_OK;
#undef KEEP
}

LncCode
lnc_aggregation_narrow(LncContext *ctx, const LncAggregation *aggregation, LncArena *arena, LncHashRange range,
					   LncAggregation **out)
{
	LncAggregation *narrow;
	int32_t *kept;
	int32_t count;

	LNC_TRY(lnc_check_interrupt(ctx));
	LNC_TRY(LNC_NEW(ctx, arena, &narrow, 1));
	narrow->arena = arena;
	narrow->spec = aggregation->spec;
	LNC_TRY(create_states(ctx, narrow));
	LNC_TRY(lnc_groups_narrow(ctx, aggregation->groups, arena, range, &narrow->groups, &kept));
	count = lnc_groups_count(narrow->groups);
	LNC_TRY(reach(ctx, narrow, count));
	for (int32_t i = 0; i < count; i++)
		narrow->rows[i] = aggregation->rows[kept[i]];
	for (int32_t i = 0; i < narrow->spec.naggregates; i++)
		LNC_TRY(keep_groups(ctx, arena, &aggregation->states[i], count, kept, &narrow->states[i]));
	*out = narrow;
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
	const State *state = &aggregation->states[aggregation->states[aggregate].same];

	memset(out, 0, sizeof(*out));
	out->count = count_of(aggregation, state, group);
	switch (state->spec.kind)
	{
		case LNC_SUM_INTEGER:
			out->integer = state->integers[group];
			break;
		case LNC_SUM_FLOAT32:
		case LNC_SUM_REAL:
			out->real = state->reals[group];
			out->deviations = state->squares[group];
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
	const State *state = &aggregation->states[aggregation->states[aggregate].same];
	int32_t count = lnc_aggregation_count(aggregation);
	uint8_t *validity;
	void *values;

	memset(out, 0, sizeof(*out));
	out->type = state->type;
	out->length = count;
	LNC_TRY(LNC_NEW(ctx, arena, &validity, lnc_bitmap_size((uint64_t)count)));
	for (int32_t i = 0; i < count; i++)
	{
		if (count_of(aggregation, state, i) > 0)
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
