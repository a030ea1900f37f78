/*
 * fragment.h
 *	  The columns of one fragment: which data file holds which field, and reading rows of them.
 *
 * What no file of a fragment stores is NULL in all its rows, be it a column or a part of a nested one: such are added
 * that way. Source of the facts: format.md section 3, "Columns to files".
 */
#ifndef LNC_SCAN_FRAGMENT_H
#define LNC_SCAN_FRAGMENT_H

#include "column/column.h"
#include "dataset/dataset.h"
#include "format/field_reader.h"

/* LNC_INVALID unless columns are fields of the schema; LNC_UNSUPPORTED, naming it, for one whose type is not read. */
extern LncCode lnc_fragment_check_columns(LncContext *ctx, LncArena *arena, const LncDataset *dataset,
										  int32_t ncolumns, const int32_t *columns) LNC_MUST_CHECK;

/* What all columns together read ahead, in bytes, as far as LNC_READ_AHEAD_LEAST for each of their buffers allows. */
#define LNC_FRAGMENT_READ_AHEAD ((uint64_t)64 * 1024 * 1024)

/* Columns of a fragment, their files open. */
typedef struct LncFragmentReader LncFragmentReader;

/*
 * Open the data files that hold the columns (ncolumns indexes of top-level fields of dataset->schema). Lives in arena;
 * dataset, fragment, columns and blobs are borrowed. *blobs counts what reading blobs will ask of stores. Errors name
 * column, file and dataset.
 */
extern LncCode lnc_fragment_reader_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset,
										const LncFragment *fragment, int32_t ncolumns, const int32_t *columns,
										LncUsage *blobs, LncFragmentReader **out) LNC_MUST_CHECK;

/* All columns are read from the fragment's first row, and soon: files that are far have their beginnings on their way. */
extern LncCode lnc_fragment_reader_expect(LncContext *ctx, const LncFragmentReader *reader) LNC_MUST_CHECK;

/*
 * Of column number index nothing is asked but which rows are NULL: what is read of it from now on may have any values, so
 * that often none has to be read.
 */
extern void lnc_fragment_reader_skip_values(LncFragmentReader *reader, int32_t index);

/*
 * Column number index for some rows of [first, first + count): all of them when indices is NULL (then live is count), else
 * the live rows at first + indices[i], indices ascending. Blobs are descriptors that can be read while the reader lives.
 */
extern LncCode lnc_fragment_reader_read(LncContext *ctx, LncFragmentReader *reader, LncArena *arena, int32_t index,
										uint64_t first, uint64_t count, int64_t live, const int64_t *indices,
										LncColumn *out) LNC_MUST_CHECK;

/* Column number index for the rows of all runs, count in all, as lnc_field_reader_take reads them. */
extern LncCode lnc_fragment_reader_take(LncContext *ctx, LncFragmentReader *reader, LncArena *arena, int32_t index,
										size_t nruns, const LncRowRun *runs, uint64_t count,
										LncColumn *out) LNC_MUST_CHECK;

#endif
