/*
 * framing.h
 *	  Where a request ends, by its headers. A proxy in front must not be able to see other requests than we do.
 */
#ifndef LANCE_REST_FRAMING_H
#define LANCE_REST_FRAMING_H

struct MHD_Connection;

typedef struct LanceFraming
{
	bool too_long; /* a header is longer than is allowed */
	bool unclear;  /* the headers contradict each other, or can be read in more than one way */
	bool two_keys; /* a credential is given twice */
	uint64 length; /* declared length of the body; 0: none, or chunks */
} LanceFraming;

/* What the headers of a request say, once they are there. line: bytes of the request line, without its end. */
extern LanceFraming lance_framing_of(struct MHD_Connection *connection, const char *version, size_t line);

/* Overwrite the credentials in the library's memory, which would otherwise keep them after the connection. */
extern void lance_framing_wipe_keys(struct MHD_Connection *connection);

#endif
