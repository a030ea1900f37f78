/*
 * privilege.c
 *	  EXECUTE on functions of the extension.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "pg/installed.h"
#include "pg/privilege.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/syscache.h"

/* More forms of one function than the extension has; what is beyond lets nobody in. */
#define FORMS_MAX 8

/* The forms of one function of the extension. */
typedef struct Forms
{
	NameData name; /* the key */
	Oid extension; /* what they belonged to; InvalidOid: look again */
	int count;
	Oid functions[FORMS_MAX];
} Forms;

static HTAB *known = NULL;

/* Functions were made, changed or dropped. */
static void
forget(Datum arg, int cache, uint32 hash)
{
	HASH_SEQ_STATUS all;
	Forms *forms;

	hash_seq_init(&all, known);
	while ((forms = hash_seq_search(&all)) != NULL)
		forms->extension = InvalidOid;
}

static void
look(Forms *forms, Oid extension)
{
	CatCList *candidates = SearchSysCacheList1(PROCNAMEARGSNSP, NameGetDatum(&forms->name));

	forms->count = 0;
	for (int i = 0; i < candidates->n_members && forms->count < FORMS_MAX; i++)
	{
		Oid candidate = ((Form_pg_proc)GETSTRUCT(&candidates->members[i]->tuple))->oid;

		if (getExtensionOfObject(ProcedureRelationId, candidate) == extension)
			forms->functions[forms->count++] = candidate;
	}
	ReleaseSysCacheList(candidates);
	forms->extension = extension;
}

static const Forms *
forms_of(const char *function, Oid extension)
{
	NameData name;
	Forms *forms;
	bool found;

	if (known == NULL)
	{
		HASHCTL info = {.keysize = NAMEDATALEN, .entrysize = sizeof(Forms)};

		known = hash_create("functions of lance_catalog", 64, &info, HASH_ELEM | HASH_STRINGS);
		CacheRegisterSyscacheCallback(PROCOID, forget, (Datum)0);
	}
	namestrcpy(&name, function);
	forms = hash_search(known, NameStr(name), HASH_ENTER, &found);
	if (!found)
		forms->extension = InvalidOid;
	if (forms->extension != extension)
		look(forms, extension);
	return forms;
}

LanceExecute
lance_may_execute(const char *function, Oid role)
{
	const LanceInstalled *installed = lance_installed();
	const Forms *forms = installed != NULL ? forms_of(function, installed->extension) : NULL;

	if (forms == NULL || forms->count == 0)
		return LANCE_EXECUTE_NO_FUNCTION;
	for (int i = 0; i < forms->count; i++)
	{
		if (pg_proc_aclcheck(forms->functions[i], role, ACL_EXECUTE) == ACLCHECK_OK)
			return LANCE_EXECUTE_ALLOWED;
	}
	return LANCE_EXECUTE_DENIED;
}
