/*
 * storage_contract.c
 *	  What every kind of store must do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "storage_contract.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"

#define MAX_LISTED 64

static LncSlice
slice(const char *text)
{
	return (LncSlice){.data = (const uint8_t *)text, .size = strlen(text)};
}

LncCode
lnc_count_objects(LncContext *ctx, void *arg, const LncObject *object, bool *stop)
{
	(void)ctx;
	(void)object;
	(void)stop;
	++*(int *)arg;
	return LNC_OK;
}

/* Listed keys, comma-separated in byte order. */
typedef struct Listed
{
	int count;
	int stop_after;
	char keys[MAX_LISTED][128];
	uint64_t sizes[MAX_LISTED];
	int64_t modified_ms[MAX_LISTED];
} Listed;

static LncCode
collect(LncContext *ctx, void *arg, const LncObject *object, bool *stop)
{
	Listed *listed = arg;
	int at = listed->count++;

	(void)ctx;
	assert_true(at < MAX_LISTED);
	while (at > 0 && strcmp(listed->keys[at - 1], object->key) > 0)
	{
		memcpy(listed->keys[at], listed->keys[at - 1], sizeof(listed->keys[0]));
		listed->sizes[at] = listed->sizes[at - 1];
		at--;
	}
	snprintf(listed->keys[at], sizeof(listed->keys[at]), "%s", object->key);
	listed->sizes[at] = object->size;
	listed->modified_ms[at] = object->modified_ms;
	if (listed->count == listed->stop_after)
		*stop = true;
	return LNC_OK;
}

static LncCode
refuse(LncContext *ctx, void *arg, const LncObject *object, bool *stop)
{
	(void)arg;
	(void)object;
	(void)stop;
	return lnc_fail(ctx, LNC_RANGE, "enough");
}

static void
expect_listing(LncContext *ctx, LncStore *store, const char *folder, bool recursive, const char *start_after,
			   const char *expected)
{
	Listed listed = {0};
	char text[1024] = "";

	assert_int_equal(lnc_store_list(ctx, store, folder, recursive, start_after, collect, &listed), LNC_OK);
	for (int i = 0; i < listed.count; i++)
	{
		strcat(text, i > 0 ? "," : "");
		strcat(text, listed.keys[i]);
	}
	assert_string_equal(text, expected);
}

static LncCode
collect_folder(LncContext *ctx, void *arg, const char *folder, bool *stop)
{
	LncObject object = {.key = folder};

	return collect(ctx, arg, &object, stop);
}

static void
expect_folders(LncContext *ctx, LncStore *store, const char *folder, const char *expected)
{
	Listed listed = {0};
	char text[1024] = "";

	assert_int_equal(lnc_store_list_folders(ctx, store, folder, collect_folder, &listed), LNC_OK);
	for (int i = 0; i < listed.count; i++)
	{
		strcat(text, i > 0 ? "," : "");
		strcat(text, listed.keys[i]);
	}
	assert_string_equal(text, expected);
}

static void
check_folders(LncContext *ctx, LncStore *store)
{
	static const char *const keys[] = {"f/a/1",      "f/a/sub/2", "f/a.x",          "f/a b/1",
									   "f/ab/c/d/4", "f/a0",      "f/\xC3\xA9%25/z"};
	static const char *const asked[] = {"f/a/1", "f/a", "f/a0", "f/none", "f/a0/x"};
	static const char *const bad[] = {"f/a/1", "f/../a"};
	bool present[5] = {false};
	Listed first = {.stop_after = 1};
	uint64_t removed;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_int_equal(lnc_store_put(ctx, store, keys[i], slice("x")), LNC_OK);
	expect_folders(ctx, store, "f", "f/a,f/a b,f/ab,f/\xC3\xA9%25");
	expect_folders(ctx, store, "f/a", "f/a/sub");
	expect_folders(ctx, store, "f/ab", "f/ab/c");
	expect_folders(ctx, store, "f/a/sub", "");
	expect_folders(ctx, store, "f/a0", "");
	expect_folders(ctx, store, "f/none", "");
	assert_int_equal(lnc_store_list_folders(ctx, store, "f", collect_folder, &first), LNC_OK);
	assert_int_equal(first.count, 1);
	assert_int_equal(lnc_store_list_folders(ctx, store, "f//a", collect_folder, &first), LNC_INVALID);

	assert_int_equal(lnc_store_present(ctx, store, 5, asked, present), LNC_OK);
	assert_true(present[0] && !present[1] && present[2] && !present[3] && !present[4]);
	assert_int_equal(lnc_store_present(ctx, store, 0, asked, present), LNC_OK);
	assert_int_equal(lnc_store_present(ctx, store, 2, bad, present), LNC_INVALID);
	assert_int_equal(lnc_store_delete_prefix(ctx, store, "f", &removed), LNC_OK);
	assert_int_equal(removed, 7);
}

