/*
 * abandoned.h
 *	  Tables that an interrupted run left: declared some time ago, never written, with nothing going on in the store.
 *
 * Not operations of the namespace API: SQL functions alone use them.
 */
#ifndef LANCE_OPS_ABANDONED_H
#define LANCE_OPS_ABANDONED_H

#include "datatype/timestamp.h"
#include "ops/types.h"

typedef struct LanceAbandonedTable
{
	LanceId id;
	char *location;
	TimestampTz created_at;
} LanceAbandonedTable;

/*
 * The tables below a namespace that were declared before a time, have no version, and at whose location no object is
 * younger than that time. A version counts wherever it lies, also one that was written past the catalog. With drop they
 * are dropped as by DropTable, after a second look under the lock of their row. Throws when a store can't be looked at.
 */
extern int lance_abandoned_tables(const LanceId *namespace_id, TimestampTz before, bool drop,
								  LanceAbandonedTable **out);

#endif
