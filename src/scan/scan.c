/*
 * scan.c
 *	  The scan over fragments: which file column holds which field, deleted rows left out, batches cut.
 *
 * A field that no file of a fragment stores is NULL in all its rows: columns are added that way. Source of the facts:
 * format.md section 3, "Columns to files".
 */
#include "scan/scan.h"

#include <inttypes.h>
#include <string.h>

#include "dataset/deletion.h"
#include "format/file.h"

#define DEFAULT_BATCH_ROWS 4096

/* Where a column of the scan comes from in the fragment at hand. */
typedef struct ColumnSource
{
	LncColumnReader *reader; /* NULL: no file stores the field */
	const LncDataFile *file;
} ColumnSource;

struct LncScan
{
	const LncDataset *dataset; /* borrowed */
	int32_t ncolumns;
	int32_t *columns; /* indexes of top-level fields */
	int64_t batch_rows;

	LncArena *fragment_arena; /* files, readers and deletions of the fragment at hand */
	LncArena *batch_arena;    /* the batch handed out */

	int32_t next_fragment;
	const LncFragment *fragment; /* at hand; NULL between fragments */
	uint64_t row;                /* the first not yet looked at */
	LncDeletions deletions;
	size_t next_deletion;  /* the first range that may reach row or beyond */
	ColumnSource *sources; /* array of ncolumns, in fragment_arena */
	LncScanStats stats;
};

static void
destroy_arena(void *arg)
{
	lnc_arena_destroy(arg);
}

static LncCode
child_arena(LncContext *ctx, LncArena *parent, LncArena **out)
{
	LncArena *arena = lnc_arena_create(ctx->env);
	LncCode code;

	if (arena == NULL)
		return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory");
	code = lnc_arena_on_cleanup(ctx, parent, destroy_arena, arena);
	if (code != LNC_OK)
	{
		lnc_arena_destroy(arena);
		return code;
	}
	*out = arena;
	return LNC_OK;
}

/* LNC_UNSUPPORTED for columns that do not lie in one file column of plain values. */
static LncCode
check_type(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncField *field)
{
	const LncType *type = &field->type;
	char *name;

	if (!field->packed && !field->blob &&
		(type->kind == LNC_TYPE_NULL || lnc_type_is_fixed(type) || lnc_type_is_variable(type)))
		return LNC_OK;
	LNC_TRY(lnc_type_name(ctx, arena, type, &name));
	lnc_fail(ctx, LNC_UNSUPPORTED, "reading column \"%s\" of type %s%s is not supported", field->name,
			 field->packed ? "packed " : "", name);
	lnc_detail(ctx, "Dataset \"%s\", manifest \"%s\".", lnc_store_uri(dataset->store), dataset->manifest_key);
	return LNC_UNSUPPORTED;
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
	scan->batch_rows = spec->batch_rows == 0 ? DEFAULT_BATCH_ROWS : spec->batch_rows;
	for (int32_t i = 0; i < spec->ncolumns; i++)
	{
		if (spec->columns[i] < 0 || spec->columns[i] >= dataset->schema.nfields)
			return lnc_fail(ctx, LNC_INVALID, "scan names column %d of %d", (int)spec->columns[i],
							(int)dataset->schema.nfields);
		LNC_TRY(check_type(ctx, arena, dataset, &dataset->schema.fields[spec->columns[i]]));
		scan->columns[i] = spec->columns[i];
	}
	LNC_TRY(child_arena(ctx, arena, &scan->fragment_arena));
	LNC_TRY(child_arena(ctx, arena, &scan->batch_arena));
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

static LncCode
open_data_file(LncContext *ctx, LncScan *scan, const LncDataFile *data_file, LncFile **out)
{
	LncStore *store;
	char *key;

	LNC_TRY(lnc_dataset_locate(ctx, scan->fragment_arena, scan->dataset, data_file->has_base, data_file->base_id,
							   "data", data_file->path, &store, &key));
	if (data_file->columns == NULL)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "data file version 0.1 is not supported");
	return lnc_file_open(ctx, scan->fragment_arena, store, key, data_file->size, out);
}

