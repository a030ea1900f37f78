/*
 * distance_test.c
 *	  Distances of vectors of every size, against sums made one after the other.
 */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "column/distance.h"

#include "column/distance_sums.h"

#define ITEMS_MAX 70

static double
plain(LncMetric metric, const double *a, const double *b, size_t n)
{
	double squares = 0;
	double products = 0;
	double differences = 0;
	double aa = 0;
	double bb = 0;

	for (size_t i = 0; i < n; i++)
	{
		squares += (a[i] - b[i]) * (a[i] - b[i]);
		products += a[i] * b[i];
		differences += fabs(a[i] - b[i]);
		aa += a[i] * a[i];
		bb += b[i] * b[i];
	}
	switch (metric)
	{
		case LNC_METRIC_L2:
			return squares;
		case LNC_METRIC_EUCLIDEAN:
			return sqrt(squares);
		case LNC_METRIC_COSINE:
			return 1 - products / sqrt(aa * bb);
		case LNC_METRIC_DOT:
			return 1 - products;
		case LNC_METRIC_PRODUCT:
			return -products;
		default:
			return differences;
	}
}

static double
distance(LncMetric metric, LncVectorKind kind, const void *a, const void *b, size_t n)
{
	LncVector x = {.kind = kind, .size = (int64_t)n, .items = a};
	LncVector y = {.kind = kind, .size = (int64_t)n, .items = b};

	assert_true(lnc_distance_exists(metric, kind));
	return lnc_distance(metric, &x, &y);
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
		int16_t *a16 = malloc(n * sizeof(*a16));
		int16_t *b16 = malloc(n * sizeof(*b16));
		double bits = 0;

		for (size_t i = 0; i < n; i++)
		{
			a32[i] = (float)rand() / (float)RAND_MAX - 0.5f;
			b32[i] = (float)rand() / (float)RAND_MAX - 0.5f;
			a[i] = (double)a32[i];
			b[i] = (double)b32[i];
		}
		for (int metric = LNC_METRIC_L2; metric <= LNC_METRIC_L1; metric++)
		{
			double expected = plain((LncMetric)metric, a, b, n);

			assert_true(fabs(distance((LncMetric)metric, LNC_VECTOR_FLOAT64, a, b, n) - expected) < 1e-12);
			assert_true(fabs(distance((LncMetric)metric, LNC_VECTOR_FLOAT32, a32, b32, n) - expected) < 1e-4);
		}
		assert_true(distance(LNC_METRIC_L2, LNC_VECTOR_FLOAT32, a32, a32, n) == 0);
		for (size_t i = 0; i < n; i++)
		{
			/* The ends of the range too, whose squares need 32 bits. */
			a16[i] = i % 3 == 0 ? INT16_MIN : (int16_t)rand();
			b16[i] = i % 2 == 0 ? INT16_MAX : (int16_t)rand();
			a[i] = a16[i];
			b[i] = b16[i];
			bits += __builtin_popcount((uint16_t)(a16[i] ^ b16[i]));
		}
		for (int metric = LNC_METRIC_L2; metric <= LNC_METRIC_L1; metric++)
		{
			double expected = plain((LncMetric)metric, a, b, n);
			double found = distance((LncMetric)metric, LNC_VECTOR_INT16, a16, b16, n);

			assert_true(metric == LNC_METRIC_COSINE ? fabs(found - expected) < 1e-12 : found == expected);
		}
		assert_true(distance(LNC_METRIC_HAMMING, LNC_VECTOR_INT16, a16, b16, n) == bits);
		assert_true(distance(LNC_METRIC_HAMMING, LNC_VECTOR_BITS, a16, b16, n * 2) == bits);
		free(a);
		free(b);
		free(a32);
		free(b32);
		free(a16);
		free(b16);
	}
}

