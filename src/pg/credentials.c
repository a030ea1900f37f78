/*
 * credentials.c
 *	  Keys of a storage profile that expire, from the token service or from the machine.
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/cryptohash.h"
#include "common/sha2.h"
#include "miscadmin.h"
#include "pg/brief.h"
#include "pg/credential_cache.h"
#include "pg/credentials.h"
#include "pg/report.h"
#include "storage/instance.h"
#include "storage/uri.h"

/* Clients are told to ask again so long before the end, at most; keys are made anew at twice that. */
#define LONGEST_OFFSET_MS 300000

/* Tokens of web identities are some kilobytes. */
#define LONGEST_TOKEN_FILE (64 * 1024)

/* What keys are made of. Lives in an arena that is wiped; strings do too. */
typedef struct Maker
{
	LanceCredentialId id;
	LanceCredentialId service; /* of the token service, whatever it is asked for */
	LanceProfileCredentials by;
	LncStsConfig sts;
	LncStsRequest request;
	LncCredentials key;  /* that AssumeRole is signed with, unless base is given */
	struct Maker *base;  /* makes the key; NULL: it is the user mapping's */
	const char *missing; /* what there is not, so that nothing can be made; NULL: nothing */
} Maker;

/* ---- making: called by the library and the cache, throws nothing */

static LncCode make_keys(LncContext *ctx, void *arg, LncCredentials *out);

static LncCode
fetch_keys(LncContext *ctx, void *arg, uint64_t refused, LncCredentials *out)
{
	Maker *maker = arg;
	LanceCredentialMaker how = {.make = make_keys, .arg = maker, .due = lnc_credentials_due};

	return lance_credential_cache_get(ctx, &maker->id, &how, refused, out);
}

/* The text of a small file, NUL-terminated and without blanks at its end. */
static LncCode
read_text(LncContext *ctx, LncArena *arena, const char *path, char **out)
{
	char *text;
	ssize_t n = 0;
	ssize_t size = 0;
	void *memory;
	int fd;

	LNC_TRY(lnc_arena_alloc(ctx, arena, LONGEST_TOKEN_FILE, &memory));
	text = memory;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return lnc_fail(ctx, LNC_DENIED, "could not open the file of a token: %s", strerror(errno));
	while (size < LONGEST_TOKEN_FILE - 1 && (n = read(fd, text + size, LONGEST_TOKEN_FILE - 1 - size)) > 0)
		size += n;
	close(fd);
	if (n < 0 || size == LONGEST_TOKEN_FILE - 1)
		return lnc_fail(ctx, LNC_DENIED, "could not read the file of a token");
	while (size > 0 && strchr(" \t\r\n", text[size - 1]) != NULL)
		size--;
	text[size] = '\0';
	if (size == 0 || strlen(text) != (size_t)size)
		return lnc_fail(ctx, LNC_DENIED, "file of a token holds none");
	*out = text;
	return LNC_OK;
}

static LncCode
from_web_identity(LncContext *ctx, LncArena *arena, const Maker *maker, LncCredentials *out)
{
	const char *path = getenv("AWS_WEB_IDENTITY_TOKEN_FILE");
	LncStsRequest request = maker->request;
	char *token;

	if (path == NULL)
		return lnc_fail(ctx, LNC_DENIED, "environment variable AWS_WEB_IDENTITY_TOKEN_FILE is not set");
	if (request.role_arn == NULL)
		request.role_arn = getenv("AWS_ROLE_ARN");
	LNC_TRY(read_text(ctx, arena, path, &token));
	request.key = NULL;
	request.web_identity_token = token;
	return lnc_sts_assume_role(ctx, &maker->sts, &request, out);
}

static LncCode
from_instance(LncContext *ctx, LncArena *arena, LncCredentials *out)
{
	const char *relative = getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
	const char *token_file = getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
	LncInstanceConfig config = {
		.metadata_endpoint = getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"),
		.container_url = getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI"),
		.container_authorization = getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN"),
	};
	char *text;

	if (relative != NULL && relative[0] == '/')
	{
		LNC_TRY(lnc_arena_printf(ctx, arena, &text, LNC_CONTAINER_ADDRESS "%s", relative));
		config.container_url = text;
	}
	if (config.container_url != NULL && token_file != NULL)
	{
		LNC_TRY(read_text(ctx, arena, token_file, &text));
		config.container_authorization = text;
	}
	return lnc_instance_credentials(ctx, &config, out);
}

static LncCode
from_role(LncContext *ctx, const Maker *maker, LncCredentials *out)
{
	LncStsRequest request = maker->request;
	LncCredentials key;
	LncCode code;

	if (maker->base == NULL)
		return lnc_sts_assume_role(ctx, &maker->sts, &request, out);
	LNC_TRY(fetch_keys(ctx, maker->base, 0, &key));
	request.key = &key;
	code = lnc_sts_assume_role(ctx, &maker->sts, &request, out);
	lnc_credentials_wipe(&key);
	return code;
}

