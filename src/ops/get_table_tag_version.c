/*
 * get_table_tag_version.c
 *	  GetTableTagVersion: which version a tag points to.
 */
#include "postgres.h"

#include "ops/ref.h"
#include "ops/refs_of.h"

void
lance_op_get_table_tag_version(const LanceGetTableTagVersionRequest *request,
							   LanceGetTableTagVersionResponse *response)
{
	LanceHistory history;
	LanceRefs refs;
	LncTag tag;

	memset(response, 0, sizeof(*response));
	lance_refs_of(&request->id, LANCE_LOCK_NONE, LANCE_LEVEL_READ, &history, &refs);
	lance_check_ref_name(&refs, LNC_REF_TAG, request->tag, false);
	if (!lance_refs_tag(&refs, request->tag, &tag))
		lance_ref_missing(LNC_REF_TAG, request->tag, &request->id);
	response->version = (LanceOptionalInt){.given = true, .value = (int64)tag.version};
	response->branch = tag.branch != NULL ? pstrdup(tag.branch) : NULL;
}
