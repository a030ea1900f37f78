/*
 * http_fake.c
 *	  An HTTP server on a thread, for tests.
 */
#include "http_fake.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct Connection
{
	FakeServer *server;
	int fd;
} Connection;

bool
fake_send(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left > 0)
	{
		ssize_t n = send(fd, text, left, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		text += n;
		left -= (size_t)n;
	}
	return true;
}

bool
fake_reply(int fd, const char *status, const char *headers, const char *body)
{
	char head[1024];

	snprintf(head, sizeof(head), "HTTP/1.1 %s\r\nContent-Length: %zu\r\n%s\r\n", status, strlen(body),
			 headers != NULL ? headers : "");
	return fake_send(fd, head) && fake_send(fd, body);
}

bool
fake_reset(int fd)
{
	struct linger linger = {.l_onoff = 1, .l_linger = 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	return false;
}

/* Read one request; false at the end of the connection. */
static bool
read_request(int fd, FakeRequest *request)
{
	size_t used = 0;
	char *end = NULL;
	char *length;
	size_t body = 0;
	char sink[4096];

	while (end == NULL)
	{
		/* One byte a time: nothing of what follows the head may be taken along. */
		if (used + 1 >= sizeof(request->head) || recv(fd, request->head + used, 1, 0) != 1)
			return false;
		request->head[++used] = '\0';
		end = strstr(request->head, "\r\n\r\n");
	}
	length = strcasestr(request->head, "\r\ncontent-length:");
	if (length != NULL)
		body = strtoull(strchr(length, ':') + 1, NULL, 10);
	request->body_size = body;
	used = 0;
	while (body > 0)
	{
		ssize_t n = recv(fd, sink, body < sizeof(sink) ? body : sizeof(sink), 0);

		if (n <= 0)
			return false;
		for (ssize_t i = 0; i < n && used + 1 < sizeof(request->body); i++)
			request->body[used++] = sink[i];
		body -= (size_t)n;
	}
	request->body[used] = '\0';
	return true;
}

static void *
serve_connection(void *arg)
{
	Connection *connection = arg;
	FakeServer *server = connection->server;
	int fd = connection->fd;
	FakeRequest request;
	bool more = true;

	free(connection);
	while (more && read_request(fd, &request))
	{
		int n;

		pthread_mutex_lock(&server->lock);
		n = server->count++;
		if (n < FAKE_MAX_REQUESTS)
			server->requests[n] = request;
		pthread_mutex_unlock(&server->lock);
		more = server->handler(server->arg, fd, n, &request);
	}
	pthread_mutex_lock(&server->lock);
	for (int i = 0; i < server->nconnections; i++)
	{
		if (server->sockets[i] == fd)
			server->sockets[i] = -1;
	}
	close(fd);
	pthread_mutex_unlock(&server->lock);
	return NULL;
}

static void *
accept_connections(void *arg)
{
	FakeServer *server = arg;

	for (;;)
	{
		int fd = accept(server->listener, NULL, NULL);
		Connection *connection;

		if (fd < 0)
			return NULL;
		connection = malloc(sizeof(*connection));
		if (connection == NULL || server->nconnections == FAKE_MAX_REQUESTS)
			abort();
		*connection = (Connection){.server = server, .fd = fd};
		pthread_mutex_lock(&server->lock);
		server->sockets[server->nconnections] = fd;
		if (pthread_create(&server->connections[server->nconnections], NULL, serve_connection, connection) != 0)
			abort();
		server->nconnections++;
		pthread_mutex_unlock(&server->lock);
	}
}

void
fake_start(FakeServer *server, FakeHandler handler, void *arg)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);

	memset(server, 0, sizeof(*server));
	server->handler = handler;
	server->arg = arg;
	pthread_mutex_init(&server->lock, NULL);
	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server->listener < 0 || bind(server->listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
		listen(server->listener, 64) != 0 ||
		getsockname(server->listener, (struct sockaddr *)&address, &size) != 0 ||
		pthread_create(&server->thread, NULL, accept_connections, server) != 0)
		abort();
	server->port = ntohs(address.sin_port);
}

void
fake_stop(FakeServer *server)
{
	shutdown(server->listener, SHUT_RDWR);
	pthread_join(server->thread, NULL);
	close(server->listener);
	pthread_mutex_lock(&server->lock);
	for (int i = 0; i < server->nconnections; i++)
	{
		if (server->sockets[i] >= 0)
			shutdown(server->sockets[i], SHUT_RDWR);
	}
	pthread_mutex_unlock(&server->lock);
	for (int i = 0; i < server->nconnections; i++)
		pthread_join(server->connections[i], NULL);
	pthread_mutex_destroy(&server->lock);
}
