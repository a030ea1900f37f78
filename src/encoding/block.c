/*
 * block.c
 *	  Shapes, collecting slices of blocks, dictionary look-up, and the step from block to column.
 */
#include "encoding/block.h"

#include "base/bitmap.h"
#include "encoding/check.h"

#define BUILDER_LEAST_DATA ((uint64_t)256)

LncCode
lnc_packed_width(LncContext *ctx, const LncType *type, uint64_t *width)
{
	LncShape shape;
	uint64_t bits;

	*width = lnc_type_width(type);
	if (*width > 0 || type->kind == LNC_TYPE_BOOL)
		return LNC_OK;
	if (type->kind != LNC_TYPE_FIXED_LIST)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "values of type \"%s\" are not read in a packed struct",
						type->logical != NULL ? type->logical : "");
	LNC_TRY(lnc_shape_of_type(ctx, type, &shape));
	LNC_TRY(lnc_shape_items(ctx, &shape, &bits));
	if (bits % 8 != 0)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "lists of %llu booleans are not read in a packed struct",
						(unsigned long long)bits);
	*width = bits / 8;
	return LNC_OK;
}

/* A packed struct: as wide as its fields together, or variable when one of them is. */
static LncCode
shape_of_struct(LncContext *ctx, const LncType *type, LncShape *out)
{
	uint64_t bytes = 0;

	for (int32_t i = 0; i < type->nchildren; i++)
	{
		const LncType *child = &type->children[i].type;
		LncShape shape = {.variable = lnc_type_is_variable(child)};
		uint64_t width = 0;

		if (child->kind == LNC_TYPE_STRUCT && child->nchildren > 0)
			LNC_TRY(shape_of_struct(ctx, child, &shape)); /* as deep as a schema may be */
		if (shape.variable)
			out->variable = true;
		else
			LNC_TRY(lnc_packed_width(ctx, child, &width));
		if (lnc_add_overflow(bytes, width, &bytes) || bytes > UINT64_MAX / 8)
			return lnc_fail(ctx, LNC_CORRUPT, "the fields of a packed struct overflow");
	}
	out->bits = out->variable ? 0 : bytes * 8;
	return LNC_OK;
}

LncCode
lnc_shape_of_type(LncContext *ctx, const LncType *type, LncShape *out)
{
	memset(out, 0, sizeof(*out));
	if (type->kind == LNC_TYPE_DICTIONARY && type->nchildren == 1)
		type = &type->children[0].type;
	while (type->kind == LNC_TYPE_FIXED_LIST && type->nchildren == 1)
	{
		if (out->nlists == LNC_SHAPE_MAX_LISTS)
			return lnc_fail(ctx, LNC_LIMIT, "fixed-size lists are nested deeper than %d levels",
							LNC_SHAPE_MAX_LISTS);
		LNC_REQUIRE(ctx, type->list_size > 0, "a fixed-size list has %d items", type->list_size);
		out->dimensions[out->nlists++] = (uint64_t)type->list_size;
		type = &type->children[0].type;
	}
	if (type->kind == LNC_TYPE_STRUCT && type->nchildren > 0 && out->nlists == 0)
		return shape_of_struct(ctx, type, out);
	if (lnc_type_is_variable(type) && out->nlists == 0)
		out->variable = true;
	else if (type->kind == LNC_TYPE_BOOL)
		out->bits = 1;
	else if (type->kind == LNC_TYPE_NULL && out->nlists > 0)
		out->bits = 0;
	else if (lnc_type_width(type) > 0 && lnc_type_width(type) <= UINT64_MAX / 8)
		out->bits = lnc_type_width(type) * 8;
	else
		return lnc_fail(ctx, LNC_UNSUPPORTED, "values of type \"%s\" are not read as one column",
						type->logical != NULL ? type->logical : "");
	return LNC_OK;
}

LncCode
lnc_shape_items(LncContext *ctx, const LncShape *shape, uint64_t *items)
{
	*items = 1;
	for (uint32_t i = 0; i < shape->nlists; i++)
		LNC_REQUIRE(ctx, !lnc_mul_overflow(*items, shape->dimensions[i], items),
					"the dimensions of a fixed-size list overflow");
	return LNC_OK;
}

