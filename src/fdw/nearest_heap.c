/*
 * nearest_heap.c
 *	  The nearest of the rows that were looked at so far.
 */
#include "postgres.h"

#include "fdw/nearest_heap.h"
#include "utils/memutils.h"

/* Candidates that there is room for at first. */
#define FIRST_ROOM 1024

/* How far, without regard to the order of the rows. */
static int
compare_distances(const LanceCandidate *x, const LanceCandidate *y)
{
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->rank == 0 && x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return 0;
}

/* Of equally near rows the one that comes first is nearer. */
static int
compare_candidates(const void *a, const void *b)
{
	const LanceCandidate *x = a;
	const LanceCandidate *y = b;
	int order = compare_distances(x, y);

	if (order != 0)
		return order;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void
sift_down(LanceNearestHeap *nearest, LanceCandidate candidate)
{
	int64 at = 0;

	for (;;)
	{
		int64 child = 2 * at + 1;

		if (child >= nearest->count)
			break;
		if (child + 1 < nearest->count && compare_candidates(&nearest->heap[child + 1], &nearest->heap[child]) > 0)
			child++;
		if (compare_candidates(&nearest->heap[child], &candidate) <= 0)
			break;
		nearest->heap[at] = nearest->heap[child];
		at = child;
	}
	nearest->heap[at] = candidate;
}

static void
add_tie(LanceNearestHeap *nearest, uint64 address)
{
	if (nearest->nties == nearest->ties_room)
	{
		nearest->ties_room = Max(64, nearest->ties_room * 2);
		nearest->ties = nearest->ties == NULL ? palloc(nearest->ties_room * sizeof(uint64))
											  : repalloc_huge(nearest->ties, nearest->ties_room * sizeof(uint64));
	}
	nearest->ties[nearest->nties++] = address;
}

void
lance_nearest_offer(LanceNearestHeap *nearest, LanceCandidate candidate)
{
	int64 at = nearest->count;

	if (nearest->count == nearest->most)
	{
		/* One that is as far as the farthest is behind it. */
		LanceCandidate farthest = nearest->heap[0];
		int order = compare_distances(&candidate, &farthest);

		if (order < 0)
		{
			sift_down(nearest, candidate);
			if (compare_distances(&nearest->heap[0], &farthest) != 0)
				nearest->nties = 0;
			else if (nearest->wants_ties)
				add_tie(nearest, farthest.address);
		}
		else if (order == 0 && nearest->wants_ties)
			add_tie(nearest, candidate.address);
		return;
	}
	if (nearest->count == nearest->room)
	{
		nearest->room = Min(nearest->room * 2, nearest->most);
		nearest->heap = repalloc_huge(nearest->heap, nearest->room * sizeof(LanceCandidate));
	}
	nearest->count++;
	while (at > 0 && compare_candidates(&nearest->heap[(at - 1) / 2], &candidate) < 0)
	{
		nearest->heap[at] = nearest->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	nearest->heap[at] = candidate;
}

void
lance_nearest_begin(LanceNearestHeap *nearest, int64 most, bool ties)
{
	memset(nearest, 0, sizeof(*nearest));
	nearest->most = most;
	nearest->wants_ties = ties;
	nearest->room = Min(most, FIRST_ROOM);
	nearest->heap = palloc(nearest->room * sizeof(LanceCandidate));
}

uint64 *
lance_nearest_end(LanceNearestHeap *nearest, size_t *found)
{
	uint64 *addresses;

	qsort(nearest->heap, nearest->count, sizeof(LanceCandidate), compare_candidates);
	*found = (size_t)(nearest->count + nearest->nties);
	addresses = palloc_extended(Max(*found, 1) * sizeof(*addresses), MCXT_ALLOC_HUGE);
	for (int64 i = 0; i < nearest->count; i++)
		addresses[i] = nearest->heap[i].address;
	if (nearest->nties > 0)
		memcpy(addresses + nearest->count, nearest->ties, nearest->nties * sizeof(*addresses));
	pfree(nearest->heap);
	return addresses;
}
