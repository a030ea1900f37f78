/*
 * grant.c
 *	  lance_grant and lance_revoke.
 */
#include "postgres.h"

#include "catalog/entry.h"
#include "catalog/privilege_entry.h"
#include "ops/check.h"
#include "ops/grant.h"
#include "pg/errcodes.h"

enum
{
	PRIVILEGE_READ,
	PRIVILEGE_WRITE,
	PRIVILEGE_ADMIN,
	PRIVILEGE_OWNER
};

static const char *const privileges[] = {
	[PRIVILEGE_READ] = "read",
	[PRIVILEGE_WRITE] = "write",
	[PRIVILEGE_ADMIN] = "admin",
	[PRIVILEGE_OWNER] = "owner",
	NULL,
};

/* The functions that change nothing. */
static const char *const reading[] = {
	"lance_list_namespaces",     "lance_describe_namespace",    "lance_namespace_exists",
	"lance_list_tables",         "lance_list_all_tables",       "lance_describe_table",
	"lance_table_exists",        "lance_list_table_versions",   "lance_describe_table_version",
	"lance_dataset_versions",    "lance_dataset_fragments",     "lance_dataset_columns",
	"lance_dataset_pages",       "lance_list_abandoned_tables", "lance_rest_activity",
	"lance_rest_statistics",     "lance_get_table_tag_version", "lance_list_table_tags",
	"lance_list_table_branches", "lance_get_table_stats",       "lance_describe_transaction",
};

/* The others. Who may make something owns it, so that with "write" comes all that may be done with it. */
static const char *const changing[] = {
	"lance_create_namespace",
	"lance_drop_namespace",
	"lance_declare_table",
	"lance_register_table",
	"lance_rename_table",
	"lance_deregister_table",
	"lance_drop_table",
	"lance_create_table_version",
	"lance_delete_table_versions",
	"lance_create_table_versions",
	"lance_commit_tables",
	"lance_create_table_tag",
	"lance_update_table_tag",
	"lance_delete_table_tag",
	"lance_create_table_branch",
	"lance_delete_table_branch",
	"lance_restore_table",
	"lance_update_table_schema_metadata",
	"lance_update_field_metadata",
	"lance_alter_table_drop_columns",
	"lance_alter_table_alter_columns",
	"lance_alter_transaction",
	"lance_import_directory",
	"lance_drop_abandoned_tables",
	"lance_grant",
	"lance_revoke",
};

static int
check_privilege(const char *privilege)
{
	if (privilege == NULL || privilege[0] == '\0')
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("privilege is missing")));
	return lance_check_mode(privilege, "privilege", privileges);
}

/* The namespace or table of that id, on which the caller has admin; locked. */
static int64
find(const LanceId *id, LanceRowLock lock)
{
	LanceEntry *entry;

	lance_check_namespace_id(id);
	entry = lance_entry_find(id, LANCE_ENTRY_NAMESPACE, lock, LANCE_LEVEL_ADMIN);
	if (entry == NULL)
		entry = lance_entry_find(id, LANCE_ENTRY_TABLE, lock, LANCE_LEVEL_ADMIN);
	if (entry == NULL)
		ereport(ERROR, (lance_errcode(LANCE_TABLE_NOT_FOUND),
						errmsg("namespace or table \"%s\" does not exist", lance_id_text(id))));
	return entry->entry_id;
}

void
lance_op_grant(Oid role, const char *privilege, const LanceId *id)
{
	int which = check_privilege(privilege);
	int64 entry_id = find(id, which == PRIVILEGE_OWNER ? LANCE_LOCK_UPDATE : LANCE_LOCK_SHARE);

	lance_privilege_begin(role);
	if (which == PRIVILEGE_OWNER)
		lance_privilege_remove_owner(entry_id);
	lance_privilege_insert(entry_id, role, privileges[which]);
	lance_privilege_open_functions(role, lengthof(reading), reading);
	if (which != PRIVILEGE_READ)
		lance_privilege_open_functions(role, lengthof(changing), changing);
}

bool
lance_op_revoke(Oid role, const char *privilege, const LanceId *id)
{
	int which = check_privilege(privilege);
	int64 entry_id = find(id, LANCE_LOCK_SHARE);

	lance_privilege_begin(role);
	return lance_privilege_remove(entry_id, role, privileges[which]);
}

bool
lance_op_is_open(int64 entry_id)
{
	return lance_access_is_open(entry_id);
}

int
lance_op_namespaces_in_sight(int64 **namespaces)
{
	return lance_access_in_sight(namespaces);
}
