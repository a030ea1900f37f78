/*
 * codec.c
 *	  Decoding along a tree of codecs.
 */
#include "encoding/codec.h"

#include "base/bitmap.h"
#include "encoding/bitpack.h"
#include "encoding/byte_stream_split.h"
#include "encoding/check.h"
#include "encoding/rle.h"
#include "encoding/variable.h"

static void
start_block(const LncCodec *codec, uint64_t count, LncBlock *out)
{
	memset(out, 0, sizeof(*out));
	out->shape = codec->shape;
	out->count = count;
}

/*
 * The bytes of an rle child: plain values. nruns is the number of runs where it is known, which bit-packing needs.
 */
static LncCode
rle_child(LncContext *ctx, const LncCodec *codec, LncGeneral *general, LncArena *arena, LncSlice in, bool known,
		  uint64_t nruns, LncSlice *out)
{
	if (codec->kind == LNC_CODEC_GENERAL)
	{
		LNC_TRY(lnc_general_decode(ctx, general, arena, codec->scheme, in, &in));
		codec = codec->values;
	}
	*out = in;
	if (codec->kind == LNC_CODEC_OUT_OF_LINE_BITPACKING)
	{
		LNC_REQUIRE(ctx, known, "the number of runs is not known");
		LNC_TRY(
			lnc_bitpack_out_of_line(ctx, arena, (uint32_t)codec->shape.bits, codec->width, in, nruns, &out->data));
		out->size = nruns * (codec->shape.bits / 8);
	}
	return LNC_OK;
}

static bool
is_packed(const LncCodec *codec)
{
	return codec->kind == LNC_CODEC_OUT_OF_LINE_BITPACKING ||
		   (codec->kind == LNC_CODEC_GENERAL && codec->values->kind == LNC_CODEC_OUT_OF_LINE_BITPACKING);
}

/* Decode both children; the one that tells the number of runs goes first. */
static LncCode
rle_children(LncContext *ctx, const LncCodec *codec, LncGeneral *general, LncArena *arena, LncSlice *values,
			 LncSlice *lengths)
{
	uint64_t value_bytes = codec->values->shape.bits / 8;
	uint64_t length_bytes = codec->lengths->shape.bits / 8;

	if (is_packed(codec->values))
	{
		LNC_TRY(rle_child(ctx, codec->lengths, general, arena, *lengths, false, 0, lengths));
		return rle_child(ctx, codec->values, general, arena, *values, true, lengths->size / length_bytes, values);
	}
	LNC_TRY(rle_child(ctx, codec->values, general, arena, *values, false, 0, values));
	return rle_child(ctx, codec->lengths, general, arena, *lengths, true, values->size / value_bytes, lengths);
}

static LncCode
decode_rle(LncContext *ctx, const LncCodec *codec, LncGeneral *general, LncArena *arena, LncSlice values,
		   LncSlice lengths, uint64_t count, bool exact, LncBlock *out)
{
	LNC_TRY(rle_children(ctx, codec, general, arena, &values, &lengths));
	return lnc_rle_expand(ctx, arena, (uint32_t)codec->shape.bits, (uint32_t)codec->lengths->shape.bits, values,
						  lengths, count, exact, &out->items);
}

/* Codecs whose bytes look the same in a chunk's buffer and in a block. */
static LncCode
decode_buffer(LncContext *ctx, const LncCodec *codec, LncArena *arena, LncSlice in, uint64_t count, LncBlock *out)
{
	uint64_t bytes;

	switch (codec->kind)
	{
		case LNC_CODEC_FLAT:
			LNC_TRY(lnc_shape_bytes(ctx, &codec->shape, count, &bytes));
			LNC_REQUIRE(ctx, codec->use == LNC_CODEC_CHUNK ? in.size == bytes : in.size >= bytes,
						"%zu bytes do not hold %llu values of %llu bits", in.size, (unsigned long long)count,
						(unsigned long long)codec->shape.bits);
			out->items = in.data;
			return LNC_OK;
		case LNC_CODEC_INLINE_BITPACKING:
			return lnc_bitpack_inline(ctx, arena, (uint32_t)codec->shape.bits, in, count, &out->items);
		case LNC_CODEC_OUT_OF_LINE_BITPACKING:
			return lnc_bitpack_out_of_line(ctx, arena, (uint32_t)codec->shape.bits, codec->width, in, count,
										   &out->items);
		case LNC_CODEC_BYTE_STREAM_SPLIT:
			return lnc_byte_stream_split_decode(ctx, arena, (uint32_t)(codec->shape.bits / 8), in, count,
												&out->items);
		default:
			return lnc_fail(ctx, LNC_CORRUPT, "a page encoding is out of place");
	}
}

