/*
 * ipc.c
 *	  Reading Arrow IPC with nanoarrow: every message is verified before it is decoded, every declared size checked
 *	  before memory is taken for it, and the buffers are copied out into the arena.
 */
#include "arrow/ipc.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <nanoarrow/ipc/flatcc_generated.h>
#include <nanoarrow/nanoarrow_ipc.h>

#define FILE_MAGIC "ARROW1"
#define FILE_MAGIC_SIZE 6
#define FILE_START 8 /* the magic and its padding */

/* Before the flatbuffer of a message: a mark and its length. */
#define MESSAGE_PREFIX 8

/* What one reading of a stream works with. */
typedef struct IpcReader
{
	LncArena *arena;
	struct ArrowIpcDecoder decoder; /* owned */
	LncSchema *schema;
	bool have_schema;
	uint64_t left; /* bytes of buffers still allowed */
	size_t nbatches;
	size_t capacity;
	LncBatch *batches;
} IpcReader;

static LncCode
fail_from(LncContext *ctx, ArrowErrorCode code, const struct ArrowError *error)
{
	LncCode lnc = code == ENOMEM ? LNC_NO_MEMORY : code == ENOTSUP ? LNC_UNSUPPORTED : LNC_CORRUPT;

	lnc_fail(ctx, lnc, "could not read Arrow data");
	if (error->message[0] != '\0')
		lnc_detail(ctx, "%s.", error->message);
	return lnc;
}

static const char *
unit_name(enum ArrowTimeUnit unit)
{
	static const char *const names[] = {"s", "ms", "us", "ns"};

	return names[unit];
}

/* The logical type string of a flat Arrow type, NULL when it is not read. */
static LncCode
logical_type(LncContext *ctx, LncArena *arena, const struct ArrowSchemaView *view, char **out)
{
	const char *plain = NULL;

	switch (view->type)
	{
		case NANOARROW_TYPE_NA:
			plain = "null";
			break;
		case NANOARROW_TYPE_BOOL:
			plain = "bool";
			break;
		case NANOARROW_TYPE_INT8:
		case NANOARROW_TYPE_INT16:
		case NANOARROW_TYPE_INT32:
		case NANOARROW_TYPE_INT64:
		case NANOARROW_TYPE_UINT8:
		case NANOARROW_TYPE_UINT16:
		case NANOARROW_TYPE_UINT32:
		case NANOARROW_TYPE_UINT64:
		case NANOARROW_TYPE_STRING:
		case NANOARROW_TYPE_LARGE_STRING:
		case NANOARROW_TYPE_BINARY:
		case NANOARROW_TYPE_LARGE_BINARY:
			/* The two naming schemes agree here. */
			plain = ArrowTypeString(view->type);
			break;
		case NANOARROW_TYPE_HALF_FLOAT:
			plain = "halffloat";
			break;
		case NANOARROW_TYPE_FLOAT:
			plain = "float";
			break;
		case NANOARROW_TYPE_DOUBLE:
			plain = "double";
			break;
		case NANOARROW_TYPE_DATE32:
			plain = "date32:day";
			break;
		case NANOARROW_TYPE_DATE64:
			plain = "date64:ms";
			break;
		case NANOARROW_TYPE_FIXED_SIZE_BINARY:
			return lnc_arena_printf(ctx, arena, out, "fixed_size_binary:%d", (int)view->fixed_size);
		case NANOARROW_TYPE_TIME32:
			return lnc_arena_printf(ctx, arena, out, "time32:%s", unit_name(view->time_unit));
		case NANOARROW_TYPE_TIME64:
			return lnc_arena_printf(ctx, arena, out, "time64:%s", unit_name(view->time_unit));
		case NANOARROW_TYPE_DURATION:
			return lnc_arena_printf(ctx, arena, out, "duration:%s", unit_name(view->time_unit));
		case NANOARROW_TYPE_TIMESTAMP:
			return lnc_arena_printf(ctx, arena, out, "timestamp:%s:%s", unit_name(view->time_unit),
									view->timezone != NULL && view->timezone[0] != '\0' ? view->timezone : "-");
		case NANOARROW_TYPE_DECIMAL128:
			return lnc_arena_printf(ctx, arena, out, "decimal:128:%d:%d", (int)view->decimal_precision,
									(int)view->decimal_scale);
		case NANOARROW_TYPE_DECIMAL256:
			return lnc_arena_printf(ctx, arena, out, "decimal:256:%d:%d", (int)view->decimal_precision,
									(int)view->decimal_scale);
		default:
			*out = NULL;
			return LNC_OK;
	}
	return lnc_arena_strndup(ctx, arena, plain, strlen(plain), out);
}

