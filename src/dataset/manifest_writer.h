/*
 * manifest_writer.h
 *	  The bytes of a manifest's file.
 *
 *	u32 length, IndexSection message		only when there are indices
 *	u32 length, Transaction message			only when it is to stand in the manifest's file
 *	u32 length, Manifest message			at P; it states the positions of the two
 *	u64 P, u16 0, u16 2, "LANC"
 *
 * Source of the facts: format.md sections 2 and 14.
 */
#ifndef LNC_DATASET_MANIFEST_WRITER_H
#define LNC_DATASET_MANIFEST_WRITER_H

#include "base/arena.h"
#include "base/bytes.h"
#include "proto/table.pb-c.h"

/*
 * Encode into arena. indices and transaction are packed messages, NULL for none; the positions of sections in the message
 * are set to match, whatever they were. LNC_LIMIT: larger than a manifest can be.
 */
extern LncCode lnc_manifest_encode(LncContext *ctx, LncArena *arena, Lance__Table__Manifest *manifest,
								   const LncSlice *indices, const LncSlice *transaction,
								   LncSlice *out) LNC_MUST_CHECK;

#endif
