/*
 * miniblock.c
 *	  Mini-block pages: values in small chunks, each of which decodes alone.
 *
 *	page buffers	chunk table, chunk data, [dictionary], [repetition index]
 *	chunk table		a word a chunk, u16, or u32 for large chunks: upper bits: bytes / 8 - 1; lower four: log2 of the
 *					number of values, for the last chunk 0 or the same
 *	repetition index	only with lists: depth + 1 u64 a chunk: rows that end in it, slots of a row that goes on, …
 *	chunk			u16 number of levels, modulo 65536
 *					[u16 bytes of rep], [u16 bytes of def]
 *					u16 (large: u32) bytes of each value buffer
 *					padding to 8; then rep, def, the value buffers, each padded to 8
 *
 * Chunks lie back to back. With a dictionary, the values of the chunks are indices into it.
 *
 * Source of the facts: format.md section 8.3.
 */
#include <string.h>

#include "base/buffer.h"
#include "encoding/check.h"
#include "encoding/layout21.h"

#define CHUNK_ALIGN 8
#define CHUNK_MAX_VALUES ((uint64_t)1 << 15)

/* Levels of one read: runs justify any number of them. */
#define LEVELS_MAX_BYTES ((size_t)1 << 30)

/* The fixed-size list codec takes the most buffers: a bitmap a level and what is inside. */
#define CHUNK_MAX_BUFFERS (LNC_SHAPE_MAX_LISTS + 2)

enum
{
	BUFFER_TABLE,
	BUFFER_DATA,
	BUFFER_DICTIONARY
};

typedef struct MiniBlock
{
	const LncCodec *values;
	const LncCodec *stored; /* what chunks are decoded as: values, or what is coded inside */
	const LncFsst *fsst;    /* strings of chunks are coded by it; NULL: they are not */
	const LncCodec *def;    /* NULL: no definition levels */
	LncShape shape;         /* of the values as collected, or of the indices */
	bool large;             /* u32 sizes */

	uint64_t nchunks;
	uint64_t *byte_at;  /* array of nchunks + 1: where each chunk starts in the data buffer */
	uint64_t *value_at; /* array of nchunks + 1: its first value */

	/* With lists only. */
	const LncCodec *rep; /* NULL: no repetition levels */
	uint64_t *row_at;    /* array of nchunks + 1: the first row that starts in a chunk */
	bool *goes_on;       /* array of nchunks + 1: the chunk starts amid a row */

	bool has_dictionary;
	LncBlock dictionary; /* in the page's arena */

	/* The chunk decoded last. The last one of a call stays for the next, which mostly goes on inside it. */
	bool cached; /* it stays */
	uint64_t cached_chunk;
	LncBlock cached_values;
	uint64_t cached_nlevels;
	const uint16_t *cached_rep;
	const uint16_t *cached_def;
	LncArena *chunk_arena; /* owned: the chunk as decoded, and as stored if it stays */
} MiniBlock;

/* Cut the next size bytes off a chunk, and the padding behind them. */
static LncCode
take_part(LncContext *ctx, LncSlice chunk, uint64_t *at, uint64_t size, LncSlice *part)
{
	LNC_REQUIRE(ctx, lnc_range_ok(*at, size, chunk.size), "a chunk of %zu bytes is truncated", chunk.size);
	*part = (LncSlice){chunk.data + *at, (size_t)size};
	*at += size;
	*at = (*at + CHUNK_ALIGN - 1) & ~(uint64_t)(CHUNK_ALIGN - 1);
	return LNC_OK;
}

