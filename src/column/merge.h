/*
 * merge.h
 *	  Putting together a column tree whose parts were read one by one.
 */
#ifndef LNC_COLUMN_MERGE_H
#define LNC_COLUMN_MERGE_H

#include "column/column.h"

/*
 * Take over into *into, a tree of the same type, the parts that part has and it lacks. Shapes (lengths, offsets) of
 * what both have must be equal, validity is that of *into; a leaf that both have is LNC_CORRUPT, as are shapes that differ.
 * The children arrays of into are changed; buffers are shared with part.
 */
extern LncCode lnc_column_merge(LncContext *ctx, LncColumn *into, const LncColumn *part) LNC_MUST_CHECK;

/* Put NULLs in the place of all that is absent from the tree; children arrays are changed. */
extern LncCode lnc_column_fill_absent(LncContext *ctx, LncArena *arena, LncColumn *column) LNC_MUST_CHECK;

#endif
