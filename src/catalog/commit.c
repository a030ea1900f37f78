/*
 * commit.c
 *	  The commit protocol.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/cleanup.h"
#include "catalog/commit.h"
#include "miscadmin.h"
#include "pg/errcodes.h"
#include "pg/profile.h"
#include "pg/report.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/*
 * The version that this transaction writes at its commit. Lives in TopTransactionContext, or in keep_in, as all it
 * points to.
 */
typedef struct PendingVersion
{
	SubTransactionId subid; /* an abort of which forgets it */
	int64 table_id;
	char *table_name;
	char *branch;
	int64 version;
	LncNaming naming;
	TimestampTz recorded_at;
	char *staged_key;
	char *final_key;
	LncSlice body;
	LanceLibrary *lib;
	LncStore *store; /* in lib */
} PendingVersion;

static PendingVersion *pending;
static MemoryContext keep_in;     /* NULL: nothing is kept after the commit */
static PendingVersion *committed; /* what the last transaction wrote, in keep_in */
static bool interrupts_held;
static bool callbacks_registered;

bool
lance_commit_is_pending(int64 table_id, const char *branch, int64 version)
{
	return pending != NULL && pending->table_id == table_id && pending->version == version &&
		   strcmp(pending->branch, branch) == 0;
}

/* ---- the last step */

static void
lost_race(const char *table_name, int64 version)
{
	ereport(ERROR,
			(lance_errcode(LANCE_CONCURRENT_MODIFICATION),
			 errmsg("version " INT64_FORMAT " of table \"%s\" was written by another client", version, table_name),
			 errhint("Load the newest version and try again.")));
}

/* Does the object hold exactly these bytes? */
static bool
same_bytes(LanceLibrary *lib, LncStore *store, const char *key, LncSlice body)
{
	LncSlice other;
	LncCode code = lnc_store_read_all(&lib->ctx, store, lib->arena, key, LANCE_MAX_MANIFEST_BYTES, &other);

	if (code == LNC_NOT_FOUND)
		return false;
	lance_check(&lib->ctx, code);
	return other.size == body.size && memcmp(other.data, body.data, body.size) == 0;
}

/*
 * For stores without conditional writes. Writers through the catalog wait for the table's row; one past the catalog
 * could still slip in between the two requests, which is why such stores want all writers to come through it.
 */
static LncCode
put_after_check(LncContext *ctx, LncStore *store, const char *key, LncSlice body)
{
	uint64_t size;
	LncCode code = lnc_store_size(ctx, store, key, &size);

	if (code == LNC_OK)
		return lnc_fail(ctx, LNC_EXISTS, "object \"%s\" exists already", key);
	if (code != LNC_NOT_FOUND)
		return code;
	return lnc_store_put(ctx, store, key, body);
}

static LncCode
put_once(LncContext *ctx, LncStore *store, const char *key, LncSlice body)
{
	LncCode code = lnc_store_put_if_absent(ctx, store, key, body);

	return code == LNC_UNSUPPORTED ? put_after_check(ctx, store, key, body) : code;
}

static void
outcome_unknown(const PendingVersion *p, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN),
			 errmsg("whether version " INT64_FORMAT " of table \"%s\" was written is unknown", p->version,
					p->table_name),
			 errdetail("%s", why),
			 errhint("Describe the version to see whether it exists. Sending the same request again is safe.")));
}

/* Write the pending version under its final name. On return it is there, with our bytes. */
static void
publish(const PendingVersion *p)
{
	LncContext *ctx = &p->lib->ctx;
	LncCode code = put_once(ctx, p->store, p->final_key, p->body);

	/* Idempotent: if the first try did arrive, the second one finds equal bytes. */
	if (code == LNC_UNCLEAR)
		code = put_once(ctx, p->store, p->final_key, p->body);
	if (code == LNC_EXISTS)
	{
		if (!same_bytes(p->lib, p->store, p->final_key, p->body))
			lost_race(p->table_name, p->version);
		return;
	}
	if (code == LNC_UNCLEAR)
		outcome_unknown(p, ctx->error.message);
	if (code == LNC_CANCELLED && !ProcDiePending)
	{
		QueryCancelPending = false;
		outcome_unknown(p, "The request was canceled while the manifest was being written.");
	}
	lance_check(ctx, code);
}

