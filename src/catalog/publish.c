/*
 * publish.c
 *	  Final names, written as the transaction commits.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/intent.h"
#include "catalog/publish.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "pg/errcodes.h"
#include "pg/report.h"
#include "storage/predicate.h"
#include "utils/memutils.h"

/* So long may the end of a transaction be held up by a store, for what others can do too. */
#define AFTERWORK_MS 3000

/* What has been done for a pending version. */
typedef enum Progress
{
	PROGRESS_NOTHING,
	PROGRESS_FILES,  /* its files may be in the store */
	PROGRESS_INTENT, /* its intent may be in the store */
	PROGRESS_NAME    /* its final name may be in the store */
} Progress;

typedef struct Entry
{
	LancePending public;
	SubTransactionId subid; /* an abort of which forgets it */
	Progress progress;
} Entry;

/* In TopTransactionContext, or in keep_in, as all they point to. */
static List *entries;
static bool together;
static MemoryContext keep_in;  /* NULL: nothing is kept after the commit */
static List *committed;        /* what the last transaction wrote, in keep_in */
static uint32 interrupts_held; /* the count of holds with ours; 0: not held */
static bool callbacks_registered;

bool
lance_publish_same_bytes(LanceLibrary *lib, LncStore *store, const char *key, LncSlice body)
{
	LncSlice other;
	LncCode code = lnc_store_read_all(&lib->ctx, store, lib->arena, key, LANCE_MAX_MANIFEST_BYTES, &other);

	if (code == LNC_NOT_FOUND)
		return false;
	lance_check(&lib->ctx, code);
	return other.size == body.size && memcmp(other.data, body.data, body.size) == 0;
}

void
lance_publish_lost_race(const char *table_name, int64 version)
{
	ereport(ERROR,
			(lance_errcode(LANCE_CONCURRENT_MODIFICATION),
			 errmsg("version " INT64_FORMAT " of table \"%s\" was written by another client", version, table_name),
			 errhint("Load the newest version and try again.")));
}

/* ---- one manifest */

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

LncCode
lance_publish_put_once(LncContext *ctx, LncStore *store, const char *key, LncSlice body)
{
	LncCode code = lnc_store_put_if_absent(ctx, store, key, body);

	return code == LNC_UNSUPPORTED ? put_after_check(ctx, store, key, body) : code;
}

/* Write the manifest under its final name. LNC_OK: it is there, with our bytes. Throws when the race is lost. */
static LncCode
put_manifest(const LancePending *p)
{
	LncContext *ctx = &p->lib->ctx;
	LncCode code = lance_publish_put_once(ctx, p->store, p->final_key, p->body);

	/* Idempotent: if the first try did arrive, the second one finds equal bytes. */
	if (code == LNC_UNCLEAR)
		code = lance_publish_put_once(ctx, p->store, p->final_key, p->body);
	if (code != LNC_EXISTS)
		return code;
	if (!lance_publish_same_bytes(p->lib, p->store, p->final_key, p->body))
		lance_publish_lost_race(p->table_name, p->version);
	return LNC_OK;
}

static void
put_files(const LancePending *p)
{
	for (int i = 0; i < p->nfiles; i++)
		lance_check(&p->lib->ctx, lnc_store_put(&p->lib->ctx, p->store, p->files[i].key, p->files[i].body));
}

/* ---- a version that its final name commits */

static void
outcome_unknown(const LancePending *p, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN),
			 errmsg("whether version " INT64_FORMAT " of table \"%s\" was written is unknown", p->version,
					p->table_name),
			 errdetail("%s", why),
			 errhint("Describe the version to see whether it exists. Sending the same request again is safe.")));
}

static void
publish_alone(const LancePending *p)
{
	LncContext *ctx = &p->lib->ctx;
	LncCode code;

	put_files(p);
	code = put_manifest(p);
	if (code == LNC_UNCLEAR)
		outcome_unknown(p, ctx->error.message);
	if (code == LNC_CANCELLED && !ProcDiePending)
	{
		QueryCancelPending = false;
		outcome_unknown(p, "The request was canceled while the manifest was being written.");
	}
	lance_check(ctx, code);
}

/* ---- versions that PostgreSQL's commit commits */

static void
publish_together(void)
{
	ListCell *cell;

	foreach (cell, entries)
	{
		Entry *entry = lfirst(cell);

		LancePending *p = &entry->public;

		entry->progress = PROGRESS_FILES;
		put_files(p);
		entry->progress = PROGRESS_INTENT;
		lance_intent_write(p->lib, p->store, p->intent_key, p->body);
	}
	foreach (cell, entries)
	{
		Entry *entry = lfirst(cell);
		LancePending *p = &entry->public;
		LncCode code;

		entry->progress = PROGRESS_NAME;
		code = put_manifest(p);
		if (code == LNC_UNCLEAR)
			ereport(ERROR,
					(errcode(ERRCODE_CONNECTION_FAILURE),
					 errmsg("could not write version " INT64_FORMAT " of table \"%s\"", p->version, p->table_name),
					 errdetail("%s", p->lib->ctx.error.message),
					 errhint("The transaction is rolled back with all it did; try it again.")));
		lance_check(&p->lib->ctx, code);
	}

	/* A commit that a crash could still take back must not be told to anybody: the next writer would undo it. */
	ForceSyncCommit();
}

/*
 * The transaction failed: take away what it may have written. As the locks are still held, nobody built on it through the
 * catalog. What can't be done now the next writer of the table does. Throws nothing.
 */
