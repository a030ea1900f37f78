/*
 * accumulate.h
 *	  Sums and extremes of runs of values, for one group or by groups.
 *
 * What is added to is an array by group; without groups, its first item. Floats are added in the order of the values. The
 * neutral elements are what an array begins with: what is added to them first becomes the result.
 */
#ifndef LNC_SCAN_ACCUMULATE_H
#define LNC_SCAN_ACCUMULATE_H

#include <math.h>

#include "column/column.h"

/* Of sums of reals: -0 and a value give that value, be it 0 or -0. */
#define LNC_NEUTRAL_SUM (-0.0)
/* NaN is above all numbers. */
#define LNC_NEUTRAL_LEAST ((double)NAN)
#define LNC_NEUTRAL_GREATEST ((double)-INFINITY)

/* Values that count, none of them NULL. */
typedef struct LncValues
{
	LncTypeKind kind;
	int64_t count;
	const void *values;    /* as in a column of that kind; not bool */
	const int32_t *groups; /* NULL: all are of group 0 */
} LncValues;

/* Of signed and unsigned integers up to 32 bits and of int64. */
extern void lnc_add_integers(const LncValues *values, __int128 *sums);

/* Of float32 as float32, of which sums hold one each; no sum may overflow. */
extern void lnc_add_float32(const LncValues *values, double *sums);

/* Of float32 and float64, as float64; no sum may overflow. */
extern void lnc_add_reals(const LncValues *values, double *sums);

/* Whether a float's absolute value is above limit. */
extern bool lnc_exceeds(const LncValues *values, double limit);

/* Of what predicates of INTEGER look at. The arrays begin with INT64_MAX and INT64_MIN. */
extern void lnc_least_integers(const LncValues *values, int64_t *least);
extern void lnc_greatest_integers(const LncValues *values, int64_t *greatest);

/* Of float32 and float64. NaN is above all numbers; of equals, which differ for -0 and 0, the later one stays. */
extern void lnc_least_reals(const LncValues *values, double *least);
extern void lnc_greatest_reals(const LncValues *values, double *greatest);

#endif