/* The loops for all registers that the processor has give the same to the last bit, at any alignment. */
static void
every_processor(void **state)
{
	const LncDistanceLoops *least = lnc_distance_loops_of(0);
	char *a = malloc(3 * ITEMS_MAX * 8 + 1);
	char *b = malloc(ITEMS_MAX * 8 + 1);
	int levels = 0;

	(void)state;
	srand(2);
	for (int level = 0; level < LNC_DISTANCE_LEVELS; level++)
	{
		const LncDistanceLoops *loops = lnc_distance_loops_of(level);

		if (loops == NULL)
			continue;
		levels++;
		for (size_t n = 0; n <= ITEMS_MAX; n++)
		{
			const LncSums floats[] = {loops->squares[0], loops->products[0], loops->differences[0]};
			const LncSums doubles[] = {loops->squares[1], loops->products[1], loops->differences[1]};
			const LncSums least_floats[] = {least->squares[0], least->products[0], least->differences[0]};
			const LncSums least_doubles[] = {least->squares[1], least->products[1], least->differences[1]};
			double out[2][3];
			double norms[2][3];

			for (size_t i = 0; i < 3 * n; i++)
			{
				float value = (float)rand() / (float)RAND_MAX - 0.5f;

				memcpy(a + 1 + i * 4, &value, 4);
				value = (float)rand() / (float)RAND_MAX - 0.5f;
				if (i < n)
					memcpy(b + 1 + i * 4, &value, 4);
			}
			for (int i = 0; i < 3; i++)
			{
				floats[i](a + 1, 3, b + 1, n, out[0]);
				least_floats[i](a + 1, 3, b + 1, n, out[1]);
				assert_memory_equal(out[0], out[1], sizeof(out[0]));
			}
			loops->angles[0](a + 1, 3, b + 1, n, out[0], norms[0]);
			least->angles[0](a + 1, 3, b + 1, n, out[1], norms[1]);
			assert_memory_equal(out[0], out[1], sizeof(out[0]));
			assert_memory_equal(norms[0], norms[1], sizeof(norms[0]));
			for (size_t i = 0; i < 3; i++)
			{
				loops->products[0](a + 1 + i * n * 4, 1, a + 1 + i * n * 4, n, out[0]);
				assert_true(out[0][0] == norms[0][i]);
			}
			for (size_t i = 0; i < 3 * n; i++)
			{
				double value = (double)rand() / RAND_MAX - 0.5;

				memcpy(a + 1 + i * 8, &value, 8);
				value = (double)rand() / RAND_MAX - 0.5;
				if (i < n)
					memcpy(b + 1 + i * 8, &value, 8);
			}
			for (int i = 0; i < 3; i++)
			{
				doubles[i](a + 1, 3, b + 1, n, out[0]);
				least_doubles[i](a + 1, 3, b + 1, n, out[1]);
				assert_memory_equal(out[0], out[1], sizeof(out[0]));
			}
			loops->angles[1](a + 1, 3, b + 1, n, out[0], norms[0]);
			least->angles[1](a + 1, 3, b + 1, n, out[1], norms[1]);
			assert_memory_equal(out[0], out[1], sizeof(out[0]));
			assert_memory_equal(norms[0], norms[1], sizeof(norms[0]));
		}
	}
	assert_true(levels >= 1);
	free(a);
	free(b);
}

/* Columns of every type of items give what their items give one by one. */
static void
every_type(void **state)
{
	static const LncTypeKind kinds[] = {LNC_TYPE_FLOAT16, LNC_TYPE_BFLOAT16, LNC_TYPE_FLOAT32, LNC_TYPE_FLOAT64,
										LNC_TYPE_INT8,    LNC_TYPE_UINT8,    LNC_TYPE_INT16};
	/* Whole blocks of lanes, and not; more rows than are taken at once. */
	static const int32_t sizes[] = {1, 7, 16, 100};
	static const int64_t rows = 3000;

	(void)state;
	srand(3);
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
	{
		for (size_t size = 0; size < sizeof(sizes) / sizeof(*sizes); size++)
		{
			int32_t n = sizes[size];
			LncField item = {.type = {.kind = kinds[k]}};
			LncType type = {.kind = LNC_TYPE_FIXED_LIST, .list_size = n, .nchildren = 1, .children = &item};
			size_t width = (size_t)lnc_type_width(&item.type);
			char *values = malloc((size_t)rows * (size_t)n * width);
			uint8_t *validity = malloc((size_t)rows / 8 + 1);
			uint8_t *item_validity = malloc((size_t)rows * (size_t)n / 8 + 1);
			double *wide = malloc((size_t)rows * (size_t)n * sizeof(*wide));
			double *distances = malloc((size_t)rows * sizeof(*distances));
			bool *isnull = malloc((size_t)rows);
			LncColumn items = {.type = &item.type, .length = rows * n, .values = values, .validity = item_validity};
			LncColumn column = {
				.type = &type, .length = rows, .validity = validity, .nchildren = 1, .children = &items};

			memset(validity, 0xfb, (size_t)rows / 8 + 1);
			memset(item_validity, 0xff, (size_t)rows * (size_t)n / 8 + 1);
			item_validity[0] &= 0xfe;
			for (int64_t i = 0; i < rows * n; i++)
			{
				/* Numbers that all types have. */
				int number = rand() % 100;
				float value = (float)number;
				double value64 = number;
				int16_t value16 = (int16_t)number;
				uint8_t value8 = (uint8_t)number;
				uint32_t bits;
				uint16_t half = 0;

				memcpy(&bits, &value, sizeof(bits));
				if (kinds[k] == LNC_TYPE_BFLOAT16)
					half = (uint16_t)(bits >> 16);
				else if (number > 0)
					half = (uint16_t)(((bits >> 23) - 112) << 10 | ((bits >> 13) & 0x3ff));
				wide[i] = number;
				memcpy(values + (size_t)i * width,
					   width == 1                   ? (void *)&value8
					   : width == 8                 ? (void *)&value64
					   : width == 4                 ? (void *)&value
					   : kinds[k] == LNC_TYPE_INT16 ? (void *)&value16
													: (void *)&half,
					   width);
			}
			for (int kind = LNC_VECTOR_FLOAT32; kind <= LNC_VECTOR_BITS; kind++)
			{
				double query64[100];
				float query32[100];
				int16_t query16[100];
				LncVector query = {.kind = (LncVectorKind)kind, .size = n};

				assert_true(lnc_distance_accepts(&type, LNC_VECTOR_FLOAT64));
				if (!lnc_distance_accepts(&type, (LncVectorKind)kind))
					continue;
				for (int i = 0; i < n; i++)
				{
					query64[i] = query32[i] = query16[i] = (int16_t)(i % 5 == 0 ? 255 - i : i - 20);
					if (size == 3 && i == 3)
						query64[i] = query32[i] = query16[i] = 1000;
				}
				query.items = kind == LNC_VECTOR_FLOAT32   ? (void *)query32
							  : kind == LNC_VECTOR_FLOAT64 ? (void *)query64
														   : (void *)query16;
				for (int metric = LNC_METRIC_L2; metric <= LNC_METRIC_HAMMING; metric++)
				{
					if (!lnc_distance_exists((LncMetric)metric, (LncVectorKind)kind))
						continue;
					assert_int_equal(
						lnc_distances(&ctx, arena, (LncMetric)metric, &column, &query, distances, isnull), LNC_OK);
					for (int64_t row = 0; row < rows; row++)
					{
						float row32[100];
						int16_t row16[100];
						const double *row64 = wide + row * n;
						double expected;

						assert_int_equal(isnull[row], row % 8 == 2 || row == 0);
						if (isnull[row])
						{
							assert_true(distances[row] == 0);
							continue;
						}
						for (int i = 0; i < n; i++)
						{
							row32[i] = (float)row64[i];
							row16[i] = (int16_t)row64[i];
						}
						expected = distance((LncMetric)metric, (LncVectorKind)kind,
											kind == LNC_VECTOR_FLOAT32   ? (const void *)row32
											: kind == LNC_VECTOR_FLOAT64 ? (const void *)row64
																		 : (const void *)row16,
											query.items, (size_t)n);
						if (isnan(expected))
							assert_true(isnan(distances[row]));
						else
							assert_true(distances[row] == expected);
					}
				}
			}
			free(values);
			free(validity);
			free(item_validity);
			free(wide);
			free(distances);
			free(isnull);
		}
	}
}

