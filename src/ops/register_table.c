/*
 * register_table.c
 *	  RegisterTable: give a name to a dataset that lies below the profile's root, or, with Overwrite, point a name elsewhere.
 */
#include "postgres.h"

#include "catalog/commit.h"
#include "catalog/entry.h"
#include "catalog/location.h"
#include "catalog/table_entry.h"
#include "miscadmin.h"
#include "ops/check.h"
#include "ops/place.h"
#include "ops/table.h"
#include "pg/errcodes.h"

enum
{
	MODE_CREATE,
	MODE_OVERWRITE
};

static const char *const modes[] = {"Create", "Overwrite", NULL};

/*
 * Insert the entry, taking the place of a table of that name if told to. The old registration goes as by
 * DeregisterTable: its files stay. The new one is another incarnation, with another id.
 */
static int64
insert_entry(const LanceRegisterTableRequest *request, int64 parent_id, int mode)
{
	for (;;)
	{
		LanceEntryKind taken_by;
		LanceTableRow *old;
		int64 table_id = lance_entry_insert(parent_id, lance_id_name(&request->id), LANCE_ENTRY_TABLE,
											&request->properties, &taken_by);

		if (table_id >= 0)
			return table_id;
		if (mode == MODE_CREATE || taken_by == LANCE_ENTRY_NAMESPACE)
			lance_table_name_taken(&request->id, taken_by == LANCE_ENTRY_NAMESPACE);
		old = lance_catalog_find_table(&request->id, LANCE_LOCK_UPDATE, LANCE_LEVEL_ADMIN);
		if (old != NULL)
		{
			lance_commit_part(old);

			/*
			 * The removal takes a weaker lock on the locations than the claim that follows: without the stronger one
			 * first, two of these would wait for each other. It comes after the row's lock, as in DropTable.
			 */
			lance_location_lock(true);
			lance_entry_remove(old->table_id);
		}
		CHECK_FOR_INTERRUPTS();
	}
}

void
lance_op_register_table(const LanceRegisterTableRequest *request, LanceRegisterTableResponse *response)
{
	int mode = lance_check_mode(request->mode, "mode", modes);
	LanceId parent_id;
	LanceEntry *parent;
	LanceProfile *profile;
	int64 table_id;

	memset(response, 0, sizeof(*response));
	lance_check_table_id(&request->id);
	lance_check_properties(&request->properties, "properties");
	if (request->location == NULL || request->location[0] == '\0')
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("location is missing")));
	parent_id = lance_id_parent(&request->id);
	parent = lance_entry_find(&parent_id, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_SHARE, LANCE_LEVEL_WRITE);
	if (parent == NULL)
		lance_namespace_missing(&parent_id);
	table_id = insert_entry(request, parent->entry_id, mode);
	profile = lance_place_profile(parent->entry_id);
	response->location = lance_place_given(request->location, profile);
	lance_place_claim(table_id, response->location, profile,
					  lance_place_managed(parent->entry_id, &request->properties, profile), true);
	response->properties = request->properties;
	response->properties.given = true;
}
