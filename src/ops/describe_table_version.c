/*
 * describe_table_version.c
 *	  DescribeTableVersion: one version, or the newest.
 */
#include "postgres.h"

#include "ops/check.h"
#include "ops/history_of.h"
#include "ops/version.h"

void
lance_op_describe_table_version(const LanceDescribeTableVersionRequest *request,
								LanceDescribeTableVersionResponse *response)
{
	LanceHistory history;
	LanceHistoryItem *item;

	memset(response, 0, sizeof(*response));
	lance_check_version(&request->version);
	lance_history_of(&request->id, request->branch, LANCE_LOCK_NONE, LANCE_LEVEL_READ, &history);
	item = request->version.given ? lance_history_find(&history, (uint64)request->version.value)
								  : lance_history_latest(&history);
	if (item == NULL)
		lance_version_missing(&history, &request->id, request->version.given ? request->version.value : 0);
	lance_version_info(&history, item, &response->version);
}
