/*
 * check.h
 *	  The one macro by which decoders refuse bytes that break the format.
 */
#ifndef LNC_ENCODING_CHECK_H
#define LNC_ENCODING_CHECK_H

#include "base/status.h"

/* Unless cond holds, leave the function with LNC_CORRUPT and the message (format string and arguments). */
#define LNC_REQUIRE(ctx, cond, ...)                           \
	do                                                        \
	{                                                         \
		if (__builtin_expect(!(cond), 0))                     \
			return lnc_fail((ctx), LNC_CORRUPT, __VA_ARGS__); \
	} while (0)

#endif
