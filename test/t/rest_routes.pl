# rest_routes.pl
#	  Every route of the specification: served or Unsupported, method, path, authentication, privilege, input.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use LanceRest;
use PostgreSQL::Test::Utils;
use Test::More;

# Method, path, operation of the specification; the SQL function of those that are served.
my @routes = (
	['POST', '/v1/namespace/{id}/create', 'CreateNamespace', 'lance_create_namespace'],
	['GET', '/v1/namespace/{id}/list', 'ListNamespaces', 'lance_list_namespaces'],
	['POST', '/v1/namespace/{id}/describe', 'DescribeNamespace', 'lance_describe_namespace'],
	['POST', '/v1/namespace/{id}/drop', 'DropNamespace', 'lance_drop_namespace'],
	['POST', '/v1/namespace/{id}/exists', 'NamespaceExists', 'lance_namespace_exists'],
	['GET', '/v1/namespace/{id}/table/list', 'ListTables', 'lance_list_tables'],
	['GET', '/v1/table', 'ListAllTables', 'lance_list_all_tables'],
	['POST', '/v1/table/{id}/register', 'RegisterTable', 'lance_register_table'],
	['POST', '/v1/table/{id}/describe', 'DescribeTable', 'lance_describe_table'],
	['POST', '/v1/table/{id}/exists', 'TableExists', 'lance_table_exists'],
	['POST', '/v1/table/{id}/drop', 'DropTable', 'lance_drop_table'],
	['POST', '/v1/table/{id}/deregister', 'DeregisterTable', 'lance_deregister_table'],
	['POST', '/v1/table/{id}/restore', 'RestoreTable', 'lance_restore_table'],
	['POST', '/v1/table/{id}/rename', 'RenameTable', 'lance_rename_table'],
	['POST', '/v1/table/{id}/schema_metadata/update', 'UpdateTableSchemaMetadata', 'lance_update_table_schema_metadata'],
	['POST', '/v1/table/{id}/version/list', 'ListTableVersions', 'lance_list_table_versions'],
	['POST', '/v1/table/{id}/version/create', 'CreateTableVersion', 'lance_create_table_version'],
	['POST', '/v1/table/{id}/version/describe', 'DescribeTableVersion', 'lance_describe_table_version'],
	['POST', '/v1/table/{id}/version/delete', 'BatchDeleteTableVersions', 'lance_delete_table_versions'],
	['POST', '/v1/table/version/batch-create', 'BatchCreateTableVersions', 'lance_create_table_versions'],
	['POST', '/v1/table/batch-commit', 'BatchCommitTables', 'lance_commit_tables'],
	['POST', '/v1/table/{id}/alter_columns', 'AlterTableAlterColumns', 'lance_alter_table_alter_columns'],
	['POST', '/v1/table/{id}/update_field_metadata', 'UpdateFieldMetadata', 'lance_update_field_metadata'],
	['POST', '/v1/table/{id}/drop_columns', 'AlterTableDropColumns', 'lance_alter_table_drop_columns'],
	['POST', '/v1/table/{id}/stats', 'GetTableStats', 'lance_get_table_stats'],
	['POST', '/v1/table/{id}/insert', 'InsertIntoTable'],
	['POST', '/v1/table/{id}/merge_insert', 'MergeInsertIntoTable'],
	['POST', '/v1/table/{id}/update', 'UpdateTable'],
	['POST', '/v1/table/{id}/delete', 'DeleteFromTable'],
	['POST', '/v1/table/{id}/query', 'QueryTable'],
	['POST', '/v1/table/{id}/count_rows', 'CountTableRows'],
	['POST', '/v1/table/{id}/create', 'CreateTable'],
	['POST', '/v1/table/{id}/explain_plan', 'ExplainTableQueryPlan'],
	['POST', '/v1/table/{id}/analyze_plan', 'AnalyzeTableQueryPlan'],
	['POST', '/v1/table/{id}/add_columns', 'AlterTableAddColumns'],
	['POST', '/v1/table/{id}/backfill_column', 'AlterTableBackfillColumns'],
	['POST', '/v1/materialized_view/{id}/refresh', 'RefreshMaterializedView'],
	['POST', '/v1/materialized_view/{id}/create', 'CreateMaterializedView'],
	['POST', '/v1/table/{id}/create_index', 'CreateTableIndex'],
	['POST', '/v1/table/{id}/create_scalar_index', 'CreateTableScalarIndex'],
	['POST', '/v1/table/{id}/index/list', 'ListTableIndices'],
	['POST', '/v1/table/{id}/index/{index_name}/stats', 'DescribeTableIndexStats'],
	['POST', '/v1/table/{id}/index/{index_name}/drop', 'DropTableIndex'],
	['POST', '/v1/table/{id}/tags/list', 'ListTableTags', 'lance_list_table_tags'],
	['POST', '/v1/table/{id}/tags/version', 'GetTableTagVersion', 'lance_get_table_tag_version'],
	['POST', '/v1/table/{id}/declare', 'DeclareTable', 'lance_declare_table'],
	['POST', '/v1/table/{id}/tags/create', 'CreateTableTag', 'lance_create_table_tag'],
	['POST', '/v1/table/{id}/tags/delete', 'DeleteTableTag', 'lance_delete_table_tag'],
	['POST', '/v1/table/{id}/tags/update', 'UpdateTableTag', 'lance_update_table_tag'],
	['POST', '/v1/table/{id}/branches/list', 'ListTableBranches', 'lance_list_table_branches'],
	['POST', '/v1/table/{id}/branches/create', 'CreateTableBranch', 'lance_create_table_branch'],
	['POST', '/v1/table/{id}/branches/delete', 'DeleteTableBranch', 'lance_delete_table_branch'],
	['POST', '/v1/transaction/{id}/describe', 'DescribeTransaction', 'lance_describe_transaction'],
	['POST', '/v1/transaction/{id}/alter', 'AlterTransaction', 'lance_alter_transaction'],
);

