/*
 * deletion.c
 *	  Reading deletion files of both kinds into ranges of rows.
 */
#include "dataset/deletion.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/ipc.h"

#define LARGEST_FILE (UINT64_C(1) << 30)

/* Distinct 32-bit numbers do not compress further than this. */
#define LARGEST_RATIO 64

static int
compare_offsets(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* Ascending offsets to ranges. */
static LncCode
make_ranges(LncContext *ctx, LncArena *arena, uint64_t count, const uint32_t *offsets, LncDeletions *out)
{
	LncRoaringRange *ranges;
	size_t nranges = 0;

	for (uint64_t i = 0; i < count; i++)
	{
		if (i > 0 && offsets[i] == offsets[i - 1])
			return lnc_fail(ctx, LNC_CORRUPT, "row %" PRIu32 " is listed twice as deleted", offsets[i]);
		if (i == 0 || offsets[i] != offsets[i - 1] + 1)
			nranges++;
	}
	LNC_TRY(LNC_NEW(ctx, arena, &ranges, nranges));
	out->count = count;
	out->nranges = 0;
	out->ranges = ranges;
	for (uint64_t i = 0; i < count; i++)
	{
		if (i == 0 || offsets[i] != offsets[i - 1] + 1)
			ranges[out->nranges++].first = offsets[i];
		ranges[out->nranges - 1].last = offsets[i];
	}
	return LNC_OK;
}

/* A ".arrow" file: one column of uint32, unordered, no NULL. */
static LncCode
read_arrow(LncContext *ctx, LncArena *arena, LncArena *scratch, const LncFragment *fragment, LncSlice bytes,
		   LncDeletions *out)
{
	LncSchema schema;
	LncBatch *batches;
	size_t nbatches;
	uint64_t count = 0;
	uint64_t n = 0;
	uint32_t *offsets;

	LNC_TRY(lnc_ipc_read(ctx, scratch, bytes, (bytes.size + 1024) * LARGEST_RATIO, &schema, &nbatches, &batches));
	if (schema.nfields != 1 || schema.fields[0].type.kind != LNC_TYPE_UINT32)
		return lnc_fail(ctx, LNC_CORRUPT, "deletion file does not hold one column of uint32");
	for (size_t i = 0; i < nbatches; i++)
		count += (uint64_t)batches[i].length;
	if (count > fragment->physical_rows)
		return lnc_fail(ctx, LNC_CORRUPT, "deletion file lists %" PRIu64 " rows of a fragment of %" PRIu64, count,
						fragment->physical_rows);
	LNC_TRY(LNC_NEW(ctx, scratch, &offsets, count));
	for (size_t i = 0; i < nbatches; i++)
	{
		const LncColumn *column = &batches[i].columns[0];

		for (int64_t row = 0; row < column->length; row++)
		{
			if (lnc_column_is_null(column, row))
				return lnc_fail(ctx, LNC_CORRUPT, "deletion file holds a NULL");
			offsets[n++] = ((const uint32_t *)column->values)[row];
		}
	}
	if (count > 1)
		qsort(offsets, count, sizeof(*offsets), compare_offsets);
	return make_ranges(ctx, arena, count, offsets, out);
}

/* A ".bin" file: a Roaring bitmap and nothing else. */
static LncCode
read_bitmap(LncContext *ctx, LncArena *arena, LncSlice bytes, LncDeletions *out)
{
	LncRoaringRange *ranges;

	LNC_TRY(lnc_roaring_ranges(ctx, arena, bytes, &out->nranges, &ranges, &out->count));
	out->ranges = ranges;
	return LNC_OK;
}

/* What holds for both kinds. */
static LncCode
check_deletions(LncContext *ctx, const LncFragment *fragment, const LncDeletions *deletions)
{
	if (deletions->nranges > 0 && deletions->ranges[deletions->nranges - 1].last >= fragment->physical_rows)
		return lnc_fail(ctx, LNC_CORRUPT, "row %" PRIu32 " of a fragment of %" PRIu64 " rows is said to be deleted",
						deletions->ranges[deletions->nranges - 1].last, fragment->physical_rows);
	if (fragment->deleted_rows != 0 && deletions->count != fragment->deleted_rows)
		return lnc_fail(ctx, LNC_CORRUPT, "deletion file lists %" PRIu64 " rows where the manifest says %" PRIu64,
						deletions->count, fragment->deleted_rows);
	return LNC_OK;
}

static LncCode
read_file(LncContext *ctx, LncArena *arena, LncArena *scratch, const LncDataset *dataset,
		  const LncFragment *fragment, LncDeletions *out)
{
	bool is_arrow = fragment->deletion_kind == LNC_DELETION_ARROW;
	LncStore *store;
	LncSlice bytes;
	char *name;
	char *key;
	LncCode code;

	LNC_TRY(lnc_arena_printf(ctx, scratch, &name, "%" PRIu64 "-%" PRIu64 "-%" PRIu64 ".%s", fragment->id,
							 fragment->deletion_read_version, fragment->deletion_id, is_arrow ? "arrow" : "bin"));
	LNC_TRY(lnc_dataset_locate(ctx, scratch, dataset, fragment->deletion_has_base, fragment->deletion_base_id,
							   "_deletions", name, &store, &key));
	LNC_TRY(lnc_store_read_all(ctx, store, scratch, key, LARGEST_FILE, &bytes));
	code = is_arrow ? read_arrow(ctx, arena, scratch, fragment, bytes, out) : read_bitmap(ctx, arena, bytes, out);
	if (code == LNC_OK)
		code = check_deletions(ctx, fragment, out);
	if (code != LNC_OK && code != LNC_CANCELLED)
		lnc_detail(ctx, "Deletion file \"%s\" of \"%s\", fragment %" PRIu64 ".", key, lnc_store_uri(store),
				   fragment->id);
	return code;
}

LncCode
lnc_deletion_read(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncFragment *fragment,
				  LncDeletions *out)
{
	LncArena *scratch;
	LncCode code;

	memset(out, 0, sizeof(*out));
	if (fragment->deletion_kind == LNC_DELETION_NONE)
		return LNC_OK;
	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = read_file(ctx, arena, scratch, dataset, fragment, out);
	lnc_arena_destroy(scratch);
	return code;
}
