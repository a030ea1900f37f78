/*
 * field_reader20.h
 *	  The field reader (field_reader.h) for files of version 2.0, where structs and lists have file columns too.
 */
#ifndef LNC_FORMAT_FIELD_READER20_H
#define LNC_FORMAT_FIELD_READER20_H

#include "format/field_reader.h"

typedef struct LncFieldReader20 LncFieldReader20;

/* As their namesakes of lnc_field_reader. */
extern LncCode lnc_field_reader20_open(LncContext *ctx, LncArena *arena, LncFile *file, const LncField *field,
									   const LncFieldMap *map, uint64_t nrows,
									   LncFieldReader20 **out) LNC_MUST_CHECK;
extern LncCode lnc_field_reader20_read(LncContext *ctx, LncFieldReader20 *reader, LncArena *arena, uint64_t first,
									   uint64_t count, LncColumn *out) LNC_MUST_CHECK;
extern LncCode lnc_field_reader20_read_some(LncContext *ctx, LncFieldReader20 *reader, LncArena *arena,
											uint64_t first, uint64_t count, const int64_t *rows,
											LncColumn *out) LNC_MUST_CHECK;
extern LncCode lnc_field_reader20_take(LncContext *ctx, LncFieldReader20 *reader, LncArena *arena, size_t nruns,
									   const LncRowRun *runs, uint64_t count, LncColumn *out) LNC_MUST_CHECK;

#endif
