# rest_exhaustion.pl
#	  The REST server where processes, shared memory and connections run short.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use LanceRest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# PostgreSQL itself takes one of the worker processes.
my $rest = LanceRest->start('exhaustion', 'max_worker_processes = 4', 'lance_catalog.rest_workers = 5',
	'lance_catalog.rest_statement_timeout = 20s', 'lance_catalog.rest_max_connections = 20', 'dynamic_shared_memory_type = mmap', 'log_min_messages = error');
my $node = $rest->{node};

# ---- too few processes
is($node->safe_psql('postgres', "SELECT string_agg(backend_type, ', ' ORDER BY backend_type) FROM pg_stat_activity
	WHERE backend_type LIKE 'lance%'"), 'lance_catalog REST executor, lance_catalog REST worker, lance_catalog cleanup worker',
	'with few worker processes there is one of each kind');
$rest->expect('a change', 200, undef, 'POST', '/v1/table/t/declare', body => {});

# ---- no more shared memory. What is there already suffices for small requests.
my $folder = $node->data_dir . '/pg_dynshmem';
my $large = '{"properties": {"a": "' . ('x' x 3_000_000) . '"}}';

chmod(0500, $folder) or die "$folder: $!";
for my $round (1 .. 3)
{
	$rest->expect("a large request, $round", 503, 17, 'POST', "/v1/namespace/n$round/create", body => $large);
	$rest->expect("a small one, $round", 200, undef, 'POST', "/v1/table/t$round/declare", body => {});
}
$rest->expect('nothing was made', 404, 1, 'POST', '/v1/namespace/n1/exists', body => {});
like(slurp_file($node->logfile), qr/could not (?:create|open) shared memory segment/, 'the log says why');
chmod(0700, $folder) or die "$folder: $!";
$rest->expect('a large request, now that there is room', 200, undef, 'POST', '/v1/namespace/n1/create', body => $large);

# ---- a large reply: what was done stays, and the client is told to ask again
$node->safe_psql('postgres', "SELECT FROM lance_create_namespace('big',
	properties => jsonb_build_object('a', repeat('x', 20000000)))");
chmod(0500, $folder) or die "$folder: $!";
$rest->expect('a large reply', 503, 17, 'POST', '/v1/namespace/big/create', body => '{"mode": "ExistOk"}');
$rest->expect('a small one after it', 200, undef, 'POST', '/v1/table/t4/declare', body => {});
chmod(0700, $folder) or die "$folder: $!";
$rest->expect('the large one, now that there is room', 200, undef, 'POST', '/v1/namespace/big/create',
	body => '{"mode": "ExistOk"}');

# ---- clients that close their side with the last byte they send: their connections end, too
my $body = '{"a": "' . ('x' x 50_000) . '"}';
my $request = "POST /v1/table/t/describe HTTP/1.1\r\nHost: x\r\nx-api-key: $rest->{key}\r\nContent-Length: " . length($body) . "\r\n\r\n$body";

for my $length (20, 200, 20_000, length($request))
{
	for (1 .. 60)
	{
		my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port}, Timeout => 10) or die "no connection: $!";

		$socket->send(substr($request, 0, $length));
		$socket->shutdown(1);
		1 while $socket->sysread(my $piece, 65536);
	}
	$rest->expect("after clients that hung up behind $length bytes", 200, undef, 'POST', '/v1/table/t/describe', body => {});
}

$node->stop('fast');
done_testing();
