/*
 * http.h
 *	  An HTTP client: several requests at once on one thread, interruptible, retried with backoff.
 *
 * All sockets hang in one epoll descriptor, so that the environment's wait hook sees every one of them. Nothing is
 * redirected. A client belongs to one process and one thread, and is made after fork.
 */
#ifndef LNC_STORAGE_HTTP_H
#define LNC_STORAGE_HTTP_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/status.h"

typedef struct LncHttp LncHttp;

/* Requests of one client that run at the same time. */
#define LNC_HTTP_PARALLEL 32

typedef struct LncHttpPolicy
{
	int max_retries;        /* attempts after the first */
	int connect_timeout_ms; /* name resolution, connection and TLS */
	int idle_timeout_ms;    /* an attempt that moves no byte for so long is given up */
} LncHttpPolicy;

/* What became of a request. */
typedef enum LncHttpOutcome
{
	LNC_HTTP_PENDING,  /* not done */
	LNC_HTTP_ANSWERED, /* status is that of the last attempt */
	LNC_HTTP_UNSENT,   /* never reached the server: name, connection, TLS */
	LNC_HTTP_LOST,     /* reset, timeout or a cut answer: the server may have acted on it */
	LNC_HTTP_REFUSED   /* given up for good, see code: LNC_LIMIT, LNC_CORRUPT, LNC_NO_MEMORY, LNC_IO (TLS, URL) */
} LncHttpOutcome;

typedef struct LncHttpRequest LncHttpRequest;

/* One request. The caller zeroes it and fills the first part; the rest is the client's. */
struct LncHttpRequest
{
	const char *method; /* GET, HEAD, PUT, POST, DELETE */
	const char *url;
	LncSlice body; /* borrowed; sent with PUT and POST */
	bool direct;   /* not by way of a proxy that the environment names */

	/*
	 * Called before each attempt; sets headers and nheaders ("Name: value", living in arena), which may depend on the
	 * time. NULL: headers stay as they are. An error ends the whole run.
	 */
	LncCode (*prepare)(LncContext *ctx, LncArena *arena, LncHttpRequest *request);
	void *prepare_arg;
	size_t nheaders;
	const char *const *headers;

	/* True when an answer that is no failure for HTTP is to be retried all the same. NULL: none is. */
	bool (*retry)(const LncHttpRequest *request);

	/*
	 * Where the body of a 2xx answer goes: into target, which it must not outgrow, or when that is NULL into a buffer of
	 * at most max_body bytes. Longer ones are refused (LNC_LIMIT, or LNC_CORRUPT for target).
	 */
	uint8_t *target;
	uint64_t target_size;
	uint64_t max_body;

	/* ---- result */
	LncHttpOutcome outcome;
	LncCode code;      /* of LNC_HTTP_REFUSED */
	int status;        /* of the last attempt; 0: none came */
	int attempts;      /* made so far */
	int lost;          /* attempts that may have reached the server, without an answer */
	int doubtful;      /* attempts answered with 500, 502 or 504: the server may have acted all the same */
	LncSlice answer;   /* body: of a 2xx answer without target, or the first 64 KiB of another */
	uint64_t received; /* bytes of a 2xx body, in target or answer */
	bool has_length;   /* Content-Length */
	uint64_t length;
	bool has_range; /* Content-Range: bytes first-last/total */
	uint64_t range_first, range_last, range_total;
	char e_tag[128];
	char region[64];   /* x-amz-bucket-region */
	char failure[256]; /* what went wrong on the way, for a DETAIL; no secrets in it */

	/* ---- private */
	struct LncHttpTransfer *transfer; /* while an attempt runs */
	int64_t due_ms;                   /* start of the next attempt */
	int64_t retry_after_ms;
	LncBuffer buffer;
};

typedef struct LncHttpStats
{
	uint64_t attempts;
	uint64_t retries;
} LncHttpStats;

/* Make a client that keeps its connections until the arena closes it. */
extern LncCode lnc_http_create(LncContext *ctx, LncArena *arena, LncHttp **out) LNC_MUST_CHECK;

/*
 * Run the requests, at most LNC_HTTP_PARALLEL at a time, until each has its outcome. Answers 408, 429, 500, 502, 503, 504
 * and failures of the transport are retried with exponential backoff and jitter; Retry-After is honored up to
 * ten seconds. arena holds bodies and headers. LNC_CANCELLED within a fifth of a second after an interrupt.
 * stats is added to.
 */
extern LncCode lnc_http_run(LncContext *ctx, LncHttp *http, LncArena *arena, const LncHttpPolicy *policy, size_t n,
							LncHttpRequest *requests, LncHttpStats *stats) LNC_MUST_CHECK;

/* One request on its way, while its caller does other work. */
typedef struct LncHttpJob LncHttpJob;

/*
 * Send a request and return at once. It is tried once only, goes on whenever the client is used, and is given up by the arena's
 * cleanup; the request, and what it points to, must last as long. *out is NULL when the client has its hands full: the
 * request was not sent.
 */
extern LncCode lnc_http_begin(LncContext *ctx, LncHttp *http, LncArena *arena, const LncHttpPolicy *policy,
							  LncHttpRequest *request, LncHttpJob **out) LNC_MUST_CHECK;

/* Wait until the job's request has its outcome. */
extern LncCode lnc_http_finish(LncContext *ctx, LncHttpJob *job) LNC_MUST_CHECK;

/* False once the client has failed for good, for want of what the system gives: its stores get errors from then on. */
extern bool lnc_http_usable(const LncHttp *http);

/* Let jobs move on without waiting for anything. Cheap when called often. */
extern LncCode lnc_http_move_on(LncContext *ctx, LncHttp *http) LNC_MUST_CHECK;

#endif
