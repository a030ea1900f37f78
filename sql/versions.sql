--
-- Versions: the commit protocol, adoption, damage, deletion.
--
SELECT 1 FROM lance_declare_table('v');
SELECT t.versions('v');
SELECT t.try($$SELECT * FROM lance_describe_table_version('v')$$);
-- The first is 1; each next one the next.
SELECT t.create_version('v', 2, 'two');
SELECT t.create_version('v', 1, 'one');
SELECT t.create_version('v', 2, 'two');
SELECT t.create_version('v', 4, 'four');
SELECT t.versions('v'), t.read('v', t.v2(1)), t.read('v', t.v2(2));
SELECT version, t.mask(manifest_path) AS manifest_path, manifest_size, e_tag, committed_at IS NOT NULL AS timed, metadata
FROM lance_describe_table_version('v');
-- Staged files go after commit.
SELECT * FROM t.ls('v', '_versions');
SELECT done, failed FROM lance_run_cleanup();
SELECT * FROM t.ls('v', '_versions');
-- The same again is our own success, by the staged path or by the bytes; anything else is a lost race.
SELECT t.try(format('SELECT version FROM lance_create_table_version(%L, 2, %L)', 'v', substr(t.location('v'), 2) || '/' || t.v2(2) || '-two'));
SELECT t.try(format('SELECT version FROM lance_create_table_version(%L, 2, %L)', 'v', t.stage('v', 2, 'two')));
SELECT t.create_version('v', 2, 'other');
SELECT t.create_version('v', 1, 'other');
SELECT t.create_version('v', 1, 'one');
SELECT t.versions('v'), t.read('v', t.v2(2));
-- The staged path used again for other bytes is no resent request.
SELECT t.write('v', t.v2(2) || '-two', 'other');
SELECT t.try(format('SELECT version FROM lance_create_table_version(%L, 2, %L)', 'v', substr(t.location('v'), 2) || '/' || t.v2(2) || '-two'));
SELECT t.remove('v', t.v2(2) || '-two');
-- What can't be a version, or be staged.
SELECT t.try($$SELECT * FROM lance_create_table_version('v', NULL, 'x')$$);
SELECT t.try($$SELECT * FROM lance_create_table_version('v', 0, 'x')$$);
SELECT t.try($$SELECT * FROM lance_create_table_version('v', -1, 'x')$$);
SELECT t.try($$SELECT * FROM lance_create_table_version('v', 3, NULL)$$);
SELECT t.try($$SELECT * FROM lance_create_table_version('v', 3, '')$$);
SELECT t.try($$SELECT * FROM lance_create_table_version('v', 3, 'x', naming_scheme => 'V3')$$);
SELECT 1 FROM lance_declare_table('w');
SELECT t.stage('w', 3, 'bait') AS bait \gset
SELECT t.mask(p) AS path, t.try(format('SELECT * FROM lance_create_table_version(%L, 3, %L)', 'v', replace(p, 'OWN', substr(t.location('v'), 2)))) FROM unnest(ARRAY[
	:'bait', 'OWN/_versions/nothing-here', 'OWN/_versions/', 'OWN/_versions', 'OWN/x', '//OWN/_versions/x', 'file:///OWN/_versions/x',
	'OWN/_versions/../x', 'OWN/_versions/x/y', 'OWN/_versions/.x', 'OWN/_versions//x', 'OWN/tree/b/_versions/x', 'OWNx/_versions/x',
	'OWN/_versions/18446744073709551612.manifest', 'OWN/_versions/3.manifest', 'OWN/_versions/d3.manifest',
	'OWN/_versions/latest_version_hint.json', 'x']) p;
