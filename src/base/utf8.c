/*
 * utf8.c
 *	  Validation of UTF-8 text: eight ASCII bytes at a time, the rest by the table of well-formed sequences.
 */
#include "base/utf8.h"

#include "base/bytes.h"

#define HIGH_BITS UINT64_C(0x8080808080808080)
#define LOW_BITS UINT64_C(0x0101010101010101)

/* Length of the well-formed sequence at p, 0 when there is none. left > 0. */
static size_t
sequence_length(const uint8_t *p, size_t left)
{
	uint8_t lead = p[0];
	uint8_t low = 0x80;
	uint8_t high = 0xBF;
	size_t length;

	if (lead < 0x80)
		return lead != 0 ? 1 : 0;
	if (lead < 0xC2)
		return 0;
	if (lead < 0xE0)
		length = 2;
	else if (lead < 0xF0)
	{
		length = 3;
		if (lead == 0xE0)
			low = 0xA0; /* shorter forms exist below */
		else if (lead == 0xED)
			high = 0x9F; /* surrogates above */
	}
	else if (lead < 0xF5)
	{
		length = 4;
		if (lead == 0xF0)
			low = 0x90;
		else if (lead == 0xF4)
			high = 0x8F; /* beyond U+10FFFF */
	}
	else
		return 0;

	if (left < length || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	return length;
}

/* Bytes looked at at once. */
#define STEP 64

/* Whether STEP bytes are all ASCII without NUL. */
static inline bool
is_plain(const uint8_t *text)
{
	uint8_t odd = 0;

	/* A byte less one is below 0x7F for those. The rounds are fixed, which the compiler makes vector code of. */
	for (int i = 0; i < STEP; i++)
		odd |= (uint8_t)(text[i] - 1) > 0x7E;
	return odd == 0;
}

bool
lnc_utf8_valid(const uint8_t *text, size_t length, size_t *bad)
{
	size_t at = 0;

	while (at < length)
	{
		size_t step;

		while (length - at >= STEP && is_plain(text + at))
			at += STEP;
		while (length - at >= 8)
		{
			uint64_t word = lnc_le64(text + at);

			/* Stop at a word with a byte above 0x7F or a zero byte. */
			if ((word & HIGH_BITS) != 0 || ((word - LOW_BITS) & ~word & HIGH_BITS) != 0)
				break;
			at += 8;
		}
		if (at == length)
			break;
		step = sequence_length(text + at, length - at);
		if (step == 0)
		{
			if (bad != NULL)
				*bad = at;
			return false;
		}
		at += step;
	}
	return true;
}
