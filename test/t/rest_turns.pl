# rest_turns.pl
#	  Writers of one table that is fought for take turns: who asks for the newest version is answered behind the commit of the one before.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use IO::Select;
use IO::Socket::INET;
use JSON::PP;
use LanceRest;
use Test::More;

my $rest = LanceRest->start('turns', 'lance_catalog.rest_workers = 3');
my $location = $rest->expect('a table', 200, undef, 'POST', '/v1/table/t/declare', body => {})->{location} =~ s{^file://}{}r;
my %files;

mkdir $location;
mkdir "$location/_versions" or die $!;

# A connection that stays open.
sub connection
{
	return IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $rest->{port}) // die $!;
}

sub ask
{
	my ($connection, $path, $body) = @_;
	my $json = encode_json($body // {});

	$connection->syswrite("POST $path HTTP/1.1\r\nHost: x\r\nx-api-key: $rest->{key}\r\nContent-Type: application/json\r\n"
		  . "Content-Length: " . length($json) . "\r\n\r\n$json");
	return;
}

# (status, body) of the answer that is due.
sub answer
{
	my ($connection) = @_;
	my $text = '';

	until ($text =~ /^content-length: (\d+)\r\n(?:.*?\r\n)?\r\n(.*)\z/ims && length($2) >= $1)
	{
		IO::Select->new($connection)->can_read(20) or die 'no answer';
		$connection->sysread($text, 65536, length($text)) or die 'the connection was closed';
	}
	my ($body) = $text =~ /\r\n\r\n(.*)\z/s;
	return ((split / /, $text)[1], decode_json($body));
}

sub ask_newest { return ask($_[0], '/v1/table/t/version/list?limit=1&descending=true') }
sub newest { return (answer($_[0]))[1]->{versions}[0]{version} // 0 }

# Stage a manifest and ask for it to be made that version; returns the status.
sub commit
{
	my ($connection, $version) = @_;
	my $name = sprintf('_versions/%s.manifest-%d', 'x' x 20, ++$files{all});

	open(my $file, '>', "$location/$name") or die $!;
	print $file "manifest $files{all}";
	close $file;
	ask($connection, '/v1/table/t/version/create', { version => $version, manifest_path => substr("$location/$name", 1) });
	return (answer($connection))[0];
}

my ($one, $two) = (connection(), connection());

is(commit($one, 1), 200, 'one commits');
is(commit($two, 1), 409, 'two has lost the race: from here on both take turns');
my ($version, $behind, $rounds) = (1, 0, 0);
while ($rounds < 100 && $behind < 15)
{
	my ($first, $second) = $rounds++ % 2 ? ($one, $two) : ($two, $one);

	ask_newest($first);
	my $seen = newest($first);
	die "$seen, not $version" if $seen != $version;
	ask_newest($second);
	die 'not committed' if commit($first, $version + 1) != 200;
	$version++;
	$seen = newest($second);
	die "$seen, not $version" if $seen != $version && $seen != $version - 1;
	$behind++ if $seen == $version;
	is(commit($second, $version), 409, 'a version that is there is a lost race as ever') if $rounds == 1;
}
is($behind, 15, "who asks in another's turn is answered behind its commit") or diag("$behind of $rounds");

# a writer that goes away in its turn, and one that does not commit
ask_newest($one);
is(newest($one), $version, 'one has the turn');
$one->close;
ask_newest($two);
is(newest($two), $version, 'and goes away: two is served all the same');
$one = connection();
is(commit($one, $version), 409, 'one is back');
for (1 .. 3)
{
	ask_newest($one);
	is(newest($one), $version, 'one asks, and does not commit');
	ask_newest($two);
	is(newest($two), $version, 'two is served');
}

# its worker ends in its turn
ask_newest($two);
is(newest($two), $version, 'two has the turn');
$rest->{node}->safe_psql('template1', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'lance_catalog REST worker'");
ok($rest->wait_for(200, 20), 'the workers are back');
$one = connection();
is(commit($one, $version + 1), 200, 'and commits go on');
$rest->{node}->stop;
done_testing();
