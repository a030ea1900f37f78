/*
 * file.c
 *	  Opening a data file: footer, offset tables, column metadata.
 *
 * The footer's facts are checked before any offset in it is used; the metadata of a column when it is loaded.
 *
 *	footer, last 40 bytes of the file
 *	 0	u64		position of the first column's metadata
 *	 8	u64		position of the column metadata table: per column u64 position, u64 length
 *	16	u64		position of the global buffer table: per buffer u64 position, u64 length
 *	24	u32		number of global buffers
 *	28	u32		number of columns
 *	32	u16 u16	major, minor
 *	36	4 bytes	"LANC"
 *
 * Source of the facts: format.md section 6.
 */
#include "format/file.h"

#include <inttypes.h>
#include <stdlib.h>

#include "format/file_internal.h"
#include "proto/encodings20.pb-c.h"
#include "proto/file2.pb-c.h"
#include "proto/unpack.h"

#define FOOTER_SIZE 40
#define TRAILER_SIZE 8 /* version and magic, the part that all versions share */
#define TAIL_SIZE ((uint64_t)64 * 1024)

/* Metadata outside the tail is read in runs of this size, so that neighbouring columns share a request. */
#define REGION_SIZE ((uint64_t)1024 * 1024)

/* Bytes of one entry of an offset table. */
#define TABLE_ENTRY 16

LncCode
lnc_file_blame(LncContext *ctx, LncCode code, const LncFile *file, int64_t column, int64_t page)
{
	if (code == LNC_OK || code == LNC_CANCELLED || code == LNC_NO_MEMORY)
		return code;
	if (page >= 0)
		lnc_detail(ctx, "File \"%s\", file column %" PRId64 ", page %" PRId64 ".", file->key, column, page);
	else if (column >= 0)
		lnc_detail(ctx, "File \"%s\", file column %" PRId64 ".", file->key, column);
	else
		lnc_detail(ctx, "File \"%s\".", file->key);
	return code;
}

/* ---- footer ---- */

/* Major and minor of the trailer to minor of 2.x; refuses what is not read. */
static LncCode
check_version(LncContext *ctx, const uint8_t *trailer, uint32_t *minor)
{
	uint16_t file_major = lnc_le16(trailer);
	uint16_t file_minor = lnc_le16(trailer + 2);

	if (memcmp(trailer + 4, "LANC", 4) != 0)
		return lnc_fail(ctx, LNC_CORRUPT, "the file is not a Lance data file");
	if ((file_major == 0 && file_minor == 3) || (file_major == 2 && file_minor == 0))
		*minor = 0;
	else if (file_major == 2 && file_minor <= 2)
		*minor = file_minor;
	else if (file_major == 0 && file_minor <= 2)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "data file version 0.1 (legacy) is not read");
	else
		return lnc_fail(ctx, LNC_UNSUPPORTED, "data file version %u.%u is not read", file_major, file_minor);
	return LNC_OK;
}

/* length bytes at offset of the file, from what is in memory or from the store. */
static LncCode
metadata_bytes(LncContext *ctx, const LncFile *file, uint64_t offset, uint64_t length, LncSlice *out)
{
	FileRegion *region = file->region;
	const FileRegion *kept[2] = {&file->tail, region};
	LncSlice recalled;
	LncRange range;
	const uint8_t *bytes;

	for (int i = 0; i < 2; i++)
		if (offset >= kept[i]->offset && lnc_range_ok(offset - kept[i]->offset, length, kept[i]->bytes.size))
		{
			out->data = kept[i]->bytes.data + (offset - kept[i]->offset);
			out->size = (size_t)length;
			return LNC_OK;
		}

	range.offset = offset;
	range.length = file->size - offset;
	if (range.length > REGION_SIZE)
		range.length = REGION_SIZE;
	if (range.length < length)
		range.length = length;
	LNC_TRY(lnc_store_recall(ctx, file->store, file->arena, &file->identity, offset, &recalled));
	if (recalled.size >= length && recalled.data != NULL)
	{
		bytes = recalled.data;
		range.length = recalled.size;
	}
	else
	{
		LNC_TRY(lnc_store_read_ranges(ctx, file->store, file->arena, file->key, 1, &range, &bytes));
		LNC_TRY(lnc_store_remember(ctx, file->store, &file->identity, offset,
								   (LncSlice){.data = bytes, .size = (size_t)range.length}));
	}
	region->offset = offset;
	region->bytes.data = bytes;
	region->bytes.size = (size_t)range.length;
	out->data = bytes;
	out->size = (size_t)length;
	return LNC_OK;
}

