/*
 * list_table_tags.c
 *	  ListTableTags. The page token is the last tag's name.
 */
#include "postgres.h"

#include "ops/ref.h"
#include "ops/refs_of.h"

static LanceOptionalInt
time_of(const char *text)
{
	LanceOptionalInt result = {0};
	int64_t us;

	if (text != NULL && lnc_ref_time_parse(text, &us))
		result = (LanceOptionalInt){.given = true, .value = us};
	return result;
}

void
lance_op_list_table_tags(const LanceListTableRefsRequest *request, LanceListTableTagsResponse *response)
{
	LanceHistory history;
	LanceRefs refs;
	char **names;
	int n;

	memset(response, 0, sizeof(*response));
	lance_refs_of(&request->id, LANCE_LOCK_NONE, LANCE_LEVEL_READ, &history, &refs);
	n = lance_refs_page(&refs, LNC_REF_TAG, request->page_token, &request->limit, &names, &response->page_token);
	response->tags.items = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(LanceTagInfo));
	for (int i = 0; i < n; i++)
	{
		LanceTagInfo *item = &response->tags.items[response->tags.count];
		LncTag tag;

		/* It may have been deleted since it was listed. */
		if (!lance_refs_tag(&refs, names[i], &tag))
			continue;
		item->name = names[i];
		item->branch = tag.branch != NULL ? pstrdup(tag.branch) : NULL;
		item->version = (int64)tag.version;
		item->manifest_size = (int64)tag.manifest_size;
		item->created_us = time_of(tag.created_at);
		item->updated_us = time_of(tag.updated_at);
		lance_refs_metadata(&refs, tag.text, &item->metadata);
		response->tags.count++;
	}
}
