/*
 * page20.c
 *	  Opening pages of file version 2.0: from the encoding message to a checked tree of nodes.
 *
 * All sizes that can be known without reading buffers are checked here, so that decoding can rely on them: a node's
 * encoding fits its type, and its buffer holds as many values as the page says.
 */
#include "encoding/page20.h"

#include <inttypes.h>

#include "column/blob.h"
#include "encoding/bitpack.h"
#include "encoding/block.h"
#include "proto/encodings20.pb-c.h"
#include "proto/unpack.h"

typedef Lance__Encodings20__ArrayEncoding ArrayEncoding;

/* Types of arrays that are not values of a column: validity, ends of strings, their bytes, dictionary indices. */
static const LncType raw_bool = {.kind = LNC_TYPE_BOOL, .logical = "bool"};
static const LncType raw_u8 = {.kind = LNC_TYPE_UINT8, .logical = "uint8"};
static const LncType raw_u16 = {.kind = LNC_TYPE_UINT16, .logical = "uint16"};
static const LncType raw_u32 = {.kind = LNC_TYPE_UINT32, .logical = "uint32"};
static const LncType raw_u64 = {.kind = LNC_TYPE_UINT64, .logical = "uint64"};

/* ---- small checks ---- */

static LncCode
not_for_type(LncContext *ctx, const char *encoding, const LncType *type)
{
	return lnc_fail(ctx, LNC_CORRUPT, "%s encoding does not fit type \"%.200s\"", encoding,
					type->logical != NULL ? type->logical : "unknown");
}

/* The page buffer that a node names. */
static LncCode
check_buffer(LncContext *ctx, const LncPage20 *page, const Lance__Encodings20__Buffer *buffer, LncNode20 *node)
{
	if (buffer == NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "an encoding names no buffer");
	if (buffer->buffer_type != LANCE__ENCODINGS20__BUFFER__BUFFER_TYPE__PAGE)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "encodings with column or file buffers are not read");
	if (buffer->buffer_index >= page->source->nbuffers)
		return lnc_fail(ctx, LNC_CORRUPT, "the page has %u buffers, but its encoding names buffer %u",
						page->source->nbuffers, buffer->buffer_index);
	node->buffer = buffer->buffer_index;
	return LNC_OK;
}

/* LNC_CORRUPT when n bytes do not fit the node's buffer; overflow is the flag of the multiplication that gave n. */
static LncCode
check_size(LncContext *ctx, const LncPage20 *page, const LncNode20 *node, bool overflow, uint64_t n)
{
	uint64_t size = page->source->sizes[node->buffer];

	if (overflow || n > size)
		return lnc_fail(ctx, LNC_CORRUPT, "buffer %u of %" PRIu64 " bytes is too short for %" PRIu64 " values",
						node->buffer, size, node->nvalues);
	return LNC_OK;
}

/* Bits of one value of a type that flat buffers can hold; 0 for others (and for fixed-size binary of no bytes). */
static uint64_t
bits_of_type(const LncType *type)
{
	if (type->kind == LNC_TYPE_BOOL)
		return 1;
	return type->kind == LNC_TYPE_FIXED_LIST ? 0 : lnc_type_width(type) * 8;
}

/* Below what says that no value is NULL: the encoding of the values. NULL when the message is incomplete. */
static const ArrayEncoding *
without_no_nulls(const ArrayEncoding *encoding)
{
	while (encoding != NULL &&
		   encoding->array_encoding_case == LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_NULLABLE &&
		   encoding->nullable->nullability_case == LANCE__ENCODINGS20__NULLABLE__NULLABILITY_NO_NULLS)
		encoding = encoding->nullable->no_nulls->values;
	return encoding;
}

