/*
 * nearest_heap.h
 *	  The nearest of the rows that were looked at so far.
 */
#ifndef LANCE_FDW_NEAREST_HEAP_H
#define LANCE_FDW_NEAREST_HEAP_H

typedef struct LanceCandidate
{
	int rank; /* 0: a number, 1: NaN, 2: NULL */
	double distance;
	uint64 place; /* in the order of the rows */
	uint64 address;
} LanceCandidate;

/* The nearest so far: a heap whose first is the farthest, and the addresses of later ones that are just as far as that. */
typedef struct LanceNearestHeap
{
	LanceCandidate *heap;
	int64 count;
	int64 room;
	int64 most;
	uint64 seen; /* rows */

	bool wants_ties;
	uint64 *ties;
	int64 nties;
	int64 ties_room;
} LanceNearestHeap;

/* Make an empty heap for most rows, at least one, in the current memory context; ties: and those as far as the last of them. */
extern void lance_nearest_begin(LanceNearestHeap *nearest, int64 most, bool ties);

/* Offer a row. They come in the order of their places. */
extern void lance_nearest_offer(LanceNearestHeap *nearest, LanceCandidate candidate);

/* The addresses of the nearest, nearest first, then those that tie with the last, in the current memory context. The heap is gone. */
extern uint64 *lance_nearest_end(LanceNearestHeap *nearest, size_t *found);

#endif
