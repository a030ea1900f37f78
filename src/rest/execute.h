/*
 * execute.h
 *	  Running a request: one transaction, as the caller's role.
 */
#ifndef LANCE_REST_EXECUTE_H
#define LANCE_REST_EXECUTE_H

#include "rest/request.h"

/*
 * Authenticate, decode, run, encode, commit. Always fills the reply and never throws; a transaction is neither open before
 * nor after. The reply is complete before the commit: nothing that can fail follows it.
 */
extern void lance_rest_execute(LanceRestRequest *request, LanceRestReply *reply);

/*
 * The same for a process that others wait for. False, with nothing done and no reply, when it would have to wait: for a store, a
 * lock, the disk, or just too long.
 */
extern bool lance_rest_execute_briefly(LanceRestRequest *request, LanceRestReply *reply);

/* Only authenticate, briefly. False, with the reply filled, when the caller is not let in. */
extern bool lance_rest_admit(LanceRestRequest *request, LanceRestReply *reply);

#endif
