--
-- Tags and branches: the dataset's own files, changed with the transaction.
--
\getenv fixtures LANCE_FIXTURES
\getenv abs_srcdir PG_ABS_SRCDIR
\if :{?fixtures}
\else
	\set fixtures :abs_srcdir '/test/data/fixtures'
\endif
\set fixtures :fixtures '/data'
SELECT lance_create_namespace('refs');
SELECT 1 FROM lance_declare_table('refs$t');
CREATE FUNCTION t.tags(id text) RETURNS text LANGUAGE sql AS $$
	SELECT t.try(format('SELECT array_agg(concat(tag, ''='', branch || ''@'', version)) FROM lance_list_table_tags(%L)', id))
$$;
CREATE FUNCTION t.branches(id text) RETURNS text LANGUAGE sql AS $$
	SELECT t.try(format('SELECT array_agg(concat(branch, ''='', parent_branch || ''@'', parent_version)) FROM lance_list_table_branches(%L)', id))
$$;
-- What changes from run to run in the file of a tag or branch.
CREATE FUNCTION t.ref(id text, key text) RETURNS text LANGUAGE sql AS $$
	SELECT regexp_replace(regexp_replace(regexp_replace(t.read(id, key), '\d{4}-\d\d-\d\dT[0-9:.]+Z', 'TIME', 'g'),
		'"createAt": \d+', '"createAt": SECONDS'), '[0-9a-f]{32}', 'UUID', 'g')
