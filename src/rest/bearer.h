/*
 * bearer.h
 *	  Callers that present a JSON web token in place of an API key.
 */
#ifndef LANCE_REST_BEARER_H
#define LANCE_REST_BEARER_H

/* Is the credential meant as a web token, and are those taken here? */
extern bool lance_bearer_is_token(const char *credential);

/*
 * The role that a token names. Throws Unauthenticated, with the reason, for a token that does not hold, for a role that does
 * not exist and for a superuser; ServiceUnavailable when lance_catalog.rest_jwt_key_file can't be read.
 */
extern Oid lance_bearer_role(const char *token);

/* The settings, or the file of keys, may have changed. */
extern void lance_bearer_reload(void);

#endif