static LncCode
ask_service(LncContext *ctx, LncArena *arena, const Maker *maker, LncCredentials *out)
{
	switch (maker->by)
	{
		case LANCE_CREDENTIALS_INSTANCE:
			return from_instance(ctx, arena, out);
		case LANCE_CREDENTIALS_WEB_IDENTITY:
			return from_web_identity(ctx, arena, maker, out);
		default:
			return from_role(ctx, maker, out);
	}
}

static LncCode
make_keys(LncContext *ctx, void *arg, LncCredentials *out)
{
	const Maker *maker = arg;
	LncArena *arena;
	LncCode code;

	if (maker->missing != NULL)
		return lnc_fail(ctx, LNC_DENIED, "%s", maker->missing);
	LNC_TRY(lnc_arena_create_scratch(ctx, &arena));
	lnc_arena_wipe(arena);
	if (lance_credential_service_open(&maker->service))
	{
		code = ask_service(ctx, arena, maker, out);
		lance_credential_service_told(&maker->service, code);
	}
	else
		code = lnc_fail(ctx, LNC_UNAVAILABLE, "token service gave no answer a moment ago");
	lnc_arena_destroy(arena);
	return code;
}

/* ---- preparing what is needed; may throw */

static void
hash_bytes(pg_cryptohash_ctx *hash, const void *bytes, size_t size)
{
	if (pg_cryptohash_update(hash, bytes, size) < 0)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not compute a hash")));
}

/* Length and text, so that no two lists of texts hash alike; NULL is another than "". */
static void
hash_text(pg_cryptohash_ctx *hash, const char *text)
{
	int64 length = text != NULL ? (int64)strlen(text) : -1;

	hash_bytes(hash, &length, sizeof(length));
	if (text != NULL)
		hash_bytes(hash, text, length);
}

/* Everything that the keys depend on: what is changed by ALTER SERVER or ALTER USER MAPPING gives other keys. */
static LanceCredentialId
make_id(const LanceProfile *profile, Oid userid, const char *purpose, const char *policy)
{
	const Oid oids[] = {MyDatabaseId, profile->server_oid, profile->owner, userid};
	const int numbers[] = {profile->credentials, profile->sts_duration};
	const char *const texts[] = {purpose,
								 policy,
								 profile->endpoint,
								 profile->region,
								 profile->sts_endpoint,
								 profile->sts_role_arn,
								 profile->sts_external_id,
								 profile->access_key_id,
								 profile->secret_access_key,
								 profile->session_token};
	pg_cryptohash_ctx *hash = pg_cryptohash_create(PG_SHA256);
	LanceCredentialId id;

	StaticAssertStmt(sizeof(id.hash) == PG_SHA256_DIGEST_LENGTH, "an id is a hash");
	if (hash == NULL || pg_cryptohash_init(hash) < 0)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not compute a hash")));
	hash_bytes(hash, oids, sizeof(oids));
	hash_bytes(hash, numbers, sizeof(numbers));
	for (int i = 0; i < lengthof(texts); i++)
		hash_text(hash, texts[i]);
	if (pg_cryptohash_final(hash, id.hash, sizeof(id.hash)) < 0)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not compute a hash")));
	pg_cryptohash_free(hash);
	return id;
}

static const char *
keep(LanceLibrary *lib, const char *text)
{
	char *copy = NULL;

	if (text != NULL)
		lance_check(&lib->ctx, lnc_arena_strndup(&lib->ctx, lib->arena, text, strlen(text), &copy));
	return copy;
}

/* By whom the session says that it was asked for, in the letters that the service takes: 2 to 64 of them. */
static const char *
session_name(LanceLibrary *lib, const LanceProfile *profile)
{
	char *name = psprintf("lance-%s", GetUserNameFromId(profile->userid, false));

	for (char *p = name; *p != '\0'; p++)
	{
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '-'))
			*p = '_';
	}
	if (strlen(name) > 64)
		name[64] = '\0';
	return keep(lib, name);
}

static void
wipe_key(void *arg)
{
	lnc_credentials_wipe(&((Maker *)arg)->key);
}

static Maker *
create_maker(LanceLibrary *lib, const LanceProfile *profile, LanceProfileCredentials by, const char *purpose,
			 const char *policy)
{
	Maker *maker;

	lance_check(&lib->ctx, LNC_NEW(&lib->ctx, lib->arena, &maker, 1));
	lance_check(&lib->ctx, lnc_arena_on_cleanup(&lib->ctx, lib->arena, wipe_key, maker));
	maker->id = make_id(profile, profile->userid, purpose, policy);
	maker->service = make_id(profile, InvalidOid, by == LANCE_CREDENTIALS_INSTANCE ? "machine" : "service", NULL);
	maker->by = by;
	maker->sts.endpoint = keep(lib, profile->sts_endpoint != NULL ? profile->sts_endpoint : profile->endpoint);
	maker->sts.region = keep(lib, profile->region);
	maker->sts.allow_http = profile->allow_http;
	maker->request.role_arn = keep(lib, profile->sts_role_arn);
	maker->request.external_id = keep(lib, profile->sts_external_id);
	maker->request.session_name = session_name(lib, profile);
	maker->request.duration_s = profile->sts_duration;
	maker->request.policy = keep(lib, policy);
	if (by != LANCE_CREDENTIALS_STS)
		return maker;
	if (profile->credentials == LANCE_CREDENTIALS_INSTANCE)
		maker->base = create_maker(lib, profile, LANCE_CREDENTIALS_INSTANCE, "own", NULL);
	else
	{
		lance_check(&lib->ctx, lnc_credentials_set(&lib->ctx, &maker->key, profile->access_key_id,
												   profile->secret_access_key, profile->session_token));
		maker->request.key = &maker->key;
		if (profile->access_key_id == NULL)
			maker->missing = "the user mapping has no keys to assume a role with";
	}
	return maker;
}

