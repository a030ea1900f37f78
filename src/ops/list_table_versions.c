/*
 * list_table_versions.c
 *	  ListTableVersions. The page token is the last version's number.
 */
#include "postgres.h"

#include "ops/check.h"
#include "ops/history_of.h"
#include "ops/version.h"
#include "pg/errcodes.h"

static int64
parse_token(const char *token)
{
	char *end;
	int64 version;

	if (token == NULL || token[0] == '\0')
		return 0;
	errno = 0;
	version = strtoi64(token, &end, 10);
	if (errno != 0 || *end != '\0' || version < 1 || token[0] < '1' || token[0] > '9')
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("invalid page token")));
	return version;
}

void
lance_op_list_table_versions(const LanceListTableVersionsRequest *request, LanceListTableVersionsResponse *response)
{
	bool descending = request->descending == LANCE_BOOL_TRUE;
	int64 limit = lance_check_limit(&request->limit);
	int64 token = parse_token(request->page_token);
	LanceVersionList *list = &response->versions;
	LanceHistory history;
	LanceHistoryItem *items;
	int n;

	memset(response, 0, sizeof(*response));
	lance_history_of(&request->id, request->branch, LANCE_LOCK_NONE, &history);
	if (descending && limit == 1 && token == 0)
	{
		/* What clients ask on each open: the newest is found without reading the whole history. */
		items = lance_history_latest(&history);
		n = items != NULL ? 1 : 0;
	}
	else
		n = lance_history_list(&history, &items);
	if (n == 0 && history.branch[0] != '\0')
		lance_branch_missing(&history, &request->id);
	list->items = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(LanceVersionInfo));
	for (int i = 0; i < n; i++)
	{
		const LanceHistoryItem *item = &items[descending ? n - 1 - i : i];

		if (token > 0 && (descending ? item->version >= (uint64)token : item->version <= (uint64)token))
			continue;
		if (limit >= 0 && list->count == limit)
		{
			response->page_token = psprintf(INT64_FORMAT, list->items[list->count - 1].version);
			break;
		}
		lance_version_info(&history, item, &list->items[list->count++]);
	}
	if (descending && limit == 1 && token == 0 && n == 1 && items[0].version > 1)
		response->page_token = psprintf(INT64_FORMAT, (int64)items[0].version);
}
