/*
 * predicate_values.c
 *	  Conditions with their values, as predicates on batches.
 *
 * Comparisons of what is ordered like integers become ranges of the column's own values: a date or a time is moved to
 * the epoch and unit that is stored, so that no value is converted.
 */
#include "postgres.h"

#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_type_d.h"
#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "pg/predicate_internal.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"

#define UNIX_TO_PG_DAYS (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)
#define MSECS_PER_DAY INT64CONST(86400000)

/* ---- values */

static LncPredicate
constant(bool unknown, bool truth)
{
	LncPredicate result = {.kind = LNC_PREDICATE_CONSTANT, .unknown = unknown, .truth = truth};

	return result;
}

static LncPredicate
negated(LncPredicate predicate)
{
	LncPredicate result = {.kind = LNC_PREDICATE_NOT, .nchildren = 1, .children = palloc(sizeof(LncPredicate))};

	result.children[0] = predicate;
	return result;
}

/* kind: AND or OR */
static LncPredicate
junction(LncPredicateKind kind, int nchildren, LncPredicate *children)
{
	LncPredicate result = {.kind = kind, .nchildren = nchildren, .children = children};

	return result;
}

/* Values from first to last; wide enough that no change of unit or epoch leaves it. */
typedef struct Range
{
	__int128 first;
	__int128 last;
} Range;

/* An end that is open, and stays beyond all values of 64 bits whatever is done to it. */
#define OPEN_END ((__int128)1 << 95)

static __int128
divide_down(__int128 a, int64 positive)
{
	return a / positive - (a % positive < 0);
}

static __int128
divide_up(__int128 a, int64 positive)
{
	return a / positive + (a % positive > 0);
}

/* The stored values x for which floor(x / parts) is in the range. */
static Range
finer(Range range, int64 parts)
{
	Range result = {.first = range.first * parts, .last = range.last * parts + parts - 1};

	return result;
}

/* The stored values x for which x * parts is in the range. */
static Range
coarser(Range range, int64 parts)
{
	Range result = {.first = divide_up(range.first, parts), .last = divide_down(range.last, parts)};

	return result;
}

static Range
moved(Range range, int64 by)
{
	Range result = {.first = range.first + by, .last = range.last + by};

	return result;
}

/* A range of microseconds in the unit that is stored; epoch: seconds from the stored epoch to that of the range. */
static Range
in_unit(Range range, LncTimeUnit unit, int64 epoch)
{
	switch (unit)
	{
		case LNC_UNIT_SECOND:
			return moved(coarser(range, USECS_PER_SEC), epoch);
		case LNC_UNIT_MILLI:
			return moved(coarser(range, 1000), epoch * 1000);
		case LNC_UNIT_MICRO:
			return moved(range, epoch * USECS_PER_SEC);
		case LNC_UNIT_NANO:
			return finer(moved(range, epoch * USECS_PER_SEC), 1000);
	}
	return range;
}

/* The column's own values for a range of PostgreSQL's. */
static Range
stored_range(const Condition *condition, Range range)
{
	const LncType *type = condition->type;

	switch (condition->clause.domain)
	{
		case DOMAIN_DATE:
			range = moved(range, UNIX_TO_PG_DAYS);
			return type->kind == LNC_TYPE_DATE64 ? finer(range, MSECS_PER_DAY) : range;
		case DOMAIN_TIME:
			return in_unit(range, type->unit, 0);
		case DOMAIN_TIMESTAMP:
			return in_unit(range, type->unit, (int64)UNIX_TO_PG_DAYS * SECS_PER_DAY);
		default:
			return range;
	}
}

int64
lance_integer_of(Datum value, Oid type)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case DATEOID:
			return DatumGetDateADT(value);
		default:
			return DatumGetInt64(value);
	}
}

static LncPredicate
compare_integer(const Condition *condition, int strategy, int64 value)
{
	LncPredicate result = {.kind = LNC_PREDICATE_INTEGER, .column = condition->column};
	Range range = {.first = -OPEN_END, .last = OPEN_END};

	switch (strategy)
	{
		case BTLessStrategyNumber:
			range.last = (__int128)value - 1;
			break;
		case BTLessEqualStrategyNumber:
			range.last = value;
			break;
		case BTEqualStrategyNumber:
			range.first = value;
			range.last = value;
			break;
		case BTGreaterEqualStrategyNumber:
			range.first = value;
			break;
		default:
			range.first = (__int128)value + 1;
			break;
	}
	range = stored_range(condition, range);
	/* A range beyond the stored values is empty. */
	if (range.first > PG_INT64_MAX || range.last < PG_INT64_MIN || range.first > range.last)
	{
		result.first = 1;
		result.last = 0;
		return result;
	}
	result.first = (int64)Max(range.first, PG_INT64_MIN);
	result.last = (int64)Min(range.last, PG_INT64_MAX);
	return result;
}

static double
real_of(Datum value, Oid type)
{
	return type == FLOAT4OID ? (double)DatumGetFloat4(value) : DatumGetFloat8(value);
}

