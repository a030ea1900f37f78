/*
 * credentials_test.c
 *	  Keys that expire: the S3 store with a source of newer ones, and what such sources ask their services.
 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "http_fake.h"
#include "storage/credentials.h"
#include "storage/instance.h"
#include "storage/storage.h"
#include "storage/sts.h"

#define XML_ERROR(code) "<Error><Code>" code "</Code><Message>Text of " code ".</Message></Error>"
#define HOUR_MS 3600000

static FakeServer server;
static char endpoint[64];

static int
begin(void **state)
{
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	return setup(state);
}

static void
serve(FakeHandler handler, void *arg)
{
	fake_start(&server, handler, arg);
	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d", server.port);
}

/* ---- the store and its source */

/* Gives KEY1, KEY2, … */
typedef struct Source
{
	int64_t age_ms; /* of the first keys */
	int fetched;
	int fails_from; /* the number of the first call without keys; 0: none */
	int64_t lifetime_ms;
	uint64_t last_refused;
} Source;

static LncCode
fetch(LncContext *c, void *arg, uint64_t refused, LncCredentials *out)
{
	Source *source = arg;
	char key[32];

	source->last_refused = refused;
	source->fetched++;
	if (source->fails_from != 0 && source->fetched >= source->fails_from)
		return lnc_fail(c, LNC_UNAVAILABLE, "no keys today");
	snprintf(key, sizeof(key), "KEY%d", source->fetched);
	LNC_TRY(lnc_credentials_set(c, out, key, "do-not-show-the-secret", "TOKEN"));
	out->serial = (uint64_t)source->fetched;
	if (source->fetched == 1)
		out->obtained_ms -= source->age_ms;
	out->expires_ms = out->obtained_ms + source->lifetime_ms;
	return LNC_OK;
}

/* Refuses the keys that are listed, and answers others with ten digits. */
typedef struct Guard
{
	const char *refused; /* "KEY1 KEY2 "; "*": all */
	const char *code;
	const char *status;
} Guard;

static bool
guard(void *arg, int fd, int n, const FakeRequest *request)
{
	const Guard *g = arg;
	const char *key = strstr(request->head, "Credential=");
	char name[32];

	(void)n;
	if (key == NULL || sscanf(key, "Credential=%31[^/]", name) != 1)
		return fake_reply(fd, "403 X", NULL, XML_ERROR("AccessDenied"));
	if (g->refused[0] == '*' || strstr(g->refused, name) != NULL)
	{
		if (strncmp(request->head, "HEAD", 4) == 0)
			return fake_reply(fd, g->status, NULL, "");
		return fake_reply(fd, g->status, NULL, g->code);
	}
	if (strncmp(request->head, "HEAD", 4) == 0)
		return fake_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
	if (strncmp(request->head, "PUT", 3) == 0)
		return fake_reply(fd, "200 OK", NULL, "");
	return fake_reply(fd, "200 OK", NULL, "0123456789");
}

static LncStore *
open_store(FakeHandler handler, void *arg, Source *source)
{
	LncCredentialSource by = {.fetch = fetch, .arg = source};
	LncStoreConfig config = {.credentials = &by, .allow_http = true, .max_retries = -1, .endpoint = endpoint};
	LncStore *store;

	serve(handler, arg);
	OK(lnc_store_open(&ctx, arena, "s3://bkt/t.lance", &config, &store));
	return store;
}

static void
close_store(void)
{
	lnc_arena_reset(arena);
	fake_stop(&server);
}

static void
expired_keys_are_renewed_once(void **state)
{
	static const char *const codes[] = {XML_ERROR("ExpiredToken"), XML_ERROR("InvalidToken"),
										XML_ERROR("TokenRefreshRequired")};

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
	{
		Guard g = {.refused = "KEY1 ", .code = codes[i], .status = i == 0 ? "400 X" : "403 X"};
		Source source = {.lifetime_ms = HOUR_MS};
		LncStore *store = open_store(guard, &g, &source);
		LncSlice bytes;
		uint64_t size;

		OK(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes));
		assert_int_equal(bytes.size, 10);
		assert_int_equal(source.fetched, 2);
		assert_int_equal(source.last_refused, 1);
		assert_int_equal(server.count, 2);
		OK(lnc_store_put(&ctx, store, "k", bytes));
		OK(lnc_store_size(&ctx, store, "k", &size));
		assert_int_equal(source.fetched, 2);
		assert_int_equal(server.count, 4);
		assert_null(strstr(server.requests[0].head, "do-not-show"));
		close_store();
	}
}

