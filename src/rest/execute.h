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

/* Only authenticate. False, with the reply filled, when the caller is not let in. */
extern bool lance_rest_admit(LanceRestRequest *request, LanceRestReply *reply);

/* Answers everything with ServiceUnavailable: for a worker whose database is missing. */
extern void lance_rest_execute_nothing(LanceRestRequest *request, LanceRestReply *reply);
extern bool lance_rest_admit_nobody(LanceRestRequest *request, LanceRestReply *reply);

#endif
