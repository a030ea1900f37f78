/*
 * jwt_test.c
 *	  Web tokens: keys, signatures, claims.
 */
#include "testing.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "token/jwt.h"

#define NOW INT64_C(1300819000)
#define SECRET "a secret of more than thirty-two bytes"

/* RFC 7515, appendix A.1. Its token has no role; "iss" stands in for one. */
#define RFC_KEY                                                                                                   \
	"{\"kty\":\"oct\",\"k\":\"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9" \
	"CAow\"}"
#define RFC_TOKEN                                                                                                  \
	"eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGx" \
	"lLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

static LncSlice
slice(const char *text)
{
	return (LncSlice){.data = (const uint8_t *)text, .size = strlen(text)};
}

static LncJwtKeys *
read_keys(const char *file)
{
	LncJwtKeys *keys = NULL;

	OK(lnc_jwt_keys_read(&ctx, arena, slice(file), &keys));
	return keys;
}

static char *
base64url(const uint8_t *bytes, size_t size)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	char *text = calloc(1, size * 2 + 4);
	size_t n = 0;

	for (size_t i = 0; i < size; i += 3)
	{
		size_t left = size - i;
		uint32_t bits =
			(uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) | (left > 2 ? bytes[i + 2] : 0);

		for (size_t j = 0; j < (left > 2 ? 4 : left + 1); j++)
			text[n++] = letters[bits >> (18 - 6 * j) & 63];
	}
	return text;
}

/* Header and claims with their signature, by rsa or else by the secret. To be freed. */
static char *
sign(const char *header, const char *claims, EVP_PKEY *rsa)
{
	char *first = base64url((const uint8_t *)header, strlen(header));
	char *second = base64url((const uint8_t *)claims, strlen(claims));
	char *text = calloc(1, strlen(first) + strlen(second) + 2);
	char *token;
	char *third;
	uint8_t signature[1024];
	size_t size = sizeof(signature);
	unsigned int hmac_size = 0;

	sprintf(text, "%s.%s", first, second);
	if (rsa != NULL)
	{
		EVP_MD_CTX *md = EVP_MD_CTX_new();

		assert_int_equal(EVP_DigestSignInit(md, NULL, EVP_sha256(), NULL, rsa), 1);
		assert_int_equal(EVP_DigestSign(md, signature, &size, (const uint8_t *)text, strlen(text)), 1);
		EVP_MD_CTX_free(md);
	}
	else
	{
		assert_non_null(
			HMAC(EVP_sha256(), SECRET, strlen(SECRET), (const uint8_t *)text, strlen(text), signature, &hmac_size));
		size = hmac_size;
	}
	third = base64url(signature, size);
	token = calloc(1, strlen(text) + strlen(third) + 2);
	sprintf(token, "%s.%s", text, third);
	free(first);
	free(second);
	free(third);
	free(text);
	return token;
}

static const LncJwtExpected plain = {.role_claim = "role", .now_s = NOW, .leeway_s = 10};

/* Signed by the secret; the reason why it is refused, or the role. */
static const char *
outcome_of(const char *header, const char *claims, const LncJwtExpected *expected)
{
	LncJwtKeys *keys = read_keys(SECRET "\n");
	char *token = sign(header, claims, NULL);
	LncJwtClaims out;
	LncCode code = lnc_jwt_verify(&ctx, arena, keys, token, expected, &out);

	free(token);
	assert_true(code == LNC_OK || code == LNC_DENIED);
	return code == LNC_OK ? out.role : ctx.error.message;
}

static const char *
claims_outcome(const char *claims)
{
	return outcome_of("{\"alg\":\"HS256\"}", claims, &plain);
}

static void
rfc_example(void **state)
{
	LncJwtKeys *keys = read_keys(RFC_KEY);
	LncJwtExpected expected = {.role_claim = "iss", .now_s = NOW};
	LncJwtClaims claims;
	char broken[] = RFC_TOKEN;

	(void)state;
	OK(lnc_jwt_verify(&ctx, arena, keys, RFC_TOKEN, &expected, &claims));
	assert_string_equal(claims.role, "joe");
	assert_int_equal(claims.expires_at_s, 1300819380);

	/* one bit elsewhere, anywhere */
	for (size_t i = 0; i < strlen(broken); i++)
	{
		broken[i] ^= 1;
		assert_int_equal(lnc_jwt_verify(&ctx, arena, keys, broken, &expected, &claims), LNC_DENIED);
		broken[i] ^= 1;
	}
}

