/*
 * blob_test.c
 *	  Bytes of blobs by their descriptors: each kind, each place, and descriptors that lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "dataset/blob.h"
#include "encoding/blob21.h"

#define MANY ((uint64_t)1 << 40)

static const LncStoreConfig config;
static const LncType blob_type = {.kind = LNC_TYPE_BLOB_V2, .logical = "struct"};
static LncContext ctx;
static LncArena *arena;
static LncStore *store;
static LncStore *other;
static LncDataset dataset;
static LncDataFile file;
static LncBlobSource *source;
static LncUsage usage;   /* of the source */
static char opened[256]; /* the URI that open_base was asked for last */
static int nopened;

static LncCode
open_base(LncContext *c, void *arg, LncArena *into, const char *uri, LncStore **out)
{
	(void)arg;
	snprintf(opened, sizeof(opened), "%s", uri);
	nopened++;
	if (strncmp(uri, "memory://other", 14) != 0)
		return lnc_fail(c, LNC_DENIED, "\"%s\" is not allowed", uri);
	(void)into;
	*out = other;
	return LNC_OK;
}

static void
put(LncStore *into, const char *key, const char *text)
{
	assert_int_equal(lnc_store_put(&ctx, into, key, (LncSlice){(const uint8_t *)text, strlen(text)}), LNC_OK);
}

static int
setup(void **state)
{
	static LncBasePath bases[] = {{.id = 7, .path = "memory://other/base", .is_dataset_root = true}};

	(void)state;
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	assert_int_equal(lnc_store_open(&ctx, arena, "memory://blobs", &config, &store), LNC_OK);
	assert_int_equal(lnc_store_open(&ctx, arena, "memory://others", &config, &other), LNC_OK);
	memset(&dataset, 0, sizeof(dataset));
	dataset.store = store;
	dataset.open_base = open_base;
	dataset.bases = bases;
	dataset.nbases = 1;
	dataset.prefix = "";
	file = (LncDataFile){0};
	nopened = 0;
	put(store, "data/f.lance", "0123456789");
	put(store, "data/f/01000000000000000000000000000000.blob", "packed bytes");
	put(store, "data/f/11000000000000000000000000000001.blob", "dedicated");
	put(store, "_blobs/m.blob", "managed");
	put(store, "tree/b/_blobs/m.blob", "of a branch");
	put(other, "a%b.bin", "outside");
	put(other, "x/y.bin", "in a base");
	return lnc_blob_source_create(&ctx, arena, &dataset, &file, store, "data/f.lance", &usage, &source) != LNC_OK;
}

static int
teardown(void **state)
{
	(void)state;
	lnc_arena_destroy(arena);
	return 0;
}

/* Read the value of one descriptor. */
static LncCode
read_one(uint8_t kind, uint64_t position, uint64_t size, uint32_t id, const char *uri, uint64_t max, LncSlice *out)
{
	int64_t offsets[2] = {0, (int64_t)strlen(uri)};
	LncColumn parts[LNC_BLOB_NPARTS] = {
		[LNC_BLOB_KIND] = {.length = 1, .values = &kind},
		[LNC_BLOB_POSITION] = {.length = 1, .values = &position},
		[LNC_BLOB_SIZE] = {.length = 1, .values = &size},
		[LNC_BLOB_ID] = {.length = 1, .values = &id},
		[LNC_BLOB_URI] = {.length = 1, .offsets = offsets, .data = (const uint8_t *)uri},
	};
	LncColumn column = {.type = &blob_type, .length = 1, .nchildren = LNC_BLOB_NPARTS, .children = parts};

	memset(&ctx.error, 0, sizeof(ctx.error));
	lnc_blob_set_source(&column, source);
	return lnc_blob_read(&ctx, arena, &column, 0, max, out);
}

static void
expect(uint8_t kind, uint64_t position, uint64_t size, uint32_t id, const char *uri, const char *text)
{
	LncUsage before = usage;
	LncSlice bytes;

	assert_int_equal(read_one(kind, position, size, id, uri, MANY, &bytes), LNC_OK);
	assert_int_equal(usage.bytes_read - before.bytes_read, strlen(text));
	assert_int_equal(usage.requests > before.requests, text[0] != '\0');
	assert_int_equal(bytes.size, strlen(text));
	assert_memory_equal(bytes.data, text, strlen(text));
}

static void
each_kind_has_its_place(void **state)
{
	(void)state;
	expect(LNC_BLOB_INLINE, 2, 3, 0, "", "234");
	expect(LNC_BLOB_INLINE, 500, 0, 0, "", "");
	expect(LNC_BLOB_PACKED, 7, 5, 2, "", "bytes");
	/* Position means nothing for a file of its own. */
	expect(LNC_BLOB_DEDICATED, 99, 9, UINT32_C(0x80000003), "", "dedicated");
	assert_int_equal(nopened, 0);
	expect(LNC_BLOB_EXTERNAL, 3, 2, 0, "memory://other/dir/a%b.bin", "si");
	assert_string_equal(opened, "memory://other/dir");
	expect(LNC_BLOB_EXTERNAL, 0, 0, 0, "memory://other/dir/a%b.bin", "outside");
	assert_int_equal(nopened, 1);
	expect(LNC_BLOB_EXTERNAL, 4, 0, 0, "memory://other/a%b.bin", "ide");
	assert_string_equal(opened, "memory://other");
	expect(LNC_BLOB_EXTERNAL, 5, 4, 7, "x/y.bin", "base");
	assert_string_equal(opened, "memory://other/base");
	assert_int_equal(nopened, 3);
}

