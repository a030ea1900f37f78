/*
 * create_table_version.c
 *	  CreateTableVersion: a client has staged a manifest and asks to have it made the next version.
 */
#include "postgres.h"

#include "base/bytes.h"
#include "catalog/cleanup.h"
#include "catalog/commit.h"
#include "ops/check.h"
#include "ops/history_of.h"
#include "ops/version.h"
#include "pg/errcodes.h"

static const char *const schemes[] = {"V2", "V1", NULL};

static void
refuse_path(const char *path, const char *detail)
{
	ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("invalid manifest_path \"%s\"", path),
					errdetail("%s", detail)));
}

/*
 * Where the store's root is found at the start of a path, if it is: as it is, or percent-encoded, as object-store
 * libraries spell letters that are special to them. Returns what follows the root's slash, else NULL.
 */
static const char *
after_root(const char *path, const char *root)
{
	while (*root != '\0')
	{
		if (*path == *root)
			path++;
		else if (*path == '%' && lnc_hex_value(path[1]) >= 0 && lnc_hex_value(path[2]) >= 0 &&
				 (unsigned char)*root == lnc_hex_value(path[1]) * 16 + lnc_hex_value(path[2]))
			path += 3;
		else
			return NULL;
		root++;
	}
	return *path == '/' ? path + 1 : NULL;
}

/*
 * The staged file's key, relative to the table's location. It must lie directly in the branch's own folder of
 * manifests, under a name that is not itself part of the history: a path from an earlier life of the table's name, or
 * from another table, would have that one's file taken away.
 */
static char *
staged_key(const LanceHistory *history, const char *path)
{
	const char *root = lnc_store_object_root(history->store);
	const char *key = path[0] == '/' ? path + 1 : path;
	size_t folder_length = strlen(history->folder);
	const char *name;
	size_t length;
	uint64_t version;
	LncNaming naming;

	if (root[0] != '\0')
		key = after_root(key, root);
	if (key == NULL || strncmp(key, history->folder, folder_length) != 0 || key[folder_length] != '/')
		refuse_path(path, psprintf("The staged manifest must lie in \"%s/%s\".", root, history->folder));
	name = key + folder_length + 1;
	length = strlen(name);
	if (length == 0 || length > 255 || strchr(name, '/') != NULL || name[0] == '.')
		refuse_path(path, "The path must end in the name of a file in that folder.");
	if (lnc_versions_parse_name(name, &version, &naming) ||
		(length >= 9 && strcmp(name + length - 9, ".manifest") == 0) ||
		(length >= 5 && strcmp(name + length - 5, ".json") == 0))
		refuse_path(path, "That is the name of a committed file.");
	return pstrdup(key);
}

void
lance_op_create_table_version(const LanceCreateTableVersionRequest *request,
							  LanceCreateTableVersionResponse *response)
{
	LanceCommitRequest commit = {0};
	LanceHistory history;
	LanceHistoryItem item;

	memset(response, 0, sizeof(*response));
	lance_check_table_id(&request->id);
	if (!request->version.given)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("version is missing")));
	lance_check_version(&request->version);
	if (request->manifest_path == NULL || request->manifest_path[0] == '\0')
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("manifest_path is missing")));
	lance_check_properties(&request->metadata, "metadata");
	commit.version = request->version.value;
	commit.naming =
		lance_check_mode(request->naming_scheme, "naming_scheme", schemes) == 1 ? LNC_NAMING_V1 : LNC_NAMING_V2;
	commit.metadata = request->metadata;
	lance_history_of(&request->id, request->branch, LANCE_LOCK_UPDATE, LANCE_LEVEL_WRITE, &history);
	commit.staged_key = staged_key(&history, request->manifest_path);
	if (history.branch[0] != '\0')
		lance_cleanup_finish_branch(history.table, history.branch);
	lance_commit_version(&history, &commit, &item);
	lance_version_info(&history, &item, &response->version);
}
