/*
 * revision_test.c
 *	  Revisions of manifests made by hand: columns, metadata, keys, restoring, flags; looking for NULL, counting.
 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/manifest.h"
#include "dataset/manifest_writer.h"
#include "dataset/revision.h"
#include "dataset/table_stats.h"
#include "dataset/transaction.h"
#include "fixtures.h"
#include "proto/pack.h"
#include "proto/transaction.pb-c.h"
#include "proto/unpack.h"
#include "scan/null_check.h"

#define UUID "0b1d2f3a-4c5e-6789-abcd-ef0123456789"
#define NEWEST "_versions/18446744073709551608.manifest" /* of version 7 */
#define OLD "_versions/18446744073709551610.manifest"    /* of version 5 */
#define NEXT "_versions/18446744073709551607.manifest"   /* of version 8 */

static LncStore *store;

static int
open_store(void **state)
{
	static const LncStoreConfig config;

	if (setup(state) != 0)
		return -1;
	return lnc_store_open(&ctx, arena, "memory://revision", &config, &store) != LNC_OK;
}

static int
empty_store(void **state)
{
	uint64_t removed;
	LncCode code = lnc_store_delete_prefix(&ctx, store, "", &removed);

	return teardown(state) != 0 || code != LNC_OK;
}

#define EXPECT(code, expr, text)                                                       \
	do                                                                                 \
	{                                                                                  \
		LncCode got_code = (expr);                                                     \
		if (got_code != (code) || strstr(ctx.error.message, text) == NULL)             \
			fail_msg("%s: %s: %s", #expr, lnc_code_name(got_code), ctx.error.message); \
	} while (0)

static const LncRevisionStamp STAMP = {
	.transaction_id = UUID, .writer_library = "test", .writer_version = "1.2.3", .now_us = 1234567890123456};

static void
assert_same(LncSlice a, LncSlice b)
{
	assert_int_equal(a.size, b.size);
	if (a.size > 0)
		assert_memory_equal(a.data, b.data, a.size);
}

/* ---- manifests made by hand */

#define MAX_FIELDS 12

typedef struct Built
{
	Lance__Table__Manifest *manifest;
	Lance__Table__IndexSection indices;
} Built;

static Lance__File__Field *
add_field(Lance__Table__Manifest *manifest, int32_t parent, const char *name, const char *logical)
{
	Lance__File__Field *field;

	OK(LNC_NEW(&ctx, arena, &field, 1));
	lance__file__field__init(field);
	field->id = (int32_t)manifest->n_fields;
	field->parent_id = parent;
	field->name = (char *)(uintptr_t)name;
	field->logical_type = (char *)(uintptr_t)logical;
	field->nullable = true;
	manifest->fields[manifest->n_fields++] = field;
	return field;
}

static void
add_index(Built *built, const char *name, int32_t field)
{
	Lance__Table__IndexMetadata *index;

	OK(LNC_NEW(&ctx, arena, &index, 1));
	lance__table__index_metadata__init(index);
	OK(LNC_NEW(&ctx, arena, &index->fields, 1));
	index->fields[0] = field;
	index->n_fields = 1;
	index->name = (char *)(uintptr_t)name;
	built->indices.indices[built->indices.n_indices++] = index;
}

static Lance__Table__DataFragment *
add_fragment(Lance__Table__Manifest *manifest, uint64_t id, size_t nfiles)
{
	Lance__Table__DataFragment *fragment;

	OK(LNC_NEW(&ctx, arena, &fragment, 1));
	lance__table__data_fragment__init(fragment);
	fragment->id = id;
	fragment->physical_rows = 10;
	OK(LNC_NEW(&ctx, arena, &fragment->files, nfiles));
	for (size_t i = 0; i < nfiles; i++)
	{
		OK(LNC_NEW(&ctx, arena, &fragment->files[i], 1));
		lance__table__data_file__init(fragment->files[i]);
	}
	fragment->n_files = nfiles;
	manifest->fragments[manifest->n_fragments++] = fragment;
	return fragment;
}

static void
set_file(Lance__Table__DataFile *file, const char *path, uint32_t minor, size_t n, const int32_t *ids)
{
	file->path = (char *)(uintptr_t)path;
	file->file_major_version = 2;
	file->file_minor_version = minor;
	file->file_size_bytes = 100;
	OK(LNC_NEW(&ctx, arena, &file->fields, n));
	OK(LNC_NEW(&ctx, arena, &file->column_indices, n));
	file->n_fields = file->n_column_indices = n;
	for (size_t i = 0; i < n; i++)
	{
		file->fields[i] = ids[i];
		file->column_indices[i] = (int32_t)i;
	}
}

/*
 * Version 7: a, s {x, y {z}}, l [{p, q}], "odd.name"; fragment 3 of two files (a and s; l and the odd one), indices on a and
 * s.x, and one that the format keeps for itself.
 */
static Built
build(void)
{
	Built built = {0};
	Lance__Table__Manifest *manifest;
	Lance__Table__DataFragment *fragment;
	Lance__Table__Manifest__DataStorageFormat *format;
	Lance__Table__Manifest__WriterVersion *writer;

	OK(LNC_NEW(&ctx, arena, &manifest, 1));
	lance__table__manifest__init(manifest);
	OK(LNC_NEW(&ctx, arena, &manifest->fields, MAX_FIELDS));
	OK(LNC_NEW(&ctx, arena, &manifest->fragments, 4));
	OK(LNC_NEW(&ctx, arena, &format, 1));
	lance__table__manifest__data_storage_format__init(format);
	format->file_format = "lance";
	format->version = "2.1";
	OK(LNC_NEW(&ctx, arena, &writer, 1));
	lance__table__manifest__writer_version__init(writer);
	writer->library = "lance";
	writer->version = "14.0.2";
	manifest->data_format = format;
	manifest->writer_version = writer;
	manifest->version = 7;
	manifest->tag = "named";
	manifest->version_aux_data = 99;
	add_field(manifest, -1, "a", "int64");        /* 0 */
	add_field(manifest, -1, "s", "struct");       /* 1 */
	add_field(manifest, 1, "x", "int32");         /* 2 */
	add_field(manifest, 1, "y", "struct");        /* 3 */
	add_field(manifest, 3, "z", "string");        /* 4 */
	add_field(manifest, -1, "l", "list");         /* 5 */
	add_field(manifest, 5, "item", "struct");     /* 6 */
	add_field(manifest, 6, "p", "int32");         /* 7 */
	add_field(manifest, 6, "q", "int32");         /* 8 */
	add_field(manifest, -1, "odd`name", "float"); /* 9 */
	fragment = add_fragment(manifest, 3, 2);
	set_file(fragment->files[0], "one.lance", 1, 3, (const int32_t[]){0, 2, 4});
	set_file(fragment->files[1], "two.lance", 1, 3, (const int32_t[]){7, 8, 9});
	lance__table__index_section__init(&built.indices);
	OK(LNC_NEW(&ctx, arena, &built.indices.indices, 4));
	add_index(&built, "a_idx", 0);
	add_index(&built, "x_idx", 2);
	add_index(&built, "__lance_frag_reuse", 77);
	built.manifest = manifest;
	return built;
}

static void
put_built(Built *built, const char *key)
{
	LncSlice section;
	LncSlice file;

	OK(lnc_proto_pack(&ctx, arena, &built->indices.base, "indices", &section));
	OK(lnc_manifest_encode(&ctx, arena, built->manifest, &section, NULL, &file));
	OK(lnc_store_put(&ctx, store, key, file));
}

static LncRevision *
begin(Built *built)
{
	LncRevision *revision;

	put_built(built, NEWEST);
	OK(lnc_revision_begin(&ctx, arena, store, NEWEST, NULL, &revision));
	return revision;
}

/* Finish, and read what was made. */
static Lance__Table__Manifest *
finish(LncRevision *revision, Lance__Table__IndexSection **indices, Lance__Table__Transaction **transaction)
{
	Lance__Table__Manifest *manifest;
	ProtobufCMessage *message;
	LncRevisionFiles files;
	LncSlice section;

	OK(lnc_revision_finish(&ctx, revision, &STAMP, &files));
	assert_string_equal(files.transaction_key, "_transactions/7-" UUID ".txn");
	OK(lnc_manifest_parse(&ctx, arena, NEXT, files.manifest, &manifest));
	assert_int_equal(manifest->version, 8);
	assert_string_equal(manifest->transaction_file, "7-" UUID ".txn");
	assert_string_equal(manifest->tag, "");
	assert_int_equal(manifest->version_aux_data, 0);
	OK(lnc_manifest_section(&ctx, NEXT, files.manifest, manifest->transaction_section, &section));
	assert_same(section, files.transaction);
	if (transaction != NULL)
	{
		OK(lnc_proto_unpack(&ctx, arena, &lance__table__transaction__descriptor, files.transaction, "transaction",
							&message));
		*transaction = (Lance__Table__Transaction *)message;
		assert_int_equal((*transaction)->read_version, 7);
		assert_string_equal((*transaction)->uuid, UUID);
	}
	if (indices != NULL)
	{
		*indices = NULL;
		if (manifest->index_section_presence_case != 0)
		{
			OK(lnc_manifest_section(&ctx, NEXT, files.manifest, manifest->index_section, &section));
			OK(lnc_proto_unpack(&ctx, arena, &lance__table__index_section__descriptor, section, "indices",
								&message));
			*indices = (Lance__Table__IndexSection *)message;
		}
	}
	return manifest;
}

static void
assert_fields(const Lance__Table__Manifest *manifest, size_t n, const int32_t *ids)
{
	assert_int_equal(manifest->n_fields, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(manifest->fields[i]->id, ids[i]);
}

static void
columns_are_dropped(void **state)
{
	Built built = build();
	Lance__Table__Transaction *transaction;
	Lance__Table__IndexSection *indices;
	Lance__Table__Manifest *manifest;
	LncRevision *revision;

	(void)state;

	/* A column, its index, and a struct's field. The file keeps what is left of it. */
	revision = begin(&built);
	OK(lnc_revision_drop_columns(&ctx, revision, 2, (const char *const[]){"a", "s.y.z"}));
	manifest = finish(revision, &indices, &transaction);
	assert_fields(manifest, 7, (const int32_t[]){1, 2, 5, 6, 7, 8, 9});
	assert_int_equal(manifest->fragments[0]->n_files, 2);
	assert_int_equal(indices->n_indices, 2);
	assert_string_equal(indices->indices[0]->name, "x_idx");
	assert_string_equal(indices->indices[1]->name, "__lance_frag_reuse");
	assert_int_equal(transaction->operation_case, LANCE__TABLE__TRANSACTION__OPERATION_PROJECT);
	assert_true(transaction->project->preserves_nullability);
	assert_int_equal(transaction->project->n_schema, 7);

	/* A struct without a field left goes, and a file without a column left. */
	built = build();
	revision = begin(&built);
	OK(lnc_revision_drop_columns(&ctx, revision, 3, (const char *const[]){"s.x", "s.y", "`a`"}));
	manifest = finish(revision, &indices, NULL);
	assert_fields(manifest, 5, (const int32_t[]){5, 6, 7, 8, 9});
	assert_int_equal(manifest->fragments[0]->n_files, 1);
	assert_string_equal(manifest->fragments[0]->files[0]->path, "two.lance");
	assert_int_equal(indices->n_indices, 1);

	/* A part of a list: where all its files are of version 2.2. */
	built = build();
	revision = begin(&built);
	EXPECT(LNC_UNSUPPORTED, lnc_revision_drop_columns(&ctx, revision, 1, (const char *const[]){"l.item.p"}),
		   "l.item.p");
	built = build();
	built.manifest->fragments[0]->files[1]->file_minor_version = 2;
	revision = begin(&built);
	OK(lnc_revision_drop_columns(&ctx, revision, 1, (const char *const[]){"l.item.p"}));
	manifest = finish(revision, NULL, NULL);
	assert_fields(manifest, 9, (const int32_t[]){0, 1, 2, 3, 4, 5, 6, 8, 9});

	EXPECT(LNC_UNSUPPORTED, lnc_revision_drop_columns(&ctx, revision, 1, (const char *const[]){"l.item"}),
		   "l.item");

	/* A table without data goes by the version of files to come. */
	built = build();
	built.manifest->n_fragments = 0;
	revision = begin(&built);
	EXPECT(LNC_UNSUPPORTED, lnc_revision_drop_columns(&ctx, revision, 1, (const char *const[]){"l.item.p"}), "");
	built.manifest->data_format->version = "2.2";
	revision = begin(&built);
	OK(lnc_revision_drop_columns(&ctx, revision, 1, (const char *const[]){"l.item.p"}));

	/* The whole list, with the odd name in its two spellings. */
	built = build();
	revision = begin(&built);
	OK(lnc_revision_drop_columns(&ctx, revision, 2, (const char *const[]){"l", "`odd``name`"}));
	manifest = finish(revision, NULL, NULL);
	assert_fields(manifest, 5, (const int32_t[]){0, 1, 2, 3, 4});
	assert_int_equal(manifest->fragments[0]->n_files, 1);
}

static void
drops_are_refused(void **state)
{
	static const char *const malformed[] = {"", ".", "a.", ".a", "s..x", "`a", "`a`b", "a`", "``", "s.``", "s.`x"};
	Built built = build();
	LncRevision *revision = begin(&built);

	(void)state;
	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		EXPECT(LNC_INVALID, lnc_revision_drop_columns(&ctx, revision, 1, &malformed[i]), "invalid field path");
	EXPECT(LNC_NOT_FOUND, lnc_revision_drop_columns(&ctx, revision, 1, (const char *const[]){"s.nothing"}),
		   "s.nothing");
	EXPECT(LNC_NOT_FOUND, lnc_revision_drop_columns(&ctx, revision, 1, (const char *const[]){"a.b"}), "a.b");
	EXPECT(LNC_NOT_FOUND, lnc_revision_drop_columns(&ctx, revision, 1, (const char *const[]){"x"}), "x");
	EXPECT(LNC_INVALID,
		   lnc_revision_drop_columns(&ctx, revision, 4, (const char *const[]){"a", "s", "l", "`odd``name`"}),
		   "all");
	add_index(&built, "__lance_mem_wal", 0);
	revision = begin(&built);
	EXPECT(LNC_UNSUPPORTED, lnc_revision_drop_columns(&ctx, revision, 1, (const char *const[]){"a"}),
		   "write-ahead index");
	EXPECT(LNC_UNSUPPORTED, lnc_revision_alter_columns(&ctx, revision, 0, NULL), "write-ahead index");
}

static void
columns_are_altered(void **state)
{
	static const LncColumnChange changes[] = {
		{.path = "a", .rename = "b"},
		{.path = "s.y.z", .rename = "x", .set_nullable = true, .nullable = true},
	};
	static const LncColumnChange tighten = {.path = "a", .set_nullable = true};
	static const LncColumnChange swap[] = {{.path = "a", .rename = "s"}, {.path = "s", .rename = "a"}};
	static const LncColumnChange clash = {.path = "a", .rename = "l"};
	static const LncColumnChange sibling = {.path = "s.x", .rename = "y"};
	static const LncColumnChange empty = {.path = "a", .rename = ""};
	static const LncColumnChange dotted = {.path = "a", .rename = "b.c"};
	static const LncColumnChange item = {.path = "l.item", .rename = "element"};
	static const LncColumnChange missing = {.path = "b", .rename = "c"};
	static const LncColumnChange latin = {.path = "a", .rename = "\xE4"};
	Built built = build();
	Lance__Table__Transaction *transaction;
	Lance__Table__IndexSection *indices;
	Lance__Table__Manifest *manifest;
	LncRevision *revision = begin(&built);

	(void)state;
	OK(lnc_revision_alter_columns(&ctx, revision, 2, changes));
	manifest = finish(revision, &indices, &transaction);
	assert_string_equal(manifest->fields[0]->name, "b");
	assert_string_equal(manifest->fields[4]->name, "x");
	assert_int_equal(indices->n_indices, 3);
	assert_true(transaction->project->preserves_nullability);
	assert_string_equal(transaction->project->schema[0]->name, "b");

	/* Others must not commit rows with NULL over a column that came to forbid it. */
	built = build();
	revision = begin(&built);
	OK(lnc_revision_alter_columns(&ctx, revision, 1, &tighten));
	manifest = finish(revision, NULL, &transaction);
	assert_false(manifest->fields[0]->nullable);
	assert_false(transaction->project->preserves_nullability);

	/* Paths are those of before. */
	built = build();
	revision = begin(&built);
	OK(lnc_revision_alter_columns(&ctx, revision, 2, swap));
	manifest = finish(revision, NULL, NULL);
	assert_string_equal(manifest->fields[0]->name, "s");
	assert_string_equal(manifest->fields[1]->name, "a");

	built = build();
	EXPECT(LNC_INVALID, lnc_revision_alter_columns(&ctx, begin(&built), 1, &clash), "two columns named \"l\"");
	built = build();
	EXPECT(LNC_INVALID, lnc_revision_alter_columns(&ctx, begin(&built), 1, &sibling), "two columns named \"y\"");
	built = build();
	revision = begin(&built);
	EXPECT(LNC_INVALID, lnc_revision_alter_columns(&ctx, revision, 1, &empty), "invalid column name");
	EXPECT(LNC_INVALID, lnc_revision_alter_columns(&ctx, revision, 1, &dotted), "invalid column name");
	EXPECT(LNC_INVALID, lnc_revision_alter_columns(&ctx, revision, 1, &latin), "UTF-8");
	EXPECT(LNC_UNSUPPORTED, lnc_revision_alter_columns(&ctx, revision, 1, &item), "l.item");
	EXPECT(LNC_NOT_FOUND, lnc_revision_alter_columns(&ctx, revision, 1, &missing), "\"b\"");
}

/* ---- metadata */

static void
field_metadata_is_changed(void **state)
{
	static const LncMapChange set[] = {{"k", "1"}, {"m", "2"}};
	static const LncMapChange unset[] = {{"k", NULL}, {"n", NULL}, {"ARROW:extension:name", "lance.json"}};
	static const LncMapChange only = {"z", ""};
	static const LncFieldMetadataChange merge[] = {
		{.path = "s.x", .nentries = 2, .entries = set},
		{.path = "a", .nentries = 2, .entries = set},
		{.path = "s.x", .nentries = 3, .entries = unset},
	};
	static const LncFieldMetadataChange replace = {.path = "a", .replace = true, .nentries = 1, .entries = &only};
	static const LncFieldMetadataChange missing = {.path = "b"};
	Lance__Table__Transaction__UpdateConfig *config;
	Lance__Table__Transaction *transaction;
	Lance__Table__Manifest *manifest;
	const LncKeyValue *list;
	Built built = build();
	LncRevision *revision = begin(&built);
	size_t n;

	(void)state;
	OK(lnc_revision_field_metadata(&ctx, revision, 3, merge));
	OK(lnc_revision_metadata_of(&ctx, revision, 2, &n, &list));
	assert_int_equal(n, 2);
	assert_string_equal(list[0].key, "m");
	manifest = finish(revision, NULL, &transaction);
	assert_int_equal(manifest->fields[2]->n_metadata, 2);
	assert_string_equal(manifest->fields[2]->extension_name, "lance.json");
	assert_int_equal(manifest->fields[0]->n_metadata, 2);

	/* The transaction names each field once, with its changes in order. */
	config = transaction->update_config;
	assert_null(config->schema_metadata_updates);
	assert_int_equal(config->n_field_metadata_updates, 2);
	assert_int_equal(config->field_metadata_updates[0]->key, 2);
	assert_false(config->field_metadata_updates[0]->value->replace);
	assert_int_equal(config->field_metadata_updates[0]->value->n_update_entries, 5);
	assert_int_equal(config->field_metadata_updates[0]->value->update_entries[2]->value_presence_case, 0);

	/* All that was there goes, the name of the extension too. */
	built = build();
	built.manifest->fields[0]->extension_name = "old";
	revision = begin(&built);
	OK(lnc_revision_field_metadata(&ctx, revision, 1, &replace));
	manifest = finish(revision, NULL, &transaction);
	assert_int_equal(manifest->fields[0]->n_metadata, 1);
	assert_string_equal(manifest->fields[0]->extension_name, "");
	assert_true(transaction->update_config->field_metadata_updates[0]->value->replace);
	EXPECT(LNC_NOT_FOUND, lnc_revision_field_metadata(&ctx, begin(&built), 1, &missing), "\"b\"");
}

static void
keys_are_guarded(void **state)
{
	static const LncMapChange yes = {"lance-schema:unenforced-primary-key", "true"};
	static const LncMapChange no = {"lance-schema:unenforced-primary-key", "perhaps"};
	static const LncMapChange second = {"lance-schema:unenforced-primary-key:position", "2"};
	static const LncMapChange clustering = {"lance-schema:unenforced-clustering-key:position", "1"};
	static const LncMapChange other = {"k", "v"};
	static const LncColumnChange nullable = {.path = "a", .set_nullable = true, .nullable = true};
	LncFieldMetadataChange change = {.path = "a", .nentries = 1, .entries = &yes};
	Lance__Table__Manifest *manifest;
	LncRevision *revision;
	Built built;

	(void)state;

	/* Set once, on a column without NULL, that is no struct. */
	built = build();
	EXPECT(LNC_INVALID, lnc_revision_field_metadata(&ctx, begin(&built), 1, &change), "must not be nullable");
	built.manifest->fields[0]->nullable = false;
	revision = begin(&built);
	OK(lnc_revision_field_metadata(&ctx, revision, 1, &change));
	manifest = finish(revision, NULL, NULL);
	assert_true(manifest->fields[0]->unenforced_primary_key);
	built.manifest = manifest;
	manifest->version = 7;
	change.entries = &second;
	EXPECT(LNC_INVALID, lnc_revision_field_metadata(&ctx, begin(&built), 1, &change),
		   "primary key can't be changed");
	change.entries = &other;
	change.replace = true;
	EXPECT(LNC_INVALID, lnc_revision_field_metadata(&ctx, begin(&built), 1, &change),
		   "primary key can't be changed");
	EXPECT(LNC_INVALID, lnc_revision_alter_columns(&ctx, begin(&built), 1, &nullable), "must not be nullable");
	change.replace = false;
	OK(lnc_revision_field_metadata(&ctx, begin(&built), 1, &change));

	built = build();
	built.manifest->fields[0]->nullable = false;
	built.manifest->fields[1]->nullable = false;
	built.manifest->fields[7]->nullable = false;
	change.entries = &no;
	EXPECT(LNC_INVALID, lnc_revision_field_metadata(&ctx, begin(&built), 1, &change),
		   "does not make a primary key");
	change.entries = &second;
	change.path = "s";
	EXPECT(LNC_INVALID, lnc_revision_field_metadata(&ctx, begin(&built), 1, &change), "fields of its own");
	change.path = "l.item.p";
	EXPECT(LNC_INVALID, lnc_revision_field_metadata(&ctx, begin(&built), 1, &change), "nullable");
	built.manifest->fields[5]->nullable = false;
	built.manifest->fields[6]->nullable = false;
	EXPECT(LNC_INVALID, lnc_revision_field_metadata(&ctx, begin(&built), 1, &change), "in a list or map");

	built = build();
	change.path = "a";
	change.entries = &clustering;
	revision = begin(&built);
	OK(lnc_revision_field_metadata(&ctx, revision, 1, &change));
	manifest = finish(revision, NULL, NULL);
	assert_int_equal(manifest->fields[0]->unenforced_clustering_key_position, 1);
	built.manifest = manifest;
	manifest->version = 7;
	EXPECT(LNC_INVALID, lnc_revision_field_metadata(&ctx, begin(&built), 1, &change),
		   "clustering key can't be changed");
}

static void
schema_metadata_is_replaced(void **state)
{
	static const LncMapChange entries[] = {{"k", "v"}, {"empty", ""}};
	Lance__Table__Transaction__UpdateMap *map;
	Lance__Table__Transaction *transaction;
	Lance__Table__Manifest *manifest;
	Built built = build();
	LncRevision *revision = begin(&built);

	(void)state;
	OK(lnc_revision_schema_metadata(&ctx, revision, 2, entries));
	manifest = finish(revision, NULL, &transaction);
	assert_int_equal(manifest->n_schema_metadata, 2);
	assert_string_equal(manifest->schema_metadata[1]->key, "empty");
	map = transaction->update_config->schema_metadata_updates;
	assert_true(map->replace);
	assert_int_equal(map->n_update_entries, 2);
	assert_int_equal(map->update_entries[1]->value_presence_case,
					 LANCE__TABLE__TRANSACTION__UPDATE_MAP_ENTRY__VALUE_PRESENCE_VALUE);

	/* From bytes that are in no store, and emptied again. */
	built.manifest = manifest;
	manifest->version = 7;
	{
		LncSlice section;
		LncSlice file;

		OK(lnc_proto_pack(&ctx, arena, &built.indices.base, "indices", &section));
		OK(lnc_manifest_encode(&ctx, arena, manifest, &section, NULL, &file));
		OK(lnc_revision_begin(&ctx, arena, store, NEWEST, &file, &revision));
	}
	OK(lnc_revision_schema_metadata(&ctx, revision, 0, NULL));
	manifest = finish(revision, NULL, NULL);
	assert_int_equal(manifest->n_schema_metadata, 0);
}

/* ---- restoring, flags, marks */

#define HAS_FRAGMENT_MARK LANCE__TABLE__MANIFEST__MAX_FRAGMENT_ID_PRESENCE_MAX_FRAGMENT_ID
#define HAS_FIELD_MARK LANCE__TABLE__MANIFEST__MAX_ALLOCATED_FIELD_ID_PRESENCE_MAX_ALLOCATED_FIELD_ID

static void
restoring_keeps_the_marks(void **state)
{
	Built old = build();
	Built new = build();
	Lance__Table__Transaction *transaction;
	Lance__Table__IndexSection *indices;
	Lance__Table__Manifest *manifest;
	LncRevision *revision;

	(void)state;
	old.manifest->version = 5;
	old.manifest->next_row_id = 10;
	old.manifest->max_fragment_id_presence_case = HAS_FRAGMENT_MARK;
	old.manifest->max_fragment_id = 3;
	old.manifest->max_allocated_field_id_presence_case = HAS_FIELD_MARK;
	old.manifest->max_allocated_field_id = 9;
	old.manifest->writer_feature_flags = 1 << 15;
	old.indices.n_indices = 1;
	put_built(&old, OLD);
	new.manifest->next_row_id = 50;
	new.manifest->max_fragment_id_presence_case = HAS_FRAGMENT_MARK;
	new.manifest->max_fragment_id = 40;
	new.manifest->max_allocated_field_id_presence_case = HAS_FIELD_MARK;
	new.manifest->max_allocated_field_id = 30;
	new.manifest->reader_feature_flags = 1 << 8;
	new.manifest->writer_feature_flags = 1 << 15 | 1 << 8;
	new.manifest->n_fragments = 0;
	revision = begin(&new);
	OK(lnc_revision_restore(&ctx, revision, OLD, NULL));
	manifest = finish(revision, &indices, &transaction);
	assert_int_equal(transaction->operation_case, LANCE__TABLE__TRANSACTION__OPERATION_RESTORE);
	assert_int_equal(transaction->restore->version, 5);
	assert_int_equal(manifest->n_fragments, 1);
	assert_int_equal(indices->n_indices, 1);
	assert_int_equal(manifest->next_row_id, 50);
	assert_int_equal(manifest->max_fragment_id, 40);
	assert_int_equal(manifest->max_allocated_field_id, 30);
	assert_int_equal(manifest->reader_feature_flags, 1 << 8);
	assert_int_equal(manifest->writer_feature_flags, 1 << 15 | 1 << 8);

	/* Content of another writer stays that one's. */
	assert_string_equal(manifest->writer_version->version, "14.0.2");

	/* What later versions rely on can't be taken back. */
	old.manifest->max_allocated_field_id_presence_case = 0;
	old.manifest->writer_feature_flags = 0;
	put_built(&old, OLD);
	EXPECT(LNC_INVALID, lnc_revision_restore(&ctx, begin(&new), OLD, NULL), "can't be restored");
	new = build();
	new.manifest->reader_feature_flags = 1 << 1;
	new.manifest->writer_feature_flags = 1 << 1;
	new.manifest->n_fragments = 0;
	EXPECT(LNC_INVALID, lnc_revision_restore(&ctx, begin(&new), OLD, NULL), "can't be restored");
	EXPECT(LNC_NOT_FOUND, lnc_revision_restore(&ctx, begin(&new), "_versions/4.manifest", NULL), "");

	/* Nor can a version be made of one that may not be written. */
	new = build();
	old.manifest->writer_feature_flags = 1 << 17;
	put_built(&old, OLD);
	EXPECT(LNC_UNSUPPORTED, lnc_revision_restore(&ctx, begin(&new), OLD, NULL), "17");
}

static void
flags_follow_the_content(void **state)
{
	static const int refused[] = {6, 9, 10, 11, 12, 13, 14, 16, 17, 18, 63};
	Lance__Table__Manifest__ConfigEntry entry = LANCE__TABLE__MANIFEST__CONFIG_ENTRY__INIT;
	Lance__Table__Manifest__ConfigEntry *entries = &entry;
	Lance__Table__DeletionFile deletion = LANCE__TABLE__DELETION_FILE__INIT;
	Lance__Table__Manifest *manifest;
	LncRevision *revision;
	Built built;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
	{
		char number[8];

		snprintf(number, sizeof(number), " %d ", refused[i]);
		built = build();
		built.manifest->writer_feature_flags = UINT64_C(1) << refused[i];
		put_built(&built, NEWEST);
		EXPECT(LNC_UNSUPPORTED, lnc_revision_begin(&ctx, arena, store, NEWEST, NULL, &revision), number);
	}

	/* The old mark of the format and "no transaction files" go; a covering index, deletions and config show. */
	built = build();
	built.manifest->reader_feature_flags = 1 << 2 | 1 << 7;
	built.manifest->writer_feature_flags = 1 << 2 | 1 << 5 | 1 << 7;
	built.manifest->fragments[0]->deletion_file = &deletion;
	entry.key = "k";
	entry.value = "v";
	built.manifest->config = &entries;
	built.manifest->n_config = 1;
	built.indices.indices[0]->covering_fields = built.indices.indices[0]->fields;
	built.indices.indices[0]->n_covering_fields = 1;
	revision = begin(&built);
	OK(lnc_revision_schema_metadata(&ctx, revision, 0, NULL));
	manifest = finish(revision, NULL, NULL);
	assert_int_equal(manifest->reader_feature_flags, 1 << 0 | 1 << 7);
	assert_int_equal(manifest->writer_feature_flags, 1 << 0 | 1 << 3 | 1 << 7);
	assert_string_equal(manifest->writer_version->library, "test");
	assert_string_equal(manifest->writer_version->version, "1.2.3");
	assert_int_equal(manifest->max_fragment_id, 3);
	assert_int_equal(manifest->timestamp->seconds, 1234567890);
	assert_int_equal(manifest->timestamp->nanos, 123456000);

	/* The mark of a writer that counted wrongly stays, for a later one to count again. */
	built = build();
	built.manifest->writer_version->version = "0.8.14";
	revision = begin(&built);
	OK(lnc_revision_schema_metadata(&ctx, revision, 0, NULL));
	assert_string_equal(finish(revision, NULL, NULL)->writer_version->version, "0.8.14");

	/* Row ids are for all fragments or none. */
	built = build();
	built.manifest->reader_feature_flags = built.manifest->writer_feature_flags = 1 << 1;
	revision = begin(&built);
	OK(lnc_revision_schema_metadata(&ctx, revision, 0, NULL));
	EXPECT(LNC_CORRUPT, lnc_revision_finish(&ctx, revision, &STAMP, &(LncRevisionFiles){0}), "row ids");
	built = build();
	built.manifest->data_format->version = "0.1";
	put_built(&built, NEWEST);
	EXPECT(LNC_UNSUPPORTED, lnc_revision_begin(&ctx, arena, store, NEWEST, NULL, &revision), "0.1");
	EXPECT(LNC_INVALID, lnc_revision_begin(&ctx, arena, store, "x/7.manifest", NULL, &revision), "name");
	EXPECT(LNC_NOT_FOUND, lnc_revision_begin(&ctx, arena, store, "_versions/9.manifest", NULL, &revision), "");
	built = build();
	put_built(&built, "_versions/9.manifest");
	EXPECT(LNC_CORRUPT, lnc_revision_begin(&ctx, arena, store, "_versions/9.manifest", NULL, &revision), "9");
}

static void
damage_is_refused(void **state)
{
	Built built = build();
	LncRevision *revision;
	LncSlice file;
	uint8_t *copy;

	(void)state;
	put_built(&built, NEWEST);
	OK(lnc_store_read_all(&ctx, store, arena, NEWEST, UINT64_MAX, &file));

	/* Cut anywhere, or with a byte changed, it is refused or gives a version; it is never read past its end. */
	for (size_t size = 0; size < file.size; size++)
	{
		LncSlice cut = {.size = size};

		copy = malloc(size + 1);
		memcpy(copy, file.data, size);
		copy = realloc(copy, size > 0 ? size : 1);
		cut.data = copy;
		assert_int_not_equal(lnc_revision_begin(&ctx, arena, store, NEWEST, &cut, &revision), LNC_OK);
		free(copy);
	}
	for (size_t at = 0; at < file.size; at++)
	{
		LncSlice changed = {.size = file.size};
		LncRevisionFiles files;

		copy = malloc(file.size);
		memcpy(copy, file.data, file.size);
		copy[at] ^= 0x55;
		changed.data = copy;
		if (lnc_revision_begin(&ctx, arena, store, NEWEST, &changed, &revision) == LNC_OK &&
			lnc_revision_drop_columns(&ctx, revision, 1, (const char *const[]){"a"}) == LNC_OK &&
			lnc_revision_finish(&ctx, revision, &STAMP, &files) == LNC_OK)
			assert_true(files.manifest.size > 0);
		free(copy);
	}
}

/* ---- transactions, numbers, NULL */

static void
transactions_are_found(void **state)
{
	uint64_t version = 0;

	(void)state;
	OK(lnc_store_put(&ctx, store, "_transactions/12-" UUID ".txn",
					 (LncSlice){.data = (const uint8_t *)"", .size = 0}));
	OK(lnc_store_put(&ctx, store, "_transactions/x-" UUID ".txn",
					 (LncSlice){.data = (const uint8_t *)"", .size = 0}));
	OK(lnc_transaction_find(&ctx, arena, store, "_versions", UUID, &version));
	assert_int_equal(version, 12);
	EXPECT(LNC_NOT_FOUND, lnc_transaction_find(&ctx, arena, store, "_versions", "0b1d", &version), "0b1d");
	EXPECT(LNC_NOT_FOUND, lnc_transaction_find(&ctx, arena, store, "tree/b/_versions", UUID, &version), UUID);
	EXPECT(LNC_INVALID, lnc_transaction_find(&ctx, arena, store, "elsewhere", UUID, &version), "elsewhere");
}

static LncDataset *
open_fixture(const char *name, uint64_t version)
{
	LncDatasetOptions options = {.version = version, .open_base = fixtures_open_base};
	LncDataset *dataset;
	LncStore *fixture;

	OK(fixtures_open_store(&ctx, arena, name, &fixture));
	OK(lnc_dataset_open(&ctx, arena, fixture, &options, &dataset));
	return dataset;
}

static bool
has_null(const LncDataset *dataset, const char *text)
{
	LncFieldPath path;
	bool found;

	OK(lnc_field_path_find(&ctx, arena, &dataset->schema, text, &path));
	OK(lnc_scan_has_null(&ctx, dataset, &path, &found));
	return found;
}

static void
nulls_are_found(void **state)
{
	LncDataset *with = open_fixture("types_v22_nulls.lance", 0);
	LncDataset *without = open_fixture("types_v22_nonull.lance", 0);
	LncDataset *structs = open_fixture("structs_v21.lance", 0);

	(void)state;
	assert_true(has_null(with, "i32"));
	assert_true(has_null(with, "str"));
	assert_false(has_null(without, "i32"));
	assert_false(has_null(without, "str"));

	/* Of a struct's field, rows count in which the struct is there. */
	assert_true(has_null(structs, "flat_null"));
	assert_false(has_null(structs, "flat_null.p"));
	assert_true(has_null(structs, "fields_all_null.p"));
	assert_false(has_null(structs, "all_null.p"));
	assert_true(has_null(structs, "nest.mid.inner"));
	assert_false(has_null(structs, "dotted.`a.b`"));
}

static void
tables_are_counted(void **state)
{
	LncDataset *dataset = open_fixture("types_v22_nulls.lance", 0);
	LncTableStats stats;
	uint64_t rows;

	(void)state;
	OK(lnc_table_stats(&ctx, dataset, &stats));
	OK(lnc_dataset_count_rows(&ctx, dataset, &rows));
	assert_int_equal(stats.rows, rows);
	assert_int_equal(stats.fragments, dataset->nfragments);
	assert_int_equal(stats.small_fragments, dataset->nfragments);
	assert_true(stats.bytes > 0);
	assert_int_equal(stats.indices, 0);
	assert_true(stats.lengths.min <= stats.lengths.p50 && stats.lengths.p50 <= stats.lengths.max);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(columns_are_dropped, open_store, empty_store),
		cmocka_unit_test_setup_teardown(drops_are_refused, open_store, empty_store),
		cmocka_unit_test_setup_teardown(columns_are_altered, open_store, empty_store),
		cmocka_unit_test_setup_teardown(field_metadata_is_changed, open_store, empty_store),
		cmocka_unit_test_setup_teardown(keys_are_guarded, open_store, empty_store),
		cmocka_unit_test_setup_teardown(schema_metadata_is_replaced, open_store, empty_store),
		cmocka_unit_test_setup_teardown(restoring_keeps_the_marks, open_store, empty_store),
		cmocka_unit_test_setup_teardown(flags_follow_the_content, open_store, empty_store),
		cmocka_unit_test_setup_teardown(damage_is_refused, open_store, empty_store),
		cmocka_unit_test_setup_teardown(transactions_are_found, open_store, empty_store),
		cmocka_unit_test_setup_teardown(nulls_are_found, open_store, empty_store),
		cmocka_unit_test_setup_teardown(tables_are_counted, open_store, empty_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
