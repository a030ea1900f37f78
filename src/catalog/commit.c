/*
 * commit.c
 *	  The commit protocol.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/announce.h"
#include "catalog/cleanup.h"
#include "catalog/commit.h"
#include "catalog/intent.h"
#include "common/hashfn.h"
#include "dataset/version_page.h"
#include "miscadmin.h"
#include "pg/errcodes.h"
#include "pg/profile.h"
#include "pg/report.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

/* Of versions that are adopted at once, listeners are told of so many, the newest. */
#define MAX_ANNOUNCED 1000

/* So long is a store asked when a table parts from it. */
#define PART_MS 5000

bool
lance_commit_is_pending(int64 table_id, const char *branch, int64 version)
{
	return lance_publish_find(table_id, branch, version) != NULL;
}

/* ---- what is there already */

/*
 * Folders that this process has listed for a commit, by table and branch: whatever was left there by others, it has
 * settled, and what others leave in them since then waits for the next one that lists, as it does when nobody commits.
 * A process that dies takes all others with it, so that after a crash each folder is listed again.
 */
#define FOLDERS 1024

static struct
{
	int64 table_id;
	uint32 branch;
} listed[FOLDERS];

/* Whether the folder is among them; it is from now on. */
static bool
was_listed(const LanceHistory *history)
{
	uint32 branch = hash_bytes((const unsigned char *)history->branch, (int)strlen(history->branch));
	int64 table_id = history->table->table_id;
	int slot = (int)(((uint32)table_id ^ branch) % FOLDERS);
	bool known = listed[slot].table_id == table_id && listed[slot].branch == branch;

	listed[slot].table_id = table_id;
	listed[slot].branch = branch;
	return known;
}

/*
 * Whether the newest version on record is the newest in the store too, so that there is nothing to adopt. A look for it and
 * for the next one tells, where a look costs less than a list, and writers come through the catalog.
 */
static bool
nothing_new(LanceHistory *history, const LanceVersionRow *newest, LncNaming *naming)
{
	LncContext *ctx = &history->lib->ctx;
	LncVersionFile file;
	bool still = false;

	if (newest == NULL || !history->table->managed || !lnc_store_near(history->store) ||
		lance_commit_is_pending(history->table->table_id, history->branch, newest->version) ||
		!lance_history_naming(newest, naming) || !was_listed(history))
		return false;
	lance_check(ctx, lnc_versions_still_latest(ctx, history->lib->arena, history->store, history->folder,
											   (uint64)newest->version, *naming, &file, &still));
	return still;
}

static LanceVersionRow
row_of_file(const LncVersionFile *file)
{
	LanceVersionRow row = {0};

	row.version = (int64)file->version;
	row.manifest_key = pstrdup(file->key);
	row.manifest_size = (int64)Min(file->size, (uint64)PG_INT64_MAX);
	row.committed_at = lance_timestamp_of_ms(file->modified_ms);
	return row;
}

/* Record n files. Those that are wanted (NULL: none), but for the newest, are deleted at once; *trimmed: how many. */
static void
record_files(const LanceHistory *history, size_t n, const LncVersionFile *files, LanceTrimFn wanted, void *arg,
			 uint64 *trimmed)
{
	int64 table_id = history->table->table_id;
	LanceVersionRow *kept = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(LanceVersionRow));
	LanceVersionRow *gone = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(LanceVersionRow));
	int nkept = 0;
	int ngone = 0;

	if (n > PG_INT32_MAX)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("table \"%s\" has too many versions", history->table->shown)));
	for (size_t i = 0; i < n; i++)
	{
		if (wanted != NULL && i + 1 < n && wanted(arg, (int64)files[i].version))
			gone[ngone++] = row_of_file(&files[i]);
		else
			kept[nkept++] = row_of_file(&files[i]);
	}
	(void)lance_version_adopt(table_id, history->branch, false, nkept, kept);
	*trimmed = lance_version_adopt(table_id, history->branch, true, ngone, gone);
	for (size_t i = n > MAX_ANNOUNCED ? n - MAX_ANNOUNCED : 0; i < n; i++)
		lance_announce_version(history->table, history->branch, (int64)files[i].version);
	pfree(kept);
	pfree(gone);
}

