/*
 * http_transfer.c
 *	  One attempt of one request: curl options, the callbacks that move bytes, the headers that matter.
 */
#include "storage/http_transfer.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/env.h"

/* How much of the body of an error is kept. */
#define LONGEST_ERROR_BODY ((size_t)64 * 1024)

#define LONGEST_RETRY_AFTER_S 10

/* Refuse the answer: curl ends the transfer, the request is not retried. */
static size_t
refuse(LncHttpTransfer *transfer, LncCode code)
{
	transfer->request->code = code;
	return 0;
}

static size_t
on_body(char *data, size_t one, size_t size, void *arg)
{
	LncHttpTransfer *transfer = arg;
	LncHttpRequest *request = transfer->request;
	LncContext *ctx = transfer->ctx;

	(void)one;
	transfer->progress_ms = lnc_now_ms();
	if (transfer->status < 200 || transfer->status > 299)
	{
		size_t room = LONGEST_ERROR_BODY - request->buffer.size;
		LncCode code = lnc_buffer_append(ctx, &request->buffer, data, size < room ? size : room);

		return code == LNC_OK ? size : refuse(transfer, code);
	}
	if (request->target != NULL)
	{
		if (size > request->target_size - request->received)
			return refuse(transfer, lnc_fail(ctx, LNC_CORRUPT, "answer is longer than the %llu bytes asked for",
											 (unsigned long long)request->target_size));
		memcpy(request->target + request->received, data, size);
	}
	else
	{
		LncCode code;

		if ((request->has_length && request->length > request->max_body) ||
			size > request->max_body - request->received)
			return refuse(transfer, lnc_fail(ctx, LNC_LIMIT, "answer is longer than the %llu bytes allowed",
											 (unsigned long long)request->max_body));
		/* The stated length is within the bound: one piece of memory instead of a growing one. */
		code = LNC_OK;
		if (request->received == 0 && request->has_length && request->length >= size)
			code = lnc_buffer_reserve(ctx, &request->buffer, (size_t)request->length);
		if (code == LNC_OK)
			code = lnc_buffer_append(ctx, &request->buffer, data, size);
		if (code != LNC_OK)
			return refuse(transfer, code);
	}
	request->received += size;
	return size;
}

static size_t
on_send(char *to, size_t one, size_t size, void *arg)
{
	LncHttpTransfer *transfer = arg;
	LncSlice body = transfer->request->body;
	size_t n = body.size - transfer->sent;

	(void)one;
	if (n > size)
		n = size;
	if (n > 0)
		memcpy(to, body.data + transfer->sent, n);
	transfer->sent += n;
	transfer->progress_ms = lnc_now_ms();
	return n;
}

/* curl sends again from the start when a kept connection turns out dead. */
static int
on_seek(void *arg, curl_off_t offset, int origin)
{
	LncHttpTransfer *transfer = arg;

	if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > transfer->request->body.size)
		return CURL_SEEKFUNC_CANTSEEK;
	transfer->sent = (size_t)offset;
	return CURL_SEEKFUNC_OK;
}

static int
on_progress(void *arg, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
	LncHttpTransfer *transfer = arg;
	uint64_t moved = (uint64_t)down + (uint64_t)up;

	(void)down_total;
	(void)up_total;
	if (moved != transfer->moved)
	{
		transfer->moved = moved;
		transfer->progress_ms = lnc_now_ms();
	}
	return 0;
}

