/*
 * codec_open.c
 *	  From the codec message of a page to a checked tree of codecs.
 */
#include "encoding/check.h"
#include "encoding/codec.h"

typedef Lance__Encodings21__CompressiveEncoding Message;

#define CODEC(name) LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_##name

static LncCode
not_read(LncContext *ctx, LncCodecUse use, const char *name)
{
	static const char *const places[] = {
		[LNC_CODEC_CHUNK] = "a mini-block", [LNC_CODEC_BLOCK] = "a block", [LNC_CODEC_VALUE] = "single values"};

	return lnc_fail(ctx, LNC_UNSUPPORTED, "page encoding \"%s\" is not read for %s", name, places[use]);
}

/* The bits of a flat codec that stands directly below another one. */
static LncCode
flat_bits(LncContext *ctx, const Message *message, const char *where, uint64_t *bits)
{
	LNC_REQUIRE(ctx, message != NULL, "page encoding \"%s\" lacks what is inside it", where);
	if (message->compression_case != CODEC(FLAT))
		return lnc_fail(ctx, LNC_UNSUPPORTED, "page encoding \"%s\" is not read with anything but \"flat\" inside",
						where);
	LNC_REQUIRE(ctx, message->flat != NULL, "page encoding \"flat\" is empty");
	if (message->flat->data != NULL)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "page encoding \"flat\" with a compressed buffer is not read");
	*bits = message->flat->bits_per_value;
	return LNC_OK;
}

static LncCode
open_flat(LncContext *ctx, const Message *message, LncCodec *codec)
{
	uint64_t bits;

	LNC_TRY(flat_bits(ctx, message, "flat", &bits));
	LNC_REQUIRE(ctx, bits > 0, "page encoding \"flat\" has values of no bits");
	if (bits != 1 && bits % 8 != 0)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "page encoding \"flat\" with values of %llu bits is not read",
						(unsigned long long)bits);
	codec->kind = LNC_CODEC_FLAT;
	codec->shape.bits = bits;
	codec->value_bytes = bits == 1 ? 1 : bits / 8;
	return LNC_OK;
}

static LncCode
open_variable(LncContext *ctx, const Lance__Encodings21__Variable *message, LncCodec *codec)
{
	uint64_t bits;

	if (message->values != NULL)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "page encoding \"variable\" with a compressed buffer is not read");
	LNC_TRY(flat_bits(ctx, message->offsets, "variable", &bits));
	LNC_REQUIRE(ctx, bits == 32 || bits == 64, "page encoding \"variable\" has offsets of %llu bits",
				(unsigned long long)bits);
	codec->kind = LNC_CODEC_VARIABLE;
	codec->shape.variable = true;
	codec->width = (uint32_t)bits;
	return LNC_OK;
}

static LncCode
check_word(LncContext *ctx, uint64_t bits, const char *name)
{
	LNC_REQUIRE(ctx, bits == 8 || bits == 16 || bits == 32 || bits == 64,
				"page encoding \"%s\" has values of %llu bits", name, (unsigned long long)bits);
	return LNC_OK;
}

static LncCode
open_bitpacking(LncContext *ctx, const Message *message, LncCodec *codec)
{
	uint64_t bits;

	if (message->compression_case == CODEC(INLINE_BITPACKING))
	{
		const Lance__Encodings21__InlineBitpacking *packed = message->inline_bitpacking;

		if (packed->values != NULL)
			return lnc_fail(ctx, LNC_UNSUPPORTED,
							"page encoding \"inline_bitpacking\" with a compressed buffer is not read");
		LNC_TRY(check_word(ctx, packed->uncompressed_bits_per_value, "inline_bitpacking"));
		codec->kind = LNC_CODEC_INLINE_BITPACKING;
		codec->shape.bits = packed->uncompressed_bits_per_value;
		return LNC_OK;
	}
	LNC_TRY(
		check_word(ctx, message->out_of_line_bitpacking->uncompressed_bits_per_value, "out_of_line_bitpacking"));
	LNC_TRY(flat_bits(ctx, message->out_of_line_bitpacking->values, "out_of_line_bitpacking", &bits));
	codec->kind = LNC_CODEC_OUT_OF_LINE_BITPACKING;
	codec->shape.bits = message->out_of_line_bitpacking->uncompressed_bits_per_value;
	LNC_REQUIRE(ctx, bits <= codec->shape.bits, "page encoding \"out_of_line_bitpacking\" packs to %llu bits",
				(unsigned long long)bits);
	codec->width = (uint32_t)bits;
	return LNC_OK;
}

