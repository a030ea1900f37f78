/*
 * field_reader.c
 *	  Fields as column trees: which file columns they take, and one tree out of the spines of several leaves.
 */
#include "format/field_reader.h"

#include <inttypes.h>

#include "column/merge.h"
#include "format/field_reader20.h"

struct LncFieldReader
{
	LncFieldReader20 *reader20; /* version 2.0; else NULL, and the leaves are used */
	int32_t nleaves;
	LncColumnReader **leaves; /* array of nleaves, the stored ones in schema order */
};

bool
lnc_field_is_leaf(const LncField *field)
{
	const LncType *item = &field->type;

	switch (field->type.kind)
	{
		case LNC_TYPE_STRUCT:
			return field->packed || field->type.nchildren == 0;
		case LNC_TYPE_LIST:
		case LNC_TYPE_LARGE_LIST:
		case LNC_TYPE_MAP:
			return false;
		case LNC_TYPE_FIXED_LIST:
			while (item->kind == LNC_TYPE_FIXED_LIST && item->nchildren == 1)
				item = &item->children[0].type;
			return lnc_type_is_fixed(item) || item->kind == LNC_TYPE_NULL;
		default:
			return true;
	}
}

/* ---- types ---- */

static bool
is_read(const LncField *field)
{
	const LncType *type = &field->type;

	switch (type->kind)
	{
		case LNC_TYPE_NULL:
		case LNC_TYPE_BLOB:
		case LNC_TYPE_BLOB_V2:
			return true;
		case LNC_TYPE_DICTIONARY:
			return type->nchildren == 1 && is_read(&type->children[0]);
		case LNC_TYPE_LIST:
		case LNC_TYPE_LARGE_LIST:
		case LNC_TYPE_MAP:
			return type->nchildren == 1 && is_read(&type->children[0]);
		case LNC_TYPE_FIXED_LIST:
			return lnc_type_is_fixed(type) || (type->nchildren == 1 && is_read(&type->children[0]));
		case LNC_TYPE_STRUCT:
			for (int32_t i = 0; i < type->nchildren; i++)
				if (!is_read(&type->children[i]))
					return false;
			return !field->blob;
		default:
			return !field->blob && (lnc_type_is_fixed(type) || lnc_type_is_variable(type));
	}
}

LncCode
lnc_field_check(LncContext *ctx, LncArena *arena, const LncField *field)
{
	char *name;

	if (is_read(field))
		return LNC_OK;
	LNC_TRY(lnc_type_name(ctx, arena, &field->type, &name));
	return lnc_fail(ctx, LNC_UNSUPPORTED, "reading column \"%s\" of type %s%s is not supported", field->name,
					field->packed ? "packed " : "", name);
}

/* ---- maps ---- */

static bool
map_lists(const LncFieldMap *map, int32_t id)
{
	for (int32_t i = 0; i < map->count; i++)
		if (map->field_ids[i] == id)
			return true;
	return false;
}

bool
lnc_field_map_holds(const LncFieldMap *map, const LncField *field)
{
	if (map_lists(map, field->id))
		return true;
	if (lnc_field_is_leaf(field))
		return false;
	for (int32_t i = 0; i < field->type.nchildren; i++)
		if (lnc_field_map_holds(map, &field->type.children[i]))
			return true;
	return false;
}

LncCode
lnc_field_map_find(LncContext *ctx, const LncFieldMap *map, const LncField *field, int32_t *column)
{
	bool found = false;

	*column = -1;
	for (int32_t i = 0; i < map->count; i++)
	{
		if (map->field_ids[i] != field->id)
			continue;
		if (found)
			return lnc_fail(ctx, LNC_CORRUPT, "field %d is stored twice", (int)field->id);
		found = true;
		*column = map->columns[i];
	}
	if (found && *column < 0)
		return lnc_fail(ctx, LNC_CORRUPT, "manifest names column %d of a file for field %d", (int)*column,
						(int)field->id);
	return LNC_OK;
}

/* ---- leaves ---- */

/* Fields nest no deeper than a schema may. */
#define MAX_PATH 80

/* Room for the path to a leaf while the tree is walked. */
typedef struct Walk
{
	LncArena *arena;
	LncFile *file;
	const LncFieldMap *map;
	uint64_t nrows;
	int32_t depth;
	const LncField *path[MAX_PATH];
} Walk;

static int32_t
count_leaves(const LncField *field)
{
	int32_t n = 0;

	if (lnc_field_is_leaf(field))
		return 1;
	for (int32_t i = 0; i < field->type.nchildren; i++)
		n += count_leaves(&field->type.children[i]);
	return n;
}

