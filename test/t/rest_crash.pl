# rest_crash.pl
#	  kill -9 of a worker in the middle of version/create, at random points: what was acknowledged stays, nothing is
#	  overwritten, and the chain goes on.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use LanceRest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $rounds = $ENV{LANCE_CRASH_ROUNDS} // 8;
my $rest = LanceRest->start('crash', 'restart_after_crash = on', 'log_min_messages = fatal', 'autovacuum = off');
my $node = $rest->{node};

$rest->expect('a namespace', 200, undef, 'POST', '/v1/namespace/a/create', body => {});
my $json = $rest->expect('a table', 200, undef, 'POST', '/v1/table/a%24t/declare', body => {});
my $folder = $json->{location} =~ s{^file://}{}r . '/_versions';
my $inside = $folder =~ s{^/}{}r;
system_or_bail('mkdir', '-p', $folder);

sub final_name
{
	my ($version) = @_;

	return sprintf('%s.manifest', Math::BigInt->new('18446744073709551615')->bsub($version)->bstr);
}

# Pids of the REST workers; none while the server recovers.
sub workers
{
	# A psql that finds no server may be gone before it has read its input, which is an exception here.
	my ($status, $out) = eval { $node->psql('template1',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'lance_catalog REST worker'") };

	return defined $status && $status == 0 ? split(/\n/, $out) : ();
}

sub newest
{
	my (undef, $list) = $rest->call('POST', '/v1/table/a%24t/version/list?limit=1&descending=true');

	return undef if ref $list ne 'HASH' || !exists $list->{versions};
	return @{ $list->{versions} } ? $list->{versions}[0]{version} : 0;
}

require Math::BigInt;
my %acknowledged; # version -> bytes
my $written = 0;
for my $round (1 .. $rounds)
{
	my ($read, $write);

	pipe($read, $write) or die $!;
	my $child = fork();
	if ($child == 0)
	{
		# Commit as fast as can be until a request is lost; tell what was acknowledged. When the crash falls between two
		# requests, the next one waits in the listening socket's queue and is answered after the restart.
		my $deadline = time() + 1.5;

		close $read;
		$write->autoflush(1);
		for (my $version = newest() + 1;; $version++)
		{
			my $content = "round $round version $version " . rand();
			my $staged = final_name($version) . "-$round";

			append_to_file("$folder/$staged", $content);
			my ($status) = $rest->call('POST', '/v1/table/a%24t/version/create',
				body => { version => $version, manifest_path => "$inside/$staged", naming_scheme => 'V2' }, timeout => 5);
			last if $status != 200;
			print $write "$version $content\n";
			last if time() > $deadline;
		}
		require POSIX;
		POSIX::_exit(0);
	}
	close $write;
	sleep 0.2 + rand() * 0.5;
	my @before = workers();
	is(scalar(@before), 2, "round $round: two workers");
	kill 'KILL', $before[ rand @before ];
	while (my $line = <$read>)
	{
		my ($version, $content) = $line =~ /^(\d+) (.*)$/ or die $line;

		fail("version $version was acknowledged twice") if exists $acknowledged{$version};
		$acknowledged{$version} = $content;
		$written++;
	}
	waitpid $child, 0;
	my %old = map { $_ => 1 } @before;
	ok(wait_until(sub { my @now = workers(); @now == 2 && !grep { $old{$_} } @now }, 30), "round $round: restarted");

	my ($status, $list) = $rest->call('POST', '/v1/table/a%24t/version/list?descending=true');
	is($status, 200, "round $round: versions are listed");
	my @versions = map { $_->{version} } @{ $list->{versions} };
	is_deeply(\@versions, [ reverse 1 .. scalar(@versions) ], "round $round: versions without gap or double");
	my @lost = grep { $_ > @versions } keys %acknowledged;
	is_deeply(\@lost, [], "round $round: no acknowledged version is lost");
	my @changed = grep { slurp_file("$folder/" . final_name($_)) ne $acknowledged{$_} } grep { $_ <= @versions } keys %acknowledged;
	is_deeply(\@changed, [], "round $round: no acknowledged version is overwritten");
	my @nameless = grep { !-e "$folder/" . final_name($_) } 1 .. @versions;
	is_deeply(\@nameless, [], "round $round: every version has its final file");
}
cmp_ok($written, '>', $rounds, 'enough was written to tell') or diag($written);

# the chain goes on
my $next = newest() + 1;
append_to_file("$folder/last-staged", 'last');
$rest->expect('one more version', 200, undef, 'POST', '/v1/table/a%24t/version/create',
	body => { version => $next, manifest_path => "$inside/last-staged", naming_scheme => 'V2' });
is(newest(), $next, 'is the newest');

done_testing();
