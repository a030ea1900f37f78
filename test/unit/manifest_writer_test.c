/*
 * manifest_writer_test.c
 *	  Manifests of other writers: what is read is written again without loss, and revisions of them keep the data.
 */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "dataset/manifest.h"
#include "dataset/manifest_writer.h"
#include "dataset/revision.h"
#include "dataset/transaction.h"
#include "fixtures.h"
#include "proto/unpack.h"

#define UUID "0b1d2f3a-4c5e-6789-abcd-ef0123456789"

/* ---- one form for equal messages */

typedef struct Part
{
	uint32_t number;
	size_t order;
	LncSlice bytes; /* tag and payload */
} Part;

static int
compare_part(const void *a, const void *b)
{
	const Part *left = a;
	const Part *right = b;

	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return left->order < right->order ? -1 : 1;
}

static uint64_t
varint(LncSlice bytes, size_t *at)
{
	uint64_t value = 0;

	for (int shift = 0;; shift += 7)
	{
		uint8_t byte;

		assert_true(*at < bytes.size);
		byte = bytes.data[(*at)++];
		value |= (uint64_t)(byte & 0x7F) << shift;
		if (byte < 0x80)
			return value;
	}
}

static void
append_varint(LncBuffer *out, uint64_t value)
{
	do
	{
		uint8_t byte = (uint8_t)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));

		OK(lnc_buffer_append(&ctx, out, &byte, 1));
		value >>= 7;
	} while (value > 0);
}

/* The message with its fields in the order of their numbers, at every level that the descriptor knows, but for one. */
static LncSlice
canonical(const ProtobufCMessageDescriptor *descriptor, LncSlice bytes, bool top)
{
	Part *parts = malloc((bytes.size + 1) * sizeof(Part));
	size_t nparts = 0;
	size_t at = 0;
	LncBuffer out;

	lnc_buffer_init(&out, arena, SIZE_MAX);
	while (at < bytes.size)
	{
		size_t start = at;
		uint64_t tag = varint(bytes, &at);
		uint32_t number = (uint32_t)(tag >> 3);
		const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(descriptor, number);
		LncBuffer part;

		lnc_buffer_init(&part, arena, SIZE_MAX);
		if ((tag & 7) == 2)
		{
			size_t length = (size_t)varint(bytes, &at);
			LncSlice payload = {.data = bytes.data + at, .size = length};

			assert_true(length <= bytes.size - at);
			at += length;
			if (field != NULL && field->type == PROTOBUF_C_TYPE_MESSAGE)
				payload = canonical(field->descriptor, payload, false);
			append_varint(&part, tag);
			append_varint(&part, payload.size);
			OK(lnc_buffer_append(&ctx, &part, payload.data, payload.size));
		}
		else
		{
			if ((tag & 7) == 0)
				(void)varint(bytes, &at);
			else
				at += (tag & 7) == 1 ? 8 : 4;
			OK(lnc_buffer_append(&ctx, &part, bytes.data + start, at - start));
		}

		/* The positions of sections are those of a file. */
		if (top && (number == 6 || number == 21 || number == 23))
			continue;
		parts[nparts] = (Part){.number = number, .order = nparts, .bytes = lnc_buffer_slice(&part)};
		nparts++;
	}
	if (nparts > 1)
		qsort(parts, nparts, sizeof(*parts), compare_part);
	for (size_t i = 0; i < nparts; i++)
		OK(lnc_buffer_append(&ctx, &out, parts[i].bytes.data, parts[i].bytes.size));
	free(parts);
	return lnc_buffer_slice(&out);
}

static LncSlice
message_of(LncSlice file)
{
	LncSlice message;

	OK(lnc_manifest_section(&ctx, "file", file, lnc_le64(file.data + file.size - 16), &message));
	return message;
}

static void
assert_same(LncSlice a, LncSlice b)
{
	assert_int_equal(a.size, b.size);
	if (a.size > 0)
		assert_memory_equal(a.data, b.data, a.size);
}

/* ---- manifests of other writers */

typedef void (*ManifestFn)(LncStore *fixture, const LncVersionFile *file, bool newest);

