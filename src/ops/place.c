/*
 * place.c
 *	  Storage profiles of namespaces and locations of tables.
 */
#include "postgres.h"

#include "catalog/entry.h"
#include "catalog/location.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/table_entry.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "ops/check.h"
#include "ops/place.h"
#include "pg/errcodes.h"
#include "pg/guc.h"
#include "pg/report.h"
#include "storage/lmgr.h"
#include "storage/uri.h"
#include "utils/acl.h"
#include "utils/builtins.h"

/* A directory name keeps so much of a name; the random part makes it unique. */
#define NAME_BYTES 48

/* The longest location: more than any store takes, and what an index entry holds. */
#define LOCATION_BYTES 2048

/* All directories of namespaces together: deep paths are cut short, since stores and file systems limit keys. */
#define PATH_BYTES 256

static const char *
property(const LanceProperties *properties, const char *key)
{
	for (int i = 0; i < properties->count; i++)
	{
		if (strcmp(properties->items[i].key, key) == 0)
			return properties->items[i].value;
	}
	return NULL;
}

static bool
boolean_property(const char *value)
{
	bool result;

	if (!parse_bool(value, &result))
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT),
						errmsg("invalid value for property \"%s\": \"%s\"", LANCE_PROPERTY_MANAGED, value),
						errhint("Valid values are \"true\" and \"false\".")));
	return result;
}

Oid
lance_place_hold_server(const char *server_name)
{
	for (;;)
	{
		Oid server = get_foreign_server_oid(server_name, true);

		if (!OidIsValid(server))
			return InvalidOid;
		LockDatabaseObject(ForeignServerRelationId, server, 0, AccessShareLock);
		if (get_foreign_server_oid(server_name, true) == server)
			return server;
		UnlockDatabaseObject(ForeignServerRelationId, server, 0, AccessShareLock);
	}
}

static void
profile_missing(const char *server_name)
{
	ereport(ERROR,
			(lance_errcode(LANCE_INVALID_INPUT), errmsg("storage profile \"%s\" does not exist", server_name),
			 errhint("Create it with CREATE SERVER ... FOREIGN DATA WRAPPER lance_fdw.")));
}

/* The profile that something is to name. */
static LanceProfile *
profile_to_name(const char *server_name)
{
	if (!OidIsValid(lance_place_hold_server(server_name)))
		profile_missing(server_name);
	return lance_profile_get(server_name, GetUserId());
}

void
lance_place_check_properties(const LanceProperties *properties)
{
	const char *server_name = property(properties, LANCE_PROPERTY_SERVER);
	const char *managed = property(properties, LANCE_PROPERTY_MANAGED);

	if (managed != NULL)
		(void)boolean_property(managed);
	if (server_name != NULL)
	{
		LanceProfile *profile = profile_to_name(server_name);

		if (pg_foreign_server_aclcheck(profile->server_oid, GetUserId(), ACL_USAGE) != ACLCHECK_OK)
			ereport(ERROR, (lance_errcode(LANCE_PERMISSION_DENIED),
							errmsg("permission denied for storage profile \"%s\"", server_name),
							errhint("Grant USAGE ON FOREIGN SERVER to the role.")));
	}
}

char *
lance_place_refused_properties(const LanceProperties *properties)
{
	const char *server_name = property(properties, LANCE_PROPERTY_SERVER);
	const char *managed = property(properties, LANCE_PROPERTY_MANAGED);
	bool value;
	Oid server;

	if (managed != NULL && !parse_bool(managed, &value))
		return psprintf("Its property \"%s\" is neither \"true\" nor \"false\".", LANCE_PROPERTY_MANAGED);
	if (server_name == NULL)
		return NULL;
	server = lance_place_hold_server(server_name);
	if (!OidIsValid(server) || pg_foreign_server_aclcheck(server, GetUserId(), ACL_USAGE) != ACLCHECK_OK)
		return psprintf("Its property \"%s\" names no storage profile that may be used.", LANCE_PROPERTY_SERVER);
	return NULL;
}

LanceProfile *
lance_place_profile(int64 namespace_id)
{
	char *server_name = lance_entry_inherited_property(namespace_id, LANCE_PROPERTY_SERVER);

	if (server_name == NULL)
		server_name = lance_guc_default_server;
	if (server_name == NULL || server_name[0] == '\0')
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("the namespace has no storage profile"),
						errhint("Set %s, or the property \"%s\" when creating the namespace.",
								"lance_catalog.default_server", LANCE_PROPERTY_SERVER)));
	return profile_to_name(server_name);
}

