/*
 * cleanup_worker.c
 *	  The worker that removes files which committed transactions left behind.
 *
 * A process of its own, so that a slow store delays no request. It is woken by the transactions that queue work
 * (pg/wake.h) and otherwise sleeps; after a failure it sleeps until the item is due again.
 */
#include "postgres.h"

#include <limits.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "ops/cleanup.h"
#include "pg/installed.h"
#include "pg/wake.h"
#include "pgstat.h"
#include "rest/main.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

/* Items of one transaction: few, because it stays open while the store works. */
#define ITEMS_AT_ONCE 10

/* Bounds of the sleep before the next try. An item that is due may be in another transaction's hands. */
#define SHORTEST_SLEEP_MS 1000
#define RETRY_AFTER_ERROR_MS 60000

/* After a wake-up, so long for more: each commit of a version queues an item, and a look at the queue costs as much. */
#define GATHER_MS 300

#define STANDBY_CHECK_MS 30000
#define DATABASE_CHECK_MS 5000

/* One transaction's worth. False when the extension is not there or nothing was due. */
static bool
clean_some(long *retry_after_ms)
{
	LanceCleanupResult result = {.retry_after_ms = -1};

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	if (lance_installed() != NULL)
	{
		pgstat_report_activity(STATE_RUNNING, "cleanup");
		lance_cleanup_run(ITEMS_AT_ONCE, false, &result);
	}
	PopActiveSnapshot();
	CommitTransactionCommand();
	pgstat_report_activity(STATE_IDLE, NULL);
	*retry_after_ms = result.retry_after_ms < 0 ? -1 : (long)Min(result.retry_after_ms, INT_MAX);
	return result.done > 0 || result.failed > 0;
}

/*
 * Work off all that is due. Returns the time to sleep, -1 without limit. The loop ends with a look that found nothing:
 * a wake-up that came during the ones before, and that their waits for the store took, is not lost.
 */
static long
clean(MemoryContext turn)
{
	volatile long sleep = -1;

	PG_TRY();
	{
		long retry_after_ms;

		while (clean_some(&retry_after_ms))
		{
			MemoryContextReset(turn);
			MemoryContextSwitchTo(turn);
			lance_rest_housekeeping();
		}
		sleep = retry_after_ms < 0 ? -1 : Max(retry_after_ms, SHORTEST_SLEEP_MS);
	}
	PG_CATCH();
	{
		ErrorData *error;

		HOLD_INTERRUPTS();
		QueryCancelPending = false;
		MemoryContextSwitchTo(turn);
		error = CopyErrorData();
		/* the extension may be dropped at any moment; that is no news */
		if (error->sqlerrcode != ERRCODE_UNDEFINED_TABLE && error->sqlerrcode != ERRCODE_UNDEFINED_SCHEMA)
			EmitErrorReport();
		AbortCurrentTransaction();
		MemoryContextSwitchTo(turn);
		FlushErrorState();
		pgstat_report_activity(STATE_IDLE, NULL);
		sleep = RETRY_AFTER_ERROR_MS;
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	return sleep;
}

/* The latch stays set meanwhile, so that nobody has to wake the worker for what is gathered. */
static void
gather(void)
{
	(void)WaitLatch(MyLatch, WL_EXIT_ON_PM_DEATH | WL_TIMEOUT, GATHER_MS, PG_WAIT_EXTENSION);
}

void
lance_cleanup_worker_main(Datum number)
{
	bool connected = lance_rest_start_worker(DatumGetInt32(number), "lance_catalog cleanup");
	MemoryContext turn = AllocSetContextCreate(TopMemoryContext, "cleanup worker turn", ALLOCSET_DEFAULT_SIZES);

	lance_wake_register(DatumGetInt32(number));
	for (;;)
	{
		long sleep;

		MemoryContextReset(turn);
		MemoryContextSwitchTo(turn);
		ResetLatch(MyLatch);
		lance_rest_housekeeping();
		if (!connected)
		{
			lance_rest_end_if_database_exists();
			sleep = DATABASE_CHECK_MS;
		}
		else if (RecoveryInProgress())
			sleep = STANDBY_CHECK_MS;
		else
		{
			sleep = clean(turn);
			pgstat_report_stat(true);
		}
		if ((WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | (sleep >= 0 ? WL_TIMEOUT : 0), sleep,
					   PG_WAIT_EXTENSION) &
			 WL_LATCH_SET) != 0)
			gather();
	}
}