static void
requests_in_flight_share_one_renewal(void **state)
{
	Guard g = {.refused = "KEY1 ", .code = XML_ERROR("ExpiredToken"), .status = "400 X"};
	Source source = {.lifetime_ms = HOUR_MS, .age_ms = 5000};
	LncStore *store = open_store(guard, &g, &source);
	const char *keys[20];
	bool present[20];
	char names[20][16];

	(void)state;
	for (int i = 0; i < 20; i++)
	{
		snprintf(names[i], sizeof(names[i]), "k%d", i);
		keys[i] = names[i];
	}
	OK(lnc_store_present(&ctx, store, 20, keys, present));
	for (int i = 0; i < 20; i++)
		assert_true(present[i]);
	assert_int_equal(source.fetched, 2);
	/* Those that were on their way with the old keys went twice, the others once. */
	assert_in_range(server.count, 21, 40);
	close_store();
}

static void
keys_that_stay_refused_are_given_up(void **state)
{
	Guard g = {.refused = "*", .code = XML_ERROR("ExpiredToken"), .status = "400 X"};
	Source source = {.lifetime_ms = HOUR_MS};
	LncStore *store = open_store(guard, &g, &source);
	LncSlice bytes;

	(void)state;
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes), LNC_DENIED);
	assert_non_null(strstr(ctx.error.message, "ExpiredToken"));
	assert_int_equal(source.fetched, 3);
	assert_int_equal(server.count, 3);
	close_store();

	g.code = XML_ERROR("AccessDenied");
	g.status = "403 X";
	source = (Source){.lifetime_ms = HOUR_MS};
	store = open_store(guard, &g, &source);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes), LNC_DENIED);
	assert_int_equal(source.fetched, 1);
	assert_int_equal(server.count, 1);
	close_store();
}

static void
answers_to_head_do_not_tell(void **state)
{
	Guard g = {.refused = "*", .code = "", .status = "400 X"};
	Source source = {.lifetime_ms = HOUR_MS, .age_ms = 5000};
	LncStore *store = open_store(guard, &g, &source);
	uint64_t size;

	(void)state;
	/* Keys of some age are renewed; when that does not help, it was not for them. */
	assert_int_equal(lnc_store_size(&ctx, store, "k", &size), LNC_IO);
	assert_non_null(strstr(ctx.error.message, "answered 400"));
	assert_int_equal(source.fetched, 2);
	close_store();

	g.refused = "KEY1 ";
	source = (Source){.lifetime_ms = HOUR_MS, .age_ms = 5000};
	store = open_store(guard, &g, &source);
	OK(lnc_store_size(&ctx, store, "k", &size));
	assert_int_equal(size, 10);
	assert_int_equal(source.fetched, 2);
	close_store();

	g.status = "403 X";
	source = (Source){.lifetime_ms = HOUR_MS, .age_ms = 5000};
	store = open_store(guard, &g, &source);
	assert_int_equal(lnc_store_size(&ctx, store, "k", &size), LNC_DENIED);
	assert_int_equal(source.fetched, 1);
	close_store();
}

static void
keys_are_renewed_ahead_of_their_end(void **state)
{
	Guard g = {.refused = "none", .code = "", .status = "400 X"};
	Source source = {.lifetime_ms = 400};
	LncStore *store = open_store(guard, &g, &source);
	struct timespec pause = {.tv_nsec = 450 * 1000 * 1000};
	LncSlice bytes;

	(void)state;
	OK(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes));
	assert_int_equal(source.fetched, 1);
	nanosleep(&pause, NULL);
	OK(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes));
	assert_int_equal(source.fetched, 2);
	assert_int_equal(source.last_refused, 0);
	close_store();
}

/* The clock was set back by half an hour after the keys were obtained. */
static void
keys_from_the_future_are_renewed(void **state)
{
	Guard g = {.refused = "none", .code = "", .status = "400 X"};
	Source source = {.lifetime_ms = HOUR_MS, .age_ms = -HOUR_MS / 2};
	LncStore *store = open_store(guard, &g, &source);
	LncSlice bytes;
	uint64_t size;

	(void)state;
	OK(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes));
	OK(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes));
	assert_int_equal(source.fetched, 2);
	OK(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes));
	assert_int_equal(source.fetched, 2);
	close_store();

	/* A little is not minded, but their age is then unknown. */
	g.refused = "KEY1 ";
	source = (Source){.lifetime_ms = HOUR_MS, .age_ms = -30000};
	store = open_store(guard, &g, &source);
	OK(lnc_store_size(&ctx, store, "k", &size));
	assert_int_equal(source.fetched, 2);
	close_store();
}

