/*
 * ipc_test.c
 *	  Arrow IPC files and streams under test/data/arrow (written by pyarrow 26): values, refusals, damage.
 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/ipc.h"
#include "fixture_text.h"

#define ROWS 300
#define ENOUGH ((uint64_t)1 << 20)

/* The file in an allocation of its exact size, so that a read past its end is seen. */
static LncSlice
load(const char *name)
{
	char path[256];
	FILE *file;
	uint8_t *bytes;
	long size;

	snprintf(path, sizeof(path), "test/data/arrow/%s", name);
	file = fopen(path, "rb");
	if (file == NULL)
		fail_msg("cannot open %s", path);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	bytes = malloc((size_t)size);
	assert_int_equal(fread(bytes, 1, (size_t)size, file), size);
	fclose(file);
	return (LncSlice){.data = bytes, .size = (size_t)size};
}

static void
unload(LncSlice bytes)
{
	free((void *)(uintptr_t)bytes.data);
}

/* The value that the column of that name has in a row. */
static void
expected_text(const char *name, int i, char *text, size_t size)
{
	if (strcmp(name, "u32") == 0)
		snprintf(text, size, "%d", i);
	else if (strcmp(name, "i64") == 0 && i % 7 != 0)
		snprintf(text, size, "%lld", i * 1000003LL);
	else if (strcmp(name, "flag") == 0 && i % 5 != 0)
		snprintf(text, size, "%s", i % 2 == 0 ? "true" : "false");
	else if (strcmp(name, "text") == 0 && i % 11 != 0)
	{
		char row[32];

		snprintf(row, sizeof(row), "row %d", i);
		snprintf(text, size, "\"%s%s%s\"", i % 4 > 0 ? row : "", i % 4 > 1 ? row : "", i % 4 > 2 ? row : "");
	}
	else if (strcmp(name, "large") == 0)
		snprintf(text, size, "\"%.*s\"", 2 * (i % 9), "7878787878787878");
	else if (strcmp(name, "half") == 0)
		snprintf(text, size, "%.2f", i / 4.0);
	else if (strcmp(name, "ts") == 0)
		snprintf(text, size, "\"1970-01-01T00:%02d:%02d.000000Z\"", i / 60, i % 60);
	else if (strcmp(name, "dec") == 0)
		snprintf(text, size, "\"%d.%02d\"", i / 100, i % 100);
	else if (strcmp(name, "fsb") == 0)
		snprintf(text, size, "\"%02x0102\"", i % 256);
	else
		snprintf(text, size, "null");
}

static void
flat_columns_of_every_codec(void **state)
{
	static const char *const names[] = {"flat_plain.arrow", "flat_zstd.arrow", "flat_lz4.arrow",
										"flat_zstd.stream"};

	(void)state;
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
	{
		LncSlice bytes = load(names[n]);
		LncSchema schema;
		LncBatch *batches;
		size_t nbatches;
		int row = 0;

		assert_int_equal(lnc_ipc_read(&ctx, arena, bytes, ENOUGH, &schema, &nbatches, &batches), LNC_OK);
		unload(bytes);
		assert_int_equal(schema.nfields, 10);
		assert_int_equal(nbatches, 3);
		for (size_t b = 0; b < nbatches; b++)
		{
			for (int64_t i = 0; i < batches[b].length; i++, row++)
			{
				for (int32_t c = 0; c < schema.nfields; c++)
				{
					FixtureText text = {0};
					char expected[128];

					fixture_text_value(&text, &batches[b].columns[c], i);
					expected_text(schema.fields[c].name, row, expected, sizeof(expected));
					if (!fixture_json_equal(text.text, expected))
						fail_msg("%s, row %d, %s: %s, not %s", names[n], row, schema.fields[c].name, text.text,
								 expected);
					free(text.text);
				}
			}
		}
		assert_int_equal(row, ROWS);
	}
}

static void
sizes_are_bounded(void **state)
{
	LncSlice bytes = load("flat_zstd.arrow");
	LncSchema schema;
	LncBatch *batches;
	size_t nbatches;

	(void)state;
	assert_int_equal(lnc_ipc_read(&ctx, arena, bytes, 1000, &schema, &nbatches, &batches), LNC_LIMIT);
	unload(bytes);
	bytes = load("empty.arrow");
	assert_int_equal(lnc_ipc_read(&ctx, arena, bytes, 0, &schema, &nbatches, &batches), LNC_OK);
	assert_int_equal(schema.nfields, 10);
	for (size_t i = 0; i < nbatches; i++)
		assert_int_equal(batches[i].length, 0);
	unload(bytes);
}

