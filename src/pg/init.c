/*
 * init.c
 *	  Entry point of the extension's library.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "pg/credential_cache.h"
#include "pg/guc.h"
#include "pg/statistics.h"
#include "rest/worker.h"

PG_MODULE_MAGIC;

extern void _PG_init(void);

void
_PG_init(void)
{
	lance_guc_define();
	if (process_shared_preload_libraries_in_progress)
	{
		lance_statistics_init();
		lance_credential_cache_init();
		lance_rest_init();
	}
}
