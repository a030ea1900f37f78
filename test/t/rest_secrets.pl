# rest_secrets.pl
#	  Keys and tokens of callers get into no log, whatever is logged, into no reply, and stay in no memory of the server.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use LanceRest;
use PostgreSQL::Test::Utils;
use Test::More;

my $rest = LanceRest->start('secrets', 'lance_catalog.rest_workers = 1', 'lance_catalog.rest_executors = 2', 'lance_catalog.rest_max_body_size = 1MB',
	'log_min_messages = debug5', 'log_statement = all', 'log_min_duration_statement = 0', 'log_error_verbosity = verbose',
	'debug_print_parse = on', 'debug_print_plan = on', 'log_parameter_max_length_on_error = -1');
my $node = $rest->{node};
my $key = $rest->{key};
my $stranger = 'lance_' . 'StrangersKeyThatNobodyKnows_0123456789abcd';
my $token = 'eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYWRtaW5Ub2tlbiJ9.SignatureOfTheTokenThatIsNotGood';
my $replies = '';
my $from = -s $node->logfile;

# the part of each that is nobody else's
my @secrets = map { substr $_, 6 } $key, $stranger, $token;

for my $secret ($key, $stranger, $token)
{
	for my $headers ({ 'x-api-key' => $secret }, { authorization => "Bearer $secret" }, { authorization => "bearer   $secret" }, { authorization => "Basic $secret" })
	{
		for my $case ([ 'GET', '/v1/table' ], [ 'POST', '/v1/namespace/a/create', {} ], [ 'POST', '/v1/table/a%24t/declare', {} ], [ 'POST', '/v1/table/missing/describe', {} ],
			[ 'POST', '/v1/table/a%24t/version/create', { version => 1, manifest_path => 'nowhere' } ], [ 'POST', '/v1/table/t/insert', {} ], [ 'PUT', '/v1/table', {} ],
			[ 'POST', '/v1/namespace/a/create', '{"a":' ], [ 'POST', '/v1/namespace/big/create', ' ' x 1_100_000 ], [ 'POST', '/v1/namespace/%ff/exists', {} ])
		{
			my ($method, $path, $body) = @$case;
			my (undef, undef, undef, $content) = $rest->call($method, $path, key => undef, headers => $headers, defined $body ? (body => $body) : ());

			$replies .= $content;
		}
	}
	for my $bytes ("GET /v1/table HTTP/1.1\r\nHost: x\r\nx-api-key $secret\r\n\r\n", "GET /v1/table HTTP/1.1\r\nHost: x\r\nx-api-key: $secret\r\n folded\r\n\r\n",
		"x-api-key: $secret\r\n\r\n", "GET /v1/table HTTP/1.1\r\nHost: x\r\nx-api-key: $secret\r\nx-api-key: $secret\r\n\r\n",
		"GET /v1/table?api_key=$secret HTTP/1.1\r\nHost: x\r\n\r\n", "POST /v1/table/a/exists HTTP/1.1\r\nHost: x\r\nx-api-key: $secret\r\nContent-Length: 2x\r\n\r\n",
		"POST /v1/table/a/exists HTTP/1.1\r\nHost: x\r\nx-api-key: $secret\r\nTransfer-Encoding: chunked\r\n\r\n$secret\r\n",
		"TRACE /v1/table HTTP/1.1\r\nHost: x\r\nx-api-key: $secret\r\n\r\n", "GET /v1/table HTTP/1.1\r\nHost: x\r\nX-Api-Key:$secret\r\nnonsense\r\n\r\n")
	{
		$replies .= $rest->raw($bytes, 2);
	}
}
$rest->expect('the key is good', 200, undef, 'POST', '/v1/namespace/a/exists', body => {});
my $log = slurp_file($node->logfile, $from);
cmp_ok(length($log), '>', 100_000, 'much is logged');
for my $i (0 .. 2)
{
	ok(index($log, $secrets[$i]) < 0, "secret $i is not in the log");
	ok(index($replies, $secrets[$i]) < 0, "secret $i is in no reply");
}

# Connections are closed, so what is left would be left for good. Only what was sent as it should be is ours to wipe.
SKIP:
{
	my @quiet = (
		$node->safe_psql('postgres', 'SELECT api_key FROM lance_create_api_key(current_user::regrole)'),
		'lance_AnotherStrangersKeyThatNobodyKnows_0123456', 'eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoicXVpZXRUb2tlbiJ9.SignatureOfAnotherToken');
	for my $secret (@quiet)
	{
		for my $headers ({ 'x-api-key' => $secret }, { authorization => "Bearer $secret" })
		{
			$rest->call(@$_[ 0, 1 ], key => undef, headers => $headers, body => $_->[2])
			  for [ 'POST', '/v1/namespace/a/exists', '{}' ], [ 'POST', '/v1/table/a%24u/declare', '{}' ], [ 'POST', '/v1/table/a%24u/drop', '{}' ],
			  [ 'POST', '/v1/table/t/insert', '{}' ], [ 'POST', '/v1/namespace/big/create', ' ' x 200_000 . '{}' ], [ 'POST', '/v1/namespace/a/create', '{"a":' ];
		}
	}
	my @pids = split /\n/, $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'lance_catalog REST%'");
	my %found;

	for my $pid (@pids)
	{
		open(my $memory, '<:raw', "/proc/$pid/mem") or skip "memory of the processes can't be read", 1;
		for my $line (split /\n/, slurp_file("/proc/$pid/maps"))
		{
			my ($begin, $end, $rights, $what) = $line =~ /^(\w+)-(\w+) (\S+) \S+ \S+ \S+\s*(.*)/ or next;

			next if $rights !~ /^rw/ || $what =~ /^\[v/;
			no warnings 'portable';
			sysseek($memory, hex $begin, 0) or next;
			my $left = hex($end) - hex($begin);
			my $text = '';
			while ($left > 0 && (my $n = sysread($memory, $text, $left < 1 << 20 ? $left : 1 << 20, length($text) > 200 ? 200 : length $text)))
			{
				$left -= $n;
				$found{"$pid $what"}++ if grep { index($text, substr $_, 6) >= 0 } @quiet;
				$text = substr($text, -200);
			}
		}
	}
	cmp_ok(scalar(@pids), '>=', 2, 'workers and executors');
	is_deeply(\%found, {}, 'no secret is left in their memory');
}
ok(slurp_file($node->logfile) !~ /PANIC|TRAP|terminated by signal/, 'nothing crashed');
$node->stop('fast');
done_testing();
