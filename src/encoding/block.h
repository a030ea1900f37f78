/*
 * block.h
 *	  Decoded values before they become a column: what every codec of file versions 2.1 and 2.2 yields.
 *
 * A block holds count values of one shape. A shape is either variable (runs of bytes) or fixed: items of some width,
 * wrapped in zero or more fixed-size lists whose items may carry validity bitmaps.
 */
#ifndef LNC_ENCODING_BLOCK_H
#define LNC_ENCODING_BLOCK_H

#include "base/arena.h"
#include "base/bytes.h"
#include "column/column.h"

/* Fixed-size lists nested deeper than this are refused (LNC_LIMIT). */
#define LNC_SHAPE_MAX_LISTS 8

typedef struct LncShape
{
	bool variable;
	uint64_t
		bits; /* fixed: of one item; 1 means an LSB-first bitmap, 0 that no item is stored (all NULL), else 8 * n */
	uint32_t nlists; /* fixed-size lists around the item, outermost first */
	uint64_t dimensions[LNC_SHAPE_MAX_LISTS];
	bool validity[LNC_SHAPE_MAX_LISTS]; /* the items of that list have a validity bitmap */
} LncShape;

/* Pointers are borrowed from the arena that the decoder was given or from its input; no alignment is promised. */
typedef struct LncBlock
{
	LncShape shape;
	uint64_t count;
	const uint8_t *items; /* fixed: count * product of dimensions items; NULL when bits is 0 */
	const uint8_t *validity[LNC_SHAPE_MAX_LISTS]; /* bit per item of that list, or NULL */
	const int64_t *offsets;                       /* variable: count + 1 positions in data, rising */
	const uint8_t *data;                          /* variable */
} LncBlock;

/* The shape that a leaf of the type has. LNC_UNSUPPORTED when values of the type are not one leaf. */
extern LncCode lnc_shape_of_type(LncContext *ctx, const LncType *type, LncShape *out) LNC_MUST_CHECK;

/*
 * Bytes that a value of the type, no struct and not of varying length, takes in a packed struct; 0 for bool, which no
 * writer stores in one by itself. LNC_UNSUPPORTED: not a number of bytes.
 */
extern LncCode lnc_packed_width(LncContext *ctx, const LncType *type, uint64_t *width) LNC_MUST_CHECK;

/* Items in one value: the product of the dimensions. LNC_CORRUPT when it overflows. */
extern LncCode lnc_shape_items(LncContext *ctx, const LncShape *shape, uint64_t *items) LNC_MUST_CHECK;

/* Bytes that count values of a fixed shape take, item bits only. LNC_CORRUPT when it overflows. */
extern LncCode lnc_shape_bytes(LncContext *ctx, const LncShape *shape, uint64_t count,
							   uint64_t *bytes) LNC_MUST_CHECK;

/*
 * LNC_CORRUPT unless values of shape stored can be read as wanted: same shape, whatever has validity; plain items as
 * wide as a whole fixed-size list; or less of a fixed-size list where all its items are NULL. On success *stored is the shape that the column's values will have: it gets the
 * lists of wanted, and the width of its items.
 */
extern LncCode lnc_shape_match(LncContext *ctx, LncShape *stored, const LncShape *wanted) LNC_MUST_CHECK;

/* Collects slices of blocks, all of one shape, into one block. */
typedef struct LncBlockBuilder
{
	LncArena *arena; /* of the result */
	LncShape shape;
	uint64_t capacity; /* values */
	uint64_t count;
	uint64_t items_per_value;
	uint8_t *items;
	uint8_t *validity[LNC_SHAPE_MAX_LISTS];
	int64_t *offsets;
	uint8_t *data;
	uint64_t data_capacity; /* bytes; grown by doubling */
} LncBlockBuilder;

/* Room for capacity values; data_hint: expected bytes of variable values. */
extern LncCode lnc_block_builder_init(LncContext *ctx, LncArena *arena, const LncShape *shape, uint64_t capacity,
									  uint64_t data_hint, LncBlockBuilder *builder) LNC_MUST_CHECK;

/* Add values [first, first + count) of block; the caller keeps within both. */
extern LncCode lnc_block_builder_append(LncContext *ctx, LncBlockBuilder *builder, const LncBlock *block,
										uint64_t first, uint64_t count) LNC_MUST_CHECK;

/* The collected values. The builder's memory becomes the block's. */
extern void lnc_block_builder_finish(const LncBlockBuilder *builder, LncBlock *out);

/*
 * values[indices[i]] for each i. indices is a block of 8, 16, 32 or 64-bit unsigned items. A value whose def level is
 * not 0 (def may be NULL: all are 0) is NULL and its index is not looked at. LNC_CORRUPT for an index beyond values.
 */
extern LncCode lnc_block_gather(LncContext *ctx, LncArena *arena, const LncBlock *values, const LncBlock *indices,
								const uint16_t *def, LncBlock *out) LNC_MUST_CHECK;

/*
 * Make a column of type out of block, whose shape matches the type's; validity (NULL: no row is NULL) is borrowed.
 * Buffers are shared with the block, or copied into arena where they are not aligned.
 */
extern LncCode lnc_block_to_column(LncContext *ctx, LncArena *arena, const LncBlock *block, const LncType *type,
								   const uint8_t *validity, LncColumn *out) LNC_MUST_CHECK;

#endif
