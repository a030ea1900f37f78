/*
 * scan.c
 *	  Execution of a scan: batches of the dataset as rows of the foreign table.
 *
 * A row's by-reference values are made in the per-tuple context that the executor resets before each row; batches
 * live in the scan's own memory until the next one is fetched.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "column/blob.h"
#include "executor/executor.h"
#include "fdw/row_key.h"
#include "fdw/scan.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pg/report.h"
#include "pg/system_column.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* Rows of a batch, and the size of their values that is aimed at: decoding them takes about as much again. */
#define MAX_BATCH_ROWS 4096
#define MIN_BATCH_ROWS 16
#define BATCH_BYTES (LNC_SCAN_BATCH_BYTES / 4.0)

/* A blob's descriptor takes about so much, whatever the blob does. */
#define BLOB_WIDTH 100.0

/* Columns matched with members of the system columns, part being minus the member, get their places in the batch. */
static void
place_system_columns(LanceColumnSet *set)
{
	for (int i = 0; i < set->count + set->nhidden; i++)
	{
		LanceScanColumn *column = &set->columns[i];

		if (column->part < 0)
			column->part = set->nfields + __builtin_popcount(set->system & ((uint32)-column->part - 1));
	}
}

/* Match one attribute: the next column of the set. */
static void
match_column(Relation relation, const LncDataset *dataset, AttrNumber attnum, LanceScanColumn *column,
			 LanceColumnSet *set)
{
	Form_pg_attribute attr = TupleDescAttr(RelationGetDescr(relation), attnum - 1);
	char *name = lance_column_name(RelationGetRelid(relation), attr->attnum, NameStr(attr->attname));
	int32 field = lnc_dataset_field(dataset, pg_server_to_any(name, (int)strlen(name), PG_UTF8));
	uint32 system = field < 0 ? lnc_system_column(name) : 0;

	column->attr = attr->attnum - 1;
	if (system != 0)
	{
		column->part = -(int)system;
		lance_converter_init_system(&column->converter, name, attr->atttypid);
		set->system |= system;
		return;
	}
	if (field < 0)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
						errmsg("dataset of foreign table \"%s\" has no column \"%s\"",
							   RelationGetRelationName(relation), name),
						errdetail("Version %llu was read.", (unsigned long long)dataset->version),
						errhint("Call lance_refresh_table() to follow the dataset, or import the table again.")));
	lance_converter_init(&column->converter, name, &dataset->schema.fields[field], attr->atttypid, attr->atttypmod);
	while (column->part < set->nfields && set->fields[column->part] != field)
		column->part++;
	if (column->part == set->nfields)
		set->fields[set->nfields++] = field;
}

void
lance_match_columns(Relation relation, const LncDataset *dataset, List *attnums, List *hidden, LanceColumnSet *out)
{
	int wanted = list_length(attnums) + list_length(hidden);
	int shown;
	ListCell *lc;

	memset(out, 0, sizeof(*out));
	out->columns = palloc0((wanted + 1) * sizeof(LanceScanColumn));
	out->fields = palloc0((wanted + 1) * sizeof(int32_t));
	foreach (lc, attnums)
		match_column(relation, dataset, lfirst_int(lc), &out->columns[out->count++], out);
	shown = out->nfields;
	foreach (lc, hidden)
		match_column(relation, dataset, lfirst_int(lc), &out->columns[out->count + out->nhidden++], out);
	out->nhidden_fields = out->nfields - shown;
	place_system_columns(out);
}

int32 *
lance_column_places(const LanceColumnSet *set, int natts)
{
	int32 *places = palloc0((natts + 1) * sizeof(*places));

	for (int i = 0; i < set->count + set->nhidden; i++)
		places[set->columns[i].attr + 1] = set->columns[i].part;
	return places;
}

static void
scan_error_context(void *arg)
{
	LanceScanState *state = arg;

	if (state->converting != NULL)
		errcontext("column \"%s\" of foreign table \"%s\"", state->converting->converter.name,
				   state->relation_name);
	else
		errcontext("scan of foreign table \"%s\"", state->relation_name);
}

