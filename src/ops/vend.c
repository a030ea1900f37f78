/*
 * vend.c
 *	  Storage options for clients, in the spelling of Lance's object stores.
 */
#include "postgres.h"

#include "catalog/access.h"
#include "miscadmin.h"
#include "ops/vend.h"
#include "pg/credentials.h"
#include "pg/privilege.h"
#include "utils/acl.h"

/* More than there can be. */
#define MAX_OPTIONS 12

static void
add(LanceProperties *out, const char *key, const char *value)
{
	out->items[out->count++] = (LanceProperty){.key = pstrdup(key), .value = pstrdup(value)};
}

/* Called when the memory of the options goes. */
static void
wipe_options(void *arg)
{
	LanceProperties *options = arg;

	for (int i = 0; i < options->count; i++)
		explicit_bzero(options->items[i].value, strlen(options->items[i].value));
}

static void
wipe_on_reset(const LanceProperties *options)
{
	LanceProperties *copy = palloc(sizeof(*copy));
	MemoryContextCallback *callback = palloc0(sizeof(*callback));

	*copy = *options;
	callback->func = wipe_options;
	callback->arg = copy;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, callback);
}

/* Who may read a table of the catalog has no access to its store by that alone. */
static bool
may_have_keys(const LanceProfile *profile)
{
	if (pg_foreign_server_aclcheck(profile->server_oid, profile->userid, ACL_USAGE) == ACLCHECK_OK)
		return true;
	ereport(WARNING, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					  errmsg("no credentials for clients of server \"%s\": the role may not use the server",
							 profile->server_name),
					  errhint("Grant USAGE ON FOREIGN SERVER to the role.")));
	return false;
}

/* The user's own keys, which the server's owner has opened to him by the option vending. */
static void
add_static_keys(const LanceProfile *profile, LanceProperties *out)
{
	if (profile->access_key_id == NULL)
		return;
	add(out, "aws_access_key_id", profile->access_key_id);
	add(out, "aws_secret_access_key", profile->secret_access_key);
	if (profile->session_token != NULL)
		add(out, "aws_session_token", profile->session_token);
}

/* May the current user commit to the table? Who is just making it owns it. */
static bool
may_write(int64 table_id)
{
	return lance_may_execute("lance_create_table_version", GetUserId()) == LANCE_EXECUTE_ALLOWED &&
		   (table_id < 0 || lance_access_of(table_id, GetUserId()) >= LANCE_LEVEL_WRITE);
}

static void
add_session_keys(const LanceProfile *profile, const char *location, int64 table_id, LanceProperties *out)
{
	LncCredentials keys;

	if (lance_credentials_vend(profile, location, may_write(table_id) ? LNC_SESSION_WRITE : LNC_SESSION_READ,
							   &keys))
	{
		add(out, "aws_access_key_id", keys.access_key_id);
		add(out, "aws_secret_access_key", keys.secret_access_key);
		add(out, "aws_session_token", keys.session_token);
		add(out, "expires_at_millis", psprintf(INT64_FORMAT, keys.expires_ms));
		add(out, "refresh_offset_millis",
			psprintf(INT64_FORMAT, lance_credentials_refresh_offset(&keys, lnc_wall_ms())));
	}
	lnc_credentials_wipe(&keys);
}

void
lance_vend_options(const LanceProfile *profile, const char *location, LanceOptionalBool vend, int64 table_id,
				   LanceProperties *out)
{
	const char **keys;
	const char **values;
	int n = lance_profile_client_options(profile, &keys, &values);

	*out = (LanceProperties){.given = true, .items = palloc0(MAX_OPTIONS * sizeof(LanceProperty))};
	for (int i = 0; i < n; i++)
		add(out, keys[i], values[i]);
	/* Local files are reached without options. */
	if (n == 0 || vend == LANCE_BOOL_FALSE || profile->vending == LANCE_VENDING_NONE || !may_have_keys(profile))
		return;
	if (profile->vending == LANCE_VENDING_STATIC)
		add_static_keys(profile, out);
	else
		add_session_keys(profile, location, table_id, out);
	if (out->count > n)
		wipe_on_reset(out);
}
