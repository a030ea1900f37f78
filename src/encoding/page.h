/*
 * page.h
 *	  What a page decoder is: given a page's encoding message and a way to read its buffers, it gives rows.
 *
 * page20.c (file version 2.0) and page21.c (2.1, 2.2) each make one. The container (format/file.c) owns the pages
 * and the reading; encodings never see a store.
 */
#ifndef LNC_ENCODING_PAGE_H
#define LNC_ENCODING_PAGE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "column/column.h"

/* Part of one buffer of the page. */
typedef struct LncPageRange
{
	uint32_t buffer;
	uint64_t offset; /* inside the buffer */
	uint64_t length;
} LncPageRange;

/*
 * Access to the page's buffers, implemented by the container. read() checks each range against the buffer's
 * size (LNC_CORRUPT) and gives pointers that live in arena, or longer.
 */
typedef struct LncPageSource
{
	uint32_t nbuffers;
	const uint64_t *sizes; /* array of nbuffers: bytes of each */
	uint64_t gap;          /* reading at one more place costs about as much as so many bytes */
	LncCode (*read)(LncContext *ctx, const struct LncPageSource *source, LncArena *arena, size_t nranges,
					const LncPageRange *ranges, const uint8_t **outs);
	void *state;
} LncPageSource;

/* What to decode. All borrowed; must outlive the page. */
typedef struct LncPageSpec
{
	LncSlice encoding; /* the message inside the page's google.protobuf.Any */
	const LncPageSource *source;
	const LncField *const *path; /* array of npath fields: the top-level one, its child …, the column's own */
	int32_t npath;
	uint64_t nrows;      /* Page.length */
	uint32_t file_minor; /* 0, 1 or 2 of file version 2.x */
} LncPageSpec;

/*
 * An opened page. decode() gives rows [first, first + count), reading only the parts it needs; what the page keeps
 * between calls (chunk table, dictionary) lives in the arena of open. File version 2.0: rows of path[npath - 1]. Later
 * ones: the spine, that is rows of path[0], in which each struct, list and map down to the leaf has its own length,
 * offsets and validity, and the children beside the path are absent.
 */
typedef struct LncPage
{
	uint64_t nrows;

	/* Set by whoever decodes: only which rows are NULL is looked at, values may be any of the type. */
	bool nulls_only;
	const char *layout; /* "mini-block", "full-zip", "constant", "flat" … for inspection; borrowed */
	LncCode (*decode)(LncContext *ctx, struct LncPage *page, LncArena *arena, uint64_t first, uint64_t count,
					  LncColumn *out);

	/*
	 * The rows first + rows[i] alone, count of them, ascending, at least one: what only others take is neither read nor
	 * decoded. NULL: the page has no such way. *done false: decoding all from the first to the last costs less.
	 */
	LncCode (*decode_some)(LncContext *ctx, struct LncPage *page, LncArena *arena, uint64_t first, uint64_t count,
						   const int64_t *rows, bool *done, LncColumn *out);
	void *state;
} LncPage;

/*
 * Open a page of file version 2.0 (message lance.encodings.ArrayEncoding, format.md section 7), or of 2.1 and 2.2
 * (lance.encodings21.PageLayout, section 8). LNC_UNSUPPORTED names the encoding that is not read; LNC_CORRUPT says
 * what breaks the format. The caller adds file and column.
 */
extern LncCode lnc_page20_open(LncContext *ctx, LncArena *arena, const LncPageSpec *spec,
							   LncPage **out) LNC_MUST_CHECK;
extern LncCode lnc_page21_open(LncContext *ctx, LncArena *arena, const LncPageSpec *spec,
							   LncPage **out) LNC_MUST_CHECK;

#endif
