/*
 * row_segment.c
 *	  Segments of row id sequences over the bytes of their messages.
 */
#include "dataset/row_segment.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/bitmap.h"

/* Bits of a bitmap between two ranks: the ranks take an eighth of the bitmap. */
#define BLOCK_BITS 512

static uint64_t
array_value(const LncRowArray *array, uint64_t i)
{
	switch (array->width)
	{
		case 2:
			return array->base + lnc_le16(array->bytes + 2 * i);
		case 4:
			return array->base + lnc_le32(array->bytes + 4 * i);
		default:
			return array->base + lnc_le64(array->bytes + 8 * i);
	}
}

/* ---- opening */

/* *min and *max are those of the values, unspecified when there are none. */
static LncCode
open_array(LncContext *ctx, const Lance__Table__EncodedU64Array *message, bool ascending, LncRowArray *out,
		   uint64_t *min, uint64_t *max)
{
	const ProtobufCBinaryData *bytes;

	if (message == NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "a segment of row ids lacks its array");
	out->base = 0;
	switch (message->array_case)
	{
		case LANCE__TABLE__ENCODED_U64_ARRAY__ARRAY_U16_ARRAY:
			out->width = 2;
			out->base = message->u16_array->base_value;
			bytes = &message->u16_array->offsets;
			break;
		case LANCE__TABLE__ENCODED_U64_ARRAY__ARRAY_U32_ARRAY:
			out->width = 4;
			out->base = message->u32_array->base_value;
			bytes = &message->u32_array->offsets;
			break;
		case LANCE__TABLE__ENCODED_U64_ARRAY__ARRAY_U64_ARRAY:
			out->width = 8;
			bytes = &message->u64_array->values;
			break;
		default:
			return lnc_fail(ctx, LNC_CORRUPT, "an array of row ids has no known kind");
	}
	if (bytes->len % out->width != 0)
		return lnc_fail(ctx, LNC_CORRUPT, "an array of %" PRIu32 "-byte row ids is %zu bytes long", out->width,
						bytes->len);
	out->bytes = bytes->data;
	out->count = bytes->len / out->width;
	*min = UINT64_MAX;
	*max = 0;
	for (uint64_t i = 0; i < out->count; i++)
	{
		uint64_t value = array_value(out, i);

		if (i % 65536 == 0)
			LNC_TRY(lnc_check_interrupt(ctx));
		if (value < out->base)
			return lnc_fail(ctx, LNC_CORRUPT, "a row id does not fit 64 bits");
		if (ascending && i > 0 && value <= *max)
			return lnc_fail(ctx, LNC_CORRUPT, "an array of row ids does not ascend");
		*min = value < *min ? value : *min;
		*max = value > *max ? value : *max;
	}
	return LNC_OK;
}

static LncCode
open_range(LncContext *ctx, uint64_t start, uint64_t end, LncRowSegment *out)
{
	if (start > end)
		return lnc_fail(ctx, LNC_CORRUPT, "a range of row ids ends before it starts");
	out->start = start;
	out->last = end - 1;
	out->count = end - start;
	return LNC_OK;
}

static LncCode
open_holes(LncContext *ctx, const Lance__Table__U64Segment__RangeWithHoles *message, LncRowSegment *out)
{
	uint64_t min;
	uint64_t max;

	LNC_TRY(open_range(ctx, message->start, message->end, out));
	LNC_TRY(open_array(ctx, message->holes, true, &out->array, &min, &max));
	if (out->array.count > 0 && (min < message->start || max >= message->end))
		return lnc_fail(ctx, LNC_CORRUPT, "a hole lies outside its range of row ids");
	out->count -= out->array.count;
	return LNC_OK;
}

