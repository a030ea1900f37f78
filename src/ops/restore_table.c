/*
 * restore_table.c
 *	  RestoreTable: an older version made the newest.
 */
#include "postgres.h"

#include "ops/check.h"
#include "ops/history_of.h"
#include "ops/revise.h"
#include "ops/revision.h"
#include "pg/errcodes.h"
#include "pg/report.h"

void
lance_op_restore_table(const LanceRestoreTableRequest *request, LanceRestoreTableResponse *response)
{
	LanceHistoryItem *old;
	const LancePending *pending;
	LanceRevise revise;
	LanceRevised revised;

	memset(response, 0, sizeof(*response));
	lance_check_table_id(&request->id);
	if (!request->version.given)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("version is missing")));
	lance_check_version(&request->version);
	lance_revise_begin(&request->id, request->branch, &revise);
	old = lance_history_find_here(&revise.history, (uint64)request->version.value, &pending);
	if (old == NULL)
		lance_version_missing(&revise.history, &request->id, request->version.value);
	lance_check(&revise.history.lib->ctx,
				lnc_revision_restore(&revise.history.lib->ctx, revise.revision, old->manifest_key,
									 pending != NULL ? &pending->body : NULL));
	lance_revise_commit(&revise, &revised);
	response->transaction_id = revised.transaction_id;
	response->version = (LanceOptionalInt){.given = true, .value = revised.version};
}
