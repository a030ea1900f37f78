/*
 * deletion.h
 *	  Deletion files: which rows of a fragment are gone.
 *
 * Two kinds, format.md section 4: an Arrow IPC file with one column of row offsets (".arrow"), and a portable 32-bit
 * Roaring bitmap (".bin"), at "_deletions/<fragment>-<read version>-<id>.<kind>".
 */
#ifndef LNC_DATASET_DELETION_H
#define LNC_DATASET_DELETION_H

#include "base/roaring.h"
#include "dataset/dataset.h"

/* Deleted row offsets: ascending, disjoint, never adjacent. Ranges keep a bitmap of runs as small as it was stored. */
typedef struct LncDeletions
{
	uint64_t count; /* rows in all ranges */
	size_t nranges;
	const LncRoaringRange *ranges;
} LncDeletions;

/*
 * Read the deletion file of a fragment into arena (an empty set when it has none). LNC_CORRUPT: a damaged file, an
 * offset beyond the fragment's rows, one listed twice, or a count other than the manifest's.
 */
extern LncCode lnc_deletion_read(LncContext *ctx, LncArena *arena, const LncDataset *dataset,
								 const LncFragment *fragment, LncDeletions *out) LNC_MUST_CHECK;

#endif
