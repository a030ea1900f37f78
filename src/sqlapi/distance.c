/*
 * distance.c
 *	  Distances between vectors, as SQL functions.
 */
#include "postgres.h"

#include "fmgr.h"
#include "pg/installed.h"
#include "pg/vector.h"

PG_FUNCTION_INFO_V1(lance_sql_l2);
PG_FUNCTION_INFO_V1(lance_sql_euclidean);
PG_FUNCTION_INFO_V1(lance_sql_cosine);
PG_FUNCTION_INFO_V1(lance_sql_dot);
PG_FUNCTION_INFO_V1(lance_sql_negative_inner_product);
PG_FUNCTION_INFO_V1(lance_sql_l1);
PG_FUNCTION_INFO_V1(lance_sql_hamming);
PG_FUNCTION_INFO_V1(lance_sql_hamming_bytea);

static Datum
vector_distance(LncMetric metric, const LncVector *a, const LncVector *b)
{
	if (a->kind != b->kind || !lnc_distance_exists(metric, a->kind))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("vectors of these types have no such distance")));
	if (a->size != b->size)
		lance_vector_sizes_differ(a->kind, a->size, b->size);
	return Float8GetDatum(lnc_distance(metric, a, b));
}

/* (a, b), both real[], double precision[] or smallint[] */
static Datum
distance(FunctionCallInfo fcinfo, LncMetric metric)
{
	LncVector a;
	LncVector b;

	lance_check_installed();
	if (!lance_vector_read_array(PG_GETARG_ARRAYTYPE_P(0), &a) ||
		!lance_vector_read_array(PG_GETARG_ARRAYTYPE_P(1), &b))
		PG_RETURN_NULL();
	return vector_distance(metric, &a, &b);
}

Datum
lance_sql_l2(PG_FUNCTION_ARGS)
{
	return distance(fcinfo, LNC_METRIC_L2);
}

Datum
lance_sql_euclidean(PG_FUNCTION_ARGS)
{
	return distance(fcinfo, LNC_METRIC_EUCLIDEAN);
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

Datum
lance_sql_negative_inner_product(PG_FUNCTION_ARGS)
{
	return distance(fcinfo, LNC_METRIC_PRODUCT);
}

Datum
lance_sql_l1(PG_FUNCTION_ARGS)
{
	return distance(fcinfo, LNC_METRIC_L1);
}

Datum
lance_sql_hamming(PG_FUNCTION_ARGS)
{
	return distance(fcinfo, LNC_METRIC_HAMMING);
}

/* (a, b), both bytea */
Datum
lance_sql_hamming_bytea(PG_FUNCTION_ARGS)
{
	LncVector a;
	LncVector b;

	lance_check_installed();
	lance_vector_read(LNC_VECTOR_BITS, PG_GETARG_DATUM(0), &a);
	lance_vector_read(LNC_VECTOR_BITS, PG_GETARG_DATUM(1), &b);
	return vector_distance(LNC_METRIC_HAMMING, &a, &b);
}
