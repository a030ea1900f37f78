/*
 * row_ids_test.c
 *	  Row id and version sequences: every kind of segment, damaged ones, finding rows by id, the fixtures' rows.
 */
#include "testing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/row_ids.h"
#include "dataset/row_segment.h"
#include "fixtures.h"
#include "scan/scan.h"

/* ---- segments made by hand */

/* A segment with the room of all its kinds; init_* link what they use. */
typedef struct Made
{
	Lance__Table__U64Segment segment;
	Lance__Table__U64Segment__Range range;
	Lance__Table__U64Segment__RangeWithHoles holes;
	Lance__Table__U64Segment__RangeWithBitmap bitmap;
	Lance__Table__EncodedU64Array array;
	Lance__Table__EncodedU64Array__U16Array u16;
	Lance__Table__EncodedU64Array__U32Array u32;
	Lance__Table__EncodedU64Array__U64Array u64;
} Made;

static void
make(Made *made)
{
	lance__table__u64_segment__init(&made->segment);
	lance__table__u64_segment__range__init(&made->range);
	lance__table__u64_segment__range_with_holes__init(&made->holes);
	lance__table__u64_segment__range_with_bitmap__init(&made->bitmap);
	lance__table__encoded_u64_array__init(&made->array);
	lance__table__encoded_u64_array__u16_array__init(&made->u16);
	lance__table__encoded_u64_array__u32_array__init(&made->u32);
	lance__table__encoded_u64_array__u64_array__init(&made->u64);
}

static void
make_range(Made *made, uint64_t start, uint64_t end)
{
	make(made);
	made->segment.segment_case = LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE;
	made->segment.range = &made->range;
	made->range.start = start;
	made->range.end = end;
}

static void
make_array(Made *made, uint32_t width, uint64_t base, const void *bytes, size_t size)
{
	ProtobufCBinaryData data = {.len = size, .data = (uint8_t *)(uintptr_t)bytes};

	switch (width)
	{
		case 2:
			made->array.array_case = LANCE__TABLE__ENCODED_U64_ARRAY__ARRAY_U16_ARRAY;
			made->array.u16_array = &made->u16;
			made->u16.base_value = base;
			made->u16.offsets = data;
			break;
		case 4:
			made->array.array_case = LANCE__TABLE__ENCODED_U64_ARRAY__ARRAY_U32_ARRAY;
			made->array.u32_array = &made->u32;
			made->u32.base_value = base;
			made->u32.offsets = data;
			break;
		default:
			made->array.array_case = LANCE__TABLE__ENCODED_U64_ARRAY__ARRAY_U64_ARRAY;
			made->array.u64_array = &made->u64;
			made->u64.values = data;
			break;
	}
}

static void
make_values(Made *made, bool sorted, uint32_t width, uint64_t base, const void *bytes, size_t size)
{
	make(made);
	make_array(made, width, base, bytes, size);
	made->segment.segment_case =
		sorted ? LANCE__TABLE__U64_SEGMENT__SEGMENT_SORTED_ARRAY : LANCE__TABLE__U64_SEGMENT__SEGMENT_ARRAY;
	made->segment.array = &made->array;
}

static void
make_holes(Made *made, uint64_t start, uint64_t end, uint32_t width, uint64_t base, const void *bytes, size_t size)
{
	make(made);
	make_array(made, width, base, bytes, size);
	made->segment.segment_case = LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE_WITH_HOLES;
	made->segment.range_with_holes = &made->holes;
	made->holes.start = start;
	made->holes.end = end;
	made->holes.holes = &made->array;
}

static void
make_bitmap(Made *made, uint64_t start, uint64_t end, const void *bits, size_t size)
{
	make(made);
	made->segment.segment_case = LANCE__TABLE__U64_SEGMENT__SEGMENT_RANGE_WITH_BITMAP;
	made->segment.range_with_bitmap = &made->bitmap;
	made->bitmap.start = start;
	made->bitmap.end = end;
	made->bitmap.bitmap.len = size;
	made->bitmap.bitmap.data = (uint8_t *)(uintptr_t)bits;
}