static LncCode
open_bitmap(LncContext *ctx, LncArena *arena, const Lance__Table__U64Segment__RangeWithBitmap *message,
			LncRowSegment *out)
{
	uint64_t blocks;

	LNC_TRY(open_range(ctx, message->start, message->end, out));
	out->nbits = out->count;
	out->bits = message->bitmap.data;
	if (message->bitmap.len != lnc_bitmap_size(out->nbits))
		return lnc_fail(ctx, LNC_CORRUPT, "a bitmap of %" PRIu64 " row ids is %zu bytes long", out->nbits,
						message->bitmap.len);
	blocks = out->nbits / BLOCK_BITS + (out->nbits % BLOCK_BITS != 0);
	LNC_TRY(LNC_NEW(ctx, arena, &out->ranks, blocks));
	out->count = 0;
	for (uint64_t i = 0; i < blocks; i++)
	{
		uint64_t left = out->nbits - i * BLOCK_BITS;

		if (i % 4096 == 0)
			LNC_TRY(lnc_check_interrupt(ctx));
		out->ranks[i] = out->count;
		out->count += lnc_bits_count(out->bits, i * BLOCK_BITS, left < BLOCK_BITS ? left : BLOCK_BITS);
	}
	return LNC_OK;
}

LncCode
lnc_row_segment_open(LncContext *ctx, LncArena *arena, const Lance__Table__U64Segment *message, LncRowSegment *out)
{
	switch (message->segment_case)
	{
		case LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE:
			out->kind = LNC_ROW_SEGMENT_RANGE;
			return open_range(ctx, message->range->start, message->range->end, out);
		case LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE_WITH_HOLES:
			out->kind = LNC_ROW_SEGMENT_HOLES;
			return open_holes(ctx, message->range_with_holes, out);
		case LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE_WITH_BITMAP:
			out->kind = LNC_ROW_SEGMENT_BITMAP;
			return open_bitmap(ctx, arena, message->range_with_bitmap, out);
		case LANCE__TABLE__U64_SEGMENT__SEGMENT_SORTED_ARRAY:
			out->kind = LNC_ROW_SEGMENT_SORTED;
			LNC_TRY(open_array(ctx, message->sorted_array, true, &out->array, &out->start, &out->last));
			break;
		case LANCE__TABLE__U64_SEGMENT__SEGMENT_ARRAY:
			out->kind = LNC_ROW_SEGMENT_ARRAY;
			LNC_TRY(open_array(ctx, message->array, false, &out->array, &out->start, &out->last));
			break;
		default:
			return lnc_fail(ctx, LNC_CORRUPT, "a segment of row ids has no known kind");
	}
	out->count = out->array.count;
	return LNC_OK;
}

void
lnc_row_segment_of_values(const uint64_t *values, uint64_t count, LncRowSegment *out)
{
	bool ascending = true;

	*out = (LncRowSegment){.count = count, .start = values[0], .last = values[0]};
	for (uint64_t i = 1; i < count; i++)
	{
		ascending = ascending && values[i] > values[i - 1];
		out->start = values[i] < out->start ? values[i] : out->start;
		out->last = values[i] > out->last ? values[i] : out->last;
	}
	out->kind = ascending ? LNC_ROW_SEGMENT_SORTED : LNC_ROW_SEGMENT_ARRAY;

	/* Numbers are little-endian in memory as they are in files. */
	out->array = (LncRowArray){.width = sizeof(*values), .count = count, .bytes = (const uint8_t *)values};
}

/* ---- values by position */