my $rest = LanceRest->start('routes');
my $node = $rest->{node};

sub path_of
{
	my ($path, $id) = @_;

	$path =~ s/\{id\}/$id/;
	$path =~ s/\{index_name\}/x/;
	return $path;
}

# ---- the walk
$rest->expect('a namespace', 200, undef, 'POST', '/v1/namespace/walk/create', body => {});
for my $route (@routes)
{
	my ($method, $path, $operation, $function) = @$route;
	my $body = $method eq 'POST' ? { } : undef;
	my $target = path_of($path, 'walk%24none');

	# without a key nothing is told
	$rest->expect("$operation without a key", 401, 16, $method, $target, key => undef);
	if (defined $function)
	{
		my ($status, $json) = $rest->call($method, $target, body => $body);

		ok($status < 500 && $status != 406 && $status != 405, "$operation is served") or diag($status);
		is($node->safe_psql('postgres', "SELECT count(*) > 0 FROM pg_proc WHERE proname = '$function'"), 't',
			"$operation has its SQL function");
	}
	else
	{
		my $json = $rest->expect("$operation", 406, 0, $method, $target, body => $body);

		like($json->{error}, qr/\b$operation\b/, "$operation is named");
	}
	my $wrong = $method eq 'GET' ? 'POST' : 'PUT';
	my ($json, $headers) = $rest->expect("$operation by a wrong method", 405, 0, $wrong, $target, body => {});
	like($headers->{allow}, qr/\b$method\b/, "$operation: Allow");
}
$rest->expect('what older clients GET', 406, 0, 'GET', '/v1/table/walk%24none/count_rows');
$rest->expect('tags by GET', 200, undef, 'GET', '/v1/table/walk%24none/tags/list');
for my $unknown ('/', '/v1', '/v2/table', '/v1/table/x/fly', '/v1/namespace/a/b/c/d', '/v1/table/x/drop/y',
	'/v1//table', '/v1/' . 'x/' x 100)
{
	my $json = $rest->expect("unknown path " . substr($unknown, 0, 30), 404, 0, 'POST', $unknown, body => {});

	is($json->{instance}, substr($unknown, 0, 2000), 'the path is quoted');
}

