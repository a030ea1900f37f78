/*
 * http.c
 *	  Connections, bodies and replies through libmicrohttpd.
 *
 * Life of a request: its target is seen (begin_request), its headers are there (admit_headers), its body arrives in
 * pieces (take_body), it is answered (answer), it is over (end_request). Only JSON bodies are kept; all others are
 * read and dropped, so that the answer reaches a client which sends first and reads afterwards.
 */
#include "postgres.h"

#include <limits.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "pg/guc.h"
#include "rest/deadline.h"
#include "rest/framing.h"
#include "rest/handshake.h"
#include "rest/hangup.h"
#include "rest/http.h"
#include "rest/request.h"
#include "rest/tls.h"
#include "rest/turns.h"
#include "storage/fd.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* Request line and headers of one connection must fit in here, besides buffers. */
#define CONNECTION_MEMORY (32 * 1024)

/* A body up to this size is taken from anybody; a larger one only from callers that are let in. */
#define UNASKED_BODY (64 * 1024)

/* What all bodies under way may take together, in units of the largest allowed. */
#define BODIES_AT_ONCE 4

/* How much of a body that is too large is read and dropped before the connection is closed, in the same unit. */
#define DRAINED_AT_MOST 2

typedef enum BodyFate
{
	BODY_KEEP,   /* collected for the answer */
	BODY_DROP,   /* read and forgotten */
	BODY_REFUSED /* answered already on the raw socket; what still comes is drained for a while */
} BodyFate;

/* An exchange is a request with its state on the wire. */
typedef struct Exchange
{
	LanceRestRequest request; /* first: the handler sees only this */
	struct MHD_Connection *connection;
	size_t target_size; /* as it came */
	bool headers_seen;
	bool admitted; /* the caller was asked for */
	BodyFate fate;
	uint64 received;  /* bytes of the body */
	uint64 allowance; /* of those; more than this ends the connection */
	Size kept;        /* counted in kept_total */
	bool have_reply;  /* decided before the body was there */
	LanceRestReply reply;
} Exchange;

/* What is kept of a connection; a part is NULL for want of memory. */
typedef struct Client
{
	LanceDeadline *deadline;
	LanceHandshake *handshake;
	LanceWriter writer;
} Client;

static struct MHD_Daemon *http_daemon;
static LanceHttpHandler http_handler;
static LanceHttpAdmission http_admit;
static MemoryContext http_context;
static Size kept_total; /* memory of all bodies under way */

static uint64
max_body(void)
{
	return (uint64)lance_guc_rest_max_body_size * 1024;
}

/* ---- trapping errors */

/* For PG_CATCH in callbacks: log the error, forget it, stand in the given context again. */
static void
swallow_error(MemoryContext context)
{
	MemoryContextSwitchTo(context);
	EmitErrorReport();
	FlushErrorState();
}

static void
http_panic(void *closure, const char *file, unsigned int line, const char *reason)
{
	ereport(FATAL,
			(errcode(ERRCODE_INTERNAL_ERROR), errmsg("HTTP library failed: %s", reason != NULL ? reason : "?")));
}

static void
http_log(void *closure, const char *format, va_list arguments)
{
	char line[512];
	int length = vsnprintf(line, sizeof(line), format, arguments);

	while (length > 0 && length < (int)sizeof(line) && line[length - 1] == '\n')
		line[--length] = '\0';
	ereport(DEBUG1, (errmsg_internal("HTTP library: %s", line)));
}

/* Escapes stay as they are: paths are split before they are decoded. */
static size_t
keep_escapes(void *closure, struct MHD_Connection *connection, char *text)
{
	return strlen(text);
}

static Client *
client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info != NULL ? info->socket_context : NULL;
}

static LanceDeadline *
deadline_of(struct MHD_Connection *connection)
{
	const Client *client = client_of(connection);

	return client != NULL ? client->deadline : NULL;
}

/* ---- the request's stages */

