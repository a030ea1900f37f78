/*
 * group.c
 *	  Rows by the values of their key columns.
 *
 * A value is kept as 64 bits, or as a run of bytes. As long as all keys are integers that lie close together, groups are
 * found by the place of these in a table. Else they are found by a hash of all keys in a table of their numbers with open
 * places; what is there is compared value by value.
 */
#include "scan/group.h"

#include <string.h>

#include "scan/direct_table.h"
#include "scan/predicate.h"

/*
 * Groups that there is room for at first. The hash table is made larger when it is half full; where groups are few, their slots
 * seldom meet in one of this size.
 */
#define FIRST_ROOM 128
#define FIRST_SLOTS 1024

/* A table of places may have so many slots at any rate, and more where there are many groups. */
#define DIRECT_SLOTS 65536
#define DIRECT_SLOTS_A_GROUP 4
#define DIRECT_SLOTS_MOST (UINT64_C(1) << 30)

/* So many hashes at a time are looked up: what they lead to is fetched ahead. */
#define FETCH_AHEAD 64

/* A hash table of fewer slots is in the cache anyhow. */
#define CACHED_SLOTS 4096

/* What a key of NULL is hashed as. */
#define NULL_HASH UINT64_C(0x7f4a7c159e3779b9)

/* The first bytes of a value, as little-endian words that end in zeros where it is shorter. */
typedef struct Head
{
	uint64_t words[2];
} Head;

#define HEAD_SIZE 16

/* A value of bytes of a group. */
typedef struct Run
{
	Head head;
	uint64_t at;   /* where they are among those of the key */
	uint64_t size; /* NULL_SIZE: NULL */
} Run;

#define NULL_SIZE UINT64_MAX

/* The values of one key, one a group. */
typedef struct Key
{
	const LncType *type;
	bool bytes;
	Run *runs;       /* of bytes */
	uint64_t *words; /* fixed-width values */
	bool *nulls;     /* likewise */
	uint8_t *data;   /* of bytes, one after the other */
	size_t used;
	size_t room;
} Key;

/* A slot of the hash table. */
typedef struct Slot
{
	uint32_t tag;  /* upper half of the hash */
	int32_t group; /* + 1; 0: free */
} Slot;

struct LncGroups
{
	LncArena *arena;
	int32_t nkeys;
	Key *keys;
	size_t memory; /* what is thought fit for all groups; 0: any */
	int32_t count;
	int32_t room;           /* of the arrays by group */
	uint64_t *hashes;       /* by group */
	LncDirectTable *direct; /* NULL: groups are found by hash */
	Slot *slots;
	uint64_t mask; /* number of slots - 1 */
};

bool
lnc_groups_accept(const LncType *type)
{
	return lnc_direct_table_accepts(type) || lnc_predicate_accepts(LNC_PREDICATE_BYTES, type);
}

LncCode
lnc_groups_create(LncContext *ctx, LncArena *arena, int32_t nkeys, const LncType *const *types, size_t memory,
				  LncGroups **out)
{
	LncGroups *groups;
	bool direct = true;

	LNC_TRY(LNC_NEW(ctx, arena, &groups, 1));
	LNC_TRY(LNC_NEW(ctx, arena, &groups->keys, nkeys));
	groups->arena = arena;
	groups->nkeys = nkeys;
	groups->memory = memory;
	for (int32_t i = 0; i < nkeys; i++)
	{
		groups->keys[i].type = lnc_column_type(types[i]);
		groups->keys[i].bytes = lnc_predicate_accepts(LNC_PREDICATE_BYTES, types[i]);
		direct = direct && lnc_direct_table_accepts(types[i]);
		if (!lnc_groups_accept(types[i]))
			return lnc_fail(ctx, LNC_INVALID, "rows can't be grouped by a column of type %s",
							types[i]->logical != NULL ? types[i]->logical : "unknown");
	}
	if (direct)
		LNC_TRY(lnc_direct_table_create(ctx, arena, nkeys, types, &groups->direct));
	*out = groups;
	return LNC_OK;
}

int32_t
lnc_groups_count(const LncGroups *groups)
{
	return groups->count;
}

/* ---- hashes */

/* Both halves of a product of 128 bits. */
static inline uint64_t
fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#define HASH_ADDED UINT64_C(0x8bb84b93962eacc9)
#define HASH_TIMES UINT64_C(0x9e3779b97f4a7c15)

