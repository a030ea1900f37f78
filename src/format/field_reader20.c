/*
 * field_reader20.c
 *	  Fields of files of version 2.0.
 */
#include "format/field_reader20.h"

#include <inttypes.h>

struct LncFieldReader20
{
	LncColumnReader *column;
};

LncCode
lnc_field_reader20_open(LncContext *ctx, LncArena *arena, LncFile *file, const LncField *field,
						const LncFieldMap *map, uint64_t nrows, LncFieldReader20 **out)
{
	LncFieldReader20 *reader;
	int32_t column;
	uint64_t rows;

	if (!lnc_field_is_leaf(field) || field->packed || field->type.kind == LNC_TYPE_STRUCT ||
		field->type.kind == LNC_TYPE_DICTIONARY)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "nested column \"%s\" of file version 2.0 is not read", field->name);
	LNC_TRY(lnc_field_map_find(ctx, map, field, &column));
	if (column < 0)
		return lnc_fail(ctx, LNC_INVALID, "field \"%s\" is not in the file", field->name);
	LNC_TRY(lnc_file_column_rows(ctx, file, (uint32_t)column, &rows));
	if (rows != nrows)
		return lnc_fail(ctx, LNC_CORRUPT, "column has %" PRIu64 " rows where the fragment has %" PRIu64, rows,
						nrows);
	LNC_TRY(LNC_NEW(ctx, arena, &reader, 1));
	LNC_TRY(lnc_column_reader_open(ctx, arena, file, (uint32_t)column, &field, 1, &reader->column));
	*out = reader;
	return LNC_OK;
}

LncCode
lnc_field_reader20_read(LncContext *ctx, LncFieldReader20 *reader, LncArena *arena, uint64_t first, uint64_t count,
						LncColumn *out)
{
	return lnc_column_reader_read(ctx, reader->column, arena, first, count, out);
}
