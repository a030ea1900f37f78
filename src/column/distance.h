/*
 * distance.h
 *	  Distances between vectors, as Lance defines them: the lesser, the nearer.
 */
#ifndef LNC_COLUMN_DISTANCE_H
#define LNC_COLUMN_DISTANCE_H

#include "column/column.h"

typedef enum LncMetric
{
	LNC_METRIC_L2,     /* sum of the squared differences */
	LNC_METRIC_COSINE, /* 1 - cosine of the angle; NaN where a vector is all zeros */
	LNC_METRIC_DOT     /* 1 - sum of the products */
} LncMetric;

/* The distance of two vectors of n items. */
extern float lnc_distance_float32(LncMetric metric, const float *a, const float *b, size_t n);
extern double lnc_distance_float64(LncMetric metric, const double *a, const double *b, size_t n);

/* Whether distances can be had of a column of that type: a fixed-size list of float16, bfloat16, float32 or float64. */
extern bool lnc_distance_accepts(const LncType *type);

/* Whether a vector of a column that is accepted is NULL, or has an item that is: there are no distances to it. */
extern bool lnc_vector_is_null(const LncColumn *column, int64_t row);

/*
 * The distance of each row of a column that is accepted to a vector of its list_size items, given as both kinds of
 * floats: items of float64 are compared as such, all others as float32. A row that is NULL, or has an item that is, has
 * isnull set, and 0. distances and isnull have room for all rows; memory for the row at hand comes from arena.
 */
extern LncCode lnc_distances(LncContext *ctx, LncArena *arena, LncMetric metric, const LncColumn *column,
							 const float *query32, const double *query64, double *distances,
							 bool *isnull) LNC_MUST_CHECK;

/* Numbers of two bytes as they are stored. */
extern float lnc_float16_value(uint16_t half);
extern float lnc_bfloat16_value(uint16_t upper);

#endif
