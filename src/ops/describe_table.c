/*
 * describe_table.c
 *	  DescribeTable. The store is looked at only when the request asks for what stands there.
 */
#include "postgres.h"

#include "arrow/json_schema.h"
#include "base/bytes.h"
#include "catalog/history.h"
#include "catalog/table_entry.h"
#include "dataset/dataset.h"
#include "dataset/inspect.h"
#include "ops/check.h"
#include "ops/history_of.h"
#include "ops/place.h"
#include "ops/refs_of.h"
#include "ops/table.h"
#include "ops/vend.h"
#include "pg/errcodes.h"
#include "pg/report.h"

static bool
given(const char *text)
{
	return text != NULL && text[0] != '\0';
}

static void
check_request(const LanceDescribeTableRequest *request)
{
	if (given(request->tag) && (request->version.given || given(request->branch)))
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("\"tag\" excludes \"version\" and \"branch\"")));
	lance_check_version(&request->version);
}

/* The totals that pylance's namespace tells as metadata of a table, under its names. */
typedef struct Totals
{
	uint64 data_files;
	uint64 deletion_files;
	uint64 bytes;
	uint64 stored_rows;
	uint64 deleted_rows;
	bool sizes_known;
} Totals;

static LncCode
add_fragment(LncContext *ctx, void *arg, const LncFragmentFacts *facts)
{
	Totals *totals = arg;

	if (facts->deleted_rows > facts->fragment->physical_rows)
		return lnc_fail(ctx, LNC_CORRUPT, "fragment " UINT64_FORMAT " has more deleted rows than rows",
						facts->fragment->id);
	totals->data_files += facts->fragment->nfiles;
	totals->deletion_files += facts->fragment->deletion_kind != LNC_DELETION_NONE;
	totals->sizes_known = totals->sizes_known && facts->size_known;
	if (lnc_add_overflow(totals->bytes, facts->bytes, &totals->bytes) ||
		lnc_add_overflow(totals->stored_rows, facts->fragment->physical_rows, &totals->stored_rows) ||
		lnc_add_overflow(totals->deleted_rows, facts->deleted_rows, &totals->deleted_rows))
		return lnc_fail(ctx, LNC_CORRUPT, "number of rows or bytes of the dataset is too large");
	return LNC_OK;
}

/* The dataset's own key-value metadata, as far as it is text, and the totals, which win. */
static void
copy_metadata(const LncDataset *dataset, const Totals *totals, LanceProperties *out)
{
	const struct
	{
		const char *key;
		uint64 value;
		bool known;
	} told[] = {
		{"total_fragments", dataset->nfragments, true},
		{"total_data_files", totals->data_files, true},
		{"total_files_size", totals->bytes, totals->sizes_known},
		{"total_deletion_files", totals->deletion_files, true},
		{"total_data_file_rows", totals->stored_rows, true},
		{"total_deletion_file_rows", totals->deleted_rows, true},
		{"total_rows", totals->stored_rows - totals->deleted_rows, true},
	};

	out->given = true;
	out->items = palloc((dataset->ntable_metadata + lengthof(told)) * sizeof(LanceProperty));
	for (size_t i = 0; i < lengthof(told); i++)
	{
		if (told[i].known)
			out->items[out->count++] =
				(LanceProperty){.key = pstrdup(told[i].key), .value = psprintf(UINT64_FORMAT, told[i].value)};
	}
	for (int32_t i = 0; i < dataset->ntable_metadata; i++)
	{
		const LncKeyValue *entry = &dataset->table_metadata[i];
		bool taken = false;

		for (size_t j = 0; j < lengthof(told); j++)
			taken = taken || strcmp(entry->key, told[j].key) == 0;
		if (taken || memchr(entry->value.data, '\0', entry->value.size) != NULL)
			continue;
		out->items[out->count++] = (LanceProperty){
			.key = pstrdup(entry->key), .value = pnstrdup((const char *)entry->value.data, entry->value.size)};
	}
}

