/*
 * aggregate_scan.c
 *	  Execution of aggregates over a foreign table: batches are added up, groups become rows.
 *
 * Groups are bounded by the server's limit for hash tables. Where they outgrow it, the table is read several times, each
 * time for those groups whose hash lies in one part of all hashes. Whenever the groups of a part take too much, the part is
 * halved: groups of its first half stay, with all that was added up so far, those of the other are left to later times.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "fdw/aggregate.h"
#include "fdw/scan.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "pg/report.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

/* So many times as wide as the last part the next one begins. */
#define WIDENING 4

/* One column of the rows: a grouping column, or an aggregate. */
typedef struct Output
{
	int key;       /* number of the key; -1: an aggregate */
	int aggregate; /* its number */
	LanceFinal final;
	const LanceConverter *converter; /* of values of columns */
	LncColumn values;                /* of all groups at hand, likewise */
} Output;

typedef struct AggregateState
{
	LanceTableOptions *options;
	Oid userid;
	Relation relation;
	LanceSource *source;
	MemoryContext memory; /* holds lib; deleted at the end */
	MemoryContext turn;   /* values of conditions */
	LanceLibrary *lib;
	LanceColumnSet columns;
	bool *presence; /* array of columns.nfields: only whether values are NULL is asked */
	int noutputs;
	Output *outputs;
	LanceAggregate *wanted;    /* array of spec.naggregates */
	LancePredicate **filters;  /* of the aggregates, likewise; NULL: none */
	LancePredicate *condition; /* NULL: none */
	bool varies;               /* another run may have other results */
	bool counts;               /* only rows are counted, and there are so many: */
	double rows;
	LncAggregate *aggregates;
	LncAggregationSpec spec;

	LncScan *scan;
	LncArena *groups; /* of the aggregation at hand */
	LncArena *spare;  /* of the next one, where it is narrowed */
	LncArena *scratch;
	LncAggregation *aggregation; /* NULL: nothing was read yet */
	LncHashRange range;
	int32 group;             /* next one to hand out */
	bool partial;            /* rows are parts for the executor to combine: a group may come more than once */
	bool read;               /* partial: all rows have been */
	LanceParallel *parallel; /* NULL: not shared with other processes */
	int64 passes;            /* over the table */
} AggregateState;

/* ---- preparing */

/* What the columns of the rows are, and what has to be aggregated for them. */
static void
read_outputs(AggregateState *state, const LancePredicateTable *table, List *tlist, int32 *keys)
{
	ListCell *lc;

	state->outputs = palloc0(Max(list_length(tlist), 1) * sizeof(Output));
	state->wanted = palloc0(Max(list_length(tlist), 1) * sizeof(LanceAggregate));
	foreach (lc, tlist)
	{
		Expr *expression = lfirst_node(TargetEntry, lc)->expr;
		Output *output = &state->outputs[state->noutputs++];

		output->key = -1;
		if (IsA(expression, Aggref))
		{
			LanceAggregate *aggregate = &state->wanted[state->spec.naggregates];

			if (!lance_aggregate_read(table, (Aggref *)expression, aggregate))
				lance_types_changed(state->relation);
			output->aggregate = state->spec.naggregates++;
			output->final = aggregate->final;
			continue;
		}
		if (!lance_aggregate_groups(table, (Node *)expression))
			lance_types_changed(state->relation);
		output->key = state->spec.nkeys;
		keys[state->spec.nkeys++] = ((Var *)expression)->varattno;
	}
}

static const LanceConverter *
converter_of(const AggregateState *state, AttrNumber attnum)
{
	for (int i = 0; i < state->columns.count; i++)
	{
		if (state->columns.columns[i].attr == attnum - 1)
			return &state->columns.columns[i].converter;
	}
	return NULL;
}

