# rest_executors.pl
#	  Requests that wait: who runs them, whom they hold up, what becomes of them when processes end.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use IO::Select;
use JSON::PP;
use LanceRest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

# A store that takes connections and never answers.
my $store = IO::Socket::INET->new(Listen => 100, LocalAddr => '127.0.0.1') or die "no socket: $!";
my $rest = LanceRest->start('executors', 'lance_catalog.rest_workers = 1', 'lance_catalog.rest_executors = 4',
	'max_worker_processes = 20', 'lance_catalog.store_timeout = 120s', 'lance_catalog.rest_statement_timeout = 60s',
	'log_min_messages = warning');
my $node = $rest->{node};
my $other = do {
	$node->safe_psql('postgres', 'CREATE ROLE someone SUPERUSER');
	$node->safe_psql('postgres', "SELECT api_key FROM lance_create_api_key('someone')");
};

$node->safe_psql('postgres', "CREATE SERVER far FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://bucket/root',
	endpoint 'http://127.0.0.1:" . $store->sockport . "', allow_http 'true', region 'us-east-1');
	CREATE USER MAPPING FOR PUBLIC SERVER far OPTIONS (access_key_id 'a', secret_access_key 'b');
	SELECT lance_create_namespace('far', properties => '{\"server\": \"far\"}');
	SELECT lance_declare_table('far\$t');
	SELECT lance_create_namespace('near'); SELECT lance_declare_table('near\$t');");

sub executors
{
	return split /\n/, $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'lance_catalog REST executor' ORDER BY pid");
}

sub busy
{
	return 0 + $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity
		WHERE backend_type = 'lance_catalog REST executor' AND state = 'active'");
}

# A request on a connection that stays open; its answer is read by finish().
sub begin_call
{
	my ($path, $body, $key) = @_;
	my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port}, Timeout => 10)
	  or die "no connection: $!";

	$key //= $rest->{key};
	$socket->syswrite("POST $path HTTP/1.1\r\nHost: x\r\nx-api-key: $key\r\nContent-Length: " . length($body) . "\r\n\r\n$body");
	return $socket;
}

