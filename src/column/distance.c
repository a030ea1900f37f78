/*
 * distance.c
 *	  Distances between vectors.
 */
#include "column/distance.h"

#include <math.h>

#include "column/distance_sums.h"

/* Rows are taken so many at a time that what is made of them stays in the processor's cache, in bytes of their items. */
#define RUN_BYTES (32 * 1024)

bool
lnc_distance_exists(LncMetric metric, LncVectorKind kind)
{
	if (metric == LNC_METRIC_HAMMING)
		return kind == LNC_VECTOR_INT16 || kind == LNC_VECTOR_BITS;
	return kind != LNC_VECTOR_BITS;
}

static size_t
item_size(LncVectorKind kind)
{
	static const size_t sizes[] = {
		[LNC_VECTOR_FLOAT32] = sizeof(float),
		[LNC_VECTOR_FLOAT64] = sizeof(double),
		[LNC_VECTOR_INT16] = sizeof(int16_t),
		[LNC_VECTOR_BITS] = 1,
	};

	return sizes[kind];
}

/* What measuring takes: the loops, and whether the vectors are known to be small. */
typedef struct Measure
{
	LncMetric metric;
	LncVectorKind kind;
	bool small;
	const LncDistanceLoops *loops;
} Measure;

static LncSums
sums_of(const Measure *measure)
{
	const LncDistanceLoops *loops = measure->loops;

	switch (measure->metric)
	{
		case LNC_METRIC_L2:
		case LNC_METRIC_EUCLIDEAN:
			return measure->small ? loops->small_squares : loops->squares[measure->kind];
		case LNC_METRIC_COSINE:
		case LNC_METRIC_DOT:
		case LNC_METRIC_PRODUCT:
			return measure->small ? loops->small_products : loops->products[measure->kind];
		case LNC_METRIC_L1:
			return measure->small ? loops->small_differences : loops->differences[measure->kind];
		case LNC_METRIC_HAMMING:
			break;
	}
	return loops->bits;
}

/* 1 - cosine, of the products of both vectors and of each with itself. */
static double
cosine(LncVectorKind kind, double products, double a, double b)
{
	if (kind == LNC_VECTOR_FLOAT32)
		return (double)(1 - (float)products / (sqrtf((float)a) * sqrtf((float)b)));
	return 1 - products / (sqrt(a) * sqrt(b));
}

/* The products of rows with a query, and of each row with itself. */
static void
find_angles(const Measure *measure, const void *items, size_t rows, const void *query, size_t n, double *products,
			double *norms)
{
	LncSums sums = sums_of(measure);

	if (measure->kind != LNC_VECTOR_INT16)
	{
		measure->loops->angles[measure->kind](items, rows, query, n, products, norms);
		return;
	}
	sums(items, rows, query, n, products);
	for (size_t row = 0; row < rows; row++)
	{
		const char *vector = (const char *)items + row * n * sizeof(int16_t);

		sums(vector, 1, vector, n, &norms[row]);
	}
}

/* The distances of rows to a query, all of one kind and size; norms has room for rows numbers. */
static void
find_distances(const Measure *measure, const void *items, size_t rows, const void *query, size_t n, double *norms,
			   double *distances)
{
	LncVectorKind kind = measure->kind;
	double norm;

	if (measure->metric == LNC_METRIC_HAMMING)
		n *= item_size(kind);
	if (measure->metric != LNC_METRIC_COSINE)
		sums_of(measure)(items, rows, query, n, distances);
	switch (measure->metric)
	{
		case LNC_METRIC_EUCLIDEAN:
			for (size_t row = 0; row < rows; row++)
				distances[row] = sqrt(distances[row]);
			break;
		case LNC_METRIC_COSINE:
			sums_of(measure)(query, 1, query, n, &norm);
			find_angles(measure, items, rows, query, n, distances, norms);
			for (size_t row = 0; row < rows; row++)
				distances[row] = cosine(kind, distances[row], norms[row], norm);
			break;
		case LNC_METRIC_DOT:
			for (size_t row = 0; row < rows; row++)
				distances[row] =
					kind == LNC_VECTOR_FLOAT32 ? (double)(1 - (float)distances[row]) : 1 - distances[row];
			break;
		case LNC_METRIC_PRODUCT:
			for (size_t row = 0; row < rows; row++)
				distances[row] = 0 - distances[row];
			break;
		case LNC_METRIC_L2:
		case LNC_METRIC_L1:
		case LNC_METRIC_HAMMING:
			break;
	}
}

double
lnc_distance(LncMetric metric, const LncVector *a, const LncVector *b)
{
	Measure measure = {.metric = metric, .kind = a->kind, .loops = lnc_distance_loops()};
	double norm;
	double distance;

	find_distances(&measure, a->items, 1, b->items, (size_t)a->size, &norm, &distance);
	return distance;
}

/* The kind that the items of a column are of as they are, or with a loss-free change of their width. */
static bool
least_kind(LncTypeKind item, LncVectorKind *out)
{
	switch (item)
	{
		case LNC_TYPE_FLOAT16:
		case LNC_TYPE_BFLOAT16:
		case LNC_TYPE_FLOAT32:
			*out = LNC_VECTOR_FLOAT32;
			return true;
		case LNC_TYPE_FLOAT64:
			*out = LNC_VECTOR_FLOAT64;
			return true;
		case LNC_TYPE_INT8:
		case LNC_TYPE_UINT8:
		case LNC_TYPE_INT16:
			*out = LNC_VECTOR_INT16;
			return true;
		default:
			return false;
	}
}