static void
check_reads(LncContext *ctx, LncArena *arena, LncStore *store)
{
	static uint8_t big[300000];
	const LncRange ranges[] = {{299990, 10}, {0, 3}, {150000, 0}, {5, 2}, {200000, 4}, {0, 300000}, {300000, 0}};
	const LncRange beyond[] = {{0, 3}, {299999, 2}};
	const LncRange far[] = {{900000, 2}};
	const LncRange absurd[] = {{UINT64_MAX - 1, 10}};
	const LncRange huge[] = {{0, UINT64_C(1) << 50}};
	const uint8_t *outs[7];
	LncOpenObject *object;
	LncSlice bytes;
	uint64_t size;
	LncStoreStats stats;

	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (uint8_t)(i * 7 + i / 251);
	assert_int_equal(lnc_store_put(ctx, store, "data/big", (LncSlice){.data = big, .size = sizeof(big)}), LNC_OK);
	assert_int_equal(lnc_store_size(ctx, store, "data/big", &size), LNC_OK);
	assert_int_equal(size, sizeof(big));
	assert_int_equal(lnc_store_read_ranges(ctx, store, arena, "data/big", 7, ranges, outs), LNC_OK);
	for (int i = 0; i < 7; i++)
	{
		assert_non_null(outs[i]);
		assert_memory_equal(outs[i], big + ranges[i].offset, ranges[i].length);
	}
	assert_int_equal(lnc_object_open(ctx, arena, store, "data/big", &object), LNC_OK);
	for (int round = 0; round < 2; round++)
	{
		memset(outs, 0, sizeof(outs));
		assert_int_equal(lnc_object_read_ranges(ctx, object, arena, 7, ranges, outs), LNC_OK);
		for (int i = 0; i < 7; i++)
			assert_memory_equal(outs[i], big + ranges[i].offset, ranges[i].length);
		assert_int_equal(lnc_object_read_ranges(ctx, object, arena, 2, beyond, outs), LNC_CORRUPT);
		assert_non_null(strstr(ctx->error.message, "data/big"));
		assert_int_equal(lnc_object_read_ranges(ctx, object, arena, 1, absurd, outs), LNC_CORRUPT);
	}
	assert_int_equal(lnc_object_open(ctx, arena, store, "data/none", &object), LNC_OK);
	assert_int_equal(lnc_object_read_ranges(ctx, object, arena, 1, ranges, outs), LNC_NOT_FOUND);
	assert_int_equal(lnc_object_read_ranges(ctx, object, arena, 1, ranges, outs), LNC_NOT_FOUND);
	assert_int_equal(lnc_object_open(ctx, arena, store, "data/../big", &object), LNC_INVALID);
	assert_int_equal(lnc_store_read_ranges(ctx, store, arena, "data/big", 2, beyond, outs), LNC_CORRUPT);
	assert_non_null(strstr(ctx->error.message, "data/big"));
	assert_int_equal(lnc_store_read_ranges(ctx, store, arena, "data/big", 1, far, outs), LNC_CORRUPT);
	assert_int_equal(lnc_store_read_ranges(ctx, store, arena, "data/big", 1, absurd, outs), LNC_CORRUPT);
	assert_int_equal(lnc_store_read_ranges(ctx, store, arena, "data/big", 1, huge, outs), LNC_CORRUPT);
	assert_int_equal(lnc_store_read_ranges(ctx, store, arena, "data/big", 0, NULL, NULL), LNC_OK);
	assert_int_equal(lnc_store_read_ranges(ctx, store, arena, "data/none", 1, ranges, outs), LNC_NOT_FOUND);

	assert_int_equal(lnc_store_read_tail(ctx, store, arena, "data/big", 1000, &bytes, &size), LNC_OK);
	assert_int_equal(size, sizeof(big));
	assert_int_equal(bytes.size, 1000);
	assert_memory_equal(bytes.data, big + sizeof(big) - 1000, 1000);
	assert_int_equal(lnc_store_read_tail(ctx, store, arena, "data/big", 1 << 20, &bytes, &size), LNC_OK);
	assert_int_equal(bytes.size, sizeof(big));
	assert_memory_equal(bytes.data, big, sizeof(big));
	assert_int_equal(lnc_store_read_tail(ctx, store, arena, "data/big", 0, &bytes, &size), LNC_OK);
	assert_int_equal(bytes.size, 0);
	assert_int_equal(size, sizeof(big));
	assert_int_equal(lnc_store_read_tail(ctx, store, arena, "none", 10, &bytes, &size), LNC_NOT_FOUND);

	assert_int_equal(lnc_store_read_all(ctx, store, arena, "data/big", sizeof(big), &bytes), LNC_OK);
	assert_int_equal(bytes.size, sizeof(big));
	assert_memory_equal(bytes.data, big, sizeof(big));
	assert_int_equal(lnc_store_read_all(ctx, store, arena, "data/big", sizeof(big) - 1, &bytes), LNC_LIMIT);
	assert_int_equal(lnc_store_read_all(ctx, store, arena, "none", 10, &bytes), LNC_NOT_FOUND);
	assert_non_null(strstr(ctx->error.message, lnc_store_uri(store)));
	assert_int_equal(lnc_store_size(ctx, store, "none", &size), LNC_NOT_FOUND);

	assert_int_equal(lnc_store_put(ctx, store, "empty", slice("")), LNC_OK);
	assert_int_equal(lnc_store_size(ctx, store, "empty", &size), LNC_OK);
	assert_int_equal(size, 0);
	assert_int_equal(lnc_store_read_all(ctx, store, arena, "empty", 0, &bytes), LNC_OK);
	assert_int_equal(bytes.size, 0);
	assert_int_equal(lnc_store_read_tail(ctx, store, arena, "empty", 10, &bytes, &size), LNC_OK);
	assert_int_equal(bytes.size, 0);
	assert_int_equal(size, 0);
	assert_int_equal(lnc_store_delete(ctx, store, "empty"), LNC_OK);

	lnc_store_stats(store, &stats);
	assert_true(stats.requests > 5);
	assert_true(stats.bytes_read >= 900000);
}

