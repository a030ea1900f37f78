/*
 * column_reader.c
 *	  Rows of one leaf column of a file: finding and opening pages, joining their rows, checking text.
 */
#include <inttypes.h>

#include "base/utf8.h"
#include "column/blob.h"
#include "format/file_internal.h"
#include "proto/file2.pb-c.h"
#include "proto/unpack.h"

struct LncColumnReader
{
	LncColumnReader *next; /* of the file */
	LncFile *file;         /* borrowed, as are column and the fields of path */
	uint32_t number;
	const FileColumn *column;
	const LncField **path; /* array of npath */
	int32_t npath;
	uint64_t scale; /* rows of the column that are one of the field */
	PageReader *page_reader;
	LncArena *page_arena; /* owned; holds the open page */
	LncPage *page;        /* NULL: none is open */
	uint32_t page_number;
	bool nulls_only;   /* reads are to tell NULLs alone */
	uint64_t last_row; /* where the last read began, and where it ended */
	uint64_t next_row;
	LncArena *arena;  /* borrowed; that of open */
	PageTake *take;   /* NULL: no rows were taken yet */
	LncColumn *parts; /* per piece, of the take at hand */
};

LncCode
lnc_column_reader_open(LncContext *ctx, LncArena *arena, LncFile *file, uint32_t column,
					   const LncField *const *path, int32_t npath, LncColumnReader **out)
{
	LncColumnReader *reader;
	LncCode code;

	LNC_TRY(LNC_NEW(ctx, arena, &reader, 1));
	reader->arena = arena;
	reader->file = file;
	reader->number = column;
	LNC_TRY(LNC_NEW(ctx, arena, &reader->path, npath));
	memcpy(reader->path, path, (size_t)npath * sizeof(*path));
	reader->npath = npath;
	reader->scale = 1;
	for (int32_t i = 0; i + 1 < npath && file->minor > 0; i++)
		if (path[i]->type.kind == LNC_TYPE_FIXED_LIST &&
			(path[i]->type.list_size <= 0 ||
			 lnc_mul_overflow(reader->scale, (uint64_t)path[i]->type.list_size, &reader->scale)))
			return lnc_fail(ctx, LNC_CORRUPT, "the dimensions of column \"%s\" are out of range", path[0]->name);
	LNC_TRY(lnc_file_load_column(ctx, file, column, &reader->column));
	if (reader->column->blob && !lnc_type_is_blob(&path[npath - 1]->type))
	{
		code = lnc_fail(ctx, LNC_UNSUPPORTED, "column \"%s\" is stored as blobs, but is none by the schema",
						path[npath - 1]->name);
		return lnc_file_blame(ctx, code, file, column, -1);
	}
	LNC_TRY(lnc_page_reader_create(ctx, arena, file, &reader->page_reader));
	LNC_TRY(lnc_arena_create_child(ctx, arena, &reader->page_arena));
	reader->next = file->readers;
	file->readers = reader;
	*out = reader;
	return LNC_OK;
}

LncCode
lnc_file_expect(LncContext *ctx, const LncFile *file)
{
	for (LncColumnReader *reader = file->readers; reader != NULL; reader = reader->next)
	{
		uint32_t first = lnc_file_find_page(reader->column, 0);

		if (first < reader->column->npages && reader->page == NULL)
			LNC_TRY(lnc_page_reader_expect(ctx, reader->page_reader, &reader->column->pages[first],
										   LNC_READ_AHEAD_LEAST));
	}
	return LNC_OK;
}

uint64_t
lnc_column_reader_rows(const LncColumnReader *reader)
{
	/* One that is no multiple fits no number of rows. */
	return reader->column->nrows % reader->scale == 0 ? reader->column->nrows / reader->scale : UINT64_MAX;
}

/* ---- pages ---- */

