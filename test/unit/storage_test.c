/*
 * storage_test.c
 *	  URIs, keys, merged ranges, and the contract of storage.h on local files and in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/env.h"
#include "storage/ranges.h"
#include "storage/storage.h"
#include "storage/uri.h"
#include "storage_contract.h"

static LncContext ctx;
static LncArena *arena;
static char folder[] = "/tmp/lance-storage-XXXXXX";

static int
setup(void **state)
{
	(void)state;
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	return arena == NULL || mkdtemp(folder) == NULL;
}

static int
teardown(void **state)
{
	LncStore *store;
	uint64_t removed;

	(void)state;
	assert_int_equal(lnc_store_open(&ctx, arena, folder, NULL, &store), LNC_OK);
	assert_int_equal(lnc_store_delete_prefix(&ctx, store, "", &removed), LNC_OK);
	assert_int_equal(access(folder, F_OK), -1);
	lnc_arena_destroy(arena);
	return 0;
}

static LncSlice
slice(const char *text)
{
	return (LncSlice){.data = (const uint8_t *)text, .size = strlen(text)};
}

/* Open a store at folder + rest. */
static LncStore *
open_at(const char *rest)
{
	LncStore *store = NULL;
	char uri[512];

	snprintf(uri, sizeof(uri), "%s%s", folder, rest);
	assert_int_equal(lnc_store_open(&ctx, arena, uri, NULL, &store), LNC_OK);
	return store;
}

typedef struct UriCase
{
	const char *text;
	const char *bucket;
	const char *path;
	const char *canonical;
} UriCase;

static void
uris_are_read_as_clients_read_them(void **state)
{
	static const UriCase cases[] = {
		{"/data/t.lance", "", "data/t.lance", "file:///data/t.lance"},
		{"/data//t.lance/", "", "data/t.lance", "file:///data/t.lance"},
		{"/a%20b c/é+%25/$x=1&y/t.lance", "", "a%20b c/é+%25/$x=1&y/t.lance",
		 "file:///a%2520b c/é+%2525/$x=1&y/t.lance"},
		{"/h#x?y/t", "", "h#x?y/t", "file:///h%23x%3Fy/t"},
		{"/b\\s/end ", "", "b\\s/end ", "file:///b%5Cs/end%20"},
		{"file:///a%20b/é+%25/$x=1&y/t.lance", "", "a b/é+%/$x=1&y/t.lance", "file:///a b/é+%25/$x=1&y/t.lance"},
		{"file:///t%zz%2fx%", "", "t%zz/x%", "file:///t%25zz/x%25"},
		{"FILE://localhost/x", "", "x", "file:///x"},
		{"file:///", "", "", "file:///"},
		{"/", "", "", "file:///"},
		{"s3://bucket/dir with space/é+%25/$x=1&y/t.lance", "bucket", "dir with space/é+%/$x=1&y/t.lance",
		 "s3://bucket/dir with space/é+%25/$x=1&y/t.lance"},
		{"s3://bucket/q%3Fx%23/", "bucket", "q?x#", "s3://bucket/q%3Fx%23"},
		{"S3://b.u-c_K3t", "b.u-c_K3t", "", "s3://b.u-c_K3t"},
		{"s3://bucket/", "bucket", "", "s3://bucket"},
		{"memory://m/a%20b", "m", "a%20b", "memory://m/a%2520b"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		LncUri uri;
		LncUri again;

		if (lnc_uri_parse(&ctx, arena, cases[i].text, &uri) != LNC_OK)
			fail_msg("%s: %s", cases[i].text, ctx.error.message);
		assert_string_equal(uri.bucket, cases[i].bucket);
		assert_string_equal(uri.path, cases[i].path);
		assert_string_equal(uri.canonical, cases[i].canonical);
		if (uri.scheme == LNC_SCHEME_MEMORY)
			continue;
		/* The canonical form names the same place, and is its own canonical form. */
		assert_int_equal(lnc_uri_parse(&ctx, arena, uri.canonical, &again), LNC_OK);
		assert_string_equal(again.path, uri.path);
		assert_string_equal(again.canonical, uri.canonical);
	}
}

static void
bad_uris_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"data/t",
		"http://x/y",
		"s3://",
		"s3:///x",
		"s3://bu cket/x",
		"s3://user:pw@host/x",
		"s3://b/../x",
		"s3://b/a//x",
		"s3://b//x",
		"s3://b/a/./x",
		"s3://b/a/%2e%2E/x",
		"s3://b/x?y",
		"s3://b/x#y",
		"s3://b/x%00y",
		"s3://b/x%0Ay",
		"s3://b/x ",
		"file://host/x",
		"file:x",
		"file:///a/../b",
		"file:///a\\b",
		"file:///x?y",
		"/a/../b",
		"/a/./b",
		"/a\nb",
		"memory://",
	};
	LncUri uri;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
	{
		if (lnc_uri_parse(&ctx, arena, texts[i], &uri) != LNC_INVALID)
			fail_msg("accepted: %s", texts[i]);
	}
}

