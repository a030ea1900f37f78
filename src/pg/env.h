/*
 * env.h
 *	  The library half's environment inside a PostgreSQL process.
 */
#ifndef LANCE_PG_ENV_H
#define LANCE_PG_ENV_H

#include "base/arena.h"
#include "base/status.h"
#include "utils/palloc.h"

/*
 * A context and an arena for library calls, both living in parent. Memory counts for parent; when parent is reset or
 * deleted, also by an error, the arena's handles (files, sockets) are closed. Throws only when out of memory.
 */
typedef struct LanceLibrary
{
	LncContext ctx;
	LncArena *arena;
} LanceLibrary;

extern LanceLibrary *lance_library_create(MemoryContext parent);

/*
 * For work at the end of a transaction, where the server holds interrupts back: from now on the library's calls are
 * interrupted when ms milliseconds have passed, and by a cancel or termination at once.
 */
extern void lance_library_limit(LanceLibrary *library, int ms);

/* Free it ahead of its parent. */
extern void lance_library_destroy(LanceLibrary *library);

#endif
