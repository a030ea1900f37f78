/*
 * installed.c
 *	  The version of the installed extension against that of the library.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "pg/errcodes.h"
#include "pg/installed.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#define EXTENSION_NAME "lance_catalog"

/*
 * What pg_extension said: the server has no cache of that catalog. Making or dropping the extension makes or drops its schema,
 * and an update its functions, of which the server tells. What is not as it should be is looked at again by each transaction.
 */
static struct
{
	LocalTransactionId transaction;
	bool good; /* it is there, in the version of the library */
	LanceInstalled extension;
} known = {.transaction = InvalidLocalTransactionId};

static void
forget(Datum arg, int cache, uint32 hash)
{
	known.transaction = InvalidLocalTransactionId;
	known.good = false;
}

static void
look(LanceInstalled *out)
{
	Relation relation = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;

	memset(out, 0, sizeof(*out));
	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ, CStringGetDatum(EXTENSION_NAME));
	scan = systable_beginscan(relation, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool isnull;
		Datum version = heap_getattr(tuple, Anum_pg_extension_extversion, RelationGetDescr(relation), &isnull);

		out->extension = ((Form_pg_extension)GETSTRUCT(tuple))->oid;
		out->owner = ((Form_pg_extension)GETSTRUCT(tuple))->extowner;
		if (!isnull)
			text_to_cstring_buffer(DatumGetTextPP(version), out->version, sizeof(out->version));
	}
	systable_endscan(scan);
	table_close(relation, AccessShareLock);
}

const LanceInstalled *
lance_installed(void)
{
	static bool listening = false;

	if (!listening)
	{
		CacheRegisterSyscacheCallback(NAMESPACEOID, forget, (Datum)0);
		CacheRegisterSyscacheCallback(PROCOID, forget, (Datum)0);
		listening = true;
	}
	if (known.transaction != MyProc->lxid)
	{
		LanceInstalled found;

		/* What others have done since then is heard of now. */
		if (known.good)
			AcceptInvalidationMessages();
		if (!known.good)
		{
			look(&found);
			known.extension = found;
			known.good = OidIsValid(found.extension) && strcmp(found.version, LANCE_CATALOG_VERSION) == 0;
		}
		known.transaction = MyProc->lxid;
	}
	return OidIsValid(known.extension.extension) ? &known.extension : NULL;
}

void
lance_not_installed(void)
{
	ereport(ERROR, (lance_errcode(LANCE_SERVICE_UNAVAILABLE),
					errmsg("extension \"%s\" is not installed in this database", EXTENSION_NAME),
					errhint("Install it with CREATE EXTENSION %s.", EXTENSION_NAME)));
}

void
lance_check_installed(void)
{
	const LanceInstalled *installed;

	/* An upgrade script runs between the versions. */
	if (creating_extension)
		return;
	installed = lance_installed();
	if (installed != NULL && strcmp(installed->version, LANCE_CATALOG_VERSION) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"%s\" is installed in version %s, its library is version %s", EXTENSION_NAME,
						installed->version, LANCE_CATALOG_VERSION),
				 errhint("Run ALTER EXTENSION %s UPDATE; if the library is the older one, restart the server.",
						 EXTENSION_NAME)));
}
