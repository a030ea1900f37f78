# The last step of a commit against a store that misbehaves: taken names, no conditional writes, lost answers, silence.
use strict;
use warnings;
use IO::Socket::INET;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

# A store of one bucket in memory. What it does with a PUT is read from a file, so that the test can change its mind;
# what was asked is written to another.
my $dir = PostgreSQL::Test::Utils::tempdir();
my $listener = IO::Socket::INET->new(Listen => 100, LocalAddr => '127.0.0.1', LocalPort => 0, Proto => 'tcp', ReuseAddr => 1) or die $!;
my $port = $listener->sockport;
my $pid = fork() // die $!;
if ($pid == 0)
{
	my (%object, @mute);

	$SIG{PIPE} = 'IGNORE';
	while (my $client = $listener->accept)
	{
		my ($head, $body) = ('', '');

		while ($head !~ /\r\n\r\n/ && sysread($client, my $piece, 65536)) { $head .= $piece }
		($head, $body) = split /\r\n\r\n/, $head, 2;
		my ($length) = $head =~ /^content-length: *(\d+)/im;
		while (length($body) < ($length // 0) && sysread($client, my $piece, 65536)) { $body .= $piece }
		my ($method, $target) = $head =~ /^(\S+) (\S+)/;
		my ($key, $query) = $target =~ m{^/bucket/?([^?]*)\??(.*)};
		my $conditional = $head =~ /^if-none-match: *\*/im;
		my $mode = slurp_file("$dir/mode");

		append_to_file("$dir/log", "$method" . ($conditional ? '*' : '') . " $key\n") if $method eq 'PUT';
		if ($query =~ /list-type=2/)
		{
			my ($prefix) = $query =~ /(?:^|&)prefix=([^&]*)/;
			my ($after) = $query =~ /start-after=([^&]*)/;

			$_ = defined $_ ? s/%([0-9A-Fa-f]{2})/chr hex $1/egr : '' foreach ($prefix, $after);
			my $list = join '', map { "<Contents><Key>$_</Key><LastModified>2024-01-01T00:00:00.000Z</LastModified><ETag>&quot;x&quot;</ETag><Size>"
				. length($object{$_}) . "</Size></Contents>" } grep { index($_, $prefix) == 0 && $_ gt $after } sort keys %object;
			answer($client, 200, qq{<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>$list</ListBucketResult>});
		}
		elsif ($method eq 'PUT' && $key =~ /staged|\.intent$/) { $object{$key} = $body; answer($client, 200, '') }
		elsif ($method eq 'PUT' && $mode eq 'mute') { push @mute, $client }
		elsif ($method eq 'PUT' && $mode =~ /^refuse (.*)/ && $key =~ /\Q$1\E$/) { answer($client, 403, '<Error><Code>AccessDenied</Code></Error>') }
		elsif ($method eq 'PUT' && $mode eq 'lost') { $object{$key} //= $body; close $client }
		elsif ($method eq 'PUT' && $mode eq 'dropped') { close $client }
		elsif ($method eq 'PUT' && $conditional && $mode eq 'plain') { answer($client, 501, '<Error><Code>NotImplemented</Code></Error>') }
		elsif ($method eq 'PUT' && $mode eq 'taken') { $object{$key} = 'faster'; answer($client, 412, '<Error><Code>PreconditionFailed</Code></Error>') }
		elsif ($method eq 'PUT' && $conditional && exists $object{$key}) { answer($client, 412, '<Error><Code>PreconditionFailed</Code></Error>') }
		elsif ($method eq 'PUT') { $object{$key} = $body; answer($client, 200, '') }
		elsif ($method eq 'DELETE') { delete $object{$key}; answer($client, 204, '') }
		elsif (!exists $object{$key}) { answer($client, 404, $method eq 'HEAD' ? '' : '<Error><Code>NoSuchKey</Code></Error>') }
		else { object($client, $method, $head, $object{$key}) }
	}
	exit 0;
}

sub answer
{
	my ($client, $status, $body, @more) = @_;

	syswrite($client, "HTTP/1.1 $status X\r\nContent-Length: " . length($body) . "\r\nConnection: close\r\nETag: \"x\"\r\n" . join('', @more) . "\r\n$body");
	close $client;
}

sub object
{
	my ($client, $method, $head, $content) = @_;
	my ($from, $to) = $head =~ /^range: *bytes=(\d*)-(\d*)/im;
	my $size = length $content;

	if ($method eq 'HEAD')
	{
		syswrite($client, "HTTP/1.1 200 X\r\nContent-Length: $size\r\nConnection: close\r\nETag: \"x\"\r\n\r\n");
		close $client;
		return;
	}
	return answer($client, 200, $content) if !defined $from;
	($from, $to) = $from eq '' ? ($size > $to ? $size - $to : 0, $size - 1) : ($from, $to eq '' || $to >= $size ? $size - 1 : $to);
	answer($client, 206, substr($content, $from, $to - $from + 1), "Content-Range: bytes $from-$to/$size\r\n");
}

sub mode { open my $f, '>', "$dir/mode" or die $!; print $f shift; close $f; unlink "$dir/log"; append_to_file("$dir/log", ''); }

mode('');
my $node = PostgreSQL::Test::Cluster->new('store');
$node->init;
$node->append_conf('postgresql.conf', "lance_catalog.default_server = 'lake'\nlance_catalog.store_retries = 1\nlance_catalog.store_timeout = '20s'\n");
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION lance_catalog;
	CREATE SERVER lake FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://bucket', endpoint 'http://127.0.0.1:$port', allow_http 'true');
	SELECT lance_declare_table('t');
});
my $root = $node->safe_psql('postgres', q{SELECT substr(location, 13) FROM lance_describe_table('t')});

sub stage
{
	my ($name, $content) = @_;
	my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or die $!;

	syswrite($socket, "PUT /bucket/$root/_versions/staged-$name HTTP/1.1\r\nContent-Length: " . length($content) . "\r\n\r\n$content");
	sysread($socket, my $answer, 1000);
	close $socket;
	return "SELECT version FROM lance_create_table_version('t', $_[2], '$root/_versions/staged-$name')";
}

sub create { return $node->psql('postgres', stage(@_), on_error_stop => 0) }
sub versions { return $node->safe_psql('postgres', q{SELECT string_agg(version::text, ',') FROM lance_list_table_versions('t')}) }

my ($ret, $out, $err) = create('a', 'one', 1);
is($out, '1', 'the usual case') or diag($err);
like(slurp_file("$dir/log"), qr{^PUT\* .*/_versions/18446744073709551614\.manifest$}m, 'is one conditional write');

mode('taken');
($ret, $out, $err) = create('b', 'two', 2);
like($err, qr/version 2 of table "t" was written by another client/, 'another client was faster');
is(versions(), '1,2', 'and its version stands');

mode('plain');
($ret, $out, $err) = create('c', 'three', 3);
is($out, '3', 'a store without conditional writes is written to after a look') or diag($err);
like(slurp_file("$dir/log"), qr{^PUT [^\n]*manifest$}m, 'by a plain write');

mode('lost');
($ret, $out, $err) = create('d', 'four', 4);
is($out, '4', 'an answer that is lost: the object is there, with our bytes') or diag($err);
is(versions(), '1,2,3,4', 'and is the version');

mode('dropped');
($ret, $out, $err) = create('e', 'five', 5);
like($err, qr/ERROR/, 'a write that never arrives is an error');
is(versions(), '1,2,3,4', 'without a version');
mode('');
is($node->safe_psql('postgres', stage('e', 'five', 5)), '5', 'the same request succeeds when the store is back');

# Silence: cancel, and termination, while the write waits for its answer.
mode('mute');
my $sql = stage('f', 'six', 6);
my %h = (out => '', err => '');
my $run = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' application_name=six', '-v', 'VERBOSITY=verbose', '-c', $sql, '-c', "SELECT 'goes on'" ],
	'>', \$h{out}, '2>', \$h{err});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'six' AND state = 'active'}) or die;
