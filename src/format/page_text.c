/*
 * page_text.c
 *	  Page encodings in words. Messages nest at most as deep as the unpacker allows, so that recursion is bounded.
 */
#include "format/page_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buffer.h"
#include "format/file_internal.h"
#include "proto/encodings20.pb-c.h"
#include "proto/encodings21.pb-c.h"
#include "proto/unpack.h"

/* A description longer than this is cut short: packed structs may have thousands of parts. */
#define LARGEST_TEXT 4096

typedef Lance__Encodings21__CompressiveEncoding Codec;
typedef Lance__Encodings20__ArrayEncoding Array;

static LncCode add(LncContext *ctx, LncBuffer *out, const char *fmt, ...) LNC_PRINTF(3, 4) LNC_MUST_CHECK;

/* Append; nothing once the text is full. */
static LncCode
add(LncContext *ctx, LncBuffer *out, const char *fmt, ...)
{
	char piece[128];
	va_list args;
	int length;

	va_start(args, fmt);
	length = vsnprintf(piece, sizeof(piece), fmt, args);
	va_end(args);
	if (length < 0 || (size_t)length >= sizeof(piece) || out->size + (size_t)length > LARGEST_TEXT)
		return LNC_OK;
	return lnc_buffer_append(ctx, out, piece, (size_t)length);
}

static const char *
scheme_name(Lance__Encodings21__CompressionScheme scheme)
{
	switch (scheme)
	{
		case LANCE__ENCODINGS21__COMPRESSION_SCHEME__COMPRESSION_LZ4:
			return "lz4";
		case LANCE__ENCODINGS21__COMPRESSION_SCHEME__COMPRESSION_ZSTD:
			return "zstd";
		default:
			return "unknown";
	}
}

/* " zstd" for a compressed buffer. */
static LncCode
add_scheme(LncContext *ctx, LncBuffer *out, const Lance__Encodings21__BufferCompression *compression)
{
	return compression == NULL ? LNC_OK : add(ctx, out, " %s", scheme_name(compression->scheme));
}

/* ---- versions 2.1 and 2.2 ---- */

static LncCode add_codec(LncContext *ctx, LncBuffer *out, const Codec *codec);

/* "(inner)" */
static LncCode
add_inner(LncContext *ctx, LncBuffer *out, const Codec *codec)
{
	LNC_TRY(add(ctx, out, "("));
	LNC_TRY(add_codec(ctx, out, codec));
	return add(ctx, out, ")");
}

/* "(first, second)" */
static LncCode
add_pair(LncContext *ctx, LncBuffer *out, const Codec *first, const Codec *second)
{
	LNC_TRY(add(ctx, out, "("));
	LNC_TRY(add_codec(ctx, out, first));
	LNC_TRY(add(ctx, out, ", "));
	LNC_TRY(add_codec(ctx, out, second));
	return add(ctx, out, ")");
}

static LncCode
add_variable_struct(LncContext *ctx, LncBuffer *out, const Lance__Encodings21__VariablePackedStruct *message)
{
	LNC_TRY(add(ctx, out, "variable packed struct("));
	for (size_t i = 0; i < message->n_fields; i++)
	{
		LNC_TRY(add(ctx, out, i > 0 ? ", " : ""));
		LNC_TRY(add_codec(ctx, out, message->fields[i]->value));
	}
	return add(ctx, out, ")");
}

