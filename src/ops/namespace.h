/*
 * namespace.h
 *	  Operations on namespaces: CreateNamespace, ListNamespaces, DescribeNamespace, NamespaceExists, DropNamespace.
 *
 * Each runs inside the caller's transaction, checks its input whole, and throws with lance_errcode(). Facts: spec.yaml,
 * rest.md section 4. Text fields are NULL when not given.
 */
#ifndef LANCE_OPS_NAMESPACE_H
#define LANCE_OPS_NAMESPACE_H

#include "ops/types.h"

typedef struct LanceCreateNamespaceRequest
{
	LanceId id;
	char *mode; /* Create (default), ExistOk, Overwrite; case and underscores do not matter */
	LanceProperties properties;
} LanceCreateNamespaceRequest;

typedef struct LanceCreateNamespaceResponse
{
	LanceProperties properties;
} LanceCreateNamespaceResponse;

typedef struct LanceListNamespacesRequest
{
	LanceId id;
	char *page_token;       /* the last name of the page before; NULL or "": from the start */
	LanceOptionalInt limit; /* not given: everything */
} LanceListNamespacesRequest;

typedef struct LanceListNamespacesResponse
{
	LanceNameList namespaces; /* direct children, bare names, ordered by their bytes */
	char *page_token;
} LanceListNamespacesResponse;

typedef struct LanceDescribeNamespaceRequest
{
	LanceId id;
} LanceDescribeNamespaceRequest;

typedef struct LanceDescribeNamespaceResponse
{
	LanceProperties properties;
} LanceDescribeNamespaceResponse;

typedef struct LanceNamespaceExistsRequest
{
	LanceId id;
} LanceNamespaceExistsRequest;

typedef struct LanceDropNamespaceRequest
{
	LanceId id;
	char *mode;     /* Fail (default), Skip */
	char *behavior; /* Restrict (default), Cascade */
} LanceDropNamespaceRequest;

typedef struct LanceDropNamespaceResponse
{
	LanceProperties properties;
} LanceDropNamespaceResponse;

extern void lance_op_create_namespace(const LanceCreateNamespaceRequest *request,
									  LanceCreateNamespaceResponse *response);
extern void lance_op_list_namespaces(const LanceListNamespacesRequest *request,
									 LanceListNamespacesResponse *response);
extern void lance_op_describe_namespace(const LanceDescribeNamespaceRequest *request,
										LanceDescribeNamespaceResponse *response);
/* Throws NamespaceNotFound when it does not exist. */
extern void lance_op_namespace_exists(const LanceNamespaceExistsRequest *request);
extern void lance_op_drop_namespace(const LanceDropNamespaceRequest *request, LanceDropNamespaceResponse *response);

#endif
