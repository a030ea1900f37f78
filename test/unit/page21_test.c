/*
 * page21_test.c
 *	  Pages of file versions 2.1 and 2.2 made by hand: what is read, how much of it, and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <cmocka.h>

#include "base/env.h"
#include "encoding/page.h"
#include "page_memory.h"
#include "proto/encodings21.pb-c.h"

#define INIT(NAME) LANCE__ENCODINGS21__##NAME##__INIT
#define CODEC(NAME) LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_##NAME
#define ITEM LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_ITEM
#define NULLABLE LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_ITEM
#define LIST LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_LIST

typedef Lance__Encodings21__CompressiveEncoding Codec;

static LncContext ctx;
static LncArena *arena;

/* Messages that the tests start from. */
static Lance__Encodings21__Flat flat_message;
static Codec flat;
static Lance__Encodings21__Flat level_message;
static Codec levels;
static Lance__Encodings21__RepDefLayer layers[4];
static Lance__Encodings21__MiniBlockLayout mini;
static Lance__Encodings21__FullZipLayout zip;
static Lance__Encodings21__ConstantLayout constant;
static Lance__Encodings21__PageLayout layout;
static PageMemory memory;

static Codec
make_flat(Lance__Encodings21__Flat *message, uint64_t bits)
{
	Codec codec = INIT(COMPRESSIVE_ENCODING);

	*message = (Lance__Encodings21__Flat)INIT(FLAT);
	message->bits_per_value = bits;
	codec.compression_case = CODEC(FLAT);
	codec.flat = message;
	return codec;
}

static int
setup(void **state)
{
	(void)state;
	lnc_context_init(&ctx, lnc_env_default());
	arena = lnc_arena_create(lnc_env_default());
	flat = make_flat(&flat_message, 32);
	levels = make_flat(&level_message, 16);
	layers[0] = NULLABLE;
	mini = (Lance__Encodings21__MiniBlockLayout)INIT(MINI_BLOCK_LAYOUT);
	mini.n_layers = 1;
	mini.layers = layers;
	mini.num_buffers = 1;
	mini.value_compression = &flat;
	zip = (Lance__Encodings21__FullZipLayout)INIT(FULL_ZIP_LAYOUT);
	zip.n_layers = 1;
	zip.layers = layers;
	lance__encodings21__constant_layout__init(&constant);
	constant.n_layers = 1;
	constant.layers = layers;
	layout = (Lance__Encodings21__PageLayout)INIT(PAGE_LAYOUT);
	layout.layout_case = LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_MINI_BLOCK_LAYOUT;
	layout.mini_block_layout = &mini;
	page_memory_init(&memory);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	lnc_arena_destroy(arena);
	return 0;
}

static LncCode
open_page(const char *logical, uint64_t nrows, LncPage **page)
{
	LncField *field;
	const LncField **path;
	LncPageSpec spec = {.source = &memory.source, .nrows = nrows, .file_minor = 1};
	uint8_t *bytes;
	size_t size = lance__encodings21__page_layout__get_packed_size(&layout);

	assert_int_equal(LNC_NEW(&ctx, arena, &field, 1), LNC_OK);
	assert_int_equal(lnc_type_parse(&ctx, arena, logical, &field->type), LNC_OK);
	assert_int_equal(lnc_arena_alloc(&ctx, arena, size, (void **)&bytes), LNC_OK);
	lance__encodings21__page_layout__pack(&layout, bytes);
	spec.encoding = (LncSlice){bytes, size};
	assert_int_equal(LNC_NEW(&ctx, arena, &path, 1), LNC_OK);
	path[0] = field;
	spec.path = path;
	spec.npath = 1;
	return lnc_page21_open(&ctx, arena, &spec, page);
}

static int32_t
int32_at(const LncColumn *column, size_t row)
{
	return ((const int32_t *)column->values)[row];
}