/* Values of the columns that an expression uses are looked at. */
static void
look_at(AggregateState *state, Node *expression, Index varno, const int32 *places)
{
	ListCell *lc;

	foreach (lc, lance_pushdown_columns(NIL, expression, varno))
	{
		if (lfirst_int(lc) > 0 && places[lfirst_int(lc)] >= 0)
			state->presence[places[lfirst_int(lc)]] = false;
	}
}

/* Find the columns that are only counted. What conditions use is not among them, be it known by now to decide nothing. */
static void
find_counted(AggregateState *state, List *tlist, List *clauses, Index varno, const int32 *places)
{
	ListCell *lc;

	state->presence = palloc0(Max(state->columns.nfields, 1) * sizeof(bool));
	for (int i = 0; i < state->spec.naggregates; i++)
	{
		if (state->wanted[i].kind == LNC_COUNT)
			state->presence[places[state->wanted[i].column->varattno]] = true;
	}
	for (int i = 0; i < state->spec.naggregates; i++)
	{
		if (state->wanted[i].kind != LNC_COUNT && state->wanted[i].column != NULL)
			look_at(state, (Node *)state->wanted[i].column, varno, places);
		look_at(state, (Node *)state->wanted[i].filter, varno, places);
	}
	foreach (lc, tlist)
	{
		Expr *expression = lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(expression, Aggref))
			look_at(state, (Node *)expression, varno, places);
	}
	look_at(state, (Node *)clauses, varno, places);
}

static void
prepare(AggregateState *state, ForeignScanState *node, Index varno)
{
	ForeignScan *plan = (ForeignScan *)node->ss.ps.plan;
	const LncDataset *dataset = state->source->dataset;
	List *clauses = copyObject(lsecond_node(List, plan->fdw_private));
	List *shown = NIL;
	List *hidden = NIL;
	List *rest;
	LanceAttributes attributes;
	LancePredicateTable table = {.varno = varno};
	int32 *places;
	int32 *keys;
	const LncType **types;
	ListCell *lc;

	ChangeVarNodes((Node *)clauses, intVal(linitial(plan->fdw_private)), (int)varno, 0);
	lance_attributes_find(state->relation, dataset, &attributes);
	table.natts = attributes.natts;
	table.types = attributes.types;
	(void)lance_pushdown_split(varno, &attributes, clauses, &rest);
	if (rest != NIL)
		lance_types_changed(state->relation);
	keys = palloc0(Max(list_length(plan->fdw_scan_tlist), 1) * sizeof(*keys));
	read_outputs(state, &table, plan->fdw_scan_tlist, keys);
	shown = lance_pushdown_columns(NIL, (Node *)plan->fdw_scan_tlist, varno);
	foreach (lc, lance_pushdown_columns(NIL, (Node *)clauses, varno))
	{
		if (!list_member_int(shown, lfirst_int(lc)))
			hidden = lappend_int(hidden, lfirst_int(lc));
	}
	lance_match_columns(state->relation, dataset, shown, hidden, &state->columns);

	places = lance_column_places(&state->columns, attributes.natts);
	find_counted(state, plan->fdw_scan_tlist, clauses, varno, places);
	state->aggregates = palloc0(Max(state->spec.naggregates, 1) * sizeof(LncAggregate));
	state->filters = palloc0(Max(state->spec.naggregates, 1) * sizeof(LancePredicate *));
	for (int i = 0; i < state->spec.naggregates; i++)
	{
		const LanceAggregate *wanted = &state->wanted[i];

		state->aggregates[i].kind = wanted->kind;
		if (wanted->column != NULL)
			state->aggregates[i].column = places[wanted->column->varattno];
		if (wanted->filter == NULL)
			continue;
		state->filters[i] = lance_predicate_prepare(&table, list_make1(wanted->filter), places, &node->ss.ps);
		state->varies = state->varies || lance_predicate_varies(state->filters[i]);
	}
	if (clauses != NIL)
	{
		state->condition = lance_predicate_prepare(&table, clauses, places, &node->ss.ps);
		state->varies = state->varies || lance_predicate_varies(state->condition);
	}
	for (int i = 0; i < state->noutputs; i++)
	{
		Output *output = &state->outputs[i];

		if (output->key >= 0)
			output->converter = converter_of(state, keys[output->key]);
		else if (output->final == LANCE_FINAL_EXTREME)
			output->converter = converter_of(state, state->wanted[output->aggregate].column->varattno);
	}
	for (int i = 0; i < state->spec.nkeys; i++)
		keys[i] = places[keys[i]];
	types = palloc0(Max(state->columns.nfields, 1) * sizeof(*types));
	for (int i = 0; i < state->columns.nfields; i++)
		types[i] = &dataset->schema.fields[state->columns.fields[i]].type;
	state->spec.keys = keys;
	state->spec.aggregates = state->aggregates;
	state->spec.ncolumns = state->columns.nfields;
	state->spec.types = types;
	state->spec.memory = get_hash_memory_limit();
}

