/*
 * file_internal.h
 *	  What file.c and the column reader share: an open file, the parsed metadata of its columns, the page source.
 */
#ifndef LNC_FORMAT_FILE_INTERNAL_H
#define LNC_FORMAT_FILE_INTERNAL_H

#include "encoding/page.h"
#include "format/file.h"
#include "storage/recall.h"

/* One page as the column metadata states it; offsets and sizes were checked against the file. */
typedef struct FilePage
{
	uint64_t first_row;
	uint64_t nrows;
	uint32_t nbuffers;
	const uint64_t *offsets; /* in the file; owned by the file's arena, as are sizes and encoding */
	const uint64_t *sizes;
	LncSlice encoding; /* a google.protobuf.Any, unless it is stored elsewhere */
	bool indirect;     /* encoding is at encoding_offset of the file */
	uint64_t encoding_offset;
	uint64_t encoding_length;
} FilePage;

/* One column. All but position and length is filled when it is loaded. */
typedef struct FileColumn
{
	uint64_t position; /* of the metadata in the file */
	uint64_t length;
	bool loaded;
	bool blob; /* version 2.0: values are positions and sizes of blobs */
	uint64_t nrows;
	uint32_t npages;
	FilePage *pages;
} FileColumn;

/* A run of the file's metadata kept in memory. */
typedef struct FileRegion
{
	uint64_t offset;
	LncSlice bytes;
} FileRegion;

struct LncFile
{
	LncArena *arena; /* borrowed; holds everything below */
	LncStore *store; /* borrowed */
	const char *key;
	LncIdentity identity; /* by which its metadata is remembered */
	uint64_t size;
	uint32_t minor;
	uint64_t metadata_end; /* no column metadata lies at or beyond */
	uint32_t ncolumns;
	FileColumn *columns;
	FileRegion tail;
	FileRegion *region;              /* metadata read last, outside the tail */
	uint32_t nreaders;               /* page readers that were made */
	struct LncColumnReader *readers; /* that were opened, the last one first */
	uint64_t read_ahead;             /* largest window of each of their buffers, in bytes */
	LncOpenObject *open;             /* for the reads of page readers; NULL: each opens the file anew */
};

/* The column's metadata, loaded if need be. LNC_CORRUPT when there is no such column or it is damaged. */
extern LncCode lnc_file_load_column(LncContext *ctx, const LncFile *file, uint32_t column,
									const FileColumn **out) LNC_MUST_CHECK;

/* The page of the column that holds row; rows beyond the last page give npages. Empty pages hold none. */
extern uint32_t lnc_file_find_page(const FileColumn *column, uint64_t row);

/*
 * The encoding message of a page, out of the google.protobuf.Any around it, in arena or borrowed. LNC_UNSUPPORTED: it is
 * not of the kind that belongs to the file's version.
 */
extern LncCode lnc_file_page_message(LncContext *ctx, LncArena *arena, const LncFile *file, const FilePage *page,
									 LncSlice *out) LNC_MUST_CHECK;

/* Add 'File "…", column …' to the error just recorded, unless the detail names a file already; returns code. */
extern LncCode lnc_file_blame(LncContext *ctx, LncCode code, const LncFile *file, int64_t column, int64_t page);

/*
 * The buffers of one page, read through a window per buffer. Create once per reader; open for each page.
 */
typedef struct PageReader PageReader;

extern LncCode lnc_page_reader_create(LncContext *ctx, LncArena *arena, LncFile *file,
									  PageReader **out) LNC_MUST_CHECK;

/* Serve page from now on; what was kept of the page before is dropped. page is borrowed. */
extern LncCode lnc_page_reader_open(LncContext *ctx, PageReader *reader, const FilePage *page) LNC_MUST_CHECK;

/*
 * Have the first bytes of a page's buffers, at most most of each, on their way before it is served: the page that is read
 * next. page is borrowed until then. Nothing happens on local disk.
 */
extern LncCode lnc_page_reader_expect(LncContext *ctx, PageReader *reader, const FilePage *page,
									  uint64_t most) LNC_MUST_CHECK;

/* The same while a page is read in order, once what is left of it, so many of its rows, fits a window. */
extern LncCode lnc_page_reader_expect_next(LncContext *ctx, PageReader *reader, const FilePage *page,
										   uint64_t rows_left) LNC_MUST_CHECK;

/* Tell whether the page is being opened: what is read exactly for that is remembered by the file's identity. */
extern void lnc_page_reader_opening(PageReader *reader, bool opening);

/* Longer parts of a page are not remembered. */
#define LNC_LONGEST_REMEMBERED ((uint64_t)1024 * 1024)

/* The source to give to the page decoder; stays valid for the reader's life. */
extern const LncPageSource *lnc_page_reader_source(const PageReader *reader);

/* Tell whether the next reads go on where the last ended: widens the windows step by step, or makes them small. */
extern void lnc_page_reader_sequential(PageReader *reader, bool sequential);

/* Check that a range lies inside its buffer of the page; LNC_CORRUPT otherwise. */
extern LncCode lnc_page_range_check(LncContext *ctx, const FilePage *page, const LncPageRange *range);

/*
 * Scattered rows of a column. The bytes that many pieces need are read together, nothing else is; some pages stay open
 * for the next call.
 */
typedef struct PageTake PageTake;

/* Rows [first, first + count) of one page, count > 0. */
typedef struct PagePiece
{
	uint32_t page;
	uint64_t first;
	uint64_t count;
} PagePiece;

/*
 * What a reader does with a page. Both are called again from the start when they fail for bytes that source does not
 * have yet: failing, they leave no trace.
 */
typedef struct PageTakeOps
{
	/* Open page number in arena; *page is handed to read. */
	LncCode (*open)(LncContext *ctx, void *state, LncArena *arena, uint32_t number, const LncPageSource *source,
					void **page);
	/* Read a piece into arena; nth is its number in the call of lnc_page_take_read. */
	LncCode (*read)(LncContext *ctx, void *state, LncArena *arena, void *page, const PagePiece *piece, size_t nth);
} PageTakeOps;

/* ops and state are borrowed. */
extern LncCode lnc_page_take_create(LncContext *ctx, LncArena *arena, const LncFile *file, uint32_t column,
									const PageTakeOps *ops, void *state, PageTake **out) LNC_MUST_CHECK;

/*
 * The pieces of the runs, each times scale rows of the column, in arena. LNC_CORRUPT when a run reaches past the
 * column's end.
 */
extern LncCode lnc_page_take_plan(LncContext *ctx, const PageTake *take, LncArena *arena, size_t nruns,
								  const LncRowRun *runs, uint64_t scale, size_t *npieces,
								  PagePiece **pieces) LNC_MUST_CHECK;

/* Have every piece read, in any order. Errors name file, column and page. */
extern LncCode lnc_page_take_read(LncContext *ctx, PageTake *take, LncArena *arena, size_t npieces,
								  const PagePiece *pieces) LNC_MUST_CHECK;

#endif
