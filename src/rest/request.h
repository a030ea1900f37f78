/*
 * request.h
 *	  One HTTP request between the HTTP library, the routes, the codec and the execution; and its reply.
 */
#ifndef LANCE_REST_REQUEST_H
#define LANCE_REST_REQUEST_H

#include "lib/stringinfo.h"
#include "ops/types.h"
#include "pg/errcodes.h"
#include "rest/routes.h"

/* One name of the query string with its value, both decoded. */
typedef struct LanceQueryItem
{
	char *name;
	char *value;
} LanceQueryItem;

/*
 * The parsed target lives beside the raw one: routes are matched on the raw path, so that an escaped slash never
 * splits a name, and decoding (which can fail) waits until errors can be answered.
 */
typedef struct LanceRestRequest
{
	MemoryContext context; /* holds this struct and everything it points to */
	const char *method;
	char *path;  /* raw, without query; names the request in error bodies */
	char *query; /* raw, behind the '?'; NULL: none */

	/* set by lance_rest_match */
	const LanceRoute *route; /* NULL: unknown path or method */
	const char *allow;       /* the path is known, the method is not: the methods it has */
	char *raw_id;            /* the path segment {id}; NULL: the route has none */

	/* set by lance_rest_parse */
	int nquery;
	LanceQueryItem *query_items;
	char *delimiter; /* never NULL, never empty */
	LanceId id;      /* given: the route names an object */

	/* what the client presented; NULL: nothing. Never logged. */
	char *api_key;
	uint32 caller; /* the key, else the address, as a number: equal ones share executors as one */

	struct LanceWriter
		*writer; /* what is known of the connection as a writer (turns.h); borrowed; NULL: nothing can be */

	StringInfoData body; /* as received; data NULL when it was discarded or empty */
} LanceRestRequest;

/* What is sent back. body is JSON in the request's context. */
typedef struct LanceRestReply
{
	int status;
	char *body;
	size_t size;
	const char *allow; /* Allow header; NULL: none */
	bool retry_after;  /* tell the client to come back */
} LanceRestReply;

/*
 * Take a request target apart: path, query. Accepts the absolute form; drops a fragment. Allocates in the request's
 * context; throws only when out of memory.
 */
extern void lance_rest_set_target(LanceRestRequest *request, const char *target);

/*
 * Decode the query string, the delimiter and the id. Throws InvalidInput for broken escapes, NUL, invalid UTF-8. Texts
 * are in the server's encoding afterwards.
 */
extern void lance_rest_parse(LanceRestRequest *request);

/* The value of a query parameter, or NULL; the last one when it is given several times. */
extern const char *lance_rest_query(const LanceRestRequest *request, const char *name);

/* Overwrite what the client presented: the request is over, or refused. */
extern void lance_rest_forget_key(LanceRestRequest *request);

/* UTF-8 text of length bytes in the server's encoding, palloc'd. Throws InvalidInput naming what. */
extern char *lance_rest_text_in(const char *utf8, size_t length, const char *what);

/* Fill the reply with an error body. detail may be NULL; texts are in the server's encoding. */
extern void lance_rest_reply_error(const LanceRestRequest *request, LanceRestReply *reply, int status,
								   LanceErrorCode code, const char *message, const char *detail);

#endif
