/*
 * direct_table.h
 *	  Groups of rows whose keys are integers that lie close together: a key's value is its place in a table.
 *
 * Every combination of the keys' values that lie in the ranges seen so far has a slot, which holds the number of its group.
 */
#ifndef LNC_SCAN_DIRECT_TABLE_H
#define LNC_SCAN_DIRECT_TABLE_H

#include "column/column.h"

/* What a slot holds besides the number of a group. All below LNC_SLOT_OUTSIDE says: not known. */
#define LNC_SLOT_OUTSIDE (-1)

/* One key. Differences of values are taken within their width: they are right whatever the base. */
typedef struct LncDirectKey
{
	uint64_t within; /* mask of differences */
	int64_t least;   /* of the values so far, as far as they were noted */
	int64_t greatest;
	int64_t base;  /* the value of place 0 */
	uint64_t size; /* places of values, a power of two; 0: there was no value yet. NULL has the one behind them. */
	uint64_t stride; /* slots from one place to the next */
} LncDirectKey;

typedef struct LncDirectTable
{
	int32_t nkeys;
	LncDirectKey *keys;
	uint64_t nslots;
	uint64_t room; /* slots that there is memory for */
	int32_t *slots;
} LncDirectTable;

/* Whether columns of the type can be keys of such a table. */
extern bool lnc_direct_table_accepts(const LncType *type);

/* A table without slots, in arena. */
extern LncCode lnc_direct_table_create(LncContext *ctx, LncArena *arena, int32_t nkeys, const LncType *const *types,
									   LncDirectTable **out) LNC_MUST_CHECK;

/*
 * The slot of each row of a batch, in scratch. *places is NULL where a value lies outside of what the table covers.
 */
extern LncCode lnc_direct_table_places(LncContext *ctx, const LncDirectTable *table, LncArena *scratch,
									   const LncColumn *const *keys, int64_t length,
									   uint32_t **places) LNC_MUST_CHECK;

/* Note a value of a group, which the table covers: it is to do so when it is widened, too. */
static inline void
lnc_direct_table_note(LncDirectTable *table, int32_t key, uint64_t word)
{
	LncDirectKey *of = &table->keys[key];

	of->least = (int64_t)word < of->least ? (int64_t)word : of->least;
	of->greatest = (int64_t)word > of->greatest ? (int64_t)word : of->greatest;
}

/*
 * Have the table cover the values of a batch and those noted, with at most limit slots, less than 2^31. Values that it has
 * places for need not have been noted when it was made, so that all that matter are to be noted before. Nothing is known of
 * the new slots, which are in arena. *done is false where that takes more, and the table is of no more use.
 */
extern LncCode lnc_direct_table_widen(LncContext *ctx, LncDirectTable *table, LncArena *arena,
									  const LncColumn *const *keys, int64_t length, uint64_t limit,
									  bool *done) LNC_MUST_CHECK;

/* The same table, nothing being known of its slots, in another arena. */
extern LncCode lnc_direct_table_copy(LncContext *ctx, const LncDirectTable *table, LncArena *arena,
									 LncDirectTable **out) LNC_MUST_CHECK;

/* How far a value of a key, which the table covers, is from slot 0; the slot is the sum over all keys. */
static inline uint64_t
lnc_direct_table_offset(const LncDirectTable *table, int32_t key, bool null, uint64_t word)
{
	const LncDirectKey *of = &table->keys[key];

	return (null ? of->size : (word - (uint64_t)of->base) & of->within) * of->stride;
}

#endif