static void
check_writes(LncContext *ctx, LncArena *arena, LncStore *store)
{
	LncSlice bytes;

	assert_int_equal(lnc_store_put(ctx, store, "w/one", slice("first")), LNC_OK);
	assert_int_equal(lnc_store_put(ctx, store, "w/one", slice("second")), LNC_OK);
	assert_int_equal(lnc_store_read_all(ctx, store, arena, "w/one", 100, &bytes), LNC_OK);
	assert_int_equal(bytes.size, 6);
	assert_memory_equal(bytes.data, "second", 6);
	assert_int_equal(lnc_store_put_if_absent(ctx, store, "w/one", slice("third")), LNC_EXISTS);
	assert_non_null(strstr(ctx->error.message, "w/one"));
	assert_int_equal(lnc_store_put_if_absent(ctx, store, "w/two", slice("2")), LNC_OK);
	assert_int_equal(lnc_store_put_if_absent(ctx, store, "w/two", slice("2")), LNC_EXISTS);
	assert_int_equal(lnc_store_read_all(ctx, store, arena, "w/one", 100, &bytes), LNC_OK);
	assert_int_equal(bytes.size, 6);
	assert_int_equal(lnc_store_delete(ctx, store, "w/one"), LNC_OK);
	assert_int_equal(lnc_store_delete(ctx, store, "w/one"), LNC_OK);
	assert_int_equal(lnc_store_delete(ctx, store, "w/not/there"), LNC_OK);
	assert_int_equal(lnc_store_read_all(ctx, store, arena, "w/one", 100, &bytes), LNC_NOT_FOUND);
	assert_int_equal(lnc_store_put_if_absent(ctx, store, "w/one", slice("fourth")), LNC_OK);
}

