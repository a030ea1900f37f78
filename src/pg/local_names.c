/*
 * local_names.c
 *	  Local folders that symbolic links give several names.
 */
#include "postgres.h"

#include <stdlib.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_foreign_server.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "pg/env.h"
#include "pg/guc.h"
#include "pg/local_names.h"
#include "pg/profile.h"
#include "storage/uri.h"
#include "utils/rel.h"
#include "utils/varlena.h"

char *
lance_local_resolved(const char *path)
{
	char *head = pstrdup(path);
	char *tail = "";

	for (;;)
	{
		char *real = realpath(head, NULL);
		char *slash;

		if (real != NULL)
		{
			char *result = psprintf("%s%s", strcmp(real, "/") == 0 && *tail != '\0' ? "" : real, tail);

			free(real);
			return result;
		}
		slash = strrchr(head, '/');
		if (slash == NULL || slash == head)
			return pstrdup(path);
		tail = pstrdup(path + (slash - head));
		*slash = '\0';
	}
}

/* What follows folder in path, with its slash, "" where they are the same; NULL: path does not lie there. */
static const char *
below(const char *path, const char *folder)
{
	size_t length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);

	if (strncmp(path, folder, length) != 0 || (path[length] != '\0' && path[length] != '/'))
		return NULL;
	return path + length;
}

static void
add_name(List **names, char *name)
{
	ListCell *lc;

	foreach (lc, *names)
	{
		if (strcmp(lfirst(lc), name) == 0)
			return;
	}
	*names = lappend(*names, name);
}

/* The name that the place has through a folder, where that is a link or lies behind one. */
static void
add_name_through(List **names, const char *resolved, const char *folder)
{
	char *target = lance_local_resolved(folder);
	const char *rest;

	if (strcmp(target, folder) == 0)
		return;
	rest = below(resolved, target);
	if (rest != NULL)
		add_name(names, psprintf("%s%s", folder, rest));
	else if (below(target, resolved) != NULL)
		add_name(names, pstrdup(folder));
}

/* The local path of a server's root; NULL: it has none. */
static char *
local_root(LanceLibrary *lib, List *options)
{
	ListCell *lc;

	foreach (lc, options)
	{
		DefElem *option = lfirst(lc);
		LncUri uri;

		if (strcmp(option->defname, "root") == 0 &&
			lnc_uri_parse(&lib->ctx, lib->arena, defGetString(option), &uri) == LNC_OK &&
			uri.scheme == LNC_SCHEME_FILE)
			return psprintf("/%s", uri.path);
	}
	return NULL;
}

static void
add_names_through_servers(List **names, const char *resolved)
{
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	Relation relation = table_open(ForeignServerRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(relation, InvalidOid, false, NULL, 0, NULL);
	HeapTuple tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool isnull;
		Datum options = heap_getattr(tuple, Anum_pg_foreign_server_srvoptions, RelationGetDescr(relation), &isnull);
		char *root;

		CHECK_FOR_INTERRUPTS();
		if (isnull || !lance_profile_is_wrapper(((Form_pg_foreign_server)GETSTRUCT(tuple))->srvfdw))
			continue;
		root = local_root(lib, untransformRelOptions(options));
		if (root != NULL)
			add_name_through(names, resolved, root);
	}
	systable_endscan(scan);
	table_close(relation, AccessShareLock);
	lance_library_destroy(lib);
}

List *
lance_local_names(const char *path)
{
	char *resolved = lance_local_resolved(path);
	List *names = list_make1(pstrdup(path));
	List *folders = NIL;
	ListCell *lc;

	add_name(&names, resolved);
	add_names_through_servers(&names, resolved);
	if (lance_guc_allowed_local_roots[0] != '\0' &&
		SplitDirectoriesString(pstrdup(lance_guc_allowed_local_roots), ',', &folders))
	{
		foreach (lc, folders)
			add_name_through(&names, resolved, lfirst(lc));
	}
	return names;
}
