/*
 * ranges.c
 *	  Merging ranges over small gaps.
 */
#include "storage/ranges.h"

#include <stdlib.h>

/* A range and its place in the caller's order. */
typedef struct Ordered
{
	LncRange range;
	size_t at;
} Ordered;

static int
compare_offsets(const void *a, const void *b)
{
	uint64_t x = ((const Ordered *)a)->range.offset;
	uint64_t y = ((const Ordered *)b)->range.offset;

	return x < y ? -1 : x > y;
}

LncCode
lnc_spans_plan(LncContext *ctx, LncArena *arena, size_t n, const LncRange *ranges, uint64_t gap, LncSpans *out)
{
	Ordered *order;
	LncSpan *span = NULL;

	out->nspans = 0;
	out->total = 0;
	out->end = 0;
	LNC_TRY(LNC_NEW(ctx, arena, &order, n));
	LNC_TRY(LNC_NEW(ctx, arena, &out->spans, n));
	LNC_TRY(LNC_NEW(ctx, arena, &out->span_of, n));
	for (size_t i = 0; i < n; i++)
		order[i] = (Ordered){.range = ranges[i], .at = i};
	qsort(order, n, sizeof(*order), compare_offsets);

	for (size_t i = 0; i < n; i++)
	{
		uint64_t start = order[i].range.offset;
		uint64_t end = start + order[i].range.length;

		if (span != NULL && start <= span->offset + span->length + gap)
		{
			if (end > span->offset + span->length)
				span->length = end - span->offset;
		}
		else
		{
			span = &out->spans[out->nspans++];
			span->offset = start;
			span->length = end - start;
		}
		if (end > out->end)
			out->end = end;
		out->span_of[order[i].at] = out->nspans - 1;
	}
	for (size_t i = 0; i < out->nspans; i++)
		out->total += out->spans[i].length;
	return LNC_OK;
}

LncCode
lnc_spans_allocate(LncContext *ctx, LncArena *arena, LncSpans *spans, size_t n, const LncRange *ranges,
				   const uint8_t **outs)
{
	for (size_t i = 0; i < spans->nspans; i++)
	{
		void *memory;

		LNC_TRY(lnc_arena_alloc(ctx, arena, spans->spans[i].length, &memory));
		spans->spans[i].data = memory;
	}
	for (size_t i = 0; i < n; i++)
	{
		const LncSpan *span = &spans->spans[spans->span_of[i]];

		outs[i] = span->data + (ranges[i].offset - span->offset);
	}
	return LNC_OK;
}