static void *
begin_request(void *closure, const char *target, struct MHD_Connection *connection)
{
	MemoryContext old = CurrentMemoryContext;
	Exchange *exchange = NULL;
	MemoryContext context = NULL;

	PG_TRY();
	{
		context = AllocSetContextCreate(http_context, "REST request", ALLOCSET_DEFAULT_SIZES);
		exchange = MemoryContextAllocZero(context, sizeof(*exchange));
		exchange->request.context = context;
		exchange->connection = connection;
		exchange->target_size = strlen(target);
		lance_rest_set_target(&exchange->request, target);
	}
	PG_CATCH();
	{
		swallow_error(old);
		if (context != NULL)
			MemoryContextDelete(context);
		exchange = NULL;
	}
	PG_END_TRY();
	return exchange;
}

static void
end_request(void *closure, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode how)
{
	Exchange *exchange = *state;

	*state = NULL;
	lance_deadline_renew(deadline_of(connection));
	if (exchange != NULL)
	{
		kept_total -= exchange->kept;
		lance_rest_forget_key(&exchange->request);
		MemoryContextDelete(exchange->request.context);
	}
}

static const char *
header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* The client's address as a number. */
static uint32
address_hash(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *address = info != NULL ? info->client_addr : NULL;

	if (address != NULL && address->sa_family == AF_INET)
		return hash_bytes((const unsigned char *)&((const struct sockaddr_in *)address)->sin_addr,
						  sizeof(struct in_addr));
	if (address != NULL && address->sa_family == AF_INET6)
		return hash_bytes((const unsigned char *)&((const struct sockaddr_in6 *)address)->sin6_addr,
						  sizeof(struct in6_addr));
	return 0;
}

/* The credential that the client presents, in the request's context, and who the client is taken for. */
static void
take_credential(Exchange *exchange, struct MHD_Connection *connection)
{
	const char *key = header(connection, "x-api-key");
	const char *authorization = header(connection, MHD_HTTP_HEADER_AUTHORIZATION);

	if (key == NULL && authorization != NULL && pg_strncasecmp(authorization, "Bearer ", 7) == 0)
		key = authorization + 7 + strspn(authorization + 7, " ");
	if (key != NULL && key[0] != '\0')
		exchange->request.api_key = MemoryContextStrdup(exchange->request.context, key);
	exchange->request.caller = exchange->request.api_key != NULL
								   ? hash_bytes((const unsigned char *)key, (int)strlen(key))
								   : address_hash(connection);
}

static void
decide(Exchange *exchange, int status, LanceErrorCode code, const char *message)
{
	lance_rest_reply_error(&exchange->request, &exchange->reply, status, code, message, NULL);
	exchange->have_reply = true;
	exchange->fate = BODY_DROP;
}

static void
decide_too_large(Exchange *exchange)
{
	if (exchange->have_reply)
		return;
	if (exchange->request.route->function == NULL)
		decide(exchange, lance_http_status(LANCE_UNSUPPORTED), LANCE_UNSUPPORTED,
			   psprintf("operation %s is not supported", exchange->request.route->operation));
	else
		decide(exchange, MHD_HTTP_CONTENT_TOO_LARGE, LANCE_INVALID_INPUT,
			   psprintf("request body is larger than %d kB", lance_guc_rest_max_body_size));
}

