/*
 * type.c
 *	  Logical type strings: parsing them, and what follows from a type (width, layout, name).
 */
#include "column/type.h"

#include <limits.h>
#include <string.h>

/* Fixed-size lists of fixed-size lists: so many levels at most. */
#define TYPE_MAX_NESTING 16

/* Types whose logical string is one word. */
static const struct
{
	const char *logical;
	LncTypeKind kind;
	const char *arrow; /* Arrow's name */
} plain_types[] = {
	{"null", LNC_TYPE_NULL, "null"},
	{"bool", LNC_TYPE_BOOL, "bool"},
	{"int8", LNC_TYPE_INT8, "int8"},
	{"int16", LNC_TYPE_INT16, "int16"},
	{"int32", LNC_TYPE_INT32, "int32"},
	{"int64", LNC_TYPE_INT64, "int64"},
	{"uint8", LNC_TYPE_UINT8, "uint8"},
	{"uint16", LNC_TYPE_UINT16, "uint16"},
	{"uint32", LNC_TYPE_UINT32, "uint32"},
	{"uint64", LNC_TYPE_UINT64, "uint64"},
	{"halffloat", LNC_TYPE_FLOAT16, "halffloat"},
	{"lance.bfloat16", LNC_TYPE_BFLOAT16, "bfloat16"},
	{"float", LNC_TYPE_FLOAT32, "float"},
	{"double", LNC_TYPE_FLOAT64, "double"},
	{"string", LNC_TYPE_UTF8, "string"},
	{"large_string", LNC_TYPE_LARGE_UTF8, "large_string"},
	{"binary", LNC_TYPE_BINARY, "binary"},
	{"large_binary", LNC_TYPE_LARGE_BINARY, "large_binary"},
	{"date32:day", LNC_TYPE_DATE32, "date32[day]"},
	{"date64:ms", LNC_TYPE_DATE64, "date64[ms]"},
	{"list", LNC_TYPE_LIST, "list"},
	{"list.struct", LNC_TYPE_LIST, "list"},
	{"large_list", LNC_TYPE_LARGE_LIST, "large_list"},
	{"large_list.struct", LNC_TYPE_LARGE_LIST, "large_list"},
	{"struct", LNC_TYPE_STRUCT, "struct"},
	{"map", LNC_TYPE_MAP, "map"},
	{"json", LNC_TYPE_JSON, "json"},
	{"blob", LNC_TYPE_BLOB, "blob"},
};

static const char *const unit_names[] = {"s", "ms", "us", "ns"};

static LncCode parse_nested(LncContext *ctx, LncArena *arena, const char *logical, int depth,
							LncType *type) LNC_MUST_CHECK;

static LncCode
malformed(LncContext *ctx, const char *logical)
{
	return lnc_fail(ctx, LNC_CORRUPT, "logical type \"%.200s\" is malformed", logical);
}

/* A decimal integer in [low, high] that spans exactly length bytes. */
static bool
parse_int(const char *text, size_t length, int64_t low, int64_t high, int64_t *value)
{
	bool negative = length > 0 && text[0] == '-';
	int64_t result = 0;

	if (length == (size_t)negative || length > 11)
		return false;
	for (size_t i = negative; i < length; i++)
	{
		if (text[i] < '0' || text[i] > '9')
			return false;
		result = result * 10 + (text[i] - '0');
	}
	*value = negative ? -result : result;
	return *value >= low && *value <= high;
}

/* The text after prefix, NULL when logical does not begin with it. */
static const char *
after(const char *logical, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(logical, prefix, length) == 0 ? logical + length : NULL;
}

/* Match a unit of length bytes between the two given, false when it is none of them. */
static bool
parse_unit(const char *text, size_t length, LncTimeUnit lowest, LncTimeUnit highest, LncTimeUnit *unit)
{
	for (int u = (int)lowest; u <= (int)highest; u++)
		if (strlen(unit_names[u]) == length && memcmp(unit_names[u], text, length) == 0)
		{
			*unit = (LncTimeUnit)u;
			return true;
		}
	return false;
}