/* The levels of a chunk into the cache; stated is their number modulo 65536. */
static LncCode
decode_levels(LncContext *ctx, const LncPage21 *page, MiniBlock *mini, uint32_t stated, uint64_t nvalues,
			  LncSlice rep, LncSlice def)
{
	uint64_t nlevels = mini->rep == NULL ? nvalues : stated;
	uint64_t visible;
	bool known = false;

	mini->cached_rep = NULL;
	mini->cached_def = NULL;
	if (mini->rep != NULL)
		LNC_TRY(lnc_codec_block_count(ctx, mini->rep, page->general, mini->chunk_arena, rep, &known, &nlevels));
	if (mini->rep != NULL && mini->def != NULL && !known)
		LNC_TRY(lnc_codec_block_count(ctx, mini->def, page->general, mini->chunk_arena, def, &known, &nlevels));
	LNC_REQUIRE(ctx, (mini->rep == NULL && mini->def == NULL) || (nlevels & 0xFFFF) == stated,
				"a chunk of %llu values has %llu levels, said to be %u", (unsigned long long)nvalues,
				(unsigned long long)nlevels, stated);
	if (mini->rep != NULL)
		LNC_TRY(lnc_levels_decode(ctx, mini->rep, page->general, mini->chunk_arena, rep, nlevels,
								  page->layers.max_rep, &mini->cached_rep));
	if (mini->def != NULL)
		LNC_TRY(lnc_levels_decode(ctx, mini->def, page->general, mini->chunk_arena, def, nlevels,
								  page->layers.max_def, &mini->cached_def));
	mini->cached_nlevels = nlevels;
	visible = lnc_levels_count_visible(&page->layers, mini->cached_def, nlevels);
	LNC_REQUIRE(ctx, visible == nvalues, "a chunk of %llu values has levels of %llu", (unsigned long long)nvalues,
				(unsigned long long)visible);
	return LNC_OK;
}

/* Decode chunk number index into the cache. keep: it stays valid when the bytes of chunk are gone. */
static LncCode
decode_chunk(LncContext *ctx, const LncPage21 *page, MiniBlock *mini, uint64_t index, LncSlice chunk, bool keep)
{
	uint32_t nbuffers = mini->values->nbuffers;
	uint32_t size_bytes = mini->large ? 4 : 2;
	uint64_t nvalues = mini->value_at[index + 1] - mini->value_at[index];
	uint64_t at = 2 + (mini->rep != NULL ? 2 : 0) + (mini->def != NULL ? 2 : 0);
	LncSlice buffers[CHUNK_MAX_BUFFERS];
	LncSlice rep = {0};
	LncSlice def = {0};

	mini->cached = false;
	lnc_arena_reset(mini->chunk_arena);
	if (keep)
	{
		void *copy;

		/* What is decoded may borrow from it. */
		LNC_TRY(lnc_arena_alloc(ctx, mini->chunk_arena, chunk.size, &copy));
		memcpy(copy, chunk.data, chunk.size);
		chunk.data = copy;
	}
	LNC_REQUIRE(ctx, chunk.size >= at + (uint64_t)nbuffers * size_bytes, "a chunk of %zu bytes is truncated",
				chunk.size);
	if (mini->rep != NULL)
		rep.size = lnc_le16(chunk.data + 2);
	if (mini->def != NULL)
		def.size = lnc_le16(chunk.data + (mini->rep != NULL ? 4 : 2));
	for (uint32_t i = 0; i < nbuffers; i++)
		buffers[i].size = mini->large ? lnc_le32(chunk.data + at + i * 4) : lnc_le16(chunk.data + at + i * 2);
	at += (uint64_t)nbuffers * size_bytes;
	at = (at + CHUNK_ALIGN - 1) & ~(uint64_t)(CHUNK_ALIGN - 1);
	if (mini->rep != NULL)
		LNC_TRY(take_part(ctx, chunk, &at, rep.size, &rep));
	if (mini->def != NULL)
		LNC_TRY(take_part(ctx, chunk, &at, def.size, &def));
	LNC_TRY(decode_levels(ctx, page, mini, lnc_le16(chunk.data), nvalues, rep, def));
	for (uint32_t i = 0; i < nbuffers; i++)
		LNC_TRY(take_part(ctx, chunk, &at, buffers[i].size, &buffers[i]));
	LNC_TRY(lnc_codec_decode_chunk(ctx, mini->stored, page->general, mini->chunk_arena, nbuffers, buffers, nvalues,
								   &mini->cached_values));
	mini->cached_chunk = index;
	mini->cached = keep;
	return LNC_OK;
}

