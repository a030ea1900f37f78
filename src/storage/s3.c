/*
 * s3.c
 *	  The S3 store: opening it, signed requests, what its answers mean.
 */
#include "storage/s3.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "storage/endpoint.h"
#include "storage/s3_xml.h"

#define DEFAULT_REGION "us-east-1"
#define DEFAULT_RETRIES 5
#define DEFAULT_CONNECT_TIMEOUT_MS 5000
#define DEFAULT_IDLE_TIMEOUT_MS 20000

/* host, date, payload hash, token, range, condition */
#define MAX_SIGNED_HEADERS 6

/* A request is made again so often after keys that had expired: keys that are refused when new are of no use. */
#define MAX_RENEWALS 2

LncCode
lnc_s3_full_key(LncContext *ctx, LncArena *scratch, const LncS3Store *store, const char *key, const char **out)
{
	const char *root = store->base.uri.path;
	char *full;

	LNC_TRY(
		lnc_arena_printf(ctx, scratch, &full, "%s%s%s", root, root[0] != '\0' && key[0] != '\0' ? "/" : "", key));
	*out = full;
	return LNC_OK;
}

LncCode
lnc_s3_batch(LncContext *ctx, LncArena *scratch, size_t n, LncS3Batch *out)
{
	out->n = n;
	LNC_TRY(LNC_NEW(ctx, scratch, &out->requests, n));
	return LNC_NEW(ctx, scratch, &out->calls, n);
}

/* Build the headers of one attempt, signature included. */
static LncCode
sign_attempt(LncContext *ctx, LncArena *arena, LncHttpRequest *request)
{
	LncS3Call *call = request->prepare_arg;
	LncS3Store *store = call->store;
	LncSigV4Pair headers[MAX_SIGNED_HEADERS];
	LncSigV4Request unsigned_request = {.method = request->method,
										.path = call->path,
										.nparams = call->nparams,
										.params = call->params,
										.headers = headers,
										.payload_hash = call->payload_hash};
	char date[LNC_SIGV4_DATE_SIZE];
	const char *authorization;
	const char **lines;
	size_t n = 0;

	LNC_TRY(lnc_s3_keys_ready(ctx, store));
	call->serial = store->current != NULL ? store->current->serial : 0;
	LNC_TRY(lnc_sigv4_date(ctx, time(NULL), date));
	headers[n++] = (LncSigV4Pair){"host", store->host};
	if (store->is_signed)
	{
		headers[n++] = (LncSigV4Pair){"x-amz-content-sha256", call->payload_hash};
		headers[n++] = (LncSigV4Pair){"x-amz-date", date};
		if (store->key.session_token != NULL)
			headers[n++] = (LncSigV4Pair){"x-amz-security-token", store->key.session_token};
	}
	if (call->range != NULL)
		headers[n++] = (LncSigV4Pair){"range", call->range};
	if (call->if_none_match)
		headers[n++] = (LncSigV4Pair){"if-none-match", "*"};
	unsigned_request.nheaders = n;

	LNC_TRY(LNC_NEW(ctx, arena, &lines, n + 1));
	for (size_t i = 0; i < n; i++)
	{
		char *line;

		LNC_TRY(lnc_arena_printf(ctx, arena, &line, "%s: %s", headers[i].name, headers[i].value));
		lines[i] = line;
	}
	if (store->is_signed)
	{
		char *line;

		LNC_TRY(lnc_sigv4_authorize(ctx, arena, &store->key, &unsigned_request, date, &authorization));
		LNC_TRY(lnc_arena_printf(ctx, arena, &line, "authorization: %s", authorization));
		lines[n++] = line;
	}
	request->headers = lines;
	request->nheaders = n;
	return LNC_OK;
}

/*
 * S3 answers 400 when a client was too slow in sending. That keys have expired is noted here, so that the attempts that
 * follow are signed with newer ones; the request itself is made again once the others have ended.
 */
static bool
is_request_timeout(const LncHttpRequest *request)
{
	LncS3Error error;

	if (lnc_s3_keys_refused(request) || request->status != 400)
		return false;
	lnc_s3_parse_error(request->answer, &error);
	return strcmp(error.code, "RequestTimeout") == 0;
}

