/*
 * row_ids.c
 *	  Sequences of row ids and row versions: checked once, then read by offset or by value.
 */
#include "dataset/row_ids.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bitmap.h"
#include "dataset/lineage_column.h"
#include "dataset/live_rows.h"
#include "dataset/row_segment.h"
#include "proto/row_ids.pb-c.h"
#include "proto/unpack.h"

struct LncRowIds
{
	size_t nsegments;
	LncRowSegment *segments;
};

/* Name the place of the error just recorded. */
static LncCode
blame(LncContext *ctx, LncCode code, const LncDataset *dataset, const LncFragment *fragment)
{
	if (code != LNC_OK && code != LNC_CANCELLED && code != LNC_NO_MEMORY)
		lnc_detail(ctx, "Fragment %" PRIu64 " of manifest \"%s\" of \"%s\".", fragment->id, dataset->manifest_key,
				   lnc_store_uri(dataset->store));
	return code;
}

/* ---- ids by offset */

/* The segments of a stored sequence; unpacked goes to arena, as the segments borrow from it. */
static LncCode
open_sequence(LncContext *ctx, LncArena *arena, const LncFragment *fragment, LncRowIds *ids)
{
	ProtobufCMessage *unpacked;
	const Lance__Table__RowIdSequence *message;
	uint64_t rows = 0;

	if (fragment->row_ids.data == NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "a fragment has no row ids although the dataset has stable ones");
	LNC_TRY(lnc_proto_unpack(ctx, arena, &lance__table__row_id_sequence__descriptor, fragment->row_ids,
							 "row id sequence", &unpacked));
	message = (const Lance__Table__RowIdSequence *)unpacked;
	LNC_TRY(LNC_NEW(ctx, arena, &ids->segments, message->n_segments));
	for (size_t i = 0; i < message->n_segments; i++)
	{
		LncRowSegment *segment = &ids->segments[ids->nsegments];

		LNC_TRY(lnc_check_interrupt(ctx));
		LNC_TRY(lnc_row_segment_open(ctx, arena, message->segments[i], segment));
		if (segment->count == 0)
			continue;
		segment->first_row = rows;
		if (lnc_add_overflow(rows, segment->count, &rows))
			return lnc_fail(ctx, LNC_CORRUPT, "row id sequence is too long");
		ids->nsegments++;
	}
	if (rows != fragment->physical_rows)
		return lnc_fail(ctx, LNC_CORRUPT, "a fragment of %" PRIu64 " rows has %" PRIu64 " row ids",
						fragment->physical_rows, rows);
	return LNC_OK;
}

/* The ids out of the hidden column, as one segment. */
static LncCode
open_column(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncFragment *fragment,
			LncRowIds *ids)
{
	uint64_t *values;

	LNC_TRY(lnc_lineage_column_read(ctx, arena, dataset, fragment, LNC_FIELD_ROW_IDS, &values));
	if (fragment->physical_rows == 0)
		return LNC_OK;
	LNC_TRY(LNC_NEW(ctx, arena, &ids->segments, 1));
	ids->nsegments = 1;
	lnc_row_segment_of_values(values, fragment->physical_rows, &ids->segments[0]);
	return LNC_OK;
}

LncCode
lnc_row_ids_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncFragment *fragment,
				 LncRowIds **out)
{
	LncRowIds *ids;

	LNC_TRY(LNC_NEW(ctx, arena, &ids, 1));
	if (dataset->stable_row_ids && fragment->row_ids_in_column)
		LNC_TRY(blame(ctx, open_column(ctx, arena, dataset, fragment, ids), dataset, fragment));
	else if (dataset->stable_row_ids)
		LNC_TRY(blame(ctx, open_sequence(ctx, arena, fragment, ids), dataset, fragment));
	else if (fragment->physical_rows > 0)
	{
		LNC_TRY(LNC_NEW(ctx, arena, &ids->segments, 1));
		ids->nsegments = 1;
		ids->segments[0].kind = LNC_ROW_SEGMENT_RANGE;
		ids->segments[0].count = fragment->physical_rows;
		ids->segments[0].start = lnc_row_address(fragment, 0);
		ids->segments[0].last = lnc_row_address(fragment, fragment->physical_rows - 1);
	}
	*out = ids;
	return LNC_OK;
}