static enum MHD_Result
send_reply(struct MHD_Connection *connection, const LanceRestReply *reply, bool close_connection)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(reply->size, reply->body, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result = MHD_YES;

	if (response == NULL)
		return MHD_NO;
	if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json") != MHD_YES ||
		(reply->allow != NULL &&
		 MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, reply->allow) != MHD_YES) ||
		(reply->retry_after && MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "5") != MHD_YES) ||
		(reply->status == MHD_HTTP_UNAUTHORIZED &&
		 MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer") != MHD_YES) ||
		(close_connection && MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") != MHD_YES))
		result = MHD_NO;
	if (result == MHD_YES)
		result = MHD_queue_response(connection, reply->status, response);
	MHD_destroy_response(response);
	return result;
}

/* Send text as the last of a connection. It is small, so a socket that nothing was written to takes it whole. */
static bool
send_last(struct MHD_Connection *connection, pgsocket fd, const char *text)
{
	const union MHD_ConnectionInfo *info;

	if (!lance_guc_rest_ssl)
		return send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	return info != NULL && lance_tls_send_last(info->tls_session, text, strlen(text));
}

/* Answer in the middle of an upload, which the library has no call for: write the reply to the socket ourselves. */
static void
send_raw(Exchange *exchange, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	const LanceRestReply *reply = &exchange->reply;
	const char *reason = MHD_get_reason_phrase_for((unsigned int)reply->status);
	char *text = psprintf("HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Type: application/json\r\n"
						  "Content-Length: %zu\r\n\r\n%.*s",
						  reply->status, reason, reply->size, (int)reply->size, reply->body);

	if (info != NULL && send_last(connection, info->connect_fd, text))
		shutdown(info->connect_fd, SHUT_WR);
	exchange->fate = BODY_REFUSED;
}

/* Is the caller let in? If not, the body is dropped and the reply set. */
static void
ask_admission(Exchange *exchange)
{
	exchange->admitted = true;
	if (http_admit(&exchange->request, &exchange->reply))
		return;
	exchange->have_reply = true;
	exchange->fate = BODY_DROP;
}

/* Headers are complete. Decides what becomes of the body, or answers at once. */
static enum MHD_Result
admit_headers(Exchange *exchange, struct MHD_Connection *connection, const char *method, const char *version)
{
	LanceRestRequest *request = &exchange->request;
	Client *client = client_of(connection);
	LanceFraming framing;

	exchange->headers_seen = true;
	exchange->fate = BODY_DROP;
	lance_deadline_renew(deadline_of(connection));
	request->method = MemoryContextStrdup(request->context, method);
	take_credential(exchange, connection);
	request->writer = client != NULL ? &client->writer : NULL;
	framing =
		lance_framing_of(connection, version, strlen(method) + 1 + exchange->target_size + 1 + strlen(version));
	lance_framing_wipe_keys(connection);
	if (framing.too_long)
	{
		decide(exchange, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE, LANCE_INVALID_INPUT, "a header is too long");
		return send_reply(connection, &exchange->reply, true);
	}
	if (framing.unclear || framing.two_keys)
	{
		decide(exchange, MHD_HTTP_BAD_REQUEST, LANCE_INVALID_INPUT,
			   framing.unclear ? "the headers, or the length of the body, can be read in more than one way"
							   : "a credential is given twice");
		return send_reply(connection, &exchange->reply, true);
	}
	lance_rest_match(request);
	if (request->allow != NULL)
		decide(exchange, MHD_HTTP_METHOD_NOT_ALLOWED, LANCE_UNSUPPORTED,
			   psprintf("method %s is not supported here", request->method));
	else if (request->route == NULL)
		decide(exchange, MHD_HTTP_NOT_FOUND, LANCE_UNSUPPORTED, "no such route");
	else if (request->route->function != NULL && request->route->body == LANCE_BODY_JSON)
		exchange->fate = BODY_KEEP;
	exchange->allowance = max_body();
	if (framing.length > max_body())
	{
		decide_too_large(exchange);
		/* a client may read nothing before it has sent everything, so what is not absurd is drained first */
		exchange->allowance *= DRAINED_AT_MOST;
		if (framing.length > exchange->allowance)
			return send_reply(connection, &exchange->reply, true);
	}
	if (framing.length > UNASKED_BODY && exchange->fate == BODY_KEEP)
		ask_admission(exchange);
	return MHD_YES;
}

/* Keep a piece of the body; what can't be kept is dropped, and the reply set. */
static void
keep_piece(Exchange *exchange, const char *data, size_t size)
{
	StringInfo body = &exchange->request.body;

	if (exchange->received > UNASKED_BODY && !exchange->admitted)
		ask_admission(exchange);
	if (exchange->fate == BODY_KEEP && kept_total + size > max_body() * BODIES_AT_ONCE)
		decide(exchange, lance_http_status(LANCE_SERVICE_UNAVAILABLE), LANCE_SERVICE_UNAVAILABLE,
			   "too many large requests at once");
	if (exchange->fate != BODY_KEEP)
		return;
	if (body->data == NULL)
		initStringInfo(body);
	appendBinaryStringInfo(body, data, (int)size);
	kept_total += size;
	exchange->kept += size;
}

/* A piece of the body has come; all of it is consumed. */
static enum MHD_Result
take_body(Exchange *exchange, struct MHD_Connection *connection, const char *data, size_t *size)
{
	size_t taken = *size;

	*size = 0;
	exchange->received += taken;
	if (exchange->fate == BODY_REFUSED)
		return exchange->received > exchange->allowance * DRAINED_AT_MOST ? MHD_NO : MHD_YES;
	if (exchange->received > exchange->allowance)
	{
		decide_too_large(exchange);
		send_raw(exchange, connection);
	}
	else if (exchange->fate == BODY_KEEP)
		keep_piece(exchange, data, taken);
	return MHD_YES;
}

static enum MHD_Result
answer(Exchange *exchange, struct MHD_Connection *connection)
{
	if (exchange->fate == BODY_REFUSED)
		return MHD_NO;
	lance_deadline_pause(deadline_of(connection));
	if (!exchange->have_reply)
	{
		TimestampTz begun = GetCurrentTimestamp();

		exchange->have_reply = http_handler(&exchange->request, &exchange->reply);
		lance_deadline_extend(begun);
	}
	if (!exchange->have_reply)
	{
		MHD_suspend_connection(connection);
		return MHD_YES;
	}
	return send_reply(connection, &exchange->reply, false);
}

static enum MHD_Result
on_request(void *closure, struct MHD_Connection *connection, const char *url, const char *method,
		   const char *version, const char *data, size_t *size, void **state)
{
	Exchange *exchange = *state;
	MemoryContext old = CurrentMemoryContext;
	volatile enum MHD_Result result = MHD_NO;

	if (exchange == NULL)
		return MHD_NO; /* no memory for it */
	PG_TRY();
	{
		MemoryContextSwitchTo(exchange->request.context);
		if (!exchange->headers_seen)
			result = admit_headers(exchange, connection, method, version);
		else if (*size > 0)
			result = take_body(exchange, connection, data, size);
		else
			result = answer(exchange, connection);
		MemoryContextSwitchTo(old);
	}
	PG_CATCH();
	{
		swallow_error(old);
		result = MHD_NO;
	}
	PG_END_TRY();
	return result;
}

/* Descriptors of connections count towards the server's limit of open files. */
static Client *
open_client(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	Client *client =
		MemoryContextAllocExtended(TopMemoryContext, sizeof(*client), MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO);

	ReserveExternalFD();
	if (info == NULL)
		return client;
	lance_hangup_watch(info->connect_fd);
	if (client != NULL)
	{
		client->deadline = lance_deadline_open(info->connect_fd);
		client->handshake = lance_handshake_open(connection, info->connect_fd);
	}
	return client;
}

static void
close_client(struct MHD_Connection *connection, Client *client)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (info != NULL)
		lance_hangup_forget(info->connect_fd);
	if (client != NULL)
	{
		lance_deadline_close(client->deadline);
		lance_handshake_close(client->handshake);
		pfree(client);
	}
	ReleaseExternalFD();
}

