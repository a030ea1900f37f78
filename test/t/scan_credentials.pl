# The server's own keys expire: in the middle of a scan, of a commit, in many sessions at once; each time they are renewed once.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib "$FindBin::RealBin/lib";
use LanceStore;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $fixtures = $ENV{LANCE_FIXTURES} || "$FindBin::RealBin/../data/fixtures";
my $short = LanceStore->start(lifetime => 2, trusted => ['AKMAIN']);
my $long = LanceStore->start(lifetime => 3600, trusted => ['AKMAIN'], counts => sub { $_[0] eq 'PUT' && $_[1] =~ /\d\.manifest$/ });
my $node = PostgreSQL::Test::Cluster->new('credentials');

$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'lance_catalog'\nlance_catalog.rest_workers = 0\nlance_catalog.default_server = 'long'\n");
$node->start;
sub sql { return $node->safe_psql('postgres', join('; ', @_)) }
sql('CREATE EXTENSION lance_catalog');
foreach my $each ([ 'short', $short ], [ 'long', $long ])
{
	my ($name, $store) = @$each;

	$store->put_folder("$fixtures/data/multifrag_p14_default.lance", 'lake/many.lance');
	sql("CREATE SERVER $name FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://bucket/lake', endpoint '$store->{url}', allow_http 'true', credentials 'sts')",
		"CREATE USER MAPPING FOR postgres SERVER $name OPTIONS (access_key_id 'AKMAIN', secret_access_key 'main-secret')",
		"SELECT lance_attach_dataset('s3://bucket/lake/many.lance', '$name', 'public', 'many_$name')");
}
my $rows = sql('SELECT count(*) FROM many_long');
cmp_ok($rows, '>', 0, 'there are rows');

# ---- the library alone, without shared memory, and with it: a scan that outlives several sets of keys
foreach my $preload (1, 0)
{
	if (!$preload)
	{
		$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\nlance_catalog.rest_workers = 0\n");
		$node->restart;
	}
	my $step = int($rows / 10) || 1;
	my $statements = join('', map { "MOVE $step FROM c;\nSELECT pg_sleep(1);\n" } 1 .. 7);

	$short->token_service('');
	my $start = time;
	my ($ret, $out, $err) = $node->psql('postgres', "BEGIN;\nDECLARE c CURSOR FOR SELECT * FROM many_short;\n${statements}MOVE ALL FROM c;\nCOMMIT;");
	my $lives = int((time - $start) / 2) + 1;
	my $sessions = () = $short->sessions;
	is($ret, 0, 'the scan succeeds' . ($preload ? '' : ', also without shared memory')) or diag($err);
	cmp_ok($sessions, '>=', 3, 'keys were renewed on the way');
	cmp_ok($sessions, '<=', $lives + 1, 'about as often as they expired, not with each request');
}
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'lance_catalog'\n");
$node->restart;

# ---- the store ends keys ahead of their time
sql('SELECT count(*) FROM many_long');
$long->token_service('');
$long->end_sessions;
sleep 1.1;
is(sql('SELECT count(*) FROM many_long'), $rows, 'keys that the store takes for expired are renewed');
is(scalar(() = $long->sessions), 1, 'once');
is(sql('SELECT count(*) FROM many_long'), $rows, 'and used from then on');
is(scalar(() = $long->sessions), 1, 'by other sessions too');

$long->token_service('');
$long->end_sessions;
sleep 1.1;
my @running = map {
	my ($out, $err) = ('', '');
	[ IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SELECT count(*) FROM many_long' ], '>', \$out, '2>', \$err), \$out, \$err ]
} 1 .. 12;
$_->[0]->finish foreach @running;
is(scalar(grep { ${ $_->[1] } eq "$rows\n" } @running), 12, 'twelve sessions at once read on') or diag(map { ${ $_->[2] } } @running);
is(scalar(() = $long->sessions), 1, 'after one renewal for all');

# ---- no newer keys: an error that says why, and no endless renewing
$long->token_service('refuse');
$long->end_sessions;
sleep 1.1;
my ($ret, $out, $err) = $node->psql('postgres', 'SELECT count(*) FROM many_long');
like($err, qr/token service answered 403 AccessDenied/, 'a service that refuses is told');
unlike($err, qr/main-secret|vended-/, 'without secrets');
($ret, $out, $err) = $node->psql('postgres', 'SELECT count(*) FROM many_long');
is(scalar(() = $long->sessions), 1, 'and left alone for a while');
$long->token_service('');
$node->poll_query_until('postgres', 'SELECT count(*) > 0 FROM many_long') or die 'the store stayed closed';

# ---- in the middle of a commit
sql(q{SELECT lance_declare_table('t')});
my $root = sql(q{SELECT substr(location, 13) FROM lance_describe_table('t')});
foreach my $version (1 .. 3)
{
	sleep 1.1;
	$long->put("$root/_versions/staged-$version", "manifest $version");
	$long->token_service('');
	$long->plan('1 expired');
	($ret, $out, $err) = $node->psql('postgres', "SELECT version FROM lance_create_table_version('t', $version, '$root/_versions/staged-$version')");
	is($out, $version, "version $version, whose write found the keys expired, is there") or diag($err);
	is(scalar(() = $long->sessions), 1, 'after one renewal');
	is(scalar(() = $long->log_of_changes =~ /^PUT\* .*manifest$/mg), 2, 'and two writes of the manifest') if $version == 1;
}
is(sql(q{SELECT string_agg(version::text, ',' ORDER BY version) FROM lance_list_table_versions('t')}), '1,2,3', 'each version once');
$node->stop('fast');
$_->stop foreach ($short, $long);
done_testing();
