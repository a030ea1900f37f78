/*
 * list_reader20.h
 *	  Lists of a file column of version 2.0: their offsets, and which rows of the item column they are made of.
 */
#ifndef LNC_FORMAT_LIST_READER20_H
#define LNC_FORMAT_LIST_READER20_H

#include "format/file.h"

typedef struct LncListReader20 LncListReader20;

/* Rows [first, first + count) of the item column. */
typedef struct LncItemRun
{
	uint64_t first;
	uint64_t count;
} LncItemRun;

/* Some lists. All in the arena of the read. */
typedef struct LncItemRuns
{
	const uint8_t *validity; /* NULL: no list is NULL */
	const int64_t *offsets;  /* as of LncColumn, over the items of the runs one after the other */
	int32_t nruns;
	const LncItemRun *runs; /* none is empty; no two follow each other without a gap */
} LncItemRuns;

/*
 * Open the column of list field. *nlists, *nitems: its lists, and the items that its pages state. Everything lives in
 * arena; file and field are borrowed. LNC_CORRUPT when a page is none of lists.
 */
extern LncCode lnc_list_reader20_open(LncContext *ctx, LncArena *arena, LncFile *file, uint32_t column,
									  const LncField *field, uint64_t *nlists, uint64_t *nitems,
									  LncListReader20 **out) LNC_MUST_CHECK;

/* Lists [first, first + count). Reaching past the column's end is LNC_CORRUPT. */
extern LncCode lnc_list_reader20_read(LncContext *ctx, LncListReader20 *reader, LncArena *arena, uint64_t first,
									  uint64_t count, LncItemRuns *out) LNC_MUST_CHECK;

#endif