static void
on_connection(void *closure, struct MHD_Connection *connection, void **state,
			  enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		*state = open_client(connection);
	else
	{
		close_client(connection, *state);
		*state = NULL;
	}
}

/* ---- the server */

void
lance_http_start(LanceHttpHandler handler, LanceHttpAdmission admit)
{
	struct MHD_OptionItem options[] = {
		{MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)http_log, NULL},
		{MHD_OPTION_CONNECTION_LIMIT, lance_guc_rest_max_connections, NULL},
		{MHD_OPTION_PER_IP_CONNECTION_LIMIT, lance_guc_rest_max_connections_per_address, NULL},
		{MHD_OPTION_CONNECTION_TIMEOUT, lance_guc_rest_idle_timeout, NULL},
		{MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY, NULL},
		{MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)keep_escapes, NULL},
		{MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)begin_request, NULL},
		{MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)end_request, NULL},
		{MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, NULL},
		{MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
		{MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, NULL},
		{lance_guc_rest_ssl ? MHD_OPTION_HTTPS_CERT_CALLBACK2 : MHD_OPTION_END, 0, (void *)lance_tls_choose},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, unconstify(char *, lance_tls_priorities())},
		{MHD_OPTION_END, 0, NULL},
	};
	unsigned int flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME;

	http_handler = handler;
	http_admit = admit;
	http_context = AllocSetContextCreate(TopMemoryContext, "REST server", ALLOCSET_SMALL_SIZES);
	lance_hangup_start();
	MHD_set_panic_func(http_panic, NULL);
	if (lance_guc_rest_ssl)
	{
		flags |= MHD_USE_TLS;
		lance_tls_start();
		lance_handshake_start();
	}
	http_daemon =
		MHD_start_daemon(flags, 0, NULL, NULL, on_request, NULL, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
	if (http_daemon == NULL)
		ereport(FATAL, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not start the HTTP library")));
}

void
lance_http_answer(LanceRestRequest *request, const LanceRestReply *reply)
{
	Exchange *exchange = (Exchange *)request;

	exchange->reply = *reply;
	exchange->have_reply = true;
	MHD_resume_connection(exchange->connection);
}

pgsocket
lance_http_descriptor(void)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(http_daemon, MHD_DAEMON_INFO_EPOLL_FD);

	if (info == NULL)
		ereport(FATAL, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the HTTP library has no descriptor to wait for")));
	return info->epoll_fd;
}

/* Tell a client that all connections are in use. With TLS there is no way to say so short of a handshake. */
static void
turn_away(pgsocket fd)
{
	static const char reply[] = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\n"
								"Content-Type: application/json\r\nContent-Length: 63\r\n\r\n"
								"{\"code\":17,\"error\":\"too many connections to this REST worker\"}\n";

	if (!lance_guc_rest_ssl)
		(void)send(fd, reply, sizeof(reply) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	shutdown(fd, SHUT_WR);
	close(fd);
}

void
lance_http_accept(pgsocket listening)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);
	const union MHD_DaemonInfo *info;
	pgsocket fd = accept4(listening, (struct sockaddr *)&address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd == PGINVALID_SOCKET)
	{
		/* another worker was faster, or the client has gone; but when there are no descriptors left, do not spin */
		if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != ECONNABORTED)
		{
			ereport(LOG, (errcode_for_socket_access(), errmsg("could not accept a REST connection: %m")));
			pg_usleep(100000L);
		}
		return;
	}
	info = MHD_get_daemon_info(http_daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
	if (lance_guc_rest_ssl && !lance_tls_ready())
		close(fd); /* never in plain */
	else if (info != NULL && info->num_connections >= (unsigned int)lance_guc_rest_max_connections)
		turn_away(fd);
	else if (MHD_add_connection(http_daemon, fd, (struct sockaddr *)&address, length) != MHD_YES)
		ereport(DEBUG1, (errmsg_internal("the HTTP library refused a connection: %m")));
}

long
lance_http_run(void)
{
	unsigned MHD_LONG_LONG timeout;

	lance_deadline_enforce();
	lance_handshakes_resume();
	if (MHD_run(http_daemon) != MHD_YES)
		ereport(FATAL, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the HTTP library failed to run")));
	lance_handshakes_suspend();
	lance_hangup_pass_on();
	if (MHD_get_timeout(http_daemon, &timeout) != MHD_YES)
		return -1;
	return (long)Min(timeout, (unsigned MHD_LONG_LONG)INT_MAX);
}
