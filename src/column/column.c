/*
 * column.c
 *	  Making columns of NULLs, and cutting, joining and picking rows of columns.
 */
#include "column/column.h"

#include <limits.h>
#include <string.h>

#include "base/bitmap.h"
#include "column/blob.h"

/* How a type's rows lie in memory; see LncColumn. */
typedef enum Layout
{
	LAYOUT_NONE,       /* null: no buffers */
	LAYOUT_BITS,       /* values: bitmap */
	LAYOUT_FIXED,      /* values: width bytes a row */
	LAYOUT_FIXED_LIST, /* children[0]: list_size items a row */
	LAYOUT_VARIABLE,   /* offsets, data */
	LAYOUT_LIST,       /* offsets, children[0] */
	LAYOUT_STRUCT      /* children: one item a row each */
} Layout;

static LncCode
layout_of(LncContext *ctx, const LncType *type, Layout *layout)
{
	switch (type->kind)
	{
		case LNC_TYPE_NULL:
			*layout = LAYOUT_NONE;
			return LNC_OK;
		case LNC_TYPE_BOOL:
			*layout = LAYOUT_BITS;
			return LNC_OK;
		case LNC_TYPE_FIXED_LIST:
			*layout = LAYOUT_FIXED_LIST;
			break;
		case LNC_TYPE_LIST:
		case LNC_TYPE_LARGE_LIST:
		case LNC_TYPE_MAP:
			*layout = LAYOUT_LIST;
			break;
		case LNC_TYPE_STRUCT:
		case LNC_TYPE_BLOB:
		case LNC_TYPE_BLOB_V2:
			*layout = LAYOUT_STRUCT;
			return LNC_OK;
		default:
			if (lnc_type_is_variable(type))
				*layout = LAYOUT_VARIABLE;
			else if (lnc_type_is_fixed(type))
				*layout = LAYOUT_FIXED;
			else
				return lnc_fail(ctx, LNC_UNSUPPORTED, "columns of type \"%.200s\" are not supported",
								type->logical != NULL ? type->logical : "unknown");
			return LNC_OK;
	}
	if (type->nchildren != 1)
		return lnc_fail(ctx, LNC_CORRUPT, "type \"%.200s\" has %d child fields instead of one",
						type->logical != NULL ? type->logical : "unknown", type->nchildren);
	return LNC_OK;
}

/* An array of n columns, zeroed, hung below column. */
static LncCode
new_children(LncContext *ctx, LncArena *arena, int32_t n, LncColumn *column)
{
	column->nchildren = n;
	return LNC_NEW(ctx, arena, &column->children, n);
}

/* Rows of a fixed-size list -> its items; LNC_LIMIT when that does not fit. */
static LncCode
items_of(LncContext *ctx, const LncType *type, int64_t rows, int64_t *items)
{
	if (lnc_mul_overflow(rows, (int64_t)type->list_size, items))
		return lnc_fail(ctx, LNC_LIMIT, "%lld rows of %d items are too many", (long long)rows, type->list_size);
	return LNC_OK;
}

/* ---- NULLs ---- */

/* NULLs cost memory that no input pays for: more than this per buffer is refused. */
#define NULLS_MAX_BYTES (INT64_C(1) << 30)

