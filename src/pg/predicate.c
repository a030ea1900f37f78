/*
 * predicate.c
 *	  Which conditions of a query can be predicates on batches.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "pg/predicate_internal.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"
#include "utils/typcache.h"

/* What is nested deeper is left to the executor; a clause becomes up to three nodes, one in the other. */
#define MAX_DEPTH (LNC_PREDICATE_MAX_DEPTH / 2)

/* ---- what is offered */

static Domain
domain_of(Oid type, const LncType *stored)
{
	bool integers = lnc_predicate_accepts(LNC_PREDICATE_INTEGER, stored);

	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return integers ? DOMAIN_INTEGER : DOMAIN_NONE;
		case DATEOID:
			return integers ? DOMAIN_DATE : DOMAIN_NONE;
		case TIMEOID:
			return integers ? DOMAIN_TIME : DOMAIN_NONE;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return integers ? DOMAIN_TIMESTAMP : DOMAIN_NONE;
		case FLOAT4OID:
		case FLOAT8OID:
			return lnc_predicate_accepts(LNC_PREDICATE_REAL, stored) ? DOMAIN_REAL : DOMAIN_NONE;
		case BYTEAOID:
			return lnc_predicate_accepts(LNC_PREDICATE_BYTES, stored) ? DOMAIN_BYTES : DOMAIN_NONE;
		case TEXTOID:
		case VARCHAROID:
			return lnc_predicate_accepts(LNC_PREDICATE_BYTES, stored) && GetDatabaseEncoding() == PG_UTF8
					   ? DOMAIN_BYTES
					   : DOMAIN_NONE;
		default:
			return DOMAIN_NONE;
	}
}

Var *
lance_predicate_column(const LancePredicateTable *table, void *expression)
{
	Var *var = expression;

	if (var != NULL && IsA(var, RelabelType) && ((RelabelType *)expression)->resulttype == TEXTOID)
		var = (Var *)((RelabelType *)expression)->arg;
	if (var == NULL || !IsA(var, Var) || var->varno != (int)table->varno || var->varlevelsup != 0 ||
		var->varattno <= 0 || var->varattno > table->natts || table->types[var->varattno] == NULL)
		return NULL;
	return var;
}

static bool
uses_table(Node *node, void *table)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *)node)->varno == (int)((const LancePredicateTable *)table)->varno;
	return expression_tree_walker(node, uses_table, table);
}

/*
 * How the operator orders its operands: a btree strategy, 0 when it is none of those known here. Not equal is
 * BTEqualStrategyNumber with *negated. Types are those of the operands.
 */
