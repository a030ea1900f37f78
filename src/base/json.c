/*
 * json.c
 *	  The strict JSON reader: cJSON with the guards that it lacks.
 *
 * Left alone cJSON takes invalid UTF-8, text after the value, control characters, "01" and duplicate keys, and
 * cuts strings at \u0000. One pass over the text refuses those that are visible in it, one walk over the tree
 * the rest.
 */
#include "base/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/utf8.h"

/* cJSON copies a number into a buffer of 64 bytes; a longer one would be cut. */
#define LONGEST_NUMBER 63

/* Integers from here on have neighbours that read as the same double. */
#define FIRST_INEXACT 9007199254740992.0

/* How many bytes or values are handled between two polls for an interrupt. */
#define POLL_EVERY 65536

static LncCode
syntax_error(LncContext *ctx, const char *fault, size_t at)
{
	return lnc_fail(ctx, LNC_INVALID, "invalid JSON: %s at byte %zu", fault, at);
}

static bool
is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* Check the string whose opening quote is at *at; leaves *at behind the closing one. */
static LncCode
check_string(LncContext *ctx, LncSlice text, size_t *at)
{
	size_t i = *at + 1;

	for (; i < text.size && text.data[i] != '"'; i++)
	{
		if (text.data[i] < 0x20)
			return syntax_error(ctx, "control character in a string", i);
		if (text.data[i] != '\\')
			continue;
		if (text.size - i >= 6 && memcmp(text.data + i, "\\u0000", 6) == 0)
			return syntax_error(ctx, "\\u0000 is not allowed", i);
		i++; /* the escaped character, which may be a quote */
	}
	if (i >= text.size)
		return syntax_error(ctx, "unterminated string", *at);
	*at = i + 1;
	return LNC_OK;
}

static size_t
skip_digits(LncSlice text, size_t i)
{
	while (i < text.size && is_digit(text.data[i]))
		i++;
	return i;
}

/* Check the number at *at against the grammar; leaves *at behind it. */
static LncCode
check_number(LncContext *ctx, LncSlice text, size_t *at)
{
	size_t i = *at;
	size_t first;

	if (text.data[i] == '-')
		i++;
	first = i;
	i = skip_digits(text, i);
	if (i == first || (text.data[first] == '0' && i - first > 1))
		return syntax_error(ctx, "malformed number", *at);
	if (i < text.size && text.data[i] == '.')
	{
		first = ++i;
		i = skip_digits(text, i);
		if (i == first)
			return syntax_error(ctx, "malformed number", *at);
	}
	if (i < text.size && (text.data[i] == 'e' || text.data[i] == 'E'))
	{
		i++;
		if (i < text.size && (text.data[i] == '+' || text.data[i] == '-'))
			i++;
		first = i;
		i = skip_digits(text, i);
		if (i == first)
			return syntax_error(ctx, "malformed number", *at);
	}
	if (i - *at > LONGEST_NUMBER)
		return syntax_error(ctx, "number with too many digits", *at);
	*at = i;
	return LNC_OK;
}

/* What can be told from the text alone. cJSON checks the order of the tokens afterwards. */
static LncCode
check_text(LncContext *ctx, LncSlice text)
{
	size_t depth = 0;
	size_t i = 0;
	size_t next_poll = POLL_EVERY;
	size_t values = 0;
	size_t bad;

	if (!lnc_utf8_valid(text.data, text.size, &bad))
		return syntax_error(ctx, "invalid UTF-8 or NUL", bad);
	while (i < text.size)
	{
		uint8_t c = text.data[i];

		if (i >= next_poll)
		{
			LNC_TRY(lnc_check_interrupt(ctx));
			next_poll = i + POLL_EVERY;
		}
		if (strchr("\"[{-tfn", c) != NULL || is_digit(c))
			values++;
		if (values > LNC_JSON_MAX_VALUES)
			return lnc_fail(ctx, LNC_INVALID, "invalid JSON: more than %d values", LNC_JSON_MAX_VALUES);
		switch (c)
		{
			case '"':
				LNC_TRY(check_string(ctx, text, &i));
				break;
			case '[':
			case '{':
				if (++depth > LNC_JSON_MAX_DEPTH)
					return lnc_fail(ctx, LNC_INVALID, "invalid JSON: nested deeper than %d levels",
									LNC_JSON_MAX_DEPTH);
				i++;
				break;
			case ']':
			case '}':
				if (depth == 0)
					return syntax_error(ctx, "unexpected closing bracket", i);
				depth--;
				i++;
				break;
			default:
				if (c == '-' || is_digit(c))
					LNC_TRY(check_number(ctx, text, &i));
				else if (strchr(" \t\r\n,:truefalsn", c) != NULL)
					i++;
				else
					return syntax_error(ctx, "unexpected character", i);
				break;
		}
	}
	return LNC_OK;
}

