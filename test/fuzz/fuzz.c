/*
 * fuzz.c
 *	  What the fuzz targets share.
 */
#include "fuzz.h"

#include "column/blob.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_MAX_BUFFERS 4
#define FUZZ_MAX_PATH 4
#define FUZZ_MAX_ROWS ((uint64_t)4096)
#define FUZZ_MAX_MEMORY ((size_t)64 * 1024 * 1024)

static const char *const types[] = {"int8",
									"int16",
									"int32",
									"int64",
									"bool",
									"double",
									"string",
									"large_binary",
									"json",
									"decimal:128:38:4",
									"fixed_size_binary:3",
									"fixed_size_list:float:4",
									"fixed_size_list:bool:9",
									"fixed_size_list:fixed_size_list:int16:2:3",
									"null",
									"dict:string:int8:false",
									"decimal:256:70:10",
									"fixed_size_list:uint8:300"};

typedef struct Buffers
{
	const uint8_t *data[FUZZ_MAX_BUFFERS];
	uint64_t sizes[FUZZ_MAX_BUFFERS];
} Buffers;

static void *
capped_alloc(void *state, size_t size)
{
	(void)state;
	return size > FUZZ_MAX_MEMORY ? NULL : malloc(size);
}

LncEnv
fuzz_env(void)
{
	LncEnv env = *lnc_env_default();

	env.alloc = capped_alloc;
	return env;
}

const char *
fuzz_type(unsigned number)
{
	return types[number % (sizeof(types) / sizeof(types[0]))];
}

/* LncPageSource.read */
static LncCode
read_buffers(LncContext *ctx, const LncPageSource *source, LncArena *arena, size_t nranges,
			 const LncPageRange *ranges, const uint8_t **outs)
{
	const Buffers *buffers = source->state;

	for (size_t i = 0; i < nranges; i++)
	{
		void *copy;

		if (ranges[i].buffer >= source->nbuffers ||
			!lnc_range_ok(ranges[i].offset, ranges[i].length, source->sizes[ranges[i].buffer]))
			return lnc_fail(ctx, LNC_CORRUPT, "a range is outside of its buffer");

		/* A copy of its own, unaligned: the sanitizer knows where it ends, but for the arena's rounding. */
		LNC_TRY(lnc_arena_alloc(ctx, arena, ranges[i].length + 1, &copy));
		if (ranges[i].length > 0)
			memcpy((uint8_t *)copy + 1, buffers->data[ranges[i].buffer] + ranges[i].offset, ranges[i].length);
		outs[i] = (const uint8_t *)copy + 1;
	}
	return LNC_OK;
}

static uint64_t
sum_bytes(const void *data, uint64_t size)
{
	const uint8_t *bytes = data;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < size; i++)
		sum += bytes[i];
	return sum;
}

