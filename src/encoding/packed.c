/*
 * packed.c
 *	  From rows of packed structs to a column per field.
 */
#include "encoding/packed.h"

#include "encoding/check.h"

/* Fixed rows: copy each field out of them. */
static LncCode
unpack_fixed(LncContext *ctx, LncArena *arena, const LncBlock *block, LncColumn *out)
{
	const LncType *type = out->type;
	uint64_t stride = block->shape.bits / 8;
	uint64_t at = 0;

	for (int32_t i = 0; i < type->nchildren; i++)
	{
		const LncType *child = &type->children[i].type;
		LncBlock part = {.count = block->count};
		uint64_t width = lnc_type_width(child);
		uint8_t *items;

		LNC_REQUIRE(ctx, lnc_range_ok(at, width, stride), "rows of %llu bytes do not hold their fields",
					(unsigned long long)stride);
		LNC_TRY(lnc_shape_of_type(ctx, child, &part.shape));
		if (block->items != NULL && block->count > 0)
		{
			LNC_TRY(lnc_arena_alloc(ctx, arena, block->count * width, (void **)&items));
			for (uint64_t row = 0; row < block->count; row++)
				memcpy(items + row * width, block->items + row * stride + at, width);
			part.items = items;
		}
		at += width;
		LNC_TRY(lnc_block_to_column(ctx, arena, &part, child, NULL, &out->children[i]));
	}
	return LNC_OK;
}

/* Cut the next field off each row: at[row] moves. An empty row gives zeros, or an empty value. */
static LncCode
cut_fixed(LncContext *ctx, LncArena *arena, const LncBlock *block, const LncCodecField *field, uint64_t *at,
		  LncBlock *out)
{
	uint64_t width = field->codec->value_bytes;
	uint64_t bytes;
	uint8_t *values;

	/* A row with a byte in it holds every field, so only empty rows need bytes that are not there. */
	if (lnc_mul_overflow(block->count, width, &bytes) || bytes > LNC_GENERAL_MAX_BYTES)
		return lnc_fail(ctx, LNC_LIMIT, "the values of one batch take too many bytes");
	LNC_TRY(lnc_arena_calloc(ctx, arena, bytes, 1, (void **)&values));
	for (uint64_t row = 0; row < block->count; row++)
	{
		uint64_t end = (uint64_t)block->offsets[row + 1];

		if (block->offsets[row] == block->offsets[row + 1])
			continue;
		LNC_REQUIRE(ctx, lnc_range_ok(at[row], width, end), "a packed row is truncated");
		if (width > 0)
			memcpy(values + row * width, block->data + at[row], width);
		at[row] += width;
	}
	return lnc_codec_decode_fixed_values(ctx, field->codec, arena, values, width, block->count, out);
}

static LncCode
cut_variable(LncContext *ctx, LncArena *arena, LncGeneral *general, const LncBlock *block,
			 const LncCodecField *field, uint64_t *at, LncBlock *out)
{
	uint64_t total = (uint64_t)(block->offsets[block->count] - block->offsets[0]);
	uint64_t used = 0;
	int64_t *offsets;
	uint8_t *data;

	LNC_TRY(lnc_arena_alloc(ctx, arena, (block->count + 1) * sizeof(*offsets), (void **)&offsets));
	LNC_TRY(lnc_arena_alloc(ctx, arena, total, (void **)&data));
	for (uint64_t row = 0; row < block->count; row++)
	{
		uint64_t end = (uint64_t)block->offsets[row + 1];
		uint64_t length;

		offsets[row] = (int64_t)used;
		if (block->offsets[row] == block->offsets[row + 1])
			continue;
		LNC_REQUIRE(ctx, lnc_range_ok(at[row], field->length_bytes, end), "a packed row is truncated");
		length = field->length_bytes == 4 ? lnc_le32(block->data + at[row]) : lnc_le64(block->data + at[row]);
		at[row] += field->length_bytes;
		LNC_REQUIRE(ctx, lnc_range_ok(at[row], length, end), "a packed row is truncated");
		if (length > 0)
			memcpy(data + used, block->data + at[row], length);
		at[row] += length;
		used += length;
	}
	offsets[block->count] = (int64_t)used;
	memset(out, 0, sizeof(*out));
	out->shape.variable = true;
	out->count = block->count;
	out->offsets = offsets;
	out->data = data;
	return lnc_codec_decode_variable_values(ctx, field->codec, general, arena, out);
}

