/*
 * fragment.c
 *	  Columns of a fragment out of its data files, each opened when a column needs it.
 */
#include "scan/fragment.h"

#include <inttypes.h>
#include <string.h>

#include "column/merge.h"
#include "dataset/blob.h"

/* What one data file holds of a column. */
typedef struct ColumnPart
{
	LncFieldReader *reader;
	const LncDataFile *file;
	LncBlobSource *blobs; /* of the file */
} ColumnPart;

/* Where a column comes from. */
typedef struct ColumnSource
{
	int32_t nparts; /* 0: no file stores the field */
	ColumnPart *parts;
} ColumnSource;

struct LncFragmentReader
{
	LncArena *arena;           /* borrowed; holds all below */
	const LncDataset *dataset; /* borrowed, as is fragment */
	const LncFragment *fragment;
	const int32_t *columns; /* indexes of top-level fields; borrowed */
	ColumnSource *sources;  /* one a column */
	LncUsage *blobs;        /* borrowed */
	struct OpenFile *files; /* one a file of the fragment */
};

LncCode
lnc_fragment_check_columns(LncContext *ctx, LncArena *arena, const LncDataset *dataset, int32_t ncolumns,
						   const int32_t *columns)
{
	for (int32_t i = 0; i < ncolumns; i++)
	{
		LncCode code;

		if (columns[i] < 0 || columns[i] >= dataset->schema.nfields)
			return lnc_fail(ctx, LNC_INVALID, "scan names column %d of %d", (int)columns[i],
							(int)dataset->schema.nfields);
		code = lnc_field_check(ctx, arena, &dataset->schema.fields[columns[i]]);
		if (code != LNC_OK)
		{
			lnc_detail(ctx, "Dataset \"%s\", manifest \"%s\".", lnc_store_uri(dataset->store),
					   dataset->manifest_key);
			return code;
		}
	}
	return LNC_OK;
}

/* Add where the error just recorded happened; path is that of the data file, NULL when none is concerned. */
static LncCode
locate_error(LncContext *ctx, const LncFragmentReader *reader, LncCode code, const char *path,
			 const LncField *field)
{
	if (code == LNC_CANCELLED || code == LNC_NO_MEMORY)
		return code;

	/* The container has named the file already where the fault is in it. */
	if (path != NULL && strstr(ctx->error.detail, path) == NULL)
		lnc_detail(ctx, "File \"%s\".", path);
	lnc_detail(ctx, "Column \"%s\", fragment %" PRIu64 " of \"%s\", version %" PRIu64 ".", field->name,
			   reader->fragment->id, lnc_store_uri(reader->dataset->store), reader->dataset->version);
	return code;
}

/* ---- opening ---- */

/* A data file of the fragment. */
typedef struct OpenFile
{
	LncFile *file; /* NULL: not open yet */
	LncBlobSource *blobs;
} OpenFile;

/* Files that are kept open while they are scanned; those of more would use up what the process may have. */
#define KEPT_FILES 4

static LncCode
open_data_file(LncContext *ctx, LncFragmentReader *reader, const LncDataFile *data_file, bool keep, OpenFile *out)
{
	LncStore *store;
	char *key;

	LNC_TRY(lnc_dataset_locate(ctx, reader->arena, reader->dataset, data_file->has_base, data_file->base_id, "data",
							   data_file->path, &store, &key));
	if (data_file->columns == NULL)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "data file version 0.1 is not supported");
	LNC_TRY(lnc_blob_source_create(ctx, reader->arena, reader->dataset, data_file, store, key, reader->blobs,
								   &out->blobs));
	LNC_TRY(lnc_file_open(ctx, reader->arena, store, key, data_file->size, &out->file));
	return keep ? lnc_file_keep_open(ctx, out->file) : LNC_OK;
}

/* Open the field in each data file that holds a part of it. *file: the one at hand. */
static LncCode
open_column(LncContext *ctx, LncFragmentReader *reader, OpenFile *files, const LncField *field,
			ColumnSource *source, const LncDataFile **file)
{
	const LncFragment *fragment = reader->fragment;

	*file = NULL;
	LNC_TRY(LNC_NEW(ctx, reader->arena, &source->parts, fragment->nfiles));
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
			LNC_TRY(open_data_file(ctx, reader, candidate, i < KEPT_FILES, &files[i]));
		LNC_TRY(lnc_field_reader_open(ctx, reader->arena, files[i].file, field, &map, fragment->physical_rows,
									  &part->reader));
		part->file = candidate;
		part->blobs = files[i].blobs;
		source->nparts++;
	}
	return LNC_OK;
}

/* Share the read-ahead among all readers. */
static void
share_read_ahead(const LncFragment *fragment, const OpenFile *files)
{
	uint64_t nreaders = 0;

	for (int32_t i = 0; i < fragment->nfiles; i++)
		if (files[i].file != NULL)
			nreaders += lnc_file_nreaders(files[i].file);
	for (int32_t i = 0; i < fragment->nfiles; i++)
		if (files[i].file != NULL)
			lnc_file_limit_read_ahead(files[i].file, LNC_FRAGMENT_READ_AHEAD / (nreaders > 0 ? nreaders : 1));
}