static void
a_source_without_keys_is_told(void **state)
{
	Guard g = {.refused = "KEY1 ", .code = XML_ERROR("ExpiredToken"), .status = "400 X"};
	Source source = {.lifetime_ms = HOUR_MS, .fails_from = 1};
	LncStore *store = open_store(guard, &g, &source);
	LncSlice bytes;

	(void)state;
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes), LNC_UNAVAILABLE);
	assert_string_equal(ctx.error.message, "no keys today");
	assert_int_equal(server.count, 0);
	source.fetched = 0;
	source.fails_from = 2;
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes), LNC_UNAVAILABLE);
	assert_int_equal(server.count, 1);
	close_store();
}

/* The first attempt is lost, the second refused for its keys, the third finds the name taken: by our own first one. */
static bool
lose_then_expire(void *arg, int fd, int n, const FakeRequest *request)
{
	(void)arg;
	(void)request;
	switch (n)
	{
		case 0:
			return fake_reset(fd);
		case 1:
			return fake_reply(fd, "400 X", NULL, XML_ERROR("ExpiredToken"));
		case 2:
			return fake_reply(fd, "412 X", NULL, XML_ERROR("PreconditionFailed"));
		default:
			return fake_reply(fd, "200 OK", NULL, "mine");
	}
}

static void
lost_writes_stay_in_doubt_over_a_renewal(void **state)
{
	Source source = {.lifetime_ms = HOUR_MS};
	LncCredentialSource by = {.fetch = fetch, .arg = &source};
	LncStoreConfig config = {.credentials = &by, .allow_http = true, .max_retries = 1, .endpoint = endpoint};
	LncStore *store;

	(void)state;
	serve(lose_then_expire, NULL);
	OK(lnc_store_open(&ctx, arena, "s3://bkt/t.lance", &config, &store));
	OK(lnc_store_put_if_absent(&ctx, store, "k", (LncSlice){.data = (const uint8_t *)"mine", .size = 4}));
	assert_int_equal(server.count, 4);
	assert_int_equal(source.fetched, 2);
	close_store();
}

static void
texts_are_bounded(void **state)
{
	LncCredentials c;
	char longer[LNC_SESSION_TOKEN_SIZE + 1];

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	OK(lnc_credentials_set(&ctx, &c, "a", "b", longer + 1));
	assert_int_equal(lnc_credentials_set(&ctx, &c, "a", "b", longer), LNC_INVALID);
	assert_int_equal(lnc_credentials_set(&ctx, &c, longer, "b", NULL), LNC_INVALID);
	assert_int_equal(lnc_credentials_set(&ctx, &c, "a", NULL, NULL), LNC_INVALID);
	assert_int_equal(lnc_credentials_set(&ctx, &c, "a", "b\r\nx: y", NULL), LNC_INVALID);
	assert_null(strstr(ctx.error.message, "x: y"));
	OK(lnc_credentials_set(&ctx, &c, "a", "b", NULL));
	lnc_credentials_wipe(&c);
	for (size_t i = 0; i < sizeof(c); i++)
		assert_int_equal(((const uint8_t *)&c)[i], 0);
}

/* ---- the token service */

#define ANSWER(action, expiration)                                                                           \
	"<" action "Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><" action                       \
	"Result><AssumedRoleUser><Arn>arn</Arn></AssumedRoleUser><Credentials><AccessKeyId>ASIA1</AccessKeyId>"  \
	"<SecretAccessKey>s+/1</SecretAccessKey><SessionToken>\n  tok==\n</SessionToken><Expiration>" expiration \
	"</Expiration></Credentials></" action "Result></" action "Response>"

typedef struct Reply
{
	const char *status;
	const char *headers;
	const char *body;
	int silent; /* so many requests get no answer first */
} Reply;

static bool
reply(void *arg, int fd, int n, const FakeRequest *request)
{
	const Reply *r = arg;

	(void)request;
	if (n < r->silent)
		return true;
	return fake_reply(fd, r->status, r->headers, r->body);
}

static LncCode
assume(const Reply *answer, const LncStsRequest *request, int timeout_ms, LncCredentials *out)
{
	LncStsConfig config = {
		.endpoint = endpoint, .region = "eu-west-1", .allow_http = true, .timeout_ms = timeout_ms};

	serve(reply, (void *)(uintptr_t)answer);
	return lnc_sts_assume_role(&ctx, &config, request, out);
}

