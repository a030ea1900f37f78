/*
 * predicate_internal.h
 *	  What reading conditions (predicate.c) and giving them their values (predicate_values.c) share.
 */
#ifndef LANCE_PG_PREDICATE_INTERNAL_H
#define LANCE_PG_PREDICATE_INTERNAL_H

#include "lib/stringinfo.h"
#include "pg/predicate.h"

/* What a column is compared as. */
typedef enum Domain
{
	DOMAIN_NONE,
	DOMAIN_INTEGER,
	DOMAIN_REAL,
	DOMAIN_BYTES,
	DOMAIN_DATE,
	DOMAIN_TIME,
	DOMAIN_TIMESTAMP
} Domain;

/* What a clause says, as far as it is offered. Pointers are into the clause. */
typedef enum ClauseKind
{
	CLAUSE_JUNCTION,
	CLAUSE_TRUE,    /* a boolean column */
	CLAUSE_IS_NULL, /* of column; negated: IS NOT NULL */
	CLAUSE_IS_TRUE, /* of a boolean column, true or false as truth says; negated: IS NOT */
	CLAUSE_COMPARE, /* column, strategy, value; negated: not equal */
	CLAUSE_ANY,     /* column equals one of value; negated: differs from all */
	CLAUSE_HEAD     /* column is LIKE value, which is a constant; negated: NOT LIKE */
} ClauseKind;

typedef struct Clause
{
	ClauseKind kind;
	BoolExpr *junction;
	Var *column;
	Domain domain;
	bool negated;
	bool truth;
	int strategy;
	Expr *value;
} Clause;

/* A condition with its values not yet evaluated. */
typedef struct Condition
{
	Clause clause;
	const LncType *type;
	int32 column; /* its place among those of the scan */
	ExprState *value;
	int nchildren;
	struct Condition *children;
} Condition;

struct LancePredicate
{
	Condition all; /* a conjunction */
	bool varies;
};

/* The head of a LIKE pattern that is a head, or nothing else, in *exact; false for any other pattern. */
extern bool lance_predicate_head(const char *pattern, int length, StringInfo head, bool *exact);

#endif
