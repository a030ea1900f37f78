/*
 * nearest_search.c
 *	  The rows nearest to a vector: one look at all vectors.
 *
 * Distances of pgvector are to be its own to the last bit, but a call for each row costs more than all else. So the
 * library's distance is taken first, and pgvector is asked where the difference that rounding makes might matter.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "executor/executor.h"
#include "fdw/nearest.h"
#include "parser/parse_coerce.h"
#include "pg/report.h"
#include "pg/vector.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

/* A batch's vectors are to take about so many bytes, but there are to be so many of them. */
#define CACHED_BYTES (256.0 * 1024)
#define LEAST_ROWS 64

/* Candidates that there is room for at first. */
#define FIRST_ROOM 1024

typedef struct Candidate
{
	int rank; /* 0: a number, 1: NaN, 2: NULL */
	double distance;
	uint64 place; /* in the order of the rows */
	uint64 address;
} Candidate;

/* The nearest so far: a heap whose first is the farthest, and the addresses of later ones that are just as far as that. */
typedef struct Nearest
{
	Candidate *heap;
	int64 count;
	int64 room;
	int64 most;
	uint64 seen; /* rows */

	bool wants_ties;
	uint64 *ties;
	int64 nties;
	int64 ties_room;
} Nearest;

/* What distances are taken to. */
typedef struct Sought
{
	bool isnull;
	Datum value;
	bool read;         /* the vector has been, or there can be none */
	bool has_distance; /* of the library */
	LncVector vector;
	double squares;  /* sum of the vector's, where pgvector's distances are wanted */
	LncVector zeros; /* as many, there too */
	double *bounds;  /* values of the search's bounds */
	bool nothing;    /* a bound is NULL, no row passes */
	int64 count;     /* rows wanted */
} Sought;

/* What the search works on. */
typedef struct Work
{
	LanceLibrary *lib;
	LncArena *scratch;
	const LanceNearestSearch *search;
	Nearest nearest;
	Sought sought;
	MemoryContext row; /* of values for pgvector */
} Work;

/* ---- the nearest so far */

/* How far, without regard to the order of the rows. */
static int
compare_distances(const Candidate *x, const Candidate *y)
{
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->rank == 0 && x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return 0;
}

