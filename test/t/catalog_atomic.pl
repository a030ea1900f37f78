# Versions of three tables and a row of an ordinary table in one transaction, while backends are killed and the store fails at
# every step: readers of the catalog see all of it or nothing, what was acknowledged stays, and the plain folders follow.
use strict;
use warnings;
use IO::Socket::INET;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my @tables = qw(a b c);
my $steps = 9; # three intents, three manifests, three intents removed
my $dir = PostgreSQL::Test::Utils::tempdir();

# ---- a store of one bucket, kept as files, so that each connection may have a process of its own

my $listener = IO::Socket::INET->new(Listen => 100, LocalAddr => '127.0.0.1', LocalPort => 0, Proto => 'tcp', ReuseAddr => 1) or die $!;
my $port = $listener->sockport;

sub path { my ($key) = @_; return "$dir/o-" . unpack('H*', $key) }
sub put { my ($key, $body) = @_; my $new = "$dir/new-$$"; open my $f, '>', $new or die $!; print $f $body; close $f; rename($new, path($key)) or die $! }
sub get { my ($key) = @_; return -e path($key) ? slurp_file(path($key)) : undef }
sub keys_of { my ($prefix) = @_; opendir my $d, $dir or die $!; return grep { index($_, $prefix) == 0 } sort map { /^o-(.*)/ ? pack('H*', $1) : () } readdir $d }

# "N action": what to do at the Nth change of an intent or a manifest from now on; "from N" does it at all later ones too.
sub plan { my ($what) = @_; unlink "$dir/count"; open my $f, '>', "$dir/plan" or die $!; print $f $what; close $f }

sub answer
{
	my ($client, $status, $body, @more) = @_;

	syswrite($client, "HTTP/1.1 $status X\r\nContent-Length: " . length($body) . "\r\nConnection: close\r\nETag: \"x\"\r\n" . join('', @more) . "\r\n$body");
	close $client;
}

sub change
{
	my ($client, $method, $key, $body, $conditional) = @_;

	if ($method eq 'DELETE') { unlink path($key); return answer($client, 204, '') }
	return answer($client, 412, '<Error><Code>PreconditionFailed</Code></Error>') if $conditional && -e path($key);
	put($key, $body);
	return answer($client, 200, '');
}

