/*
 * list_table_branches.c
 *	  ListTableBranches. Main is not among them. The page token is the last branch's name.
 */
#include "postgres.h"

#include "ops/ref.h"
#include "ops/refs_of.h"

void
lance_op_list_table_branches(const LanceListTableRefsRequest *request, LanceListTableBranchesResponse *response)
{
	LanceHistory history;
	LanceRefs refs;
	char **names;
	int n;

	memset(response, 0, sizeof(*response));
	lance_refs_of(&request->id, LANCE_LOCK_NONE, LANCE_LEVEL_READ, &history, &refs);
	n = lance_refs_page(&refs, LNC_REF_BRANCH, request->page_token, &request->limit, &names, &response->page_token);
	response->branches.items = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(LanceBranchInfo));
	for (int i = 0; i < n; i++)
	{
		LanceBranchInfo *item = &response->branches.items[response->branches.count];
		LncBranch branch;

		if (!lance_refs_branch(&refs, names[i], &branch))
			continue;
		item->name = names[i];
		item->parent_branch = branch.parent != NULL ? pstrdup(branch.parent) : NULL;
		item->parent_version = (int64)branch.parent_version;
		item->create_at = (int64)branch.create_at;
		item->manifest_size = (int64)branch.manifest_size;
		lance_refs_metadata(&refs, branch.text, &item->metadata);
		response->branches.count++;
	}
}
