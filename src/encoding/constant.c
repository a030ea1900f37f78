/*
 * constant.c
 *	  Constant pages: every slot with a value has the same one, or none has any.
 *
 *	inline value	buffers		contents
 *	yes				0			-
 *	yes				2			rep, def
 *	no				0			every row is NULL
 *	no				1			value
 *	no				2			rep, def; every slot is NULL
 *	no				3			value, rep, def
 *
 *	value buffer	u32 count, count times u32 length, then that many buffers: those of an Arrow array of length 1
 *					(fixed width: the value; variable width: two offsets of 4 or 8 bytes, then the bytes)
 *	rep, def		raw u16, or coded as a block when the message says so; may be empty
 *
 * Source of the facts: format.md section 8.9.
 */
#include "encoding/check.h"
#include "encoding/layout21.h"

/* Buffers that a value may consist of. */
#define SCALAR_MAX_BUFFERS 2

typedef struct Constant
{
	bool has_value;
	LncSlice value;      /* one value: bytes of fixed width, or the bytes of a variable one. In the page's arena */
	const uint16_t *def; /* of all rows, or NULL. In the page's arena */
} Constant;

static LncCode
read_slots(LncContext *ctx, LncPage21 *page, LncArena *arena, LncArena *scratch, uint64_t first, uint64_t count,
		   LncSlots *out)
{
	const Constant *constant = page->layout;
	LncBlock *block = &out->values;
	uint64_t bytes;
	uint8_t *values;

	(void)scratch;
	out->nslots = count;
	out->all_null = !constant->has_value;
	if (!constant->has_value)
		return LNC_OK;
	out->def = constant->def != NULL ? constant->def + first : NULL;
	block->shape = page->shape;
	memset(block->shape.validity, 0, sizeof(block->shape.validity));
	block->count = count;
	if (page->shape.variable)
	{
		int64_t *offsets;

		if (lnc_mul_overflow(count, constant->value.size, &bytes) || count > SIZE_MAX / 16)
			return lnc_fail(ctx, LNC_LIMIT, "the values of one batch take too many bytes");
		LNC_TRY(lnc_arena_alloc(ctx, arena, (count + 1) * sizeof(*offsets), (void **)&offsets));
		for (uint64_t i = 0; i <= count; i++)
			offsets[i] = (int64_t)(i * constant->value.size);
		block->offsets = offsets;
	}
	else
		LNC_TRY(lnc_shape_bytes(ctx, &page->shape, count, &bytes));
	LNC_TRY(lnc_arena_alloc(ctx, arena, bytes, (void **)&values));
	if (page->shape.variable)
		block->data = values;
	else
		block->items = values;

	if (!page->shape.variable && page->shape.bits == 1)
		memset(values, (constant->value.data[0] & 1) != 0 ? 0xFF : 0, bytes);
	else if (constant->value.size == 1)
		memset(values, constant->value.data[0], bytes);
	else if (bytes > 0)
	{
		/* Doubling what is there already: few, long copies. */
		uint64_t done = constant->value.size;

		memcpy(values, constant->value.data, done);
		while (done < bytes)
		{
			uint64_t part = done < bytes - done ? done : bytes - done;

			memcpy(values + done, values, part);
			done += part;
		}
	}
	return LNC_OK;
}

/* The value's bytes from the buffers of an Arrow array of length 1. */
static LncCode
open_value(LncContext *ctx, const LncPage21 *page, LncSlice in, LncSlice *value)
{
	LncSlice parts[SCALAR_MAX_BUFFERS];
	uint32_t nparts;
	uint64_t at;
	uint64_t start;
	uint64_t end;

	LNC_REQUIRE(ctx, in.size >= sizeof(uint32_t), "a constant value of %zu bytes is truncated", in.size);
	nparts = lnc_le32(in.data);
	LNC_REQUIRE(ctx, nparts >= 1 && nparts <= SCALAR_MAX_BUFFERS, "a constant value has %u buffers", nparts);
	at = sizeof(uint32_t) * (1 + (uint64_t)nparts);
	LNC_REQUIRE(ctx, in.size >= at, "a constant value of %zu bytes is truncated", in.size);
	for (uint32_t i = 0; i < nparts; i++)
	{
		uint32_t length = lnc_le32(in.data + sizeof(uint32_t) * (1 + i));

		LNC_REQUIRE(ctx, lnc_range_ok(at, length, in.size), "a constant value of %zu bytes is truncated", in.size);
		parts[i] = (LncSlice){in.data + at, length};
		at += length;
	}
	LNC_REQUIRE(ctx, at == in.size, "a constant value has %llu bytes too many", (unsigned long long)(in.size - at));
	if (!page->shape.variable)
	{
		LNC_REQUIRE(ctx, nparts == 1, "a constant value of fixed width has %u buffers", nparts);
		*value = parts[0];
		return LNC_OK;
	}

	/* The offsets' width follows from their size: there are two of them. */
	LNC_REQUIRE(ctx, nparts == 2 && (parts[0].size == 8 || parts[0].size == 16),
				"a constant value of variable width has no offsets");
	start = parts[0].size == 8 ? lnc_le32(parts[0].data) : lnc_le64(parts[0].data);
	end = parts[0].size == 8 ? lnc_le32(parts[0].data + 4) : lnc_le64(parts[0].data + 8);
	LNC_REQUIRE(ctx, start <= end && end <= parts[1].size, "the offsets of a constant value are out of range");
	*value = (LncSlice){parts[1].data + start, (size_t)(end - start)};
	return LNC_OK;
}

