/*
 * field_reader20.c
 *	  Fields of files of version 2.0: a tree of readers like the tree of the field.
 *
 * The column of a struct is a header of so many rows and holds no data, its columns of children have as many rows; no
 * struct is NULL. The column of a list holds where lists end, the rows of its item column are the items of all lists.
 * A packed struct, and a fixed-size list with all below it, is one column. Source of the facts: format.md sections 3
 * and 7.
 */
#include "format/field_reader20.h"

#include <inttypes.h>

#include "encoding/page20.h"
#include "format/file_internal.h"
#include "format/list_reader20.h"

typedef struct Node
{
	enum
	{
		NODE_ABSENT,
		NODE_COLUMN, /* values in one file column */
		NODE_LIST,   /* children[0]: the items */
		NODE_STRUCT
	} kind;
	const LncField *field;   /* borrowed */
	uint64_t nrows;          /* unless absent */
	LncColumnReader *column; /* NODE_COLUMN */
	LncListReader20 *lists;  /* NODE_LIST */
	int32_t nchildren;
	struct Node *children;
} Node;

struct LncFieldReader20
{
	Node root;
};

/* Schemas are not nested deeper; checked here too, because the recursion relies on it. */
#define MAX_DEPTH 80

/* What is the same for all nodes while they are opened. */
typedef struct Opening
{
	LncArena *arena;
	LncFile *file;
	const LncFieldMap *map;
} Opening;

static LncCode open_node(LncContext *ctx, const Opening *opening, const LncField *field, int depth,
						 Node *node) LNC_MUST_CHECK;

/* ---- opening ---- */

/* All children of the field; *present: how many the file holds. */
static LncCode
open_children(LncContext *ctx, const Opening *opening, const LncField *field, int depth, Node *node,
			  int32_t *present)
{
	*present = 0;
	node->nchildren = field->type.nchildren;
	LNC_TRY(LNC_NEW(ctx, opening->arena, &node->children, field->type.nchildren));
	for (int32_t i = 0; i < field->type.nchildren; i++)
	{
		LNC_TRY(open_node(ctx, opening, &field->type.children[i], depth + 1, &node->children[i]));
		*present += node->children[i].kind != NODE_ABSENT;
	}
	return LNC_OK;
}

static LncCode
open_column(LncContext *ctx, const Opening *opening, uint32_t column, Node *node)
{
	node->kind = NODE_COLUMN;
	LNC_TRY(lnc_file_column_rows(ctx, opening->file, column, &node->nrows));
	return lnc_column_reader_open(ctx, opening->arena, opening->file, column, &node->field, 1, &node->column);
}

/* Whether the struct's column holds the values of its fields itself. */
static LncCode
check_packed(LncContext *ctx, const Opening *opening, uint32_t number, bool *packed)
{
	const FileColumn *column;
	LncSlice message;
	LncArena *scratch;
	LncCode code;

	*packed = false;
	LNC_TRY(lnc_file_load_column(ctx, opening->file, number, &column));
	if (column->npages == 0)
		return LNC_OK;
	LNC_TRY(lnc_arena_create_scratch(ctx, &scratch));
	code = lnc_file_page_message(ctx, scratch, opening->file, &column->pages[0], &message);
	if (code == LNC_OK)
		code = lnc_page20_is_packed(ctx, scratch, message, packed);
	lnc_arena_destroy(scratch);
	return code == LNC_OK ? LNC_OK : lnc_file_blame(ctx, code, opening->file, number, 0);
}

static LncCode
open_struct(LncContext *ctx, const Opening *opening, int32_t header, int depth, Node *node)
{
	bool counted = header >= 0;
	bool packed;
	int32_t present;

	if (header >= 0)
	{
		LNC_TRY(check_packed(ctx, opening, (uint32_t)header, &packed));
		if (packed)
			return open_column(ctx, opening, (uint32_t)header, node);
		LNC_TRY(lnc_file_column_rows(ctx, opening->file, (uint32_t)header, &node->nrows));
	}
	LNC_TRY(open_children(ctx, opening, node->field, depth, node, &present));
	/* A header of fields that lie elsewhere tells nothing. */
	if (present == 0 && (header < 0 || node->nchildren > 0))
		return LNC_OK;
	node->kind = NODE_STRUCT;
	for (int32_t i = 0; i < node->nchildren; i++)
	{
		const Node *child = &node->children[i];

		if (child->kind == NODE_ABSENT)
			continue;
		if (!counted)
			node->nrows = child->nrows;
		counted = true;
		if (child->nrows != node->nrows)
			return lnc_fail(ctx, LNC_CORRUPT,
							"field \"%s\" has %" PRIu64 " rows, but its struct \"%s\" has %" PRIu64,
							child->field->name, child->nrows, node->field->name, node->nrows);
	}
	return LNC_OK;
}

