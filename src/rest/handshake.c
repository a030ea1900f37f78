/*
 * handshake.c
 *	  Suspending handshakes that wait for their client.
 *
 * A handshake is in the list while the library may work on it. What comes for it makes an edge in an epoll set of our own, from its
 * beginning to its end, so that nothing is missed between a look and the suspension.
 */
#include "postgres.h"

#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "lib/ilist.h"
#include "rest/handshake.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#define EVENTS_AT_ONCE 64

struct LanceHandshake
{
	dlist_node node;
	struct MHD_Connection *connection;
	pgsocket fd;
	bool active; /* in the list, not suspended */
	bool over;   /* watched no more */
};

static pgsocket watch = PGINVALID_SOCKET;
static dlist_head active = DLIST_STATIC_INIT(active);

void
lance_handshake_start(void)
{
	ReserveExternalFD();
	watch = epoll_create1(EPOLL_CLOEXEC);
	if (watch == PGINVALID_SOCKET)
		ereport(FATAL, (errcode_for_socket_access(), errmsg("could not watch REST connections: %m")));
}

pgsocket
lance_handshake_descriptor(void)
{
	return watch;
}

LanceHandshake *
lance_handshake_open(struct MHD_Connection *connection, pgsocket fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET};
	LanceHandshake *handshake;

	if (watch == PGINVALID_SOCKET)
		return NULL;
	handshake =
		MemoryContextAllocExtended(TopMemoryContext, sizeof(*handshake), MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO);
	if (handshake == NULL)
		return NULL;
	handshake->connection = connection;
	handshake->fd = fd;
	event.data.ptr = handshake;
	if (epoll_ctl(watch, EPOLL_CTL_ADD, handshake->fd, &event) != 0)
	{
		ereport(DEBUG1, (errmsg_internal("could not watch a REST connection: %m")));
		pfree(handshake);
		return NULL;
	}
	handshake->active = true;
	dlist_push_tail(&active, &handshake->node);
	return handshake;
}

/* Look after it no more. */
static void
forget(LanceHandshake *handshake)
{
	if (handshake->active)
		dlist_delete(&handshake->node);
	handshake->active = false;
	if (!handshake->over)
		(void)epoll_ctl(watch, EPOLL_CTL_DEL, handshake->fd, NULL);
	handshake->over = true;
}

void
lance_handshake_close(LanceHandshake *handshake)
{
	if (handshake == NULL)
		return;
	forget(handshake);
	pfree(handshake);
}

void
lance_handshakes_resume(void)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n;

	if (watch == PGINVALID_SOCKET)
		return;
	do
	{
		n = epoll_wait(watch, events, EVENTS_AT_ONCE, 0);
		for (int i = 0; i < n; i++)
		{
			LanceHandshake *handshake = events[i].data.ptr;

			if (handshake->active)
				continue;
			handshake->active = true;
			dlist_push_tail(&active, &handshake->node);
			MHD_resume_connection(handshake->connection);
		}
	} while (n == EVENTS_AT_ONCE);
}

/* GnuTLS describes a session once its handshake is done, and not before. */
static bool
is_over(const LanceHandshake *handshake)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(handshake->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	char *described = info != NULL ? gnutls_session_get_desc(info->tls_session) : NULL;

	if (described == NULL)
		return false;
	gnutls_free(described);
	return true;
}

void
lance_handshakes_suspend(void)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &active)
	{
		LanceHandshake *handshake = dlist_container(LanceHandshake, node, iter.cur);

		if (is_over(handshake))
			forget(handshake);
		else
		{
			dlist_delete(&handshake->node);
			handshake->active = false;
			MHD_suspend_connection(handshake->connection);
		}
	}
}
