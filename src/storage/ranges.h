/*
 * ranges.h
 *	  Which reads serve a set of ranges: neighbours are merged, long reads are cut into parts.
 */
#ifndef LNC_STORAGE_RANGES_H
#define LNC_STORAGE_RANGES_H

#include "storage/backend.h"

/* One contiguous read into its own memory. */
typedef struct LncSpan
{
	uint64_t offset;
	uint64_t length;
	uint8_t *data; /* NULL until lnc_spans_allocate */
} LncSpan;

typedef struct LncSpans
{
	size_t nspans;
	LncSpan *spans;  /* rising, disjoint */
	size_t *span_of; /* per range, the span that holds it */
	uint64_t total;  /* bytes over all spans */
	uint64_t end;    /* largest offset + length */
} LncSpans;

/* Plan the reads for n non-empty ranges; those with at most gap bytes between them share a span. */
extern LncCode lnc_spans_plan(LncContext *ctx, LncArena *arena, size_t n, const LncRange *ranges, uint64_t gap,
							  LncSpans *out) LNC_MUST_CHECK;

/* Give every span its memory and point outs[i] to where range i will lie. */
extern LncCode lnc_spans_allocate(LncContext *ctx, LncArena *arena, LncSpans *spans, size_t n,
								  const LncRange *ranges, const uint8_t **outs) LNC_MUST_CHECK;

#endif
