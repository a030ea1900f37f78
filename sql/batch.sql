--
-- Batches: several tables in one call.
--
SELECT count(lance_declare_table(n)) FROM unnest('{p,q,gone}'::text[]) n;
CREATE FUNCTION t.entry(id text, version bigint, content text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT jsonb_build_object('id', id, 'version', version, 'manifest_path', t.stage(id, version, content))
$$;
SELECT id, branch, version, t.mask(manifest_path) AS manifest_path, manifest_size, committed_at IS NOT NULL AS timed, metadata
FROM lance_create_table_versions(jsonb_build_array(t.entry('p', 1, 'p1'),
	t.entry('q', 1, 'q1') || '{"id": ["q"], "metadata": {"k": "v"}, "naming_scheme": "V2"}'));
SELECT t.versions('p'), t.versions('q');
-- All or none.
SELECT t.try(format('SELECT version FROM lance_create_table_versions(%L)', jsonb_build_array(t.entry('p', 2, 'p2'), t.entry('q', 3, 'q3'))));
SELECT t.versions('p'), t.versions('q');
SELECT t.try(format('SELECT version FROM lance_create_table_versions(%L)', jsonb_build_array(t.entry('p', 2, 'p2'), t.entry('p', 2, 'p2') || '{"id": "nothing"}')));
SELECT t.try(format('SELECT version FROM lance_create_table_versions(%L)', x)) FROM unnest(ARRAY['5', '[5]', '[{}]', '[{"id": "p"}]', '[{"id": "p", "version": 2}]']) x;
SELECT t.try('SELECT version FROM lance_create_table_versions(NULL)');
SELECT count(*) FROM lance_create_table_versions('[]');
SELECT t.versions('p'), t.versions('q');
-- Operations of several kinds.
SELECT operation, id, t.mask(location) AS location, version, t.mask(manifest_path) AS manifest_path, deleted_count
FROM lance_commit_tables(jsonb_build_array(
	'{"declare_table": {"id": ["new"], "properties": {"owner": "x"}}}'::jsonb,
	jsonb_build_object('create_table_version', t.entry('p', 2, 'p2')),
	'{"delete_table_versions": {"id": "p", "ranges": [{"start_version": 1, "end_version": 2}]}}'::jsonb,
	'{"deregister_table": {"id": "gone"}}'::jsonb));
SELECT t.versions('p'), t.versions('new'), t.versions('gone');
SELECT t.try(format('SELECT operation FROM lance_commit_tables(%L)', jsonb_build_array('{"declare_table": {"id": ["newer"]}}'::jsonb,
	jsonb_build_object('create_table_version', t.entry('q', 2, 'q2')), '{"declare_table": {"id": ["p"]}}'::jsonb)));
SELECT t.versions('q'), t.versions('newer');
SELECT t.try(format('SELECT operation FROM lance_commit_tables(%L)', x)) FROM unnest(ARRAY['5', '[5]', '[{}]', '[{"drop_table": {"id": "p"}}]',
	'[{"declare_table": {"id": "x"}, "deregister_table": {"id": "x"}}]', '[{"declare_table": 5}]', '[{"declare_table": {}}]',
	'[{"delete_table_versions": {"id": "p"}}]']) x;
-- Nobody may do in a batch what he may not do by itself.
CREATE ROLE batcher;
GRANT EXECUTE ON FUNCTION lance_commit_tables(jsonb) TO batcher;
SET ROLE batcher;
SELECT * FROM lance_commit_tables('[{"deregister_table": {"id": "p"}}]');
RESET ROLE;
REVOKE ALL ON FUNCTION lance_commit_tables(jsonb) FROM batcher;
DROP ROLE batcher;
SELECT t.versions('p') IS NOT NULL AS still_there;
DROP FUNCTION t.entry;
SELECT count(lance_drop_table(n)) FROM unnest('{p,q,new}'::text[]) n;
SELECT failed FROM lance_run_cleanup();
