/*
 * import_directory.c
 *	  Bringing a directory of Lance tables into the catalog.
 *
 * Everything happens in one transaction. A dry run does the same in a subtransaction that is rolled back, so that it
 * says what the run would. Names are taken first, then locations, all under one lock: the order of RegisterTable.
 */
#include "postgres.h"

#include "access/xact.h"
#include "base/json.h"
#include "catalog/entry.h"
#include "catalog/location.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/table_entry.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "ops/check.h"
#include "ops/import_directory.h"
#include "ops/place.h"
#include "pg/errcodes.h"
#include "pg/report.h"
#include "scan/directory.h"
#include "utils/acl.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

/* Ids with more delimiters are refused: each is a place where a namespace could end. */
#define MAX_DELIMITERS 1024

static const char kind_namespace[] = "namespace";
static const char kind_table[] = "table";
static const char conflict[] = "conflict";

/* A namespace of the directory. */
typedef struct Space
{
	const LncDirectoryEntry *entry;
	LanceImportRow row;
	int64 entry_id; /* -1: it could not be made, so nothing in it can be either */
} Space;

/* A table of the directory, between having its name and its location. */
typedef struct Table
{
	LanceImportRow row;
	int64 parent_id;
	int64 entry_id; /* of the name that was just inserted; -1: nothing is left to do */
	LanceProperties properties;
} Table;

typedef struct Import
{
	const LanceImportRequest *request;
	LanceLibrary *lib;
	LanceProfile *profile;
	char *folder; /* canonical */
	LncDirectory directory;
	int64 root_id; /* of the namespace that the directory's root becomes */
	int nspaces;
	Space *spaces; /* by the bytes of their ids, so that a namespace stands before what is in it */
	int ntables;
	Table *tables;
	int64 managed_of; /* the namespace whose managed_versioning was looked up last */
	bool managed;
} Import;

static void
refuse(LanceImportRow *row, const char *detail)
{
	row->action = conflict;
	row->detail = detail;
}

/* ---- ids */

static int
compare_spaces(const void *a, const void *b)
{
	return strcmp(((const Space *)a)->entry->id, ((const Space *)b)->entry->id);
}