$$;
-- Nothing there yet.
SELECT t.tags('refs$t'), t.branches('refs$t');
SELECT t.try($$SELECT lance_create_table_tag('refs$t', 'one', 1)$$);
SELECT t.try($$SELECT lance_create_table_branch('refs$t', 'b')$$);
SELECT t.create_version('refs$t', 1, 'one');
SELECT t.create_version('refs$t', 2, 'two');
SELECT t.create_version('refs$t', 3, 'three');
-- A tag is a file as clients write it.
SELECT lance_create_table_tag('refs$t', 'one', 1);
SELECT t.ref('refs$t', '_refs/tags/one.json');
SELECT * FROM lance_get_table_tag_version('refs$t', 'one');
SELECT t.try($$SELECT lance_create_table_tag('refs$t', 'one', 2)$$);
SELECT t.try($$SELECT lance_create_table_tag('refs$t', 'far', 99)$$);
SELECT t.try($$SELECT lance_create_table_tag('refs$t', 'zero', 0)$$);
SELECT t.try($$SELECT lance_create_table_tag('refs$t', 'minus', -1)$$);
SELECT t.try($$SELECT lance_create_table_tag('refs$t', 'b', 1, 'nowhere')$$);
SELECT t.try($$SELECT lance_create_table_tag('refs$t', NULL, 1)$$);
SELECT t.try($$SELECT lance_create_table_tag('refs$t', 'x', NULL)$$);
SELECT t.try($$SELECT lance_create_table_tag('refs$nothing', 'x', 1)$$);
SELECT t.try(format('SELECT lance_create_table_tag(%L, %L, 1)', 'refs$t', n)) FROM unnest(ARRAY['', '.x', 'x.', 'a..b', 'a.lock', 'a/b', 'a b', 'täg', 'x''; DROP TABLE t; --', repeat('x', 251)]) n;
-- It moves; what else the file says stays.
SELECT t.write('refs$t', '_refs/tags/theirs.json', '{"branch":null,"version":1,"createdAt":"2024-05-01T00:00:00Z","updatedAt":"2024-05-01T00:00:00Z","manifestSize":3,"metadata":{"by":"ann"},"later":7}');
SELECT lance_update_table_tag('refs$t', 'theirs', 3);
SELECT regexp_replace(t.read('refs$t', '_refs/tags/theirs.json'), '"updatedAt": "20[0-9T:.-]+Z"', '"updatedAt": TIME');
SELECT t.try($$SELECT lance_update_table_tag('refs$t', 'none', 1)$$);
SELECT t.try($$SELECT lance_update_table_tag('refs$t', 'theirs', 99)$$);
SELECT t.tags('refs$t');
SELECT tag, version, branch, manifest_size, created_at AT TIME ZONE 'UTC' = '2024-05-01' AS made, updated_at > now() - interval '1 h' AS moved, metadata
FROM lance_list_table_tags(ARRAY['refs', 't']);
-- Pages: names behind the token.
SELECT tag FROM lance_list_table_tags('refs$t', "limit" => 1);
SELECT tag FROM lance_list_table_tags('refs$t', 'one', 5);
SELECT tag FROM lance_list_table_tags('refs$t', 'p');
SELECT t.try($$SELECT tag FROM lance_list_table_tags('refs$t', "limit" => 0)$$);
-- What nobody could find by its name is passed over; what can't be read is named, and can be removed.
SELECT t.write('refs$t', '_refs/tags/a b.json', '{}'), t.write('refs$t', '_refs/tags/notes.txt', 'x');
SELECT t.tags('refs$t');
SELECT t.write('refs$t', '_refs/tags/bad.json', '{"version": 1');
SELECT t.tags('refs$t');
SELECT t.try($$SELECT * FROM lance_get_table_tag_version('refs$t', 'bad')$$);
SELECT lance_delete_table_tag('refs$t', 'bad');
SELECT t.tags('refs$t');
SELECT t.try($$SELECT lance_delete_table_tag('refs$t', 'bad')$$);
-- With the transaction: seen in it at once, written at its end, forgotten with it or with a savepoint.
BEGIN;
SELECT lance_create_table_tag('refs$t', 'a', 1);
SELECT lance_update_table_tag('refs$t', 'a', 2);
SELECT lance_delete_table_tag('refs$t', 'one');
SAVEPOINT s;
SELECT lance_update_table_tag('refs$t', 'theirs', 1);
SELECT lance_create_table_tag('refs$t', 'one', 3);
SELECT lance_create_table_tag('refs$t', 'gone', 3);
SELECT lance_delete_table_tag('refs$t', 'gone');
SELECT t.tags('refs$t');
ROLLBACK TO s;
SELECT t.tags('refs$t');
SELECT t.try($$SELECT lance_create_table_tag('refs$t', 'a', 1)$$);
SELECT t.read('refs$t', '_refs/tags/a.json') IS NULL AS nothing_there;
COMMIT;
SELECT t.tags('refs$t');
SELECT * FROM t.ls('refs$t', '_refs/tags') f WHERE f LIKE '%.json';
BEGIN;
SELECT lance_create_table_tag('refs$t', 'b', 1), lance_delete_table_tag('refs$t', 'a');
ROLLBACK;
SELECT t.tags('refs$t');
BEGIN;
SELECT lance_create_table_tag('refs$t', 'b', 1);
PREPARE TRANSACTION 'x';
BEGIN READ ONLY;
SELECT t.tags('refs$t'), t.try($$SELECT lance_create_table_tag('refs$t', 'b', 1)$$);
COMMIT;
-- Somebody past the catalog was faster: one winner, and what else the transaction did is taken back.
CREATE TABLE t.beside (n int);
BEGIN;
INSERT INTO t.beside VALUES (1);
SELECT lance_update_table_tag('refs$t', 'a', 3);
SELECT lance_create_table_tag('refs$t', 'b', 1);
SELECT t.write('refs$t', '_refs/tags/b.json', '{"version":3,"manifestSize":1}');
\set VERBOSITY sqlstate
COMMIT;
\set VERBOSITY default
SELECT t.tags('refs$t'), count(*) FROM t.beside;
SELECT lance_delete_table_tag('refs$t', 'b');
-- Versions that a tag points to are kept.
SELECT lance_create_table_tag('refs$t', 'first', 1);
SELECT t.tags('refs$t');
SELECT lance_delete_table_versions('refs$t', '{(,)}');
SELECT lance_delete_table_tag('refs$t', 'first'), lance_delete_table_tag('refs$t', 'a'), lance_delete_table_versions('refs$t', '{(,)}');
SELECT t.versions('refs$t'), t.tags('refs$t');
SELECT t.try($$SELECT lance_create_table_tag('refs$t', 'deleted', 1)$$);
-- Describing at a tag.
SELECT t.try($$SELECT location FROM lance_describe_table('refs$t', tag => 'theirs')$$);
SELECT t.try($$SELECT location FROM lance_describe_table('refs$t', tag => 'none')$$);
SELECT t.try($$SELECT location FROM lance_describe_table('refs$t', tag => 'theirs', version => 3)$$);
SELECT t.try($$SELECT location FROM lance_describe_table('refs$t', tag => 'theirs', branch => 'b')$$);
-- A branch, of a table that clients wrote.
SELECT format('cp -rL %s/tags.lance %s/real.lance && chmod -R u+w %2$s/real.lance && cat > /dev/null', :'fixtures', root) AS command FROM t.setting \gset
COPY (SELECT 1) TO PROGRAM :'command';
SELECT t.mask(location) FROM lance_register_table('refs$real', 'real.lance');
SELECT t.tags('refs$real'), t.versions('refs$real'), t.branches('refs$real');
SELECT lance_create_table_branch('refs$real', 'side');
SELECT t.ref('refs$real', '_refs/branches/side.json');
SELECT lance_create_table_branch('refs$real', 'feat/x.1', 'side'), lance_create_table_branch('refs$real', 'old', from_version => 1);
SELECT t.branches('refs$real');
SELECT branch, parent_branch, parent_version, created_at > now() - interval '1 h' AS made, manifest_size > 0 AS sized, metadata FROM lance_list_table_branches(ARRAY['refs', 'real']);
SELECT branch FROM lance_list_table_branches('refs$real', 'feat/x.1', 1);
SELECT branch, t.try(format('SELECT array_agg(version) FROM lance_list_table_versions(%L, branch => %L)', 'refs$real', branch)) FROM lance_list_table_branches('refs$real');
SELECT * FROM t.ls('refs$real', 'tree/feat/x.1/_versions');
SELECT t.try($$SELECT lance_create_table_branch('refs$real', 'side')$$);
SELECT t.try($$SELECT lance_create_table_branch('refs$real', 'x', 'nowhere')$$);
SELECT t.try($$SELECT lance_create_table_branch('refs$real', 'x', from_version => 99)$$);
SELECT t.try($$SELECT lance_create_table_branch('refs$real', 'x', from_version => -1)$$);
SELECT t.try($$SELECT lance_create_table_branch('refs$nothing', 'x')$$);
SELECT t.try(format('SELECT lance_create_table_branch(%L, %L)', 'refs$real', n)) FROM unnest(ARRAY[NULL, '', 'main', '/x', 'x/', 'a//b', 'a/../b', 'a b', 'ä', 'a.lock', 'side/data', 'main/x']) n;
-- What is no manifest can't be begun at.
SELECT t.try($$SELECT lance_create_table_branch('refs$t', 'x')$$);
SELECT lance_create_table_tag('refs$real', 'on-side', (SELECT version FROM lance_describe_table_version('refs$real', branch => 'side')), 'side');
SELECT t.tags('refs$real');
SELECT version, branch FROM lance_get_table_tag_version('refs$real', 'on-side');
-- Foreign tables at a branch and at a tag, in the catalog and by URI; all read the parent's files.
SELECT lance_attach_table('refs$real', 't', 'real_' || kind, branch => branch, tag => tag) FROM (VALUES
	('main', NULL, NULL), ('side', 'side', NULL), ('feat', 'feat/x.1', NULL), ('old', 'old', NULL), ('at_first', NULL, 'first'), ('at_side', NULL, 'on-side')) v (kind, branch, tag);
