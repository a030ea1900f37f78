/*
 * blob.h
 *	  Columns of blobs: descriptors that say where the bytes of each value are. dataset/blob.h reads them.
 *
 * The children of a column of type BLOB or BLOB_V2, whatever file version it comes from; none of them has NULLs of its
 * own, the column's validity counts:
 *
 *	child		type	of an old blob
 *	kind		uint8	0, inline
 *	position	uint64	in the data file
 *	size		uint64	bytes
 *	blob_id		uint32	0
 *	blob_uri	utf8	""
 *
 * Source of the facts: format.md section 9.
 */
#ifndef LNC_COLUMN_BLOB_H
#define LNC_COLUMN_BLOB_H

#include "column/column.h"

typedef enum LncBlobPart
{
	LNC_BLOB_KIND,
	LNC_BLOB_POSITION,
	LNC_BLOB_SIZE,
	LNC_BLOB_ID,
	LNC_BLOB_URI,
	LNC_BLOB_NPARTS
} LncBlobPart;

/* The struct of these children. Its fields have no ids. */
extern const LncType *lnc_blob_struct(void);

/* The struct of position and size alone, as old blobs are stored. */
extern const LncType *lnc_blob_pair(void);

/*
 * A column of old blobs of that type, with these positions and sizes (count each; aligned, borrowed as validity is,
 * which may be NULL).
 */
extern LncCode lnc_blob_column(LncContext *ctx, LncArena *arena, const LncType *type, uint64_t count,
							   const uint8_t *validity, const uint64_t *positions, const uint64_t *sizes,
							   LncColumn *out) LNC_MUST_CHECK;

/* The column of that type of blobs that has the children of a column of lnc_blob_struct. */
extern LncColumn lnc_blob_from_struct(const LncType *type, const LncColumn *parts);

static inline bool
lnc_type_is_blob(const LncType *type)
{
	return type->kind == LNC_TYPE_BLOB || type->kind == LNC_TYPE_BLOB_V2;
}

#endif
