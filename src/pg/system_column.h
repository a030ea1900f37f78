/*
 * system_column.h
 *	  The columns that a scan makes (_rowid and the like) as columns of foreign tables: always bigint.
 */
#ifndef LANCE_PG_SYSTEM_COLUMN_H
#define LANCE_PG_SYSTEM_COLUMN_H

#include "pg/convert.h"

/*
 * The conversion of a system column, uint64, to a column declared as type. Throws 42804 unless that is bigint; converting
 * throws 22003 for a value beyond bigint.
 */
extern void lance_converter_init_system(LanceConverter *converter, const char *name, Oid type);

#endif