LncCode
lnc_shape_bytes(LncContext *ctx, const LncShape *shape, uint64_t count, uint64_t *bytes)
{
	uint64_t bits;

	LNC_TRY(lnc_shape_items(ctx, shape, &bits));
	LNC_REQUIRE(ctx, !lnc_mul_overflow(bits, count, &bits) && !lnc_mul_overflow(bits, shape->bits, &bits),
				"the size of %llu values overflows", (unsigned long long)count);
	*bytes = lnc_bitmap_size(bits);
	return LNC_OK;
}

LncCode
lnc_shape_match(LncContext *ctx, LncShape *stored, const LncShape *wanted)
{
	uint64_t bytes;
	bool all_null;

	LNC_REQUIRE(ctx, stored->variable == wanted->variable, "%s values are stored for a column of %s values",
				stored->variable ? "variable-width" : "fixed-width",
				wanted->variable ? "variable-width" : "fixed-width");
	if (stored->variable)
		return LNC_OK;
	if (stored->nlists == 0 && wanted->nlists > 0 && stored->bits == 0)
	{
		/* Nothing is stored: the items of the outermost list are all NULL. */
		*stored = *wanted;
		stored->validity[0] = true;
		return LNC_OK;
	}
	if (stored->nlists == 0 && wanted->nlists > 0)
	{
		/* Whole rows stored as plain wide values. */
		LNC_TRY(lnc_shape_bytes(ctx, wanted, 1, &bytes));
		LNC_REQUIRE(ctx, wanted->bits > 1 && stored->bits == bytes * 8,
					"values of %llu bits are stored for a fixed-size list of %llu bytes",
					(unsigned long long)stored->bits, (unsigned long long)bytes);
		*stored = *wanted;
		return LNC_OK;
	}
	all_null = stored->bits == 0 && stored->nlists > 0;
	LNC_REQUIRE(ctx, stored->nlists == wanted->nlists || (all_null && stored->nlists < wanted->nlists),
				"%u levels of fixed-size lists are stored, the type has %u", stored->nlists, wanted->nlists);
	for (uint32_t i = 0; i < stored->nlists; i++)
		LNC_REQUIRE(ctx, stored->dimensions[i] == wanted->dimensions[i],
					"a fixed-size list of %llu items is stored, the type has %llu",
					(unsigned long long)stored->dimensions[i], (unsigned long long)wanted->dimensions[i]);
	LNC_REQUIRE(ctx, stored->bits == wanted->bits || all_null, "values of %llu bits are stored, the type has %llu",
				(unsigned long long)stored->bits, (unsigned long long)wanted->bits);
	stored->bits = wanted->bits;

	/* Items that are all NULL may be lists again: nothing is stored of what is inside them. */
	stored->nlists = wanted->nlists;
	memcpy(stored->dimensions, wanted->dimensions, sizeof(stored->dimensions));
	return LNC_OK;
}

LncCode
lnc_block_builder_init(LncContext *ctx, LncArena *arena, const LncShape *shape, uint64_t capacity,
					   uint64_t data_hint, LncBlockBuilder *builder)
{
	void *memory;
	uint64_t bytes;
	uint64_t items = capacity;

	memset(builder, 0, sizeof(*builder));
	builder->arena = arena;
	builder->shape = *shape;
	builder->capacity = capacity;
	if (shape->variable)
	{
		if (lnc_add_overflow(capacity, 1, &bytes) || lnc_mul_overflow(bytes, sizeof(int64_t), &bytes))
			return lnc_fail(ctx, LNC_LIMIT, "%llu values are too many", (unsigned long long)capacity);
		LNC_TRY(lnc_arena_alloc(ctx, arena, bytes, &memory));
		builder->offsets = memory;
		builder->offsets[0] = 0;
		builder->data_capacity = data_hint < BUILDER_LEAST_DATA ? BUILDER_LEAST_DATA : data_hint;
		LNC_TRY(lnc_arena_alloc(ctx, arena, builder->data_capacity, &memory));
		builder->data = memory;
		return LNC_OK;
	}
	LNC_TRY(lnc_shape_items(ctx, shape, &builder->items_per_value));
	LNC_TRY(lnc_shape_bytes(ctx, shape, capacity, &bytes));
	LNC_TRY(lnc_arena_alloc(ctx, arena, bytes, &memory));
	builder->items = memory;
	if (shape->bits == 1)
		memset(memory, 0, bytes);
	for (uint32_t i = 0; i < shape->nlists; i++)
	{
		/* No overflow: the whole shape was just multiplied out. */
		items *= shape->dimensions[i];
		if (!shape->validity[i])
			continue;
		bytes = lnc_bitmap_size(items);
		LNC_TRY(lnc_arena_alloc(ctx, arena, bytes, &memory));
		memset(memory, 0, bytes);
		builder->validity[i] = memory;
	}
	return LNC_OK;
}

