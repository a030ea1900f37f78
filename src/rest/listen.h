/*
 * listen.h
 *	  The listening sockets of the REST server.
 *
 * The postmaster opens them once, while it preloads the library, and all workers inherit them: so that whichever worker
 * is idle takes the next connection, and connections made while workers restart wait instead of being refused. (One
 * socket per worker with SO_REUSEPORT would leave connections waiting for a busy worker while others idle, and
 * would let two servers of one operating system user share a port by mistake.)
 */
#ifndef LANCE_REST_LISTEN_H
#define LANCE_REST_LISTEN_H

#define LANCE_MAX_LISTEN 16

/*
 * Open the sockets of lance_catalog.rest_listen_addresses and rest_port. Warns about each that can't be opened. False when
 * there is none: that must not keep the database from starting.
 */
extern bool lance_rest_listen(void);

/* The sockets; returns their number. */
extern int lance_rest_listen_sockets(const pgsocket **sockets);

#endif
