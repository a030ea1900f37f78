# Keys for clients: which ones, for which place and access, how often they are made, and that nothing else tells them.
use strict;
use warnings FATAL => 'all';
use FindBin;
use lib "$FindBin::RealBin/lib";
use JSON::PP;
use LanceRest;
use LanceStore;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $store = LanceStore->start(lifetime => 3600, trusted => ['AKMAIN']);
my $rest = LanceRest->start('vending', 'log_statement = all', 'log_min_messages = debug5', 'lance_catalog.rest_executors = 16',
	'lance_catalog.rest_anonymous_role = nobody', 'log_connections = off');
my $node = $rest->{node};
my $secrets = qr/main-secret|vended-secret-|vended-token-/;

sub sql
{
	my ($ret, $out, $err) = $node->psql('postgres', join('; ', @_));

	return $ret == 0 ? $out : die "@_: $err";
}

# Options of a table by SQL, as a user; a hash.
sub options
{
	my ($table, %option) = @_;
	my $role = $option{role} // 'postgres';
	my $vend = $option{vend} // 'NULL';
	my ($ret, $out, $err) = $node->psql('postgres', "SET ROLE $role; SELECT storage_options FROM lance_describe_table('$table', vend_credentials => $vend)");

	is($ret, 0, "$table is described") or diag($err);
	return decode_json($out);
}

sub server { return sql("ALTER SERVER s3 OPTIONS ($_[0])") }
sub keys_of { return join(',', grep { /key|token|expires|refresh/ } sort keys %{ $_[0] }) }

sql("CREATE SERVER s3 FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://bucket/lake', endpoint '$store->{url}', allow_http 'true', region 'eu-west-1')",
	"CREATE ROLE nobody", "CREATE ROLE alice", "CREATE ROLE bob",
	"GRANT USAGE ON FOREIGN SERVER s3 TO alice, bob");
# The statement that makes a mapping is logged by the server as others are; it is not for this test to judge.
sql("SET log_statement = none", "SET log_min_messages = warning", "SET log_min_error_statement = panic",
	"CREATE USER MAPPING FOR postgres SERVER s3 OPTIONS (access_key_id 'AKMAIN', secret_access_key 'main-secret')",
	"CREATE USER MAPPING FOR alice SERVER s3 OPTIONS (access_key_id 'AKMAIN', secret_access_key 'main-secret-2')",
	"CREATE USER MAPPING FOR bob SERVER s3 OPTIONS (access_key_id 'AKMAIN', secret_access_key 'main-secret-3')");
sql(q{SELECT lance_create_namespace('v', properties => '{"server": "s3"}')}, q{SELECT lance_declare_table('v$t1', vend_credentials => true)},
	q{SELECT lance_grant('alice', 'write', 'v')}, q{SELECT lance_grant('bob', 'read', 'v$t1')});

# ---- none, and static only if the operator says so
my $got = options('v$t1', vend => 'true');
is_deeply($got, { aws_endpoint => $store->{url}, allow_http => 'true', aws_region => 'eu-west-1' }, 'by default there are endpoint and region only');
server("ADD vending 'static'");
is(keys_of(options('v$t1', vend => 'true')), 'aws_access_key_id,aws_secret_access_key', 'static keys when the operator says so');
is(options('v$t1', role => 'alice')->{aws_secret_access_key}, 'main-secret-2', 'and those of the user who asks');
is(keys_of(options('v$t1', vend => 'false')), '', 'none when none are wanted');
is(scalar(() = $store->sessions), 0, 'the token service was not asked');

# ---- options by the kind of endpoint
server("ADD client_endpoint 'https://store.example'");
is_deeply([ @{ options('v$t1', vend => 'false') }{qw(aws_endpoint allow_http virtual_hosted_style_request)} ], [ 'https://store.example', undef, undef ],
	'clients are told of their own endpoint, and of no http');
server("ADD virtual_hosted_style 'true'");
is(options('v$t1', vend => 'false')->{virtual_hosted_style_request}, 'true', 'and of the style of host names');
server("DROP client_endpoint, DROP virtual_hosted_style");

# ---- sts
server("SET vending 'sts', ADD sts_role_arn 'arn:aws:iam::123456789012:role/lake', ADD sts_external_id 'ext-1', ADD sts_duration '900'");
my $before = time;
$got = options('v$t1');
is(keys_of($got), 'aws_access_key_id,aws_secret_access_key,aws_session_token,expires_at_millis,refresh_offset_millis', 'keys of a session, without being asked for');
like($got->{expires_at_millis}, qr/^\d{13}$/, 'their end is a text of milliseconds');
ok(abs($got->{expires_at_millis} / 1000 - $before - 3600) < 60, 'which is what the service says, whatever was asked for');
is($got->{refresh_offset_millis}, 300000, 'five minutes ahead of it clients ask again');
my ($asked) = $store->sessions;
is_deeply([ @$asked{qw(Action Signer RoleArn ExternalId DurationSeconds RoleSessionName)} ],
	[ 'AssumeRole', 'AKMAIN', 'arn:aws:iam::123456789012:role/lake', 'ext-1', '900', 'lance-postgres' ], 'what the service was asked');