static void
managed_blobs_lie_below_a_base(void **state)
{
	LncSlice bytes;

	(void)state;
	expect(LNC_BLOB_MANAGED, 1, 3, 99, "_blobs/m.blob", "ana");
	expect(LNC_BLOB_MANAGED, 0, 0, 0, "_blobs/m.blob", "");
	dataset.prefix = "tree/b/";
	expect(LNC_BLOB_MANAGED, 3, 8, 0, "_blobs/m.blob", "a branch");
	assert_int_equal(nopened, 0);
	expect(LNC_BLOB_MANAGED_WITH_BASE, 5, 4, 7, "x/y.bin", "base");
	assert_string_equal(opened, "memory://other/base");
	file = (LncDataFile){.has_base = true, .base_id = 7};
	expect(LNC_BLOB_MANAGED, 0, 2, 0, "x/y.bin", "in");
	assert_int_equal(nopened, 1);
	assert_int_equal(read_one(LNC_BLOB_MANAGED_WITH_BASE, 0, 1, 8, "x/y.bin", MANY, &bytes), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "base path 8"));
	file.has_base = false;
	assert_int_equal(read_one(LNC_BLOB_MANAGED, 0, 1, 0, "", MANY, &bytes), LNC_CORRUPT);
	assert_int_equal(read_one(LNC_BLOB_MANAGED, 0, 1, 0, "../m.blob", MANY, &bytes), LNC_INVALID);
	assert_int_equal(read_one(LNC_BLOB_MANAGED, 0, 1, 0, "/m.blob", MANY, &bytes), LNC_INVALID);
	assert_int_equal(read_one(LNC_BLOB_MANAGED, 0, 1, 0, "memory://other/x", MANY, &bytes), LNC_CORRUPT);
	assert_int_equal(read_one(LNC_BLOB_MANAGED, 0, 1, 0, "a\\b", MANY, &bytes), LNC_CORRUPT);
	assert_int_equal(read_one(LNC_BLOB_MANAGED, 0, 1, 0, "_blobs/none", MANY, &bytes), LNC_NOT_FOUND);
	assert_int_equal(nopened, 1);
}

static void
descriptors_that_lie_are_errors(void **state)
{
	LncSlice bytes;

	(void)state;
	assert_int_equal(read_one(LNC_BLOB_INLINE, 8, 3, 0, "", MANY, &bytes), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.detail, "data/f.lance"));
	assert_int_equal(read_one(LNC_BLOB_INLINE, UINT64_MAX, 2, 0, "", MANY, &bytes), LNC_CORRUPT);
	/* Larger than the file: no memory is taken for it. */
	assert_int_equal(read_one(LNC_BLOB_INLINE, 0, MANY, 0, "", MANY, &bytes), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "10 bytes"));
	assert_int_equal(read_one(LNC_BLOB_INLINE, 0, 4, 0, "", 3, &bytes), LNC_LIMIT);
	assert_int_equal(read_one(LNC_BLOB_EXTERNAL, 0, 0, 0, "memory://other/a%b.bin", 3, &bytes), LNC_LIMIT);
	assert_int_equal(read_one(LNC_BLOB_EXTERNAL, 8, 0, 0, "memory://other/a%b.bin", MANY, &bytes), LNC_CORRUPT);
	assert_int_equal(read_one(LNC_BLOB_PACKED, 0, 1, 5, "", MANY, &bytes), LNC_NOT_FOUND);
	assert_int_equal(read_one(6, 0, 1, 0, "x", MANY, &bytes), LNC_UNSUPPORTED);
	assert_non_null(strstr(ctx.error.message, "kind 6"));
}

static void
places_outside_need_leave(void **state)
{
	LncSlice bytes;

	(void)state;
	assert_int_equal(read_one(LNC_BLOB_EXTERNAL, 0, 0, 0, "memory://secret/x", MANY, &bytes), LNC_DENIED);
	/* A store that could not be opened is not kept. */
	assert_int_equal(read_one(LNC_BLOB_EXTERNAL, 0, 0, 0, "memory://secret/x", MANY, &bytes), LNC_DENIED);
	assert_int_equal(nopened, 2);
	assert_int_equal(read_one(LNC_BLOB_EXTERNAL, 0, 0, 0, "", MANY, &bytes), LNC_CORRUPT);
	assert_int_equal(read_one(LNC_BLOB_EXTERNAL, 0, 0, 0, "x/y.bin", MANY, &bytes), LNC_INVALID);
	assert_int_equal(read_one(LNC_BLOB_EXTERNAL, 0, 0, 0, "memory://other", MANY, &bytes), LNC_INVALID);
	assert_int_equal(read_one(LNC_BLOB_EXTERNAL, 0, 0, 8, "x/y.bin", MANY, &bytes), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "base path 8"));
	assert_int_equal(read_one(LNC_BLOB_EXTERNAL, 0, 0, 7, "../y.bin", MANY, &bytes), LNC_INVALID);
	assert_int_equal(nopened, 2);
	dataset.open_base = NULL;
	assert_int_equal(read_one(LNC_BLOB_EXTERNAL, 0, 0, 0, "memory://other/x", MANY, &bytes), LNC_DENIED);
	assert_int_equal(read_one(LNC_BLOB_EXTERNAL, 0, 0, 7, "x/y.bin", MANY, &bytes), LNC_DENIED);
}

