# rest_refs.pl
#	  Tags and branches over REST: shapes, codes, pages, races; what they do to files and to versions.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use File::Path qw(make_path);
use Math::BigInt;
use POSIX ();
use LanceRest;
use PostgreSQL::Test::Utils;
use Test::More;

my $rest = LanceRest->start('rest_refs');
my $node = $rest->{node};
my $id = '/v1/table/ns%24t';

$rest->expect('namespace', 200, undef, 'POST', '/v1/namespace/ns/create', body => {});
my $location = $rest->expect('declare', 200, undef, 'POST', "$id/declare", body => {})->{location};

# The manifest of a dataset without columns and rows.
sub publish
{
	my ($version, $folder) = @_;
	my $message = "\x18" . chr($version) . "\x7a\x0c\x0a\x05lance\x12\x032.1";
	my $name = sprintf('%020s.manifest', Math::BigInt->new('18446744073709551615')->bsub($version)->bstr);

	$folder //= '_versions';
	make_path("$location/$folder");
	open my $file, '>:raw', "$location/$folder/$name" or die $!;
	print $file pack('V', length $message) . $message . pack('Q<', 0) . "\0\0\2\0LANC";
	close $file;
	return;
}


sub ask { return scalar $rest->expect(@_) }
sub tags { return ask('list tags', 200, undef, 'POST', "$id/tags/list" . ($_[0] // '')) }
sub branches { return ask('list branches', 200, undef, 'POST', "$id/branches/list" . ($_[0] // '')) }

# ---- a declared table has none
is_deeply(tags(), { tags => {} }, 'no tags');
is_deeply(branches(), { branches => {} }, 'no branches');
$rest->expect('a tag without a version', 404, 11, 'POST', "$id/tags/create", body => { tag => 'a', version => 1 });
$rest->expect('a branch without a version', 404, 11, 'POST', "$id/branches/create", body => { name => 'b' });
publish($_) foreach 1 .. 3;

# ---- tags
is_deeply(ask('create', 200, undef, 'POST', "$id/tags/create", body => { tag => 'a', version => 1 }), {}, 'an empty object');
$rest->expect('create again', 409, 9, 'POST', "$id/tags/create", body => { tag => 'a', version => 2 });
is_deeply(ask('get', 200, undef, 'POST', "$id/tags/version", body => { tag => 'a' }), { version => 1 }, 'version, no branch');
is_deeply(tags(), { tags => { a => { version => 1, manifestSize => 36 } } }, 'the shape of the specification');
is_deeply(ask('by GET', 200, undef, 'GET', "$id/tags/list"), tags(), 'older clients GET');
is_deeply(ask('with a body', 200, undef, 'POST', "$id/tags/list", body => 'null'), tags(), 'and send null');
$rest->expect('update', 200, undef, 'POST', "$id/tags/update", body => { tag => 'a', version => 2, branch => 'main' });
is(ask('get', 200, undef, 'POST', "$id/tags/version", body => { tag => 'a' })->{version}, 2, 'it moved');
for my $action ('version', 'create', 'update', 'delete')
{
	my %version = $action =~ /create|update/ ? (version => 1) : ();

	$rest->expect("$action: no tag", 400, 13, 'POST', "$id/tags/$action", body => {%version});
	$rest->expect("$action: bad tag", 400, 13, 'POST', "$id/tags/$action", body => { tag => 'a/b', %version });
	$rest->expect("$action: tag of a wrong type", 400, 13, 'POST', "$id/tags/$action", body => { tag => 5, %version });
	$rest->expect("$action: no table", 404, 4, 'POST', "/v1/table/ns%24none/tags/$action", body => { tag => 'x', %version });
	$rest->expect("$action: no namespace", 404, undef, 'POST', "/v1/table/none%24t/tags/$action", body => { tag => 'x', %version });
	$rest->expect("$action: another id", 400, 13, 'POST', "$id/tags/$action", body => { id => ['x'], tag => 'x', %version });
	$rest->expect("$action: missing tag", 404, 8, 'POST', "$id/tags/$action", body => { tag => 'x', %version }) if $action ne 'create';
	next if !%version;
	my $tag = $action eq 'create' ? 'new' : 'a';
	$rest->expect("$action: no version", 400, 13, 'POST', "$id/tags/$action", body => { tag => $tag });
	$rest->expect("$action: missing version", 404, 11, 'POST', "$id/tags/$action", body => { tag => $tag, version => 9 });
	$rest->expect("$action: negative version", 400, 13, 'POST', "$id/tags/$action", body => { tag => $tag, version => -1 });
	$rest->expect("$action: missing branch", 404, 22, 'POST', "$id/tags/$action", body => { tag => $tag, version => 1, branch => 'none' });
}

# pages
$rest->expect("create $_", 200, undef, 'POST', "$id/tags/create", body => { tag => $_, version => 3 }) foreach 'b', 'B', 'c';
my ($token, @seen) = ('');
do
{
	my $page = tags("?limit=2&page_token=$token");

	ok(keys %{ $page->{tags} } <= 2, 'a page of two');
	push @seen, sort keys %{ $page->{tags} };
	$token = $page->{page_token} // '';
} while $token ne '';
is("@seen", 'B a b c', 'all of them, in the order of bytes');
$rest->expect('limit 0', 400, 13, 'POST', "$id/tags/list?limit=0");

# describe at a tag
my $described = $rest->expect('describe', 200, undef, 'POST', "$id/describe?load_detailed_metadata=true", body => { tag => 'a' });
is($described->{version}, 2, 'the version that it points to');
$rest->expect('describe at no tag', 404, 8, 'POST', "$id/describe", body => { tag => 'x' });
$rest->expect('tag and version', 400, 13, 'POST', "$id/describe", body => { tag => 'a', version => 2 });
$rest->expect('tag and branch', 400, 13, 'POST', "$id/describe", body => { tag => 'a', branch => 'b' });

# describe at a number, with and without a look into it
for my $query ('', '?load_detailed_metadata=true')
{
	$rest->expect("describe version 999$query", 404, 11, 'POST', "$id/describe$query", body => { version => 999 });
	for my $bad (0, -1, 'x', '2', 2.5, 1e30, JSON::PP::true, [2])
	{
		$rest->expect("describe version $bad$query", 400, 13, 'POST', "$id/describe$query", body => { version => $bad });
	}
}
$described = $rest->expect('describe version 2', 200, undef, 'POST', "$id/describe?load_detailed_metadata=true", body => { version => 2 });
is($described->{version}, 2, 'is told of');
$described = $rest->expect('details by the body', 200, undef, 'POST', "$id/describe", body => { load_detailed_metadata => JSON::PP::true });
is($described->{version}, 3, 'of the newest version');
$described = $rest->expect('no details', 200, undef, 'POST', "$id/describe?load_detailed_metadata=false", body => { load_detailed_metadata => JSON::PP::true });
is_deeply([ grep { defined $described->{$_} } qw(version schema stats metadata is_only_declared table_uri) ], [], 'the query wins, and nothing is guessed');
$described = $rest->expect('flags by the body', 200, undef, 'POST', "$id/describe",
	body => { check_declared => JSON::PP::true, with_table_uri => JSON::PP::true });
ok(defined $described->{table_uri} && defined $described->{is_only_declared} && !$described->{is_only_declared}, 'are heard');

# a tagged version is kept
is(ask('delete versions', 200, undef, 'POST', "$id/version/delete", body => { ranges => [{ start_version => 0, end_version => -1 }] })
	->{deleted_count}, 1, 'one may go');
is_deeply([map { $_->{version} } @{ ask('versions', 200, undef, 'POST', "$id/version/list")->{versions} }], [2, 3], 'the tagged one stays');

# ---- branches
is_deeply(ask('create', 200, undef, 'POST', "$id/branches/create", body => { name => 'feat/x' }), {}, 'an empty object');
$rest->expect('create again', 409, 23, 'POST', "$id/branches/create", body => { name => 'feat/x' });
my $branch = branches()->{branches}{'feat/x'};
ok(abs(time - delete $branch->{createAt}) < 100, 'createAt in seconds');
is_deeply($branch, { parentVersion => 3, manifestSize => 36, metadata => {} }, 'the shape of the specification');
ok(-f "$location/_refs/branches/feat%2Fx.json", 'its file');
is_deeply([map { $_->{version} } @{ ask('versions', 200, undef, 'POST', "$id/version/list?branch=feat%2Fx")->{versions} }], [3],
	'its first version has the number of the parent');
$rest->expect('from a branch', 200, undef, 'POST', "$id/branches/create", body => { name => 'z', from_branch => 'feat/x', from_version => 3 });
is(branches()->{branches}{z}{parentBranch}, 'feat/x', 'its parent');
is_deeply([keys %{ branches('?limit=1')->{branches} }], ['feat/x'], 'a page');
is(branches('?limit=1')->{page_token}, 'feat/x', 'its token');
is_deeply([keys %{ branches('?limit=1&page_token=feat%2Fx')->{branches} }], ['z'], 'the next page');
$rest->expect('tag on a branch', 200, undef, 'POST', "$id/tags/create", body => { tag => 't', version => 3, branch => 'feat/x' });
is_deeply(ask('get', 200, undef, 'POST', "$id/tags/version", body => { tag => 't' }), { version => 3, branch => 'feat/x' }, 'with its branch');
is(tags()->{tags}{t}{branch}, 'feat/x', 'and so in the list');
$rest->expect('delete a parent', 400, 13, 'POST', "$id/branches/delete", body => { name => 'feat/x' });
$rest->expect('delete a child', 200, undef, 'POST', "$id/branches/delete", body => { name => 'z' });
$rest->expect('delete a tagged one', 400, 13, 'POST', "$id/branches/delete", body => { name => 'feat/x' });
$rest->expect('delete the tag', 200, undef, 'POST', "$id/tags/delete", body => { tag => 't' });
is_deeply(ask('delete', 200, undef, 'POST', "$id/branches/delete", body => { name => 'feat/x' }), {}, 'an empty object');
$rest->expect('delete again', 404, 22, 'POST', "$id/branches/delete", body => { name => 'feat/x' });
$rest->expect('its versions', 404, 22, 'POST', "$id/version/list?branch=feat%2Fx");
ok(wait_until(sub { !-e "$location/tree/feat/x" && !-e "$location/tree/z" }), 'their files go');
for my $bad ({}, { name => '' }, { name => 'main' }, { name => 'a//b' }, { name => 'a b' }, { name => 5 }, { name => 'x', from_version => -1 },
	{ name => 'x', from_version => '1' })
{
	my $shown = join ' ', map { "$_=$bad->{$_}" } sort keys %$bad;

	$rest->expect("create <$shown>", 400, 13, 'POST', "$id/branches/create", body => $bad);
	$rest->expect("delete <$shown>", 400, 13, 'POST', "$id/branches/delete", body => $bad) if !exists $bad->{from_version};
}
$rest->expect('from a missing branch', 404, 22, 'POST', "$id/branches/create", body => { name => 'x', from_branch => 'none' });
$rest->expect('from a missing version', 404, 11, 'POST', "$id/branches/create", body => { name => 'x', from_version => 9 });
$rest->expect("$_: no table", 404, 4, 'POST', "/v1/table/ns%24none/branches/$_", body => { name => 'x' }) foreach 'create', 'delete', 'list';

# ---- at once: one winner
for my $what (['tags', { tag => 'race', version => 3 }, 9], ['branches', { name => 'race' }, 23])
{
	my ($route, $body, $code) = @$what;
	my @pipes;

	for my $i (1 .. 16)
	{
		pipe my $reader, my $writer;
		my $pid = fork() // die $!;

		if ($pid == 0)
		{
			my ($status, $json) = $rest->call('POST', "$id/$route/create", body => $body);

			print $writer $status, ' ', $json->{code} // '';
			close $writer;
			POSIX::_exit(0);
		}
		close $writer;
		push @pipes, $reader;
	}
	my %answers;
	$answers{ scalar readline $_ }++ foreach @pipes;
	1 while wait() > 0;
	is_deeply(\%answers, { '200 ' => 1, "409 $code" => 15 }, "16 create one of $route");
}

# ---- the newest manifest is lost: told by version and object, older ones stay readable, and nobody goes on without it
my $lost = $rest->expect('another table', 200, undef, 'POST', '/v1/table/ns%24lost/declare')->{location};
for my $version (1 .. 2)
{
	my $staged = "_versions/staged-$version";

	make_path("$lost/_versions");
	append_to_file("$lost/$staged", "manifest $version");
	$rest->expect("version $version", 200, undef, 'POST', '/v1/table/ns%24lost/version/create',
		body => { version => $version, manifest_path => substr($lost, 1) . "/$staged", manifest_size => 5, e_tag => 'wrong' });
}
my ($object) = glob "$lost/_versions/*613.manifest";
unlink $object or die $!;
append_to_file("$lost/_versions/staged-3", 'manifest 3');
my $third = { version => 3, manifest_path => substr($lost, 1) . '/_versions/staged-3' };
for my $case (['version/list', {}], ['version/describe', {}], ['version/describe', { version => 2 }], ['version/create', $third],
	['describe', { load_detailed_metadata => JSON::PP::true }], ['describe', { version => 2 }])
{
	my ($route, $body) = @$case;
	my $json = $rest->expect("newest manifest lost, $route", 409, 19, 'POST', "/v1/table/ns%24lost/$route", body => $body);

	like("$json->{error} $json->{detail}", qr/version 2 of table "ns\$lost" .*\Q$object\E/, 'version and object are named');
}
is($rest->expect('an older version', 200, undef, 'POST', '/v1/table/ns%24lost/version/describe', body => { version => 1 })->{version}{version}, 1,
	'is described');
ok(!-e $object && !glob("$lost/_versions/*612.manifest"), 'nothing was written');
$rest->expect('giving it up is a deletion of that version', 200, undef, 'POST', '/v1/table/ns%24lost/version/delete',
	body => { ranges => [{ start_version => 2, end_version => 3 }] });
append_to_file("$lost/_versions/staged-2b", 'manifest 2 again');
$rest->expect('the chain goes on', 200, undef, 'POST', '/v1/table/ns%24lost/version/create',
	body => { version => 2, manifest_path => substr($lost, 1) . '/_versions/staged-2b' });

# ---- read on a role of its own
$node->safe_psql('postgres', "CREATE ROLE reader; SELECT lance_grant('reader', 'read')");
my $reader = $node->safe_psql('postgres', "SELECT api_key FROM lance_create_api_key('reader')");
$rest->expect('a reader lists', 200, undef, 'POST', "$id/tags/list", key => $reader);
$rest->expect('a reader gets', 200, undef, 'POST', "$id/tags/version", key => $reader, body => { tag => 'a' });
$rest->expect('a reader makes none', 403, 15, 'POST', "$id/tags/create", key => $reader, body => { tag => 'r', version => 3 });
$rest->expect('nor a branch', 403, 15, 'POST', "$id/branches/create", key => $reader, body => { name => 'r' });

# ---- a file that says nothing
append_to_file("$location/_refs/tags/bad.json", '{"version":');
my ($status, $json) = $rest->call('POST', "$id/tags/list");
like($json->{error}, qr/tag "bad" is damaged/, 'it is named');
$rest->expect('and can be removed', 200, undef, 'POST', "$id/tags/delete", body => { tag => 'bad' });
tags();

unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing crashed');
done_testing();
