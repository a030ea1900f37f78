/*
 * roaring.c
 *	  The check of the portable Roaring form, and the set behind it.
 */
#include "base/roaring.h"

#include <roaring/roaring.h>

#define COOKIE_NO_RUNS 12346
#define COOKIE_RUNS 12347
#define MAX_CONTAINERS 65536
#define ARRAY_MAX 4096
#define BITSET_BYTES 8192
#define NO_OFFSETS_BELOW 4

/* A cursor over the bytes, with the facts of the header. */
typedef struct RoaringLayout
{
	LncSlice bytes;
	uint32_t ncontainers;
	const uint8_t *run_flags;   /* one bit a container; NULL: none is a run container */
	const uint8_t *descriptors; /* u16 key, u16 cardinality - 1 */
	const uint8_t *offsets;     /* u32 each; NULL: left out */
	size_t body;                /* where the containers start */
} RoaringLayout;

/* Take size bytes at *at. */
static LncCode
take(LncContext *ctx, LncSlice bytes, size_t *at, size_t size, const uint8_t **out)
{
	if (!lnc_range_ok(*at, size, bytes.size))
		return lnc_fail(ctx, LNC_CORRUPT, "truncated bitmap: %zu bytes needed at byte %zu of %zu", size, *at,
						bytes.size);
	*out = bytes.data + *at;
	*at += size;
	return LNC_OK;
}

static LncCode
read_layout(LncContext *ctx, RoaringLayout *layout)
{
	const uint8_t *p;
	size_t at = 0;
	uint32_t cookie;

	LNC_TRY(take(ctx, layout->bytes, &at, 4, &p));
	cookie = lnc_le32(p);
	if (cookie == COOKIE_NO_RUNS)
	{
		LNC_TRY(take(ctx, layout->bytes, &at, 4, &p));
		layout->ncontainers = lnc_le32(p);
		if (layout->ncontainers > MAX_CONTAINERS)
			return lnc_fail(ctx, LNC_CORRUPT, "bitmap states %u containers", layout->ncontainers);
	}
	else if ((cookie & 0xFFFF) == COOKIE_RUNS)
	{
		layout->ncontainers = (cookie >> 16) + 1;
		LNC_TRY(take(ctx, layout->bytes, &at, (layout->ncontainers + 7) / 8, &layout->run_flags));
	}
	else
		return lnc_fail(ctx, LNC_CORRUPT, "bitmap starts with unknown cookie %u", cookie);

	LNC_TRY(take(ctx, layout->bytes, &at, (size_t)layout->ncontainers * 4, &layout->descriptors));
	if (layout->run_flags == NULL || layout->ncontainers >= NO_OFFSETS_BELOW)
		LNC_TRY(take(ctx, layout->bytes, &at, (size_t)layout->ncontainers * 4, &layout->offsets));
	layout->body = at;
	return LNC_OK;
}

static LncCode
check_array(LncContext *ctx, LncSlice bytes, size_t *at, uint32_t cardinality)
{
	const uint8_t *values;

	LNC_TRY(take(ctx, bytes, at, (size_t)cardinality * 2, &values));
	for (uint32_t i = 1; i < cardinality; i++)
	{
		if (lnc_le16(values + 2 * (i - 1)) >= lnc_le16(values + 2 * i))
			return lnc_fail(ctx, LNC_CORRUPT, "bitmap has an array container out of order");
	}
	return LNC_OK;
}

static LncCode
check_bitset(LncContext *ctx, LncSlice bytes, size_t *at, uint32_t cardinality)
{
	const uint8_t *words;
	uint32_t population = 0;

	LNC_TRY(take(ctx, bytes, at, BITSET_BYTES, &words));
	for (size_t i = 0; i < BITSET_BYTES; i += 8)
		population += (uint32_t)__builtin_popcountll(lnc_le64(words + i));
	if (population != cardinality)
		return lnc_fail(ctx, LNC_CORRUPT, "bitmap has a container of %u values that states %u", population,
						cardinality);
	return LNC_OK;
}

