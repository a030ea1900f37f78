/*
 * fsst.c
 *	  Symbol tables and decoding.
 */
#include "encoding/fsst.h"

#include "encoding/check.h"

#define FSST_MAGIC 0x46535354u
#define FSST_ESCAPE 255
#define FSST_SYMBOL_BYTES 8

/* Inputs up to this size get room for the longest result there can be; longer ones are measured first. */
#define FSST_UNMEASURED ((uint64_t)64 * 1024)

LncCode
lnc_fsst_open(LncContext *ctx, LncSlice table, LncFsst *out)
{
	uint64_t header;
	size_t nsymbols;

	memset(out, 0, sizeof(*out));
	LNC_REQUIRE(ctx, table.size >= sizeof(header), "a string symbol table of %zu bytes is truncated", table.size);
	header = lnc_le64(table.data);
	LNC_REQUIRE(ctx, header >> 32 == FSST_MAGIC, "a string symbol table has no magic number");
	nsymbols = header & 0xFF;
	out->raw = (header & (UINT64_C(1) << 24)) == 0;
	if (out->raw)
		return LNC_OK;
	LNC_REQUIRE(ctx, table.size - sizeof(header) >= nsymbols * (FSST_SYMBOL_BYTES + 1),
				"a string symbol table of %zu bytes is truncated", table.size);
	for (size_t i = 0; i < nsymbols; i++)
	{
		out->symbol[i] = lnc_le64(table.data + sizeof(header) + i * FSST_SYMBOL_BYTES);
		/* The escape code may have an entry in a full table; it is never used as one. */
		if (i == FSST_ESCAPE)
			break;
		out->length[i] = table.data[sizeof(header) + nsymbols * FSST_SYMBOL_BYTES + i];
		LNC_REQUIRE(ctx, out->length[i] >= 1 && out->length[i] <= FSST_SYMBOL_BYTES, "a string symbol has %u bytes",
					out->length[i]);
	}
	return LNC_OK;
}

#define HIGH_BITS UINT64_C(0x8080808080808080)
#define LOW_BITS UINT64_C(0x0101010101010101)

/* Whether one of eight codes is the escape: a byte of ones is a zero byte of the complement. */
static inline bool
has_escape(uint64_t codes)
{
	return ((~codes - LOW_BITS) & codes & HIGH_BITS) != 0;
}

/* Bytes that the codes from at to end give; unknown codes and cut escapes count as nothing. */
static uint64_t
decoded_size(const LncFsst *fsst, const uint8_t *at, const uint8_t *end)
{
	uint64_t size = 0;

	while (at < end)
	{
		uint8_t code;

		for (; end - at >= 8; at += 8)
		{
			uint64_t word = lnc_le64(at);
			uint64_t sum = 0;

			if (has_escape(word))
				break;
#pragma GCC unroll 8
			for (unsigned k = 0; k < 8; k++)
				sum += fsst->length[(uint8_t)(word >> 8 * k)];
			size += sum;
		}
		if (at == end)
			break;
		code = *at++;
		size += fsst->length[code];
		if (code == FSST_ESCAPE && at < end)
		{
			size++;
			at++;
		}
	}
	return size;
}

/*
 * Codes are decoded in runs over the ends of values, which are too near to each other to be branched on. Where each code
 * went is noted; the ends are looked up there.
 */
#define RUN_CODES 2048
#define LONG_VALUE 64      /* codes of a value, on average, from which on its end may be branched on */
#define NOWHERE UINT32_MAX /* the byte behind an escape is no code */

typedef struct Run
{
	uint8_t *to;      /* where the next symbol goes; there is room for eight bytes more than all codes give */
	unsigned unknown; /* has high bits once an unknown code was met */
	bool cut;         /* the codes end within an escape */
	uint32_t places[RUN_CODES + 1]; /* of codes, relative to the start of the run */
} Run;

/* Put a symbol at to; of an unknown code nothing. */
static inline uint8_t *
put_symbol(const LncFsst *fsst, uint8_t code, uint8_t *to, unsigned *unknown)
{
	unsigned length = fsst->length[code];

	memcpy(to, &fsst->symbol[code], FSST_SYMBOL_BYTES);
	*unknown |= length - 1;
	return to + length;
}