static int
strategy_of(Oid operator, Domain domain, Oid left, Oid right, Oid collation, bool *negated)
{
	Oid family;
	Oid negator;
	int strategy;

	*negated = false;
	if (domain == DOMAIN_NONE)
		return 0;
	family = lookup_type_cache(left, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	/* What was added to the families later has a meaning of its own. */
	if (operator>= FirstUnpinnedObjectId)
		return 0;
	/* Comparisons across types of dates and times depend on the time zone; of text there are none. */
	if (domain != DOMAIN_INTEGER && domain != DOMAIN_REAL && left != right)
		return 0;
	strategy = get_op_opfamily_strategy(operator, family);
	if (strategy == 0)
	{
		negator = get_negator(operator);
		if (!OidIsValid(negator) || get_op_opfamily_strategy(negator, family) != BTEqualStrategyNumber)
			return 0;
		*negated = true;
		strategy = BTEqualStrategyNumber;
	}
	if (domain == DOMAIN_BYTES && left != BYTEAOID)
	{
		if (!OidIsValid(collation) || !(strategy == BTEqualStrategyNumber ? get_collation_isdeterministic(collation)
																		  : lc_collate_is_c(collation)))
			return 0;
	}
	return strategy;
}

bool
lance_predicate_head(const char *pattern, int length, StringInfo head, bool *exact)
{
	for (int i = 0; i < length; i++)
	{
		if (pattern[i] == '_')
			return false;
		if (pattern[i] == '%')
		{
			*exact = false;
			return i == length - 1;
		}
		if (pattern[i] == '\\' && ++i >= length)
			return false;
		appendStringInfoChar(head, pattern[i]);
	}
	*exact = true;
	return true;
}

static bool
is_like_head(OpExpr *expression, Domain domain, bool *negated)
{
	Const *pattern = lsecond(expression->args);
	StringInfoData head;
	bool exact;

	if ((expression->opno != OID_TEXT_LIKE_OP && get_negator(expression->opno) != OID_TEXT_LIKE_OP) ||
		domain != DOMAIN_BYTES || !IsA(pattern, Const) || pattern->consttype != TEXTOID || pattern->constisnull ||
		!OidIsValid(expression->inputcollid) || !get_collation_isdeterministic(expression->inputcollid))
		return false;
	*negated = expression->opno != OID_TEXT_LIKE_OP;
	initStringInfo(&head);
	return lance_predicate_head(VARDATA_ANY(DatumGetTextPP(pattern->constvalue)),
								(int)VARSIZE_ANY_EXHDR(DatumGetTextPP(pattern->constvalue)), &head, &exact);
}

static bool
read_operator(const LancePredicateTable *table, OpExpr *expression, Clause *out)
{
	Oid operator= expression->opno;
	Node *value;

	if (list_length(expression->args) != 2)
		return false;
	out->column = lance_predicate_column(table, linitial(expression->args));
	value = lsecond(expression->args);
	if (out->column == NULL)
	{
		out->column = lance_predicate_column(table, value);
		value = linitial(expression->args);
		operator= get_commutator(operator);
	}
	if (out->column == NULL || !OidIsValid(operator) || uses_table(value, unconstify(LancePredicateTable *, table)))
		return false;
	out->value = (Expr *)value;
	out->domain = domain_of(out->column->vartype, table->types[out->column->varattno]);
	if (operator== expression->opno && is_like_head(expression, out->domain, &out->negated))
	{
		out->kind = CLAUSE_HEAD;
		return true;
	}
	out->kind = CLAUSE_COMPARE;
	out->strategy =
		strategy_of(operator, out->domain, out->column->vartype == VARCHAROID ? TEXTOID : out->column->vartype,
					exprType(value), expression->inputcollid, &out->negated);
	return out->strategy != 0;
}

static bool
read_array(const LancePredicateTable *table, ScalarArrayOpExpr *expression, Clause *out)
{
	Node *value = lsecond(expression->args);

	out->kind = CLAUSE_ANY;
	out->column = lance_predicate_column(table, linitial(expression->args));
	if (out->column == NULL || uses_table(value, unconstify(LancePredicateTable *, table)))
		return false;
	out->value = (Expr *)value;
	out->domain = domain_of(out->column->vartype, table->types[out->column->varattno]);
	out->strategy = strategy_of(expression->opno, out->domain,
								out->column->vartype == VARCHAROID ? TEXTOID : out->column->vartype,
								get_element_type(exprType(value)), expression->inputcollid, &out->negated);
	return out->strategy == BTEqualStrategyNumber && expression->useOr != out->negated;
}

static bool
read_boolean_test(const LancePredicateTable *table, BooleanTest *test, Clause *out)
{
	out->column = lance_predicate_column(table, test->arg);
	if (out->column == NULL || !lnc_predicate_accepts(LNC_PREDICATE_TRUE, table->types[out->column->varattno]))
		return false;
	switch (test->booltesttype)
	{
		case IS_UNKNOWN:
		case IS_NOT_UNKNOWN:
			out->kind = CLAUSE_IS_NULL;
			out->negated = test->booltesttype == IS_NOT_UNKNOWN;
			return true;
		default:
			out->kind = CLAUSE_IS_TRUE;
			out->truth = test->booltesttype == IS_TRUE || test->booltesttype == IS_NOT_TRUE;
			out->negated = test->booltesttype == IS_NOT_TRUE || test->booltesttype == IS_NOT_FALSE;
			return true;
	}
}

/* What the clause says; false where it is not offered. The clauses of a junction are not looked at. */
static bool
read_clause(const LancePredicateTable *table, Expr *expression, Clause *out)
{
	memset(out, 0, sizeof(*out));
	switch (nodeTag(expression))
	{
		case T_BoolExpr:
			out->kind = CLAUSE_JUNCTION;
			out->junction = (BoolExpr *)expression;
			return true;
		case T_Var:
			out->kind = CLAUSE_TRUE;
			out->column = lance_predicate_column(table, expression);
			return out->column != NULL && out->column->vartype == BOOLOID &&
				   lnc_predicate_accepts(LNC_PREDICATE_TRUE, table->types[out->column->varattno]);
		case T_NullTest:
			out->kind = CLAUSE_IS_NULL;
			out->column = lance_predicate_column(table, ((NullTest *)expression)->arg);
			out->negated = ((NullTest *)expression)->nulltesttype == IS_NOT_NULL;
			return out->column != NULL && !((NullTest *)expression)->argisrow;
		case T_BooleanTest:
			return read_boolean_test(table, (BooleanTest *)expression, out);
		case T_OpExpr:
			return read_operator(table, (OpExpr *)expression, out);
		case T_ScalarArrayOpExpr:
			return read_array(table, (ScalarArrayOpExpr *)expression, out);
		default:
			return false;
	}
}

static bool
offers(const LancePredicateTable *table, Expr *clause, int depth)
{
	Clause read;
	ListCell *lc;

	if (depth > MAX_DEPTH || !read_clause(table, clause, &read))
		return false;
	if (read.kind != CLAUSE_JUNCTION)
		return true;
	foreach (lc, read.junction->args)
	{
		if (!offers(table, lfirst(lc), depth + 1))
			return false;
	}
	return true;
}

bool
lance_predicate_offers(const LancePredicateTable *table, Expr *clause)
{
	return offers(table, clause, 0);
}

/* ---- preparing */

static void
prepare(const LancePredicateTable *table, Expr *expression, const int32 *columns, PlanState *parent, bool *varies,
		Condition *out)
{
	ListCell *lc;

	check_stack_depth();
	if (!read_clause(table, expression, &out->clause))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR), errmsg("condition of a scan can't be evaluated on batches")));
	if (out->clause.kind == CLAUSE_JUNCTION)
	{
		out->children = palloc0(list_length(out->clause.junction->args) * sizeof(Condition));
		foreach (lc, out->clause.junction->args)
			prepare(table, lfirst(lc), columns, parent, varies, &out->children[out->nchildren++]);
		return;
	}
	out->column = columns[out->clause.column->varattno];
	out->type = lnc_column_type(table->types[out->clause.column->varattno]);
	if (out->clause.value != NULL)
	{
		out->value = ExecInitExpr(out->clause.value, parent);
		*varies = *varies || !IsA(out->clause.value, Const);
	}
}

LancePredicate *
lance_predicate_prepare(const LancePredicateTable *table, List *clauses, const int32 *columns, PlanState *parent)
{
	LancePredicate *predicate = palloc0(sizeof(*predicate));

	prepare(table, (Expr *)makeBoolExpr(AND_EXPR, clauses, -1), columns, parent, &predicate->varies,
			&predicate->all);
	return predicate;
}

bool
lance_predicate_varies(const LancePredicate *predicate)
{
	return predicate->varies;
}
