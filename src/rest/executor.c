/*
 * executor.c
 *	  The processes that run what may wait: for a store, for locks, for the disk.
 *
 * Executors hold no connections. One is always there; a REST worker starts more while jobs wait, up to
 * lance_catalog.rest_executors, and those leave when they have been idle for a while.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "rest/execute.h"
#include "rest/executor.h"
#include "rest/job.h"
#include "rest/main.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

/* An executor beyond the first leaves after so long without a job. */
#define IDLE_MS 10000

#define DATABASE_CHECK_MS 5000

void
lance_executor_describe(BackgroundWorker *worker, int executor)
{
	snprintf(worker->bgw_name, BGW_MAXLEN, "lance_catalog REST executor %d", executor + 1);
	strlcpy(worker->bgw_type, "lance_catalog REST executor", BGW_MAXLEN);
	strlcpy(worker->bgw_library_name, "lance_catalog", BGW_MAXLEN);
	strlcpy(worker->bgw_function_name, "lance_rest_executor_main", BGW_MAXLEN);
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker->bgw_start_time = BgWorkerStart_ConsistentState;
	worker->bgw_main_arg = Int32GetDatum(executor);
}

void
lance_executor_start_wanted(void)
{
	BackgroundWorker worker = {.bgw_restart_time = BGW_NEVER_RESTART};
	int executor = lance_jobs_wanted_executor();

	if (executor < 0)
		return;
	lance_executor_describe(&worker, executor);
	/* when all of max_worker_processes are in use, the executors that are there do the work */
	if (!RegisterDynamicBackgroundWorker(&worker, NULL))
		lance_jobs_executor_failed(executor);
}

/* Run one job. False: there was none. */
static bool
run_next(MemoryContext turn)
{
	LanceRestRequest *request;
	LanceRestReply reply = {0};

	MemoryContextReset(turn);
	MemoryContextSwitchTo(turn);
	request = lance_job_take(turn);
	if (request == NULL)
		return false;
	lance_rest_execute(request, &reply);
	lance_rest_forget_key(request);
	lance_job_answer(&reply);
	return true;
}

void
lance_rest_executor_main(Datum number)
{
	int executor = DatumGetInt32(number);
	bool connected;
	MemoryContext turn = AllocSetContextCreate(TopMemoryContext, "REST executor turn", ALLOCSET_DEFAULT_SIZES);

	if (!lance_jobs_join_as_executor(executor))
		proc_exit(0);
	connected = lance_rest_start_worker(lance_rest_executor_number(executor), "lance_catalog REST executor");
	for (;;)
	{
		int rc;

		ResetLatch(MyLatch);
		lance_rest_housekeeping();
		if (!connected)
			lance_rest_end_if_database_exists();
		else if (run_next(turn))
			continue;
		pgstat_report_stat(true);
		rc = WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | (executor > 0 || !connected ? WL_TIMEOUT : 0),
					   connected ? IDLE_MS : DATABASE_CHECK_MS, PG_WAIT_EXTENSION);
		if (connected && executor > 0 && (rc & (WL_TIMEOUT | WL_LATCH_SET)) == WL_TIMEOUT && lance_jobs_leave())
			proc_exit(0);
	}
}
