# What statements say when there is no dataset: a bucket that is missing is told apart from one without the dataset.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use LanceStore;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $store = LanceStore->start(buckets => ['empty']);
my $node = PostgreSQL::Test::Cluster->new('store');
$node->init;
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION lance_catalog;
	CREATE SERVER missing FOREIGN DATA WRAPPER lance_fdw
		OPTIONS (root 's3://missing', endpoint '$store->{url}', allow_http 'true');
	CREATE SERVER empty FOREIGN DATA WRAPPER lance_fdw
		OPTIONS (root 's3://empty', endpoint '$store->{url}', allow_http 'true');
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
done_testing();
