/*
 * fixture_text.c
 *	  The text form of values and its comparison.
 */
#include "fixture_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "column/jsonb_text.h"
#include "dataset/blob.h"

void
fixture_text_add(FixtureText *out, const char *text, size_t length)
{
	if (out->capacity - out->length < length + 1)
	{
		out->capacity = (out->length + length + 1) * 2;
		out->text = realloc(out->text, out->capacity);
		if (out->text == NULL)
			abort();
	}
	if (length > 0)
		memcpy(out->text + out->length, text, length);
	out->length += length;
	out->text[out->length] = '\0';
}

static void
add_text(FixtureText *out, const char *text)
{
	fixture_text_add(out, text, strlen(text));
}

static void
add_hex(FixtureText *out, const uint8_t *data, size_t size)
{
	char digits[3];

	add_text(out, "\"");
	for (size_t i = 0; i < size; i++)
	{
		snprintf(digits, sizeof(digits), "%02x", data[i]);
		add_text(out, digits);
	}
	add_text(out, "\"");
}

static void
add_string(FixtureText *out, const uint8_t *data, size_t size)
{
	add_text(out, "\"");
	for (size_t i = 0; i < size; i++)
	{
		char escaped[8];

		if (data[i] == '"' || data[i] == '\\')
			snprintf(escaped, sizeof(escaped), "\\%c", data[i]);
		else if (data[i] < 0x20)
			snprintf(escaped, sizeof(escaped), "\\u%04x", data[i]);
		else
			snprintf(escaped, sizeof(escaped), "%c", data[i]);
		add_text(out, escaped);
	}
	add_text(out, "\"");
}

static void
add_double(FixtureText *out, double value)
{
	char digits[64];

	if (isnan(value))
		add_text(out, "\"NaN\"");
	else if (isinf(value))
		add_text(out, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
	else
	{
		snprintf(digits, sizeof(digits), "%.17g", value);
		/* An integral double is still no integer. */
		if (strpbrk(digits, ".e") == NULL)
			strcat(digits, ".0");
		add_text(out, digits);
	}
}

static double
half_to_double(uint16_t half)
{
	int exponent = (half >> 10) & 31;
	double fraction = half & 1023;
	double value = exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024, exponent - 25);

	if (exponent == 31)
		value = fraction == 0 ? INFINITY : NAN;
	return half & 0x8000 ? -value : value;
}

/* Two's complement of size bytes, divided by ten over and over. */
static void
add_decimal(FixtureText *out, const uint8_t *bytes, size_t size, int32_t scale)
{
	uint8_t number[32];
	char digits[128];
	char text[160];
	size_t n = 0;
	size_t at = 0;
	bool negative = (bytes[size - 1] & 0x80) != 0;
	bool any;

	memcpy(number, bytes, size);
	if (negative)
	{
		unsigned carry = 1;

		for (size_t i = 0; i < size; i++)
		{
			carry += (uint8_t)~number[i];
			number[i] = (uint8_t)carry;
			carry >>= 8;
		}
	}
	do
	{
		unsigned rest = 0;

		any = false;
		for (size_t i = size; i-- > 0;)
		{
			unsigned here = rest * 256 + number[i];

			number[i] = (uint8_t)(here / 10);
			rest = here % 10;
			any = any || number[i] != 0;
		}
		digits[n++] = (char)('0' + rest);
	} while (any);
	while (scale > 0 && n <= (size_t)scale)
		digits[n++] = '0';
	if (negative)
		text[at++] = '-';
	for (size_t i = n; i-- > 0;)
	{
		text[at++] = digits[i];
		if (scale > 0 && i == (size_t)scale)
			text[at++] = '.';
	}
	if (!(n == 1 && digits[0] == '0'))
	{
		for (int32_t i = scale; i < 0; i++)
			text[at++] = '0';
	}
	text[at] = '\0';
	add_text(out, "\"");
	add_text(out, text);
	add_text(out, "\"");
}

/* Days since 1970-01-01 to the proleptic Gregorian calendar. */
static void
print_date(char *text, size_t size, int64_t days)
{
	int64_t shifted = days + 719468; /* from 0000-03-01 */
	int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
	int64_t day_of_era = shifted - era * 146097;
	int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int64_t month = (5 * day_of_year + 2) / 153;
	int64_t day = day_of_year - (153 * month + 2) / 5 + 1;
	int64_t year = year_of_era + era * 400 + (month >= 10);

	month = month < 10 ? month + 3 : month - 9;
	snprintf(text, size, "%04" PRId64 "-%02" PRId64 "-%02" PRId64, year, month, day);
}

