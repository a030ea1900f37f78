/*
 * plan.h
 *	  What planning a scan has found out, for the planning of what stands on it.
 */
#ifndef LANCE_FDW_PLAN_H
#define LANCE_FDW_PLAN_H

#include "fdw/nearest.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* Opening footers and column metadata before the first row, in units of a sequential page read. */
#define STARTUP_PAGES 10.0

/* Decoding one value, beside the server's own work for a row. */
#define DECODE_COST_FACTOR 0.5

/* A condition asked of a batch, for each of its rows, in terms of one that the executor evaluates. */
#define BATCH_QUAL_FACTOR 0.1

/* Kept in RelOptInfo.fdw_private between the planner's callbacks. */
typedef struct LancePlanState
{
	List *attnums; /* columns that rows are made of, numbers from 1 in ascending order */
	List *hidden;  /* columns that only conditions left to the scan look at */
	List *pushed;  /* these conditions, RestrictInfos */
	QualCost pushed_cost;
	double kept;     /* rows that pass them */
	double pages;    /* share of all these columns in the data files, in blocks */
	uint32 *systems; /* by number of column: which system column it is, 0 for the dataset's own */
	bool wants_nearest;
	LanceNearest nearest; /* where wants_nearest is set */
} LancePlanState;

/* What decoding the columns of a row costs. */
extern Cost lance_decode_cost(const List *attnums);

/* The aggregates over one foreign table that its scan can make, as a path of output_rel. */
extern void lanceGetForeignUpperPaths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
									  RelOptInfo *output_rel, void *extra);

/* The plan of such a path. */
extern ForeignScan *lance_aggregate_plan(PlannerInfo *root, ForeignPath *path, List *tlist);

#endif