static void
bits_of_binaries(void **state)
{
	static const char values[] = "abcdefghijkABCDEFGHIJKabcdefghijK";
	static const uint8_t validity[] = {5};
	LncType type = {.kind = LNC_TYPE_FIXED_BINARY, .list_size = 11};
	LncColumn column = {.type = &type, .length = 3, .values = values, .validity = validity};
	LncVector query = {.kind = LNC_VECTOR_BITS, .size = 11, .items = "abcdefghijk"};
	double distances[3];
	bool isnull[3];

	(void)state;
	assert_true(lnc_distance_accepts(&type, LNC_VECTOR_BITS) && !lnc_distance_accepts(&type, LNC_VECTOR_INT16));
	assert_int_equal(lnc_distances(&ctx, arena, LNC_METRIC_HAMMING, &column, &query, distances, isnull), LNC_OK);
	assert_true(distances[0] == 0 && !isnull[0] && isnull[1] && distances[2] == 1 && !isnull[2]);
}

static void
odd_vectors(void **state)
{
	static const float zeros[] = {0, 0, 0};
	static const float some[] = {1, 2, 3};
	static const int16_t nothing[] = {0, 0};

	(void)state;
	assert_true(distance(LNC_METRIC_L2, LNC_VECTOR_FLOAT32, some, some, 0) == 0);
	assert_true(isnan(distance(LNC_METRIC_COSINE, LNC_VECTOR_FLOAT32, zeros, some, 3)));
	assert_true(isnan(distance(LNC_METRIC_COSINE, LNC_VECTOR_INT16, nothing, nothing, 2)));
	assert_true(distance(LNC_METRIC_DOT, LNC_VECTOR_FLOAT32, zeros, some, 3) == 1);
	assert_false(lnc_distance_exists(LNC_METRIC_HAMMING, LNC_VECTOR_FLOAT32));
	assert_false(lnc_distance_exists(LNC_METRIC_L2, LNC_VECTOR_BITS));
	assert_true(lnc_float16_value(0x3c00) == 1 && lnc_float16_value(0xc000) == -2 &&
				isinf(lnc_float16_value(0x7c00)));
	assert_true(isnan(lnc_float16_value(0x7e00)) && lnc_float16_value(0x0001) == 0x1p-24f);
	assert_true(lnc_float16_value(0x83ff) == -0x1.ff8p-15f && signbit(lnc_float16_value(0x8000)));
	assert_true(lnc_float16_value(0x7bff) == 65504 && lnc_float16_value(0xfc00) == -INFINITY);
	assert_true(lnc_bfloat16_value(0x3f80) == 1 && lnc_bfloat16_value(0xc000) == -2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_size, setup, teardown),
		cmocka_unit_test_setup_teardown(every_processor, setup, teardown),
		cmocka_unit_test_setup_teardown(every_type, setup, teardown),
		cmocka_unit_test_setup_teardown(bits_of_binaries, setup, teardown),
		cmocka_unit_test_setup_teardown(odd_vectors, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
