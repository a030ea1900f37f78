/*
 * jwt_keys.c
 *	  Keys from JSON web key sets, PEM files and plain secrets.
 */
#include "token/jwt_keys.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <string.h>

#include "base/json.h"

/* A secret that can be guessed is none (RFC 7518, section 3.2). */
#define MIN_SECRET_BYTES 32

/* RFC 7518, section 3.3; and more bits than anybody has would only cost time. */
#define MIN_RSA_BITS 2048
#define MAX_RSA_BITS 16384

/* An RSA key of the fewest bits that there are has more bytes in every form. */
#define SMALLEST_PUBLIC 128

/* At the end of the arena. */
static void
clear_keys(void *arg)
{
	LncJwtKeys *keys = arg;

	for (size_t i = 0; i < keys->nkeys; i++)
	{
		EVP_PKEY_free(keys->keys[i].rsa);
		if (keys->keys[i].secret_size > 0)
			OPENSSL_cleanse(keys->keys[i].secret, keys->keys[i].secret_size);
	}
}

/* The next key of the set, with its id; it counts once nkeys is raised. */
static LncCode
next_key(LncContext *ctx, LncArena *arena, LncJwtKeys *keys, const char *id, LncJwtKey **out)
{
	LncJwtKey *key = &keys->keys[keys->nkeys];

	if (keys->nkeys == LNC_JWT_MAX_KEYS)
		return lnc_fail(ctx, LNC_LIMIT, "there are more than %d keys", LNC_JWT_MAX_KEYS);
	if (id != NULL)
		LNC_TRY(lnc_arena_strndup(ctx, arena, id, strlen(id), &key->id));
	*out = key;
	return LNC_OK;
}

static LncCode
add_secret(LncContext *ctx, LncArena *arena, LncJwtKeys *keys, const char *id, LncSlice secret)
{
	LncJwtKey *key;

	if (secret.size < MIN_SECRET_BYTES)
		return lnc_fail(ctx, LNC_INVALID, "a secret has %zu bytes, at least %d are needed", secret.size,
						MIN_SECRET_BYTES);
	LNC_TRY(next_key(ctx, arena, keys, id, &key));
	LNC_TRY(LNC_NEW(ctx, arena, &key->secret, secret.size));
	memcpy(key->secret, secret.data, secret.size);
	key->secret_size = secret.size;
	keys->nkeys++;
	return LNC_OK;
}

/* Takes over rsa. */
static LncCode
add_rsa(LncContext *ctx, LncArena *arena, LncJwtKeys *keys, const char *id, EVP_PKEY *rsa)
{
	int bits = EVP_PKEY_get_bits(rsa);
	LncJwtKey *key;
	LncCode code;

	if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS)
		code = lnc_fail(ctx, LNC_INVALID, "an RSA key has %d bits, %d to %d are allowed", bits, MIN_RSA_BITS,
						MAX_RSA_BITS);
	else
		code = next_key(ctx, arena, keys, id, &key);
	if (code != LNC_OK)
	{
		EVP_PKEY_free(rsa);
		return code;
	}
	key->rsa = rsa;
	keys->nkeys++;
	return LNC_OK;
}

/* ---- JSON web keys */

/* A public key of modulus and exponent; NULL when they make none. */
static EVP_PKEY *
rsa_of_numbers(LncSlice modulus, LncSlice exponent)
{
	BIGNUM *n = BN_bin2bn(modulus.data, (int)modulus.size, NULL);
	BIGNUM *e = BN_bin2bn(exponent.data, (int)exponent.size, NULL);
	OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
	OSSL_PARAM *params = NULL;
	EVP_PKEY_CTX *maker = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
	EVP_PKEY *rsa = NULL;

	if (n != NULL && e != NULL && builder != NULL && maker != NULL &&
		OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
		OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1)
		params = OSSL_PARAM_BLD_to_param(builder);
	if (params == NULL || EVP_PKEY_fromdata_init(maker) != 1 ||
		EVP_PKEY_fromdata(maker, &rsa, EVP_PKEY_PUBLIC_KEY, params) != 1)
	{
		EVP_PKEY_free(rsa);
		rsa = NULL;
	}
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(builder);
	EVP_PKEY_CTX_free(maker);
	BN_free(n);
	BN_free(e);
	ERR_clear_error();
	return rsa;
}

static LncCode
bytes_member(LncContext *ctx, LncArena *arena, const LncJson *key, const char *name, LncSlice *out)
{
	const char *text;

	LNC_TRY(lnc_json_get_string(ctx, key, name, &text));
	if (text == NULL)
		return lnc_fail(ctx, LNC_INVALID, "a key has no member \"%s\"", name);
	if (strlen(text) > LNC_JWT_MAX_BYTES)
		return lnc_fail(ctx, LNC_INVALID, "member \"%s\" of a key is too long", name);
	return lnc_base64url_decode(ctx, arena, text, strlen(text), out);
}

