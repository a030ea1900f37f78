/*
 * worker.c
 *	  Registration of the background workers, and the loop of a REST worker.
 *
 * A REST worker is single-threaded: it waits on one event set (latch, postmaster, the HTTP library, clients that hang up, the
 * listening sockets), runs what takes no time and hands the rest to executors (front.c). While it waits it holds no
 * transaction and no snapshot, and nothing wakes it but events. How it meets a missing database is told at connect_or_wait().
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "pg/guc.h"
#include "pg/wake.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "rest/bearer.h"
#include "rest/executor.h"
#include "rest/front.h"
#include "rest/handshake.h"
#include "rest/hangup.h"
#include "rest/http.h"
#include "rest/job.h"
#include "rest/listen.h"
#include "rest/main.h"
#include "rest/release.h"
#include "rest/tls.h"
#include "rest/turns.h"
#include "rest/worker.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/sinval.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

/* Seconds until the postmaster starts a worker that ended again. */
#define RESTART_SECONDS 5

/* How often a worker whose requests are elsewhere looks after them, besides when it is told. */
#define WATCH_JOBS_MS 500

/* How often a worker looks whether its missing database has come. */
#define DATABASE_CHECK_MS 5000

typedef struct RestShared
{
	pg_atomic_uint32 database_missing; /* the last attempt to connect failed: look before the next */
} RestShared;

static RestShared *rest_shared;
static shmem_request_hook_type previous_request_hook;
static shmem_startup_hook_type previous_startup_hook;
static bool database_connected;

/* ---- in the postmaster */

static void
rest_shmem_request(void)
{
	if (previous_request_hook != NULL)
		previous_request_hook();
	RequestAddinShmemSpace(sizeof(RestShared));
	RequestAddinShmemSpace(lance_release_shmem_size());
	RequestAddinShmemSpace(lance_jobs_shmem_size());
	RequestAddinShmemSpace(lance_turns_shmem_size());
	lance_jobs_request_locks();
}

static void
rest_shmem_startup(void)
{
	bool found;

	if (previous_startup_hook != NULL)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	rest_shared = ShmemInitStruct("lance_catalog REST", sizeof(RestShared), &found);
	if (!found)
		pg_atomic_init_u32(&rest_shared->database_missing, 0);
	lance_release_shmem_init();
	lance_jobs_shmem_init();
	lance_turns_shmem_init();
	LWLockRelease(AddinShmemInitLock);
}

static void
register_worker(const char *name, const char *type, const char *function, int number)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_ConsistentState,
		.bgw_restart_time = RESTART_SECONDS,
		.bgw_library_name = "lance_catalog",
		.bgw_main_arg = Int32GetDatum(number),
	};

	strlcpy(worker.bgw_name, name, BGW_MAXLEN);
	strlcpy(worker.bgw_type, type, BGW_MAXLEN);
	strlcpy(worker.bgw_function_name, function, BGW_MAXLEN);
	RegisterBackgroundWorker(&worker);
}

static void
register_rest_worker(int number)
{
	register_worker(psprintf("lance_catalog REST worker %d", number), "lance_catalog REST worker",
					"lance_rest_worker_main", number);
}

static void
register_executor(void)
{
	BackgroundWorker worker = {.bgw_restart_time = RESTART_SECONDS};

	lance_executor_describe(&worker, 0);
	RegisterBackgroundWorker(&worker);
}

int
lance_rest_executor_number(int executor)
{
	return 1 + lance_guc_rest_workers + executor;
}

void
lance_rest_init(void)
{
	bool listening;

	if (lance_guc_rest_workers == 0 || !IsPostmasterEnvironment)
		return;
	lance_wake_init(1);
	lance_release_init(lance_rest_executor_number(lance_guc_rest_executors));
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = rest_shmem_request;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = rest_shmem_startup;
	listening = lance_rest_listen();

	/* Where max_worker_processes is too small the later ones are missing: so there is one of each kind before there are more. */
	if (listening)
	{
		register_rest_worker(1);
		register_executor();
	}
	register_worker("lance_catalog cleanup worker", "lance_catalog cleanup worker", "lance_cleanup_worker_main", 0);
	for (int i = 2; listening && i <= lance_guc_rest_workers; i++)
		register_rest_worker(i);
}

/* ---- in a worker */

static void
note_failed_connection(int code, Datum arg)
{
	if (!database_connected)
		pg_atomic_write_u32(&rest_shared->database_missing, 1);
}

/*
 * Connect to the served database. When that fails the server ends the process (that is the one line in its log) and
 * starts it again; the new one then connects to no database, so that it can see in pg_database whether the database
 * has come, and ends when it has. Returns false in that state.
 */
