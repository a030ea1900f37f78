/*
 * predicate.c
 *	  Evaluating conditions on batches.
 *
 * Each node gives two bitmaps: where it is true, and where it is false; NULLs are in neither. So NOT swaps the two, and
 * AND and OR are a few operations on 64 rows at a time. Leaves compare 64 values to one word without a branch. What the
 * first conditions of AND and OR have decided, the next ones are not asked for.
 */
#include "scan/predicate.h"

#include <math.h>
#include <string.h>

#include "scan/row_mask.h"

/* A list of up to so many integers is compared value by value, a longer one is searched. */
#define FEW_VALUES 6

typedef struct Truth
{
	uint64_t *is_true;
	uint64_t *is_false;
} Truth;

typedef struct Evaluation
{
	LncContext *ctx;
	LncArena *arena;
	const LncColumn *columns;
	int64_t length;
	size_t nwords;
} Evaluation;

int
lnc_bytes_compare(LncSlice a, LncSlice b)
{
	size_t common = a.size < b.size ? a.size : b.size;
	int order = common > 0 ? memcmp(a.data, b.data, common) : 0;

	if (order != 0)
		return order;
	return a.size < b.size ? -1 : a.size > b.size;
}

/* ---- checking */

static bool
is_integer(const LncType *type)
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
		case LNC_TYPE_DATE32:
		case LNC_TYPE_DATE64:
		case LNC_TYPE_TIME32:
		case LNC_TYPE_TIME64:
		case LNC_TYPE_TIMESTAMP:
		case LNC_TYPE_DURATION:
			return true;
		default:
			return false;
	}
}

static bool
is_bytes(const LncType *type)
{
	return type->kind == LNC_TYPE_UTF8 || type->kind == LNC_TYPE_LARGE_UTF8 || type->kind == LNC_TYPE_BINARY ||
		   type->kind == LNC_TYPE_LARGE_BINARY;
}

bool
lnc_predicate_accepts(LncPredicateKind kind, const LncType *type)
{
	const LncType *values = lnc_column_type(type);

	switch (kind)
	{
		case LNC_PREDICATE_IS_NULL:
			return true;
		case LNC_PREDICATE_TRUE:
			return values->kind == LNC_TYPE_BOOL;
		case LNC_PREDICATE_INTEGER:
		case LNC_PREDICATE_INTEGERS:
			return is_integer(values);
		case LNC_PREDICATE_REAL:
		case LNC_PREDICATE_REALS:
			return values->kind == LNC_TYPE_FLOAT32 || values->kind == LNC_TYPE_FLOAT64;
		case LNC_PREDICATE_BYTES:
		case LNC_PREDICATE_BYTES_IN:
		case LNC_PREDICATE_BYTES_HEAD:
			return is_bytes(values);
		default:
			return false;
	}
}

static LncCode
check_node(LncContext *ctx, const LncPredicate *node, int32_t ncolumns, const LncType *const *types, int depth)
{
	if (depth > LNC_PREDICATE_MAX_DEPTH)
		return lnc_fail(ctx, LNC_LIMIT, "condition is nested too deep");
	switch (node->kind)
	{
		case LNC_PREDICATE_CONSTANT:
			return LNC_OK;
		case LNC_PREDICATE_AND:
		case LNC_PREDICATE_OR:
		case LNC_PREDICATE_NOT:
			if (node->nchildren < 1 || (node->kind == LNC_PREDICATE_NOT && node->nchildren != 1))
				return lnc_fail(ctx, LNC_INVALID, "condition has a node with %d children", node->nchildren);
			for (int32_t i = 0; i < node->nchildren; i++)
				LNC_TRY(check_node(ctx, &node->children[i], ncolumns, types, depth + 1));
			return LNC_OK;
		default:
			if (node->column < 0 || node->column >= ncolumns)
				return lnc_fail(ctx, LNC_INVALID, "condition names column %d of %d", node->column, ncolumns);
			if (!lnc_predicate_accepts(node->kind, types[node->column]))
				return lnc_fail(ctx, LNC_INVALID, "condition can't look at a column of type %s",
								types[node->column]->logical != NULL ? types[node->column]->logical : "unknown");
			return LNC_OK;
	}
}

LncCode
lnc_predicate_check(LncContext *ctx, const LncPredicate *predicate, int32_t ncolumns, const LncType *const *types)
{
	return check_node(ctx, predicate, ncolumns, types, 0);
}

