/*
 * jsonb_text.c
 *	  Decoding JSONB: big-endian headers and entries, the payloads behind them in the same order.
 *
 *	container	u32 header: kind in the top 3 bits, count in the others; then entries of u32: type in bits 28-30, length of
 *				the payload in the low 28 bits. Objects have the entries of all keys before those of the values.
 */
#include "column/jsonb_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/utf8.h"

#define MAX_TEXT ((size_t)1 << 30)
#define INTERRUPT_EVERY 1024

/* Top bits of a container's header. */
#define HEADER_KIND 0xE0000000u
#define HEADER_COUNT 0x1FFFFFFFu
#define KIND_ARRAY 0x80000000u
#define KIND_OBJECT 0x40000000u
#define KIND_SCALAR 0x20000000u

#define ENTRY_TYPE(entry) (((entry) >> 28) & 7)
#define ENTRY_LENGTH(entry) ((entry)&0x0FFFFFFFu)

typedef enum EntryType
{
	ENTRY_NULL = 0,
	ENTRY_STRING,
	ENTRY_NUMBER,
	ENTRY_FALSE,
	ENTRY_TRUE,
	ENTRY_CONTAINER,
	ENTRY_EXTENSION
} EntryType;

/* First byte of a number. */
typedef enum NumberTag
{
	NUMBER_ZERO = 0x00,
	NUMBER_NAN = 0x10,
	NUMBER_INFINITY = 0x20,
	NUMBER_MINUS_INFINITY = 0x30,
	NUMBER_INT = 0x40,
	NUMBER_UINT = 0x50,
	NUMBER_DOUBLE = 0x60,
	NUMBER_DECIMAL = 0x70
} NumberTag;

typedef struct Decoder
{
	LncContext *ctx;
	LncBuffer text;
	uint32_t entries; /* seen so far, for the interrupts */
} Decoder;

static LncCode decode_container(Decoder *d, LncSlice bytes, int depth) LNC_MUST_CHECK;

static LncCode
corrupt(Decoder *d, const char *what)
{
	return lnc_fail(d->ctx, LNC_CORRUPT, "stored JSON value is damaged: %s", what);
}

static uint32_t
be32(const uint8_t *p)
{
	return __builtin_bswap32(lnc_le32(p));
}

/* A big-endian integer of 1, 2, 4 or 8 bytes. */
static uint64_t
be_unsigned(const uint8_t *p, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value = (value << 8) | p[i];
	return value;
}

static int64_t
be_signed(const uint8_t *p, size_t size)
{
	int shift = (int)(64 - size * 8);

	return (int64_t)(be_unsigned(p, size) << shift) >> shift;
}

static LncCode
put(Decoder *d, const char *text)
{
	return lnc_buffer_append(d->ctx, &d->text, text, strlen(text));
}

/* ---- strings */

/* Part of a string without NUL. */
static LncCode
put_escaped(Decoder *d, const uint8_t *text, size_t length)
{
	size_t start = 0;

	if (!lnc_utf8_valid(text, length, NULL))
		return corrupt(d, "a string is not valid UTF-8");
	for (size_t i = 0; i < length; i++)
	{
		char escape[8];

		if (text[i] >= 0x20 && text[i] != '"' && text[i] != '\\')
			continue;
		LNC_TRY(lnc_buffer_append(d->ctx, &d->text, text + start, i - start));
		start = i + 1;
		snprintf(escape, sizeof(escape), text[i] < 0x20 ? "\\u%04x" : "\\%c", text[i]);
		LNC_TRY(put(d, escape));
	}
	return lnc_buffer_append(d->ctx, &d->text, text + start, length - start);
}

static LncCode
put_string(Decoder *d, LncSlice bytes)
{
	LNC_TRY(put(d, "\""));
	for (;;)
	{
		const uint8_t *nul = bytes.size > 0 ? memchr(bytes.data, 0, bytes.size) : NULL;
		size_t length = nul != NULL ? (size_t)(nul - bytes.data) : bytes.size;

		LNC_TRY(put_escaped(d, bytes.data, length));
		if (nul == NULL)
			return put(d, "\"");
		LNC_TRY(put(d, "\\u0000"));
		bytes.data += length + 1;
		bytes.size -= length + 1;
	}
}

/* ---- numbers */

