# rest_lists.pl
#	  Lists over REST: empty ones, pages, names that can all be used; modes and behaviors in any spelling.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use LanceRest;
use Math::BigInt;
use PostgreSQL::Test::Utils;
use Test::More;

my $rest = LanceRest->start('lists');

# ---- empty lists
sub empty_list
{
	my ($what, $expected, $method, $path) = @_;
	my (undef, undef, undef, $content) = $rest->call($method, $path);

	is($content, $expected, "$what: an empty list, not null, and nothing else");
	return;
}
$rest->expect('a namespace', 200, undef, 'POST', '/v1/namespace/empty/create');
empty_list('namespaces', '{"namespaces":[]}', 'GET', '/v1/namespace/empty/list');
empty_list('tables', '{"tables":[]}', 'GET', '/v1/namespace/empty/table/list');
empty_list('tables, a page', '{"tables":[]}', 'GET', '/v1/namespace/empty/table/list?limit=1&include_declared=false');
empty_list('all tables that are written', '{"tables":[]}', 'GET', '/v1/table?include_declared=false');
$rest->expect('a table', 200, undef, 'POST', '/v1/table/empty%24t/declare');
empty_list('versions', '{"versions":[]}', 'POST', '/v1/table/empty%24t/version/list');
empty_list('versions, a page', '{"versions":[]}', 'POST', '/v1/table/empty%24t/version/list?limit=1&descending=true');
empty_list('tags', '{"tags":{}}', 'POST', '/v1/table/empty%24t/tags/list');
empty_list('branches', '{"branches":{}}', 'POST', '/v1/table/empty%24t/branches/list');
$rest->expect('gone again', 200, undef, 'POST', '/v1/namespace/empty/drop', body => { behavior => 'Cascade' });

# ---- pages

# All pages of a list; each full but for the last, which has no token.
sub walk
{
	my ($what, $list, $method, $path, $limit) = @_;
	my (@seen, $token);

	for my $page (1 .. 30)
	{
		my $query = join '&', defined $limit ? "limit=$limit" : (), defined $token ? 'page_token=' . percent($token) : ();
		my (undef, $json) = $rest->call($method, $path . ($path =~ /\?/ ? '&' : '?') . $query);
		my @names = map { ref $_ ? $_->{version} : $_ } @{ $json->{$list} };

		push @seen, @names;
		$token = $json->{page_token};
		last if !defined $token;
		is(scalar(@names), $limit, "$what, limit $limit: page $page is full");
	}
	is($token, undef, "$what: the last page has no token");
	return \@seen;
}

sub percent
{
	my ($text) = @_;

	utf8::encode($text);
	return $text =~ s/([^A-Za-z0-9_.-])/sprintf '%%%02X', ord $1/ger;
}

