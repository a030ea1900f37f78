# What a session remembers of an object store: nothing is read twice that never changes, nothing is taken for what it was, and
# nobody sees what another role may see.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib "$FindBin::RealBin/lib";
use LanceStore;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $fixtures = $ENV{LANCE_FIXTURES} || "$FindBin::RealBin/../data/fixtures";
my $store = LanceStore->start(lifetime => 3600, trusted => [ 'AKANNA', 'AKBERT' ], counts => sub { 1 });
my $node = PostgreSQL::Test::Cluster->new('cache');

$node->init;
$node->start;
$store->put_folder("$fixtures/data/multifrag_p14_default.lance", 'lake/many.lance');
$node->safe_psql('postgres', qq{
	CREATE EXTENSION lance_catalog;
	CREATE SERVER far FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://bucket/lake', endpoint '$store->{url}', allow_http 'true');
	CREATE ROLE anna SUPERUSER; CREATE ROLE bert SUPERUSER; CREATE ROLE carl SUPERUSER;
	CREATE USER MAPPING FOR anna SERVER far OPTIONS (access_key_id 'AKANNA', secret_access_key 'x');
	CREATE USER MAPPING FOR bert SERVER far OPTIONS (access_key_id 'AKBERT', secret_access_key 'x');
	CREATE USER MAPPING FOR carl SERVER far OPTIONS (access_key_id 'AKCARL', secret_access_key 'x');
	GRANT USAGE ON FOREIGN SERVER far TO anna, bert, carl;
	SET ROLE anna;
	SELECT lance_attach_dataset('s3://bucket/lake/many.lance', 'far', 'public', 'many')});

# Statements of one session; COUNT says how many requests there were since the last one, SHELL runs a command. Returns the output,
# a line each.
sub session
{
	my $count = "$store->{dir}/count";
	my $script = join("\n", map { /^SHELL (.*)/ ? "\\! $1" : $_ eq 'COUNT' ? "\\! wc -c < $count; : > $count" : "$_;" } @_);
	my ($ret, $out, $err) = $node->psql('postgres', "\\! : > $count\n$script", on_error_stop => 0);

	return (split(/\n/, $out), $err ne '' ? split(/\n/, $err) : ());
}

