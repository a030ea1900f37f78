/*
 * nearest.h
 *	  ORDER BY the distance to a vector LIMIT k: the rows are found by one look at vectors and conditions, then looked up.
 */
#ifndef LANCE_FDW_NEAREST_H
#define LANCE_FDW_NEAREST_H

#include "column/distance.h"
#include "fdw/pushdown.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "scan/scan.h"

/* So many rows at most are found this way: each of them is looked up. */
#define LANCE_NEAREST_MAX 10000

/* The distance that a query is ordered by, least first. */
typedef struct LanceNearest
{
	LncMetric metric;
	LncVectorKind kind;
	AttrNumber attnum; /* the column of vectors */
	Expr *query;       /* of a type of that kind, without columns of the table */
	int64 count;       /* rows wanted */
} LanceNearest;

/* The metric's name for people. */
extern const char *lance_nearest_metric_name(LncMetric metric);

/* Whether the query wants the nearest rows of the relation, which is all that it reads; conditions are left to the caller. */
extern bool lance_nearest_choose(PlannerInfo *root, RelOptInfo *baserel, const LanceAttributes *attributes,
								 LanceNearest *out);

/* What a search needs. Strings and arrays are borrowed. */
typedef struct LanceNearestSearch
{
	LncMetric metric;
	LncVectorKind kind;
	int64 count;
	Datum query;     /* a value of the query's type that is not NULL */
	bool isnull;     /* it is NULL */
	LncArena *arena; /* of searches, kept from one to the next; NULL before the first */
} LanceNearestSearch;

/*
 * The addresses of the nearest rows that pass the filter, nearest first, in the current memory context: at most
 * search->count. Rows whose distance is NULL come last, NaN before them. spec: columns and filter of the scan; the
 * vectors are column vectors of them. Throws 22000 when a vector that is not NULL is of another
 * size than the query.
 */
extern uint64 *lance_nearest_find(LanceLibrary *lib, const LncDataset *dataset, LanceNearestSearch *search,
								  const LncScanSpec *spec, int32 vectors, size_t *found, LncScanStats *stats);

#endif
