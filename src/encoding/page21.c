/*
 * page21.c
 *	  Pages of file versions 2.1 and 2.2: the layout message, and from slots to the leaf and its spine.
 */
#include "column/blob.h"
#include "encoding/blob21.h"
#include "encoding/check.h"
#include "encoding/layout21.h"
#include "encoding/packed.h"
#include "encoding/unravel.h"
#include "proto/unpack.h"

LncCode
lnc_page21_read(LncContext *ctx, const LncPage21 *page, LncArena *arena, uint32_t buffer, uint64_t offset,
				uint64_t length, LncSlice *out)
{
	LncPageRange range = {.buffer = buffer, .offset = offset, .length = length};
	const uint8_t *bytes;

	LNC_REQUIRE(ctx, buffer < page->source->nbuffers, "a page of %u buffers lacks buffer %u",
				page->source->nbuffers, buffer);
	LNC_REQUIRE(ctx, lnc_range_ok(offset, length, page->source->sizes[buffer]),
				"%llu bytes at %llu are not inside buffer %u of %llu bytes", (unsigned long long)length,
				(unsigned long long)offset, buffer, (unsigned long long)page->source->sizes[buffer]);
	LNC_TRY(page->source->read(ctx, page->source, arena, 1, &range, &bytes));
	out->data = bytes;
	out->size = (size_t)length;
	return LNC_OK;
}

/* The leaf's column from its slots: a value per visible one. */
static LncCode
make_leaf(LncContext *ctx, const LncPage21 *page, LncArena *arena, const LncSlots *slots, LncColumn *out)
{
	const uint8_t *validity = NULL;

	LNC_REQUIRE(ctx, slots->nvalues <= INT64_MAX / 2 && (slots->all_null || slots->values.count == slots->nvalues),
				"a page gives %llu values for %llu slots", (unsigned long long)slots->values.count,
				(unsigned long long)slots->nvalues);
	if (page->type->kind == LNC_TYPE_STRUCT && page->type->nchildren == 0)
	{
		/* A struct without fields is stored like NULLs and is none. */
		*out = (LncColumn){.type = page->type, .length = (int64_t)slots->nvalues};
		return LNC_OK;
	}
	if (slots->all_null)
		return lnc_column_nulls(ctx, arena, page->type, (int64_t)slots->nvalues, out);
	LNC_TRY(lnc_unravel_leaf(ctx, arena, page->scratch, &page->layers, slots, &validity));
	if (page->type->kind == LNC_TYPE_STRUCT)
		return lnc_packed_to_column(ctx, arena, page->general, page->codec, &slots->values, page->type, validity,
									out);
	return lnc_block_to_column(ctx, arena, &slots->values, page->type, validity, out);
}

/* What the leaf describes instead of what it holds; blob layout: the levels come out of it, too. */
static LncCode
make_blobs(LncContext *ctx, const LncPage21 *page, LncArena *arena, LncSlots *slots, LncColumn *leaf)
{
	const uint8_t *validity;
	LncColumn pairs = *leaf;

	if (page->smuggled == NULL)
	{
		*leaf = lnc_blob_from_struct(page->blob, &pairs);
		return LNC_OK;
	}
	LNC_REQUIRE(ctx, pairs.validity == NULL, "the place of a blob is NULL");
	LNC_TRY(lnc_blob21_slots(ctx, page->scratch, page->smuggled, &pairs, slots));
	LNC_TRY(lnc_unravel_leaf(ctx, arena, page->scratch, page->smuggled, slots, &validity));
	return lnc_blob_column(ctx, arena, page->blob, (uint64_t)pairs.length, validity, pairs.children[0].values,
						   pairs.children[1].values, leaf);
}

/* From slots to the spine. */
static LncCode
make_spine(LncContext *ctx, const LncPage21 *page, LncArena *arena, LncSlots *slots, LncColumn *out)
{
	LncColumn leaf;

	LNC_TRY(make_leaf(ctx, page, arena, slots, &leaf));
	if (page->blob != NULL)
		LNC_TRY(make_blobs(ctx, page, arena, slots, &leaf));
	return lnc_unravel(ctx, arena, page->scratch, page->smuggled != NULL ? page->smuggled : &page->layers,
					   page->path, page->npath, slots, &leaf, out);
}

/* Decode rows [first, first + count), as page->read counts them, into the spine. */
static LncCode
decode_rows(LncContext *ctx, LncPage21 *page, LncArena *arena, uint64_t first, uint64_t count, LncColumn *out)
{
	LncSlots slots = {0};

	LNC_TRY(page->read(ctx, page, arena, page->scratch, first, count, &slots));
	return make_spine(ctx, page, arena, &slots, out);
}

