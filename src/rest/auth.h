/*
 * auth.h
 *	  Who sends a request, and may that role run the operation.
 */
#ifndef LANCE_REST_AUTH_H
#define LANCE_REST_AUTH_H

#include "rest/request.h"

/* Throws ServiceUnavailable unless the extension is installed in this database. Needs a transaction. */
extern void lance_rest_check_extension(void);

/*
 * The role that the request's key stands for, or lance_catalog.rest_anonymous_role when it carries none. Throws
 * Unauthenticated otherwise. Messages never quote the key.
 */
extern Oid lance_rest_authenticate(const LanceRestRequest *request);

/*
 * Throws PermissionDenied unless role may execute the SQL function of the route, which is how administrators decide who
 * may call an operation at all. What the role may do with which object is the operation's own check.
 */
extern void lance_rest_authorize(const LanceRoute *route, Oid role);

#endif
