/*
 * operation.c
 *	  Finding the operation of a version's transaction.
 */
#include "dataset/operation.h"

#include <string.h>

/* The operation's number stands behind a version, a UUID and at most a tag. */
#define HEAD_SIZE 4096

typedef struct Operation
{
	uint32_t number;
	const char *name;
	const char *message; /* as the format names it */
} Operation;

static const Operation operations[] = {
	{100, "append", "Append"},
	{101, "delete", "Delete"},
	{102, "overwrite", "Overwrite"},
	{103, "create index", "CreateIndex"},
	{104, "rewrite", "Rewrite"},
	{105, "merge", "Merge"},
	{106, "restore", "Restore"},
	{107, "reserve fragments", "ReserveFragments"},
	{108, "update", "Update"},
	{109, "project", "Project"},
	{110, "update config", "UpdateConfig"},
	{111, "data replacement", "DataReplacement"},
	{112, "update mem wal state", "UpdateMemWalState"},
	{113, "clone", "Clone"},
	{114, "update bases", "UpdateBases"},
	{115, "data overlay", "DataOverlay"},
};

/* A protobuf varint; false at the end of bytes. */
static bool
read_varint(LncSlice bytes, size_t *at, uint64_t *out)
{
	*out = 0;
	for (int shift = 0; shift < 64 && *at < bytes.size; shift += 7)
	{
		uint8_t byte = bytes.data[(*at)++];

		*out |= (uint64_t)(byte & 0x7F) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static const Operation *
find_operation(LncSlice bytes)
{
	size_t at = 0;
	uint64_t key;
	uint64_t length;

	while (read_varint(bytes, &at, &key))
	{
		for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		{
			if (key == ((uint64_t)operations[i].number << 3 | 2))
				return &operations[i];
		}
		if (!read_varint(bytes, &at, &length))
			return NULL;
		switch (key & 7)
		{
			case 0: /* the number just read is the value */
				break;
			case 2:
				if (length > bytes.size - at)
					return NULL;
				at += length;
				break;
			default:
				return NULL;
		}
	}
	return NULL;
}

const char *
lnc_operation_name(LncSlice bytes)
{
	const Operation *operation = find_operation(bytes);

	return operation != NULL ? operation->name : NULL;
}

const char *
lnc_operation_message(LncSlice bytes)
{
	const Operation *operation = find_operation(bytes);

	return operation != NULL ? operation->message : NULL;
}

/* The first bytes behind position of an object; a length stands before them when it is prefixed. */
static LncCode
read_head(LncContext *ctx, LncArena *arena, LncStore *store, const char *key, uint64_t position, bool prefixed,
		  LncSlice *out)
{
	LncRange range = {.offset = position};
	uint64_t size;

	LNC_TRY(lnc_store_size(ctx, store, key, &size));
	if (!lnc_range_ok(position, prefixed ? 4 : 0, size))
		return lnc_fail(ctx, LNC_CORRUPT, "transaction lies outside its file");
	range.length = size - position < HEAD_SIZE ? size - position : HEAD_SIZE;
	LNC_TRY(lnc_store_read_ranges(ctx, store, arena, key, 1, &range, &out->data));
	out->size = (size_t)range.length;
	if (prefixed)
	{
		uint32_t length = lnc_le32(out->data);

		out->data += 4;
		out->size -= 4;
		out->size = length < out->size ? length : out->size;
	}
	return LNC_OK;
}

static LncCode
find_head(LncContext *ctx, LncArena *arena, LncStore *store, const char *manifest_key,
		  const Lance__Table__Manifest *manifest, LncSlice *out)
{
	const char *folder = strstr(manifest_key, "_versions/");
	char *key;

	if (manifest->transaction_section_presence_case != 0)
		return read_head(ctx, arena, store, manifest_key, manifest->transaction_section, true, out);
	if (manifest->old_transaction_presence_case != 0)
		return read_head(ctx, arena, store, manifest_key, manifest->old_transaction_section, true, out);
	if (folder == NULL || manifest->transaction_file == NULL || manifest->transaction_file[0] == '\0')
		return LNC_OK;
	LNC_TRY(lnc_arena_printf(ctx, arena, &key, "%.*s_transactions/%s", (int)(folder - manifest_key), manifest_key,
							 manifest->transaction_file));
	return read_head(ctx, arena, store, key, 0, false, out);
}

LncCode
lnc_operation_read(LncContext *ctx, LncArena *arena, LncStore *store, const char *manifest_key,
				   const Lance__Table__Manifest *manifest, const char **out)
{
	LncSlice head = {0};
	LncCode code = find_head(ctx, arena, store, manifest_key, manifest, &head);

	*out = NULL;
	switch (code)
	{
		case LNC_OK:
			*out = lnc_operation_name(head);
			return LNC_OK;
		case LNC_NOT_FOUND:
		case LNC_CORRUPT:
		case LNC_INVALID: /* the name of a transaction file that is no name of a file */
			return LNC_OK;
		default:
			return code;
	}
}
