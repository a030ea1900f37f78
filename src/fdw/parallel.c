/*
 * parallel.c
 *	  One scan shared by several processes.
 *
 * All rows of the dataset, in the order of a scan, are cut into units that never reach beyond a fragment. All processes cut them
 * alike, for they read the same manifest, so that a number says which unit is meant; a counter gives each number away once.
 */
#include "postgres.h"

#include <math.h>

#include "common/hashfn.h"
#include "fdw/parallel.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "port/atomics.h"

/*
 * So many units for each process, that all end at about the same time, but none of fewer bytes than this part of what makes a
 * parallel scan worth while.
 */
#define UNITS_PER_PROCESS 16
#define UNIT_PART_OF_MIN 2

/* Rows of a unit are a multiple of this, which those of pages' pieces usually divide, and of batches are. */
#define UNIT_ROWS 4096
#define MAX_UNIT_ROWS ((uint64)256 * UNIT_ROWS)

/* What the leader's share of the work is for each worker that it also reads rows of, as the server has it. */
#define LEADER_SHARE 0.3

typedef enum Counter
{
	COUNT_FRAGMENTS,
	COUNT_ROWS,
	COUNT_DELETED,
	COUNT_FILTERED,
	COUNT_REQUESTS,
	COUNT_BYTES,
	COUNT_RECALLED,
	COUNT_BLOB_REQUESTS,
	COUNT_BLOB_BYTES,
	COUNTERS
} Counter;

typedef struct Shared
{
	pg_atomic_uint64 next_unit;
	pg_atomic_uint64 counters[COUNTERS]; /* of all workers, also those of turns that are over */
	uint64 unit_rows;
	uint64 fingerprint; /* of the fragments */
	char pin[FLEXIBLE_ARRAY_MEMBER];
} Shared;

struct LanceParallel
{
	bool leads;
	Shared *shared;
	bool shut_down; /* the leader's shared memory may be gone */
	const LncDataset *dataset;
	uint64 *first_units;   /* by fragment: the number of its first unit; nfragments + 1 long */
	const LncScan *scan;   /* whose rows are told; NULL: of none */
	const LncContext *ctx; /* NULL: nothing was opened */
	uint64 told[COUNTERS]; /* a worker: what it has added to the shared ones; the leader: what those came to */
	uint64 past[COUNTERS]; /* the leader: of shared memory that is gone */
};

/* ---- planning */

int
lance_parallel_workers(RelOptInfo *baserel, double pages)
{
	if (!baserel->consider_parallel || !bms_is_empty(baserel->lateral_relids))
		return 0;
	return compute_parallel_worker(baserel, pages, -1, max_parallel_workers_per_gather);
}

double
lance_parallel_divisor(int workers)
{
	return workers + (parallel_leader_participation ? Max(1 - LEADER_SHARE * workers, 0) : 0);
}

/* ---- what is shared */

/* Tells datasets apart that were made one after the other in the same place: names of data files are never used again. */
static uint64
fingerprint_of(const LncDataset *dataset)
{
	uint64 hash = dataset->version ^ (uint64)dataset->timestamp_us;

	for (int32 i = 0; i < dataset->nfragments; i++)
	{
		const LncFragment *fragment = &dataset->fragments[i];
		uint64 numbers[] = {hash, fragment->id, fragment->physical_rows, fragment->deletion_kind,
							fragment->deletion_id};

		hash = hash_bytes_extended((const unsigned char *)numbers, sizeof(numbers), 0);
		for (int32 j = 0; j < fragment->nfiles; j++)
			hash = hash_bytes_extended((const unsigned char *)fragment->files[j].path,
									   (int)strlen(fragment->files[j].path), hash);
	}
	return hash;
}

static uint64
choose_unit_rows(const LncDataset *dataset, int processes)
{
	double rows = 1;
	double bytes = 1;
	double least = (double)min_parallel_table_scan_size * BLCKSZ / UNIT_PART_OF_MIN;
	double wanted;

	for (int32 i = 0; i < dataset->nfragments; i++)
	{
		rows += (double)dataset->fragments[i].physical_rows;
		for (int32 j = 0; j < dataset->fragments[i].nfiles; j++)
			bytes += (double)dataset->fragments[i].files[j].size;
	}
	wanted = Max(rows / (processes * UNITS_PER_PROCESS), least / (bytes / rows));

	/* What an object store is asked for ahead of use would be asked for in vain at the end of each unit. */
	if (!lnc_store_near(dataset->store))
		return (uint64)Max(ceil(rows / processes), 1);
	wanted = ceil(wanted / UNIT_ROWS) * UNIT_ROWS;
	return (uint64)Max(Min(wanted, (double)MAX_UNIT_ROWS), (double)UNIT_ROWS);
}

static void
cut_units(LanceParallel *parallel)
{
	const LncDataset *dataset = parallel->dataset;
	uint64 unit_rows = parallel->shared->unit_rows;
	uint64 units = 0;

	if (parallel->first_units == NULL)
		parallel->first_units =
			MemoryContextAllocHuge(CurrentMemoryContext, ((Size)dataset->nfragments + 1) * sizeof(uint64));
	for (int32 i = 0; i < dataset->nfragments; i++)
	{
		parallel->first_units[i] = units;
		units += dataset->fragments[i].physical_rows / unit_rows +
				 (dataset->fragments[i].physical_rows % unit_rows > 0 ? 1 : 0);
	}
	parallel->first_units[dataset->nfragments] = units;
}

Size
lance_parallel_size(const LanceSource *source)
{
	return offsetof(Shared, pin) + lance_source_pin_size(source);
}

static void
remember_counters(LanceParallel *parallel)
{
	for (int i = 0; i < COUNTERS; i++)
		parallel->told[i] = parallel->past[i] + pg_atomic_read_u64(&parallel->shared->counters[i]);
}

