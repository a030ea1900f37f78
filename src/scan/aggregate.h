/*
 * aggregate.h
 *	  Aggregates over batches, for all rows or for groups of them.
 *
 * What is added up is added in the order of the rows, a float as a float: sums are those that a loop over the rows gives, to
 * the last bit.
 */
#ifndef LNC_SCAN_AGGREGATE_H
#define LNC_SCAN_AGGREGATE_H

#include "scan/group.h"
#include "scan/predicate.h"

typedef enum LncAggregateKind
{
	LNC_COUNT_ROWS,
	LNC_COUNT,       /* values that are not NULL */
	LNC_SUM_INTEGER, /* of signed and unsigned integers up to 32 bits and of int64 */
	LNC_SUM_FLOAT32, /* of float32, as float32 */
	LNC_SUM_REAL,    /* of float32 and float64, as float64 */
	LNC_MIN,         /* of what predicates of INTEGER, REAL and BYTES look at, in their order */
	LNC_MAX,
	LNC_EVERY, /* of bool: none is false */
	LNC_SOME   /* of bool: one is true */
} LncAggregateKind;

typedef struct LncAggregate
{
	LncAggregateKind kind;
	int32_t column;             /* of the batches; COUNT_ROWS: none */
	const LncPredicate *filter; /* rows for which it is not true don't count; NULL: all do */
} LncAggregate;

/* Borrowed while the aggregation lives. */
typedef struct LncAggregationSpec
{
	int32_t nkeys; /* 0: all rows are one group, which is there without any row */
	const int32_t *keys;
	int32_t naggregates;
	const LncAggregate *aggregates;
	int32_t ncolumns;            /* of the batches */
	const LncType *const *types; /* of their columns */
	size_t memory;               /* what the groups should take in bytes, 0: any; a hint (lnc_groups_create) */
} LncAggregationSpec;

typedef struct LncAggregation LncAggregation;

/*
 * What an aggregate of one group is. count is the number of values that went in: where it is 0, the rest is not set.
 * MIN and MAX are in columns (lnc_aggregation_column).
 */
typedef struct LncAggregated
{
	int64_t count;
	__int128 integer; /* SUM_INTEGER */
	double real;      /* SUM_FLOAT32, SUM_REAL */
	double
		deviations; /* SUM_REAL: their squares' sum as far as it was added up: from the first value on that is so large that it might overflow */
	bool overflow;  /* finite values gave no finite sum */
	bool squares;   /* SUM_REAL: the sum of squared deviations would overflow, though all values are finite */
	bool truth;     /* EVERY, SOME */
} LncAggregated;

/* Whether the aggregate can be had of a column of that type. */
extern bool lnc_aggregate_accepts(LncAggregateKind kind, const LncType *type);

/* Groups and states live in arena. LNC_INVALID for what can't be aggregated. */
extern LncCode lnc_aggregation_create(LncContext *ctx, LncArena *arena, const LncAggregationSpec *spec,
									  LncAggregation **out) LNC_MUST_CHECK;

/*
 * Add the rows of a batch whose hash of keys lies in range (without keys: all), which stays the same until it is narrowed.
 * scratch is for what is needed meanwhile.
 */
extern LncCode lnc_aggregation_add(LncContext *ctx, LncAggregation *aggregation, LncArena *scratch,
								   LncHashRange range, const LncBatch *batch) LNC_MUST_CHECK;

/*
 * As if all had been added for a smaller range from the start: the groups whose hash lies in range, and what they have come to so
 * far, copied to another arena, so that the one at hand can be let go. For an aggregation with keys.
 */
extern LncCode lnc_aggregation_narrow(LncContext *ctx, const LncAggregation *aggregation, LncArena *arena,
									  LncHashRange range, LncAggregation **out) LNC_MUST_CHECK;

/* Results: how many groups, a key's values, an aggregate of a group, the least or greatest values, one row a group. */
extern int32_t lnc_aggregation_count(const LncAggregation *aggregation);
extern LncCode lnc_aggregation_key(LncContext *ctx, const LncAggregation *aggregation, LncArena *arena, int32_t key,
								   LncColumn *out) LNC_MUST_CHECK;
extern void lnc_aggregation_result(const LncAggregation *aggregation, int32_t aggregate, int32_t group,
								   LncAggregated *out);
extern LncCode lnc_aggregation_column(LncContext *ctx, const LncAggregation *aggregation, LncArena *arena,
									  int32_t aggregate, LncColumn *out) LNC_MUST_CHECK;

#endif
