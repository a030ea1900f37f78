/*
 * deadline.h
 *	  How long a client may take to send a request.
 *
 * The HTTP library closes connections on which nothing happens. A client that sends a byte now and then would keep its
 * place for ever, so the time that a whole request takes to arrive is limited too.
 */
#ifndef LANCE_REST_DEADLINE_H
#define LANCE_REST_DEADLINE_H

#include "datatype/timestamp.h"

/* What is remembered of a connection; made by lance_deadline_open, freed by lance_deadline_close. */
typedef struct LanceDeadline LanceDeadline;

/* A connection has come: its first request is due. NULL when there is no memory; it has no deadline then. */
extern LanceDeadline *lance_deadline_open(pgsocket fd);

/* The connection is gone. Takes NULL. */
extern void lance_deadline_close(LanceDeadline *deadline);

/* The headers are there, or the request is over: what comes next has its own time. Takes NULL. */
extern void lance_deadline_renew(LanceDeadline *deadline);

/* The request is there in full; from now on the time is ours, until renewed. Takes NULL. */
extern void lance_deadline_pause(LanceDeadline *deadline);

/* The worker was busy with another request since begun: that time is not the clients'. */
extern void lance_deadline_extend(TimestampTz begun);

/*
 * Shut the sockets whose time is over. To be called whenever something happened: a connection without any traffic is
 * the library's to close.
 */
extern void lance_deadline_enforce(void);

#endif