static int
compare_keys(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Refuse an object that names a member twice. keys is scratch memory, freed by the caller. */
static LncCode
check_keys(LncContext *ctx, LncArena *scratch, const cJSON *object)
{
	size_t count = lnc_json_count(object);
	const char **keys;
	size_t n = 0;

	if (count < 2)
		return LNC_OK;
	LNC_TRY(LNC_NEW(ctx, scratch, &keys, count));
	LNC_JSON_EACH(member, object)
	{
		keys[n++] = member->string;
	}
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < count; i++)
	{
		if (strcmp(keys[i - 1], keys[i]) == 0)
			return lnc_fail(ctx, LNC_INVALID, "invalid JSON: duplicate key \"%.100s\"", keys[i]);
	}
	return LNC_OK;
}

/* What can be told from the tree only. Recursion is bounded by the depth that check_text allows. */
static LncCode
check_tree(LncContext *ctx, LncArena *scratch, const cJSON *value, size_t *seen)
{
	if (++*seen % POLL_EVERY == 0)
		LNC_TRY(lnc_check_interrupt(ctx));
	if (cJSON_IsNumber(value) && !isfinite(value->valuedouble))
		return lnc_fail(ctx, LNC_INVALID, "invalid JSON: a number is out of range");
	if (cJSON_IsObject(value))
		LNC_TRY(check_keys(ctx, scratch, value));
	LNC_JSON_EACH(child, value)
	{
		LNC_TRY(check_tree(ctx, scratch, child, seen));
	}
	return LNC_OK;
}

static void
delete_tree(void *arg)
{
	cJSON_Delete(arg);
}

LncCode
lnc_json_parse(LncContext *ctx, LncArena *arena, LncSlice text, const LncJson **out)
{
	const char *end = NULL;
	const char *limit;
	cJSON *tree;
	LncArena *scratch;
	size_t seen = 0;
	LncCode code;

	if (text.size == 0)
		return lnc_fail(ctx, LNC_INVALID, "invalid JSON: the text is empty");
	LNC_TRY(check_text(ctx, text));
	tree = cJSON_ParseWithLengthOpts((const char *)text.data, text.size, &end, false);
	if (tree == NULL)
		return syntax_error(ctx, "syntax error", end != NULL ? (size_t)(end - (const char *)text.data) : text.size);
	code = lnc_arena_on_cleanup(ctx, arena, delete_tree, tree);
	if (code != LNC_OK)
	{
		cJSON_Delete(tree);
		return code;
	}
	limit = (const char *)text.data + text.size;
	while (end < limit && strchr(" \t\r\n", *end) != NULL)
		end++;
	if (end < limit)
		return syntax_error(ctx, "text after the value", (size_t)(end - (const char *)text.data));

	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = check_tree(ctx, scratch, tree, &seen);
	lnc_arena_destroy(scratch);
	LNC_TRY(code);
	*out = tree;
	return LNC_OK;
}

LncJsonKind
lnc_json_kind(const LncJson *value)
{
	if (cJSON_IsBool(value))
		return LNC_JSON_BOOL;
	if (cJSON_IsNumber(value))
		return LNC_JSON_NUMBER;
	if (cJSON_IsString(value))
		return LNC_JSON_STRING;
	if (cJSON_IsArray(value))
		return LNC_JSON_ARRAY;
	if (cJSON_IsObject(value))
		return LNC_JSON_OBJECT;
	return LNC_JSON_NULL;
}

const char *
lnc_json_kind_name(LncJsonKind kind)
{
	switch (kind)
	{
		case LNC_JSON_NULL:
			return "null";
		case LNC_JSON_BOOL:
			return "a boolean";
		case LNC_JSON_NUMBER:
			return "a number";
		case LNC_JSON_STRING:
			return "a string";
		case LNC_JSON_ARRAY:
			return "an array";
		case LNC_JSON_OBJECT:
			return "an object";
	}
	return "unknown";
}

const LncJson *
lnc_json_member(const LncJson *object, const char *key)
{
	const cJSON *member;

	if (!cJSON_IsObject(object))
		return NULL;
	member = cJSON_GetObjectItemCaseSensitive(object, key);
	return member == NULL || cJSON_IsNull(member) ? NULL : member;
}

/* LNC_INVALID unless value is of the kind. name is quoted when is_member says that it is a key. */
static LncCode
check_kind(LncContext *ctx, const LncJson *value, LncJsonKind kind, const char *name, bool is_member)
{
	const char *quote = is_member ? "\"" : "";

	if (lnc_json_kind(value) == kind)
		return LNC_OK;
	return lnc_fail(ctx, LNC_INVALID, "%s%.200s%s must be %s, not %s", quote, name, quote, lnc_json_kind_name(kind),
					lnc_json_kind_name(lnc_json_kind(value)));
}

