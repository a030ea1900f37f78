/*
 * unravel.h
 *	  From levels to nested columns: lists and structs around a leaf.
 *
 * Source of the facts: format.md section 8.2.
 */
#ifndef LNC_ENCODING_UNRAVEL_H
#define LNC_ENCODING_UNRAVEL_H

#include "encoding/levels.h"

/* LNC_CORRUPT unless the layers of a page suit the fields of path: a layer each, lists where the path has lists. */
extern LncCode lnc_unravel_check(LncContext *ctx, const LncLayers *layers, const LncField *const *path,
								 int32_t npath) LNC_MUST_CHECK;

/*
 * The validity of the leaf: bit per visible slot; NULL when none is NULL by its levels. Memory beside the result is
 * taken from scratch.
 */
extern LncCode lnc_unravel_leaf(LncContext *ctx, LncArena *arena, LncArena *scratch, const LncLayers *layers,
								const LncSlots *slots, const uint8_t **validity) LNC_MUST_CHECK;

/*
 * Build the spine: columns of path[npath - 2] up to path[0] around leaf, which has a value per visible slot. A slot's
 * first repetition is that of a row. Offsets, validity and children go to arena. LNC_CORRUPT when levels contradict each other.
 */
extern LncCode lnc_unravel(LncContext *ctx, LncArena *arena, LncArena *scratch, const LncLayers *layers,
						   const LncField *const *path, int32_t npath, const LncSlots *slots, const LncColumn *leaf,
						   LncColumn *out) LNC_MUST_CHECK;

#endif
