/*
 * s3_test.c
 *	  The S3 store against a server that misbehaves: retries, interrupts, conditional writes, answers that lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/env.h"
#include "http_fake.h"
#include "storage/http.h"
#include "storage/storage.h"
#include "storage_contract.h"

#define SECRET "do-not-show-the-secret"
#define TOKEN "do-not-show-the-token"
#define XML_ERROR(code) \
	"<?xml version=\"1.0\"?><Error><Code>" code "</Code><Message>Text of " code ".</Message></Error>"

static LncContext ctx;
static LncArena *arena;
static FakeServer server;
static LncStore *store;
static char endpoint[64];

/* What the server does with each request in turn; the last step repeats. */
typedef struct Step
{
	const char *status; /* NULL: see action */
	const char *body;
	const char *headers;
	enum
	{
		ANSWER,
		RESET,
		CUT,     /* half of the stated body, then the end */
		DRIBBLE, /* one byte each 30 ms */
		STALL,   /* half of the body, then silence */
		SILENCE  /* nothing at all */
	} action;
} Step;

static const Step *script;

static bool
play(void *arg, int fd, int n, const FakeRequest *request)
{
	const Step *step = script;
	char text[256];

	(void)arg;
	(void)request;
	for (int i = 0; i < n && (step[1].status != NULL || step[1].action != ANSWER); i++)
		step++;
	switch (step->action)
	{
		case ANSWER:
			return fake_reply(fd, step->status, step->headers, step->body);
		case RESET:
			return fake_reset(fd);
		case CUT:
			fake_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234");
			return false;
		case DRIBBLE:
			fake_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
			for (int i = 0; i < 10; i++)
			{
				usleep(30000);
				snprintf(text, sizeof(text), "%d", i);
				if (!fake_send(fd, text))
					return false;
			}
			return true;
		case STALL:
			fake_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234");
			return true;
		case SILENCE:
			return true;
	}
	return false;
}

static void
open_store(FakeHandler handler, void *arg, LncStoreConfig config)
{
	fake_start(&server, handler, arg);
	snprintf(endpoint, sizeof(endpoint), "http://%s:%d", config.virtual_hosted ? "localhost" : "127.0.0.1",
			 server.port);
	config.endpoint = endpoint;
	config.allow_http = true;
	assert_int_equal(lnc_store_open(&ctx, arena, "s3://bkt/some dir/t.lance", &config, &store), LNC_OK);
}

static void
open_script(const Step *steps, int max_retries)
{
	script = steps;
	open_store(play, NULL,
			   (LncStoreConfig){.access_key_id = "AKID",
								.secret_access_key = SECRET,
								.session_token = TOKEN,
								.max_retries = max_retries,
								.idle_timeout_ms = 250});
}

static int
setup(void **state)
{
	(void)state;
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	store = NULL;
	return arena == NULL;
}

static int
teardown(void **state)
{
	(void)state;
	lnc_arena_destroy(arena);
	if (store != NULL)
		fake_stop(&server);
	return 0;
}

static uint64_t
retries(void)
{
	LncStoreStats stats;

	lnc_store_stats(store, &stats);
	return stats.retries;
}

static LncSlice
slice(const char *text)
{
	return (LncSlice){.data = (const uint8_t *)text, .size = strlen(text)};
}

static void
expect_error(const char *part)
{
	if (strstr(ctx.error.message, part) == NULL)
		fail_msg("\"%s\" not in: %s", part, ctx.error.message);
	assert_null(strstr(ctx.error.message, SECRET));
	assert_null(strstr(ctx.error.detail, SECRET));
	assert_null(strstr(ctx.error.message, TOKEN));
	assert_null(strstr(ctx.error.detail, TOKEN));
}

static void
expect_ten_digits(void)
{
	LncSlice bytes;

	if (lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes) != LNC_OK)
		fail_msg("%s %s", ctx.error.message, ctx.error.detail);
	assert_int_equal(bytes.size, 10);
	assert_memory_equal(bytes.data, "0123456789", 10);
}

static void
busy_answers_are_retried(void **state)
{
	static const Step steps[] = {{.status = "500 Internal Server Error", .body = XML_ERROR("InternalError")},
								 {.status = "503 Slow Down", .body = XML_ERROR("SlowDown")},
								 {.status = "429 Too Many", .body = ""},
								 {.status = "400 Bad Request", .body = XML_ERROR("RequestTimeout")},
								 {.status = "200 OK", .body = "0123456789"},
								 {0}};

	(void)state;
	open_script(steps, 0);
	expect_ten_digits();
	assert_int_equal(retries(), 4);
}

