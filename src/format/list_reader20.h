/*
 * list_reader20.h
 *	  Lists of a file column of version 2.0: their offsets, and which rows of the item column they are made of.
 */
#ifndef LNC_FORMAT_LIST_READER20_H
#define LNC_FORMAT_LIST_READER20_H

#include "format/file.h"

typedef struct LncListReader20 LncListReader20;

/* Some lists. All in the arena of the read. */
typedef struct LncItemRuns
{
	const uint8_t *validity; /* NULL: no list is NULL */
	const int64_t *offsets;  /* as of LncColumn, over the items of the runs one after the other */
	size_t nruns;
	const LncRowRun *runs; /* rows of the item column: ascending, none empty, no two without a gap between */
} LncItemRuns;

/*
 * Open the column of list field. *nlists, *nitems: its lists, and the items that its pages state. Everything lives in
 * arena; file and field are borrowed. LNC_CORRUPT when a page is none of lists.
 */
extern LncCode lnc_list_reader20_open(LncContext *ctx, LncArena *arena, LncFile *file, uint32_t column,
									  const LncField *field, uint64_t *nlists, uint64_t *nitems,
									  LncListReader20 **out) LNC_MUST_CHECK;

/*
 * The lists of all runs, which ascend and are count in all; what follows the last call's lists is read ahead of. Reaching
 * past the column's end is LNC_CORRUPT.
 */
extern LncCode lnc_list_reader20_read(LncContext *ctx, LncListReader20 *reader, LncArena *arena, size_t nruns,
									  const LncRowRun *runs, uint64_t count, LncItemRuns *out) LNC_MUST_CHECK;

/* The same as lnc_column_reader_take takes: for runs that lie apart. */
extern LncCode lnc_list_reader20_take(LncContext *ctx, LncListReader20 *reader, LncArena *arena, size_t nruns,
									  const LncRowRun *runs, uint64_t count, LncItemRuns *out) LNC_MUST_CHECK;

#endif