static void
role_is_assumed(void **state)
{
	static const Reply good = {.status = "200 OK", .body = ANSWER("AssumeRole", "2099-01-02T03:04:05Z")};
	LncCredentials key;
	LncStsRequest request = {.key = &key,
							 .role_arn = "arn:aws:iam::1:role/r",
							 .session_name = "alice",
							 .external_id = "ext",
							 .duration_s = 900,
							 .policy = "{\"a\":1}"};
	LncCredentials got;
	const char *head = server.requests[0].head;

	(void)state;
	OK(lnc_credentials_set(&ctx, &key, "AKID", "do-not-show-the-secret", "OLD"));
	OK(assume(&good, &request, 0, &got));
	assert_string_equal(got.access_key_id, "ASIA1");
	assert_string_equal(got.secret_access_key, "s+/1");
	assert_string_equal(got.session_token, "tok==");
	assert_int_equal(got.expires_ms, INT64_C(4071006245000));
	assert_string_equal(server.requests[0].body,
						"Action=AssumeRole&DurationSeconds=900&ExternalId=ext&Policy=%7B%22a%22%3A1%7D&"
						"RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName=alice&Version=2011-06-15");
	assert_int_equal(strncmp(head, "POST / HTTP/1.1\r\n", 17), 0);
	assert_non_null(strstr(head, "Credential=AKID/"));
	assert_non_null(strstr(
		head, "/eu-west-1/sts/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token"));
	assert_non_null(strcasestr(head, "\r\nx-amz-security-token: OLD\r\n"));
	assert_null(strstr(head, "do-not-show"));
	fake_stop(&server);
}

static void
web_identity_is_presented_unsigned(void **state)
{
	static const Reply good = {.status = "200 OK",
							   .body = ANSWER("AssumeRoleWithWebIdentity", "2099-01-02T03:04:05.123Z")};
	LncStsRequest request = {.web_identity_token = "e.y.J",
							 .role_arn = "r",
							 .session_name = "s",
							 .external_id = "x",
							 .duration_s = 3600};
	LncCredentials got;

	(void)state;
	OK(assume(&good, &request, 0, &got));
	assert_string_equal(got.session_token, "tok==");
	assert_null(strcasestr(server.requests[0].head, "authorization:"));
	assert_string_equal(server.requests[0].body, "Action=AssumeRoleWithWebIdentity&DurationSeconds=3600&RoleArn=r&"
												 "RoleSessionName=s&Version=2011-06-15&WebIdentityToken=e.y.J");
	fake_stop(&server);
}

static void
token_service_refuses(void **state)
{
	static const struct
	{
		Reply reply;
		LncCode code;
		const char *message;
		int requests;
	} cases[] = {
		{{.status = "403 X",
		  .body = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>No.</Message></Error></ErrorResponse>"},
		 LNC_DENIED,
		 "token service answered 403 AccessDenied",
		 1},
		{{.status = "500 X", .body = "oops"}, LNC_UNAVAILABLE, "token service answered 500", 2},
		{{.status = "302 X", .headers = "Location: http://127.0.0.1:1/\r\n", .body = ""},
		 LNC_DENIED,
		 "answered 302",
		 1},
		{{.status = "200 X", .body = "<html/>"}, LNC_CORRUPT, "holds no credentials", 1},
		{{.status = "200 X", .body = ANSWER("AssumeRole", "2001-01-02T03:04:05Z")},
		 LNC_CORRUPT,
		 "expired already",
		 1},
		{{.status = "200 X", .body = ANSWER("AssumeRole", "tomorrow")},
		 LNC_CORRUPT,
		 "when its credentials expire",
		 1},
		{{.status = "200 X", .body = "", .silent = 9}, LNC_UNAVAILABLE, "did not answer within 300 ms", 1},
	};
	LncCredentials key;
	LncStsRequest request = {.key = &key, .session_name = "s", .duration_s = 900};
	LncCredentials got;

	(void)state;
	OK(lnc_credentials_set(&ctx, &key, "AKID", "do-not-show-the-secret", NULL));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		int timeout_ms = cases[i].reply.silent ? 300 : 0;
		LncCode code = assume(&cases[i].reply, &request, timeout_ms, &got);

		if (code != cases[i].code || strstr(ctx.error.message, cases[i].message) == NULL ||
			server.count != cases[i].requests)
			fail_msg("case %zu: %s after %d requests: %s", i, lnc_code_name(code), server.count, ctx.error.message);
		assert_int_equal(got.access_key_id[0], 0);
		assert_int_equal(got.secret_access_key[0], 0);
		fake_stop(&server);
	}
}

