/*
 * inspect_test.c
 *	  Looking into datasets: operations of transactions, walks, and the program lance_inspect.
 */
#define LANCE_INSPECT_TEST
#include "../../tools/lance_inspect.c"
#include "testing.h"

#include "dataset/operation.h"
#include "fixtures.h"

/* ---- operations */

static void
expect_operation(const char *bytes, size_t size, const char *expected)
{
	/* A copy of its own, so that reading past its end is seen. */
	uint8_t *copy = malloc(size + 1);
	const char *got;

	memcpy(copy, bytes, size);
	copy = realloc(copy, size > 0 ? size : 1);
	got = lnc_operation_name((LncSlice){.data = copy, .size = size});
	free(copy);
	if (expected == NULL)
		assert_null(got);
	else
		assert_string_equal(got, expected);
}

static void
operations_are_named(void **state)
{
	(void)state;
	expect_operation("", 0, NULL);
	expect_operation("\x08\x05\x12\x03"
					 "abc\xA2\x06\x00",
					 10, "append");
	/* The rest of a long one need not be there. */
	expect_operation("\x08\x96\x01\x12\x01x\xAA\x06\xFF", 9, "delete");
	expect_operation("\x9A\x07\x00", 3, "data overlay");
	expect_operation("\xA2\x07\x00", 3, NULL);
	/* Cut in a number, a text that reaches past the end, wire types that no transaction has. */
	expect_operation("\x08", 1, NULL);
	expect_operation("\xA2", 1, NULL);
	expect_operation("\x12\x7F"
					 "abc",
					 5, NULL);
	expect_operation("\x09\x01\x01\x01\x01\x01\x01\x01\x01", 9, NULL);
	expect_operation("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 12, NULL);
}

/* ---- walks */

static LncDataset *
open_fixture(const char *name)
{
	LncDatasetOptions options = {.open_base = fixtures_open_base};
	LncDataset *dataset;
	LncStore *store;

	OK(fixtures_open_store(&ctx, arena, name, &store));
	OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));
	return dataset;
}

static LncCode
add_rows(LncContext *inner, void *arg, const LncPageFacts *facts)
{
	uint64_t *rows = arg;

	(void)inner;
	assert_int_equal(facts->first_row, rows[facts->column]);
	assert_true(facts->encoding[0] != '\0');
	rows[facts->column] += facts->rows;
	return LNC_OK;
}

static LncCode
stop(LncContext *inner, void *arg, const LncPageFacts *facts)
{
	(void)facts;
	++*(int *)arg;
	return lnc_fail(inner, LNC_RANGE, "enough");
}

static void
pages_add_up(void **state)
{
	static const char *const names[] = {"multipage_v20.lance", "multipage_v22.lance", "wide_v22.lance"};
	int calls = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
	{
		LncDataset *dataset = open_fixture(names[i]);
		const LncFragment *fragment = &dataset->fragments[0];
		uint64_t rows[4096] = {0};

		OK(lnc_inspect_pages(&ctx, dataset, (int64_t)fragment->id, add_rows, rows));
		/* The first column is no list, whose items have pages of their own in version 2.0. */
		assert_int_equal(rows[fragment->files[0].columns[0]], fragment->physical_rows);
	}
	assert_int_equal(lnc_inspect_pages(&ctx, open_fixture("multipage_v22.lance"), -1, stop, &calls), LNC_RANGE);
	assert_int_equal(calls, 1);
}

/* Versions and what is wrong with them. */
typedef struct Seen
{
	int n;
	uint64_t versions[8];
	char problems[8][300];
} Seen;

static LncCode
find_damage(LncContext *inner, void *arg, const LncVersionFacts *facts)
{
	Seen *seen = arg;

	(void)inner;
	assert_true(seen->n < 8);
	seen->versions[seen->n] = facts->version;
	snprintf(seen->problems[seen->n++], sizeof(seen->problems[0]), "%s",
			 facts->problem != NULL ? facts->problem : "");
	return LNC_OK;
}

static void
a_damaged_transaction_hides_nothing_but_the_operation(void **state)
{
	static const char key[] = "_versions/18446744073709551614.manifest";
	LncStore *local;
	LncStore *store;
	LncSlice bytes;
	uint8_t *bad;
	Seen seen = {0};

	(void)state;
	OK(fixtures_open_store(&ctx, arena, "one_row.lance", &local));
	OK(fixtures_copy_to_memory(&ctx, arena, local, &store));
	OK(lnc_store_read_all(&ctx, store, arena, key, 1 << 20, &bytes));
	bad = malloc(bytes.size);
	memcpy(bad, bytes.data, bytes.size);
	memset(bad, 0xFF, lnc_le64(bytes.data + bytes.size - 16));
	OK(lnc_store_put(&ctx, store, key, (LncSlice){.data = bad, .size = bytes.size}));
	OK(lnc_inspect_versions(&ctx, store, NULL, find_damage, &seen));
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.versions[0], 1);
	assert_string_equal(seen.problems[0], "");
	free(bad);
}

