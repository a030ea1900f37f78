/*
 * vector.c
 *	  Arrays of floats as vectors.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "pg/vector.h"

bool
lance_vector_read(ArrayType *array, LanceVector *out)
{
	memset(out, 0, sizeof(*out));
	if (ARR_NDIM(array) > 1)
		ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("a vector has one dimension"),
						errdetail("The array has %d.", ARR_NDIM(array))));
	if (array_contains_nulls(array))
		return false;
	out->size = ARR_NDIM(array) == 0 ? 0 : ARR_DIMS(array)[0];
	if (ARR_ELEMTYPE(array) == FLOAT4OID)
		out->items32 = (const float *)ARR_DATA_PTR(array);
	else
		out->items64 = (const double *)ARR_DATA_PTR(array);
	return true;
}

void
lance_vector_sizes_differ(int64 one, int64 other)
{
	ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION),
					errmsg("vectors of %lld and %lld items have no distance", (long long)one, (long long)other)));
}