/* A chunk of int32 values first, first + 1, …; def levels: 1 for each third value. Returns its size. */
static size_t
make_chunk(uint8_t *chunk, int32_t first, uint16_t count)
{
	uint16_t sizes[3] = {count, (uint16_t)(count * 2), (uint16_t)(count * 4)};
	size_t at = 8;

	memset(chunk, 0, 8);
	memcpy(chunk, sizes, sizeof(sizes));
	for (uint16_t i = 0; i < count; i++)
	{
		uint16_t def = (first + i) % 3 == 0;

		memcpy(chunk + at + i * 2, &def, 2);
	}
	at = (at + sizes[1] + 7) & ~(size_t)7;
	for (uint16_t i = 0; i < count; i++)
	{
		int32_t value = first + i;

		memcpy(chunk + at + i * 4, &value, 4);
	}
	return (at + sizes[2] + 7) & ~(size_t)7;
}

/* Three chunks of 64, 64 and 10 int32 values. */
static uint8_t chunk_data[2048];
static uint16_t chunk_table[3];

static size_t
make_three_chunks(void)
{
	size_t at = 0;

	memset(chunk_data, 0xEE, sizeof(chunk_data));
	for (int i = 0; i < 3; i++)
	{
		size_t size = make_chunk(chunk_data + at, i * 64, i < 2 ? 64 : 10);

		chunk_table[i] = (uint16_t)((size / 8 - 1) << 4 | (i < 2 ? 6 : 0));
		at += size;
	}
	mini.def_compression = &levels;
	mini.num_items = 138;
	page_memory_add(&memory, chunk_table, sizeof(chunk_table));
	page_memory_add(&memory, chunk_data, at);
	return at;
}

static void
mini_blocks_give_any_range(void **state)
{
	LncPage *page;
	LncColumn column;

	(void)state;
	make_three_chunks();
	assert_int_equal(open_page("int32", 138, &page), LNC_OK);
	assert_string_equal(page->layout, "mini-block");
	for (uint64_t first = 0; first <= 138; first += 23)
		for (uint64_t count = 0; first + count <= 138; count += 23)
		{
			assert_int_equal(page->decode(&ctx, page, arena, first, count, &column), LNC_OK);
			assert_int_equal(column.length, count);
			for (uint64_t i = 0; i < count; i++)
			{
				assert_int_equal(int32_at(&column, i), first + i);
				assert_int_equal(lnc_column_is_null(&column, (int64_t)i), (first + i) % 3 == 0);
			}
		}
	assert_int_equal(page->decode(&ctx, page, arena, 138, 1, &column), LNC_CORRUPT);
	assert_int_equal(page->decode(&ctx, page, arena, 1, UINT64_MAX, &column), LNC_CORRUPT);
}

static void
mini_blocks_are_read_once_and_only_when_needed(void **state)
{
	LncPage *page;
	LncColumn column;
	size_t data_size = make_three_chunks();
	size_t first_size = ((size_t)(chunk_table[0] >> 4) + 1) * 8;
	uint64_t before;

	(void)state;
	assert_int_equal(open_page("int32", 138, &page), LNC_OK);
	before = memory.bytes_read;
	assert_int_equal(page->decode(&ctx, page, arena, 3, 5, &column), LNC_OK);
	assert_int_equal(memory.bytes_read - before, first_size);
	assert_int_equal(page->decode(&ctx, page, arena, 8, 40, &column), LNC_OK);
	assert_int_equal(memory.bytes_read - before, first_size);
	for (uint64_t row = 48; row < 138; row += 10)
	{
		assert_int_equal(page->decode(&ctx, page, arena, row, row + 10 <= 138 ? 10 : 138 - row, &column), LNC_OK);
		assert_int_equal(int32_at(&column, 0), row);
	}
	assert_int_equal(memory.bytes_read - before, data_size);
}