static LncPredicate
compare_real(const Condition *condition, int strategy, double value)
{
	LncPredicate result = {.kind = LNC_PREDICATE_REAL, .column = condition->column};
	bool nan = isnan(value);

	/* None of the numbers, until said otherwise. */
	result.least = HUGE_VAL;
	result.greatest = -HUGE_VAL;
	switch (strategy)
	{
		case BTLessStrategyNumber:
			if (nan || value > -HUGE_VAL)
			{
				result.least = -HUGE_VAL;
				result.greatest = nan ? HUGE_VAL : nextafter(value, -HUGE_VAL);
			}
			break;
		case BTLessEqualStrategyNumber:
			result.least = -HUGE_VAL;
			result.greatest = nan ? HUGE_VAL : value;
			result.nan = nan;
			break;
		case BTEqualStrategyNumber:
			if (!nan)
				result.least = result.greatest = value;
			result.nan = nan;
			break;
		case BTGreaterEqualStrategyNumber:
			if (!nan)
			{
				result.least = value;
				result.greatest = HUGE_VAL;
			}
			result.nan = true;
			break;
		default:
			if (!nan && value < HUGE_VAL)
			{
				result.least = nextafter(value, HUGE_VAL);
				result.greatest = HUGE_VAL;
			}
			result.nan = !nan;
			break;
	}
	return result;
}

static LncSlice
slice_of(Datum value)
{
	struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);
	LncSlice result = {.data = (const uint8_t *)VARDATA_ANY(bytes), .size = VARSIZE_ANY_EXHDR(bytes)};

	return result;
}

static LncPredicate
compare_bytes(const Condition *condition, int strategy, Datum value)
{
	static const LncComparison comparisons[] = {
		[BTLessStrategyNumber] = LNC_LESS,       [BTLessEqualStrategyNumber] = LNC_LESS_EQUAL,
		[BTEqualStrategyNumber] = LNC_EQUAL,     [BTGreaterEqualStrategyNumber] = LNC_GREATER_EQUAL,
		[BTGreaterStrategyNumber] = LNC_GREATER,
	};
	LncPredicate result = {.kind = LNC_PREDICATE_BYTES, .column = condition->column};
	LncSlice *bytes = palloc(sizeof(*bytes));

	*bytes = slice_of(value);
	result.comparison = comparisons[strategy];
	result.bytes = bytes;
	return result;
}

/* The comparison with a value that is not NULL, of a type of the column's domain. */
static LncPredicate
compare(const Condition *condition, int strategy, Datum value, Oid type)
{
	switch (condition->clause.domain)
	{
		case DOMAIN_REAL:
			return compare_real(condition, strategy, real_of(value, type));
		case DOMAIN_BYTES:
			return compare_bytes(condition, strategy, value);
		default:
			return compare_integer(condition, strategy, lance_integer_of(value, type));
	}
}

static LncPredicate
bind_head(const Condition *condition, Datum pattern)
{
	LncPredicate result = {.column = condition->column};
	LncSlice *bytes = palloc(sizeof(*bytes));
	LncSlice text = slice_of(pattern);
	StringInfoData head;
	bool exact = false;

	initStringInfo(&head);
	(void)lance_predicate_head((const char *)text.data, (int)text.size, &head, &exact);
	bytes->data = (const uint8_t *)head.data;
	bytes->size = head.len;
	result.kind = exact ? LNC_PREDICATE_BYTES : LNC_PREDICATE_BYTES_HEAD;
	result.comparison = LNC_EQUAL;
	result.bytes = bytes;
	return result;
}

/* ---- lists of values */

static int
order_bytes(const void *a, const void *b)
{
	return lnc_bytes_compare(*(const LncSlice *)a, *(const LncSlice *)b);
}

static int
order_reals(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int
order_ranges(const void *a, const void *b)
{
	int64 x = ((const LncPredicate *)a)->first;
	int64 y = ((const LncPredicate *)b)->first;

	return x < y ? -1 : x > y;
}

/* Values of columns that are like integers: ranges of those stored, which are equal or have nothing in common. */
static LncPredicate
one_of_ranges(const Condition *condition, int n, const Datum *values, Oid type)
{
	LncPredicate result = {.kind = LNC_PREDICATE_INTEGERS, .column = condition->column};
	LncPredicate *each = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(*each));
	int64 *firsts = palloc(n * sizeof(*firsts));
	int64 *lasts = palloc(n * sizeof(*lasts));

	for (int i = 0; i < n; i++)
		each[i] = compare_integer(condition, BTEqualStrategyNumber, lance_integer_of(values[i], type));
	qsort(each, n, sizeof(*each), order_ranges);
	for (int i = 0; i < n; i++)
	{
		if (each[i].first > each[i].last)
			continue;
		firsts[result.nvalues] = each[i].first;
		lasts[result.nvalues++] = each[i].last;
	}
	pfree(each);
	result.integers = firsts;
	result.lasts = lasts;
	return result;
}

