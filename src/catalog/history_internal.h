/*
 * history_internal.h
 *	  What history.c and history_page.c share: which files count as versions, and what is told of them.
 */
#ifndef LANCE_CATALOG_HISTORY_INTERNAL_H
#define LANCE_CATALOG_HISTORY_INTERNAL_H

#include "catalog/history.h"

/*
 * What lies under a final name counts. Except when no row (NULL) says so and an intent for it lies there too: then it
 * belongs to a transaction that has not committed, or never will. The first version of a branch counts once the branch has
 * its file.
 */
extern bool lance_history_counts(LanceHistory *history, const LncVersionFile *file, const LanceVersionRow *row);

/* Fill in the item from the file and its row, NULL when it has none. Returns the item. */
extern LanceHistoryItem *lance_history_make_item(const LncVersionFile *file, const LanceVersionRow *row,
												 LanceHistoryItem *item);

/* The newest; *recorded tells whether a row says so. NULL when there is none. */
extern LanceHistoryItem *lance_history_find_latest(LanceHistory *history, bool *recorded);

/* The newest version below one that does not count; NULL when there is none. */
extern LanceHistoryItem *lance_history_newest_below(LanceHistory *history, const LncVersionFile *file);

#endif
