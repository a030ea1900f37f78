/*
 * versions_test.c
 *	  Names of manifests; listing, newest and lookup in memory and on disk.
 */
#include "testing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dataset/versions.h"

/* An empty store: memory stores of one name share their objects. */
static LncStore *
memory_store(void)
{
	static const LncStoreConfig config;
	LncStore *store;
	uint64_t removed;

	OK(lnc_store_open(&ctx, arena, "memory://versions", &config, &store));
	OK(lnc_store_delete_prefix(&ctx, store, "", &removed));
	return store;
}

static void
put(LncStore *store, const char *key)
{
	LncSlice body = {.data = (const uint8_t *)"x", .size = 1};

	OK(lnc_store_put(&ctx, store, key, body));
}

static void
put_version(LncStore *store, uint64_t version, LncNaming naming)
{
	char *key;

	OK(lnc_versions_key(&ctx, arena, "_versions", version, naming, &key));
	put(store, key);
}

/* What lies beside versions and is none. */
static void
put_noise(LncStore *store)
{
	put(store, "_versions/latest_version_hint.json");
	put(store, "_versions/18446744073709551000.manifest-0e8bb9b6-5a0d-4d9f-a1d6-0a4a8f6b2f5e");
	put(store, "_versions/d9223372036854775809.manifest");
	put(store, "_versions/.tmp_18446744073709551000.manifest");
	put(store, "_versions/17.manifest.bak");
	put(store, "_versions/sub/9.manifest");
}

static void
names_are_told_apart(void **state)
{
	static const struct
	{
		const char *name;
		uint64_t version; /* 0: no version */
		LncNaming naming;
	} cases[] = {
		{"1.manifest", 1, LNC_NAMING_V1},
		{"1234567890123456789.manifest", 1234567890123456789, LNC_NAMING_V1},
		{"18446744073709551614.manifest", 1, LNC_NAMING_V2},
		{"18446744073709551608.manifest", 7, LNC_NAMING_V2},
		{"9223372036854775808.manifest", 0, 0},  /* detached number under a V1 name */
		{"18446744073709551615.manifest", 0, 0}, /* version 0 */
		{"00000000000000000001.manifest", 0, 0}, /* detached */
		{"18446744073709551616.manifest", 0, 0}, /* beyond 64 bits */
		{"018446744073709551614.manifest", 0, 0},
		{"01.manifest", 0, 0},
		{"0.manifest", 0, 0},
		{".manifest", 0, 0},
		{"1.manifest-abc", 0, 0},
		{"d1.manifest", 0, 0},
		{"1", 0, 0},
		{"", 0, 0},
		{"-1.manifest", 0, 0},
		{"latest_version_hint.json", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		uint64_t version = 0;
		LncNaming naming = 0;
		bool found = lnc_versions_parse_name(cases[i].name, &version, &naming);
		char *key;

		if (found != (cases[i].version != 0))
			fail_msg("%s", cases[i].name);
		if (!found)
			continue;
		assert_int_equal(version, cases[i].version);
		assert_int_equal(naming, cases[i].naming);
		OK(lnc_versions_key(&ctx, arena, "_versions", version, naming, &key));
		assert_string_equal(key + strlen("_versions/"), cases[i].name);
	}
}

static void
folders_of_branches(void **state)
{
	static const char *const bad[] = {"..", "a/../b", "/a", "a/", "a//b", "."};
	char *folder;

	(void)state;
	OK(lnc_versions_folder(&ctx, arena, NULL, &folder));
	assert_string_equal(folder, "_versions");
	OK(lnc_versions_folder(&ctx, arena, "main", &folder));
	assert_string_equal(folder, "_versions");
	OK(lnc_versions_folder(&ctx, arena, "feature/x", &folder));
	assert_string_equal(folder, "tree/feature/x/_versions");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(lnc_versions_folder(&ctx, arena, bad[i], &folder), LNC_INVALID);
}

static void
check_history(LncStore *store, LncNaming naming, uint64_t newest)
{
	LncVersionFile *files;
	LncVersionFile file;
	size_t count;

	OK(lnc_versions_list(&ctx, arena, store, "_versions", 0, &count, &files));
	assert_int_equal(count, newest);
	for (size_t i = 0; i < count; i++)
	{
		assert_int_equal(files[i].version, i + 1);
		assert_int_equal(files[i].naming, naming);
		assert_int_equal(files[i].size, 1);
	}
	OK(lnc_versions_list(&ctx, arena, store, "_versions", newest - 3, &count, &files));
	assert_int_equal(count, 3);
	assert_int_equal(files[0].version, newest - 2);
	assert_int_equal(files[2].version, newest);
	OK(lnc_versions_list(&ctx, arena, store, "_versions", newest, &count, &files));
	assert_int_equal(count, 0);
	OK(lnc_versions_latest(&ctx, arena, store, "_versions", &file));
	assert_int_equal(file.version, newest);
	assert_int_equal(file.naming, naming);
	OK(lnc_versions_find(&ctx, arena, store, "_versions", newest / 2, &file));
	assert_int_equal(file.version, newest / 2);
	assert_int_equal(file.size, 1);
	assert_int_equal(lnc_versions_find(&ctx, arena, store, "_versions", newest + 1, &file), LNC_NOT_FOUND);
	assert_non_null(strstr(ctx.error.message, "does not exist"));
}

static void
histories_of_both_namings(void **state)
{
	static const LncNaming namings[] = {LNC_NAMING_V1, LNC_NAMING_V2};

	(void)state;
	for (int i = 0; i < 2; i++)
	{
		LncStore *store = memory_store();

		for (uint64_t version = 12; version >= 1; version--)
			put_version(store, version, namings[i]);
		put_noise(store);
		check_history(store, namings[i], 12);
	}
}

static void
gaps_are_normal(void **state)
{
	LncStore *store = memory_store();
	LncVersionFile *files;
	LncVersionFile file;
	size_t count;

	(void)state;
	put_version(store, 5, LNC_NAMING_V2);
	put_version(store, 9, LNC_NAMING_V2);
	OK(lnc_versions_list(&ctx, arena, store, "_versions", 0, &count, &files));
	assert_int_equal(count, 2);
	assert_int_equal(files[1].version, 9);
	OK(lnc_versions_latest(&ctx, arena, store, "_versions", &file));
	assert_int_equal(file.version, 9);
	assert_int_equal(lnc_versions_find(&ctx, arena, store, "_versions", 7, &file), LNC_NOT_FOUND);
}

static void
no_history(void **state)
{
	LncStore *store = memory_store();
	LncVersionFile *files;
	LncVersionFile file;
	size_t count = 7;

	(void)state;
	OK(lnc_versions_list(&ctx, arena, store, "_versions", 0, &count, &files));
	assert_int_equal(count, 0);
	assert_int_equal(lnc_versions_latest(&ctx, arena, store, "_versions", &file), LNC_NOT_FOUND);
	put_noise(store);
	assert_int_equal(lnc_versions_latest(&ctx, arena, store, "_versions", &file), LNC_NOT_FOUND);
}

static void
mixed_namings_are_refused(void **state)
{
	LncStore *store = memory_store();
	LncVersionFile *files;
	size_t count;

	(void)state;
	put_version(store, 1, LNC_NAMING_V1);
	put_version(store, 2, LNC_NAMING_V2);
	assert_int_equal(lnc_versions_list(&ctx, arena, store, "_versions", 0, &count, &files), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "mixes"));
}

