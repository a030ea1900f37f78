/*
 * file_fuzz.c
 *	  Fuzz target: the input is a data file; each of its columns is read as every type that may fit, and runs of columns
 *	  as nested fields.
 */
#include <stdlib.h>

#include "format/field_reader.h"
#include "fuzz.h"

#define FUZZ_MAX_COLUMNS 16
#define FUZZ_MAX_PAGES 64
#define FUZZ_BATCH 500
#define FUZZ_MAX_BATCHES 4

/* Types of every width and layout; a page refuses those that it does not hold. */
#define FUZZ_TYPES 18

static const LncStoreConfig config;

/* Some batches from the front, one in the middle, the last row. */
static void
read_rows(LncContext *ctx, LncColumnReader *reader, LncArena *arena, uint64_t rows)
{
	uint64_t starts[FUZZ_MAX_BATCHES + 2];
	int n = 0;

	for (uint64_t first = 0; first < rows && n < FUZZ_MAX_BATCHES; first += FUZZ_BATCH)
		starts[n++] = first;
	starts[n++] = rows / 2;
	starts[n++] = rows > 0 ? rows - 1 : 0;
	for (int i = 0; i < n; i++)
	{
		uint64_t count = rows - starts[i] < FUZZ_BATCH ? rows - starts[i] : FUZZ_BATCH;
		LncColumn column;

		lnc_arena_reset(arena);
		if (lnc_column_reader_read(ctx, reader, arena, starts[i], count, &column) != LNC_OK)
			continue;
		if (column.length != (int64_t)count)
			abort();
		fuzz_read_column(&column);
	}
}

/* Rows that lie apart; returns how many runs they are. */
static size_t
scattered_rows(uint64_t rows, LncRowRun *runs, uint64_t *count)
{
	const LncRowRun wanted[] = {{0, 1}, {rows / 4, 3}, {rows / 2, 40}, {rows - 1, 1}};
	uint64_t end = 0;
	size_t n = 0;

	*count = 0;
	for (int i = 0; i < 4; i++)
		if (wanted[i].first >= end && lnc_range_ok(wanted[i].first, wanted[i].count, rows))
		{
			runs[n++] = wanted[i];
			end = wanted[i].first + wanted[i].count;
			*count += wanted[i].count;
		}
	return n;
}

static void
take_rows(LncContext *ctx, LncColumnReader *reader, LncArena *arena, uint64_t rows)
{
	LncRowRun runs[4];
	uint64_t count;
	size_t nruns = scattered_rows(rows, runs, &count);
	LncColumn column;

	lnc_arena_reset(arena);
	if (lnc_column_reader_take(ctx, reader, arena, nruns, runs, &column) != LNC_OK)
		return;
	if (column.length != (int64_t)count)
		abort();
	fuzz_read_column(&column);
}

static void
read_column(LncContext *ctx, LncArena *arena, LncArena *batch, LncFile *file, uint32_t column)
{
	uint64_t rows;
	uint32_t npages;
	LncPageInfo info;

	if (lnc_file_column_rows(ctx, file, column, &rows) != LNC_OK ||
		lnc_file_npages(ctx, file, column, &npages) != LNC_OK)
		return;
	for (uint32_t p = 0; p < npages && p < FUZZ_MAX_PAGES; p++)
		if (lnc_file_page_info(ctx, file, column, p, &info) == LNC_OK && info.first_row + info.nrows > rows)
			abort();
	for (unsigned t = 0; t < FUZZ_TYPES; t++)
	{
		LncField field = {.name = "x", .nullable = true};
		LncColumnReader *reader;

		if (lnc_type_parse(ctx, arena, fuzz_type(t), &field.type) == LNC_OK &&
			lnc_column_reader_open(ctx, arena, file, column, (const LncField *[]){&field}, 1, &reader) == LNC_OK)
		{
			read_rows(ctx, reader, batch, rows);
			take_rows(ctx, reader, batch, rows);
		}
	}
}