static LncCode
convert_schema(LncContext *ctx, LncArena *arena, const struct ArrowSchema *from, LncSchema *to)
{
	if (from->n_children > INT32_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "Arrow schema has too many columns");
	LNC_TRY(LNC_NEW(ctx, arena, &to->fields, from->n_children));
	to->nfields = (int32_t)from->n_children;
	for (int32_t i = 0; i < to->nfields; i++)
	{
		const struct ArrowSchema *child = from->children[i];
		const char *name = child->name == NULL ? "" : child->name;
		struct ArrowSchemaView view;
		struct ArrowError error = {.message = ""};
		ArrowErrorCode code = ArrowSchemaViewInit(&view, child, &error);
		LncField *field = &to->fields[i];
		char *text;

		if (code != NANOARROW_OK)
			return fail_from(ctx, code, &error);
		LNC_TRY(logical_type(ctx, arena, &view, &text));
		if (text == NULL)
			return lnc_fail(ctx, LNC_UNSUPPORTED, "reading Arrow column \"%s\" of type %s is not supported", name,
							ArrowTypeString(view.type));
		LNC_TRY(lnc_type_parse(ctx, arena, text, &field->type));
		LNC_TRY(lnc_arena_strndup(ctx, arena, name, strlen(name), &text));
		field->name = text;
		field->id = i;
		field->parent_id = -1;
		field->nullable = (child->flags & ARROW_FLAG_NULLABLE) != 0;
	}
	return LNC_OK;
}

/*
 * Take the sizes that a record batch states for its buffers out of what is left, before the decoder believes them.
 * message is the flatbuffer of the header, body_size the bytes that follow it.
 */
static LncCode
check_buffer_sizes(LncContext *ctx, IpcReader *reader, const uint8_t *message, const uint8_t *body,
				   uint64_t body_size)
{
	org_apache_arrow_flatbuf_RecordBatch_table_t batch =
		(org_apache_arrow_flatbuf_RecordBatch_table_t)org_apache_arrow_flatbuf_Message_header(
			org_apache_arrow_flatbuf_Message_as_root(message));
	org_apache_arrow_flatbuf_Buffer_vec_t buffers = org_apache_arrow_flatbuf_RecordBatch_buffers(batch);
	size_t n = org_apache_arrow_flatbuf_Buffer_vec_len(buffers);

	for (size_t i = 0; i < n; i++)
	{
		/* Two int64, offset and length; not always aligned. */
		const uint8_t *buffer = (const uint8_t *)org_apache_arrow_flatbuf_Buffer_vec_at(buffers, i);
		int64_t offset = (int64_t)lnc_le64(buffer);
		int64_t length = (int64_t)lnc_le64(buffer + 8);
		uint64_t size;

		LNC_TRY(lnc_check_interrupt(ctx));
		if (offset < 0 || length < 0 || !lnc_range_ok((uint64_t)offset, (uint64_t)length, body_size))
			return lnc_fail(ctx, LNC_CORRUPT, "Arrow buffer lies outside of its message");
		size = (uint64_t)length;
		if (reader->decoder.codec != NANOARROW_IPC_COMPRESSION_TYPE_NONE && length > 0)
		{
			if (length < 8)
				return lnc_fail(ctx, LNC_CORRUPT, "compressed Arrow buffer is too short");

			/* -1: stored as it is. */
			size = lnc_le64(body + offset);
			if (size == UINT64_MAX)
				size = (uint64_t)length - 8;
		}
		if (size > reader->left)
			return lnc_fail(ctx, LNC_LIMIT, "Arrow data holds more bytes than allowed");
		reader->left -= size;
	}
	return LNC_OK;
}

static LncCode
copy_buffer(LncContext *ctx, LncArena *arena, const struct ArrowBufferView *view, uint64_t need, const void **out)
{
	void *copy;

	if (view->size_bytes < 0 || (uint64_t)view->size_bytes < need)
		return lnc_fail(ctx, LNC_CORRUPT, "Arrow buffer is shorter than its column needs");
	LNC_TRY(lnc_arena_alloc(ctx, arena, need, &copy));
	if (need > 0)
		memcpy(copy, view->data.data, need);
	*out = copy;
	return LNC_OK;
}