static LncCode
put_double(Decoder *d, const uint8_t *bytes)
{
	uint64_t bits = be_unsigned(bytes, 8);
	double value;
	char text[40];

	memcpy(&value, &bits, sizeof(value));
	if (isnan(value))
		return put(d, "\"NaN\"");
	if (isinf(value))
		return put(d, value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
	for (int digits = 15; digits <= 17; digits++)
	{
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	LNC_TRY(put(d, text));
	return strpbrk(text, ".e") == NULL ? put(d, ".0") : LNC_OK;
}

/* A big-endian integer of width bytes (at most 32), and the scale: digits behind the point. */
static LncCode
put_decimal(Decoder *d, const uint8_t *bytes, size_t width, uint8_t scale)
{
	uint8_t reversed[32];
	char digits[LNC_INTEGER_TEXT_SIZE];
	char exponent[16];

	for (size_t i = 0; i < width; i++)
		reversed[i] = bytes[width - 1 - i];
	lnc_integer_text(reversed, (int)(width / 4), digits);
	snprintf(exponent, sizeof(exponent), "e-%u", scale);
	LNC_TRY(put(d, digits));
	return scale > 0 ? put(d, exponent) : LNC_OK;
}

static LncCode
put_number(Decoder *d, LncSlice bytes)
{
	size_t size = bytes.size - 1; /* behind the tag; not used before the check below */
	const uint8_t *value = bytes.data + 1;
	bool power_of_two = size == 1 || size == 2 || size == 4 || size == 8;
	char text[32];

	if (bytes.size == 0)
		return corrupt(d, "a number has no bytes");
	switch (bytes.data[0])
	{
		case NUMBER_ZERO:
			return size == 0 ? put(d, "0") : corrupt(d, "a zero has a value");
		case NUMBER_NAN:
			return size == 0 ? put(d, "\"NaN\"") : corrupt(d, "a NaN has a value");
		case NUMBER_INFINITY:
			return size == 0 ? put(d, "\"Infinity\"") : corrupt(d, "an infinity has a value");
		case NUMBER_MINUS_INFINITY:
			return size == 0 ? put(d, "\"-Infinity\"") : corrupt(d, "an infinity has a value");
		case NUMBER_INT:
			if (!power_of_two)
				return corrupt(d, "an integer has no such width");
			snprintf(text, sizeof(text), "%" PRId64, be_signed(value, size));
			return put(d, text);
		case NUMBER_UINT:
			if (!power_of_two)
				return corrupt(d, "an integer has no such width");
			snprintf(text, sizeof(text), "%" PRIu64, be_unsigned(value, size));
			return put(d, text);
		case NUMBER_DOUBLE:
			return size == 8 ? put_double(d, value) : corrupt(d, "a double has not 8 bytes");
		case NUMBER_DECIMAL:
			/* An older form has the precision before the scale, which is always last. */
			if (size == 9)
				return put_decimal(d, value, 8, value[8]);
			if (size == 17 || size == 18)
				return put_decimal(d, value, 16, value[size - 1]);
			if (size == 33 || size == 34)
				return put_decimal(d, value, 32, value[size - 1]);
			return corrupt(d, "a decimal has no such width");
		default:
			return corrupt(d, "a number has an unknown tag");
	}
}

/* ---- structure */

static LncCode
put_extension(Decoder *d, LncSlice bytes)
{
	static const char *const names[] = {"binary", "date", "timestamp", "timestamp with time zone", "interval"};
	uint8_t tag = bytes.size > 0 ? bytes.data[0] : 0xff;

	if ((tag & 0x0f) != 0 || tag >> 4 > 4)
		return corrupt(d, "an extension value has an unknown tag");
	return lnc_fail(d->ctx, LNC_UNSUPPORTED, "stored JSON value holds a value of type %s, which JSON lacks",
					names[tag >> 4]);
}

static LncCode
put_entry(Decoder *d, uint32_t entry, LncSlice payload, int depth)
{
	if (++d->entries % INTERRUPT_EVERY == 0)
		LNC_TRY(lnc_check_interrupt(d->ctx));
	switch (ENTRY_TYPE(entry))
	{
		case ENTRY_NULL:
			return payload.size == 0 ? put(d, "null") : corrupt(d, "a null has a value");
		case ENTRY_FALSE:
			return payload.size == 0 ? put(d, "false") : corrupt(d, "a boolean has a value");
		case ENTRY_TRUE:
			return payload.size == 0 ? put(d, "true") : corrupt(d, "a boolean has a value");
		case ENTRY_STRING:
			return put_string(d, payload);
		case ENTRY_NUMBER:
			return put_number(d, payload);
		case ENTRY_CONTAINER:
			return decode_container(d, payload, depth + 1);
		case ENTRY_EXTENSION:
			return put_extension(d, payload);
		default:
			return corrupt(d, "an entry has an unknown type");
	}
}

/* The next payload of length bytes; *rest loses them. */
static LncCode
take(Decoder *d, LncSlice *rest, uint32_t entry, LncSlice *out)
{
	size_t length = ENTRY_LENGTH(entry);

	if (length > rest->size)
		return corrupt(d, "a length points behind its end");
	*out = (LncSlice){.data = rest->data, .size = length};
	rest->data += length;
	rest->size -= length;
	return LNC_OK;
}

static LncCode
decode_array(Decoder *d, const uint8_t *entries, uint32_t count, LncSlice rest, int depth)
{
	LNC_TRY(put(d, "["));
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t entry = be32(entries + 4 * (size_t)i);
		LncSlice payload;

		LNC_TRY(take(d, &rest, entry, &payload));
		if (i > 0)
			LNC_TRY(put(d, ","));
		LNC_TRY(put_entry(d, entry, payload, depth));
	}
	return rest.size == 0 ? put(d, "]") : corrupt(d, "bytes are left over");
}

static LncCode
decode_object(Decoder *d, const uint8_t *entries, uint32_t count, LncSlice rest, int depth)
{
	const uint8_t *values = entries + 4 * (size_t)count;
	LncSlice keys = rest;
	uint64_t key_bytes = 0;

	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t entry = be32(entries + 4 * (size_t)i);

		if (ENTRY_TYPE(entry) != ENTRY_STRING)
			return corrupt(d, "a key is no string");
		key_bytes += ENTRY_LENGTH(entry);
	}
	if (key_bytes > rest.size)
		return corrupt(d, "a length points behind its end");
	rest.data += key_bytes;
	rest.size -= (size_t)key_bytes;

	LNC_TRY(put(d, "{"));
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t entry = be32(values + 4 * (size_t)i);
		LncSlice payload;

		LNC_TRY(take(d, &keys, be32(entries + 4 * (size_t)i), &payload));
		if (i > 0)
			LNC_TRY(put(d, ","));
		LNC_TRY(put_string(d, payload));
		LNC_TRY(put(d, ":"));
		LNC_TRY(take(d, &rest, entry, &payload));
		LNC_TRY(put_entry(d, entry, payload, depth));
	}
	return rest.size == 0 ? put(d, "}") : corrupt(d, "bytes are left over");
}

