/*
 * refs.c
 *	  Changes of tags and branches, pending until the transaction commits.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/commit.h"
#include "catalog/refs.h"
#include "miscadmin.h"
#include "pg/errcodes.h"
#include "pg/profile.h"
#include "pg/report.h"
#include "storage/predicate.h"
#include "utils/memutils.h"

/* So long may a store hold up the end of a transaction. */
#define CHANGE_MS 30000
#define UNDO_MS 3000

/* A change of one ref. Later changes of the same ref stand behind it in the list. Lives in TopTransactionContext. */
typedef struct PendingRef
{
	SubTransactionId subid; /* an abort of which forgets it */
	int64 table_id;
	char *table_name;
	LncRefKind kind;
	char *name;
	char *key;
	bool had_before; /* in the store, before the transaction's first change of it */
	LncSlice before;
	bool has_after;
	LncSlice after;
	bool attempted; /* the store may have the change */
	LanceLibrary *lib;
	LncStore *store; /* in lib */
} PendingRef;

static List *pending; /* of PendingRef, in the order of the calls */
static bool callbacks_registered;

/* ---- as the transaction sees it */

/* The last change of a ref; NULL when this transaction has not changed it. */
static PendingRef *
find_pending(int64 table_id, LncRefKind kind, const char *name)
{
	for (int i = list_length(pending) - 1; i >= 0; i--)
	{
		PendingRef *p = list_nth(pending, i);

		if (p->table_id == table_id && p->kind == kind && strcmp(p->name, name) == 0)
			return p;
	}
	return NULL;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int
lance_refs_names(const LanceRefs *refs, LncRefKind kind, char ***names)
{
	char **stored;
	size_t nstored;
	int n = 0;
	ListCell *cell;

	lance_check(&refs->lib->ctx,
				lnc_ref_names(&refs->lib->ctx, refs->lib->arena, refs->store, kind, &nstored, &stored));
	if (nstored + list_length(pending) > MaxAllocSize / sizeof(char *))
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("table \"%s\" has too many tags or branches", refs->table->shown)));
	*names = palloc((nstored + list_length(pending) + 1) * sizeof(char *));
	for (size_t i = 0; i < nstored; i++)
	{
		if (find_pending(refs->table->table_id, kind, stored[i]) == NULL)
			(*names)[n++] = pstrdup(stored[i]);
	}
	foreach (cell, pending)
	{
		PendingRef *p = lfirst(cell);

		if (p->table_id == refs->table->table_id && p->kind == kind && p->has_after &&
			find_pending(p->table_id, kind, p->name) == p)
			(*names)[n++] = pstrdup(p->name);
	}
	qsort(*names, n, sizeof(char *), compare_names);
	return n;
}

bool
lance_refs_text(const LanceRefs *refs, LncRefKind kind, const char *name, LncSlice *text)
{
	LncContext *ctx = &refs->lib->ctx;
	const PendingRef *p = find_pending(refs->table->table_id, kind, name);
	char *key;
	LncCode code;

	lance_check(ctx, lnc_ref_check_name(ctx, kind, name));
	if (p != NULL)
	{
		*text = p->after;
		return p->has_after;
	}
	lance_check(ctx, lnc_ref_key(ctx, refs->lib->arena, kind, name, &key));
	code = lnc_store_read_all(ctx, refs->store, refs->lib->arena, key, LNC_MAX_REF_BYTES, text);
	if (code == LNC_NOT_FOUND)
		return false;
	lance_check(ctx, code);
	return true;
}

bool
lance_refs_tag(const LanceRefs *refs, const char *name, LncTag *tag)
{
	LncSlice text;

	if (!lance_refs_text(refs, LNC_REF_TAG, name, &text))
		return false;
	lance_check(&refs->lib->ctx, lnc_tag_parse(&refs->lib->ctx, refs->lib->arena, name, text, tag));
	return true;
}

bool
lance_refs_branch(const LanceRefs *refs, const char *name, LncBranch *branch)
{
	LncSlice text;

	if (!lance_refs_text(refs, LNC_REF_BRANCH, name, &text))
		return false;
	lance_check(&refs->lib->ctx, lnc_branch_parse(&refs->lib->ctx, refs->lib->arena, name, text, branch));
	return true;
}

/* ---- the last step */

void
lance_refs_taken(LncRefKind kind, const char *name, const char *table_name)
{
	ereport(ERROR, (lance_errcode(kind == LNC_REF_TAG ? LANCE_TAG_EXISTS : LANCE_BRANCH_EXISTS),
					errmsg("%s \"%s\" of table \"%s\" exists already", kind == LNC_REF_TAG ? "tag" : "branch", name,
						   table_name)));
}

static bool
same_bytes(LncSlice a, LncSlice b)
{
	return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static LncCode
write_new(const PendingRef *p)
{
	LncContext *ctx = &p->lib->ctx;
	LncCode code = lance_publish_put_once(ctx, p->store, p->key, p->after);
	LncSlice found;

	/* Idempotent: if the first try did arrive, the second one finds equal bytes. */
	if (code == LNC_UNCLEAR)
		code = lance_publish_put_once(ctx, p->store, p->key, p->after);
	if (code != LNC_EXISTS)
		return code;
	code = lnc_store_read_all(ctx, p->store, p->lib->arena, p->key, LNC_MAX_REF_BYTES, &found);
	if (code == LNC_OK && same_bytes(found, p->after))
		return LNC_OK;
	if (code == LNC_OK || code == LNC_LIMIT || code == LNC_NOT_FOUND)
		return lnc_fail(ctx, LNC_EXISTS, "object \"%s\" exists already", p->key);
	return code;
}

static void
carry_out(PendingRef *p)
{
	LncContext *ctx = &p->lib->ctx;
	LncCode code;

	p->attempted = true;
	if (!p->has_after)
		code = lnc_store_delete(ctx, p->store, p->key);
	else if (!p->had_before)
		code = write_new(p);
	else
		code = lnc_store_put(ctx, p->store, p->key, p->after);
	if (code == LNC_EXISTS)
	{
		p->attempted = false;
		lance_refs_taken(p->kind, p->name, p->table_name);
	}
	if (code == LNC_UNCLEAR || code == LNC_UNAVAILABLE)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("could not change %s \"%s\" of table \"%s\"", p->kind == LNC_REF_TAG ? "tag" : "branch",
						p->name, p->table_name),
				 errdetail("%s", ctx->error.message),
				 errhint("The transaction is rolled back with all it did; see what stands there and try again.")));
	lance_check(ctx, code);
}

