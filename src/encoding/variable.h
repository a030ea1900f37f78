/*
 * variable.h
 *	  Values of varying length: offsets and bytes in one buffer.
 *
 *	mini-block	n + 1 offsets of 4 or 8 bytes, counted from the start of this buffer; then the bytes
 *	block		u32 32, u32 start of the bytes; or u64 64, u64 start of the bytes
 *				then n + 1 offsets of that width, counted from the start of the bytes, the first 0; then the bytes
 *
 * The first byte of the block form is the width of its offsets in bits; an older form has a count in the three bytes
 * after it and is refused.
 *
 * Source of the facts: format.md section 8.5.
 */
#ifndef LNC_ENCODING_VARIABLE_H
#define LNC_ENCODING_VARIABLE_H

#include "base/arena.h"
#include "base/bytes.h"

/*
 * Read the mini-block form with offsets of offset_bits (32 or 64): *offsets (in arena) has count + 1 rising positions
 * in *data (inside the buffer), all of them checked.
 */
extern LncCode lnc_variable_chunk(LncContext *ctx, LncArena *arena, uint32_t offset_bits, LncSlice in,
								  uint64_t count, const int64_t **offsets, const uint8_t **data) LNC_MUST_CHECK;

/* Read the block form, likewise. */
extern LncCode lnc_variable_block(LncContext *ctx, LncArena *arena, LncSlice in, uint64_t count,
								  const int64_t **offsets, const uint8_t **data) LNC_MUST_CHECK;

#endif