/* Decode the next of left codes, RUN_CODES at most; returns how many. note: note the places of codes. */
static inline __attribute__((always_inline)) uint64_t
decode_run(const LncFsst *fsst, const uint8_t *codes, uint64_t left, bool note, Run *run)
{
	/* What is written may be anywhere for all the compiler knows: these stay in registers. */
	uint8_t *start = run->to;
	uint8_t *to = start;
	unsigned unknown = run->unknown;
	uint32_t *places = run->places;
	uint64_t n = left < RUN_CODES ? left : RUN_CODES;
	uint64_t i = 0;

	while (i < n)
	{
		uint64_t stop;

		for (; n - i >= 8; i += 8)
		{
			uint64_t word = lnc_le64(codes + i);

			if (has_escape(word))
				break;
#pragma GCC unroll 8
			for (unsigned k = 0; k < 8; k++)
			{
				if (note)
					places[i + k] = (uint32_t)(to - start);
				to = put_symbol(fsst, (uint8_t)(word >> 8 * k), to, &unknown);
			}
		}
		for (stop = n - i < 8 ? n : i + 8; i < stop; i++)
		{
			if (note)
				places[i] = (uint32_t)(to - start);
			if (codes[i] != FSST_ESCAPE)
				to = put_symbol(fsst, codes[i], to, &unknown);
			else if (i + 1 < n)
			{
				*to++ = codes[++i];
				if (note)
					places[i] = NOWHERE;
			}
			else if (n < left)
			{
				/* It goes with the next run. */
				n = i;
				break;
			}
			else
				run->cut = true;
		}
	}
	if (note)
		places[n] = (uint32_t)(to - start);
	run->to = to;
	run->unknown = unknown;
	return n;
}

/* Decode values that are short; false when one ends within an escape. */
static bool
decode_short_values(const LncFsst *fsst, uint64_t count, const int64_t *offsets, const uint8_t *data, Run *run,
					int64_t *ends)
{
	uint8_t *text = run->to;
	uint64_t coded = (uint64_t)(offsets[count] - offsets[0]);
	uint64_t done = 0;
	uint64_t value = 0;
	bool broken = false;

	while (done < coded)
	{
		int64_t start = run->to - text;
		int64_t at = offsets[0] + (int64_t)done;
		uint64_t n = decode_run(fsst, data + at, coded - done, true, run);

		for (; value < count && (uint64_t)(offsets[value + 1] - at) <= n; value++)
		{
			uint32_t place = run->places[offsets[value + 1] - at];

			broken |= place == NOWHERE;
			ends[value + 1] = start + place;
		}
		done += n;
	}
	for (; value < count; value++)
		ends[value + 1] = run->to - text;
	return !broken && !run->cut;
}

/* Decode values each of which is a run of its own, or several. */
static bool
decode_long_values(const LncFsst *fsst, uint64_t count, const int64_t *offsets, const uint8_t *data, Run *run,
				   int64_t *ends)
{
	uint8_t *text = run->to;

	for (uint64_t value = 0; value < count; value++)
	{
		const uint8_t *at = data + offsets[value];
		uint64_t left = (uint64_t)(offsets[value + 1] - offsets[value]);

		while (left > 0)
		{
			uint64_t n = decode_run(fsst, at, left, false, run);

			at += n;
			left -= n;
		}
		ends[value + 1] = run->to - text;
	}
	return !run->cut;
}

LncCode
lnc_fsst_decode(LncContext *ctx, LncArena *arena, const LncFsst *fsst, uint64_t count, const int64_t *offsets,
				const uint8_t *data, const int64_t **out_offsets, const uint8_t **out_data)
{
	uint64_t coded = (uint64_t)(offsets[count] - offsets[0]);
	uint64_t room;
	uint8_t *text;
	int64_t *ends;
	bool whole;
	Run run; /* its places are only set as far as they are used */

	if (fsst->raw)
	{
		*out_offsets = offsets;
		*out_data = data;
		return LNC_OK;
	}
	if (coded > SIZE_MAX / 16 || count > SIZE_MAX / 16)
		return lnc_fail(ctx, LNC_LIMIT, "coded strings of %llu bytes are too long", (unsigned long long)coded);

	/* A code gives at most eight bytes; symbols are written whole, so eight more are kept behind the end. */
	room = coded <= FSST_UNMEASURED ? coded * FSST_SYMBOL_BYTES
									: decoded_size(fsst, data + offsets[0], data + offsets[count]);
	LNC_TRY(lnc_arena_alloc(ctx, arena, room + FSST_SYMBOL_BYTES, (void **)&text));
	LNC_TRY(lnc_arena_alloc(ctx, arena, (count + 1) * sizeof(*ends), (void **)&ends));
	run.to = text;
	run.unknown = 0;
	run.cut = false;
	ends[0] = 0;
	whole = coded / LONG_VALUE >= count ? decode_long_values(fsst, count, offsets, data, &run, ends)
										: decode_short_values(fsst, count, offsets, data, &run, ends);
	/* An unknown code has length 0, which less one has all bits. */
	LNC_REQUIRE(ctx, whole && run.unknown <= FSST_SYMBOL_BYTES,
				"a coded string has an unknown symbol or ends within an escape");
	*out_offsets = ends;
	*out_data = text;
	return LNC_OK;
}
