/*
 * version.c
 *	  Which version a statement reads.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/history.h"
#include "catalog/refs.h"
#include "catalog/version.h"
#include "miscadmin.h"
#include "pg/errcodes.h"
#include "pg/profile.h"
#include "utils/memutils.h"

/*
 * What this transaction first saw, under REPEATABLE READ and above only: the newest version of a branch, or the one that a
 * tag points to.
 */
typedef struct FirstSeen
{
	int64 table_id;
	char *name; /* the branch; ":" and the tag, which no branch begins with */
	LanceVersionPin pin;
} FirstSeen;

static List *first_seen; /* in TopTransactionContext */
static bool callback_registered;

static void
xact_callback(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
		first_seen = NIL;
}

static LanceVersionPin *
copy_pin(const LanceVersionPin *pin)
{
	LanceVersionPin *copy = palloc(sizeof(*copy));

	*copy = *pin;
	copy->manifest_key = pstrdup(pin->manifest_key);
	copy->branch = pin->branch != NULL ? pstrdup(pin->branch) : NULL;
	copy->e_tag = pin->e_tag != NULL ? pstrdup(pin->e_tag) : NULL;
	return copy;
}

static LanceVersionPin *
recall(int64 table_id, const char *name)
{
	ListCell *lc;

	foreach (lc, first_seen)
	{
		FirstSeen *seen = lfirst(lc);

		if (seen->table_id == table_id && strcmp(seen->name, name) == 0)
			return copy_pin(&seen->pin);
	}
	return NULL;
}

static void
remember(int64 table_id, const char *name, const LanceVersionPin *pin)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	FirstSeen *seen = palloc(sizeof(*seen));

	seen->table_id = table_id;
	seen->name = pstrdup(name);
	seen->pin = *copy_pin(pin);
	first_seen = lappend(first_seen, seen);
	MemoryContextSwitchTo(old);
	if (!callback_registered)
	{
		RegisterXactCallback(xact_callback, NULL);
		callback_registered = true;
	}
}

static LanceHistoryItem *
newest_as_of(LanceHistory *history, TimestampTz as_of)
{
	LanceHistoryItem *items;
	uint64 after = 0;
	int n;

	/* Mostly it is one of the last ones. */
	for (int limit = 10; (n = lance_history_page(history, true, after, limit, &items)) > 0;
		 limit = Min(limit * 4, 100000))
	{
		for (int i = 0; i < n; i++)
		{
			if (items[i].appeared <= as_of)
				return &items[i];
		}
		after = items[n - 1].version;
		if (after == 1)
			break;
	}
	return NULL;
}

static LanceVersionPin *
look(const LanceTableRow *table, const char *branch, int64 version, TimestampTz as_of)
{
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	LncStore *store =
		lance_profile_open_read(lib, lance_profile_get(table->server_name, GetUserId()), table->location);
	LanceHistory history;
	LanceHistoryItem *item;
	LanceVersionPin *pin = NULL;

	lance_history_begin(&history, table, branch, lib, store);
	if (version > 0)
		item = lance_history_find(&history, (uint64)version);
	else if (as_of != 0)
		item = newest_as_of(&history, as_of);
	else
		item = lance_history_latest(&history);
	if (item != NULL)
	{
		pin = palloc0(sizeof(*pin));
		pin->version = (int64)item->version;
		pin->manifest_key = item->manifest_key;
		pin->branch = history.branch[0] != '\0' ? pstrdup(history.branch) : NULL;
		pin->manifest_size = item->size;
		pin->e_tag = item->file_e_tag;
		pin->timestamp_us = lance_unix_us(item->appeared);
	}
	lance_library_destroy(lib);
	return pin;
}

static void
version_missing(const LanceTableRow *table, const char *branch, int64 version, TimestampTz as_of)
{
	const char *where = branch[0] == '\0' ? "" : psprintf(" on branch \"%s\"", branch);

	if (version > 0)
		ereport(ERROR, (lance_errcode(LANCE_VERSION_NOT_FOUND),
						errmsg("version " INT64_FORMAT " of table \"%s\" does not exist%s", version, table->shown,
							   where)));
	if (as_of != 0)
		ereport(ERROR, (lance_errcode(LANCE_VERSION_NOT_FOUND),
						errmsg("table \"%s\" has no version of that time%s", table->shown, where)));
	ereport(ERROR,
			(lance_errcode(LANCE_VERSION_NOT_FOUND), errmsg("table \"%s\" has no version%s", table->shown, where),
			 errdetail("It is declared, but nothing was written to it yet.")));
}

LanceVersionPin *
lance_catalog_pin_version(const LanceTableRow *table, const char *branch, int64 version, TimestampTz as_of)
{
	bool newest = version <= 0 && as_of == 0;
	LanceVersionPin *pin = NULL;

	if (branch == NULL || strcmp(branch, "main") == 0)
		branch = "";
	if (newest && IsolationUsesXactSnapshot())
		pin = recall(table->table_id, branch);
	if (pin != NULL)
		return pin;
	pin = look(table, branch, version, as_of);
	if (pin == NULL)
		version_missing(table, branch, version, as_of);
	if (newest && IsolationUsesXactSnapshot())
		remember(table->table_id, branch, pin);
	return pin;
}

/* The tag's branch ("" for main) and version. */
static void
resolve_tag(const LanceTableRow *table, const char *tag, char **branch, int64 *version)
{
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	LanceRefs refs = {.table = table, .lib = lib};
	LncTag found;

	refs.store = lance_profile_open_read(lib, lance_profile_get(table->server_name, GetUserId()), table->location);
	if (!lance_refs_tag(&refs, tag, &found))
		ereport(ERROR, (lance_errcode(LANCE_TAG_NOT_FOUND),
						errmsg("tag \"%s\" of table \"%s\" does not exist", tag, table->shown)));
	*branch = pstrdup(found.branch != NULL ? found.branch : "");
	*version = (int64)found.version;
	lance_library_destroy(lib);
}

LanceVersionPin *
lance_catalog_pin_tag(const LanceTableRow *table, const char *tag)
{
	char *name = psprintf(":%s", tag);
	LanceVersionPin *pin = IsolationUsesXactSnapshot() ? recall(table->table_id, name) : NULL;
	char *branch;
	int64 version;

	if (pin != NULL)
		return pin;
	resolve_tag(table, tag, &branch, &version);
	pin = version > 0 ? look(table, branch, version, 0) : NULL;
	if (pin == NULL)
		version_missing(table, branch, Max(version, 1), 0);
	if (IsolationUsesXactSnapshot())
		remember(table->table_id, name, pin);
	return pin;
}