SELECT lance_attach_dataset(t.location('refs$real'), 'lake', 't', 'uri_' || kind, branch => branch, tag => tag) FROM (VALUES
	('feat', 'feat/x.1', NULL), ('at_first', NULL, 'first'), ('at_side', NULL, 'on-side')) v (kind, branch, tag);
SELECT relname, ftoptions FROM pg_foreign_table JOIN pg_class ON oid = ftrelid WHERE relname LIKE 'real\_%' ORDER BY 1;
CREATE FUNCTION t.count_all() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r regclass;
	n bigint;
	result text := '';
BEGIN
	FOR r IN SELECT oid FROM pg_class WHERE relname ~ '^(real|uri)_' AND relkind = 'f' ORDER BY relname LOOP
		EXECUTE format('SELECT count(*) FROM %s', r) INTO n;
		result := concat_ws(' ', result, r || '=' || n);
	END LOOP;
	RETURN result;
END
$$;
SELECT t.count_all();
SELECT t.try($$SELECT lance_attach_table('refs$real', 't', 'x', tag => 'none')$$);
SELECT t.try($$SELECT lance_attach_table('refs$real', 't', 'x', tag => 'first', version => 1)$$);
SELECT t.try($$SELECT lance_attach_dataset(t.location('refs$real'), 'lake', 't', 'x', tag => 'none')$$);
SELECT t.try($$SELECT lance_attach_dataset(t.location('refs$real'), 'lake', 't', 'x', tag => 'a b')$$);
ALTER FOREIGN TABLE t.real_at_first OPTIONS (ADD version '1');
-- A moved tag is followed by the next statement; a REPEATABLE READ transaction stays where it was.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT t.count_all();
SELECT t.write('refs$real', '_refs/tags/first.json', translate(replace(t.read('refs$real', '_refs/tags/first.json'), '"version": 1', '"version": 2'), E'\n', ' '));
SELECT t.count_all();
COMMIT;
SELECT t.count_all();
-- What stands on a branch keeps it.
SELECT t.try($$SELECT lance_delete_table_branch('refs$real', 'side')$$);
SELECT lance_delete_table_branch('refs$real', 'feat/x.1');
SELECT t.try($$SELECT lance_delete_table_branch('refs$real', 'side')$$);
SELECT lance_delete_table_tag('refs$real', 'on-side');
BEGIN;
SELECT lance_delete_table_branch('refs$real', 'side');
SELECT t.branches('refs$real'), t.try($$SELECT * FROM lance_list_table_versions('refs$real', branch => 'side')$$);
ROLLBACK;
SELECT t.branches('refs$real');
SELECT lance_delete_table_branch('refs$real', 'side');
SELECT t.branches('refs$real'), t.try($$SELECT * FROM lance_list_table_versions('refs$real', branch => 'side')$$);
SELECT t.try($$SELECT lance_delete_table_branch('refs$real', 'side')$$);
SELECT t.try($$SELECT lance_delete_table_branch('refs$real', 'main')$$);
SELECT kind, branch FROM lance.cleanup_queue WHERE kind = 'branch' ORDER BY branch;
-- The name can be taken again before its files are removed, and is safe from the queue then.
SELECT lance_create_table_branch('refs$real', 'side', from_version => 1);
SELECT kind, branch FROM lance.cleanup_queue WHERE kind = 'branch' ORDER BY branch;
SELECT failed FROM lance_run_cleanup();
SELECT * FROM t.ls('refs$real', 'tree/side/_versions');
SELECT count(*) FROM t.ls('refs$real', 'tree/feat');
SELECT count(*) FROM t.real_side;
-- Branches within branches: each takes its own files with it.
SELECT lance_create_table_branch('refs$real', 'side/inner'), lance_create_table_branch('refs$real', 'side/inner/most');
SELECT lance_delete_table_branch('refs$real', 'side/inner');
SELECT failed FROM lance_run_cleanup();
SELECT folder, array_agg(f) FROM unnest(ARRAY['tree/side', 'tree/side/inner', 'tree/side/inner/most']) folder, LATERAL t.ls('refs$real', folder) f GROUP BY folder ORDER BY folder;
SELECT lance_delete_table_branch('refs$real', 'side/inner/most'), lance_delete_table_branch('refs$real', 'side');
SELECT failed FROM lance_run_cleanup();
SELECT * FROM t.ls('refs$real', 'tree');
-- Versions that an interrupted creation left: nobody takes them over unseen, and they can be removed.
SELECT t.write('refs$real', 'tree/left/' || t.v2(1), 'left');
SELECT t.try($$SELECT lance_create_table_branch('refs$real', 'left')$$);
SELECT lance_delete_table_branch('refs$real', 'left');
SELECT lance_create_table_branch('refs$real', 'left');
SELECT t.try($$SELECT array_agg(version) FROM lance_list_table_versions('refs$real', branch => 'left')$$);
-- A crash in the last step of a transaction: the branch has its file, or it never was.
CREATE FUNCTION t.crashed(branch text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	folder text := 'tree/' || branch || '/';
BEGIN
	PERFORM t.write('refs$real', folder || replace(t.v2(3), 'manifest', '0123456789abcdef.intent'),
		encode(sha256(pg_read_binary_file(t.location('refs$real') || '/' || folder || t.v2(3))), 'hex'));
	DELETE FROM lance.version_entry v WHERE v.branch = crashed.branch;
END
$$;
SELECT lance_create_table_branch('refs$real', 'whole'), lance_create_table_branch('refs$real', 'half');
SELECT t.crashed('whole'), t.crashed('half'), t.remove('refs$real', '_refs/branches/half.json');
SELECT b, t.try(format('SELECT array_agg(version) FROM lance_list_table_versions(%L, branch => %L)', 'refs$real', b)) FROM unnest(ARRAY['whole', 'half']) b;
SELECT lance_delete_table_versions('refs$real', '{(,)}', 'whole');
SELECT lance_create_table_branch('refs$real', 'half', from_version => 2);
SELECT b, t.try(format('SELECT array_agg(version) FROM lance_list_table_versions(%L, branch => %L)', 'refs$real', b)) FROM unnest(ARRAY['whole', 'half']) b;
SELECT * FROM t.ls('refs$real', 'tree/half/_versions') f WHERE f LIKE '%.manifest';
SELECT lance_delete_table_branch('refs$real', 'whole'), lance_delete_table_branch('refs$real', 'half');
-- All with the transaction: a branch, a tag, a row beside.
SELECT version AS newest FROM lance_describe_table_version('refs$real') \gset
BEGIN;
INSERT INTO t.beside VALUES (1);
SELECT lance_create_table_branch('refs$real', 'both'), lance_create_table_tag('refs$real', 'both', :newest);
ROLLBACK;
SELECT t.branches('refs$real'), count(*) FROM t.beside;
SELECT count(*) FROM t.ls('refs$real', 'tree/both');
BEGIN;
SELECT lance_create_table_branch('refs$real', 'both'), lance_create_table_tag('refs$real', 'both', :newest);
SELECT t.write('refs$real', '_refs/tags/both.json', '{"version":3,"manifestSize":1}');
\set VERBOSITY sqlstate
COMMIT;
\set VERBOSITY default
SELECT t.branches('refs$real');
SELECT * FROM t.ls('refs$real', 'tree/both/_versions');
SELECT lance_delete_table_tag('refs$real', 'both');
BEGIN;
INSERT INTO t.beside VALUES (1);
SELECT lance_create_table_branch('refs$real', 'both'), lance_create_table_tag('refs$real', 'both', :newest);
SELECT lance_create_table_branch('refs$real', 'brief'), lance_delete_table_branch('refs$real', 'brief');
COMMIT;
SELECT t.branches('refs$real'), t.tags('refs$real'), count(*) FROM t.beside;
SELECT failed FROM lance_run_cleanup();
SELECT * FROM t.ls('refs$real', 'tree');
-- A version of the same transaction can be tagged, and branched from; it stands or falls with them.
BEGIN;
SELECT t.create_version('refs$t', 4, 'four');
SELECT lance_create_table_tag('refs$t', 'fresh', 4), lance_update_table_tag('refs$t', 'fresh', 3), lance_update_table_tag('refs$t', 'fresh', 4);
SAVEPOINT s;
SELECT t.create_version('refs$t', 5, 'five');
SELECT lance_create_table_tag('refs$t', 'fresher', 5);
ROLLBACK TO s;
SELECT t.try($$SELECT lance_create_table_tag('refs$t', 'fresher', 5)$$);
COMMIT;
SELECT t.tags('refs$t'), t.versions('refs$t');
SELECT regexp_replace(t.ref('refs$t', '_refs/tags/fresh.json'), '"createdAt.*"manifestSize"', 'TIMES, "manifestSize"');
BEGIN;
SELECT transaction_id IS NOT NULL FROM lance_update_table_schema_metadata('refs$real', '{"made": "here"}');
SELECT lance_create_table_branch('refs$real', 'fresh'), lance_create_table_branch('refs$real', 'fresh2', from_version => :newest + 1);
SELECT lance_create_table_tag('refs$real', 'fresh', :newest + 1);
ROLLBACK;
SELECT t.branches('refs$real'), t.tags('refs$real');
BEGIN;
SELECT transaction_id IS NOT NULL FROM lance_update_table_schema_metadata('refs$real', '{"made": "here"}');
SELECT lance_create_table_branch('refs$real', 'fresh'), lance_create_table_branch('refs$real', 'fresh2', from_version => :newest + 1);
SELECT lance_create_table_tag('refs$real', 'fresh', :newest + 1);
COMMIT;
SELECT t.branches('refs$real'), t.tags('refs$real');
SELECT b, (SELECT version FROM lance_describe_table_version('refs$real', branch => b)) - :newest AS ahead FROM unnest(ARRAY['fresh', 'fresh2']) b;
SELECT lance_delete_table_branch('refs$real', b) FROM unnest(ARRAY['fresh', 'fresh2']) b;
-- Views. What no right was given for is refused.
SELECT namespace, table_name, tag, version, branch FROM lance.tags WHERE namespace = 'refs' ORDER BY table_name, tag;
SELECT namespace, table_name, branch, parent_branch, parent_version FROM lance.branches WHERE namespace = 'refs' ORDER BY table_name, branch;
CREATE ROLE refs_reader;
SELECT lance_grant('refs_reader', 'read');
SET ROLE refs_reader;
SELECT count(*) FROM lance.tags WHERE table_name = 'none';
SELECT lance_create_table_tag('refs$t', 'x', 3);
SELECT lance_create_table_branch('refs$t', 'x');
RESET ROLE;
-- Rename keeps them; the table takes them with it.
SELECT lance_rename_table('refs$real', 'renamed');
SELECT t.tags('refs$renamed'), t.branches('refs$renamed');
SELECT lance_drop_namespace('refs', behavior => 'Cascade');
SELECT failed FROM lance_run_cleanup();
DROP OWNED BY refs_reader;
DROP ROLE refs_reader;
SET client_min_messages = warning;
DROP FOREIGN TABLE t.real_main, t.real_side, t.real_feat, t.real_old, t.real_at_first, t.real_at_side, t.uri_feat, t.uri_at_first, t.uri_at_side;
DROP TABLE t.beside;
