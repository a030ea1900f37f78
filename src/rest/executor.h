/*
 * executor.h
 *	  Executors: background workers that run the requests which REST workers hand over.
 */
#ifndef LANCE_REST_EXECUTOR_H
#define LANCE_REST_EXECUTOR_H

#include "postmaster/bgworker.h"

/* How the postmaster is to start an executor, which counts from 0. */
extern void lance_executor_describe(BackgroundWorker *worker, int executor);

/* In a REST worker: start one more executor if a job waits for it. */
extern void lance_executor_start_wanted(void);

#endif