static void
check_keys(LncContext *ctx, LncArena *arena, LncStore *store)
{
	static const char *const bad[] = {"", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "../x"};
	static const char *const odd[] = {
		"a b", "é+%25",   "$x=1&y",    "q?x#y", "c:\\d|e", "~t*!'()", "ü/%2e%2E/\"<>&amp;",
		"...", ".hidden", "@:,;[]{}^`"};
	LncSlice bytes;
	uint64_t n;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
	{
		assert_int_equal(lnc_store_size(ctx, store, bad[i], &n), LNC_INVALID);
		assert_int_equal(lnc_store_put(ctx, store, bad[i], slice("x")), LNC_INVALID);
		assert_int_equal(lnc_store_delete(ctx, store, bad[i]), LNC_INVALID);
		if (bad[i][0] != '\0')
			assert_int_equal(lnc_store_delete_prefix(ctx, store, bad[i], &n), LNC_INVALID);
	}
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
	{
		Listed listed = {0};
		char key[128];

		snprintf(key, sizeof(key), "odd/%s", odd[i]);
		if (lnc_store_put(ctx, store, key, slice(odd[i])) != LNC_OK)
			fail_msg("%s: %s %s", key, ctx->error.message, ctx->error.detail);
		assert_int_equal(lnc_store_read_all(ctx, store, arena, key, 100, &bytes), LNC_OK);
		assert_memory_equal(bytes.data, odd[i], strlen(odd[i]));
		assert_int_equal(lnc_store_put_if_absent(ctx, store, key, slice("no")), LNC_EXISTS);
		assert_int_equal(lnc_store_list(ctx, store, "odd", true, NULL, collect, &listed), LNC_OK);
		assert_int_equal(listed.count, 1);
		assert_string_equal(listed.keys[0], key);
		assert_int_equal(listed.sizes[0], strlen(odd[i]));
		assert_int_equal(lnc_store_delete_prefix(ctx, store, "odd", &n), LNC_OK);
		assert_int_equal(n, 1);
	}
}

