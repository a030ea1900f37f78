/*
 * page20_decode.c
 *	  Rows of an opened page of file version 2.0.
 *
 * Every buffer of the result lies in the arena of the call: a batch outlives its page.
 */
#include <inttypes.h>

#include "base/bitmap.h"
#include "column/blob.h"
#include "encoding/bitpack.h"
#include "encoding/block.h"
#include "encoding/page20.h"

/* ---- buffers ---- */

/* Read a compressed buffer whole, once. */
static LncCode
decompress(LncContext *ctx, LncPage20 *page, LncNode20 *node)
{
	LncPageRange range = {node->buffer, 0, page->source->sizes[node->buffer]};
	LncArena *scratch;
	const uint8_t *bytes;
	LncCode code;

	if (node->decompressed)
		return LNC_OK;
	if (page->general == NULL)
		LNC_TRY(lnc_general_create(ctx, page->arena, &page->general));
	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = page->source->read(ctx, page->source, scratch, 1, &range, &bytes);
	if (code == LNC_OK)
		code = lnc_general_decode(ctx, page->general, page->arena, node->scheme,
								  (LncSlice){bytes, (size_t)range.length}, &node->plain);
	lnc_arena_destroy(scratch);
	node->decompressed = code == LNC_OK;
	return code;
}

/* Bytes [offset, offset + length) of the node's buffer after decompression, in arena. */
static LncCode
read_bytes(LncContext *ctx, LncPage20 *page, LncNode20 *node, LncArena *arena, uint64_t offset, uint64_t length,
		   const uint8_t **out)
{
	LncPageRange range = {node->buffer, offset, length};
	void *copy;

	if (!node->compressed)
		return page->source->read(ctx, page->source, arena, 1, &range, out);
	LNC_TRY(decompress(ctx, page, node));
	if (!lnc_range_ok(offset, length, node->plain.size))
		return lnc_fail(ctx, LNC_CORRUPT,
						"bytes %" PRIu64 " to %" PRIu64
						" are not inside buffer %u, which decompresses to %zu bytes",
						offset, offset + length, node->buffer, node->plain.size);
	LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)length, &copy));
	if (length > 0)
		memcpy(copy, node->plain.data + offset, (size_t)length);
	*out = copy;
	return LNC_OK;
}

/* Readers of columns may load values by their type: move values that are not aligned for it. */
static LncCode
align_values(LncContext *ctx, LncArena *arena, uint64_t width, uint64_t bytes, const uint8_t **values)
{
	uint64_t alignment = width & (0 - width); /* the power of two in the width */
	void *copy;

	if (alignment > 16)
		alignment = 16;
	if (alignment <= 1 || (uintptr_t)*values % alignment == 0)
		return LNC_OK;
	LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)bytes, &copy));
	memcpy(copy, *values, (size_t)bytes);
	*values = copy;
	return LNC_OK;
}

/* ---- values ---- */

static LncCode
decode_flat(LncContext *ctx, LncPage20 *page, LncNode20 *node, LncArena *arena, uint64_t first, uint64_t count,
			LncColumn *out)
{
	uint64_t width = node->bits / 8;
	const uint8_t *values;

	if (node->bits == 1)
	{
		uint64_t from = first / 8;
		uint8_t *bits;

		LNC_TRY(read_bytes(ctx, page, node, arena, from, lnc_bitmap_size(first + count) - from, &values));
		if (first % 8 != 0)
		{
			LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size(count), 1, (void **)&bits));
			lnc_bits_copy(bits, 0, values, first % 8, count);
			values = bits;
		}
		out->values = values;
		return LNC_OK;
	}
	/* The products fit: they are below what was checked at open, or the parent's ends of strings. */
	LNC_TRY(read_bytes(ctx, page, node, arena, first * width, count * width, &values));
	LNC_TRY(align_values(ctx, arena, width, count * width, &values));
	out->values = values;
	return LNC_OK;
}

/* Sign-extend or not: value of W bits at bit position at of a stream. */
static inline uint64_t
stream_value(const uint8_t *bytes, uint64_t at, uint32_t packed, bool is_signed)
{
	uint64_t value = 0;
	uint32_t got = 0;

	bytes += at / 8;
	at %= 8;
	while (got < packed)
	{
		value |= (uint64_t)(*bytes++ >> at) << got;
		got += 8 - (uint32_t)at;
		at = 0;
	}
	if (packed < 64)
	{
		value &= (UINT64_C(1) << packed) - 1;
		if (is_signed && (value >> (packed - 1)) != 0)
			value |= ~((UINT64_C(1) << packed) - 1);
	}
	return value;
}

