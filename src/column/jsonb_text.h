/*
 * jsonb_text.h
 *	  The binary form of JSON in columns of type json, as text.
 *
 * Source of the facts: format.md section 9, crate lance-jsonb (core).
 */
#ifndef LNC_COLUMN_JSONB_TEXT_H
#define LNC_COLUMN_JSONB_TEXT_H

#include "base/arena.h"
#include "base/bytes.h"

/* Arrays and objects in each other: so many levels at most. */
#define LNC_JSONB_MAX_DEPTH 1000

/*
 * The text of one value, NUL-terminated behind its size, in the arena: UTF-8, compact, members in the order stored.
 * Doubles are written with the fewest digits that read back the same, and always with a point or an exponent; NaN and
 * infinities, which JSON lacks, are the strings "NaN", "Infinity" and "-Infinity". A NUL in a string is \u0000.
 *
 * LNC_CORRUPT for bytes that are no JSONB, LNC_UNSUPPORTED for the extension values that JSON text never makes (binary,
 * date, timestamp, interval), LNC_LIMIT for more than LNC_JSONB_MAX_DEPTH levels or a text beyond 1 GiB.
 */
extern LncCode lnc_jsonb_text(LncContext *ctx, LncArena *arena, LncSlice jsonb, LncSlice *out) LNC_MUST_CHECK;

#endif