void
lnc_predicate_columns(const LncPredicate *predicate, bool *used)
{
	for (int32_t i = 0; i < predicate->nchildren; i++)
		lnc_predicate_columns(&predicate->children[i], used);
	if (predicate->kind != LNC_PREDICATE_CONSTANT && predicate->kind != LNC_PREDICATE_AND &&
		predicate->kind != LNC_PREDICATE_OR && predicate->kind != LNC_PREDICATE_NOT)
		used[predicate->column] = true;
}

/* ---- words of 64 rows */

/* 64 bytes that are 0 or 1 as bits. */
static inline uint64_t
pack_word(const uint8_t *flags)
{
	uint64_t word = 0;

	for (int i = 0; i < 8; i++)
		word |= ((lnc_le64(flags + (ptrdiff_t)i * 8) * UINT64_C(0x0102040810204080)) >> 56) << (i * 8);
	return word;
}

static inline void
set_row(uint64_t *out, int64_t row)
{
	out[row / LNC_MASK_ROWS] |= UINT64_C(1) << (row % LNC_MASK_ROWS);
}

/* Values of 64 rows at a time, where one of them is asked for; the last ones are copied to where 64 can be read. */
#define WORDS_OF(name, ctype, params, test)                                                                      \
	static inline uint64_t name##_word(const ctype *values, const LncPredicate *node)                            \
	{                                                                                                            \
		uint8_t flags[LNC_MASK_ROWS];                                                                            \
		params;                                                                                                  \
                                                                                                                 \
		for (int i = 0; i < LNC_MASK_ROWS; i++)                                                                  \
		{                                                                                                        \
			ctype x = values[i];                                                                                 \
                                                                                                                 \
			flags[i] = (uint8_t)(test);                                                                          \
		}                                                                                                        \
		return pack_word(flags);                                                                                 \
	}                                                                                                            \
                                                                                                                 \
	static void name(const Evaluation *run, const LncPredicate *node, const void *column, const uint64_t *asked, \
					 uint64_t *out)                                                                              \
	{                                                                                                            \
		const ctype *values = column;                                                                            \
		size_t whole = (size_t)(run->length / LNC_MASK_ROWS);                                                    \
                                                                                                                 \
		for (size_t i = 0; i < whole; i++)                                                                       \
			out[i] = asked[i] == 0 ? 0 : name##_word(values + i * LNC_MASK_ROWS, node);                          \
		if (whole < run->nwords)                                                                                 \
		{                                                                                                        \
			ctype rest[LNC_MASK_ROWS] = {0};                                                                     \
                                                                                                                 \
			memcpy(rest, values + whole * LNC_MASK_ROWS, (size_t)(run->length % LNC_MASK_ROWS) * sizeof(ctype)); \
			out[whole] = name##_word(rest, node);                                                                \
		}                                                                                                        \
	}

/* Differences within the width of the type: as unsigned numbers, values from first to last are those up to the span. */
#define INTEGER_PARAMS(unsigned_type)                 \
	unsigned_type first = (unsigned_type)node->first; \
	unsigned_type span = (unsigned_type)((unsigned_type)node->last - first)

#define INTEGER_WORDS(name, ctype, unsigned_type) \
	WORDS_OF(name, ctype, INTEGER_PARAMS(unsigned_type), (unsigned_type)((unsigned_type)x - first) <= span)

INTEGER_WORDS(range_int8, int8_t, uint8_t)
INTEGER_WORDS(range_int16, int16_t, uint16_t)
INTEGER_WORDS(range_int32, int32_t, uint32_t)
INTEGER_WORDS(range_int64, int64_t, uint64_t)
INTEGER_WORDS(range_uint8, uint8_t, uint8_t)
INTEGER_WORDS(range_uint16, uint16_t, uint16_t)
INTEGER_WORDS(range_uint32, uint32_t, uint32_t)

#define REAL_PARAMS                   \
	double least = node->least;       \
	double greatest = node->greatest; \
	bool nan = node->nan

#define REAL_WORDS(name, ctype) \
	WORDS_OF(name, ctype, REAL_PARAMS, ((x >= least) & (x <= greatest)) | ((x != x) & nan))

REAL_WORDS(range_float32, float)
REAL_WORDS(range_float64, double)

static void
no_rows(const Evaluation *run, uint64_t *out)
{
	memset(out, 0, run->nwords * sizeof(*out));
}

