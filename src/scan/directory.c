/*
 * directory.c
 *	  Directories of tables: rows of the dataset "__manifest", and folders.
 */
#include "scan/directory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "scan/scan.h"

#define MAX_ENTRIES 1000000

static const char folder_suffix[] = ".lance";

/* The columns that matter, in the order in which they are scanned. */
enum
{
	COLUMN_ID,
	COLUMN_TYPE,
	COLUMN_LOCATION,
	COLUMN_METADATA,
	NCOLUMNS
};

static const char *const column_names[NCOLUMNS] = {"object_id", "object_type", "location", "metadata"};

typedef struct Reader
{
	LncArena *arena;
	LncDirectory *directory;
	size_t capacity;
	size_t nlocations;
	const char **locations; /* of rows, sorted */
} Reader;

static LncCode
add_entry(LncContext *ctx, Reader *reader, const LncDirectoryEntry *entry)
{
	LncDirectory *directory = reader->directory;

	if (directory->nentries == MAX_ENTRIES)
		return lnc_fail(ctx, LNC_LIMIT, "directory of tables has more than %d entries", MAX_ENTRIES);
	if (directory->nentries == reader->capacity)
	{
		size_t capacity = reader->capacity == 0 ? 64 : reader->capacity * 2;
		LncDirectoryEntry *grown;

		LNC_TRY(LNC_NEW(ctx, reader->arena, &grown, capacity));
		if (directory->nentries > 0)
			memcpy(grown, directory->entries, directory->nentries * sizeof(*grown));
		directory->entries = grown;
		reader->capacity = capacity;
	}
	directory->entries[directory->nentries++] = *entry;
	return LNC_OK;
}

/* ---- the dataset */

/* The value of an entry of the dataset's own metadata; NULL when it has none. */
static LncCode
table_metadata(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const char *key, char **out)
{
	*out = NULL;
	for (int32_t i = 0; i < dataset->ntable_metadata; i++)
	{
		const LncKeyValue *item = &dataset->table_metadata[i];

		if (strcmp(item->key, key) == 0)
			return lnc_arena_strndup(ctx, arena, (const char *)item->value.data, item->value.size, out);
	}
	return LNC_OK;
}

/* Refuse what later writers marked: features that change what the rows mean, and the directory's end. */
static LncCode
check_marks(LncContext *ctx, LncArena *arena, const LncDataset *dataset)
{
	static const uint64_t known_features = 1; /* the mark of a dropped directory, which is read here */
	char *features;
	char *dropped;
	char *end;
	uint64_t bits;

	LNC_TRY(table_metadata(ctx, arena, dataset, "lance.namespace.manifest.reader_feature_flags", &features));
	LNC_TRY(table_metadata(ctx, arena, dataset, "lance.namespace.manifest.deleted", &dropped));
	if (features != NULL)
	{
		errno = 0;
		bits = strtoull(features, &end, 10);
		if (features[0] < '0' || features[0] > '9' || *end != '\0' || errno != 0 || (bits & ~known_features) != 0)
			return lnc_fail(ctx, LNC_UNSUPPORTED, "directory of tables has features \"%.40s\" that are not known",
							features);
	}
	if (dropped != NULL && strcmp(dropped, "false") != 0)
		return lnc_fail(ctx, LNC_NOT_FOUND, "directory of tables was dropped");
	return LNC_OK;
}

/* Which columns of the dataset to scan; a missing location or metadata is -1. */
static LncCode
find_columns(LncContext *ctx, const LncDataset *dataset, int32_t *columns)
{
	for (int i = 0; i < NCOLUMNS; i++)
	{
		LncTypeKind kind;

		columns[i] = lnc_dataset_field(dataset, column_names[i]);
		if (columns[i] < 0)
		{
			if (i == COLUMN_ID || i == COLUMN_TYPE)
				return lnc_fail(ctx, LNC_CORRUPT, "directory of tables has no column \"%s\"", column_names[i]);
			continue;
		}
		kind = dataset->schema.fields[columns[i]].type.kind;
		if (kind != LNC_TYPE_UTF8 && kind != LNC_TYPE_LARGE_UTF8)
			return lnc_fail(ctx, LNC_CORRUPT, "column \"%s\" of a directory of tables is no text", column_names[i]);
	}
	return LNC_OK;
}

/* A copy of one value; NULL for NULL. */
static LncCode
copy_value(LncContext *ctx, Reader *reader, const LncColumn *column, int64_t row, const char *name,
		   const char **out)
{
	const uint8_t *text;
	size_t length;
	char *copy;

	*out = NULL;
	if (lnc_column_is_null(column, row))
		return LNC_OK;
	text = column->data + column->offsets[row];
	length = (size_t)(column->offsets[row + 1] - column->offsets[row]);
	if (!lnc_utf8_valid(text, length, NULL))
		return lnc_fail(ctx, LNC_CORRUPT, "column \"%s\" of a directory of tables holds what is no text", name);
	LNC_TRY(lnc_arena_strndup(ctx, reader->arena, (const char *)text, length, &copy));
	*out = copy;
	return LNC_OK;
}