LncCode
lnc_fragment_reader_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncFragment *fragment,
						 int32_t ncolumns, const int32_t *columns, LncUsage *blobs, LncFragmentReader **out)
{
	LncFragmentReader *reader;
	OpenFile *files;

	LNC_TRY(LNC_NEW(ctx, arena, &reader, 1));
	reader->arena = arena;
	reader->dataset = dataset;
	reader->fragment = fragment;
	reader->columns = columns;
	reader->blobs = blobs;
	LNC_TRY(LNC_NEW(ctx, arena, &files, fragment->nfiles));
	LNC_TRY(LNC_NEW(ctx, arena, &reader->sources, ncolumns));
	for (int32_t i = 0; i < ncolumns; i++)
	{
		const LncField *field = &dataset->schema.fields[columns[i]];
		const LncDataFile *file;
		LncCode code = open_column(ctx, reader, files, field, &reader->sources[i], &file);

		if (code != LNC_OK)
			return locate_error(ctx, reader, code, file != NULL ? file->path : NULL, field);
	}
	share_read_ahead(fragment, files);
	reader->files = files;
	*out = reader;
	return LNC_OK;
}

LncCode
lnc_fragment_reader_expect(LncContext *ctx, const LncFragmentReader *reader)
{
	for (int32_t i = 0; i < reader->fragment->nfiles; i++)
	{
		if (reader->files[i].file != NULL)
			LNC_TRY(lnc_file_expect(ctx, reader->files[i].file));
	}
	return LNC_OK;
}

void
lnc_fragment_reader_skip_values(LncFragmentReader *reader, int32_t index)
{
	const ColumnSource *source = &reader->sources[index];

	for (int32_t i = 0; i < source->nparts; i++)
		lnc_field_reader_nulls_only(source->parts[i].reader);
}

/* ---- reading ---- */

/* Rows of a column: all of one run (in order), or of several that lie apart. */
typedef struct Wanted
{
	bool scattered;
	size_t nruns;
	const LncRowRun *runs;
	uint64_t count;
	const int64_t *some; /* the rows of the one run that are needed, counted from its first; NULL: all */
} Wanted;

static LncCode
read_part(LncContext *ctx, const ColumnPart *part, LncArena *arena, const Wanted *wanted, LncColumn *out)
{
	const LncRowRun *run = wanted->runs;

	if (wanted->scattered)
		LNC_TRY(lnc_field_reader_take(ctx, part->reader, arena, wanted->nruns, run, wanted->count, out));
	else if (wanted->some != NULL)
		LNC_TRY(lnc_field_reader_read_some(ctx, part->reader, arena, run->first, wanted->count, wanted->some, out));
	else
		LNC_TRY(lnc_field_reader_read(ctx, part->reader, arena, run->first, run->count, out));
	lnc_blob_set_source(out, part->blobs);
	return LNC_OK;
}

/* A column that some file stores, out of its parts. */
static LncCode
read_parts(LncContext *ctx, LncFragmentReader *reader, LncArena *arena, int32_t index, const Wanted *wanted,
		   LncColumn *out)
{
	const LncField *field = &reader->dataset->schema.fields[reader->columns[index]];
	const ColumnSource *source = &reader->sources[index];

	for (int32_t i = 0; i < source->nparts; i++)
	{
		const ColumnPart *stored = &source->parts[i];
		LncColumn part;
		LncCode code = read_part(ctx, stored, arena, wanted, &part);

		if (i == 0)
			*out = part;
		else if (code == LNC_OK)
			code = lnc_column_merge(ctx, out, &part);
		if (code != LNC_OK)
			return locate_error(ctx, reader, code, stored->file->path, field);
	}
	return LNC_OK;
}

static LncCode
make_nulls(LncContext *ctx, const LncFragmentReader *reader, LncArena *arena, int32_t index, int64_t count,
		   LncColumn *out)
{
	return lnc_column_nulls(ctx, arena, &reader->dataset->schema.fields[reader->columns[index]].type, count, out);
}

LncCode
lnc_fragment_reader_read(LncContext *ctx, LncFragmentReader *reader, LncArena *arena, int32_t index, uint64_t first,
						 uint64_t count, int64_t live, const int64_t *indices, LncColumn *out)
{
	LncRowRun run = {first, count};
	Wanted wanted = {.nruns = 1, .runs = &run, .count = count};
	LncColumn whole;

	if (reader->sources[index].nparts == 0)
		return make_nulls(ctx, reader, arena, index, live, out);
	if (indices != NULL && (uint64_t)live <= count / 2)
	{
		wanted.some = indices;
		wanted.count = (uint64_t)live;
	}
	LNC_TRY(read_parts(ctx, reader, arena, index, &wanted, &whole));
	if (indices == NULL || wanted.some != NULL)
		*out = whole;
	else
		LNC_TRY(lnc_column_take(ctx, arena, &whole, live, indices, out));
	return lnc_column_fill_absent(ctx, arena, out);
}

LncCode
lnc_fragment_reader_take(LncContext *ctx, LncFragmentReader *reader, LncArena *arena, int32_t index, size_t nruns,
						 const LncRowRun *runs, uint64_t count, LncColumn *out)
{
	Wanted wanted = {.scattered = true, .nruns = nruns, .runs = runs, .count = count};

	if (reader->sources[index].nparts == 0)
		return make_nulls(ctx, reader, arena, index, (int64_t)count, out);
	LNC_TRY(read_parts(ctx, reader, arena, index, &wanted, out));
	return lnc_column_fill_absent(ctx, arena, out);
}
