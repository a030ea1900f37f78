# LanceRest.pm
#	  A throwaway server with the REST workers, and requests to it.

package LanceRest;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use HTTP::Tiny;
use IO::Select;
use IO::Socket::INET;
use JSON::PP;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(wait_until);

# A cluster named $name with the extension and a local profile; further settings as a list of "name = value" lines.
# Returns an object with node, port, key (of a superuser), root.
sub start
{
	my ($class, $name, @settings) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	my $self = bless {
		node => $node,
		port => PostgreSQL::Test::Cluster::get_free_port(),
		root => PostgreSQL::Test::Utils::tempdir(),
	}, $class;

	$node->init(allows_streaming => 1);
	$node->append_conf('postgresql.conf', join("\n",
		"shared_preload_libraries = 'lance_catalog'",
		"lance_catalog.rest_port = $self->{port}",
		"lance_catalog.rest_listen_addresses = '127.0.0.1'",
		"lance_catalog.default_server = 'lake'",
		@settings, ''));
	$node->start;
	$self->install('postgres');
	return $self;
}

# The extension with its profile in a database; the key of its superuser.
sub install
{
	my ($self, $database) = @_;

	$self->{node}->safe_psql($database, "CREATE EXTENSION lance_catalog");
	$self->{node}->safe_psql($database, "CREATE SERVER lake FOREIGN DATA WRAPPER lance_fdw
		OPTIONS (root 'file://$self->{root}')");
	$self->{key} = $self->{node}->safe_psql($database,
		"SELECT api_key FROM lance_create_api_key(current_user::regrole)");
	return;
}

# One request on a connection of its own. Returns (status, decoded body, headers). Options: body (Perl data or
# text), headers, key (undef: none), port, raw (text is sent as it is).
sub call
{
	my ($self, $method, $path, %option) = @_;
	my $http = HTTP::Tiny->new(timeout => $option{timeout} // 30, keep_alive => 0);
	my %headers = %{ $option{headers} // {} };
	my $key = exists $option{key} ? $option{key} : $self->{key};
	my $port = $option{port} // $self->{port};
	my $content = $option{body};

	$headers{'x-api-key'} = $key if defined $key;
	if (ref $content)
	{
		$content = JSON::PP->new->utf8->encode($content);
		$headers{'content-type'} //= 'application/json';
	}
	my $response = $http->request($method, "http://127.0.0.1:$port$path",
		{ headers => \%headers, defined $content ? (content => $content) : () });
	my $json = eval { JSON::PP->new->utf8->allow_nonref->decode($response->{content}) };
	return ($response->{status}, $json, $response->{headers}, $response->{content});
}

# The same, checked: status and (undef: success) the specification's error code.
sub expect
{
	my ($self, $what, $status, $code, $method, $path, %option) = @_;
	my ($got, $json, $headers, $content) = $self->call($method, $path, %option);
	my $shown = substr($content // '', 0, 300);

	is($got, $status, "$what: status") or diag($shown);
	if (defined $code)
	{
		is(ref $json eq 'HASH' ? $json->{code} : undef, $code, "$what: code") or diag($shown);
	}
	return wantarray ? ($json, $headers) : $json;
}

# Send bytes on a fresh socket and return what comes back: one answer, or with $all everything until the other side
# closes, for at most $seconds. A code reference sends by itself.
sub raw
{
	my ($self, $bytes, $seconds, $all) = @_;
	my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $self->{port}, Timeout => 10)
	  or die "no connection: $!";
	my $answer = '';
	my $deadline = time() + ($seconds // 5);

	local $SIG{PIPE} = 'IGNORE';
	if (ref $bytes eq 'CODE')
	{
		$bytes->($socket);
	}
	else
	{
		$socket->syswrite($bytes);
	}
	my $select = IO::Select->new($socket);
	while ($select->can_read($deadline - time() > 0 ? $deadline - time() : 0))
	{
		my $n = $socket->sysread(my $piece, 65536);

		last if !$n;
		$answer .= $piece;
		last if !$all && $answer =~ /\r\n\r\n\{.*\}\s*\z/s;
	}
	$socket->close;
	return $answer;
}

# Pids of the REST workers.
sub workers
{
	my ($self) = @_;

	return split /\n/, $self->{node}->safe_psql('template1',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'lance_catalog REST worker' ORDER BY pid");
}

# Poll until the server answers GET /v1/table with that status.
sub wait_for
{
	my ($self, $status, $seconds) = @_;

	return wait_until(sub { ($self->call('GET', '/v1/table', timeout => 5))[0] == $status }, $seconds);
}

# Poll a condition. Returns whether it came true.
sub wait_until
{
	my ($condition, $seconds) = @_;
	my $deadline = time() + ($seconds // 20);

	while (time() < $deadline)
	{
		return 1 if $condition->();
		sleep 0.1;
	}
	return 0;
}

1;