/* The range, cut to what the type holds; nothing may be left of it. */
static void
integer_range(const Evaluation *run, const LncPredicate *node, const LncColumn *column, const uint64_t *asked,
			  uint64_t *out)
{
	LncPredicate within = {.first = node->first, .last = node->last};

#define RANGE(name, least, greatest)                                                                 \
	within.first = node->first < (least) ? (least) : node->first;                                    \
	within.last = node->last > (greatest) ? (greatest) : node->last;                                 \
	within.first > within.last ? no_rows(run, out) : name(run, &within, column->values, asked, out); \
	break

	switch (column->type->kind)
	{
		case LNC_TYPE_INT8:
			RANGE(range_int8, INT8_MIN, INT8_MAX);
		case LNC_TYPE_INT16:
			RANGE(range_int16, INT16_MIN, INT16_MAX);
		case LNC_TYPE_INT32:
		case LNC_TYPE_DATE32:
		case LNC_TYPE_TIME32:
			RANGE(range_int32, INT32_MIN, INT32_MAX);
		case LNC_TYPE_UINT8:
			RANGE(range_uint8, 0, UINT8_MAX);
		case LNC_TYPE_UINT16:
			RANGE(range_uint16, 0, UINT16_MAX);
		case LNC_TYPE_UINT32:
			RANGE(range_uint32, 0, UINT32_MAX);
		default:
			RANGE(range_int64, INT64_MIN, INT64_MAX);
	}
#undef RANGE
}

/* Whether the value is one of those of the node, or in one of its ranges. */
static bool
is_among(const LncPredicate *node, int64_t value)
{
	int64_t from = 0;

	for (int64_t n = node->nvalues; n > 1;)
	{
		int64_t half = n / 2;

		from += node->integers[from + half] <= value ? half : 0;
		n -= half;
	}
	return node->nvalues > 0 && value >= node->integers[from] &&
		   value <= (node->lasts != NULL ? node->lasts : node->integers)[from];
}

static LncCode
integer_list(const Evaluation *run, const LncPredicate *node, const LncColumn *column, const uint64_t *asked,
			 uint64_t *out)
{
	uint64_t *range;

	no_rows(run, out);
	if (node->nvalues <= FEW_VALUES)
	{
		LNC_TRY(LNC_NEW(run->ctx, run->arena, &range, run->nwords));
		for (int64_t i = 0; i < node->nvalues; i++)
		{
			LncPredicate one = {.first = node->integers[i],
								.last = (node->lasts != NULL ? node->lasts : node->integers)[i]};

			integer_range(run, &one, column, asked, range);
			for (size_t word = 0; word < run->nwords; word++)
				out[word] |= range[word];
		}
		return LNC_OK;
	}
	for (size_t word = 0; word < run->nwords; word++)
	{
		LNC_EACH_ROW(asked[word], word, row)
		{
			if (is_among(node, lnc_column_integer(column, row)))
				set_row(out, row);
		}
	}
	return LNC_OK;
}

static bool
is_among_reals(const LncPredicate *node, double value)
{
	int64_t from = 0;

	if (isnan(value))
		return node->nan;
	for (int64_t n = node->nvalues; n > 1;)
	{
		int64_t half = n / 2;

		from += node->reals[from + half] <= value ? half : 0;
		n -= half;
	}
	return node->nvalues > 0 && node->reals[from] == value;
}

static void
real_list(const Evaluation *run, const LncPredicate *node, const LncColumn *column, const uint64_t *asked,
		  uint64_t *out)
{
	no_rows(run, out);
	for (size_t word = 0; word < run->nwords; word++)
	{
		LNC_EACH_ROW(asked[word], word, row)
		{
			double value = column->type->kind == LNC_TYPE_FLOAT32 ? (double)((const float *)column->values)[row]
																  : ((const double *)column->values)[row];

			if (is_among_reals(node, value))
				set_row(out, row);
		}
	}
}

/* ---- text and bytes */

static inline bool
same_run(const uint8_t *a, const uint8_t *b, size_t size)
{
	return size == 0 || (a[0] == b[0] && memcmp(a, b, size) == 0);
}

static inline bool
same_bytes(LncSlice a, LncSlice b)
{
	return a.size == b.size && same_run(a.data, b.data, a.size);
}

static bool
bytes_among(const LncPredicate *node, LncSlice value)
{
	int64_t from = 0;
	int64_t n = node->nvalues;

	while (n > 1)
	{
		int64_t half = n / 2;

		from += lnc_bytes_compare(node->bytes[from + half], value) <= 0 ? half : 0;
		n -= half;
	}
	return n == 1 && same_bytes(node->bytes[from], value);
}

