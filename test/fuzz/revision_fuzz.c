/*
 * revision_fuzz.c
 *	  Fuzz target: the input is a manifest's file, of which the next version is made; that one must be readable again.
 *
 *	input	u8 which change, the file
 */
#include <inttypes.h>
#include <stdlib.h>

#include "dataset/manifest.h"
#include "dataset/revision.h"
#include "fuzz.h"

static const LncStoreConfig config;

static const LncRevisionStamp stamp = {.transaction_id = "0b1d2f3a-4c5e-6789-abcd-ef0123456789",
									   .writer_library = "fuzz",
									   .writer_version = "1.0.0",
									   .now_us = 1234567890123456};

/* The path of the field that a byte names: a top-level one, or its first child. */
static LncCode
choose_path(LncContext *ctx, LncArena *arena, const LncSchema *schema, uint8_t which, const char **out)
{
	LncFieldPath path = {0};
	const LncField *field;

	if (schema->nfields == 0)
		return lnc_fail(ctx, LNC_INVALID, "no field");
	field = &schema->fields[(which >> 3) % schema->nfields];
	path.fields[path.depth++] = field;
	if ((which & 4) != 0 && field->type.nchildren > 0 && field->type.children[0].name != NULL)
		path.fields[path.depth++] = &field->type.children[0];
	return lnc_field_path_text(ctx, arena, &path, out);
}

static LncCode
change(LncContext *ctx, LncArena *arena, LncRevision *revision, uint8_t which)
{
	static const LncMapChange entries[] = {{"k", "v"}, {"m", NULL}, {"lance-schema:unenforced-primary-key", "1"}};
	LncFieldMetadataChange metadata = {.replace = (which & 4) != 0, .nentries = 3, .entries = entries};
	LncColumnChange column = {.rename = "n", .set_nullable = true, .nullable = (which & 4) != 0};
	const char *path;

	if ((which & 3) == 0)
		return lnc_revision_schema_metadata(ctx, revision, 1, entries);
	LNC_TRY(choose_path(ctx, arena, lnc_revision_schema(revision), which, &path));
	metadata.path = column.path = path;
	switch (which & 3)
	{
		case 1:
			return lnc_revision_field_metadata(ctx, revision, 1, &metadata);
		case 2:
			return lnc_revision_drop_columns(ctx, revision, 1, &path);
		default:
			return lnc_revision_alter_columns(ctx, revision, 1, &column);
	}
}

static void
revise(LncContext *ctx, LncArena *arena, LncStore *store, LncSlice file, uint8_t which)
{
	Lance__Table__Manifest *manifest;
	LncRevision *revision;
	LncRevisionFiles files;
	char *key;

	if (lnc_manifest_parse(ctx, arena, "fuzz", file, &manifest) != LNC_OK)
		return;
	if (lnc_arena_printf(ctx, arena, &key, "_versions/%" PRIu64 ".manifest", manifest->version) != LNC_OK)
		abort();
	if (lnc_revision_begin(ctx, arena, store, key, &file, &revision) != LNC_OK ||
		change(ctx, arena, revision, which) != LNC_OK ||
		lnc_revision_finish(ctx, revision, &stamp, &files) != LNC_OK)
		return;
	if (lnc_manifest_parse(ctx, arena, "made", files.manifest, &manifest) != LNC_OK ||
		manifest->version != files.version ||
		lnc_arena_printf(ctx, arena, &key, "_versions/%" PRIu64 ".manifest", files.version) != LNC_OK ||
		lnc_revision_begin(ctx, arena, store, key, &files.manifest, &revision) != LNC_OK)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	LncEnv env = fuzz_env();
	LncContext ctx;
	LncArena *arena;
	LncStore *store;

	if (size < 1)
		return 0;
	lnc_context_init(&ctx, &env);
	arena = lnc_arena_create(&env);
	if (lnc_store_open(&ctx, arena, "memory://fuzz", &config, &store) != LNC_OK)
		abort();
	revise(&ctx, arena, store, (LncSlice){.data = data + 1, .size = size - 1}, data[0]);
	lnc_arena_destroy(arena);
	return 0;
}