/* The hash of the keys so far and of one more. */
static inline uint64_t
hash_next(uint64_t hash, uint64_t value)
{
	uint64_t next = fold((hash ^ value) + HASH_ADDED, HASH_TIMES);

	/* The lower half is what a slot is found by. */
	return next ^ (next >> 32);
}

static inline Head
head_of(LncSlice bytes, const uint8_t *end)
{
	uint64_t low = bytes.size < 8 ? bytes.size : 8;
	uint64_t high = bytes.size < HEAD_SIZE ? bytes.size - low : 8;
	Head head = {{0, 0}};

	/* Bytes of what lies behind the value are read, too, where there are some, and cut off. */
	if (bytes.size > 0 && end - bytes.data >= HEAD_SIZE)
	{
		head.words[0] = lnc_le64(bytes.data) & (low == 8 ? UINT64_MAX : (UINT64_C(1) << low * 8) - 1);
		head.words[1] = lnc_le64(bytes.data + 8) & (high == 8 ? UINT64_MAX : (UINT64_C(1) << high * 8) - 1);
	}
	else if (bytes.size > 0)
		memcpy(head.words, bytes.data, bytes.size < HEAD_SIZE ? bytes.size : HEAD_SIZE);
	return head;
}

static inline uint64_t
hash_bytes(Head head, LncSlice bytes)
{
	uint64_t hash = fold(head.words[0] ^ HASH_ADDED, head.words[1] ^ (bytes.size * HASH_TIMES));

	if (bytes.size <= HEAD_SIZE)
		return hash;
	for (size_t at = HEAD_SIZE; bytes.size - at > HEAD_SIZE; at += HEAD_SIZE)
		hash = fold(lnc_le64(bytes.data + at) ^ HASH_ADDED, lnc_le64(bytes.data + at + 8) ^ hash);
	/* The last ones, over some that were there before. */
	bytes.data += bytes.size - HEAD_SIZE;
	return fold(lnc_le64(bytes.data) ^ HASH_ADDED, lnc_le64(bytes.data + 8) ^ hash);
}

static inline bool
null_at(const LncColumn *column, int64_t row)
{
	return column->validity != NULL && !lnc_bit(column->validity, (uint64_t)row);
}

/* The hash of keys that are all of fixed width, as hash_rows makes it. */
static uint64_t
hash_row(const LncGroups *groups, const LncColumn *const *columns, int64_t row)
{
	uint64_t hash = 0;

	for (int32_t k = 0; k < groups->nkeys; k++)
	{
		uint64_t value = NULL_HASH;

		if (!null_at(columns[k], row))
			value = (uint64_t)lnc_column_integer(columns[k], row);
		hash = hash_next(hash, value);
	}
	return hash;
}

/* The fixed-width values of a column as 64 bits each, as lnc_column_integer has them. */
static void
load_words(const LncColumn *column, int64_t length, uint64_t *words)
{
#define LOAD(ctype)                                                       \
	for (int64_t i = 0; i < length; i++)                                  \
		words[i] = (uint64_t)(int64_t)((const ctype *)column->values)[i]; \
	break

	switch (column->type->kind)
	{
		case LNC_TYPE_BOOL:
			for (int64_t i = 0; i < length; i++)
				words[i] = lnc_bit(column->values, (uint64_t)i);
			break;
		case LNC_TYPE_INT8:
			LOAD(int8_t);
		case LNC_TYPE_UINT8:
			LOAD(uint8_t);
		case LNC_TYPE_INT16:
			LOAD(int16_t);
		case LNC_TYPE_UINT16:
			LOAD(uint16_t);
		case LNC_TYPE_UINT32:
			LOAD(uint32_t);
		case LNC_TYPE_INT32:
		case LNC_TYPE_DATE32:
		case LNC_TYPE_TIME32:
			LOAD(int32_t);
		default:
			LOAD(int64_t);
	}
#undef LOAD
}

/* What is known of the rows of a batch. */
typedef struct Rows
{
	const LncColumn *const *columns;
	uint64_t **words; /* by key, of fixed-width ones */
	Head **heads;     /* by key, of bytes */
	uint64_t *hashes;
} Rows;

