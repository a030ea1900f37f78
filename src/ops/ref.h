/*
 * ref.h
 *	  Operations on tags and branches: create, get, update, delete, list.
 *
 * Each runs inside the caller's transaction, checks its input whole, and throws with lance_errcode(). What they change
 * takes effect when the transaction commits (catalog/refs.h). Facts: spec.yaml, rest.md section 7.
 */
#ifndef LANCE_OPS_REF_H
#define LANCE_OPS_REF_H

#include "ops/types.h"

/* Of a tag that is made, and of one that is moved. */
typedef struct LanceCreateTableTagRequest
{
	LanceId id;
	char *tag;                /* required */
	LanceOptionalInt version; /* required */
	char *branch;             /* that the version is of; NULL: main */
} LanceCreateTableTagRequest;

typedef LanceCreateTableTagRequest LanceUpdateTableTagRequest;

typedef struct LanceGetTableTagVersionRequest
{
	LanceId id;
	char *tag; /* required */
} LanceGetTableTagVersionRequest;

typedef LanceGetTableTagVersionRequest LanceDeleteTableTagRequest;

typedef struct LanceGetTableTagVersionResponse
{
	LanceOptionalInt version;
	char *branch; /* NULL: main */
} LanceGetTableTagVersionResponse;

/* Of tags and of branches. */
typedef struct LanceListTableRefsRequest
{
	LanceId id;
	char *page_token;       /* the last name of the page before; NULL or "": from the start */
	LanceOptionalInt limit; /* not given: everything */
} LanceListTableRefsRequest;

typedef struct LanceListTableTagsResponse
{
	LanceTagList tags; /* by name, in the order of bytes */
	char *page_token;
} LanceListTableTagsResponse;

typedef struct LanceCreateTableBranchRequest
{
	LanceId id;
	char *name;                    /* required */
	char *from_branch;             /* NULL: main */
	LanceOptionalInt from_version; /* not given: the newest */
} LanceCreateTableBranchRequest;

typedef struct LanceDeleteTableBranchRequest
{
	LanceId id;
	char *name; /* required */
} LanceDeleteTableBranchRequest;

typedef struct LanceListTableBranchesResponse
{
	LanceBranchList branches; /* by name, in the order of bytes */
	char *page_token;
} LanceListTableBranchesResponse;

extern void lance_op_create_table_tag(const LanceCreateTableTagRequest *request);
extern void lance_op_get_table_tag_version(const LanceGetTableTagVersionRequest *request,
										   LanceGetTableTagVersionResponse *response);
extern void lance_op_update_table_tag(const LanceUpdateTableTagRequest *request);
extern void lance_op_delete_table_tag(const LanceDeleteTableTagRequest *request);
extern void lance_op_list_table_tags(const LanceListTableRefsRequest *request,
									 LanceListTableTagsResponse *response);
extern void lance_op_create_table_branch(const LanceCreateTableBranchRequest *request);
extern void lance_op_delete_table_branch(const LanceDeleteTableBranchRequest *request);
extern void lance_op_list_table_branches(const LanceListTableRefsRequest *request,
										 LanceListTableBranchesResponse *response);

#endif