/* Bits of the integers that an encoding gives, 0 when it gives none. */
static uint64_t
integer_bits(const ArrayEncoding *encoding)
{
	while (encoding != NULL &&
		   encoding->array_encoding_case == LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_NULLABLE)
	{
		const Lance__Encodings20__Nullable *nullable = encoding->nullable;

		if (nullable->nullability_case == LANCE__ENCODINGS20__NULLABLE__NULLABILITY_NO_NULLS)
			encoding = nullable->no_nulls->values;
		else if (nullable->nullability_case == LANCE__ENCODINGS20__NULLABLE__NULLABILITY_SOME_NULLS)
			encoding = nullable->some_nulls->values;
		else
			return 64; /* all NULL: any width does */
	}
	if (encoding == NULL)
		return 0;
	switch (encoding->array_encoding_case)
	{
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FLAT:
			return encoding->flat->bits_per_value;
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_BITPACKED:
			return encoding->bitpacked->uncompressed_bits_per_value;
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_BITPACKED_FOR_NON_NEG:
			return encoding->bitpacked_for_non_neg->uncompressed_bits_per_value;
		default:
			return 0;
	}
}

/* ---- one function per encoding; node->type and nvalues are set ---- */

static LncCode
open_flat(LncContext *ctx, LncPage20 *page, const Lance__Encodings20__Flat *flat, LncNode20 *node)
{
	uint64_t bytes;

	node->kind = LNC_NODE20_FLAT;
	node->bits = flat->bits_per_value;
	if (!lnc_type_is_fixed(node->type) || node->type->kind == LNC_TYPE_FIXED_LIST ||
		node->bits != bits_of_type(node->type))
	{
		(void)not_for_type(ctx, "flat", node->type);
		lnc_detail(ctx, "Its values have %" PRIu64 " bits.", node->bits);
		return LNC_CORRUPT;
	}
	LNC_TRY(check_buffer(ctx, page, flat->buffer, node));
	if (node->bits == 1)
		bytes = lnc_bitmap_size(node->nvalues);
	else if (node->nvalues == LNC_NODE20_UNCOUNTED)
		bytes = 0;
	else if (lnc_mul_overflow(node->nvalues, node->bits / 8, &bytes))
		return lnc_fail(ctx, LNC_CORRUPT, "the page holds too many values");
	if (flat->compression != NULL && strcmp(flat->compression->scheme, "none") != 0)
	{
		node->compressed = true;
		if (strcmp(flat->compression->scheme, "zstd") == 0)
			node->scheme = LNC_GENERAL_ZSTD;
		else if (strcmp(flat->compression->scheme, "lz4") == 0)
			node->scheme = LNC_GENERAL_LZ4;
		else
			return lnc_fail(ctx, LNC_UNSUPPORTED, "compression scheme \"%.100s\" is not read",
							flat->compression->scheme);
		return LNC_OK; /* how much it holds shows when it is read */
	}
	return check_size(ctx, page, node, false, bytes);
}

static LncCode
open_nullable(LncContext *ctx, LncPage20 *page, const Lance__Encodings20__Nullable *nullable, LncNode20 *node)
{
	switch (nullable->nullability_case)
	{
		case LANCE__ENCODINGS20__NULLABLE__NULLABILITY_SOME_NULLS:
			node->kind = LNC_NODE20_NULLABLE;
			LNC_TRY(
				lnc_node20_open(ctx, page, nullable->some_nulls->validity, &raw_bool, node->nvalues, &node->first));
			return lnc_node20_open(ctx, page, nullable->some_nulls->values, node->type, node->nvalues,
								   &node->second);
		case LANCE__ENCODINGS20__NULLABLE__NULLABILITY_ALL_NULLS:
			node->kind = LNC_NODE20_ALL_NULLS;
			return LNC_OK;
		default:
			return lnc_fail(ctx, LNC_CORRUPT, "a nullable encoding does not say which values are NULL");
	}
}

static LncCode
open_fixed_list(LncContext *ctx, LncPage20 *page, const Lance__Encodings20__FixedSizeList *list, LncNode20 *node)
{
	uint64_t nitems;

	node->kind = LNC_NODE20_FIXED_LIST;
	if (node->type->kind != LNC_TYPE_FIXED_LIST)
		return not_for_type(ctx, "fixed-size list", node->type);
	if (list->dimension != (uint32_t)node->type->list_size)
		return lnc_fail(ctx, LNC_CORRUPT, "lists of %u items are stored for type \"%.200s\"", list->dimension,
						node->type->logical);
	if (lnc_mul_overflow(node->nvalues, (uint64_t)list->dimension, &nitems) || nitems > INT64_MAX)
		return lnc_fail(ctx, LNC_CORRUPT, "the page holds too many items");
	return lnc_node20_open(ctx, page, list->items, &node->type->children[0].type, nitems, &node->first);
}

