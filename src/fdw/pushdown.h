/*
 * pushdown.h
 *	  What of a query the scan of a foreign table does by itself: conditions that batches can be asked.
 */
#ifndef LANCE_FDW_PUSHDOWN_H
#define LANCE_FDW_PUSHDOWN_H

#include "dataset/dataset.h"
#include "nodes/pathnodes.h"
#include "pg/predicate.h"
#include "utils/rel.h"

/* What lies behind the attributes of a foreign table; arrays by number from 1, natts + 1 long. */
typedef struct LanceAttributes
{
	int natts;
	const LncType **types; /* of the dataset's field; NULL: none, or dropped. Borrowed from the dataset. */
	uint32 *systems;       /* which LncSystemColumn, where the dataset has no field of the name; 0: none */
} LanceAttributes;

/* Look the attributes up. Arrays are made in the current memory context. */
extern void lance_attributes_find(Relation relation, const LncDataset *dataset, LanceAttributes *out);

/* Of the conditions on a relation (RestrictInfos) those that its scan can take over. */
extern List *lance_pushdown_choose(PlannerInfo *root, RelOptInfo *baserel, const LanceAttributes *attributes,
								   List *restrictions);

/*
 * Split the clauses of a plan into those that the scan still can take over and, into *rest, those that it can't any
 * more, because the dataset has other types than when it was planned.
 */
extern List *lance_pushdown_split(Index varno, const LanceAttributes *attributes, List *clauses, List **rest);

/* The columns of relation varno that an expression uses, added to a list of numbers of attributes that has them once each. */
extern List *lance_pushdown_columns(List *attnums, Node *expression, Index varno);

/* Throw 55000: a plan counted on types that the dataset no longer has. */
extern void lance_types_changed(Relation relation) pg_attribute_noreturn();

#endif
