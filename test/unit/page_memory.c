/*
 * page_memory.c
 *	  A page whose buffers lie in memory. Reads give unaligned copies of just the bytes asked for.
 */
#include "page_memory.h"

static LncCode
memory_read(LncContext *ctx, const LncPageSource *source, LncArena *arena, size_t nranges,
			const LncPageRange *ranges, const uint8_t **outs)
{
	PageMemory *memory = source->state;

	for (size_t i = 0; i < nranges; i++)
	{
		void *copy;

		if (ranges[i].buffer >= source->nbuffers ||
			!lnc_range_ok(ranges[i].offset, ranges[i].length, source->sizes[ranges[i].buffer]))
			return lnc_fail(ctx, LNC_CORRUPT, "a range is outside of its buffer");
		LNC_TRY(lnc_arena_alloc(ctx, arena, ranges[i].length + 1, &copy));
		if (ranges[i].length > 0)
			memcpy((uint8_t *)copy + 1, memory->data[ranges[i].buffer] + ranges[i].offset, ranges[i].length);
		outs[i] = (const uint8_t *)copy + 1;
		memory->bytes_read += ranges[i].length;
	}
	return LNC_OK;
}

void
page_memory_init(PageMemory *memory)
{
	memset(memory, 0, sizeof(*memory));
	memory->source.sizes = memory->sizes;
	memory->source.read = memory_read;
	memory->source.state = memory;
}

void
page_memory_add(PageMemory *memory, const void *data, size_t size)
{
	memory->data[memory->source.nbuffers] = data;
	memory->sizes[memory->source.nbuffers++] = size;
}