/* The segment gives these values, from every position on, and finds each; NULL values: any. */
static void
check_segment(const Made *made, uint64_t count, const uint64_t *values)
{
	LncRowSegment segment = {0};
	uint64_t *got = calloc(count + 1, sizeof(*got));
	uint64_t position;

	OK(lnc_row_segment_open(&ctx, arena, &made->segment, &segment));
	assert_int_equal(segment.count, count);
	OK(lnc_row_segment_prepare_find(&ctx, arena, &segment));
	for (uint64_t first = 0; first < count; first++)
	{
		lnc_row_segment_fill(&segment, first, count - first, got);
		assert_memory_equal(got, values + first, (count - first) * sizeof(*got));
		lnc_row_segment_fill(&segment, first, 1, got);
		assert_int_equal(got[0], values[first]);
		assert_true(lnc_row_segment_find(&segment, values[first], 0, &position));
		assert_int_equal(values[position], values[first]);
	}
	for (uint64_t probe = 0; probe < 2000; probe++)
	{
		bool member = false;

		for (uint64_t i = 0; i < count; i++)
			member = member || values[i] == probe;
		assert_int_equal(lnc_row_segment_find(&segment, probe, 0, &position), member);
	}
	free(got);
}

static void
segments_give_their_values(void **state)
{
	static const uint16_t few[] = {0, 1, 2, 90, 91, 299};
	static const uint32_t some[] = {7, 3, 3, 900};
	static const uint64_t wide[] = {5, UINT64_MAX, 0};
	static const uint8_t bits[] = {0x81, 0x00, 0x10, 0xFF};
	uint8_t many[250];
	uint64_t values[2000];
	uint64_t n = 0;
	Made made;

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		values[i] = 40 + i;
	make_range(&made, 40, 140);
	check_segment(&made, 100, values);
	make_range(&made, 0, 0);
	check_segment(&made, 0, values);

	/* The holes: 100, 101, 102, 190, 191, 399 of 100 to 399. */
	for (uint64_t i = 103; i < 399; i++)
	{
		if (i != 190 && i != 191)
			values[n++] = i;
	}
	make_holes(&made, 100, 400, 2, 100, few, sizeof(few));
	check_segment(&made, n, values);
	make_holes(&made, 5, 8, 2, 5, few, 0);
	check_segment(&made, 3, (const uint64_t[]){5, 6, 7});
	make_holes(&made, 5, 8, 2, 5, few, 6);
	check_segment(&made, 0, values);

	/* Bit i is counted from the lowest of its byte. */
	make_bitmap(&made, 1000, 1032, bits, sizeof(bits));
	check_segment(&made, 11, (const uint64_t[]){1000, 1007, 1020, 1024, 1025, 1026, 1027, 1028, 1029, 1030, 1031});
	make_bitmap(&made, 1000, 1008, bits + 1, 1);
	check_segment(&made, 0, values);
	n = 0;
	memset(many, 0, sizeof(many));
	for (uint64_t i = 0; i < 1999; i++)
	{
		/* Blocks without any bit are among them. */
		if (i % 7 == 0 && (i < 500 || i > 1700))
		{
			many[i / 8] = (uint8_t)(many[i / 8] | 1 << (i % 8));
			values[n++] = i;
		}
	}
	make_bitmap(&made, 0, 1999, many, sizeof(many));
	check_segment(&made, n, values);

	make_values(&made, true, 2, 10, few, sizeof(few));
	check_segment(&made, 6, (const uint64_t[]){10, 11, 12, 100, 101, 309});
	make_values(&made, false, 4, 0, some, sizeof(some));
	check_segment(&made, 4, (const uint64_t[]){7, 3, 3, 900});
	make_values(&made, false, 8, 0, wide, sizeof(wide));
	check_segment(&made, 3, wide);
}

