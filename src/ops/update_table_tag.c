/*
 * update_table_tag.c
 *	  UpdateTableTag: a tag moves to another version. What else its file says stays.
 */
#include "postgres.h"

#include "ops/ref.h"
#include "ops/refs_of.h"
#include "pg/report.h"

void
lance_op_update_table_tag(const LanceUpdateTableTagRequest *request)
{
	LanceHistory history;
	LanceRefs refs;
	LanceHistoryItem *item;
	LncContext *ctx;
	LncTag tag;
	LncSlice before;
	LncSlice after;

	lance_refs_of(&request->id, LANCE_LOCK_UPDATE, LANCE_LEVEL_WRITE, &history, &refs);
	lance_check_ref_name(&refs, LNC_REF_TAG, request->tag, false);
	ctx = &refs.lib->ctx;
	if (!lance_refs_text(&refs, LNC_REF_TAG, request->tag, &before))
		lance_ref_missing(LNC_REF_TAG, request->tag, &request->id);
	lance_check(ctx, lnc_tag_parse(ctx, refs.lib->arena, request->tag, before, &tag));
	item = lance_refs_version(&refs, &request->id, request->branch, &request->version, &history, NULL);
	tag.branch = history.branch[0] != '\0' ? history.branch : NULL;
	tag.version = item->version;
	tag.updated_at = lance_refs_now(refs.lib);
	tag.manifest_size = (uint64)item->size;
	lance_check(ctx, lnc_tag_write(ctx, refs.lib->arena, &tag, &after));
	lance_refs_change(&refs, LNC_REF_TAG, request->tag, &before, &after);
}
