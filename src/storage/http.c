/*
 * http.c
 *	  The HTTP client's loop: curl's multi-socket interface under one epoll descriptor.
 */
#include "storage/http.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"
#include "storage/http_transfer.h"

/* The longest sleep between two polls for an interrupt. */
#define LONGEST_WAIT_MS 200

#define FIRST_BACKOFF_MS 200
#define LONGEST_BACKOFF_MS 10000

/* Transfers that jobs leave free, for what is waited for. */
#define RESERVED_TRANSFERS 8

#define LONGEST_BUFFER ((uint64_t)1 << 40)

struct LncHttp
{
	CURLM *multi;
	int epoll;
	int64_t timer_ms; /* when curl wants to be called; -1: not */
	uint64_t random;  /* state of the jitter */
	LncHttpTransfer transfers[LNC_HTTP_PARALLEL];
	int64_t moved_on_ms; /* when jobs last moved on without being waited for */
	bool broken;         /* a socket could not be watched */
};

/* Requests that run together: one call of lnc_http_run, or a job. */
typedef struct LncHttpWork
{
	LncContext *ctx;
	LncHttp *http;
	LncArena *arena;
	const LncHttpPolicy *policy;
	size_t n;
	LncHttpRequest *requests;
	LncHttpStats *stats;
	size_t active; /* attempts in progress */
	size_t open;   /* requests without outcome */
} LncHttpWork;

/*
 * curl may start a thread to resolve a name, and threads inherit the mask: no signal of the host program may be
 * delivered there. A SIGPIPE raised by the TLS library meanwhile is taken away again.
 */
typedef struct SignalGuard
{
	sigset_t before;
	bool had_pipe;
} SignalGuard;

static void
block_signals(SignalGuard *guard)
{
	sigset_t all;
	sigset_t pending;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	sigemptyset(&pending);
	sigpending(&pending);
	guard->had_pipe = sigismember(&pending, SIGPIPE) == 1;
	pthread_sigmask(SIG_BLOCK, &all, &guard->before);
}

static void
unblock_signals(const SignalGuard *guard)
{
	static const struct timespec now = {0};
	sigset_t pending;
	sigset_t pipe;

	sigemptyset(&pending);
	sigpending(&pending);
	if (!guard->had_pipe && sigismember(&pending, SIGPIPE) == 1)
	{
		sigemptyset(&pipe);
		sigaddset(&pipe, SIGPIPE);
		while (sigtimedwait(&pipe, NULL, &now) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}

/* curl tells which sockets it waits for. */
static int
on_socket(CURL *easy, curl_socket_t socket, int what, void *arg, void *known)
{
	LncHttp *http = arg;
	struct epoll_event event = {.data.fd = socket};

	(void)easy;
	if (what == CURL_POLL_REMOVE)
	{
		/* The socket may be closed already, and is then gone from the set by itself. */
		(void)epoll_ctl(http->epoll, EPOLL_CTL_DEL, socket, NULL);
		curl_multi_assign(http->multi, socket, NULL);
		return 0;
	}
	event.events = (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) | (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
	if (epoll_ctl(http->epoll, known != NULL ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event) != 0)
	{
		/* What curl and the kernel think may differ after a socket was closed and its number used again. */
		int other = errno == ENOENT ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;

		if (epoll_ctl(http->epoll, other, socket, &event) != 0)
		{
			http->broken = true;
			return -1;
		}
	}
	curl_multi_assign(http->multi, socket, http);
	return 0;
}

static int
on_timer(CURLM *multi, long timeout_ms, void *arg)
{
	LncHttp *http = arg;

	(void)multi;
	http->timer_ms = timeout_ms < 0 ? -1 : lnc_now_ms() + timeout_ms;
	return 0;
}

static void
destroy(void *arg)
{
	LncHttp *http = arg;
	SignalGuard guard;

	block_signals(&guard);
	for (size_t i = 0; i < LNC_HTTP_PARALLEL; i++)
	{
		if (http->transfers[i].easy != NULL)
		{
			/* A transfer that still hangs in the set was left by an error that jumped over the loop's end. */
			if (http->multi != NULL && http->transfers[i].request != NULL)
				curl_multi_remove_handle(http->multi, http->transfers[i].easy);
			curl_easy_cleanup(http->transfers[i].easy);
		}
		curl_slist_free_all(http->transfers[i].headers);
	}
	if (http->multi != NULL)
		curl_multi_cleanup(http->multi);
	if (http->epoll >= 0)
		close(http->epoll);
	curl_global_cleanup();
	unblock_signals(&guard);
}

/* The parts of a client whose destroy is on the cleanup list. */
static LncCode
create_handles(LncContext *ctx, LncHttp *http)
{
	http->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (http->epoll < 0)
		return lnc_fail(ctx, LNC_IO, "could not create an epoll descriptor: %s", strerror(errno));
	http->multi = curl_multi_init();
	if (http->multi == NULL || curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, on_socket) != CURLM_OK ||
		curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http) != CURLM_OK ||
		curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, on_timer) != CURLM_OK ||
		curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http) != CURLM_OK ||
		curl_multi_setopt(http->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)LNC_HTTP_PARALLEL) != CURLM_OK ||
		curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, (long)LNC_HTTP_PARALLEL) != CURLM_OK)
		return lnc_fail(ctx, LNC_NO_MEMORY, "could not create an HTTP client");
	return LNC_OK;
}

