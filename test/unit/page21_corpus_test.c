/*
 * page21_corpus_test.c
 *	  Replays the seeds of the fuzz target, as they are and cut or changed at many places.
 */
#include "../fuzz/page21_fuzz.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define SEED_MAX ((size_t)64 * 1024)

/* Changes tried per seed. */
#define CHANGES 60

static void
run_seed(const uint8_t *seed, size_t size)
{
	static uint8_t changed[SEED_MAX];

	assert_int_equal(LLVMFuzzerTestOneInput(seed, size), 0);
	for (size_t i = 1; i <= CHANGES; i++)
	{
		size_t at = i * size / (CHANGES + 1);

		memcpy(changed, seed, size);
		changed[at] ^= (uint8_t)(1u << (i % 8));
		assert_int_equal(LLVMFuzzerTestOneInput(changed, size), 0);
		assert_int_equal(LLVMFuzzerTestOneInput(seed, at), 0);
	}
}

static void
seeds_replay(void **state)
{
	static uint8_t seed[SEED_MAX];
	const char *folder = getenv("LANCE_CORPUS_PAGE21");
	struct dirent *entry;
	DIR *dir;
	int nseeds = 0;

	(void)state;
	if (folder == NULL)
		folder = "test/data/fuzz/page21";
	dir = opendir(folder);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
	{
		char path[1024];
		FILE *file;
		size_t size;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		file = fopen(path, "rb");
		assert_non_null(file);
		size = fread(seed, 1, sizeof(seed), file);
		fclose(file);
		run_seed(seed, size);
		nseeds++;
	}
	closedir(dir);
	assert_true(nseeds >= 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seeds_replay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
