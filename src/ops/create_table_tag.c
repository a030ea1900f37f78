/*
 * create_table_tag.c
 *	  CreateTableTag: a name for a version of main or of a branch.
 */
#include "postgres.h"

#include "ops/ref.h"
#include "ops/refs_of.h"
#include "pg/report.h"

void
lance_op_create_table_tag(const LanceCreateTableTagRequest *request)
{
	LanceHistory history;
	LanceRefs refs;
	LanceHistoryItem *item;
	LncTag tag = {0};
	LncSlice text;

	lance_refs_of(&request->id, LANCE_LOCK_UPDATE, LANCE_LEVEL_WRITE, &history, &refs);
	lance_check_ref_name(&refs, LNC_REF_TAG, request->tag, true);
	if (lance_refs_text(&refs, LNC_REF_TAG, request->tag, &text))
		lance_refs_taken(LNC_REF_TAG, request->tag, refs.table->name);
	item = lance_refs_version(&refs, &request->id, request->branch, &request->version, &history, NULL);
	tag.branch = history.branch[0] != '\0' ? history.branch : NULL;
	tag.version = item->version;
	tag.created_at = lance_refs_now(refs.lib);
	tag.updated_at = tag.created_at;
	tag.manifest_size = (uint64)item->size;
	lance_check(&refs.lib->ctx, lnc_tag_write(&refs.lib->ctx, refs.lib->arena, &tag, &text));
	lance_refs_change(&refs, LNC_REF_TAG, request->tag, NULL, &text);
}
