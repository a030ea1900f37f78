/*
 * buffer.c
 *	  A growing run of bytes in an arena.
 */
#include "base/buffer.h"

#include <string.h>

#define FIRST_CAPACITY 256

void
lnc_buffer_init(LncBuffer *buffer, LncArena *arena, size_t max)
{
	memset(buffer, 0, sizeof(*buffer));
	buffer->arena = arena;
	buffer->max = max;
}

LncCode
lnc_buffer_reserve(LncContext *ctx, LncBuffer *buffer, size_t more)
{
	size_t needed;
	size_t capacity = buffer->capacity;
	void *grown;

	if (lnc_add_overflow(buffer->size, more, &needed) || needed > buffer->max)
		return lnc_fail(ctx, LNC_LIMIT, "a buffer would pass its limit of %zu bytes", buffer->max);
	if (needed <= capacity)
		return LNC_OK;

	/* Doubling: the copies left behind in the arena never add up to more than the buffer itself. */
	if (capacity == 0)
		capacity = FIRST_CAPACITY;
	while (capacity < needed)
		capacity = capacity > buffer->max / 2 ? buffer->max : capacity * 2;
	LNC_TRY(lnc_arena_alloc(ctx, buffer->arena, capacity, &grown));
	if (buffer->size > 0)
		memcpy(grown, buffer->data, buffer->size);
	buffer->data = grown;
	buffer->capacity = capacity;
	return LNC_OK;
}

LncCode
lnc_buffer_append(LncContext *ctx, LncBuffer *buffer, const void *data, size_t size)
{
	LNC_TRY(lnc_buffer_reserve(ctx, buffer, size));
	if (size > 0)
		memcpy(buffer->data + buffer->size, data, size);
	buffer->size += size;
	return LNC_OK;
}
