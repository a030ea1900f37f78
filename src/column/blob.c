/*
 * blob.c
 *	  Making columns of blob descriptors.
 */
#include "column/blob.h"

static const LncField parts[LNC_BLOB_NPARTS] = {
	[LNC_BLOB_KIND] = {.id = -1, .name = "kind", .type = {.kind = LNC_TYPE_UINT8, .logical = "uint8"}},
	/* These two make the pair. */
	[LNC_BLOB_POSITION] = {.id = -1, .name = "position", .type = {.kind = LNC_TYPE_UINT64, .logical = "uint64"}},
	[LNC_BLOB_SIZE] = {.id = -1, .name = "size", .type = {.kind = LNC_TYPE_UINT64, .logical = "uint64"}},
	[LNC_BLOB_ID] = {.id = -1, .name = "blob_id", .type = {.kind = LNC_TYPE_UINT32, .logical = "uint32"}},
	[LNC_BLOB_URI] = {.id = -1, .name = "blob_uri", .type = {.kind = LNC_TYPE_UTF8, .logical = "string"}},
};

/* Types are read-only to all that meet them in a column, though their children are no const. */
static const LncType blob_struct = {
	.kind = LNC_TYPE_STRUCT, .logical = "struct", .nchildren = LNC_BLOB_NPARTS, .children = (LncField *)parts};

const LncType *
lnc_blob_struct(void)
{
	return &blob_struct;
}

const LncType *
lnc_blob_pair(void)
{
	static const LncType pair = {.kind = LNC_TYPE_STRUCT,
								 .logical = "struct",
								 .nchildren = 2,
								 .children = (LncField *)&parts[LNC_BLOB_POSITION]};

	return &pair;
}

LncCode
lnc_blob_column(LncContext *ctx, LncArena *arena, const LncType *type, uint64_t count, const uint8_t *validity,
				const uint64_t *positions, const uint64_t *sizes, LncColumn *out)
{
	void *zeros;

	/* What an old blob lacks is all 0: kinds, ids, and the offsets of empty texts. */
	LNC_TRY(lnc_arena_calloc(ctx, arena, (size_t)count + 1, sizeof(int64_t), &zeros));
	*out = (LncColumn){.type = type, .length = (int64_t)count, .validity = validity, .nchildren = LNC_BLOB_NPARTS};
	LNC_TRY(LNC_NEW(ctx, arena, &out->children, LNC_BLOB_NPARTS));
	for (int i = 0; i < LNC_BLOB_NPARTS; i++)
	{
		out->children[i].type = &parts[i].type;
		out->children[i].length = (int64_t)count;
		out->children[i].values = zeros;
	}
	out->children[LNC_BLOB_POSITION].values = positions;
	out->children[LNC_BLOB_SIZE].values = sizes;
	out->children[LNC_BLOB_URI].values = NULL;
	out->children[LNC_BLOB_URI].offsets = zeros;
	out->children[LNC_BLOB_URI].data = zeros;
	return LNC_OK;
}

LncColumn
lnc_blob_from_struct(const LncType *type, const LncColumn *from)
{
	LncColumn column = *from;

	column.type = type;
	return column;
}
