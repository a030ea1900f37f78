/*
 * unravel.c
 *	  The layers of a page from the leaf to the root, each of which turns slots into a level of the column tree.
 */
#include "encoding/unravel.h"

#include <string.h>

#include "encoding/check.h"

/* Where the walk over the layers is. */
typedef struct State
{
	uint64_t nslots;
	const uint16_t *rep; /* NULL: no list layer is left */
	const uint16_t *def; /* NULL: all 0 */
	uint16_t code;       /* codes of the layers passed */
	uint16_t
		visible; /* the highest code whose slots are entries of the present level; those above are placeholders */
	uint64_t nentries;
} State;

static bool
is_list(const LncType *type)
{
	return type->kind == LNC_TYPE_LIST || type->kind == LNC_TYPE_LARGE_LIST || type->kind == LNC_TYPE_MAP;
}

LncCode
lnc_unravel_check(LncContext *ctx, const LncLayers *layers, const LncField *const *path, int32_t npath)
{
	LNC_REQUIRE(ctx, layers->count == (uint32_t)npath, "a page has %u layers where its column has %d",
				layers->count, (int)npath);
	for (int32_t i = 1; i < npath; i++)
	{
		const LncType *type = &path[npath - 1 - i]->type;

		LNC_REQUIRE(ctx, lnc_layer_is_list(layers->kinds[i]) == is_list(type),
					"layer %d of a page is of kind %u, which does not suit field \"%s\"", (int)i, layers->kinds[i],
					path[npath - 1 - i]->name);
		LNC_REQUIRE(ctx, type->kind != LNC_TYPE_FIXED_LIST || type->list_size > 0,
					"a fixed-size list of %d structs", type->list_size);
	}
	return LNC_OK;
}

/* The definition levels of the present entries: those of the slots without the placeholders. */
static LncCode
entry_levels(LncContext *ctx, LncArena *scratch, const State *state, uint16_t max_def, const uint16_t **out)
{
	uint16_t *kept;
	uint64_t n = 0;

	*out = state->def;
	if (state->def != NULL && state->visible < max_def)
	{
		LNC_TRY(lnc_arena_alloc(ctx, scratch, (state->nslots + 1) * sizeof(*kept), (void **)&kept));
		for (uint64_t i = 0; i < state->nslots; i++)
		{
			kept[n] = state->def[i];
			n += state->def[i] <= state->visible;
		}
		*out = kept;
	}
	else
		n = state->nslots;
	LNC_REQUIRE(ctx, n == state->nentries, "levels tell of %llu values where there are %llu", (unsigned long long)n,
				(unsigned long long)state->nentries);
	return LNC_OK;
}

/* The validity of an item layer, whose code is passed. */
static LncCode
item_validity(LncContext *ctx, LncArena *arena, LncArena *scratch, const LncLayers *layers, uint8_t kind,
			  State *state, const uint8_t **validity)
{
	const uint16_t *def;

	*validity = NULL;
	LNC_TRY(entry_levels(ctx, scratch, state, layers->max_def, &def));
	if (kind != 3)
		return LNC_OK;
	if (def != NULL)
		LNC_TRY(lnc_levels_validity(ctx, arena, def, state->nentries, state->code, validity));
	state->code++;
	return LNC_OK;
}

/* The highest code above which slots are placeholders, above list layer number index: the items next to it count. */
static uint16_t
visible_above(const LncLayers *layers, uint32_t index, uint16_t upper)
{
	for (uint32_t i = index + 1; i < layers->count && !lnc_layer_is_list(layers->kinds[i]); i++)
		upper = (uint16_t)(upper + (layers->kinds[i] == 3 ? 1 : 0));
	return upper;
}

/* The slots at which lists begin; what list k holds reaches to starts[k + 1]. */
static LncCode
list_starts(LncContext *ctx, LncArena *scratch, const State *state, uint64_t *nstarts, uint64_t **out)
{
	uint64_t expected;
	uint64_t *starts;
	uint64_t n = 0;

	LNC_REQUIRE(ctx, state->rep != NULL || state->nslots == 0, "a page with lists has no repetition levels");
	expected = lnc_levels_count_above(state->rep, state->nslots, 0);
	LNC_TRY(lnc_arena_alloc(ctx, scratch, (expected + 1) * sizeof(*starts), (void **)&starts));
	/* No branch: which slots begin a list cannot be predicted. */
	for (uint64_t i = 0; i < state->nslots; i++)
	{
		starts[n] = i;
		n += state->rep[i] > 0;
	}
	starts[n] = state->nslots;
	LNC_REQUIRE(ctx, starts[0] == 0, "a value goes on with a list that has not begun");
	*nstarts = n;
	*out = starts;
	return LNC_OK;
}

