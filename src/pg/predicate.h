/*
 * predicate.h
 *	  Conditions of a query as predicates on batches (scan/predicate.h).
 *
 * What is taken means to the letter what PostgreSQL means by it: comparisons of integers, floats, text, bytea, dates and
 * times with values that are known before the first row, IN and = ANY, IS NULL, booleans, LIKE 'head%', and AND, OR,
 * NOT of these. All else stays with the executor.
 */
#ifndef LANCE_PG_PREDICATE_H
#define LANCE_PG_PREDICATE_H

#include "executor/executor.h"
#include "pg/env.h"
#include "scan/predicate.h"

/* Whose columns conditions are about. */
typedef struct LancePredicateTable
{
	Index varno;
	int natts;
	const LncType *const *types; /* by number of attribute from 1: the type of the dataset's field, NULL for none */
} LancePredicateTable;

/*
 * The column of the table, with a field behind it, that the expression is; NULL for any other expression. A varchar is
 * taken for the text that it is.
 */
extern Var *lance_predicate_column(const LancePredicateTable *table, void *expression);

/*
 * Whether the clause can be a predicate. No value in it may use the table or be volatile: the caller leaves clauses with
 * subplans, volatile functions and columns of other relations out.
 */
extern bool lance_predicate_offers(const LancePredicateTable *table, Expr *clause);

/* Conditions of one scan, all of which are to be true. */
typedef struct LancePredicate LancePredicate;

/*
 * Prepare clauses that lance_predicate_offers has taken. columns: by number of attribute from 1, its place among the
 * columns of the scan. Lives in the current memory context; values are evaluated under parent.
 */
extern LancePredicate *lance_predicate_prepare(const LancePredicateTable *table, List *clauses,
											   const int32 *columns, PlanState *parent);

/* The integer that a value of smallint, integer, bigint, date, time, timestamp or timestamptz is. */
extern int64 lance_integer_of(Datum value, Oid type);

/* Whether a value may differ at the next scan. */
extern bool lance_predicate_varies(const LancePredicate *predicate);

/* Evaluate the values. The result lives in the current memory context. */
extern const LncPredicate *lance_predicate_bind(const LancePredicate *predicate, ExprContext *econtext);

#endif