LncCode
lnc_http_create(LncContext *ctx, LncArena *arena, LncHttp **out)
{
	LncHttp *http;
	LncCode code;

	LNC_TRY(LNC_NEW(ctx, arena, &http, 1));
	http->epoll = -1;
	http->timer_ms = -1;
	http->random = (uint64_t)(uintptr_t)http ^ ((uint64_t)getpid() << 32) ^ (uint64_t)lnc_now_ms();
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return lnc_fail(ctx, LNC_NO_MEMORY, "could not start the HTTP library");
	code = lnc_arena_on_cleanup(ctx, arena, destroy, http);
	if (code != LNC_OK)
	{
		destroy(http);
		return code;
	}
	LNC_TRY(create_handles(ctx, http));
	*out = http;
	return LNC_OK;
}

/* xorshift64*: good enough to spread retries. */
static uint64_t
next_random(LncHttp *http)
{
	uint64_t x = http->random != 0 ? http->random : 1;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	http->random = x;
	return x * UINT64_C(0x2545F4914F6CDD1D);
}

/* Half to all of an exponentially growing time, or what the server asked for if that is longer. */
static int64_t
backoff_ms(LncHttp *http, const LncHttpRequest *request)
{
	int64_t full = LONGEST_BACKOFF_MS;
	int64_t wait;

	if (request->attempts < 6)
		full = (int64_t)FIRST_BACKOFF_MS << (request->attempts - 1);
	wait = full / 2 + (int64_t)(next_random(http) % (uint64_t)(full / 2 + 1));
	return wait > request->retry_after_ms ? wait : request->retry_after_ms;
}

static bool
is_retryable(const LncHttpRequest *request)
{
	switch (request->outcome)
	{
		case LNC_HTTP_UNSENT:
		case LNC_HTTP_LOST:
			return true;
		case LNC_HTTP_ANSWERED:
			return request->status == 408 || request->status == 429 || request->status == 500 ||
				   request->status == 502 || request->status == 503 || request->status == 504 ||
				   (request->retry != NULL && request->retry(request));
		default:
			return false;
	}
}

/* Start the next attempt of request on a free transfer. */
static LncCode
start_attempt(LncHttpWork *work, LncHttpRequest *request, LncHttpTransfer *transfer)
{
	CURLMcode result;
	LncCode code;
	SignalGuard guard;

	if (request->prepare != NULL)
		LNC_TRY(request->prepare(work->ctx, work->arena, request));
	if (transfer->easy == NULL)
		transfer->easy = curl_easy_init();
	if (transfer->easy == NULL)
		return lnc_fail(work->ctx, LNC_NO_MEMORY, "could not create an HTTP client");
	code = lnc_http_transfer_setup(work->ctx, transfer, request, work->policy);
	if (code == LNC_OK)
	{
		block_signals(&guard);
		result = curl_multi_add_handle(work->http->multi, transfer->easy);
		unblock_signals(&guard);
		if (result != CURLM_OK)
			code = lnc_fail(work->ctx, LNC_IO, "HTTP client failed: %s", curl_multi_strerror(result));
	}
	if (code != LNC_OK)
	{
		lnc_http_transfer_release(transfer);
		return code;
	}
	request->transfer = transfer;
	transfer->work = work;
	work->active++;
	work->stats->attempts++;
	if (request->attempts > 0)
		work->stats->retries++;
	return LNC_OK;
}

/* Take a transfer out of the set and free it for the next. */
static void
stop_attempt(LncHttpTransfer *transfer)
{
	LncHttpWork *work = transfer->work;
	SignalGuard guard;

	block_signals(&guard);
	curl_multi_remove_handle(work->http->multi, transfer->easy);
	unblock_signals(&guard);
	lnc_http_transfer_release(transfer);
	work->active--;
}

/* The attempt of transfer ended; decide whether there is another one. */
static void
end_attempt(LncHttpTransfer *transfer, CURLcode result)
{
	LncHttpWork *work = transfer->work;
	LncHttpRequest *request = transfer->request;

	lnc_http_transfer_finish(transfer, result);
	stop_attempt(transfer);
	if (is_retryable(request) && request->attempts <= work->policy->max_retries)
	{
		request->outcome = LNC_HTTP_PENDING;
		request->due_ms = lnc_now_ms() + backoff_ms(work->http, request);
	}
	else
		work->open--;
}

