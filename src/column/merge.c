/*
 * merge.c
 *	  Merging column trees, filling what is absent.
 */
#include "column/merge.h"

#include <string.h>

LncCode
lnc_column_merge(LncContext *ctx, LncColumn *into, const LncColumn *part)
{
	if (into->type != part->type)
		return lnc_fail(ctx, LNC_INVALID, "columns to merge have two types");
	if (into->length != part->length)
		return lnc_fail(ctx, LNC_CORRUPT, "parts of one column have %lld and %lld values", (long long)into->length,
						(long long)part->length);
	if (part->absent)
		return LNC_OK;
	if (into->absent)
	{
		*into = *part;
		return LNC_OK;
	}
	if (into->nchildren == 0 || into->nchildren != part->nchildren)
		return lnc_fail(ctx, LNC_CORRUPT, "a part of a column is stored twice");
	if (into->offsets != NULL &&
		memcmp(into->offsets, part->offsets, (size_t)(into->length + 1) * sizeof(*into->offsets)) != 0)
		return lnc_fail(ctx, LNC_CORRUPT, "parts of one column have different lists");
	for (int32_t i = 0; i < into->nchildren; i++)
		LNC_TRY(lnc_column_merge(ctx, &into->children[i], &part->children[i]));
	return LNC_OK;
}

LncCode
lnc_column_fill_absent(LncContext *ctx, LncArena *arena, LncColumn *column)
{
	if (column->absent)
		return lnc_column_nulls(ctx, arena, column->type, column->length, column);
	for (int32_t i = 0; i < column->nchildren; i++)
		LNC_TRY(lnc_column_fill_absent(ctx, arena, &column->children[i]));
	return LNC_OK;
}