/* Whether all that is asked for is how many rows there are. */
static bool
counts_rows(const AggregateState *state)
{
	for (int i = 0; i < state->spec.naggregates; i++)
	{
		if (state->wanted[i].kind != LNC_COUNT_ROWS || state->wanted[i].filter != NULL)
			return false;
	}
	return state->spec.nkeys == 0 && state->condition == NULL;
}

/* Get ready to read state->source. */
static void
prepare_run(ForeignScanState *node)
{
	AggregateState *state = node->fdw_state;
	bool exact;

	prepare(state, node, bms_singleton_member(((ForeignScan *)node->ss.ps.plan)->fs_relids));
	state->rows = lance_source_rows(state->source, &exact);
	/* Of shared plans, that is: groups without aggregates are parts as well. */
	state->partial = node->ss.ps.plan->parallel_aware;
	state->counts = exact && !state->partial && counts_rows(state);
	state->memory =
		AllocSetContextCreate(node->ss.ps.state->es_query_cxt, "lance aggregates", ALLOCSET_SMALL_SIZES);
	state->turn = AllocSetContextCreate(state->memory, "lance values of conditions", ALLOCSET_SMALL_SIZES);
	state->lib = lance_library_create(state->memory);
	state->range.last = PG_UINT64_MAX;
}

void
lance_aggregate_begin(ForeignScanState *node, int eflags)
{
	EState *estate = node->ss.ps.state;
	ForeignScan *plan = (ForeignScan *)node->ss.ps.plan;
	Index varno = bms_singleton_member(plan->fs_relids);
	RangeTblEntry *rte = exec_rt_fetch(varno, estate);
	AggregateState *state = palloc0(sizeof(*state));

	node->fdw_state = state;
	state->options = lance_table_options_get(rte->relid);
	state->userid = OidIsValid(rte->checkAsUser) ? rte->checkAsUser : GetUserId();
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0)
		return;
	state->relation = ExecGetRangeTableRelation(estate, varno);
	if (lance_parallel_is_worker(node))
		return;
	state->source = lance_source_open(state->options, state->userid, estate);
	prepare_run(node);
}

/* ---- running */

/* Evaluate the values of all conditions anew. Returns that of the rows, NULL for none. */
static const LncPredicate *
bind_conditions(AggregateState *state, ExprContext *econtext)
{
	const LncPredicate *condition = NULL;
	MemoryContext old;

	MemoryContextReset(state->turn);
	old = MemoryContextSwitchTo(state->turn);
	for (int i = 0; i < state->spec.naggregates; i++)
	{
		if (state->filters[i] != NULL)
			state->aggregates[i].filter = lance_predicate_bind(state->filters[i], econtext);
	}
	if (state->condition != NULL)
		condition = lance_predicate_bind(state->condition, econtext);
	MemoryContextSwitchTo(old);
	return condition;
}