/* "timestamp:UNIT:ZONE"; the zone itself may hold colons ("+05:30"), and "-" stands for none. */
static LncCode
parse_timestamp(LncContext *ctx, LncArena *arena, const char *rest, LncType *type)
{
	const char *colon = strchr(rest, ':');
	size_t unit_length = colon == NULL ? strlen(rest) : (size_t)(colon - rest);

	if (!parse_unit(rest, unit_length, LNC_UNIT_SECOND, LNC_UNIT_NANO, &type->unit))
		return malformed(ctx, type->logical);
	if (colon != NULL && strcmp(colon + 1, "-") != 0 && colon[1] != '\0')
	{
		char *zone;

		LNC_TRY(lnc_arena_strndup(ctx, arena, colon + 1, strlen(colon + 1), &zone));
		type->timezone = zone;
	}
	type->kind = LNC_TYPE_TIMESTAMP;
	return LNC_OK;
}

/* "decimal:BITS:PRECISION:SCALE" */
static LncCode
parse_decimal(LncContext *ctx, const char *rest, LncType *type)
{
	const char *first = strchr(rest, ':');
	const char *second = first == NULL ? NULL : strchr(first + 1, ':');
	int64_t bits;
	int64_t precision;
	int64_t scale;

	if (second == NULL || !parse_int(rest, (size_t)(first - rest), 1, 4096, &bits))
		return malformed(ctx, type->logical);
	if (bits != 128 && bits != 256)
		return LNC_OK; /* stays UNKNOWN: only reading fails */
	if (!parse_int(first + 1, (size_t)(second - first - 1), 1, bits == 128 ? 38 : 76, &precision) ||
		!parse_int(second + 1, strlen(second + 1), -128, 127, &scale))
		return malformed(ctx, type->logical);
	type->kind = bits == 128 ? LNC_TYPE_DECIMAL128 : LNC_TYPE_DECIMAL256;
	type->precision = (int32_t)precision;
	type->scale = (int32_t)scale;
	return LNC_OK;
}

/* One unnamed child field of the type that length bytes of text describe. */
static LncCode
make_child(LncContext *ctx, LncArena *arena, const char *text, size_t length, int depth, LncType *type)
{
	char *inner;
	LncField *child;

	LNC_TRY(lnc_arena_strndup(ctx, arena, text, length, &inner));
	LNC_TRY(LNC_NEW(ctx, arena, &child, 1));
	child->id = -1;
	child->parent_id = -1;
	child->name = "";
	child->nullable = true;
	LNC_TRY(parse_nested(ctx, arena, inner, depth + 1, &child->type));
	type->nchildren = 1;
	type->children = child;
	return LNC_OK;
}

/* "fixed_size_list:INNER:N"; INNER may hold colons, so N follows the last one. */
static LncCode
parse_fixed_list(LncContext *ctx, LncArena *arena, const char *rest, int depth, LncType *type)
{
	const char *last = strrchr(rest, ':');
	int64_t size;
	uint64_t item;
	uint64_t width;

	if (last == NULL || last == rest || !parse_int(last + 1, strlen(last + 1), 1, INT32_MAX, &size))
		return malformed(ctx, type->logical);
	LNC_TRY(make_child(ctx, arena, rest, (size_t)(last - rest), depth, type));
	type->list_size = (int32_t)size;
	item = lnc_type_width(&type->children[0].type);
	if (lnc_mul_overflow(item, (uint64_t)size, &width) || width > INT32_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "a value of logical type \"%.200s\" is larger than 2 GiB", type->logical);
	type->kind = LNC_TYPE_FIXED_LIST;
	return LNC_OK;
}

/* "dict:VALUE:INDEX:ORDERED"; VALUE may hold colons. */
static LncCode
parse_dictionary(LncContext *ctx, LncArena *arena, const char *rest, int depth, LncType *type)
{
	const char *ordered = strrchr(rest, ':');
	const char *index = ordered == NULL ? NULL : memrchr(rest, ':', (size_t)(ordered - rest));

	if (index == NULL || index == rest)
		return malformed(ctx, type->logical);
	LNC_TRY(make_child(ctx, arena, rest, (size_t)(index - rest), depth, type));
	if (type->children[0].type.kind == LNC_TYPE_DICTIONARY)
	{
		/* Nobody writes such, and a column of it would have neither type: it is not understood. */
		type->nchildren = 0;
		type->children = NULL;
		return LNC_OK;
	}
	type->kind = LNC_TYPE_DICTIONARY;
	return LNC_OK;
}

