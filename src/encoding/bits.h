/*
 * bits.h
 *	  Copying runs of bits between LSB-first bitmaps.
 */
#ifndef LNC_ENCODING_BITS_H
#define LNC_ENCODING_BITS_H

#include <stdint.h>

/*
 * Copy count bits of src from bit src_bit on to bit dst_bit of dst. Bits of dst outside the run keep their value. The
 * caller has checked that both runs lie inside their buffers; no byte outside of them is touched.
 */
extern void lnc_bits_copy(uint8_t *dst, uint64_t dst_bit, const uint8_t *src, uint64_t src_bit, uint64_t count);

#endif