static void
start_groups(AggregateState *state)
{
	LncContext *ctx = &state->lib->ctx;

	state->aggregation = NULL;
	lnc_arena_reset(state->groups);
	lance_check(ctx, lnc_aggregation_create(ctx, state->groups, &state->spec, &state->aggregation));
}

/* Start reading the table from its first row. */
static void
start_scan(AggregateState *state, const LncPredicate *condition)
{
	LncContext *ctx = &state->lib->ctx;

	state->passes++;
	if (state->scan == NULL)
	{
		LncScanSpec spec = {
			.ncolumns = state->columns.nfields,
			.columns = state->columns.fields,
			.batch_rows = lance_batch_rows(state->source->dataset, &state->columns),
			.filter = condition,
			.nhidden = state->columns.nhidden_fields,
			.presence = state->presence,
		};

		if (state->parallel != NULL)
			lance_parallel_ranges(state->parallel, &spec);
		lance_check(ctx, lnc_scan_open(ctx, state->lib->arena, state->source->dataset, &spec, &state->scan));
		if (state->parallel != NULL)
			lance_parallel_watch(state->parallel, state->scan, ctx);
		lance_check(ctx, lnc_arena_create_child(ctx, state->lib->arena, &state->groups));
		lance_check(ctx, lnc_arena_create_child(ctx, state->lib->arena, &state->spare));
		lance_check(ctx, lnc_arena_create_child(ctx, state->lib->arena, &state->scratch));
	}
	else if (condition != NULL)
		lance_check(ctx, lnc_scan_filter(ctx, state->scan, condition));
	else
		lance_check(ctx, lnc_scan_rewind(ctx, state->scan));
	start_groups(state);
}

/* Halve the range. What was added up for the groups of its first half stays. */
static void
narrow_range(AggregateState *state)
{
	LncContext *ctx = &state->lib->ctx;
	LncArena *groups = state->groups;

	state->range.last = state->range.first + (state->range.last - state->range.first) / 2;
	lance_check(ctx,
				lnc_aggregation_narrow(ctx, state->aggregation, state->spare, state->range, &state->aggregation));
	state->groups = state->spare;
	state->spare = groups;
	lnc_arena_reset(groups);
}

/*
 * Add up all rows of the range, or of as much of it as there is memory for. Parts of aggregates need no range: false when the
 * memory is full before the last row.
 */
static bool
add_batches(AggregateState *state)
{
	LncContext *ctx = &state->lib->ctx;
	size_t limit = get_hash_memory_limit();
	const LncBatch *batch;

	for (;;)
	{
		lance_check(ctx, lnc_scan_next(ctx, state->scan, &batch));
		if (batch == NULL)
			return true;
		lnc_arena_reset(state->scratch);
		lance_check(ctx, lnc_aggregation_add(ctx, state->aggregation, state->scratch, state->range, batch));
		while (lnc_arena_footprint(state->groups) > limit && lnc_aggregation_count(state->aggregation) > 1 &&
			   state->range.last > state->range.first)
		{
			if (state->partial)
				return false;
			narrow_range(state);
		}
	}
}

/* Have the values of keys, and of columns, at hand for all groups. */
static void
show_groups(AggregateState *state)
{
	LncContext *ctx = &state->lib->ctx;

	state->group = 0;
	lnc_arena_reset(state->scratch);
	for (int i = 0; i < state->noutputs; i++)
	{
		Output *output = &state->outputs[i];

		if (output->key >= 0)
			lance_check(ctx,
						lnc_aggregation_key(ctx, state->aggregation, state->scratch, output->key, &output->values));
		else if (output->final == LANCE_FINAL_EXTREME)
			lance_check(ctx, lnc_aggregation_column(ctx, state->aggregation, state->scratch, output->aggregate,
													&output->values));
	}
}

/* Read the table for the range at hand, or the part of it whose groups fit, which is then the range. */
static void
run_pass(AggregateState *state, ExprContext *econtext)
{
	start_scan(state, bind_conditions(state, econtext));
	(void)add_batches(state);
	show_groups(state);
}

