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
#include "pg/installed.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#define EXTENSION_NAME "lance_catalog"

/* The version on record, NULL when the extension is not there. */
static char *
installed_version(void)
{
	Relation relation = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple tuple;
	char *version = NULL;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ, CStringGetDatum(EXTENSION_NAME));
	scan = systable_beginscan(relation, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool isnull;
		Datum datum = heap_getattr(tuple, Anum_pg_extension_extversion, RelationGetDescr(relation), &isnull);

		if (!isnull)
			version = TextDatumGetCString(datum);
	}
	systable_endscan(scan);
	table_close(relation, AccessShareLock);
	return version;
}

void
lance_check_installed(void)
{
	static LocalTransactionId checked_in = InvalidLocalTransactionId;
	char *version;

	/* An upgrade script runs between the versions. */
	if (creating_extension || checked_in == MyProc->lxid)
		return;
	version = installed_version();
	if (version != NULL && strcmp(version, LANCE_CATALOG_VERSION) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"%s\" is installed in version %s, its library is version %s", EXTENSION_NAME,
						version, LANCE_CATALOG_VERSION),
				 errhint("Run ALTER EXTENSION %s UPDATE; if the library is the older one, restart the server.",
						 EXTENSION_NAME)));
	checked_in = MyProc->lxid;
}