static void
hash_words(const LncColumn *column, int64_t length, const uint64_t *words, uint64_t *hashes)
{
	if (column->validity == NULL)
	{
		for (int64_t i = 0; i < length; i++)
			hashes[i] = hash_next(hashes[i], words[i]);
		return;
	}
	for (int64_t i = 0; i < length; i++)
		hashes[i] = hash_next(hashes[i], null_at(column, i) ? NULL_HASH : words[i]);
}

static void
hash_runs(const LncColumn *column, int64_t length, Head *heads, uint64_t *hashes)
{
	const uint8_t *end = column->data + column->offsets[column->length];

	for (int64_t i = 0; i < length; i++)
	{
		LncSlice bytes = lnc_column_bytes(column, i);

		heads[i] = head_of(bytes, end);
		hashes[i] = hash_next(hashes[i], null_at(column, i) ? NULL_HASH : hash_bytes(heads[i], bytes));
	}
}

static LncCode
hash_rows(LncContext *ctx, const LncGroups *groups, LncArena *scratch, int64_t length, Rows *rows)
{
	LNC_TRY(LNC_NEW(ctx, scratch, &rows->hashes, length));
	LNC_TRY(LNC_NEW(ctx, scratch, &rows->words, groups->nkeys));
	LNC_TRY(LNC_NEW(ctx, scratch, &rows->heads, groups->nkeys));
	for (int32_t k = 0; k < groups->nkeys; k++)
	{
		const LncColumn *column = rows->columns[k];

		if (groups->keys[k].bytes)
		{
			LNC_TRY(lnc_arena_alloc(ctx, scratch, (size_t)length * sizeof(Head), (void **)&rows->heads[k]));
			hash_runs(column, length, rows->heads[k], rows->hashes);
		}
		else
		{
			LNC_TRY(lnc_arena_alloc(ctx, scratch, (size_t)length * sizeof(uint64_t), (void **)&rows->words[k]));
			load_words(column, length, rows->words[k]);
			hash_words(column, length, rows->words[k], rows->hashes);
		}
	}
	return LNC_OK;
}

/* ---- groups */

static inline bool
same_run(const Key *key, const Run *run, Head head, LncSlice bytes)
{
	if (run->size != bytes.size || run->head.words[0] != head.words[0] || run->head.words[1] != head.words[1])
		return false;
	return bytes.size <= HEAD_SIZE ||
		   memcmp(key->data + run->at + HEAD_SIZE, bytes.data + HEAD_SIZE, bytes.size - HEAD_SIZE) == 0;
}

static bool
same_keys(const LncGroups *groups, int32_t group, const Rows *rows, int64_t row)
{
	for (int32_t k = 0; k < groups->nkeys; k++)
	{
		const Key *key = &groups->keys[k];
		const LncColumn *column = rows->columns[k];
		bool null = null_at(column, row);

		if (key->bytes)
		{
			const Run *run = &key->runs[group];

			if (null ? run->size != NULL_SIZE
					 : !same_run(key, run, rows->heads[k][row], lnc_column_bytes(column, row)))
				return false;
		}
		else if (null != key->nulls[group] || (!null && key->words[group] != rows->words[k][row]))
			return false;
	}
	return true;
}

/* Have the arrays by group reach to room groups. */
static LncCode
grow_arrays(LncContext *ctx, LncGroups *groups, size_t room)
{
	size_t used = (size_t)groups->count;

	LNC_TRY(lnc_arena_grow(ctx, groups->arena, used, room, sizeof(*groups->hashes), (void **)&groups->hashes));
	for (int32_t k = 0; k < groups->nkeys; k++)
	{
		Key *key = &groups->keys[k];

		if (key->bytes)
		{
			LNC_TRY(lnc_arena_grow(ctx, groups->arena, used, room, sizeof(*key->runs), (void **)&key->runs));
			continue;
		}
		LNC_TRY(lnc_arena_grow(ctx, groups->arena, used, room, sizeof(*key->words), (void **)&key->words));
		LNC_TRY(lnc_arena_grow(ctx, groups->arena, used, room, sizeof(*key->nulls), (void **)&key->nulls));
	}
	groups->room = (int32_t)room;
	return LNC_OK;
}

