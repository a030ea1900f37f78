# rest_names.pl
#	  Names and values that would mean something elsewhere (in SQL, in formats, in paths, in JSON) are stored and returned as they are.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use JSON::PP;
use LanceRest;
use PostgreSQL::Test::RecursiveCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $rest = LanceRest->start('names');
my $node = $rest->{node};
my $json = JSON::PP->new->utf8->allow_nonref;
my @names = (q{x'; DROP TABLE t; --}, q{"}, q{$$}, q{$1}, q{\\}, q{\\'}, q{%s%n%1$s}, q{{0}}, q{${jndi:ldap://x}}, q{a/b}, q{..}, q{.}, q{a b}, q{a+b}, q{%00}, q{%2e%2e},
	q{E'\\x00'}, q{a;b}, q{--}, q{/*}, q{*}, q{?}, q{#}, q{&}, q{<b>}, q{`id`}, q{$(id)}, q{NULL}, q{null}, q{true}, q{0}, q{:x}, q{@x}, q{[x]}, "\t", "\x{1F600}", "\x{202E}x", "e\x{301}", "\x{E9}");

sub encode { my ($s) = @_; utf8::encode($s); return $s }
sub segment { return join '', map { sprintf '%%%02X', ord } split //, encode($_[0]) }
sub literal { my $s = encode($_[0]); $s =~ s/'/''/g; $s =~ s/\\/\\\\/g; return "E'$s'" }

# psql's output of one value, undone from JSON.
sub value
{
	my $text = $node->safe_psql('postgres', "SELECT to_json(($_[0])::text)");

	return $text eq '' ? undef : $json->decode($text);
}

# ---- namespaces, properties, tables, by REST and by SQL; with another delimiter, so that each may hold a dollar
my $delimiter = 'delimiter=%7C%7C';
my $before = $node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relkind = 'r'");
for my $name (@names)
{
	my $shown = encode($name =~ s/\t/(tab)/r);
	my $id = segment($name);
	my ($made) = $rest->call('POST', "/v1/namespace/$id/create?$delimiter", body => { properties => { $name => $name, plain => $name } });

	is($made, 200, "namespace $shown") or next;
	my (undef, $told) = $rest->call('POST', "/v1/namespace/$id/describe?$delimiter", body => {});
	is_deeply($told->{properties}, { $name => $name, plain => $name }, "namespace $shown: its properties by REST");
	is(value("SELECT lance_describe_namespace(ARRAY[" . literal($name) . "]) ->> " . literal($name)), $name, "namespace $shown: by SQL");
	is(($rest->call('POST', "/v1/table/$id%7C%7C$id/declare?$delimiter", body => { properties => { $name => $name } }))[0], 200, "table $shown");
	is_deeply(($rest->call('GET', "/v1/namespace/$id/table/list?$delimiter"))[1]{tables}, [$name], "table $shown: in the list");
	is(($rest->call('POST', "/v1/table/$id%7C%7C$id/exists?$delimiter", body => { id => [ $name, $name ] }))[0], 200, "table $shown: an id in the body, too");
	is(($rest->call('POST', "/v1/table/$id%7C%7C$id/rename?$delimiter", body => { new_table_name => "$name$name" }))[0], 200, "table $shown: renamed");
	is_deeply(($rest->call('GET', "/v1/namespace/$id/table/list?$delimiter"))[1]{tables}, ["$name$name"], "table $shown: under its new name");
	my (undef, $missing) = $rest->call('POST', "/v1/table/$id%7C%7Cmissing$id/describe?$delimiter", body => {});
	is($missing->{code}, 4, "table $shown: a message with it");
	is(value("SELECT count(*) FROM lance_drop_table(ARRAY[" . literal($name) . ", " . literal("$name$name") . "])"), '1', "table $shown: dropped by SQL");
	is(($rest->call('POST', "/v1/namespace/$id/drop?$delimiter", body => {}))[0], 200, "namespace $shown: dropped");
}
is_deeply(($rest->call('GET', '/v1/namespace/%24/list'))[1]{namespaces}, [], 'nothing is left');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relkind = 'r'"), $before, 'no table of the database is gone or new');
is(($rest->call('POST', '/v1/namespace/a%00b/create', body => {}))[0], 400, 'NUL is no part of a name');
is(($rest->call('POST', '/v1/namespace/%C0%AF/create', body => {}))[0], 400, 'nor what is no UTF-8');
is(($rest->call('POST', '/v1/namespace/%ED%A0%80/create', body => {}))[0], 400, 'nor half a character');

# ---- tags: Lance's rules for their names hold, and nothing else comes of them
PostgreSQL::Test::RecursiveCopy::copypath("$ENV{LANCE_FIXTURES}/data/stable_rowids.lance", "$rest->{root}/tagged.lance");
$rest->expect('a table', 200, undef, 'POST', '/v1/table/tagged/register', body => { location => 'tagged.lance' });
my @tags;
for my $name (@names)
{
	my ($status, $body) = $rest->call('POST', '/v1/table/tagged/tags/create', body => { tag => $name, version => 1 });

	ok($status == 200 || ($status == 400 && $body->{code} == 13), 'tag ' . encode($name =~ s/\t/(tab)/r) . ": $status");
	push @tags, $name if $status == 200;
}
is_deeply([ sort keys %{ ($rest->call('POST', '/v1/table/tagged/tags/list', body => {}))[1]{tags} // {} } ], [ sort @tags ], 'the tags are those that were taken');
ok(!(grep { m{[/\\]|\.\.} } @tags), 'none of them leads to another folder');

# ---- columns and values in them, also in conditions
SKIP:
{
	my $python = $ENV{PYTHON} // 'python3';
	skip 'pylance is not there', 2 if system("'$python' -c 'import lance' 2>/dev/null") != 0;
	my @columns = grep { !/[.`]/ && length } @names;
	my $script = PostgreSQL::Test::Utils::tempdir() . '/write.py';

	append_to_file($script, "import sys, json, lance, pyarrow as pa\nnames = json.loads(sys.argv[2])\n" .
		"lance.write_dataset(pa.table({n: pa.array([n, 'other', None]) for n in names}), sys.argv[1])\n");
	system_or_bail($python, $script, "$rest->{root}/columns.lance", $json->encode(\@columns));
	$node->safe_psql('postgres', "SELECT lance_attach_dataset('file://$rest->{root}/columns.lance', 'lake', 'public', 'columns')");
	my $got = $json->decode($node->safe_psql('postgres', "SELECT json_agg(attname ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'columns'::regclass AND attnum > 0"));
	is_deeply([ sort @$got ], [ sort @columns ], 'columns have the names that they have');
	my @wrong = grep {
		my $column = '"' . (encode($_) =~ s/"/""/gr) . '"';
		my $found = $node->safe_psql('postgres', "SELECT json_agg($column) FROM columns WHERE $column = " . literal($_));
		(eval { $json->decode($found)->[0] } // '') ne $_;
	} @columns;
	is_deeply([ map { encode($_) } @wrong ], [], 'conditions find the values that they name');
}
ok(slurp_file($node->logfile) !~ /PANIC|TRAP|terminated by signal/, 'nothing crashed');
$node->stop('fast');
done_testing();