static void
xact_callback(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			if (pending == NULL)
				break;

			/* The one thing left that can fail is the serializable check: have it done before the write. */
			if (IsolationIsSerializable())
				PreCommit_CheckForSerializationFailure();
			publish(pending);

			/* From here to the commit record nothing may stop us. An error would end the hold by itself. */
			HOLD_INTERRUPTS();
			interrupts_held = InterruptHoldoffCount;
			break;
		case XACT_EVENT_PRE_PREPARE:
			if (pending != NULL)
				ereport(ERROR, (lance_errcode(LANCE_UNSUPPORTED),
								errmsg("a transaction that creates a table version can't be prepared")));
			break;
		case XACT_EVENT_COMMIT:

			/* The commit holds interrupts itself; ours may have gone with an error that somebody caught meanwhile. */
			if (interrupts_held > 0 && InterruptHoldoffCount > interrupts_held)
				RESUME_INTERRUPTS();
			interrupts_held = 0;
			committed = keep_in != NULL ? pending : NULL;
			pending = NULL;
			break;
		case XACT_EVENT_ABORT:
			interrupts_held = 0;
			pending = NULL;
			break;
		default:
			break;
	}
}

static void
subxact_callback(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	if (pending == NULL || pending->subid != subid)
		return;
	if (event == SUBXACT_EVENT_COMMIT_SUB)
		pending->subid = parent;
	else if (event == SUBXACT_EVENT_ABORT_SUB)
		pending = NULL;
}

/* ---- after it */

void
lance_commit_keep_in(MemoryContext context)
{
	keep_in = context;
	committed = NULL;
}

void
lance_commit_tidy(void)
{
	LncCode ignored; /* the cleanup queue has it too */

	if (committed == NULL)
		return;
	ignored = lnc_store_delete(&committed->lib->ctx, committed->store, committed->staged_key);
	(void)ignored;
	committed = NULL;
}

/* ---- before that */

uint64
lance_commit_adopt(LanceHistory *history, LncNaming *naming)
{
	LncContext *ctx = &history->lib->ctx;
	LanceVersionRow *newest = lance_version_row_newest(history->table->table_id, history->branch);
	uint64 after = newest != NULL ? (uint64)newest->version - 1 : 0;
	LanceVersionRow *rows;
	LncVersionFile *files;
	size_t nfiles;
	int n = 0;

	/* The newest recorded one is listed again: that it is still there is part of the check. */
	lance_check(
		ctx, lnc_versions_list(ctx, history->lib->arena, history->store, history->folder, after, &nfiles, &files));
	lance_history_check_newest(history, newest, nfiles > 0 ? files[nfiles - 1].version : 0);
	if (nfiles == 0)
		return newest != NULL ? (uint64)newest->version : 0;
	if (nfiles > PG_INT32_MAX)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("table \"%s\" has too many versions", history->table->name)));
	rows = MemoryContextAllocHuge(CurrentMemoryContext, nfiles * sizeof(LanceVersionRow));
	for (size_t i = 0; i < nfiles; i++)
	{
		LanceVersionRow *row = &rows[n];

		if (newest != NULL && files[i].version <= (uint64)newest->version)
			continue;
		memset(row, 0, sizeof(*row));
		row->version = (int64)files[i].version;
		row->manifest_key = pstrdup(files[i].key);
		row->manifest_size = (int64)Min(files[i].size, (uint64)PG_INT64_MAX);
		row->committed_at = lance_timestamp_of_ms(files[i].modified_ms);
		n++;
	}
	lance_version_adopt(history->table->table_id, history->branch, n, rows);
	*naming = files[nfiles - 1].naming;
	return files[nfiles - 1].version;
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
		lost_race(history->table->name, request->version);
	if (read_staged(history->lib, history->store, request->staged_key, &body))
	{
		ours = same_bytes(history->lib, history->store, existing->manifest_key, body);
		if (ours)
			lance_cleanup_queue_object(history->table, request->staged_key);
	}
	else if (row != NULL && row->staged_key != NULL)
		ours = strcmp(row->staged_key, request->staged_key) == 0;
	if (!ours)
		lost_race(history->table->name, request->version);
	*item = *existing;
}