/* Find the file column of a field; *file_index is -1 when no file of the fragment stores it. */
static LncCode
find_column(LncContext *ctx, const LncFragment *fragment, const LncField *field, int32_t *file_index,
			int32_t *column)
{
	*file_index = -1;
	*column = -1;
	for (int32_t i = 0; i < fragment->nfiles; i++)
	{
		const LncDataFile *file = &fragment->files[i];

		/* Negative ids mark superseded or hidden columns; those of the schema are never negative. */
		for (int32_t j = 0; j < file->nfields; j++)
		{
			if (file->field_ids[j] != field->id)
				continue;
			if (*file_index >= 0)
				return lnc_fail(ctx, LNC_CORRUPT, "field %d is stored twice", (int)field->id);
			*file_index = i;
			*column = file->columns == NULL ? -1 : file->columns[j];
		}
	}
	return LNC_OK;
}

static LncCode
open_column(LncContext *ctx, LncScan *scan, LncFile **files, int32_t file_index, int32_t column,
			const LncField *field, ColumnSource *source)
{
	const LncFragment *fragment = scan->fragment;
	LncFile **file = &files[file_index];
	uint64_t rows;

	source->file = &fragment->files[file_index];
	if (*file == NULL)
		LNC_TRY(open_data_file(ctx, scan, source->file, file));
	if (column < 0 || (uint32_t)column >= lnc_file_ncolumns(*file))
		return lnc_fail(ctx, LNC_CORRUPT, "manifest names column %d of a file with %" PRIu32 " columns",
						(int)column, lnc_file_ncolumns(*file));
	LNC_TRY(lnc_file_column_rows(ctx, *file, (uint32_t)column, &rows));
	if (rows != fragment->physical_rows)
		return lnc_fail(ctx, LNC_CORRUPT, "column has %" PRIu64 " rows where the fragment has %" PRIu64, rows,
						fragment->physical_rows);
	return lnc_column_reader_open(ctx, scan->fragment_arena, *file, (uint32_t)column, field, &source->reader);
}

/* Open what the scan needs of scan->fragment. */
static LncCode
open_sources(LncContext *ctx, LncScan *scan)
{
	const LncFragment *fragment = scan->fragment;
	LncFile **files;
	LncCode code;

	LNC_TRY(lnc_deletion_read(ctx, scan->fragment_arena, scan->dataset, fragment, &scan->deletions));
	LNC_TRY(LNC_NEW(ctx, scan->fragment_arena, &files, fragment->nfiles));
	LNC_TRY(LNC_NEW(ctx, scan->fragment_arena, &scan->sources, scan->ncolumns));
	for (int32_t i = 0; i < scan->ncolumns; i++)
	{
		const LncField *field = &scan->dataset->schema.fields[scan->columns[i]];
		int32_t file_index;
		int32_t column;

		code = find_column(ctx, fragment, field, &file_index, &column);
		if (code == LNC_OK && file_index >= 0)
			code = open_column(ctx, scan, files, file_index, column, field, &scan->sources[i]);
		if (code != LNC_OK)
			return locate_error(ctx, scan, code, file_index >= 0 ? fragment->files[file_index].path : NULL, field);
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
	if (dead > 0 && scan->ncolumns > 0)
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
	LncCode code;

	if (source->reader == NULL)
		return lnc_column_nulls(ctx, scan->batch_arena, &field->type, window->live, out);
	code = lnc_column_reader_read(ctx, source->reader, scan->batch_arena, window->first, window->count,
								  window->indices == NULL ? out : &whole);
	if (code != LNC_OK)
		return locate_error(ctx, scan, code, source->file->path, field);
	if (window->indices == NULL)
		return LNC_OK;
	return lnc_column_take(ctx, scan->batch_arena, &whole, window->live, window->indices, out);
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
	LNC_TRY(LNC_NEW(ctx, scan->batch_arena, &batch->columns, scan->ncolumns));
	batch->length = window.live;
	batch->ncolumns = scan->ncolumns;
	for (int32_t i = 0; i < scan->ncolumns; i++)
		LNC_TRY(read_column(ctx, scan, i, &window, &batch->columns[i]));
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
