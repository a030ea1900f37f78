/*
 * file.h
 *	  The data file container, versions 2.0 to 2.2: footer, column metadata, pages; reading rows of columns.
 *
 * Source of the facts: format.md section 6, proto messages lance.file.v2.ColumnMetadata and Page.
 */
#ifndef LNC_FORMAT_FILE_H
#define LNC_FORMAT_FILE_H

#include "base/arena.h"
#include "column/column.h"
#include "storage/storage.h"

typedef struct LncFile LncFile;

/*
 * Open the data file at key of store. size_hint: bytes the manifest states (0 = unknown; checked). Only the tail
 * is read; the metadata of a column is read and checked when first asked for. Everything lives in arena. LNC_UNSUPPORTED for 0.1 and 2.3 files and unknown versions, by number and
 * file; LNC_CORRUPT for a damaged container.
 */
extern LncCode lnc_file_open(LncContext *ctx, LncArena *arena, LncStore *store, const char *key, uint64_t size_hint,
							 LncFile **out) LNC_MUST_CHECK;

/* File version, 2.minor. */
extern uint32_t lnc_file_minor(const LncFile *file);

extern uint32_t lnc_file_ncolumns(const LncFile *file);

/* Readers of columns that were opened so far. */
extern uint32_t lnc_file_nreaders(const LncFile *file);

/*
 * Have each reader read ahead by no more than so many bytes of each buffer of its page (LNC_READ_AHEAD_LEAST to
 * LNC_READ_AHEAD_MOST, which is the default; others are brought into that range).
 */
#define LNC_READ_AHEAD_LEAST ((uint64_t)64 * 1024)
#define LNC_READ_AHEAD_MOST ((uint64_t)4 * 1024 * 1024)
extern void lnc_file_limit_read_ahead(LncFile *file, uint64_t bytes);

/* Have a scan of local disk keep the file open from its first page on, until the file's arena is reset. */
extern LncCode lnc_file_keep_open(LncContext *ctx, LncFile *file) LNC_MUST_CHECK;

/*
 * Have the first pages of all columns that readers were opened for on their way, where the file is not on local disk: they
 * are read from their first row, and soon.
 */
extern LncCode lnc_file_expect(LncContext *ctx, const LncFile *file) LNC_MUST_CHECK;

/*
 * Rows of a file column: the sum of its pages' lengths. LNC_CORRUPT when column is out of range, its metadata is
 * damaged or the sum overflows.
 */
extern LncCode lnc_file_column_rows(LncContext *ctx, const LncFile *file, uint32_t column,
									uint64_t *rows) LNC_MUST_CHECK;

/* Rows [first, first + count). */
typedef struct LncRowRun
{
	uint64_t first;
	uint64_t count;
} LncRowRun;

/* Facts of one page, for inspection. Strings are borrowed from the file's arena. */
typedef struct LncPageInfo
{
	uint32_t column;
	uint32_t page;
	uint64_t first_row;
	uint64_t nrows;
	uint32_t nbuffers;
	uint64_t bytes;
} LncPageInfo;

extern LncCode lnc_file_npages(LncContext *ctx, const LncFile *file, uint32_t column,
							   uint32_t *npages) LNC_MUST_CHECK;
extern LncCode lnc_file_page_info(LncContext *ctx, const LncFile *file, uint32_t column, uint32_t page,
								  LncPageInfo *out) LNC_MUST_CHECK;

/*
 * A reader of one column of an open file: that of the field path[npath - 1], which lies below the others (page.h). Sequential calls read each byte once: it keeps the page in use and
 * a read-ahead window (a few MiB at most), in an arena of its own that is closed with arena.
 */
typedef struct LncColumnReader LncColumnReader;

extern LncCode lnc_column_reader_open(LncContext *ctx, LncArena *arena, LncFile *file, uint32_t column,
									  const LncField *const *path, int32_t npath,
									  LncColumnReader **out) LNC_MUST_CHECK;

/*
 * Rows of the field that the column has: those of the column itself, except that below fixed-size lists of structs a
 * column of file versions 2.1 and 2.2 has a row per struct. UINT64_MAX when that does not divide.
 */
extern uint64_t lnc_column_reader_rows(const LncColumnReader *reader);

/* Of the rows that are read, not taken, only which are NULL is of interest: their values may be any of the type. */
extern void lnc_column_reader_nulls_only(LncColumnReader *reader);

/*
 * Rows [first, first + count) as one column in arena, shaped as by LncPage.decode. Reaching past the column's end is LNC_CORRUPT. Text columns
 * are checked to be valid UTF-8 without NUL (LNC_CORRUPT names the row).
 */
extern LncCode lnc_column_reader_read(LncContext *ctx, LncColumnReader *reader, LncArena *arena, uint64_t first,
									  uint64_t count, LncColumn *out) LNC_MUST_CHECK;

/*
 * The rows first + rows[i], count of them, ascending, at least one, as lnc_column_reader_read gives them. Of those in between only
 * what is cheaper to read than to leave out is read, and text is not checked.
 */
extern LncCode lnc_column_reader_read_some(LncContext *ctx, LncColumnReader *reader, LncArena *arena,
										   uint64_t first, uint64_t count, const int64_t *rows,
										   LncColumn *out) LNC_MUST_CHECK;

/*
 * The rows of all runs, one run after the other, as lnc_column_reader_read gives them. Runs are not empty, ascend and do
 * not overlap. Only what holds these rows is read, most of it in few calls of the store; pages used last stay open
 * for the next call.
 */
extern LncCode lnc_column_reader_take(LncContext *ctx, LncColumnReader *reader, LncArena *arena, size_t nruns,
									  const LncRowRun *runs, LncColumn *out) LNC_MUST_CHECK;

#endif
