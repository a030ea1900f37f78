/*
 * text_fuzz.c
 *	  Fuzz target: the first byte of the input names a small parser, the rest is what it parses.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/roaring.h"
#include "column/type.h"
#include "dataset/refs.h"
#include "dataset/versions.h"
#include "fuzz.h"
#include "storage/s3_xml.h"
#include "storage/uri.h"

#define FUZZ_PARSERS 8
#define FUZZ_MAX_TEXT ((size_t)1024 * 1024)

static size_t
walk_json(const LncJson *value)
{
	size_t sum = 1;

	LNC_JSON_EACH(child, value)
	{
		if (lnc_json_key(child) != NULL)
			sum += strlen(lnc_json_key(child));
		sum += walk_json(child);
	}
	return sum;
}

/* What was parsed, written and parsed again is of the same shape. */
static void
parse_json(LncContext *ctx, LncArena *arena, LncSlice text)
{
	const LncJson *value;
	const LncJson *again;
	LncJsonWriter *writer;
	LncSlice written;

	if (lnc_json_parse(ctx, arena, text, &value) != LNC_OK ||
		lnc_jw_create(ctx, arena, FUZZ_MAX_TEXT, &writer) != LNC_OK)
		return;
	lnc_jw_value(writer, value);
	if (lnc_jw_finish(writer, &written) != LNC_OK)
		return;
	if (lnc_json_parse(ctx, arena, written, &again) != LNC_OK || walk_json(again) != walk_json(value))
		abort();
}

/* The canonical form is a fixed point. */
static void
parse_uri(LncContext *ctx, LncArena *arena, const char *text)
{
	LncUri uri;
	LncUri again;

	if (lnc_uri_parse(ctx, arena, text, &uri) != LNC_OK)
		return;
	if (uri.scheme == LNC_SCHEME_MEMORY)
		return;
	if (lnc_uri_parse(ctx, arena, uri.canonical, &again) != LNC_OK || strcmp(uri.canonical, again.canonical) != 0 ||
		strcmp(uri.path, again.path) != 0)
		abort();
}

static void
parse_xml(LncContext *ctx, LncArena *arena, LncSlice text)
{
	LncS3Page page;
	LncS3Error error;
	size_t sum = 0;

	lnc_s3_parse_error(text, &error);
	if (strlen(error.code) >= sizeof(error.code) || strlen(error.message) >= sizeof(error.message))
		abort();
	if (lnc_s3_parse_page(ctx, arena, text, &page) != LNC_OK)
		return;
	for (size_t i = 0; i < page.nobjects; i++)
		sum += strlen(page.objects[i].key);
	if (sum > text.size)
		abort();
}

static void
parse_bitmap(LncContext *ctx, LncArena *arena, LncSlice bytes)
{
	const LncRoaring *set;
	LncRoaringRange *ranges;
	size_t nranges;
	uint64_t count;

	if (lnc_roaring_open(ctx, arena, bytes, NULL, &set) != LNC_OK)
		return;
	if (lnc_roaring_ranges(ctx, arena, bytes, &nranges, &ranges, &count) == LNC_OK &&
		count != lnc_roaring_cardinality(set))
		abort();
}

static void
parse_type(LncContext *ctx, LncArena *arena, const char *text)
{
	LncType type;
	char *name;

	if (lnc_type_parse(ctx, arena, text, &type) != LNC_OK)
		return;
	if (lnc_type_is_fixed(&type) && lnc_type_is_variable(&type))
		abort();
	if (lnc_type_name(ctx, arena, &type, &name) == LNC_OK && strlen(name) > 2 * strlen(text) + 200)
		abort();
}

static void
parse_version_name(const char *text)
{
	uint64_t version;
	LncNaming naming;
	int64_t ms;

	(void)lnc_versions_parse_name(text, &version, &naming);
	(void)lnc_s3_parse_time(text, &ms);
}

static bool
same_slice(LncSlice a, LncSlice b)
{
	return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

/* What was read is written, read again, and written as the same text. */
static void
parse_tag(LncContext *ctx, LncArena *arena, LncSlice text)
{
	LncTag tag;
	LncTag again;
	LncSlice once;
	LncSlice twice;
	int64_t us;

	if (lnc_tag_parse(ctx, arena, "x", text, &tag) != LNC_OK)
		return;
	if (tag.created_at != NULL)
		(void)lnc_ref_time_parse(tag.created_at, &us);
	if (lnc_tag_write(ctx, arena, &tag, &once) != LNC_OK)
		return;
	if (lnc_tag_parse(ctx, arena, "x", once, &again) != LNC_OK || again.version != tag.version ||
		lnc_tag_write(ctx, arena, &again, &twice) != LNC_OK || !same_slice(once, twice))
		abort();
}

static void
parse_branch(LncContext *ctx, LncArena *arena, LncSlice text)
{
	LncBranch branch;
	LncBranch again;
	LncSlice once;
	LncSlice twice;

	if (lnc_branch_parse(ctx, arena, "x", text, &branch) != LNC_OK ||
		lnc_branch_write(ctx, arena, &branch, &once) != LNC_OK)
		return;
	if (lnc_branch_parse(ctx, arena, "x", once, &again) != LNC_OK || again.nsteps != branch.nsteps ||
		lnc_branch_depends(&again, &branch) != 0 || lnc_branch_write(ctx, arena, &again, &twice) != LNC_OK ||
		!same_slice(once, twice))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LncEnv env = fuzz_env();
	LncContext ctx;
	LncArena *arena;
	LncSlice rest;
	char *text;

	if (size < 1)
		return 0;
	rest = (LncSlice){data + 1, size - 1};
	lnc_context_init(&ctx, &env);
	arena = lnc_arena_create(&env);
	if (lnc_arena_strndup(&ctx, arena, (const char *)rest.data, rest.size, &text) != LNC_OK)
		abort();
	switch (data[0] % FUZZ_PARSERS)
	{
		case 0:
			parse_json(&ctx, arena, rest);
			break;
		case 1:
			parse_uri(&ctx, arena, text);
			break;
		case 2:
			parse_xml(&ctx, arena, rest);
			break;
		case 3:
			parse_bitmap(&ctx, arena, rest);
			break;
		case 4:
			parse_type(&ctx, arena, text);
			break;
		case 5:
			parse_version_name(text);
			break;
		case 6:
			parse_tag(&ctx, arena, rest);
			break;
		default:
			parse_branch(&ctx, arena, rest);
			break;
	}
	lnc_arena_destroy(arena);
	return 0;
}