for (1 .. 100) { last if slurp_file("$dir/log") =~ /PUT/; sleep 0.1 }
my $start = time;
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'six'});
$run->finish;
ok(time - $start < 2, 'a cancel ends the wait for the store');
like($h{err}, qr/57014/, 'and rolls the transaction back');
like($h{out}, qr/goes on/, 'the session goes on');
mode('');
is(versions(), '1,2,3,4,5', 'nothing was written');
is($node->safe_psql('postgres', $sql), '6', 'and the same request succeeds');

mode('mute');
$sql = stage('g', 'seven', 7);
$run = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' application_name=seven', '-c', $sql ], '>', \$h{out}, '2>', \$h{err});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'seven' AND state = 'active'}) or die;
for (1 .. 100) { last if slurp_file("$dir/log") =~ /PUT/; sleep 0.1 }
$start = time;
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'seven'});
$run->finish;
ok(time - $start < 5, 'so does the end of the session');
mode('');
is($node->safe_psql('postgres', $sql), '7', 'after which the table is as before');

# Tags: the same store, the same faults.
sub sql { return $node->psql('postgres', shift, on_error_stop => 0) }
sub tags { return $node->safe_psql('postgres', q{SELECT string_agg(tag || version, ',' ORDER BY tag) FROM lance_list_table_tags('t')}) }
sub tag { return sql("SELECT lance_create_table_tag('t', '$_[0]', 1)") }