/* The segment that row lies in. */
static size_t
segment_of(const LncRowIds *ids, uint64_t row)
{
	size_t low = 0;
	size_t high = ids->nsegments;

	while (high - low > 1)
	{
		size_t middle = low + (high - low) / 2;

		if (ids->segments[middle].first_row <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void
lnc_row_ids_fill(const LncRowIds *ids, uint64_t first, uint64_t count, uint64_t *out)
{
	if (count == 0)
		return;
	for (size_t i = segment_of(ids, first); count > 0; i++)
	{
		const LncRowSegment *segment = &ids->segments[i];
		uint64_t skip = first - segment->first_row;
		uint64_t n = segment->count - skip < count ? segment->count - skip : count;

		lnc_row_segment_fill(segment, skip, n, out);
		out += n;
		first += n;
		count -= n;
	}
}

/* ---- versions by offset */

static LncCode
open_runs(LncContext *ctx, LncArena *arena, const LncFragment *fragment, LncSlice bytes, LncVersionRuns *out)
{
	ProtobufCMessage *unpacked;
	const Lance__Table__RowDatasetVersionSequence *message;
	uint64_t rows = 0;

	LNC_TRY(lnc_proto_unpack(ctx, arena, &lance__table__row_dataset_version_sequence__descriptor, bytes,
							 "row version sequence", &unpacked));
	message = (const Lance__Table__RowDatasetVersionSequence *)unpacked;
	LNC_TRY(LNC_NEW(ctx, arena, &out->ends, message->n_runs));
	LNC_TRY(LNC_NEW(ctx, arena, &out->versions, message->n_runs));
	for (size_t i = 0; i < message->n_runs; i++)
	{
		LncRowSegment span = {0};

		LNC_TRY(lnc_check_interrupt(ctx));
		if (message->runs[i]->span == NULL)
			return lnc_fail(ctx, LNC_CORRUPT, "a run of row versions has no span");
		LNC_TRY(lnc_row_segment_open(ctx, arena, message->runs[i]->span, &span));
		if (span.count == 0)
			continue;
		if (lnc_add_overflow(rows, span.count, &rows))
			return lnc_fail(ctx, LNC_CORRUPT, "row version sequence is too long");
		out->ends[out->nruns] = rows;
		out->versions[out->nruns++] = message->runs[i]->version;
	}
	if (rows != fragment->physical_rows)
		return lnc_fail(ctx, LNC_CORRUPT, "a fragment of %" PRIu64 " rows has %" PRIu64 " row versions",
						fragment->physical_rows, rows);
	return LNC_OK;
}

/* Runs out of the hidden column. */
static LncCode
runs_of_column(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncFragment *fragment,
			   LncVersionKind kind, LncVersionRuns *out)
{
	int32_t field = kind == LNC_ROW_CREATED ? LNC_FIELD_CREATED_VERSIONS : LNC_FIELD_UPDATED_VERSIONS;
	uint64_t rows = fragment->physical_rows;
	uint64_t *values;
	size_t nruns = rows > 0;

	LNC_TRY(lnc_lineage_column_read(ctx, arena, dataset, fragment, field, &values));
	for (uint64_t i = 1; i < rows; i++)
		nruns += values[i] != values[i - 1];
	LNC_TRY(LNC_NEW(ctx, arena, &out->ends, nruns));
	LNC_TRY(LNC_NEW(ctx, arena, &out->versions, nruns));
	for (uint64_t i = 0; i < rows; i++)
	{
		if (i + 1 < rows && values[i + 1] == values[i])
			continue;
		out->ends[out->nruns] = i + 1;
		out->versions[out->nruns++] = values[i];
	}
	return LNC_OK;
}

LncCode
lnc_row_versions_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncFragment *fragment,
					  LncVersionKind kind, LncVersionRuns *out)
{
	LncSlice bytes = kind == LNC_ROW_CREATED ? fragment->created_versions : fragment->updated_versions;

	memset(out, 0, sizeof(*out));
	if (kind == LNC_ROW_CREATED ? fragment->created_versions_in_column : fragment->updated_versions_in_column)
		return blame(ctx, runs_of_column(ctx, arena, dataset, fragment, kind, out), dataset, fragment);
	if (bytes.data != NULL)
		return blame(ctx, open_runs(ctx, arena, fragment, bytes, out), dataset, fragment);
	LNC_TRY(LNC_NEW(ctx, arena, &out->ends, 1));
	LNC_TRY(LNC_NEW(ctx, arena, &out->versions, 1));
	out->nruns = 1;
	out->ends[0] = fragment->physical_rows;
	out->versions[0] = 1;
	return LNC_OK;
}

void
lnc_row_versions_fill(const LncVersionRuns *runs, uint64_t first, uint64_t count, uint64_t *out)
{
	size_t low = 0;
	size_t high = runs->nruns;

	/* The first run that ends behind the first row. */
	while (low < high)
	{
		size_t middle = low + (high - low) / 2;

		if (runs->ends[middle] <= first)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint64_t row = first; row < first + count; row++)
	{
		while (runs->ends[low] <= row)
			low++;
		*out++ = runs->versions[low];
	}
}

/* ---- rows by id */

/* One segment of one fragment. */
typedef struct IndexEntry
{
	uint64_t min;
	uint64_t max;
	uint64_t reach; /* the greatest max of this entry and those before it */
	int32_t fragment;
	LncRowSegment *segment;
} IndexEntry;

struct LncRowIdIndex
{
	LncLiveRows *live;
	size_t nentries;
	IndexEntry *entries; /* by min */
};

static int
compare_entries(const void *a, const void *b)
{
	const IndexEntry *left = a;
	const IndexEntry *right = b;

	return (left->min > right->min) - (left->min < right->min);
}

LncCode
lnc_row_id_index_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset, LncRowIdIndex **out)
{
	LncRowIdIndex *index;
	LncRowIds **ids;
	size_t n = 0;
	uint64_t reach = 0;

	LNC_TRY(LNC_NEW(ctx, arena, &index, 1));
	LNC_TRY(LNC_NEW(ctx, arena, &ids, dataset->nfragments));
	for (int32_t i = 0; i < dataset->nfragments; i++)
	{
		LNC_TRY(lnc_row_ids_open(ctx, arena, dataset, &dataset->fragments[i], &ids[i]));
		n += ids[i]->nsegments;
	}
	LNC_TRY(LNC_NEW(ctx, arena, &index->entries, n));
	LNC_TRY(lnc_live_rows_open(ctx, arena, dataset, &index->live));
	for (int32_t i = 0; i < dataset->nfragments; i++)
	{
		for (size_t j = 0; j < ids[i]->nsegments; j++)
		{
			IndexEntry *entry = &index->entries[index->nentries++];

			LNC_TRY(lnc_check_interrupt(ctx));
			entry->fragment = i;
			entry->segment = &ids[i]->segments[j];
			LNC_TRY(lnc_row_segment_prepare_find(ctx, arena, entry->segment));
			entry->min = entry->segment->start;
			entry->max = entry->segment->last;
		}
	}
	if (n > 1)
		qsort(index->entries, n, sizeof(*index->entries), compare_entries);
	for (size_t i = 0; i < n; i++)
	{
		reach = index->entries[i].max > reach ? index->entries[i].max : reach;
		index->entries[i].reach = reach;
	}
	*out = index;
	return LNC_OK;
}

/* The live row of that id in one segment; an unsorted array may list the id of a dead copy as well. */
static LncCode
find_in(LncContext *ctx, LncRowIdIndex *index, const IndexEntry *entry, uint64_t id, bool *found, uint64_t *offset)
{
	uint64_t position;

	for (uint64_t nth = 0; lnc_row_segment_find(entry->segment, id, nth, &position); nth++)
	{
		*offset = entry->segment->first_row + position;
		LNC_TRY(lnc_live_rows_check(ctx, index->live, entry->fragment, *offset, found));
		if (*found)
			return LNC_OK;
	}
	return LNC_OK;
}

LncCode
lnc_row_id_index_find(LncContext *ctx, LncRowIdIndex *index, uint64_t id, bool *found, int32_t *fragment,
					  uint64_t *offset)
{
	size_t low = 0;
	size_t high = index->nentries;

	*found = false;
	LNC_TRY(lnc_check_interrupt(ctx));

	/* Behind the last entry that begins at the id or before it; then back while an entry may reach that far. */
	while (low < high)
	{
		size_t middle = low + (high - low) / 2;

		if (index->entries[middle].min <= id)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low > 0 && index->entries[low - 1].reach >= id; low--)
	{
		const IndexEntry *entry = &index->entries[low - 1];

		if (entry->max < id)
			continue;
		LNC_TRY(find_in(ctx, index, entry, id, found, offset));
		if (*found)
		{
			*fragment = entry->fragment;
			return LNC_OK;
		}
	}
	return LNC_OK;
}