static void
claims_are_checked(void **state)
{
	LncJwtExpected strict = plain;

	(void)state;
	strict.issuer = "https://id.example";
	strict.audience = "lance";
	assert_string_equal(claims_outcome("{\"role\":\"ann\",\"exp\":1300819001}"), "ann");
	assert_string_equal(claims_outcome("{\"role\":\"ann\",\"exp\":1300818991}"), "ann");
	assert_string_equal(claims_outcome("{\"role\":\"ann\",\"exp\":1300818990}"), "the token has expired");
	assert_string_equal(claims_outcome("{\"role\":\"ann\",\"exp\":1300818990.5}"), "ann");
	assert_string_equal(claims_outcome("{\"role\":\"ann\",\"exp\":1e300}"), "ann");
	assert_string_equal(claims_outcome("{\"role\":\"ann\"}"), "the token has no claim \"exp\"");
	assert_string_equal(claims_outcome("{\"role\":\"ann\",\"exp\":null}"), "the token has no claim \"exp\"");
	assert_string_equal(claims_outcome("{\"role\":\"ann\",\"exp\":\"1400000000\"}"),
						"claim \"exp\" of the token is no time");
	assert_string_equal(claims_outcome("{\"role\":\"ann\",\"exp\":1400000000,\"nbf\":1300819010}"), "ann");
	assert_string_equal(claims_outcome("{\"role\":\"ann\",\"exp\":1400000000,\"nbf\":1300819011}"),
						"the token is not valid yet");
	assert_string_equal(claims_outcome("{\"exp\":1400000000}"), "the token names no role");
	assert_string_equal(claims_outcome("{\"role\":\"\",\"exp\":1400000000}"), "the token names no role");
	assert_string_equal(claims_outcome("{\"role\":[\"ann\"],\"exp\":1400000000}"), "the token names no role");
	assert_string_equal(claims_outcome("{\"role\":\"ann\",\"role\":\"bob\",\"exp\":1400000000}"),
						"the body of the token can't be read");
	assert_string_equal(claims_outcome("[1]"), "the body of the token can't be read");
	assert_string_equal(claims_outcome(""), "the body of the token can't be read");
	assert_string_equal(outcome_of("{\"alg\":\"HS256\"}",
								   "{\"role\":\"ann\",\"exp\":1400000000,\"iss\":\"https://id.example\","
								   "\"aud\":\"lance\"}",
								   &strict),
						"ann");
	assert_string_equal(outcome_of("{\"alg\":\"HS256\"}",
								   "{\"role\":\"ann\",\"exp\":1400000000,\"iss\":\"https://id.example\","
								   "\"aud\":[\"other\",7,\"lance\"]}",
								   &strict),
						"ann");
	assert_string_equal(outcome_of("{\"alg\":\"HS256\"}",
								   "{\"role\":\"ann\",\"exp\":1400000000,\"iss\":\"https://id.example\","
								   "\"aud\":[\"other\"]}",
								   &strict),
						"the token is for another audience");
	assert_string_equal(
		outcome_of("{\"alg\":\"HS256\"}", "{\"role\":\"ann\",\"exp\":1400000000,\"aud\":\"lance\"}", &strict),
		"the token is of another issuer");
	assert_string_equal(outcome_of("{\"alg\":\"HS256\"}",
								   "{\"role\":\"ann\",\"exp\":1400000000,\"iss\":\"https://id.example\"}", &strict),
						"the token is for another audience");
}

static void
headers_are_checked(void **state)
{
	static const char claims[] = "{\"role\":\"ann\",\"exp\":1400000000}";

	(void)state;
	assert_string_equal(outcome_of("{\"alg\":\"none\"}", claims, &plain),
						"the token is not signed by HS256 or RS256");
	assert_string_equal(outcome_of("{\"alg\":\"HS512\"}", claims, &plain),
						"the token is not signed by HS256 or RS256");
	assert_string_equal(outcome_of("{\"alg\":\"hs256\"}", claims, &plain),
						"the token is not signed by HS256 or RS256");
	assert_string_equal(outcome_of("{}", claims, &plain), "the token is not signed by HS256 or RS256");
	assert_string_equal(outcome_of("{\"alg\":\"HS256\",\"crit\":[\"x\"]}", claims, &plain),
						"the header of the token can't be read");
	assert_string_equal(outcome_of("{\"alg\":\"HS256\",\"kid\":7}", claims, &plain),
						"the header of the token can't be read");
	assert_string_equal(outcome_of("nonsense", claims, &plain), "the header of the token can't be read");
	assert_string_equal(outcome_of("{\"alg\":\"HS256\",\"kid\":\"any\"}", claims, &plain), "ann");
	assert_string_equal(outcome_of("{\"alg\":\"RS256\"}", claims, &plain),
						"the token is not signed by a key that is known here");
}