static LncCode
exact_int64(LncContext *ctx, const LncJson *value, const char *name, bool is_member, int64_t *out)
{
	const char *quote = is_member ? "\"" : "";
	double number;

	LNC_TRY(check_kind(ctx, value, LNC_JSON_NUMBER, name, is_member));
	number = value->valuedouble;
	if (trunc(number) != number)
		return lnc_fail(ctx, LNC_INVALID, "%s%.200s%s must be an integer", quote, name, quote);
	if (fabs(number) >= FIRST_INEXACT)
		return lnc_fail(ctx, LNC_INVALID, "%s%.200s%s must lie between -(2^53 - 1) and 2^53 - 1", quote, name,
						quote);
	*out = (int64_t)number;
	return LNC_OK;
}

LncCode
lnc_json_get_string(LncContext *ctx, const LncJson *object, const char *key, const char **out)
{
	const LncJson *member = lnc_json_member(object, key);

	*out = NULL;
	if (member == NULL)
		return LNC_OK;
	LNC_TRY(check_kind(ctx, member, LNC_JSON_STRING, key, true));
	*out = member->valuestring;
	return LNC_OK;
}

LncCode
lnc_json_get_int64(LncContext *ctx, const LncJson *object, const char *key, bool *present, int64_t *out)
{
	const LncJson *member = lnc_json_member(object, key);

	*present = false;
	if (member == NULL)
		return LNC_OK;
	LNC_TRY(exact_int64(ctx, member, key, true, out));
	*present = true;
	return LNC_OK;
}

LncCode
lnc_json_get_double(LncContext *ctx, const LncJson *object, const char *key, bool *present, double *out)
{
	const LncJson *member = lnc_json_member(object, key);

	*present = false;
	if (member == NULL)
		return LNC_OK;
	LNC_TRY(check_kind(ctx, member, LNC_JSON_NUMBER, key, true));
	*out = member->valuedouble;
	*present = true;
	return LNC_OK;
}

LncCode
lnc_json_get_bool(LncContext *ctx, const LncJson *object, const char *key, bool *present, bool *out)
{
	const LncJson *member = lnc_json_member(object, key);

	*present = false;
	if (member == NULL)
		return LNC_OK;
	LNC_TRY(check_kind(ctx, member, LNC_JSON_BOOL, key, true));
	*out = cJSON_IsTrue(member);
	*present = true;
	return LNC_OK;
}

static LncCode
get_container(LncContext *ctx, const LncJson *object, const char *key, LncJsonKind kind, const LncJson **out)
{
	const LncJson *member = lnc_json_member(object, key);

	*out = NULL;
	if (member == NULL)
		return LNC_OK;
	LNC_TRY(check_kind(ctx, member, kind, key, true));
	*out = member;
	return LNC_OK;
}

LncCode
lnc_json_get_object(LncContext *ctx, const LncJson *object, const char *key, const LncJson **out)
{
	return get_container(ctx, object, key, LNC_JSON_OBJECT, out);
}

LncCode
lnc_json_get_array(LncContext *ctx, const LncJson *object, const char *key, const LncJson **out)
{
	return get_container(ctx, object, key, LNC_JSON_ARRAY, out);
}

LncCode
lnc_json_as_string(LncContext *ctx, const LncJson *value, const char *what, const char **out)
{
	LNC_TRY(check_kind(ctx, value, LNC_JSON_STRING, what, false));
	*out = value->valuestring;
	return LNC_OK;
}

LncCode
lnc_json_as_int64(LncContext *ctx, const LncJson *value, const char *what, int64_t *out)
{
	return exact_int64(ctx, value, what, false, out);
}

LncCode
lnc_json_as_double(LncContext *ctx, const LncJson *value, const char *what, double *out)
{
	LNC_TRY(check_kind(ctx, value, LNC_JSON_NUMBER, what, false));
	*out = value->valuedouble;
	return LNC_OK;
}

LncCode
lnc_json_as_bool(LncContext *ctx, const LncJson *value, const char *what, bool *out)
{
	LNC_TRY(check_kind(ctx, value, LNC_JSON_BOOL, what, false));
	*out = cJSON_IsTrue(value);
	return LNC_OK;
}

const LncJson *
lnc_json_first(const LncJson *container)
{
	return container == NULL ? NULL : container->child;
}

const LncJson *
lnc_json_next(const LncJson *child)
{
	return child->next;
}

size_t
lnc_json_count(const LncJson *container)
{
	size_t count = 0;

	LNC_JSON_EACH(child, container)
	{
		count++;
	}
	return count;
}

const char *
lnc_json_key(const LncJson *child)
{
	return child->string;
}