LncCode
lnc_column_nulls(LncContext *ctx, LncArena *arena, const LncType *type, int64_t length, LncColumn *out)
{
	Layout layout;
	uint8_t *validity;
	void *values;
	int64_t *offsets;
	int64_t bytes;

	type = lnc_column_type(type);
	LNC_TRY(layout_of(ctx, type, &layout));
	memset(out, 0, sizeof(*out));
	out->type = type;
	out->length = length;
	if (layout == LAYOUT_NONE)
		return LNC_OK;

	if (lnc_mul_overflow(length, layout == LAYOUT_FIXED ? (int64_t)lnc_type_width(type) : 8, &bytes) ||
		bytes > NULLS_MAX_BYTES)
		return lnc_fail(ctx, LNC_LIMIT, "%lld NULLs of type \"%.200s\" are too many at once", (long long)length,
						type->logical != NULL ? type->logical : "unknown");
	LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size((uint64_t)length), 1, (void **)&validity));
	out->validity = validity;
	switch (layout)
	{
		case LAYOUT_BITS:
			out->values = validity; /* any bits do */
			return LNC_OK;
		case LAYOUT_FIXED:
			LNC_TRY(lnc_arena_calloc(ctx, arena, (size_t)length, lnc_type_width(type), &values));
			out->values = values;
			return LNC_OK;
		case LAYOUT_FIXED_LIST:
		{
			int64_t items;

			LNC_TRY(items_of(ctx, type, length, &items));
			LNC_TRY(new_children(ctx, arena, 1, out));
			return lnc_column_nulls(ctx, arena, &type->children[0].type, items, &out->children[0]);
		}
		case LAYOUT_VARIABLE:
			LNC_TRY(lnc_arena_calloc(ctx, arena, (size_t)length + 1, sizeof(*offsets), (void **)&offsets));
			out->offsets = offsets;
			out->data = validity; /* no byte of it is used */
			return LNC_OK;
		case LAYOUT_LIST:
			LNC_TRY(lnc_arena_calloc(ctx, arena, (size_t)length + 1, sizeof(*offsets), (void **)&offsets));
			out->offsets = offsets;
			LNC_TRY(new_children(ctx, arena, 1, out));
			return lnc_column_nulls(ctx, arena, &type->children[0].type, 0, &out->children[0]);
		default:
			/* The fields of a blob's type are not those of its descriptors. */
			type = lnc_type_is_blob(type) ? lnc_blob_struct() : type;
			LNC_TRY(new_children(ctx, arena, type->nchildren, out));
			for (int32_t i = 0; i < type->nchildren; i++)
				LNC_TRY(lnc_column_nulls(ctx, arena, &type->children[i].type, length, &out->children[i]));
			return LNC_OK;
	}
}

/* ---- slice ---- */

/* count bits of bits from bit first on, shared when they start on a byte. */
static LncCode
slice_bits(LncContext *ctx, LncArena *arena, const uint8_t *bits, int64_t first, int64_t count, const uint8_t **out)
{
	uint8_t *copy;

	if (bits == NULL || first % 8 == 0)
	{
		*out = bits == NULL ? NULL : bits + first / 8;
		return LNC_OK;
	}
	LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size((uint64_t)count), 1, (void **)&copy));
	lnc_bits_copy(copy, 0, bits, (uint64_t)first, (uint64_t)count);
	*out = copy;
	return LNC_OK;
}

LncCode
lnc_column_slice(LncContext *ctx, LncArena *arena, const LncColumn *column, int64_t first, int64_t count,
				 LncColumn *out)
{
	const LncType *type = column->type;
	LncColumn result = {.type = type, .length = count, .blobs = column->blobs};
	Layout layout;

	if (first < 0 || count < 0 || first > column->length || count > column->length - first)
		return lnc_fail(ctx, LNC_INVALID, "rows %lld to %lld are not inside a column of %lld rows",
						(long long)first, (long long)first + count, (long long)column->length);
	if (column->absent)
	{
		*out = lnc_column_absent(type, count);
		return LNC_OK;
	}
	LNC_TRY(layout_of(ctx, type, &layout));
	LNC_TRY(slice_bits(ctx, arena, column->validity, first, count, &result.validity));
	switch (layout)
	{
		case LAYOUT_NONE:
			break;
		case LAYOUT_BITS:
			LNC_TRY(slice_bits(ctx, arena, column->values, first, count, (const uint8_t **)&result.values));
			break;
		case LAYOUT_FIXED:
			result.values = (const uint8_t *)column->values + (uint64_t)first * lnc_type_width(type);
			break;
		case LAYOUT_FIXED_LIST:
			LNC_TRY(new_children(ctx, arena, 1, &result));
			LNC_TRY(lnc_column_slice(ctx, arena, &column->children[0], first * type->list_size,
									 count * type->list_size, &result.children[0]));
			break;
		case LAYOUT_VARIABLE:
		case LAYOUT_LIST:
		{
			int64_t start = column->offsets[first];
			int64_t *offsets;

			if (start == 0)
				result.offsets = column->offsets + first;
			else
			{
				LNC_TRY(lnc_arena_calloc(ctx, arena, (size_t)count + 1, sizeof(*offsets), (void **)&offsets));
				for (int64_t i = 0; i <= count; i++)
					offsets[i] = column->offsets[first + i] - start;
				result.offsets = offsets;
			}
			if (layout == LAYOUT_VARIABLE)
				result.data = column->data + start;
			else
			{
				LNC_TRY(new_children(ctx, arena, 1, &result));
				LNC_TRY(lnc_column_slice(ctx, arena, &column->children[0], start, result.offsets[count],
										 &result.children[0]));
			}
			break;
		}
		case LAYOUT_STRUCT:
			LNC_TRY(new_children(ctx, arena, column->nchildren, &result));
			for (int32_t i = 0; i < column->nchildren; i++)
				LNC_TRY(lnc_column_slice(ctx, arena, &column->children[i], first, count, &result.children[i]));
			break;
	}
	*out = result;
	return LNC_OK;
}

