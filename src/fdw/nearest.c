/*
 * nearest.c
 *	  The rows nearest to a vector.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/dependency.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "fdw/nearest.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "pg/installed.h"
#include "pg/report.h"
#include "pg/vector.h"
#include "scan/scan.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

/* ---- planning */

static const struct
{
	const char *symbol;
	LncMetric metric;
} metrics[] = {
	{"lance_sql_l2", LNC_METRIC_L2},
	{"lance_sql_cosine", LNC_METRIC_COSINE},
	{"lance_sql_dot", LNC_METRIC_DOT},
};

/* Which distance of the extension the function is; false for any other function. */
static bool
metric_of(Oid function, LncMetric *out)
{
	const LanceInstalled *installed = lance_installed();
	HeapTuple tuple;
	bool found = false;

	if (installed == NULL || getExtensionOfObject(ProcedureRelationId, function) != installed->extension)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return false;
	if (((Form_pg_proc)GETSTRUCT(tuple))->prolang == ClanguageId)
	{
		bool isnull;
		Datum symbol = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);

		for (size_t i = 0; !isnull && i < lengthof(metrics); i++)
		{
			if (strcmp(TextDatumGetCString(symbol), metrics[i].symbol) == 0)
			{
				*out = metrics[i].metric;
				found = true;
			}
		}
	}
	ReleaseSysCache(tuple);
	return found;
}

/* Whether the expression is the distance of a column of vectors to something that is known before the first row. */
static bool
read_distance(PlannerInfo *root, const LancePredicateTable *table, Expr *expression, LanceNearest *out)
{
	FuncExpr *call = (FuncExpr *)expression;
	Var *column;

	if (!IsA(call, FuncExpr) || list_length(call->args) != 2 || !metric_of(call->funcid, &out->metric))
		return false;
	for (int i = 0; i < 2; i++)
	{
		column = lance_predicate_column(table, list_nth(call->args, i));
		out->query = list_nth(call->args, 1 - i);
		if (column != NULL && lnc_distance_accepts(table->types[column->varattno]) &&
			bms_is_empty(pull_varnos(root, (Node *)out->query)) &&
			!contain_volatile_functions((Node *)out->query) && !contain_subplans((Node *)out->query))
		{
			out->attnum = column->varattno;
			return true;
		}
	}
	return false;
}

/* Whether the bound of LIMIT or OFFSET is the same at each execution of the plan; the planner's is an estimate. */
static bool
is_fixed(const Node *bound)
{
	return bound == NULL || IsA(bound, Const);
}

bool
lance_nearest_choose(PlannerInfo *root, RelOptInfo *baserel, const LanceAttributes *attributes, LanceNearest *out)
{
	LancePredicateTable table = {.varno = baserel->relid, .natts = attributes->natts, .types = attributes->types};
	PathKey *key;
	ListCell *lc;

	if (root->limit_tuples < 1 || root->limit_tuples > LANCE_NEAREST_MAX || !is_fixed(root->parse->limitCount) ||
		!is_fixed(root->parse->limitOffset) || root->parse->limitOption != LIMIT_OPTION_COUNT ||
		root->parse->rowMarks != NIL || list_length(root->query_pathkeys) != 1 ||
		!bms_equal(root->all_baserels, baserel->relids) || !bms_is_empty(baserel->lateral_relids))
		return false;
	key = linitial_node(PathKey, root->query_pathkeys);
	if (key->pk_strategy != BTLessStrategyNumber || key->pk_nulls_first)
		return false;
	foreach (lc, key->pk_eclass->ec_members)
	{
		EquivalenceMember *member = lfirst_node(EquivalenceMember, lc);

		if (!member->em_is_child && bms_equal(member->em_relids, baserel->relids) &&
			read_distance(root, &table, member->em_expr, out))
		{
			out->count = (int64)root->limit_tuples;
			return true;
		}
	}
	return false;
}

/* ---- searching */

typedef struct Candidate
{
	int rank; /* 0: a number, 1: NaN, 2: NULL */
	double distance;
	uint64 address;
} Candidate;

/* The nearest so far: a heap whose first is the farthest. */
typedef struct Nearest
{
	Candidate *heap;
	int64 count;
	int64 most;
} Nearest;

