/*
 * field_reader.h
 *	  Reading a top-level field as a column tree, with the parts of it that one data file holds.
 *
 * Which parts have a file column depends on the file version: in 2.0 each field, in 2.1 and 2.2 the leaves alone
 * (lnc_field_is_leaf). Source of the facts: format.md section 3, "Columns to files".
 */
#ifndef LNC_FORMAT_FIELD_READER_H
#define LNC_FORMAT_FIELD_READER_H

#include "format/file.h"

/* What a data file stores: field field_ids[i] lies in file column columns[i]. Negative ids count for nothing. */
typedef struct LncFieldMap
{
	int32_t count;
	const int32_t *field_ids;
	const int32_t *columns;
} LncFieldMap;

/* True for a field that has one file column to itself and no children that have any, in file versions 2.1 and 2.2. */
extern bool lnc_field_is_leaf(const LncField *field);

/* LNC_UNSUPPORTED, with the type's name, when the field or a part of it has a type that is not read. */
extern LncCode lnc_field_check(LncContext *ctx, LncArena *arena, const LncField *field) LNC_MUST_CHECK;

/* True when the file stores the field or a part of it. */
extern bool lnc_field_map_holds(const LncFieldMap *map, const LncField *field);

/* The file column of the field itself, or -1. LNC_CORRUPT when the field is listed twice or its column is negative. */
extern LncCode lnc_field_map_find(LncContext *ctx, const LncFieldMap *map, const LncField *field,
								  int32_t *column) LNC_MUST_CHECK;

typedef struct LncFieldReader LncFieldReader;

/*
 * Open what file holds of field, which lnc_field_map_holds says is something. The field, and every column of a file
 * version above 2.0, must have nrows rows (LNC_CORRUPT). All but out is borrowed, map only until the return.
 */
extern LncCode lnc_field_reader_open(LncContext *ctx, LncArena *arena, LncFile *file, const LncField *field,
									 const LncFieldMap *map, uint64_t nrows, LncFieldReader **out) LNC_MUST_CHECK;

/* As lnc_column_reader_nulls_only, where the file version has a use for it. */
extern void lnc_field_reader_nulls_only(LncFieldReader *reader);

/*
 * Rows [first, first + count) of the field in arena. Parts that the file does not hold are absent columns. Text is
 * checked to be valid UTF-8 without NUL.
 */
extern LncCode lnc_field_reader_read(LncContext *ctx, LncFieldReader *reader, LncArena *arena, uint64_t first,
									 uint64_t count, LncColumn *out) LNC_MUST_CHECK;

/* The rows first + rows[i], count of them, ascending, at least one, read as by lnc_column_reader_read_some. */
extern LncCode lnc_field_reader_read_some(LncContext *ctx, LncFieldReader *reader, LncArena *arena, uint64_t first,
										  uint64_t count, const int64_t *rows, LncColumn *out) LNC_MUST_CHECK;

/* The rows of all runs, count in all, taken as by lnc_column_reader_take. */
extern LncCode lnc_field_reader_take(LncContext *ctx, LncFieldReader *reader, LncArena *arena, size_t nruns,
									 const LncRowRun *runs, uint64_t count, LncColumn *out) LNC_MUST_CHECK;

#endif
