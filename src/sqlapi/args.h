/*
 * args.h
 *	  From SQL arguments to request fields, and from response fields to result columns.
 */
#ifndef LANCE_SQLAPI_ARGS_H
#define LANCE_SQLAPI_ARGS_H

#include "fmgr.h"
#include "ops/types.h"

/*
 * The id in argument n: text in the spelling of the wire ("a$b"; "" and "$" are the root), or text[] of the names. NULL:
 * not given.
 */
extern void lance_arg_id(FunctionCallInfo fcinfo, int n, LanceId *out);

/* Palloc'd text; NULL for NULL. */
extern char *lance_arg_text(FunctionCallInfo fcinfo, int n);

/* A bigint argument, also for those that SQL knows as integer. */
extern LanceOptionalInt lance_arg_int8(FunctionCallInfo fcinfo, int n);
extern LanceOptionalInt lance_arg_int4(FunctionCallInfo fcinfo, int n);
extern LanceOptionalBool lance_arg_bool(FunctionCallInfo fcinfo, int n);

/* A jsonb object of texts; what names the argument in messages. */
extern LanceProperties lance_arg_properties(FunctionCallInfo fcinfo, int n, const char *what);

/* A text[] argument without nulls; what names it in messages. */
extern LanceTexts lance_arg_texts(FunctionCallInfo fcinfo, int n, const char *what);

/* A jsonb argument as JSON text; NULL for NULL. */
extern char *lance_arg_json(FunctionCallInfo fcinfo, int n);

/* A result row being filled, left to right. */
typedef struct LanceRecord
{
	int n;
	Datum values[16];
	bool nulls[16];
} LanceRecord;

extern void lance_record_text(LanceRecord *record, const char *text);
extern void lance_record_int8(LanceRecord *record, LanceOptionalInt value);
extern void lance_record_bool(LanceRecord *record, LanceOptionalBool value);

/* A map as jsonb; one that is not given is NULL. */
extern void lance_record_properties(LanceRecord *record, const LanceProperties *properties);

/* Maps by name as a jsonb object of objects. */
extern void lance_record_maps(LanceRecord *record, const LanceNamedPropertiesList *maps);
extern void lance_record_texts(LanceRecord *record, const LanceId *id);
extern void lance_record_json(LanceRecord *record, const char *json);

/* Milliseconds since the Unix epoch as timestamptz. */
extern void lance_record_time(LanceRecord *record, LanceOptionalInt millis);

/* Microseconds since the Unix epoch as timestamptz; NULL also for a time that it can't hold. */
extern void lance_record_time_us(LanceRecord *record, LanceOptionalInt unix_us);

/* The record as the function's result, whose type the call tells. */
extern Datum lance_record_result(FunctionCallInfo fcinfo, LanceRecord *record);

/* A map as the only result: NULL result when it is not given. */
extern Datum lance_properties_result(FunctionCallInfo fcinfo, const LanceProperties *properties);

/* Begin a set of rows (materialised); then add records. */
extern void lance_set_begin(FunctionCallInfo fcinfo);
extern void lance_set_add(FunctionCallInfo fcinfo, LanceRecord *record);

#endif
