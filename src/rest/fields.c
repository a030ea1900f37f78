/*
 * fields.c
 *	  Tables of fields, one for each request and response. The names are the specification's (spec.yaml, components).
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

#define BODY LANCE_FROM_BODY
#define QUERY (LANCE_FROM_QUERY | LANCE_FROM_BODY)
#define PATH (LANCE_FROM_PATH | LANCE_FROM_BODY)
#define NOWHERE 0

/* A field of the struct STRUCT; the member has the wire's name unless said otherwise. */
#define FIELD(name, kind, sources)                                       \
	{                                                                    \
#name, LANCE_FIELD_##kind, offsetof(STRUCT, name), sources, NULL \
	}
#define FIELD_AS(name, kind, member)                                       \
	{                                                                      \
#name, LANCE_FIELD_##kind, offsetof(STRUCT, member), NOWHERE, NULL \
	}
#define FIELD_OF(name, kind, sources, of)                                               \
	{                                                                                   \
#name, LANCE_FIELD_##kind, offsetof(STRUCT, name), sources, &lance_message_##of \
	}
#define OUT(name, kind) FIELD(name, kind, NOWHERE)
#define END_OF_FIELDS \
	{                 \
		0             \
	}

#define REQUEST(operation) \
	const LanceMessage lance_message_##operation##_request = {sizeof(STRUCT), operation##_request_fields}
#define RESPONSE(operation) \
	const LanceMessage lance_message_##operation##_response = {sizeof(STRUCT), operation##_response_fields}

/* ---- requests */

/* One table serves every request that is only an id. */
StaticAssertDecl(sizeof(LanceNamespaceExistsRequest) == sizeof(LanceId) &&
					 sizeof(LanceDescribeNamespaceRequest) == sizeof(LanceId) &&
					 sizeof(LanceTableExistsRequest) == sizeof(LanceId) &&
					 sizeof(LanceDeregisterTableRequest) == sizeof(LanceId) &&
					 sizeof(LanceDropTableRequest) == sizeof(LanceId) &&
					 sizeof(LanceDescribeTransactionRequest) == sizeof(LanceId),
				 "requests that are only an id have one layout");

#define STRUCT LanceTableExistsRequest
static const LanceField id_request_fields[] = {FIELD(id, ID, PATH), END_OF_FIELDS};
REQUEST(id);
#undef STRUCT

#define STRUCT LanceCreateNamespaceRequest
static const LanceField create_namespace_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(mode, TEXT, BODY),
	FIELD(properties, PROPERTIES, BODY),
	END_OF_FIELDS,
};
REQUEST(create_namespace);
#undef STRUCT

#define STRUCT LanceListNamespacesRequest
static const LanceField list_namespaces_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(page_token, TEXT, QUERY),
	FIELD(limit, LIMIT, QUERY),
	END_OF_FIELDS,
};
REQUEST(list_namespaces);
#undef STRUCT

#define STRUCT LanceDropNamespaceRequest
static const LanceField drop_namespace_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(mode, TEXT, BODY),
	FIELD(behavior, TEXT, BODY),
	END_OF_FIELDS,
};
REQUEST(drop_namespace);
#undef STRUCT

#define STRUCT LanceListTablesRequest
static const LanceField list_tables_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(page_token, TEXT, QUERY),
	FIELD(limit, LIMIT, QUERY),
	FIELD(include_declared, BOOL, QUERY),
	END_OF_FIELDS,
};
REQUEST(list_tables);
#undef STRUCT

#define STRUCT LanceListAllTablesRequest
static const LanceField list_all_tables_request_fields[] = {
	FIELD(delimiter, DELIMITER, NOWHERE),
	FIELD(page_token, TEXT, QUERY),
	FIELD(limit, LIMIT, QUERY),
	FIELD(include_declared, BOOL, QUERY),
	END_OF_FIELDS,
};
REQUEST(list_all_tables);
#undef STRUCT

#define STRUCT LanceDeclareTableRequest
static const LanceField declare_table_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(location, TEXT, BODY),
	FIELD(vend_credentials, BOOL, BODY),
	FIELD(properties, PROPERTIES, BODY),
	END_OF_FIELDS,
};
REQUEST(declare_table);
#undef STRUCT