/* Check the footer and read the column metadata table. */
static LncCode
read_footer(LncContext *ctx, LncFile *file)
{
	LncSlice tail = file->tail.bytes;
	const uint8_t *footer;
	uint64_t metadata_start;
	uint64_t column_table;
	uint64_t buffer_table;
	uint64_t body = file->size - FOOTER_SIZE;
	uint32_t nbuffers;
	LncSlice table;

	if (tail.size < TRAILER_SIZE)
		return lnc_fail(ctx, LNC_CORRUPT, "the file is too short to be a Lance data file");
	LNC_TRY(check_version(ctx, tail.data + tail.size - TRAILER_SIZE, &file->minor));
	if (tail.size < FOOTER_SIZE)
		return lnc_fail(ctx, LNC_CORRUPT, "the file is too short to hold a footer");

	footer = tail.data + tail.size - FOOTER_SIZE;
	metadata_start = lnc_le64(footer);
	column_table = lnc_le64(footer + 8);
	buffer_table = lnc_le64(footer + 16);
	nbuffers = lnc_le32(footer + 24);
	file->ncolumns = lnc_le32(footer + 28);
	if (!lnc_range_ok(buffer_table, (uint64_t)nbuffers * TABLE_ENTRY, body))
		return lnc_fail(ctx, LNC_CORRUPT, "the global buffer table is not inside the file");
	if (!lnc_range_ok(column_table, (uint64_t)file->ncolumns * TABLE_ENTRY, body))
		return lnc_fail(ctx, LNC_CORRUPT, "the column metadata table is not inside the file");
	if (metadata_start > column_table)
		return lnc_fail(ctx, LNC_CORRUPT, "the column metadata begins after its table");

	LNC_TRY(metadata_bytes(ctx, file, column_table, (uint64_t)file->ncolumns * TABLE_ENTRY, &table));
	LNC_TRY(LNC_NEW(ctx, file->arena, &file->columns, file->ncolumns));
	for (uint32_t i = 0; i < file->ncolumns; i++)
	{
		FileColumn *column = &file->columns[i];

		column->position = lnc_le64(table.data + (size_t)i * TABLE_ENTRY);
		column->length = lnc_le64(table.data + (size_t)i * TABLE_ENTRY + 8);
		if (!lnc_range_ok(column->position, column->length, body))
			return lnc_fail(ctx, LNC_CORRUPT, "the metadata of file column %u is not inside the file", i);
	}
	return LNC_OK;
}

/* Remember what the tail has of the metadata; values that it has too are left out. */
static LncCode
remember_metadata(LncContext *ctx, const LncFile *file)
{
	uint64_t start = lnc_le64(file->tail.bytes.data + file->tail.bytes.size - FOOTER_SIZE);
	LncSlice kept = file->tail.bytes;

	if (start > file->tail.offset)
	{
		kept.data += start - file->tail.offset;
		kept.size -= (size_t)(start - file->tail.offset);
	}
	return lnc_store_remember(ctx, file->store, &file->identity, LNC_AT_END, kept);
}

LncCode
lnc_file_open(LncContext *ctx, LncArena *arena, LncStore *store, const char *key, uint64_t size_hint, LncFile **out)
{
	LncFile *file;
	bool recalled;
	char *copy;
	LncCode code;

	LNC_TRY(LNC_NEW(ctx, arena, &file, 1));
	LNC_TRY(LNC_NEW(ctx, arena, &file->region, 1));
	LNC_TRY(lnc_arena_strndup(ctx, arena, key, strlen(key), &copy));
	file->arena = arena;
	file->store = store;
	file->key = copy;
	file->read_ahead = LNC_READ_AHEAD_MOST;
	LNC_TRY(lnc_store_identify(ctx, store, arena, key, size_hint, NULL, &file->identity));
	LNC_TRY(lnc_store_recall(ctx, store, arena, &file->identity, LNC_AT_END, &file->tail.bytes));
	file->size = size_hint;
	recalled = file->tail.bytes.data != NULL;
	if (!recalled)
		LNC_TRY(lnc_store_read_tail(ctx, store, arena, key, TAIL_SIZE, &file->tail.bytes, &file->size));
	file->tail.offset = file->size - file->tail.bytes.size;
	if (size_hint != 0 && size_hint != file->size)
	{
		code = lnc_fail(ctx, LNC_CORRUPT, "the data file has %" PRIu64 " bytes instead of %" PRIu64, file->size,
						size_hint);
		return lnc_file_blame(ctx, code, file, -1, -1);
	}
	code = read_footer(ctx, file);
	if (code == LNC_OK && !recalled)
		code = remember_metadata(ctx, file);
	if (code != LNC_OK)
		return lnc_file_blame(ctx, code, file, -1, -1);
	*out = file;
	return LNC_OK;
}

/* ---- column metadata ---- */