void
lance_parallel_start(LanceParallel **parallel, LanceSource *source, const ParallelContext *pcxt, void *coordinate)
{
	LanceParallel *mine = *parallel != NULL ? *parallel : palloc0(sizeof(*mine));
	Shared *shared = coordinate;

	pg_atomic_init_u64(&shared->next_unit, 0);
	for (int i = 0; i < COUNTERS; i++)
		pg_atomic_init_u64(&shared->counters[i], 0);
	shared->unit_rows = choose_unit_rows(source->dataset, pcxt->nworkers + (parallel_leader_participation ? 1 : 0));
	shared->fingerprint = fingerprint_of(source->dataset);
	lance_source_pin_write(source, shared->pin);

	memcpy(mine->past, mine->told, sizeof(mine->past));
	mine->leads = true;
	mine->shut_down = false;
	mine->shared = shared;
	mine->dataset = source->dataset;
	cut_units(mine);
	*parallel = mine;
}

void
lance_parallel_restart(LanceParallel *parallel)
{
	pg_atomic_write_u64(&parallel->shared->next_unit, 0);
}

bool
lance_parallel_is_worker(const ForeignScanState *node)
{
	return node->ss.ps.plan->parallel_aware && IsParallelWorker();
}

LanceParallel *
lance_parallel_attach(void *coordinate, const LanceTableOptions *options, Oid userid, EState *estate,
					  LanceSource **source)
{
	LanceParallel *parallel = palloc0(sizeof(*parallel));

	parallel->shared = coordinate;
	*source = lance_source_open_pin(parallel->shared->pin, options, userid, estate);
	parallel->dataset = (*source)->dataset;
	if (fingerprint_of(parallel->dataset) != parallel->shared->fingerprint)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("dataset at \"%s\" was replaced while the query was reading it", (*source)->location),
				 errdetail("Version %llu is not the one that the query began to read.",
						   (unsigned long long)parallel->dataset->version),
				 errhint("Run the query again.")));
	cut_units(parallel);
	return parallel;
}

/* ---- handing out */

/* A worker: add to the shared counters what has come to those of its own since it last did. */
static void
tell(LanceParallel *parallel)
{
	LncScanStats stats = {0};
	uint64 now[COUNTERS];

	if (parallel->leads || parallel->ctx == NULL)
		return;
	if (parallel->scan != NULL)
		lnc_scan_stats(parallel->scan, &stats);
	now[COUNT_FRAGMENTS] = stats.fragments;
	now[COUNT_ROWS] = stats.rows;
	now[COUNT_DELETED] = stats.rows_deleted;
	now[COUNT_FILTERED] = stats.rows_filtered;
	now[COUNT_REQUESTS] = parallel->ctx->usage.requests;
	now[COUNT_BYTES] = parallel->ctx->usage.bytes_read;
	now[COUNT_RECALLED] = parallel->ctx->usage.recalled;
	now[COUNT_BLOB_REQUESTS] = stats.blobs.requests;
	now[COUNT_BLOB_BYTES] = stats.blobs.bytes_read;
	for (int i = 0; i < COUNTERS; i++)
	{
		pg_atomic_fetch_add_u64(&parallel->shared->counters[i], (int64)(now[i] - parallel->told[i]));
		parallel->told[i] = now[i];
	}
}

/* LncScanSpec.next_range */
static bool
next_range(void *arg, LncRowRange *out)
{
	LanceParallel *parallel = arg;
	int32 nfragments = parallel->dataset->nfragments;
	const uint64 *first_units = parallel->first_units;
	uint64 unit;
	int32 low = 0;
	int32 high = nfragments;

	tell(parallel);
	unit = pg_atomic_fetch_add_u64(&parallel->shared->next_unit, 1);
	if (unit >= first_units[nfragments])
		return false;

	/* The last fragment whose first unit is not behind it: those without rows have no unit. */
	while (high - low > 1)
	{
		int32 middle = low + (high - low) / 2;

		if (first_units[middle] <= unit)
			low = middle;
		else
			high = middle;
	}
	out->fragment = low;
	out->first = (unit - first_units[low]) * parallel->shared->unit_rows;
	out->count = Min(parallel->shared->unit_rows, parallel->dataset->fragments[low].physical_rows - out->first);
	return true;
}

void
lance_parallel_ranges(LanceParallel *parallel, LncScanSpec *spec)
{
	spec->next_range = next_range;
	spec->range_arg = parallel;
}

void
lance_parallel_watch(LanceParallel *parallel, const LncScan *scan, const LncContext *ctx)
{
	parallel->scan = scan;
	parallel->ctx = ctx;
}

void
lance_parallel_shutdown(LanceParallel *parallel)
{
	if (parallel == NULL || parallel->shut_down)
		return;
	if (parallel->leads)
		remember_counters(parallel);
	else
		tell(parallel);
	parallel->shut_down = true;
}

void
lance_parallel_add_stats(const LanceParallel *parallel, LncScanStats *stats, LncUsage *usage)
{
	if (parallel == NULL)
		return;
	stats->fragments += parallel->told[COUNT_FRAGMENTS];
	stats->rows += parallel->told[COUNT_ROWS];
	stats->rows_deleted += parallel->told[COUNT_DELETED];
	stats->rows_filtered += parallel->told[COUNT_FILTERED];
	stats->blobs.requests += parallel->told[COUNT_BLOB_REQUESTS];
	stats->blobs.bytes_read += parallel->told[COUNT_BLOB_BYTES];
	usage->requests += parallel->told[COUNT_REQUESTS];
	usage->bytes_read += parallel->told[COUNT_BYTES];
	usage->recalled += parallel->told[COUNT_RECALLED];
}
