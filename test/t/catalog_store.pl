# The last step of a commit against a store that misbehaves: taken names, no conditional writes, lost answers, silence.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/lib";
use LanceStore;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

# Staged files and intents are always written; the rest of what is written goes as planned.
my $store = LanceStore->start(counts => sub { $_[0] eq 'PUT' && $_[1] !~ /staged|\.intent$/ });

my $node = PostgreSQL::Test::Cluster->new('store');
$node->init;
$node->append_conf('postgresql.conf', "lance_catalog.default_server = 'lake'\nlance_catalog.store_retries = 1\nlance_catalog.store_timeout = '20s'\n");
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION lance_catalog;
	CREATE SERVER lake FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://bucket', endpoint '$store->{url}', allow_http 'true');
	SELECT lance_declare_table('t');
});
my $root = $node->safe_psql('postgres', q{SELECT substr(location, 13) FROM lance_describe_table('t')});

sub stage
{
	my ($name, $content) = @_;

	$store->put("$root/_versions/staged-$name", $content);
	return "SELECT version FROM lance_create_table_version('t', $_[2], '$root/_versions/staged-$name')";
}

sub create { return $node->psql('postgres', stage(@_), on_error_stop => 0) }
sub versions { return $node->safe_psql('postgres', q{SELECT string_agg(version::text, ',') FROM lance_list_table_versions('t')}) }

my ($ret, $out, $err) = create('a', 'one', 1);
is($out, '1', 'the usual case') or diag($err);
like($store->log_of_changes, qr{^PUT\* .*/_versions/18446744073709551614\.manifest$}m, 'is one conditional write');

$store->plan('from 1 taken');
($ret, $out, $err) = create('b', 'two', 2);
like($err, qr/version 2 of table "t" was written by another client/, 'another client was faster');
is(versions(), '1,2', 'and its version stands');

$store->plan('from 1 unconditional');
($ret, $out, $err) = create('c', 'three', 3);
is($out, '3', 'a store without conditional writes is written to after a look') or diag($err);
like($store->log_of_changes, qr{^PUT [^\n]*manifest$}m, 'by a plain write');

$store->plan('from 1 lost');
($ret, $out, $err) = create('d', 'four', 4);
is($out, '4', 'an answer that is lost: the object is there, with our bytes') or diag($err);
is(versions(), '1,2,3,4', 'and is the version');

$store->plan('from 1 dropped');
($ret, $out, $err) = create('e', 'five', 5);
like($err, qr/ERROR/, 'a write that never arrives is an error');
is(versions(), '1,2,3,4', 'without a version');
$store->plan('');
is($node->safe_psql('postgres', stage('e', 'five', 5)), '5', 'the same request succeeds when the store is back');

# Silence: cancel, and termination, while the write waits for its answer.
$store->plan('from 1 mute');
my $sql = stage('f', 'six', 6);
my %h = (out => '', err => '');
my $run = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' application_name=six', '-v', 'VERBOSITY=verbose', '-c', $sql, '-c', "SELECT 'goes on'" ],
	'>', \$h{out}, '2>', \$h{err});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'six' AND state = 'active'}) or die;
for (1 .. 100) { last if $store->counted; sleep 0.1 }
my $start = time;
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'six'});
$run->finish;
ok(time - $start < 2, 'a cancel ends the wait for the store');
like($h{err}, qr/57014/, 'and rolls the transaction back');
like($h{out}, qr/goes on/, 'the session goes on');
$store->plan('');
is(versions(), '1,2,3,4,5', 'nothing was written');
is($node->safe_psql('postgres', $sql), '6', 'and the same request succeeds');

$store->plan('from 1 mute');
$sql = stage('g', 'seven', 7);
$run = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' application_name=seven', '-c', $sql ], '>', \$h{out}, '2>', \$h{err});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'seven' AND state = 'active'}) or die;
for (1 .. 100) { last if $store->counted; sleep 0.1 }
$start = time;
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'seven'});
$run->finish;
ok(time - $start < 5, 'so does the end of the session');
$store->plan('');
is($node->safe_psql('postgres', $sql), '7', 'after which the table is as before');

# Tags: the same store, the same faults.
sub sql { return $node->psql('postgres', shift, on_error_stop => 0) }
sub tags { return $node->safe_psql('postgres', q{SELECT string_agg(tag || version, ',' ORDER BY tag) FROM lance_list_table_tags('t')}) }
sub tag { return sql("SELECT lance_create_table_tag('t', '$_[0]', 1)") }

$store->plan('');
is((tag('a'))[0], 0, 'a tag');
like($store->log_of_changes, qr{^PUT\* $root/_refs/tags/a\.json$}m, 'is one conditional write');
$store->plan('from 1 taken');
like((tag('b'))[2], qr/tag "b" of table "t" exists already/, 'another client was faster');
$store->plan('');
$node->safe_psql('postgres', q{SELECT lance_delete_table_tag('t', 'b')});
$store->plan('from 1 unconditional');
is((tag('c'))[0], 0, 'a store without conditional writes is written to after a look');
like((tag('c'))[2], qr/exists already/, 'which finds what is there');
$store->plan('from 1 lost');
is((tag('d'))[0], 0, 'an answer that is lost: the object is there, with our bytes');
$store->plan('from 1 dropped');
like((tag('e'))[2], qr/could not change tag "e"/, 'a write that never arrives is an error');
$store->plan('');
is(tags(), 'a1,c1,d1', 'without a tag');
is((tag('e'))[0], 0, 'the same request succeeds when the store is back');

# Several in one transaction: the last is refused, the others are put back as they were.
$store->plan('from 1 denied z.json');
my $before = $node->safe_psql('postgres', q{SELECT array_agg(t) FROM lance_list_table_tags('t') t});
($ret, $out, $err) = sql(q{BEGIN; CREATE TABLE beside (n int); SELECT lance_update_table_tag('t', 'a', 2); SELECT lance_delete_table_tag('t', 'c');
	SELECT lance_create_table_tag('t', 'f', 1); SELECT lance_create_table_tag('t', 'z', 1); COMMIT; SELECT to_regclass('beside') IS NULL});
like($err, qr/AccessDenied|denied|403/i, 'the last of four changes is refused');
like($out, qr/^t$/m, 'the transaction is rolled back');
is($node->safe_psql('postgres', q{SELECT array_agg(t) FROM lance_list_table_tags('t') t}), $before, 'and so is what the store had of it');
my @puts = $store->log_of_changes =~ m{^(PUT\*? \S+/tags/\S+)$}mg;
is(scalar(grep { m{/a\.json} } @puts), 2, 'by writing the old text again');

# Silence: a cancel ends the wait and leaves no tag.
$store->plan('from 1 mute');
$run = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' application_name=tag', '-v', 'VERBOSITY=verbose',
	'-c', "SELECT lance_create_table_tag('t', 'g', 1)", '-c', "SELECT 'goes on'" ], '>', \$h{out}, '2>', \$h{err});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'tag' AND state = 'active'}) or die;
for (1 .. 100) { last if $store->counted; sleep 0.1 }
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'tag'});
$run->finish;
like($h{err}, qr/57014/, 'a cancel rolls the transaction back');
like($h{out}, qr/goes on/, 'the session goes on');
$store->plan('');
is(tags(), 'a1,c1,d1,e1', 'nothing was written');
is($node->safe_psql('postgres', q{SELECT failed FROM lance_run_cleanup()}), '0', 'the cleanup works');
$node->stop('fast');
$store->stop;
done_testing();
