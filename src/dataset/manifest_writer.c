/*
 * manifest_writer.c
 *	  Putting the sections, the message and the tail of a manifest's file together.
 */
#include "dataset/manifest_writer.h"

#include <limits.h>

#include "base/buffer.h"
#include "proto/pack.h"

#define FOOTER_SIZE 16

static LncCode
append_message(LncContext *ctx, LncBuffer *file, LncSlice message)
{
	uint32_t length = (uint32_t)message.size;

	LNC_TRY(lnc_buffer_append(ctx, file, &length, sizeof(length)));
	return lnc_buffer_append(ctx, file, message.data, message.size);
}

static LncCode
append_footer(LncContext *ctx, LncBuffer *file, uint64_t position)
{
	static const uint8_t version_and_magic[8] = {0, 0, 2, 0, 'L', 'A', 'N', 'C'};

	LNC_TRY(lnc_buffer_append(ctx, file, &position, sizeof(position)));
	return lnc_buffer_append(ctx, file, version_and_magic, sizeof(version_and_magic));
}

LncCode
lnc_manifest_encode(LncContext *ctx, LncArena *arena, Lance__Table__Manifest *manifest, const LncSlice *indices,
					const LncSlice *transaction, LncSlice *out)
{
	size_t size = (indices != NULL ? indices->size + 4 : 0) + (transaction != NULL ? transaction->size + 4 : 0);
	LncBuffer file;
	LncSlice message;
	uint64_t position;

	if ((indices != NULL && indices->size > INT_MAX) || (transaction != NULL && transaction->size > INT_MAX))
		return lnc_fail(ctx, LNC_LIMIT, "a section of the manifest is larger than a protobuf message can be");
	manifest->index_section_presence_case = 0;
	manifest->transaction_section_presence_case = 0;
	manifest->old_transaction_presence_case = 0;
	if (indices != NULL)
	{
		manifest->index_section_presence_case = LANCE__TABLE__MANIFEST__INDEX_SECTION_PRESENCE_INDEX_SECTION;
		manifest->index_section = 0;
	}
	if (transaction != NULL)
	{
		manifest->transaction_section_presence_case =
			LANCE__TABLE__MANIFEST__TRANSACTION_SECTION_PRESENCE_TRANSACTION_SECTION;
		manifest->transaction_section = indices != NULL ? indices->size + 4 : 0;
	}
	LNC_TRY(lnc_proto_pack(ctx, arena, &manifest->base, "manifest", &message));
	size += 4 + message.size + FOOTER_SIZE;
	lnc_buffer_init(&file, arena, size);
	LNC_TRY(lnc_buffer_reserve(ctx, &file, size));
	if (indices != NULL)
		LNC_TRY(append_message(ctx, &file, *indices));
	if (transaction != NULL)
		LNC_TRY(append_message(ctx, &file, *transaction));
	position = file.size;
	LNC_TRY(append_message(ctx, &file, message));
	LNC_TRY(append_footer(ctx, &file, position));
	*out = lnc_buffer_slice(&file);
	return LNC_OK;
}
