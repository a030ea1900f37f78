# Versions of three tables and a row of an ordinary table in one transaction, while the backend or the server is killed and the
# store fails at every step: readers of the catalog see all of it or nothing, also in the middle, what was acknowledged stays,
# and the plain folders follow.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use LanceStore;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my @tables = qw(a b c);
my $steps = 9; # three intents, three manifests, three intents removed
my $store = LanceStore->start(counts => sub { $_[0] =~ /^(PUT|DELETE)$/ && $_[1] =~ /\.(intent|manifest)$/ });

# ---- the cluster

my $node = PostgreSQL::Test::Cluster->new('atomic');
$node->init;
$node->append_conf('postgresql.conf', qq{
lance_catalog.default_server = 'lake'
lance_catalog.store_retries = 1
lance_catalog.store_timeout = '20s'
restart_after_crash = on
synchronous_commit = off
log_min_messages = fatal
});
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION lance_catalog;
	CREATE SERVER lake FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://bucket', endpoint '$store->{url}', allow_http 'true');
	SELECT lance_declare_table(t) FROM unnest('{a,b,c}'::text[]) t;
	CREATE TABLE ordinary (n int);
});
my %folder = map { $_ => $node->safe_psql('postgres', qq{SELECT substr(location, 13) || '/_versions' FROM lance_describe_table('$_')}) } @tables;

# Whether a process is there, and not as a zombie that nobody waits for.
sub runs
{
	my ($pid) = @_;

	open my $f, '<', '/proc/' . ($pid // 'none') . '/stat' or return 0;
	return <$f> !~ /\) Z /;
}