static uint64_t
sum_column(const LncColumn *column)
{
	uint64_t length = (uint64_t)column->length;
	uint64_t sum = 0;

	if (column->absent)
		return 0;
	if (column->validity != NULL)
		sum += sum_bytes(column->validity, lnc_bitmap_size(length));
	if (column->type->kind == LNC_TYPE_NULL || column->absent)
		return sum;
	if (column->type->kind == LNC_TYPE_LIST)
	{
		if (column->offsets[0] != 0 || column->offsets[length] != column->children[0].length)
			abort();
		for (uint64_t i = 0; i < length; i++)
			if (column->offsets[i] > column->offsets[i + 1])
				abort();
		return sum + sum_column(&column->children[0]);
	}
	if (column->type->kind == LNC_TYPE_STRUCT)
	{
		for (int32_t i = 0; i < column->nchildren; i++)
		{
			if (column->children[i].length != column->length)
				abort();
			sum += sum_column(&column->children[i]);
		}
		return sum;
	}
	if (column->type->kind == LNC_TYPE_FIXED_LIST)
	{
		if (column->children[0].length != column->length * column->type->list_size)
			abort();
		return sum + sum_column(&column->children[0]);
	}
	if (column->type->kind == LNC_TYPE_STRUCT || lnc_type_is_blob(column->type))
	{
		for (int32_t i = 0; i < column->nchildren; i++)
		{
			if (column->children[i].length != column->length)
				abort();
			sum += sum_column(&column->children[i]);
		}
		return sum;
	}
	if (column->type->kind == LNC_TYPE_LIST || column->type->kind == LNC_TYPE_LARGE_LIST ||
		column->type->kind == LNC_TYPE_MAP)
	{
		if (column->offsets[0] != 0 || column->children[0].length != column->offsets[length])
			abort();
		for (uint64_t i = 0; i < length; i++)
			if (column->offsets[i] > column->offsets[i + 1])
				abort();
		return sum + sum_column(&column->children[0]);
	}
	if (lnc_type_is_variable(column->type))
	{
		if (column->offsets[0] != 0)
			abort();
		for (uint64_t i = 0; i < length; i++)
			if (column->offsets[i] > column->offsets[i + 1])
				abort();
		return sum + sum_bytes(column->data, (uint64_t)column->offsets[length]);
	}
	if (column->type->kind == LNC_TYPE_BOOL)
		return sum + sum_bytes(column->values, lnc_bitmap_size(length));
	return sum + sum_bytes(column->values, length * lnc_type_width(column->type));
}

void
fuzz_read_bytes(const void *data, uint64_t size)
{
	static volatile uint64_t sink;

	sink += sum_bytes(data, size);
}

void
fuzz_read_deletions(LncContext *ctx, LncArena *arena, LncStore *store, const LncDataset *dataset,
					const LncFragment *fragment, LncSlice bytes)
{
	LncDeletions deletions;
	char *key;
	uint64_t next = 0;
	uint64_t count = 0;

	if (lnc_arena_printf(ctx, arena, &key, "_deletions/%" PRIu64 "-%" PRIu64 "-%" PRIu64 ".%s", fragment->id,
						 fragment->deletion_read_version, fragment->deletion_id,
						 fragment->deletion_kind == LNC_DELETION_ARROW ? "arrow" : "bin") != LNC_OK ||
		lnc_store_put(ctx, store, key, bytes) != LNC_OK)
		abort();
	if (lnc_deletion_read(ctx, arena, dataset, fragment, &deletions) != LNC_OK)
		return;
	for (size_t i = 0; i < deletions.nranges; i++)
	{
		if (deletions.ranges[i].first < next || deletions.ranges[i].last < deletions.ranges[i].first)
			abort();
		next = (uint64_t)deletions.ranges[i].last + 1;
		count += next - deletions.ranges[i].first;
	}
	if (next > fragment->physical_rows || count != deletions.count)
		abort();
}

void
fuzz_read_column(const LncColumn *column)
{
	static volatile uint64_t sink;

	sink += sum_column(column);
}

/* rows of the leaf are one of the field. */
static void
decode_rows(LncContext *ctx, LncPage *page, LncArena *arena, uint64_t first, uint64_t count, uint64_t rows)
{
	LncColumn column;

	if (count > FUZZ_MAX_ROWS)
		count = FUZZ_MAX_ROWS;
	lnc_arena_reset(arena);
	if (page->decode(ctx, page, arena, first, count, &column) != LNC_OK)
		return;
	if (column.length != (int64_t)(count / rows))
		abort();
	fuzz_read_column(&column);
}

