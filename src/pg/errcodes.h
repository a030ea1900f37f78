/*
 * errcodes.h
 *	  Error codes of the Lance namespace specification, their SQLSTATEs and HTTP statuses.
 *
 * The SQLSTATE class is LN, with the specification's code as its number: LN004 is TableNotFound. Where PostgreSQL has
 * a condition that applications already handle, that one is used instead: 0A000 for Unsupported, 23505 for a name
 * that is taken, 40001 for ConcurrentModification (so that clients retry), 22023 for InvalidInput, 42501 and 28000
 * for permissions. Source: spec.yaml ErrorResponse, rest.md section 3.
 */
#ifndef LANCE_PG_ERRCODES_H
#define LANCE_PG_ERRCODES_H

#include "utils/elog.h"

typedef enum LanceErrorCode
{
	LANCE_UNSUPPORTED = 0,
	LANCE_NAMESPACE_NOT_FOUND = 1,
	LANCE_NAMESPACE_EXISTS = 2,
	LANCE_NAMESPACE_NOT_EMPTY = 3,
	LANCE_TABLE_NOT_FOUND = 4,
	LANCE_TABLE_EXISTS = 5,
	LANCE_INDEX_NOT_FOUND = 6,
	LANCE_INDEX_EXISTS = 7,
	LANCE_TAG_NOT_FOUND = 8,
	LANCE_TAG_EXISTS = 9,
	LANCE_TRANSACTION_NOT_FOUND = 10,
	LANCE_VERSION_NOT_FOUND = 11,
	LANCE_COLUMN_NOT_FOUND = 12,
	LANCE_INVALID_INPUT = 13,
	LANCE_CONCURRENT_MODIFICATION = 14,
	LANCE_PERMISSION_DENIED = 15,
	LANCE_UNAUTHENTICATED = 16,
	LANCE_SERVICE_UNAVAILABLE = 17,
	LANCE_INTERNAL = 18,
	LANCE_INVALID_TABLE_STATE = 19,
	LANCE_SCHEMA_VALIDATION = 20,
	LANCE_THROTTLING = 21,
	LANCE_BRANCH_NOT_FOUND = 22,
	LANCE_BRANCH_EXISTS = 23
} LanceErrorCode;

/*
 * The SQLSTATE (as errcode() wants it) of a code. For the two "name taken" codes, which share 23505, also
 * call lance_errname so that the code can be found again: ereport(ERROR, lance_errcode(LANCE_TABLE_EXISTS), errmsg(…)).
 * lance_errcode does both; use it in place of errcode() inside ereport.
 */
extern int lance_errcode(LanceErrorCode code);

/* The specification's code of a caught error: the reverse of lance_errcode, 18 (or 17, 13, 14, 15 by class) for others. */
extern LanceErrorCode lance_error_code(const ErrorData *edata);

/* The HTTP status of a code. */
extern int lance_http_status(LanceErrorCode code);

#endif