static bool
bytes_pass(const LncPredicate *node, LncSlice value)
{
	int order;

	if (node->kind == LNC_PREDICATE_BYTES_IN)
		return bytes_among(node, value);
	if (node->kind == LNC_PREDICATE_BYTES_HEAD)
		return value.size >= node->bytes[0].size && same_run(value.data, node->bytes[0].data, node->bytes[0].size);
	if (node->comparison == LNC_EQUAL)
		return same_bytes(value, node->bytes[0]);
	order = lnc_bytes_compare(value, node->bytes[0]);
	switch (node->comparison)
	{
		case LNC_LESS:
			return order < 0;
		case LNC_LESS_EQUAL:
			return order <= 0;
		case LNC_GREATER_EQUAL:
			return order >= 0;
		default:
			return order > 0;
	}
}

/* Rows of a word whose values are so long: that is compared for all of them first. */
static uint64_t
sized_rows(const Evaluation *run, const LncColumn *column, size_t word, int64_t size)
{
	const int64_t *offsets = column->offsets + word * LNC_MASK_ROWS;
	uint8_t flags[LNC_MASK_ROWS];
	uint64_t bits = 0;

	if (run->length - (int64_t)word * LNC_MASK_ROWS >= LNC_MASK_ROWS)
	{
		for (int i = 0; i < LNC_MASK_ROWS; i++)
			flags[i] = (uint8_t)(offsets[i + 1] - offsets[i] == size);
		return pack_word(flags);
	}
	for (int64_t i = 0; i < run->length % LNC_MASK_ROWS; i++)
		bits |= (uint64_t)(offsets[i + 1] - offsets[i] == size) << i;
	return bits;
}

static void
bytes_leaf(const Evaluation *run, const LncPredicate *node, const LncColumn *column, const uint64_t *asked,
		   uint64_t *out)
{
	bool equal = node->kind == LNC_PREDICATE_BYTES && node->comparison == LNC_EQUAL;

	no_rows(run, out);
	for (size_t word = 0; word < run->nwords; word++)
	{
		uint64_t rows = asked[word];

		if (rows != 0 && equal)
			rows &= sized_rows(run, column, word, (int64_t)node->bytes[0].size);
		LNC_EACH_ROW(rows, word, row)
		{
			if (bytes_pass(node, lnc_column_bytes(column, row)))
				set_row(out, row);
		}
	}
}

/* ---- nodes */

static LncCode evaluate(const Evaluation *run, const LncPredicate *node, const uint64_t *wanted, Truth *out);

static LncCode
new_truth(const Evaluation *run, Truth *out)
{
	LNC_TRY(LNC_NEW(run->ctx, run->arena, &out->is_true, run->nwords));
	return LNC_NEW(run->ctx, run->arena, &out->is_false, run->nwords);
}

/* Of the rows asked for, none of which is NULL, those for which the leaf is true; others may be among them. */
static LncCode
leaf_words(const Evaluation *run, const LncPredicate *node, const LncColumn *column, const uint64_t *asked,
		   uint64_t *out)
{
	switch (node->kind)
	{
		case LNC_PREDICATE_TRUE:
			for (size_t i = 0; i < run->nwords; i++)
				out[i] = lnc_mask_bitmap(column->values, i, run->length);
			break;
		case LNC_PREDICATE_INTEGER:
			integer_range(run, node, column, asked, out);
			break;
		case LNC_PREDICATE_INTEGERS:
			return integer_list(run, node, column, asked, out);
		case LNC_PREDICATE_REAL:
			if (column->type->kind == LNC_TYPE_FLOAT32)
				range_float32(run, node, column->values, asked, out);
			else
				range_float64(run, node, column->values, asked, out);
			break;
		case LNC_PREDICATE_REALS:
			real_list(run, node, column, asked, out);
			break;
		default:
			bytes_leaf(run, node, column, asked, out);
			break;
	}
	return LNC_OK;
}

static LncCode
leaf(const Evaluation *run, const LncPredicate *node, const uint64_t *wanted, Truth *out)
{
	const LncColumn *column = &run->columns[node->column];
	bool all_null = column->type->kind == LNC_TYPE_NULL;
	uint64_t *asked;

	LNC_TRY(LNC_NEW(run->ctx, run->arena, &asked, run->nwords));
	for (size_t i = 0; i < run->nwords; i++)
	{
		uint64_t present = lnc_mask_present(i, run->length);
		uint64_t valid = all_null                   ? 0
						 : column->validity != NULL ? lnc_mask_bitmap(column->validity, i, run->length)
													: present;

		asked[i] = wanted != NULL ? valid & wanted[i] : valid;
		out->is_true[i] = present & ~valid;
		out->is_false[i] = valid;
	}
	if (node->kind == LNC_PREDICATE_IS_NULL)
		return LNC_OK;
	if (all_null)
		no_rows(run, out->is_true);
	else
		LNC_TRY(leaf_words(run, node, column, asked, out->is_true));
	for (size_t i = 0; i < run->nwords; i++)
	{
		out->is_false[i] = asked[i] & ~out->is_true[i];
		out->is_true[i] &= asked[i];
	}
	return LNC_OK;
}

