/*
 * aggregate_plan.c
 *	  Which aggregates the scan of a foreign table makes by itself, and the plan of it.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_type_d.h"
#include "fdw/aggregate.h"
#include "fdw/parallel.h"
#include "fdw/plan.h"
#include "fdw/pushdown.h"
#include "fdw/source.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "pg/guc.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"
#include "utils/selfuncs.h"

/* An aggregate's step for a row of a batch, in terms of one that the executor does. */
#define BATCH_STEP_FACTOR 0.2

/*
 * What a group takes: itself, and each key and aggregate; what was there before the arrays grew is part of it. Parts of
 * the groups that fit are found by trying: the table is read about twice for each of them, which counts double, since
 * the executor reads a store but once.
 */
#define GROUP_BYTES 16.0
#define GROUP_COLUMN_BYTES 32.0
#define SCANS_OF_PART 4.0

static const struct
{
	Oid function;
	LncAggregateKind kind;
	LanceFinal final;
	LanceFinal partial;
} known[] = {
	{F_COUNT_, LNC_COUNT_ROWS, LANCE_FINAL_COUNT, LANCE_FINAL_COUNT},
	{F_COUNT_ANY, LNC_COUNT, LANCE_FINAL_COUNT, LANCE_FINAL_COUNT},
	{F_SUM_INT2, LNC_SUM_INTEGER, LANCE_FINAL_INT8, LANCE_FINAL_INT8},
	{F_SUM_INT4, LNC_SUM_INTEGER, LANCE_FINAL_INT8, LANCE_FINAL_INT8},
	{F_SUM_INT8, LNC_SUM_INTEGER, LANCE_FINAL_NUMERIC, LANCE_PARTIAL_INT8_AVG},
	{F_SUM_FLOAT4, LNC_SUM_FLOAT32, LANCE_FINAL_FLOAT4, LANCE_FINAL_FLOAT4},
	{F_SUM_FLOAT8, LNC_SUM_REAL, LANCE_FINAL_FLOAT8, LANCE_FINAL_FLOAT8},
	{F_AVG_INT2, LNC_SUM_INTEGER, LANCE_FINAL_AVG_NUMERIC, LANCE_PARTIAL_INT4_AVG},
	{F_AVG_INT4, LNC_SUM_INTEGER, LANCE_FINAL_AVG_NUMERIC, LANCE_PARTIAL_INT4_AVG},
	{F_AVG_INT8, LNC_SUM_INTEGER, LANCE_FINAL_AVG_NUMERIC, LANCE_PARTIAL_INT8_AVG},
	{F_AVG_FLOAT4, LNC_SUM_REAL, LANCE_FINAL_AVG_FLOAT8, LANCE_PARTIAL_FLOAT8_AVG},
	{F_AVG_FLOAT8, LNC_SUM_REAL, LANCE_FINAL_AVG_FLOAT8, LANCE_PARTIAL_FLOAT8_AVG},
	{F_MIN_INT2, LNC_MIN, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MIN_INT4, LNC_MIN, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MIN_INT8, LNC_MIN, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MIN_FLOAT4, LNC_MIN, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MIN_FLOAT8, LNC_MIN, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MIN_DATE, LNC_MIN, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MIN_TIME, LNC_MIN, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MIN_TIMESTAMP, LNC_MIN, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MIN_TIMESTAMPTZ, LNC_MIN, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MIN_TEXT, LNC_MIN, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MAX_INT2, LNC_MAX, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MAX_INT4, LNC_MAX, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MAX_INT8, LNC_MAX, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MAX_FLOAT4, LNC_MAX, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MAX_FLOAT8, LNC_MAX, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MAX_DATE, LNC_MAX, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MAX_TIME, LNC_MAX, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MAX_TIMESTAMP, LNC_MAX, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MAX_TIMESTAMPTZ, LNC_MAX, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_MAX_TEXT, LNC_MAX, LANCE_FINAL_EXTREME, LANCE_FINAL_EXTREME},
	{F_BOOL_AND, LNC_EVERY, LANCE_FINAL_BOOL, LANCE_FINAL_BOOL},
	{F_EVERY, LNC_EVERY, LANCE_FINAL_BOOL, LANCE_FINAL_BOOL},
	{F_BOOL_OR, LNC_SOME, LANCE_FINAL_BOOL, LANCE_FINAL_BOOL},
};

