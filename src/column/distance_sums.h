/*
 * distance_sums.h
 *	  The loops behind distances, for the processor at hand: sums over the items of many vectors one after the other.
 */
#ifndef LNC_COLUMN_DISTANCE_SUMS_H
#define LNC_COLUMN_DISTANCE_SUMS_H

#include <stddef.h>
#include <stdint.h>

/* Of vectors of n items, rows of them at a and one at b, at any alignment. out has room for rows numbers. */
typedef void (*LncSums)(const void *a, size_t rows, const void *b, size_t n, double *out);

/* The same, and in norms the products of each vector at a with itself. */
typedef void (*LncAngles)(const void *a, size_t rows, const void *b, size_t n, double *out, double *norms);

/* count items as wider ones of the type named. */
typedef void (*LncWiden)(const void *items, size_t count, void *out);

/* Items of small vectors lie between LNC_SMALL_LEAST and LNC_SMALL_MOST, and there are LNC_SMALL_SIZE of them at most. */
#define LNC_SMALL_LEAST (-128)
#define LNC_SMALL_MOST 255
#define LNC_SMALL_SIZE 8192

typedef struct LncDistanceLoops
{
	/* By LncVectorKind, bits aside; those of float32 are numbers of float32. */
	LncSums squares[3]; /* of differences */
	LncSums products[3];
	LncSums differences[3]; /* absolute ones */

	/* Of small vectors of int16. */
	LncSums small_squares;
	LncSums small_products;
	LncSums small_differences;

	LncAngles angles[2]; /* of floats; norms are what products give */
	LncSums bits;        /* that differ, of vectors of n bytes */

	LncWiden widen_float16;  /* to float32 */
	LncWiden widen_bfloat16; /* to float32 */
	LncWiden widen_float32;  /* to float64 */
	LncWiden widen_int8;     /* to int16 */
	LncWiden widen_uint8;    /* to int16 */
	LncWiden widen_int16;    /* to float32 */
} LncDistanceLoops;

/* For how wide registers there are loops, least first. */
#define LNC_DISTANCE_LEVELS 3

/* The loops of a level; NULL: the processor, or the program as it was compiled, has none of it. Level 0 is always there. */
extern const LncDistanceLoops *lnc_distance_loops_of(int level);

/* The widest. */
extern const LncDistanceLoops *lnc_distance_loops(void);

#endif