static LncCode
open_fsst(LncContext *ctx, LncArena *arena, const Lance__Encodings21__Fsst *message, LncCodec *codec)
{
	LncFsst *fsst;

	LNC_TRY(lnc_codec_open(ctx, arena, codec->use, message->values, &codec->values));
	LNC_REQUIRE(ctx, codec->values->shape.variable, "page encoding \"fsst\" holds values of fixed width");
	LNC_TRY(LNC_NEW(ctx, arena, &fsst, 1));
	LNC_TRY(lnc_fsst_open(ctx, (LncSlice){message->symbol_table.data, message->symbol_table.len}, fsst));
	codec->kind = LNC_CODEC_FSST;
	codec->fsst = fsst;
	codec->shape = codec->values->shape;
	codec->nbuffers = codec->values->nbuffers;
	return LNC_OK;
}

/* A child of rle: flat, out-of-line bit-packing, or one of them in general. */
static LncCode
open_rle_child(LncContext *ctx, LncArena *arena, const Message *message, const LncCodec **out)
{
	const LncCodec *inner;

	LNC_TRY(lnc_codec_open(ctx, arena, LNC_CODEC_BLOCK, message, out));
	inner = (*out)->kind == LNC_CODEC_GENERAL ? (*out)->values : *out;
	if (inner->kind != LNC_CODEC_FLAT && inner->kind != LNC_CODEC_OUT_OF_LINE_BITPACKING)
		return lnc_fail(ctx, LNC_UNSUPPORTED,
						"page encoding \"rle\" is only read with flat, bit-packed or compressed runs");
	return LNC_OK;
}

/* Whether an rle child can only be decoded when the number of runs is known. */
static bool
needs_run_count(const LncCodec *codec)
{
	if (codec->kind == LNC_CODEC_GENERAL)
		codec = codec->values;
	return codec->kind == LNC_CODEC_OUT_OF_LINE_BITPACKING;
}

static LncCode
open_rle(LncContext *ctx, LncArena *arena, const Lance__Encodings21__Rle *message, LncCodec *codec)
{
	LNC_TRY(open_rle_child(ctx, arena, message->values, &codec->values));
	LNC_TRY(open_rle_child(ctx, arena, message->run_lengths, &codec->lengths));
	LNC_TRY(check_word(ctx, codec->values->shape.bits, "rle"));
	LNC_REQUIRE(
		ctx,
		codec->lengths->shape.bits == 8 || codec->lengths->shape.bits == 16 || codec->lengths->shape.bits == 32,
		"page encoding \"rle\" has run lengths of %llu bits", (unsigned long long)codec->lengths->shape.bits);
	LNC_REQUIRE(ctx, !needs_run_count(codec->values) || !needs_run_count(codec->lengths),
				"page encoding \"rle\" does not tell the number of its runs");
	codec->kind = LNC_CODEC_RLE;
	codec->shape = codec->values->shape;
	codec->nbuffers = 2;
	return LNC_OK;
}

static LncCode
open_byte_stream_split(LncContext *ctx, const Lance__Encodings21__ByteStreamSplit *message, LncCodec *codec)
{
	uint64_t bits;

	LNC_TRY(flat_bits(ctx, message->values, "byte_stream_split", &bits));
	LNC_REQUIRE(ctx, bits == 16 || bits == 32 || bits == 64 || bits == 128,
				"page encoding \"byte_stream_split\" has values of %llu bits", (unsigned long long)bits);
	codec->kind = LNC_CODEC_BYTE_STREAM_SPLIT;
	codec->shape.bits = bits;
	return LNC_OK;
}