/* Read and decode the definition levels of the whole page; they are kept. */
static LncCode
open_def(LncContext *ctx, LncPage21 *page, const Lance__Encodings21__ConstantLayout *message, uint32_t buffer,
		 Constant *constant)
{
	const LncCodec *codec = NULL;
	LncSlice bytes;
	uint64_t count = page->page.nrows;

	if (page->source->sizes[buffer] == 0)
		return LNC_OK;
	LNC_REQUIRE(ctx, page->layers.max_def > 0, "a page without nullable layers has definition levels");
	if (message->def_compression != NULL)
	{
		LNC_REQUIRE(ctx, message->num_def_values == count, "a page of %llu rows has %llu definition levels",
					(unsigned long long)count, (unsigned long long)message->num_def_values);
		LNC_TRY(lnc_codec_open(ctx, page->arena, LNC_CODEC_BLOCK, message->def_compression, &codec));
		LNC_TRY(lnc_levels_check(ctx, codec));
	}
	LNC_TRY(lnc_page21_read(ctx, page, page->arena, buffer, 0, page->source->sizes[buffer], &bytes));
	return lnc_levels_decode(ctx, codec, page->general, page->arena, bytes, count, page->layers.max_def,
							 &constant->def);
}

LncCode
lnc_constant_open(LncContext *ctx, LncPage21 *page, const Lance__Encodings21__ConstantLayout *message)
{
	bool is_inline = message->inline_value_presence_case ==
					 LANCE__ENCODINGS21__CONSTANT_LAYOUT__INLINE_VALUE_PRESENCE_INLINE_VALUE;
	uint32_t nbuffers = page->source->nbuffers;
	bool in_buffer = !is_inline && (nbuffers == 1 || nbuffers == 3);
	Constant *constant;
	uint64_t bytes;

	LNC_TRY(LNC_NEW(ctx, page->arena, &constant, 1));
	page->layout = constant;
	page->read = read_slots;
	page->page.layout = "constant";
	LNC_REQUIRE(ctx, nbuffers == 0 || nbuffers == 2 || in_buffer, "a constant page has %u buffers", nbuffers);
	if (is_inline)
		constant->value = (LncSlice){message->inline_value.data, message->inline_value.len};
	else if (in_buffer)
	{
		LncSlice whole;

		LNC_TRY(lnc_page21_read(ctx, page, page->arena, 0, 0, page->source->sizes[0], &whole));
		LNC_TRY(open_value(ctx, page, whole, &constant->value));
	}
	constant->has_value = is_inline || in_buffer;
	if (constant->has_value)
	{
		LNC_REQUIRE(ctx, page->type->kind != LNC_TYPE_NULL, "a page of the null type has a value");
		if (!page->shape.variable)
		{
			LNC_TRY(lnc_shape_bytes(ctx, &page->shape, 1, &bytes));
			LNC_REQUIRE(ctx, constant->value.size == bytes, "a constant value has %zu bytes, expected %llu",
						constant->value.size, (unsigned long long)bytes);
		}
		LNC_REQUIRE(ctx, nbuffers < 2 || page->source->sizes[nbuffers - 2] == 0,
					"a page without lists has repetition levels");
		if (nbuffers >= 2)
			LNC_TRY(open_def(ctx, page, message, nbuffers - 1, constant));
	}
	return LNC_OK;
}
