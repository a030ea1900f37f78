/*
 * sigv4.c
 *	  AWS Signature Version 4 on libcrypto's SHA-256 and HMAC.
 */
#include "storage/sigv4.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "storage/uri.h"

#define ALGORITHM "AWS4-HMAC-SHA256"
#define DIGEST_SIZE 32

/* Canonical requests are a few kilobytes; a session token of STS can take two. */
#define LONGEST_TEXT ((size_t)256 * 1024)

#define LONGEST_EXPIRY 604800

static LncCode
crypto_error(LncContext *ctx)
{
	return lnc_fail(ctx, LNC_IO, "could not compute a signature");
}

static void
to_hex(const uint8_t *bytes, size_t size, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++)
	{
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * size] = '\0';
}

LncCode
lnc_sha256_hex(LncContext *ctx, LncSlice bytes, char out[LNC_SHA256_HEX_SIZE])
{
	uint8_t digest[EVP_MAX_MD_SIZE];
	unsigned int size;

	if (EVP_Digest(bytes.data, bytes.size, digest, &size, EVP_sha256(), NULL) != 1 || size != DIGEST_SIZE)
		return crypto_error(ctx);
	to_hex(digest, DIGEST_SIZE, out);
	return LNC_OK;
}

static LncCode
hmac(LncContext *ctx, const void *key, size_t key_size, const char *text, uint8_t out[DIGEST_SIZE])
{
	unsigned int size;

	if (HMAC(EVP_sha256(), key, (int)key_size, (const uint8_t *)text, strlen(text), out, &size) == NULL ||
		size != DIGEST_SIZE)
		return crypto_error(ctx);
	return LNC_OK;
}

LncCode
lnc_sigv4_date(LncContext *ctx, time_t when, char out[LNC_SIGV4_DATE_SIZE])
{
	struct tm parts;

	if (gmtime_r(&when, &parts) == NULL || strftime(out, LNC_SIGV4_DATE_SIZE, "%Y%m%dT%H%M%SZ", &parts) == 0)
		return lnc_fail(ctx, LNC_INVALID, "a time cannot be written as a date");
	return LNC_OK;
}

static int
compare_pairs(const void *a, const void *b)
{
	const LncSigV4Pair *x = a;
	const LncSigV4Pair *y = b;
	int order = strcmp(x->name, y->name);

	return order != 0 ? order : strcmp(x->value, y->value);
}

static LncCode
append_text(LncContext *ctx, LncBuffer *buffer, const char *text)
{
	return lnc_buffer_append(ctx, buffer, text, strlen(text));
}

/* NUL-terminate and return the text. */
static LncCode
finish_text(LncContext *ctx, LncBuffer *buffer, const char **out)
{
	LNC_TRY(lnc_buffer_append(ctx, buffer, "", 1));
	*out = (const char *)buffer->data;
	return LNC_OK;
}

LncCode
lnc_sigv4_query(LncContext *ctx, LncArena *arena, size_t nparams, const LncSigV4Pair *params, const char **out)
{
	LncSigV4Pair *encoded;
	LncBuffer buffer;

	LNC_TRY(LNC_NEW(ctx, arena, &encoded, nparams));
	for (size_t i = 0; i < nparams; i++)
	{
		char *name;
		char *value;

		LNC_TRY(lnc_uri_encode(ctx, arena, params[i].name, false, &name));
		LNC_TRY(lnc_uri_encode(ctx, arena, params[i].value, false, &value));
		encoded[i] = (LncSigV4Pair){.name = name, .value = value};
	}
	qsort(encoded, nparams, sizeof(*encoded), compare_pairs);
	lnc_buffer_init(&buffer, arena, LONGEST_TEXT);
	for (size_t i = 0; i < nparams; i++)
	{
		if (i > 0)
			LNC_TRY(append_text(ctx, &buffer, "&"));
		LNC_TRY(append_text(ctx, &buffer, encoded[i].name));
		LNC_TRY(append_text(ctx, &buffer, "="));
		LNC_TRY(append_text(ctx, &buffer, encoded[i].value));
	}
	return finish_text(ctx, &buffer, out);
}

