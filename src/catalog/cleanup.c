/*
 * cleanup.c
 *	  Rows of lance.cleanup_item: queue them, work them off.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/cleanup.h"
#include "catalog/location.h"
#include "catalog/session.h"
#include "catalog/table_entry.h"
#include "catalog/version_entry.h"
#include "dataset/refs.h"
#include "miscadmin.h"
#include "pg/env.h"
#include "pg/profile.h"
#include "pg/report.h"
#include "pg/statistics.h"
#include "pg/wake.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

/* ---- queueing */

void
lance_cleanup_wake(void)
{
	lance_wake_at_commit();
}

/* deleted: two arrays, the first and the last versions of runs; NULL: none. */
static void
queue(const char *kind, const char *location, const char *server_name, const char *object_key, int64 table_id,
	  const char *branch, const Datum *deleted)
{
	static LanceStatement statement = {
		.sql =
			"INSERT INTO lance.cleanup_item (kind, location, server_name, role_name, object_key, table_id, branch,"
			" deleted_versions) VALUES ($1, $2, $3, $4, $5, $6, $7, (SELECT range_agg(int8range(r.first, r.last, "
			"'[]'))"
			" FROM unnest($8, $9) r (first, last)))",
		.nargs = 9,
		.types = {TEXTOID, TEXTOID, TEXTOID, TEXTOID, TEXTOID, INT8OID, TEXTOID, INT8ARRAYOID, INT8ARRAYOID}};
	Datum values[] = {
		CStringGetTextDatum(kind),
		CStringGetTextDatum(location),
		CStringGetTextDatum(server_name),
		CStringGetTextDatum(GetUserNameFromId(GetUserId(), false)),
		object_key != NULL ? CStringGetTextDatum(object_key) : (Datum)0,
		Int64GetDatum(table_id),
		branch != NULL ? CStringGetTextDatum(branch) : (Datum)0,
		deleted != NULL ? deleted[0] : (Datum)0,
		deleted != NULL ? deleted[1] : (Datum)0,
	};
	char nulls[] = {' ',
					' ',
					' ',
					' ',
					object_key != NULL ? ' ' : 'n',
					table_id > 0 ? ' ' : 'n',
					branch != NULL ? ' ' : 'n',
					deleted != NULL ? ' ' : 'n',
					deleted != NULL ? ' ' : 'n'};
	LanceSession session;

	lance_session_begin(&session);
	lance_session_run(&statement, values, nulls, 0);
	lance_session_end(&session);
	lance_cleanup_wake();
}

void
lance_cleanup_queue_location(const char *location, const char *server_name)
{
	queue("location", location, server_name, NULL, 0, NULL, NULL);
}

void
lance_cleanup_queue_object(const LanceTableRow *table, const char *key)
{
	queue("object", table->location, table->server_name, key, table->table_id, NULL, NULL);
}

/* Runs that are shorter are passed over one by one. */
#define SHORTEST_RUN 100

