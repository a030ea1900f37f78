/*
 * direct_table.c
 *	  Groups by place in a table.
 */
#include "scan/direct_table.h"

#include <string.h>

/* Fill of slots of which nothing is known: each is below LNC_SLOT_OUTSIDE. */
#define UNKNOWN_BYTE 0x80

bool
lnc_direct_table_accepts(const LncType *type)
{
	switch (lnc_column_type(type)->kind)
	{
		case LNC_TYPE_BOOL:
		case LNC_TYPE_INT8:
		case LNC_TYPE_INT16:
		case LNC_TYPE_INT32:
		case LNC_TYPE_INT64:
		case LNC_TYPE_UINT8:
		case LNC_TYPE_UINT16:
		case LNC_TYPE_UINT32:
		case LNC_TYPE_UINT64:
		case LNC_TYPE_DATE32:
		case LNC_TYPE_TIME32:
		case LNC_TYPE_TIME64:
		case LNC_TYPE_TIMESTAMP:
			return true;
		default:
			return false;
	}
}

LncCode
lnc_direct_table_create(LncContext *ctx, LncArena *arena, int32_t nkeys, const LncType *const *types,
						LncDirectTable **out)
{
	LncDirectTable *table;

	LNC_TRY(LNC_NEW(ctx, arena, &table, 1));
	LNC_TRY(LNC_NEW(ctx, arena, &table->keys, nkeys));
	table->nkeys = nkeys;
	for (int32_t k = 0; k < nkeys; k++)
		table->keys[k].within =
			lnc_type_width(lnc_column_type(types[k])) == sizeof(int64_t) ? UINT64_MAX : UINT32_MAX;
	*out = table;
	return LNC_OK;
}

/* ---- places */

/*
 * Each value's distance from the base, of the width of difference. Returns whether all are below size, a power of two.
 */
#define DEFINE_DISTANCES(name, ctype, difference)                                                \
	static bool name(const LncDirectKey *key, const void *values, int64_t length, uint32_t *out) \
	{                                                                                            \
		const ctype *from = values;                                                              \
		difference base = (difference)key->base;                                                 \
		difference all = 0;                                                                      \
                                                                                                 \
		for (int64_t i = 0; i < length; i++)                                                     \
		{                                                                                        \
			difference distance = (difference)from[i] - base;                                    \
                                                                                                 \
			all |= distance;                                                                     \
			out[i] = (uint32_t)distance;                                                         \
		}                                                                                        \
		return all < key->size;                                                                  \
	}

DEFINE_DISTANCES(distances_int8, int8_t, uint32_t)
DEFINE_DISTANCES(distances_int16, int16_t, uint32_t)
DEFINE_DISTANCES(distances_uint8, uint8_t, uint32_t)
DEFINE_DISTANCES(distances_uint16, uint16_t, uint32_t)
DEFINE_DISTANCES(distances_32, uint32_t, uint32_t)
DEFINE_DISTANCES(distances_64, uint64_t, uint64_t)

static bool
distances_bool(const LncDirectKey *key, const void *values, int64_t length, uint32_t *out)
{
	uint32_t all = 0;

	for (int64_t i = 0; i < length; i++)
	{
		out[i] = (uint32_t)lnc_bit(values, (uint64_t)i) - (uint32_t)key->base;
		all |= out[i];
	}
	return all < key->size;
}

static bool
distances(const LncDirectKey *key, const LncColumn *column, int64_t length, uint32_t *out)
{
	switch (column->type->kind)
	{
		case LNC_TYPE_BOOL:
			return distances_bool(key, column->values, length, out);
		case LNC_TYPE_INT8:
			return distances_int8(key, column->values, length, out);
		case LNC_TYPE_INT16:
			return distances_int16(key, column->values, length, out);
		case LNC_TYPE_UINT8:
			return distances_uint8(key, column->values, length, out);
		case LNC_TYPE_UINT16:
			return distances_uint16(key, column->values, length, out);
		case LNC_TYPE_INT32:
		case LNC_TYPE_UINT32:
		case LNC_TYPE_DATE32:
		case LNC_TYPE_TIME32:
			return distances_32(key, column->values, length, out);
		default:
			return distances_64(key, column->values, length, out);
	}
}

/* Put NULLs into their place. What lies under them may be anything: covered says whether that and all values are covered. */
static bool
place_nulls(const LncDirectKey *key, const LncColumn *column, int64_t length, bool covered, uint32_t *out)
{
	for (int64_t i = 0; i < length; i++)
	{
		if (!lnc_bit(column->validity, (uint64_t)i))
			out[i] = (uint32_t)key->size;
		else if (!covered &&
				 (((uint64_t)lnc_column_integer(column, i) - (uint64_t)key->base) & key->within) >= key->size)
			return false;
	}
	return true;
}

