/*
 * local_names.h
 *	  Local folders that symbolic links give several names.
 */
#ifndef LANCE_PG_LOCAL_NAMES_H
#define LANCE_PG_LOCAL_NAMES_H

#include "nodes/pg_list.h"

/* path with the symbolic links of its existing part resolved. Palloc'd. */
extern char *lance_local_resolved(const char *path);

/*
 * The paths by which stores may know the place of an absolute path, it being the first: the one without symbolic links, and
 * those through the roots of foreign servers and the folders of lance_catalog.allowed_local_roots, which are the only links
 * that stores follow. A root that is a link and lies below the place is among them. Palloc'd, in the current context.
 */
extern List *lance_local_names(const char *path);

#endif
