/*
 * row_ids.h
 *	  Row ids, row addresses and row versions: the sequences that fragments carry, and finding a row by its id.
 *
 * The address of a row is its fragment's id << 32 | its offset in the fragment. Without stable row ids it is the id
 * as well. With them a fragment lists the ids of its rows, deleted ones included, as segments one after the other:
 *
 *	range					start up to, not including, end
 *	range with holes		the same without the values of an ascending array
 *	range with bitmap		start + i for each bit i that is set; bit i is bit i % 8, from the lowest, of byte i / 8
 *	sorted array, array		the values; an array is 16- or 32-bit offsets from a base, or 64-bit values
 *
 * Source of the facts: format.md section 5. Segments stay as they are stored: a range of a billion ids takes no memory.
 */
#ifndef LNC_DATASET_ROW_IDS_H
#define LNC_DATASET_ROW_IDS_H

#include "dataset/dataset.h"

/* The ids of one fragment's rows, by offset. */
typedef struct LncRowIds LncRowIds;

static inline uint64_t
lnc_row_address(const LncFragment *fragment, uint64_t offset)
{
	return fragment->id << 32 | offset;
}

/*
 * The ids of a fragment of the dataset. LNC_CORRUPT, naming fragment and manifest: a damaged sequence, one that is missing
 * although the dataset has stable row ids, or one of another length than the fragment.
 */
extern LncCode lnc_row_ids_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset,
								const LncFragment *fragment, LncRowIds **out) LNC_MUST_CHECK;

/* The ids of rows [first, first + count), all inside the fragment, into out. */
extern void lnc_row_ids_fill(const LncRowIds *ids, uint64_t first, uint64_t count, uint64_t *out);

/* Runs of rows that share a version number. */
typedef struct LncVersionRuns
{
	size_t nruns;
	uint64_t
		*ends; /* array of nruns: the first offset behind each run, ascending; the last is the fragment's rows */
	uint64_t *versions;
} LncVersionRuns;

typedef enum LncVersionKind
{
	LNC_ROW_CREATED,
	LNC_ROW_LAST_UPDATED
} LncVersionKind;

/* In which versions a fragment's rows were created or last changed; version 1 where the manifest says nothing. */
extern LncCode lnc_row_versions_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset,
									 const LncFragment *fragment, LncVersionKind kind,
									 LncVersionRuns *out) LNC_MUST_CHECK;

/* The versions of rows [first, first + count), all inside the fragment, into out. */
extern void lnc_row_versions_fill(const LncVersionRuns *runs, uint64_t first, uint64_t count, uint64_t *out);

/* Finds live rows by id over all fragments of a dataset. Lives in the arena it was opened in. */
typedef struct LncRowIdIndex LncRowIdIndex;

/* Sequences are checked now; deletion files are read when an id of their fragment is looked up. */
extern LncCode lnc_row_id_index_open(LncContext *ctx, LncArena *arena, const LncDataset *dataset,
									 LncRowIdIndex **out) LNC_MUST_CHECK;

/* Where the live row of that id is: index into dataset->fragments and offset. *found is false when there is none. */
extern LncCode lnc_row_id_index_find(LncContext *ctx, LncRowIdIndex *index, uint64_t id, bool *found,
									 int32_t *fragment, uint64_t *offset) LNC_MUST_CHECK;

#endif
