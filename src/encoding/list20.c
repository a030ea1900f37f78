/*
 * list20.c
 *	  Pages of lists of file version 2.0: opening, and from ends of lists to offsets and validity.
 */
#include "encoding/list20.h"

#include <inttypes.h>

#include "base/bitmap.h"
#include "encoding/page20.h"
#include "proto/encodings20.pb-c.h"
#include "proto/unpack.h"

struct LncList20
{
	LncPage20 page; /* its root: the ends */
	uint64_t nlists;
	uint64_t nitems;
	uint64_t null_adjustment;
};

static const LncType end_type = {.kind = LNC_TYPE_UINT64, .logical = "uint64"};

/* The list message of a page. */
static LncCode
unpack_list(LncContext *ctx, LncArena *arena, LncSlice encoding, const Lance__Encodings20__List **out)
{
	ProtobufCMessage *message;
	const Lance__Encodings20__ArrayEncoding *array;

	LNC_TRY(lnc_proto_unpack(ctx, arena, &lance__encodings20__array_encoding__descriptor, encoding, "page encoding",
							 &message));
	array = (const Lance__Encodings20__ArrayEncoding *)message;
	if (array->array_encoding_case != LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_LIST)
		return lnc_fail(ctx, LNC_CORRUPT, "a page of a column of lists does not have list encoding");
	if (array->list->num_items > INT64_MAX)
		return lnc_fail(ctx, LNC_CORRUPT, "a page of lists states too many items");
	*out = array->list;
	return LNC_OK;
}

LncCode
lnc_list20_count(LncContext *ctx, LncArena *arena, LncSlice encoding, uint64_t *nitems)
{
	const Lance__Encodings20__List *message;

	LNC_TRY(unpack_list(ctx, arena, encoding, &message));
	*nitems = message->num_items;
	return LNC_OK;
}

LncCode
lnc_list20_open(LncContext *ctx, LncArena *arena, const LncPageSpec *spec, LncList20 **out)
{
	const Lance__Encodings20__List *message;
	LncList20 *list;

	if (spec->nrows > INT64_MAX)
		return lnc_fail(ctx, LNC_CORRUPT, "the page holds too many rows");
	LNC_TRY(unpack_list(ctx, arena, spec->encoding, &message));
	LNC_TRY(LNC_NEW(ctx, arena, &list, 1));
	list->page.arena = arena;
	list->page.source = spec->source;
	list->nlists = spec->nrows;
	list->nitems = message->num_items;
	list->null_adjustment = message->null_offset_adjustment;
	/* The end of the last list must not be taken for a NULL. */
	if (list->nlists > 0 && list->null_adjustment <= list->nitems)
		return lnc_fail(ctx, LNC_CORRUPT, "a page of lists with %" PRIu64 " items marks NULL by adding %" PRIu64,
						list->nitems, list->null_adjustment);
	LNC_TRY(lnc_node20_open(ctx, &list->page, message->offsets, &end_type, list->nlists, &list->page.root));
	*out = list;
	return LNC_OK;
}

LncCode
lnc_list20_read(LncContext *ctx, LncList20 *list, LncArena *arena, uint64_t first, uint64_t count, LncLists20 *out)
{
	uint64_t before = first > 0 ? 1 : 0; /* the end of the list before is where the first one begins */
	uint64_t start = 0;
	uint64_t previous;
	bool any_null = false;
	LncColumn column;
	const uint64_t *ends;
	int64_t *offsets;
	uint8_t *validity;

	if (!lnc_range_ok(first, count, list->nlists))
		return lnc_fail(ctx, LNC_CORRUPT,
						"rows %" PRIu64 " to %" PRIu64 " are not inside the page of %" PRIu64 " rows", first,
						first + count, list->nlists);
	LNC_TRY(lnc_node20_decode(ctx, &list->page, list->page.root, arena, first - before, count + before, &column));
	if (column.validity != NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "the end of a list is NULL");
	ends = column.values;
	LNC_TRY(lnc_arena_calloc(ctx, arena, (size_t)count + 1, sizeof(*offsets), (void **)&offsets));
	LNC_TRY(lnc_arena_calloc(ctx, arena, lnc_bitmap_size(count), 1, (void **)&validity));
	if (before != 0)
	{
		start = ends[0] >= list->null_adjustment ? ends[0] - list->null_adjustment : ends[0];
		if (start > list->nitems)
			return lnc_fail(ctx, LNC_CORRUPT, "list %" PRIu64 " ends at item %" PRIu64 " of %" PRIu64, first - 1,
							start, list->nitems);
		ends++;
	}
	previous = start;
	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t end = ends[i];

		if (end >= list->null_adjustment)
		{
			end -= list->null_adjustment;
			any_null = true;
		}
		else
			lnc_bit_set(validity, i);
		if (end < previous || end > list->nitems)
			return lnc_fail(ctx, LNC_CORRUPT,
							"list %" PRIu64 " begins at item %" PRIu64 " and ends at item %" PRIu64 " of %" PRIu64,
							first + i, previous, end, list->nitems);
		previous = end;
		offsets[i + 1] = (int64_t)(end - start);
	}
	out->validity = any_null ? validity : NULL;
	out->offsets = offsets;
	out->first_item = start;
	return LNC_OK;
}