/* The rows that what a child says of them has not decided. False where there are none. */
static bool
undecided(const Evaluation *run, bool both, const Truth *so_far, const uint64_t *wanted, uint64_t *out)
{
	uint64_t any = 0;

	for (size_t i = 0; i < run->nwords; i++)
	{
		out[i] = (wanted != NULL ? wanted[i] : lnc_mask_present(i, run->length)) &
				 ~(both ? so_far->is_false[i] : so_far->is_true[i]);
		any |= out[i];
	}
	return any != 0;
}

static LncCode
junction(const Evaluation *run, const LncPredicate *node, const uint64_t *wanted, Truth *out)
{
	bool both = node->kind == LNC_PREDICATE_AND;
	uint64_t *left;

	LNC_TRY(LNC_NEW(run->ctx, run->arena, &left, run->nwords));
	LNC_TRY(evaluate(run, &node->children[0], wanted, out));
	for (int32_t child = 1; child < node->nchildren && undecided(run, both, out, wanted, left); child++)
	{
		Truth next;

		LNC_TRY(evaluate(run, &node->children[child], left, &next));
		for (size_t i = 0; i < run->nwords; i++)
		{
			out->is_true[i] = both ? out->is_true[i] & next.is_true[i] : out->is_true[i] | next.is_true[i];
			out->is_false[i] = both ? out->is_false[i] | next.is_false[i] : out->is_false[i] & next.is_false[i];
		}
	}
	return LNC_OK;
}

/* What the node says of the rows that are wanted, NULL for all. Of others it may say anything that it could say of them. */
static LncCode
evaluate(const Evaluation *run, const LncPredicate *node, const uint64_t *wanted, Truth *out)
{
	LNC_TRY(lnc_check_interrupt(run->ctx));
	if (node->kind == LNC_PREDICATE_AND || node->kind == LNC_PREDICATE_OR)
		return junction(run, node, wanted, out);
	if (node->kind == LNC_PREDICATE_NOT)
	{
		Truth inner;

		LNC_TRY(evaluate(run, &node->children[0], wanted, &inner));
		out->is_true = inner.is_false;
		out->is_false = inner.is_true;
		return LNC_OK;
	}
	LNC_TRY(new_truth(run, out));
	if (node->kind != LNC_PREDICATE_CONSTANT)
		return leaf(run, node, wanted, out);
	for (size_t i = 0; i < run->nwords; i++)
	{
		out->is_true[i] = !node->unknown && node->truth ? lnc_mask_present(i, run->length) : 0;
		out->is_false[i] = !node->unknown && !node->truth ? lnc_mask_present(i, run->length) : 0;
	}
	return LNC_OK;
}

LncCode
lnc_predicate_mask(LncContext *ctx, LncArena *arena, const LncPredicate *predicate, const LncColumn *columns,
				   int64_t length, uint64_t **mask)
{
	Evaluation run = {
		.ctx = ctx, .arena = arena, .columns = columns, .length = length, .nwords = lnc_mask_words(length)};
	Truth truth;

	LNC_TRY(evaluate(&run, predicate, NULL, &truth));
	*mask = truth.is_true;
	return LNC_OK;
}

LncCode
lnc_predicate_choose(LncContext *ctx, LncArena *arena, const LncPredicate *predicate, const LncColumn *columns,
					 int64_t length, int64_t **chosen, int64_t *count)
{
	uint64_t *mask;
	int64_t n = 0;

	*chosen = NULL;
	*count = 0;
	if (length == 0)
		return LNC_OK;
	LNC_TRY(lnc_predicate_mask(ctx, arena, predicate, columns, length, &mask));
	*count = lnc_mask_count(mask, length);
	if (*count == length || *count == 0)
		return LNC_OK;
	LNC_TRY(LNC_NEW(ctx, arena, chosen, (size_t)*count));
	for (size_t i = 0; i < lnc_mask_words(length); i++)
	{
		LNC_EACH_ROW(mask[i], i, row)
		(*chosen)[n++] = row;
	}
	return LNC_OK;
}
