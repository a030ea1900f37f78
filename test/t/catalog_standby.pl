# The catalog on a hot standby, and after its promotion; dump and restore.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $root = PostgreSQL::Test::Utils::tempdir();
my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', "lance_catalog.default_server = 'lake'\n");
$primary->start;

# Stage a manifest and commit it.
my $push = q{
	CREATE FUNCTION push(id text, version bigint, content text) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		folder text := (SELECT location FROM lance_describe_table(id)) || '/_versions';
	BEGIN
		EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', format('mkdir -p ''%s'' && cat > /dev/null', folder));
		EXECUTE format('COPY (SELECT %L) TO %L', content, folder || '/staged-' || content);
		RETURN (SELECT v.version FROM lance_create_table_version(id, version, substr(folder, 2) || '/staged-' || content) v);
	END $$;
};
$primary->safe_psql('postgres', qq{
	CREATE EXTENSION lance_catalog;
	CREATE SERVER lake FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 'file://$root');
	$push
	SELECT lance_create_namespace('ml', properties => '{"a": "b"}');
	SELECT lance_create_namespace('ml\$sub');
	SELECT lance_declare_table('ml\$docs', properties => '{"k": "v"}');
	SELECT push('ml\$docs', 1, 'one');
	SELECT push('ml\$docs', 2, 'two');
	CREATE ROLE reader;
	CREATE ROLE "other 'reader'";
	SELECT lance_grant('reader', 'read', 'ml');
	SELECT lance_grant('"other ''reader''"', 'write', 'ml\$docs');
	SELECT lance_create_api_key('reader', 'laptop');
	SELECT lance_declare_table('ml\$gone');
	SELECT lance_drop_table('ml\$gone');
	CREATE SERVER fixtures FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 'file://$ENV{LANCE_FIXTURES}/data');
	SELECT lance_attach_dataset('file://$ENV{LANCE_FIXTURES}/data/stable_rowids.lance', 'fixtures', 'public', 'stable',
		version => 5, system_columns => 'true');
	SELECT lance_attach_dataset('file://$ENV{LANCE_FIXTURES}/data/own_rowid.lance', 'fixtures', 'public', 'own',
		system_columns => '_rowid, _rowaddr');
	SELECT lance_create_table_tag('ml\$docs', 'first', 1);
	CREATE SERVER far FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://bucket/x', region 'eu-central-1', managed_versioning 'false');
	CREATE USER MAPPING FOR PUBLIC SERVER far OPTIONS (access_key_id 'k', secret_access_key 's');
	SELECT lance_create_namespace('far', properties => '{"server": "far"}');
});
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

is($standby->safe_psql('postgres', q{SELECT lance_describe_namespace('ml')}), '{"a": "b"}', 'standby: describe namespace');
is($standby->safe_psql('postgres', q{SELECT * FROM lance_list_tables('ml')}), 'docs', 'standby: list tables');
is($standby->safe_psql('postgres', q{SELECT is_only_declared FROM lance_describe_table('ml$docs', check_declared => true)}), 'f',
	'standby: describe table');
is($standby->safe_psql('postgres', q{SELECT string_agg(version::text, ',') FROM lance_list_table_versions('ml$docs')}), '1,2',
	'standby: list versions');
my $folder = $primary->safe_psql('postgres', q{SELECT location || '/_versions/' FROM lance_describe_table('ml$docs')});
append_to_file($folder . '18446744073709551612.manifest', 'beside');
is($standby->safe_psql('postgres', q{SELECT version FROM lance_describe_table_version('ml$docs')}), '3',
	'standby: a version written past the catalog is seen');
is($standby->safe_psql('postgres', q{SELECT tag, version FROM lance_list_table_tags('ml$docs')}), 'first|1', 'standby: list tags');
my $rows = q{SELECT count(*), sum(id) FROM stable; SELECT id, _rowid FROM stable WHERE _rowid = 3; SELECT count(*) FROM own};
is($standby->safe_psql('postgres', $rows), $primary->safe_psql('postgres', $rows), 'standby: foreign tables are read');
foreach my $query (q{lance_create_namespace('x')}, q{lance_drop_namespace('ml', behavior => 'Cascade')}, q{lance_declare_table('x')},
	q{lance_drop_table('ml$docs')}, q{lance_rename_table('ml$docs', 'x')}, q{lance_create_table_version('ml$docs', 4, 'x')},
	q{lance_delete_table_versions('ml$docs', '{[1,2)}')}, q{lance_create_api_key('reader')})
{
	my ($ret, $out, $err) = $standby->psql('postgres', "\\set VERBOSITY sqlstate\nSELECT $query");
	like($err, qr/25006/, "standby: $query is refused as read-only");
}
is($standby->safe_psql('postgres', 'SELECT done FROM lance_run_cleanup()'), '0', 'standby: the cleanup does nothing');

