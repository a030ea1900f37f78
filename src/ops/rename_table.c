/*
 * rename_table.c
 *	  RenameTable: another name, also in another namespace. Location and versions stay.
 */
#include "postgres.h"

#include "catalog/entry.h"
#include "ops/check.h"
#include "ops/table.h"
#include "pg/errcodes.h"

/*
 * Hold the table FOR UPDATE and its new namespace against being dropped, the lower id first, as all lock. Returns false
 * when the namespace is missing; *table is NULL when the table is.
 */
static bool
lock_both(const LanceId *table_id, const LanceId *space_id, LanceEntry **table, LanceEntry **space)
{
	*table = lance_entry_find(table_id, LANCE_ENTRY_TABLE, LANCE_LOCK_NONE, LANCE_LEVEL_ADMIN);
	*space = lance_entry_find(space_id, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_NONE, LANCE_LEVEL_WRITE);
	if (*table == NULL || *space == NULL)
		return *space != NULL;
	if ((*table)->entry_id < (*space)->entry_id)
		*table = lance_entry_find(table_id, LANCE_ENTRY_TABLE, LANCE_LOCK_UPDATE, LANCE_LEVEL_ADMIN);
	*space = lance_entry_find(space_id, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_SHARE, LANCE_LEVEL_WRITE);
	if (*table != NULL && *space != NULL && (*table)->entry_id > (*space)->entry_id)
		*table = lance_entry_find(table_id, LANCE_ENTRY_TABLE, LANCE_LOCK_UPDATE, LANCE_LEVEL_ADMIN);
	if (*space == NULL)
		*table = lance_entry_find(table_id, LANCE_ENTRY_TABLE, LANCE_LOCK_NONE, LANCE_LEVEL_ADMIN);
	return *space != NULL;
}

void
lance_op_rename_table(const LanceRenameTableRequest *request)
{
	LanceId target_space;
	LanceEntry *table;
	LanceEntry *space;
	LanceEntryKind taken_by;
	bool space_found;

	lance_check_table_id(&request->id);
	if (request->new_table_name == NULL || request->new_table_name[0] == '\0')
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("new_table_name is missing")));
	lance_check_name(request->new_table_name, "new_table_name");
	if (request->new_namespace_id.given)
		lance_check_namespace_id(&request->new_namespace_id);
	target_space = request->new_namespace_id.given ? request->new_namespace_id : lance_id_parent(&request->id);
	if (target_space.nparts >= LANCE_MAX_ID_PARTS)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("the new id has too many parts")));
	space_found = lock_both(&request->id, &target_space, &table, &space);
	if (table == NULL)
		lance_table_missing(&request->id);
	if (!space_found)
		lance_namespace_missing(&target_space);
	if (!lance_entry_move(table->entry_id, space->entry_id, request->new_table_name, &taken_by))
	{
		LanceId target = target_space;

		target.parts = palloc((target_space.nparts + 1) * sizeof(char *));
		if (target_space.nparts > 0)
			memcpy(target.parts, target_space.parts, target_space.nparts * sizeof(char *));
		target.parts[target.nparts++] = request->new_table_name;
		lance_table_name_taken(&target, taken_by == LANCE_ENTRY_NAMESPACE);
	}
}
