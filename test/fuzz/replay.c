/*
 * replay.c
 *	  Runs a fuzz target over files, and over the files in folders, without a fuzzer: for the ordinary test run.
 *
 * usage: NAME_replay PATH...
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

static long replayed;

static void
replay_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = malloc(size + 1);
	uint8_t *exact;

	if (file == NULL || bytes == NULL || fread(bytes, 1, size, file) != size)
	{
		fprintf(stderr, "cannot read %s\n", path);
		exit(2);
	}
	fclose(file);
	/* A block of just that size, so that the sanitizer sees reads past its end. */
	exact = realloc(bytes, size > 0 ? size : 1);
	if (exact == NULL)
		exit(2);
	(void)LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	replayed++;
}

static void
replay(const char *path)
{
	struct stat info;

	if (stat(path, &info) != 0)
	{
		fprintf(stderr, "cannot read %s\n", path);
		exit(2);
	}
	if (S_ISDIR(info.st_mode))
	{
		DIR *folder = opendir(path);
		struct dirent *entry;

		if (folder == NULL)
		{
			fprintf(stderr, "cannot read %s\n", path);
			exit(2);
		}
		while ((entry = readdir(folder)) != NULL)
			if (entry->d_name[0] != '.')
			{
				char below[PATH_MAX];

				if (snprintf(below, sizeof(below), "%s/%s", path, entry->d_name) >= (int)sizeof(below))
					exit(2);
				replay(below);
			}
		closedir(folder);
	}
	else
		replay_file(path, (size_t)info.st_size);
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	printf("%ld inputs replayed\n", replayed);
	return replayed > 0 ? 0 : 2;
}
