/*
 * plan.c
 *	  Planning of a scan: size and cost from the manifest, the columns that the query needs.
 */
#include "postgres.h"

#include <math.h>

#include "access/sysattr.h"
#include "access/table.h"
#include "fdw/scan.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* Opening footers and column metadata before the first row, in units of a sequential page read. */
#define STARTUP_PAGES 10.0

/* Decoding one value, beside the server's own work for a row. */
#define DECODE_COST_FACTOR 0.5

/* Bytes taken for a value of unknown width, as the server itself assumes for unbounded types. */
#define UNKNOWN_WIDTH 32

/* Kept in RelOptInfo.fdw_private between the planner's callbacks. */
typedef struct LancePlanState
{
	List *attnums; /* columns to read, numbers from 1 in ascending order */
	double pages;  /* their share of the data files, in blocks */
} LancePlanState;

static List *
needed_columns(RelOptInfo *baserel, TupleDesc tupdesc)
{
	Bitmapset *used = NULL;
	bool whole_row;
	List *result = NIL;
	ListCell *lc;

	pull_varattnos((Node *)baserel->reltarget->exprs, baserel->relid, &used);
	foreach (lc, baserel->baserestrictinfo)
		pull_varattnos((Node *)lfirst_node(RestrictInfo, lc)->clause, baserel->relid, &used);

	whole_row = bms_is_member(-FirstLowInvalidHeapAttributeNumber, used);
	for (int i = 0; i < tupdesc->natts; i++)
	{
		if (!TupleDescAttr(tupdesc, i)->attisdropped &&
			(whole_row || bms_is_member(i + 1 - FirstLowInvalidHeapAttributeNumber, used)))
			result = lappend_int(result, i + 1);
	}
	return result;
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
	double width;
	double all_pages = 0;
	bool exact;

	state->attnums = needed_columns(baserel, RelationGetDescr(relation));
	baserel->fdw_private = state;
	baserel->tuples = lance_source_rows(source, &exact);
	width = set_widths(baserel, foreigntableid, RelationGetDescr(relation), source->dataset, state->attnums);
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
	table_close(relation, NoLock);
}

void
lanceGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid)
{
	LancePlanState *state = baserel->fdw_private;
	Cost startup = STARTUP_PAGES * seq_page_cost + baserel->baserestrictcost.startup;
	Cost row = cpu_tuple_cost + baserel->baserestrictcost.per_tuple +
			   list_length(state->attnums) * cpu_operator_cost * DECODE_COST_FACTOR;
	Cost total = startup + state->pages * seq_page_cost + baserel->tuples * row + baserel->reltarget->cost.startup +
				 baserel->rows * baserel->reltarget->cost.per_tuple;

	add_path(baserel, (Path *)create_foreignscan_path(root, baserel, NULL, baserel->rows,
													  startup + baserel->reltarget->cost.startup, total, NIL,
													  baserel->lateral_relids, NULL, NIL));
}

/* fdw_private of the plan is the integer list of the columns to read. */
ForeignScan *
lanceGetForeignPlan(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid, ForeignPath *best_path, List *tlist,
					List *scan_clauses, Plan *outer_plan)
{
	LancePlanState *state = baserel->fdw_private;

	return make_foreignscan(tlist, extract_actual_clauses(scan_clauses, false), baserel->relid, NIL, state->attnums,
							NIL, NIL, outer_plan);
}