/* The buffers of a page: as many sizes as offsets, each inside the file. */
static LncCode
check_buffers(LncContext *ctx, const LncFile *file, const Lance__File__V2__Page *page)
{
	if (page->n_buffer_offsets != page->n_buffer_sizes)
		return lnc_fail(ctx, LNC_CORRUPT, "a page states %zu buffer positions but %zu sizes",
						page->n_buffer_offsets, page->n_buffer_sizes);
	for (size_t i = 0; i < page->n_buffer_offsets; i++)
		if (!lnc_range_ok(page->buffer_offsets[i], page->buffer_sizes[i], file->size))
			return lnc_fail(ctx, LNC_CORRUPT, "buffer %zu of a page is not inside the file", i);
	return LNC_OK;
}

/* Where the encoding of a page is. */
static LncCode
locate_encoding(LncContext *ctx, const LncFile *file, const Lance__File__V2__Encoding *encoding, FilePage *page)
{
	if (encoding != NULL && encoding->location_case == LANCE__FILE__V2__ENCODING__LOCATION_DIRECT)
	{
		page->encoding.data = encoding->direct->encoding.data;
		page->encoding.size = encoding->direct->encoding.len;
		return LNC_OK;
	}
	if (encoding != NULL && encoding->location_case == LANCE__FILE__V2__ENCODING__LOCATION_INDIRECT)
	{
		page->indirect = true;
		page->encoding_offset = encoding->indirect->buffer_location;
		page->encoding_length = encoding->indirect->buffer_length;
		if (!lnc_range_ok(page->encoding_offset, page->encoding_length, file->size))
			return lnc_fail(ctx, LNC_CORRUPT, "the encoding of a page is not inside the file");
		return LNC_OK;
	}
	return lnc_fail(ctx, LNC_CORRUPT, "a page states no encoding");
}

/* Whether the column's own encoding says that it holds blobs; refuses encodings that are not known. */
static LncCode
check_column_encoding(LncContext *ctx, const LncFile *file, const Lance__File__V2__Encoding *encoding,
					  FileColumn *column)
{
	ProtobufCMessage *message;
	const Lance__File__V2__AnyMessage *any;
	const Lance__Encodings20__ColumnEncoding *inner;
	LncSlice bytes;

	if (encoding == NULL || encoding->location_case == LANCE__FILE__V2__ENCODING__LOCATION_NONE)
		return LNC_OK;
	if (encoding->location_case == LANCE__FILE__V2__ENCODING__LOCATION_DIRECT)
	{
		bytes.data = encoding->direct->encoding.data;
		bytes.size = encoding->direct->encoding.len;
	}
	else if (encoding->location_case == LANCE__FILE__V2__ENCODING__LOCATION_INDIRECT)
	{
		if (!lnc_range_ok(encoding->indirect->buffer_location, encoding->indirect->buffer_length, file->size))
			return lnc_fail(ctx, LNC_CORRUPT, "the encoding of the column is not inside the file");
		LNC_TRY(metadata_bytes(ctx, file, encoding->indirect->buffer_location, encoding->indirect->buffer_length,
							   &bytes));
	}
	else
		return lnc_fail(ctx, LNC_CORRUPT, "the column states no encoding");

	LNC_TRY(lnc_proto_unpack(ctx, file->arena, &lance__file__v2__any_message__descriptor, bytes, "column encoding",
							 &message));
	any = (const Lance__File__V2__AnyMessage *)message;
	if (strcmp(any->type_url, "/lance.encodings.ColumnEncoding") != 0)
		return lnc_fail(ctx, LNC_UNSUPPORTED, "column encoding \"%.200s\" is not read", any->type_url);
	bytes.data = any->value.data;
	bytes.size = any->value.len;
	LNC_TRY(lnc_proto_unpack(ctx, file->arena, &lance__encodings20__column_encoding__descriptor, bytes,
							 "column encoding", &message));
	inner = (const Lance__Encodings20__ColumnEncoding *)message;
	for (;;)
	{
		/* A zone index or the blob mark wraps the encoding of the values. */
		if (inner->column_encoding_case == LANCE__ENCODINGS20__COLUMN_ENCODING__COLUMN_ENCODING_VALUES)
			return LNC_OK;
		if (inner->column_encoding_case == LANCE__ENCODINGS20__COLUMN_ENCODING__COLUMN_ENCODING_BLOB)
		{
			column->blob = true;
			inner = inner->blob->inner;
		}
		else if (inner->column_encoding_case == LANCE__ENCODINGS20__COLUMN_ENCODING__COLUMN_ENCODING_ZONE_INDEX)
			inner = inner->zone_index->inner;
		else
			return lnc_fail(ctx, LNC_CORRUPT, "the column encoding is empty");
		if (inner == NULL)
			return lnc_fail(ctx, LNC_CORRUPT, "the column encoding is empty");
	}
}

