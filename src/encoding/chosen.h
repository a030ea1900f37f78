/*
 * chosen.h
 *	  Few rows out of many: their bytes are read without those in between, where that is cheaper.
 */
#ifndef LNC_ENCODING_CHOSEN_H
#define LNC_ENCODING_CHOSEN_H

#include "encoding/page.h"

/*
 * The bytes of n ranges of one buffer, one after the other, in arena. Ranges ascend and do not overlap, n > 0. *done is
 * false, and *out is not set, when it costs less to read from the first to the last at once. Scratch is done with
 * afterwards. Ranges beyond the buffer are LNC_CORRUPT.
 */
extern LncCode lnc_chosen_read(LncContext *ctx, const LncPageSource *source, LncArena *arena, LncArena *scratch,
							   size_t n, const LncPageRange *ranges, bool *done, LncSlice *out) LNC_MUST_CHECK;

/* The same for rows of width bytes each: rows first + rows[i], n of them, ascending. */
extern LncCode lnc_chosen_read_rows(LncContext *ctx, const LncPageSource *source, LncArena *arena,
									LncArena *scratch, uint32_t buffer, uint64_t width, uint64_t first, size_t n,
									const int64_t *rows, bool *done, LncSlice *out) LNC_MUST_CHECK;

#endif