static LncCode
check_runs(LncContext *ctx, LncSlice bytes, size_t *at, uint32_t cardinality)
{
	const uint8_t *p;
	uint32_t nruns;
	uint32_t population = 0;
	uint32_t next = 0; /* lowest value that the next run may start at */

	LNC_TRY(take(ctx, bytes, at, 2, &p));
	nruns = lnc_le16(p);
	LNC_TRY(take(ctx, bytes, at, (size_t)nruns * 4, &p));
	for (uint32_t i = 0; i < nruns; i++, p += 4)
	{
		uint32_t start = lnc_le16(p);
		uint32_t length = (uint32_t)lnc_le16(p + 2) + 1;

		if (start < next || start + length > 65536)
			return lnc_fail(ctx, LNC_CORRUPT, "bitmap has runs out of order or beyond their container");
		next = start + length;
		population += length;
	}
	if (population != cardinality)
		return lnc_fail(ctx, LNC_CORRUPT, "bitmap has a container of %u values that states %u", population,
						cardinality);
	return LNC_OK;
}

LncCode
lnc_roaring_check(LncContext *ctx, LncSlice bytes, size_t *consumed)
{
	RoaringLayout layout = {.bytes = bytes};
	size_t at;

	LNC_TRY(read_layout(ctx, &layout));
	at = layout.body;
	for (uint32_t i = 0; i < layout.ncontainers; i++)
	{
		const uint8_t *descriptor = layout.descriptors + (size_t)i * 4;
		uint32_t cardinality = (uint32_t)lnc_le16(descriptor + 2) + 1;

		if (i % 1024 == 0)
			LNC_TRY(lnc_check_interrupt(ctx));
		if (i > 0 && lnc_le16(descriptor - 4) >= lnc_le16(descriptor))
			return lnc_fail(ctx, LNC_CORRUPT, "bitmap has container keys out of order");
		if (layout.offsets != NULL && lnc_le32(layout.offsets + (size_t)i * 4) != at)
			return lnc_fail(ctx, LNC_CORRUPT, "bitmap has a container at byte %zu that states %u", at,
							lnc_le32(layout.offsets + (size_t)i * 4));
		if (layout.run_flags != NULL && lnc_bit(layout.run_flags, i))
			LNC_TRY(check_runs(ctx, bytes, &at, cardinality));
		else if (cardinality <= ARRAY_MAX)
			LNC_TRY(check_array(ctx, bytes, &at, cardinality));
		else
			LNC_TRY(check_bitset(ctx, bytes, &at, cardinality));
	}
	*consumed = at;
	return LNC_OK;
}

static void
free_set(void *arg)
{
	roaring_bitmap_free(arg);
}

/* Tie a set to the arena; it is freed at once when that fails. */
static LncCode
keep_set(LncContext *ctx, LncArena *arena, roaring_bitmap_t *set)
{
	LncCode code;

	if (set == NULL)
		return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory for a bitmap");
	code = lnc_arena_on_cleanup(ctx, arena, free_set, set);
	if (code != LNC_OK)
		roaring_bitmap_free(set);
	return code;
}

LncCode
lnc_roaring_open(LncContext *ctx, LncArena *arena, LncSlice bytes, size_t *consumed, const LncRoaring **out)
{
	size_t size;
	roaring_bitmap_t *set;

	LNC_TRY(lnc_roaring_check(ctx, bytes, &size));
	if (consumed != NULL)
		*consumed = size;
	else if (size != bytes.size)
		return lnc_fail(ctx, LNC_CORRUPT, "bitmap of %zu bytes is followed by %zu more", size, bytes.size - size);
	set = roaring_bitmap_portable_deserialize_safe((const char *)bytes.data, size);
	LNC_TRY(keep_set(ctx, arena, set));
	*out = set;
	return LNC_OK;
}

bool
lnc_roaring_contains(const LncRoaring *set, uint32_t value)
{
	return roaring_bitmap_contains(set, value);
}

uint64_t
lnc_roaring_cardinality(const LncRoaring *set)
{
	return roaring_bitmap_get_cardinality(set);
}

LncCode
lnc_roaring_values(LncContext *ctx, LncArena *arena, const LncRoaring *set, uint64_t max, uint32_t **values,
				   uint64_t *count)
{
	uint64_t n = roaring_bitmap_get_cardinality(set);

	if (n > max)
		return lnc_fail(ctx, LNC_LIMIT, "bitmap holds %llu values where at most %llu are allowed",
						(unsigned long long)n, (unsigned long long)max);
	LNC_TRY(LNC_NEW(ctx, arena, values, n));
	roaring_bitmap_to_uint32_array(set, *values);
	*count = n;
	return LNC_OK;
}