LncCode
lnc_s3_address(LncContext *ctx, LncArena *scratch, LncS3Store *store, LncS3Batch *batch, size_t i,
			   const char *method, const char *key, LncSlice body)
{
	LncS3Call *call = &batch->calls[i];
	LncHttpRequest *request = &batch->requests[i];
	char *path;

	call->store = store;
	/* The headers of its attempts carry the token. */
	if (store->source != NULL || store->key.session_token != NULL)
		lnc_arena_wipe(scratch);
	if (key != NULL)
	{
		const char *full;
		char *encoded;

		LNC_TRY(lnc_s3_full_key(ctx, scratch, store, key, &full));
		LNC_TRY(lnc_uri_encode(ctx, scratch, full, true, &encoded));
		LNC_TRY(lnc_arena_printf(ctx, scratch, &path, "%s/%s", store->prefix, encoded));
	}
	else
		LNC_TRY(lnc_arena_printf(ctx, scratch, &path, "%s", store->prefix[0] != '\0' ? store->prefix : "/"));
	call->path = path;
	LNC_TRY(lnc_sha256_hex(ctx, body, call->payload_hash));
	request->method = method;
	request->body = body;
	request->prepare = sign_attempt;
	request->prepare_arg = call;
	request->retry = is_request_timeout;
	return LNC_OK;
}

/* What attempts before the last run of a request have left in doubt counts for the whole. */
static void
add_attempts(LncHttpRequest *request, const LncHttpRequest *before)
{
	request->attempts += before->attempts;
	request->lost += before->lost;
	request->doubtful += before->doubtful;
}

/* Make those requests again that were refused since their keys had expired. *any says whether there are such. */
static LncCode
run_refused(LncContext *ctx, LncArena *scratch, LncS3Store *store, LncS3Batch *batch, LncHttpStats *stats,
			bool *any)
{
	LncHttpRequest *again;
	size_t *places;
	size_t n = 0;

	*any = false;
	for (size_t i = 0; i < batch->n; i++)
		n += lnc_s3_keys_refused(&batch->requests[i]);
	if (n == 0)
		return LNC_OK;
	*any = true;
	LNC_TRY(LNC_NEW(ctx, scratch, &again, n));
	LNC_TRY(LNC_NEW(ctx, scratch, &places, n));
	n = 0;
	for (size_t i = 0; i < batch->n; i++)
	{
		if (!lnc_s3_keys_refused(&batch->requests[i]))
			continue;
		places[n] = i;
		again[n++] = batch->requests[i];
	}
	LNC_TRY(lnc_http_run(ctx, store->http, scratch, &store->policy, n, again, stats));
	for (size_t i = 0; i < n; i++)
	{
		add_attempts(&again[i], &batch->requests[places[i]]);
		batch->requests[places[i]] = again[i];
	}
	return LNC_OK;
}

LncCode
lnc_s3_url(LncContext *ctx, LncArena *scratch, LncS3Store *store, LncS3Batch *batch, size_t i)
{
	LncS3Call *call = &batch->calls[i];
	const char *query;
	char *url;

	LNC_TRY(lnc_sigv4_query(ctx, scratch, call->nparams, call->params, &query));
	LNC_TRY(lnc_arena_printf(ctx, scratch, &url, "%s%s%s%s", store->origin, call->path, query[0] != '\0' ? "?" : "",
							 query));
	batch->requests[i].url = url;
	return LNC_OK;
}

LncCode
lnc_s3_run(LncContext *ctx, LncArena *scratch, LncS3Store *store, LncS3Batch *batch)
{
	LncHttpStats stats = {0};
	bool again = true;
	LncCode code;

	for (size_t i = 0; i < batch->n; i++)
		LNC_TRY(lnc_s3_url(ctx, scratch, store, batch, i));
	code = lnc_http_run(ctx, store->http, scratch, &store->policy, batch->n, batch->requests, &stats);
	for (int i = 0; i < MAX_RENEWALS && again && code == LNC_OK; i++)
		code = run_refused(ctx, scratch, store, batch, &stats, &again);
	lnc_store_asked(ctx, &store->base, stats.attempts);
	store->base.stats.retries += stats.retries;
	return code;
}