static LncCode
append_variable(LncContext *ctx, LncBlockBuilder *builder, const LncBlock *block, uint64_t first, uint64_t count)
{
	int64_t from = block->offsets[first];
	uint64_t bytes = (uint64_t)(block->offsets[first + count] - from);
	int64_t *offsets = builder->offsets + builder->count;
	uint64_t used = (uint64_t)offsets[0];
	int64_t shift = (int64_t)used - from;

	if (bytes > builder->data_capacity - used)
	{
		uint64_t grown = builder->data_capacity;
		uint64_t needed;
		void *memory;

		if (lnc_add_overflow(used, bytes, &needed) || needed > INT64_MAX / 2)
			return lnc_fail(ctx, LNC_LIMIT, "the values of one batch take too many bytes");
		while (grown < needed)
			grown *= 2;
		LNC_TRY(lnc_arena_alloc(ctx, builder->arena, grown, &memory));
		if (used > 0)
			memcpy(memory, builder->data, used);
		builder->data = memory;
		builder->data_capacity = grown;
	}
	if (bytes > 0)
		memcpy(builder->data + used, block->data + from, bytes);
	for (uint64_t i = 1; i <= count; i++)
		offsets[i] = block->offsets[first + i] + shift;
	return LNC_OK;
}

LncCode
lnc_block_builder_append(LncContext *ctx, LncBlockBuilder *builder, const LncBlock *block, uint64_t first,
						 uint64_t count)
{
	uint64_t per_list = 1;

	if (count > builder->capacity - builder->count)
		return lnc_fail(ctx, LNC_CORRUPT, "a page gives more values than rows were asked for");
	if (count == 0)
		return LNC_OK;
	if (builder->shape.variable)
	{
		LNC_TRY(append_variable(ctx, builder, block, first, count));
		builder->count += count;
		return LNC_OK;
	}

	/* Item bits, then the validity of each list level. */
	if (builder->shape.bits == 1)
	{
		if (block->items != NULL)
			lnc_bits_copy(builder->items, builder->count * builder->items_per_value, block->items,
						  first * builder->items_per_value, count * builder->items_per_value);
	}
	else
	{
		uint64_t width = builder->items_per_value * (builder->shape.bits / 8);

		if (block->items != NULL)
			memcpy(builder->items + builder->count * width, block->items + first * width, count * width);
		else
			memset(builder->items + builder->count * width, 0, count * width);
	}
	for (uint32_t i = 0; i < builder->shape.nlists; i++)
	{
		per_list *= builder->shape.dimensions[i];
		if (builder->validity[i] == NULL)
			continue;
		if (block->validity[i] != NULL)
			lnc_bits_copy(builder->validity[i], builder->count * per_list, block->validity[i], first * per_list,
						  count * per_list);
		else
			lnc_bits_fill(builder->validity[i], builder->count * per_list, count * per_list, true);
	}
	builder->count += count;
	return LNC_OK;
}

void
lnc_block_builder_finish(const LncBlockBuilder *builder, LncBlock *out)
{
	memset(out, 0, sizeof(*out));
	out->shape = builder->shape;
	out->count = builder->count;
	out->items = builder->items;
	out->offsets = builder->offsets;
	out->data = builder->data;
	for (uint32_t i = 0; i < builder->shape.nlists; i++)
		out->validity[i] = builder->validity[i];
}

