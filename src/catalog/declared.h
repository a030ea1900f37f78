/*
 * declared.h
 *	  Tables that have no version on record: declared, and as far as the rows tell never written.
 */
#ifndef LANCE_CATALOG_DECLARED_H
#define LANCE_CATALOG_DECLARED_H

#include "catalog/table.h"
#include "datatype/timestamp.h"

typedef struct LanceDeclaredTable
{
	LanceTableRow *row;
	TimestampTz created_at;
} LanceDeclaredTable;

/* Those below a namespace that were made before a time, in the order of their ids. Returns how many; palloc'd. */
extern int lance_declared_below(int64 namespace_id, TimestampTz before, LanceDeclaredTable **out);

/* Lock the table's row FOR UPDATE. False when it is gone, or has a version by now. */
extern bool lance_declared_lock(int64 table_id);

#endif
