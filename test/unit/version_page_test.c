/*
 * version_page_test.c
 *	  Pages and the newest end of long histories, in memory (ordered) and on disk.
 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dataset/version_page.h"

#define LAST 60

static char folder[] = "/tmp/version_page_test.XXXXXX";

/* An empty store of each kind. */
static LncStore *
open_empty(bool disk)
{
	static const LncStoreConfig config;
	LncStore *store;
	uint64_t removed;

	OK(lnc_store_open(&ctx, arena, disk ? folder : "memory://version_page", &config, &store));
	OK(lnc_store_delete_prefix(&ctx, store, "", &removed));
	return store;
}

static void
put(LncStore *store, const char *key, const char *text)
{
	OK(lnc_store_put(&ctx, store, key, (LncSlice){.data = (const uint8_t *)text, .size = strlen(text)}));
}

static void
put_version(LncStore *store, uint64_t version, LncNaming naming)
{
	char *key;

	OK(lnc_versions_key(&ctx, arena, "_versions", version, naming, &key));
	put(store, key, "m");
}

static bool
is_there(uint64_t version)
{
	return version >= 1 && version <= LAST && version != 7 && !(version > 20 && version < 45);
}

/* Versions 1 to 60 without 7 and 21 to 44; an intent of 46; staged files between. */
static LncStore *
make_history(bool disk, LncNaming naming)
{
	LncStore *store = open_empty(disk);
	char *key;

	for (uint64_t version = 1; version <= LAST; version++)
	{
		if (is_there(version))
			put_version(store, version, naming);
	}
	OK(lnc_versions_intent_key(&ctx, arena, "_versions", 46, naming, 1, &key));
	put(store, key, "i");
	for (uint64_t version = 10; version < 20; version++)
	{
		OK(lnc_versions_key(&ctx, arena, "_versions", version, naming, &key));
		OK(lnc_arena_printf(&ctx, arena, &key, "%s-staged", key));
		put(store, key, "s");
	}
	return store;
}

static void
check_page(LncStore *store, LncNaming naming, const LncVersionRange *range)
{
	LncVersionFile *files;
	size_t count;
	size_t n = 0;
	uint64_t version = range->descending ? range->last : range->first;

	OK(lnc_versions_page(&ctx, arena, store, "_versions", naming, range, &count, &files));
	for (; n < range->want && version >= range->first && version <= range->last;
		 version += range->descending ? (uint64_t)-1 : 1)
	{
		if (!is_there(version))
			continue;
		assert_true(n < count);
		assert_int_equal(files[n].version, version);
		assert_int_equal(files[n].naming, naming);
		assert_int_equal(files[n].size, 1);
		assert_true(files[n].modified_ms > 0);
		assert_int_equal(files[n].intended, version == 46);
		n++;
		if (version > LAST + 1000)
			break;
	}
	assert_int_equal(count, n);
}

static void
pages_of_all_kinds(void **state)
{
	static const LncNaming namings[] = {LNC_NAMING_V1, LNC_NAMING_V2};
	static const uint64_t ends[] = {1, 2, 6, 7, 8, 20, 21, 44, 45, 46, 59, 60, 61, 100};
	static const size_t sizes[] = {1, 2, 7, 34, 35, 36, 1000};

	(void)state;
	for (int kind = 0; kind < 4; kind++)
	{
		LncNaming naming = namings[kind % 2];
		LncStore *store = make_history(kind >= 2, naming);

		for (size_t first = 0; first < sizeof(ends) / sizeof(ends[0]); first++)
		{
			for (size_t last = 0; last < sizeof(ends) / sizeof(ends[0]); last++)
			{
				for (size_t size = 0; size < sizeof(sizes) / sizeof(sizes[0]); size++)
				{
					LncVersionRange range = {.first = ends[first], .last = ends[last], .want = sizes[size]};

					check_page(store, naming, &range);
					range.descending = true;
					check_page(store, naming, &range);
				}
			}
		}
	}
}

