# rest_tls.pl
#	  TLS on the REST port: real clients, certificates that change or can't be used, handshakes that never end.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use IO::Socket::INET;
use IPC::Open2;
use LanceRest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $folder = PostgreSQL::Test::Utils::tempdir();
my $python = $ENV{PYTHON} // 'python3';

# ---- certificates: an authority, and what it signs
sub openssl
{
	system_or_bail('openssl', @_);
	return;
}

openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '30', '-subj', '/CN=Test authority', '-addext',
	'keyUsage=critical,keyCertSign', '-keyout', "$folder/ca.key", '-out', "$folder/ca.crt");
append_to_file("$folder/extensions", "subjectAltName=DNS:localhost,IP:127.0.0.1\n");

# NAME.key and NAME.crt, whose serial number is $serial.
sub certificate
{
	my ($name, $serial, @algorithm) = @_;

	openssl('req', '-new', '-newkey', @algorithm ? @algorithm : 'rsa:2048', '-nodes', '-subj', '/CN=localhost',
		'-keyout', "$folder/$name.key", '-out', "$folder/$name.csr");
	openssl('x509', '-req', '-in', "$folder/$name.csr", '-CA', "$folder/ca.crt", '-CAkey', "$folder/ca.key", '-set_serial',
		$serial, '-days', '30', '-extfile', "$folder/extensions", '-out', "$folder/$name.crt");
	chmod 0600, "$folder/$name.key";
	return;
}

