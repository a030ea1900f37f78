/*
 * scan.c
 *	  The scan over fragments: which file column holds which field, deleted rows left out, batches cut.
 *
 * What no file of a fragment stores is NULL in all its rows, be it a column or a part of a nested one: such are added
 * that way. Source of the facts: format.md section 3, "Columns to files".
 */
#include "scan/scan.h"

#include <inttypes.h>
#include <string.h>

#include "column/merge.h"
#include "dataset/blob.h"
#include "dataset/deletion.h"
#include "format/field_reader.h"

#define DEFAULT_BATCH_ROWS 4096

/* What one data file holds of a column. */
typedef struct ColumnPart
{
	LncFieldReader *reader;
	const LncDataFile *file;
	LncBlobSource *blobs; /* of the file */
} ColumnPart;

/* Where a column of the scan comes from in the fragment at hand. */
typedef struct ColumnSource
{
	int32_t nparts; /* 0: no file stores the field */
	ColumnPart *parts;
} ColumnSource;

struct LncScan
{
	const LncDataset *dataset; /* borrowed */
	int32_t ncolumns;
	int32_t *columns; /* indexes of top-level fields */
	uint32_t system_columns;
	int64_t batch_rows;

	LncArena *fragment_arena; /* files, readers and deletions of the fragment at hand */
	LncArena *batch_arena;    /* the batch handed out */

	int32_t next_fragment;
	const LncFragment *fragment; /* at hand; NULL between fragments */
	uint64_t row;                /* the first not yet looked at */
	LncDeletions deletions;
	size_t next_deletion;    /* the first range that may reach row or beyond */
	ColumnSource *sources;   /* array of ncolumns, in fragment_arena */
	LncSystemSource *system; /* NULL where no system column is wanted */
	LncScanStats stats;
};

/* LNC_UNSUPPORTED for columns of types that are not read. */
static LncCode
check_type(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncField *field)
{
	LncCode code = lnc_field_check(ctx, arena, field);

	if (code != LNC_OK)
		lnc_detail(ctx, "Dataset \"%s\", manifest \"%s\".", lnc_store_uri(dataset->store), dataset->manifest_key);
	return code;
}

LncCode
lnc_scan_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncScanSpec *spec, LncScan **out)
{
	LncScan *scan;

	if (spec->ncolumns < 0 || spec->batch_rows < 0)
		return lnc_fail(ctx, LNC_INVALID, "scan specification holds a negative number");
	LNC_TRY(LNC_NEW(ctx, arena, &scan, 1));
	LNC_TRY(LNC_NEW(ctx, arena, &scan->columns, spec->ncolumns));
	scan->dataset = dataset;
	scan->ncolumns = spec->ncolumns;
	scan->system_columns = spec->system_columns & LNC_SYSTEM_ALL;
	scan->batch_rows = spec->batch_rows == 0 ? DEFAULT_BATCH_ROWS : spec->batch_rows;
	for (int32_t i = 0; i < spec->ncolumns; i++)
	{
		if (spec->columns[i] < 0 || spec->columns[i] >= dataset->schema.nfields)
			return lnc_fail(ctx, LNC_INVALID, "scan names column %d of %d", (int)spec->columns[i],
							(int)dataset->schema.nfields);
		LNC_TRY(check_type(ctx, arena, dataset, &dataset->schema.fields[spec->columns[i]]));
		scan->columns[i] = spec->columns[i];
	}
	LNC_TRY(lnc_arena_create_child(ctx, arena, &scan->fragment_arena));
	LNC_TRY(lnc_arena_create_child(ctx, arena, &scan->batch_arena));
	*out = scan;
	return LNC_OK;
}

/* Add where the error just recorded happened; path is that of the data file, NULL when none is concerned. */
static LncCode
locate_error(LncContext *ctx, const LncScan *scan, LncCode code, const char *path, const LncField *field)
{
	if (code == LNC_CANCELLED || code == LNC_NO_MEMORY)
		return code;

	/* The container has named the file already where the fault is in it. */
	if (path != NULL && strstr(ctx->error.detail, path) == NULL)
		lnc_detail(ctx, "File \"%s\".", path);
	lnc_detail(ctx, "Column \"%s\", fragment %" PRIu64 " of \"%s\", version %" PRIu64 ".", field->name,
			   scan->fragment->id, lnc_store_uri(scan->dataset->store), scan->dataset->version);
	return code;
}

/* A data file of the fragment at hand. */
typedef struct OpenFile
{
	LncFile *file; /* NULL: not open yet */
	LncBlobSource *blobs;
} OpenFile;