# A dump brings everything back: names, properties, versions, keys, what waits for cleanup.
my $facts = q{
	SELECT namespace, properties FROM lance.namespaces ORDER BY 1;
	SELECT namespace, table_name, location, server_name, managed_versioning, properties, path FROM lance.tables;
	SELECT table_name, version, manifest_key, manifest_size, committed_at, adopted FROM lance.table_versions ORDER BY version;
	SELECT key_id, role, label, created_at FROM lance_list_api_keys();
	SELECT key_hash FROM lance.api_key;
	SELECT kind, location, object_key FROM lance.cleanup_queue ORDER BY item_id;
	SELECT * FROM lance.privileges ORDER BY entry_id, role::text, privilege;
	SET ROLE reader; SELECT * FROM lance_list_tables('ml'); RESET ROLE;
	SELECT v.version, v.manifest_path FROM lance_list_table_versions('ml$docs') v;
	SELECT attrelid::regclass, attname, atttypid::regtype, attfdwoptions FROM pg_attribute
		WHERE attrelid IN ('stable'::regclass, 'own'::regclass) AND attnum > 0 ORDER BY attrelid::regclass::text, attnum;
	SELECT * FROM lance_list_table_tags('ml$docs');
	SELECT * FROM lance_list_all_tables();
	SELECT srvname, ARRAY(SELECT unnest(srvoptions) ORDER BY 1) FROM pg_foreign_server ORDER BY 1;
	SELECT srvname, usename, ARRAY(SELECT unnest(umoptions) ORDER BY 1) FROM pg_user_mappings ORDER BY 1;
	SELECT location, managed_versioning FROM lance_describe_table('ml$docs', with_table_uri => true);
	SELECT id, _rowid, _rowaddr, _row_created_at_version FROM stable WHERE _rowid IN (3, 450);
	SELECT * FROM own WHERE _rowaddr = 1;
};
my $before = $primary->safe_psql('postgres', $facts);
my $dump = "$PostgreSQL::Test::Utils::tmp_check/dump.sql";
$primary->command_ok([ 'pg_dump', '-f', $dump, $primary->connstr('postgres') ], 'pg_dump');
$primary->safe_psql('postgres', 'CREATE DATABASE copy');
$primary->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $primary->connstr('copy') ], 'restore');
is($primary->safe_psql('copy', $facts), $before, 'the restored catalog answers as the old one');
is($primary->safe_psql('copy', q{SELECT lance_create_namespace('new'); SELECT push('ml$docs', 4, 'four')}), "{}\n4", 'and goes on');
$primary->safe_psql('postgres', 'DROP DATABASE copy');

# Keys and privileges of a role that is gone are not dumped: as a bare number they could come to mean another role.
$primary->safe_psql('postgres', 'DROP OWNED BY reader; DROP ROLE reader');
my ($rows) = run_command([ 'pg_dump', '-t', 'lance.privilege_entry', $primary->connstr('postgres') ]);
like($rows, qr/"other 'reader'"\twrite/, 'a privilege is dumped with the name of its role');
unlike($rows, qr/\tread\t/, 'one without a role is left out of dumps');
my ($text) = run_command([ 'pg_dump', '-t', 'lance.api_key', $primary->connstr('postgres') ]);
unlike($text, qr/laptop/, 'a key without a role is left out of dumps');

$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
$primary->stop;
$standby->promote;
is($standby->safe_psql('postgres', q{SELECT lance_create_namespace('new'); SELECT push('ml$docs', 5, 'five')}), "{}\n5",
	'after the promotion changes are taken');
is($standby->safe_psql('postgres', q{SELECT string_agg(version || ':' || adopted, ' ' ORDER BY version) FROM lance.table_versions}),
	'1:false 2:false 3:true 4:true 5:false', 'versions that the new primary had no record of are adopted');
done_testing();