static void
broken_connections_are_retried(void **state)
{
	static const Step steps[] = {
		{.action = RESET}, {.action = CUT}, {.status = "200 OK", .body = "0123456789"}, {0}};

	(void)state;
	open_script(steps, 0);
	expect_ten_digits();
	assert_int_equal(retries(), 2);
}

static void
slow_is_borne_and_silence_is_not(void **state)
{
	static const Step slow[] = {{.action = DRIBBLE}, {0}};
	static const Step stalled[] = {
		{.action = STALL}, {.action = SILENCE}, {.status = "200 OK", .body = "0123456789"}, {0}};

	(void)state;
	open_script(slow, -1);
	expect_ten_digits();
	lnc_arena_reset(arena);
	fake_stop(&server);
	open_script(stalled, 0);
	expect_ten_digits();
	assert_int_equal(retries(), 2);
}

static void
retries_come_to_an_end(void **state)
{
	static const Step busy[] = {{.status = "503 Slow Down", .body = XML_ERROR("SlowDown")}, {0}};
	static const Step silent[] = {{.action = SILENCE}, {0}};
	LncSlice bytes;

	(void)state;
	open_script(busy, 2);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes), LNC_UNAVAILABLE);
	assert_int_equal(server.count, 3);
	expect_error("s3://bkt/some dir/t.lance/k");
	expect_error("503 SlowDown");
	assert_non_null(strstr(ctx.error.detail, "3 attempts"));
	lnc_arena_reset(arena);
	fake_stop(&server);

	open_script(silent, -1);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes), LNC_UNAVAILABLE);
	expect_error("no answer from the store in 1 attempt");
	assert_int_equal(lnc_store_put(&ctx, store, "k", slice("x")), LNC_UNCLEAR);
	expect_error("some dir/t.lance/k");
	lnc_arena_reset(arena);
	fake_stop(&server);

	/* Nobody listens there any more. */
	open_script(silent, 1);
	fake_stop(&server);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes), LNC_UNAVAILABLE);
	expect_error("in 2 attempts");
	assert_int_equal(lnc_store_put(&ctx, store, "k", slice("x")), LNC_UNAVAILABLE);
	store = NULL;
}

/* Wherever an answer points to: nobody else is asked, and so nobody else is shown a signature. */
static void
redirects_are_not_followed(void **state)
{
	static const char *const statuses[] = {"301 Moved Permanently", "302 Found", "303 See Other",
										   "307 Temporary Redirect", "308 Permanent Redirect"};
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int elsewhere = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	char headers[128];
	LncSlice bytes;

	(void)state;
	assert_int_equal(bind(elsewhere, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(elsewhere, 5), 0);
	assert_int_equal(getsockname(elsewhere, (struct sockaddr *)&address, &length), 0);
	snprintf(headers, sizeof(headers), "Location: http://127.0.0.1:%d/elsewhere\r\n", ntohs(address.sin_port));
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
	{
		const Step steps[] = {{.status = statuses[i], .body = XML_ERROR("Redirect"), .headers = headers}, {0}};

		open_script(steps, 3);
		assert_int_not_equal(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes), LNC_OK);
		assert_int_not_equal(lnc_store_put(&ctx, store, "k", slice("x")), LNC_OK);
		assert_int_equal(server.count, 2);
		lnc_arena_reset(arena);
		fake_stop(&server);
	}
	assert_int_equal(accept(elsewhere, NULL, NULL), -1);
	assert_true(errno == EAGAIN || errno == EWOULDBLOCK);
	close(elsewhere);
}

