/*
 * vector.h
 *	  Arrays of numbers, and bytes, as vectors.
 */
#ifndef LANCE_PG_VECTOR_H
#define LANCE_PG_VECTOR_H

#include "column/distance.h"
#include "utils/array.h"

/* The kind of vectors that values of a type are: real[], double precision[], smallint[] or bytea; false for other types. */
extern bool lance_vector_kind(Oid type, LncVectorKind *out);

/*
 * The vector that a value of a type of that kind is; an empty array has no items. False where an item is NULL: the
 * vector's distances are. Throws 2202E for an array of several dimensions. What is detoasted lives in the current memory
 * context; where nothing is to be, the value must outlive the vector.
 */
extern bool lance_vector_read(LncVectorKind kind, Datum value, LncVector *out);

/* The same of an array, whose items tell the kind. */
extern bool lance_vector_read_array(ArrayType *array, LncVector *out);

/* Throw 22000: vectors of different sizes have no distance. */
extern void lance_vector_sizes_differ(LncVectorKind kind, int64 one, int64 other) pg_attribute_noreturn();

#endif
