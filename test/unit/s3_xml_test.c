/*
 * s3_xml_test.c
 *	  S3's XML answers: pages, errors, times, and documents that are none of these.
 */
#include "testing.h"

#include <string.h>

#include "base/arena.h"
#include "storage/s3_xml.h"

static LncSlice
slice(const char *text)
{
	return (LncSlice){.data = (const uint8_t *)text, .size = strlen(text)};
}

#define CONTENTS(key, size)                                                                   \
	"<Contents><Key>" key                                                                     \
	"</Key><LastModified>2009-10-12T17:50:30.250Z</LastModified><ETag>&quot;abc&quot;</ETag>" \
	"<Size>" size                                                                             \
	"</Size><Owner><ID>x</ID><Key>not this</Key></Owner><StorageClass>STANDARD</StorageClass></Contents>"

static void
pages_are_read(void **state)
{
	LncS3Page page;

	(void)state;
	assert_int_equal(
		lnc_s3_parse_page(&ctx, arena,
						  slice("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
								"<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>"
								"<Prefix>a &amp; b/</Prefix><IsTruncated>true</IsTruncated>"
								"<NextContinuationToken>1ueGc/+==</NextContinuationToken>" CONTENTS(
									"a &amp; b/\xC3\xA9&lt;1&gt;", "434234")
									CONTENTS("a &amp; b/2", "0") "<CommonPrefixes><Prefix>a &amp; b/sub/</Prefix>"
																 "</CommonPrefixes></ListBucketResult>"),
						  &page),
		LNC_OK);
	assert_int_equal(page.nobjects, 2);
	assert_string_equal(page.objects[0].key, "a & b/\xC3\xA9<1>");
	assert_int_equal(page.objects[0].size, 434234);
	assert_true(page.objects[0].modified_ms == INT64_C(1255369830250));
	assert_string_equal(page.objects[0].e_tag, "\"abc\"");
	assert_string_equal(page.objects[1].key, "a & b/2");
	assert_int_equal(page.nfolders, 1);
	assert_string_equal(page.folders[0], "a & b/sub/");
	assert_true(page.truncated);
	assert_string_equal(page.next_token, "1ueGc/+==");

	assert_int_equal(lnc_s3_parse_page(&ctx, arena,
									   slice("<s:ListBucketResult xmlns:s=\"x\"><s:IsTruncated>false"
											 "</s:IsTruncated></s:ListBucketResult>"),
									   &page),
					 LNC_OK);
	assert_int_equal(page.nobjects, 0);
	assert_int_equal(page.nfolders, 0);
	assert_false(page.truncated);
}

static void
bad_pages_are_corrupt(void **state)
{
	static const char *const texts[] = {
		"",
		"not xml",
		"<Error><Code>X</Code></Error>",
		"<ListBucketResult>",
		"<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
		"<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
		"<ListBucketResult>" CONTENTS("a", "-1") "</ListBucketResult>",
		"<ListBucketResult>" CONTENTS("a", "1x") "</ListBucketResult>",
		"<ListBucketResult>" CONTENTS("a", "99999999999999999999") "</ListBucketResult>",
		"<ListBucketResult><Contents><Key>a</Key><Size>1</Size><LastModified>now</LastModified></Contents>"
		"</ListBucketResult>",
		"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
		"<!DOCTYPE x [<!ENTITY e \"eeee\">]><ListBucketResult><Contents><Key>&e;</Key><Size>1</Size></Contents>"
		"</ListBucketResult>",
		"<ListBucketResult><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a></a></a></a></a></a></a></a></a></"
		"a></a>"
		"</a></a></a></a></a></a></a></ListBucketResult>",
	};
	LncS3Page page;
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
	{
		if (lnc_s3_parse_page(&ctx, arena, slice(texts[i]), &page) != LNC_CORRUPT)
			fail_msg("accepted: %s", texts[i]);
	}
	/* A key that no store can have. */
	assert_int_equal(lnc_arena_printf(&ctx, arena, &text,
									  "<ListBucketResult><Contents><Key>%09000d</Key><Size>1</Size></Contents>"
									  "</ListBucketResult>",
									  1),
					 LNC_OK);
	assert_int_equal(lnc_s3_parse_page(&ctx, arena, slice(text), &page), LNC_LIMIT);
}

static void
errors_are_read(void **state)
{
	LncS3Error error;

	(void)state;
	lnc_s3_parse_error(slice("<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code><Message>The key\ndoes not exist."
							 "</Message><Key>x</Key><a><Code>inner</Code></a></Error>"),
					   &error);
	assert_string_equal(error.code, "NoSuchKey");
	assert_string_equal(error.message, "The key?does not exist.");
	lnc_s3_parse_error(slice("<html>oops"), &error);
	assert_string_equal(error.code, "");
	lnc_s3_parse_error(slice("<Error><Code>Cut</Code><Mess"), &error);
	assert_string_equal(error.code, "Cut");
	lnc_s3_parse_error(slice(""), &error);
	assert_string_equal(error.code, "");
	lnc_s3_parse_error(slice("<!DOCTYPE x [<!ENTITY e \"eeee\">]><Error><Code>&e;</Code></Error>"), &error);
	assert_string_equal(error.code, "");
}

static void
times_are_read(void **state)
{
	int64_t ms;

	(void)state;
	assert_true(lnc_s3_parse_time("1970-01-01T00:00:01Z", &ms));
	assert_int_equal(ms, 1000);
	assert_true(lnc_s3_parse_time("1970-01-01T00:00:01.123456Z", &ms));
	assert_int_equal(ms, 1123);
	assert_false(lnc_s3_parse_time("1970-01-01", &ms));
	assert_false(lnc_s3_parse_time("1970-01-01T00:00:01+01:00", &ms));
	assert_false(lnc_s3_parse_time("", &ms));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pages_are_read, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_pages_are_corrupt, setup, teardown),
		cmocka_unit_test_setup_teardown(errors_are_read, setup, teardown),
		cmocka_unit_test_setup_teardown(times_are_read, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
