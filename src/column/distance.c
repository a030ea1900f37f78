/*
 * distance.c
 *	  Distances between vectors.
 *
 * Sums are made in lanes, so that the compiler can use vector registers without changing the order of any addition; the
 * same source is compiled for several processors, and the loader takes what fits.
 */
#include "column/distance.h"

#include <math.h>
#include <string.h>

/* Under ASan the choice would be made before ASan is ready. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NO_CLONES
#endif
#endif
#if defined(__x86_64__) && defined(__has_attribute) && !defined(__SANITIZE_ADDRESS__) && !defined(NO_CLONES)
#if __has_attribute(target_clones)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#endif
#ifndef CLONES
#define CLONES
#endif

#define LANES 16

/*
 * step adds what items x of a and y of b give to s, t and u of one lane. The rest behind the last whole block is taken as
 * if it were followed by zeros, which add nothing.
 */
#define DEFINE_SUMS(name, ctype, step)                                                                          \
	CLONES static void name(const ctype *a, const ctype *b, size_t n, ctype *out_s, ctype *out_t, ctype *out_u) \
	{                                                                                                           \
		ctype s[LANES] = {0};                                                                                   \
		ctype t[LANES] = {0};                                                                                   \
		ctype u[LANES] = {0};                                                                                   \
		size_t i = 0;                                                                                           \
                                                                                                                \
		for (; i + LANES <= n; i += LANES)                                                                      \
		{                                                                                                       \
			for (size_t lane = 0; lane < LANES; lane++)                                                         \
			{                                                                                                   \
				ctype x = a[i + lane];                                                                          \
				ctype y = b[i + lane];                                                                          \
                                                                                                                \
				step;                                                                                           \
			}                                                                                                   \
		}                                                                                                       \
		for (size_t lane = 0; i < n; lane++, i++)                                                               \
		{                                                                                                       \
			ctype x = a[i];                                                                                     \
			ctype y = b[i];                                                                                     \
                                                                                                                \
			step;                                                                                               \
		}                                                                                                       \
		for (size_t half = LANES / 2; half > 0; half /= 2)                                                      \
		{                                                                                                       \
			for (size_t lane = 0; lane < half; lane++)                                                          \
			{                                                                                                   \
				s[lane] += s[lane + half];                                                                      \
				t[lane] += t[lane + half];                                                                      \
				u[lane] += u[lane + half];                                                                      \
			}                                                                                                   \
		}                                                                                                       \
		*out_s = s[0];                                                                                          \
		*out_t = t[0];                                                                                          \
		*out_u = u[0];                                                                                          \
	}

DEFINE_SUMS(squares_float32, float, s[lane] += (x - y) * (x - y))
DEFINE_SUMS(products_float32, float, s[lane] += x * y)
DEFINE_SUMS(angles_float32, float, (s[lane] += x * y, t[lane] += x * x, u[lane] += y * y))
DEFINE_SUMS(squares_float64, double, s[lane] += (x - y) * (x - y))
DEFINE_SUMS(products_float64, double, s[lane] += x * y)
DEFINE_SUMS(angles_float64, double, (s[lane] += x * y, t[lane] += x * x, u[lane] += y * y))

float
lnc_distance_float32(LncMetric metric, const float *a, const float *b, size_t n)
{
	float s;
	float t;
	float u;

	switch (metric)
	{
		case LNC_METRIC_L2:
			squares_float32(a, b, n, &s, &t, &u);
			return s;
		case LNC_METRIC_DOT:
			products_float32(a, b, n, &s, &t, &u);
			return 1 - s;
		case LNC_METRIC_COSINE:
			break;
	}
	angles_float32(a, b, n, &s, &t, &u);
	return 1 - s / (sqrtf(t) * sqrtf(u));
}

double
lnc_distance_float64(LncMetric metric, const double *a, const double *b, size_t n)
{
	double s;
	double t;
	double u;

	switch (metric)
	{
		case LNC_METRIC_L2:
			squares_float64(a, b, n, &s, &t, &u);
			return s;
		case LNC_METRIC_DOT:
			products_float64(a, b, n, &s, &t, &u);
			return 1 - s;
		case LNC_METRIC_COSINE:
			break;
	}
	angles_float64(a, b, n, &s, &t, &u);
	return 1 - s / (sqrt(t) * sqrt(u));
}

float
lnc_float16_value(uint16_t half)
{
	int exponent = (half >> 10) & 0x1f;
	int fraction = half & 0x3ff;
	float value;

	if (exponent == 0)
		value = ldexpf((float)fraction, -24);
	else if (exponent == 0x1f)
		value = fraction == 0 ? INFINITY : NAN;
	else
		value = ldexpf((float)(fraction | 0x400), exponent - 25);
	return (half & 0x8000) != 0 ? -value : value;
}

float
lnc_bfloat16_value(uint16_t upper)
{
	uint32_t bits = (uint32_t)upper << 16;
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

bool
lnc_distance_accepts(const LncType *type)
{
	if (type->kind != LNC_TYPE_FIXED_LIST || type->nchildren != 1)
		return false;
	switch (type->children[0].type.kind)
	{
		case LNC_TYPE_FLOAT16:
		case LNC_TYPE_BFLOAT16:
		case LNC_TYPE_FLOAT32:
		case LNC_TYPE_FLOAT64:
			return true;
		default:
			return false;
	}
}

bool
lnc_vector_is_null(const LncColumn *column, int64_t row)
{
	const LncColumn *items = &column->children[0];
	int64_t n = column->type->list_size;

	if (lnc_column_is_null(column, row))
		return true;
	for (int64_t i = row * n; items->validity != NULL && i < (row + 1) * n; i++)
	{
		if (!lnc_bit(items->validity, (uint64_t)i))
			return true;
	}
	return false;
}

LncCode
lnc_distances(LncContext *ctx, LncArena *arena, LncMetric metric, const LncColumn *column, const float *query32,
			  const double *query64, double *distances, bool *isnull)
{
	const LncColumn *items = &column->children[0];
	int64_t n = column->type->list_size;
	float *widened;

	LNC_TRY(LNC_NEW(ctx, arena, &widened, (size_t)n));
	for (int64_t row = 0; row < column->length; row++)
	{
		const uint16_t *halves = (const uint16_t *)items->values + row * n;

		if (row % 1024 == 0)
			LNC_TRY(lnc_check_interrupt(ctx));
		distances[row] = 0;
		isnull[row] = lnc_vector_is_null(column, row);
		if (isnull[row])
			continue;
		switch (items->type->kind)
		{
			case LNC_TYPE_FLOAT64:
				distances[row] =
					lnc_distance_float64(metric, (const double *)items->values + row * n, query64, (size_t)n);
				break;
			case LNC_TYPE_FLOAT32:
				distances[row] = (double)lnc_distance_float32(metric, (const float *)items->values + row * n,
															  query32, (size_t)n);
				break;
			default:
				for (int64_t i = 0; i < n; i++)
					widened[i] = items->type->kind == LNC_TYPE_FLOAT16 ? lnc_float16_value(halves[i])
																	   : lnc_bfloat16_value(halves[i]);
				distances[row] = (double)lnc_distance_float32(metric, widened, query32, (size_t)n);
				break;
		}
	}
	return LNC_OK;
}
