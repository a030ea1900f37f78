/*
 * bitpack.h
 *	  Bit-packing in the FastLanes order, and the two codecs made of it.
 *
 *	block		1024 values of T bits (8, 16, 32, 64) packed to W bits each: 128 * W bytes, as words of T bits
 *	word		word w of lane l is at index L * w + l, where L = 1024 / T lanes
 *	lane		a stream of T values of W bits, lowest bit first
 *	order		row r of lane l is value ORDER[r / 8] * 16 + (r % 8) * 128 + l, ORDER = 0 4 2 6 1 5 3 7
 *
 *	inline_bitpacking		one word of T bits that holds W, then one block, cut to the number of values
 *	out_of_line_bitpacking	blocks back to back; the last n % 1024 values are a padded block or n % 1024 raw words
 *
 * Source of the facts: format.md section 8.4.
 */
#ifndef LNC_ENCODING_BITPACK_H
#define LNC_ENCODING_BITPACK_H

#include "base/arena.h"
#include "base/bytes.h"

#define LNC_BITPACK_BLOCK 1024

/*
 * Unpack one block of 1024 values: packed holds 128 * width bytes, out gets 1024 values of bits (8, 16, 32 or 64) each
 * and is aligned for them. width <= bits.
 */
extern void lnc_bitpack_unpack(uint32_t bits, uint32_t width, const uint8_t *packed, void *out);

/*
 * Decode count (<= 1024) values of bits each from an inline-packed buffer. *out gets count values in arena.
 */
extern LncCode lnc_bitpack_inline(LncContext *ctx, LncArena *arena, uint32_t bits, LncSlice in, uint64_t count,
								  const uint8_t **out) LNC_MUST_CHECK;

/* Decode count values of bits each, packed to width bits, from an out-of-line packed buffer. */
extern LncCode lnc_bitpack_out_of_line(LncContext *ctx, LncArena *arena, uint32_t bits, uint32_t width, LncSlice in,
									   uint64_t count, const uint8_t **out) LNC_MUST_CHECK;

#endif
