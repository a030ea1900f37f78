/*
 * directory_test.c
 *	  Directories of tables: rows of both writers, folders beside them, marks, and datasets that are no directory.
 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/directory.h"
#include "storage/storage.h"

/* The manifest of a directory below test/data/directories. */
static LncStore *
open_manifest(const char *name)
{
	char path[4096];
	char *full = realpath("test/data/directories", NULL);
	LncStore *store;

	assert_non_null(full);
	snprintf(path, sizeof(path), "%s/%s/__manifest", full, name);
	free(full);
	OK(lnc_store_open(&ctx, arena, path, NULL, &store));
	return store;
}

/* A root in memory with these objects. */
static LncStore *
make_root(const char *const *keys)
{
	LncStore *store;
	uint64_t removed;

	OK(lnc_store_open(&ctx, arena, "memory://directory/some", NULL, &store));
	OK(lnc_store_delete_prefix(&ctx, store, "", &removed));
	for (; *keys != NULL; keys++)
		OK(lnc_store_put(&ctx, store, *keys, (LncSlice){.data = (const uint8_t *)"x", .size = 1}));
	return store;
}

static void
check_entry(const LncDirectory *directory, size_t n, const char *type, const char *id, const char *location,
			const char *metadata, bool plain)
{
	const LncDirectoryEntry *entry = &directory->entries[n];

	assert_true(n < directory->nentries);
	assert_string_equal(entry->type, type);
	assert_string_equal(entry->id, id);
	assert_int_equal(entry->plain, plain);
	if (metadata != NULL)
		assert_string_equal(entry->metadata, metadata);
	else
		assert_null(entry->metadata);
	if (location != NULL)
		assert_non_null(strstr(entry->location, location));
	else
		assert_null(entry->location);
}

static void
rows_and_folders(const char *writer)
{
	static const char *const keys[] = {"one.lance/_versions/1.manifest",
									   "old.lance/_versions/1.manifest",
									   "old.lance/data/x.lance/y",
									   "gone.lance/.lance-deregistered",
									   "gone.lance/data/1",
									   "x.lance",
									   ".lance/1",
									   "folder/deep.lance/1",
									   NULL};
	LncDirectory directory;

	OK(lnc_directory_read(&ctx, arena, make_root(keys), open_manifest(writer), &directory));
	assert_true(directory.has_manifest);
	assert_int_equal(directory.nentries, 8);
	check_entry(&directory, 0, "table", "one", "one.lance", NULL, false);
	check_entry(&directory, 1, "namespace", "n", NULL, "{\"owner\":\"me\"}", false);
	check_entry(&directory, 2, "table", "n$t1", "_n$t1", NULL, false);
	check_entry(&directory, 3, "table", "n$r", "reg.dir/some.lance", NULL, false);
	check_entry(&directory, 4, "table", "n$decl", "_n$decl", "{\"k\":\"v\"}", false);
	check_entry(&directory, 5, "table", "decl", "decl.lance", NULL, false);
	check_entry(&directory, 6, "table", "gone", "gone.lance", NULL, true);
	check_entry(&directory, 7, "table", "old", "old.lance", NULL, true);
	assert_true(directory.entries[6].deregistered);
	assert_false(directory.entries[7].deregistered);
}

static void
rows_of_pylance_10(void **state)
{
	(void)state;
	rows_and_folders("p10");
}

static void
rows_of_pylance_14(void **state)
{
	(void)state;
	rows_and_folders("p14");
}

static void
folders_alone(void **state)
{
	static const char *const none[] = {NULL};
	static const char *const keys[] = {"b.lance/1", "a.lance/1", NULL};
	LncDirectory directory;

	(void)state;
	OK(lnc_directory_read(&ctx, arena, make_root(keys), open_manifest("none"), &directory));
	assert_false(directory.has_manifest);
	assert_int_equal(directory.nentries, 2);
	check_entry(&directory, 0, "table", "a", "a.lance", NULL, true);
	check_entry(&directory, 1, "table", "b", "b.lance", NULL, true);
	OK(lnc_directory_read(&ctx, arena, make_root(none), open_manifest("none"), &directory));
	assert_int_equal(directory.nentries, 0);
}

static void
what_is_no_directory_is_refused(void **state)
{
	static const char *const none[] = {NULL};
	LncStore *root = make_root(none);
	LncDirectory directory;

	(void)state;
	assert_int_equal(lnc_directory_read(&ctx, arena, root, open_manifest("dropped"), &directory), LNC_NOT_FOUND);
	assert_string_equal(ctx.error.message, "directory of tables was dropped");
	assert_int_equal(lnc_directory_read(&ctx, arena, root, open_manifest("future"), &directory), LNC_UNSUPPORTED);
	assert_non_null(strstr(ctx.error.message, "\"3\""));
	assert_int_equal(lnc_directory_read(&ctx, arena, root, open_manifest("other"), &directory), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "object_id"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_of_pylance_10, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_of_pylance_14, setup, teardown),
		cmocka_unit_test_setup_teardown(folders_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_directory_is_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
