/*
 * api_key.c
 *	  Rows of lance.api_key: make, find, mark as used, revoke.
 */
#include "postgres.h"

#include "catalog/api_key.h"
#include "catalog/lookup.h"
#include "catalog/session.h"
#include "common/base64.h"
#include "common/cryptohash.h"
#include "common/sha2.h"
#include "miscadmin.h"
#include "pg/errcodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#define KEY_PREFIX "lance_"
#define KEY_BYTES 32

/* Keys are made here, so nothing longer can be one. */
#define KEY_MAX_LENGTH 256

/* Uses closer together than this are recorded as one. */
#define USE_MINUTES 10

static Datum
hash_of_key(const char *key)
{
	bytea *hash = palloc(VARHDRSZ + PG_SHA256_DIGEST_LENGTH);
	pg_cryptohash_ctx *ctx = pg_cryptohash_create(PG_SHA256);

	SET_VARSIZE(hash, VARHDRSZ + PG_SHA256_DIGEST_LENGTH);
	if (ctx == NULL || pg_cryptohash_init(ctx) < 0 ||
		pg_cryptohash_update(ctx, (const uint8 *)key, strlen(key)) < 0 ||
		pg_cryptohash_final(ctx, (uint8 *)VARDATA(hash), PG_SHA256_DIGEST_LENGTH) < 0)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not compute a hash")));
	pg_cryptohash_free(ctx);
	return PointerGetDatum(hash);
}

bool
lance_api_key_find(const char *key, LanceApiKey *out)
{
	Snapshot snapshot;
	LanceLookup lookup;
	ScanKeyData hash;
	TimestampTz now = GetCurrentTimestamp();
	bool found = false;

	if (strlen(key) > KEY_MAX_LENGTH)
		return false;
	snapshot = lance_lookup_snapshot();
	ScanKeyInit(&hash, API_KEY_HASH, BTEqualStrategyNumber, F_BYTEAEQ, hash_of_key(key));
	if (lance_lookup_begin(&lookup, LANCE_API_KEY_BY_HASH, snapshot, &hash, 1) &&
		lance_lookup_null(&lookup, API_KEY_REVOKED_AT) &&
		(lance_lookup_null(&lookup, API_KEY_EXPIRES_AT) || lance_lookup_int64(&lookup, API_KEY_EXPIRES_AT) > now))
	{
		bool isnull;

		out->key_id = lance_lookup_int64(&lookup, API_KEY_ID);
		out->role = DatumGetObjectId(lance_lookup_column(&lookup, API_KEY_ROLE, &isnull));
		out->mark_due = !lance_session_read_only() &&
						(lance_lookup_null(&lookup, API_KEY_LAST_USED_AT) ||
						 lance_lookup_int64(&lookup, API_KEY_LAST_USED_AT) < now - USE_MINUTES * USECS_PER_MINUTE);
		found = SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(out->role));
	}
	lance_lookup_end(&lookup);
	lance_lookup_done(snapshot);
	return found;
}

void
lance_api_key_mark_used(int64 key_id)
{
	static LanceStatement statement = {
		.sql =
			"UPDATE lance.api_key SET last_used_at = clock_timestamp() WHERE key_id = ("
			" SELECT key_id FROM lance.api_key WHERE key_id = $1"
			" AND (last_used_at IS NULL OR last_used_at < clock_timestamp() - make_interval(mins => " CppAsString2(
				USE_MINUTES) "))"
							 " FOR NO KEY UPDATE SKIP LOCKED)",
		.nargs = 1,
		.types = {INT8OID}};
	LanceSession session;

	if (lance_session_read_only())
		return;
	lance_session_begin(&session);
	lance_session_run(&statement, (Datum[]){Int64GetDatum(key_id)}, NULL, 0);
	lance_session_end(&session);
}

/* 32 random bytes in base64url behind a prefix by which leaked keys can be found in texts. */
static char *
fresh_key(void)
{
	uint8 random[KEY_BYTES];
	char encoded[64];
	int length;

	if (!pg_strong_random(random, sizeof(random)))
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random numbers")));
	length = pg_b64_encode((const char *)random, sizeof(random), encoded, sizeof(encoded));
	if (length < 0)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not encode random numbers")));
	for (int i = 0; i < length; i++)
	{
		if (encoded[i] == '+')
			encoded[i] = '-';
		else if (encoded[i] == '/')
			encoded[i] = '_';
		else if (encoded[i] == '=')
			length = i;
	}
	encoded[length] = '\0';
	return psprintf("%s%s", KEY_PREFIX, encoded);
}

char *
lance_api_key_create(Oid role, const char *label, TimestampTz expires_at, int64 *key_id)
{
	static LanceStatement statement = {
		.sql = "INSERT INTO lance.api_key (key_hash, role_id, label, expires_at) VALUES ($1, $2::regrole, $3, $4) "
			   "RETURNING key_id",
		.nargs = 4,
		.types = {BYTEAOID, OIDOID, TEXTOID, TIMESTAMPTZOID}};
	char *key = fresh_key();
	Datum values[] = {hash_of_key(key), ObjectIdGetDatum(role),
					  label != NULL ? CStringGetTextDatum(label) : (Datum)0, TimestampTzGetDatum(expires_at)};
	char nulls[] = {' ', ' ', label != NULL ? ' ' : 'n', expires_at != 0 ? ' ' : 'n'};
	LanceSession session;

	if (!is_member_of_role(GetUserId(), role))
		ereport(ERROR,
				(lance_errcode(LANCE_PERMISSION_DENIED),
				 errmsg("permission denied to create an API key for role \"%s\"", GetUserNameFromId(role, false)),
				 errdetail("A key can be made only by who may act as its role.")));
	if (expires_at != 0 && expires_at <= GetCurrentTimestamp())
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("an API key can't expire in the past"),
						errdetail("It would end at %s.", timestamptz_to_str(expires_at))));
	lance_session_begin(&session);
	lance_session_run(&statement, values, nulls, 0);
	*key_id = lance_row_int64(0, 1);
	lance_session_end(&session);
	return key;
}

void
lance_api_key_revoke(int64 key_id)
{
	static LanceStatement find = {
		.sql = "SELECT role_id::oid::bigint FROM lance.api_key WHERE key_id = $1", .nargs = 1, .types = {INT8OID}};
	static LanceStatement revoke = {
		.sql = "UPDATE lance.api_key SET revoked_at = now() WHERE key_id = $1 AND revoked_at IS NULL",
		.nargs = 1,
		.types = {INT8OID}};
	LanceSession session;
	Oid role;
	bool allowed;

	lance_session_begin(&session);
	if (lance_session_run(&find, (Datum[]){Int64GetDatum(key_id)}, NULL, 1) == 0)
		ereport(ERROR,
				(lance_errcode(LANCE_INVALID_INPUT), errmsg("API key " INT64_FORMAT " does not exist", key_id)));
	role = (Oid)lance_row_int64(0, 1);
	allowed = superuser_arg(session.user) ||
			  (SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(role)) && is_member_of_role(session.user, role));
	if (!allowed)
		ereport(ERROR, (lance_errcode(LANCE_PERMISSION_DENIED),
						errmsg("permission denied to revoke API key " INT64_FORMAT, key_id)));
	lance_session_run(&revoke, (Datum[]){Int64GetDatum(key_id)}, NULL, 0);
	lance_session_end(&session);
}