/* Row k of b is row i of a, as far as anybody looks. */
static bool
same_row(const LncColumn *a, int64_t i, const LncColumn *b, int64_t k)
{
	int64_t from = 0;
	int64_t to = 0;
	int64_t count = 0;

	if (a->absent || b->absent)
		return a->absent == b->absent;
	if (lnc_column_is_null(a, i) || lnc_column_is_null(b, k))
		return lnc_column_is_null(a, i) && lnc_column_is_null(b, k);
	if (a->type->kind == LNC_TYPE_BOOL)
		return lnc_bit(a->values, (uint64_t)i) == lnc_bit(b->values, (uint64_t)k);
	if (a->offsets != NULL)
	{
		from = a->offsets[i];
		to = b->offsets[k];
		count = a->offsets[i + 1] - from;
		if (b->offsets[k + 1] - to != count)
			return false;
		if (a->nchildren == 0)
			return memcmp(a->data + from, b->data + to, (size_t)count) == 0;
	}
	else if (a->type->kind == LNC_TYPE_FIXED_LIST)
	{
		count = a->type->list_size;
		from = i * count;
		to = k * count;
	}
	else if (a->nchildren == 0)
	{
		uint64_t width = lnc_type_width(a->type);

		return memcmp((const uint8_t *)a->values + (uint64_t)i * width,
					  (const uint8_t *)b->values + (uint64_t)k * width, (size_t)width) == 0;
	}
	else
	{
		for (int32_t c = 0; c < a->nchildren; c++)
			if (!same_row(&a->children[c], i, &b->children[c], k))
				return false;
		return true;
	}
	for (int64_t n = 0; n < count; n++)
		if (!same_row(a->children, from + n, b->children, to + n))
			return false;
	return true;
}

/*
 * Rows chosen out of [first, first + count), by a pattern. Of an intact page each is that of a whole reading; where parts of
 * a page contradict each other, that may notice what this does not, and the other way round.
 */
static void
decode_chosen(LncContext *ctx, LncPage *page, LncArena *arena, uint64_t first, uint64_t count, unsigned pattern,
			  bool intact)
{
	static int64_t rows[FUZZ_MAX_ROWS];
	uint64_t n = 0;
	bool done = false;
	bool is_whole;
	LncColumn whole;
	LncColumn some;

	if (count > FUZZ_MAX_ROWS)
		count = FUZZ_MAX_ROWS;
	for (uint64_t i = 0; i < count; i++)
	{
		/* All, every third, the last, the first and the last, runs of two, few that lie apart by more and more. */
		bool chosen = pattern == 0	 ? true
					  : pattern == 1 ? i % 3 == 1
					  : pattern == 2 ? i + 1 == count
					  : pattern == 3 ? i == 0 || i + 1 == count
					  : pattern == 4 ? i % 7 < 2
									 : (i & (i - 1)) == 0;

		if (chosen)
			rows[n++] = (int64_t)i;
	}
	if (n == 0 || page->decode_some == NULL)
		return;
	lnc_arena_reset(arena);
	is_whole = page->decode(ctx, page, arena, first, count, &whole) == LNC_OK;
	if (page->decode_some(ctx, page, arena, first, n, rows, &done, &some) != LNC_OK)
	{
		if (is_whole && intact && ctx->error.code != LNC_LIMIT && ctx->error.code != LNC_NO_MEMORY)
			abort();
		return;
	}
	if (!done)
		return;
	if (some.length != (int64_t)n)
		abort();
	fuzz_read_column(&some);
	for (uint64_t i = 0; is_whole && intact && i < n; i++)
		if (!same_row(&whole, rows[i], &some, (int64_t)i))
			abort();
}

/* Below what a leaf lies, by any number: lists, structs with a second field, fixed-size lists of two. */
static const char *const paths[] = {"", "l", "s", "ll", "ls", "sl", "lsl", "ss", "2s", "s2s", "packed"};

