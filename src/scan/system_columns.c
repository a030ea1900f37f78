/*
 * system_columns.c
 *	  Making row ids, row addresses and row versions for batches.
 */
#include "scan/system_columns.h"

#include <string.h>

#include "dataset/row_ids.h"

static const LncType uint64_type = {.kind = LNC_TYPE_UINT64};

static const char *const names[LNC_SYSTEM_COLUMNS] = {"_rowid", "_rowaddr", "_row_created_at_version",
													  "_row_last_updated_at_version"};

struct LncSystemSource
{
	const LncFragment *fragment; /* borrowed */
	uint32_t columns;
	LncRowIds *ids;
	LncVersionRuns created;
	LncVersionRuns updated;
};

uint32_t
lnc_system_column(const char *name)
{
	for (int i = 0; i < LNC_SYSTEM_COLUMNS; i++)
	{
		if (strcmp(names[i], name) == 0)
			return 1u << i;
	}
	return 0;
}

const char *
lnc_system_column_name(uint32_t member)
{
	return names[__builtin_ctz(member)];
}

LncCode
lnc_system_source_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncFragment *fragment,
					   uint32_t columns, LncSystemSource **out)
{
	LncSystemSource *source;

	LNC_TRY(LNC_NEW(ctx, arena, &source, 1));
	source->fragment = fragment;
	source->columns = columns;
	if (columns & LNC_SYSTEM_ROW_ID)
		LNC_TRY(lnc_row_ids_open(ctx, arena, dataset, fragment, &source->ids));
	if (columns & LNC_SYSTEM_ROW_CREATED_AT_VERSION)
		LNC_TRY(lnc_row_versions_open(ctx, arena, dataset, fragment, LNC_ROW_CREATED, &source->created));
	if (columns & LNC_SYSTEM_ROW_LAST_UPDATED_AT_VERSION)
		LNC_TRY(lnc_row_versions_open(ctx, arena, dataset, fragment, LNC_ROW_LAST_UPDATED, &source->updated));
	*out = source;
	return LNC_OK;
}

static void
fill(const LncSystemSource *source, uint32_t member, uint64_t first, uint64_t count, uint64_t *out)
{
	switch (member)
	{
		case LNC_SYSTEM_ROW_ID:
			lnc_row_ids_fill(source->ids, first, count, out);
			break;
		case LNC_SYSTEM_ROW_ADDRESS:
			for (uint64_t i = 0; i < count; i++)
				out[i] = lnc_row_address(source->fragment, first + i);
			break;
		case LNC_SYSTEM_ROW_CREATED_AT_VERSION:
			lnc_row_versions_fill(&source->created, first, count, out);
			break;
		default:
			lnc_row_versions_fill(&source->updated, first, count, out);
			break;
	}
}

static LncColumn
make_column(const uint64_t *values, int64_t length)
{
	return (LncColumn){.type = &uint64_type, .length = length, .values = values};
}

LncCode
lnc_system_source_read(LncContext *ctx, LncArena *arena, const LncSystemSource *source, uint64_t first,
					   uint64_t count, int64_t live, const int64_t *indices, LncColumn *out)
{
	for (uint32_t member = 1; member < LNC_SYSTEM_ALL; member <<= 1)
	{
		uint64_t *values;

		if (!(source->columns & member))
			continue;
		LNC_TRY(LNC_NEW(ctx, arena, &values, count));
		fill(source, member, first, count, values);
		for (int64_t i = 0; indices != NULL && i < live; i++)
			values[i] = values[indices[i]];
		*out++ = make_column(values, live);
	}
	return LNC_OK;
}

LncCode
lnc_system_source_take(LncContext *ctx, LncArena *arena, const LncSystemSource *source, int64_t count,
					   const uint64_t *offsets, LncColumn *out)
{
	for (uint32_t member = 1; member < LNC_SYSTEM_ALL; member <<= 1)
	{
		uint64_t *values;

		if (!(source->columns & member))
			continue;
		LNC_TRY(LNC_NEW(ctx, arena, &values, count));
		for (int64_t i = 0; i < count; i++)
			fill(source, member, offsets[i], 1, &values[i]);
		*out++ = make_column(values, count);
	}
	return LNC_OK;
}