static LncCode
open_general(LncContext *ctx, LncArena *arena, const Lance__Encodings21__General *message, LncCodec *codec)
{
	LNC_REQUIRE(ctx, message->compression != NULL, "page encoding \"general\" names no compression");
	switch (message->compression->scheme)
	{
		case LANCE__ENCODINGS21__COMPRESSION_SCHEME__COMPRESSION_LZ4:
			codec->scheme = LNC_GENERAL_LZ4;
			break;
		case LANCE__ENCODINGS21__COMPRESSION_SCHEME__COMPRESSION_ZSTD:
			codec->scheme = LNC_GENERAL_ZSTD;
			break;
		default:
			return lnc_fail(ctx, LNC_UNSUPPORTED, "compression scheme %d is not read",
							(int)message->compression->scheme);
	}
	LNC_TRY(lnc_codec_open(ctx, arena, codec->use, message->values, &codec->values));
	codec->kind = LNC_CODEC_GENERAL;
	codec->shape = codec->values->shape;
	codec->nbuffers = codec->values->nbuffers;
	if (codec->use == LNC_CODEC_VALUE && !codec->shape.variable)
		return lnc_fail(ctx, LNC_UNSUPPORTED,
						"page encoding \"general\" is not read for single values of fixed width");
	LNC_REQUIRE(ctx, codec->nbuffers > 0, "page encoding \"general\" has no buffer to compress");
	return LNC_OK;
}

/* A constant that stands for nothing but NULL. It takes no bytes. */
static LncCode
open_constant(LncContext *ctx, const Message *message, LncCodec *codec)
{
	LNC_REQUIRE(ctx, message->constant != NULL, "page encoding \"constant\" is empty");
	if (message->constant->value_presence_case == LANCE__ENCODINGS21__CONSTANT__VALUE_PRESENCE_VALUE)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "page encoding \"constant\" with a value is not read");
	codec->kind = LNC_CODEC_CONSTANT;
	codec->nbuffers = 0;
	return LNC_OK;
}

static LncCode
open_fixed_size_list(LncContext *ctx, LncArena *arena, const Lance__Encodings21__FixedSizeList *message,
					 LncCodec *codec)
{
	const Message *inside = message->values;
	const LncCodec *values;
	uint64_t items;
	uint64_t bytes;
	uint64_t per_list = 1;

	LNC_REQUIRE(ctx, inside != NULL, "page encoding \"fixed_size_list\" lacks what is inside it");
	LNC_REQUIRE(ctx, message->items_per_value > 0, "page encoding \"fixed_size_list\" has lists of no items");
	if (inside->compression_case == CODEC(CONSTANT))
	{
		LncCodec *nothing;

		/* Every item is NULL, be it a value or a list: the bitmap says so, and nothing else is stored. */
		LNC_REQUIRE(ctx, message->has_validity,
					"page encoding \"fixed_size_list\" has no bitmap for items that are all NULL");
		LNC_TRY(LNC_NEW(ctx, arena, &nothing, 1));
		nothing->use = codec->use;
		LNC_TRY(open_constant(ctx, inside, nothing));
		values = nothing;
	}
	else
		LNC_TRY(lnc_codec_open(ctx, arena, codec->use, inside, &values));
	LNC_REQUIRE(ctx, !values->shape.variable, "page encoding \"fixed_size_list\" holds values of varying length");
	if (codec->use != LNC_CODEC_CHUNK && values->kind != LNC_CODEC_FLAT && values->kind != LNC_CODEC_CONSTANT &&
		values->kind != LNC_CODEC_FIXED_SIZE_LIST)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "page encoding \"fixed_size_list\" is only read with flat items");
	if (values->shape.nlists == LNC_SHAPE_MAX_LISTS)
		return lnc_fail(ctx, LNC_LIMIT, "fixed-size lists are nested deeper than %d levels", LNC_SHAPE_MAX_LISTS);

	codec->kind = LNC_CODEC_FIXED_SIZE_LIST;
	codec->values = values;
	codec->nbuffers = values->nbuffers + (message->has_validity ? 1 : 0);
	codec->shape.bits = values->shape.bits;
	codec->shape.nlists = values->shape.nlists + 1;
	codec->shape.dimensions[0] = message->items_per_value;
	codec->shape.validity[0] = message->has_validity;
	memcpy(codec->shape.dimensions + 1, values->shape.dimensions,
		   values->shape.nlists * sizeof(values->shape.dimensions[0]));
	memcpy(codec->shape.validity + 1, values->shape.validity,
		   values->shape.nlists * sizeof(values->shape.validity[0]));

	/* A stored value: validity bytes of each level, then the items. */
	LNC_TRY(lnc_shape_items(ctx, &codec->shape, &items));
	LNC_TRY(lnc_shape_bytes(ctx, &codec->shape, 1, &bytes));
	LNC_REQUIRE(ctx, items <= UINT64_MAX / (2 * LNC_SHAPE_MAX_LISTS) && bytes <= UINT64_MAX / 2,
				"the dimensions of a fixed-size list overflow");
	codec->value_bytes = bytes;
	for (uint32_t i = 0; i < codec->shape.nlists; i++)
	{
		per_list *= codec->shape.dimensions[i];
		if (codec->shape.validity[i])
			codec->value_bytes += lnc_bitmap_size(per_list);
	}
	return LNC_OK;
}

