/*
 * profile_options.c
 *	  Options of servers and user mappings: where each may stand, and which values it may have.
 */
#include "postgres.h"

#include "catalog/pg_foreign_server.h"
#include "catalog/pg_user_mapping.h"
#include "lib/stringinfo.h"
#include "pg/profile.h"
#include "utils/builtins.h"

const LanceOptionRule lance_profile_options[] = {
	{"root", ForeignServerRelationId, false},
	{"endpoint", ForeignServerRelationId, false},
	{"client_endpoint", ForeignServerRelationId, false},
	{"region", ForeignServerRelationId, false},
	{"allow_http", ForeignServerRelationId, false},
	{"virtual_hosted_style", ForeignServerRelationId, false},
	{"conditional_put", ForeignServerRelationId, false},
	{"managed_versioning", ForeignServerRelationId, false},
	{"credentials", ForeignServerRelationId, false},
	{"vending", ForeignServerRelationId, false},
	{"sts_endpoint", ForeignServerRelationId, false},
	{"sts_role_arn", ForeignServerRelationId, false},
	{"sts_external_id", ForeignServerRelationId, false},
	{"sts_duration", ForeignServerRelationId, false},
	{"access_key_id", UserMappingRelationId, true},
	{"secret_access_key", UserMappingRelationId, true},
	{"session_token", UserMappingRelationId, true},
	{NULL, InvalidOid, false},
};

const char *const lance_profile_credentials[] = {"mapping", "sts", "web_identity", "instance", NULL};
const char *const lance_profile_vending[] = {"none", "static", "sts", NULL};

/* ---- checks of option values */

static bool
has_control_character(const char *value)
{
	for (const char *p = value; *p != '\0'; p++)
	{
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return true;
	}
	return false;
}

/* No part between slashes may be empty, "." or ".."; one slash at the end is let pass. */
static bool
path_parts_ok(const char *path)
{
	while (*path != '\0')
	{
		size_t length = strcspn(path, "/");

		if (length == 0 || (length == 1 && path[0] == '.') || (length == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += length;
		if (*path == '/')
			path++;
	}
	return true;
}

static void
check_root(const char *value)
{
	const char *parts = NULL;

	if (strncmp(value, "s3://", 5) == 0)
		parts = value + 5;
	else if (strncmp(value, "file:///", 8) == 0)
		parts = value + 8;
	else if (value[0] == '/')
		parts = value + 1;
	else
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
						errmsg("invalid value for option \"%s\": \"%s\"", "root", value),
						errhint("A root is \"s3://bucket/prefix\" or \"file:///absolute/folder\".")));
	if (*parts == '\0' || has_control_character(value) || !path_parts_ok(parts))
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
						errmsg("invalid value for option \"%s\": \"%s\"", "root", value),
						errdetail("The root must name a bucket or folder, without empty, \".\" or \"..\" parts.")));
}

static void
check_endpoint(const char *name, const char *value)
{
	const char *host = NULL;

	if (pg_strncasecmp(value, "http://", 7) == 0)
		host = value + 7;
	else if (pg_strncasecmp(value, "https://", 8) == 0)
		host = value + 8;
	if (host == NULL || *host == '\0' || *host == '/' || has_control_character(value) ||
		strpbrk(host, "@?# \"\\") != NULL || (strchr(host, '/') != NULL && strcmp(strchr(host, '/'), "/") != 0))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE), errmsg("invalid value for option \"%s\"", name),
				 errhint("An endpoint is \"https://host\" or \"http://host:port\", without user or path.")));
}

static void
check_region(const char *value)
{
	if (*value == '\0' ||
		strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != strlen(value))
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
						errmsg("invalid value for option \"%s\": \"%s\"", "region", value),
						errhint("A region is made of letters, digits and hyphens, as in \"eu-central-1\".")));
}

static void
check_boolean(const char *name, const char *value)
{
	bool ignored;

	if (!parse_bool(value, &ignored))
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
						errmsg("invalid value for option \"%s\": \"%s\"", name, value),
						errhint("Valid values are \"true\" and \"false\".")));
}

int
lance_profile_word(const char *const *words, const char *value)
{
	for (int i = 0; words[i] != NULL; i++)
	{
		if (strcmp(words[i], value) == 0)
			return i;
	}
	return -1;
}

static void
check_word(const char *name, const char *const *words, const char *value)
{
	StringInfoData valid;

	if (lance_profile_word(words, value) >= 0)
		return;
	initStringInfo(&valid);
	for (int i = 0; words[i] != NULL; i++)
		appendStringInfo(&valid, "%s\"%s\"", i > 0 ? ", " : "", words[i]);
	ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
					errmsg("invalid value for option \"%s\": \"%s\"", name, value),
					errhint("Valid values are: %s.", valid.data)));
}

/* Bounds and letters of the parameters of AssumeRole, by the reference of the STS API. */
static void
check_role_arn(const char *value)
{
	bool ok = strncmp(value, "arn:", 4) == 0 && strlen(value) >= 20 && strlen(value) <= 2048;

	for (const char *p = value; ok && *p != '\0'; p++)
		ok = (unsigned char)*p > 0x20 && (unsigned char)*p < 0x7f;
	if (!ok)
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
						errmsg("invalid value for option \"%s\": \"%s\"", "sts_role_arn", value),
						errhint("A role is written like \"arn:aws:iam::123456789012:role/name\".")));
}

static void
check_external_id(const char *value)
{
	size_t length = strlen(value);

	if (length < 2 || length > 1224 ||
		strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+=,.@:/-") != length)
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
						errmsg("invalid value for option \"%s\": \"%s\"", "sts_external_id", value),
						errhint("An external id has 2 to 1224 letters, digits, and letters of \"_+=,.@:/-\".")));
}

static void
check_duration(const char *value)
{
	char *end;
	long seconds;

	errno = 0;
	seconds = strtol(value, &end, 10);
	if (errno != 0 || end == value || *end != '\0' || seconds < 900 || seconds > 43200)
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
						errmsg("invalid value for option \"%s\": \"%s\"", "sts_duration", value),
						errhint("A duration is a whole number of seconds from 900 to 43200.")));
}

/* The value itself never enters the message. */
static void
check_secret(const char *name, const char *value)
{
	for (const char *p = value; *p != '\0'; p++)
	{
		if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7f)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE), errmsg("invalid value for option \"%s\"", name),
					 errdetail("Blanks and letters other than printable ASCII are not allowed.")));
	}
	if (*value == '\0')
		ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
						errmsg("invalid value for option \"%s\"", name), errdetail("The value is empty.")));
}

void
lance_profile_check_option(const LanceOptionRule *rule, const char *value)
{
	if (rule->secret)
		check_secret(rule->name, value);
	else if (strcmp(rule->name, "root") == 0)
		check_root(value);
	else if (strcmp(rule->name, "endpoint") == 0 || strcmp(rule->name, "client_endpoint") == 0 ||
			 strcmp(rule->name, "sts_endpoint") == 0)
		check_endpoint(rule->name, value);
	else if (strcmp(rule->name, "credentials") == 0)
		check_word(rule->name, lance_profile_credentials, value);
	else if (strcmp(rule->name, "vending") == 0)
		check_word(rule->name, lance_profile_vending, value);
	else if (strcmp(rule->name, "sts_role_arn") == 0)
		check_role_arn(value);
	else if (strcmp(rule->name, "sts_external_id") == 0)
		check_external_id(value);
	else if (strcmp(rule->name, "sts_duration") == 0)
		check_duration(value);
	else if (strcmp(rule->name, "region") == 0)
		check_region(value);
	else
		check_boolean(rule->name, value);
}
