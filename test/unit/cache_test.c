/*
 * cache_test.c
 *	  The bounded cache of bytes, against a plain list that does the same; and what stores remember.
 */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "storage/cache.h"
#include "storage/recall.h"

/* An environment that counts what is taken, and gives nothing while asked not to. */
typedef struct Counted
{
	size_t blocks;
	bool refuse;
} Counted;

static void *
counted_alloc(void *state, size_t size)
{
	Counted *counted = state;
	void *block = counted->refuse ? NULL : malloc(size);

	counted->blocks += block != NULL;
	return block;
}

static void
counted_release(void *state, void *block)
{
	((Counted *)state)->blocks--;
	free(block);
}

static LncSlice
slice(const char *text)
{
	return (LncSlice){.data = (const uint8_t *)text, .size = strlen(text)};
}

static bool
has(LncCache *cache, const char *name, const char *bytes)
{
	LncSlice found;

	if (!lnc_cache_find(cache, slice(name), &found))
		return false;
	assert_int_equal(found.size, strlen(bytes));
	assert_memory_equal(found.data, bytes, found.size);
	return true;
}

static void
what_was_used_least_lately_goes_first(void **state)
{
	Counted counted = {0};
	LncEnv env = {.alloc = counted_alloc, .release = counted_release, .state = &counted};
	char large[201];
	LncCacheStats stats;
	LncCache *cache;

	(void)state;
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	OK(lnc_cache_create(&ctx, &env, 4096, &cache));
	assert_false(has(cache, "a", ""));
	lnc_cache_add(cache, slice("a"), slice(large));
	for (char name[] = "b"; name[0] <= 'h'; name[0]++)
	{
		lnc_cache_add(cache, slice(name), slice(large));
		assert_true(has(cache, "a", large));
	}
	for (char name[] = "i"; name[0] <= 'z'; name[0]++)
	{
		lnc_cache_add(cache, slice(name), slice(large));
		lnc_cache_stats(cache, &stats);
		assert_true(stats.bytes <= 4096);
	}
	assert_false(has(cache, "a", large));
	assert_false(has(cache, "b", large));
	assert_true(has(cache, "z", large));
	assert_true(has(cache, "y", large));

	/* Another value of a name, the empty name, no bytes. */
	lnc_cache_add(cache, slice("z"), slice("new"));
	assert_true(has(cache, "z", "new"));
	lnc_cache_add(cache, slice(""), slice(""));
	assert_true(has(cache, "", ""));

	/* A smaller bound lets the oldest go, none lets all go and keeps it so. */
	lnc_cache_limit(cache, 1024);
	lnc_cache_stats(cache, &stats);
	assert_true(stats.bytes <= 1024);
	assert_true(stats.entries > 0);
	assert_true(has(cache, "z", "new"));
	lnc_cache_limit(cache, 0);
	lnc_cache_add(cache, slice("a"), slice("a"));
	assert_false(has(cache, "a", "a"));
	lnc_cache_stats(cache, &stats);
	assert_int_equal(stats.entries, 0);
	assert_int_equal(stats.bytes, 0);
	assert_int_equal(counted.blocks, 1);

	/* What is too large for the others' sake, and what memory is short for. */
	lnc_cache_limit(cache, 1600);
	lnc_cache_add(cache, slice("a"), slice(large));
	assert_false(has(cache, "a", large));
	counted.refuse = true;
	lnc_cache_add(cache, slice("a"), slice("a"));
	assert_false(has(cache, "a", "a"));
	counted.refuse = false;
	lnc_cache_add(cache, slice("a"), slice("a"));
	assert_true(has(cache, "a", "a"));
	counted.refuse = true;
	lnc_cache_add(cache, slice("a"), slice("b"));
	assert_false(has(cache, "a", "b"));
	counted.refuse = false;
	lnc_cache_destroy(cache);
	lnc_cache_destroy(NULL);
	assert_int_equal(counted.blocks, 0);
}

#define MOST ((size_t)100000)
#define NAMES 1500

/* As a list, newest first. */
typedef struct Model
{
	size_t count;
	int names[NAMES];
	size_t sizes[NAMES];
} Model;

static void
model_remove(Model *model, size_t at)
{
	model->count--;
	memmove(model->names + at, model->names + at + 1, (model->count - at) * sizeof(int));
	memmove(model->sizes + at, model->sizes + at + 1, (model->count - at) * sizeof(size_t));
}

static void
model_push(Model *model, int name, size_t size)
{
	memmove(model->names + 1, model->names, model->count * sizeof(int));
	memmove(model->sizes + 1, model->sizes, model->count * sizeof(size_t));
	model->names[0] = name;
	model->sizes[0] = size;
	model->count++;
}

static size_t
model_find(const Model *model, int name)
{
	size_t at = 0;

	while (at < model->count && model->names[at] != name)
		at++;
	return at;
}