/* Start what is due on the transfers that are free. *next_ms is when the next one is due (-1: none waits). */
static LncCode
start_due(LncHttpWork *work, int64_t *next_ms)
{
	int64_t now = lnc_now_ms();
	size_t t = 0;

	*next_ms = -1;
	if (work->active == LNC_HTTP_PARALLEL || work->active == work->open)
		return LNC_OK;
	for (size_t i = 0; i < work->n; i++)
	{
		LncHttpRequest *request = &work->requests[i];

		if (request->outcome != LNC_HTTP_PENDING || request->transfer != NULL)
			continue;
		if (request->due_ms > now)
		{
			if (*next_ms < 0 || request->due_ms < *next_ms)
				*next_ms = request->due_ms;
			continue;
		}
		while (t < LNC_HTTP_PARALLEL && work->http->transfers[t].request != NULL)
			t++;
		if (t == LNC_HTTP_PARALLEL)
			break;
		LNC_TRY(start_attempt(work, request, &work->http->transfers[t]));
	}
	return LNC_OK;
}

/* Give up attempts that have moved no byte for too long. Returns when the next one could be (-1: none runs). */
static int64_t
stop_idle(LncHttp *http)
{
	int64_t now = lnc_now_ms();
	int64_t next = -1;

	for (size_t i = 0; i < LNC_HTTP_PARALLEL; i++)
	{
		LncHttpTransfer *transfer = &http->transfers[i];
		int64_t due;
		int idle_ms;

		if (transfer->request == NULL)
			continue;
		idle_ms = transfer->work->policy->idle_timeout_ms;
		due = transfer->progress_ms + idle_ms;
		if (due <= now)
		{
			snprintf(transfer->failure, sizeof(transfer->failure), "No data was moved for %d ms.", idle_ms);
			end_attempt(transfer, CURLE_OPERATION_TIMEDOUT);
		}
		else if (next < 0 || due < next)
			next = due;
	}
	return next;
}

static int64_t
earlier(int64_t a, int64_t b)
{
	if (a < 0)
		return b;
	if (b < 0)
		return a;
	return a < b ? a : b;
}

/* Wait until a socket is ready, curl's timer runs out, wake_ms is reached or an interrupt is near; then let curl work. */
static LncCode
wait_and_work(LncContext *ctx, LncHttp *http, int64_t wake_ms)
{
	const LncEnv *env = ctx->env;
	struct epoll_event events[2 * LNC_HTTP_PARALLEL];
	int64_t now = lnc_now_ms();
	int64_t wake = earlier(earlier(wake_ms, http->timer_ms), now + LONGEST_WAIT_MS);
	CURLMcode result = CURLM_OK;
	SignalGuard guard;
	int running;
	int n;

	if (wake > now)
		env->wait(env->state, http->epoll, (int)(wake - now));
	n = epoll_wait(http->epoll, events, (int)(sizeof(events) / sizeof(events[0])), 0);
	if (n < 0 && errno != EINTR)
		return lnc_fail(ctx, LNC_IO, "could not wait for sockets: %s", strerror(errno));
	block_signals(&guard);
	for (int i = 0; i < n && result == CURLM_OK; i++)
	{
		int what = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
				   (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
				   (events[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);

		result = curl_multi_socket_action(http->multi, events[i].data.fd, what, &running);
	}
	if (result == CURLM_OK && http->timer_ms >= 0 && http->timer_ms <= lnc_now_ms())
	{
		http->timer_ms = -1;
		result = curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	}
	unblock_signals(&guard);
	if (result != CURLM_OK || http->broken)
		return lnc_fail(ctx, LNC_IO, "HTTP client failed: %s", curl_multi_strerror(result));
	return LNC_OK;
}

static void
collect_finished(LncHttp *http)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(http->multi, &left)) != NULL)
	{
		CURLcode result = message->data.result;
		char *private;

		if (message->msg == CURLMSG_DONE &&
			curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private) == CURLE_OK)
			end_attempt((LncHttpTransfer *)private, result);
	}
}

static LncCode
run_loop(LncHttpWork *work)
{
	while (work->open > 0)
	{
		int64_t next_ms;

		LNC_TRY(lnc_check_interrupt(work->ctx));
		LNC_TRY(start_due(work, &next_ms));
		next_ms = earlier(next_ms, stop_idle(work->http));
		if (work->open == 0)
			break;
		LNC_TRY(wait_and_work(work->ctx, work->http, next_ms));
		collect_finished(work->http);
	}
	return LNC_OK;
}

