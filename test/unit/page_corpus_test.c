/*
 * page_corpus_test.c
 *	  Replays the seeds of the page fuzz targets, as they are and cut or changed at many places.
 */
#include "../fuzz/fuzz.c"

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
run_seed(const uint8_t *seed, size_t size, FuzzPageOpen open)
{
	static uint8_t changed[SEED_MAX];

	fuzz_whole_page(seed, size, open, true);
	for (size_t i = 1; i <= CHANGES; i++)
	{
		size_t at = i * size / (CHANGES + 1);

		memcpy(changed, seed, size);
		changed[at] ^= (uint8_t)(1u << (i % 8));
		fuzz_page(changed, size, open);
		fuzz_page(seed, at, open);
	}
}

static void
replay_folder(const char *name, FuzzPageOpen open)
{
	static uint8_t seed[SEED_MAX];
	const char *corpora = getenv("LANCE_CORPORA");
	char folder[512];
	struct dirent *entry;
	DIR *dir;
	int nseeds = 0;

	snprintf(folder, sizeof(folder), "%s/%s", corpora != NULL ? corpora : "test/data/fuzz", name);
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
		run_seed(seed, size, open);
		nseeds++;
	}
	closedir(dir);
	assert_true(nseeds >= 20);
}

static void
seeds_of_20_replay(void **state)
{
	(void)state;
	replay_folder("page20", lnc_page20_open);
}

static void
seeds_of_21_replay(void **state)
{
	(void)state;
	replay_folder("page21", lnc_page21_open);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seeds_of_20_replay),
		cmocka_unit_test(seeds_of_21_replay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
