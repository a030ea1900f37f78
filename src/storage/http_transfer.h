/*
 * http_transfer.h
 *	  One attempt of one request on a curl handle; private to the HTTP client.
 */
#ifndef LNC_STORAGE_HTTP_TRANSFER_H
#define LNC_STORAGE_HTTP_TRANSFER_H

#include <curl/curl.h>

#include "storage/http.h"

typedef struct LncHttpTransfer
{
	CURL *easy; /* owned; kept for the next attempt, of any request */
	struct curl_slist *headers;
	LncHttpRequest *request;  /* NULL: free */
	struct LncHttpWork *work; /* that the request belongs to */
	LncContext *ctx;          /* of the work */
	size_t sent;              /* bytes of the body given to curl */
	int status;               /* of the status line at hand */
	int64_t progress_ms;      /* when the last byte moved */
	uint64_t moved;           /* bytes moved so far, both ways */
	char failure[CURL_ERROR_SIZE];
} LncHttpTransfer;

/* Set the handle up for the next attempt of request. LNC_NO_MEMORY, or LNC_INVALID for a URL that curl refuses. */
extern LncCode lnc_http_transfer_setup(LncContext *ctx, LncHttpTransfer *transfer, LncHttpRequest *request,
									   const LncHttpPolicy *policy) LNC_MUST_CHECK;

/* Record how the attempt ended. */
extern void lnc_http_transfer_finish(LncHttpTransfer *transfer, CURLcode result);

/* Detach the handle from its request. */
extern void lnc_http_transfer_release(LncHttpTransfer *transfer);

#endif
