/*
 * folder_names.c
 *	  Folders of manifests as they were last listed.
 */
#include "postgres.h"

#include "catalog/folder_names.h"
#include "pg/report.h"
#include "utils/memutils.h"

/* What the names in a folder of manifests came to, when it was listed without an intent in it. */
typedef struct Folder
{
	LncFolderStamp stamp; /* of zeroes: none */
	uint64 oldest;
	uint64 newest;
	uint64 count;
	LncNaming naming;
} Folder;

/* Of this process, each in the place that its number on disk gives. */
#define FOLDERS 256

static Folder folders[FOLDERS];

/* A listing says what the folder is until its next change, if the last one is so old that the next has another time. */
#define SETTLED_MS 1000

/*
 * What is known of the folder, if it is as it was. *stamp is what to remember what is now found with, of zeroes when
 * that is of no use.
 */
static const Folder *
known_folder(LanceHistory *history, LncFolderStamp *stamp)
{
	LncContext *ctx = &history->lib->ctx;
	bool settled = false;
	const Folder *known;
	LncCode code;

	memset(stamp, 0, sizeof(*stamp));
	if (!lnc_store_near(history->store))
		return NULL;
	code = lnc_store_folder_stamp(ctx, history->store, history->folder, SETTLED_MS, stamp, &settled);
	if (code == LNC_NOT_FOUND)
		return NULL;
	lance_check(ctx, code);
	known = &folders[stamp->number % FOLDERS];
	if (memcmp(&known->stamp, stamp, sizeof(*stamp)) == 0)
		return known;
	if (!settled)
		memset(stamp, 0, sizeof(*stamp));
	return NULL;
}

/* Remember what was listed after the stamp was taken. */
static void
remember_folder(const LncFolderStamp *stamp, const LncVersionList *list)
{
	Folder *folder = &folders[stamp->number % FOLDERS];

	if (stamp->changed_ns == 0 || list->nintents > 0 || list->nfiles == 0)
		return;
	folder->stamp = *stamp;
	folder->oldest = list->files[0].version;
	folder->newest = list->files[list->nfiles - 1].version;
	folder->count = list->nfiles;
	folder->naming = list->files[0].naming;
}

LncCode
lance_folder_newest(LanceHistory *history, LncVersionFile *file)
{
	LncContext *ctx = &history->lib->ctx;
	LncArena *arena = history->lib->arena;
	LncFolderStamp stamp;
	const Folder *known = known_folder(history, &stamp);
	LncVersionList list;
	size_t count = 1;

	if (known != NULL)
		*file = (LncVersionFile){.version = known->newest, .naming = known->naming};
	else
	{
		LNC_TRY(lnc_versions_names(ctx, arena, history->store, history->folder, 0, &list));
		remember_folder(&stamp, &list);
		history->listed = list;
		count = list.nfiles > 0;
		if (count > 0)
			*file = list.files[list.nfiles - 1];
	}
	if (count > 0)
		LNC_TRY(lnc_versions_look(ctx, arena, history->store, history->folder, &count, file));

	/* None, or it went away in between. */
	return count > 0 ? LNC_OK : lnc_versions_latest(ctx, arena, history->store, history->folder, file);
}

bool
lance_folder_intended(LanceHistory *history, const LncVersionFile *file)
{
	LncFolderStamp stamp;
	bool intended;

	if (known_folder(history, &stamp) != NULL)
		return false;
	lance_check(&history->lib->ctx, lnc_versions_intended(&history->lib->ctx, history->lib->arena, history->store,
														  history->folder, file->version, file->naming, &intended));
	return intended;
}

bool
lance_folder_names(LanceHistory *history, const LncVersionRange *range, size_t most, LncVersionList *list)
{
	LncContext *ctx = &history->lib->ctx;
	LncFolderStamp stamp;
	const Folder *known;
	uint64 first;
	uint64 last;

	*list = history->listed;
	if (list->nfiles > 0)
		return true;
	known = known_folder(history, &stamp);
	if (known == NULL || known->count != known->newest - known->oldest + 1)
	{
		lance_check(ctx, lnc_versions_names(ctx, history->lib->arena, history->store, history->folder, 0, list));
		remember_folder(&stamp, list);
		return true;
	}
	memset(list, 0, sizeof(*list));
	first = Max(range->first, known->oldest);
	last = Min(range->last, known->newest);
	if (first > last)
		return false;
	if (last - first >= most && range->descending)
		first = last - most + 1;
	else if (last - first >= most)
		last = first + most - 1;
	list->nfiles = last - first + 1;
	list->files = MemoryContextAllocHuge(CurrentMemoryContext, list->nfiles * sizeof(LncVersionFile));
	memset(list->files, 0, list->nfiles * sizeof(LncVersionFile));
	for (size_t i = 0; i < list->nfiles; i++)
	{
		list->files[i].version = first + i;
		list->files[i].naming = known->naming;
	}
	return false;
}
