/*
 * s3_server.c
 *	  Settings of the S3 server for tests, and requests to it by presigned URL.
 */
#include "s3_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "storage/http.h"
#include "storage/sigv4.h"

bool
s3_server_config(LncStoreConfig *config)
{
	*config = (LncStoreConfig){.endpoint = getenv("LANCE_TEST_S3_ENDPOINT"),
							   .access_key_id = getenv("LANCE_TEST_S3_KEY"),
							   .secret_access_key = getenv("LANCE_TEST_S3_SECRET"),
							   .allow_http = true};
	return config->endpoint != NULL && config->access_key_id != NULL && config->secret_access_key != NULL;
}

int
s3_server_request(LncContext *ctx, LncArena *arena, const LncStoreConfig *config, const char *method,
				  const char *path, LncSlice body, LncSlice *answer)
{
	static const LncHttpPolicy policy = {.max_retries = 1, .connect_timeout_ms = 5000, .idle_timeout_ms = 5000};
	LncSigV4Key key = {.access_key_id = config->access_key_id,
					   .secret_access_key = config->secret_access_key,
					   .region = "us-east-1",
					   .service = "s3"};
	LncHttpRequest request = {.method = method, .body = body, .max_body = 1 << 20};
	LncHttpStats stats = {0};
	LncHttp *http;
	char date[LNC_SIGV4_DATE_SIZE];

	assert_int_equal(lnc_sigv4_date(ctx, time(NULL), date), LNC_OK);
	assert_int_equal(
		lnc_sigv4_presign(ctx, arena, &key, method, config->endpoint, path, 0, NULL, date, 60, &request.url),
		LNC_OK);
	assert_int_equal(lnc_http_create(ctx, arena, &http), LNC_OK);
	assert_int_equal(lnc_http_run(ctx, http, arena, &policy, 1, &request, &stats), LNC_OK);
	*answer = request.answer;
	return request.status;
}

void
s3_server_make_bucket(LncContext *ctx, LncArena *arena, const LncStoreConfig *config, const char *bucket)
{
	LncSlice answer;
	char path[80];
	int status;

	snprintf(path, sizeof(path), "/%s", bucket);
	status = s3_server_request(ctx, arena, config, "PUT", path, (LncSlice){0}, &answer);
	if (status != 200 && status != 409)
		fail_msg("no bucket: %d %.*s", status, (int)answer.size, (const char *)answer.data);
}