static void
repeated_ids_are_all_found(void **state)
{
	static const uint16_t values[] = {9, 4, 9, 1, 9};
	LncRowSegment segment = {0};
	uint64_t position;
	Made made;

	(void)state;
	make_values(&made, false, 2, 0, values, sizeof(values));
	OK(lnc_row_segment_open(&ctx, arena, &made.segment, &segment));
	OK(lnc_row_segment_prepare_find(&ctx, arena, &segment));
	for (uint64_t nth = 0; nth < 3; nth++)
	{
		assert_true(lnc_row_segment_find(&segment, 9, nth, &position));
		assert_int_equal(position, 2 * nth);
	}
	assert_false(lnc_row_segment_find(&segment, 9, 3, &position));
	assert_false(lnc_row_segment_find(&segment, 4, 1, &position));
}

static void
expect_corrupt(const Made *made, const char *message)
{
	LncRowSegment segment = {0};

	assert_int_equal(lnc_row_segment_open(&ctx, arena, &made->segment, &segment), LNC_CORRUPT);
	if (strstr(ctx.error.message, message) == NULL)
		fail_msg("\"%s\" instead of \"%s\"", ctx.error.message, message);
}

static void
damaged_segments_are_refused(void **state)
{
	static const uint16_t down[] = {5, 4};
	static const uint16_t same[] = {5, 5};
	static const uint8_t bits[4] = {0xFF};
	Made made;

	(void)state;
	make(&made);
	expect_corrupt(&made, "no known kind");
	make_range(&made, 2, 1);
	expect_corrupt(&made, "ends before it starts");
	make_holes(&made, 0, 10, 2, 0, down, sizeof(down));
	expect_corrupt(&made, "does not ascend");
	make_holes(&made, 0, 5, 2, 0, down, 2);
	expect_corrupt(&made, "outside its range");
	make_holes(&made, 6, 9, 2, 0, down, 2);
	expect_corrupt(&made, "outside its range");
	make_holes(&made, 0, 10, 2, 0, down, 2);
	made.holes.holes = NULL;
	expect_corrupt(&made, "lacks its array");
	make_values(&made, true, 2, 0, same, sizeof(same));
	expect_corrupt(&made, "does not ascend");
	make_values(&made, false, 2, 0, same, 3);
	expect_corrupt(&made, "is 3 bytes long");
	make_values(&made, false, 4, 0, same, 2);
	expect_corrupt(&made, "is 2 bytes long");
	make_values(&made, false, 2, UINT64_MAX - 4, same, sizeof(same));
	expect_corrupt(&made, "does not fit 64 bits");
	make_bitmap(&made, 0, 33, bits, sizeof(bits));
	expect_corrupt(&made, "is 4 bytes long");
	make_bitmap(&made, 0, 24, bits, sizeof(bits));
	expect_corrupt(&made, "is 4 bytes long");

	/* A bitmap that claims to be huge asks for no memory. */
	make_bitmap(&made, 0, UINT64_MAX, bits, sizeof(bits));
	expect_corrupt(&made, "is 4 bytes long");
	make_values(&made, false, 2, 0, same, 0);
	made.array.array_case = LANCE__TABLE__ENCODED_U64_ARRAY__ARRAY__NOT_SET;
	expect_corrupt(&made, "no known kind");
}

/* ---- sequences of fragments */

#define MAX_SEGMENTS 4

static LncSlice
pack(const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	void *bytes;

	OK(lnc_arena_alloc(&ctx, arena, size + 1, &bytes));
	protobuf_c_message_pack(message, bytes);
	return (LncSlice){.data = bytes, .size = size};
}

static LncSlice
pack_ids(size_t n, Made *made)
{
	Lance__Table__RowIdSequence sequence = LANCE__TABLE__ROW_ID_SEQUENCE__INIT;
	Lance__Table__U64Segment *segments[MAX_SEGMENTS];

	for (size_t i = 0; i < n; i++)
		segments[i] = &made[i].segment;
	sequence.n_segments = n;
	sequence.segments = segments;
	return pack(&sequence.base);
}

static LncDataset *
make_dataset(LncFragment *fragments, int32_t n)
{
	static const LncStoreConfig config;
	LncDataset *dataset;

	OK(LNC_NEW(&ctx, arena, &dataset, 1));
	OK(lnc_store_open(&ctx, arena, "memory://row-ids", &config, &dataset->store));
	dataset->manifest_key = "_versions/1.manifest";
	dataset->prefix = "";
	dataset->stable_row_ids = true;
	dataset->nfragments = n;
	dataset->fragments = fragments;
	return dataset;
}