static LncCode
open_leaf(LncContext *ctx, Walk *walk, LncFieldReader *reader)
{
	const LncField *field = walk->path[walk->depth - 1];
	int32_t column;
	uint64_t rows;

	LNC_TRY(lnc_field_map_find(ctx, walk->map, field, &column));
	if (column < 0)
		return LNC_OK;
	if ((uint32_t)column >= lnc_file_ncolumns(walk->file))
		return lnc_fail(ctx, LNC_CORRUPT, "manifest names column %d of a file with %" PRIu32 " columns",
						(int)column, lnc_file_ncolumns(walk->file));
	LNC_TRY(lnc_column_reader_open(ctx, walk->arena, walk->file, (uint32_t)column, walk->path, walk->depth,
								   &reader->leaves[reader->nleaves]));
	rows = lnc_column_reader_rows(reader->leaves[reader->nleaves++]);
	if (rows != walk->nrows)
		return lnc_fail(ctx, LNC_CORRUPT, "column has %" PRIu64 " rows where the fragment has %" PRIu64, rows,
						walk->nrows);
	return LNC_OK;
}

/* Open the stored leaves of field and below. */
static LncCode
open_leaves(LncContext *ctx, Walk *walk, const LncField *field, LncFieldReader *reader)
{
	if (walk->depth == MAX_PATH)
		return lnc_fail(ctx, LNC_LIMIT, "columns nested deeper than %d levels are not read", MAX_PATH);
	walk->path[walk->depth++] = field;
	if (lnc_field_is_leaf(field))
		LNC_TRY(open_leaf(ctx, walk, reader));
	else
		for (int32_t i = 0; i < field->type.nchildren; i++)
			LNC_TRY(open_leaves(ctx, walk, &field->type.children[i], reader));
	walk->depth--;
	return LNC_OK;
}

LncCode
lnc_field_reader_open(LncContext *ctx, LncArena *arena, LncFile *file, const LncField *field,
					  const LncFieldMap *map, uint64_t nrows, LncFieldReader **out)
{
	LncFieldReader *reader;
	Walk walk = {.arena = arena, .file = file, .map = map, .nrows = nrows};

	LNC_TRY(LNC_NEW(ctx, arena, &reader, 1));
	*out = reader;
	if (lnc_file_minor(file) == 0)
		return lnc_field_reader20_open(ctx, arena, file, field, map, nrows, &reader->reader20);
	LNC_TRY(LNC_NEW(ctx, arena, &reader->leaves, count_leaves(field)));
	LNC_TRY(open_leaves(ctx, &walk, field, reader));
	if (reader->nleaves == 0)
		return lnc_fail(ctx, LNC_CORRUPT, "the data file lists field \"%s\" without a leaf of it", field->name);
	return LNC_OK;
}

void
lnc_field_reader_nulls_only(LncFieldReader *reader)
{
	for (int32_t i = 0; i < reader->nleaves; i++)
		lnc_column_reader_nulls_only(reader->leaves[i]);
}

LncCode
lnc_field_reader_read(LncContext *ctx, LncFieldReader *reader, LncArena *arena, uint64_t first, uint64_t count,
					  LncColumn *out)
{
	if (reader->reader20 != NULL)
		return lnc_field_reader20_read(ctx, reader->reader20, arena, first, count, out);
	LNC_TRY(lnc_column_reader_read(ctx, reader->leaves[0], arena, first, count, out));
	for (int32_t i = 1; i < reader->nleaves; i++)
	{
		LncColumn part;

		LNC_TRY(lnc_column_reader_read(ctx, reader->leaves[i], arena, first, count, &part));
		LNC_TRY(lnc_column_merge(ctx, out, &part));
	}
	return LNC_OK;
}

LncCode
lnc_field_reader_read_some(LncContext *ctx, LncFieldReader *reader, LncArena *arena, uint64_t first, uint64_t count,
						   const int64_t *rows, LncColumn *out)
{
	if (reader->reader20 != NULL)
		return lnc_field_reader20_read_some(ctx, reader->reader20, arena, first, count, rows, out);
	LNC_TRY(lnc_column_reader_read_some(ctx, reader->leaves[0], arena, first, count, rows, out));
	for (int32_t i = 1; i < reader->nleaves; i++)
	{
		LncColumn part;

		LNC_TRY(lnc_column_reader_read_some(ctx, reader->leaves[i], arena, first, count, rows, &part));
		LNC_TRY(lnc_column_merge(ctx, out, &part));
	}
	return LNC_OK;
}

LncCode
lnc_field_reader_take(LncContext *ctx, LncFieldReader *reader, LncArena *arena, size_t nruns, const LncRowRun *runs,
					  uint64_t count, LncColumn *out)
{
	if (reader->reader20 != NULL)
		return lnc_field_reader20_take(ctx, reader->reader20, arena, nruns, runs, count, out);
	LNC_TRY(lnc_column_reader_take(ctx, reader->leaves[0], arena, nruns, runs, out));
	for (int32_t i = 1; i < reader->nleaves; i++)
	{
		LncColumn part;

		LNC_TRY(lnc_column_reader_take(ctx, reader->leaves[i], arena, nruns, runs, &part));
		LNC_TRY(lnc_column_merge(ctx, out, &part));
	}
	return LNC_OK;
}
