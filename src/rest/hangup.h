/*
 * hangup.h
 *	  Clients that have closed their side of the connection.
 *
 * The HTTP library asks for edges of readability, and takes a read that fills less than its buffer for the last one. An end of the
 * stream that came together with the last bytes is part of their edge: it goes unnoticed, and the connection stays until it
 * has been idle for too long. So the ends are watched for here, and the library is made to look again.
 */
#ifndef LANCE_REST_HANGUP_H
#define LANCE_REST_HANGUP_H

/* Once a process, before the first connection. FATAL when it can't be done. */
extern void lance_hangup_start(void);

/* The descriptor that becomes readable when clients have closed their side. */
extern pgsocket lance_hangup_descriptor(void);

/* Watch a connection, and no more; the latter before it is closed. */
extern void lance_hangup_watch(pgsocket fd);
extern void lance_hangup_forget(pgsocket fd);

/* In each turn of the loop, after the HTTP library has read what there is. */
extern void lance_hangup_pass_on(void);

#endif
