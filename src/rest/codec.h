/*
 * codec.h
 *	  Request structs out of path, query and JSON; JSON out of response structs. Both follow the tables of fields.h.
 */
#ifndef LANCE_REST_CODEC_H
#define LANCE_REST_CODEC_H

#include "pg/env.h"
#include "rest/request.h"

/*
 * The request struct of the request's route, palloc'd in the current context, filled from the parsed target and the
 * body. Members not given stay zero; null is not given; unknown names are ignored. Throws InvalidInput that names
 * the member. Whether what is required is there is for the operation to say.
 */
extern void *lance_rest_decode(const LanceRestRequest *request, LanceLibrary *library);

/*
 * The response struct as a JSON object, in the library's arena. Unset maps are null, other unset members are left
 * out, lists are never null. message NULL: the empty object.
 */
extern void lance_rest_encode(const LanceMessage *message, const void *response, LanceLibrary *library,
							  LanceRestReply *reply);

#endif
