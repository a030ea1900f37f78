/*
 * explain.c
 *	  What EXPLAIN shows of a scan. Plain EXPLAIN reads at most the manifest.
 */
#include "postgres.h"

#include "fdw/scan.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

static void
explain_columns(ForeignScanState *node, ExplainState *es)
{
	Oid relid = RelationGetRelid(node->ss.ss_currentRelation);
	List *names = NIL;
	ListCell *lc;

	foreach (lc, ((ForeignScan *)node->ss.ps.plan)->fdw_private)
	{
		AttrNumber attnum = (AttrNumber)lfirst_int(lc);

		names = lappend(names, lance_column_name(relid, attnum, get_attname(relid, attnum, false)));
	}
	ExplainPropertyList("Lance Columns", names, es);
}

void
lanceExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	LanceScanState *state = node->fdw_state;
	LanceSource *source = state->source;
	LncScanStats stats = {0};

	if (!es->verbose && !es->analyze)
		return;
	if (source == NULL)
		source = lance_source_open(state->options, state->userid, node->ss.ps.state);
	ExplainPropertyInteger("Lance Version", NULL, (int64)source->dataset->version, es);
	if (es->verbose)
	{
		ExplainPropertyText("Lance Dataset", source->location, es);
		explain_columns(node, es);
	}
	if (!es->analyze)
		return;
	if (state->scan != NULL)
		lnc_scan_stats(state->scan, &stats);
	ExplainPropertyInteger("Lance Fragments", NULL, (int64)stats.fragments, es);
	ExplainPropertyInteger("Lance Rows", NULL, (int64)stats.rows, es);
	ExplainPropertyInteger("Lance Rows Deleted", NULL, (int64)stats.rows_deleted, es);
	ExplainPropertyInteger("Storage Requests", NULL, (int64)state->requests, es);
	ExplainPropertyInteger("Storage Bytes", NULL, (int64)state->bytes_read, es);
}
