/*
 * location.h
 *	  Rules on the locations of tables: no two overlap, and what lies at one is for those who may read the table.
 */
#ifndef LANCE_CATALOG_LOCATION_H
#define LANCE_CATALOG_LOCATION_H

#include "pg/profile.h"

/* Is that a path or URI of the local file system? */
extern bool lance_location_is_local(const char *uri);

/* The one spelling that the catalog keeps of an opened store's location: an absolute path, or the store's own URI. Palloc'd. */
extern char *lance_location_canonical(const LncStore *store, const char *uri);

/*
 * Keep others from adding tables whose location may overlap with one about to be added, until the transaction ends.
 * chosen_by_caller: the location was given; such ones are checked one at a time. Fresh locations don't hold each other up.
 */
extern void lance_location_lock(bool chosen_by_caller);

/*
 * Why a location can't be used: it equals, contains or lies in the location of a table, or of a dropped one whose files
 * are still being removed (*dropped). NULL when it is free, else that location. Call lance_location_lock first.
 */
extern char *lance_location_overlap(const char *location, bool *dropped);

/* True while a table's location equals, contains or lies in this one; sees what is committed now. */
extern bool lance_location_used(const char *location);

/*
 * Throws LANCE_PERMISSION_DENIED when a location, in its canonical form, is that of a table which the role may not read,
 * lies in it or contains it; whatever the storage profile, since several may reach the same store.
 */
extern void lance_location_check_readable(const char *location, Oid role);

/* lance_profile_open_base with that check, for the role of the profile. */
extern LncCode lance_location_open_base(LncContext *ctx, void *arg, LncArena *arena, const char *uri,
										LncStore **out) LNC_MUST_CHECK;

#endif
