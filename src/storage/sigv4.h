/*
 * sigv4.h
 *	  AWS Signature Version 4 for S3: signed headers and presigned URLs.
 *
 * Source: "Signature Version 4 signing process" and "Authenticating Requests (AWS Signature Version 4)" of the S3 API
 * reference. S3 encodes the path once and does not normalise it, so paths arrive here encoded as they are sent.
 */
#ifndef LNC_STORAGE_SIGV4_H
#define LNC_STORAGE_SIGV4_H

#include <time.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"

/* The payload hash of requests whose body is not signed. */
#define LNC_SIGV4_UNSIGNED_PAYLOAD "UNSIGNED-PAYLOAD"

/* "20150830T123600Z" and NUL. */
#define LNC_SIGV4_DATE_SIZE 17

/* 64 hex digits and NUL. */
#define LNC_SHA256_HEX_SIZE 65

typedef struct LncSigV4Key
{
	const char *access_key_id;
	const char *secret_access_key;
	const char *session_token; /* NULL: none; presigned URLs carry it, of header requests it is one more header */
	const char *region;
	const char *service; /* "s3", "sts" */
} LncSigV4Key;

/* A query parameter or a header, not encoded. */
typedef struct LncSigV4Pair
{
	const char *name;
	const char *value;
} LncSigV4Pair;

typedef struct LncSigV4Request
{
	const char *method;
	const char *path; /* absolute, percent-encoded as sent */
	size_t nparams;
	const LncSigV4Pair *params;
	size_t nheaders;
	const LncSigV4Pair *headers; /* those to sign, "host" among them; names in lower case */
	const char *payload_hash;    /* hex SHA-256 of the body, or LNC_SIGV4_UNSIGNED_PAYLOAD */
} LncSigV4Request;

/* Hex SHA-256 of bytes. LNC_IO when the crypto library fails. */
extern LncCode lnc_sha256_hex(LncContext *ctx, LncSlice bytes, char out[LNC_SHA256_HEX_SIZE]) LNC_MUST_CHECK;

/* The value of x-amz-date for a time. */
extern LncCode lnc_sigv4_date(LncContext *ctx, time_t when, char out[LNC_SIGV4_DATE_SIZE]) LNC_MUST_CHECK;

/* The query string: names and values encoded, sorted by encoded name, then value, joined by "&". "" when there are none. */
extern LncCode lnc_sigv4_query(LncContext *ctx, LncArena *arena, size_t nparams, const LncSigV4Pair *params,
							   const char **out) LNC_MUST_CHECK;

/* The value of the Authorization header. date is the one sent as x-amz-date. */
extern LncCode lnc_sigv4_authorize(LncContext *ctx, LncArena *arena, const LncSigV4Key *key,
								   const LncSigV4Request *request, const char *date,
								   const char **out) LNC_MUST_CHECK;

/*
 * A URL that does the request without further credentials for expires_s seconds (1 to 604800, LNC_INVALID otherwise).
 * base is "https://host[:port]"; only the host header is signed, the payload is not.
 */
extern LncCode lnc_sigv4_presign(LncContext *ctx, LncArena *arena, const LncSigV4Key *key, const char *method,
								 const char *base, const char *path, size_t nparams, const LncSigV4Pair *params,
								 const char *date, int expires_s, const char **out) LNC_MUST_CHECK;

#endif