static LncCode
open_binary(LncContext *ctx, LncPage20 *page, const Lance__Encodings20__Binary *binary, LncNode20 *node)
{
	node->kind = LNC_NODE20_BINARY;
	node->null_adjustment = binary->null_adjustment;
	if (!lnc_type_is_variable(node->type))
		return not_for_type(ctx, "binary", node->type);
	LNC_TRY(lnc_node20_open(ctx, page, binary->indices, &raw_u64, node->nvalues, &node->first));
	return lnc_node20_open(ctx, page, binary->bytes, &raw_u8, LNC_NODE20_UNCOUNTED, &node->second);
}

static LncCode
open_dictionary(LncContext *ctx, LncPage20 *page, const Lance__Encodings20__Dictionary *dictionary, LncNode20 *node)
{
	const LncType *index_type;

	node->kind = LNC_NODE20_DICTIONARY;
	switch (integer_bits(dictionary->indices))
	{
		case 8:
			index_type = &raw_u8;
			break;
		case 16:
			index_type = &raw_u16;
			break;
		case 32:
			index_type = &raw_u32;
			break;
		case 64:
			index_type = &raw_u64;
			break;
		default:
			return lnc_fail(ctx, LNC_CORRUPT, "the indices of a dictionary are no integers");
	}
	if (node->type->kind == LNC_TYPE_DICTIONARY)
		node->type = &node->type->children[0].type;
	else
		node->zero_is_null = true;
	LNC_TRY(lnc_node20_open(ctx, page, dictionary->indices, index_type, node->nvalues, &node->first));
	return lnc_node20_open(ctx, page, dictionary->items, node->type, dictionary->num_dictionary_items,
						   &node->second);
}

static LncCode
open_fsst(LncContext *ctx, LncPage20 *page, const Lance__Encodings20__Fsst *fsst, LncNode20 *node)
{
	LncSlice table = {fsst->symbol_table.data, fsst->symbol_table.len};
	const LncNode20 *coded;

	node->kind = LNC_NODE20_FSST;
	if (!lnc_type_is_variable(node->type))
		return not_for_type(ctx, "FSST", node->type);
	LNC_TRY(LNC_NEW(ctx, page->arena, &node->fsst, 1));
	LNC_TRY(lnc_fsst_open(ctx, table, node->fsst));
	LNC_TRY(lnc_node20_open(ctx, page, fsst->binary, node->type, node->nvalues, &node->first));
	coded = node->first;
	while (coded->kind == LNC_NODE20_NULLABLE)
		coded = coded->second;
	/* Anything else could be FSST again, and each time the values grow eightfold. */
	if (coded->kind != LNC_NODE20_BINARY && coded->kind != LNC_NODE20_ALL_NULLS)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "FSST is read around binary encoding only");
	return LNC_OK;
}

static LncCode
open_fixed_binary(LncContext *ctx, LncPage20 *page, const Lance__Encodings20__FixedSizeBinary *binary,
				  LncNode20 *node)
{
	uint64_t nbytes;

	node->kind = LNC_NODE20_FIXED_BINARY;
	node->width = binary->byte_width;
	if (!lnc_type_is_variable(node->type))
		return not_for_type(ctx, "fixed-size binary", node->type);
	if (node->width == 0)
		return lnc_fail(ctx, LNC_CORRUPT, "a fixed-size binary encoding has values of no bytes");
	if (integer_bits(binary->bytes) != 8)
	{
		/* The bytes may also be given as values of the whole width. */
		LncType *wide;

		if (node->width > INT32_MAX)
			return lnc_fail(ctx, LNC_LIMIT, "values of %" PRIu64 " bytes are too large", node->width);
		LNC_TRY(LNC_NEW(ctx, page->arena, &wide, 1));
		wide->kind = LNC_TYPE_FIXED_BINARY;
		wide->logical = "fixed_size_binary";
		wide->list_size = (int32_t)node->width;
		return lnc_node20_open(ctx, page, binary->bytes, wide, node->nvalues, &node->first);
	}
	if (lnc_mul_overflow(node->nvalues, node->width, &nbytes) || nbytes > INT64_MAX)
		return lnc_fail(ctx, LNC_CORRUPT, "the page holds too many bytes");
	return lnc_node20_open(ctx, page, binary->bytes, &raw_u8, nbytes, &node->first);
}

