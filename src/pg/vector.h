/*
 * vector.h
 *	  Arrays of floats as vectors.
 */
#ifndef LANCE_PG_VECTOR_H
#define LANCE_PG_VECTOR_H

#include "column/distance.h"
#include "utils/array.h"

/* The items of a vector, of one kind; the other is NULL. */
typedef struct LanceVector
{
	int64 size;
	const float *items32;
	const double *items64;
} LanceVector;

/*
 * The items of a real[] or double precision[] of one dimension; an empty array has none. False where one is NULL: the
 * vector's distances are. Throws 2202E for an array of several dimensions. The array must outlive the vector.
 */
extern bool lance_vector_read(ArrayType *array, LanceVector *out);

/* Throw 22000: vectors of different sizes have no distance. */
extern void lance_vector_sizes_differ(int64 one, int64 other) pg_attribute_noreturn();

#endif
