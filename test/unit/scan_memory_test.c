/*
 * scan_memory_test.c
 *	  What scans take of memory stays within the bound that docs/foreign-tables.md states, whatever the widths of rows,
 *	  and the rows are the same however batches are cut.
 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file_builder.h"
#include "fixtures.h"
#include "format/file.h"
#include "proto/encodings21.pb-c.h"
#include "scan/fragment.h"
#include "scan/scan.h"
#include "scan/take.h"

#define KIB ((uint64_t)1024)
#define MIB (KIB * 1024)

/* ---- the counting itself ---- */

static void
budgets_count_and_refuse(void **state)
{
	LncBudget budget = {.limit = 64 * KIB};
	LncArena *counted;
	LncArena *limited;
	LncArena *child;
	size_t before;
	void *bytes;

	(void)state;
	OK(lnc_arena_create_scratch(&ctx, &counted));
	OK(lnc_arena_create_scratch(&ctx, &limited));
	lnc_arena_count(counted, &budget);
	lnc_arena_count(limited, &budget);
	lnc_arena_limit(limited);

	/* Without the limit, children included. */
	OK(lnc_arena_alloc(&ctx, counted, 200 * KIB, &bytes));
	OK(lnc_arena_create_child(&ctx, counted, &child));
	OK(lnc_arena_alloc(&ctx, child, 100 * KIB, &bytes));
	assert_in_range(budget.taken, 300 * KIB, 316 * KIB);
	assert_int_equal(budget.limited, 0);

	/* Up to the limit, and not beyond. */
	before = budget.taken;
	OK(lnc_arena_alloc(&ctx, limited, 40 * KIB, &bytes));
	assert_false(budget.refused);
	assert_int_equal(lnc_arena_alloc(&ctx, limited, 40 * KIB, &bytes), LNC_NO_MEMORY);
	assert_true(budget.refused);
	assert_in_range(budget.limited, 40 * KIB, 64 * KIB);
	assert_int_equal(budget.taken - before, budget.limited);
	OK(lnc_arena_alloc(&ctx, counted, 40 * KIB, &bytes));

	/* What is given back counts no more; the peaks stay. */
	lnc_arena_reset(limited);
	assert_int_equal(budget.limited, 0);
	OK(lnc_arena_alloc(&ctx, limited, 60 * KIB, &bytes));
	assert_in_range(budget.limited_peak, 60 * KIB, 64 * KIB);
	lnc_arena_destroy(limited);
	lnc_arena_destroy(counted);
	assert_int_equal(budget.taken, 0);
	assert_int_equal(budget.limited, 0);
	assert_in_range(budget.peak, 400 * KIB, 420 * KIB);

	/* Scratch arenas belong to the budget of the context. */
	ctx.budget = &budget;
	OK(lnc_arena_create_scratch(&ctx, &counted));
	ctx.budget = NULL;
	OK(lnc_arena_alloc(&ctx, counted, 10 * KIB, &bytes));
	assert_in_range(budget.taken, 10 * KIB, 12 * KIB);
	lnc_arena_destroy(counted);
	assert_int_equal(budget.taken, 0);
}