static void
ends_of_the_numbers(void **state)
{
	LncVersionFile *files;
	LncVersionFile file;
	size_t count;
	bool still;

	(void)state;
	for (int disk = 0; disk < 2; disk++)
	{
		LncStore *store = open_empty(disk);
		LncVersionRange range = {.first = 1, .last = LNC_MAX_VERSION, .want = 3, .descending = true};

		put_version(store, LNC_MAX_VERSION, LNC_NAMING_V2);
		put_version(store, 1, LNC_NAMING_V2);
		OK(lnc_versions_page(&ctx, arena, store, "_versions", LNC_NAMING_V2, &range, &count, &files));
		assert_int_equal(count, 2);
		assert_int_equal(files[0].version, LNC_MAX_VERSION);
		range.descending = false;
		OK(lnc_versions_page(&ctx, arena, store, "_versions", LNC_NAMING_V2, &range, &count, &files));
		assert_int_equal(count, 2);
		assert_int_equal(files[1].version, LNC_MAX_VERSION);
		OK(lnc_versions_latest_since(&ctx, arena, store, "_versions", LNC_MAX_VERSION, LNC_NAMING_V2, &file));
		assert_int_equal(file.version, LNC_MAX_VERSION);
		OK(lnc_versions_still_latest(&ctx, arena, store, "_versions", LNC_MAX_VERSION, LNC_NAMING_V2, &file,
									 &still));
		assert_true(still);
		range.first = 0;
		assert_int_equal(lnc_versions_page(&ctx, arena, store, "_versions", LNC_NAMING_V2, &range, &count, &files),
						 LNC_INVALID);
	}
}

static void
expect_latest(LncStore *store, uint64_t since, uint64_t version)
{
	LncVersionFile file;
	bool still;

	OK(lnc_versions_latest_since(&ctx, arena, store, "_versions", since, LNC_NAMING_V2, &file));
	assert_int_equal(file.version, version);
	assert_int_equal(file.size, 1);
	OK(lnc_versions_still_latest(&ctx, arena, store, "_versions", since, LNC_NAMING_V2, &file, &still));
	assert_int_equal(still, since == version);
}

static void
newest_from_an_older_one(void **state)
{
	static const char *const damaged[] = {"",
										  "{",
										  "[12]",
										  "{\"version\":-3}",
										  "{\"version\":\"12\"}",
										  "{\"version\":99999999999999999999}",
										  "{\"version\":4000}",
										  "{\"version\":2}",
										  "{\"version\":10}"};
	LncVersionFile file;

	(void)state;
	for (int disk = 0; disk < 2; disk++)
	{
		LncStore *store = open_empty(disk);
		char *long_hint;
		uint64_t removed;

		assert_int_equal(lnc_versions_latest_since(&ctx, arena, store, "_versions", 1, LNC_NAMING_V2, &file),
						 LNC_NOT_FOUND);
		for (uint64_t version = 3; version <= 10; version++)
			put_version(store, version, LNC_NAMING_V2);
		for (uint64_t since = 1; since <= 12; since++)
			expect_latest(store, since, 10);
		for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++)
		{
			put(store, "_versions/latest_version_hint.json", damaged[i]);
			expect_latest(store, 5, 10);
			expect_latest(store, 10, 10);
		}
		OK(lnc_arena_printf(&ctx, arena, &long_hint, "{%8000s\"version\":20}", ""));
		put(store, "_versions/latest_version_hint.json", long_hint);
		expect_latest(store, 10, 10);

		/* What lies between was cleaned up. */
		put_version(store, 20, LNC_NAMING_V2);
		put_version(store, 21, LNC_NAMING_V2);
		put(store, "_versions/latest_version_hint.json", "{\"version\":20}");
		expect_latest(store, 10, 21);
		expect_latest(store, 21, 21);

		/* So many that they are listed instead. */
		for (uint64_t version = 22; version <= 300; version++)
			put_version(store, version, LNC_NAMING_V2);
		expect_latest(store, 10, 300);
		OK(lnc_store_delete_prefix(&ctx, store, "", &removed));
	}
}

/* Requests for a page do not grow with the history. */
static void
pages_cost_a_page(void **state)
{
	LncStore *store = open_empty(false);
	LncStoreStats before;
	LncStoreStats after;
	LncVersionFile *files;
	LncVersionFile file;
	size_t count;
	bool still;

	(void)state;
	for (uint64_t version = 1; version <= 5000; version++)
		put_version(store, version, LNC_NAMING_V2);
	lnc_store_stats(store, &before);
	for (int descending = 0; descending < 2; descending++)
	{
		LncVersionRange range = {.first = 2000, .last = 4999, .want = 50, .descending = descending != 0};

		OK(lnc_versions_page(&ctx, arena, store, "_versions", LNC_NAMING_V2, &range, &count, &files));
		assert_int_equal(count, 50);
		assert_int_equal(files[49].version, descending ? 4950 : 2049);
	}
	OK(lnc_versions_still_latest(&ctx, arena, store, "_versions", 5000, LNC_NAMING_V2, &file, &still));
	assert_true(still);
	lnc_store_stats(store, &after);
	assert_in_range(after.requests - before.requests, 1, 6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pages_of_all_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(ends_of_the_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(newest_from_an_older_one, setup, teardown),
		cmocka_unit_test_setup_teardown(pages_cost_a_page, setup, teardown),
	};
	int failed;

	if (mkdtemp(folder) == NULL)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
