/*
 * unpack.h
 *	  The only way from bytes to protobuf messages: a guard walks the bytes first, then they are unpacked.
 *
 * protobuf-c's unpacker recurses without limit; the guard refuses messages nested deeper than LNC_PROTO_MAX_DEPTH and
 * truncated fields before it is called.
 */
#ifndef LNC_PROTO_UNPACK_H
#define LNC_PROTO_UNPACK_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"

#define LNC_PROTO_MAX_DEPTH 64

/*
 * Unpack bytes as a message of descriptor into arena. what names the object in errors ("manifest", "page encoding").
 * LNC_CORRUPT when the bytes are no such message, LNC_LIMIT when nested too deep. Nothing needs to be freed.
 */
extern LncCode lnc_proto_unpack(LncContext *ctx, LncArena *arena, const ProtobufCMessageDescriptor *descriptor,
								LncSlice bytes, const char *what, ProtobufCMessage **out) LNC_MUST_CHECK;

#endif