/* Blocks that one arena lets go of serve another; what is kept is bounded, counted, and given back in the end. */
static void
blocks_are_left_to_the_next_arena(void **state)
{
	LncBudget budget = {.limit = 1 * MIB};
	LncArena *owner;
	LncArena *first;
	LncArena *second;
	void *block;
	void *again;
	void *small;

	(void)state;
	owner = lnc_arena_create(lnc_env_default());
	assert_non_null(owner);
	OK(lnc_budget_keep_blocks(&ctx, owner, &budget, 2 * MIB));
	OK(lnc_arena_create_child(&ctx, owner, &first));
	OK(lnc_arena_create_child(&ctx, owner, &second));
	lnc_arena_count(first, &budget);
	lnc_arena_count(second, &budget);
	lnc_arena_limit(second);

	OK(lnc_arena_alloc(&ctx, first, 900 * KIB, &block));
	lnc_arena_reset(first);
	assert_in_range(budget.spare, 900 * KIB, 1030 * KIB);
	assert_int_equal(budget.taken, budget.spare);
	assert_int_equal(budget.limited, 0);

	/* Somewhat less than the block has; it counts for whoever has it. */
	OK(lnc_arena_alloc(&ctx, second, 880 * KIB, &again));
	assert_ptr_equal(again, block);
	memset(again, 1, 880 * KIB);
	assert_int_equal(budget.spare, 0);
	assert_int_equal(budget.limited, budget.taken);
	lnc_arena_reset(second);
	assert_int_equal(budget.limited, 0);

	/* Far less, or more: the block stays where it is. */
	OK(lnc_arena_alloc(&ctx, second, 400 * KIB, &small));
	assert_in_range(budget.spare, 900 * KIB, 1030 * KIB);
	lnc_arena_reset(second);
	OK(lnc_arena_alloc(&ctx, first, 1100 * KIB, &again));
	assert_in_range(budget.spare, 1300 * KIB, 1500 * KIB);

	/* A refused block is not lost; one without room drives out those that were not of use. */
	assert_int_equal(lnc_arena_alloc(&ctx, second, 1023 * KIB, &again), LNC_NO_MEMORY);
	assert_true(budget.refused);
	assert_int_equal(budget.limited, 0);
	lnc_arena_reset(first);
	assert_in_range(budget.spare, 1100 * KIB, 1300 * KIB);
	OK(lnc_arena_alloc(&ctx, first, 3 * MIB, &again));
	lnc_arena_reset(first);
	assert_in_range(budget.spare, 1100 * KIB, 1300 * KIB);
	assert_int_equal(budget.taken, budget.spare);

	OK(lnc_arena_alloc(&ctx, first, 100, &small));
	lnc_arena_destroy(owner);
	assert_int_equal(budget.spare, 0);
	assert_int_equal(budget.taken, 0);
}

/* ---- rows of every kind of column ---- */

#define WIDTHS_ROWS 600

/* Row i of a and row k of b are the same value. */
static bool
same_value(const LncColumn *a, int64_t i, const LncColumn *b, int64_t k)
{
	const LncType *type = lnc_column_type(a->type);
	int64_t length;
	size_t width;

	if (lnc_column_is_null(a, i) || lnc_column_is_null(b, k))
		return lnc_column_is_null(a, i) && lnc_column_is_null(b, k);
	switch (type->kind)
	{
		case LNC_TYPE_STRUCT:
			for (int32_t c = 0; c < a->nchildren; c++)
				if (!same_value(&a->children[c], i, &b->children[c], k))
					return false;
			return true;
		case LNC_TYPE_FIXED_LIST:
			for (int64_t n = 0; n < type->list_size; n++)
				if (!same_value(a->children, i * type->list_size + n, b->children, k * type->list_size + n))
					return false;
			return true;
		case LNC_TYPE_LIST:
		case LNC_TYPE_UTF8:
		case LNC_TYPE_BINARY:
			length = a->offsets[i + 1] - a->offsets[i];
			if (b->offsets[k + 1] - b->offsets[k] != length)
				return false;
			if (type->kind != LNC_TYPE_LIST)
				return memcmp(a->data + a->offsets[i], b->data + b->offsets[k], (size_t)length) == 0;
			for (int64_t n = 0; n < length; n++)
				if (!same_value(a->children, a->offsets[i] + n, b->children, b->offsets[k] + n))
					return false;
			return true;
		default:
			width = lnc_type_width(type);
			assert_true(width > 0);
			return memcmp((const uint8_t *)a->values + (size_t)i * width,
						  (const uint8_t *)b->values + (size_t)k * width, width) == 0;
	}
}