/* An answer of the store that is a failure. */
static LncCode
answer_error(LncContext *ctx, const LncS3Store *store, const char *verb, const char *name,
			 const LncHttpRequest *request)
{
	LncS3Error error;
	LncCode code;

	lnc_s3_parse_error(request->answer, &error);
	switch (request->status)
	{
		case 401:
		case 403:
			code = LNC_DENIED;
			break;
		case 404:
			/* versitygw says so of an access key that it does not know. */
			code = strcmp(error.code, "XAdminUserNotFound") == 0 ? LNC_DENIED
				   : strcmp(error.code, "NoSuchBucket") == 0     ? LNC_NO_STORE
																 : LNC_NOT_FOUND;
			break;
		case 408:
		case 409:
		case 429:
		case 500:
		case 502:
		case 503:
		case 504:
			code = LNC_UNAVAILABLE;
			break;
		default:
			code = strcmp(error.code, "ExpiredToken") == 0 || strcmp(error.code, "InvalidToken") == 0 ? LNC_DENIED
																									  : LNC_IO;
			break;
	}
	lnc_fail(ctx, code, "could not %s \"%s\": the store answered %d%s%s", verb, name, request->status,
			 error.code[0] != '\0' ? " " : "", error.code);
	if (request->attempts > 1)
		lnc_detail(ctx, "This was the answer to the last of %d attempts.", request->attempts);
	if (error.message[0] != '\0')
		lnc_detail(ctx, "Message of the store: %s", error.message);
	if (request->region[0] != '\0' && strcmp(request->region, store->key.region) != 0)
		lnc_hint(ctx, "The bucket lies in region \"%s\"; the store is set up for \"%s\".", request->region,
				 store->key.region);
	else if (strcmp(error.code, "ExpiredToken") == 0)
		lnc_hint(ctx, "The session token has expired; give newer credentials.");
	return code;
}

LncCode
lnc_s3_error(LncContext *ctx, const LncS3Store *store, const char *verb, const char *key,
			 const LncHttpRequest *request)
{
	LncObjectName name = lnc_object_name(&store->base, key);

	switch (request->outcome)
	{
		case LNC_HTTP_ANSWERED:
			return answer_error(ctx, store, verb, name.text, request);
		case LNC_HTTP_REFUSED:
			if (request->code == LNC_NO_MEMORY)
				return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory for an answer of the store");
			lnc_fail(ctx, request->code == LNC_LIMIT ? LNC_LIMIT : LNC_IO, "could not %s \"%s\": %s", verb,
					 name.text,
					 request->code == LNC_IO ? "no connection can be made" : "the store's answer is too long");
			if (request->code == LNC_IO)
				lnc_detail(ctx, "%s.", request->failure);
			return ctx->error.code;
		default:
			lnc_fail(ctx, LNC_UNAVAILABLE, "could not %s \"%s\": no answer from the store in %d %s", verb,
					 name.text, request->attempts, request->attempts == 1 ? "attempt" : "attempts");
			if (request->failure[0] != '\0')
				lnc_detail(ctx, "Last failure: %s", request->failure);
			return LNC_UNAVAILABLE;
	}
}

/* LNC_INVALID when a setting that becomes part of a header has control characters. */
static LncCode
check_setting(LncContext *ctx, const char *name, const char *value)
{
	for (; value != NULL && *value != '\0'; value++)
	{
		if ((unsigned char)*value <= 0x20 || *value == 0x7F)
			return lnc_fail(ctx, LNC_INVALID, "S3 setting \"%s\" holds a blank or control character", name);
	}
	return LNC_OK;
}

/* A borrowed setting made to last as long as the store. */
static LncCode
keep(LncContext *ctx, LncArena *arena, const char *text, const char **out)
{
	char *copy;

	*out = NULL;
	if (text == NULL || text[0] == '\0')
		return LNC_OK;
	LNC_TRY(lnc_arena_strndup(ctx, arena, text, strlen(text), &copy));
	*out = copy;
	return LNC_OK;
}