static void
refusals_fail_at_once(void **state)
{
	static const Step denied[] = {{.status = "403 Forbidden", .body = XML_ERROR("AccessDenied")}, {0}};
	static const Step missing[] = {{.status = "404 Not Found", .body = XML_ERROR("NoSuchKey")}, {0}};
	static const Step moved[] = {
		{.status = "301 Moved Permanently",
		 .body = XML_ERROR("PermanentRedirect"),
		 .headers = "Location: http://127.0.0.1:1/elsewhere\r\nx-amz-bucket-region: eu-west-9\r\n"},
		{0}};
	static const Step expired[] = {{.status = "400 Bad Request", .body = XML_ERROR("ExpiredToken")}, {0}};
	static const Step no_bucket[] = {{.status = "404 Not Found", .body = XML_ERROR("NoSuchBucket")}, {0}};
	LncSlice bytes;
	int count = 0;
	uint64_t removed;

	(void)state;
	open_script(denied, 0);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes), LNC_DENIED);
	expect_error("\"s3://bkt/some dir/t.lance/k\": the store answered 403 AccessDenied");
	assert_non_null(strstr(ctx.error.detail, "Text of AccessDenied."));
	assert_int_equal(lnc_store_list(&ctx, store, "", true, NULL, lnc_count_objects, &count), LNC_DENIED);
	assert_int_equal(lnc_store_put(&ctx, store, "k", slice("x")), LNC_DENIED);
	assert_int_equal(lnc_store_put_if_absent(&ctx, store, "k", slice("x")), LNC_DENIED);
	assert_int_equal(lnc_store_delete(&ctx, store, "k"), LNC_DENIED);
	assert_int_equal(lnc_store_delete_prefix(&ctx, store, "", &removed), LNC_DENIED);
	assert_int_equal(server.count, 6);
	assert_int_equal(retries(), 0);
	lnc_arena_reset(arena);
	fake_stop(&server);

	open_script(missing, 0);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes), LNC_NOT_FOUND);
	expect_error("404 NoSuchKey");
	assert_int_equal(lnc_store_delete(&ctx, store, "k"), LNC_OK);
	lnc_arena_reset(arena);
	fake_stop(&server);

	open_script(moved, 0);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes), LNC_IO);
	assert_int_equal(server.count, 1);
	assert_non_null(strstr(ctx.error.hint, "eu-west-9"));
	lnc_arena_reset(arena);
	fake_stop(&server);

	open_script(expired, 0);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes), LNC_DENIED);
	lnc_arena_reset(arena);
	fake_stop(&server);

	open_script(no_bucket, 0);
	assert_int_equal(lnc_store_delete(&ctx, store, "k"), LNC_NO_STORE);
	assert_int_equal(lnc_store_list(&ctx, store, "", true, NULL, lnc_count_objects, &count), LNC_NO_STORE);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 100, &bytes), LNC_NO_STORE);
	assert_int_equal(lnc_store_put(&ctx, store, "k", slice("x")), LNC_NO_STORE);
	assert_int_equal(lnc_store_put_if_absent(&ctx, store, "k", slice("x")), LNC_NO_STORE);
	expect_error("the store answered 404 NoSuchBucket");
}

/* ---- interrupts */

static int64_t interrupt_at_ms;

static bool
interrupted_later(void *state)
{
	(void)state;
	return lnc_now_ms() >= interrupt_at_ms;
}

static void
interrupts_end_every_wait(void **state)
{
	static const Step silent[] = {{.action = SILENCE}, {0}};
	static const Step busy[] = {
		{.status = "503 Slow Down", .body = XML_ERROR("SlowDown"), .headers = "Retry-After: 10\r\n"}, {0}};
	static const Step stalled[] = {{.action = STALL}, {0}};
	const Step *const scripts[] = {silent, busy, stalled};
	LncEnv env = *lnc_env_default();
	LncContext stopped;

	(void)state;
	env.interrupted = interrupted_later;
	lnc_context_init(&stopped, &env);
	for (int i = 0; i < 3; i++)
	{
		int64_t start = lnc_now_ms();
		LncSlice bytes;

		script = scripts[i];
		open_store(play, NULL, (LncStoreConfig){.idle_timeout_ms = 60000});
		interrupt_at_ms = start + 300;
		assert_int_equal(lnc_store_read_all(&stopped, store, arena, "k", 100, &bytes), LNC_CANCELLED);
		assert_true(lnc_now_ms() - interrupt_at_ms < 1000);
		assert_true(lnc_now_ms() >= interrupt_at_ms);
		/* The store goes on working afterwards. */
		script = (const Step[]){{.status = "200 OK", .body = "0123456789"}, {0}};
		expect_ten_digits();
		lnc_arena_reset(arena);
		fake_stop(&server);
	}
	store = NULL;
}

/* A name server that is not there must not hold up an interrupt either. */
static void
interrupts_end_name_resolution(void **state)
{
	LncEnv env = *lnc_env_default();
	LncContext stopped;
	LncStore *remote;
	LncStoreConfig config = {.endpoint = "https://does-not-exist.invalid", .max_retries = 1000};
	LncSlice bytes;

	(void)state;
	env.interrupted = interrupted_later;
	lnc_context_init(&stopped, &env);
	interrupt_at_ms = INT64_MAX;
	assert_int_equal(lnc_store_open(&ctx, arena, "s3://bkt/x", &config, &remote), LNC_OK);
	interrupt_at_ms = lnc_now_ms() + 300;
	assert_int_equal(lnc_store_read_all(&stopped, remote, arena, "k", 100, &bytes), LNC_CANCELLED);
	lnc_arena_reset(arena);
	assert_true(lnc_now_ms() - interrupt_at_ms < 1000);
}

