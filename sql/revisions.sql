--
-- Versions that are made of the newest manifest: restore, metadata, dropping and altering columns; numbers; transactions.
--
\getenv fixtures LANCE_FIXTURES
\getenv abs_srcdir PG_ABS_SRCDIR
\if :{?fixtures}
\else
	\set fixtures :abs_srcdir '/test/data/fixtures'
\endif
-- A table with the files of a finished dataset of eight versions.
CREATE FUNCTION t.fill(id text, dataset text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('COPY (SELECT 1) TO PROGRAM %L',
		format('cp -rL %1$s %2$s && chmod -R u+w %2$s && cat > /dev/null', dataset, t.location(id)));
END
$$;
CREATE FUNCTION t.schema(id text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat(f->>'name', CASE WHEN NOT (f->>'nullable')::boolean THEN '!' END), ' ')
	FROM jsonb_array_elements((SELECT schema->'fields' FROM lance_describe_table(id, load_detailed_metadata => true))) f
$$;
SELECT 1 FROM lance_declare_table('r');
SELECT t.fill('r', :'fixtures' || '/data/evolve_p14.lance');
SELECT t.versions('r'), t.schema('r');
SELECT * FROM lance_get_table_stats('r');

-- Metadata of the schema is replaced, that of columns changed entry by entry.
SELECT metadata, length(transaction_id) FROM lance_update_table_schema_metadata('r', '{"k": "v", "l": ""}');
SELECT metadata FROM lance_update_table_schema_metadata('r', '{"m": "w"}');
SELECT * FROM lance_update_field_metadata('r', '[{"path": "id", "metadata": {"unit": "m", "x": "1"}}, {"path": "st.a", "metadata": {"y": "2"}}]');
SELECT * FROM lance_update_field_metadata('r', '[{"path": "id", "metadata": {"x": null, "z": "3"}}]');
SELECT * FROM lance_update_field_metadata('r', '[{"path": "`id`", "metadata": {"only": "this"}, "replace": true}, {"path": "id", "metadata": {"and": "that"}}]');
SELECT metadata FROM lance_update_table_schema_metadata(ARRAY['r'], '{}');

-- Columns.
SELECT length(transaction_id), version FROM lance_alter_table_drop_columns('r', '{twice,st.b}');
SELECT t.schema('r');
SELECT lance_alter_table_alter_columns('r', '[{"path": "id", "rename": "key", "nullable": false}, {"path": "st", "rename": "pair"}]');
SELECT t.schema('r');
SELECT lance_alter_table_alter_columns('r', '[{"path": "key", "nullable": true, "data_type": null, "virtual_column": null}]');

-- Back to what it was; the versions in between stay.
SELECT length(transaction_id), version FROM lance_restore_table('r', 8);
SELECT t.schema('r');
SELECT operation, version FROM lance_dataset_versions('r') ORDER BY version;
SELECT namespace, table_name, branch, version, read_version, operation, tag, properties FROM lance.transactions ORDER BY version;

-- Read back by a foreign table, at each stage.
CREATE SCHEMA revised;
SELECT lance_attach_table('r', schema => 'revised', name => 'now');
SELECT lance_attach_table('r', schema => 'revised', name => 'then', version => 16);
SELECT count(*), min(id), max(id), count(twice), count(nothing) FROM revised.now;
SELECT count(*), count(key), count(pair) FROM revised.then;
DROP SCHEMA revised CASCADE;

-- What can't be done says why.
SELECT t.try($$SELECT * FROM lance_restore_table('r', NULL)$$);
SELECT t.try($$SELECT * FROM lance_restore_table('r', 0)$$);
SELECT t.try($$SELECT * FROM lance_restore_table('r', 99)$$);
SELECT t.try($$SELECT * FROM lance_restore_table('nothing', 1)$$);
SELECT t.try($$SELECT * FROM lance_restore_table('r', 1, branch => 'b')$$);
SELECT t.try($$SELECT * FROM lance_update_table_schema_metadata('r', NULL)$$);
SELECT t.try($$SELECT * FROM lance_update_table_schema_metadata('r', '{"k": 1}')$$);
SELECT t.try($$SELECT * FROM lance_update_table_schema_metadata('r', '{"": "v"}')$$);
SELECT t.try($$SELECT * FROM lance_update_field_metadata('r', NULL)$$);
SELECT j, t.try(format('SELECT * FROM lance_update_field_metadata(%L, %L)', 'r', j)) FROM unnest(ARRAY['[]', '{}', '[1]', '[{}]', '[{"path": "id"}]',
	'[{"path": "", "metadata": {}}]', '[{"path": "id", "metadata": 1}]', '[{"path": "id", "metadata": {"k": 1}}]', '[{"path": "id", "metadata": {"": "v"}}]',
	'[{"path": "id", "metadata": {}, "replace": 1}]', '[{"path": "nope", "metadata": {}}]', '[{"path": "st.", "metadata": {}}]',
	'[{"path": "id", "metadata": {"lance-schema:unenforced-primary-key": "true"}}]']) j;
SELECT t.try(format('SELECT * FROM lance_update_field_metadata(%L, %L)', 'r', jsonb_build_array(jsonb_build_object('path', 'id', 'metadata', (SELECT jsonb_object_agg(n, 'v') FROM generate_series(1, 10000) n)))));
SELECT c, t.try(format('SELECT * FROM lance_alter_table_drop_columns(%L, %L)', 'r', c)) FROM unnest(ARRAY['{}', '{NULL}', '{{id},{grp}}', '{nope}', '{st.c}', '{`id}', '{tags.item}',
	'{id,title,grp,vec,tags,twice,nothing,st}']) c;
SELECT t.try($$SELECT * FROM lance_alter_table_drop_columns('r', NULL)$$);
SELECT j, t.try(format('SELECT lance_alter_table_alter_columns(%L, %L)', 'r', j)) FROM unnest(ARRAY['[]', '[{}]', '[{"path": "id"}]', '[{"path": "nope", "rename": "x"}]',
	'[{"path": "id", "rename": ""}]', '[{"path": "id", "rename": "a.b"}]', '[{"path": "id", "rename": "grp"}]', '[{"path": "id", "nullable": "yes"}]',
	'[{"path": "nothing", "nullable": false}]', '[{"path": "id", "data_type": {"type": "int32"}}]', '[{"path": "id", "virtual_column": {"udf": "x"}}]']) j;
SELECT t.versions('r');

-- A transaction makes all of its versions or none; a savepoint's go with it. Files are written at its end only.
CREATE FUNCTION t.files(id text) RETURNS text LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM t.ls(id, '_versions') f WHERE f ~ '^[0-9]{20}.manifest$') || ' ' || (SELECT count(*) FROM t.ls(id, '_transactions'))
$$;
SELECT t.files('r');
BEGIN;
SELECT version FROM lance_alter_table_drop_columns('r', '{twice}');
SELECT t.files('r');
ROLLBACK;
SELECT t.files('r'), t.versions('r'), (SELECT count(*) FROM lance.transactions);
BEGIN;
SELECT version FROM lance_alter_table_drop_columns('r', '{twice}');
SAVEPOINT s;
SELECT version FROM lance_alter_table_drop_columns('r', '{title}');
SELECT t.try($$SELECT * FROM lance_alter_table_drop_columns('r', '{title}')$$);
ROLLBACK TO s;
SELECT lance_alter_table_alter_columns('r', '[{"path": "title", "rename": "name"}]');
SELECT metadata FROM lance_update_table_schema_metadata('r', '{"k": "v"}');
SELECT t.try($$SELECT lance_alter_table_alter_columns('r', '[{"path": "id", "nullable": false}]')$$);
SELECT status, properties - 'uuid' FROM lance_describe_transaction('r$21');
COMMIT;
SELECT t.files('r'), t.versions('r'), t.schema('r');
SELECT status, properties - 'uuid' FROM lance_describe_transaction('r$21');
BEGIN;
SELECT version FROM lance_restore_table('r', 8);
PREPARE TRANSACTION 'x';
SELECT t.files('r');

