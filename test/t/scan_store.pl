# What statements say when there is no dataset: a bucket that is missing is told apart from one without the dataset.
use strict;
use warnings;
use IO::Socket::INET;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# A store that knows no bucket "missing", and holds nothing in others.
my $listener = IO::Socket::INET->new(Listen => 100, LocalAddr => '127.0.0.1', LocalPort => 0, Proto => 'tcp') or die $!;
my $port = $listener->sockport;
my $parent = $$;
my $server = fork // die $!;
if ($server == 0)
{
	while (my $client = $listener->accept)
	{
		my $head = '';
		while (defined(my $line = <$client>))
		{
			last if $line =~ /^\r?\n$/;
			$head .= $line;
		}
		my ($method, $target) = $head =~ /^(\S+) (\S+)/ or next;
		my ($status, $body) = ('404 Not Found', '<Error><Code>NoSuchKey</Code><Message>No key.</Message></Error>');
		if ($target =~ m{^/missing\b})
		{
			$body = '<Error><Code>NoSuchBucket</Code><Message>No bucket.</Message></Error>';
		}
		elsif ($target =~ /list-type=2/)
		{
			$status = '200 OK';
			$body = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';
		}
		print $client "HTTP/1.1 $status\r\nContent-Length: " . length($body) . "\r\nConnection: close\r\n\r\n"
			. ($method eq 'HEAD' ? '' : $body);
		close $client;
	}
	exit 0;
}
close $listener;

my $node = PostgreSQL::Test::Cluster->new('store');
$node->init;
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION lance_catalog;
	CREATE SERVER missing FOREIGN DATA WRAPPER lance_fdw
		OPTIONS (root 's3://missing', endpoint 'http://127.0.0.1:$port', allow_http 'true');
	CREATE SERVER empty FOREIGN DATA WRAPPER lance_fdw
		OPTIONS (root 's3://empty', endpoint 'http://127.0.0.1:$port', allow_http 'true');
	CREATE FOREIGN TABLE in_missing (id bigint, _rowid bigint) SERVER missing OPTIONS (uri 's3://missing/x.lance');
	CREATE FOREIGN TABLE in_empty (id bigint, _rowid bigint) SERVER empty OPTIONS (uri 's3://empty/x.lance');
	CREATE FOREIGN TABLE old_in_missing (id bigint) SERVER missing OPTIONS (uri 's3://missing/x.lance', version '3');
	CREATE FOREIGN TABLE dated_in_missing (id bigint) SERVER missing
		OPTIONS (uri 's3://missing/x.lance', as_of '2024-05-01 12:00+00');
});

my %statements = (
	'a scan' => 'SELECT * FROM in_BUCKET',
	'a lookup' => 'SELECT * FROM in_BUCKET WHERE _rowid = 1',
	'EXPLAIN' => 'EXPLAIN SELECT * FROM in_BUCKET',
	'ANALYZE' => 'ANALYZE in_BUCKET',
	'refresh' => q{SELECT lance_refresh_table('in_BUCKET')},
	'attach' => q{SELECT lance_attach_dataset('s3://BUCKET/x.lance', 'BUCKET', 'public', 'x')},
	'versions' => q{SELECT * FROM lance_dataset_versions('s3://BUCKET/x.lance', 'BUCKET')},
	'fragments' => q{SELECT * FROM lance_dataset_fragments('s3://BUCKET/x.lance', 'BUCKET')});

foreach my $what (sort keys %statements)
{
	foreach my $bucket (qw(missing empty))
	{
		my $sql = $statements{$what} =~ s/BUCKET/$bucket/gr;
		my ($ret, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql");

		like($err, qr/58P01: /, "$what, $bucket bucket: SQLSTATE") or diag($err);
		like($err, $bucket eq 'missing' ? qr/404 NoSuchBucket/ : qr/no (version of a )?dataset/, "$what, $bucket bucket: cause");
		unlike($err, qr/dataset (found )?at/, "$what, $bucket bucket: no other cause") if $bucket eq 'missing';
	}
}
foreach my $table (qw(old_in_missing dated_in_missing))
{
	my ($ret, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT * FROM $table");

	like($err, qr/58P01: .*404 NoSuchBucket/, "$table: cause");
}

# A table of the catalog whose bucket has gone is not taken for one that was only declared.
$node->safe_psql('postgres', q{
	SELECT lance_create_namespace('ml', properties => '{"server": "missing"}');
	SELECT lance_declare_table('ml$docs')});
foreach my $sql (q{SELECT is_only_declared FROM lance_describe_table('ml$docs', check_declared => true)},
	q{SELECT * FROM lance_list_table_versions('ml$docs')}, q{SELECT lance_attach_table('ml$docs', 'public')},
	q{IMPORT FOREIGN SCHEMA ml FROM SERVER missing INTO public})
{
	my ($ret, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql");

	like($err, qr/58P01: .*404 NoSuchBucket/, "$sql: cause");
}
$node->stop;

END
{
	if ($$ == ($parent // 0) && $server)
	{
		my $status = $?;

		kill 'TERM', $server;
		waitpid $server, 0;
		$? = $status;
	}
}
done_testing();