/* ---- conditional writes */

typedef struct ConditionCase
{
	Step steps[5];
	int max_retries;
	LncCode code;
	int requests;
} ConditionCase;

static void
conditional_writes_have_one_meaning(void **state)
{
	static const ConditionCase cases[] = {
		{{{.status = "200 OK", .body = ""}}, 0, LNC_OK, 1},
		{{{.status = "412 Precondition Failed", .body = XML_ERROR("PreconditionFailed")}}, 0, LNC_EXISTS, 1},
		{{{.status = "409 Conflict", .body = XML_ERROR("ConditionalRequestConflict")},
		  {.status = "200 OK", .body = ""}},
		 0,
		 LNC_OK,
		 2},
		{{{.status = "409 Conflict", .body = XML_ERROR("ConditionalRequestConflict")},
		  {.status = "412 X", .body = ""}},
		 0,
		 LNC_EXISTS,
		 2},
		{{{.status = "409 Conflict", .body = XML_ERROR("ConditionalRequestConflict")}}, 1, LNC_UNAVAILABLE, 2},
		{{{.status = "501 Not Implemented", .body = XML_ERROR("NotImplemented")}}, 0, LNC_UNSUPPORTED, 1},
		{{{.status = "400 Bad Request", .body = XML_ERROR("InvalidArgument")}}, 0, LNC_UNSUPPORTED, 1},
		{{{.status = "400 Bad Request", .body = XML_ERROR("InvalidBucketName")}}, 0, LNC_IO, 1},
		/* the answer is lost, and the second attempt finds our own object */
		{{{.action = RESET}, {.status = "412 X", .body = ""}, {.status = "200 OK", .body = "mine"}}, 0, LNC_OK, 3},
		{{{.action = RESET}, {.status = "412 X", .body = ""}, {.status = "200 OK", .body = "else"}},
		 0,
		 LNC_EXISTS,
		 3},
		{{{.action = RESET}, {.status = "412 X", .body = ""}, {.status = "200 OK", .body = "longer than mine"}},
		 0,
		 LNC_EXISTS,
		 3},
		{{{.status = "500 X", .body = ""}, {.status = "412 X", .body = ""}, {.status = "200 OK", .body = "mine"}},
		 0,
		 LNC_OK,
		 3},
		{{{.action = RESET}, {.status = "200 OK", .body = "mine"}}, -1, LNC_OK, 2},
		{{{.action = RESET}, {.status = "404 X", .body = XML_ERROR("NoSuchKey")}}, -1, LNC_UNCLEAR, 2},
		{{{.action = RESET}, {.status = "403 X", .body = XML_ERROR("AccessDenied")}}, -1, LNC_UNCLEAR, 2},
		{{{.status = "500 X", .body = ""}, {.status = "404 X", .body = XML_ERROR("NoSuchKey")}},
		 -1,
		 LNC_UNAVAILABLE,
		 2},
		{{{.status = "503 X", .body = ""}}, -1, LNC_UNAVAILABLE, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		LncCode code;

		open_script(cases[i].steps, cases[i].max_retries);
		code = lnc_store_put_if_absent(&ctx, store, "k", slice("mine"));
		if (code != cases[i].code || server.count != cases[i].requests)
			fail_msg("case %zu: %s after %d requests: %s", i, lnc_code_name(code), server.count, ctx.error.message);
		assert_non_null(strcasestr(server.requests[0].head, "\r\nif-none-match: *\r\n"));
		assert_int_equal(server.requests[0].body_size, 4);
		if (code != LNC_OK)
			expect_error("some dir/t.lance/k");
		if (code == LNC_UNSUPPORTED)
			assert_non_null(strstr(ctx.error.detail, "conditional writes"));
		lnc_arena_reset(arena);
		fake_stop(&server);
	}
	store = NULL;
}

static void
stores_without_conditions_are_not_asked(void **state)
{
	static const Step steps[] = {{.status = "200 OK", .body = ""}, {0}};

	(void)state;
	script = steps;
	open_store(play, NULL, (LncStoreConfig){.no_conditional_put = true});
	assert_int_equal(lnc_store_put_if_absent(&ctx, store, "k", slice("x")), LNC_UNSUPPORTED);
	assert_int_equal(server.count, 0);
	assert_int_equal(lnc_store_put(&ctx, store, "k", slice("x")), LNC_OK);
}

/* ---- requests as they are sent */

static void
requests_are_addressed_and_signed(void **state)
{
	static const Step steps[] = {{.status = "200 OK", .body = "0123456789"}, {0}};
	LncSlice bytes;
	const char *head = server.requests[0].head;

	(void)state;
	open_script(steps, 0);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "data/\xC3\xA9+%.lance", 10, &bytes), LNC_OK);
	assert_int_equal(strncmp(head, "GET /bkt/some%20dir/t.lance/data/%C3%A9%2B%25.lance HTTP/1.1\r\n", 62), 0);
	assert_non_null(strcasestr(head, "\r\nauthorization: AWS4-HMAC-SHA256 Credential=AKID/"));
	assert_non_null(strstr(head, "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, "));
	assert_non_null(strcasestr(head, "\r\nx-amz-security-token: " TOKEN "\r\n"));
	assert_null(strstr(head, SECRET));
	assert_null(strcasestr(head, "expect:"));
	lnc_arena_reset(arena);
	fake_stop(&server);

	script = steps;
	open_store(play, NULL, (LncStoreConfig){.virtual_hosted = true});
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 10, &bytes), LNC_OK);
	assert_int_equal(strncmp(head, "GET /some%20dir/t.lance/k HTTP/1.1\r\n", 36), 0);
	assert_non_null(strcasestr(head, "\r\nhost: bkt.localhost:"));
	assert_null(strcasestr(head, "authorization:"));
}

