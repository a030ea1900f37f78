/*
 * handshake.h
 *	  Connections whose TLS handshake is under way.
 *
 * Asked again and again, the HTTP library tries each handshake that waits for its client in every round, and so never sleeps.
 * Therefore such connections are suspended, and resumed when something has come for them.
 */
#ifndef LANCE_REST_HANDSHAKE_H
#define LANCE_REST_HANDSHAKE_H

struct MHD_Connection;

typedef struct LanceHandshake LanceHandshake;

/* Once a process that speaks TLS, before the first connection. FATAL when it can't be done. */
extern void lance_handshake_start(void);

/* The descriptor that becomes readable when something has come for a handshake; PGINVALID_SOCKET without TLS. */
extern pgsocket lance_handshake_descriptor(void);

/* A connection has come. NULL without TLS, or when there is no memory: it is then left to the library. */
extern LanceHandshake *lance_handshake_open(struct MHD_Connection *connection, pgsocket fd);

/* The connection is gone. Takes NULL. */
extern void lance_handshake_close(LanceHandshake *handshake);

/* In each turn of the loop: before the HTTP library runs, and after it. */
extern void lance_handshakes_resume(void);
extern void lance_handshakes_suspend(void);

#endif