-- A writer past the catalog is faster: nothing of ours stays.
BEGIN;
SELECT version FROM lance_alter_table_drop_columns('r', '{nothing}');
SELECT t.write('r', t.v2(22), 'beside');
COMMIT;
SELECT t.files('r'), t.read('r', t.v2(22)), (SELECT count(*) FROM lance.transactions);
SELECT t.remove('r', t.v2(22));

-- A manifest under another version's name is not built upon.
DO $$
BEGIN
	EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', format('cp %1$s/%2$s %1$s/%3$s && cat > /dev/null', t.location('r'), t.v2(8), t.v2(22)));
END
$$;
SELECT t.try($$SELECT version FROM lance_alter_table_drop_columns('r', '{id}')$$);
SELECT t.remove('r', t.v2(22));

-- Transactions: by id or version, with properties that the catalog keeps.
SELECT properties->>'uuid' AS first FROM lance_describe_transaction('r$2') \gset
SELECT status, properties - 'uuid' FROM lance_describe_transaction(ARRAY['r', :'first']);
SELECT status, properties - 'uuid' FROM lance_describe_transaction('r$17');
SELECT t.try($$SELECT * FROM lance_describe_transaction('r')$$);
SELECT t.try($$SELECT * FROM lance_describe_transaction('nothing$1')$$);
SELECT t.try($$SELECT * FROM lance_describe_transaction('r$99')$$);
SELECT t.try($$SELECT * FROM lance_describe_transaction('r$00000000-0000-4000-8000-000000000000')$$);
SELECT status, properties - 'uuid' FROM lance_alter_transaction(ARRAY['r', :'first'], '[{"setStatusAction": {"status": "succeeded"}},
	{"setPropertyAction": {"key": "a", "value": "1"}}, {"setPropertyAction": {"key": "b", "value": "2", "mode": "fail"}},
	{"setPropertyAction": {"key": "a", "value": "3", "mode": "skip"}}, {"unsetPropertyAction": {"key": "c"}}]');
