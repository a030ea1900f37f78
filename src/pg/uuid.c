/*
 * uuid.c
 *	  Random UUIDs, from the server's generator.
 */
#include "postgres.h"

#include "fmgr.h"
#include "pg/uuid.h"
#include "utils/fmgrprotos.h"

char *
lance_new_uuid(void)
{
	FmgrInfo flinfo = {0};
	LOCAL_FCINFO(fcinfo, 0);

	InitFunctionCallInfoData(*fcinfo, &flinfo, 0, InvalidOid, NULL, NULL);
	return DatumGetCString(DirectFunctionCall1(uuid_out, gen_random_uuid(fcinfo)));
}

char *
lance_new_plain_uuid(void)
{
	char *uuid = lance_new_uuid();
	char *end = uuid;

	for (const char *p = uuid; *p != '\0'; p++)
	{
		if (*p != '-')
			*end++ = *p;
	}
	*end = '\0';
	return uuid;
}