/* Offsets of either width as int64 that start at 0, and the bytes between the first and the last. */
static LncCode
copy_variable(LncContext *ctx, LncArena *arena, const struct ArrowArrayView *view, LncColumn *column)
{
	const struct ArrowBufferView *from = &view->buffer_views[1];
	const struct ArrowBufferView *data = &view->buffer_views[2];
	uint64_t width = (uint64_t)view->layout.element_size_bits[1] / 8;
	uint64_t count = (uint64_t)column->length + 1;
	int64_t *offsets;
	int64_t first = 0;
	int64_t previous = 0;
	void *copy;

	LNC_TRY(LNC_NEW(ctx, arena, &offsets, count));
	column->offsets = offsets;
	column->data = (const uint8_t *)offsets;
	if (column->length == 0)
		return LNC_OK;
	if (from->size_bytes < 0 || (uint64_t)from->size_bytes / width < count)
		return lnc_fail(ctx, LNC_CORRUPT, "Arrow buffer is shorter than its column needs");
	for (uint64_t i = 0; i < count; i++)
	{
		const uint8_t *at = from->data.as_uint8 + i * width;
		int64_t offset = width == 4 ? (int64_t)(int32_t)lnc_le32(at) : (int64_t)lnc_le64(at);

		if (offset < previous || offset > data->size_bytes)
			return lnc_fail(ctx, LNC_CORRUPT, "Arrow offsets are not in order or lie outside of the data");
		if (i == 0)
			first = offset;
		offsets[i] = offset - first;
		previous = offset;
	}
	LNC_TRY(lnc_arena_alloc(ctx, arena, (size_t)offsets[column->length], &copy));
	if (offsets[column->length] > 0)
		memcpy(copy, data->data.as_uint8 + first, (size_t)offsets[column->length]);
	column->data = copy;
	return LNC_OK;
}

static LncCode
convert_column(LncContext *ctx, LncArena *arena, const struct ArrowArrayView *view, const LncField *field,
			   int64_t length, LncColumn *column)
{
	const void *buffer;

	column->type = &field->type;
	column->length = length;
	if (view->length != length || view->offset != 0)
		return lnc_fail(ctx, LNC_CORRUPT, "Arrow column \"%s\" has another length than its batch", field->name);
	if (field->type.kind == LNC_TYPE_NULL)
		return LNC_OK;
	if (view->null_count != 0 && view->buffer_views[0].size_bytes > 0)
	{
		LNC_TRY(copy_buffer(ctx, arena, &view->buffer_views[0], lnc_bitmap_size((uint64_t)length), &buffer));
		column->validity = buffer;
	}
	if (lnc_type_is_variable(&field->type))
		return copy_variable(ctx, arena, view, column);
	if (field->type.kind == LNC_TYPE_BOOL)
		return copy_buffer(ctx, arena, &view->buffer_views[1], lnc_bitmap_size((uint64_t)length), &column->values);
	else
	{
		uint64_t size;

		if (lnc_mul_overflow((uint64_t)length, lnc_type_width(&field->type), &size))
			return lnc_fail(ctx, LNC_CORRUPT, "Arrow column \"%s\" is too long", field->name);
		return copy_buffer(ctx, arena, &view->buffer_views[1], size, &column->values);
	}
}

static LncCode
convert_batch(LncContext *ctx, IpcReader *reader, const struct ArrowArrayView *view)
{
	LncBatch *batch;

	if (view->length < 0 || view->n_children != reader->schema->nfields)
		return lnc_fail(ctx, LNC_CORRUPT, "Arrow record batch does not fit its schema");
	if (reader->nbatches == reader->capacity)
	{
		size_t capacity = reader->capacity == 0 ? 4 : reader->capacity * 2;
		LncBatch *batches;

		LNC_TRY(LNC_NEW(ctx, reader->arena, &batches, capacity));
		if (reader->nbatches > 0)
			memcpy(batches, reader->batches, reader->nbatches * sizeof(*batches));
		reader->batches = batches;
		reader->capacity = capacity;
	}
	batch = &reader->batches[reader->nbatches];
	batch->length = view->length;
	batch->ncolumns = reader->schema->nfields;
	LNC_TRY(LNC_NEW(ctx, reader->arena, &batch->columns, batch->ncolumns));
	for (int32_t i = 0; i < batch->ncolumns; i++)
		LNC_TRY(convert_column(ctx, reader->arena, view->children[i], &reader->schema->fields[i], batch->length,
							   &batch->columns[i]));
	reader->nbatches++;
	return LNC_OK;
}

