# A scan that waits for a store that accepts connections and never answers: cancel, timeout, terminate, shutdown.
use strict;
use warnings;
use IO::Socket::INET;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

# The mute store: a socket that is listened on and never served; the kernel accepts connections for it.
my $mute = IO::Socket::INET->new(Listen => 100, LocalAddr => '127.0.0.1', LocalPort => 0, Proto => 'tcp') or die $!;
my $port = $mute->sockport;

my $node = PostgreSQL::Test::Cluster->new('waits');
$node->init;
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION lance_catalog;
	CREATE SERVER mute FOREIGN DATA WRAPPER lance_fdw
		OPTIONS (root 's3://bucket', endpoint 'http://127.0.0.1:$port', allow_http 'true');
	CREATE FOREIGN TABLE waits (id bigint) SERVER mute OPTIONS (uri 's3://bucket/x.lance');
});

my %statements = (
	'a scan' => 'SELECT * FROM waits',
	'EXPLAIN' => 'EXPLAIN SELECT * FROM waits',
	'ANALYZE' => 'ANALYZE waits',
	'attach' => q{SELECT lance_attach_dataset('s3://bucket/x.lance', 'mute', 'public', 'x')});

# Run a statement in a session of its own; returns the handle and the session's process.
sub session
{
	my ($name, $sql) = @_;
	my $h = { out => '', err => '' };
	$h->{run} = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres') . " application_name='$name'", '-c', $sql, '-c',
			"SELECT 'goes on'" ], '>', \$h->{out}, '2>', \$h->{err});
	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = '$name' AND state = 'active'")
		or die "session $name did not start";
	sleep 0.3;
	return $h;
}

foreach my $what (sort keys %statements)
{
	my $start = time;
	my ($ret, $out, $err) = $node->psql('postgres',
		"SET statement_timeout = '300ms'; $statements{$what}; RESET statement_timeout; SELECT 'goes on'", on_error_stop => 0);
	like($err, qr/canceling statement due to statement timeout/, "$what: statement_timeout stops it");
	ok(time - $start < 2, "$what: within a second of it");
	like($out, qr/goes on/, "$what: the session goes on after the timeout");

	my $h = session('cancelled', $statements{$what});
	$start = time;
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'cancelled'");
	$h->{run}->finish;
	ok(time - $start < 1, "$what: pg_cancel_backend stops it within a second");
	like($h->{err}, qr/canceling statement due to user request/, "$what: by the usual message");
	like($h->{out}, qr/goes on/, "$what: the session goes on after the cancel");
}

# The store's own time limit and retries, then an error that names the object.
my ($ret, $out, $err) = $node->psql('postgres', q{
	SET lance_catalog.store_timeout = '300ms'; SET lance_catalog.store_retries = 1; SELECT * FROM waits});
like($err, qr{ERROR: .*s3://bucket/x\.lance}, 'a store that stays mute is an error that names the place');

my $h = session('terminated', $statements{'a scan'});
my $start = time;
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'terminated'");
$h->{run}->finish;
ok(time - $start < 5, 'pg_terminate_backend ends it');

$h = session('shut down', $statements{'ANALYZE'});
$start = time;
$node->stop('fast');
ok(time - $start < 10, 'a fast shutdown does not wait for the store');
$h->{run}->finish;
$node->start;
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_foreign_table'), '1', 'and the server starts again');
$node->stop;
done_testing();