static void
names_are_joined_and_encoded(void **state)
{
	const char *joined;
	char *encoded;

	(void)state;
	assert_int_equal(lnc_uri_join(&ctx, arena, "file:///data", "a%b/c?", &joined), LNC_OK);
	assert_string_equal(joined, "file:///data/a%25b/c%3F");
	assert_int_equal(lnc_uri_join(&ctx, arena, "file:///", "x", &joined), LNC_OK);
	assert_string_equal(joined, "file:///x");
	assert_int_equal(lnc_uri_join(&ctx, arena, "s3://b", "", &joined), LNC_OK);
	assert_string_equal(joined, "s3://b");
	assert_int_equal(lnc_uri_encode(&ctx, arena, "a b/é+%~-_.*", true, &encoded), LNC_OK);
	assert_string_equal(encoded, "a%20b/%C3%A9%2B%25~-_.%2A");
	assert_int_equal(lnc_uri_encode(&ctx, arena, "a/b", false, &encoded), LNC_OK);
	assert_string_equal(encoded, "a%2Fb");
}

static void
ranges_are_merged_over_small_gaps(void **state)
{
	static const LncRange ranges[] = {{1000, 10}, {0, 10}, {20, 5}, {5, 100}, {1010, 1}, {2000, 3}, {2000, 3}};
	const uint8_t *outs[7];
	LncSpans spans;

	(void)state;
	assert_int_equal(lnc_spans_plan(&ctx, arena, 7, ranges, 50, &spans), LNC_OK);
	assert_int_equal(spans.nspans, 3);
	assert_int_equal(spans.spans[0].offset, 0);
	assert_int_equal(spans.spans[0].length, 105);
	assert_int_equal(spans.spans[1].offset, 1000);
	assert_int_equal(spans.spans[1].length, 11);
	assert_int_equal(spans.spans[2].length, 3);
	assert_int_equal(spans.total, 119);
	assert_int_equal(spans.end, 2003);
	assert_int_equal(lnc_spans_allocate(&ctx, arena, &spans, 7, ranges, outs), LNC_OK);
	assert_ptr_equal(outs[0], spans.spans[1].data);
	assert_ptr_equal(outs[2], spans.spans[0].data + 20);
	assert_ptr_equal(outs[4], spans.spans[1].data + 10);
	assert_ptr_equal(outs[5], outs[6]);
	assert_int_equal(lnc_spans_plan(&ctx, arena, 7, ranges, 2000, &spans), LNC_OK);
	assert_int_equal(spans.nspans, 1);
	assert_int_equal(lnc_spans_plan(&ctx, arena, 1, ranges, 0, &spans), LNC_OK);
	assert_int_equal(spans.nspans, 1);
}