static bool
filter_offered(const LancePredicateTable *table, Expr *filter)
{
	return filter == NULL || (!contain_volatile_functions((Node *)filter) && !contain_subplans((Node *)filter) &&
							  lance_predicate_offers(table, filter));
}

bool
lance_aggregate_read(const LancePredicateTable *table, Aggref *aggref, LanceAggregate *out)
{
	size_t at = 0;

	memset(out, 0, sizeof(*out));
	while (at < lengthof(known) && known[at].function != aggref->aggfnoid)
		at++;
	if (at == lengthof(known) || aggref->aggorder != NIL || aggref->aggdistinct != NIL ||
		aggref->agglevelsup != 0 || aggref->aggvariadic ||
		(aggref->aggsplit != AGGSPLIT_SIMPLE && aggref->aggsplit != AGGSPLIT_INITIAL_SERIAL) ||
		!filter_offered(table, aggref->aggfilter))
		return false;
	out->kind = known[at].kind;
	out->final = aggref->aggsplit == AGGSPLIT_SIMPLE ? known[at].final : known[at].partial;
	out->filter = aggref->aggfilter;
	if (out->kind == LNC_COUNT_ROWS)
		return true;
	if (list_length(aggref->args) != 1)
		return false;
	out->column = lance_predicate_column(table, linitial_node(TargetEntry, aggref->args)->expr);
	if (out->column == NULL || !lnc_aggregate_accepts(out->kind, table->types[out->column->varattno]))
		return false;
	return aggref->aggtype != TEXTOID || (GetDatabaseEncoding() == PG_UTF8 && OidIsValid(aggref->inputcollid) &&
										  lc_collate_is_c(aggref->inputcollid));
}

/* Stored values are equal just where those that PostgreSQL makes of them are. */
static bool
is_one_to_one(const LncType *type)
{
	return !((type->kind == LNC_TYPE_TIMESTAMP || type->kind == LNC_TYPE_TIME64) && type->unit == LNC_UNIT_NANO);
}

bool
lance_aggregate_groups(const LancePredicateTable *table, Node *expression)
{
	Var *var = (Var *)expression;

	if (!IsA(var, Var) || lance_predicate_column(table, var) == NULL ||
		!lnc_groups_accept(table->types[var->varattno]) ||
		!is_one_to_one(lnc_column_type(table->types[var->varattno])))
		return false;
	switch (var->vartype)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case BYTEAOID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return true;
		case TEXTOID:
		case VARCHAROID:
			return OidIsValid(var->varcollid) && get_collation_isdeterministic(var->varcollid);
		default:
			return false;
	}
}

/* ---- choosing */

/* Add what an expression of the query needs of the scan's rows; false where that can't be had. */
static bool
add_needs(const LancePredicateTable *table, Node *expression, List **tlist, List **aggregates)
{
	List *parts =
		pull_var_clause(expression, PVC_INCLUDE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS);
	ListCell *lc;

	foreach (lc, parts)
	{
		LanceAggregate aggregate;

		if (IsA(lfirst(lc), Aggref))
		{
			Aggref *aggref = lfirst_node(Aggref, lc);

			if (!lance_aggregate_read(table, aggref, &aggregate) ||
				pg_proc_aclcheck(aggref->aggfnoid, GetUserId(), ACL_EXECUTE) != ACLCHECK_OK)
				return false;
			*aggregates = lappend(*aggregates, aggref);
		}
		else if (!tlist_member(lfirst(lc), *tlist))
			return false; /* all columns outside of aggregates are grouped by */
	}
	*tlist = add_to_flat_tlist(*tlist, parts);
	return true;
}

/* The grouping columns and aggregates that the scan's rows are made of; false where they can't be had. */
static bool
choose_targets(PlannerInfo *root, const LancePredicateTable *table, RelOptInfo *output_rel, List *having,
			   List **tlist, List **aggregates)
{
	ListCell *lc;

	*tlist = NIL;
	*aggregates = NIL;
	foreach (lc, root->parse->groupClause)
	{
		Node *key = get_sortgroupclause_expr(lfirst_node(SortGroupClause, lc), root->processed_tlist);

		if (!lance_aggregate_groups(table, key))
			return false;
		*tlist = add_to_flat_tlist(*tlist, list_make1(key));
	}
	foreach (lc, output_rel->reltarget->exprs)
	{
		if (!add_needs(table, lfirst(lc), tlist, aggregates))
			return false;
	}
	return add_needs(table, (Node *)having, tlist, aggregates);
}