static LncCode
decode_bitpacked(LncContext *ctx, LncPage20 *page, LncNode20 *node, LncArena *arena, uint64_t first, uint64_t count,
				 LncColumn *out)
{
	uint64_t width = node->bits / 8;
	uint64_t begin = first * node->packed;
	uint64_t end = (first + count) * node->packed;
	const uint8_t *bytes;
	uint8_t *values;

	LNC_TRY(read_bytes(ctx, page, node, arena, begin / 8, lnc_bitmap_size(end) - begin / 8, &bytes));
	LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)(count * width), (void **)&values));
	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t value = stream_value(bytes, begin % 8 + i * node->packed, node->packed, node->is_signed);

		memcpy(values + i * width, &value, (size_t)width);
	}
	out->values = values;
	return LNC_OK;
}

static LncCode
decode_blocks(LncContext *ctx, LncPage20 *page, LncNode20 *node, LncArena *arena, uint64_t first, uint64_t count,
			  LncColumn *out)
{
	uint64_t width = node->bits / 8;
	uint64_t block_bytes = (uint64_t)node->packed * (LNC_BITPACK_BLOCK / 8);
	uint64_t block = first / LNC_BITPACK_BLOCK;
	uint64_t last = count == 0 ? block : (first + count - 1) / LNC_BITPACK_BLOCK + 1;
	uint64_t skip = first % LNC_BITPACK_BLOCK;
	uint64_t done = 0;
	const uint8_t *bytes;
	uint8_t *values;
	_Alignas(16) uint8_t unpacked[LNC_BITPACK_BLOCK * 8];

	LNC_TRY(read_bytes(ctx, page, node, arena, block * block_bytes, (last - block) * block_bytes, &bytes));
	LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)(count * width), (void **)&values));
	for (; block < last; block++, bytes += block_bytes)
	{
		uint64_t n = LNC_BITPACK_BLOCK - skip;

		if (n > count - done)
			n = count - done;
		lnc_bitpack_unpack((uint32_t)node->bits, node->packed, bytes, unpacked);
		memcpy(values + done * width, unpacked + skip * width, (size_t)(n * width));
		done += n;
		skip = 0;
	}
	out->values = values;
	return LNC_OK;
}

static LncCode
decode_constant(LncContext *ctx, LncNode20 *node, LncArena *arena, uint64_t count, LncColumn *out)
{
	uint64_t width = node->constant.size;
	uint64_t bytes;
	uint8_t *values;

	if (lnc_mul_overflow(count, width, &bytes) || bytes > LNC_NODE20_MAX_MADE)
		return lnc_fail(ctx, LNC_LIMIT, "%" PRIu64 " constant values of %" PRIu64 " bytes are too many", count,
						width);
	if (node->type->kind == LNC_TYPE_BOOL)
	{
		LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size(count), 1, (void **)&values));
		lnc_bits_fill(values, 0, count, (node->constant.data[0] & 1) != 0);
	}
	else
	{
		LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)bytes, (void **)&values));
		for (uint64_t i = 0; i < count && width > 0; i++)
			memcpy(values + i * width, node->constant.data, (size_t)width);
	}
	out->values = values;
	return LNC_OK;
}

/* ---- strings ---- */

static LncCode
decode_binary(LncContext *ctx, LncPage20 *page, LncNode20 *node, LncArena *arena, uint64_t first, uint64_t count,
			  LncColumn *out)
{
	uint64_t before = first > 0 ? 1 : 0; /* the end of the value before is where ours begin */
	uint64_t start = 0;
	uint64_t previous;
	LncColumn indices;
	LncColumn bytes;
	const uint64_t *ends;
	int64_t *offsets;
	uint8_t *validity;
	bool any_null = false;

	LNC_TRY(lnc_node20_decode(ctx, page, node->first, arena, first - before, count + before, &indices));
	if (indices.validity != NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "the end of a string is NULL");
	ends = indices.values;
	LNC_TRY(lnc_arena_calloc(ctx, arena, (size_t)count + 1, sizeof(*offsets), (void **)&offsets));
	LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size(count), 1, (void **)&validity));
	if (before != 0)
	{
		start = ends[0] >= node->null_adjustment ? ends[0] - node->null_adjustment : ends[0];
		ends++;
	}
	previous = start;
	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t end = ends[i];

		if (end >= node->null_adjustment)
		{
			end -= node->null_adjustment;
			any_null = true;
		}
		else
			lnc_bit_set(validity, i);
		if (end < previous || end - start > INT64_MAX)
			return lnc_fail(ctx, LNC_CORRUPT,
							"value %" PRIu64 " ends at byte %" PRIu64 ", before its start %" PRIu64, first + i, end,
							previous);
		previous = end;
		offsets[i + 1] = (int64_t)(end - start);
	}
	LNC_TRY(lnc_node20_decode(ctx, page, node->second, arena, start, previous - start, &bytes));
	if (bytes.validity != NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "a byte of a string is NULL");
	out->validity = any_null ? validity : NULL;
	out->offsets = offsets;
	out->data = bytes.values;
	return LNC_OK;
}