static LncCode
add_row(LncContext *ctx, Reader *reader, const LncBatch *batch, const int *places, int64_t row)
{
	const char *values[NCOLUMNS] = {NULL};
	LncDirectoryEntry entry = {0};

	for (int i = 0; i < NCOLUMNS; i++)
	{
		if (places[i] >= 0)
			LNC_TRY(copy_value(ctx, reader, &batch->columns[places[i]], row, column_names[i], &values[i]));
	}
	if (values[COLUMN_ID] == NULL || values[COLUMN_TYPE] == NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "directory of tables has a row without id or type");
	entry.id = values[COLUMN_ID];
	entry.type = values[COLUMN_TYPE];
	entry.location = values[COLUMN_LOCATION];
	entry.metadata = values[COLUMN_METADATA];
	return add_entry(ctx, reader, &entry);
}

static LncCode
read_rows(LncContext *ctx, Reader *reader, const LncDataset *dataset)
{
	LncScanSpec spec = {0};
	int32_t columns[NCOLUMNS];
	int32_t scanned[NCOLUMNS];
	int places[NCOLUMNS]; /* where a batch has each column */
	const LncBatch *batch;
	LncScan *scan;

	LNC_TRY(find_columns(ctx, dataset, columns));
	for (int i = 0; i < NCOLUMNS; i++)
	{
		places[i] = columns[i] < 0 ? -1 : spec.ncolumns;
		if (columns[i] >= 0)
			scanned[spec.ncolumns++] = columns[i];
	}
	spec.columns = scanned;
	LNC_TRY(lnc_scan_open(ctx, reader->arena, dataset, &spec, &scan));
	for (;;)
	{
		LNC_TRY(lnc_scan_next(ctx, scan, &batch));
		if (batch == NULL)
			return LNC_OK;
		for (int64_t row = 0; row < batch->length; row++)
			LNC_TRY(add_row(ctx, reader, batch, places, row));
	}
}

static LncCode
read_manifest(LncContext *ctx, Reader *reader, LncStore *store)
{
	LncDatasetOptions options = {0};
	LncDataset *dataset;
	LncCode code = lnc_dataset_open(ctx, reader->arena, store, &options, &dataset);

	if (code == LNC_NOT_FOUND)
		return LNC_OK;
	LNC_TRY(code);
	reader->directory->has_manifest = true;
	LNC_TRY(check_marks(ctx, reader->arena, dataset));
	return read_rows(ctx, reader, dataset);
}

/* ---- folders */

static int
compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int
compare_entries(const void *a, const void *b)
{
	return strcmp(((const LncDirectoryEntry *)a)->location, ((const LncDirectoryEntry *)b)->location);
}

static LncCode
sort_locations(LncContext *ctx, Reader *reader)
{
	const LncDirectory *directory = reader->directory;

	LNC_TRY(LNC_NEW(ctx, reader->arena, &reader->locations, directory->nentries + 1));
	for (size_t i = 0; i < directory->nentries; i++)
	{
		if (directory->entries[i].location != NULL)
			reader->locations[reader->nlocations++] = directory->entries[i].location;
	}
	qsort(reader->locations, reader->nlocations, sizeof(*reader->locations), compare_texts);
	return LNC_OK;
}

static LncCode
add_folder(LncContext *ctx, void *arg, const char *folder, bool *stop)
{
	Reader *reader = arg;
	LncDirectoryEntry entry = {.plain = true, .type = "table"};
	size_t length = strlen(folder);
	char *name;
	char *location;

	(void)stop;
	if (length < sizeof(folder_suffix) ||
		strcmp(folder + length - (sizeof(folder_suffix) - 1), folder_suffix) != 0 ||
		!lnc_utf8_valid((const uint8_t *)folder, length, NULL))
		return LNC_OK;
	if (bsearch(&folder, reader->locations, reader->nlocations, sizeof(*reader->locations), compare_texts) != NULL)
		return LNC_OK;
	LNC_TRY(lnc_arena_strndup(ctx, reader->arena, folder, length, &location));
	LNC_TRY(lnc_arena_strndup(ctx, reader->arena, folder, length - (sizeof(folder_suffix) - 1), &name));
	entry.location = location;
	entry.id = name;
	return add_entry(ctx, reader, &entry);
}

static LncCode
mark_deregistered(LncContext *ctx, LncArena *arena, LncStore *root, size_t n, LncDirectoryEntry *entries)
{
	const char **keys;
	bool *present;

	LNC_TRY(LNC_NEW(ctx, arena, &keys, n));
	LNC_TRY(LNC_NEW(ctx, arena, &present, n));
	for (size_t i = 0; i < n; i++)
	{
		char *key;

		LNC_TRY(lnc_arena_printf(ctx, arena, &key, "%s/.lance-deregistered", entries[i].location));
		keys[i] = key;
	}
	LNC_TRY(lnc_store_present(ctx, root, n, keys, present));
	for (size_t i = 0; i < n; i++)
		entries[i].deregistered = present[i];
	return LNC_OK;
}

LncCode
lnc_directory_read(LncContext *ctx, LncArena *arena, LncStore *root, LncStore *manifest, LncDirectory *out)
{
	Reader reader = {.arena = arena, .directory = out};
	LncDirectoryEntry *plain;
	size_t nrows;

	memset(out, 0, sizeof(*out));
	LNC_TRY(read_manifest(ctx, &reader, manifest));
	LNC_TRY(sort_locations(ctx, &reader));
	nrows = out->nentries;
	LNC_TRY(lnc_store_list_folders(ctx, root, "", add_folder, &reader));
	if (out->nentries == nrows)
		return LNC_OK;
	plain = out->entries + nrows;
	qsort(plain, out->nentries - nrows, sizeof(*plain), compare_entries);
	return mark_deregistered(ctx, arena, root, out->nentries - nrows, plain);
}