static LncCode
decode_fixed_list_chunk(LncContext *ctx, const LncCodec *codec, LncGeneral *general, LncArena *arena,
						const LncSlice *buffers, uint64_t count, LncBlock *out)
{
	LncBlock inside;
	uint64_t items;
	bool has_validity = codec->shape.validity[0];

	LNC_REQUIRE(ctx, !lnc_mul_overflow(count, codec->shape.dimensions[0], &items),
				"the dimensions of a fixed-size list overflow");
	if (has_validity)
	{
		LNC_REQUIRE(ctx, buffers[0].size >= lnc_bitmap_size(items),
					"a validity bitmap of %zu bytes is short of %llu items", buffers[0].size,
					(unsigned long long)items);
		out->validity[0] = buffers[0].data;
	}
	if (codec->values->kind == LNC_CODEC_CONSTANT)
		return LNC_OK;
	LNC_TRY(lnc_codec_decode_chunk(ctx, codec->values, general, arena, codec->values->nbuffers,
								   buffers + (has_validity ? 1 : 0), items, &inside));
	out->items = inside.items;
	for (uint32_t i = 0; i < inside.shape.nlists; i++)
		out->validity[i + 1] = inside.validity[i];
	return LNC_OK;
}

LncCode
lnc_codec_decode_chunk(LncContext *ctx, const LncCodec *codec, LncGeneral *general, LncArena *arena,
					   uint32_t nbuffers, const LncSlice *buffers, uint64_t count, LncBlock *out)
{
	LncSlice first;
	LncSlice *rest;

	LNC_REQUIRE(ctx, nbuffers == codec->nbuffers, "a chunk has %u buffers, its encoding takes %u", nbuffers,
				codec->nbuffers);
	start_block(codec, count, out);
	switch (codec->kind)
	{
		case LNC_CODEC_VARIABLE:
			return lnc_variable_chunk(ctx, arena, codec->width, buffers[0], count, &out->offsets, &out->data);
		case LNC_CODEC_FSST:
			LNC_TRY(lnc_codec_decode_chunk(ctx, codec->values, general, arena, nbuffers, buffers, count, out));
			return lnc_fsst_decode(ctx, arena, codec->fsst, count, out->offsets, out->data, &out->offsets,
								   &out->data);
		case LNC_CODEC_RLE:
			return decode_rle(ctx, codec, general, arena, buffers[0], buffers[1], count, false, out);
		case LNC_CODEC_GENERAL:
			LNC_TRY(lnc_general_decode(ctx, general, arena, codec->scheme, buffers[0], &first));
			if (nbuffers == 1)
				return lnc_codec_decode_chunk(ctx, codec->values, general, arena, 1, &first, count, out);
			LNC_TRY(lnc_arena_alloc(ctx, arena, nbuffers * sizeof(*rest), (void **)&rest));
			memcpy(rest, buffers, nbuffers * sizeof(*rest));
			rest[0] = first;
			return lnc_codec_decode_chunk(ctx, codec->values, general, arena, nbuffers, rest, count, out);
		case LNC_CODEC_FIXED_SIZE_LIST:
			return decode_fixed_list_chunk(ctx, codec, general, arena, buffers, count, out);
		default:
			return decode_buffer(ctx, codec, arena, buffers[0], count, out);
	}
}

LncCode
lnc_codec_decode_block(LncContext *ctx, const LncCodec *codec, LncGeneral *general, LncArena *arena, LncSlice in,
					   uint64_t count, LncBlock *out)
{
	LncSlice values;
	LncSlice lengths;
	uint64_t bytes;

	start_block(codec, count, out);
	switch (codec->kind)
	{
		case LNC_CODEC_VARIABLE:
			return lnc_variable_block(ctx, arena, in, count, &out->offsets, &out->data);
		case LNC_CODEC_FSST:
			LNC_TRY(lnc_codec_decode_block(ctx, codec->values, general, arena, in, count, out));
			return lnc_fsst_decode(ctx, arena, codec->fsst, count, out->offsets, out->data, &out->offsets,
								   &out->data);
		case LNC_CODEC_RLE:
			LNC_TRY(lnc_rle_split(ctx, in, &values, &lengths));
			return decode_rle(ctx, codec, general, arena, values, lengths, count, true, out);
		case LNC_CODEC_GENERAL:
			LNC_TRY(lnc_general_decode(ctx, general, arena, codec->scheme, in, &in));
			return lnc_codec_decode_block(ctx, codec->values, general, arena, in, count, out);
		case LNC_CODEC_FIXED_SIZE_LIST:
			LNC_REQUIRE(ctx, !lnc_mul_overflow(count, codec->value_bytes, &bytes) && in.size == bytes,
						"%zu bytes do not hold %llu fixed-size lists", in.size, (unsigned long long)count);
			return lnc_codec_decode_fixed_values(ctx, codec, arena, in.data, codec->value_bytes, count, out);
		default:
			return decode_buffer(ctx, codec, arena, in, count, out);
	}
}

LncCode
lnc_codec_block_count(LncContext *ctx, const LncCodec *codec, LncGeneral *general, LncArena *arena, LncSlice in,
					  bool *known, uint64_t *count)
{
	LncSlice values;
	LncSlice lengths;

	*known = codec->kind == LNC_CODEC_RLE;
	if (!*known)
		return LNC_OK;
	LNC_TRY(lnc_rle_split(ctx, in, &values, &lengths));
	LNC_TRY(rle_children(ctx, codec, general, arena, &values, &lengths));
	return lnc_rle_total(ctx, (uint32_t)codec->lengths->shape.bits, lengths, count);
}