static LncCode
decode_fsst(LncContext *ctx, LncPage20 *page, LncNode20 *node, LncArena *arena, uint64_t first, uint64_t count,
			LncColumn *out)
{
	LncColumn coded;

	LNC_TRY(lnc_node20_decode(ctx, page, node->first, arena, first, count, &coded));
	out->validity = coded.validity;
	return lnc_fsst_decode(ctx, arena, node->fsst, count, coded.offsets, coded.data, &out->offsets, &out->data);
}

static LncCode
decode_fixed_binary(LncContext *ctx, LncPage20 *page, LncNode20 *node, LncArena *arena, uint64_t first,
					uint64_t count, LncColumn *out)
{
	uint64_t scale = node->first->type->kind == LNC_TYPE_FIXED_BINARY ? 1 : node->width;
	LncColumn bytes;
	int64_t *offsets;

	LNC_TRY(lnc_node20_decode(ctx, page, node->first, arena, first * scale, count * scale, &bytes));
	if (bytes.validity != NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "a byte of a string is NULL");
	LNC_TRY(lnc_arena_calloc(ctx, arena, (size_t)count + 1, sizeof(*offsets), (void **)&offsets));
	for (uint64_t i = 0; i <= count; i++)
		offsets[i] = (int64_t)(i * node->width);
	out->offsets = offsets;
	out->data = bytes.values;
	return LNC_OK;
}

/* ---- dictionary ---- */

/* Unsigned indices, widened. */
static LncCode
widen_indices(LncContext *ctx, LncArena *arena, const LncColumn *indices, uint64_t **out)
{
	uint64_t count = (uint64_t)indices->length;
	const uint8_t *values = indices->values;
	uint64_t *rows;

	LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)(count * sizeof(*rows)), (void **)&rows));
	switch (lnc_type_width(indices->type))
	{
#define WIDEN(type_)                                                   \
	case sizeof(type_):                                                \
		for (uint64_t i = 0; i < count; i++)                           \
		{                                                              \
			type_ index;                                               \
                                                                       \
			memcpy(&index, values + i * sizeof(index), sizeof(index)); \
			rows[i] = index;                                           \
		}                                                              \
		break
		WIDEN(uint8_t);
		WIDEN(uint16_t);
		WIDEN(uint32_t);
		WIDEN(uint64_t);
#undef WIDEN
		default:
			return lnc_fail(ctx, LNC_CORRUPT, "dictionary indices have %" PRIu64 " bytes",
							lnc_type_width(indices->type));
	}
	*out = rows;
	return LNC_OK;
}

/*
 * Which rows are not NULL: the index is there and, where zero stands for NULL, not zero; others move down by one then.
 * The rows of NULLs become 0.
 */
static LncCode
index_validity(LncContext *ctx, LncArena *arena, const LncColumn *indices, bool zero_is_null, uint64_t *rows,
			   uint8_t **out)
{
	uint64_t zero = zero_is_null ? 1 : 0; /* the least index that is one */
	uint64_t count = (uint64_t)indices->length;
	uint8_t *validity;

	LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size(count), 1, (void **)&validity));
	for (uint64_t i = 0; i < count; i += 8)
	{
		unsigned present = indices->validity != NULL ? indices->validity[i >> 3] : 0xFF;
		unsigned n = count - i < 8 ? (unsigned)(count - i) : 8;
		unsigned byte = 0;

		for (unsigned k = 0; k < n; k++)
		{
			unsigned valid = (present >> k & 1) & (rows[i + k] >= zero);

			byte |= valid << k;
			rows[i + k] = (rows[i + k] - zero) & (0 - (uint64_t)valid);
		}
		validity[i >> 3] = (uint8_t)byte;
	}
	*out = validity;
	return LNC_OK;
}

