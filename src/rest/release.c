/*
 * release.c
 *	  The hook that ends the workers ahead of statements which need the served database unused.
 *
 * The statement itself waits a few seconds for connections to go, and from before that until its end nobody can connect, so
 * nothing has to be awaited here.
 */
#include "postgres.h"

#include <signal.h>

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "pg/guc.h"
#include "rest/release.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/syscache.h"

typedef struct ReleaseArea
{
	slock_t mutex;
	int count;
	pid_t pids[FLEXIBLE_ARRAY_MEMBER]; /* 0: not connected */
} ReleaseArea;

static ReleaseArea *release_area;
static int release_workers;
static int my_slot = -1;
static ProcessUtility_hook_type previous_utility_hook;

/* ---- the workers' side */

Size
lance_release_shmem_size(void)
{
	return add_size(offsetof(ReleaseArea, pids), mul_size(release_workers, sizeof(pid_t)));
}

void
lance_release_shmem_init(void)
{
	bool found;

	release_area = ShmemInitStruct("lance_catalog release", lance_release_shmem_size(), &found);
	if (!found)
	{
		memset(release_area, 0, lance_release_shmem_size());
		SpinLockInit(&release_area->mutex);
		release_area->count = release_workers;
	}
}

static void
set_pid(pid_t pid)
{
	SpinLockAcquire(&release_area->mutex);
	release_area->pids[my_slot] = pid;
	SpinLockRelease(&release_area->mutex);
}

static void
withdraw(int code, Datum arg)
{
	set_pid(0);
}

void
lance_release_register(int worker)
{
	Assert(worker >= 0 && worker < release_area->count);
	my_slot = worker;
	set_pid(MyProcPid);
	before_shmem_exit(withdraw, (Datum)0);
}

/* ---- the statements' side */

static void
end_workers(void)
{
	for (int i = 0; i < release_area->count; i++)
	{
		pid_t pid;

		SpinLockAcquire(&release_area->mutex);
		pid = release_area->pids[i];
		SpinLockRelease(&release_area->mutex);
		if (pid != 0)
			(void)kill(pid, SIGTERM);
	}
}

static bool
is_served(const char *database)
{
	return database != NULL && strcmp(database, lance_guc_rest_database) == 0;
}

static DefElem *
find_option(List *options, const char *name)
{
	ListCell *lc;

	foreach (lc, options)
	{
		DefElem *option = lfirst_node(DefElem, lc);

		if (strcmp(option->defname, name) == 0)
			return option;
	}
	return NULL;
}

/* Does the statement need the served database without connections? */
static bool
needs_served_alone(Node *statement)
{
	DefElem *option;

	switch (nodeTag(statement))
	{
		case T_DropdbStmt:
			return is_served(castNode(DropdbStmt, statement)->dbname);
		case T_RenameStmt:
			return castNode(RenameStmt, statement)->renameType == OBJECT_DATABASE &&
				   is_served(castNode(RenameStmt, statement)->subname);
		case T_AlterDatabaseStmt:
			return is_served(castNode(AlterDatabaseStmt, statement)->dbname) &&
				   find_option(castNode(AlterDatabaseStmt, statement)->options, "tablespace") != NULL;
		case T_CreatedbStmt:
			option = find_option(castNode(CreatedbStmt, statement)->options, "template");
			return option != NULL && option->arg != NULL && is_served(defGetString(option));
		default:
			return false;
	}
}

static bool
is_template(Oid database)
{
	HeapTuple tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(database));
	bool result = HeapTupleIsValid(tuple) && ((Form_pg_database)GETSTRUCT(tuple))->datistemplate;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return result;
}

static bool
may_create_databases(void)
{
	HeapTuple tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(GetUserId()));
	bool result = HeapTupleIsValid(tuple) && ((Form_pg_authid)GETSTRUCT(tuple))->rolcreatedb;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return result;
}

/* May the user run such a statement? Those that will be refused disturb nobody. */
static bool
is_permitted(Node *statement)
{
	Oid database = get_database_oid(lance_guc_rest_database, true);

	if (!OidIsValid(database))
		return false;
	if (pg_database_ownercheck(database, GetUserId()))
		return true;
	/* others may copy it only when it is marked as a template */
	return IsA(statement, CreatedbStmt) && is_template(database) && may_create_databases();
}

static void
release_utility(PlannedStmt *statement, const char *text, bool read_only_tree, ProcessUtilityContext context,
				ParamListInfo parameters, QueryEnvironment *environment, DestReceiver *receiver,
				QueryCompletion *completion)
{
	if (release_area != NULL && needs_served_alone(statement->utilityStmt) && is_permitted(statement->utilityStmt))
		end_workers();
	if (previous_utility_hook != NULL)
		previous_utility_hook(statement, text, read_only_tree, context, parameters, environment, receiver,
							  completion);
	else
		standard_ProcessUtility(statement, text, read_only_tree, context, parameters, environment, receiver,
								completion);
}

void
lance_release_init(int workers)
{
	release_workers = workers;
	previous_utility_hook = ProcessUtility_hook;
	ProcessUtility_hook = release_utility;
}
