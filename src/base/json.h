/*
 * json.h
 *	  JSON of RFC 8259: a strict reader and a writer.
 *
 * The reader accepts exactly one value of valid UTF-8 and refuses NUL (raw or escaped), duplicate keys, nesting
 * deeper than LNC_JSON_MAX_DEPTH and numbers beyond a double. Integers are read only when exact. Faults are
 * LNC_INVALID; a caller whose text came from a file turns them into LNC_CORRUPT.
 *
 * The writer keeps its first error, so that a body is written without a check on each line; lnc_jw_finish
 * reports it:
 *
 *		lnc_jw_begin_object(w);
 *		lnc_jw_put_string(w, "name", name);
 *		lnc_jw_key(w, "versions");
 *		lnc_jw_begin_array(w);
 *		lnc_jw_int(w, 7);
 *		lnc_jw_end_array(w);
 *		lnc_jw_end_object(w);
 *		LNC_TRY(lnc_jw_finish(w, &body));
 */
#ifndef LNC_BASE_JSON_H
#define LNC_BASE_JSON_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"

#define LNC_JSON_MAX_DEPTH 100

/* Values and member names of one text. A parsed one takes some 30 times the bytes of the shortest, "1,". */
#define LNC_JSON_MAX_VALUES 250000

/* One parsed value, read-only; lives until its arena is reset. */
typedef struct cJSON LncJson;

typedef enum LncJsonKind
{
	LNC_JSON_NULL,
	LNC_JSON_BOOL,
	LNC_JSON_NUMBER,
	LNC_JSON_STRING,
	LNC_JSON_ARRAY,
	LNC_JSON_OBJECT
} LncJsonKind;

/* ---- reader */

/* Parse all of text (copied where needed). LNC_INVALID names the fault and the byte where it was seen. */
extern LncCode lnc_json_parse(LncContext *ctx, LncArena *arena, LncSlice text, const LncJson **out) LNC_MUST_CHECK;

extern LncJsonKind lnc_json_kind(const LncJson *value);

/* "a string", "an object", … for messages. */
extern const char *lnc_json_kind_name(LncJsonKind kind);

/* The member of an object, by exact name; NULL when it is absent, null, or value is no object (NULL included). */
extern const LncJson *lnc_json_member(const LncJson *object, const char *key);

/*
 * Members by kind. Absent and null are the same: *out (or *present) says so. LNC_INVALID naming the member when it is
 * of another kind, and for an int64 also when the number is no integer or not exact (2^53 and above).
 */
extern LncCode lnc_json_get_string(LncContext *ctx, const LncJson *object, const char *key,
								   const char **out) LNC_MUST_CHECK;
extern LncCode lnc_json_get_int64(LncContext *ctx, const LncJson *object, const char *key, bool *present,
								  int64_t *out) LNC_MUST_CHECK;
extern LncCode lnc_json_get_double(LncContext *ctx, const LncJson *object, const char *key, bool *present,
								   double *out) LNC_MUST_CHECK;
extern LncCode lnc_json_get_bool(LncContext *ctx, const LncJson *object, const char *key, bool *present,
								 bool *out) LNC_MUST_CHECK;
extern LncCode lnc_json_get_object(LncContext *ctx, const LncJson *object, const char *key,
								   const LncJson **out) LNC_MUST_CHECK;
extern LncCode lnc_json_get_array(LncContext *ctx, const LncJson *object, const char *key,
								  const LncJson **out) LNC_MUST_CHECK;

/* A value that must be of the kind; what names it in the message ("element of \"columns\""). null is refused. */
extern LncCode lnc_json_as_string(LncContext *ctx, const LncJson *value, const char *what,
								  const char **out) LNC_MUST_CHECK;
extern LncCode lnc_json_as_int64(LncContext *ctx, const LncJson *value, const char *what,
								 int64_t *out) LNC_MUST_CHECK;
extern LncCode lnc_json_as_double(LncContext *ctx, const LncJson *value, const char *what,
								  double *out) LNC_MUST_CHECK;
extern LncCode lnc_json_as_bool(LncContext *ctx, const LncJson *value, const char *what, bool *out) LNC_MUST_CHECK;

/* Members or elements, in the order of the text. NULL ends; an absent (NULL) or scalar value has none. */
extern const LncJson *lnc_json_first(const LncJson *container);
extern const LncJson *lnc_json_next(const LncJson *child);
extern size_t lnc_json_count(const LncJson *container);

/* The name of a member met by lnc_json_first or lnc_json_next; NULL for array elements. */
extern const char *lnc_json_key(const LncJson *child);

#define LNC_JSON_EACH(child, container) \
	for (const LncJson *child = lnc_json_first(container); child != NULL; child = lnc_json_next(child))

/* ---- writer */

typedef struct LncJsonWriter LncJsonWriter;

/* Start an empty text that grows in the arena, at most max bytes of it. ctx is borrowed until lnc_jw_finish. */
extern LncCode lnc_jw_create(LncContext *ctx, LncArena *arena, size_t max, LncJsonWriter **out) LNC_MUST_CHECK;

extern void lnc_jw_begin_object(LncJsonWriter *w);
extern void lnc_jw_end_object(LncJsonWriter *w);
extern void lnc_jw_begin_array(LncJsonWriter *w);
extern void lnc_jw_end_array(LncJsonWriter *w);

/* The name of the next member. */
extern void lnc_jw_key(LncJsonWriter *w, const char *key);

/* Values. Strings must be valid UTF-8 without NUL; a NULL string is null; a double that is not finite is null. */
extern void lnc_jw_string(LncJsonWriter *w, const char *text);
extern void lnc_jw_string_n(LncJsonWriter *w, const char *text, size_t length);
extern void lnc_jw_int(LncJsonWriter *w, int64_t value);
extern void lnc_jw_uint(LncJsonWriter *w, uint64_t value);
extern void lnc_jw_double(LncJsonWriter *w, double value);
extern void lnc_jw_bool(LncJsonWriter *w, bool value);
extern void lnc_jw_null(LncJsonWriter *w);

/* A value that is JSON already; it is not checked, so never pass foreign text that was not parsed. */
extern void lnc_jw_raw(LncJsonWriter *w, const char *text, size_t length);

/* A copy of a parsed value, members in their order. */
extern void lnc_jw_value(LncJsonWriter *w, const LncJson *value);

/* Key and value in one. A NULL string writes nothing at all: absent, not null. */
extern void lnc_jw_put_string(LncJsonWriter *w, const char *key, const char *text);
extern void lnc_jw_put_int(LncJsonWriter *w, const char *key, int64_t value);
extern void lnc_jw_put_bool(LncJsonWriter *w, const char *key, bool value);

/*
 * The finished text, NUL-terminated behind its size. The first error of any call above is reported here; so is
 * misuse (an unclosed container, a value without key), as LNC_INVALID.
 */
extern LncCode lnc_jw_finish(LncJsonWriter *w, LncSlice *out) LNC_MUST_CHECK;

#endif
