--
-- Who may do what, and that nothing of the caller's runs with the extension's rights.
--
-- Every object has a comment, every column too; open to PUBLIC are the functions that make foreign tables, which need the caller's own
-- rights, and the views of the catalog with what they ask of the caller's privileges.
SELECT pg_describe_object(d.classid, d.objid, 0) FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'lance_catalog'
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND obj_description(d.objid, d.classid::regclass::name) IS NULL;
SELECT c.oid::regclass, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'lance'::regnamespace AND c.relkind IN ('r', 'v') AND a.attnum > 0 AND NOT a.attisdropped AND col_description(c.oid, a.attnum) IS NULL;
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid AND e.extname = 'lance_catalog'
WHERE p.proname NOT LIKE 'lance\_fdw\_%' AND p.proname NOT IN ('lance_attach_table', 'lance_attach_dataset', 'lance_refresh_table',
		'lance_l2', 'lance_euclidean', 'lance_cosine', 'lance_dot', 'lance_negative_inner_product', 'lance_l1', 'lance_hamming')
	AND (p.proacl IS NULL OR EXISTS (SELECT 1 FROM aclexplode(p.proacl) a WHERE a.grantee = 0)) ORDER BY 1;
SELECT c.relname, c.relkind FROM pg_class c WHERE c.relnamespace = 'lance'::regnamespace
	AND EXISTS (SELECT 1 FROM aclexplode(c.relacl) a WHERE a.grantee = 0) ORDER BY 1;
CREATE ROLE nobody;
GRANT USAGE ON SCHEMA t TO nobody;
GRANT SELECT ON t.setting TO nobody;
SELECT 1 FROM lance_declare_table('mine');
SET ROLE nobody;
SELECT t.try('SELECT * FROM lance.tables');
SELECT t.try('SELECT * FROM lance.catalog_entry');
SELECT t.try($$SELECT lance_create_namespace('x')$$);
RESET ROLE;
GRANT USAGE ON SCHEMA lance TO nobody;
SELECT lance_grant('nobody', 'read', 'mine');
SET ROLE nobody;
SELECT namespace, table_name FROM lance.tables;
SELECT t.try('SELECT * FROM lance.table_entry');
SELECT t.try('SELECT * FROM lance.cleanup_queue');
SELECT t.try('DELETE FROM lance.tables');
RESET ROLE;
-- EXECUTE says which operations, privileges say on what.
GRANT EXECUTE ON FUNCTION lance_create_namespace(text, text, jsonb), lance_declare_table(text, text, boolean, jsonb), lance_list_tables(text, text, integer, boolean),
	lance_drop_namespace(text, text, text), lance_drop_table(text) TO nobody;
SET ROLE nobody;
SELECT t.try($$SELECT lance_create_namespace('theirs')$$);
RESET ROLE;
SELECT lance_grant('nobody', 'write');
SET ROLE nobody;
SELECT lance_create_namespace('theirs');
SELECT count(*) FROM lance_declare_table('theirs$t');
SELECT * FROM lance_list_tables('theirs');
-- But a profile that he names must be open to him.
SELECT t.try($$SELECT lance_create_namespace('x', properties => '{"server": "other"}')$$);
RESET ROLE;
-- An operator of the caller's that stands before the system's is not used with the extension's rights.
CREATE SCHEMA evil AUTHORIZATION nobody;
SET ROLE nobody;
CREATE FUNCTION evil.eq(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'as %', current_user; END $$;
CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.eq);
CREATE FUNCTION evil.gt(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'as %', current_user; END $$;
CREATE OPERATOR evil.> (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.gt);
CREATE FUNCTION evil.now() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'as %', current_user; END $$;
SET search_path = evil, pg_catalog, public;
SELECT lance_create_namespace('theirs$two');
SELECT count(*) FROM lance_declare_table('theirs$two$t');
SELECT * FROM lance_list_tables('theirs$two');
SELECT current_user, current_setting('search_path');
SELECT count(*) FROM lance_drop_table('theirs$two$t');
SELECT lance_drop_namespace('theirs', behavior => 'Cascade');
-- After an error in the middle of an operation, user and search_path are the caller's.
DO $$ BEGIN PERFORM lance_create_namespace('no$x'); EXCEPTION WHEN OTHERS THEN RAISE NOTICE '% as %', SQLERRM, current_user; END $$;
SELECT current_user, current_setting('search_path');
RESET search_path;
-- USAGE on the wrapper lets nobody choose the hosts that the server talks to.
RESET ROLE;
GRANT USAGE ON FOREIGN DATA WRAPPER lance_fdw TO nobody;
SET ROLE nobody;
CREATE SERVER theirs FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://b/x', endpoint 'http://169.254.169.254', allow_http 'true');
CREATE USER MAPPING FOR nobody SERVER theirs OPTIONS (access_key_id 'a', secret_access_key 'b');
SELECT lance_create_namespace('far', properties => '{"server": "theirs"}');
SELECT t.try($$SELECT * FROM lance_declare_table('far$t')$$);
SELECT lance_drop_namespace('far');
RESET ROLE;
SELECT t.try($$SELECT lance_attach_dataset('s3://b/x/t', 'theirs', 't', 'far')$$);
REVOKE USAGE ON FOREIGN DATA WRAPPER lance_fdw FROM nobody CASCADE;
DROP SCHEMA evil CASCADE;
SELECT count(*) FROM lance_drop_table('mine');
SELECT failed FROM lance_run_cleanup();
DROP OWNED BY nobody;
DROP ROLE nobody;
-- Someone else's schema of that name is not adopted.
CREATE DATABASE squatted;
\c squatted
CREATE SCHEMA lance;
CREATE EXTENSION lance_catalog;
DROP SCHEMA lance;
CREATE EXTENSION lance_catalog;
DROP EXTENSION lance_catalog;
\c contrib_regression
DROP DATABASE squatted;
-- Names are UTF-8.
CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0;
\c latin
CREATE EXTENSION lance_catalog;
SELECT lance_create_namespace('x');
SELECT * FROM lance_list_all_tables();
\c contrib_regression
DROP DATABASE latin;
-- SQL objects of another version than the library's are an error, not a crash.
BEGIN;
UPDATE pg_extension SET extversion = '0.0.1' WHERE extname = 'lance_catalog';
SELECT lance_namespace_exists('nothing');
ROLLBACK;
