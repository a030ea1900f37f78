/*
 * batch.c
 *	  BatchCreateTableVersions and BatchCommitTables.
 *
 * The tables are locked in the order of their ids before anything is done, so that two batches over the same tables can't
 * deadlock. The rest is one operation after the other in one transaction.
 */
#include "postgres.h"

#include "catalog/commit.h"
#include "catalog/entry.h"
#include "miscadmin.h"
#include "ops/batch.h"
#include "ops/check.h"
#include "pg/errcodes.h"
#include "pg/privilege.h"

/* ---- locks */

typedef struct Target
{
	int64 table_id;
	const LanceId *id;
	LanceLevel needed;
} Target;

static int
compare_targets(const void *a, const void *b)
{
	int64 left = ((const Target *)a)->table_id;
	int64 right = ((const Target *)b)->table_id;

	return (left > right) - (left < right);
}

/*
 * The table to lock for an id, if the caller may do with it what he asks for. None is missing yet: an operation before
 * may declare it.
 */
static void
add_target(Target *targets, int *n, const LanceId *id, LanceLevel needed)
{
	LanceTableRow *table;

	lance_check_table_id(id);
	table = lance_catalog_find_table(id, LANCE_LOCK_NONE, needed);
	if (table != NULL)
		targets[(*n)++] = (Target){.table_id = table->table_id, .id = id, .needed = needed};
}

static void
lock_targets(Target *targets, int n)
{
	qsort(targets, n, sizeof(*targets), compare_targets);
	for (int i = 0; i < n; i++)
	{
		if (i == 0 || targets[i].table_id != targets[i - 1].table_id)
			(void)lance_catalog_find_table(targets[i].id, LANCE_LOCK_UPDATE, targets[i].needed);
	}
}

/* A batch lets nobody do what he may not do by itself. */
static void
check_privilege(const char *function)
{
	if (lance_may_execute(function, GetUserId()) != LANCE_EXECUTE_ALLOWED)
		ereport(ERROR,
				(lance_errcode(LANCE_PERMISSION_DENIED), errmsg("permission denied for function %s", function)));
}

/* A table is to be declared: where its namespace is there already, the caller must be allowed to. */
static void
check_declare(const LanceId *id)
{
	LanceId space;

	lance_check_table_id(id);
	space = lance_id_parent(id);
	(void)lance_entry_find(&space, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_NONE, LANCE_LEVEL_WRITE);
}

/* ---- versions */

void
lance_op_create_table_versions(const LanceBatchCreateTableVersionsRequest *request,
							   LanceBatchCreateTableVersionsResponse *response)
{
	int count = request->entries.count;
	Target *targets = palloc((count + 1) * sizeof(Target));
	int n = 0;

	memset(response, 0, sizeof(*response));
	if (!request->entries.given)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("entries are missing")));
	check_privilege("lance_create_table_version");
	lance_publish_together();
	for (int i = 0; i < count; i++)
		add_target(targets, &n, &request->entries.items[i].id, LANCE_LEVEL_WRITE);
	lock_targets(targets, n);
	response->versions.items = palloc0((count + 1) * sizeof(LanceVersionInfo));
	for (int i = 0; i < count; i++)
	{
		LanceCreateTableVersionResponse one;

		CHECK_FOR_INTERRUPTS();
		lance_op_create_table_version(&request->entries.items[i], &one);
		response->versions.items[response->versions.count++] = one.version;
	}
}

/* ---- operations of several kinds */

static void
check_operation(const LanceCommitTableOperation *operation)
{
	int given = (operation->declare_table != NULL) + (operation->create_table_version != NULL) +
				(operation->delete_table_versions != NULL) + (operation->deregister_table != NULL);

	if (given != 1)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT),
						errmsg(given == 0 ? "an operation of the batch is none that can be done"
										  : "an operation of the batch is more than one"),
						errhint("Each operation has exactly one of \"declare_table\", \"create_table_version\", "
								"\"delete_table_versions\" and \"deregister_table\".")));
}

static const char *
function_of(const LanceCommitTableOperation *operation)
{
	return operation->declare_table != NULL           ? "lance_declare_table"
		   : operation->create_table_version != NULL  ? "lance_create_table_version"
		   : operation->delete_table_versions != NULL ? "lance_delete_table_versions"
													  : "lance_deregister_table";
}

/* The id of a table that has to be there; NULL for one that is declared. */
static const LanceId *
target_of(const LanceCommitTableOperation *operation)
{
	return operation->create_table_version != NULL    ? &operation->create_table_version->id
		   : operation->delete_table_versions != NULL ? &operation->delete_table_versions->id
		   : operation->deregister_table != NULL      ? &operation->deregister_table->id
													  : NULL;
}

static void
run_operation(const LanceCommitTableOperation *operation, LanceCommitTableResult *result)
{
	if (operation->declare_table != NULL)
	{
		result->declare_table = palloc0(sizeof(*result->declare_table));
		lance_op_declare_table(operation->declare_table, result->declare_table);
	}
	else if (operation->create_table_version != NULL)
	{
		result->create_table_version = palloc0(sizeof(*result->create_table_version));
		lance_op_create_table_version(operation->create_table_version, result->create_table_version);
	}
	else if (operation->delete_table_versions != NULL)
	{
		result->delete_table_versions = palloc0(sizeof(*result->delete_table_versions));
		lance_op_delete_table_versions(operation->delete_table_versions, result->delete_table_versions);
	}
	else
	{
		result->deregister_table = palloc0(sizeof(*result->deregister_table));
		lance_op_deregister_table(operation->deregister_table, result->deregister_table);
	}
}

void
lance_op_commit_tables(const LanceBatchCommitTablesRequest *request, LanceBatchCommitTablesResponse *response)
{
	int count = request->operations.count;
	Target *targets = palloc((count + 1) * sizeof(Target));
	int n = 0;

	memset(response, 0, sizeof(*response));
	if (!request->operations.given)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("operations are missing")));
	lance_publish_together();
	for (int i = 0; i < count; i++)
	{
		const LanceCommitTableOperation *operation = &request->operations.items[i];
		const LanceId *id = target_of(operation);

		check_operation(operation);
		check_privilege(function_of(operation));
		if (id != NULL)
			add_target(targets, &n, id,
					   operation->deregister_table != NULL ? LANCE_LEVEL_ADMIN : LANCE_LEVEL_WRITE);
		else
			check_declare(&operation->declare_table->id);
	}
	lock_targets(targets, n);
	response->results.given = true;
	response->results.items = palloc0((count + 1) * sizeof(LanceCommitTableResult));
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		run_operation(&request->operations.items[i], &response->results.items[response->results.count++]);
	}
}