/* Of equally near rows the one that comes first is nearer. */
static int
compare_candidates(const void *a, const void *b)
{
	const Candidate *x = a;
	const Candidate *y = b;
	int order = compare_distances(x, y);

	if (order != 0)
		return order;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void
sift_down(Nearest *nearest, Candidate candidate)
{
	int64 at = 0;

	for (;;)
	{
		int64 child = 2 * at + 1;

		if (child >= nearest->count)
			break;
		if (child + 1 < nearest->count && compare_candidates(&nearest->heap[child + 1], &nearest->heap[child]) > 0)
			child++;
		if (compare_candidates(&nearest->heap[child], &candidate) <= 0)
			break;
		nearest->heap[at] = nearest->heap[child];
		at = child;
	}
	nearest->heap[at] = candidate;
}

static void
add_tie(Nearest *nearest, uint64 address)
{
	if (nearest->nties == nearest->ties_room)
	{
		nearest->ties_room = Max(64, nearest->ties_room * 2);
		nearest->ties = nearest->ties == NULL ? palloc(nearest->ties_room * sizeof(uint64))
											  : repalloc_huge(nearest->ties, nearest->ties_room * sizeof(uint64));
	}
	nearest->ties[nearest->nties++] = address;
}

/* Candidates come in the order of the rows: one that is as far as the farthest is behind it. */
static void
offer(Nearest *nearest, Candidate candidate)
{
	int64 at = nearest->count;

	if (nearest->count == nearest->most)
	{
		Candidate farthest = nearest->heap[0];
		int order = compare_distances(&candidate, &farthest);

		if (order < 0)
		{
			sift_down(nearest, candidate);
			if (compare_distances(&nearest->heap[0], &farthest) != 0)
				nearest->nties = 0;
			else if (nearest->wants_ties)
				add_tie(nearest, farthest.address);
		}
		else if (order == 0 && nearest->wants_ties)
			add_tie(nearest, candidate.address);
		return;
	}
	if (nearest->count == nearest->room)
	{
		nearest->room = Min(nearest->room * 2, nearest->most);
		nearest->heap = repalloc_huge(nearest->heap, nearest->room * sizeof(Candidate));
	}
	nearest->count++;
	while (at > 0 && compare_candidates(&nearest->heap[(at - 1) / 2], &candidate) < 0)
	{
		nearest->heap[at] = nearest->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	nearest->heap[at] = candidate;
}

/* ---- distances */

static bool
passes_bounds(const Work *work, double distance)
{
	for (int i = 0; i < work->search->nbounds; i++)
	{
		double bound = work->sought.bounds[i];

		switch (work->search->bounds[i].strategy)
		{
			case BTLessStrategyNumber:
				if (!float8_lt(distance, bound))
					return false;
				break;
			case BTLessEqualStrategyNumber:
				if (!float8_le(distance, bound))
					return false;
				break;
			case BTGreaterEqualStrategyNumber:
				if (!float8_ge(distance, bound))
					return false;
				break;
			default:
				if (!float8_gt(distance, bound))
					return false;
				break;
		}
	}
	return true;
}

/* Without a vector to compare it with, no query is wrong. */
static void
read_query(Work *work, const LncColumn *vectors)
{
	Sought *sought = &work->sought;
	LncVectorKind kind = work->search->kind;
	int64 row = 0;

	while (row < vectors->length && lnc_vector_is_null(vectors, row))
		row++;
	if (row == vectors->length)
		return;
	sought->read = true;
	if (sought->isnull || !lance_vector_read(kind, sought->value, &sought->vector))
		return;
	if (sought->vector.size != vectors->type->list_size)
		lance_vector_sizes_differ(kind, vectors->type->list_size, sought->vector.size);
	sought->has_distance = true;
}

static void
measure(Work *work, LncMetric metric, const LncColumn *vectors, const LncVector *query, double **distances,
		bool **isnull)
{
	LncContext *ctx = &work->lib->ctx;

	lance_check(ctx, LNC_NEW(ctx, work->scratch, distances, vectors->length));
	lance_check(ctx, LNC_NEW(ctx, work->scratch, isnull, vectors->length));
	if (query == NULL)
		memset(*isnull, true, vectors->length * sizeof(**isnull));
	else
		lance_check(ctx, lnc_distances(ctx, work->scratch, metric, vectors, query, *distances, *isnull));
}

static void
offer_batch(Work *work, const LncColumn *vectors, const uint64_t *addresses)
{
	Nearest *nearest = &work->nearest;
	double *distances;
	bool *isnull;

	if (!work->sought.read)
		read_query(work, vectors);
	measure(work, work->search->metric, vectors, work->sought.has_distance ? &work->sought.vector : NULL,
			&distances, &isnull);
	for (int64 row = 0; row < vectors->length; row++)
	{
		Candidate candidate = {.distance = distances[row], .place = nearest->seen + row, .address = addresses[row]};

		/* Most rows are farther than all that were kept. */
		if (nearest->count == nearest->most && nearest->heap[0].rank == 0 &&
			(isnull[row] || !(distances[row] <= nearest->heap[0].distance)))
			continue;
		if (work->search->nbounds > 0 && (isnull[row] || !passes_bounds(work, distances[row])))
			continue;
		candidate.rank = isnull[row] ? 2 : isnan(distances[row]) ? 1 : 0;
		offer(nearest, candidate);
	}
	nearest->seen += vectors->length;
}

/* ---- distances of pgvector */

/* Whether the column's type holds each item of the dataset's vectors as it is. */
static bool
holds_items(const LanceConverter *converter, const LncColumn *vectors)
{
	HeapTuple tuple;
	bool half;

	switch (vectors->type->children[0].type.kind)
	{
		case LNC_TYPE_FLOAT16:
			return true;
		case LNC_TYPE_BFLOAT16:
		case LNC_TYPE_FLOAT32:
			break;
		default:
			return false;
	}
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(converter->pg_type));
	if (!HeapTupleIsValid(tuple))
		return false;
	half = strcmp(NameStr(((Form_pg_type)GETSTRUCT(tuple))->typname), "halfvec") == 0;
	ReleaseSysCache(tuple);
	return !half;
}

/* The query as floats, by its type's cast to real[], where the library's distances are near pgvector's. */
static void
read_pgvector_query(Work *work, const LncColumn *vectors)
{
	Sought *sought = &work->sought;
	Oid cast = InvalidOid;
	LncVector zeros = {.kind = LNC_VECTOR_FLOAT32};

	sought->read = true;
	if (!holds_items(work->search->converter, vectors) ||
		find_coercion_pathway(FLOAT4ARRAYOID, work->search->converter->pg_type, COERCION_EXPLICIT, &cast) !=
			COERCION_PATH_FUNC ||
		get_func_nargs(cast) != 3)
		return;
	if (!lance_vector_read(LNC_VECTOR_FLOAT32,
						   OidFunctionCall3(cast, sought->value, Int32GetDatum(-1), BoolGetDatum(false)),
						   &sought->vector) ||
		sought->vector.size != vectors->type->list_size)
		return;
	zeros.size = sought->vector.size;
	zeros.items = palloc0(zeros.size * sizeof(float));
	sought->squares = lnc_distance(LNC_METRIC_L2, &sought->vector, &zeros);
	sought->zeros = zeros;
	sought->has_distance = true;
}

/* Squares outside of these may have lost digits, or be infinite where pgvector's are not. */
#define LEAST_SQUARES 1e-25
#define MOST_SQUARES 1e35

/*
 * Whether a row is farther than the farthest so far by pgvector's reckoning too. Both sum n numbers in float32, in some
 * order: each sum is off by at most n roundings of the sum of their absolute values, products and quotients by some more.
 * squares: the sum of the row's squared items, for products.
 */
static bool
is_farther(const Work *work, double distance, double squares, double farthest)
{
	const Sought *sought = &work->sought;
	double error = ((double)sought->vector.size + 8) * FLT_EPSILON;

	if (!isfinite(distance))
		return false;
	switch (work->search->metric)
	{
		case LNC_METRIC_EUCLIDEAN:
		case LNC_METRIC_L1:
			return distance * (1 - 4 * error) - 1e-18 > farthest;
		case LNC_METRIC_COSINE:
			return sought->squares > LEAST_SQUARES && sought->squares < MOST_SQUARES && squares > LEAST_SQUARES &&
				   squares < MOST_SQUARES && distance - 8 * error > farthest;
		case LNC_METRIC_PRODUCT:
			return sought->squares < MOST_SQUARES && squares < MOST_SQUARES &&
				   distance - 4 * error * (sqrt(squares) + 1e-20) * (sqrt(sought->squares) + 1e-20) - 1e-30 >
					   farthest;
		default:
			return false;
	}
}

/* A NULL query is compared with nothing. */
static void
offer_pgvector_batch(Work *work, const LncColumn *vectors, const uint64_t *addresses)
{
	Nearest *nearest = &work->nearest;
	Sought *sought = &work->sought;
	bool products = work->search->metric == LNC_METRIC_COSINE || work->search->metric == LNC_METRIC_PRODUCT;
	double *distances = NULL;
	double *squares = NULL;
	bool *isnull = NULL;

	if (!sought->read && !sought->isnull)
		read_pgvector_query(work, vectors);
	if (sought->has_distance)
		measure(work, work->search->metric, vectors, &sought->vector, &distances, &isnull);
	if (sought->has_distance && products)
		measure(work, LNC_METRIC_L2, vectors, &sought->zeros, &squares, &isnull);
	for (int64 row = 0; row < vectors->length; row++)
	{
		bool null = sought->isnull || lnc_column_is_null(vectors, row);
		Candidate candidate = {.rank = 2, .place = nearest->seen + row, .address = addresses[row]};

		if (!null)
		{
			MemoryContext old;

			if (sought->has_distance && !isnull[row] && nearest->count == nearest->most &&
				nearest->heap[0].rank == 0 &&
				is_farther(work, distances[row], products ? squares[row] : 0, nearest->heap[0].distance))
				continue;
			old = MemoryContextSwitchTo(work->row);
			candidate.distance =
				DatumGetFloat8(FunctionCall2(unconstify(FmgrInfo *, &work->search->distance),
											 lance_convert(work->search->converter, vectors, row), sought->value));
			MemoryContextSwitchTo(old);
			MemoryContextReset(work->row);
			candidate.rank = isnan(candidate.distance) ? 1 : 0;
		}
		if (work->search->nbounds > 0 && (null || !passes_bounds(work, candidate.distance)))
			continue;
		offer(nearest, candidate);
	}
	nearest->seen += vectors->length;
}

/* ---- the search */

void
lance_nearest_prepare(LanceNearestSearch *search, List *expressions, const LanceConverter *converter,
					  PlanState *parent)
{
	search->converter = converter;
	search->query = ExecInitExpr(linitial(expressions), parent);
	for (int i = 0; i < search->nbounds; i++)
		search->bounds[i].expression = ExecInitExpr(list_nth(expressions, 1 + i), parent);
	if (search->varies)
	{
		search->limit = ExecInitExpr(list_nth(expressions, 1 + search->nbounds), parent);
		search->offset = ExecInitExpr(list_nth(expressions, 2 + search->nbounds), parent);
	}
	if (OidIsValid(search->function))
		fmgr_info_cxt(search->function, &search->distance, CurrentMemoryContext);
}

/* LIMIT and OFFSET together: NULL is no limit, and what is negative is for the executor to refuse. */
static int64
evaluate_count(const LanceNearestSearch *search, ExprContext *econtext)
{
	bool no_limit;
	bool no_offset;
	Datum limit;
	Datum offset;
	int64 count;

	if (!search->varies)
		return search->count;
	limit = ExecEvalExprSwitchContext(search->limit, econtext, &no_limit);
	offset = ExecEvalExprSwitchContext(search->offset, econtext, &no_offset);
	if (no_limit || pg_add_s64_overflow(DatumGetInt64(limit), no_offset ? 0 : DatumGetInt64(offset), &count))
		return PG_INT64_MAX;
	return count;
}

/* The values of query and bounds, in the current memory context as far as they are not in the plan. */
static void
evaluate(const LanceNearestSearch *search, ExprContext *econtext, Sought *sought)
{
	memset(sought, 0, sizeof(*sought));
	sought->value = ExecEvalExprSwitchContext(search->query, econtext, &sought->isnull);
	sought->count = evaluate_count(search, econtext);
	sought->bounds = palloc((search->nbounds + 1) * sizeof(double));
	for (int i = 0; i < search->nbounds; i++)
	{
		bool isnull;
		Datum bound = ExecEvalExprSwitchContext(search->bounds[i].expression, econtext, &isnull);

		sought->nothing = sought->nothing || isnull;
		sought->bounds[i] = isnull ? 0 : DatumGetFloat8(bound);
	}
}

/* So many rows a batch that distances find the vectors in the processor's cache, where the reader has left them. */
static int64
cached_rows(const LncDataset *dataset, const LncScanSpec *spec)
{
	double width = 1;

	for (int32 i = 0; i < spec->ncolumns; i++)
		width += (double)lnc_type_width(&dataset->schema.fields[spec->columns[i]].type);
	return (int64)Max(LEAST_ROWS, Min(spec->batch_rows, CACHED_BYTES / width));
}

static void
look_at_all(Work *work, const LncDataset *dataset, LncArena *arena, const LncScanSpec *spec, int32 vectors,
			LncScanStats *stats)
{
	LncContext *ctx = &work->lib->ctx;
	LncScanSpec with_addresses = *spec;
	LncScan *scan;

	with_addresses.system_columns = LNC_SYSTEM_ROW_ADDRESS;
	if (spec->filter == NULL)
		with_addresses.batch_rows = cached_rows(dataset, spec);
	lance_check(ctx, lnc_arena_create_child(ctx, arena, &work->scratch));
	lance_check(ctx, lnc_scan_open(ctx, arena, dataset, &with_addresses, &scan));
	for (;;)
	{
		const LncBatch *batch;
		const uint64_t *addresses;

		lance_check(ctx, lnc_scan_next(ctx, scan, &batch));
		if (batch == NULL)
			break;
		addresses = batch->columns[batch->ncolumns - 1].values;
		lnc_arena_reset(work->scratch);
		if (OidIsValid(work->search->function))
			offer_pgvector_batch(work, &batch->columns[vectors], addresses);
		else
			offer_batch(work, &batch->columns[vectors], addresses);
	}
	lnc_scan_stats(scan, stats);
}

uint64 *
lance_nearest_find(LanceLibrary *lib, const LncDataset *dataset, LanceNearestSearch *search, ExprContext *econtext,
				   const LncScanSpec *spec, int32 vectors, size_t *found, LncScanStats *stats)
{
	Work work = {.lib = lib, .search = search};
	Nearest *nearest = &work.nearest;
	uint64 *addresses;

	evaluate(search, econtext, &work.sought);
	*found = 0;
	if (work.sought.nothing || work.sought.count < 1)
		return palloc(sizeof(*addresses));
	nearest->most = work.sought.count;
	nearest->wants_ties = search->ties;
	nearest->room = Min(nearest->most, FIRST_ROOM);
	nearest->heap = palloc(nearest->room * sizeof(Candidate));
	work.row = AllocSetContextCreate(CurrentMemoryContext, "lance vector", ALLOCSET_SMALL_SIZES);
	if (search->arena == NULL)
		lance_check(&lib->ctx, lnc_arena_create_child(&lib->ctx, lib->arena, &search->arena));
	look_at_all(&work, dataset, search->arena, spec, vectors, stats);
	lnc_arena_reset(search->arena);
	MemoryContextDelete(work.row);
	qsort(nearest->heap, nearest->count, sizeof(Candidate), compare_candidates);
	*found = (size_t)(nearest->count + nearest->nties);
	addresses = palloc_extended(Max(*found, 1) * sizeof(*addresses), MCXT_ALLOC_HUGE);
	for (int64 i = 0; i < nearest->count; i++)
		addresses[i] = nearest->heap[i].address;
	if (nearest->nties > 0)
		memcpy(addresses + nearest->count, nearest->ties, nearest->nties * sizeof(*addresses));
	pfree(nearest->heap);
	return addresses;
}
