/*
 * hangup.c
 *	  Watching for the end of what clients send.
 */
#include "postgres.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include "lib/ilist.h"
#include "rest/hangup.h"
#include "storage/fd.h"
#include "utils/memutils.h"

#define EVENTS_AT_ONCE 64

/* A connection whose client has closed its side, but whose last bytes were not read yet. */
typedef struct Hangup
{
	slist_node node;
	pgsocket fd;
} Hangup;

static pgsocket watch = PGINVALID_SOCKET;
static slist_head hangups = SLIST_STATIC_INIT(hangups);

void
lance_hangup_start(void)
{
	ReserveExternalFD();
	watch = epoll_create1(EPOLL_CLOEXEC);
	if (watch == PGINVALID_SOCKET)
		ereport(FATAL, (errcode_for_socket_access(), errmsg("could not watch REST connections: %m")));
}

pgsocket
lance_hangup_descriptor(void)
{
	return watch;
}

void
lance_hangup_watch(pgsocket fd)
{
	struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data = {.fd = fd}};

	if (epoll_ctl(watch, EPOLL_CTL_ADD, fd, &event) != 0)
		ereport(DEBUG1, (errmsg_internal("could not watch a REST connection: %m")));
}

void
lance_hangup_forget(pgsocket fd)
{
	slist_mutable_iter iter;

	(void)epoll_ctl(watch, EPOLL_CTL_DEL, fd, NULL);
	slist_foreach_modify(iter, &hangups)
	{
		Hangup *hangup = slist_container(Hangup, node, iter.cur);

		if (hangup->fd != fd)
			continue;
		slist_delete_current(&iter);
		pfree(hangup);
	}
}

/* Take down who has hung up since the last turn. One for whom there is no memory is left to the idle timeout. */
static void
collect(void)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n;

	do
	{
		n = epoll_wait(watch, events, EVENTS_AT_ONCE, 0);
		for (int i = 0; i < n; i++)
		{
			Hangup *hangup = MemoryContextAllocExtended(TopMemoryContext, sizeof(*hangup), MCXT_ALLOC_NO_OOM);

			if (hangup == NULL)
				continue;
			hangup->fd = events[i].data.fd;
			slist_push_head(&hangups, &hangup->node);
		}
	} while (n == EVENTS_AT_ONCE);
}

void
lance_hangup_pass_on(void)
{
	slist_mutable_iter iter;

	collect();
	slist_foreach_modify(iter, &hangups)
	{
		Hangup *hangup = slist_container(Hangup, node, iter.cur);
		char byte;

		/* what is still to be read has an edge of its own */
		if (recv(hangup->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
			continue;

		/* changes nothing for a stream that has ended, but makes an edge */
		(void)shutdown(hangup->fd, SHUT_RD);
		slist_delete_current(&iter);
		pfree(hangup);
	}
}
