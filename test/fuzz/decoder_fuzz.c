/*
 * decoder_fuzz.c
 *	  Fuzz target: the first byte of the input names a decoder below the pages, the rest is what it decodes.
 *
 *	input	u8 decoder, u8 parameter, u16 number of values, u16 size of the first part; then the parts, the second one
 *			to the end: values and run lengths, symbol table and codes, a codec's message and its buffer
 */
#include <stdlib.h>
#include <string.h>

#include "encoding/bitpack.h"
#include "encoding/byte_stream_split.h"
#include "encoding/codec.h"
#include "encoding/fsst.h"
#include "encoding/levels.h"
#include "encoding/rle.h"
#include "encoding/variable.h"
#include "fuzz.h"
#include "proto/unpack.h"

#define FUZZ_HEAD 6
#define FUZZ_DECODERS 10
#define FUZZ_MAX_OUT ((uint64_t)4 * 1024 * 1024)

typedef struct Input
{
	uint8_t parameter;
	uint64_t count;
	LncSlice first;
	LncSlice second;
	LncSlice all; /* both */
} Input;

static void
read_fixed(LncCode code, const uint8_t *const *out, uint64_t size)
{
	if (code == LNC_OK)
		fuzz_read_bytes(*out, size);
}

/* Positions that rise, from any start, inside the bytes that lie there. */
static void
read_variable(const int64_t *offsets, const uint8_t *data, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		if (offsets[i] < 0 || offsets[i] > offsets[i + 1])
			abort();
	fuzz_read_bytes(data + offsets[0], (uint64_t)(offsets[count] - offsets[0]));
}

static void
read_block(const LncBlock *block, uint64_t count)
{
	LncContext ctx;
	LncEnv env = fuzz_env();
	uint64_t size;
	uint64_t items = count;

	if (block->count != count)
		abort();
	lnc_context_init(&ctx, &env);
	if (block->shape.variable)
	{
		read_variable(block->offsets, block->data, count);
		return;
	}
	for (uint32_t i = 0; i < block->shape.nlists; i++)
	{
		if (lnc_mul_overflow(items, block->shape.dimensions[i], &items))
			abort();
		if (block->validity[i] != NULL)
			fuzz_read_bytes(block->validity[i], lnc_bitmap_size(items));
	}
	if (block->shape.bits == 0)
		return;
	if (lnc_shape_bytes(&ctx, &block->shape, count, &size) != LNC_OK)
		abort();
	fuzz_read_bytes(block->items, size);
}

static void
decode_bitpacked(LncContext *ctx, LncArena *arena, const Input *in)
{
	uint32_t bits = 8u << (in->parameter & 3);
	uint32_t width = in->parameter >> 2;
	const uint8_t *out;

	if (in->count <= LNC_BITPACK_BLOCK)
		read_fixed(lnc_bitpack_inline(ctx, arena, bits, in->all, in->count, &out), &out, in->count * bits / 8);
	read_fixed(lnc_bitpack_out_of_line(ctx, arena, bits, width, in->all, in->count, &out), &out, in->count * bits / 8);
}

static void
decode_runs(LncContext *ctx, LncArena *arena, const Input *in)
{
	uint32_t bits = 8u << (in->parameter & 3);
	uint32_t length_bits = 8u << (in->parameter >> 2 & 3);
	LncSlice values = in->first;
	LncSlice lengths = in->second;
	uint64_t total;
	const uint8_t *out;

	if ((in->parameter & 0x10) != 0 && lnc_rle_split(ctx, in->all, &values, &lengths) != LNC_OK)
		return;
	if (lnc_rle_total(ctx, length_bits, lengths, &total) == LNC_OK && total <= FUZZ_MAX_OUT)
	{
		read_fixed(lnc_rle_expand(ctx, arena, bits, length_bits, values, lengths, total, true, &out), &out,
				   total * bits / 8);
		if (total > 0 && lnc_rle_expand(ctx, arena, bits, length_bits, values, lengths, total - 1, true, &out) == LNC_OK)
			abort();
	}
	read_fixed(lnc_rle_expand(ctx, arena, bits, length_bits, values, lengths, in->count, false, &out), &out,
			   in->count * bits / 8);
}

static void
decode_strings(LncContext *ctx, LncArena *arena, const Input *in, bool block)
{
	const int64_t *offsets;
	const uint8_t *data;
	LncCode code = block ? lnc_variable_block(ctx, arena, in->all, in->count, &offsets, &data)
						 : lnc_variable_chunk(ctx, arena, (in->parameter & 1) != 0 ? 64 : 32, in->all, in->count,
											  &offsets, &data);

	if (code == LNC_OK)
		read_variable(offsets, data, in->count);
}

/* The codes as so many values of about the same length. */
static void
decode_symbols(LncContext *ctx, LncArena *arena, const Input *in)
{
	LncFsst fsst;
	int64_t *offsets;
	const int64_t *out_offsets;
	const uint8_t *out;

	if (in->count == 0 || lnc_fsst_open(ctx, in->first, &fsst) != LNC_OK ||
		LNC_NEW(ctx, arena, &offsets, in->count + 1) != LNC_OK)
		return;
	for (uint64_t i = 0; i <= in->count; i++)
		offsets[i] = (int64_t)(in->second.size * i / in->count);
	if (lnc_fsst_decode(ctx, arena, &fsst, in->count, offsets, in->second.data, &out_offsets, &out) == LNC_OK)
		read_variable(out_offsets, out, in->count);
}