/* Make the hash table anew, for as many groups as there is room for. */
static LncCode
make_slots(LncContext *ctx, LncGroups *groups)
{
	uint64_t mask = FIRST_SLOTS;

	while (mask < (uint64_t)groups->room * 2)
		mask *= 2;
	mask--;
	LNC_TRY(LNC_NEW(ctx, groups->arena, &groups->slots, (size_t)mask + 1));
	groups->mask = mask;
	for (int32_t group = 0; group < groups->count; group++)
	{
		uint64_t slot = groups->hashes[group] & mask;

		while (groups->slots[slot].group != 0)
			slot = (slot + 1) & mask;
		groups->slots[slot] = (Slot){.tag = (uint32_t)(groups->hashes[group] >> 32), .group = group + 1};
	}
	return LNC_OK;
}

/* Room for one more group. */
static LncCode
make_room(LncContext *ctx, LncGroups *groups)
{
	size_t used = (size_t)groups->count;

	if (groups->count < groups->room)
		return LNC_OK;
	if (used >= INT32_MAX / 4)
		return lnc_fail(ctx, LNC_LIMIT, "there are more than %d groups", INT32_MAX / 4);
	LNC_TRY(grow_arrays(ctx, groups, used == 0 ? FIRST_ROOM : used * 2));
	return groups->direct == NULL ? make_slots(ctx, groups) : LNC_OK;
}

/* Keep the bytes of group number group. */
static LncCode
keep_bytes(LncContext *ctx, LncArena *arena, Key *key, int32_t group, LncSlice bytes)
{
	if (bytes.size > key->room - key->used)
	{
		size_t room = key->room == 0 ? 1024 : key->room;

		while (room - key->used < bytes.size)
		{
			if (lnc_mul_overflow(room, (size_t)2, &room))
				return lnc_fail(ctx, LNC_LIMIT, "the keys of groups are too long");
		}
		LNC_TRY(lnc_arena_grow(ctx, arena, key->used, room, 1, (void **)&key->data));
		key->room = room;
	}
	key->runs[group] = (Run){.head = head_of(bytes, bytes.data + bytes.size), .at = key->used, .size = bytes.size};
	if (bytes.size > 0)
		memcpy(key->data + key->used, bytes.data, bytes.size);
	key->used += bytes.size;
	return LNC_OK;
}

static LncCode
add_group(LncContext *ctx, LncGroups *groups, const LncColumn *const *columns, int64_t row, uint64_t hash)
{
	int32_t group = groups->count;

	for (int32_t k = 0; k < groups->nkeys; k++)
	{
		Key *key = &groups->keys[k];

		bool null = null_at(columns[k], row);

		if (!key->bytes)
		{
			key->nulls[group] = null;
			key->words[group] = null ? 0 : (uint64_t)lnc_column_integer(columns[k], row);
		}
		else if (null)
			key->runs[group].size = NULL_SIZE;
		else
			LNC_TRY(keep_bytes(ctx, groups->arena, key, group, lnc_column_bytes(columns[k], row)));
	}
	groups->hashes[group] = hash;
	groups->count++;
	return LNC_OK;
}

/* ---- by place */

/* Slots that a table of places may have now. */
static uint64_t
most_slots(const LncGroups *groups)
{
	uint64_t most = DIRECT_SLOTS;
	uint64_t dense = (uint64_t)groups->count * DIRECT_SLOTS_A_GROUP;

	/* The table is to be a small part of the memory of the groups. */
	if (groups->memory > 0 && groups->memory / 8 / sizeof(int32_t) < most)
		most = groups->memory / 8 / sizeof(int32_t);
	most = dense > most ? dense : most;
	return most < DIRECT_SLOTS_MOST ? most : DIRECT_SLOTS_MOST;
}

/* Tell a table that is to be widened which values the groups have. */
static void
note_groups(LncGroups *groups)
{
	for (int32_t k = 0; k < groups->nkeys; k++)
	{
		const Key *key = &groups->keys[k];

		for (int32_t group = 0; group < groups->count; group++)
		{
			if (!key->nulls[group])
				lnc_direct_table_note(groups->direct, k, key->words[group]);
		}
	}
}

/* Tell a table that has forgotten its slots of the groups. */
static void
place_groups(LncGroups *groups)
{
	for (int32_t group = 0; group < groups->count; group++)
	{
		uint64_t slot = 0;

		for (int32_t k = 0; k < groups->nkeys; k++)
			slot += lnc_direct_table_offset(groups->direct, k, groups->keys[k].nulls[group],
											groups->keys[k].words[group]);
		groups->direct->slots[slot] = group;
	}
}