SELECT status, properties - 'uuid' FROM lance_alter_transaction('r$2', '[{"setPropertyAction": {"key": "a", "value": "4"}}, {"unsetPropertyAction": {"key": "b", "mode": "FAIL"}}]');
SELECT j, t.try(format('SELECT * FROM lance_alter_transaction(%L, %L)', 'r$2', j)) FROM unnest(ARRAY['[]', '{}', '[{}]',
	'[{"setPropertyAction": {"key": "b", "value": "5"}}, {"setPropertyAction": {"key": "a", "value": "5", "mode": "Fail"}}]', '[{"unsetPropertyAction": {"key": "b", "mode": "Fail"}}]',
	'[{"setStatusAction": {"status": "Canceled"}}]', '[{"setStatusAction": {"status": "Lost"}}]', '[{"setStatusAction": {}}]', '[{"setPropertyAction": {"value": "x"}}]',
	'[{"setPropertyAction": {"key": "x"}}]', '[{"setPropertyAction": {"key": "version", "value": "x"}}]', '[{"setPropertyAction": {"key": "x", "value": "x", "mode": "odd"}}]',
	'[{"setStatusAction": {"status": "Succeeded"}, "unsetPropertyAction": {"key": "a"}}]']) j;
SELECT status, properties - 'uuid' FROM lance_describe_transaction('r$2');

-- A branch has versions and transactions of its own.
DO $$
BEGIN
	EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', format('mkdir -p %1$s/tree/b/_versions && cp %1$s/%2$s %1$s/tree/b/%2$s && cat > /dev/null', t.location('r'), t.v2(8)));
END
$$;
SELECT version FROM lance_alter_table_drop_columns('r', '{id}', branch => 'b');
SELECT version FROM lance_restore_table('r', 8, branch => 'b');
SELECT t.try($$SELECT * FROM lance_restore_table('r', 7, branch => 'b')$$);
SELECT count(*) FROM t.ls('r', 'tree/b/_transactions');
SELECT transaction_id AS branched FROM lance.transactions WHERE branch = 'b' AND version = 9 \gset
SELECT status, properties - 'uuid' FROM lance_describe_transaction(ARRAY['r', :'branched']);
SELECT num_rows, num_fragments FROM lance_get_table_stats('r', branch => 'b');
SELECT t.try($$SELECT * FROM lance_get_table_stats('r', branch => 'c')$$);

-- A table whose clients commit by themselves, and one that nothing was written to.
SELECT managed_versioning FROM lance_declare_table('own', properties => '{"managed_versioning": "false"}');
SELECT * FROM lance_get_table_stats('own');
SELECT t.try($$SELECT * FROM lance_alter_table_drop_columns('own', '{id}')$$);
SELECT t.fill('own', :'fixtures' || '/data/evolve_p14.lance');
SELECT version FROM lance_alter_table_drop_columns('own', '{twice}');
SELECT t.versions('own'), t.schema('own');

-- A version of the same transaction is restored.
BEGIN;
SELECT metadata FROM lance_update_table_schema_metadata('own', '{"of": "ten"}');
SELECT metadata FROM lance_update_table_schema_metadata('own', '{"of": "eleven"}');
SELECT version FROM lance_restore_table('own', 10);
SELECT version FROM lance_restore_table('own', 8);
SELECT version FROM lance_restore_table('own', 12);
SELECT t.try($$SELECT * FROM lance_deregister_table('own')$$);
SELECT t.try(format('SELECT * FROM lance_register_table(%L, %L, mode => %L)', 'own', t.location('own'), 'Overwrite'));
COMMIT;
SELECT t.versions('own'), schema->'metadata' AS metadata FROM lance_describe_table('own', load_detailed_metadata => true);

-- Who may write may do this.
CREATE ROLE reviser;
SELECT lance_grant('reviser', 'read');
GRANT USAGE ON SCHEMA t TO reviser;
GRANT SELECT ON t.setting TO reviser;
SET ROLE reviser;
SELECT t.try($$SELECT lance_restore_table('r', 8)$$);
SELECT count(*) FROM lance.transactions;
RESET ROLE;
SELECT lance_grant('reviser', 'admin');
GRANT USAGE ON FOREIGN SERVER lake TO reviser;
SET ROLE reviser;
SELECT t.try($$SELECT version FROM lance_restore_table('r', 8)$$);
RESET ROLE;
DROP OWNED BY reviser;
DROP ROLE reviser;
SELECT count(*) FROM lance_drop_table('r');
SELECT count(*) FROM lance_drop_table('own');
SELECT count(*) FROM lance.transaction_entry;
SELECT failed FROM lance_run_cleanup();
