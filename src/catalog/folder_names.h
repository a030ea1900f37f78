/*
 * folder_names.h
 *	  Names in a table's folder of manifests, on stores where a look costs less than a list. What they came to is kept by the
 *	  process until the folder changes.
 */
#ifndef LANCE_CATALOG_FOLDER_NAMES_H
#define LANCE_CATALOG_FOLDER_NAMES_H

#include "catalog/history.h"
#include "dataset/version_page.h"

/* The newest file of the folder, with all that is to be known of it; LNC_NOT_FOUND when there is none. */
extern LncCode lance_folder_newest(LanceHistory *history, LncVersionFile *file);

/* Whether an intent for the version lies in the folder. */
extern bool lance_folder_intended(LanceHistory *history, const LncVersionFile *file);

/*
 * Names of the versions of a range, and others, some of which may be gone. Where the folder is known to hold every one between its ends,
 * at most `most` are given, from the side where the range begins; else they are all, and true is returned.
 */
extern bool lance_folder_names(LanceHistory *history, const LncVersionRange *range, size_t most,
							   LncVersionList *list);

#endif
