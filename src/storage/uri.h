/*
 * uri.h
 *	  URIs of stores: parsing, the canonical form, percent-encoding.
 *
 *	 "s3://bucket/path", "file:///path", "file://localhost/path"
 *			percent escapes are decoded, a "%" that starts no escape is literal, as in the URL standard that the
 *			clients follow
 *	 "/path"
 *			every byte is literal
 *	 "memory://name/path"
 *			for tests; every byte is literal
 *
 * Blanks, "+", "$", "&", "=" and non-ASCII letters need no escape. In s3 and file URIs "?" and "#" must be escaped, because
 * clients cut the name there, and so must a backslash in file URIs, because they take it for a slash. A trailing slash is
 * ignored; parts that are empty, "." or ".." and control characters are LNC_INVALID.
 */
#ifndef LNC_STORAGE_URI_H
#define LNC_STORAGE_URI_H

#include "base/arena.h"
#include "base/status.h"

typedef enum LncScheme
{
	LNC_SCHEME_FILE,
	LNC_SCHEME_S3,
	LNC_SCHEME_MEMORY
} LncScheme;

/* A parsed URI. Strings live in the arena given. */
typedef struct LncUri
{
	LncScheme scheme;
	const char *bucket;    /* S3: the bucket; memory: the name; file: "" */
	const char *path;      /* decoded, without leading and trailing slash; "" is the root */
	const char *canonical; /* one spelling a place: "s3://bucket/path", "file:///path", "memory://name/path" */
} LncUri;

/* Parse text. LNC_INVALID says what is wrong with it. */
extern LncCode lnc_uri_parse(LncContext *ctx, LncArena *arena, const char *text, LncUri *out) LNC_MUST_CHECK;

/*
 * Append a key (literal bytes, "/" between parts) to a canonical URI: "file:///data" and "a%b" give
 * "file:///data/a%25b". The key is not checked.
 */
extern LncCode lnc_uri_join(LncContext *ctx, LncArena *arena, const char *canonical, const char *key,
							const char **out) LNC_MUST_CHECK;

/* LNC_INVALID unless key is a relative path without empty, "." and ".." parts. */
extern LncCode lnc_key_check(LncContext *ctx, const char *key) LNC_MUST_CHECK;

/*
 * Percent-encode everything but A-Z a-z 0-9 - . _ ~ (RFC 3986 unreserved), with keep_slash also all but "/":
 * the encoding of S3 request paths and query strings.
 */
extern LncCode lnc_uri_encode(LncContext *ctx, LncArena *arena, const char *text, bool keep_slash,
							  char **out) LNC_MUST_CHECK;

#endif
