/*
 * row_segment.h
 *	  One segment of a row id sequence: a set of numbers in some order, as row_ids.h lists the kinds.
 */
#ifndef LNC_DATASET_ROW_SEGMENT_H
#define LNC_DATASET_ROW_SEGMENT_H

#include "base/arena.h"
#include "base/bytes.h"
#include "proto/row_ids.pb-c.h"

typedef enum LncRowSegmentKind
{
	LNC_ROW_SEGMENT_RANGE,
	LNC_ROW_SEGMENT_HOLES,
	LNC_ROW_SEGMENT_BITMAP,
	LNC_ROW_SEGMENT_SORTED,
	LNC_ROW_SEGMENT_ARRAY
} LncRowSegmentKind;

/* Numbers as they are stored: value i is base + the i-th little-endian number of width bytes. */
typedef struct LncRowArray
{
	uint64_t base;
	uint32_t width; /* 2, 4 or 8 */
	uint64_t count;
	const uint8_t *bytes; /* borrowed from the message, or from who made the values */
} LncRowArray;

/* Read-only once opened and prepared. */
typedef struct LncRowSegment
{
	LncRowSegmentKind kind;
	uint64_t first_row; /* of the sequence's rows, set by the caller */
	uint64_t count;
	uint64_t start;    /* the least value; of ranges, where the range begins */
	uint64_t last;     /* the greatest; of ranges, the end of the range minus one */
	LncRowArray array; /* holes, or values */
	const uint8_t *bits;
	uint64_t nbits;
	uint64_t *ranks; /* bits set before each block of the bitmap */
	uint32_t *order; /* of an unsorted array, after prepare_find: positions by value, then position */
} LncRowSegment;

/*
 * Check a segment's message and open it over its bytes, which must live as long. Memory stays below twice the bytes.
 * LNC_CORRUPT: a range that ends before it starts, holes outside of it, arrays that should ascend and don't, a bitmap
 * of the wrong length, numbers beyond 64 bits, no segment at all.
 */
extern LncCode lnc_row_segment_open(LncContext *ctx, LncArena *arena, const Lance__Table__U64Segment *message,
									LncRowSegment *out) LNC_MUST_CHECK;

/* A segment of count values, at least one, which are borrowed. */
extern void lnc_row_segment_of_values(const uint64_t *values, uint64_t count, LncRowSegment *out);

/* Values [first, first + count) of the segment's count, in order, into out. */
extern void lnc_row_segment_fill(const LncRowSegment *segment, uint64_t first, uint64_t count, uint64_t *out);

/* Make lnc_row_segment_find possible. */
extern LncCode lnc_row_segment_prepare_find(LncContext *ctx, LncArena *arena,
											LncRowSegment *segment) LNC_MUST_CHECK;

/* The position of the nth (from 0) occurrence of value; false when there is none. Only an array repeats values. */
extern bool lnc_row_segment_find(const LncRowSegment *segment, uint64_t value, uint64_t nth, uint64_t *position);

#endif
