/*
 * bearer.c
 *	  From web tokens to roles.
 *
 * The keys are read when the first token comes, and again after each reload of the settings.
 */
#include "postgres.h"

#include <time.h>

#include "base/arena.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "pg/env.h"
#include "pg/errcodes.h"
#include "pg/guc.h"
#include "pg/text_file.h"
#include "rest/bearer.h"
#include "rest/request.h"
#include "token/jwt.h"
#include "utils/acl.h"
#include "utils/memutils.h"

/* How far the clocks of issuers and of this server may be apart. */
#define LEEWAY_S 30

#define MAX_FILE_BYTES (1024 * 1024)

static LncJwtKeys *keys;         /* in key_memory; NULL: to be read */
static MemoryContext key_memory; /* NULL: none */

static bool
given(const char *setting)
{
	return setting != NULL && setting[0] != '\0';
}

bool
lance_bearer_is_token(const char *credential)
{
	return given(lance_guc_rest_jwt_key_file) && strchr(credential, '.') != NULL;
}

void
lance_bearer_reload(void)
{
	keys = NULL;
	if (key_memory != NULL)
		MemoryContextDelete(key_memory);
	key_memory = NULL;
}

/* Whoever asks is told only that it can't be done; the log says why. */
static void
load_keys(void)
{
	MemoryContext old = CurrentMemoryContext;
	LanceLibrary *library;
	char *volatile text = NULL;
	size_t size = 0;
	LncSlice file;

	lance_bearer_reload();
	PG_TRY();
	{
		key_memory = AllocSetContextCreate(TopMemoryContext, "keys of web tokens", ALLOCSET_SMALL_SIZES);
		library = lance_library_create(key_memory);
		text = lance_read_text_file(lance_guc_rest_jwt_key_file, MAX_FILE_BYTES, &size);
		file = (LncSlice){.data = (uint8_t *)text, .size = size};
		if (lnc_jwt_keys_read(&library->ctx, library->arena, file, &keys) != LNC_OK)
			ereport(
				ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR),
				 errmsg("file \"%s\" holds no keys for web tokens", lance_guc_rest_jwt_key_file),
				 errdetail("%s.", library->ctx.error.message),
				 errhint("It is a JSON web key set, RSA public keys in PEM, or a secret of 32 bytes or more.")));
		lance_wipe_text(text, size);
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(old);
		error = CopyErrorData();
		FlushErrorState();
		lance_wipe_text(text, size);
		lance_bearer_reload();
		ereport(LOG, (errcode(error->sqlerrcode), errmsg("%s", error->message),
					  error->detail != NULL ? errdetail("%s", error->detail) : 0,
					  error->hint != NULL ? errhint("%s", error->hint) : 0));
		ereport(ERROR, (lance_errcode(LANCE_SERVICE_UNAVAILABLE), errmsg("web tokens can't be checked now"),
						errdetail("The keys can't be read; the server's log says why.")));
	}
	PG_END_TRY();
}

static void
refuse(const char *reason)
{
	ereport(ERROR,
			(lance_errcode(LANCE_UNAUTHENTICATED), errmsg("the token is not valid"), errdetail("%s.", reason)));
}

Oid
lance_bearer_role(const char *token)
{
	LanceLibrary *library = lance_library_create(CurrentMemoryContext);
	LncJwtExpected expected = {
		.issuer = given(lance_guc_rest_jwt_issuer) ? lance_guc_rest_jwt_issuer : NULL,
		.audience = given(lance_guc_rest_jwt_audience) ? lance_guc_rest_jwt_audience : NULL,
		.role_claim = lance_guc_rest_jwt_role_claim,
		.now_s = (int64_t)time(NULL),
		.leeway_s = LEEWAY_S,
	};
	LncJwtClaims claims;
	char *name;
	Oid role;

	if (keys == NULL)
		load_keys();
	if (lnc_jwt_verify(&library->ctx, library->arena, keys, token, &expected, &claims) != LNC_OK)
	{
		char *reason = pstrdup(library->ctx.error.message);

		reason[0] = pg_toupper((unsigned char)reason[0]);
		refuse(reason);
	}
	name = lance_rest_text_in(claims.role, strlen(claims.role), "the role of the token");
	role = get_role_oid(name, true);

	/* Whoever signs tokens is trusted with the roles of callers, not with the server. */
	if (!OidIsValid(role) || superuser_arg(role) || IsReservedName(name))
		refuse("It names no role that tokens can stand for");
	lance_library_destroy(library);
	return role;
}
