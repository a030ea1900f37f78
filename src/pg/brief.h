/*
 * brief.h
 *	  Work that must not wait, because others are waiting for the process that does it.
 *
 * While it is on, whatever would wait for a store, or change something, throws instead, and the caller has the whole
 * work done by another process.
 */
#ifndef LANCE_PG_BRIEF_H
#define LANCE_PG_BRIEF_H

#include "utils/elog.h"

/* On or off; at the end of a transaction that failed it is still on. */
extern void lance_brief_set(bool on);

/* Called ahead of a wait or a change: throws while brief work is on. */
extern void lance_brief_check(void);

/* Does the caught error say that the work can't be done briefly: the one thrown here, a lock or time limit? */
extern bool lance_brief_gave_up(const ErrorData *error);

#endif
