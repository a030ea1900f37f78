/*
 * sts.c
 *	  Asking the security token service for keys.
 */
#include "storage/sts.h"

#include <string.h>

#include "storage/endpoint.h"
#include "storage/http.h"
#include "storage/sigv4.h"
#include "storage/sts_xml.h"

#define DEFAULT_REGION "us-east-1"
#define DEFAULT_TIMEOUT_MS 8000
#define LONGEST_ANSWER ((size_t)64 * 1024)

/* One attempt may take so long to connect, and as long without a byte moved. */
#define ATTEMPT_MS 3000

#define MAX_PARAMS 8

/* What one attempt needs to be signed. */
typedef struct StsCall
{
	LncSigV4Key key;
	bool is_signed;
	const char *host;
	const char *path; /* "/" or the endpoint's */
	LncSlice body;
} StsCall;

/* Build the headers of one attempt. */
static LncCode
sign_attempt(LncContext *ctx, LncArena *arena, LncHttpRequest *request)
{
	const StsCall *call = request->prepare_arg;
	char date[LNC_SIGV4_DATE_SIZE];
	char payload_hash[LNC_SHA256_HEX_SIZE];
	LncSigV4Pair headers[4];
	LncSigV4Request unsigned_request = {
		.method = "POST", .path = call->path, .headers = headers, .payload_hash = payload_hash};
	const char *authorization;
	const char **lines;
	char *line;
	size_t n = 0;

	headers[n++] = (LncSigV4Pair){"content-type", "application/x-www-form-urlencoded"};
	headers[n++] = (LncSigV4Pair){"host", call->host};
	if (call->is_signed)
	{
		LNC_TRY(lnc_sigv4_date(ctx, (time_t)(lnc_wall_ms() / 1000), date));
		headers[n++] = (LncSigV4Pair){"x-amz-date", date};
		if (call->key.session_token != NULL)
			headers[n++] = (LncSigV4Pair){"x-amz-security-token", call->key.session_token};
	}
	unsigned_request.nheaders = n;
	LNC_TRY(LNC_NEW(ctx, arena, &lines, n + 1));
	for (size_t i = 0; i < n; i++)
	{
		LNC_TRY(lnc_arena_printf(ctx, arena, &line, "%s: %s", headers[i].name, headers[i].value));
		lines[i] = line;
	}
	if (call->is_signed)
	{
		LNC_TRY(lnc_sha256_hex(ctx, call->body, payload_hash));
		LNC_TRY(lnc_sigv4_authorize(ctx, arena, &call->key, &unsigned_request, date, &authorization));
		LNC_TRY(lnc_arena_printf(ctx, arena, &line, "authorization: %s", authorization));
		lines[n++] = line;
	}
	request->headers = lines;
	request->nheaders = n;
	return LNC_OK;
}

/* The form that is posted. */
static LncCode
write_form(LncContext *ctx, LncArena *arena, const LncStsRequest *request, LncSlice *out)
{
	LncSigV4Pair params[MAX_PARAMS];
	const char *text;
	char *duration;
	size_t n = 0;

	LNC_TRY(lnc_arena_printf(ctx, arena, &duration, "%d", request->duration_s));
	params[n++] = (LncSigV4Pair){"Action", request->key != NULL ? "AssumeRole" : "AssumeRoleWithWebIdentity"};
	params[n++] = (LncSigV4Pair){"Version", "2011-06-15"};
	params[n++] = (LncSigV4Pair){"DurationSeconds", duration};
	params[n++] = (LncSigV4Pair){"RoleSessionName", request->session_name};
	if (request->role_arn != NULL)
		params[n++] = (LncSigV4Pair){"RoleArn", request->role_arn};
	if (request->external_id != NULL && request->key != NULL)
		params[n++] = (LncSigV4Pair){"ExternalId", request->external_id};
	if (request->policy != NULL)
		params[n++] = (LncSigV4Pair){"Policy", request->policy};
	if (request->key == NULL)
		params[n++] = (LncSigV4Pair){"WebIdentityToken", request->web_identity_token};
	LNC_TRY(lnc_sigv4_query(ctx, arena, n, params, &text));
	*out = (LncSlice){.data = (const uint8_t *)text, .size = strlen(text)};
	return LNC_OK;
}