my $policy = decode_json($asked->{Policy});
my $location = sql(q{SELECT location FROM lance_describe_table('v$t1', vend_credentials => false)});
my ($path) = $location =~ m{^s3://bucket/(.*)$};
is($policy->{Statement}[0]{Resource}, "arn:aws:s3:::bucket/$path/*", 'the policy is for the location');
is_deeply($policy->{Statement}[1]{Condition}, { StringLike => { 's3:prefix' => "$path/*" } }, 'also in listing');
ok((grep { $_ eq 's3:PutObject' } @{ $policy->{Statement}[0]{Action} }), 'who may commit may write');

$got = options('v$t1');
is(scalar(() = $store->sessions), 1, 'asked again, the same keys are given');
$got = options('v$t1', role => 'alice');
is(scalar(() = $store->sessions), 2, 'but not to another role');
is(($store->sessions)[1]{RoleSessionName}, 'lance-alice', 'who is named to the service');
options('v$t1', role => 'bob');
sql("REVOKE USAGE ON FOREIGN SERVER s3 FROM bob");
is(keys_of(options('v$t1', role => 'bob')), '', 'who may not use the server gets none');
sql("GRANT USAGE ON FOREIGN SERVER s3 TO bob");
is_deeply(decode_json(($store->sessions)[2]{Policy})->{Statement}[0]{Action}, ['s3:GetObject'], 'who may only read gets keys to read');

# ---- what changes the keys
sql("ALTER SERVER s3 OPTIONS (SET sts_duration '1800')");
options('v$t1');
is(scalar(() = $store->sessions), 4, 'ALTER SERVER: new keys');
sql("SET log_statement = none", "SET log_min_messages = warning",
	"ALTER USER MAPPING FOR postgres SERVER s3 OPTIONS (SET secret_access_key 'main-secret-4')");
options('v$t1');
is(scalar(() = $store->sessions), 5, 'ALTER USER MAPPING: new keys');
sql("SET log_statement = none", "SET log_min_messages = warning", "DROP USER MAPPING FOR alice SERVER s3");
is(keys_of(options('v$t1', role => 'alice')), '', 'DROP USER MAPPING: none');
sql("DROP OWNED BY bob", "DROP ROLE bob", "CREATE ROLE bob", "GRANT USAGE ON FOREIGN SERVER s3 TO bob", q{SELECT lance_grant('bob', 'read', 'v')});
is(keys_of(options('v$t1', role => 'bob')), '', 'DROP ROLE: none for another role of that name');

# ---- one refresh however many ask, over all processes
sql(q{SELECT lance_declare_table('v$many', vend_credentials => false)});
$store->token_service('');
my @children;
foreach my $n (1 .. 16)
{
	my $pid = fork();

	if (!$pid)
	{
		my ($status, $json) = $rest->call('POST', '/v1/table/v%24many/describe', body => { vend_credentials => JSON::PP::true });

		require POSIX;
		POSIX::_exit($status == 200 && $json->{storage_options}{aws_session_token} ? 0 : 1);
	}
	push @children, $pid;
}
my $failed = 0;
foreach (@children) { waitpid $_, 0; $failed++ if $? }
is($failed, 0, 'sixteen describes at once get keys');
is(scalar(() = $store->sessions), 1, 'and one of them asked for all');
$rest->expect('one more', 200, undef, 'POST', '/v1/table/v%24many/describe', body => {});
is(scalar(() = $store->sessions), 1, 'which later ones have too');
my $json = $rest->expect('declare', 200, undef, 'POST', '/v1/table/v%24new/declare', body => { vend_credentials => JSON::PP::true });
like($json->{storage_options}{aws_session_token}, qr/^vended-token/, 'declare gives keys');
$rest->expect('describe', 200, undef, 'POST', '/v1/table/v%24new/describe', body => {});
is(scalar(() = $store->sessions), 2, 'which describe gives again');

# ---- a service that is down, refuses, or is silent: an answer without keys
my $n = 0;
foreach my $fault (qw(refuse error down mute))
{
	$n++;
	server("SET sts_duration '" . (900 + $n) . "'");
	sql("SELECT lance_declare_table('v\$fault$n', vend_credentials => false)");
	$store->token_service($fault);
	my $start = time;
	$json = $rest->expect($fault, 200, undef, 'POST', "/v1/table/v%24fault$n/describe", body => { vend_credentials => JSON::PP::true });
	is_deeply($json->{storage_options}, { aws_endpoint => $store->{url}, allow_http => 'true', aws_region => 'eu-west-1' }, "$fault: endpoint and region, no keys");
	my $tries = () = $store->sessions;
	$rest->expect("$fault, again", 200, undef, 'POST', "/v1/table/v%24fault$n/describe", body => {});
	is(scalar(() = $store->sessions), $tries, "$fault: nobody asks again at once");
	my ($ret, $out, $err) = $node->psql('postgres', "SELECT storage_options FROM lance_declare_table('v\$declared$n')");
	is($ret, 0, "$fault: tables can be declared") or diag($err);
	is(scalar(() = $store->sessions), $fault eq 'refuse' ? $tries + 1 : $tries, "$fault: and whether the service is asked for another table") or diag($err);
	like($err, qr/WARNING:  no credentials for clients of server "s3": token service/, "$fault: and a warning says why");
}
like(slurp_file($node->logfile), qr/WARNING:  no credentials for clients of server "s3": token service answered 403 AccessDenied/, 'the log has it');
$store->token_service('');
server("SET sts_duration '1000'");

# ---- who makes keys may be cancelled or ended, and so may those who wait for him
sub describing
{
	my ($name) = @_;
	my ($out, $err) = ('', '');

	return [ IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . " application_name=$name", '-v', 'VERBOSITY=verbose',
		'-c', q{SELECT storage_options FROM lance_describe_table('v$cut')} ], '>', \$out, '2>', \$err), \$out, \$err ];
}

