/*
 * bitmap.c
 *	  Runs of bits in LSB-first bitmaps, a byte or a word at a time.
 */
#include "base/bitmap.h"

/* Eight bits from bit at on; reads the second byte only when the eight reach into it. */
static inline uint8_t
load_byte(const uint8_t *bits, uint64_t at)
{
	unsigned shift = at & 7;

	if (shift == 0)
		return bits[at >> 3];
	return (uint8_t)(bits[at >> 3] >> shift | bits[(at >> 3) + 1] << (8 - shift));
}

static inline void
put_bit(uint8_t *bits, uint64_t at, bool value)
{
	if (value)
		lnc_bit_set(bits, at);
	else
		lnc_bit_clear(bits, at);
}

void
lnc_bits_copy(uint8_t *target, uint64_t target_at, const uint8_t *source, uint64_t source_at, uint64_t count)
{
	/* Bring the target to a byte boundary, then move whole bytes. */
	for (; count > 0 && (target_at & 7) != 0; count--)
		put_bit(target, target_at++, lnc_bit(source, source_at++));
	if (count >= 8)
	{
		uint64_t whole = count / 8;

		if ((source_at & 7) == 0)
			memcpy(target + (target_at >> 3), source + (source_at >> 3), whole);
		else
			for (uint64_t i = 0; i < whole; i++)
				target[(target_at >> 3) + i] = load_byte(source, source_at + i * 8);
		target_at += whole * 8;
		source_at += whole * 8;
		count -= whole * 8;
	}
	for (; count > 0; count--)
		put_bit(target, target_at++, lnc_bit(source, source_at++));
}

void
lnc_bits_fill(uint8_t *bits, uint64_t at, uint64_t count, bool value)
{
	for (; count > 0 && (at & 7) != 0; count--)
		put_bit(bits, at++, value);
	if (count >= 8)
	{
		memset(bits + (at >> 3), value ? 0xFF : 0, count / 8);
		at += count / 8 * 8;
		count %= 8;
	}
	for (; count > 0; count--)
		put_bit(bits, at++, value);
}

uint64_t
lnc_bits_count(const uint8_t *bits, uint64_t at, uint64_t count)
{
	uint64_t result = 0;

	for (; count > 0 && (at & 7) != 0; count--)
		result += lnc_bit(bits, at++);
	for (; count >= 64; count -= 64, at += 64)
		result += (uint64_t)__builtin_popcountll(lnc_le64(bits + (at >> 3)));
	for (; count > 0; count--)
		result += lnc_bit(bits, at++);
	return result;
}
