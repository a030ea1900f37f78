--
-- What the extension opens to everybody, and what nobody's search_path reaches. docs/security.md has the list (test/check/public).
--
-- Open to PUBLIC, of every kind of object.
SELECT d.kind || ' ' || d.name AS open_to_public, string_agg(DISTINCT a.privilege_type, ', ' ORDER BY a.privilege_type) AS for
FROM (SELECT 'function' AS kind, p.proname AS name, p.oid, 'pg_proc'::regclass AS class, coalesce(p.proacl, acldefault('f', p.proowner)) AS acl FROM pg_proc p
	UNION ALL SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'S' THEN 'sequence' ELSE 'table' END, c.relnamespace::regnamespace || '.' || c.relname, c.oid, 'pg_class'::regclass,
		coalesce(c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", c.relowner)) FROM pg_class c
	UNION ALL SELECT 'schema', n.nspname, n.oid, 'pg_namespace'::regclass, coalesce(n.nspacl, acldefault('n', n.nspowner)) FROM pg_namespace n
	UNION ALL SELECT 'foreign data wrapper', f.fdwname, f.oid, 'pg_foreign_data_wrapper'::regclass, coalesce(f.fdwacl, acldefault('F', f.fdwowner)) FROM pg_foreign_data_wrapper f
	UNION ALL SELECT 'type', t.typname, t.oid, 'pg_type'::regclass, coalesce(t.typacl, acldefault('T', t.typowner)) FROM pg_type t WHERE t.typrelid = 0 AND t.typelem = 0) d
	JOIN pg_depend m ON m.classid = d.class AND m.objid = d.oid AND m.deptype = 'e'
	JOIN pg_extension e ON m.refclassid = 'pg_extension'::regclass AND e.oid = m.refobjid AND e.extname = 'lance_catalog',
	aclexplode(d.acl) a
WHERE a.grantee = 0 GROUP BY d.kind, d.name ORDER BY (d.kind || ' ' || d.name) COLLATE "C";
-- Functions that are not in C, without a search_path of their own.
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_depend m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid AND m.deptype = 'e'
	JOIN pg_extension e ON m.refclassid = 'pg_extension'::regclass AND e.oid = m.refobjid AND e.extname = 'lance_catalog' JOIN pg_language l ON l.oid = p.prolang
WHERE l.lanname <> 'c' AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false) ORDER BY 1;
-- Functions that run with the rights of their owner.
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_depend m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid AND m.deptype = 'e'
	JOIN pg_extension e ON m.refclassid = 'pg_extension'::regclass AND e.oid = m.refobjid AND e.extname = 'lance_catalog' WHERE p.prosecdef ORDER BY 1;
-- What somebody has made under the extension's names is not adopted.
CREATE ROLE squatter;
CREATE DATABASE squatted;
\c squatted
GRANT CREATE ON SCHEMA public TO squatter;
SET ROLE squatter;
CREATE FUNCTION lance_grant(regrole, text, text) RETURNS void LANGUAGE sql AS '';
RESET ROLE;
CREATE EXTENSION lance_catalog;
SELECT count(*) FROM pg_extension WHERE extname = 'lance_catalog';
SELECT count(*) FROM pg_namespace WHERE nspname = 'lance';
DROP FUNCTION lance_grant(regrole, text, text);
SET ROLE squatter;
CREATE TYPE lance_fdw_handler AS (a integer);
CREATE FUNCTION lance_fdw_handler() RETURNS integer LANGUAGE sql AS 'SELECT 1';
RESET ROLE;
CREATE EXTENSION lance_catalog;
DROP FUNCTION lance_fdw_handler();
-- An operator that stands in the way of the script is not called by it.
SET ROLE squatter;
CREATE FUNCTION trap(name, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'called as %', current_user; END $$;
CREATE FUNCTION trap(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'called as %', current_user; END $$;
CREATE OPERATOR = (LEFTARG = name, RIGHTARG = text, FUNCTION = trap);
CREATE OPERATOR = (LEFTARG = text, RIGHTARG = text, FUNCTION = trap);
CREATE OPERATOR || (LEFTARG = text, RIGHTARG = text, FUNCTION = trap);
CREATE FUNCTION format(text, VARIADIC text[]) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'called as %', current_user; END $$;
RESET ROLE;
CREATE EXTENSION lance_catalog;
SELECT lance_create_namespace('a'); SELECT lance_grant('squatter', 'read', 'a'); SELECT count(*) FROM lance.namespaces;
SET ROLE squatter;
SELECT lance_list_namespaces('$');
RESET ROLE;
\c contrib_regression
DROP DATABASE squatted;
DROP ROLE squatter;