static bool
connect_or_wait(int number)
{
	if (pg_atomic_read_u32(&rest_shared->database_missing) != 0)
	{
		BackgroundWorkerInitializeConnection(NULL, NULL, 0);
		return false;
	}
	before_shmem_exit(note_failed_connection, (Datum)0);
	BackgroundWorkerInitializeConnection(lance_guc_rest_database, NULL, 0);
	database_connected = true;
	lance_release_register(number);
	return true;
}

void
lance_rest_end_if_database_exists(void)
{
	bool exists;

	StartTransactionCommand();
	exists = OidIsValid(get_database_oid(lance_guc_rest_database, true));
	CommitTransactionCommand();
	if (exists)
	{
		pg_atomic_write_u32(&rest_shared->database_missing, 0);
		proc_exit(1);
	}
}

bool
lance_rest_start_worker(int number, const char *name)
{
	bool connected;

	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	connected = connect_or_wait(number);
	SetConfigOption("application_name", name, PGC_USERSET, PGC_S_SESSION);
	SetConfigOption("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION);
	pgstat_report_activity(STATE_IDLE, NULL);
	return connected;
}

void
lance_rest_housekeeping(void)
{
	QueryCancelPending = false; /* there is nothing to cancel between requests */
	InterruptPending = true;    /* a cancel that was thrown may have hidden what came with it */
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
		lance_bearer_reload();
		lance_tls_reload();
	}
	if (catchupInterruptPending)
		ProcessCatchupInterrupt();
}

/* The shorter of two waits; -1 is no limit. */
static long
shorter(long a, long b)
{
	if (a < 0 || b < 0)
		return Max(a, b);
	return Min(a, b);
}

static WaitEventSet *
create_event_set(int *size)
{
	const pgsocket *sockets;
	int count = lance_rest_listen_sockets(&sockets);
	bool tls = lance_handshake_descriptor() != PGINVALID_SOCKET;
	WaitEventSet *set;

	*size = count + (tls ? 5 : 4);
	set = CreateWaitEventSet(TopMemoryContext, *size);

	AddWaitEventToSet(set, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(set, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	AddWaitEventToSet(set, WL_SOCKET_READABLE, lance_http_descriptor(), NULL, NULL);
	AddWaitEventToSet(set, WL_SOCKET_READABLE, lance_hangup_descriptor(), NULL, NULL);
	if (tls)
		AddWaitEventToSet(set, WL_SOCKET_READABLE, lance_handshake_descriptor(), NULL, NULL);
	for (int i = 0; i < count; i++)
		AddWaitEventToSet(set, WL_SOCKET_READABLE, sockets[i], NULL, unconstify(pgsocket *, &sockets[i]));
	return set;
}

/* Serve for ever. Each turn takes at most one new connection, which leaves the others to idle workers. */
static void
pg_attribute_noreturn() serve(bool connected)
{
	MemoryContext turn = AllocSetContextCreate(TopMemoryContext, "REST worker turn", ALLOCSET_DEFAULT_SIZES);
	int size;
	WaitEventSet *set = create_event_set(&size);
	WaitEvent *events = MemoryContextAlloc(TopMemoryContext, sizeof(WaitEvent) * size);

	for (;;)
	{
		long timeout;
		int n;

		MemoryContextReset(turn);
		MemoryContextSwitchTo(turn);
		lance_rest_housekeeping();
		lance_front_collect();
		timeout = lance_http_run();
		timeout = shorter(timeout, lance_turn_timeout());
		if (lance_jobs_under_way())
		{
			lance_executor_start_wanted();
			timeout = shorter(timeout, WATCH_JOBS_MS);
		}
		if (connected)
		{
			long until_report = pgstat_report_stat(false);

			if (until_report > 0)
				timeout = shorter(timeout, until_report);
		}
		else
		{
			lance_rest_end_if_database_exists();
			timeout = shorter(timeout, DATABASE_CHECK_MS);
		}
		n = WaitEventSetWait(set, timeout, events, size, PG_WAIT_EXTENSION);
		for (int i = 0; i < n; i++)
		{
			if (events[i].events & WL_LATCH_SET)
				ResetLatch(MyLatch);
			else if (events[i].user_data != NULL && !ProcDiePending)
				lance_http_accept(*(pgsocket *)events[i].user_data);
		}
	}
}

void
lance_rest_worker_main(Datum number)
{
	bool connected = lance_rest_start_worker(DatumGetInt32(number), "lance_catalog REST");

	lance_front_start(DatumGetInt32(number), connected);
	serve(connected);
}
