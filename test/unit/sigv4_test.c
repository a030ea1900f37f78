/*
 * sigv4_test.c
 *	  The signer against the published vectors: the Signature Version 4 test suite (its requests that are signed the
 *	  same way by S3) and the examples of the S3 API reference.
 */
#include "testing.h"

#include <string.h>

#include "base/arena.h"
#include "storage/sigv4.h"

#define EMPTY_HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

typedef struct SuiteCase
{
	const char *name;
	const char *method;
	const char *path;
	LncSigV4Pair params[3];
	LncSigV4Pair headers[3]; /* beside host and x-amz-date */
	const char *signature;
} SuiteCase;

static void
test_suite_vectors(void **state)
{
	static const LncSigV4Key key = {.access_key_id = "AKIDEXAMPLE",
									.secret_access_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
									.region = "us-east-1",
									.service = "service"};
	static const SuiteCase cases[] = {
		{.name = "get-vanilla",
		 .method = "GET",
		 .path = "/",
		 .signature = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{.name = "post-vanilla",
		 .method = "POST",
		 .path = "/",
		 .signature = "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{.name = "get-utf8",
		 .method = "GET",
		 .path = "/%E1%88%B4",
		 .signature = "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
		{.name = "get-vanilla-query-order-key-case",
		 .method = "GET",
		 .path = "/",
		 .params = {{"Param2", "value2"}, {"Param1", "value1"}},
		 .signature = "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{.name = "get-vanilla-query-unreserved",
		 .method = "GET",
		 .path = "/",
		 .params = {{"-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
					 "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"}},
		 .signature = "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
		{.name = "get-vanilla-utf8-query",
		 .method = "GET",
		 .path = "/",
		 .params = {{"\xE1\x88\xB4", "bar"}},
		 .signature = "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
		{.name = "get-header-value-trim",
		 .method = "GET",
		 .path = "/",
		 .headers = {{"my-header1", " value1"}, {"my-header2", " \"a   b   c\""}},
		 .signature = "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
		{.name = "post-header-key-sort",
		 .method = "POST",
		 .path = "/",
		 .headers = {{"my-header1", "value1"}},
		 .signature = "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		LncSigV4Pair headers[5] = {{"host", "example.amazonaws.com"}, {"x-amz-date", "20150830T123600Z"}};
		LncSigV4Request request = {.method = cases[i].method,
								   .path = cases[i].path,
								   .params = cases[i].params,
								   .headers = headers,
								   .nheaders = 2,
								   .payload_hash = EMPTY_HASH};
		const char *value;

		while (request.nparams < 3 && cases[i].params[request.nparams].name != NULL)
			request.nparams++;
		for (int n = 0; n < 3 && cases[i].headers[n].name != NULL; n++)
			headers[request.nheaders++] = cases[i].headers[n];
		assert_int_equal(lnc_sigv4_authorize(&ctx, arena, &key, &request, "20150830T123600Z", &value), LNC_OK);
		if (strstr(value, cases[i].signature) == NULL)
			fail_msg("%s: %s", cases[i].name, value);
		assert_non_null(strstr(value, "Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "));
	}
}

static const LncSigV4Key s3_key = {.access_key_id = "AKIAIOSFODNN7EXAMPLE",
								   .secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
								   .region = "us-east-1",
								   .service = "s3"};

static void
s3_header_examples(void **state)
{
	static const char put_hash[] = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
	const LncSigV4Pair host = {"host", "examplebucket.s3.amazonaws.com"};
	const LncSigV4Pair date = {"x-amz-date", "20130524T000000Z"};
	const LncSigV4Pair empty = {"x-amz-content-sha256", EMPTY_HASH};
	const LncSigV4Pair get_headers[] = {date, host, {"range", "bytes=0-9"}, empty};
	const LncSigV4Pair put_headers[] = {host,
										{"date", "Fri, 24 May 2013 00:00:00 GMT"},
										date,
										{"x-amz-storage-class", "REDUCED_REDUNDANCY"},
										{"x-amz-content-sha256", put_hash}};
	const LncSigV4Pair list_headers[] = {host, date, empty};
	const LncSigV4Pair list_params[] = {{"prefix", "J"}, {"max-keys", "2"}};
	const LncSigV4Pair lifecycle[] = {{"lifecycle", ""}};
	LncSigV4Request request = {
		.method = "GET", .path = "/test.txt", .nheaders = 4, .headers = get_headers, .payload_hash = EMPTY_HASH};
	const char *value;
	char hash[LNC_SHA256_HEX_SIZE];

	(void)state;
	assert_int_equal(lnc_sigv4_authorize(&ctx, arena, &s3_key, &request, "20130524T000000Z", &value), LNC_OK);
	assert_string_equal(value,
						"AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
						"SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
						"Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");

	assert_int_equal(lnc_sha256_hex(&ctx, (LncSlice){(const uint8_t *)"Welcome to Amazon S3.", 21}, hash), LNC_OK);
	assert_string_equal(hash, put_hash);
	assert_int_equal(lnc_sha256_hex(&ctx, (LncSlice){0}, hash), LNC_OK);
	assert_string_equal(hash, EMPTY_HASH);
	request = (LncSigV4Request){.method = "PUT",
								.path = "/test%24file.text",
								.nheaders = 5,
								.headers = put_headers,
								.payload_hash = put_hash};
	assert_int_equal(lnc_sigv4_authorize(&ctx, arena, &s3_key, &request, "20130524T000000Z", &value), LNC_OK);
	assert_non_null(strstr(value, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));

	request = (LncSigV4Request){.method = "GET",
								.path = "/",
								.nparams = 1,
								.params = lifecycle,
								.nheaders = 3,
								.headers = list_headers,
								.payload_hash = EMPTY_HASH};
	assert_int_equal(lnc_sigv4_authorize(&ctx, arena, &s3_key, &request, "20130524T000000Z", &value), LNC_OK);
	assert_non_null(strstr(value, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));

	request.nparams = 2;
	request.params = list_params;
	assert_int_equal(lnc_sigv4_authorize(&ctx, arena, &s3_key, &request, "20130524T000000Z", &value), LNC_OK);
	assert_non_null(strstr(value, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

static void
s3_presigned_example(void **state)
{
	LncSigV4Key key = s3_key;
	const char *url;

	(void)state;
	assert_int_equal(lnc_sigv4_presign(&ctx, arena, &key, "GET", "https://examplebucket.s3.amazonaws.com",
									   "/test.txt", 0, NULL, "20130524T000000Z", 86400, &url),
					 LNC_OK);
	assert_string_equal(url, "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256"
							 "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
							 "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
							 "&X-Amz-Signature="
							 "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
	assert_int_equal(
		lnc_sigv4_presign(&ctx, arena, &key, "GET", "https://h", "/", 0, NULL, "20130524T000000Z", 0, &url),
		LNC_INVALID);
	assert_int_equal(
		lnc_sigv4_presign(&ctx, arena, &key, "GET", "https://h", "/", 0, NULL, "20130524T000000Z", 604801, &url),
		LNC_INVALID);
	key.session_token = "to/ken==";
	assert_int_equal(
		lnc_sigv4_presign(&ctx, arena, &key, "GET", "https://h", "/", 0, NULL, "20130524T000000Z", 1, &url),
		LNC_OK);
	assert_non_null(strstr(url, "&X-Amz-Security-Token=to%2Fken%3D%3D&"));
}

static void
dates_are_utc(void **state)
{
	char date[LNC_SIGV4_DATE_SIZE];

	(void)state;
	assert_int_equal(lnc_sigv4_date(&ctx, 1440938160, date), LNC_OK);
	assert_string_equal(date, "20150830T123600Z");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_suite_vectors, setup, teardown),
		cmocka_unit_test_setup_teardown(s3_header_examples, setup, teardown),
		cmocka_unit_test_setup_teardown(s3_presigned_example, setup, teardown),
		cmocka_unit_test_setup_teardown(dates_are_utc, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
