/*
 * system_columns.h
 *	  Columns that a scan makes rather than reads: row id, row address, and the versions that a row stems from.
 */
#ifndef LNC_SCAN_SYSTEM_COLUMNS_H
#define LNC_SCAN_SYSTEM_COLUMNS_H

#include "column/column.h"
#include "dataset/dataset.h"

/* Members of a set; batches hold the columns in this order. All are uint64 without NULLs. */
typedef enum LncSystemColumn
{
	LNC_SYSTEM_ROW_ID = 1 << 0,
	LNC_SYSTEM_ROW_ADDRESS = 1 << 1,
	LNC_SYSTEM_ROW_CREATED_AT_VERSION = 1 << 2,
	LNC_SYSTEM_ROW_LAST_UPDATED_AT_VERSION = 1 << 3
} LncSystemColumn;

#define LNC_SYSTEM_COLUMNS 4
#define LNC_SYSTEM_ALL ((1u << LNC_SYSTEM_COLUMNS) - 1)

/* The member of that name ("_rowid", "_rowaddr", …), 0 when there is none. */
extern uint32_t lnc_system_column(const char *name);

/* The name of a member. */
extern const char *lnc_system_column_name(uint32_t member);

/* What the system columns of one fragment are made of. */
typedef struct LncSystemSource LncSystemSource;

/* Open the sequences that the set of columns needs of a fragment. Errors as in row_ids.h. */
extern LncCode lnc_system_source_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset,
									  const LncFragment *fragment, uint32_t columns,
									  LncSystemSource **out) LNC_MUST_CHECK;

/*
 * The columns for some rows of [first, first + count): all of them when indices is NULL (then live is count), else the
 * live rows at first + indices[i], indices ascending. out has room for a column per member of the set.
 */
extern LncCode lnc_system_source_read(LncContext *ctx, LncArena *arena, const LncSystemSource *source,
									  uint64_t first, uint64_t count, int64_t live, const int64_t *indices,
									  LncColumn *out) LNC_MUST_CHECK;

/* The columns for the rows of the fragment at these offsets, in any order, likewise. */
extern LncCode lnc_system_source_take(LncContext *ctx, LncArena *arena, const LncSystemSource *source,
									  int64_t count, const uint64_t *offsets, LncColumn *out) LNC_MUST_CHECK;

#endif