static LncCode
read_schema_message(LncContext *ctx, IpcReader *reader)
{
	struct ArrowError error = {.message = ""};
	struct ArrowSchema schema = {.release = NULL};
	ArrowErrorCode code;
	LncCode lnc;

	if (reader->have_schema)
		return lnc_fail(ctx, LNC_CORRUPT, "Arrow data has two schemas");
	if (reader->decoder.endianness != NANOARROW_IPC_ENDIANNESS_LITTLE)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "big-endian Arrow data is not supported");
	code = ArrowIpcDecoderDecodeSchema(&reader->decoder, &schema, &error);
	if (code != NANOARROW_OK)
		return fail_from(ctx, code, &error);
	lnc = convert_schema(ctx, reader->arena, &schema, reader->schema);
	if (lnc == LNC_OK)
	{
		code = ArrowIpcDecoderSetSchema(&reader->decoder, &schema, &error);
		if (code != NANOARROW_OK)
			lnc = fail_from(ctx, code, &error);
	}
	if (schema.release != NULL)
		ArrowSchemaRelease(&schema);
	reader->have_schema = lnc == LNC_OK;
	return lnc;
}

/*
 * Verified flatbuffers may still lack what the decoder takes for granted, and fields that are not read may be
 * anything: a schema is checked for both before it is decoded.
 */
static LncCode
check_schema_header(LncContext *ctx, org_apache_arrow_flatbuf_Schema_table_t schema)
{
	org_apache_arrow_flatbuf_Field_vec_t fields = org_apache_arrow_flatbuf_Schema_fields(schema);
	size_t n = org_apache_arrow_flatbuf_Field_vec_len(fields);

	for (size_t i = 0; i < n; i++)
	{
		org_apache_arrow_flatbuf_Field_table_t field = org_apache_arrow_flatbuf_Field_vec_at(fields, i);
		org_apache_arrow_flatbuf_Type_union_type_t kind = org_apache_arrow_flatbuf_Field_type_type(field);
		const char *name = org_apache_arrow_flatbuf_Field_name(field);

		LNC_TRY(lnc_check_interrupt(ctx));
		if (name == NULL)
			name = "";
		if (org_apache_arrow_flatbuf_Field_dictionary_is_present(field))
			return lnc_fail(ctx, LNC_UNSUPPORTED, "reading dictionary-encoded Arrow column \"%s\" is not supported",
							name);
		if (org_apache_arrow_flatbuf_Field_vec_len(org_apache_arrow_flatbuf_Field_children(field)) > 0)
			return lnc_fail(ctx, LNC_UNSUPPORTED, "reading Arrow column \"%s\" of type %s is not supported", name,
							org_apache_arrow_flatbuf_Type_type_name(kind));
		if (org_apache_arrow_flatbuf_Field_type(field) == NULL)
			return lnc_fail(ctx, LNC_CORRUPT, "Arrow column \"%s\" has no type", name);
	}
	return LNC_OK;
}

/* Look at a verified message before it is decoded. */
static LncCode
check_message(LncContext *ctx, const struct ArrowIpcDecoder *decoder, const uint8_t *message)
{
	const void *header = org_apache_arrow_flatbuf_Message_header(org_apache_arrow_flatbuf_Message_as_root(message));

	if (header == NULL)
		return lnc_fail(ctx, LNC_CORRUPT, "Arrow message has no header");
	switch (decoder->message_type)
	{
		case NANOARROW_IPC_MESSAGE_TYPE_SCHEMA:
			return check_schema_header(ctx, header);
		case NANOARROW_IPC_MESSAGE_TYPE_RECORD_BATCH:
			return LNC_OK;
		default:
			return lnc_fail(ctx, LNC_UNSUPPORTED, "Arrow message of type %d is not supported",
							(int)decoder->message_type);
	}
}

