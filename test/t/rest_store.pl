# rest_store.pl
#	  A store that takes connections and never answers: requests on it time out, and hold up nothing else.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use IO::Socket::INET;
use LanceRest;
use LanceStore;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $rest = LanceRest->start('store', 'lance_catalog.rest_statement_timeout = 3s', 'log_min_messages = warning');
my $node = $rest->{node};
my $silent = IO::Socket::INET->new(Listen => 100, LocalAddr => '127.0.0.1') or die $!;

$node->safe_psql('postgres', "CREATE SERVER s3 FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://bucket/lake',
	endpoint 'http://127.0.0.1:" . $silent->sockport . "', region 'us-east-1', allow_http 'true')");
$node->safe_psql('postgres', "CREATE USER MAPPING FOR current_user SERVER s3
	OPTIONS (access_key_id 'k', secret_access_key 's')");
$rest->expect('a namespace on it', 200, undef, 'POST', '/v1/namespace/far/create', body => { properties => { server => 's3' } });
$rest->expect('a table on it', 200, undef, 'POST', '/v1/table/far%24t/declare', body => {});
$rest->expect('another namespace', 200, undef, 'POST', '/v1/namespace/near/create', body => {});

# What needs no store does not ask it.
my $json = $rest->expect('describe', 200, undef, 'POST', '/v1/table/far%24t/describe', body => {});
is_deeply([ grep { defined $json->{$_} } qw(version schema stats metadata is_only_declared) ], [], 'what only the store knows is left out');
$rest->expect('exists', 200, undef, 'POST', '/v1/table/far%24t/exists', body => {});
$rest->expect('list', 200, undef, 'GET', '/v1/namespace/far/table/list?include_declared=true');
$rest->expect('list all', 200, undef, 'GET', '/v1/table');
$rest->expect('rename', 200, undef, 'POST', '/v1/table/far%24t/rename', body => { new_table_name => 'u' });
$rest->expect('deregister', 200, undef, 'POST', '/v1/table/far%24u/deregister', body => {});
$rest->expect('register', 200, undef, 'POST', '/v1/table/far%24t/register', body => { location => $json->{location} });
$silent->blocking(0);
is($silent->accept, undef, 'nobody connected to the store');
$silent->blocking(1);

# Start a request that asks the store; returns the pid of its process, whose status is 0 when it ended as expected.
sub ask_store
{
	my (@statuses) = @_;
	my $child = fork();

	return $child if $child;
	my ($status, $json) = $rest->call('POST', '/v1/table/far%24t/version/list', body => {});
	require POSIX;
	POSIX::_exit((grep { $_ == $status } @statuses) ? 0 : 1);
}

sub busy
{
	my ($n) = @_;

	return wait_until(sub { $node->safe_psql('template1', "SELECT count(*) FROM pg_stat_activity WHERE
		backend_type = 'lance_catalog REST executor' AND state = 'active'") eq $n }, 5);
}

my $child = ask_store(503);
ok(busy(1), 'a request waits for the store');
my $start = time();
$rest->expect('others are served', 200, undef, 'POST', '/v1/namespace/near/describe', body => {});
$node->safe_psql('template1', $_) for 'CREATE DATABASE other', 'DROP DATABASE other';
cmp_ok(time() - $start, '<', 3, 'without waiting');
waitpid $child, 0;
is($?, 0, 'it ends as 503 at its time limit');

# ended in the middle of the wait
$child = ask_store(503);
ok(busy(1), 'a request waits for the store');
$start = time();
$node->safe_psql('template1', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE
	backend_type = 'lance_catalog REST executor' AND state = 'active'");
waitpid $child, 0;
is($?, 0, 'its executor can be ended: 503');
cmp_ok(time() - $start, '<', 2, 'at once');
ok($rest->wait_for(200, 10), 'and the server goes on');
ok(wait_until(sub { scalar($rest->workers) == 2 }, 15), 'with all workers');

# cancelled in the middle of the wait
$child = ask_store(503);
ok(busy(1), 'a request waits for the store');
$start = time();
$node->safe_psql('template1', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE
	backend_type = 'lance_catalog REST executor' AND state = 'active'");
waitpid $child, 0;
is($?, 0, 'it can be cancelled: 503');
cmp_ok(time() - $start, '<', 2, 'at once');

# a drop does not wait for the store; its files are the cleanup worker's business
$start = time();
$rest->expect('drop', 200, undef, 'POST', '/v1/table/far%24t/drop');
cmp_ok(time() - $start, '<', 2, 'a drop does not wait for the store');
$rest->expect('gone', 404, 4, 'POST', '/v1/table/far%24t/exists', body => {});

# ---- the end of a commit that nobody hears of: it is said to be unknown, nothing is taken away, and asking again finds out
my $store = LanceStore->start(counts => sub { $_[0] eq 'PUT' && $_[1] =~ /\d{20}\.manifest$/ });
$node->safe_psql('postgres', "CREATE SERVER near FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://bucket/lake', endpoint '$store->{url}',
	allow_http 'true'); ALTER SYSTEM SET lance_catalog.store_retries = 1; SELECT pg_reload_conf()");
$rest->expect('a namespace', 200, undef, 'POST', '/v1/namespace/close/create', body => { properties => { server => 'near' } });
my $folder = $rest->expect('a table', 200, undef, 'POST', '/v1/table/close%24t/declare', body => {})->{location} . '/_versions';
$folder =~ s{^s3://bucket/}{};
my $version = 0;
for my $case ([ 'from 1 mute', 0 ], [ 'from 1 dropped', 0 ], [ '1 lost', 1 ], [ 'from 1 lost', 1 ], [ 'from 1 slow', 1 ])
{
	my ($plan, $clear) = @$case;
	my $name = LanceStore::manifest_name(++$version);
	my @request = ('POST', '/v1/table/close%24t/version/create',
		body => { version => $version, manifest_path => "$folder/$name-staged" });

	$store->put("$folder/$name-staged", "manifest $version");
	$store->plan($plan);
	if ($clear)
	{
		$rest->expect("$plan: succeeds", 200, undef, @request);
		next;
	}
	my $json = $rest->expect("$plan: unknown", 503, 17, @request);
	like("$json->{error} $json->{detail}", qr/version $version of table "close\$t" was written is unknown .*Describe the version/, "$plan: and how to find out");
	is($store->get("$folder/$name-staged"), "manifest $version", "$plan: the staged file is left alone");
	$store->plan('');
	is($rest->expect("$plan: the same again", 200, undef, @request)->{version}{version}, $version, "$plan: is answered with the version");
}
$store->plan('');
my $versions = $rest->expect('versions', 200, undef, 'POST', '/v1/table/close%24t/version/list');
is_deeply([ map { $_->{version} } @{ $versions->{versions} } ], [ 1 .. $version ], 'each is there once');
is_deeply([ map { $store->get("$folder/" . LanceStore::manifest_name($_)) } 1 .. $version ], [ map { "manifest $_" } 1 .. $version ],
	'with the bytes that were staged');

$rest->expect('a table on it', 200, undef, 'POST', '/v1/table/far%24t/declare', body => {});
my @children = map { ask_store(503, 599) } 1 .. 3;
ok(busy(3), 'requests wait for the store');
$start = time();
$node->stop('fast');
cmp_ok(time() - $start, '<', 10, 'a fast shutdown does not');
waitpid $_, 0 for @children;
$store->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing crashed');

done_testing();