/* A header's value: blanks at the ends cut, runs of blanks inside made one. */
static LncCode
append_trimmed(LncContext *ctx, LncBuffer *buffer, const char *value)
{
	bool pending = false;
	bool any = false;

	for (; *value != '\0'; value++)
	{
		if (*value == ' ')
		{
			pending = any;
			continue;
		}
		if (pending)
			LNC_TRY(append_text(ctx, buffer, " "));
		LNC_TRY(lnc_buffer_append(ctx, buffer, value, 1));
		pending = false;
		any = true;
	}
	return LNC_OK;
}

/*
 * Hash of the canonical request; *signed_headers receives the names joined by ";". query is the canonical query
 * string.
 */
static LncCode
hash_request(LncContext *ctx, LncArena *arena, const LncSigV4Request *request, const char *query,
			 const char **signed_headers, char hash[LNC_SHA256_HEX_SIZE])
{
	LncSigV4Pair *headers;
	LncBuffer names;
	LncBuffer text;

	LNC_TRY(LNC_NEW(ctx, arena, &headers, request->nheaders));
	for (size_t i = 0; i < request->nheaders; i++)
		headers[i] = request->headers[i];
	qsort(headers, request->nheaders, sizeof(*headers), compare_pairs);

	lnc_buffer_init(&names, arena, LONGEST_TEXT);
	for (size_t i = 0; i < request->nheaders; i++)
	{
		if (i > 0)
			LNC_TRY(append_text(ctx, &names, ";"));
		LNC_TRY(append_text(ctx, &names, headers[i].name));
	}
	LNC_TRY(finish_text(ctx, &names, signed_headers));

	lnc_buffer_init(&text, arena, LONGEST_TEXT);
	LNC_TRY(append_text(ctx, &text, request->method));
	LNC_TRY(append_text(ctx, &text, "\n"));
	LNC_TRY(append_text(ctx, &text, request->path));
	LNC_TRY(append_text(ctx, &text, "\n"));
	LNC_TRY(append_text(ctx, &text, query));
	LNC_TRY(append_text(ctx, &text, "\n"));
	for (size_t i = 0; i < request->nheaders; i++)
	{
		LNC_TRY(append_text(ctx, &text, headers[i].name));
		LNC_TRY(append_text(ctx, &text, ":"));
		LNC_TRY(append_trimmed(ctx, &text, headers[i].value));
		LNC_TRY(append_text(ctx, &text, "\n"));
	}
	LNC_TRY(append_text(ctx, &text, "\n"));
	LNC_TRY(append_text(ctx, &text, *signed_headers));
	LNC_TRY(append_text(ctx, &text, "\n"));
	LNC_TRY(append_text(ctx, &text, request->payload_hash));
	return lnc_sha256_hex(ctx, lnc_buffer_slice(&text), hash);
}

/* The signature over a hashed canonical request. */
static LncCode
sign_hash(LncContext *ctx, LncArena *arena, const LncSigV4Key *key, const char *date, const char *scope,
		  const char *hash, char signature[LNC_SHA256_HEX_SIZE])
{
	const char *const steps[] = {key->region, key->service, "aws4_request"};
	uint8_t digest[DIGEST_SIZE];
	char day[9];
	char *text;
	char *secret;
	LncCode code;

	snprintf(day, sizeof(day), "%.8s", date);
	LNC_TRY(lnc_arena_printf(ctx, arena, &text, ALGORITHM "\n%s\n%s\n%s", date, scope, hash));
	LNC_TRY(lnc_arena_printf(ctx, arena, &secret, "AWS4%s", key->secret_access_key));
	code = hmac(ctx, secret, strlen(secret), day, digest);
	OPENSSL_cleanse(secret, strlen(secret));
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && code == LNC_OK; i++)
		code = hmac(ctx, digest, DIGEST_SIZE, steps[i], digest);
	if (code == LNC_OK)
		code = hmac(ctx, digest, DIGEST_SIZE, text, digest);
	if (code == LNC_OK)
		to_hex(digest, DIGEST_SIZE, signature);
	OPENSSL_cleanse(digest, sizeof(digest));
	return code;
}

