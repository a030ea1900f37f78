/*
 * lookup.c
 *	  Rows of the catalog's tables by the key of an index.
 *
 * The scans are those that the server uses for its own catalogs: they work on any table, given a snapshot.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/lookup.h"
#include "catalog/namespace.h"
#include "pg/installed.h"
#include "pg/reading.h"
#include "pg/text_map.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

static const struct
{
	const char *table;
	const char *index;
	int columns; /* so many are counted on */
} places[] = {
	[LANCE_ENTRY_BY_ID] = {"catalog_entry", "catalog_entry_pkey", ENTRY_PROPERTIES},
	[LANCE_ENTRY_BY_NAME] = {"catalog_entry", "catalog_entry_parent_id_name_key", ENTRY_PROPERTIES},
	[LANCE_TABLE_BY_ID] = {"table_entry", "table_entry_pkey", TABLE_MANAGED},
	[LANCE_TABLE_BY_LOCATION] = {"table_entry", "table_entry_location_key", TABLE_MANAGED},
	[LANCE_DROPPED_BY_LOCATION] = {"cleanup_item", "cleanup_item_location_idx", CLEANUP_LOCATION},
	[LANCE_API_KEY_BY_HASH] = {"api_key", "api_key_key_hash_key", API_KEY_REVOKED_AT},
	[LANCE_PRIVILEGE_BY_ENTRY] = {"privilege_entry", "privilege_entry_pkey", PRIVILEGE_NAME},
	[LANCE_PRIVILEGE_BY_ROLE] = {"privilege_entry", "privilege_entry_role_id_privilege_idx", PRIVILEGE_NAME},
};

Snapshot
lance_lookup_snapshot(void)
{
	if (lance_reading())
		return RegisterSnapshot(GetActiveSnapshot());
	CommandCounterIncrement();
	return RegisterSnapshot(GetTransactionSnapshot());
}

void
lance_lookup_done(Snapshot snapshot)
{
	UnregisterSnapshot(snapshot);
}

static void
open_relation(LanceLookup *lookup, LanceLookupIndex index, Snapshot snapshot)
{
	Oid schema = get_namespace_oid("lance", true);
	Oid table = OidIsValid(schema) ? get_relname_relid(places[index].table, schema) : InvalidOid;

	lookup->relation = OidIsValid(table) ? try_table_open(table, AccessShareLock) : NULL;
	if (lookup->relation == NULL || RelationGetNumberOfAttributes(lookup->relation) < places[index].columns)
		lance_not_installed();
	lookup->index = get_relname_relid(places[index].index, schema);
	lookup->snapshot = snapshot;
	lookup->order = NULL;
}

bool
lance_lookup_begin(LanceLookup *lookup, LanceLookupIndex index, Snapshot snapshot, ScanKey keys, int nkeys)
{
	open_relation(lookup, index, snapshot);
	lookup->scan =
		systable_beginscan(lookup->relation, lookup->index, OidIsValid(lookup->index), snapshot, nkeys, keys);
	return lance_lookup_next(lookup);
}

void
lance_lookup_ordered(LanceLookup *lookup, LanceLookupIndex index, Snapshot snapshot, ScanKey keys, int nkeys)
{
	open_relation(lookup, index, snapshot);
	lookup->order = index_open(lookup->index, AccessShareLock);
	lookup->scan = systable_beginscan_ordered(lookup->relation, lookup->order, snapshot, nkeys, keys);
}

bool
lance_lookup_next(LanceLookup *lookup)
{
	lookup->tuple = lookup->order != NULL ? systable_getnext_ordered(lookup->scan, ForwardScanDirection)
										  : systable_getnext(lookup->scan);
	return HeapTupleIsValid(lookup->tuple);
}

void
lance_lookup_end(LanceLookup *lookup)
{
	if (lookup->order != NULL)
	{
		systable_endscan_ordered(lookup->scan);
		index_close(lookup->order, AccessShareLock);
	}
	else
		systable_endscan(lookup->scan);
	table_close(lookup->relation, AccessShareLock);
}

void
lance_lookup_lock(LanceLookupIndex index, LOCKMODE mode)
{
	LanceLookup lookup;

	open_relation(&lookup, index, InvalidSnapshot);
	LockRelationOid(RelationGetRelid(lookup.relation), mode);
	table_close(lookup.relation, AccessShareLock);
}

/* ---- columns */

Datum
lance_lookup_column(const LanceLookup *lookup, AttrNumber column, bool *isnull)
{
	return heap_getattr(lookup->tuple, column, RelationGetDescr(lookup->relation), isnull);
}

int64
lance_lookup_int64(const LanceLookup *lookup, AttrNumber column)
{
	bool isnull;
	Datum value = lance_lookup_column(lookup, column, &isnull);

	return isnull ? 0 : DatumGetInt64(value);
}

bool
lance_lookup_bool(const LanceLookup *lookup, AttrNumber column)
{
	bool isnull;
	Datum value = lance_lookup_column(lookup, column, &isnull);

	return !isnull && DatumGetBool(value);
}

bool
lance_lookup_null(const LanceLookup *lookup, AttrNumber column)
{
	bool isnull;

	(void)lance_lookup_column(lookup, column, &isnull);
	return isnull;
}

char *
lance_lookup_text(const LanceLookup *lookup, AttrNumber column)
{
	bool isnull;
	Datum value = lance_lookup_column(lookup, column, &isnull);

	return isnull ? NULL : TextDatumGetCString(value);
}

bool
lance_lookup_text_is(const LanceLookup *lookup, AttrNumber column, const char *wanted)
{
	bool isnull;
	Datum value = lance_lookup_column(lookup, column, &isnull);
	text *found = isnull ? NULL : DatumGetTextPP(value);

	return found != NULL && VARSIZE_ANY_EXHDR(found) == strlen(wanted) &&
		   memcmp(VARDATA_ANY(found), wanted, strlen(wanted)) == 0;
}

void
lance_lookup_properties(const LanceLookup *lookup, AttrNumber column, LanceProperties *out)
{
	bool isnull;
	Datum value = lance_lookup_column(lookup, column, &isnull);

	memset(out, 0, sizeof(*out));
	if (isnull)
		return;
	out->given = true;
	out->count = lance_text_map_from_jsonb(value, "properties", &out->items);
}