/* Nested fields that take the columns from the one of number start on, as files of version 2.0 order them. */
static void
read_fields(LncContext *ctx, LncArena *arena, LncArena *batch, LncFile *file, int32_t start)
{
	static LncField text = {.id = 2, .name = "t", .type = {.kind = LNC_TYPE_UTF8, .logical = "string"}};
	static LncField pair[2] = {{.id = 2, .name = "x", .type = {.kind = LNC_TYPE_INT32, .logical = "int32"}},
							   {.id = 3, .name = "y", .type = {.kind = LNC_TYPE_UTF8, .logical = "string"}}};
	static LncField row = {
		.id = 1,
		.name = "s",
		.type = {.kind = LNC_TYPE_STRUCT, .logical = "struct", .nchildren = 2, .children = pair}};
	static LncField inner = {
		.id = 1, .name = "l", .type = {.kind = LNC_TYPE_LIST, .logical = "list", .nchildren = 1, .children = &text}};
	static const LncField fields[] = {
		{.name = "ls", .type = {.kind = LNC_TYPE_LIST, .logical = "list", .nchildren = 1, .children = &row}},
		{.name = "ll", .type = {.kind = LNC_TYPE_LARGE_LIST, .logical = "large_list", .nchildren = 1, .children = &inner}},
		{.name = "b", .blob = true, .type = {.kind = LNC_TYPE_BLOB, .logical = "large_binary"}},
		{.name = "b2", .type = {.kind = LNC_TYPE_BLOB_V2, .logical = "struct"}},
	};
	const int32_t ids[] = {0, 1, 2, 3};
	const int32_t columns[] = {start, start + 1, start + 2, start + 3};
	LncFieldMap map = {4, ids, columns};
	uint64_t rows;

	if (lnc_file_column_rows(ctx, file, (uint32_t)start, &rows) != LNC_OK)
		return;
	for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++)
	{
		LncFieldReader *reader;
		LncRowRun runs[4];
		LncColumn taken;
		uint64_t total;
		size_t nruns = scattered_rows(rows, runs, &total);

		if (lnc_field_reader_open(ctx, arena, file, &fields[f], &map, rows, &reader) != LNC_OK)
			continue;
		lnc_arena_reset(batch);
		if (lnc_field_reader_take(ctx, reader, batch, nruns, runs, total, &taken) == LNC_OK)
			fuzz_read_column(&taken);
		for (int n = 0; n < 3; n++)
		{
			uint64_t first = n == 0 ? 0 : n == 1 ? rows / 2 : rows > 0 ? rows - 1 : 0;
			uint64_t count = rows - first < FUZZ_BATCH ? rows - first : FUZZ_BATCH;
			LncColumn column;

			lnc_arena_reset(batch);
			if (lnc_field_reader_read(ctx, reader, batch, first, count, &column) != LNC_OK)
				continue;
			if (column.length != (int64_t)count)
				abort();
			fuzz_read_column(&column);
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LncEnv env = fuzz_env();
	LncContext ctx;
	LncArena *arena;
	LncArena *batch;
	LncStore *store;
	LncFile *file;

	lnc_context_init(&ctx, &env);
	arena = lnc_arena_create(&env);
	batch = lnc_arena_create(&env);
	if (lnc_store_open(&ctx, arena, "memory://fuzz", &config, &store) != LNC_OK ||
		lnc_store_put(&ctx, store, "f.lance", (LncSlice){data, size}) != LNC_OK)
		abort();
	if (lnc_file_open(&ctx, arena, store, "f.lance", 0, &file) == LNC_OK)
		for (uint32_t c = 0; c < lnc_file_ncolumns(file) && c < FUZZ_MAX_COLUMNS; c++)
		{
			read_column(&ctx, arena, batch, file, c);
			read_fields(&ctx, arena, batch, file, (int32_t)c);
		}
	lnc_arena_destroy(batch);
	lnc_arena_destroy(arena);
	return 0;
}