/* Widen indices of any width to 64 bits, checked against limit; those of NULL values become 0. */
static LncCode
widen_indices(LncContext *ctx, LncArena *arena, const LncBlock *indices, const uint16_t *def, uint64_t limit,
			  uint64_t **out)
{
	uint64_t highest = 0;
	uint64_t *wide;

	if (indices->count > SIZE_MAX / sizeof(*wide))
		return lnc_fail(ctx, LNC_LIMIT, "%llu values are too many", (unsigned long long)indices->count);
	LNC_TRY(lnc_arena_alloc(ctx, arena, indices->count * sizeof(*wide), (void **)&wide));
	switch (indices->shape.bits)
	{
#define WIDEN(bits_, type_)                                                    \
	case bits_:                                                                \
		for (uint64_t i = 0; i < indices->count; i++)                          \
		{                                                                      \
			type_ index;                                                       \
                                                                               \
			memcpy(&index, indices->items + i * sizeof(index), sizeof(index)); \
			wide[i] = index;                                                   \
		}                                                                      \
		break
		WIDEN(8, uint8_t);
		WIDEN(16, uint16_t);
		WIDEN(32, uint32_t);
		WIDEN(64, uint64_t);
#undef WIDEN
		default:
			return lnc_fail(ctx, LNC_CORRUPT, "dictionary indices have %llu bits",
							(unsigned long long)indices->shape.bits);
	}
	if (def != NULL)
		for (uint64_t i = 0; i < indices->count; i++)
			wide[i] = def[i] == 0 ? wide[i] : 0;
	for (uint64_t i = 0; i < indices->count; i++)
		highest = wide[i] > highest ? wide[i] : highest;
	if (indices->count > 0 && highest >= limit)
	{
		/* A dictionary without items is fine as long as nothing refers to it. */
		bool used = limit > 0 || def == NULL;

		for (uint64_t i = 0; !used && i < indices->count; i++)
			used = def[i] == 0;
		LNC_REQUIRE(ctx, !used, "a dictionary index of %llu is out of range, the dictionary has %llu items",
					(unsigned long long)highest, (unsigned long long)limit);
	}
	*out = wide;
	return LNC_OK;
}

static LncCode
gather_variable(LncContext *ctx, LncArena *arena, const LncBlock *values, const uint64_t *indices, uint64_t count,
				LncBlock *out)
{
	int64_t roomy = values->offsets[values->count] - LNC_COPY_ROOM;
	int64_t *offsets;
	uint8_t *data;
	uint64_t total = 0;

	LNC_TRY(lnc_arena_alloc(ctx, arena, (count + 1) * sizeof(*offsets), (void **)&offsets));
	offsets[0] = 0;
	for (uint64_t i = 0; i < count; i++)
	{
		const int64_t *at = values->offsets + indices[i];

		total += (uint64_t)(at[1] - at[0]);
		if (total > INT64_MAX / 2)
			return lnc_fail(ctx, LNC_LIMIT, "the values of one batch take too many bytes");
		offsets[i + 1] = (int64_t)total;
	}
	LNC_TRY(lnc_arena_alloc(ctx, arena, total + LNC_COPY_ROOM, (void **)&data));
	for (uint64_t i = 0; i < count; i++)
	{
		int64_t from = values->offsets[indices[i]];

		lnc_copy_short(data + offsets[i], values->data + from, (size_t)(offsets[i + 1] - offsets[i]),
					   from <= roomy);
	}
	out->offsets = offsets;
	out->data = data;
	return LNC_OK;
}

static LncCode
gather_fixed(LncContext *ctx, LncArena *arena, const LncBlock *values, const uint64_t *indices, uint64_t count,
			 LncBlock *out)
{
	uint64_t per_value;
	uint64_t per_list = 1;
	uint64_t bytes;
	uint8_t *items;

	LNC_TRY(lnc_shape_items(ctx, &values->shape, &per_value));
	LNC_TRY(lnc_shape_bytes(ctx, &values->shape, count, &bytes));
	LNC_TRY(lnc_arena_calloc(ctx, arena, bytes, 1, (void **)&items));
	out->items = values->items == NULL ? NULL : items;
	if (values->items != NULL && values->shape.bits == 1)
		for (uint64_t i = 0; i < count; i++)
			lnc_bits_copy(items, i * per_value, values->items, indices[i] * per_value, per_value);
	else if (values->items != NULL)
	{
		uint64_t width = per_value * (values->shape.bits / 8);

		switch (width)
		{
#define GATHER(width_)                                                                     \
	case width_:                                                                           \
		for (uint64_t i = 0; i < count; i++)                                               \
			memcpy(items + i * (width_), values->items + indices[i] * (width_), (width_)); \
		break
			GATHER(1);
			GATHER(2);
			GATHER(4);
			GATHER(8);
			GATHER(16);
#undef GATHER
			default:
				for (uint64_t i = 0; width > 0 && i < count; i++)
					memcpy(items + i * width, values->items + indices[i] * width, width);
		}
	}
	for (uint32_t i = 0; i < values->shape.nlists; i++)
	{
		uint8_t *validity;

		per_list *= values->shape.dimensions[i];
		if (values->validity[i] == NULL)
			continue;
		LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size(count * per_list), 1, (void **)&validity));
		for (uint64_t k = 0; k < count; k++)
			lnc_bits_copy(validity, k * per_list, values->validity[i], indices[k] * per_list, per_list);
		out->validity[i] = validity;
	}
	return LNC_OK;
}

