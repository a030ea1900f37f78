# LanceStore.pm
#	  An S3 store for tests that does as it is told: it kills, lies, loses answers, is slow or silent at a chosen request.
#
# Objects are files of a folder, so that each connection has a process of its own, and the test reads and writes them itself.

package LanceStore;

use strict;
use warnings FATAL => 'all';

use Digest::MD5 qw(md5_hex);
use Fcntl ':flock';
use IO::Socket::INET;
use Math::BigInt;
use JSON::PP ();
use POSIX ();
use PostgreSQL::Test::Utils;
use Time::HiRes qw(sleep time);

# Options: buckets, those that there are (default: "bucket"); counts, a function of method and key that says which requests the
# plan is about (default: each change); lifetime, of the keys that its token service gives, in seconds. With that, requests are
# refused unless they come with such a key that lives and whose policy covers them, or with one of the keys of the option trusted.
# The object has dir, port and url.
sub start
{
	my ($class, %option) = @_;
	my $listener = IO::Socket::INET->new(Listen => 100, LocalAddr => '127.0.0.1', LocalPort => 0, Proto => 'tcp', ReuseAddr => 1)
	  or die "no socket: $!";
	my $self = bless {
		dir => PostgreSQL::Test::Utils::tempdir(),
		port => $listener->sockport,
		url => 'http://127.0.0.1:' . $listener->sockport,
		buckets => { map { $_ => 1 } @{ $option{buckets} // ['bucket'] } },
		counts => $option{counts} // sub { $_[0] eq 'PUT' || $_[0] eq 'DELETE' },
		lifetime => $option{lifetime},
		trusted => { map { $_ => 1 } @{ $option{trusted} // [] } },
		parent => $$,
	}, $class;

	$self->plan('');
	$self->token_service('');
	$self->{pid} = fork() // die "no process: $!";
	if ($self->{pid} == 0)
	{
		$SIG{PIPE} = 'IGNORE';
		$SIG{CHLD} = 'IGNORE';
		while (1)
		{
			my $client = $listener->accept or next;

			if (fork() == 0)
			{
				eval { $self->serve($client) };
				POSIX::_exit(0);
			}
			close $client;
		}
	}
	close $listener;
	return $self;
}

sub stop
{
	my ($self) = @_;
	my $status = $?;

	return if $$ != $self->{parent} || !$self->{pid};
	kill 'TERM', $self->{pid};
	waitpid $self->{pid}, 0;
	$self->{pid} = 0;
	$? = $status;
	return;
}

sub DESTROY { $_[0]->stop }

# ---- objects, by keys of the first bucket

sub object_file
{
	my ($self, $key, $bucket) = @_;

	return "$self->{dir}/o-" . unpack('H*', ($bucket // 'bucket') . "/$key");
}

# Returns whether it was written; with $only_new it is not where there is an object already.
sub put
{
	my ($self, $key, $body, $bucket, $only_new) = @_;
	my ($new, $file) = ("$self->{dir}/new-$$", $self->object_file($key, $bucket));

	write_file($new, $body);
	return rename($new, $file) || die "$file: $!" if !$only_new;
	my $written = link($new, $file);
	unlink $new;
	return $written;
}

sub get
{
	my ($self, $key, $bucket) = @_;
	my $file = $self->object_file($key, $bucket);

	return -e $file ? slurp_file($file) : undef;
}

sub keys_of
{
	my ($self, $prefix, $bucket) = @_;
	my $start = ($bucket // 'bucket') . '/';

	opendir my $d, $self->{dir} or die $!;
	return sort grep { index($_, $prefix) == 0 } map { substr($_, length $start) }
	  grep { index($_, $start) == 0 } map { /^o-(.*)/ ? pack('H*', $1) : () } readdir $d;
}

# The files of a folder, below a key.
sub put_folder
{
	my ($self, $folder, $key) = @_;

	opendir my $d, $folder or die "$folder: $!";
	foreach my $name (grep { !/^\.\.?$/ } readdir $d)
	{
		if (-d "$folder/$name") { $self->put_folder("$folder/$name", "$key/$name") }
		else { $self->put("$key/$name", slurp_file("$folder/$name")) }
	}
	return;
}

# ---- the plan

# What happens to the requests that count: "" (nothing), "N ACTION" for the Nth from now on, "from N ACTION" for all from the Nth on;
# "ENDING" after that spares the keys that end otherwise. The log of changes starts anew. Actions:
#	killed, done	the processes of victims() get SIGKILL, before the request is carried out or after that; no answer
#	dropped, lost	the connection ends without an answer, the request not carried out, or carried out
#	error, conflict, refused, denied	500, 409, 412, 403, and nothing is done
#	taken	another's object is there already: 412
#	unconditional	a conditional write is not known: 501
#	expired	all keys that were given so far have ended
#	slow, mute	the answer comes after a second, or not at all
sub plan
{
	my ($self, $what) = @_;

	write_file("$self->{dir}/log", '');
	write_file("$self->{dir}/count", '');
	write_file("$self->{dir}/plan", $what);
	return;
}

# The processes that the actions killed and done kill.
sub victims
{
	my ($self, @pids) = @_;

	write_file("$self->{dir}/victims", join(' ', @pids));
	return;
}

# The changes since the plan was made: a line each, "PUT key", "PUT* key" when conditional, "DELETE key".
sub log_of_changes { return slurp_file("$_[0]{dir}/log") }

# The file name of a version's manifest.
sub manifest_name
{
	my ($version) = @_;

	return sprintf('%s.manifest', Math::BigInt->new('18446744073709551615')->bsub($version)->bstr);
}

# The newest version whose manifest lies in a folder, as a client finds it that opens the dataset by its URI; 0 for none.
sub newest_in
{
	my ($self, $folder) = @_;
	my ($digits) = map { m{^\Q$folder\E/(\d{20})\.manifest$} } $self->keys_of("$folder/");

	return defined $digits ? 0 + Math::BigInt->new('18446744073709551615')->bsub($digits)->bstr : 0;
}

# How many requests counted since then.
sub counted { return -s "$_[0]{dir}/count" }

sub write_file
{
	my ($name, $text) = @_;

	open my $f, '>', $name or die "$name: $!";
	print $f $text;
	close $f;
	return;
}

sub action_for
{
	my ($self, $method, $key) = @_;

	return '' if !$self->{counts}->($method, $key);
	open my $f, '>>', "$self->{dir}/count" or die $!;
	flock $f, LOCK_EX;
	syswrite($f, '.');
	my $now = -s $f;
	close $f;
	my ($from, $n, $action, $ending) = slurp_file("$self->{dir}/plan") =~ /^(from )?(\d+) (\w+)(?: (\S+))?$/ or return '';

	return '' if defined $ending && $key !~ /\Q$ending\E$/;
	return ($from ? $now >= $n : $now == $n) ? $action : '';
}

sub kill_victims { kill 'KILL', split(/ /, slurp_file("$_[0]{dir}/victims")) }

# ---- the token service: AssumeRole and AssumeRoleWithWebIdentity, unsigned as far as it goes, like the store itself

# What it does from now on: "" (gives keys), "refuse", "error", "down" (no answer), "mute". Its log starts anew.
sub token_service
{
	my ($self, $what) = @_;

	write_file("$self->{dir}/sts-plan", $what);
	write_file("$self->{dir}/sts-log", '');
	return;
}

# What it was asked since then: hashes of the parameters, with Signer, the key that signed.
sub sessions
{
	my ($self) = @_;

	return map { JSON::PP->new->decode($_) } split /\n/, slurp_file("$self->{dir}/sts-log");
}

sub assume_role
{
	my ($self, $client, $head, $body) = @_;
	my %asked = map { my ($k, $v) = split /=/, $_, 2; $k => $v =~ s/%([0-9A-Fa-f]{2})/chr hex $1/egr } split /&/, $body;
	my $plan = slurp_file("$self->{dir}/sts-plan");

	($asked{Signer}) = $head =~ m{Credential=([^/]*)};
	open my $f, '>>', "$self->{dir}/sts-log" or die $!;
	flock $f, LOCK_EX;
	syswrite($f, JSON::PP->new->canonical->encode(\%asked) . "\n");
	close $f;
	return close $client if $plan eq 'down';
	if ($plan eq 'mute') { 1 while sysread($client, my $piece, 65536); return }
	return answer($client, 500, 'oops') if $plan eq 'error';
	return answer($client, 403, '<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not you.</Message></Error></ErrorResponse>')
	  if $plan eq 'refuse' || ($asked{Action} eq 'AssumeRole' && !$self->{trusted}{ $asked{Signer} // '' });

	my $name = sprintf('%d-%d', time() * 1000000, $$);
	my $end = time() + $self->{lifetime};
	my $prefix = ($asked{Policy} // '') =~ m{"arn:aws:s3:::([^"]*)/\*"} ? $1 : '';

	write_file("$self->{dir}/session-$name", "$end $prefix");
	my $expires = POSIX::strftime('%Y-%m-%dT%H:%M:%S', gmtime int $end) . sprintf('.%03dZ', ($end - int $end) * 1000);
	return answer($client, 200, "<$asked{Action}Response><$asked{Action}Result><Credentials><AccessKeyId>ASIA$name</AccessKeyId>"
		. "<SecretAccessKey>vended-secret-$name</SecretAccessKey><SessionToken>vended-token-$name</SessionToken>"
		. "<Expiration>$expires</Expiration></Credentials></$asked{Action}Result></$asked{Action}Response>");
}

# All keys that were given so far are refused from now on.
sub end_sessions
{
	my ($self) = @_;

	write_file($_, '0 ') foreach glob("$self->{dir}/session-*");
	return;
}

# Why a request may not be, as status and code; nothing when it may.
sub refusal
{
	my ($self, $r) = @_;
	my ($key) = $r->{head} =~ m{Credential=([^/]*)};
	my ($token) = $r->{head} =~ /^x-amz-security-token: *vended-token-(\S+)/im;

	return if !defined $self->{lifetime} || (defined $key && $self->{trusted}{$key});
	return (403, 'AccessDenied') if !defined $token || $key ne "ASIA$token" || !-e "$self->{dir}/session-$token";
	my ($end, $prefix) = split / /, slurp_file("$self->{dir}/session-$token"), 2;
	return (400, 'ExpiredToken') if time() >= $end;
	my ($listed) = $r->{query} =~ /list-type=2/ ? $r->{query} =~ /(?:^|&)prefix=([^&]*)/ : ($r->{key});
	my $place = "$r->{bucket}/" . ($listed // '') =~ s/%([0-9A-Fa-f]{2})/chr hex $1/egr;
	return $prefix eq '' || index($place, "$prefix/") == 0 ? () : (403, 'AccessDenied');
}

# ---- requests

sub answer
{
	my ($client, $status, $body, @more) = @_;

	syswrite($client, "HTTP/1.1 $status X\r\nContent-Length: " . length($body) . "\r\nConnection: close\r\nETag: \"x\"\r\n" . join('', @more) . "\r\n$body");
	close $client;
	return;
}

sub refuse
{
	my ($client, $status, $code, $method) = @_;

	return answer($client, $status, ($method // '') eq 'HEAD' ? '' : "<Error><Code>$code</Code></Error>");
}

sub serve
{
	my ($self, $client) = @_;
	my ($head, $body) = ('', '');

	while ($head !~ /\r\n\r\n/) { sysread($client, my $piece, 65536) or return; $head .= $piece }
	($head, $body) = split /\r\n\r\n/, $head, 2;
	my ($length) = $head =~ /^content-length: *(\d+)/im;
	while (length($body) < ($length // 0)) { sysread($client, my $piece, 65536) or return; $body .= $piece }
	my ($method, $bucket, $key, $query) = $head =~ m{^(\S+) /([^/? ]*)/?([^? ]*)\??(\S*)};
	my %request = (method => $method, bucket => $bucket, key => $key, query => $query, head => $head, body => $body,
		conditional => scalar($head =~ /^if-none-match: *\*/im));
	return $self->assume_role($client, $head, $body) if $method eq 'POST' && $bucket eq '' && $body =~ /Action=AssumeRole/;
	my $action = $self->action_for($method, $key);

	append_to_file("$self->{dir}/log", "$method" . ($request{conditional} ? '*' : '') . " $key\n") if $method eq 'PUT' || $method eq 'DELETE';
	$self->kill_victims if $action eq 'killed';
	return close $client if $action eq 'dropped' || $action eq 'killed';
	$self->end_sessions if $action eq 'expired';
	my @refusal = $self->refusal(\%request);
	return refuse($client, @refusal, $method) if @refusal;
	return refuse($client, 500, 'InternalError', $method) if $action eq 'error';
	return refuse($client, 409, 'ConditionalRequestConflict', $method) if $action eq 'conflict';
	return refuse($client, 412, 'PreconditionFailed', $method) if $action eq 'refused';
	return refuse($client, 403, 'AccessDenied', $method) if $action eq 'denied';
	return refuse($client, 501, 'NotImplemented', $method) if $action eq 'unconditional' && $request{conditional};
	if ($action eq 'lost' || $action eq 'done')
	{
		open my $null, '>', '/dev/null' or die $!;
		$self->carry_out($null, \%request);
		$self->kill_victims if $action eq 'done';
		return close $client;
	}
	if ($action eq 'mute') { 1 while sysread($client, my $piece, 65536); return }
	$self->put($key, 'faster', $bucket) if $action eq 'taken' && $method eq 'PUT';
	return refuse($client, 412, 'PreconditionFailed') if $action eq 'taken' && $method eq 'PUT';
	sleep 1 if $action eq 'slow';
	return $self->carry_out($client, \%request);
}

sub carry_out
{
	my ($self, $client, $r) = @_;
	my $file = $self->object_file($r->{key}, $r->{bucket});

	return refuse($client, 404, 'NoSuchBucket', $r->{method}) if !$self->{buckets}{ $r->{bucket} };
	return $self->list($client, $r) if $r->{query} =~ /list-type=2/;
	if ($r->{method} eq 'PUT')
	{
		return refuse($client, 412, 'PreconditionFailed') if !$self->put($r->{key}, $r->{body}, $r->{bucket}, $r->{conditional});
		return answer($client, 200, '');
	}
	if ($r->{method} eq 'DELETE')
	{
		unlink $file;
		return answer($client, 204, '');
	}
	my $content = $self->get($r->{key}, $r->{bucket});
	return refuse($client, 404, 'NoSuchKey', $r->{method}) if !defined $content;
	my $size = length $content;
	if ($r->{method} eq 'HEAD')
	{
		syswrite($client, "HTTP/1.1 200 X\r\nContent-Length: $size\r\nConnection: close\r\nETag: \"x\"\r\n\r\n");
		return close $client;
	}
	my ($from, $to) = $r->{head} =~ /^range: *bytes=(\d*)-(\d*)/im;
	return answer($client, 200, $content) if !defined $from;
	($from, $to) = $from eq '' ? ($size > $to ? $size - $to : 0, $size - 1) : ($from, $to eq '' || $to >= $size ? $size - 1 : $to);
	return answer($client, 206, substr($content, $from, $to - $from + 1), "Content-Range: bytes $from-$to/$size\r\n");
}

sub list
{
	my ($self, $client, $r) = @_;
	my ($prefix) = $r->{query} =~ /(?:^|&)prefix=([^&]*)/;
	my ($after) = $r->{query} =~ /start-after=([^&]*)/;
	my $list = '';

	$_ = defined $_ ? s/%([0-9A-Fa-f]{2})/chr hex $1/egr : '' foreach ($prefix, $after);
	foreach my $key (grep { $_ gt $after } $self->keys_of($prefix, $r->{bucket}))
	{
		my $content = $self->get($key, $r->{bucket}) // next;
		my ($size, $tag) = (length $content, md5_hex($content));

		$list .= "<Contents><Key>$key</Key><LastModified>2024-01-01T00:00:00.000Z</LastModified><ETag>&quot;$tag&quot;</ETag><Size>$size</Size></Contents>";
	}
	return answer($client, 200, qq{<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>$list</ListBucketResult>});
}

1;
