/*
 * file_builder.c
 *	  Data files made in memory for tests.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "file_builder.h"

void
builder_init(FileBuilder *builder)
{
	memset(builder, 0, sizeof(*builder));
}

void
builder_free(FileBuilder *builder)
{
	for (size_t c = 0; c < builder->ncolumns; c++)
		for (size_t p = 0; p < builder->columns[c].npages; p++)
			free(builder->columns[c].pages[p].encoding);
	free(builder->bytes);
}

void
builder_add(FileBuilder *builder, const void *bytes, size_t size)
{
	if (builder->capacity - builder->size < size)
	{
		builder->capacity = (builder->size + size) * 2;
		builder->bytes = realloc(builder->bytes, builder->capacity);
		if (builder->bytes == NULL)
			abort();
	}
	if (size > 0)
		memcpy(builder->bytes + builder->size, bytes, size);
	builder->size += size;
}

static uint8_t *
pack(const ProtobufCMessage *message, size_t *size)
{
	uint8_t *bytes;

	*size = protobuf_c_message_get_packed_size(message);
	bytes = malloc(*size + 1);
	if (bytes == NULL)
		abort();
	protobuf_c_message_pack(message, bytes);
	return bytes;
}

/* The message inside a google.protobuf.Any, packed. */
static uint8_t *
pack_any(const char *type_url, const ProtobufCMessage *message, size_t *size)
{
	Lance__File__V2__AnyMessage any = LANCE__FILE__V2__ANY_MESSAGE__INIT;
	char *url = strdup(type_url);
	uint8_t *bytes;

	if (url == NULL)
		abort();
	any.type_url = url;
	any.value.data = pack(message, &any.value.len);
	bytes = pack(&any.base, size);
	free(any.value.data);
	free(url);
	return bytes;
}

BuiltColumn *
builder_column(FileBuilder *builder)
{
	if (builder->ncolumns == BUILDER_MAX_COLUMNS)
		abort();
	return &builder->columns[builder->ncolumns++];
}

BuiltPage *
builder_page(BuiltColumn *column, uint64_t nrows, const char *type_url, const ProtobufCMessage *message)
{
	BuiltPage *page;

	if (column->npages == BUILDER_MAX_PAGES)
		abort();
	page = &column->pages[column->npages++];
	page->nrows = nrows;
	page->encoding = pack_any(type_url, message, &page->encoding_size);
	return page;
}

void
builder_buffer(FileBuilder *builder, BuiltPage *page, const void *bytes, size_t size)
{
	static const uint8_t padding[64];

	builder_add(builder, padding, (64 - builder->size % 64) % 64);
	if (page->nbuffers == BUILDER_MAX_BUFFERS)
		abort();
	page->offsets[page->nbuffers] = builder->size;
	page->sizes[page->nbuffers++] = size;
	builder_add(builder, bytes, size);
}

/* The column's metadata message, appended to the file. */
static void
add_metadata(FileBuilder *builder, const BuiltColumn *column)
{
	Lance__File__V2__ColumnMetadata metadata = LANCE__FILE__V2__COLUMN_METADATA__INIT;
	Lance__File__V2__Page pages[BUILDER_MAX_PAGES];
	Lance__File__V2__Page *links[BUILDER_MAX_PAGES];
	Lance__File__V2__Encoding encodings[BUILDER_MAX_PAGES];
	Lance__File__V2__DirectEncoding direct[BUILDER_MAX_PAGES];
	Lance__File__V2__DeferredEncoding deferred[BUILDER_MAX_PAGES];
	Lance__File__V2__Encoding own = LANCE__FILE__V2__ENCODING__INIT;
	Lance__File__V2__DirectEncoding own_direct = LANCE__FILE__V2__DIRECT_ENCODING__INIT;
	Lance__Encodings20__ColumnEncoding values = LANCE__ENCODINGS20__COLUMN_ENCODING__INIT;
	Lance__Encodings20__ColumnEncoding outer = LANCE__ENCODINGS20__COLUMN_ENCODING__INIT;
	Lance__Encodings20__ColumnValues nothing = LANCE__ENCODINGS20__COLUMN_VALUES__INIT;
	Lance__Encodings20__Blob blob = LANCE__ENCODINGS20__BLOB__INIT;
	uint64_t row = 0;
	uint8_t *packed;
	size_t size;

	for (size_t i = 0; i < column->npages; i++)
	{
		const BuiltPage *source = &column->pages[i];

		lance__file__v2__page__init(&pages[i]);
		lance__file__v2__encoding__init(&encodings[i]);
		lance__file__v2__direct_encoding__init(&direct[i]);
		lance__file__v2__deferred_encoding__init(&deferred[i]);
		links[i] = &pages[i];
		pages[i].n_buffer_offsets = source->nbuffers;
		pages[i].buffer_offsets = (uint64_t *)source->offsets;
		pages[i].n_buffer_sizes = source->nbuffers;
		pages[i].buffer_sizes = (uint64_t *)source->sizes;
		pages[i].length = source->nrows;
		pages[i].priority = row;
		pages[i].encoding = &encodings[i];
		if (column->indirect)
		{
			encodings[i].location_case = LANCE__FILE__V2__ENCODING__LOCATION_INDIRECT;
			encodings[i].indirect = &deferred[i];
			deferred[i].buffer_location = builder->size;
			deferred[i].buffer_length = source->encoding_size;
			builder_add(builder, source->encoding, source->encoding_size);
		}
		else
		{
			encodings[i].location_case = LANCE__FILE__V2__ENCODING__LOCATION_DIRECT;
			encodings[i].direct = &direct[i];
			direct[i].encoding.data = source->encoding;
			direct[i].encoding.len = source->encoding_size;
		}
		row += source->nrows;
	}
	metadata.n_pages = column->npages;
	metadata.pages = links;

	values.column_encoding_case = LANCE__ENCODINGS20__COLUMN_ENCODING__COLUMN_ENCODING_VALUES;
	values.values = &nothing;
	blob.inner = &values;
	outer.column_encoding_case = LANCE__ENCODINGS20__COLUMN_ENCODING__COLUMN_ENCODING_BLOB;
	outer.blob = &blob;
	own_direct.encoding.data = pack_any("/lance.encodings.ColumnEncoding",
										column->blob ? &outer.base : &values.base, &own_direct.encoding.len);
	own.location_case = LANCE__FILE__V2__ENCODING__LOCATION_DIRECT;
	own.direct = &own_direct;
	metadata.encoding = &own;

	packed = pack(&metadata.base, &size);
	builder_add(builder, packed, size);
	free(packed);
	free(own_direct.encoding.data);
}

