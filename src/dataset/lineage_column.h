/*
 * lineage_column.h
 *	  Row ids and row versions that a fragment keeps in a hidden column of one of its data files (reader flag 11).
 *
 *	field	values
 *	-3		row ids
 *	-4		versions in which the rows were created
 *	-5		versions in which the rows were last changed
 *
 * Source of the facts: format.md section 3, "Columns to files", and the comments of lance.table.DataFragment.
 */
#ifndef LNC_DATASET_LINEAGE_COLUMN_H
#define LNC_DATASET_LINEAGE_COLUMN_H

#include "dataset/dataset.h"

#define LNC_FIELD_ROW_IDS (-3)
#define LNC_FIELD_CREATED_VERSIONS (-4)
#define LNC_FIELD_UPDATED_VERSIONS (-5)

/*
 * Read the hidden column of that field id: *out is an array in arena, a number for each of the fragment's rows.
 * LNC_CORRUPT: no file of the fragment, or more than one, has it, or it is no column of numbers; LNC_LIMIT: more than
 * 1 GiB of them; otherwise the errors of reading a data file.
 */
extern LncCode lnc_lineage_column_read(LncContext *ctx, LncArena *arena, const LncDataset *dataset,
									   const LncFragment *fragment, int32_t field_id,
									   uint64_t **out) LNC_MUST_CHECK;

#endif
