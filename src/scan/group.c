/*
 * group.c
 *	  Rows by the values of their key columns.
 *
 * A value is kept as 64 bits, or as a run of bytes. Groups are found by a hash of all keys in a table of their numbers
 * with open places; what is there is compared value by value.
 */
#include "scan/group.h"

#include <string.h>

#include "scan/predicate.h"

/* The table is made larger when it is half full. */
#define FIRST_SLOTS 256

/* What a key of NULL is hashed as. */
#define NULL_HASH UINT64_C(0x7f4a7c159e3779b9)

/* The values of one key, one a group. */
typedef struct Key
{
	const LncType *type;
	bool bytes;
	uint64_t *words; /* fixed-width values, or where bytes begin in data */
	uint64_t *sizes; /* of bytes */
	bool *nulls;
	uint8_t *data; /* of bytes, one after the other */
	size_t used;
	size_t room;
} Key;

struct LncGroups
{
	LncArena *arena;
	int32_t nkeys;
	Key *keys;
	int32_t count;
	int32_t room;     /* of the arrays by group */
	uint64_t *hashes; /* by group */
	int32_t *slots;   /* groups + 1, 0: free */
	uint64_t mask;    /* number of slots - 1 */
};

bool
lnc_groups_accept(const LncType *type)
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
			return lnc_predicate_accepts(LNC_PREDICATE_BYTES, type);
	}
}

LncCode
lnc_groups_create(LncContext *ctx, LncArena *arena, int32_t nkeys, const LncType *const *types, LncGroups **out)
{
	LncGroups *groups;

	LNC_TRY(LNC_NEW(ctx, arena, &groups, 1));
	LNC_TRY(LNC_NEW(ctx, arena, &groups->keys, nkeys));
	groups->arena = arena;
	groups->nkeys = nkeys;
	for (int32_t i = 0; i < nkeys; i++)
	{
		groups->keys[i].type = lnc_column_type(types[i]);
		groups->keys[i].bytes = lnc_predicate_accepts(LNC_PREDICATE_BYTES, types[i]);
		if (!lnc_groups_accept(types[i]))
			return lnc_fail(ctx, LNC_INVALID, "rows can't be grouped by a column of type %s",
							types[i]->logical != NULL ? types[i]->logical : "unknown");
	}
	*out = groups;
	return LNC_OK;
}

int32_t
lnc_groups_count(const LncGroups *groups)
{
	return groups->count;
}

/* ---- hashes */

static inline uint64_t
mix(uint64_t value)
{
	value ^= value >> 33;
	value *= UINT64_C(0xff51afd7ed558ccd);
	value ^= value >> 33;
	value *= UINT64_C(0xc4ceb9fe1a85ec53);
	return value ^ (value >> 33);
}

static uint64_t
hash_bytes(const uint8_t *data, uint64_t at, uint64_t size)
{
	uint64_t hash = size * UINT64_C(0x9e3779b97f4a7c15);

	for (; size >= 8; at += 8, size -= 8)
		hash = mix(hash ^ lnc_le64(data + at));
	if (size > 0)
	{
		uint64_t last = 0;

		memcpy(&last, data + at, (size_t)size);
		hash = mix(hash ^ last);
	}
	return hash;
}

/* The fixed-width values of a column as 64 bits each. */
static void
load_words(const LncColumn *column, int64_t length, uint64_t *words)
{
#define LOAD(ctype)                                              \
	for (int64_t i = 0; i < length; i++)                         \
		words[i] = (uint64_t)((const ctype *)column->values)[i]; \
	break

	switch (column->type->kind)
	{
		case LNC_TYPE_BOOL:
			for (int64_t i = 0; i < length; i++)
				words[i] = lnc_bit(column->values, (uint64_t)i);
			break;
		case LNC_TYPE_INT8:
		case LNC_TYPE_UINT8:
			LOAD(uint8_t);
		case LNC_TYPE_INT16:
		case LNC_TYPE_UINT16:
			LOAD(uint16_t);
		case LNC_TYPE_INT32:
		case LNC_TYPE_UINT32:
		case LNC_TYPE_DATE32:
		case LNC_TYPE_TIME32:
			LOAD(uint32_t);
		default:
			LOAD(uint64_t);
	}
#undef LOAD
}