/* The rows, of which those not NULL are below nitems, are below it; their values, if variable, are not too long. */
static LncCode
check_rows(LncContext *ctx, const LncColumn *items, uint64_t nitems, const uint8_t *validity, const uint64_t *rows,
		   uint64_t count)
{
	uint64_t highest = 0;
	uint64_t bytes = 0;

	for (uint64_t i = 0; i < count; i++)
		highest = rows[i] > highest ? rows[i] : highest;
	if (count > 0 && highest >= nitems &&
		!(nitems == 0 && validity != NULL && lnc_bits_count(validity, 0, count) == 0))
		return lnc_fail(ctx, LNC_CORRUPT, "dictionary index %" PRIu64 " is not below %" PRIu64, highest, nitems);
	if (items->offsets == NULL || nitems == 0)
		return LNC_OK;
	for (uint64_t i = 0; i < count && bytes <= LNC_NODE20_MAX_MADE; i++)
		bytes += (uint64_t)(items->offsets[rows[i] + 1] - items->offsets[rows[i]]);
	if (bytes > LNC_NODE20_MAX_MADE)
		return lnc_fail(ctx, LNC_LIMIT, "%" PRIu64 " rows of dictionary values take more than 1 GiB", count);
	return LNC_OK;
}

static LncCode
decode_dictionary(LncContext *ctx, LncPage20 *page, LncNode20 *node, LncArena *arena, uint64_t first,
				  uint64_t count, LncColumn *out)
{
	uint64_t nitems = node->second->nvalues;
	LncColumn indices;
	uint64_t *rows;
	uint8_t *validity = NULL;

	if (!node->has_items)
	{
		LNC_TRY(lnc_node20_decode(ctx, page, node->second, page->arena, 0, nitems, &node->items));
		node->has_items = true;
	}
	LNC_TRY(lnc_node20_decode(ctx, page, node->first, arena, first, count, &indices));
	LNC_TRY(widen_indices(ctx, arena, &indices, &rows));
	if (node->zero_is_null || indices.validity != NULL)
		LNC_TRY(index_validity(ctx, arena, &indices, node->zero_is_null, rows, &validity));
	LNC_TRY(check_rows(ctx, &node->items, nitems, validity, rows, count));
	if (nitems == 0)
		return lnc_column_nulls(ctx, arena, node->type, (int64_t)count, out);

	/* The rows are below the number of items, so they are no less right as signed numbers. */
	LNC_TRY(lnc_column_take(ctx, arena, &node->items, (int64_t)count, (const int64_t *)rows, out));
	if (validity == NULL)
		return LNC_OK;
	if (out->validity != NULL)
		for (uint64_t i = 0; i < lnc_bitmap_size(count); i++)
			validity[i] &= out->validity[i];
	out->validity = lnc_bits_count(validity, 0, count) < count ? validity : NULL;
	return LNC_OK;
}

/* ---- packed structs ---- */

/* Collect one field of count rows that lie stride bytes apart; *width becomes the bytes of one value. */
static LncCode
unpack_field(LncContext *ctx, LncArena *arena, const LncType *type, const uint8_t *bytes, uint64_t stride,
			 uint64_t count, uint64_t *width, LncColumn *out)
{
	uint8_t *values;

	memset(out, 0, sizeof(*out));
	out->type = type;
	out->length = (int64_t)count;
	if (type->kind == LNC_TYPE_STRUCT)
	{
		*width = 0;
		out->nchildren = type->nchildren;
		LNC_TRY(LNC_NEW(ctx, arena, &out->children, type->nchildren));
		for (int32_t i = 0; i < type->nchildren; i++)
		{
			uint64_t part;

			LNC_TRY(unpack_field(ctx, arena, &type->children[i].type, bytes + *width, stride, count, &part,
								 &out->children[i]));
			*width += part;
		}
		return LNC_OK;
	}
	LNC_TRY(lnc_packed_width(ctx, type, width));
	LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)(count * *width), (void **)&values));
	for (uint64_t i = 0; i<count && * width> 0; i++)
		memcpy(values + i * *width, bytes + i * stride, (size_t)*width);
	for (; type->kind == LNC_TYPE_FIXED_LIST; out = out->children)
	{
		/* The items of all rows follow each other as the rows do. */
		LNC_TRY(LNC_NEW(ctx, arena, &out->children, 1));
		out->nchildren = 1;
		out->children->length = out->length * type->list_size;
		type = &type->children[0].type;
		out->children->type = type;
	}
	out->values = values;
	return LNC_OK;
}

