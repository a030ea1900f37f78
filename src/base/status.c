/*
 * status.c
 *	  Recording errors.
 */
#include "base/status.h"

#include <stdio.h>
#include <string.h>

#include "base/env.h"

void
lnc_context_init(LncContext *ctx, const struct LncEnv *env)
{
	memset(ctx, 0, sizeof(*ctx));
	ctx->env = env;
}

LncCode(lnc_fail)(LncContext *ctx, LncCode code, const char *fmt, ...)
{
	va_list args;

	ctx->error.code = code;
	ctx->error.detail[0] = '\0';
	ctx->error.hint[0] = '\0';
	va_start(args, fmt);
	vsnprintf(ctx->error.message, sizeof(ctx->error.message), fmt, args);
	va_end(args);
	return code;
}

void
lnc_detail(LncContext *ctx, const char *fmt, ...)
{
	size_t used = strlen(ctx->error.detail);
	va_list args;

	if (used > 0 && used + 2 < sizeof(ctx->error.detail))
		ctx->error.detail[used++] = ' ';
	va_start(args, fmt);
	vsnprintf(ctx->error.detail + used, sizeof(ctx->error.detail) - used, fmt, args);
	va_end(args);
}

void
lnc_hint(LncContext *ctx, const char *fmt, ...)
{
	va_list args;

	if (ctx->error.hint[0] != '\0')
		return;
	va_start(args, fmt);
	vsnprintf(ctx->error.hint, sizeof(ctx->error.hint), fmt, args);
	va_end(args);
}

const char *
lnc_code_name(LncCode code)
{
	static const char *const names[] = {
		[LNC_OK] = "ok",
		[LNC_INVALID] = "invalid",
		[LNC_CORRUPT] = "corrupt",
		[LNC_UNSUPPORTED] = "unsupported",
		[LNC_NOT_FOUND] = "not found",
		[LNC_NO_STORE] = "no store",
		[LNC_EXISTS] = "exists",
		[LNC_DENIED] = "denied",
		[LNC_IO] = "io",
		[LNC_UNAVAILABLE] = "unavailable",
		[LNC_UNCLEAR] = "unclear",
		[LNC_RANGE] = "range",
		[LNC_LIMIT] = "limit",
		[LNC_NO_MEMORY] = "no memory",
		[LNC_CANCELLED] = "cancelled",
	};

	return (size_t)code < sizeof(names) / sizeof(names[0]) ? names[code] : "unknown";
}

LncCode
lnc_check_interrupt(LncContext *ctx)
{
	if (ctx->env->interrupted(ctx->env->state))
		return lnc_fail(ctx, LNC_CANCELLED, "canceled");
	return LNC_OK;
}
