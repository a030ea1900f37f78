# rest_workers.pl
#	  The workers' life: restarts, idleness, time limits, extension and databases that come and go.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use LanceRest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $rest = LanceRest->start('workers', 'lance_catalog.rest_database = served',
	'lance_catalog.rest_statement_timeout = 2s', 'log_min_messages = warning');
my $node = $rest->{node};

sub took(&$$)
{
	my ($code, $limit, $what) = @_;
	my $start = time();

	$code->();
	my $seconds = time() - $start;
	cmp_ok($seconds, '<', $limit, "$what within $limit s");
	return;
}

sub admin
{
	my ($sql) = @_;

	return $node->safe_psql('template1', $sql);
}

# ---- the database is not there yet
$rest->expect('no database', 503, 17, 'GET', '/v1/table');
my $quiet_from = -s $node->logfile;
sleep 6;
unlike(slurp_file($node->logfile, $quiet_from), qr/FATAL|ERROR/, 'waiting for the database is quiet')
  if ok($rest->wait_for(503, 15), 'it is answered while it is missing');
admin('CREATE DATABASE served');
ok(wait_until(sub { my ($s, $j) = $rest->call('GET', '/v1/table'); $s == 503 && $j->{error} =~ /extension/ }, 25),
	'found once it is created; the extension is still missing');
$quiet_from = -s $node->logfile;
$rest->expect('no extension', 503, 17, 'GET', '/v1/table') for 1 .. 5;
$rest->expect('no extension, POST', 503, 17, 'POST', '/v1/namespace/a/create', body => {});
is(slurp_file($node->logfile, $quiet_from), '', 'a missing extension fills no log');
$rest->install('served');
ok($rest->wait_for(200, 5), 'CREATE EXTENSION: served without a restart');

