/*
 * fixtures_test.c
 *	  Datasets made by other writers: every value of every column that is read equals the expected one; what is not
 *	  read is refused by name; damage gives an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/env.h"
#include "dataset/blob.h"
#include "fixture_text.h"
#include "fixtures.h"
#include "scan/scan.h"
#include "scan/take.h"

/* What was looked at, printed at the end. */
static struct
{
	uint64_t versions; /* of datasets */
	uint64_t columns;
	uint64_t refused_columns;
	uint64_t rows;
	uint64_t values;
} totals;

static int failures;

static void complain(const char *fmt, ...) LNC_PRINTF(1, 2);

static void
complain(const char *fmt, ...)
{
	va_list args;

	if (++failures > 60)
		return;
	va_start(args, fmt);
	fprintf(stderr, "FAILED: ");
	vfprintf(stderr, fmt, args);
	fprintf(stderr, "\n");
	va_end(args);
}

/* One version of a dataset, opened. */
typedef struct Opened
{
	const char *label;
	LncContext *ctx;
	LncArena *arena;
	LncDataset *dataset;
} Opened;

static void
complain_error(const Opened *opened, const char *what)
{
	complain("%s: %s: %s (%s) [%s]", opened->label, what, opened->ctx->error.message,
			 lnc_code_name(opened->ctx->error.code), opened->ctx->error.detail);
}

/* Types that are refused by name. */
static bool
is_out_of_scope(const LncField *field)
{
	const LncType *type = &field->type;

	if (type->kind == LNC_TYPE_UNKNOWN)
		return true;
	for (int32_t i = 0; i < type->nchildren; i++)
		if (is_out_of_scope(&type->children[i]))
			return true;
	return false;
}

/* A column that is not read must say so, with its name. */
static void
expect_refused(const Opened *opened, int32_t column)
{
	const LncField *field = &opened->dataset->schema.fields[column];
	LncScanSpec spec = {.ncolumns = 1, .columns = &column};
	const LncBatch *batch;
	LncScan *scan;
	LncCode code = lnc_scan_open(opened->ctx, opened->arena, opened->dataset, &spec, &scan);

	if (code == LNC_OK)
		code = lnc_scan_next(opened->ctx, scan, &batch);
	if (code == LNC_OK && batch == NULL)
		return;
	if (code != LNC_UNSUPPORTED)
		complain("%s: column \"%s\" of type %s gave %s", opened->label, field->name, field->type.logical,
				 lnc_code_name(code));
	else if (strstr(opened->ctx->error.message, field->name) == NULL &&
			 strstr(opened->ctx->error.detail, field->name) == NULL)
		complain("%s: column \"%s\" is not named: %s", opened->label, field->name, opened->ctx->error.message);
	totals.refused_columns++;
}

/* The value of a field in a line of expected rows; moves *line behind it. */
static const char *
next_member(const Opened *opened, const char **line, const char *name, char **copy)
{
	const char *start;
	const char *end;
	char *key;
	FixtureText quoted = {0};

	/* The opening brace or the comma. */
	*line += strspn(*line, "{, ");
	end = fixture_json_skip(*line, &start);
	if (end == NULL || *start != '"')
		return NULL;
	key = strndup(start, (size_t)(end - start));
	fixture_text_add(&quoted, "\"", 1);
	for (const char *p = name; *p != '\0'; p++)
	{
		if (*p == '"' || *p == '\\')
			fixture_text_add(&quoted, "\\", 1);
		fixture_text_add(&quoted, p, 1);
	}
	fixture_text_add(&quoted, "\"", 1);
	if (!fixture_json_equal(key, quoted.text))
		complain("%s: expected rows have %s where the schema has \"%s\"", opened->label, key, name);
	free(key);
	free(quoted.text);
	*line = end + strspn(end, ": ");
	end = fixture_json_skip(*line, &start);
	if (end == NULL)
		return NULL;
	*line = end;
	*copy = strndup(start, (size_t)(end - start));
	return *copy;
}

