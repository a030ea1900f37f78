/*
 * listen.c
 *	  Opening the listening sockets.
 */
#include "postgres.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/ip.h"
#include "nodes/pg_list.h"
#include "pg/guc.h"
#include "rest/listen.h"
#include "utils/varlena.h"

static pgsocket listen_sockets[LANCE_MAX_LISTEN];
static int listen_count;

/* One socket for one resolved address; -1 with errno set when it can't be had. */
static pgsocket
open_socket(const struct addrinfo *address)
{
	pgsocket fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1;
	int saved;

	if (fd == PGINVALID_SOCKET)
		return fd;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
		(address->ai_family != AF_INET6 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) == 0) &&
		bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return PGINVALID_SOCKET;
}

/* All addresses of one entry of the list; host NULL: every interface. */
static void
listen_on(const char *host, const char *port)
{
	struct addrinfo hint = {.ai_flags = AI_PASSIVE, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *addresses = NULL;
	const char *shown = host != NULL ? host : "*";
	int failed = pg_getaddrinfo_all(host, port, &hint, &addresses);

	if (failed != 0)
	{
		ereport(WARNING,
				(errcode(ERRCODE_CONFIG_FILE_ERROR),
				 errmsg("could not translate REST listen address \"%s\": %s", shown, gai_strerror(failed))));
		if (addresses != NULL)
			pg_freeaddrinfo_all(hint.ai_family, addresses);
		return;
	}
	for (struct addrinfo *address = addresses; address != NULL && listen_count < LANCE_MAX_LISTEN;
		 address = address->ai_next)
	{
		char numeric[NI_MAXHOST];
		pgsocket fd;

		if (address->ai_family != AF_INET && address->ai_family != AF_INET6)
			continue;
		if (pg_getnameinfo_all((struct sockaddr_storage *)address->ai_addr, address->ai_addrlen, numeric,
							   sizeof(numeric), NULL, 0, NI_NUMERICHOST) != 0)
			strlcpy(numeric, shown, sizeof(numeric));
		fd = open_socket(address);
		if (fd == PGINVALID_SOCKET)
		{
			int saved = errno;

			/* a machine without IPv6 need not be told so at each start */
			ereport(saved == EAFNOSUPPORT || saved == EADDRNOTAVAIL ? LOG : WARNING,
					(errcode_for_socket_access(),
					 errmsg("could not listen for REST requests on \"%s\", port %s: %m", numeric, port),
					 saved == EADDRINUSE ? errhint("Is another server running there?") : 0));
			continue;
		}
		ereport(LOG, (errmsg("listening for REST requests on \"%s\", port %s", numeric, port)));
		listen_sockets[listen_count++] = fd;
	}
	pg_freeaddrinfo_all(hint.ai_family, addresses);
}

bool
lance_rest_listen(void)
{
	char *raw = pstrdup(lance_guc_rest_listen_addresses);
	char port[16];
	List *hosts;
	ListCell *lc;

	if (!SplitGUCList(raw, ',', &hosts))
	{
		ereport(WARNING,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid list syntax in parameter \"%s\"", "lance_catalog.rest_listen_addresses")));
		hosts = NIL;
	}
	snprintf(port, sizeof(port), "%d", lance_guc_rest_port);
	foreach (lc, hosts)
	{
		const char *host = lfirst(lc);

		listen_on(strcmp(host, "*") == 0 ? NULL : host, port);
	}
	list_free(hosts);
	pfree(raw);
	if (listen_count == 0)
		ereport(WARNING, (errcode(ERRCODE_CONFIG_FILE_ERROR),
						  errmsg("the REST server is off: it could not listen on any address"),
						  errhint("Mend \"lance_catalog.rest_listen_addresses\" or \"lance_catalog.rest_port\" and "
								  "restart.")));
	return listen_count > 0;
}

int
lance_rest_listen_sockets(const pgsocket **sockets)
{
	*sockets = listen_sockets;
	return listen_count;
}