/* The column of a field out of its values, which are rows again where the field is a struct. */
static LncCode
unpack_field(LncContext *ctx, LncArena *arena, LncGeneral *general, const LncCodecField *field, LncBlock *part,
			 const LncType *type, LncColumn *out)
{
	LncShape wanted;

	LNC_REQUIRE(ctx, (type->kind == LNC_TYPE_STRUCT) == (field->codec->kind == LNC_CODEC_VARIABLE_PACKED_STRUCT),
				"a field of a packed struct is %s struct, but not stored so",
				type->kind == LNC_TYPE_STRUCT ? "a" : "no");
	if (type->kind == LNC_TYPE_STRUCT)
		return lnc_packed_to_column(ctx, arena, general, field->codec, part, type, NULL, out);
	LNC_TRY(lnc_shape_of_type(ctx, type, &wanted));
	LNC_TRY(lnc_shape_match(ctx, &part->shape, &wanted));
	return lnc_block_to_column(ctx, arena, part, type, NULL, out);
}

/* Rows of varying length. */
static LncCode
unpack_variable(LncContext *ctx, LncArena *arena, LncGeneral *general, const LncCodec *codec, const LncBlock *block,
				LncColumn *out)
{
	const LncType *type = out->type;
	uint64_t *at;

	LNC_REQUIRE(ctx, codec != NULL && codec->kind == LNC_CODEC_VARIABLE_PACKED_STRUCT,
				"packed structs of varying length are stored as plain bytes");
	LNC_REQUIRE(ctx, codec->nfields == (uint32_t)type->nchildren, "a packed struct has %u fields, the type has %d",
				codec->nfields, (int)type->nchildren);
	LNC_TRY(lnc_arena_alloc(ctx, arena, (block->count + 1) * sizeof(*at), (void **)&at));
	memcpy(at, block->offsets, block->count * sizeof(*at));
	for (int32_t i = 0; i < type->nchildren; i++)
	{
		const LncType *child = &type->children[i].type;
		const LncCodecField *field = &codec->fields[i];
		LncBlock part;

		LNC_TRY(lnc_check_interrupt(ctx));
		if (field->length_bytes > 0)
			LNC_TRY(cut_variable(ctx, arena, general, block, field, at, &part));
		else
			LNC_TRY(cut_fixed(ctx, arena, block, field, at, &part));
		LNC_TRY(unpack_field(ctx, arena, general, field, &part, child, &out->children[i]));
	}
	for (uint64_t row = 0; row < block->count; row++)
		LNC_REQUIRE(ctx, at[row] == (uint64_t)block->offsets[row + 1], "a packed row has bytes left over");
	return LNC_OK;
}

LncCode
lnc_packed_to_column(LncContext *ctx, LncArena *arena, LncGeneral *general, const LncCodec *codec,
					 const LncBlock *block, const LncType *type, const uint8_t *validity, LncColumn *out)
{
	memset(out, 0, sizeof(*out));
	out->type = type;
	out->length = (int64_t)block->count;
	out->validity = validity;
	out->nchildren = type->nchildren;
	LNC_TRY(LNC_NEW(ctx, arena, &out->children, type->nchildren));
	if (block->shape.variable)
		return unpack_variable(ctx, arena, general, codec, block, out);
	return unpack_fixed(ctx, arena, block, out);
}