/* Long lists are expected as their length and the CRC-32 of their text. */
static void
digest(FixtureText *text, int64_t length)
{
	uint32_t crc = UINT32_MAX;
	char out[64];

	for (size_t i = 0; i < text->length; i++)
	{
		crc ^= (uint8_t)text->text[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
	}
	snprintf(out, sizeof(out), "{\"len\":%" PRId64 ",\"crc32\":%" PRIu32 "}", length, ~crc);
	text->length = 0;
	fixture_text_add(text, out, strlen(out));
}

/* Compare one row; true when all its values are as expected. */
static bool
check_row(const Opened *opened, const LncBatch *batch, int64_t row, const int32_t *slots, const char *line,
		  uint64_t number)
{
	const LncSchema *schema = &opened->dataset->schema;
	bool good = true;

	for (int32_t i = 0; i < schema->nfields; i++)
	{
		FixtureText text = {0};
		char *expected;

		if (next_member(opened, &line, schema->fields[i].name, &expected) == NULL)
		{
			complain("%s: expected row %" PRIu64 " is short", opened->label, number);
			return false;
		}
		if (slots[i] >= 0)
		{
			const LncColumn *column = &batch->columns[slots[i]];

			if (schema->fields[i].type.kind == LNC_TYPE_JSON)
			{
				/* The stored form is binary: only NULL can be told here. */
				if (lnc_column_is_null(column, row) != (strcmp(expected, "null") == 0))
					complain("%s: row %" PRIu64 ", column \"%s\": NULL or not", opened->label, number,
							 schema->fields[i].name);
			}
			else
			{
				fixture_text_value(&text, column, row);
				if (strncmp(expected, "{\"len\":", 7) == 0 && text.text[0] == '[')
					digest(&text, column->offsets[row + 1] - column->offsets[row]);
				if (!fixture_json_equal(text.text, expected))
				{
					complain("%s: row %" PRIu64 ", column \"%s\": got %.100s, expected %.100s", opened->label,
							 number, schema->fields[i].name, text.text, expected);
					good = false;
				}
				totals.values++;
			}
			free(text.text);
		}
		free(expected);
	}
	return good;
}

/* Scan the columns in batches of at most that size and compare with the expected rows (NULL: only count them). */
static void
check_scan(const Opened *opened, int32_t ncolumns, const int32_t *columns, const int32_t *slots, int64_t batch_rows,
		   uint64_t batch_bytes, const char *expected, uint64_t expected_rows)
{
	LncScanSpec spec = {
		.ncolumns = ncolumns, .columns = columns, .batch_rows = batch_rows, .batch_bytes = batch_bytes};
	LncScan *scan;
	const LncBatch *batch;
	uint64_t rows = 0;
	const char *line = expected;

	if (lnc_scan_open(opened->ctx, opened->arena, opened->dataset, &spec, &scan) != LNC_OK)
	{
		complain_error(opened, "scan");
		return;
	}
	for (;;)
	{
		if (lnc_scan_next(opened->ctx, scan, &batch) != LNC_OK)
		{
			complain_error(opened, "next batch");
			return;
		}
		if (batch == NULL)
			break;
		if (batch->length <= 0 || (batch_rows > 0 && batch->length > batch_rows) || batch->ncolumns != ncolumns)
			complain("%s: batch of %" PRId64 " rows", opened->label, batch->length);
		for (int64_t row = 0; row < batch->length; row++, rows++)
		{
			if (line == NULL)
				continue;
			if (*line == '\0')
			{
				complain("%s: more rows than expected", opened->label);
				return;
			}
			if (!check_row(opened, batch, row, slots, line, rows))
				return;
			line += strcspn(line, "\n");
			line += *line == '\n';
		}
	}
	if (line != NULL && *line != '\0')
		complain("%s: only %" PRIu64 " rows", opened->label, rows);
	if (rows != expected_rows)
		complain("%s: %" PRIu64 " rows scanned where %" PRIu64 " are counted", opened->label, rows, expected_rows);
	totals.rows += rows;
}

/* The next row of a scan: moves to the next batch where one has ended. False at the end, or at an error. */
static bool
next_row(const Opened *opened, LncScan *scan, const LncBatch **batch, int64_t *row)
{
	while (*batch == NULL || ++*row >= (*batch)->length)
	{
		*row = -1;
		if (lnc_scan_next(opened->ctx, scan, batch) != LNC_OK)
			complain_error(opened, "next batch");
		if (*batch == NULL)
			return false;
	}
	return true;
}

/* Where only that is asked, the same values are NULL; of every other column everything else is there, too. */
static void
check_presence(const Opened *opened, int32_t ncolumns, const int32_t *columns, int64_t batch_rows)
{
	bool *presence = calloc((size_t)ncolumns + 1, sizeof(*presence));
	LncScanSpec whole = {.ncolumns = ncolumns, .columns = columns, .batch_rows = batch_rows};
	LncScanSpec part = {.ncolumns = ncolumns, .columns = columns, .batch_rows = batch_rows, .presence = presence};
	const LncBatch *expected = NULL;
	const LncBatch *got = NULL;
	LncScan *scans[2];
	int64_t row;
	int64_t at;

	for (int32_t i = 0; i < ncolumns; i++)
		presence[i] = i % 3 != 2;
	if (lnc_scan_open(opened->ctx, opened->arena, opened->dataset, &whole, &scans[0]) != LNC_OK ||
		lnc_scan_open(opened->ctx, opened->arena, opened->dataset, &part, &scans[1]) != LNC_OK)
		complain_error(opened, "scan");
	else
	{
		while (next_row(opened, scans[0], &expected, &row))
		{
			if (!next_row(opened, scans[1], &got, &at))
			{
				complain("%s: fewer rows where only NULLs are asked for", opened->label);
				break;
			}
			for (int32_t i = 0; i < ncolumns; i++)
			{
				FixtureText texts[2] = {{0}};

				if (lnc_column_is_null(&expected->columns[i], row) != lnc_column_is_null(&got->columns[i], at))
					complain("%s: column %d: NULL or not", opened->label, i);
				if (presence[i] || lnc_type_is_blob(expected->columns[i].type))
					continue;
				fixture_text_value(&texts[0], &expected->columns[i], row);
				fixture_text_value(&texts[1], &got->columns[i], at);
				if (strcmp(texts[0].text, texts[1].text) != 0)
					complain("%s: column %d differs beside columns of which only NULLs are asked for",
							 opened->label, i);
				free(texts[0].text);
				free(texts[1].text);
			}
		}
	}
	free(presence);
}

/* Files of other versions than those that are read. */
static void
expect_version_refused(const Opened *opened, const char *version)
{
	for (int32_t i = 0; i < opened->dataset->schema.nfields; i++)
	{
		LncScanSpec spec = {.ncolumns = 1, .columns = &i};
		const LncBatch *batch;
		LncScan *scan;
		LncCode code = lnc_scan_open(opened->ctx, opened->arena, opened->dataset, &spec, &scan);

		if (is_out_of_scope(&opened->dataset->schema.fields[i]))
			continue;
		if (code == LNC_OK)
			code = lnc_scan_next(opened->ctx, scan, &batch);
		if (code != LNC_UNSUPPORTED)
			complain("%s: a file of version %s gave %s", opened->label, version, lnc_code_name(code));
		else if (strstr(opened->ctx->error.message, version) == NULL)
			complain("%s: version %s is not named: %s", opened->label, version, opened->ctx->error.message);
	}
}

/* Everything about one version of a dataset; expected may be NULL. */
static void
check_version(const Opened *opened, const char *file_version, const char *expected, int64_t expected_count)
{
	const LncSchema *schema = &opened->dataset->schema;
	int32_t *columns = calloc((size_t)schema->nfields + 1, sizeof(*columns));
	int32_t *slots = calloc((size_t)schema->nfields + 1, sizeof(*slots));
	int32_t ncolumns = 0;
	uint64_t rows;

	totals.versions++;
	if (strstr(file_version, "2.3") != NULL || strstr(file_version, "0.1") != NULL)
	{
		expect_version_refused(opened, strstr(file_version, "2.3") != NULL ? "2.3" : "0.1");
		goto done;
	}
	for (int32_t i = 0; i < schema->nfields; i++)
	{
		if (is_out_of_scope(&schema->fields[i]))
		{
			slots[i] = -1;
			expect_refused(opened, i);
		}
		else
		{
			slots[i] = ncolumns;
			columns[ncolumns++] = i;
		}
	}
	totals.columns += (uint64_t)ncolumns;
	if (lnc_dataset_count_rows(opened->ctx, opened->dataset, &rows) != LNC_OK)
	{
		complain_error(opened, "count");
		goto done;
	}
	if (expected_count >= 0 && rows != (uint64_t)expected_count)
		complain("%s: %" PRIu64 " rows where %" PRId64 " are expected", opened->label, rows, expected_count);
	check_scan(opened, 0, NULL, slots, 0, 0, NULL, rows);
	check_scan(opened, ncolumns, columns, slots, 0, 0, expected, rows);
	check_scan(opened, ncolumns, columns, slots, 37, 0, expected, rows);
	check_presence(opened, ncolumns, columns, 0);
	check_presence(opened, ncolumns, columns, 37);
	check_scan(opened, ncolumns, columns, slots, 0, (uint64_t)40 * 1024, expected, rows);

done:
	free(columns);
	free(slots);
}

/* The branch and version that a suffix of expected rows means. */
static bool
resolve_suffix(const cJSON *entry, const char *suffix, uint64_t latest, char *branch, size_t size,
			   uint64_t *version)
{
	const char *dataset = cJSON_GetObjectItem(entry, "dataset")->valuestring;
	const cJSON *files = cJSON_GetObjectItem(entry, "expected");

	branch[0] = '\0';
	*version = 0;
	if (suffix[0] == '\0')
	{
		/* The rows before an append or a compaction that has rows of its own. */
		if (cJSON_HasObjectItem(files, "@appended") || cJSON_HasObjectItem(files, "@compacted"))
			*version = latest - 1;
		return true;
	}
	if (strcmp(suffix, "@appended") == 0 || strcmp(suffix, "@compacted") == 0)
		return true;
	if (sscanf(suffix, "@v%" SCNu64, version) == 1)
		return true;
	if (strncmp(suffix, "@branch=", 8) == 0)
	{
		const char *name = suffix + 8;
		const char *slash = strstr(name, "%2F");

		if (slash == NULL)
			snprintf(branch, size, "%s", name);
		else
			snprintf(branch, size, "%.*s/%s", (int)(slash - name), name, slash + 3);
		return true;
	}
	if (strncmp(suffix, "@tag=", 5) == 0)
	{
		char path[512];
		char *text;
		cJSON *tag;
		const cJSON *on;

		snprintf(path, sizeof(path), "%s/_refs/tags/%s.json", dataset, suffix + 5);
		text = fixtures_read(path, NULL);
		if (text == NULL)
			return false;
		tag = cJSON_Parse(text);
		on = cJSON_GetObjectItem(tag, "branch");
		if (cJSON_IsString(on))
			snprintf(branch, size, "%s", on->valuestring);
		*version = (uint64_t)cJSON_GetObjectItem(tag, "version")->valuedouble;
		cJSON_Delete(tag);
		free(text);
		return true;
	}
	return false;
}

static void
check_expected_file(const cJSON *entry, const char *suffix, const char *file)
{
	const char *dataset = cJSON_GetObjectItem(entry, "dataset")->valuestring;
	const cJSON *rows = cJSON_GetObjectItem(entry, "rows");
	uint64_t latest = (uint64_t)cJSON_GetObjectItem(entry, "version")->valuedouble;
	LncContext ctx;
	LncArena *arena = lnc_arena_create(lnc_env_default());
	LncStore *store;
	LncDatasetOptions options = {.open_base = fixtures_open_base};
	char branch[128];
	char label[256];
	char *expected = NULL;
	Opened opened = {.label = label, .ctx = &ctx, .arena = arena};
	int64_t count = -1;

	lnc_context_init(&ctx, lnc_env_default());
	snprintf(label, sizeof(label), "%s%s", dataset, suffix);
	if (file != NULL && (expected = fixtures_read(file, NULL)) == NULL)
		complain("%s: no file \"%s\"", label, file);
	else if (!resolve_suffix(entry, suffix, latest, branch, sizeof(branch), &options.version))
		complain("%s: suffix is not understood", label);
	else
	{
		options.branch = branch;
		if (cJSON_IsNumber(rows) && options.version == 0 && branch[0] == '\0')
			count = (int64_t)rows->valuedouble;
		if (fixtures_open_store(&ctx, arena, dataset, &store) != LNC_OK ||
			lnc_dataset_open(&ctx, arena, store, &options, &opened.dataset) != LNC_OK)
			complain_error(&opened, "open");
		else
		{
			if (suffix[0] == '\0' && options.version == 0 && opened.dataset->version != latest)
				complain("%s: version %" PRIu64 " is not the newest, %" PRIu64, label, opened.dataset->version,
						 latest);
			check_version(&opened, cJSON_GetObjectItem(entry, "file_version")->valuestring, expected, count);
		}
	}
	free(expected);
	lnc_arena_destroy(arena);
}

static void
values_are_as_expected(void **state)
{
	cJSON *index = fixtures_index();
	const cJSON *entry;

	(void)state;
	failures = 0;
	cJSON_ArrayForEach(entry, index)
	{
		const cJSON *files = cJSON_GetObjectItem(entry, "expected");
		const cJSON *file;

		if (strncmp(cJSON_GetObjectItem(entry, "name")->valuestring, "refuse_", 7) == 0)
			continue;
		if (files == NULL || files->child == NULL)
			check_expected_file(entry, "", NULL);
		cJSON_ArrayForEach(file, files) check_expected_file(entry, file->string, file->valuestring);
	}
	cJSON_Delete(index);
	print_message("%" PRIu64 " dataset versions, %" PRIu64 " columns read, %" PRIu64 " refused by name, %" PRIu64
				  " rows, %" PRIu64 " values compared\n",
				  totals.versions, totals.columns, totals.refused_columns, totals.rows, totals.values);
	assert_int_equal(failures, 0);
	assert_true(totals.values > 10000);
}

static void
unknown_reader_flags_are_refused(void **state)
{
	static const struct
	{
		const char *dataset;
		const char *message;
	} cases[] = {
		{"refuse_unknown_flag.lance", "reader feature flag 40 is not known"},
		{"refuse_overlay_flag.lance", "reader feature flag 6 (data overlay files) is not supported"},
		{"refuse_tree_flag.lance", "reader feature flag 12 (fragment tree) is not supported"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		LncContext ctx;
		LncArena *arena = lnc_arena_create(lnc_env_default());
		LncDatasetOptions options = {0};
		LncDataset *dataset;
		LncStore *store;

		lnc_context_init(&ctx, lnc_env_default());
		assert_int_equal(fixtures_open_store(&ctx, arena, cases[i].dataset, &store), LNC_OK);
		assert_int_equal(lnc_dataset_open(&ctx, arena, store, &options, &dataset), LNC_UNSUPPORTED);
		assert_string_equal(ctx.error.message, cases[i].message);
		assert_non_null(strstr(ctx.error.detail, "_versions/"));
		lnc_arena_destroy(arena);
	}
}

/* The bytes of all blobs of a batch, but for those inside other columns. */
static LncCode
read_blobs(LncContext *ctx, const LncBatch *batch)
{
	LncArena *arena = lnc_arena_create(ctx->env);
	LncCode code = LNC_OK;

	if (arena == NULL)
		return lnc_fail(ctx, LNC_NO_MEMORY, "out of memory");
	for (int32_t i = 0; i < batch->ncolumns; i++)
		for (int64_t row = 0; code == LNC_OK && row < batch->length; row++)
		{
			LncSlice bytes;

			if (!lnc_type_is_blob(batch->columns[i].type) || lnc_column_is_null(&batch->columns[i], row))
				continue;
			lnc_arena_reset(arena);
			code = lnc_blob_read(ctx, arena, &batch->columns[i], row, 1 << 20, &bytes);
		}
	lnc_arena_destroy(arena);
	return code;
}

/* Every third row, backwards. */
static LncCode
take_rows(LncContext *ctx, LncArena *arena, const LncDataset *dataset, const LncScanSpec *columns, uint64_t *rows)
{
	LncTakeSpec spec = {.ncolumns = columns->ncolumns, .columns = columns->columns};
	uint64_t keys[500];
	size_t n = 0;
	const LncTaken *taken;
	LncTake *take;

	for (uint64_t row = *rows; row > 0 && n<500; row -= row> 3 ? 3 : row)
		keys[n++] = row - 1;
	*rows = 0;
	LNC_TRY(lnc_take_open(ctx, arena, dataset, &spec, &take));
	LNC_TRY(lnc_take_start(ctx, take, n, keys));
	for (;;)
	{
		LNC_TRY(lnc_take_next(ctx, take, &taken));
		if (taken == NULL)
			return LNC_OK;
		LNC_TRY(read_blobs(ctx, &taken->batch));
		*rows += (uint64_t)taken->batch.length;
	}
}

/* Open the newest version in store and read all that can be read, or some of it row by row. */
static LncCode
read_everything(LncContext *ctx, LncArena *arena, LncStore *store, bool take, uint64_t *rows)
{
	LncDatasetOptions options = {.open_base = fixtures_open_base};
	LncScanSpec spec = {0};
	LncDataset *dataset;
	const LncBatch *batch;
	int32_t *columns;
	LncScan *scan;

	*rows = 0;
	LNC_TRY(lnc_dataset_open(ctx, arena, store, &options, &dataset));
	LNC_TRY(lnc_dataset_count_rows(ctx, dataset, rows));
	LNC_TRY(LNC_NEW(ctx, arena, &columns, dataset->schema.nfields));
	for (int32_t i = 0; i < dataset->schema.nfields; i++)
	{
		if (!is_out_of_scope(&dataset->schema.fields[i]))
			columns[spec.ncolumns++] = i;
	}
	spec.columns = columns;
	if (take)
		return take_rows(ctx, arena, dataset, &spec, rows);
	*rows = 0;
	LNC_TRY(lnc_scan_open(ctx, arena, dataset, &spec, &scan));
	for (;;)
	{
		LNC_TRY(lnc_scan_next(ctx, scan, &batch));
		if (batch == NULL)
			return LNC_OK;
		LNC_TRY(read_blobs(ctx, batch));
		*rows += (uint64_t)batch->length;
	}
}

static void
damaged_copies_give_errors(void **state)
{
	static const char *const cases[] = {"corrupt_short.lance", "corrupt_badmagic.lance", "corrupt_zerofoot.lance",
										"corrupt_tiny.lance", "corrupt_flip.lance"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		LncContext ctx;
		LncArena *arena = lnc_arena_create(lnc_env_default());
		LncStore *store;
		uint64_t rows;
		LncCode code;

		lnc_context_init(&ctx, lnc_env_default());
		assert_int_equal(fixtures_open_store(&ctx, arena, cases[i], &store), LNC_OK);
		code = read_everything(&ctx, arena, store, false, &rows);
		/* Flipped bytes may also give other values. */
		if (strcmp(cases[i], "corrupt_flip.lance") == 0)
			assert_true(code == LNC_OK || code == LNC_CORRUPT || code == LNC_UNSUPPORTED || code == LNC_LIMIT);
		else if (code != LNC_CORRUPT)
			fail_msg("%s: %s %s", cases[i], lnc_code_name(code), code == LNC_OK ? "" : ctx.error.message);
		if (code != LNC_OK && strstr(ctx.error.detail, ".lance") == NULL &&
			strstr(ctx.error.message, ".lance") == NULL)
			fail_msg("%s: no file is named: %s [%s]", cases[i], ctx.error.message, ctx.error.detail);
		lnc_arena_destroy(arena);
	}
}

/* An environment that counts what is taken and refuses more than a bound. */
typedef struct Meter
{
	size_t now;
	size_t peak;
} Meter;

#define METER_BOUND ((size_t)512 * 1024 * 1024)

static void *
meter_alloc(void *state, size_t size)
{
	Meter *meter = state;
	size_t *block;

	if (size > METER_BOUND - meter->now)
		return NULL;
	block = malloc(size + 16);
	if (block == NULL)
		return NULL;
	block[0] = size;
	meter->now += size;
	if (meter->now > meter->peak)
		meter->peak = meter->now;
	return (char *)block + 16;
}

static void
meter_release(void *state, void *ptr)
{
	Meter *meter = state;
	size_t *block = (size_t *)(void *)((char *)ptr - 16);

	meter->now -= block[0];
	free(block);
}

/* The keys of a store, for picking files to damage. */
typedef struct KeyList
{
	LncArena *arena;
	int n;
	char *keys[64];
	uint64_t sizes[64];
} KeyList;

static LncCode
add_key(LncContext *ctx, void *arg, const LncObject *object, bool *stop)
{
	KeyList *list = arg;

	*stop = list->n == 63;
	if (strncmp(object->key, "_versions/", 10) != 0 && strncmp(object->key, "data/", 5) != 0 &&
		strncmp(object->key, "_deletions/", 11) != 0)
		return LNC_OK;
	list->sizes[list->n] = object->size;
	return lnc_arena_strndup(ctx, list->arena, object->key, strlen(object->key), &list->keys[list->n++]);
}

static uint32_t
next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Read a store with one of its files damaged; rows or an error that is none of the caller's. */
static LncCode
read_damaged(LncStore *store, const char *label, const char *key, LncSlice body, bool take, Meter *meter)
{
	LncEnv env = *lnc_env_default();
	LncContext ctx;
	LncArena *arena;
	uint64_t rows;
	LncCode code;

	env.alloc = meter_alloc;
	env.release = meter_release;
	env.state = meter;
	lnc_context_init(&ctx, &env);
	arena = lnc_arena_create(&env);
	assert_int_equal(lnc_store_put(&ctx, store, key, body), LNC_OK);
	code = read_everything(&ctx, arena, store, take, &rows);
	if (code != LNC_OK && code != LNC_CORRUPT && code != LNC_UNSUPPORTED && code != LNC_LIMIT &&
		code != LNC_NOT_FOUND && code != LNC_INVALID && code != LNC_DENIED && code != LNC_NO_MEMORY)
		fail_msg("%s, %s: %s: %s", label, key, lnc_code_name(code), ctx.error.message);
	if (code == LNC_NO_MEMORY)
		fail_msg("%s, %s: asks for too much memory: %s", label, key, ctx.error.message);
	lnc_arena_destroy(arena);
	assert_int_equal(meter->now, 0);
	return code;
}

/* Damage done to each dataset. All of it takes long: one of SPREAD is tried unless LANCE_DAMAGE is "all". */
#define CUTS 50
#define FLIPS 200
#define SPREAD 8

/* What reading a damaged fixture may take: that of a batch, and again so much for what is kept and read ahead of it. */
#define DAMAGE_BOUND ((size_t)2 * LNC_SCAN_BATCH_BYTES)

typedef struct Damage
{
	int tries;
	int errors;
	size_t peak;
	int64_t longest_ms;
} Damage;

/* Cut or flip a file of the dataset, picked by chance, read it all, and put the file back. */
static void
damage_once(LncContext *ctx, LncStore *store, const KeyList *list, const char *label, int number, uint32_t seed,
			Damage *damage)
{
	LncArena *scratch = lnc_arena_create(lnc_env_default());
	/* The manifests and the small files as often as the large ones. */
	const char *key = list->keys[next_random(&seed) % (uint32_t)list->n];
	int64_t start = lnc_now_ms();
	Meter meter = {0};
	LncSlice good;
	uint8_t *bad;
	size_t at;

	assert_int_equal(lnc_store_read_all(ctx, store, scratch, key, UINT64_MAX, &good), LNC_OK);
	bad = malloc(good.size + 1);
	memcpy(bad, good.data, good.size);
	at = good.size == 0 ? 0 : next_random(&seed) % good.size;
	/* Structure sits at the end: half of the damage goes there. */
	if (number % 2 == 0 && good.size > 512)
		at = good.size - 1 - next_random(&seed) % 512;
	if (number >= CUTS)
		bad[at] = (uint8_t)(bad[at] ^ (1u << (next_random(&seed) % 8)));
	if (read_damaged(store, label, key, (LncSlice){.data = bad, .size = number < CUTS ? at : good.size},
					 next_random(&seed) % 3 == 0, &meter) != LNC_OK)
		damage->errors++;
	if (meter.peak > DAMAGE_BOUND)
		fail_msg("%s, %s, damage %d: %zu bytes taken", label, key, number, meter.peak);
	free(bad);
	assert_int_equal(lnc_store_put(ctx, store, key, good), LNC_OK);
	lnc_arena_destroy(scratch);
	damage->tries++;
	if (meter.peak > damage->peak)
		damage->peak = meter.peak;
	if (lnc_now_ms() - start > damage->longest_ms)
		damage->longest_ms = lnc_now_ms() - start;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The folders of datasets, sorted. */
static int
list_datasets(char **names, int most)
{
	char folder[PATH_MAX];
	struct dirent *entry;
	int n = 0;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%s/data", fixtures_folder());
	dir = opendir(folder);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
	{
		size_t length = strlen(entry->d_name);

		if (length < 6 || strcmp(entry->d_name + length - 6, ".lance") != 0)
			continue;
		assert_true(n < most);
		names[n++] = strdup(entry->d_name);
	}
	closedir(dir);
	qsort(names, (size_t)n, sizeof(*names), compare_names);
	return n;
}

static void
cut_and_flipped_files_never_crash(void **state)
{
	const char *wanted = getenv("LANCE_DAMAGE");
	int spread = wanted != NULL && strcmp(wanted, "all") == 0 ? 1 : SPREAD;
	Damage damage = {0};
	char *names[500];
	int n = list_datasets(names, 500);

	(void)state;
	assert_true(n > 100);
	for (int i = 0; i < n; i++)
	{
		LncContext ctx;
		LncArena *arena = lnc_arena_create(lnc_env_default());
		KeyList list = {.arena = arena};
		LncStore *local;
		LncStore *store;

		lnc_context_init(&ctx, lnc_env_default());
		assert_int_equal(fixtures_open_store(&ctx, arena, names[i], &local), LNC_OK);
		assert_int_equal(fixtures_copy_to_memory(&ctx, arena, local, &store), LNC_OK);
		assert_int_equal(lnc_store_list(&ctx, store, "", true, NULL, add_key, &list), LNC_OK);
		for (int number = i % spread; list.n > 0 && number < CUTS + FLIPS; number += spread)
			damage_once(&ctx, store, &list, names[i], number, 4711u + (uint32_t)i * 1000u + (uint32_t)number,
						&damage);
		lnc_arena_destroy(arena);
		free(names[i]);
	}
	print_message("%d datasets, %d damaged files, %d errors, at most %zu KiB taken, at most %lld ms\n", n,
				  damage.tries, damage.errors, damage.peak / 1024, (long long)damage.longest_ms);
	assert_true(damage.tries >= n * (CUTS + FLIPS) / spread - n * 5);
	assert_true(damage.errors > damage.tries / 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_as_expected),
		cmocka_unit_test(unknown_reader_flags_are_refused),
		cmocka_unit_test(damaged_copies_give_errors),
		cmocka_unit_test(cut_and_flipped_files_never_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