static void
put_intent(LncStore *store, uint64_t version, LncNaming naming, uint64_t tag)
{
	char *key;

	OK(lnc_versions_intent_key(&ctx, arena, "_versions", version, naming, tag, &key));
	put(store, key);
}

/* Versions 1 to 12; intents for 7 (two of them), 12, and 13, which has no manifest. */
static void
check_intents(LncStore *store, LncNaming naming)
{
	LncVersionList list;
	LncVersionFile file;
	bool intended;

	for (uint64_t version = 1; version <= 12; version++)
		put_version(store, version, naming);
	put_intent(store, 13, naming, 1);
	put_intent(store, 12, naming, UINT64_MAX);
	put_intent(store, 7, naming, 0);
	put_intent(store, 7, naming, UINT64_C(0xabcdef));
	put_noise(store);
	OK(lnc_versions_list_all(&ctx, arena, store, "_versions", 0, &list));
	assert_int_equal(list.nfiles, 12);
	for (uint64_t version = 1; version <= 12; version++)
	{
		assert_int_equal(list.files[version - 1].intended, version == 7 || version == 12);
		OK(lnc_versions_intended(&ctx, arena, store, "_versions", version, naming, &intended));
		assert_int_equal(intended, version == 7 || version == 12);
	}
	assert_int_equal(list.nintents, 4);
	assert_int_equal(list.intents[0].version, 7);
	assert_int_equal(list.intents[1].version, 7);
	assert_int_equal(list.intents[2].version, 12);
	assert_int_equal(list.intents[3].version, 13);
	OK(lnc_versions_latest(&ctx, arena, store, "_versions", &file));
	assert_int_equal(file.version, 12);
	assert_true(file.intended);
	OK(lnc_versions_list_all(&ctx, arena, store, "_versions", 10, &list));
	assert_int_equal(list.nfiles, 2);
	assert_int_equal(list.nintents, 2);
	OK(lnc_versions_list_all(&ctx, arena, store, "_versions", 12, &list));
	assert_int_equal(list.nfiles, 0);
	assert_int_equal(list.nintents, 1);
}

static void
intents_are_told(void **state)
{
	(void)state;
	check_intents(memory_store(), LNC_NAMING_V2);
	check_intents(memory_store(), LNC_NAMING_V1);
}

static void
long_histories_need_few_requests(void **state)
{
	char folder[] = "/tmp/versions_test.XXXXXX";
	static const LncStoreConfig config;
	LncStore *stores[2];

	(void)state;
	stores[0] = memory_store();
	assert_non_null(mkdtemp(folder));
	OK(lnc_store_open(&ctx, arena, folder, &config, &stores[1]));
	for (int i = 0; i < 2; i++)
	{
		LncStoreStats before;
		LncStoreStats after;
		LncVersionFile file;
		uint64_t removed;

		for (uint64_t version = 1; version <= 2500; version++)
			put_version(stores[i], version, LNC_NAMING_V2);
		put_noise(stores[i]);
		lnc_store_stats(stores[i], &before);
		OK(lnc_versions_latest(&ctx, arena, stores[i], "_versions", &file));
		assert_int_equal(file.version, 2500);
		lnc_store_stats(stores[i], &after);
		assert_in_range(after.requests - before.requests, 0, 2);
		OK(lnc_versions_find(&ctx, arena, stores[i], "_versions", 1250, &file));
		assert_true(file.modified_ms > 0);
		check_history(stores[i], LNC_NAMING_V2, 2500);
		OK(lnc_store_delete_prefix(&ctx, stores[i], "", &removed));
	}
	rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_are_told_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(folders_of_branches, setup, teardown),
		cmocka_unit_test_setup_teardown(histories_of_both_namings, setup, teardown),
		cmocka_unit_test_setup_teardown(gaps_are_normal, setup, teardown),
		cmocka_unit_test_setup_teardown(no_history, setup, teardown),
		cmocka_unit_test_setup_teardown(mixed_namings_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(intents_are_told, setup, teardown),
		cmocka_unit_test_setup_teardown(long_histories_need_few_requests, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