mode('');
is((tag('a'))[0], 0, 'a tag');
like(slurp_file("$dir/log"), qr{^PUT\* $root/_refs/tags/a\.json$}m, 'is one conditional write');
mode('taken');
like((tag('b'))[2], qr/tag "b" of table "t" exists already/, 'another client was faster');
mode('');
$node->safe_psql('postgres', q{SELECT lance_delete_table_tag('t', 'b')});
mode('plain');
is((tag('c'))[0], 0, 'a store without conditional writes is written to after a look');
like((tag('c'))[2], qr/exists already/, 'which finds what is there');
mode('lost');
is((tag('d'))[0], 0, 'an answer that is lost: the object is there, with our bytes');
mode('dropped');
like((tag('e'))[2], qr/could not change tag "e"/, 'a write that never arrives is an error');
mode('');
is(tags(), 'a1,c1,d1', 'without a tag');
is((tag('e'))[0], 0, 'the same request succeeds when the store is back');

# Several in one transaction: the last is refused, the others are put back as they were.
mode('refuse z.json');
my $before = $node->safe_psql('postgres', q{SELECT array_agg(t) FROM lance_list_table_tags('t') t});
($ret, $out, $err) = sql(q{BEGIN; CREATE TABLE beside (n int); SELECT lance_update_table_tag('t', 'a', 2); SELECT lance_delete_table_tag('t', 'c');
	SELECT lance_create_table_tag('t', 'f', 1); SELECT lance_create_table_tag('t', 'z', 1); COMMIT; SELECT to_regclass('beside') IS NULL});
like($err, qr/AccessDenied|denied|403/i, 'the last of four changes is refused');
like($out, qr/^t$/m, 'the transaction is rolled back');
is($node->safe_psql('postgres', q{SELECT array_agg(t) FROM lance_list_table_tags('t') t}), $before, 'and so is what the store had of it');
my @puts = slurp_file("$dir/log") =~ m{^(PUT\*? \S+/tags/\S+)$}mg;
is(scalar(grep { m{/a\.json} } @puts), 2, 'by writing the old text again');

# Silence: a cancel ends the wait and leaves no tag.
mode('mute');
$run = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' application_name=tag', '-v', 'VERBOSITY=verbose',
	'-c', "SELECT lance_create_table_tag('t', 'g', 1)", '-c', "SELECT 'goes on'" ], '>', \$h{out}, '2>', \$h{err});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'tag' AND state = 'active'}) or die;
for (1 .. 100) { last if slurp_file("$dir/log") =~ /PUT/; sleep 0.1 }
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'tag'});
$run->finish;
like($h{err}, qr/57014/, 'a cancel rolls the transaction back');
like($h{out}, qr/goes on/, 'the session goes on');
mode('');
is(tags(), 'a1,c1,d1,e1', 'nothing was written');
is($node->safe_psql('postgres', q{SELECT failed FROM lance_run_cleanup()}), '0', 'the cleanup works');
$node->stop('fast');
kill 'TERM', $pid;
waitpid $pid, 0;
$? = 0;
done_testing();
