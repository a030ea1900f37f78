/*
 * predicate.h
 *	  Conditions on the columns of a batch, in SQL's logic of three values.
 *
 * A predicate is a tree. Its leaves look at one column each; what they say of a NULL is unknown, but for IS_NULL. A row is
 * chosen where the root is true. Orders are those of PostgreSQL: NaN is above all numbers and equal to itself, texts
 * are compared by their bytes.
 */
#ifndef LNC_SCAN_PREDICATE_H
#define LNC_SCAN_PREDICATE_H

#include "column/column.h"

/* Trees nest at most so deep. */
#define LNC_PREDICATE_MAX_DEPTH 1000

typedef enum LncPredicateKind
{
	LNC_PREDICATE_CONSTANT, /* truth, or unknown */
	LNC_PREDICATE_AND,
	LNC_PREDICATE_OR,
	LNC_PREDICATE_NOT, /* of children[0] */
	LNC_PREDICATE_IS_NULL,
	LNC_PREDICATE_TRUE,      /* the value of a column of bool */
	LNC_PREDICATE_INTEGER,   /* first <= value <= last; none when first > last */
	LNC_PREDICATE_INTEGERS,  /* one of the integers, or in one of the ranges that begin there */
	LNC_PREDICATE_REAL,      /* least <= value <= greatest, or NaN where nan is set */
	LNC_PREDICATE_REALS,     /* one of the reals, or NaN where nan is set */
	LNC_PREDICATE_BYTES,     /* as the comparison with bytes[0] says */
	LNC_PREDICATE_BYTES_IN,  /* one of bytes */
	LNC_PREDICATE_BYTES_HEAD /* begins with bytes[0] */
} LncPredicateKind;

typedef enum LncComparison
{
	LNC_LESS,
	LNC_LESS_EQUAL,
	LNC_EQUAL,
	LNC_GREATER_EQUAL,
	LNC_GREATER
} LncComparison;

/*
 * One node. Which fields count is said by the kind. INTEGER and INTEGERS are for signed and unsigned integers up to 32 bits,
 * int64, dates, times, timestamps and durations, in the column's own unit; REAL and REALS are for float32 and float64; BYTES and
 * its like for text and binary.
 */
typedef struct LncPredicate
{
	LncPredicateKind kind;
	int32_t nchildren;
	struct LncPredicate *children;
	int32_t column; /* index into the columns of the scan */

	bool unknown; /* CONSTANT */
	bool truth;
	int64_t first; /* INTEGER */
	int64_t last;
	int64_t nvalues;         /* INTEGERS, REALS, BYTES_IN: how many */
	const int64_t *integers; /* ascending */
	const int64_t *lasts; /* the ends of ranges that begin with integers; equal or disjoint. NULL: single values */
	const double *reals;  /* ascending, no NaN */
	double least;         /* REAL */
	double greatest;
	bool nan;
	LncComparison comparison; /* BYTES */
	const LncSlice *bytes;    /* BYTES_IN: ascending, as lnc_bytes_compare has it */
} LncPredicate;

/* Below 0, 0, above 0 as a lies before, at or behind b in the order of bytes. */
extern int lnc_bytes_compare(LncSlice a, LncSlice b);

/* Whether a leaf of that kind can look at a column of the type. */
extern bool lnc_predicate_accepts(LncPredicateKind kind, const LncType *type);

/*
 * LNC_INVALID unless each leaf names one of the ncolumns columns, whose types the array has, and can look at it, and each
 * inner node has children.
 */
extern LncCode lnc_predicate_check(LncContext *ctx, const LncPredicate *predicate, int32_t ncolumns,
								   const LncType *const *types) LNC_MUST_CHECK;

/* Set used[i] for each column i that the predicate looks at. */
extern void lnc_predicate_columns(const LncPredicate *predicate, bool *used);

/*
 * The rows, of length, for which a predicate that was checked is true, as bits (row_mask.h). columns[i] need be there only
 * for columns that are looked at. Memory comes from arena.
 */
extern LncCode lnc_predicate_mask(LncContext *ctx, LncArena *arena, const LncPredicate *predicate,
								  const LncColumn *columns, int64_t length, uint64_t **mask) LNC_MUST_CHECK;

/*
 * The rows, of length, for which a predicate that was checked is true: their numbers in ascending order, *count of them.
 * *chosen is NULL when all are. Else as lnc_predicate_mask.
 */
extern LncCode lnc_predicate_choose(LncContext *ctx, LncArena *arena, const LncPredicate *predicate,
									const LncColumn *columns, int64_t length, int64_t **chosen,
									int64_t *count) LNC_MUST_CHECK;

#endif
