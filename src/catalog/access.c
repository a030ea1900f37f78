/*
 * access.c
 *	  Levels of roles on entries, from the rows of lance.privilege_entry.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/access.h"
#include "catalog/entry.h"
#include "catalog/lookup.h"
#include "catalog/pg_auth_members.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_collation.h"
#include "catalog/session.h"
#include "miscadmin.h"
#include "pg/errcodes.h"
#include "pg/installed.h"
#include "utils/acl.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* Is the role above all rows? */
static bool
is_administrator(Oid role)
{
	const LanceInstalled *installed;

	if (superuser_arg(role))
		return true;
	installed = lance_installed();
	return installed != NULL && has_privs_of_role(role, installed->owner);
}

static LanceLevel
level_of_row(const LanceLookup *lookup)
{
	if (lance_lookup_text_is(lookup, PRIVILEGE_NAME, "read"))
		return LANCE_LEVEL_READ;
	if (lance_lookup_text_is(lookup, PRIVILEGE_NAME, "write"))
		return LANCE_LEVEL_WRITE;
	return LANCE_LEVEL_ADMIN; /* admin, owner */
}

static Oid
role_of_row(const LanceLookup *lookup)
{
	bool isnull;

	return DatumGetObjectId(lance_lookup_column(lookup, PRIVILEGE_ROLE, &isnull));
}

void
lance_access_begin(LanceAccess *access, Snapshot snapshot, Oid role, LanceLevel enough)
{
	access->role = role;
	access->snapshot = snapshot;
	access->enough = enough;
	access->level = is_administrator(role) ? LANCE_LEVEL_ADMIN : LANCE_LEVEL_NONE;
}

void
lance_access_pass(LanceAccess *access, int64 entry_id)
{
	LanceLookup lookup;
	ScanKeyData key;

	if (access->level >= access->enough)
		return;
	ScanKeyInit(&key, PRIVILEGE_ENTRY_ID, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(entry_id));
	for (bool found = lance_lookup_begin(&lookup, LANCE_PRIVILEGE_BY_ENTRY, access->snapshot, &key, 1); found;
		 found = lance_lookup_next(&lookup))
	{
		LanceLevel level = level_of_row(&lookup);

		if (level > access->level && has_privs_of_role(access->role, role_of_row(&lookup)))
			access->level = level;
	}
	lance_lookup_end(&lookup);
}

/* The namespace that holds an entry; -1 for the root and for one that is gone. */
static int64
parent_of(Snapshot snapshot, int64 entry_id)
{
	LanceLookup lookup;
	ScanKeyData key;
	int64 parent_id = -1;

	ScanKeyInit(&key, ENTRY_ID, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(entry_id));
	if (lance_lookup_begin(&lookup, LANCE_ENTRY_BY_ID, snapshot, &key, 1) &&
		!lance_lookup_null(&lookup, ENTRY_PARENT_ID))
		parent_id = lance_lookup_int64(&lookup, ENTRY_PARENT_ID);
	lance_lookup_end(&lookup);
	return parent_id;
}

LanceLevel
lance_access_of(int64 entry_id, Oid role)
{
	Snapshot snapshot = lance_lookup_snapshot();
	LanceAccess access;

	lance_access_begin(&access, snapshot, role, LANCE_LEVEL_ADMIN);
	for (; entry_id >= 0 && access.level < access.enough; entry_id = parent_of(snapshot, entry_id))
		lance_access_pass(&access, entry_id);
	lance_lookup_done(snapshot);
	return access.level;
}

/* ---- the way to what was granted */

/* The roles whose privileges a role has. */
static List *
roles_of(Oid role)
{
	List *roles = list_make2_oid(role, ROLE_PG_DATABASE_OWNER);
	List *usable = NIL;
	ListCell *cell;

	/* The list grows while it is walked. */
	for (int i = 0; i < list_length(roles); i++)
	{
		CatCList *memberships = SearchSysCacheList1(AUTHMEMMEMROLE, ObjectIdGetDatum(list_nth_oid(roles, i)));

		for (int j = 0; j < memberships->n_members; j++)
			roles = list_append_unique_oid(
				roles, ((Form_pg_auth_members)GETSTRUCT(&memberships->members[j]->tuple))->roleid);
		ReleaseSysCacheList(memberships);
	}

	/* A role that does not inherit has the memberships, but not their privileges. */
	foreach (cell, roles)
	{
		if (has_privs_of_role(role, lfirst_oid(cell)))
			usable = lappend_oid(usable, lfirst_oid(cell));
	}
	list_free(roles);
	return usable;
}

/* Add the namespaces above an entry that are not there yet. */
static void
add_above(struct HTAB *spaces, Snapshot snapshot, int64 entry_id)
{
	bool found = false;

	while (!found && (entry_id = parent_of(snapshot, entry_id)) >= 0)
		(void)hash_search(spaces, &entry_id, HASH_ENTER, &found);
}

