/*
 * privilege.c
 *	  EXECUTE on functions of the extension.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "pg/privilege.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/syscache.h"

LanceExecute
lance_may_execute(const char *function, Oid role)
{
	Oid extension = get_extension_oid("lance_catalog", true);
	CatCList *candidates = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(function));
	LanceExecute answer = LANCE_EXECUTE_NO_FUNCTION;

	for (int i = 0; i < candidates->n_members && answer != LANCE_EXECUTE_ALLOWED; i++)
	{
		Oid candidate = ((Form_pg_proc)GETSTRUCT(&candidates->members[i]->tuple))->oid;

		if (getExtensionOfObject(ProcedureRelationId, candidate) != extension)
			continue;
		answer = pg_proc_aclcheck(candidate, role, ACL_EXECUTE) == ACLCHECK_OK ? LANCE_EXECUTE_ALLOWED
																			   : LANCE_EXECUTE_DENIED;
	}
	ReleaseSysCacheList(candidates);
	return answer;
}
