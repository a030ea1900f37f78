--
-- Storage profiles in use are neither dropped nor renamed.
--
CREATE SERVER pond FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 'file:///nowhere/pond');
ALTER SERVER pond RENAME TO pool;
ALTER SERVER pool RENAME TO pond;
SELECT lance_create_namespace('wet', properties => '{"server": "pond"}');
DROP SERVER pond;
ALTER SERVER pond RENAME TO pool;
SELECT lance_drop_namespace('wet');
SELECT lance_create_namespace('wet', properties => '{"server": "pond"}');
SELECT 1 FROM lance_declare_table('wet$fish');
SELECT 1 FROM lance_declare_table('wet$frog');
DROP SERVER pond CASCADE;
CREATE ROLE servers_owner;
ALTER SERVER pond OWNER TO servers_owner;
DROP OWNED BY servers_owner;
ALTER SERVER pond RENAME TO pool;
-- What else is done to it is nobody's concern.
ALTER SERVER pond OPTIONS (ADD region 'eu-central-1');
SELECT lance_deregister_table('wet$fish') IS NOT NULL, lance_deregister_table('wet$frog') IS NOT NULL, lance_drop_namespace('wet');
ALTER SERVER pond RENAME TO pool;
DROP OWNED BY servers_owner;
SELECT count(*) FROM pg_foreign_server WHERE srvname IN ('pond', 'pool');
-- The only thing that drops one in use is the end of the catalog itself.
BEGIN;
SELECT lance_create_namespace('wet', properties => '{"server": "lake"}');
SET client_min_messages = warning;
DROP EXTENSION lance_catalog CASCADE;
SELECT count(*) FROM pg_foreign_server WHERE srvname = 'lake';
ROLLBACK;
DROP ROLE servers_owner;