/* The last chunk with starts[chunk] <= value; value is below the last entry of the table. */
static uint64_t
find_chunk(const MiniBlock *mini, const uint64_t *starts, uint64_t value)
{
	uint64_t low = 0;
	uint64_t high = mini->nchunks;

	while (high - low > 1)
	{
		uint64_t middle = low + (high - low) / 2;

		if (starts[middle] <= value)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Add what the cached chunk has of values [first, first + count). */
static LncCode
take_from_cache(LncContext *ctx, const MiniBlock *mini, uint64_t first, uint64_t count, LncBlockBuilder *builder,
				uint16_t *def)
{
	uint64_t start = mini->value_at[mini->cached_chunk];
	uint64_t end = mini->value_at[mini->cached_chunk + 1];
	uint64_t from = first > start ? first : start;
	uint64_t to = first + count < end ? first + count : end;

	if (def != NULL)
		memcpy(def + (from - first), mini->cached_def + (from - start), (to - from) * sizeof(*def));
	return lnc_block_builder_append(ctx, builder, &mini->cached_values, from - start, to - from);
}

/* Neighbouring chunks up to last, whose bytes are read together once the first that is not cached is wanted. */
typedef struct ChunkRun
{
	uint64_t last;
	uint64_t kept; /* the chunk that stays decoded for the next call */
	uint64_t base; /* where raw begins in the data buffer */
	LncSlice raw;  /* in the page's scratch; no data: nothing is read yet */
} ChunkRun;

/* Have the chunk decoded in the cache, to be used before the next one. */
static LncCode
use_chunk(LncContext *ctx, LncPage21 *page, MiniBlock *mini, ChunkRun *run, uint64_t chunk)
{
	LncSlice part;

	if (mini->cached && mini->cached_chunk == chunk)
		return LNC_OK;
	LNC_TRY(lnc_check_interrupt(ctx));
	if (run->raw.data == NULL)
	{
		run->base = mini->byte_at[chunk];
		LNC_TRY(lnc_page21_read(ctx, page, page->scratch, BUFFER_DATA, run->base,
								mini->byte_at[run->last + 1] - run->base, &run->raw));
	}
	part.data = run->raw.data + (mini->byte_at[chunk] - run->base);
	part.size = (size_t)(mini->byte_at[chunk + 1] - mini->byte_at[chunk]);
	return decode_chunk(ctx, page, mini, chunk, part, chunk == run->kept);
}

/* Wide values are stored as they are: no room is made for more than chunks of so many bytes can hold. */
static LncCode
check_wide(LncContext *ctx, const MiniBlock *mini, uint64_t count, uint64_t bytes)
{
	uint64_t needed;

	if (mini->values->shape.variable || mini->values->kind == LNC_CODEC_GENERAL || mini->shape.bits <= 64)
		return LNC_OK;
	LNC_TRY(lnc_shape_bytes(ctx, &mini->shape, count, &needed));
	LNC_REQUIRE(ctx, mini->values->shape.bits == 0 || needed <= bytes,
				"chunks of %llu bytes hold %llu bytes of values", (unsigned long long)bytes,
				(unsigned long long)needed);
	return LNC_OK;
}

/* Values [first, first + count), count > 0, and their definition levels (def NULL: there are none). */
static LncCode
collect_values(LncContext *ctx, LncPage21 *page, MiniBlock *mini, LncArena *arena, uint64_t first, uint64_t count,
			   uint16_t *def, LncBlock *out)
{
	uint64_t chunk = find_chunk(mini, mini->value_at, first);
	uint64_t last = find_chunk(mini, mini->value_at, first + count - 1);
	uint64_t bytes = mini->byte_at[last + 1] - mini->byte_at[chunk];
	LncBlockBuilder builder;
	ChunkRun run = {.last = last, .kept = last};

	LNC_TRY(check_wide(ctx, mini, count, bytes));
	LNC_TRY(lnc_block_builder_init(ctx, arena, &mini->shape, count, bytes, &builder));
	for (; chunk <= last; chunk++)
	{
		LNC_TRY(use_chunk(ctx, page, mini, &run, chunk));
		LNC_TRY(take_from_cache(ctx, mini, first, count, &builder, def));
	}
	lnc_block_builder_finish(&builder, out);
	return LNC_OK;
}

/*
 * The last chunk that is read together with chunk, which has row number at of rows: up to gaps that are cheaper to leave
 * out.
 */
static uint64_t
last_together(const LncPage21 *page, const MiniBlock *mini, uint64_t first, uint64_t count, const int64_t *rows,
			  uint64_t at, uint64_t chunk)
{
	uint64_t last = chunk;

	for (; at < count; at++)
	{
		uint64_t value = first + (uint64_t)rows[at];

		while (mini->value_at[chunk + 1] <= value)
			chunk++;
		if (chunk > last && mini->byte_at[chunk] - mini->byte_at[last + 1] > page->source->gap)
			break;
		last = chunk;
	}
	return last;
}

/* Values first + rows[i], and their definition levels, as collect_values. Chunks that have none of them are left out. */
static LncCode
collect_some(LncContext *ctx, LncPage21 *page, MiniBlock *mini, LncArena *arena, uint64_t first, uint64_t count,
			 const int64_t *rows, uint16_t *def, LncBlock *out)
{
	uint64_t chunk = find_chunk(mini, mini->value_at, first + (uint64_t)rows[0]);
	uint64_t last = find_chunk(mini, mini->value_at, first + (uint64_t)rows[count - 1]);
	uint64_t bytes = mini->byte_at[last + 1] - mini->byte_at[chunk];
	uint64_t span = mini->value_at[last + 1] - mini->value_at[chunk];
	LncBlockBuilder builder;
	ChunkRun run = {.kept = last};
	uint64_t n;

	LNC_TRY(check_wide(ctx, mini, count, bytes));
	LNC_TRY(lnc_block_builder_init(ctx, arena, &mini->shape, count, bytes / span * count, &builder));
	for (uint64_t i = 0; i < count; i += n)
	{
		uint64_t value = first + (uint64_t)rows[i];

		if (i == 0 || value >= mini->value_at[chunk + 1])
		{
			while (value >= mini->value_at[chunk + 1])
				chunk++;
			if (i == 0 || chunk > run.last)
			{
				run.last = last_together(page, mini, first, count, rows, i, chunk);
				run.raw.data = NULL;
			}
			LNC_TRY(use_chunk(ctx, page, mini, &run, chunk));
		}
		for (n = 1; value + n < mini->value_at[chunk + 1] && i + n < count; n++)
			if (rows[i + n] != rows[i] + (int64_t)n)
				break;
		LNC_TRY(take_from_cache(ctx, mini, value, n, &builder, def == NULL ? NULL : def + i));
	}
	lnc_block_builder_finish(&builder, out);
	return LNC_OK;
}

/* Collected values as they are meant, in arena. */
static LncCode
finish_values(LncContext *ctx, const MiniBlock *mini, LncArena *arena, LncBlock *block)
{
	if (mini->fsst == NULL)
		return LNC_OK;
	return lnc_fsst_decode(ctx, arena, mini->fsst, block->count, block->offsets, block->data, &block->offsets,
						   &block->data);
}

/* ---- lists ---- */

/* What is collected of some rows: values, and the levels of their slots. */
typedef struct Rows
{
	LncBlockBuilder builder;
	LncBuffer rep;
	LncBuffer def;
	uint64_t wanted;  /* rows that have not ended */
	uint64_t skipped; /* rows to be passed over before the first wanted one starts */
	bool inside;      /* a wanted row has started and not ended */
} Rows;

/* Levels that are counted at once when a row is looked for. */
#define SEARCH_STEP 256

/*
 * The place of start number *ahead, from 0, among levels [from, end): a start is a level of starts. If there are fewer,
 * end, and *ahead becomes less by what there was.
 */
static uint64_t
find_start(const uint16_t *rep, uint64_t from, uint64_t end, uint16_t starts, uint64_t *ahead)
{
	for (; end - from >= SEARCH_STEP; from += SEARCH_STEP)
	{
		uint64_t n = lnc_levels_count_above(rep + from, SEARCH_STEP, (uint16_t)(starts - 1));

		if (n > *ahead)
			break;
		*ahead -= n;
	}
	for (; from < end; from++)
		if (rep[from] == starts && (*ahead)-- == 0)
			break;
	return from;
}

/* Take what the cached chunk has of the rows wanted. */
static LncCode
take_rows(LncContext *ctx, const LncPage21 *page, const MiniBlock *mini, Rows *rows)
{
	const uint16_t *rep = mini->cached_rep;
	const uint16_t *def = mini->cached_def;
	uint16_t starts = page->layers.max_rep;
	uint64_t from = 0;
	uint64_t to;
	uint64_t ends;
	uint64_t value;
	uint64_t nvalues;

	if (!rows->inside)
	{
		from = find_start(rep, 0, mini->cached_nlevels, starts, &rows->skipped);
		LNC_REQUIRE(ctx, from < mini->cached_nlevels, "a chunk has fewer rows than the repetition index tells");
		rows->inside = true;
		to = from + 1;
	}
	else
		to = 0;
	/* Each start ends a row; the last one that is wanted goes on where there is none. */
	ends = rows->wanted - 1;
	to = find_start(rep, to, mini->cached_nlevels, starts, &ends);
	rows->wanted = to < mini->cached_nlevels ? 0 : ends + 1;
	value = lnc_levels_count_visible(&page->layers, def, from);
	nvalues = lnc_levels_count_visible(&page->layers, def == NULL ? NULL : def + from, to - from);
	LNC_TRY(lnc_buffer_append(ctx, &rows->rep, rep + from, (to - from) * sizeof(*rep)));
	if (def != NULL)
		LNC_TRY(lnc_buffer_append(ctx, &rows->def, def + from, (to - from) * sizeof(*def)));
	return lnc_block_builder_append(ctx, &rows->builder, &mini->cached_values, value, nvalues);
}

/* The chunk in which the row before row, at least 1, ends. */
static uint64_t
find_end(const MiniBlock *mini, uint64_t row)
{
	uint64_t chunk;

	if (row == mini->row_at[mini->nchunks])
		return mini->nchunks - 1;
	chunk = find_chunk(mini, mini->row_at, row);
	return mini->row_at[chunk] == row && !mini->goes_on[chunk] ? chunk - 1 : chunk;
}

/* The slots of rows [first, first + count), count > 0, their values (or indices) in *values. */
static LncCode
collect_rows(LncContext *ctx, LncPage21 *page, MiniBlock *mini, LncArena *arena, LncArena *scratch, uint64_t first,
			 uint64_t count, LncSlots *slots, LncBlock *values)
{
	uint64_t chunk = find_chunk(mini, mini->row_at, first);
	uint64_t last = find_end(mini, first + count);
	uint64_t bytes = mini->byte_at[last + 1] - mini->byte_at[chunk];
	uint64_t capacity = mini->value_at[last + 1] - mini->value_at[chunk];
	Rows rows = {.wanted = count, .skipped = first - mini->row_at[chunk]};
	ChunkRun run = {.last = last, .kept = last};

	LNC_TRY(check_wide(ctx, mini, capacity, bytes));
	LNC_TRY(lnc_block_builder_init(ctx, arena, &mini->shape, capacity, bytes, &rows.builder));
	lnc_buffer_init(&rows.rep, scratch, LEVELS_MAX_BYTES);
	lnc_buffer_init(&rows.def, scratch, LEVELS_MAX_BYTES);
	for (; chunk <= last; chunk++)
	{
		LNC_TRY(use_chunk(ctx, page, mini, &run, chunk));
		LNC_TRY(take_rows(ctx, page, mini, &rows));
	}
	slots->nslots = rows.rep.size / sizeof(uint16_t);
	slots->rep = (const uint16_t *)(const void *)rows.rep.data;
	slots->def = mini->def == NULL ? NULL : (const uint16_t *)(const void *)rows.def.data;
	lnc_block_builder_finish(&rows.builder, values);
	return LNC_OK;
}

/* The definition levels of the slots that have a value. */
static LncCode
visible_levels(LncContext *ctx, const LncPage21 *page, LncArena *scratch, const LncSlots *slots,
			   const uint16_t **out)
{
	uint16_t *kept;
	uint64_t n = 0;

	*out = slots->def;
	if (slots->def == NULL || slots->nvalues == slots->nslots)
		return LNC_OK;
	LNC_TRY(lnc_arena_alloc(ctx, scratch, (slots->nslots + 1) * sizeof(*kept), (void **)&kept));
	for (uint64_t i = 0; i < slots->nslots; i++)
	{
		kept[n] = slots->def[i];
		n += slots->def[i] <= page->layers.max_visible;
	}
	*out = kept;
	return LNC_OK;
}

static LncCode
read_rows(LncContext *ctx, LncPage21 *page, LncArena *arena, LncArena *scratch, uint64_t first, uint64_t count,
		  LncSlots *out)
{
	MiniBlock *mini = page->layout;
	const uint16_t *def;
	LncBlockBuilder empty;
	LncBlock indices;

	if (count == 0)
	{
		LNC_TRY(lnc_block_builder_init(ctx, arena, mini->has_dictionary ? &mini->dictionary.shape : &mini->shape, 0,
									   0, &empty));
		lnc_block_builder_finish(&empty, &out->values);
		return LNC_OK;
	}
	if (!mini->has_dictionary)
	{
		LNC_TRY(collect_rows(ctx, page, mini, mini->fsst != NULL ? scratch : arena, scratch, first, count, out,
							 &out->values));
		out->nvalues = out->values.count;
		return finish_values(ctx, mini, arena, &out->values);
	}
	LNC_TRY(collect_rows(ctx, page, mini, scratch, scratch, first, count, out, &indices));
	out->nvalues = indices.count;
	LNC_TRY(visible_levels(ctx, page, scratch, out, &def));
	return lnc_block_gather(ctx, arena, &mini->dictionary, &indices, def, &out->values);
}

/* Read the repetition index into the first row of each chunk. */
static LncCode
open_index(LncContext *ctx, LncPage21 *page, MiniBlock *mini, uint32_t depth, uint32_t buffer)
{
	uint64_t entry = ((uint64_t)depth + 1) * sizeof(uint64_t);
	uint64_t rows = 0;
	uint64_t left = 0;
	uint64_t size;
	LncSlice index;

	LNC_REQUIRE(ctx, depth >= 1, "a page with lists has no repetition index");
	LNC_REQUIRE(ctx, page->source->nbuffers > buffer, "a page of %u buffers lacks the repetition index",
				page->source->nbuffers);
	size = page->source->sizes[buffer];
	LNC_REQUIRE(ctx, size % entry == 0 && size / entry == mini->nchunks,
				"a repetition index of %llu bytes does not suit %llu chunks", (unsigned long long)size,
				(unsigned long long)mini->nchunks);
	LNC_TRY(lnc_page21_read(ctx, page, page->scratch, buffer, 0, size, &index));
	LNC_TRY(LNC_NEW(ctx, page->arena, &mini->row_at, mini->nchunks + 1));
	LNC_TRY(LNC_NEW(ctx, page->arena, &mini->goes_on, mini->nchunks + 1));
	for (uint64_t i = 0; i < mini->nchunks; i++)
	{
		uint64_t ends = lnc_le64(index.data + i * entry);
		uint64_t leftover = lnc_le64(index.data + i * entry + sizeof(uint64_t));

		/* A row that started before ends here, or goes on to the next chunk. */
		LNC_REQUIRE(ctx, ends <= page->page.nrows && (left == 0 || ends > 0 || leftover > 0),
					"chunk %llu ends %llu rows of a page of %llu", (unsigned long long)i, (unsigned long long)ends,
					(unsigned long long)page->page.nrows);
		rows += ends + (leftover > 0) - (left > 0);
		LNC_REQUIRE(ctx, rows <= page->page.nrows,
					"the repetition index tells of more rows than a page of %llu has",
					(unsigned long long)page->page.nrows);
		left = leftover;
		mini->row_at[i + 1] = rows;
		mini->goes_on[i + 1] = left > 0;
	}
	if (page->whole)
		page->nstarts = rows;
	LNC_REQUIRE(ctx, rows == page->nstarts && left == 0,
				"the repetition index tells of %llu rows in a page of %llu", (unsigned long long)rows,
				(unsigned long long)page->page.nrows);
	return LNC_OK;
}

/* ---- no lists ---- */

/* Values that nobody looks at: empty or zero. */
static LncCode
make_blank(LncContext *ctx, LncArena *arena, const LncShape *shape, uint64_t count, LncBlock *out)
{
	uint64_t bytes;

	*out = (LncBlock){.shape = *shape, .count = count};
	if (shape->variable)
	{
		out->data = (const uint8_t *)"";
		return lnc_arena_calloc(ctx, arena, count + 1, sizeof(*out->offsets), (void **)&out->offsets);
	}
	LNC_TRY(lnc_shape_bytes(ctx, shape, count, &bytes));
	return lnc_arena_calloc(ctx, arena, bytes, 1, (void **)&out->items);
}

/* The values of count rows and their levels: of the chosen ones first + rows[i], or (rows NULL) of count from first on. */
static LncCode
read_values(LncContext *ctx, LncPage21 *page, LncArena *arena, LncArena *scratch, uint64_t first, uint64_t count,
			const int64_t *rows, LncSlots *out)
{
	MiniBlock *mini = page->layout;
	LncArena *collected = mini->fsst != NULL || mini->has_dictionary ? scratch : arena;
	const LncShape *shape = mini->has_dictionary ? &mini->dictionary.shape : &mini->shape;
	bool blank =
		page->page.nulls_only && page->blob == NULL && page->type->kind != LNC_TYPE_STRUCT && shape->nlists == 0;
	uint16_t *def = NULL;
	LncBlock values;

	out->nslots = count;
	out->nvalues = count;
	/* Where none is NULL, nothing has to be read. */
	if (blank && mini->def == NULL)
		return make_blank(ctx, arena, shape, count, &out->values);
	if (mini->def != NULL)
		LNC_TRY(lnc_arena_alloc(ctx, scratch, count * sizeof(*def), (void **)&def));
	out->def = def;
	if (rows != NULL)
		LNC_TRY(collect_some(ctx, page, mini, collected, first, count, rows, def, &values));
	else
		LNC_TRY(collect_values(ctx, page, mini, collected, first, count, def, &values));
	if (mini->has_dictionary)
		return lnc_block_gather(ctx, arena, &mini->dictionary, &values, def, &out->values);
	if (blank && mini->fsst != NULL)
		return make_blank(ctx, arena, shape, count, &out->values);
	out->values = values;
	return finish_values(ctx, mini, arena, &out->values);
}

static LncCode
read_slots(LncContext *ctx, LncPage21 *page, LncArena *arena, LncArena *scratch, uint64_t first, uint64_t count,
		   LncSlots *out)
{
	MiniBlock *mini = page->layout;
	LncBlockBuilder empty;

	if (count > 0)
		return read_values(ctx, page, arena, scratch, first, count, NULL, out);
	LNC_TRY(lnc_block_builder_init(ctx, arena, mini->has_dictionary ? &mini->dictionary.shape : &mini->shape, 0, 0,
								   &empty));
	lnc_block_builder_finish(&empty, &out->values);
	return LNC_OK;
}

static LncCode
read_some_slots(LncContext *ctx, LncPage21 *page, LncArena *arena, LncArena *scratch, uint64_t first,
				uint64_t count, const int64_t *rows, bool *done, LncSlots *out)
{
	*done = true;
	return read_values(ctx, page, arena, scratch, first, count, rows, out);
}

/* Read the chunk table into running sums of bytes and values. */
static LncCode
open_table(LncContext *ctx, LncPage21 *page, MiniBlock *mini, uint64_t nitems)
{
	uint32_t word_bytes = mini->large ? 4 : 2;
	uint64_t size = page->source->sizes[BUFFER_TABLE];
	uint64_t bytes = 0;
	uint64_t values = 0;
	LncSlice table;

	LNC_REQUIRE(ctx, size % word_bytes == 0, "a chunk table of %llu bytes", (unsigned long long)size);
	mini->nchunks = size / word_bytes;
	LNC_REQUIRE(ctx, nitems == 0 || mini->nchunks > 0, "a page of %llu values has no chunks",
				(unsigned long long)nitems);
	LNC_TRY(lnc_page21_read(ctx, page, page->scratch, BUFFER_TABLE, 0, size, &table));
	LNC_TRY(LNC_NEW(ctx, page->arena, &mini->byte_at, mini->nchunks + 1));
	LNC_TRY(LNC_NEW(ctx, page->arena, &mini->value_at, mini->nchunks + 1));
	for (uint64_t i = 0; i < mini->nchunks; i++)
	{
		uint32_t word = mini->large ? lnc_le32(table.data + i * 4) : lnc_le16(table.data + i * 2);
		uint32_t log = word & 15;
		uint64_t nvalues = (uint64_t)1 << log;

		if (i + 1 == mini->nchunks)
		{
			LNC_REQUIRE(ctx,
						values <= nitems && (log == 0 || nvalues == nitems - values) &&
							nitems - values <= CHUNK_MAX_VALUES,
						"the chunks of a page of %llu values hold %llu before the last", (unsigned long long)nitems,
						(unsigned long long)values);
			nvalues = nitems - values;
		}
		else
			LNC_REQUIRE(ctx, log > 0, "chunk %llu of %llu has no number of values", (unsigned long long)i,
						(unsigned long long)mini->nchunks);
		bytes += ((uint64_t)(word >> 4) + 1) * CHUNK_ALIGN;
		values += nvalues;
		mini->byte_at[i + 1] = bytes;
		mini->value_at[i + 1] = values;
	}
	LNC_REQUIRE(ctx, bytes <= page->source->sizes[BUFFER_DATA], "the chunks take %llu bytes of %llu",
				(unsigned long long)bytes, (unsigned long long)page->source->sizes[BUFFER_DATA]);
	return LNC_OK;
}

static LncCode
open_dictionary(LncContext *ctx, LncPage21 *page, MiniBlock *mini,
				const Lance__Encodings21__MiniBlockLayout *message)
{
	const LncCodec *codec;
	LncShape shape;
	LncSlice bytes;
	uint64_t nitems = message->num_dictionary_items;

	LNC_TRY(lnc_codec_open(ctx, page->arena, LNC_CODEC_BLOCK, message->dictionary, &codec));
	shape = codec->shape;
	LNC_TRY(lnc_shape_match(ctx, &shape, &page->shape));
	LNC_REQUIRE(ctx, nitems <= UINT32_MAX, "a dictionary of %llu items", (unsigned long long)nitems);
	LNC_TRY(lnc_page21_read(ctx, page, page->arena, BUFFER_DICTIONARY, 0, page->source->sizes[BUFFER_DICTIONARY],
							&bytes));
	LNC_TRY(lnc_codec_decode_block(ctx, codec, page->general, page->arena, bytes, nitems, &mini->dictionary));
	mini->dictionary.shape = shape;
	mini->has_dictionary = true;
	return LNC_OK;
}

LncCode
lnc_miniblock_open(LncContext *ctx, LncPage21 *page, const Lance__Encodings21__MiniBlockLayout *message)
{
	uint32_t nbuffers = message->dictionary != NULL ? 3 : 2;
	MiniBlock *mini;

	LNC_TRY(LNC_NEW(ctx, page->arena, &mini, 1));
	page->layout = mini;
	page->read = read_slots;
	page->read_some = read_some_slots;
	page->page.layout = "mini-block";
	mini->large = message->has_large_chunk;
	LNC_REQUIRE(ctx, page->source->nbuffers >= nbuffers, "a mini-block page has %u buffers, expected %u",
				page->source->nbuffers, nbuffers);
	LNC_REQUIRE(ctx, (message->rep_compression != NULL) == (page->layers.max_rep > 0),
				"a page of %u list layers has %s repetition levels", page->layers.max_rep,
				message->rep_compression != NULL ? "" : "no");
	LNC_REQUIRE(ctx, page->layers.max_rep > 0 || message->num_items == page->page.nrows,
				"a page of %llu rows has %llu values", (unsigned long long)page->page.nrows,
				(unsigned long long)message->num_items);

	LNC_TRY(lnc_codec_open(ctx, page->arena, LNC_CODEC_CHUNK, message->value_compression, &mini->values));
	page->codec = mini->values;
	mini->stored = mini->values;
	if (mini->values->kind == LNC_CODEC_FSST && !mini->values->fsst->raw && message->dictionary == NULL)
	{
		mini->stored = mini->values->values;
		mini->fsst = mini->values->fsst;
	}
	LNC_REQUIRE(ctx, message->num_buffers == mini->values->nbuffers && mini->values->nbuffers <= CHUNK_MAX_BUFFERS,
				"chunks have %llu buffers, their encoding takes %u", (unsigned long long)message->num_buffers,
				mini->values->nbuffers);
	mini->shape = mini->values->shape;
	if (message->dictionary == NULL)
		LNC_TRY(lnc_shape_match(ctx, &mini->shape, &page->shape));
	if (message->def_compression != NULL)
	{
		LNC_TRY(lnc_codec_open(ctx, page->arena, LNC_CODEC_BLOCK, message->def_compression, &mini->def));
		LNC_TRY(lnc_levels_check(ctx, mini->def));
	}

	if (message->rep_compression != NULL)
	{
		LNC_TRY(lnc_codec_open(ctx, page->arena, LNC_CODEC_BLOCK, message->rep_compression, &mini->rep));
		LNC_TRY(lnc_levels_check(ctx, mini->rep));
		page->read = read_rows;
		page->read_some = NULL;
	}

	LNC_TRY(lnc_arena_create_child(ctx, page->arena, &mini->chunk_arena));
	LNC_TRY(open_table(ctx, page, mini, message->num_items));
	if (message->dictionary != NULL)
		LNC_TRY(open_dictionary(ctx, page, mini, message));
	if (mini->rep != NULL)
		LNC_TRY(open_index(ctx, page, mini, message->repetition_index_depth, nbuffers));
	return LNC_OK;
}