certificate('one', 4097);
certificate('two', 4098, 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256');
certificate('three', 4099);

my $rest = LanceRest->start('tls',
	'lance_catalog.rest_workers = 1',
	'lance_catalog.rest_ssl = on',
	"lance_catalog.rest_ssl_cert_file = '$folder/one.crt'",
	"lance_catalog.rest_ssl_key_file = '$folder/one.key'",
	'lance_catalog.rest_max_body_size = 1MB',
	'lance_catalog.rest_max_connections = 120',
	'lance_catalog.rest_idle_timeout = 3s');
my $node = $rest->{node};
my ($worker) = $rest->workers;

# ---- a client
sub connect_tls
{
	my ($out, $in);
	my $pid = open2($out, $in, $python, "$FindBin::RealBin/lib/tls_client.py", $rest->{port}, "$folder/ca.crt");
	my $hello = <$out> // '';

	chomp $hello;
	return { pid => $pid, out => $out, in => $in, hello => $hello };
}

sub command
{
	my ($client, $line) = @_;

	print { $client->{in} } "$line\n";
	$client->{in}->flush;
	my $answer = readline($client->{out}) // 'closed';
	chomp $answer;
	return $answer;
}

sub disconnect
{
	my ($client) = @_;

	close $client->{in};
	close $client->{out};
	waitpid $client->{pid}, 0;
	return;
}

sub get_text
{
	my ($target) = @_;

	return "GET $target HTTP/1.1\r\nHost: localhost\r\nx-api-key: $rest->{key}\r\n\r\n";
}

# Send bytes, return the answer.
sub ask
{
	my ($client, $bytes) = @_;

	command($client, 'send ' . unpack('H*', $bytes));
	my $answer = command($client, 'receive');
	return $answer eq 'closed' ? '' : pack('H*', $answer);
}

sub serial
{
	my $client = connect_tls();
	my $hello = $client->{hello};

	disconnect($client);
	return $hello =~ /^TLSv\S+ (\w+)$/ ? hex($1) : $hello;
}

sub alive
{
	my ($what) = @_;
	my $client = connect_tls();

	like(ask($client, get_text('/v1/table')), qr{\AHTTP/1\.1 200 }, "after $what: served");
	disconnect($client);
	is_deeply([ $rest->workers ], [$worker], "after $what: the same worker");
	return;
}

# ---- requests
my $client = connect_tls();
like($client->{hello}, qr/^TLSv1\.3 1001$/, 'TLS 1.3, with our certificate');
like(ask($client, get_text('/v1/table')), qr{\AHTTP/1\.1 200 .*"tables":\[\]}s, 'a request');
like(scalar(`curl -s --cacert '$folder/ca.crt' -H 'x-api-key: $rest->{key}' https://localhost:$rest->{port}/v1/table --resolve localhost:$rest->{port}:127.0.0.1`),
	qr/"tables":\[\]/, 'by curl');
my $body = '{"properties":{"a":"' . 'x' x 500_000 . '"}}';
my $made = ask($client, "POST /v1/namespace/a/create HTTP/1.1\r\nHost: x\r\nx-api-key: $rest->{key}\r\nContent-Length: " . length($body) . "\r\n\r\n$body");
like(substr($made, 0, 20), qr{\AHTTP/1\.1 200 }, 'a body of many records');
cmp_ok(length($made), '>', 500_000, 'and an answer of as many');
like(ask($client, "POST /v1/table/a%24t/declare HTTP/1.1\r\nHost: x\r\nx-api-key: $rest->{key}\r\nContent-Length: 2\r\n\r\n{}"),
	qr{\AHTTP/1\.1 200 }, 'a request that an executor runs');

disconnect($client);

# a client of the namespace, which is told the authority by a property
SKIP:
{
	skip 'lancedb is not there', 1 if system("'$python' -c 'import lancedb' 2>/dev/null") != 0;
	my $script = 'import sys, lancedb; p = {"uri": "https://localhost:" + sys.argv[1], "header.x-api-key": sys.argv[2], "tls.ssl_ca_cert": sys.argv[3]}; ' .
	  'db = lancedb.connect_namespace("rest", p); db.create_table("over_tls", data=[{"a": 1}, {"a": 2}]); print(db.open_table("over_tls").count_rows())';

	is(scalar(`'$python' -c '$script' $rest->{port} '$rest->{key}' '$folder/ca.crt' 2>$folder/client.log`), "2\n", 'LanceDB over TLS')
	  or diag(slurp_file("$folder/client.log"));
}

# what is answered in the middle of an upload comes inside TLS
$client = connect_tls();
my $chunk = sprintf("%x\r\n%s\r\n", 65536, ' ' x 65536);
command($client, 'send ' . unpack('H*', "POST /v1/namespace/b/create HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nx-api-key: $rest->{key}\r\n\r\n"));
command($client, 'send ' . unpack('H*', $chunk)) for 1 .. 17;
like(pack('H*', command($client, 'receive') =~ s/closed//r), qr{\AHTTP/1\.1 413 .*"code":13}s, 'chunks past the limit: 413 inside TLS');
disconnect($client);
alive('a body that is too large');

# a client that ends its side gets its answer
$client = connect_tls();
command($client, 'send ' . unpack('H*', get_text('/v1/table')));
command($client, 'half');
like(pack('H*', command($client, 'receive') =~ s/closed//r), qr{\AHTTP/1\.1 200 }, 'a client that has closed its side is answered');
disconnect($client);

# ---- versions
for my $version ('tls1', 'tls1_1')
{
	my $out = `timeout 20 openssl s_client -connect 127.0.0.1:$rest->{port} -$version -cipher 'ALL:\@SECLEVEL=0' 2>&1 </dev/null`;

	unlike($out, qr/Cipher is [A-Z]*[0-9]/, "$version: no session");
	like($out, qr/alert protocol version|no protocols available|unexpected eof/, "$version is refused");
}
my $old = `timeout 20 openssl s_client -connect 127.0.0.1:$rest->{port} -tls1_2 -CAfile '$folder/ca.crt' 2>&1 </dev/null`;
like($old, qr/Protocol\s*: TLSv1\.2/, 'TLS 1.2 is spoken');
like($old, qr/Verify return code: 0/, 'and its certificate is good');
alive('other versions');

# ---- plain HTTP and garbage on the port
is($rest->raw(get_text('/v1/table'), 5, 1) =~ /HTTP/ ? 'answered' : 'closed', 'closed', 'plain HTTP is not answered');
$rest->raw($_, 5, 1) for ("\0" x 5000, "\x16\x03\x01\xff\xff" . 'r' x 70_000, "\x80\x2e\x01\x03\x01" . 'r' x 46, 'x');
alive('garbage');
$client = connect_tls();
command($client, 'raw ' . unpack('H*', get_text('/v1/table') x 3));
unlike(pack('H*', command($client, 'receive') =~ s/closed//r), qr/HTTP/, 'plain text in the middle of TLS ends the connection');
disconnect($client);
alive('plain text inside');

# ---- handshakes that never end: no processor time, and an end
my $ticks = sub {
	my @fields = split / /, slurp_file("/proc/$worker/stat") =~ s/^.*\) //r;

	return $fields[11] + $fields[12];
};
my $hello = pack('H*', '16030102000100') . "\x01\xfc\x03\x03" . 'r' x 20;
my @stalled = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port}) // die "no connection: $!" } 1 .. 20;
$_->syswrite($hello) for @stalled[ 0 .. 9 ];
sleep 0.5;
my $used = $ticks->();
sleep 2;
cmp_ok($ticks->() - $used, '<=', 5, 'handshakes that wait take no processor time');
alive('handshakes that wait');
my @dribbling = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port}) // die "no connection: $!" } 1 .. 4;
$_->syswrite("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03") for @dribbling;
ok(wait_until(sub {
	local $SIG{PIPE} = 'IGNORE';

	for my $socket (@dribbling)
	{
		$socket->blocking(0);
		$socket->syswrite('r');
	}
	return !grep { my $s = $_; $s->blocking(0); my $n = $s->sysread(my $piece, 100); !defined $n && $!{EAGAIN} } @stalled, @dribbling;
}, 20), 'stalled and dribbling handshakes are cut off');
@stalled = @dribbling = ();
alive('handshakes that were cut off');

# ---- many connections, and what is left of them
my $descriptors = sub { scalar(() = glob("/proc/$worker/fd/*")) };
my $before = $descriptors->();
my $crowd = connect_tls();
is(command($crowd, 'crowd 99 ' . unpack('H*', get_text('/v1/table'))), '99', '100 connections at once');
cmp_ok($descriptors->(), '>=', $before + 100, 'are all held by the worker');
disconnect($crowd);
ok(wait_until(sub { $descriptors->() <= $before + 1 }, 10), 'and are gone when they end');
alive('100 connections');

# beyond the limit: closed before the handshake
my @filling = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port}) } 1 .. 121;
is($rest->raw($hello, 2, 1), '', 'beyond the limit of connections: closed');
$_->close for @filling;
ok(wait_until(sub { $descriptors->() <= $before + 1 }, 10), 'and room again');

