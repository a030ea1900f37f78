/*
 * unpack_test.c
 *	  The protobuf guard: what it lets through and what it refuses, and the UTF-8 check it uses.
 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "proto/encodings20.pb-c.h"
#include "proto/file2.pb-c.h"
#include "proto/unpack.h"

/* Unpack size bytes, from a heap copy so that ASan sees reads past the end. */
static LncCode
unpack(const ProtobufCMessageDescriptor *descriptor, const void *bytes, size_t size, ProtobufCMessage **out)
{
	uint8_t *copy = malloc(size + (size == 0));
	LncCode code;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	code = lnc_proto_unpack(&ctx, arena, descriptor, (LncSlice){copy, size}, "test message", out);
	free(copy);
	return code;
}

static void
a_message_survives_the_round_trip(void **state)
{
	Lance__File__V2__Page page = LANCE__FILE__V2__PAGE__INIT;
	Lance__File__V2__Encoding encoding = LANCE__FILE__V2__ENCODING__INIT;
	Lance__File__V2__DirectEncoding direct = LANCE__FILE__V2__DIRECT_ENCODING__INIT;
	uint64_t offsets[3] = {0, 300, UINT64_MAX};
	uint8_t bytes[4] = {1, 0, 255, 7};
	uint8_t packed[128];
	size_t size;
	ProtobufCMessage *message;
	const Lance__File__V2__Page *back;

	(void)state;
	page.n_buffer_offsets = 3;
	page.buffer_offsets = offsets;
	page.length = 77;
	direct.encoding = (ProtobufCBinaryData){sizeof(bytes), bytes};
	encoding.location_case = LANCE__FILE__V2__ENCODING__LOCATION_DIRECT;
	encoding.direct = &direct;
	page.encoding = &encoding;
	size = protobuf_c_message_get_packed_size(&page.base);
	assert_true(size <= sizeof(packed));
	protobuf_c_message_pack(&page.base, packed);

	assert_int_equal(unpack(&lance__file__v2__page__descriptor, packed, size, &message), LNC_OK);
	back = (const Lance__File__V2__Page *)message;
	assert_int_equal(back->n_buffer_offsets, 3);
	assert_true(back->buffer_offsets[2] == UINT64_MAX);
	assert_true(back->length == 77);
	assert_int_equal(back->encoding->location_case, LANCE__FILE__V2__ENCODING__LOCATION_DIRECT);
	assert_int_equal(back->encoding->direct->encoding.len, 4);
	assert_memory_equal(back->encoding->direct->encoding.data, bytes, 4);

	/* No bytes at all are the empty message. */
	assert_int_equal(lnc_proto_unpack(&ctx, arena, &lance__file__v2__page__descriptor, (LncSlice){NULL, 0},
									  "test message", &message),
					 LNC_OK);

	/* Every proper prefix is either refused or a shorter valid message; none is read past its end. */
	for (size_t cut = 0; cut < size; cut++)
	{
		LncCode code = unpack(&lance__file__v2__page__descriptor, packed, cut, &message);

		assert_true(code == LNC_OK || code == LNC_CORRUPT);
	}
}

/* So many levels of ColumnEncoding inside each other, written to out; the size. */
static size_t
nest(uint8_t *out, size_t capacity, int levels)
{
	size_t size = 0;
	uint8_t *buffer = out + capacity;

	for (int i = 0; i < levels; i++)
	{
		/* Innermost first: ZoneIndex.inner = 3 alternating with ColumnEncoding.zone_index = 2. */
		uint8_t tag = i % 2 == 0 ? 0x12 : 0x1A;
		size_t length = size;
		uint8_t head[8];
		size_t n = 0;

		head[n++] = tag;
		do
		{
			head[n++] = (uint8_t)((length & 0x7F) | (length > 0x7F ? 0x80 : 0));
			length >>= 7;
		} while (length > 0);
		buffer -= n;
		memcpy(buffer, head, n);
		size += n;
	}
	memmove(out, buffer, size);
	return size;
}

static void
deep_nesting_is_refused(void **state)
{
	size_t capacity = 64 * 1024;
	uint8_t *bytes = malloc(capacity);
	ProtobufCMessage *message;
	size_t size;

	(void)state;
	assert_non_null(bytes);
	size = nest(bytes, capacity, LNC_PROTO_MAX_DEPTH - 1);
	assert_int_equal(unpack(&lance__encodings20__column_encoding__descriptor, bytes, size, &message), LNC_OK);
	size = nest(bytes, capacity, LNC_PROTO_MAX_DEPTH + 1);
	assert_int_equal(unpack(&lance__encodings20__column_encoding__descriptor, bytes, size, &message), LNC_LIMIT);
	size = nest(bytes, capacity, 10001);
	assert_int_equal(unpack(&lance__encodings20__column_encoding__descriptor, bytes, size, &message), LNC_LIMIT);
	assert_non_null(strstr(ctx.error.message, "test message"));
	free(bytes);
}