static LncCode
parse(const char *text)
{
	LncCredentials out;

	return lnc_sts_parse_answer(&ctx, (LncSlice){.data = (const uint8_t *)text, .size = strlen(text)}, 1000, &out);
}

static void
answers_are_hostile(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		"<a>",
		"<a><Credentials/></a>",
		"<!DOCTYPE a [<!ENTITY e \"x\">]>" ANSWER("AssumeRole", "2099-01-02T03:04:05Z"),
		"<a><Credentials><AccessKeyId>a</AccessKeyId><SecretAccessKey>b</SecretAccessKey><SessionToken>c</"
		"SessionToken></Credentials></a>",
		"<a><Credentials><AccessKeyId>a</AccessKeyId><AccessKeyId>a</AccessKeyId><SecretAccessKey>b</"
		"SecretAccessKey>"
		"<SessionToken>c</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></a>",
		"<a><Credentials><AccessKeyId>\303\244</AccessKeyId><SecretAccessKey>b</SecretAccessKey>"
		"<SessionToken>c</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></a>",
		"<a><b><b><b><b><b><b><b><b><b><b><b><b><b><b><b><b><b>",
	};
	size_t size = 100 * 1024;
	char *longer = malloc(size);

	(void)state;
	assert_non_null(longer);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		if (parse(bad[i]) != LNC_CORRUPT)
			fail_msg("answer %zu accepted", i);
	}
	memset(longer, 'k', size);
	memcpy(longer, "<a><Credentials><AccessKeyId>", 29);
	longer[size - 1] = '\0';
	assert_int_equal(parse(longer), LNC_CORRUPT);
	free(longer);
	OK(parse(ANSWER("AssumeRole", "2099-01-02T03:04:05Z")));
}

/* ---- policies */