static Datum
int64s_datum(int n, Datum *values)
{
	return PointerGetDatum(construct_array(values, n, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

void
lance_cleanup_queue_versions(const LanceTableRow *table, const char *branch, int n, const int64 *versions)
{
	Datum *firsts = palloc((n / SHORTEST_RUN + 1) * sizeof(Datum));
	Datum *lasts = palloc((n / SHORTEST_RUN + 1) * sizeof(Datum));
	Datum runs[2];
	int nruns = 0;

	for (int start = 0, end; start < n; start = end)
	{
		for (end = start + 1; end < n && versions[end] == versions[end - 1] + 1;)
			end++;
		if (end - start < SHORTEST_RUN)
			continue;
		firsts[nruns] = Int64GetDatum(versions[start]);
		lasts[nruns++] = Int64GetDatum(versions[end - 1]);
	}
	runs[0] = int64s_datum(nruns, firsts);
	runs[1] = int64s_datum(nruns, lasts);
	queue("versions", table->location, table->server_name, NULL, table->table_id, branch, nruns > 0 ? runs : NULL);
}

/* The rows at both ends tell whether a run stands: all of them are forgotten at once, when their files are gone. */
bool
lance_cleanup_run_of(int64 table_id, const char *branch, int64 version, int64 *first, int64 *last)
{
	static LanceStatement statement = {
		.sql = "SELECT lower(r.run), upper(r.run) - 1"
			   " FROM lance.cleanup_item i, LATERAL (SELECT u.run FROM unnest(i.deleted_versions) u (run)"
			   " WHERE u.run @> $3 OFFSET 0) r"
			   " WHERE i.kind = 'versions' AND i.table_id = $1 AND i.branch = $2"
			   " AND (SELECT v.deleted FROM lance.version_entry v"
			   " WHERE v.table_id = $1 AND v.branch = $2 AND v.version = lower(r.run))"
			   " AND (SELECT v.deleted FROM lance.version_entry v"
			   " WHERE v.table_id = $1 AND v.branch = $2 AND v.version = upper(r.run) - 1) LIMIT 1",
		.nargs = 3,
		.types = {INT8OID, TEXTOID, INT8OID}};
	LanceSession session;
	bool found;

	lance_session_begin(&session);
	found = lance_session_run(
				&statement, (Datum[]){Int64GetDatum(table_id), CStringGetTextDatum(branch), Int64GetDatum(version)},
				NULL, 1) == 1;
	if (found)
	{
		*first = lance_row_int64(0, 1);
		*last = lance_row_int64(0, 2);
	}
	lance_session_end(&session);
	return found;
}

void
lance_cleanup_queue_branch(const LanceTableRow *table, const char *branch)
{
	queue("branch", table->location, table->server_name, NULL, table->table_id, branch, NULL);
}

/* ---- working off */

#define OBJECTS_AT_ONCE 200

typedef struct CleanupItem
{
	int64 item_id;
	char *kind;
	char *location;
	char *object_key;
	int64 table_id;
	char *branch;
	char *server_name;
	char *role_name;
	int64 attempts;
} CleanupItem;

#define ITEM_COLUMNS                                                                                         \
	"SELECT item_id, kind, location, object_key, table_id, branch, server_name, role_name, attempts::bigint" \
	" FROM lance.cleanup_item "

static CleanupItem *
item_of_row(const LanceSession *session, uint64 row)
{
	CleanupItem *item = MemoryContextAllocZero(session->caller, sizeof(*item));

	item->item_id = lance_row_int64(row, 1);
	item->kind = lance_row_text(session, row, 2);
	item->location = lance_row_text(session, row, 3);
	item->object_key = lance_row_text(session, row, 4);
	item->table_id = lance_row_int64(row, 5);
	item->branch = lance_row_text(session, row, 6);
	item->server_name = lance_row_text(session, row, 7);
	item->role_name = lance_row_text(session, row, 8);
	item->attempts = lance_row_int64(row, 9);
	return item;
}

/* Take the next item after one, locked; NULL when there is none. */
static CleanupItem *
take_next(int64 after, bool force)
{
	static LanceStatement statement = {.sql = ITEM_COLUMNS "WHERE item_id > $1 AND ($2 OR due_at <= now())"
														   " ORDER BY item_id LIMIT 1 FOR UPDATE SKIP LOCKED",
									   .nargs = 2,
									   .types = {INT8OID, BOOLOID}};
	LanceSession session;
	CleanupItem *item = NULL;

	lance_session_begin(&session);
	if (lance_session_run(&statement, (Datum[]){Int64GetDatum(after), BoolGetDatum(force)}, NULL, 1) == 1)
		item = item_of_row(&session, 0);
	lance_session_end(&session);
	return item;
}

/*
 * Objects of the same table are removed together: each commit of a version leaves one. Lock those that are due and follow
 * the first; returns their number with it, at most max.
 */
static int
take_objects(CleanupItem *first, int max, CleanupItem **items)
{
	static LanceStatement statement = {
		.sql = ITEM_COLUMNS
		"WHERE item_id > $1 AND due_at <= now() AND kind = 'object' AND location = $2"
		" AND server_name = $3 AND role_name = $4 ORDER BY item_id LIMIT $5 FOR UPDATE SKIP LOCKED",
		.nargs = 5,
		.types = {INT8OID, TEXTOID, TEXTOID, TEXTOID, INT8OID}};
	Datum values[] = {Int64GetDatum(first->item_id), CStringGetTextDatum(first->location),
					  CStringGetTextDatum(first->server_name), CStringGetTextDatum(first->role_name),
					  Int64GetDatum(max - 1)};
	LanceSession session;
	int n = 1;

	items[0] = first;
	if (max <= 1 || strcmp(first->kind, "object") != 0)
		return 1;
	lance_session_begin(&session);
	for (uint64 more = lance_session_run(&statement, values, NULL, 0), i = 0; i < more; i++)
		items[n++] = item_of_row(&session, i);
	lance_session_end(&session);
	return n;
}

static void
finish_items(int n, CleanupItem *const *items)
{
	static LanceStatement statement = {
		.sql = "DELETE FROM lance.cleanup_item WHERE item_id = ANY ($1)", .nargs = 1, .types = {INT8ARRAYOID}};
	Datum *ids = palloc(n * sizeof(Datum));
	LanceSession session;

	for (int i = 0; i < n; i++)
		ids[i] = Int64GetDatum(items[i]->item_id);
	lance_session_begin(&session);
	lance_session_run(&statement, (Datum[]){int64s_datum(n, ids)}, NULL, 0);
	lance_session_end(&session);
}

/* Tried again after 5 s, 10 s, 20 s, … at most an hour. */
static void
postpone_item(const CleanupItem *item, const char *error)
{
	static LanceStatement statement = {
		.sql = "UPDATE lance.cleanup_item SET attempts = attempts + 1, last_error = $2,"
			   " due_at = clock_timestamp() + least(5 * 2.0 ^ least(attempts, 10), 3600) * interval '1 second'"
			   " WHERE item_id = $1",
		.nargs = 2,
		.types = {INT8OID, TEXTOID}};
	LanceSession session;

	lance_session_begin(&session);
	lance_session_run(&statement, (Datum[]){Int64GetDatum(item->item_id), CStringGetTextDatum(error)}, NULL, 0);
	lance_session_end(&session);
}

/* Manifests of versions that are marked as deleted; then the marks have done their work. */
static int64
remove_versions(const CleanupItem *item, LanceLibrary *lib, LncStore *store)
{
	LanceVersionRow *rows;
	int n = lance_version_rows(item->table_id, item->branch, &rows);
	int64 *gone = palloc_extended((n + 1) * sizeof(int64), MCXT_ALLOC_HUGE);
	const char **keys = palloc_extended((n + 1) * sizeof(char *), MCXT_ALLOC_HUGE);
	int ngone = 0;

	for (int i = 0; i < n; i++)
	{
		if (!rows[i].deleted)
			continue;
		keys[ngone] = rows[i].manifest_key;
		gone[ngone++] = rows[i].version;
	}
	lance_check(&lib->ctx, lnc_store_delete_many(&lib->ctx, store, (size_t)ngone, keys));
	lance_version_forget(item->table_id, item->branch, ngone, gone);
	return ngone;
}

/*
 * The files of a branch. Branches lie in folders by their names, "a/b" inside of "a": what belongs to another one stays,
 * and all does when the name was taken again past the catalog.
 */
static int64
remove_branch(const CleanupItem *item, LanceLibrary *lib, LncStore *store)
{
	LncContext *ctx = &lib->ctx;
	size_t length = strlen(item->branch);
	size_t nbranches;
	char **branches;
	bool shared = false;
	uint64_t removed = 0;

	lance_check(ctx, lnc_ref_names(ctx, lib->arena, store, LNC_REF_BRANCH, &nbranches, &branches));
	for (size_t i = 0; i < nbranches; i++)
	{
		size_t other = strlen(branches[i]);

		if (strcmp(branches[i], item->branch) == 0)
			return 0;
		shared = shared || (strncmp(branches[i], item->branch, length) == 0 && branches[i][length] == '/') ||
				 (strncmp(item->branch, branches[i], other) == 0 && item->branch[other] == '/');
	}
	if (!shared)
		lance_check(ctx, lnc_store_delete_prefix(ctx, store, psprintf("tree/%s", item->branch), &removed));
	for (const char *const *folder = lnc_dataset_folders; shared && *folder != NULL; folder++)
	{
		char *path = psprintf("tree/%s/%s", item->branch, *folder);
		uint64_t more = 0;

		lance_check(ctx, lnc_store_delete_prefix(ctx, store, path, &more));
		removed += more;
	}
	return (int64)removed;
}

/*
 * The same, and what hid its versions. Items that would remove some of them have nothing left to do; they go first, as
 * who works on one of them holds it, and then wants the rows.
 */
static int64
finish_branch(const CleanupItem *item, LanceLibrary *lib, LncStore *store)
{
	static LanceStatement statement = {
		.sql = "DELETE FROM lance.cleanup_item WHERE kind = 'versions' AND table_id = $1 AND branch = $2",
		.nargs = 2,
		.types = {INT8OID, TEXTOID}};
	int64 removed = remove_branch(item, lib, store);
	LanceSession session;
	int64 *gone;
	int ngone;

	lance_session_begin(&session);
	lance_session_run(&statement, (Datum[]){Int64GetDatum(item->table_id), CStringGetTextDatum(item->branch)}, NULL,
					  0);
	lance_session_end(&session);
	ngone = lance_version_numbers(item->table_id, item->branch, 1, PG_INT64_MAX, true, &gone);
	lance_version_forget(item->table_id, item->branch, ngone, gone);
	return removed;
}

/* Of one item, or of several objects of the same table. Returns the number of files. */
static int64
remove_files(int n, CleanupItem *const *items)
{
	const CleanupItem *item = items[0];
	Oid role = get_role_oid(item->role_name, true);
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	LncStore *store;
	uint64_t removed = 1;

	/* Somebody may have restored rows from a dump: never remove what a table is said to own. */
	if (strcmp(item->kind, "location") == 0 && lance_location_used(item->location))
		return 0;
	store = lance_profile_open(lib, lance_profile_get(item->server_name, OidIsValid(role) ? role : GetUserId()),
							   item->location);
	if (strcmp(item->kind, "location") == 0)
		lance_check(&lib->ctx, lnc_store_delete_prefix(&lib->ctx, store, "", &removed));
	else if (strcmp(item->kind, "object") == 0)
	{
		const char **keys = palloc(n * sizeof(char *));

		for (int i = 0; i < n; i++)
			keys[i] = items[i]->object_key;
		lance_check(&lib->ctx, lnc_store_delete_many(&lib->ctx, store, (size_t)n, keys));
		removed = (uint64_t)n;
	}
	else if (strcmp(item->kind, "branch") == 0)
		removed = (uint64_t)finish_branch(item, lib, store);
	else
		removed = (uint64_t)remove_versions(item, lib, store);
	return (int64)removed;
}

/*
 * One item, or objects of one table, in a subtransaction of its own, so that whatever fails (a server that is gone, a
 * store that refuses) is recorded and the next item has its turn. A cancel goes on. NULL, or the error.
 */
static ErrorData *
try_to_remove(int n, CleanupItem *const *items, int64 *files)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData *volatile edata = NULL;

	BeginInternalSubTransaction("lance cleanup item");
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		*files += remove_files(n, items);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		edata = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (edata != NULL && edata->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(edata);
	return edata;
}

/* Told at once, so that others see how far a long run is. */
static void
count_items(int done, int failed, int64 files, LanceCleanupResult *result)
{
	LanceCleanupCount work = {.done = done, .failed = failed, .files = files};

	lance_statistics_cleanup(&work);
	result->done += done;
	result->failed += failed;
	result->files += files;
}

static void
work_off(int n, CleanupItem *const *items, LanceCleanupResult *result)
{
	int64 files = 0;
	ErrorData *edata = try_to_remove(n, items, &files);

	if (edata == NULL)
	{
		finish_items(n, items);
		count_items(n, 0, files, result);
	}
	else if (n == 1)
	{
		postpone_item(items[0], edata->message);
		count_items(0, 1, 0, result);
	}
	else
	{
		/* which of them it was shows when each is tried alone */
		for (int i = 0; i < n; i++)
			work_off(1, &items[i], result);
	}
}

void
lance_cleanup_finish_branch(const LanceTableRow *table, const char *branch)
{
	static LanceStatement statement = {.sql = ITEM_COLUMNS
									   "WHERE kind = 'branch' AND table_id = $1 AND branch = $2 FOR UPDATE",
									   .nargs = 2,
									   .types = {INT8OID, TEXTOID}};
	LanceSession session;
	CleanupItem **items;
	int n;

	lance_session_begin(&session);
	n = (int)lance_session_run(&statement, (Datum[]){Int64GetDatum(table->table_id), CStringGetTextDatum(branch)},
							   NULL, 0);
	items = MemoryContextAlloc(session.caller, (n + 1) * sizeof(CleanupItem *));
	for (int i = 0; i < n; i++)
		items[i] = item_of_row(&session, i);
	lance_session_end(&session);
	for (int i = 0; i < n; i++)
	{
		(void)remove_files(1, &items[i]);
		finish_items(1, &items[i]);
	}
}

/* Until the earliest item that was postponed is due; at least a second, since another process may have it in hand. */
static int64
next_due_ms(void)
{
	static LanceStatement statement = {
		.sql = "SELECT greatest(ceil(extract(epoch FROM due_at - clock_timestamp()) * 1000), 1000)::bigint"
			   " FROM lance.cleanup_item WHERE attempts > 0 ORDER BY due_at LIMIT 1",
		.nargs = 0};
	LanceSession session;
	int64 ms = -1;

	lance_session_begin(&session);
	if (lance_session_run(&statement, NULL, NULL, 1) == 1)
		ms = lance_row_int64(0, 1);
	lance_session_end(&session);
	return ms;
}

void
lance_cleanup_run(int max_items, bool force, LanceCleanupResult *result)
{
	MemoryContext context;
	MemoryContext old;
	CleanupItem *items[OBJECTS_AT_ONCE];
	int64 last = 0;

	memset(result, 0, sizeof(*result));
	result->retry_after_ms = -1;
	if (lance_session_read_only())
		return;
	context = AllocSetContextCreate(CurrentMemoryContext, "lance cleanup", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	while (result->done + result->failed < max_items)
	{
		CleanupItem *item = take_next(last, force);
		int n;

		if (item == NULL)
			break;
		last = item->item_id;
		n = take_objects(item, force ? 1 : OBJECTS_AT_ONCE, items);
		work_off(n, items, result);
		MemoryContextReset(context);
		CHECK_FOR_INTERRUPTS();
	}
	result->retry_after_ms = next_due_ms();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}