# ---- reload
sub reload
{
	my ($certificate, $key) = @_;
	my $from = -s $node->logfile;

	$node->safe_psql('postgres', "ALTER SYSTEM SET lance_catalog.rest_ssl_cert_file = '$certificate'");
	$node->safe_psql('postgres', "ALTER SYSTEM SET lance_catalog.rest_ssl_key_file = '$key'");
	$node->reload;
	return $from;
}

my $kept = connect_tls();
like(ask($kept, get_text('/v1/table')), qr{\AHTTP/1\.1 200 }, 'a connection');
reload("$folder/two.crt", "$folder/two.key");
ok(wait_until(sub { serial() eq '4098' }, 10), 'after a reload new connections see the new certificate');
like(ask($kept, get_text('/v1/table')), qr{\AHTTP/1\.1 200 }, 'and the old one goes on');
disconnect($kept);

# the files of a name are read again, too
rename "$folder/three.$_", "$folder/two.$_" for 'key', 'crt';
$node->reload;
ok(wait_until(sub { serial() eq '4099' }, 10), 'so do they after the files were replaced');

# what can't be used changes nothing
certificate('open', 5000);
chmod 0644, "$folder/open.key";
openssl('rsa', '-aes128', '-passout', 'pass:secret', '-in', "$folder/one.key", '-out', "$folder/sealed.key");
append_to_file("$folder/broken.crt", "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n");
append_to_file("$folder/empty.crt", '');
for my $case (
	[ 'open.crt', 'open.key', 'has group or world access' ],
	[ 'one.crt', 'sealed.key', 'is encrypted with a passphrase' ],
	[ 'broken.crt', 'one.key', 'could not load REST certificate file' ],
	[ 'empty.crt', 'one.key', 'could not load REST certificate file' ],
	[ 'missing.crt', 'one.key', 'could not open file' ],
	[ 'one.crt', 'missing.key', 'could not access REST private key file' ],
	[ 'one.crt', '.', 'is not a regular file' ],
	[ 'one.crt', 'open.csr', 'has group or world access|could not load' ],
	[ 'one.crt', 'two.key', 'does not belong to certificate file' ])
{
	my ($certificate, $key, $told) = @$case;
	my $from = reload("$folder/$certificate", "$folder/$key");

	ok(wait_until(sub { slurp_file($node->logfile, $from) =~ /WARNING: [^\n]*(?:$told)/ }, 10), "$certificate, $key: a warning");
	like(slurp_file($node->logfile, $from), qr/The old certificate stays in use\..*HINT:  Mend /s, "$certificate, $key: that says what to do");
	is(serial(), '4099', "$certificate, $key: the old certificate stays");
}
ok(slurp_file($node->logfile) !~ /PRIVATE KEY-----/, 'no key gets into the log');
is_deeply([ $rest->workers ], [$worker], 'all that with one worker');

