/*
 * plan.c
 *	  Planning of a scan: size and cost from the manifest, the columns that the query needs.
 */
#include "postgres.h"

#include <math.h>

#include "access/sysattr.h"
#include "access/table.h"
#include "fdw/parallel.h"
#include "fdw/plan.h"
#include "fdw/pushdown.h"
#include "fdw/row_key.h"
#include "fdw/scan.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "pg/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* Bytes taken for a value of unknown width, as the server itself assumes for unbounded types. */
#define UNKNOWN_WIDTH 32

/*
 * Looking up rows, in units of a sequential page read: a piece of each column a row, and asking the store once more for
 * every row of an outer relation.
 */
#define LOOKUP_PAGES 0.5
#define LOOKUP_COLUMN_PAGES 0.25
#define LOOKUP_AGAIN_PAGES 1.0

/* A distance, in terms of an operator. */
#define DISTANCE_FACTOR 2

/* What a path's fdw_private holds, where it is no scan. */
#define PATH_LOOKUP 1
#define PATH_NEAREST 2

/* The columns that rows are made of, and those that are looked at by pushed conditions alone. */
static void
choose_columns(RelOptInfo *baserel, TupleDesc tupdesc, LancePlanState *state)
{
	Bitmapset *used = NULL;
	Bitmapset *asked = NULL;
	bool whole_row;
	ListCell *lc;

	pull_varattnos((Node *)baserel->reltarget->exprs, baserel->relid, &used);
	foreach (lc, baserel->baserestrictinfo)
		pull_varattnos((Node *)lfirst_node(RestrictInfo, lc)->clause, baserel->relid,
					   list_member_ptr(state->pushed, lfirst(lc)) ? &asked : &used);

	whole_row = bms_is_member(-FirstLowInvalidHeapAttributeNumber, used);
	for (int i = 0; i < tupdesc->natts; i++)
	{
		if (TupleDescAttr(tupdesc, i)->attisdropped)
			continue;
		if (whole_row || bms_is_member(i + 1 - FirstLowInvalidHeapAttributeNumber, used))
			state->attnums = lappend_int(state->attnums, i + 1);
		else if (bms_is_member(i + 1 - FirstLowInvalidHeapAttributeNumber, asked))
			state->hidden = lappend_int(state->hidden, i + 1);
	}
}

/* Bytes of one value of a field, by its type; those of text and the like are not in the manifest. */
static int32
field_width(const LncField *field)
{
	uint64 width = lnc_type_width(&field->type);

	if (field->type.kind == LNC_TYPE_BOOL)
		return 1;
	if (width == 0)
		return UNKNOWN_WIDTH;
	return (int32)Min(width, PG_INT32_MAX / 2);
}

/*
 * Widths of the columns read, for the planner's estimates where ANALYZE has left none. Returns their sum.
 */
static double
set_widths(RelOptInfo *baserel, Oid relid, TupleDesc tupdesc, const LncDataset *dataset, List *attnums)
{
	double sum = 0;
	ListCell *lc;

	foreach (lc, attnums)
	{
		AttrNumber attnum = (AttrNumber)lfirst_int(lc);
		Form_pg_attribute attr = TupleDescAttr(tupdesc, attnum - 1);
		int32 width = get_attavgwidth(relid, attnum);
		int32 field = lnc_dataset_field(dataset, lance_column_name(relid, attnum, NameStr(attr->attname)));

		if (width <= 0)
		{
			if (attr->attlen > 0)
				width = attr->attlen;
			else
				width = field >= 0 ? field_width(&dataset->schema.fields[field]) : UNKNOWN_WIDTH;
			baserel->attr_widths[attnum - baserel->min_attr] = width;
		}
		sum += width;
	}
	return sum;
}