/* The codec inside stands for a packed struct of fixed width. */
static LncCode
open_packed_struct(LncContext *ctx, LncArena *arena, LncCodecUse use,
				   const Lance__Encodings21__PackedStruct *message, const LncCodec **out)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < message->n_bits_per_value; i++)
	{
		if (message->bits_per_value[i] % 8 != 0)
			return lnc_fail(
				ctx, LNC_UNSUPPORTED,
				"a packed struct with booleans is not read, since its writer leaves them out of the file");
		LNC_REQUIRE(ctx, !lnc_add_overflow(bits, message->bits_per_value[i], &bits),
					"the fields of a packed struct overflow");
	}
	LNC_TRY(lnc_codec_open(ctx, arena, use, message->values, out));
	LNC_REQUIRE(ctx, !(*out)->shape.variable && (*out)->shape.nlists == 0 && (*out)->shape.bits == bits,
				"page encoding \"packed_struct\" has fields of %llu bits in values of %llu",
				(unsigned long long)bits, (unsigned long long)(*out)->shape.bits);
	return LNC_OK;
}

static LncCode
open_packed_field(LncContext *ctx, LncArena *arena,
				  const Lance__Encodings21__VariablePackedStruct__FieldEncoding *message, LncCodecField *field)
{
	LNC_TRY(lnc_codec_open(ctx, arena, LNC_CODEC_VALUE, message->value, &field->codec));
	switch (message->layout_case)
	{
		case LANCE__ENCODINGS21__VARIABLE_PACKED_STRUCT__FIELD_ENCODING__LAYOUT_BITS_PER_VALUE:
			LNC_REQUIRE(ctx,
						!field->codec->shape.variable && message->bits_per_value % 8 == 0 &&
							message->bits_per_value / 8 == field->codec->value_bytes,
						"a field of a packed struct has %llu bits, its encoding %llu bytes",
						(unsigned long long)message->bits_per_value, (unsigned long long)field->codec->value_bytes);
			if (field->codec->shape.bits == 1 && field->codec->shape.nlists == 0)
				return lnc_fail(ctx, LNC_UNSUPPORTED, "booleans in packed structs of varying length are not read");
			return LNC_OK;
		case LANCE__ENCODINGS21__VARIABLE_PACKED_STRUCT__FIELD_ENCODING__LAYOUT_BITS_PER_LENGTH:
			LNC_REQUIRE(ctx, field->codec->shape.variable,
						"a field of a packed struct is of fixed width and has lengths");
			LNC_REQUIRE(ctx, message->bits_per_length == 32 || message->bits_per_length == 64,
						"a field of a packed struct has lengths of %llu bits",
						(unsigned long long)message->bits_per_length);
			field->length_bytes = (uint32_t)(message->bits_per_length / 8);
			return LNC_OK;
		default:
			return lnc_fail(ctx, LNC_CORRUPT, "a field of a packed struct does not tell its size");
	}
}