void
builder_finish(FileBuilder *builder, uint16_t version_major, uint16_t version_minor)
{
	uint64_t starts[BUILDER_MAX_COLUMNS];
	uint64_t ends[BUILDER_MAX_COLUMNS];
	uint64_t metadata = builder->size;
	uint64_t column_table;
	uint64_t buffer_table;
	uint32_t nbuffers = 0;
	uint32_t ncolumns = (uint32_t)builder->ncolumns;

	for (size_t i = 0; i < builder->ncolumns; i++)
	{
		const BuiltColumn *column = &builder->columns[i];
		size_t before = builder->size;

		add_metadata(builder, column);
		starts[i] = before;
		if (column->indirect)
			for (size_t p = 0; p < column->npages; p++)
				starts[i] += column->pages[p].encoding_size;
		ends[i] = builder->size;
	}
	column_table = builder->size;
	for (size_t i = 0; i < builder->ncolumns; i++)
	{
		uint64_t length = ends[i] - starts[i];

		builder_add(builder, &starts[i], 8);
		builder_add(builder, &length, 8);
	}
	buffer_table = builder->size;
	builder_add(builder, &metadata, 8);
	builder_add(builder, &column_table, 8);
	builder_add(builder, &buffer_table, 8);
	builder_add(builder, &nbuffers, 4);
	builder_add(builder, &ncolumns, 4);
	builder_add(builder, &version_major, 2);
	builder_add(builder, &version_minor, 2);
	builder_add(builder, "LANC", 4);
}

void
encoding_flat(Lance__Encodings20__ArrayEncoding *out, Lance__Encodings20__Flat *flat,
			  Lance__Encodings20__Buffer *buffer, uint64_t bits, uint32_t index)
{
	lance__encodings20__array_encoding__init(out);
	lance__encodings20__flat__init(flat);
	lance__encodings20__buffer__init(buffer);
	buffer->buffer_index = index;
	flat->bits_per_value = bits;
	flat->buffer = buffer;
	out->array_encoding_case = LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_FLAT;
	out->flat = flat;
}

void
builder_flat_page(FileBuilder *builder, BuiltColumn *column, uint64_t nrows, uint64_t bits, const void *values,
				  size_t size)
{
	Lance__Encodings20__ArrayEncoding encoding;
	Lance__Encodings20__Flat flat;
	Lance__Encodings20__Buffer buffer;
	BuiltPage *page;

	encoding_flat(&encoding, &flat, &buffer, bits, 0);
	page = builder_page(column, nrows, "/lance.encodings.ArrayEncoding", &encoding.base);
	builder_buffer(builder, page, values, size);
}

void
builder_text_page(FileBuilder *builder, BuiltColumn *column, uint64_t nrows, const char *const *values)
{
	Lance__Encodings20__ArrayEncoding encoding = LANCE__ENCODINGS20__ARRAY_ENCODING__INIT;
	Lance__Encodings20__Binary binary = LANCE__ENCODINGS20__BINARY__INIT;
	Lance__Encodings20__ArrayEncoding parts[2];
	Lance__Encodings20__Flat flats[2];
	Lance__Encodings20__Buffer buffers[2];
	uint64_t *ends = calloc(nrows + 1, sizeof(*ends));
	size_t total = 0;
	char *data;
	BuiltPage *page;

	for (uint64_t i = 0; i < nrows; i++)
		total += values[i] != NULL ? strlen(values[i]) : 0;
	data = malloc(total + 1);
	if (ends == NULL || data == NULL)
		abort();
	binary.null_adjustment = total + 1;
	total = 0;
	for (uint64_t i = 0; i < nrows; i++)
	{
		if (values[i] != NULL)
		{
			memcpy(data + total, values[i], strlen(values[i]));
			total += strlen(values[i]);
		}
		ends[i] = total + (values[i] == NULL ? binary.null_adjustment : 0);
	}
	encoding_flat(&parts[0], &flats[0], &buffers[0], 64, 0);
	encoding_flat(&parts[1], &flats[1], &buffers[1], 8, 1);
	binary.indices = &parts[0];
	binary.bytes = &parts[1];
	encoding.array_encoding_case = LANCE__ENCODINGS20__ARRAY_ENCODING__ARRAY_ENCODING_BINARY;
	encoding.binary = &binary;
	page = builder_page(column, nrows, "/lance.encodings.ArrayEncoding", &encoding.base);
	builder_buffer(builder, page, ends, nrows * sizeof(*ends));
	builder_buffer(builder, page, data, total);
	free(ends);
	free(data);
}