/* Ranges as they are found; counted only while ranges is NULL. */
typedef struct RangeList
{
	LncRoaringRange *ranges;
	size_t n;
	uint64_t next; /* the value behind the last range */
	uint64_t count;
} RangeList;

static void
add_range(RangeList *list, uint32_t first, uint32_t last)
{
	if (list->n == 0 || first != list->next)
	{
		if (list->ranges != NULL)
			list->ranges[list->n].first = first;
		list->n++;
	}
	if (list->ranges != NULL)
		list->ranges[list->n - 1].last = last;
	list->next = (uint64_t)last + 1;
	list->count += (uint64_t)last - first + 1;
}

/* Walk a bitmap that lnc_roaring_check has passed. */
static LncCode
walk_ranges(LncContext *ctx, const RoaringLayout *layout, RangeList *list)
{
	const uint8_t *p = layout->bytes.data + layout->body;

	for (uint32_t i = 0; i < layout->ncontainers; i++)
	{
		const uint8_t *descriptor = layout->descriptors + (size_t)i * 4;
		uint32_t high = (uint32_t)lnc_le16(descriptor) << 16;
		uint32_t cardinality = (uint32_t)lnc_le16(descriptor + 2) + 1;

		if (i % 64 == 0)
			LNC_TRY(lnc_check_interrupt(ctx));
		if (layout->run_flags != NULL && lnc_bit(layout->run_flags, i))
		{
			uint32_t nruns = lnc_le16(p);

			p += 2;
			for (uint32_t run = 0; run < nruns; run++, p += 4)
				add_range(list, high + lnc_le16(p), high + lnc_le16(p) + lnc_le16(p + 2));
		}
		else if (cardinality <= ARRAY_MAX)
		{
			for (uint32_t value = 0; value < cardinality; value++, p += 2)
				add_range(list, high + lnc_le16(p), high + lnc_le16(p));
		}
		else
		{
			for (uint32_t value = 0; value < BITSET_BYTES * 8; value++)
			{
				if (lnc_bit(p, value))
					add_range(list, high + value, high + value);
			}
			p += BITSET_BYTES;
		}
	}
	return LNC_OK;
}

LncCode
lnc_roaring_ranges(LncContext *ctx, LncArena *arena, LncSlice bytes, size_t *nranges, LncRoaringRange **ranges,
				   uint64_t *count)
{
	RoaringLayout layout = {.bytes = bytes};
	RangeList counted = {.n = 0};
	RangeList filled = {.n = 0};
	size_t size;

	LNC_TRY(lnc_roaring_check(ctx, bytes, &size));
	if (size != bytes.size)
		return lnc_fail(ctx, LNC_CORRUPT, "bitmap of %zu bytes is followed by %zu more", size, bytes.size - size);
	LNC_TRY(read_layout(ctx, &layout));
	LNC_TRY(walk_ranges(ctx, &layout, &counted));
	LNC_TRY(LNC_NEW(ctx, arena, &filled.ranges, counted.n));
	LNC_TRY(walk_ranges(ctx, &layout, &filled));
	*nranges = filled.n;
	*ranges = filled.ranges;
	*count = filled.count;
	return LNC_OK;
}

LncCode
lnc_roaring_write(LncContext *ctx, LncArena *arena, const uint32_t *values, size_t n, LncSlice *out)
{
	roaring_bitmap_t *set;
	size_t size;
	void *bytes;
	LncCode code;

	for (size_t i = 1; i < n; i++)
	{
		if (values[i - 1] >= values[i])
			return lnc_fail(ctx, LNC_INVALID, "values of a bitmap must rise");
	}
	set = roaring_bitmap_of_ptr(n, values);
	if (set == NULL)
		return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory for a bitmap");
	roaring_bitmap_run_optimize(set);
	size = roaring_bitmap_portable_size_in_bytes(set);
	code = lnc_arena_alloc(ctx, arena, size, &bytes);
	if (code == LNC_OK)
	{
		*out = (LncSlice){.data = bytes, .size = roaring_bitmap_portable_serialize(set, bytes)};
	}
	roaring_bitmap_free(set);
	return code;
}