sub finish
{
	my ($socket, $seconds) = @_;
	my $answer = '';
	my $select = IO::Select->new($socket);

	while ($select->can_read($seconds // 20))
	{
		last if !$socket->sysread(my $piece, 65536);
		$answer .= $piece;
		last if $answer =~ /\r\n\r\n\{.*\}\s*\z/s;
	}
	return $answer;
}

my $detail = '{"load_detailed_metadata": true}';

is(scalar(executors()), 1, 'one executor is there from the start');
$rest->expect('a request without a wait', 200, undef, 'POST', '/v1/table/near%24t/describe', body => {});
$rest->expect('one that looks into a store', 200, undef, 'POST', '/v1/table/near%24t/describe', body => $detail);

# ---- a store that hangs
my @waiting = map { begin_call('/v1/table/far%24t/describe', $detail) } 1 .. 10;
ok(wait_until(sub { busy() == 3 }, 20), 'requests that hang take three of four executors');
for my $round (1 .. 5)
{
	$rest->expect("reading the catalog meanwhile, $round", 200, undef, 'POST', '/v1/table/near%24t/describe', body => {}, timeout => 10);
}
$rest->expect('another caller who needs an executor', 200, undef, 'POST', '/v1/table/near%24t/describe', body => $detail,
	key => $other, timeout => 10);
$rest->expect('another caller who writes', 200, undef, 'POST', '/v1/table/near%24u/declare', body => {}, key => $other, timeout => 10);
is(busy(), 3, 'the others of the first caller wait');
is(scalar(executors()), 4, 'as many executors as are allowed');

# clients that go away while their request waits
my $worker = ($rest->workers)[0];
close $_ for splice @waiting, 7;

# a cancel ends a request that runs, and one that waits takes its place
my ($pid) = split /\n/, $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity
	WHERE backend_type = 'lance_catalog REST executor' AND state = 'active' LIMIT 1");
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
my $answered;
ok(wait_until(sub { ($answered) = IO::Select->new(@waiting)->can_read(0.1); $answered }, 20), 'a cancelled request is answered');
like(finish($answered), qr{\AHTTP/1\.1 503 .*"code":17}s, 'with 503, code 17');
@waiting = grep { $_ != $answered } @waiting;
ok(wait_until(sub { busy() == 3 }, 20), 'the next one takes its place');

# an executor that ends: its request is answered, and it is replaced when it is needed
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
	WHERE backend_type = 'lance_catalog REST executor' AND state = 'active' LIMIT 1");
ok(wait_until(sub { ($answered) = IO::Select->new(@waiting)->can_read(0.1); $answered }, 20), 'the request of an executor that ends is answered');
like(finish($answered), qr{\AHTTP/1\.1 503 .*"error":"the process that ran the request ended"}s, 'which says so');
@waiting = grep { $_ != $answered } @waiting;
ok(wait_until(sub { busy() == 3 }, 20), 'the next one is run by another');

# the worker ends: its connections are closed, what its executors run is nobody's any more
$node->safe_psql('postgres', "SELECT pg_terminate_backend($worker)");
is(finish($_), '', 'the connections of a worker that ends are closed') for @waiting;
ok($rest->wait_for(200, 20), 'it comes back');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
	WHERE backend_type = 'lance_catalog REST executor' AND state = 'active'") for 1 .. 3;
ok(wait_until(sub { busy() == 0 }, 20), 'nothing runs any more');
ok(wait_until(sub { ($rest->call('POST', '/v1/table/near%24v/declare', body => {}, timeout => 15))[0] == 200 }, 30),
	'writing works again');

# ---- many at once, more than executors; each is done once
my @calls = map { begin_call("/v1/table/near%24many$_/declare", '{}') } 1 .. 60;
my @good = grep { finish($_) =~ m{\AHTTP/1\.1 200 } } @calls;
is(scalar(@good), 60, 'sixty requests at once are all done');
is($node->safe_psql('postgres', "SELECT count(*) FROM lance_list_tables('near') t WHERE t LIKE 'many%'"), '60', 'each of them');

# a request and its answer that are large
$rest->expect('a large request', 200, undef, 'POST', '/v1/namespace/large/create',
	body => { properties => { map { ("key$_" => 'x' x 1000) } 1 .. 3000 } });
my $json = $rest->expect('a large answer', 200, undef, 'POST', '/v1/namespace/large/describe', body => {});
is(scalar(keys %{ $json->{properties} }), 3000, 'comes whole');

# ---- those that are not needed leave
ok(wait_until(sub { scalar(executors()) == 1 }, 40), 'idle executors leave, but for one');
$rest->expect('a request afterwards', 200, undef, 'POST', '/v1/table/near%24w/declare', body => {});

# ---- a key that was not used for long is noted, by an executor since it is a change
$node->safe_psql('postgres', 'UPDATE lance.api_key SET last_used_at = NULL');
$rest->expect('a first use', 200, undef, 'POST', '/v1/table/near%24t/exists', body => {});
is($node->safe_psql('postgres', 'SELECT count(*) FROM lance.api_key WHERE last_used_at IS NOT NULL'), '1', 'is on record');

# ---- one caller whose store hangs, on more connections than there are places: the last ones are for others
$node->append_conf('postgresql.conf', "lance_catalog.rest_workers = 4\nlance_catalog.rest_max_connections = 600");
$node->restart;
ok($rest->wait_for(200, 20), 'more workers: served');
my @crowd = map
{
	my $child = fork() // die "no process: $!";

	if ($child == 0)
	{
		my @held = map { begin_call('/v1/table/far%24t/describe', $detail) } 1 .. 400;
		sleep 600;
	}
	$child;
} 1 .. 3;
my $refused = 0;
ok(wait_until(sub { my ($status, $answer) = $rest->call('POST', '/v1/table/near%24t/describe', body => $detail, timeout => 3);
	$refused = $status == 503 && $answer->{error} eq 'too many requests at once' }, 60), 'a caller with many requests gets no more places');
$rest->expect('another caller does', 200, undef, 'POST', '/v1/table/near%24t/describe', body => $detail, key => $other, timeout => 20);
kill 'KILL', @crowd;
waitpid $_, 0 for @crowd;

# ---- no process to be had: the one that is there does the work
$node->append_conf('postgresql.conf', "max_worker_processes = 4\nlance_catalog.rest_workers = 1");
$node->restart;
ok($rest->wait_for(200, 20), 'few processes: served');
@calls = map { begin_call("/v1/table/near%24few$_/declare", '{}') } 1 .. 20;
@good = grep { finish($_) =~ m{\AHTTP/1\.1 200 } } @calls;
is(scalar(@good), 20, 'few processes: everything is done');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing crashed');
unlike(slurp_file($node->logfile), qr/\Q$rest->{key}\E/, 'no key in the log');

$node->stop;
done_testing();
