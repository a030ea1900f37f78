/*
 * routes.c
 *	  The rows of the route table, and the match of a path.
 *
 * To serve one more operation, give its row the SQL function, the runner and the two messages (fields.h).
 */
#include "postgres.h"

#include "ops/batch.h"
#include "ops/namespace.h"
#include "ops/ref.h"
#include "ops/revision.h"
#include "ops/stats.h"
#include "ops/table.h"
#include "ops/transaction.h"
#include "ops/version.h"
#include "rest/fields.h"
#include "rest/request.h"
#include "rest/routes.h"

#define MAX_SEGMENTS 8

/* Operations have typed parameters, the table untyped ones. */
#define RUN(operation, Request, Response)                                     \
	static void run_##operation(const void *request, void *response)          \
	{                                                                         \
		lance_op_##operation((const Request *)request, (Response *)response); \
	}
#define RUN_SILENT(operation, Request)                               \
	static void run_##operation(const void *request, void *response) \
	{                                                                \
		lance_op_##operation((const Request *)request);              \
	}

RUN(create_namespace, LanceCreateNamespaceRequest, LanceCreateNamespaceResponse)
RUN(list_namespaces, LanceListNamespacesRequest, LanceListNamespacesResponse)
RUN(describe_namespace, LanceDescribeNamespaceRequest, LanceDescribeNamespaceResponse)
RUN_SILENT(namespace_exists, LanceNamespaceExistsRequest)
RUN(drop_namespace, LanceDropNamespaceRequest, LanceDropNamespaceResponse)
RUN(list_tables, LanceListTablesRequest, LanceListTablesResponse)
RUN(list_all_tables, LanceListAllTablesRequest, LanceListTablesResponse)
RUN(declare_table, LanceDeclareTableRequest, LanceDeclareTableResponse)
RUN(register_table, LanceRegisterTableRequest, LanceRegisterTableResponse)
RUN(describe_table, LanceDescribeTableRequest, LanceDescribeTableResponse)
RUN_SILENT(table_exists, LanceTableExistsRequest)
RUN_SILENT(rename_table, LanceRenameTableRequest)
RUN(deregister_table, LanceDeregisterTableRequest, LanceDeregisterTableResponse)
RUN(drop_table, LanceDropTableRequest, LanceDropTableResponse)
RUN(create_table_version, LanceCreateTableVersionRequest, LanceCreateTableVersionResponse)
RUN(list_table_versions, LanceListTableVersionsRequest, LanceListTableVersionsResponse)
RUN(describe_table_version, LanceDescribeTableVersionRequest, LanceDescribeTableVersionResponse)
RUN(delete_table_versions, LanceDeleteTableVersionsRequest, LanceDeleteTableVersionsResponse)
RUN(create_table_versions, LanceBatchCreateTableVersionsRequest, LanceBatchCreateTableVersionsResponse)
RUN(commit_tables, LanceBatchCommitTablesRequest, LanceBatchCommitTablesResponse)
RUN(restore_table, LanceRestoreTableRequest, LanceRestoreTableResponse)
RUN(update_table_schema_metadata, LanceUpdateTableSchemaMetadataRequest, LanceUpdateTableSchemaMetadataResponse)
RUN(update_field_metadata, LanceUpdateFieldMetadataRequest, LanceUpdateFieldMetadataResponse)
RUN(alter_table_drop_columns, LanceAlterTableDropColumnsRequest, LanceAlterTableDropColumnsResponse)
RUN(alter_table_alter_columns, LanceAlterTableAlterColumnsRequest, LanceAlterTableAlterColumnsResponse)
RUN(get_table_stats, LanceGetTableStatsRequest, LanceGetTableStatsResponse)
RUN(describe_transaction, LanceDescribeTransactionRequest, LanceTransactionResponse)
RUN(alter_transaction, LanceAlterTransactionRequest, LanceTransactionResponse)

RUN(list_table_tags, LanceListTableRefsRequest, LanceListTableTagsResponse)
RUN(get_table_tag_version, LanceGetTableTagVersionRequest, LanceGetTableTagVersionResponse)
RUN_SILENT(create_table_tag, LanceCreateTableTagRequest)
RUN_SILENT(delete_table_tag, LanceDeleteTableTagRequest)
RUN_SILENT(update_table_tag, LanceUpdateTableTagRequest)
RUN(list_table_branches, LanceListTableRefsRequest, LanceListTableBranchesResponse)
RUN_SILENT(create_table_branch, LanceCreateTableBranchRequest)
RUN_SILENT(delete_table_branch, LanceDeleteTableBranchRequest)