static LncCode
add_json_key(LncContext *ctx, LncArena *arena, LncJwtKeys *keys, const LncJson *json)
{
	const char *kind;
	const char *use;
	const char *algorithm;
	const char *id;
	LncSlice bytes;
	LncSlice exponent;
	EVP_PKEY *rsa;

	if (lnc_json_kind(json) != LNC_JSON_OBJECT)
		return lnc_fail(ctx, LNC_INVALID, "a key is %s where an object is needed",
						lnc_json_kind_name(lnc_json_kind(json)));
	LNC_TRY(lnc_json_get_string(ctx, json, "kty", &kind));
	LNC_TRY(lnc_json_get_string(ctx, json, "use", &use));
	LNC_TRY(lnc_json_get_string(ctx, json, "alg", &algorithm));
	LNC_TRY(lnc_json_get_string(ctx, json, "kid", &id));
	if (kind == NULL)
		return lnc_fail(ctx, LNC_INVALID, "a key has no member \"kty\"");
	if (use != NULL && strcmp(use, "sig") != 0)
		return LNC_OK;
	if (strcmp(kind, "oct") == 0 && (algorithm == NULL || strcmp(algorithm, "HS256") == 0))
	{
		LncCode code;

		LNC_TRY(bytes_member(ctx, arena, json, "k", &bytes));
		code = add_secret(ctx, arena, keys, id, bytes);
		OPENSSL_cleanse((void *)(uintptr_t)bytes.data, bytes.size);
		return code;
	}
	if (strcmp(kind, "RSA") != 0 || (algorithm != NULL && strcmp(algorithm, "RS256") != 0))
		return LNC_OK;
	LNC_TRY(bytes_member(ctx, arena, json, "n", &bytes));
	LNC_TRY(bytes_member(ctx, arena, json, "e", &exponent));
	rsa = rsa_of_numbers(bytes, exponent);
	if (rsa == NULL)
		return lnc_fail(ctx, LNC_INVALID, "an RSA key is damaged");
	return add_rsa(ctx, arena, keys, id, rsa);
}

static LncCode
read_json(LncContext *ctx, LncArena *arena, LncJwtKeys *keys, LncSlice file)
{
	const LncJson *json;
	const LncJson *list;

	LNC_TRY(lnc_json_parse(ctx, arena, file, &json));
	if (lnc_json_member(json, "keys") == NULL)
		return add_json_key(ctx, arena, keys, json);
	LNC_TRY(lnc_json_get_array(ctx, json, "keys", &list));
	LNC_JSON_EACH(key, list)
	LNC_TRY(add_json_key(ctx, arena, keys, key));
	return LNC_OK;
}

/* ---- PEM */

static LncCode
read_pem(LncContext *ctx, LncArena *arena, LncJwtKeys *keys, LncSlice file)
{
	BIO *bio = BIO_new_mem_buf(file.data, (int)file.size);
	LncCode code = LNC_OK;
	EVP_PKEY *rsa;

	if (bio == NULL)
		return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory");
	while (code == LNC_OK && (rsa = PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL)) != NULL)
	{
		if (EVP_PKEY_is_a(rsa, "RSA"))
			code = add_rsa(ctx, arena, keys, NULL, rsa);
		else
			EVP_PKEY_free(rsa);
	}
	ERR_clear_error();
	BIO_free(bio);
	return code;
}

/* ---- all forms */

/* Where text begins, behind blanks. */
static LncSlice
skip_blanks(LncSlice file)
{
	while (file.size > 0 && memchr(" \t\r\n", file.data[0], 4) != NULL)
	{
		file.data++;
		file.size--;
	}
	return file;
}

/*
 * Does the text hold public keys in a form that is not read: behind other text or a mark of its encoding, in an array, as OpenSSH or
 * bare DER writes them? Everybody may know it, and could sign if it were taken for a secret.
 */
static bool
is_public(LncSlice text)
{
	static const char *const inside[] = {"-----BEGIN ", "\"kty\"", "ssh-rsa "};
	static const char *const first[] = {"\xef\xbb\xbf{", "\xff\xfe{", "\xfe\xff", "\x30\x82\x01", "MIG", "MII"};

	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
	{
		if (memmem(text.data, text.size, inside[i], strlen(inside[i])) != NULL)
			return true;
	}
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
	{
		if (text.size >= SMALLEST_PUBLIC && memcmp(text.data, first[i], strlen(first[i])) == 0)
			return true;
	}
	return false;
}

static LncCode
read_all(LncContext *ctx, LncArena *arena, LncJwtKeys *keys, LncSlice file)
{
	static const char pem[] = "-----BEGIN ";
	LncSlice text = skip_blanks(file);

	if (text.size > 0 && text.data[0] == '{')
		return read_json(ctx, arena, keys, text);
	if (text.size > sizeof(pem) - 1 && memcmp(text.data, pem, sizeof(pem) - 1) == 0)
		return read_pem(ctx, arena, keys, text);
	if (is_public(text))
		return lnc_fail(ctx, LNC_INVALID, "the file seems to hold public keys, in a form that is not read");
	while (file.size > 0 && (file.data[file.size - 1] == '\n' || file.data[file.size - 1] == '\r'))
		file.size--;
	return add_secret(ctx, arena, keys, NULL, file);
}

LncCode
lnc_jwt_keys_read(LncContext *ctx, LncArena *arena, LncSlice file, LncJwtKeys **out)
{
	LncJwtKeys *keys;

	if (file.size > (size_t)LNC_JWT_MAX_KEYS * LNC_JWT_MAX_BYTES)
		return lnc_fail(ctx, LNC_LIMIT, "the file of keys has %zu bytes", file.size);
	LNC_TRY(LNC_NEW(ctx, arena, &keys, 1));
	LNC_TRY(lnc_arena_on_cleanup(ctx, arena, clear_keys, keys));
	LNC_TRY(read_all(ctx, arena, keys, file));
	if (keys->nkeys == 0)
		return lnc_fail(ctx, LNC_INVALID, "there is no key for HS256 or RS256");
	*out = keys;
	return LNC_OK;
}