static void
settings_are_checked(void **state)
{
	static const LncStoreConfig bad[] = {
		{.endpoint = "http://127.0.0.1:9"},
		{.endpoint = "ftp://x", .allow_http = true},
		{.endpoint = "https://"},
		{.endpoint = "https://user@host"},
		{.endpoint = "https://host/a?b"},
		{.endpoint = "https://ho st"},
		{.access_key_id = "a"},
		{.access_key_id = "a\r\nx: y", .secret_access_key = "b"},
		{.region = "x\ny"},
	};
	LncStoreConfig config = {.region = "eu-west-1"};
	LncStore *remote;
	LncHttp *http;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		if (lnc_store_open(&ctx, arena, "s3://bkt/x", &bad[i], &remote) != LNC_INVALID)
			fail_msg("setting %zu accepted", i);
	}
	assert_int_equal(lnc_http_create(&ctx, arena, &http), LNC_OK);
	config.http = http;
	assert_int_equal(lnc_store_open(&ctx, arena, "s3://bkt/x/", &config, &remote), LNC_OK);
	assert_string_equal(lnc_store_uri(remote), "s3://bkt/x");
	assert_string_equal(lnc_store_object_root(remote), "x");
	assert_true(lnc_store_ordered(remote));
	assert_int_equal(lnc_store_open(&ctx, arena, "s3://bkt--use1-az4--x-s3/x/", &config, &remote), LNC_OK);
	assert_false(lnc_store_ordered(remote));
}

/* ---- answers that lie */

