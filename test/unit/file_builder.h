/*
 * file_builder.h
 *	  Data files made in memory for tests: buffers, pages, columns, footer, each of which a test may bend.
 */
#ifndef TEST_FILE_BUILDER_H
#define TEST_FILE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/encodings20.pb-c.h"
#include "proto/file2.pb-c.h"

#define BUILDER_MAX_COLUMNS 8
#define BUILDER_MAX_PAGES 64
#define BUILDER_MAX_BUFFERS 4

typedef struct BuiltPage
{
	uint64_t nrows;
	size_t nbuffers;
	uint64_t offsets[BUILDER_MAX_BUFFERS];
	uint64_t sizes[BUILDER_MAX_BUFFERS];
	uint8_t *encoding; /* a packed google.protobuf.Any */
	size_t encoding_size;
} BuiltPage;

typedef struct BuiltColumn
{
	size_t npages;
	BuiltPage pages[BUILDER_MAX_PAGES];
	bool blob;     /* mark the column as blobs */
	bool indirect; /* store page encodings outside the metadata */
} BuiltColumn;

typedef struct FileBuilder
{
	uint8_t *bytes; /* the file so far; free it */
	size_t size;
	size_t capacity;
	size_t ncolumns;
	BuiltColumn columns[BUILDER_MAX_COLUMNS];
} FileBuilder;

extern void builder_init(FileBuilder *builder);
extern void builder_free(FileBuilder *builder);

/* Append raw bytes. */
extern void builder_add(FileBuilder *builder, const void *bytes, size_t size);

/* A new, empty column. */
extern BuiltColumn *builder_column(FileBuilder *builder);

/* A page of the column with that message in its Any; add its buffers with builder_buffer. */
extern BuiltPage *builder_page(BuiltColumn *column, uint64_t nrows, const char *type_url,
							   const ProtobufCMessage *message);

/* Append a 64-byte aligned buffer and list it in the page. */
extern void builder_buffer(FileBuilder *builder, BuiltPage *page, const void *bytes, size_t size);

/* Append column metadata, tables and footer. */
extern void builder_finish(FileBuilder *builder, uint16_t version_major, uint16_t version_minor);

/* A page of version 2.0 of non-NULL fixed-width values of that many bits. */
extern void builder_flat_page(FileBuilder *builder, BuiltColumn *column, uint64_t nrows, uint64_t bits,
							  const void *values, size_t size);

/* A page of version 2.0 of strings; a NULL pointer is a NULL. */
extern void builder_text_page(FileBuilder *builder, BuiltColumn *column, uint64_t nrows, const char *const *values);

/* ---- encodings of version 2.0 on the caller's stack: INIT the parts, then link them with these ---- */

extern void encoding_flat(Lance__Encodings20__ArrayEncoding *out, Lance__Encodings20__Flat *flat,
						  Lance__Encodings20__Buffer *buffer, uint64_t bits, uint32_t index);

#endif