static LncCode
open_list(LncContext *ctx, const Opening *opening, int32_t column, int depth, Node *node)
{
	const LncField *field = node->field;
	uint64_t nitems;
	int32_t present;

	if (field->type.nchildren != 1)
		return lnc_fail(ctx, LNC_CORRUPT, "list \"%s\" has %d child fields instead of one", field->name,
						(int)field->type.nchildren);
	LNC_TRY(open_children(ctx, opening, field, depth, node, &present));
	if (column < 0)
	{
		if (present > 0)
			return lnc_fail(ctx, LNC_CORRUPT, "the file stores the items of list \"%s\" but not the lists",
							field->name);
		return LNC_OK;
	}
	node->kind = NODE_LIST;
	LNC_TRY(lnc_list_reader20_open(ctx, opening->arena, opening->file, (uint32_t)column, field, &node->nrows,
								   &nitems, &node->lists));
	if (present > 0 && node->children[0].nrows != nitems)
		return lnc_fail(ctx, LNC_CORRUPT,
						"list \"%s\" has %" PRIu64 " items, but their column has %" PRIu64 " rows", field->name,
						nitems, node->children[0].nrows);
	return LNC_OK;
}

static LncCode
open_node(LncContext *ctx, const Opening *opening, const LncField *field, int depth, Node *node)
{
	int32_t column;

	if (depth > MAX_DEPTH)
		return lnc_fail(ctx, LNC_LIMIT, "columns nested deeper than %d levels are not read", MAX_DEPTH);
	node->kind = NODE_ABSENT;
	node->field = field;
	LNC_TRY(lnc_field_map_find(ctx, opening->map, field, &column));
	switch (field->type.kind)
	{
		case LNC_TYPE_STRUCT:
			return open_struct(ctx, opening, column, depth, node);
		case LNC_TYPE_LIST:
		case LNC_TYPE_LARGE_LIST:
			return open_list(ctx, opening, column, depth, node);
		case LNC_TYPE_MAP:
			return lnc_fail(ctx, LNC_UNSUPPORTED, "map \"%s\" in a file of version 2.0 is not read", field->name);
		default:
			return column < 0 ? LNC_OK : open_column(ctx, opening, (uint32_t)column, node);
	}
}

LncCode
lnc_field_reader20_open(LncContext *ctx, LncArena *arena, LncFile *file, const LncField *field,
						const LncFieldMap *map, uint64_t nrows, LncFieldReader20 **out)
{
	Opening opening = {arena, file, map};
	LncFieldReader20 *reader;

	LNC_TRY(LNC_NEW(ctx, arena, &reader, 1));
	LNC_TRY(open_node(ctx, &opening, field, 0, &reader->root));
	if (reader->root.kind != NODE_ABSENT && reader->root.nrows != nrows)
		return lnc_fail(ctx, LNC_CORRUPT, "column has %" PRIu64 " rows where the fragment has %" PRIu64,
						reader->root.nrows, nrows);
	*out = reader;
	return LNC_OK;
}

/* ---- reading ---- */

/* Which rows of a node. */
typedef struct Rows
{
	size_t nruns;
	const LncRowRun *runs; /* ascending, none empty */
	uint64_t count;        /* of them all */
	bool scattered;        /* taken rather than read in order */
} Rows;

static LncCode read_node(LncContext *ctx, Node *node, LncArena *arena, const Rows *rows,
						 LncColumn *out) LNC_MUST_CHECK;

