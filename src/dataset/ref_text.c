/*
 * ref_text.c
 *	  The JSON of tags and branches, in and out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "dataset/refs.h"

/* Steps from main to a branch: more than anybody nests. */
#define MAX_STEPS 10000

/* ---- in */

static LncCode
damaged(LncContext *ctx, const char *kind, const char *name)
{
	LncError error = ctx->error;

	if (error.code != LNC_INVALID)
		return error.code;
	lnc_fail(ctx, LNC_CORRUPT, "the file of %s \"%.200s\" is damaged", kind, name);
	lnc_detail(ctx, "It says: %s.", error.message);
	return LNC_CORRUPT;
}

static LncCode
parse_object(LncContext *ctx, LncArena *arena, LncSlice text, const LncJson **out)
{
	const LncJson *metadata;

	LNC_TRY(lnc_json_parse(ctx, arena, text, out));
	if (lnc_json_kind(*out) != LNC_JSON_OBJECT)
		return lnc_fail(ctx, LNC_INVALID, "%s where an object is wanted", lnc_json_kind_name(lnc_json_kind(*out)));
	LNC_TRY(lnc_json_get_object(ctx, *out, "metadata", &metadata));
	LNC_JSON_EACH(entry, metadata)
	{
		const char *value;

		LNC_TRY(lnc_json_as_string(ctx, entry, "entry of \"metadata\"", &value));
	}
	return LNC_OK;
}

static LncCode
unsigned_of(LncContext *ctx, const LncJson *value, const char *what, uint64_t *out)
{
	int64_t number;

	LNC_TRY(lnc_json_as_int64(ctx, value, what, &number));
	if (number < 0)
		return lnc_fail(ctx, LNC_INVALID, "%s is negative", what);
	*out = (uint64_t)number;
	return LNC_OK;
}

/* A number that must be there. */
static LncCode
required(LncContext *ctx, const LncJson *object, const char *key, uint64_t *out)
{
	const LncJson *value = lnc_json_member(object, key);
	char what[64];

	(void)snprintf(what, sizeof(what), "\"%s\"", key);
	if (value == NULL)
		return lnc_fail(ctx, LNC_INVALID, "%s is missing", what);
	return unsigned_of(ctx, value, what, out);
}

static LncCode
parse_tag(LncContext *ctx, LncArena *arena, LncSlice text, LncTag *out)
{
	LNC_TRY(parse_object(ctx, arena, text, &out->text));
	LNC_TRY(lnc_json_get_string(ctx, out->text, "branch", &out->branch));
	LNC_TRY(required(ctx, out->text, "version", &out->version));
	LNC_TRY(lnc_json_get_string(ctx, out->text, "createdAt", &out->created_at));
	LNC_TRY(lnc_json_get_string(ctx, out->text, "updatedAt", &out->updated_at));
	LNC_TRY(required(ctx, out->text, "manifestSize", &out->manifest_size));
	if (out->branch != NULL && strcmp(out->branch, "main") == 0)
		out->branch = NULL;
	return out->branch != NULL ? lnc_ref_check_name(ctx, LNC_REF_BRANCH, out->branch) : LNC_OK;
}

LncCode
lnc_tag_parse(LncContext *ctx, LncArena *arena, const char *name, LncSlice text, LncTag *out)
{
	memset(out, 0, sizeof(*out));
	return parse_tag(ctx, arena, text, out) == LNC_OK ? LNC_OK : damaged(ctx, "tag", name);
}