/* A whole decimal number at *text, which is moved behind it. */
static bool
take_number(const char **text, uint64_t *out)
{
	uint64_t value = 0;
	const char *p = *text;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
	{
		if (lnc_mul_overflow(value, (uint64_t)10, &value) || lnc_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return false;
	}
	*text = p;
	*out = value;
	return true;
}

/* "bytes 0-9/443" */
static void
take_content_range(LncHttpRequest *request, const char *value)
{
	if (strncasecmp(value, "bytes ", 6) != 0)
		return;
	value += 6;
	request->has_range = take_number(&value, &request->range_first) && *value++ == '-' &&
						 take_number(&value, &request->range_last) && *value++ == '/' &&
						 take_number(&value, &request->range_total) && *value == '\0' &&
						 request->range_first <= request->range_last && request->range_last < request->range_total;
}

static void
take_header(LncHttpRequest *request, const char *name, const char *value)
{
	uint64_t number;

	if (strcasecmp(name, "content-length") == 0)
		request->has_length = take_number(&value, &request->length) && *value == '\0';
	else if (strcasecmp(name, "content-range") == 0)
		take_content_range(request, value);
	else if (strcasecmp(name, "etag") == 0)
		snprintf(request->e_tag, sizeof(request->e_tag), "%s", value);
	else if (strcasecmp(name, "x-amz-bucket-region") == 0)
		snprintf(request->region, sizeof(request->region), "%s", value);
	else if (strcasecmp(name, "retry-after") == 0 && take_number(&value, &number) && *value == '\0')
		request->retry_after_ms = (number < LONGEST_RETRY_AFTER_S ? (int64_t)number : LONGEST_RETRY_AFTER_S) * 1000;
}

/* Forget what an earlier status line and its headers said. */
static void
clear_answer(LncHttpRequest *request)
{
	request->received = 0;
	request->buffer.size = 0;
	request->has_length = false;
	request->has_range = false;
	request->e_tag[0] = '\0';
	request->region[0] = '\0';
	request->retry_after_ms = 0;
}

static size_t
on_header(char *data, size_t one, size_t size, void *arg)
{
	LncHttpTransfer *transfer = arg;
	char line[512];
	char *value;
	size_t length = size < sizeof(line) ? size : sizeof(line) - 1;

	(void)one;
	transfer->progress_ms = lnc_now_ms();
	memcpy(line, data, length);
	while (length > 0 && strchr("\r\n \t", line[length - 1]) != NULL)
		length--;
	line[length] = '\0';
	if (strncmp(line, "HTTP/", 5) == 0)
	{
		const char *space = strchr(line, ' ');

		clear_answer(transfer->request);
		transfer->status = space != NULL ? (int)strtol(space + 1, NULL, 10) : 0;
		return size;
	}
	value = strchr(line, ':');
	if (value == NULL)
		return size;
	*value++ = '\0';
	value += strspn(value, " \t");
	take_header(transfer->request, line, value);
	return size;
}

/* The method's options. */
static CURLcode
set_method(CURL *easy, const LncHttpRequest *request)
{
	CURLcode result = CURLE_OK;

	if (strcmp(request->method, "HEAD") == 0)
		return curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	if (strcmp(request->method, "PUT") == 0 || strcmp(request->method, "POST") == 0)
	{
		result = curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
		if (result == CURLE_OK)
			result = curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->body.size);
	}
	else
		result = curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
	if (result == CURLE_OK)
		result = curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
	return result;
}

LncCode
lnc_http_transfer_setup(LncContext *ctx, LncHttpTransfer *transfer, LncHttpRequest *request,
						const LncHttpPolicy *policy)
{
	CURL *easy = transfer->easy;
	struct curl_slist *list;
	CURLcode result;

	curl_easy_reset(easy);
	/* Refused while a failed attempt's buffer is still held; that one has the size already. */
	(void)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 256L * 1024);
	transfer->request = request;
	transfer->ctx = ctx;
	transfer->sent = 0;
	transfer->status = 0;
	transfer->moved = 0;
	transfer->progress_ms = lnc_now_ms();
	transfer->failure[0] = '\0';
	request->code = LNC_OK;
	request->status = 0;
	request->failure[0] = '\0';
	clear_answer(request);

	/* No Expect: it costs a round trip, and S3's limits are known. */
	transfer->headers = curl_slist_append(NULL, "Expect:");
	for (size_t i = 0; i < request->nheaders && transfer->headers != NULL; i++)
	{
		list = curl_slist_append(transfer->headers, request->headers[i]);
		if (list == NULL)
			curl_slist_free_all(transfer->headers);
		transfer->headers = list;
	}
	if (transfer->headers == NULL)
		return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory");

		/* One chain, so that an option that this libcurl refuses is not overlooked. */
