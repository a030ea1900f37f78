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
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "pg/installed.h"
#include "pg/report.h"
#include "pg/vector.h"
#include "scan/scan.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* ---- planning */

static const struct
{
	const char *symbol;
	LncMetric metric;
} metrics[] = {
	{"lance_sql_l2", LNC_METRIC_L2},
	{"lance_sql_euclidean", LNC_METRIC_EUCLIDEAN},
	{"lance_sql_cosine", LNC_METRIC_COSINE},
	{"lance_sql_dot", LNC_METRIC_DOT},
	{"lance_sql_negative_inner_product", LNC_METRIC_PRODUCT},
	{"lance_sql_l1", LNC_METRIC_L1},
	{"lance_sql_hamming", LNC_METRIC_HAMMING},
	{"lance_sql_hamming_bytea", LNC_METRIC_HAMMING},
};

const char *
lance_nearest_metric_name(LncMetric metric)
{
	static const char *const names[] = {
		[LNC_METRIC_L2] = "l2",
		[LNC_METRIC_EUCLIDEAN] = "euclidean",
		[LNC_METRIC_COSINE] = "cosine",
		[LNC_METRIC_DOT] = "dot",
		[LNC_METRIC_PRODUCT] = "negative inner product",
		[LNC_METRIC_L1] = "l1",
		[LNC_METRIC_HAMMING] = "hamming",
	};

	return names[metric];
}

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

/*
 * The column that an expression takes vectors from, as they are or with wider items: these casts, of arrays of real or
 * smallint, lose nothing.
 */
static Var *
read_column(const LancePredicateTable *table, Node *expression)
{
	if (IsA(expression, ArrayCoerceExpr))
	{
		FuncExpr *cast = (FuncExpr *)((ArrayCoerceExpr *)expression)->elemexpr;

		if (!IsA(cast, FuncExpr) ||
			(cast->funcid != F_FLOAT8_FLOAT4 && cast->funcid != F_FLOAT8_INT2 && cast->funcid != F_FLOAT4_INT2))
			return NULL;
		expression = (Node *)((ArrayCoerceExpr *)expression)->arg;
	}
	return lance_predicate_column(table, expression);
}

/* The function of a call or of an operator with two operands, and these; InvalidOid for other expressions. */
static Oid
read_call(Expr *expression, List **operands)
{
	Oid function = InvalidOid;

	if (IsA(expression, FuncExpr))
	{
		function = ((FuncExpr *)expression)->funcid;
		*operands = ((FuncExpr *)expression)->args;
	}
	else if (IsA(expression, OpExpr))
	{
		function = get_opcode(((OpExpr *)expression)->opno);
		*operands = ((OpExpr *)expression)->args;
	}
	return OidIsValid(function) && list_length(*operands) == 2 ? function : InvalidOid;
}

/* Whether the expression is the distance of a column of vectors to something that is known before the first row. */
static bool
read_distance(PlannerInfo *root, const LancePredicateTable *table, Expr *expression, LanceNearest *out)
{
	List *operands = NIL;
	Oid function = read_call(expression, &operands);

	if (!OidIsValid(function) || !metric_of(function, &out->metric) ||
		!lance_vector_kind(exprType(linitial(operands)), &out->kind))
		return false;
	for (int i = 0; i < 2; i++)
	{
		Var *column = read_column(table, list_nth(operands, i));

		out->query = list_nth(operands, 1 - i);
		if (column != NULL && lnc_distance_accepts(table->types[column->varattno], out->kind) &&
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

/* A batch's vectors are to take about so many bytes, but there are to be so many of them. */
#define CACHED_BYTES (256.0 * 1024)
#define LEAST_ROWS 64

typedef struct Candidate
{
	int rank; /* 0: a number, 1: NaN, 2: NULL */
	double distance;
	uint64 place; /* in the order of the rows */
	uint64 address;
} Candidate;

/* The nearest so far: a heap whose first is the farthest. */
typedef struct Nearest
{
	Candidate *heap;
	int64 count;
	int64 most;
	uint64 seen; /* rows */
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

/* What distances are taken to. */
typedef struct Sought
{
	bool read;
	bool has_distance; /* distances to it are not NULL */
	LncVector vector;
} Sought;

/* Without a vector to compare it with, no query is wrong. */
static void
read_query(const LanceNearestSearch *search, const LncColumn *vectors, Sought *query)
{
	int64 row = 0;

	while (row < vectors->length && lnc_vector_is_null(vectors, row))
		row++;
	if (row == vectors->length)
		return;
	query->read = true;
	if (search->isnull || !lance_vector_read(search->kind, search->query, &query->vector))
		return;
	if (query->vector.size != vectors->type->list_size)
		lance_vector_sizes_differ(search->kind, vectors->type->list_size, query->vector.size);
	query->has_distance = true;
}

static void
offer_batch(Nearest *nearest, LanceLibrary *lib, LncArena *scratch, const LanceNearestSearch *search,
			const LncBatch *batch, int32 vectors, Sought *query)
{
	const uint64_t *addresses = batch->columns[batch->ncolumns - 1].values;
	double *distances;
	bool *isnull;

	lance_check(&lib->ctx, LNC_NEW(&lib->ctx, scratch, &distances, batch->length));
	lance_check(&lib->ctx, LNC_NEW(&lib->ctx, scratch, &isnull, batch->length));
	if (!query->read)
		read_query(search, &batch->columns[vectors], query);
	if (!query->has_distance)
		memset(isnull, true, batch->length * sizeof(*isnull));
	else
		lance_check(&lib->ctx, lnc_distances(&lib->ctx, scratch, search->metric, &batch->columns[vectors],
											 &query->vector, distances, isnull));
	for (int64 row = 0; row < batch->length; row++)
	{
		Candidate candidate = {.distance = distances[row]};

		/* Most rows are farther than all that were kept; equally far ones come later than these. */
		if (nearest->count == nearest->most && nearest->heap[0].rank == 0 &&
			(isnull[row] || !(distances[row] < nearest->heap[0].distance)))
			continue;
		candidate.rank = isnull[row] ? 2 : isnan(distances[row]) ? 1 : 0;
		candidate.place = nearest->seen + row;
		candidate.address = addresses[row];
		offer(nearest, candidate);
	}
	nearest->seen += batch->length;
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

uint64 *
lance_nearest_find(LanceLibrary *lib, const LncDataset *dataset, LanceNearestSearch *search,
				   const LncScanSpec *spec, int32 vectors, size_t *found, LncScanStats *stats)
{
	Nearest nearest = {.most = search->count, .heap = palloc(search->count * sizeof(Candidate))};
	LncScanSpec with_addresses = *spec;
	Sought query = {0};
	LncArena *scratch;
	LncScan *scan;
	uint64 *addresses;

	with_addresses.system_columns = LNC_SYSTEM_ROW_ADDRESS;
	if (spec->filter == NULL)
		with_addresses.batch_rows = cached_rows(dataset, spec);
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
