/*
 * drop_namespace.c
 *	  DropNamespace, with its modes Fail and Skip and its behaviours Restrict and Cascade.
 */
#include "postgres.h"

#include "catalog/entry.h"
#include "ops/check.h"
#include "ops/namespace.h"
#include "pg/errcodes.h"

enum
{
	MODE_FAIL,
	MODE_SKIP
};

enum
{
	BEHAVIOR_RESTRICT,
	BEHAVIOR_CASCADE
};

static const char *const modes[] = {"Fail", "Skip", NULL};
static const char *const behaviors[] = {"Restrict", "Cascade", NULL};

void
lance_op_drop_namespace(const LanceDropNamespaceRequest *request, LanceDropNamespaceResponse *response)
{
	int mode = lance_check_mode(request->mode, "mode", modes);
	int behavior = lance_check_mode(request->behavior, "behavior", behaviors);
	LanceEntry *entry;

	memset(response, 0, sizeof(*response));
	lance_check_namespace_id(&request->id);
	if (request->id.nparts == 0)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("the root namespace can't be dropped")));
	entry = lance_entry_find(&request->id, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_UPDATE, LANCE_LEVEL_ADMIN);
	if (entry == NULL)
	{
		if (mode == MODE_SKIP)
			return;
		lance_namespace_missing(&request->id);
	}
	response->properties = entry->properties;
	if (behavior == BEHAVIOR_CASCADE)
		lance_entry_remove_below(entry->entry_id, true);
	else if (lance_entry_has_children(entry->entry_id))
		ereport(ERROR, (lance_errcode(LANCE_NAMESPACE_NOT_EMPTY),
						errmsg("namespace \"%s\" is not empty", lance_id_text(&request->id)),
						errhint("Drop what is in it first, or use the behavior Cascade.")));
	else
		lance_entry_remove(entry->entry_id);
}
