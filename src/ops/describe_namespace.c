/*
 * describe_namespace.c
 *	  DescribeNamespace and NamespaceExists.
 */
#include "postgres.h"

#include "catalog/entry.h"
#include "ops/check.h"
#include "ops/namespace.h"

static LanceEntry *
find(const LanceId *id)
{
	LanceEntry *entry;

	lance_check_namespace_id(id);
	entry = lance_entry_find(id, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_NONE, LANCE_LEVEL_SEEN);
	if (entry == NULL)
		lance_namespace_missing(id);
	return entry;
}

void
lance_op_describe_namespace(const LanceDescribeNamespaceRequest *request, LanceDescribeNamespaceResponse *response)
{
	memset(response, 0, sizeof(*response));
	response->properties = find(&request->id)->properties;
}

void
lance_op_namespace_exists(const LanceNamespaceExistsRequest *request)
{
	(void)find(&request->id);
}