LanceProfile *
lance_place_profile_of(const LanceTableRow *table)
{
	if (!OidIsValid(get_foreign_server_oid(table->server_name, true)))
		profile_missing(table->server_name);
	return lance_profile_get(table->server_name, GetUserId());
}

bool
lance_place_managed(int64 namespace_id, const LanceProperties *properties, const LanceProfile *profile)
{
	const char *value = property(properties, LANCE_PROPERTY_MANAGED);

	if (value == NULL)
		value = lance_entry_inherited_property(namespace_id, LANCE_PROPERTY_MANAGED);
	return value != NULL ? boolean_property(value) : profile->managed_versioning;
}

/* ---- locations */

static char *
canonical_root(const LanceProfile *profile)
{
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	char *root = lance_location_canonical(lance_profile_open(lib, profile, profile->root), profile->root);

	lance_library_destroy(lib);
	return root;
}

/*
 * At most NAME_BYTES letters of a name that every store and URI takes as they are. Dots are for tables only: a
 * namespace's directory never looks like a table's, which ends in ".lance".
 */
static void
append_safe(StringInfo path, const char *name, bool dots)
{
	for (int i = 0; name[i] != '\0' && i < NAME_BYTES; i++)
	{
		unsigned char c = name[i];
		bool safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
					(i > 0 && (c == '-' || (dots && c == '.')));

		appendStringInfoChar(path, safe ? c : '_');
	}
}

/* A location of its own in the folder of the first depth namespaces. */
static char *
fresh_in(const LanceId *table_id, int depth, const char *root)
{
	StringInfoData path;
	int start;
	unsigned char random[8];

	if (!pg_strong_random(random, sizeof(random)))
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random numbers")));
	initStringInfo(&path);
	appendStringInfo(&path, "%s/", root);
	start = path.len;
	for (int i = 0; i < depth && path.len - start < PATH_BYTES; i++)
	{
		append_safe(&path, table_id->parts[i], false);
		appendStringInfoChar(&path, '/');
	}
	append_safe(&path, lance_id_name(table_id), true);
	appendStringInfoChar(&path, '-');
	for (int i = 0; i < (int)sizeof(random); i++)
		appendStringInfo(&path, "%02x", random[i]);
	appendStringInfoString(&path, ".lance");
	return path.data;
}

char *
lance_place_fresh(const LanceId *table_id, const LanceProfile *profile)
{
	char *root = canonical_root(profile);
	char *location = fresh_in(table_id, table_id->nparts - 1, root);
	bool dropped;

	if (table_id->nparts == 1)
		return location;
	/* Somebody may have given a table of another namespace the very folder of this one: nobody is locked out by that. */
	return lance_location_overlap(location, &dropped) == NULL ? location : fresh_in(table_id, 0, root);
}

static void
refuse_location(const char *location, const char *detail)
{
	ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("invalid location \"%s\"", location),
					errdetail("%s", detail)));
}

/* What no location may hold; the sentence that says so, or NULL. */
static const char *
bad_letters(const char *location)
{
	for (const char *p = location; *p != '\0'; p++)
	{
		if ((unsigned char)*p < 0x20 || *p == 0x7f || *p == '?' || *p == '#' || *p == '*')
			return "Control characters and \"?\", \"#\" and \"*\" are not allowed.";
	}
	return NULL;
}

/* No part may be empty, "." or ".."; percent-encoded ones are refused with them, since some clients decode. */
static void
check_parts(const char *location, const char *path)
{
	while (*path != '\0')
	{
		size_t length = strcspn(path, "/");
		char *part = pnstrdup(path, length);

		if (length == 0)
			refuse_location(location, "It has an empty part.");
		if (strcmp(part, ".") == 0 || strcmp(part, "..") == 0 || pg_strncasecmp(part, "%2e", 3) == 0)
			refuse_location(location, "It has a part \".\" or \"..\".");
		path += length;
		if (*path == '/')
			path++;
	}
}

