/*
 * refs_test.c
 *	  Tags and branches: names, files, contents, which stands on which, and the first version of a branch.
 */
#include "testing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/branch.h"
#include "dataset/dataset.h"
#include "dataset/refs.h"
#include "fixtures.h"

static LncSlice
slice(const char *text)
{
	return (LncSlice){.data = (const uint8_t *)text, .size = strlen(text)};
}

static void
same_text(LncSlice found, const char *wanted)
{
	if (found.size != strlen(wanted) || memcmp(found.data, wanted, found.size) != 0)
		fail_msg("found:\n%.*s\nwanted:\n%s", (int)found.size, (const char *)found.data, wanted);
}

static void
names(void **state)
{
	static const struct
	{
		const char *name;
		bool tag, branch;         /* can it be one */
		bool new_tag, new_branch; /* may it be made */
	} cases[] = {
		{"one", true, true, true, true},
		{"v1.1-rc_2", true, true, true, true},
		{"7", true, true, true, true},
		{"", false, false, false, false},
		{".a", false, true, false, true},
		{"a.", false, true, false, true},
		{"a..b", false, false, false, false},
		{"..", false, false, false, false},
		{".", false, false, false, false},
		{"a.lock", false, false, false, false},
		{"main", true, false, true, false},
		{"main/x", false, true, false, false},
		{"a/b", false, true, false, true},
		{"a/b.lock", false, false, false, false},
		{"a.lock/b", false, true, false, true},
		{"/a", false, false, false, false},
		{"a/", false, false, false, false},
		{"a//b", false, false, false, false},
		{"a/./b", false, false, false, false},
		{"a\\b", false, false, false, false},
		{"a b", false, false, false, false},
		{"a%2Fb", false, false, false, false},
		{"a\nb", false, false, false, false},
		{"a*", false, false, false, false},
		{"x'; DROP TABLE t; --", false, false, false, false},
		{"t\xc3\xa4g", true, true, false, false},
		{"bad \xff", false, false, false, false},
		{"\xff", false, false, false, false},
		{"a/data", false, true, false, false},
		{"a/_versions/b", false, true, false, false},
		{"data/a", false, true, false, true},
		{"a/datax", false, true, false, true},
	};
	char longest[300];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		const char *name = cases[i].name;

		if ((lnc_ref_check_name(&ctx, LNC_REF_TAG, name) == LNC_OK) != cases[i].tag ||
			(lnc_ref_check_name(&ctx, LNC_REF_BRANCH, name) == LNC_OK) != cases[i].branch ||
			(lnc_ref_check_new_name(&ctx, LNC_REF_TAG, name) == LNC_OK) != cases[i].new_tag ||
			(lnc_ref_check_new_name(&ctx, LNC_REF_BRANCH, name) == LNC_OK) != cases[i].new_branch)
			fail_msg("\"%s\"", name);
	}

	/* The name of the file, with its suffix, is what counts. */
	memset(longest, 'a', sizeof(longest));
	longest[250] = '\0';
	OK(lnc_ref_check_new_name(&ctx, LNC_REF_TAG, longest));
	longest[250] = 'a';
	longest[251] = '\0';
	assert_int_equal(lnc_ref_check_new_name(&ctx, LNC_REF_TAG, longest), LNC_INVALID);
	longest[249] = '\0';
	longest[100] = '/';
	assert_int_equal(lnc_ref_check_new_name(&ctx, LNC_REF_BRANCH, longest), LNC_INVALID);
	longest[248] = '\0';
	OK(lnc_ref_check_new_name(&ctx, LNC_REF_BRANCH, longest));
	assert_int_equal(lnc_ref_check_name(&ctx, LNC_REF_TAG, "a b"), LNC_INVALID);
	assert_string_equal(ctx.error.message, "invalid tag name \"a b\"");
}

static void
put(LncStore *store, const char *key)
{
	OK(lnc_store_put(&ctx, store, key, slice("x")));
}