static void
ranges_must_be_honored(void **state)
{
	static const Step ignored[] = {{.status = "200 OK", .body = "0123456789"}, {0}};
	static const Step shifted[] = {
		{.status = "206 Partial", .body = "2345", .headers = "Content-Range: bytes 2-5/10\r\n"},
		{.status = "200 OK", .body = "0123456789"},
		{0}};
	static const Step longer[] = {
		{.status = "206 Partial", .body = "123456", .headers = "Content-Range: bytes 1-4/10\r\n"}, {0}};
	static const Step good[] = {
		{.status = "206 Partial", .body = "1234", .headers = "Content-Range: bytes 1-4/10\r\n"}, {0}};
	static const Step tail[] = {
		{.status = "206 Partial", .body = "6789", .headers = "Content-Range: bytes 6-9/10\r\n"}, {0}};
	const LncRange range = {1, 4};
	const LncRange whole = {0, 10};
	const uint8_t *out;
	LncSlice bytes;
	uint64_t size;

	(void)state;
	open_script(ignored, 0);
	assert_int_equal(lnc_store_read_ranges(&ctx, store, arena, "k", 1, &range, &out), LNC_UNSUPPORTED);
	assert_int_equal(lnc_store_read_ranges(&ctx, store, arena, "k", 1, &whole, &out), LNC_OK);
	assert_memory_equal(out, "0123456789", 10);
	assert_int_equal(lnc_store_read_tail(&ctx, store, arena, "k", 4, &bytes, &size), LNC_UNSUPPORTED);
	assert_int_equal(lnc_store_read_tail(&ctx, store, arena, "k", 40, &bytes, &size), LNC_OK);
	assert_int_equal(size, 10);
	lnc_arena_reset(arena);
	fake_stop(&server);

	open_script(shifted, 0);
	assert_int_equal(lnc_store_read_ranges(&ctx, store, arena, "k", 1, &range, &out), LNC_IO);
	expect_error("another range");
	lnc_arena_reset(arena);
	fake_stop(&server);

	open_script(longer, 0);
	assert_int_equal(lnc_store_read_ranges(&ctx, store, arena, "k", 1, &range, &out), LNC_IO);
	assert_int_equal(lnc_store_read_tail(&ctx, store, arena, "k", 4, &bytes, &size), LNC_LIMIT);
	lnc_arena_reset(arena);
	fake_stop(&server);

	open_script(good, 0);
	assert_int_equal(lnc_store_read_ranges(&ctx, store, arena, "k", 1, &range, &out), LNC_OK);
	assert_memory_equal(out, "1234", 4);
	assert_non_null(strcasestr(server.requests[0].head, "\r\nrange: bytes=1-4\r\n"));
	assert_int_equal(lnc_store_read_tail(&ctx, store, arena, "k", 4, &bytes, &size), LNC_IO);
	lnc_arena_reset(arena);
	fake_stop(&server);

	open_script(tail, 0);
	assert_int_equal(lnc_store_read_tail(&ctx, store, arena, "k", 4, &bytes, &size), LNC_OK);
	assert_int_equal(size, 10);
	assert_memory_equal(bytes.data, "6789", 4);
	assert_non_null(strcasestr(server.requests[0].head, "\r\nrange: bytes=-4\r\n"));
}

static void
bodies_are_bounded(void **state)
{
	static const Step stated[] = {{.status = "200 OK", .body = "0123456789"}, {0}};
	static const Step chunked[] = {{.status = "200 OK", .body = "", .headers = "Transfer-Encoding: chunked\r\n"},
								   {0}};
	LncSlice bytes;

	(void)state;
	open_script(stated, 0);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 9, &bytes), LNC_LIMIT);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 10, &bytes), LNC_OK);
	assert_int_equal(server.count, 2);
	lnc_arena_reset(arena);
	fake_stop(&server);

	/* A chunked answer that never comes to its end is an idle one. */
	open_script(chunked, -1);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 9, &bytes), LNC_UNAVAILABLE);
}

/* Many objects in pages of a thousand, as S3 sends them. */
static bool
serve_pages(void *arg, int fd, int n, const FakeRequest *request)
{
	int total = *(int *)arg;
	const char *token = strstr(request->head, "continuation-token=");
	int first = token != NULL ? atoi(token + strlen("continuation-token=")) : 0;
	int last = first + 1000 < total ? first + 1000 : total;
	size_t size = 400000;
	char *body = malloc(size);
	size_t used = 0;
	bool sent;

	(void)n;
	if (body == NULL)
		return false;
	used += (size_t)snprintf(body + used, size - used, "<ListBucketResult><IsTruncated>%s</IsTruncated>",
							 last < total ? "true" : "false");
	if (last < total)
		used +=
			(size_t)snprintf(body + used, size - used, "<NextContinuationToken>%d</NextContinuationToken>", last);
	for (int i = first; i < last; i++)
		used += (size_t)snprintf(body + used, size - used,
								 "<Contents><Key>some dir/t.lance/_versions/%06d.manifest</Key><Size>%d</Size>"
								 "<LastModified>2024-01-01T00:00:00.000Z</LastModified></Contents>",
								 i, i);
	snprintf(body + used, size - used, "</ListBucketResult>");
	sent = fake_reply(fd, "200 OK", NULL, body);
	free(body);
	return sent;
}

typedef struct Ascending
{
	int count;
	int stop_after;
	char last[64];
} Ascending;

static LncCode
check_ascending(LncContext *context, void *arg, const LncObject *object, bool *stop)
{
	Ascending *seen = arg;

	(void)context;
	assert_true(strcmp(object->key, seen->last) > 0);
	assert_int_equal(strncmp(object->key, "_versions/", 10), 0);
	assert_int_equal(object->size, atoi(object->key + 10));
	snprintf(seen->last, sizeof(seen->last), "%s", object->key);
	if (++seen->count == seen->stop_after)
		*stop = true;
	return LNC_OK;
}

