/*
 * byte_stream_split.h
 *	  Values stored as byte planes: byte j of value i of n is at j * n + i.
 *
 * Source of the facts: format.md section 8.5.
 */
#ifndef LNC_ENCODING_BYTE_STREAM_SPLIT_H
#define LNC_ENCODING_BYTE_STREAM_SPLIT_H

#include "base/arena.h"
#include "base/bytes.h"

/* Put count values of width (1 to 16) bytes together again, in arena. LNC_CORRUPT unless in has count * width bytes. */
extern LncCode lnc_byte_stream_split_decode(LncContext *ctx, LncArena *arena, uint32_t width, LncSlice in,
											uint64_t count, const uint8_t **out) LNC_MUST_CHECK;

#endif