static void
withdraw(void)
{
	ListCell *cell;

	foreach (cell, entries)
	{
		Entry *entry = lfirst(cell);
		LancePending *p = &entry->public;

		if (entry->progress == PROGRESS_NOTHING)
			continue;
		lance_library_limit(p->lib, AFTERWORK_MS);
		if (entry->progress >= PROGRESS_INTENT &&
			lance_intent_withdraw(p->lib, p->store, p->intent_key,
								  entry->progress == PROGRESS_NAME ? p->final_key : NULL, p->body) != LNC_OK)
			break;

		/* No manifest names them now. One that stays behind is what the clients' own cleanup takes away. */
		for (int i = 0; i < p->nfiles; i++)
		{
			LncCode ignored = lnc_store_delete(&p->lib->ctx, p->store, p->files[i].key);

			(void)ignored;
		}
	}
}

/*
 * The transaction committed: its versions count, with or without an intent. What can't be removed now the next writer of the
 * table does. Throws nothing.
 */
static void
remove_intents(void)
{
	ListCell *cell;

	foreach (cell, entries)
	{
		Entry *entry = lfirst(cell);
		LancePending *p = &entry->public;

		if (entry->progress != PROGRESS_NAME)
			continue;
		lance_library_limit(p->lib, AFTERWORK_MS);
		if (lnc_store_delete(&p->lib->ctx, p->store, p->intent_key) != LNC_OK)
			break;
	}
}

/* ---- the transaction */

static void
forget(void)
{
	entries = NIL;
	together = false;
	interrupts_held = 0;
}

static void
pre_commit(void)
{
	/* The one thing left that can fail is the serializable check: have it done before the write. */
	if (IsolationIsSerializable())
		PreCommit_CheckForSerializationFailure();
	if (list_length(entries) == 1 && ((Entry *)linitial(entries))->public.intent_key == NULL)
		publish_alone(&((Entry *)linitial(entries))->public);
	else
		publish_together();

	/* From here to the commit record nothing may stop us. An error would end the hold by itself. */
	HOLD_INTERRUPTS();
	interrupts_held = InterruptHoldoffCount;
}

static void
xact_callback(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			if (entries != NIL)
				pre_commit();
			break;
		case XACT_EVENT_PRE_PREPARE:
			if (entries != NIL)
				ereport(ERROR, (lance_errcode(LANCE_UNSUPPORTED),
								errmsg("a transaction that creates a table version can't be prepared")));
			break;
		case XACT_EVENT_COMMIT:

			/* The commit holds interrupts itself; ours may have gone with an error that somebody caught meanwhile. */
			if (interrupts_held > 0 && InterruptHoldoffCount > interrupts_held)
				RESUME_INTERRUPTS();
			remove_intents();
			committed = keep_in != NULL ? entries : NIL;
			forget();
			break;
		case XACT_EVENT_ABORT:
			withdraw();
			forget();
			break;
		default:
			break;
	}
}

static void
subxact_callback(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	ListCell *cell;

	foreach (cell, entries)
	{
		Entry *entry = lfirst(cell);

		if (entry->subid != subid)
			continue;
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			entry->subid = parent;
		else if (event == SUBXACT_EVENT_ABORT_SUB)
			entries = foreach_delete_current(entries, cell);
	}
}

/* ---- what is to be published */

static MemoryContext
lifetime_of_entries(void)
{
	return keep_in != NULL ? keep_in : TopTransactionContext;
}

void
lance_publish_come_first(void)
{
	/* The server calls the latest first. */
	if (callbacks_registered)
		UnregisterXactCallback(xact_callback, NULL);
	else
		RegisterSubXactCallback(subxact_callback, NULL);
	RegisterXactCallback(xact_callback, NULL);
	callbacks_registered = true;
}

LancePending *
lance_publish_new(MemoryContext *lifetime)
{
	Entry *entry;

	*lifetime = lifetime_of_entries();
	entry = MemoryContextAllocZero(*lifetime, sizeof(*entry));
	entry->public.lib = lance_library_create(*lifetime);
	return &entry->public;
}

void
lance_publish_add(LancePending *pending)
{
	Entry *entry = (Entry *)pending;
	MemoryContext old;

	if (!callbacks_registered)
		lance_publish_come_first();
	entry->subid = GetCurrentSubTransactionId();
	old = MemoryContextSwitchTo(lifetime_of_entries());
	entries = lappend(entries, entry);
	MemoryContextSwitchTo(old);
}

LancePending *
lance_publish_find(int64 table_id, const char *branch, int64 version)
{
	ListCell *cell;

	foreach (cell, entries)
	{
		Entry *entry = lfirst(cell);

		if (entry->public.table_id == table_id && entry->public.version == version &&
			strcmp(entry->public.branch, branch) == 0)
			return &entry->public;
	}
	return NULL;
}

bool
lance_publish_has_any(int64 table_id)
{
	ListCell *cell;

	foreach (cell, entries)
	{
		if (((Entry *)lfirst(cell))->public.table_id == table_id)
			return true;
	}
	return false;
}

bool
lance_publish_needs_intent(void)
{
	return keep_in == NULL || together;
}

void
lance_publish_together(void)
{
	together = true;
}

/* ---- after it */

void
lance_publish_keep_in(MemoryContext context)
{
	keep_in = context;
	committed = NIL;
}

void
lance_publish_tidy(void)
{
	ListCell *cell;

	foreach (cell, committed)
	{
		LancePending *p = &((Entry *)lfirst(cell))->public;

		/* the cleanup queue has it too */
		if (p->staged_key != NULL && lnc_store_discard(&p->lib->ctx, p->store, p->staged_key) != LNC_OK)
			break;
	}
	committed = NIL;
}
