--
-- Plans that are kept. A server process keeps them for as long as it lives: made when the catalog was empty, they must do when it
-- is large, without statistics. So no statement may read a table from end to end.
--
CREATE ROLE plans_role;
-- Every kind of call.
CREATE FUNCTION t.call_all(n integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	id text := 'plans$p' || n;
BEGIN
	PERFORM lance_create_namespace('plans' || n);
	PERFORM lance_describe_namespace('plans' || n);
	PERFORM lance_namespace_exists('plans' || n);
	PERFORM lance_list_namespaces("limit" => 5);
	PERFORM lance_declare_table(id);
	PERFORM lance_declare_table('plans' || n || '$t');
	PERFORM lance_declare_table('plans' || n || '$u', location => 'plans-given/u' || n || '.lance');
	PERFORM lance_describe_table(id);
	PERFORM lance_describe_table(id, check_declared => true);
	PERFORM lance_table_exists(id);
	PERFORM lance_list_tables('plans', "limit" => 5);
	PERFORM lance_list_tables('plans', "limit" => 5, page_token => 'p');
	PERFORM lance_list_tables('plans', "limit" => 5, include_declared => false);
	PERFORM lance_list_all_tables("limit" => 5);
	PERFORM lance_list_abandoned_tables('plans' || n, '0');
	PERFORM lance_drop_abandoned_tables('plans' || n, '0');
	PERFORM t.create_version('plans$v', n + 2, 'next');
	PERFORM lance_list_table_versions('plans$v');
	PERFORM lance_list_table_versions('plans$v', "limit" => 1);
	PERFORM lance_list_table_versions('plans$v', descending => true, "limit" => 1);
	PERFORM lance_describe_table_version('plans$v');
	PERFORM lance_describe_table_version('plans$v', 1);
	PERFORM lance_grant('plans_role', 'read', id), lance_grant('plans_role', 'owner', id), lance_revoke('plans_role', 'read', id);
	PERFORM lance_rename_table(id, 'r' || n);
	PERFORM lance_deregister_table('plans$r' || n);
	PERFORM lance_drop_namespace('plans' || n, behavior => 'Cascade');
END
$$;
-- Many rows that appear at once.
CREATE FUNCTION t.fill() RETURNS void LANGUAGE sql AS $$
	INSERT INTO lance.catalog_entry (parent_id, name, kind)
		SELECT entry_id, 't' || i, 'table' FROM lance.catalog_entry, generate_series(1, 5000) i WHERE name = 'plans';
	INSERT INTO lance.table_entry SELECT e.entry_id, '/plans/' || e.entry_id, 'lake', true
		FROM lance.catalog_entry e, lance.catalog_entry p WHERE e.parent_id = p.entry_id AND p.name = 'plans' AND e.name LIKE 't%';
	INSERT INTO lance.privilege_entry (entry_id, role_id, privilege, granted_by)
		SELECT e.entry_id, r.oid::regrole, p, 'plans' FROM lance.catalog_entry e, unnest('{owner,read}'::text[]) p, pg_roles r
		WHERE e.name LIKE 't%' AND r.rolname = 'plans_role';
	INSERT INTO lance.version_entry (table_id, branch, version, manifest_key, committed_at)
		SELECT t.table_id, '', i, t.v2(i), now() FROM lance.table_entry t, generate_series(1, 3) i WHERE location LIKE '/plans/%';
	INSERT INTO lance.cleanup_item (kind, location, server_name, role_name, due_at)
		SELECT 'location', '/plans/gone/' || i, 'lake', 'nobody', 'infinity' FROM generate_series(1, 5000) i
$$;
-- What this transaction read of the catalog: tables from end to end, or more rows than a page or two.
CREATE FUNCTION t.too_much(rows bigint) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format('%s: %s scans of the whole table, %s rows by indexes', relname, seq_scan, idx_tup_fetch)
	FROM pg_stat_xact_user_tables WHERE schemaname = 'lance' AND (seq_scan > 0 OR idx_tup_fetch > rows) ORDER BY relname
$$;
-- In a session of its own, more often than PostgreSQL tries plans for given values, on tables that nothing is known of.
\c -
SELECT lance_create_namespace('plans');
SELECT 1 FROM lance_declare_table('plans$v', properties => '{"managed_versioning": "true"}');
SELECT t.create_version('plans$v', 1, 'one');
SELECT t.create_version('plans$v', 2, 'two');
SELECT count(t.call_all(n)) FROM generate_series(1, 8) n;
SELECT failed FROM lance_run_cleanup();
SELECT t.fill();
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT t.call_all(9);
SELECT t.too_much(3000);
ROLLBACK;
-- A cascade over many reads what it takes away, some times over.
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT lance_drop_namespace('plans', behavior => 'Cascade');
SELECT t.too_much(100000);
COMMIT;
DELETE FROM lance.cleanup_item WHERE location LIKE '/plans/%';
SELECT failed FROM lance_run_cleanup();
-- The same on tables that are known to be small.
\c -
VACUUM ANALYZE lance.catalog_entry, lance.table_entry, lance.version_entry, lance.cleanup_item, lance.privilege_entry;
SELECT lance_create_namespace('plans');
SELECT 1 FROM lance_declare_table('plans$v', properties => '{"managed_versioning": "true"}');
SELECT t.create_version('plans$v', 1, 'one');
SELECT t.create_version('plans$v', 2, 'two');
SELECT count(t.call_all(n)) FROM generate_series(1, 8) n;
SELECT failed FROM lance_run_cleanup();
SELECT t.fill();
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT t.call_all(9);
SELECT t.too_much(3000);
ROLLBACK;
-- A cascade over many reads what it takes away, some times over.
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT lance_drop_namespace('plans', behavior => 'Cascade');
SELECT t.too_much(100000);
COMMIT;
DELETE FROM lance.cleanup_item WHERE location LIKE '/plans/%';
SELECT failed FROM lance_run_cleanup();
DROP FUNCTION t.call_all(integer), t.fill(), t.too_much(bigint);
DROP OWNED BY plans_role;
DROP ROLE plans_role;
