/*
 * aggregate.h
 *	  Aggregates that the scan of a foreign table makes by itself: which there are, and running them.
 *
 * The plan is a foreign scan without a relation of its own. Its fdw_scan_tlist holds the grouping columns and the aggregates
 * that its rows are made of; its fdw_private is a list of two: the number of the table's range table entry as
 * it was planned, and the conditions, whose columns have that number. fdw_exprs holds the parameters in these.
 */
#ifndef LANCE_FDW_AGGREGATE_H
#define LANCE_FDW_AGGREGATE_H

#include "commands/explain.h"
#include "fdw/parallel.h"
#include "foreign/fdwapi.h"
#include "nodes/primnodes.h"
#include "pg/predicate.h"
#include "scan/aggregate.h"

/* How the result, or a part of it for the executor to combine, is made of what was added up. */
typedef enum LanceFinal
{
	LANCE_FINAL_COUNT,
	LANCE_FINAL_INT8,        /* the sum */
	LANCE_FINAL_NUMERIC,     /* the sum */
	LANCE_FINAL_FLOAT4,      /* the sum */
	LANCE_FINAL_FLOAT8,      /* the sum */
	LANCE_FINAL_AVG_NUMERIC, /* the average of integers */
	LANCE_FINAL_AVG_FLOAT8,
	LANCE_FINAL_EXTREME, /* a value of the column */
	LANCE_FINAL_BOOL,

	/* Transition values of the server's aggregates, as their combining functions take them. */
	LANCE_PARTIAL_INT8_AVG,   /* bytea, of sum and avg of bigint */
	LANCE_PARTIAL_INT4_AVG,   /* bigint[]: count and sum */
	LANCE_PARTIAL_FLOAT8_AVG, /* double precision[]: count, sum, squared deviations */
} LanceFinal;

/* One aggregate of a query. */
typedef struct LanceAggregate
{
	LncAggregateKind kind;
	LanceFinal final;
	Var *column;  /* NULL: of rows */
	Expr *filter; /* NULL: none */
} LanceAggregate;

/* Whether the scan of the table can make the aggregate, or parts of it where it is marked as partial; *out says how. */
extern bool lance_aggregate_read(const LancePredicateTable *table, Aggref *aggref, LanceAggregate *out);

/* Whether rows of the table can be grouped by the expression: a column. */
extern bool lance_aggregate_groups(const LancePredicateTable *table, Node *expression);

/* The value of an aggregate that is no value of a column. */
extern Datum lance_aggregate_value(LanceFinal final, const LncAggregated *result, bool *isnull);

/* The callbacks of lance_fdw for such a plan. */
extern void lance_aggregate_begin(ForeignScanState *node, int eflags);
extern TupleTableSlot *lance_aggregate_iterate(ForeignScanState *node);
extern void lance_aggregate_rescan(ForeignScanState *node);
extern void lance_aggregate_end(ForeignScanState *node);
extern LanceSource *lance_aggregate_source(const ForeignScanState *node);
extern LanceParallel *lance_aggregate_parallel(const ForeignScanState *node);
extern void lance_aggregate_start_parallel(ForeignScanState *node, const ParallelContext *pcxt, void *coordinate);
extern void lance_aggregate_attach_parallel(ForeignScanState *node, void *coordinate);
extern void lance_aggregate_explain(ForeignScanState *node, ExplainState *es);

#endif
