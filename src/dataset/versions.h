/*
 * versions.h
 *	  The version history of a dataset as it lies in the store: names of manifests, listing them, the newest.
 *
 * Source of the facts: format.md section 1 (manifest names, hint file), rest.md section 7 (staged names).
 */
#ifndef LNC_DATASET_VERSIONS_H
#define LNC_DATASET_VERSIONS_H

#include "base/arena.h"
#include "storage/storage.h"

typedef enum LncNaming
{
	LNC_NAMING_V1 = 1, /* "<version>.manifest" */
	LNC_NAMING_V2 = 2  /* "<2^64 - 1 - version, 20 digits>.manifest", newest first in text order */
} LncNaming;

/* Versions beyond are detached: they exist, but outside of the history. */
#define LNC_MAX_VERSION ((UINT64_C(1) << 63) - 1)

/* One manifest under its final name. */
typedef struct LncVersionFile
{
	uint64_t version;
	LncNaming naming;
	const char *key; /* relative to the store: "<dir>/<name>" */
	uint64_t size;
	int64_t modified_ms; /* of the file, Unix epoch */
	const char *e_tag;   /* as a listing tells it; NULL: not known */
	bool intended;       /* an intent for this version lies beside it */
} LncVersionFile;

/* What a folder of manifests holds. Both ascending by version. */
typedef struct LncVersionList
{
	size_t nfiles;
	LncVersionFile *files;
	size_t nintents;
	LncVersionFile *intents; /* naming and intended are not set */
} LncVersionList;

/* The folder of a branch's manifests: "_versions" for main (branch NULL, "" or "main"), else "tree/<branch>/_versions". */
extern LncCode lnc_versions_folder(LncContext *ctx, LncArena *arena, const char *branch, char **out) LNC_MUST_CHECK;

/* The final key of a version in that folder. */
extern LncCode lnc_versions_key(LncContext *ctx, LncArena *arena, const char *folder, uint64_t version,
								LncNaming naming, char **out) LNC_MUST_CHECK;

/*
 * The key of an intent: the catalog's note that a version is part of a transaction that is not yet committed. Its name,
 * "<digits as in the manifest's name>.<tag>.intent", sorts before the manifest's, so that whoever lists in order meets it
 * first; clients pass over it. tag: 16 hex digits that tell transactions apart.
 */
extern LncCode lnc_versions_intent_key(LncContext *ctx, LncArena *arena, const char *folder, uint64_t version,
									   LncNaming naming, uint64_t tag, char **out) LNC_MUST_CHECK;

/*
 * What a file name (without folder) in the history is. False for staged files, detached versions, the hint and
 * anything else that is not a version under its final name.
 */
extern bool lnc_versions_parse_name(const char *name, uint64_t *version, LncNaming *naming);

/* The version of an intent, whose file name it is. False for all other names. */
extern bool lnc_versions_parse_intent(const char *name, uint64_t *version);

/*
 * All versions greater than after in the folder, ascending. A folder that is missing gives none. Mixed V1 and V2 names
 * are LNC_CORRUPT. On ordered stores with V2 names only the new ones are listed.
 */
extern LncCode lnc_versions_list(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder,
								 uint64_t after, size_t *count, LncVersionFile **out) LNC_MUST_CHECK;

/* The same, with the intents for versions greater than after. */
extern LncCode lnc_versions_list_all(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder,
									 uint64_t after, LncVersionList *out) LNC_MUST_CHECK;

/*
 * The same again, where sizes, times and keys of files are of no interest yet: on near stores they are not set, and
 * lnc_versions_look() finds them.
 */
extern LncCode lnc_versions_names(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder,
								  uint64_t after, LncVersionList *out) LNC_MUST_CHECK;

/* Set size, time and key of *count files. Those that are not there any more are left out, and *count says how many remain. */
extern LncCode lnc_versions_look(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder,
								 size_t *count, LncVersionFile *files) LNC_MUST_CHECK;

/* The newest version in the folder with a bounded number of requests; LNC_NOT_FOUND when there is none. */
extern LncCode lnc_versions_latest(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder,
								   LncVersionFile *out) LNC_MUST_CHECK;

/* The file of one version, under either naming, intended not set; LNC_NOT_FOUND when it is gone or was never written. */
extern LncCode lnc_versions_find(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder,
								 uint64_t version, LncVersionFile *out) LNC_MUST_CHECK;

/* Does an intent for the version lie in the folder? naming: the one of its manifest. */
extern LncCode lnc_versions_intended(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder,
									 uint64_t version, LncNaming naming, bool *out) LNC_MUST_CHECK;

#endif
