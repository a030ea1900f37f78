/*
 * json_test.c
 *	  The JSON reader, the writer and the growing buffer.
 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json.h"

static LncCode
parse(const char *text, const LncJson **out)
{
	return lnc_json_parse(&ctx, arena, (LncSlice){.data = (const uint8_t *)text, .size = strlen(text)}, out);
}

static void
buffer_stops_at_its_maximum(void **state)
{
	LncBuffer buffer;
	char block[100];

	(void)state;
	memset(block, 'x', sizeof(block));
	lnc_buffer_init(&buffer, arena, 1000);
	for (int i = 0; i < 10; i++)
		assert_int_equal(lnc_buffer_append(&ctx, &buffer, block, sizeof(block)), LNC_OK);
	assert_int_equal(lnc_buffer_append(&ctx, &buffer, block, 1), LNC_LIMIT);
	assert_int_equal(lnc_buffer_slice(&buffer).size, 1000);
	assert_int_equal(lnc_buffer_reserve(&ctx, &buffer, SIZE_MAX), LNC_LIMIT);
	assert_int_equal(buffer.data[999], 'x');
}

static void
members_are_typed(void **state)
{
	const LncJson *v;
	const LncJson *child;
	const char *s;
	int64_t n = 0;
	double d = 0;
	bool b = false;
	bool present;

	(void)state;
	assert_int_equal(parse(" {\"s\":\"h\\u00e9\\n\",\"n\":-9007199254740991,\"d\":1.5,\"b\":true,\"z\":null,"
						   "\"o\":{\"a\":1},\"l\":[1,2,3],\"S\":7,\"e\":1e3} \n",
						   &v),
					 LNC_OK);
	assert_int_equal(lnc_json_kind(v), LNC_JSON_OBJECT);
	assert_int_equal(lnc_json_get_string(&ctx, v, "s", &s), LNC_OK);
	assert_string_equal(s, "h\xC3\xA9\n");
	assert_int_equal(lnc_json_get_int64(&ctx, v, "n", &present, &n), LNC_OK);
	assert_true(present);
	assert_true(n == -9007199254740991);
	assert_int_equal(lnc_json_get_int64(&ctx, v, "e", &present, &n), LNC_OK);
	assert_int_equal(n, 1000);
	assert_int_equal(lnc_json_get_double(&ctx, v, "d", &present, &d), LNC_OK);
	assert_true(present && d == 1.5);
	assert_int_equal(lnc_json_get_bool(&ctx, v, "b", &present, &b), LNC_OK);
	assert_true(present && b);
	assert_int_equal(lnc_json_get_object(&ctx, v, "o", &child), LNC_OK);
	assert_int_equal(lnc_json_count(child), 1);
	assert_string_equal(lnc_json_key(lnc_json_first(child)), "a");
	assert_int_equal(lnc_json_get_array(&ctx, v, "l", &child), LNC_OK);
	assert_int_equal(lnc_json_count(child), 3);
	n = 0;
	LNC_JSON_EACH(item, child)
	{
		int64_t one;

		assert_int_equal(lnc_json_as_int64(&ctx, item, "element of \"l\"", &one), LNC_OK);
		n = n * 10 + one;
	}
	assert_int_equal(n, 123);

	/* absent and null are the same */
	assert_int_equal(lnc_json_get_string(&ctx, v, "z", &s), LNC_OK);
	assert_null(s);
	assert_int_equal(lnc_json_get_int64(&ctx, v, "nope", &present, &n), LNC_OK);
	assert_false(present);
	assert_int_equal(lnc_json_get_bool(&ctx, v, "z", &present, &b), LNC_OK);
	assert_false(present);
	assert_int_equal(lnc_json_get_object(&ctx, v, "nope", &child), LNC_OK);
	assert_null(child);
	assert_null(lnc_json_member(NULL, "a"));
	assert_null(lnc_json_first(NULL));

	/* kinds */
	assert_int_equal(lnc_json_get_string(&ctx, v, "S", &s), LNC_INVALID);
	assert_string_equal(ctx.error.message, "\"S\" must be a string, not a number");
	assert_int_equal(lnc_json_get_int64(&ctx, v, "d", &present, &n), LNC_INVALID);
	assert_string_equal(ctx.error.message, "\"d\" must be an integer");
	assert_int_equal(lnc_json_get_bool(&ctx, v, "s", &present, &b), LNC_INVALID);
	assert_int_equal(lnc_json_get_double(&ctx, v, "s", &present, &d), LNC_INVALID);
	assert_int_equal(lnc_json_get_object(&ctx, v, "l", &child), LNC_INVALID);
	assert_int_equal(lnc_json_get_array(&ctx, v, "o", &child), LNC_INVALID);
	assert_int_equal(lnc_json_as_string(&ctx, v, "body", &s), LNC_INVALID);
	assert_string_equal(ctx.error.message, "body must be a string, not an object");
	assert_int_equal(lnc_json_as_double(&ctx, v, "body", &d), LNC_INVALID);
	assert_int_equal(lnc_json_as_bool(&ctx, v, "body", &b), LNC_INVALID);
}

