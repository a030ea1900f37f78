/*
 * abandoned.c
 *	  Listing and dropping tables that were declared and never written.
 */
#include "postgres.h"

#include "catalog/cleanup.h"
#include "catalog/declared.h"
#include "catalog/entry.h"
#include "catalog/history.h"
#include "catalog/table_entry.h"
#include "dataset/versions.h"
#include "miscadmin.h"
#include "ops/abandoned.h"
#include "ops/check.h"
#include "ops/place.h"
#include "pg/report.h"

typedef struct Look
{
	int64 before_ms; /* Unix epoch */
	bool in_use;
} Look;

/* A version of any branch, or an object that was written since. */
static LncCode
look_at(LncContext *ctx, void *arg, const LncObject *object, bool *stop)
{
	static const char folder[] = "_versions";
	Look *look = arg;
	const char *slash = strrchr(object->key, '/');
	size_t length = slash != NULL ? (size_t)(slash - object->key) : 0;
	uint64_t version;
	LncNaming naming;

	(void)ctx;
	if (object->modified_ms >= look->before_ms ||
		(length >= sizeof(folder) - 1 && strncmp(slash - (sizeof(folder) - 1), folder, sizeof(folder) - 1) == 0 &&
		 lnc_versions_parse_name(slash + 1, &version, &naming)))
	{
		look->in_use = true;
		*stop = true;
	}
	return LNC_OK;
}

static bool
in_use(const LanceTableRow *table, int64 before_ms)
{
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	LncStore *store = lance_place_open(lib, table);
	Look look = {.before_ms = before_ms};

	lance_check(&lib->ctx, lnc_store_list(&lib->ctx, store, "", true, NULL, look_at, &look));
	lance_library_destroy(lib);
	return look.in_use;
}

/*
 * Whoever writes the first version holds the row's lock until it is there, so that this look, which comes after it, sees
 * that version. Rows are locked in the order of their ids.
 */
static bool
drop_unused(const LanceTableRow *table, int64 before_ms)
{
	if (!lance_declared_lock(table->table_id) || in_use(table, before_ms))
		return false;
	lance_entry_remove(table->table_id);
	lance_cleanup_queue_location(table->location, table->server_name);
	return true;
}

/*
 * May the caller know of the table, and drop it where that is asked for? Namespaces are looked at one by one: a table that
 * he owns below one that is hidden from him is not listed. *path is that of *path_of, and follows.
 */
static bool
is_open(const LanceTableRow *table, bool drop, LanceId *path, int64 *path_of, bool *path_seen)
{
	if (lance_access_of(table->table_id, GetUserId()) < (drop ? LANCE_LEVEL_ADMIN : LANCE_LEVEL_READ))
		return false;
	if (table->namespace_id != *path_of)
	{
		lance_table_namespace_path(table->namespace_id, path);
		*path_of = table->namespace_id;
		*path_seen = true;
		for (int n = 1; n <= path->nparts && *path_seen; n++)
		{
			LanceId above = {.given = true, .nparts = n, .parts = path->parts};

			*path_seen = lance_entry_find(&above, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_NONE, LANCE_LEVEL_SEEN) != NULL;
		}
	}
	return *path_seen;
}

int
lance_abandoned_tables(const LanceId *namespace_id, TimestampTz before, bool drop, LanceAbandonedTable **out)
{
	int64 before_ms = lance_unix_us(before) / 1000;
	LanceEntry *space;
	LanceDeclaredTable *tables;
	LanceId path = {0};
	int64 path_of = -1;
	bool path_seen = false;
	int count = 0;
	int n;

	lance_check_namespace_id(namespace_id);
	space = lance_entry_find(namespace_id, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_NONE, LANCE_LEVEL_SEEN);
	if (space == NULL)
		lance_namespace_missing(namespace_id);
	n = lance_declared_below(space->entry_id, before, &tables);
	*out = palloc_extended((n + 1) * sizeof(LanceAbandonedTable), MCXT_ALLOC_HUGE);

	/* All are looked at before the first is locked: locks are held until the end of the transaction. */
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (is_open(tables[i].row, drop, &path, &path_of, &path_seen) && !in_use(tables[i].row, before_ms))
			tables[count++] = tables[i];
	}
	n = count;
	count = 0;
	for (int i = 0; i < n; i++)
	{
		const LanceTableRow *row = tables[i].row;
		LanceAbandonedTable *item = &(*out)[count];

		CHECK_FOR_INTERRUPTS();
		if (drop && !drop_unused(row, before_ms))
			continue;
		if (row->namespace_id != path_of)
		{
			lance_table_namespace_path(row->namespace_id, &path);
			path_of = row->namespace_id;
		}
		item->id.given = true;
		item->id.nparts = path.nparts + 1;
		item->id.parts = palloc(item->id.nparts * sizeof(char *));
		if (path.nparts > 0)
			memcpy(item->id.parts, path.parts, path.nparts * sizeof(char *));
		item->id.parts[path.nparts] = row->name;
		item->location = row->location;
		item->created_at = tables[i].created_at;
		count++;
	}
	return count;
}
