/*
 * rle.h
 *	  Run-length coding: run values and run lengths, expanded.
 *
 *	mini-block	two buffers: values, lengths
 *	block		u64 bytes of the values part, the values part, the lengths part
 *
 * Values have 8, 16, 32 or 64 bits, lengths 8, 16 or 32; a zero length is damage. The runs of a mini-block may reach
 * past the chunk's values (the excess is repeated in the next chunk) and are cut; those of a block fit exactly.
 *
 * Source of the facts: format.md section 8.5.
 */
#ifndef LNC_ENCODING_RLE_H
#define LNC_ENCODING_RLE_H

#include "base/arena.h"
#include "base/bytes.h"

/* Runs justify any number of values, so their expansion has a bound of its own (LNC_LIMIT). */
#define LNC_RLE_MAX_BYTES (UINT64_C(1) << 30)

/* Split the block form into its two parts. */
extern LncCode lnc_rle_split(LncContext *ctx, LncSlice in, LncSlice *values, LncSlice *lengths) LNC_MUST_CHECK;

/* Sum of the run lengths, each of length_bits. LNC_CORRUPT for a zero length. */
extern LncCode lnc_rle_total(LncContext *ctx, uint32_t length_bits, LncSlice lengths,
							 uint64_t *total) LNC_MUST_CHECK;

/*
 * Expand to count values of bits each, in arena. exact: the runs must end exactly there, else they are cut. Runs
 * that end early are damage either way.
 */
extern LncCode lnc_rle_expand(LncContext *ctx, LncArena *arena, uint32_t bits, uint32_t length_bits,
							  LncSlice values, LncSlice lengths, uint64_t count, bool exact,
							  const uint8_t **out) LNC_MUST_CHECK;

#endif
