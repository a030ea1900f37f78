/*
 * uri.c
 *	  URIs of stores. What clients make of each spelling was measured with pylance 10 and 14.
 */
#include "storage/uri.h"

#include <string.h>
#include <strings.h>

#include "base/bytes.h"

/* A path beyond this has no use on any store (S3 allows 1024 bytes, Linux 4096). */
#define LONGEST_URI 8192

/* Decode percent escapes in place; one that is malformed stays as it is. Returns the new length. */
static size_t
decode_percent(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; from++)
	{
		int high = from[0] == '%' ? lnc_hex_value(from[1]) : -1;
		int low = high >= 0 ? lnc_hex_value(from[2]) : -1;

		if (low >= 0)
		{
			*to++ = (char)(high * 16 + low);
			from += 2;
		}
		else
			*to++ = *from;
	}
	*to = '\0';
	return (size_t)(to - text);
}

/* The length of the part that starts at text. */
static size_t
part_length(const char *text)
{
	return strcspn(text, "/");
}

static bool
part_is_dots(const char *part, size_t length)
{
	return (length == 1 && part[0] == '.') || (length == 2 && part[0] == '.' && part[1] == '.');
}

LncCode
lnc_key_check(LncContext *ctx, const char *key)
{
	const char *part = key;

	for (;;)
	{
		size_t length = part_length(part);

		if (length == 0 || part_is_dots(part, length))
			return lnc_fail(ctx, LNC_INVALID, "object name \"%.300s\" has a part that is empty, \".\" or \"..\"",
							key);
		if (part[length] == '\0')
			return LNC_OK;
		part += length + 1;
	}
}

/* Collapse runs of slashes, in place; local paths may hold them. */
static void
collapse_slashes(char *path)
{
	char *to = path;

	for (const char *from = path; *from != '\0'; from++)
	{
		if (*from != '/' || to == path || to[-1] != '/')
			*to++ = *from;
	}
	*to = '\0';
}

/* Check the decoded path and cut the slashes at its ends. */
static LncCode
check_path(LncContext *ctx, const char *text, char *path, size_t length, const char **out)
{
	if (strlen(path) != length)
		return lnc_fail(ctx, LNC_INVALID, "URI \"%.300s\" holds an escaped NUL", text);
	for (size_t i = 0; i < length; i++)
	{
		if ((unsigned char)path[i] < 0x20 || path[i] == 0x7F)
			return lnc_fail(ctx, LNC_INVALID, "URI \"%.300s\" holds a control character", text);
	}
	if (*path == '/')
		path++;
	length = strlen(path);
	if (length > 0 && path[length - 1] == '/')
		path[length - 1] = '\0';
	if (*path != '\0' && lnc_key_check(ctx, path) != LNC_OK)
		return lnc_fail(ctx, LNC_INVALID, "URI \"%.300s\" has a part that is empty, \".\" or \"..\"", text);
	*out = path;
	return LNC_OK;
}

/* True for bytes that the canonical form escapes: those that a parser of URIs would change or cut. */
static bool
needs_escape(const char *text, size_t i)
{
	if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F || strchr("%?#\\|", text[i]) != NULL)
		return true;
	/* URL parsers cut blanks at the end of the text. */
	return text[i] == ' ' && text[i + 1] == '\0';
}

LncCode
lnc_uri_join(LncContext *ctx, LncArena *arena, const char *canonical, const char *key, const char **out)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t base = strlen(canonical);
	size_t length = strlen(key);
	void *memory;
	char *to;

	if (length > LONGEST_URI)
		return lnc_fail(ctx, LNC_LIMIT, "object name of %zu bytes is too long", length);
	LNC_TRY(lnc_arena_alloc(ctx, arena, base + 3 * length + 2, &memory));
	memcpy(memory, canonical, base);
	to = (char *)memory + base;
	if (length > 0 && (base == 0 || to[-1] != '/'))
		*to++ = '/';
	for (size_t i = 0; i < length; i++)
	{
		if (needs_escape(key, i))
		{
			*to++ = '%';
			*to++ = digits[(unsigned char)key[i] >> 4];
			*to++ = digits[(unsigned char)key[i] & 15];
		}
		else
			*to++ = key[i];
	}
	*to = '\0';
	*out = memory;
	return LNC_OK;
}

static LncCode
parse_file(LncContext *ctx, LncArena *arena, const char *text, LncUri *out)
{
	char *path;
	size_t length;

	if (text[0] == '/')
	{
		LNC_TRY(lnc_arena_strndup(ctx, arena, text, strlen(text), &path));
		length = strlen(path);
	}
	else
	{
		const char *rest = text + strlen("file://");

		if (strncasecmp(rest, "localhost/", 10) == 0)
			rest += strlen("localhost");
		if (rest[0] != '/')
			return lnc_fail(ctx, LNC_INVALID, "URI \"%.300s\" has no absolute path", text);
		if (strchr(rest, '\\') != NULL)
		{
			lnc_fail(ctx, LNC_INVALID, "URI \"%.300s\" holds a backslash", text);
			lnc_hint(ctx, "Write %%5C for it, or give the path without \"file://\".");
			return LNC_INVALID;
		}
		LNC_TRY(lnc_arena_strndup(ctx, arena, rest, strlen(rest), &path));
		length = decode_percent(path);
	}
	if (strlen(path) == length)
	{
		collapse_slashes(path);
		length = strlen(path);
	}
	out->scheme = LNC_SCHEME_FILE;
	out->bucket = "";
	LNC_TRY(check_path(ctx, text, path, length, &out->path));
	return lnc_uri_join(ctx, arena, "file:///", out->path, &out->canonical);
}