static void
values_without_null_have_no_validity(void **state)
{
	LncPage *page;
	LncColumn column;

	(void)state;
	make_three_chunks();
	assert_int_equal(open_page("int32", 138, &page), LNC_OK);
	assert_int_equal(page->decode(&ctx, page, arena, 1, 2, &column), LNC_OK);
	assert_null(column.validity);
}

static void
damaged_mini_blocks_are_refused(void **state)
{
	LncPage *page;
	LncColumn column;
	uint16_t word;
	size_t size = make_three_chunks();

	(void)state;
	/* Sizes, number of levels, and a level, each in turn. */
	assert_int_equal(open_page("int32", 138, &page), LNC_OK);
	for (size_t at = 0; at < 6; at += 2)
	{
		memcpy(&word, chunk_data + at, 2);
		chunk_data[at + 1] = 0xFF;
		assert_int_equal(page->decode(&ctx, page, arena, 0, 10, &column), LNC_CORRUPT);
		memcpy(chunk_data + at, &word, 2);
	}
	chunk_data[8] = 2;
	assert_int_equal(page->decode(&ctx, page, arena, 0, 10, &column), LNC_CORRUPT);
	chunk_data[8] = 1;
	assert_int_equal(page->decode(&ctx, page, arena, 0, 10, &column), LNC_OK);

	/* The table: chunks that take more than there is, too many values, no log, a wrong last log. */
	memory.sizes[1] = size - 8;
	assert_int_equal(open_page("int32", 138, &page), LNC_CORRUPT);
	memory.sizes[1] = size;
	mini.num_items = 127;
	assert_int_equal(open_page("int32", 127, &page), LNC_CORRUPT);
	mini.num_items = 138;
	assert_int_equal(open_page("int32", 139, &page), LNC_CORRUPT);
	mini.num_items = UINT64_MAX;
	assert_int_equal(open_page("int32", UINT64_MAX, &page), LNC_CORRUPT);
	mini.num_items = 138;
	chunk_table[1] &= (uint16_t)~15;
	assert_int_equal(open_page("int32", 138, &page), LNC_CORRUPT);
	chunk_table[1] |= 6;
	chunk_table[2] |= 4;
	assert_int_equal(open_page("int32", 138, &page), LNC_CORRUPT);
	chunk_table[2] &= (uint16_t)~15;
	memory.sizes[0] = 5;
	assert_int_equal(open_page("int32", 138, &page), LNC_CORRUPT);
	memory.sizes[0] = 0;
	assert_int_equal(open_page("int32", 138, &page), LNC_CORRUPT);
	memory.sizes[0] = sizeof(chunk_table);
	mini.num_buffers = 2;
	assert_int_equal(open_page("int32", 138, &page), LNC_CORRUPT);
	mini.num_buffers = 1;
	memory.source.nbuffers = 1;
	assert_int_equal(open_page("int32", 138, &page), LNC_CORRUPT);
}

static void
types_and_stored_values_must_agree(void **state)
{
	LncPage *page;

	(void)state;
	make_three_chunks();
	assert_int_equal(open_page("int64", 138, &page), LNC_CORRUPT);
	assert_int_equal(open_page("string", 138, &page), LNC_CORRUPT);
	assert_int_equal(open_page("bool", 138, &page), LNC_CORRUPT);
	assert_int_equal(open_page("fixed_size_list:float:2", 138, &page), LNC_CORRUPT);
	assert_int_equal(open_page("null", 138, &page), LNC_CORRUPT);
	assert_int_equal(open_page("float", 138, &page), LNC_OK);
	assert_int_equal(open_page("fixed_size_list:int16:2", 138, &page), LNC_OK);
	assert_int_equal(open_page("interval", 138, &page), LNC_UNSUPPORTED);
	level_message.bits_per_value = 8;
	assert_int_equal(open_page("int32", 138, &page), LNC_CORRUPT);
}

