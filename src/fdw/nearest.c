/*
 * nearest.c
 *	  Planning of ORDER BY the distance to a vector LIMIT k.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/dependency.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "fdw/nearest.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "pg/installed.h"
#include "pg/types.h"
#include "pg/vector.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* Rows that are expected where the plan does not know LIMIT. */
#define UNKNOWN_COUNT 100

typedef struct MetricRow
{
	const char *symbol;
	LncMetric metric;
} MetricRow;

/* Of this extension. */
static const MetricRow own_metrics[] = {
	{"lance_sql_l2", LNC_METRIC_L2},
	{"lance_sql_euclidean", LNC_METRIC_EUCLIDEAN},
	{"lance_sql_cosine", LNC_METRIC_COSINE},
	{"lance_sql_dot", LNC_METRIC_DOT},
	{"lance_sql_negative_inner_product", LNC_METRIC_PRODUCT},
	{"lance_sql_l1", LNC_METRIC_L1},
	{"lance_sql_hamming", LNC_METRIC_HAMMING},
	{"lance_sql_hamming_bytea", LNC_METRIC_HAMMING},
};

/* Of the extension "vector". */
static const MetricRow pgvector_metrics[] = {
	{"l2_distance", LNC_METRIC_EUCLIDEAN},
	{"cosine_distance", LNC_METRIC_COSINE},
	{"vector_negative_inner_product", LNC_METRIC_PRODUCT},
	{"l1_distance", LNC_METRIC_L1},
	{"halfvec_l2_distance", LNC_METRIC_EUCLIDEAN},
	{"halfvec_cosine_distance", LNC_METRIC_COSINE},
	{"halfvec_negative_inner_product", LNC_METRIC_PRODUCT},
	{"halfvec_l1_distance", LNC_METRIC_L1},
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

/* Which of the distances the C function is, by its symbol. */
static bool
find_metric(Oid function, const MetricRow *rows, size_t nrows, LncMetric *out)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool found = false;

	if (!HeapTupleIsValid(tuple))
		return false;
	if (((Form_pg_proc)GETSTRUCT(tuple))->prolang == ClanguageId)
	{
		bool isnull;
		Datum symbol = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);

		for (size_t i = 0; !isnull && i < nrows; i++)
		{
			if (strcmp(TextDatumGetCString(symbol), rows[i].symbol) == 0)
			{
				*out = rows[i].metric;
				found = true;
			}
		}
	}
	ReleaseSysCache(tuple);
	return found;
}

/* Which distance the function is, and *pgvector, whether one of pgvector's; false for any other function. */
static bool
metric_of(Oid function, LncMetric *out, bool *pgvector)
{
	const LanceInstalled *installed = lance_installed();
	Oid extension = getExtensionOfObject(ProcedureRelationId, function);

	*pgvector = false;
	if (!OidIsValid(extension))
		return false;
	if (installed != NULL && extension == installed->extension)
		return find_metric(function, own_metrics, lengthof(own_metrics), out);
	*pgvector = extension == get_extension_oid("vector", true);
	return *pgvector && find_metric(function, pgvector_metrics, lengthof(pgvector_metrics), out);
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
	bool pgvector;

	if (!OidIsValid(function) || !metric_of(function, &out->metric, &pgvector))
		return false;
	if (!pgvector && !lance_vector_kind(exprType(linitial(operands)), &out->kind))
		return false;
	out->function = pgvector ? function : InvalidOid;
	for (int i = 0; i < 2; i++)
	{
		Var *column = read_column(table, list_nth(operands, i));

		out->query = list_nth(operands, 1 - i);
		if (column == NULL || (pgvector && !lance_type_is_vector(column->vartype)))
			continue;
		if (pgvector)
			out->kind = lnc_distance_accepts(table->types[column->varattno], LNC_VECTOR_FLOAT32)
							? LNC_VECTOR_FLOAT32
							: LNC_VECTOR_FLOAT64;
		if (lnc_distance_accepts(table->types[column->varattno], out->kind) &&
			bms_is_empty(pull_varnos(root, (Node *)out->query)) &&
			!contain_volatile_functions((Node *)out->query) && !contain_subplans((Node *)out->query))
		{
			out->attnum = column->varattno;
			return true;
		}
	}
	return false;
}

/* The strategy of a comparison of double precision, 0 for any other operator. */
static int
bound_strategy(Oid operator)
{
	switch (get_opcode(operator))
	{
		case F_FLOAT8LT:
			return BTLessStrategyNumber;
		case F_FLOAT8LE:
			return BTLessEqualStrategyNumber;
		case F_FLOAT8GT:
			return BTGreaterStrategyNumber;
		case F_FLOAT8GE:
			return BTGreaterEqualStrategyNumber;
		default:
			return 0;
	}
}

/* Whether a condition compares the very distance that rows are ordered by with something known before the first row. */
static bool
read_bound(PlannerInfo *root, const LancePredicateTable *table, Expr *clause, LanceNearest *nearest)
{
	OpExpr *comparison = (OpExpr *)clause;

	if (!IsA(clause, OpExpr) || list_length(comparison->args) != 2)
		return false;
	for (int i = 0; i < 2; i++)
	{
		Oid operator= i == 0 ? comparison->opno : get_commutator(comparison->opno);
		int strategy = OidIsValid(operator) ? bound_strategy(operator) : 0;
		Expr *value = list_nth(comparison->args, 1 - i);
		LanceNearest other = {0};

		if (strategy != 0 && read_distance(root, table, list_nth(comparison->args, i), &other) &&
			other.metric == nearest->metric && other.kind == nearest->kind && other.function == nearest->function &&
			other.attnum == nearest->attnum && equal(other.query, nearest->query) &&
			bms_is_empty(pull_varnos(root, (Node *)value)) && !contain_volatile_functions((Node *)value) &&
			!contain_subplans((Node *)value))
		{
			nearest->strategies = lappend_int(nearest->strategies, strategy);
			nearest->bounds = lappend(nearest->bounds, value);
			return true;
		}
	}
	return false;
}