static void
files(void **state)
{
	static const LncStoreConfig config;
	static const char *const branches[] = {"B", "a", "a/b-c", "feat/x-\xc3\xbc"};
	LncStore *store;
	uint64_t removed;
	size_t count;
	char **found;
	char *key;

	(void)state;
	OK(lnc_store_open(&ctx, arena, "memory://refs", &config, &store));
	OK(lnc_store_delete_prefix(&ctx, store, "", &removed));
	OK(lnc_ref_names(&ctx, arena, store, LNC_REF_TAG, &count, &found));
	assert_int_equal(count, 0);
	for (size_t i = 0; i < 4; i++)
	{
		OK(lnc_ref_key(&ctx, arena, LNC_REF_BRANCH, branches[3 - i], &key));
		put(store, key);
	}
	assert_string_equal(key, "_refs/branches/B.json");
	OK(lnc_ref_key(&ctx, arena, LNC_REF_BRANCH, branches[3], &key));
	assert_string_equal(key, "_refs/branches/feat%2Fx-%C3%BC.json");
	OK(lnc_ref_key(&ctx, arena, LNC_REF_TAG, "one", &key));
	assert_string_equal(key, "_refs/tags/one.json");
	put(store, key);

	/* What is no file of a ref, or one that nobody would look for under its name. */
	put(store, "_refs/branches/notes.txt");
	put(store, "_refs/branches/.json");
	put(store, "_refs/branches/main.json");
	put(store, "_refs/branches/a b.json");
	put(store, "_refs/branches/a%2fb.json");
	put(store, "_refs/branches/a%00.json");
	put(store, "_refs/branches/%FF.json");
	put(store, "_refs/branches/%.json");
	put(store, "_refs/branches/a%2F%2E%2E%2Fb.json");
	put(store, "_refs/branches/sub/c.json");
	put(store, "_refs/tags/a%2Fb.json");
	OK(lnc_ref_names(&ctx, arena, store, LNC_REF_BRANCH, &count, &found));
	assert_int_equal(count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(found[i], branches[i]);
	OK(lnc_ref_names(&ctx, arena, store, LNC_REF_TAG, &count, &found));
	assert_int_equal(count, 1);
	assert_string_equal(found[0], "one");
}

/* What a client wrote is what comes out again. */
static const char tag_text[] = "{\n  \"branch\": null,\n  \"version\": 2,\n"
							   "  \"createdAt\": \"2026-11-30T09:31:18.905588820Z\",\n"
							   "  \"updatedAt\": \"2026-11-30T09:31:18.936352446Z\",\n"
							   "  \"manifestSize\": 423,\n  \"metadata\": {}\n}";
static const char branch_text[] =
	"{\n  \"parentBranch\": \"side\",\n  \"identifier\": {\n    \"version_mapping\": [\n      [\n        4,\n"
	"        \"81caf3d381e44b3fb1bacf19c0e3be1b\"\n      ],\n      [\n        5,\n"
	"        \"b6b9ee1799d444b1ae874faad95fc96f\"\n      ]\n    ]\n  },\n  \"parentVersion\": 5,\n"
	"  \"createAt\": 1796031078,\n  \"manifestSize\": 583,\n  \"metadata\": {}\n}";

static void
contents(void **state)
{
	LncTag tag;
	LncTag fresh = {.branch = "b", .version = 7, .created_at = "c", .updated_at = "u", .manifest_size = 9};
	LncBranch branch;
	LncSlice text;

	(void)state;
	OK(lnc_tag_parse(&ctx, arena, "t", slice(tag_text), &tag));
	assert_null(tag.branch);
	assert_int_equal(tag.version, 2);
	assert_int_equal(tag.manifest_size, 423);
	assert_string_equal(tag.created_at, "2026-11-30T09:31:18.905588820Z");
	OK(lnc_tag_write(&ctx, arena, &tag, &text));
	same_text(text, tag_text);

	OK(lnc_branch_parse(&ctx, arena, "b", slice(branch_text), &branch));
	assert_string_equal(branch.parent, "side");
	assert_int_equal(branch.parent_version, 5);
	assert_int_equal(branch.create_at, 1796031078);
	assert_int_equal(branch.nsteps, 2);
	assert_int_equal(branch.steps[1].version, 5);
	OK(lnc_branch_write(&ctx, arena, &branch, &text));
	same_text(text, branch_text);

	OK(lnc_tag_write(&ctx, arena, &fresh, &text));
	same_text(text, "{\n  \"branch\": \"b\",\n  \"version\": 7,\n  \"createdAt\": \"c\",\n  \"updatedAt\": \"u\",\n"
					"  \"manifestSize\": 9,\n  \"metadata\": {}\n}");

	/* Old files lack times; metadata and what is not known stays; quotes and braces in texts are no structure. */
	OK(lnc_tag_parse(&ctx, arena, "t",
					 slice("{\"version\":1,\"branch\":\"main\",\"manifestSize\":3,\"later\":[1,{\"x\":[]}],"
						   "\"metadata\":{\"k\":\"a,\\\"{[: \\\\\"}}"),
					 &tag));
	assert_null(tag.branch);
	assert_null(tag.created_at);
	OK(lnc_tag_write(&ctx, arena, &tag, &text));
	same_text(text,
			  "{\n  \"branch\": null,\n  \"version\": 1,\n  \"manifestSize\": 3,\n  \"metadata\": {\n"
			  "    \"k\": \"a,\\\"{[: \\\\\"\n  },\n  \"later\": [\n    1,\n    {\n      \"x\": []\n    }\n  ]\n}");
}

static void
hostile_contents(void **state)
{
	static const char *const tags[] = {
		"",
		"{",
		"null",
		"7",
		"[]",
		"{}",
		"{\"version\":1}",
		"{\"manifestSize\":1}",
		"{\"version\":-1,\"manifestSize\":1}",
		"{\"version\":1.5,\"manifestSize\":1}",
		"{\"version\":1e300,\"manifestSize\":1}",
		"{\"version\":\"1\",\"manifestSize\":1}",
		"{\"version\":null,\"manifestSize\":1}",
		"{\"version\":1,\"manifestSize\":-1}",
		"{\"version\":1,\"manifestSize\":1,\"branch\":7}",
		"{\"version\":1,\"manifestSize\":1,\"branch\":\"../../x\"}",
		"{\"version\":1,\"manifestSize\":1,\"branch\":\"\"}",
		"{\"version\":1,\"manifestSize\":1,\"branch\":\"a\\u0000\"}",
		"{\"version\":1,\"manifestSize\":1,\"createdAt\":1}",
		"{\"version\":1,\"manifestSize\":1,\"metadata\":[]}",
		"{\"version\":1,\"manifestSize\":1,\"metadata\":{\"k\":1}}",
		"{\"version\":1,\"manifestSize\":1,\"metadata\":{\"k\":null}}",
		"{\"version\":1,\"version\":2,\"manifestSize\":1}",
		"{\"version\":1,\"manifestSize\":1} x",
		"{\"version\":1,\"manifestSize\":1,\"a\":\"\xff\"}",
	};
	static const char *const identifiers[] = {
		"7",
		"[]",
		"{}",
		"{\"version_mapping\":7}",
		"{\"version_mapping\":[7]}",
		"{\"version_mapping\":[[]]}",
		"{\"version_mapping\":[[1]]}",
		"{\"version_mapping\":[[1,\"a\",2]]}",
		"{\"version_mapping\":[[-1,\"a\"]]}",
		"{\"version_mapping\":[[1,2]]}",
		"{\"version_mapping\":[[\"a\",1]]}",
		"{\"version_mapping\":[[1,null]]}",
	};
	LncTag tag;
	LncBranch branch;

	(void)state;
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
	{
		if (lnc_tag_parse(&ctx, arena, "bad", slice(tags[i]), &tag) != LNC_CORRUPT)
			fail_msg("%s", tags[i]);
		assert_string_equal(ctx.error.message, "the file of tag \"bad\" is damaged");
		assert_true(strncmp(ctx.error.detail, "It says: ", 9) == 0);
	}
	for (size_t i = 0; i < sizeof(identifiers) / sizeof(identifiers[0]); i++)
	{
		char *text;

		OK(lnc_arena_printf(&ctx, arena, &text,
							"{\"parentVersion\":1,\"createAt\":1,\"manifestSize\":1,\"identifier\":%s}",
							identifiers[i]));
		if (lnc_branch_parse(&ctx, arena, "bad", slice(text), &branch) != LNC_CORRUPT)
			fail_msg("%s", text);
	}
	assert_int_equal(lnc_branch_parse(&ctx, arena, "bad", slice("{\"createAt\":1,\"manifestSize\":1}"), &branch),
					 LNC_CORRUPT);
	assert_string_equal(ctx.error.message, "the file of branch \"bad\" is damaged");
}

static void
times(void **state)
{
	static const struct
	{
		int64_t ns;
		const char *text;
	} cases[] = {
		{0, "1970-01-01T00:00:00Z"},
		{INT64_C(1796031078905588820), "2026-11-30T09:31:18.905588820Z"},
		{INT64_C(1796031078905588000), "2026-11-30T09:31:18.905588Z"},
		{INT64_C(1796031078905000000), "2026-11-30T09:31:18.905Z"},
		{INT64_C(951782399000000001), "2000-02-28T23:59:59.000000001Z"},
		{INT64_C(951782400000000000), "2000-02-29T00:00:00Z"},
		{INT64_C(4107542399000000000), "2100-02-28T23:59:59Z"},
		{INT64_C(4107542400000000000), "2100-03-01T00:00:00Z"},
		{INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
	};
	static const char *const wrong[] = {"",
										"x",
										"2026-11-30",
										"2026-11-30T09:31:18",
										"2026-13-30T09:31:18Z",
										"2026-00-30T09:31:18Z",
										"2026-11-32T09:31:18Z",
										"2026-11-30T24:31:18Z",
										"2026-11-30T09:60:18Z",
										"2026-11-30T09:31:18.Z",
										"2026-11-30T09:31:18Zx",
										"2026-11-30T09:31:18+1",
										"2026-11-30T09:31:18+24:00",
										"20261130T093118Z",
										"99999-11-30T09:31:18Z"};
	int64_t us;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		const char *text;

		OK(lnc_ref_time_text(&ctx, arena, cases[i].ns, &text));
		assert_string_equal(text, cases[i].text);
		assert_true(lnc_ref_time_parse(text, &us));
		assert_true(us == cases[i].ns / 1000);
	}
	assert_true(lnc_ref_time_parse("1969-12-31T23:30:00.5-01:00", &us));
	assert_true(us == INT64_C(1800500000));
	assert_true(lnc_ref_time_parse("0000-03-01T00:00:00Z", &us));
	assert_true(us == INT64_C(-62162035200000000));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
	{
		if (lnc_ref_time_parse(wrong[i], &us))
			fail_msg("%s", wrong[i]);
	}
	assert_int_equal(lnc_ref_time_text(&ctx, arena, -1, &(const char *){NULL}), LNC_RANGE);
}

static void
dependencies(void **state)
{
	LncBranchStep steps[] = {{4, "a"}, {5, "b"}, {6, "c"}};
	LncBranchStep other[] = {{4, "x"}};
	LncBranchStep zero[] = {{4, "a"}, {0, "z"}};
	LncBranch none = {0};
	LncBranch one = {.nsteps = 1, .steps = steps};
	LncBranch three = {.nsteps = 3, .steps = steps};
	LncBranch apart = {.nsteps = 1, .steps = other};
	LncBranch derived = {.nsteps = 2, .steps = zero};
	LncBranch old;

	(void)state;
	assert_int_equal(lnc_branch_depends(&three, &one), 5);
	assert_int_equal(lnc_branch_depends(&one, &one), 0);
	assert_int_equal(lnc_branch_depends(&one, &three), 0);
	assert_int_equal(lnc_branch_depends(&three, &apart), 0);
	assert_int_equal(lnc_branch_depends(&derived, &one), 0);
	assert_int_equal(lnc_branch_depends(&one, &none), 4);

	/* The identity that clients derive for a file without one, as pylance 14.0 shows it. */
	OK(lnc_branch_parse(
		&ctx, arena, "old",
		slice("{\"parentBranch\":null,\"parentVersion\":4,\"createAt\":1700000000,\"manifestSize\":1}"), &old));
	assert_int_equal(old.nsteps, 1);
	assert_int_equal(old.steps[0].version, 0);
	assert_string_equal(old.steps[0].uuid, "f8eb54e2d8c094e4d97802f5e662851d");
}

/* ---- the first version of a branch */

static LncBranchStart
start_at(const LncDataset *dataset, const char *branch, const char *source_branch)
{
	return (LncBranchStart){.branch = branch,
							.root = "s3://lance-fixtures/x.lance",
							.source_branch = source_branch,
							.source_key = dataset->manifest_key,
							.source_version = dataset->version,
							.uuid = "3ed14f3f-044a-4b37-b769-0d78eda39f2b",
							.unix_ns = INT64_C(1796031078905588820)};
}

/* Begin a branch at what options say of a copy of a fixture, and open it. */
static LncDataset *
begin(LncStore *store, const LncDatasetOptions *options, const char *branch)
{
	LncDatasetOptions wanted = {.branch = branch};
	LncDataset *source;
	LncDataset *made;
	LncFirstVersion first;
	LncBranchStart start;
	char *key;

	OK(lnc_dataset_open(&ctx, arena, store, options, &source));
	start = start_at(source, branch, options->branch);
	OK(lnc_branch_first_version(&ctx, arena, store, &start, &first));
	OK(lnc_arena_printf(&ctx, arena, &key, "tree/%s/_versions/%020" PRIu64 ".manifest", branch,
						UINT64_MAX - source->version));
	OK(lnc_store_put(&ctx, store, first.transaction_key, first.transaction));
	OK(lnc_store_put(&ctx, store, key, first.manifest));
	OK(lnc_dataset_open(&ctx, arena, store, &wanted, &made));
	assert_int_equal(made->version, source->version);
	assert_int_equal(made->nfragments, source->nfragments);
	assert_int_equal(made->nbases, source->nbases + 1);
	assert_int_equal(made->reader_flags, source->reader_flags | 16);
	assert_int_equal(made->timestamp_us, INT64_C(1796031078905588));
	for (int32_t i = 0; i < made->nfragments; i++)
	{
		assert_int_equal(made->fragments[i].id, source->fragments[i].id);
		assert_int_equal(made->fragments[i].deletion_kind, source->fragments[i].deletion_kind);
		for (int32_t j = 0; j < made->fragments[i].nfiles; j++)
			assert_true(made->fragments[i].files[j].has_base);
		assert_true(made->fragments[i].deletion_kind == LNC_DELETION_NONE || made->fragments[i].deletion_has_base);
	}
	return made;
}

static void
first_versions(void **state)
{
	static const char *const plain[] = {"del_arrow.lance", "del_bitmap.lance", "stable_rowids.lance",
										"config.lance", "types_v22_nonull.lance"};
	LncStore *fixture;
	LncStore *store;
	LncDataset *made;

	(void)state;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
	{
		OK(fixtures_open_store(&ctx, arena, plain[i], &fixture));
		OK(fixtures_copy_to_memory(&ctx, arena, fixture, &store));
		made = begin(store, &(LncDatasetOptions){0}, "b");
		assert_int_equal(made->bases[0].id, 0);
		assert_string_equal(made->bases[0].path, "s3://lance-fixtures/x.lance");
		assert_true(made->bases[0].is_dataset_root);
	}

	/* A branch of a branch keeps its parent's bases. */
	made = begin(store, &(LncDatasetOptions){.branch = "b"}, "a/c");
	assert_int_equal(made->bases[1].id, 1);
	assert_string_equal(made->bases[1].path, "s3://lance-fixtures/x.lance/tree/b");
	assert_int_equal(made->fragments[0].files[0].base_id, 0);
}

static void
first_versions_refused(void **state)
{
	static const struct
	{
		const char *fixture;
		LncCode code;
	} cases[] = {
		{"legacy01_p14.lance", LNC_UNSUPPORTED},
		{"refuse_overlay_flag.lance", LNC_UNSUPPORTED},
		{"refuse_tree_flag.lance", LNC_UNSUPPORTED},
		{"refuse_unknown_flag.lance", LNC_UNSUPPORTED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		LncVersionFile file;
		LncFirstVersion first;
		LncBranchStart start = {.branch = "b", .root = "s3://x", .uuid = "u"};
		LncStore *store;
		LncCode code;

		OK(fixtures_open_store(&ctx, arena, cases[i].fixture, &store));
		OK(lnc_versions_latest(&ctx, arena, store, "_versions", &file));
		start.source_key = file.key;
		start.source_version = file.version;
		code = lnc_branch_first_version(&ctx, arena, store, &start, &first);
		if (code != cases[i].code)
			fail_msg("%s: %s", cases[i].fixture, lnc_code_name(code));
		assert_non_null(strstr(ctx.error.detail, file.key));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names, setup, teardown),
		cmocka_unit_test_setup_teardown(files, setup, teardown),
		cmocka_unit_test_setup_teardown(contents, setup, teardown),
		cmocka_unit_test_setup_teardown(hostile_contents, setup, teardown),
		cmocka_unit_test_setup_teardown(times, setup, teardown),
		cmocka_unit_test_setup_teardown(dependencies, setup, teardown),
		cmocka_unit_test_setup_teardown(first_versions, setup, teardown),
		cmocka_unit_test_setup_teardown(first_versions_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
