/*
 * load.c
 *	  Program: HTTP/1.1 load from prepared requests over kept connections, and how long the answers took.
 *
 *	load PORT CLIENTS SECONDS STATUS once|again REQUESTS
 *
 * REQUESTS: a file of requests, each as its length in decimal, a newline and its bytes. CLIENTS connections to
 * 127.0.0.1 send one request at a time, picked at random (again), or each of the file once (once), which ends the run
 * earlier: client I of N sends number I, I + N, I + 2 N and so on, each after the answer to the one before. Every answer must have STATUS and a length; any other answer or a connection that ends is
 * printed to stderr with exit status 1. What is in the answers is the caller's to check.
 *
 * Printed: answers, seconds, and the least times in microseconds that 50 and 99 of 100 answers and all took at most.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Of an answer its head is kept, to be read; the body is counted. */
#define HEAD_BYTES 8192

typedef struct
{
	const char *bytes;
	size_t		length;
} Request;

typedef struct
{
	int			fd;
	const Request *request;
	size_t		next;			/* what to send once after this one */
	size_t		sent;
	int64_t		start;			/* when the request was given to the socket, in ns */
	char		head[HEAD_BYTES + 1];
	size_t		head_length;
	bool		in_body;
	bool		chunked;
	bool		idle;			/* nothing is left to send */
	size_t		left;			/* of the body; with chunks, of this chunk and its newline */
	char		line[32];		/* a chunk's size line */
	size_t		line_length;
	bool		last_chunk;
} Client;

static size_t client_count;
static Request *requests;
static size_t request_count;
static bool once;
static int	wanted_status;
static uint32_t *times;
static size_t time_count,
			time_space;
static uint64_t random_state = 88172645463325252u;

static void
fail(const char *what, const char *detail)
{
	fprintf(stderr, "load: %s%s%.400s\n", what, detail ? ": " : "", detail ? detail : "");
	exit(1);
}

static void *
need(void *memory)
{
	if (!memory)
		fail("out of memory", NULL);
	return memory;
}

static int64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* xorshift64 */
static uint64_t
random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void
read_requests(const char *name)
{
	FILE	   *file = fopen(name, "rb");
	size_t		length,
				space = 0;

	if (!file)
		fail(name, strerror(errno));
	while (fscanf(file, "%zu", &length) == 1)
	{
		char	   *bytes = need(malloc(length + 1));

		if (fgetc(file) != '\n' || fread(bytes, 1, length, file) != length)
			fail(name, "is cut short");
		if (request_count == space)
			requests = need(realloc(requests, (space = space ? 2 * space : 1024) * sizeof(Request)));
		requests[request_count].bytes = bytes;
		requests[request_count++].length = length;
	}
	fclose(file);
	if (request_count == 0)
		fail(name, "has no request");
}

static void
send_rest(Client *client)
{
	while (client->sent < client->request->length)
	{
		ssize_t		n = send(client->fd, client->request->bytes + client->sent, client->request->length - client->sent,
							 MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			fail("send", strerror(errno));
		client->sent += (size_t)n;
	}
}

static void
start_request(Client *client, int64_t now)
{
	if (once && client->next >= request_count)
	{
		client->idle = true;
		return;
	}
	client->request = &requests[once ? client->next : random_number() % request_count];
	client->next += client_count;
	client->sent = client->head_length = client->left = client->line_length = 0;
	client->in_body = client->chunked = client->last_chunk = false;
	client->start = now;
	send_rest(client);
}

static const char *
header(const char *head, const char *name)
{
	size_t		length = strlen(name);

	for (const char *line = strstr(head, "\r\n"); line && line[2] != '\r'; line = strstr(line + 2, "\r\n"))
	{
		if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':')
			return line + 3 + length + strspn(line + 3 + length, " ");
	}
	return NULL;
}

/* The head is complete: its status and what says how long the body is. */
static void
read_head(Client *client)
{
	const char *length = header(client->head, "content-length"),
			   *encoding = header(client->head, "transfer-encoding");

	if (strncmp(client->head, "HTTP/1.1 ", 9) != 0 || atoi(client->head + 9) != wanted_status)
		fail("an answer with another status", client->head);
	client->in_body = true;
	if (encoding && strncasecmp(encoding, "chunked", 7) == 0)
		client->chunked = true;
	else if (length)
		client->left = strtoull(length, NULL, 10);
	else if (wanted_status != 204)
		fail("an answer without a length", client->head);
}