/* Of equally near rows the one that comes first is nearer. */
static int
compare_candidates(const void *a, const void *b)
{
	const Candidate *x = a;
	const Candidate *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->rank == 0 && x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
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
offer(Nearest *nearest, Candidate candidate)
{
	int64 at = nearest->count;

	if (nearest->count == nearest->most)
	{
		if (compare_candidates(&candidate, &nearest->heap[0]) < 0)
			sift_down(nearest, candidate);
		return;
	}
	nearest->count++;
	while (at > 0 && compare_candidates(&nearest->heap[(at - 1) / 2], &candidate) < 0)
	{
		nearest->heap[at] = nearest->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	nearest->heap[at] = candidate;
}

/* The query as both kinds of floats; NULL for both where distances to it are NULL. */
typedef struct QueryVector
{
	bool read;
	const float *items32;
	const double *items64;
} QueryVector;

/* Without a vector to compare it with, no query is wrong. */
static void
read_query(const LanceNearestSearch *search, const LncColumn *vectors, QueryVector *query)
{
	LanceVector vector;
	int64 row = 0;

	while (row < vectors->length && lnc_vector_is_null(vectors, row))
		row++;
	if (row == vectors->length)
		return;
	query->read = true;
	if (search->isnull || !lance_vector_read(DatumGetArrayTypePCopy(search->query), &vector))
		return;
	if (vector.size != vectors->type->list_size)
		lance_vector_sizes_differ(vectors->type->list_size, vector.size);
	query->items32 = vector.items32;
	query->items64 = vector.items64;
}

static void
offer_batch(Nearest *nearest, LanceLibrary *lib, LncArena *scratch, const LanceNearestSearch *search,
			const LncBatch *batch, int32 vectors, QueryVector *query)
{
	const uint64_t *addresses = batch->columns[batch->ncolumns - 1].values;
	double *distances;
	bool *isnull;

	lance_check(&lib->ctx, LNC_NEW(&lib->ctx, scratch, &distances, batch->length));
	lance_check(&lib->ctx, LNC_NEW(&lib->ctx, scratch, &isnull, batch->length));
	if (!query->read)
		read_query(search, &batch->columns[vectors], query);
	if (query->items32 == NULL && query->items64 == NULL)
		memset(isnull, true, batch->length * sizeof(*isnull));
	else
		lance_check(&lib->ctx, lnc_distances(&lib->ctx, scratch, search->metric, &batch->columns[vectors],
											 query->items32, query->items64, distances, isnull));
	for (int64 row = 0; row < batch->length; row++)
	{
		Candidate candidate = {
			.rank = isnull[row]             ? 2
					: isnan(distances[row]) ? 1
											: 0,
			.distance = distances[row],
			.address = addresses[row],
		};

		offer(nearest, candidate);
	}
}

uint64 *
lance_nearest_find(LanceLibrary *lib, const LncDataset *dataset, LanceNearestSearch *search,
				   const LncScanSpec *spec, int32 vectors, size_t *found, LncScanStats *stats)
{
	Nearest nearest = {.most = search->count, .heap = palloc(search->count * sizeof(Candidate))};
	LncScanSpec with_addresses = *spec;
	QueryVector query = {0};
	LncArena *scratch;
	LncScan *scan;
	uint64 *addresses;

	with_addresses.system_columns = LNC_SYSTEM_ROW_ADDRESS;
	if (search->arena == NULL)
		lance_check(&lib->ctx, lnc_arena_create_child(&lib->ctx, lib->arena, &search->arena));
	lance_check(&lib->ctx, lnc_arena_create_child(&lib->ctx, search->arena, &scratch));
	lance_check(&lib->ctx, lnc_scan_open(&lib->ctx, search->arena, dataset, &with_addresses, &scan));
	for (;;)
	{
		const LncBatch *batch;

		lance_check(&lib->ctx, lnc_scan_next(&lib->ctx, scan, &batch));
		if (batch == NULL)
			break;
		lnc_arena_reset(scratch);
		offer_batch(&nearest, lib, scratch, search, batch, vectors, &query);
	}
	lnc_scan_stats(scan, stats);
	lnc_arena_reset(search->arena);
	qsort(nearest.heap, nearest.count, sizeof(Candidate), compare_candidates);
	addresses = palloc(Max(nearest.count, 1) * sizeof(*addresses));
	for (int64 i = 0; i < nearest.count; i++)
		addresses[i] = nearest.heap[i].address;
	*found = (size_t)nearest.count;
	pfree(nearest.heap);
	return addresses;
}
