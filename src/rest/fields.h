/*
 * fields.h
 *	  The fields of the request and response structs of ops/, for the codec.
 */
#ifndef LANCE_REST_FIELDS_H
#define LANCE_REST_FIELDS_H

#include "rest/routes.h"

extern const LanceMessage lance_message_id_request; /* structs that hold nothing but an id */

extern const LanceMessage lance_message_create_namespace_request;
extern const LanceMessage lance_message_list_namespaces_request;
extern const LanceMessage lance_message_drop_namespace_request;
extern const LanceMessage lance_message_namespace_response; /* create, describe, drop: properties */
extern const LanceMessage lance_message_list_namespaces_response;

extern const LanceMessage lance_message_list_tables_request;
extern const LanceMessage lance_message_list_all_tables_request;
extern const LanceMessage lance_message_declare_table_request;
extern const LanceMessage lance_message_register_table_request;
extern const LanceMessage lance_message_describe_table_request;
extern const LanceMessage lance_message_rename_table_request;
extern const LanceMessage lance_message_list_tables_response;
extern const LanceMessage lance_message_declare_table_response;
extern const LanceMessage lance_message_register_table_response;
extern const LanceMessage lance_message_describe_table_response;
extern const LanceMessage lance_message_deregister_table_response;
extern const LanceMessage lance_message_drop_table_response;

extern const LanceMessage lance_message_create_table_version_request;
extern const LanceMessage lance_message_list_table_versions_request;
extern const LanceMessage lance_message_describe_table_version_request;
extern const LanceMessage lance_message_delete_table_versions_request;
extern const LanceMessage lance_message_create_table_version_response;
extern const LanceMessage lance_message_list_table_versions_response;
extern const LanceMessage lance_message_describe_table_version_response;
extern const LanceMessage lance_message_delete_table_versions_response;

extern const LanceMessage lance_message_batch_create_table_versions_request;
extern const LanceMessage lance_message_batch_commit_tables_request;
extern const LanceMessage lance_message_batch_create_table_versions_response;
extern const LanceMessage lance_message_batch_commit_tables_response;
extern const LanceMessage lance_message_table_tag_request; /* create, update */
extern const LanceMessage lance_message_tag_name_request;  /* get, delete */
extern const LanceMessage lance_message_list_table_refs_request;
extern const LanceMessage lance_message_create_table_branch_request;
extern const LanceMessage lance_message_delete_table_branch_request;
extern const LanceMessage lance_message_get_table_tag_version_response;
extern const LanceMessage lance_message_list_table_tags_response;
extern const LanceMessage lance_message_list_table_branches_response;

#endif
