/*
 * accumulate.c
 *	  Sums and extremes of runs of values.
 *
 * Loops over all values of one group go by blocks of fixed length with sums or extremes side by side, which the compiler
 * makes vector code of.
 */
#include "scan/accumulate.h"

/* Values a block, and results side by side. */
#define BLOCK 64
#define LANES 8

/* Call one of the functions of a set by the width and sign of integers. */
#define DISPATCH(set, values, ...)               \
	switch ((values)->kind)                      \
	{                                            \
		case LNC_TYPE_INT8:                      \
			set##_int8((values), __VA_ARGS__);   \
			break;                               \
		case LNC_TYPE_INT16:                     \
			set##_int16((values), __VA_ARGS__);  \
			break;                               \
		case LNC_TYPE_INT32:                     \
		case LNC_TYPE_DATE32:                    \
		case LNC_TYPE_TIME32:                    \
			set##_int32((values), __VA_ARGS__);  \
			break;                               \
		case LNC_TYPE_UINT8:                     \
			set##_uint8((values), __VA_ARGS__);  \
			break;                               \
		case LNC_TYPE_UINT16:                    \
			set##_uint16((values), __VA_ARGS__); \
			break;                               \
		case LNC_TYPE_UINT32:                    \
			set##_uint32((values), __VA_ARGS__); \
			break;                               \
		default:                                 \
			set##_int64((values), __VA_ARGS__);  \
			break;                               \
	}

/* ---- sums of integers */

/* Sums of up to 2^31 values of 32 bits fit into 64; a run has fewer. */
#define DEFINE_ADD(name, ctype)                               \
	static void name(const LncValues *values, __int128 *sums) \
	{                                                         \
		const ctype *from = values->values;                   \
		int64_t sum = 0;                                      \
		int64_t at = 0;                                       \
                                                              \
		if (values->groups != NULL)                           \
		{                                                     \
			for (; at < values->count; at++)                  \
				sums[values->groups[at]] += from[at];         \
			return;                                           \
		}                                                     \
		for (; values->count - at >= BLOCK; at += BLOCK)      \
		{                                                     \
			int64_t block = 0;                                \
                                                              \
			for (int i = 0; i < BLOCK; i++)                   \
				block += from[at + i];                        \
			sum += block;                                     \
		}                                                     \
		for (; at < values->count; at++)                      \
			sum += from[at];                                  \
		sums[0] += sum;                                       \
	}

DEFINE_ADD(add_int8, int8_t)
DEFINE_ADD(add_int16, int16_t)
DEFINE_ADD(add_int32, int32_t)
DEFINE_ADD(add_uint8, uint8_t)
DEFINE_ADD(add_uint16, uint16_t)
DEFINE_ADD(add_uint32, uint32_t)

/* All of one group: the halves are summed apart, which vectors can do; values are made unsigned for that. */
static void
add_all_int64(const LncValues *values, __int128 *sums)
{
	const int64_t *from = values->values;
	uint64_t low = 0;
	uint64_t high = 0;
	int64_t whole = values->count - values->count % BLOCK;

	for (int64_t at = 0; at < whole; at += BLOCK)
	{
		uint64_t block_low = 0;
		uint64_t block_high = 0;

		for (int i = 0; i < BLOCK; i++)
		{
			uint64_t value = (uint64_t)from[at + i] ^ (UINT64_C(1) << 63);

			block_low += value & UINT32_MAX;
			block_high += value >> 32;
		}
		low += block_low;
		high += block_high;
	}
	sums[0] += ((__int128)high << 32) + low - ((__int128)whole << 63);
	for (int64_t at = whole; at < values->count; at++)
		sums[0] += from[at];
}

static void
add_int64(const LncValues *values, __int128 *sums)
{
	const int64_t *from = values->values;

	if (values->groups == NULL)
		add_all_int64(values, sums);
	else
	{
		for (int64_t at = 0; at < values->count; at++)
			sums[values->groups[at]] += from[at];
	}
}

void
lnc_add_integers(const LncValues *values, __int128 *sums)
{
	DISPATCH(add, values, sums)
}

/* ---- sums of floats */

void
lnc_add_float32(const LncValues *values, double *sums)
{
	const float *from = values->values;

	if (values->groups == NULL)
	{
		float sum = (float)sums[0];

		for (int64_t at = 0; at < values->count; at++)
			sum += from[at];
		sums[0] = sum;
		return;
	}
	for (int64_t at = 0; at < values->count; at++)
		sums[values->groups[at]] = (float)sums[values->groups[at]] + from[at];
}

