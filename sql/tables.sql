--
-- Operations on tables.
--
SELECT lance_create_namespace('ml');
SELECT lance_create_namespace('ml$sub');
-- Declare: a fresh location, nothing made there.
SELECT t.mask(location) AS location, storage_options, properties, managed_versioning
FROM lance_declare_table('ml$docs', properties => '{"k": "v", "é": ""}');
SELECT t.mask(location) AS location, table_uri, storage_options, properties, managed_versioning, is_only_declared, version
FROM lance_describe_table('ml$docs');
SELECT t.mask(table_uri) AS table_uri, is_only_declared
FROM lance_describe_table('ml$docs', with_table_uri => true, check_declared => true);
SELECT pg_stat_file(t.location('ml$docs'), true) IS NULL AS nothing_there;
SELECT lance_table_exists('ml$docs');
SELECT t.try($$SELECT * FROM lance_declare_table('ml$docs')$$);
-- A table and a namespace can't share a name.
SELECT t.try($$SELECT * FROM lance_declare_table('ml$sub')$$);
SELECT t.try($$SELECT lance_create_namespace('ml$docs')$$);
SELECT t.try($$SELECT lance_create_namespace('ml$docs', 'Overwrite')$$);
SELECT t.try($$SELECT * FROM lance_describe_table('ml$sub')$$);
SELECT t.try($$SELECT lance_describe_namespace('ml$docs')$$);
-- What is missing.
SELECT t.try($$SELECT * FROM lance_declare_table('$')$$);
SELECT t.try($$SELECT * FROM lance_declare_table('no$t')$$);
SELECT t.try($$SELECT * FROM lance_register_table('no$t', 'x')$$);
SELECT c, t.try(format('SELECT * FROM %s', c)) FROM unnest(ARRAY[
	$$lance_describe_table('ml$no')$$, $$lance_table_exists('ml$no')$$, $$lance_deregister_table('ml$no')$$,
	$$lance_drop_table('ml$no')$$, $$lance_rename_table('ml$no', 'x')$$, $$lance_list_table_versions('ml$no')$$,
	$$lance_describe_table_version('ml$no', 1)$$, $$lance_delete_table_versions('ml$no', '{[1,2)}')$$,
	$$lance_create_table_version('ml$no', 1, 'x')$$,
	$$lance_describe_table('no$t')$$, $$lance_table_exists('no$t')$$, $$lance_drop_table('no$t')$$]) c;