static void
each_fixture(ManifestFn fn)
{
	cJSON *index = fixtures_index();
	LncArena *outer = arena;
	const cJSON *item;
	size_t seen = 0;

	cJSON_ArrayForEach(item, index)
	{
		const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(item, "dataset"));
		LncVersionFile *files;
		LncStore *fixture;
		size_t count;

		if (name == NULL || strncmp(name, "corrupt_", 8) == 0)
			continue;
		arena = lnc_arena_create(lnc_env_default());
		OK(fixtures_open_store(&ctx, arena, name, &fixture));
		if (lnc_versions_list(&ctx, arena, fixture, "_versions", 0, &count, &files) != LNC_OK)
			count = 0;
		for (size_t i = 0; i < count; i++, seen++)
			fn(fixture, &files[i], i == count - 1);
		lnc_arena_destroy(arena);
	}
	arena = outer;
	cJSON_Delete(index);
	assert_true(seen > 100);
}

static size_t round_trips;

static void
round_trip(LncStore *fixture, const LncVersionFile *file, bool newest)
{
	Lance__Table__Manifest *manifest;
	Lance__Table__Manifest *again;
	LncSlice original;
	LncSlice sections[2];
	LncSlice *indices = NULL;
	LncSlice *transaction = NULL;
	LncSlice first;
	LncSlice second;
	LncSlice section;

	(void)newest;
	if (lnc_manifest_read(&ctx, arena, fixture, file->key, &manifest) != LNC_OK)
		return;
	OK(lnc_store_read_all(&ctx, fixture, arena, file->key, UINT64_MAX, &original));
	if (manifest->index_section_presence_case != 0)
	{
		indices = &sections[0];
		OK(lnc_manifest_read_section(&ctx, arena, fixture, file->key, manifest->index_section, indices));
		OK(lnc_manifest_section(&ctx, file->key, original, manifest->index_section, &section));
		assert_same(*indices, section);
	}
	if (manifest->transaction_section_presence_case != 0 || manifest->old_transaction_presence_case != 0)
	{
		transaction = &sections[1];
		OK(lnc_manifest_read_section(&ctx, arena, fixture, file->key,
									 manifest->transaction_section_presence_case != 0
										 ? manifest->transaction_section
										 : manifest->old_transaction_section,
									 transaction));
	}
	OK(lnc_manifest_encode(&ctx, arena, manifest, indices, transaction, &first));
	OK(lnc_manifest_parse(&ctx, arena, "first", first, &again));
	if (indices != NULL)
	{
		OK(lnc_manifest_section(&ctx, "first", first, again->index_section, &section));
		assert_same(section, *indices);
	}
	if (transaction != NULL)
	{
		OK(lnc_manifest_section(&ctx, "first", first, again->transaction_section, &section));
		assert_same(section, *transaction);
	}
	assert_same(canonical(&lance__table__manifest__descriptor, message_of(original), true),
				canonical(&lance__table__manifest__descriptor, message_of(first), true));
	OK(lnc_manifest_encode(&ctx, arena, again, indices, transaction, &second));
	assert_same(first, second);
	round_trips++;
}

static void
manifests_are_written_as_they_were_read(void **state)
{
	(void)state;
	round_trips = 0;
	each_fixture(round_trip);
	printf("%zu manifests\n", round_trips);
	assert_true(round_trips > 100);
}

/* What is the same in a dataset after a change of metadata. */
static void
assert_same_data(const LncDataset *a, const LncDataset *b)
{
	assert_int_equal(a->nfragments, b->nfragments);
	for (int32_t i = 0; i < a->nfragments; i++)
	{
		assert_int_equal(a->fragments[i].id, b->fragments[i].id);
		assert_int_equal(a->fragments[i].nfiles, b->fragments[i].nfiles);
		assert_int_equal(a->fragments[i].physical_rows, b->fragments[i].physical_rows);
		assert_int_equal(a->fragments[i].deletion_id, b->fragments[i].deletion_id);
		assert_int_equal(a->fragments[i].row_ids.size, b->fragments[i].row_ids.size);
	}
	assert_int_equal(a->schema.nfields, b->schema.nfields);
	for (int32_t i = 0; i < a->schema.nfields; i++)
		assert_string_equal(a->schema.fields[i].name, b->schema.fields[i].name);
	assert_int_equal(a->reader_flags & ~UINT64_C(4), b->reader_flags);
	assert_int_equal(a->stable_row_ids, b->stable_row_ids);
	assert_int_equal(a->nbases, b->nbases);
	assert_int_equal(a->nconfig, b->nconfig);
	assert_string_equal(a->data_version, b->data_version);
}