static void
sequences_join_their_segments(void **state)
{
	static const uint16_t values[] = {50, 2, 30};
	static const uint64_t expected[] = {100, 101, 102, 50, 2, 30, 7, 8};
	LncFragment fragments[2] = {{.id = 3, .physical_rows = 8}, {.id = 1, .physical_rows = UINT64_C(1) << 32}};
	LncDataset *dataset = make_dataset(fragments, 2);
	Made made[MAX_SEGMENTS];
	LncRowIds *ids;
	LncRowIdIndex *index;
	uint64_t got[8];
	uint64_t offset;
	int32_t fragment;
	bool found;

	(void)state;
	make_range(&made[0], 100, 103);
	make_range(&made[1], 55, 55);
	make_values(&made[2], false, 2, 0, values, sizeof(values));
	make_range(&made[3], 7, 9);
	fragments[0].row_ids = pack_ids(4, made);
	make_range(&made[0], 1000, 1000 + (UINT64_C(1) << 32));
	fragments[1].row_ids = pack_ids(1, made);
	OK(lnc_row_ids_open(&ctx, arena, dataset, &fragments[0], &ids));
	for (uint64_t first = 0; first <= 8; first++)
	{
		for (uint64_t count = 0; count <= 8 - first; count++)
		{
			lnc_row_ids_fill(ids, first, count, got);
			assert_memory_equal(got, expected + first, count * sizeof(*got));
		}
	}
	OK(lnc_row_id_index_open(&ctx, arena, dataset, &index));
	assert_true(lnc_arena_footprint(arena) < 1 << 20);
	for (uint64_t i = 0; i < 8; i++)
	{
		OK(lnc_row_id_index_find(&ctx, index, expected[i], &found, &fragment, &offset));
		assert_true(found);
		assert_int_equal(fragment, 0);
		assert_int_equal(offset, i);
	}
	OK(lnc_row_id_index_find(&ctx, index, 999 + (UINT64_C(1) << 32), &found, &fragment, &offset));
	assert_true(found);
	assert_int_equal(fragment, 1);
	assert_int_equal(offset, UINT32_MAX);
	OK(lnc_row_id_index_find(&ctx, index, 1000 + (UINT64_C(1) << 32), &found, &fragment, &offset));
	assert_false(found);
	OK(lnc_row_id_index_find(&ctx, index, 55, &found, &fragment, &offset));
	assert_false(found);
}

static void
sequences_of_the_wrong_length_are_refused(void **state)
{
	LncFragment fragment = {.id = 7, .physical_rows = 3};
	LncDataset *dataset = make_dataset(&fragment, 1);
	Made made[2];
	LncRowIds *ids;
	LncRowIdIndex *index;

	(void)state;
	assert_int_equal(lnc_row_ids_open(&ctx, arena, dataset, &fragment, &ids), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "has no row ids"));
	assert_non_null(strstr(ctx.error.detail, "Fragment 7 of manifest \"_versions/1.manifest\""));
	make_range(&made[0], 0, 4);
	fragment.row_ids = pack_ids(1, made);
	assert_int_equal(lnc_row_id_index_open(&ctx, arena, dataset, &index), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "a fragment of 3 rows has 4 row ids"));
	make_range(&made[0], 0, UINT64_MAX);
	make_range(&made[1], 0, 4);
	fragment.row_ids = pack_ids(2, made);
	assert_int_equal(lnc_row_ids_open(&ctx, arena, dataset, &fragment, &ids), LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "is too long"));
	fragment.row_ids = (LncSlice){.data = (const uint8_t *)"\x0A\x7F", .size = 2};
	assert_int_equal(lnc_row_ids_open(&ctx, arena, dataset, &fragment, &ids), LNC_CORRUPT);

	/* Without stable row ids the sequence is not looked at. */
	dataset->stable_row_ids = false;
	OK(lnc_row_ids_open(&ctx, arena, dataset, &fragment, &ids));
}