/* Decompress each value of block alone. */
static LncCode
decode_general_values(LncContext *ctx, const LncCodec *codec, LncGeneral *general, LncArena *arena, LncBlock *block)
{
	int64_t *offsets;
	uint8_t *data;
	uint64_t total = 0;

	LNC_TRY(lnc_arena_alloc(ctx, arena, (block->count + 1) * sizeof(*offsets), (void **)&offsets));
	offsets[0] = 0;
	for (uint64_t i = 0; i < block->count; i++)
	{
		LncSlice in = {block->data + block->offsets[i], (size_t)(block->offsets[i + 1] - block->offsets[i])};
		uint64_t size;

		LNC_TRY(lnc_general_size(ctx, general, codec->scheme, in, &size));
		total += size;
		if (total > INT64_MAX / 2)
			return lnc_fail(ctx, LNC_LIMIT, "the values of one batch take too many bytes");
		offsets[i + 1] = (int64_t)total;
	}
	LNC_TRY(lnc_arena_alloc(ctx, arena, total, (void **)&data));
	for (uint64_t i = 0; i < block->count; i++)
	{
		LncSlice in = {block->data + block->offsets[i], (size_t)(block->offsets[i + 1] - block->offsets[i])};

		LNC_TRY(lnc_check_interrupt(ctx));
		LNC_TRY(lnc_general_decode_into(ctx, general, codec->scheme, in, data + offsets[i],
										(uint64_t)(offsets[i + 1] - offsets[i])));
	}
	block->offsets = offsets;
	block->data = data;
	return LNC_OK;
}

LncCode
lnc_codec_decode_variable_values(LncContext *ctx, const LncCodec *codec, LncGeneral *general, LncArena *arena,
								 LncBlock *block)
{
	switch (codec->kind)
	{
		case LNC_CODEC_VARIABLE:
		case LNC_CODEC_VARIABLE_PACKED_STRUCT:
			return LNC_OK;
		case LNC_CODEC_FSST:
			LNC_TRY(lnc_codec_decode_variable_values(ctx, codec->values, general, arena, block));
			return lnc_fsst_decode(ctx, arena, codec->fsst, block->count, block->offsets, block->data,
								   &block->offsets, &block->data);
		case LNC_CODEC_GENERAL:
			/* The compression was applied last, so it comes off first. */
			LNC_TRY(decode_general_values(ctx, codec, general, arena, block));
			return lnc_codec_decode_variable_values(ctx, codec->values, general, arena, block);
		default:
			return lnc_fail(ctx, LNC_CORRUPT,
							"a page encoding for values of fixed width holds values of varying length");
	}
}

bool
lnc_codec_borrows_values(const LncCodec *codec)
{
	/* Bits of neighbouring values are joined, and validity stands in between. */
	for (uint32_t i = 0; i < codec->shape.nlists; i++)
		if (codec->shape.validity[i])
			return false;
	return codec->shape.bits > 1;
}

LncCode
lnc_codec_decode_fixed_values(LncContext *ctx, const LncCodec *codec, LncArena *arena, const uint8_t *rows,
							  uint64_t stride, uint64_t count, LncBlock *out)
{
	const LncShape *shape = &codec->shape;
	uint64_t per_value;
	uint64_t item_bytes;
	uint64_t bytes;
	uint64_t at = 0;
	uint64_t per_list = 1;
	uint8_t *items;
	void *memory;

	start_block(codec, count, out);
	LNC_TRY(lnc_shape_items(ctx, shape, &per_value));
	LNC_TRY(lnc_shape_bytes(ctx, shape, 1, &item_bytes));
	if (stride == item_bytes && lnc_codec_borrows_values(codec))
	{
		out->items = rows;
		return LNC_OK;
	}

	/* The validity of each level, gathered over the rows. */
	for (uint32_t i = 0; i < shape->nlists; i++)
	{
		uint8_t *validity;

		per_list *= shape->dimensions[i];
		if (!shape->validity[i])
			continue;
		LNC_REQUIRE(ctx, !lnc_mul_overflow(count, per_list, &bytes),
					"the dimensions of a fixed-size list overflow");
		LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size(bytes), 1, &memory));
		validity = memory;
		for (uint64_t row = 0; row < count; row++)
			lnc_bits_copy(validity, row * per_list, rows + row * stride + at, 0, per_list);
		out->validity[i] = validity;
		at += lnc_bitmap_size(per_list);
	}
	if (shape->bits == 0)
		return LNC_OK;

	LNC_TRY(lnc_shape_bytes(ctx, shape, count, &bytes));
	LNC_TRY(lnc_arena_alloc(ctx, arena, bytes, &memory));
	items = memory;
	out->items = items;
	rows += at;
	if (shape->bits == 1)
	{
		memset(items, 0, bytes);
		for (uint64_t row = 0; row < count; row++)
			lnc_bits_copy(items, row * per_value, rows + row * stride, 0, per_value);
	}
	else
		for (uint64_t row = 0; row < count; row++)
			memcpy(items + row * item_bytes, rows + row * stride, item_bytes);
	return LNC_OK;
}
