/*
 * parallel.h
 *	  One scan shared by several processes: who reads which rows, of the very version that the leader reads.
 *
 * Shared memory holds what the leader has chosen (place and version; no secrets), a counter of units of rows that are handed
 * out, and what workers have to tell for EXPLAIN. A worker opens the dataset by itself, with the rights and keys of its role.
 */
#ifndef LANCE_FDW_PARALLEL_H
#define LANCE_FDW_PARALLEL_H

#include "access/parallel.h"
#include "fdw/source.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "scan/scan.h"

/* What one process has of a shared scan. Lives in the memory context that is current when it is made. */
typedef struct LanceParallel LanceParallel;

/* ---- planning */

/* Workers for a scan of so many pages, as for a table of PostgreSQL's own; 0: none. */
extern int lance_parallel_workers(RelOptInfo *baserel, double pages);

/* What is divided by this is the share of one of the processes, the leader among them. */
extern double lance_parallel_divisor(int workers);

/* ---- execution */

/* Whether the node runs in a worker that shares it: what it reads is told it by lance_parallel_attach. */
extern bool lance_parallel_is_worker(const ForeignScanState *node);

/* Bytes of shared memory. */
extern Size lance_parallel_size(const LanceSource *source);

/*
 * In the leader: fill coordinate. *parallel is made, or, when the node gets shared memory once more, used again, so that a scan
 * that is open already goes on by it.
 */
extern void lance_parallel_start(LanceParallel **parallel, LanceSource *source, const ParallelContext *pcxt,
								 void *coordinate);

/* In the leader: all rows are to be read again, by other workers. */
extern void lance_parallel_restart(LanceParallel *parallel);

/*
 * In a worker: join. *source is the dataset at the leader's version, as lance_source_open gives it. Throws 40001 when what
 * lies there is no longer what the leader reads.
 */
extern LanceParallel *lance_parallel_attach(void *coordinate, const LanceTableOptions *options, Oid userid,
											EState *estate, LanceSource **source);

/* Have the scan read what is handed out: set before the scan is opened. */
extern void lance_parallel_ranges(LanceParallel *parallel, LncScanSpec *spec);

/* The scan that reads it, whose numbers workers tell, and what is asked of stores. Borrowed; no scan: its rows don't count. */
extern void lance_parallel_watch(LanceParallel *parallel, const LncScan *scan, const LncContext *ctx);

/* No more rows will be asked for: workers tell their numbers, the leader notes them. NULL is allowed. */
extern void lance_parallel_shutdown(LanceParallel *parallel);

/* In the leader: add what workers have told. NULL is allowed. */
extern void lance_parallel_add_stats(const LanceParallel *parallel, LncScanStats *stats, LncUsage *usage);

#endif