/* Prepare conditions on columns of the set, if there are any. */
static LancePredicate *
prepare_conditions(ForeignScanState *node, const LanceAttributes *attributes, List *clauses,
				   const LanceColumnSet *set)
{
	LancePredicateTable table = {
		.varno = ((ForeignScan *)node->ss.ps.plan)->scan.scanrelid,
		.natts = attributes->natts,
		.types = attributes->types,
	};

	if (clauses == NIL)
		return NULL;
	return lance_predicate_prepare(&table, clauses, lance_column_places(set, attributes->natts), &node->ss.ps);
}

/*
 * Match the columns of the plan, and prepare the conditions that it leaves to the scan. The dataset may have other types
 * than the one that was planned for: what can't be asked of it then is evaluated row by row.
 */
static void
prepare_scan(LanceScanState *state, ForeignScanState *node, List *clauses)
{
	ForeignScan *plan = (ForeignScan *)node->ss.ps.plan;
	Relation relation = node->ss.ss_currentRelation;
	const LncDataset *dataset = state->source->dataset;
	List *attnums = linitial_node(List, plan->fdw_private);
	List *hidden = lthird_node(List, plan->fdw_private);
	LanceAttributes attributes;
	List *rest;

	lance_attributes_find(relation, dataset, &attributes);
	clauses = lance_pushdown_split(plan->scan.scanrelid, &attributes, clauses, &rest);
	attnums = lance_pushdown_columns(list_copy(attnums), (Node *)rest, plan->scan.scanrelid);
	hidden = list_difference_int(hidden, attnums);
	lance_match_columns(relation, dataset, attnums, hidden, &state->columns);
	if (rest != NIL)
		state->rest = ExecInitQual(rest, &node->ss.ps);
	state->filter = prepare_conditions(node, &attributes, clauses, &state->columns);
}

/* Get ready to find the nearest rows: what of them is shown, and what is asked to find them. */
static void
prepare_nearest(LanceScanState *state, ForeignScanState *node)
{
	ForeignScan *plan = (ForeignScan *)node->ss.ps.plan;
	Relation relation = node->ss.ss_currentRelation;
	const LncDataset *dataset = state->source->dataset;
	LanceNearestSearch *search = &state->nearest;
	List *clauses;
	LanceAttributes attributes;
	List *asked;
	List *rest;

	lance_nearest_read(lfourth_node(List, plan->fdw_private), search);
	clauses = list_copy_tail(plan->fdw_exprs, lance_nearest_nexpressions(search));
	lance_attributes_find(relation, dataset, &attributes);
	clauses = lance_pushdown_split(plan->scan.scanrelid, &attributes, clauses, &rest);
	if (rest != NIL || attributes.types[search->attnum] == NULL ||
		!lnc_distance_accepts(attributes.types[search->attnum], search->kind))
		lance_types_changed(relation);
	asked = list_delete_int(lance_pushdown_columns(NIL, (Node *)clauses, plan->scan.scanrelid), search->attnum);
	lance_match_columns(relation, dataset, linitial_node(List, plan->fdw_private), NIL, &state->columns);
	lance_match_columns(relation, dataset, list_make1_int(search->attnum), asked, &state->asked);
	lance_nearest_prepare(search, plan->fdw_exprs, &state->asked.columns[0].converter, &node->ss.ps);
	state->filter = prepare_conditions(node, &attributes, clauses, &state->asked);
}

/* Get ready to read state->source. */
static void
prepare(ForeignScanState *node)
{
	LanceScanState *state = node->fdw_state;
	ForeignScan *plan = (ForeignScan *)node->ss.ps.plan;
	bool exact;

	if (lfourth_node(List, plan->fdw_private) != NIL)
		prepare_nearest(state, node);
	else
		prepare_scan(state, node, state->looks_up ? NIL : plan->fdw_exprs);
	state->total = lance_source_rows(state->source, &exact);
	if (!exact || state->looks_up || state->filter != NULL || state->rest != NULL || state->parallel != NULL)
		state->total = -1;
	state->memory = AllocSetContextCreate(node->ss.ps.state->es_query_cxt, "lance scan", ALLOCSET_SMALL_SIZES);
	state->turn = AllocSetContextCreate(state->memory, "lance values of conditions", ALLOCSET_SMALL_SIZES);
	state->lib = lance_library_create(state->memory);
}