uint32_t
lnc_file_find_page(const FileColumn *column, uint64_t row)
{
	uint32_t low = 0;
	uint32_t high = column->npages;

	while (low < high)
	{
		uint32_t middle = low + (high - low) / 2;

		if (row >= column->pages[middle].first_row + column->pages[middle].nrows)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

LncCode
lnc_file_page_message(LncContext *ctx, LncArena *arena, const LncFile *file, const FilePage *page, LncSlice *out)
{
	const char *expected = file->minor == 0 ? "/lance.encodings.ArrayEncoding" : "/lance.encodings21.PageLayout";
	LncSlice bytes = page->encoding;
	ProtobufCMessage *message;
	const Lance__File__V2__AnyMessage *any;

	if (page->indirect)
	{
		LncRange range = {page->encoding_offset, page->encoding_length};

		LNC_TRY(lnc_store_read_ranges(ctx, file->store, arena, file->key, 1, &range, &bytes.data));
		bytes.size = (size_t)range.length;
	}
	LNC_TRY(
		lnc_proto_unpack(ctx, arena, &lance__file__v2__any_message__descriptor, bytes, "page encoding", &message));
	any = (const Lance__File__V2__AnyMessage *)message;
	if (strcmp(any->type_url, expected) != 0)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "page encoding \"%.200s\" is not read in file version 2.%u",
						any->type_url, file->minor);
	out->data = any->value.data;
	out->size = any->value.len;
	return LNC_OK;
}

static LncCode
open_page_from(LncContext *ctx, const LncColumnReader *reader, LncArena *arena, uint32_t number,
			   const LncPageSource *source, LncPage **out)
{
	const FilePage *page = &reader->column->pages[number];
	LncPageSpec spec = {
		.source = source,
		.path = reader->path,
		.npath = reader->npath,
		.nrows = page->nrows,
		.file_minor = reader->file->minor,
	};

	LNC_TRY(lnc_file_page_message(ctx, arena, reader->file, page, &spec.encoding));
	if (reader->file->minor == 0)
		return lnc_page20_open(ctx, arena, &spec, out);
	return lnc_page21_open(ctx, arena, &spec, out);
}

static LncCode
open_page(LncContext *ctx, LncColumnReader *reader, uint32_t number)
{
	LncPage *page;
	LncCode code;

	if (reader->page != NULL && reader->page_number == number)
		return LNC_OK;
	reader->page = NULL;
	lnc_arena_reset(reader->page_arena);
	LNC_TRY(lnc_page_reader_open(ctx, reader->page_reader, &reader->column->pages[number]));
	lnc_page_reader_opening(reader->page_reader, true);
	code =
		open_page_from(ctx, reader, reader->page_arena, number, lnc_page_reader_source(reader->page_reader), &page);
	lnc_page_reader_opening(reader->page_reader, false);
	LNC_TRY(code);
	reader->page = page;
	reader->page_number = number;
	return LNC_OK;
}

/* ---- text ---- */

/* Every text value in column, nested ones included, is UTF-8 without NUL. *bad: the first row that is not. */
static bool
text_is_valid(const LncColumn *column, int64_t *bad)
{
	int64_t child_row;

	if (column->absent)
		return true;
	switch (column->type->kind)
	{
		case LNC_TYPE_UTF8:
		case LNC_TYPE_LARGE_UTF8:
		{
			bool aligned;
			int64_t total = column->offsets[column->length];

			/* All at once; it holds for the values when, besides, none of them begins inside a character. */
			aligned = lnc_utf8_valid(column->data, (size_t)total, NULL);
			for (int64_t i = 0; aligned && i < column->length; i++)
				aligned = column->offsets[i] >= total || (column->data[column->offsets[i]] & 0xC0) != 0x80;
			if (aligned)
				return true;
			/* Bytes under a NULL do not count. */
			for (int64_t i = 0; i < column->length; i++)
				if (!lnc_column_is_null(column, i) &&
					!lnc_utf8_valid(column->data + column->offsets[i],
									(size_t)(column->offsets[i + 1] - column->offsets[i]), NULL))
				{
					*bad = i;
					return false;
				}
			return true;
		}
		case LNC_TYPE_FIXED_LIST:
			if (text_is_valid(&column->children[0], &child_row))
				return true;
			*bad = child_row / column->type->list_size;
			return false;
		case LNC_TYPE_LIST:
		case LNC_TYPE_LARGE_LIST:
		case LNC_TYPE_MAP:
			if (text_is_valid(&column->children[0], &child_row))
				return true;
			for (*bad = 0; column->offsets[*bad + 1] <= child_row; ++*bad)
				;
			return false;
		case LNC_TYPE_STRUCT:
		case LNC_TYPE_BLOB:
		case LNC_TYPE_BLOB_V2:
			for (int32_t i = 0; i < column->nchildren; i++)
				if (!text_is_valid(&column->children[i], bad))
					return false;
			return true;
		default:
			return true;
	}
}

/* ---- reading ---- */

/* Row number row of a page is no text. */
static LncCode
invalid_text(LncContext *ctx, const LncColumnReader *reader, uint32_t number, uint64_t row)
{
	return lnc_fail(ctx, LNC_CORRUPT, "row %" PRIu64 " of text column \"%s\" is not valid UTF-8 or holds a NUL",
					reader->column->pages[number].first_row + row, reader->path[reader->npath - 1]->name);
}

/* Rows of one page. */
static LncCode
read_part(LncContext *ctx, const LncColumnReader *reader, LncPage *page, LncArena *arena, uint32_t number,
		  uint64_t first, uint64_t count, LncColumn *out)
{
	int64_t bad;

	LNC_TRY(page->decode(ctx, page, arena, first, count, out));
	if (out->length != (int64_t)(count / reader->scale))
		return lnc_fail(ctx, LNC_CORRUPT, "the page gave %" PRId64 " rows instead of %" PRIu64, out->length,
						count / reader->scale);
	if (!text_is_valid(out, &bad))
		return invalid_text(ctx, reader, number, first + (uint64_t)bad);
	return LNC_OK;
}

void
lnc_column_reader_nulls_only(LncColumnReader *reader)
{
	reader->nulls_only = true;
}

/* No rows, shaped as those that pages give. */
static LncCode
read_nothing(LncContext *ctx, const LncColumnReader *reader, LncArena *arena, LncColumn *out)
{
	if (reader->file->minor == 0)
		return lnc_column_nulls(ctx, arena, &reader->path[reader->npath - 1]->type, 0, out);
	LNC_TRY(lnc_column_nulls(ctx, arena, &reader->path[0]->type, 0, out));
	for (int32_t i = 0; i + 1 < reader->npath; i++)
	{
		const LncType *type = out->type;
		LncColumn *next = NULL;

		for (int32_t c = 0; c < type->nchildren; c++)
			if (&type->children[c] == reader->path[i + 1])
				next = &out->children[c];
			else
				out->children[c] = lnc_column_absent(&type->children[c].type, 0);
		if (next == NULL)
			return lnc_fail(ctx, LNC_INVALID, "field \"%s\" is no child of field \"%s\"", reader->path[i + 1]->name,
							reader->path[i]->name);
		out = next;
	}
	return LNC_OK;
}

/* Note that rows [first, first + count) of the column are read next. */
static void
go_to(LncColumnReader *reader, uint64_t first, uint64_t count)
{
	/* A batch that is read again, with fewer rows, leaves the windows as they are; so do rows that are passed over. */
	bool onward = first >= reader->next_row && first - reader->next_row <= count;

	if (first == 0 || first != reader->last_row)
		lnc_page_reader_sequential(reader->page_reader, onward && first > 0);
	reader->last_row = first;
}

/* Which rows of a page. */
typedef struct PageRows
{
	uint64_t first;
	uint64_t count;
	const int64_t *rows; /* first + rows[i]; NULL: count from first on */
} PageRows;

/* Some rows of the page, decoded one way or the other. */
static LncCode
read_chosen(LncContext *ctx, const LncColumnReader *reader, LncPage *page, LncArena *arena, uint32_t number,
			const PageRows *chosen, LncColumn *out)
{
	bool done = false;
	LncColumn whole;
	int64_t bad;

	if (page->decode_some != NULL)
		LNC_TRY(page->decode_some(ctx, page, arena, chosen->first, chosen->count, chosen->rows, &done, out));
	if (!done)
	{
		LNC_TRY(
			page->decode(ctx, page, arena, chosen->first, (uint64_t)chosen->rows[chosen->count - 1] + 1, &whole));
		LNC_TRY(lnc_column_take(ctx, arena, &whole, (int64_t)chosen->count, chosen->rows, out));
	}
	if (!text_is_valid(out, &bad))
		return invalid_text(ctx, reader, number, chosen->first + (uint64_t)chosen->rows[bad]);
	return LNC_OK;
}

static LncCode
read_page(LncContext *ctx, LncColumnReader *reader, LncArena *arena, uint32_t number, const PageRows *rows,
		  LncColumn *out)
{
	LncCode code = lnc_check_interrupt(ctx);

	if (code == LNC_OK)
		code = open_page(ctx, reader, number);
	if (code == LNC_OK)
		reader->page->nulls_only = reader->nulls_only;
	if (code == LNC_OK && rows->rows != NULL)
		code = read_chosen(ctx, reader, reader->page, arena, number, rows, out);
	else if (code == LNC_OK)
		code = read_part(ctx, reader, reader->page, arena, number, rows->first, rows->count, out);

	/* A page that failed midway must not be taken for an open one; the limit hits nothing that it keeps. */
	if (code != LNC_OK && !lnc_budget_refused(ctx))
		reader->page = NULL;
	return code == LNC_OK ? LNC_OK : lnc_file_blame(ctx, code, reader->file, reader->number, number);
}

static LncCode
check_range(LncContext *ctx, const LncColumnReader *reader, uint64_t *first, uint64_t *count)
{
	LncCode code;

	if (!lnc_mul_overflow(*first, reader->scale, first) && !lnc_mul_overflow(*count, reader->scale, count) &&
		lnc_range_ok(*first, *count, reader->column->nrows))
		return LNC_OK;
	code =
		lnc_fail(ctx, LNC_CORRUPT, "rows %" PRIu64 " to %" PRIu64 " are not inside the column of %" PRIu64 " rows",
				 *first, *first + *count, reader->column->nrows);
	return lnc_file_blame(ctx, code, reader->file, reader->number, -1);
}

/* Room for the parts of rows [first, first + count), one a page. */
static LncCode
make_parts(LncContext *ctx, const LncColumnReader *reader, LncArena *arena, uint64_t first, uint64_t count,
		   LncColumn **parts)
{
	uint32_t start = lnc_file_find_page(reader->column, first);
	uint32_t end = lnc_file_find_page(reader->column, first + count - 1) + 1;

	if (end - start > INT32_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "the rows asked for lie on too many pages");
	return LNC_NEW(ctx, arena, parts, end - start);
}

LncCode
lnc_column_reader_read(LncContext *ctx, LncColumnReader *reader, LncArena *arena, uint64_t first, uint64_t count,
					   LncColumn *out)
{
	LncColumn *parts;
	int32_t nparts = 0;

	LNC_TRY(check_range(ctx, reader, &first, &count));
	if (count == 0)
		return read_nothing(ctx, reader, arena, out);
	go_to(reader, first, count);
	LNC_TRY(make_parts(ctx, reader, arena, first, count, &parts));
	for (uint32_t number = lnc_file_find_page(reader->column, first); count > 0; number++)
	{
		const FilePage *page = &reader->column->pages[number];
		PageRows rows = {.first = first - page->first_row};

		if (page->nrows == 0)
			continue;
		rows.count = page->nrows - rows.first < count ? page->nrows - rows.first : count;
		LNC_TRY(read_page(ctx, reader, arena, number, &rows, &parts[nparts++]));
		first += rows.count;
		count -= rows.count;
		if (count == 0 && number + 1 < reader->column->npages)
			LNC_TRY(lnc_page_reader_expect_next(ctx, reader->page_reader, &reader->column->pages[number + 1],
												page->nrows - rows.first - rows.count));
	}
	reader->next_row = first;
	return lnc_column_concat(ctx, arena, nparts, parts, out);
}

/* The rows of one page, from rows[0] on, counted from that one. *n: how many these are. */
static LncCode
rows_of_page(LncContext *ctx, LncArena *arena, const FilePage *page, uint64_t first, uint64_t count,
			 const int64_t *rows, uint64_t *n, PageRows *out)
{
	uint64_t end = page->first_row + page->nrows;
	int64_t *relative;

	out->first = first + (uint64_t)rows[0] - page->first_row;
	for (*n = 1; *n < count && first + (uint64_t)rows[*n] < end; ++*n)
		;
	out->count = *n;
	out->rows = rows;
	if (rows[0] == 0)
		return LNC_OK;
	LNC_TRY(LNC_NEW(ctx, arena, &relative, *n));
	for (uint64_t i = 0; i < *n; i++)
		relative[i] = rows[i] - rows[0];
	out->rows = relative;
	return LNC_OK;
}

/* As lnc_column_reader_read_some where a row of the field is several of the column. */
static LncCode
read_and_choose(LncContext *ctx, LncColumnReader *reader, LncArena *arena, uint64_t first, uint64_t count,
				const int64_t *rows, LncColumn *out)
{
	LncColumn whole;

	LNC_TRY(lnc_column_reader_read(ctx, reader, arena, first, (uint64_t)rows[count - 1] + 1, &whole));
	return lnc_column_take(ctx, arena, &whole, (int64_t)count, rows, out);
}

LncCode
lnc_column_reader_read_some(LncContext *ctx, LncColumnReader *reader, LncArena *arena, uint64_t first,
							uint64_t count, const int64_t *rows, LncColumn *out)
{
	uint64_t span = (uint64_t)rows[count - 1] + 1;
	LncColumn *parts;
	int32_t nparts = 0;
	uint64_t n;

	if (reader->scale != 1)
		return read_and_choose(ctx, reader, arena, first, count, rows, out);
	LNC_TRY(check_range(ctx, reader, &first, &span));
	go_to(reader, first, span);
	LNC_TRY(make_parts(ctx, reader, arena, first, span, &parts));
	for (uint64_t i = 0; i < count; i += n)
	{
		uint32_t number = lnc_file_find_page(reader->column, first + (uint64_t)rows[i]);
		PageRows chosen;

		LNC_TRY(rows_of_page(ctx, arena, &reader->column->pages[number], first, count - i, rows + i, &n, &chosen));
		LNC_TRY(read_page(ctx, reader, arena, number, &chosen, &parts[nparts++]));
	}
	reader->next_row = first + span;
	return lnc_column_concat(ctx, arena, nparts, parts, out);
}

/* ---- taking ---- */

/* PageTakeOps.open */
static LncCode
open_taken(LncContext *ctx, void *state, LncArena *arena, uint32_t number, const LncPageSource *source, void **page)
{
	LncPage *opened;

	LNC_TRY(open_page_from(ctx, state, arena, number, source, &opened));
	*page = opened;
	return LNC_OK;
}

/* PageTakeOps.read */
static LncCode
read_taken(LncContext *ctx, void *state, LncArena *arena, void *page, const PagePiece *piece, size_t nth)
{
	LncColumnReader *reader = state;

	return read_part(ctx, reader, page, arena, piece->page, piece->first, piece->count, &reader->parts[nth]);
}

static const PageTakeOps take_ops = {open_taken, read_taken};

LncCode
lnc_column_reader_take(LncContext *ctx, LncColumnReader *reader, LncArena *arena, size_t nruns,
					   const LncRowRun *runs, LncColumn *out)
{
	PagePiece *pieces;
	size_t npieces;

	if (nruns == 0)
		return read_nothing(ctx, reader, arena, out);
	if (reader->take == NULL)
		LNC_TRY(lnc_page_take_create(ctx, reader->arena, reader->file, reader->number, &take_ops, reader,
									 &reader->take));
	LNC_TRY(lnc_page_take_plan(ctx, reader->take, arena, nruns, runs, reader->scale, &npieces, &pieces));
	if (npieces > INT32_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "the rows asked for lie in too many places");
	LNC_TRY(LNC_NEW(ctx, arena, &reader->parts, npieces));
	LNC_TRY(lnc_page_take_read(ctx, reader->take, arena, npieces, pieces));
	return lnc_column_concat(ctx, arena, (int32_t)npieces, reader->parts, out);
}