/* Origin, host and prefix of the requests. */
static LncCode
take_endpoint(LncContext *ctx, LncArena *arena, const LncStoreConfig *config, const char *bucket, LncS3Store *store)
{
	LncEndpoint endpoint;
	char *text;

	if (config->endpoint == NULL || config->endpoint[0] == '\0')
	{
		LNC_TRY(lnc_arena_printf(ctx, arena, &text, "https://s3.%s.amazonaws.com", store->key.region));
		LNC_TRY(lnc_endpoint_parse(ctx, arena, text, false, &endpoint));
	}
	else
		LNC_TRY(lnc_endpoint_parse(ctx, arena, config->endpoint, config->allow_http, &endpoint));
	store->host = endpoint.authority;
	if (config->virtual_hosted)
	{
		LNC_TRY(lnc_arena_printf(ctx, arena, &text, "%s.%s", bucket, endpoint.authority));
		store->host = text;
	}
	LNC_TRY(lnc_arena_printf(ctx, arena, &text, "%s://%s", endpoint.plain ? "http" : "https", store->host));
	store->origin = text;
	LNC_TRY(lnc_arena_printf(ctx, arena, &text, "%s%s%s", endpoint.path, config->virtual_hosted ? "" : "/",
							 config->virtual_hosted ? "" : bucket));
	store->prefix = text;
	return LNC_OK;
}

static LncCode
take_settings(LncContext *ctx, LncArena *arena, const LncStoreConfig *config, LncS3Store *store)
{
	LNC_TRY(check_setting(ctx, "endpoint", config->endpoint));
	LNC_TRY(check_setting(ctx, "region", config->region));
	LNC_TRY(keep(ctx, arena, config->region, &store->key.region));
	if (store->key.region == NULL)
		store->key.region = DEFAULT_REGION;
	store->key.service = "s3";
	LNC_TRY(lnc_s3_keys_open(ctx, arena, config, store));

	store->policy.max_retries = config->max_retries == 0 ? DEFAULT_RETRIES : config->max_retries;
	if (store->policy.max_retries < 0)
		store->policy.max_retries = 0;
	store->policy.connect_timeout_ms =
		config->connect_timeout_ms > 0 ? config->connect_timeout_ms : DEFAULT_CONNECT_TIMEOUT_MS;
	store->policy.idle_timeout_ms = config->idle_timeout_ms > 0 ? config->idle_timeout_ms : DEFAULT_IDLE_TIMEOUT_MS;
	return LNC_OK;
}

LncCode
lnc_s3_open(LncContext *ctx, LncArena *arena, const LncUri *uri, const LncStoreConfig *config, LncStore **out)
{
	static const LncStoreOps ops = {
		.size = lnc_s3_size,
		.present = lnc_s3_present,
		.read_ranges = lnc_s3_read_ranges,
		.read_begin = lnc_s3_read_begin,
		.read_finish = lnc_s3_read_finish,
		.move_on = lnc_s3_move_on,
		.read_tail = lnc_s3_read_tail,
		.read_all = lnc_s3_read_all,
		.put = lnc_s3_put,
		.put_if_absent = lnc_s3_put_if_absent,
		.remove = lnc_s3_remove,
		.remove_prefix = lnc_s3_remove_prefix,
		.find = lnc_s3_find,
		.list = lnc_s3_list,
		.list_folders = lnc_s3_list_folders,
	};
	static const char express[] = "--x-s3";
	size_t length = strlen(uri->bucket);
	LncS3Store *store;

	LNC_TRY(LNC_NEW(ctx, arena, &store, 1));
	store->base.ops = &ops;
	/* Directory buckets (S3 Express) list in no order. */
	store->base.ordered =
		length < sizeof(express) || strcmp(uri->bucket + length - (sizeof(express) - 1), express) != 0;
	LNC_TRY(take_settings(ctx, arena, config, store));
	LNC_TRY(take_endpoint(ctx, arena, config, uri->bucket, store));
	store->http = config->http;
	if (store->http == NULL)
		LNC_TRY(lnc_http_create(ctx, arena, &store->http));
	*out = &store->base;
	return LNC_OK;
}