void
lance_scan_begin(ForeignScanState *node, int eflags)
{
	EState *estate = node->ss.ps.state;
	ForeignScan *plan = (ForeignScan *)node->ss.ps.plan;
	RangeTblEntry *rte = exec_rt_fetch(plan->scan.scanrelid, estate);
	Relation relation = node->ss.ss_currentRelation;
	LanceScanState *state = palloc0(sizeof(*state));
	List *by = lsecond_node(List, plan->fdw_private);
	bool nearest = lfourth_node(List, plan->fdw_private) != NIL;

	node->fdw_state = state;
	state->options = lance_table_options_get(RelationGetRelid(relation));
	state->userid = OidIsValid(rte->checkAsUser) ? rte->checkAsUser : GetUserId();
	state->relation_name = pstrdup(RelationGetRelationName(relation));
	state->system_columns = plan->fsSystemCol;
	state->looks_up = by != NIL;
	if (by != NIL)
		state->by = linitial_int(by);
	if (by != NIL && !nearest)
		state->keys = ExecInitExpr(linitial(plan->fdw_exprs), &node->ss.ps);
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0 || lance_parallel_is_worker(node))
		return;
	state->source = lance_source_open(state->options, state->userid, estate);
	prepare(node);
}

/*
 * So many rows that their values stay near BATCH_BYTES. Widths of fixed-width columns are in the schema; what the
 * others take is guessed from the size of the files. The scan makes do with fewer where that is too many.
 */
int64
lance_batch_rows(const LncDataset *dataset, const LanceColumnSet *set)
{
	double width = 1;
	double bytes = 0;
	double rows = 1;
	bool variable = false;

	for (int i = 0; i < set->nfields; i++)
	{
		const LncType *type = &dataset->schema.fields[set->fields[i]].type;

		width += lnc_type_is_blob(type) ? BLOB_WIDTH : (double)lnc_type_width(type);
		variable = variable || !(lnc_type_is_fixed(type) || lnc_type_is_blob(type));
	}
	for (int32 i = 0; variable && i < dataset->nfragments; i++)
	{
		rows += (double)dataset->fragments[i].physical_rows;
		for (int32 j = 0; j < dataset->fragments[i].nfiles; j++)
			bytes += (double)dataset->fragments[i].files[j].size;
	}
	width += bytes / rows;
	return (int64)Max(MIN_BATCH_ROWS, Min(MAX_BATCH_ROWS, BATCH_BYTES / width));
}

/* Evaluate the values of the conditions anew. */
static const LncPredicate *
bind_filter(LanceScanState *state, ExprContext *econtext)
{
	MemoryContext old;
	const LncPredicate *filter;

	MemoryContextReset(state->turn);
	old = MemoryContextSwitchTo(state->turn);
	filter = lance_predicate_bind(state->filter, econtext);
	MemoryContextSwitchTo(old);
	state->filter_current = true;
	return filter;
}

/* Have the scan open, its conditions those of now. */
static void
ready_scan(LanceScanState *state, ExprContext *econtext)
{
	LncContext *ctx = &state->lib->ctx;

	if (state->scan == NULL)
	{
		LncScanSpec spec = {
			.ncolumns = state->columns.nfields,
			.columns = state->columns.fields,
			.system_columns = state->columns.system,
			.batch_rows = lance_batch_rows(state->source->dataset, &state->columns),
			.filter = state->filter != NULL ? bind_filter(state, econtext) : NULL,
			.nhidden = state->columns.nhidden_fields,
		};

		if (state->parallel != NULL)
			lance_parallel_ranges(state->parallel, &spec);
		lance_check(ctx, lnc_scan_open(ctx, state->lib->arena, state->source->dataset, &spec, &state->scan));
		if (state->parallel != NULL)
			lance_parallel_watch(state->parallel, state->scan, ctx);
	}
	else if (state->filter != NULL && !state->filter_current)
		lance_check(ctx, lnc_scan_filter(ctx, state->scan, bind_filter(state, econtext)));
}

