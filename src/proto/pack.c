/*
 * pack.c
 *	  From protobuf messages to bytes, in an arena.
 */
#include "proto/pack.h"

#include <limits.h>

LncCode
lnc_proto_pack(LncContext *ctx, LncArena *arena, const ProtobufCMessage *message, const char *what, LncSlice *out)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	void *bytes;

	if (size > INT_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "%s of %zu bytes is larger than a protobuf message can be", what, size);
	LNC_TRY(lnc_arena_alloc(ctx, arena, size, &bytes));
	out->data = bytes;
	out->size = protobuf_c_message_pack(message, bytes);
	return LNC_OK;
}