static LncCode
decode_part(LncContext *ctx, LncPage21 *page, LncArena *arena, uint64_t first, uint64_t count, LncColumn *out)
{
	const LncPage *base = &page->page;
	uint64_t scale = 1;

	LNC_REQUIRE(ctx, lnc_range_ok(first, count, base->nrows) && count <= INT64_MAX / 2,
				"rows %llu to %llu are not in a page of %llu rows", (unsigned long long)first,
				(unsigned long long)(first + count), (unsigned long long)base->nrows);
	LNC_TRY(lnc_check_interrupt(ctx));

	/* A row of the page is a struct of a fixed-size list of structs, if there is one. The reader of the column checks
	 * that the product does not overflow. */
	for (int32_t i = 0; i + 1 < page->npath; i++)
		if (page->path[i]->type.kind == LNC_TYPE_FIXED_LIST)
			scale *= (uint64_t)page->path[i]->type.list_size;
	if (!page->whole)
	{
		LNC_TRY(decode_rows(ctx, page, arena, first, count, out));
		LNC_REQUIRE(ctx, (uint64_t)out->length == count / scale, "levels tell of %lld rows where there are %llu",
					(long long)out->length, (unsigned long long)(count / scale));
		return LNC_OK;
	}
	if (page->kept == NULL)
	{
		LncColumn *all;

		LNC_TRY(LNC_NEW(ctx, page->arena, &all, 1));
		LNC_TRY(decode_rows(ctx, page, page->arena, 0, page->nstarts, all));
		LNC_REQUIRE(ctx, (uint64_t)all->length == base->nrows / scale,
					"levels tell of %lld rows where there are %llu", (long long)all->length,
					(unsigned long long)(base->nrows / scale));
		page->kept = all;
	}
	return lnc_column_slice(ctx, arena, page->kept, (int64_t)(first / scale), (int64_t)(count / scale), out);
}

/*
 * A list with a fixed-size list of structs below it, at any depth. The first structs of a row all begin it by their
 * repetition, and an empty list has one slot only: rows cannot be told apart before the levels are walked.
 */
static bool
has_fixed_in_list(const LncPage21 *page)
{
	bool in_list = false;

	for (int32_t i = 0; i + 1 < page->npath; i++)
	{
		LncTypeKind kind = page->path[i]->type.kind;

		if (kind == LNC_TYPE_FIXED_LIST && in_list)
			return true;
		in_list = in_list || kind == LNC_TYPE_LIST || kind == LNC_TYPE_LARGE_LIST || kind == LNC_TYPE_MAP;
	}
	return false;
}

static LncCode
page21_decode(LncContext *ctx, LncPage *base, LncArena *arena, uint64_t first, uint64_t count, LncColumn *out)
{
	LncPage21 *page = base->state;
	LncCode code = decode_part(ctx, page, arena, first, count, out);

	/* Nothing stays in it: a page that waits for the next batch must not use up the limit of others. */
	lnc_arena_reset(page->scratch);
	return code;
}

static LncCode
decode_chosen(LncContext *ctx, LncPage21 *page, LncArena *arena, uint64_t first, uint64_t count,
			  const int64_t *rows, bool *done, LncColumn *out)
{
	LncSlots slots = {0};

	LNC_REQUIRE(ctx, lnc_range_ok(first, (uint64_t)rows[count - 1] + 1, page->page.nrows),
				"row %llu is not in a page of %llu rows",
				(unsigned long long)first + (unsigned long long)rows[count - 1],
				(unsigned long long)page->page.nrows);
	LNC_TRY(lnc_check_interrupt(ctx));
	LNC_TRY(page->read_some(ctx, page, arena, page->scratch, first, count, rows, done, &slots));
	if (!*done)
		return LNC_OK;
	LNC_TRY(make_spine(ctx, page, arena, &slots, out));
	LNC_REQUIRE(ctx, (uint64_t)out->length == count, "levels tell of %lld rows where there are %llu",
				(long long)out->length, (unsigned long long)count);
	return LNC_OK;
}

/* LncPage.decode_some */
static LncCode
page21_decode_some(LncContext *ctx, LncPage *base, LncArena *arena, uint64_t first, uint64_t count,
				   const int64_t *rows, bool *done, LncColumn *out)
{
	LncPage21 *page = base->state;
	LncCode code = decode_chosen(ctx, page, arena, first, count, rows, done, out);

	lnc_arena_reset(page->scratch);
	return code;
}

