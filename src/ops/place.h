/*
 * place.h
 *	  Where tables lie: the storage profile of a namespace, fresh and given locations.
 *
 * Two properties of namespaces mean something here; both are inherited downward, the nearest one decides:
 *	  server				name of the storage profile (a foreign server of lance_fdw)
 *	  managed_versioning	"false": clients commit by themselves; also a property of tables and an option of servers
 */
#ifndef LANCE_OPS_PLACE_H
#define LANCE_OPS_PLACE_H

#include "catalog/table.h"
#include "pg/profile.h"

#define LANCE_PROPERTY_SERVER "server"
#define LANCE_PROPERTY_MANAGED "managed_versioning"

/*
 * The server of that name, held until the transaction ends: nobody drops or renames it before what names it can be seen.
 * InvalidOid: there is none.
 */
extern Oid lance_place_hold_server(const char *server_name);

/* The values of the two properties are usable: the server exists and the caller may use it, the other is a boolean. */
extern void lance_place_check_properties(const LanceProperties *properties);

/* The profile for new tables of a namespace, resolved for the current user. Throws LANCE_INVALID_INPUT without one. */
extern LanceProfile *lance_place_profile(int64 namespace_id);

/* The profile that a table was made with. */
extern LanceProfile *lance_place_profile_of(const LanceTableRow *table);

/* managed_versioning of a new table: its own property, else its namespace's or the nearest above, else the profile's. */
extern bool lance_place_managed(int64 namespace_id, const LanceProperties *properties, const LanceProfile *profile);

/*
 * A location that never was: <root>/<names of the namespaces>/<table>-<random>.lance, in letters that every store takes. Without
 * the names of the namespaces where a table lies in the way.
 */
extern char *lance_place_fresh(const LanceId *table_id, const LanceProfile *profile);

/*
 * The canonical form of a location that the caller gives: a URI, an absolute path, or a path relative to the root. Throws
 * LANCE_INVALID_INPUT unless it lies below the root, without "." and "..".
 */
extern char *lance_place_given(const char *location, const LanceProfile *profile);

/* The canonical form of a folder: path is "" for the profile's root, else as in lance_place_given. */
extern char *lance_place_folder(const char *path, const LanceProfile *profile);

/*
 * The canonical form of a literal path below such a folder. NULL when it can't be the location of a table; *why is then
 * a sentence.
 */
extern char *lance_place_below(LanceLibrary *lib, const char *folder, const char *path, const char **why);

/*
 * Why a location can't be claimed, as a sentence, or NULL when it can. Call lance_location_lock first.
 */
extern char *lance_place_taken(const char *location);

/* Why lance_place_check_properties would refuse, as a sentence; NULL when it would not. */
extern char *lance_place_refused_properties(const LanceProperties *properties);

/*
 * Claim a location for a table whose entry was just inserted: write its row, or throw LANCE_INVALID_INPUT when the
 * location overlaps with another table's.
 */
extern void lance_place_claim(int64 table_id, const char *location, const LanceProfile *profile, bool managed,
							  bool chosen_by_caller);

/* The location as a full URI: paths become "file://", percent-encoded. */
extern char *lance_place_uri(const char *location);

/* Open the store of a table. */
extern LncStore *lance_place_open(LanceLibrary *lib, const LanceTableRow *table);

#endif