static void
forms_are_checked(void **state)
{
	static const char *const bad[] = {"",
									  ".",
									  "..",
									  "a.b",
									  "a.b.c.d",
									  "lance_x",
									  "....",
									  "eyJhbGciOiJIUzI1NiJ9..",
									  "eyJhbGciOiJIUzI1NiJ9.e30=.x",
									  "eyJhbGciOiJIUzI1NiJ9.e30.x y"};
	LncJwtKeys *keys = read_keys(SECRET);
	LncJwtClaims claims;
	char *longest = malloc(LNC_JWT_MAX_BYTES + 2);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(lnc_jwt_verify(&ctx, arena, keys, bad[i], &plain, &claims), LNC_DENIED);
	memset(longest, 'a', LNC_JWT_MAX_BYTES + 1);
	longest[LNC_JWT_MAX_BYTES + 1] = '\0';
	assert_int_equal(lnc_jwt_verify(&ctx, arena, keys, longest, &plain, &claims), LNC_DENIED);
	assert_string_equal(ctx.error.message, "the token is too long");
	free(longest);
}

/* The public half in PEM, and as a JSON web key of that id. To be freed. */
static char *
public_pem(EVP_PKEY *rsa)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *data;
	long size;
	char *text;

	assert_int_equal(PEM_write_bio_PUBKEY(bio, rsa), 1);
	size = BIO_get_mem_data(bio, &data);
	text = calloc(1, (size_t)size + 1);
	memcpy(text, data, (size_t)size);
	BIO_free(bio);
	return text;
}

static char *
public_jwk(EVP_PKEY *rsa, const char *id)
{
	BIGNUM *n = NULL;
	uint8_t bytes[1024];
	char *modulus;
	char *text = calloc(1, 2000);

	assert_int_equal(EVP_PKEY_get_bn_param(rsa, "n", &n), 1);
	modulus = base64url(bytes, (size_t)BN_bn2bin(n, bytes));
	sprintf(text, "{\"kty\":\"RSA\",\"use\":\"sig\",\"alg\":\"RS256\",\"kid\":\"%s\",\"n\":\"%s\",\"e\":\"AQAB\"}",
			id, modulus);
	free(modulus);
	BN_free(n);
	return text;
}

static void
rsa_keys(void **state)
{
	static const char claims[] = "{\"role\":\"ann\",\"exp\":1400000000}";
	EVP_PKEY *ours = EVP_RSA_gen(2048);
	EVP_PKEY *theirs = EVP_RSA_gen(2048);
	char *pem = public_pem(ours);
	char *first = public_jwk(theirs, "one");
	char *second = public_jwk(ours, "two");
	char set[4096];
	char *token = sign("{\"alg\":\"RS256\",\"kid\":\"two\"}", claims, ours);
	char *mislabelled = sign("{\"alg\":\"RS256\",\"kid\":\"one\"}", claims, ours);
	char *unlabelled = sign("{\"alg\":\"RS256\"}", claims, ours);
	char *foreign = sign("{\"alg\":\"RS256\"}", claims, theirs);
	LncJwtKeys *keys = read_keys(pem);
	LncJwtClaims out;

	(void)state;
	OK(lnc_jwt_verify(&ctx, arena, keys, token, &plain, &out));
	assert_string_equal(out.role, "ann");
	assert_int_equal(lnc_jwt_verify(&ctx, arena, keys, foreign, &plain, &out), LNC_DENIED);

	snprintf(set, sizeof(set), "{\"keys\":[%s,%s,{\"kty\":\"EC\"},{\"kty\":\"RSA\",\"use\":\"enc\"}]}", first,
			 second);
	keys = read_keys(set);
	OK(lnc_jwt_verify(&ctx, arena, keys, token, &plain, &out));
	OK(lnc_jwt_verify(&ctx, arena, keys, unlabelled, &plain, &out));
	OK(lnc_jwt_verify(&ctx, arena, keys, foreign, &plain, &out));
	assert_int_equal(lnc_jwt_verify(&ctx, arena, keys, mislabelled, &plain, &out), LNC_DENIED);
	free(token);
	free(mislabelled);
	free(unlabelled);
	free(foreign);
	free(first);
	free(second);
	free(pem);
	EVP_PKEY_free(ours);
	EVP_PKEY_free(theirs);
}