sub serve
{
	my ($client) = @_;
	my ($head, $body) = ('', '');

	while ($head !~ /\r\n\r\n/) { sysread($client, my $piece, 65536) or return; $head .= $piece }
	($head, $body) = split /\r\n\r\n/, $head, 2;
	my ($length) = $head =~ /^content-length: *(\d+)/im;
	while (length($body) < ($length // 0)) { sysread($client, my $piece, 65536) or return; $body .= $piece }
	my ($method, $target) = $head =~ /^(\S+) (\S+)/;
	my ($key, $query) = $target =~ m{^/bucket/?([^?]*)\??(.*)};
	my $conditional = $head =~ /^if-none-match: *\*/im;

	if ($query =~ /list-type=2/)
	{
		my ($prefix) = $query =~ /(?:^|&)prefix=([^&]*)/;
		my ($after) = $query =~ /start-after=([^&]*)/;

		$_ = defined $_ ? s/%([0-9A-Fa-f]{2})/chr hex $1/egr : '' foreach ($prefix, $after);
		my $list = join '', map { "<Contents><Key>$_</Key><LastModified>2024-01-01T00:00:00.000Z</LastModified><ETag>&quot;x&quot;</ETag><Size>"
			. (-s path($_)) . "</Size></Contents>" } grep { $_ gt $after && -s path($_) } keys_of($prefix);
		return answer($client, 200, qq{<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>$list</ListBucketResult>});
	}
	if ($method eq 'PUT' || $method eq 'DELETE')
	{
		my $action = '';

		if ($key =~ /\.(intent|manifest)$/)
		{
			append_to_file("$dir/count", '.');
			my ($from, $n, $what) = slurp_file("$dir/plan") =~ /^(from )?(\d+) (\w+)/;
			my $now = -s "$dir/count";

			$action = $what if defined $n && ($from ? $now >= $n : $now == $n);
		}
		kill 'KILL', slurp_file("$dir/pid") if $action eq 'killed';
		return close $client if $action eq 'dropped';
		return answer($client, 500, '<Error><Code>InternalError</Code></Error>') if $action eq 'error';
		return answer($client, 409, '<Error><Code>ConditionalRequestConflict</Code></Error>') if $action eq 'conflict';
		if ($action eq 'lost' || $action eq 'done')
		{
			open my $null, '>', '/dev/null';
			change($null, $method, $key, $body, $conditional);
			kill 'KILL', slurp_file("$dir/pid") if $action eq 'done';
			return close $client;
		}
		if ($action eq 'taken' && $key =~ /manifest$/) { put($key, 'faster'); return answer($client, 412, '<Error><Code>PreconditionFailed</Code></Error>') }
		if ($action eq 'slow') { sleep 1 }
		return change($client, $method, $key, $body, $conditional);
	}
	my $content = get($key);
	return answer($client, 404, $method eq 'HEAD' ? '' : '<Error><Code>NoSuchKey</Code></Error>') if !defined $content;
	my $size = length $content;
	if ($method eq 'HEAD')
	{
		syswrite($client, "HTTP/1.1 200 X\r\nContent-Length: $size\r\nConnection: close\r\nETag: \"x\"\r\n\r\n");
		return close $client;
	}
	my ($from, $to) = $head =~ /^range: *bytes=(\d*)-(\d*)/im;
	return answer($client, 200, $content) if !defined $from;
	($from, $to) = $from eq '' ? ($size > $to ? $size - $to : 0, $size - 1) : ($from, $to eq '' || $to >= $size ? $size - 1 : $to);
	return answer($client, 206, substr($content, $from, $to - $from + 1), "Content-Range: bytes $from-$to/$size\r\n");
}

plan('');
my $store = fork() // die $!;
if ($store == 0)
{
	$SIG{PIPE} = 'IGNORE';
	$SIG{CHLD} = 'IGNORE';
	while (1)
	{
		my $client = $listener->accept or next;

		if (fork() == 0) { serve($client); POSIX::_exit(0) }
		close $client;
	}
}

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
	CREATE SERVER lake FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://bucket', endpoint 'http://127.0.0.1:$port', allow_http 'true');
	SELECT lance_declare_table(t) FROM unnest('{a,b,c}'::text[]) t;
	CREATE TABLE ordinary (n int);
});
my %folder = map { $_ => $node->safe_psql('postgres', qq{SELECT substr(location, 13) || '/_versions' FROM lance_describe_table('$_')}) } @tables;