LncCode
lnc_block_gather(LncContext *ctx, LncArena *arena, const LncBlock *values, const LncBlock *indices,
				 const uint16_t *def, LncBlock *out)
{
	uint64_t *wide;

	LNC_REQUIRE(ctx, !indices->shape.variable && indices->shape.nlists == 0, "dictionary indices are not integers");
	LNC_TRY(widen_indices(ctx, arena, indices, def, values->count, &wide));
	memset(out, 0, sizeof(*out));
	out->shape = values->shape;
	out->count = indices->count;
	if (values->count == 0)
	{
		/* Only NULLs refer to an empty dictionary: zeroed values stand for them. */
		if (values->shape.variable)
		{
			LNC_TRY(lnc_arena_calloc(ctx, arena, out->count + 1, sizeof(int64_t), (void **)&wide));
			out->offsets = (const int64_t *)wide;
			out->data = (const uint8_t *)wide;
		}
		else
		{
			uint64_t bytes;

			LNC_TRY(lnc_shape_bytes(ctx, &out->shape, out->count, &bytes));
			LNC_TRY(lnc_arena_calloc(ctx, arena, bytes, 1, (void **)&wide));
			out->items = (const uint8_t *)wide;
		}
		return LNC_OK;
	}
	if (values->shape.variable)
		return gather_variable(ctx, arena, values, wide, out->count, out);
	return gather_fixed(ctx, arena, values, wide, out->count, out);
}

/* Values of a column must be aligned for their type; 16 bytes suit all. */
static LncCode
aligned_copy(LncContext *ctx, LncArena *arena, const uint8_t *bytes, uint64_t size, const void **out)
{
	void *copy;

	if (((uintptr_t)bytes & 15) == 0)
	{
		*out = bytes;
		return LNC_OK;
	}
	LNC_TRY(lnc_arena_alloc(ctx, arena, size, &copy));
	memcpy(copy, bytes, size);
	*out = copy;
	return LNC_OK;
}

LncCode
lnc_block_to_column(LncContext *ctx, LncArena *arena, const LncBlock *block, const LncType *type,
					const uint8_t *validity, LncColumn *out)
{
	uint64_t items = block->count;
	uint64_t bytes;
	void *zeros;

	memset(out, 0, sizeof(*out));
	out->type = type;
	out->length = (int64_t)block->count;
	out->validity = validity;
	if (block->shape.variable)
	{
		out->offsets = block->offsets;
		out->data = block->data;
		return LNC_OK;
	}
	for (uint32_t i = 0; i < block->shape.nlists; i++)
	{
		LncColumn *child;

		LNC_TRY(LNC_NEW(ctx, arena, &child, 1));
		items *= block->shape.dimensions[i];
		child->type = &type->children[0].type;
		child->length = (int64_t)items;
		child->validity = block->validity[i];
		out->nchildren = 1;
		out->children = child;
		out = child;
		type = out->type;
	}
	LNC_TRY(lnc_shape_bytes(ctx, &block->shape, block->count, &bytes));
	if (block->items != NULL)
		return aligned_copy(ctx, arena, block->items, bytes, &out->values);
	LNC_TRY(lnc_arena_calloc(ctx, arena, bytes, 1, &zeros));
	out->values = zeros;
	return LNC_OK;
}
