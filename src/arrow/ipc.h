/*
 * ipc.h
 *	  Arrow IPC files and streams of flat columns, read into batches.
 *
 * Buffers may be compressed by zstd or LZ4. Nested, dictionary and view types are not read.
 */
#ifndef LNC_ARROW_IPC_H
#define LNC_ARROW_IPC_H

#include "base/arena.h"
#include "base/bytes.h"
#include "column/column.h"

/*
 * Read all record batches of bytes, a file ("ARROW1" at both ends) or a stream. Schema and batches live in arena and do
 * not borrow from bytes. max_bytes bounds the sum of all buffers, decompressed (LNC_LIMIT beyond). LNC_CORRUPT: not
 * Arrow IPC, or damaged; LNC_UNSUPPORTED: a type, byte order or codec that is not read.
 */
extern LncCode lnc_ipc_read(LncContext *ctx, LncArena *arena, LncSlice bytes, uint64_t max_bytes, LncSchema *schema,
							size_t *nbatches, LncBatch **batches) LNC_MUST_CHECK;

#endif
