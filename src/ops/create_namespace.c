/*
 * create_namespace.c
 *	  CreateNamespace, with its modes Create, ExistOk and Overwrite.
 */
#include "postgres.h"

#include "catalog/entry.h"
#include "miscadmin.h"
#include "ops/check.h"
#include "ops/namespace.h"
#include "ops/place.h"
#include "pg/errcodes.h"

enum
{
	MODE_CREATE,
	MODE_EXIST_OK,
	MODE_OVERWRITE
};

static const char *const modes[] = {"Create", "ExistOk", "Overwrite", NULL};

/* What the mode makes of a namespace that is there. */
static void
use_existing(const LanceCreateNamespaceRequest *request, int mode, const LanceEntry *entry,
			 LanceCreateNamespaceResponse *response)
{
	if (mode == MODE_CREATE)
		lance_namespace_name_taken(&request->id, false);
	response->properties = entry->properties;
	if (mode == MODE_OVERWRITE)
	{
		lance_entry_remove_below(entry->entry_id, false);
		lance_entry_set_properties(entry->entry_id, &request->properties);
		response->properties = request->properties;
	}
	response->properties.given = true;
}

void
lance_op_create_namespace(const LanceCreateNamespaceRequest *request, LanceCreateNamespaceResponse *response)
{
	int mode = lance_check_mode(request->mode, "mode", modes);
	LanceId parent_id;
	LanceEntry *parent;

	memset(response, 0, sizeof(*response));
	lance_check_namespace_id(&request->id);
	lance_check_properties(&request->properties, "properties");
	if (request->id.nparts == 0)
		ereport(ERROR, (lance_errcode(LANCE_NAMESPACE_EXISTS), errmsg("the root namespace always exists")));
	lance_place_check_properties(&request->properties);
	parent_id = lance_id_parent(&request->id);
	parent = lance_entry_find(&parent_id, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_SHARE, LANCE_LEVEL_WRITE);
	if (parent == NULL)
		lance_namespace_missing(&parent_id);

	/* Another one may drop the name between the two steps, or add it: then look again. */
	for (;;)
	{
		LanceEntry *entry = lance_entry_find(&request->id, LANCE_ENTRY_NAMESPACE,
											 mode == MODE_OVERWRITE ? LANCE_LOCK_UPDATE : LANCE_LOCK_NONE,
											 mode == MODE_OVERWRITE ? LANCE_LEVEL_ADMIN : LANCE_LEVEL_WRITE);
		LanceEntryKind taken_by;

		if (entry != NULL)
		{
			use_existing(request, mode, entry, response);
			return;
		}
		if (lance_entry_insert(parent->entry_id, lance_id_name(&request->id), LANCE_ENTRY_NAMESPACE,
							   &request->properties, &taken_by) >= 0)
			break;
		if (taken_by == LANCE_ENTRY_TABLE || mode == MODE_CREATE)
			lance_namespace_name_taken(&request->id, taken_by == LANCE_ENTRY_TABLE);
		CHECK_FOR_INTERRUPTS();
	}
	response->properties = request->properties;
	response->properties.given = true;
}
