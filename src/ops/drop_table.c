/*
 * drop_table.c
 *	  DropTable and DeregisterTable. Drop has the files removed once the transaction has committed; deregister leaves them.
 */
#include "postgres.h"

#include "catalog/cleanup.h"
#include "catalog/commit.h"
#include "catalog/entry.h"
#include "ops/check.h"
#include "ops/table.h"

static LanceTableRow *
lock(const LanceId *id)
{
	LanceTableRow *table;

	lance_check_table_id(id);
	table = lance_catalog_find_table(id, LANCE_LOCK_UPDATE, LANCE_LEVEL_ADMIN);
	if (table == NULL)
		lance_table_missing(id);
	return table;
}

void
lance_op_deregister_table(const LanceDeregisterTableRequest *request, LanceDeregisterTableResponse *response)
{
	LanceTableRow *table = lock(&request->id);

	lance_commit_part(table);
	lance_entry_remove(table->table_id);
	response->id = request->id;
	response->location = table->location;
	response->properties = table->properties;
}

void
lance_op_drop_table(const LanceDropTableRequest *request, LanceDropTableResponse *response)
{
	LanceTableRow *table = lock(&request->id);

	lance_entry_remove(table->table_id);
	lance_cleanup_queue_location(table->location, table->server_name);
	response->id = request->id;
	response->location = table->location;
	response->properties = table->properties;
}