static LncField *
make_path(unsigned number, LncField *field, LncField (*children)[2], const LncField **path, int32_t *npath,
		  uint64_t *per_row)
{
	const char *letters = paths[number % (sizeof(paths) / sizeof(paths[0]))];

	*npath = 0;
	*per_row = 1;
	path[(*npath)++] = field;
	if (strcmp(letters, "packed") == 0)
	{
		memset(children, 0, 2 * sizeof(**children));
		field->type.kind = LNC_TYPE_STRUCT;
		field->type.nchildren = 2;
		field->type.children = children[0];
		children[0][1].name = "y";
		children[0][1].type.kind = LNC_TYPE_INT32;
		children[0][0].name = "x";
		return &children[0][0];
	}
	for (int i = 0; letters[i] != '\0'; i++)
	{
		LncType *type = &field->type;

		memset(children[i], 0, sizeof(children[i]));
		type->kind = letters[i] == 'l' ? LNC_TYPE_LIST : letters[i] == 's' ? LNC_TYPE_STRUCT : LNC_TYPE_FIXED_LIST;
		type->list_size = letters[i] == '2' ? 2 : 0;
		*per_row *= letters[i] == '2' ? 2 : 1;
		type->nchildren = letters[i] == 's' ? 2 : 1;
		type->children = children[i];
		children[i][0].name = "x";
		children[i][1].name = "y";
		children[i][1].type.kind = LNC_TYPE_INT32;
		field = &children[i][0];
		path[(*npath)++] = field;
	}
	return field;
}

void
fuzz_page(const uint8_t *data, size_t size, FuzzPageOpen open)
{
	fuzz_whole_page(data, size, open, false);
}

void
fuzz_whole_page(const uint8_t *data, size_t size, FuzzPageOpen open, bool intact)
{
	LncEnv env = fuzz_env();
	LncContext ctx;
	LncArena *arena;
	LncArena *rows;
	LncField fields[FUZZ_MAX_PATH] = {{.name = "x", .nullable = true}};
	LncField children[FUZZ_MAX_PATH][2];
	const LncField *path[FUZZ_MAX_PATH];
	Buffers buffers;
	LncPageSource source = {.sizes = buffers.sizes, .read = read_buffers, .state = &buffers};
	LncPageSpec spec = {.source = &source, .path = path};
	LncField *leaf;
	uint64_t per_row;
	LncPage *page;
	size_t at = 9;

	if (size < at)
		return;
	lnc_context_init(&ctx, &env);
	arena = lnc_arena_create(&env);
	rows = lnc_arena_create(&env);
	source.nbuffers = data[6] % (FUZZ_MAX_BUFFERS + 1);
	spec.file_minor = 1 + (data[1] & 1);
	spec.nrows = lnc_le32(data + 2);
	leaf = make_path(open == lnc_page20_open ? 0 : data[1] >> 1, &fields[0], children, path, &spec.npath, &per_row);
	at += (size_t)4 * source.nbuffers;
	if (size >= at && lnc_type_parse(&ctx, arena, fuzz_type(data[0]), &leaf->type) == LNC_OK)
	{
		size_t length = lnc_le16(data + 7);

		spec.encoding.data = data + at;
		spec.encoding.size = length < size - at ? length : size - at;
		at += spec.encoding.size;
		for (uint32_t i = 0; i < source.nbuffers; i++)
		{
			length = lnc_le32(data + 9 + (size_t)i * 4);
			buffers.data[i] = data + at;
			buffers.sizes[i] = length < size - at ? length : size - at;
			at += buffers.sizes[i];
		}
		if (open(&ctx, arena, &spec, &page) == LNC_OK)
		{
			decode_rows(&ctx, page, rows, 0, spec.nrows, per_row);
			decode_rows(&ctx, page, rows, 0, spec.nrows < 3 ? spec.nrows : 3, per_row);
			decode_rows(&ctx, page, rows, spec.nrows / 2, spec.nrows - spec.nrows / 2, per_row);
			decode_rows(&ctx, page, rows, spec.nrows / 3, spec.nrows / 3, per_row);
			decode_rows(&ctx, page, rows, spec.nrows, 0, per_row);
			for (unsigned pattern = 0; pattern < 6 && per_row == 1; pattern++)
			{
				decode_chosen(&ctx, page, rows, 0, spec.nrows, pattern, intact);
				decode_chosen(&ctx, page, rows, spec.nrows / 3, spec.nrows / 3, pattern, intact);
			}
		}
	}
	lnc_arena_destroy(rows);
	lnc_arena_destroy(arena);
}