static const LncRevisionStamp STAMP = {
	.transaction_id = UUID, .writer_library = "test", .writer_version = "1.2.3", .now_us = 1234567890123456};

static struct
{
	size_t revised;
	size_t refused;
} counts;

/* The newest version of a fixture, given schema metadata and then restored. */
static void
revise(LncStore *fixture, const LncVersionFile *file, bool newest)
{
	LncMapChange entry = {.key = "k", .value = "v"};
	LncDatasetOptions options = {.open_base = fixtures_open_base};
	Lance__Table__Manifest *before;
	Lance__Table__Manifest *after;
	LncTransaction transaction;
	LncRevision *revision;
	LncRevisionFiles files;
	LncDataset *datasets[2];
	LncStore *copy;
	LncCode code;
	char *key;

	if (!newest)
		return;
	code = lnc_revision_begin(&ctx, arena, fixture, file->key, NULL, &revision);
	if (code != LNC_OK)
	{
		assert_true(code == LNC_UNSUPPORTED || code == LNC_CORRUPT);
		counts.refused++;
		return;
	}
	OK(lnc_revision_schema_metadata(&ctx, revision, 1, &entry));
	OK(lnc_revision_finish(&ctx, revision, &STAMP, &files));
	assert_int_equal(files.read_version, file->version);
	assert_int_equal(files.version, file->version + 1);
	OK(fixtures_copy_to_memory(&ctx, arena, fixture, &copy));
	OK(lnc_versions_key(&ctx, arena, "_versions", files.version, file->naming, &key));
	OK(lnc_store_put_if_absent(&ctx, copy, key, files.manifest));
	options.version = file->version;
	if (lnc_dataset_open(&ctx, arena, copy, &options, &datasets[0]) != LNC_OK)
		return;
	options.version = files.version;
	OK(lnc_dataset_open(&ctx, arena, copy, &options, &datasets[1]));
	assert_same_data(datasets[0], datasets[1]);
	assert_int_equal(datasets[1]->schema.nmetadata, 1);
	assert_string_equal(datasets[1]->schema.metadata[0].key, "k");
	assert_int_equal(datasets[1]->timestamp_us, STAMP.now_us);

	/* The list of indices lies elsewhere in the new file and says the same. */
	OK(lnc_manifest_read(&ctx, arena, copy, file->key, &before));
	OK(lnc_manifest_read(&ctx, arena, copy, key, &after));
	assert_int_equal(before->index_section_presence_case, after->index_section_presence_case);
	if (before->index_section_presence_case != 0)
	{
		LncSlice old;
		LncSlice new;

		OK(lnc_manifest_read_section(&ctx, arena, copy, file->key, before->index_section, &old));
		OK(lnc_manifest_read_section(&ctx, arena, copy, key, after->index_section, &new));
		assert_same(old, new);
	}
	assert_int_equal(before->next_row_id, after->next_row_id);
	OK(lnc_transaction_read(&ctx, arena, copy, key, after, &transaction));
	assert_string_equal(transaction.id, UUID);
	assert_string_equal(transaction.operation, "UpdateConfig");
	assert_int_equal(transaction.read_version, file->version);

	/* Back again: the data, and the schema's metadata, of before. */
	OK(lnc_revision_begin(&ctx, arena, copy, key, NULL, &revision));
	OK(lnc_revision_restore(&ctx, revision, file->key, NULL));
	OK(lnc_revision_finish(&ctx, revision, &STAMP, &files));
	OK(lnc_versions_key(&ctx, arena, "_versions", files.version, file->naming, &key));
	OK(lnc_store_put_if_absent(&ctx, copy, key, files.manifest));
	options.version = files.version;
	OK(lnc_dataset_open(&ctx, arena, copy, &options, &datasets[1]));
	assert_same_data(datasets[0], datasets[1]);
	assert_int_equal(datasets[0]->schema.nmetadata, datasets[1]->schema.nmetadata);
	counts.revised++;
}

static void
fixtures_are_revised(void **state)
{
	(void)state;
	memset(&counts, 0, sizeof(counts));
	each_fixture(revise);
	printf("%zu datasets revised, %zu refused\n", counts.revised, counts.refused);
	assert_true(counts.revised > 80);
	assert_true(counts.refused > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(manifests_are_written_as_they_were_read, setup, teardown),
		cmocka_unit_test_setup_teardown(fixtures_are_revised, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