/* Take bytes of an answer; returns how many belong to it. *complete: it ended there. */
static size_t
take(Client *client, const char *bytes, size_t length, bool *complete)
{
	size_t		used = 0;

	while (used < length && !client->in_body)
	{
		if (client->head_length == HEAD_BYTES)
			fail("an answer with a long head", NULL);
		client->head[client->head_length++] = bytes[used++];
		if (client->head_length >= 4 && memcmp(client->head + client->head_length - 4, "\r\n\r\n", 4) == 0)
		{
			client->head[client->head_length] = '\0';
			read_head(client);
		}
	}
	while (client->in_body && (client->left > 0 || client->chunked) && used < length)
	{
		size_t		n = length - used < client->left ? length - used : client->left;

		client->left -= n;
		used += n;
		if (client->chunked && client->left == 0 && client->last_chunk && n > 0)
		{
			client->chunked = false;
			break;
		}
		if (client->chunked && client->left == 0 && used < length)
		{
			if (client->line_length == sizeof(client->line) - 1)
				fail("a chunk without a size", NULL);
			client->line[client->line_length++] = bytes[used++];
			if (client->line[client->line_length - 1] == '\n')
			{
				client->line[client->line_length] = '\0';
				client->left = strtoull(client->line, NULL, 16) + 2;	/* the newline after it counts */
				client->last_chunk = client->left == 2;
				client->line_length = 0;
			}
		}
	}
	*complete = client->in_body && client->left == 0 && !client->chunked;
	return used;
}

static void
keep_time(int64_t ns)
{
	if (time_count == time_space)
		times = need(realloc(times, (time_space = time_space ? 2 * time_space : 65536) * sizeof(uint32_t)));
	times[time_count++] = (uint32_t)(ns / 1000);
}

static void
receive(Client *client)
{
	static char buffer[1 << 18];
	ssize_t		n;

	while ((n = recv(client->fd, buffer, sizeof(buffer), 0)) > 0)
	{
		bool		complete;

		if (client->idle || take(client, buffer, (size_t)n, &complete) != (size_t)n)
			fail("more than one answer", NULL);
		if (complete)
		{
			int64_t		now = now_ns();

			keep_time(now - client->start);
			start_request(client, now);
		}
		if ((size_t)n < sizeof(buffer))
			return;
	}
	if (n == 0)
		fail("the server closed a connection", client->head);
	if (errno != EAGAIN)
		fail("recv", strerror(errno));
}

static int
compare(const void *a, const void *b)
{
	uint32_t	x = *(const uint32_t *)a,
				y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int
main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int			poll = epoll_create1(0);
	Client	   *clients;
	int64_t		start,
				end,
				now;

	if (argc != 7)
		fail("load PORT CLIENTS SECONDS STATUS once|again REQUESTS", NULL);
	address.sin_port = htons((uint16_t)atoi(argv[1]));
	client_count = strtoul(argv[2], NULL, 10);
	wanted_status = atoi(argv[4]);
	once = strcmp(argv[5], "once") == 0;
	read_requests(argv[6]);
	clients = need(calloc(client_count + 1, sizeof(Client)));
	random_state ^= (uint64_t)now_ns();
	for (size_t i = 0; i < client_count; i++)
	{
		Client	   *client = &clients[i];
		struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = client};
		int			one = 1;

		client->next = i;
		client->fd = socket(AF_INET, SOCK_STREAM, 0);
		if (client->fd < 0 || connect(client->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
			fail("connect", strerror(errno));
		setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		fcntl(client->fd, F_SETFL, O_NONBLOCK);
		if (epoll_ctl(poll, EPOLL_CTL_ADD, client->fd, &event) < 0)
			fail("epoll_ctl", strerror(errno));
	}
	start = now_ns();
	end = start + (int64_t)(atof(argv[3]) * 1e9);
	for (size_t i = 0; i < client_count; i++)
		start_request(&clients[i], now_ns());
	while ((now = now_ns()) < end && !(once && time_count == request_count))
	{
		struct epoll_event events[64];
		int			n = epoll_wait(poll, events, 64, (int)((end - now) / 1000000) + 1);

		for (int i = 0; i < n; i++)
		{
			Client	   *client = events[i].data.ptr;

			if ((events[i].events & EPOLLOUT) && !client->idle)
				send_rest(client);
			if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
				receive(client);
		}
	}
	if (time_count == 0)
	{
		printf("0 %.6f 0 0 0\n", (double)(now - start) / 1e9);
		return 0;
	}
	qsort(times, time_count, sizeof(uint32_t), compare);
	printf("%zu %.6f %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", time_count, (double)(now - start) / 1e9,
		   times[(time_count - 1) / 2], times[(time_count - 1) * 99 / 100], times[time_count - 1]);
	return 0;
}
