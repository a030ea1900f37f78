/*
 * s3_live_test.c
 *	  The S3 store against a real server (s3_server.h). Skipped where none is named; LANCE_TEST_S3_OPEN=1 says that it
 *	  does not check signatures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/env.h"
#include "s3_server.h"
#include "storage/storage.h"
#include "storage_contract.h"

#define BUCKET "lance-storage-test"

static LncContext ctx;
static LncArena *arena;
static LncStoreConfig config;
static bool has_server;

/* Skip the test when no server is named; else open an arena and make the bucket. */
static int
setup(void **state)
{
	(void)state;
	has_server = s3_server_config(&config);
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	return arena == NULL;
}

static int
teardown(void **state)
{
	(void)state;
	lnc_arena_destroy(arena);
	return 0;
}

static void
need_server(void)
{
	if (!has_server)
		skip();
}

static LncStore *
open_store(const char *path)
{
	LncStore *store;
	char uri[256];

	s3_server_make_bucket(&ctx, arena, &config, BUCKET);
	snprintf(uri, sizeof(uri), "s3://" BUCKET "/%s-%d", path, (int)getpid());
	assert_int_equal(lnc_store_open(&ctx, arena, uri, &config, &store), LNC_OK);
	return store;
}

static void
server_keeps_the_contract(void **state)
{
	(void)state;
	need_server();
	lnc_check_store_contract(&ctx, arena, open_store("plain"));
	lnc_check_store_contract(&ctx, arena, open_store("dir with space/\xC3\xA9+%25/$x=1&y"));
}

static void
wrong_secrets_are_denied(void **state)
{
	LncStore *store;
	LncSlice bytes;
	uint64_t size;

	(void)state;
	need_server();
	if (getenv("LANCE_TEST_S3_OPEN") != NULL)
		skip();
	open_store("x");
	config.secret_access_key = "not-the-secret";
	assert_int_equal(lnc_store_open(&ctx, arena, "s3://" BUCKET "/x", &config, &store), LNC_OK);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 10, &bytes), LNC_DENIED);
	assert_non_null(strstr(ctx.error.message, "403 SignatureDoesNotMatch"));
	assert_int_equal(lnc_store_size(&ctx, store, "k", &size), LNC_DENIED);
	assert_null(strstr(ctx.error.detail, "not-the-secret"));
}

static void
unknown_keys_are_denied(void **state)
{
	LncStore *store;
	LncSlice bytes;

	(void)state;
	need_server();
	if (getenv("LANCE_TEST_S3_OPEN") != NULL)
		skip();
	open_store("x");
	config.access_key_id = "nobody";
	assert_int_equal(lnc_store_open(&ctx, arena, "s3://" BUCKET "/x", &config, &store), LNC_OK);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 10, &bytes), LNC_DENIED);
}

static void
missing_buckets_are_not_found(void **state)
{
	LncStore *store;
	LncSlice bytes;
	int count = 0;

	(void)state;
	need_server();
	assert_int_equal(lnc_store_open(&ctx, arena, "s3://lance-no-such-bucket/x", &config, &store), LNC_OK);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "k", 10, &bytes), LNC_NO_STORE);
	assert_non_null(strstr(ctx.error.message, "s3://lance-no-such-bucket/x/k"));
	assert_non_null(strstr(ctx.error.message, "NoSuchBucket"));
	assert_int_equal(lnc_store_list(&ctx, store, "", true, NULL, lnc_count_objects, &count), LNC_NO_STORE);
	assert_int_equal(lnc_store_put(&ctx, store, "k", (LncSlice){(const uint8_t *)"x", 1}), LNC_NO_STORE);
}

static void
presigned_urls_open_objects(void **state)
{
	LncStore *store;
	LncSlice answer;
	uint64_t removed;
	char path[256];

	(void)state;
	need_server();
	store = open_store("pre signed+");
	assert_int_equal(lnc_store_put(&ctx, store, "a b", (LncSlice){(const uint8_t *)"hello", 5}), LNC_OK);
	snprintf(path, sizeof(path), "/" BUCKET "/pre%%20signed%%2B-%d/a%%20b", (int)getpid());
	assert_int_equal(s3_server_request(&ctx, arena, &config, "GET", path, (LncSlice){0}, &answer), 200);
	assert_int_equal(answer.size, 5);
	assert_memory_equal(answer.data, "hello", 5);
	assert_int_equal(lnc_store_delete_prefix(&ctx, store, "", &removed), LNC_OK);
	assert_int_equal(removed, 1);
}

