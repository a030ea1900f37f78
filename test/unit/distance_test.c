/*
 * distance_test.c
 *	  Distances of vectors of every size, against sums made one after the other.
 */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "column/distance.h"

#define ITEMS_MAX 70

static double
plain(LncMetric metric, const double *a, const double *b, size_t n)
{
	double squares = 0;
	double products = 0;
	double aa = 0;
	double bb = 0;

	for (size_t i = 0; i < n; i++)
	{
		squares += (a[i] - b[i]) * (a[i] - b[i]);
		products += a[i] * b[i];
		aa += a[i] * a[i];
		bb += b[i] * b[i];
	}
	return metric == LNC_METRIC_L2    ? squares
		   : metric == LNC_METRIC_DOT ? 1 - products
									  : 1 - products / sqrt(aa * bb);
}

static void
every_size(void **state)
{
	(void)state;
	srand(1);
	for (size_t n = 1; n <= ITEMS_MAX; n++)
	{
		/* No larger than they need be, so that a read behind them is seen. */
		double *a = malloc(n * sizeof(*a));
		double *b = malloc(n * sizeof(*b));
		float *a32 = malloc(n * sizeof(*a32));
		float *b32 = malloc(n * sizeof(*b32));

		for (size_t i = 0; i < n; i++)
		{
			a32[i] = (float)rand() / (float)RAND_MAX - 0.5f;
			b32[i] = (float)rand() / (float)RAND_MAX - 0.5f;
			a[i] = (double)a32[i];
			b[i] = (double)b32[i];
		}
		for (int metric = LNC_METRIC_L2; metric <= LNC_METRIC_DOT; metric++)
		{
			double expected = plain((LncMetric)metric, a, b, n);

			assert_true(fabs(lnc_distance_float64((LncMetric)metric, a, b, n) - expected) < 1e-12);
			assert_true(fabs((double)lnc_distance_float32((LncMetric)metric, a32, b32, n) - expected) < 1e-4);
		}
		assert_true(lnc_distance_float32(LNC_METRIC_L2, a32, a32, n) == 0);
		free(a);
		free(b);
		free(a32);
		free(b32);
	}
}

static void
odd_vectors(void **state)
{
	static const float zeros[] = {0, 0, 0};
	static const float some[] = {1, 2, 3};

	(void)state;
	assert_true(lnc_distance_float32(LNC_METRIC_L2, some, some, 0) == 0);
	assert_true(isnan(lnc_distance_float32(LNC_METRIC_COSINE, zeros, some, 3)));
	assert_true(lnc_distance_float32(LNC_METRIC_DOT, zeros, some, 3) == 1);
	assert_true(lnc_float16_value(0x3c00) == 1 && lnc_float16_value(0xc000) == -2 &&
				isinf(lnc_float16_value(0x7c00)));
	assert_true(isnan(lnc_float16_value(0x7e00)) && lnc_float16_value(0x0001) == 0x1p-24f);
	assert_true(lnc_bfloat16_value(0x3f80) == 1 && lnc_bfloat16_value(0xc000) == -2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_size, setup, teardown),
		cmocka_unit_test_setup_teardown(odd_vectors, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
