/*
 * pack.h
 *	  From protobuf messages to bytes.
 *
 * Fields that our .proto files do not name were kept by the unpacker and are written back, behind the named ones.
 */
#ifndef LNC_PROTO_PACK_H
#define LNC_PROTO_PACK_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"

/* The message's bytes, in arena. LNC_LIMIT when they are more than a protobuf message can be; what names it. */
extern LncCode lnc_proto_pack(LncContext *ctx, LncArena *arena, const ProtobufCMessage *message, const char *what,
							  LncSlice *out) LNC_MUST_CHECK;

#endif
