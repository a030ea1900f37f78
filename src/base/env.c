/*
 * env.c
 *	  The default environment, for programs that are not a PostgreSQL backend.
 */
#include "base/env.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>

static void *
default_alloc(void *state, size_t size)
{
	(void)state;
	return malloc(size);
}

static void
default_release(void *state, void *ptr)
{
	(void)state;
	free(ptr);
}

static bool
default_interrupted(void *state)
{
	(void)state;
	return false;
}

static int
default_wait(void *state, int fd, int timeout_ms)
{
	struct pollfd item = {.fd = fd, .events = POLLIN};

	(void)state;
	return poll(&item, fd < 0 ? 0 : 1, timeout_ms) > 0;
}

const LncEnv *
lnc_env_default(void)
{
	static const LncEnv env = {
		.alloc = default_alloc,
		.release = default_release,
		.interrupted = default_interrupted,
		.wait = default_wait,
	};

	return &env;
}

int64_t
lnc_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