my $hash = 'SELECT count(*), sum(hashtext(many::text)) FROM many';
my $hits = q{SELECT COALESCE(sum(substring(line FROM 'Metadata Cache Hits: (\d+)')::int), 0) FROM explain_lines('SELECT * FROM many')};
$node->safe_psql('postgres', q{
	CREATE FUNCTION explain_lines(q text) RETURNS SETOF text LANGUAGE plpgsql AS
		$$ BEGIN RETURN QUERY EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' || q; END $$});
$hits =~ s/FROM explain_lines\((.*)\)$/FROM explain_lines($1) AS line/;

# ---- what is spared
my @off = session('SET ROLE anna', 'SET lance_catalog.metadata_cache_size = 0', $hash, 'COUNT', $hash, 'COUNT', $hits);
my @on = session('SET ROLE anna', $hash, 'COUNT', $hash, 'COUNT', $hits, 'SET lance_catalog.metadata_cache_size = 0', $hits,
	'RESET lance_catalog.metadata_cache_size', $hits);

is($on[0], $off[0], 'the rows are the same with the cache');
is($on[2], $on[0], 'and when all is remembered');
is($off[3], $off[1], 'without the cache, the second statement makes as many requests');
is($off[4], 0, 'and EXPLAIN tells of no hits');
is($on[1], $off[1], 'the first statement does not differ');
cmp_ok($on[3], '<=', $on[1] - 12, 'with it, the second one asks for neither the manifest nor a footer of the 11 files');
cmp_ok($on[4], '>=', 12, 'EXPLAIN tells of the hits');
is($on[5], 0, 'turning it off lets all go');
is($on[6], 0, 'and nothing is there when it is on again');

# ---- one look for the version a statement
my @looks = session('SET ROLE anna', 'SELECT count(*) FROM many', 'COUNT', 'SELECT count(*) FROM many', 'COUNT');
is($looks[3], 1, 'count(*) of what is remembered is one request');

# ---- other sessions' versions: the second version of the dataset comes between two statements
my $manifest = 'lake/many.lance/_versions/' . LanceStore::manifest_name(2);
my ($newest, $aside) = ($store->object_file($manifest), "$store->{dir}/aside");
my @both = session('SET ROLE anna', "SHELL mv $newest $aside", $hash, $hash, "SHELL mv $aside $newest", $hash, $hash,
	"SHELL mv $newest $aside", $hash, "SHELL mv $aside $newest",
	"BEGIN", $hash, "SHELL mv $newest $aside", $hash, "SHELL mv $aside $newest", 'COMMIT');
isnt($both[0], $off[0], 'the older version has other rows');
is($both[1], $both[0], 'which are read again');
is($both[2], $off[0], 'a version that appears is seen by the next statement');
is($both[4], $both[0], 'one that is gone is not');
is($both[5], $off[0], 'also inside a transaction');
is($both[6], $both[0], 'under READ COMMITTED');

# A function sees what was committed since its statement began, one statement after the other.
$node->safe_psql('postgres', q{CREATE FUNCTION see(command text) RETURNS SETOF text LANGUAGE plpgsql AS
	$$ BEGIN
		RETURN QUERY SELECT count(*)::text FROM many;
		EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', command);
		RETURN QUERY SELECT count(*)::text FROM many;
	END $$});
my @function = session('SET ROLE anna', "SELECT see('mv $newest $aside')", "SHELL mv $aside $newest");
is(scalar(grep { /^\d+$/ } @function), 2, 'a function reads twice');
isnt($function[0], $function[1], 'and sees what has changed in between') if $both[0] =~ /^(\d+)/ && $off[0] !~ /^$1\b/;

# ---- dropped and made anew at the same place, version 1 again, with another schema and manifests of one size and time
# A copy of a dataset's first version; returns its keys behind the folder.
sub first_version
{
	my ($from, $to) = @_;

	$store->put_folder("$fixtures/data/$from", $to);
	foreach my $key ($store->keys_of("$to/_versions/"))
	{
		unlink $store->object_file($key) if index($key, LanceStore::manifest_name(1)) < 0;
	}
	return map { substr($_, length $to) } $store->keys_of("$to/");
}

# Make a manifest longer: its message moves back, by its position in the last 16 bytes.
sub lengthen
{
	my ($key, $by) = @_;
	my $manifest = $store->get($key);

	substr($manifest, -16, 8) = pack('Q<', unpack('Q<', substr($manifest, -16, 8)) + $by);
	$store->put($key, "\0" x $by . $manifest);
	return;
}
my @old = first_version('append_subschema.lance', 'lake/anew.lance');
my @new = first_version('config.lance', 'other/anew.lance');
my ($first, $second) = map { "$_/_versions/" . LanceStore::manifest_name(1) } qw(lake/anew.lance other/anew.lance);
lengthen($first, length($store->get($second)) - length $store->get($first));
is(length $store->get($first), length $store->get($second), 'the manifests are of one size');

my $swap = "$store->{dir}/swap.sh";
LanceStore::write_file($swap, join('', map({ 'rm ' . $store->object_file("lake/anew.lance$_") . "\n" } @old),
	map { 'cp ' . $store->object_file("other/anew.lance$_") . ' ' . $store->object_file("lake/anew.lance$_") . "\n" } @new));
my $read = q{SELECT count(*), sum(hashtext(x::text)) FROM anew x};
my @anew = session('SET ROLE anna', q{SELECT lance_attach_dataset('s3://bucket/lake/anew.lance', 'far', 'public', 'anew')}, $read, $read,
	"SHELL sh $swap", $read, q{SELECT lance_refresh_table('anew')}, $read);
my ($fresh) = session('SET ROLE anna', $read);

is($anew[2], $anew[1], 'the table is read, and read again');
isnt($anew[3], $anew[1], 'made anew, it has no row of the old one');
is($anew[-1], $fresh, 'but all that a new session sees');
isnt($fresh, $anew[1], 'which differ');

# ---- roles: what one has read is no other's, and keys that the store refuses open nothing
my @roles = session('SET ROLE anna', $hash, 'COUNT', $hash, 'COUNT', 'SET ROLE bert', $hash, 'COUNT', 'SET ROLE carl', $hash, 'COUNT',
	'SET ROLE anna', $hash, 'COUNT');
my @refused = grep { /AccessDenied/ } @roles;
is($roles[5], $roles[1], 'a role with other keys reads all for itself');
ok(@refused > 0, 'a role whose keys are refused reads nothing');
is($roles[-1] =~ /^\d+$/ ? $roles[-1] : (grep { /^\d+$/ } @roles)[-1], $roles[3], 'the first one still has what it had');

# Other keys of the same role: what was read with the old ones is left alone.
my @keys = session('SET ROLE anna', $hash, q{ALTER USER MAPPING FOR anna SERVER far OPTIONS (SET access_key_id 'AKCARL')}, $hash,
	q{ALTER USER MAPPING FOR anna SERVER far OPTIONS (SET access_key_id 'AKANNA')}, 'COUNT', $hash, 'COUNT');
like(join("\n", @keys), qr/AccessDenied/, 'keys that are refused from now on open nothing');
is($keys[-1] =~ /^\d+$/ ? $keys[-1] : (grep { /^\d+$/ } @keys)[-1], $roles[3], 'with the old ones it goes on');

# ---- a data file that is gone is an error, although its metadata is remembered
my ($file) = $store->keys_of('lake/many.lance/data/');
my $data = $store->object_file($file);
my @gone = session('SET ROLE anna', $hash, "SHELL mv $data $aside", $hash, "SHELL mv $aside $data", $hash);
like(join("\n", @gone), qr/\Q$file\E.* does not exist|could not read.*\Q$file\E/, 'a data file that is gone is an error that names it');
is((grep { /^\d+\|/ } @gone)[-1], $off[0], 'when it is back, all is well');

# ---- connections are shared by statements: one that ends in the middle harms no other
my @cut = session('SET ROLE anna', 'SET lance_catalog.store_retries = 0', $hash, "SHELL echo 'from 2 mute' > $store->{dir}/plan; : > $store->{dir}/count",
	q{SET statement_timeout = '300ms'}, $hash, 'RESET statement_timeout', "SHELL : > $store->{dir}/plan", $hash,
	"SHELL echo 'from 2 dropped' > $store->{dir}/plan; : > $store->{dir}/count", $hash, "SHELL : > $store->{dir}/plan", $hash);
like(join("\n", @cut), qr/statement timeout/, 'a statement that waits is ended');
is(scalar(grep { $_ eq $off[0] } @cut), 3, 'the ones before and after have all rows');
like(join("\n", @cut), qr/no answer from the store/, 'as after one whose answers were lost');

# ---- what is read ahead of use is read again in the usual way when it does not come
$store->plan('');
foreach my $action (qw(dropped error lost slow))
{
	my @counts = $action eq 'slow' ? (2, 5, 9) : (1 .. 12);
	my @all = session('SET ROLE anna', 'SET lance_catalog.metadata_cache_size = 0', $hash,
		map { ("SHELL echo '$_ $action' > $store->{dir}/plan; : > $store->{dir}/count", $hash) } @counts);

	is(scalar(grep { $_ eq $off[0] } @all), @counts + 1, "a request is $action: all rows come");
	$store->plan('');
}

$node->stop;
done_testing();