/* Holes below the value at that position of the segment. */
static uint64_t
holes_before(const LncRowSegment *segment, uint64_t position)
{
	uint64_t low = 0;
	uint64_t high = segment->array.count;

	/* Hole i has (its distance from the start) - i values below it. */
	while (low < high)
	{
		uint64_t middle = low + (high - low) / 2;

		if (array_value(&segment->array, middle) - segment->start - middle <= position)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
fill_holes(const LncRowSegment *segment, uint64_t first, uint64_t count, uint64_t *out)
{
	uint64_t hole = holes_before(segment, first);
	uint64_t value = segment->start + first + hole;

	for (uint64_t i = 0; i < count; i++, value++)
	{
		while (hole < segment->array.count && array_value(&segment->array, hole) == value)
		{
			hole++;
			value++;
		}
		out[i] = value;
	}
}

static void
fill_bitmap(const LncRowSegment *segment, uint64_t first, uint64_t count, uint64_t *out)
{
	uint64_t low = 0;
	uint64_t high = segment->nbits / BLOCK_BITS + (segment->nbits % BLOCK_BITS != 0);
	uint64_t rank;

	/* The last block with no more than first bits before it. */
	while (high - low > 1)
	{
		uint64_t middle = low + (high - low) / 2;

		if (segment->ranks[middle] <= first)
			low = middle;
		else
			high = middle;
	}
	rank = segment->ranks[low];
	for (uint64_t bit = low * BLOCK_BITS; count > 0; bit++)
	{
		if (!lnc_bit(segment->bits, bit) || rank++ < first)
			continue;
		*out++ = segment->start + bit;
		count--;
	}
}

void
lnc_row_segment_fill(const LncRowSegment *segment, uint64_t first, uint64_t count, uint64_t *out)
{
	switch (segment->kind)
	{
		case LNC_ROW_SEGMENT_RANGE:
			for (uint64_t i = 0; i < count; i++)
				out[i] = segment->start + first + i;
			break;
		case LNC_ROW_SEGMENT_HOLES:
			fill_holes(segment, first, count, out);
			break;
		case LNC_ROW_SEGMENT_BITMAP:
			fill_bitmap(segment, first, count, out);
			break;
		case LNC_ROW_SEGMENT_SORTED:
		case LNC_ROW_SEGMENT_ARRAY:
			for (uint64_t i = 0; i < count; i++)
				out[i] = array_value(&segment->array, first + i);
			break;
	}
}

/* ---- positions by value */

static int
compare_positions(const void *a, const void *b, void *arg)
{
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;
	uint64_t left_value = array_value(arg, left);
	uint64_t right_value = array_value(arg, right);

	if (left_value != right_value)
		return left_value < right_value ? -1 : 1;
	return (left > right) - (left < right);
}

LncCode
lnc_row_segment_prepare_find(LncContext *ctx, LncArena *arena, LncRowSegment *segment)
{
	if (segment->kind != LNC_ROW_SEGMENT_ARRAY || segment->order != NULL)
		return LNC_OK;
	if (segment->count > UINT32_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "%" PRIu64 " row ids in one array are too many", segment->count);
	LNC_TRY(LNC_NEW(ctx, arena, &segment->order, segment->count));
	for (uint64_t i = 0; i < segment->count; i++)
		segment->order[i] = (uint32_t)i;
	qsort_r(segment->order, segment->count, sizeof(*segment->order), compare_positions, &segment->array);
	return LNC_OK;
}

/* The first position, in order of values, whose value is not less. */
static uint64_t
lower_bound(const LncRowArray *array, const uint32_t *order, uint64_t value)
{
	uint64_t low = 0;
	uint64_t high = array->count;

	while (low < high)
	{
		uint64_t middle = low + (high - low) / 2;

		if (array_value(array, order == NULL ? middle : order[middle]) < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool
lnc_row_segment_find(const LncRowSegment *segment, uint64_t value, uint64_t nth, uint64_t *position)
{
	const LncRowArray *array = &segment->array;
	uint64_t at;
	uint64_t bit;

	if (segment->count == 0 || value < segment->start || value > segment->last)
		return false;
	if (nth > 0 && segment->kind != LNC_ROW_SEGMENT_ARRAY)
		return false;
	switch (segment->kind)
	{
		case LNC_ROW_SEGMENT_RANGE:
			*position = value - segment->start;
			return true;
		case LNC_ROW_SEGMENT_HOLES:
			at = lower_bound(array, NULL, value);
			*position = value - segment->start - at;
			return at == array->count || array_value(array, at) != value;
		case LNC_ROW_SEGMENT_BITMAP:
			bit = value - segment->start;
			at = bit / BLOCK_BITS;
			*position = segment->ranks[at] + lnc_bits_count(segment->bits, at * BLOCK_BITS, bit % BLOCK_BITS);
			return lnc_bit(segment->bits, bit);
		case LNC_ROW_SEGMENT_SORTED:
			at = lower_bound(array, NULL, value);
			*position = at;
			return at < array->count && array_value(array, at) == value;
		case LNC_ROW_SEGMENT_ARRAY:
			at = lower_bound(array, segment->order, value);
			if (nth >= array->count - at)
				return false;
			*position = segment->order[at + nth];
			return array_value(array, *position) == value;
	}
	return false;
}