/* Levels of one pair below these layers: the definition, or -1 for corrupt. */
static int
definition_of(uint64_t position, uint64_t size, uint16_t max_def)
{
	LncLayers layers = {.count = 2, .kinds = {3, 3}, .max_def = max_def};
	LncColumn parts[2] = {{.length = 1, .values = &position}, {.length = 1, .values = &size}};
	LncColumn pairs = {.type = lnc_blob_pair(), .length = 1, .nchildren = 2, .children = parts};
	LncSlots slots;
	LncCode code = lnc_blob21_slots(&ctx, arena, &layers, &pairs, &slots);

	if (code != LNC_OK)
	{
		assert_int_equal(code, LNC_CORRUPT);
		return -1;
	}
	assert_int_equal(slots.nslots, 1);
	assert_int_equal(slots.nvalues, 1);
	assert_int_equal(slots.def == NULL, max_def == 0);
	return slots.def == NULL ? 0 : slots.def[0];
}

static void
positions_of_old_blobs_hold_levels(void **state)
{
	(void)state;
	assert_int_equal(definition_of(0, 0, 2), 0);
	assert_int_equal(definition_of(UINT64_C(1) << 16, 0, 2), 1);
	assert_int_equal(definition_of(UINT64_C(2) << 16, 0, 2), 2);
	assert_int_equal(definition_of(UINT64_C(3) << 16, 0, 2), -1);
	assert_int_equal(definition_of(UINT64_C(1) << 32, 0, 2), -1);
	assert_int_equal(definition_of(1, 0, 2), -1);
	/* With bytes, a position is a position. */
	assert_int_equal(definition_of(UINT64_C(3) << 16, 1, 2), 0);
	assert_int_equal(definition_of(12345, 1, 0), 0);
	assert_int_equal(definition_of(UINT64_C(1) << 16, 0, 0), -1);
}

static void
columns_of_blobs_keep_their_source(void **state)
{
	static const uint64_t positions[] = {0, 1, 5};
	static const uint64_t sizes[] = {1, 0, 2};
	static const uint8_t validity[] = {5};
	const int64_t order[] = {2, 1, 0, 2};
	LncColumn column;
	LncColumn taken;
	LncColumn joined;
	LncColumn both[2];
	LncSlice bytes;

	(void)state;
	assert_int_equal(lnc_blob_column(&ctx, arena, &blob_type, 3, validity, positions, sizes, &column), LNC_OK);
	/* Without a source there is nothing to read from. */
	assert_int_equal(lnc_blob_read(&ctx, arena, &column, 0, MANY, &bytes), LNC_INVALID);
	lnc_blob_set_source(&column, source);
	assert_int_equal(lnc_column_take(&ctx, arena, &column, 4, order, &taken), LNC_OK);
	assert_int_equal(lnc_column_slice(&ctx, arena, &taken, 1, 3, &both[0]), LNC_OK);
	both[1] = column;
	assert_int_equal(lnc_column_concat(&ctx, arena, 2, both, &joined), LNC_OK);
	assert_int_equal(joined.length, 6);
	assert_true(lnc_column_is_null(&joined, 0));
	assert_int_equal(lnc_blob_read(&ctx, arena, &joined, 0, MANY, &bytes), LNC_INVALID);
	assert_int_equal(lnc_blob_read(&ctx, arena, &joined, 6, MANY, &bytes), LNC_INVALID);
	assert_int_equal(lnc_blob_read(&ctx, arena, &joined, 2, MANY, &bytes), LNC_OK);
	assert_int_equal(bytes.size, 2);
	assert_memory_equal(bytes.data, "56", 2);
	assert_int_equal(lnc_column_nulls(&ctx, arena, &blob_type, 2, &column), LNC_OK);
	assert_int_equal(column.nchildren, LNC_BLOB_NPARTS);
	assert_true(lnc_column_is_null(&column, 1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_kind_has_its_place, setup, teardown),
		cmocka_unit_test_setup_teardown(managed_blobs_lie_below_a_base, setup, teardown),
		cmocka_unit_test_setup_teardown(descriptors_that_lie_are_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(places_outside_need_leave, setup, teardown),
		cmocka_unit_test_setup_teardown(positions_of_old_blobs_hold_levels, setup, teardown),
		cmocka_unit_test_setup_teardown(columns_of_blobs_keep_their_source, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
