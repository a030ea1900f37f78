/*
 * get_table_stats.c
 *	  GetTableStats: what the newest version holds. A table that nothing was written to holds nothing.
 */
#include "postgres.h"

#include "catalog/location.h"
#include "dataset/table_stats.h"
#include "ops/history_of.h"
#include "ops/place.h"
#include "ops/stats.h"
#include "pg/report.h"

static LanceOptionalInt
number(uint64_t value)
{
	return (LanceOptionalInt){.given = true, .value = (int64)Min(value, (uint64)PG_INT64_MAX)};
}

void
lance_op_get_table_stats(const LanceGetTableStatsRequest *request, LanceGetTableStatsResponse *response)
{
	LanceFragmentStats *fragments = &response->fragment_stats;
	LncTableStats stats = {0};
	LanceHistory history;
	LanceHistoryItem *item;

	memset(response, 0, sizeof(*response));
	lance_history_of(&request->id, request->branch, LANCE_LOCK_NONE, LANCE_LEVEL_READ, &history);
	item = lance_history_latest(&history);
	if (item != NULL)
	{
		LanceLibrary *lib = history.lib;
		LncDatasetOptions options = {
			.branch = history.branch[0] != '\0' ? history.branch : NULL,
			.version = item->version,
			.manifest_key = item->manifest_key,
			.open_base = lance_location_open_base,
			.open_base_arg = lance_place_profile_of(history.table),
		};
		LncDataset *dataset;

		lance_check(&lib->ctx, lnc_dataset_open(&lib->ctx, lib->arena, history.store, &options, &dataset));
		lance_check(&lib->ctx, lnc_table_stats(&lib->ctx, dataset, &stats));
	}
	else if (history.branch[0] != '\0')
		lance_branch_missing(&history, &request->id);
	response->total_bytes = number(stats.bytes);
	response->num_rows = number(stats.rows);
	response->num_indices = number(stats.indices);
	fragments->num_fragments = number(stats.fragments);
	fragments->num_small_fragments = number(stats.small_fragments);
	fragments->min = number(stats.lengths.min);
	fragments->max = number(stats.lengths.max);
	fragments->mean = number(stats.lengths.mean);
	fragments->p25 = number(stats.lengths.p25);
	fragments->p50 = number(stats.lengths.p50);
	fragments->p75 = number(stats.lengths.p75);
	fragments->p99 = number(stats.lengths.p99);
}