/* Record what lies beyond the rows, as both below say. */
static uint64
adopt(LanceHistory *history, LncNaming *naming, LanceTrimFn wanted, void *arg, uint64 *trimmed)
{
	LncContext *ctx = &history->lib->ctx;
	LanceVersionRow *newest = lance_version_row_newest(history->table->table_id, history->branch);
	uint64 recorded = newest != NULL ? (uint64)newest->version : 0;
	LncVersionList list;
	LancePending *p = NULL;
	size_t known = 0;

	*trimmed = 0;
	if (nothing_new(history, newest, naming))
		return recorded;

	/* The newest recorded one is listed again: that it is still there is part of the check. */
	lance_check(ctx, lnc_versions_list_all(ctx, history->lib->arena, history->store, history->folder,
										   newest != NULL ? recorded - 1 : 0, &list));
	lance_history_check_newest(history, newest, list.nfiles > 0 ? list.files[list.nfiles - 1].version : 0);
	lance_intent_settle(history->lib, history->store, history->table->table_id, history->branch, history->folder,
						recorded, &list);
	if (newest != NULL)
		p = lance_publish_find(history->table->table_id, history->branch, newest->version);
	if (p != NULL)
		*naming = p->naming;
	if (list.nfiles == 0)
		return recorded;
	while (known < list.nfiles && list.files[known].version <= recorded)
		known++;
	record_files(history, list.nfiles - known, list.files + known, wanted, arg, trimmed);
	*naming = list.files[list.nfiles - 1].naming;

	/* What this transaction has pending is on record, but not in the store. */
	return Max(list.files[list.nfiles - 1].version, recorded);
}

uint64
lance_commit_adopt(LanceHistory *history, LncNaming *naming)
{
	uint64 trimmed;

	return adopt(history, naming, NULL, NULL, &trimmed);
}

uint64
lance_commit_trim(LanceHistory *history, LanceTrimFn wanted, void *arg)
{
	LncNaming naming = LNC_NAMING_V2;
	uint64 trimmed;

	(void)adopt(history, &naming, wanted, arg, &trimmed);
	return trimmed;
}

static void
settle_branch(const LanceTableRow *table, const char *branch, LanceLibrary *lib, LncStore *store)
{
	LanceVersionRow *newest = lance_version_row_newest(table->table_id, branch);
	LanceHistory history;
	LncVersionList list;

	lance_history_begin(&history, table, branch, lib, store);
	lance_check(&lib->ctx, lnc_versions_list_all(&lib->ctx, lib->arena, store, history.folder, 0, &list));
	lance_intent_settle(lib, store, table->table_id, branch, history.folder,
						newest != NULL ? (uint64)newest->version : 0, &list);
}

static void
settle_branches(const LanceTableRow *table, int n, char *const *branches)
{
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	LncStore *store;

	lance_library_limit(lib, PART_MS);
	store = lance_profile_open(lib, lance_profile_get(table->server_name, GetUserId()), table->location);
	for (int i = 0; i < n; i++)
		settle_branch(table, branches[i], lib, store);
	lance_library_destroy(lib);
}

void
lance_commit_part(const LanceTableRow *table)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	TimestampTz begun = GetCurrentTimestamp();
	ErrorData *volatile error = NULL;
	char **branches;
	int n = lance_version_branches(table->table_id, &branches);

	if (lance_publish_has_any(table->table_id))
		ereport(ERROR, (lance_errcode(LANCE_UNSUPPORTED),
						errmsg("table \"%s\" can't be deregistered by the transaction that creates a version of it",
							   table->name),
						errhint("Commit the version first.")));
	if (n == 0)
		return;
	BeginInternalSubTransaction("lance part");
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		settle_branches(table, n, branches);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (error == NULL)
		return;

	/* a cancel, unless it is our own limit that has passed */
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED &&
		!TimestampDifferenceExceeds(begun, GetCurrentTimestamp(), PART_MS))
		ReThrowError(error);
	ereport(
		WARNING,
		(errcode(error->sqlerrcode),
		 errmsg("the store of table \"%s\" could not be asked for what interrupted transactions left", table->name),
		 errdetail("%s", error->message),
		 errhint("If files \"*.intent\" lie in its \"_versions\", remove them before the table is registered "
				 "again: versions beside them would not count.")));
}

/* The staged file's bytes, in lib; false when it is not there. */
static bool
read_staged(LanceLibrary *lib, LncStore *store, const char *key, LncSlice *body)
{
	LncCode code = lnc_store_read_all(&lib->ctx, store, lib->arena, key, LANCE_MAX_MANIFEST_BYTES, body);

	if (code == LNC_NOT_FOUND)
		return false;
	lance_check(&lib->ctx, code);
	return true;
}

/*
 * A version that is there already: ours, when the staged file has the same bytes, or is gone and was this version's.
 * Then the answer is that of the first time.
 */
static void
recognise(LanceHistory *history, const LanceCommitRequest *request, LanceHistoryItem *item)
{
	LanceHistoryItem *existing = lance_history_find(history, request->version);
	LanceVersionRow *row = lance_version_row(history->table->table_id, history->branch, request->version);
	LncSlice body;
	bool ours = false;

	if (existing == NULL)
		lance_publish_lost_race(history->table->shown, request->version);
	if (read_staged(history->lib, history->store, request->staged_key, &body))
	{
		ours = lance_publish_same_bytes(history->lib, history->store, existing->manifest_key, body);
		if (ours)
			lance_cleanup_queue_object(history->table, request->staged_key);
	}
	else if (row != NULL && row->staged_key != NULL)
		ours = strcmp(row->staged_key, request->staged_key) == 0;
	if (!ours)
		lance_publish_lost_race(history->table->shown, request->version);
	*item = *existing;
}