/* The addresses of the nearest rows, in the current memory context. */
static uint64 *
find_nearest(LanceScanState *state, ExprContext *econtext, size_t *count)
{
	const LncDataset *dataset = state->source->dataset;
	LncScanSpec spec = {
		.ncolumns = state->asked.nfields,
		.columns = state->asked.fields,
		.batch_rows = lance_batch_rows(dataset, &state->asked),
	};

	if (state->filter != NULL)
		spec.filter = lance_predicate_bind(state->filter, econtext);
	if (state->parallel != NULL)
	{
		lance_parallel_ranges(state->parallel, &spec);
		lance_parallel_watch(state->parallel, NULL, &state->lib->ctx);
	}
	return lance_nearest_find(state->lib, dataset, &state->nearest, econtext, &spec, state->asked.columns[0].part,
							  count, &state->nearest_stats);
}

/* Evaluate the keys, or find them, and have their rows looked up from now on. */
static void
start_lookup(LanceScanState *state, ExprContext *econtext)
{
	LncContext *ctx = &state->lib->ctx;
	MemoryContext old;
	uint64_t *keys;
	size_t count;

	if (state->take == NULL)
	{
		LncTakeSpec spec = {
			.by = state->by,
			.ncolumns = state->columns.nfields,
			.columns = state->columns.fields,
			.system_columns = state->columns.system,
			.batch_rows = lance_batch_rows(state->source->dataset, &state->columns),
		};

		lance_check(ctx, lnc_take_open(ctx, state->lib->arena, state->source->dataset, &spec, &state->take));
	}
	MemoryContextReset(state->turn);
	old = MemoryContextSwitchTo(state->turn);
	keys = state->keys != NULL ? lance_row_key_evaluate(state->keys, econtext, &count)
							   : find_nearest(state, econtext, &count);
	MemoryContextSwitchTo(old);
	lance_check(ctx, lnc_take_start(ctx, state->take, count, keys));
	state->nkeys += count;
	state->keys_current = true;
}

static const LncBatch *
next_batch(LanceScanState *state, ExprContext *econtext)
{
	LncContext *ctx = &state->lib->ctx;
	const LncBatch *batch;

	if (state->looks_up)
	{
		const LncTaken *taken;

		if (!state->keys_current)
			start_lookup(state, econtext);
		lance_check(ctx, lnc_take_next(ctx, state->take, &taken));
		return taken != NULL ? &taken->batch : NULL;
	}
	ready_scan(state, econtext);
	lance_check(ctx, lnc_scan_next(ctx, state->scan, &batch));
	return batch;
}

/* What is the same for all rows of the new batch is looked up once. */
static void
place_columns(LanceScanState *state)
{
	for (int i = 0; i < state->columns.count; i++)
	{
		LanceScanColumn *column = &state->columns.columns[i];

		column->values = &state->batch->columns[column->part];
		column->any_null = column->values->validity != NULL || column->values->type->kind == LNC_TYPE_NULL;
	}
}

static void
fetch_batch(LanceScanState *state, ExprContext *econtext)
{
	state->row = 0;
	state->batch = NULL;
	state->batch = next_batch(state, econtext);
	state->batches++;
	state->finished = state->batch == NULL;
	if (!state->finished)
		place_columns(state);
}

static void
fill_slot(LanceScanState *state, TupleTableSlot *slot)
{
	int natts = slot->tts_tupleDescriptor->natts;

	if (state->columns.count < natts)
		memset(slot->tts_isnull, true, natts * sizeof(bool));
	for (int i = 0; i < state->columns.count; i++)
	{
		const LanceScanColumn *column = &state->columns.columns[i];
		bool isnull = column->any_null && lnc_column_is_null(column->values, state->row);

		slot->tts_isnull[column->attr] = isnull;
		if (isnull)
			continue;
		state->converting = column;
		slot->tts_values[column->attr] = lance_convert(&column->converter, column->values, state->row);
	}
	state->converting = NULL;
	ExecStoreVirtualTuple(slot);
}

