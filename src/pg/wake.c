/*
 * wake.c
 *	  Latches of the background workers in shared memory, set after commits that left them work.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pg/wake.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"

/*
 * A latch pointer stays valid for the life of the server: it points into the shared PGPROC array. Setting one that
 * meanwhile serves another process costs that process one spurious wake-up, which all latch users allow for.
 */
typedef struct WakeArea
{
	slock_t mutex;
	int nworkers;
	Latch *latches[FLEXIBLE_ARRAY_MEMBER]; /* NULL: no such worker now */
} WakeArea;

static WakeArea *wake_area;
static int requested_workers;
static int my_worker = -1;
static bool wake_wanted;
static bool callback_registered;
static shmem_request_hook_type previous_request_hook;
static shmem_startup_hook_type previous_startup_hook;

static Size
wake_size(void)
{
	return add_size(offsetof(WakeArea, latches), mul_size(requested_workers, sizeof(Latch *)));
}

static void
wake_request(void)
{
	if (previous_request_hook != NULL)
		previous_request_hook();
	RequestAddinShmemSpace(wake_size());
}

static void
wake_startup(void)
{
	bool found;

	if (previous_startup_hook != NULL)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	wake_area = ShmemInitStruct("lance_catalog wake-up", wake_size(), &found);
	if (!found)
	{
		memset(wake_area, 0, wake_size());
		SpinLockInit(&wake_area->mutex);
		wake_area->nworkers = requested_workers;
	}
	LWLockRelease(AddinShmemInitLock);
}

void
lance_wake_init(int workers)
{
	requested_workers = workers;
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = wake_request;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = wake_startup;
}

static void
set_latch_of(int worker, Latch *latch)
{
	SpinLockAcquire(&wake_area->mutex);
	wake_area->latches[worker] = latch;
	SpinLockRelease(&wake_area->mutex);
}

static void
wake_withdraw(int code, Datum arg)
{
	set_latch_of(my_worker, NULL);
}

void
lance_wake_register(int worker)
{
	if (wake_area == NULL)
		return;
	if (worker < 0 || worker >= wake_area->nworkers)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("worker number %d is out of range", worker)));
	if (my_worker < 0)
		before_shmem_exit(wake_withdraw, (Datum)0);
	my_worker = worker;
	set_latch_of(worker, MyLatch);
}

/* Runs after the commit has become visible; must not throw. */
static void
wake_xact_callback(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT && wake_wanted)
	{
		for (int i = 0; i < wake_area->nworkers; i++)
		{
			Latch *latch;

			SpinLockAcquire(&wake_area->mutex);
			latch = wake_area->latches[i];
			SpinLockRelease(&wake_area->mutex);
			if (latch != NULL)
				SetLatch(latch);
		}
	}
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
		wake_wanted = false;
}

void
lance_wake_at_commit(void)
{
	if (wake_area == NULL)
		return;
	if (!callback_registered)
	{
		RegisterXactCallback(wake_xact_callback, NULL);
		callback_registered = true;
	}
	wake_wanted = true;
}