/* ---- concat ---- */

/* Join the validity of the parts; stays NULL when no part has one. */
static LncCode
concat_validity(LncContext *ctx, LncArena *arena, int32_t nparts, const LncColumn *parts, LncColumn *out)
{
	bool any = false;
	uint8_t *validity;
	uint64_t at = 0;

	for (int32_t i = 0; i < nparts; i++)
		any |= parts[i].validity != NULL;
	if (!any)
		return LNC_OK;
	LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size((uint64_t)out->length), 1, (void **)&validity));
	for (int32_t i = 0; i < nparts; i++)
	{
		uint64_t length = (uint64_t)parts[i].length;

		if (parts[i].validity != NULL)
			lnc_bits_copy(validity, at, parts[i].validity, 0, length);
		else
			lnc_bits_fill(validity, at, length, true);
		at += length;
	}
	out->validity = validity;
	return LNC_OK;
}

/* Join child number which of all parts. */
static LncCode
concat_child(LncContext *ctx, LncArena *arena, int32_t nparts, const LncColumn *parts, int32_t which,
			 LncColumn *out)
{
	LncColumn *children;

	LNC_TRY(LNC_NEW(ctx, arena, &children, nparts));
	for (int32_t i = 0; i < nparts; i++)
		children[i] = parts[i].children[which];
	return lnc_column_concat(ctx, arena, nparts, children, out);
}

/* Join the offsets of the parts, each shifted by what came before. */
static LncCode
concat_offsets(LncContext *ctx, LncArena *arena, int32_t nparts, const LncColumn *parts, LncColumn *out)
{
	int64_t *offsets;
	int64_t row = 0;
	int64_t base = 0;

	LNC_TRY(lnc_arena_calloc(ctx, arena, (size_t)out->length + 1, sizeof(*offsets), (void **)&offsets));
	for (int32_t i = 0; i < nparts; i++)
	{
		for (int64_t k = 0; k < parts[i].length; k++)
			offsets[row + k] = base + parts[i].offsets[k];
		row += parts[i].length;
		if (lnc_add_overflow(base, parts[i].offsets[parts[i].length], &base))
			return lnc_fail(ctx, LNC_LIMIT, "the joined column is too large");
	}
	offsets[row] = base;
	out->offsets = offsets;
	return LNC_OK;
}

