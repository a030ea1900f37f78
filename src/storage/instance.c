/*
 * instance.c
 *	  Asking the metadata service of a machine, or the one of a container, for keys.
 */
#include "storage/instance.h"

#include <openssl/crypto.h>
#include <string.h>
#include <strings.h>

#include "base/env.h"
#include "base/json.h"
#include "storage/http.h"
#include "storage/s3_xml.h"

#define METADATA_ADDRESS "http://169.254.169.254"
#define ROLES_PATH "/latest/meta-data/iam/security-credentials/"
#define DEFAULT_TIMEOUT_MS 5000
#define LONGEST_ANSWER ((uint64_t)64 * 1024)

/* One attempt may take so long to connect, and as long without a byte moved. */
#define ATTEMPT_MS 1500

/* Names of roles and tokens of the metadata service are shorter. */
#define LONGEST_LINE 512

static LncCode
get(LncContext *ctx, LncArena *arena, LncHttp *http, const char *method, const char *url, const char *header,
	LncSlice *out)
{
	static const LncHttpPolicy policy = {
		.max_retries = 1, .connect_timeout_ms = ATTEMPT_MS, .idle_timeout_ms = ATTEMPT_MS};
	LncHttpRequest request = {.method = method, .url = url, .direct = true, .max_body = LONGEST_ANSWER};
	LncHttpStats stats = {0};

	if (header != NULL)
	{
		request.headers = &header;
		request.nheaders = 1;
	}
	LNC_TRY(lnc_http_run(ctx, http, arena, &policy, 1, &request, &stats));
	if (request.outcome != LNC_HTTP_ANSWERED)
	{
		lnc_fail(ctx, LNC_UNAVAILABLE, "credentials service of the machine gave no answer that can be used");
		if (request.failure[0] != '\0')
			lnc_detail(ctx, "Last failure: %s", request.failure);
		return LNC_UNAVAILABLE;
	}
	if (request.status != 200)
		return lnc_fail(ctx, request.status >= 500 ? LNC_UNAVAILABLE : LNC_DENIED,
						"credentials service of the machine answered %d", request.status);
	*out = request.answer;
	return LNC_OK;
}

/* The first line of an answer, which becomes part of a URL or header. */
static LncCode
first_line(LncContext *ctx, LncArena *arena, LncSlice text, char **out)
{
	char line[LONGEST_LINE];
	size_t size = 0;

	while (size < text.size && text.data[size] != '\n' && text.data[size] != '\r')
		size++;
	if (size == 0 || !lnc_credential_text(line, sizeof(line), (const char *)text.data, size))
		return lnc_fail(ctx, LNC_CORRUPT, "credentials service of the machine gave an answer that is none");
	LNC_TRY(lnc_arena_strndup(ctx, arena, line, size, out));
	OPENSSL_cleanse(line, sizeof(line));
	return LNC_OK;
}

static LncCode
ask_metadata(LncContext *ctx, LncArena *arena, LncHttp *http, const char *endpoint, LncSlice *out)
{
	LncSlice answer;
	char *url;
	char *header;
	char *line;

	if (endpoint == NULL || endpoint[0] == '\0')
		endpoint = METADATA_ADDRESS;
	LNC_TRY(lnc_arena_printf(ctx, arena, &url, "%s/latest/api/token", endpoint));
	LNC_TRY(get(ctx, arena, http, "PUT", url, "X-aws-ec2-metadata-token-ttl-seconds: 60", &answer));
	LNC_TRY(first_line(ctx, arena, answer, &line));
	LNC_TRY(lnc_arena_printf(ctx, arena, &header, "X-aws-ec2-metadata-token: %s", line));
	LNC_TRY(lnc_arena_printf(ctx, arena, &url, "%s" ROLES_PATH, endpoint));
	LNC_TRY(get(ctx, arena, http, "GET", url, header, &answer));
	LNC_TRY(first_line(ctx, arena, answer, &line));
	if (strpbrk(line, "/?#%\\") != NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "credentials service of the machine named a role that is none");
	LNC_TRY(lnc_arena_printf(ctx, arena, &url, "%s" ROLES_PATH "%s", endpoint, line));
	return get(ctx, arena, http, "GET", url, header, out);
}