SELECT t.try($$SELECT * FROM lance_describe_table('ml$docs', version => 0)$$);
SELECT t.try($$SELECT * FROM lance_describe_table('ml$docs', version => 999)$$);
SELECT t.try($$SELECT * FROM lance_describe_table('ml$docs', tag => 'x')$$);
SELECT t.try($$SELECT * FROM lance_describe_table('ml$docs', branch => 'x')$$);
-- Lists.
SELECT count(*) FROM unnest('{b,a,c,A,é}'::text[]) n, lance_declare_table('ml$' || n);
SELECT 1 FROM lance_declare_table('ml$sub$hidden');
SELECT 1 FROM lance_declare_table('top');
SELECT * FROM lance_list_tables('ml');
SELECT * FROM lance_list_tables('ml', "limit" => 2);
SELECT * FROM lance_list_tables('ml', 'a', 3);
SELECT * FROM lance_list_tables();
SELECT t.write('ml$c', t.v2(1), 'not really a manifest');
SELECT * FROM lance_list_tables('ml', include_declared => false);
SELECT * FROM lance_list_tables('ml', include_declared => false, page_token => 'c');
SELECT is_only_declared FROM lance_describe_table('ml$c', check_declared => true);
SELECT * FROM lance_list_all_tables();
SELECT * FROM lance_list_all_tables('.', "limit" => 3);
SELECT * FROM lance_list_all_tables('.', '["ml", "b"]', 3);
SELECT * FROM lance_list_all_tables(include_declared => false);
SELECT t.try($$SELECT * FROM lance_list_all_tables(page_token => 'x')$$);
SELECT t.try($$SELECT * FROM lance_list_all_tables(page_token => '[1]')$$);
SELECT namespace, table_name, t.mask(location) AS location, server_name, path FROM lance.tables ORDER BY path;
-- Rename keeps location and versions.
SELECT t.location('ml$c') AS before \gset
SELECT lance_rename_table('ml$c', 'renamed');
SELECT t.location('ml$renamed') = :'before' AS same;
SELECT t.try($$SELECT * FROM lance_describe_table('ml$c')$$);
SELECT lance_rename_table('ml$renamed', 'again', 'ml$sub');
SELECT t.location('ml$sub$again') = :'before' AS same, t.versions('ml$sub$again');
SELECT t.try($$SELECT lance_rename_table('ml$sub$again', 'hidden')$$);
SELECT t.try($$SELECT lance_rename_table('ml$sub$again', 'sub', 'ml')$$);
SELECT t.try($$SELECT lance_rename_table('ml$sub$again', 'x', 'nowhere')$$);
SELECT t.try($$SELECT lance_rename_table('ml$sub$again', '')$$);
SELECT t.try($$SELECT lance_rename_table('ml$sub$again', NULL)$$);
SELECT lance_rename_table('ml$sub$again', 'at top', '$');
SELECT lance_rename_table(ARRAY['at top'], 'a$b', ARRAY['ml']);
SELECT t.try($$SELECT lance_rename_table(ARRAY['ml', 'a$b'], 'a$b')$$);
-- Deregister leaves the files, the name is free and starts at a new place; registering brings everything back.
SELECT t.mask(location) FROM lance_deregister_table(ARRAY['ml', 'a$b']);
SELECT t.try($$SELECT * FROM lance_register_table('ml$back', $$ || quote_literal(:'before') || ')');
SELECT t.versions('ml$back'), t.read('ml$back', t.v2(1));
SELECT location <> :'before' AS fresh FROM lance_declare_table(ARRAY['ml', 'a$b']);
-- A location is inside the root, and one table's only.
SELECT 1 FROM lance_deregister_table('ml$back');
SELECT l, t.try(format('SELECT location FROM lance_register_table(%L, %L)', 'ml$r', l)) FROM unnest(ARRAY[
	'', '/', '.', '..', 'x/..', '../x', 'x/../../y', 'x//y', '/etc', 'file:///etc', 's3://bucket/x', 'http://localhost/x', 'x?y', 'x*', '%2e%2e/x',
	E'x\ny']) l;
SELECT l, t.try(format('SELECT location FROM lance_register_table(%L, %L)', 'ml$r', root || l)) FROM t.setting, unnest(ARRAY['', '/', '/../x', 'x/y']) l;
SELECT t.try($$SELECT * FROM lance_register_table('ml$r1', 'dir/one')$$);
SELECT l, t.try(format('SELECT location FROM lance_register_table(%L, %L)', 'ml$r2', l)) FROM unnest('{dir/one,dir/one/,dir/one/x,dir}'::text[]) l;
SELECT regexp_replace(t.try(format('SELECT location FROM lance_register_table(%L, %L)', 'ml$r2', repeat('0123456789', 300))), 'has \d+', 'has MANY');
SELECT t.try($$SELECT * FROM lance_declare_table('ml$r2', location => 'dir/one/inside')$$);
SELECT t.mask(location) FROM lance_declare_table('ml$r2', location => 'dir/one2/');
SELECT t.mask(location) FROM lance_describe_table('ml$r2');
SELECT t.try($$SELECT * FROM lance_register_table('ml$r2', 'dir/three')$$);
SELECT t.try($$SELECT * FROM lance_register_table('ml$r2', 'dir/three', 'overwrite', '{"a": "b"}')$$);
SELECT t.try($$SELECT * FROM lance_register_table('ml$r2', 'dir/one', 'OVERWRITE')$$);
SELECT t.try($$SELECT * FROM lance_register_table('ml$sub', 'dir/four', 'overwrite')$$);
SELECT t.try($$SELECT * FROM lance_register_table('ml$r2', 'dir/four', 'upsert')$$);
SELECT t.mask(location), properties FROM lance_describe_table('ml$r2');
-- Drop: files go after commit; a rolled back drop leaves all as it was.
SELECT 1 FROM lance_register_table('ml$back', :'before');
SELECT t.write('ml$back', 'data/x.lance', 'x');
BEGIN;
SELECT t.mask(location) FROM lance_drop_table('ml$back');
ROLLBACK;
SELECT t.versions('ml$back'), (SELECT count(*) FROM lance.cleanup_queue);
SELECT t.mask(location) FROM lance_drop_table('ml$back');
SELECT t.try($$SELECT * FROM lance_drop_table('ml$back')$$);
SELECT pg_stat_file(:'before' || '/data/x.lance', true) IS NULL AS gone;
SELECT t.try($$SELECT * FROM lance_register_table('ml$back', $$ || quote_literal(:'before') || ')');
SELECT done, failed, files_removed FROM lance_run_cleanup();
SELECT pg_stat_file(:'before', true) IS NULL AS gone;
SELECT count(*) FROM lance_register_table('ml$back', :'before');
-- Profiles and managed versions are inherited downward; the nearest says it.
SELECT 'file://' || root || '/other' AS other FROM t.setting \gset
CREATE SERVER other FOREIGN DATA WRAPPER lance_fdw OPTIONS (root :'other', managed_versioning 'false');
SELECT lance_create_namespace('o', properties => '{"server": "other"}');
SELECT lance_create_namespace('o$p');
SELECT t.mask(location), managed_versioning FROM lance_declare_table('o$p$t');
SELECT lance_create_namespace('o$m', properties => '{"managed_versioning": "true"}');
SELECT managed_versioning FROM lance_declare_table('o$m$t');
SELECT managed_versioning FROM lance_declare_table('o$m$u', properties => '{"managed_versioning": "off"}');
SELECT managed_versioning, server_name FROM lance.tables WHERE namespace = 'o$m' ORDER BY table_name;
SET lance_catalog.default_server = '';
SELECT t.try($$SELECT * FROM lance_declare_table('homeless')$$);
SET lance_catalog.default_server = 'nowhere';
SELECT t.try($$SELECT * FROM lance_declare_table('homeless')$$);
RESET lance_catalog.default_server;
-- Nobody takes a server that he may not use for the one of namespaces that name none.
CREATE ROLE chooser;
SET ROLE chooser;
SET lance_catalog.default_server = 'other';
RESET ROLE;
DROP ROLE chooser;
-- Long and odd names make short and plain folders.
SELECT lance_create_namespace(ARRAY[repeat('n', 1000)]);
SELECT t.mask(location) FROM lance_declare_table(ARRAY[repeat('n', 1000), repeat('é', 500)]);
SELECT t.mask(location) FROM lance_declare_table(ARRAY[repeat('n', 1000), '../../etc/passwd']);
SELECT t.mask(location) FROM lance_declare_table(ARRAY[repeat('n', 1000), '-$(reboot)`x`']);
SELECT count(lance_drop_namespace(ARRAY[name], behavior => 'Cascade')) FROM lance_list_namespaces();
SELECT count(*) FROM lance_list_tables() l, lance_drop_table(ARRAY[l.name]);
SELECT failed FROM lance_run_cleanup();
SELECT count(*) FROM lance.catalog_entry;
-- Pages of all tables: each one once, whatever the size of the page, with names that are beginnings of others.
SELECT count(lance_create_namespace(n)) FROM unnest('{a,a$b,a$b$c,b}'::text[]) n;
SELECT count(*) FROM unnest('{a$a,a$b1,a$b$a,a$b$c$x,a$b$c$y,a$z,a1,b$x,c}'::text[]) n, lance_declare_table(n);
SELECT array_agg(id) FROM lance_list_all_tables();
WITH RECURSIVE pages (size, n, id) AS (
	SELECT size, 0, NULL::text FROM generate_series(1, 10) size
	UNION ALL
	SELECT size, n + 1, (SELECT id FROM lance_list_all_tables(page_token => to_jsonb(string_to_array(p.id, '$'))::text, "limit" => size) OFFSET size - 1)
	FROM pages p WHERE n = 0 OR id IS NOT NULL)
SELECT size, count(*), array_agg(id) FILTER (WHERE id IS NOT NULL) FROM pages GROUP BY size ORDER BY size;
SELECT token, array_agg(id) FROM unnest('{a,a$b,a$b$c,a$b$c$x,a$b$d,a$y,b,zz}'::text[]) token,
	lance_list_all_tables(page_token => to_jsonb(string_to_array(token, '$'))::text) GROUP BY token ORDER BY token COLLATE "C";
SELECT count(lance_drop_namespace(name, behavior => 'Cascade')) FROM lance_list_namespaces();
SELECT count(*) FROM lance_list_tables() l, lance_drop_table(l.name);
SELECT failed FROM lance_run_cleanup();
-- A transaction that fills the catalog: no plan made while its tables were small reads them from end to end later.
\c
BEGIN;
SELECT lance_create_namespace('many');
SELECT count(lance_declare_table('many$t' || i)), count(lance_describe_table('many$t' || i)) FROM generate_series(1, 500) i;
SELECT lance_drop_namespace('many', behavior => 'Cascade');
SELECT sum(seq_scan) FROM pg_stat_xact_all_tables WHERE schemaname = 'lance';
ROLLBACK;
