/*
 * aggregate_value.c
 *	  Values of aggregates out of what was added up: results, and transition values for the executor to combine.
 *
 * The latter are PostgreSQL 15's own: numeric.c and float.c of its utils/adt.
 */
#include "postgres.h"

#include "base/decimal.h"
#include "catalog/pg_type_d.h"
#include "fdw/aggregate.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/* A digit of numeric, and the mark of a negative one. */
#define NUMERIC_BASE 10000
#define NUMERIC_DIGIT_BITS 13
#define NUMERIC_IS_NEGATIVE 0x4000

static Datum
numeric_of(__int128 value)
{
	char digits[LNC_INTEGER_TEXT_SIZE];

	if (value >= PG_INT64_MIN && value <= PG_INT64_MAX)
		return NumericGetDatum(int64_to_numeric((int64)value));
	lnc_integer_text((const uint8 *)&value, sizeof(value) / 4, digits);
	return DirectFunctionCall3(numeric_in, CStringGetDatum(digits), ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/*
 * What int8_avg_serialize makes of a count and a sum: the sum as numericvar_serialize writes it, without trailing digits cut.
 */
static Datum
int8_avg_state(int64 count, __int128 sum)
{
	int16 digits[(sizeof(sum) * CHAR_BIT) / NUMERIC_DIGIT_BITS + 1];
	unsigned __int128 left = sum < 0 ? -(unsigned __int128)sum : (unsigned __int128)sum;
	int ndigits = 0;
	StringInfoData buffer;

	for (; left > 0; left /= NUMERIC_BASE)
		digits[ndigits++] = (int16)(left % NUMERIC_BASE);
	pq_begintypsend(&buffer);
	pq_sendint64(&buffer, (uint64)count);
	pq_sendint32(&buffer, (uint32)ndigits);
	pq_sendint32(&buffer, (uint32)Max(ndigits - 1, 0)); /* weight of the first digit */
	pq_sendint32(&buffer, sum < 0 ? NUMERIC_IS_NEGATIVE : 0);
	pq_sendint32(&buffer, 0); /* digits behind the point */
	while (ndigits > 0)
		pq_sendint16(&buffer, (uint16)digits[--ndigits]);
	return PointerGetDatum(pq_endtypsend(&buffer));
}

/* The server adds in 64 bits, and so does what combines this. */
static Datum
int4_avg_state(int64 count, __int128 sum)
{
	Datum items[] = {Int64GetDatum(count), Int64GetDatum((int64)sum)};

	return PointerGetDatum(
		construct_array(items, lengthof(items), INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

static Datum
float8_avg_state(const LncAggregated *result)
{
	Datum items[] = {Float8GetDatum((float8)result->count), Float8GetDatum(result->count > 0 ? result->real : 0),
					 Float8GetDatum(result->count > 0 ? result->deviations : 0)};

	return PointerGetDatum(
		construct_array(items, lengthof(items), FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* Those that are there without any value. */
static bool
counts_from_nothing(LanceFinal final)
{
	return final == LANCE_FINAL_COUNT || final == LANCE_PARTIAL_INT4_AVG || final == LANCE_PARTIAL_FLOAT8_AVG;
}

static bool
averages_floats(LanceFinal final)
{
	return final == LANCE_FINAL_AVG_FLOAT8 || final == LANCE_PARTIAL_FLOAT8_AVG;
}

Datum
lance_aggregate_value(LanceFinal final, const LncAggregated *result, bool *isnull)
{
	*isnull = result->count == 0 && !counts_from_nothing(final);
	if (*isnull)
		return (Datum)0;
	if (result->overflow || (averages_floats(final) && result->squares))
		float_overflow_error();
	switch (final)
	{
		case LANCE_FINAL_COUNT:
			return Int64GetDatum(result->count);
		case LANCE_FINAL_INT8:
			return Int64GetDatum((int64)result->integer);
		case LANCE_FINAL_NUMERIC:
			return numeric_of(result->integer);
		case LANCE_FINAL_FLOAT4:
			return Float4GetDatum((float4)result->real);
		case LANCE_FINAL_FLOAT8:
			return Float8GetDatum(result->real);
		case LANCE_FINAL_AVG_NUMERIC:
			return DirectFunctionCall2(numeric_div, numeric_of(result->integer), numeric_of(result->count));
		case LANCE_FINAL_AVG_FLOAT8:
			/* The server begins with 0, and 0 + -0 is 0. */
			return Float8GetDatum((result->real + 0.0) / (float8)result->count);
		case LANCE_FINAL_BOOL:
			return BoolGetDatum(result->truth);
		case LANCE_PARTIAL_INT8_AVG:
			return int8_avg_state(result->count, result->integer);
		case LANCE_PARTIAL_INT4_AVG:
			return int4_avg_state(result->count, result->integer);
		case LANCE_PARTIAL_FLOAT8_AVG:
			return float8_avg_state(result);
		case LANCE_FINAL_EXTREME:
			break;
	}
	*isnull = true;
	return (Datum)0;
}