/* Scan some columns within a bound, and compare with the rows of whole. */
static void
compare_bounded(const LncDataset *dataset, const char *label, const LncScanSpec *spec, const LncBatch *whole,
				LncScanStats *stats)
{
	const LncBatch *batch;
	int64_t n = 0;
	LncScan *scan;

	OK(lnc_scan_open(&ctx, arena, dataset, spec, &scan));
	for (;;)
	{
		OK(lnc_scan_next(&ctx, scan, &batch));
		if (batch == NULL)
			break;
		for (int64_t row = 0; row < batch->length; row++, n++)
		{
			assert_true(n < whole->length);
			for (int32_t i = 0; i < batch->ncolumns; i++)
				if (!same_value(&whole->columns[i], n, &batch->columns[i], row))
					fail_msg("%s within %llu bytes: row %lld is another", label,
							 (unsigned long long)spec->batch_bytes, (long long)n);
		}
	}
	assert_int_equal(n, whole->length);
	lnc_scan_stats(scan, stats);
	if (stats->batch_peak > spec->batch_bytes)
		fail_msg("%s: a batch took %llu bytes of %llu", label, (unsigned long long)stats->batch_peak,
				 (unsigned long long)spec->batch_bytes);
}

/* Take rows of some columns within a bound, in an order of their own, and compare with those of whole. */
static void
compare_taken(const LncDataset *dataset, const char *label, const LncScanSpec *columns, const LncBatch *whole,
			  LncTakeStats *stats)
{
	LncTakeSpec spec = {.ncolumns = columns->ncolumns,
						.columns = columns->columns,
						.batch_rows = columns->batch_rows,
						.batch_bytes = columns->batch_bytes};
	uint64_t keys[WIDTHS_ROWS];
	const LncTaken *taken;
	uint64_t n = 0;
	LncTake *take;

	/* 77 has no divisor in common with the number of rows: each comes once. */
	for (uint64_t i = 0; i < WIDTHS_ROWS; i++)
		keys[i] = i * 77 % WIDTHS_ROWS;
	OK(lnc_take_open(&ctx, arena, dataset, &spec, &take));
	OK(lnc_take_start(&ctx, take, WIDTHS_ROWS, keys));
	for (;;)
	{
		OK(lnc_take_next(&ctx, take, &taken));
		if (taken == NULL)
			break;
		for (int64_t row = 0; row < taken->batch.length; row++, n++)
		{
			assert_int_equal(taken->which[row], n);
			for (int32_t i = 0; i < taken->batch.ncolumns; i++)
				if (!same_value(&whole->columns[i], (int64_t)keys[n], &taken->batch.columns[i], row))
					fail_msg("%s within %llu bytes: row %llu, taken, is another", label,
							 (unsigned long long)spec.batch_bytes, (unsigned long long)keys[n]);
		}
	}
	assert_int_equal(n, WIDTHS_ROWS);
	lnc_take_stats(take, stats);
	if (stats->batch_peak > spec.batch_bytes)
		fail_msg("%s: a batch of a take took %llu bytes of %llu", label, (unsigned long long)stats->batch_peak,
				 (unsigned long long)spec.batch_bytes);
}

/* Read some columns in one batch and in bounded ones. Returns how often a bounded one was begun again. */
static uint64_t
compare_cuts(const LncDataset *dataset, const char *label, int32_t ncolumns, const int32_t *columns)
{
	static const uint64_t bounds[] = {24 * KIB, 64 * KIB, 512 * KIB};
	LncScanSpec spec = {.ncolumns = ncolumns,
						.columns = columns,
						.batch_rows = WIDTHS_ROWS,
						.first_rows = WIDTHS_ROWS,
						.batch_bytes = 1024 * MIB};
	LncScanStats of_whole;
	const LncBatch *whole;
	uint64_t retries = 0;
	LncScan *scan;

	OK(lnc_scan_open(&ctx, arena, dataset, &spec, &scan));
	OK(lnc_scan_next(&ctx, scan, &whole));
	assert_int_equal(whole->length, WIDTHS_ROWS);
	lnc_scan_stats(scan, &of_whole);
	assert_int_equal(of_whole.retries, 0);
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
	{
		LncTakeStats of_take;
		LncScanStats stats;

		spec.batch_bytes = bounds[i];
		compare_bounded(dataset, label, &spec, whole, &stats);
		assert_true(stats.batches == 1 || of_whole.batch_peak > bounds[i] / 2);
		compare_taken(dataset, label, &spec, whole, &of_take);
		/* Where a scan had to be cut, so had a take. */
		assert_true(stats.batches < 10 || of_take.batches > 1);
		retries += stats.retries;
	}
	return retries;
}

