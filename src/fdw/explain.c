/*
 * explain.c
 *	  What EXPLAIN shows of a scan. Plain EXPLAIN reads at most the manifest.
 */
#include "postgres.h"

#include "fdw/scan.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

void
lance_explain_location(const LanceSource *source, Oid userid, ExplainState *es)
{
	if (has_privs_of_role(GetUserId(), userid))
		ExplainPropertyText("Lance Dataset", source->location, es);
}

static void
explain_columns(ForeignScanState *node, ExplainState *es)
{
	Oid relid = RelationGetRelid(node->ss.ss_currentRelation);
	List *private = ((ForeignScan *)node->ss.ps.plan)->fdw_private;
	List *names = NIL;
	ListCell *lc;

	foreach (lc, list_concat_copy(linitial_node(List, private), lthird_node(List, private)))
	{
		AttrNumber attnum = (AttrNumber)lfirst_int(lc);

		names = lappend(names, lance_column_name(relid, attnum, get_attname(relid, attnum, false)));
	}
	ExplainPropertyList("Lance Columns", names, es);
}

/*
 * The condition whose rows are looked up, or those that the scan takes over: they are not among those that the server
 * shows as filters.
 */
static void
explain_conditions(ForeignScanState *node, ExplainState *es)
{
	ForeignScan *plan = (ForeignScan *)node->ss.ps.plan;
	List *by = lsecond_node(List, plan->fdw_private);
	List *nearest = lfourth_node(List, plan->fdw_private);
	List *context;

	if (nearest != NIL)
	{
		LanceNearestSearch search;

		lance_nearest_read(nearest, &search);
		ExplainPropertyText(
			"Lance Nearest",
			psprintf("%s of %s", lance_nearest_metric_name(search.metric),
					 get_attname(RelationGetRelid(node->ss.ss_currentRelation), search.attnum, false)),
			es);
		if (!search.varies)
			ExplainPropertyInteger("Lance Nearest Rows", NULL, search.count, es);
	}
	else if (by != NIL)
		ExplainPropertyText("Lance Lookup", linitial_int(by) == LNC_TAKE_ROW_ID ? "by row id" : "by row address",
							es);
	if (plan->fdw_recheck_quals == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, (Plan *)plan, NIL);
	ExplainPropertyText(by != NIL && nearest == NIL ? "Lance Lookup Cond" : "Lance Filter",
						deparse_expression((Node *)make_ands_explicit(plan->fdw_recheck_quals), context,
										   list_length(es->rtable) > 1 || es->verbose, false),
						es);
}

void
lance_scan_explain(ForeignScanState *node, ExplainState *es)
{
	LanceScanState *state = node->fdw_state;
	LanceSource *source = state->source;
	LncScanStats stats = {0};
	LncUsage usage = {0};

	explain_conditions(node, es);
	if (!es->verbose && !es->analyze)
		return;
	if (source == NULL)
		source = lance_source_open(state->options, state->userid, node->ss.ps.state);
	ExplainPropertyInteger("Lance Version", NULL, (int64)source->dataset->version, es);
	if (es->verbose)
	{
		lance_explain_location(source, state->userid, es);
		explain_columns(node, es);
	}
	if (!es->analyze)
		return;
	if (state->looks_up)
		ExplainPropertyInteger("Lance Keys", NULL, (int64)state->nkeys, es);
	if (state->take != NULL)
	{
		LncTakeStats taken;

		lnc_take_stats(state->take, &taken);
		stats.fragments = taken.fragments;
		stats.rows = taken.rows;
		stats.rows_filtered = state->nearest_stats.rows_filtered;
		stats.blobs = taken.blobs;
	}
	if (state->scan != NULL)
		lnc_scan_stats(state->scan, &stats);
	if (state->lib != NULL)
		usage = state->lib->ctx.usage;
	lance_parallel_add_stats(state->parallel, &stats, &usage);
	ExplainPropertyInteger("Lance Fragments", NULL, (int64)stats.fragments, es);
	ExplainPropertyInteger("Lance Rows", NULL, (int64)stats.rows, es);
	if (!state->looks_up)
		ExplainPropertyInteger("Lance Rows Deleted", NULL, (int64)stats.rows_deleted, es);
	if (state->filter != NULL)
		ExplainPropertyInteger("Lance Rows Filtered", NULL, (int64)stats.rows_filtered, es);
	ExplainPropertyInteger("Storage Requests", NULL, (int64)(usage.requests + stats.blobs.requests), es);
	ExplainPropertyInteger("Storage Bytes", NULL, (int64)(usage.bytes_read + stats.blobs.bytes_read), es);
	if (usage.recalled > 0)
		ExplainPropertyInteger("Metadata Cache Hits", NULL, (int64)usage.recalled, es);
	if (stats.blobs.requests > 0)
		ExplainPropertyInteger("Blob Bytes", NULL, (int64)stats.blobs.bytes_read, es);
}
