/*
 * location.c
 *	  Where tables lie: which locations overlap, and who may read what lies at one.
 */
#include "postgres.h"

#include "catalog/access.h"
#include "catalog/entry.h"
#include "catalog/location.h"
#include "catalog/lookup.h"
#include "catalog/pg_collation.h"
#include "catalog/session.h"
#include "miscadmin.h"
#include "pg/errcodes.h"
#include "pg/local_names.h"
#include "pg/reading.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"

bool
lance_location_is_local(const char *uri)
{
	return uri[0] == '/' || strncmp(uri, "file://", 7) == 0;
}

char *
lance_location_canonical(const LncStore *store, const char *uri)
{
	return lance_location_is_local(uri) ? psprintf("/%s", lnc_store_object_root(store))
										: pstrdup(lnc_store_uri(store));
}

void
lance_location_lock(bool chosen_by_caller)
{
	lance_lookup_lock(LANCE_TABLE_BY_LOCATION, chosen_by_caller ? ShareRowExclusiveLock : RowExclusiveLock);
}

/* The folders that a location lies in, itself included: "s3://b/x/y" gives "s3://b/x/y", "s3://b/x" and "s3://b". */
static Datum
folders_above(const char *location)
{
	char *path = pstrdup(location);
	char *scheme = strstr(path, "://");
	char *start = scheme != NULL ? scheme + 3 : path;
	char **folders = palloc((strlen(path) + 1) * sizeof(char *));
	int n = 0;
	char *slash;

	folders[n++] = pstrdup(path);
	while ((slash = strrchr(start, '/')) != NULL && slash != start)
	{
		*slash = '\0';
		folders[n++] = pstrdup(path);
	}
	return lance_texts_datum(n, folders);
}

/* The location of the first row, as it is now, with such keys; NULL when there is none. */
static char *
first_location(LanceLookupIndex index, Snapshot now, ScanKey keys, int nkeys)
{
	LanceLookup lookup;
	char *found = NULL;

	lance_lookup_ordered(&lookup, index, now, keys, nkeys);
	if (lance_lookup_next(&lookup))
		found = lance_lookup_text(&lookup, index == LANCE_TABLE_BY_LOCATION ? TABLE_LOCATION : CLEANUP_LOCATION);
	lance_lookup_end(&lookup);
	return found;
}

/* The keys of the rows whose location equals or contains this one: one key. */
static void
keys_above(ScanKey keys, AttrNumber column, const char *location)
{
	ScanKeyEntryInitialize(&keys[0], SK_SEARCHARRAY, column, BTEqualStrategyNumber, InvalidOid, C_COLLATION_OID,
						   F_TEXTEQ, folders_above(location));
}

/* Those of the rows whose location lies in it: two. '0' is the byte after '/', so that the range holds no others. */
static void
keys_below(ScanKey keys, AttrNumber column, const char *location)
{
	ScanKeyInit(&keys[0], column, BTGreaterStrategyNumber, F_TEXT_GT,
				CStringGetTextDatum(psprintf("%s/", location)));
	ScanKeyInit(&keys[1], column, BTLessStrategyNumber, F_TEXT_LT, CStringGetTextDatum(psprintf("%s0", location)));
}

/* All names of a place: several for local ones that symbolic links lead to. */
static List *
names_of(const char *location)
{
	return location[0] == '/' ? lance_local_names(location) : list_make1(unconstify(char *, location));
}

/* The first of the rows whose location equals, contains or lies in the one of that name. */
static char *
overlap_of_name(LanceLookupIndex index, const char *location)
{
	Snapshot now = RegisterSnapshot(GetLatestSnapshot());
	AttrNumber column = index == LANCE_TABLE_BY_LOCATION ? TABLE_LOCATION : CLEANUP_LOCATION;
	ScanKeyData keys[2];
	char *found;

	keys_above(keys, column, location);
	found = first_location(index, now, keys, 1);
	if (found == NULL)
	{
		keys_below(keys, column, location);
		found = first_location(index, now, keys, 2);
	}
	UnregisterSnapshot(now);
	return found;
}

