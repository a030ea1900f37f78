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

static void *
timed_alloc(void *state, size_t size)
{
	const LncTimedEnv *timed = state;

	return timed->outer->alloc(timed->outer->state, size);
}

static void
timed_release(void *state, void *ptr)
{
	const LncTimedEnv *timed = state;

	timed->outer->release(timed->outer->state, ptr);
}

static bool
timed_interrupted(void *state)
{
	const LncTimedEnv *timed = state;

	return timed->outer->interrupted(timed->outer->state) || lnc_now_ms() >= timed->ends_at_ms;
}

static int
timed_wait(void *state, int fd, int timeout_ms)
{
	const LncTimedEnv *timed = state;
	int64_t left = timed->ends_at_ms - lnc_now_ms();

	if (left < 0)
		left = 0;
	if (timeout_ms < 0 || timeout_ms > left)
		timeout_ms = (int)(left < INT32_MAX ? left : INT32_MAX);
	return timed->outer->wait(timed->outer->state, fd, timeout_ms);
}

static bool
timed_keep_file(void *state)
{
	const LncTimedEnv *timed = state;

	return timed->outer->keep_file(timed->outer->state);
}

static void
timed_file_closed(void *state)
{
	const LncTimedEnv *timed = state;

	timed->outer->file_closed(timed->outer->state);
}

void
lnc_env_limit(LncTimedEnv *timed, const LncEnv *outer, int64_t ends_at_ms)
{
	*timed = (LncTimedEnv){
		.env =
			{
				.alloc = timed_alloc,
				.release = timed_release,
				.interrupted = timed_interrupted,
				.wait = timed_wait,
				.keep_file = outer->keep_file != NULL ? timed_keep_file : NULL,
				.file_closed = outer->keep_file != NULL ? timed_file_closed : NULL,
				.unsynced = outer->unsynced,
				.state = timed,
			},
		.outer = outer,
		.ends_at_ms = ends_at_ms,
	};
}

int64_t
lnc_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
