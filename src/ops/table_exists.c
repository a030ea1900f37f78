/*
 * table_exists.c
 *	  TableExists.
 */
#include "postgres.h"

#include "catalog/entry.h"
#include "ops/check.h"
#include "ops/table.h"

void
lance_op_table_exists(const LanceTableExistsRequest *request)
{
	lance_check_table_id(&request->id);
	if (lance_entry_find(&request->id, LANCE_ENTRY_TABLE, LANCE_LOCK_NONE, LANCE_LEVEL_READ) == NULL)
		lance_table_missing(&request->id);
}