/* One that can't be read does not hide the others. */
static void
a_damaged_manifest_hides_no_other(void **state)
{
	static const char key[] = "_versions/18446744073709551612.manifest";
	LncStore *local;
	LncStore *store;
	LncSlice bytes;
	Seen seen = {0};

	(void)state;
	OK(fixtures_open_store(&ctx, arena, "many_versions.lance", &local));
	OK(fixtures_copy_to_memory(&ctx, arena, local, &store));
	OK(lnc_store_read_all(&ctx, store, arena, key, 1 << 20, &bytes));
	OK(lnc_store_put(&ctx, store, key, (LncSlice){.data = bytes.data, .size = bytes.size / 2}));
	OK(lnc_inspect_versions(&ctx, store, NULL, find_damage, &seen));
	assert_int_equal(seen.n, 7);
	for (int i = 0; i < seen.n; i++)
	{
		assert_int_equal(seen.versions[i], i + 1);
		if (i == 2)
			assert_non_null(strstr(seen.problems[i], key));
		else
			assert_string_equal(seen.problems[i], "");
	}
}

/* ---- the program */

/* Run it on a fixture; what it wrote to both, NUL-terminated. */
static int
run(const char *const *options, const char *fixture, char *output, char *errors, size_t size)
{
	char *argv[12] = {(char *)(uintptr_t) "lance_inspect"};
	char uri[1024];
	FILE *out = tmpfile();
	FILE *err = tmpfile();
	int argc = 1;
	int status;

	for (; options[argc - 1] != NULL; argc++)
		argv[argc] = (char *)(uintptr_t)options[argc - 1];
	if (fixture != NULL)
	{
		char *folder = realpath(fixtures_folder(), NULL);

		snprintf(uri, sizeof(uri), "%s/data/%s", folder, fixture);
		free(folder);
		argv[argc++] = uri;
	}
	status = inspect_main(argc, argv, out, err);
	rewind(out);
	rewind(err);
	output[fread(output, 1, size - 1, out)] = '\0';
	errors[fread(errors, 1, size - 1, err)] = '\0';
	fclose(out);
	fclose(err);
	return status;
}

#define RUN(fixture, ...) run((const char *const[]){__VA_ARGS__, NULL}, fixture, output, errors, sizeof(output))

static void
the_program_prints_tables(void **state)
{
	static char output[65536];
	static char errors[65536];

	(void)state;
	assert_int_equal(RUN("stable_rowids.lance", "versions"), 0);
	assert_non_null(strstr(output, "version\tcommitted_at\toperation\t"));
	assert_non_null(strstr(output, "\tupdate\t3\t407\t_versions/18446744073709551612.manifest\t1226\t\n"));
	assert_string_equal(errors, "");
	assert_int_equal(RUN("stable_rowids.lance", "-v", "5", "fragments"), 0);
	assert_non_null(strstr(output, "\t200\t25\tarrow\n"));
	assert_int_equal(RUN("lists_v22.lance", "columns"), 0);
	assert_non_null(strstr(output, "\nlsl.item.v.item\tstring\t50\tyes\t\n"));
	assert_int_equal(RUN("multifrag_p14_default.lance", "-f", "1", "pages"), 0);
	assert_non_null(strstr(output, "\n1\t"));
	assert_null(strstr(output, "\n0\t"));
	assert_int_equal(RUN("s3_branch.lance", "-b", "dev", "versions"), 0);
	assert_non_null(strstr(output, "\tclone\t"));
}

static void
the_program_says_what_is_wrong(void **state)
{
	static char output[65536];
	static char errors[65536];

	(void)state;
	assert_int_equal(RUN("nothing.lance", "columns"), 1);
	assert_non_null(strstr(errors, "lance_inspect: no version of a dataset found"));
	assert_int_equal(RUN("corrupt_badmagic.lance", "pages"), 1);
	assert_non_null(strstr(errors, "not a Lance data file"));
	assert_int_equal(RUN("one_row.lance", "rows"), 2);
	assert_non_null(strstr(errors, "usage: lance_inspect"));
	assert_int_equal(RUN("one_row.lance", "-v", "0", "columns"), 2);
	assert_int_equal(RUN("one_row.lance", "-v", "1x", "columns"), 2);
	assert_int_equal(RUN("one_row.lance", "-f", "-1", "pages"), 2);
	assert_int_equal(RUN("one_row.lance", "-q", "1", "pages"), 2);
	assert_int_equal(RUN(NULL, "pages"), 2);
	assert_int_equal(RUN(NULL, "pages", "ftp://x"), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_are_named),
		cmocka_unit_test_setup_teardown(pages_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(a_damaged_transaction_hides_nothing_but_the_operation, setup, teardown),
		cmocka_unit_test_setup_teardown(a_damaged_manifest_hides_no_other, setup, teardown),
		cmocka_unit_test(the_program_prints_tables),
		cmocka_unit_test(the_program_says_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
