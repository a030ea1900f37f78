/*
 * describe_transaction.c
 *	  DescribeTransaction.
 */
#include "postgres.h"

#include "ops/transaction_of.h"

void
lance_op_describe_transaction(const LanceDescribeTransactionRequest *request, LanceTransactionResponse *response)
{
	LanceTransactionOf transaction;

	memset(response, 0, sizeof(*response));
	lance_transaction_of(&request->id, LANCE_LOCK_NONE, LANCE_LEVEL_READ, &transaction);
	lance_transaction_answer(&transaction, response);
}