static void
copy_details(LanceHistory *history, const LanceHistoryItem *item, LanceDescribeTableResponse *response)
{
	LanceLibrary *lib = history->lib;
	LncDatasetOptions options = {
		.branch = history->branch[0] != '\0' ? history->branch : NULL,
		.version = item->version,
		.manifest_key = item->manifest_key,
	};
	LncDataset *dataset;
	LncSlice schema;
	Totals totals = {.sizes_known = true};

	lance_check(&lib->ctx, lnc_dataset_open(&lib->ctx, lib->arena, history->store, &options, &dataset));
	lance_check(&lib->ctx, lnc_arrow_schema_json(&lib->ctx, lib->arena, &dataset->schema, &schema));
	lance_check(&lib->ctx, lnc_inspect_fragments(&lib->ctx, dataset, add_fragment, &totals));
	response->schema_json = pnstrdup((const char *)schema.data, schema.size);
	copy_metadata(dataset, &totals, &response->metadata);
	response->num_fragments = (LanceOptionalInt){.given = true, .value = dataset->nfragments};
	response->num_deleted_rows = (LanceOptionalInt){.given = true, .value = (int64)totals.deleted_rows};
}

/* What lies in the store: whether anything does, that the version asked for exists, what is in it. */
static void
look_into_store(const LanceDescribeTableRequest *request, const LanceTableRow *table,
				LanceDescribeTableResponse *response)
{
	bool detailed = request->load_detailed_metadata == LANCE_BOOL_TRUE;
	LanceLibrary *lib = lance_library_create(CurrentMemoryContext);
	LncStore *store = lance_place_open(lib, table);
	const char *branch = given(request->branch) ? request->branch : NULL;
	LanceOptionalInt version = request->version;
	LanceHistory history;
	LanceHistoryItem *item = NULL;

	if (given(request->tag))
	{
		LanceRefs refs = {.table = table, .lib = lib, .store = store};
		LncTag tag;

		lance_check_ref_name(&refs, LNC_REF_TAG, request->tag, false);
		if (!lance_refs_tag(&refs, request->tag, &tag))
			lance_ref_missing(LNC_REF_TAG, request->tag, &request->id);
		branch = tag.branch;
		version = (LanceOptionalInt){.given = true, .value = (int64)tag.version};
	}
	lance_history_begin(&history, table, branch, lib, store);
	if (version.given)
		item = lance_history_find(&history, (uint64)version.value);
	else if (detailed || branch != NULL)
		item = lance_history_latest(&history);
	if (item == NULL && (version.given || branch != NULL))
		lance_version_missing(&history, &request->id, version.given ? version.value : 0);
	if (detailed || request->check_declared == LANCE_BOOL_TRUE)
		response->is_only_declared =
			item == NULL && lance_history_only_declared(table, lib, store) ? LANCE_BOOL_TRUE : LANCE_BOOL_FALSE;
	if (detailed)
	{
		response->table = table->name;
		lance_table_namespace_path(table->namespace_id, &response->namespace_id);
		if (item != NULL)
		{
			response->version = (LanceOptionalInt){.given = true, .value = (int64)item->version};
			copy_details(&history, item, response);
		}
	}
	lance_library_destroy(lib);
}

void
lance_op_describe_table(const LanceDescribeTableRequest *request, LanceDescribeTableResponse *response)
{
	LanceTableRow *table;

	memset(response, 0, sizeof(*response));
	lance_check_table_id(&request->id);
	check_request(request);
	table = lance_catalog_find_table(&request->id, LANCE_LOCK_NONE, LANCE_LEVEL_READ);
	if (table == NULL)
		lance_table_missing(&request->id);
	response->location = table->location;
	response->properties = table->properties;
	response->managed_versioning = table->managed ? LANCE_BOOL_TRUE : LANCE_BOOL_FALSE;
	lance_vend_options(lance_place_profile_of(table), table->location, request->vend_credentials, table->table_id,
					   &response->storage_options);
	if (request->with_table_uri == LANCE_BOOL_TRUE)
		response->table_uri = lance_place_uri(table->location);
	if (request->version.given || given(request->branch) || given(request->tag) ||
		request->load_detailed_metadata == LANCE_BOOL_TRUE || request->check_declared == LANCE_BOOL_TRUE)
		look_into_store(request, table, response);
}