#define STRUCT LanceRegisterTableRequest
static const LanceField register_table_request_fields[] = {
	FIELD(id, ID, PATH), FIELD(location, TEXT, BODY), FIELD(mode, TEXT, BODY), FIELD(properties, PROPERTIES, BODY),
	END_OF_FIELDS,
};
REQUEST(register_table);
#undef STRUCT

#define STRUCT LanceDescribeTableRequest
static const LanceField describe_table_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(version, INT, BODY),
	FIELD(tag, TEXT, BODY),
	FIELD(branch, TEXT, BODY),
	FIELD(with_table_uri, BOOL, QUERY),
	FIELD(load_detailed_metadata, BOOL, QUERY),
	FIELD(check_declared, BOOL, QUERY),
	FIELD(vend_credentials, BOOL, BODY),
	END_OF_FIELDS,
};
REQUEST(describe_table);
#undef STRUCT

#define STRUCT LanceRenameTableRequest
static const LanceField rename_table_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(new_table_name, TEXT, BODY),
	FIELD(new_namespace_id, ID, BODY),
	END_OF_FIELDS,
};
REQUEST(rename_table);
#undef STRUCT

#define STRUCT LanceCreateTableVersionRequest
static const LanceField create_table_version_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(version, INT, BODY),
	FIELD(branch, TEXT, BODY),
	FIELD(manifest_path, TEXT, BODY),
	FIELD(manifest_size, INT, BODY),
	FIELD(e_tag, TEXT, BODY),
	FIELD(metadata, PROPERTIES, BODY),
	FIELD(naming_scheme, TEXT, BODY),
	END_OF_FIELDS,
};
REQUEST(create_table_version);
#undef STRUCT

#define STRUCT LanceListTableVersionsRequest
static const LanceField list_table_versions_request_fields[] = {
	FIELD(id, ID, PATH),        FIELD(branch, TEXT, QUERY),     FIELD(page_token, TEXT, QUERY),
	FIELD(limit, LIMIT, QUERY), FIELD(descending, BOOL, QUERY), END_OF_FIELDS,
};
REQUEST(list_table_versions);
#undef STRUCT

#define STRUCT LanceDescribeTableVersionRequest
static const LanceField describe_table_version_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(version, INT, BODY),
	FIELD(branch, TEXT, BODY),
	END_OF_FIELDS,
};
REQUEST(describe_table_version);
#undef STRUCT

#define STRUCT LanceDeleteTableVersionsRequest
static const LanceField delete_table_versions_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(branch, TEXT, BODY),
	FIELD(ranges, RANGES, BODY),
	END_OF_FIELDS,
};
REQUEST(delete_table_versions);
#undef STRUCT

#define STRUCT LanceBatchCreateTableVersionsRequest
StaticAssertDecl(sizeof(((STRUCT *)0)->entries) == sizeof(LanceObjectList), "entries is a list of objects");
static const LanceField batch_create_table_versions_request_fields[] = {
	FIELD_OF(entries, LIST, BODY, create_table_version_request),
	END_OF_FIELDS,
};
REQUEST(batch_create_table_versions);
#undef STRUCT

#define STRUCT LanceCommitTableOperation
static const LanceField commit_table_operation_fields[] = {
	FIELD_OF(declare_table, OBJECT, BODY, declare_table_request),
	FIELD_OF(create_table_version, OBJECT, BODY, create_table_version_request),
	FIELD_OF(delete_table_versions, OBJECT, BODY, delete_table_versions_request),
	FIELD_OF(deregister_table, OBJECT, BODY, id_request),
	END_OF_FIELDS,
};
static const LanceMessage lance_message_commit_table_operation = {sizeof(STRUCT), commit_table_operation_fields};
#undef STRUCT

#define STRUCT LanceBatchCommitTablesRequest
StaticAssertDecl(sizeof(((STRUCT *)0)->operations) == sizeof(LanceObjectList), "operations is a list of objects");
static const LanceField batch_commit_tables_request_fields[] = {
	FIELD_OF(operations, LIST, BODY, commit_table_operation),
	END_OF_FIELDS,
};
REQUEST(batch_commit_tables);
#undef STRUCT