static void
rows_of_any_width_are_cut_alike(void **state)
{
	static const char *const names[] = {"widths_v20.lance", "widths_v21.lance", "widths_v22.lance"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
	{
		LncDatasetOptions options = {0};
		LncDataset *dataset;
		LncStore *store;
		int32_t columns[16];

		OK(fixtures_open_store(&ctx, arena, names[i], &store));
		OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));
		assert_int_equal(dataset->schema.nfields, 9);
		for (int32_t c = 0; c < dataset->schema.nfields; c++)
		{
			const char *column = dataset->schema.fields[c].name;
			uint64_t retries;
			char label[128];

			columns[c] = c;
			snprintf(label, sizeof(label), "%s, column \"%s\"", names[i], column);
			retries = compare_cuts(dataset, label, 1, &c);
			/* All but the numbers of rows are too wide for the least bound. */
			if ((retries > 0) != (strcmp(column, "id") != 0))
				fail_msg("%s: %llu retries", label, (unsigned long long)retries);
		}
		assert_true(compare_cuts(dataset, names[i], dataset->schema.nfields, columns) > 0);
	}
}

static void
deleted_rows_stay_left_out(void **state)
{
	static const char *const names[] = {"del_bitmap.lance", "del_arrow.lance"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
	{
		LncDatasetOptions options = {0};
		LncScanSpec spec = {.ncolumns = 1, .system_columns = LNC_SYSTEM_ROW_ADDRESS, .first_rows = 4096};
		uint64_t sums[2] = {0};
		uint64_t rows[2] = {0};
		LncDataset *dataset;
		LncScanStats stats;
		LncStore *store;
		LncScan *scan;
		int32_t id;

		OK(fixtures_open_store(&ctx, arena, names[i], &store));
		OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));
		id = lnc_dataset_field(dataset, "id");
		spec.columns = &id;
		for (int bounded = 0; bounded <= 1; bounded++)
		{
			const LncBatch *batch;

			spec.batch_bytes = bounded ? 9000 : 0;
			OK(lnc_scan_open(&ctx, arena, dataset, &spec, &scan));
			for (;;)
			{
				OK(lnc_scan_next(&ctx, scan, &batch));
				if (batch == NULL)
					break;
				for (int64_t row = 0; row < batch->length; row++)
					sums[bounded] += ((const uint64_t *)batch->columns[1].values)[row] * (rows[bounded]++ + 1);
			}
		}
		lnc_scan_stats(scan, &stats);
		assert_true(stats.retries > 0);
		assert_true(stats.batch_peak <= 9000);
		assert_int_equal(rows[1], rows[0]);
		assert_int_equal(sums[1], sums[0]);
	}
}

/* ---- a table far larger than what a scan may take ---- */

/* Row i of the built table: a short text, but some rows next to each other are wide, and one is wider than a batch. */
#define BUILT_ROWS 3000
#define BUILT_BOUND (2 * MIB)

static size_t
built_width(uint64_t row)
{
	if (row == 2500)
		return 6 * MIB;
	return row >= 1000 && row < 1096 ? 512 * KIB : row % 20;
}

static char
built_letter(uint64_t row)
{
	return (char)('a' + row % 26);
}

