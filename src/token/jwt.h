/*
 * jwt.h
 *	  JSON web tokens: verifying their signature and claims (RFC 7515, 7517, 7518, 7519).
 *
 * HS256 and RS256 only. A key decides the algorithm that it is for, not the token: what is signed by HMAC is never checked
 * with the text of a public key. Tokens and secrets enter no message.
 */
#ifndef LNC_TOKEN_JWT_H
#define LNC_TOKEN_JWT_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"

/* The longest token. */
#define LNC_JWT_MAX_BYTES 16384

/* Keys of one set. */
#define LNC_JWT_MAX_KEYS 100

typedef struct LncJwtKeys LncJwtKeys;

/* What a token must say besides being signed. */
typedef struct LncJwtExpected
{
	const char *issuer;     /* claim iss; NULL: any */
	const char *audience;   /* must be aud, or one of them; NULL: any */
	const char *role_claim; /* the claim whose text is wanted */
	int64_t now_s;          /* seconds since the Unix epoch */
	int64_t leeway_s;       /* how far the clocks of issuer and server may be apart */
} LncJwtExpected;

typedef struct LncJwtClaims
{
	const char *role;     /* in the arena */
	int64_t expires_at_s; /* seconds since the Unix epoch */
} LncJwtClaims;

/*
 * Read keys: a JSON web key set ({"keys": [...]}) or one JSON web key, RSA public keys in PEM, or anything else as the
 * secret of HS256 (without the line ends behind it, at least 32 bytes). Keys for other purposes or algorithms are passed
 * over. LNC_INVALID when no usable key is left. The keys live in the arena, and are wiped at its end.
 */
extern LncCode lnc_jwt_keys_read(LncContext *ctx, LncArena *arena, LncSlice file, LncJwtKeys **out) LNC_MUST_CHECK;

/*
 * Verify a token in compact form. LNC_DENIED, with the reason, when it is not one, not signed by one of the keys, has no
 * claim exp, has expired, is not valid yet, or does not say what is expected.
 */
extern LncCode lnc_jwt_verify(LncContext *ctx, LncArena *arena, const LncJwtKeys *keys, const char *token,
							  const LncJwtExpected *expected, LncJwtClaims *out) LNC_MUST_CHECK;

/* Bytes of base64url text without padding, in arena; LNC_INVALID when it is none (RFC 4648, section 5). */
extern LncCode lnc_base64url_decode(LncContext *ctx, LncArena *arena, const char *text, size_t length,
									LncSlice *out) LNC_MUST_CHECK;

#endif