static char *
overlap(LanceLookupIndex index, List *names)
{
	char *found = NULL;

	for (int i = 0; i < list_length(names) && found == NULL; i++)
		found = overlap_of_name(index, list_nth(names, i));
	return found;
}

char *
lance_location_overlap(const char *location, bool *dropped)
{
	List *names = names_of(location);
	char *other = overlap(LANCE_TABLE_BY_LOCATION, names);

	*dropped = other == NULL;
	return other != NULL ? other : overlap(LANCE_DROPPED_BY_LOCATION, names);
}

bool
lance_location_used(const char *location)
{
	return overlap(LANCE_TABLE_BY_LOCATION, names_of(location)) != NULL;
}

/* ---- who may read */

/* May the role read each table that the keys find? */
static bool
tables_open(Oid role, Snapshot now, ScanKey keys, int nkeys)
{
	LanceLookup lookup;
	bool open = true;

	lance_lookup_ordered(&lookup, LANCE_TABLE_BY_LOCATION, now, keys, nkeys);
	while (open && lance_lookup_next(&lookup))
	{
		CHECK_FOR_INTERRUPTS();
		open = lance_access_of(lance_lookup_int64(&lookup, TABLE_ID), role) >= LANCE_LEVEL_READ;
	}
	lance_lookup_end(&lookup);
	return open;
}

static bool
location_open(const char *location, Oid role)
{
	Snapshot now = RegisterSnapshot(GetLatestSnapshot());
	ScanKeyData keys[2];
	bool open;

	keys_above(keys, TABLE_LOCATION, location);
	open = tables_open(role, now, keys, 1);
	if (open)
	{
		keys_below(keys, TABLE_LOCATION, location);
		open = tables_open(role, now, keys, 2);
	}
	UnregisterSnapshot(now);
	return open;
}

static bool
is_readable(const char *location, Oid role)
{
	List *names;
	bool open = true;

	if (lance_access_of(LANCE_ROOT_ENTRY, role) >= LANCE_LEVEL_READ)
		return true;
	names = names_of(location);
	for (int i = 0; i < list_length(names) && open; i++)
		open = location_open(list_nth(names, i), role);
	return open;
}

#define DENIED "permission denied for location \"%s\""

/* A query may be running, also a parallel one: as it sees the catalog. */
void
lance_location_check_readable(const char *location, Oid role)
{
	bool readable;

	LANCE_READ(readable = is_readable(location, role));
	if (!readable)
		ereport(ERROR,
				(lance_errcode(LANCE_PERMISSION_DENIED), errmsg(DENIED, location),
				 errdetail("It has to do with a table of the catalog. This needs the privilege \"read\" on it.")));
}

LncCode
lance_location_open_base(LncContext *ctx, void *arg, LncArena *arena, const char *uri, LncStore **out)
{
	const LanceProfile *profile = arg;
	MemoryContext memory = CurrentMemoryContext;
	volatile LncCode code = lance_profile_open_base(ctx, arg, arena, uri, out);

	if (code != LNC_OK)
		return code;

	/* The library's frames must not be jumped over. */
	PG_TRY();
	{
		char *location = lance_location_canonical(*out, uri);
		bool readable;

		LANCE_READ(readable = is_readable(location, profile->userid));
		if (!readable)
			code = lnc_fail(ctx, LNC_DENIED, DENIED, location);
	}
	PG_CATCH();
	{
		ErrorData *edata;

		MemoryContextSwitchTo(memory);
		edata = CopyErrorData();
		FlushErrorState();
		code = lnc_fail(ctx, LNC_INVALID, "%s", edata->message);
		FreeErrorData(edata);
	}
	PG_END_TRY();
	return code;
}
