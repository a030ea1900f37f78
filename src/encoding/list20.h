/*
 * list20.h
 *	  Pages of lists of file version 2.0: where each list ends, and how many items the page has.
 *
 * The items are values of another column of the file: those of this page begin there at the sum of the items of the
 * pages before. A page of n lists stores n values of 64 bits, each in any encoding of numbers:
 *
 *	value			meaning
 *	v < A			the list ends before item v of the page; it begins where the list before ends, the first at 0
 *	v >= A			the list is NULL and ends, having no items of its own that count, before item v - A
 *
 * A is null_offset_adjustment. Source of the facts: format.md section 7, message lance.encodings.List.
 */
#ifndef LNC_ENCODING_LIST20_H
#define LNC_ENCODING_LIST20_H

#include "encoding/page.h"

typedef struct LncList20 LncList20;

/* Some lists of one page. Lives in the arena of the read. */
typedef struct LncLists20
{
	const uint8_t *validity; /* NULL: no list is NULL */
	const int64_t *offsets;  /* array of count + 1, from 0: the items of each list among those below */
	uint64_t first_item;     /* items [first_item, first_item + offsets[count]) of the page are these lists' */
} LncLists20;

/*
 * Open a page whose field is a list. LNC_CORRUPT: the encoding is none of lists, or its
 * numbers do not fit.
 */
extern LncCode lnc_list20_open(LncContext *ctx, LncArena *arena, const LncPageSpec *spec,
							   LncList20 **out) LNC_MUST_CHECK;

/* Items of a page, from its encoding alone. *nitems is at most INT64_MAX. */
extern LncCode lnc_list20_count(LncContext *ctx, LncArena *arena, LncSlice encoding,
								uint64_t *nitems) LNC_MUST_CHECK;

/* Lists [first, first + count) of the page. Ends that go back or beyond the page's items are LNC_CORRUPT. */
extern LncCode lnc_list20_read(LncContext *ctx, LncList20 *list, LncArena *arena, uint64_t first, uint64_t count,
							   LncLists20 *out) LNC_MUST_CHECK;

#endif
