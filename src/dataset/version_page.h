/*
 * version_page.h
 *	  Parts of a long history: its newest end, for who knows where that was, and a page.
 *
 * What these read of a folder does not grow with the number of versions in it, where the store and the naming allow that.
 */
#ifndef LNC_DATASET_VERSION_PAGE_H
#define LNC_DATASET_VERSION_PAGE_H

#include "dataset/versions.h"

/*
 * The newest version, for who knows that one was the newest once, and its naming. Every next version is made on top of it and
 * the newest is never cleaned up, so that their names tell (format.md section 1, on the hint file, which is read
 * too). Where that version is gone or far from the newest, the folder is listed. intended is not set.
 * LNC_NOT_FOUND when there is none.
 */
extern LncCode lnc_versions_latest_since(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder,
										 uint64_t version, LncNaming naming, LncVersionFile *out) LNC_MUST_CHECK;

/* True when the version is there and is the newest, as far as looking for names tells; then *out is its file, as above. */
extern LncCode lnc_versions_still_latest(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder,
										 uint64_t version, LncNaming naming, LncVersionFile *out,
										 bool *still) LNC_MUST_CHECK;

/* The first versions from first to last, or the last ones down from last. */
typedef struct LncVersionRange
{
	uint64_t first;
	uint64_t last; /* less than 2^63 */
	bool descending;
	size_t want; /* at most so many, at least 1 */
} LncVersionRange;

/*
 * The versions of the range, in the order that it says. naming: that of the folder. Fewer than wanted are all there are.
 */
extern LncCode lnc_versions_page(LncContext *ctx, LncArena *arena, LncStore *store, const char *folder,
								 LncNaming naming, const LncVersionRange *range, size_t *count,
								 LncVersionFile **out) LNC_MUST_CHECK;

#endif