static uint64_t
fnv(const char *text, uint64_t hash)
{
	for (; *text != '\0'; text++)
		hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/* Files of old writers state no identity. Clients derive one, always the same, from what else they state. */
static LncCode
derived_steps(LncContext *ctx, LncArena *arena, const char *name, LncBranch *out)
{
	const uint64_t seed = UINT64_C(0xcbf29ce484222325);
	LncBranchStep *step;
	char *text;
	char *uuid;

	LNC_TRY(lnc_arena_printf(ctx, arena, &text,
							 "branch_name=%s\nparent_branch=%s\nparent_version=%" PRIu64 "\ncreate_at=%" PRIu64,
							 name, out->parent != NULL ? out->parent : "", out->parent_version, out->create_at));
	LNC_TRY(lnc_arena_printf(ctx, arena, &uuid, "%016" PRIx64 "%016" PRIx64, fnv(text, seed),
							 fnv(text, seed ^ UINT64_C(0x9e3779b97f4a7c15))));
	LNC_TRY(LNC_NEW(ctx, arena, &step, 1));
	step->uuid = uuid;
	out->steps = step;
	out->nsteps = 1;
	return LNC_OK;
}

/* [[version, "uuid"], ...] */
static LncCode
parse_steps(LncContext *ctx, LncArena *arena, const LncJson *identifier, LncBranch *out)
{
	const LncJson *mapping;
	LncBranchStep *steps;

	LNC_TRY(lnc_json_get_array(ctx, identifier, "version_mapping", &mapping));
	if (mapping == NULL)
		return lnc_fail(ctx, LNC_INVALID, "\"version_mapping\" is missing");
	if (lnc_json_count(mapping) > MAX_STEPS)
		return lnc_fail(ctx, LNC_INVALID, "\"version_mapping\" has %zu steps", lnc_json_count(mapping));
	LNC_TRY(LNC_NEW(ctx, arena, &steps, lnc_json_count(mapping)));
	out->steps = steps;
	LNC_JSON_EACH(pair, mapping)
	{
		LncBranchStep *step = &steps[out->nsteps++];

		if (lnc_json_kind(pair) != LNC_JSON_ARRAY || lnc_json_count(pair) != 2)
			return lnc_fail(ctx, LNC_INVALID, "a step of \"version_mapping\" is no pair");
		LNC_TRY(unsigned_of(ctx, lnc_json_first(pair), "version of a step", &step->version));
		LNC_TRY(lnc_json_as_string(ctx, lnc_json_next(lnc_json_first(pair)), "identity of a step", &step->uuid));
	}
	return LNC_OK;
}

static LncCode
parse_branch(LncContext *ctx, LncArena *arena, const char *name, LncSlice text, LncBranch *out)
{
	const LncJson *identifier;

	LNC_TRY(parse_object(ctx, arena, text, &out->text));
	LNC_TRY(lnc_json_get_string(ctx, out->text, "parentBranch", &out->parent));
	LNC_TRY(required(ctx, out->text, "parentVersion", &out->parent_version));
	LNC_TRY(required(ctx, out->text, "createAt", &out->create_at));
	LNC_TRY(required(ctx, out->text, "manifestSize", &out->manifest_size));
	LNC_TRY(lnc_json_get_object(ctx, out->text, "identifier", &identifier));
	return identifier != NULL ? parse_steps(ctx, arena, identifier, out) : derived_steps(ctx, arena, name, out);
}

LncCode
lnc_branch_parse(LncContext *ctx, LncArena *arena, const char *name, LncSlice text, LncBranch *out)
{
	memset(out, 0, sizeof(*out));
	return parse_branch(ctx, arena, name, text, out) == LNC_OK ? LNC_OK : damaged(ctx, "branch", name);
}

const LncJson *
lnc_ref_metadata(const LncJson *text)
{
	return lnc_json_member(text, "metadata");
}

/* ---- out */

static LncCode
indent(LncContext *ctx, LncBuffer *out, int depth)
{
	LNC_TRY(lnc_buffer_append(ctx, out, "\n", 1));
	for (int i = 0; i < depth; i++)
		LNC_TRY(lnc_buffer_append(ctx, out, "  ", 2));
	return LNC_OK;
}

/* Compact JSON as clients lay it out: a member or element a line, two blanks a level, nothing inside empty containers. */
static LncCode
lay_out(LncContext *ctx, LncArena *arena, LncSlice compact, LncSlice *out)
{
	LncBuffer buffer;
	int depth = 0;
	bool quoted = false;

	lnc_buffer_init(&buffer, arena, LNC_MAX_REF_BYTES);
	for (size_t i = 0; i < compact.size; i++)
	{
		char c = (char)compact.data[i];
		char next = i + 1 < compact.size ? (char)compact.data[i + 1] : '\0';

		if (!quoted && (c == '}' || c == ']') && compact.data[i - 1] != '{' && compact.data[i - 1] != '[')
			LNC_TRY(indent(ctx, &buffer, depth - 1));
		LNC_TRY(lnc_buffer_append(ctx, &buffer, &c, 1));
		if (c == '"')
			quoted = !quoted;
		else if (quoted && c == '\\')
		{
			LNC_TRY(lnc_buffer_append(ctx, &buffer, &next, 1));
			i++;
		}
		else if (!quoted && (c == '{' || c == '['))
		{
			depth++;
			if (next != '}' && next != ']')
				LNC_TRY(indent(ctx, &buffer, depth));
		}
		else if (!quoted && (c == '}' || c == ']'))
			depth--;
		else if (!quoted && c == ',')
			LNC_TRY(indent(ctx, &buffer, depth));
		else if (!quoted && c == ':')
			LNC_TRY(lnc_buffer_append(ctx, &buffer, " ", 1));
	}
	*out = lnc_buffer_slice(&buffer);
	return LNC_OK;
}

static void
put_uint(LncJsonWriter *w, const char *key, uint64_t value)
{
	lnc_jw_key(w, key);
	lnc_jw_uint(w, value);
}

/* "metadata" of the text that is being replaced, and what it has besides the known members. */
static void
put_rest(LncJsonWriter *w, const LncJson *text, const char *const *known)
{
	const LncJson *metadata = lnc_ref_metadata(text);

	lnc_jw_key(w, "metadata");
	if (metadata != NULL)
		lnc_jw_value(w, metadata);
	else
	{
		lnc_jw_begin_object(w);
		lnc_jw_end_object(w);
	}
	LNC_JSON_EACH(member, text)
	{
		bool is_known = strcmp(lnc_json_key(member), "metadata") == 0;

		for (const char *const *name = known; *name != NULL; name++)
			is_known = is_known || strcmp(lnc_json_key(member), *name) == 0;
		if (!is_known)
		{
			lnc_jw_key(w, lnc_json_key(member));
			lnc_jw_value(w, member);
		}
	}
}

static LncCode
finish(LncContext *ctx, LncArena *arena, LncJsonWriter *w, LncSlice *out)
{
	LncSlice compact;

	lnc_jw_end_object(w);
	LNC_TRY(lnc_jw_finish(w, &compact));
	return lay_out(ctx, arena, compact, out);
}

/* A text, or null. */
static void
put_text(LncJsonWriter *w, const char *key, const char *text)
{
	lnc_jw_key(w, key);
	lnc_jw_string(w, text);
}

LncCode
lnc_tag_write(LncContext *ctx, LncArena *arena, const LncTag *tag, LncSlice *out)
{
	static const char *const known[] = {"branch", "version", "createdAt", "updatedAt", "manifestSize", NULL};
	LncJsonWriter *w;

	LNC_TRY(lnc_jw_create(ctx, arena, LNC_MAX_REF_BYTES, &w));
	lnc_jw_begin_object(w);
	put_text(w, "branch", tag->branch);
	put_uint(w, "version", tag->version);
	lnc_jw_put_string(w, "createdAt", tag->created_at);
	lnc_jw_put_string(w, "updatedAt", tag->updated_at);
	put_uint(w, "manifestSize", tag->manifest_size);
	put_rest(w, tag->text, known);
	return finish(ctx, arena, w, out);
}

LncCode
lnc_branch_write(LncContext *ctx, LncArena *arena, const LncBranch *branch, LncSlice *out)
{
	static const char *const known[] = {"parentBranch", "identifier",   "parentVersion",
										"createAt",     "manifestSize", NULL};
	LncJsonWriter *w;

	LNC_TRY(lnc_jw_create(ctx, arena, LNC_MAX_REF_BYTES, &w));
	lnc_jw_begin_object(w);
	put_text(w, "parentBranch", branch->parent);
	lnc_jw_key(w, "identifier");
	lnc_jw_begin_object(w);
	lnc_jw_key(w, "version_mapping");
	lnc_jw_begin_array(w);
	for (size_t i = 0; i < branch->nsteps; i++)
	{
		lnc_jw_begin_array(w);
		lnc_jw_uint(w, branch->steps[i].version);
		lnc_jw_string(w, branch->steps[i].uuid);
		lnc_jw_end_array(w);
	}
	lnc_jw_end_array(w);
	lnc_jw_end_object(w);
	put_uint(w, "parentVersion", branch->parent_version);
	put_uint(w, "createAt", branch->create_at);
	put_uint(w, "manifestSize", branch->manifest_size);
	put_rest(w, branch->text, known);
	return finish(ctx, arena, w, out);
}

/* ---- times */

#define SECONDS_A_DAY 86400

/* Days from 1970-01-01 to a date of the Gregorian calendar, counting from a March so that the leap day comes last. */
static int64_t
days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t year_of_era = y - era * 400;
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

LncCode
lnc_ref_time_text(LncContext *ctx, LncArena *arena, int64_t unix_ns, const char **out)
{
	int64_t second = unix_ns / 1000000000;
	int64_t nanos = unix_ns % 1000000000;
	int64_t of_day = second % SECONDS_A_DAY;
	int64_t day = second / SECONDS_A_DAY;
	int64_t year = 1970 + day / 366;
	int64_t month = 1;
	char fraction[16] = "";
	char *text;

	if (unix_ns < 0)
		return lnc_fail(ctx, LNC_RANGE, "time before 1970");
	while (days_of(year + 1, 1, 1) <= day)
		year++;
	while (month < 12 && days_of(year, month + 1, 1) <= day)
		month++;

	/* As few groups of three digits as it takes. */
	if (nanos % 1000 != 0)
		(void)snprintf(fraction, sizeof(fraction), ".%09d", (int)nanos);
	else if (nanos % 1000000 != 0)
		(void)snprintf(fraction, sizeof(fraction), ".%06d", (int)(nanos / 1000));
	else if (nanos != 0)
		(void)snprintf(fraction, sizeof(fraction), ".%03d", (int)(nanos / 1000000));
	LNC_TRY(lnc_arena_printf(ctx, arena, &text, "%04d-%02d-%02dT%02d:%02d:%02d%sZ", (int)year, (int)month,
							 (int)(day - days_of(year, month, 1) + 1), (int)(of_day / 3600),
							 (int)(of_day / 60 % 60), (int)(of_day % 60), fraction));
	*out = text;
	return LNC_OK;
}

/* Exactly n digits; -1 for anything else. */
static int
digits(const char **p, int n)
{
	int value = 0;

	for (int i = 0; i < n; i++)
	{
		if (**p < '0' || **p > '9')
			return -1;
		value = value * 10 + (*(*p)++ - '0');
	}
	return value;
}

static bool
skip(const char **p, const char *any_of)
{
	if (**p == '\0' || strchr(any_of, **p) == NULL)
		return false;
	(*p)++;
	return true;
}

/* "Z" or an offset, in seconds. */
static bool
parse_zone(const char **p, int *seconds)
{
	int sign = **p == '-' ? -1 : 1;
	int hour;
	int minute;

	*seconds = 0;
	if (skip(p, "Zz"))
		return true;
	if (!skip(p, "+-") || (hour = digits(p, 2)) < 0 || !skip(p, ":") || (minute = digits(p, 2)) < 0)
		return false;
	*seconds = sign * (hour * 3600 + minute * 60);
	return hour < 24 && minute < 60;
}

bool
lnc_ref_time_parse(const char *text, int64_t *unix_us)
{
	static const int month_days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	const char *p = text;
	int year;
	int month;
	int day;
	int hour;
	int minute;
	int second;
	int zone;
	int micros = 0;

	if ((year = digits(&p, 4)) < 0 || !skip(&p, "-") || (month = digits(&p, 2)) < 1 || month > 12 ||
		!skip(&p, "-") || (day = digits(&p, 2)) < 1 || day > month_days[month - 1] || !skip(&p, "Tt ") ||
		(hour = digits(&p, 2)) < 0 || hour > 23 || !skip(&p, ":") || (minute = digits(&p, 2)) < 0 || minute > 59 ||
		!skip(&p, ":") || (second = digits(&p, 2)) < 0 || second > 60)
		return false;
	if (skip(&p, "."))
	{
		int n = 0;

		for (; *p >= '0' && *p <= '9'; p++, n++)
			micros = n < 6 ? micros * 10 + (*p - '0') : micros;
		if (n == 0)
			return false;
		for (; n < 6; n++)
			micros *= 10;
	}
	if (!parse_zone(&p, &zone) || *p != '\0')
		return false;
	*unix_us =
		((days_of(year, month, day) * 24 + hour) * 3600 + minute * 60 + second - zone) * INT64_C(1000000) + micros;
	return true;
}