/* Thousands of random uses: what is found is right, the bound holds, and the order of what is left is that of use. */
static void
random_uses_agree_with_a_list(void **state)
{
	static Model model;
	static uint8_t bytes[8192];
	LncCacheStats stats;
	LncCache *cache;
	unsigned seed = 1;

	(void)state;
	model.count = 0;
	OK(lnc_cache_create(&ctx, lnc_env_default(), MOST, &cache));
	for (int step = 0; step < 40000; step++)
	{
		int name = rand_r(&seed) % NAMES;
		size_t at = model_find(&model, name);
		LncSlice key = {.data = (const uint8_t *)&name, .size = sizeof(name)};
		LncSlice found;

		if (rand_r(&seed) % 2 == 0)
		{
			bool hit = lnc_cache_find(cache, key, &found);

			/* The list does not count what an entry takes beside its bytes: it may know some that went. */
			if (hit)
			{
				assert_true(at < model.count);
				assert_int_equal(found.size, model.sizes[at]);
				for (size_t i = 0; i < found.size; i++)
					assert_int_equal(found.data[i], (uint8_t)(name + (int)found.size));
			}
			if (at < model.count)
			{
				size_t size = model.sizes[at];

				model_remove(&model, at);
				if (hit)
					model_push(&model, name, size);
			}
			continue;
		}
		found.size = (size_t)(rand_r(&seed) % 300);
		memset(bytes, name + (int)found.size, found.size);
		found.data = bytes;
		lnc_cache_add(cache, key, found);
		if (at < model.count)
			model_remove(&model, at);
		model_push(&model, name, found.size);
		lnc_cache_stats(cache, &stats);
		assert_true(stats.bytes <= MOST);
	}

	/* What is left is the newest part of the list, without a gap. */
	lnc_cache_stats(cache, &stats);
	assert_true(stats.entries > 100);
	for (size_t i = 0; i < model.count; i++)
	{
		LncSlice key = {.data = (const uint8_t *)&model.names[i], .size = sizeof(int)};
		LncSlice found;

		assert_int_equal(lnc_cache_find(cache, key, &found), i < stats.entries);
	}
	lnc_cache_destroy(cache);
}

/* A store whose objects are far, as far as remembering goes. */
static LncStore *
open_store(LncCache *cache, const char *scope, const char *uri)
{
	LncStoreConfig config = {
		.endpoint = "http://127.0.0.1:1", .allow_http = true, .cache = cache, .cache_scope = scope};
	LncStore *store;

	OK(lnc_store_open(&ctx, arena, uri, &config, &store));
	return store;
}

static bool
recalls(LncStore *store, const char *key, uint64_t size, const char *e_tag, uint64_t offset, const char *expected)
{
	LncIdentity identity;
	LncSlice bytes;

	OK(lnc_store_identify(&ctx, store, arena, key, size, e_tag, &identity));
	OK(lnc_store_recall(&ctx, store, arena, &identity, offset, &bytes));
	if (bytes.data == NULL)
		return false;
	assert_int_equal(bytes.size, strlen(expected));
	assert_memory_equal(bytes.data, expected, bytes.size);
	return true;
}

static void
bytes_are_recalled_by_all_that_names_them(void **state)
{
	LncIdentity identity;
	LncCache *cache;
	LncStore *store;
	uint64_t before;

	(void)state;
	OK(lnc_cache_create(&ctx, lnc_env_default(), 1 << 20, &cache));
	store = open_store(cache, "anna", "s3://bucket/t.lance");
	OK(lnc_store_identify(&ctx, store, arena, "data/x", 100, "tag", &identity));
	OK(lnc_store_remember(&ctx, store, &identity, 7, slice("seven")));
	OK(lnc_store_remember(&ctx, store, &identity, LNC_AT_END, slice("end")));
	before = ctx.usage.recalled;
	assert_true(recalls(store, "data/x", 100, "tag", 7, "seven"));
	assert_true(recalls(store, "data/x", 100, "tag", LNC_AT_END, "end"));
	assert_int_equal(ctx.usage.recalled, before + 2);

	/* Another place, size, tag, key, store or reader: all are other names. */
	assert_false(recalls(store, "data/x", 100, "tag", 8, ""));
	assert_false(recalls(store, "data/x", 101, "tag", 7, ""));
	assert_false(recalls(store, "data/x", 100, "tag2", 7, ""));
	assert_false(recalls(store, "data/x", 100, NULL, 7, ""));
	assert_false(recalls(store, "data/x", 100, "", 7, ""));
	assert_false(recalls(store, "data/y", 100, "tag", 7, ""));
	assert_false(recalls(open_store(cache, "anna", "s3://bucket/u.lance"), "data/x", 100, "tag", 7, ""));
	assert_false(recalls(open_store(cache, "bert", "s3://bucket/t.lance"), "data/x", 100, "tag", 7, ""));
	assert_true(recalls(open_store(cache, "anna", "s3://bucket/t.lance"), "data/x", 100, "tag", 7, "seven"));
	assert_int_equal(ctx.usage.recalled, before + 3);

	/* Of an object whose size is not known nothing is remembered, nor without a cache or a scope, nor of what is near. */
	OK(lnc_store_identify(&ctx, store, arena, "data/z", 0, "tag", &identity));
	OK(lnc_store_remember(&ctx, store, &identity, 7, slice("seven")));
	assert_false(recalls(store, "data/z", 0, "tag", 7, ""));
	store = open_store(NULL, "anna", "s3://bucket/t.lance");
	assert_false(recalls(store, "data/x", 100, "tag", 7, ""));
	store = open_store(cache, NULL, "s3://bucket/t.lance");
	assert_false(recalls(store, "data/x", 100, "tag", 7, ""));
	store = open_store(cache, "anna", "/tmp/t.lance");
	OK(lnc_store_identify(&ctx, store, arena, "data/x", 100, "tag", &identity));
	OK(lnc_store_remember(&ctx, store, &identity, 7, slice("seven")));
	assert_false(recalls(store, "data/x", 100, "tag", 7, ""));
	lnc_cache_destroy(cache);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_used_least_lately_goes_first, setup, teardown),
		cmocka_unit_test_setup_teardown(random_uses_agree_with_a_list, setup, teardown),
		cmocka_unit_test_setup_teardown(bytes_are_recalled_by_all_that_names_them, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