#define NONE LANCE_BODY_NONE
#define JSON LANCE_BODY_JSON
#define ARROW LANCE_BODY_ARROW
#define ONCE LANCE_RUN_ONCE
#define REPEATABLE LANCE_RUN_REPEATABLE
#define BRIEFLY LANCE_RUN_BRIEFLY

/* A served row: the operation's name in C, its messages. */
#define SERVED(operation, methods, path, body, name, request, response, manner)                                \
	{                                                                                                          \
		operation, methods, path, body, "lance_" #name, run_##name, &lance_message_##request, response, manner \
	}
#define ANSWER(name) &lance_message_##name
#define EMPTY NULL
#define REFUSED(operation, methods, path, body)                         \
	{                                                                   \
		operation, methods, path, body, NULL, NULL, NULL, NULL, BRIEFLY \
	}

const LanceRoute lance_rest_routes[] = {
	/* namespaces */
	SERVED("CreateNamespace", "POST", "/v1/namespace/{id}/create", JSON, create_namespace, create_namespace_request,
		   ANSWER(namespace_response), REPEATABLE),
	SERVED("ListNamespaces", "GET", "/v1/namespace/{id}/list", NONE, list_namespaces, list_namespaces_request,
		   ANSWER(list_namespaces_response), BRIEFLY),
	SERVED("DescribeNamespace", "POST", "/v1/namespace/{id}/describe", JSON, describe_namespace, id_request,
		   ANSWER(namespace_response), BRIEFLY),
	SERVED("DropNamespace", "POST", "/v1/namespace/{id}/drop", JSON, drop_namespace, drop_namespace_request,
		   ANSWER(namespace_response), REPEATABLE),
	SERVED("NamespaceExists", "POST", "/v1/namespace/{id}/exists", JSON, namespace_exists, id_request, EMPTY,
		   BRIEFLY),
	SERVED("ListTables", "GET", "/v1/namespace/{id}/table/list", NONE, list_tables, list_tables_request,
		   ANSWER(list_tables_response), BRIEFLY),

	/* tables */
	SERVED("ListAllTables", "GET", "/v1/table", NONE, list_all_tables, list_all_tables_request,
		   ANSWER(list_tables_response), BRIEFLY),
	SERVED("DeclareTable", "POST", "/v1/table/{id}/declare", JSON, declare_table, declare_table_request,
		   ANSWER(declare_table_response), REPEATABLE),
	SERVED("RegisterTable", "POST", "/v1/table/{id}/register", JSON, register_table, register_table_request,
		   ANSWER(register_table_response), REPEATABLE),
	SERVED("DescribeTable", "POST", "/v1/table/{id}/describe", JSON, describe_table, describe_table_request,
		   ANSWER(describe_table_response), BRIEFLY),
	SERVED("TableExists", "POST", "/v1/table/{id}/exists", JSON, table_exists, id_request, EMPTY, BRIEFLY),
	SERVED("RenameTable", "POST", "/v1/table/{id}/rename", JSON, rename_table, rename_table_request, EMPTY,
		   REPEATABLE),
	SERVED("DeregisterTable", "POST", "/v1/table/{id}/deregister", JSON, deregister_table, id_request,
		   ANSWER(deregister_table_response), REPEATABLE),
	SERVED("DropTable", "POST", "/v1/table/{id}/drop", JSON, drop_table, id_request, ANSWER(drop_table_response),
		   REPEATABLE),

	/* versions */
	SERVED("ListTableVersions", "POST", "/v1/table/{id}/version/list", JSON, list_table_versions,
		   list_table_versions_request, ANSWER(list_table_versions_response), REPEATABLE),
	SERVED("CreateTableVersion", "POST", "/v1/table/{id}/version/create", JSON, create_table_version,
		   create_table_version_request, ANSWER(create_table_version_response), ONCE),
	SERVED("DescribeTableVersion", "POST", "/v1/table/{id}/version/describe", JSON, describe_table_version,
		   describe_table_version_request, ANSWER(describe_table_version_response), REPEATABLE),
	SERVED("BatchDeleteTableVersions", "POST", "/v1/table/{id}/version/delete", JSON, delete_table_versions,
		   delete_table_versions_request, ANSWER(delete_table_versions_response), ONCE),

	/* several tables */
	SERVED("BatchCreateTableVersions", "POST", "/v1/table/version/batch-create", JSON, create_table_versions,
		   batch_create_table_versions_request, ANSWER(batch_create_table_versions_response), REPEATABLE),
	SERVED("BatchCommitTables", "POST", "/v1/table/batch-commit", JSON, commit_tables, batch_commit_tables_request,
		   ANSWER(batch_commit_tables_response), REPEATABLE),

	/* data */
	REFUSED("CreateTable", "POST", "/v1/table/{id}/create", ARROW),
	REFUSED("InsertIntoTable", "POST", "/v1/table/{id}/insert", ARROW),
	REFUSED("MergeInsertIntoTable", "POST", "/v1/table/{id}/merge_insert", ARROW),
	REFUSED("UpdateTable", "POST", "/v1/table/{id}/update", JSON),
	REFUSED("DeleteFromTable", "POST", "/v1/table/{id}/delete", JSON),
	REFUSED("QueryTable", "POST", "/v1/table/{id}/query", JSON),
	/* the specification says POST, clients before 14.0 say GET; so for the tags */
	REFUSED("CountTableRows", "GET, POST", "/v1/table/{id}/count_rows", JSON),
	REFUSED("ExplainTableQueryPlan", "POST", "/v1/table/{id}/explain_plan", JSON),
	REFUSED("AnalyzeTableQueryPlan", "POST", "/v1/table/{id}/analyze_plan", JSON),
	SERVED("RestoreTable", "POST", "/v1/table/{id}/restore", JSON, restore_table, restore_table_request,
		   ANSWER(restore_table_response), ONCE),
	SERVED("GetTableStats", "GET, POST", "/v1/table/{id}/stats", JSON, get_table_stats, get_table_stats_request,
		   ANSWER(get_table_stats_response), REPEATABLE),

	/* columns and metadata */
	REFUSED("AlterTableAddColumns", "POST", "/v1/table/{id}/add_columns", JSON),
	SERVED("AlterTableAlterColumns", "POST", "/v1/table/{id}/alter_columns", JSON, alter_table_alter_columns,
		   alter_table_alter_columns_request, ANSWER(alter_table_alter_columns_response), ONCE),
	SERVED("AlterTableDropColumns", "POST", "/v1/table/{id}/drop_columns", JSON, alter_table_drop_columns,
		   alter_table_drop_columns_request, ANSWER(alter_table_drop_columns_response), ONCE),
	REFUSED("AlterTableBackfillColumns", "POST", "/v1/table/{id}/backfill_column", JSON),
	SERVED("UpdateFieldMetadata", "POST", "/v1/table/{id}/update_field_metadata", JSON, update_field_metadata,
		   update_field_metadata_request, ANSWER(update_field_metadata_response), ONCE),
	SERVED("UpdateTableSchemaMetadata", "POST", "/v1/table/{id}/schema_metadata/update", JSON,
		   update_table_schema_metadata, update_table_schema_metadata_request,
		   ANSWER(update_table_schema_metadata_response), ONCE),

	/* indexes */
	REFUSED("CreateTableIndex", "POST", "/v1/table/{id}/create_index", JSON),
	REFUSED("CreateTableScalarIndex", "POST", "/v1/table/{id}/create_scalar_index", JSON),
	REFUSED("ListTableIndices", "POST", "/v1/table/{id}/index/list", JSON),
	REFUSED("DescribeTableIndexStats", "POST", "/v1/table/{id}/index/{index_name}/stats", JSON),
	REFUSED("DropTableIndex", "POST", "/v1/table/{id}/index/{index_name}/drop", JSON),

	/* tags and branches */
	SERVED("ListTableTags", "GET, POST", "/v1/table/{id}/tags/list", JSON, list_table_tags, list_table_refs_request,
		   ANSWER(list_table_tags_response), REPEATABLE),
	SERVED("GetTableTagVersion", "POST", "/v1/table/{id}/tags/version", JSON, get_table_tag_version,
		   tag_name_request, ANSWER(get_table_tag_version_response), REPEATABLE),
	SERVED("CreateTableTag", "POST", "/v1/table/{id}/tags/create", JSON, create_table_tag, table_tag_request, EMPTY,
		   REPEATABLE),
	SERVED("DeleteTableTag", "POST", "/v1/table/{id}/tags/delete", JSON, delete_table_tag, tag_name_request, EMPTY,
		   REPEATABLE),
	SERVED("UpdateTableTag", "POST", "/v1/table/{id}/tags/update", JSON, update_table_tag, table_tag_request, EMPTY,
		   REPEATABLE),
	SERVED("ListTableBranches", "POST", "/v1/table/{id}/branches/list", JSON, list_table_branches,
		   list_table_refs_request, ANSWER(list_table_branches_response), REPEATABLE),
	SERVED("CreateTableBranch", "POST", "/v1/table/{id}/branches/create", JSON, create_table_branch,
		   create_table_branch_request, EMPTY, REPEATABLE),
	SERVED("DeleteTableBranch", "POST", "/v1/table/{id}/branches/delete", JSON, delete_table_branch,
		   delete_table_branch_request, EMPTY, REPEATABLE),

	/* materialized views, transactions */
	REFUSED("CreateMaterializedView", "POST", "/v1/materialized_view/{id}/create", JSON),
	REFUSED("RefreshMaterializedView", "POST", "/v1/materialized_view/{id}/refresh", JSON),
	SERVED("DescribeTransaction", "POST", "/v1/transaction/{id}/describe", JSON, describe_transaction, id_request,
		   ANSWER(transaction_response), REPEATABLE),
	SERVED("AlterTransaction", "POST", "/v1/transaction/{id}/alter", JSON, alter_transaction,
		   alter_transaction_request, ANSWER(transaction_response), REPEATABLE),
	{0},
};

