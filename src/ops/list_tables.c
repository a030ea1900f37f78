/*
 * list_tables.c
 *	  ListTables and ListAllTables.
 *
 * Whether a table is only declared is looked up in the store, and only when declared ones are to be left out.
 */
#include "postgres.h"

#include "base/json.h"
#include "catalog/entry.h"
#include "catalog/history.h"
#include "catalog/table_entry.h"
#include "catalog/version_entry.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "ops/check.h"
#include "ops/place.h"
#include "ops/table.h"
#include "pg/errcodes.h"
#include "pg/report.h"
#include "utils/memutils.h"

/* So many rows are read at once when some of them may be left out of the page. */
#define FILTER_BATCH 500

static bool
is_written(int64 table_id)
{
	LanceTableRow *table;
	LanceLibrary *lib;
	bool declared;

	if (lance_version_recorded(table_id))
		return true;
	table = lance_table_get(table_id);
	if (table == NULL)
		return false;
	lib = lance_library_create(CurrentMemoryContext);
	declared = lance_history_only_declared(table, lib, lance_place_open(lib, table));
	lance_library_destroy(lib);
	return !declared;
}

/* A growing list of names. */
static void
add_name(LanceNameList *list, int *capacity, char *name)
{
	if (list->count == *capacity)
	{
		*capacity = Max(16, *capacity * 2);
		list->names = list->names == NULL ? palloc(*capacity * sizeof(char *))
										  : repalloc(list->names, *capacity * sizeof(char *));
	}
	list->names[list->count++] = name;
}

void
lance_op_list_tables(const LanceListTablesRequest *request, LanceListTablesResponse *response)
{
	int64 limit = lance_check_limit(&request->limit);
	const char *after = lance_check_name_token(request->page_token);
	LanceEntry *entry;
	int capacity = 0;

	memset(response, 0, sizeof(*response));
	lance_check_namespace_id(&request->id);
	entry = lance_entry_find(&request->id, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_NONE, LANCE_LEVEL_SEEN);
	if (entry == NULL)
		lance_namespace_missing(&request->id);
	if (request->include_declared != LANCE_BOOL_FALSE)
	{
		lance_entry_list(entry, LANCE_ENTRY_TABLE, after, limit < 0 ? -1 : limit + 1, &response->tables);
		if (limit >= 0 && response->tables.count > limit)
		{
			response->tables.count = (int)limit;
			response->page_token = response->tables.names[limit - 1];
		}
		return;
	}
	for (;;)
	{
		LanceTablePage page;

		lance_table_list(entry, after, FILTER_BATCH, &page);
		for (int i = 0; i < page.count; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (!is_written(page.table_ids[i]))
				continue;
			if (limit >= 0 && response->tables.count == limit)
			{
				response->page_token = response->tables.names[limit - 1];
				return;
			}
			add_name(&response->tables, &capacity, page.ids[i].parts[0]);
		}
		if (page.count < FILTER_BATCH)
			return;
		after = page.ids[page.count - 1].parts[0];
	}
}

/* ---- all tables: the page token is the last id as a JSON array of names */

static void
parse_token(const char *token, LanceId *id)
{
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	LncSlice text = {.data = (const uint8_t *)token, .size = strlen(token)};
	const LncJson *array;
	int n = 0;

	if (lnc_json_parse(&lib->ctx, lib->arena, text, &array) != LNC_OK || lnc_json_kind(array) != LNC_JSON_ARRAY ||
		lnc_json_count(array) > LANCE_MAX_ID_PARTS)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("invalid page token")));
	id->given = true;
	id->parts = palloc((lnc_json_count(array) + 1) * sizeof(char *));
	LNC_JSON_EACH(part, array)
	{
		const char *name;

		if (lnc_json_as_string(&lib->ctx, part, "page token", &name) != LNC_OK)
			ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("invalid page token")));
		lance_check_name(name, "page token");
		id->parts[n++] = pstrdup(name);
	}
	id->nparts = n;
	lance_library_destroy(lib);
}

static char *
token_of(const LanceId *id)
{
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	LncJsonWriter *w;
	LncSlice text;
	char *token;

	lance_check(&lib->ctx, lnc_jw_create(&lib->ctx, lib->arena, MaxAllocSize, &w));
	lnc_jw_begin_array(w);
	for (int i = 0; i < id->nparts; i++)
		lnc_jw_string(w, id->parts[i]);
	lnc_jw_end_array(w);
	lance_check(&lib->ctx, lnc_jw_finish(w, &text));
	token = pnstrdup((const char *)text.data, text.size);
	lance_library_destroy(lib);
	return token;
}

static char *
join(const LanceId *id, const char *delimiter)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < id->nparts; i++)
		appendStringInfo(&text, "%s%s", i > 0 ? delimiter : "", id->parts[i]);
	return text.data;
}

void
lance_op_list_all_tables(const LanceListAllTablesRequest *request, LanceListTablesResponse *response)
{
	int64 limit = lance_check_limit(&request->limit);
	const char *delimiter = request->delimiter != NULL && request->delimiter[0] != '\0' ? request->delimiter : "$";
	bool filter = request->include_declared == LANCE_BOOL_FALSE;
	LanceId after = {.given = true};
	LanceId last = {0};
	int capacity = 0;

	memset(response, 0, sizeof(*response));
	lance_check_encoding();
	if (request->page_token != NULL && request->page_token[0] != '\0')
		parse_token(request->page_token, &after);
	for (;;)
	{
		int64 batch = filter ? FILTER_BATCH : limit < 0 ? -1 : limit + 1;
		LanceTablePage page;

		lance_table_list_all(&after, batch, &page);
		for (int i = 0; i < page.count; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (filter && !is_written(page.table_ids[i]))
				continue;
			if (limit >= 0 && response->tables.count == limit)
			{
				response->page_token = token_of(&last);
				return;
			}
			add_name(&response->tables, &capacity, join(&page.ids[i], delimiter));
			last = page.ids[i];
		}
		if (batch < 0 || page.count < batch)
			return;
		after = page.ids[page.count - 1];
	}
}
