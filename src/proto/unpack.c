/*
 * unpack.c
 *	  The guard that walks protobuf bytes along the generated descriptor, and unpacking into an arena.
 *
 * What the guard refuses, because the unpacker behind it would recurse, grow or copy without a bound:
 * nesting beyond LNC_PROTO_MAX_DEPTH; groups; fields that reach past their message; a singular message field given
 * twice (the unpacker merges, which copies all that came before); strings that are not UTF-8 or hold a NUL; and
 * messages whose structs would take far more memory than their bytes justify.
 */
#include "proto/unpack.h"

#include <limits.h>

#include "base/utf8.h"

/* Most fields that one of our messages declares; a descriptor beyond it is refused. */
#define GUARD_MAX_FIELDS 128

/* Bytes of message structs allowed: so many per byte of input, on top of a base for short inputs. */
#define GUARD_STRUCT_FACTOR 64
#define GUARD_STRUCT_BASE ((size_t)64 * 1024)

typedef struct Guard
{
	LncContext *ctx;
	const char *what;      /* names the object in errors */
	size_t struct_bytes;   /* structs the unpacker will make */
	size_t struct_allowed; /* bound on the former */
} Guard;

typedef struct Cursor
{
	const uint8_t *at;
	const uint8_t *end;
} Cursor;

static LncCode guard_message(Guard *guard, const ProtobufCMessageDescriptor *descriptor, LncSlice bytes,
							 int depth) LNC_MUST_CHECK;

static LncCode
broken(Guard *guard, const char *problem)
{
	return lnc_fail(guard->ctx, LNC_CORRUPT, "%s is not a valid protobuf message: %s", guard->what, problem);
}

/* A varint of at most max_bytes bytes. False when it is cut off or longer. */
static bool
read_varint(Cursor *cursor, int max_bytes, uint64_t *value)
{
	*value = 0;
	for (int i = 0; i < max_bytes && cursor->at < cursor->end; i++)
	{
		uint8_t byte = *cursor->at++;

		*value |= (uint64_t)(byte & 0x7F) << (7 * i);
		if ((byte & 0x80) == 0)
			return true;
	}
	return false;
}

/* Check one length-delimited field whose descriptor is known. */
static LncCode
guard_field(Guard *guard, const ProtobufCFieldDescriptor *field, LncSlice payload, int depth)
{
	if (field->type == PROTOBUF_C_TYPE_MESSAGE)
		return guard_message(guard, field->descriptor, payload, depth + 1);
	if (field->type == PROTOBUF_C_TYPE_STRING && !lnc_utf8_valid(payload.data, payload.size, NULL))
	{
		(void)broken(guard, "a string is not UTF-8 text");
		lnc_detail(guard->ctx, "Field \"%s\".", field->name);
		return LNC_CORRUPT;
	}
	return LNC_OK;
}

/* Walk the bytes of one message and, recursively, of those inside it. */
static LncCode
guard_message(Guard *guard, const ProtobufCMessageDescriptor *descriptor, LncSlice bytes, int depth)
{
	Cursor cursor = {bytes.data, bytes.data + bytes.size};
	uint64_t seen[GUARD_MAX_FIELDS / 64] = {0};

	if (depth > LNC_PROTO_MAX_DEPTH)
		return lnc_fail(guard->ctx, LNC_LIMIT, "%s is nested deeper than %d messages", guard->what,
						LNC_PROTO_MAX_DEPTH);
	if (descriptor->n_fields > GUARD_MAX_FIELDS)
		return lnc_fail(guard->ctx, LNC_LIMIT, "message type %s has too many fields", descriptor->name);
	guard->struct_bytes += descriptor->sizeof_message;
	if (guard->struct_bytes > guard->struct_allowed)
		return lnc_fail(guard->ctx, LNC_LIMIT, "%s holds too many messages for its size", guard->what);

	while (cursor.at < cursor.end)
	{
		const ProtobufCFieldDescriptor *field;
		uint64_t tag;
		uint64_t value;
		LncSlice payload;

		if (!read_varint(&cursor, 5, &tag) || tag > UINT32_MAX || tag >> 3 == 0)
			return broken(guard, "a field tag is malformed");
		switch (tag & 7)
		{
			case PROTOBUF_C_WIRE_TYPE_VARINT:
				if (!read_varint(&cursor, 10, &value))
					return broken(guard, "a number is malformed");
				continue;
			case PROTOBUF_C_WIRE_TYPE_64BIT:
				if (cursor.end - cursor.at < 8)
					return broken(guard, "a field is cut off");
				cursor.at += 8;
				continue;
			case PROTOBUF_C_WIRE_TYPE_32BIT:
				if (cursor.end - cursor.at < 4)
					return broken(guard, "a field is cut off");
				cursor.at += 4;
				continue;
			case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
				break;
			default:
				return broken(guard, "a field has an unknown wire type");
		}
		if (!read_varint(&cursor, 5, &value) || value > (uint64_t)(cursor.end - cursor.at))
			return broken(guard, "a field is longer than its message");
		payload.data = cursor.at;
		payload.size = (size_t)value;
		cursor.at += value;

		field = protobuf_c_message_descriptor_get_field(descriptor, (unsigned)(tag >> 3));
		if (field == NULL)
			continue;
		if (field->type == PROTOBUF_C_TYPE_MESSAGE && field->label != PROTOBUF_C_LABEL_REPEATED)
		{
			size_t index = (size_t)(field - descriptor->fields);
			uint64_t bit = UINT64_C(1) << (index % 64);

			if ((seen[index / 64] & bit) != 0)
				return broken(guard, "a field occurs twice");
			seen[index / 64] |= bit;
		}
		LNC_TRY(guard_field(guard, field, payload, depth));
	}
	return lnc_check_interrupt(guard->ctx);
}

/* The arena behind protobuf-c's allocator hooks. */
typedef struct ArenaHooks
{
	LncContext *ctx;
	LncArena *arena;
	LncCode code; /* what the last failed allocation said */
} ArenaHooks;

static void *
hook_alloc(void *state, size_t size)
{
	ArenaHooks *hooks = state;
	void *result;
	LncCode code = lnc_arena_alloc(hooks->ctx, hooks->arena, size, &result);

	if (code == LNC_OK)
		return result;
	hooks->code = code;
	return NULL;
}

static void
hook_free(void *state, void *pointer)
{
	(void)state;
	(void)pointer; /* the arena frees it */
}

LncCode
lnc_proto_unpack(LncContext *ctx, LncArena *arena, const ProtobufCMessageDescriptor *descriptor, LncSlice bytes,
				 const char *what, ProtobufCMessage **out)
{
	Guard guard = {.ctx = ctx, .what = what};
	ArenaHooks hooks = {.ctx = ctx, .arena = arena, .code = LNC_OK};
	ProtobufCAllocator allocator = {hook_alloc, hook_free, &hooks};
	ProtobufCMessage *message;

	if (bytes.size > INT_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "%s of %zu bytes is larger than a protobuf message can be", what,
						bytes.size);
	if (bytes.data == NULL)
		bytes.data = (const uint8_t *)""; /* the empty message: no arithmetic on NULL */
	guard.struct_allowed = bytes.size * GUARD_STRUCT_FACTOR + GUARD_STRUCT_BASE;
	LNC_TRY(guard_message(&guard, descriptor, bytes, 1));

	message = protobuf_c_message_unpack(descriptor, &allocator, bytes.size, bytes.data);
	if (message == NULL)
	{
		if (hooks.code != LNC_OK)
			return hooks.code;
		return broken(&guard, "a field has the wrong type");
	}
	*out = message;
	return LNC_OK;
}