static LncCode
add_codec(LncContext *ctx, LncBuffer *out, const Codec *codec)
{
	if (codec == NULL)
		return add(ctx, out, "none");
	LNC_TRY(lnc_check_interrupt(ctx));
	switch (codec->compression_case)
	{
		case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FLAT:
			LNC_TRY(add(ctx, out, "flat %" PRIu64, codec->flat->bits_per_value));
			return add_scheme(ctx, out, codec->flat->data);
		case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_VARIABLE:
			LNC_TRY(add(ctx, out, "variable"));
			LNC_TRY(add_scheme(ctx, out, codec->variable->values));
			return add_inner(ctx, out, codec->variable->offsets);
		case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_CONSTANT:
			return add(ctx, out, "constant");
		case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_OUT_OF_LINE_BITPACKING:
			LNC_TRY(add(ctx, out, "bitpacked out of line"));
			return add_inner(ctx, out, codec->out_of_line_bitpacking->values);
		case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_INLINE_BITPACKING:
			LNC_TRY(add(ctx, out, "bitpacked %" PRIu64, codec->inline_bitpacking->uncompressed_bits_per_value));
			return add_scheme(ctx, out, codec->inline_bitpacking->values);
		case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FSST:
			LNC_TRY(add(ctx, out, "fsst"));
			return add_inner(ctx, out, codec->fsst->values);
		case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_DICTIONARY:
			LNC_TRY(add(ctx, out, "dictionary %" PRIu32, codec->dictionary->num_dictionary_items));
			return add_pair(ctx, out, codec->dictionary->indices, codec->dictionary->items);
		case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_RLE:
			LNC_TRY(add(ctx, out, "rle"));
			return add_pair(ctx, out, codec->rle->values, codec->rle->run_lengths);
		case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_BYTE_STREAM_SPLIT:
			LNC_TRY(add(ctx, out, "byte stream split"));
			return add_inner(ctx, out, codec->byte_stream_split->values);
		case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_GENERAL:
			LNC_TRY(add(ctx, out, "general"));
			LNC_TRY(add_scheme(ctx, out, codec->general->compression));
			return add_inner(ctx, out, codec->general->values);
		case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FIXED_SIZE_LIST:
			LNC_TRY(add(ctx, out, "fixed-size list %" PRIu64, codec->fixed_size_list->items_per_value));
			return add_inner(ctx, out, codec->fixed_size_list->values);
		case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_PACKED_STRUCT:
			LNC_TRY(add(ctx, out, "packed struct"));
			return add_inner(ctx, out, codec->packed_struct->values);
		case LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_VARIABLE_PACKED_STRUCT:
			return add_variable_struct(ctx, out, codec->variable_packed_struct);
		default:
			return add(ctx, out, "unknown");
	}
}

static LncCode
add_mini_block(LncContext *ctx, LncBuffer *out, const Lance__Encodings21__MiniBlockLayout *message)
{
	LNC_TRY(add_codec(ctx, out, message->value_compression));
	if (message->dictionary == NULL)
		return LNC_OK;
	LNC_TRY(add(ctx, out, ", dictionary of %" PRIu64 ": ", message->num_dictionary_items));
	return add_codec(ctx, out, message->dictionary);
}

static LncCode
add_layout(LncContext *ctx, LncBuffer *out, const Lance__Encodings21__PageLayout *message, const char **layout)
{
	switch (message->layout_case)
	{
		case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_MINI_BLOCK_LAYOUT:
			*layout = "mini-block";
			return add_mini_block(ctx, out, message->mini_block_layout);
		case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_FULL_ZIP_LAYOUT:
			*layout = "full-zip";
			return add_codec(ctx, out, message->full_zip_layout->value_compression);
		case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_CONSTANT_LAYOUT:
			*layout = "constant";
			return add(ctx, out, "%s",
					   message->constant_layout->inline_value_presence_case != 0 ? "inline value" : "none");
		case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_BLOB_LAYOUT:
		{
			const char *inner = "unknown";

			*layout = "blob";
			if (message->blob_layout->inner_layout == NULL)
				return add(ctx, out, "none");
			return add_layout(ctx, out, message->blob_layout->inner_layout, &inner);
		}
		default:
			*layout = "unknown";
			return add(ctx, out, "unknown");
	}
}

/* ---- version 2.0 ---- */

static LncCode add_array(LncContext *ctx, LncBuffer *out, const Array *array);

static LncCode
add_array_inner(LncContext *ctx, LncBuffer *out, const Array *array)
{
	LNC_TRY(add(ctx, out, "("));
	LNC_TRY(add_array(ctx, out, array));
	return add(ctx, out, ")");
}

static LncCode
add_array_pair(LncContext *ctx, LncBuffer *out, const Array *first, const Array *second)
{
	LNC_TRY(add(ctx, out, "("));
	LNC_TRY(add_array(ctx, out, first));
	LNC_TRY(add(ctx, out, ", "));
	LNC_TRY(add_array(ctx, out, second));
	return add(ctx, out, ")");
}

static LncCode
add_nullable(LncContext *ctx, LncBuffer *out, const Lance__Encodings20__Nullable *message)
{
	switch (message->nullability_case)
	{
		case LANCE__ENCODINGS20__NULLABLE__NULLABILITY_NO_NULLS:
			return add_array(ctx, out, message->no_nulls->values);
		case LANCE__ENCODINGS20__NULLABLE__NULLABILITY_SOME_NULLS:
			LNC_TRY(add(ctx, out, "some nulls"));
			return add_array_pair(ctx, out, message->some_nulls->validity, message->some_nulls->values);
		case LANCE__ENCODINGS20__NULLABLE__NULLABILITY_ALL_NULLS:
			return add(ctx, out, "all nulls");
		default:
			return add(ctx, out, "unknown");
	}
}