/* Make a request ready for its first attempt. */
static void
clear_request(LncHttpRequest *request, LncArena *arena)
{
	uint64_t max = request->max_body < LONGEST_BUFFER ? request->max_body : LONGEST_BUFFER;

	request->outcome = LNC_HTTP_PENDING;
	request->transfer = NULL;
	request->attempts = 0;
	request->lost = 0;
	request->doubtful = 0;
	request->due_ms = 0;
	/* The bodies of errors go there too, so the buffer's own bound leaves room for them. */
	lnc_buffer_init(&request->buffer, arena, (size_t)max + 65536);
}

/* Give up the attempts of some work that are under way. */
static void
stop_work(const LncHttpWork *work)
{
	for (size_t i = 0; i < LNC_HTTP_PARALLEL; i++)
	{
		LncHttpTransfer *transfer = &work->http->transfers[i];

		if (transfer->request != NULL && transfer->work == work)
			stop_attempt(transfer);
	}
}

LncCode
lnc_http_run(LncContext *ctx, LncHttp *http, LncArena *arena, const LncHttpPolicy *policy, size_t n,
			 LncHttpRequest *requests, LncHttpStats *stats)
{
	LncHttpWork work = {.ctx = ctx,
						.http = http,
						.arena = arena,
						.policy = policy,
						.n = n,
						.requests = requests,
						.stats = stats,
						.open = n};
	LncCode code;

	for (size_t i = 0; i < n; i++)
		clear_request(&requests[i], arena);
	code = run_loop(&work);
	/* After an error attempts may still be under way: their memory is about to go. */
	stop_work(&work);
	return code;
}

/* ---- jobs ---- */

struct LncHttpJob
{
	LncContext ctx; /* errors on the way are nobody's, and the caller's context may be gone by then */
	LncHttpPolicy policy;
	LncHttpStats stats;
	LncHttpWork work;
};

static void
stop_job(void *arg)
{
	LncHttpJob *job = arg;

	stop_work(&job->work);
}

static LncHttpTransfer *
transfer_for_job(LncHttp *http)
{
	LncHttpTransfer *found = NULL;
	size_t nfree = 0;

	for (size_t i = 0; i < LNC_HTTP_PARALLEL; i++)
	{
		if (http->transfers[i].request != NULL)
			continue;
		nfree++;
		if (found == NULL)
			found = &http->transfers[i];
	}
	return nfree > RESERVED_TRANSFERS ? found : NULL;
}

LncCode
lnc_http_begin(LncContext *ctx, LncHttp *http, LncArena *arena, const LncHttpPolicy *policy,
			   LncHttpRequest *request, LncHttpJob **out)
{
	LncHttpTransfer *transfer = transfer_for_job(http);
	LncHttpJob *job;

	*out = NULL;
	if (transfer == NULL)
		return LNC_OK;
	LNC_TRY(LNC_NEW(ctx, arena, &job, 1));
	lnc_context_init(&job->ctx, ctx->env);
	job->policy = *policy;
	job->policy.max_retries = 0;
	job->work = (LncHttpWork){.ctx = ctx,
							  .http = http,
							  .arena = arena,
							  .policy = &job->policy,
							  .n = 1,
							  .requests = request,
							  .stats = &job->stats,
							  .open = 1};
	clear_request(request, arena);
	LNC_TRY(lnc_arena_on_cleanup(ctx, arena, stop_job, job));
	LNC_TRY(start_attempt(&job->work, request, transfer));
	job->work.ctx = &job->ctx;
	transfer->ctx = &job->ctx;
	http->moved_on_ms = 0;
	LNC_TRY(lnc_http_move_on(ctx, http));
	*out = job;
	return LNC_OK;
}

LncCode
lnc_http_finish(LncContext *ctx, LncHttpJob *job)
{
	LncHttp *http = job->work.http;

	/* What has come while nobody looked counts before how long that was. */
	http->moved_on_ms = 0;
	LNC_TRY(lnc_http_move_on(ctx, http));
	for (;;)
	{
		int64_t next_ms;

		LNC_TRY(lnc_check_interrupt(ctx));
		next_ms = stop_idle(http);
		if (job->work.open == 0)
			return LNC_OK;
		LNC_TRY(wait_and_work(ctx, http, next_ms));
		collect_finished(http);
	}
}

bool
lnc_http_usable(const LncHttp *http)
{
	return !http->broken;
}

LncCode
lnc_http_move_on(LncContext *ctx, LncHttp *http)
{
	int64_t now = lnc_now_ms();

	if (now == http->moved_on_ms)
		return LNC_OK;
	http->moved_on_ms = now;
	LNC_TRY(wait_and_work(ctx, http, now));
	collect_finished(http);
	return LNC_OK;
}
