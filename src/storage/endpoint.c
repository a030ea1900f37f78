/*
 * endpoint.c
 *	  Addresses of services.
 */
#include "storage/endpoint.h"

#include <string.h>
#include <strings.h>

#define LETTERS_AND_DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static bool
ends_with(const char *text, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length > n && memcmp(text + length - n, end, n) == 0;
}

LncCode
lnc_endpoint_parse(LncContext *ctx, LncArena *arena, const char *text, bool plain_allowed, LncEndpoint *out)
{
	const char *authority;
	size_t length;
	size_t path_length;
	char *copy;

	out->plain = strncasecmp(text, "http://", 7) == 0;
	if (!out->plain && strncasecmp(text, "https://", 8) != 0)
		return lnc_fail(ctx, LNC_INVALID, "endpoint \"%.200s\" is no http or https URL", text);
	if (out->plain && !plain_allowed)
	{
		lnc_fail(ctx, LNC_INVALID, "endpoint \"%.200s\" is not encrypted", text);
		lnc_hint(ctx, "Use https, or allow http for this store.");
		return LNC_INVALID;
	}
	authority = text + (out->plain ? 7 : 8);
	length = strspn(authority, LETTERS_AND_DIGITS ".-_:[]");
	if (length == 0 || (authority[length] != '\0' && authority[length] != '/'))
		return lnc_fail(ctx, LNC_INVALID, "endpoint \"%.200s\" has no valid host", text);

	path_length = strlen(authority + length);
	while (path_length > 0 && authority[length + path_length - 1] == '/')
		path_length--;
	if (strspn(authority + length, LETTERS_AND_DIGITS ".-_~/") < path_length)
		return lnc_fail(ctx, LNC_INVALID, "endpoint \"%.200s\" has a path with special characters", text);
	LNC_TRY(lnc_arena_strndup(ctx, arena, authority + length, path_length, &copy));
	out->path = copy;

	if (ends_with(authority, length, out->plain ? ":80" : ":443"))
		length -= out->plain ? 3 : 4;
	LNC_TRY(lnc_arena_strndup(ctx, arena, authority, length, &copy));
	out->authority = copy;
	return LNC_OK;
}