LncCode
lnc_column_concat(LncContext *ctx, LncArena *arena, int32_t nparts, const LncColumn *parts, LncColumn *out)
{
	LncColumn result = {0};
	Layout layout;

	if (nparts < 1)
		return lnc_fail(ctx, LNC_INVALID, "no columns to join");
	if (nparts == 1)
	{
		*out = parts[0];
		return LNC_OK;
	}
	result.type = parts[0].type;
	result.blobs = parts[0].blobs;
	LNC_TRY(layout_of(ctx, result.type, &layout));
	for (int32_t i = 0; i < nparts; i++)
		if (lnc_add_overflow(result.length, parts[i].length, &result.length))
			return lnc_fail(ctx, LNC_LIMIT, "the joined column is too long");
	for (int32_t i = 1; i < nparts; i++)
		if (parts[i].absent != parts[0].absent)
			return lnc_fail(ctx, LNC_INVALID, "columns to join are not stored alike");
	if (parts[0].absent)
	{
		*out = lnc_column_absent(result.type, result.length);
		return LNC_OK;
	}
	LNC_TRY(concat_validity(ctx, arena, nparts, parts, &result));
	switch (layout)
	{
		case LAYOUT_NONE:
			break;
		case LAYOUT_BITS:
		{
			uint8_t *values;
			uint64_t at = 0;

			LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size((uint64_t)result.length), 1, (void **)&values));
			for (int32_t i = 0; i < nparts; i++)
			{
				lnc_bits_copy(values, at, parts[i].values, 0, (uint64_t)parts[i].length);
				at += (uint64_t)parts[i].length;
			}
			result.values = values;
			break;
		}
		case LAYOUT_FIXED:
		{
			uint64_t width = lnc_type_width(result.type);
			size_t bytes;
			uint8_t *values;

			if (lnc_mul_overflow(width, (uint64_t)result.length, &bytes))
				return lnc_fail(ctx, LNC_LIMIT, "the joined column is too large");
			LNC_TRY(lnc_arena_alloc(ctx, arena, bytes, (void **)&values));
			result.values = values;
			for (int32_t i = 0; i < nparts; i++)
			{
				size_t part = width * (uint64_t)parts[i].length;

				if (part > 0)
					memcpy(values, parts[i].values, part);
				values += part;
			}
			break;
		}
		case LAYOUT_FIXED_LIST:
			LNC_TRY(new_children(ctx, arena, 1, &result));
			LNC_TRY(concat_child(ctx, arena, nparts, parts, 0, &result.children[0]));
			break;
		case LAYOUT_VARIABLE:
		{
			uint8_t *data;

			LNC_TRY(concat_offsets(ctx, arena, nparts, parts, &result));
			LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)result.offsets[result.length], (void **)&data));
			result.data = data;
			for (int32_t i = 0; i < nparts; i++)
			{
				size_t part = (size_t)parts[i].offsets[parts[i].length];

				if (part > 0)
					memcpy(data, parts[i].data, part);
				data += part;
			}
			break;
		}
		case LAYOUT_LIST:
			LNC_TRY(concat_offsets(ctx, arena, nparts, parts, &result));
			LNC_TRY(new_children(ctx, arena, 1, &result));
			LNC_TRY(concat_child(ctx, arena, nparts, parts, 0, &result.children[0]));
			break;
		case LAYOUT_STRUCT:
			LNC_TRY(new_children(ctx, arena, parts[0].nchildren, &result));
			for (int32_t c = 0; c < result.nchildren; c++)
				LNC_TRY(concat_child(ctx, arena, nparts, parts, c, &result.children[c]));
			break;
	}
	*out = result;
	return LNC_OK;
}

/* ---- take ---- */

/* Bits at the indices named. */
static LncCode
take_bits(LncContext *ctx, LncArena *arena, const uint8_t *bits, int64_t count, const int64_t *indices,
		  const uint8_t **out)
{
	uint8_t *copy;

	if (bits == NULL)
	{
		*out = NULL;
		return LNC_OK;
	}
	LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size((uint64_t)count), 1, (void **)&copy));
	for (int64_t i = 0; i < count; i++)
		if (lnc_bit(bits, (uint64_t)indices[i]))
			lnc_bit_set(copy, (uint64_t)i);
	*out = copy;
	return LNC_OK;
}

/* Copy the values of width bytes that indices name; the usual widths get a loop of their own. */
static void
gather(uint8_t *target, const uint8_t *source, size_t width, int64_t count, const int64_t *indices)
{
#define GATHER(n)                                                                   \
	case n:                                                                         \
		for (int64_t i = 0; i < count; i++)                                         \
			memcpy(target + (size_t)i * (n), source + (size_t)indices[i] * (n), n); \
		return
	switch (width)
	{
		GATHER(1);
		GATHER(2);
		GATHER(4);
		GATHER(8);
		GATHER(16);
		GATHER(32);
		case 0:
			return;
		default:
			for (int64_t i = 0; i < count; i++)
				memcpy(target + (size_t)i * width, source + (size_t)indices[i] * width, width);
	}
#undef GATHER
}

/* Offsets of the rows taken: their lengths summed up. */
static LncCode
take_offsets(LncContext *ctx, LncArena *arena, const LncColumn *column, int64_t count, const int64_t *indices,
			 LncColumn *out)
{
	int64_t *offsets;
	int64_t at = 0;

	LNC_TRY(lnc_arena_calloc(ctx, arena, (size_t)count + 1, sizeof(*offsets), (void **)&offsets));
	for (int64_t i = 0; i < count; i++)
	{
		if (lnc_add_overflow(at, column->offsets[indices[i] + 1] - column->offsets[indices[i]], &at))
			return lnc_fail(ctx, LNC_LIMIT, "the rows taken are too large");
		offsets[i + 1] = at;
	}
	out->offsets = offsets;
	return LNC_OK;
}

