/*
 * privilege_entry.c
 *	  Changes of lance.privilege_entry, and EXECUTE on the functions that go with them.
 */
#include "postgres.h"

#include "catalog/lookup.h"
#include "catalog/pg_authid.h"
#include "catalog/privilege_entry.h"
#include "catalog/session.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "pg/installed.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

void
lance_privilege_begin(Oid role)
{
	/* From role to role, not from row to row. */
	static LanceStatement forget = {
		.sql = "WITH RECURSIVE known (role_id) AS ("
			   "(SELECT p.role_id FROM lance.privilege_entry p ORDER BY p.role_id LIMIT 1) UNION ALL"
			   " SELECT (SELECT p.role_id FROM lance.privilege_entry p WHERE p.role_id > k.role_id"
			   " ORDER BY p.role_id LIMIT 1) FROM known k WHERE k.role_id IS NOT NULL) "
			   "DELETE FROM lance.privilege_entry WHERE role_id = ANY (ARRAY("
			   "SELECT k.role_id FROM known k WHERE k.role_id IS NOT NULL"
			   " AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = k.role_id)))",
		.nargs = 0};
	LanceSession session;

	LockSharedObject(AuthIdRelationId, role, 0, AccessShareLock);
	if (!SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(role)))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("role with OID %u does not exist", role)));
	lance_lookup_lock(LANCE_PRIVILEGE_BY_ENTRY, ShareUpdateExclusiveLock);
	lance_session_begin(&session);
	lance_session_run(&forget, NULL, NULL, 0);
	lance_session_end(&session);
}

void
lance_privilege_insert(int64 entry_id, Oid role, const char *privilege)
{
	static LanceStatement statement = {
		.sql = "INSERT INTO lance.privilege_entry (entry_id, role_id, privilege, granted_by)"
			   " VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
		.nargs = 4,
		.types = {INT8OID, REGROLEOID, TEXTOID, TEXTOID}};
	Datum values[] = {Int64GetDatum(entry_id), ObjectIdGetDatum(role), CStringGetTextDatum(privilege),
					  CStringGetTextDatum(GetUserNameFromId(GetUserId(), false))};
	LanceSession session;

	lance_session_begin(&session);
	lance_session_run(&statement, values, NULL, 0);
	lance_session_end(&session);
}

bool
lance_privilege_remove(int64 entry_id, Oid role, const char *privilege)
{
	/* By the entry: of the index on roles the planner may think as well, which has all that the role was given. */
	static LanceStatement statement = {
		.sql = "DELETE FROM lance.privilege_entry WHERE entry_id = $1 AND role_id::oid::int8 = $2::oid::int8"
			   " AND privilege = $3",
		.nargs = 3,
		.types = {INT8OID, REGROLEOID, TEXTOID}};
	Datum values[] = {Int64GetDatum(entry_id), ObjectIdGetDatum(role), CStringGetTextDatum(privilege)};
	LanceSession session;
	bool found;

	lance_session_begin(&session);
	found = lance_session_run(&statement, values, NULL, 0) > 0;
	lance_session_end(&session);
	return found;
}

void
lance_privilege_remove_owner(int64 entry_id)
{
	static LanceStatement statement = {
		.sql = "DELETE FROM lance.privilege_entry WHERE entry_id = $1 AND privilege = 'owner'",
		.nargs = 1,
		.types = {INT8OID}};
	LanceSession session;

	lance_session_begin(&session);
	lance_session_run(&statement, (Datum[]){Int64GetDatum(entry_id)}, NULL, 0);
	lance_session_end(&session);
}

/* ---- functions */

/* Run a command within the session. */
static void
run_command(const char *command)
{
	int rc = SPI_execute(command, false, 0);

	if (rc != SPI_OK_UTILITY)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
						errmsg("could not grant rights on functions: %s", SPI_result_code_string(rc))));
}

void
lance_privilege_open_functions(Oid role, int n, const char *const *functions)
{
	/* The names come out qualified and quoted: nothing of the user's is on the path. */
	static LanceStatement closed = {
		.sql = "SELECT p.oid::regprocedure::text FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid"
			   " WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = $1"
			   " AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e' AND p.proname::text = ANY ($2)"
			   " AND NOT EXISTS (SELECT FROM aclexplode(p.proacl) a"
			   " WHERE a.grantee = $3 AND a.privilege_type = 'EXECUTE') ORDER BY p.oid",
		.nargs = 3,
		.types = {OIDOID, TEXTARRAYOID, OIDOID}};
	static LanceStatement schema = {
		.sql = "SELECT 1 FROM pg_namespace s WHERE s.nspname = 'lance' AND NOT EXISTS"
			   " (SELECT FROM aclexplode(s.nspacl) a WHERE a.grantee = $1 AND a.privilege_type = 'USAGE')",
		.nargs = 1,
		.types = {OIDOID}};
	const LanceInstalled *installed = lance_installed();
	Datum values[] = {ObjectIdGetDatum(installed->extension), (Datum)0, ObjectIdGetDatum(role)};
	LanceSession session;
	StringInfoData command;
	const char *grantee;
	uint64 count;

	lance_session_begin(&session);
	grantee = quote_identifier(GetUserNameFromId(role, false));
	values[1] = lance_texts_datum(n, (char *const *)functions);
	count = lance_session_run(&closed, values, NULL, 0);
	if (count > 0)
	{
		initStringInfo(&command);
		for (uint64 i = 0; i < count; i++)
			appendStringInfo(&command, "%s%s", i == 0 ? "GRANT EXECUTE ON FUNCTION " : ", ",
							 SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1));
		appendStringInfo(&command, " TO %s", grantee);
		run_command(command.data);
	}
	if (lance_session_run(&schema, (Datum[]){ObjectIdGetDatum(role)}, NULL, 0) > 0)
		run_command(psprintf("GRANT USAGE ON SCHEMA lance TO %s", grantee));
	lance_session_end(&session);
}