/* The groups of rows whose slots are known, if they are of groups that are not known yet. */
static LncCode
add_groups(LncContext *ctx, LncGroups *groups, LncHashRange range, const LncColumn *const *columns, int64_t length,
		   const uint32_t *places, int32_t *numbers)
{
	int32_t *slots = groups->direct->slots;

	for (int64_t row = 0; row < length; row++)
	{
		uint64_t hash;

		if (slots[places[row]] < LNC_SLOT_OUTSIDE)
		{
			hash = hash_row(groups, columns, row);
			if (hash < range.first || hash > range.last)
				slots[places[row]] = LNC_SLOT_OUTSIDE;
			else
			{
				LNC_TRY(make_room(ctx, groups));
				slots[places[row]] = groups->count;
				LNC_TRY(add_group(ctx, groups, columns, row, hash));
			}
		}
		numbers[row] = slots[places[row]];
	}
	return LNC_OK;
}

/* As lnc_groups_find, by place; *found is false where the keys lie too far apart. */
static LncCode
find_by_place(LncContext *ctx, LncGroups *groups, LncArena *scratch, LncHashRange range,
			  const LncColumn *const *keys, int64_t length, int32_t *numbers, bool *found)
{
	const int32_t *slots;
	uint32_t *places;
	int32_t least = 0;

	LNC_TRY(lnc_direct_table_places(ctx, groups->direct, scratch, keys, length, &places));
	if (places == NULL)
	{
		note_groups(groups);
		LNC_TRY(
			lnc_direct_table_widen(ctx, groups->direct, groups->arena, keys, length, most_slots(groups), found));
		if (!*found)
			return LNC_OK;
		place_groups(groups);
		LNC_TRY(lnc_direct_table_places(ctx, groups->direct, scratch, keys, length, &places));
		if (places == NULL)
			return lnc_fail(ctx, LNC_INVALID, "keys of groups lie outside of where they were found");
	}
	*found = true;
	slots = groups->direct->slots;
	for (int64_t row = 0; row < length; row++)
	{
		numbers[row] = slots[places[row]];
		least = numbers[row] < least ? numbers[row] : least;
	}
	return least < LNC_SLOT_OUTSIDE ? add_groups(ctx, groups, range, keys, length, places, numbers) : LNC_OK;
}

/* ---- by hash */

static LncCode
find_by_hash(LncContext *ctx, LncGroups *groups, LncHashRange range, const Rows *rows, int64_t row, int32_t *number)
{
	uint64_t hash = rows->hashes[row];
	uint32_t tag = (uint32_t)(hash >> 32);
	uint64_t at;

	*number = -1;
	if (hash < range.first || hash > range.last)
		return LNC_OK;
	for (at = hash & groups->mask; groups->slots[at].group != 0; at = (at + 1) & groups->mask)
	{
		int32_t group = groups->slots[at].group - 1;

		if (groups->slots[at].tag == tag && same_keys(groups, group, rows, row))
		{
			*number = group;
			return LNC_OK;
		}
	}
	if (groups->count >= groups->room)
	{
		LNC_TRY(make_room(ctx, groups));
		for (at = hash & groups->mask; groups->slots[at].group != 0;)
			at = (at + 1) & groups->mask;
	}
	LNC_TRY(add_group(ctx, groups, rows->columns, row, hash));
	groups->slots[at] = (Slot){.tag = tag, .group = groups->count};
	*number = groups->count - 1;
	return LNC_OK;
}

/* Have what the hashes lead to come into the cache: the slots, the groups there, and the bytes of their keys. */
static void
fetch_ahead(const LncGroups *groups, const uint64_t *hashes, int64_t count)
{
	const Slot *slots = groups->slots;
	uint64_t mask = groups->mask;

	if (mask < CACHED_SLOTS)
		return;
	for (int64_t i = 0; i < count; i++)
		__builtin_prefetch(&slots[hashes[i] & mask]);
	for (int32_t k = 0; k < groups->nkeys; k++)
	{
		const Key *key = &groups->keys[k];

		for (int64_t i = 0; i < count; i++)
		{
			int32_t group = slots[hashes[i] & mask].group - 1;

			if (group >= 0)
				__builtin_prefetch(key->bytes ? (const void *)&key->runs[group] : &key->words[group]);
		}
		for (int64_t i = 0; key->used > 0 && i < count; i++)
		{
			int32_t group = slots[hashes[i] & mask].group - 1;

			if (group >= 0)
				__builtin_prefetch(key->data + key->runs[group].at);
		}
	}
}