#define STRUCT LanceCreateTableTagRequest
static const LanceField table_tag_request_fields[] = {
	FIELD(id, ID, PATH),       FIELD(tag, TEXT, BODY), FIELD(version, INT, BODY),
	FIELD(branch, TEXT, BODY), END_OF_FIELDS,
};
REQUEST(table_tag);
#undef STRUCT

#define STRUCT LanceGetTableTagVersionRequest
static const LanceField tag_name_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(tag, TEXT, BODY),
	END_OF_FIELDS,
};
REQUEST(tag_name);
#undef STRUCT

#define STRUCT LanceListTableRefsRequest
static const LanceField list_table_refs_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(page_token, TEXT, QUERY),
	FIELD(limit, LIMIT, QUERY),
	END_OF_FIELDS,
};
REQUEST(list_table_refs);
#undef STRUCT

#define STRUCT LanceCreateTableBranchRequest
static const LanceField create_table_branch_request_fields[] = {
	FIELD(id, ID, PATH), FIELD(name, TEXT, BODY), FIELD(from_branch, TEXT, BODY), FIELD(from_version, INT, BODY),
	END_OF_FIELDS,
};
REQUEST(create_table_branch);
#undef STRUCT

#define STRUCT LanceDeleteTableBranchRequest
static const LanceField delete_table_branch_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(name, TEXT, BODY),
	END_OF_FIELDS,
};
REQUEST(delete_table_branch);
#undef STRUCT

#define STRUCT LanceRestoreTableRequest
static const LanceField restore_table_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(version, INT, BODY),
	FIELD(branch, TEXT, BODY),
	END_OF_FIELDS,
};
REQUEST(restore_table);
#undef STRUCT

/* The body is the map itself, so that the branch has to stand in the query. */
#define STRUCT LanceUpdateTableSchemaMetadataRequest
static const LanceField update_table_schema_metadata_request_fields[] = {
	FIELD(id, ID, LANCE_FROM_PATH),
	FIELD(branch, TEXT, LANCE_FROM_QUERY),
	FIELD(metadata, WHOLE_MAP, NOWHERE),
	END_OF_FIELDS,
};
REQUEST(update_table_schema_metadata);
#undef STRUCT

#define STRUCT LanceUpdateFieldMetadataRequest
static const LanceField update_field_metadata_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(branch, TEXT, BODY),
	FIELD(updates, FIELD_METADATA, BODY),
	END_OF_FIELDS,
};
REQUEST(update_field_metadata);
#undef STRUCT

#define STRUCT LanceAlterTableDropColumnsRequest
static const LanceField alter_table_drop_columns_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(branch, TEXT, BODY),
	FIELD(columns, TEXTS, BODY),
	END_OF_FIELDS,
};
REQUEST(alter_table_drop_columns);
#undef STRUCT

#define STRUCT LanceAlterTableAlterColumnsRequest
static const LanceField alter_table_alter_columns_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(branch, TEXT, BODY),
	FIELD(alterations, ALTERATIONS, BODY),
	END_OF_FIELDS,
};
REQUEST(alter_table_alter_columns);
#undef STRUCT

#define STRUCT LanceGetTableStatsRequest
static const LanceField get_table_stats_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(branch, TEXT, QUERY),
	END_OF_FIELDS,
};
REQUEST(get_table_stats);
#undef STRUCT

#define STRUCT LanceAlterTransactionRequest
static const LanceField alter_transaction_request_fields[] = {
	FIELD(id, ID, PATH),
	FIELD(actions, ACTIONS, BODY),
	END_OF_FIELDS,
};
REQUEST(alter_transaction);
#undef STRUCT

/* ---- responses */

/* Create, describe and drop of a namespace answer alike. */
StaticAssertDecl(sizeof(LanceDescribeNamespaceResponse) == sizeof(LanceCreateNamespaceResponse) &&
					 sizeof(LanceDropNamespaceResponse) == sizeof(LanceCreateNamespaceResponse),
				 "responses that are only properties have one layout");

