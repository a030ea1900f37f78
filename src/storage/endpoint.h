/*
 * endpoint.h
 *	  The address of a service: scheme, authority and path of an http or https URL.
 */
#ifndef LNC_STORAGE_ENDPOINT_H
#define LNC_STORAGE_ENDPOINT_H

#include "base/arena.h"
#include "base/status.h"

/* A checked URL without user, query and fragment. Strings live in the arena given. */
typedef struct LncEndpoint
{
	bool plain; /* http */
	const char
		*authority;   /* "host[:port]", without the scheme's own port, which clients leave out of the Host header */
	const char *path; /* without slash at the end: "" or "/some/path" */
} LncEndpoint;

/* LNC_INVALID for what is no such URL, and for http unless plain_allowed. */
extern LncCode lnc_endpoint_parse(LncContext *ctx, LncArena *arena, const char *text, bool plain_allowed,
								  LncEndpoint *out) LNC_MUST_CHECK;

#endif
