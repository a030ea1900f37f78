# rest_hostile.pl
#	  Attacks on the REST port for a while (test/hostile), in plain and over TLS: no crash, no leak, nobody else is disturbed.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use JSON::PP;
use LanceRest;
use PostgreSQL::Test::Utils;
use Test::More;

my $seconds = $ENV{LANCE_HOSTILE_SECONDS} // 10;
my $seed = $ENV{LANCE_TEST_SEED} // time() % 1_000_000;
my $folder = PostgreSQL::Test::Utils::tempdir();

system_or_bail('openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '30', '-subj', '/CN=localhost', '-addext',
	'subjectAltName=DNS:localhost', '-keyout', "$folder/server.key", '-out', "$folder/server.crt");
chmod 0600, "$folder/server.key";

for my $tls (0, 1)
{
	my $how = $tls ? 'TLS' : 'plain';
	my $rest = LanceRest->start("hostile_$how", 'lance_catalog.rest_workers = 2', 'lance_catalog.rest_executors = 4',
		'max_worker_processes = 16', 'lance_catalog.rest_max_body_size = 1MB', 'lance_catalog.rest_idle_timeout = 3s',
		'log_statement = none', 'log_min_messages = warning',
		$tls ? ('lance_catalog.rest_ssl = on', "lance_catalog.rest_ssl_cert_file = '$folder/server.crt'", "lance_catalog.rest_ssl_key_file = '$folder/server.key'") : ());
	my $node = $rest->{node};
	my @workers = $rest->workers;

	unlink "$folder/key";
	append_to_file("$folder/key", $rest->{key});
	my @command = ($ENV{PYTHON} // 'python3', "$FindBin::RealBin/../hostile/run.py", '--port', $rest->{port}, '--key-file', "$folder/key",
		'--seconds', $seconds, '--seed', $seed, map { ('--pid', $_) } @workers);
	push @command, '--ca', "$folder/server.crt" if $tls;
	open(my $out, '-|', @command) or die "no process: $!";
	my $text = do { local $/; <$out> };
	close $out;
	my $report = eval { decode_json($text) };

	ok(ref $report, "$how: the run came to its end") or diag($text);
	note("$how: $text");
	is_deeply($report->{failures}, [], "$how: no failure, seed $seed");
	cmp_ok($report->{counts}{good} // 0, '>', 50, "$how: good clients were served meanwhile");
	is_deeply([ $rest->workers ], \@workers, "$how: the same workers");
	my $log = slurp_file($node->logfile);
	ok($log !~ /PANIC|TRAP|terminated by signal|server process/, "$how: nothing crashed");
	ok(index($log, $rest->{key}) < 0, "$how: the key is not in the log");
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'lance_catalog REST%' AND state <> 'idle'"), '0', "$how: nothing runs any more");
	$node->stop('fast');
}
done_testing();