static void
pre_commit(void)
{
	ListCell *cell;

	/* What else can fail is to fail before the store is changed. */
	if (IsolationIsSerializable())
		PreCommit_CheckForSerializationFailure();
	foreach (cell, pending)
	{
		PendingRef *p = lfirst(cell);

		/* Only the last change of each counts, and only if it leaves another state than there was. */
		if (find_pending(p->table_id, p->kind, p->name) != p || (!p->had_before && !p->has_after) ||
			(p->had_before && p->has_after && same_bytes(p->before, p->after)))
			continue;
		lance_library_limit(p->lib, CHANGE_MS);
		carry_out(p);
	}
}

/* Put back what stood there, unless somebody has changed it since. */
static LncCode
put_back(const PendingRef *p)
{
	LncContext *ctx = &p->lib->ctx;
	LncSlice found = {0};
	LncCode code = lnc_store_read_all(ctx, p->store, p->lib->arena, p->key, LNC_MAX_REF_BYTES, &found);

	if (code != LNC_OK && code != LNC_NOT_FOUND)
		return code;
	if (p->has_after ? code == LNC_NOT_FOUND || !same_bytes(found, p->after) : code == LNC_OK)
		return LNC_OK;
	if (!p->had_before)
		return lnc_store_delete(ctx, p->store, p->key);
	return lnc_store_put(ctx, p->store, p->key, p->before);
}

/* The transaction failed after the last step, or in it. Throws nothing. */
static void
undo(void)
{
	for (int i = list_length(pending) - 1; i >= 0; i--)
	{
		const PendingRef *p = list_nth(pending, i);

		if (!p->attempted)
			continue;
		lance_library_limit(p->lib, UNDO_MS);
		if (put_back(p) != LNC_OK)
		{
			ereport(WARNING, (errcode(ERRCODE_IO_ERROR),
							  errmsg("the change of %s \"%s\" of table \"%s\" could not be taken back",
									 p->kind == LNC_REF_TAG ? "tag" : "branch", p->name, p->table_name),
							  errdetail("%s", p->lib->ctx.error.message)));
			break;
		}
	}
}

static void
xact_callback(XactEvent event, void *arg)
{
	if (pending == NIL)
		return;
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			pre_commit();
			break;
		case XACT_EVENT_PRE_PREPARE:
			ereport(ERROR, (lance_errcode(LANCE_UNSUPPORTED),
							errmsg("a transaction that changes tags or branches can't be prepared")));
			break;
		case XACT_EVENT_COMMIT:
			pending = NIL;
			break;
		case XACT_EVENT_ABORT:
			undo();
			pending = NIL;
			break;
		default:
			break;
	}
}

static void
subxact_callback(SubXactEvent event, SubTransactionId subid, SubTransactionId parent, void *arg)
{
	ListCell *cell;

	foreach (cell, pending)
	{
		PendingRef *p = lfirst(cell);

		if (p->subid != subid)
			continue;
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			p->subid = parent;
		else if (event == SUBXACT_EVENT_ABORT_SUB)
			pending = foreach_delete_current(pending, cell);
	}
}

/* ---- what is to be changed */

static LncSlice
copy_slice(LncSlice bytes)
{
	uint8_t *copy = palloc(bytes.size + 1);

	if (bytes.size > 0)
		memcpy(copy, bytes.data, bytes.size);
	return (LncSlice){.data = copy, .size = bytes.size};
}

void
lance_refs_change(const LanceRefs *refs, LncRefKind kind, const char *name, const LncSlice *before,
				  const LncSlice *after)
{
	const PendingRef *earlier = find_pending(refs->table->table_id, kind, name);
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	PendingRef *p = palloc0(sizeof(*p));
	char *key;

	p->subid = GetCurrentSubTransactionId();
	p->table_id = refs->table->table_id;
	p->table_name = pstrdup(refs->table->shown);
	p->kind = kind;
	p->name = pstrdup(name);
	if (earlier != NULL)
	{
		p->had_before = earlier->had_before;
		p->before = earlier->before;
	}
	else if (before != NULL)
	{
		p->had_before = true;
		p->before = copy_slice(*before);
	}
	if (after != NULL)
	{
		p->has_after = true;
		p->after = copy_slice(*after);
	}
	p->lib = lance_library_create(TopTransactionContext);
	p->store =
		lance_profile_open(p->lib, lance_profile_get(refs->table->server_name, GetUserId()), refs->table->location);
	lance_check(&p->lib->ctx, lnc_ref_key(&p->lib->ctx, p->lib->arena, kind, name, &key));
	p->key = key;
	if (!callbacks_registered)
	{
		RegisterXactCallback(xact_callback, NULL);
		RegisterSubXactCallback(subxact_callback, NULL);
		callbacks_registered = true;

		/* A branch's first version is to be there before the branch is. */
		lance_publish_come_first();
	}
	pending = lappend(pending, p);
	MemoryContextSwitchTo(old);
}