#define DEFINE_ADD_REALS(name, ctype)                         \
	static void name(const LncValues *values, double *sums)   \
	{                                                         \
		const ctype *from = values->values;                   \
		double sum = sums[0];                                 \
                                                              \
		if (values->groups != NULL)                           \
		{                                                     \
			for (int64_t at = 0; at < values->count; at++)    \
				sums[values->groups[at]] += (double)from[at]; \
			return;                                           \
		}                                                     \
		for (int64_t at = 0; at < values->count; at++)        \
			sum += (double)from[at];                          \
		sums[0] = sum;                                        \
	}

DEFINE_ADD_REALS(add_float, float)
DEFINE_ADD_REALS(add_double, double)

void
lnc_add_reals(const LncValues *values, double *sums)
{
	if (values->kind == LNC_TYPE_FLOAT32)
		add_float(values, sums);
	else
		add_double(values, sums);
}

/* NaN is not above any limit: it does not replace what a lane has. */
#define DEFINE_EXCEEDS(name, ctype, absolute)                                                     \
	static bool name(const LncValues *values, ctype limit)                                        \
	{                                                                                             \
		const ctype *from = values->values;                                                       \
		ctype lanes[LANES] = {0};                                                                 \
		int64_t at = 0;                                                                           \
		bool exceeds = false;                                                                     \
                                                                                                  \
		for (; values->count - at >= LANES; at += LANES)                                          \
		{                                                                                         \
			for (int i = 0; i < LANES; i++)                                                       \
				lanes[i] = absolute(from[at + i]) > lanes[i] ? absolute(from[at + i]) : lanes[i]; \
		}                                                                                         \
		for (; at < values->count; at++)                                                          \
			exceeds = exceeds || absolute(from[at]) > limit;                                      \
		for (int i = 0; i < LANES; i++)                                                           \
			exceeds = exceeds || lanes[i] > limit;                                                \
		return exceeds;                                                                           \
	}

DEFINE_EXCEEDS(exceeds_float, float, fabsf)
DEFINE_EXCEEDS(exceeds_double, double, fabs)

bool
lnc_exceeds(const LncValues *values, double limit)
{
	return values->kind == LNC_TYPE_FLOAT32 ? exceeds_float(values, (float)limit) : exceeds_double(values, limit);
}

/* ---- extremes of integers */

#define DEFINE_EXTREME(name, ctype, before)                                                    \
	static void name(const LncValues *values, int64_t *extremes)                               \
	{                                                                                          \
		const ctype *from = values->values;                                                    \
		int64_t at = LANES;                                                                    \
		ctype lanes[LANES];                                                                    \
                                                                                               \
		if (values->groups != NULL || values->count < LANES)                                   \
		{                                                                                      \
			for (at = 0; at < values->count; at++)                                             \
			{                                                                                  \
				int64_t *extreme = &extremes[values->groups != NULL ? values->groups[at] : 0]; \
                                                                                               \
				*extreme = from[at] before * extreme ? from[at] : *extreme;                    \
			}                                                                                  \
			return;                                                                            \
		}                                                                                      \
		for (int i = 0; i < LANES; i++)                                                        \
			lanes[i] = from[i];                                                                \
		for (; values->count - at >= LANES; at += LANES)                                       \
		{                                                                                      \
			for (int i = 0; i < LANES; i++)                                                    \
				lanes[i] = from[at + i] before lanes[i] ? from[at + i] : lanes[i];             \
		}                                                                                      \
		for (; at < values->count; at++)                                                       \
			lanes[0] = from[at] before lanes[0] ? from[at] : lanes[0];                         \
		for (int i = 0; i < LANES; i++)                                                        \
			extremes[0] = lanes[i] before extremes[0] ? lanes[i] : extremes[0];                \
	}

DEFINE_EXTREME(least_int8, int8_t, <)
DEFINE_EXTREME(least_int16, int16_t, <)
DEFINE_EXTREME(least_int32, int32_t, <)
DEFINE_EXTREME(least_int64, int64_t, <)
DEFINE_EXTREME(least_uint8, uint8_t, <)
DEFINE_EXTREME(least_uint16, uint16_t, <)
DEFINE_EXTREME(least_uint32, uint32_t, <)
DEFINE_EXTREME(greatest_int8, int8_t, >)
DEFINE_EXTREME(greatest_int16, int16_t, >)
DEFINE_EXTREME(greatest_int32, int32_t, >)
DEFINE_EXTREME(greatest_int64, int64_t, >)
DEFINE_EXTREME(greatest_uint8, uint8_t, >)
DEFINE_EXTREME(greatest_uint16, uint16_t, >)
DEFINE_EXTREME(greatest_uint32, uint32_t, >)