/* The rows of a column, one run after the other. */
static LncCode
read_values(LncContext *ctx, Node *node, LncArena *arena, const Rows *rows, LncColumn *out)
{
	LncColumn *parts;

	if (rows->scattered)
		return lnc_column_reader_take(ctx, node->column, arena, rows->nruns, rows->runs, out);
	if (rows->nruns == 0)
		return lnc_column_reader_read(ctx, node->column, arena, 0, 0, out);
	if (rows->nruns > INT32_MAX)
		return lnc_fail(ctx, LNC_LIMIT, "the rows asked for lie in too many places");
	LNC_TRY(LNC_NEW(ctx, arena, &parts, rows->nruns));
	for (size_t i = 0; i < rows->nruns; i++)
		LNC_TRY(
			lnc_column_reader_read(ctx, node->column, arena, rows->runs[i].first, rows->runs[i].count, &parts[i]));
	return lnc_column_concat(ctx, arena, (int32_t)rows->nruns, parts, out);
}

static LncCode
read_list(LncContext *ctx, Node *node, LncArena *arena, const Rows *rows, LncColumn *out)
{
	Rows items = {.scattered = rows->scattered};
	LncItemRuns lists;

	if (rows->scattered)
		LNC_TRY(lnc_list_reader20_take(ctx, node->lists, arena, rows->nruns, rows->runs, rows->count, &lists));
	else
		LNC_TRY(lnc_list_reader20_read(ctx, node->lists, arena, rows->nruns, rows->runs, rows->count, &lists));
	out->validity = lists.validity;
	out->offsets = lists.offsets;
	items.nruns = lists.nruns;
	items.runs = lists.runs;
	items.count = (uint64_t)lists.offsets[rows->count];
	return read_node(ctx, &node->children[0], arena, &items, &out->children[0]);
}

static LncCode
read_node(LncContext *ctx, Node *node, LncArena *arena, const Rows *rows, LncColumn *out)
{
	if (node->kind == NODE_ABSENT)
	{
		*out = lnc_column_absent(&node->field->type, (int64_t)rows->count);
		return LNC_OK;
	}
	if (node->kind == NODE_COLUMN)
		return read_values(ctx, node, arena, rows, out);
	for (size_t i = 0; i < rows->nruns; i++)
		if (!lnc_range_ok(rows->runs[i].first, rows->runs[i].count, node->nrows))
			return lnc_fail(
				ctx, LNC_CORRUPT, "rows %" PRIu64 " to %" PRIu64 " are not inside field \"%s\" of %" PRIu64,
				rows->runs[i].first, rows->runs[i].first + rows->runs[i].count, node->field->name, node->nrows);
	memset(out, 0, sizeof(*out));
	out->type = &node->field->type;
	out->length = (int64_t)rows->count;
	out->nchildren = node->nchildren;
	LNC_TRY(LNC_NEW(ctx, arena, &out->children, node->nchildren));
	if (node->kind == NODE_LIST)
		return read_list(ctx, node, arena, rows, out);
	for (int32_t i = 0; i < node->nchildren; i++)
		LNC_TRY(read_node(ctx, &node->children[i], arena, rows, &out->children[i]));
	return LNC_OK;
}

LncCode
lnc_field_reader20_read(LncContext *ctx, LncFieldReader20 *reader, LncArena *arena, uint64_t first, uint64_t count,
						LncColumn *out)
{
	LncRowRun run = {first, count};
	Rows rows = {.nruns = count > 0, .runs = &run, .count = count};

	return read_node(ctx, &reader->root, arena, &rows, out);
}

LncCode
lnc_field_reader20_read_some(LncContext *ctx, LncFieldReader20 *reader, LncArena *arena, uint64_t first,
							 uint64_t count, const int64_t *rows, LncColumn *out)
{
	LncColumn whole;

	if (reader->root.kind == NODE_COLUMN)
		return lnc_column_reader_read_some(ctx, reader->root.column, arena, first, count, rows, out);
	LNC_TRY(lnc_field_reader20_read(ctx, reader, arena, first, (uint64_t)rows[count - 1] + 1, &whole));
	return lnc_column_take(ctx, arena, &whole, (int64_t)count, rows, out);
}

LncCode
lnc_field_reader20_take(LncContext *ctx, LncFieldReader20 *reader, LncArena *arena, size_t nruns,
						const LncRowRun *runs, uint64_t count, LncColumn *out)
{
	Rows rows = {.nruns = nruns, .runs = runs, .count = count, .scattered = true};

	return read_node(ctx, &reader->root, arena, &rows, out);
}
