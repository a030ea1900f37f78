/*
 * general.h
 *	  Buffers compressed as a whole by LZ4 or Zstandard.
 *
 *	LZ4			u32 bytes of the result, one LZ4 block
 *	Zstandard	u64 bytes of the result, one frame; or a bare frame: the buffer starts with the magic number 28 B5 2F FD
 *				and bit 4 of the byte after it is 0, or is shorter than 8 bytes
 *
 * An empty buffer is the empty result.
 *
 * Source of the facts: format.md section 8.8.
 */
#ifndef LNC_ENCODING_GENERAL_H
#define LNC_ENCODING_GENERAL_H

#include "base/arena.h"
#include "base/bytes.h"

typedef enum LncGeneralScheme
{
	LNC_GENERAL_LZ4 = 1,
	LNC_GENERAL_ZSTD = 2
} LncGeneralScheme;

/* No result may be longer (LNC_LIMIT), nor longer than the input can justify (LNC_CORRUPT). */
#define LNC_GENERAL_MAX_BYTES (UINT64_C(1) << 30)

/* The state that decompression keeps between calls; freed with its arena. */
typedef struct LncGeneral LncGeneral;

extern LncCode lnc_general_create(LncContext *ctx, LncArena *arena, LncGeneral **out) LNC_MUST_CHECK;

/* How many bytes in gives, as it states, or counted where a bare frame does not say. */
extern LncCode lnc_general_size(LncContext *ctx, LncGeneral *general, LncGeneralScheme scheme, LncSlice in,
								uint64_t *size) LNC_MUST_CHECK;

/* Decompress in, which gives exactly size bytes (of lnc_general_size), into out. */
extern LncCode lnc_general_decode_into(LncContext *ctx, LncGeneral *general, LncGeneralScheme scheme, LncSlice in,
									   uint8_t *out, uint64_t size) LNC_MUST_CHECK;

/* Both steps, the result in arena. */
extern LncCode lnc_general_decode(LncContext *ctx, LncGeneral *general, LncArena *arena, LncGeneralScheme scheme,
								  LncSlice in, LncSlice *out) LNC_MUST_CHECK;

#endif