SELECT t.read('w', t.v2(3) || '-bait');
SELECT t.versions('v'), t.versions('w');
-- A leading slash, and letters as object stores spell them, are tolerated.
SELECT t.try(format('SELECT version, metadata FROM lance_create_table_version(%L, 3, %L, metadata => %L)', 'v', '/' || t.stage('v', 3, 'three'), '{"m": "1"}'));
-- Pages.
SELECT version FROM lance_list_table_versions('v', descending => true);
SELECT version FROM lance_list_table_versions('v', descending => true, "limit" => 1);
SELECT version FROM lance_list_table_versions('v', descending => true, "limit" => 2);
SELECT version FROM lance_list_table_versions('v', descending => true, "limit" => 2, page_token => '2');
SELECT version FROM lance_list_table_versions('v', "limit" => 2, page_token => '1');
SELECT t.try($$SELECT * FROM lance_list_table_versions('v', page_token => 'x')$$);
SELECT t.try($$SELECT * FROM lance_list_table_versions('v', page_token => '-1')$$);
SELECT t.try($$SELECT * FROM lance_list_table_versions('v', "limit" => 0)$$);
-- Written past the catalog: seen at once, recorded by the next writer, built upon.
SELECT t.write('v', t.v2(4), 'beside');
SELECT t.versions('v'), (SELECT count(*) FROM lance.table_versions WHERE table_name = 'v');
SELECT version FROM lance_describe_table_version('v', 4);
BEGIN READ ONLY;
SELECT t.versions('v'), version FROM lance_describe_table_version('v');
SELECT t.try($$SELECT lance_delete_table_versions('v', '{[1,2)}')$$);
COMMIT;
SELECT t.create_version('v', 4, 'late');
SELECT t.create_version('v', 5, 'five');
SELECT version, manifest_size, adopted, metadata FROM lance.table_versions WHERE table_name = 'v' ORDER BY version;
SELECT t.read('v', t.v2(4));
-- A transaction that rolls back, or a savepoint that does, leaves no version; one version a transaction.
BEGIN;
SELECT t.create_version('v', 6, 'six');
SELECT t.versions('v');
SELECT t.create_version('v', 6, 'six');
SELECT t.write('v', t.v2(6) || '-six', 'other');
SELECT t.try(format('SELECT version FROM lance_create_table_version(%L, 6, %L)', 'v', substr(t.location('v'), 2) || '/' || t.v2(6) || '-six'));
SELECT t.create_version('v', 7, 'seven');
SELECT t.create_version('w', 1, 'seven');
ROLLBACK;
SELECT t.versions('v'), t.read('v', t.v2(6)) IS NULL AS nothing_there;
BEGIN;
SAVEPOINT s;
SELECT t.create_version('v', 6, 'six');
ROLLBACK TO s;
SELECT t.create_version('v', 6, 'sixth');
COMMIT;
SELECT t.versions('v'), t.read('v', t.v2(6));
BEGIN;
SAVEPOINT s;
SELECT t.create_version('v', 7, 'seven');
RELEASE s;
SELECT lance_delete_table_versions('v', '{[7,8)}');
COMMIT;
SELECT t.versions('v'), t.read('v', t.v2(7)), adopted FROM lance.table_versions WHERE table_name = 'v' AND version = 7;
BEGIN;
SELECT t.create_version('v', 8, 'eight');
PREPARE TRANSACTION 'x';
SELECT t.versions('v');
-- Faster than us, past the catalog, just before the commit.
BEGIN;
SELECT t.create_version('v', 8, 'eight');
SELECT t.write('v', t.v2(8), 'faster');
\set VERBOSITY sqlstate
COMMIT;
\set VERBOSITY default
SELECT t.versions('v'), t.read('v', t.v2(8));
-- A writer that died after the manifest was written: the same request succeeds.
SELECT t.write('v', t.v2(9), 'nine');
SELECT t.create_version('v', 9, 'nine');
SELECT adopted FROM lance.table_versions WHERE table_name = 'v' AND version = 9;
-- Cleaned up by a client: older ones vanish.
SELECT t.remove('v', t.v2(1));
SELECT t.versions('v'), t.try($$SELECT * FROM lance_describe_table_version('v', 1)$$);
SELECT t.create_version('v', 10, 'ten');
-- The newest is lost: nobody goes on as if it had never been.
SELECT t.remove('v', t.v2(10));
SELECT t.versions('v');
SELECT t.try($$SELECT version FROM lance_describe_table_version('v')$$);
SELECT t.try($$SELECT version FROM lance_describe_table_version('v', 9)$$);
SELECT t.try($$SELECT version FROM lance_describe_table_version('v', 10)$$);
SELECT t.try($$SELECT version FROM lance_describe_table_version('v', 11)$$);
SELECT t.create_version('v', 10, 'again');
SELECT t.create_version('v', 11, 'eleven');
SELECT lance_delete_table_versions('v', '{[10,11)}');
SELECT t.versions('v');
SELECT t.create_version('v', 10, 'again');
-- Deleting: half-open ranges, never the newest, gone at once, files after commit.
SELECT lance_delete_table_versions('v', '{[1,4),[8,9)}');
SELECT t.versions('v'), t.try($$SELECT * FROM lance_describe_table_version('v', 3)$$);
SELECT t.read('v', t.v2(3));
SELECT t.create_version('v', 3, 'three');
SELECT done, failed, files_removed FROM lance_run_cleanup();
SELECT t.read('v', t.v2(3)), t.versions('v');
SELECT lance_delete_table_versions('v', '{[1,4),[8,9)}');
SELECT lance_delete_table_versions('v', '{}');
SELECT t.try($$SELECT lance_delete_table_versions('v', NULL)$$);
SELECT lance_delete_table_versions('v', '{[5,)}');
SELECT t.versions('v');
SELECT lance_delete_table_versions('v', '{(,)}');
SELECT t.versions('v'), count(*) FROM lance_run_cleanup();
-- V1 names are kept where the table has them.
SELECT 1 FROM lance_declare_table('one');
SELECT t.try(format('SELECT manifest_path FROM lance_create_table_version(%L, 1, %L, naming_scheme => %L)', 'one', t.stage('one', 1, 'a'), 'V1'));
SELECT t.create_version('one', 2, 'b');
SELECT * FROM t.ls('one', '_versions');
-- What is no version: staged, detached, the hint, folders.
SELECT t.write('one', '_versions/' || n, 'x') FROM unnest('{3.manifest-abc,d3.manifest,latest_version_hint.json,03.manifest,x.manifest,sub.d/3.manifest}'::text[]) n;
SELECT t.versions('one');
-- A branch is a chain of its own and begins anywhere.
SELECT t.try($$SELECT * FROM lance_list_table_versions('v', branch => 'side/one')$$);
SELECT t.try($$SELECT * FROM lance_describe_table_version('v', 1, branch => 'side/one')$$);
SELECT t.try($$SELECT * FROM lance_list_table_versions('v', branch => '../x')$$);
SELECT t.write('v', 'tree/side/one/' || t.v2(7) || '-s', 'side');
SELECT t.try(format('SELECT version, manifest_path FROM lance_create_table_version(%L, 7, %L, branch => %L)', 'v', substr(t.location('v'), 2) || '/tree/side/one/' || t.v2(7) || '-s', 'side/one'));
SELECT version FROM lance_list_table_versions('v', branch => 'side/one');
SELECT t.try($$SELECT version FROM lance_describe_table_version('v', 8, branch => 'side/one')$$);
SELECT t.versions('v');
SELECT branch, version FROM lance.table_versions WHERE table_name = 'v' ORDER BY branch, version;
SELECT count(*) FROM lance_describe_table('v', branch => 'side/one');
-- An old handle of a name that was dropped and declared again.
SELECT t.stage('w', 1, 'old life') AS old \gset
SELECT 1 FROM lance_deregister_table('w');
SELECT 1 FROM lance_declare_table('w');
SELECT t.try(format('SELECT * FROM lance_create_table_version(%L, 1, %L)', 'w', :'old'));
-- A rename takes the versions along; a dropped table's rows are gone.
SELECT lance_rename_table('one', 'uno');
SELECT t.versions('uno');
SELECT count(*) FROM lance_drop_table('uno');
SELECT count(*) FROM lance_drop_table('v');
SELECT count(*) FROM lance_drop_table('w');
SELECT count(*) FROM lance.version_entry;
SELECT failed FROM lance_run_cleanup();