/* The bucket's name: what S3 allows, and the older names with capitals and underscores. */
static LncCode
parse_bucket(LncContext *ctx, LncArena *arena, const char *text, const char *rest, LncUri *out)
{
	size_t length = part_length(rest);
	char *bucket;

	for (size_t i = 0; i < length; i++)
	{
		char c = rest[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			  strchr(".-_", c) != NULL))
			return lnc_fail(ctx, LNC_INVALID, "URI \"%.300s\" has an invalid bucket name", text);
	}
	if (length == 0 || length > 255 || rest[0] == '.')
		return lnc_fail(ctx, LNC_INVALID, "URI \"%.300s\" has an invalid bucket name", text);
	LNC_TRY(lnc_arena_strndup(ctx, arena, rest, length, &bucket));
	out->bucket = bucket;
	return LNC_OK;
}

static LncCode
parse_bucket_and_path(LncContext *ctx, LncArena *arena, const char *text, LncScheme scheme, LncUri *out)
{
	const char *rest = strstr(text, "://") + 3;
	char *path;
	char *root;
	size_t length;

	out->scheme = scheme;
	LNC_TRY(parse_bucket(ctx, arena, text, rest, out));
	rest += part_length(rest);
	LNC_TRY(lnc_arena_strndup(ctx, arena, rest, strlen(rest), &path));
	length = scheme == LNC_SCHEME_S3 ? decode_percent(path) : strlen(path);
	LNC_TRY(check_path(ctx, text, path, length, &out->path));
	LNC_TRY(lnc_arena_printf(ctx, arena, &root, "%s://%s", scheme == LNC_SCHEME_S3 ? "s3" : "memory", out->bucket));
	return lnc_uri_join(ctx, arena, root, out->path, &out->canonical);
}

LncCode
lnc_uri_parse(LncContext *ctx, LncArena *arena, const char *text, LncUri *out)
{
	bool url = strncasecmp(text, "file://", 7) == 0 || strncasecmp(text, "s3://", 5) == 0;

	if (strlen(text) > LONGEST_URI)
		return lnc_fail(ctx, LNC_INVALID, "URI of %zu bytes is too long", strlen(text));
	if (url && strpbrk(text, "?#") != NULL)
	{
		lnc_fail(ctx, LNC_INVALID, "URI \"%.300s\" has a query or fragment", text);
		lnc_hint(ctx, "Write %%3F for \"?\" and %%23 for \"#\" in names.");
		return LNC_INVALID;
	}
	if (url && text[strlen(text) - 1] == ' ')
	{
		lnc_fail(ctx, LNC_INVALID, "URI \"%.300s\" ends with a blank", text);
		lnc_hint(ctx, "Write %%20 for it.");
		return LNC_INVALID;
	}
	if (text[0] == '/' || strncasecmp(text, "file://", 7) == 0)
		return parse_file(ctx, arena, text, out);
	if (url)
		return parse_bucket_and_path(ctx, arena, text, LNC_SCHEME_S3, out);
	if (strncasecmp(text, "memory://", 9) == 0)
		return parse_bucket_and_path(ctx, arena, text, LNC_SCHEME_MEMORY, out);
	lnc_fail(ctx, LNC_INVALID, "URI \"%.300s\" has no scheme that is supported", text);
	lnc_hint(ctx, "Use \"s3://bucket/path\", \"file:///path\" or an absolute path.");
	return LNC_INVALID;
}

LncCode
lnc_uri_encode(LncContext *ctx, LncArena *arena, const char *text, bool keep_slash, char **out)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t length = strlen(text);
	size_t size;
	void *memory;
	char *to;

	if (lnc_mul_overflow(length, (size_t)3, &size) || lnc_add_overflow(size, (size_t)1, &size))
		return lnc_fail(ctx, LNC_LIMIT, "a name of %zu bytes is too long", length);
	LNC_TRY(lnc_arena_alloc(ctx, arena, size, &memory));
	to = memory;
	for (size_t i = 0; i < length; i++)
	{
		unsigned char c = (unsigned char)text[i];

		if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
			c == '_' || c == '~' || (keep_slash && c == '/'))
			*to++ = (char)c;
		else
		{
			*to++ = '%';
			*to++ = digits[c >> 4];
			*to++ = digits[c & 15];
		}
	}
	*to = '\0';
	*out = memory;
	return LNC_OK;
}
