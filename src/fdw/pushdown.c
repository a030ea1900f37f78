/*
 * pushdown.c
 *	  What of a query the scan of a foreign table does by itself.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "fdw/options.h"
#include "fdw/pushdown.h"
#include "mb/pg_wchar.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "pg/guc.h"
#include "scan/system_columns.h"

void
lance_attributes_find(Relation relation, const LncDataset *dataset, LanceAttributes *out)
{
	TupleDesc tupdesc = RelationGetDescr(relation);

	out->natts = tupdesc->natts;
	out->types = palloc0((tupdesc->natts + 1) * sizeof(*out->types));
	out->systems = palloc0((tupdesc->natts + 1) * sizeof(*out->systems));
	for (int i = 0; i < tupdesc->natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(tupdesc, i);
		char *name;
		int32 field;

		if (attr->attisdropped)
			continue;
		name = lance_column_name(RelationGetRelid(relation), attr->attnum, NameStr(attr->attname));
		field = lnc_dataset_field(dataset, pg_server_to_any(name, (int)strlen(name), PG_UTF8));
		if (field >= 0)
			out->types[i + 1] = &dataset->schema.fields[field].type;
		else
			out->systems[i + 1] = lnc_system_column(name);
	}
}

static LancePredicateTable
predicate_table(Index varno, const LanceAttributes *attributes)
{
	LancePredicateTable table = {.varno = varno, .natts = attributes->natts, .types = attributes->types};

	return table;
}

List *
lance_pushdown_choose(PlannerInfo *root, RelOptInfo *baserel, const LanceAttributes *attributes, List *restrictions)
{
	LancePredicateTable table = predicate_table(baserel->relid, attributes);
	List *result = NIL;
	ListCell *lc;

	if (!lance_guc_push_down)
		return NIL;
	foreach (lc, restrictions)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!rinfo->pseudoconstant && bms_is_subset(rinfo->clause_relids, baserel->relids) &&
			restriction_is_securely_promotable(rinfo, baserel) &&
			!contain_volatile_functions((Node *)rinfo->clause) && !contain_subplans((Node *)rinfo->clause) &&
			lance_predicate_offers(&table, rinfo->clause))
			result = lappend(result, rinfo);
	}
	return result;
}

List *
lance_pushdown_split(Index varno, const LanceAttributes *attributes, List *clauses, List **rest)
{
	LancePredicateTable table = predicate_table(varno, attributes);
	List *taken = NIL;
	ListCell *lc;

	*rest = NIL;
	foreach (lc, clauses)
	{
		if (lance_predicate_offers(&table, lfirst(lc)))
			taken = lappend(taken, lfirst(lc));
		else
			*rest = lappend(*rest, lfirst(lc));
	}
	return taken;
}

List *
lance_pushdown_columns(List *attnums, Node *expression, Index varno)
{
	Bitmapset *used = NULL;
	int attnum = -1;

	pull_varattnos(expression, varno, &used);
	while ((attnum = bms_next_member(used, attnum)) >= 0)
		attnums = list_append_unique_int(attnums, attnum + FirstLowInvalidHeapAttributeNumber);
	return attnums;
}

void
lance_types_changed(Relation relation)
{
	ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					errmsg("the columns of the dataset of foreign table \"%s\" have changed their types",
						   RelationGetRelationName(relation)),
					errdetail("The query was planned for the types that they had."),
					errhint("Prepare the statement again, or DISCARD PLANS.")));
}