static void
local_store_keeps_the_contract(void **state)
{
	(void)state;
	lnc_check_store_contract(&ctx, arena, open_at("/ds"));
}

static void
memory_store_keeps_the_contract(void **state)
{
	LncStore *store;

	(void)state;
	assert_int_equal(lnc_store_open(&ctx, arena, "memory://contract/sub folder", NULL, &store), LNC_OK);
	assert_true(lnc_store_ordered(store));
	lnc_check_store_contract(&ctx, arena, store);
}

static void
memory_is_shared_by_name(void **state)
{
	LncStore *one;
	LncStore *two;
	LncStore *other;
	LncSlice bytes;

	(void)state;
	assert_int_equal(lnc_store_open(&ctx, arena, "memory://shared/x", NULL, &one), LNC_OK);
	assert_int_equal(lnc_store_open(&ctx, arena, "memory://shared", NULL, &two), LNC_OK);
	assert_int_equal(lnc_store_open(&ctx, arena, "memory://else", NULL, &other), LNC_OK);
	assert_int_equal(lnc_store_put(&ctx, one, "k", slice("v")), LNC_OK);
	assert_int_equal(lnc_store_read_all(&ctx, two, arena, "x/k", 10, &bytes), LNC_OK);
	assert_int_equal(lnc_store_read_all(&ctx, other, arena, "x/k", 10, &bytes), LNC_NOT_FOUND);
}

static void
local_odd_names_are_the_clients_bytes(void **state)
{
	LncStore *plain = open_at("/dir with space/é+%25/$x=1&y/t.lance");
	LncStore *url;
	LncSlice bytes;
	char path[512];
	char uri[600];

	(void)state;
	assert_int_equal(lnc_store_put(&ctx, plain, "data/a b%.lance", slice("1")), LNC_OK);
	snprintf(path, sizeof(path), "%s/dir with space/é+%%25/$x=1&y/t.lance/data/a b%%.lance", folder);
	assert_int_equal(access(path, R_OK), 0);

	/* As a URL the same spelling names the folder "é+%"; the canonical URI of the first leads back to it. */
	snprintf(uri, sizeof(uri), "file://%s/dir with space/é+%%25/$x=1&y/t.lance", folder);
	assert_int_equal(lnc_store_open(&ctx, arena, uri, NULL, &url), LNC_OK);
	assert_int_equal(lnc_store_read_all(&ctx, url, arena, "data/a b%.lance", 10, &bytes), LNC_NOT_FOUND);
	assert_int_equal(lnc_store_open(&ctx, arena, lnc_store_uri(plain), NULL, &url), LNC_OK);
	assert_int_equal(lnc_store_read_all(&ctx, url, arena, "data/a b%.lance", 10, &bytes), LNC_OK);
	snprintf(path, sizeof(path), "%s/dir with space/é+%%25/$x=1&y/t.lance", folder);
	assert_string_equal(lnc_store_object_root(url), path + 1);
}

