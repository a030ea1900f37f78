/*
 * delete_table_branch.c
 *	  DeleteTableBranch. A branch that a tag or another branch stands on is kept.
 *
 * With the commit the branch is gone for everybody who reads its file, and its versions for readers of the catalog; its
 * own files are removed after that, from the cleanup queue. Versions that lie in a branch's folder while no file names the
 * branch, as an interrupted creation leaves them, are removed in the same way.
 */
#include "postgres.h"

#include "catalog/cleanup.h"
#include "ops/ref.h"
#include "ops/refs_of.h"
#include "pg/errcodes.h"
#include "pg/report.h"

static void
refuse(const char *name, const char *detail, const char *hint)
{
	ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("branch \"%s\" is in use", name),
					errdetail("%s", detail), errhint("%s", hint)));
}

static void
check_branches(const LanceRefs *refs, const char *name, const LncBranch *branch)
{
	char **names;
	int n = lance_refs_names(refs, LNC_REF_BRANCH, &names);

	for (int i = 0; i < n; i++)
	{
		LncBranch other;

		if (strcmp(names[i], name) != 0 && lance_refs_branch(refs, names[i], &other) &&
			lnc_branch_depends(&other, branch) > 0)
			refuse(name, psprintf("Branch \"%s\" began on it.", names[i]), "Delete that branch first.");
	}
}

static void
check_tags(const LanceRefs *refs, const char *name)
{
	char **names;
	int n = lance_refs_names(refs, LNC_REF_TAG, &names);

	for (int i = 0; i < n; i++)
	{
		LncTag tag;

		if (lance_refs_tag(refs, names[i], &tag) && tag.branch != NULL && strcmp(tag.branch, name) == 0)
			refuse(name, psprintf("Tag \"%s\" points to a version of it.", names[i]), "Delete the tag first.");
	}
}

/* Whatever lies in its folder is no version any more. Returns whether there was any. */
static bool
delete_versions(LanceHistory *history)
{
	LncContext *ctx = &history->lib->ctx;
	int64 table_id = history->table->table_id;
	LanceVersionRow *rows;
	LncVersionFile *files;
	size_t nfiles;
	int64 *versions;
	uint64 added;
	int n;

	lance_check(ctx,
				lnc_versions_list(ctx, history->lib->arena, history->store, history->folder, 0, &nfiles, &files));
	if (nfiles > PG_INT32_MAX)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("table \"%s\" has too many versions", history->table->shown)));
	rows = MemoryContextAllocHuge(CurrentMemoryContext, (nfiles + 1) * sizeof(LanceVersionRow));
	memset(rows, 0, (nfiles + 1) * sizeof(LanceVersionRow));
	for (size_t i = 0; i < nfiles; i++)
	{
		rows[i].version = (int64)files[i].version;
		rows[i].manifest_key = pstrdup(files[i].key);
		rows[i].manifest_size = (int64)Min(files[i].size, (uint64)PG_INT64_MAX);
		rows[i].committed_at = lance_timestamp_of_ms(files[i].modified_ms);
	}
	added = lance_version_adopt(table_id, history->branch, true, (int)nfiles, rows);
	n = lance_version_numbers(table_id, history->branch, 1, PG_INT64_MAX, false, &versions);
	lance_version_mark_deleted(table_id, history->branch, n, versions);
	return added > 0 || n > 0;
}

void
lance_op_delete_table_branch(const LanceDeleteTableBranchRequest *request)
{
	LanceHistory history;
	LanceRefs refs;
	LncBranch branch;
	LncSlice before;
	bool named;

	lance_refs_of(&request->id, LANCE_LOCK_UPDATE, LANCE_LEVEL_WRITE, &history, &refs);
	lance_check_ref_name(&refs, LNC_REF_BRANCH, request->name, false);
	named = lance_refs_text(&refs, LNC_REF_BRANCH, request->name, &before);
	if (named)
	{
		lance_check(&refs.lib->ctx,
					lnc_branch_parse(&refs.lib->ctx, refs.lib->arena, request->name, before, &branch));
		check_branches(&refs, request->name, &branch);
		lance_refs_change(&refs, LNC_REF_BRANCH, request->name, &before, NULL);
	}
	check_tags(&refs, request->name);
	lance_refs_history(&refs, request->name, &history);
	if (!delete_versions(&history) && !named)
		lance_ref_missing(LNC_REF_BRANCH, request->name, &request->id);
	lance_cleanup_queue_branch(refs.table, request->name);
}
