/*
 * blob21.h
 *	  Blobs in file versions 2.1 and 2.2: pages whose values describe where the bytes are.
 *
 *	blob layout		old blobs: pairs of position and size, one a row, in a layout of their own that knows no NULL. Where the
 *					size is 0, the value is empty if the position is 0; else it has no value, and the position holds its
 *					levels: repetition in bits 0 to 15, definition in bits 16 to 31, of the layers that the blob layout lists
 *	others			packed structs of all five parts (column/blob.h)
 *
 * Old blobs in lists cannot be told apart: a value that has bytes leaves no room for its repetition. Their pages are
 * refused, as writers make them nevertheless.
 *
 * Source of the facts: format.md section 9.
 */
#ifndef LNC_ENCODING_BLOB21_H
#define LNC_ENCODING_BLOB21_H

#include "encoding/levels.h"

/*
 * Make the slots of a page of blob layout out of a column of pairs: levels in scratch, which with no list is all they
 * need. LNC_CORRUPT: a definition above the highest of layers.
 */
extern LncCode lnc_blob21_slots(LncContext *ctx, LncArena *scratch, const LncLayers *layers, const LncColumn *pairs,
								LncSlots *out) LNC_MUST_CHECK;

#endif