static void
local_links_are_not_followed(void **state)
{
	LncStore *store = open_at("/ds");
	LncStore *outside = open_at("/outside");
	LncSlice bytes;
	uint64_t removed;
	char target[512];
	char link[512];

	(void)state;
	assert_int_equal(lnc_store_put(&ctx, outside, "keep/secret", slice("s")), LNC_OK);
	assert_int_equal(lnc_store_put(&ctx, store, "a", slice("1")), LNC_OK);
	snprintf(target, sizeof(target), "%s/outside/keep", folder);
	snprintf(link, sizeof(link), "%s/ds/data", folder);
	assert_int_equal(symlink(target, link), 0);
	snprintf(target, sizeof(target), "%s/outside/keep/secret", folder);
	snprintf(link, sizeof(link), "%s/ds/file", folder);
	assert_int_equal(symlink(target, link), 0);

	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "data/secret", 10, &bytes), LNC_DENIED);
	assert_non_null(strstr(ctx.error.message, "symbolic links"));
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "file", 10, &bytes), LNC_DENIED);
	assert_int_equal(lnc_store_put(&ctx, store, "data/new", slice("x")), LNC_DENIED);
	assert_int_equal(lnc_store_delete_prefix(&ctx, store, "", &removed), LNC_OK);
	assert_int_equal(removed, 3);
	assert_int_equal(lnc_store_read_all(&ctx, outside, arena, "keep/secret", 10, &bytes), LNC_OK);

	/* A root that is itself a link: the link goes, what it points to stays. */
	snprintf(target, sizeof(target), "%s/outside", folder);
	snprintf(link, sizeof(link), "%s/ds", folder);
	assert_int_equal(symlink(target, link), 0);
	assert_int_equal(lnc_store_delete_prefix(&ctx, store, "", &removed), LNC_OK);
	assert_int_equal(lnc_store_read_all(&ctx, outside, arena, "keep/secret", 10, &bytes), LNC_OK);
	assert_int_equal(access(link, F_OK), -1);
}

/* Below the anchor no link is followed, whether on the way to the root or the root itself. */
static void
local_links_below_the_anchor(void **state)
{
	LncStoreConfig config = {.anchor = folder};
	LncStore *outside = open_at("/outside/t");
	LncStore *store;
	LncSlice bytes;
	uint64_t removed;
	char target[512];
	char link[512];
	char uri[512];

	(void)state;
	assert_int_equal(lnc_store_put(&ctx, outside, "f", slice("s")), LNC_OK);
	snprintf(uri, sizeof(uri), "%s/lake/ns/t", folder);
	assert_int_equal(lnc_store_open(&ctx, arena, uri, &config, &store), LNC_OK);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "f", 10, &bytes), LNC_NOT_FOUND);
	assert_int_equal(lnc_store_put(&ctx, store, "f", slice("1")), LNC_OK);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "f", 10, &bytes), LNC_OK);
	assert_int_equal(lnc_store_delete_prefix(&ctx, store, "", &removed), LNC_OK);
	assert_int_equal(removed, 1);
	assert_int_equal(lnc_store_delete_prefix(&ctx, store, "", &removed), LNC_OK);
	assert_int_equal(removed, 0);

	/* the root itself */
	snprintf(target, sizeof(target), "%s/outside/t", folder);
	snprintf(link, sizeof(link), "%s/lake/ns/t", folder);
	assert_int_equal(symlink(target, link), 0);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "f", 10, &bytes), LNC_DENIED);
	assert_non_null(strstr(ctx.error.message, "symbolic links"));
	assert_int_equal(lnc_store_put(&ctx, store, "g", slice("1")), LNC_DENIED);
	assert_int_equal(lnc_store_put_if_absent(&ctx, store, "g", slice("1")), LNC_DENIED);
	assert_int_equal(lnc_store_delete_prefix(&ctx, store, "", &removed), LNC_OK);
	assert_int_equal(access(link, F_OK), -1);
	assert_int_equal(lnc_store_read_all(&ctx, outside, arena, "f", 10, &bytes), LNC_OK);

	/* a folder on the way */
	snprintf(link, sizeof(link), "%s/lake/ns", folder);
	assert_int_equal(rmdir(link), 0);
	snprintf(target, sizeof(target), "%s/outside", folder);
	assert_int_equal(symlink(target, link), 0);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "f", 10, &bytes), LNC_DENIED);
	assert_int_equal(lnc_store_delete_prefix(&ctx, store, "", &removed), LNC_DENIED);
	assert_int_equal(lnc_store_read_all(&ctx, outside, arena, "f", 10, &bytes), LNC_OK);

	/* an anchor that the root does not lie in */
	config.anchor = target;
	assert_int_equal(lnc_store_open(&ctx, arena, uri, &config, &store), LNC_INVALID);
	snprintf(uri, sizeof(uri), "%s/outside2", folder);
	assert_int_equal(lnc_store_open(&ctx, arena, uri, &config, &store), LNC_INVALID);
	config.anchor = "/";
	assert_int_equal(lnc_store_open(&ctx, arena, uri, &config, &store), LNC_OK);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "f", 10, &bytes), LNC_NOT_FOUND);
}

