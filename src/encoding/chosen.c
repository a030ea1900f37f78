/*
 * chosen.c
 *	  Reading the bytes of few rows.
 */
#include "encoding/chosen.h"

#include <string.h>

#include "encoding/check.h"

/* Join ranges that touch; returns how many are left. */
static size_t
join_ranges(size_t n, const LncPageRange *ranges, LncPageRange *joined)
{
	size_t last = 0;

	joined[0] = ranges[0];
	for (size_t i = 1; i < n; i++)
		if (ranges[i].offset == joined[last].offset + joined[last].length)
			joined[last].length += ranges[i].length;
		else
			joined[++last] = ranges[i];
	return last + 1;
}

/* Whether it is cheaper to read the ranges than all from the first to the last. A store reads over small gaps anyway. */
static bool
is_cheaper(const LncPageSource *source, size_t n, const LncPageRange *ranges)
{
	uint64_t whole = ranges[n - 1].offset + ranges[n - 1].length - ranges[0].offset;
	uint64_t saved = 0;

	for (size_t i = 1; i < n; i++)
	{
		uint64_t gap = ranges[i].offset - (ranges[i - 1].offset + ranges[i - 1].length);

		if (gap > source->gap)
			saved += gap - source->gap;
	}
	return saved > source->gap && saved > whole / 4;
}

LncCode
lnc_chosen_read(LncContext *ctx, const LncPageSource *source, LncArena *arena, LncArena *scratch, size_t n,
				const LncPageRange *ranges, bool *done, LncSlice *out)
{
	LncPageRange *joined;
	const uint8_t **bytes;
	uint64_t total = 0;
	uint64_t ignored;
	uint8_t *copy;
	uint64_t at = 0;

	*done = false;
	for (size_t i = 0; i < n; i++)
	{
		LNC_REQUIRE(ctx,
					!lnc_add_overflow(ranges[i].offset, ranges[i].length, &ignored) &&
						(i == 0 || ranges[i].offset >= ranges[i - 1].offset + ranges[i - 1].length),
					"the positions of values fall");
		total += ranges[i].length;
	}
	LNC_TRY(LNC_NEW(ctx, scratch, &joined, n));
	n = join_ranges(n, ranges, joined);
	if (!is_cheaper(source, n, joined))
		return LNC_OK;
	LNC_TRY(LNC_NEW(ctx, scratch, &bytes, n));
	LNC_TRY(source->read(ctx, source, scratch, n, joined, bytes));
	LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)total, (void **)&copy));
	for (size_t i = 0; i < n; i++)
	{
		if (joined[i].length > 0)
			memcpy(copy + at, bytes[i], (size_t)joined[i].length);
		at += joined[i].length;
	}
	*out = (LncSlice){copy, (size_t)total};
	*done = true;
	return LNC_OK;
}

LncCode
lnc_chosen_read_rows(LncContext *ctx, const LncPageSource *source, LncArena *arena, LncArena *scratch,
					 uint32_t buffer, uint64_t width, uint64_t first, size_t n, const int64_t *rows, bool *done,
					 LncSlice *out)
{
	LncPageRange *ranges;
	uint64_t end;

	*done = false;
	LNC_REQUIRE(ctx, !lnc_mul_overflow(first + (uint64_t)rows[n - 1] + 1, width, &end),
				"the size of %llu values overflows", (unsigned long long)first + (unsigned long long)rows[n - 1]);

	/* Narrow rows lie so close that nothing is saved. */
	if ((uint64_t)(rows[n - 1] - rows[0]) * width <= source->gap)
		return LNC_OK;
	LNC_TRY(LNC_NEW(ctx, scratch, &ranges, n));
	for (size_t i = 0; i < n; i++)
		ranges[i] = (LncPageRange){buffer, (first + (uint64_t)rows[i]) * width, width};
	return lnc_chosen_read(ctx, source, arena, scratch, n, ranges, done, out);
}
