/*
 * fixtures.h
 *	  The folder of fixtures: its index, files, and stores over its datasets.
 */
#ifndef TEST_FIXTURES_H
#define TEST_FIXTURES_H

#include <cjson/cJSON.h>

#include "dataset/dataset.h"

/* The folder: LANCE_FIXTURES, else "test/data/fixtures". */
extern const char *fixtures_folder(void);

/* index.json, parsed; an array. Aborts when it is missing or broken. Free with cJSON_Delete. */
extern cJSON *fixtures_index(void);

/* A whole file below the folder's "data", NUL-terminated; NULL when there is none. Free it. */
extern char *fixtures_read(const char *name, size_t *size);

/* A local store over the dataset "NAME.lance" below "data". */
extern LncCode fixtures_open_store(LncContext *ctx, LncArena *arena, const char *dataset,
								   LncStore **out) LNC_MUST_CHECK;

/* The memory store "copy" with the objects of another, and no others. */
extern LncCode fixtures_copy_to_memory(LncContext *ctx, LncArena *arena, LncStore *from,
									   LncStore **out) LNC_MUST_CHECK;

/* For LncDatasetOptions.open_base: "s3://lance-fixtures/X" is the folder X below "data"; others are refused. */
extern LncCode fixtures_open_base(LncContext *ctx, void *arg, LncArena *arena, const char *uri, LncStore **out);

#endif
