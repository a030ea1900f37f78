# rest_wire.pl
#	  Bytes on the wire: malformed requests, size limits, slow and vanished clients. After each the same workers answer.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use IO::Socket::INET;
use Socket qw(SOL_SOCKET SO_LINGER);
use LanceRest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $rest = LanceRest->start('wire',
	'lance_catalog.rest_workers = 1',
	'lance_catalog.rest_max_body_size = 1MB',
	'lance_catalog.rest_max_connections = 20',
	'lance_catalog.rest_idle_timeout = 3s');
my $node = $rest->{node};
my ($worker) = $rest->workers;
my $key = "x-api-key: $rest->{key}\r\n";

sub alive
{
	my ($what) = @_;

	$rest->expect("after $what", 200, undef, 'GET', '/v1/table');
	is_deeply([ $rest->workers ], [$worker], "after $what: the same worker");
	return;
}

sub memory_kb
{
	return slurp_file("/proc/$worker/status") =~ /^VmRSS:\s+(\d+) kB/m ? $1 : die;
}

# ---- malformed requests: 400 or closed, and nothing worse
my $get = "GET /v1/table HTTP/1.1\r\nHost: x\r\n${key}\r\n";
my %malformed = (
	'no version' => "GET /v1/table\r\n\r\n",
	'only a method' => "GET\r\n\r\n",
	'a strange version' => "GET /v1/table HTTP/9.9\r\nHost: x\r\n\r\n",
	'a header without colon' => "GET /v1/table HTTP/1.1\r\nHost: x\r\nnonsense\r\n${key}\r\n",
	'a header line of 200 kB' => "GET /v1/table HTTP/1.1\r\nHost: x\r\nX-Fill: " . 'a' x 200_000 . "\r\n\r\n",
	'a target of 200 kB' => 'GET /' . 'a' x 200_000 . " HTTP/1.1\r\nHost: x\r\n\r\n",
	'10000 headers' => "GET /v1/table HTTP/1.1\r\nHost: x\r\n" . "a: b\r\n" x 10_000 . "\r\n",
	'NUL in the target' => "GET /v1/\0table HTTP/1.1\r\nHost: x\r\n${key}\r\n",
	'NUL in the method' => "GE\0T /v1/table HTTP/1.1\r\nHost: x\r\n${key}\r\n",
	'a negative length' => "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n${key}\r\n",
	'a length that is no number' => "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nContent-Length: 2x\r\n${key}\r\n{}",
	'a length beyond 64 bits' => "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n${key}\r\n",
	'length and chunks' => "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n${key}\r\n2\r\n{}\r\n0\r\n\r\n",
	'a bad chunk size' => "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n${key}\r\nzz\r\n{}\r\n0\r\n\r\n",
	'a chunk size beyond 64 bits' => "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n${key}\r\nffffffffffffffffff\r\n{}",
	'two lengths' => "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 40\r\n${key}\r\n{}$get",
	'a length with a blank before its colon' => "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nContent-Length : 2\r\n${key}\r\n{}$get",
	'a folded length' => "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n 2\r\n${key}\r\n{}$get",
	'an unknown transfer coding' => "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n${key}\r\n0\r\n\r\n$get",
	'two transfer codings' => "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n${key}\r\n0\r\n\r\n$get",
	'two hosts' => "GET /v1/table HTTP/1.1\r\nHost: x\r\nHost: y\r\n${key}\r\n",
	'a length behind a lone CR' => "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nX: a\rContent-Length: 2\r\n${key}\r\n{}$get",
	'a length behind a lone LF' => "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nX: a\nContent-Length: 2\r\n${key}\r\n{}$get",
	'lone LFs' => "GET /v1/table HTTP/1.1\nHost: x\nx-api-key: $rest->{key}\n\n",
	'a folded header' => "GET /v1/table HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n${key}\r\n",
	'a NUL behind a length' => "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nContent-Length: 2\0\r\n${key}\r\n{}$get",
	'a NUL behind a coding' => "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\0\r\n${key}\r\n2\r\n{}\r\n0\r\n\r\n$get",
	'a header without name' => "GET /v1/table HTTP/1.1\r\nHost: x\r\n: x\r\n${key}\r\n",
	'chunks in HTTP/1.0' => "POST /v1/namespace/a/create HTTP/1.0\r\nTransfer-Encoding: chunked\r\n${key}\r\n2\r\n{}\r\n0\r\n\r\n",
	'two blanks in the request line' => "GET  /v1/table HTTP/1.1\r\nHost: x\r\n${key}\r\n",
	'two keys' => "GET /v1/table HTTP/1.1\r\nHost: x\r\n${key}x-api-key: lance_x\r\n\r\n",
	'two bearers' => "GET /v1/table HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $rest->{key}\r\nAuthorization: Bearer x\r\n\r\n",
	'a header line of 100 kB' => "GET /v1/table HTTP/1.1\r\nHost: x\r\nX-Fill: " . 'a' x 100_000 . "\r\n\r\n",
	'TLS' => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" . 'r' x 200,
	'nothing but zeros' => "\0" x 5000,
);
for my $what (sort keys %malformed)
{
	my $answer = $rest->raw($malformed{$what}, 2);

	unlike($answer, qr{^HTTP/1\.1 20}m, "$what: nothing behind it is taken for a request");
	like($answer, qr{\A(HTTP/1\.[01] (400|404|405|408|413|414|431|501|505)|\z)}, "$what: refused") or diag(substr($answer, 0, 200));
	alive($what);
}
# what is unusual, but means one thing only
for my $lines ('X:a', 'X:', 'X: ', "X:  a \t ", "X: a: b", "Cookie: a=b; c=d", "X: \xff\xfe", 'Connection: keep-alive, Upgrade')
{
	like($rest->raw("GET /v1/table?x=%20 HTTP/1.1\r\nHost: x\r\n$lines\r\n${key}\r\n"), qr{\AHTTP/1\.1 200 }, "the header '$lines' is let pass");
}
like($rest->raw("\r\n$get"), qr{\AHTTP/1\.1 200 }, 'an empty line before the request');
like($rest->raw("GET http://example.org/v1/table HTTP/1.1\r\nHost: x\r\n${key}\r\n"), qr{\AHTTP/1\.1 200 }, 'a target in absolute form');
$rest->expect('no malformed request did anything', 404, 1, 'POST', '/v1/namespace/a/exists');
like($rest->raw("POST /v1/namespace/\$/exists HTTP/1.0\r\n${key}\r\n"), qr{\AHTTP/1\.[01] 200}, 'HTTP/1.0 is answered');
like($rest->raw("POST /v1/namespace/\$/exists HTTP/1.1\r\nHost: x\r\n${key}\r\n"), qr{\AHTTP/1\.1 200}, 'POST without any body');

