/*
 * env.h
 *	  The hooks through which the library half reaches its surroundings: memory, interrupts, waiting, time.
 *
 * In the server they are memory contexts, query cancel and latches (pg/env.c); elsewhere malloc and poll.
 */
#ifndef LNC_BASE_ENV_H
#define LNC_BASE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct LncEnv
{
	/* Returns NULL when memory is short; never throws. */
	void *(*alloc)(void *state, size_t size);
	void (*release)(void *state, void *ptr);

	/* True once the caller wants the work to stop. Cheap: it is polled in loops. */
	bool (*interrupted)(void *state);

	/*
	 * Sleep until fd is readable (fd -1: just sleep), timeout_ms have passed (-1: no limit), or an interrupt
	 * arrives. Returns 1 when fd is ready, 0 on timeout or interrupt. May return early.
	 */
	int (*wait)(void *state, int fd, int timeout_ms);

	/*
	 * Ask whether one more file may stay open for long, and tell that it was closed. NULL: as many as the system gives.
	 * Neither throws.
	 */
	bool (*keep_file)(void *state);
	void (*file_closed)(void *state);

	/* Local files need not survive a crash of the machine. */
	bool unsynced;

	void *state;
} LncEnv;

/* An environment in which work is interrupted when a time has come. */
typedef struct LncTimedEnv
{
	LncEnv env; /* to be used instead of outer */
	const LncEnv *outer;
	int64_t ends_at_ms; /* by lnc_now_ms() */
} LncTimedEnv;

/* Make one in place, over outer, both of which must outlive the work. */
extern void lnc_env_limit(LncTimedEnv *timed, const LncEnv *outer, int64_t ends_at_ms);

/* malloc, poll, never interrupted: for unit tests, fuzzers and the command-line inspector. */
extern const LncEnv *lnc_env_default(void);

/* Milliseconds of a clock that never goes back. */
extern int64_t lnc_now_ms(void);

#endif