sub signal_to { return sql("SELECT $_[0](pid) FROM pg_stat_activity WHERE application_name = '$_[1]'") }

sql(q{SELECT lance_declare_table('v$cut', vend_credentials => false)});
server("SET sts_duration '1100'");
$store->token_service('mute');
my $maker = describing('maker');
for (1 .. 100) { last if $store->sessions; sleep 0.05 }
my $waiting = describing('waiting');
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'waiting' AND state = 'active' AND wait_event = 'Extension'}) or die;
signal_to('pg_cancel_backend', 'waiting');
$waiting->[0]->finish;
like(${ $waiting->[2] }, qr/57014/, 'who waits for keys can be cancelled');
is(scalar(() = $store->sessions), 1, 'and did not ask himself');
$waiting = describing('waiting');
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'waiting' AND state = 'active' AND wait_event = 'Extension'}) or die;
$store->token_service('');
signal_to('pg_terminate_backend', 'maker');
$maker->[0]->finish;
$waiting->[0]->finish;
is(keys_of(decode_json(${ $waiting->[1] } || '{}')), 'aws_access_key_id,aws_secret_access_key,aws_session_token,expires_at_millis,refresh_offset_millis',
	'when the session that asks is ended, the next one asks') or diag(${ $waiting->[2] });
is(scalar(() = $store->sessions), 1, 'once');
server("SET sts_duration '1000'");

# ---- names and places that a policy could take for patterns
foreach my $name ('*', 'a?b', '${aws:username}', '[x]')
{
	$store->token_service('');
	sql("SELECT lance_declare_table(ARRAY['v', '$name'])");
	my ($asked) = $store->sessions;
	like(decode_json($asked->{Policy})->{Statement}[0]{Resource}, qr{^arn:aws:s3:::bucket/lake/v/[A-Za-z0-9_.-]+\.lance/\*$}, "table $name: one place");
}
my ($ret, $out, $err);
foreach my $bad ('v/*', 'v/a?b')
{
	($ret, $out, $err) = $node->psql('postgres', "SELECT lance_declare_table('v\$bad', '$bad')");
	like($err, qr/invalid location/, "$bad is no location");
}
$store->token_service('');
($ret, $out, $err) = $node->psql('postgres', q{SELECT storage_options FROM lance_declare_table('v$odd', 'v/${aws:username}')});
is(keys_of(decode_json($out)), '', 'no keys for a location with a variable');
like($err, qr/WARNING:  no credentials .*no policy can be written/, 'and a warning says why');
is(scalar(() = $store->sessions), 0, 'the service is not asked');

