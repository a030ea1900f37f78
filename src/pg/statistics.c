/*
 * statistics.c
 *	  Counters in shared memory.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pg/statistics.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/timestamp.h"

/* More than the specification has operations. */
#define MAX_OPERATIONS 128

typedef struct StatisticsArea
{
	slock_t mutex; /* held for a few additions, or one copy */
	TimestampTz since;
	LanceCleanupCount cleanup;
	int ncalls;
	LanceCallCount calls[MAX_OPERATIONS];
} StatisticsArea;

static StatisticsArea *area;
static shmem_request_hook_type previous_request_hook;
static shmem_startup_hook_type previous_startup_hook;

/* Places that this process knows, by the address of the operation's name. A reset keeps the places. */
static const char *known[MAX_OPERATIONS];

static void
statistics_request(void)
{
	if (previous_request_hook != NULL)
		previous_request_hook();
	RequestAddinShmemSpace(sizeof(StatisticsArea));
}

static void
statistics_startup(void)
{
	bool found;

	if (previous_startup_hook != NULL)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	area = ShmemInitStruct("lance_catalog statistics", sizeof(StatisticsArea), &found);
	if (!found)
	{
		memset(area, 0, sizeof(*area));
		SpinLockInit(&area->mutex);
		area->since = GetCurrentTimestamp();
	}
	LWLockRelease(AddinShmemInitLock);
}

void
lance_statistics_init(void)
{
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = statistics_request;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = statistics_startup;
}

/* The place of an operation, made when it has none; -1 when there is no room. */
static int
place_of(const char *operation)
{
	int place;

	for (place = 0; place < MAX_OPERATIONS; place++)
	{
		if (known[place] == operation)
			return place;
	}
	SpinLockAcquire(&area->mutex);
	for (place = 0; place < area->ncalls; place++)
	{
		if (strncmp(area->calls[place].operation, operation, sizeof(area->calls[place].operation) - 1) == 0)
			break;
	}
	if (place == area->ncalls && place < MAX_OPERATIONS)
	{
		strlcpy(area->calls[place].operation, operation, sizeof(area->calls[place].operation));
		area->ncalls++;
	}
	SpinLockRelease(&area->mutex);
	if (place == MAX_OPERATIONS)
		return -1;
	known[place] = operation;
	return place;
}

void
lance_statistics_call(const char *operation, bool failed, int64 us)
{
	LanceCallCount *count;
	int place;

	if (area == NULL)
		return;
	place = place_of(operation);
	if (place < 0)
		return;
	count = &area->calls[place];
	SpinLockAcquire(&area->mutex);
	count->calls++;
	count->errors += failed;
	count->total_us += us;
	count->max_us = Max(count->max_us, us);
	SpinLockRelease(&area->mutex);
}

void
lance_statistics_cleanup(const LanceCleanupCount *work)
{
	if (area == NULL)
		return;
	SpinLockAcquire(&area->mutex);
	area->cleanup.done += work->done;
	area->cleanup.failed += work->failed;
	area->cleanup.files += work->files;
	SpinLockRelease(&area->mutex);
}

LanceStatistics *
lance_statistics_read(void)
{
	LanceStatistics *copy;

	if (area == NULL)
		return NULL;
	copy = palloc0(sizeof(*copy));
	copy->calls = palloc0(sizeof(area->calls));
	SpinLockAcquire(&area->mutex);
	copy->since = area->since;
	copy->cleanup = area->cleanup;
	copy->ncalls = area->ncalls;
	memcpy(copy->calls, area->calls, area->ncalls * sizeof(LanceCallCount));
	SpinLockRelease(&area->mutex);
	return copy;
}

void
lance_statistics_reset(void)
{
	TimestampTz now = GetCurrentTimestamp();

	if (area == NULL)
		return;
	SpinLockAcquire(&area->mutex);
	area->since = now;
	memset(&area->cleanup, 0, sizeof(area->cleanup));
	for (int i = 0; i < area->ncalls; i++)
	{
		area->calls[i].calls = 0;
		area->calls[i].errors = 0;
		area->calls[i].total_us = 0;
		area->calls[i].max_us = 0;
	}
	SpinLockRelease(&area->mutex);
}
