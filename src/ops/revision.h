/*
 * revision.h
 *	  Operations that make a table's next version out of its newest manifest, without a client: restore, metadata of the
 *	  schema and of fields, dropping and altering columns.
 *
 * Each commits one version under the lock of the table's row, through the commit protocol (docs/commits.md), when the
 * transaction commits. Facts: spec.yaml; the revisions themselves are those of dataset/revision.h.
 */
#ifndef LANCE_OPS_REVISION_H
#define LANCE_OPS_REVISION_H

#include "ops/types.h"

typedef struct LanceRestoreTableRequest
{
	LanceId id;
	LanceOptionalInt version; /* required */
	char *branch;             /* NULL: main; here and below */
} LanceRestoreTableRequest;

typedef struct LanceRestoreTableResponse
{
	char *transaction_id;
	LanceOptionalInt version; /* the new one */
} LanceRestoreTableResponse;

typedef struct LanceUpdateTableSchemaMetadataRequest
{
	LanceId id;
	char *branch;
	LanceProperties metadata; /* required: what the schema is to have, and nothing else */
} LanceUpdateTableSchemaMetadataRequest;

typedef struct LanceUpdateTableSchemaMetadataResponse
{
	LanceProperties metadata;
	char *transaction_id;
} LanceUpdateTableSchemaMetadataResponse;

typedef struct LanceUpdateFieldMetadataRequest
{
	LanceId id;
	char *branch;
	LanceFieldMetadataList updates; /* required */
} LanceUpdateFieldMetadataRequest;

typedef struct LanceUpdateFieldMetadataResponse
{
	LanceOptionalInt version;
	LanceNamedPropertiesList fields; /* what the fields have now, by path */
} LanceUpdateFieldMetadataResponse;

typedef struct LanceAlterTableDropColumnsRequest
{
	LanceId id;
	char *branch;
	LanceTexts columns; /* required: paths */
} LanceAlterTableDropColumnsRequest;

typedef struct LanceAlterTableDropColumnsResponse
{
	char *transaction_id;
	LanceOptionalInt version;
} LanceAlterTableDropColumnsResponse;

typedef struct LanceAlterTableAlterColumnsRequest
{
	LanceId id;
	char *branch;
	LanceColumnChanges alterations; /* required */
} LanceAlterTableAlterColumnsRequest;

typedef struct LanceAlterTableAlterColumnsResponse
{
	LanceOptionalInt version;
} LanceAlterTableAlterColumnsResponse;

extern void lance_op_restore_table(const LanceRestoreTableRequest *request, LanceRestoreTableResponse *response);
extern void lance_op_update_table_schema_metadata(const LanceUpdateTableSchemaMetadataRequest *request,
												  LanceUpdateTableSchemaMetadataResponse *response);
extern void lance_op_update_field_metadata(const LanceUpdateFieldMetadataRequest *request,
										   LanceUpdateFieldMetadataResponse *response);
extern void lance_op_alter_table_drop_columns(const LanceAlterTableDropColumnsRequest *request,
											  LanceAlterTableDropColumnsResponse *response);
extern void lance_op_alter_table_alter_columns(const LanceAlterTableAlterColumnsRequest *request,
											   LanceAlterTableAlterColumnsResponse *response);

#endif