/* Which lists are not NULL: those whose level is one that lists have, and not that of NULL. */
static LncCode
list_validity(LncContext *ctx, LncArena *arena, const uint16_t *def, uint64_t nstarts, uint64_t nlists,
			  uint16_t base, uint16_t null_code, uint16_t upper, uint16_t visible, const uint8_t **out)
{
	uint8_t *validity;
	uint64_t list = 0;

	LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size(nlists + 1), 1, (void **)&validity));
	for (uint64_t i = 0; i < nstarts; i++)
	{
		bool valid = (def[i] <= base) | ((def[i] != null_code) & (def[i] <= upper));

		/* The bit of a placeholder is that of the next list, which sets it if need be. */
		validity[list >> 3] =
			(uint8_t)(validity[list >> 3] | (unsigned)(valid & (def[i] <= visible)) << (list & 7));
		list += def[i] <= visible;
	}
	*out = validity;
	return LNC_OK;
}

/* A list layer: offsets and validity of column, and the slots of the next level. */
static LncCode
unravel_list(LncContext *ctx, LncArena *arena, LncArena *scratch, const LncLayers *layers, uint32_t index,
			 State *state, LncColumn *column)
{
	uint8_t kind = layers->kinds[index];
	uint16_t base = state->code;
	uint16_t upper = (uint16_t)(base + (kind == 6 ? 2 : kind == 2 ? 0 : 1));
	uint16_t null_code = kind == 4 || kind == 6 ? (uint16_t)(base + 1) : 0;
	uint16_t visible = visible_above(layers, index, upper);
	uint64_t nstarts;
	uint64_t nlists = 0;
	uint64_t nnulls = 0;
	int64_t nchildren = 0;
	bool stray = false;
	uint64_t *starts;
	uint16_t *rep;
	uint16_t *def = NULL;
	int64_t *offsets;

	LNC_TRY(list_starts(ctx, scratch, state, &nstarts, &starts));
	LNC_TRY(lnc_arena_alloc(ctx, scratch, (nstarts + 1) * sizeof(*rep), (void **)&rep));
	if (state->def != NULL)
		LNC_TRY(lnc_arena_alloc(ctx, scratch, (nstarts + 1) * sizeof(*def), (void **)&def));
	LNC_TRY(lnc_arena_alloc(ctx, arena, (nstarts + 1) * sizeof(*offsets), (void **)&offsets));
	for (uint64_t i = 0; i < nstarts; i++)
		rep[i] = (uint16_t)(state->rep[starts[i]] - 1);
	if (def == NULL)
	{
		/* Every list is there and has a value. */
		for (uint64_t i = 0; i <= nstarts; i++)
			offsets[i] = (int64_t)starts[i];
		nlists = nstarts;
		nchildren = (int64_t)state->nslots;
	}
	else
	{
		for (uint64_t i = 0; i < nstarts; i++)
		{
			uint16_t level = state->def[starts[i]];
			int64_t length = (int64_t)(starts[i + 1] - starts[i]);
			bool open = level <= base;

			def[i] = level;
			offsets[nlists] = nchildren;
			nlists += level <= visible;
			nnulls += (level > base) & (level <= visible) & ((level == null_code) | (level > upper));
			nchildren += open ? length : 0;
			stray |= !open & (length > 1);
		}
		offsets[nlists] = nchildren;
	}
	LNC_REQUIRE(ctx, !stray, "a value goes on with a list that has not begun");
	LNC_REQUIRE(ctx, (uint64_t)nchildren == state->nentries, "lists hold %lld values where there are %llu",
				(long long)nchildren, (unsigned long long)state->nentries);
	if (nnulls > 0)
		LNC_TRY(
			list_validity(ctx, arena, def, nstarts, nlists, base, null_code, upper, visible, &column->validity));
	column->offsets = offsets;
	*state =
		(State){.nslots = nstarts, .rep = rep, .def = def, .code = upper, .visible = visible, .nentries = nlists};
	return LNC_OK;
}

/*
 * Keep the first of each size entries, those of one fixed-size list, which share its
 * repetition level and code. Placeholders of lists around
 * it stand between fixed-size lists and are kept.
 */
