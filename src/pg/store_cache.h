/*
 * store_cache.h
 *	  What a session keeps from one statement to the next of the stores that it reads: connections, and parts of objects that
 *	  never change.
 */
#ifndef LANCE_PG_STORE_CACHE_H
#define LANCE_PG_STORE_CACHE_H

#include "pg/profile.h"
#include "storage/cache.h"

/* The session's HTTP client; its connections are kept open. For one store at a time to ask, as all of the library does. */
extern struct LncHttp *lance_store_http(void);

/* The session's cache, kept to lance_catalog.metadata_cache_size; NULL: it is off. */
extern LncCache *lance_store_cache(void);

/*
 * What separates, in that cache, what the profile's role may see from what others may: the role, and all that says where a
 * store is and with which keys it is asked, as a digest. In lib's arena.
 */
extern const char *lance_store_cache_scope(LanceLibrary *lib, const LanceProfile *profile);

#endif
