/*
 * bits.c
 *	  Copying runs of bits between LSB-first bitmaps.
 */
#include "encoding/bits.h"

#include "base/bytes.h"

/* Put count (1 to 8) low bits of value at bit dst_bit. */
static void
put_bits(uint8_t *dst, uint64_t dst_bit, unsigned value, unsigned count)
{
	unsigned shift = (unsigned)(dst_bit & 7);
	unsigned mask = ((1u << count) - 1) << shift;
	uint8_t *at = dst + (dst_bit >> 3);

	value <<= shift;
	at[0] = (uint8_t)((at[0] & ~mask) | (value & mask));
	if (shift + count > 8)
		at[1] = (uint8_t)((at[1] & ~(mask >> 8)) | ((value & mask) >> 8));
}

/* The count (1 to 8) bits from bit src_bit on. */
static unsigned
get_bits(const uint8_t *src, uint64_t src_bit, unsigned count)
{
	unsigned shift = (unsigned)(src_bit & 7);
	const uint8_t *at = src + (src_bit >> 3);
	unsigned value = at[0];

	if (shift + count > 8)
		value |= (unsigned)at[1] << 8;
	return (value >> shift) & ((1u << count) - 1);
}

void
lnc_bits_copy(uint8_t *dst, uint64_t dst_bit, const uint8_t *src, uint64_t src_bit, uint64_t count)
{
	/* First up to a byte boundary of dst, then by whole bytes of dst, then what is left. */
	if (count > 0 && (dst_bit & 7) != 0)
	{
		unsigned head = (unsigned)(8 - (dst_bit & 7));

		if (head > count)
			head = (unsigned)count;
		put_bits(dst, dst_bit, get_bits(src, src_bit, head), head);
		dst_bit += head;
		src_bit += head;
		count -= head;
	}
	if ((src_bit & 7) == 0)
	{
		if (count >= 8)
			memcpy(dst + (dst_bit >> 3), src + (src_bit >> 3), (size_t)(count >> 3));
	}
	else
	{
		uint8_t *to = dst + (dst_bit >> 3);
		const uint8_t *from = src + (src_bit >> 3);
		unsigned shift = (unsigned)(src_bit & 7);
		uint64_t nbytes = count >> 3;

		for (uint64_t i = 0; i < nbytes; i++)
			to[i] = (uint8_t)((from[i] >> shift) | (unsigned)from[i + 1] << (8 - shift));
	}
	if ((count & 7) != 0)
	{
		uint64_t whole = count & ~UINT64_C(7);

		put_bits(dst, dst_bit + whole, get_bits(src, src_bit + whole, (unsigned)(count & 7)), (unsigned)(count & 7));
	}
}