static LncCode
parse_nested(LncContext *ctx, LncArena *arena, const char *logical, int depth, LncType *type)
{
	const char *rest;
	char *copy;

	memset(type, 0, sizeof(*type));
	if (depth > TYPE_MAX_NESTING)
		return lnc_fail(ctx, LNC_LIMIT, "logical type \"%.200s\" is nested too deep", logical);
	LNC_TRY(lnc_arena_strndup(ctx, arena, logical, strlen(logical), &copy));
	type->logical = copy;

	for (size_t i = 0; i < sizeof(plain_types) / sizeof(plain_types[0]); i++)
		if (strcmp(logical, plain_types[i].logical) == 0)
		{
			type->kind = plain_types[i].kind;
			return LNC_OK;
		}

	if ((rest = after(logical, "time32:")) != NULL)
	{
		if (!parse_unit(rest, strlen(rest), LNC_UNIT_SECOND, LNC_UNIT_MILLI, &type->unit))
			return malformed(ctx, logical);
		type->kind = LNC_TYPE_TIME32;
	}
	else if ((rest = after(logical, "time64:")) != NULL)
	{
		if (!parse_unit(rest, strlen(rest), LNC_UNIT_MICRO, LNC_UNIT_NANO, &type->unit))
			return malformed(ctx, logical);
		type->kind = LNC_TYPE_TIME64;
	}
	else if ((rest = after(logical, "duration:")) != NULL)
	{
		if (!parse_unit(rest, strlen(rest), LNC_UNIT_SECOND, LNC_UNIT_NANO, &type->unit))
			return malformed(ctx, logical);
		type->kind = LNC_TYPE_DURATION;
	}
	else if ((rest = after(logical, "timestamp:")) != NULL)
		return parse_timestamp(ctx, arena, rest, type);
	else if ((rest = after(logical, "decimal:")) != NULL)
		return parse_decimal(ctx, rest, type);
	else if ((rest = after(logical, "fixed_size_binary:")) != NULL)
	{
		int64_t size;

		if (!parse_int(rest, strlen(rest), 0, INT32_MAX, &size))
			return malformed(ctx, logical);
		type->kind = LNC_TYPE_FIXED_BINARY;
		type->list_size = (int32_t)size;
	}
	else if ((rest = after(logical, "fixed_size_list:")) != NULL)
		return parse_fixed_list(ctx, arena, rest, depth, type);
	else if ((rest = after(logical, "dict:")) != NULL)
		return parse_dictionary(ctx, arena, rest, depth, type);
	return LNC_OK; /* kind is UNKNOWN */
}

LncCode
lnc_type_parse(LncContext *ctx, LncArena *arena, const char *logical, LncType *type)
{
	return parse_nested(ctx, arena, logical, 0, type);
}

uint64_t
lnc_type_width(const LncType *type)
{
	switch (type->kind)
	{
		case LNC_TYPE_INT8:
		case LNC_TYPE_UINT8:
			return 1;
		case LNC_TYPE_INT16:
		case LNC_TYPE_UINT16:
		case LNC_TYPE_FLOAT16:
		case LNC_TYPE_BFLOAT16:
			return 2;
		case LNC_TYPE_INT32:
		case LNC_TYPE_UINT32:
		case LNC_TYPE_FLOAT32:
		case LNC_TYPE_DATE32:
		case LNC_TYPE_TIME32:
			return 4;
		case LNC_TYPE_INT64:
		case LNC_TYPE_UINT64:
		case LNC_TYPE_FLOAT64:
		case LNC_TYPE_DATE64:
		case LNC_TYPE_TIME64:
		case LNC_TYPE_TIMESTAMP:
		case LNC_TYPE_DURATION:
			return 8;
		case LNC_TYPE_DECIMAL128:
			return 16;
		case LNC_TYPE_DECIMAL256:
			return 32;
		case LNC_TYPE_FIXED_BINARY:
			return (uint64_t)type->list_size;
		case LNC_TYPE_FIXED_LIST:
			return (uint64_t)type->list_size * lnc_type_width(&type->children[0].type);
		default:
			return 0;
	}
}

bool
lnc_type_is_variable(const LncType *type)
{
	switch (type->kind)
	{
		case LNC_TYPE_UTF8:
		case LNC_TYPE_LARGE_UTF8:
		case LNC_TYPE_BINARY:
		case LNC_TYPE_LARGE_BINARY:
		case LNC_TYPE_JSON:
			return true;
		default:
			return false;
	}
}

