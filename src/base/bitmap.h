/*
 * bitmap.h
 *	  Runs of bits in LSB-first bitmaps.
 *
 * Bits outside the run named are kept. Callers have checked that the run lies inside the buffers.
 */
#ifndef LNC_BASE_BITMAP_H
#define LNC_BASE_BITMAP_H

#include "base/bytes.h"

/* Copy count bits from bit source_at of source to bit target_at of target; the buffers do not overlap. */
extern void lnc_bits_copy(uint8_t *target, uint64_t target_at, const uint8_t *source, uint64_t source_at,
						  uint64_t count);

/* Set count bits from bit at on to value. */
extern void lnc_bits_fill(uint8_t *bits, uint64_t at, uint64_t count, bool value);

/* How many of count bits from bit at on are set. */
extern uint64_t lnc_bits_count(const uint8_t *bits, uint64_t at, uint64_t count);

#endif
