/*
 * auth.c
 *	  API keys to roles, roles to operations.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "ops/api_key.h"
#include "pg/guc.h"
#include "rest/auth.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/syscache.h"

#define EXTENSION_NAME "lance_catalog"

Oid
lance_rest_extension(void)
{
	Oid extension = get_extension_oid(EXTENSION_NAME, true);

	if (!OidIsValid(extension))
		ereport(ERROR, (lance_errcode(LANCE_SERVICE_UNAVAILABLE),
						errmsg("extension \"%s\" is not installed in the served database", EXTENSION_NAME)));
	return extension;
}

Oid
lance_rest_authenticate(const LanceRestRequest *request)
{
	LanceApiKey key;
	Oid role;

	if (request->api_key != NULL)
	{
		if (!lance_api_key_find(request->api_key, &key))
			ereport(ERROR, (lance_errcode(LANCE_UNAUTHENTICATED), errmsg("the API key is not valid")));
		if (key.mark_due)
			lance_api_key_mark_used(key.key_id);
		return key.role;
	}
	if (lance_guc_rest_anonymous_role == NULL || lance_guc_rest_anonymous_role[0] == '\0')
		ereport(ERROR, (lance_errcode(LANCE_UNAUTHENTICATED), errmsg("an API key is required"),
						errdetail("Send it as x-api-key or as Authorization: Bearer.")));
	role = get_role_oid(lance_guc_rest_anonymous_role, true);
	if (!OidIsValid(role))
		ereport(ERROR, (lance_errcode(LANCE_SERVICE_UNAVAILABLE),
						errmsg("the role of requests without an API key does not exist")));
	return role;
}

void
lance_rest_authorize(const LanceRoute *route, Oid role, Oid extension)
{
	/* the function is overloaded; any form that the role may call lets it call the operation */
	CatCList *candidates = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(route->function));
	bool exists = false;
	bool allowed = false;

	for (int i = 0; i < candidates->n_members && !allowed; i++)
	{
		Oid function = ((Form_pg_proc)GETSTRUCT(&candidates->members[i]->tuple))->oid;

		if (getExtensionOfObject(ProcedureRelationId, function) != extension)
			continue;
		exists = true;
		allowed = pg_proc_aclcheck(function, role, ACL_EXECUTE) == ACLCHECK_OK;
	}
	ReleaseSysCacheList(candidates);
	if (!exists)
		ereport(ERROR, (lance_errcode(LANCE_UNSUPPORTED),
						errmsg("operation %s is not part of the installed extension", route->operation),
						errhint("Run ALTER EXTENSION %s UPDATE.", EXTENSION_NAME)));
	if (!allowed)
		ereport(ERROR, (lance_errcode(LANCE_PERMISSION_DENIED),
						errmsg("permission denied for operation %s", route->operation)));
}
