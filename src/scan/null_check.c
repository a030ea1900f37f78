/*
 * null_check.c
 *	  Looking for a NULL in a column.
 */
#include "scan/null_check.h"

#include "scan/scan.h"

/* Is the field NULL in a row in which nothing around it is? column is that of path's first field. */
static bool
is_null(const LncColumn *column, const LncFieldPath *path, int64_t row)
{
	for (int32_t i = 1; i < path->depth; i++)
	{
		if (lnc_column_is_null(column, row))
			return false;
		column = &column->children[path->fields[i] - path->fields[i - 1]->type.children];
	}
	return lnc_column_is_null(column, row);
}

static LncCode
search(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncFieldPath *path, bool *out)
{
	int32_t column = (int32_t)(path->fields[0] - dataset->schema.fields);
	LncScanSpec spec = {.ncolumns = 1, .columns = &column};
	const LncBatch *batch;
	LncScan *scan;

	LNC_TRY(lnc_scan_open(ctx, arena, dataset, &spec, &scan));
	for (;;)
	{
		LNC_TRY(lnc_scan_next(ctx, scan, &batch));
		if (batch == NULL)
			return LNC_OK;
		for (int64_t row = 0; row < batch->length; row++)
		{
			if (is_null(&batch->columns[0], path, row))
			{
				*out = true;
				return LNC_OK;
			}
		}
	}
}

LncCode
lnc_scan_has_null(LncContext *ctx, const LncDataset *dataset, const LncFieldPath *path, bool *out)
{
	LncArena *arena;
	LncCode code;

	*out = false;
	for (int32_t i = 0; i < path->depth - 1; i++)
	{
		if (path->fields[i]->type.kind != LNC_TYPE_STRUCT)
			return lnc_fail(ctx, LNC_UNSUPPORTED, "looking for NULL inside of column \"%s\" is not supported",
							path->fields[0]->name);
	}
	LNC_TRY(lnc_arena_create_scratch(ctx, &arena));
	code = search(ctx, arena, dataset, path, out);
	lnc_arena_destroy(arena);
	return code;
}
