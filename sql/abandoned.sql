--
-- Tables that an interrupted run left: declared, never written.
--
SELECT lance_create_namespace('run'), lance_create_namespace('run$sub'), lance_create_namespace('beside');
SELECT count(*) FROM unnest(ARRAY['run$empty', 'run$files', 'run$busy', 'run$past', 'run$branch', 'run$through', 'run$young', 'run$sub$deep', 'beside$t']) n, lance_declare_table(n);
SELECT t.write('run$files', 'data/a.lance', 'x'), t.write('run$files', t.v2(1) || '-staged', 'x'), t.write('run$busy', 'data/b.lance', 'x'),
	t.write('run$past', t.v2(1), 'x'), t.write('run$branch', 'tree/b/' || t.v2(1), 'x');
SELECT t.create_version('run$through', 1, 'one');
UPDATE lance.catalog_entry SET created_at = now() - interval '3 days' WHERE kind = 'table' AND name <> 'young';
SELECT format('find %1$s/run ! -name b.lance -exec touch -d ''2 days ago'' {} + && cat > /dev/null', root) AS command FROM t.setting \gset
COPY (SELECT 1) TO PROGRAM :'command';
CREATE FUNCTION t.abandoned(id text, older_than interval) RETURNS TABLE ("table" text[], location text, age boolean) LANGUAGE sql AS $$
	SELECT a."table", t.mask(a.location), a.created_at < now() - older_than FROM lance_list_abandoned_tables(id, older_than) a
$$;
SELECT * FROM t.abandoned('run', '1 day');
SELECT "table" FROM t.abandoned('run', '60 hours');
SELECT "table" FROM t.abandoned('run', '1 week');
SELECT "table" FROM lance_list_abandoned_tables(ARRAY['run', 'sub']);
SELECT "table" FROM lance_list_abandoned_tables() ORDER BY 1;
SELECT t.try($$SELECT lance_list_abandoned_tables('none')$$);
SELECT t.try($$SELECT lance_list_abandoned_tables('run', NULL)$$);
SELECT t.try($$SELECT lance_drop_abandoned_tables('run', '-1 day')$$);
SELECT t.try($$SELECT lance_drop_abandoned_tables(NULL, '1 day')$$);
-- One call reaps all, or none.
BEGIN;
SELECT count(*) FROM lance_drop_abandoned_tables('run');
ROLLBACK;
SELECT count(*) FROM lance_list_abandoned_tables('run');
SELECT "table" FROM lance_drop_abandoned_tables('run');
SELECT "table" FROM lance_drop_abandoned_tables('run');
SELECT namespace, table_name FROM lance.tables WHERE namespace ~ '^run|beside' ORDER BY 1, 2;
SELECT kind, regexp_replace(t.mask(location), '[^/]*$', '') FROM lance.cleanup_queue ORDER BY item_id;
SELECT done, failed, files_removed FROM lance_run_cleanup();
-- A store that can't be looked at is an error, not a table without files.
UPDATE lance.table_entry SET server_name = 'gone' WHERE location ~ 'beside';
SELECT t.try($$SELECT lance_drop_abandoned_tables()$$);
UPDATE lance.table_entry SET server_name = 'lake' WHERE location ~ 'beside';
-- Two runs with the same names, each in its namespace, never meet.
SELECT lance_create_namespace('run1'), lance_create_namespace('run2'), lance_create_namespace('run1$ml'), lance_create_namespace('run2$ml');
SELECT count(*) FROM generate_series(1, 2) r, generate_series(1, 50) i, lance_declare_table(format('run%s$ml$t%s', r, i));
SELECT count(*), count(DISTINCT location) FROM lance.tables WHERE namespace ~ '^run[12]';
SELECT t.create_version('run1$ml$t1', 1, 'one'), t.create_version('run2$ml$t1', 1, 'two');
SELECT lance_drop_namespace('run1', behavior => 'Cascade');
SELECT done, failed FROM lance_run_cleanup();
SELECT t.versions('run2$ml$t1'), count(*) FROM lance.tables WHERE namespace = 'run2$ml';
SELECT t.read('run2$ml$t1', t.v2(1));
SELECT lance_drop_namespace('run2', behavior => 'Cascade'), lance_drop_namespace('run', behavior => 'Cascade'), lance_drop_namespace('beside', behavior => 'Cascade');
SELECT done, failed FROM lance_run_cleanup();
