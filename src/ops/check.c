/*
 * check.c
 *	  Checks and errors that the operations share.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "ops/check.h"
#include "pg/errcodes.h"

void
lance_check_name(const char *name, const char *what)
{
	size_t length = name == NULL ? 0 : strlen(name);

	if (length == 0)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("%s is empty", what)));
	if (length > LANCE_MAX_NAME_BYTES)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("%s is too long", what),
						errdetail("It has %zu bytes, at most %d are allowed.", length, LANCE_MAX_NAME_BYTES)));
	if (!pg_verify_mbstr(GetDatabaseEncoding(), name, (int)length, true))
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("%s is no valid text", what)));
}

void
lance_check_encoding(void)
{
	if (GetDatabaseEncoding() != PG_UTF8)
		ereport(ERROR, (lance_errcode(LANCE_UNSUPPORTED), errmsg("the catalog needs a database with encoding UTF8"),
						errhint("Make one with CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0.")));
}

static void
check_id(const LanceId *id, const char *what)
{
	lance_check_encoding();
	if (!id->given)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("id is missing")));
	if (id->nparts > LANCE_MAX_ID_PARTS)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("id has too many parts"),
						errdetail("It has %d parts, at most %d are allowed.", id->nparts, LANCE_MAX_ID_PARTS)));
	for (int i = 0; i < id->nparts; i++)
		lance_check_name(id->parts[i], what);
}

void
lance_check_namespace_id(const LanceId *id)
{
	check_id(id, "namespace name");
}

void
lance_check_table_id(const LanceId *id)
{
	check_id(id, "name in the table's id");
	if (id->nparts == 0)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("the id of a table needs a name"),
						errdetail("The id given is that of the root namespace.")));
}

void
lance_check_properties(const LanceProperties *properties, const char *what)
{
	for (int i = 0; i < properties->count; i++)
	{
		const LanceProperty *item = &properties->items[i];

		if (item->key[0] == '\0')
			ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("a key of \"%s\" is empty", what)));
		if (!pg_verify_mbstr(GetDatabaseEncoding(), item->key, strlen(item->key), true) ||
			!pg_verify_mbstr(GetDatabaseEncoding(), item->value, strlen(item->value), true))
			ereport(ERROR,
					(lance_errcode(LANCE_INVALID_INPUT), errmsg("an entry of \"%s\" is no valid text", what)));
	}
}

static bool
same_mode(const char *a, const char *b)
{
	for (;;)
	{
		while (*a == '_')
			a++;
		while (*b == '_')
			b++;
		if (pg_ascii_tolower((unsigned char)*a) != pg_ascii_tolower((unsigned char)*b))
			return false;
		if (*a == '\0')
			return true;
		a++;
		b++;
	}
}

void
lance_check_version(const LanceOptionalInt *version)
{
	if (version->given && version->value < 1)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("invalid version " INT64_FORMAT, version->value),
						errdetail("Versions are numbered from 1.")));
}

int
lance_check_mode(const char *mode, const char *what, const char *const *spellings)
{
	StringInfoData valid;

	if (mode == NULL || mode[0] == '\0')
		return 0;
	initStringInfo(&valid);
	for (int i = 0; spellings[i] != NULL; i++)
	{
		if (same_mode(mode, spellings[i]))
			return i;
		appendStringInfo(&valid, "%s%s", i > 0 ? ", " : "", spellings[i]);
	}
	ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("invalid %s \"%s\"", what, mode),
					errhint("Valid values are %s.", valid.data)));
}

int64
lance_check_limit(const LanceOptionalInt *limit)
{
	if (!limit->given)
		return -1;
	if (limit->value < 1 || limit->value > PG_INT32_MAX)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("invalid limit " INT64_FORMAT, limit->value),
						errdetail("A limit is a number from 1 to %d.", PG_INT32_MAX)));
	return limit->value;
}

const char *
lance_check_name_token(const char *token)
{
	if (token == NULL || token[0] == '\0')
		return NULL;
	lance_check_name(token, "page token");
	return token;
}

LanceId
lance_id_parent(const LanceId *id)
{
	LanceId parent = {.given = true, .nparts = id->nparts - 1, .parts = id->parts};

	return parent;
}

const char *
lance_id_name(const LanceId *id)
{
	return id->parts[id->nparts - 1];
}

void
lance_namespace_missing(const LanceId *id)
{
	ereport(ERROR, (lance_errcode(LANCE_NAMESPACE_NOT_FOUND),
					errmsg("namespace \"%s\" does not exist", lance_id_text(id))));
}

void
lance_table_missing(const LanceId *id)
{
	ereport(ERROR,
			(lance_errcode(LANCE_TABLE_NOT_FOUND), errmsg("table \"%s\" does not exist", lance_id_text(id))));
}

void
lance_table_name_taken(const LanceId *id, bool by_namespace)
{
	ereport(ERROR, (lance_errcode(LANCE_TABLE_EXISTS),
					by_namespace ? errmsg("the name of table \"%s\" is taken by a namespace", lance_id_text(id))
								 : errmsg("table \"%s\" already exists", lance_id_text(id))));
}

void
lance_namespace_name_taken(const LanceId *id, bool by_table)
{
	ereport(ERROR, (lance_errcode(LANCE_NAMESPACE_EXISTS),
					by_table ? errmsg("the name of namespace \"%s\" is taken by a table", lance_id_text(id))
							 : errmsg("namespace \"%s\" already exists", lance_id_text(id))));
}
