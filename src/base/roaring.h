/*
 * roaring.h
 *	  32-bit Roaring bitmaps of the portable serialisation, read from untrusted bytes.
 *
 * Layout (all little-endian; "Roaring Format Specification"):
 *
 *	 u32 cookie			12346: no run containers, then u32 number of containers (at most 65536)
 *						low half 12347: run containers, high half = number of containers - 1,
 *						then one bit a container, 1 = run container
 *	 per container		u16 key (high half of its values, strictly rising), u16 cardinality - 1
 *	 u32 offset			per container, from the start of the bitmap; left out with cookie 12347 and
 *						fewer than four containers
 *	 containers			array (cardinality <= 4096): u16 values, strictly rising
 *						bitset: 1024 words of 64 bits
 *						run: u16 number of runs, then per run u16 start, u16 length - 1
 *
 * The library that holds the set trusts its input, so the whole layout is checked before it sees a byte.
 */
#ifndef LNC_BASE_ROARING_H
#define LNC_BASE_ROARING_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"

/* A read-only set of 32-bit numbers; freed by its arena. */
typedef struct roaring_bitmap_s LncRoaring;

/*
 * Check the bitmap at the start of bytes. *consumed is its size; bytes behind it are the caller's business.
 * LNC_CORRUPT names the fault.
 */
extern LncCode lnc_roaring_check(LncContext *ctx, LncSlice bytes, size_t *consumed) LNC_MUST_CHECK;

/*
 * Check and load the bitmap at the start of bytes (not borrowed afterwards). consumed receives its size; when it is
 * NULL the bitmap must fill bytes exactly (LNC_CORRUPT otherwise).
 */
extern LncCode lnc_roaring_open(LncContext *ctx, LncArena *arena, LncSlice bytes, size_t *consumed,
								const LncRoaring **out) LNC_MUST_CHECK;

extern bool lnc_roaring_contains(const LncRoaring *set, uint32_t value);

extern uint64_t lnc_roaring_cardinality(const LncRoaring *set);

/* All values in rising order. LNC_LIMIT when there are more than max of them. */
extern LncCode lnc_roaring_values(LncContext *ctx, LncArena *arena, const LncRoaring *set, uint64_t max,
								  uint32_t **values, uint64_t *count) LNC_MUST_CHECK;

/* Values first … last, both included. */
typedef struct LncRoaringRange
{
	uint32_t first;
	uint32_t last;
} LncRoaringRange;

/*
 * Check the bitmap, which must fill bytes, and list its values as ranges: ascending, disjoint, never adjacent. Unlike
 * the values, ranges take no more memory than a small multiple of bytes. *count is the number of values.
 */
extern LncCode lnc_roaring_ranges(LncContext *ctx, LncArena *arena, LncSlice bytes, size_t *nranges,
								  LncRoaringRange **ranges, uint64_t *count) LNC_MUST_CHECK;

/* Serialise n strictly rising values (else LNC_INVALID) in the portable form. */
extern LncCode lnc_roaring_write(LncContext *ctx, LncArena *arena, const uint32_t *values, size_t n,
								 LncSlice *out) LNC_MUST_CHECK;

#endif
