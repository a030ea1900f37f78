/*
 * json_writer.c
 *	  Writing JSON: compact, one growing buffer, errors kept until the end.
 */
#include "base/json.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/utf8.h"

/* What may come next at one level of nesting. */
typedef enum WriterState
{
	WRITE_FIRST, /* nothing yet: no comma is due */
	WRITE_NEXT,  /* something is there: a comma is due */
	WRITE_VALUE  /* a key was written: exactly one value is due */
} WriterState;

struct LncJsonWriter
{
	LncContext *ctx; /* borrowed */
	LncBuffer buffer;
	LncCode code; /* the first error, whose record is kept in error */
	LncError error;
	int depth;                            /* open containers */
	char closers[LNC_JSON_MAX_DEPTH + 1]; /* per level: '}', ']', or '\0' for the top */
	WriterState states[LNC_JSON_MAX_DEPTH + 1];
};

LncCode
lnc_jw_create(LncContext *ctx, LncArena *arena, size_t max, LncJsonWriter **out)
{
	LNC_TRY(LNC_NEW(ctx, arena, out, 1));
	(*out)->ctx = ctx;
	lnc_buffer_init(&(*out)->buffer, arena, max);
	return LNC_OK;
}

/* Keep the error just recorded in ctx. */
static void
keep_error(LncJsonWriter *w, LncCode code)
{
	if (code == LNC_OK || w->code != LNC_OK)
		return;
	w->code = code;
	w->error = w->ctx->error;
}

static void
misuse(LncJsonWriter *w, const char *what)
{
	keep_error(w, lnc_fail(w->ctx, LNC_INVALID, "malformed JSON output: %s", what));
}

static void
append(LncJsonWriter *w, const char *text, size_t length)
{
	if (w->code == LNC_OK)
		keep_error(w, lnc_buffer_append(w->ctx, &w->buffer, text, length));
}

/* Comma and state before a value. */
static void
before_value(LncJsonWriter *w)
{
	WriterState *state = &w->states[w->depth];

	if (w->closers[w->depth] == '}')
	{
		if (*state != WRITE_VALUE)
			misuse(w, "value without a key");
	}
	else if (*state == WRITE_NEXT)
	{
		if (w->depth == 0)
			misuse(w, "more than one value");
		append(w, ",", 1);
	}
	*state = WRITE_NEXT;
}

static void
begin(LncJsonWriter *w, const char *opener, char closer)
{
	before_value(w);
	if (w->depth >= LNC_JSON_MAX_DEPTH)
	{
		misuse(w, "nested too deep");
		return;
	}
	append(w, opener, 1);
	w->depth++;
	w->closers[w->depth] = closer;
	w->states[w->depth] = WRITE_FIRST;
}

static void
end(LncJsonWriter *w, char closer)
{
	if (w->depth == 0 || w->closers[w->depth] != closer || w->states[w->depth] == WRITE_VALUE)
	{
		misuse(w, "container closed out of order");
		return;
	}
	append(w, &closer, 1);
	w->depth--;
}

void
lnc_jw_begin_object(LncJsonWriter *w)
{
	begin(w, "{", '}');
}

void
lnc_jw_end_object(LncJsonWriter *w)
{
	end(w, '}');
}

void
lnc_jw_begin_array(LncJsonWriter *w)
{
	begin(w, "[", ']');
}

void
lnc_jw_end_array(LncJsonWriter *w)
{
	end(w, ']');
}

/* A quoted string: runs of plain bytes are copied as a whole. */
static void
append_quoted(LncJsonWriter *w, const char *text, size_t length)
{
	size_t start = 0;

	if (!lnc_utf8_valid((const uint8_t *)text, length, NULL))
	{
		keep_error(w,
				   lnc_fail(w->ctx, LNC_INVALID, "a text for JSON output is not valid UTF-8 or holds a NUL byte"));
		return;
	}
	append(w, "\"", 1);
	for (size_t i = 0; i < length; i++)
	{
		uint8_t c = (uint8_t)text[i];
		char escape[8];
		int n;

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		append(w, text + start, i - start);
		start = i + 1;
		if (c == '"' || c == '\\')
			n = snprintf(escape, sizeof(escape), "\\%c", c);
		else if (c == '\n')
			n = snprintf(escape, sizeof(escape), "\\n");
		else if (c == '\t')
			n = snprintf(escape, sizeof(escape), "\\t");
		else
			n = snprintf(escape, sizeof(escape), "\\u%04x", c);
		append(w, escape, (size_t)n);
	}
	append(w, text + start, length - start);
	append(w, "\"", 1);
}

