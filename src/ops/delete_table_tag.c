/*
 * delete_table_tag.c
 *	  DeleteTableTag. The version that it points to stays.
 */
#include "postgres.h"

#include "ops/ref.h"
#include "ops/refs_of.h"

void
lance_op_delete_table_tag(const LanceDeleteTableTagRequest *request)
{
	LanceHistory history;
	LanceRefs refs;
	LncSlice before;

	lance_refs_of(&request->id, LANCE_LOCK_UPDATE, LANCE_LEVEL_WRITE, &history, &refs);
	lance_check_ref_name(&refs, LNC_REF_TAG, request->tag, false);
	if (!lance_refs_text(&refs, LNC_REF_TAG, request->tag, &before))
		lance_ref_missing(LNC_REF_TAG, request->tag, &request->id);
	lance_refs_change(&refs, LNC_REF_TAG, request->tag, &before, NULL);
}
