/*
 * transaction.h
 *	  Operations on transactions: describe, alter.
 *
 * A transaction is what made a version of a table. Its id is that of the table followed by the transaction's own, a UUID,
 * or by the number of a version of main. Committed ones have succeeded and stay so; properties may be set on them, which
 * the catalog keeps: the file in the store is never changed.
 *
 * Facts: spec.yaml.
 */
#ifndef LANCE_OPS_TRANSACTION_H
#define LANCE_OPS_TRANSACTION_H

#include "ops/types.h"

/* Actions in one request. */
#define LANCE_MAX_ACTIONS 1000

typedef struct LanceDescribeTransactionRequest
{
	LanceId id;
} LanceDescribeTransactionRequest;

typedef struct LanceAlterTransactionRequest
{
	LanceId id;
	LanceActions actions; /* required; all or none are done */
} LanceAlterTransactionRequest;

/* Of both. */
typedef struct LanceTransactionResponse
{
	char *status; /* Succeeded; Running for a version that the current transaction will write */
	LanceProperties properties;
} LanceTransactionResponse;

extern void lance_op_describe_transaction(const LanceDescribeTransactionRequest *request,
										  LanceTransactionResponse *response);
extern void lance_op_alter_transaction(const LanceAlterTransactionRequest *request,
									   LanceTransactionResponse *response);

#endif