static LncCode
open_data_file(LncContext *ctx, LncScan *scan, const LncDataFile *data_file, OpenFile *out)
{
	LncStore *store;
	char *key;

	LNC_TRY(lnc_dataset_locate(ctx, scan->fragment_arena, scan->dataset, data_file->has_base, data_file->base_id,
							   "data", data_file->path, &store, &key));
	if (data_file->columns == NULL)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "data file version 0.1 is not supported");
	LNC_TRY(lnc_blob_source_create(ctx, scan->fragment_arena, scan->dataset, store, key, &out->blobs));
	return lnc_file_open(ctx, scan->fragment_arena, store, key, data_file->size, &out->file);
}

/* Open the field in each data file of the fragment that holds a part of it. *file: the one at hand. */
static LncCode
open_column(LncContext *ctx, LncScan *scan, OpenFile *files, const LncField *field, ColumnSource *source,
			const LncDataFile **file)
{
	const LncFragment *fragment = scan->fragment;

	*file = NULL;
	LNC_TRY(LNC_NEW(ctx, scan->fragment_arena, &source->parts, fragment->nfiles));
	for (int32_t i = 0; i < fragment->nfiles; i++)
	{
		const LncDataFile *candidate = &fragment->files[i];
		LncFieldMap map = {candidate->nfields, candidate->field_ids, candidate->columns};
		ColumnPart *part = &source->parts[source->nparts];

		/* Negative ids mark superseded or hidden columns; those of the schema are never negative. */
		if (!lnc_field_map_holds(&map, field))
			continue;
		*file = candidate;
		if (source->nparts > 0 && lnc_field_is_leaf(field))
			return lnc_fail(ctx, LNC_CORRUPT, "field %d is stored twice", (int)field->id);
		if (files[i].file == NULL)
			LNC_TRY(open_data_file(ctx, scan, candidate, &files[i]));
		LNC_TRY(lnc_field_reader_open(ctx, scan->fragment_arena, files[i].file, field, &map,
									  fragment->physical_rows, &part->reader));
		part->file = candidate;
		part->blobs = files[i].blobs;
		source->nparts++;
	}
	return LNC_OK;
}

/* Open what the scan needs of scan->fragment. */
static LncCode
open_sources(LncContext *ctx, LncScan *scan)
{
	const LncFragment *fragment = scan->fragment;
	OpenFile *files;

	LNC_TRY(lnc_deletion_read(ctx, scan->fragment_arena, scan->dataset, fragment, &scan->deletions));
	if (scan->system_columns != 0)
		LNC_TRY(lnc_system_source_open(ctx, scan->fragment_arena, scan->dataset, fragment, scan->system_columns,
									   &scan->system));
	LNC_TRY(LNC_NEW(ctx, scan->fragment_arena, &files, fragment->nfiles));
	LNC_TRY(LNC_NEW(ctx, scan->fragment_arena, &scan->sources, scan->ncolumns));
	for (int32_t i = 0; i < scan->ncolumns; i++)
	{
		const LncField *field = &scan->dataset->schema.fields[scan->columns[i]];
		const LncDataFile *file;
		LncCode code = open_column(ctx, scan, files, field, &scan->sources[i], &file);

		if (code != LNC_OK)
			return locate_error(ctx, scan, code, file != NULL ? file->path : NULL, field);
	}
	return LNC_OK;
}

static LncCode
open_fragment(LncContext *ctx, LncScan *scan)
{
	LncCode code;

	lnc_arena_reset(scan->fragment_arena);
	scan->fragment = &scan->dataset->fragments[scan->next_fragment];
	scan->row = 0;
	scan->next_deletion = 0;
	code = open_sources(ctx, scan);
	if (code != LNC_OK)
	{
		/* A caller who asks again meets the same fragment again. */
		scan->fragment = NULL;
		return code;
	}
	scan->next_fragment++;
	scan->stats.fragments++;
	return LNC_OK;
}

/* The live rows of a window of rows, as runs. */
typedef struct Window
{
	uint64_t first; /* the first row to read: it is live */
	uint64_t count; /* rows to read; the last is live */
	int64_t live;
	int64_t *indices; /* the live ones, relative to first; NULL when all are */
} Window;

/*
 * Move to the next window with live rows: leading deleted rows are skipped, at most batch_rows rows are read.
 * window->live is 0 when the fragment has no more.
 */
