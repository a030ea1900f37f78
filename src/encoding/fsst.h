/*
 * fsst.h
 *	  Fast static symbol tables: strings as codes of one byte, each standing for up to eight bytes.
 *
 *	symbol table	u64 header: byte 0 number of symbols n, byte 1 terminator, byte 2 suffix limit, bit 24 "decode",
 *					upper four bytes 0x46535354; then n times 8 symbol bytes; then n length bytes (1 to 8)
 *	value			codes; 255 says that the next byte is literal
 *
 * Each value is coded alone. With the "decode" bit off, values are stored as they are.
 *
 * Source of the facts: format.md section 8.7.
 */
#ifndef LNC_ENCODING_FSST_H
#define LNC_ENCODING_FSST_H

#include "base/arena.h"
#include "base/bytes.h"

typedef struct LncFsst
{
	bool raw;            /* values are not coded */
	uint8_t length[256]; /* 0: no such code */
	uint64_t symbol[256];
} LncFsst;

/* Read a symbol table into *out. */
extern LncCode lnc_fsst_open(LncContext *ctx, LncSlice table, LncFsst *out) LNC_MUST_CHECK;

/*
 * Decode count values: offsets has count + 1 rising positions in data. The results are in arena, offsets from 0.
 */
extern LncCode lnc_fsst_decode(LncContext *ctx, LncArena *arena, const LncFsst *fsst, uint64_t count,
							   const int64_t *offsets, const uint8_t *data, const int64_t **out_offsets,
							   const uint8_t **out_data) LNC_MUST_CHECK;

#endif