/* What is known of the rows of a batch, a key at a time. */
typedef struct Rows
{
	const LncColumn *const *columns;
	uint64_t **words; /* by key, of fixed-width ones */
	uint64_t *hashes;
} Rows;

static LncCode
hash_rows(LncContext *ctx, const LncGroups *groups, LncArena *scratch, int64_t length, Rows *rows)
{
	LNC_TRY(LNC_NEW(ctx, scratch, &rows->hashes, length));
	LNC_TRY(LNC_NEW(ctx, scratch, &rows->words, groups->nkeys));
	for (int32_t k = 0; k < groups->nkeys; k++)
	{
		const LncColumn *column = rows->columns[k];

		if (!groups->keys[k].bytes)
		{
			LNC_TRY(LNC_NEW(ctx, scratch, &rows->words[k], length));
			load_words(column, length, rows->words[k]);
		}
		for (int64_t i = 0; i < length; i++)
		{
			uint64_t value;

			if (column->validity != NULL && !lnc_bit(column->validity, (uint64_t)i))
				value = NULL_HASH;
			else if (groups->keys[k].bytes)
				value = hash_bytes(column->data, (uint64_t)column->offsets[i],
								   (uint64_t)(column->offsets[i + 1] - column->offsets[i]));
			else
				value = rows->words[k][i];
			rows->hashes[i] = mix(rows->hashes[i] * UINT64_C(0x9e3779b97f4a7c15) + value);
		}
	}
	return LNC_OK;
}

/* ---- groups */

static bool
same_keys(const LncGroups *groups, int32_t group, const Rows *rows, int64_t row)
{
	for (int32_t k = 0; k < groups->nkeys; k++)
	{
		const Key *key = &groups->keys[k];
		const LncColumn *column = rows->columns[k];
		bool null = column->validity != NULL && !lnc_bit(column->validity, (uint64_t)row);

		if (null != key->nulls[group])
			return false;
		if (null)
			continue;
		if (!key->bytes)
		{
			if (key->words[group] != rows->words[k][row])
				return false;
		}
		else
		{
			uint64_t size = (uint64_t)(column->offsets[row + 1] - column->offsets[row]);

			if (key->sizes[group] != size ||
				(size > 0 &&
				 memcmp(key->data + key->words[group], column->data + column->offsets[row], (size_t)size) != 0))
				return false;
		}
	}
	return true;
}

static LncCode
make_room(LncContext *ctx, LncGroups *groups)
{
	size_t used = (size_t)groups->count;
	size_t room = used == 0 ? FIRST_SLOTS / 2 : used * 2;
	uint64_t mask = room * 2 - 1;

	if (used >= INT32_MAX / 4)
		return lnc_fail(ctx, LNC_LIMIT, "there are more than %d groups", INT32_MAX / 4);
	LNC_TRY(lnc_arena_grow(ctx, groups->arena, used, room, sizeof(*groups->hashes), (void **)&groups->hashes));
	for (int32_t k = 0; k < groups->nkeys; k++)
	{
		Key *key = &groups->keys[k];

		LNC_TRY(lnc_arena_grow(ctx, groups->arena, used, room, sizeof(*key->words), (void **)&key->words));
		LNC_TRY(lnc_arena_grow(ctx, groups->arena, used, room, sizeof(*key->nulls), (void **)&key->nulls));
		if (key->bytes)
			LNC_TRY(lnc_arena_grow(ctx, groups->arena, used, room, sizeof(*key->sizes), (void **)&key->sizes));
	}
	LNC_TRY(LNC_NEW(ctx, groups->arena, &groups->slots, (size_t)mask + 1));
	groups->mask = mask;
	groups->room = (int32_t)room;
	for (int32_t group = 0; group < groups->count; group++)
	{
		uint64_t slot = groups->hashes[group] & mask;

		while (groups->slots[slot] != 0)
			slot = (slot + 1) & mask;
		groups->slots[slot] = group + 1;
	}
	return LNC_OK;
}