/* Whether LIMIT or OFFSET can be evaluated by the search as well, with the same result. */
static bool
is_known(Node *bound)
{
	return bound == NULL || (!contain_volatile_functions(bound) && !contain_subplans(bound));
}

/*
 * How many rows are wanted at most, LIMIT and OFFSET together. Where these are constants the planner has added them up, unless
 * rows are put together or multiplied before they are counted; it has only an estimate, if any, of other expressions.
 */
static bool
choose_count(PlannerInfo *root, LanceNearest *out)
{
	Query *parse = root->parse;

	if (parse->limitCount == NULL)
		return false;
	if (IsA(parse->limitCount, Const) && (parse->limitOffset == NULL || IsA(parse->limitOffset, Const)))
	{
		out->count = (int64)Max(root->limit_tuples, 0);
		return root->limit_tuples >= 1 && root->limit_tuples <= LANCE_NEAREST_MAX;
	}
	if (parse->groupClause != NIL || parse->groupingSets != NIL || parse->distinctClause != NIL || parse->hasAggs ||
		parse->hasWindowFuncs || parse->hasTargetSRFs || root->hasHavingQual || parse->setOperations != NULL ||
		!is_known(parse->limitCount) || !is_known(parse->limitOffset))
		return false;
	out->count = UNKNOWN_COUNT;
	out->limits =
		list_make2(parse->limitCount, parse->limitOffset != NULL ? parse->limitOffset
																 : (Node *)makeNullConst(INT8OID, -1, InvalidOid));
	return true;
}

/* Whether rows are ordered as double precision is, least first. */
static bool
is_ascending(const PathKey *key)
{
	return key->pk_strategy == BTLessStrategyNumber && !key->pk_nulls_first &&
		   key->pk_opfamily == lookup_type_cache(FLOAT8OID, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

bool
lance_nearest_choose(PlannerInfo *root, RelOptInfo *baserel, const LanceAttributes *attributes, List *pushed,
					 LanceNearest *out)
{
	LancePredicateTable table = {.varno = baserel->relid, .natts = attributes->natts, .types = attributes->types};
	PathKey *key;
	ListCell *lc;
	bool found = false;

	memset(out, 0, sizeof(*out));
	if (!choose_count(root, out) || root->parse->rowMarks != NIL || root->query_pathkeys == NIL ||
		!bms_equal(root->all_baserels, baserel->relids) || !bms_is_empty(baserel->lateral_relids))
		return false;
	key = linitial_node(PathKey, root->query_pathkeys);
	if (!is_ascending(key))
		return false;
	foreach (lc, key->pk_eclass->ec_members)
	{
		EquivalenceMember *member = lfirst_node(EquivalenceMember, lc);

		found = !member->em_is_child && bms_equal(member->em_relids, baserel->relids) &&
				read_distance(root, &table, member->em_expr, out);
		if (found)
			break;
	}
	if (!found)
		return false;
	foreach (lc, baserel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (list_member_ptr(pushed, rinfo))
			continue;
		if (!read_bound(root, &table, rinfo->clause, out))
			return false;
		out->conditions = lappend(out->conditions, rinfo);
	}
	out->ties = list_length(root->query_pathkeys) > 1 || root->parse->limitOption == LIMIT_OPTION_WITH_TIES;
	out->pathkeys = list_make1(key);
	return true;
}

/* ---- a plan's lists */

/* Integers before those of the bounds. */
#define FIRST_STRATEGY 7

List *
lance_nearest_numbers(const LanceNearest *nearest)
{
	List *numbers = list_make5_int((int)nearest->metric, (int)nearest->kind, (int)nearest->function,
								   nearest->attnum, (int)nearest->count);

	numbers = lappend_int(lappend_int(numbers, nearest->ties), nearest->limits != NIL);
	return list_concat(numbers, nearest->strategies);
}

List *
lance_nearest_expressions(const LanceNearest *nearest)
{
	return lcons(nearest->query, list_concat_copy(nearest->bounds, nearest->limits));
}

void
lance_nearest_read(List *numbers, LanceNearestSearch *out)
{
	memset(out, 0, sizeof(*out));
	out->metric = (LncMetric)linitial_int(numbers);
	out->kind = (LncVectorKind)lsecond_int(numbers);
	out->function = (Oid)lthird_int(numbers);
	out->attnum = (AttrNumber)lfourth_int(numbers);
	out->count = list_nth_int(numbers, 4);
	out->ties = list_nth_int(numbers, 5) != 0;
	out->varies = list_nth_int(numbers, 6) != 0;
	out->nbounds = list_length(numbers) - FIRST_STRATEGY;
	out->bounds = palloc0((out->nbounds + 1) * sizeof(*out->bounds));
	for (int i = 0; i < out->nbounds; i++)
		out->bounds[i].strategy = list_nth_int(numbers, FIRST_STRATEGY + i);
}
