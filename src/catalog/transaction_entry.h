/*
 * transaction_entry.h
 *	  Rows of lance.transaction_entry: what is on record about transactions of tables. All SQL on that table is in
 *	  transaction_entry.c.
 *
 * A row is written for each version that is made here, and for a transaction of another writer when it is given
 * properties.
 */
#ifndef LANCE_CATALOG_TRANSACTION_ENTRY_H
#define LANCE_CATALOG_TRANSACTION_ENTRY_H

#include "ops/types.h"

/* One row. branch is "" for main. */
typedef struct LanceTransactionRow
{
	char *transaction_id;
	char *branch;
	int64 version;
	int64 read_version;
	char *operation;            /* NULL: not known */
	char *tag;                  /* NULL: none */
	LanceProperties properties; /* those of the transaction itself and those that were set since */
} LanceTransactionRow;

/* The row of that id; NULL when there is none. lock: until the end of the transaction. */
extern LanceTransactionRow *lance_transaction_row(int64 table_id, const char *transaction_id, bool lock);

/* The row of that version of main. NULL: none. */
extern LanceTransactionRow *lance_transaction_row_of_version(int64 table_id, int64 version);

/* Add a row. Nothing happens when there is one. */
extern void lance_transaction_insert(int64 table_id, const LanceTransactionRow *row);

extern void lance_transaction_set_properties(int64 table_id, const char *transaction_id,
											 const LanceProperties *properties);

#endif