static void
malformed_bytes_are_refused(void **state)
{
	static const struct
	{
		const char *bytes;
		size_t size;
	} cases[] = {
		{"\x00", 1},                                              /* field number 0 */
		{"\x0B", 1},                                              /* group */
		{"\x18", 1},                                              /* number missing */
		{"\x18\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12}, /* number of 11 bytes */
		{"\x22\x05\x12\x00", 4},                                  /* longer than the message */
		{"\x22\xFF\xFF\xFF\xFF\x0F", 6},                          /* length of 4 GiB */
		{"\xFF\xFF\xFF\xFF\x7F\x00", 6},                          /* tag beyond 32 bits */
		{"\x22\x00\x22\x00", 4},                                  /* singular message twice */
		{"\x20\x01", 2},                                          /* message field given as a number */
		{"\x19\x00\x00", 3},                                      /* 64-bit field cut off */
	};
	ProtobufCMessage *message;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(unpack(&lance__file__v2__page__descriptor, cases[i].bytes, cases[i].size, &message),
						 LNC_CORRUPT);
	assert_int_equal(unpack(&lance__file__v2__any_message__descriptor, "\x0A\x02/\0", 4, &message), LNC_CORRUPT);
	assert_int_equal(unpack(&lance__file__v2__any_message__descriptor, "\x0A\x02/\xC3", 4, &message), LNC_CORRUPT);
	assert_int_equal(unpack(&lance__file__v2__any_message__descriptor, "\x0A\x03/\xC3\xA9", 5, &message), LNC_OK);
	assert_string_equal(((const Lance__File__V2__AnyMessage *)message)->type_url, "/\xC3\xA9");
}

static void
empty_submessages_may_not_blow_up(void **state)
{
	size_t count = 500000;
	uint8_t *bytes = malloc(count * 2);
	ProtobufCMessage *message;
	ProtobufCMessageDescriptor wide;
	ProtobufCMessageDescriptor outer;
	ProtobufCFieldDescriptor field;

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < count; i++)
	{
		bytes[2 * i] = 0x0A; /* PackedStruct.inner, empty */
		bytes[2 * i + 1] = 0;
	}
	/* 24 to 40 bytes of struct for two bytes of input are within the bound ... */
	assert_int_equal(unpack(&lance__encodings20__packed_struct__descriptor, bytes, count * 2, &message), LNC_OK);
	assert_int_equal(((const Lance__Encodings20__PackedStruct *)message)->n_inner, count);
	/* ... a message type of 200 bytes is not. */
	wide = lance__encodings20__column_encoding__descriptor;
	wide.sizeof_message = 200;
	field = lance__encodings20__packed_struct__descriptor.fields[0];
	field.descriptor = &wide;
	outer = lance__encodings20__packed_struct__descriptor;
	outer.n_fields = 1;
	outer.fields = &field;
	assert_int_equal(unpack(&outer, bytes, count * 2, &message), LNC_LIMIT);
	free(bytes);
}

/* Texts longer than what is looked at at once, with one odd byte. */
static void
at_every_place_of_a_long_text(void)
{
	uint8_t text[200];
	size_t bad;

	memset(text, 'a', sizeof(text));
	for (size_t at = 0; at < sizeof(text); at++)
	{
		text[at] = 0x7F;
		assert_true(lnc_utf8_valid(text, sizeof(text), &bad));
		text[at] = 0;
		assert_false(lnc_utf8_valid(text, sizeof(text), &bad));
		assert_int_equal(bad, at);
		text[at] = 0x80;
		assert_false(lnc_utf8_valid(text, sizeof(text), &bad));
		assert_int_equal(bad, at);
		text[at] = 'a';
	}
}

static void
utf8_is_judged_by_the_standard(void **state)
{
	static const char *const good[] = {"",
									   "plain ascii text of some length",
									   "\xC2\x80",
									   "\xE0\xA0\x80",
									   "\xED\x9F\xBF",
									   "\xEE\x80\x80",
									   "\xF0\x90\x80\x80",
									   "\xF4\x8F\xBF\xBF",
									   "12345678\xC3\xA9"};
	static const char *const bad[] = {"\x80",
									  "\xC0\x80",
									  "\xC1\xBF",
									  "\xC2",
									  "\xC2\x41",
									  "\xE0\x9F\xBF",
									  "\xED\xA0\x80",
									  "\xE2\x82",
									  "\xF0\x8F\xBF\xBF",
									  "\xF4\x90\x80\x80",
									  "\xF5\x80\x80\x80",
									  "\xFF",
									  "12345678\xE9"};
	size_t at;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(lnc_utf8_valid((const uint8_t *)good[i], strlen(good[i]), NULL));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(lnc_utf8_valid((const uint8_t *)bad[i], strlen(bad[i]), NULL));
	assert_false(lnc_utf8_valid((const uint8_t *)"abcdefghijk\0mnop", 16, &at));
	assert_int_equal(at, 11);
	at_every_place_of_a_long_text();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_message_survives_the_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(deep_nesting_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(malformed_bytes_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(empty_submessages_may_not_blow_up, setup, teardown),
		cmocka_unit_test(utf8_is_judged_by_the_standard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