/* What clients name can't choose the host. */
static void
buckets_move_no_host(void **state)
{
	static const char *const refused[] = {
		"s3://evil.com#/x", "s3://u@evil.com/x", "s3://evil.com:80/x", "s3:///x",     "s3://../x",  "s3://.evil/x",
		"s3://a b/x",       "s3://a%2fb/x",      "s3://a%23/x",        "s3://a\\b/x", "s3://a?b/x", "s3://a\tb/x",
		"s3://[::1]/x",     "s3://\xc0\xaf/x",   "http://a/x",         "ftp://a/x",   "gs://a/x",   "s3:a"};
	LncStoreConfig config = {.endpoint = "http://127.0.0.1:1", .allow_http = true, .virtual_hosted = true};
	LncStore *store;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
	{
		for (int hosted = 0; hosted < 2; hosted++)
		{
			config.virtual_hosted = hosted == 1;
			assert_int_equal(lnc_store_open(&ctx, arena, refused[i], &config, &store), LNC_INVALID);
		}
	}
}

static void
local_errors_are_told_apart(void **state)
{
	LncStore *store = open_at("/ds");
	LncSlice bytes;
	uint64_t size;
	char path[512];

	(void)state;
	assert_int_equal(lnc_store_put(&ctx, store, "d/f", slice("1")), LNC_OK);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "d", 10, &bytes), LNC_NOT_FOUND);
	assert_int_equal(lnc_store_size(&ctx, store, "d/f/g", &size), LNC_NOT_FOUND);
	assert_int_equal(lnc_store_put(&ctx, store, "d", slice("1")), LNC_IO);
	assert_int_equal(lnc_store_put(&ctx, store, "d/f/g", slice("1")), LNC_IO);
	snprintf(path, sizeof(path), "%s/ds/pipe", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(lnc_store_read_all(&ctx, store, arena, "pipe", 10, &bytes), LNC_NOT_FOUND);

	/* Root reads everything, so the refusal is tried as somebody else. */
	snprintf(path, sizeof(path), "%s/ds/d", folder);
	assert_int_equal(chmod(path, 0), 0);
	if (geteuid() == 0)
	{
		int status;
		pid_t child = fork();

		if (child == 0)
		{
			LncCode code = LNC_OK;

			if (setuid(65534) == 0)
				code = lnc_store_size(&ctx, store, "d/f", &size);
			_exit(code == LNC_DENIED && ctx.error.hint[0] != '\0' ? 0 : 1);
		}
		chmod(folder, 0755);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	else
	{
		assert_int_equal(lnc_store_size(&ctx, store, "d/f", &size), LNC_DENIED);
		assert_true(ctx.error.hint[0] != '\0');
	}
	assert_int_equal(chmod(path, 0755), 0);
}

/* Modes follow the umask, no temporary file stays behind, and one left by a crash is no object. */
static void
local_files_are_whole_and_clean(void **state)
{
	LncStore *store = open_at("/ds");
	struct stat info;
	char path[512];
	mode_t mask = umask(027);
	int fd;
	int count = 0;

	(void)state;
	assert_int_equal(lnc_store_put(&ctx, store, "d/f", slice("1")), LNC_OK);
	assert_int_equal(lnc_store_put_if_absent(&ctx, store, "d/g", slice("1")), LNC_OK);
	assert_int_equal(lnc_store_put_if_absent(&ctx, store, "d/g", slice("2")), LNC_EXISTS);
	umask(mask);
	snprintf(path, sizeof(path), "%s/ds/d/g", folder);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0640);
	assert_int_equal(info.st_nlink, 1);
	snprintf(path, sizeof(path), "%s/ds/d/.lance-tmp-0123456789abcdef", folder);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(lnc_store_list(&ctx, store, "", true, NULL, lnc_count_objects, &count), LNC_OK);
	assert_int_equal(count, 2);
}

