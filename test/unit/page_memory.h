/*
 * page_memory.h
 *	  A page whose buffers lie in memory, for tests of page decoders.
 */
#ifndef LNC_TEST_PAGE_MEMORY_H
#define LNC_TEST_PAGE_MEMORY_H

#include "encoding/page.h"

#define PAGE_MEMORY_BUFFERS 4

typedef struct PageMemory
{
	LncPageSource source; /* points into this struct: do not copy */
	uint64_t sizes[PAGE_MEMORY_BUFFERS];
	const uint8_t *data[PAGE_MEMORY_BUFFERS];
	uint64_t bytes_read; /* by all calls of read so far */
} PageMemory;

/* A page of no buffers. */
extern void page_memory_init(PageMemory *memory);

/* Add a buffer; data is borrowed. */
extern void page_memory_add(PageMemory *memory, const void *data, size_t size);

#endif
