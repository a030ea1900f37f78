/*
 * live_rows.h
 *	  Finding live rows of a dataset by place: which are deleted, which row has an address, which is the n-th.
 */
#ifndef LNC_DATASET_LIVE_ROWS_H
#define LNC_DATASET_LIVE_ROWS_H

#include "dataset/dataset.h"

/* The deletions of the fragments asked for so far: each deletion file is read once, when it is first needed. */
typedef struct LncLiveRows LncLiveRows;

/* Nothing is read yet. Lives in arena; dataset is borrowed. */
extern LncCode lnc_live_rows_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset,
								  LncLiveRows **out) LNC_MUST_CHECK;

/* Whether row offset, which is inside the fragment of that index, is live. Errors as lnc_deletion_read. */
extern LncCode lnc_live_rows_check(LncContext *ctx, LncLiveRows *rows, int32_t fragment, uint64_t offset,
								   bool *live) LNC_MUST_CHECK;

/* The live row of that address (row_ids.h): index into dataset->fragments and offset. *found is false when there is none. */
extern LncCode lnc_live_rows_at_address(LncContext *ctx, LncLiveRows *rows, uint64_t address, bool *found,
										int32_t *fragment, uint64_t *offset) LNC_MUST_CHECK;

/*
 * The live row that comes after position others in scan order, likewise. The first call reads the deletion files
 * whose number of rows the manifest does not state.
 */
extern LncCode lnc_live_rows_at_position(LncContext *ctx, LncLiveRows *rows, uint64_t position, bool *found,
										 int32_t *fragment, uint64_t *offset) LNC_MUST_CHECK;

#endif