/* Other system columns than tableoid have no meaning here: a row without transaction and without place. */
static void
store_heap_tuple(TupleTableSlot *slot)
{
	HeapTuple tuple = heap_form_tuple(slot->tts_tupleDescriptor, slot->tts_values, slot->tts_isnull);

	HeapTupleHeaderSetXmin(tuple->t_data, InvalidTransactionId);
	HeapTupleHeaderSetXmax(tuple->t_data, InvalidTransactionId);
	HeapTupleHeaderSetCmin(tuple->t_data, InvalidTransactionId);
	ItemPointerSetInvalid(&tuple->t_self);
	ItemPointerSetInvalid(&tuple->t_data->t_ctid);
	ExecStoreHeapTuple(tuple, slot, false);
}

/* Put the next row into the slot, or leave it empty at the end. */
static void
next_row(LanceScanState *state, ExprContext *econtext, TupleTableSlot *slot)
{
	while (!state->finished && (state->batch == NULL || state->row >= state->batch->length))
	{
		/* The last batch is kept where it is known to be the last, so that a rescan of a small table costs nothing. */
		if (state->produced == state->total)
			state->finished = true;
		else
			fetch_batch(state, econtext);
	}
	if (state->finished)
		return;
	fill_slot(state, slot);
	state->row++;
	state->produced++;
	if (state->system_columns)
		store_heap_tuple(slot);
}

TupleTableSlot *
lance_scan_iterate(ForeignScanState *node)
{
	LanceScanState *state = node->fdw_state;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	ErrorContextCallback context = {
		.previous = error_context_stack,
		.callback = scan_error_context,
		.arg = state,
	};

	error_context_stack = &context;
	for (;;)
	{
		ExecClearTuple(slot);
		next_row(state, econtext, slot);
		if (state->rest == NULL || TupIsNull(slot))
			break;
		econtext->ecxt_scantuple = slot;
		if (ExecQual(state->rest, econtext))
			break;
		ResetExprContext(econtext);
		CHECK_FOR_INTERRUPTS();
	}
	error_context_stack = context.previous;
	return slot;
}

void
lance_scan_rescan(ForeignScanState *node)
{
	LanceScanState *state = node->fdw_state;

	/* Files and pages stay open; keys may have changed. */
	if (state->looks_up)
	{
		state->keys_current = false;
		state->batch = NULL;
	}
	else if (state->filter != NULL && lance_predicate_varies(state->filter))
	{
		state->filter_current = false;
		state->batch = NULL;
	}
	else if (state->scan != NULL && (state->batches > 1 || state->batch == NULL || state->parallel != NULL))
	{
		state->batch = NULL;
		state->batches = 0;
		lance_check(&state->lib->ctx, lnc_scan_rewind(&state->lib->ctx, state->scan));
	}
	state->row = 0;
	state->produced = 0;
	state->finished = false;
}

void
lance_scan_end(ForeignScanState *node)
{
	LanceScanState *state = node->fdw_state;

	if (state->memory != NULL)
		MemoryContextDelete(state->memory);
	state->memory = NULL;
}

/* ---- sharing it with other processes */

LanceSource *
lance_scan_source(const ForeignScanState *node)
{
	return ((const LanceScanState *)node->fdw_state)->source;
}

LanceParallel *
lance_scan_parallel(const ForeignScanState *node)
{
	return ((const LanceScanState *)node->fdw_state)->parallel;
}

void
lance_scan_start_parallel(ForeignScanState *node, const ParallelContext *pcxt, void *coordinate)
{
	LanceScanState *state = node->fdw_state;

	lance_parallel_start(&state->parallel, state->source, pcxt, coordinate);
	state->total = -1;
}

void
lance_scan_attach_parallel(ForeignScanState *node, void *coordinate)
{
	LanceScanState *state = node->fdw_state;

	state->parallel =
		lance_parallel_attach(coordinate, state->options, state->userid, node->ss.ps.state, &state->source);
	prepare(node);
}