static const int64_t UNITS[] = {1, 1000, 1000000, 1000000000};
static const int UNIT_DIGITS[] = {0, 3, 6, 9};

static void
print_time(char *text, size_t size, int64_t value, LncTimeUnit unit)
{
	int64_t seconds = value / UNITS[unit];
	int written = snprintf(text, size, "%02" PRId64 ":%02" PRId64 ":%02" PRId64, seconds / 3600, seconds / 60 % 60,
						   seconds % 60);

	if (unit != LNC_UNIT_SECOND)
		snprintf(text + written, size - (size_t)written, ".%0*" PRId64, UNIT_DIGITS[unit], value % UNITS[unit]);
}

static void
add_timestamp(FixtureText *out, int64_t value, LncTimeUnit unit, bool has_zone)
{
	int64_t per_day = UNITS[unit] * 86400;
	int64_t days = value / per_day;
	int64_t rest = value % per_day;
	char date[64];
	char time[64];

	if (rest < 0)
	{
		rest += per_day;
		days--;
	}
	print_date(date, sizeof(date), days);
	print_time(time, sizeof(time), rest, unit);
	add_text(out, "\"");
	add_text(out, date);
	add_text(out, "T");
	add_text(out, time);
	add_text(out, has_zone ? "Z\"" : "\"");
}

static void
add_fixed(FixtureText *out, const LncType *type, const uint8_t *at)
{
	uint64_t width = lnc_type_width(type);
	int64_t number = 0;
	uint64_t bits = 0;
	float f32;
	double f64;
	char text[64];

	if (width <= 8)
	{
		/* Sign-extended for the signed ones, plain bits for the others. */
		memcpy(&bits, at, width);
		number = width == 8 ? (int64_t)bits : (int64_t)(bits << (64 - 8 * width)) >> (64 - 8 * width);
	}
	switch (type->kind)
	{
		case LNC_TYPE_INT8:
		case LNC_TYPE_INT16:
		case LNC_TYPE_INT32:
		case LNC_TYPE_INT64:
		case LNC_TYPE_DURATION:
			snprintf(text, sizeof(text), "%" PRId64, number);
			add_text(out, text);
			break;
		case LNC_TYPE_UINT8:
		case LNC_TYPE_UINT16:
		case LNC_TYPE_UINT32:
		case LNC_TYPE_UINT64:
			snprintf(text, sizeof(text), "%" PRIu64, bits);
			add_text(out, text);
			break;
		case LNC_TYPE_FLOAT16:
			add_double(out, half_to_double((uint16_t)bits));
			break;
		case LNC_TYPE_BFLOAT16:
			bits <<= 16;
			memcpy(&f32, &bits, sizeof(f32));
			add_double(out, (double)f32);
			break;
		case LNC_TYPE_FLOAT32:
			memcpy(&f32, at, sizeof(f32));
			add_double(out, (double)f32);
			break;
		case LNC_TYPE_FLOAT64:
			memcpy(&f64, at, sizeof(f64));
			add_double(out, f64);
			break;
		case LNC_TYPE_FIXED_BINARY:
			add_hex(out, at, width);
			break;
		case LNC_TYPE_DATE32:
			print_date(text, sizeof(text), number);
			add_string(out, (const uint8_t *)text, strlen(text));
			break;
		case LNC_TYPE_DATE64:
			add_timestamp(out, number, LNC_UNIT_MILLI, false);
			break;
		case LNC_TYPE_TIME32:
		case LNC_TYPE_TIME64:
			print_time(text, sizeof(text), number, type->unit);
			add_string(out, (const uint8_t *)text, strlen(text));
			break;
		case LNC_TYPE_TIMESTAMP:
			add_timestamp(out, number, type->unit, type->timezone != NULL);
			break;
		case LNC_TYPE_DECIMAL128:
		case LNC_TYPE_DECIMAL256:
			add_decimal(out, at, width, type->scale);
			break;
		default:
			fprintf(stderr, "no text form of type %s\n", type->logical);
			abort();
	}
}

