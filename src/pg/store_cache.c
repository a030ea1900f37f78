/*
 * store_cache.c
 *	  What a session keeps from one statement to the next of the stores that it reads.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "pg/env.h"
#include "pg/guc.h"
#include "pg/report.h"
#include "pg/store_cache.h"
#include "pg/text_file.h"
#include "storage/http.h"
#include "storage/sigv4.h"
#include "utils/memutils.h"

/* What is written besides the texts: the numbers, and the length of each text. */
#define NUMBERS_ROOM 64
#define TEXT_ROOM 32

static LanceLibrary *kept; /* lives as long as the process */
static LncHttp *http;
static LncCache *cache;

static LanceLibrary *
library(void)
{
	if (kept == NULL)
		kept = lance_library_create(TopMemoryContext);
	return kept;
}

LncHttp *
lance_store_http(void)
{
	LanceLibrary *lib;

	if (http != NULL && lnc_http_usable(http))
		return http;
	lib = library();
	lance_check(&lib->ctx, lnc_http_create(&lib->ctx, lib->arena, &http));
	return http;
}

LncCache *
lance_store_cache(void)
{
	size_t most = (size_t)lance_guc_metadata_cache_size * 1024;
	LanceLibrary *lib;

	if (cache == NULL)
	{
		if (most == 0)
			return NULL;
		lib = library();
		lance_check(&lib->ctx, lnc_cache_create(&lib->ctx, lib->ctx.env, most, &cache));
	}
	lnc_cache_limit(cache, most);
	return most > 0 ? cache : NULL;
}

/* Lengths keep texts apart, and none at all from an empty one. */
static void
add_text(StringInfo buffer, const char *text)
{
	if (text == NULL)
		appendStringInfoString(buffer, "-;");
	else
		appendStringInfo(buffer, "%zu:%s;", strlen(text), text);
}

const char *
lance_store_cache_scope(LanceLibrary *lib, const LanceProfile *profile)
{
	const char *texts[] = {profile->endpoint,          profile->region,          profile->sts_endpoint,
						   profile->sts_role_arn,      profile->sts_external_id, profile->access_key_id,
						   profile->secret_access_key, profile->session_token};
	size_t size = NUMBERS_ROOM;
	StringInfoData buffer;
	char digest[LNC_SHA256_HEX_SIZE];
	LncCode code;
	char *copy;

	/* All of it fits from the start: what grows leaves a copy of the secrets behind. */
	for (size_t i = 0; i < lengthof(texts); i++)
		size += TEXT_ROOM + (texts[i] != NULL ? strlen(texts[i]) : 0);
	initStringInfo(&buffer);
	enlargeStringInfo(&buffer, (int)size);
	appendStringInfo(&buffer, "%u;%u;%d;%d;", profile->userid, profile->server_oid, (int)profile->credentials,
					 (int)profile->virtual_hosted);
	for (size_t i = 0; i < lengthof(texts); i++)
		add_text(&buffer, texts[i]);
	code = lnc_sha256_hex(&lib->ctx, (LncSlice){.data = (const uint8_t *)buffer.data, .size = buffer.len}, digest);
	lance_wipe_text(buffer.data, buffer.maxlen);
	lance_check(&lib->ctx, code);
	lance_check(&lib->ctx, lnc_arena_strndup(&lib->ctx, lib->arena, digest, strlen(digest), &copy));
	return copy;
}