static LncCode
open_layers(LncContext *ctx, LncPage21 *page, size_t count, const Lance__Encodings21__RepDefLayer *kinds)
{
	LNC_TRY(lnc_layers_open(ctx, count, kinds, &page->layers));
	return lnc_unravel_check(ctx, &page->layers, page->path, page->smuggled != NULL ? 1 : page->npath);
}

/* The layers around the inner layout's values; *inner: that layout. */
static LncCode
open_blob_layout(LncContext *ctx, LncPage21 *page, const Lance__Encodings21__BlobLayout *message,
				 const Lance__Encodings21__PageLayout **inner)
{
	LncLayers *layers;

	LNC_REQUIRE(ctx,
				message->inner_layout != NULL &&
					message->inner_layout->layout_case != LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_BLOB_LAYOUT,
				"a blob layout has no layout of values inside");
	LNC_TRY(LNC_NEW(ctx, page->arena, &layers, 1));
	LNC_TRY(lnc_layers_open(ctx, message->n_layers, message->layers, layers));
	LNC_TRY(lnc_unravel_check(ctx, layers, page->path, page->npath));
	if (layers->max_rep > 0)
		return lnc_fail(ctx, LNC_UNSUPPORTED,
						"old blobs in lists are not read, since the file does not tell where the lists begin");
	page->smuggled = layers;
	*inner = message->inner_layout;
	return LNC_OK;
}

static LncCode
open_layout(LncContext *ctx, LncPage21 *page, const Lance__Encodings21__PageLayout *message)
{
	switch (message->layout_case)
	{
		case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_MINI_BLOCK_LAYOUT:
			LNC_REQUIRE(ctx, !lnc_page21_is_bare(page), "a page of a type without values has some");
			LNC_TRY(
				open_layers(ctx, page, message->mini_block_layout->n_layers, message->mini_block_layout->layers));
			return lnc_miniblock_open(ctx, page, message->mini_block_layout);
		case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_FULL_ZIP_LAYOUT:
			LNC_REQUIRE(ctx, !lnc_page21_is_bare(page), "a page of a type without values has some");
			LNC_TRY(open_layers(ctx, page, message->full_zip_layout->n_layers, message->full_zip_layout->layers));
			return lnc_fullzip_open(ctx, page, message->full_zip_layout);
		case LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_CONSTANT_LAYOUT:
			LNC_TRY(open_layers(ctx, page, message->constant_layout->n_layers, message->constant_layout->layers));
			return lnc_constant_open(ctx, page, message->constant_layout);
		default:
			return lnc_fail(ctx, LNC_UNSUPPORTED, "an unknown page layout is not read");
	}
}

LncCode
lnc_page21_open(LncContext *ctx, LncArena *arena, const LncPageSpec *spec, LncPage **out)
{
	const Lance__Encodings21__PageLayout *layout;
	ProtobufCMessage *message;
	LncPage21 *page;

	LNC_TRY(LNC_NEW(ctx, arena, &page, 1));
	page->arena = arena;
	page->source = spec->source;
	page->path = spec->path;
	page->npath = spec->npath;
	page->type = lnc_column_type(&spec->path[spec->npath - 1]->type);
	page->page.nrows = spec->nrows;
	page->nstarts = spec->nrows;
	page->whole = has_fixed_in_list(page);
	page->page.decode = page21_decode;
	page->page.state = page;
	LNC_TRY(lnc_general_create(ctx, arena, &page->general));
	LNC_TRY(lnc_arena_create_child(ctx, arena, &page->scratch));
	LNC_TRY(lnc_proto_unpack(ctx, arena, &lance__encodings21__page_layout__descriptor, spec->encoding,
							 "a page layout", &message));
	layout = (const Lance__Encodings21__PageLayout *)message;
	if (lnc_type_is_blob(page->type))
	{
		page->blob = page->type;
		page->type = lnc_blob_struct();
	}
	if (layout->layout_case == LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_BLOB_LAYOUT)
	{
		LNC_REQUIRE(ctx, page->blob != NULL, "a page of blobs belongs to a column that has none");
		LNC_TRY(open_blob_layout(ctx, page, layout->blob_layout, &layout));
		page->type = lnc_blob_pair();
	}
	if (!lnc_page21_is_bare(page))
		LNC_TRY(lnc_shape_of_type(ctx, page->type, &page->shape));
	LNC_TRY(open_layout(ctx, page, layout));
	if (page->read_some != NULL && page->layers.max_rep == 0 && page->blob == NULL)
		page->page.decode_some = page21_decode_some;
	lnc_arena_reset(page->scratch);
	/* What is read whole does not shrink with the rows asked for. */
	if (!page->whole)
		lnc_arena_limit(page->scratch);
	*out = &page->page;
	return LNC_OK;
}