/* Strings in one page of version 2.0. */
static void
build_binary(FileBuilder *builder)
{
	char **values = calloc(BUILT_ROWS, sizeof(*values));

	assert_non_null(values);
	for (uint64_t i = 0; i < BUILT_ROWS; i++)
	{
		values[i] = malloc(built_width(i) + 1);
		assert_non_null(values[i]);
		memset(values[i], built_letter(i), built_width(i));
		values[i][built_width(i)] = '\0';
	}
	builder_text_page(builder, builder_column(builder), BUILT_ROWS, (const char *const *)values);
	for (uint64_t i = 0; i < BUILT_ROWS; i++)
		free(values[i]);
	free(values);
}

/* Strings in one full-zip page: length and bytes of each, and where each row starts. */
static void
build_full_zip(FileBuilder *builder)
{
	Lance__Encodings21__PageLayout layout = LANCE__ENCODINGS21__PAGE_LAYOUT__INIT;
	Lance__Encodings21__FullZipLayout zip = LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__INIT;
	Lance__Encodings21__CompressiveEncoding values = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__INIT;
	Lance__Encodings21__CompressiveEncoding offsets = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__INIT;
	Lance__Encodings21__Variable variable = LANCE__ENCODINGS21__VARIABLE__INIT;
	Lance__Encodings21__Flat flat = LANCE__ENCODINGS21__FLAT__INIT;
	Lance__Encodings21__RepDefLayer layer = LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_ALL_VALID_ITEM;
	uint64_t *index = calloc(BUILT_ROWS + 1, sizeof(*index));
	uint8_t *data;
	BuiltPage *page;

	assert_non_null(index);
	flat.bits_per_value = 32;
	offsets.compression_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FLAT;
	offsets.flat = &flat;
	variable.offsets = &offsets;
	values.compression_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_VARIABLE;
	values.variable = &variable;
	zip.details_case = LANCE__ENCODINGS21__FULL_ZIP_LAYOUT__DETAILS_BITS_PER_OFFSET;
	zip.bits_per_offset = 32;
	zip.num_items = BUILT_ROWS;
	zip.num_visible_items = BUILT_ROWS;
	zip.value_compression = &values;
	zip.n_layers = 1;
	zip.layers = &layer;
	layout.layout_case = LANCE__ENCODINGS21__PAGE_LAYOUT__LAYOUT_FULL_ZIP_LAYOUT;
	layout.full_zip_layout = &zip;
	for (uint64_t i = 0; i < BUILT_ROWS; i++)
		index[i + 1] = index[i] + 4 + built_width(i);
	data = malloc(index[BUILT_ROWS]);
	assert_non_null(data);
	for (uint64_t i = 0; i < BUILT_ROWS; i++)
	{
		uint32_t length = (uint32_t)built_width(i);

		memcpy(data + index[i], &length, 4);
		memset(data + index[i] + 4, built_letter(i), length);
	}
	page = builder_page(builder_column(builder), BUILT_ROWS, "/lance.encodings21.PageLayout", &layout.base);
	builder_buffer(builder, page, data, index[BUILT_ROWS]);
	builder_buffer(builder, page, index, (BUILT_ROWS + 1) * sizeof(*index));
	free(data);
	free(index);
}

/* A dataset of the built file alone, whose columns are those of the file over and over. */
typedef struct Built
{
	LncDataset dataset;
	LncFragment fragment;
	LncDataFile file;
	LncField fields[200];
	int32_t ids[200];
	int32_t columns[200];
} Built;

