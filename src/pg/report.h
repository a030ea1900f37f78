/*
 * report.h
 *	  The one place where a library status becomes a PostgreSQL error.
 */
#ifndef LANCE_PG_REPORT_H
#define LANCE_PG_REPORT_H

#include "base/status.h"

/* Throw ctx->error with its SQLSTATE; a cancel runs the pending interrupt instead. */
extern void lance_report(const LncContext *ctx) pg_attribute_noreturn();

/* Throw unless code is LNC_OK. Use as: lance_check(&lib->ctx, lnc_store_open(&lib->ctx, …)). */
#define lance_check(ctx, expr) \
	do                         \
	{                          \
		if ((expr) != LNC_OK)  \
			lance_report(ctx); \
	} while (0)

#endif