/* The authorization of a container must not go to others. */
static bool
is_container_address(const char *url)
{
	static const char *const hosts[] = {"127.0.0.1",     "localhost",      "[::1]",
										"169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};

	if (strncasecmp(url, "https://", 8) == 0)
		return true;
	if (strncasecmp(url, "http://", 7) != 0)
		return false;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
	{
		size_t length = strlen(hosts[i]);

		if (strncasecmp(url + 7, hosts[i], length) == 0 && strchr("/:", url[7 + length]) != NULL)
			return true;
	}
	return false;
}

static LncCode
ask_container(LncContext *ctx, LncArena *arena, LncHttp *http, const LncInstanceConfig *config, LncSlice *out)
{
	char *header = NULL;

	if (!is_container_address(config->container_url))
		return lnc_fail(ctx, LNC_INVALID,
						"address of the container's credentials is neither https nor a local one");
	if (config->container_authorization != NULL)
	{
		if (strpbrk(config->container_authorization, "\r\n") != NULL)
			return lnc_fail(ctx, LNC_INVALID, "authorization of the container holds a line break");
		LNC_TRY(lnc_arena_printf(ctx, arena, &header, "Authorization: %s", config->container_authorization));
	}
	return get(ctx, arena, http, "GET", config->container_url, header, out);
}

static bool
take_text(const LncJson *object, const char *key, char *field, size_t field_size)
{
	const LncJson *member = lnc_json_member(object, key);
	LncContext ignored;
	const char *text;
	bool ok;

	lnc_context_init(&ignored, lnc_env_default());
	if (member == NULL || lnc_json_as_string(&ignored, member, key, &text) != LNC_OK || text[0] == '\0')
		return false;
	ok = lnc_credential_text(field, field_size, text, strlen(text));
	OPENSSL_cleanse((void *)(uintptr_t)text, strlen(text));
	return ok;
}

LncCode
lnc_instance_parse_answer(LncContext *ctx, LncArena *arena, LncSlice text, int64_t now_ms, LncCredentials *out)
{
	char expiration[40];
	const LncJson *object;
	LncCode code;

	memset(out, 0, sizeof(*out));
	code = lnc_json_parse(ctx, arena, text, &object);
	if (code == LNC_INVALID)
		code = lnc_fail(ctx, LNC_CORRUPT, "answer of the machine's credentials service is no JSON");
	if (code == LNC_OK &&
		(!take_text(object, "AccessKeyId", out->access_key_id, sizeof(out->access_key_id)) ||
		 !take_text(object, "SecretAccessKey", out->secret_access_key, sizeof(out->secret_access_key)) ||
		 !take_text(object, "Token", out->session_token, sizeof(out->session_token)) ||
		 !take_text(object, "Expiration", expiration, sizeof(expiration)) ||
		 !lnc_s3_parse_time(expiration, &out->expires_ms) || out->expires_ms <= 0))
		code = lnc_fail(ctx, LNC_CORRUPT, "answer of the machine's credentials service holds no credentials");
	if (code == LNC_OK && out->expires_ms <= now_ms)
		code = lnc_fail(ctx, LNC_UNAVAILABLE,
						"machine's credentials service gave credentials that have expired already");
	out->obtained_ms = now_ms;
	if (code != LNC_OK)
		lnc_credentials_wipe(out);
	return code;
}

/* LncCredentialAsk, of an LncInstanceConfig */
static LncCode
ask(LncContext *ctx, LncArena *arena, const void *arg, LncCredentials *out)
{
	const LncInstanceConfig *config = arg;
	LncHttp *http;
	LncSlice answer;

	LNC_TRY(lnc_http_create(ctx, arena, &http));
	if (config->container_url != NULL && config->container_url[0] != '\0')
		LNC_TRY(ask_container(ctx, arena, http, config, &answer));
	else
		LNC_TRY(ask_metadata(ctx, arena, http, config->metadata_endpoint, &answer));
	return lnc_instance_parse_answer(ctx, arena, answer, lnc_wall_ms(), out);
}

LncCode
lnc_instance_credentials(LncContext *ctx, const LncInstanceConfig *config, LncCredentials *out)
{
	return lnc_credentials_ask(ctx, "credentials service of the machine",
							   config->timeout_ms > 0 ? config->timeout_ms : DEFAULT_TIMEOUT_MS, ask, config, out);
}
