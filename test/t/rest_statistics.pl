# rest_statistics.pl
#	  What the server tells of itself: calls of the operations, workers, the progress of the cleanup.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use LanceRest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $rest = LanceRest->start('statistics', 'log_min_messages = fatal');
my $node = $rest->{node};

sub sql
{
	my ($text) = @_;

	return $node->safe_psql('postgres', $text);
}

sub wait_for
{
	my ($text, $expected) = @_;

	for (1 .. 100)
	{
		return 1 if sql($text) eq $expected;
		sleep 0.2;
	}
	diag(sql($text));
	return 0;
}

# ---- calls
$rest->expect('a namespace', 200, undef, 'POST', '/v1/namespace/a/create', body => {});
sql('SELECT lance_reset_statistics()');
is(sql('SELECT count(*) FROM lance.rest_statistics'), '0', 'reset: nothing was called');
$rest->expect('it exists', 200, undef, 'POST', '/v1/namespace/a/exists', body => {}) for 1 .. 3;
$rest->expect('another does not', 404, 1, 'POST', '/v1/namespace/b/exists', body => {});
$rest->expect('without a key', 401, 16, 'POST', '/v1/namespace/a/exists', body => {}, key => undef);
$rest->expect('the tables', 200, undef, 'GET', '/v1/table');
is(sql("SELECT operation, calls, errors FROM lance.rest_statistics ORDER BY 1"),
	"ListAllTables|1|0\nNamespaceExists|5|2", 'calls and errors are counted');
is(sql("SELECT bool_and(total_time >= max_time AND max_time >= mean_time AND max_time > '0') AND count(DISTINCT since) = 1
	FROM lance.rest_statistics"), 't', 'so are times');

# ---- workers
is(sql("SELECT worker, count(*) FROM lance.rest_activity WHERE operation IS NULL AND waits_for IS NULL GROUP BY 1 ORDER BY 1"),
	"lance_catalog REST executor|1\nlance_catalog REST worker|2\nlance_catalog cleanup worker|1", 'idle workers are shown');
my $blocker = $node->background_psql('postgres');
$blocker->query_safe('BEGIN; LOCK TABLE lance.catalog_entry IN ACCESS EXCLUSIVE MODE');
my $child = fork();
if ($child == 0)
{
	$rest->call('POST', '/v1/namespace/a/describe', body => {});
	require POSIX;
	POSIX::_exit(0);
}
ok(wait_for("SELECT operation, waits_for FROM lance.rest_activity WHERE operation IS NOT NULL", 'DescribeNamespace|relation'),
	'a worker shows its operation, and what it waits for');
$blocker->query_safe('COMMIT');
$blocker->quit;
waitpid($child, 0);

# ---- who may see them
sql("CREATE ROLE viewer LOGIN; CREATE ROLE user_of_schema LOGIN; GRANT USAGE ON SCHEMA lance TO user_of_schema;
	SELECT lance_grant('viewer', 'read')");
is(sql("SET ROLE viewer; SELECT (SELECT count(*) FROM lance.rest_activity), (SELECT count(*) > 0 FROM lance.rest_statistics)"),
	'4|t', 'a role with read access sees workers and calls');
for my $view ('rest_activity', 'rest_statistics')
{
	my ($status, $out, $err) = $node->psql('postgres', "SET ROLE user_of_schema; SELECT * FROM lance.$view");
	like($err, qr/permission denied for function/, "$view: others don't");
}
my ($status, $out, $err) = $node->psql('postgres', 'SET ROLE viewer; SELECT lance_reset_statistics()');
like($err, qr/permission denied/, 'nor may readers reset them');
($status, $out, $err) = $node->psql('postgres', 'SET ROLE viewer; SELECT * FROM lance.cleanup_summary');
like($err, qr/permission denied/, 'the cleanup is the administrator\'s');

# ---- cleanup
is(sql('SELECT pending, failing, last_error, items_done, files_removed FROM lance.cleanup_summary'), '0|0||0|0', 'nothing to clean up');
sql("SELECT lance_create_namespace('run')");
sql("SELECT count(*) FROM generate_series(1, 300) i, lance_declare_table('run\$t' || i)");
for my $location (split /\n/, sql("SELECT location FROM lance.tables WHERE namespace = 'run' AND table_name ~ '0\$'"))
{
	system('mkdir', '-p', "$location/data");
	append_to_file("$location/data/x.lance", 'x');
}
sql("SELECT lance_drop_namespace('run', behavior => 'Cascade')");
ok(wait_for('SELECT pending, failing, items_done, items_failed, files_removed FROM lance.cleanup_summary', '0|0|300|0|30'),
	'a namespace with hundreds of tables is dropped, its files are removed, and the summary says so');
sql("SELECT lance_create_namespace('run'); SELECT 1 FROM lance_declare_table('run\$t')");
sql("ALTER SERVER lake OPTIONS (SET root 'file:///nowhere'); SELECT lance_drop_namespace('run', behavior => 'Cascade')");
ok(wait_for("SELECT pending, failing, last_error LIKE '%lies outside the root of server \"lake\"', next_try IS NOT NULL, items_failed > 0 FROM lance.cleanup_summary",
	'1|1|t|t|t'), 'what fails is shown with its error');
sql("ALTER SERVER lake OPTIONS (SET root 'file://$rest->{root}')");
is(sql('SELECT done, failed FROM lance_run_cleanup()'), '1|0', 'and goes when it can');
sql('SELECT lance_reset_statistics()');
is(sql('SELECT items_done, items_failed, files_removed FROM lance.cleanup_summary'), '0|0|0', 'the reset holds for the cleanup too');

# ---- without the library preloaded there is nothing to see
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
is(sql('SELECT (SELECT count(*) FROM lance.rest_activity), (SELECT count(*) FROM lance.rest_statistics)'), '0|0', 'no workers, no calls');
is(sql('SELECT pending, items_done FROM lance.cleanup_summary'), '0|', 'the queue is shown all the same');
($status, $out, $err) = $node->psql('postgres', 'SELECT lance_reset_statistics()');
like($err, qr/no statistics are kept.*shared_preload_libraries/s, 'nor anything to reset');

done_testing();
