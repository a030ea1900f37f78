/*
 * table_stats.h
 *	  Numbers about a version as a whole: bytes, live rows, indices, how its rows spread over fragments.
 */
#ifndef LNC_DATASET_TABLE_STATS_H
#define LNC_DATASET_TABLE_STATS_H

#include "dataset/dataset.h"

/* Fragments with fewer live rows are small: worth compacting. */
#define LNC_SMALL_FRAGMENT 100000

/* Of the live rows of fragments; all 0 when there is none. */
typedef struct LncLengthStats
{
	uint64_t min, max, mean;
	uint64_t p25, p50, p75, p99; /* the one at place (n - 1) * p / 100, rounded down */
} LncLengthStats;

typedef struct LncTableStats
{
	uint64_t bytes;   /* of data files, as stored */
	uint64_t rows;    /* live */
	uint64_t indices; /* by name, without those that the format keeps for itself */
	uint64_t fragments;
	uint64_t small_fragments;
	LncLengthStats lengths;
} LncTableStats;

/* Sizes and deletion counts that the manifest does not state are looked up in the store. */
extern LncCode lnc_table_stats(LncContext *ctx, const LncDataset *dataset, LncTableStats *out) LNC_MUST_CHECK;

#endif
