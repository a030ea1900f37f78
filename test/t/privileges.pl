# privileges.pl
#	  The table "Who may do what" of docs/security.md, cell by cell: in SQL, over REST where there is a route, by foreign tables.
#
# A row of the table is looked up in %operations by its first column. {n} is the namespace, {t} the table, {x} a name for
# what the cell makes. What is hidden is compared with the answer for a name that nothing has.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use Math::BigInt;
use LanceRest;
use PostgreSQL::Test::Utils;
use Test::More;

my @roles = ('none', 'reader', 'anonymous', 'writer', 'admin', 'owner');
my %levels = (none => undef, reader => 'read', anonymous => 'read', writer => 'write', admin => 'admin', owner => undef);
my $fixtures = $ENV{LANCE_FIXTURES} || die 'LANCE_FIXTURES is not set';
my $rest = LanceRest->start('privileges', "lance_catalog.rest_anonymous_role = 'the_anonymous'", "fsync = off");
my $node = $rest->{node};
my $newest = 8;    # version of the dataset that every table is a copy of

# ---- the table of the documentation
my (%expected, @order);
my $documentation = slurp_file("$FindBin::RealBin/../../docs/security.md");
my ($table) = $documentation =~ /^## Who may do what$(.*?)(?=^## |\z)/ms or die 'the section is gone';
for my $line ($table =~ /^\|(.*)\|$/mg)
{
	my @cells = map { s/^\s+|\s+$//gr } split /\|/, $line;

	if ($cells[0] eq 'operation')
	{
		is_deeply([ @cells[ 3 .. $#cells ] ], \@roles, 'the columns are the roles');
		next;
	}
	next if $cells[0] =~ /^-/;
	push @order, $cells[0];
	$expected{ $cells[0] }->@{@roles} = @cells[ 3 .. $#cells ];
}
cmp_ok(scalar @order, '>', 50, 'the table has its rows');

# ---- what stands behind a row: the SQL statement, the route and the body; shows: what it lists when it is not hidden
my $version = $newest + 1;
my $staged = sprintf('_versions/%020s.manifest-staged', Math::BigInt->new('18446744073709551615')->bsub($version)->bstr);

sub table_route
{
	my ($sql, $action, $body) = @_;

	return { sql => $sql, method => 'POST', path => "/v1/table/{t}/$action", body => $body // {} };
}

sub space_route
{
	my ($sql, $action, $method) = @_;

	return { sql => $sql, method => $method // 'POST', path => "/v1/namespace/{n}/$action", body => ($method // '') eq 'GET' ? undef : {} };
}

my %operations = (
	'DescribeNamespace' => space_route("SELECT lance_describe_namespace('{n}')", 'describe'),
	'NamespaceExists' => space_route("SELECT lance_namespace_exists('{n}')", 'exists'),
	'ListNamespaces' => space_route("SELECT lance_list_namespaces('{n}')", 'list', 'GET'),
	'ListTables' => space_route("SELECT lance_list_tables('{n}')", 'table/list', 'GET'),
	'ListAllTables' => {
		sql => 'SELECT lance_list_all_tables()', shows => '{t}', method => 'GET', path => '/v1/table' },
	'CreateNamespace' => { sql => "SELECT lance_create_namespace('{n}\$x')",
		method => 'POST', path => '/v1/namespace/{n}$x/create', body => {} },
	'DeclareTable' => { sql => "SELECT lance_declare_table('{n}\$x')",
		method => 'POST', path => '/v1/table/{n}$x/declare', body => {} },
	'RegisterTable' => { sql => "SELECT lance_register_table('{n}\$x', 'made/{x}.lance')",
		method => 'POST', path => '/v1/table/{n}$x/register', body => { location => 'made/{x}.lance' } },
	'CreateNamespace, Overwrite' => { sql => "SELECT lance_create_namespace('{n}\$s', 'Overwrite')",
		method => 'POST', path => '/v1/namespace/{n}$s/create', body => { mode => 'Overwrite' } },
	'RegisterTable, Overwrite' => table_route("SELECT lance_register_table('{t}', 'made/{x}.lance', 'Overwrite')",
		'register', { location => 'made/{x}.lance', mode => 'Overwrite' }),
	'DropNamespace' => { sql => "SELECT lance_drop_namespace('{n}', behavior => 'Cascade')",
		method => 'POST', path => '/v1/namespace/{n}/drop', body => { behavior => 'Cascade' } },
	'DescribeTable' => table_route("SELECT lance_describe_table('{t}')", 'describe'),
	'TableExists' => table_route("SELECT lance_table_exists('{t}')", 'exists'),
	'ListTableVersions' => table_route("SELECT lance_list_table_versions('{t}')", 'version/list'),
	'DescribeTableVersion' => table_route("SELECT lance_describe_table_version('{t}')", 'version/describe'),
	'GetTableStats' => table_route("SELECT lance_get_table_stats('{t}')", 'stats'),
	'ListTableTags' => table_route("SELECT lance_list_table_tags('{t}')", 'tags/list'),
	'GetTableTagVersion' => table_route("SELECT lance_get_table_tag_version('{t}', 'old')", 'tags/version', { tag => 'old' }),
	'ListTableBranches' => table_route("SELECT lance_list_table_branches('{t}')", 'branches/list'),
	'DescribeTransaction' => { sql => "SELECT lance_describe_transaction('{t}\$$newest')",
		method => 'POST', path => "/v1/transaction/{t}\$$newest/describe", body => {} },
	'CreateTableVersion' => table_route("SELECT lance_create_table_version('{t}', $version, '{objects}/$staged')",
		'version/create', { version => $version, manifest_path => "{objects}/$staged" }),
	'BatchCreateTableVersions' => {
		sql => qq{SELECT lance_create_table_versions('[{"id": "{t}", "version": $version, "manifest_path": "{objects}/$staged"}]')},
		method => 'POST', path => '/v1/table/version/batch-create',
		body => { entries => [ { id => [ '{n}', 't' ], version => $version, manifest_path => "{objects}/$staged" } ] } },
	'BatchDeleteTableVersions' => table_route("SELECT lance_delete_table_versions('{t}', '{[2,3)}')",
		'version/delete', { ranges => [ { start_version => 2, end_version => 3 } ] }),
	'BatchCommitTables' => {
		sql => qq{SELECT lance_commit_tables('[{"create_table_version": {"id": "{t}", "version": $version, "manifest_path": "{objects}/$staged"}}]')},
		method => 'POST', path => '/v1/table/batch-commit',
		body => { operations => [ { create_table_version =>
			{ id => [ '{n}', 't' ], version => $version, manifest_path => "{objects}/$staged" } } ] } },
	'BatchCommitTables, deregister_table' => {
		sql => qq{SELECT lance_commit_tables('[{"deregister_table": {"id": "{t}"}}]')},
		method => 'POST', path => '/v1/table/batch-commit',
		body => { operations => [ { deregister_table => { id => [ '{n}', 't' ] } } ] } },
	'CreateTableTag' => table_route("SELECT lance_create_table_tag('{t}', 'new', 1)", 'tags/create', { tag => 'new', version => 1 }),
	'UpdateTableTag' => table_route("SELECT lance_update_table_tag('{t}', 'old', 2)", 'tags/update', { tag => 'old', version => 2 }),
	'DeleteTableTag' => table_route("SELECT lance_delete_table_tag('{t}', 'old')", 'tags/delete', { tag => 'old' }),
	'CreateTableBranch' => table_route("SELECT lance_create_table_branch('{t}', 'new')", 'branches/create', { name => 'new' }),
	'DeleteTableBranch' => table_route("SELECT lance_delete_table_branch('{t}', 'side')", 'branches/delete', { name => 'side' }),
	'RestoreTable' => table_route("SELECT lance_restore_table('{t}', 1)", 'restore', { version => 1 }),
	'UpdateTableSchemaMetadata' => table_route(qq{SELECT lance_update_table_schema_metadata('{t}', '{"k": "v"}')},
		'schema_metadata/update', { k => 'v' }),
	'UpdateFieldMetadata' => table_route(
		qq{SELECT lance_update_field_metadata('{t}', '[{"path": "id", "metadata": {"k": "v"}}]')},
		'update_field_metadata', { updates => [ { path => 'id', metadata => { k => 'v' } } ] }),
	'AlterTableDropColumns' => table_route("SELECT lance_alter_table_drop_columns('{t}', '{twice}')",
		'drop_columns', { columns => ['twice'] }),
	'AlterTableAlterColumns' => table_route(
		qq{SELECT lance_alter_table_alter_columns('{t}', '[{"path": "id", "rename": "key"}]')},
		'alter_columns', { alterations => [ { path => 'id', rename => 'key' } ] }),
	'AlterTransaction' => {
		sql => qq{SELECT lance_alter_transaction('{t}\$$newest', '[{"setPropertyAction": {"key": "k", "value": "v"}}]')},
		method => 'POST', path => "/v1/transaction/{t}\$$newest/alter",
		body => { actions => [ { setPropertyAction => { key => 'k', value => 'v' } } ] } },
	'RenameTable' => table_route("SELECT lance_rename_table('{t}', 'x')", 'rename', { new_table_name => 'x' }),
	'DeregisterTable' => table_route("SELECT lance_deregister_table('{t}')", 'deregister'),
	'DropTable' => table_route("SELECT lance_drop_table('{t}')", 'drop'),

	# without a route
	(map { ("lance_dataset_$_" => { sql => "SELECT lance_dataset_$_('{t}')" }) } 'versions', 'fragments', 'columns', 'pages'),
	'lance_dataset_columns, by URI' => { sql => "SELECT lance_dataset_columns('/{objects}', 'lake')" },
	'lance_import_directory' => { sql => "SELECT lance_import_directory('lake', 'elsewhere', '{n}')" },
	'lance_list_abandoned_tables' => { sql => "SELECT \"table\" FROM lance_list_abandoned_tables(older_than => '0')", shows => '{{n},idle}' },
	'lance_drop_abandoned_tables' => { sql => "SELECT \"table\" FROM lance_drop_abandoned_tables(older_than => '0')", shows => '{{n},idle}' },
	'lance_grant' => { sql => "SELECT lance_grant('the_reader', 'write', '{n}')" },
	'lance_revoke' => { sql => "SELECT lance_revoke('the_reader', 'read', '{n}')" },
	'lance_grant, of a table' => { sql => "SELECT lance_grant('the_reader', 'write', '{t}')" },

	# foreign tables
	'lance_attach_table' => { sql => "SELECT lance_attach_table('{t}', 'open', 'made')" },
	'lance_attach_dataset' => { sql => "SELECT lance_attach_dataset('/{objects}', 'lake', 'open', 'made')" },
	'IMPORT FOREIGN SCHEMA' => { sql => 'IMPORT FOREIGN SCHEMA "{n}" FROM SERVER lake INTO open' },
	'SELECT, foreign table of a table' => { sql => "SELECT count(*) FROM open.by_id", gone => "SELECT count(*) FROM open.by_no_id" },
	'SELECT, foreign table of a URI' => { sql => "SELECT count(*) FROM open.by_uri" },

	# views
	'lance.namespaces' => { sql => 'SELECT namespace FROM lance.namespaces', shows => '{n}' },
	(map { ("lance.$_" => { sql => "SELECT namespace || '\$' || table_name FROM lance.$_", shows => '{t}' }) }
		'tables', 'table_versions', 'transactions', 'tags', 'branches'),
	'lance.privileges' => { sql => 'SELECT id FROM lance.privileges', shows => '{t}' },
);
is_deeply([ sort @order ], [ sort keys %operations ], 'each row of the table is tried, and each try stands in the table');

# ---- roles, named as their columns with "the_" before, and what they act on
my %key;
$node->safe_psql('postgres', "SELECT lance_create_namespace('elsewhere')");
for my $role (@roles, 'locked')
{
	$node->safe_psql('postgres', "CREATE ROLE the_$role; GRANT USAGE ON FOREIGN SERVER lake TO the_$role");
	$node->safe_psql('postgres', "SELECT lance_grant('the_$role', 'write', 'elsewhere')") if $role ne 'locked';
	$key{$role} = $node->safe_psql('postgres', "SELECT api_key FROM lance_create_api_key('the_$role')") if $role ne 'anonymous';
}
mkdir "$rest->{root}/elsewhere" or die $!;

# A namespace with a namespace, a table of eight versions with a tag and a branch, one that is only declared, and its privileges.
sub make_space
{
	my ($space) = @_;
	my $folder = "$rest->{root}/cells/$space.lance";

	mkdir "$rest->{root}/cells";
	system_or_bail('cp', '-rL', "$fixtures/data/evolve_p14.lance", $folder);
	system_or_bail('chmod', '-R', 'u+w', $folder);
	append_to_file("$folder/$staged", 'staged');
	$node->safe_psql('postgres', join('; ',
		"SELECT lance_create_namespace(i) FROM unnest('{$space,$space\$s}'::text[]) i",
		"SELECT lance_register_table('$space\$t', 'cells/$space.lance')",
		"SELECT lance_declare_table('$space\$idle')",
		"SELECT lance_create_table_tag('$space\$t', 'old', 1)",
		"SELECT lance_create_table_branch('$space\$t', 'side')",
		qq{SELECT lance_alter_transaction('$space\$t\$$newest', '[{"setPropertyAction": {"key": "k", "value": "v"}}]')},
		(map { "SELECT lance_grant('the_owner', 'owner', '$space$_')" } '', '$s', '$t', '$idle'),
		map { "SELECT lance_grant('the_$_', '$levels{$_}', '$space')" } grep { defined $levels{$_} } sort keys %levels));
	return;
}

# Names in place of their marks, in a text or in a body.
sub fill
{
	my ($what, %mark) = @_;

	return { map { $_ => fill($what->{$_}, %mark) } keys %$what } if ref $what eq 'HASH';
	return [ map { fill($_, %mark) } @$what ] if ref $what eq 'ARRAY';
	return $what if !defined $what || $what =~ /^\d+$/;
	$what =~ s/\{$_\}/$mark{$_}/g for keys %mark;
	return $what;
}

sub marks
{
	my ($space) = @_;

	return (n => $space, t => "$space\$t", x => $space, objects => substr($rest->{root}, 1) . "/cells/$space.lance");
}

# ---- SQL: nothing is kept
make_space('sql');
$node->safe_psql('postgres', q{CREATE SCHEMA open; GRANT ALL ON SCHEMA open TO PUBLIC;
	SELECT lance_attach_table('sql$t', 'open', 'by_id');
	CREATE FOREIGN TABLE open.by_no_id (id bigint) SERVER lake OPTIONS ("table" 'gone$t')});
$node->safe_psql('postgres', "SELECT lance_attach_dataset('$rest->{root}/cells/sql.lance', 'lake', 'open', 'by_uri')");
$node->safe_psql('postgres', 'GRANT SELECT ON ALL TABLES IN SCHEMA open TO PUBLIC');

# Run as a role. Returns the rows and the error, with its SQLSTATE.
sub run_as
{
	my ($role, $statement) = @_;
	my ($status, $rows, $error) = $node->psql('postgres', "SET client_min_messages = error; BEGIN; SET LOCAL ROLE $role; $statement; ROLLBACK",
		extra_params => [ '-v', 'VERBOSITY=verbose' ]);

	return ($rows, $error =~ /ERROR:  (\w{5}: [^\n]*)/ ? $1 : $error);
}

for my $row (@order)
{
	my $operation = $operations{$row};
	my $statement = fill($operation->{sql}, marks('sql'));

	for my $role (@roles)
	{
		my ($rows, $error) = run_as("the_$role", $statement);
		my $cell = $expected{$row}{$role};
		my $name = "SQL: $row as $role: $cell";

		if (defined $operation->{shows})
		{
			# Lists are cut down, not refused.
			my $shown = quotemeta fill($operation->{shows}, marks('sql'));

			is($error, '', "$name, without an error");
			if ($cell eq 'yes') { like($rows, qr/^$shown$/m, $name) }
			else { unlike($rows, qr/^$shown$/m, $name) }
		}
		elsif ($cell eq 'yes')
		{
			is($error, '', $name);
		}
		elsif ($cell eq 'no')
		{
			like($error, qr/^42501: permission denied for (table|namespace|location)/, $name);
		}
		else
		{
			my (undef, $missing) = run_as('postgres', $operation->{gone} // fill($operation->{sql}, marks('gone')));

			$missing =~ s/\bgone\b/sql/g;
			like($missing, qr/^LN00[14]: .* does not exist/, "$name: what is missing");
			is($error, $missing, $name);
		}
	}
}

# ---- REST: each cell has a namespace of its own
my $cells = 0;
for my $row (@order)
{
	my $operation = $operations{$row};

	next if !defined $operation->{path};
	for my $role (@roles)
	{
		my $space = 'cell' . ++$cells;
		my $cell = $expected{$row}{$role};
		my $name = "REST: $row as $role: $cell";
		my @call = sub {
			my %mark = marks($_[0]);

			return ($operation->{method}, fill($operation->{path}, %mark) =~ s/\$/%24/gr, body => fill($operation->{body}, %mark));
		};

		make_space($space);
		my ($status, $json, undef, $content) = $rest->call($call[0]->($space), key => $key{$role});
		my $shown = substr($content // '', 0, 300);

		if (defined $operation->{shows})
		{
			my $listed = grep { $_ eq "$space\$t" } @{ $json->{tables} // [] };

			is($status, 200, "$name, without an error") or diag($shown);
			is($listed, $cell eq 'yes' ? 1 : 0, $name) or diag($shown);
		}
		elsif ($cell eq 'yes')
		{
			like($status, qr/^2/, $name) or diag($shown);
		}
		elsif ($cell eq 'no')
		{
			is("$status $json->{code}", '403 15', $name) or diag($shown);
			like($json->{error}, qr/^permission denied for (table|namespace) /, "$name: of what");
		}
		else
		{
			my ($missing_status, $missing) = $rest->call($call[0]->("gone"));

			is("$status $json->{code}", "$missing_status $missing->{code}", $name) or diag($shown);
			is($json->{error}, $missing->{error} =~ s/\bgone\b/$space/gr, "$name: in the same words");
			is($status, 404, "$name: not found");
		}
	}
}

# ---- without EXECUTE a privilege opens no operation
make_space('shut');
$node->safe_psql('postgres', "INSERT INTO lance.privilege_entry (entry_id, role_id, privilege, granted_by)
	SELECT entry_id, 'the_locked'::regrole, 'admin', 'test' FROM lance.catalog_entry WHERE name = 'shut'");
for my $row (grep { defined $operations{$_}{path} } @order)
{
	my $operation = $operations{$row};
	my (undef, $error) = run_as('the_locked', fill($operation->{sql}, marks('shut')));
	my ($status, $json) = $rest->call($operation->{method}, fill($operation->{path}, marks('shut')) =~ s/\$/%24/gr,
		body => fill($operation->{body}, marks('shut')), key => $key{locked});

	like($error, qr/^42501: permission denied for function /, "SQL: $row without EXECUTE");
	is("$status $json->{code}", '403 15', "REST: $row without EXECUTE");
}

# ---- no role for requests without a key
$node->append_conf('postgresql.conf', "lance_catalog.rest_anonymous_role = ''");
$node->reload;
ok(wait_until(sub { ($rest->call('GET', '/v1/table', key => undef))[0] == 401 }), 'without such a role they are refused');

$node->stop;
done_testing();
