/*
 * batch.h
 *	  Operations on several tables at once: all of a batch is done, or none of it.
 *
 * Facts: spec.yaml (BatchCreateTableVersions, BatchCommitTables), design.md section 3 (invariant 3).
 */
#ifndef LANCE_OPS_BATCH_H
#define LANCE_OPS_BATCH_H

#include "ops/table.h"
#include "ops/version.h"

typedef struct LanceBatchCreateTableVersionsRequest
{
	struct
	{
		bool given; /* required */
		int count;
		LanceCreateTableVersionRequest *items;
	} entries;
} LanceBatchCreateTableVersionsRequest;

/* In the order of the entries. */
typedef struct LanceBatchCreateTableVersionsResponse
{
	LanceVersionList versions;
} LanceBatchCreateTableVersionsResponse;

/* Exactly one member is set. */
typedef struct LanceCommitTableOperation
{
	LanceDeclareTableRequest *declare_table;
	LanceCreateTableVersionRequest *create_table_version;
	LanceDeleteTableVersionsRequest *delete_table_versions;
	LanceDeregisterTableRequest *deregister_table;
} LanceCommitTableOperation;

typedef struct LanceBatchCommitTablesRequest
{
	struct
	{
		bool given; /* required */
		int count;
		LanceCommitTableOperation *items;
	} operations;
} LanceBatchCommitTablesRequest;

/* The answer to the operation's member of the same name. */
typedef struct LanceCommitTableResult
{
	LanceDeclareTableResponse *declare_table;
	LanceCreateTableVersionResponse *create_table_version;
	LanceDeleteTableVersionsResponse *delete_table_versions;
	LanceDeregisterTableResponse *deregister_table;
} LanceCommitTableResult;

/* In the order of the operations. */
typedef struct LanceBatchCommitTablesResponse
{
	struct
	{
		bool given;
		int count;
		LanceCommitTableResult *items;
	} results;
} LanceBatchCommitTablesResponse;

extern void lance_op_create_table_versions(const LanceBatchCreateTableVersionsRequest *request,
										   LanceBatchCreateTableVersionsResponse *response);

/* Each kind of operation also needs the privilege that it needs by itself. */
extern void lance_op_commit_tables(const LanceBatchCommitTablesRequest *request,
								   LanceBatchCommitTablesResponse *response);

#endif
