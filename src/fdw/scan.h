/*
 * scan.h
 *	  State of one foreign scan, and the callbacks of lance_fdw.
 */
#ifndef LANCE_FDW_SCAN_H
#define LANCE_FDW_SCAN_H

#include "commands/explain.h"
#include "fdw/nearest.h"
#include "fdw/parallel.h"
#include "fdw/pushdown.h"
#include "fdw/source.h"
#include "foreign/fdwapi.h"
#include "pg/convert.h"
#include "scan/scan.h"
#include "scan/take.h"

/* One column of the foreign table that is read. */
typedef struct LanceScanColumn
{
	int attr; /* index into the tuple descriptor */
	int part; /* index into the batch, and, unless a system column, into LanceColumnSet.fields */
	LanceConverter converter;

	/* In a foreign scan, of the batch at hand. */
	const LncColumn *values;
	bool any_null; /* there may be NULLs */
} LanceScanColumn;

/* The columns that a reader wants, and the dataset's fields behind them: two columns may show one field. */
typedef struct LanceColumnSet
{
	int count;   /* of columns that rows are made of; behind them come those read for conditions alone */
	int nhidden; /* how many of these */
	LanceScanColumn *columns; /* array of count + nhidden */
	int nfields;
	int nhidden_fields; /* so many of the last fields are behind hidden columns only */
	int32_t *fields;    /* array of nfields, indexes into the dataset's schema, distinct */
	uint32 system;      /* set of LncSystemColumn, behind the fields in the batch */
} LanceColumnSet;

/*
 * Match attributes (numbers from 1, in attnums, and in hidden those that are read for conditions alone) of a foreign table
 * with the dataset's fields, or, where it has none of the name, with the system columns. Throws 42703 naming a
 * column that the dataset lacks, 42804 when the types differ, 0A000 for types that are not offered.
 */
extern void lance_match_columns(Relation relation, const LncDataset *dataset, List *attnums, List *hidden,
								LanceColumnSet *out);

/* By number of attribute, up to natts: where the columns of the set have it. Palloc'd; 0 for attributes that are not in it. */
extern int32 *lance_column_places(const LanceColumnSet *set, int natts);

/* The batch_rows of a scan of these columns: fewer for wide ones, so that batches are seldom begun in vain. */
extern int64 lance_batch_rows(const LncDataset *dataset, const LanceColumnSet *set);

/* State of a scan, in the query's context. */
typedef struct LanceScanState
{
	LanceTableOptions *options;
	Oid userid;
	const char *relation_name;         /* for error context, as is the next */
	const LanceScanColumn *converting; /* the column whose value is being converted; NULL: none */
	LanceSource *source;               /* lives as long as the query */
	LanceColumnSet columns;
	MemoryContext memory;  /* holds lib; deleted at the end of the scan */
	LanceLibrary *lib;     /* its context counts what this scan asks of stores, blobs aside */
	LncScan *scan;         /* NULL until the first row is asked for, as is take */
	const LncBatch *batch; /* the batch that rows are taken from; NULL: fetch one */
	int64 row;             /* next row of the batch */
	int64 batches;         /* fetched since the start or the last rewind */
	double produced;       /* rows since the start or the last rewind */
	double total;          /* rows that the manifest promises, -1 where it does not */
	bool finished;
	bool system_columns;     /* a system column is asked for */
	LanceParallel *parallel; /* NULL: not shared with other processes */

	/* Conditions that the scan evaluates. */
	LancePredicate *filter; /* NULL: none */
	bool filter_current;    /* its values have been evaluated since the start or the last rescan */
	ExprState *rest;        /* what was planned as such but can't be asked of this dataset; NULL: nothing */

	/* Rows looked up by id or address, in place of scan. */
	bool looks_up;
	ExprState *keys;    /* NULL: those of nearest */
	bool keys_current;  /* they have been evaluated since the start or the last rescan */
	MemoryContext turn; /* holds their values, or those of filter; reset when they are evaluated anew */
	LncTakeBy by;
	LncTake *take;
	uint64 nkeys; /* over all turns */

	/* The nearest rows: what is asked to find their addresses. */
	LanceNearestSearch nearest;
	LanceColumnSet asked;       /* the vectors, and the columns of conditions */
	LncScanStats nearest_stats; /* of the last search */
} LanceScanState;

/* The line that says where a dataset lies, for who may act as the role that it is read for: not for who uses a view. */
extern void lance_explain_location(const LanceSource *source, Oid userid, ExplainState *es);

extern void lanceGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid);
extern void lanceGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid);
extern ForeignScan *lanceGetForeignPlan(PlannerInfo *root, RelOptInfo *baserel, Oid foreigntableid,
										ForeignPath *best_path, List *tlist, List *scan_clauses, Plan *outer_plan);

/* The executor's callbacks for a scan of a table; aggregate.h has those for aggregates. */
extern void lance_scan_begin(ForeignScanState *node, int eflags);
extern TupleTableSlot *lance_scan_iterate(ForeignScanState *node);
extern void lance_scan_rescan(ForeignScanState *node);
extern void lance_scan_end(ForeignScanState *node);
extern LanceSource *lance_scan_source(const ForeignScanState *node);
extern LanceParallel *lance_scan_parallel(const ForeignScanState *node);
extern void lance_scan_start_parallel(ForeignScanState *node, const ParallelContext *pcxt, void *coordinate);
extern void lance_scan_attach_parallel(ForeignScanState *node, void *coordinate);
extern void lance_scan_explain(ForeignScanState *node, ExplainState *es);

extern bool lanceAnalyzeForeignTable(Relation relation, AcquireSampleRowsFunc *func, BlockNumber *totalpages);
extern List *lanceImportForeignSchema(ImportForeignSchemaStmt *stmt, Oid server_oid);

#endif
