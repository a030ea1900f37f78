/*
 * statistics.h
 *	  Counters in shared memory: calls of the REST operations, work of the cleanup.
 *
 * Without shared_preload_libraries nothing is counted. They start anew with the server.
 */
#ifndef LANCE_PG_STATISTICS_H
#define LANCE_PG_STATISTICS_H

#include "datatype/timestamp.h"

typedef struct LanceCallCount
{
	char operation[48];
	int64 calls;
	int64 errors; /* of the calls, those that were answered with an error */
	int64 total_us;
	int64 max_us;
} LanceCallCount;

typedef struct LanceCleanupCount
{
	int64 done; /* items worked off */
	int64 failed;
	int64 files; /* objects removed */
} LanceCleanupCount;

typedef struct LanceStatistics
{
	TimestampTz since;
	LanceCleanupCount cleanup;
	int ncalls;
	LanceCallCount *calls; /* in the order in which the operations were first called */
} LanceStatistics;

/* Request shared memory and install the start-up hooks; call from _PG_init while preloading. */
extern void lance_statistics_init(void);

/* One call of an operation, whose name is a constant of the library. */
extern void lance_statistics_call(const char *operation, bool failed, int64 us);

/* Work that was done, to be added. */
extern void lance_statistics_cleanup(const LanceCleanupCount *work);

/* A palloc'd copy; NULL without shared memory. */
extern LanceStatistics *lance_statistics_read(void);

/* Start anew. */
extern void lance_statistics_reset(void);

#endif