static void
versions_come_in_runs(void **state)
{
	static const uint64_t expected[] = {4, 4, 9, 9, 9, 2};
	LncFragment fragment = {.physical_rows = 6};
	LncDataset *dataset = make_dataset(&fragment, 1);
	Lance__Table__RowDatasetVersionSequence sequence = LANCE__TABLE__ROW_DATASET_VERSION_SEQUENCE__INIT;
	Lance__Table__RowDatasetVersionRun runs[3];
	Lance__Table__RowDatasetVersionRun *pointers[3] = {&runs[0], &runs[1], &runs[2]};
	Made made[3];
	LncVersionRuns got;
	uint64_t values[6];

	(void)state;
	OK(lnc_row_versions_open(&ctx, arena, dataset, &fragment, LNC_ROW_CREATED, &got));
	lnc_row_versions_fill(&got, 0, 6, values);
	for (int i = 0; i < 6; i++)
		assert_int_equal(values[i], 1);

	/* Only the lengths of the spans count. */
	make_range(&made[0], 70, 72);
	make_range(&made[1], 0, 3);
	make_range(&made[2], 5, 6);
	for (int i = 0; i < 3; i++)
	{
		lance__table__row_dataset_version_run__init(&runs[i]);
		runs[i].span = &made[i].segment;
		runs[i].version = (const uint64_t[]){4, 9, 2}[i];
	}
	sequence.n_runs = 3;
	sequence.runs = pointers;
	fragment.updated_versions = pack(&sequence.base);
	OK(lnc_row_versions_open(&ctx, arena, dataset, &fragment, LNC_ROW_LAST_UPDATED, &got));
	for (uint64_t first = 0; first < 6; first++)
	{
		lnc_row_versions_fill(&got, first, 6 - first, values);
		assert_memory_equal(values, expected + first, (6 - first) * sizeof(*values));
	}
	sequence.n_runs = 2;
	fragment.updated_versions = pack(&sequence.base);
	assert_int_equal(lnc_row_versions_open(&ctx, arena, dataset, &fragment, LNC_ROW_LAST_UPDATED, &got),
					 LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "a fragment of 6 rows has 5 row versions"));
	runs[1].span = NULL;
	fragment.updated_versions = pack(&sequence.base);
	assert_int_equal(lnc_row_versions_open(&ctx, arena, dataset, &fragment, LNC_ROW_LAST_UPDATED, &got),
					 LNC_CORRUPT);
	assert_non_null(strstr(ctx.error.message, "has no span"));
}

/* ---- datasets of other writers */

static uint64_t
number(const cJSON *row, const char *name)
{
	return (uint64_t)cJSON_GetObjectItem(row, name)->valuedouble;
}

/* Every row of the file is the scan's next one, and is found by its id. */
static void
check_rows(const char *name, const char *file, uint64_t version, const char *text)
{
	LncDatasetOptions options = {.version = version};
	LncScanSpec spec = {.ncolumns = 1, .system_columns = LNC_SYSTEM_ALL, .batch_rows = 37};
	LncDataset *dataset;
	LncStore *store;
	LncScan *scan;
	LncRowIdIndex *index;
	const LncBatch *batch = NULL;
	int64_t row = 0;
	int32_t id;

	OK(fixtures_open_store(&ctx, arena, name, &store));
	OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));
	OK(lnc_row_id_index_open(&ctx, arena, dataset, &index));
	id = lnc_dataset_field(dataset, "id");
	spec.columns = &id;
	OK(lnc_scan_open(&ctx, arena, dataset, &spec, &scan));
	while (*text != '\0')
	{
		const char *end = strchr(text, '\n');
		cJSON *want = cJSON_ParseWithLength(text, (size_t)(end - text));
		static const char *const names[] = {"id", "_rowid", "_rowaddr", "_row_created_at_version",
											"_row_last_updated_at_version"};
		uint64_t offset;
		int32_t fragment;
		bool found;

		if (batch == NULL || row == batch->length)
		{
			OK(lnc_scan_next(&ctx, scan, &batch));
			assert_non_null(batch);
			assert_int_equal(batch->ncolumns, 5);
			row = 0;
		}
		for (int i = 0; i < 5; i++)
		{
			uint64_t got = ((const uint64_t *)batch->columns[i].values)[row];

			if (cJSON_HasObjectItem(want, names[i]) && got != number(want, names[i]))
				fail_msg("%s: %.*s: %s is %" PRIu64, file, (int)(end - text), text, names[i], got);
		}
		OK(lnc_row_id_index_find(&ctx, index, number(want, "_rowid"), &found, &fragment, &offset));
		if (!found || lnc_row_address(&dataset->fragments[fragment], offset) != number(want, "_rowaddr"))
			fail_msg("%s: %.*s: not found by its id", file, (int)(end - text), text);
		cJSON_Delete(want);
		text = end + 1;
		row++;
	}
	assert_int_equal(row, batch->length);
	OK(lnc_scan_next(&ctx, scan, &batch));
	assert_null(batch);
}