static void
other_types_are_refused_by_name(void **state)
{
	LncSchema schema;
	LncBatch *batches;
	size_t nbatches;
	LncSlice bytes = load("nested.arrow");

	(void)state;
	assert_int_equal(lnc_ipc_read(&ctx, arena, bytes, ENOUGH, &schema, &nbatches, &batches), LNC_UNSUPPORTED);
	assert_string_equal(ctx.error.message, "reading Arrow column \"l\" of type List is not supported");
	unload(bytes);
	bytes = load("dictionary.arrow");
	assert_int_equal(lnc_ipc_read(&ctx, arena, bytes, ENOUGH, &schema, &nbatches, &batches), LNC_UNSUPPORTED);
	unload(bytes);
}

static void
damage_gives_errors(void **state)
{
	static const char *const names[] = {"flat_plain.arrow", "flat_zstd.arrow", "flat_lz4.arrow",
										"flat_zstd.stream"};
	int errors = 0;

	(void)state;
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
	{
		LncSlice bytes = load(names[n]);

		for (size_t at = 0; at < bytes.size; at += 3)
		{
			uint8_t *bad = malloc(bytes.size);
			LncArena *scratch = lnc_arena_create(lnc_env_default());
			LncSchema schema;
			LncBatch *batches;
			size_t nbatches;
			LncCode code;

			/* Cut, in an allocation that ends there. */
			uint8_t *cut = malloc(at + 1);

			memcpy(cut, bytes.data, at);
			code = lnc_ipc_read(&ctx, scratch, (LncSlice){.data = cut, .size = at}, ENOUGH, &schema, &nbatches,
								&batches);
			if (strstr(names[n], ".arrow") != NULL)
				assert_int_not_equal(code, LNC_OK);
			free(cut);

			memcpy(bad, bytes.data, bytes.size);
			bad[at] ^= (uint8_t)(1u << (at % 8));
			code = lnc_ipc_read(&ctx, scratch, (LncSlice){.data = bad, .size = bytes.size}, ENOUGH, &schema,
								&nbatches, &batches);
			if (code != LNC_OK && code != LNC_CORRUPT && code != LNC_UNSUPPORTED && code != LNC_LIMIT)
				fail_msg("%s, byte %zu: %s", names[n], at, ctx.error.message);
			errors += code != LNC_OK;
			free(bad);
			lnc_arena_destroy(scratch);
		}
		unload(bytes);
	}
	assert_true(errors > 500);
}

/* Offsets and counts of the messages replaced by small and large numbers. */
static void
broken_metadata_gives_errors(void **state)
{
	LncSlice bytes = load("flat_plain.arrow");
	uint8_t *bad = malloc(bytes.size);
	uint32_t seed = 42;
	int errors = 0;

	(void)state;
	for (int try = 0; try < 6000; try++)
	{
		LncArena *scratch = lnc_arena_create(lnc_env_default());
		LncSchema schema;
		LncBatch *batches;
		size_t nbatches;
		LncCode code;

		memcpy(bad, bytes.data, bytes.size);
		for (int i = 0; i <= try % 3; i++)
		{
			uint32_t value;

			seed = seed * 1664525u + 1013904223u;
			value = seed >> 28 < 11 ? seed >> 8 & 63 : seed;
			memcpy(bad + (seed >> 8) % 1600 / 4 * 4, &value, 4);
		}
		code = lnc_ipc_read(&ctx, scratch, (LncSlice){.data = bad, .size = bytes.size}, ENOUGH, &schema, &nbatches,
							&batches);
		if (code != LNC_OK && code != LNC_CORRUPT && code != LNC_UNSUPPORTED && code != LNC_LIMIT)
			fail_msg("try %d: %s", try, ctx.error.message);
		errors += code != LNC_OK;
		lnc_arena_destroy(scratch);
	}
	assert_in_range(errors, 1000, 5999);
	free(bad);
	unload(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(flat_columns_of_every_codec, setup, teardown),
		cmocka_unit_test_setup_teardown(sizes_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(other_types_are_refused_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(damage_gives_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(broken_metadata_gives_errors, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
