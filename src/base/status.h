/*
 * status.h
 *	  Status codes, the error record and the context that every fallible library function takes.
 *
 * The library half never throws. A fallible function returns an LncCode and, when that is not LNC_OK,
 * has filled ctx->error. Callers pass the code up with LNC_TRY; only pg/report.c turns it into ereport.
 */
#ifndef LNC_BASE_STATUS_H
#define LNC_BASE_STATUS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct LncBudget;
struct LncEnv;

typedef enum LncCode
{
	LNC_OK = 0,
	LNC_INVALID,     /* the caller's argument is wrong (bad URI, unknown option, bad name) */
	LNC_CORRUPT,     /* stored bytes break the format */
	LNC_UNSUPPORTED, /* valid, but not offered here; the message names the feature */
	LNC_NOT_FOUND,   /* the object, version or field does not exist */
	LNC_NO_STORE,    /* the place that would hold it, a bucket, does not exist */
	LNC_EXISTS,      /* a conditional create found the name taken */
	LNC_DENIED,      /* the store or the file system refuses access */
	LNC_IO,          /* a read or write failed for good */
	LNC_UNAVAILABLE, /* the store did not answer within its retries */
	LNC_UNCLEAR,     /* a write may or may not have happened */
	LNC_RANGE,       /* a value lies outside what the target can hold */
	LNC_LIMIT,       /* input asks for more than a documented bound */
	LNC_NO_MEMORY,
	LNC_CANCELLED /* the environment asked to stop */
} LncCode;

/* What went wrong, in the three parts of a PostgreSQL error report. Empty strings mean "none". */
typedef struct LncError
{
	LncCode code;
	char message[512]; /* lower case, one line, no full stop */
	char detail[1024]; /* sentences with the facts: file, column, page */
	char hint[512];    /* sentences with the mend */
} LncError;

/* What was asked of stores. */
typedef struct LncUsage
{
	uint64_t requests;
	uint64_t bytes_read;
	uint64_t recalled; /* reads that were spared, since the bytes were remembered */
} LncUsage;

/* One per operation. Holds the environment's hooks (borrowed), the last error, and what the operation has asked of stores. */
typedef struct LncContext
{
	const struct LncEnv *env;
	struct LncBudget *budget; /* that scratch arenas count against (arena.h), or NULL */
	LncError error;
	LncUsage usage;
} LncContext;

#define LNC_MUST_CHECK __attribute__((warn_unused_result))
#define LNC_PRINTF(fmt_at, args_at) __attribute__((format(printf, fmt_at, args_at)))

/* Start a context over env (borrowed, must outlive it). */
extern void lnc_context_init(LncContext *ctx, const struct LncEnv *env);

/* Record an error and return its code, so that "return lnc_fail(...)" reads naturally. */
extern LncCode lnc_fail(LncContext *ctx, LncCode code, const char *fmt, ...) LNC_PRINTF(3, 4);
/* The same, in a form that shows the compiler which code comes back, and so that it is no success. */
static inline LncCode
lnc_failed(LncCode recorded, LncCode code)
{
	(void)recorded;
	return code;
}
#define lnc_fail(ctx, code, ...) lnc_failed(lnc_fail(ctx, code, __VA_ARGS__), code)

/* Add a sentence to the detail of the error just recorded (appended when there is one already). */
extern void lnc_detail(LncContext *ctx, const char *fmt, ...) LNC_PRINTF(2, 3);

/* Set the hint of the error just recorded, unless it has one. */
extern void lnc_hint(LncContext *ctx, const char *fmt, ...) LNC_PRINTF(2, 3);

/* A short lower-case English name of a code, for tests and tools. */
extern const char *lnc_code_name(LncCode code);

/* LNC_CANCELLED when the environment asks to stop, else LNC_OK. Call it in every loop over foreign input. */
extern LncCode lnc_check_interrupt(LncContext *ctx) LNC_MUST_CHECK;

#define LNC_TRY(expr)              \
	do                             \
	{                              \
		LncCode lnc_try_ = (expr); \
		if (lnc_try_ != LNC_OK)    \
			return lnc_try_;       \
	} while (0)

#endif
