/*
 * column.h
 *	  In-memory columns and batches, in Arrow's buffer layout.
 *
 * Offsets are always int64, starting at 0; validity and bool values are LSB-first bitmaps starting at bit 0.
 * A batch and all its buffers live in one arena; nothing is reference counted.
 */
#ifndef LNC_COLUMN_COLUMN_H
#define LNC_COLUMN_COLUMN_H

#include "base/arena.h"
#include "column/type.h"

/*
 * One column of length rows.
 *
 *	type				buffers
 *	null				none, every row is NULL
 *	bool				values: bitmap
 *	fixed width			values: length * lnc_type_width bytes
 *	fixed-size list		children[0]: length * list_size items (its validity: the items'), of fixed width or bool
 *	utf8, binary, json	offsets[length + 1], data[offsets[length]]
 *	list, map			offsets[length + 1], children[0]: offsets[length] items
 *	struct				children: one per field, length rows each
 *	blob, blob v2		children: the descriptors of column/blob.h, length rows each; the bytes are elsewhere
 *
 * Values under a NULL are unspecified but inside the buffers. Text is valid UTF-8 only where the reader says so. A
 * dictionary field gives a column of its value type. An absent column has type and length, and no buffers or children.
 */
typedef struct LncColumn
{
	const LncType *type; /* borrowed from the schema */
	int64_t length;
	bool absent;             /* the place of a part that is not stored here */
	const uint8_t *validity; /* bit set = not NULL; NULL pointer = no row is NULL */
	const void *values;
	const int64_t *offsets;
	const uint8_t *data;
	int32_t nchildren;
	struct LncColumn *children;
	struct LncBlobSource
		*blobs; /* blob, blob v2: where the bytes are (dataset/blob.h); lives as long as the batch */
} LncColumn;

typedef struct LncBatch
{
	int64_t length;
	int32_t ncolumns;
	LncColumn *columns;
} LncBatch;

/* The type that a field's column has: that of its values for a dictionary. */
static inline const LncType *
lnc_column_type(const LncType *type)
{
	return type->kind == LNC_TYPE_DICTIONARY && type->nchildren == 1 ? &type->children[0].type : type;
}

/* The place of length rows that are not stored. */
static inline LncColumn
lnc_column_absent(const LncType *type, int64_t length)
{
	LncColumn column = {.type = lnc_column_type(type), .length = length, .absent = true};

	return column;
}

static inline bool
lnc_column_is_null(const LncColumn *column, int64_t row)
{
	return column->type->kind == LNC_TYPE_NULL ||
		   (column->validity != NULL && !lnc_bit(column->validity, (uint64_t)row));
}

/* The value of a row of integers, dates, times, timestamps or durations, or of truths: 0, 1. uint64 as the int64 of its bits. */
static inline int64_t
lnc_column_integer(const LncColumn *column, int64_t row)
{
	switch (column->type->kind)
	{
		case LNC_TYPE_BOOL:
			return lnc_bit(column->values, (uint64_t)row);
		case LNC_TYPE_INT8:
			return ((const int8_t *)column->values)[row];
		case LNC_TYPE_INT16:
			return ((const int16_t *)column->values)[row];
		case LNC_TYPE_INT32:
		case LNC_TYPE_DATE32:
		case LNC_TYPE_TIME32:
			return ((const int32_t *)column->values)[row];
		case LNC_TYPE_UINT8:
			return ((const uint8_t *)column->values)[row];
		case LNC_TYPE_UINT16:
			return ((const uint16_t *)column->values)[row];
		case LNC_TYPE_UINT32:
			return ((const uint32_t *)column->values)[row];
		default:
			return ((const int64_t *)column->values)[row];
	}
}

/* The value of a row of text or binary, borrowed; data is NULL where it is empty. */
static inline LncSlice
lnc_column_bytes(const LncColumn *column, int64_t row)
{
	LncSlice bytes = {.size = (size_t)(column->offsets[row + 1] - column->offsets[row])};

	if (bytes.size > 0)
		bytes.data = column->data + column->offsets[row];
	return bytes;
}

/* Store count of the integers as the values of such a type, or of uint64, to which they are cut. */
extern void lnc_column_store_integers(const LncType *type, int64_t count, const int64_t *integers, void *values);

/* length NULL rows of the type, nested children included. LNC_LIMIT when they take more than 1 GiB. */
extern LncCode lnc_column_nulls(LncContext *ctx, LncArena *arena, const LncType *type, int64_t length,
								LncColumn *out) LNC_MUST_CHECK;

/* The parts, all of one type, one after the other. One part: buffers are shared, not copied. */
extern LncCode lnc_column_concat(LncContext *ctx, LncArena *arena, int32_t nparts, const LncColumn *parts,
								 LncColumn *out) LNC_MUST_CHECK;

/* Rows [first, first + count). Buffers are copied only where they do not start at a bit-0 boundary. */
extern LncCode lnc_column_slice(LncContext *ctx, LncArena *arena, const LncColumn *column, int64_t first,
								int64_t count, LncColumn *out) LNC_MUST_CHECK;

/* The rows named by indices (each < column->length), in that order. */
extern LncCode lnc_column_take(LncContext *ctx, LncArena *arena, const LncColumn *column, int64_t count,
							   const int64_t *indices, LncColumn *out) LNC_MUST_CHECK;

#endif