/* Long reads go in parts; every byte must land in its place. */
static void
long_ranges_are_read_in_parts(void **state)
{
	size_t size = (size_t)40 * 1024 * 1024 + 12345;
	uint32_t *words;
	const LncRange ranges[] = {{100, size - 200}, {size - 10, 10}, {0, 3}};
	const LncRange beyond[] = {{100, size}};
	const uint8_t *outs[3];
	LncStoreStats before;
	LncStoreStats after;
	LncStore *store;
	uint64_t removed;

	(void)state;
	need_server();
	words = malloc(size + 4);
	assert_non_null(words);
	store = open_store("long");
	for (size_t i = 0; i <= size / 4; i++)
		words[i] = (uint32_t)(i * 2654435761u);
	assert_int_equal(lnc_store_put(&ctx, store, "big", (LncSlice){(const uint8_t *)words, size}), LNC_OK);
	lnc_store_stats(store, &before);
	assert_int_equal(lnc_store_read_ranges(&ctx, store, arena, "big", 3, ranges, outs), LNC_OK);
	lnc_store_stats(store, &after);
	assert_int_equal(after.requests - before.requests, 7);
	for (int i = 0; i < 3; i++)
		assert_memory_equal(outs[i], (const uint8_t *)words + ranges[i].offset, ranges[i].length);
	assert_int_equal(lnc_store_read_ranges(&ctx, store, arena, "big", 1, beyond, outs), LNC_CORRUPT);
	assert_int_equal(lnc_store_delete_prefix(&ctx, store, "", &removed), LNC_OK);
	free(words);
}

static void
thousands_of_objects_are_listed_and_removed(void **state)
{
	LncStore *store;
	uint64_t removed;
	int count = 0;

	(void)state;
	need_server();
	store = open_store("many");
	for (int i = 0; i < 2500; i++)
	{
		char key[64];

		snprintf(key, sizeof(key), "_versions/%d.manifest", i);
		assert_int_equal(lnc_store_put(&ctx, store, key, (LncSlice){(const uint8_t *)key, 4}), LNC_OK);
	}
	assert_int_equal(lnc_store_list(&ctx, store, "_versions", false, NULL, lnc_count_objects, &count), LNC_OK);
	assert_int_equal(count, 2500);
	assert_int_equal(lnc_store_delete_prefix(&ctx, store, "", &removed), LNC_OK);
	assert_int_equal(removed, 2500);
}

/* Sixteen processes, each with its own connections, try to create each name; exactly one wins. */
static void
one_process_wins_each_name(void **state)
{
	LncStore *store;
	int pipes[2];
	int wins[10] = {0};
	uint8_t win[2];
	uint64_t removed;
	char uri[256];

	(void)state;
	need_server();
	store = open_store("race");
	snprintf(uri, sizeof(uri), "%s", lnc_store_uri(store));
	assert_int_equal(pipe(pipes), 0);
	for (int child = 0; child < 16; child++)
	{
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid != 0)
			continue;
		if (lnc_store_open(&ctx, arena, uri, &config, &store) != LNC_OK)
			_exit(1);
		for (int i = 0; i < 10; i++)
		{
			uint8_t report[2] = {(uint8_t)i, (uint8_t)child};
			char key[32];
			LncCode code;

			snprintf(key, sizeof(key), "%d.manifest", i);
			code = lnc_store_put_if_absent(&ctx, store, key, (LncSlice){report, 2});
			if (code == LNC_OK && write(pipes[1], report, 2) != 2)
				_exit(2);
			if (code != LNC_OK && code != LNC_EXISTS)
				_exit(3);
		}
		_exit(0);
	}
	for (int child = 0; child < 16; child++)
	{
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	close(pipes[1]);
	while (read(pipes[0], win, 2) == 2)
	{
		LncSlice bytes;
		char key[32];

		wins[win[0]]++;
		snprintf(key, sizeof(key), "%d.manifest", win[0]);
		assert_int_equal(lnc_store_read_all(&ctx, store, arena, key, 10, &bytes), LNC_OK);
		assert_int_equal(bytes.data[1], win[1]);
	}
	close(pipes[0]);
	for (int i = 0; i < 10; i++)
		assert_int_equal(wins[i], 1);
	assert_int_equal(lnc_store_delete_prefix(&ctx, store, "", &removed), LNC_OK);
	assert_int_equal(removed, 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(server_keeps_the_contract, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_secrets_are_denied, setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_keys_are_denied, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_buckets_are_not_found, setup, teardown),
		cmocka_unit_test_setup_teardown(presigned_urls_open_objects, setup, teardown),
		cmocka_unit_test_setup_teardown(long_ranges_are_read_in_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(thousands_of_objects_are_listed_and_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(one_process_wins_each_name, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