# ---- at the start
$node->stop('fast');
my $from = -s $node->logfile;
$node->start;
ok(wait_until(sub { slurp_file($node->logfile, $from) =~ /LOG: [^\n]*does not belong.*No REST request is answered/s }, 10),
	'started with a certificate that is no good: the log says so');
is($rest->raw(get_text('/v1/table'), 5, 1), '', 'nobody is served in plain');
like(connect_tls()->{hello}, qr/^failed/, 'nor over TLS');
reload("$folder/one.crt", "$folder/one.key");
ok(wait_until(sub { serial() eq '4097' }, 10), 'until a reload mends it');

# only TLS 1.3, with the certificate of the server itself
$node->safe_psql('postgres', 'ALTER SYSTEM RESET ALL');
$node->append_conf('postgresql.conf', "lance_catalog.rest_ssl_cert_file = ''\nlance_catalog.rest_ssl_key_file = ''\n" .
	"ssl_cert_file = '$folder/two.crt'\nssl_key_file = '$folder/two.key'\nlance_catalog.rest_ssl_min_protocol_version = 'TLSv1.3'");
$node->restart;
ok(wait_until(sub { serial() eq '4099' }, 10), "the server's own certificate");
like(scalar(`timeout 20 openssl s_client -connect 127.0.0.1:$rest->{port} -tls1_2 2>&1 </dev/null`), qr/alert protocol version|unexpected eof/, 'TLS 1.2 is refused where 1.3 is asked for');
$node->stop('fast');

# TLS to the plain port
$node->append_conf('postgresql.conf', 'lance_catalog.rest_ssl = off');
$node->start;
ok($rest->wait_for(200, 10), 'without TLS');
($worker) = $rest->workers;
like(connect_tls()->{hello}, qr/^failed/, 'TLS to the plain port fails');
$rest->expect('and hurts nobody', 200, undef, 'GET', '/v1/table');
is_deeply([ $rest->workers ], [$worker], 'the same worker');
$node->stop('fast');
ok(slurp_file($node->logfile) !~ /PANIC|TRAP|terminated by signal/, 'nothing crashed');
done_testing();
