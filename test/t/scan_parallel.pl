# Parallel scans: workers read the leader's version, whatever becomes of the dataset meanwhile, with keys of their own; they stop with it.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib "$FindBin::RealBin/lib";
use File::Copy qw(copy move);
use LanceStore;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::RecursiveCopy;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $fixtures = ($ENV{LANCE_FIXTURES} || "$FindBin::RealBin/../data/fixtures") . '/data';
my $node = PostgreSQL::Test::Cluster->new('parallel');
my $store = LanceStore->start(lifetime => 3600, trusted => ['AKMAIN']);
my $root = PostgreSQL::Test::Utils::tempdir;

$node->init;
$node->append_conf('postgresql.conf', join("\n", "shared_preload_libraries = 'lance_catalog'", 'lance_catalog.rest_workers = 0', 'parallel_setup_cost = 0',
	'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0', 'enable_material = off', 'jit = off', ''));
$node->start;
sub sql { return $node->safe_psql('postgres', join('; ', @_)) }

# Copies of files that are read-only, so that they can be taken away again.
sub dataset
{
	my ($from, $to) = @_;

	PostgreSQL::Test::RecursiveCopy::copypath("$fixtures/$from.lance", "$root/$to.lance");
	system('chmod', '-R', 'u+w', "$root/$to.lance") == 0 or die;
}

sub background
{
	my ($out, $err) = ('', '');
	my @commands = map { ('-c', $_) } @_;

	return [ IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), @commands ], '>', \$out, '2>', \$err), \$out, \$err ];
}

sub result
{
	my ($run) = @_;

	$run->[0]->finish;
	return (${ $run->[1] }, ${ $run->[2] });
}

# The aggregate is made anew for each row of the outer side, by new workers each time.
sub again_and_again
{
	my ($table) = @_;

	return "SELECT string_agg(q.s, ' ' ORDER BY o.n) FROM (SELECT n, pg_sleep(0.3)::text AS x FROM generate_series(1, 6) n OFFSET 0) o
		LEFT JOIN (SELECT count(*) || '/' || sum(id) AS s FROM $table WHERE id % 1 = 0 OFFSET 0) q ON q.s <> o.x";
}

sql('CREATE EXTENSION lance_catalog', "CREATE SERVER local FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 'file://$root')",
	"CREATE SERVER remote FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://bucket/lake', endpoint '$store->{url}', allow_http 'true', credentials 'sts')",
	"CREATE USER MAPPING FOR postgres SERVER remote OPTIONS (access_key_id 'AKMAIN', secret_access_key 'main-secret')");

# ---- a version that appears while it runs
my $newest = '18446744073709551608.manifest';
dataset('many_versions', 'many');
move("$root/many.lance/_versions/$newest", "$root/$newest") or die;
unlink "$root/many.lance/_versions/latest_version_hint.json";
sql("SELECT lance_attach_dataset('file://$root/many.lance', 'local', 'public', 'many')");
my $before = sql("SELECT count(*) || '/' || sum(id) FROM many");
my $plan = sql('EXPLAIN ' . again_and_again('many'));
like($plan, qr/Nested Loop Left Join.*Gather.*Parallel Foreign Scan on many/s, 'workers are started for each row');
my $run = background(again_and_again('many'));
sleep 0.8;
copy("$root/$newest", "$root/many.lance/_versions/.coming") or die;
rename("$root/many.lance/_versions/.coming", "$root/many.lance/_versions/$newest") or die;
my ($out, $err) = result($run);
is($out, join(' ', ($before) x 6) . "\n", 'workers read the version that the query began with') or diag($err);
isnt(sql("SELECT count(*) || '/' || sum(id) FROM many"), $before, 'the next query reads the new one');

