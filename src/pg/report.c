/*
 * report.c
 *	  Library status to ereport.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pg/errcodes.h"
#include "pg/report.h"

static int
status_sqlstate(LncCode code)
{
	switch (code)
	{
		case LNC_INVALID:
			return ERRCODE_INVALID_PARAMETER_VALUE;
		case LNC_CORRUPT:
			return ERRCODE_DATA_CORRUPTED;
		case LNC_UNSUPPORTED:
			return ERRCODE_FEATURE_NOT_SUPPORTED;
		case LNC_NOT_FOUND:
		case LNC_NO_STORE:
			return ERRCODE_UNDEFINED_FILE;
		case LNC_EXISTS:
			return ERRCODE_DUPLICATE_FILE;
		case LNC_DENIED:
			return ERRCODE_INSUFFICIENT_PRIVILEGE;
		case LNC_IO:
			return ERRCODE_IO_ERROR;
		case LNC_UNAVAILABLE:
			return ERRCODE_CONNECTION_FAILURE;
		case LNC_UNCLEAR:
			return ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN;
		case LNC_RANGE:
			return ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
		case LNC_LIMIT:
			return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
		case LNC_NO_MEMORY:
			return ERRCODE_OUT_OF_MEMORY;
		case LNC_CANCELLED:
			return ERRCODE_QUERY_CANCELED;
		case LNC_OK:
			break;
	}
	return ERRCODE_INTERNAL_ERROR;
}

void
lance_report(const LncContext *ctx)
{
	const LncError *error = &ctx->error;

	if (error->code == LNC_CANCELLED)
		CHECK_FOR_INTERRUPTS();
	ereport(ERROR, (errcode(status_sqlstate(error->code)), errmsg("%s", error->message),
					error->detail[0] != '\0' ? errdetail("%s", error->detail) : 0,
					error->hint[0] != '\0' ? errhint("%s", error->hint) : 0));
	pg_unreachable();
}
