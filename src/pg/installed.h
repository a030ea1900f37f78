/*
 * installed.h
 *	  Is the extension that the database knows the one that this library was built for?
 */
#ifndef LANCE_PG_INSTALLED_H
#define LANCE_PG_INSTALLED_H

typedef struct LanceInstalled
{
	Oid extension;
	Oid owner;
	char version[64];
} LanceInstalled;

/* The extension as it is installed, looked up once a transaction; NULL when it is not there. Valid until the next call. */
extern const LanceInstalled *lance_installed(void);

/* Throws LANCE_SERVICE_UNAVAILABLE: it, or a table of it, is not there. */
extern void lance_not_installed(void) pg_attribute_noreturn();

/*
 * Call first in each SQL function: after an upgrade of the library alone its arguments may not be those that the
 * library expects. Throws 55000 with a hint when the versions differ; costs a look at the catalog once a transaction.
 */
extern void lance_check_installed(void);

#endif
