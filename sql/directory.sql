--
-- Bringing a directory of tables into the catalog.
--
\getenv fixtures LANCE_FIXTURES
\getenv abs_srcdir PG_ABS_SRCDIR
\if :{?fixtures}
\else
	\set fixtures :abs_srcdir '/test/data/fixtures'
\endif
\set directories :fixtures /../directories
SELECT format('cp -r %1$s %2$s/brought && mkdir -p %2$s/plain/a.lance %2$s/plain/b.lance/_versions %2$s/plain/gone.lance %2$s/plain/a.lance.d %2$s/plain/.lance && touch %2$s/plain/gone.lance/.lance-deregistered %2$s/plain/b.lance/x %2$s/plain/file.lance && cat > /dev/null',
	:'directories', root) AS command FROM t.setting \gset
COPY (SELECT 1) TO PROGRAM :'command';
CREATE FUNCTION t.import(path text, namespace text DEFAULT '$', dry_run boolean DEFAULT false)
	RETURNS TABLE (id text[], kind text, location text, action text, detail text) LANGUAGE sql AS $$
	SELECT ARRAY(SELECT left(n, 40) FROM unnest(i.id) WITH ORDINALITY u (n, o) ORDER BY o), i.kind, regexp_replace(t.mask(i.location), '[0-9a-f]{8}_', 'HEX_'), i.action, t.mask(i.detail)
	FROM lance_import_directory('lake', path, namespace, dry_run) i
$$;
-- A dry run says what the run does, and does nothing.
SELECT lance_create_namespace('p10');
SELECT * FROM t.import('brought/p10', 'p10', true);
SELECT count(*) FROM lance.tables WHERE namespace ~ '^p10';
SELECT * FROM t.import('brought/p10', 'p10');
SELECT lance_describe_namespace('p10$n');
SELECT namespace, table_name, regexp_replace(t.mask(location), '[0-9a-f]{8}_', 'HEX_') AS location, server_name, managed_versioning, properties FROM lance.tables WHERE namespace ~ '^p10' ORDER BY 1, 2;
-- Again: everything is there.
SELECT DISTINCT action FROM t.import('brought/p10', 'p10');
SELECT DISTINCT action FROM t.import('brought/p10', 'p10', true);
-- The other writer's files.
SELECT lance_create_namespace('p14', properties => '{"managed_versioning": "false"}');
SELECT * FROM t.import('brought/p14', 'p14');
SELECT DISTINCT managed_versioning FROM lance.tables WHERE namespace ~ '^p14';
-- Plain folders; the namespace as a list of names.
SELECT lance_create_namespace(ARRAY['a$b']);
SELECT id, action, detail FROM lance_import_directory('lake', 'plain/', ARRAY['a$b']);
-- A location that another name has, and a name that points elsewhere.
SELECT id, action, detail FROM t.import('plain', '$');
SELECT lance_create_namespace('c');
SELECT 1 FROM lance_declare_table('c$one');
SELECT lance_create_namespace('c$decl');
SELECT 1 FROM lance_drop_table('p10$one');
SELECT id, action, detail FROM t.import('brought/p10', 'c');
-- Files that are still to be removed are in the way; deregistered tables come back.
SELECT lance_drop_namespace('c', behavior => 'Cascade');
SELECT 1 FROM lance_deregister_table('p10$n$t1');
SELECT id, action, detail FROM t.import('brought/p10', 'p10') WHERE action <> 'exists';
-- Names with the delimiter in them, rows that can't be taken over.
SELECT lance_create_namespace('odd');
SELECT * FROM t.import('brought/odd', 'odd', true) \g (format=csv)
SELECT * FROM t.import('brought/odd', 'odd') EXCEPT ALL SELECT * FROM t.import('brought/odd', 'odd', true) ORDER BY 1, 2, 3 \g (format=csv)
SELECT path, properties FROM lance.namespaces WHERE namespace ~ '^odd' ORDER BY path;
SELECT path, properties, managed_versioning FROM lance.tables WHERE namespace ~ '^odd' ORDER BY path;
-- Directories that are none, or not any more; one that is not there holds nothing.
SELECT t.try($$SELECT lance_import_directory('lake', 'brought/dropped')$$);
SELECT t.try($$SELECT lance_import_directory('lake', 'brought/future')$$);
SELECT t.try($$SELECT lance_import_directory('lake', 'brought/other')$$);
SELECT count(*) FROM lance_import_directory('lake', 'not/there');
-- Arguments.
SELECT t.try($$SELECT lance_import_directory(NULL)$$);
SELECT t.try($$SELECT lance_import_directory('none')$$);
SELECT t.try($$SELECT lance_import_directory('lake', '../up')$$);
SELECT t.try($$SELECT lance_import_directory('lake', '/etc')$$);
SELECT t.try($$SELECT lance_import_directory('lake', 's3://b/x')$$);
SELECT t.try($$SELECT lance_import_directory('lake', 'plain', 'missing')$$);
SELECT t.try($$SELECT lance_import_directory('lake', 'plain', 'p10$one')$$);
-- Rights: EXECUTE, and USAGE on the server.
CREATE ROLE bringer;
GRANT USAGE ON SCHEMA t TO bringer;
GRANT SELECT ON t.setting TO bringer;
SET ROLE bringer;
SELECT t.try($$SELECT count(*) FROM lance_import_directory('lake', 'plain', 'p14')$$);
RESET ROLE;
SELECT lance_grant('bringer', 'admin');
SET ROLE bringer;
SELECT t.try($$SELECT count(*) FROM lance_import_directory('lake', 'plain', 'p14')$$);
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER lake TO bringer;
SET ROLE bringer;
SELECT t.try($$SELECT count(*) FROM lance_import_directory('lake', 'plain', 'p14', true)$$);
RESET ROLE;
DROP OWNED BY bringer;
DROP ROLE bringer;
-- All of it goes with the transaction.
BEGIN;
SELECT lance_drop_namespace(ARRAY['a$b'], behavior => 'Cascade');
ROLLBACK;
BEGIN;
SELECT 1 FROM lance_deregister_table(ARRAY['a$b', 'a']);
SELECT id, action FROM lance_import_directory('lake', 'plain', ARRAY['a$b']) WHERE action = 'register';
ROLLBACK;
SELECT path FROM lance.tables WHERE path[1] = 'a$b' ORDER BY 1;
DO $$
DECLARE
	n text;
BEGIN
	FOREACH n IN ARRAY ARRAY['p10', 'p14', 'odd'] LOOP
		PERFORM lance_drop_namespace(n, behavior => 'Cascade');
	END LOOP;
	PERFORM lance_drop_namespace(ARRAY['a$b'], behavior => 'Cascade');
END
$$;
SELECT failed FROM lance_run_cleanup();
