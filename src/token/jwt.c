/*
 * jwt.c
 *	  Verifying a token.
 */
#include "token/jwt.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <string.h>

#include "base/json.h"
#include "token/jwt_keys.h"

#define DIGEST_SIZE 32

/* The three parts between the dots. */
typedef struct Parts
{
	const char *header;
	size_t header_size;
	const char *claims;
	size_t claims_size;
	const char *signature;
	size_t signature_size;
	size_t signed_size; /* of header, dot and claims */
} Parts;

static LncCode
cut(LncContext *ctx, const char *token, Parts *parts)
{
	size_t length = strnlen(token, LNC_JWT_MAX_BYTES + 1);
	const char *first;
	const char *second;

	if (length > LNC_JWT_MAX_BYTES)
		return lnc_fail(ctx, LNC_DENIED, "the token is too long");
	first = strchr(token, '.');
	second = first != NULL ? strchr(first + 1, '.') : NULL;
	if (second == NULL || strchr(second + 1, '.') != NULL)
		return lnc_fail(ctx, LNC_DENIED, "the token is no JSON web token");
	parts->header = token;
	parts->header_size = (size_t)(first - token);
	parts->claims = first + 1;
	parts->claims_size = (size_t)(second - first - 1);
	parts->signature = second + 1;
	parts->signature_size = strlen(second + 1);
	parts->signed_size = (size_t)(second - token);
	return LNC_OK;
}

static LncCode
parse_object(LncContext *ctx, LncArena *arena, const char *text, size_t length, const char *what,
			 const LncJson **out)
{
	LncSlice bytes;

	if (lnc_base64url_decode(ctx, arena, text, length, &bytes) != LNC_OK ||
		lnc_json_parse(ctx, arena, bytes, out) != LNC_OK || lnc_json_kind(*out) != LNC_JSON_OBJECT)
		return lnc_fail(ctx, LNC_DENIED, "the %s of the token can't be read", what);
	return LNC_OK;
}

/* ---- signature */

static bool
signed_by_secret(const LncJwtKey *key, const char *text, size_t size, LncSlice signature)
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	unsigned int digest_size;

	return signature.size == DIGEST_SIZE &&
		   HMAC(EVP_sha256(), key->secret, (int)key->secret_size, (const uint8_t *)text, size, digest,
				&digest_size) != NULL &&
		   digest_size == DIGEST_SIZE && CRYPTO_memcmp(digest, signature.data, DIGEST_SIZE) == 0;
}

static bool
signed_by_rsa(const LncJwtKey *key, const char *text, size_t size, LncSlice signature)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	bool good = md != NULL && EVP_DigestVerifyInit(md, NULL, EVP_sha256(), NULL, key->rsa) == 1 &&
				EVP_DigestVerify(md, signature.data, signature.size, (const uint8_t *)text, size) == 1;

	EVP_MD_CTX_free(md);
	ERR_clear_error();
	return good;
}

static LncCode
check_signature(LncContext *ctx, LncArena *arena, const LncJwtKeys *keys, const Parts *parts)
{
	const LncJson *header;
	const char *algorithm;
	const char *id;
	LncSlice signature;
	bool rsa;

	LNC_TRY(parse_object(ctx, arena, parts->header, parts->header_size, "header", &header));
	if (lnc_json_get_string(ctx, header, "alg", &algorithm) != LNC_OK || algorithm == NULL ||
		(strcmp(algorithm, "HS256") != 0 && strcmp(algorithm, "RS256") != 0))
		return lnc_fail(ctx, LNC_DENIED, "the token is not signed by HS256 or RS256");
	if (lnc_json_member(header, "crit") != NULL || lnc_json_get_string(ctx, header, "kid", &id) != LNC_OK)
		return lnc_fail(ctx, LNC_DENIED, "the header of the token can't be read");
	if (lnc_base64url_decode(ctx, arena, parts->signature, parts->signature_size, &signature) != LNC_OK)
		return lnc_fail(ctx, LNC_DENIED, "the signature of the token can't be read");
	rsa = strcmp(algorithm, "RS256") == 0;
	for (size_t i = 0; i < keys->nkeys; i++)
	{
		const LncJwtKey *key = &keys->keys[i];

		LNC_TRY(lnc_check_interrupt(ctx));
		if ((key->rsa != NULL) != rsa || (id != NULL && key->id != NULL && strcmp(id, key->id) != 0))
			continue;
		if (rsa ? signed_by_rsa(key, parts->header, parts->signed_size, signature)
				: signed_by_secret(key, parts->header, parts->signed_size, signature))
			return LNC_OK;
	}
	return lnc_fail(ctx, LNC_DENIED, "the token is not signed by a key that is known here");
}