static LncCode
load_column(LncContext *ctx, const LncFile *file, FileColumn *column)
{
	ProtobufCMessage *message;
	const Lance__File__V2__ColumnMetadata *metadata;
	LncSlice bytes;
	uint64_t row = 0;

	LNC_TRY(metadata_bytes(ctx, file, column->position, column->length, &bytes));
	LNC_TRY(lnc_proto_unpack(ctx, file->arena, &lance__file__v2__column_metadata__descriptor, bytes,
							 "column metadata", &message));
	metadata = (const Lance__File__V2__ColumnMetadata *)message;
	LNC_TRY(check_column_encoding(ctx, file, metadata->encoding, column));
	if (metadata->n_pages > UINT32_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "the column has too many pages");
	LNC_TRY(LNC_NEW(ctx, file->arena, &column->pages, metadata->n_pages));
	for (size_t i = 0; i < metadata->n_pages; i++)
	{
		const Lance__File__V2__Page *source = metadata->pages[i];
		FilePage *page = &column->pages[i];

		LNC_TRY(check_buffers(ctx, file, source));
		LNC_TRY(locate_encoding(ctx, file, source->encoding, page));
		page->first_row = row;
		page->nrows = source->length;
		page->nbuffers = (uint32_t)source->n_buffer_offsets;
		page->offsets = source->buffer_offsets;
		page->sizes = source->buffer_sizes;
		if (lnc_add_overflow(row, source->length, &row) || row > INT64_MAX)
			return lnc_fail(ctx, LNC_CORRUPT, "the pages of the column hold too many rows");
	}
	column->nrows = row;
	column->npages = (uint32_t)metadata->n_pages;
	column->loaded = true;
	return LNC_OK;
}

LncCode
lnc_file_load_column(LncContext *ctx, const LncFile *file, uint32_t column, const FileColumn **out)
{
	if (column >= file->ncolumns)
	{
		LncCode code =
			lnc_fail(ctx, LNC_CORRUPT, "the data file has %u columns, not %u", file->ncolumns, column + 1);

		return lnc_file_blame(ctx, code, file, -1, -1);
	}
	if (!file->columns[column].loaded)
	{
		LncCode code = load_column(ctx, file, &file->columns[column]);

		if (code != LNC_OK)
			return lnc_file_blame(ctx, code, file, column, -1);
	}
	*out = &file->columns[column];
	return LNC_OK;
}

/* ---- facts ---- */

uint32_t
lnc_file_minor(const LncFile *file)
{
	return file->minor;
}

uint32_t
lnc_file_ncolumns(const LncFile *file)
{
	return file->ncolumns;
}

uint32_t
lnc_file_nreaders(const LncFile *file)
{
	return file->nreaders;
}

void
lnc_file_limit_read_ahead(LncFile *file, uint64_t bytes)
{
	if (bytes > LNC_READ_AHEAD_MOST)
		bytes = LNC_READ_AHEAD_MOST;
	file->read_ahead = bytes < LNC_READ_AHEAD_LEAST ? LNC_READ_AHEAD_LEAST : bytes;
}

LncCode
lnc_file_keep_open(LncContext *ctx, LncFile *file)
{
	return file->open != NULL ? LNC_OK : lnc_object_open(ctx, file->arena, file->store, file->key, &file->open);
}

LncCode
lnc_file_column_rows(LncContext *ctx, const LncFile *file, uint32_t column, uint64_t *rows)
{
	const FileColumn *loaded;

	LNC_TRY(lnc_file_load_column(ctx, file, column, &loaded));
	*rows = loaded->nrows;
	return LNC_OK;
}

LncCode
lnc_file_npages(LncContext *ctx, const LncFile *file, uint32_t column, uint32_t *npages)
{
	const FileColumn *loaded;

	LNC_TRY(lnc_file_load_column(ctx, file, column, &loaded));
	*npages = loaded->npages;
	return LNC_OK;
}

LncCode
lnc_file_page_info(LncContext *ctx, const LncFile *file, uint32_t column, uint32_t page, LncPageInfo *out)
{
	const FileColumn *loaded;
	const FilePage *source;

	LNC_TRY(lnc_file_load_column(ctx, file, column, &loaded));
	if (page >= loaded->npages)
		return lnc_fail(ctx, LNC_INVALID, "file column %u has %u pages, not %u", column, loaded->npages, page + 1);
	source = &loaded->pages[page];
	out->column = column;
	out->page = page;
	out->first_row = source->first_row;
	out->nrows = source->nrows;
	out->nbuffers = source->nbuffers;
	out->bytes = 0;
	for (uint32_t i = 0; i < source->nbuffers; i++)
		if (lnc_add_overflow(out->bytes, source->sizes[i], &out->bytes))
			return lnc_fail(ctx, LNC_CORRUPT, "the buffers of a page are too large");
	return LNC_OK;
}
