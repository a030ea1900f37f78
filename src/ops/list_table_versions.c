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

/* Versions behind the token, at most limit of them, and one more when there are more; limit -1: all. */
static int
read_versions(LanceHistory *history, bool descending, int64 token, int64 limit, LanceHistoryItem **items)
{
	if (limit < 0 || limit >= PG_INT32_MAX)
		limit = PG_INT32_MAX - 1;
	else if (descending && limit == 1 && token == 0)
	{
		/* What clients ask on each open. */
		*items = lance_history_latest(history);
		return *items != NULL ? 1 : 0;
	}
	return lance_history_page(history, descending, (uint64)token, (int)limit + 1, items);
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
	lance_history_of(&request->id, request->branch, LANCE_LOCK_NONE, LANCE_LEVEL_READ, &history);
	n = read_versions(&history, descending, token, limit, &items);
	if (n == 0 && history.branch[0] != '\0' && lance_history_latest(&history) == NULL)
		lance_branch_missing(&history, &request->id);
	list->items = MemoryContextAllocHuge(CurrentMemoryContext, (n + 1) * sizeof(LanceVersionInfo));
	for (int i = 0; i < n; i++)
	{
		if (limit >= 0 && list->count == limit)
		{
			response->page_token = psprintf(INT64_FORMAT, list->items[list->count - 1].version);
			break;
		}
		lance_version_info(&history, &items[i], &list->items[list->count++]);
	}
	if (descending && limit == 1 && token == 0 && n == 1 && items[0].version > 1)
		response->page_token = psprintf(INT64_FORMAT, (int64)items[0].version);
}
