/*
 * deadline.c
 *	  Connections in the order in which their requests are due.
 */
#include "postgres.h"

#include <sys/socket.h>

#include "lib/ilist.h"
#include "pg/guc.h"
#include "rest/deadline.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/*
 * Headers, and then the body, have so many idle timeouts to arrive. Two, since a connection may have been idle for
 * nearly one before its request began.
 */
#define IDLE_TIMEOUTS 2

struct LanceDeadline
{
	dlist_node node;
	bool waiting; /* in the list */
	pgsocket fd;
	TimestampTz since;
};

/* Those that a request is awaited from, the longest first. */
static dlist_head waiting = DLIST_STATIC_INIT(waiting);

static void
await(LanceDeadline *deadline)
{
	deadline->since = GetCurrentTimestamp();
	deadline->waiting = true;
	dlist_push_tail(&waiting, &deadline->node);
}

static void
forget(LanceDeadline *deadline)
{
	if (deadline->waiting)
		dlist_delete(&deadline->node);
	deadline->waiting = false;
}

LanceDeadline *
lance_deadline_open(pgsocket fd)
{
	LanceDeadline *deadline =
		MemoryContextAllocExtended(TopMemoryContext, sizeof(LanceDeadline), MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO);

	if (deadline == NULL)
		return NULL;
	deadline->fd = fd;
	await(deadline);
	return deadline;
}

void
lance_deadline_close(LanceDeadline *deadline)
{
	if (deadline == NULL)
		return;
	forget(deadline);
	pfree(deadline);
}

void
lance_deadline_renew(LanceDeadline *deadline)
{
	if (deadline == NULL)
		return;
	forget(deadline);
	await(deadline);
}

void
lance_deadline_pause(LanceDeadline *deadline)
{
	if (deadline != NULL)
		forget(deadline);
}

void
lance_deadline_extend(TimestampTz begun)
{
	TimestampTz spent = GetCurrentTimestamp() - begun;
	dlist_iter iter;

	if (spent <= 0)
		return;
	dlist_foreach(iter, &waiting) dlist_container(LanceDeadline, node, iter.cur)->since += spent;
}

void
lance_deadline_enforce(void)
{
	TimestampTz now;

	if (dlist_is_empty(&waiting) || lance_guc_rest_idle_timeout == 0)
		return;
	now = GetCurrentTimestamp();
	while (!dlist_is_empty(&waiting))
	{
		LanceDeadline *deadline = dlist_head_element(LanceDeadline, node, &waiting);

		if (!TimestampDifferenceExceeds(deadline->since, now, IDLE_TIMEOUTS * lance_guc_rest_idle_timeout * 1000))
			break;

		/* the library finds the end of the stream and closes the connection */
		forget(deadline);
		(void)shutdown(deadline->fd, SHUT_RDWR);
	}
}