bool
lnc_distance_accepts(const LncType *type, LncVectorKind kind)
{
	LncVectorKind least;

	if (kind == LNC_VECTOR_BITS)
		return type->kind == LNC_TYPE_FIXED_BINARY;
	if (type->kind != LNC_TYPE_FIXED_LIST || type->nchildren != 1 ||
		!least_kind(type->children[0].type.kind, &least))
		return false;
	return least == kind || kind == LNC_VECTOR_FLOAT64 || (least == LNC_VECTOR_INT16 && kind == LNC_VECTOR_FLOAT32);
}

bool
lnc_vector_is_null(const LncColumn *column, int64_t row)
{
	const LncColumn *items = column->nchildren == 1 ? &column->children[0] : NULL;
	int64_t n = column->type->list_size;

	if (lnc_column_is_null(column, row))
		return true;
	if (items == NULL || items->validity == NULL)
		return false;
	for (int64_t i = row * n; i < (row + 1) * n; i++)
	{
		if (!lnc_bit(items->validity, (uint64_t)i))
			return true;
	}
	return false;
}

/* Room for items made wider, in up to three steps; NULL where a step is not taken. */
typedef struct Widened
{
	int16_t *int16;
	float *float32;
	double *float64;
} Widened;

static LncCode
make_room(LncContext *ctx, LncArena *arena, LncTypeKind item, LncVectorKind kind, size_t count, Widened *out)
{
	bool integer = item == LNC_TYPE_INT8 || item == LNC_TYPE_UINT8 || item == LNC_TYPE_INT16;

	memset(out, 0, sizeof(*out));
	if (integer && item != LNC_TYPE_INT16)
		LNC_TRY(LNC_NEW(ctx, arena, &out->int16, count));
	if (integer ? kind != LNC_VECTOR_INT16 : item == LNC_TYPE_FLOAT16 || item == LNC_TYPE_BFLOAT16)
		LNC_TRY(LNC_NEW(ctx, arena, &out->float32, count));
	if (kind == LNC_VECTOR_FLOAT64 && item != LNC_TYPE_FLOAT64)
		LNC_TRY(LNC_NEW(ctx, arena, &out->float64, count));
	return LNC_OK;
}

static const void *
widen(const LncDistanceLoops *loops, LncTypeKind item, const void *items, size_t count, const Widened *room)
{
	if (room->int16 != NULL)
	{
		(item == LNC_TYPE_INT8 ? loops->widen_int8 : loops->widen_uint8)(items, count, room->int16);
		items = room->int16;
	}
	if (room->float32 != NULL)
	{
		(item == LNC_TYPE_FLOAT16    ? loops->widen_float16
		 : item == LNC_TYPE_BFLOAT16 ? loops->widen_bfloat16
									 : loops->widen_int16)(items, count, room->float32);
		items = room->float32;
	}
	if (room->float64 != NULL)
	{
		loops->widen_float32(items, count, room->float64);
		items = room->float64;
	}
	return items;
}

/* Whether no sum over items of that type and the query can leave 32 bits. */
static bool
is_small(LncTypeKind item, const LncVector *query)
{
	const char *items = query->items;

	if (query->kind != LNC_VECTOR_INT16 || (item != LNC_TYPE_INT8 && item != LNC_TYPE_UINT8) ||
		query->size > LNC_SMALL_SIZE)
		return false;
	for (int64_t i = 0; i < query->size; i++)
	{
		int16_t value;

		memcpy(&value, items + (size_t)i * sizeof(value), sizeof(value));
		if (value < LNC_SMALL_LEAST || value > LNC_SMALL_MOST)
			return false;
	}
	return true;
}

static void
find_nulls(const LncColumn *column, bool *isnull)
{
	bool any = column->validity != NULL || (column->nchildren == 1 && column->children[0].validity != NULL);

	memset(isnull, 0, (size_t)column->length * sizeof(*isnull));
	for (int64_t row = 0; any && row < column->length; row++)
		isnull[row] = lnc_vector_is_null(column, row);
}

LncCode
lnc_distances(LncContext *ctx, LncArena *arena, LncMetric metric, const LncColumn *column, const LncVector *query,
			  double *distances, bool *isnull)
{
	bool bits = query->kind == LNC_VECTOR_BITS;
	const LncColumn *items = bits ? column : &column->children[0];
	size_t n = (size_t)column->type->list_size;
	size_t width = bits ? n : (size_t)lnc_type_width(column->type);
	size_t most = width < RUN_BYTES ? RUN_BYTES / (width > 0 ? width : 1) : 1;
	Measure measure = {.metric = metric, .kind = query->kind, .loops = lnc_distance_loops()};
	Widened room = {0};
	double *norms;

	if (most > (size_t)column->length)
		most = (size_t)column->length;
	LNC_TRY(LNC_NEW(ctx, arena, &norms, most));
	if (!bits)
		LNC_TRY(make_room(ctx, arena, items->type->kind, query->kind, most * n, &room));
	measure.small = is_small(items->type->kind, query);
	find_nulls(column, isnull);
	for (size_t row = 0; row < (size_t)column->length; row += most)
	{
		size_t rows = (size_t)column->length - row < most ? (size_t)column->length - row : most;
		const void *vectors = (const char *)items->values + row * width;

		LNC_TRY(lnc_check_interrupt(ctx));
		vectors = widen(measure.loops, items->type->kind, vectors, rows * n, &room);
		find_distances(&measure, vectors, rows, query->items, n, norms, distances + row);
	}
	for (int64_t row = 0; row < column->length; row++)
	{
		if (isnull[row])
			distances[row] = 0;
	}
	return LNC_OK;
}
