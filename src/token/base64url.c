/*
 * base64url.c
 *	  The text form of bytes in JSON web tokens and keys.
 */
#include "token/jwt.h"

static int
value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '-')
		return 62;
	if (c == '_')
		return 63;
	return -1;
}

LncCode
lnc_base64url_decode(LncContext *ctx, LncArena *arena, const char *text, size_t length, LncSlice *out)
{
	uint8_t *bytes;
	size_t n = 0;
	uint32_t bits = 0;
	int nbits = 0;

	if (length % 4 == 1)
		return lnc_fail(ctx, LNC_INVALID, "base64url text has an impossible length");
	LNC_TRY(LNC_NEW(ctx, arena, &bytes, length / 4 * 3 + 3));
	for (size_t i = 0; i < length; i++)
	{
		int value = value_of(text[i]);

		if (value < 0)
			return lnc_fail(ctx, LNC_INVALID, "base64url text has a letter that is none of its own");
		bits = bits << 6 | (uint32_t)value;
		nbits += 6;
		if (nbits >= 8)
		{
			nbits -= 8;
			bytes[n++] = (uint8_t)(bits >> nbits);
		}
	}

	/* One text for one value: what hangs over is zero. */
	if (nbits > 0 && (bits & ((1u << nbits) - 1)) != 0)
		return lnc_fail(ctx, LNC_INVALID, "base64url text has bits behind its end");
	*out = (LncSlice){.data = bytes, .size = n};
	return LNC_OK;
}