char *
lance_place_given(const char *location, const LanceProfile *profile)
{
	char *root = canonical_root(profile);
	char *uri = pstrdup(location);
	size_t length = strlen(uri);
	LanceLibrary *lib;
	char *result;

	while (length > 1 && uri[length - 1] == '/')
		uri[--length] = '\0';
	if (uri[0] == '\0')
		refuse_location(location, "It is empty.");
	if (bad_letters(uri) != NULL)
		refuse_location(location, bad_letters(uri));
	if (uri[0] == '/')
		check_parts(location, uri + 1);
	else if (strstr(uri, "://") != NULL)
		check_parts(location, strncmp(uri, "file:///", 8) == 0 ? uri + 8 : strstr(uri, "://") + 3);
	else
	{
		check_parts(location, uri);
		uri = psprintf("%s/%s", root, uri);
	}
	if (lance_location_is_local(uri) != lance_location_is_local(root))
		refuse_location(location, psprintf("The namespace's storage lies at \"%s\".", root));
	lib = lance_library_create(CurrentMemoryContext);
	result = lance_location_canonical(lance_profile_open(lib, profile, uri), uri);
	lance_library_destroy(lib);
	if (strcmp(result, root) == 0)
		refuse_location(location, "It is the root of the storage profile itself.");
	return result;
}

char *
lance_place_folder(const char *path, const LanceProfile *profile)
{
	if (path == NULL || path[0] == '\0')
		return canonical_root(profile);
	return lance_place_given(path, profile);
}

char *
lance_place_below(LanceLibrary *lib, const char *folder, const char *path, const char **why)
{
	char *location;
	const char *joined;

	*why = bad_letters(path);
	if (*why != NULL)
		return NULL;
	if (strstr(path, "://") != NULL || lnc_key_check(&lib->ctx, path) != LNC_OK)
	{
		*why = "Its location is no path below the directory.";
		return NULL;
	}
	if (lance_location_is_local(folder))
		location = psprintf("%s/%s", folder, path);
	else
	{
		lance_check(&lib->ctx, lnc_uri_join(&lib->ctx, lib->arena, folder, path, &joined));
		location = pstrdup(joined);
	}
	if (strlen(location) > LOCATION_BYTES)
	{
		*why = "Its location is too long.";
		return NULL;
	}
	return location;
}

/* The sentence about the location that is in the way of one. What the caller may not know of is not named. */
static char *
in_the_way(const char *location, const char *other, bool dropped)
{
	LanceLevel level;

	if (dropped)
	{
		level = lance_access_of(LANCE_ROOT_ENTRY, GetUserId());
		return level >= LANCE_LEVEL_READ || strcmp(location, other) == 0
				   ? psprintf("The files of a dropped table at \"%s\" are still being removed.", other)
				   : pstrdup("The files of a dropped table are still being removed there.");
	}
	level = lance_access_of(lance_table_number_at(other), GetUserId());
	return level >= LANCE_LEVEL_READ ? psprintf("It overlaps with the table at \"%s\".", other)
									 : pstrdup("It overlaps with that of another table.");
}

char *
lance_place_taken(const char *location)
{
	bool dropped;
	char *other = lance_location_overlap(location, &dropped);
	LanceId id = {0};

	if (other == NULL)
		return NULL;
	if (!dropped && strcmp(location, other) == 0 &&
		lance_access_of(lance_table_number_at(other), GetUserId()) >= LANCE_LEVEL_READ)
		lance_table_id_at(other, &id);
	return id.given ? psprintf("It is the location of table \"%s\".", lance_id_text(&id))
					: in_the_way(location, other, dropped);
}

void
lance_place_claim(int64 table_id, const char *location, const LanceProfile *profile, bool managed,
				  bool chosen_by_caller)
{
	bool dropped;
	char *other;

	if (strlen(location) > LOCATION_BYTES)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("location is too long"),
						errdetail("It has %zu bytes, at most %d are allowed.", strlen(location), LOCATION_BYTES)));
	lance_location_lock(chosen_by_caller);
	other = lance_location_overlap(location, &dropped);
	if (other != NULL)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("location \"%s\" is in use", location),
						errdetail("%s", in_the_way(location, other, dropped))));
	lance_table_insert(table_id, location, profile->server_name, managed);
}

char *
lance_place_uri(const char *location)
{
	StringInfoData uri;

	if (!lance_location_is_local(location))
		return pstrdup(location);
	initStringInfo(&uri);
	appendStringInfoString(&uri, "file://");
	for (const char *p = location; *p != '\0'; p++)
	{
		unsigned char c = *p;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			strchr("/_.-~$=,+@", c) != NULL)
			appendStringInfoChar(&uri, c);
		else
			appendStringInfo(&uri, "%%%02X", c);
	}
	return uri.data;
}

LncStore *
lance_place_open(LanceLibrary *lib, const LanceTableRow *table)
{
	return lance_profile_open(lib, lance_place_profile_of(table), table->location);
}
