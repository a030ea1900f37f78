/*
 * s3_keys.c
 *	  The S3 store: the keys of its requests, renewed when they are about to expire or the store says that they have.
 */
#include <string.h>

#include "base/env.h"
#include "storage/s3.h"
#include "storage/s3_xml.h"

/* While keys live, a source that had no newer ones is left alone for so long. */
#define PAUSE_MS 1000

/* Keys of this age are not taken for expired without being told. */
#define YOUNG_MS 1000

static void
wipe_current(void *arg)
{
	lnc_credentials_wipe(arg);
}

/* Point the signing key at the current keys. */
static void
use_current(LncS3Store *store)
{
	store->is_signed = store->current->access_key_id[0] != '\0';
	store->key.access_key_id = store->current->access_key_id;
	store->key.secret_access_key = store->current->secret_access_key;
	store->key.session_token = store->current->session_token[0] != '\0' ? store->current->session_token : NULL;
}

LncCode
lnc_s3_keys_open(LncContext *ctx, LncArena *arena, const LncStoreConfig *config, LncS3Store *store)
{
	bool fixed = config->access_key_id != NULL && config->access_key_id[0] != '\0';
	LncCredentialSource *source;

	if (config->credentials == NULL && !fixed)
		return LNC_OK;
	LNC_TRY(LNC_NEW(ctx, arena, &store->current, 1));
	LNC_TRY(lnc_arena_on_cleanup(ctx, arena, wipe_current, store->current));
	if (config->credentials != NULL)
	{
		LNC_TRY(LNC_NEW(ctx, arena, &source, 1));
		*source = *config->credentials;
		store->source = source;
		return LNC_OK;
	}
	LNC_TRY(lnc_credentials_set(ctx, store->current, config->access_key_id, config->secret_access_key,
								config->session_token));
	use_current(store);
	return LNC_OK;
}

LncCode
lnc_s3_keys_ready(LncContext *ctx, LncS3Store *store)
{
	LncCredentials *current = store->current;
	int64_t now = lnc_wall_ms();
	bool refused;
	bool alive;
	LncCredentials fresh;
	LncCode code;

	if (store->source == NULL)
		return LNC_OK;
	refused = current->serial != 0 && store->refused == current->serial;
	alive = current->serial != 0 && !refused && !lnc_credentials_expired(current, now);
	if (alive && (!lnc_credentials_due(current, now) || lnc_now_ms() < store->ask_again_ms))
		return LNC_OK;
	code = store->source->fetch(ctx, store->source->arg, refused ? current->serial : 0, &fresh);
	if (code == LNC_OK)
	{
		*current = fresh;
		lnc_credentials_wipe(&fresh);
		use_current(store);
		return LNC_OK;
	}
	if (!alive || code == LNC_CANCELLED)
		return code;
	store->ask_again_ms = lnc_now_ms() + PAUSE_MS;
	return LNC_OK;
}

/* Codes that S3 and its kin have for tokens that ran out or are known no more. */
static bool
names_expiry(const char *code)
{
	static const char *const codes[] = {"ExpiredToken",   "ExpiredTokenException", "InvalidToken",
										"InvalidTokenId", "TokenRefreshRequired",  "InvalidAccessKeyId"};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
	{
		if (strcmp(code, codes[i]) == 0)
			return true;
	}
	return false;
}

/*
 * HEAD has no body that would tell: 403 is given for a lack of rights if the time is not up, and 400 is not, but for other
 * reasons when the keys are new.
 */
static bool
head_tells_expiry(const LncS3Call *call, int status)
{
	const LncCredentials *current = call->store->current;
	int64_t now = lnc_wall_ms();
	int64_t age = now - current->obtained_ms; /* below 0 when the clock was set back */

	if (call->serial != current->serial)
		return true;
	return lnc_credentials_expired(current, now) || (status == 400 && (age >= YOUNG_MS || age <= -YOUNG_MS));
}

bool
lnc_s3_keys_refused(const LncHttpRequest *request)
{
	LncS3Call *call = request->prepare_arg;
	LncS3Store *store = call->store;
	LncS3Error error;
	bool expired;

	if (store->source == NULL || request->outcome != LNC_HTTP_ANSWERED ||
		(request->status != 400 && request->status != 401 && request->status != 403))
		return false;
	lnc_s3_parse_error(request->answer, &error);
	if (error.code[0] != '\0')
		expired = names_expiry(error.code);
	else
		expired = strcmp(request->method, "HEAD") == 0 && head_tells_expiry(call, request->status);
	if (expired && call->serial == store->current->serial)
		store->refused = call->serial;
	return expired;
}