static LncCode
decode_container(Decoder *d, LncSlice bytes, int depth)
{
	uint32_t header;
	uint64_t count;
	uint64_t entry_bytes;
	const uint8_t *entries;
	LncSlice rest;

	if (depth > LNC_JSONB_MAX_DEPTH)
		return lnc_fail(d->ctx, LNC_LIMIT, "stored JSON value has more than %d levels", LNC_JSONB_MAX_DEPTH);
	if (bytes.size < 4)
		return corrupt(d, "it ends inside a header");
	entries = bytes.data + 4;
	header = be32(bytes.data);
	/* The writers count no entry in a scalar's header; it has one. */
	count = (header & HEADER_KIND) == KIND_SCALAR ? 1 : header & HEADER_COUNT;
	entry_bytes = 4 * count * ((header & HEADER_KIND) == KIND_OBJECT ? 2 : 1);
	if (entry_bytes > bytes.size - 4)
		return corrupt(d, "it has fewer bytes than entries");
	rest.data = entries + entry_bytes;
	rest.size = bytes.size - 4 - (size_t)entry_bytes;
	switch (header & HEADER_KIND)
	{
		case KIND_ARRAY:
			return decode_array(d, entries, (uint32_t)count, rest, depth);
		case KIND_OBJECT:
			return decode_object(d, entries, (uint32_t)count, rest, depth);
		case KIND_SCALAR:
		{
			LncSlice payload;

			LNC_TRY(take(d, &rest, be32(entries), &payload));
			if (rest.size > 0)
				return corrupt(d, "bytes are left over");
			return put_entry(d, be32(entries), payload, depth);
		}
		default:
			return corrupt(d, "a header has an unknown kind");
	}
}

LncCode
lnc_jsonb_text(LncContext *ctx, LncArena *arena, LncSlice jsonb, LncSlice *out)
{
	Decoder d = {.ctx = ctx};

	lnc_buffer_init(&d.text, arena, MAX_TEXT);
	LNC_TRY(decode_container(&d, jsonb, 1));
	LNC_TRY(lnc_buffer_append(ctx, &d.text, "", 1));
	*out = (LncSlice){.data = d.text.data, .size = d.text.size - 1};
	return LNC_OK;
}
