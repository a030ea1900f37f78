# boundaries.pl
#	  What lies in a client's folder leads nowhere else: symbolic links, pipes, folders in place of files; and nothing hangs on it.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";
use File::Path qw(make_path);
use POSIX qw(mkfifo);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::RecursiveCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('boundaries');
my $base = PostgreSQL::Test::Utils::tempdir();
my ($lake, $outside, $allowed) = map { "$base/$_" } 'lake', 'outside', 'allowed';
my $fixture = "$ENV{LANCE_FIXTURES}/data/stable_rowids.lance";

$node->init;
$node->append_conf('postgresql.conf', "lance_catalog.allowed_local_roots = '$allowed'\nlance_catalog.default_server = 'lake'\nstatement_timeout = 20s");
$node->start;
make_path($lake, $outside, $allowed);

sub copy
{
	PostgreSQL::Test::RecursiveCopy::copypath($fixture, $_[0]);
	return;
}

sub try_sql
{
	my ($role, $sql) = @_;
	my ($status, $out, $error) = $node->psql('postgres', "SET ROLE $role; $sql");

	return $status == 0 ? $out : $error;
}

# Refused, by what is wrong, without waiting for it.
sub refused
{
	my ($what, $role, $sql, $reason) = @_;
	my $got = try_sql($role, $sql);

	like($got, qr/ERROR:.*(?:$reason)/, $what);
	unlike($got, qr/canceling statement/, "$what: at once");
	return;
}

$node->safe_psql('postgres', "CREATE EXTENSION lance_catalog;
	CREATE SERVER lake FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 'file://$lake');
	CREATE ROLE someone; GRANT USAGE ON FOREIGN SERVER lake TO someone; GRANT USAGE ON FOREIGN DATA WRAPPER lance_fdw TO someone;
	CREATE SCHEMA theirs AUTHORIZATION someone;");
copy("$outside/secret.lance");

sub attach
{
	my ($role, $uri, $server, $table) = @_;

	return try_sql($role, "SELECT lance_attach_dataset('$uri', '$server', 'theirs', '$table')");
}

sub attach_ok { return attach(@_) !~ /ERROR/ ? 1 : attach(@_) }

# ---- inside a table
my $links = 'symbolic links below the root of a store are not followed';
for my $case (
	[ 'a data file that is a link', 'data/*.lance', sub { symlink((glob "$outside/secret.lance/data/*.lance")[0], $_[0]) }, $links ],
	[ 'a data file that links to a file of the system', 'data/*.lance', sub { symlink('/etc/passwd', $_[0]) }, $links ],
	[ 'a manifest that is a link', '_versions/*.manifest', sub { symlink((glob "$outside/secret.lance/_versions/*.manifest")[0], $_[0]) }, "$links|no dataset|does not exist" ],
	[ 'a data file that is a pipe', 'data/*.lance', sub { mkfifo($_[0], 0600) }, 'does not exist|not found' ],
	[ 'a manifest that is a pipe', '_versions/*.manifest', sub { mkfifo($_[0], 0600) }, 'does not exist|not found|no dataset' ],
	[ 'a data file that is a folder', 'data/*.lance', sub { mkdir($_[0]) }, 'does not exist|not found' ],
	[ 'a manifest that is a folder', '_versions/*.manifest', sub { mkdir($_[0]) }, 'does not exist|not found|no dataset' ])
{
	my ($what, $pattern, $plant, $reason) = @$case;
	my $table = 't' . (my $id = ++our $count);

	copy("$lake/$table.lance");
	is(attach_ok('someone', "file://$lake/$table.lance", 'lake', $table), 1, "$what: attached while it is none");
	cmp_ok(try_sql('someone', "SELECT count(*) FROM theirs.$table"), '>', 0, "$what: and read");
	for my $file (glob "$lake/$table.lance/$pattern")
	{
		unlink $file or die "$file: $!";
		$plant->($file) or die "$file: $!";
	}
	refused($what, $_, "SELECT * FROM theirs.$table", $reason) for 'someone', 'postgres';
}

