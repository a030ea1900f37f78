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
#include "fdw/nearest_heap.h"
#include "parser/parse_coerce.h"
#include "pg/report.h"
#include "pg/vector.h"
#include "scan/take.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

/* A batch's vectors are to take about so many bytes, but there are to be so many of them. */
#define CACHED_BYTES (256.0 * 1024)
#define LEAST_ROWS 64

/* Addresses that there is room for at first. */
#define FIRST_ROOM 1024

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
	const LncDataset *dataset;
	LncArena *scratch;
	const LanceNearestSearch *search;
	LanceNearestHeap nearest;
	Sought sought;
	MemoryContext row; /* of values for pgvector */
} Work;

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
	LanceNearestHeap *nearest = &work->nearest;
	double *distances;
	bool *isnull;

	if (!work->sought.read)
		read_query(work, vectors);
	measure(work, work->search->metric, vectors, work->sought.has_distance ? &work->sought.vector : NULL,
			&distances, &isnull);
	for (int64 row = 0; row < vectors->length; row++)
	{
		LanceCandidate candidate = {
			.distance = distances[row], .place = nearest->seen + row, .address = addresses[row]};

		/* Most rows are farther than all that were kept. */
		if (nearest->count == nearest->most && nearest->heap[0].rank == 0 &&
			(isnull[row] || !(distances[row] <= nearest->heap[0].distance)))
			continue;
		if (work->search->nbounds > 0 && (isnull[row] || !passes_bounds(work, distances[row])))
			continue;
		candidate.rank = isnull[row] ? 2 : isnan(distances[row]) ? 1 : 0;
		lance_nearest_offer(nearest, candidate);
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
	LanceNearestHeap *nearest = &work->nearest;
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
		LanceCandidate candidate = {.rank = 2, .place = nearest->seen + row, .address = addresses[row]};

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
		lance_nearest_offer(nearest, candidate);
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
offer_vectors(Work *work, const LncColumn *vectors, const uint64_t *addresses)
{
	lnc_arena_reset(work->scratch);
	if (OidIsValid(work->search->function))
		offer_pgvector_batch(work, vectors, addresses);
	else
		offer_batch(work, vectors, addresses);
}

/* Look at the vectors of all rows that pass the filter. */
static void
look_at_all(Work *work, LncArena *arena, const LncScanSpec *spec, int32 vectors, LncScanStats *stats)
{
	LncContext *ctx = &work->lib->ctx;
	LncScanSpec with_addresses = *spec;
	const LncBatch *batch;
	LncScan *scan;

	with_addresses.system_columns = LNC_SYSTEM_ROW_ADDRESS;
	if (spec->filter == NULL)
		with_addresses.batch_rows = cached_rows(work->dataset, spec);
	lance_check(ctx, lnc_scan_open(ctx, arena, work->dataset, &with_addresses, &scan));
	for (;;)
	{
		lance_check(ctx, lnc_scan_next(ctx, scan, &batch));
		if (batch == NULL)
			break;
		offer_vectors(work, &batch->columns[vectors], batch->columns[batch->ncolumns - 1].values);
	}
	lnc_scan_stats(scan, stats);
}

/* ---- few rows pass: their addresses first, then their vectors */

/* What is handed out to a scan, kept so that another one can begin with it. There is no more than was made room for. */
typedef struct Ranges
{
	bool (*next)(void *arg, LncRowRange *out);
	void *arg;
	LncRowRange *kept;
	int64 count;
	int64 room;
	int64 at;  /* of those that are handed out again */
	bool lost; /* some were not kept */
} Ranges;

static bool
keep_range(void *arg, LncRowRange *out)
{
	Ranges *ranges = arg;

	if (!ranges->next(ranges->arg, out))
		return false;
	if (ranges->count < ranges->room)
		ranges->kept[ranges->count++] = *out;
	else
		ranges->lost = true;
	return true;
}

static bool
repeat_range(void *arg, LncRowRange *out)
{
	Ranges *ranges = arg;

	if (ranges->at == ranges->count)
		return ranges->next(ranges->arg, out);
	*out = ranges->kept[ranges->at++];
	return true;
}

/* The addresses of rows that pass. */
typedef struct Passed
{
	uint64 *addresses;
	size_t count;
	size_t room;
} Passed;

static void
add_passed(Passed *passed, const uint64_t *addresses, int64 count)
{
	if (passed->room - passed->count < (size_t)count)
	{
		passed->room = Max(passed->room * 2, passed->count + count);
		passed->addresses = repalloc_huge(passed->addresses, passed->room * sizeof(uint64));
	}
	memcpy(passed->addresses + passed->count, addresses, count * sizeof(uint64));
	passed->count += count;
}

/* Find the rows that pass, unless these are more than most and can be looked at in another way. */
static bool
find_passed(Work *work, LncArena *arena, const LncScanSpec *spec, const Ranges *ranges, double most, Passed *passed,
			LncScanStats *stats)
{
	LncContext *ctx = &work->lib->ctx;
	LncScanSpec only_filter = *spec;
	const LncBatch *batch;
	LncScan *scan;

	only_filter.system_columns = LNC_SYSTEM_ROW_ADDRESS;
	only_filter.nhidden = only_filter.ncolumns;
	lance_check(ctx, lnc_scan_open(ctx, arena, work->dataset, &only_filter, &scan));
	for (;;)
	{
		lance_check(ctx, lnc_scan_next(ctx, scan, &batch));
		if (batch == NULL)
			break;
		add_passed(passed, batch->columns[batch->ncolumns - 1].values, batch->length);
		if ((double)passed->count > most && !ranges->lost)
			return false;
	}
	lnc_scan_stats(scan, stats);
	return true;
}

static void
look_at_passed(Work *work, LncArena *arena, const LncScanSpec *spec, int32 vectors, const Passed *passed)
{
	LncContext *ctx = &work->lib->ctx;
	LncScanSpec only_vectors = {.ncolumns = 1, .columns = &spec->columns[vectors], .batch_rows = spec->batch_rows};
	LncTakeSpec take_spec = {
		.by = LNC_TAKE_ADDRESS,
		.ncolumns = 1,
		.columns = only_vectors.columns,
		.system_columns = LNC_SYSTEM_ROW_ADDRESS,
		.batch_rows = cached_rows(work->dataset, &only_vectors),
	};
	const LncTaken *taken;
	LncTake *take;

	lance_check(ctx, lnc_take_open(ctx, arena, work->dataset, &take_spec, &take));
	lance_check(ctx, lnc_take_start(ctx, take, passed->count, passed->addresses));
	for (;;)
	{
		lance_check(ctx, lnc_take_next(ctx, take, &taken));
		if (taken == NULL)
			break;
		offer_vectors(work, &taken->batch.columns[0], taken->batch.columns[1].values);
	}
}

/* The part of all rows that passes at most where it is worth while to know them before their vectors are read. */
#define FEW_PART (1.0 / 16)

/* Rows of a range are at least so many, but for the last ones of fragments. */
#define RANGE_ROWS 4096

static void
look_at_few(Work *work, LncArena *arena, const LncScanSpec *spec, int32 vectors, LncScanStats *stats)
{
	Ranges ranges = {.next = spec->next_range, .arg = spec->range_arg};
	LncScanSpec kept = *spec;
	Passed passed = {.room = FIRST_ROOM, .addresses = palloc(FIRST_ROOM * sizeof(uint64))};
	double rows = 0;

	for (int32 i = 0; i < work->dataset->nfragments; i++)
	{
		rows += (double)work->dataset->fragments[i].physical_rows;
		ranges.room += (int64)(work->dataset->fragments[i].physical_rows / RANGE_ROWS) + 1;
	}
	if (spec->next_range != NULL)
	{
		ranges.kept = palloc_extended(ranges.room * sizeof(*ranges.kept), MCXT_ALLOC_HUGE);
		kept.next_range = keep_range;
		kept.range_arg = &ranges;
	}
	if (find_passed(work, arena, &kept, &ranges, rows * FEW_PART, &passed, stats))
		look_at_passed(work, arena, spec, vectors, &passed);
	else
	{
		kept.next_range = spec->next_range != NULL ? repeat_range : NULL;
		look_at_all(work, arena, &kept, vectors, stats);
	}
}

/* Whether vectors are read only of rows that pass: not where the filter looks at them itself. */
static bool
is_filtered(const LncScanSpec *spec, int32 vectors)
{
	bool *used;

	if (spec->filter == NULL)
		return false;
	used = palloc0(spec->ncolumns * sizeof(*used));
	lnc_predicate_columns(spec->filter, used);
	return !used[vectors];
}

uint64 *
lance_nearest_find(LanceLibrary *lib, const LncDataset *dataset, LanceNearestSearch *search, ExprContext *econtext,
				   const LncScanSpec *spec, int32 vectors, size_t *found, LncScanStats *stats)
{
	Work work = {.lib = lib, .dataset = dataset, .search = search};
	LanceNearestHeap *nearest = &work.nearest;

	evaluate(search, econtext, &work.sought);
	*found = 0;
	if (work.sought.nothing || work.sought.count < 1)
		return palloc(sizeof(uint64));
	lance_nearest_begin(nearest, work.sought.count, search->ties);
	work.row = AllocSetContextCreate(CurrentMemoryContext, "lance vector", ALLOCSET_SMALL_SIZES);
	if (search->arena == NULL)
		lance_check(&lib->ctx, lnc_arena_create_child(&lib->ctx, lib->arena, &search->arena));
	lance_check(&lib->ctx, lnc_arena_create_child(&lib->ctx, search->arena, &work.scratch));
	(is_filtered(spec, vectors) ? look_at_few : look_at_all)(&work, search->arena, spec, vectors, stats);
	lnc_arena_reset(search->arena);
	MemoryContextDelete(work.row);
	return lance_nearest_end(nearest, found);
}