void
lanceGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	RangeTblEntry *rte = planner_rt_fetch(baserel->relid, root);
	Oid userid = OidIsValid(rte->checkAsUser) ? rte->checkAsUser : GetUserId();
	LanceSource *source = lance_source_open(lance_table_options_get(foreigntableid), userid, NULL);
	Relation relation = table_open(foreigntableid, NoLock);
	LancePlanState *state = palloc0(sizeof(*state));
	LanceAttributes attributes;
	double width;
	double all_pages = 0;
	LanceRowKey key;
	bool exact;

	lance_attributes_find(relation, source->dataset, &attributes);
	state->systems = attributes.systems;
	state->pushed = lance_pushdown_choose(root, baserel, &attributes, baserel->baserestrictinfo);
	state->wants_nearest =
		lance_guc_push_down && lance_nearest_choose(root, baserel, &attributes, state->pushed, &state->nearest);
	choose_columns(baserel, RelationGetDescr(relation), state);
	baserel->fdw_private = state;
	baserel->tuples = lance_source_rows(source, &exact);
	width = set_widths(baserel, foreigntableid, RelationGetDescr(relation), source->dataset,
					   list_concat_copy(state->attnums, state->hidden));
	state->pages = ceil(baserel->tuples * width / BLCKSZ);
	for (int32 i = 0; i < source->dataset->nfragments; i++)
	{
		for (int32 j = 0; j < source->dataset->fragments[i].nfiles; j++)
			all_pages += (double)source->dataset->fragments[i].files[j].size / BLCKSZ;
	}
	if (all_pages > 0)
		state->pages = Min(state->pages, all_pages);
	baserel->pages = (BlockNumber)Min(all_pages, (double)MaxBlockNumber);
	set_baserel_size_estimates(root, baserel);
	cost_qual_eval(&state->pushed_cost, state->pushed, root);
	state->kept = clamp_row_est(baserel->tuples *
								clauselist_selectivity(root, state->pushed, baserel->relid, JOIN_INNER, NULL));
	/* Ids are unique, which the planner doesn't know without statistics. */
	if (lance_row_key_choose(root, baserel, state->systems, baserel->baserestrictinfo, &key))
		baserel->rows = clamp_row_est(Min(baserel->rows, key.count));
	table_close(relation, NoLock);
}

Cost
lance_decode_cost(const List *attnums)
{
	return list_length(attnums) * cpu_operator_cost * DECODE_COST_FACTOR;
}

/* What a row costs the server that is looked up: conditions, decoding. */
static Cost
row_cost(const RelOptInfo *baserel, const LancePlanState *state)
{
	return cpu_tuple_cost + baserel->baserestrictcost.per_tuple + lance_decode_cost(state->attnums) +
		   lance_decode_cost(state->hidden);
}

/* What all rows cost that are scanned: batches are asked first, rows are made of what passes. */
static Cost
scan_cost(const RelOptInfo *baserel, const LancePlanState *state)
{
	Cost asked = lance_decode_cost(state->attnums) + lance_decode_cost(state->hidden) +
				 state->pushed_cost.per_tuple * BATCH_QUAL_FACTOR;
	Cost made = cpu_tuple_cost + baserel->baserestrictcost.per_tuple - state->pushed_cost.per_tuple;

	return baserel->tuples * asked + (state->pushed == NIL ? baserel->tuples : state->kept) * made;
}

/*
 * What is read by every process for itself might be of different versions: only what is shared among them goes into a
 * parallel plan.
 */
static void
add_whole_path(RelOptInfo *rel, ForeignPath *path)
{
	path->path.parallel_safe = false;
	add_path(rel, &path->path);
}

/* A path that looks up the rows of a key. startup: what is to be paid before the first row. */
static void
add_lookup_path(PlannerInfo *root, RelOptInfo *baserel, const LanceRowKey *key, double rows, Cost startup,
				Relids outer)
{
	LancePlanState *state = baserel->fdw_private;
	double pages = LOOKUP_PAGES;
	double found = Min(key->count, baserel->tuples);
	ListCell *lc;
	Cost total;

	foreach (lc, list_concat_copy(state->attnums, state->hidden))
	{
		if (state->systems[lfirst_int(lc)] == 0)
			pages += LOOKUP_COLUMN_PAGES;
	}

	startup += baserel->baserestrictcost.startup + baserel->reltarget->cost.startup;
	total = startup + found * (pages * seq_page_cost + row_cost(baserel, state)) +
			rows * baserel->reltarget->cost.per_tuple;
	add_whole_path(baserel, create_foreignscan_path(root, baserel, NULL, rows, startup, total, NIL, outer, NULL,
													list_make1_int(PATH_LOOKUP)));
}