# ---- paths, ids, queries
$rest->expect('a name with everything', 200, undef, 'POST', '/v1/namespace/walk%24a+b%2Bc%2Fd%C3%A9/create', body => {});
my $json = $rest->expect('list', 200, undef, 'GET', '/v1/namespace/walk/list/?delimiter=%24&unknown=1');
is_deeply($json->{namespaces}, ["a b+c/d\x{e9}"], 'form encoding is undone after the split');
for my $broken ('walk%24%', 'walk%24%4', 'walk%24%zz', 'walk%24a%00b', 'walk%24%ff%fe', 'walk%24%ed%a0%80', 'a%24%24b')
{
	$rest->expect("id $broken", 400, 13, 'POST', "/v1/namespace/$broken/create", body => {});
}
$rest->expect('empty id', 400, 13, 'POST', '/v1/namespace//describe', body => {});
for my $delimiter ('.', '/', '::', '%7C', '+', '%C3%A9')
{
	$rest->expect("delimiter $delimiter", 200, undef, 'POST',
		'/v1/namespace/walk' . ($delimiter eq '/' ? '%2F' : $delimiter) . "a+b%2Bc%2Fd%C3%A9/exists?delimiter=$delimiter")
	  unless $delimiter eq '/' || $delimiter eq '+' || $delimiter eq '%C3%A9';
	my $root = $delimiter eq '/' ? '%2F' : $delimiter;
	$json = $rest->expect("root by $delimiter", 200, undef, 'GET', "/v1/namespace/$root/list?delimiter=$delimiter");
	is_deeply($json->{namespaces}, ['walk'], "root by $delimiter: its namespaces");
}
like($rest->raw("GET http://x/v1/table HTTP/1.1\r\nHost: x\r\nx-api-key: $rest->{key}\r\n\r\n"),
	qr/^HTTP\/1\.1 200/, 'absolute form');
for my $query ('limit=abc', 'limit=1.5', 'limit=+1', 'limit=99999999999999', 'limit=', 'limit=%00', 'limit=1%', 'include_declared=TRUE',
	'include_declared=1')
{
	$rest->expect("query $query", 400, 13, 'GET', "/v1/namespace/walk/table/list?$query");
}

# ---- bodies
$rest->expect('a table', 200, undef, 'POST', '/v1/table/walk$t/declare');
for my $body ('', 'null', '{}', ' {} ', '{"id":null}', '{"id":["walk","t"],"context":{},"identity":{"api_key":"x"},"new":[{}]}',
	'{"id":["walk$t"]}')
{
	$rest->expect("body <$body>", 200, undef, 'POST', '/v1/table/walk%24t/describe', body => $body);
	$rest->expect("body <$body>, versions", 200, undef, 'POST', '/v1/table/walk%24t/version/list', body => $body);
}
for my $body ('{', '[]', '5', '"x"', 'true', '{} {}', '{"id":"walk$t"}', '{"id":[1]}', '{"id":[null]}', '{"id":["walk"]}', '{"id":[]}',
	'{"id":["walk$"]}', '{"id":["walk$t$"]}', '{"id":["walk.t"]}', '{"id":["walk$t","t"]}',
	'{"version":"1"}', '{"version":1.5}', '{"check_declared":"true"}', '{"check_declared":1}', '{"a":1,"a":2}', "{\"tag\":\"\xff\"}",
	'{"tag":"a\u0000b"}', "\xef\xbb\xbf{}", '[' x 5000)
{
	my $answer = $rest->expect('body <' . substr($body, 0, 40) . '>', 400, 13, 'POST', '/v1/table/walk%24t/describe', body => $body);

	ok(length $answer->{error}, 'with a message');
}
like($rest->expect('a wrong type', 400, 13, 'POST', '/v1/table/walk%24t/describe', body => { branch => 5 })->{error}, qr/"branch"/,
	'the field is named');
$json = $rest->expect('the query wins over the body', 200, undef, 'POST',
	'/v1/table/walk%24t/describe?with_table_uri=true', body => { with_table_uri => JSON::PP::false });
ok(defined $json->{table_uri}, 'so there is a table_uri');
$json = $rest->expect('properties', 200, undef, 'POST', '/v1/namespace/walk%24p/create',
	body => { properties => { a => '1', b => undef, "\x{e9}'\"\\" => "\x{1f600}%s{0}" } });
is_deeply($json->{properties}, { a => '1', "\x{e9}'\"\\" => "\x{1f600}%s{0}" }, 'come back literally');