/* Take without checking the indices. */
static LncCode
take_checked(LncContext *ctx, LncArena *arena, const LncColumn *column, int64_t count, const int64_t *indices,
			 LncColumn *out)
{
	const LncType *type = column->type;
	LncColumn result = {.type = type, .length = count, .blobs = column->blobs};
	Layout layout;

	if (column->absent)
	{
		*out = lnc_column_absent(type, count);
		return LNC_OK;
	}
	LNC_TRY(layout_of(ctx, type, &layout));
	LNC_TRY(take_bits(ctx, arena, column->validity, count, indices, &result.validity));
	switch (layout)
	{
		case LAYOUT_NONE:
			break;
		case LAYOUT_BITS:
			LNC_TRY(take_bits(ctx, arena, column->values, count, indices, (const uint8_t **)&result.values));
			break;
		case LAYOUT_FIXED:
		{
			uint64_t width = lnc_type_width(type);
			size_t bytes;
			void *values;

			if (lnc_mul_overflow(width, (uint64_t)count, &bytes))
				return lnc_fail(ctx, LNC_LIMIT, "the rows taken are too large");
			LNC_TRY(lnc_arena_alloc(ctx, arena, bytes, &values));
			gather(values, column->values, width, count, indices);
			result.values = values;
			break;
		}
		case LAYOUT_FIXED_LIST:
		case LAYOUT_LIST:
		{
			/* Spell out the items' indices and take those of the child. */
			int64_t nitems;
			int64_t *items;
			int64_t at = 0;

			if (layout == LAYOUT_LIST)
			{
				LNC_TRY(take_offsets(ctx, arena, column, count, indices, &result));
				nitems = result.offsets[count];
			}
			else
				LNC_TRY(items_of(ctx, type, count, &nitems));
			LNC_TRY(lnc_arena_calloc(ctx, arena, (size_t)nitems, sizeof(*items), (void **)&items));
			for (int64_t i = 0; i < count; i++)
			{
				int64_t first = indices[i] * type->list_size;
				int64_t n = type->list_size;

				if (layout == LAYOUT_LIST)
				{
					first = column->offsets[indices[i]];
					n = column->offsets[indices[i] + 1] - first;
				}
				for (int64_t k = 0; k < n; k++)
					items[at++] = first + k;
			}
			LNC_TRY(new_children(ctx, arena, 1, &result));
			LNC_TRY(take_checked(ctx, arena, &column->children[0], nitems, items, &result.children[0]));
			break;
		}
		case LAYOUT_VARIABLE:
		{
			int64_t roomy = column->offsets[column->length] - LNC_COPY_ROOM;
			uint8_t *data;

			LNC_TRY(take_offsets(ctx, arena, column, count, indices, &result));
			LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)result.offsets[count] + LNC_COPY_ROOM, (void **)&data));
			for (int64_t i = 0; i < count; i++)
			{
				int64_t from = column->offsets[indices[i]];

				lnc_copy_short(data + result.offsets[i], column->data + from,
							   (size_t)(result.offsets[i + 1] - result.offsets[i]), from <= roomy);
			}
			result.data = data;
			break;
		}
		case LAYOUT_STRUCT:
			LNC_TRY(new_children(ctx, arena, column->nchildren, &result));
			for (int32_t i = 0; i < column->nchildren; i++)
				LNC_TRY(take_checked(ctx, arena, &column->children[i], count, indices, &result.children[i]));
			break;
	}
	*out = result;
	return LNC_OK;
}

LncCode
lnc_column_take(LncContext *ctx, LncArena *arena, const LncColumn *column, int64_t count, const int64_t *indices,
				LncColumn *out)
{
	for (int64_t i = 0; i < count; i++)
		if (indices[i] < 0 || indices[i] >= column->length)
			return lnc_fail(ctx, LNC_INVALID, "row %lld is not inside a column of %lld rows", (long long)indices[i],
							(long long)column->length);
	return take_checked(ctx, arena, column, count, indices, out);
}

void
lnc_column_store_integers(const LncType *type, int64_t count, const int64_t *integers, void *values)
{
#define STORE(ctype)                               \
	for (int64_t i = 0; i < count; i++)            \
		((ctype *)values)[i] = (ctype)integers[i]; \
	break

	switch (type->kind)
	{
		case LNC_TYPE_INT8:
		case LNC_TYPE_UINT8:
			STORE(uint8_t);
		case LNC_TYPE_INT16:
		case LNC_TYPE_UINT16:
			STORE(uint16_t);
		case LNC_TYPE_INT32:
		case LNC_TYPE_UINT32:
		case LNC_TYPE_DATE32:
		case LNC_TYPE_TIME32:
			STORE(uint32_t);
		default:
			STORE(int64_t);
	}
#undef STORE
}
