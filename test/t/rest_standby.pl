# rest_standby.pl
#	  A hot standby serves reads and refuses writes; after promotion it serves both, without a restart.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use LanceRest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rest = LanceRest->start('primary', 'log_min_messages = warning');
my $primary = $rest->{node};

$rest->expect('a namespace', 200, undef, 'POST', '/v1/namespace/a/create', body => { properties => { k => 'v' } });
$rest->expect('a table', 200, undef, 'POST', '/v1/table/a%24t/declare', body => {});
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('standby');
my $port = PostgreSQL::Test::Cluster::get_free_port();
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "lance_catalog.rest_port = $port\nlog_min_messages = warning");
$standby->start;
$primary->wait_for_catchup($standby);

# ---- reads
ok(wait_until(sub { ($rest->call('GET', '/v1/table', port => $port))[0] == 200 }, 20), 'the standby serves');
my $json = $rest->expect('list', 200, undef, 'GET', '/v1/namespace/%24/list', port => $port);
is_deeply($json->{namespaces}, ['a'], 'what the primary made');
$json = $rest->expect('describe a namespace', 200, undef, 'POST', '/v1/namespace/a/describe', port => $port, body => {});
is_deeply($json->{properties}, { k => 'v' }, 'its properties');
$rest->expect('describe a table', 200, undef, 'POST', '/v1/table/a%24t/describe', port => $port, body => {});
$rest->expect('exists', 200, undef, 'POST', '/v1/table/a%24t/exists', port => $port, body => {});
$rest->expect('missing', 404, 4, 'POST', '/v1/table/a%24none/exists', port => $port, body => {});
$rest->expect('versions', 200, undef, 'POST', '/v1/table/a%24t/version/list', port => $port);
$rest->expect('a wrong key', 401, 16, 'GET', '/v1/table', port => $port, key => 'wrong');
$rest->expect('the next write of the primary', 200, undef, 'POST', '/v1/namespace/b/create', body => {});
$primary->wait_for_catchup($standby);
$json = $rest->expect('list again', 200, undef, 'GET', '/v1/namespace/%24/list', port => $port);
is_deeply($json->{namespaces}, [ 'a', 'b' ], 'is seen');

# ---- writes
my $quiet_from = -s $standby->logfile;
for my $write (
	[ 'POST', '/v1/namespace/c/create', {} ],
	[ 'POST', '/v1/namespace/b/drop', {} ],
	[ 'POST', '/v1/table/a%24u/declare', {} ],
	[ 'POST', '/v1/table/a%24t/rename', { new_table_name => 'u' } ],
	[ 'POST', '/v1/table/a%24t/deregister', {} ],
	[ 'POST', '/v1/table/a%24t/drop', {} ])
{
	my ($method, $path, $body) = @$write;
	my ($answer, $headers) = $rest->expect($path, 503, 17, $method, $path, port => $port, body => $body);

	ok($headers->{'retry-after'}, "$path: come back later");
}
unlike(slurp_file($standby->logfile, $quiet_from), qr/ERROR|FATAL|PANIC/, 'refused writes fill no log');
is($standby->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'lance_catalog%'"), '4',
	'all workers are there');

# ---- promotion
$standby->promote;
ok(wait_until(sub { ($rest->call('POST', '/v1/namespace/d/create', port => $port, body => {}))[0] == 200 }, 10),
	'promoted: writes within 10 s');
$rest->expect('drop', 200, undef, 'POST', '/v1/table/a%24t/drop', port => $port, body => {});
unlike(slurp_file($standby->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing crashed');

done_testing();