static void
rows_of_other_writers(void **state)
{
	static const struct
	{
		const char *dataset;
		const char *file;
		uint64_t version;
	} cases[] = {
		{"stable_rowids.lance", "stable_rowids.rowids.jsonl", 4},
		{"stable_rowids.lance", "stable_rowids.rowids.jsonl", 5},
		{"stable_rowids.lance", "stable_rowids@compacted.rowids.jsonl", 6},
		{"lineage.lance", "lineage.rowids.jsonl", 0},
		{"del_arrow.lance", "del_arrow.rowaddr.jsonl", 0},
		{"update.lance", "update.rowaddr.jsonl", 0},
		{"stable_rowids_p10.lance", "stable_rowids_p10.rowids.jsonl", 5},
		{"stable_rowids_p10.lance", "stable_rowids_p10@compacted.rowids.jsonl", 6},
		{"del_arrow_p10.lance", "del_arrow_p10.rowaddr.jsonl", 0},
		{"del_fragment.lance", "del_fragment.rowaddr.jsonl", 0},
		{"compacted.lance", "compacted.rowaddr.jsonl", 0},
	};
	int checked = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		char *text = fixtures_read(cases[i].file, NULL);

		/* The folder in the tree is a part of the whole. */
		if (text == NULL)
			continue;
		check_rows(cases[i].dataset, cases[i].file, cases[i].version, text);
		free(text);
		checked++;
	}
	assert_true(checked >= 5);
}

static void
ids_of_deleted_rows_are_not_found(void **state)
{
	LncDatasetOptions options = {0};
	LncDataset *dataset;
	LncStore *store;
	LncRowIdIndex *index;
	uint64_t rows;
	uint64_t live = 0;
	uint64_t dead = 0;

	(void)state;
	OK(fixtures_open_store(&ctx, arena, "del_arrow.lance", &store));
	OK(lnc_dataset_open(&ctx, arena, store, &options, &dataset));
	OK(lnc_dataset_count_rows(&ctx, dataset, &rows));
	OK(lnc_row_id_index_open(&ctx, arena, dataset, &index));
	for (int32_t i = 0; i < dataset->nfragments; i++)
	{
		const LncFragment *fragment = &dataset->fragments[i];

		for (uint64_t offset = 0; offset < fragment->physical_rows; offset++)
		{
			uint64_t got;
			int32_t where;
			bool found;

			OK(lnc_row_id_index_find(&ctx, index, lnc_row_address(fragment, offset), &found, &where, &got));
			if (found)
				assert_true(where == i && got == offset);
			*(found ? &live : &dead) += 1;
		}
	}
	assert_int_equal(live, rows);
	assert_true(dead > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(segments_give_their_values, setup, teardown),
		cmocka_unit_test_setup_teardown(repeated_ids_are_all_found, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_segments_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(sequences_join_their_segments, setup, teardown),
		cmocka_unit_test_setup_teardown(sequences_of_the_wrong_length_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(versions_come_in_runs, setup, teardown),
		cmocka_unit_test_setup_teardown(rows_of_other_writers, setup, teardown),
		cmocka_unit_test_setup_teardown(ids_of_deleted_rows_are_not_found, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
