/*
 * jsonb_text_test.c
 *	  Wide integers as digits, and stored JSON as text.
 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "column/jsonb_text.h"

/* Bytes from hex; what is behind their end belongs to nobody, so that a sanitizer sees a read past it. */
static LncSlice
from_hex(const char *hex)
{
	size_t size = strlen(hex) / 2;
	uint8_t *bytes = malloc(size + 1);
	uint8_t *exact;

	for (size_t i = 0; i < size; i++)
	{
		char pair[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

		bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	exact = malloc(size == 0 ? 1 : size);
	memcpy(exact, bytes, size);
	free(bytes);
	return (LncSlice){.data = exact, .size = size};
}

static LncCode
decode(const char *hex, const char **text)
{
	LncSlice bytes = from_hex(hex);
	LncSlice out = {0};
	LncCode code = lnc_jsonb_text(&ctx, arena, bytes, &out);

	free((void *)bytes.data);
	*text = (const char *)out.data;
	if (code == LNC_OK)
		assert_int_equal(out.size, strlen(*text));
	return code;
}

static void
expect(const char *hex, const char *want)
{
	const char *text;

	assert_int_equal(decode(hex, &text), LNC_OK);
	assert_string_equal(text, want);
}

static void
expect_error(const char *hex, LncCode want)
{
	const char *text;

	assert_int_equal(decode(hex, &text), want);
}

static void
scalars(void **state)
{
	(void)state;
	expect("2000000000000000", "null");
	expect("2000000030000000", "false");
	expect("2000000040000000", "true");
	expect("2000000010000000", "\"\"");
	/* Quote, line feed, backslash, a letter of two bytes, NUL. */
	expect("200000001000000861220a5cc3a90062", "\"a\\\"\\u000a\\\\\xc3\xa9\\u0000b\"");
}

static void
numbers(void **state)
{
	(void)state;
	expect("200000002000000100", "0");
	expect("200000002000000240f9", "-7");
	expect("200000002000000350012c", "300");
	expect("200000002000000540fffeee90", "-70000");
	expect("2000000020000009408000000000000000", "-9223372036854775808");
	expect("200000002000000950ffffffffffffffff", "18446744073709551615");
	expect("2000000020000009603ff8000000000000", "1.5");
	expect("2000000020000009603ff0000000000000", "1.0");
	expect("2000000020000009608000000000000000", "-0.0");
	expect("200000002000000960be8e32f0ee144531", "-2.25e-07");
	expect("2000000020000009604480f0cf064dd592", "1e+22");
	/* JSON has no words for these. */
	expect("200000002000000110", "\"NaN\"");
	expect("200000002000000120", "\"Infinity\"");
	expect("200000002000000130", "\"-Infinity\"");
	expect("2000000020000009607ff8000000000000", "\"NaN\"");
	/* Decimals of 8, 16 and 32 bytes; the older forms with a precision before the scale. */
	expect("200000002000000a70ffffffffffffcfc702", "-12345e-2");
	expect("200000002000001270000000000000000000000000000030390a", "12345e-10");
	expect("20000000200000137000000000000000000000000000003039260a", "12345e-10");
	expect("200000002000002270800000000000000000000000000000000000000000000000000000000000000000",
		   "-57896044618658097711785492504343953926634992332820282019728792003956564819968");
}

static void
containers(void **state)
{
	(void)state;
	expect("80000000", "[]");
	expect("40000000", "{}");
	expect("80000002200000025000001b500180000002200000025000000d500240000001100000010000000061",
		   "[1,[2,{\"a\":null}]]");
	expect("40000003100000011000000610000001200000025000001a200000096b6e65737465647a500140000001100000015000000d78"
		   "8000000240000000100000017360bff0000000000000",
		   "{\"k\":1,\"nested\":{\"x\":[true,\"s\"]},\"z\":-1.0}");
}

static void
damage_is_named(void **state)
{
	static const char whole[] =
		"40000003100000011000000610000001200000025000001a200000096b6e65737465647a500140000001100000015000000d78"
		"8000000240000000100000017360bff0000000000000";
	char cut[sizeof(whole)];
	LncSlice out;

	(void)state;
	assert_int_equal(lnc_jsonb_text(&ctx, arena, (LncSlice){.data = NULL, .size = 0}, &out), LNC_CORRUPT);
	for (size_t length = 0; length + 1 < sizeof(whole); length += 2)
	{
		memcpy(cut, whole, length);
		cut[length] = '\0';
		expect_error(cut, LNC_CORRUPT);
	}
	expect_error("00000000", LNC_CORRUPT);                       /* no such kind */
	expect_error("8000000000", LNC_CORRUPT);                     /* a byte too many */
	expect_error("9fffffff00000000", LNC_CORRUPT);               /* half a billion entries in 4 bytes */
	expect_error("4000000120000001000000000000", LNC_CORRUPT);   /* a number as a key */
	expect_error("2000000010000001ff", LNC_CORRUPT);             /* not UTF-8 */
	expect_error("200000002000000440010203", LNC_CORRUPT);       /* an integer of three bytes */
	expect_error("2000000020000000", LNC_CORRUPT);               /* a number of none */
	expect_error("20000000200000026000", LNC_CORRUPT);           /* half a double */
	expect_error("2000000070000000", LNC_CORRUPT);               /* no such entry */
	expect_error("20000000600000051000000001", LNC_UNSUPPORTED); /* a date */
	assert_non_null(strstr(ctx.error.message, "type date"));
}

/* Arrays of one array each, so many levels. */
static LncCode
decode_nested(uint32_t levels)
{
	size_t size = 8 * (size_t)levels - 4;
	uint8_t *bytes = calloc(1, size);
	LncSlice out;
	LncCode code;

	for (uint32_t i = 0; i < levels; i++)
	{
		uint32_t entry = 0x50000000u | (uint32_t)(size - 8 * i - 8);

		bytes[8 * i] = 0x80;
		if (i + 1 == levels)
			break;
		bytes[8 * i + 3] = 1;
		entry = __builtin_bswap32(entry);
		memcpy(bytes + 8 * i + 4, &entry, 4);
	}
	code = lnc_jsonb_text(&ctx, arena, (LncSlice){.data = bytes, .size = size}, &out);
	if (code == LNC_OK)
		assert_int_equal(out.size, 2 * levels);
	free(bytes);
	return code;
}

static void
depth_has_a_limit(void **state)
{
	(void)state;
	assert_int_equal(decode_nested(LNC_JSONB_MAX_DEPTH), LNC_OK);
	assert_int_equal(decode_nested(LNC_JSONB_MAX_DEPTH + 1), LNC_LIMIT);
}

static void
wide_integers(void **state)
{
	static const struct
	{
		const char *hex; /* little-endian */
		const char *text;
	} cases[] = {
		{"00000000", "0"},
		{"ffffffff", "-1"},
		{"00000080", "-2147483648"},
		{"00ca9a3b00000000", "1000000000"},
		{"ffffffffffffff7f", "9223372036854775807"},
		{"00000000000000000000000000000080", "-170141183460469231731687303715884105728"},
		{"ffffffffffffffffffffffffffffff7f", "170141183460469231731687303715884105727"},
		{"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		 "57896044618658097711785492504343953926634992332820282019728792003956564819967"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		LncSlice bytes = from_hex(cases[i].hex);
		char text[LNC_INTEGER_TEXT_SIZE];

		lnc_integer_text(bytes.data, (int)bytes.size / 4, text);
		assert_string_equal(text, cases[i].text);
		free((void *)bytes.data);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(scalars, setup, teardown),
		cmocka_unit_test_setup_teardown(numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(containers, setup, teardown),
		cmocka_unit_test_setup_teardown(damage_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(depth_has_a_limit, setup, teardown),
		cmocka_unit_test(wide_integers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
