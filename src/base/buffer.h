/*
 * buffer.h
 *	  A growing run of bytes in an arena, with a maximum given at birth.
 */
#ifndef LNC_BASE_BUFFER_H
#define LNC_BASE_BUFFER_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"

typedef struct LncBuffer
{
	LncArena *arena; /* borrowed; holds the bytes */
	uint8_t *data;   /* NULL until the first byte */
	size_t size;
	size_t capacity;
	size_t max; /* size never exceeds it */
} LncBuffer;

/* Make an empty buffer in place. Nothing is allocated. */
extern void lnc_buffer_init(LncBuffer *buffer, LncArena *arena, size_t max);

/* Make room for more bytes after size. LNC_LIMIT when that passes the maximum. */
extern LncCode lnc_buffer_reserve(LncContext *ctx, LncBuffer *buffer, size_t more) LNC_MUST_CHECK;

/* Append a copy of size bytes. */
extern LncCode lnc_buffer_append(LncContext *ctx, LncBuffer *buffer, const void *data, size_t size) LNC_MUST_CHECK;

/* The bytes so far; valid until the next append. */
static inline LncSlice
lnc_buffer_slice(const LncBuffer *buffer)
{
	return (LncSlice){.data = buffer->data, .size = buffer->size};
}

#endif