static LncCode
next_window(LncContext *ctx, LncScan *scan, Window *window)
{
	const LncDeletions *deletions = &scan->deletions;
	const LncRoaringRange *ranges = deletions->ranges;
	uint64_t end = scan->fragment->physical_rows;
	uint64_t stop;
	uint64_t dead = 0;
	size_t at;

	memset(window, 0, sizeof(*window));
	while (scan->next_deletion < deletions->nranges && ranges[scan->next_deletion].first <= scan->row)
	{
		scan->row = (uint64_t)ranges[scan->next_deletion].last + 1;
		scan->next_deletion++;
	}
	if (scan->row >= end)
		return LNC_OK;

	window->first = scan->row;
	stop = end - scan->row > (uint64_t)scan->batch_rows ? scan->row + (uint64_t)scan->batch_rows : end;
	for (at = scan->next_deletion; at < deletions->nranges && ranges[at].first < stop; at++)
	{
		/* A range that reaches the end of the window shortens it instead. */
		if ((uint64_t)ranges[at].last + 1 >= stop)
		{
			stop = ranges[at].first;
			break;
		}
		dead += (uint64_t)ranges[at].last - ranges[at].first + 1;
	}
	window->count = stop - window->first;
	window->live = (int64_t)(window->count - dead);
	if (dead > 0 && (scan->ncolumns > 0 || scan->system_columns != 0))
	{
		uint64_t row = window->first;
		int64_t n = 0;

		LNC_TRY(LNC_NEW(ctx, scan->batch_arena, &window->indices, window->live));
		for (size_t i = scan->next_deletion; i < at; i++)
		{
			for (; row < ranges[i].first; row++)
				window->indices[n++] = (int64_t)(row - window->first);
			row = (uint64_t)ranges[i].last + 1;
		}
		for (; row < stop; row++)
			window->indices[n++] = (int64_t)(row - window->first);
	}
	scan->next_deletion = at;
	scan->row = stop;
	return LNC_OK;
}

static LncCode
read_column(LncContext *ctx, LncScan *scan, int32_t index, const Window *window, LncColumn *out)
{
	const LncField *field = &scan->dataset->schema.fields[scan->columns[index]];
	const ColumnSource *source = &scan->sources[index];
	LncColumn whole;

	if (source->nparts == 0)
		return lnc_column_nulls(ctx, scan->batch_arena, &field->type, window->live, out);
	for (int32_t i = 0; i < source->nparts; i++)
	{
		LncColumn part;
		LncCode code;

		code = lnc_field_reader_read(ctx, source->parts[i].reader, scan->batch_arena, window->first, window->count,
									 &part);
		if (code == LNC_OK)
			lnc_blob_set_source(&part, source->parts[i].blobs);
		if (i == 0)
			whole = part;
		else if (code == LNC_OK)
			code = lnc_column_merge(ctx, &whole, &part);
		if (code != LNC_OK)
			return locate_error(ctx, scan, code, source->parts[i].file->path, field);
	}
	if (window->indices == NULL)
		*out = whole;
	else
		LNC_TRY(lnc_column_take(ctx, scan->batch_arena, &whole, window->live, window->indices, out));
	return lnc_column_fill_absent(ctx, scan->batch_arena, out);
}

LncCode
lnc_scan_next(LncContext *ctx, LncScan *scan, const LncBatch **out)
{
	Window window;
	LncBatch *batch;

	lnc_arena_reset(scan->batch_arena);
	*out = NULL;
	for (;;)
	{
		LNC_TRY(lnc_check_interrupt(ctx));
		if (scan->fragment == NULL)
		{
			if (scan->next_fragment >= scan->dataset->nfragments)
				return LNC_OK;
			LNC_TRY(open_fragment(ctx, scan));
		}
		LNC_TRY(next_window(ctx, scan, &window));
		if (window.live > 0)
			break;
		scan->stats.rows_deleted += scan->deletions.count;
		scan->fragment = NULL;
	}
	LNC_TRY(LNC_NEW(ctx, scan->batch_arena, &batch, 1));
	batch->length = window.live;
	batch->ncolumns = scan->ncolumns + __builtin_popcount(scan->system_columns);
	LNC_TRY(LNC_NEW(ctx, scan->batch_arena, &batch->columns, batch->ncolumns));
	for (int32_t i = 0; i < scan->ncolumns; i++)
		LNC_TRY(read_column(ctx, scan, i, &window, &batch->columns[i]));
	if (scan->system_columns != 0)
		LNC_TRY(lnc_system_source_read(ctx, scan->batch_arena, scan->system, window.first, window.count,
									   window.live, window.indices, &batch->columns[scan->ncolumns]));
	scan->stats.batches++;
	scan->stats.rows += (uint64_t)window.live;
	*out = batch;
	return LNC_OK;
}

LncCode
lnc_scan_rewind(LncContext *ctx, LncScan *scan)
{
	LNC_TRY(lnc_check_interrupt(ctx));
	lnc_arena_reset(scan->batch_arena);
	lnc_arena_reset(scan->fragment_arena);
	scan->fragment = NULL;
	scan->next_fragment = 0;
	return LNC_OK;
}

void
lnc_scan_stats(const LncScan *scan, LncScanStats *out)
{
	*out = scan->stats;
}