# requests in one go are answered one after the other
my $three = $rest->raw($get x 2 . "GET /v1/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 5, 1);
is_deeply([ $three =~ /HTTP\/1\.1 (\d+)/g ], [ 200, 200, 404 ], 'pipelined requests are answered in their order');

# the body of an operation that is not served is read and dropped, whatever it says and is said to be
my $dropped = "GET /v1/nonsense HTTP/1.1\r\n\r\n";
for my $body ('Content-Length: ' . length($dropped) . "\r\n${key}\r\n$dropped",
	"Transfer-Encoding: chunked\r\n${key}\r\n" . sprintf("%x\r\n%s\r\n0\r\n\r\n", length $dropped, $dropped),
	"Content-Type: application/vnd.apache.arrow.stream\r\nContent-Length: " . length($dropped) . "\r\n${key}\r\n$dropped")
{
	my $both = $rest->raw("POST /v1/table/a%24b/insert HTTP/1.1\r\nHost: x\r\n$body" .
		"GET /v1/table HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${key}\r\n", 5, 1);

	is_deeply([ $both =~ /HTTP\/1\.1 (\d+)/g ], [ 406, 200 ], 'a body that nobody wants is not taken for a request');
}

# ---- the size limit
my $large = '{"properties":{"a":"' . 'x' x (1024 * 1024 - 100) . '"}}';
$rest->expect('a body below the limit', 200, undef, 'POST', '/v1/namespace/big/create', body => $large);
my ($json) = $rest->expect('a body above it', 413, 13, 'POST', '/v1/namespace/big2/create', body => $large . ' ' x 200);
$rest->expect('nothing was made', 404, 1, 'POST', '/v1/namespace/big2/exists');
my $answer = $rest->raw("POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000000\r\n${key}\r\n{", 3);
like($answer, qr{\AHTTP/1\.1 413}, '10 GB are refused before they come');
like($answer, qr{^Connection: close}mi, 'and the connection is closed');
alive('10 GB');
$rest->expect("a stranger's large body", 401, 16, 'POST', '/v1/namespace/a/create', key => undef, body => $large);
alive('a stranger');

# an endless chunked body, on a JSON route and on an Arrow route
for my $case ([ 'namespace/a/create', 413, 'JSON' ], [ 'table/a%24b/create', 406, 'Arrow' ])
{
	my ($route, $status, $kind) = @$case;
	my $sent = 0;
	my $before = memory_kb();

	$answer = $rest->raw(sub {
		my ($socket) = @_;
		my $chunk = sprintf("%x\r\n%s\r\n", 65536, ' ' x 65536);

		$socket->syswrite("POST /v1/$route HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n$key\r\n");
		while ($sent < 200_000_000)
		{
			my $n = $socket->syswrite($chunk);

			last if !defined $n;
			$sent += $n;
		}
	}, 3);
	cmp_ok($sent, '<', 50_000_000, "an endless $kind body is stopped");
	like($answer, qr{\AHTTP/1\.1 $status}, "an endless $kind body: $status") if length $answer;
	cmp_ok(memory_kb() - $before, '<', 20_000, "an endless $kind body: memory stays");
	alive("an endless $kind body");
}

# a client that waits for the answer before it goes on gets it in full
$answer = $rest->raw(sub {
	my ($socket) = @_;

	$socket->syswrite("POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n$key\r\n");
	for (1 .. 17)
	{
		$socket->syswrite(sprintf("%x\r\n%s\r\n", 65536, ' ' x 65536));
		sleep 0.02;
	}
}, 3);
like($answer, qr{\AHTTP/1\.1 413 .*"code":13}s, 'chunks past the limit: 413 with a body');
$rest->expect('a million small pieces', 200, undef, 'POST', '/v1/namespace/chunks/create', body => '{' . ' ' x 100_000 . '}');

# ---- clients that are slow, silent or gone
my @silent = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port}) } 1 .. 10;
$_->syswrite("POST /v1/namespace/x/desc") for @silent[ 0 .. 4 ];
alive('ten silent connections');
ok(wait_until(sub {
	my $open = 0;

	for my $socket (@silent)
	{
		$socket->blocking(0);
		my $n = $socket->sysread(my $buffer, 1000);
		$open++ if !defined $n;
	}
	return $open == 0;
}, 15), 'silent connections are closed after the idle timeout');
@silent = ();