static void
check_listing(LncContext *ctx, LncStore *store)
{
	static const char *const keys[] = {"l/a/1", "l/a/2", "l/a/sub/3", "l/a.x", "l/ab/4", "l/b", "l/\xC3\xA9"};
	Listed listed = {.stop_after = 2};
	uint64_t removed;
	int64_t now_ms = (int64_t)time(NULL) * 1000;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_int_equal(lnc_store_put(ctx, store, keys[i], slice("x")), LNC_OK);
	expect_listing(ctx, store, "l", true, NULL, "l/a.x,l/a/1,l/a/2,l/a/sub/3,l/ab/4,l/b,l/\xC3\xA9");
	expect_listing(ctx, store, "l", false, NULL, "l/a.x,l/b,l/\xC3\xA9");
	expect_listing(ctx, store, "l/a", true, NULL, "l/a/1,l/a/2,l/a/sub/3");
	expect_listing(ctx, store, "l/a", false, NULL, "l/a/1,l/a/2");
	expect_listing(ctx, store, "l", true, "l/a/2", "l/a/sub/3,l/ab/4,l/b,l/\xC3\xA9");
	expect_listing(ctx, store, "l/a", false, "l/a/1", "l/a/2");
	expect_listing(ctx, store, "l/none", true, NULL, "");
	expect_listing(ctx, store, "l/b", true, NULL, "");
	assert_int_equal(lnc_store_list(ctx, store, "l", true, NULL, collect, &listed), LNC_OK);
	assert_int_equal(listed.count, 2);
	assert_true(listed.modified_ms[0] > now_ms - 600000 && listed.modified_ms[0] < now_ms + 600000);
	assert_int_equal(lnc_store_list(ctx, store, "l", true, NULL, refuse, NULL), LNC_RANGE);
	assert_string_equal(ctx->error.message, "enough");

	assert_int_equal(lnc_store_delete_prefix(ctx, store, "l/a", &removed), LNC_OK);
	assert_int_equal(removed, 3);
	expect_listing(ctx, store, "l", true, NULL, "l/a.x,l/ab/4,l/b,l/\xC3\xA9");
	assert_int_equal(lnc_store_delete_prefix(ctx, store, "l/a", &removed), LNC_OK);
	assert_int_equal(removed, 0);
	assert_int_equal(lnc_store_delete_prefix(ctx, store, "l/b", &removed), LNC_OK);
	assert_int_equal(removed, 0);
}

static bool
always_interrupted(void *state)
{
	(void)state;
	return true;
}

static LncCode
count_names(LncContext *ctx, void *arg, const LncObject *object, bool *stop)
{
	(void)ctx;
	(void)stop;
	assert_non_null(strstr(object->key, "m/"));
	++*(int *)arg;
	return LNC_OK;
}

/* Looking for some objects by name, lists of names, and removal of many. */
static void
check_many(LncContext *ctx, LncStore *store)
{
	static const char *const keys[] = {"m/a", "m/a.x", "m/b/c", "m/b/d", "top"};
	static const char *const asked[] = {"m/a",    "m/none", "m/b",   "m/b/d", "m/a.x",
										"none/k", "top",    "m/a/k", "m/b/c"};
	static const char *const bad[] = {"m/a", "m//a"};
	LncListing listing = {.folder = "m", .names_only = true, .expected = 1};
	LncObject found[9];
	int count = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_int_equal(lnc_store_put(ctx, store, keys[i], slice("12345")), LNC_OK);
	assert_int_equal(lnc_store_find(ctx, store, 9, asked, found), LNC_OK);
	for (size_t i = 0; i < 9; i++)
	{
		bool there = i != 1 && i != 2 && i != 5 && i != 7;

		assert_int_equal(found[i].key != NULL, there);
		if (!there)
			continue;
		assert_string_equal(found[i].key, asked[i]);
		assert_int_equal(found[i].size, 5);
		assert_true(found[i].modified_ms > 0);
	}
	assert_int_equal(lnc_store_find(ctx, store, 2, bad, found), LNC_INVALID);
	assert_int_equal(lnc_store_list_as(ctx, store, &listing, count_names, &count), LNC_OK);
	assert_int_equal(count, 2);
	listing.recursive = true;
	assert_int_equal(lnc_store_list_as(ctx, store, &listing, count_names, &count), LNC_OK);
	assert_int_equal(count, 2 + 4);
	assert_int_equal(lnc_store_delete_many(ctx, store, 2, bad), LNC_INVALID);
	expect_listing(ctx, store, "m", true, NULL, "m/a,m/a.x,m/b/c,m/b/d");
	assert_int_equal(lnc_store_delete_many(ctx, store, 6, asked), LNC_OK);
	expect_listing(ctx, store, "m", true, NULL, "m/b/c");
	assert_int_equal(lnc_store_delete_many(ctx, store, 0, NULL), LNC_OK);
	assert_int_equal(lnc_store_delete_many(ctx, store, 3, asked + 6), LNC_OK);
	expect_listing(ctx, store, "m", true, NULL, "");
	assert_int_equal(lnc_store_put(ctx, store, "m/gone", slice("1")), LNC_OK);
	assert_int_equal(lnc_store_discard(ctx, store, "m/../gone"), LNC_INVALID);
	assert_int_equal(lnc_store_discard(ctx, store, "m/gone"), LNC_OK);
	assert_int_equal(lnc_store_discard(ctx, store, "m/gone"), LNC_OK);
	expect_listing(ctx, store, "m", true, NULL, "");
}

