/*
 * delete_table_versions.c
 *	  BatchDeleteTableVersions. The newest version of a branch always stays, and those that a tag points to.
 *
 * Deleted versions are marked in the transaction, and are gone for readers of the catalog when it commits; their manifests
 * are removed after that, from the cleanup queue.
 */
#include "postgres.h"

#include "catalog/cleanup.h"
#include "catalog/commit.h"
#include "catalog/version_entry.h"
#include "ops/check.h"
#include "ops/history_of.h"
#include "ops/refs_of.h"
#include "ops/version.h"
#include "pg/errcodes.h"
#include "pg/report.h"

static void
check_ranges(const LanceVersionRanges *ranges)
{
	if (!ranges->given)
		ereport(ERROR, (lance_errcode(LANCE_INVALID_INPUT), errmsg("ranges are missing")));
	for (int i = 0; i < ranges->count; i++)
	{
		const LanceVersionRange *range = &ranges->items[i];

		if (range->start_version < 0 || range->end_version < -1 ||
			(range->end_version != -1 && range->end_version < range->start_version))
			ereport(ERROR,
					(lance_errcode(LANCE_INVALID_INPUT),
					 errmsg("invalid range of versions from " INT64_FORMAT " to " INT64_FORMAT,
							range->start_version, range->end_version),
					 errhint("A range holds its start but not its end; an end of -1 means all that follow.")));
	}
}

static bool
in_ranges(const LanceVersionRanges *ranges, int64 version)
{
	for (int i = 0; i < ranges->count; i++)
	{
		if (version >= ranges->items[i].start_version &&
			(ranges->items[i].end_version == -1 || version < ranges->items[i].end_version))
			return true;
	}
	return false;
}

/*
 * Rows of wanted versions whose manifest is no longer there. This is also how a table whose newest manifest was lost is
 * mended: with the row gone, the history ends at the version before.
 */
static void
forget_lost(LanceHistory *history, const LanceVersionRanges *ranges)
{
	LncContext *ctx = &history->lib->ctx;
	int64 *versions;
	int n = lance_version_numbers(history->table->table_id, history->branch, 1, PG_INT64_MAX, false, &versions);
	int nlost = 0;
	LncVersionList list;
	size_t file = 0;

	lance_check(ctx, lnc_versions_names(ctx, history->lib->arena, history->store, history->folder, 0, &list));
	for (int i = 0; i < n; i++)
	{
		int64 version = versions[i];

		while (file < list.nfiles && list.files[file].version < (uint64)version)
			file++;
		if (in_ranges(ranges, version) && !(file < list.nfiles && list.files[file].version == (uint64)version) &&
			!lance_commit_is_pending(history->table->table_id, history->branch, version))
			versions[nlost++] = version;
	}
	lance_version_forget(history->table->table_id, history->branch, nlost, versions);
	pfree(versions);
}

/* The tag that points to a version; NULL when none does. */
static const char *
tag_of(int64 version, int n, const int64 *versions, char *const *tags)
{
	for (int i = 0; i < n; i++)
	{
		if (versions[i] == version)
			return tags[i];
	}
	return NULL;
}

/* Which of n versions are wanted and may go; they are moved to the front. */
static int
choose(const LanceHistory *history, const LanceVersionRanges *ranges, int n, int64 *versions)
{
	LanceRefs refs = {.table = history->table, .lib = history->lib, .store = history->store};
	int64 *tagged;
	char **tags;
	int ntags = n > 0 ? lance_refs_tagged(&refs, history->branch, &tagged, &tags) : 0;
	int nchosen = 0;

	for (int i = 0; i < n; i++)
	{
		int64 version = versions[i];
		const char *tag;

		/* What this transaction has yet to write is not there to be deleted. */
		if (!in_ranges(ranges, version) ||
			lance_commit_is_pending(history->table->table_id, history->branch, version))
			continue;
		tag = tag_of(version, ntags, tagged, tags);
		if (tag != NULL)
			ereport(NOTICE,
					(errmsg("version " INT64_FORMAT " of table \"%s\" is kept", version, history->table->shown),
					 errdetail("Tag \"%s\" points to it.", tag)));
		else
			versions[nchosen++] = version;
	}
	return nchosen;
}

void
lance_op_delete_table_versions(const LanceDeleteTableVersionsRequest *request,
							   LanceDeleteTableVersionsResponse *response)
{
	LanceHistory history;
	LncNaming naming = LNC_NAMING_V2;
	int64 *versions;
	int nversions;
	int n;

	memset(response, 0, sizeof(*response));
	check_ranges(&request->ranges);
	lance_history_of(&request->id, request->branch, LANCE_LOCK_UPDATE, LANCE_LEVEL_WRITE, &history);
	forget_lost(&history, &request->ranges);

	/* What is in the store is on record after this. */
	(void)lance_commit_adopt(&history, &naming);
	n = lance_version_numbers(history.table->table_id, history.branch, 1, PG_INT64_MAX, false, &versions);
	if (n == 0 && history.branch[0] != '\0')
		lance_branch_missing(&history, &request->id);

	/* The newest stays, also when this transaction has yet to write it. */
	nversions = choose(&history, &request->ranges, Max(n - 1, 0), versions);
	response->deleted_count.given = true;
	if (nversions > 0)
	{
		response->deleted_count.value =
			(int64)lance_version_mark_deleted(history.table->table_id, history.branch, nversions, versions);
		lance_cleanup_queue_versions(history.table, history.branch);
	}
}