/* Sixteen processes try to create each name; exactly one may win, and its bytes are the ones that stay. */
/* Files that this process has open. */
static int
count_open_files(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Lets one file stay open. */
static bool
keep_one(void *state)
{
	int *kept = state;

	if (*kept > 0)
		return false;
	++*kept;
	return true;
}

static void
forget_one(void *state)
{
	--*(int *)state;
}

static void
no_more_files_stay_open_than_may(void **state)
{
	static const LncRange range = {2, 3};
	int open_before = count_open_files();
	int held = 0;
	LncEnv env = *lnc_env_default();
	LncTimedEnv timed;
	LncArena *kept;
	LncOpenObject *objects[3];
	const uint8_t *bytes;
	LncStore *store;

	(void)state;
	env.keep_file = keep_one;
	env.file_closed = forget_one;
	env.state = &held;
	lnc_env_limit(&timed, &env, INT64_MAX);
	kept = lnc_arena_create(&timed.env);
	assert_int_equal(lnc_store_open(&ctx, arena, folder, NULL, &store), LNC_OK);
	assert_int_equal(lnc_store_put(&ctx, store, "a", slice("abcdef")), LNC_OK);
	for (int turn = 0; turn < 2; turn++)
	{
		for (int i = 0; i < 3; i++)
			assert_int_equal(lnc_object_open(&ctx, kept, store, i == 2 ? "b" : "a", &objects[i]), LNC_OK);
		for (int i = 0; i < 4; i++)
		{
			assert_int_equal(lnc_object_read_ranges(&ctx, objects[i / 2], arena, 1, &range, &bytes), LNC_OK);
			assert_memory_equal(bytes, "cde", 3);
		}
		assert_int_equal(lnc_object_read_ranges(&ctx, objects[2], arena, 1, &range, &bytes), LNC_NOT_FOUND);
		assert_int_equal(held, 1);
		assert_int_equal(count_open_files(), open_before + 1);
		lnc_arena_reset(kept);
		assert_int_equal(held, 0);
		assert_int_equal(count_open_files(), open_before);
	}

	/* One that can't be opened counts no longer than its reader lives. */
	assert_int_equal(lnc_object_open(&ctx, kept, store, "b", &objects[0]), LNC_OK);
	assert_int_equal(lnc_object_read_ranges(&ctx, objects[0], arena, 1, &range, &bytes), LNC_NOT_FOUND);
	lnc_arena_destroy(kept);
	assert_int_equal(held, 0);
}

static void
open_files_are_read_as_they_were(void **state)
{
	static const LncRange range = {2, 3};
	int open_before = count_open_files();
	LncArena *kept = lnc_arena_create(lnc_env_default());
	char path[sizeof(folder) + 8];
	LncOpenObject *object;
	LncOpenObject *other;
	const uint8_t *bytes;
	LncStoreStats stats;
	LncStore *store;

	(void)state;
	assert_int_equal(lnc_store_open(&ctx, arena, folder, NULL, &store), LNC_OK);
	assert_int_equal(lnc_store_put(&ctx, store, "a", slice("abcdef")), LNC_OK);
	assert_int_equal(lnc_object_open(&ctx, kept, store, "a", &object), LNC_OK);
	assert_int_equal(lnc_object_open(&ctx, kept, store, "a", &other), LNC_OK);
	assert_int_equal(count_open_files(), open_before);
	assert_int_equal(lnc_object_read_ranges(&ctx, object, arena, 1, &range, &bytes), LNC_OK);
	assert_memory_equal(bytes, "cde", 3);

	/* Another file under the name, or none. */
	assert_int_equal(lnc_store_put(&ctx, store, "a", slice("ABCDEF")), LNC_OK);
	assert_int_equal(lnc_object_read_ranges(&ctx, object, arena, 1, &range, &bytes), LNC_OK);
	assert_memory_equal(bytes, "cde", 3);
	assert_int_equal(lnc_object_read_ranges(&ctx, other, arena, 1, &range, &bytes), LNC_OK);
	assert_memory_equal(bytes, "CDE", 3);
	lnc_store_stats(store, &stats);
	/* Two of them wrote. */
	assert_int_equal(stats.requests, 5);
	assert_int_equal(stats.bytes_read, 9);

	/* The file itself cut. */
	snprintf(path, sizeof(path), "%s/a", folder);
	assert_int_equal(truncate(path, 4), 0);
	assert_int_equal(lnc_object_read_ranges(&ctx, other, arena, 1, &range, &bytes), LNC_CORRUPT);
	assert_int_equal(lnc_store_delete(&ctx, store, "a"), LNC_OK);
	assert_int_equal(lnc_object_read_ranges(&ctx, object, arena, 1, &range, &bytes), LNC_OK);
	assert_memory_equal(bytes, "cde", 3);
	assert_int_equal(count_open_files(), open_before + 2);
	lnc_arena_reset(kept);
	assert_int_equal(count_open_files(), open_before);
	assert_int_equal(lnc_object_open(&ctx, kept, store, "a", &object), LNC_OK);
	assert_int_equal(lnc_object_read_ranges(&ctx, object, arena, 1, &range, &bytes), LNC_NOT_FOUND);
	lnc_arena_destroy(kept);
}

static void
one_process_wins_each_name(void **state)
{
	LncStore *store = open_at("/race");
	int pipes[2];
	int wins[20] = {0};
	unsigned char win[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	for (int child = 0; child < 16; child++)
	{
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
		{
			for (int i = 0; i < 20; i++)
			{
				unsigned char report[2] = {(unsigned char)i, (unsigned char)child};
				char key[32];
				LncCode code;

				snprintf(key, sizeof(key), "_versions/%d.manifest", i);
				code = lnc_store_put_if_absent(&ctx, store, key, (LncSlice){.data = report, .size = 2});
				if (code == LNC_OK && write(pipes[1], report, 2) != 2)
					_exit(1);
				if (code != LNC_OK && code != LNC_EXISTS)
					_exit(2);
			}
			_exit(0);
		}
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
		snprintf(key, sizeof(key), "_versions/%d.manifest", win[0]);
		assert_int_equal(lnc_store_read_all(&ctx, store, arena, key, 10, &bytes), LNC_OK);
		assert_int_equal(bytes.size, 2);
		assert_int_equal(bytes.data[1], win[1]);
	}
	close(pipes[0]);
	for (int i = 0; i < 20; i++)
		assert_int_equal(wins[i], 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(uris_are_read_as_clients_read_them, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_uris_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(names_are_joined_and_encoded, setup, teardown),
		cmocka_unit_test_setup_teardown(ranges_are_merged_over_small_gaps, setup, teardown),
		cmocka_unit_test_setup_teardown(local_store_keeps_the_contract, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_store_keeps_the_contract, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_is_shared_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(local_odd_names_are_the_clients_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(local_links_are_not_followed, setup, teardown),
		cmocka_unit_test_setup_teardown(local_links_below_the_anchor, setup, teardown),
		cmocka_unit_test_setup_teardown(buckets_move_no_host, setup, teardown),
		cmocka_unit_test_setup_teardown(local_errors_are_told_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(local_files_are_whole_and_clean, setup, teardown),
		cmocka_unit_test_setup_teardown(open_files_are_read_as_they_were, setup, teardown),
		cmocka_unit_test_setup_teardown(no_more_files_stay_open_than_may, setup, teardown),
		cmocka_unit_test_setup_teardown(one_process_wins_each_name, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