static void
open_built(FileBuilder *builder, uint16_t minor, const char *logical, int32_t nfields, uint64_t nrows, Built *built)
{
	static const LncStoreConfig config;

	memset(built, 0, sizeof(*built));
	builder_finish(builder, 2, minor);
	OK(lnc_store_open(&ctx, arena, "memory://built", &config, &built->dataset.store));
	OK(lnc_store_put(&ctx, built->dataset.store, "data/built.lance",
					 (LncSlice){.data = builder->bytes, .size = builder->size}));
	for (int32_t i = 0; i < nfields; i++)
	{
		LncField *field = &built->fields[i];

		field->id = built->ids[i] = i;
		field->parent_id = -1;
		field->name = "column";
		OK(lnc_type_parse(&ctx, arena, logical, &field->type));
		built->columns[i] = i % (int32_t)builder->ncolumns;
	}
	built->file = (LncDataFile){.path = "built.lance",
								.nfields = nfields,
								.field_ids = built->ids,
								.columns = built->columns,
								.major = 2,
								.minor = minor,
								.size = builder->size};
	built->fragment = (LncFragment){.physical_rows = nrows, .nfiles = 1, .files = &built->file};
	built->dataset.manifest_key = "built";
	built->dataset.prefix = "";
	built->dataset.schema.nfields = nfields;
	built->dataset.schema.fields = built->fields;
	built->dataset.nfragments = 1;
	built->dataset.fragments = &built->fragment;
	builder_free(builder);
}

/* Take the wide rows of the built table, and small ones among them, from the last to the first. */
static void
take_built(const Built *built)
{
	int32_t column = 0;
	LncTakeSpec spec = {.ncolumns = 1, .columns = &column, .batch_bytes = BUILT_BOUND};
	uint64_t keys[200];
	LncTakeStats stats;
	const LncTaken *taken;
	size_t n = 0;
	LncTake *take;

	for (uint64_t i = 0; i < 200; i++)
		keys[i] = i == 0 ? 2500 : 1150 - i;
	OK(lnc_take_open(&ctx, arena, &built->dataset, &spec, &take));
	OK(lnc_take_start(&ctx, take, 200, keys));
	for (;;)
	{
		OK(lnc_take_next(&ctx, take, &taken));
		if (taken == NULL)
			break;
		for (int64_t i = 0; i < taken->batch.length; i++, n++)
		{
			const LncColumn *values = &taken->batch.columns[0];
			size_t length = (size_t)(values->offsets[i + 1] - values->offsets[i]);

			assert_int_equal(length, built_width(keys[n]));
			assert_true(length == 0 || values->data[values->offsets[i]] == (uint8_t)built_letter(keys[n]));
		}
	}
	assert_int_equal(n, 200);
	lnc_take_stats(take, &stats);
	assert_true(stats.retries > 0);
	assert_in_range(stats.batch_peak, 1, BUILT_BOUND);
	/* The widest row comes alone: as read, as stored and as decoded. */
	assert_true(stats.memory_peak <= 3 * 6 * MIB + MIB);
}

/* The documented bound: the batch, windows over the buffers of open pages and one that is replaced, what pages keep. */
static uint64_t
documented_bound(uint64_t batch, uint64_t nreaders, uint64_t buffers, uint64_t kept)
{
	uint64_t window = LNC_FRAGMENT_READ_AHEAD / nreaders;

	if (window > LNC_READ_AHEAD_MOST)
		window = LNC_READ_AHEAD_MOST;
	return batch + (nreaders * buffers + 1) * window + kept;
}