/* Both forms of bit-packing: stored bits per value within those of the type, buffer long enough. */
static LncCode
open_bitpacked(LncContext *ctx, LncPage20 *page, uint64_t packed, uint64_t unpacked, bool blocks,
			   const Lance__Encodings20__Buffer *buffer, LncNode20 *node)
{
	uint64_t units;
	uint64_t bytes;
	bool overflow;

	node->kind = blocks ? LNC_NODE20_BITPACKED_BLOCKS : LNC_NODE20_BITPACKED;
	node->bits = unpacked;
	if ((unpacked != 8 && unpacked != 16 && unpacked != 32 && unpacked != 64) ||
		unpacked != bits_of_type(node->type) || node->type->kind == LNC_TYPE_FIXED_BINARY)
		return not_for_type(ctx, "bit-packed", node->type);
	if (packed == 0 || packed > unpacked)
		return lnc_fail(ctx, LNC_CORRUPT, "values of %" PRIu64 " bits are packed to %" PRIu64, unpacked, packed);
	node->packed = (uint32_t)packed;
	LNC_TRY(check_buffer(ctx, page, buffer, node));
	if (blocks)
	{
		units = node->nvalues / LNC_BITPACK_BLOCK + (node->nvalues % LNC_BITPACK_BLOCK != 0);
		overflow = lnc_mul_overflow(units, packed * (LNC_BITPACK_BLOCK / 8), &bytes);
	}
	else
	{
		overflow = lnc_mul_overflow(node->nvalues, packed, &units);
		bytes = lnc_bitmap_size(units);
	}
	return check_size(ctx, page, node, overflow, bytes);
}

static LncCode
open_constant(LncContext *ctx, const Lance__Encodings20__Constant *constant, LncNode20 *node)
{
	uint64_t width = node->type->kind == LNC_TYPE_BOOL ? 1 : lnc_type_width(node->type);

	node->kind = LNC_NODE20_CONSTANT;
	if (!lnc_type_is_fixed(node->type) || node->type->kind == LNC_TYPE_FIXED_LIST)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "constant encoding of type \"%.200s\" is not read",
						node->type->logical != NULL ? node->type->logical : "unknown");
	if (constant->value.len != width)
		return not_for_type(ctx, "constant", node->type);
	node->constant.data = constant->value.data;
	node->constant.size = constant->value.len;
	return LNC_OK;
}

/* ---- packed structs ---- */

/*
 * The encoding of a packed field says nothing but how wide its values are: check that it says what the type says, and
 * add the bytes of one value to *width.
 */
static LncCode
check_packed(LncContext *ctx, const ArrayEncoding *encoding, const LncType *type, uint64_t *width)
{
	uint64_t bytes;
	bool in_list = type->kind == LNC_TYPE_FIXED_LIST;

	encoding = without_no_nulls(encoding);
	if (encoding == NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "an array encoding is missing");
	if (type->kind == LNC_TYPE_STRUCT &&
		encoding->array_encoding_case == LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_PACKED_STRUCT)
	{
		if (encoding->packed_struct->n_inner != (size_t)type->nchildren)
			return lnc_fail(ctx, LNC_CORRUPT, "a packed struct of %d fields is stored as %zu", (int)type->nchildren,
							encoding->packed_struct->n_inner);
		for (int32_t i = 0; i < type->nchildren; i++)
			LNC_TRY(check_packed(ctx, encoding->packed_struct->inner[i], &type->children[i].type, width));
		return LNC_OK;
	}
	LNC_TRY(lnc_packed_width(ctx, type, &bytes));
	if (lnc_add_overflow(*width, bytes, width))
		return lnc_fail(ctx, LNC_CORRUPT, "the fields of a packed struct are too wide");
	while (type->kind == LNC_TYPE_FIXED_LIST &&
		   encoding->array_encoding_case == LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FIXED_SIZE_LIST)
	{
		if (encoding->fixed_size_list->dimension != (uint32_t)type->list_size)
			return not_for_type(ctx, "fixed-size list", type);
		type = &type->children[0].type;
		encoding = without_no_nulls(encoding->fixed_size_list->items);
		if (encoding == NULL)
			return lnc_fail(ctx, LNC_CORRUPT, "an array encoding is missing");
	}
	if (encoding->array_encoding_case != LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FLAT ||
		(type->kind == LNC_TYPE_BOOL && !in_list) || !lnc_type_is_fixed(type))
		return lnc_fail(ctx, LNC_UNSUPPORTED, "packed fields of type \"%.200s\" are read in flat encoding only",
						type->logical != NULL ? type->logical : "unknown");
	if (type->kind == LNC_TYPE_FIXED_LIST || encoding->flat->bits_per_value != bits_of_type(type))
		return not_for_type(ctx, "flat", type);
	if (encoding->flat->compression != NULL && strcmp(encoding->flat->compression->scheme, "none") != 0)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "compressed fields of packed structs are not read");
	return LNC_OK;
}

