/*
 * distance.c
 *	  Distances between vectors, as SQL functions.
 */
#include "postgres.h"

#include "fmgr.h"
#include "pg/installed.h"
#include "pg/vector.h"

PG_FUNCTION_INFO_V1(lance_sql_l2);
PG_FUNCTION_INFO_V1(lance_sql_cosine);
PG_FUNCTION_INFO_V1(lance_sql_dot);

/* (a, b), both real[] or both double precision[] */
static Datum
distance(FunctionCallInfo fcinfo, LncMetric metric)
{
	LanceVector a;
	LanceVector b;

	lance_check_installed();
	if (!lance_vector_read(PG_GETARG_ARRAYTYPE_P(0), &a) || !lance_vector_read(PG_GETARG_ARRAYTYPE_P(1), &b))
		PG_RETURN_NULL();
	if (a.size != b.size)
		lance_vector_sizes_differ(a.size, b.size);
	if (a.items32 != NULL)
		PG_RETURN_FLOAT8((float8)lnc_distance_float32(metric, a.items32, b.items32, (size_t)a.size));
	PG_RETURN_FLOAT8(lnc_distance_float64(metric, a.items64, b.items64, (size_t)a.size));
}

Datum
lance_sql_l2(PG_FUNCTION_ARGS)
{
	return distance(fcinfo, LNC_METRIC_L2);
}

Datum
lance_sql_cosine(PG_FUNCTION_ARGS)
{
	return distance(fcinfo, LNC_METRIC_COSINE);
}

Datum
lance_sql_dot(PG_FUNCTION_ARGS)
{
	return distance(fcinfo, LNC_METRIC_DOT);
}