LncCode
lnc_direct_table_places(LncContext *ctx, const LncDirectTable *table, LncArena *scratch,
						const LncColumn *const *keys, int64_t length, uint32_t **places)
{
	uint32_t *sums = NULL;

	*places = NULL;
	if (table->nslots == 0)
		return LNC_OK;
	for (int32_t k = 0; k < table->nkeys; k++)
	{
		const LncDirectKey *key = &table->keys[k];
		uint32_t stride = (uint32_t)key->stride;
		uint32_t *own;
		void *room;
		bool covered;

		LNC_TRY(lnc_arena_alloc(ctx, scratch, (size_t)length * sizeof(*own), &room));
		own = room;
		covered = distances(key, keys[k], length, own);
		if (keys[k]->validity != NULL)
			covered = place_nulls(key, keys[k], length, covered, own);
		if (!covered)
			return LNC_OK;
		if (sums == NULL)
			sums = own;
		else
		{
			for (int64_t i = 0; i < length; i++)
				sums[i] += own[i] * stride;
		}
	}
	*places = sums;
	return LNC_OK;
}

/* ---- growth */

/* The least and the greatest value of a key, those of the column included. False: there is none. */
static bool
widen_key(const LncDirectKey *key, const LncColumn *column, int64_t length, int64_t *least, int64_t *greatest)
{
	bool some = key->size > 0;

	*least = key->least;
	*greatest = key->greatest;
	for (int64_t i = 0; i < length; i++)
	{
		int64_t value;

		if (column->validity != NULL && !lnc_bit(column->validity, (uint64_t)i))
			continue;
		value = lnc_column_integer(column, i);
		*least = !some || value < *least ? value : *least;
		*greatest = !some || value > *greatest ? value : *greatest;
		some = true;
	}
	return some;
}

/* Give the key places for all from least to greatest; false where these are more than limit. */
static bool
size_key(LncDirectKey *key, int64_t least, int64_t greatest, uint64_t limit)
{
	uint64_t span = (uint64_t)greatest - (uint64_t)least;
	uint64_t size = 1;
	bool down = key->size > 0 && least < key->least;

	if (span >= limit)
		return false;
	while (size <= span)
		size *= 2;
	/* The places to spare lie where the values have grown to. */
	key->base = down ? (int64_t)((uint64_t)greatest - (size - 1)) : least;
	key->least = least;
	key->greatest = greatest;
	key->size = size;
	return true;
}

/* Slots of which nothing is known: where those of before were, if there is room. */
static LncCode
clear_slots(LncContext *ctx, LncDirectTable *table, LncArena *arena)
{
	void *slots;

	if (table->room < table->nslots)
	{
		LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)table->nslots * sizeof(*table->slots), &slots));
		table->slots = slots;
		table->room = table->nslots;
	}
	if (table->nslots > 0)
		memset(table->slots, UNKNOWN_BYTE, (size_t)table->nslots * sizeof(*table->slots));
	return LNC_OK;
}

LncCode
lnc_direct_table_widen(LncContext *ctx, LncDirectTable *table, LncArena *arena, const LncColumn *const *keys,
					   int64_t length, uint64_t limit, bool *done)
{
	uint64_t stride = 1;

	*done = false;
	for (int32_t k = 0; k < table->nkeys; k++)
	{
		LncDirectKey *key = &table->keys[k];
		int64_t least;
		int64_t greatest;

		if (widen_key(key, keys[k], length, &least, &greatest) && !size_key(key, least, greatest, limit))
			return LNC_OK;
		/* A key that was always NULL has a place for that, and none for values. */
		key->stride = stride;
		if (key->size >= limit / stride)
			return LNC_OK;
		stride *= key->size + 1;
	}
	table->nslots = stride;
	*done = true;
	return clear_slots(ctx, table, arena);
}

LncCode
lnc_direct_table_copy(LncContext *ctx, const LncDirectTable *table, LncArena *arena, LncDirectTable **out)
{
	LncDirectTable *copy;

	LNC_TRY(LNC_NEW(ctx, arena, &copy, 1));
	LNC_TRY(LNC_NEW(ctx, arena, &copy->keys, table->nkeys));
	memcpy(copy->keys, table->keys, (size_t)table->nkeys * sizeof(*copy->keys));
	copy->nkeys = table->nkeys;
	copy->nslots = table->nslots;
	*out = copy;
	return clear_slots(ctx, copy, arena);
}
