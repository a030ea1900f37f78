/*
 * row_key.h
 *	  Conditions that name rows of a foreign table by their id or address: finding them, and the rows they name.
 */
#ifndef LANCE_FDW_ROW_KEY_H
#define LANCE_FDW_ROW_KEY_H

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "scan/take.h"

/* A condition column = value, or column = ANY (value), on a column _rowid or _rowaddr. */
typedef struct LanceRowKey
{
	LncTakeBy by;
	RestrictInfo *rinfo;
	Expr *value;  /* of type smallint, integer or bigint, or an array of these */
	double count; /* of the rows named, estimated */
} LanceRowKey;

/*
 * Of the clauses (RestrictInfos) the one that names fewest rows, into *out. systems: by number of column from 1, which
 * LncSystemColumn it is, 0 for the dataset's own. False when there is none.
 */
extern bool lance_row_key_choose(PlannerInfo *root, RelOptInfo *baserel, const uint32 *systems, List *clauses,
								 LanceRowKey *out);

/* Sets of other relations that could give rows to look up in baserel by a join clause, as a list of Relids. */
extern List *lance_row_key_outer_rels(PlannerInfo *root, RelOptInfo *baserel, const uint32 *systems);

/*
 * The keys that value stands for, ascending and distinct, in the current context. NULLs name no row, nor do negative numbers.
 */
extern uint64 *lance_row_key_evaluate(ExprState *value, ExprContext *econtext, size_t *count);

#endif