/* The pending version that the request asks for again, in the same transaction; NULL when it is another. */
static LancePending *
pending_again(LanceHistory *history, const LanceCommitRequest *request)
{
	LancePending *p = lance_publish_find(history->table->table_id, history->branch, request->version);
	LncSlice body;

	if (p == NULL || p->staged_key == NULL || request->staged_key == NULL ||
		strcmp(p->staged_key, request->staged_key) != 0)
		return NULL;
	if (read_staged(history->lib, history->store, request->staged_key, &body) &&
		(body.size != p->body.size || memcmp(body.data, p->body.data, body.size) != 0))
		lance_publish_lost_race(history->table->shown, request->version);
	return p;
}

/* ---- what this transaction adds */

static LncSlice
copy_slice(LncSlice bytes)
{
	uint8_t *copy = MemoryContextAllocHuge(CurrentMemoryContext, bytes.size + 1);

	if (bytes.size > 0)
		memcpy(copy, bytes.data, bytes.size);
	return (LncSlice){.data = copy, .size = bytes.size};
}

/* What to write at the end, with a store handle and the bytes that live until then. */
static LancePending *
make_pending(LanceHistory *history, const LanceCommitRequest *request, LncNaming naming)
{
	MemoryContext lifetime;
	LancePending *p = lance_publish_new(&lifetime);
	MemoryContext old = MemoryContextSwitchTo(lifetime);

	p->table_id = history->table->table_id;
	p->table_name = pstrdup(history->table->shown);
	p->branch = pstrdup(history->branch);
	p->version = request->version;
	p->naming = naming;
	p->recorded_at = GetCurrentTimestamp();
	p->store = lance_profile_open(p->lib, lance_profile_get(history->table->server_name, GetUserId()),
								  history->table->location);
	lance_check(&p->lib->ctx, lnc_versions_key(&p->lib->ctx, p->lib->arena, history->folder, request->version,
											   naming, &p->final_key));
	if (lance_publish_needs_intent())
		p->intent_key = lance_intent_key(p->lib, history->folder, request->version, naming);
	if (request->staged_key != NULL)
		p->staged_key = pstrdup(request->staged_key);
	else
		p->body = copy_slice(request->body);
	p->nfiles = request->nfiles;
	p->files = palloc0((request->nfiles + 1) * sizeof(LanceCommitFile));
	for (int i = 0; i < request->nfiles; i++)
		p->files[i] =
			(LanceCommitFile){.key = pstrdup(request->files[i].key), .body = copy_slice(request->files[i].body)};
	MemoryContextSwitchTo(old);
	if (p->staged_key != NULL && !read_staged(p->lib, p->store, p->staged_key, &p->body))
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT),
						errmsg("the staged manifest \"%s\" does not exist", p->staged_key)));
	return p;
}

void
lance_commit_pending_item(const LancePending *pending, LanceHistoryItem *item)
{
	memset(item, 0, sizeof(*item));
	item->version = (uint64)pending->version;
	item->naming = pending->naming;
	item->manifest_key = pstrdup(pending->final_key);
	item->size = (int64)pending->body.size;
	item->appeared = pending->recorded_at;
}

void
lance_commit_version(LanceHistory *history, const LanceCommitRequest *request, LanceHistoryItem *item)
{
	LncNaming naming = request->naming;
	LancePending *p = pending_again(history, request);
	LanceVersionRow row = {0};
	uint64 latest;

	if (p != NULL)
	{
		lance_commit_pending_item(p, item);
		item->metadata = request->metadata;
		return;
	}
	latest = lance_commit_adopt(history, &naming);
	if (latest > 0 && (uint64)request->version <= latest)
	{
		if (request->staged_key == NULL)
			lance_publish_lost_race(history->table->shown, request->version);
		recognise(history, request, item);
		return;
	}

	/* The first version of a branch carries the number of the version that it starts from. */
	if ((uint64)request->version != latest + 1 && !(latest == 0 && history->branch[0] != '\0'))
		ereport(ERROR, (lance_errcode(LANCE_CONCURRENT_MODIFICATION),
						errmsg("version " INT64_FORMAT " is not the next version of table \"%s\"", request->version,
							   history->table->shown),
						latest > 0 ? errdetail("The newest version is " UINT64_FORMAT ".", latest)
								   : errdetail("It has no version yet, so that the first one is 1.")));
	p = make_pending(history, request, naming);
	row.version = p->version;
	row.manifest_key = p->final_key;
	row.manifest_size = (int64)p->body.size;
	row.metadata = request->metadata;
	row.staged_key = p->staged_key;
	row.committed_at = p->recorded_at;
	if (!lance_version_insert(history->table->table_id, history->branch, &row))
		lance_publish_lost_race(history->table->shown, request->version);
	if (p->staged_key != NULL)
		lance_cleanup_queue_object(history->table, p->staged_key);
	lance_publish_add(p);
	lance_announce_version(history->table, history->branch, p->version);
	lance_commit_pending_item(p, item);
	item->metadata = request->metadata;
}
