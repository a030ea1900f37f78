/*
 * group.h
 *	  Rows by the values of their key columns: equal rows get the same number.
 */
#ifndef LNC_SCAN_GROUP_H
#define LNC_SCAN_GROUP_H

#include "column/column.h"

typedef struct LncGroups LncGroups;

/* What rows of a part of the hashes' space are grouped in one go: those with first <= hash <= last. */
typedef struct LncHashRange
{
	uint64_t first;
	uint64_t last;
} LncHashRange;

/* Whether columns of the type can be keys: those whose values are equal just where their bytes are. */
extern bool lnc_groups_accept(const LncType *type);

/*
 * No groups yet. Lives in arena, as all groups will; types are those of the nkeys key columns, borrowed. memory is what the
 * groups should take in bytes, 0 for any: helpers that only make it faster keep to a small part of that.
 */
extern LncCode lnc_groups_create(LncContext *ctx, LncArena *arena, int32_t nkeys, const LncType *const *types,
								 size_t memory, LncGroups **out) LNC_MUST_CHECK;

/*
 * The group of each row: numbers[i] for i < length, -1 for a row whose hash is outside of the range. New groups are made as
 * they are met, numbered from 0. NULL is a value like others. The range is the same each time. keys: one column a key; scratch
 * is for what is needed meanwhile.
 */
extern LncCode lnc_groups_find(LncContext *ctx, LncGroups *groups, LncArena *scratch, LncHashRange range,
							   const LncColumn *const *keys, int64_t length, int32_t *numbers) LNC_MUST_CHECK;

extern int32_t lnc_groups_count(const LncGroups *groups);

/*
 * Those groups whose hash lies in the range, which is a part of the one they were found for, copied to another arena. Group i of
 * the copy is group kept[i] of the original; kept is in that arena, too.
 */
extern LncCode lnc_groups_narrow(LncContext *ctx, const LncGroups *groups, LncArena *arena, LncHashRange range,
								 LncGroups **out, int32_t **kept) LNC_MUST_CHECK;

/* The values of a key, one row a group, in arena. */
extern LncCode lnc_groups_key(LncContext *ctx, const LncGroups *groups, LncArena *arena, int32_t key,
							  LncColumn *out) LNC_MUST_CHECK;

#endif
