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
#include "pg/convert.h"
#include "scan/scan.h"

/* So many rows at most are asked for this way by a constant: each of them is looked up. */
#define LANCE_NEAREST_MAX 10000

/* The distance that a query is ordered by, least first. */
typedef struct LanceNearest
{
	LncMetric metric;
	LncVectorKind kind;
	Oid function;      /* of pgvector, whose results are to be its own; InvalidOid: a distance of ours */
	AttrNumber attnum; /* the column of vectors */
	Expr *query;       /* of a type of that kind, or of pgvector, without columns of the table */
	int64 count;       /* rows wanted, or, where limits has expressions, expected */
	List *limits;      /* LIMIT and OFFSET, where they are no constants; the latter may be NULL */
	bool ties;         /* and all that are as far as the last of them */
	List *conditions;  /* RestrictInfos that compare the distance with bounds */
	List *strategies;  /* integers, by which operators of a btree */
	List *bounds;      /* expressions */
	List *pathkeys;    /* how rows come */
} LanceNearest;

/* The metric's name for people. */
extern const char *lance_nearest_metric_name(LncMetric metric);

/*
 * Whether the query wants the nearest rows of the relation, which is all that it reads, and has no other conditions than
 * those that the scan takes over (pushed, RestrictInfos) and bounds of the distance.
 */
extern bool lance_nearest_choose(PlannerInfo *root, RelOptInfo *baserel, const LanceAttributes *attributes,
								 List *pushed, LanceNearest *out);

/* What a plan keeps of it: integers, and expressions, first the query, then the bounds and the limits. */
extern List *lance_nearest_numbers(const LanceNearest *nearest);
extern List *lance_nearest_expressions(const LanceNearest *nearest);

typedef struct LanceDistanceBound
{
	int strategy; /* of a btree: distances that are less, at most, at least or more than the value */
	ExprState *expression;
} LanceDistanceBound;

/* What a search needs. Strings and arrays are borrowed. */
typedef struct LanceNearestSearch
{
	LncMetric metric;
	LncVectorKind kind;
	Oid function;
	AttrNumber attnum;
	int64 count;
	bool ties;
	bool varies; /* the number of rows is evaluated */
	int nbounds;
	LanceDistanceBound *bounds;

	/* Set by lance_nearest_prepare. */
	ExprState *query;
	ExprState *limit; /* where it varies, as offset */
	ExprState *offset;
	const LanceConverter *converter; /* of the column */
	FmgrInfo distance;               /* where function is valid */

	LncArena *arena; /* of searches, kept from one to the next; NULL before the first */
} LanceNearestSearch;

/* The search that such integers describe; its expressions come by lance_nearest_prepare. */
extern void lance_nearest_read(List *numbers, LanceNearestSearch *out);

/* How many of the plan's expressions are the search's. */
static inline int
lance_nearest_nexpressions(const LanceNearestSearch *search)
{
	return 1 + search->nbounds + (search->varies ? 2 : 0);
}

/* Get the search ready: the plan's expressions, and the conversion of the column, which must outlive it. */
extern void lance_nearest_prepare(LanceNearestSearch *search, List *expressions, const LanceConverter *converter,
								  PlanState *parent);

/*
 * The addresses of the nearest rows that pass the filter and the bounds, nearest first, in the current memory context: at
 * most as many as are wanted, and those as far as the last one if ties are wanted. Rows whose distance is NULL come last, NaN
 * before them; equally far ones come in the order of the dataset. spec: columns and filter of the scan; the vectors are
 * column vectors of them. Throws 22000 when a vector that is not NULL is of another size than the query, and whatever
 * pgvector throws.
 */
extern uint64 *lance_nearest_find(LanceLibrary *lib, const LncDataset *dataset, LanceNearestSearch *search,
								  ExprContext *econtext, const LncScanSpec *spec, int32 vectors, size_t *found,
								  LncScanStats *stats);

#endif
