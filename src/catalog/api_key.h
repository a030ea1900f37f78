/*
 * api_key.h
 *	  API keys: secrets that stand for a role on the REST server. Only their SHA-256 is stored.
 */
#ifndef LANCE_CATALOG_API_KEY_H
#define LANCE_CATALOG_API_KEY_H

#include "utils/timestamp.h"

/* A key that is valid now. */
typedef struct LanceApiKey
{
	int64 key_id;
	Oid role;      /* exists */
	bool mark_due; /* lance_api_key_mark_used should be called: the last use on record is a while ago */
} LanceApiKey;

/*
 * Look up the key as the client sent it. False when it is unknown, revoked or expired, or when its role is gone. Takes
 * no lock and writes nothing, so that it works on a standby. Needs a transaction.
 */
extern bool lance_api_key_find(const char *key, LanceApiKey *out);

/* Record that a key was used. Does nothing in a read-only transaction or while another transaction does the same. */
extern void lance_api_key_mark_used(int64 key_id);

/*
 * Make a key for a role. Returns the secret, palloc'd: it can't be shown again. expires_at 0: never. label may be NULL.
 * Throws 42501 unless the current user may act as that role.
 */
extern char *lance_api_key_create(Oid role, const char *label, TimestampTz expires_at, int64 *key_id);

/* Revoke a key; throws 22023 when there is none of that id. Revoking twice is no error. */
extern void lance_api_key_revoke(int64 key_id);

#endif