# ---- idle workers
$rest->expect('a namespace', 200, undef, 'POST', '/v1/namespace/a/create', body => {});
ok(wait_until(sub { admin("SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'lance_catalog%' AND
	datname = 'served'") eq '4' }, 20), 'all workers are connected');
sleep 3;
is(admin("SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'lance_catalog%' AND
	(backend_xmin IS NOT NULL OR backend_xid IS NOT NULL OR xact_start IS NOT NULL)"), '0', 'idle: no transaction, no snapshot');
# executors that were started while the first one was not there yet leave after ten seconds
ok(wait_until(sub { admin("SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'lance_catalog%' AND state = 'idle' AND
	application_name LIKE 'lance_catalog%' AND datname = 'served'") eq '4' }, 40), 'they show themselves');
my @pids = split /\n/, admin("SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'lance_catalog%'");
my $wakeups = sub {
	my $n = 0;

	for my $pid (@pids)
	{
		slurp_file("/proc/$pid/status") =~ /^voluntary_ctxt_switches:\s+(\d+)/m and $n += $1;
	}
	return $n;
};
my $before = $wakeups->();
my $ticks = sub {
	my $n = 0;

	for my $pid (@pids)
	{
		my @fields = split / /, slurp_file("/proc/$pid/stat") =~ s/^.*\) //r;

		$n += $fields[11] + $fields[12];
	}
	return $n;
};
my $used = $ticks->();
sleep 5;
cmp_ok($wakeups->() - $before, '<=', 3, 'idle: nothing wakes them');
cmp_ok($ticks->() - $used, '<=', 1, 'idle: no processor time');

# ---- unrelated databases
took { admin('CREATE DATABASE other'); admin('DROP DATABASE other') } 5, 'CREATE and DROP of another database, workers idle';

my $slow = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port});
my $text = '{"properties":{"a":"' . 'x' x 500_000 . '"}}';
$slow->syswrite("POST /v1/namespace/slow/create HTTP/1.1\r\nHost: x\r\nx-api-key: $rest->{key}\r\nContent-Length: " . length($text) .
	"\r\nConnection: close\r\n\r\n" . substr($text, 0, 300_000));
$rest->expect('another request', 200, undef, 'GET', '/v1/table') for 1 .. 4;
took { admin('CREATE DATABASE other'); admin('DROP DATABASE other') } 5, 'CREATE and DROP of another database, a client in the middle of a request';
$slow->syswrite(substr($text, 300_000));
like(join('', <$slow>), qr{\AHTTP/1\.1 200 }, 'which goes on');

# ---- a request that waits is seen, limited, and holds up nobody else's statements
my $blocker = $node->background_psql('served');
$blocker->query_safe('BEGIN; LOCK TABLE lance.catalog_entry IN ACCESS EXCLUSIVE MODE');
my $child = fork();
if ($child == 0)
{
	my ($status, $json) = $rest->call('POST', '/v1/namespace/a/describe', body => {});

	require POSIX;
	POSIX::_exit($status == 503 && $json->{code} == 17 ? 0 : 1);
}
ok(wait_until(sub { admin("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'lance_catalog REST executor' AND
	state = 'active' AND query = 'DescribeNamespace'") eq '1' }, 5), 'a running request shows its operation');
took { $rest->expect('another request', 404, 0, 'GET', '/v1/none') } 1, 'others are served meanwhile';
took { admin('CREATE DATABASE other'); admin('DROP DATABASE other') } 5, 'CREATE and DROP of another database, a worker busy';
waitpid $child, 0;
is($?, 0, 'a request beyond its time limit is 503, code 17');
$blocker->query_safe('COMMIT');

# a transaction left open in SQL costs others their wait, not the worker
admin(q{ALTER SYSTEM SET lance_catalog.rest_lock_timeout = '300ms'});
admin('SELECT pg_reload_conf()');
$rest->expect('a namespace', 200, undef, 'POST', '/v1/namespace/held/create', body => {});
$blocker->query_safe(q{BEGIN; SELECT lance_drop_namespace('held')});
sleep 0.5;
took { $rest->expect('a name that is held', 409, 14, 'POST', '/v1/namespace/held/drop', body => {}) } 1.5, 'a lock that is held';
$rest->expect('reading it', 200, undef, 'POST', '/v1/namespace/held/describe', body => {});
$blocker->query_safe('ROLLBACK');
$rest->expect('when it is free', 200, undef, 'POST', '/v1/namespace/held/drop', body => {});
admin('ALTER SYSTEM RESET lance_catalog.rest_lock_timeout');
admin('SELECT pg_reload_conf()');
$blocker->quit;
$rest->expect('afterwards', 200, undef, 'POST', '/v1/namespace/a/describe', body => {});

# pg_cancel_backend ends the request, or nothing when there is none
admin("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE backend_type LIKE 'lance_catalog%'");
$rest->expect('after a cancel while idle', 200, undef, 'GET', '/v1/table');

# ---- settings
$node->append_conf('postgresql.conf', "lance_catalog.rest_max_body_size = 10kB");
$node->reload;
ok(wait_until(sub { ($rest->call('POST', '/v1/namespace/a/describe', body => ' ' x 20_000 . '{}'))[0] == 413 }, 10),
	'reload changes the limit of bodies');

# ---- ended workers come back; sessions do not notice, and nothing is left behind
my $session = $node->background_psql('served');
$session->query_safe('CREATE TEMPORARY TABLE kept AS SELECT 1 AS n; BEGIN; SELECT * FROM lance.tables');
my $postmaster = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
my $left = sub { return scalar(() = glob "/proc/$postmaster/fd/*") . ' descriptors' };
my $before_rounds = $left->();
for my $round (1 .. $ENV{LANCE_RESTART_ROUNDS} // 2)
{
	my @old = $rest->workers;

	if ($round % 2)
	{
		admin("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'lance_catalog REST worker'");
	}
	else
	{
		kill 'TERM', @old;
	}
	took { ok($rest->wait_for(200, 15), "round $round: served again") } 10, 'all workers ended: an answer';
	ok(wait_until(sub { my %old = map { $_ => 1 } @old; my @new = $rest->workers; @new == 2 && !grep { $old{$_} } @new }, 15),
		'with new workers');
}
is($left->(), $before_rounds, 'nothing is left of the ended ones');
is($session->query_safe('COMMIT; SELECT n FROM kept'), '1', 'a session goes on');
$session->quit;
my ($one) = $rest->workers;
admin("SELECT pg_terminate_backend($one)");
took { ok($rest->wait_for(200, 5), 'one worker ended') } 1, 'the other one serves meanwhile, an answer';
ok(wait_until(sub { scalar($rest->workers) == 2 }, 15), 'and it is replaced');

# ---- the extension goes and comes while clients are connected
my $connected = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port});
my $ask = sub {
	my $answer = '';

	$connected->syswrite("GET /v1/table HTTP/1.1\r\nHost: x\r\nx-api-key: $rest->{key}\r\n\r\n");
	while ($answer !~ /\r\n\r\n\{.*\}\s*\z/s && $connected->sysread(my $piece, 65536)) { $answer .= $piece }
	return $answer =~ /\AHTTP\/1\.1 (\d+)/ ? $1 : 'closed';
};
is($ask->(), '200', 'a client is connected');
$quiet_from = -s $node->logfile;
$node->safe_psql('served', 'DROP EXTENSION lance_catalog CASCADE');
$rest->expect('extension dropped', 503, 17, 'GET', '/v1/table') for 1 .. 3;
$rest->expect('extension dropped, POST', 503, 17, 'POST', '/v1/namespace/a/create', body => {});
is($ask->(), '503', 'the connected client is told the same');
unlike(slurp_file($node->logfile, $quiet_from), qr/ERROR|FATAL/, 'quietly');
is(scalar($rest->workers), 2, 'the workers stay');
$rest->install('served');
$rest->expect('extension again', 200, undef, 'POST', '/v1/namespace/a/create', body => {});
is($ask->(), '200', 'over the old connection too');
$connected->close;
$rest->expect('and usable', 200, undef, 'POST', '/v1/namespace/a/describe', body => {});
$rest->expect('a table', 200, undef, 'POST', '/v1/table/a%24t/declare', body => {});

# ---- statements that need the served database unused
took { admin('CREATE DATABASE copy TEMPLATE served') } 10, 'CREATE DATABASE ... TEMPLATE served';
took { $rest->expect('after the copy', 200, undef, 'GET', '/v1/table', timeout => 15) } 12, 'an answer after the copy';
ok(wait_until(sub { scalar($rest->workers) == 2 }, 15), 'workers after the copy');
$node->safe_psql('copy', 'DROP EXTENSION lance_catalog CASCADE');
admin('CREATE ROLE plain');
my ($failed) = $node->psql('template1', 'SET ROLE plain; DROP DATABASE served');
isnt($failed, 0, 'others may not drop it');
my @kept = $rest->workers;
is(scalar(@kept), 2, 'and disturb nobody by trying');
took { admin('ALTER DATABASE served RENAME TO away') } 10, 'ALTER DATABASE ... RENAME';
ok($rest->wait_for(503, 20), 'no database of that name: 503');
took { admin('ALTER DATABASE away RENAME TO served') } 10, 'ALTER DATABASE ... RENAME back';
ok($rest->wait_for(200, 30), 'and it is served again');
ok(wait_until(sub { scalar($rest->workers) == 2 }, 15), 'by all workers');
took { admin('DROP DATABASE served') } 10, 'DROP DATABASE';
ok($rest->wait_for(503, 20), 'dropped: 503');
admin('CREATE DATABASE served');
ok(wait_until(sub { scalar(grep { $_ } admin("SELECT count(*) FROM pg_stat_activity WHERE
	backend_type = 'lance_catalog REST worker' AND datname = 'served'") == 2) }, 30), 'created again: connected again');
$rest->install('served');
ok($rest->wait_for(200, 5), 'and served');

# ---- a fast shutdown is immediate, also with open connections and a request that waits
$blocker = $node->background_psql('served');
$blocker->query_safe('BEGIN; LOCK TABLE lance.catalog_entry IN ACCESS EXCLUSIVE MODE');
my @idle = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port}) } 1 .. 5;
$child = fork();
if ($child == 0)
{
	$rest->call('POST', '/v1/namespace/a/describe', body => {});
	require POSIX;
	POSIX::_exit(0);
}
sleep 0.5;
took { $node->stop('fast') } 5, 'a fast shutdown';
waitpid $child, 0;
eval { $blocker->quit };
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing crashed');

# ---- a port that is taken, no workers, no preloading
my $taken;
wait_until(sub { $taken = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', LocalPort => $rest->{port}, ReuseAddr => 1) }, 20)
  or die $!;
$quiet_from = -s $node->logfile;
$node->start;
is($node->safe_psql('served', "SELECT count(*) FROM lance_list_tables('\$')"), '0', 'a port that is taken: the database starts');
like(slurp_file($node->logfile, $quiet_from), qr/could not listen for REST requests on .*REST server is off/s, 'the log says so');
is(scalar($rest->workers), 0, 'no REST workers');
$node->stop;
$taken->close;

$node->append_conf('postgresql.conf', 'lance_catalog.rest_workers = 0');
$node->start;
is(admin("SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'lance_catalog%'"), '0', 'rest_workers = 0: none');
is(IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port}), undef, 'nobody listens');
like(($node->psql('served', 'SELECT 1 FROM lance_create_api_key(current_user::regrole)'))[2], qr/NOTICE: .*REST server.* off\nHINT: .*rest_workers/,
	'who makes a key is told');
$node->stop;

$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\nlance_catalog.rest_workers = 2");
$node->start;
is(admin("SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'lance_catalog%'"), '0', 'not preloaded: no workers');
is($node->safe_psql('served', "SELECT count(*) FROM lance_list_tables('\$')"), '0', 'not preloaded: SQL works');
admin('CREATE DATABASE plain');
$node->safe_psql('plain', "CREATE EXTENSION lance_catalog; CREATE SERVER lake FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 'file://$rest->{root}')");
is($node->safe_psql('plain', "SELECT lance_create_namespace('a'); SELECT count(*) FROM lance_declare_table('a\$t'); SELECT * FROM lance_list_tables('a');
	SELECT count(*) FROM lance_drop_table('a\$t')"), "{}\n1\nt\n1", 'not preloaded: a new extension, a catalog of its own');
$node->safe_psql('plain', "CREATE SERVER fixtures FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 'file://$ENV{LANCE_FIXTURES}/data');
	SELECT lance_attach_dataset('file://$ENV{LANCE_FIXTURES}/data/stable_rowids.lance', 'fixtures', 'public', 'f')");
cmp_ok($node->safe_psql('plain', 'SELECT count(*) FROM f'), '>', 0, 'not preloaded: foreign tables');
my (undef, undef, $told) = $node->psql('plain', 'SELECT 1 FROM lance_create_api_key(current_user::regrole)');
like($told, qr/NOTICE: .*REST server.* off\nHINT: .*shared_preload_libraries/, 'not preloaded: who makes a key is told what is missing');
$node->stop;

done_testing();
