/*
 * layout21.h
 *	  What page21.c and the page layouts behind it (mini-block, full-zip, constant) share.
 */
#ifndef LNC_ENCODING_LAYOUT21_H
#define LNC_ENCODING_LAYOUT21_H

#include "encoding/levels.h"
#include "encoding/page.h"

struct LncPage21;

/*
 * Read the slots of rows [first, first + count), which lie inside the page. Where page->whole is set: [0, nstarts). Values go to arena, levels to scratch,
 * which lives until the slots have been turned into a column.
 */
typedef LncCode (*LncReadSlots)(LncContext *ctx, struct LncPage21 *page, LncArena *arena, LncArena *scratch,
								uint64_t first, uint64_t count, LncSlots *out);

/*
 * The same for rows first + rows[i], count of them, ascending, of a page without lists. *done false: reading all from the
 * first to the last is cheaper, and nothing is in out.
 */
typedef LncCode (*LncReadSome)(LncContext *ctx, struct LncPage21 *page, LncArena *arena, LncArena *scratch,
							   uint64_t first, uint64_t count, const int64_t *rows, bool *done, LncSlots *out);

/* An open page of file version 2.1 or 2.2. Lives in the arena of open. */
typedef struct LncPage21
{
	LncPage page;
	const LncPageSource *source; /* borrowed */
	const LncField *const *path; /* borrowed, as in LncPageSpec */
	int32_t npath;
	const LncType *type;   /* of the leaf; the value type of a dictionary field, descriptors of blobs. Borrowed */
	LncShape shape;        /* of the type; unused for bare types */
	const LncCodec *codec; /* of the values; NULL for a constant */
	LncLayers layers;
	bool whole;          /* a fixed-size list of structs stands in a list: read takes all starts, not some rows */
	uint64_t nstarts;    /* slots with the highest repetition: the rows, but where whole; open lowers it then */
	LncColumn *kept;     /* whole: all rows, once decoded. In arena */
	const LncType *blob; /* the type of blobs that the values describe, or NULL */
	const LncLayers *smuggled; /* blob layout: the layers of the levels inside the positions, else NULL */
	LncGeneral *general;
	LncArena *arena;   /* the arena of open */
	LncArena *scratch; /* owned, limited unless whole; empty between calls */
	LncReadSlots read;
	LncReadSome read_some; /* NULL: there is none */
	void *layout;          /* what the layout keeps */
} LncPage21;

/* Types that have no values: null, and structs without fields. */
static inline bool
lnc_page21_is_bare(const LncPage21 *page)
{
	return page->type->kind == LNC_TYPE_NULL || (page->type->kind == LNC_TYPE_STRUCT && page->type->nchildren == 0);
}

/*
 * Each opens one layout: checks the message against page->layers (which are open), the type and the buffers, reads
 * what is kept, and sets page->read, page->layout and page->page.layout.
 */
extern LncCode lnc_miniblock_open(LncContext *ctx, LncPage21 *page,
								  const Lance__Encodings21__MiniBlockLayout *message) LNC_MUST_CHECK;
extern LncCode lnc_fullzip_open(LncContext *ctx, LncPage21 *page,
								const Lance__Encodings21__FullZipLayout *message) LNC_MUST_CHECK;
extern LncCode lnc_constant_open(LncContext *ctx, LncPage21 *page,
								 const Lance__Encodings21__ConstantLayout *message) LNC_MUST_CHECK;

/* Read [offset, offset + length) of one buffer of the page into arena. LNC_CORRUPT when it is not there. */
extern LncCode lnc_page21_read(LncContext *ctx, const LncPage21 *page, LncArena *arena, uint32_t buffer,
							   uint64_t offset, uint64_t length, LncSlice *out) LNC_MUST_CHECK;

#endif