/* What tells that a folder changed. */
static void
check_stamps(LncContext *ctx, LncStore *store)
{
	LncFolderStamp first;
	LncFolderStamp second;
	bool settled;

	assert_int_equal(lnc_store_put(ctx, store, "s/a", slice("x")), LNC_OK);
	assert_int_equal(lnc_store_folder_stamp(ctx, store, "s//", 0, &first, &settled), LNC_INVALID);
	if (!lnc_store_near(store))
		assert_int_equal(lnc_store_folder_stamp(ctx, store, "s", 0, &first, &settled), LNC_UNSUPPORTED);
	else
	{
		assert_int_equal(lnc_store_folder_stamp(ctx, store, "none", 0, &first, &settled), LNC_NOT_FOUND);
		assert_int_equal(lnc_store_folder_stamp(ctx, store, "s", INT32_MAX, &first, &settled), LNC_OK);
		assert_false(settled);
		assert_int_equal(lnc_store_folder_stamp(ctx, store, "s", -INT32_MAX, &second, &settled), LNC_OK);
		assert_true(settled);
		assert_memory_equal(&first, &second, sizeof(first));
		usleep(50000);
		assert_int_equal(lnc_store_delete(ctx, store, "s/a"), LNC_OK);
		assert_int_equal(lnc_store_folder_stamp(ctx, store, "s", 0, &second, &settled), LNC_OK);
		assert_int_equal(first.number, second.number);
		assert_memory_not_equal(&first, &second, sizeof(first));
	}
	assert_int_equal(lnc_store_delete(ctx, store, "s/a"), LNC_OK);
}

static void
check_interrupts(LncContext *ctx, LncArena *arena, LncStore *store)
{
	LncEnv env = *lnc_env_default();
	LncContext stopped;
	LncSlice bytes;
	uint64_t n;

	(void)ctx;
	env.interrupted = always_interrupted;
	lnc_context_init(&stopped, &env);
	assert_int_equal(lnc_store_read_all(&stopped, store, arena, "w/two", 10, &bytes), LNC_CANCELLED);
	assert_int_equal(lnc_store_put(&stopped, store, "w/x", slice("x")), LNC_CANCELLED);
	assert_int_equal(lnc_store_delete_prefix(&stopped, store, "w", &n), LNC_CANCELLED);
	assert_int_equal(lnc_store_list(&stopped, store, "w", true, NULL, collect, NULL), LNC_CANCELLED);
	assert_int_equal(lnc_store_list_folders(&stopped, store, "", collect_folder, NULL), LNC_CANCELLED);
}

void
lnc_check_store_contract(LncContext *ctx, LncArena *arena, LncStore *store)
{
	uint64_t removed;
	int count = 0;

	expect_listing(ctx, store, "", true, NULL, "");
	check_reads(ctx, arena, store);
	check_writes(ctx, arena, store);
	check_keys(ctx, arena, store);
	check_listing(ctx, store);
	check_folders(ctx, store);
	check_many(ctx, store);
	check_stamps(ctx, store);
	check_interrupts(ctx, arena, store);
	assert_int_equal(lnc_store_list(ctx, store, "", true, NULL, lnc_count_objects, &count), LNC_OK);
	assert_int_equal(count, 7);
	assert_int_equal(lnc_store_delete_prefix(ctx, store, "", &removed), LNC_OK);
	assert_int_equal(removed, 7);
	assert_int_equal(lnc_store_delete_prefix(ctx, store, "", &removed), LNC_OK);
	assert_int_equal(removed, 0);
	expect_listing(ctx, store, "", true, NULL, "");
}