/* Read on, up to where the groups take too much memory: they are handed out, and begun anew behind them. */
static void
run_part(AggregateState *state, ExprContext *econtext)
{
	if (state->aggregation == NULL)
		start_scan(state, bind_conditions(state, econtext));
	else
		start_groups(state);
	state->read = add_batches(state);
	show_groups(state);
}

/* ---- results */

static void
fill_row(AggregateState *state, TupleTableSlot *slot)
{
	for (int i = 0; i < state->noutputs; i++)
	{
		Output *output = &state->outputs[i];
		LncAggregated result = {.count = (int64)state->rows};

		if (output->key < 0 && output->final != LANCE_FINAL_EXTREME)
		{
			if (!state->counts)
				lnc_aggregation_result(state->aggregation, output->aggregate, state->group, &result);
			slot->tts_values[i] = lance_aggregate_value(output->final, &result, &slot->tts_isnull[i]);
			continue;
		}
		slot->tts_isnull[i] = lnc_column_is_null(&output->values, state->group);
		if (!slot->tts_isnull[i])
			slot->tts_values[i] = lance_convert(output->converter, &output->values, state->group);
	}
	ExecStoreVirtualTuple(slot);
}

static void
aggregate_error_context(void *arg)
{
	const AggregateState *state = arg;

	errcontext("aggregates of foreign table \"%s\"", RelationGetRelationName(state->relation));
}

/* Whether there is a group to hand out; reads the table where that is to be found out. */
static bool
have_group(AggregateState *state, ExprContext *econtext)
{
	if (state->counts)
		return state->group == 0;
	if (state->partial)
	{
		while (state->aggregation == NULL || state->group >= lnc_aggregation_count(state->aggregation))
		{
			if (state->aggregation != NULL && state->read)
				return false;
			run_part(state, econtext);
		}
		return true;
	}
	if (state->aggregation == NULL)
		run_pass(state, econtext);
	while (state->group >= lnc_aggregation_count(state->aggregation))
	{
		uint64 width = state->range.last - state->range.first;

		if (state->range.last == PG_UINT64_MAX)
			return false;
		/* A part that was narrow by chance is not to make all that follow narrow: they begin wider, and are halved on the way. */
		width = width < PG_UINT64_MAX / WIDENING ? width * WIDENING : PG_UINT64_MAX;
		state->range.first = state->range.last + 1;
		state->range.last = width < PG_UINT64_MAX - state->range.first ? state->range.first + width : PG_UINT64_MAX;
		run_pass(state, econtext);
	}
	return true;
}

TupleTableSlot *
lance_aggregate_iterate(ForeignScanState *node)
{
	AggregateState *state = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	ErrorContextCallback context = {
		.previous = error_context_stack,
		.callback = aggregate_error_context,
		.arg = state,
	};

	ExecClearTuple(slot);
	error_context_stack = &context;
	if (have_group(state, node->ss.ps.ps_ExprContext))
	{
		fill_row(state, slot);
		state->group++;
	}
	error_context_stack = context.previous;
	return slot;
}

void
lance_aggregate_rescan(ForeignScanState *node)
{
	AggregateState *state = node->fdw_state;

	state->group = 0;
	if (state->varies || state->range.first > 0 || state->partial)
	{
		state->aggregation = NULL;
		state->read = false;
		state->range.first = 0;
		state->range.last = PG_UINT64_MAX;
	}
}

void
lance_aggregate_end(ForeignScanState *node)
{
	AggregateState *state = node->fdw_state;

	if (state->memory != NULL)
		MemoryContextDelete(state->memory);
	state->memory = NULL;
}

/* ---- sharing it with other processes */

LanceSource *
lance_aggregate_source(const ForeignScanState *node)
{
	return ((const AggregateState *)node->fdw_state)->source;
}