/* One message at the start of rest; *size is what it takes, 0 at the end of the stream. */
static LncCode
read_message(LncContext *ctx, IpcReader *reader, LncSlice rest, size_t *size)
{
	struct ArrowIpcDecoder *decoder = &reader->decoder;
	struct ArrowBufferView view = {.data.as_uint8 = rest.data, .size_bytes = (int64_t)rest.size};
	struct ArrowError error = {.message = ""};
	struct ArrowArrayView *arrays;
	uint64_t header;
	ArrowErrorCode code;

	*size = 0;
	if (rest.size == 0 || (rest.size >= 4 && lnc_le32(rest.data) == 0))
		return LNC_OK;

	/* Messages of before 2019 lack the mark; the decoder would take them. */
	if (rest.size < MESSAGE_PREFIX || lnc_le32(rest.data) != UINT32_MAX)
		return lnc_fail(ctx, LNC_CORRUPT, "Arrow message does not start with its mark");
	code = ArrowIpcDecoderVerifyHeader(decoder, view, &error);
	if (code == ENODATA)
		return LNC_OK;
	if (code != NANOARROW_OK)
		return fail_from(ctx, code, &error);
	LNC_TRY(check_message(ctx, decoder, rest.data + MESSAGE_PREFIX));
	code = ArrowIpcDecoderDecodeHeader(decoder, view, &error);
	if (code != NANOARROW_OK)
		return fail_from(ctx, code, &error);
	header = (uint64_t)decoder->header_size_bytes;
	if (decoder->body_size_bytes < 0 || !lnc_range_ok(header, (uint64_t)decoder->body_size_bytes, rest.size))
		return lnc_fail(ctx, LNC_CORRUPT, "Arrow message reaches past the end of the data");
	*size = header + (uint64_t)decoder->body_size_bytes;
	if (decoder->message_type == NANOARROW_IPC_MESSAGE_TYPE_SCHEMA)
		return read_schema_message(ctx, reader);
	if (!reader->have_schema)
		return lnc_fail(ctx, LNC_CORRUPT, "Arrow data has a record batch before its schema");
	LNC_TRY(check_buffer_sizes(ctx, reader, rest.data + MESSAGE_PREFIX, rest.data + header,
							   (uint64_t)decoder->body_size_bytes));
	view.data.as_uint8 = rest.data + header;
	view.size_bytes = decoder->body_size_bytes;
	code = ArrowIpcDecoderDecodeArrayView(decoder, view, -1, &arrays, &error);
	if (code != NANOARROW_OK)
		return fail_from(ctx, code, &error);
	return convert_batch(ctx, reader, arrays);
}

static LncCode
read_stream(LncContext *ctx, IpcReader *reader, LncSlice stream)
{
	for (;;)
	{
		size_t size;

		LNC_TRY(lnc_check_interrupt(ctx));
		LNC_TRY(read_message(ctx, reader, stream, &size));
		if (size == 0)
			break;
		stream.data += size;
		stream.size -= size;
	}
	if (!reader->have_schema)
		return lnc_fail(ctx, LNC_CORRUPT, "Arrow data has no schema");
	return LNC_OK;
}

LncCode
lnc_ipc_read(LncContext *ctx, LncArena *arena, LncSlice bytes, uint64_t max_bytes, LncSchema *schema,
			 size_t *nbatches, LncBatch **batches)
{
	IpcReader reader = {.arena = arena, .schema = schema, .left = max_bytes};
	LncCode code;

	/* A file is a stream between two magics, with an index behind it that is not needed to read it all. */
	if (bytes.size >= FILE_START && memcmp(bytes.data, FILE_MAGIC, FILE_MAGIC_SIZE) == 0)
	{
		if (bytes.size < FILE_START + FILE_MAGIC_SIZE ||
			memcmp(bytes.data + bytes.size - FILE_MAGIC_SIZE, FILE_MAGIC, FILE_MAGIC_SIZE) != 0)
			return lnc_fail(ctx, LNC_CORRUPT, "Arrow file is cut off");
		bytes.data += FILE_START;
		bytes.size -= FILE_START + FILE_MAGIC_SIZE;

		/* Writers align the first message to up to 64 bytes. */
		while (bytes.size >= 8 && lnc_le64(bytes.data) == 0)
		{
			bytes.data += 8;
			bytes.size -= 8;
		}
	}

	/* The decoder reads flatbuffers in place and wants them aligned. */
	if ((uintptr_t)bytes.data % 8 != 0)
	{
		void *copy;

		LNC_TRY(lnc_arena_alloc(ctx, arena, bytes.size, &copy));
		memcpy(copy, bytes.data, bytes.size);
		bytes.data = copy;
	}
	memset(schema, 0, sizeof(*schema));
	if (ArrowIpcDecoderInit(&reader.decoder) != NANOARROW_OK)
		return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory");
	code = read_stream(ctx, &reader, bytes);
	ArrowIpcDecoderReset(&reader.decoder);
	if (code != LNC_OK)
		return code;
	*nbatches = reader.nbatches;
	*batches = reader.batches;
	return LNC_OK;
}