void
lnc_jw_key(LncJsonWriter *w, const char *key)
{
	WriterState *state = &w->states[w->depth];

	if (w->closers[w->depth] != '}' || *state == WRITE_VALUE)
	{
		misuse(w, "key out of place");
		return;
	}
	if (*state == WRITE_NEXT)
		append(w, ",", 1);
	append_quoted(w, key, strlen(key));
	append(w, ":", 1);
	*state = WRITE_VALUE;
}

void
lnc_jw_string(LncJsonWriter *w, const char *text)
{
	if (text == NULL)
		lnc_jw_null(w);
	else
		lnc_jw_string_n(w, text, strlen(text));
}

void
lnc_jw_string_n(LncJsonWriter *w, const char *text, size_t length)
{
	before_value(w);
	append_quoted(w, text, length);
}

void
lnc_jw_raw(LncJsonWriter *w, const char *text, size_t length)
{
	before_value(w);
	append(w, text, length);
}

void
lnc_jw_int(LncJsonWriter *w, int64_t value)
{
	char text[32];

	lnc_jw_raw(w, text, (size_t)snprintf(text, sizeof(text), "%" PRId64, value));
}

void
lnc_jw_uint(LncJsonWriter *w, uint64_t value)
{
	char text[32];

	lnc_jw_raw(w, text, (size_t)snprintf(text, sizeof(text), "%" PRIu64, value));
}

void
lnc_jw_double(LncJsonWriter *w, double value)
{
	char text[40];
	int n = 0;

	if (!isfinite(value))
	{
		lnc_jw_null(w);
		return;
	}
	/* The shortest form that reads back as the same number. */
	for (int digits = 15; digits <= 17; digits++)
	{
		n = snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	lnc_jw_raw(w, text, (size_t)n);
}

void
lnc_jw_bool(LncJsonWriter *w, bool value)
{
	if (value)
		lnc_jw_raw(w, "true", 4);
	else
		lnc_jw_raw(w, "false", 5);
}

void
lnc_jw_null(LncJsonWriter *w)
{
	lnc_jw_raw(w, "null", 4);
}

void
lnc_jw_value(LncJsonWriter *w, const LncJson *value)
{
	switch (lnc_json_kind(value))
	{
		case LNC_JSON_NULL:
			lnc_jw_null(w);
			break;
		case LNC_JSON_BOOL:
			lnc_jw_bool(w, cJSON_IsTrue(value));
			break;
		case LNC_JSON_NUMBER:
			lnc_jw_double(w, value->valuedouble);
			break;
		case LNC_JSON_STRING:
			lnc_jw_string(w, value->valuestring);
			break;
		case LNC_JSON_ARRAY:
			lnc_jw_begin_array(w);
			LNC_JSON_EACH(child, value)
			{
				lnc_jw_value(w, child);
			}
			lnc_jw_end_array(w);
			break;
		case LNC_JSON_OBJECT:
			lnc_jw_begin_object(w);
			LNC_JSON_EACH(child, value)
			{
				lnc_jw_key(w, child->string);
				lnc_jw_value(w, child);
			}
			lnc_jw_end_object(w);
			break;
	}
}

void
lnc_jw_put_string(LncJsonWriter *w, const char *key, const char *text)
{
	if (text == NULL)
		return;
	lnc_jw_key(w, key);
	lnc_jw_string(w, text);
}

void
lnc_jw_put_int(LncJsonWriter *w, const char *key, int64_t value)
{
	lnc_jw_key(w, key);
	lnc_jw_int(w, value);
}

void
lnc_jw_put_bool(LncJsonWriter *w, const char *key, bool value)
{
	lnc_jw_key(w, key);
	lnc_jw_bool(w, value);
}

LncCode
lnc_jw_finish(LncJsonWriter *w, LncSlice *out)
{
	if (w->depth != 0)
		misuse(w, "unclosed container");
	else if (w->states[0] == WRITE_FIRST)
		misuse(w, "no value");
	if (w->code != LNC_OK)
	{
		w->ctx->error = w->error;
		return w->code;
	}
	/* A NUL behind the text, for callers that want a C string. */
	LNC_TRY(lnc_buffer_append(w->ctx, &w->buffer, "", 1));
	*out = (LncSlice){.data = w->buffer.data, .size = w->buffer.size - 1};
	return LNC_OK;
}
