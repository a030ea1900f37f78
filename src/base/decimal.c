/*
 * decimal.c
 *	  Wide integers as decimal digits, by long division: nine digits at a time.
 */
#include "base/decimal.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/bytes.h"

#define MAX_WORDS 8
#define GROUP 1000000000u

/* Groups of nine digits in 2^256. */
#define MAX_GROUPS 9

void
lnc_integer_text(const uint8_t *bytes, int nwords, char *out)
{
	uint32_t words[MAX_WORDS];
	uint32_t groups[MAX_GROUPS];
	int ngroups = 0;
	bool negative = (bytes[nwords * 4 - 1] & 0x80) != 0;
	uint64_t carry = 1;

	for (int i = 0; i < nwords; i++)
	{
		words[i] = lnc_le32(bytes + i * 4);
		if (negative)
		{
			carry += (uint32_t)~words[i];
			words[i] = (uint32_t)carry;
			carry >>= 32;
		}
	}
	do
	{
		uint64_t rest = 0;

		for (int i = nwords - 1; i >= 0; i--)
		{
			rest = (rest << 32) | words[i];
			words[i] = (uint32_t)(rest / GROUP);
			rest %= GROUP;
		}
		groups[ngroups++] = (uint32_t)rest;
		while (nwords > 0 && words[nwords - 1] == 0)
			nwords--;
	} while (nwords > 0);

	if (negative)
		*out++ = '-';
	out += snprintf(out, 11, "%" PRIu32, groups[ngroups - 1]);
	for (int i = ngroups - 2; i >= 0; i--)
		out += snprintf(out, 10, "%09" PRIu32, groups[i]);
}