static void
dictionaries_are_looked_up(void **state)
{
	/* One chunk of four u8 indices, no levels; items "x", "", "yz". */
	uint8_t chunk[16] = {0, 0, 4, 0, 0, 0, 0, 0, 2, 0, 1, 2};
	uint16_t table[] = {(16 / 8 - 1) << 4 | 2};
	uint32_t items[] = {32, 24, 0, 1, 1, 3, 0x007A7978};
	Lance__Encodings21__Flat index_message;
	Lance__Encodings21__Flat offset_message;
	Lance__Encodings21__Variable variable_message = INIT(VARIABLE);
	Codec index = make_flat(&index_message, 8);
	Codec offset = make_flat(&offset_message, 32);
	Codec variable = INIT(COMPRESSIVE_ENCODING);
	LncPage *page;
	LncColumn column;

	(void)state;
	variable_message.offsets = &offset;
	variable.compression_case = CODEC(VARIABLE);
	variable.variable = &variable_message;
	mini.value_compression = &index;
	mini.dictionary = &variable;
	mini.num_dictionary_items = 3;
	mini.num_items = 4;
	page_memory_add(&memory, table, sizeof(table));
	page_memory_add(&memory, chunk, sizeof(chunk));
	page_memory_add(&memory, items, sizeof(items));
	assert_int_equal(open_page("string", 4, &page), LNC_OK);
	assert_int_equal(page->decode(&ctx, page, arena, 0, 4, &column), LNC_OK);
	assert_int_equal(column.offsets[4], 2 + 1 + 0 + 2);
	assert_memory_equal(column.data, "yzxyz", 5);

	/* The field of an Arrow dictionary gives its values. */
	assert_int_equal(open_page("dict:string:int8:false", 4, &page), LNC_OK);
	assert_int_equal(page->decode(&ctx, page, arena, 3, 1, &column), LNC_OK);
	assert_int_equal(column.type->kind, LNC_TYPE_UTF8);
	assert_memory_equal(column.data, "yz", 2);

	chunk[10] = 3;
	assert_int_equal(open_page("string", 4, &page), LNC_OK);
	assert_int_equal(page->decode(&ctx, page, arena, 0, 4, &column), LNC_CORRUPT);
	mini.num_dictionary_items = 4;
	assert_int_equal(open_page("string", 4, &page), LNC_CORRUPT);
	mini.num_dictionary_items = UINT64_MAX;
	assert_int_equal(open_page("string", 4, &page), LNC_CORRUPT);
	memory.source.nbuffers = 2;
	assert_int_equal(open_page("string", 4, &page), LNC_CORRUPT);
}

static void
use_full_zip(void)
{
	layout.layout_case = LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_FULL_ZIP_LAYOUT;
	layout.full_zip_layout = &zip;
	zip.value_compression = &flat;
}

static void
full_zip_gives_fixed_values(void **state)
{
	static const uint8_t data[] = {0, 1, 0, 0, 0, 1, 9, 9, 9, 9, 0, 3, 0, 0, 0};
	LncPage *page;
	LncColumn column;

	(void)state;
	use_full_zip();
	zip.bits_def = 1;
	zip.num_items = zip.num_visible_items = 3;
	zip.details_case = LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_VALUE;
	zip.bits_per_value = 32;
	page_memory_add(&memory, data, sizeof(data));
	assert_int_equal(open_page("int32", 3, &page), LNC_OK);
	assert_string_equal(page->layout, "full-zip");
	assert_int_equal(page->decode(&ctx, page, arena, 1, 2, &column), LNC_OK);
	assert_int_equal(memory.bytes_read, 10);
	assert_true(lnc_column_is_null(&column, 0));
	assert_int_equal(int32_at(&column, 1), 3);

	memory.sizes[0] = 14;
	assert_int_equal(page->decode(&ctx, page, arena, 0, 3, &column), LNC_CORRUPT);
	zip.bits_per_value = 40;
	assert_int_equal(open_page("int32", 3, &page), LNC_CORRUPT);
	zip.bits_per_value = 32;
	zip.num_items = 4;
	assert_int_equal(open_page("int32", 3, &page), LNC_CORRUPT);
	zip.num_items = 3;
	zip.bits_def = 17;
	assert_int_equal(open_page("int32", 3, &page), LNC_CORRUPT);
	zip.bits_def = 1;
	zip.bits_rep = 1;
	assert_int_equal(open_page("int32", 3, &page), LNC_CORRUPT);
}