/* The path's private list: what lance_aggregate_plan makes the plan of. */
static List *
path_private(List *tlist, RelOptInfo *input_rel, List *having)
{
	LancePlanState *state = input_rel->fdw_private;
	List *clauses = NIL;
	ListCell *lc;

	foreach (lc, state->pushed)
		clauses = lappend(clauses, lfirst_node(RestrictInfo, lc)->clause);
	return list_make4(tlist, clauses, makeInteger((int)input_rel->relid), having);
}

/* The rows of the whole table are counted, which needs no look at them. */
static bool
counts_only(List *tlist, List *pushed)
{
	ListCell *lc;

	foreach (lc, tlist)
	{
		Aggref *aggref = (Aggref *)lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(aggref, Aggref) || aggref->aggfnoid != F_COUNT_ || aggref->aggfilter != NULL)
			return false;
	}
	return pushed == NIL;
}

/* What a group's values of varying width take, keys and extremes, beyond what every column is reckoned with. */
static double
long_values(const RelOptInfo *input_rel, List *tlist)
{
	double sum = 0;
	ListCell *lc;

	foreach (lc, tlist)
	{
		Expr *expression = lfirst_node(TargetEntry, lc)->expr;
		Var *var;

		/* The result of an extreme is as wide as its argument. */
		if (IsA(expression, Aggref))
		{
			List *vars = pull_var_clause((Node *)((Aggref *)expression)->args, 0);

			if (get_typlen(((Aggref *)expression)->aggtype) != -1 || list_length(vars) != 1)
				continue;
			var = linitial_node(Var, vars);
		}
		else
			var = (Var *)expression;
		if (get_typlen(var->vartype) == -1)
			sum += Max(0, input_rel->attr_widths[var->varattno - input_rel->min_attr] - GROUP_COLUMN_BYTES);
	}
	return sum;
}

/* How often the table is read for so many groups of that many keys and aggregates, whose long values take so many bytes. */
static double
scans_for(double groups, int columns, double bytes)
{
	double parts = groups * (GROUP_BYTES + GROUP_COLUMN_BYTES * columns + bytes) / (double)get_hash_memory_limit();

	return parts <= 1 ? 1 : parts * SCANS_OF_PART;
}

/* The columns of the relation, as what aggregates and groups are looked for in. */
static LancePredicateTable
describe_table(PlannerInfo *root, const RelOptInfo *rel)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	Relation relation = table_open(rte->relid, NoLock);
	LancePredicateTable table = {.varno = rel->relid};
	LanceAttributes attributes;

	lance_attributes_find(relation,
						  lance_source_open(lance_table_options_get(rte->relid),
											OidIsValid(rte->checkAsUser) ? rte->checkAsUser : GetUserId(), NULL)
							  ->dataset,
						  &attributes);
	table_close(relation, NoLock);
	table.natts = attributes.natts;
	table.types = attributes.types;
	return table;
}

/* What adding up all rows costs, once through the table. */
static Cost
pass_cost(const RelOptInfo *rel, int columns)
{
	const LancePlanState *state = rel->fdw_private;

	return state->pages * seq_page_cost +
		   rel->tuples * (lance_decode_cost(state->attnums) + lance_decode_cost(state->hidden) +
						  state->pushed_cost.per_tuple * BATCH_QUAL_FACTOR) +
		   state->kept * cpu_operator_cost * BATCH_STEP_FACTOR * columns;
}

/* Whether the scan could make the query's aggregates, if it can make each of them. */
static bool
is_candidate(const PlannerInfo *root, const RelOptInfo *input_rel)
{
	const LancePlanState *state = input_rel->fdw_private;

	return input_rel->reloptkind == RELOPT_BASEREL && state != NULL && lance_guc_push_down &&
		   root->parse->groupingSets == NIL &&
		   list_length(state->pushed) == list_length(input_rel->baserestrictinfo) &&
		   bms_is_empty(input_rel->lateral_relids) && bms_equal(root->all_baserels, input_rel->relids);
}