static void
listings_are_paged(void **state)
{
	int total = 2500;
	Ascending all = {0};
	Ascending some = {.stop_after = 3};

	(void)state;
	open_store(serve_pages, &total, (LncStoreConfig){0});
	assert_int_equal(lnc_store_list(&ctx, store, "_versions", true, NULL, check_ascending, &all), LNC_OK);
	assert_int_equal(all.count, 2500);
	assert_int_equal(server.count, 3);
	assert_non_null(strstr(server.requests[0].head,
						   "GET /bkt?list-type=2&prefix=some%20dir%2Ft.lance%2F_versions%2F HTTP/1.1\r\n"));
	assert_int_equal(
		lnc_store_list(&ctx, store, "_versions", false, "_versions/000007.manifest", check_ascending, &some),
		LNC_OK);
	assert_int_equal(some.count, 3);
	assert_string_equal(some.last, "_versions/000010.manifest");
	assert_int_equal(server.count, 4);
	assert_non_null(strstr(server.requests[3].head, "delimiter=%2F&"));
	assert_non_null(
		strstr(server.requests[3].head, "&start-after=some%20dir%2Ft.lance%2F_versions%2F000007.manifest"));
}

/* Who needs a few of many asks for a few at first, and for as many as fit when these are not enough. */
static void
few_are_asked_for(void **state)
{
	int total = 2500;
	Ascending some = {.stop_after = 3};
	Ascending more = {.stop_after = 1500};
	LncListing listing = {.folder = "_versions", .expected = 5};
	const char *keys[] = {"_versions/000000.manifest"};
	LncObject found;

	(void)state;
	open_store(serve_pages, &total, (LncStoreConfig){0});
	assert_int_equal(lnc_store_list_as(&ctx, store, &listing, check_ascending, &some), LNC_OK);
	assert_int_equal(server.count, 1);
	assert_non_null(strstr(server.requests[0].head, "&max-keys=5&"));
	assert_int_equal(lnc_store_list_as(&ctx, store, &listing, check_ascending, &more), LNC_OK);
	assert_int_equal(server.count, 3);
	assert_null(strstr(server.requests[2].head, "max-keys"));
	assert_int_equal(lnc_store_find(&ctx, store, 1, keys, &found), LNC_OK);
	assert_string_equal(found.key, keys[0]);
	assert_int_equal(server.count, 4);
	assert_non_null(
		strstr(server.requests[3].head, "max-keys=1&prefix=some%20dir%2Ft.lance%2F_versions%2F000000.manifest"));
}

static void
listings_that_lie_are_refused(void **state)
{
	static const Step endless[] = {{.status = "200 OK",
									.body =
										"<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>"
										"t</NextContinuationToken></ListBucketResult>"},
								   {0}};
	static const Step elsewhere[] = {{.status = "200 OK",
									  .body = "<ListBucketResult><Contents><Key>other/k</Key><Size>1</Size>"
											  "</Contents></ListBucketResult>"},
									 {0}};
	int count = 0;
	uint64_t removed;

	(void)state;
	open_script(endless, 0);
	assert_int_equal(lnc_store_list(&ctx, store, "", true, NULL, lnc_count_objects, &count), LNC_CORRUPT);
	assert_int_equal(server.count, 2);
	lnc_arena_reset(arena);
	fake_stop(&server);
	open_script(elsewhere, 0);
	assert_int_equal(lnc_store_list(&ctx, store, "", true, NULL, lnc_count_objects, &count), LNC_CORRUPT);
	/* Above all nothing outside is removed. */
	assert_int_equal(lnc_store_delete_prefix(&ctx, store, "", &removed), LNC_CORRUPT);
	assert_int_equal(server.count, 2);
}

typedef struct Folders
{
	int count;
	char text[512];
} Folders;

static LncCode
add_folder(LncContext *context, void *arg, const char *folder, bool *stop)
{
	Folders *seen = arg;

	(void)context;
	(void)stop;
	seen->count++;
	snprintf(seen->text + strlen(seen->text), sizeof(seen->text) - strlen(seen->text), "%s,", folder);
	return LNC_OK;
}

#define ROOT "some dir/t.lance/"
#define PREFIX(text) "<CommonPrefixes><Prefix>" text "</Prefix></CommonPrefixes>"