static LncPredicate
one_of_reals(const Condition *condition, int n, const Datum *values, Oid type)
{
	LncPredicate result = {.kind = LNC_PREDICATE_REALS, .column = condition->column};
	double *reals = palloc(n * sizeof(*reals));

	for (int i = 0; i < n; i++)
	{
		double value = real_of(values[i], type);

		if (isnan(value))
			result.nan = true;
		else
			reals[result.nvalues++] = value;
	}
	qsort(reals, result.nvalues, sizeof(*reals), order_reals);
	result.reals = reals;
	return result;
}

static LncPredicate
one_of_bytes(const Condition *condition, int n, const Datum *values)
{
	LncPredicate result = {.kind = LNC_PREDICATE_BYTES_IN, .column = condition->column, .nvalues = n};
	LncSlice *bytes = palloc(n * sizeof(*bytes));

	for (int i = 0; i < n; i++)
		bytes[i] = slice_of(values[i]);
	qsort(bytes, n, sizeof(*bytes), order_bytes);
	result.bytes = bytes;
	return result;
}

/* One of n values, at least one, none of them NULL. */
static LncPredicate
one_of(const Condition *condition, int n, const Datum *values, Oid type)
{
	switch (condition->clause.domain)
	{
		case DOMAIN_REAL:
			return one_of_reals(condition, n, values, type);
		case DOMAIN_BYTES:
			return one_of_bytes(condition, n, values);
		default:
			return one_of_ranges(condition, n, values, type);
	}
}

/* Equals one of the array's elements; where one of them is NULL, no row is known to equal none. */
static LncPredicate
bind_any(const Condition *condition, ArrayType *array)
{
	Oid type = ARR_ELEMTYPE(array);
	LncPredicate *both = palloc(2 * sizeof(*both));
	int16 length;
	bool by_value;
	char align;
	Datum *values;
	bool *nulls;
	int n;
	int present = 0;

	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array(array, type, length, by_value, align, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (!nulls[i])
			values[present++] = values[i];
	}
	if (n == 0)
		return constant(false, false);
	if (present == 0)
		return constant(true, false);
	both[0] = one_of(condition, present, values, type);
	both[1] = constant(true, false);
	return present == n ? both[0] : junction(LNC_PREDICATE_OR, 2, both);
}

/* ---- binding */

static LncPredicate bind(const Condition *condition, ExprContext *econtext);

static LncPredicate
bind_junction(const Condition *condition, ExprContext *econtext)
{
	LncPredicate *children = palloc0(Max(condition->nchildren, 1) * sizeof(*children));

	for (int i = 0; i < condition->nchildren; i++)
		children[i] = bind(&condition->children[i], econtext);
	switch (condition->clause.junction->boolop)
	{
		case AND_EXPR:
			return condition->nchildren == 1 ? children[0]
											 : junction(LNC_PREDICATE_AND, condition->nchildren, children);
		case OR_EXPR:
			return junction(LNC_PREDICATE_OR, condition->nchildren, children);
		default:
			return negated(children[0]);
	}
}

/* What is said of the value, before it is negated. */
static LncPredicate
bind_value(const Condition *condition, ExprContext *econtext)
{
	bool isnull;
	Datum value = ExecEvalExprSwitchContext(condition->value, econtext, &isnull);
	Oid type = exprType((Node *)condition->clause.value);

	if (isnull)
		return constant(true, false);
	if (condition->clause.kind == CLAUSE_ANY)
		return bind_any(condition, DatumGetArrayTypePCopy(value));
	if (condition->clause.domain == DOMAIN_BYTES)
		value = PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	if (condition->clause.kind == CLAUSE_HEAD)
		return bind_head(condition, value);
	return compare(condition, condition->clause.strategy, value, type);
}

static LncPredicate
bind(const Condition *condition, ExprContext *econtext)
{
	const Clause *clause = &condition->clause;
	LncPredicate result = {.column = condition->column};
	LncPredicate *both;

	check_stack_depth();
	switch (clause->kind)
	{
		case CLAUSE_JUNCTION:
			return bind_junction(condition, econtext);
		case CLAUSE_TRUE:
			result.kind = LNC_PREDICATE_TRUE;
			return result;
		case CLAUSE_IS_NULL:
			result.kind = LNC_PREDICATE_IS_NULL;
			break;
		case CLAUSE_IS_TRUE:
			/* Known, and true or false. */
			both = palloc0(2 * sizeof(*both));
			result.kind = LNC_PREDICATE_IS_NULL;
			both[0] = negated(result);
			result.kind = LNC_PREDICATE_TRUE;
			both[1] = clause->truth ? result : negated(result);
			result = junction(LNC_PREDICATE_AND, 2, both);
			break;
		default:
			result = bind_value(condition, econtext);
			break;
	}
	return clause->negated ? negated(result) : result;
}

const LncPredicate *
lance_predicate_bind(const LancePredicate *predicate, ExprContext *econtext)
{
	LncPredicate *result = palloc(sizeof(*result));

	*result = bind(&predicate->all, econtext);
	return result;
}
