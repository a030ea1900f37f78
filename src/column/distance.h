/*
 * distance.h
 *	  Distances between vectors: the lesser, the nearer. L2, cosine, dot and hamming are as Lance defines them.
 *
 * Sums are made in one order on every processor, and no multiplication is fused with an addition: a distance is the same to
 * the last bit wherever it is computed, one by one or for a column.
 */
#ifndef LNC_COLUMN_DISTANCE_H
#define LNC_COLUMN_DISTANCE_H

#include <string.h>

#include "column/column.h"

typedef enum LncMetric
{
	LNC_METRIC_L2,        /* sum of the squared differences */
	LNC_METRIC_EUCLIDEAN, /* its root */
	LNC_METRIC_COSINE,    /* 1 - cosine of the angle; NaN where a vector is all zeros */
	LNC_METRIC_DOT,       /* 1 - sum of the products */
	LNC_METRIC_PRODUCT,   /* - sum of the products */
	LNC_METRIC_L1,        /* sum of the absolute differences */
	LNC_METRIC_HAMMING    /* bits that differ */
} LncMetric;

/* The arithmetic that a distance is computed in, and how the items of a vector lie in memory, at any alignment. */
typedef enum LncVectorKind
{
	LNC_VECTOR_FLOAT32,
	LNC_VECTOR_FLOAT64,
	LNC_VECTOR_INT16, /* exact; float64 where roots and quotients are taken */
	LNC_VECTOR_BITS   /* bytes, eight items each; hamming alone */
} LncVectorKind;

typedef struct LncVector
{
	LncVectorKind kind;
	int64_t size; /* items; bytes of bits */
	const void *items;
} LncVector;

/* Whether vectors of the kind have that distance: hamming is of integers and bits, which have, bits apart, all others. */
extern bool lnc_distance_exists(LncMetric metric, LncVectorKind kind);

/* The distance, which exists, of two vectors of one kind and size. */
extern double lnc_distance(LncMetric metric, const LncVector *a, const LncVector *b);

/*
 * Whether a column of that type can be taken as vectors of the kind: a fixed-size list of float16, bfloat16 or float32 as
 * float32 and wider, one of float64 as float64, one of int8, uint8 or int16 as any but bits; a binary of fixed size as
 * bits. Each value is one of the kind's, so that nothing is rounded.
 */
extern bool lnc_distance_accepts(const LncType *type, LncVectorKind kind);

/* Whether a vector of a column that is accepted is NULL, or has an item that is: there are no distances to it. */
extern bool lnc_vector_is_null(const LncColumn *column, int64_t row);

/*
 * The distance of each row of a column that is accepted to a query of its list_size items: what lnc_distance gives. A row
 * that is NULL, or has an item that is, has isnull set, and 0. distances and isnull have room for all rows; memory for
 * the rows at hand comes from arena.
 */
extern LncCode lnc_distances(LncContext *ctx, LncArena *arena, LncMetric metric, const LncColumn *column,
							 const LncVector *query, double *distances, bool *isnull) LNC_MUST_CHECK;

/* Numbers of two bytes as they are stored. */
static inline float
lnc_float16_value(uint16_t half)
{
	uint32_t bits = (uint32_t)(half & 0x7fff) << 13;
	float value;

	/* The exponents differ by a bias of 112, which a product adds, to numbers without a leading 1 too. */
	memcpy(&value, &bits, sizeof(value));
	value *= 0x1p112f;
	memcpy(&bits, &value, sizeof(bits));
	bits |= ((half & 0x7c00) == 0x7c00 ? 0x7f800000u : 0) | (uint32_t)(half & 0x8000) << 16;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline float
lnc_bfloat16_value(uint16_t upper)
{
	uint32_t bits = (uint32_t)upper << 16;
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#endif
