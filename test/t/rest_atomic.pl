# rest_atomic.pl
#	  Commits over REST while the server is killed and the store fails at every step: a batch over three tables is there for all
#	  readers or for none, the same request sent again is recognised or carried out, a lost race and an unclear outcome say so;
#	  and a store without conditional writes is enough for writers that all come through the catalog.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use JSON::PP;
use LanceRest;
use LanceStore;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my @tables = qw(a b c);
my $steps = 9; # three intents, three manifests, three intents removed
my $store = LanceStore->start(counts => sub { $_[0] =~ /^(PUT|DELETE)$/ && $_[1] =~ /\.(intent|manifest)$/ });
my $rest = LanceRest->start('atomic', 'restart_after_crash = on', 'log_min_messages = fatal', 'autovacuum = off',
	'lance_catalog.store_retries = 1', 'lance_catalog.store_timeout = 20s', 'synchronous_commit = off');
my $node = $rest->{node};

foreach my $kind (['s3', ''], ['plain', ", conditional_put 'false'"])
{
	$node->safe_psql('postgres', "CREATE SERVER $kind->[0] FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://bucket/$kind->[0]',
		endpoint '$store->{url}', region 'us-east-1', allow_http 'true' $kind->[1]);
		CREATE USER MAPPING FOR PUBLIC SERVER $kind->[0] OPTIONS (access_key_id 'k', secret_access_key 's')");
	$rest->expect("a namespace on $kind->[0]", 200, undef, 'POST', "/v1/namespace/$kind->[0]/create",
		body => { properties => { server => $kind->[0] } });
}