# ---- the table's folder itself, and folders on the way to it
copy("$lake/swapped.lance");
is(attach_ok('someone', "file://$lake/swapped.lance", 'lake', 'swapped'), 1, 'a folder');
rename "$lake/swapped.lance", "$lake/moved.lance" or die $!;
symlink "$outside/secret.lance", "$lake/swapped.lance" or die $!;
refused('a folder that became a link', $_, 'SELECT * FROM theirs.swapped', $links) for 'someone', 'postgres';
symlink $outside, "$lake/way" or die $!;
like(attach($_, "file://$lake/way/secret.lance", 'lake', 'way'), qr/$links/, 'a link on the way') for 'someone', 'postgres';
$node->safe_psql('postgres', "SELECT lance_register_table('linked', 'swapped.lance')");
refused('a location that is a link', 'postgres', "SELECT * FROM lance_describe_table('linked', load_detailed_metadata => true)", $links);

# what is dropped is the link
my $location = $node->safe_psql('postgres', "SELECT location FROM lance_declare_table('dropped')") =~ s{^file://}{}r;
copy($location);
rename $location, "$lake/kept.lance" or die $!;
symlink "$outside/secret.lance", $location or die $!;
$node->safe_psql('postgres', "SELECT lance_drop_table('dropped'); SELECT lance_run_cleanup()");
ok(!-e $location && !-l $location, 'the link is gone');
ok(scalar(glob "$outside/secret.lance/data/*.lance"), 'what it pointed to is there');

# ---- allowed folders
is(try_sql('someone', "CREATE SERVER theirs FOREIGN DATA WRAPPER lance_fdw OPTIONS (root 'file://$allowed/mine')"), '', 'a server of their own');
make_path("$allowed/mine");
copy("$allowed/mine/good.lance");
is(attach_ok('someone', "file://$allowed/mine/good.lance", 'theirs', 'good'), 1, 'below an allowed folder');
cmp_ok(try_sql('someone', 'SELECT count(*) FROM theirs.good'), '>', 0, 'is read');
copy("$allowed/mine/swapped.lance");
is(attach_ok('someone', "file://$allowed/mine/swapped.lance", 'theirs', 'swapped_too'), 1, 'another');
rename "$allowed/mine", "$allowed/yours" or die $!;
mkdir "$outside/mine" or die $!;
copy("$outside/mine/swapped.lance");
symlink "$outside/mine", "$allowed/mine" or die $!;
refused('a root that became a link out of the allowed folder', 'someone', 'SELECT * FROM theirs.swapped_too', "permission denied for local folder|$links");
unlink "$allowed/mine" or die $!;
symlink "$allowed/yours", "$allowed/mine" or die $!;
refused('a root that became a link within it', 'someone', 'SELECT * FROM theirs.swapped_too', $links);
unlink "$allowed/mine" or die $!;
rename "$allowed/yours", "$allowed/mine" or die $!;
cmp_ok(try_sql('someone', 'SELECT count(*) FROM theirs.good'), '>', 0, 'a folder again: read again');

# ---- locations that are spelled otherwise
for my $uri ("file://$lake/../outside/secret.lance", "file://$lake/%2e%2e/outside/secret.lance", "file://$lake/a/../../outside/secret.lance",
	"$lake/../outside/secret.lance", "file://$lake/./t1.lance", "file://$lake/t1.lance%00", "file://evil.example/$lake/t1.lance", "file://$lake/\\..\\outside",
	"http://127.0.0.1/t", "ftp://127.0.0.1/t", "gopher://127.0.0.1/t", "dict://127.0.0.1/t", "data:,x", "memory://t", "FILE:///etc", 'S3://b/t')
{
	like(attach('someone', $uri, 'lake', 'spelled'), qr/ERROR/, "refused: $uri");
}
like(attach('someone', "file://$lake/%252e%252e/outside/secret.lance", 'lake', 'spelled'), qr/no dataset|does not exist|not found/, 'an escape is undone once');
like(attach('someone', "file://$outside/secret.lance", 'lake', 'spelled'), qr/outside the root/, 'a location outside');
like(attach('someone', "file://$lake-too/secret.lance", 'lake', 'spelled'), qr/outside the root/, 'a folder whose name begins like the root');

ok(slurp_file($node->logfile) !~ /PANIC|TRAP|terminated by signal/, 'nothing crashed');
$node->stop('fast');
done_testing();