void
lnc_least_integers(const LncValues *values, int64_t *least)
{
	DISPATCH(least, values, least)
}

void
lnc_greatest_integers(const LncValues *values, int64_t *greatest)
{
	DISPATCH(greatest, values, greatest)
}

/* ---- extremes of floats */

/* Whether what has been found so far stays when a value comes behind it. */
static inline bool
stays_least(double so_far, double value)
{
	return so_far < value || (isnan(value) && !isnan(so_far));
}

static inline bool
stays_greatest(double so_far, double value)
{
	return value < so_far || (isnan(so_far) && !isnan(value));
}

/* The last of the values that is 0 or -0, which is what it comes to where the extreme is 0; there is one. */
#define DEFINE_LAST_ZERO(name, ctype)           \
	static double name(const LncValues *values) \
	{                                           \
		const ctype *from = values->values;     \
		int64_t at = values->count - 1;         \
                                                \
		while (at > 0 && from[at] != 0)         \
			at--;                               \
		return (double)from[at];                \
	}

DEFINE_LAST_ZERO(last_zero_float, float)
DEFINE_LAST_ZERO(last_zero_double, double)

/*
 * The extreme of values of one group. Numbers are compared alone, each lane beginning with the worst; numbers and nans say which
 * there were.
 */
#define DEFINE_EXTREME_REAL(name, ctype, before, worst, of_numbers_and_nans, stays, last_zero)   \
	static void name(const LncValues *values, double *extremes)                                  \
	{                                                                                            \
		const ctype *from = values->values;                                                      \
		ctype lanes[LANES];                                                                      \
		ctype extreme = worst;                                                                   \
		int64_t at = 0;                                                                          \
		int64_t numbers = 0;                                                                     \
		double result;                                                                           \
                                                                                                 \
		if (values->groups != NULL || values->count < LANES)                                     \
		{                                                                                        \
			for (; at < values->count; at++)                                                     \
			{                                                                                    \
				double *so_far = &extremes[values->groups != NULL ? values->groups[at] : 0];     \
				double value = (double)from[at];                                                 \
                                                                                                 \
				*so_far = stays(*so_far, value) ? *so_far : value;                               \
			}                                                                                    \
			return;                                                                              \
		}                                                                                        \
		for (int i = 0; i < LANES; i++)                                                          \
			lanes[i] = worst;                                                                    \
		for (; values->count - at >= LANES; at += LANES)                                         \
		{                                                                                        \
			int block = 0;                                                                       \
                                                                                                 \
			for (int i = 0; i < LANES; i++)                                                      \
			{                                                                                    \
				lanes[i] = from[at + i] before lanes[i] ? from[at + i] : lanes[i];               \
				block += from[at + i] == from[at + i];                                           \
			}                                                                                    \
			numbers += block;                                                                    \
		}                                                                                        \
		for (; at < values->count; at++)                                                         \
		{                                                                                        \
			lanes[0] = from[at] before lanes[0] ? from[at] : lanes[0];                           \
			numbers += from[at] == from[at];                                                     \
		}                                                                                        \
		for (int i = 0; i < LANES; i++)                                                          \
			extreme = lanes[i] before extreme ? lanes[i] : extreme;                              \
		result = of_numbers_and_nans ? (double)NAN : extreme == 0 ? last_zero(values) : extreme; \
		extremes[0] = stays(extremes[0], result) ? extremes[0] : result;                         \
	}

DEFINE_EXTREME_REAL(least_float, float, <, INFINITY, numbers == 0, stays_least, last_zero_float)
DEFINE_EXTREME_REAL(least_double, double, <, INFINITY, numbers == 0, stays_least, last_zero_double)
DEFINE_EXTREME_REAL(greatest_float, float, >, -INFINITY, numbers < values->count, stays_greatest, last_zero_float)
DEFINE_EXTREME_REAL(greatest_double, double, >, -INFINITY, numbers < values->count, stays_greatest,
					last_zero_double)

void
lnc_least_reals(const LncValues *values, double *least)
{
	if (values->kind == LNC_TYPE_FLOAT32)
		least_float(values, least);
	else
		least_double(values, least);
}

void
lnc_greatest_reals(const LncValues *values, double *greatest)
{
	if (values->kind == LNC_TYPE_FLOAT32)
		greatest_float(values, greatest);
	else
		greatest_double(values, greatest);
}