/*
 * The namespaces above all that was granted to the role; what it merely owns opens no way, or the set would grow with
 * the tables that it makes.
 */
static struct HTAB *
collect_spaces(Snapshot snapshot, Oid role)
{
	static const char *const grantable[] = {"admin", "read", "write"};
	HASHCTL info = {.keysize = sizeof(int64), .entrysize = sizeof(int64), .hcxt = CurrentMemoryContext};
	struct HTAB *spaces = hash_create("namespaces in sight", 64, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	Datum granted = lance_texts_datum(lengthof(grantable), (char *const *)grantable);
	List *roles = roles_of(role);
	ListCell *cell;

	foreach (cell, roles)
	{
		LanceLookup lookup;
		ScanKeyData keys[2];

		ScanKeyInit(&keys[0], PRIVILEGE_ROLE, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(lfirst_oid(cell)));
		ScanKeyEntryInitialize(&keys[1], SK_SEARCHARRAY, PRIVILEGE_NAME, BTEqualStrategyNumber, InvalidOid,
							   C_COLLATION_OID, F_TEXTEQ, granted);
		lance_lookup_ordered(&lookup, LANCE_PRIVILEGE_BY_ROLE, snapshot, keys, 2);
		while (lance_lookup_next(&lookup))
		{
			CHECK_FOR_INTERRUPTS();
			add_above(spaces, snapshot, lance_lookup_int64(&lookup, PRIVILEGE_ENTRY_ID));
		}
		lance_lookup_end(&lookup);
	}
	return spaces;
}

/* ---- the end of the way */

static const char *
name_of_level(LanceLevel level)
{
	return level == LANCE_LEVEL_READ ? "read" : level == LANCE_LEVEL_WRITE ? "write" : "admin";
}

bool
lance_access_end(LanceAccess *access, int64 entry_id, LanceLevel needed, const char *what, const LanceId *id)
{
	if (access->level == LANCE_LEVEL_NONE && strcmp(what, "namespace") == 0)
	{
		bool seen = entry_id == LANCE_ROOT_ENTRY; /* which everybody knows to be there */

		if (!seen)
		{
			struct HTAB *spaces = collect_spaces(access->snapshot, access->role);

			(void)hash_search(spaces, &entry_id, HASH_FIND, &seen);
			hash_destroy(spaces);
		}
		if (seen)
			access->level = LANCE_LEVEL_SEEN;
	}
	if (access->level >= needed)
		return true;
	if (access->level > LANCE_LEVEL_NONE)
		ereport(ERROR,
				(lance_errcode(LANCE_PERMISSION_DENIED),
				 errmsg("permission denied for %s \"%s\"", what, id->nparts > 0 ? lance_id_text(id) : "$"),
				 errdetail("This needs the privilege \"%s\" on it or on a namespace above.", name_of_level(needed)),
				 errhint("Who has \"admin\" there can give it with lance_grant().")));
	return false;
}

/* ---- views */

bool
lance_access_is_open(int64 entry_id)
{
	LanceAccess access;

	lance_access_begin(&access, GetActiveSnapshot(), GetUserId(), LANCE_LEVEL_READ);
	lance_access_pass(&access, entry_id);
	return access.level >= LANCE_LEVEL_READ;
}

int
lance_access_in_sight(int64 **namespaces)
{
	struct HTAB *spaces = collect_spaces(GetActiveSnapshot(), GetUserId());
	HASH_SEQ_STATUS all;
	int64 *space;
	int n = 0;

	*namespaces = palloc((hash_get_num_entries(spaces) + 1) * sizeof(int64));
	hash_seq_init(&all, spaces);
	while ((space = hash_seq_search(&all)) != NULL)
		(*namespaces)[n++] = *space;
	hash_destroy(spaces);
	return n;
}

/* ---- lists */

void
lance_visible_begin(LanceVisible *visible, Snapshot snapshot, Oid role, LanceLevel level)
{
	visible->all = level >= LANCE_LEVEL_READ;
	visible->spaces = NULL;
	if (visible->all)
		return;
	lance_access_begin(&visible->access, snapshot, role, LANCE_LEVEL_READ);
}

static bool
own_rows(LanceVisible *visible, int64 entry_id)
{
	LanceAccess access = visible->access;

	lance_access_pass(&access, entry_id);
	return access.level >= LANCE_LEVEL_READ;
}

bool
lance_visible_table(LanceVisible *visible, int64 table_id)
{
	return visible->all || own_rows(visible, table_id);
}

LanceLevel
lance_visible_namespace(LanceVisible *visible, int64 entry_id)
{
	bool seen;

	if (visible->all || own_rows(visible, entry_id))
		return LANCE_LEVEL_READ;
	if (visible->spaces == NULL)
		visible->spaces = collect_spaces(visible->access.snapshot, visible->access.role);
	(void)hash_search(visible->spaces, &entry_id, HASH_FIND, &seen);
	return seen ? LANCE_LEVEL_SEEN : LANCE_LEVEL_NONE;
}
