/*
 * fixtures.c
 *	  Access to the folder of fixtures.
 */
#include "fixtures.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKET "s3://lance-fixtures/"

static const LncStoreConfig CONFIG;

const char *
fixtures_folder(void)
{
	const char *folder = getenv("LANCE_FIXTURES");

	return folder != NULL && folder[0] != '\0' ? folder : "test/data/fixtures";
}

static char *
read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *text = NULL;
	long length;

	if (file == NULL)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0)
	{
		rewind(file);
		text = malloc((size_t)length + 1);
		if (text == NULL || fread(text, 1, (size_t)length, file) != (size_t)length)
			abort();
		text[length] = '\0';
		if (size != NULL)
			*size = (size_t)length;
	}
	fclose(file);
	return text;
}

cJSON *
fixtures_index(void)
{
	char path[PATH_MAX];
	char *text;
	cJSON *index;

	snprintf(path, sizeof(path), "%s/index.json", fixtures_folder());
	text = read_file(path, NULL);
	if (text == NULL)
	{
		fprintf(stderr, "cannot read %s\n", path);
		abort();
	}
	index = cJSON_Parse(text);
	free(text);
	if (!cJSON_IsArray(index))
	{
		fprintf(stderr, "%s is no array\n", path);
		abort();
	}
	return index;
}

char *
fixtures_read(const char *name, size_t *size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/data/%s", fixtures_folder(), name);
	return read_file(path, size);
}

LncCode
fixtures_open_store(LncContext *ctx, LncArena *arena, const char *dataset, LncStore **out)
{
	char folder[PATH_MAX];
	char path[2 * PATH_MAX];

	if (realpath(fixtures_folder(), folder) == NULL)
		return lnc_fail(ctx, LNC_NOT_FOUND, "no folder \"%s\"", fixtures_folder());
	snprintf(path, sizeof(path), "%s/data/%s", folder, dataset);
	return lnc_store_open(ctx, arena, path, &CONFIG, out);
}

/* What copying needs: both ends. */
typedef struct Copy
{
	LncStore *from;
	LncStore *to;
} Copy;

static LncCode
copy_object(LncContext *ctx, void *arg, const LncObject *object, bool *stop)
{
	Copy *copy = arg;
	LncArena *scratch = lnc_arena_create(ctx->env);
	LncSlice body;
	LncCode code;

	(void)stop;
	code = lnc_store_read_all(ctx, copy->from, scratch, object->key, UINT64_MAX, &body);
	if (code == LNC_OK)
		code = lnc_store_put(ctx, copy->to, object->key, body);
	lnc_arena_destroy(scratch);
	return code;
}

LncCode
fixtures_copy_to_memory(LncContext *ctx, LncArena *arena, LncStore *from, LncStore **out)
{
	Copy copy = {.from = from};
	uint64_t removed;

	LNC_TRY(lnc_store_open(ctx, arena, "memory://copy", &CONFIG, &copy.to));
	LNC_TRY(lnc_store_delete_prefix(ctx, copy.to, "", &removed));
	LNC_TRY(lnc_store_list(ctx, from, "", true, NULL, copy_object, &copy));
	*out = copy.to;
	return LNC_OK;
}

LncCode
fixtures_open_base(LncContext *ctx, void *arg, LncArena *arena, const char *uri, LncStore **out)
{
	(void)arg;
	if (strncmp(uri, BUCKET, strlen(BUCKET)) != 0)
		return lnc_fail(ctx, LNC_DENIED, "base path \"%s\" may not be read", uri);
	return fixtures_open_store(ctx, arena, uri + strlen(BUCKET), out);
}