static void
scan_built(uint16_t minor)
{
	FileBuilder builder;
	Built built;
	int32_t column = 0;
	LncScanSpec spec = {.ncolumns = 1, .columns = &column, .batch_bytes = BUILT_BOUND};
	LncStoreStats before;
	LncStoreStats after;
	LncScanStats stats;
	const LncBatch *batch;
	LncScan *scan;
	uint64_t row = 0;

	builder_init(&builder);
	if (minor == 0)
		build_binary(&builder);
	else
		build_full_zip(&builder);
	assert_true(builder.size > 54 * MIB);
	open_built(&builder, minor, "string", 1, BUILT_ROWS, &built);
	lnc_store_stats(built.dataset.store, &before);
	OK(lnc_scan_open(&ctx, arena, &built.dataset, &spec, &scan));
	for (;;)
	{
		OK(lnc_scan_next(&ctx, scan, &batch));
		if (batch == NULL)
			break;
		for (int64_t i = 0; i < batch->length; i++, row++)
		{
			const LncColumn *values = &batch->columns[0];
			const char *value = (const char *)values->data + values->offsets[i];
			size_t length = (size_t)(values->offsets[i + 1] - values->offsets[i]);

			assert_int_equal(length, built_width(row));
			assert_true(length == 0 || (value[0] == built_letter(row) && value[length - 1] == built_letter(row)));
		}
	}
	assert_int_equal(row, BUILT_ROWS);
	lnc_scan_stats(scan, &stats);
	lnc_store_stats(built.dataset.store, &after);
	print_message("2.%u: %llu batches, %llu retries, %llu KiB at most, of which %llu a batch\n", minor,
				  (unsigned long long)stats.batches, (unsigned long long)stats.retries,
				  (unsigned long long)stats.memory_peak / KIB, (unsigned long long)stats.batch_peak / KIB);
	assert_in_range(stats.batch_peak, 1, BUILT_BOUND);
	/* The widest row comes alone and is there twice, as stored and as decoded. */
	assert_true(stats.memory_peak <= documented_bound(2 * 6 * MIB, 1, 2, MIB));
	/* Small rows are not read one by one, and no byte is read more than a few times. */
	assert_in_range(stats.batches, 30, 150);
	assert_true(after.bytes_read - before.bytes_read < 2 * 56 * MIB);
	take_built(&built);
}

static void
tables_beyond_the_bound_are_scanned_in_it(void **state)
{
	(void)state;
	scan_built(0);
	scan_built(2);
}

/* Many columns: what each reads ahead shrinks. */
static void
columns_share_the_read_ahead(void **state)
{
	static uint64_t values[256 * 1024];
	uint64_t rows = sizeof(values) / sizeof(values[0]);
	int32_t columns[200];
	LncScanSpec spec = {.ncolumns = 200, .columns = columns};
	FileBuilder builder;
	LncScanStats stats;
	const LncBatch *batch;
	uint64_t read = 0;
	LncScan *scan;
	Built built;

	(void)state;
	builder_init(&builder);
	for (uint64_t i = 0; i < rows; i++)
		values[i] = i;
	builder_flat_page(&builder, builder_column(&builder), rows, 64, values, sizeof(values));
	open_built(&builder, 0, "uint64", 200, rows, &built);
	for (int32_t i = 0; i < 200; i++)
		columns[i] = i;
	OK(lnc_scan_open(&ctx, arena, &built.dataset, &spec, &scan));
	for (;;)
	{
		OK(lnc_scan_next(&ctx, scan, &batch));
		if (batch == NULL)
			break;
		for (int32_t i = 0; i < 200; i += 199)
			assert_int_equal(((const uint64_t *)batch->columns[i].values)[batch->length - 1],
							 read + (uint64_t)batch->length - 1);
		read += (uint64_t)batch->length;
	}
	assert_int_equal(read, rows);
	lnc_scan_stats(scan, &stats);
	/* 200 windows over buffers of 2 MiB would take 400 MiB. */
	assert_in_range(stats.memory_peak, 32 * MIB, documented_bound(LNC_SCAN_BATCH_BYTES, 200, 1, 4 * MIB));
	assert_in_range(stats.batch_peak, 1, LNC_SCAN_BATCH_BYTES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(budgets_count_and_refuse, setup, teardown),
		cmocka_unit_test_setup_teardown(blocks_are_left_to_the_next_arena, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_of_any_width_are_cut_alike, setup, teardown),
		cmocka_unit_test_setup_teardown(deleted_rows_stay_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(tables_beyond_the_bound_are_scanned_in_it, setup, teardown),
		cmocka_unit_test_setup_teardown(columns_share_the_read_ahead, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
