/*
 * create_table_branch.c
 *	  CreateTableBranch: a line of versions of its own, beginning at a version of main or of another branch.
 *
 * Its first version reads the parent's files where they lie. It becomes part of the branch's history as any version does,
 * and only then the branch gets its name.
 */
#include "postgres.h"

#include <time.h>

#include "catalog/cleanup.h"
#include "catalog/commit.h"
#include "dataset/branch.h"
#include "ops/history_of.h"
#include "ops/ref.h"
#include "ops/refs_of.h"
#include "pg/errcodes.h"
#include "pg/report.h"
#include "pg/uuid.h"

/*
 * The version that the branch begins at, and in *parent the branch that it is of, when that is not main. *pending: what this
 * transaction will write of it; NULL when it stands already.
 */
static LanceHistoryItem *
find_source(const LanceRefs *refs, const LanceCreateTableBranchRequest *request, LanceHistory *history,
			LncBranch *parent, const LancePending **pending)
{
	LanceHistoryItem *item;

	lance_refs_history(refs, request->from_branch, history);
	if (history->branch[0] != '\0' && !lance_refs_branch(refs, history->branch, parent))
		lance_branch_missing(history, &request->id);
	if (request->from_version.given)
		return lance_refs_version(refs, &request->id, history->branch, &request->from_version, history, pending);
	item = lance_history_newest_here(history, pending);
	if (item == NULL)
		lance_version_missing(history, &request->id, 0);
	return item;
}

/* No file names the branch. Are there versions all the same? */
static void
check_free(const LanceRefs *refs, const char *name, LanceHistory *history)
{
	lance_cleanup_finish_branch(refs->table, name);
	lance_refs_history(refs, name, history);
	if (lance_history_latest(history) != NULL)
		ereport(ERROR,
				(lance_errcode(LANCE_BRANCH_EXISTS),
				 errmsg("versions of a branch \"%s\" of table \"%s\" exist already", name, refs->table->name),
				 errdetail("A client that was creating it has not finished, or never will."),
				 errhint("Remove them with lance_delete_table_branch() if nobody is at it.")));
}

static void
name_branch(const LanceRefs *refs, const LanceCreateTableBranchRequest *request, const LanceHistory *source,
			const LanceHistoryItem *item, const LncBranch *parent)
{
	LncContext *ctx = &refs->lib->ctx;
	LncBranchStep *steps = palloc((parent->nsteps + 1) * sizeof(LncBranchStep));
	LncBranch branch = {.parent = source->branch[0] != '\0' ? source->branch : NULL,
						.parent_version = item->version,
						.create_at = (uint64)time(NULL),
						.manifest_size = (uint64)item->size,
						.nsteps = parent->nsteps + 1,
						.steps = steps};
	LncSlice text;

	if (parent->nsteps > 0)
		memcpy(steps, parent->steps, parent->nsteps * sizeof(LncBranchStep));
	steps[parent->nsteps] = (LncBranchStep){.version = item->version, .uuid = lance_new_plain_uuid()};
	lance_check(ctx, lnc_branch_write(ctx, refs->lib->arena, &branch, &text));
	lance_refs_change(refs, LNC_REF_BRANCH, request->name, NULL, &text);
}

void
lance_op_create_table_branch(const LanceCreateTableBranchRequest *request)
{
	LanceHistory source;
	LanceHistory history;
	LanceRefs refs;
	LanceHistoryItem *item;
	const LancePending *pending;
	LanceHistoryItem first;
	LncBranch parent = {0};
	LncBranchStart start = {0};
	LncFirstVersion made;
	LanceCommitFile file;
	LanceCommitRequest commit = {0};
	LncContext *ctx;
	LncSlice text;

	lance_refs_of(&request->id, LANCE_LOCK_UPDATE, LANCE_LEVEL_WRITE, &source, &refs);
	ctx = &refs.lib->ctx;
	lance_check_ref_name(&refs, LNC_REF_BRANCH, request->name, true);
	if (lance_refs_text(&refs, LNC_REF_BRANCH, request->name, &text))
		lance_refs_taken(LNC_REF_BRANCH, request->name, refs.table->name);
	item = find_source(&refs, request, &source, &parent, &pending);
	check_free(&refs, request->name, &history);
	start.branch = request->name;
	start.root = refs.table->location;
	start.source_branch = source.branch[0] != '\0' ? source.branch : NULL;
	start.source_key = item->manifest_key;
	start.source_file = pending != NULL ? &pending->body : NULL;
	start.source_version = item->version;
	start.uuid = lance_new_uuid();
	start.unix_ns = lance_refs_unix_ns();
	lance_check(ctx, lnc_branch_first_version(ctx, refs.lib->arena, refs.store, &start, &made));
	file = (LanceCommitFile){.key = made.transaction_key, .body = made.transaction};
	commit.version = (int64)item->version;
	commit.body = made.manifest;
	commit.nfiles = 1;
	commit.files = &file;
	commit.naming = LNC_NAMING_V2;
	lance_publish_together();
	lance_commit_version(&history, &commit, &first);
	name_branch(&refs, request, &source, item, &parent);
}