static void
full_zip_gives_variable_values(void **state)
{
	/* "ab", NULL, "", "c": lengths of 32 bits behind a control byte. */
	uint8_t data[] = {0, 2, 0, 0, 0, 'a', 'b', 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 'c'};
	uint8_t index[] = {0, 7, 8, 13, 19};
	Lance__Encodings21__Flat offset_message;
	Lance__Encodings21__Variable variable_message = INIT(VARIABLE);
	Codec offset = make_flat(&offset_message, 32);
	Codec variable = INIT(COMPRESSIVE_ENCODING);
	LncPage *page;
	LncColumn column;

	(void)state;
	use_full_zip();
	variable_message.offsets = &offset;
	variable.compression_case = CODEC(VARIABLE);
	variable.variable = &variable_message;
	zip.value_compression = &variable;
	zip.bits_def = 1;
	zip.num_items = zip.num_visible_items = 4;
	zip.details_case = LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_OFFSET;
	zip.bits_per_offset = 32;
	page_memory_add(&memory, data, sizeof(data));
	page_memory_add(&memory, index, sizeof(index));
	assert_int_equal(open_page("binary", 4, &page), LNC_OK);
	assert_int_equal(page->decode(&ctx, page, arena, 0, 4, &column), LNC_OK);
	assert_memory_equal(column.data, "abc", 3);
	assert_int_equal(column.offsets[1], 2);
	assert_int_equal(column.offsets[3], 2);
	assert_int_equal(column.offsets[4], 3);
	assert_true(lnc_column_is_null(&column, 1));
	assert_false(lnc_column_is_null(&column, 2));
	assert_int_equal(page->decode(&ctx, page, arena, 3, 1, &column), LNC_OK);
	assert_int_equal(column.offsets[0], 0);
	assert_memory_equal(column.data, "c", 1);

	index[3] = 14;
	assert_int_equal(page->decode(&ctx, page, arena, 3, 1, &column), LNC_CORRUPT);
	index[3] = 20;
	assert_int_equal(page->decode(&ctx, page, arena, 3, 1, &column), LNC_CORRUPT);
	index[4] = 255;
	assert_int_equal(page->decode(&ctx, page, arena, 0, 4, &column), LNC_CORRUPT);
	index[4] = 19;
	data[4] = 0xFF;
	assert_int_equal(page->decode(&ctx, page, arena, 0, 4, &column), LNC_CORRUPT);
	data[4] = 0;
	data[7] = 2;
	assert_int_equal(page->decode(&ctx, page, arena, 0, 4, &column), LNC_CORRUPT);
	memory.sizes[1] = 6;
	assert_int_equal(open_page("binary", 4, &page), LNC_CORRUPT);
	memory.source.nbuffers = 1;
	assert_int_equal(open_page("binary", 4, &page), LNC_CORRUPT);
}

static void
use_constant(void)
{
	layout.layout_case = LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_CONSTANT_LAYOUT;
	layout.constant_layout = &constant;
}