/* Is the request the one that is pending, sent again in the same transaction? */
static bool
is_pending_again(LanceHistory *history, const LanceCommitRequest *request)
{
	LncSlice body;

	if (!lance_commit_is_pending(history->table->table_id, history->branch, request->version) ||
		strcmp(pending->staged_key, request->staged_key) != 0)
		return false;
	if (read_staged(history->lib, history->store, request->staged_key, &body) &&
		(body.size != pending->body.size || memcmp(body.data, pending->body.data, body.size) != 0))
		lost_race(history->table->name, request->version);
	return true;
}

/* Remember what to write at the end, with a store handle and the bytes that live until then. */
static void
remember(LanceHistory *history, const LanceCommitRequest *request, LncNaming naming)
{
	MemoryContext lifetime = keep_in != NULL ? keep_in : TopTransactionContext;
	MemoryContext old = MemoryContextSwitchTo(lifetime);
	PendingVersion *p = palloc0(sizeof(*p));

	p->subid = GetCurrentSubTransactionId();
	p->table_id = history->table->table_id;
	p->table_name = pstrdup(history->table->name);
	p->branch = pstrdup(history->branch);
	p->version = request->version;
	p->naming = naming;
	p->recorded_at = GetCurrentTimestamp();
	p->staged_key = pstrdup(request->staged_key);
	p->lib = lance_library_create(lifetime);
	p->store = lance_profile_open(p->lib, lance_profile_get(history->table->server_name, GetUserId()),
								  history->table->location);
	MemoryContextSwitchTo(old);
	lance_check(&p->lib->ctx, lnc_versions_key(&p->lib->ctx, p->lib->arena, history->folder, request->version,
											   naming, &p->final_key));
	if (!read_staged(p->lib, p->store, p->staged_key, &p->body))
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT),
						errmsg("the staged manifest \"%s\" does not exist", request->staged_key)));
	if (!callbacks_registered)
	{
		RegisterXactCallback(xact_callback, NULL);
		RegisterSubXactCallback(subxact_callback, NULL);
		callbacks_registered = true;
	}
	pending = p;
}

/* The pending version as it will stand. */
static void
item_of_pending(LanceHistoryItem *item)
{
	memset(item, 0, sizeof(*item));
	item->version = pending->version;
	item->naming = pending->naming;
	item->manifest_key = pstrdup(pending->final_key);
	item->size = (int64)pending->body.size;
	item->appeared = pending->recorded_at;
}

void
lance_commit_version(LanceHistory *history, const LanceCommitRequest *request, LanceHistoryItem *item)
{
	LncNaming naming = request->naming;
	LanceVersionRow row = {0};
	uint64 latest;

	if (is_pending_again(history, request))
	{
		item_of_pending(item);
		item->metadata = request->metadata;
		return;
	}
	if (pending != NULL)
		ereport(ERROR, (lance_errcode(LANCE_UNSUPPORTED), errmsg("a transaction can create one table version only"),
						errhint("Commit after each lance_create_table_version().")));
	latest = lance_commit_adopt(history, &naming);
	if (latest > 0 && (uint64)request->version <= latest)
	{
		recognise(history, request, item);
		return;
	}

	/* The first version of a branch carries the number of the version that it starts from. */
	if ((uint64)request->version != latest + 1 && !(latest == 0 && history->branch[0] != '\0'))
		ereport(ERROR, (lance_errcode(LANCE_CONCURRENT_MODIFICATION),
						errmsg("version " INT64_FORMAT " is not the next version of table \"%s\"", request->version,
							   history->table->name),
						latest > 0 ? errdetail("The newest version is " UINT64_FORMAT ".", latest)
								   : errdetail("It has no version yet, so that the first one is 1.")));
	remember(history, request, naming);
	row.version = request->version;
	row.manifest_key = pending->final_key;
	row.manifest_size = (int64)pending->body.size;
	row.metadata = request->metadata;
	row.staged_key = pending->staged_key;
	row.committed_at = pending->recorded_at;
	if (!lance_version_insert(history->table->table_id, history->branch, &row))
		lost_race(history->table->name, request->version);
	lance_cleanup_queue_object(history->table, request->staged_key);
	item_of_pending(item);
	item->metadata = request->metadata;
}