#define STRUCT LanceCreateNamespaceResponse
static const LanceField namespace_response_fields[] = {
	OUT(properties, PROPERTIES),
	END_OF_FIELDS,
};
RESPONSE(namespace);
#undef STRUCT

#define STRUCT LanceListNamespacesResponse
static const LanceField list_namespaces_response_fields[] = {
	OUT(namespaces, NAMES),
	OUT(page_token, TEXT),
	END_OF_FIELDS,
};
RESPONSE(list_namespaces);
#undef STRUCT

#define STRUCT LanceListTablesResponse
static const LanceField list_tables_response_fields[] = {
	OUT(tables, NAMES),
	OUT(page_token, TEXT),
	END_OF_FIELDS,
};
RESPONSE(list_tables);
#undef STRUCT

#define STRUCT LanceDeclareTableResponse
static const LanceField declare_table_response_fields[] = {
	OUT(location, TEXT),
	OUT(storage_options, PROPERTIES),
	OUT(properties, PROPERTIES),
	OUT(managed_versioning, BOOL),
	END_OF_FIELDS,
};
RESPONSE(declare_table);
#undef STRUCT

#define STRUCT LanceRegisterTableResponse
static const LanceField register_table_response_fields[] = {
	OUT(location, TEXT),
	OUT(properties, PROPERTIES),
	END_OF_FIELDS,
};
RESPONSE(register_table);
#undef STRUCT

StaticAssertDecl(offsetof(LanceDescribeTableResponse, num_fragments) ==
					 offsetof(LanceDescribeTableResponse, num_deleted_rows) + sizeof(LanceOptionalInt),
				 "LANCE_FIELD_STATS reads two neighbours");

#define STRUCT LanceDescribeTableResponse
static const LanceField describe_table_response_fields[] = {
	OUT(table, TEXT),
	FIELD_AS(namespace, ID, namespace_id),
	OUT(version, INT),
	OUT(location, TEXT),
	OUT(table_uri, TEXT),
	FIELD_AS(schema, JSON, schema_json),
	OUT(storage_options, PROPERTIES),
	FIELD_AS(stats, STATS, num_deleted_rows),
	OUT(metadata, PROPERTIES),
	OUT(properties, PROPERTIES),
	OUT(managed_versioning, BOOL),
	OUT(is_only_declared, BOOL),
	END_OF_FIELDS,
};
RESPONSE(describe_table);
#undef STRUCT

#define STRUCT LanceDeregisterTableResponse
static const LanceField deregister_table_response_fields[] = {
	OUT(id, ID),
	OUT(location, TEXT),
	OUT(properties, PROPERTIES),
	END_OF_FIELDS,
};
RESPONSE(deregister_table);
#undef STRUCT

#define STRUCT LanceDropTableResponse
static const LanceField drop_table_response_fields[] = {
	OUT(id, ID),
	OUT(location, TEXT),
	OUT(properties, PROPERTIES),
	END_OF_FIELDS,
};
RESPONSE(drop_table);
#undef STRUCT

#define STRUCT LanceCreateTableVersionResponse
static const LanceField create_table_version_response_fields[] = {
	OUT(version, VERSION),
	END_OF_FIELDS,
};
RESPONSE(create_table_version);
#undef STRUCT

#define STRUCT LanceListTableVersionsResponse
static const LanceField list_table_versions_response_fields[] = {
	OUT(versions, VERSIONS),
	OUT(page_token, TEXT),
	END_OF_FIELDS,
};
RESPONSE(list_table_versions);
#undef STRUCT

#define STRUCT LanceDescribeTableVersionResponse
static const LanceField describe_table_version_response_fields[] = {
	OUT(version, VERSION),
	END_OF_FIELDS,
};
RESPONSE(describe_table_version);
#undef STRUCT

#define STRUCT LanceDeleteTableVersionsResponse
static const LanceField delete_table_versions_response_fields[] = {
	OUT(deleted_count, INT),
	END_OF_FIELDS,
};
RESPONSE(delete_table_versions);
#undef STRUCT

