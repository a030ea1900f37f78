/*
 * decimal.h
 *	  Wide integers as decimal digits.
 */
#ifndef LNC_BASE_DECIMAL_H
#define LNC_BASE_DECIMAL_H

#include <stdint.h>

/* Room for a 256-bit integer: 78 digits, the sign and the end. */
#define LNC_INTEGER_TEXT_SIZE 80

/*
 * The decimal digits of a little-endian two's complement integer of nwords 32-bit words (1 to 8), with "-" in front of
 * a negative one, into out[LNC_INTEGER_TEXT_SIZE].
 */
extern void lnc_integer_text(const uint8_t *bytes, int nwords, char *out);

#endif