static void
decode_general(LncContext *ctx, LncArena *arena, const Input *in, LncGeneralScheme scheme)
{
	LncGeneral *general;
	LncSlice out;

	if (lnc_general_create(ctx, arena, &general) != LNC_OK)
		abort();
	/* Twice: its state is used again. */
	for (int i = 0; i < 2; i++)
		if (lnc_general_decode(ctx, general, arena, scheme, in->all, &out) == LNC_OK)
			fuzz_read_bytes(out.data, out.size);
}

/* The whole tree that a message describes, in its three uses. */
static void
decode_tree(LncContext *ctx, LncArena *arena, const Input *in)
{
	LncCodecUse use = in->parameter % 3;
	ProtobufCMessage *message;
	const LncCodec *codec;
	LncGeneral *general;
	LncSlice buffers[4];
	LncBlock block;
	bool known;
	uint64_t count;

	if (lnc_proto_unpack(ctx, arena, &lance__encodings21__compressive_encoding__descriptor, in->first, "codec",
						 &message) != LNC_OK ||
		lnc_codec_open(ctx, arena, use, (Lance__Encodings21__CompressiveEncoding *)message, &codec) != LNC_OK)
		return;
	if (lnc_general_create(ctx, arena, &general) != LNC_OK)
		abort();
	if (use == LNC_CODEC_BLOCK)
	{
		if (lnc_codec_decode_block(ctx, codec, general, arena, in->second, in->count, &block) == LNC_OK)
			read_block(&block, in->count);
		if (lnc_codec_block_count(ctx, codec, general, arena, in->second, &known, &count) == LNC_OK && known &&
			count <= FUZZ_MAX_OUT &&
			lnc_codec_decode_block(ctx, codec, general, arena, in->second, count, &block) == LNC_OK)
			read_block(&block, count);
	}
	else if (use == LNC_CODEC_CHUNK && codec->nbuffers <= 4)
	{
		for (uint32_t i = 0; i < codec->nbuffers; i++)
		{
			uint64_t start = in->second.size * i / codec->nbuffers;

			buffers[i] = (LncSlice){in->second.data + start, in->second.size * (i + 1) / codec->nbuffers - start};
		}
		if (lnc_codec_decode_chunk(ctx, codec, general, arena, codec->nbuffers, buffers, in->count, &block) == LNC_OK)
			read_block(&block, in->count);
	}
	else if (use == LNC_CODEC_VALUE && !codec->shape.variable)
	{
		if (codec->value_bytes > 0 && in->second.size / codec->value_bytes >= in->count &&
			lnc_codec_decode_fixed_values(ctx, codec, arena, in->second.data, codec->value_bytes, in->count, &block) == LNC_OK)
			read_block(&block, in->count);
	}
}

static void
decode_levels(LncContext *ctx, LncArena *arena, const Input *in)
{
	LncGeneral *general;
	const uint16_t *levels;
	const uint8_t *validity;

	if (lnc_general_create(ctx, arena, &general) != LNC_OK)
		abort();
	if (lnc_levels_decode(ctx, NULL, general, arena, in->all, in->count, in->parameter, &levels) != LNC_OK)
		return;
	for (uint64_t i = 0; i < in->count; i++)
		if (levels[i] > in->parameter)
			abort();
	if (lnc_levels_validity(ctx, arena, levels, in->count, 0, &validity) == LNC_OK && validity != NULL)
		fuzz_read_bytes(validity, lnc_bitmap_size(in->count));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LncEnv env = fuzz_env();
	LncContext ctx;
	LncArena *arena;
	Input in;
	uint64_t first;
	const uint8_t *out;

	if (size < FUZZ_HEAD)
		return 0;
	lnc_context_init(&ctx, &env);
	arena = lnc_arena_create(&env);
	in.parameter = data[1];
	in.count = lnc_le16(data + 2);
	in.all = (LncSlice){data + FUZZ_HEAD, size - FUZZ_HEAD};
	first = lnc_le16(data + 4) < in.all.size ? lnc_le16(data + 4) : in.all.size;
	in.first = (LncSlice){in.all.data, first};
	in.second = (LncSlice){in.all.data + first, in.all.size - first};
	switch (data[0] % FUZZ_DECODERS)
	{
		case 0:
			decode_bitpacked(&ctx, arena, &in);
			break;
		case 1:
			decode_runs(&ctx, arena, &in);
			break;
		case 2:
			read_fixed(lnc_byte_stream_split_decode(&ctx, arena, 1 + in.parameter % 16, in.all, in.count, &out), &out,
					   in.count * (1 + in.parameter % 16));
			break;
		case 3:
			decode_strings(&ctx, arena, &in, false);
			break;
		case 4:
			decode_strings(&ctx, arena, &in, true);
			break;
		case 5:
			decode_symbols(&ctx, arena, &in);
			break;
		case 6:
			decode_general(&ctx, arena, &in, LNC_GENERAL_LZ4);
			break;
		case 7:
			decode_general(&ctx, arena, &in, LNC_GENERAL_ZSTD);
			break;
		case 8:
			decode_levels(&ctx, arena, &in);
			break;
		default:
			decode_tree(&ctx, arena, &in);
			break;
	}
	lnc_arena_destroy(arena);
	return 0;
}