static LncCode
open_variable_packed_struct(LncContext *ctx, LncArena *arena,
							const Lance__Encodings21__VariablePackedStruct *message, LncCodec *codec)
{
	LncCodecField *fields;

	LNC_REQUIRE(ctx, message->n_fields > 0 && message->n_fields <= UINT32_MAX, "a packed struct has no fields");
	LNC_TRY(LNC_NEW(ctx, arena, &fields, message->n_fields));
	for (size_t i = 0; i < message->n_fields; i++)
		LNC_TRY(open_packed_field(ctx, arena, message->fields[i], &fields[i]));
	codec->kind = LNC_CODEC_VARIABLE_PACKED_STRUCT;
	codec->shape.variable = true;
	codec->nfields = (uint32_t)message->n_fields;
	codec->fields = fields;
	return LNC_OK;
}

LncCode
lnc_codec_open(LncContext *ctx, LncArena *arena, LncCodecUse use, const Message *message, const LncCodec **out)
{
	LncCodec *codec;

	/* One-of members are set whenever the case says so; the nesting was bounded when the message was unpacked. */
	LNC_REQUIRE(ctx, message != NULL, "a page encoding is missing");
	LNC_TRY(LNC_NEW(ctx, arena, &codec, 1));
	codec->use = use;
	codec->nbuffers = 1;
	*out = codec;
	switch (message->compression_case)
	{
		case CODEC(FLAT):
			return open_flat(ctx, message, codec);
		case CODEC(VARIABLE):
			return open_variable(ctx, message->variable, codec);
		case CODEC(OUT_OF_LINE_BITPACKING):
			if (use == LNC_CODEC_VALUE)
				return not_read(ctx, use, "out_of_line_bitpacking");
			return open_bitpacking(ctx, message, codec);
		case CODEC(INLINE_BITPACKING):
			if (use == LNC_CODEC_VALUE)
				return not_read(ctx, use, "inline_bitpacking");
			return open_bitpacking(ctx, message, codec);
		case CODEC(FSST):
			return open_fsst(ctx, arena, message->fsst, codec);
		case CODEC(RLE):
			if (use == LNC_CODEC_VALUE)
				return not_read(ctx, use, "rle");
			return open_rle(ctx, arena, message->rle, codec);
		case CODEC(BYTE_STREAM_SPLIT):
			if (use == LNC_CODEC_VALUE)
				return not_read(ctx, use, "byte_stream_split");
			return open_byte_stream_split(ctx, message->byte_stream_split, codec);
		case CODEC(GENERAL):
			return open_general(ctx, arena, message->general, codec);
		case CODEC(FIXED_SIZE_LIST):
			return open_fixed_size_list(ctx, arena, message->fixed_size_list, codec);
		case CODEC(CONSTANT):
			if (use == LNC_CODEC_VALUE)
				return open_constant(ctx, message, codec);
			return not_read(ctx, use, "constant");
		case CODEC(DICTIONARY):
			return not_read(ctx, use, "dictionary");
		case CODEC(PACKED_STRUCT):
			return open_packed_struct(ctx, arena, use, message->packed_struct, out);
		case CODEC(VARIABLE_PACKED_STRUCT):
			if (use == LNC_CODEC_VALUE)
				return open_variable_packed_struct(ctx, arena, message->variable_packed_struct, codec);
			return not_read(ctx, use, "variable_packed_struct");
		default:
			return lnc_fail(ctx, LNC_UNSUPPORTED, "an unknown page encoding is not read");
	}
}
