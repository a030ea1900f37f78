/*
 * job.h
 *	  Requests on their way from the worker that holds the connection to the executor that runs them, and back.
 *
 * A job is one request, or its reply, in shared memory. A worker submits it and goes on serving; an executor takes it, runs it
 * and hands the reply in; the worker's latch is set, and it collects. No caller holds more than three quarters of the
 * executors, so that one whose store hangs leaves some to others. A process that ends gives up what it had: the jobs of
 * a worker are dropped, those of an executor are answered with an error.
 */
#ifndef LANCE_REST_JOB_H
#define LANCE_REST_JOB_H

#include "rest/request.h"

typedef struct LanceJob LanceJob;

/* What became of a job. */
typedef enum LanceJobEnd
{
	LANCE_JOB_ANSWERED,
	LANCE_JOB_NOT_RUN, /* no executor took it in time: nothing was done */
	LANCE_JOB_LOST     /* the executor ended while it ran: it may have been done or not */
} LanceJobEnd;

/* Shared memory: how much, its set-up (under AddinShmemInitLock), and the locks that it needs. */
extern Size lance_jobs_shmem_size(void);
extern void lance_jobs_shmem_init(void);
extern void lance_jobs_request_locks(void);

/* ---- the worker's side; worker counts from 1 */

/* The process is that worker from here to its end. */
extern void lance_jobs_join_as_worker(int worker);

/*
 * Queue a request. caller tells who sent it: equal numbers, one caller. The request must stay until it is collected. False:
 * no room, or no memory.
 */
extern bool lance_job_submit(LanceRestRequest *request, uint32 caller);

/*
 * One request that is through, with its reply in the request's context when it was answered. NULL: none now. Those
 * that have waited for longer than wait_ms are given back as not run (0: no limit).
 */
extern LanceRestRequest *lance_job_collect(LanceRestReply *reply, LanceJobEnd *end, int wait_ms);

/* Are there jobs of this worker under way? */
extern bool lance_jobs_under_way(void);

/* Number of an executor that should be started, because a job waits and all others are busy; -1: none. */
extern int lance_jobs_wanted_executor(void);

/* It couldn't be started. */
extern void lance_jobs_executor_failed(int executor);

/* ---- the executor's side; executor counts from 0 */

/* The process is that executor from here to its end, but takes no jobs yet. False: another one is. */
extern bool lance_jobs_join_as_executor(int executor);

/*
 * The next job of this executor, as a request in context (its route matched), NULL when there is none: its latch is set
 * when one comes.
 */
extern LanceRestRequest *lance_job_take(MemoryContext context);

/* The reply of the job that was taken. */
extern void lance_job_answer(const LanceRestReply *reply);

/* Leave, unless a job has come. True: the process is no executor any more. */
extern bool lance_jobs_leave(void);

#endif