#define SET(option, value)  \
	if (result == CURLE_OK) \
	result = curl_easy_setopt(easy, option, value)
	result = set_method(easy, request);
	SET(CURLOPT_URL, request->url);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	SET(CURLOPT_PATH_AS_IS, 1L);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_USERAGENT, "lance_catalog");
	SET(CURLOPT_HTTPHEADER, transfer->headers);
	if (request->direct)
		SET(CURLOPT_NOPROXY, "*");
	SET(CURLOPT_NOSIGNAL, 1L);
	/* Removing a transfer must not wait for its name resolution. */
	SET(CURLOPT_QUICK_EXIT, 1L);
	SET(CURLOPT_TCP_KEEPALIVE, 1L);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)policy->connect_timeout_ms);
	SET(CURLOPT_ERRORBUFFER, transfer->failure);
	SET(CURLOPT_PRIVATE, transfer);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, transfer);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, transfer);
	SET(CURLOPT_READFUNCTION, on_send);
	SET(CURLOPT_READDATA, transfer);
	SET(CURLOPT_SEEKFUNCTION, on_seek);
	SET(CURLOPT_SEEKDATA, transfer);
	SET(CURLOPT_NOPROGRESS, 0L);
	SET(CURLOPT_XFERINFOFUNCTION, on_progress);
	SET(CURLOPT_XFERINFODATA, transfer);
#undef SET
	if (result == CURLE_OUT_OF_MEMORY)
		return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory");
	if (result != CURLE_OK)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "HTTP client cannot be set up: %s", curl_easy_strerror(result));
	return LNC_OK;
}

/* Failures before the server can have seen the request. */
static bool
was_unsent(CURLcode result)
{
	return result == CURLE_COULDNT_RESOLVE_HOST || result == CURLE_COULDNT_RESOLVE_PROXY ||
		   result == CURLE_COULDNT_CONNECT || result == CURLE_SSL_CONNECT_ERROR;
}

/* Failures that another attempt would only repeat. */
static LncCode
lasting_failure(CURLcode result)
{
	switch (result)
	{
		case CURLE_OUT_OF_MEMORY:
			return LNC_NO_MEMORY;
		case CURLE_PEER_FAILED_VERIFICATION:
		case CURLE_SSL_CACERT_BADFILE:
		case CURLE_URL_MALFORMAT:
		case CURLE_UNSUPPORTED_PROTOCOL:
			return LNC_IO;
		default:
			return LNC_OK;
	}
}

void
lnc_http_transfer_finish(LncHttpTransfer *transfer, CURLcode result)
{
	LncHttpRequest *request = transfer->request;

	request->attempts++;
	request->status = transfer->status;
	request->answer = lnc_buffer_slice(&request->buffer);
	if (request->code == LNC_OK)
		request->code = lasting_failure(result);
	if (result != CURLE_OK)
		snprintf(request->failure, sizeof(request->failure), "%s",
				 transfer->failure[0] != '\0' ? transfer->failure : curl_easy_strerror(result));
	if (request->code != LNC_OK)
		request->outcome = LNC_HTTP_REFUSED;
	else if (result == CURLE_OK && transfer->status != 0)
	{
		request->outcome = LNC_HTTP_ANSWERED;
		if (request->status == 500 || request->status == 502 || request->status == 504)
			request->doubtful++;
	}
	else
	{
		request->status = 0;
		if (was_unsent(result))
			request->outcome = LNC_HTTP_UNSENT;
		else
		{
			request->outcome = LNC_HTTP_LOST;
			request->lost++;
		}
	}
}

/* Headers carry session tokens. */
static void
wipe_headers(struct curl_slist *headers)
{
	for (; headers != NULL; headers = headers->next)
		OPENSSL_cleanse(headers->data, strlen(headers->data));
}

void
lnc_http_transfer_release(LncHttpTransfer *transfer)
{
	if (transfer->request != NULL)
		transfer->request->transfer = NULL;
	transfer->request = NULL;
	wipe_headers(transfer->headers);
	curl_slist_free_all(transfer->headers);
	transfer->headers = NULL;
}