/* The bytes of a blob in hex, or what went wrong. */
static void
add_blob(FixtureText *out, const LncColumn *column, int64_t row)
{
	LncArena *arena = lnc_arena_create(lnc_env_default());
	LncContext ctx;
	LncSlice bytes;

	lnc_context_init(&ctx, lnc_env_default());
	if (lnc_blob_read(&ctx, arena, column, row, 1 << 20, &bytes) == LNC_OK)
		add_hex(out, bytes.data, bytes.size);
	else
	{
		add_string(out, (const uint8_t *)ctx.error.message, strlen(ctx.error.message));
		add_text(out, ctx.error.detail);
	}
	lnc_arena_destroy(arena);
}

/* Stored JSON as the text that it stands for, or what went wrong. */
static void
add_json(FixtureText *out, LncSlice jsonb)
{
	LncArena *arena = lnc_arena_create(lnc_env_default());
	LncContext ctx;
	LncSlice text;

	lnc_context_init(&ctx, lnc_env_default());
	if (lnc_jsonb_text(&ctx, arena, jsonb, &text) == LNC_OK)
		fixture_text_add(out, (const char *)text.data, text.size);
	else
		add_string(out, (const uint8_t *)ctx.error.message, strlen(ctx.error.message));
	lnc_arena_destroy(arena);
}

void
fixture_text_value(FixtureText *out, const LncColumn *column, int64_t row)
{
	const LncType *type = column->type;

	if (lnc_column_is_null(column, row))
	{
		add_text(out, "null");
		return;
	}
	switch (type->kind)
	{
		case LNC_TYPE_BOOL:
			add_text(out, lnc_bit(column->values, (uint64_t)row) ? "true" : "false");
			break;
		case LNC_TYPE_UTF8:
		case LNC_TYPE_LARGE_UTF8:
			add_string(out, column->data + column->offsets[row],
					   (size_t)(column->offsets[row + 1] - column->offsets[row]));
			break;
		case LNC_TYPE_BINARY:
		case LNC_TYPE_LARGE_BINARY:
		case LNC_TYPE_JSON:
			if (type->kind == LNC_TYPE_JSON && out->json_as_text)
			{
				add_json(out, (LncSlice){column->data + column->offsets[row],
										 (size_t)(column->offsets[row + 1] - column->offsets[row])});
				break;
			}
			add_hex(out, column->data + column->offsets[row],
					(size_t)(column->offsets[row + 1] - column->offsets[row]));
			break;
		case LNC_TYPE_FIXED_LIST:
			add_text(out, "[");
			for (int32_t i = 0; i < type->list_size; i++)
			{
				if (i > 0)
					add_text(out, ",");
				fixture_text_value(out, &column->children[0], row * type->list_size + i);
			}
			add_text(out, "]");
			break;
		case LNC_TYPE_LIST:
		case LNC_TYPE_LARGE_LIST:
			add_text(out, "[");
			for (int64_t i = column->offsets[row]; i < column->offsets[row + 1]; i++)
			{
				if (i > column->offsets[row])
					add_text(out, ",");
				fixture_text_value(out, &column->children[0], i);
			}
			add_text(out, "]");
			break;
		case LNC_TYPE_BLOB:
		case LNC_TYPE_BLOB_V2:
			add_blob(out, column, row);
			break;
		case LNC_TYPE_MAP:
			add_text(out, "[");
			for (int64_t i = column->offsets[row]; i < column->offsets[row + 1]; i++)
			{
				add_text(out, i > column->offsets[row] ? ",[" : "[");
				fixture_text_value(out, &column->children[0].children[0], i);
				add_text(out, ",");
				fixture_text_value(out, &column->children[0].children[1], i);
				add_text(out, "]");
			}
			add_text(out, "]");
			break;
		case LNC_TYPE_STRUCT:
			add_text(out, "{");
			for (int32_t i = 0; i < column->nchildren; i++)
			{
				const char *name = type->children[i].name;

				if (i > 0)
					add_text(out, ",");
				add_string(out, (const uint8_t *)name, strlen(name));
				add_text(out, ":");
				fixture_text_value(out, &column->children[i], row);
			}
			add_text(out, "}");
			break;
		default:
			add_fixed(out, type, (const uint8_t *)column->values + (size_t)row * lnc_type_width(type));
			break;
	}
}

static const char *
skip_blanks(const char *text)
{
	return text + strspn(text, " \t\r\n");
}

