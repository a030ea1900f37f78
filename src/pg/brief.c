/*
 * brief.c
 *	  The switch of brief work, and the error that ends it.
 */
#include "postgres.h"

#include "pg/brief.h"
#include "utils/errcodes.h"

/* Never leaves the process. */
#define ERRCODE_NOT_BRIEF MAKE_SQLSTATE('L', 'N', 'X', 'B', 'R')

static bool brief;

void
lance_brief_set(bool on)
{
	brief = on;
}

void
lance_brief_check(void)
{
	if (brief)
		ereport(ERROR, (errcode(ERRCODE_NOT_BRIEF), errmsg("this can't be done without waiting")));
}

bool
lance_brief_gave_up(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_NOT_BRIEF || error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ||
		   error->sqlerrcode == ERRCODE_QUERY_CANCELED;
}