typedef struct Segment
{
	const char *start;
	size_t length;
} Segment;

/* Cut a path at its slashes, trailing ones dropped. Returns the number of segments, -1 when there are too many. */
static int
cut_path(const char *path, Segment *segments)
{
	size_t length = strlen(path);
	const char *p = path + (path[0] == '/');
	const char *end;
	int n = 0;

	while (length > 0 && path[length - 1] == '/')
		length--;
	end = path + length;
	while (p < end)
	{
		const char *slash = memchr(p, '/', end - p);

		if (n == MAX_SEGMENTS)
			return -1;
		segments[n++] = (Segment){p, slash != NULL ? slash - p : end - p};
		if (slash == NULL)
			break;
		p = slash + 1;
	}
	return n;
}

static bool
is_placeholder(const Segment *segment)
{
	return segment->length > 0 && segment->start[0] == '{';
}

static bool
segments_match(const Segment *pattern, const Segment *segments, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (!is_placeholder(&pattern[i]) && (pattern[i].length != segments[i].length ||
											 memcmp(pattern[i].start, segments[i].start, segments[i].length) != 0))
			return false;
	}
	return true;
}

/* Is method one of a list like "GET, POST"? */
static bool
method_listed(const char *list, const char *method)
{
	size_t length = strlen(method);

	for (const char *p = list; p != NULL; p = strchr(p, ','))
	{
		p += strspn(p, ", ");
		if (strncmp(p, method, length) == 0 && (p[length] == '\0' || p[length] == ','))
			return true;
	}
	return false;
}

void
lance_rest_match(LanceRestRequest *request)
{
	Segment segments[MAX_SEGMENTS];
	Segment pattern[MAX_SEGMENTS];
	int n = cut_path(request->path, segments);

	request->route = NULL;
	request->allow = NULL;
	request->raw_id = NULL;
	if (n <= 0)
		return;
	for (const LanceRoute *route = lance_rest_routes; route->operation != NULL; route++)
	{
		if (cut_path(route->path, pattern) != n || !segments_match(pattern, segments, n))
			continue;
		if (!method_listed(route->methods, request->method))
		{
			request->allow = route->methods;
			return;
		}
		request->route = route;
		for (int i = 0; i < n && request->raw_id == NULL; i++)
		{
			if (is_placeholder(&pattern[i]))
			{
				request->raw_id = MemoryContextAlloc(request->context, segments[i].length + 1);
				memcpy(request->raw_id, segments[i].start, segments[i].length);
				request->raw_id[segments[i].length] = '\0';
			}
		}
		return;
	}
}