static LncCode
keep_bytes(LncContext *ctx, LncArena *arena, Key *key, const uint8_t *bytes, size_t size)
{
	if (size > key->room - key->used)
	{
		size_t room = key->room == 0 ? 1024 : key->room;

		while (room - key->used < size)
		{
			if (lnc_mul_overflow(room, (size_t)2, &room))
				return lnc_fail(ctx, LNC_LIMIT, "the keys of groups are too long");
		}
		LNC_TRY(lnc_arena_grow(ctx, arena, key->used, room, 1, (void **)&key->data));
		key->room = room;
	}
	memcpy(key->data + key->used, bytes, size);
	key->used += size;
	return LNC_OK;
}

static LncCode
add_group(LncContext *ctx, LncGroups *groups, const Rows *rows, int64_t row)
{
	int32_t group = groups->count;

	for (int32_t k = 0; k < groups->nkeys; k++)
	{
		Key *key = &groups->keys[k];
		const LncColumn *column = rows->columns[k];

		key->nulls[group] = column->validity != NULL && !lnc_bit(column->validity, (uint64_t)row);
		if (!key->bytes)
			key->words[group] = key->nulls[group] ? 0 : rows->words[k][row];
		else
		{
			size_t size = key->nulls[group] ? 0 : (size_t)(column->offsets[row + 1] - column->offsets[row]);

			key->words[group] = key->used;
			key->sizes[group] = size;
			if (size > 0)
				LNC_TRY(keep_bytes(ctx, groups->arena, key, column->data + column->offsets[row], size));
		}
	}
	groups->hashes[group] = rows->hashes[row];
	groups->count++;
	return LNC_OK;
}

LncCode
lnc_groups_find(LncContext *ctx, LncGroups *groups, LncArena *scratch, LncHashRange range,
				const LncColumn *const *keys, int64_t length, int32_t *numbers)
{
	Rows rows = {.columns = keys};

	LNC_TRY(hash_rows(ctx, groups, scratch, length, &rows));
	for (int64_t row = 0; row < length; row++)
	{
		uint64_t hash = rows.hashes[row];
		uint64_t slot;

		numbers[row] = -1;
		if (hash < range.first || hash > range.last)
			continue;
		if (groups->count >= groups->room)
			LNC_TRY(make_room(ctx, groups));
		for (slot = hash & groups->mask; groups->slots[slot] != 0; slot = (slot + 1) & groups->mask)
		{
			int32_t group = groups->slots[slot] - 1;

			if (groups->hashes[group] == hash && same_keys(groups, group, &rows, row))
			{
				numbers[row] = group;
				break;
			}
		}
		if (numbers[row] >= 0)
			continue;
		LNC_TRY(add_group(ctx, groups, &rows, row));
		groups->slots[slot] = groups->count;
		numbers[row] = groups->count - 1;
	}
	return LNC_OK;
}

/* ---- results */

static void
store_words(const Key *key, int32_t count, void *values)
{
	if (key->type->kind != LNC_TYPE_BOOL)
	{
		lnc_column_store_integers(key->type, count, (const int64_t *)key->words, values);
		return;
	}
	for (int32_t i = 0; i < count; i++)
	{
		if (key->words[i] != 0)
			lnc_bit_set(values, (uint64_t)i);
	}
}

LncCode
lnc_groups_key(LncContext *ctx, const LncGroups *groups, LncArena *arena, int32_t key, LncColumn *out)
{
	const Key *from = &groups->keys[key];
	size_t count = (size_t)groups->count;
	uint8_t *validity;
	void *values;
	int64_t *offsets;

	memset(out, 0, sizeof(*out));
	out->type = from->type;
	out->length = groups->count;
	LNC_TRY(LNC_NEW(ctx, arena, &validity, lnc_bitmap_size(count)));
	for (size_t i = 0; i < count; i++)
	{
		if (!from->nulls[i])
			lnc_bit_set(validity, i);
	}
	out->validity = validity;
	if (!from->bytes)
	{
		/* Eight bytes are room for every width. */
		LNC_TRY(lnc_arena_calloc(ctx, arena, count, sizeof(uint64_t), &values));
		store_words(from, groups->count, values);
		out->values = values;
		return LNC_OK;
	}
	LNC_TRY(LNC_NEW(ctx, arena, &offsets, count + 1));
	for (size_t i = 0; i < count; i++)
		offsets[i + 1] = offsets[i] + (int64_t)from->sizes[i];
	out->offsets = offsets;
	out->data = from->data;
	return LNC_OK;
}