# ---- another dataset in its place, of the same version
dataset('many_versions', 'gone');
unlink glob("$root/gone.lance/_versions/1844674407370955{160,1610,1611}*.manifest"), "$root/gone.lance/_versions/latest_version_hint.json";
sql("SELECT lance_attach_dataset('file://$root/gone.lance', 'local', 'public', 'gone')");
dataset('del_bitmap', 'other');
my $prepared = 'SET plan_cache_mode = force_generic_plan; PREPARE p AS ' . again_and_again('gone');
foreach my $case ([ 'replaced', sub { rename("$root/other.lance", "$root/gone.lance") or die }, qr/was replaced while the query was reading it/ ],
	[ 'gone', sub { }, qr/no such|not exist|not found|has no version/i ])
{
	my ($name, $put, $error) = @$case;

	# Planned with the leader's help, run by workers alone.
	$run = background($prepared, 'EXPLAIN EXECUTE p', 'SET parallel_leader_participation = off', 'EXECUTE p');
	sleep 0.9;
	rename("$root/gone.lance", "$root/old.lance") or die;
	$put->();
	($out, $err) = result($run);
	like($out, qr/Parallel Foreign Scan on gone/, "$name: workers read it");
	unlike($out, qr{\d/\d}, "$name: no rows of another table");
	like($err, $error, "$name: an error says why");
	rename("$root/gone.lance", "$root/other.lance") if -d "$root/gone.lance";
	rename("$root/old.lance", "$root/gone.lance") or die;
}
like(sql(again_and_again('gone')), qr{^(\d+/\d+)( \1){5}$}, 'it is read again when it is back');

# ---- keys that expire, which each worker asks for by itself
$store->put_folder("$fixtures/multifrag_p14_default.lance", 'lake/many.lance');
sql("SELECT lance_attach_dataset('s3://bucket/lake/many.lance', 'remote', 'public', 'remote_many')");
my $explained = sql('EXPLAIN (ANALYZE) SELECT count(*), sum(id) FROM remote_many WHERE id % 2 = 0');
like($explained, qr/Workers Launched: [1-9].*Parallel Foreign Scan on remote_many.*Lance Rows: 550\n/s, 'all rows of an object store');
is(sql('SELECT count(*), sum(id) FROM remote_many WHERE id % 2 = 0'), sql('SET max_parallel_workers_per_gather = 0', 'SELECT count(*), sum(id) FROM remote_many WHERE id % 2 = 0'),
	'the same as those of one process');
sql('CREATE ROLE stranger LOGIN', 'GRANT SELECT ON remote_many TO stranger', 'GRANT USAGE ON FOREIGN SERVER remote TO stranger');
my $ret;
($ret, $out, $err) = $node->psql('postgres', 'SET ROLE stranger; SELECT count(*), sum(id) FROM remote_many WHERE id % 2 = 0');
isnt($ret, 0, 'a role without keys of its own reads nothing');
unlike("$out$err", qr/main-secret|vended-/, 'and no secret is shown');
sql('CREATE VIEW seen AS SELECT id FROM remote_many WHERE id % 2 = 0', 'GRANT SELECT ON seen TO stranger');
is(sql('SET ROLE stranger', 'SELECT count(*) FROM seen'), sql('SELECT count(*) FROM seen'), "through a view the workers use its owner's");

# ---- cancelled: workers end with the query
dataset('del_bitmap', 'slow');
sql("SELECT lance_attach_dataset('file://$root/slow.lance', 'local', 'public', 'slow')");
like(sql('EXPLAIN SELECT count(*) FROM slow WHERE pg_sleep(0.01) IS NULL'), qr/Parallel Foreign Scan on slow/, 'slow rows are shared');
$run = background("SET statement_timeout = '700ms'", 'SELECT count(*) FROM slow WHERE pg_sleep(0.01) IS NULL');
ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker'}), 'workers are at it');
($out, $err) = result($run);
like($err, qr/canceling statement due to statement timeout/, 'the query is cancelled');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker'}), 'and they are gone');
($ret, $out, $err) = $node->psql('postgres', 'SELECT sum(1 / (id - 7)) FROM slow WHERE id % 2 = 1');
like($err, qr/division by zero/, "an error of a worker is the query's");
is(sql('SELECT count(*) FROM slow WHERE id % 2 = 1'), sql('SET max_parallel_workers_per_gather = 0', 'SELECT count(*) FROM slow WHERE id % 2 = 1'), 'and the next one is answered');

$node->stop('fast');
$store->stop;
done_testing();
