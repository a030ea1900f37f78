/*
 * levels.h
 *	  Definition and repetition levels: the layers of a page, decoding of levels, validity from levels.
 *
 *	layer	meaning						definition codes it takes, numbered from 1, leaf first
 *	1		item, never NULL			none
 *	2		list, never NULL or empty	none
 *	3		item, may be NULL			1
 *	4		list, may be NULL			1
 *	5		list, may be empty			1
 *	6		list, may be either			2: NULL, then empty
 *
 * A level is a u16 per slot. Definition 0 means that the value is there. A slot has a value (a filler for NULL) if its
 * definition is at most max_visible, the codes of the layers below the first list. The number of list layers is the
 * highest repetition; it starts a row.
 *
 * Source of the facts: format.md sections 8.1 and 8.2.
 */
#ifndef LNC_ENCODING_LEVELS_H
#define LNC_ENCODING_LEVELS_H

#include "encoding/codec.h"

/* Layers beyond this are refused (LNC_LIMIT). */
#define LNC_LAYERS_MAX 64

typedef struct LncLayers
{
	uint32_t count;
	uint8_t kinds[LNC_LAYERS_MAX]; /* 1 to 6, leaf first */
	uint16_t max_rep;              /* number of list layers */
	uint16_t max_def;              /* highest definition code */
	uint16_t max_visible;          /* highest definition code of a slot with a value */
} LncLayers;

/* Check the layers of a page. */
extern LncCode lnc_layers_open(LncContext *ctx, size_t count, const Lance__Encodings21__RepDefLayer *kinds,
							   LncLayers *out) LNC_MUST_CHECK;

/*
 * The slots of some rows: levels as far as they are stored, and the values of the visible slots in order.
 * Without lists there is one slot, and one value, a row.
 */
typedef struct LncSlots
{
	uint64_t nslots;
	uint64_t nvalues;    /* visible slots */
	const uint16_t *rep; /* NULL: every slot is a row */
	const uint16_t *def; /* NULL: all 0 */
	bool all_null;       /* no values are stored: every visible slot is NULL */
	LncBlock values;
} LncSlots;

/* Check that a codec yields levels: plain integers of 16 bits. */
extern LncCode lnc_levels_check(LncContext *ctx, const LncCodec *codec) LNC_MUST_CHECK;

/*
 * Decode count levels of a buffer in block form; codec NULL: raw u16. *out is aligned, in arena or in the buffer; no
 * level is above limit (LNC_CORRUPT).
 */
extern LncCode lnc_levels_decode(LncContext *ctx, const LncCodec *codec, LncGeneral *general, LncArena *arena,
								 LncSlice in, uint64_t count, uint16_t limit, const uint16_t **out) LNC_MUST_CHECK;

/* Whether any of count levels is above limit, and how many are. */
extern bool lnc_levels_any_above(const uint16_t *levels, uint64_t count, uint16_t limit);
extern uint64_t lnc_levels_count_above(const uint16_t *levels, uint64_t count, uint16_t limit);

/* Count the slots that have a value; def NULL: all of them. */
extern uint64_t lnc_levels_count_visible(const LncLayers *layers, const uint16_t *def, uint64_t count);

/* Bit i of *out is set iff def[i], a level of a page, is at most limit. *out is NULL when every bit would be. */
extern LncCode lnc_levels_validity(LncContext *ctx, LncArena *arena, const uint16_t *def, uint64_t count,
								   uint16_t limit, const uint8_t **out) LNC_MUST_CHECK;

static inline bool
lnc_layer_is_list(uint8_t kind)
{
	return kind == 2 || kind >= 4;
}

#endif