/*
 * Paths that find the nearest rows and look them up, in the order that the query wants: by one process, or by several, each
 * of which finds the nearest of the rows that it reads.
 */
static void
add_nearest_paths(PlannerInfo *root, RelOptInfo *baserel)
{
	LancePlanState *state = baserel->fdw_private;
	int workers = lance_parallel_workers(baserel, state->pages);
	double divisor = lance_parallel_divisor(workers);
	double found = Min((double)state->nearest.count, baserel->rows);
	Cost startup =
		STARTUP_PAGES * seq_page_cost + baserel->baserestrictcost.startup + baserel->reltarget->cost.startup;
	Cost search = state->pages * seq_page_cost +
				  baserel->tuples * (lance_decode_cost(state->hidden) + lance_decode_cost(list_make1_int(1)) +
									 state->pushed_cost.per_tuple * BATCH_QUAL_FACTOR) +
				  state->kept * cpu_operator_cost * DISTANCE_FACTOR;
	Cost lookup = found * (seq_page_cost * (LOOKUP_PAGES + list_length(state->attnums) * LOOKUP_COLUMN_PAGES) +
						   cpu_tuple_cost + baserel->reltarget->cost.per_tuple);
	ForeignPath *path;

	add_whole_path(baserel,
				   create_foreignscan_path(root, baserel, NULL, found, startup + search, startup + search + lookup,
										   state->nearest.pathkeys, NULL, NULL, list_make1_int(PATH_NEAREST)));
	if (workers == 0)
		return;
	path = create_foreignscan_path(root, baserel, NULL, found, startup + search / divisor,
								   startup + search / divisor + lookup, state->nearest.pathkeys, NULL, NULL,
								   list_make1_int(PATH_NEAREST));
	path->path.parallel_aware = true;
	path->path.parallel_workers = workers;
	add_partial_path(baserel, &path->path);
}

/* Paths that look up rows by id or address: those that conditions name, and those that join clauses do. */
static void
add_lookup_paths(PlannerInfo *root, RelOptInfo *baserel)
{
	LancePlanState *state = baserel->fdw_private;
	LanceRowKey key;
	ListCell *lc;

	if (lance_row_key_choose(root, baserel, state->systems, baserel->baserestrictinfo, &key))
		add_lookup_path(root, baserel, &key, baserel->rows, STARTUP_PAGES * seq_page_cost, baserel->lateral_relids);
	foreach (lc, lance_row_key_outer_rels(root, baserel, state->systems))
	{
		ParamPathInfo *info = get_baserel_parampathinfo(root, baserel, lfirst(lc));
		List *clauses = list_concat_copy(info->ppi_clauses, baserel->baserestrictinfo);

		if (!lance_row_key_choose(root, baserel, state->systems, clauses, &key))
			continue;
		/* All paths of these outer relations are to give as many rows; the first one is made here. */
		info->ppi_rows = clamp_row_est(Min(info->ppi_rows, key.count));
		add_lookup_path(root, baserel, &key, info->ppi_rows, LOOKUP_AGAIN_PAGES * seq_page_cost,
						info->ppi_req_outer);
	}
}

/*
 * Workers for a scan of the relation. One that is too small to be read in parallel for its own sake may be joined with one that
 * is not: since only what is shared goes into a parallel plan, it is shared then.
 */
static int
choose_workers(PlannerInfo *root, RelOptInfo *baserel)
{
	LancePlanState *state = baserel->fdw_private;
	int workers = lance_parallel_workers(baserel, state->pages);

	if (workers == 0 && bms_membership(root->all_baserels) == BMS_MULTIPLE && max_parallel_workers_per_gather > 0 &&
		baserel->consider_parallel && bms_is_empty(baserel->lateral_relids))
		workers = 1;
	return workers;
}

