# What scans take: memory with rows and columns of any width, and nothing left behind by a thousand failures in a session.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use LanceStore;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('memory');
my $data = $node->basedir . '/lake';
$node->init;
$node->append_conf('postgresql.conf', 'shared_buffers = 16MB');
$node->start;

# ---- memory: 64 strings of 2 MiB next to each other among small ones; 400 columns
my $write = q{
import sys
import lance
import numpy as np
import pyarrow as pa

folder = sys.argv[1]
rows = 20000
texts = ["%d " % i + "abcdefg " * (2**18 if 9000 <= i < 9064 else i % 3) for i in range(rows)]
many = pa.table({"c%d" % c: np.arange(50000, dtype=np.int64) * (c + 1) for c in range(400)})
for version in ("2.0", "2.1", "2.2"):
    lance.write_dataset(pa.table({"id": range(rows), "t": pa.array(texts, pa.large_string())}),
                        folder + "/texts_" + version[2] + ".lance", data_storage_version=version)
    lance.write_dataset(many, folder + "/many_" + version[2] + ".lance", data_storage_version=version)
};
mkdir $data or die $!;
system($ENV{PYTHON} || 'python3', '-c', $write, $data) == 0 or die 'no datasets';
$node->safe_psql('postgres', qq{
	CREATE EXTENSION lance_catalog;
	CREATE SERVER lake FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 'file://$data');
	SELECT lance_attach_dataset('file://$data/' || d || '_' || v || '.lance', 'lake', 'public', d || v)
		FROM unnest(ARRAY['texts', 'many']) d, generate_series(0, 2) v});

# The most memory that a session has had resident, in MB, and the answer of the query in it.
sub peak
{
	my ($query) = @_;
	my @answer = split /\n/, $node->safe_psql('postgres', "$query; SELECT substring(pg_read_file('/proc/self/status')
		FROM 'VmHWM:\\s+(\\d+)')::int / 1024");

	return ($answer[-1], $answer[0]);
}

my $chars = 0;
$chars += length("$_ ") + 8 * ($_ >= 9000 && $_ < 9064 ? 2**18 : $_ % 3) foreach 0 .. 19999;
my ($least) = peak('SELECT 1');
foreach my $v (0 .. 2)
{
	my ($most, $answer) = peak("SELECT count(*), sum(length(t)), count(*) FILTER (WHERE t LIKE id || ' %'), sum(id) FROM texts$v");

	is($answer, "20000|$chars|20000|199990000", "2.$v: 128 MB of texts are there");
	cmp_ok($most - $least, '<', 100, "2.$v: a session keeps within 100 MB of wide rows");
	($most, $answer) = peak("SELECT count(*), sum(c0), sum(c399), sum(c200) FILTER (WHERE m IS NOT NULL) FROM many$v m");
	is($answer, join('|', 50000, map { $_ * 49999 * 25000 } 1, 400, 201), "2.$v: 160 MB of columns are there");
	cmp_ok($most - $least, '<', 150, "2.$v: a session keeps within 150 MB of 400 columns");
	($most) = peak("ANALYZE texts$v");
	cmp_ok($most - $least, '<', 200, "2.$v: so does ANALYZE, with its sample of 64 MB");
}

# ---- a thousand failures: a store that refuses, and a cancel in the middle of a scan
my $store = LanceStore->start(counts => sub { 1 });
$store->plan('from 1 denied');
$node->safe_psql('postgres', qq{
	CREATE SERVER refusing FOREIGN DATA WRAPPER lance_fdw
		OPTIONS (root 's3://bucket', endpoint '$store->{url}', allow_http 'true');
	CREATE FOREIGN TABLE refused (id bigint) SERVER refusing OPTIONS (uri 's3://bucket/x.lance');
	CREATE FUNCTION state_of(query text) RETURNS text LANGUAGE plpgsql AS \$\$
	BEGIN
		EXECUTE query;
		RETURN 'ok';
	EXCEPTION WHEN query_canceled OR OTHERS THEN
		RETURN SQLSTATE;
	END \$\$;
	CREATE PROCEDURE fail(query text, times int, expected text, INOUT others int) LANGUAGE plpgsql AS \$\$
	BEGIN
		FOR i IN 1..times LOOP
			others := others + (state_of(query) <> expected)::int;
			COMMIT;
		END LOOP;
	END \$\$;
	CREATE FUNCTION used(OUT files bigint, OUT memory numeric) LANGUAGE sql AS \$\$
		SELECT (SELECT count(*) FROM pg_ls_dir('/proc/self/fd')),
			(SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name <> 'CacheMemoryContext')
	\$\$});
foreach my $case (['a refusing store', 'SELECT * FROM refused', '42501'],
	['a cancel', 'SELECT id, t, pg_cancel_backend(pg_backend_pid()) FROM texts2 WHERE id > 8000', '57014'])
{
	my ($what, $query, $expected) = @$case;
	my $answer = $node->safe_psql('postgres', qq{
		CALL fail('$query', 50, '$expected', 0);
		SELECT files AS files_before, memory AS memory_before FROM used() \\gset
		CALL fail('$query', 1000, '$expected', 0);
		SELECT files - :files_before < 10, memory - :memory_before < 1000000 FROM used();
		SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'lance %' AND parent <> 'TopMemoryContext'});

	is($answer, "0\n0\nt|t\n0", "$what: fails a thousand times in a session and leaves no file and no memory behind");
}
$store->stop;
$node->stop;
done_testing();
