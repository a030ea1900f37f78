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

/* What goes. */
typedef struct Choice
{
	const LanceHistory *history;
	const LanceVersionRanges *ranges;
	int ntags;
	int64 *tagged; /* versions */
	char **tags;   /* the name of a tag of each */
	int count;
	int capacity;
	int64 *versions;
} Choice;

/* The tag that points to a version; NULL when none does. */
static const char *
tag_of(const Choice *choice, int64 version)
{
	for (int i = 0; i < choice->ntags; i++)
	{
		if (choice->tagged[i] == version)
			return choice->tags[i];
	}
	return NULL;
}

static void
choose(Choice *choice, int64 version)
{
	if (choice->count == choice->capacity)
	{
		choice->capacity = choice->capacity == 0 ? 16 : choice->capacity * 2;
		choice->versions = choice->versions == NULL
							   ? palloc(choice->capacity * sizeof(int64))
							   : repalloc_huge(choice->versions, choice->capacity * sizeof(int64));
	}
	choice->versions[choice->count++] = version;
}

/* One that was found in the store. Those that a tag keeps are told of when they are on record. */
static bool
choose_found(void *arg, int64 version)
{
	Choice *choice = arg;

	if (!in_ranges(choice->ranges, version) || tag_of(choice, version) != NULL)
		return false;
	choose(choice, version);
	return true;
}

/* Which of n versions on record are wanted and may go. */
static void
choose_recorded(Choice *choice, int n, const int64 *versions)
{
	const LanceTableRow *table = choice->history->table;

	for (int i = 0; i < n; i++)
	{
		const char *tag;

		/* What this transaction has yet to write is not there to be deleted. */
		if (!in_ranges(choice->ranges, versions[i]) ||
			lance_commit_is_pending(table->table_id, choice->history->branch, versions[i]))
			continue;
		tag = tag_of(choice, versions[i]);
		if (tag != NULL)
			ereport(NOTICE, (errmsg("version " INT64_FORMAT " of table \"%s\" is kept", versions[i], table->shown),
							 errdetail("Tag \"%s\" points to it.", tag)));
		else
			choose(choice, versions[i]);
	}
}

void
lance_op_delete_table_versions(const LanceDeleteTableVersionsRequest *request,
							   LanceDeleteTableVersionsResponse *response)
{
	LanceHistory history;
	LanceRefs refs;
	Choice found = {.history = &history, .ranges = &request->ranges};
	Choice recorded;
	int64 *versions;
	uint64 deleted;
	int n;

	memset(response, 0, sizeof(*response));
	check_ranges(&request->ranges);
	lance_history_of(&request->id, request->branch, LANCE_LOCK_UPDATE, LANCE_LEVEL_WRITE, &history);
	forget_lost(&history, &request->ranges);
	refs = (LanceRefs){.table = history.table, .lib = history.lib, .store = history.store};
	found.ntags = lance_refs_tagged(&refs, history.branch, &found.tagged, &found.tags);
	recorded = found;

	/* What is in the store is on record after this. */
	deleted = lance_commit_trim(&history, choose_found, &found);
	n = lance_version_numbers(history.table->table_id, history.branch, 1, PG_INT64_MAX, false, &versions);
	if (n == 0 && history.branch[0] != '\0')
		lance_branch_missing(&history, &request->id);

	/* The newest stays, also when this transaction has yet to write it. */
	choose_recorded(&recorded, Max(n - 1, 0), versions);
	deleted +=
		lance_version_mark_deleted(history.table->table_id, history.branch, recorded.count, recorded.versions);
	response->deleted_count.given = true;
	response->deleted_count.value = (int64)deleted;

	/* In ascending order: what was found is newer than all that was on record. */
	for (int i = 0; i < found.count; i++)
		choose(&recorded, found.versions[i]);
	if (recorded.count > 0)
		lance_cleanup_queue_versions(history.table, history.branch, recorded.count, recorded.versions);
}