# The server, started again when its postmaster was killed; processes that it left behind may still be ending.
sub revive
{
	return if runs($node->{_pid});
	for (1 .. 100) { last if !-e '/proc/' . ($node->{_pid} // 'none'); sleep 0.05 }
	for (1 .. 100)
	{
		$node->{_pid} = undef;
		return if $node->start(fail_ok => 1);
		sleep 0.1;
	}
	die 'the server does not start again';
}

# psql, again while the server recovers. What few queries end otherwise is shown and asked again, as a client would ask.
my $failed_queries = 0;

sub query
{
	my ($sql) = @_;

	for (1 .. 100)
	{
		revive();
		# A psql that finds no server may be gone before it has read its input, which is an exception here.
		my ($ret, $out, $err) = eval { $node->psql('postgres', $sql) };

		return $out if defined $ret && $ret == 0;
		if (defined $ret && $err !~ /recovery mode|starting up|shutting down|connection to server|server closed|terminated|not yet accepting/)
		{
			# Asked again, as a client would; what does not pass, or comes often, is a fault.
			diag("psql ended with $ret: $err\n$sql");
			die 'queries fail' if ++$failed_queries > 3;
		}
		sleep 0.1;
	}
	die 'the server does not come back';
}

# What the catalog's readers see: the newest version of each table, and how often the ordinary table has the attempt.
sub seen
{
	my ($attempt) = @_;

	return [ split /\|/, query('SELECT ' . join(', ', map { "coalesce((SELECT max(version) FROM lance_list_table_versions('$_')), 0)" } @tables)
		. ", (SELECT count(*) FROM ordinary WHERE n = $attempt)") ];
}

# What a client sees that opens the folders by plain URI.
sub plain { return [ map { $store->newest_in($folder{$_}) } @tables ] }

my $attempt = 0;
my %told; # table -> version -> attempt that was acknowledged

# The SQL of one transaction with a version of each table.
sub transaction
{
	my ($before, $victim) = @_;
	my $sql = $victim ? '' : "COPY (SELECT pg_backend_pid()) TO '$store->{dir}/victims';\n";

	$attempt++;
	$store->victims($victim) if $victim;
	$sql .= "BEGIN;\n";
	foreach my $i (0 .. $#tables)
	{
		my $staged = "$folder{$tables[$i]}/staged-$attempt";

		$store->put($staged, "manifest of attempt $attempt of $tables[$i]");
		$sql .= sprintf("SELECT version FROM lance_create_table_version('%s', %d, '%s');\n", $tables[$i], $before->[$i] + 1, $staged);
	}
	return "\\set ON_ERROR_STOP on\n$sql INSERT INTO ordinary VALUES ($attempt);\nCOMMIT;\nSELECT 'acknowledged'";
}

# Whether its commit was acknowledged, which is kept.
sub acknowledged
{
	my ($before, $out) = @_;

	return 0 if $out !~ /acknowledged/;
	$told{ $tables[$_] }{ $before->[$_] + 1 } = $attempt foreach 0 .. $#tables;
	return 1;
}

sub commit
{
	my ($before, $victim) = @_;
	my ($ret, $out, $err) = eval { $node->psql('postgres', transaction($before, $victim)) };

	return (acknowledged($before, $out // ''), $err // $@);
}

# The same while a reader looks again and again; what it saw is kept in @{$looks}.
sub commit_watched
{
	my ($before, $looks) = @_;
	my ($script, $out, $err) = ("$store->{dir}/transaction-$attempt.sql", '', '');

	append_to_file($script, transaction($before));
	my $run = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-f', $script ], '>', \$out, '2>', \$err);
	while ($run->pumpable)
	{
		push @$looks, seen($attempt);
		$run->pump_nb;
	}
	$run->finish;
	return (acknowledged($before, $out), $err);
}

sub scenario
{
	my ($plan, %expect) = @_;
	my $before = seen(0);
	my @looks;

	pop @$before;
	$store->plan($plan);
	my ($acknowledged, $err) = $expect{watched} ? commit_watched($before, \@looks)
		: commit($before, $expect{postmaster} ? $node->{_pid} : undef);
	my $what = $plan . ($expect{postmaster} ? ', postmaster' : '');

	$store->plan('');
	if ($expect{postmaster})
	{
		for (1 .. 100) { last if !runs($node->{_pid}); sleep 0.1 }
		ok(!runs($node->{_pid}), "$what: the postmaster is gone");
	}
	my $after = seen($attempt);
	my $row = pop @$after;
	my @changed = grep { $after->[$_] != $before->[$_] && $store->get("$folder{$tables[$_]}/" . LanceStore::manifest_name($after->[$_])) ne 'faster' } 0 .. $#tables;
	my $all = @changed == @tables;

	ok((@changed == 0 && $row == 0) || ($all && $row == 1), "$what: all or nothing")
		or diag("before @$before, after @$after, row $row, acknowledged $acknowledged $err");
	ok(!$acknowledged || $all, "$what: what is acknowledged is there") or diag($err);
	is($acknowledged, $expect{acknowledged}, "$what: the answer") or diag($err) if defined $expect{acknowledged};
	like($err, $expect{error}, "$what: the error") if defined $expect{error};
	if ($expect{watched})
	{
		my ($none, $both) = ("@$before 0", join(' ', (map { $_ + 1 } @$before), 1));
		my @other = grep { $_ ne $none && $_ ne $both } map { "@$_" } @looks;

		is_deeply(\@other, [], "$what: a reader sees all or nothing in the middle too");
		cmp_ok(scalar(@looks), '>', 1, "$what: it looked");
	}

	# The chain goes on, and the folders hold what the catalog has.
	my ($next, $why) = commit($after);
	ok($next, "$what: the next transaction succeeds") or diag($why);
	is_deeply(plain(), [ map { $_ + 1 } @$after ], "$what: the plain folders follow");
}

my ($first) = commit([ 0, 0, 0 ]);
ok($first, 'three tables and a row');
is_deeply(seen($attempt), [ 1, 1, 1, 1 ], 'are there');
is_deeply([ map { $store->keys_of("$folder{$_}/") } @tables ],
	[ map { ("$folder{$_}/18446744073709551614.manifest", "$folder{$_}/staged-1") } @tables ], 'without intents');
is(scalar(() = $store->log_of_changes =~ /\.(?:intent|manifest)$/mg), $steps, 'in so many steps');

foreach my $n (1 .. $steps)
{
	scenario("$n killed", acknowledged => 0);
	scenario("$n done", acknowledged => 0);
	scenario("$n killed", postmaster => 1);
	scenario("$n done", postmaster => 1) if $n == 6 || $n == 9;
	scenario("$n lost", acknowledged => 1);
	scenario("$n error", acknowledged => 1);
	scenario("$n slow", acknowledged => 1, watched => 1);
	scenario("$n conflict");
	scenario("$n refused");
	scenario("from $n dropped");
	scenario("from $n $_") foreach $n % 3 == 1 ? qw(error lost conflict refused) : ();
}
scenario("$_ taken", acknowledged => 0, error => qr/written by another client/) foreach 4 .. 6;

# ---- intents that stay after the commit, since the store fails at their removal

sub intents { my ($table) = @_; return scalar grep { /\.intent$/ } $store->keys_of("$folder{$table}/") }

sub two_versions
{
	my ($table, $first) = @_;

	$store->put("$folder{$table}/staged-$_", "manifest $_ of $table") foreach ($first, $first + 1);
	$store->plan('from 5 error');
	query(join("\n", 'BEGIN;', (map { "SELECT version FROM lance_create_table_version('$table', $_, '$folder{$table}/staged-$_');" } $first, $first + 1), 'COMMIT;'));
	$store->plan('');
	is(intents($table), 2, "two versions of $table are committed, and have their intents still");
	return;
}

sub newest { my ($table) = @_; return query("SELECT max(version) FROM lance_list_table_versions('$table')") }

my %location = map { $_ => "s3://bucket/" . $folder{$_} =~ s{/_versions$}{}r } @tables;
my ($of_a, $of_b, $of_c) = @{ seen(0) };

two_versions('a', $of_a + 1);
query("SELECT lance_deregister_table('a'); SELECT lance_register_table('a', '$location{a}')");
is(newest('a'), $of_a + 2, 'a table that is deregistered and registered again has the versions that were acknowledged');
is(intents('a'), 0, 'without intents');
two_versions('b', $of_b + 1);
query("SELECT lance_register_table('b', '$location{b}', mode => 'Overwrite')");
is(newest('b'), $of_b + 2, 'so has one whose registration is replaced');
two_versions('c', $of_c + 1);
$store->put("$folder{c}/staged-next", 'manifest next of c');
query(sprintf("SELECT version FROM lance_create_table_version('c', %d, '%s')", $of_c + 3, "$folder{c}/staged-next"));
is(intents('c'), 0, 'the next commit removes the intents of all versions of the one before');

# A store that fails when the table is deregistered, too.
two_versions('c', $of_c + 4);
$store->plan('from 1 error');
my (undef, undef, $warning) = $node->psql('postgres', "SELECT lance_deregister_table('c')");
$store->plan('');
like($warning, qr/WARNING:  the store of table "c" could not be asked.*HINT:  If files "\*\.intent"/s, 'there is a warning');
unlink $store->object_file($_) foreach grep { /\.intent$/ } $store->keys_of("$folder{c}/");
query("SELECT lance_register_table('c', '$location{c}')");
is(newest('c'), $of_c + 5, 'what it tells to do keeps the versions');

# A kill and a writer past the catalog who goes on from what it finds: nothing of his is lost.
$store->plan('6 done');
my $before = seen(0);
pop @$before;
commit($before);
$store->plan('');
query('SELECT 1');
my $name = LanceStore::manifest_name($before->[0] + 2);
$store->put("$folder{a}/$name", 'from a writer past the catalog');
is(query("SELECT max(version) FROM lance_list_table_versions('a')"), $before->[0] + 2, 'a version past the catalog upon what a crash left is seen');
$store->put("$folder{a}/staged-x", 'after that');
is(query(sprintf("SELECT version FROM lance_create_table_version('a', %d, '%s')", $before->[0] + 3, "$folder{a}/staged-x")), $before->[0] + 3, 'and built upon');
is($store->get("$folder{a}/$name"), 'from a writer past the catalog', 'it is left as it is');
is(query("SELECT string_agg(version::text, ',' ORDER BY version) FROM lance_list_table_versions('a') WHERE version > $before->[0]"),
	join(',', map { $before->[0] + $_ } 1 .. 3), 'with what it was built on');

# Whatever came after, each version that was acknowledged has the bytes of its attempt, and none is missing.
my @other;
foreach my $table (@tables)
{
	foreach my $version (sort { $a <=> $b } keys %{ $told{$table} })
	{
		my $content = $store->get("$folder{$table}/" . LanceStore::manifest_name($version)) // 'nothing';

		push @other, "$table $version: $content" if $content ne "manifest of attempt $told{$table}{$version} of $table";
	}
	is(query("SELECT count(*) = max(version) FROM lance_list_table_versions('$table')"), 't', "versions of $table without a gap");
}
is_deeply(\@other, [], 'no acknowledged version is lost or overwritten');
cmp_ok(scalar(keys %{ $told{a} }), '>', 100, 'of many');
is(query('SELECT count(*) FROM ordinary WHERE n IN (' . join(',', values %{ $told{a} }) . ')'), scalar(keys %{ $told{a} }), 'nor is a row');

unlike(slurp_file($node->logfile), qr/PANIC|while in COMMIT state/, 'no process failed after its commit record');

$node->stop('fast');
$store->stop;
done_testing();