static LncCode
make_scope(LncContext *ctx, LncArena *arena, const LncSigV4Key *key, const char *date, char **out)
{
	return lnc_arena_printf(ctx, arena, out, "%.8s/%s/%s/aws4_request", date, key->region, key->service);
}

LncCode
lnc_sigv4_authorize(LncContext *ctx, LncArena *arena, const LncSigV4Key *key, const LncSigV4Request *request,
					const char *date, const char **out)
{
	char hash[LNC_SHA256_HEX_SIZE];
	char signature[LNC_SHA256_HEX_SIZE];
	const char *query;
	const char *signed_headers;
	char *scope;
	char *text;

	LNC_TRY(lnc_sigv4_query(ctx, arena, request->nparams, request->params, &query));
	LNC_TRY(hash_request(ctx, arena, request, query, &signed_headers, hash));
	LNC_TRY(make_scope(ctx, arena, key, date, &scope));
	LNC_TRY(sign_hash(ctx, arena, key, date, scope, hash, signature));
	LNC_TRY(lnc_arena_printf(ctx, arena, &text, ALGORITHM " Credential=%s/%s, SignedHeaders=%s, Signature=%s",
							 key->access_key_id, scope, signed_headers, signature));
	*out = text;
	return LNC_OK;
}

LncCode
lnc_sigv4_presign(LncContext *ctx, LncArena *arena, const LncSigV4Key *key, const char *method, const char *base,
				  const char *path, size_t nparams, const LncSigV4Pair *params, const char *date, int expires_s,
				  const char **out)
{
	const char *host = strstr(base, "://");
	char hash[LNC_SHA256_HEX_SIZE];
	char signature[LNC_SHA256_HEX_SIZE];
	LncSigV4Pair *all;
	LncSigV4Pair header = {.name = "host"};
	LncSigV4Request request = {.method = method,
							   .path = path,
							   .nheaders = 1,
							   .headers = &header,
							   .payload_hash = LNC_SIGV4_UNSIGNED_PAYLOAD};
	const char *query;
	const char *signed_headers;
	char *scope;
	char *credential;
	char *expires;
	char *text;
	size_t n = nparams;

	if (expires_s < 1 || expires_s > LONGEST_EXPIRY)
		return lnc_fail(ctx, LNC_INVALID, "a presigned URL lives between 1 and %d seconds", LONGEST_EXPIRY);
	if (host == NULL)
		return lnc_fail(ctx, LNC_INVALID, "a presigned URL needs a scheme and a host");
	header.value = host + 3;
	LNC_TRY(make_scope(ctx, arena, key, date, &scope));
	LNC_TRY(lnc_arena_printf(ctx, arena, &credential, "%s/%s", key->access_key_id, scope));
	LNC_TRY(lnc_arena_printf(ctx, arena, &expires, "%d", expires_s));
	LNC_TRY(LNC_NEW(ctx, arena, &all, nparams + 6));
	for (size_t i = 0; i < nparams; i++)
		all[i] = params[i];
	all[n++] = (LncSigV4Pair){"X-Amz-Algorithm", ALGORITHM};
	all[n++] = (LncSigV4Pair){"X-Amz-Credential", credential};
	all[n++] = (LncSigV4Pair){"X-Amz-Date", date};
	all[n++] = (LncSigV4Pair){"X-Amz-Expires", expires};
	all[n++] = (LncSigV4Pair){"X-Amz-SignedHeaders", "host"};
	if (key->session_token != NULL)
		all[n++] = (LncSigV4Pair){"X-Amz-Security-Token", key->session_token};
	LNC_TRY(lnc_sigv4_query(ctx, arena, n, all, &query));
	LNC_TRY(hash_request(ctx, arena, &request, query, &signed_headers, hash));
	LNC_TRY(sign_hash(ctx, arena, key, date, scope, hash, signature));
	LNC_TRY(lnc_arena_printf(ctx, arena, &text, "%s%s?%s&X-Amz-Signature=%s", base, path, query, signature));
	*out = text;
	return LNC_OK;
}
