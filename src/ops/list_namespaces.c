/*
 * list_namespaces.c
 *	  ListNamespaces: the direct children of a namespace, by name.
 */
#include "postgres.h"

#include "catalog/entry.h"
#include "ops/check.h"
#include "ops/namespace.h"

void
lance_op_list_namespaces(const LanceListNamespacesRequest *request, LanceListNamespacesResponse *response)
{
	int64 limit = lance_check_limit(&request->limit);
	const char *after = lance_check_name_token(request->page_token);
	LanceEntry *entry;

	memset(response, 0, sizeof(*response));
	lance_check_namespace_id(&request->id);
	entry = lance_entry_find(&request->id, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_NONE, LANCE_LEVEL_SEEN);
	if (entry == NULL)
		lance_namespace_missing(&request->id);

	/* One more than asked for tells whether there is a next page. */
	lance_entry_list(entry, LANCE_ENTRY_NAMESPACE, after, limit < 0 ? -1 : limit + 1, &response->namespaces);
	if (limit >= 0 && response->namespaces.count > limit)
	{
		response->namespaces.count = (int)limit;
		response->page_token = response->namespaces.names[limit - 1];
	}
}