/* ---- claims */

/* A time in seconds, which may have a fraction. */
static LncCode
get_time(LncContext *ctx, const LncJson *claims, const char *name, bool *present, double *out)
{
	if (lnc_json_get_double(ctx, claims, name, present, out) != LNC_OK)
		return lnc_fail(ctx, LNC_DENIED, "claim \"%s\" of the token is no time", name);
	return LNC_OK;
}

static LncCode
check_times(LncContext *ctx, const LncJson *claims, const LncJwtExpected *expected, LncJwtClaims *out)
{
	double now = (double)expected->now_s;
	double leeway = (double)expected->leeway_s;
	bool has_end;
	bool has_start;
	double end;
	double start;

	LNC_TRY(get_time(ctx, claims, "exp", &has_end, &end));
	LNC_TRY(get_time(ctx, claims, "nbf", &has_start, &start));
	if (!has_end)
		return lnc_fail(ctx, LNC_DENIED, "the token has no claim \"exp\"");
	if (!(now < end + leeway))
		return lnc_fail(ctx, LNC_DENIED, "the token has expired");
	if (has_start && !(now >= start - leeway))
		return lnc_fail(ctx, LNC_DENIED, "the token is not valid yet");
	out->expires_at_s = end < 253402300800.0 ? (int64_t)end : INT64_C(253402300800);
	return LNC_OK;
}

static bool
is_text(const LncJson *value, const char *wanted, LncContext *ctx)
{
	const char *text;

	return value != NULL && lnc_json_kind(value) == LNC_JSON_STRING &&
		   lnc_json_as_string(ctx, value, "claim", &text) == LNC_OK && strcmp(text, wanted) == 0;
}

static LncCode
check_parties(LncContext *ctx, const LncJson *claims, const LncJwtExpected *expected)
{
	const LncJson *audience = lnc_json_member(claims, "aud");
	bool meant = expected->audience == NULL || is_text(audience, expected->audience, ctx);

	if (expected->issuer != NULL && !is_text(lnc_json_member(claims, "iss"), expected->issuer, ctx))
		return lnc_fail(ctx, LNC_DENIED, "the token is of another issuer");
	if (!meant && audience != NULL && lnc_json_kind(audience) == LNC_JSON_ARRAY)
	{
		LNC_JSON_EACH(one, audience)
		meant = meant || is_text(one, expected->audience, ctx);
	}
	if (!meant)
		return lnc_fail(ctx, LNC_DENIED, "the token is for another audience");
	return LNC_OK;
}

LncCode
lnc_jwt_verify(LncContext *ctx, LncArena *arena, const LncJwtKeys *keys, const char *token,
			   const LncJwtExpected *expected, LncJwtClaims *out)
{
	Parts parts;
	const LncJson *claims;

	LNC_TRY(cut(ctx, token, &parts));
	LNC_TRY(check_signature(ctx, arena, keys, &parts));
	LNC_TRY(parse_object(ctx, arena, parts.claims, parts.claims_size, "body", &claims));
	LNC_TRY(check_times(ctx, claims, expected, out));
	LNC_TRY(check_parties(ctx, claims, expected));
	if (lnc_json_get_string(ctx, claims, expected->role_claim, &out->role) != LNC_OK || out->role == NULL ||
		out->role[0] == '\0')
		return lnc_fail(ctx, LNC_DENIED, "the token names no role");
	return LNC_OK;
}