static void
policies_reach_one_prefix(void **state)
{
	static const char *const bad[] = {"", "*", "a/f*", "a?b", "${aws:username}", "a/${x"};
	static const char *const odd[] = {"[x]", "a b", "q\"x\\y", "t1", "$x", "a}b"};
	const char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(lnc_sts_policy(&ctx, arena, NULL, "bkt", bad[i], LNC_SESSION_READ, &text), LNC_INVALID);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		OK(lnc_sts_policy(&ctx, arena, NULL, "bkt", odd[i], LNC_SESSION_READ, &text));
	OK(lnc_sts_policy(&ctx, arena, NULL, "bkt", "a/t1", LNC_SESSION_READ, &text));
	assert_string_equal(
		text, "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":[\"s3:GetObject\"],"
			  "\"Resource\":\"arn:aws:s3:::bkt/a/t1/*\"},{\"Effect\":\"Allow\",\"Action\":[\"s3:ListBucket\"],"
			  "\"Resource\":\"arn:aws:s3:::bkt\",\"Condition\":{\"StringLike\":{\"s3:prefix\":\"a/t1/*\"}}}]}");
	OK(lnc_sts_policy(&ctx, arena, "aws-cn", "bkt", "q\"x", LNC_SESSION_WRITE, &text));
	assert_non_null(strstr(text, "\"s3:PutObject\",\"s3:DeleteObject\""));
	assert_non_null(strstr(text, "\"arn:aws-cn:s3:::bkt/q\\\"x/*\""));
}

/* ---- keys of the machine */

#define MACHINE_KEYS                                                                               \
	"{\"Code\":\"Success\",\"AccessKeyId\":\"ASIA2\",\"SecretAccessKey\":\"s2\",\"Token\":\"t2\"," \
	"\"Expiration\":\"2099-01-02T03:04:05Z\"}"

static bool
metadata(void *arg, int fd, int n, const FakeRequest *request)
{
	(void)arg;
	(void)n;
	if (strncmp(request->head, "PUT /latest/api/token ", 22) == 0)
		return fake_reply(
			fd, strcasestr(request->head, "\r\nX-aws-ec2-metadata-token-ttl-seconds: ") ? "200 OK" : "400 X", NULL,
			"session1");
	if (strcasestr(request->head, "\r\nX-aws-ec2-metadata-token: session1\r\n") == NULL)
		return fake_reply(fd, "401 X", NULL, "");
	if (strncmp(request->head, "GET /latest/meta-data/iam/security-credentials/ ", 48) == 0)
		return fake_reply(fd, "200 OK", NULL, "the-role\n");
	if (strncmp(request->head, "GET /latest/meta-data/iam/security-credentials/the-role ", 56) == 0)
		return fake_reply(fd, "200 OK", NULL, MACHINE_KEYS);
	return fake_reply(fd, "404 X", NULL, "");
}

static bool
container(void *arg, int fd, int n, const FakeRequest *request)
{
	(void)arg;
	(void)n;
	if (strncmp(request->head, "GET /v2/keys ", 13) != 0 ||
		strcasestr(request->head, "\r\nAuthorization: pod-token\r\n") == NULL)
		return fake_reply(fd, "403 X", NULL, "");
	return fake_reply(fd, "200 OK", NULL, MACHINE_KEYS);
}

static void
machines_and_containers_have_keys(void **state)
{
	static const char *const elsewhere[] = {"http://example.com/", "http://127.0.0.1.example.com/",
											"http://localhost@x/", "ftp://127.0.0.1/"};
	LncInstanceConfig config = {.metadata_endpoint = endpoint};
	LncCredentials got;
	char url[96];

	(void)state;
	/* The services are local: a proxy must not see the requests. */
	setenv("http_proxy", "http://127.0.0.1:1", 1);
	serve(metadata, NULL);
	OK(lnc_instance_credentials(&ctx, &config, &got));
	assert_string_equal(got.access_key_id, "ASIA2");
	assert_string_equal(got.session_token, "t2");
	assert_int_equal(got.expires_ms, INT64_C(4071006245000));
	assert_int_equal(server.count, 3);
	fake_stop(&server);

	serve(container, NULL);
	snprintf(url, sizeof(url), "%s/v2/keys", endpoint);
	config = (LncInstanceConfig){.container_url = url, .container_authorization = "pod-token"};
	OK(lnc_instance_credentials(&ctx, &config, &got));
	assert_string_equal(got.secret_access_key, "s2");
	config.container_authorization = "other";
	assert_int_equal(lnc_instance_credentials(&ctx, &config, &got), LNC_DENIED);
	fake_stop(&server);
	unsetenv("http_proxy");

	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
	{
		config.container_url = elsewhere[i];
		assert_int_equal(lnc_instance_credentials(&ctx, &config, &got), LNC_INVALID);
	}
}

static void
machine_answers_are_checked(void **state)
{
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"{\"AccessKeyId\":1}",
		"{\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"b "
		"c\",\"Token\":\"t\",\"Expiration\":\"2099-01-02T03:04:05Z\"}",
		"{\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"b\",\"Token\":\"t\",\"Expiration\":\"later\"}"};
	LncCredentials got;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		LncSlice text = {.data = (const uint8_t *)bad[i], .size = strlen(bad[i])};

		if (lnc_instance_parse_answer(&ctx, arena, text, 1000, &got) != LNC_CORRUPT)
			fail_msg("answer %zu accepted", i);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(expired_keys_are_renewed_once, begin, teardown),
		cmocka_unit_test_setup_teardown(requests_in_flight_share_one_renewal, begin, teardown),
		cmocka_unit_test_setup_teardown(keys_that_stay_refused_are_given_up, begin, teardown),
		cmocka_unit_test_setup_teardown(answers_to_head_do_not_tell, begin, teardown),
		cmocka_unit_test_setup_teardown(keys_are_renewed_ahead_of_their_end, begin, teardown),
		cmocka_unit_test_setup_teardown(keys_from_the_future_are_renewed, begin, teardown),
		cmocka_unit_test_setup_teardown(a_source_without_keys_is_told, begin, teardown),
		cmocka_unit_test_setup_teardown(lost_writes_stay_in_doubt_over_a_renewal, begin, teardown),
		cmocka_unit_test_setup_teardown(texts_are_bounded, begin, teardown),
		cmocka_unit_test_setup_teardown(role_is_assumed, begin, teardown),
		cmocka_unit_test_setup_teardown(web_identity_is_presented_unsigned, begin, teardown),
		cmocka_unit_test_setup_teardown(token_service_refuses, begin, teardown),
		cmocka_unit_test_setup_teardown(answers_are_hostile, begin, teardown),
		cmocka_unit_test_setup_teardown(policies_reach_one_prefix, begin, teardown),
		cmocka_unit_test_setup_teardown(machines_and_containers_have_keys, begin, teardown),
		cmocka_unit_test_setup_teardown(machine_answers_are_checked, begin, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
