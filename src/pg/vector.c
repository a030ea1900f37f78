/*
 * vector.c
 *	  Arrays of numbers, and bytes, as vectors.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "pg/vector.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* The kind of vectors that arrays of such elements are. */
static bool
kind_of_element(Oid element, LncVectorKind *out)
{
	switch (element)
	{
		case FLOAT4OID:
			*out = LNC_VECTOR_FLOAT32;
			return true;
		case FLOAT8OID:
			*out = LNC_VECTOR_FLOAT64;
			return true;
		case INT2OID:
			*out = LNC_VECTOR_INT16;
			return true;
		default:
			return false;
	}
}

bool
lance_vector_kind(Oid type, LncVectorKind *out)
{
	*out = LNC_VECTOR_BITS;
	return type == BYTEAOID || kind_of_element(get_element_type(type), out);
}

bool
lance_vector_read_array(ArrayType *array, LncVector *out)
{
	if (!kind_of_element(ARR_ELEMTYPE(array), &out->kind))
		ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
						errmsg("an array of %s is no vector", format_type_be(ARR_ELEMTYPE(array)))));
	if (ARR_NDIM(array) > 1)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("a vector has one dimension"),
						errdetail("The array has %d.", ARR_NDIM(array))));
	if (array_contains_nulls(array))
		return false;
	out->size = ARR_NDIM(array) == 0 ? 0 : ARR_DIMS(array)[0];
	out->items = ARR_DATA_PTR(array);
	return true;
}

bool
lance_vector_read(LncVectorKind kind, Datum value, LncVector *out)
{
	bytea *bytes;

	if (kind != LNC_VECTOR_BITS)
		return lance_vector_read_array(DatumGetArrayTypeP(value), out);
	bytes = DatumGetByteaPP(value);
	out->kind = kind;
	out->size = VARSIZE_ANY_EXHDR(bytes);
	out->items = VARDATA_ANY(bytes);
	return true;
}

void
lance_vector_sizes_differ(LncVectorKind kind, int64 one, int64 other)
{
	const char *items = kind == LNC_VECTOR_BITS ? "bytes" : "items";

	ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION), errmsg("vectors of %lld and %lld %s have no distance",
															(long long)one, (long long)other, items)));
}
