/*
 * handler.c
 *	  The callbacks that lance_fdw offers. What is left out is refused by the server by name: writes, TRUNCATE.
 */
#include "postgres.h"

#include "fdw/aggregate.h"
#include "fdw/plan.h"
#include "fdw/scan.h"
#include "fmgr.h"
#include "pg/installed.h"

/* ---- execution: a plan without a relation of its own makes aggregates */

static bool
makes_aggregates(const ForeignScanState *node)
{
	return ((const ForeignScan *)node->ss.ps.plan)->scan.scanrelid == 0;
}

static void
begin_scan(ForeignScanState *node, int eflags)
{
	if (makes_aggregates(node))
		lance_aggregate_begin(node, eflags);
	else
		lance_scan_begin(node, eflags);
}

static TupleTableSlot *
iterate_scan(ForeignScanState *node)
{
	return makes_aggregates(node) ? lance_aggregate_iterate(node) : lance_scan_iterate(node);
}

static void
rescan(ForeignScanState *node)
{
	if (makes_aggregates(node))
		lance_aggregate_rescan(node);
	else
		lance_scan_rescan(node);
}

static void
end_scan(ForeignScanState *node)
{
	if (makes_aggregates(node))
		lance_aggregate_end(node);
	else
		lance_scan_end(node);
}

static bool
is_parallel_safe(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	return true;
}

static LanceParallel *
parallel_of(const ForeignScanState *node)
{
	return makes_aggregates(node) ? lance_aggregate_parallel(node) : lance_scan_parallel(node);
}

static Size
estimate_dsm(ForeignScanState *node, ParallelContext *pcxt)
{
	return lance_parallel_size(makes_aggregates(node) ? lance_aggregate_source(node) : lance_scan_source(node));
}

static void
initialize_dsm(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	MemoryContext old = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);

	if (makes_aggregates(node))
		lance_aggregate_start_parallel(node, pcxt, coordinate);
	else
		lance_scan_start_parallel(node, pcxt, coordinate);
	MemoryContextSwitchTo(old);
}

static void
reinitialize_dsm(ForeignScanState *node, ParallelContext *pcxt, void *coordinate)
{
	lance_parallel_restart(parallel_of(node));
}

static void
initialize_worker(ForeignScanState *node, shm_toc *toc, void *coordinate)
{
	MemoryContext old = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);

	if (makes_aggregates(node))
		lance_aggregate_attach_parallel(node, coordinate);
	else
		lance_scan_attach_parallel(node, coordinate);
	MemoryContextSwitchTo(old);
}

static void
shutdown_scan(ForeignScanState *node)
{
	lance_parallel_shutdown(parallel_of(node));
}

static void
explain_scan(ForeignScanState *node, ExplainState *es)
{
	if (makes_aggregates(node))
		lance_aggregate_explain(node, es);
	else
		lance_scan_explain(node, es);
}

/* ---- the handler */

PG_FUNCTION_INFO_V1(lance_sql_fdw_handler);

/* lance_fdw_handler() */
Datum
lance_sql_fdw_handler(PG_FUNCTION_ARGS)
{
	lance_check_installed();

	FdwRoutine *routine = makeNode(FdwRoutine);

	routine->GetForeignRelSize = lanceGetForeignRelSize;
	routine->GetForeignPaths = lanceGetForeignPaths;
	routine->GetForeignUpperPaths = lanceGetForeignUpperPaths;
	routine->GetForeignPlan = lanceGetForeignPlan;
	routine->BeginForeignScan = begin_scan;
	routine->IterateForeignScan = iterate_scan;
	routine->ReScanForeignScan = rescan;
	routine->EndForeignScan = end_scan;
	routine->IsForeignScanParallelSafe = is_parallel_safe;
	routine->EstimateDSMForeignScan = estimate_dsm;
	routine->InitializeDSMForeignScan = initialize_dsm;
	routine->ReInitializeDSMForeignScan = reinitialize_dsm;
	routine->InitializeWorkerForeignScan = initialize_worker;
	routine->ShutdownForeignScan = shutdown_scan;
	routine->ExplainForeignScan = explain_scan;
	routine->AnalyzeForeignTable = lanceAnalyzeForeignTable;
	routine->ImportForeignSchema = lanceImportForeignSchema;
	PG_RETURN_POINTER(routine);
}