bool
lnc_type_is_fixed(const LncType *type)
{
	if (type->kind == LNC_TYPE_FIXED_LIST)
		return lnc_type_is_fixed(&type->children[0].type);
	return type->kind == LNC_TYPE_BOOL || type->kind == LNC_TYPE_FIXED_BINARY || lnc_type_width(type) > 0;
}

/* The names of the children, comma separated, each "name: type" or only the type. */
static LncCode
children_name(LncContext *ctx, LncArena *arena, const LncType *type, bool with_names, char **out)
{
	char *list;

	LNC_TRY(lnc_arena_printf(ctx, arena, &list, "%s", ""));
	for (int32_t i = 0; i < type->nchildren; i++)
	{
		const LncField *child = &type->children[i];
		const char *comma = i > 0 ? ", " : "";
		char *name;

		LNC_TRY(lnc_type_name(ctx, arena, &child->type, &name));
		if (with_names)
			LNC_TRY(lnc_arena_printf(ctx, arena, &list, "%s%s%s: %s", list, comma, child->name, name));
		else
			LNC_TRY(lnc_arena_printf(ctx, arena, &list, "%s%s%s", list, comma, name));
	}
	*out = list;
	return LNC_OK;
}

LncCode
lnc_type_name(LncContext *ctx, LncArena *arena, const LncType *type, char **out)
{
	const char *unit = unit_names[type->unit];
	const char *word = NULL;
	char *inner;

	for (size_t i = 0; i < sizeof(plain_types) / sizeof(plain_types[0]); i++)
		if (plain_types[i].kind == type->kind)
		{
			word = plain_types[i].arrow;
			break;
		}

	switch (type->kind)
	{
		case LNC_TYPE_FIXED_BINARY:
			return lnc_arena_printf(ctx, arena, out, "fixed_size_binary[%d]", type->list_size);
		case LNC_TYPE_TIME32:
			return lnc_arena_printf(ctx, arena, out, "time32[%s]", unit);
		case LNC_TYPE_TIME64:
			return lnc_arena_printf(ctx, arena, out, "time64[%s]", unit);
		case LNC_TYPE_DURATION:
			return lnc_arena_printf(ctx, arena, out, "duration[%s]", unit);
		case LNC_TYPE_TIMESTAMP:
			if (type->timezone != NULL)
				return lnc_arena_printf(ctx, arena, out, "timestamp[%s, tz=%s]", unit, type->timezone);
			return lnc_arena_printf(ctx, arena, out, "timestamp[%s]", unit);
		case LNC_TYPE_DECIMAL128:
			return lnc_arena_printf(ctx, arena, out, "decimal128(%d, %d)", type->precision, type->scale);
		case LNC_TYPE_DECIMAL256:
			return lnc_arena_printf(ctx, arena, out, "decimal256(%d, %d)", type->precision, type->scale);
		case LNC_TYPE_FIXED_LIST:
			LNC_TRY(children_name(ctx, arena, type, false, &inner));
			return lnc_arena_printf(ctx, arena, out, "fixed_size_list<%s>[%d]", inner, type->list_size);
		case LNC_TYPE_LIST:
		case LNC_TYPE_LARGE_LIST:
			LNC_TRY(children_name(ctx, arena, type, false, &inner));
			return lnc_arena_printf(ctx, arena, out, "%s<%s>", word, inner);
		case LNC_TYPE_MAP:
			/* The one child is the struct of key and value. */
			if (type->nchildren == 1)
				LNC_TRY(children_name(ctx, arena, &type->children[0].type, false, &inner));
			else
				LNC_TRY(children_name(ctx, arena, type, false, &inner));
			return lnc_arena_printf(ctx, arena, out, "map<%s>", inner);
		case LNC_TYPE_STRUCT:
			LNC_TRY(children_name(ctx, arena, type, true, &inner));
			return lnc_arena_printf(ctx, arena, out, "struct<%s>", inner);
		case LNC_TYPE_DICTIONARY:
			LNC_TRY(children_name(ctx, arena, type, false, &inner));
			return lnc_arena_printf(ctx, arena, out, "dictionary<%s>", inner);
		case LNC_TYPE_BLOB_V2:
			return lnc_arena_printf(ctx, arena, out, "blob v2");
		default:
			if (word == NULL)
				word = type->logical != NULL ? type->logical : "unknown";
			return lnc_arena_printf(ctx, arena, out, "%s", word);
	}
}
