/*
 * credentials.c
 *	  Copying, judging and wiping keys.
 */
#include "storage/credentials.h"

#include <openssl/crypto.h>
#include <string.h>
#include <time.h>

#include "base/env.h"

/* Keys are renewed so long ahead of their end, or after nine tenths of their life. */
#define LONGEST_MARGIN_MS 60000

int64_t
lnc_wall_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

LncCode
lnc_credentials_ask(LncContext *ctx, const char *service, int timeout_ms, LncCredentialAsk ask, const void *arg,
					LncCredentials *out)
{
	const LncEnv *env = ctx->env;
	LncTimedEnv timed;
	LncArena *arena;
	LncCode code;

	memset(out, 0, sizeof(*out));
	LNC_TRY(lnc_arena_create_scratch(ctx, &arena));
	lnc_arena_wipe(arena);
	lnc_env_limit(&timed, env, lnc_now_ms() + timeout_ms);
	ctx->env = &timed.env;
	code = ask(ctx, arena, arg, out);
	ctx->env = env;
	lnc_arena_destroy(arena);
	if (code == LNC_CANCELLED && !env->interrupted(env->state))
		code = lnc_fail(ctx, LNC_UNAVAILABLE, "%s did not answer within %d ms", service, timeout_ms);
	if (code != LNC_OK)
		lnc_credentials_wipe(out);
	return code;
}

bool
lnc_credential_text(char *field, size_t field_size, const char *text, size_t size)
{
	if (size >= field_size)
		return false;
	for (size_t i = 0; i < size; i++)
	{
		if ((unsigned char)text[i] <= 0x20 || (unsigned char)text[i] >= 0x7F)
			return false;
	}
	memcpy(field, text, size);
	field[size] = '\0';
	return true;
}

static LncCode
set_field(LncContext *ctx, char *field, size_t field_size, const char *name, const char *text)
{
	if (text != NULL && !lnc_credential_text(field, field_size, text, strlen(text)))
		return lnc_fail(ctx, LNC_INVALID,
						"S3 setting \"%s\" is too long, or holds a blank or another letter than printable ASCII",
						name);
	return LNC_OK;
}

LncCode
lnc_credentials_set(LncContext *ctx, LncCredentials *out, const char *access_key_id, const char *secret_access_key,
					const char *session_token)
{
	memset(out, 0, sizeof(*out));
	LNC_TRY(set_field(ctx, out->access_key_id, sizeof(out->access_key_id), "access_key_id", access_key_id));
	LNC_TRY(set_field(ctx, out->secret_access_key, sizeof(out->secret_access_key), "secret_access_key",
					  secret_access_key));
	LNC_TRY(set_field(ctx, out->session_token, sizeof(out->session_token), "session_token", session_token));
	if (out->access_key_id[0] != '\0' && out->secret_access_key[0] == '\0')
		return lnc_fail(ctx, LNC_INVALID, "an access key is given without its secret");
	out->obtained_ms = lnc_wall_ms();
	out->serial = 1;
	return LNC_OK;
}

bool
lnc_credentials_due(const LncCredentials *credentials, int64_t now_ms)
{
	int64_t margin = (credentials->expires_ms - credentials->obtained_ms) / 10;

	if (credentials->expires_ms == 0)
		return false;
	if (margin > LONGEST_MARGIN_MS)
		margin = LONGEST_MARGIN_MS;
	/* After the clock was set back what is left of their life can't be told. */
	return now_ms >= credentials->expires_ms - margin || now_ms < credentials->obtained_ms - margin;
}

bool
lnc_credentials_expired(const LncCredentials *credentials, int64_t now_ms)
{
	return credentials->expires_ms != 0 && now_ms >= credentials->expires_ms;
}

void
lnc_credentials_wipe(LncCredentials *credentials)
{
	OPENSSL_cleanse(credentials, sizeof(*credentials));
}