static void
folders_are_paged(void **state)
{
	/* Names that no key can have are passed over, as are objects; a second page follows. */
	static const Step pages[] = {
		{.status = "200 OK",
		 .body = "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"
				 "<Contents><Key>" ROOT "file</Key><Size>1</Size></Contents>" PREFIX(ROOT "a.lance/")
					 PREFIX(ROOT "x &amp; y/") PREFIX(ROOT "/") PREFIX(ROOT "../") "</ListBucketResult>"},
		{.status = "200 OK",
		 .body = "<ListBucketResult><IsTruncated>false</IsTruncated>" PREFIX(ROOT "z/") "</ListBucketResult>"},
		{0}};
	Folders seen = {0};

	(void)state;
	open_script(pages, 0);
	assert_int_equal(lnc_store_list_folders(&ctx, store, "", add_folder, &seen), LNC_OK);
	assert_string_equal(seen.text, "a.lance,x & y,z,");
	assert_int_equal(server.count, 2);
	assert_non_null(strstr(server.requests[0].head, "delimiter=%2F&list-type=2&prefix=some%20dir%2Ft.lance%2F "));
	assert_non_null(strstr(server.requests[1].head, "continuation-token=t&"));
}

static void
folders_that_lie_are_refused(void **state)
{
	static const char *const bodies[] = {
		"<ListBucketResult>" PREFIX("other/") "</ListBucketResult>",
		"<ListBucketResult>" PREFIX(ROOT "a/b/") "</ListBucketResult>",
		"<ListBucketResult>" PREFIX(ROOT "a") "</ListBucketResult>",
		"<ListBucketResult>" PREFIX(ROOT) "</ListBucketResult>",
		"<ListBucketResult>" PREFIX("") "</ListBucketResult>",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
	{
		Step steps[] = {{.status = "200 OK", .body = bodies[i]}, {0}};
		Folders seen = {0};

		if (i > 0)
		{
			lnc_arena_reset(arena);
			fake_stop(&server);
		}
		open_script(steps, 0);
		if (lnc_store_list_folders(&ctx, store, "", add_folder, &seen) != LNC_CORRUPT)
			fail_msg("accepted: %s", bodies[i]);
		assert_int_equal(seen.count, 0);
	}
}

static void
presence_is_asked_for(void **state)
{
	static const char *const keys[] = {"a", "b"};
	static const Step refused[] = {
		{.status = "403 Forbidden", .body = ""}, {.status = "403 Forbidden", .body = ""}, {0}};
	static const Step missing[] = {
		{.status = "404 Not Found", .body = ""}, {.status = "404 Not Found", .body = ""}, {0}};
	bool present[2] = {true, true};

	(void)state;
	open_script(refused, 0);
	assert_int_equal(lnc_store_present(&ctx, store, 2, keys, present), LNC_DENIED);
	lnc_arena_reset(arena);
	fake_stop(&server);
	open_script(missing, 0);
	assert_int_equal(lnc_store_present(&ctx, store, 2, keys, present), LNC_OK);
	assert_false(present[0] || present[1]);
	assert_int_equal(strncmp(server.requests[0].head, "HEAD ", 5), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(folders_are_paged, setup, teardown),
		cmocka_unit_test_setup_teardown(folders_that_lie_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(presence_is_asked_for, setup, teardown),
		cmocka_unit_test_setup_teardown(busy_answers_are_retried, setup, teardown),
		cmocka_unit_test_setup_teardown(broken_connections_are_retried, setup, teardown),
		cmocka_unit_test_setup_teardown(slow_is_borne_and_silence_is_not, setup, teardown),
		cmocka_unit_test_setup_teardown(retries_come_to_an_end, setup, teardown),
		cmocka_unit_test_setup_teardown(redirects_are_not_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(refusals_fail_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupts_end_every_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupts_end_name_resolution, setup, teardown),
		cmocka_unit_test_setup_teardown(conditional_writes_have_one_meaning, setup, teardown),
		cmocka_unit_test_setup_teardown(stores_without_conditions_are_not_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(requests_are_addressed_and_signed, setup, teardown),
		cmocka_unit_test_setup_teardown(settings_are_checked, setup, teardown),
		cmocka_unit_test_setup_teardown(ranges_must_be_honored, setup, teardown),
		cmocka_unit_test_setup_teardown(bodies_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(listings_are_paged, setup, teardown),
		cmocka_unit_test_setup_teardown(few_are_asked_for, setup, teardown),
		cmocka_unit_test_setup_teardown(listings_that_lie_are_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