const char *
fixture_json_skip(const char *text, const char **start)
{
	int depth = 0;

	text = skip_blanks(text);
	*start = text;
	do
	{
		if (*text == '\0')
			return NULL;
		if (*text == '"')
		{
			for (text++; *text != '"'; text++)
			{
				if (*text == '\\')
					text++;
				if (*text == '\0')
					return NULL;
			}
			text++;
		}
		else if (*text == '[' || *text == '{')
		{
			depth++;
			text++;
		}
		else if (*text == ']' || *text == '}')
		{
			depth--;
			text++;
		}
		else if (depth > 0 && strchr(",: \t", *text) != NULL)
			text++;
		else
			text += strcspn(text, ",:]}[{\" \t");
	} while (depth > 0);
	return text;
}

/* Decode one character of a JSON string to UTF-8; returns its length, moves *at. */
static size_t
next_character(const char **at, char out[4])
{
	const char *p = *at;
	unsigned code;

	if (*p != '\\')
	{
		out[0] = *p;
		*at = p + 1;
		return 1;
	}
	*at = p + 2;
	switch (p[1])
	{
		case 'n':
			out[0] = '\n';
			return 1;
		case 't':
			out[0] = '\t';
			return 1;
		case 'r':
			out[0] = '\r';
			return 1;
		case 'b':
			out[0] = '\b';
			return 1;
		case 'f':
			out[0] = '\f';
			return 1;
		case 'u':
			break;
		default:
			out[0] = p[1];
			return 1;
	}
	sscanf(p + 2, "%4x", &code);
	*at = p + 6;
	if (code < 0x80)
	{
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800)
	{
		out[0] = (char)(0xC0 | code >> 6);
		out[1] = (char)(0x80 | (code & 63));
		return 2;
	}
	out[0] = (char)(0xE0 | code >> 12);
	out[1] = (char)(0x80 | (code >> 6 & 63));
	out[2] = (char)(0x80 | (code & 63));
	return 3;
}

static bool
strings_equal(const char *a, const char *b)
{
	FixtureText left = {0};
	FixtureText right = {0};
	bool equal;
	char out[4];

	for (a++; *a != '"';)
	{
		size_t n = next_character(&a, out);

		fixture_text_add(&left, out, n);
	}
	for (b++; *b != '"';)
	{
		size_t n = next_character(&b, out);

		fixture_text_add(&right, out, n);
	}
	equal = left.length == right.length && (left.length == 0 || memcmp(left.text, right.text, left.length) == 0);
	free(left.text);
	free(right.text);
	return equal;
}

/* Compare one value at each cursor and move both behind it. */
static bool
values_equal(const char **a, const char **b)
{
	const char *left;
	const char *right;
	const char *left_end = fixture_json_skip(*a, &left);
	const char *right_end = fixture_json_skip(*b, &right);

	if (left_end == NULL || right_end == NULL)
		return false;
	*a = left_end;
	*b = right_end;
	if (left_end - left == right_end - right && strncmp(left, right, (size_t)(left_end - left)) == 0)
		return true;
	if (*left == '"' || *right == '"')
		return *left == *right && strings_equal(left, right);
	if (*left == '[' || *right == '[' || *left == '{' || *right == '{')
	{
		if (*left != *right)
			return false;
		left = skip_blanks(left + 1);
		right = skip_blanks(right + 1);
		/* Members of objects come in the same order: a name, a colon, a value. */
		while (strchr("]}", *left) == NULL && strchr("]}", *right) == NULL)
		{
			if (!values_equal(&left, &right))
				return false;
			left = skip_blanks(left);
			right = skip_blanks(right);
			if (*left != *right)
				return false;
			if (*left == ',' || *left == ':')
			{
				left = skip_blanks(left + 1);
				right = skip_blanks(right + 1);
			}
		}
		return *left == *right;
	}
	if (strchr("-0123456789", *left) != NULL && strchr("-0123456789", *right) != NULL)
	{
		size_t left_digits = strspn(left, "-0123456789");
		size_t right_digits = strspn(right, "-0123456789");
		double x = strtod(left, NULL);
		double y = strtod(right, NULL);

		/* Two integers differ when their digits do. */
		if (left + left_digits == left_end && right + right_digits == right_end)
			return false;
		return memcmp(&x, &y, sizeof(x)) == 0;
	}
	return false;
}

bool
fixture_json_equal(const char *a, const char *b)
{
	return values_equal(&a, &b) && *skip_blanks(a) == '\0' && *skip_blanks(b) == '\0';
}
