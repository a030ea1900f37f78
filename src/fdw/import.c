/*
 * import.c
 *	  IMPORT FOREIGN SCHEMA: a foreign table for each table of a catalog namespace.
 */
#include "postgres.h"

#include "catalog/pg_foreign_server.h"
#include "catalog/table.h"
#include "commands/defrem.h"
#include "fdw/composite.h"
#include "fdw/ddl.h"
#include "fdw/scan.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pg/profile.h"
#include "pg/report.h"
#include "utils/acl.h"
#include "utils/builtins.h"

/* Delimiters for ids with names that contain "$", tried in this order. */
static const char *const delimiters[] = {"$", ".", "/", ":", "|", "$$", "\x1f"};

/* The first delimiter that occurs in none of the names. */
static const char *
delimiter_for(const LanceId *namespace_id, const char *name)
{
	for (size_t i = 0; i < lengthof(delimiters); i++)
	{
		bool usable = strstr(name, delimiters[i]) == NULL;

		for (int j = 0; j < namespace_id->nparts; j++)
			usable = usable && strstr(namespace_id->parts[j], delimiters[i]) == NULL;
		if (usable)
			return delimiters[i];
	}
	ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("table \"%s\" can't be imported", name),
					errdetail("Its id contains every delimiter that an id could be written with.")));
}

static char *
join_id(const LanceId *namespace_id, const char *name, const char *delimiter)
{
	StringInfoData id;

	initStringInfo(&id);
	for (int i = 0; i < namespace_id->nparts; i++)
		appendStringInfo(&id, "%s%s", namespace_id->parts[i], delimiter);
	appendStringInfoString(&id, name);
	return id.data;
}

/* IMPORT ... OPTIONS (delimiter '...', structs '...', system_columns '...') */
typedef struct ImportOptions
{
	const char *delimiter; /* how the remote schema's names are separated */
	bool composite;        /* structs become composites */
	uint32 system;         /* system columns of each table */
} ImportOptions;

static ImportOptions
import_options(List *options)
{
	ImportOptions result = {.delimiter = "$"};
	ListCell *lc;

	foreach (lc, options)
	{
		DefElem *option = lfirst(lc);

		if (strcmp(option->defname, "structs") == 0)
			result.composite = lance_structs_option(defGetString(option));
		else if (strcmp(option->defname, "system_columns") == 0)
			result.system = lance_system_columns_option(defGetString(option));
		else if (strcmp(option->defname, "delimiter") != 0)
			ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
							errmsg("invalid option \"%s\" for IMPORT FOREIGN SCHEMA", option->defname),
							errhint("Valid options are: %s.", "delimiter, structs, system_columns")));
		else
			result.delimiter = defGetString(option);
		if (*result.delimiter == '\0')
			ereport(ERROR, (errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
							errmsg("option \"%s\" must not be empty", "delimiter")));
	}
	return result;
}

/*
 * One table's definition. NULL, with a message, when it has no version yet or can't be read: one bad table must not
 * keep the others from being imported. A store that does not answer is an error.
 */
static char *
import_table(const LanceId *namespace_id, const LanceTableRow *row, const char *relation,
			 const LanceComposites *composites, uint32 system, const ForeignServer *server)
{
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	LanceProfile *profile = lance_profile_get(row->server_name, GetUserId());
	const char *delimiter = delimiter_for(namespace_id, row->name);
	LncDatasetOptions newest = {0};
	LncDataset *dataset;
	LncCode code;
	char *result = NULL;

	if (profile->server_oid != server->serverid &&
		pg_foreign_server_aclcheck(profile->server_oid, GetUserId(), ACL_USAGE) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_SERVER, row->server_name);
	code = lnc_dataset_open(&lib->ctx, lib->arena, lance_profile_open_read(lib, profile, row->location), &newest,
							&dataset);
	if (code == LNC_NOT_FOUND)
		ereport(NOTICE,
				(errmsg("table \"%s\" is left out", row->name), errdetail("It is declared, but has no version.")));
	else if (code == LNC_CORRUPT || code == LNC_UNSUPPORTED)
		ereport(WARNING, (errmsg("table \"%s\" is left out", row->name), errdetail("%s", lib->ctx.error.message)));
	else
	{
		StringInfoData options;
		bool first = true;

		lance_check(&lib->ctx, code);
		initStringInfo(&options);
		lance_ddl_append_option(&options, &first, "table", join_id(namespace_id, row->name, delimiter));
		if (strcmp(delimiter, "$") != 0)
			lance_ddl_append_option(&options, &first, "delimiter", delimiter);
		result = lance_ddl_create_table(dataset, quote_identifier(relation), row->name, composites, system,
										server->servername, options.data);
	}
	lance_library_destroy(lib);
	return result;
}

List *
lanceImportForeignSchema(ImportForeignSchemaStmt *stmt, Oid server_oid)
{
	ForeignServer *server = GetForeignServer(server_oid);
	ImportOptions options = import_options(stmt->options);
	LanceComposites composites = {.schema = stmt->local_schema};
	List *commands = NIL;
	LanceTableRow **rows;
	LanceId namespace_id;
	char **relations;
	int count;

	lance_id_from_text(stmt->remote_schema, options.delimiter, &namespace_id);
	count = lance_catalog_tables_of(&namespace_id, &rows);
	relations = palloc((count + 1) * sizeof(char *));
	for (int i = 0; i < count; i++)
	{
		const char *name = rows[i]->name;

		relations[i] = pnstrdup(name, pg_mbcliplen(name, (int)strlen(name), NAMEDATALEN - 1));
		composites.reserved = lappend(composites.reserved, relations[i]);
	}
	for (int i = 0; i < count; i++)
	{
		char *command;

		/* LIMIT TO and EXCEPT also spare the opening of what is not wanted. */
		if (!IsImportableForeignTable(relations[i], stmt))
			continue;
		command = import_table(&namespace_id, rows[i], relations[i], options.composite ? &composites : NULL,
							   options.system, server);
		if (command != NULL)
			commands = lappend(commands, command);
	}
	return commands;
}