#define STRUCT LanceBatchCreateTableVersionsResponse
static const LanceField batch_create_table_versions_response_fields[] = {
	OUT(versions, VERSIONS),
	END_OF_FIELDS,
};
RESPONSE(batch_create_table_versions);
#undef STRUCT

#define STRUCT LanceCommitTableResult
static const LanceField commit_table_result_fields[] = {
	FIELD_OF(declare_table, OBJECT, NOWHERE, declare_table_response),
	FIELD_OF(create_table_version, OBJECT, NOWHERE, create_table_version_response),
	FIELD_OF(delete_table_versions, OBJECT, NOWHERE, delete_table_versions_response),
	FIELD_OF(deregister_table, OBJECT, NOWHERE, deregister_table_response),
	END_OF_FIELDS,
};
static const LanceMessage lance_message_commit_table_result = {sizeof(STRUCT), commit_table_result_fields};
#undef STRUCT

#define STRUCT LanceBatchCommitTablesResponse
StaticAssertDecl(sizeof(((STRUCT *)0)->results) == sizeof(LanceObjectList), "results is a list of objects");
static const LanceField batch_commit_tables_response_fields[] = {
	FIELD_OF(results, LIST, NOWHERE, commit_table_result),
	END_OF_FIELDS,
};
RESPONSE(batch_commit_tables);
#undef STRUCT

#define STRUCT LanceGetTableTagVersionResponse
static const LanceField get_table_tag_version_response_fields[] = {
	OUT(version, INT),
	OUT(branch, TEXT),
	END_OF_FIELDS,
};
RESPONSE(get_table_tag_version);
#undef STRUCT

#define STRUCT LanceListTableTagsResponse
static const LanceField list_table_tags_response_fields[] = {
	OUT(tags, TAGS),
	OUT(page_token, TEXT),
	END_OF_FIELDS,
};
RESPONSE(list_table_tags);
#undef STRUCT

#define STRUCT LanceListTableBranchesResponse
static const LanceField list_table_branches_response_fields[] = {
	OUT(branches, BRANCHES),
	OUT(page_token, TEXT),
	END_OF_FIELDS,
};
RESPONSE(list_table_branches);
#undef STRUCT

#define STRUCT LanceRestoreTableResponse
static const LanceField restore_table_response_fields[] = {
	OUT(transaction_id, TEXT),
	END_OF_FIELDS,
};
RESPONSE(restore_table);
#undef STRUCT

#define STRUCT LanceUpdateTableSchemaMetadataResponse
static const LanceField update_table_schema_metadata_response_fields[] = {
	OUT(metadata, WHOLE_MAP),
	END_OF_FIELDS,
};
RESPONSE(update_table_schema_metadata);
#undef STRUCT

#define STRUCT LanceUpdateFieldMetadataResponse
static const LanceField update_field_metadata_response_fields[] = {
	OUT(version, INT),
	OUT(fields, MAPS),
	END_OF_FIELDS,
};
RESPONSE(update_field_metadata);
#undef STRUCT

#define STRUCT LanceAlterTableDropColumnsResponse
static const LanceField alter_table_drop_columns_response_fields[] = {
	OUT(transaction_id, TEXT),
	OUT(version, INT),
	END_OF_FIELDS,
};
RESPONSE(alter_table_drop_columns);
#undef STRUCT

#define STRUCT LanceAlterTableAlterColumnsResponse
static const LanceField alter_table_alter_columns_response_fields[] = {
	OUT(version, INT),
	END_OF_FIELDS,
};
RESPONSE(alter_table_alter_columns);
#undef STRUCT

#define STRUCT LanceGetTableStatsResponse
static const LanceField get_table_stats_response_fields[] = {
	OUT(total_bytes, INT), OUT(num_rows, INT), OUT(num_indices, INT), OUT(fragment_stats, FRAGMENT_STATS),
	END_OF_FIELDS,
};
RESPONSE(get_table_stats);
#undef STRUCT

#define STRUCT LanceTransactionResponse
static const LanceField transaction_response_fields[] = {
	OUT(status, TEXT),
	OUT(properties, PROPERTIES),
	END_OF_FIELDS,
};
RESPONSE(transaction);
#undef STRUCT
