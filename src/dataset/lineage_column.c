/*
 * lineage_column.c
 *	  Hidden columns of row ids and row versions.
 */
#include "dataset/lineage_column.h"

#include <inttypes.h>
#include <string.h>

#include "base/bitmap.h"
#include "format/field_reader.h"

/* Rows read at a time. */
#define BLOCK_ROWS ((uint64_t)65536)

#define MAX_BYTES ((uint64_t)1 << 30)

/* The one data file that lists the field. */
static LncCode
find_file(LncContext *ctx, const LncFragment *fragment, const LncField *field, const LncDataFile **out)
{
	*out = NULL;
	for (int32_t i = 0; i < fragment->nfiles; i++)
	{
		const LncDataFile *file = &fragment->files[i];
		LncFieldMap map = {file->nfields, file->field_ids, file->columns};

		if (file->columns == NULL || !lnc_field_map_holds(&map, field))
			continue;
		if (*out != NULL)
			return lnc_fail(ctx, LNC_CORRUPT, "hidden field %d is stored twice", (int)field->id);
		*out = file;
	}
	if (*out == NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "no data file has hidden field %d", (int)field->id);
	return LNC_OK;
}

static LncCode
read_rows(LncContext *ctx, LncArena *arena, LncArena *scratch, const LncDataset *dataset,
		  const LncFragment *fragment, const LncField *field, uint64_t **out)
{
	const LncDataFile *data_file;
	LncFieldMap map;
	LncFieldReader *reader;
	LncArena *block;
	LncStore *store;
	LncFile *file;
	char *key;

	LNC_TRY(find_file(ctx, fragment, field, &data_file));
	map = (LncFieldMap){data_file->nfields, data_file->field_ids, data_file->columns};
	LNC_TRY(lnc_dataset_locate(ctx, scratch, dataset, data_file->has_base, data_file->base_id, "data",
							   data_file->path, &store, &key));
	LNC_TRY(lnc_file_open(ctx, scratch, store, key, data_file->size, &file));
	LNC_TRY(lnc_field_reader_open(ctx, scratch, file, field, &map, fragment->physical_rows, &reader));

	/* Only now is it known that the file has so many rows. */
	if (fragment->physical_rows > MAX_BYTES / sizeof(**out))
		return lnc_fail(ctx, LNC_LIMIT, "hidden field %d has %" PRIu64 " rows, which are too many", (int)field->id,
						fragment->physical_rows);
	LNC_TRY(LNC_NEW(ctx, arena, out, fragment->physical_rows));
	LNC_TRY(lnc_arena_create_child(ctx, scratch, &block));
	for (uint64_t first = 0; first < fragment->physical_rows; first += BLOCK_ROWS)
	{
		uint64_t left = fragment->physical_rows - first;
		uint64_t count = left < BLOCK_ROWS ? left : BLOCK_ROWS;
		LncColumn column;

		lnc_arena_reset(block);
		LNC_TRY(lnc_field_reader_read(ctx, reader, block, first, count, &column));
		if (column.validity != NULL && lnc_bits_count(column.validity, 0, count) < count)
			return lnc_fail(ctx, LNC_CORRUPT, "hidden field %d has no value in some row", (int)field->id);
		memcpy(*out + first, column.values, count * sizeof(**out));
	}
	return LNC_OK;
}

LncCode
lnc_lineage_column_read(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncFragment *fragment,
						int32_t field_id, uint64_t **out)
{
	LncField field = {
		.id = field_id,
		.parent_id = -1,
		.name = field_id == LNC_FIELD_ROW_IDS            ? "_rowid"
				: field_id == LNC_FIELD_CREATED_VERSIONS ? "_row_created_at_version"
														 : "_row_last_updated_at_version",
		.type = {.kind = LNC_TYPE_UINT64, .logical = "uint64"},
	};
	LncBudget kept = {0};
	LncArena *scratch;
	LncCode code;

	LNC_TRY(lnc_arena_create_child(ctx, arena, &scratch));

	/* All of the fragment's rows are read, so the limit of a batch is not for them. */
	if (ctx->budget != NULL)
	{
		kept = *ctx->budget;
		ctx->budget->limit = SIZE_MAX;
	}
	code = read_rows(ctx, arena, scratch, dataset, fragment, &field, out);
	lnc_arena_reset(scratch);
	if (ctx->budget != NULL)
	{
		ctx->budget->limit = kept.limit;
		ctx->budget->limited_peak = kept.limited_peak;
	}
	return code;
}
