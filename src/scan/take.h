/*
 * take.h
 *	  Rows of a dataset by position, by address or by row id, in any order.
 *
 * Only what holds the rows asked for is read: of a page the chunks, values or index entries that the rows need, what
 * decoding any value of it needs (chunk table, dictionary, repetition index), and of a file its footer and the metadata
 * of the columns. Near ranges are read together. Files and pages used last stay open for the next keys.
 */
#ifndef LNC_SCAN_TAKE_H
#define LNC_SCAN_TAKE_H

#include "column/column.h"
#include "dataset/dataset.h"
#include "scan/system_columns.h"

typedef struct LncTake LncTake;

/* What the keys are. */
typedef enum LncTakeBy
{
	LNC_TAKE_POSITION, /* the number of live rows before it in scan order */
	LNC_TAKE_ADDRESS,  /* fragment id << 32 | offset, as _rowaddr */
	LNC_TAKE_ROW_ID    /* as _rowid: a stable row id where the dataset has them, else the address */
} LncTakeBy;

/* Zero-initialise, then set what is needed. Borrowed until lnc_take_open returns. */
typedef struct LncTakeSpec
{
	LncTakeBy by;
	int32_t ncolumns;        /* 0: batches carry their length and system columns alone */
	const int32_t *columns;  /* indexes of top-level fields of dataset->schema, any order, no duplicates */
	uint32_t system_columns; /* set of LncSystemColumn, appended to the columns */
	int64_t batch_rows;      /* upper bound of rows a batch; 0: 1024 */
	uint64_t batch_bytes;    /* bound of a batch's memory; 0: LNC_SCAN_BATCH_BYTES (scan.h) */
} LncTakeSpec;

/* Numbers for EXPLAIN ANALYZE, over all keys. */
typedef struct LncTakeStats
{
	uint64_t fragments; /* how often one was opened */
	uint64_t batches;
	uint64_t rows;
	uint64_t absent; /* keys without a live row */

	uint64_t retries; /* as in LncScanStats */
	uint64_t batch_peak;
	uint64_t memory_peak;
	LncUsage blobs; /* of reading blobs out of its batches */
} LncTakeStats;

/* Some of the rows. */
typedef struct LncTaken
{
	LncBatch batch;       /* the columns of the spec, system columns behind them */
	const int64_t *which; /* array of batch.length: the key, counted from 0, that each row answers; ascending */
} LncTaken;

/* Get ready to take rows. Nothing is read. The take lives in arena. LNC_UNSUPPORTED for columns of types that are not read. */
extern LncCode lnc_take_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncTakeSpec *spec,
							 LncTake **out) LNC_MUST_CHECK;

/* Take the rows of these keys from now on; those of an earlier call are dropped. keys is borrowed until they are all done. */
extern LncCode lnc_take_start(LncContext *ctx, LncTake *take, size_t nkeys, const uint64_t *keys) LNC_MUST_CHECK;

/*
 * The next rows, in the order of the keys, or *out = NULL when there are no more. A key given twice gives its row twice. One
 * that has no live row gives none: its number is missing from which. The batch lives until the next call of next or
 * start. Where a column holds blobs a batch ends with the rows of its fragment. Memory is bounded as that of a scan.
 */
extern LncCode lnc_take_next(LncContext *ctx, LncTake *take, const LncTaken **out) LNC_MUST_CHECK;

extern void lnc_take_stats(const LncTake *take, LncTakeStats *out);

#endif