/* The scan shared by the leader and workers. */
static void
add_partial_path_of_scan(PlannerInfo *root, RelOptInfo *baserel)
{
	LancePlanState *state = baserel->fdw_private;
	int workers = choose_workers(root, baserel);
	double divisor = lance_parallel_divisor(workers);
	double rows = clamp_row_est(baserel->rows / divisor);
	ForeignPath *path;
	Cost startup;
	Cost total;

	if (workers == 0)
		return;
	startup = STARTUP_PAGES * seq_page_cost + baserel->baserestrictcost.startup + baserel->reltarget->cost.startup;
	total = startup + (state->pages * seq_page_cost + scan_cost(baserel, state)) / divisor +
			rows * baserel->reltarget->cost.per_tuple;
	path = create_foreignscan_path(root, baserel, NULL, rows, startup, total, NIL, NULL, NULL, NIL);
	path->path.parallel_aware = true;
	path->path.parallel_workers = workers;
	add_partial_path(baserel, &path->path);
}

void
lanceGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	LancePlanState *state = baserel->fdw_private;
	Cost startup = STARTUP_PAGES * seq_page_cost + baserel->baserestrictcost.startup;
	Cost total = startup + state->pages * seq_page_cost + scan_cost(baserel, state) +
				 baserel->reltarget->cost.startup + baserel->rows * baserel->reltarget->cost.per_tuple;

	add_whole_path(baserel, create_foreignscan_path(root, baserel, NULL, baserel->rows,
													startup + baserel->reltarget->cost.startup, total, NIL,
													baserel->lateral_relids, NULL, NIL));
	add_partial_path_of_scan(root, baserel);
	if (lance_guc_row_lookup)
		add_lookup_paths(root, baserel);
	if (state->wants_nearest)
		add_nearest_paths(root, baserel);
}

/*
 * fdw_private of the plan is a list of four: the integer lists of the columns that rows are made of, of the LncTakeBy by
 * which rows are looked up, empty for a scan, of the columns that are read for conditions alone, and of
 * lance_nearest_numbers, empty unless the nearest rows are looked up. fdw_exprs holds the keys, or else
 * lance_nearest_expressions, if there are some, and the conditions that the scan takes over. fdw_recheck_quals holds the conditions that the
 * executor does not evaluate for the rows found.
 */
ForeignScan *
lanceGetForeignPlan(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid, ForeignPath *best_path, List *tlist,
					List *scan_clauses, Plan *outer_plan)
{
	LancePlanState *state = baserel->fdw_private;
	int kind = !IS_UPPER_REL(baserel) && best_path->fdw_private != NIL ? linitial_int(best_path->fdw_private) : 0;
	List *attnums;
	List *hidden;
	List *by = NIL;
	List *nearest = NIL;
	List *expressions = NIL;
	List *recheck = NIL;
	List *local = NIL;
	LanceRowKey key;
	ListCell *lc;

	if (IS_UPPER_REL(baserel))
		return lance_aggregate_plan(root, best_path, tlist);
	attnums = state->attnums;
	hidden = state->hidden;
	if (kind == PATH_LOOKUP)
	{
		if (!lance_row_key_choose(root, baserel, state->systems, scan_clauses, &key))
			ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the condition that names rows is gone")));
		attnums = list_concat_copy(attnums, hidden);
		hidden = NIL;
		by = list_make1_int(key.by);
		expressions = list_make1(key.value);
		recheck = list_make1(key.rinfo->clause);
		local = list_delete_ptr(list_copy(scan_clauses), key.rinfo);
	}
	else
	{
		foreach (lc, scan_clauses)
		{
			if (kind == PATH_NEAREST && list_member_ptr(state->nearest.conditions, lfirst(lc)))
				continue;
			if (list_member_ptr(state->pushed, lfirst(lc)))
				expressions = lappend(expressions, lfirst_node(RestrictInfo, lc)->clause);
			else
				local = lappend(local, lfirst(lc));
		}
		recheck = list_copy(expressions);
	}
	if (kind == PATH_NEAREST)
	{
		by = list_make1_int(LNC_TAKE_ADDRESS);
		nearest = lance_nearest_numbers(&state->nearest);
		expressions = list_concat(lance_nearest_expressions(&state->nearest), expressions);
		recheck = list_concat(extract_actual_clauses(state->nearest.conditions, false), recheck);
	}
	return make_foreignscan(tlist, extract_actual_clauses(local, false), baserel->relid, expressions,
							list_make4(attnums, by, hidden, nearest), NIL, recheck, outer_plan);
}