static void
constants_repeat(void **state)
{
	uint8_t value[] = {5, 0, 0, 0};
	static const uint16_t def[] = {0, 1, 0};
	/* Two buffers: offsets 0 and 3, bytes "abc". */
	uint8_t scalar[] = {2, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 'c'};
	LncPage *page;
	LncColumn column;

	(void)state;
	use_constant();
	constant.inline_value_presence_case = LANCE__ENCODINGS21__CONSTANT_LAYOUT__INLINE_VALUE_PRESENCE_INLINE_VALUE;
	constant.inline_value = (ProtobufCBinaryData){.data = value, .len = sizeof(value)};
	assert_int_equal(open_page("int32", UINT64_C(1) << 40, &page), LNC_OK);
	assert_int_equal(page->decode(&ctx, page, arena, UINT64_C(1) << 39, 1000, &column), LNC_OK);
	assert_int_equal(int32_at(&column, 0), 5);
	assert_int_equal(int32_at(&column, 999), 5);
	assert_int_equal(open_page("int64", 3, &page), LNC_CORRUPT);
	assert_int_equal(open_page("string", 3, &page), LNC_OK);

	constant.inline_value.len = 1;
	assert_int_equal(open_page("bool", 20, &page), LNC_OK);
	assert_int_equal(page->decode(&ctx, page, arena, 2, 18, &column), LNC_OK);
	assert_true(lnc_bit(column.values, 17));

	page_memory_add(&memory, "", 0);
	page_memory_add(&memory, def, sizeof(def));
	constant.inline_value.len = 4;
	assert_int_equal(open_page("int32", 3, &page), LNC_OK);
	assert_int_equal(page->decode(&ctx, page, arena, 1, 2, &column), LNC_OK);
	assert_true(lnc_column_is_null(&column, 0));
	assert_false(lnc_column_is_null(&column, 1));
	assert_int_equal(open_page("int32", 4, &page), LNC_CORRUPT);

	page_memory_init(&memory);
	page_memory_add(&memory, scalar, sizeof(scalar));
	constant.inline_value_presence_case = 0;
	assert_int_equal(open_page("string", 3, &page), LNC_OK);
	assert_int_equal(page->decode(&ctx, page, arena, 0, 3, &column), LNC_OK);
	assert_memory_equal(column.data, "abcabcabc", 9);
	assert_int_equal(column.offsets[2], 6);
	scalar[16] = 4;
	assert_int_equal(open_page("string", 3, &page), LNC_CORRUPT);
	scalar[16] = 3;
	scalar[8] = 2;
	assert_int_equal(open_page("string", 3, &page), LNC_CORRUPT);
	scalar[8] = 255;
	assert_int_equal(open_page("string", 3, &page), LNC_CORRUPT);
	scalar[0] = 255;
	assert_int_equal(open_page("string", 3, &page), LNC_CORRUPT);
	memory.sizes[0] = 3;
	assert_int_equal(open_page("string", 3, &page), LNC_CORRUPT);
}

static void
pages_without_values_are_null(void **state)
{
	static const char *const types[] = {"int32", "string", "bool", "null", "fixed_size_list:float:3"};
	LncPage *page;
	LncColumn column;

	(void)state;
	use_constant();
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
	{
		assert_int_equal(open_page(types[i], 100, &page), LNC_OK);
		assert_int_equal(page->decode(&ctx, page, arena, 10, 30, &column), LNC_OK);
		assert_int_equal(column.length, 30);
		for (int64_t row = 0; row < 30; row++)
			assert_true(lnc_column_is_null(&column, row));
	}
}