LanceParallel *
lance_aggregate_parallel(const ForeignScanState *node)
{
	return ((const AggregateState *)node->fdw_state)->parallel;
}

void
lance_aggregate_start_parallel(ForeignScanState *node, const ParallelContext *pcxt, void *coordinate)
{
	AggregateState *state = node->fdw_state;

	lance_parallel_start(&state->parallel, state->source, pcxt, coordinate);
}

void
lance_aggregate_attach_parallel(ForeignScanState *node, void *coordinate)
{
	AggregateState *state = node->fdw_state;

	state->parallel =
		lance_parallel_attach(coordinate, state->options, state->userid, node->ss.ps.state, &state->source);
	prepare_run(node);
}

/* ---- EXPLAIN */

void
lance_aggregate_explain(ForeignScanState *node, ExplainState *es)
{
	AggregateState *state = node->fdw_state;
	ForeignScan *plan = (ForeignScan *)node->ss.ps.plan;
	Index varno = bms_singleton_member(plan->fs_relids);
	RangeTblEntry *rte = exec_rt_fetch(varno, node->ss.ps.state);
	List *context = set_deparse_context_plan(es->deparse_cxt, (Plan *)plan, NIL);
	List *clauses = copyObject(lsecond_node(List, plan->fdw_private));
	List *keys = NIL;
	List *aggregates = NIL;
	LanceSource *source = state->source;
	LncScanStats stats = {0};
	LncUsage usage = {0};
	ListCell *lc;

	foreach (lc, plan->fdw_scan_tlist)
	{
		Expr *expression = lfirst_node(TargetEntry, lc)->expr;
		char *text = deparse_expression((Node *)expression, context, false, false);

		if (IsA(expression, Aggref))
			aggregates = lappend(aggregates, text);
		else
			keys = lappend(keys, text);
	}
	ExplainPropertyText("Lance Relation", get_rel_name(rte->relid), es);
	if (keys != NIL)
		ExplainPropertyList("Lance Group Key", keys, es);
	ExplainPropertyList("Lance Aggregates", aggregates, es);
	if (clauses != NIL)
	{
		ChangeVarNodes((Node *)clauses, intVal(linitial(plan->fdw_private)), (int)varno, 0);
		ExplainPropertyText("Lance Filter",
							deparse_expression((Node *)make_ands_explicit(clauses), context, false, false), es);
	}
	if (!es->verbose && !es->analyze)
		return;
	if (source == NULL)
		source = lance_source_open(state->options, state->userid, node->ss.ps.state);
	ExplainPropertyInteger("Lance Version", NULL, (int64)source->dataset->version, es);
	if (es->verbose)
		lance_explain_location(source, state->userid, es);
	if (!es->analyze)
		return;
	if (state->scan != NULL)
		lnc_scan_stats(state->scan, &stats);
	if (state->lib != NULL)
		usage = state->lib->ctx.usage;
	lance_parallel_add_stats(state->parallel, &stats, &usage);
	if (!state->partial)
		ExplainPropertyInteger("Lance Passes", NULL, state->passes, es);
	ExplainPropertyInteger("Lance Fragments", NULL, (int64)stats.fragments, es);
	ExplainPropertyInteger("Lance Rows", NULL, (int64)stats.rows, es);
	ExplainPropertyInteger("Lance Rows Deleted", NULL, (int64)stats.rows_deleted, es);
	if (state->condition != NULL)
		ExplainPropertyInteger("Lance Rows Filtered", NULL, (int64)stats.rows_filtered, es);
	ExplainPropertyInteger("Storage Requests", NULL, (int64)usage.requests, es);
	ExplainPropertyInteger("Storage Bytes", NULL, (int64)usage.bytes_read, es);
	if (usage.recalled > 0)
		ExplainPropertyInteger("Metadata Cache Hits", NULL, (int64)usage.recalled, es);
}