# bytes now and then keep no place: a request has twice the idle timeout to arrive
my @dribbling = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port}) } 1 .. 4;
$dribbling[$_]->syswrite($_ < 2 ? "GET /v1/table HTTP/1.1\r\nX-Slow: "
	: "POST /v1/namespace/slow/create HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n$key\r\n") for 0 .. 3;
my $begun = time;
my @closed;
while (time - $begun < 20 && @closed < 4)
{
	local $SIG{PIPE} = 'IGNORE';
	for my $socket (grep { my $s = $_; !grep { $s == $_ } @closed } @dribbling)
	{
		$socket->blocking(0);
		my $n = $socket->sysread(my $buffer, 1000);
		push @closed, $socket if (defined $n && $n == 0) || !$socket->syswrite(' ');
	}
	sleep 0.3;
}
is(scalar(@closed), 4, 'dribbling clients are cut off');
cmp_ok(time - $begun, '>', 5, 'but not before their time');
alive('dribbling clients');

my @many = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port}) } 1 .. 20;
sleep 0.5;
my $turned_away = $rest->raw("GET /v1/table HTTP/1.1\r\nHost: x\r\n\r\n", 3);
like($turned_away, qr{\AHTTP/1\.1 503 .*"code":17}s, 'beyond the limit of connections: 503');
$_->close for @many;
ok($rest->wait_for(200, 10), 'and room again when they are gone');

# gone in the middle of a request, and before the answer
for (1 .. 20)
{
	my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port});

	$socket->syswrite("POST /v1/namespace/gone$_/create HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n$key\r\n" . ($_ % 2 ? '{' : '{}'));
	setsockopt($socket, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0)) if $_ % 3 == 0;
	$socket->close;
}
alive('vanished clients');

# ---- nothing leaks
my $descriptors = sub { scalar(() = glob("/proc/$worker/fd/*")) };
my ($fds, $memory) = ($descriptors->(), memory_kb());
for my $i (1 .. 300)
{
	$rest->call('POST', '/v1/namespace/' . ($i % 2 ? 'leak%' : 'missing') . '/describe', body => { properties => { a => 'x' x 10_000 } });
}
cmp_ok($descriptors->(), '<=', $fds + 3, 'descriptors after 300 failing requests');
cmp_ok(memory_kb() - $memory, '<', 4_000, 'memory after 300 failing requests');

# ---- connections of one address, while others are let in
$node->append_conf('postgresql.conf', 'lance_catalog.rest_max_connections_per_address = 5');
$node->restart;
ok($rest->wait_for(200, 10), 'restarted');
($worker) = $rest->workers;
my @of_one = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port}) } 1 .. 5;
sleep 0.5;
is($rest->raw($get, 3), '', 'beyond the limit for one address: closed');
my $elsewhere = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port}, LocalAddr => '127.0.0.2') or die "no connection: $!";
$elsewhere->syswrite($get =~ s/\r\n\r\n/\r\nConnection: close\r\n\r\n/r);
like(join('', <$elsewhere>), qr{\AHTTP/1\.1 200 }, 'another address is served');
$_->close for @of_one;
ok($rest->wait_for(200, 10), 'and so is the first when it has let go');

ok(slurp_file($node->logfile) !~ /PANIC|TRAP|terminated by signal/, 'nothing crashed');
done_testing();