static LncCode
open_packed(LncContext *ctx, LncPage20 *page, const Lance__Encodings20__PackedStruct *packed, LncNode20 *node)
{
	uint64_t bytes;
	bool overflow;

	node->kind = LNC_NODE20_PACKED_STRUCT;
	if (lnc_type_is_blob(node->type))
	{
		node->blob = node->type;
		node->type = lnc_blob_pair();
	}
	if (node->type->kind != LNC_TYPE_STRUCT)
		return not_for_type(ctx, "packed struct", node->type);
	if (packed->n_inner != (size_t)node->type->nchildren || packed->n_inner == 0)
		return lnc_fail(ctx, LNC_CORRUPT, "a packed struct of %d fields is stored as %zu",
						(int)node->type->nchildren, packed->n_inner);
	for (size_t i = 0; i < packed->n_inner; i++)
		LNC_TRY(check_packed(ctx, packed->inner[i], &node->type->children[i].type, &node->width));
	LNC_TRY(check_buffer(ctx, page, packed->buffer, node));
	overflow = lnc_mul_overflow(node->nvalues, node->width, &bytes);
	return check_size(ctx, page, node, overflow, bytes);
}

/* ---- the tree ---- */

LncCode
lnc_node20_open(LncContext *ctx, LncPage20 *page, const void *message, const LncType *type, uint64_t nvalues,
				LncNode20 **out)
{
	/* The message's nesting, and with it this recursion, was bounded when it was unpacked. */
	const ArrayEncoding *encoding = without_no_nulls(message);
	LncNode20 *node;

	if (encoding == NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "an array encoding is missing");
	if (nvalues == LNC_NODE20_UNCOUNTED &&
		encoding->array_encoding_case != LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FLAT)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "bytes of strings are read in flat encoding only");
	LNC_TRY(LNC_NEW(ctx, page->arena, &node, 1));
	node->type = type;
	node->nvalues = nvalues;
	*out = node;
	switch (encoding->array_encoding_case)
	{
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FLAT:
			return open_flat(ctx, page, encoding->flat, node);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_NULLABLE:
			return open_nullable(ctx, page, encoding->nullable, node);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FIXED_SIZE_LIST:
			return open_fixed_list(ctx, page, encoding->fixed_size_list, node);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_BINARY:
			return open_binary(ctx, page, encoding->binary, node);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_DICTIONARY:
			return open_dictionary(ctx, page, encoding->dictionary, node);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FSST:
			return open_fsst(ctx, page, encoding->fsst, node);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FIXED_SIZE_BINARY:
			return open_fixed_binary(ctx, page, encoding->fixed_size_binary, node);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_BITPACKED:
			node->is_signed = encoding->bitpacked->is_signed;
			return open_bitpacked(ctx, page, encoding->bitpacked->compressed_bits_per_value,
								  encoding->bitpacked->uncompressed_bits_per_value, false,
								  encoding->bitpacked->buffer, node);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_BITPACKED_FOR_NON_NEG:
			return open_bitpacked(ctx, page, encoding->bitpacked_for_non_neg->compressed_bits_per_value,
								  encoding->bitpacked_for_non_neg->uncompressed_bits_per_value, true,
								  encoding->bitpacked_for_non_neg->buffer, node);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_CONSTANT:
			return open_constant(ctx, encoding->constant, node);
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_LIST:
			return lnc_fail(ctx, LNC_UNSUPPORTED,
							"list encoding is read for columns of lists only, not for \"%.200s\"",
							type->logical != NULL ? type->logical : "unknown");
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_STRUCT_HEADER:
			return lnc_fail(ctx, LNC_CORRUPT, "a struct header has no values");
		case LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_PACKED_STRUCT:
			return open_packed(ctx, page, encoding->packed_struct, node);
		default:
			return lnc_fail(ctx, LNC_UNSUPPORTED, "the page has an array encoding that is not known");
	}
}

