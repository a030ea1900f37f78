/*
 * null_check.h
 *	  Whether a column holds a NULL.
 */
#ifndef LNC_SCAN_NULL_CHECK_H
#define LNC_SCAN_NULL_CHECK_H

#include "column/field_path.h"
#include "dataset/dataset.h"

/*
 * Read the column, whole but for deleted rows, up to the first NULL. path is one of dataset->schema: a column, or a field
 * of structs, of which rows count where the structs themselves are not NULL. LNC_UNSUPPORTED: a field inside of lists
 * or other types, and what scans do not read.
 */
extern LncCode lnc_scan_has_null(LncContext *ctx, const LncDataset *dataset, const LncFieldPath *path,
								 bool *out) LNC_MUST_CHECK;

#endif