# ---- keys and privileges
$node->safe_psql('postgres', "CREATE ROLE reader; CREATE ROLE nobody");
my $reader = $node->safe_psql('postgres', "SELECT api_key FROM lance_create_api_key('reader')");
my $why = $rest->expect('no EXECUTE on the function', 403, 15, 'POST', '/v1/namespace/walk/describe', key => $reader, body => {});
like($why->{detail}, qr/lance_describe_namespace\(\).*lance_grant\(\)/, 'and how to mend it');
$rest->expect('no EXECUTE, GET', 403, 15, 'GET', '/v1/namespace/walk/table/list', key => $reader);
$node->safe_psql('postgres', 'GRANT EXECUTE ON FUNCTION lance_describe_namespace(text) TO reader');
my $hidden = $rest->expect('EXECUTE opens nothing by itself', 404, 1, 'POST', '/v1/namespace/walk/describe', key => $reader, body => {});
my $missing = $rest->expect('as one that is missing', 404, 1, 'POST', '/v1/namespace/gone/describe', key => $reader, body => {});
is($hidden->{error}, $missing->{error} =~ s/gone/walk/r, 'in the same words');
$node->safe_psql('postgres', "INSERT INTO lance.privilege_entry (entry_id, role_id, privilege, granted_by)
	SELECT entry_id, 'reader'::regrole, 'read', 'test' FROM lance.catalog_entry WHERE name = 'walk'");
$rest->expect('EXECUTE on one form, and the privilege', 200, undef, 'POST', '/v1/namespace/walk/describe', key => $reader, body => {});
$rest->expect('another operation still', 403, 15, 'POST', '/v1/namespace/walk%24new/create', key => $reader, body => {});
$rest->expect('a wrong key', 401, 16, 'GET', '/v1/table', key => 'lance_wrong');
$rest->expect('an empty key', 401, 16, 'GET', '/v1/table', key => '');
$rest->expect('a bearer token', 200, undef, 'GET', '/v1/table', key => undef, headers => { authorization => "Bearer $rest->{key}" });
$rest->expect('another scheme', 401, 16, 'GET', '/v1/table', key => undef, headers => { authorization => "Basic $rest->{key}" });
my (undef, $headers) = $rest->expect('x-api-key wins', 401, 16, 'GET', '/v1/table', key => 'wrong',
	headers => { authorization => "Bearer $rest->{key}" });
is($headers->{'www-authenticate'}, 'Bearer', '401 says how');
my $revoked = $node->safe_psql('postgres',
	"WITH k AS MATERIALIZED (SELECT * FROM lance_create_api_key('reader')) SELECT api_key, key_id FROM k");
my ($old_key, $old_id) = split /\|/, $revoked;
my ($status) = $rest->call('GET', '/v1/table', key => $old_key);
isnt($status, 401, 'a key before it is revoked');
$node->safe_psql('postgres', "SELECT lance_revoke_api_key($old_id)");
$rest->expect('a revoked key', 401, 16, 'GET', '/v1/table', key => $old_key);
my $short = $node->safe_psql('postgres', q{SELECT api_key FROM lance_create_api_key('reader', expires_at => now() + '1 hour')});
isnt(($rest->call('GET', '/v1/table', key => $short))[0], 401, 'a key before it expires');
$node->safe_psql('postgres', q{UPDATE lance.api_key SET expires_at = now() - interval '1 s' WHERE expires_at IS NOT NULL});
$rest->expect('an expired key', 401, 16, 'GET', '/v1/table', key => $short);

# anonymous requests, by reload
$node->append_conf('postgresql.conf', "lance_catalog.rest_anonymous_role = 'nobody'");
$node->reload;
ok(wait_until(sub { ($rest->call('GET', '/v1/table', key => undef))[0] != 401 }), 'reload: a role for requests without a key');
$rest->expect('a wrong key stays wrong', 401, 16, 'GET', '/v1/table', key => 'lance_wrong');
$node->append_conf('postgresql.conf', "lance_catalog.rest_anonymous_role = 'missing'");
$node->reload;
ok(wait_until(sub { ($rest->call('GET', '/v1/table', key => undef))[0] == 503 }), 'a role that does not exist is 503');

# nothing that was presented is in the log
my $log = slurp_file($node->logfile);
unlike($log, qr/\Q$rest->{key}\E|\Q$reader\E|\Q$old_key\E/, 'keys are not logged');
unlike($log, qr/PANIC|TRAP|terminated by signal/, 'nothing crashed');

done_testing();