LncCode
lnc_page20_is_packed(LncContext *ctx, LncArena *arena, LncSlice encoding, bool *packed)
{
	ProtobufCMessage *message;
	const ArrayEncoding *array;

	LNC_TRY(lnc_proto_unpack(ctx, arena, &lance__encodings20__array_encoding__descriptor, encoding, "page encoding",
							 &message));
	array = without_no_nulls((const ArrayEncoding *)message);
	*packed = array != NULL &&
			  array->array_encoding_case == LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_PACKED_STRUCT;
	if (!*packed && (array == NULL || array->array_encoding_case !=
										  LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_STRUCT_HEADER))
		return lnc_fail(ctx, LNC_CORRUPT, "a page of a struct's column is neither a header nor packed");
	return LNC_OK;
}

/* What inspection shows: the encoding of the values, below NULLs and fixed-size lists. */
static const char *
layout_name(const LncNode20 *node)
{
	static const char *const names[] = {
		[LNC_NODE20_FLAT] = "flat",
		[LNC_NODE20_ALL_NULLS] = "all nulls",
		[LNC_NODE20_BINARY] = "binary",
		[LNC_NODE20_DICTIONARY] = "dictionary",
		[LNC_NODE20_FSST] = "fsst",
		[LNC_NODE20_FIXED_BINARY] = "fixed-size binary",
		[LNC_NODE20_BITPACKED] = "bit-packed",
		[LNC_NODE20_BITPACKED_BLOCKS] = "bit-packed",
		[LNC_NODE20_CONSTANT] = "constant",
		[LNC_NODE20_PACKED_STRUCT] = "packed struct",
	};

	while (node->kind == LNC_NODE20_NULLABLE || node->kind == LNC_NODE20_FIXED_LIST)
		node = node->kind == LNC_NODE20_NULLABLE ? node->second : node->first;
	return names[node->kind];
}

/* LncPage.decode */
static LncCode
decode_page(LncContext *ctx, LncPage *base, LncArena *arena, uint64_t first, uint64_t count, LncColumn *out)
{
	LncPage20 *page = base->state;

	if (!lnc_range_ok(first, count, base->nrows))
		return lnc_fail(ctx, LNC_CORRUPT,
						"rows %" PRIu64 " to %" PRIu64 " are not inside the page of %" PRIu64 " rows", first,
						first + count, base->nrows);
	return lnc_node20_decode(ctx, page, page->root, arena, first, count, out);
}

LncCode
lnc_page20_open(LncContext *ctx, LncArena *arena, const LncPageSpec *spec, LncPage **out)
{
	const LncField *field = spec->path[spec->npath - 1];
	LncPage20 *page;
	ProtobufCMessage *message;

	if (field->type.kind == LNC_TYPE_UNKNOWN)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "columns of type \"%.200s\" are not read",
						field->type.logical != NULL ? field->type.logical : "unknown");
	if (spec->nrows > INT64_MAX)
		return lnc_fail(ctx, LNC_CORRUPT, "the page holds too many rows");
	LNC_TRY(LNC_NEW(ctx, arena, &page, 1));
	page->arena = arena;
	page->source = spec->source;
	LNC_TRY(lnc_proto_unpack(ctx, arena, &lance__encodings20__array_encoding__descriptor, spec->encoding,
							 "page encoding", &message));
	LNC_TRY(lnc_node20_open(ctx, page, message, &field->type, spec->nrows, &page->root));
	page->base.nrows = spec->nrows;
	page->base.layout = layout_name(page->root);
	page->base.decode = decode_page;
	page->base.decode_some = lnc_page20_decode_some;
	page->base.state = page;
	*out = &page->base;
	return LNC_OK;
}
