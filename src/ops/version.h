/*
 * version.h
 *	  Operations on table versions: create, list, describe, batch-delete.
 *
 * Facts: spec.yaml, rest.md section 7, design.md section 3 (the commit protocol and its invariants).
 */
#ifndef LANCE_OPS_VERSION_H
#define LANCE_OPS_VERSION_H

#include "ops/types.h"

typedef struct LanceCreateTableVersionRequest
{
	LanceId id;
	LanceOptionalInt version; /* required */
	char *branch;             /* NULL: main */
	char *manifest_path;      /* required: the staged file, inside the table's own _versions */
	LanceOptionalInt manifest_size;
	char *e_tag;
	LanceProperties metadata;
	char *naming_scheme; /* V1 or V2; NULL: as the table has it, else V2 */
} LanceCreateTableVersionRequest;

typedef struct LanceCreateTableVersionResponse
{
	LanceVersionInfo version;
} LanceCreateTableVersionResponse;

typedef struct LanceListTableVersionsRequest
{
	LanceId id;
	char *branch;
	char *page_token;
	LanceOptionalInt limit;
	LanceOptionalBool descending;
} LanceListTableVersionsRequest;

typedef struct LanceListTableVersionsResponse
{
	LanceVersionList versions;
	char *page_token;
} LanceListTableVersionsResponse;

typedef struct LanceDescribeTableVersionRequest
{
	LanceId id;
	LanceOptionalInt version; /* not given: the latest */
	char *branch;
} LanceDescribeTableVersionRequest;

typedef struct LanceDescribeTableVersionResponse
{
	LanceVersionInfo version;
} LanceDescribeTableVersionResponse;

typedef struct LanceDeleteTableVersionsRequest
{
	LanceId id;
	char *branch;
	LanceVersionRanges ranges; /* required */
} LanceDeleteTableVersionsRequest;

typedef struct LanceDeleteTableVersionsResponse
{
	LanceOptionalInt deleted_count;
} LanceDeleteTableVersionsResponse;

extern void lance_op_create_table_version(const LanceCreateTableVersionRequest *request,
										  LanceCreateTableVersionResponse *response);
extern void lance_op_list_table_versions(const LanceListTableVersionsRequest *request,
										 LanceListTableVersionsResponse *response);
extern void lance_op_describe_table_version(const LanceDescribeTableVersionRequest *request,
											LanceDescribeTableVersionResponse *response);
extern void lance_op_delete_table_versions(const LanceDeleteTableVersionsRequest *request,
										   LanceDeleteTableVersionsResponse *response);

#endif