/* From positions and sizes to blobs. */
static LncCode
decode_blobs(LncContext *ctx, const LncNode20 *node, LncArena *arena, uint64_t count, LncColumn *out)
{
	const uint64_t *positions = out->children[0].values;
	const uint64_t *sizes = out->children[1].values;
	bool any_null = false;
	uint8_t *validity;

	LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size(count), 1, (void **)&validity));
	for (uint64_t i = 0; i < count; i++)
		if (positions[i] == 1 && sizes[i] == 0)
			any_null = true;
		else
			lnc_bit_set(validity, i);
	return lnc_blob_column(ctx, arena, node->blob, count, any_null ? validity : NULL, positions, sizes, out);
}

static LncCode
decode_packed(LncContext *ctx, LncPage20 *page, LncNode20 *node, LncArena *arena, uint64_t first, uint64_t count,
			  LncColumn *out)
{
	const uint8_t *bytes;
	uint64_t width;

	LNC_TRY(read_bytes(ctx, page, node, arena, first * node->width, count * node->width, &bytes));
	LNC_TRY(unpack_field(ctx, arena, node->type, bytes, node->width, count, &width, out));
	return node->blob == NULL ? LNC_OK : decode_blobs(ctx, node, arena, count, out);
}

/* ---- the tree ---- */

static LncCode
decode_nullable(LncContext *ctx, LncPage20 *page, LncNode20 *node, LncArena *arena, uint64_t first, uint64_t count,
				LncColumn *out)
{
	LncColumn bitmap;
	const uint8_t *validity;

	LNC_TRY(lnc_node20_decode(ctx, page, node->first, arena, first, count, &bitmap));
	if (bitmap.validity != NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "the validity of a value is NULL");
	validity = bitmap.values;
	LNC_TRY(lnc_node20_decode(ctx, page, node->second, arena, first, count, out));
	if (out->validity != NULL)
	{
		/* A value is NULL when either level says so. */
		uint8_t *both;
		uint64_t size = lnc_bitmap_size(count);

		LNC_TRY(lnc_arena_calloc(ctx, arena, (size_t)size, 1, (void **)&both));
		for (uint64_t i = 0; i < size; i++)
			both[i] = validity[i] & out->validity[i];
		validity = both;
	}
	if (lnc_bits_count(validity, 0, count) < count)
		out->validity = validity;
	else
		out->validity = NULL;
	return LNC_OK;
}

static LncCode
decode_fixed_list(LncContext *ctx, LncPage20 *page, LncNode20 *node, LncArena *arena, uint64_t first,
				  uint64_t count, LncColumn *out)
{
	uint64_t dimension = (uint64_t)node->type->list_size;

	out->nchildren = 1;
	LNC_TRY(LNC_NEW(ctx, arena, &out->children, 1));
	return lnc_node20_decode(ctx, page, node->first, arena, first * dimension, count * dimension, out->children);
}

LncCode
lnc_node20_decode(LncContext *ctx, LncPage20 *page, LncNode20 *node, LncArena *arena, uint64_t first,
				  uint64_t count, LncColumn *out)
{
	memset(out, 0, sizeof(*out));
	out->type = node->type;
	out->length = (int64_t)count;
	switch (node->kind)
	{
		case LNC_NODE20_FLAT:
			return decode_flat(ctx, page, node, arena, first, count, out);
		case LNC_NODE20_NULLABLE:
			return decode_nullable(ctx, page, node, arena, first, count, out);
		case LNC_NODE20_ALL_NULLS:
			return lnc_column_nulls(ctx, arena, node->type, (int64_t)count, out);
		case LNC_NODE20_FIXED_LIST:
			return decode_fixed_list(ctx, page, node, arena, first, count, out);
		case LNC_NODE20_BINARY:
			return decode_binary(ctx, page, node, arena, first, count, out);
		case LNC_NODE20_DICTIONARY:
			return decode_dictionary(ctx, page, node, arena, first, count, out);
		case LNC_NODE20_FSST:
			return decode_fsst(ctx, page, node, arena, first, count, out);
		case LNC_NODE20_FIXED_BINARY:
			return decode_fixed_binary(ctx, page, node, arena, first, count, out);
		case LNC_NODE20_BITPACKED:
			return decode_bitpacked(ctx, page, node, arena, first, count, out);
		case LNC_NODE20_BITPACKED_BLOCKS:
			return decode_blocks(ctx, page, node, arena, first, count, out);
		case LNC_NODE20_CONSTANT:
			return decode_constant(ctx, node, arena, count, out);
		case LNC_NODE20_PACKED_STRUCT:
			return decode_packed(ctx, page, node, arena, first, count, out);
	}
	return lnc_fail(ctx, LNC_UNSUPPORTED, "the page has an array encoding that is not known");
}