static void
what_is_not_read_is_named(void **state)
{
	Lance__Encodings21__VariablePackedStruct packed_message = INIT(VARIABLE_PACKED_STRUCT);
	Lance__Encodings21__PackedStruct fixed = INIT(PACKED_STRUCT);
	Lance__Encodings21__BlobLayout blob = INIT(BLOB_LAYOUT);
	uint64_t widths[] = {32, 1};
	Codec packed = INIT(COMPRESSIVE_ENCODING);
	Codec unknown = INIT(COMPRESSIVE_ENCODING);
	LncPage *page;

	(void)state;
	make_three_chunks();
	layers[1] = ITEM;
	mini.n_layers = 2;
	assert_int_equal(open_page("int32", 138, &page), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "2 layers where its column has 1"));
	layers[1] = LIST;
	assert_int_equal(open_page("int32", 138, &page), LNC_CORRUPT);
	layers[0] = LIST;
	assert_int_equal(open_page("int32", 138, &page), LNC_CORRUPT);
	layers[0] = (Lance__Encodings21__RepDefLayer)7;
	assert_int_equal(open_page("int32", 138, &page), LNC_UNSUPPORTED);
	mini.n_layers = 0;
	assert_int_equal(open_page("int32", 138, &page), LNC_CORRUPT);
	mini.n_layers = 1;
	layers[0] = ITEM;

	packed.compression_case = CODEC(VARIABLE_PACKED_STRUCT);
	packed.variable_packed_struct = &packed_message;
	mini.value_compression = &packed;
	assert_int_equal(open_page("int32", 138, &page), LNC_UNSUPPORTED);
	assert_non_null(strstr(ctx.error.message, "\"variable_packed_struct\""));
	packed.compression_case = CODEC(PACKED_STRUCT);
	packed.packed_struct = &fixed;
	fixed.n_bits_per_value = 2;
	fixed.bits_per_value = widths;
	assert_int_equal(open_page("int32", 138, &page), LNC_UNSUPPORTED);
	assert_non_null(strstr(ctx.error.message, "a packed struct with booleans"));
	mini.value_compression = &unknown;
	assert_int_equal(open_page("int32", 138, &page), LNC_UNSUPPORTED);
	mini.value_compression = NULL;
	assert_int_equal(open_page("int32", 138, &page), LNC_CORRUPT);

	layout.layout_case = LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_BLOB_LAYOUT;
	layout.blob_layout = &blob;
	assert_int_equal(open_page("int32", 138, &page), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "page of blobs"));
	assert_int_equal(open_page("blob", 138, &page), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "no layout of values"));
	layout.layout_case = 0;
	assert_int_equal(open_page("int32", 138, &page), LNC_UNSUPPORTED);
}

static void
codecs_nested_without_end_are_refused(void **state)
{
	enum
	{
		DEPTH = 200
	};
	static Lance__Encodings21__General general[DEPTH];
	static Lance__Encodings21__BufferCompression compression;
	static Codec codecs[DEPTH];
	LncPage *page;

	(void)state;
	make_three_chunks();
	compression = (Lance__Encodings21__BufferCompression)INIT(BUFFER_COMPRESSION);
	compression.scheme = LANCE__ENCODINGS21__COMPRESSION_SCHEME__COMPRESSION_LZ4;
	for (int i = 0; i < DEPTH; i++)
	{
		general[i] = (Lance__Encodings21__General)INIT(GENERAL);
		general[i].compression = &compression;
		general[i].values = i == 0 ? &flat : &codecs[i - 1];
		codecs[i] = (Codec)INIT(COMPRESSIVE_ENCODING);
		codecs[i].compression_case = CODEC(GENERAL);
		codecs[i].general = &general[i];
	}
	mini.value_compression = &codecs[DEPTH - 1];
	assert_int_equal(open_page("int32", 138, &page), LNC_LIMIT);
	mini.value_compression = &codecs[3];
	assert_int_equal(open_page("int32", 138, &page), LNC_OK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(mini_blocks_give_any_range, setup, teardown),
		cmocka_unit_test_setup_teardown(mini_blocks_are_read_once_and_only_when_needed, setup, teardown),
		cmocka_unit_test_setup_teardown(values_without_null_have_no_validity, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_mini_blocks_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(types_and_stored_values_must_agree, setup, teardown),
		cmocka_unit_test_setup_teardown(dictionaries_are_looked_up, setup, teardown),
		cmocka_unit_test_setup_teardown(full_zip_gives_fixed_values, setup, teardown),
		cmocka_unit_test_setup_teardown(full_zip_gives_variable_values, setup, teardown),
		cmocka_unit_test_setup_teardown(constants_repeat, setup, teardown),
		cmocka_unit_test_setup_teardown(pages_without_values_are_null, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_read_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(codecs_nested_without_end_are_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