/* The namespace whose id is the first length bytes of id; NULL when the directory has none. */
static Space *
find_space(const Import *import, const char *id, size_t length)
{
	int low = 0;
	int high = import->nspaces;

	while (low < high)
	{
		int middle = low + (high - low) / 2;
		const char *other = import->spaces[middle].entry->id;
		int order = strncmp(other, id, length);

		if (order == 0 && other[length] == '\0')
			return &import->spaces[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/*
 * The id in the catalog, and the namespace of the directory that it lies in (NULL: the directory's root). Names may hold
 * the delimiter: the longest namespace that the id begins with decides, and the rest is the name.
 */
static Space *
resolve_id(const Import *import, const LncDirectoryEntry *entry, LanceId *id)
{
	const LanceId *base = &import->request->namespace_id;
	const char *name = entry->id;
	Space *space = NULL;
	int delimiters = 0;

	if (!entry->plain)
	{
		for (const char *p = strchr(entry->id, '$'); p != NULL && delimiters <= MAX_DELIMITERS;
			 p = strchr(p + 1, '$'))
		{
			Space *candidate = find_space(import, entry->id, p - entry->id);

			delimiters++;
			if (candidate != NULL)
			{
				space = candidate;
				name = p + 1;
			}
		}
	}
	if (space != NULL)
		base = &space->row.id;
	id->given = true;
	id->nparts = base->nparts + 1;
	id->parts = palloc(id->nparts * sizeof(char *));
	if (base->nparts > 0)
		memcpy(id->parts, base->parts, base->nparts * sizeof(char *));
	id->parts[id->nparts - 1] = pstrdup(name);
	return space;
}

/* Why the id can't be one of the catalog, or NULL. */
static const char *
bad_id(const LncDirectoryEntry *entry, const LanceId *id, const Space *space)
{
	const char *name = lance_id_name(id);
	int delimiters = 0;

	for (const char *p = name; *p != '\0'; p++)
		delimiters += *p == '$';
	if (space != NULL && space->entry_id < 0)
		return "Its namespace could not be created.";
	if (name[0] == '\0')
		return "Its name is empty.";
	if (strlen(name) > LANCE_MAX_NAME_BYTES || delimiters >= MAX_DELIMITERS)
		return "Its name is too long.";
	if (id->nparts > LANCE_MAX_ID_PARTS)
		return "Its id has too many parts.";
	return NULL;
}

/* The metadata of a row as properties; false when it is no object of texts. */
static bool
read_properties(Import *import, const char *metadata, LanceProperties *out)
{
	LncContext *ctx = &import->lib->ctx;
	LncSlice text = {.data = (const uint8_t *)metadata, .size = metadata != NULL ? strlen(metadata) : 0};
	const LncJson *json;

	memset(out, 0, sizeof(*out));
	out->given = true;
	if (text.size == 0)
		return true;
	if (lnc_json_parse(ctx, import->lib->arena, text, &json) != LNC_OK || lnc_json_kind(json) != LNC_JSON_OBJECT)
		return false;
	out->items = palloc((lnc_json_count(json) + 1) * sizeof(LanceProperty));
	LNC_JSON_EACH(child, json)
	{
		const char *value;

		if (lnc_json_kind(child) == LNC_JSON_NULL)
			continue;
		if (lnc_json_as_string(ctx, child, "metadata", &value) != LNC_OK || lnc_json_key(child)[0] == '\0')
			return false;
		out->items[out->count].key = pstrdup(lnc_json_key(child));
		out->items[out->count++].value = pstrdup(value);
	}
	return true;
}

/* Properties that the catalog takes, or the reason why not. */
static const char *
take_properties(Import *import, const LncDirectoryEntry *entry, LanceProperties *out)
{
	if (!read_properties(import, entry->metadata, out))
		return "Its metadata is no JSON object of texts.";
	return lance_place_refused_properties(out);
}

/* ---- namespaces */

static void
make_space(Import *import, Space *space)
{
	LanceImportRow *row = &space->row;
	Space *above = resolve_id(import, space->entry, &row->id);
	int64 parent_id = above != NULL ? above->entry_id : import->root_id;
	const char *reason = bad_id(space->entry, &row->id, above);
	LanceProperties properties;

	row->kind = kind_namespace;
	space->entry_id = -1;
	if (reason == NULL)
		reason = take_properties(import, space->entry, &properties);
	if (reason != NULL)
	{
		refuse(row, reason);
		return;
	}
	for (;;)
	{
		LanceEntryKind taken_by;
		LanceEntry *entry = lance_entry_find(&row->id, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_SHARE, LANCE_LEVEL_WRITE);

		if (entry != NULL)
		{
			space->entry_id = entry->entry_id;
			row->action = "exists";
			return;
		}
		space->entry_id =
			lance_entry_insert(parent_id, lance_id_name(&row->id), LANCE_ENTRY_NAMESPACE, &properties, &taken_by);
		if (space->entry_id >= 0)
		{
			row->action = "create";
			return;
		}
		if (taken_by == LANCE_ENTRY_TABLE)
		{
			refuse(row, "Its name is taken by a table.");
			return;
		}
		CHECK_FOR_INTERRUPTS();
	}
}

static void
make_spaces(Import *import)
{
	const LncDirectory *directory = &import->directory;

	import->spaces = MemoryContextAllocHuge(CurrentMemoryContext, (directory->nentries + 1) * sizeof(Space));
	for (size_t i = 0; i < directory->nentries; i++)
	{
		const LncDirectoryEntry *entry = &directory->entries[i];

		if (strcmp(entry->type, kind_namespace) == 0)
			import->spaces[import->nspaces++] = (Space){.entry = entry};
	}
	qsort(import->spaces, import->nspaces, sizeof(Space), compare_spaces);
	for (int i = 0; i < import->nspaces; i++)
	{
		CHECK_FOR_INTERRUPTS();
		make_space(import, &import->spaces[i]);
	}
}

/* ---- tables */

/* Insert the table's name, unless something has it already. */
static void
take_name(Table *table)
{
	LanceImportRow *row = &table->row;

	for (;;)
	{
		LanceEntryKind taken_by;
		bool is_table;
		char *location;

		if (lance_table_name_holder(table->parent_id, lance_id_name(&row->id), &is_table, &location))
		{
			if (!is_table)
				refuse(row, "Its name is taken by a namespace.");
			else if (location != NULL && strcmp(location, row->location) == 0)
				row->action = "exists";
			else
				refuse(row, psprintf("Its name is that of a table at \"%s\".", location != NULL ? location : ""));
			return;
		}
		table->entry_id = lance_entry_insert(table->parent_id, lance_id_name(&row->id), LANCE_ENTRY_TABLE,
											 &table->properties, &taken_by);
		if (table->entry_id >= 0)
			return;
		CHECK_FOR_INTERRUPTS();
	}
}

static void
begin_table(Import *import, const LncDirectoryEntry *entry, Table *table)
{
	LanceImportRow *row = &table->row;
	Space *space = resolve_id(import, entry, &row->id);
	const char *reason;

	table->parent_id = space != NULL ? space->entry_id : import->root_id;
	table->entry_id = -1;
	row->kind = pstrdup(entry->type);
	row->action = "skip";
	if (strcmp(entry->type, kind_table) != 0)
		row->detail = "It is neither a namespace nor a table.";
	else if (entry->location == NULL || entry->location[0] == '\0')
		row->detail = "It has no location.";
	else
	{
		row->location = lance_place_below(import->lib, import->folder, entry->location, &reason);
		if (entry->deregistered)
			row->detail = "It is marked as deregistered.";
		else if (row->location == NULL)
			refuse(row, reason);
		else if ((reason = bad_id(entry, &row->id, space)) != NULL ||
				 (reason = take_properties(import, entry, &table->properties)) != NULL)
			refuse(row, reason);
		else
			take_name(table);
	}
}

/* Give the table its location, or its name back. */
static void
finish_table(Import *import, Table *table)
{
	char *taken = lance_place_taken(table->row.location);
	bool managed;

	if (taken != NULL)
	{
		refuse(&table->row, taken);
		lance_entry_remove(table->entry_id);
		return;
	}
	if (table->properties.count > 0 || table->parent_id != import->managed_of)
	{
		managed = lance_place_managed(table->parent_id, &table->properties, import->profile);
		if (table->properties.count == 0)
		{
			import->managed_of = table->parent_id;
			import->managed = managed;
		}
	}
	else
		managed = import->managed;
	lance_table_insert(table->entry_id, table->row.location, import->profile->server_name, managed);
	table->row.action = "register";
}

static void
make_tables(Import *import)
{
	const LncDirectory *directory = &import->directory;

	import->tables = MemoryContextAllocHuge(CurrentMemoryContext, (directory->nentries + 1) * sizeof(Table));
	for (size_t i = 0; i < directory->nentries; i++)
	{
		Table *table = &import->tables[import->ntables];

		if (strcmp(directory->entries[i].type, kind_namespace) == 0)
			continue;
		CHECK_FOR_INTERRUPTS();
		memset(table, 0, sizeof(*table));
		begin_table(import, &directory->entries[i], table);
		import->ntables++;
	}
	lance_location_lock(true);
	for (int i = 0; i < import->ntables; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (import->tables[i].entry_id >= 0)
			finish_table(import, &import->tables[i]);
	}
}

/* ---- the whole */

static void
run(Import *import)
{
	const LanceId *id = &import->request->namespace_id;
	LanceEntry *root = lance_entry_find(id, LANCE_ENTRY_NAMESPACE, LANCE_LOCK_SHARE, LANCE_LEVEL_WRITE);

	if (root == NULL)
		lance_namespace_missing(id);
	import->root_id = root->entry_id;
	import->managed_of = -1;
	make_spaces(import);
	make_tables(import);
}

/* The same in a subtransaction that leaves nothing behind. An error ends it with the transaction around it. */
static void
run_dry(Import *import)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	BeginInternalSubTransaction("lance dry run");
	MemoryContextSwitchTo(context);
	run(import);
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
}

void
lance_import_directory(const LanceImportRequest *request, LanceImportResponse *response)
{
	Import import = {.request = request, .lib = lance_library_create(CurrentMemoryContext)};
	LncStore *root;
	char *location;
	LncStore *manifest;
	const char *reason;

	if (request->server == NULL)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("server is missing")));
	lance_check_namespace_id(&request->namespace_id);
	(void)lance_place_hold_server(request->server);
	import.profile = lance_profile_get(request->server, GetUserId());
	if (pg_foreign_server_aclcheck(import.profile->server_oid, GetUserId(), ACL_USAGE) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_SERVER, request->server);
	import.folder = lance_place_folder(request->path, import.profile);
	root = lance_profile_open(import.lib, import.profile, import.folder);
	location = lance_place_below(import.lib, import.folder, LNC_DIRECTORY_MANIFEST, &reason);
	if (location == NULL)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT),
						errmsg("directory \"%s\" can't hold tables", import.folder), errdetail("%s", reason)));
	manifest = lance_profile_open(import.lib, import.profile, location);
	lance_check(&import.lib->ctx,
				lnc_directory_read(&import.lib->ctx, import.lib->arena, root, manifest, &import.directory));
	if (request->dry_run)
		run_dry(&import);
	else
		run(&import);
	response->count = import.nspaces + import.ntables;
	response->rows = MemoryContextAllocHuge(CurrentMemoryContext, (response->count + 1) * sizeof(LanceImportRow));
	for (int i = 0; i < import.nspaces; i++)
		response->rows[i] = import.spaces[i].row;
	for (int i = 0; i < import.ntables; i++)
		response->rows[import.nspaces + i] = import.tables[i].row;
}
