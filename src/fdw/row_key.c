/*
 * row_key.c
 *	  Which conditions name rows by _rowid or _rowaddr, and evaluating them.
 *
 * A column of these is bigint, so equality with the three integer types is exact. The value may use anything but the
 * table itself: constants, parameters, columns of relations that it is joined with.
 */
#include "postgres.h"

#include "catalog/pg_opfamily.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "fdw/row_key.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "pg/predicate.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

static Node *
strip_relabel(Node *node)
{
	while (node != NULL && IsA(node, RelabelType))
		node = (Node *)((RelabelType *)node)->arg;
	return node;
}

/* What system column of the relation the expression is, 0 for none. */
static uint32
system_column(RelOptInfo *baserel, const uint32 *systems, Node *node)
{
	Var *var = (Var *)strip_relabel(node);

	if (var == NULL || !IsA(var, Var) || var->varno != baserel->relid || var->varlevelsup != 0 ||
		var->varattno <= 0 || var->vartype != INT8OID)
		return 0;
	return systems[var->varattno] & (LNC_SYSTEM_ROW_ID | LNC_SYSTEM_ROW_ADDRESS);
}

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/* A value that can be had before any row of the relation. */
static bool
is_usable(PlannerInfo *root, RelOptInfo *baserel, Node *value)
{
	return !bms_is_member(baserel->relid, pull_varnos(root, value)) && !contain_volatile_functions(value) &&
		   !contain_subplans(value);
}

static bool
is_equality(Oid opno)
{
	return get_op_opfamily_strategy(opno, INTEGER_BTREE_FAM_OID) == BTEqualStrategyNumber;
}

/* Whether the clause names rows of the relation. */
static bool
match_clause(PlannerInfo *root, RelOptInfo *baserel, const uint32 *systems, RestrictInfo *rinfo, LanceRowKey *out)
{
	Node *clause = (Node *)rinfo->clause;
	Node *value;
	uint32 system;

	if (rinfo->pseudoconstant || !restriction_is_securely_promotable(rinfo, baserel))
		return false;
	out->rinfo = rinfo;
	if (IsA(clause, OpExpr) && list_length(((OpExpr *)clause)->args) == 2 && is_equality(((OpExpr *)clause)->opno))
	{
		Node *left = linitial(((OpExpr *)clause)->args);
		Node *right = lsecond(((OpExpr *)clause)->args);

		value = right;
		system = system_column(baserel, systems, left);
		if (system == 0)
		{
			value = left;
			system = system_column(baserel, systems, right);
		}
		if (system == 0 || !is_integer(exprType(value)))
			return false;
		out->count = 1;
	}
	else if (IsA(clause, ScalarArrayOpExpr) && ((ScalarArrayOpExpr *)clause)->useOr &&
			 is_equality(((ScalarArrayOpExpr *)clause)->opno))
	{
		value = lsecond(((ScalarArrayOpExpr *)clause)->args);
		system = system_column(baserel, systems, linitial(((ScalarArrayOpExpr *)clause)->args));
		if (system == 0 || !is_integer(get_element_type(exprType(value))))
			return false;
		out->count = estimate_array_length(value);
	}
	else
		return false;
	out->by = system == LNC_SYSTEM_ROW_ID ? LNC_TAKE_ROW_ID : LNC_TAKE_ADDRESS;
	out->value = (Expr *)value;
	return is_usable(root, baserel, value);
}

bool
lance_row_key_choose(PlannerInfo *root, RelOptInfo *baserel, const uint32 *systems, List *clauses, LanceRowKey *out)
{
	bool found = false;
	ListCell *lc;

	foreach (lc, clauses)
	{
		LanceRowKey key;

		if (!match_clause(root, baserel, systems, lfirst_node(RestrictInfo, lc), &key))
			continue;
		if (!found || key.count < out->count)
			*out = key;
		found = true;
	}
	return found;
}

/* ---- joins */

/* What members of equivalence classes are looked for. */
typedef struct Wanted
{
	RelOptInfo *baserel;
	const uint32 *systems;
} Wanted;

static bool
member_is_wanted(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec, EquivalenceMember *em, void *arg)
{
	Wanted *wanted = arg;

	return system_column(wanted->baserel, wanted->systems, (Node *)em->em_expr) != 0;
}

static List *
add_outer_rels(PlannerInfo *root, RelOptInfo *baserel, const uint32 *systems, List *clauses, List *result)
{
	ListCell *lc;

	foreach (lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		ListCell *other;
		Relids outer;
		LanceRowKey key;

		if (!join_clause_is_movable_to(rinfo, baserel) || !match_clause(root, baserel, systems, rinfo, &key))
			continue;
		outer = bms_union(rinfo->clause_relids, baserel->lateral_relids);
		outer = bms_del_member(outer, baserel->relid);
		foreach (other, result)
		{
			if (bms_equal(outer, lfirst(other)))
				break;
		}
		if (!bms_is_empty(outer) && other == NULL)
			result = lappend(result, outer);
	}
	return result;
}

List *
lance_row_key_outer_rels(PlannerInfo *root, RelOptInfo *baserel, const uint32 *systems)
{
	Wanted wanted = {baserel, systems};
	List *result = add_outer_rels(root, baserel, systems, baserel->joininfo, NIL);

	if (baserel->has_eclass_joins)
	{
		List *clauses = generate_implied_equalities_for_column(root, baserel, member_is_wanted, &wanted,
															   baserel->lateral_referencers);

		result = add_outer_rels(root, baserel, systems, clauses, result);
	}
	return result;
}

/* ---- evaluation */

static int
compare_keys(const void *a, const void *b)
{
	uint64 x = *(const uint64 *)a;
	uint64 y = *(const uint64 *)b;

	return x < y ? -1 : x > y;
}

uint64 *
lance_row_key_evaluate(ExprState *value, ExprContext *econtext, size_t *count)
{
	Oid type = exprType((Node *)value->expr);
	bool isnull;
	Datum datum = ExecEvalExprSwitchContext(value, econtext, &isnull);
	uint64 *keys;
	size_t n = 0;

	*count = 0;
	if (isnull)
		return NULL;
	if (is_integer(type))
	{
		int64 key = lance_integer_of(datum, type);

		keys = palloc(sizeof(*keys));
		if (key >= 0)
			keys[n++] = (uint64)key;
	}
	else
	{
		ArrayType *array = DatumGetArrayTypeP(datum);
		Oid element = ARR_ELEMTYPE(array);
		Datum *elements;
		bool *nulls;
		int nelements;
		int16 length;
		bool by_value;
		char align;

		get_typlenbyvalalign(element, &length, &by_value, &align);
		deconstruct_array(array, element, length, by_value, align, &elements, &nulls, &nelements);
		keys = palloc(Max(nelements, 1) * sizeof(*keys));
		for (int i = 0; i < nelements; i++)
		{
			int64 key = nulls[i] ? -1 : lance_integer_of(elements[i], element);

			if (key >= 0)
				keys[n++] = (uint64)key;
		}
		pfree(elements);
		pfree(nulls);
	}
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < n; i++)
	{
		if (i == 0 || keys[i] != keys[*count - 1])
			keys[(*count)++] = keys[i];
	}
	return keys;
}
