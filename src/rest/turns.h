/*
 * turns.h
 *	  Writers of one table take turns, so that few of their commits lose a race.
 *
 * A client that appends asks which version is the newest, prepares the next one, and commits it; where another was faster it
 * begins again. While that happens to a table, the answer to the question is held back until the writer that had it before
 * has committed. Nobody waits for a writer that takes long, and commits are decided as ever: turns only make them likely to
 * succeed.
 */
#ifndef LANCE_REST_TURNS_H
#define LANCE_REST_TURNS_H

#include "rest/request.h"

/* What is remembered of a connection. Zero at first. */
typedef struct LanceWriter
{
	uint64 id;       /* 0: it never committed */
	uint32 table;    /* the one it committed to last, as a number */
	int64 wrote_at;  /* the end of that commit, or of the attempt, in microseconds of a steady clock */
	int64 listed_at; /* when it was last told the newest version; 0: it has committed since */
} LanceWriter;

/* Shared memory: how much, and its set-up (under AddinShmemInitLock). */
extern Size lance_turns_shmem_size(void);
extern void lance_turns_shmem_init(void);

/* The process is that worker, counted from 1, from here to its end. */
extern void lance_turns_join(int worker);

/* A request for versions has come. True: it is kept here until lance_turn_next() gives it back. May throw for want of memory. */
extern bool lance_turn_wait(LanceRestRequest *request);

/* A request whose wait is over, NULL: none now. */
extern LanceRestRequest *lance_turn_next(void);

/* After how many ms lance_turn_next() is to be asked again, even if nothing happens; -1: no limit. */
extern long lance_turn_timeout(void);

/* A commit of one version was answered so. */
extern void lance_turn_over(const LanceRestRequest *request, int status);

#endif