# psql, again while the server recovers
sub query
{
	my ($sql) = @_;

	for (1 .. 100)
	{
		# A psql that finds no server may be gone before it has read its input, which is an exception here.
		my ($ret, $out, $err) = eval { $node->psql('postgres', $sql) };

		return $out if defined $ret && $ret == 0;
		die $err if defined $ret && $err !~ /recovery mode|starting up|shutting down|connection to server|server closed|terminated|not yet accepting/;
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

sub name_of { return sprintf('%s.manifest', Math::BigInt->new('18446744073709551615')->bsub($_[0])->bstr) }

# What a client sees that opens the folders by plain URI.
sub plain
{
	my @newest;

	foreach my $table (@tables)
	{
		my ($key) = grep { /\d{20}\.manifest$/ } keys_of("$folder{$table}/");

		push @newest, defined $key && $key =~ /(\d{20})\.manifest$/ ? 0 + (Math::BigInt->new('18446744073709551615')->bsub($1))->bstr : 0;
	}
	return \@newest;
}

require Math::BigInt;
my $attempt = 0;

# One transaction with a version of each table. Returns whether its commit was acknowledged.
sub commit
{
	my ($before) = @_;
	my $sql = '';

	$attempt++;
	foreach my $i (0 .. $#tables)
	{
		put("$folder{$tables[$i]}/staged-$attempt", "manifest of attempt $attempt of $tables[$i]");
		$sql .= sprintf("SELECT version FROM lance_create_table_version('%s', %d, '%s');\n", $tables[$i], $before->[$i] + 1, "$folder{$tables[$i]}/staged-$attempt");
	}
	my ($ret, $out, $err) = $node->psql('postgres', "\\set ON_ERROR_STOP on\nCOPY (SELECT pg_backend_pid()) TO '$dir/pid';\nBEGIN;\n$sql INSERT INTO ordinary VALUES ($attempt);\nCOMMIT;\nSELECT 'acknowledged'");
	return ($out =~ /acknowledged/ ? 1 : 0, $err);
}

sub scenario
{
	my ($plan, %expect) = @_;
	my $before = seen(0);

	pop @$before;
	plan($plan);
	my ($acknowledged, $err) = commit($before);
	plan('') if !$expect{keep};
	my $after = seen($attempt);
	my $row = pop @$after;
	my @changed = grep { $after->[$_] != $before->[$_] && get("$folder{$tables[$_]}/" . name_of($after->[$_])) ne 'faster' } 0 .. $#tables;
	my $all = @changed == @tables;

	ok((@changed == 0 && $row == 0) || ($all && $row == 1), "$plan: all or nothing")
		or diag("before @$before, after @$after, row $row, acknowledged $acknowledged $err");
	ok(!$acknowledged || $all, "$plan: what is acknowledged is there") or diag($err);
	is($acknowledged, $expect{acknowledged}, "$plan: the answer") or diag($err) if defined $expect{acknowledged};
	like($err, $expect{error}, "$plan: the error") if defined $expect{error};
	plan('');

	# The chain goes on, and the folders hold what the catalog has.
	my ($next, $why) = commit($after);
	ok($next, "$plan: the next transaction succeeds") or diag($why);
	is_deeply(plain(), [ map { $_ + 1 } @$after ], "$plan: the plain folders follow");
}

my ($first) = commit([ 0, 0, 0 ]);
ok($first, 'three tables and a row');
is_deeply(seen($attempt), [ 1, 1, 1, 1 ], 'are there');
is_deeply([ map { keys_of("$folder{$_}/") } @tables ], [ map { ("$folder{$_}/18446744073709551614.manifest", "$folder{$_}/staged-1") } @tables ],
	'without intents');

foreach my $n (1 .. $steps)
{
	scenario("$n killed", acknowledged => 0);
	scenario("$n done", acknowledged => 0);
	scenario("$n lost", acknowledged => 1);
	scenario("$n error", acknowledged => 1);
	scenario("$n slow", acknowledged => 1) if $n % 3 == 2;
}
scenario("$_ taken", acknowledged => 0, error => qr/written by another client/) foreach 4 .. 6;
scenario("$_ conflict") foreach 4 .. 6;
foreach my $n (1, 4, 6, 8)
{
	foreach my $what (qw(error dropped lost conflict))
	{
		scenario("from $n $what");
	}
}

# A kill and a writer past the catalog who goes on from what it finds: nothing of his is lost.
plan('6 done');
my $before = seen(0);
pop @$before;
commit($before);
plan('');
query('SELECT 1');
my $name = name_of($before->[0] + 2);
put("$folder{a}/$name", 'from a writer past the catalog');
is(query("SELECT max(version) FROM lance_list_table_versions('a')"), $before->[0] + 2, 'a version past the catalog upon what a crash left is seen');
put("$folder{a}/staged-x", 'after that');
is(query(sprintf("SELECT version FROM lance_create_table_version('a', %d, '%s')", $before->[0] + 3, "$folder{a}/staged-x")), $before->[0] + 3, 'and built upon');
is(get("$folder{a}/$name"), 'from a writer past the catalog', 'it is left as it is');
is(query("SELECT string_agg(version::text, ',' ORDER BY version) FROM lance_list_table_versions('a') WHERE version > $before->[0]"),
	join(',', map { $before->[0] + $_ } 1 .. 3), 'with what it was built on');

$node->stop('fast');
kill 'TERM', $store;
waitpid $store, 0;
$? = 0;
done_testing();
