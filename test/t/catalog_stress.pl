# Sessions that create, drop, rename and commit at random over few names: every error is one that a client can
# expect, and afterwards names, tables, versions and files agree.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $root = PostgreSQL::Test::Utils::tempdir();
my $node = PostgreSQL::Test::Cluster->new('stress');
$node->init;
$node->append_conf('postgresql.conf', "lance_catalog.default_server = 'lake'\ndeadlock_timeout = 100ms\nfsync = off\n");
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION lance_catalog;
	CREATE SERVER lake FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 'file://$root');
	CREATE TABLE outcome (what text, state text);
	CREATE FUNCTION attempt(what text, query text) RETURNS void LANGUAGE plpgsql AS \$\$
	BEGIN
		EXECUTE query;
		INSERT INTO outcome VALUES (what, '00000');
	EXCEPTION WHEN OTHERS THEN
		INSERT INTO outcome VALUES (what, SQLSTATE || CASE WHEN SQLSTATE = 'XX000' THEN SQLERRM ELSE '' END);
	END \$\$;
	-- Stage a manifest of its own content and commit it as the next version.
	CREATE FUNCTION push(id text, content text) RETURNS void LANGUAGE plpgsql AS \$\$
	DECLARE
		folder text := (SELECT location FROM lance_describe_table(id)) || '/_versions';
		next bigint := coalesce((SELECT max(version) FROM lance_list_table_versions(id, "limit" => 1, descending => true)), 0) + 1;
	BEGIN
		EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', format('mkdir -p ''%s'' && cat > /dev/null', folder));
		EXECUTE format('COPY (SELECT %L) TO %L', content, folder || '/staged-' || content);
		PERFORM lance_create_table_version(id, next, substr(folder, 2) || '/staged-' || content);
	END \$\$;
});

my %script = (
	names => q{
\set n random(1, 3)
\set m random(1, 3)
\set t random(1, 3)
\set what random(1, 8)
\if :what = 1
SELECT attempt('create', format('SELECT lance_create_namespace(%L, ''ExistOk'')', 'n' || :n));
\elif :what = 2
SELECT attempt('create', format('SELECT lance_create_namespace(%L)', 'n' || :n || '$s'));
\elif :what = 3
SELECT attempt('drop namespace', format('SELECT lance_drop_namespace(%L, behavior => ''Cascade'')', 'n' || :n));
\elif :what = 4
SELECT attempt('drop namespace', format('SELECT lance_drop_namespace(%L)', 'n' || :n || '$s'));
\elif :what = 5
SELECT attempt('declare', format('SELECT lance_declare_table(%L)', 'n' || :n || '$s$t' || :t));
\elif :what = 6
SELECT attempt('declare', format('SELECT lance_declare_table(%L)', 'n' || :n || '$t' || :t));
\elif :what = 7
SELECT attempt('rename', format('SELECT lance_rename_table(%L, %L, %L)', 'n' || :n || '$t' || :t, 't' || :m, 'n' || :m));
\else
SELECT attempt('drop table', format('SELECT lance_drop_table(%L)', 'n' || :m || '$t' || :t));
\endif
},
	overwrite => q{
\set n random(1, 3)
SELECT attempt('overwrite', format('SELECT lance_create_namespace(%L, ''Overwrite'')', 'n' || :n));
SELECT attempt('cleanup', 'SELECT lance_run_cleanup(5)');
SELECT attempt('list', 'SELECT * FROM lance_list_all_tables()');
},
	register => q{
\set t random(1, 4)
\set r random(1, 1000000000)
SELECT attempt('register', format('SELECT lance_register_table(%L, %L, ''Overwrite'')', 'reg$t' || :t, 'reg/' || :r));
},
	push => q{
\set t random(1, 2)
\set r random(1, 1000000000)
SELECT attempt('push', format('SELECT push(%L, %L)', 'chain$t' || :t, :client_id || '-' || :r));
});

$node->safe_psql('postgres', q{SELECT lance_create_namespace('chain'); SELECT lance_create_namespace('reg');
	SELECT lance_declare_table('chain$t1'); SELECT lance_declare_table('chain$t2');});
my @files;
foreach my $name (sort keys %script)
{
	my $file = "$PostgreSQL::Test::Utils::tmp_check/$name.sql";
	append_to_file($file, $script{$name});
	push @files, '-f', "$file@" . ($name eq 'names' ? 20 : $name eq 'push' ? 6 : $name eq 'register' ? 10 : 1);
}
$node->command_ok(
	[ 'pgbench', '-n', '-c', '8', '-j', '2', '-T', '15', @files, $node->connstr('postgres') ], 'pgbench runs to its end');

# 23505: the name is taken. 40001: a lost race, of versions too. LN001, LN003, LN004: as they say.
is($node->safe_psql('postgres', q{
	SELECT what || ' ' || state FROM outcome
	WHERE state NOT IN ('00000', '23505', '40001', 'LN001', 'LN003', 'LN004') GROUP BY 1}), '', 'no other error');
is($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT what, ',' ORDER BY what) FROM outcome WHERE state = '00000'}),
	'cleanup,create,declare,drop namespace,drop table,list,overwrite,push,register,rename', 'all of it happened');
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM lance.catalog_entry e WHERE entry_id <> 0 AND NOT EXISTS (
		SELECT FROM lance.catalog_entry p WHERE p.entry_id = e.parent_id AND p.kind = 'namespace')}), '0', 'no orphan');
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM lance.catalog_entry e FULL JOIN lance.table_entry t ON t.table_id = e.entry_id
	WHERE (e.kind = 'table') IS DISTINCT FROM (t.table_id IS NOT NULL)}), '0', 'each table is one name and one place');
my $pushes = $node->safe_psql('postgres', q{SELECT count(*) FROM outcome WHERE what = 'push' AND state = '00000'});
is($node->safe_psql('postgres', q{
	SELECT sum(n) FROM (
		SELECT count(*) AS n FROM lance_list_table_versions('chain$t1') HAVING count(*) = max(version)
		UNION ALL
		SELECT count(*) FROM lance_list_table_versions('chain$t2') HAVING count(*) = max(version)) x}),
	$pushes, "each of $pushes acknowledged versions is there, without a gap");
is($node->safe_psql('postgres', q{
	SELECT count(DISTINCT pg_read_file('/' || manifest_path)) FROM unnest('{chain$t1,chain$t2}'::text[]) t, lance_list_table_versions(t)}),
	$pushes, 'and is what its writer staged');
$node->safe_psql('postgres', q{SELECT lance_drop_namespace(name, behavior => 'Cascade') FROM lance_list_namespaces();
	SELECT lance_run_cleanup()});
is($node->safe_psql('postgres', 'SELECT count(*) FROM lance.cleanup_queue'), '0', 'the cleanup queue is worked off');
my @left = split /\n/, `find '$root' -type f`;
is(scalar(@left), 0, 'no file of a dropped table is left') or diag("@left[0 .. ($#left < 9 ? $#left : 9)]");
done_testing();
