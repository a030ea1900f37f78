/*
 * table.h
 *	  Operations on tables: declare, register, describe, exists, list, list all, rename, deregister, drop.
 *
 * Each runs inside the caller's transaction, checks its input whole, and throws with lance_errcode(). Facts: spec.yaml,
 * rest.md sections 5 and 6. Text fields are NULL when not given.
 */
#ifndef LANCE_OPS_TABLE_H
#define LANCE_OPS_TABLE_H

#include "ops/types.h"

typedef struct LanceDeclareTableRequest
{
	LanceId id;
	char *location; /* NULL: the catalog chooses a fresh one */
	LanceOptionalBool vend_credentials;
	LanceProperties properties;
} LanceDeclareTableRequest;

typedef struct LanceDeclareTableResponse
{
	char *location;
	LanceProperties storage_options;
	LanceProperties properties;
	LanceOptionalBool managed_versioning;
} LanceDeclareTableResponse;

typedef struct LanceRegisterTableRequest
{
	LanceId id;
	char *location; /* required: absolute inside the profile's root, or relative to it */
	char *mode;     /* Create (default), Overwrite */
	LanceProperties properties;
} LanceRegisterTableRequest;

typedef struct LanceRegisterTableResponse
{
	char *location;
	LanceProperties properties;
} LanceRegisterTableResponse;

typedef struct LanceDescribeTableRequest
{
	LanceId id;
	LanceOptionalInt version;
	char *tag;
	char *branch;
	LanceOptionalBool with_table_uri;
	LanceOptionalBool load_detailed_metadata;
	LanceOptionalBool check_declared;
	LanceOptionalBool vend_credentials;
} LanceDescribeTableRequest;

typedef struct LanceDescribeTableResponse
{
	char *location;
	char *table_uri; /* with_table_uri */
	LanceProperties storage_options;
	LanceProperties properties;
	LanceOptionalBool managed_versioning;
	LanceOptionalBool is_only_declared; /* check_declared or load_detailed_metadata */
	/* load_detailed_metadata: */
	char *table;
	LanceId namespace_id;
	LanceOptionalInt version;
	char *schema_json; /* JSON Arrow schema, a JSON object as text */
	LanceProperties metadata;
	LanceOptionalInt num_deleted_rows; /* stats */
	LanceOptionalInt num_fragments;
} LanceDescribeTableResponse;

typedef struct LanceTableExistsRequest
{
	LanceId id;
} LanceTableExistsRequest;

typedef struct LanceListTablesRequest
{
	LanceId id;
	char *page_token;
	LanceOptionalInt limit;
	LanceOptionalBool include_declared; /* unset: true */
} LanceListTablesRequest;

typedef struct LanceListTablesResponse
{
	LanceNameList tables;
	char *page_token;
} LanceListTablesResponse;

typedef struct LanceListAllTablesRequest
{
	char *delimiter; /* NULL: "$"; joins the names of each id */
	char *page_token;
	LanceOptionalInt limit;
	LanceOptionalBool include_declared;
} LanceListAllTablesRequest;

typedef struct LanceRenameTableRequest
{
	LanceId id;
	char *new_table_name;
	LanceId new_namespace_id; /* not given: the table stays in its namespace */
} LanceRenameTableRequest;

typedef struct LanceDeregisterTableRequest
{
	LanceId id;
} LanceDeregisterTableRequest;

typedef struct LanceDeregisterTableResponse
{
	LanceId id;
	char *location;
	LanceProperties properties;
} LanceDeregisterTableResponse;

typedef struct LanceDropTableRequest
{
	LanceId id;
} LanceDropTableRequest;

typedef struct LanceDropTableResponse
{
	LanceId id;
	char *location;
	LanceProperties properties;
} LanceDropTableResponse;

extern void lance_op_declare_table(const LanceDeclareTableRequest *request, LanceDeclareTableResponse *response);
extern void lance_op_register_table(const LanceRegisterTableRequest *request, LanceRegisterTableResponse *response);
extern void lance_op_describe_table(const LanceDescribeTableRequest *request, LanceDescribeTableResponse *response);
/* Throws TableNotFound when it does not exist. */
extern void lance_op_table_exists(const LanceTableExistsRequest *request);
extern void lance_op_list_tables(const LanceListTablesRequest *request, LanceListTablesResponse *response);
extern void lance_op_list_all_tables(const LanceListAllTablesRequest *request, LanceListTablesResponse *response);
extern void lance_op_rename_table(const LanceRenameTableRequest *request);
extern void lance_op_deregister_table(const LanceDeregisterTableRequest *request,
									  LanceDeregisterTableResponse *response);
extern void lance_op_drop_table(const LanceDropTableRequest *request, LanceDropTableResponse *response);

#endif