static LncCode
add_packed_struct(LncContext *ctx, LncBuffer *out, const Lance__Encodings20__PackedStruct *message)
{
	LNC_TRY(add(ctx, out, "packed struct("));
	for (size_t i = 0; i < message->n_inner; i++)
	{
		LNC_TRY(add(ctx, out, i > 0 ? ", " : ""));
		LNC_TRY(add_array(ctx, out, message->inner[i]));
	}
	return add(ctx, out, ")");
}

static LncCode
add_array(LncContext *ctx, LncBuffer *out, const Array *array)
{
	if (array == NULL)
		return add(ctx, out, "none");
	LNC_TRY(lnc_check_interrupt(ctx));
	switch (array->array_encoding_case)
	{
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FLAT:
			LNC_TRY(add(ctx, out, "flat %" PRIu64, array->flat->bits_per_value));
			return array->flat->compression == NULL ? LNC_OK
													: add(ctx, out, " %.20s", array->flat->compression->scheme);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_NULLABLE:
			return add_nullable(ctx, out, array->nullable);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FIXED_SIZE_LIST:
			LNC_TRY(add(ctx, out, "fixed-size list %" PRIu32, array->fixed_size_list->dimension));
			return add_array_inner(ctx, out, array->fixed_size_list->items);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_LIST:
			LNC_TRY(add(ctx, out, "list"));
			return add_array_inner(ctx, out, array->list->offsets);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_STRUCT_HEADER:
			return add(ctx, out, "struct");
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_BINARY:
			LNC_TRY(add(ctx, out, "binary"));
			return add_array_pair(ctx, out, array->binary->indices, array->binary->bytes);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_DICTIONARY:
			LNC_TRY(add(ctx, out, "dictionary %" PRIu32, array->dictionary->num_dictionary_items));
			return add_array_pair(ctx, out, array->dictionary->indices, array->dictionary->items);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FSST:
			LNC_TRY(add(ctx, out, "fsst"));
			return add_array_inner(ctx, out, array->fsst->binary);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_PACKED_STRUCT:
			return add_packed_struct(ctx, out, array->packed_struct);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_BITPACKED:
			return add(ctx, out, "bitpacked %" PRIu64, array->bitpacked->compressed_bits_per_value);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_BITPACKED_FOR_NON_NEG:
			return add(ctx, out, "bitpacked %" PRIu64, array->bitpacked_for_non_neg->compressed_bits_per_value);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FIXED_SIZE_BINARY:
			LNC_TRY(add(ctx, out, "fixed-size binary %" PRIu32, array->fixed_size_binary->byte_width));
			return add_array_inner(ctx, out, array->fixed_size_binary->bytes);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_CONSTANT:
			return add(ctx, out, "constant");
		default:
			return add(ctx, out, "unknown");
	}
}

LncCode
lnc_page_text(LncContext *ctx, LncArena *arena, const LncFile *file, uint32_t column, uint32_t page,
			  const char **layout, const char **encoding)
{
	const FileColumn *loaded;
	ProtobufCMessage *message;
	LncBuffer out;
	LncSlice bytes;
	char *text;

	LNC_TRY(lnc_file_load_column(ctx, file, column, &loaded));
	if (page >= loaded->npages)
		return lnc_fail(ctx, LNC_INVALID, "file column %u has %u pages, not %u", column, loaded->npages, page + 1);
	LNC_TRY(lnc_file_page_message(ctx, arena, file, &loaded->pages[page], &bytes));
	lnc_buffer_init(&out, arena, LARGEST_TEXT);
	if (file->minor == 0)
	{
		LNC_TRY(lnc_proto_unpack(ctx, arena, &lance__encodings20__array_encoding__descriptor, bytes,
								 "page encoding", &message));
		*layout = "array";
		LNC_TRY(add_array(ctx, &out, (const Array *)message));
	}
	else
	{
		LNC_TRY(lnc_proto_unpack(ctx, arena, &lance__encodings21__page_layout__descriptor, bytes, "page layout",
								 &message));
		LNC_TRY(add_layout(ctx, &out, (const Lance__Encodings21__PageLayout *)message, layout));
	}
	LNC_TRY(lnc_arena_strndup(ctx, arena, (const char *)out.data, out.size, &text));
	*encoding = text;
	return LNC_OK;
}
