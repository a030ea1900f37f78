/*
 * http.h
 *	  The HTTP side of a worker: connections, request bodies, replies. Built on libmicrohttpd, driven from outside.
 *
 * The library calls back into http.c; nothing that happens in a callback may longjmp through it, so every callback traps
 * PostgreSQL's errors. FATAL is fine: it ends the process.
 */
#ifndef LANCE_REST_HTTP_H
#define LANCE_REST_HTTP_H

/*
 * Answers a request whose body is there; must not throw. The reply lives in the request's context. False: the answer comes
 * later, by lance_http_answer; the request stays until then.
 */
struct LanceRestRequest;
struct LanceRestReply;
typedef bool (*LanceHttpHandler)(struct LanceRestRequest *request, struct LanceRestReply *reply);

/*
 * Start serving. admit is asked before a large body is taken: false, with the reply filled, refuses it. Throws when the
 * library can't start.
 */
typedef bool (*LanceHttpAdmission)(struct LanceRestRequest *request, struct LanceRestReply *reply);
extern void lance_http_start(LanceHttpHandler handler, LanceHttpAdmission admit);

/* The answer of a request whose handler returned false. */
extern void lance_http_answer(struct LanceRestRequest *request, const struct LanceRestReply *reply);

/* The descriptor that becomes readable when connections want attention. */
extern pgsocket lance_http_descriptor(void);

/* Take one connection, if there is one, from a listening socket. */
extern void lance_http_accept(pgsocket listening);

/*
 * Do what can be done without waiting, one round of it. Returns after how many ms it must be called again even if
 * nothing happens: 0 when there is more to do now, -1 for no limit.
 */
extern long lance_http_run(void);

#endif
