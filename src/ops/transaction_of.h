/*
 * transaction_of.h
 *	  From a request's id to a transaction.
 */
#ifndef LANCE_OPS_TRANSACTION_OF_H
#define LANCE_OPS_TRANSACTION_OF_H

#include "catalog/transaction_entry.h"
#include "ops/history_of.h"
#include "ops/transaction.h"

typedef struct LanceTransactionOf
{
	LanceHistory history; /* of main */
	LanceTransactionRow *row;
	bool recorded; /* the row is in the catalog, not only read from the store */
} LanceTransactionOf;

/* Throws LANCE_TABLE_NOT_FOUND, LANCE_TRANSACTION_NOT_FOUND, and LANCE_INVALID_INPUT for an id without the transaction's. */
extern void lance_transaction_of(const LanceId *id, LanceRowLock lock, LanceLevel needed, LanceTransactionOf *out);

/* Is that the name under which an answer tells what the transaction is? No property can have it. */
extern bool lance_transaction_fact(const char *name);

extern void lance_transaction_answer(const LanceTransactionOf *transaction, LanceTransactionResponse *response);

#endif