static LncCode
unravel_fixed(LncContext *ctx, LncArena *scratch, int32_t size, State *state)
{
	uint64_t n = state->nentries / (uint64_t)size;
	uint64_t most = n + (state->nslots - state->nentries);
	uint64_t kept = 0;
	uint64_t place = 0; /* of the slot in its fixed-size list */
	uint16_t *def = NULL;
	uint16_t *rep = NULL;

	LNC_REQUIRE(ctx, n * (uint64_t)size == state->nentries && state->nslots >= state->nentries,
				"%llu structs are no fixed-size lists of %d", (unsigned long long)state->nentries, size);
	state->nentries = n;
	if (state->def != NULL)
		LNC_TRY(lnc_arena_alloc(ctx, scratch, (most + 1) * sizeof(*def), (void **)&def));
	if (state->rep != NULL)
		LNC_TRY(lnc_arena_alloc(ctx, scratch, (most + 1) * sizeof(*rep), (void **)&rep));
	for (uint64_t i = 0; (def != NULL || rep != NULL) && i < state->nslots; i++)
	{
		bool entry = def == NULL || state->def[i] <= state->visible;

		LNC_REQUIRE(ctx, place == 0 || (entry && (rep == NULL || state->rep[i] == rep[kept - 1])),
					"a list ends amid a fixed-size list of %d structs", size);
		if (place == 0)
		{
			LNC_REQUIRE(ctx, kept < most, "levels tell of more than %llu fixed-size lists", (unsigned long long)n);
			if (def != NULL)
				def[kept] = state->def[i];
			if (rep != NULL)
				rep[kept] = state->rep[i];
			kept++;
		}
		place = entry ? (place + 1) % (uint64_t)size : 0;
	}
	state->nslots = def != NULL || rep != NULL ? kept : n;
	state->def = def;
	state->rep = rep;
	return LNC_OK;
}

/* Hang child, which is of the field below, into column. */
static LncCode
attach_child(LncContext *ctx, LncArena *arena, LncColumn *column, const LncField *field, const LncColumn *child)
{
	const LncType *type = column->type;
	bool found = false;

	column->nchildren = type->nchildren;
	LNC_TRY(LNC_NEW(ctx, arena, &column->children, type->nchildren));
	for (int32_t i = 0; i < type->nchildren; i++)
		if (&type->children[i] == field)
		{
			column->children[i] = *child;
			found = true;
		}
		else
			column->children[i] = lnc_column_absent(&type->children[i].type, column->length);
	if (!found)
		return lnc_fail(ctx, LNC_INVALID, "field \"%s\" is no child", field->name);
	return LNC_OK;
}

LncCode
lnc_unravel_leaf(LncContext *ctx, LncArena *arena, LncArena *scratch, const LncLayers *layers,
				 const LncSlots *slots, const uint8_t **validity)
{
	State state = {
		.nslots = slots->nslots, .def = slots->def, .visible = layers->max_visible, .nentries = slots->nvalues};

	return item_validity(ctx, arena, scratch, layers, layers->kinds[0], &state, validity);
}

LncCode
lnc_unravel(LncContext *ctx, LncArena *arena, LncArena *scratch, const LncLayers *layers,
			const LncField *const *path, int32_t npath, const LncSlots *slots, const LncColumn *leaf,
			LncColumn *out)
{
	State state = {.nslots = slots->nslots,
				   .rep = slots->rep,
				   .def = slots->def,
				   .code = layers->kinds[0] == 3 ? 1 : 0,
				   .visible = layers->max_visible,
				   .nentries = (uint64_t)leaf->length};
	LncColumn child = *leaf;

	LNC_REQUIRE(ctx, slots->nvalues == (uint64_t)leaf->length, "%lld values for %llu slots",
				(long long)leaf->length, (unsigned long long)slots->nvalues);
	for (uint32_t i = 1; i < layers->count; i++)
	{
		const LncField *field = path[npath - 1 - (int32_t)i];
		LncColumn column = {.type = &field->type};

		LNC_TRY(lnc_check_interrupt(ctx));
		if (lnc_layer_is_list(layers->kinds[i]))
			LNC_TRY(unravel_list(ctx, arena, scratch, layers, i, &state, &column));
		else
		{
			if (field->type.kind == LNC_TYPE_FIXED_LIST)
				LNC_TRY(unravel_fixed(ctx, scratch, field->type.list_size, &state));
			LNC_TRY(item_validity(ctx, arena, scratch, layers, layers->kinds[i], &state, &column.validity));
		}
		column.length = (int64_t)state.nentries;
		LNC_TRY(attach_child(ctx, arena, &column, path[npath - (int32_t)i], &child));
		child = column;
	}
	*out = child;
	return LNC_OK;
}
