/*
 * errcodes.c
 *	  The table of error codes.
 */
#include "postgres.h"

#include "pg/errcodes.h"
#include "utils/errcodes.h"

typedef struct LanceErrorRow
{
	LanceErrorCode code;
	int sqlstate;
	int http_status;
	const char *constraint; /* tells codes that share a SQLSTATE apart; NULL where there is no need */
} LanceErrorRow;

#define LN(a, b) MAKE_SQLSTATE('L', 'N', '0', a, b)

static const LanceErrorRow error_rows[] = {
	{LANCE_UNSUPPORTED, ERRCODE_FEATURE_NOT_SUPPORTED, 406, NULL},
	{LANCE_NAMESPACE_NOT_FOUND, LN('0', '1'), 404, NULL},
	{LANCE_NAMESPACE_EXISTS, ERRCODE_UNIQUE_VIOLATION, 409, "lance_namespace_name"},
	{LANCE_NAMESPACE_NOT_EMPTY, LN('0', '3'), 409, NULL},
	{LANCE_TABLE_NOT_FOUND, LN('0', '4'), 404, NULL},
	{LANCE_TABLE_EXISTS, ERRCODE_UNIQUE_VIOLATION, 409, "lance_table_name"},
	{LANCE_INDEX_NOT_FOUND, LN('0', '6'), 404, NULL},
	{LANCE_INDEX_EXISTS, LN('0', '7'), 409, NULL},
	{LANCE_TAG_NOT_FOUND, LN('0', '8'), 404, NULL},
	{LANCE_TAG_EXISTS, LN('0', '9'), 409, NULL},
	{LANCE_TRANSACTION_NOT_FOUND, LN('1', '0'), 404, NULL},
	{LANCE_VERSION_NOT_FOUND, LN('1', '1'), 404, NULL},
	{LANCE_COLUMN_NOT_FOUND, LN('1', '2'), 404, NULL},
	{LANCE_INVALID_INPUT, ERRCODE_INVALID_PARAMETER_VALUE, 400, NULL},
	{LANCE_CONCURRENT_MODIFICATION, ERRCODE_T_R_SERIALIZATION_FAILURE, 409, NULL},
	{LANCE_PERMISSION_DENIED, ERRCODE_INSUFFICIENT_PRIVILEGE, 403, NULL},
	{LANCE_UNAUTHENTICATED, ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION, 401, NULL},
	{LANCE_SERVICE_UNAVAILABLE, LN('1', '7'), 503, NULL},
	{LANCE_INTERNAL, LN('1', '8'), 500, NULL},
	{LANCE_INVALID_TABLE_STATE, LN('1', '9'), 409, NULL},
	{LANCE_SCHEMA_VALIDATION, LN('2', '0'), 400, NULL},
	{LANCE_THROTTLING, LN('2', '1'), 429, NULL},
	{LANCE_BRANCH_NOT_FOUND, LN('2', '2'), 404, NULL},
	{LANCE_BRANCH_EXISTS, LN('2', '3'), 409, NULL},
};

static const LanceErrorRow *
error_row(LanceErrorCode code)
{
	for (size_t i = 0; i < lengthof(error_rows); i++)
	{
		if (error_rows[i].code == code)
			return &error_rows[i];
	}
	return error_row(LANCE_INTERNAL);
}

int
lance_errcode(LanceErrorCode code)
{
	const LanceErrorRow *row = error_row(code);

	errcode(row->sqlstate);
	if (row->constraint != NULL)
		err_generic_string(PG_DIAG_CONSTRAINT_NAME, row->constraint);
	return 0;
}

LanceErrorCode
lance_error_code(const ErrorData *edata)
{
	int category = ERRCODE_TO_CATEGORY(edata->sqlerrcode);

	for (size_t i = 0; i < lengthof(error_rows); i++)
	{
		const LanceErrorRow *row = &error_rows[i];

		if (row->sqlstate == edata->sqlerrcode &&
			(row->constraint == NULL ||
			 (edata->constraint_name != NULL && strcmp(edata->constraint_name, row->constraint) == 0)))
			return row->code;
	}
	switch (edata->sqlerrcode)
	{
		case ERRCODE_T_R_DEADLOCK_DETECTED:
		case ERRCODE_LOCK_NOT_AVAILABLE:
		case ERRCODE_UNIQUE_VIOLATION:
			return LANCE_CONCURRENT_MODIFICATION;
		case ERRCODE_READ_ONLY_SQL_TRANSACTION:
		case ERRCODE_QUERY_CANCELED:
		case ERRCODE_UNDEFINED_SCHEMA:
		case ERRCODE_UNDEFINED_TABLE:
		case ERRCODE_UNDEFINED_FUNCTION:
			return LANCE_SERVICE_UNAVAILABLE;
		case ERRCODE_UNDEFINED_OBJECT: /* a storage profile */
			return LANCE_INVALID_INPUT;
	}
	switch (category)
	{
		case MAKE_SQLSTATE('2', '2', 0, 0, 0) & 0xFFF:
			return LANCE_INVALID_INPUT;
		case MAKE_SQLSTATE('2', '8', 0, 0, 0) & 0xFFF:
			return LANCE_UNAUTHENTICATED;
		case MAKE_SQLSTATE('5', '3', 0, 0, 0) & 0xFFF: /* insufficient resources */
		case MAKE_SQLSTATE('5', '7', 0, 0, 0) & 0xFFF: /* operator intervention */
		case MAKE_SQLSTATE('0', '8', 0, 0, 0) & 0xFFF: /* connection trouble, of the store */
			return LANCE_SERVICE_UNAVAILABLE;
	}
	return LANCE_INTERNAL;
}

int
lance_http_status(LanceErrorCode code)
{
	return error_row(code)->http_status;
}