# ---- a table outside the root, which was moved
server("SET root 's3://bucket/other'");
$store->token_service('');
($ret, $out, $err) = $node->psql('postgres', q{SELECT storage_options FROM lance_describe_table('v$t1')});
is(keys_of(decode_json($out)), '', 'no keys for a table outside the root of the server');
like($err, qr/WARNING:  no credentials .*lies outside the server's root/, 'and a warning says why');
is(scalar(() = $store->sessions), 0, 'the service is not asked');
server("SET root 's3://bucket/lake'");

# ---- only servers of superusers choose addresses and identities
sql("CREATE ROLE carol", "GRANT USAGE ON FOREIGN DATA WRAPPER lance_fdw TO carol", "GRANT EXECUTE ON FUNCTION lance_dataset_versions TO carol");
foreach my $options ("sts_endpoint '$store->{url}', allow_http 'true', vending 'sts'", "credentials 'instance'", "credentials 'web_identity'")
{
	sql("SET ROLE carol", "CREATE SERVER mine FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 's3://bucket/carol', $options)");
	($ret, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSET ROLE carol; SELECT * FROM lance_dataset_versions('s3://bucket/carol/x', 'mine')");
	my ($option) = $options =~ /^(\w+)/;
	like($err, qr/42501: permission denied for the $option of server "mine"/, "$options: not for anybody");
	sql("DROP SERVER mine CASCADE");
}

# ---- the catalog's own access: a role, and a web identity
server("ADD credentials 'sts'");
$store->token_service('');
sql(q{SELECT lance_list_table_versions('v$t1')});
is(join(',', map { $_->{Policy} // 'no policy' } grep { !$_->{Policy} } $store->sessions), 'no policy', 'the server assumes the role for itself');
sql(q{SELECT lance_list_table_versions('v$t1')});
is(scalar(grep { !$_->{Policy} } $store->sessions), 1, 'once');
server("SET credentials 'web_identity'");
($ret, $out, $err) = $node->psql('postgres', q{SELECT lance_list_table_versions('v$t1')});
like($err, qr/AWS_WEB_IDENTITY_TOKEN_FILE is not set/, 'there is no web identity');
my $token_file = PostgreSQL::Test::Utils::tempdir() . '/token';
append_to_file($token_file, "web-identity-token\n");
{
	local $ENV{AWS_WEB_IDENTITY_TOKEN_FILE} = $token_file;
	local $ENV{AWS_EC2_METADATA_SERVICE_ENDPOINT} = 'http://127.0.0.1:1';
	$node->restart;
}
$store->token_service('');
sql(q{SELECT lance_list_table_versions('v$t1')});
($asked) = $store->sessions;
is_deeply([ @$asked{qw(Action WebIdentityToken RoleArn Signer)} ], [ 'AssumeRoleWithWebIdentity', 'web-identity-token', 'arn:aws:iam::123456789012:role/lake', undef ],
	'a web identity is presented');

# The keys of a container; the file of the token before stays, which nobody reads now.
my $container = LanceStore->start();
$container->put('keys', '{"AccessKeyId": "AKMAIN", "SecretAccessKey": "main-secret-5", "Token": "container-token", "Expiration": "2099-01-01T00:00:00Z"}');
server("SET credentials 'instance'");
($ret, $out, $err) = $node->psql('postgres', q{SELECT lance_list_table_versions('v$t1')});
like($err, qr/ERROR:  credentials service of the machine gave no answer/, 'a machine without keys');
{
	local $ENV{AWS_CONTAINER_CREDENTIALS_FULL_URI} = "$container->{url}/bucket/keys";
	$node->restart;
}
sql("DROP USER MAPPING FOR postgres SERVER s3");
$store->token_service('');
sql(q{SELECT lance_list_table_versions('v$t1')});
is(keys_of(options('v$t1')), 'aws_access_key_id,aws_secret_access_key,aws_session_token,expires_at_millis,refresh_offset_millis', 'without a user mapping too');
is_deeply([ map { $_->{Signer} } $store->sessions ], ['AKMAIN'], "a role is assumed with the container's keys, and only for clients");
sql("SET log_statement = none", "SET log_min_messages = warning",
	"CREATE USER MAPPING FOR postgres SERVER s3 OPTIONS (access_key_id 'AKMAIN', secret_access_key 'main-secret-6')");
server("DROP credentials");
$container->stop;

# ---- nothing tells the secrets
my $log = slurp_file($node->logfile);
unlike($log, $secrets, 'no secret is in the log, at any level') or diag(grep { $_ =~ $secrets } split /^/, $log);
unlike($log, qr/web-identity-token|container-token/, 'nor the tokens of the web identity and the container');
unlike(sql('SELECT * FROM pg_stat_activity'), $secrets, 'nor in pg_stat_activity');
foreach my $view (split /\n/, sql(q{SELECT c.oid::regclass FROM pg_class c WHERE relnamespace = 'lance'::regnamespace AND relkind IN ('r', 'v')}))
{
	unlike(sql("SELECT * FROM $view"), $secrets, "nor in $view");
}
sql("CREATE FOREIGN TABLE f (a int) SERVER s3 OPTIONS (uri 's3://bucket/lake/none')");
($ret, $out, $err) = $node->psql('postgres', 'EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM f');
unlike($out . $err, $secrets, 'nor in what EXPLAIN and errors say');
$node->stop('fast');
$store->stop;
done_testing();