# The folder of a new table's manifests.
sub declare
{
	my ($table) = @_;
	my $json = $rest->expect("table $table", 200, undef, 'POST', "/v1/table/$table/declare", body => {});

	return $json->{location} =~ s{^s3://bucket/}{}r . '/_versions';
}

my %folder = map { $_ => declare("s3\$$_") } @tables;

# What version/create wants for a manifest that is staged now.
sub staged
{
	my ($folder, $version, $content) = @_;
	my $key = "$folder/" . LanceStore::manifest_name($version) . '-' . int(rand(1e15));

	$store->put($key, $content);
	return (version => $version, manifest_path => $key, naming_scheme => 'V2');
}

sub stored { return $store->get("$_[0]/" . LanceStore::manifest_name($_[1])) }

sub newest
{
	my ($table) = @_;
	my ($status, $list) = $rest->call('POST', "/v1/table/$table/version/list?limit=1&descending=true");

	return $status != 200 ? "status $status" : @{ $list->{versions} } ? $list->{versions}[0]{version} : 0;
}

# The processes that may be at work on a request.
sub at_work
{
	# A psql that finds no server may be gone before it has read its input, which is an exception here.
	my ($status, $out) = eval { $node->psql('template1', "SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'lance_catalog REST %'") };

	return defined $status && $status == 0 ? split(/\n/, $out) : ();
}

my $attempt = 0;
my %told; # table -> version -> content that was acknowledged

# A request that commits a version of each table, in one form or the other.
sub batch
{
	my ($before) = @_;
	my @entries;

	$attempt++;
	foreach my $i (0 .. $#tables)
	{
		push @entries, { id => [ 's3', $tables[$i] ], staged($folder{ $tables[$i] }, $before->[$i] + 1, "attempt $attempt of $tables[$i]") };
	}
	return $attempt % 2 ? ('/v1/table/version/batch-create', { entries => \@entries })
	  : ('/v1/table/batch-commit', { operations => [ map { { create_table_version => $_ } } @entries ] });
}

sub scenario
{
	my ($plan, @allowed) = @_;
	my $before = [ map { newest("s3\$$_") } @tables ];
	my ($path, $body) = batch($before);

	$store->victims(at_work());
	$store->plan($plan);
	my ($status, $json, undef, $text) = $rest->call('POST', $path, body => $body);
	ok((grep { $_ == $status } @allowed), "$plan: the answer") or diag("$status $text");
	is($json->{code}, 14, "$plan: its code") if $status == 409;
	$store->plan('');
	ok($rest->wait_for(200, 30), "$plan: the server answers");
	my $after = [ map { newest("s3\$$_") } @tables ];
	my $all = join(',', map { $_ + 1 } @$before);

	# Someone else's manifest under one of the names is a version too.
	my $faster = $plan =~ /taken/;
	ok("@$after" eq "@$before" || join(',', @$after) eq $all, "$plan: all or nothing") or diag("@$before, then @$after")
	  if !$faster;
	is(join(',', @$after), $all, "$plan: what is acknowledged is there") if $status == 200;

	# The same again: recognised when it was done, else done now.
	($status, $json, undef, $text) = $rest->call('POST', $path, body => $body);
	is($status, $faster ? 409 : 200, "$plan: the same again") or diag($text);
	return if $faster;
	is(join(',', map { newest("s3\$$_") } @tables), $all, "$plan: is there once");
	is(join(',', map { $store->newest_in($folder{$_}) } @tables), $all, "$plan: also for those who open the folders");
	$told{ $tables[$_] }{ $before->[$_] + 1 } = "attempt $attempt of $tables[$_]" foreach 0 .. $#tables;
	return;
}

foreach my $n (1 .. $steps)
{
	# 599: the connection broke
	scenario("$n killed", 599);
	scenario("$n done", 599);
	scenario("$n lost", 200);
	scenario("$n error", 200);
	scenario("$n conflict", 200, 409, 503);
	# 412 to a write without a condition, as intents are, is an answer that no store gives
	scenario("$n refused", $n <= 3 ? 500 : (200, 409, 503));
	scenario("from $n dropped", 200, 503);
	scenario("from $n lost", 200, 503) if $n % 3 == 1;
}
my @other;
foreach my $table (@tables)
{
	my @versions = sort { $a <=> $b } keys %{ $told{$table} };

	is_deeply(\@versions, [ 1 .. @versions ], "versions of $table that were acknowledged");
	push @other, grep { (stored($folder{$table}, $_) // '') ne $told{$table}{$_} } @versions;
}
is_deeply(\@other, [], 'none is lost or overwritten');
scenario("$_ taken", 409) foreach 4 .. 6;

# ---- one version: what the answer says
my $folder = declare('s3$one');

sub one
{
	my ($what, $plan, $statuses, $code, $version) = @_;
	my %body = staged($folder, $version, "one, version $version, $what");

	$store->plan($plan);
	my ($status, $json, undef, $text) = $rest->call('POST', '/v1/table/s3$one/version/create', body => \%body);
	$store->plan('');
	ok((grep { $_ == $status } @$statuses), "$what: the answer") or diag("$status $text");
	is($json->{code}, $code, "$what: its code") or diag($text) if defined $code;
	return ($json, \%body);
}

sub again
{
	my ($what, $body, $status) = @_;

	$rest->expect("$what: the same again", $status, undef, 'POST', '/v1/table/s3$one/version/create', body => $body);
	is(stored($folder, $body->{version}), "one, version $body->{version}, $what", "$what: is the version") if $status == 200;
	return;
}

foreach my $case (['an answer that is lost', '1 lost'], ['all answers lost', 'from 1 lost'], ['one error', '1 error'], ['one conflict', '1 conflict'])
{
	my ($what, $plan) = @$case;
	my $version = newest('s3$one') + 1;
	my (undef, $body) = one($what, $plan, [200], undef, $version);

	again($what, $body, 200);
}
my $version = newest('s3$one') + 1;
my ($json, $body) = one('another was faster', '1 taken', [409], 14, $version);
again('another was faster', $body, 409);
is(stored($folder, $version), 'faster', 'his version stands');

# Nothing arrives, or nothing comes back: the answer does not claim to know, and the same request settles it.
foreach my $case (['nothing arrives', 'from 1 dropped'], ['the store takes the request and is silent', 'from 1 mute'])
{
	my ($what, $plan) = @$case;

	$node->safe_psql('postgres', q{ALTER SYSTEM SET lance_catalog.store_timeout = '1s'; SELECT pg_reload_conf()}) if $plan =~ /mute/;
	($json, $body) = one($what, $plan, [503], 17, newest('s3$one') + 1);
	like($json->{error}, qr/whether version \d+ of table "s3\$one" was written is unknown/, "$what: it says so");
	again($what, $body, 200);
}

# ---- a store without conditional writes, and writers that all come through the catalog
$folder = declare('plain$t');
my @pids;
$store->plan('');
foreach my $writer (1 .. 6)
{
	my $pid = fork() // die $!;

	if ($pid == 0)
	{
		srand($writer);
		foreach my $version (1 .. 8)
		{
			my $content = "writer $writer, version $version";
			my ($status, $json) = $rest->call('POST', '/v1/table/plain$t/version/create', body => { staged($folder, $version, $content) });

			append_to_file("$store->{dir}/told-$writer", "$version $status " . ($json->{code} // 0) . "\n");
		}
		require POSIX;
		POSIX::_exit(0);
	}
	push @pids, $pid;
}
waitpid $_, 0 foreach @pids;
my %winner;
my %answers;
foreach my $writer (1 .. 6)
{
	foreach my $line (split /\n/, slurp_file("$store->{dir}/told-$writer"))
	{
		my ($version, $status, $code) = split / /, $line;

		$answers{"$status $code"}++;
		push @{ $winner{$version} }, $writer if $status == 200;
	}
}
is_deeply([ sort keys %answers ], [ '200 0', '409 14' ], 'versions are made, or the race is lost');
is_deeply([ map { scalar @{ $winner{$_} // [] } } 1 .. 8 ], [ (1) x 8 ], 'each version has one winner');
is_deeply([ map { stored($folder, $_) } 1 .. 8 ], [ map { 'writer ' . ($winner{$_} // [''])->[0] . ", version $_" } 1 .. 8 ], 'and is his');
unlike($store->log_of_changes, qr/^PUT\* \S+\.manifest$/m, 'without a conditional write');
$node->stop('fast');
$store->stop;
done_testing();