LncCode
lnc_groups_find(LncContext *ctx, LncGroups *groups, LncArena *scratch, LncHashRange range,
				const LncColumn *const *keys, int64_t length, int32_t *numbers)
{
	Rows rows = {.columns = keys};
	bool found = false;

	if (length == 0)
		return LNC_OK;
	if (groups->direct != NULL)
	{
		LNC_TRY(find_by_place(ctx, groups, scratch, range, keys, length, numbers, &found));
		if (found)
			return LNC_OK;
		groups->direct = NULL;
	}
	if (groups->slots == NULL)
		LNC_TRY(make_slots(ctx, groups));
	LNC_TRY(hash_rows(ctx, groups, scratch, length, &rows));
	for (int64_t first = 0; first < length; first += FETCH_AHEAD)
	{
		int64_t end = length - first < FETCH_AHEAD ? length : first + FETCH_AHEAD;

		fetch_ahead(groups, &rows.hashes[first], end - first);
		for (int64_t row = first; row < end; row++)
			LNC_TRY(find_by_hash(ctx, groups, range, &rows, row, &numbers[row]));
	}
	return LNC_OK;
}

/* ---- fewer of them */

/* The groups of a key that are kept, in arena. */
static LncCode
narrow_key(LncContext *ctx, LncArena *arena, const Key *from, int32_t count, const int32_t *kept, Key *to)
{
	for (int32_t i = 0; i < count; i++)
	{
		const Run *run = from->bytes ? &from->runs[kept[i]] : NULL;

		if (run == NULL)
		{
			to->nulls[i] = from->nulls[kept[i]];
			to->words[i] = from->words[kept[i]];
		}
		else if (run->size == NULL_SIZE)
			to->runs[i] = *run;
		else
			LNC_TRY(
				keep_bytes(ctx, arena, to, i, (LncSlice){.data = from->data + run->at, .size = (size_t)run->size}));
	}
	return LNC_OK;
}

LncCode
lnc_groups_narrow(LncContext *ctx, const LncGroups *groups, LncArena *arena, LncHashRange range, LncGroups **out,
				  int32_t **kept)
{
	LncGroups *narrow;
	int32_t count = 0;

	LNC_TRY(LNC_NEW(ctx, arena, kept, groups->count));
	for (int32_t group = 0; group < groups->count; group++)
	{
		if (groups->hashes[group] >= range.first && groups->hashes[group] <= range.last)
			(*kept)[count++] = group;
	}
	LNC_TRY(LNC_NEW(ctx, arena, &narrow, 1));
	LNC_TRY(LNC_NEW(ctx, arena, &narrow->keys, groups->nkeys));
	narrow->arena = arena;
	narrow->nkeys = groups->nkeys;
	narrow->memory = groups->memory;
	for (int32_t k = 0; k < groups->nkeys; k++)
	{
		narrow->keys[k].type = groups->keys[k].type;
		narrow->keys[k].bytes = groups->keys[k].bytes;
	}
	LNC_TRY(grow_arrays(ctx, narrow, count < FIRST_ROOM ? FIRST_ROOM : (size_t)count));
	for (int32_t k = 0; k < groups->nkeys; k++)
		LNC_TRY(narrow_key(ctx, arena, &groups->keys[k], count, *kept, &narrow->keys[k]));
	for (int32_t i = 0; i < count; i++)
		narrow->hashes[i] = groups->hashes[(*kept)[i]];
	narrow->count = count;
	if (groups->direct != NULL)
	{
		LNC_TRY(lnc_direct_table_copy(ctx, groups->direct, arena, &narrow->direct));
		if (narrow->direct->nslots > 0)
			place_groups(narrow);
	}
	else
		LNC_TRY(make_slots(ctx, narrow));
	*out = narrow;
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
		if (from->bytes ? from->runs[i].size != NULL_SIZE : !from->nulls[i])
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
		offsets[i + 1] = offsets[i] + (from->runs[i].size == NULL_SIZE ? 0 : (int64_t)from->runs[i].size);
	out->offsets = offsets;
	out->data = from->data;
	return LNC_OK;
}