/* Parts of the aggregates, which the executor combines: made by the leader and workers, each of its share of the rows. */
static void
add_partial_aggregates(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, List *tlist, double groups,
					   int columns)
{
	LancePlanState *state = input_rel->fdw_private;
	int workers = lance_parallel_workers(input_rel, state->pages);
	double divisor = lance_parallel_divisor(workers);
	double rows;
	Cost startup;
	Cost total;
	ForeignPath *path;

	/* Groups that don't fit are handed out in parts, as often as they are met again: better left to the executor. */
	if (workers == 0 || scans_for(groups, columns, long_values(input_rel, tlist)) > 1 ||
		counts_only(tlist, state->pushed))
		return;
	rows = clamp_row_est(Min(groups, state->kept / divisor));
	startup = STARTUP_PAGES * seq_page_cost + pass_cost(input_rel, columns) / divisor +
			  output_rel->reltarget->cost.startup;
	total = startup + rows * (cpu_tuple_cost + output_rel->reltarget->cost.per_tuple);
	path = create_foreign_upper_path(root, output_rel, output_rel->reltarget, rows, startup, total, NIL, NULL,
									 path_private(tlist, input_rel, NIL));
	path->path.parallel_aware = true;
	path->path.parallel_workers = workers;
	add_partial_path(output_rel, &path->path);
}

static void
add_whole_aggregates(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *output_rel, List *tlist, List *having,
					 double groups, int columns)
{
	LancePlanState *state = input_rel->fdw_private;
	Cost startup = 0;
	Cost total;
	ForeignPath *path;

	if (!counts_only(tlist, state->pushed))
		startup = (STARTUP_PAGES * seq_page_cost + pass_cost(input_rel, columns)) *
				  scans_for(groups, columns, long_values(input_rel, tlist));
	startup += output_rel->reltarget->cost.startup;
	total = startup + groups * (cpu_tuple_cost + output_rel->reltarget->cost.per_tuple);
	path = create_foreign_upper_path(root, output_rel, output_rel->reltarget, clamp_row_est(groups), startup, total,
									 NIL, NULL, path_private(tlist, input_rel, having));
	path->path.parallel_safe = false; /* each process might read another version */
	add_path(output_rel, &path->path);
}

void
lanceGetForeignUpperPaths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel, RelOptInfo *output_rel,
						  void *extra)
{
	bool partial = stage == UPPERREL_PARTIAL_GROUP_AGG;
	LancePredicateTable table;
	List *having;
	List *tlist;
	List *aggregates;
	double groups = 1;
	int columns;

	if ((stage != UPPERREL_GROUP_AGG && !partial) || !is_candidate(root, input_rel))
		return;
	table = describe_table(root, input_rel);
	having = partial ? NIL : (List *)((GroupPathExtraData *)extra)->havingQual;
	if (!choose_targets(root, &table, output_rel, having, &tlist, &aggregates) || tlist == NIL)
		return;
	columns = list_length(root->parse->groupClause) + list_length(aggregates);
	if (root->parse->groupClause != NIL)
		groups = estimate_num_groups(root, get_sortgrouplist_exprs(root->parse->groupClause, root->processed_tlist),
									 ((LancePlanState *)input_rel->fdw_private)->kept, NULL, NULL);
	if (!partial)
		add_whole_aggregates(root, input_rel, output_rel, tlist, having, groups, columns);
	else
		add_partial_aggregates(root, input_rel, output_rel, tlist, groups, columns);
}

static bool
find_params(Node *node, List **params)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
	{
		*params = list_append_unique(*params, node);
		return false;
	}
	return expression_tree_walker(node, find_params, params);
}

ForeignScan *
lance_aggregate_plan(PlannerInfo *root, ForeignPath *path, List *tlist)
{
	List *scan_tlist = linitial_node(List, path->fdw_private);
	List *clauses = lsecond_node(List, path->fdw_private);
	List *having = lfourth_node(List, path->fdw_private);
	List *params = NIL;

	(void)find_params((Node *)clauses, &params);
	(void)find_params((Node *)scan_tlist, &params);
	return make_foreignscan(tlist, having, 0, params, list_make2(lthird(path->fdw_private), clauses), scan_tlist,
							NIL, NULL);
}
