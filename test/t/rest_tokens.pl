# rest_tokens.pl
#	  Web tokens as credentials of the REST server.

use strict;
use warnings FATAL => 'all';

use Digest::SHA qw(hmac_sha256);
use FindBin;
use lib "$FindBin::RealBin/lib";
use JSON::PP;
use LanceRest;
use MIME::Base64 qw(encode_base64url);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $folder = PostgreSQL::Test::Utils::tempdir();
my $secret = 'a secret of more than thirty-two bytes';
my $rest = LanceRest->start('tokens', "lance_catalog.rest_jwt_key_file = '$folder/keys'", 'log_statement = all',
	'log_min_messages = info');
my $node = $rest->{node};

sub put
{
	my ($name, $text) = @_;

	open my $file, '>', "$folder/$name" or die $!;
	print $file $text;
	close $file;
	return;
}

sub part { return encode_base64url(ref $_[0] ? JSON::PP->new->canonical->encode($_[0]) : $_[0]) }

sub token
{
	my ($claims, $header) = @_;
	my $text = part($header // { alg => 'HS256', typ => 'JWT' }) . '.' . part({ exp => time() + 300, %$claims });

	return $text . '.' . encode_base64url(hmac_sha256($text, $secret));
}

# Signed by a private key in a file.
sub rsa_token
{
	my ($key, $claims, $header) = @_;
	my $text = part({ alg => 'RS256', %{ $header // {} } }) . '.' . part({ exp => time() + 300, %$claims });

	put('text', $text);
	run_log([ 'openssl', 'dgst', '-sha256', '-sign', $key, '-out', "$folder/signature", "$folder/text" ]) or die;
	return $text . '.' . encode_base64url(slurp_file("$folder/signature"));
}

sub with
{
	my ($what, $status, $code, $token, %more) = @_;

	return $rest->expect($what, $status, $code, 'POST', '/v1/namespace/a/exists', key => undef, body => {},
		headers => { authorization => "Bearer $token" }, %more);
}

sub set
{
	my (%values) = @_;

	$node->safe_psql('postgres', "ALTER SYSTEM SET lance_catalog.$_ = '$values{$_}'") for keys %values;
	$node->reload;
	return;
}

put('keys', "$secret\n");
$node->safe_psql('postgres', q{CREATE ROLE reader; CREATE ROLE nobody; CREATE ROLE "Ann Ö"; CREATE ROLE boss SUPERUSER;
	SELECT lance_grant('reader', 'read'); SELECT lance_grant('"Ann Ö"', 'admin')});
$rest->expect('a namespace', 200, undef, 'POST', '/v1/namespace/a/create', body => {});

# ---- who it is, and what that role may do
with('a reader reads', 200, undef, token({ role => 'reader' }));
$rest->expect('a reader does not write', 403, 15, 'POST', '/v1/namespace/b/create', key => undef, body => {},
	headers => { authorization => 'Bearer ' . token({ role => 'reader' }) });
$rest->expect('as x-api-key too', 200, undef, 'POST', '/v1/namespace/a/exists', key => token({ role => 'reader' }), body => {});
$rest->expect('an executor knows tokens', 200, undef, 'POST', '/v1/namespace/c/create', key => token({ role => 'Ann Ö' }), body => {});
with('a role without rights', 403, 15, token({ role => 'nobody' }));
with('a role that does not exist', 401, 16, token({ role => 'ghost' }));
with('a superuser', 401, 16, token({ role => 'boss' }));
with('a role of the server itself', 401, 16, token({ role => 'pg_read_server_files' }));
with('no role', 401, 16, token({}));
with('a list of roles', 401, 16, token({ role => ['reader'] }));
with('a name with quotes', 401, 16, token({ role => q{reader'; DROP TABLE lance.api_key; --} }));
$rest->expect('keys still work', 200, undef, 'POST', '/v1/namespace/a/exists', body => {});

# ---- what does not hold
my ($json) = with('expired', 401, 16, token({ role => 'reader', exp => time() - 60 }));
is($json->{detail}, 'The token has expired.', 'and why');
with('within the leeway', 200, undef, token({ role => 'reader', exp => time() - 5 }));
with('not valid yet', 401, 16, token({ role => 'reader', nbf => time() + 3600 }));
with('another algorithm', 401, 16, token({ role => 'reader' }, { alg => 'none' }));
my $good = token({ role => 'reader' });
(my $other = $good) =~ s/\.([^.]+)\./'.' . part({ role => 'Ann Ö', exp => time() + 300 }) . '.'/e;
with('other claims under the same signature', 401, 16, $other);
with('no signature', 401, 16, $good =~ s/[^.]+\z//r);
with('something with dots', 401, 16, '..');
with('a long one', 401, 16, 'a.' . 'b' x 12000 . '.c');

# ---- issuer, audience, another claim
set(rest_jwt_issuer => 'https://id.example', rest_jwt_audience => 'lance', rest_jwt_role_claim => 'https://id.example/role');
my %claims = ('https://id.example/role' => 'reader', iss => 'https://id.example', aud => [ 'x', 'lance' ]);
ok(wait_until(sub { ($rest->call('POST', '/v1/namespace/a/exists', key => token(\%claims), body => {}))[0] == 200 }, 10),
	'issuer, audience and claim as set');
with('another issuer', 401, 16, token({ %claims, iss => 'https://other.example' }));
with('another audience', 401, 16, token({ %claims, aud => 'y' }));
with('the claim of before', 401, 16, token({ %claims, 'https://id.example/role' => undef, role => 'reader' }));
set(rest_jwt_issuer => '', rest_jwt_audience => '', rest_jwt_role_claim => 'role');

# ---- RSA, and keys that are changed while the server runs
run_log([ 'openssl', 'genrsa', '-out', "$folder/$_", '2048' ]) or die for qw(one two);
run_log([ 'openssl', 'rsa', '-in', "$folder/one", '-pubout', '-out', "$folder/keys" ]) or die;
$node->reload;
ok(wait_until(sub { ($rest->call('POST', '/v1/namespace/a/exists', key => rsa_token("$folder/one", { role => 'reader' }), body => {}))[0] == 200 }, 10),
	'a public key in PEM');
with('the secret of before', 401, 16, token({ role => 'reader' }));
with('another private key', 401, 16, rsa_token("$folder/two", { role => 'reader' }));
chomp(my $modulus = `openssl rsa -in $folder/two -noout -modulus`);
put('keys', JSON::PP->new->encode({ keys => [ { kty => 'RSA', kid => 'k2', use => 'sig', e => 'AQAB',
	n => encode_base64url(pack('H*', $modulus =~ s/^Modulus=//r)) }, { kty => 'oct', kid => 'k1', k => encode_base64url($secret) } ] }));
$node->reload;
ok(wait_until(sub { ($rest->call('POST', '/v1/namespace/a/exists', key => rsa_token("$folder/two", { role => 'reader' }), body => {}))[0] == 200 }, 10),
	'a key of a set');
with('a key of the other kind in the set', 200, undef, token({ role => 'reader' }));
with('the name of another key', 401, 16, rsa_token("$folder/two", { role => 'reader' }, { kid => 'k1' }));

# ---- keys that can't be read are the operator's matter
put('keys', 'short');
$node->reload;
ok(wait_until(sub { ($rest->call('POST', '/v1/namespace/a/exists', key => token({ role => 'reader' }), body => {}))[0] == 503 }, 10),
	'keys that can not be read: 503');
like(slurp_file($node->logfile), qr/holds no keys for web tokens.*at least 32 are needed/s, 'the log says why');
$rest->expect('API keys work all the same', 200, undef, 'POST', '/v1/namespace/a/exists', body => {});
set(rest_jwt_key_file => '');
ok(wait_until(sub { ($rest->call('POST', '/v1/namespace/a/exists', key => token({ role => 'reader' }), body => {}))[0] == 401 }, 10),
	'no tokens where none are wanted');
my $log = slurp_file($node->logfile);
unlike($log, qr/\Q$good\E|\Q$secret\E/, 'neither token nor secret in the log');
unlike($log, qr/PANIC|TRAP|terminated by signal/, 'nothing crashed');
$node->stop;
done_testing();