/* Record why there was no answer with keys. */
static LncCode
request_error(LncContext *ctx, const LncHttpRequest *request)
{
	LncStsError error;

	if (request->outcome != LNC_HTTP_ANSWERED)
	{
		LncCode code =
			request->outcome == LNC_HTTP_REFUSED && request->code != LNC_IO ? request->code : LNC_UNAVAILABLE;

		lnc_fail(ctx, code, "token service gave no answer that can be used");
		if (request->failure[0] != '\0')
			lnc_detail(ctx, "Last failure: %s", request->failure);
		return code;
	}
	lnc_sts_parse_error(request->answer, &error);
	lnc_fail(ctx, request->status >= 500 || request->status == 429 ? LNC_UNAVAILABLE : LNC_DENIED,
			 "token service answered %d%s%s", request->status, error.code[0] != '\0' ? " " : "", error.code);
	if (error.message[0] != '\0')
		lnc_detail(ctx, "Message of the service: %s", error.message);
	return ctx->error.code;
}

typedef struct StsQuestion
{
	const LncStsConfig *config;
	const LncStsRequest *request;
} StsQuestion;

/* LncCredentialAsk, of an StsQuestion */
static LncCode
ask(LncContext *ctx, LncArena *arena, const void *arg, LncCredentials *out)
{
	const LncStsConfig *config = ((const StsQuestion *)arg)->config;
	const LncStsRequest *asked = ((const StsQuestion *)arg)->request;
	static const LncHttpPolicy policy = {
		.max_retries = 1, .connect_timeout_ms = ATTEMPT_MS, .idle_timeout_ms = ATTEMPT_MS};
	const char *region = config->region != NULL && config->region[0] != '\0' ? config->region : DEFAULT_REGION;
	StsCall call = {.is_signed = asked->key != NULL};
	LncHttpRequest request = {
		.method = "POST", .prepare = sign_attempt, .prepare_arg = &call, .target_size = LONGEST_ANSWER};
	LncHttpStats stats = {0};
	LncEndpoint endpoint;
	LncHttp *http;
	void *answer;
	char *text;

	LNC_TRY(lnc_arena_alloc(ctx, arena, LONGEST_ANSWER, &answer));
	request.target = answer;
	if (config->endpoint != NULL)
		LNC_TRY(lnc_endpoint_parse(ctx, arena, config->endpoint, config->allow_http, &endpoint));
	else
	{
		LNC_TRY(lnc_arena_printf(ctx, arena, &text, "https://sts.%s.amazonaws.com", region));
		LNC_TRY(lnc_endpoint_parse(ctx, arena, text, false, &endpoint));
	}
	call.host = endpoint.authority;
	call.path = endpoint.path[0] != '\0' ? endpoint.path : "/";
	if (call.is_signed)
		call.key = (LncSigV4Key){
			.access_key_id = asked->key->access_key_id,
			.secret_access_key = asked->key->secret_access_key,
			.session_token = asked->key->session_token[0] != '\0' ? asked->key->session_token : NULL,
			.region = region,
			.service = "sts",
		};
	LNC_TRY(write_form(ctx, arena, asked, &call.body));
	request.body = call.body;
	LNC_TRY(lnc_arena_printf(ctx, arena, &text, "%s://%s%s", endpoint.plain ? "http" : "https", endpoint.authority,
							 call.path));
	request.url = text;
	LNC_TRY(lnc_http_create(ctx, arena, &http));
	LNC_TRY(lnc_http_run(ctx, http, arena, &policy, 1, &request, &stats));
	if (request.outcome != LNC_HTTP_ANSWERED || request.status != 200)
		return request_error(ctx, &request);
	return lnc_sts_parse_answer(ctx, (LncSlice){.data = answer, .size = (size_t)request.received}, lnc_wall_ms(),
								out);
}

LncCode
lnc_sts_assume_role(LncContext *ctx, const LncStsConfig *config, const LncStsRequest *request, LncCredentials *out)
{
	const StsQuestion question = {.config = config, .request = request};

	return lnc_credentials_ask(ctx, "token service",
							   config->timeout_ms > 0 ? config->timeout_ms : DEFAULT_TIMEOUT_MS, ask, &question,
							   out);
}
