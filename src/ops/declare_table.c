/*
 * declare_table.c
 *	  DeclareTable: reserve a name and a location. Nothing is made at the location.
 */
#include "postgres.h"

#include "catalog/entry.h"
#include "ops/check.h"
#include "ops/place.h"
#include "ops/table.h"
#include "ops/vend.h"

void
lance_op_declare_table(const LanceDeclareTableRequest *request, LanceDeclareTableResponse *response)
{
	LanceId parent_id;
	LanceEntry *parent;
	LanceProfile *profile;
	LanceEntryKind taken_by;
	int64 table_id;
	bool managed;

	memset(response, 0, sizeof(*response));
	lance_check_table_id(&request->id);
	lance_check_properties(&request->properties, "properties");
	parent_id = lance_id_parent(&request->id);
	parent = lance_entry_find(&parent_id, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_SHARE, LANCE_LEVEL_WRITE);
	if (parent == NULL)
		lance_namespace_missing(&parent_id);

	/* The name first: of all that can be wrong, clients handle a taken name. */
	table_id = lance_entry_insert(parent->entry_id, lance_id_name(&request->id), LANCE_ENTRY_TABLE,
								  &request->properties, &taken_by);
	if (table_id < 0)
		lance_table_name_taken(&request->id, taken_by == LANCE_ENTRY_NAMESPACE);
	profile = lance_place_profile(parent->entry_id);
	managed = lance_place_managed(parent->entry_id, &request->properties, profile);
	response->location = request->location != NULL ? lance_place_given(request->location, profile)
												   : lance_place_fresh(&request->id, profile);
	/* Ahead of the claim, which holds up others while it waits. A location that is refused then takes the keys along. */
	lance_vend_options(profile, response->location, request->vend_credentials, -1, &response->storage_options);
	lance_place_claim(table_id, response->location, profile, managed, request->location != NULL);
	response->properties = request->properties;
	response->properties.given = true;
	response->managed_versioning = managed ? LANCE_BOOL_TRUE : LANCE_BOOL_FALSE;
}
