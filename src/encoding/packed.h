/*
 * packed.h
 *	  Packed structs: the fields of a row stored as one value.
 *
 *	fixed		the bytes of each field, one after the other
 *	variable	per field its bytes, or u32 or u64 length and so many bytes, which are a row again for a struct; a row that
 *				is NULL may be empty
 *
 * Source of the facts: format.md section 8.5.
 */
#ifndef LNC_ENCODING_PACKED_H
#define LNC_ENCODING_PACKED_H

#include "encoding/codec.h"

/*
 * Make a column of type, a struct, out of block, whose values are its rows. codec says how the values of varying
 * length are made up and is not used for fixed ones. validity is borrowed.
 */
extern LncCode lnc_packed_to_column(LncContext *ctx, LncArena *arena, LncGeneral *general, const LncCodec *codec,
									const LncBlock *block, const LncType *type, const uint8_t *validity,
									LncColumn *out) LNC_MUST_CHECK;

#endif