my @pages = map { sprintf '%s%02d', $_ % 2 ? 'p' : 'P', $_ } 1 .. 23;
$rest->expect('a namespace', 200, undef, 'POST', '/v1/namespace/pages/create');
for my $name (@pages)
{
	$rest->call('POST', "/v1/table/pages%24$name/declare");
	$rest->call('POST', "/v1/namespace/pages%24n$name/create");
}
my (undef, $described) = $rest->call('POST', '/v1/table/pages%24p23/describe');
my $versions = $described->{location} =~ s{^file://}{}r . '/_versions';
system_or_bail('mkdir', '-p', $versions);
append_to_file(sprintf('%s/%s.manifest', $versions, Math::BigInt->new('18446744073709551615')->bsub($_)->bstr), 'x') foreach 1 .. 23;
for my $limit (1, 4, 22, 23, 24, undef)
{
	my $shown = $limit // 'none';

	is_deeply(walk('tables', 'tables', 'GET', '/v1/namespace/pages/table/list', $limit), [ sort @pages ], "23 tables, limit $shown");
	is_deeply(walk('namespaces', 'namespaces', 'GET', '/v1/namespace/pages/list', $limit), [ sort map { "n$_" } @pages ],
		"23 namespaces, limit $shown");
	is_deeply([ grep { /^pages/ } @{ walk('all tables', 'tables', 'GET', '/v1/table?delimiter=.', $limit) } ],
		[ sort map { "pages.$_" } @pages ], "all tables, limit $shown");
	is_deeply(walk('tables, an empty token', 'tables', 'GET', '/v1/namespace/pages/table/list?page_token=', $limit), [ sort @pages ],
		"an empty token is none, limit $shown") if !defined $limit;
	is_deeply(walk('versions', 'versions', 'POST', '/v1/table/pages%24p23/version/list', $limit), [ 1 .. 23 ], "23 versions, limit $shown");
	is_deeply(walk('versions', 'versions', 'POST', '/v1/table/pages%24p23/version/list?descending=true', $limit), [ reverse 1 .. 23 ],
		"23 versions, latest first, limit $shown");
	is_deeply(walk('written tables', 'tables', 'GET', '/v1/namespace/pages/table/list?include_declared=false', $limit), ['p23'],
		"one of 23 is written, limit $shown");
}
$rest->expect('gone again', 200, undef, 'POST', '/v1/namespace/pages/drop', body => { behavior => 'Cascade' });

# ---- names

# Names with everything in them, told apart by a delimiter that none of them has.
my @odd = ('x', '*', 'f*', 'a?b', '[x]', '%', '%24', '%s', '+', ' ', '  ', '.', '..', '../x', '/', '\\', '"', q{x'; DROP TABLE t; --}, '$', '$$',
	'a$b', '{0}', '${aws:username}', "tab\there", "line\nfeed", "\x{1}", 'null', 'NULL', "\x{e9}", "e\x{301}", "\x{6f22}\x{5b57}\x{1f389}",
	'a&b=c', '#', ':', 'walk', 'y' x 1024);
$rest->expect('a namespace', 200, undef, 'POST', '/v1/namespace/odd/create');
my $by = 'delimiter=%7E%7E';
for my $name (@odd)
{
	my $id = percent("odd~~$name");
	my $shown = $name =~ s/[^ -~]/?/gr;

	$shown = substr($shown, 0, 20);
	$rest->expect("namespace <$shown>", 200, undef, 'POST', "/v1/namespace/$id/create?$by", body => { id => [ 'odd', $name ] });
	$rest->expect("table <$shown> in it", 200, undef, 'POST', '/v1/table/' . percent("odd~~$name~~$name") . "/declare?$by",
		body => { id => [ 'odd', $name, $name ], properties => { name => $name } });
}
my (undef, $odd) = $rest->call('GET', '/v1/namespace/odd/list');
my $in_order = sub { my @bytes = map { my $b = $_; utf8::encode($b); $b } @_; map { utf8::decode($_); $_ } sort @bytes };
is_deeply($odd->{namespaces}, [ $in_order->(@odd) ], 'odd names are listed as they were given, in the order of bytes');
for my $name (@{ $odd->{namespaces} })
{
	my $shown = substr($name =~ s/[^ -~]/?/gr, 0, 20);
	my $id = percent("odd~~$name");

	$rest->expect("<$shown> exists", 200, undef, 'POST', "/v1/namespace/$id/exists?$by");
	$rest->expect("<$shown> is described", 200, undef, 'POST', "/v1/namespace/$id/describe?$by");
	my (undef, $tables) = $rest->call('GET', "/v1/namespace/$id/table/list?$by");
	is_deeply($tables->{tables}, [$name], "<$shown> has its table");
	my $table = percent("odd~~$name~~$tables->{tables}[0]");
	$rest->expect("table <$shown> exists", 200, undef, 'POST', "/v1/table/$table/exists?$by");
	my $described = $rest->expect("table <$shown> is described", 200, undef, 'POST', "/v1/table/$table/describe?$by");
	is_deeply($described->{properties}, { name => $name }, "<$shown>: its properties");
}
my (undef, $all) = $rest->call('GET', "/v1/table?$by");
my @full = grep { /^odd~~/ } @{ $all->{tables} };
is_deeply([ sort @full ], [ sort map { "odd~~$_~~$_" } @odd ], 'all tables by their whole ids');
$rest->expect('by its whole id', 200, undef, 'POST', '/v1/table/' . percent($_) . "/drop?$by") foreach @full;
(undef, $all) = $rest->call('GET', "/v1/table?$by");
is_deeply([ grep { /^odd~~/ } @{ $all->{tables} } ], [], 'all of them can be dropped by it');
$rest->expect('gone again', 200, undef, 'POST', '/v1/namespace/odd/drop', body => { behavior => 'Cascade' });

# ---- what is missing
for my $route ('describe', 'exists', 'drop', 'deregister', 'rename', 'version/list', 'version/describe', 'tags/list', 'branches/list', 'stats')
{
	my %body = $route eq 'rename' ? (new_table_name => 'x') : ();

	$rest->expect("$route: no table", 404, 4, 'POST', "/v1/table/$_/$route", body => {%body}) foreach 'none', 'none%24t', 'none%24n%24t';
}
$rest->expect("$_: no namespace", 404, 1, 'POST', "/v1/table/none%24t/$_", body => { location => 'x' }) foreach 'declare', 'register';
$rest->expect("$_: no namespace", 404, 1, 'POST', "/v1/namespace/none/$_", body => {}) foreach 'describe', 'exists', 'drop';
$rest->expect('create: no parent', 404, 1, 'POST', '/v1/namespace/none%24n/create', body => {});
$rest->expect("$_: no namespace", 404, 1, 'GET', "/v1/namespace/none/$_") foreach 'list', 'table/list';

# ---- modes and behaviors, in any spelling
sub spelled
{
	my ($name) = @_;
	my $snake = $name =~ s/(?<=.)([A-Z])/_$1/gr;
	my %forms = map { $_ => 1 } $name, lc $name, uc $name, lcfirst $name, $snake, lc $snake, uc $snake;

	return sort keys %forms;
}

$rest->expect('a namespace', 200, undef, 'POST', '/v1/namespace/mode/create', body => { properties => { a => '1' } });
for my $mode (spelled('Create'))
{
	$rest->expect("create, $mode", 409, 2, 'POST', '/v1/namespace/mode/create', body => { mode => $mode });
}
for my $mode (spelled('ExistOk'))
{
	my $json = $rest->expect("create, $mode", 200, undef, 'POST', '/v1/namespace/mode/create', body => { mode => $mode, properties => { b => '2' } });

	is_deeply($json->{properties}, { a => '1' }, "$mode keeps what is there");
}
for my $mode (spelled('Overwrite'))
{
	my $json = $rest->expect("create, $mode", 200, undef, 'POST', '/v1/namespace/mode/create', body => { mode => $mode, properties => { $mode => '' } });

	is_deeply($json->{properties}, { $mode => '' }, "$mode makes it anew");
}
for my $mode (spelled('Skip'))
{
	my $json = $rest->expect("drop of a missing one, $mode", 200, undef, 'POST', '/v1/namespace/mode%24no/drop', body => { mode => $mode });

	is(ref $json, 'HASH', "drop of a missing one, $mode: an object");
}
$rest->expect("drop of a missing one, $_", 404, 1, 'POST', '/v1/namespace/mode%24no/drop', body => { mode => $_ }) foreach spelled('Fail');
$rest->expect('a table', 200, undef, 'POST', '/v1/table/mode%24t/declare');
for my $behavior (spelled('Restrict'))
{
	$rest->expect("drop, $behavior", 409, 3, 'POST', '/v1/namespace/mode/drop', body => { behavior => $behavior, mode => 'Skip' });
}
$rest->expect("register, $_", 409, 5, 'POST', '/v1/table/mode%24t/register', body => { mode => $_, location => 'mode/a' }) foreach spelled('Create');
$rest->expect("register, $_", 200, undef, 'POST', '/v1/table/mode%24t/register', body => { mode => $_, location => "mode/$_" }) foreach spelled('Overwrite');
for my $unknown ('sideways', 'Exist Ok', 'Create,ExistOk', 'Cascades', "Cascade\x{e9}", ' Skip')
{
	$rest->expect("create, mode <$unknown>", 400, 13, 'POST', '/v1/namespace/mode/create', body => { mode => $unknown });
	$rest->expect("drop, mode <$unknown>", 400, 13, 'POST', '/v1/namespace/mode/drop', body => { mode => $unknown });
	$rest->expect("drop, behavior <$unknown>", 400, 13, 'POST', '/v1/namespace/mode/drop', body => { behavior => $unknown });
	$rest->expect("register, mode <$unknown>", 400, 13, 'POST', '/v1/table/mode%24t/register', body => { mode => $unknown, location => 'mode/x' });
}
$rest->expect('which did nothing', 200, undef, 'POST', '/v1/table/mode%24t/exists');
$rest->expect('an empty one is the default', 409, 3, 'POST', '/v1/namespace/mode/drop', body => { mode => '', behavior => '' });
for my $behavior (spelled('Cascade'))
{
	$rest->expect("drop, $behavior", 200, undef, 'POST', '/v1/namespace/mode/drop', body => { behavior => $behavior });
	$rest->call('POST', '/v1/namespace/mode/create');
	$rest->call('POST', '/v1/table/mode%24t/declare');
}
$rest->expect('the root is there', 409, 2, 'POST', '/v1/namespace/%24/create', body => {});
$rest->expect('and stays', 400, 13, 'POST', '/v1/namespace/%24/drop', body => { behavior => 'Cascade' });
$rest->expect('with what is in it', 200, undef, 'POST', '/v1/table/mode%24t/exists');

unlike(slurp_file($rest->{node}->logfile), qr/PANIC|TRAP|terminated by signal/, 'nothing crashed');
done_testing();
