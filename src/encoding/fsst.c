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

/* Bytes that the codes from at to end give; unknown codes and cut escapes count as nothing. */
static uint64_t
decoded_size(const LncFsst *fsst, const uint8_t *at, const uint8_t *end)
{
	uint64_t size = 0;

	while (at < end)
	{
		uint8_t code = *at++;

		size += fsst->length[code];
		if (code == FSST_ESCAPE && at < end)
		{
			size++;
			at++;
		}
	}
	return size;
}

LncCode
lnc_fsst_decode(LncContext *ctx, LncArena *arena, const LncFsst *fsst, uint64_t count, const int64_t *offsets,
				const uint8_t *data, const int64_t **out_offsets, const uint8_t **out_data)
{
	uint64_t coded = (uint64_t)(offsets[count] - offsets[0]);
	uint64_t room;
	uint8_t *text;
	uint8_t *to;
	int64_t *ends;
	void *memory;
	unsigned bad = 0;

	if (fsst->raw)
	{
		*out_offsets = offsets;
		*out_data = data;
		return LNC_OK;
	}
	if (coded > SIZE_MAX / 16 || count > SIZE_MAX / 16)
		return lnc_fail(ctx, LNC_LIMIT, "coded strings of %llu bytes are too long", (unsigned long long)coded);

	/* A code gives at most eight bytes; symbols are written whole, so eight more are kept behind the end. */
	room = coded * FSST_SYMBOL_BYTES;
	if (coded > FSST_UNMEASURED)
	{
		room = 0;
		for (uint64_t i = 0; i < count; i++)
			room += decoded_size(fsst, data + offsets[i], data + offsets[i + 1]);
	}
	LNC_TRY(lnc_arena_alloc(ctx, arena, room + FSST_SYMBOL_BYTES, &memory));
	text = to = memory;
	LNC_TRY(lnc_arena_alloc(ctx, arena, (count + 1) * sizeof(*ends), &memory));
	ends = memory;
	ends[0] = 0;
	for (uint64_t i = 0; i < count; i++)
	{
		const uint8_t *at = data + offsets[i];
		const uint8_t *end = data + offsets[i + 1];

		while (at < end)
		{
			uint8_t code = *at++;

			if (code != FSST_ESCAPE)
			{
				memcpy(to, &fsst->symbol[code], FSST_SYMBOL_BYTES);
				to += fsst->length[code];
				bad |= fsst->length[code] == 0;
			}
			else if (at < end)
				*to++ = *at++;
			else
				bad = 1;
		}
		ends[i + 1] = to - text;
	}
	LNC_REQUIRE(ctx, bad == 0, "a coded string has an unknown symbol or ends within an escape");
	*out_offsets = ends;
	*out_data = text;
	return LNC_OK;
}
