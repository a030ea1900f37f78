/*
 * utf8.h
 *	  Validation of UTF-8 text that is meant for PostgreSQL.
 */
#ifndef LNC_BASE_UTF8_H
#define LNC_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * True when the bytes are well-formed UTF-8 (no surrogates, no overlong forms, at most U+10FFFF) and hold no NUL.
 * bad, when not NULL, receives the offset of the first sequence that is not.
 */
extern bool lnc_utf8_valid(const uint8_t *text, size_t length, size_t *bad);

#endif
