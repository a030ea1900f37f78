/*
 * http_fake.h
 *	  An HTTP server on a thread that answers as a test tells it to, well or badly.
 */
#ifndef TEST_HTTP_FAKE_H
#define TEST_HTTP_FAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define FAKE_MAX_REQUESTS 64

/* One request as it came in. */
typedef struct FakeRequest
{
	char head[8192]; /* request line and headers */
	size_t body_size;
	char body[4096]; /* its beginning */
} FakeRequest;

/*
 * Answer request number n (from 0) on the socket fd. Returns false to close the connection. Called on a thread of the
 * server, one a connection; requests are numbered in the order they were read.
 */
typedef bool (*FakeHandler)(void *arg, int fd, int n, const FakeRequest *request);

typedef struct FakeServer
{
	int listener;
	int port;
	pthread_t thread;
	pthread_mutex_t lock;
	FakeHandler handler;
	void *arg;
	int count; /* requests read so far */
	int nconnections;
	pthread_t connections[FAKE_MAX_REQUESTS];
	int sockets[FAKE_MAX_REQUESTS];
	FakeRequest requests[FAKE_MAX_REQUESTS];
} FakeServer;

extern void fake_start(FakeServer *server, FakeHandler handler, void *arg);
extern void fake_stop(FakeServer *server);

/* A whole answer. headers are further lines, each ending in CRLF; NULL: none. */
extern bool fake_reply(int fd, const char *status, const char *headers, const char *body);

/* Bytes as they are. */
extern bool fake_send(int fd, const char *text);

/* Have the client see a reset instead of an orderly end. */
extern bool fake_reset(int fd);

#endif