static void
inexact_integers_are_refused(void **state)
{
	static const char *const texts[] = {"9007199254740992", "9007199254740993", "-9007199254740993", "1e300",
										"0.1"};
	const LncJson *v;
	int64_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
	{
		assert_int_equal(parse(texts[i], &v), LNC_OK);
		assert_int_equal(lnc_json_as_int64(&ctx, v, "number", &n), LNC_INVALID);
	}
}

static void
bad_texts_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"{",
		"}",
		"[1,]",
		"{\"a\":1,}",
		"{\"a\":1,\"a\":2}",
		"1 2",
		"{} x",
		"\"\\u0000\"",
		"\"a\\u0000b\"",
		"\"\xC3\"",
		"\"a\nb\"",
		"01",
		"1.",
		".5",
		"+1",
		"-",
		"1e",
		"1e999",
		"NaN",
		"nul",
		"tru",
		"\"abc",
		"\"abc\\\"",
		"{a:1}",
		"{'a':1}",
		"\xEF\xBB\xBF{}",
		"[1 2]",
		"{\"a\" 1}",
		"\"\\ud800\"",
		"\"\\x\"",
		"[1]]",
		"\x01",
		"//x\n1",
		"{\"x\":{\"k\":1,\"q\":2,\"k\":3}}",
		"123456789012345678901234567890123456789012345678901234567890123456789",
	};
	const LncJson *v;
	char deep[2 * (LNC_JSON_MAX_DEPTH + 1) + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
	{
		if (parse(texts[i], &v) != LNC_INVALID)
			fail_msg("accepted: %s", texts[i]);
	}
	assert_int_equal(lnc_json_parse(&ctx, arena, (LncSlice){.data = (const uint8_t *)"1\0", .size = 2}, &v),
					 LNC_INVALID);
	/* An escaped backslash before u0000 is not a NUL. */
	assert_int_equal(parse("\"\\\\u0000\"", &v), LNC_OK);

	memset(deep, '[', LNC_JSON_MAX_DEPTH + 1);
	memset(deep + LNC_JSON_MAX_DEPTH + 1, ']', LNC_JSON_MAX_DEPTH + 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_int_equal(parse(deep, &v), LNC_INVALID);
	deep[sizeof(deep) - 2] = '\0';
	assert_int_equal(parse(deep + 1, &v), LNC_OK);
}

static void
the_number_of_values_is_limited(void **state)
{
	size_t size = 2 * (size_t)LNC_JSON_MAX_VALUES;
	char *text = malloc(size + 2);
	const LncJson *v;

	/* an array of zeros, itself the last value allowed */
	(void)state;
	assert_non_null(text);
	for (size_t i = 1; i < size - 1; i += 2)
		memcpy(text + i, "0,", 2);
	text[0] = '[';
	memcpy(text + size - 2, "]", 2);
	assert_int_equal(parse(text, &v), LNC_OK);
	assert_int_equal(lnc_json_count(v), LNC_JSON_MAX_VALUES - 1);
	memcpy(text + size - 2, ",0]", 4);
	assert_int_equal(parse(text, &v), LNC_INVALID);
	free(text);
}

static void
writer_makes_what_reader_reads(void **state)
{
	LncJsonWriter *w;
	LncSlice text;
	const LncJson *v;

	(void)state;
	assert_int_equal(lnc_jw_create(&ctx, arena, 1 << 20, &w), LNC_OK);
	lnc_jw_begin_object(w);
	lnc_jw_put_string(w, "name", "a\"b\\c\n\t\x01\xC3\xA9");
	lnc_jw_put_string(w, "absent", NULL);
	lnc_jw_put_int(w, "min", INT64_MIN);
	lnc_jw_put_bool(w, "yes", true);
	lnc_jw_key(w, "big");
	lnc_jw_uint(w, UINT64_MAX);
	lnc_jw_key(w, "list");
	lnc_jw_begin_array(w);
	lnc_jw_null(w);
	lnc_jw_string(w, NULL);
	lnc_jw_double(w, 0.1);
	lnc_jw_double(w, 1.0 / 3);
	lnc_jw_double(w, 1e300 * 1e300);
	lnc_jw_begin_object(w);
	lnc_jw_end_object(w);
	lnc_jw_raw(w, "[1]", 3);
	lnc_jw_end_array(w);
	lnc_jw_end_object(w);
	assert_int_equal(lnc_jw_finish(w, &text), LNC_OK);
	assert_string_equal((const char *)text.data,
						"{\"name\":\"a\\\"b\\\\c\\n\\t\\u0001\xC3\xA9\",\"min\":-9223372036854775808,\"yes\":true,"
						"\"big\":18446744073709551615,\"list\":[null,null,0.1,0.3333333333333333,null,{},[1]]}");
	assert_int_equal(text.size, strlen((const char *)text.data));

	assert_int_equal(parse("{\"a\":[1,2.5,\"x\",null,true,false],\"b\":{\"c\":9007199254740991}}", &v), LNC_OK);
	assert_int_equal(lnc_jw_create(&ctx, arena, 1 << 20, &w), LNC_OK);
	lnc_jw_value(w, v);
	assert_int_equal(lnc_jw_finish(w, &text), LNC_OK);
	assert_string_equal((const char *)text.data,
						"{\"a\":[1,2.5,\"x\",null,true,false],\"b\":{\"c\":9007199254740991}}");
}

/* Each use is wrong in one way and must be told apart from success. */
static void
writer_reports_misuse(void **state)
{
	(void)state;
	for (int use = 0; use < 8; use++)
	{
		LncJsonWriter *w;
		LncSlice text;

		assert_int_equal(lnc_jw_create(&ctx, arena, 100, &w), LNC_OK);
		switch (use)
		{
			case 0: /* nothing */
				break;
			case 1:
				lnc_jw_begin_object(w);
				break;
			case 2:
				lnc_jw_begin_object(w);
				lnc_jw_int(w, 1);
				lnc_jw_end_object(w);
				break;
			case 3:
				lnc_jw_begin_object(w);
				lnc_jw_end_array(w);
				break;
			case 4:
				lnc_jw_int(w, 1);
				lnc_jw_int(w, 2);
				break;
			case 5:
				lnc_jw_begin_array(w);
				lnc_jw_key(w, "a");
				lnc_jw_end_array(w);
				break;
			case 6:
				lnc_jw_string(w, "\xFF");
				break;
			case 7:
				lnc_jw_begin_object(w);
				lnc_jw_key(w, "a");
				lnc_jw_end_object(w);
				break;
		}
		assert_int_equal(lnc_jw_finish(w, &text), LNC_INVALID);
	}
	for (int length = 97; length <= 99; length++)
	{
		LncJsonWriter *w;
		LncSlice text;
		char block[100];

		memset(block, 'x', sizeof(block));
		assert_int_equal(lnc_jw_create(&ctx, arena, 100, &w), LNC_OK);
		lnc_jw_string_n(w, block, (size_t)length);
		assert_int_equal(lnc_jw_finish(w, &text), length == 97 ? LNC_OK : LNC_LIMIT);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(buffer_stops_at_its_maximum, setup, teardown),
		cmocka_unit_test_setup_teardown(members_are_typed, setup, teardown),
		cmocka_unit_test_setup_teardown(inexact_integers_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_texts_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(the_number_of_values_is_limited, setup, teardown),
		cmocka_unit_test_setup_teardown(writer_makes_what_reader_reads, setup, teardown),
		cmocka_unit_test_setup_teardown(writer_reports_misuse, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