const LncCredentialSource *
lance_credentials_source(LanceLibrary *lib, const LanceProfile *profile)
{
	LncCredentialSource *source;

	lance_check(&lib->ctx, LNC_NEW(&lib->ctx, lib->arena, &source, 1));
	source->fetch = fetch_keys;
	source->arg = create_maker(lib, profile, profile->credentials, "own", NULL);
	return source;
}

/* ---- vending */

/* As of a time at which their whole life lay ahead. */
static int64
longest_offset(const LncCredentials *keys)
{
	return Min(LONGEST_OFFSET_MS, (keys->expires_ms - keys->obtained_ms) / 6);
}

static bool
due_for_clients(const LncCredentials *keys, int64_t now_ms)
{
	int64 offset = longest_offset(keys);

	/* After the clock was set back what is left of their life can't be told. */
	return now_ms >= keys->expires_ms - 2 * offset || now_ms < keys->obtained_ms - offset;
}

int64
lance_credentials_refresh_offset(const LncCredentials *keys, int64 now_ms)
{
	/* Keys that could not be renewed in time are given out in their last minutes too. */
	return Max(Min(longest_offset(keys), (keys->expires_ms - now_ms) / 2), 0);
}

/* "aws-cn" of "arn:aws-cn:iam::…"; NULL without a role. */
static char *
partition_of(const char *role_arn)
{
	if (role_arn == NULL || strncmp(role_arn, "arn:", 4) != 0)
		return NULL;
	return pnstrdup(role_arn + 4, strcspn(role_arn + 4, ":"));
}

static void
warn(const LanceProfile *profile, const LncError *error)
{
	ereport(WARNING,
			(errcode(ERRCODE_FDW_ERROR),
			 errmsg("no credentials for clients of server \"%s\": %s", profile->server_name, error->message),
			 error->detail[0] != '\0' ? errdetail("%s", error->detail) : 0,
			 error->hint[0] != '\0' ? errhint("%s", error->hint) : 0));
}

static LncCode
make_policy(LanceLibrary *lib, const LanceProfile *profile, const char *location, LncSessionAccess access,
			const char **policy)
{
	const char *option;
	LncUri uri;

	if (!lance_profile_trusted(profile, &option))
		return lnc_fail(&lib->ctx, LNC_DENIED, "a server with the option \"%s\" must be owned by a superuser",
						option);
	LNC_TRY(lnc_uri_parse(&lib->ctx, lib->arena, location, &uri));
	if (uri.scheme != LNC_SCHEME_S3)
		return lnc_fail(&lib->ctx, LNC_UNSUPPORTED, "location \"%.200s\" is of no object store", location);
	/* A table stays where it was made when the root is moved. */
	if (!lance_profile_holds(lib, profile, location))
		return lnc_fail(&lib->ctx, LNC_DENIED, "location \"%.200s\" lies outside the server's root", location);
	return lnc_sts_policy(&lib->ctx, lib->arena, partition_of(profile->sts_role_arn), uri.bucket, uri.path, access,
						  policy);
}

bool
lance_credentials_vend(const LanceProfile *profile, const char *location, LncSessionAccess access,
					   LncCredentials *out)
{
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	LanceProfileCredentials by = profile->credentials == LANCE_CREDENTIALS_WEB_IDENTITY
									 ? LANCE_CREDENTIALS_WEB_IDENTITY
									 : LANCE_CREDENTIALS_STS;
	LanceCredentialMaker how = {.make = make_keys, .due = due_for_clients};
	Maker *maker;
	const char *policy;
	LncCode code;
	bool found;

	memset(out, 0, sizeof(*out));
	code = make_policy(lib, profile, location, access, &policy);
	if (code == LNC_OK)
	{
		how.arg = maker = create_maker(lib, profile, by, "vended", policy);
		found = lance_credential_cache_find(&maker->id, &how, out);
		if (!found)
		{
			lance_brief_check();
			code = lance_credential_cache_get(&lib->ctx, &maker->id, &how, 0, out);
		}
	}
	if (code == LNC_CANCELLED || code == LNC_NO_MEMORY)
		lance_report(&lib->ctx);
	if (code != LNC_OK)
		warn(profile, &lib->ctx.error);
	lance_library_destroy(lib);
	return code == LNC_OK && out->serial != 0;
}
