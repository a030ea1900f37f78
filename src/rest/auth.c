/*
 * auth.c
 *	  API keys and web tokens to roles, roles to operations.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "ops/api_key.h"
#include "pg/brief.h"
#include "pg/guc.h"
#include "pg/installed.h"
#include "pg/privilege.h"
#include "rest/auth.h"
#include "rest/bearer.h"
#include "utils/acl.h"

#define EXTENSION_NAME "lance_catalog"

void
lance_rest_check_extension(void)
{
	if (lance_installed() == NULL)
		ereport(ERROR, (lance_errcode(LANCE_SERVICE_UNAVAILABLE),
						errmsg("extension \"%s\" is not installed in the served database", EXTENSION_NAME)));
}

Oid
lance_rest_authenticate(const LanceRestRequest *request)
{
	LanceApiKey key;
	Oid role;

	if (request->api_key != NULL)
	{
		if (lance_bearer_is_token(request->api_key))
			return lance_bearer_role(request->api_key);
		if (!lance_api_key_find(request->api_key, &key))
			ereport(ERROR, (lance_errcode(LANCE_UNAUTHENTICATED), errmsg("the API key is not valid")));
		if (key.mark_due)
		{
			lance_brief_check();
			lance_api_key_mark_used(key.key_id);
		}
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
lance_rest_authorize(const LanceRoute *route, Oid role)
{
	switch (lance_may_execute(route->function, role))
	{
		case LANCE_EXECUTE_ALLOWED:
			return;
		case LANCE_EXECUTE_DENIED:
			ereport(ERROR,
					(lance_errcode(LANCE_PERMISSION_DENIED),
					 errmsg("permission denied for operation %s", route->operation),
					 errhint("Have the role granted EXECUTE on the function %s(), or a privilege by lance_grant().",
							 route->function)));
			return;
		case LANCE_EXECUTE_NO_FUNCTION:
			ereport(ERROR, (lance_errcode(LANCE_UNSUPPORTED),
							errmsg("operation %s is not part of the installed extension", route->operation),
							errhint("Run ALTER EXTENSION %s UPDATE.", EXTENSION_NAME)));
	}
}
