/*
 * scan.h
 *	  Turning a scan specification into batches of live rows.
 */
#ifndef LNC_SCAN_SCAN_H
#define LNC_SCAN_SCAN_H

#include "column/column.h"
#include "dataset/dataset.h"
#include "scan/predicate.h"
#include "scan/system_columns.h"

typedef struct LncScan LncScan;

/* Rows of a fragment as they are stored, deleted ones included. */
typedef struct LncRowRange
{
	int32_t fragment; /* index into dataset->fragments */
	uint64_t first;
	uint64_t count;
} LncRowRange;

/* Zero-initialise, then set what is needed. Borrowed until lnc_scan_open returns. */
typedef struct LncScanSpec
{
	int32_t ncolumns;        /* 0: rows are only counted; batches carry their length and system columns alone */
	const int32_t *columns;  /* indexes of top-level fields of dataset->schema, any order, no duplicates */
	uint32_t system_columns; /* set of LncSystemColumn, appended to the columns */

	/* NULL: all rows. Else those for which it is true; its leaves look at the columns. Borrowed while the scan lives. */
	const LncPredicate *filter;
	int32_t nhidden; /* so many of the last columns are there for the filter alone: they are absent in batches */
	const bool *
		presence; /* of each column: only which rows are NULL is asked of it, unless the filter looks at it; NULL: of none */
	int64_t batch_rows;   /* upper bound of rows a batch; 0: 4096 */
	int64_t first_rows;   /* of the first batch, from which the next ones grow; 0: 64 */
	uint64_t batch_bytes; /* bound of a batch's memory; 0: LNC_SCAN_BATCH_BYTES */

	/*
	 * NULL: all fragments are read. Else tells which rows are to be read next, false when there are no more: several
	 * scans can share a dataset. Files stay open from one range of a fragment to the next. range_arg is borrowed while the
	 * scan lives.
	 */
	bool (*next_range)(void *range_arg, LncRowRange *out);
	void *range_arg;
} LncScanSpec;

/* What making a batch may take unless the specification says otherwise, in bytes. */
#define LNC_SCAN_BATCH_BYTES ((uint64_t)32 * 1024 * 1024)

/* Numbers for EXPLAIN ANALYZE. */
typedef struct LncScanStats
{
	uint64_t fragments;
	uint64_t batches;
	uint64_t rows;
	uint64_t rows_deleted;
	uint64_t rows_filtered; /* live, and left out by the filter */
	uint64_t retries;       /* batches begun again with fewer rows, because they took too much memory */
	uint64_t batch_peak;    /* most bytes taken for one batch of more than one row */
	uint64_t memory_peak;   /* most bytes taken at once by all arenas of the scan */
	LncUsage blobs;         /* of reading blobs out of its batches */
} LncScanStats;

/*
 * Start a scan over all fragments, in manifest order, or over the ranges that the specification gives. A column whose type or encoding is not read is LNC_UNSUPPORTED
 * here or at the first batch that meets it; the error names column, encoding and file. The scan lives in arena.
 */
extern LncCode lnc_scan_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncScanSpec *spec,
							 LncScan **out) LNC_MUST_CHECK;

/*
 * The next batch, or *out = NULL at the end. Columns come in the order of the spec, system columns behind them. The
 * batch lives in an arena of the scan's own until the next call of next or rewind. It has so many rows that what is
 * taken to make it stays within batch_bytes; a row that takes more comes alone.
 */
extern LncCode lnc_scan_next(LncContext *ctx, LncScan *scan, const LncBatch **out) LNC_MUST_CHECK;

/* Start again from the first fragment, or with the range that is given next. */
extern LncCode lnc_scan_rewind(LncContext *ctx, LncScan *scan) LNC_MUST_CHECK;

/* The same with another filter. It is borrowed while the scan lives. */
extern LncCode lnc_scan_filter(LncContext *ctx, LncScan *scan, const LncPredicate *filter) LNC_MUST_CHECK;

extern void lnc_scan_stats(const LncScan *scan, LncScanStats *out);

#endif