/* The text of a public key is no secret: a token that is signed with it by HMAC must not pass for one of its owner. */
static void
public_key_is_no_secret(void **state)
{
	EVP_PKEY *rsa = EVP_RSA_gen(2048);
	char *pem = public_pem(rsa);
	LncJwtKeys *keys = read_keys(pem);
	char *text = sign("{\"alg\":\"HS256\"}", "{\"role\":\"ann\",\"exp\":1400000000}", NULL);
	size_t signed_size = (size_t)(strrchr(text, '.') - text);
	uint8_t digest[EVP_MAX_MD_SIZE];
	unsigned int size;
	char *signature;
	char token[4096];
	LncJwtClaims out;

	(void)state;
	assert_non_null(HMAC(EVP_sha256(), pem, (int)strlen(pem), (const uint8_t *)text, signed_size, digest, &size));
	signature = base64url(digest, size);
	snprintf(token, sizeof(token), "%.*s.%s", (int)signed_size, text, signature);
	assert_int_equal(lnc_jwt_verify(&ctx, arena, keys, token, &plain, &out), LNC_DENIED);
	free(signature);
	free(text);
	free(pem);
	EVP_PKEY_free(rsa);
}

static void
bad_keys(void **state)
{
	static const char *const bad[] = {
		"",
		"short",
		"{",
		"{}",
		"{\"keys\":[]}",
		"{\"keys\":7}",
		"{\"keys\":[7]}",
		"{\"keys\":[{\"kty\":\"EC\"}]}",
		"{\"kty\":\"oct\"}",
		"{\"kty\":\"oct\",\"k\":\"AAAA\"}",
		"{\"kty\":\"oct\",\"k\":\"!!!!\"}",
		"{\"kty\":\"oct\",\"alg\":\"HS512\",\"k\":\"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-"
		"1qS0gZH75aKtMN3Yj\"}",
		"{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}",
		"{\"kty\":\"RSA\",\"n\":\"\",\"e\":\"\"}",
		"{\"kty\":\"RSA\",\"e\":\"AQAB\"}",
		"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
		"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
		/* Public keys in forms that are not read are no secrets. */
		"the issuer's key\n-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
		"\xef\xbb\xbf-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
		"[{\"kty\":\"RSA\",\"n\":\"AQABAQABAQABAQABAQABAQAB\",\"e\":\"AQAB\"}]",
		"\xef\xbb\xbf{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQABAQABAQABAQABAQABAQAB\",\"e\":\"AQAB\"}]}",
		"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDbnobodyskey issuer@host",
		"MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA"
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
		"AAAAAAAAAAAAAA",
	};
	LncJwtKeys *keys;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(lnc_jwt_keys_read(&ctx, arena, slice(bad[i]), &keys), LNC_INVALID);
}

static void
base64url_text(void **state)
{
	LncSlice bytes;

	(void)state;
	OK(lnc_base64url_decode(&ctx, arena, "", 0, &bytes));
	assert_int_equal(bytes.size, 0);
	OK(lnc_base64url_decode(&ctx, arena, "_-8", 3, &bytes));
	assert_int_equal(bytes.size, 2);
	assert_memory_equal(bytes.data, "\xff\xef", 2);
	OK(lnc_base64url_decode(&ctx, arena, "AA", 2, &bytes));
	assert_int_equal(bytes.size, 1);
	assert_int_equal(lnc_base64url_decode(&ctx, arena, "A", 1, &bytes), LNC_INVALID);
	assert_int_equal(lnc_base64url_decode(&ctx, arena, "AB", 2, &bytes), LNC_INVALID);
	assert_int_equal(lnc_base64url_decode(&ctx, arena, "AA==", 4, &bytes), LNC_INVALID);
	assert_int_equal(lnc_base64url_decode(&ctx, arena, "A+/A", 4, &bytes), LNC_INVALID);
	assert_int_equal(lnc_base64url_decode(&ctx, arena,
										  "A\xc3\xa4"
										  "A",
										  4, &bytes),
					 LNC_INVALID);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rfc_example, setup, teardown),
		cmocka_unit_test_setup_teardown(claims_are_checked, setup, teardown),
		cmocka_unit_test_setup_teardown(headers_are_checked, setup, teardown),
		cmocka_unit_test_setup_teardown(forms_are_checked, setup, teardown),
		cmocka_unit_test_setup_teardown(rsa_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(public_key_is_no_secret, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(base64url_text, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
